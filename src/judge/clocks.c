/* clocks.c - vector clocks of a run.
 *
 * Needs the events of one run; makes, for each engine, what it knows to be
 * retired. Theory: a wait `s >= t` on a count that only grows, by updates that
 * come one after the other (those of one channel, or known to the next one
 * when it is issued), holds because of the update that takes it to t, in every
 * schedule. Other waits
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
                                const struct nsr_image *image,
                                const struct nsr_external *external,
                                bool events, bool remember) {
  uint32_t own = (uint32_t)(image->nchannels + (events ? image->nengines : 0));
  uint32_t w = own + (external ? external->nsequences : 0);
  *c = (struct nsr_clocks){.ctx = ctx,
                           .arena = arena,
                           .image = image,
                           .width = w,
                           .outside = own,
                           .external = external,
                           .remember = remember,
                           .odd_sem = -1};
  NSR_RESERVE(ctx, arena, &c->rows, w);
  c->rows.n = w; /* row 0: nothing is known; arenas give zeroes */
  if (remember) {
    NSR_RESERVE(ctx, arena, &c->why, w);
    c->why.n = w;
  }
  for (size_t e = 0; e < sizeof c->shared / sizeof *c->shared; e++)
    c->shared[e] = true;
  NSR_NEW(ctx, arena, c->sem, (size_t)image->isa->semaphores + 1);
  NSR_NEW(ctx, arena, c->hint,
          (size_t)image->nengines * image->isa->semaphores);
  return NSR_OK;
}

enum nsr_status nsr_clocks_start(struct nsr_clocks *c, uint16_t sem,
                                 int32_t value) {
  c->sem[sem].start = value;
  if (nsr_owned(c->image->kernel, sem)) /* up to the first barrier */
    NSR_PUSH(c->ctx, c->arena, &c->touched, sem);
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

/* NULL: it held from the start. */
static const struct nsr_update_event *reaching(const struct nsr_sem_clock *s,
                                               int64_t need, uint32_t *hint) {
  return need > s->start && !s->odd ? first_reaching(s, need, hint) : NULL;
}

const struct nsr_update_event *nsr_clocks_target(struct nsr_clocks *c,
                                                 int engine,
                                                 const struct nsr_wait *wait,
                                                 int32_t threshold) {
  struct nsr_sem_clock *s = &c->sem[wait->sem];
  int64_t need = (int64_t)threshold + (wait->cmp == NSR_CMP_GT);
  uint32_t *hint =
      &c->hint[(size_t)engine * c->image->isa->semaphores + wait->sem];
  return reaching(s, need, hint);
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

/* Whether an update comes behind the last one, in every schedule. */
static bool follows(const struct nsr_clocks *c, const struct nsr_sem_clock *s,
                    const struct nsr_update_event *u) {
  if (!s->events.n)
    return true;
  const struct nsr_update_event *last = &s->events.v[s->events.n - 1];
  return last->channel == u->channel ||
         nsr_clocks_at(c, u->row)[last->channel] >= last->ordinal;
}

static enum nsr_status count_event(struct nsr_clocks *c, uint16_t sem,
                                   int32_t before,
                                   const struct nsr_update_event *u) {
  struct nsr_sem_clock *s = &c->sem[sem];
  if (u->after <= before)
    make_odd(c, sem, "is not only counted up");
  if (!follows(c, s, u))
    make_odd(c, sem, "is updated by several channels");
  NSR_TRY(c->status);
  if (s->odd) {
    uint32_t all;
    NSR_TRY(row_new(c, s->all, &all));
    s->all = all;
    raise_all(c, all, u->row, 0);
    raise(c, all, u->channel, u->ordinal, 0);
  }
  if (!s->events.n && nsr_owned(c->image->kernel, sem))
    NSR_PUSH(c->ctx, c->arena, &c->touched, sem);
  NSR_PUSH(c->ctx, c->arena, &s->events, *u);
  return NSR_OK;
}

void nsr_clocks_retired(struct nsr_clocks *c, const struct nsr_flight *f,
                        int32_t before, int32_t after) {
  const struct nsr_step *s = f->step;
  uint16_t cores = c->image->isa->semaphores;
  struct nsr_update_event u = {after, f->tag, f->ordinal, f->channel};
  if (c->status == NSR_OK && s->update.op != NSR_UPD_NONE &&
      (c->external || nsr_owned(c->image->kernel, s->update.sem)))
    c->status = count_event(c, s->update.sem, before, &u);
  if (c->status != NSR_OK || !c->external || !s->desc->external)
    return;
  u.after = (int32_t)c->sem[cores].events.n + 1;
  c->status = count_event(c, cores, u.after - 1, &u);
}

static enum nsr_status join_everything(struct nsr_clocks *c) {
  struct nsr_lesson lesson = {.how = NSR_BY_BARRIER};
  uint32_t row, id;
  NSR_TRY(row_new(c, 0, &row));
  NSR_TRY(lesson_new(c, &lesson, &id));
  for (uint32_t i = 0; i < c->outside; i++)
    raise(c, row, i, c->issued[i], id);
  for (uint32_t i = c->outside; i < c->width; i++) /* what somebody knows */
    for (int e = 0; e < c->image->nengines; e++)
      raise(c, row, i, nsr_clocks_of(c, e)[i], id);
  for (int e = 0; e < c->image->nengines; e++) {
    c->row[e] = row;
    c->shared[e] = true;
  }
  for (size_t i = 0; i < c->touched.n; i++) {
    struct nsr_sem_clock *s = &c->sem[c->touched.v[i]];
    s->events.n = 0;
    s->start = 0;
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

/* ---- events of others */

static enum nsr_status happen(struct nsr_clocks *c,
                              const struct nsr_external_event *e) {
  int self = nsr_clocks_sequence(e);
  uint32_t at = c->outside + e->sequence;
  for (uint32_t i = 0; i < e->nwaits; i++) {
    const struct nsr_external_wait *w = &e->waits[i];
    uint16_t sem = w->cores ? c->image->isa->semaphores : w->sem;
    const struct nsr_sem_clock *s = &c->sem[sem];
    uint32_t hint = 0;
    const struct nsr_update_event *u = reaching(s, w->need, &hint);
    NSR_TRY(writable(c, self));
    if (s->odd)
      raise_all(c, c->row[self], s->all, 0);
    if (!u)
      continue;
    struct nsr_lesson lesson = {.how = NSR_BY_EVENT,
                                .insn = (uint32_t)(e - c->external->events),
                                .sem = sem,
                                .threshold = (int32_t)w->need,
                                .channel = u->channel,
                                .ordinal = u->ordinal,
                                .row = u->row};
    NSR_TRY(learn(c, self, &lesson));
  }
  NSR_TRY(writable(c, self));
  raise(c, c->row[self], at, e->ordinal, 0);
  c->issued[at] = e->ordinal;
  return NSR_OK;
}

void nsr_clocks_external(struct nsr_clocks *c, uint32_t index) {
  if (c->status == NSR_OK)
    c->status = happen(c, &c->external->events[index]);
}

void nsr_clocks_signalled(struct nsr_clocks *c, uint32_t index,
                          const struct nsr_update *u, int32_t before,
                          int32_t after) {
  const struct nsr_external_event *e = &c->external->events[index];
  int self = nsr_clocks_sequence(e);
  struct nsr_update_event event = {after, nsr_clocks_keep(c, self), e->ordinal,
                                   (uint8_t)(c->outside + e->sequence)};
  if (c->status == NSR_OK)
    c->status = count_event(c, u->sem, before, &event);
}
