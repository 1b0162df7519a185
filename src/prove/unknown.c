/* unknown.c - runs of levels, and how they age. */
#include "prove/unknown.h"

#include <string.h>

#include "base/work.h"

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
  NSR_NEW(x->ctx, NSR_SCRATCH, x->step_of, x->nslots);
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

/* The slots of each loop, and the loop of each slot. */
static enum nsr_status number_loops(struct nsr_sights *x) {
  const struct nsr_score *s = x->s;
  NSR_VEC(uint32_t) open = {0};
  uint32_t n = 0;
  for (uint32_t i = 0; i < s->nsteps; i++)
    n += s->steps[i].kind == NSR_STEP_LOOP;
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
  *out = (struct nsr_sights){.ctx = ctx,
                             .s = s,
                             .nch = (uint32_t)nsr_nchannels(s->program->k),
                             .most = NSR_LEVEL_ANY - 1};
  NSR_TRY(number_slots(out));
  NSR_TRY(number_loops(out));
  out->views = (struct nsr_pieces){.ctx = ctx,
                                   .arena = NSR_SCRATCH,
                                   .size = sizeof(struct nsr_sight) +
                                           out->nch * sizeof(uint32_t)};
  return NSR_OK;
}

/* ---- storage */

static int class_of(uint32_t n) {
  int c = 2;
  while ((UINT32_C(1) << c) < n)
    c++;
  return c;
}

static void give_runs(struct nsr_sights *x, struct nsr_sight *v) {
  if (!v->cap)
    return;
  int c = class_of(v->cap);
  *(void **)v->v = x->spare[c];
  x->spare[c] = v->v;
  v->v = NULL;
  v->cap = 0;
}

static enum nsr_status reserve(struct nsr_sights *x, struct nsr_sight *v,
                               uint32_t n) {
  if (v->cap >= n)
    return NSR_OK;
  int c = class_of(n);
  give_runs(x, v);
  if (x->spare[c]) {
    v->v = x->spare[c];
    x->spare[c] = *(void **)v->v;
  } else {
    NSR_NEW(x->ctx, NSR_SCRATCH, v->v, (size_t)1 << c);
  }
  v->cap = UINT32_C(1) << c;
  return NSR_OK;
}

static enum nsr_status set_runs(struct nsr_sights *x, struct nsr_sight *v,
                                const struct nsr_level_run *runs, uint32_t n) {
  NSR_TRY(reserve(x, v, n));
  memcpy(v->v, runs, n * sizeof *runs);
  v->n = n;
  nsr_work_count(x->ctx, NSR_WORK_PROVE, n);
  return NSR_OK;
}

enum nsr_status nsr_sight_clear(struct nsr_sights *x, struct nsr_sight *v) {
  const struct nsr_level_run none = {0, 0};
  return set_runs(x, v, &none, 1);
}

enum nsr_status nsr_sight_new(struct nsr_sights *x, struct nsr_sight **out) {
  NSR_TAKE(&x->views, *out);
  memset(*out, 0, sizeof **out);
  (*out)->refs = 1;
  memcpy((*out)->at, x->base, x->nch * sizeof *x->base);
  return nsr_sight_clear(x, *out);
}

void nsr_sight_free(struct nsr_sights *x, struct nsr_sight **v) {
  struct nsr_sight *old = *v;
  *v = NULL;
  if (!old || --old->refs)
    return;
  give_runs(x, old);
  nsr_piece_give(&x->views, old);
}

enum nsr_status nsr_sight_own(struct nsr_sights *x, struct nsr_sight **v) {
  struct nsr_sight *old = *v;
  if (old->refs == 1)
    return NSR_OK;
  NSR_TRY(nsr_sight_new(x, v));
  old->refs--;
  return nsr_sight_copy(x, *v, old);
}

enum nsr_status nsr_sight_copy(struct nsr_sights *x, struct nsr_sight *to,
                               const struct nsr_sight *from) {
  to->step = from->step;
  memcpy(to->at, from->at, x->nch * sizeof *to->at);
  return set_runs(x, to, from->v, from->n);
}

void nsr_sight_stamp(struct nsr_sights *x, struct nsr_sight *v) {
  v->step = x->step;
  memcpy(v->at, x->now, x->nch * sizeof *v->at);
}

/* ---- runs */

static enum nsr_status push(struct nsr_sights *x, uint32_t slot,
                            uint32_t level) {
  if (x->made.n && x->made.v[x->made.n - 1].level == level)
    return NSR_OK;
  NSR_PUSH(x->ctx, NSR_SCRATCH, &x->made, (struct nsr_level_run){slot, level});
  return NSR_OK;
}

enum zip { LEAST, MOST, SUM };

static uint32_t combine(const struct nsr_sights *x, enum zip op, uint32_t a,
                        uint32_t b) {
  if (op == LEAST)
    return a < b ? a : b;
  if (op == MOST)
    return a > b ? a : b;
  return a + b <= x->most ? a + b : NSR_LEVEL_ANY;
}

/* made = a op b, level by level. */
static enum nsr_status zip(struct nsr_sights *x, const struct nsr_level_run *a,
                           uint32_t na, const struct nsr_level_run *b,
                           uint32_t nb, enum zip op) {
  x->made.n = 0;
  x->effort += na + nb;
  nsr_work_count(x->ctx, NSR_WORK_PROVE, na + nb);
  for (uint32_t i = 0, j = 0, slot = 0; slot < UINT32_MAX;) {
    NSR_TRY(push(x, slot, combine(x, op, a[i].level, b[j].level)));
    uint32_t ea = i + 1 < na ? a[i + 1].slot : UINT32_MAX;
    uint32_t eb = j + 1 < nb ? b[j + 1].slot : UINT32_MAX;
    slot = ea < eb ? ea : eb;
    i += ea == slot && slot < UINT32_MAX;
    j += eb == slot && slot < UINT32_MAX;
  }
  return NSR_OK;
}

