/* snapshots.c - registers against counts, now and at starts of iterations.
 *
 * Of a register and a semaphore three things are kept: their difference, if
 * that is one number on all ways; how far the register is above the count at
 * most; and that it is no less than the count, and a constant, was at the
 * back-th latest start of an iteration of one loop. That means nothing where
 * the loop has not started so often; so in front of all loops any such claim
 * holds.
 */
#include "prove/snapshots.h"

#include <string.h>

#include "base/work.h"
#include "prove/walk_score.h"

#define UNKNOWN INT64_MIN
#define UNBOUNDED INT64_MAX

/* Registers and semaphores that are looked at, at most. */
enum { MANY = 64 };

/* How often a loop's head may change before what still rises, or falls, there
 * is taken to have no bound. */
enum { MAX_RISES = 8 };

/* So far a register may lie below a count as of some start. */
enum { MOST_LESS = 1000 };

/* A register of an engine and a semaphore. */
struct cell {
  uint8_t engine;
  int16_t reg;
  uint32_t group;
  uint32_t loop; /* scope: the innermost one around where it is set, but for
                    places outside of all; NSR_NONE: there is no such one */
};

struct value {
  int64_t now;   /* register less count, UNKNOWN */
  int64_t over;  /* .. at most, UNBOUNDED */
  bool claims;   /* .. about the cell's loop */
  uint32_t back; /* 0: whatever start and constant, there was none yet */
  int64_t add;
  uint32_t entry; /* scope of a loop: no less than the count was when that was
                     last entered, less entry_less; NSR_NONE */
  int64_t entry_less;
};

static const struct value nothing = {
    .now = UNKNOWN, .over = UNBOUNDED, .entry = NSR_NONE};

struct finder {
  struct nsr_ctx *ctx;
  const struct nsr_score *s;
  const struct nsr_thresholds *t;
  struct nsr_snapshot *out;
  NSR_VEC(struct cell) cells;
  struct value *v; /* by cell */
  int64_t *count;  /* by group: exact, UNKNOWN */
  uint32_t *body; /* by step that begins a loop: scope where iterations start */
  struct state **states; /* by step that begins a loop */
  NSR_VEC(struct value) saved;
  NSR_VEC(int64_t) saved_counts;
  NSR_VEC(uint32_t) loops; /* around here: steps */
};

struct part {
  struct value *v;
  int64_t *count;
  bool any;
};

struct state {
  struct part head, back, exit;
  int rises;
};

static uint32_t find(const struct finder *f, uint8_t engine, int16_t reg,
                     uint32_t group) {
  for (uint32_t i = 0; i < f->cells.n; i++) {
    const struct cell *c = &f->cells.v[i];
    if (c->engine == engine && c->reg == reg && c->group == group)
      return i;
  }
  return NSR_NONE;
}

/* ---- merging */

/* An older start claims less. */
static void merge_claims(struct value *a, const struct value *b) {
  if (!a->claims || (b->claims && b->back == 0))
    return;
  if (a->back == 0) {
    a->claims = b->claims;
    a->back = b->back;
    a->add = b->add;
    return;
  }
  a->claims = b->claims;
  a->back = a->back > b->back ? a->back : b->back;
  a->add = a->add < b->add ? a->add : b->add;
  a->claims &= a->add >= -MOST_LESS;
}

static bool same(const struct value *a, const struct value *b) {
  return a->now == b->now && a->over == b->over && a->claims == b->claims &&
         a->entry == b->entry && a->entry_less == b->entry_less &&
         (!a->claims || (a->back == b->back && a->add == b->add));
}

/* to holds what holds on both ways; whether it changed. */
static bool merge(const struct finder *f, struct part *to,
                  const struct value *v, const int64_t *count) {
  bool changed = false;
  for (size_t i = 0; i < f->cells.n; i++) {
    struct value old = to->v[i];
    if (old.now != v[i].now)
      to->v[i].now = UNKNOWN;
    if (old.over < v[i].over)
      to->v[i].over = v[i].over;
    if (old.entry != v[i].entry)
      to->v[i].entry = NSR_NONE;
    if (old.entry_less < v[i].entry_less)
      to->v[i].entry_less = v[i].entry_less;
    merge_claims(&to->v[i], &v[i]);
    changed |= !same(&old, &to->v[i]);
  }
  for (uint32_t g = 0; g < f->s->ngroups; g++)
    if (to->count[g] != count[g] && to->count[g] != UNKNOWN) {
      to->count[g] = UNKNOWN;
      changed = true;
    }
  return changed;
}

