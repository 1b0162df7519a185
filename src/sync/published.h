/* published.h - the publication's allocations, to the letter: a baseline.
 *
 * On every engine r counts the entries of a loop, t those of its trip. A wait
 * for the execution of p that lies k iterations of the innermost loop S around
 * p and c back is owed if t > k, and then names r - k entries of S, or, for a
 * p in a loop inside S, all entries of that (algorithm.md 3.1, theory.md 3).
 * Where a dependence is carried by more loops than S, barriers between the
 * trips of S stay; where it has no such form at all, barriers in the loop that
 * carries it. Or (most recent) such a wait drops the mask.
 */
#ifndef NSR_SYNC_PUBLISHED_H
#define NSR_SYNC_PUBLISHED_H

#include "sync/plan.h"

/* Needs the waits; makes barriers stay for those without a form, a few at a
 * time: *more says whether any were added, and then waits are to be chosen
 * anew. */
NSR_MUST_USE enum nsr_status nsr_published_keep(struct nsr_ctx *ctx,
                                                struct nsr_tree *tree,
                                                const struct nsr_needs *needs,
                                                uint32_t exit, bool *more);

/* Needs the waits (none in islands), and barriers that stay; makes the plan.
 * A wait that has no form all the same is one for the most recent execution. */
NSR_MUST_USE enum nsr_status nsr_published_plan(struct nsr_ctx *ctx,
                                                const struct nsr_tree *tree,
                                                const struct nsr_needs *needs,
                                                const struct nsr_budget *budget,
                                                struct nsr_plan *out);

#endif
