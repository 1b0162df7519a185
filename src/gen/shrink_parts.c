/* shrink_parts.c - what can be taken out of a kernel: streams, scopes,
 * barriers, runs of instructions.
 *
 * What engines do in common has to go on all of them at once. Which parts of
 * streams belong together is guessed: scopes by the label they begin or end at,
 * barriers by their id.
 */
#include <string.h>

#include "gen/shrink.h"
#include "gen/survey.h"

/* A kernel looked over, and which instructions to take out of it. */
struct units {
  struct nsr_ctx *ctx;
  struct nsr_survey survey;
  struct nsr_edits edits;
};

static enum nsr_status open_units(struct nsr_shrinker *s, struct units *u) {
  *u = (struct units){.ctx = nsr_ctx_new()};
  if (!u->ctx)
    return NSR_E_NOMEM;
  return nsr_survey_new(u->ctx, s->best, &u->survey);
}

static enum nsr_status take_out(struct units *u, uint32_t s, uint32_t i) {
  NSR_PUSH(u->ctx, NSR_KEEP, &u->edits.list,
           ((struct nsr_edit){.kind = NSR_EDIT_DELETE, .stream = s, .at = i}));
  return NSR_OK;
}

static enum nsr_status take_range(struct units *u, uint32_t s, uint32_t from,
                                  uint32_t to) {
  for (uint32_t i = from; i < to; i++)
    NSR_TRY(take_out(u, s, i));
  return NSR_OK;
}

/* ---- streams */

static bool without_stream(struct nsr_shrinker *s, uint32_t drop) {
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_stream streams[NSR_MAX_ENGINES];
  struct nsr_kernel k = *s->best;
  bool took = false;
  if (!ctx) {
    s->status = NSR_E_NOMEM;
    return false;
  }
  k.nstreams = 0;
  for (uint32_t i = 0; i < s->best->nstreams; i++)
    if (i != drop)
      streams[k.nstreams++] = s->best->streams[i];
  k.streams = streams;
  took = k.nstreams > 0 && nsr_shrink_take(s, ctx, &k);
  nsr_ctx_free(ctx);
  return took;
}

void nsr_shrink_streams(struct nsr_shrinker *s) {
  for (uint32_t i = 0; i < s->best->nstreams;)
    if (!without_stream(s, i))
      i++;
}

/* ---- series of candidates: try k, from 0, until it says there is none */

/* Fills u->edits with the i-th candidate of s->best; *more false: there is
 * none. */
typedef enum nsr_status candidate_fn(struct nsr_shrinker *s, struct units *u,
                                     uint32_t i, bool *more);

/* What is taken changes what there is; the series goes on where it was. */
static void each_candidate(struct nsr_shrinker *s, candidate_fn *fn) {
  bool more = true;
  for (uint32_t i = 0; more && !nsr_shrink_over(s);) {
    struct units u;
    enum nsr_status status = open_units(s, &u);
    bool took = false;
    if (status == NSR_OK)
      status = fn(s, &u, i, &more);
    if (status == NSR_OK && more)
      took = nsr_shrink_edit(s, u.ctx, &u.edits);
    i += !took;
    if (s->status == NSR_OK)
      s->status = status;
    nsr_ctx_free(u.ctx);
  }
}

/* ---- scopes */

static const char *label_at(const struct nsr_stream *s, uint32_t i) {
  for (uint32_t l = 0; l < s->nlabels; l++)
    if (s->labels[l].insn == i)
      return s->labels[l].name;
  return NULL;
}

/* A branch ends a loop, or leads past the body of a conditional. */
struct scope {
  uint32_t stream, from, to; /* with the branch */
  uint32_t branch, order;    /* which one of its stream it is */
  const char *label;
};

/* The n-th scope of all; false: there are not that many. */
static bool nth_scope(const struct units *u, uint32_t n, struct scope *out) {
  const struct nsr_survey *v = &u->survey;
  for (uint32_t s = 0; s < v->k->nstreams; s++) {
    const struct nsr_survey_stream *stream = &v->streams[s];
    uint32_t order = 0;
    for (uint32_t i = 0; i < stream->n; i++) {
      if (stream->insns[i].desc->ctl != NSR_CTL_BR)
        continue;
      uint32_t to = (uint32_t)((int64_t)i + stream->insns[i].displacement);
      *out = (struct scope){.stream = s,
                            .from = to <= i ? to : i,
                            .to = to <= i ? i + 1 : to,
                            .branch = i,
                            .order = order++,
                            .label = label_at(stream->s, to)};
      if (n-- == 0)
        return true;
    }
  }
  return false;
}

