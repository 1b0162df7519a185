/* groups.h - what a score counts: semaphores, from barrier to barrier.
 */
#ifndef NSR_PROVE_GROUPS_H
#define NSR_PROVE_GROUPS_H

#include "prove/score.h"

/* Needs all of a score but its groups, members and regions; steps have
 * semaphores for groups. Objects, in the output (proof NULL: the input), to
 * what is not advanced by constants, or by several channels. */
NSR_MUST_USE enum nsr_status nsr_groups_find(struct nsr_ctx *ctx,
                                             struct nsr_score *s,
                                             struct nsr_proof *proof);

#endif
