/* ranges.h - where an engine's registers are free, for mirrors that are needed
 * in a part of its stream only.
 *
 * A stream's top level is a row of items, run one after the other: straight
 * code, loops, arms. A register is busy in an item if that names it, or if what
 * it holds in front of the item may still be read; one that is to be left alone
 * is busy everywhere.
 */
#ifndef NSR_SYNC_RANGES_H
#define NSR_SYNC_RANGES_H

#include "ir/tree.h"
#include "sync/mirrors.h"

struct nsr_ranges {
  uint32_t nitems, nregs;
  const struct nsr_item *items;
  const uint32_t *item_of; /* by instruction, NSR_NONE: it never runs */
  uint64_t *busy;          /* by item: a bit for each register */
};

NSR_MUST_USE enum nsr_status nsr_ranges_find(struct nsr_ctx *ctx,
                                             const struct nsr_tree *t,
                                             int engine,
                                             struct nsr_ranges *out);

/* Gives each use a register of its own from where its count begins (use.from)
 * to its last wait (use.to), fresh ones first, no more than max in all;
 * registers serve several uses one after the other. *n: how many registers, 0:
 * they do not suffice. */
NSR_MUST_USE enum nsr_status
nsr_ranges_assign(struct nsr_ctx *ctx, const struct nsr_ranges *r,
                  const struct nsr_free *fresh, uint32_t max,
                  struct nsr_uses *uses, uint32_t *n);

#endif
