/* splits.h - semaphores that count one thing here and another there.
 */
#ifndef NSR_PROVE_SPLITS_H
#define NSR_PROVE_SPLITS_H

#include "prove/score.h"

/* Needs an input's steps, with semaphores for groups, and where ways end;
 * mixed: by step, updates and waits that may not all be of one count. What no
 * run has between the same two barriers gets other semaphores, from the
 * instruction set's last one on: the kernel does the same with these. *any:
 * whether something did. */
NSR_MUST_USE enum nsr_status nsr_split_counts(struct nsr_ctx *ctx,
                                              struct nsr_score *s,
                                              const bool *mixed, bool *any);

#endif
