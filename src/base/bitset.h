/* bitset.h - fixed-size sets of small integers. */
#ifndef NSR_BASE_BITSET_H
#define NSR_BASE_BITSET_H

#include "base/arena.h"

static inline size_t nsr_bits_words(size_t n) { return (n + 63) / 64; }
static inline bool nsr_bit(const uint64_t *b, size_t i) {
  return b[i / 64] >> (i % 64) & 1;
}
static inline void nsr_bit_set(uint64_t *b, size_t i) {
  b[i / 64] |= UINT64_C(1) << (i % 64);
}
static inline void nsr_bit_clear(uint64_t *b, size_t i) {
  b[i / 64] &= ~(UINT64_C(1) << (i % 64));
}
/* The first member from `from` on of a set of n, n: there is none. */
static inline uint32_t nsr_bits_next(const uint64_t *b, uint32_t n,
                                     uint32_t from) {
  for (uint32_t w = from / 64; w < nsr_bits_words(n); w++) {
    uint64_t left = w == from / 64 ? b[w] >> (from % 64) << (from % 64) : b[w];
    if (left)
      return 64 * w + (uint32_t)__builtin_ctzll(left);
  }
  return n;
}
/* a |= b over n words; whether a changed. */
static inline bool nsr_bits_or(uint64_t *a, const uint64_t *b, size_t n) {
  uint64_t diff = 0;
  for (size_t i = 0; i < n; i++) {
    diff |= b[i] & ~a[i];
    a[i] |= b[i];
  }
  return diff != 0;
}
#endif
