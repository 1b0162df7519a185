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

/* ---- windows */

/* Steps of a window, at least, if it does not end with the score. */
enum { WINDOW = 128 };

/* An item that begins at a step ends in front of this one. */
static uint32_t item_end(const struct nsr_score *s, uint32_t i) {
  uint8_t kind = s->steps[i].kind;
  bool scope = kind == NSR_STEP_LOOP || kind == NSR_STEP_ARM;
  return scope ? s->steps[i].end + 1 : i + 1;
}

static uint32_t window_end(const struct nsr_score *s, uint32_t first) {
  uint32_t end = first;
  while (end < s->nsteps && end - first < WINDOW)
    end = item_end(s, end);
  return end;
}

static struct nsr_window *window_of(const struct nsr_sights *x, uint32_t window,
                                    uint32_t c) {
  return &x->windows[(size_t)window * x->nch + c];
}

/* Of a window that begins with x->now. */
static void set_window(struct nsr_sights *x, uint32_t w) {
  const struct nsr_score *s = x->s;
  for (uint32_t c = 0; c < x->nch; c++)
    window_of(x, w, c)->first = x->now[c];
  for (uint32_t i = x->window_steps[w]; i < x->window_steps[w + 1]; i++)
    if (has_slot(&s->steps[i]))
      x->now[s->steps[i].channel]++;
  for (uint32_t c = 0; c < x->nch; c++) {
    struct nsr_window *win = window_of(x, w, c);
    uint32_t place = win->first - x->base[c];
    win->end = x->now[c];
    win->base = x->base[c] + place / NSR_LEVEL_PLACES * NSR_LEVEL_PLACES;
    win->height = nsr_levels_height(win->end - win->base);
  }
}

static enum nsr_status find_windows(struct nsr_sights *x) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < x->s->nsteps; i = window_end(x->s, i))
    n++;
  x->nwindows = n;
  NSR_NEW(x->ctx, NSR_SCRATCH, x->window_steps, (size_t)n + 1);
  NSR_NEW(x->ctx, NSR_SCRATCH, x->windows, ((size_t)n + 1) * x->nch);
  NSR_NEW(x->ctx, NSR_SCRATCH, x->most, (size_t)n + 1);
  memset(x->most, NSR_LEVEL_ANY - 1, (size_t)n + 1);
  memcpy(x->now, x->base, x->nch * sizeof *x->now);
  for (uint32_t w = 0; w < n; w++) {
    x->window_steps[w + 1] = window_end(x->s, x->window_steps[w]);
    set_window(x, w);
  }
  return NSR_OK;
}

void nsr_sights_begin_item(struct nsr_sights *x, uint32_t step) {
  if (step < x->window_steps[x->window + 1])
    return;
  for (uint32_t i = x->window_steps[x->window]; i < step; i++)
    x->first_loop += x->s->steps[i].kind == NSR_STEP_LOOP;
  uint32_t to = x->window;
  while (step >= x->window_steps[to + 1])
    to++;
  nsr_sights_go_to(x, to);
}

/* ---- other slots */

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
  NSR_TRY(find_windows(out));
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
    for (uint32_t c = 0; x->views.v[i]->refs && c < x->nch; c++) {
      nsr_levels_mark(l, x->views.v[i]->of[c].past);
      nsr_levels_mark(l, x->views.v[i]->of[c].levels);
    }
  for (size_t i = (size_t)x->first_loop * x->nch;
       i < (size_t)x->nloops * x->nch; i++)
    if (x->once[i] != NSR_NO_LEVELS)
      nsr_levels_mark(l, x->once[i]);
  nsr_levels_sweep(l);
}

void nsr_sight_clear(const struct nsr_sights *x, struct nsr_sight *v) {
  for (uint32_t c = 0; c < x->nch; c++)
    v->of[c].past = v->of[c].levels = 0;
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
  (*out)->step = (*out)->window = 0;
  for (uint32_t c = 0; c < x->nch; c++)
    (*out)->of[c] = (struct nsr_sight_part){0, 0, x->base[c]};
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
  to->window = from->window;
  memcpy(to->of, from->of, x->nch * sizeof *to->of);
}