/* The same at a loop's head, where what rises does not do so for ever. */
static bool merge_head(const struct finder *f, struct state *x,
                       const struct value *v, const int64_t *count) {
  for (size_t i = 0; x->rises == MAX_RISES && i < f->cells.n; i++) {
    struct value *to = &x->head.v[i];
    if (to->over < v[i].over)
      to->over = UNBOUNDED;
    to->claims &= !v[i].claims || v[i].add >= to->add;
    if (to->entry_less < v[i].entry_less)
      to->entry = NSR_NONE;
  }
  bool changed = merge(f, &x->head, v, count);
  x->rises += changed && x->rises < MAX_RISES;
  return changed;
}

static void copy(const struct finder *f, struct part *to) {
  memcpy(to->v, f->v, f->cells.n * sizeof *f->v);
  memcpy(to->count, f->count, f->s->ngroups * sizeof *f->count);
  to->any = true;
}

static void take(const struct finder *f, const struct part *from) {
  memcpy(f->v, from->v, f->cells.n * sizeof *f->v);
  memcpy(f->count, from->count, f->s->ngroups * sizeof *f->count);
}

/* ---- steps */

/* An iteration of a loop starts. */
static void start(const struct finder *f, uint32_t scope) {
  for (size_t i = 0; i < f->cells.n; i++) {
    struct value *v = &f->v[i];
    if (f->cells.v[i].loop != scope || !v->claims)
      continue;
    if (v->back == 0) /* of this one nothing was said */
      *v = (struct value){v->now, v->over, true, 1, 0, v->entry, v->entry_less};
    v->claims = v->back++ < NSR_PROVE_BACK;
  }
}

static void count_member(const struct finder *f, const struct nsr_step *s) {
  if (f->count[s->group] != UNKNOWN)
    f->count[s->group] += s->value;
  for (size_t i = 0; i < f->cells.n; i++) {
    struct value *v = &f->v[i];
    if (f->cells.v[i].group != s->group)
      continue;
    v->now -= v->now == UNKNOWN ? 0 : s->value;
    v->over -= v->over == UNBOUNDED ? 0 : s->value;
  }
}

/* What a register is set to: another one (-1: none) and a constant. */
struct setting {
  bool known;
  int16_t src;
  int32_t value;
};

static struct setting plus(const struct nsr_val *a, int64_t b) {
  return a->is_reg
             ? (struct setting){b == (int32_t)b, (int16_t)a->v, (int32_t)b}
             : (struct setting){b == 0, -1, a->v};
}

static enum nsr_status read_setting(const struct finder *f,
                                    const struct nsr_step *s,
                                    struct setting *out) {
  const struct nsr_program *p = f->s->program;
  struct nsr_insn x;
  *out = (struct setting){.known = false};
  NSR_TRY(nsr_stream_decode(f->ctx, p->k, p->stream[s->engine], s->insn, &x));
  if (x.desc->cls != NSR_CONTROL)
    return NSR_OK;
  if (x.desc->ctl == NSR_CTL_MOV)
    *out = plus(&x.a, 0);
  else if (x.desc->ctl == NSR_CTL_ADD && !x.b.is_reg)
    *out = plus(&x.a, x.b.v);
  else if (x.desc->ctl == NSR_CTL_SUB && !x.b.is_reg)
    *out = plus(&x.a, -(int64_t)x.b.v);
  return NSR_OK;
}

static struct value set_to(const struct finder *f, uint8_t engine,
                           const struct setting *s, const struct cell *c) {
  struct value x = nothing;
  uint32_t group = c->group;
  uint32_t from = s->src < 0 ? NSR_NONE : find(f, engine, s->src, group);
  if (!s->known)
    return x;
  if (from != NSR_NONE) {
    x = f->v[from];
    x.now = x.now == UNKNOWN ? UNKNOWN : x.now + s->value;
    x.over += x.over == UNBOUNDED ? 0 : s->value;
    x.add += s->value;
    x.claims &= x.add >= -MOST_LESS && f->cells.v[from].loop == c->loop;
  } else if (s->src < 0) {
    int64_t count = f->count[group];
    x.now = count == UNKNOWN ? UNKNOWN : s->value - count;
    x.over = s->value;
  }
  if (x.now != UNKNOWN) {
    x.over = x.now;
    x.claims = x.now >= -MOST_LESS;
    x.back = 1; /* the count was no more at its loop's latest start */
    x.add = x.now;
  }
  if (f->loops.n == 0) {
    x.claims = true;
    x.back = 0;
  }
  x.claims &= c->loop != NSR_NONE;
  x.entry = NSR_NONE;
  return x;
}

