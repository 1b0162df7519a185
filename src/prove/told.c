/* told.c - lists of views by distance.
 *
 * What holds before a scope need not be looked at when it is left: what an
 * engine knows only grows, so a distance that reaches back to there tells at
 * least what it told there, and that is aged by all that issued since.
 */
#include "prove/told.h"

#include <string.h>

#include "base/work.h"

static struct nsr_layer *top(struct nsr_track *t) {
  return &t->layers.v[t->layers.n - 1];
}

/* The farthest distance that is still looked at, -1: none. */
static int64_t farthest(struct nsr_told *g, struct nsr_track *t) {
  while (t->reach.n && t->reach.v[t->reach.n - 1].step < g->from)
    t->reach.n--;
  return t->reach.n ? t->reach.v[t->reach.n - 1].most : -1;
}

/* ---- looking up */

#define NOTHING NSR_TOLD_NOTHING

/* Among the layers first.. below the top `skip` ones, counted from `count`:
 * what holds if all but the last `lag` have retired. */
static const struct nsr_tell *look_up(const struct nsr_track *t, size_t first,
                                      size_t skip, int64_t count, int64_t lag) {
  size_t l = t->layers.n - skip;
  size_t end = skip ? t->layers.v[l].below : t->v.l.n;
  while (l-- > first) {
    size_t lo = t->layers.v[l].base, hi = end;
    if (lo < hi && count - t->v.l.v[lo].at >= lag) {
      while (hi - lo > 1) {
        size_t mid = lo + (hi - lo) / 2;
        if (count - t->v.l.v[mid].at >= lag)
          lo = mid;
        else
          hi = mid;
      }
      return &t->v.l.v[lo];
    }
    end = t->layers.v[l].below;
  }
  return NULL;
}

/* In tmp: a view as of here. */
static enum nsr_status renewed(struct nsr_told *g, const struct nsr_tell *t) {
  nsr_sight_copy(g->x, g->tmp, t->view);
  return nsr_sight_renew(g->x, g->tmp);
}

/* ---- waits and members */

enum nsr_status nsr_told_wait(struct nsr_told *g, uint32_t w,
                              struct nsr_sight *row) {
  for (uint32_t i = 0; i < g->of_wait[w].n; i++) {
    const struct nsr_told_by *by = &g->by.v[g->of_wait[w].first + i];
    struct nsr_track *t = &g->tracks[by->track];
    const struct nsr_tell *tell = look_up(t, 0, 0, t->count, by->lag);
    /* who knows of an execution knows what follows from it */
    if (!tell ||
        (tell->slot != NSR_NONE && nsr_sight_level(g->x, row, tell->slot) == 0))
      continue;
    bool here = (size_t)(tell - t->v.l.v) >= top(t)->base;
    if (here && tell->view->refs == 1) {
      NSR_TRY(nsr_sight_renew(g->x, tell->view));
      NSR_TRY(nsr_sight_merge(g->x, row, tell->view, true, NULL));
      continue;
    }
    NSR_TRY(renewed(g, tell));
    NSR_TRY(nsr_sight_merge(g->x, row, g->tmp, true, NULL));
  }
  return NSR_OK;
}

/* Drops what lies farther back than anyone looks. */
static void drop_far(struct nsr_told *g, struct nsr_track *t) {
  int64_t far = farthest(g, t);
  struct nsr_layer *l = top(t);
  while (l->base < t->v.l.n &&
         (far < 0 || (l->base + 1 < t->v.l.n &&
                      t->count - t->v.l.v[l->base + 1].at >= far)))
    nsr_sight_free(g->x, &t->v.l.v[l->base++].view);
  if (t->layers.n > 1 || l->base < 16 || l->base < t->v.l.n / 2)
    return;
  t->v.l.n -= l->base;
  memmove(t->v.l.v, t->v.l.v + l->base, t->v.l.n * sizeof *t->v.l.v);
  l->base = 0;
}

static enum nsr_status append(struct nsr_told *g, struct nsr_track *t,
                              uint32_t slot, struct nsr_sight *view) {
  NSR_PUSH(g->x->ctx, NSR_SCRATCH, &t->v.l,
           ((struct nsr_tell){t->count + 1, slot, nsr_sight_share(view)}));
  return NSR_OK;
}

