/* hash.h - digests and seeded numbers of the engine model. */
#ifndef NSR_SIM_HASH_H
#define NSR_SIM_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <xxhash.h>

static inline uint64_t nsr_hash(const void *p, size_t n) {
  return XXH3_64bits(p, n);
}

/* A bijection that spreads every input bit over the word: for deriving many
 * numbers from one digest. */
static inline uint64_t nsr_spread(uint64_t x) {
  x ^= x >> 32;
  x *= UINT64_C(0xd6e8feb86659fd93);
  x ^= x >> 32;
  x *= UINT64_C(0xd6e8feb86659fd93);
  return x ^ x >> 32;
}

static inline uint64_t nsr_combine(uint64_t h, uint64_t x) {
  return nsr_spread(h + UINT64_C(0x9e3779b97f4a7c15) + nsr_spread(x));
}

/* The next number of a seeded sequence. */
static inline uint64_t nsr_random(uint64_t *state) {
  *state += UINT64_C(0x9e3779b97f4a7c15);
  return nsr_spread(*state);
}

static inline uint32_t nsr_random_below(uint64_t *state, uint32_t n) {
  return (uint32_t)((nsr_random(state) >> 32) * n >> 32);
}
#endif
