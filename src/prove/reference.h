/* reference.h - the input, read: its trees, an order that it runs in, and what
 * it waits for there.
 */
#ifndef NSR_PROVE_REFERENCE_H
#define NSR_PROVE_REFERENCE_H

#include "prove/thresholds.h"

struct nsr_reference {
  struct nsr_program program;
  struct nsr_tree tree;
  uint32_t *before; /* by work: the one that the input waits for there */
  struct nsr_score score;
  struct nsr_thresholds thresholds;
};

/* Needs program.k and its facts; makes all. Each wait of the score is for what
 * comes before it, so that is an order in which the input runs. What is refused
 * is in the context's first error. */
NSR_MUST_USE enum nsr_status nsr_reference_find(struct nsr_ctx *ctx,
                                                struct nsr_reference *out);

#endif
