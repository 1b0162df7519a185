/* told_init.c - which tracks there are, and which waits look at them.
 */
#include "prove/told.h"

/* ---- what waits tell */

static enum nsr_status add_by(struct nsr_told *g, uint32_t wait, uint32_t track,
                              int64_t lag) {
  NSR_PUSH(g->x->ctx, NSR_SCRATCH, &g->by, ((struct nsr_told_by){track, lag}));
  g->of_wait[wait].n++;
  return NSR_OK;
}

/* Whether all but the last `lag` of what the semaphore counts have retired
 * behind a wait: a choice of which neither is sure covers nothing. */
static bool is_lag(const struct nsr_wait_found *w) {
  return w->kind == NSR_WAIT_LAG ||
         (w->kind == NSR_WAIT_CHOICE && w->within == NSR_NONE && w->n > 0);
}

/* Another threshold tells what it covers. */
static enum nsr_status read_wait(struct nsr_told *g,
                                 const struct nsr_thresholds *t, uint32_t i) {
  const struct nsr_score *s = g->x->s;
  uint32_t wait = t->wait_of[i], group = s->steps[i].group;
  const struct nsr_wait_found *w = &t->waits[wait];
  g->of_wait[wait].first = (uint32_t)g->by.n;
  if (is_lag(w))
    return w->lag >= 0 && s->groups[group].channel >= 0
               ? add_by(g, wait, group, w->lag)
               : NSR_OK;
  for (uint32_t k = 0; k < w->n; k++) {
    const struct nsr_cover *c = &t->covers.v[w->first + k];
    uint32_t *own = &g->own[c->member];
    if (*own == NSR_NONE)
      *own = g->ntracks++;
    NSR_TRY(add_by(g, wait, *own, c->age));
  }
  return NSR_OK;
}

static enum nsr_status read_waits(struct nsr_told *g,
                                  const struct nsr_thresholds *t) {
  const struct nsr_score *s = g->x->s;
  NSR_NEW(g->x->ctx, NSR_SCRATCH, g->own, s->nmembers);
  NSR_NEW(g->x->ctx, NSR_SCRATCH, g->of_wait, s->nwaits);
  for (uint32_t m = 0; m < s->nmembers; m++)
    g->own[m] = NSR_NONE;
  for (uint32_t i = 0; i < s->nsteps; i++)
    if (s->steps[i].kind == NSR_STEP_WAIT)
      NSR_TRY(read_wait(g, t, i));
  return NSR_OK;
}

/* Backwards, so that only what reaches farther than all later ones counts. */
static enum nsr_status find_reach(struct nsr_told *g,
                                  const struct nsr_thresholds *t) {
  const struct nsr_score *s = g->x->s;
  for (uint32_t i = s->nsteps; i-- > 0;) {
    uint32_t w = s->steps[i].kind == NSR_STEP_WAIT ? t->wait_of[i] : NSR_NONE;
    for (uint32_t k = 0; w != NSR_NONE && k < g->of_wait[w].n; k++) {
      const struct nsr_told_by *by = &g->by.v[g->of_wait[w].first + k];
      struct nsr_track *track = &g->tracks[by->track];
      size_t n = track->reach.n;
      if (n == 0 || track->reach.v[n - 1].most < by->lag)
        NSR_PUSH(g->x->ctx, NSR_SCRATCH, &track->reach,
                 ((struct nsr_reach){i, by->lag}));
    }
  }
  return NSR_OK;
}

/* ---- which scopes they have members in */

static enum nsr_status add_in(struct nsr_told *g, uint32_t begin,
                              uint32_t track, int64_t weight, uint32_t *at) {
  struct nsr_told_run *run = &g->of_scope[begin];
  if (track == NSR_NONE || !g->tracks[track].reach.n)
    return NSR_OK;
  if (at[track] < run->first || at[track] >= g->in.n ||
      g->in.v[at[track]].track != track) {
    at[track] = (uint32_t)g->in.n;
    NSR_PUSH(g->x->ctx, NSR_SCRATCH, &g->in,
             ((struct nsr_told_in){.track = track}));
    run->n++;
  }
  g->in.v[at[track]].weight += weight;
  return NSR_OK;
}

/* The tracks of a scope: those with members in one that is or encloses it. */
static enum nsr_status find_in(struct nsr_told *g, uint32_t begin,
                               uint32_t around, uint32_t *at) {
  const struct nsr_score *s = g->x->s;
  uint32_t end = s->steps[s->steps[around].end].member;
  g->of_scope[begin].first = (uint32_t)g->in.n;
  for (uint32_t m = s->steps[around].member; m < end; m++) {
    const struct nsr_step *x = &s->steps[s->members[m]];
    NSR_TRY(add_in(g, begin, x->group, x->value, at));
    NSR_TRY(add_in(g, begin, g->own[m], 1, at));
  }
  return NSR_OK;
}

