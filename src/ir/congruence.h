/* congruence.h - which scopes of different engines run alike.
 *
 * A value number stands for how a register's value was made: from constants,
 * from loads of the same bytes in the same region, by the same operations,
 * by the same recurrence in the same loop. Equal numbers mean equal values
 * at the same place of a common walk (theory-channels.md 4.3). A scope's key
 * is the number of the predicate that decides it.
 */
#ifndef NSR_IR_CONGRUENCE_H
#define NSR_IR_CONGRUENCE_H

#include "ir/scopes.h"

/* A load that a key may rest on. */
struct nsr_key_load {
  uint8_t engine;
  bool key; /* once kept: a key rests on it */
  uint32_t insn;
  uint32_t number; /* its value number: loads of equal number read one value,
                      if nothing writes the bytes between them */
};

/* Some of them, by engine, then instruction. */
struct nsr_key_loads {
  struct nsr_key_load *v;
  size_t n, cap;
};
NSR_MUST_USE enum nsr_status
nsr_key_loads_sort(struct nsr_ctx *ctx, struct nsr_key_load *v, size_t n);
/* The one of a place among n, which are sorted; NULL: none. */
const struct nsr_key_load *nsr_key_loads_find(const struct nsr_key_load *v,
                                              size_t n, int engine,
                                              uint32_t insn);

struct nsr_key_node; /* how a value was made: private */

struct nsr_congruence {
  uint32_t nloads, nall, nnodes;
  struct nsr_key_load *loads;       /* by place, once kept: that are kept */
  struct nsr_key_load *all;         /* by place, once kept */
  const struct nsr_key_node *nodes; /* by number; NULL once done with */
};

/* Needs the scopes of all engines (by engine; cfg NULL: no stream); sets
 * nsr_scope.key: 0 where the scope cannot be compared, else equal for arms
 * with equal predicates, and for loops with equal exit tests. What the loads of
 * doubts give is not taken for the same as anything. */
NSR_MUST_USE enum nsr_status
nsr_congruence_find(struct nsr_ctx *ctx, struct nsr_scopes *scopes,
                    const struct nsr_key_loads *doubts,
                    struct nsr_congruence *out);

/* Leaves those loads that the keys rest on, and those that have a number in
 * common. */
NSR_MUST_USE enum nsr_status nsr_congruence_keep(struct nsr_ctx *ctx,
                                                 struct nsr_congruence *c,
                                                 const uint32_t *keys,
                                                 size_t n);

/* The load at a place; NULL: none. */
const struct nsr_key_load *nsr_congruence_load(const struct nsr_congruence *c,
                                               int engine, uint32_t insn);

/* The same, among those that are kept. */
const struct nsr_key_load *nsr_congruence_kept(const struct nsr_congruence *c,
                                               int engine, uint32_t insn);

#endif