static enum nsr_status set_register(const struct finder *f,
                                    const struct nsr_step *s) {
  struct setting to;
  bool any = false;
  for (size_t i = 0; i < f->cells.n && !any; i++)
    any = f->cells.v[i].engine == s->engine && f->cells.v[i].reg == s->dst;
  if (!any)
    return NSR_OK;
  NSR_TRY(read_setting(f, s, &to));
  for (size_t i = 0; i < f->cells.n; i++)
    if (f->cells.v[i].engine == s->engine && f->cells.v[i].reg == s->dst)
      f->v[i] = set_to(f, s->engine, &to, &f->cells.v[i]);
  return NSR_OK;
}

static void read_wait(const struct finder *f, uint32_t i) {
  const struct nsr_step *s = &f->s->steps[i];
  struct nsr_snapshot *out = &f->out[f->t->wait_of[i]];
  *out = (struct nsr_snapshot){.loop = NSR_NONE, .entry = NSR_NONE};
  if (f->t->waits[f->t->wait_of[i]].kind != NSR_WAIT_UNKNOWN || !s->is_reg ||
      s->other || s->group == NSR_NONE || f->s->groups[s->group].bad)
    return;
  uint32_t at = find(f, s->engine, (int16_t)s->value, s->group);
  out->live = f->v[at].over <= 0;
  out->entry = f->v[at].entry;
  out->entry_less = f->v[at].entry_less;
  if (f->v[at].claims && f->v[at].back > 0) {
    out->loop = f->cells.v[at].loop;
    out->back = (uint8_t)f->v[at].back;
    out->less = f->v[at].add < 0 ? -f->v[at].add : 0;
  }
}

static void pass_barrier(const struct finder *f) {
  for (size_t i = 0; i < f->cells.n; i++)
    f->v[i] = nothing;
  for (uint32_t g = 0; g < f->s->ngroups; g++)
    f->count[g] = 0;
}

static enum nsr_status take_step(void *user, uint32_t i) {
  struct finder *f = user;
  const struct nsr_step *s = &f->s->steps[i];
  nsr_work_count(f->ctx, NSR_WORK_PROVE, 1);
  if (s->kind == NSR_STEP_WORK && s->group != NSR_NONE)
    count_member(f, s);
  else if (s->kind == NSR_STEP_SET)
    return set_register(f, s);
  else if (s->kind == NSR_STEP_WAIT)
    read_wait(f, i);
  else if (s->kind == NSR_STEP_BARRIER)
    pass_barrier(f);
  return NSR_OK;
}

/* ---- scopes */

static enum nsr_status make_part(const struct finder *f, struct part *out) {
  NSR_NEW(f->ctx, NSR_SCRATCH, out->v, f->cells.n);
  NSR_NEW(f->ctx, NSR_SCRATCH, out->count, f->s->ngroups);
  return NSR_OK;
}

/* A loop is entered: what is no less than the count now, stays so. */
static void enter(const struct finder *f, uint32_t scope) {
  for (size_t i = 0; i < f->cells.n; i++) {
    struct value *v = &f->v[i];
    bool in = v->entry != NSR_NONE && v->entry != scope &&
              nsr_common_in(f->s->tree, scope, v->entry);
    if (in) /* what was said of a loop around this one still holds */
      continue;
    if (v->now != UNKNOWN && v->now >= -MOST_LESS) {
      v->entry = scope;
      v->entry_less = v->now < 0 ? -v->now : 0;
    } else if (v->entry == scope)
      v->entry = NSR_NONE;
  }
}