/* An arm behind which nothing follows in its loop's body has all that this has:
 * where it is passed by, what was told in front of it holds as of there. */
static enum nsr_status find_scopes(struct nsr_told *g) {
  const struct nsr_score *s = g->x->s;
  NSR_VEC(uint32_t) loops = {0};
  uint32_t *at;
  NSR_NEW(g->x->ctx, NSR_SCRATCH, at, g->ntracks);
  NSR_NEW(g->x->ctx, NSR_SCRATCH, g->of_scope, s->nsteps);
  for (uint32_t i = 0; i < s->nsteps; i++) {
    const struct nsr_step *x = &s->steps[i];
    loops.n -=
        x->kind == NSR_STEP_END && s->steps[x->end].kind == NSR_STEP_LOOP;
    if (x->kind == NSR_STEP_LOOP)
      NSR_PUSH(g->x->ctx, NSR_SCRATCH, &loops, i);
    else if (x->kind != NSR_STEP_ARM)
      continue;
    bool last = loops.n && s->to_end[x->work];
    NSR_TRY(find_in(g, i, last ? loops.v[loops.n - 1] : i, at));
  }
  return NSR_OK;
}

/* How many iterations of the loop around it a wait looks back, if not farther
 * than levels go: it then is for what came before the loop. */
static int64_t age_of(const struct nsr_told *g, uint32_t loop,
                      const struct nsr_told_by *by) {
  const struct nsr_told_run *run = &g->of_scope[loop];
  for (uint32_t i = 0; i < run->n; i++) {
    const struct nsr_told_in *in = &g->in.v[run->first + i];
    int64_t age = in->track == by->track ? by->lag / in->weight : 0;
    if (age > 0)
      return age < NSR_LEVEL_ANY ? age : 0;
  }
  return 0;
}

static enum nsr_status find_ages(struct nsr_told *g,
                                 const struct nsr_thresholds *t) {
  const struct nsr_score *s = g->x->s;
  NSR_VEC(uint32_t) loops = {0};
  NSR_NEW(g->x->ctx, NSR_SCRATCH, g->ages, g->x->nwindows);
  for (uint32_t i = 0, window = 0; i < s->nsteps; i++) {
    const struct nsr_step *x = &s->steps[i];
    window += i == g->x->window_steps[window + 1];
    if (x->kind == NSR_STEP_LOOP)
      NSR_PUSH(g->x->ctx, NSR_SCRATCH, &loops, i);
    loops.n -=
        x->kind == NSR_STEP_END && s->steps[x->end].kind == NSR_STEP_LOOP;
    uint32_t w = x->kind == NSR_STEP_WAIT ? t->wait_of[i] : NSR_NONE;
    for (uint32_t k = 0; loops.n && w != NSR_NONE && k < g->of_wait[w].n; k++) {
      int64_t age =
          age_of(g, loops.v[loops.n - 1], &g->by.v[g->of_wait[w].first + k]);
      if (age > g->ages[window])
        g->ages[window] = (uint8_t)age;
    }
  }
  return NSR_OK;
}

/* At first it tells, at any distance, what follows from nothing. */
static enum nsr_status open_track(struct nsr_told *g, struct nsr_track *t) {
  struct nsr_tell nothing = {-NSR_TOLD_NOTHING, NSR_NONE, NULL};
  NSR_PUSH(g->x->ctx, NSR_SCRATCH, &t->layers,
           ((struct nsr_layer){.begin = NSR_NONE}));
  NSR_TRY(nsr_sight_new(g->x, &nothing.view));
  if (g->most)
    nsr_sight_nothing(g->x, nothing.view);
  NSR_PUSH(g->x->ctx, NSR_SCRATCH, &t->v.l, nothing);
  return NSR_OK;
}

enum nsr_status nsr_told_init(struct nsr_ctx *ctx, const struct nsr_score *s,
                              const struct nsr_thresholds *t,
                              struct nsr_sights *x, bool most,
                              struct nsr_told *out) {
  *out = (struct nsr_told){
      .x = x, .most = most, .ntracks = s->ngroups, .wait_of = t->wait_of};
  NSR_NEW(ctx, NSR_SCRATCH, out->swap, x->nch);
  NSR_TRY(read_waits(out, t));
  NSR_NEW(ctx, NSR_SCRATCH, out->tracks, out->ntracks);
  for (uint32_t i = 0; i < out->ntracks; i++)
    NSR_TRY(open_track(out, &out->tracks[i]));
  NSR_TRY(find_reach(out, t));
  NSR_TRY(find_scopes(out));
  NSR_TRY(find_ages(out, t));
  return nsr_sight_new(x, &out->tmp);
}
