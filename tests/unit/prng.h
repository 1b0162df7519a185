/* prng.h - random numbers for property tests: a seed that is printed and can
 * be set (NSR_SEED=..), and the same numbers everywhere. */
#ifndef NSR_TESTS_PRNG_H
#define NSR_TESTS_PRNG_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct prng {
  uint64_t state;
};

static inline uint64_t prng_next(struct prng *r) {
  uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

/* lo..hi, both included. */
static inline int64_t prng_in(struct prng *r, int64_t lo, int64_t hi) {
  return lo + (int64_t)(prng_next(r) % (uint64_t)(hi - lo + 1));
}

static inline struct prng prng_seed(const char *test, uint64_t seed) {
  const char *s = getenv("NSR_SEED");
  if (s)
    seed = strtoull(s, NULL, 0);
  printf("%s: NSR_SEED=%" PRIu64 "\n", test, seed);
  return (struct prng){seed};
}

#endif