/* A member has issued. */
static void count(struct nsr_told *g, struct nsr_track *t, int64_t weight) {
  t->count += weight;
  drop_far(g, t);
}

/* The latest knows what the engine knows, and all of its channel. */
static enum nsr_status tell_member(struct nsr_told *g, const struct nsr_step *s,
                                   const struct nsr_sight *row) {
  uint32_t own = g->own[s->member];
  uint32_t slot = g->x->now[s->channel] - 1;
  struct nsr_sight *view;
  NSR_TRY(nsr_sight_new(g->x, &view));
  nsr_sight_copy(g->x, view, row);
  nsr_sight_learn_all(view, (uint32_t)s->channel);
  NSR_TRY(append(g, &g->tracks[s->group], slot, view));
  if (own != NSR_NONE)
    NSR_TRY(append(g, &g->tracks[own], slot, view));
  nsr_sight_free(g->x, &view);
  return NSR_OK;
}

bool nsr_told_asked(struct nsr_told *g, const struct nsr_step *s) {
  if (g->asked)
    return g->asked[s->member];
  return g->own[s->member] != NSR_NONE ||
         farthest(g, &g->tracks[s->group]) >= 0;
}

enum nsr_status nsr_told_member(struct nsr_told *g, const struct nsr_step *s,
                                const struct nsr_sight *row) {
  uint32_t own = g->own[s->member];
  if (row)
    NSR_TRY(tell_member(g, s, row));
  count(g, &g->tracks[s->group], s->value);
  if (own != NSR_NONE)
    count(g, &g->tracks[own], 1);
  return NSR_OK;
}

/* ---- layers */

static const struct nsr_told_in *in_scope(const struct nsr_told *g,
                                          uint32_t begin, uint32_t i) {
  return &g->in.v[g->of_scope[begin].first + i];
}

static struct nsr_track *track_in(struct nsr_told *g, uint32_t begin,
                                  uint32_t i) {
  return &g->tracks[in_scope(g, begin, i)->track];
}

enum nsr_status nsr_told_begin(struct nsr_told *g, uint32_t begin) {
  for (uint32_t i = 0; i < g->of_scope[begin].n; i++) {
    struct nsr_track *t = track_in(g, begin, i);
    int64_t weight = in_scope(g, begin, i)->weight;
    NSR_PUSH(g->x->ctx, NSR_SCRATCH, &t->layers,
             ((struct nsr_layer){begin, t->v.l.n, t->v.l.n, t->count, weight}));
  }
  return NSR_OK;
}

/* What the top layer holds goes. */
static void empty(struct nsr_told *g, struct nsr_track *t) {
  struct nsr_layer *l = top(t);
  for (size_t k = l->base; k < t->v.l.n; k++)
    nsr_sight_free(g->x, &t->v.l.v[k].view);
  t->v.l.n = l->base = l->below;
  t->count = l->count;
}

void nsr_told_drop(struct nsr_told *g, uint32_t begin) {
  for (uint32_t i = 0; i < g->of_scope[begin].n; i++) {
    struct nsr_track *t = track_in(g, begin, i);
    empty(g, t);
    t->layers.n--;
  }
}

/* ---- lists */

void nsr_told_clear(struct nsr_told *g, struct nsr_tells *list) {
  for (size_t i = 0; i < list->l.n; i++)
    nsr_sight_free(g->x, &list->l.v[i].view);
  list->l.n = 0;
}

static enum nsr_status push(struct nsr_told *g, struct nsr_tells *list,
                            int64_t distance, const struct nsr_tell *t) {
  NSR_PUSH(g->x->ctx, NSR_SCRATCH, &list->l,
           ((struct nsr_tell){distance, t->slot, nsr_sight_share(t->view)}));
  return NSR_OK;
}

/* The layers first.. below the top `skip` ones, counted from `count`. */
struct part {
  size_t first, skip;
  int64_t count;
};