static enum nsr_status enter_loop(void *user, uint32_t begin, bool *changed) {
  struct finder *f = user;
  struct state *x = f->states[begin];
  uint32_t scope = f->s->steps[begin].work;
  enter(f, scope);
  if (!x) {
    NSR_NEW(f->ctx, NSR_SCRATCH, x, 1);
    NSR_TRY(make_part(f, &x->head));
    NSR_TRY(make_part(f, &x->back));
    NSR_TRY(make_part(f, &x->exit));
    f->states[begin] = x;
  }
  *changed = !x->head.any || merge_head(f, x, f->v, f->count);
  if (!x->head.any)
    copy(f, &x->head);
  x->back.any = x->exit.any = false;
  take(f, &x->head);
  NSR_PUSH(f->ctx, NSR_SCRATCH, &f->loops, begin);
  if (f->body[begin] == scope)
    start(f, scope);
  return NSR_OK;
}

static enum nsr_status end_way(void *user, uint32_t begin, bool back) {
  struct finder *f = user;
  struct state *x = f->states[begin];
  struct part *to = back ? &x->back : &x->exit;
  if (to->any)
    (void)merge(f, to, f->v, f->count);
  else
    copy(f, to);
  return NSR_OK;
}

static enum nsr_status leave_loop(void *user, uint32_t begin, bool *changed) {
  struct finder *f = user;
  struct state *x = f->states[begin];
  *changed = x->back.any && merge_head(f, x, x->back.v, x->back.count);
  take(f, x->exit.any ? &x->exit : &x->head);
  f->loops.n--;
  return NSR_OK;
}

static enum nsr_status enter_arm(void *user, uint32_t begin) {
  struct finder *f = user;
  size_t n = f->cells.n, g = f->s->ngroups;
  NSR_RESERVE(f->ctx, NSR_SCRATCH, &f->saved, n);
  NSR_RESERVE(f->ctx, NSR_SCRATCH, &f->saved_counts, g);
  memcpy(f->saved.v + f->saved.n, f->v, n * sizeof *f->v);
  memcpy(f->saved_counts.v + f->saved_counts.n, f->count, g * sizeof *f->count);
  f->saved.n += n;
  f->saved_counts.n += g;
  uint32_t loop = f->loops.n ? f->loops.v[f->loops.n - 1] : NSR_NONE;
  if (loop != NSR_NONE && f->body[loop] == f->s->steps[begin].work)
    start(f, f->s->steps[loop].work);
  return NSR_OK;
}

static enum nsr_status leave_arm(void *user, uint32_t begin, bool join) {
  struct finder *f = user;
  (void)begin;
  f->saved.n -= f->cells.n;
  f->saved_counts.n -= f->s->ngroups;
  struct part before = {f->saved.v + f->saved.n,
                        f->saved_counts.v + f->saved_counts.n, true};
  if (join)
    (void)merge(f, &before, f->v, f->count);
  take(f, &before);
  return NSR_OK;
}

static enum nsr_status other_way(void *user, uint32_t begin) {
  struct finder *f = user;
  size_t n = f->cells.n, g = f->s->ngroups;
  (void)begin;
  NSR_RESERVE(f->ctx, NSR_SCRATCH, &f->saved, n);
  NSR_RESERVE(f->ctx, NSR_SCRATCH, &f->saved_counts, g);
  void *v = f->saved.v + f->saved.n - n;
  void *count = f->saved_counts.v + f->saved_counts.n - g;
  memcpy(f->saved.v + f->saved.n, f->v, n * sizeof *f->v);
  memcpy(f->v, v, n * sizeof *f->v);
  memcpy(v, f->saved.v + f->saved.n, n * sizeof *f->v);
  memcpy(f->saved_counts.v + f->saved_counts.n, f->count, g * sizeof *f->count);
  memcpy(f->count, count, g * sizeof *f->count);
  memcpy(count, f->saved_counts.v + f->saved_counts.n, g * sizeof *f->count);
  return NSR_OK;
}

/* ---- items */

static enum nsr_status begin_item(void *user, uint32_t first, uint32_t end) {
  struct finder *f = user;
  (void)first;
  (void)end;
  f->saved.n = f->saved_counts.n = 0;
  return end - first > 1 ? enter_arm(f, first) : NSR_OK;
}

/* From what was kept at the item's beginning. */
static enum nsr_status again(void *user) {
  struct finder *f = user;
  struct part at = {f->saved.v, f->saved_counts.v, true};
  take(f, &at);
  return NSR_OK;
}

/* ---- */

