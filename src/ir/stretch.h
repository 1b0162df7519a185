/* stretch.h - collapsing what is not structured in a flow graph.
 */
#ifndef NSR_IR_STRETCH_H
#define NSR_IR_STRETCH_H

#include "ir/cfg.h"

/* Predecessors in one array: those of block b are pred[at[b]..at[b+1]-1]. */
struct nsr_preds {
  uint32_t *at, *pred;
};

/* Needs a graph with dominators, and without loops yet; makes each knot part
 * of a stretch, those that overlap one. The graph's order, dominators and
 * predecessors are those of before. */
NSR_MUST_USE enum nsr_status nsr_stretches_make(struct nsr_ctx *ctx,
                                                struct nsr_cfg *g,
                                                const struct nsr_preds *preds,
                                                const struct nsr_knots *knots);

#endif
