/* shrink_merge.c - one engine does the work of two.
 *
 * Needs a kernel; makes candidates without the stream of one engine, whose work
 * another one does, and whose queues it feeds. Control flow is that of the
 * other engine: barriers, labels and branches of both are matched by what they
 * name, in their order, and what stands behind one goes behind the same one
 * there, first or last of all that does. Registers get other names.
 */
#include <string.h>

#include "gen/shrink.h"
#include "gen/survey.h"

enum way { FIRST, LAST, NWAYS };

enum mark_kind { MARK_LABEL, MARK_BRANCH, MARK_BARRIER };

/* Where two streams can be the same. */
struct mark {
  enum mark_kind kind;
  const char *name; /* labels and targets; may be NULL */
  int32_t id;       /* barriers */
  uint32_t begin;   /* what stands in front of it ends there, */
  uint32_t end;     /* what stands behind it begins there */
};

struct marks {
  NSR_VEC(struct mark) list;
};

struct merge {
  struct nsr_ctx *ctx;
  const struct nsr_kernel *k;
  struct nsr_survey survey;
  uint32_t from, to; /* streams */
  enum way way;
  struct marks of_from, of_to;
  uint32_t *place;  /* by instruction of from: in front of which one of to */
  uint16_t *name;   /* by register of from */
  uint32_t *moved;  /* by instruction of to, and the end: where it is now */
  uint32_t *source; /* by new instruction: of to, or of from behind those */
  struct nsr_stream out;
};

/* ---- marks */

static bool is_mark(const struct nsr_insn *insn) {
  return insn->desc->cls == NSR_BARRIER || insn->desc->ctl == NSR_CTL_BR;
}

static const char *label_at(const struct nsr_stream *s, int64_t i) {
  for (uint32_t l = 0; l < s->nlabels; l++)
    if (s->labels[l].insn == i)
      return s->labels[l].name;
  return NULL;
}

static enum nsr_status find_marks(struct merge *m, uint32_t stream,
                                  struct marks *out) {
  const struct nsr_survey_stream *v = &m->survey.streams[stream];
  for (uint32_t i = 0; i < v->n; i++) {
    const struct nsr_insn *insn = &v->insns[i];
    const char *label = label_at(v->s, i);
    struct mark mark = {.begin = i, .end = i + 1};
    if (label)
      NSR_PUSH(m->ctx, NSR_KEEP, &out->list,
               ((struct mark){MARK_LABEL, label, 0, i, i}));
    if (!is_mark(insn))
      continue;
    mark.kind = insn->desc->cls == NSR_BARRIER ? MARK_BARRIER : MARK_BRANCH;
    if (mark.kind == MARK_BARRIER)
      mark.id = insn->id;
    else
      mark.name = label_at(v->s, (int64_t)i + insn->displacement);
    NSR_PUSH(m->ctx, NSR_KEEP, &out->list, mark);
  }
  return NSR_OK;
}

static bool same_mark(const struct mark *a, const struct mark *b) {
  if (a->kind != b->kind || a->id != b->id || !a->name != !b->name)
    return false;
  return !a->name || strcmp(a->name, b->name) == 0;
}

/* ---- what goes where */

/* In front of which instruction of `to` goes what stands behind its mark
 * number n - 1, or at its begin. */
static uint32_t place_behind(const struct merge *m, size_t n) {
  const struct mark *v = m->of_to.list.v;
  uint32_t halt = m->survey.streams[m->to].n - 1;
  if (m->way == FIRST)
    return n ? v[n - 1].end : 0;
  return n < m->of_to.list.n ? v[n].begin : halt;
}

