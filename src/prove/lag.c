/* lag.c - what engines know, along a score. */
#include "prove/lag.h"

#include <string.h>

#include "base/work.h"
#include "prove/asked.h"
#include "prove/look.h"
#include "prove/walk_score.h"

/* Nodes made before giving up: a minute, and more for large kernels. */
#define MAX_EFFORT (UINT64_C(1) << 27)
#define MAX_EFFORT_OF_STEP (UINT64_C(1) << 5)

/* What a loop keeps: of engines that learn in it, and of tracks that have
 * members in it. */
struct loop {
  struct nsr_sight **head, **exit;
  struct nsr_tells *heads, *exits;
  uint32_t learns; /* bit r: row r does */
  bool any_head, any_exit;
  bool entered; /* the head has changed by what is in front of it */
  bool moved;   /* .. or, at the last walk, by a way back, or one in it has */
};

/* What an arm's way past it keeps. */
struct arm {
  struct nsr_sight **rows;
  struct nsr_moment entry;
  bool two; /* behind what runs where it is passed by: */
  struct nsr_tells *ends;
  int64_t *weights;
};

struct lag {
  struct nsr_ctx *ctx;
  const struct nsr_score *s;
  const struct nsr_thresholds *t;
  struct nsr_sights *x;
  const struct nsr_touches *touches; /* NULL: asked is what is known at most */
  struct nsr_lag_result *out;
  struct nsr_free_pair *asked; /* .. of these */
  size_t nasked;
  uint32_t *slot_of; /* .. by work */
  uint32_t nrows;
  uint32_t row_of[NSR_MAX_ENGINES]; /* by engine */
  struct nsr_sight *rows[NSR_MAX_ENGINES];
  struct nsr_told told;
  struct nsr_look look;
  struct loop *loops;       /* by number - 1 */
  NSR_VEC(struct arm) arms; /* one for each depth so far */
  size_t narms;             /* open ones */
  struct nsr_sight *at_item[NSR_MAX_ENGINES];
  struct nsr_sight *knows[NSR_MAX_ENGINES]; /* by engine */
  uint32_t *now_at_item;
  uint32_t item_first, barrier_at_item;
  bool looks;  /* conflicts are looked for in this round */
  bool stable; /* what loops keep is what another round would make of it */
};

/* ---- rows */

/* Of one holder, and as of here. */
static enum nsr_status renew(struct lag *g, uint32_t r) {
  NSR_TRY(nsr_sight_own(g->x, &g->rows[r]));
  return nsr_sight_renew(g->x, g->rows[r]);
}

static void set_row(struct lag *g, struct nsr_sight **to,
                    struct nsr_sight *from) {
  nsr_sight_share(from);
  nsr_sight_free(g->x, to);
  *to = from;
}

/* The row is what another was, as of here. */
static enum nsr_status put_row(struct lag *g, uint32_t r,
                               struct nsr_sight *from) {
  set_row(g, &g->rows[r], from);
  NSR_TRY(nsr_sight_own(g->x, &g->rows[r]));
  nsr_sight_stamp(g->x, g->rows[r]);
  return NSR_OK;
}

static enum nsr_status note(struct lag *g, struct nsr_moment *m) {
  if (!m->now)
    NSR_NEW(g->ctx, NSR_SCRATCH, m->now, g->x->nch);
  m->step = g->x->step;
  m->nloops = (uint32_t)g->x->loops.n;
  m->barrier = g->x->barrier;
  memcpy(m->now, g->x->now, g->x->nch * sizeof *m->now);
  return NSR_OK;
}

/* ---- loops */

static struct loop *loop_at(struct lag *g, uint32_t begin) {
  return &g->loops[g->x->loop_number[begin] - 1];
}

/* Which rows may learn in a scope. */
static uint32_t learners(const struct lag *g, uint32_t begin) {
  uint32_t rows = 0;
  for (uint32_t i = begin; i < g->s->steps[begin].end; i++) {
    const struct nsr_step *s = &g->s->steps[i];
    if (s->kind == NSR_STEP_WAIT ||
        (s->kind == NSR_STEP_WORK && (s->load || s->passes)))
      rows |= UINT32_C(1) << g->row_of[s->engine];
    else if (s->kind == NSR_STEP_BARRIER)
      rows |= UINT32_MAX;
  }
  return rows;
}

