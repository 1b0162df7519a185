/* asked.c - the walk backwards, until loops ask for no more. */
#include "prove/asked.h"

#include <string.h>

#include "base/work.h"
#include "prove/walk_score.h"

/* So many distances of one track at a time, at most. */
enum { MAX_ASKED = 1 << 10 };

/* What is asked of a track from here on. */
struct asked {
  NSR_VEC(struct nsr_ask) v; /* farthest first: distances plus `passed` */
  int64_t passed;            /* weight of the members so far */
};

struct finder {
  struct nsr_told *g;
  const struct nsr_score *s;
  bool *exits;        /* by step that begins a loop: ways out there are */
  struct asked *here; /* by track */
  bool changed;
};

/* ---- sets */

static enum nsr_status ask(struct finder *f, uint32_t track,
                           struct nsr_ask with) {
  struct asked *a = &f->here[track];
  int64_t key = with.distance + a->passed;
  size_t at = a->v.n;
  while (at > 0 && a->v.v[at - 1].distance < key)
    at--;
  nsr_work_count(f->g->x->ctx, NSR_WORK_PROVE, 1 + a->v.n - at);
  bool there = at > 0 && a->v.v[at - 1].distance == key;
  if (there)
    a->v.v[at - 1].engines |= with.engines;
  if (there || a->v.n >= MAX_ASKED)
    return NSR_OK;
  NSR_PUSH(f->g->x->ctx, NSR_SCRATCH, &a->v, ((struct nsr_ask){0}));
  memmove(a->v.v + at + 1, a->v.v + at, (a->v.n - 1 - at) * sizeof *a->v.v);
  a->v.v[at] = (struct nsr_ask){key, with.engines};
  return NSR_OK;
}

static enum nsr_status ask_all(struct finder *f, uint32_t track,
                               const struct nsr_asks *d) {
  for (size_t i = d->v.n; i-- > 0;)
    NSR_TRY(ask(f, track, d->v.v[i]));
  return NSR_OK;
}

static struct nsr_told_in *in_scope(const struct finder *f, uint32_t begin,
                                    uint32_t i) {
  return &f->g->in.v[f->g->of_scope[begin].first + i];
}

/* What is asked of a track here, at distances up to `far`. */
static enum nsr_status keep(struct finder *f, uint32_t track, int64_t far,
                            struct nsr_asks *out) {
  const struct asked *a = &f->here[track];
  out->v.n = 0;
  for (size_t i = a->v.n; i-- > 0;) {
    int64_t d = a->v.v[i].distance - a->passed;
    NSR_PUSH(f->g->x->ctx, NSR_SCRATCH, &out->v,
             ((struct nsr_ask){d < far ? d : far, a->v.v[i].engines}));
    if (d >= far)
      break;
  }
  return NSR_OK;
}

/* How many engines ask, for each distance. */
static uint32_t askers(const struct nsr_asks *asks) {
  uint32_t n = 0;
  for (size_t i = 0; i < asks->v.n; i++)
    for (uint32_t rest = asks->v.v[i].engines; rest; rest &= rest - 1)
      n++;
  return n;
}

/* Behind a scope, of the tracks with members in it. */
static enum nsr_status keep_behind(struct finder *f, uint32_t begin) {
  for (uint32_t i = 0; i < f->g->of_scope[begin].n; i++) {
    struct nsr_told_in *in = in_scope(f, begin, i);
    NSR_TRY(keep(f, in->track, INT64_MAX, &in->behind));
  }
  return NSR_OK;
}

static void forget(struct finder *f, uint32_t begin) {
  for (uint32_t i = 0; i < f->g->of_scope[begin].n; i++)
    f->here[in_scope(f, begin, i)->track].v.n = 0;
}

static enum nsr_status ask_behind(struct finder *f, uint32_t begin) {
  for (uint32_t i = 0; i < f->g->of_scope[begin].n; i++) {
    const struct nsr_told_in *in = in_scope(f, begin, i);
    NSR_TRY(ask_all(f, in->track, &in->behind));
  }
  return NSR_OK;
}

/* A way through the innermost loop's body ends here. */
static enum nsr_status ask_ends(struct finder *f, uint32_t loop, uint8_t ends) {
  if (loop == NSR_NONE)
    return NSR_OK;
  for (uint32_t i = 0; i < f->g->of_scope[loop].n && ends & NSR_ENDS_BACK; i++)
    NSR_TRY(
        ask_all(f, in_scope(f, loop, i)->track, &in_scope(f, loop, i)->head));
  if (!(ends & NSR_ENDS_EXIT))
    return NSR_OK;
  f->exits[loop] = true;
  return ask_behind(f, loop);
}

/* ---- steps */

/* A member of a track: whether anything asks for it. */
static bool pass(struct finder *f, uint32_t track, int64_t weight) {
  struct asked *a = &f->here[track];
  size_t n = a->v.n;
  a->passed += weight;
  while (a->v.n > 0 && a->v.v[a->v.n - 1].distance < a->passed)
    a->v.n--;
  return a->v.n < n;
}

static enum nsr_status step_back(struct finder *f, uint32_t i) {
  struct nsr_told *g = f->g;
  const struct nsr_step *s = &f->s->steps[i];
  nsr_work_count(g->x->ctx, NSR_WORK_PROVE, 1);
  if (s->kind == NSR_STEP_WORK && !s->island && s->group != NSR_NONE) {
    uint32_t own = g->own[s->member];
    bool asked = pass(f, s->group, s->value);
    if (own != NSR_NONE)
      asked |= pass(f, own, 1);
    g->asked[s->member] |= asked;
  }
  if (s->kind != NSR_STEP_WAIT)
    return NSR_OK;
  const struct nsr_told_run *of = &g->of_wait[g->wait_of[i]];
  for (uint32_t k = of->first; k < of->first + of->n; k++)
    NSR_TRY(ask(f, g->by.v[k].track,
                (struct nsr_ask){g->by.v[k].lag, UINT32_C(1) << s->engine}));
  return NSR_OK;
}

