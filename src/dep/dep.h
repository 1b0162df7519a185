/* dep.h - the orders that the output owes.
 *
 * A dependence (p, c, lag): before an execution of c issues, all but the last
 * lag of the executions of p that come before it in the reference order must
 * have retired. lag 0 is the most recent instance (algorithm.md 3.2), which
 * covers conflicts at every distance and level. With `back` it is enough that
 * what p did in front of an earlier start of an iteration has retired.
 */
#ifndef NSR_DEP_DEP_H
#define NSR_DEP_DEP_H

#include "ir/tree.h"
#include "mem/footprint.h"

enum {
  NSR_DEP_RAW = 1, /* what p wrote is read */
  NSR_DEP_WAR = 2, /* what p read is overwritten */
  NSR_DEP_WAW = 4,
  NSR_DEP_EXTERNAL = 8 /* what others do may lie between */
};

struct nsr_dep {
  uint32_t p, c;      /* works; p >= c: carried by a loop around both */
  uint32_t loop;      /* around both: that tells apart what they touch, else the
                         innermost; NSR_NONE: none */
  uint32_t where;     /* bytes in common, of nsr_deps.bytes */
  uint8_t lag;        /* 0..NSR_MAX_LAG */
  uint8_t back;       /* above 0 (lag is 0): only executions in front of the
                         start of the back-th latest iteration of `loop`
                         (known.h) */
  uint8_t overlap;    /* enum nsr_overlap; NO: nothing is owed */
  uint8_t kinds;      /* what it keeps in order: NSR_DEP_RAW, .. */
  uint8_t distance;   /* no conflict is nearer, in iterations of `loop`, 255 at
                         most; where a loop inside that one is around both, 0 */
  bool exact : 1;     /* .. and there is one at that distance, if at all */
  bool front : 1;     /* addresses start anew whenever `loop` is entered: all
                         that was in front of that, too */
  bool once : 1;      /* .. and nothing else */
  bool unordered : 1; /* a may pair that the input leaves unordered */
  bool allowed : 1;   /* a race that facts allow */
  bool sure : 1;      /* addresses that differ by iteration meet in each one */
};

/* A conflict that the machine itself keeps in order. */
struct nsr_own_pair {
  uint32_t p, c; /* works */
};

struct nsr_deps {
  const struct nsr_tree *tree;
  uint32_t n, nown;
  struct nsr_dep *deps;  /* by c; for one c the most recent p first */
  const uint32_t *first; /* by work: its deps are first[c]..first[c+1]-1 */
  const struct nsr_bytes *bytes;
  const struct nsr_own_pair *own; /* those of loads */
  const uint64_t *symbols; /* a bit by value number: addresses rest on it */
  uint32_t unordered;      /* may pairs of that kind */
  uint32_t ntroubles;      /* works that must stay among their barriers */
  const struct nsr_trouble *troubles;
};

/* Needs a linearized tree and the explicit waits of the input (target by
 * work, NSR_NONE: none). Finds all conflicting pairs and checks that the
 * input orders them: a must conflict it leaves open is a race (NSR_E_RACE);
 * a may conflict it leaves open is taken as disjoint within its region
 * (algorithm.md 2.6). Where the outside takes part, what the input leaves open
 * must stay open, or the output could wait for what waits for it; where that
 * cannot be said, there is trouble. */
NSR_MUST_USE enum nsr_status nsr_deps_find(struct nsr_ctx *ctx,
                                           const struct nsr_tree *tree,
                                           const uint32_t *target,
                                           struct nsr_deps *out);

/* The same, but of accesses that overlap more than `most` others, partners are
 * looked for with an effort that is bounded; past it they are taken for any
 * that come before. */
NSR_MUST_USE enum nsr_status
nsr_deps_find_few(struct nsr_ctx *ctx, const struct nsr_tree *tree,
                  const uint32_t *target, size_t most, struct nsr_deps *out);

/* They are not needed any longer; their memory may go, not their numbers. */
void nsr_deps_drop(struct nsr_ctx *ctx, struct nsr_deps *deps);

/* Bytes as messages show them, kept; NULL: out of memory. */
const char *nsr_bytes_text(struct nsr_ctx *ctx, const struct nsr_bytes *b);

#endif
