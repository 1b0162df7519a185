/* unknown.c - views, and how they age. */
#include "prove/unknown.h"

#include <string.h>

/* ---- slots */

static bool has_slot(const struct nsr_step *s) {
  return s->kind == NSR_STEP_WORK && !s->island;
}

static enum nsr_status number_slots(struct nsr_sights *x) {
  const struct nsr_score *s = x->s;
  NSR_NEW(x->ctx, NSR_SCRATCH, x->slot, s->nsteps);
  NSR_NEW(x->ctx, NSR_SCRATCH, x->base, (size_t)x->nch + 1);
  NSR_NEW(x->ctx, NSR_SCRATCH, x->now, x->nch);
  for (uint32_t i = 0; i < s->nsteps; i++)
    if (has_slot(&s->steps[i]))
      x->base[s->steps[i].channel + 1]++;
  for (uint32_t c = 0; c < x->nch; c++) {
    x->base[c + 1] += x->base[c];
    x->now[c] = x->base[c];
  }
  x->nslots = x->base[x->nch];
  NSR_NEW(x->ctx, NSR_SCRATCH, x->height, x->nch);
  for (uint32_t c = 0; c < x->nch; c++)
    x->height[c] = nsr_levels_height(x->base[c + 1] - x->base[c]);
  NSR_NEW(x->ctx, NSR_SCRATCH, x->step_of, x->nslots);
  NSR_NEW(x->ctx, NSR_SCRATCH, x->unit, x->nslots);
  memset(x->unit, 1, x->nslots);
  for (uint32_t i = 0; i < s->nsteps; i++)
    if (has_slot(&s->steps[i])) {
      x->slot[i] = x->now[s->steps[i].channel]++;
      x->step_of[x->slot[i]] = i;
    }
  return NSR_OK;
}

static void keep_slots(const struct nsr_sights *x, uint32_t *to) {
  memcpy(to, x->now, x->nch * sizeof *to);
}

static enum nsr_status number_barriers(struct nsr_sights *x) {
  const struct nsr_score *s = x->s;
  uint32_t n = 0;
  for (uint32_t i = 0; i < s->nsteps; i++)
    if (s->steps[i].kind == NSR_STEP_BARRIER)
      x->slot[i] = n++;
  NSR_NEW(x->ctx, NSR_SCRATCH, x->barrier_slots, (size_t)n * x->nch);
  return NSR_OK;
}

void nsr_sights_pass_barrier(struct nsr_sights *x, uint32_t step) {
  x->barrier = step + 1;
  keep_slots(x, x->barrier_slots + (size_t)x->slot[step] * x->nch);
}

/* The slots of each loop, and the loop of each slot. */
static enum nsr_status number_loops(struct nsr_sights *x) {
  const struct nsr_score *s = x->s;
  NSR_VEC(uint32_t) open = {0};
  uint32_t n = 0;
  for (uint32_t i = 0; i < s->nsteps; i++)
    n += s->steps[i].kind == NSR_STEP_LOOP;
  x->nloops = n;
  NSR_NEW(x->ctx, NSR_SCRATCH, x->once, (size_t)n * x->nch);
  memset(x->once, 0xff, (size_t)n * x->nch * sizeof *x->once);
  NSR_NEW(x->ctx, NSR_SCRATCH, x->loop_number, s->nsteps);
  NSR_NEW(x->ctx, NSR_SCRATCH, x->loop_slots, (size_t)n * 2 * x->nch);
  NSR_NEW(x->ctx, NSR_SCRATCH, x->loop_of, x->nslots);
  NSR_NEW(x->ctx, NSR_SCRATCH, x->run_end, x->nslots);
  memcpy(x->now, x->base, x->nch * sizeof *x->now);
  n = 0;
  for (uint32_t i = 0; i < s->nsteps; i++) {
    const struct nsr_step *step = &s->steps[i];
    if (step->kind == NSR_STEP_LOOP) {
      x->loop_number[i] = ++n;
      keep_slots(x, x->loop_slots + (size_t)(n - 1) * 2 * x->nch);
      NSR_PUSH(x->ctx, NSR_SCRATCH, &open, n);
    } else if (step->kind == NSR_STEP_END &&
               s->steps[step->end].kind == NSR_STEP_LOOP) {
      uint32_t l = open.v[--open.n] - 1;
      keep_slots(x, x->loop_slots + ((size_t)l * 2 + 1) * x->nch);
    } else if (has_slot(step)) {
      x->loop_of[x->now[step->channel]++] = open.n ? open.v[open.n - 1] : 0;
    }
  }
  for (uint32_t c = 0; c < x->nch; c++)
    for (uint32_t k = x->base[c + 1]; k-- > x->base[c];)
      x->run_end[k] =
          k + 1 < x->base[c + 1] && x->loop_of[k + 1] == x->loop_of[k]
              ? x->run_end[k + 1]
              : k + 1;
  memcpy(x->now, x->base, x->nch * sizeof *x->now);
  return NSR_OK;
}