static enum nsr_status open_loop(struct lag *g, uint32_t begin) {
  struct loop *l = loop_at(g, begin);
  if (l->head)
    return NSR_OK;
  NSR_NEW(g->ctx, NSR_SCRATCH, l->head, g->nrows);
  NSR_NEW(g->ctx, NSR_SCRATCH, l->exit, g->nrows);
  NSR_NEW(g->ctx, NSR_SCRATCH, l->heads, g->told.of_scope[begin].n);
  NSR_NEW(g->ctx, NSR_SCRATCH, l->exits, g->told.of_scope[begin].n);
  l->learns = learners(g, begin);
  return NSR_OK;
}

/* to[r] knows what it did and the row does, as of here; first: what the row
 * does. */
static enum nsr_status lose(struct lag *g, const struct loop *l,
                            struct nsr_sight **to, bool first, bool *changed) {
  for (uint32_t r = 0; r < g->nrows; r++) {
    if (!(l->learns >> r & 1))
      continue;
    NSR_TRY(renew(g, r));
    if (first) {
      set_row(g, &to[r], g->rows[r]);
      continue;
    }
    NSR_TRY(nsr_sight_own(g->x, &to[r]));
    NSR_TRY(nsr_sight_merge(g->x, to[r], g->rows[r], false, changed));
  }
  return NSR_OK;
}

static enum nsr_status put_rows(struct lag *g, const struct loop *l,
                                struct nsr_sight **from) {
  for (uint32_t r = 0; r < g->nrows; r++)
    if (l->learns >> r & 1)
      NSR_TRY(put_row(g, r, from[r]));
  return NSR_OK;
}

/* What is known in front of it. */
static enum nsr_status take_entry(struct lag *g, uint32_t begin,
                                  struct loop *l) {
  bool first = !l->any_head;
  l->any_head = true;
  l->entered = first;
  NSR_TRY(lose(g, l, l->head, first, &l->entered));
  return nsr_told_enter(&g->told, begin, l->heads, first, &l->entered);
}

static enum nsr_status enter_loop(void *user, uint32_t begin, bool *changed) {
  struct lag *g = user;
  struct loop *l = loop_at(g, begin);
  g->x->step = begin + 1;
  NSR_TRY(open_loop(g, begin));
  NSR_TRY(nsr_told_begin(&g->told, begin));
  if (!g->stable)
    NSR_TRY(take_entry(g, begin, l));
  NSR_TRY(nsr_told_put(&g->told, begin, l->heads));
  *changed = l->entered && !g->stable;
  const uint32_t *slots =
      g->x->loop_slots + (size_t)(g->x->loop_number[begin] - 1) * 2 * g->x->nch;
  NSR_PUSH(g->ctx, NSR_SCRATCH, &g->x->loops,
           (struct nsr_sight_loop){begin + 1, g->x->loop_number[begin], slots,
                                   slots + g->x->nch, g->x->barrier});
  return put_rows(g, l, l->head);
}

/* A body that has been walked from this head, and all loops in it, too. */
static bool passes_loop(void *user, uint32_t begin) {
  struct lag *g = user;
  struct loop *l = loop_at(g, begin);
  bool passes = !g->stable && !l->entered && !l->moved;
  if (!passes && !g->stable)
    l->any_exit = l->moved = false;
  return passes;
}

static enum nsr_status end_way(void *user, uint32_t begin, bool back) {
  struct lag *g = user;
  struct loop *l = loop_at(g, begin);
  if (g->stable)
    return NSR_OK;
  if (back) {
    NSR_TRY(lose(g, l, l->head, false, &l->moved));
    return nsr_told_take(&g->told, begin, l->heads, true, false, &l->moved);
  }
  bool first = !l->any_exit, changed = false;
  l->any_exit = true;
  NSR_TRY(lose(g, l, l->exit, first, &changed));
  return nsr_told_take(&g->told, begin, l->exits, false, first, &changed);
}

