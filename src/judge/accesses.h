/* accesses.h - what an instance touches, one location at a time. */
#ifndef NSR_JUDGE_ACCESSES_H
#define NSR_JUDGE_ACCESSES_H

#include "judge/watch.h"

/* operand -1: hidden state or an event. False stops. */
typedef bool nsr_access_fn(void *self, const struct nsr_may_access *access,
                           int operand);

/* Operands and hidden state of an instance about to be recorded. */
bool nsr_each_operand(struct nsr_watch *w, const struct nsr_flight *f,
                      nsr_access_fn *visit, void *self);
/* What others can see of it, and unknown effects: the watch is wild. */
bool nsr_each_event(struct nsr_watch *w, const struct nsr_flight *f,
                    nsr_access_fn *visit, void *self);

/* The number of an instance's instruction of the first kernel among those that
 * may race (allowed.h), 0: it is none. */
uint32_t nsr_access_allowed(const struct nsr_watch *w,
                            const struct nsr_flight *f);

#endif
