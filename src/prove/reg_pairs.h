/* reg_pairs.h - registers and the semaphores that waits compare them with.
 */
#ifndef NSR_PROVE_REG_PAIRS_H
#define NSR_PROVE_REG_PAIRS_H

#include "prove/score.h"

struct nsr_pair {
  uint32_t reg; /* engine * registers + register */
  uint32_t group;
};

struct nsr_pair_list {
  uint32_t first, n; /* into lists */
};

struct nsr_pairs {
  uint32_t n, registers;
  struct nsr_pair *v; /* by reg, then group */
  uint32_t *lists;    /* pairs */
  struct nsr_pair_list *by_group, *by_reg;
};

/* Needs a score; pairs are those of its waits, and of registers that such
 * registers are made from. */
NSR_MUST_USE enum nsr_status nsr_pairs_find(struct nsr_ctx *ctx,
                                            const struct nsr_score *s,
                                            struct nsr_pairs *out);

/* NSR_NONE: none. */
uint32_t nsr_pair_find(const struct nsr_pairs *p, int engine, int reg,
                       uint32_t group);

static inline const struct nsr_pair_list *
nsr_pairs_of(const struct nsr_pairs *p, int engine, int reg) {
  return &p->by_reg[(uint32_t)engine * p->registers + (uint32_t)reg];
}

#endif