static enum nsr_status find_places(struct merge *m) {
  uint32_t n = m->survey.streams[m->from].n;
  size_t seen = 0;
  NSR_TRY(find_marks(m, m->from, &m->of_from));
  NSR_TRY(find_marks(m, m->to, &m->of_to));
  NSR_NEW(m->ctx, NSR_KEEP, m->place, n);
  for (uint32_t i = 0, next = 0; i < n; i++) {
    for (; next < m->of_from.list.n && m->of_from.list.v[next].end <= i; next++)
      for (size_t j = seen; j < m->of_to.list.n; j++)
        if (same_mark(&m->of_from.list.v[next], &m->of_to.list.v[j])) {
          seen = j + 1;
          break;
        }
    m->place[i] = place_behind(m, seen);
  }
  return NSR_OK;
}

static bool moves(const struct nsr_insn *insn) {
  return !is_mark(insn) && insn->desc->ctl != NSR_CTL_HALT;
}

/* Whether the other engine has all of it, and registers enough. */
static enum nsr_status find_names(struct merge *m, bool *fits) {
  const struct nsr_survey_stream *from = &m->survey.streams[m->from];
  const struct nsr_survey_stream *to = &m->survey.streams[m->to];
  int engine = to->s->engine, registers = m->k->isa->registers, next = 0;
  NSR_NEW(m->ctx, NSR_KEEP, m->name, (size_t)registers);
  *fits = true;
  for (uint32_t i = 0; i < from->n; i++)
    if (moves(&from->insns[i]))
      *fits = *fits && from->insns[i].desc->ctl != NSR_CTL_JUMP &&
              (from->insns[i].desc->engines >> engine & 1);
  for (int r = 0; r < registers && *fits; r++) {
    if (!(from->registers[r] & NSR_REG_NAMED))
      continue;
    while (next < registers && to->registers[next] & NSR_REG_NAMED)
      next++;
    *fits = next < registers;
    m->name[r] = (uint16_t)next++;
  }
  return NSR_OK;
}

/* ---- the stream of both */

static enum nsr_status put_in_order(struct merge *m) {
  const struct nsr_survey_stream *from = &m->survey.streams[m->from];
  const struct nsr_survey_stream *to = &m->survey.streams[m->to];
  uint32_t n = 0, next = 0;
  NSR_NEW(m->ctx, NSR_KEEP, m->moved, (size_t)to->n + 1);
  NSR_NEW(m->ctx, NSR_KEEP, m->source, (size_t)to->n + from->n);
  for (uint32_t i = 0; i <= to->n; i++) {
    if (m->way == FIRST) /* behind a label, so branches there pass none */
      m->moved[i] = n;
    for (; next < from->n && m->place[next] <= i; next++)
      if (moves(&from->insns[next]))
        m->source[n++] = to->n + next;
    if (m->way == LAST)
      m->moved[i] = n;
    if (i < to->n)
      m->source[n++] = i;
  }
  m->out.n = n;
  return NSR_OK;
}

/* A word that is there no more fits no encoding: then there is no candidate. */
static enum nsr_status put_words(struct merge *m, bool *fits) {
  const struct nsr_isa *isa = m->k->isa;
  const struct nsr_survey_stream *to = &m->survey.streams[m->to];
  uint8_t *code;
  char why[8];
  NSR_NEW(m->ctx, NSR_KEEP, code, (size_t)m->out.n * isa->word);
  m->out.code = code;
  for (uint32_t i = 0; i < m->out.n && *fits; i++, code += isa->word) {
    uint32_t at = m->source[i];
    if (at >= to->n) {
      struct nsr_insn insn = m->survey.streams[m->from].insns[at - to->n];
      nsr_insn_rename(m->name, &insn);
      *fits = nsr_encode(isa, &insn, code, why, sizeof why);
      continue;
    }
    const struct nsr_insn *insn = &to->insns[at];
    memcpy(code, nsr_stream_word(m->k, to->s, at), isa->word);
    if (insn->desc->ctl == NSR_CTL_BR)
      *fits = nsr_word_set_displacement(
          isa, code,
          (int32_t)((int64_t)m->moved[(int64_t)at + insn->displacement] - i));
  }
  return NSR_OK;
}

