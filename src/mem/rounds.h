/* rounds.h - what the registers of a loop do, iteration by iteration.
 *
 * A loop's body is a list of steps in which ways part and end. A round is one
 * iteration: all ways that may be taken are gone, and where they meet, or go
 * back to the header, a register has what it has on each of them.
 */
#ifndef NSR_MEM_ROUNDS_H
#define NSR_MEM_ROUNDS_H

#include "base/arena.h"
#include "base/vec.h"
#include "ir/scopes.h"
#include "mem/forms.h"

enum nsr_step_kind {
  NSR_STEP_OPERATION,
  NSR_STEP_TEST,
  NSR_STEP_FORK,
  NSR_STEP_BARRIER,
  NSR_STEP_END,   /* a way through the body ends */
  NSR_STEP_FORGET /* other code sets registers here */
};

/* Which way a branch goes: to its target, on, or nobody knows. */
enum nsr_way { NSR_WAY_TARGET, NSR_WAY_ON, NSR_WAY_UNKNOWN };

struct nsr_step {
  uint8_t kind;  /* enum nsr_step_kind */
  uint8_t way;   /* TEST: while a round runs; FORK: of its first arm */
  uint8_t ends;  /* END: NSR_ENDS_BACK, NSR_ENDS_EXIT, or both */
  bool leaves;   /* FORK: an arm only leads out of the loop */
  uint32_t test; /* FORK: of the branch */
  uint32_t n, m; /* FORK: the steps of its two arms, which follow it */
  uint32_t first_reg, nregs; /* FORK: registers set in its arms, in `regs` */
  const uint64_t *set;       /* FORGET */
  uint32_t insn;             /* OPERATION, TEST */
};

/* Whether barriers of the loop's own lie on a way, or on ways. */
enum nsr_barred { NSR_BARRED_NONE, NSR_BARRED_SOME, NSR_BARRED_ALL };

/* Forms of the registers that the loop sets. */
enum nsr_round_room {
  NSR_ROOM_BEFORE, /* in front of the loop */
  NSR_ROOM_FOUND,
  NSR_ROOM_START, /* of the round that runs */
  NSR_ROOM_BACK,  /* where ways lead back to the header */
  NSR_ROOM_LEFT,  /* .. out of the loop, behind a barrier */
  NSR_ROUND_ROOMS
};

struct nsr_round {
  NSR_VEC(struct nsr_step) steps;
  const struct nsr_node *nodes; /* of their instructions */
  const struct nsr_operation *operations;
  uint32_t nregs;
  NSR_VEC(uint16_t) set;  /* registers that the loop sets */
  NSR_VEC(uint16_t) regs; /* of forks */
  struct nsr_form *kept;  /* room for the forms of those */
  bool in_loop;           /* the loop lies in another one and goes on where it
                             was left: its registers must be advanced as often
                             as its barriers are passed, on all engines alike */
  uint8_t out;            /* enum nsr_barred: the ways out of the loop */
  /* while a round runs */
  uint8_t passed;          /* enum nsr_barred: the way that is gone */
  bool returns;            /* some way led back to the header */
  bool left;               /* .. behind a barrier out of the loop */
  bool barred, not_barred; /* ways out behind a barrier, and others */
  bool unsure;             /* nobody knows which of them pass a barrier */
  uint64_t *spoilt;        /* registers set on a way out that is not counted */
  /* room */
  int32_t *turned;                        /* values by iteration and register */
  bool *turns;                            /* by register */
  struct nsr_form *room[NSR_ROUND_ROOMS]; /* a form by register each */
};

NSR_MUST_USE enum nsr_status nsr_round_init(struct nsr_ctx *ctx, uint32_t nregs,
                                            struct nsr_round *out);

/* Collects a loop's steps; set: the registers that it sets. */
NSR_MUST_USE enum nsr_status nsr_round_collect(struct nsr_ctx *ctx,
                                               const struct nsr_scopes *t,
                                               uint32_t scope, bool in_loop,
                                               const uint64_t *set,
                                               struct nsr_round *r);

/* env holds the registers in front of the loop collected last, or (trip)
 * whenever it is entered; makes them those at the start of its t-th iteration,
 * or of that of a trip. Induction by one symbolic round; rotation by running
 * rounds until all that turns comes back. */
void nsr_round_forms(struct nsr_round *r, uint32_t scope, bool trip,
                     struct nsr_form *env);

/* The same as far as that is a matter of the ways out of the loop: `out`. What
 * registers env holds, the loop's own ones apart, is then as before. */
void nsr_round_ways(struct nsr_round *r, struct nsr_form *env);

/* Registers in set are unknown. */
void nsr_forms_forget(struct nsr_form *env, uint32_t nregs,
                      const uint64_t *set);
/* .. as in another place. */
void nsr_forms_copy(struct nsr_form *to, const struct nsr_form *from,
                    uint32_t nregs, const uint64_t *set);

#endif