/* What they tell at distances up to the first one from `far` on. What is nearer
 * hides what lies behind it at no greater distance. */
static enum nsr_status collect_all(struct nsr_told *g,
                                   const struct nsr_track *t, struct part p,
                                   int64_t far, struct nsr_tells *out) {
  size_t l = t->layers.n - p.skip;
  size_t end = p.skip ? t->layers.v[l].below : t->v.l.n;
  int64_t last = -1;
  while (l-- > p.first && last < far) {
    for (size_t i = end; i-- > t->layers.v[l].base && last < far;) {
      int64_t d = p.count - t->v.l.v[i].at;
      d = d < NOTHING ? d : NOTHING;
      if (d <= last)
        continue;
      NSR_TRY(push(g, out, d, &t->v.l.v[i]));
      last = d;
    }
    end = t->layers.v[l].below;
  }
  return NSR_OK;
}

/* .. of these, those that answer what is asked. */
static enum nsr_status collect(struct nsr_told *g, const struct nsr_track *t,
                               struct part p, int64_t far,
                               const struct nsr_asks *asked,
                               struct nsr_tells *out) {
  const struct nsr_tell *last = NULL;
  if (!g->asked)
    return collect_all(g, t, p, far, out);
  for (size_t i = 0; i < asked->v.n && far >= 0; i++) {
    int64_t lag = asked->v.v[i].distance < far ? asked->v.v[i].distance : far;
    const struct nsr_tell *x = look_up(t, p.first, p.skip, p.count, lag);
    if (!x)
      return NSR_OK;
    int64_t d = p.count - x->at;
    if (x != last)
      NSR_TRY(push(g, out, d < NOTHING ? d : NOTHING, x));
    if (d >= far)
      return NSR_OK;
    last = x;
  }
  return NSR_OK;
}

/* Each view of the list is as of here, and held by nobody else. */
static enum nsr_status renew(struct nsr_told *g, struct nsr_tells *list) {
  for (size_t i = 0; i < list->l.n; i++) {
    NSR_TRY(nsr_sight_own(g->x, &list->l.v[i].view));
    NSR_TRY(nsr_sight_renew(g->x, list->l.v[i].view));
  }
  return NSR_OK;
}

/* ---- other moments */

/* Exchanges here and a moment. */
static void go_to(struct nsr_told *g, struct nsr_moment *m) {
  struct nsr_sights *x = g->x;
  size_t n = x->nch * sizeof *x->now;
  struct nsr_moment here = {x->step, (uint32_t)x->loops.n, x->barrier, NULL};
  memcpy(g->swap, x->now, n);
  memcpy(x->now, m->now, n);
  memcpy(m->now, g->swap, n);
  x->step = m->step;
  x->loops.n = m->nloops;
  x->barrier = m->barrier;
  m->step = here.step;
  m->nloops = here.nloops;
  m->barrier = here.barrier;
}

/* ---- where ways meet */

/* What two ways tell at a distance; x, of the first, is taken where it is not
 * needed at a greater one. */
static enum nsr_status meet_at(struct nsr_told *g, int64_t d,
                               struct nsr_tell *x, const struct nsr_tell *y,
                               bool *changed) {
  struct nsr_tell made = {d, x->slot == y->slot ? x->slot : NSR_NONE, x->view};
  if (x->at == d) {
    x->view = NULL;
  } else {
    *changed = true;
    nsr_sight_share(made.view);
  }
  NSR_TRY(nsr_sight_own(g->x, &made.view));
  NSR_TRY(nsr_sight_merge(g->x, made.view, y->view, false, changed));
  NSR_PUSH(g->x->ctx, NSR_SCRATCH, &g->made.l, made);
  nsr_work_count(g->x->ctx, NSR_WORK_PROVE, 1);
  return NSR_OK;
}

/* a becomes what both lists tell, each as of where its way ends, at distances
 * that one of them has, as far as both go. */
