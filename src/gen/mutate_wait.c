/* mutate_wait.c - mistakes in waits: gone, for another count, for another
 * instance, computed from another register.
 */
#include "gen/mutate.h"

static const struct nsr_insn *insn_at(const struct nsr_mutator *m, uint32_t s,
                                      uint32_t i) {
  return &m->survey.streams[s].insns[i];
}

static bool waits_at(const struct nsr_mutator *m, uint32_t s, uint32_t i) {
  return nsr_survey_waits(m->k, insn_at(m, s, i));
}

enum nsr_status nsr_op_drop_wait(struct nsr_mutator *m) {
  const struct nsr_wait none = {.cmp = NSR_CMP_NONE};
  NSR_EACH_INSN(m, s, i) {
    if (!waits_at(m, s, i))
      continue;
    nsr_mutant_start(m);
    NSR_TRY(nsr_mutant_wait(m, s, i, &none));
    NSR_TRY(nsr_mutant_end(m, s, i, "the wait dropped"));
  }
  return NSR_OK;
}

static enum nsr_status change(struct nsr_mutator *m, uint32_t s, uint32_t i,
                              int64_t add) {
  nsr_mutant_start(m);
  NSR_TRY(nsr_mutant_threshold(m, s, i, add));
  return nsr_mutant_end(m, s, i, "%+d to the threshold", (int)add);
}

static enum nsr_status change_all(struct nsr_mutator *m, int64_t add) {
  NSR_EACH_INSN(m, s, i)
  if (waits_at(m, s, i))
    NSR_TRY(change(m, s, i, add));
  return NSR_OK;
}

enum nsr_status nsr_op_lower(struct nsr_mutator *m) {
  return change_all(m, -1);
}

enum nsr_status nsr_op_raise(struct nsr_mutator *m) { return change_all(m, 1); }

/* How the count behind a wait grows; step 0: it does not. */
static struct nsr_survey_count count_of(const struct nsr_mutator *m, uint32_t s,
                                        uint32_t i) {
  const struct nsr_insn *insn = insn_at(m, s, i);
  if (!waits_at(m, s, i) || !insn->wait.value.is_reg)
    return (struct nsr_survey_count){0, 0};
  return nsr_survey_trace(&m->survey.streams[s], insn->wait.value.v, i);
}

enum nsr_status nsr_op_older(struct nsr_mutator *m) {
  NSR_EACH_INSN(m, s, i) {
    struct nsr_survey_count c = count_of(m, s, i);
    if (c.step > 0)
      NSR_TRY(change(m, s, i, -(int64_t)c.step));
  }
  return NSR_OK;
}

/* The threshold N*r - (N-K) is for the K-th of N, that of the neighbours K-1
 * and K+1 in turn. */
enum nsr_status nsr_op_position(struct nsr_mutator *m) {
  NSR_EACH_INSN(m, s, i) {
    struct nsr_survey_count c = count_of(m, s, i);
    if (c.step < 2)
      continue;
    int64_t n = c.step, behind = ((-(int64_t)c.start) % n + n) % n;
    NSR_TRY(change(m, s, i, behind == n - 1 ? n - 1 : -1));
    NSR_TRY(change(m, s, i, behind == 0 ? 1 - n : 1));
  }
  return NSR_OK;
}

/* ---- other counts */

/* The next register behind r, in either direction, that counts in steps. */
static int other_count(const struct nsr_mutator *m, uint32_t s, int r,
                       int direction) {
  int n = m->k->isa->registers;
  for (int d = 1; d < n; d++) {
    int other = (r + direction * d + n) % n;
    if (nsr_survey_counts(&m->survey.streams[s], other))
      return other;
  }
  return -1;
}

static enum nsr_status use_count(struct nsr_mutator *m, uint32_t s, uint32_t i,
                                 int other) {
  struct nsr_wait wait = insn_at(m, s, i)->wait;
  nsr_mutant_start(m);
  wait.value.v = other;
  NSR_TRY(nsr_mutant_wait(m, s, i, &wait));
  return nsr_mutant_end(m, s, i, "the wait uses r%d", other);
}

enum nsr_status nsr_op_other_count(struct nsr_mutator *m) {
  NSR_EACH_INSN(m, s, i) {
    const struct nsr_insn *insn = insn_at(m, s, i);
    if (!waits_at(m, s, i) || !insn->wait.value.is_reg)
      continue;
    int next = other_count(m, s, insn->wait.value.v, 1);
    int previous = other_count(m, s, insn->wait.value.v, -1);
    if (next >= 0)
      NSR_TRY(use_count(m, s, i, next));
    if (previous >= 0 && previous != next)
      NSR_TRY(use_count(m, s, i, previous));
  }
  return NSR_OK;
}

/* ---- thresholds computed from several */

/* dst = max(a, b) becomes (a > b) * a: nothing is awaited where the count has
 * not passed the base. */
enum nsr_status nsr_op_mask(struct nsr_mutator *m) {
  NSR_EACH_INSN(m, s, i) {
    const struct nsr_survey_stream *stream = &m->survey.streams[s];
    const struct nsr_insn *insn = &stream->insns[i];
    if (insn->desc->ctl != NSR_CTL_MAX || !nsr_survey_is_count(stream, i) ||
        stream->free < 0)
      continue;
    nsr_mutant_start(m);
    NSR_TRY(nsr_mutant_op(m, NSR_EDIT_INSERT, s, i, NSR_CTL_GT, stream->free,
                          insn->a, insn->b));
    NSR_TRY(nsr_mutant_op(m, NSR_EDIT_REPLACE, s, i, NSR_CTL_MUL, insn->dst,
                          nsr_reg(stream->free), insn->a));
    NSR_TRY(nsr_mutant_end(m, s, i, "a mask in place of the maximum"));
  }
  return NSR_OK;
}

/* Where the wait's register is set next in straight code, n: nowhere. */
static uint32_t set_behind(const struct nsr_survey_stream *s, uint32_t i) {
  int reg = s->insns[i].wait.value.v;
  for (uint32_t j = i + 1; j < s->n; j++) {
    if (s->insns[j].desc->ctl == NSR_CTL_BR ||
        s->insns[j].desc->ctl == NSR_CTL_HALT)
      return s->n;
    if (s->insns[j].dst == reg)
      return nsr_survey_is_count(s, j) ? j : s->n;
  }
  return s->n;
}

enum nsr_status nsr_op_overwrite(struct nsr_mutator *m) {
  NSR_EACH_INSN(m, s, i) {
    const struct nsr_survey_stream *stream = &m->survey.streams[s];
    if (!waits_at(m, s, i) || !stream->insns[i].wait.value.is_reg)
      continue;
    uint32_t j = set_behind(stream, i);
    if (j == stream->n)
      continue;
    nsr_mutant_start(m);
    NSR_TRY(nsr_mutant_word(m, NSR_EDIT_INSERT, s, i, &stream->insns[j]));
    NSR_TRY(nsr_mutant_delete(m, s, j));
    NSR_TRY(nsr_mutant_end(m, s, i, "its register set anew in front of it"));
  }
  return NSR_OK;
}