enum nsr_status nsr_sights_init(struct nsr_ctx *ctx, const struct nsr_score *s,
                                struct nsr_sights *out) {
  *out = (struct nsr_sights){
      .ctx = ctx, .s = s, .nch = (uint32_t)nsr_nchannels(s->program->k)};
  NSR_TRY(number_slots(out));
  NSR_TRY(number_barriers(out));
  NSR_TRY(number_loops(out));
  return nsr_levels_init(ctx, &out->levels);
}

/* ---- storage */

/* Makes room where many levels are no longer in use. */
static void tidy(struct nsr_sights *x) {
  struct nsr_levels *l = &x->levels;
  if (!nsr_levels_full(l))
    return;
  nsr_levels_unmark(l);
  for (size_t i = 0; i < x->views.n; i++)
    for (uint32_t c = 0; x->views.v[i]->refs && c < x->nch; c++)
      nsr_levels_mark(l, x->height[c], x->views.v[i]->of[c].levels);
  for (size_t i = 0; i < (size_t)x->nloops * x->nch; i++)
    if (x->once[i] != NSR_NO_LEVELS)
      nsr_levels_mark(l, x->height[i % x->nch], x->once[i]);
  nsr_levels_sweep(l);
}

void nsr_sight_clear(const struct nsr_sights *x, struct nsr_sight *v) {
  for (uint32_t c = 0; c < x->nch; c++)
    v->of[c].levels = 0;
}

static enum nsr_status take_view(struct nsr_sights *x, struct nsr_sight **out) {
  if (x->spare) {
    *out = x->spare;
    x->spare = x->spare->spare;
  } else {
    *out = nsr_alloc(x->ctx, NSR_SCRATCH,
                     sizeof **out + x->nch * sizeof *(*out)->of);
    if (!*out)
      return NSR_E_NOMEM;
    NSR_PUSH(x->ctx, NSR_SCRATCH, &x->views, *out);
  }
  (*out)->refs = 1;
  return NSR_OK;
}

enum nsr_status nsr_sight_new(struct nsr_sights *x, struct nsr_sight **out) {
  NSR_TRY(take_view(x, out));
  (*out)->step = 0;
  for (uint32_t c = 0; c < x->nch; c++)
    (*out)->of[c] = (struct nsr_sight_part){0, x->base[c]};
  return NSR_OK;
}

void nsr_sight_free(struct nsr_sights *x, struct nsr_sight **v) {
  struct nsr_sight *old = *v;
  *v = NULL;
  if (!old || --old->refs)
    return;
  old->spare = x->spare;
  x->spare = old;
}

enum nsr_status nsr_sight_own(struct nsr_sights *x, struct nsr_sight **v) {
  struct nsr_sight *old = *v;
  if (old->refs == 1)
    return NSR_OK;
  NSR_TRY(take_view(x, v));
  old->refs--;
  nsr_sight_copy(x, *v, old);
  return NSR_OK;
}

void nsr_sight_copy(const struct nsr_sights *x, struct nsr_sight *to,
                    const struct nsr_sight *from) {
  to->step = from->step;
  memcpy(to->of, from->of, x->nch * sizeof *to->of);
}

void nsr_sight_stamp(struct nsr_sights *x, struct nsr_sight *v) {
  v->step = x->step;
  for (uint32_t c = 0; c < x->nch; c++)
    v->of[c].at = x->now[c];
}

/* ---- levels */

static enum nsr_status set_levels(struct nsr_sight *v, uint32_t c,
                                  uint32_t levels) {
  if (levels == NSR_NO_LEVELS)
    return NSR_E_NOMEM;
  v->of[c].levels = levels;
  return NSR_OK;
}

enum nsr_status nsr_sight_merge(struct nsr_sights *x, struct nsr_sight *a,
                                const struct nsr_sight *b, bool least,
                                bool *changed) {
  tidy(x);
  for (uint32_t c = 0; c < x->nch; c++) {
    uint32_t old = a->of[c].levels;
    if (old == b->of[c].levels)
      continue;
    NSR_TRY(set_levels(a, c,
                       nsr_levels_join(&x->levels, x->height[c],
                                       least ? NSR_LEVEL_LEAST : NSR_LEVEL_MOST,
                                       old, b->of[c].levels)));
    if (changed)
      *changed |= a->of[c].levels != old;
  }
  return NSR_OK;
}

static uint32_t channel_of(const struct nsr_sights *x, uint32_t slot) {
  return (uint32_t)x->s->steps[x->step_of[slot]].channel;
}

enum nsr_status nsr_sight_learn(struct nsr_sights *x, struct nsr_sight *v,
                                uint32_t slot) {
  uint32_t channel = channel_of(x, slot);
  uint32_t place = slot - x->base[channel];
  return set_levels(v, channel,
                    nsr_levels_set(&x->levels, x->height[channel],
                                   v->of[channel].levels, place, place + 1, 0));
}

uint32_t nsr_sight_level(const struct nsr_sights *x, const struct nsr_sight *v,
                         uint32_t slot) {
  uint32_t channel = channel_of(x, slot);
  uint32_t level =
      nsr_levels_at(&x->levels, x->height[channel], v->of[channel].levels,
                    slot - x->base[channel]);
  return level < NSR_LEVEL_ANY ? level / x->unit[slot] : level;
}

