/* mutate_flow.c - mistakes in where control goes, in barriers, and in the order
 * of instructions.
 */
#include <string.h>

#include "gen/mutate.h"

static bool branches(const struct nsr_mutator *m, uint32_t s, uint32_t i) {
  return m->survey.streams[s].insns[i].desc->ctl == NSR_CTL_BR;
}

static int64_t target_of(const struct nsr_mutator *m, uint32_t s, uint32_t i) {
  return (int64_t)i + m->survey.streams[s].insns[i].displacement;
}

static enum nsr_status retarget(struct nsr_mutator *m, uint32_t s, uint32_t i,
                                int64_t target) {
  nsr_mutant_start(m);
  NSR_TRY(nsr_mutant_target(m, s, i, target));
  return nsr_mutant_end(m, s, i, "the branch goes to %d, not to %d",
                        (int)target, (int)target_of(m, s, i));
}

enum nsr_status nsr_op_back_edge(struct nsr_mutator *m) {
  NSR_EACH_INSN(m, s, i) {
    if (!branches(m, s, i) || target_of(m, s, i) > i)
      continue;
    NSR_TRY(retarget(m, s, i, target_of(m, s, i) + 1));
    NSR_TRY(retarget(m, s, i, target_of(m, s, i) - 1));
  }
  return NSR_OK;
}

/* Where the kernel's own code goes on, from what was put in front of it. */
static int64_t past_inserted(const struct nsr_mutator *m, uint32_t s,
                             int64_t i) {
  const struct nsr_survey_stream *stream = &m->survey.streams[s];
  while (i < stream->n && (nsr_survey_is_count(stream, (uint32_t)i) ||
                           nsr_survey_is_wait(m->k, stream, (uint32_t)i)))
    i++;
  return i;
}

enum nsr_status nsr_op_skip_wait(struct nsr_mutator *m) {
  NSR_EACH_INSN(m, s, i) {
    if (!branches(m, s, i))
      continue;
    int64_t to = target_of(m, s, i), past = past_inserted(m, s, to);
    if (past > to)
      NSR_TRY(retarget(m, s, i, past));
    if (past > to + 1)
      NSR_TRY(retarget(m, s, i, to + 1));
  }
  return NSR_OK;
}

enum nsr_status nsr_op_displace(struct nsr_mutator *m) {
  NSR_EACH_INSN(m, s, i) {
    if (!branches(m, s, i))
      continue;
    int64_t to = target_of(m, s, i), mirrored = 2 * (int64_t)i - to;
    NSR_TRY(retarget(m, s, i, to + 1));
    NSR_TRY(retarget(m, s, i, to - 1));
    if (mirrored < to - 1 || mirrored > to + 1)
      NSR_TRY(retarget(m, s, i, mirrored));
  }
  return NSR_OK;
}

/* ---- barriers */

/* The first or the last barrier of a stream, n: none. */
static uint32_t barrier_of(const struct nsr_survey_stream *s, bool last) {
  uint32_t found = s->n;
  for (uint32_t i = 0; i < s->n; i++)
    if (s->insns[i].desc->cls == NSR_BARRIER && (last || found == s->n))
      found = i;
  return found;
}

/* Of one stream, or of all. */
static enum nsr_status drop_barrier(struct nsr_mutator *m, uint32_t only,
                                    bool last) {
  const char *which = last ? "last" : "first";
  uint32_t stream = NSR_NONE, insn = 0;
  nsr_mutant_start(m);
  for (uint32_t s = 0; s < m->k->nstreams; s++) {
    uint32_t i = barrier_of(&m->survey.streams[s], last);
    if ((only != NSR_NONE && s != only) || i == m->survey.streams[s].n)
      continue;
    NSR_TRY(nsr_mutant_delete(m, s, i));
    stream = s;
    insn = i;
  }
  if (stream == NSR_NONE)
    return NSR_OK;
  return nsr_mutant_end(m, stream, insn, "the %s barrier dropped%s", which,
                        only == NSR_NONE ? ", on all engines" : "");
}

/* A semaphore counted up behind the last barrier. */
static enum nsr_status leave_count(struct nsr_mutator *m, uint32_t s) {
  const struct nsr_survey_stream *stream = &m->survey.streams[s];
  const struct nsr_update inc = {NSR_UPD_INC, m->survey.sems[0], 1};
  uint32_t i = barrier_of(stream, true);
  struct nsr_insn like;
  if (i == stream->n)
    return NSR_OK;
  nsr_insn_init(nsr_isa_nop(m->k->isa, false), &like);
  nsr_mutant_start(m);
  NSR_TRY(nsr_mutant_nop(m, NSR_EDIT_SLIP, s, i + 1, &like, &inc));
  return nsr_mutant_end(m, s, i, "semaphore %u counts behind the barrier",
                        inc.sem);
}

enum nsr_status nsr_op_barrier(struct nsr_mutator *m) {
  bool one = true;
  for (uint32_t s = 0; s < m->k->nstreams; s++)
    one &= barrier_of(&m->survey.streams[s], false) ==
           barrier_of(&m->survey.streams[s], true);
  for (int last = one; last < 2; last++) {
    NSR_TRY(drop_barrier(m, NSR_NONE, last));
    for (uint32_t s = 0; s < m->k->nstreams; s++)
      NSR_TRY(drop_barrier(m, s, last));
  }
  for (uint32_t s = 0; s < m->k->nstreams && m->survey.nsems; s++)
    NSR_TRY(leave_count(m, s));
  return NSR_OK;
}

/* ---- order of instructions */

static bool works(const struct nsr_insn *insn) {
  return insn->desc->cls == NSR_DATAPATH &&
         insn->desc->meaning != NSR_MEANING_NOP;
}

/* i takes the word of j, and its relocations. */
static enum nsr_status put_at(struct nsr_mutator *m, uint32_t s, uint32_t i,
                              uint32_t j) {
  NSR_TRY(nsr_mutant_word(m, NSR_EDIT_REPLACE, s, i,
                          &m->survey.streams[s].insns[j]));
  if (m->fits)
    m->edits.list.v[m->edits.list.n - 1].from = j;
  return NSR_OK;
}

enum nsr_status nsr_op_swap(struct nsr_mutator *m) {
  const struct nsr_kernel *k = m->k;
  NSR_EACH_INSN(m, s, i) {
    const struct nsr_survey_stream *stream = &m->survey.streams[s];
    const struct nsr_insn *a = &stream->insns[i], *b = a + 1;
    if (i + 1 == stream->n || !works(a) || !works(b) ||
        nsr_channel(k, stream->s->engine, a) !=
            nsr_channel(k, stream->s->engine, b) ||
        memcmp(nsr_stream_word(k, stream->s, i),
               nsr_stream_word(k, stream->s, i + 1), k->isa->word) == 0)
      continue;
    nsr_mutant_start(m);
    NSR_TRY(put_at(m, s, i, i + 1));
    NSR_TRY(put_at(m, s, i + 1, i));
    NSR_TRY(nsr_mutant_end(m, s, i, "changes places with the next one"));
  }
  return NSR_OK;
}
