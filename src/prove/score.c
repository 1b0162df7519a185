/* score.c - the tree laid flat, with waits and updates of one binary. */
#include "prove/score.h"

#include "base/bitset.h"
#include "prove/groups.h"
#include "prove/places.h"
#include "prove/walk_score.h"

struct writer {
  struct nsr_ctx *ctx;
  const struct nsr_tree *t;
  const struct nsr_program *p;     /* whose instructions count */
  const struct nsr_erasure *e;     /* of the output, NULL: the input's score */
  const struct nsr_places *places; /* .. */
  struct nsr_proof *proof;         /* .. */
  NSR_VEC(struct nsr_step) steps;
  uint32_t nwaits;
  uint32_t *free; /* by scope: nsr_free_loops */
  bool choices;   /* the output compares */
};

/* ---- single instructions */

static const struct nsr_node *node(const struct writer *w, int engine,
                                   uint32_t insn) {
  return &w->p->nodes[engine][insn];
}

static enum nsr_status push(struct writer *w, struct nsr_step s) {
  NSR_APPEND(w->ctx, NSR_SCRATCH, &w->steps, s);
  return NSR_OK;
}

/* Semaphores, until groups are numbered; only semaphores of this kernel. */
static enum nsr_status push_wait(struct writer *w, int engine, uint32_t insn,
                                 uint32_t work) {
  const struct nsr_node *n = node(w, engine, insn);
  if (!n->wait.cmp || n->foreign_wait)
    return NSR_OK;
  bool greater = n->wait.cmp == NSR_CMP_GT && !n->wait.value.is_reg &&
                 n->wait.value.v < INT32_MAX;
  struct nsr_step s = {.kind = NSR_STEP_WAIT,
                       .engine = (uint8_t)engine,
                       .is_reg = n->wait.value.is_reg,
                       .other = n->wait.cmp != NSR_CMP_GE && !greater,
                       .insn = insn,
                       .work = work,
                       .group = n->wait.sem,
                       .value = n->wait.value.v + greater};
  w->nwaits++;
  return push(w, s);
}

/* A positive constant, or 0. */
static int32_t weight(const struct nsr_update *u) {
  bool adds = u->op == NSR_UPD_INC || u->op == NSR_UPD_ADD;
  return adds && u->value > 0 ? u->value : 0;
}

static enum nsr_status push_work(struct writer *w, int engine, uint32_t insn,
                                 uint32_t work) {
  const struct nsr_node *n = node(w, engine, insn);
  bool counts = n->update.op && !n->foreign_update;
  bool passes = work != NSR_NONE && w->t->works[work].passes;
  struct nsr_step s = {.kind = NSR_STEP_WORK,
                       .engine = (uint8_t)engine,
                       .channel =
                           passes ? w->t->works[work].channel : n->channel,
                       .passes = passes,
                       .load = n->cls == NSR_LOAD,
                       .island = work != NSR_NONE && w->t->works[work].island,
                       .insn = insn,
                       .work = work,
                       .group = counts ? n->update.sem : NSR_NONE,
                       .value = counts ? weight(&n->update) : 0};
  if (s.channel < 0) {
    s.kind = NSR_STEP_KEPT;
    s.group = NSR_NONE;
  }
  return s.channel >= 0 || s.island ? push(w, s) : NSR_OK;
}

static enum nsr_status push_set(struct writer *w, int engine, uint32_t insn,
                                int dst) {
  return push(w, (struct nsr_step){.kind = NSR_STEP_SET,
                                   .engine = (uint8_t)engine,
                                   .dst = (int16_t)dst,
                                   .insn = insn,
                                   .work = NSR_NONE,
                                   .group = NSR_NONE});
}

/* ---- what stands in between */

static enum nsr_status push_inserted(struct writer *w, int engine,
                                     uint32_t insn) {
  const struct nsr_node *n = node(w, engine, insn);
  NSR_TRY(push_wait(w, engine, insn, NSR_NONE));
  NSR_TRY(push_work(w, engine, insn, NSR_NONE));
  return n->cls == NSR_CONTROL && n->dst >= 0
             ? push_set(w, engine, insn, n->dst)
             : NSR_OK;
}

static enum nsr_status push_run(struct writer *w, int engine,
                                const struct nsr_inserted_run *run) {
  for (uint32_t i = 0; i < run->n; i++) {
    const struct nsr_inserted *x = &w->places->v.v[run->first + i];
    for (uint32_t insn = x->lo; insn < x->hi; insn++)
      NSR_TRY(push_inserted(w, engine, insn));
  }
  return NSR_OK;
}

/* runs: by engine, first[0..]. */
static enum nsr_status
push_runs(struct writer *w, const struct nsr_inserted_run *runs, uint32_t at) {
  for (int e = 0; w->places && e < NSR_MAX_ENGINES; e++)
    NSR_TRY(push_run(w, e, &runs[(size_t)at * NSR_MAX_ENGINES + (size_t)e]));
  return NSR_OK;
}