uint32_t nsr_sight_next(const struct nsr_sights *x, const struct nsr_sight *v,
                        uint32_t channel, uint32_t slot) {
  uint32_t place =
      nsr_levels_next(&x->levels, x->height[channel], v->of[channel].levels,
                      slot - x->base[channel]);
  return place == UINT32_MAX ? place : x->base[channel] + place;
}

void nsr_sight_nothing(const struct nsr_sights *x, struct nsr_sight *v) {
  v->step = x->step;
  for (uint32_t c = 0; c < x->nch; c++)
    v->of[c] = (struct nsr_sight_part){NSR_LEVEL_ANY, x->now[c]};
}

enum nsr_status nsr_sight_settle(struct nsr_sights *x, struct nsr_sight *v) {
  tidy(x);
  for (uint32_t c = 0; c < x->nch; c++)
    NSR_TRY(set_levels(v, c,
                       nsr_levels_join(&x->levels, x->height[c],
                                       NSR_LEVEL_SETTLE, v->of[c].levels, 0)));
  return NSR_OK;
}

/* ---- ageing */

/* What issues of a channel in one iteration of a loop: once all of that loop
 * itself, any number of times what loops in it do. */
static uint32_t once_through(struct nsr_sights *x, uint32_t loop, uint32_t c) {
  const uint32_t *first = x->loop_slots + (size_t)(loop - 1) * 2 * x->nch;
  uint32_t *once = &x->once[(size_t)(loop - 1) * x->nch + c];
  if (*once != NSR_NO_LEVELS)
    return *once;
  uint32_t levels = 0, base = x->base[c];
  for (uint32_t lo = first[c], end = first[x->nch + c], hi; lo < end; lo = hi) {
    hi = x->run_end[lo] < end ? x->run_end[lo] : end;
    uint32_t level = NSR_LEVEL_ANY;
    if (x->loop_of[lo] == loop) {
      level = x->unit[lo];
      for (end = hi, hi = lo + 1; hi < end && x->unit[hi] == level; hi++)
        ;
      end = first[x->nch + c];
    }
    levels = nsr_levels_set(&x->levels, x->height[c], levels, lo - base,
                            hi - base, level);
    if (levels == NSR_NO_LEVELS)
      return levels;
  }
  return *once = levels;
}

/* Slots lo..hi-1 have issued: once through this loop. What no loop is around
 * issues once in all, so that how often does not matter. */
static uint32_t issued(struct nsr_sights *x, uint32_t c, uint32_t levels,
                       uint32_t lo, uint32_t hi, uint32_t loop) {
  uint32_t base = x->base[c], once;
  if (!loop)
    return nsr_levels_set(&x->levels, x->height[c], levels, lo - base,
                          hi - base, NSR_LEVEL_ANY);
  once = once_through(x, loop, c);
  if (once == NSR_NO_LEVELS)
    return once;
  return nsr_levels_add(&x->levels, x->height[c], levels, lo - base, hi - base,
                        once);
}

/* The outermost loop that was entered since a step; NULL: none. */
static const struct nsr_sight_loop *
entered_since(const struct nsr_sights *x, uint32_t step, uint32_t *outside) {
  *outside = 0;
  for (size_t i = 0; i < x->loops.n; i++) {
    if (x->loops.v[i].begin > step)
      return &x->loops.v[i];
    *outside = x->loops.v[i].number;
  }
  return NULL;
}

static enum nsr_status add_issued(struct nsr_sights *x, struct nsr_sight *v) {
  uint32_t outside;
  const struct nsr_sight_loop *loop = entered_since(x, v->step, &outside);
  tidy(x);
  for (uint32_t c = 0; c < x->nch; c++) {
    struct nsr_sight_part *part = &v->of[c];
    uint32_t front = loop ? loop->first[c] : x->now[c];
    if (part->at < front)
      NSR_TRY(set_levels(v, c,
                         issued(x, c, part->levels, part->at, front, outside)));
    if (loop && loop->first[c] < loop->end[c])
      NSR_TRY(set_levels(
          v, c, issued(x, c, part->levels, loop->first[c], loop->end[c], 0)));
  }
  return NSR_OK;
}

/* Of what was in front of a barrier nobody lacks anything. */
static void pass_barrier(const struct nsr_sights *x, struct nsr_sight *v) {
  const uint32_t *at =
      x->barrier_slots + (size_t)x->slot[x->barrier - 1] * x->nch;
  nsr_sight_clear(x, v);
  v->step = x->barrier;
  for (uint32_t c = 0; c < x->nch; c++)
    v->of[c].at = at[c];
}

enum nsr_status nsr_sight_renew(struct nsr_sights *x, struct nsr_sight *v) {
  if (v->step < x->barrier)
    pass_barrier(x, v);
  NSR_TRY(add_issued(x, v));
  nsr_sight_stamp(x, v);
  return NSR_OK;
}
