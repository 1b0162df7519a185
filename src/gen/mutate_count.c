/* mutate_count.c - mistakes in the counts that waits are computed from: steps,
 * places of steps, resets, registers.
 */
#include "gen/mutate.h"

/* ---- steps */

enum nsr_status nsr_op_step(struct nsr_mutator *m) {
  NSR_EACH_INSN(m, s, i) {
    if (!nsr_survey_is_step(&m->survey.streams[s], i))
      continue;
    for (int add = 1; add >= -1; add -= 2) {
      struct nsr_insn insn = m->survey.streams[s].insns[i];
      insn.b.v += add;
      nsr_mutant_start(m);
      NSR_TRY(nsr_mutant_word(m, NSR_EDIT_REPLACE, s, i, &insn));
      NSR_TRY(nsr_mutant_end(m, s, i, "the count grows by %d", (int)insn.b.v));
    }
  }
  return NSR_OK;
}

/* A count of the trip alone: set anew where the loop is entered. */
enum nsr_status nsr_op_restart(struct nsr_mutator *m) {
  NSR_EACH_INSN(m, s, i) {
    const struct nsr_survey_stream *stream = &m->survey.streams[s];
    const struct nsr_survey_loop *loop = nsr_survey_loop(stream, i);
    if (!nsr_survey_is_step(stream, i) || !loop ||
        !nsr_survey_outer(stream, loop))
      continue;
    int reg = stream->insns[i].dst;
    nsr_mutant_start(m);
    NSR_TRY(nsr_mutant_op(m, NSR_EDIT_SLIP, s, loop->head, NSR_CTL_MOV, reg,
                          nsr_imm(nsr_survey_start(stream, reg)), nsr_imm(0)));
    NSR_TRY(nsr_mutant_end(m, s, i, "r%d starts again at the loop", reg));
  }
  return NSR_OK;
}

static bool leaves(const struct nsr_survey_stream *s,
                   const struct nsr_survey_loop *loop, uint32_t from,
                   uint32_t to) {
  for (uint32_t i = from; i < to; i++)
    if (s->insns[i].desc->ctl == NSR_CTL_BR &&
        (int64_t)i + s->insns[i].displacement > loop->back)
      return true;
  return false;
}

/* In front of the test that ends a loop, a step counts once more. */
enum nsr_status nsr_op_header(struct nsr_mutator *m) {
  NSR_EACH_INSN(m, s, i) {
    const struct nsr_survey_stream *stream = &m->survey.streams[s];
    const struct nsr_survey_loop *loop = nsr_survey_loop(stream, i);
    if (!nsr_survey_is_step(stream, i) || !loop ||
        !leaves(stream, loop, loop->head, i))
      continue;
    nsr_mutant_start(m);
    NSR_TRY(
        nsr_mutant_word(m, NSR_EDIT_INSERT, s, loop->head, &stream->insns[i]));
    NSR_TRY(nsr_mutant_delete(m, s, i));
    NSR_TRY(nsr_mutant_end(m, s, i, "the step moved in front of the test"));
  }
  return NSR_OK;
}

static uint32_t back_edges(const struct nsr_survey_stream *s, uint32_t head) {
  uint32_t n = 0;
  for (uint32_t l = 0; l < s->nloops; l++)
    n += s->loops[l].head == head;
  return n;
}

/* One step of a loop undone behind one of its branches back, which goes round
 * by the end of the stream. */
static enum nsr_status miss(struct nsr_mutator *m, uint32_t s, uint32_t i,
                            const struct nsr_survey_loop *loop) {
  const struct nsr_survey_stream *stream = &m->survey.streams[s];
  const struct nsr_insn *step = &stream->insns[i];
  struct nsr_insn back = stream->insns[loop->back], edge;
  nsr_insn_init(back.desc, &edge);
  edge.cc = NSR_CC_ALWAYS;
  edge.displacement = (int32_t)((int64_t)loop->head - stream->n);
  nsr_mutant_start(m);
  back.displacement = (int32_t)((int64_t)stream->n - loop->back);
  NSR_TRY(nsr_mutant_word(m, NSR_EDIT_REPLACE, s, loop->back, &back));
  NSR_TRY(nsr_mutant_op(m, NSR_EDIT_INSERT, s, stream->n, NSR_CTL_SUB,
                        step->dst, step->a, step->b));
  NSR_TRY(nsr_mutant_word(m, NSR_EDIT_INSERT, s, stream->n, &edge));
  return nsr_mutant_end(m, s, i, "no step behind the branch back at %u",
                        (unsigned)loop->back);
}

enum nsr_status nsr_op_edge(struct nsr_mutator *m) {
  NSR_EACH_INSN(m, s, i) {
    const struct nsr_survey_stream *stream = &m->survey.streams[s];
    const struct nsr_survey_loop *around = nsr_survey_loop(stream, i);
    if (!nsr_survey_is_step(stream, i) || !around ||
        back_edges(stream, around->head) < 2)
      continue;
    for (uint32_t l = 0; l < stream->nloops; l++)
      if (stream->loops[l].head == around->head)
        NSR_TRY(miss(m, s, i, &stream->loops[l]));
  }
  return NSR_OK;
}

/* ---- resets */

