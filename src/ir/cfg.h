/* cfg.h - the flow graph of one stream: blocks, dominators, natural loops.
 */
#ifndef NSR_IR_CFG_H
#define NSR_IR_CFG_H

#include "ir/program.h"

/* A basic block: instructions first..first+n-1. */
struct nsr_block {
  uint32_t first, n;
  uint32_t succ[2]; /* block, NSR_NONE: none (halt) */
  uint32_t idom;    /* immediate dominator; the entry's own; NSR_NONE:
                       unreachable */
  uint32_t rpo;     /* place in reverse postorder */
  uint32_t loop;    /* innermost loop, NSR_NONE: none */
};

/* A natural loop. Loops are numbered so that outer ones come first. */
struct nsr_loop {
  uint32_t header;
  uint32_t parent; /* enclosing loop, NSR_NONE: none */
  uint32_t depth;  /* 1: outermost */
};

struct nsr_cfg {
  const struct nsr_program *program;
  int engine;
  uint32_t nblocks, nloops, norder;
  struct nsr_block *blocks; /* in stream order; block 0 is the entry */
  struct nsr_loop *loops;
  const uint32_t *order;    /* reachable blocks in reverse postorder */
  const uint32_t *block_of; /* by instruction */
};

/* Needs a program; makes the graph. Dominators: Cooper, Harvey, Kennedy, "A
 * simple, fast dominance algorithm" (2001). Refuses irreducible flow. */
NSR_MUST_USE enum nsr_status nsr_cfg_build(struct nsr_ctx *ctx,
                                           const struct nsr_program *p,
                                           int engine, struct nsr_cfg *out);

/* Whether block lies in loop (NSR_NONE contains all). */
bool nsr_cfg_in_loop(const struct nsr_cfg *g, uint32_t block, uint32_t loop);

/* Marks the blocks that run once in each completed iteration of a loop: those
 * that dominate all its latches and lie in no loop inside it. every[b] of
 * other blocks stays as it is. */
void nsr_cfg_every(const struct nsr_cfg *g, uint32_t loop, bool *every);

#endif