static bool same_runs(const struct nsr_sights *x, const struct nsr_sight *v) {
  return x->made.n == v->n && memcmp(x->made.v, v->v, v->n * sizeof *v->v) == 0;
}

enum nsr_status nsr_sight_merge(struct nsr_sights *x, struct nsr_sight *a,
                                const struct nsr_sight *b, bool least,
                                bool *changed) {
  NSR_TRY(zip(x, a->v, a->n, b->v, b->n, least ? LEAST : MOST));
  bool same = same_runs(x, a);
  if (changed)
    *changed |= !same;
  return same ? NSR_OK : set_runs(x, a, x->made.v, (uint32_t)x->made.n);
}

static enum nsr_status push_delta(struct nsr_sights *x, uint32_t slot,
                                  uint32_t level) {
  size_t n = x->delta.n;
  if (n && x->delta.v[n - 1].slot == slot)
    x->delta.v[--x->delta.n].level = level;
  n = x->delta.n;
  if (n && x->delta.v[n - 1].level == level)
    return NSR_OK;
  NSR_PUSH(x->ctx, NSR_SCRATCH, &x->delta, (struct nsr_level_run){slot, level});
  return NSR_OK;
}

enum nsr_status nsr_sight_learn(struct nsr_sights *x, struct nsr_sight *v,
                                uint32_t lo, uint32_t hi) {
  x->delta.n = 0;
  if (lo >= hi)
    return NSR_OK;
  NSR_TRY(push_delta(x, 0, NSR_LEVEL_ANY));
  NSR_TRY(push_delta(x, lo, 0));
  if (hi < x->nslots)
    NSR_TRY(push_delta(x, hi, NSR_LEVEL_ANY));
  NSR_TRY(zip(x, v->v, v->n, x->delta.v, (uint32_t)x->delta.n, LEAST));
  return set_runs(x, v, x->made.v, (uint32_t)x->made.n);
}

uint32_t nsr_sight_run(const struct nsr_sight *v, uint32_t slot) {
  uint32_t lo = 0, hi = v->n;
  while (hi - lo > 1) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (v->v[mid].slot <= slot)
      lo = mid;
    else
      hi = mid;
  }
  return lo;
}

uint32_t nsr_sight_level(const struct nsr_sight *v, uint32_t slot) {
  return v->v[nsr_sight_run(v, slot)].level;
}

/* ---- ageing */

/* Slots lo..hi-1 have issued: once those of this loop, any number of times
 * those of loops in it. What no loop is around issues once in all, so that how
 * often does not matter. */
static enum nsr_status issued(struct nsr_sights *x, uint32_t lo, uint32_t hi,
                              uint32_t loop) {
  if (!loop && lo < hi) {
    NSR_TRY(push_delta(x, lo, NSR_LEVEL_ANY));
    return push_delta(x, hi, 0);
  }
  while (lo < hi) {
    uint32_t end = x->run_end[lo] < hi ? x->run_end[lo] : hi;
    NSR_TRY(push_delta(x, lo, x->loop_of[lo] == loop ? 1 : NSR_LEVEL_ANY));
    lo = end;
  }
  return push_delta(x, hi, 0);
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
  x->delta.n = 0;
  NSR_TRY(push_delta(x, 0, 0));
  for (uint32_t c = 0; c < x->nch; c++) {
    uint32_t front = loop ? loop->first[c] : x->now[c];
    if (v->at[c] < front)
      NSR_TRY(issued(x, v->at[c], front, outside));
    if (loop && loop->first[c] < loop->end[c]) {
      NSR_TRY(push_delta(x, loop->first[c], NSR_LEVEL_ANY));
      NSR_TRY(push_delta(x, loop->end[c], 0));
    }
  }
  if (x->delta.n == 1)
    return NSR_OK;
  NSR_TRY(zip(x, v->v, v->n, x->delta.v, (uint32_t)x->delta.n, SUM));
  return set_runs(x, v, x->made.v, (uint32_t)x->made.n);
}

enum nsr_status nsr_sight_renew(struct nsr_sights *x, struct nsr_sight *v) {
  if (v->step != x->step || memcmp(v->at, x->now, x->nch * sizeof *v->at) != 0)
    NSR_TRY(add_issued(x, v));
  nsr_sight_stamp(x, v);
  return NSR_OK;
}

enum nsr_status nsr_sight_nothing(struct nsr_sights *x, struct nsr_sight *v) {
  const struct nsr_level_run all = {0, NSR_LEVEL_ANY};
  nsr_sight_stamp(x, v);
  return set_runs(x, v, &all, 1);
}

enum nsr_status nsr_sight_settle(struct nsr_sights *x, struct nsr_sight *v) {
  x->made.n = 0;
  for (uint32_t i = 0; i < v->n; i++)
    NSR_TRY(push(x, v->v[i].slot, v->v[i].level ? NSR_LEVEL_ANY : 0));
  return x->made.n == v->n ? NSR_OK
                           : set_runs(x, v, x->made.v, (uint32_t)x->made.n);
}
