/* sort.c - least digit first, a byte at a time. */
#include "base/sort.h"

#include <string.h>

enum { DIGITS = 256, FEW = 32 };

static void sort_few(struct nsr_key *v, size_t n) {
  for (size_t i = 1; i < n; i++) {
    struct nsr_key x = v[i];
    size_t j = i;
    for (; j > 0 && v[j - 1].key > x.key; j--)
      v[j] = v[j - 1];
    v[j] = x;
  }
}

/* From one array into another by the byte at a shift. */
static void sort_digit(const struct nsr_key *from, struct nsr_key *to, size_t n,
                       unsigned shift) {
  size_t at[DIGITS] = {0}, sum = 0;
  for (size_t i = 0; i < n; i++)
    at[from[i].key >> shift & (DIGITS - 1)]++;
  for (int d = 0; d < DIGITS; d++) {
    size_t m = at[d];
    at[d] = sum;
    sum += m;
  }
  for (size_t i = 0; i < n; i++)
    to[at[from[i].key >> shift & (DIGITS - 1)]++] = from[i];
}

void nsr_sort_keys(struct nsr_key *v, struct nsr_key *tmp, size_t n) {
  struct nsr_key *from = v, *to = tmp;
  uint64_t differ = 0;
  if (n <= FEW) {
    sort_few(v, n);
    return;
  }
  for (size_t i = 1; i < n; i++)
    differ |= v[i].key ^ v[0].key;
  for (unsigned shift = 0; shift < 64; shift += 8) {
    if (!(differ >> shift & (DIGITS - 1)))
      continue;
    sort_digit(from, to, n, shift);
    struct nsr_key *x = from;
    from = to;
    to = x;
  }
  if (from != v)
    memcpy(v, from, n * sizeof *v);
}
