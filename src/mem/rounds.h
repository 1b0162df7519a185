/* rounds.h - what the registers of a loop do, iteration by iteration.
 */
#ifndef NSR_MEM_ROUNDS_H
#define NSR_MEM_ROUNDS_H

#include "base/arena.h"
#include "base/vec.h"
#include "mem/forms.h"

enum nsr_step_kind {
  NSR_STEP_OPERATION,
  NSR_STEP_TEST,
  NSR_STEP_ARM,
  NSR_STEP_FORGET
};

/* Which way a branch goes: to its target, on, or nobody knows. */
enum nsr_way { NSR_WAY_TARGET, NSR_WAY_ON, NSR_WAY_UNKNOWN };

struct nsr_step {
  uint8_t kind;        /* enum nsr_step_kind */
  uint8_t way;         /* TEST: while a round runs; ARM: the one it is on */
  uint32_t test, n;    /* ARM: its test; its steps, which follow it */
  uint32_t insn;       /* TEST */
  const uint64_t *set; /* FORGET: registers that other code sets here */
  struct nsr_insn x;
};

/* A loop's register operations that run in every iteration, in order, and
 * those in arms, each behind its test. */
struct nsr_round {
  NSR_VEC(struct nsr_step) steps;
  uint32_t nregs;
  uint64_t *other; /* registers that other code of the loop sets, where that
                      may be passed by in ways that no test tells */
  /* room */
  int32_t *turned;          /* values by iteration and register */
  bool *turns;              /* by register */
  struct nsr_form *room[5]; /* a form by register each */
};

NSR_MUST_USE enum nsr_status nsr_round_init(struct nsr_ctx *ctx, uint32_t nregs,
                                            struct nsr_round *out);

/* env holds the registers in front of the loop, which sets those in set; makes
 * them those at the start of its t-th iteration. Induction by one symbolic
 * round; rotation by running rounds until all that turns comes back. */
void nsr_round_forms(struct nsr_round *r, uint32_t scope, const uint64_t *set,
                     struct nsr_form *env);

/* Registers in set are unknown. */
void nsr_forms_forget(struct nsr_form *env, uint32_t nregs,
                      const uint64_t *set);

#endif
