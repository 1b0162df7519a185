/* lasting.h - how many iterations the forms of address registers are right for.
 */
#ifndef NSR_MEM_LASTING_H
#define NSR_MEM_LASTING_H

#include "ir/tree.h"
#include "mem/values.h"

/* Values of all engines of a tree, and nsr_trips_entries of it. *iterations:
 * they are right as long as no loop runs more often in all; 0: of none do we
 * know that it may. */
NSR_MUST_USE enum nsr_status nsr_values_lasting(struct nsr_ctx *ctx,
                                                const struct nsr_tree *t,
                                                const struct nsr_values *values,
                                                const uint64_t *entries,
                                                int64_t *iterations);

#endif
