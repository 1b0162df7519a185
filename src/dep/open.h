/* open.h - pairs that the input leaves unordered: which of them are races.
 */
#ifndef NSR_DEP_OPEN_H
#define NSR_DEP_OPEN_H

#include "dep/dep.h"
#include "dep/distance.h"

/* Whether both surely run in one execution of the region, in one body of it or
 * in iterations of a loop that follow each other: elsewhere the input may be
 * ordered in ways that a walk over all paths does not see, and the judge
 * decides. trips: how often loops run at most (mem/trips.h), NULL: nobody
 * knows; first: in which iteration (from 0) both touch common bytes. */
bool nsr_open_together(const struct nsr_distances *d, const struct nsr_dep *x,
                       const uint64_t *trips, uint32_t first);

/* Whether no execution of the region runs both: they lie in the two arms of a
 * branch, and no loop of the region is around that. */
bool nsr_open_exclusive(const struct nsr_tree *t, const struct nsr_dep *x);

/* Reports a race of the input. bytes: that they have in common; first: as
 * above. */
enum nsr_status nsr_open_race(struct nsr_ctx *ctx,
                              const struct nsr_distances *d,
                              const struct nsr_dep *x,
                              const struct nsr_bytes *bytes, uint32_t first);

#endif
