/* islands.h - regions of the common tree, and which of them cannot be read.
 *
 * A region is everything that control flow connects without a barrier in
 * between: it may wrap around a loop, span arms and private scopes. One that
 * cannot be read is an island: its works keep their own waits and updates, and
 * the barriers around it stay (algorithm.md 7).
 */
#ifndef NSR_IR_ISLANDS_H
#define NSR_IR_ISLANDS_H

#include "base/vec.h"
#include "ir/tree.h"

struct nsr_islands {
  uint32_t nregions;
  const uint32_t *of;     /* by part: its region; barrier: the one in front */
  const uint32_t *behind; /* barrier: the region behind it */
  uint32_t *trouble;      /* by region: its first, NSR_NONE: it can be read */
  NSR_VEC(struct nsr_trouble) troubles;
};

/* Needs a tree that is not linearized; makes its regions, and the islands that
 * no wait is needed to see: flow that is not structured, instructions with
 * unknown effects (if wild), and those that are known to be trouble (by engine,
 * then instruction). What instructions with unknown effects need otherwise is
 * order with all others. */
NSR_MUST_USE enum nsr_status nsr_islands_find(struct nsr_ctx *ctx,
                                              const struct nsr_tree *t,
                                              const struct nsr_trouble *known,
                                              size_t nknown, bool wild,
                                              struct nsr_islands *out);

/* By engine, then instruction; for qsort. */
int nsr_trouble_compare(const void *a, const void *b);

static inline bool nsr_island_at(const struct nsr_islands *x, uint32_t part) {
  return x->trouble[x->of[part]] != NSR_NONE;
}

/* Makes the region of a part an island. */
NSR_MUST_USE enum nsr_status nsr_islands_add(struct nsr_ctx *ctx,
                                             struct nsr_islands *x,
                                             uint32_t part,
                                             struct nsr_trouble trouble);

/* Marks in the tree (not linearized) what islands are: works, barriers,
 * semaphores. Their waits have no target any more. */
NSR_MUST_USE enum nsr_status nsr_islands_mark(struct nsr_ctx *ctx,
                                              const struct nsr_islands *x,
                                              struct nsr_tree *t,
                                              uint32_t *target);

/* A region with work that could be made an island. */
struct nsr_region {
  uint32_t id;
  uint8_t engine; /* one of its instructions */
  uint32_t insn;
  uint32_t loops; /* around it, at most */
};

struct nsr_regions {
  uint32_t n;
  struct nsr_region *v;          /* those in fewer loops first */
  uint32_t *of[NSR_MAX_ENGINES]; /* by instruction: id, NSR_NONE: no work */
};

/* Needs a tree that is not linearized, with its regions; lists them. */
NSR_MUST_USE enum nsr_status nsr_islands_regions(struct nsr_ctx *ctx,
                                                 const struct nsr_tree *t,
                                                 const struct nsr_islands *x,
                                                 struct nsr_regions *out);

/* Whether any barrier but the one of part `exit` is to be taken out. */
bool nsr_islands_leave_any(const struct nsr_tree *t, uint32_t exit);

#endif