/* ---- scopes */

static enum nsr_status steps_back(struct finder *f, uint32_t first,
                                  uint32_t end, uint32_t loop);

/* The head asks for no more than iterations reach; what is in front of it, for
 * all that there is. */
static enum nsr_status leave_head(struct finder *f, uint32_t begin) {
  if (!f->exits[begin])
    NSR_TRY(ask_behind(f, begin));
  for (uint32_t i = 0; i < f->g->of_scope[begin].n; i++) {
    struct nsr_told_in *in = in_scope(f, begin, i);
    uint32_t n = askers(&in->head);
    NSR_TRY(keep(f, in->track, nsr_told_limit(f->g, in->weight), &in->head));
    f->changed |= askers(&in->head) != n;
  }
  return ask_behind(f, begin);
}

static enum nsr_status loop_back(struct finder *f, uint32_t begin) {
  const struct nsr_step *s = &f->s->steps[begin];
  NSR_TRY(keep_behind(f, begin));
  forget(f, begin);
  if (!f->s->ended[s->work])
    NSR_TRY(ask_ends(f, begin, f->s->tree->scopes[s->work].ends));
  NSR_TRY(steps_back(f, begin + 1, s->end, begin));
  return leave_head(f, begin);
}

/* An arm, and what runs where it is passed by: asked in front of them is what
 * either asks. */
static enum nsr_status ways_back(struct finder *f, uint32_t begin,
                                 uint32_t loop) {
  const struct nsr_step *s = &f->s->steps[begin];
  const struct nsr_told_run *of = &f->g->of_scope[begin];
  uint32_t other = (uint32_t)s->value;
  struct nsr_asks *front;
  NSR_NEW(f->g->x->ctx, NSR_SCRATCH, front, of->n);
  NSR_TRY(keep_behind(f, begin));
  NSR_TRY(steps_back(f, other + 1, s->end, loop));
  for (uint32_t i = 0; i < of->n; i++)
    NSR_TRY(keep(f, in_scope(f, begin, i)->track, INT64_MAX, &front[i]));
  forget(f, begin);
  NSR_TRY(ask_behind(f, begin));
  NSR_TRY(steps_back(f, begin + 1, other, loop));
  for (uint32_t i = 0; i < of->n; i++)
    NSR_TRY(ask_all(f, in_scope(f, begin, i)->track, &front[i]));
  return NSR_OK;
}

static enum nsr_status arm_back(struct finder *f, uint32_t begin,
                                uint32_t loop) {
  const struct nsr_step *s = &f->s->steps[begin];
  const struct nsr_common *c = &f->s->tree->scopes[s->work];
  if (s->value)
    return ways_back(f, begin, loop);
  if (f->s->to_end[s->work])
    NSR_TRY(ask_ends(f, loop, c->skip));
  NSR_TRY(keep_behind(f, begin));
  if (f->s->to_end[s->work] && !f->s->ended[s->work])
    NSR_TRY(ask_ends(f, loop, c->ends));
  NSR_TRY(steps_back(f, begin + 1, s->end, loop));
  return ask_behind(f, begin);
}

static enum nsr_status steps_back(struct finder *f, uint32_t first,
                                  uint32_t end, uint32_t loop) {
  for (uint32_t i = end; i-- > first;) {
    if (f->s->steps[i].kind != NSR_STEP_END) {
      NSR_TRY(step_back(f, i));
      continue;
    }
    i = f->s->steps[i].end;
    NSR_TRY(f->s->steps[i].kind == NSR_STEP_LOOP ? loop_back(f, i)
                                                 : arm_back(f, i, loop));
  }
  return NSR_OK;
}

/* A step that nothing is around, or a scope that ends there. */
static enum nsr_status item_back(struct finder *f, uint32_t i) {
  const struct nsr_step *s = &f->s->steps[i];
  uint32_t first = s->kind == NSR_STEP_END ? s->end : i;
  while (first < f->g->x->window_steps[f->g->x->window])
    nsr_sights_go_to(f->g->x, f->g->x->window - 1);
  f->changed = false;
  NSR_TRY(steps_back(f, first, i + 1, NSR_NONE));
  while (f->changed) {
    f->changed = false;
    forget(f, first);
    NSR_TRY(ask_behind(f, first));
    NSR_TRY(steps_back(f, first, i + 1, NSR_NONE));
  }
  for (uint32_t k = 0; k < f->g->of_scope[first].n; k++) {
    struct nsr_told_in *in = in_scope(f, first, k);
    NSR_TRY(keep(f, in->track, INT64_MAX, &in->front));
  }
  return NSR_OK;
}

enum nsr_status nsr_asked_find(struct nsr_told *told) {
  const struct nsr_score *s = told->x->s;
  struct nsr_ctx *ctx = told->x->ctx;
  struct finder f = {.g = told, .s = s};
  NSR_NEW(ctx, NSR_SCRATCH, f.here, told->ntracks);
  NSR_NEW(ctx, NSR_SCRATCH, f.exits, s->nsteps);
  NSR_NEW(ctx, NSR_SCRATCH, told->asked, s->nmembers);
  nsr_sights_go_to(told->x, told->x->nwindows - 1);
  for (uint32_t i = s->nsteps; i-- > 0;) {
    NSR_TRY(item_back(&f, i));
    if (s->steps[i].kind == NSR_STEP_END)
      i = s->steps[i].end;
  }
  nsr_sights_go_to(told->x, 0);
  return NSR_OK;
}
