/* mirrors.h - which mirrors an engine keeps in the registers it has.
 */
#ifndef NSR_SYNC_MIRRORS_H
#define NSR_SYNC_MIRRORS_H

#include "ir/program.h"

/* Registers that an engine's stream never names, nor facts. */
struct nsr_free {
  uint32_t n;
  int16_t *v;
};

/* The first max of them, at most. */
NSR_MUST_USE enum nsr_status nsr_free_registers(struct nsr_ctx *ctx,
                                                const struct nsr_program *p,
                                                int engine, uint32_t max,
                                                struct nsr_free *out);

/* Thresholds of one engine that are the same: a class less a constant. */
struct nsr_use {
  uint32_t class;
  int32_t less;
  uint64_t heat;     /* how often they are computed, in a rough measure */
  uint64_t cost;     /* .. and a mirror of the class is advanced */
  uint32_t from, to; /* items of the stream (ranges.h) that need the mirror */
  uint32_t mirror;   /* out: which one, counted from the engine's first */
  /* out, where registers serve several: the use that has the mirror, and its
   * register */
  uint32_t leader;
  int16_t reg;
};

struct nsr_uses {
  uint32_t n, nclasses;
  struct nsr_use *v; /* by class, then less */
};

/* Sorts, joins those that are the same, and counts. */
void nsr_uses_join(struct nsr_uses *uses);
/* Registers that they need where `have` are free: one for each, or for each
 * class and (unless tight) one to compute in. */
uint32_t nsr_uses_want(const struct nsr_uses *uses, uint32_t have, bool tight);
/* The use of a class and constant. */
const struct nsr_use *nsr_uses_find(const struct nsr_uses *uses, uint32_t class,
                                    int32_t less);

/* Gives each use a mirror, and leaves a register to compute in where there are
 * more than classes: of its own where that costs less than computing,
 * the hottest ones first while there are registers. *own[m] is the use whose
 * constant mirror m has. */
NSR_MUST_USE enum nsr_status nsr_uses_assign(struct nsr_ctx *ctx,
                                             struct nsr_uses *uses,
                                             uint32_t have, uint32_t **own,
                                             uint32_t *nmirrors);

#endif
