/* sort.h - sorting by numbers, in linear time.
 */
#ifndef NSR_BASE_SORT_H
#define NSR_BASE_SORT_H

#include "base/arena.h"

/* A number, and where what it is of stands. */
struct nsr_key {
  uint64_t key;
  uint32_t at;
};

/* Sorts n keys, ascending; of equal ones the order stays. As many passes as
 * there are bytes in which keys differ. */
NSR_MUST_USE enum nsr_status nsr_sort_keys(struct nsr_ctx *ctx,
                                           struct nsr_key *v, size_t n);

#endif
