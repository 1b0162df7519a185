/* exits.h - loops that hold what runs on the way out of them.
 */
#ifndef NSR_IR_EXITS_H
#define NSR_IR_EXITS_H

#include "ir/stretch.h"

/* Needs natural loops, inner ones first; loops with several ways out take in
 * the code behind them, up to where all of them meet. */
NSR_MUST_USE enum nsr_status nsr_exits_gather(struct nsr_ctx *ctx,
                                              struct nsr_cfg *g,
                                              const struct nsr_preds *preds);

#endif
