/* survey.c - looks a kernel over, instruction by instruction.
 *
 * Which registers count follows without regard to the order of instructions:
 * those that reach waits on owned semaphores, through register operations, and
 * nothing else.
 */
#include "gen/survey.h"

#include <string.h>

/* Follows definitions back at most so far. */
enum { MOST_LINKS = 8 };

/* ---- registers */

struct sources {
  int reg[4 + NSR_MAX_OPERANDS * (1 + NSR_MAX_DIMS)];
  int n;
};

static void source(struct sources *s, int reg) {
  if (reg >= 0)
    s->reg[s->n++] = reg;
}

static void source_val(struct sources *s, struct nsr_val v) {
  if (v.is_reg)
    source(s, v.v);
}

/* What an instruction reads, but for its wait. */
static struct sources sources_of(const struct nsr_insn *insn) {
  struct sources s = {.n = 0};
  source(&s, insn->cond);
  source(&s, insn->value_reg);
  source_val(&s, insn->a);
  source_val(&s, insn->b);
  for (int i = 0; i < insn->noperands; i++) {
    const struct nsr_operand *op = &insn->operands[i];
    source(&s, op->reg);
    for (int d = 0; d < op->ndims; d++)
      if (op->dims[d].count_is_reg)
        source(&s, op->dims[d].count);
  }
  return s;
}

static bool computes(const struct nsr_insn *insn) {
  return insn->desc->ctl >= NSR_CTL_MOV && insn->desc->ctl <= NSR_CTL_SEL;
}

/* Marks the sources of one instruction; true: something is new. */
static bool mark(const struct nsr_kernel *k, const struct nsr_insn *insn,
                 uint8_t *registers) {
  struct sources s = sources_of(insn);
  uint8_t flags = NSR_REG_KERNEL;
  bool changed = false;
  if (computes(insn))
    flags = insn->dst < 0 ? 0 : registers[insn->dst];
  for (int i = 0; i < s.n; i++) {
    changed |= (flags & ~registers[s.reg[i]]) != 0;
    registers[s.reg[i]] |= flags;
  }
  if (insn->wait.cmp != NSR_CMP_NONE && insn->wait.value.is_reg) {
    flags = NSR_REG_NAMED |
            (nsr_owned(k, insn->wait.sem) ? NSR_REG_WAITS : NSR_REG_KERNEL);
    changed |= (flags & ~registers[insn->wait.value.v]) != 0;
    registers[insn->wait.value.v] |= flags;
  }
  return changed;
}

/* Flags flow backwards, so most is known after a pass from the end. */
static void mark_all(const struct nsr_kernel *k, struct nsr_survey_stream *s) {
  bool changed = true;
  for (uint32_t i = 0; i < s->n; i++) {
    struct sources from = sources_of(&s->insns[i]);
    for (int j = 0; j < from.n; j++)
      s->registers[from.reg[j]] |= NSR_REG_NAMED;
    if (s->insns[i].dst >= 0)
      s->registers[s->insns[i].dst] |= NSR_REG_NAMED;
  }
  while (changed) {
    changed = false;
    for (uint32_t i = s->n; i-- > 0;)
      changed |= mark(k, &s->insns[i], s->registers);
  }
  for (int r = k->isa->registers; r-- > 0;)
    if (!(s->registers[r] & NSR_REG_NAMED))
      s->free = r;
}

/* ---- the survey */

static enum nsr_status find_loops(struct nsr_ctx *ctx,
                                  struct nsr_survey_stream *s) {
  NSR_VEC(struct nsr_survey_loop) loops = {0};
  for (uint32_t i = 0; i < s->n; i++) {
    const struct nsr_insn *insn = &s->insns[i];
    if (insn->desc->ctl == NSR_CTL_BR && insn->displacement <= 0)
      NSR_PUSH(ctx, NSR_KEEP, &loops,
               ((struct nsr_survey_loop){
                   (uint32_t)((int64_t)i + insn->displacement), i}));
  }
  s->loops = loops.v;
  s->nloops = (uint32_t)loops.n;
  return NSR_OK;
}

static enum nsr_status look_at(struct nsr_ctx *ctx, const struct nsr_kernel *k,
                               const struct nsr_stream *stream,
                               struct nsr_survey_stream *s, bool *updated) {
  struct nsr_insn *insns;
  NSR_NEW(ctx, NSR_KEEP, insns, stream->n);
  NSR_NEW(ctx, NSR_KEEP, s->registers, k->isa->registers);
  s->s = stream;
  s->n = stream->n;
  s->insns = insns;
  s->free = -1;
  for (uint32_t i = 0; i < stream->n; i++) {
    NSR_TRY(nsr_stream_decode(ctx, k, stream, i, &insns[i]));
    if (nsr_survey_updates(k, &insns[i]))
      updated[insns[i].update.sem] = true;
  }
  mark_all(k, s);
  return find_loops(ctx, s);
}