/* The same scope on another engine: a branch to the same label in the same
 * direction, or else the one with the same number. */
static bool same_scope(const struct scope *a, const struct scope *b) {
  bool loop_a = a->branch == a->to - 1, loop_b = b->branch == b->to - 1;
  if (a->stream == b->stream)
    return a->branch == b->branch;
  if (loop_a != loop_b)
    return false;
  if (a->label && b->label)
    return strcmp(a->label, b->label) == 0;
  return a->order == b->order;
}

/* Branches that leave a loop in front of its end. */
static enum nsr_status take_exits(struct units *u, const struct scope *loop) {
  const struct nsr_survey_stream *s = &u->survey.streams[loop->stream];
  for (uint32_t i = loop->from; i < loop->to; i++)
    if (s->insns[i].desc->ctl == NSR_CTL_BR &&
        (i + 1 == loop->to ||
         (int64_t)i + s->insns[i].displacement >= loop->to))
      NSR_TRY(take_out(u, loop->stream, i));
  return NSR_OK;
}

enum { WHOLE, ONCE, NWAYS };

/* A scope, whole or run through once, on all engines or on one. */
static enum nsr_status scope_candidate(struct nsr_shrinker *s, struct units *u,
                                       uint32_t i, bool *more) {
  struct scope scope, other;
  uint32_t way = i % (2 * NWAYS);
  (void)s;
  *more = nth_scope(u, i / (2 * NWAYS), &scope);
  for (uint32_t n = 0; *more && nth_scope(u, n, &other); n++) {
    if (!same_scope(&scope, &other) ||
        (way >= NWAYS && other.stream != scope.stream))
      continue;
    if (way % NWAYS == WHOLE)
      NSR_TRY(take_range(u, other.stream, other.from, other.to));
    else
      NSR_TRY(take_exits(u, &other));
  }
  return NSR_OK;
}

void nsr_shrink_scopes(struct nsr_shrinker *s) {
  each_candidate(s, scope_candidate);
}

/* ---- barriers */

/* All barriers with the id of the i-th one. */
static enum nsr_status barrier_candidate(struct nsr_shrinker *s,
                                         struct units *u, uint32_t i,
                                         bool *more) {
  const struct nsr_survey *v = &u->survey;
  const struct nsr_insn *found = NULL;
  (void)s;
  for (uint32_t e = 0; e < v->k->nstreams && !found; e++)
    for (uint32_t j = 0; j < v->streams[e].n && !found; j++)
      if (v->streams[e].insns[j].desc->cls == NSR_BARRIER && i-- == 0)
        found = &v->streams[e].insns[j];
  *more = found != NULL;
  for (uint32_t e = 0; e < v->k->nstreams && found; e++)
    for (uint32_t j = 0; j < v->streams[e].n; j++)
      if (v->streams[e].insns[j].desc->cls == NSR_BARRIER &&
          v->streams[e].insns[j].id == found->id)
        NSR_TRY(take_out(u, e, j));
  return NSR_OK;
}

void nsr_shrink_barriers(struct nsr_shrinker *s) {
  each_candidate(s, barrier_candidate);
}

/* ---- runs of instructions, from halves of a stream down to single ones */

static bool without_run(struct nsr_shrinker *s, uint32_t stream, uint32_t from,
                        uint32_t n) {
  struct units u = {.ctx = nsr_ctx_new()};
  bool took = false;
  enum nsr_status status = u.ctx ? NSR_OK : NSR_E_NOMEM;
  if (status == NSR_OK)
    status = take_range(&u, stream, from, from + n);
  if (status == NSR_OK)
    took = nsr_shrink_edit(s, u.ctx, &u.edits);
  if (s->status == NSR_OK)
    s->status = status;
  nsr_ctx_free(u.ctx);
  return took;
}

static void runs_of(struct nsr_shrinker *s, uint32_t stream, uint32_t size) {
  for (uint32_t i = 0; i < s->best->streams[stream].n && !nsr_shrink_over(s);) {
    uint32_t left = s->best->streams[stream].n - i;
    if (!without_run(s, stream, i, size < left ? size : left))
      i += size;
  }
}

void nsr_shrink_instructions(struct nsr_shrinker *s) {
  for (uint32_t stream = 0; stream < s->best->nstreams; stream++)
    for (uint32_t size = s->best->streams[stream].n / 2; size > 0; size /= 2)
      runs_of(s, stream, size);
}
