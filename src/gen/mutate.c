/* mutate.c - mutants of a kernel: the operators' list, and the changes that
 * they are made of.
 *
 * Needs a kernel that passes nsr_kernel_check. Numbers are those of the
 * project's list of mistakes a rewriter could make.
 */
#include "gen/mutate.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct nsr_operator nsr_operators[] = {
    {1, "drop-wait", "a wait is gone", NULL},
    {2, "lower-threshold", "a threshold is one less", NULL},
    {3, "raise-threshold", "a threshold is one more", NULL},
    {4, "older-iteration", "a wait is for one iteration earlier", NULL},
    {5, "other-position", "a wait is for a neighbour in its group", NULL},
    {6, "other-step", "a count grows by one more or less", NULL},
    {7, "misplace-update", "an update is gone, doubled, or a neighbour's",
     NULL},
    {8, "other-increment", "an update adds one more, or takes away", NULL},
    {9, "other-semaphore", "a wait, or a group, uses another semaphore", NULL},
    {10, "restart-count", "a count starts again with each trip", NULL},
    {11, "other-count", "a wait uses the count of another loop", NULL},
    {12, "skip-reset", "a reset or snapshot is gone, or taken late", NULL},
    {13, "mask", "a maximum of counts becomes a mask", NULL},
    {14, "count-in-header", "a count grows at the loop's test", NULL},
    {15, "miss-edge", "a count does not grow behind one branch back", NULL},
    {16, "back-edge", "a branch back goes one place off", NULL},
    {17, "skip-wait", "a branch goes past what was inserted", NULL},
    {18, "displace", "a branch is off by one, or the other way", NULL},
    {19, "clobber", "a count in a register in use, or never set", NULL},
    {20, "drop-barrier", "the first or last barrier is gone, or counts stay",
     NULL},
    {21, "keep-mirror", "a count is not set anew behind a barrier", NULL},
    {22, "unsigned-wait", "waits compare without sign",
     "nsync-cosim --mistake=unsigned-wait"},
    {23, "short-footprint", "the last dimension of accesses is not seen",
     "a build with -DNSR_MISTAKE=short-footprint"},
    {24, "always-runs", "conditionals are taken to run always",
     "a build with -DNSR_MISTAKE=always-runs"},
    {25, "own-hazards", "hazards within a channel are ignored",
     "a build with -DNSR_MISTAKE=own-hazards"},
    {26, "overwrite-threshold", "a threshold's register is reused early", NULL},
    {27, "high-start", "counters start near their end",
     "nsync-cosim --start=SEM:VALUE"},
    {28, "out-of-order", "queues complete out of order",
     "nsync-cosim --judge=exhaustive --out-of-order"},
    {29, "swap-work", "two instructions of a channel change places", NULL},
    {30, "cancel", "an update more, and thresholds that know it: no mistake",
     NULL},
    {0, NULL, NULL, NULL}};

static nsr_operator_fn *const makers[] = {
    NULL,
    nsr_op_drop_wait, /* 1 */
    nsr_op_lower,
    nsr_op_raise,
    nsr_op_older,
    nsr_op_position, /* 5 */
    nsr_op_step,
    nsr_op_update,
    nsr_op_increment,
    nsr_op_semaphore,
    nsr_op_restart, /* 10 */
    nsr_op_other_count,
    nsr_op_reset,
    nsr_op_mask,
    nsr_op_header,
    nsr_op_edge, /* 15 */
    nsr_op_back_edge,
    nsr_op_skip_wait,
    nsr_op_displace,
    nsr_op_clobber,
    nsr_op_barrier, /* 20 */
    nsr_op_mirror,
    NULL,
    NULL,
    NULL,
    NULL, /* 25 */
    nsr_op_overwrite,
    NULL,
    NULL,
    nsr_op_swap,
    nsr_op_cancel, /* 30 */
};
_Static_assert(sizeof makers / sizeof *makers ==
                   sizeof nsr_operators / sizeof *nsr_operators,
               "as many operators as are listed");

const struct nsr_operator *nsr_operator_parse(const char *text) {
  char *end;
  unsigned long number = strtoul(text, &end, 10);
  bool numeric = text[0] >= '0' && text[0] <= '9' && !*end;
  for (const struct nsr_operator *op = nsr_operators; op->number; op++)
    if (numeric ? op->number == number : strcmp(op->name, text) == 0)
      return op;
  return NULL;
}