void nsr_sight_stamp(struct nsr_sights *x, struct nsr_sight *v) {
  v->step = x->step;
  for (uint32_t c = 0; c < x->nch; c++)
    v->of[c].at = x->now[c];
}

/* ---- levels */

static enum nsr_status set(uint32_t *to, uint32_t levels) {
  if (levels == NSR_NO_LEVELS)
    return NSR_E_NOMEM;
  *to = levels;
  return NSR_OK;
}

enum nsr_status nsr_sight_merge(struct nsr_sights *x, struct nsr_sight *a,
                                const struct nsr_sight *b, bool least,
                                bool *changed) {
  enum nsr_level_op op = least ? NSR_LEVEL_LEAST : NSR_LEVEL_MOST;
  tidy(x);
  for (uint32_t c = 0; c < x->nch; c++) {
    struct nsr_sight_part *part = &a->of[c], old = *part;
    const struct nsr_sight_part *with = &b->of[c];
    if (old.past != with->past)
      NSR_TRY(set(&part->past, nsr_levels_join(&x->levels, x->height[c], op,
                                               old.past, with->past)));
    if (old.levels != with->levels)
      NSR_TRY(
          set(&part->levels,
              nsr_levels_join(&x->levels, window_of(x, x->window, c)->height,
                              op, old.levels, with->levels)));
    if (changed)
      *changed |= part->past != old.past || part->levels != old.levels;
  }
  return NSR_OK;
}

/* Whether levels that differ are not all above these. */
static enum nsr_status is_less(struct nsr_sights *x, uint8_t height, uint32_t a,
                               uint32_t b, bool *out) {
  uint32_t most = b;
  if (a != b)
    NSR_TRY(
        set(&most, nsr_levels_join(&x->levels, height, NSR_LEVEL_MOST, a, b)));
  *out |= a != b && most != a;
  return NSR_OK;
}

enum nsr_status nsr_sight_less(struct nsr_sights *x, const struct nsr_sight *a,
                               const struct nsr_sight *b, bool *out) {
  *out = false;
  for (uint32_t c = 0; c < x->nch && !*out; c++) {
    const struct nsr_sight_part *p = &a->of[c], *q = &b->of[c];
    NSR_TRY(is_less(x, x->height[c], p->past, q->past, out));
    NSR_TRY(is_less(x, window_of(x, x->window, c)->height, p->levels, q->levels,
                    out));
  }
  return NSR_OK;
}

static uint32_t channel_of(const struct nsr_sights *x, uint32_t slot) {
  return (uint32_t)x->s->steps[x->step_of[slot]].channel;
}

enum nsr_status nsr_sight_learn(struct nsr_sights *x, struct nsr_sight *v,
                                uint32_t slot) {
  uint32_t channel = channel_of(x, slot);
  const struct nsr_window *w = window_of(x, x->window, channel);
  uint32_t *levels = &v->of[channel].levels, place = slot - w->base;
  return set(levels, nsr_levels_set(&x->levels, w->height, *levels, place,
                                    place + 1, 0));
}

uint32_t nsr_sight_level(const struct nsr_sights *x, const struct nsr_sight *v,
                         uint32_t slot) {
  uint32_t channel = channel_of(x, slot);
  const struct nsr_sight_part *part = &v->of[channel];
  const struct nsr_window *w = window_of(x, v->window, channel);
  uint32_t level =
      slot < w->first
          ? nsr_levels_at(&x->levels, x->height[channel], part->past,
                          slot - x->base[channel])
          : nsr_levels_at(&x->levels, w->height, part->levels, slot - w->base);
  return level < NSR_LEVEL_ANY ? level / x->unit[slot] : level;
}

uint32_t nsr_sight_next(const struct nsr_sights *x, const struct nsr_sight *v,
                        uint32_t channel, uint32_t slot) {
  const struct nsr_window *w = window_of(x, v->window, channel);
  uint32_t place = w->first - x->base[channel];
  if (slot < w->first)
    place = nsr_levels_next(&x->levels, x->height[channel], v->of[channel].past,
                            slot - x->base[channel]);
  if (place < w->first - x->base[channel])
    return x->base[channel] + place;
  slot = slot < w->first ? w->first : slot;
  place = nsr_levels_next(&x->levels, w->height, v->of[channel].levels,
                          slot - w->base);
  return place == UINT32_MAX ? place : w->base + place;
}