static enum nsr_status leave_loop(void *user, uint32_t begin, bool *changed) {
  struct lag *g = user;
  struct loop *l = loop_at(g, begin);
  const struct nsr_sight_loop *here = &g->x->loops.v[--g->x->loops.n];
  *changed = l->moved;
  if (l->moved && g->x->loops.n)
    loop_at(g, here[-1].begin - 1)->moved = true;
  memcpy(g->x->now, here->end, g->x->nch * sizeof *g->x->now);
  g->x->barrier = here->barrier;
  g->x->step = g->s->steps[begin].end + 1;
  nsr_told_drop(&g->told, begin);
  NSR_TRY(nsr_told_put(&g->told, begin, l->any_exit ? l->exits : l->heads));
  return put_rows(g, l, l->any_exit ? l->exit : l->head);
}

static void free_loop(struct lag *g, uint32_t begin) {
  struct loop *l = loop_at(g, begin);
  for (uint32_t r = 0; l->head && r < g->nrows; r++) {
    nsr_sight_free(g->x, &l->head[r]);
    nsr_sight_free(g->x, &l->exit[r]);
  }
  for (uint32_t i = 0; l->head && i < g->told.of_scope[begin].n; i++) {
    nsr_told_clear(&g->told, &l->heads[i]);
    nsr_told_clear(&g->told, &l->exits[i]);
  }
}

/* ---- arms */

static enum nsr_status enter_arm(void *user, uint32_t begin) {
  struct lag *g = user;
  g->x->step = begin + 1;
  if (g->narms == g->arms.n) {
    struct arm a = {0};
    NSR_NEW(g->ctx, NSR_SCRATCH, a.rows, g->nrows);
    NSR_PUSH(g->ctx, NSR_SCRATCH, &g->arms, a);
  }
  struct arm *a = &g->arms.v[g->narms++];
  NSR_TRY(note(g, &a->entry));
  a->two = false;
  for (uint32_t r = 0; r < g->nrows; r++) {
    NSR_TRY(renew(g, r));
    set_row(g, &a->rows[r], g->rows[r]);
  }
  return nsr_told_begin(&g->told, begin);
}

/* Where a row is what it was, all that has issued since ages it. */
static enum nsr_status join_row(struct lag *g, uint32_t r,
                                struct nsr_sight *before) {
  if (g->rows[r] == before)
    return NSR_OK;
  NSR_TRY(renew(g, r));
  return nsr_sight_merge(g->x, g->rows[r], before, false, NULL);
}

/* All becomes what it was in front of the arm, as of here. */
static enum nsr_status other_way(void *user, uint32_t begin) {
  struct lag *g = user;
  struct arm *a = &g->arms.v[g->narms - 1];
  g->x->step++;
  NSR_NEW(g->ctx, NSR_SCRATCH, a->ends, g->told.of_scope[begin].n);
  NSR_NEW(g->ctx, NSR_SCRATCH, a->weights, g->told.of_scope[begin].n);
  a->two = true;
  for (uint32_t r = 0; r < g->nrows; r++) {
    struct nsr_sight *before = a->rows[r];
    NSR_TRY(renew(g, r));
    a->rows[r] = g->rows[r];
    g->rows[r] = before;
    NSR_TRY(nsr_sight_own(g->x, &g->rows[r]));
    nsr_sight_stamp(g->x, g->rows[r]);
  }
  return nsr_told_other(&g->told, begin, a->ends, a->weights);
}