/* A count set within a loop: a reset or a snapshot. */
static bool resets(const struct nsr_survey_stream *s, uint32_t i) {
  return s->insns[i].desc->ctl == NSR_CTL_MOV && nsr_survey_is_count(s, i) &&
         nsr_survey_loop(s, i);
}

static enum nsr_status move_reset(struct nsr_mutator *m, uint32_t s, uint32_t i,
                                  uint32_t to, const char *where) {
  nsr_mutant_start(m);
  NSR_TRY(nsr_mutant_word(m, NSR_EDIT_INSERT, s, to,
                          &m->survey.streams[s].insns[i]));
  NSR_TRY(nsr_mutant_delete(m, s, i));
  return nsr_mutant_end(m, s, i, "moved %s", where);
}

/* The head of the next loop behind i, n: none. */
static uint32_t next_head(const struct nsr_survey_stream *s, uint32_t i) {
  uint32_t head = s->n;
  for (uint32_t l = 0; l < s->nloops; l++)
    if (s->loops[l].head > i && s->loops[l].head < head)
      head = s->loops[l].head;
  return head;
}

/* Behind the next step of the register that is set, or copied; n: none. */
static uint32_t behind_step(const struct nsr_survey_stream *s, uint32_t i) {
  const struct nsr_insn *insn = &s->insns[i];
  for (uint32_t j = i + 1; j < s->n; j++)
    if (nsr_survey_is_step(s, j) &&
        (s->insns[j].dst == insn->dst ||
         (insn->a.is_reg && s->insns[j].dst == insn->a.v)))
      return j + 1;
  return s->n;
}

enum nsr_status nsr_op_reset(struct nsr_mutator *m) {
  NSR_EACH_INSN(m, s, i) {
    const struct nsr_survey_stream *stream = &m->survey.streams[s];
    if (!resets(stream, i))
      continue;
    nsr_mutant_start(m);
    NSR_TRY(nsr_mutant_delete(m, s, i));
    NSR_TRY(nsr_mutant_end(m, s, i, "the reset or snapshot dropped"));
    uint32_t head = next_head(stream, i), step = behind_step(stream, i);
    if (head < stream->n)
      NSR_TRY(move_reset(m, s, i, head, "into the loop behind it"));
    if (step < stream->n)
      NSR_TRY(move_reset(m, s, i, step, "behind the next step"));
  }
  return NSR_OK;
}

/* Counts set between a barrier and what comes next. */
enum nsr_status nsr_op_mirror(struct nsr_mutator *m) {
  for (uint32_t s = 0; s < m->k->nstreams; s++) {
    const struct nsr_survey_stream *stream = &m->survey.streams[s];
    bool behind = false;
    for (uint32_t i = 0; i < stream->n && !nsr_mutant_enough(m); i++) {
      behind = stream->insns[i].desc->cls == NSR_BARRIER ||
               (behind && nsr_survey_is_count(stream, i));
      if (!behind || stream->insns[i].desc->ctl != NSR_CTL_MOV)
        continue;
      nsr_mutant_start(m);
      NSR_TRY(nsr_mutant_delete(m, s, i));
      NSR_TRY(nsr_mutant_end(m, s, i, "not set anew behind the barrier"));
    }
  }
  return NSR_OK;
}

/* ---- registers */

/* A register of the kernel's that is read at or behind i, or anywhere; -1. */
static int kernel_register(const struct nsr_mutator *m, uint32_t s,
                           uint32_t i) {
  const struct nsr_survey_stream *stream = &m->survey.streams[s];
  for (uint32_t d = 0; d < stream->n; d++) {
    const struct nsr_insn *insn = &stream->insns[(i + d) % stream->n];
    if (insn->desc->ctl == NSR_CTL_BR && insn->a.is_reg)
      return insn->a.v;
    for (int o = 0; o < insn->noperands; o++)
      if (insn->operands[o].reg != NSR_NO_REG)
        return insn->operands[o].reg;
  }
  for (int r = 0; r < m->k->isa->registers; r++)
    if (stream->registers[r] & NSR_REG_KERNEL)
      return r;
  return -1;
}

static enum nsr_status clobber(struct nsr_mutator *m, uint32_t s, uint32_t i) {
  struct nsr_insn insn = m->survey.streams[s].insns[i];
  int reg = kernel_register(m, s, i);
  if (reg < 0)
    return NSR_OK;
  insn.dst = (int16_t)reg;
  nsr_mutant_start(m);
  NSR_TRY(nsr_mutant_word(m, NSR_EDIT_REPLACE, s, i, &insn));
  return nsr_mutant_end(m, s, i, "it writes r%d, which is in use", reg);
}

enum nsr_status nsr_op_clobber(struct nsr_mutator *m) {
  NSR_EACH_INSN(m, s, i) {
    const struct nsr_survey_stream *stream = &m->survey.streams[s];
    if (!nsr_survey_is_count(stream, i))
      continue;
    NSR_TRY(clobber(m, s, i));
    if (stream->insns[i].desc->ctl != NSR_CTL_MOV || resets(stream, i))
      continue;
    nsr_mutant_start(m);
    NSR_TRY(nsr_mutant_delete(m, s, i));
    NSR_TRY(nsr_mutant_end(m, s, i, "the count is never set"));
  }
  return NSR_OK;
}
