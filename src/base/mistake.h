/* mistake.h - mistakes of the rewriter on purpose, to see judges find them, and
 * of a judge, to see the others find those: a build with -DNSR_MISTAKE=NAME
 * makes the one of that name (tools/mistakes.sh), any other build none.
 */
#ifndef NSR_BASE_MISTAKE_H
#define NSR_BASE_MISTAKE_H

#include <stdbool.h>

enum nsr_mistake {
  NSR_MISTAKE_NONE,
  NSR_MISTAKE_SHORT_FOOTPRINT, /* the innermost dimension is one element */
  NSR_MISTAKE_ALWAYS_RUNS,     /* conditionals are taken to run always */
  NSR_MISTAKE_OWN_HAZARDS,     /* a channel is taken to order its own work */
  NSR_MISTAKE_BLIND_PROOF      /* level 1 takes each conflict to be in order */
};

#ifndef NSR_MISTAKE
#define NSR_MISTAKE NSR_MISTAKE_NONE
#endif

static inline bool nsr_mistaken(enum nsr_mistake m) { return m == NSR_MISTAKE; }

#endif