static enum nsr_status leave_arm(void *user, uint32_t begin, bool join) {
  struct lag *g = user;
  struct arm *a = &g->arms.v[--g->narms];
  g->x->step = g->s->steps[begin].end + 1;
  for (uint32_t r = 0; r < g->nrows; r++) {
    NSR_TRY(join ? join_row(g, r, a->rows[r]) : put_row(g, r, a->rows[r]));
    nsr_sight_free(g->x, &a->rows[r]);
  }
  if (a->two)
    NSR_TRY(nsr_told_both(&g->told, begin, a->ends, a->weights));
  else
    NSR_TRY(join ? nsr_told_join(&g->told, begin, &a->entry)
                 : nsr_told_pass(&g->told, begin, &a->entry));
  g->x->barrier = a->entry.barrier;
  return NSR_OK;
}

/* ---- what a work must know */

/* The first pair of a work that is asked about. */
static size_t first_asked(const struct lag *g, uint32_t work) {
  size_t lo = 0, hi = g->nasked;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (g->asked[mid].c < work)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

static void answer(struct lag *g, uint32_t i, const struct nsr_sight *row) {
  uint32_t work = g->s->steps[i].work;
  for (size_t k = first_asked(g, work); k < g->nasked && g->asked[k].c == work;
       k++)
    g->asked[k].free =
        nsr_sight_level(g->x, row, g->slot_of[g->asked[k].q]) > 0;
}

static enum nsr_status check_work(struct lag *g, uint32_t i,
                                  const struct nsr_sight *row) {
  uint32_t slot = g->x->slot[i];
  if (!g->touches) {
    answer(g, i, row);
    return NSR_OK;
  }
  return nsr_look_from(&g->look, slot, row);
}

/* ---- steps */

static enum nsr_status take_work(struct lag *g, uint32_t i) {
  const struct nsr_step *s = &g->s->steps[i];
  uint32_t r = g->row_of[s->engine];
  struct nsr_sights *x = g->x;
  if (s->island)
    return NSR_OK;
  if (g->looks) {
    NSR_TRY(renew(g, r));
    NSR_TRY(check_work(g, i, g->rows[r]));
  }
  x->now[s->channel]++;
  bool asked = s->group != NSR_NONE && nsr_told_asked(&g->told, s);
  if (asked || s->passes || s->load)
    NSR_TRY(renew(g, r));
  if (s->passes)
    NSR_TRY(nsr_sight_learn(x, g->rows[r], x->slot[i]));
  if (s->group != NSR_NONE)
    NSR_TRY(nsr_told_member(&g->told, s, asked ? g->rows[r] : NULL));
  if (s->load)
    nsr_sight_learn_all(g->rows[r], (uint32_t)s->channel);
  return NSR_OK;
}

/* Of a wait that may tell anything, at most all is known. */
static bool may_tell_all(const struct lag *g, uint32_t i) {
  const struct nsr_step *s = &g->s->steps[i];
  uint8_t kind = g->t->waits[g->t->wait_of[i]].kind;
  bool mixed = s->group != NSR_NONE && g->s->groups[s->group].channel < 0;
  return kind != NSR_WAIT_NEVER && (kind != NSR_WAIT_LAG || mixed);
}

/* Whether a wait, if it does not wait, is for what has retired anyway: for what
 * lies in front of a trip of a loop, where all of that is known. */
static bool is_sure(const struct lag *g, uint32_t i,
                    const struct nsr_sight *row) {
  uint32_t within = g->t->waits[g->t->wait_of[i]].within;
  if (within == NSR_NONE)
    return true;
  size_t loop = g->s->steps[within].work;
  size_t ch = (size_t)g->s->groups[g->s->steps[i].group].channel;
  uint32_t fence = g->look.fence[loop * g->x->nch + ch];
  return fence != NSR_NONE && nsr_sight_level(g->x, row, fence) == 0;
}

static enum nsr_status take_wait(struct lag *g, uint32_t i) {
  uint32_t r = g->row_of[g->s->steps[i].engine];
  NSR_TRY(renew(g, r));
  if (!g->touches && may_tell_all(g, i)) {
    nsr_sight_clear(g->x, g->rows[r]);
    return NSR_OK;
  }
  bool sure = is_sure(g, i, g->rows[r]);
  if (g->out)
    g->out->sure[g->t->wait_of[i]] = sure;
  return sure ? nsr_told_wait(&g->told, g->t->wait_of[i], g->rows[r]) : NSR_OK;
}

static enum nsr_status take_step(void *user, uint32_t i) {
  struct lag *g = user;
  const struct nsr_step *s = &g->s->steps[i];
  g->x->step = i + 1;
  if (g->x->levels.effort > MAX_EFFORT + g->s->nsteps * MAX_EFFORT_OF_STEP)
    return NSR_E_UNDECIDED;
  nsr_work_count(g->ctx, NSR_WORK_PROVE, 1);
  if (s->kind == NSR_STEP_WORK)
    return take_work(g, i);
  if (s->kind == NSR_STEP_WAIT)
    return take_wait(g, i);
  if (s->kind == NSR_STEP_BARRIER)
    nsr_sights_pass_barrier(g->x, i);
  for (uint32_t r = 0; s->kind == NSR_STEP_BARRIER && r < g->nrows; r++) {
    NSR_TRY(nsr_sight_own(g->x, &g->rows[r]));
    nsr_sight_clear(g->x, g->rows[r]);
    nsr_sight_stamp(g->x, g->rows[r]);
  }
  return NSR_OK;
}

/* ---- items */

/* Conflicts are looked for once what is known is stable. */
static enum nsr_status begin_item(void *user, uint32_t first, uint32_t end) {
  struct lag *g = user;
  g->item_first = g->told.from = first;
  g->looks = true;
  g->stable = false;
  nsr_sights_begin_item(g->x, first);
  if (end - first == 1)
    return NSR_OK;
  for (uint32_t i = first; i < end; i++)
    g->looks &= g->s->steps[i].kind != NSR_STEP_LOOP;
  g->barrier_at_item = g->x->barrier;
  memcpy(g->now_at_item, g->x->now, g->x->nch * sizeof *g->x->now);
  for (uint32_t r = 0; r < g->nrows; r++) {
    NSR_TRY(renew(g, r));
    set_row(g, &g->at_item[r], g->rows[r]);
  }
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    g->knows[e] = g->s->program->stream[e] ? g->rows[g->row_of[e]] : NULL;
  g->told.knows = g->knows;
  NSR_TRY(nsr_told_shorten(&g->told, first));
  g->x->step = first + 1;
  return nsr_told_begin(&g->told, first);
}

static bool once_more(void *user) {
  struct lag *g = user;
  bool more = !g->looks;
  g->looks = g->stable = true;
  return more;
}

static enum nsr_status again(void *user) {
  struct lag *g = user;
  memcpy(g->x->now, g->now_at_item, g->x->nch * sizeof *g->x->now);
  g->x->barrier = g->barrier_at_item;
  for (uint32_t r = 0; r < g->nrows; r++)
    set_row(g, &g->rows[r], g->at_item[r]);
  nsr_told_drop(&g->told, g->item_first);
  return nsr_told_begin(&g->told, g->item_first);
}

/* How often what ran in a loop did does not matter any more. */
static enum nsr_status leave_item(void *user, uint32_t first, uint32_t end) {
  struct lag *g = user;
  if (end - first == 1)
    return NSR_OK;
  g->x->step = g->told.from = end;
  for (uint32_t i = first; i < end; i++)
    if (g->s->steps[i].kind == NSR_STEP_LOOP)
      free_loop(g, i);
  for (uint32_t r = 0; r < g->nrows; r++) {
    nsr_sight_free(g->x, &g->at_item[r]);
    NSR_TRY(renew(g, r));
    NSR_TRY(nsr_sight_settle(g->x, g->rows[r]));
  }
  return nsr_told_keep(&g->told, first);
}

/* ---- */

enum { USUAL_LEVEL = 3 };

/* Levels beyond what addresses rotate by are hardly ever of use: only waits
 * that look back farther, for addresses that advance. */
static uint8_t find_most(const struct lag *g, uint32_t window) {
  const struct nsr_window *w = &g->x->windows[(size_t)window * g->x->nch];
  uint32_t most = g->told.ages[window];
  most = (most < USUAL_LEVEL ? most : USUAL_LEVEL) + 1;
  for (uint32_t c = 0; g->touches && c < g->x->nch; c++)
    for (uint32_t k = w[c].first; k < w[c].end; k++)
      if (most < g->touches->period[k])
        most = g->touches->period[k];
  return (uint8_t)(most < NSR_LEVEL_ANY - 1 ? most : NSR_LEVEL_ANY - 1);
}

/* Of works that always touch the same bytes at most the latest execution can
 * matter apart from the others: so a second one makes any number. */
static void find_units(struct lag *g, uint32_t window) {
  const struct nsr_window *w = &g->x->windows[(size_t)window * g->x->nch];
  for (uint32_t c = 0; g->touches && c < g->x->nch; c++)
    for (uint32_t k = w[c].first; k < w[c].end; k++)
      if (!g->touches->period[k])
        g->x->unit[k] = g->x->most[window];
}

static enum nsr_status prepare(struct lag *g) {
  uint32_t loops = 0;
  NSR_TRY(nsr_told_init(g->ctx, g->s, g->t, g->x, !g->touches, &g->told));
  for (uint32_t w = 0; w < g->x->nwindows; w++) {
    g->x->most[w] = find_most(g, w);
    find_units(g, w);
  }
  if (g->touches)
    NSR_TRY(nsr_asked_find(&g->told));
  for (uint32_t i = 0; i < g->s->nsteps; i++)
    loops += g->s->steps[i].kind == NSR_STEP_LOOP;
  NSR_NEW(g->ctx, NSR_SCRATCH, g->loops, loops);
  NSR_TRY(nsr_look_init(g->ctx, g->x, g->touches, g->out, &g->look));
  NSR_NEW(g->ctx, NSR_SCRATCH, g->now_at_item, g->x->nch);
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    if (g->s->program->stream[e]) {
      g->row_of[e] = g->nrows;
      NSR_TRY(nsr_sight_new(g->x, &g->rows[g->nrows++]));
    }
  return NSR_OK;
}

static enum nsr_status walk(struct lag *g) {
  NSR_TRY(prepare(g));
  struct nsr_walker w = {.user = g,
                         .item = begin_item,
                         .again = again,
                         .leave = leave_item,
                         .step = take_step,
                         .enter_loop = enter_loop,
                         .end_way = end_way,
                         .leave_loop = leave_loop,
                         .enter_arm = enter_arm,
                         .leave_arm = leave_arm,
                         .other_way = other_way,
                         .passes_loop = passes_loop};
  enum nsr_status status = nsr_score_walk_on(g->s, &w, once_more);
  nsr_work_count(g->ctx, NSR_WORK_PROVE, g->x->levels.effort);
  return status;
}

enum nsr_status nsr_lag_check(struct nsr_ctx *ctx, const struct nsr_score *s,
                              const struct nsr_thresholds *t,
                              struct nsr_sights *sights,
                              const struct nsr_touches *touches,
                              struct nsr_lag_result *out) {
  struct lag g = {
      .ctx = ctx, .s = s, .t = t, .x = sights, .touches = touches, .out = out};
  *out = (struct nsr_lag_result){.looked_at = 0};
  NSR_NEW(ctx, NSR_SCRATCH, out->sure, s->nwaits);
  return walk(&g);
}

enum nsr_status nsr_lag_free(struct nsr_ctx *ctx, const struct nsr_score *s,
                             const struct nsr_thresholds *t,
                             struct nsr_free_pair *pairs, size_t n) {
  struct nsr_sights sights;
  NSR_TRY(nsr_sights_init(ctx, s, &sights));
  struct lag g = {
      .ctx = ctx, .s = s, .t = t, .x = &sights, .asked = pairs, .nasked = n};
  NSR_NEW(ctx, NSR_SCRATCH, g.slot_of, s->tree->nworks);
  for (uint32_t k = 0; k < sights.nslots; k++)
    if (s->steps[sights.step_of[k]].work != NSR_NONE)
      g.slot_of[s->steps[sights.step_of[k]].work] = k;
  return walk(&g);
}
