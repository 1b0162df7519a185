/* clocks.c - vector clocks of a run.
 *
 * Needs the events of one run; makes, for each engine, what it knows to be
 * retired. Theory: a wait `s >= t` on a count that one channel advances holds
 * because of the update that takes it to t, in every schedule. Other waits
 * (odd ones) are credited with everything that happened to have retired in
 * this schedule, and the run says that it speaks for itself only.
 */
#include "judge/clocks.h"

#include <string.h>

static enum nsr_status row_new(struct nsr_clocks *c, uint32_t like,
                               uint32_t *row) {
  uint32_t w = c->width;
  *row = (uint32_t)(c->rows.n / w);
  NSR_RESERVE(c->ctx, c->arena, &c->rows, w);
  memcpy(c->rows.v + c->rows.n, c->rows.v + (size_t)like * w,
         w * sizeof *c->rows.v);
  c->rows.n += w;
  if (c->remember) {
    NSR_RESERVE(c->ctx, c->arena, &c->why, w);
    memcpy(c->why.v + c->why.n, c->why.v + (size_t)like * w,
           w * sizeof *c->why.v);
    c->why.n += w;
  }
  return NSR_OK;
}

enum nsr_status nsr_clocks_init(struct nsr_clocks *c, struct nsr_ctx *ctx,
                                enum nsr_arena_id arena,
                                const struct nsr_image *image, bool events,
                                bool remember) {
  uint32_t w = (uint32_t)(image->nchannels + (events ? image->nengines : 0));
  *c = (struct nsr_clocks){.ctx = ctx,
                           .arena = arena,
                           .image = image,
                           .width = w,
                           .remember = remember,
                           .odd_sem = -1};
  NSR_RESERVE(ctx, arena, &c->rows, w);
  c->rows.n = w; /* row 0: nothing is known; arenas give zeroes */
  if (remember) {
    NSR_RESERVE(ctx, arena, &c->why, w);
    c->why.n = w;
  }
  for (int e = 0; e < image->nengines; e++)
    c->shared[e] = true;
  NSR_NEW(ctx, arena, c->sem, image->isa->semaphores);
  NSR_NEW(ctx, arena, c->hint,
          (size_t)image->nengines * image->isa->semaphores);
  return NSR_OK;
}

/* The engine's clock, to be changed. */
static enum nsr_status writable(struct nsr_clocks *c, int engine) {
  if (c->shared[engine]) {
    NSR_TRY(row_new(c, c->row[engine], &c->row[engine]));
    c->shared[engine] = false;
  }
  return NSR_OK;
}

static enum nsr_status lesson_new(struct nsr_clocks *c,
                                  const struct nsr_lesson *lesson,
                                  uint32_t *id) {
  *id = 0;
  if (!c->remember)
    return NSR_OK;
  NSR_PUSH(c->ctx, c->arena, &c->lessons, *lesson);
  *id = (uint32_t)c->lessons.n;
  return NSR_OK;
}

static void raise(struct nsr_clocks *c, uint32_t row, uint32_t at,
                  uint32_t ordinal, uint32_t lesson) {
  size_t i = (size_t)row * c->width + at;
  if (c->rows.v[i] >= ordinal)
    return;
  c->rows.v[i] = ordinal;
  if (c->remember)
    c->why.v[i] = lesson;
}

static void raise_all(struct nsr_clocks *c, uint32_t row, uint32_t from,
                      uint32_t lesson) {
  for (uint32_t i = 0; i < c->width; i++)
    raise(c, row, i, nsr_clocks_at(c, from)[i], lesson);
}

/* ---- waits */

static void make_odd(struct nsr_clocks *c, uint16_t sem, const char *why) {
  struct nsr_sem_clock *s = &c->sem[sem];
  if (s->odd)
    return;
  if (c->odd_sem < 0) {
    c->odd_sem = sem;
    c->odd_why = why;
  }
  s->odd = true;
  c->status = row_new(c, 0, &s->all);
  if (c->status != NSR_OK || !s->events.n)
    return;
  /* one channel so far: its last update knows all that came before */
  const struct nsr_update_event *last = &s->events.v[s->events.n - 1];
  raise_all(c, s->all, last->row, 0);
  raise(c, s->all, last->channel, last->ordinal, 0);
}

static enum nsr_status learn(struct nsr_clocks *c, int engine,
                             struct nsr_lesson *lesson) {
  uint32_t id;
  if (nsr_clocks_of(c, engine)[lesson->channel] >= lesson->ordinal)
    return NSR_OK; /* known, and then all behind it is known too */
  NSR_TRY(writable(c, engine));
  NSR_TRY(lesson_new(c, lesson, &id));
  raise(c, c->row[engine], lesson->channel, lesson->ordinal, id);
  raise_all(c, c->row[engine], lesson->row, id);
  return NSR_OK;
}

/* The first event that takes a count to `need`; events rise. */
static const struct nsr_update_event *
first_reaching(const struct nsr_sem_clock *s, int64_t need, uint32_t *hint) {
  size_t lo = 0, hi = s->events.n;
  const struct nsr_update_event *v = s->events.v;
  if (!hi || v[hi - 1].after < need)
    return NULL; /* held from the start */
  if (*hint < hi && v[*hint].after < need)
    lo = *hint;
  for (size_t step = 1; lo + step < hi; step *= 2)
    if (v[lo + step].after >= need)
      hi = lo + step + 1;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (v[mid].after >= need)
      hi = mid;
    else
      lo = mid + 1;
  }
  *hint = (uint32_t)lo;
  return &v[lo];
}

