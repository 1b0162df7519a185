/* explicit.h - which update each wait of the input waits for.
 */
#ifndef NSR_DEP_EXPLICIT_H
#define NSR_DEP_EXPLICIT_H

#include "ir/tree.h"

/* Needs a common tree (not yet linearized); makes, for every work, the work
 * whose update satisfies its wait, NSR_NONE: no wait, or one that always
 * holds (algorithm.md 2.3). A wait is mapped if its threshold is an immediate
 * compared with >= or >, the semaphore is owned, one channel updates it in
 * the region by positive steps, and the update is the same on every path
 * since the barrier. Others are refused; one that nothing in its region can
 * satisfy is a hang of the input. */
NSR_MUST_USE enum nsr_status nsr_explicit_map(struct nsr_ctx *ctx,
                                              const struct nsr_tree *t,
                                              uint32_t **target);

#endif