static enum nsr_status add_cell(struct finder *f, uint8_t engine, int16_t reg,
                                uint32_t group) {
  if (find(f, engine, reg, group) != NSR_NONE)
    return NSR_OK;
  NSR_PUSH(f->ctx, NSR_SCRATCH, &f->cells,
           (struct cell){engine, reg, group, NSR_NONE});
  return NSR_OK;
}

/* The innermost loops around where registers are set. */
static enum nsr_status find_loops(struct finder *f) {
  bool *seen;
  NSR_NEW(f->ctx, NSR_SCRATCH, seen, f->cells.n);
  f->loops.n = 0;
  for (uint32_t i = 0; i < f->s->nsteps; i++) {
    const struct nsr_step *x = &f->s->steps[i];
    if (x->kind == NSR_STEP_LOOP)
      NSR_PUSH(f->ctx, NSR_SCRATCH, &f->loops, x->work);
    if (x->kind == NSR_STEP_END && f->s->steps[x->end].kind == NSR_STEP_LOOP)
      f->loops.n--;
    for (size_t k = 0;
         x->kind == NSR_STEP_SET && f->loops.n > 0 && k < f->cells.n; k++) {
      struct cell *c = &f->cells.v[k];
      uint32_t loop = f->loops.v[f->loops.n - 1];
      if (c->engine != x->engine || c->reg != x->dst)
        continue;
      c->loop = !seen[k] || c->loop == loop ? loop : NSR_NONE;
      seen[k] = true;
    }
  }
  return NSR_OK;
}

/* Registers that waits compare, and those that they are set to. */
static enum nsr_status find_cells(struct finder *f) {
  const struct nsr_score *s = f->s;
  for (uint32_t i = 0; i < s->nsteps; i++) {
    const struct nsr_step *x = &s->steps[i];
    if (x->kind == NSR_STEP_WAIT && x->is_reg && x->group != NSR_NONE &&
        f->t->waits[f->t->wait_of[i]].kind == NSR_WAIT_UNKNOWN &&
        f->cells.n <= MANY)
      NSR_TRY(add_cell(f, x->engine, (int16_t)x->value, x->group));
  }
  for (uint32_t k = 0; k < f->cells.n && f->cells.n <= MANY; k++)
    for (uint32_t i = 0; i < s->nsteps; i++) {
      const struct nsr_step *x = &s->steps[i];
      struct cell c = f->cells.v[k];
      struct setting to;
      if (x->kind != NSR_STEP_SET || x->engine != c.engine || x->dst != c.reg)
        continue;
      NSR_TRY(read_setting(f, x, &to));
      if (to.known && to.src >= 0)
        NSR_TRY(add_cell(f, c.engine, to.src, c.group));
    }
  return NSR_OK;
}

enum nsr_status nsr_snapshots_find(struct nsr_ctx *ctx,
                                   const struct nsr_score *s,
                                   const struct nsr_thresholds *t,
                                   struct nsr_snapshot **out) {
  struct finder f = {.ctx = ctx, .s = s, .t = t};
  NSR_NEW(ctx, NSR_SCRATCH, f.out, s->nwaits);
  for (uint32_t i = 0; i < s->nwaits; i++)
    f.out[i].loop = f.out[i].entry = NSR_NONE;
  *out = f.out;
  NSR_TRY(find_cells(&f));
  if (f.cells.n == 0 || f.cells.n > MANY)
    return NSR_OK;
  NSR_TRY(find_loops(&f));
  NSR_NEW(ctx, NSR_SCRATCH, f.v, f.cells.n);
  NSR_NEW(ctx, NSR_SCRATCH, f.count, s->ngroups);
  NSR_NEW(ctx, NSR_SCRATCH, f.body, s->nsteps);
  NSR_NEW(ctx, NSR_SCRATCH, f.states, s->nsteps);
  for (size_t i = 0; i < f.cells.n; i++)
    f.v[i] = nothing;
  for (uint32_t i = 0; i < s->nsteps; i++)
    if (s->steps[i].kind == NSR_STEP_LOOP)
      f.body[i] = s->tree->scopes[s->steps[i].work].body;
  struct nsr_walker w = {.user = &f,
                         .item = begin_item,
                         .again = again,
                         .step = take_step,
                         .enter_loop = enter_loop,
                         .end_way = end_way,
                         .leave_loop = leave_loop,
                         .enter_arm = enter_arm,
                         .leave_arm = leave_arm,
                         .other_way = other_way};
  return nsr_score_walk(s, &w);
}
