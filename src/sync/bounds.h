/* bounds.h - how far semaphores can count.
 *
 * A member counts once for each entry of its scope: as often as loops run at
 * most (trips.h), up to the innermost scope around it with a barrier that
 * stays, which sets the count back to 0 in each of its entries.
 */
#ifndef NSR_SYNC_BOUNDS_H
#define NSR_SYNC_BOUNDS_H

#include "mem/trips.h"
#include "sync/plan.h"

/* Most that a semaphore may come to. */
int64_t nsr_bounds_limit(const struct nsr_kernel *k);

/* Needs a plan; fills plan->most. */
NSR_MUST_USE enum nsr_status nsr_bounds_find(struct nsr_ctx *ctx,
                                             struct nsr_plan *plan);

/* Needs a plan with plan->most above the limit; makes barriers stay in loops
 * around what counts most, in outer ones first. *more: whether there were any,
 * and then waits are to be chosen and planned anew. */
NSR_MUST_USE enum nsr_status nsr_bounds_keep(struct nsr_ctx *ctx,
                                             const struct nsr_plan *plan,
                                             uint32_t exit, bool *more);

#endif