static enum nsr_status meet(struct nsr_told *g, struct nsr_tells *a,
                            const struct nsr_tells *b, bool *changed) {
  g->made.l.n = 0;
  for (size_t i = 0, j = 0; i < a->l.n && j < b->l.n;) {
    struct nsr_tell *x = &a->l.v[i];
    const struct nsr_tell *y = &b->l.v[j];
    int64_t d = x->at <= y->at ? x->at : y->at;
    NSR_TRY(meet_at(g, d, x, y, changed));
    i += x->at == d;
    j += y->at == d;
  }
  struct nsr_tells old = *a;
  *a = g->made;
  g->made = old;
  nsr_told_clear(g, &g->made);
  return NSR_OK;
}

/* The list, nearest first, becomes the end of the top layer, as of here; what
 * that told at no greater distance goes. */
static enum nsr_status put(struct nsr_told *g, struct nsr_track *t,
                           struct nsr_tells *list) {
  if (!list->l.n)
    return NSR_OK;
  int64_t far = list->l.v[list->l.n - 1].at;
  while (t->v.l.n > top(t)->base && t->count - t->v.l.v[t->v.l.n - 1].at <= far)
    nsr_sight_free(g->x, &t->v.l.v[--t->v.l.n].view);
  for (size_t i = list->l.n; i-- > 0;) {
    struct nsr_tell *x = &list->l.v[i];
    NSR_TRY(nsr_sight_own(g->x, &x->view));
    nsr_sight_stamp(g->x, x->view);
    NSR_TRY(push(g, &t->v, t->count - x->at, x));
  }
  drop_far(g, t);
  return NSR_OK;
}

/* What a track tells below its top layer, as of another moment. */
static enum nsr_status collect_before(struct nsr_told *g, struct nsr_track *t,
                                      const struct nsr_told_in *in, int64_t far,
                                      struct nsr_moment *m,
                                      struct nsr_tells *out) {
  struct part below = {0, 1, top(t)->count};
  NSR_TRY(collect(g, t, below, far, &in->behind, out));
  go_to(g, m);
  enum nsr_status status = renew(g, out);
  go_to(g, m);
  return status;
}

/* The top layer goes; what a list tells stands for it in the one below, in
 * which so much has been counted at least. */
static enum nsr_status pop(struct nsr_told *g, struct nsr_track *t,
                           struct nsr_tells *list, int64_t weight) {
  empty(g, t);
  t->layers.n--;
  t->count += weight;
  NSR_TRY(put(g, t, list));
  nsr_told_clear(g, list);
  return NSR_OK;
}

static enum nsr_status join_track(struct nsr_told *g,
                                  const struct nsr_told_in *in,
                                  struct nsr_moment *entry) {
  struct nsr_track *t = &g->tracks[in->track];
  struct part arm = {t->layers.n - 1, 0, t->count};
  bool changed = false;
  NSR_TRY(collect(g, t, arm, NOTHING, &in->behind, &g->near));
  NSR_TRY(renew(g, &g->near));
  if (g->near.l.n) {
    int64_t far = g->near.l.v[g->near.l.n - 1].at;
    NSR_TRY(collect_before(g, t, in, far, entry, &g->far));
    NSR_TRY(meet(g, &g->near, &g->far, &changed));
    nsr_told_clear(g, &g->far);
  }
  return pop(g, t, &g->near, 0);
}

enum nsr_status nsr_told_join(struct nsr_told *g, uint32_t begin,
                              struct nsr_moment *entry) {
  for (uint32_t i = 0; i < g->of_scope[begin].n; i++)
    NSR_TRY(join_track(g, in_scope(g, begin, i), entry));
  return NSR_OK;
}

/* The layer that a scope has begun. */
static size_t layer_of(const struct nsr_track *t, uint32_t begin) {
  size_t l = t->layers.n - 1;
  while (t->layers.v[l].begin != begin)
    l--;
  return l;
}

static int64_t limit(struct nsr_told *g, struct nsr_track *t, size_t loop) {
  int64_t far = farthest(g, t);
  int64_t most = nsr_told_limit(g, t->layers.v[loop].weight);
  return far > most ? most : far;
}

