/* resets.h - the barriers that stay, which set all owned semaphores to 0.
 */
#ifndef NSR_SYNC_RESETS_H
#define NSR_SYNC_RESETS_H

#include "ir/tree.h"

/* A barrier that stays and has work behind it. */
struct nsr_reset {
  uint32_t part, scope; /* directly in scope */
  uint32_t at;          /* the first work behind it */
};

struct nsr_resets {
  uint32_t n;
  struct nsr_reset *v; /* in the order of the tree */
  /* By work: `at` of the last one before it, 0: none, NSR_NONE: that differs
   * from time to time. */
  const uint32_t *base;
};

/* Needs a linearized tree. */
NSR_MUST_USE enum nsr_status nsr_resets_find(struct nsr_ctx *ctx,
                                             const struct nsr_tree *t,
                                             struct nsr_resets *out);

#endif
