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
  uint32_t stretch; /* that it lies in, NSR_NONE: none; only the stretch's
                       entry is reachable, and leads to what follows it */
};

/* Code that is not structured, made one opaque step of the flow: entered at one
 * block, left to one other. */
struct nsr_stretch {
  const uint32_t *blocks; /* in stream order */
  uint32_t nblocks, entry;
  bool barred;            /* each way through it passes a barrier */
  bool opposite;          /* made only because another engine has one */
  uint32_t insn;          /* where the trouble is */
  const char *what, *why; /* "the loop", "has several entries" */
};

/* Instructions that must lie in one stretch, and why: where insn is. */
struct nsr_knot {
  bool opposite;
  uint32_t n, insn;
  const uint32_t *insns;
  const char *what, *why;
};

struct nsr_knots {
  struct nsr_knot *v;
  size_t n, cap;
};

/* A natural loop, and what runs only on a way out of it where it has several
 * (ir/exits.h). Loops are numbered so that outer ones come first. */
struct nsr_loop {
  uint32_t header;
  uint32_t parent;        /* enclosing loop, NSR_NONE: none */
  uint32_t depth;         /* 1: outermost */
  const uint32_t *blocks; /* of it and of loops in it, in reverse postorder */
  uint32_t nblocks;
};

struct nsr_cfg {
  const struct nsr_program *program;
  int engine;
  uint32_t nblocks, nloops, norder, nstretches;
  struct nsr_block *blocks; /* in stream order; block 0 is the entry */
  struct nsr_loop *loops;
  struct nsr_stretch *stretches;
  const uint32_t *order;    /* reachable blocks in reverse postorder */
  const uint32_t *block_of; /* by instruction */
};

/* Needs a program; makes the graph. Dominators: Cooper, Harvey, Kennedy, "A
 * simple, fast dominance algorithm" (2001). Loops with several entries are
 * added to knots, and all knots made stretches, the smallest that have one
 * entry and one exit; where there is none before the end of the stream,
 * refuses. */
NSR_MUST_USE enum nsr_status nsr_cfg_build(struct nsr_ctx *ctx,
                                           const struct nsr_program *p,
                                           int engine, struct nsr_knots *knots,
                                           struct nsr_cfg *out);

NSR_MUST_USE enum nsr_status nsr_refuse_knot(struct nsr_ctx *ctx,
                                             const struct nsr_program *p,
                                             int engine,
                                             const struct nsr_knot *knot);

/* Whether block lies in loop (NSR_NONE contains all). */
bool nsr_cfg_in_loop(const struct nsr_cfg *g, uint32_t block, uint32_t loop);

bool nsr_cfg_has_barrier(const struct nsr_cfg *g, uint32_t block);

/* Marks the blocks that run once in each completed iteration of a loop: those
 * that dominate all its latches and lie in no loop inside it. every[b] of
 * other blocks stays as it is. */
void nsr_cfg_every(const struct nsr_cfg *g, uint32_t loop, bool *every);

#endif
