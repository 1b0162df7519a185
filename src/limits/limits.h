/* limits.h - how fast the loops of a kernel can be.
 */
#ifndef NSR_LIMITS_LIMITS_H
#define NSR_LIMITS_LIMITS_H

#include "dep/dep.h"
#include "judge/timing.h"

/* Needs the tree and the dependences of the kernel that was run, and a machine;
 * makes, per loop, what resources and dependences allow, and what happens. */
NSR_MUST_USE enum nsr_status
nsr_limits_find(struct nsr_ctx *ctx, const struct nsr_tree *tree,
                const struct nsr_deps *deps, struct nsr_time_run *run,
                const struct nsr_machine *machine, struct nsr_limits *out);

#endif