/* ---- changes */

void nsr_mutant_start(struct nsr_mutator *m) {
  m->edits.list.n = 0;
  m->fits = true;
}

static enum nsr_status push(struct nsr_mutator *m, enum nsr_edit_kind kind,
                            uint32_t s, uint32_t i, const uint8_t *word) {
  struct nsr_edit edit = {.kind = (uint8_t)kind,
                          .stream = s,
                          .at = i,
                          .from = kind == NSR_EDIT_REPLACE ? i : NSR_NONE};
  if (word)
    memcpy(edit.word, word, m->k->isa->word);
  NSR_PUSH(m->ctx, NSR_KEEP, &m->edits.list, edit);
  return NSR_OK;
}

enum nsr_status nsr_mutant_word(struct nsr_mutator *m, enum nsr_edit_kind kind,
                                uint32_t s, uint32_t i,
                                const struct nsr_insn *insn) {
  uint8_t word[NSR_MAX_WORD];
  char why[8];
  if (insn->desc && nsr_encode(m->k->isa, insn, word, why, sizeof why))
    return push(m, kind, s, i, word);
  m->fits = false;
  return NSR_OK;
}

enum nsr_status nsr_mutant_delete(struct nsr_mutator *m, uint32_t s,
                                  uint32_t i) {
  return push(m, NSR_EDIT_DELETE, s, i, NULL);
}

/* The word of i, as it is by now, for a patch. */
static enum nsr_status word_of(struct nsr_mutator *m, uint32_t s, uint32_t i,
                               uint8_t **word) {
  for (size_t e = 0; e < m->edits.list.n; e++) {
    struct nsr_edit *edit = &m->edits.list.v[e];
    *word = edit->word;
    if (edit->kind == NSR_EDIT_REPLACE && edit->stream == s && edit->at == i)
      return NSR_OK;
  }
  NSR_TRY(push(m, NSR_EDIT_REPLACE, s, i,
               nsr_stream_word(m->k, &m->k->streams[s], i)));
  *word = m->edits.list.v[m->edits.list.n - 1].word;
  return NSR_OK;
}

enum nsr_status nsr_mutant_wait(struct nsr_mutator *m, uint32_t s, uint32_t i,
                                const struct nsr_wait *wait) {
  uint8_t *word;
  NSR_TRY(word_of(m, s, i, &word));
  m->fits &= nsr_word_set_wait(m->k->isa, word, wait);
  return NSR_OK;
}

enum nsr_status nsr_mutant_update(struct nsr_mutator *m, uint32_t s, uint32_t i,
                                  const struct nsr_update *update) {
  uint8_t *word;
  NSR_TRY(word_of(m, s, i, &word));
  m->fits &= nsr_word_set_update(m->k->isa, word, update);
  return NSR_OK;
}

enum nsr_status nsr_mutant_target(struct nsr_mutator *m, uint32_t s, uint32_t i,
                                  int64_t target) {
  uint8_t *word;
  if (target < 0 || target >= m->k->streams[s].n) {
    m->fits = false;
    return NSR_OK;
  }
  NSR_TRY(word_of(m, s, i, &word));
  m->fits &= nsr_word_set_displacement(m->k->isa, word, (int32_t)(target - i));
  return NSR_OK;
}

enum nsr_status nsr_mutant_op(struct nsr_mutator *m, enum nsr_edit_kind kind,
                              uint32_t s, uint32_t i, enum nsr_ctl ctl, int dst,
                              struct nsr_val a, struct nsr_val b) {
  const struct nsr_insn_desc *desc = nsr_isa_control(m->k->isa, ctl);
  struct nsr_insn insn = {.desc = NULL};
  if (desc)
    nsr_insn_init(desc, &insn);
  insn.dst = (int16_t)dst;
  insn.a = a;
  insn.b = b;
  return nsr_mutant_word(m, kind, s, i, &insn);
}

