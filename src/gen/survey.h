/* survey.h - what a kernel holds, seen without its maker's help: instructions
 * decoded, loops by their back edges, and the registers that only count for
 * waits.
 */
#ifndef NSR_GEN_SURVEY_H
#define NSR_GEN_SURVEY_H

#include <nsr/kernel.h>

#include "base/vec.h"

/* A branch back, from `back` to `head`. */
struct nsr_survey_loop {
  uint32_t head, back;
};

enum {
  NSR_REG_NAMED = 1,  /* some instruction names it */
  NSR_REG_KERNEL = 2, /* reaches something other than a wait */
  NSR_REG_WAITS = 4   /* reaches a wait on an owned semaphore */
};

struct nsr_survey_stream {
  const struct nsr_stream *s;
  uint32_t n;
  const struct nsr_insn *insns;
  uint8_t *registers; /* by number, NSR_REG_.. */
  int free;           /* a register that nobody names, -1: none */
  uint32_t nloops;
  const struct nsr_survey_loop *loops; /* by back edge, in stream order */
};

struct nsr_survey {
  const struct nsr_kernel *k;
  struct nsr_survey_stream *streams; /* k->nstreams */
  uint32_t nsems;
  const uint16_t *sems; /* owned ones that are updated, ascending */
};

/* In ctx's keep arena. */
NSR_MUST_USE enum nsr_status nsr_survey_new(struct nsr_ctx *ctx,
                                            const struct nsr_kernel *k,
                                            struct nsr_survey *survey);

/* Whether a register does nothing but count for waits. */
static inline bool nsr_survey_counts(const struct nsr_survey_stream *s,
                                     int reg) {
  return reg >= 0 && (s->registers[reg] & (NSR_REG_WAITS | NSR_REG_KERNEL)) ==
                         NSR_REG_WAITS;
}

/* A register operation on such a register. */
bool nsr_survey_is_count(const struct nsr_survey_stream *s, uint32_t i);
/* `add r, r, imm` on such a register, imm above 0. */
bool nsr_survey_is_step(const struct nsr_survey_stream *s, uint32_t i);
/* A no-op with a wait on an owned semaphore and nothing else. */
bool nsr_survey_is_wait(const struct nsr_kernel *k,
                        const struct nsr_survey_stream *s, uint32_t i);
static inline bool nsr_survey_waits(const struct nsr_kernel *k,
                                    const struct nsr_insn *insn) {
  return insn->wait.cmp != NSR_CMP_NONE && nsr_owned(k, insn->wait.sem);
}
static inline bool nsr_survey_updates(const struct nsr_kernel *k,
                                      const struct nsr_insn *insn) {
  return insn->update.op != NSR_UPD_NONE && nsr_owned(k, insn->update.sem);
}

/* The innermost loop around i, NULL: none. */
const struct nsr_survey_loop *nsr_survey_loop(const struct nsr_survey_stream *s,
                                              uint32_t i);
/* The innermost loop around a loop. */
const struct nsr_survey_loop *
nsr_survey_outer(const struct nsr_survey_stream *s,
                 const struct nsr_survey_loop *loop);

/* How a register's threshold grows, and from where: `step` for each entry of a
 * loop, behind `start`. 0 where that does not show. */
struct nsr_survey_count {
  int32_t step, start;
};
struct nsr_survey_count nsr_survey_trace(const struct nsr_survey_stream *s,
                                         int reg, uint32_t i);

/* What a register is set to first, 0 where that is no constant. */
int32_t nsr_survey_start(const struct nsr_survey_stream *s, int reg);
#endif
