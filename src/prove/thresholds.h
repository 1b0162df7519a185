/* thresholds.h - what each wait waits for.
 *
 * A walk of a score keeps, for each register that a wait compares with and
 * each semaphore it is compared with, the difference of its value and what the
 * updates that come before add up to, if that is one number on all ways. So a
 * wait's threshold is the count less a lag, whatever registers, sums and steps
 * it was made of (theory-channels.md 9.4 with M for the ghosts). Of the members
 * of each group it keeps how many came since their last executions, at least;
 * which tells the executions that a wait covers (9.1).
 */
#ifndef NSR_PROVE_THRESHOLDS_H
#define NSR_PROVE_THRESHOLDS_H

#include "prove/score.h"

/* Executions of one member that are looked at: the latest ones. */
enum { NSR_MAX_AGE = 8 };

/* All but the last `age` executions of a member have retired behind a wait. */
struct nsr_cover {
  uint32_t member;
  uint8_t age;
};

enum nsr_wait_kind {
  NSR_WAIT_UNKNOWN, /* no count less a constant */
  NSR_WAIT_NEVER,   /* threshold <= 0: it never waits */
  NSR_WAIT_HOLDS,   /* what comes before it is enough on all ways; for whom it
                       waits depends on the way */
  NSR_WAIT_LAG,
  NSR_WAIT_CHOICE /* for one with this lag, or for another; only what covers say
                     is sure */
};

struct nsr_wait_found {
  uint8_t kind;      /* enum nsr_wait_kind */
  int64_t lag;       /* below 0: for what comes later */
  int64_t least;     /* .. where it waits for more: of a choice, the smaller */
  uint32_t first, n; /* covers */
  uint32_t within;   /* NSR_NONE, or a loop's step: covers hold for who knows
                        that all earlier runs of that loop have retired */
  int64_t epoch;     /* the last barrier passed: 1 + its step, 0: none yet,
                        below 0: that depends on the way to a place, which
                        this names */
};

struct nsr_thresholds {
  uint32_t *wait_of; /* by step: number of the wait, NSR_NONE: none */
  struct nsr_wait_found *waits;
  NSR_VEC(struct nsr_cover) covers;
  int64_t *count; /* by member: the exact count in front of it, since the last
                     barrier; -1: it depends on the way */
  int64_t *low;   /* .. the least */
  int64_t *epoch; /* .. as for waits */
};

NSR_MUST_USE enum nsr_status nsr_thresholds_find(struct nsr_ctx *ctx,
                                                 const struct nsr_score *s,
                                                 struct nsr_thresholds *out);

#endif
