/* mutate_update.c - mistakes in what semaphores count: updates, the semaphores
 * of groups; and one change that is none.
 */
#include "gen/mutate.h"

static const struct nsr_insn *insn_at(const struct nsr_mutator *m, uint32_t s,
                                      uint32_t i) {
  return &m->survey.streams[s].insns[i];
}

static bool updates_at(const struct nsr_mutator *m, uint32_t s, uint32_t i) {
  return nsr_survey_updates(m->k, insn_at(m, s, i));
}

static int channel_at(const struct nsr_mutator *m, uint32_t s, uint32_t i) {
  return nsr_channel(m->k, m->k->streams[s].engine, insn_at(m, s, i));
}

static const struct nsr_update no_update = {.op = NSR_UPD_NONE};

/* ---- one update */

/* The nearest instruction of the channel that could carry the update. */
static bool neighbour(const struct nsr_mutator *m, uint32_t s, uint32_t i,
                      int direction, uint32_t *at) {
  int64_t n = m->survey.streams[s].n;
  for (int64_t j = (int64_t)i + direction; j >= 0 && j < n; j += direction) {
    const struct nsr_insn *insn = insn_at(m, s, (uint32_t)j);
    *at = (uint32_t)j;
    if (insn->desc->has_update && channel_at(m, s, *at) == channel_at(m, s, i))
      return insn->update.op == NSR_UPD_NONE;
  }
  return false;
}

static enum nsr_status move_update(struct nsr_mutator *m, uint32_t s,
                                   uint32_t i, int direction) {
  uint32_t at;
  if (!neighbour(m, s, i, direction, &at))
    return NSR_OK;
  nsr_mutant_start(m);
  NSR_TRY(nsr_mutant_update(m, s, at, &insn_at(m, s, i)->update));
  NSR_TRY(nsr_mutant_update(m, s, i, &no_update));
  return nsr_mutant_end(m, s, i, "the update moved to %u", (unsigned)at);
}

enum nsr_status nsr_op_update(struct nsr_mutator *m) {
  NSR_EACH_INSN(m, s, i) {
    const struct nsr_insn *insn = insn_at(m, s, i);
    if (!updates_at(m, s, i))
      continue;
    nsr_mutant_start(m);
    NSR_TRY(nsr_mutant_update(m, s, i, &no_update));
    NSR_TRY(nsr_mutant_end(m, s, i, "the update dropped"));
    nsr_mutant_start(m);
    NSR_TRY(nsr_mutant_nop(m, NSR_EDIT_SLIP, s, i + 1, insn, &insn->update));
    NSR_TRY(nsr_mutant_end(m, s, i, "the update doubled"));
    NSR_TRY(move_update(m, s, i, 1));
    NSR_TRY(move_update(m, s, i, -1));
  }
  return NSR_OK;
}

enum nsr_status nsr_op_increment(struct nsr_mutator *m) {
  NSR_EACH_INSN(m, s, i) {
    struct nsr_update u = insn_at(m, s, i)->update;
    if (!updates_at(m, s, i) || (u.op != NSR_UPD_INC && u.op != NSR_UPD_ADD))
      continue;
    bool one = u.op == NSR_UPD_INC;
    u = (struct nsr_update){NSR_UPD_ADD, u.sem, u.value + 1};
    nsr_mutant_start(m);
    NSR_TRY(nsr_mutant_update(m, s, i, &u));
    NSR_TRY(nsr_mutant_end(m, s, i, "the update adds %d", (int)u.value));
    u.op = one ? NSR_UPD_DEC : NSR_UPD_SUB;
    u.value--;
    nsr_mutant_start(m);
    NSR_TRY(nsr_mutant_update(m, s, i, &u));
    NSR_TRY(nsr_mutant_end(m, s, i, "the update takes away"));
  }
  return NSR_OK;
}

/* ---- semaphores */

/* The next one in use behind sem. */
static uint16_t next_sem(const struct nsr_survey *survey, uint16_t sem) {
  for (uint32_t i = 0; i < survey->nsems; i++)
    if (survey->sems[i] > sem)
      return survey->sems[i];
  return survey->nsems ? survey->sems[0] : sem;
}

/* In all instructions, as semaphores: a becomes b, and b becomes a in updates
 * that are swapped. */
