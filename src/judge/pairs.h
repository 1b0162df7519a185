/* pairs.h - at which distances instructions of a loop conflict as it runs.
 */
#ifndef NSR_JUDGE_PAIRS_H
#define NSR_JUDGE_PAIRS_H

#include "base/vec.h"
#include "sim/image.h"

/* Which loop an instruction counts for, and which instruction of an engine
 * counts the loop's iterations. */
struct nsr_loop_map {
  const uint32_t *loop[NSR_MAX_ENGINES]; /* by instruction; NSR_NONE: none */
  const uint32_t *entry; /* by loop * NSR_MAX_ENGINES + engine */
};

/* In `count` executions of c, its youngest conflict on p's channel was with p,
 * so many iterations of their loop before. */
struct nsr_pair {
  uint8_t p_engine, c_engine;
  uint32_t p, c, loop, distance;
  uint64_t count;
};

struct nsr_pairs {
  NSR_VEC(struct nsr_pair) list;
  uint32_t *table; /* by hash: index + 1 */
  size_t cap;
};

NSR_MUST_USE enum nsr_status nsr_pairs_add(struct nsr_ctx *ctx,
                                           struct nsr_pairs *pairs,
                                           const struct nsr_pair *pair);

#endif
