/* explicit.h - which update each wait of the input waits for.
 */
#ifndef NSR_DEP_EXPLICIT_H
#define NSR_DEP_EXPLICIT_H

#include "ir/islands.h"

/* Needs a common tree (not yet linearized) and the islands known so far; makes,
 * for every work, the work whose update satisfies its wait, NSR_NONE: no
 * wait, one that always holds, or one in an island (algorithm.md 2.3). A wait
 * is mapped if its threshold is an immediate compared with >= or >, one
 * channel updates the semaphore in the region by positive steps, and the
 * update is the same on every path since the barrier. Others make their region
 * an island; one that nothing in its region can satisfy is a hang of the
 * input. Semaphores of others are none of its business. With lenient, hangs
 * are not told: for dumps. */
NSR_MUST_USE enum nsr_status nsr_explicit_map(struct nsr_ctx *ctx,
                                              const struct nsr_tree *t,
                                              struct nsr_islands *islands,
                                              bool lenient, uint32_t **target);

#endif
