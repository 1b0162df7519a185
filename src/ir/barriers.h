/* barriers.h - the barriers of code whose order is not known, by id.
 */
#ifndef NSR_IR_BARRIERS_H
#define NSR_IR_BARRIERS_H

#include "ir/tree.h"

/* Of equal ids on several engines, those with the same turn meet, as far as
 * anybody can tell. */
struct nsr_barrier {
  int32_t id;
  uint32_t turn; /* place among those of its id and engine in the stream */
  int engine;
  uint32_t insn;
};

/* Sorted by id, turn and engine. */
struct nsr_barriers {
  struct nsr_barrier *v;
  size_t n, cap;
};

/* Adds, unsorted, those of one engine's scope and all below it. */
NSR_MUST_USE enum nsr_status nsr_barriers_add(struct nsr_ctx *ctx,
                                              const struct nsr_tree *t, int e,
                                              uint32_t scope,
                                              struct nsr_barriers *out);

void nsr_barriers_sort(struct nsr_barriers *x);

/* Whether x and y have the same ids, however often. */
bool nsr_barriers_alike(const struct nsr_barriers *x,
                        const struct nsr_barriers *y);
bool nsr_barriers_has(const struct nsr_barriers *x, int32_t id);
/* The first of y whose id x has not, NULL: none. */
const struct nsr_barrier *nsr_barriers_lacking(const struct nsr_barriers *x,
                                               const struct nsr_barriers *y);

/* Adds to knots: engine e is to have one stretch of all its barriers (all)
 * with ids of want, and of its scope, NSR_NONE: none; insn: where the others
 * have one. */
NSR_MUST_USE enum nsr_status
nsr_barriers_knot(struct nsr_ctx *ctx, const struct nsr_tree *t, int e,
                  uint32_t scope, uint32_t insn, const struct nsr_barriers *all,
                  const struct nsr_barriers *want, struct nsr_knots *knots);

/* Adds to knots: a scope of engine e with a way through it that passes no
 * barrier, though it has some. */
NSR_MUST_USE enum nsr_status nsr_barriers_loose(struct nsr_ctx *ctx,
                                                const struct nsr_tree *t, int e,
                                                uint32_t scope,
                                                struct nsr_knots *knots);

/* Places that share an id pair up without fault however often each engine
 * passes them (theory-channels.md 0), unless the engines are known to run all
 * scopes around them alike, or they lie in one stretch. Others become knots of
 * engine e and *again is set; in the last round they are refused. */
NSR_MUST_USE enum nsr_status
nsr_barriers_check_ids(struct nsr_ctx *ctx, const struct nsr_tree *t, int e,
                       bool last, struct nsr_knots *knots, bool *again);

#endif