void nsr_sight_nothing(const struct nsr_sights *x, struct nsr_sight *v) {
  v->step = x->step;
  v->window = x->window;
  for (uint32_t c = 0; c < x->nch; c++)
    v->of[c] = (struct nsr_sight_part){NSR_LEVEL_ANY, NSR_LEVEL_ANY, x->now[c]};
}

enum nsr_status nsr_sight_settle(struct nsr_sights *x, struct nsr_sight *v) {
  tidy(x);
  for (uint32_t c = 0; c < x->nch; c++)
    NSR_TRY(set(&v->of[c].levels,
                nsr_levels_join(&x->levels, window_of(x, v->window, c)->height,
                                NSR_LEVEL_SETTLE, v->of[c].levels, 0)));
  return NSR_OK;
}

/* What it says of its own window becomes past, as does what has issued between
 * that and this one: each once, if at all. */
static enum nsr_status enter_window(struct nsr_sights *x, struct nsr_sight *v) {
  struct nsr_levels *l = &x->levels;
  if (v->window == x->window)
    return NSR_OK;
  NSR_TRY(nsr_sight_settle(x, v));
  for (uint32_t c = 0; c < x->nch; c++) {
    const struct nsr_window *w = window_of(x, v->window, c);
    struct nsr_sight_part *part = &v->of[c];
    uint32_t base = x->base[c], first = window_of(x, x->window, c)->first;
    NSR_TRY(set(&part->past,
                nsr_levels_move(l, x->height[c], part->past, w->first - base,
                                w->end - base, part->levels)));
    part->levels = 0;
    if (part->at >= first)
      continue;
    NSR_TRY(set(&part->past,
                nsr_levels_set(l, x->height[c], part->past, part->at - base,
                               first - base, NSR_LEVEL_ANY)));
    part->at = first;
  }
  v->window = x->window;
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
  const struct nsr_window *w = window_of(x, x->window, c);
  uint32_t levels = 0;
  for (uint32_t lo = first[c], end = first[x->nch + c], hi; lo < end; lo = hi) {
    hi = x->run_end[lo] < end ? x->run_end[lo] : end;
    uint32_t level = NSR_LEVEL_ANY;
    if (x->loop_of[lo] == loop) {
      level = x->unit[lo];
      for (end = hi, hi = lo + 1; hi < end && x->unit[hi] == level; hi++)
        ;
      end = first[x->nch + c];
    }
    levels = nsr_levels_set(&x->levels, w->height, levels, lo - w->base,
                            hi - w->base, level);
    if (levels == NSR_NO_LEVELS)
      return levels;
  }
  return *once = levels;
}

/* Slots lo..hi-1 have issued: once through this loop. What no loop is around
 * issues once in all, so that how often does not matter. */
static uint32_t issued(struct nsr_sights *x, uint32_t c, uint32_t levels,
                       uint32_t lo, uint32_t hi, uint32_t loop) {
  const struct nsr_window *w = window_of(x, x->window, c);
  uint32_t once;
  if (!loop)
    return nsr_levels_set(&x->levels, w->height, levels, lo - w->base,
                          hi - w->base, NSR_LEVEL_ANY);
  once = once_through(x, loop, c);
  if (once == NSR_NO_LEVELS)
    return once;
  return nsr_levels_add(&x->levels, w->height, levels, lo - w->base,
                        hi - w->base, once);
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
  NSR_TRY(enter_window(x, v));
  for (uint32_t c = 0; c < x->nch; c++) {
    struct nsr_sight_part *part = &v->of[c];
    uint32_t front = loop ? loop->first[c] : x->now[c];
    if (part->at < front)
      NSR_TRY(set(&part->levels,
                  issued(x, c, part->levels, part->at, front, outside)));
    if (loop && loop->first[c] < loop->end[c])
      NSR_TRY(set(&part->levels,
                  issued(x, c, part->levels, loop->first[c], loop->end[c], 0)));
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
