/* island_loads.h - loads that control flow rests on, in islands.
 */
#ifndef NSR_DEP_ISLAND_LOADS_H
#define NSR_DEP_ISLAND_LOADS_H

#include "ir/tree.h"

/* Needs a linearized tree. Scopes were matched on loads of the same bytes in
 * the same region (congruence.h). The order in an island is not known, so no
 * work of islands may write what such a load in one reads: refused. */
NSR_MUST_USE enum nsr_status nsr_island_loads_check(struct nsr_ctx *ctx,
                                                    const struct nsr_tree *t);

#endif
