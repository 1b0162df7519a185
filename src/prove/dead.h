/* dead.h - registers whose value an instruction stream does not use any more.
 */
#ifndef NSR_PROVE_DEAD_H
#define NSR_PROVE_DEAD_H

#include "ir/cfg.h"

/* Of one stream. */
struct nsr_live {
  size_t words;
  uint64_t *named; /* registers that it names at all */
  uint64_t *in;    /* by block: in use where it begins; NULL: not made */
};

/* Needs a program; makes `named`. */
NSR_MUST_USE enum nsr_status nsr_live_init(struct nsr_ctx *ctx,
                                           const struct nsr_program *p,
                                           int engine, struct nsr_live *out);

/* Whether reg is in use in front of instruction i. Backward data flow over the
 * whole graph, the first time it is asked. */
NSR_MUST_USE enum nsr_status nsr_live_at(struct nsr_ctx *ctx,
                                         const struct nsr_cfg *g,
                                         struct nsr_live *live, uint32_t i,
                                         int reg, bool *out);

#endif
