/* outside.h - others that this kernel waits for, and that wait for it.
 */
#ifndef NSR_PROVE_OUTSIDE_H
#define NSR_PROVE_OUTSIDE_H

#include "prove/thresholds.h"

/* Needs the output's score and thresholds, and by work of the tree the one that
 * its wait names in the input. Where others take part, and may so wait for this
 * kernel before they tell it what it waits for, nothing may be held up by more
 * than in the input: each wait is for what came before the last barrier of the
 * input, or for what the input waits for there. Objects to the first that may
 * not be. */
NSR_MUST_USE enum nsr_status nsr_outside_check(struct nsr_ctx *ctx,
                                               const struct nsr_score *s,
                                               const struct nsr_thresholds *t,
                                               const uint32_t *before,
                                               struct nsr_proof *proof);

#endif