static enum nsr_status put_own(struct writer *w, uint32_t i) {
  const struct nsr_work *x = &w->t->works[i];
  uint32_t insn = w->e ? w->e->engines[x->engine].own[x->insn] : x->insn;
  if (insn == NSR_NONE)
    return NSR_OK;
  if (!x->island)
    NSR_TRY(push_wait(w, x->engine, insn, i));
  NSR_TRY(push_work(w, x->engine, insn, i));
  int dst = w->t->program->nodes[x->engine][x->insn].dst;
  return w->places && dst >= 0 &&
                 nsr_bit(w->places->set[x->engine], (size_t)dst)
             ? push_set(w, x->engine, insn, dst)
             : NSR_OK;
}

static enum nsr_status put_work(struct writer *w, uint32_t i) {
  const struct nsr_work *x = &w->t->works[i];
  if (x->marker)
    return NSR_OK;
  if (w->places)
    NSR_TRY(push_run(w, x->engine, &w->places->work[NSR_FRONT][i]));
  NSR_TRY(put_own(w, i));
  return w->places ? push_run(w, x->engine, &w->places->work[NSR_BEHIND][i])
                   : NSR_OK;
}

/* A barrier that stays stays on all engines, with one id. */
static enum nsr_status put_barrier(struct writer *w,
                                   const struct nsr_part *part) {
  int here = 0, all = 0, engine = 0;
  int32_t id = 0;
  for (int e = 0; e < NSR_MAX_ENGINES; e++) {
    if (!w->t->program->stream[e] || part->insn[e] == NSR_NONE)
      continue;
    uint32_t own = w->e ? w->e->engines[e].own[part->insn[e]] : part->insn[e];
    bool stays =
        own != NSR_NONE && (here == 0 || w->p->nodes[e][own].aux == id);
    id = stays ? w->p->nodes[e][own].aux : id;
    all++;
    here += stays;
    engine = stays ? engine : e;
  }
  if (here == all || here == 0)
    return push(
        w, (struct nsr_step){.kind = here ? NSR_STEP_BARRIER : NSR_STEP_GONE,
                             .work = NSR_NONE,
                             .group = NSR_NONE});
  const char *at =
      nsr_proof_place(w->ctx, w->t->program, engine, part->insn[engine]);
  return at ? nsr_proof_object(w->ctx, w->proof, NSR_PROOF_REFUTED,
                               NSR_RULE_ERASURE,
                               "barrier %d stays on some engines, but %s is "
                               "gone, or another",
                               (int)part->id, at)
            : NSR_E_NOMEM;
}

/* ---- scopes */

enum nsr_status nsr_free_loops(struct nsr_ctx *ctx, const struct nsr_tree *t,
                               uint32_t **out) {
  uint32_t *v;
  NSR_NEW(ctx, NSR_SCRATCH, v, t->nscopes);
  v[0] = NSR_NONE;
  for (uint32_t s = 1; s < t->nscopes; s++) {
    const struct nsr_common *x = &t->scopes[s];
    bool first = x->kind == NSR_SCOPE_LOOP && !x->barrier;
    v[s] = v[x->parent] == NSR_NONE && first ? s : v[x->parent];
  }
  *out = v;
  return NSR_OK;
}

/* One for each channel of the engines that run the loop. */
static enum nsr_status put_fences(struct writer *w, uint32_t scope) {
  const struct nsr_kernel *k = w->p->k;
  for (int ch = 0; w->e && ch < nsr_nchannels(k); ch++) {
    int e = nsr_channel_engine(k, ch);
    if (w->p->stream[e] && nsr_common_runs(w->t, scope, e))
      NSR_TRY(push(w, (struct nsr_step){.kind = NSR_STEP_WORK,
                                        .engine = (uint8_t)e,
                                        .channel = (int8_t)ch,
                                        .fence = true,
                                        .work = NSR_NONE,
                                        .group = NSR_NONE,
                                        .end = scope}));
  }
  return NSR_OK;
}

/* What runs where an arm is passed by. */
static enum nsr_status put_passing(struct writer *w, uint32_t scope,
                                   uint32_t begin) {
  const struct nsr_passing *p = nsr_passing_first(w->places, scope);
  if (!p)
    return NSR_OK;
  w->steps.v[begin].value = (int32_t)w->steps.n;
  NSR_TRY(push(w, (struct nsr_step){.kind = NSR_STEP_OTHER,
                                    .work = NSR_NONE,
                                    .group = NSR_NONE,
                                    .end = begin}));
  const struct nsr_passing *end = w->places->passing.v + w->places->passing.n;
  for (; p < end && p->scope == scope; p++)
    for (uint32_t insn = p->lo; insn < p->hi; insn++)
      NSR_TRY(push_inserted(w, (int)p->engine, insn));
  return NSR_OK;
}

