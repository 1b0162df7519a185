/* distance.h - at which iteration distances two instructions conflict.
 */
#ifndef NSR_DEP_DISTANCE_H
#define NSR_DEP_DISTANCE_H

#include "ir/tree.h"
#include "mem/values.h"

#define NSR_NEVER UINT32_MAX

struct nsr_distances {
  const struct nsr_tree *tree;
  struct nsr_values values[NSR_MAX_ENGINES];
};

/* Needs a tree; makes the register values of all engines. */
NSR_MUST_USE enum nsr_status nsr_distances_init(struct nsr_ctx *ctx,
                                                const struct nsr_tree *tree,
                                                struct nsr_distances *out);

/* The smallest k >= least such that p in some iteration t of the outermost
 * loop around both, and c in iteration t + k, touch a common byte that one of
 * them writes; NSR_NEVER: none. *exact is false where there is no such loop,
 * or addresses are not known well enough: then k = least, the safe answer.
 * Rotation with coprime or long periods and affine addresses with different
 * steps are of that kind. What a channel keeps in order does not count:
 * accumulation in PSUM. */
NSR_MUST_USE enum nsr_status
nsr_distance(struct nsr_ctx *ctx, const struct nsr_distances *d, uint32_t p,
             uint32_t c, uint32_t least, uint32_t *k, bool *exact);

/* Whether work w runs exactly once in each completed iteration of the
 * outermost loop around it. */
bool nsr_distance_every(const struct nsr_distances *d, uint32_t w);

#endif