static enum nsr_status pass_track(struct nsr_told *g,
                                  const struct nsr_told_in *in,
                                  struct nsr_moment *entry) {
  struct nsr_track *t = &g->tracks[in->track];
  size_t n = g->x->loops.n;
  int64_t far =
      n ? limit(g, t, layer_of(t, g->x->loops.v[n - 1].begin - 1)) : -1;
  NSR_TRY(collect_before(g, t, in, far, entry, &g->near));
  return pop(g, t, &g->near, 0);
}

enum nsr_status nsr_told_pass(struct nsr_told *g, uint32_t begin,
                              struct nsr_moment *entry) {
  for (uint32_t i = 0; i < g->of_scope[begin].n; i++)
    NSR_TRY(pass_track(g, in_scope(g, begin, i), entry));
  return NSR_OK;
}

/* A list takes in what is told here. */
static enum nsr_status take_in(struct nsr_told *g, struct nsr_tells *list,
                               bool first, bool *changed) {
  if (first) {
    struct nsr_tells old = *list;
    *list = g->near;
    g->near = old;
    *changed = true;
  } else {
    NSR_TRY(meet(g, list, &g->near, changed));
  }
  nsr_told_clear(g, &g->near);
  return NSR_OK;
}

enum nsr_status nsr_told_take(struct nsr_told *g, uint32_t begin,
                              struct nsr_tells *lists, bool head, bool first,
                              bool *changed) {
  for (uint32_t i = 0; i < g->of_scope[begin].n; i++) {
    struct nsr_track *t = track_in(g, begin, i);
    size_t l = layer_of(t, begin);
    int64_t far = head ? limit(g, t, l) : farthest(g, t);
    const struct nsr_told_in *in = in_scope(g, begin, i);
    NSR_TRY(collect(g, t, (struct part){l, 0, t->count}, far,
                    head ? &in->head : &in->behind, &g->near));
    NSR_TRY(renew(g, &g->near));
    NSR_TRY(take_in(g, &lists[i], first, changed));
  }
  return NSR_OK;
}

enum nsr_status nsr_told_enter(struct nsr_told *g, uint32_t begin,
                               struct nsr_tells *heads, bool first,
                               bool *changed) {
  for (uint32_t i = 0; i < g->of_scope[begin].n; i++) {
    struct nsr_track *t = track_in(g, begin, i);
    int64_t far = limit(g, t, t->layers.n - 1);
    NSR_TRY(collect(g, t, (struct part){0, 1, t->count}, far,
                    &in_scope(g, begin, i)->head, &g->near));
    NSR_TRY(renew(g, &g->near));
    NSR_TRY(take_in(g, &heads[i], first, changed));
  }
  return NSR_OK;
}

/* A list takes in what the top layer tells; so far has that counted. */
static enum nsr_status take_layer(struct nsr_told *g, struct nsr_track *t,
                                  struct nsr_tells *list, bool first,
                                  int64_t *weight) {
  struct part layer = {t->layers.n - 1, 0, t->count};
  bool changed = false;
  *weight = t->count - top(t)->count;
  NSR_TRY(collect_all(g, t, layer, NOTHING, &g->near));
  NSR_TRY(renew(g, &g->near));
  return take_in(g, list, first, &changed);
}

enum nsr_status nsr_told_other(struct nsr_told *g, uint32_t begin,
                               struct nsr_tells *ends, int64_t *weights) {
  for (uint32_t i = 0; i < g->of_scope[begin].n; i++) {
    NSR_TRY(take_layer(g, track_in(g, begin, i), &ends[i], true, &weights[i]));
    empty(g, track_in(g, begin, i));
  }
  return NSR_OK;
}

enum nsr_status nsr_told_both(struct nsr_told *g, uint32_t begin,
                              struct nsr_tells *ends, const int64_t *weights) {
  for (uint32_t i = 0; i < g->of_scope[begin].n; i++) {
    struct nsr_track *t = track_in(g, begin, i);
    int64_t weight;
    NSR_TRY(take_layer(g, t, &ends[i], false, &weight));
    NSR_TRY(pop(g, t, &ends[i], weight < weights[i] ? weight : weights[i]));
  }
  return NSR_OK;
}

