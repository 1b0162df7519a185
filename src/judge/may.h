/* may.h - pairs that may conflict: accesses that touch only some of their
 * bytes (gather, scatter, predicate), and events that others see or make
 * (foreign semaphores, core barriers, unknown effects).
 *
 * Such a pair that the first kernel leaves unordered is taken as disjoint, a
 * race that facts allow (allowed.h) is left open there; every one that it
 * orders must stay ordered. So all accesses are kept, by
 * location and channel, not the last ones alone.
 */
#ifndef NSR_JUDGE_MAY_H
#define NSR_JUDGE_MAY_H

#include "judge/allowed.h"
#include "judge/shadow.h"
#include "judge/trace.h"

struct nsr_may_access {
  uint32_t location;
  uint32_t ordinal, number;
  uint8_t component;
  bool may, writes;
  bool same_free;   /* ordered behind its own channel's earlier ones */
  bool write_free;  /* behind its own channel's earlier writes */
  uint32_t allowed; /* nsr_allowed_number */
  const uint32_t *clock;
};

struct nsr_may_entry {
  uint32_t ordinal, number;
};
struct nsr_may_list { /* accesses of one kind of one component */
  NSR_VEC(struct nsr_may_entry) entries;
  uint32_t next; /* of the same location, + 1 */
  uint32_t allowed;
  uint8_t component;
  bool may, writes;
};

struct nsr_may {
  struct nsr_ctx *ctx;
  enum nsr_arena_id arena;
  bool atoms;         /* atoms are followed here, not in shadow.h */
  uint32_t locations; /* atoms and hidden state, then: */
  uint32_t external, unknown;
  const struct nsr_allowed *allowed;
  uint32_t *head; /* list + 1 by location */
  NSR_VEC(struct nsr_may_list) lists;
  uint64_t unordered; /* pairs, in the first kernel */
};

NSR_MUST_USE enum nsr_status
nsr_may_new(struct nsr_ctx *ctx, enum nsr_arena_id arena,
            const struct nsr_image *image, uint32_t natoms, bool atoms,
            const struct nsr_allowed *allowed, struct nsr_may **may);

/* Whether an access clashes: with a must access it is not ordered behind, or,
 * where the first kernel's trace and clocks are given, with one that is
 * ordered there, and not so here. Without them may pairs are counted. */
bool nsr_may_check(struct nsr_may *m, const struct nsr_may_access *a,
                   const struct nsr_trace *trace,
                   const struct nsr_clocks *clocks, struct nsr_clash *clash);
NSR_MUST_USE enum nsr_status nsr_may_record(struct nsr_may *m,
                                            const struct nsr_may_access *a);

/* Whether an access and those of a list conflict, and their channel does not
 * keep their order. */
bool nsr_may_conflict(const struct nsr_may_list *l,
                      const struct nsr_may_access *a);
/* The number of the youngest entry that a clock knows, 0: it knows none. */
uint32_t nsr_may_known(const struct nsr_may_list *l, const uint32_t *clock);
#endif
