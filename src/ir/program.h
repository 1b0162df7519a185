/* program.h - a kernel decoded once, in the few bytes per instruction that
 * control flow and synchronisation need. Operands stay in the raw words.
 */
#ifndef NSR_IR_PROGRAM_H
#define NSR_IR_PROGRAM_H

#include <nsr/facts_file.h>

#include "base/arena.h"

/* One instruction. */
struct nsr_node {
  uint8_t cls;         /* enum nsr_class */
  uint8_t ctl;         /* enum nsr_ctl */
  int8_t channel;      /* datapath and load: its channel; else -1 */
  bool nop;            /* touches no memory, no hidden state, nothing outside */
  bool always;         /* NSR_CTL_BR without a condition */
  bool marked;         /* unknown effects, or external */
  bool unknown;        /* unknown effects */
  bool foreign_wait;   /* its wait is for a semaphore of others */
  bool foreign_update; /* its update tells others */
  bool addressed;      /* an operand's address is in a register */
  int16_t dst;         /* the register it sets, -1: none */
  struct nsr_wait wait;
  struct nsr_update update;
  int32_t aux; /* branch: target index; barrier: id */
};

/* What a control instruction makes of registers, as in nsr_insn. */
struct nsr_operation {
  struct nsr_val a, b;
  int16_t cond;
  uint8_t cc;
};

/* Whether an instruction matters to order: datapath, load, barrier, wait. */
static inline bool nsr_node_relevant(const struct nsr_node *n) {
  return n->cls != NSR_CONTROL || n->wait.cmp != NSR_CMP_NONE;
}

struct nsr_program {
  const struct nsr_kernel *k;
  const struct nsr_facts_file *facts;               /* on k; NULL: none */
  uint8_t nengines;                                 /* with a stream */
  const struct nsr_stream *stream[NSR_MAX_ENGINES]; /* by engine, or NULL */
  const struct nsr_node *nodes[NSR_MAX_ENGINES];
  const struct nsr_operation *operations[NSR_MAX_ENGINES]; /* by instruction */
  const uint64_t *named[NSR_MAX_ENGINES]; /* registers that its stream names,
                                             a bit each */
};

/* Needs a kernel that passed nsr_kernel_check; makes its program, without
 * facts. Refuses
 * computed branches: code in front of a target moves, and the target is not
 * known. */
NSR_MUST_USE enum nsr_status nsr_program_build(struct nsr_ctx *ctx,
                                               const struct nsr_kernel *k,
                                               struct nsr_program *out);

/* Whether there is nothing to take out, whatever the flow looks like: each
 * engine meets one barrier on every way to its halts, and does nothing behind
 * it; or no engine has a barrier or does anything. exit: the barriers, by
 * engine, NSR_NONE: none. */
NSR_MUST_USE enum nsr_status
nsr_program_only_exits(struct nsr_ctx *ctx, const struct nsr_program *p,
                       uint32_t exit[NSR_MAX_ENGINES], bool *only);

/* Adds to set the registers that an instruction names. */
void nsr_mark_registers(uint64_t *set, const struct nsr_insn *x);

struct nsr_place nsr_program_place(const struct nsr_program *p, int engine,
                                   uint32_t insn);

#endif
