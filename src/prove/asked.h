/* asked.h - at which distances waits ask what tracks tell.
 *
 * What nobody asks for need not be told: backwards from the waits, each
 * distance is less by what the members in between count, until the member that
 * answers is met.
 */
#ifndef NSR_PROVE_ASKED_H
#define NSR_PROVE_ASKED_H

#include "prove/told.h"

/* Needs all of `told` but what is asked, and levels as they are in the walk. */
NSR_MUST_USE enum nsr_status nsr_asked_find(struct nsr_told *told);

#endif