static enum nsr_status rename_all(struct nsr_mutator *m, uint16_t a, uint16_t b,
                                  bool swap) {
  for (uint32_t s = 0; s < m->k->nstreams; s++)
    for (uint32_t i = 0; i < m->survey.streams[s].n; i++) {
      const struct nsr_insn *insn = insn_at(m, s, i);
      struct nsr_update update = insn->update;
      struct nsr_wait wait = insn->wait;
      if (updates_at(m, s, i) &&
          (update.sem == a || (swap && update.sem == b))) {
        update.sem = update.sem == a ? b : a;
        NSR_TRY(nsr_mutant_update(m, s, i, &update));
      }
      if (!swap && wait.cmp != NSR_CMP_NONE && wait.sem == a) {
        wait.sem = b;
        NSR_TRY(nsr_mutant_wait(m, s, i, &wait));
      }
    }
  return NSR_OK;
}

static enum nsr_status other_groups(struct nsr_mutator *m) {
  const struct nsr_survey *survey = &m->survey;
  for (uint32_t i = 0; i + 1 < survey->nsems; i++) {
    uint16_t a = survey->sems[i + 1], b = survey->sems[i];
    nsr_mutant_start(m);
    NSR_TRY(rename_all(m, a, b, true));
    NSR_TRY(nsr_mutant_end(m, 0, 0, "updates of semaphores %u and %u swapped",
                           b, a));
    nsr_mutant_start(m);
    NSR_TRY(rename_all(m, a, b, false));
    NSR_TRY(nsr_mutant_end(m, 0, 0, "semaphore %u counts for %u, too", b, a));
  }
  return NSR_OK;
}

enum nsr_status nsr_op_semaphore(struct nsr_mutator *m) {
  NSR_EACH_INSN(m, s, i) {
    struct nsr_wait wait = insn_at(m, s, i)->wait;
    uint16_t other = next_sem(&m->survey, wait.sem);
    if (!nsr_survey_waits(m->k, insn_at(m, s, i)) || other == wait.sem)
      continue;
    wait.sem = other;
    nsr_mutant_start(m);
    NSR_TRY(nsr_mutant_wait(m, s, i, &wait));
    NSR_TRY(nsr_mutant_end(m, s, i, "waits on semaphore %u", other));
  }
  return nsr_mutant_enough(m) ? NSR_OK : other_groups(m);
}

/* ---- no mistake */

/* The first update of a semaphore; false: there is none, or others come from
 * another channel. */
static bool sole_channel(const struct nsr_mutator *m, uint16_t sem,
                         uint32_t *stream, uint32_t *insn) {
  bool found = false;
  for (uint32_t s = 0; s < m->k->nstreams; s++)
    for (uint32_t i = 0; i < m->survey.streams[s].n; i++) {
      if (!updates_at(m, s, i) || insn_at(m, s, i)->update.sem != sem)
        continue;
      if (found && channel_at(m, s, i) != channel_at(m, *stream, *insn))
        return false;
      if (!found) {
        *stream = s;
        *insn = i;
      }
      found = true;
    }
  return found;
}

/* Whether nothing of the kernel's comes behind i. */
static bool at_end(const struct nsr_survey_stream *s, uint32_t i) {
  return i + 1 < s->n && s->insns[i + 1].desc->ctl == NSR_CTL_HALT;
}

/* One update more where counting starts. */
static enum nsr_status start_one_up(struct nsr_mutator *m, uint32_t s,
                                    const struct nsr_insn *like, uint16_t sem) {
  const struct nsr_survey_stream *stream = &m->survey.streams[s];
  const struct nsr_update inc = {NSR_UPD_INC, sem, 1};
  NSR_TRY(nsr_mutant_nop(m, NSR_EDIT_SLIP, s, 0, like, &inc));
  for (uint32_t i = 0; i < stream->n; i++)
    if (stream->insns[i].desc->cls == NSR_BARRIER && !at_end(stream, i))
      NSR_TRY(nsr_mutant_nop(m, NSR_EDIT_SLIP, s, i + 1, like, &inc));
  return NSR_OK;
}

enum nsr_status nsr_op_cancel(struct nsr_mutator *m) {
  const struct nsr_survey *survey = &m->survey;
  for (uint32_t n = 0; n < survey->nsems && !nsr_mutant_enough(m); n++) {
    uint16_t sem = survey->sems[n];
    uint32_t stream, insn;
    if (!sole_channel(m, sem, &stream, &insn))
      continue;
    nsr_mutant_start(m);
    NSR_TRY(start_one_up(m, stream, insn_at(m, stream, insn), sem));
    for (uint32_t s = 0; s < m->k->nstreams; s++)
      for (uint32_t i = 0; i < survey->streams[s].n; i++)
        if (nsr_survey_waits(m->k, insn_at(m, s, i)) &&
            insn_at(m, s, i)->wait.sem == sem)
          NSR_TRY(nsr_mutant_threshold(m, s, i, 1));
    NSR_TRY(nsr_mutant_end(m, stream, 0,
                           "semaphore %u and what waits for it, one up", sem));
  }
  return NSR_OK;
}
