/* sort.h - sorting by numbers, in linear time.
 */
#ifndef NSR_BASE_SORT_H
#define NSR_BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

/* A number, and where what it is of stands. */
struct nsr_key {
  uint64_t key;
  uint32_t at;
};

/* Sorts n keys, ascending, with room for as many in tmp; of equal ones the
 * order stays. As many passes as there are bytes in which keys differ. */
void nsr_sort_keys(struct nsr_key *v, struct nsr_key *tmp, size_t n);

#endif
