/* cycle_ratio.h - the largest ratio of time to distance of a graph's cycles.
 */
#ifndef NSR_LIMITS_CYCLE_RATIO_H
#define NSR_LIMITS_CYCLE_RATIO_H

#include "base/vec.h"

struct nsr_arc {
  uint32_t from, to;
  int64_t time;      /* >= 0 */
  uint32_t distance; /* iterations */
};

enum { NSR_MAX_NODES = 2048 };

/* The largest sum of times over sum of distances, *time over *distance, of all
 * cycles; distance 0: there is no cycle. A cycle without distance, or a graph
 * of more than NSR_MAX_NODES nodes, has none either: *known is false. */
NSR_MUST_USE enum nsr_status nsr_cycle_ratio(struct nsr_ctx *ctx,
                                             uint32_t nnodes,
                                             const struct nsr_arc *arcs,
                                             size_t narcs, int64_t *time,
                                             uint64_t *distance, bool *known);

#endif
