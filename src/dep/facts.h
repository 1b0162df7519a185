/* facts.h - sets of executions that are not known to have retired.
 *
 * Works are numbered channel by channel, in reference order within each: a
 * work's number is its slot. A set maps stretches of slots to levels: level l
 * means that all but the last l executions are known; no stretch: all are.
 * Since channels retire in order, few stretches describe what an engine does
 * not know.
 */
#ifndef NSR_DEP_FACTS_H
#define NSR_DEP_FACTS_H

#include "base/arena.h"

/* Slots lo..hi-1 at a level above 0. */
struct nsr_fact {
  uint32_t lo, hi;
  uint32_t level;
};

/* Ascending, disjoint, neighbours of one level joined. */
struct nsr_facts {
  uint32_t n, cap;
  struct nsr_fact *v;
};

enum nsr_facts_op {
  NSR_FACTS_ADD, /* a, then b more executions */
  NSR_FACTS_MAX, /* known where both know */
  NSR_FACTS_MIN  /* known where one knows */
};

/* A set of more stretches is made coarser, which forgets but never claims. */
enum { NSR_MAX_FACTS = 128 };

/* Storage that sets have outgrown or given back, by size; zeroed to begin. */
struct nsr_facts_pool {
  struct nsr_ctx *ctx;
  void *spare[32];
};

void nsr_facts_free(struct nsr_facts_pool *pool, struct nsr_facts *f);

/* Storage for n stretches; those it had are lost. */
NSR_MUST_USE enum nsr_status nsr_facts_reserve(struct nsr_facts_pool *pool,
                                               struct nsr_facts *f, uint32_t n);

/* out (another than a and b) = a op b, levels saturated at most; *coarse is
 * set where it was made coarser. */
NSR_MUST_USE enum nsr_status
nsr_facts_zip(struct nsr_facts_pool *pool, struct nsr_facts *out,
              const struct nsr_facts *a, const struct nsr_facts *b,
              enum nsr_facts_op op, uint32_t most, bool *coarse);

/* out (another than a and b) = both, which have no slot in common. */
NSR_MUST_USE enum nsr_status nsr_facts_unite(struct nsr_facts_pool *pool,
                                             struct nsr_facts *out,
                                             const struct nsr_facts *a,
                                             const struct nsr_facts *b,
                                             bool *coarse);

/* Adds a stretch behind all others. */
NSR_MUST_USE enum nsr_status nsr_facts_push(struct nsr_facts_pool *pool,
                                            struct nsr_facts *f, uint32_t lo,
                                            uint32_t hi, uint32_t level);

NSR_MUST_USE enum nsr_status nsr_facts_copy(struct nsr_facts_pool *pool,
                                            struct nsr_facts *out,
                                            const struct nsr_facts *f);

/* All executions of slots lo..hi-1 are known. */
NSR_MUST_USE enum nsr_status nsr_facts_learn(struct nsr_facts_pool *pool,
                                             struct nsr_facts *f, uint32_t lo,
                                             uint32_t hi);

/* out (another than f) = f with a slot at most at a level. */
NSR_MUST_USE enum nsr_status nsr_facts_lower(struct nsr_facts_pool *pool,
                                             struct nsr_facts *out,
                                             const struct nsr_facts *f,
                                             uint32_t slot, uint32_t level);

/* The level of a slot. */
uint32_t nsr_facts_level(const struct nsr_facts *f, uint32_t slot);

/* Whether all of slots lo..hi-1 are known. */
bool nsr_facts_none(const struct nsr_facts *f, uint32_t lo, uint32_t hi);

/* Levels are no longer told apart; neighbours of one channel (by its slots
 * base[ch]..base[ch+1]-1) are joined. */
void nsr_facts_flatten(struct nsr_facts *f, uint32_t level,
                       const uint32_t *base, uint32_t nch);

/* The same, and coarser where it has more than `most` stretches: what lies
 * between two of one channel is unknown, too, where that is little. */
void nsr_facts_settle(struct nsr_facts *f, uint32_t most, uint32_t level,
                      const uint32_t *base, uint32_t nch);

bool nsr_facts_equal(const struct nsr_facts *a, const struct nsr_facts *b);

#endif
