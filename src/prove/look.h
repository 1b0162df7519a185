/* look.h - conflicts of a work with all that is not known to have retired.
 */
#ifndef NSR_PROVE_LOOK_H
#define NSR_PROVE_LOOK_H

#include "prove/lag.h"

struct nsr_look {
  struct nsr_ctx *ctx;
  const struct nsr_sights *x;
  const struct nsr_touches *touches;
  struct nsr_lag_result *out; /* pairs are added to open */
  uint32_t *free;             /* by scope: nsr_free_loops */
  uint32_t *fence;            /* by such a loop, then channel: slot */
};

/* touches, found: NULL where nobody looks. */
NSR_MUST_USE enum nsr_status nsr_look_init(struct nsr_ctx *ctx,
                                           const struct nsr_sights *x,
                                           const struct nsr_touches *touches,
                                           struct nsr_lag_result *found,
                                           struct nsr_look *out);

/* From the work of a slot; row, as of here: what its engine knows. */
NSR_MUST_USE enum nsr_status nsr_look_from(const struct nsr_look *g,
                                           uint32_t slot,
                                           const struct nsr_sight *row);

#endif
