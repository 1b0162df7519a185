/* mutate.h - what the operators share: places, and changes at them. */
#ifndef NSR_GEN_MUTATE_H
#define NSR_GEN_MUTATE_H

#include <nsr/gen.h>

#include "gen/edit.h"
#include "gen/survey.h"

/* A series of mutants: either all are made, or the one at `index`. */
struct nsr_mutator {
  struct nsr_ctx *ctx;
  const struct nsr_kernel *k;
  struct nsr_survey survey;
  struct nsr_edits edits; /* of the mutant that is being made */
  bool fits;              /* all of them could be encoded so far */
  bool all;
  uint64_t index, places; /* places so far */
  nsr_mutant_fn *fn;
  void *self;
  struct nsr_kernel *made;
  const char *what;
};

/* One operator: starts, changes and ends a mutant per place. */
typedef enum nsr_status nsr_operator_fn(struct nsr_mutator *m);

nsr_operator_fn nsr_op_drop_wait, nsr_op_lower, nsr_op_raise, nsr_op_older,
    nsr_op_position, nsr_op_step, nsr_op_update, nsr_op_increment,
    nsr_op_semaphore, nsr_op_restart, nsr_op_other_count, nsr_op_reset,
    nsr_op_mask, nsr_op_header, nsr_op_edge, nsr_op_back_edge, nsr_op_skip_wait,
    nsr_op_displace, nsr_op_clobber, nsr_op_barrier, nsr_op_mirror,
    nsr_op_overwrite, nsr_op_swap, nsr_op_cancel;

/* Whether nobody asks for more. */
static inline bool nsr_mutant_enough(const struct nsr_mutator *m) {
  return m->made != NULL;
}
void nsr_mutant_start(struct nsr_mutator *m);

/* Changes at instruction i of stream s. What does not fit its field spoils the
 * place, which then does not count. */
NSR_MUST_USE enum nsr_status nsr_mutant_word(struct nsr_mutator *m,
                                             enum nsr_edit_kind kind,
                                             uint32_t s, uint32_t i,
                                             const struct nsr_insn *insn);
NSR_MUST_USE enum nsr_status nsr_mutant_delete(struct nsr_mutator *m,
                                               uint32_t s, uint32_t i);
NSR_MUST_USE enum nsr_status nsr_mutant_wait(struct nsr_mutator *m, uint32_t s,
                                             uint32_t i,
                                             const struct nsr_wait *wait);
NSR_MUST_USE enum nsr_status nsr_mutant_update(struct nsr_mutator *m,
                                               uint32_t s, uint32_t i,
                                               const struct nsr_update *update);
/* A branch to `target`, an old number below n. */
NSR_MUST_USE enum nsr_status nsr_mutant_target(struct nsr_mutator *m,
                                               uint32_t s, uint32_t i,
                                               int64_t target);
/* Register operation `ctl` dst, a, b. */
NSR_MUST_USE enum nsr_status nsr_mutant_op(struct nsr_mutator *m,
                                           enum nsr_edit_kind kind, uint32_t s,
                                           uint32_t i, enum nsr_ctl ctl,
                                           int dst, struct nsr_val a,
                                           struct nsr_val b);
/* A no-op on the channel of instruction `like`, with an update. */
NSR_MUST_USE enum nsr_status nsr_mutant_nop(struct nsr_mutator *m,
                                            enum nsr_edit_kind kind, uint32_t s,
                                            uint32_t i,
                                            const struct nsr_insn *like,
                                            const struct nsr_update *update);
/* The threshold of the wait of i, changed. */
NSR_MUST_USE enum nsr_status nsr_mutant_threshold(struct nsr_mutator *m,
                                                  uint32_t s, uint32_t i,
                                                  int64_t add);

/* Ends a mutant: what was done to instruction i of stream s. */
NSR_PRINTF(4, 5)
NSR_MUST_USE enum nsr_status nsr_mutant_end(struct nsr_mutator *m, uint32_t s,
                                            uint32_t i, const char *fmt, ...);

static inline struct nsr_val nsr_imm(int32_t v) {
  return (struct nsr_val){false, v};
}
static inline struct nsr_val nsr_reg(int r) {
  return (struct nsr_val){true, r};
}

/* Every instruction of every stream, while more are asked for. */
#define NSR_EACH_INSN(m, s, i)                                                 \
  for (uint32_t s = 0; s < (m)->k->nstreams; s++)                              \
    for (uint32_t i = 0;                                                       \
         i < (m)->survey.streams[s].n && !nsr_mutant_enough(m); i++)

#endif
