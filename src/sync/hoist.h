/* hoist.h - waits that leave loops.
 */
#ifndef NSR_SYNC_HOIST_H
#define NSR_SYNC_HOIST_H

#include "sync/count.h"
#include "sync/plan.h"

/* Needs all waits at their places, by c, and the engines' scratch registers.
 * Of several waits at one place those leave the loops around them that are the
 * same in all iterations, as do those that take operations: for work that lies
 * outside, and is counted by a group of its own. They come to the end. Nothing
 * is moved over what is for others, islands, or barriers that stay. */
NSR_MUST_USE enum nsr_status nsr_hoist_waits(struct nsr_ctx *ctx,
                                             const struct nsr_counts *c,
                                             const struct nsr_plan *plan,
                                             struct nsr_plan_wait *waits,
                                             size_t n);

#endif
