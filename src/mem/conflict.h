/* conflict.h - all pairs of accesses that touch a common byte, one writing. */
#ifndef NSR_MEM_CONFLICT_H
#define NSR_MEM_CONFLICT_H

#include "base/arena.h"
#include "mem/footprint.h"

/* A footprint and whose it is: an instruction, or whatever the caller orders.
 * Several accesses may have one owner. */
struct nsr_access {
  struct nsr_footprint footprint;
  uint32_t owner;
};

/* a <= b. a == b: an owner that meets its own next execution. */
struct nsr_conflict {
  uint32_t a, b;
  enum nsr_overlap overlap; /* MAY or MUST, the strongest of all accesses */
  struct nsr_bytes where;   /* a common range of the strongest */
};

struct nsr_conflicts {
  struct nsr_conflict *v;
  size_t n;
  uint32_t *crowd; /* by owner: its crowd + 1, 0: none */
  uint32_t ncrowds;
};

/* Every pair of owners with overlapping accesses of which one writes, once,
 * sorted by (a, b); an owner that writes meets itself. The order of the
 * accesses does not matter. *out lives in `arena`. */
NSR_MUST_USE enum nsr_status nsr_conflicts_find(struct nsr_ctx *ctx,
                                                enum nsr_arena_id arena,
                                                const struct nsr_access *access,
                                                size_t n,
                                                struct nsr_conflicts *out);

/* The same for n accesses of owners 0..n-1, in whatever order, but owners that
 * meet more than `most` others, or nearly meet far more than that, form crowds,
 * and those of one crowd are not paired with each other, nor themselves: so
 * there are few pairs for each owner. Owners of different crowds do not meet.
 */
NSR_MUST_USE enum nsr_status nsr_conflicts_few(struct nsr_ctx *ctx,
                                               enum nsr_arena_id arena,
                                               const struct nsr_access *access,
                                               size_t n, size_t most,
                                               struct nsr_conflicts *out);
#endif