enum nsr_status nsr_survey_new(struct nsr_ctx *ctx, const struct nsr_kernel *k,
                               struct nsr_survey *survey) {
  NSR_VEC(uint16_t) sems = {0};
  bool *updated;
  *survey = (struct nsr_survey){.k = k};
  NSR_NEW(ctx, NSR_KEEP, survey->streams, k->nstreams);
  NSR_NEW(ctx, NSR_KEEP, updated, k->isa->semaphores);
  for (uint32_t i = 0; i < k->nstreams; i++)
    NSR_TRY(look_at(ctx, k, &k->streams[i], &survey->streams[i], updated));
  for (uint16_t i = 0; i < k->isa->semaphores; i++)
    if (updated[i])
      NSR_PUSH(ctx, NSR_KEEP, &sems, i);
  survey->sems = sems.v;
  survey->nsems = (uint32_t)sems.n;
  return NSR_OK;
}

/* ---- questions */

bool nsr_survey_is_count(const struct nsr_survey_stream *s, uint32_t i) {
  return computes(&s->insns[i]) && nsr_survey_counts(s, s->insns[i].dst);
}

bool nsr_survey_is_step(const struct nsr_survey_stream *s, uint32_t i) {
  const struct nsr_insn *insn = &s->insns[i];
  return insn->desc->ctl == NSR_CTL_ADD && nsr_survey_is_count(s, i) &&
         insn->a.is_reg && insn->a.v == insn->dst && !insn->b.is_reg &&
         insn->b.v > 0;
}

bool nsr_survey_is_wait(const struct nsr_kernel *k,
                        const struct nsr_survey_stream *s, uint32_t i) {
  const struct nsr_insn *insn = &s->insns[i];
  return nsr_survey_waits(k, insn) && insn->update.op == NSR_UPD_NONE &&
         (insn->desc->ctl == NSR_CTL_WAIT ||
          insn->desc->meaning == NSR_MEANING_NOP);
}

const struct nsr_survey_loop *nsr_survey_loop(const struct nsr_survey_stream *s,
                                              uint32_t i) {
  const struct nsr_survey_loop *best = NULL;
  for (uint32_t l = 0; l < s->nloops; l++) {
    const struct nsr_survey_loop *loop = &s->loops[l];
    if (loop->head <= i && i <= loop->back &&
        (!best || loop->head > best->head ||
         (loop->head == best->head && loop->back > best->back)))
      best = loop;
  }
  return best;
}

const struct nsr_survey_loop *
nsr_survey_outer(const struct nsr_survey_stream *s,
                 const struct nsr_survey_loop *loop) {
  const struct nsr_survey_loop *best = NULL;
  for (uint32_t l = 0; l < s->nloops; l++) {
    const struct nsr_survey_loop *o = &s->loops[l];
    if (o->head < loop->head && o->back > loop->back &&
        (!best || o->head > best->head))
      best = o;
  }
  return best;
}

/* The definition of a register in front of i, in stream order; n: none. */
static uint32_t definition(const struct nsr_survey_stream *s, int reg,
                           uint32_t i) {
  while (i-- > 0)
    if (s->insns[i].dst == reg)
      return i;
  return s->n;
}

static uint32_t any_step(const struct nsr_survey_stream *s, int reg) {
  for (uint32_t i = 0; i < s->n; i++)
    if (s->insns[i].dst == reg && nsr_survey_is_step(s, i))
      return i;
  return s->n;
}

int32_t nsr_survey_start(const struct nsr_survey_stream *s, int reg) {
  for (uint32_t i = 0; i < s->n; i++)
    if (s->insns[i].dst == reg)
      return s->insns[i].desc->ctl == NSR_CTL_MOV && !s->insns[i].a.is_reg
                 ? s->insns[i].a.v
                 : 0;
  return 0;
}

/* What an operation adds to its first source, which the larger or smaller of
 * two is taken for; false: it does something else. */
static bool added(const struct nsr_insn *insn, int64_t *add) {
  enum nsr_ctl ctl = insn->desc->ctl;
  *add = 0;
  if (!insn->a.is_reg)
    return false;
  if (ctl == NSR_CTL_MOV || ctl == NSR_CTL_MAX || ctl == NSR_CTL_MIN)
    return true;
  *add = ctl == NSR_CTL_SUB ? -(int64_t)insn->b.v : insn->b.v;
  return !insn->b.is_reg && (ctl == NSR_CTL_ADD || ctl == NSR_CTL_SUB);
}

struct nsr_survey_count nsr_survey_trace(const struct nsr_survey_stream *s,
                                         int reg, uint32_t i) {
  int64_t sum = 0, add;
  for (int links = 0; links < MOST_LINKS; links++) {
    uint32_t at = definition(s, reg, i);
    if (at < s->n && !nsr_survey_is_step(s, at) && s->insns[at].a.is_reg &&
        s->insns[at].a.v != reg && added(&s->insns[at], &add)) {
      sum += add;
      reg = s->insns[at].a.v;
      i = at;
      continue;
    }
    if (at == s->n || !nsr_survey_is_step(s, at))
      at = any_step(s, reg);
    if (at == s->n)
      break;
    return (struct nsr_survey_count){s->insns[at].b.v,
                                     (int32_t)(sum + nsr_survey_start(s, reg))};
  }
  return (struct nsr_survey_count){0, 0};
}
