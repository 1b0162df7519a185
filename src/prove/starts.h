/* starts.h - pairs that are in order as of the start of an iteration.
 *
 * How many executions of a work are unknown says nothing where it runs any
 * number of times in an iteration. So for each pair (q, c) that was left open,
 * and that the iterations of a loop around both tell apart, the score is walked
 * with a few bits for each view: whether all of q so far is known to have
 * retired, all of it in front of the latest starts of an iteration, and all in
 * front of the loop (theory-channels.md 9: now, pb and bb).
 */
#ifndef NSR_PROVE_STARTS_H
#define NSR_PROVE_STARTS_H

#include "prove/snapshots.h"

/* Whether all executions of q in front of the start of the back-th latest
 * iteration of a loop are known wherever c issues, and (front) all before the
 * loop was last entered. */
struct nsr_start_pair {
  uint32_t q, c; /* steps: works in the loop's body */
  uint32_t loop; /* scope */
  uint8_t back;  /* 1..NSR_PROVE_BACK, 0: that is not asked */
  bool front;
  bool ordered; /* out */
};

/* sure: as of nsr_lag_check. */
NSR_MUST_USE enum nsr_status
nsr_starts_check(struct nsr_ctx *ctx, const struct nsr_score *s,
                 const struct nsr_thresholds *t, const bool *sure,
                 const struct nsr_snapshot *waits, struct nsr_start_pair *pairs,
                 size_t n);

#endif