static enum nsr_status put_body(struct writer *w, uint32_t scope);

static enum nsr_status put_scope(struct writer *w, uint32_t scope) {
  uint8_t kind = w->t->scopes[scope].kind;
  uint32_t begin = (uint32_t)w->steps.n;
  if (kind == NSR_SCOPE_ISLAND) /* passed once, whatever it does inside */
    return put_body(w, scope);
  uint8_t step = kind == NSR_SCOPE_LOOP ? NSR_STEP_LOOP : NSR_STEP_ARM;
  NSR_TRY(push(
      w, (struct nsr_step){.kind = step, .work = scope, .group = NSR_NONE}));
  NSR_TRY(put_body(w, scope));
  if (kind == NSR_SCOPE_ARM && w->places)
    NSR_TRY(put_passing(w, scope, begin));
  w->steps.v[begin].end = (uint32_t)w->steps.n;
  NSR_TRY(push(w, (struct nsr_step){.kind = NSR_STEP_END,
                                    .work = scope,
                                    .group = NSR_NONE,
                                    .end = begin}));
  bool fences =
      w->free[scope] == scope || (kind == NSR_SCOPE_LOOP && w->choices);
  return fences ? put_fences(w, scope) : NSR_OK;
}

/* Before the tree is linearized a scope without a barrier stands among the
 * works, as the first of its elements. */
static enum nsr_status put_segment(struct writer *w,
                                   const struct nsr_part *part) {
  for (uint32_t i = part->first; i < part->first + part->n; i++) {
    uint32_t nested = w->t->works[i].nested;
    if (nested == NSR_NONE)
      NSR_TRY(put_work(w, i));
    else if (nsr_common_first(w->t, i))
      NSR_TRY(put_scope(w, nested));
  }
  return NSR_OK;
}

static enum nsr_status put_body(struct writer *w, uint32_t scope) {
  const struct nsr_places *at = w->places;
  NSR_TRY(push_runs(w, at ? at->body[NSR_BEHIND] : NULL, scope));
  for (uint32_t p = w->t->scopes[scope].first_part; p != NSR_NONE;
       p = w->t->parts[p].next) {
    const struct nsr_part *part = &w->t->parts[p];
    if (part->kind == NSR_PART_SEGMENT) {
      NSR_TRY(put_segment(w, part));
      continue;
    }
    NSR_TRY(push_runs(w, at ? at->part[NSR_FRONT] : NULL, p));
    NSR_TRY(part->kind == NSR_PART_BARRIER ? put_barrier(w, part)
                                           : put_scope(w, part->first));
    NSR_TRY(push_runs(w, at ? at->part[NSR_BEHIND] : NULL, p));
  }
  return push_runs(w, at ? at->body[NSR_FRONT] : NULL, scope);
}

static enum nsr_status finish(struct writer *w, struct nsr_score *out) {
  out->tree = w->t;
  out->program = w->p;
  out->steps = w->steps.v;
  out->nsteps = (uint32_t)w->steps.n;
  out->nwaits = w->nwaits;
  NSR_TRY(nsr_score_ends(w->ctx, out));
  return nsr_groups_find(w->ctx, out, w->proof);
}

enum nsr_status nsr_score_input(struct nsr_ctx *ctx,
                                const struct nsr_tree *tree,
                                struct nsr_score *out) {
  struct writer w = {.ctx = ctx, .t = tree, .p = tree->program};
  *out = (struct nsr_score){0};
  NSR_TRY(nsr_free_loops(ctx, w.t, &w.free));
  NSR_TRY(put_body(&w, 0));
  return finish(&w, out);
}

/* Whether there is anything that makes a choice. */
static bool chooses(const struct writer *w) {
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    for (size_t i = 0; w->p->stream[e] && i < w->p->stream[e]->n; i++) {
      uint8_t ctl = w->p->nodes[e][i].ctl;
      if (ctl >= NSR_CTL_MIN && ctl <= NSR_CTL_SEL)
        return true;
    }
  return false;
}

enum nsr_status nsr_score_output(struct nsr_ctx *ctx,
                                 const struct nsr_erasure *e,
                                 struct nsr_score *out,
                                 struct nsr_proof *proof) {
  struct nsr_places places;
  struct writer w = {.ctx = ctx,
                     .t = e->tree,
                     .p = e->out,
                     .e = e,
                     .places = &places,
                     .proof = proof};
  *out = (struct nsr_score){0};
  NSR_TRY(nsr_places_find(ctx, e, &places, proof));
  if (!nsr_proof_open(proof))
    return NSR_OK;
  NSR_TRY(nsr_free_loops(ctx, w.t, &w.free));
  w.choices = chooses(&w);
  NSR_TRY(put_body(&w, 0));
  return finish(&w, out);
}
