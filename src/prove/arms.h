/* arms.h - arms of which at most one runs.
 */
#ifndef NSR_PROVE_ARMS_H
#define NSR_PROVE_ARMS_H

#include "ir/tree.h"

struct nsr_arms {
  const struct nsr_tree *tree;
  uint32_t *twin[NSR_MAX_ENGINES]; /* by the engine's own scope: the other arm
                                      of its branch; NSR_NONE */
};

NSR_MUST_USE enum nsr_status nsr_arms_find(struct nsr_ctx *ctx,
                                           const struct nsr_tree *t,
                                           struct nsr_arms *out);

/* Whether two scopes lie in the two arms of one branch. *loop: that within one
 * iteration of it only one of them runs, the innermost one around the branch;
 * NSR_NONE: in the whole kernel. */
bool nsr_arms_exclude(const struct nsr_arms *x, uint32_t a, uint32_t b,
                      uint32_t *loop);

#endif
