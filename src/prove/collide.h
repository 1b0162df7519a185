/* collide.h - accesses that the input orders and the output surely does not.
 */
#ifndef NSR_PROVE_COLLIDE_H
#define NSR_PROVE_COLLIDE_H

#include "prove/lag.h"
#include "prove/reference.h"

/* Needs works q and c of one run of one body, q first, that surely touch common
 * bytes, and the output's score and thresholds. Whether c may issue while q is
 * under way as soon as that body runs once, though the input makes it wait. */
NSR_MUST_USE enum nsr_status nsr_collide(struct nsr_ctx *ctx,
                                         const struct nsr_reference *in,
                                         const struct nsr_score *out,
                                         const struct nsr_thresholds *t,
                                         uint32_t q, uint32_t c, bool *yes);

#endif