enum nsr_status nsr_told_put(struct nsr_told *g, uint32_t begin,
                             struct nsr_tells *lists) {
  for (uint32_t i = 0; i < g->of_scope[begin].n; i++)
    NSR_TRY(put(g, track_in(g, begin, i), &lists[i]));
  return NSR_OK;
}

enum nsr_status nsr_told_keep(struct nsr_told *g, uint32_t begin) {
  for (uint32_t i = 0; i < g->of_scope[begin].n; i++) {
    struct nsr_track *t = track_in(g, begin, i);
    int64_t far = farthest(g, t);
    NSR_TRY(collect(g, t, (struct part){t->layers.n - 1, 0, t->count}, far,
                    &in_scope(g, begin, i)->behind, &g->near));
    NSR_TRY(renew(g, &g->near));
    for (size_t k = 0; k < g->near.l.n; k++)
      NSR_TRY(nsr_sight_settle(g->x, g->near.l.v[k].view));
    NSR_TRY(pop(g, t, &g->near, t->count - top(t)->count));
  }
  return NSR_OK;
}

/* ---- what everyone knows */

/* Whether someone of these engines would learn from it. */
static enum nsr_status teaches(struct nsr_told *g, const struct nsr_tell *t,
                               uint32_t engines, bool *out) {
  *out = false;
  if (t->slot == NSR_NONE)
    NSR_TRY(renewed(g, t));
  for (int e = 0; engines >> e && !*out; e++) {
    const struct nsr_sight *row = engines >> e & 1 ? g->knows[e] : NULL;
    if (row && t->slot != NSR_NONE)
      *out = nsr_sight_level(g->x, row, t->slot) > 0;
    else if (row)
      NSR_TRY(nsr_sight_less(g->x, g->tmp, row, out));
  }
  return NSR_OK;
}

/* Of a track's lowest layer, those that teach what is asked. */
static enum nsr_status teaching(struct nsr_told *g, const struct nsr_track *t,
                                const struct nsr_asks *asks,
                                struct nsr_tells *out) {
  for (size_t i = 0, n; i < asks->v.n; i = n) {
    const struct nsr_tell *x =
        look_up(t, 0, 0, t->count, asks->v.v[i].distance);
    uint32_t engines = 0;
    bool any;
    if (!x)
      return NSR_OK;
    for (n = i; n < asks->v.n && asks->v.v[n].distance <= t->count - x->at; n++)
      engines |= asks->v.v[n].engines;
    NSR_TRY(teaches(g, x, engines, &any));
    if (any)
      NSR_TRY(push(g, out, x->at, x));
  }
  return NSR_OK;
}

/* Who asks knows on all ways on from here what was known here; so that nothing
 * need be told in its place, but for what has not issued yet. */
static enum nsr_status shorten(struct nsr_told *g, struct nsr_track *t,
                               const struct nsr_asks *asks) {
  struct nsr_tell nothing = {-NOTHING, NSR_NONE, g->nothing};
  struct nsr_layer *l = top(t);
  NSR_TRY(teaching(g, t, asks, &g->near));
  for (size_t k = l->base; k < t->v.l.n; k++)
    nsr_sight_free(g->x, &t->v.l.v[k].view);
  t->v.l.n = l->base = 0;
  NSR_TRY(push(g, &t->v, -NOTHING, &nothing));
  for (size_t i = g->near.l.n; i-- > 0;)
    NSR_TRY(push(g, &t->v, g->near.l.v[i].at, &g->near.l.v[i]));
  nsr_told_clear(g, &g->near);
  return NSR_OK;
}

enum nsr_status nsr_told_shorten(struct nsr_told *g, uint32_t begin) {
  if (!g->asked || !g->of_scope[begin].n)
    return NSR_OK;
  nsr_sight_free(g->x, &g->nothing);
  NSR_TRY(nsr_sight_new(g->x, &g->nothing));
  NSR_TRY(nsr_sight_renew(g->x, g->nothing));
  for (uint32_t i = 0; i < g->of_scope[begin].n; i++)
    NSR_TRY(shorten(g, track_in(g, begin, i), &in_scope(g, begin, i)->front));
  return NSR_OK;
}
