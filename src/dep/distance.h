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

/* One operand, wherever its address goes. */
struct nsr_pattern {
  struct nsr_operand op;
  uint32_t tensor;      /* it is tied to, NSR_NONE: none */
  struct nsr_form form; /* of the address register; a constant where there is
                           none; its loops are scopes of the common tree */
};

/* The pattern of an operand of work w, decoded as x. Members that mean
 * nothing, and padding, are 0. */
void nsr_pattern_of(const struct nsr_distances *d, uint32_t w,
                    const struct nsr_insn *x, int operand,
                    struct nsr_pattern *out);

/* The smallest k >= least such that p in some iteration t, and c in iteration
 * t + k of the loop that counts their addresses, touch a common byte;
 * NSR_NEVER: none. *exact is false where addresses are not known well enough:
 * then k = least, the safe answer. Rotation with coprime or long periods and
 * affine addresses with different steps are of that kind. The patterns have
 * bytes in common, but where they are symbolic; where both move they are
 * counted by one loop; and they are related (forms.h), while their symbol
 * stays. */
uint32_t nsr_pattern_distance(const struct nsr_kernel *k,
                              const struct nsr_pattern *p,
                              const struct nsr_pattern *c, uint32_t least,
                              bool *exact);

/* The first iteration (from 0) in which both touch a common byte, if the
 * distance of these is 0. */
uint32_t nsr_pattern_first(const struct nsr_kernel *k,
                           const struct nsr_pattern *p,
                           const struct nsr_pattern *c);

/* Whether two related patterns have no byte in common in one iteration of the
 * loop of their symbol, which is around both. */
bool nsr_pattern_apart(const struct nsr_distances *d,
                       const struct nsr_pattern *p,
                       const struct nsr_pattern *c);

/* Whether work w runs exactly once in each iteration of a loop that counts
 * addresses. */
bool nsr_distance_every(const struct nsr_distances *d, uint32_t w,
                        uint32_t loop);

#endif