enum nsr_status nsr_mutant_nop(struct nsr_mutator *m, enum nsr_edit_kind kind,
                               uint32_t s, uint32_t i,
                               const struct nsr_insn *like,
                               const struct nsr_update *update) {
  const struct nsr_insn_desc *desc = nsr_isa_nop(m->k->isa, like->desc->queue);
  struct nsr_insn insn = {.desc = NULL};
  if (desc)
    nsr_insn_init(desc, &insn);
  if (like->desc->queue)
    insn.queue = like->queue;
  insn.update = *update;
  return nsr_mutant_word(m, kind, s, i, &insn);
}

/* A register that nobody names holds the other threshold; where there is none,
 * the count itself does for a moment. */
enum nsr_status nsr_mutant_threshold(struct nsr_mutator *m, uint32_t s,
                                     uint32_t i, int64_t add) {
  const struct nsr_survey_stream *stream = &m->survey.streams[s];
  const struct nsr_insn *insn = &stream->insns[i];
  struct nsr_wait wait = insn->wait;
  int32_t v = (int32_t)add;
  if (!wait.value.is_reg) {
    int64_t sum = wait.value.v + add;
    m->fits &= sum >= INT32_MIN && sum <= INT32_MAX;
    wait.value.v = (int32_t)sum;
    return nsr_mutant_wait(m, s, i, &wait);
  }
  if (stream->free >= 0) {
    NSR_TRY(nsr_mutant_op(m, NSR_EDIT_INSERT, s, i, NSR_CTL_ADD, stream->free,
                          wait.value, nsr_imm(v)));
    wait.value.v = stream->free;
    return nsr_mutant_wait(m, s, i, &wait);
  }
  m->fits &= insn->desc->cls != NSR_CONTROL || insn->desc->ctl == NSR_CTL_WAIT;
  NSR_TRY(nsr_mutant_op(m, NSR_EDIT_INSERT, s, i, NSR_CTL_ADD, wait.value.v,
                        wait.value, nsr_imm(v)));
  return nsr_mutant_op(m, NSR_EDIT_SLIP, s, i + 1, NSR_CTL_SUB, wait.value.v,
                       wait.value, nsr_imm(v));
}

/* ---- the end of a mutant */

enum nsr_status nsr_mutant_end(struct nsr_mutator *m, uint32_t s, uint32_t i,
                               const char *fmt, ...) {
  struct nsr_kernel *mutant;
  char text[200];
  va_list args;
  if (!m->fits || nsr_mutant_enough(m))
    return NSR_OK;
  if (m->places++ != m->index && !m->all)
    return NSR_OK;
  va_start(args, fmt);
  vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  m->what = nsr_printf(m->ctx, NSR_KEEP, "%s[%u]: %s",
                       m->k->isa->engines[m->k->streams[s].engine], (unsigned)i,
                       text);
  if (!m->what)
    return NSR_E_NOMEM;
  NSR_TRY(nsr_edit_apply(m->ctx, m->k, &m->edits, &mutant));
  if (m->all)
    return m->fn(m->self, mutant, m->what);
  m->made = mutant;
  return NSR_OK;
}

/* ---- series */

static enum nsr_status run(struct nsr_mutator *m,
                           const struct nsr_operator *op) {
  if (!makers[op->number])
    return nsr_fail(m->ctx, NSR_E_USAGE, NSR_NOWHERE,
                    "operator %d (%s) changes no file; it is %s", op->number,
                    op->name, op->instead);
  NSR_TRY(nsr_survey_new(m->ctx, m->k, &m->survey));
  return makers[op->number](m);
}

enum nsr_status nsr_mutate_each(struct nsr_ctx *ctx, const struct nsr_kernel *k,
                                const struct nsr_operator *op,
                                nsr_mutant_fn *fn, void *self) {
  struct nsr_mutator m = {
      .ctx = ctx, .k = k, .all = true, .fn = fn, .self = self};
  return run(&m, op);
}

enum nsr_status nsr_mutate(struct nsr_ctx *ctx, const struct nsr_kernel *k,
                           const struct nsr_operator *op, uint64_t index,
                           struct nsr_kernel **out, const char **what,
                           uint64_t *places) {
  struct nsr_mutator m = {.ctx = ctx, .k = k, .index = index};
  enum nsr_status status = run(&m, op);
  *out = m.made;
  *what = m.what;
  *places = m.places;
  return status;
}
