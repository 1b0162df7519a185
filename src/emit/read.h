/* read.h - which mirrors are read behind barriers that stay, before they are
 * set anew again: others need not be set there.
 */
#ifndef NSR_EMIT_READ_H
#define NSR_EMIT_READ_H

#include "base/bitset.h"
#include "emit/entries.h"

struct nsr_read {
  const uint32_t *reset_at; /* by instruction: the plan's reset there, or
                               NSR_NONE */
  uint32_t words;
  uint64_t *of; /* by reset of the plan: bits of the engine's mirrors */
};

static inline bool nsr_read_behind(const struct nsr_read *r, uint32_t reset,
                                   uint32_t mirror) {
  return nsr_bit(r->of + (size_t)reset * r->words, mirror);
}

/* entries: the engine's. Backwards over the flow of the input; an operation
 * that advances a mirror does not count as reading it. Where thresholds are
 * computed (the published forms) all mirrors are taken to be read. */
NSR_MUST_USE enum nsr_status
nsr_read_find(struct nsr_ctx *ctx, const struct nsr_plan *plan, int engine,
              const struct nsr_entries *entries, struct nsr_read *out);

#endif
