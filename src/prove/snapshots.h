/* snapshots.h - thresholds that are counts as of the start of an iteration.
 *
 * For waits of which no count less a constant is known: registers that take
 * over the count at the start of an iteration of some loop, or what another one
 * took over then (theory-channels.md 7.1).
 */
#ifndef NSR_PROVE_SNAPSHOTS_H
#define NSR_PROVE_SNAPSHOTS_H

#include "prove/thresholds.h"

/* Starts of iterations that are told apart: the latest ones. */
enum { NSR_PROVE_BACK = 8 };

/* What is known of a wait's threshold. */
struct nsr_snapshot {
  bool live;     /* what comes before the wait is enough */
  uint32_t loop; /* scope: all that was counted in front of the start of its
                    back-th latest iteration, but for the last `less`, is
                    waited for; NSR_NONE: nothing is known */
  uint8_t back;
  uint32_t entry; /* scope of a loop: all that was counted before it was last
                     entered, too, but for the last entry_less; NSR_NONE */
  int64_t less, entry_less;
};

/* Needs thresholds; out: by number of a wait. */
NSR_MUST_USE enum nsr_status nsr_snapshots_find(struct nsr_ctx *ctx,
                                                const struct nsr_score *s,
                                                const struct nsr_thresholds *t,
                                                struct nsr_snapshot **out);

#endif