const struct nsr_update_event *nsr_clocks_target(struct nsr_clocks *c,
                                                 int engine,
                                                 const struct nsr_wait *wait,
                                                 int32_t threshold) {
  struct nsr_sem_clock *s = &c->sem[wait->sem];
  int64_t need = (int64_t)threshold + (wait->cmp == NSR_CMP_GT);
  uint32_t *hint =
      &c->hint[(size_t)engine * c->image->isa->semaphores + wait->sem];
  return need > 0 && !s->odd ? first_reaching(s, need, hint) : NULL;
}

void nsr_clocks_waited(struct nsr_clocks *c, int engine, uint32_t insn,
                       const struct nsr_wait *wait, int32_t threshold) {
  struct nsr_sem_clock *s = &c->sem[wait->sem];
  if (wait->cmp != NSR_CMP_GE && wait->cmp != NSR_CMP_GT)
    make_odd(c, wait->sem, "is waited for with another comparison than >=");
  if (c->status != NSR_OK)
    return;
  if (s->odd) {
    c->status = writable(c, engine);
    if (c->status == NSR_OK)
      raise_all(c, c->row[engine], s->all, 0);
    return;
  }
  const struct nsr_update_event *u =
      nsr_clocks_target(c, engine, wait, threshold);
  if (!u)
    return;
  struct nsr_lesson lesson = {NSR_BY_WAIT, (uint8_t)engine, insn,
                              wait->sem,   threshold,       u->channel,
                              u->ordinal,  u->row};
  c->status = learn(c, engine, &lesson);
}

/* ---- other events */

void nsr_clocks_issued(struct nsr_clocks *c, const struct nsr_flight *f) {
  c->issued[f->channel] = f->ordinal;
}

void nsr_clocks_loaded(struct nsr_clocks *c, const struct nsr_flight *f) {
  struct nsr_lesson lesson = {.how = NSR_BY_LOAD,
                              .engine = f->engine,
                              .insn = f->insn,
                              .channel = f->channel,
                              .ordinal = f->ordinal};
  if (c->status == NSR_OK)
    c->status = learn(c, f->engine, &lesson);
}

static enum nsr_status count_event(struct nsr_clocks *c,
                                   const struct nsr_flight *f, int32_t before,
                                   int32_t after) {
  uint16_t sem = f->step->update.sem;
  struct nsr_sem_clock *s = &c->sem[sem];
  if (after <= before || f->step->update.op == NSR_UPD_SET)
    make_odd(c, sem, "is not only counted up");
  if (s->events.n && s->events.v[0].channel != f->channel)
    make_odd(c, sem, "is updated by several channels");
  NSR_TRY(c->status);
  if (s->odd) {
    uint32_t all;
    NSR_TRY(row_new(c, s->all, &all));
    s->all = all;
    raise_all(c, all, f->tag, 0);
    raise(c, all, f->channel, f->ordinal, 0);
  }
  if (!s->events.n)
    NSR_PUSH(c->ctx, c->arena, &c->touched, sem);
  NSR_PUSH(c->ctx, c->arena, &s->events,
           ((struct nsr_update_event){after, f->tag, f->ordinal, f->channel}));
  return NSR_OK;
}

void nsr_clocks_retired(struct nsr_clocks *c, const struct nsr_flight *f,
                        int32_t before, int32_t after) {
  if (c->status != NSR_OK || f->step->update.op == NSR_UPD_NONE ||
      !nsr_owned(c->image->kernel, f->step->update.sem))
    return;
  c->status = count_event(c, f, before, after);
}

static enum nsr_status join_everything(struct nsr_clocks *c) {
  struct nsr_lesson lesson = {.how = NSR_BY_BARRIER};
  uint32_t row, id;
  NSR_TRY(row_new(c, 0, &row));
  NSR_TRY(lesson_new(c, &lesson, &id));
  for (uint32_t i = 0; i < c->width; i++)
    raise(c, row, i, c->issued[i], id);
  for (int e = 0; e < c->image->nengines; e++) {
    c->row[e] = row;
    c->shared[e] = true;
  }
  for (size_t i = 0; i < c->touched.n; i++) {
    struct nsr_sem_clock *s = &c->sem[c->touched.v[i]];
    s->events.n = 0;
    s->odd = false;
  }
  c->touched.n = 0;
  return NSR_OK;
}

void nsr_clocks_barrier(struct nsr_clocks *c) {
  if (c->status == NSR_OK)
    c->status = join_everything(c);
}

uint32_t nsr_clocks_event(struct nsr_clocks *c, int engine) {
  uint32_t at = (uint32_t)(c->image->nchannels + engine);
  if (c->status == NSR_OK)
    c->status = writable(c, engine);
  if (c->status == NSR_OK)
    raise(c, c->row[engine], at, c->issued[at] + 1, 0);
  return ++c->issued[at];
}
