/* trips.h - how often loops run, at most.
 *
 * A loop counts if one instruction of it, in each iteration, advances a
 * register by a constant, and a test in each iteration leaves it when that
 * register has come to a bound. Start and bound are constants, values loaded
 * from tensors with a declared range, or these plus a constant. What takes too
 * long to find out is not known.
 */
#ifndef NSR_MEM_TRIPS_H
#define NSR_MEM_TRIPS_H

#include "ir/tree.h"

#define NSR_ENDLESS UINT64_MAX /* nobody knows */

/* Needs a tree; by scope of it: entries for each entry of its parent, at most,
 * as the engine says that knows best. */
NSR_MUST_USE enum nsr_status
nsr_trips_find(struct nsr_ctx *ctx, const struct nsr_tree *t, uint64_t **out);

/* Saturating at NSR_ENDLESS. */
uint64_t nsr_trips_times(uint64_t a, uint64_t b);
uint64_t nsr_trips_plus(uint64_t a, uint64_t b);

/* By scope: how often it is entered in one launch at most; NSR_ENDLESS: nobody
 * knows. */
NSR_MUST_USE enum nsr_status nsr_trips_entries(struct nsr_ctx *ctx,
                                               const struct nsr_tree *t,
                                               uint64_t **out);

#endif