static enum nsr_status put_tables(struct merge *m) {
  const struct nsr_stream *to = m->survey.streams[m->to].s;
  const struct nsr_stream *from = m->survey.streams[m->from].s;
  NSR_VEC(struct nsr_reloc) relocs = {0};
  struct nsr_label *labels;
  for (uint32_t i = 0; i < m->out.n; i++) {
    bool own = m->source[i] < to->n;
    uint32_t n;
    const struct nsr_reloc *v = nsr_stream_relocs(
        own ? to : from, own ? m->source[i] : m->source[i] - to->n, &n);
    for (uint32_t j = 0; j < n; j++) {
      struct nsr_reloc reloc = v[j];
      reloc.insn = i;
      if (reloc.kind == NSR_RELOC_BRANCH)
        reloc.target = m->moved[reloc.target];
      NSR_PUSH(m->ctx, NSR_KEEP, &relocs, reloc);
    }
  }
  NSR_NEW(m->ctx, NSR_KEEP, labels, to->nlabels);
  for (uint32_t l = 0; l < to->nlabels; l++)
    labels[l] =
        (struct nsr_label){to->labels[l].name, m->moved[to->labels[l].insn]};
  m->out.relocs = relocs.v;
  m->out.nrelocs = (uint32_t)relocs.n;
  m->out.labels = labels;
  m->out.nlabels = to->nlabels;
  return NSR_OK;
}

/* ---- candidates */

/* The kernel with the one stream instead of both. */
static enum nsr_status put_kernel(struct merge *m, struct nsr_kernel *out) {
  struct nsr_stream *streams;
  struct nsr_queue *queues;
  uint8_t from = m->k->streams[m->from].engine;
  NSR_NEW(m->ctx, NSR_KEEP, streams, m->k->nstreams);
  NSR_NEW(m->ctx, NSR_KEEP, queues, m->k->nqueues);
  m->out.engine = m->k->streams[m->to].engine;
  *out = *m->k;
  out->nstreams = 0;
  for (uint32_t s = 0; s < m->k->nstreams; s++)
    if (s != m->from)
      streams[out->nstreams++] = s == m->to ? m->out : m->k->streams[s];
  for (uint32_t q = 0; q < m->k->nqueues; q++) {
    queues[q] = m->k->queues[q];
    if (queues[q].engine == from)
      queues[q].engine = m->out.engine;
  }
  out->streams = streams;
  out->queues = queues;
  return NSR_OK;
}

static enum nsr_status candidate(struct merge *m, struct nsr_kernel *out,
                                 bool *fits) {
  NSR_TRY(nsr_survey_new(m->ctx, m->k, &m->survey));
  *fits = m->survey.streams[m->to].n > 0;
  if (*fits)
    NSR_TRY(find_names(m, fits));
  if (!*fits)
    return NSR_OK;
  NSR_TRY(find_places(m));
  NSR_TRY(put_in_order(m));
  NSR_TRY(put_words(m, fits));
  NSR_TRY(put_tables(m));
  return put_kernel(m, out);
}

static bool merged(struct nsr_shrinker *s, uint32_t from, uint32_t to,
                   enum way way) {
  struct merge m = {
      .ctx = nsr_ctx_new(), .k = s->best, .from = from, .to = to, .way = way};
  struct nsr_kernel k;
  bool fits = false, took = false;
  enum nsr_status status = m.ctx ? candidate(&m, &k, &fits) : NSR_E_NOMEM;
  if (status == NSR_OK && fits)
    took = nsr_shrink_take(s, m.ctx, &k);
  if (s->status == NSR_OK)
    s->status = status;
  nsr_ctx_free(m.ctx);
  return took;
}

/* Each engine's work to each other engine. */
void nsr_shrink_engines(struct nsr_shrinker *s) {
  for (uint32_t from = 0; from < s->best->nstreams;) {
    bool took = false;
    for (uint32_t to = 0; to < s->best->nstreams && !took; to++)
      for (int way = 0; way < NWAYS && !took && !nsr_shrink_over(s); way++)
        took = to != from && merged(s, from, to, (enum way)way);
    from += !took;
  }
}
