/* key_loads.h - loads on which scopes and addresses were taken for the same.
 */
#ifndef NSR_DEP_KEY_LOADS_H
#define NSR_DEP_KEY_LOADS_H

#include "dep/dep.h"

/* Needs the dependences. Scopes were matched on loads of the same bytes in the
 * same region: nothing may write those between the loads (algorithm.md 2.2),
 * and nothing at all in an island, whose order is not known. The same goes for
 * words that addresses are made of; others may be what they want. Adds to
 * doubts (by place) all loads of which that cannot be said. */
NSR_MUST_USE enum nsr_status nsr_key_loads_check(struct nsr_ctx *ctx,
                                                 const struct nsr_deps *deps,
                                                 struct nsr_key_loads *doubts);

#endif
