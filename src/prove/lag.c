/* lag.c - what engines know, along a score. */
#include "prove/lag.h"

#include <string.h>

#include "base/work.h"
#include "prove/walk_score.h"

enum { MAX_OPEN = 4096 };

/* Runs gone through before giving up: some seconds. */
#define MAX_EFFORT (UINT64_C(1) << 29)

/* What a loop keeps, per view of its range: rows, then records. */
struct loop {
  struct nsr_sight **head, **back, **exit;
  bool any_head, any_back, any_exit;
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
  int row_of[NSR_MAX_ENGINES]; /* by engine */
  struct nsr_sight *rows[NSR_MAX_ENGINES];
  uint32_t *rec_at;       /* by member: its records, one for each age */
  struct nsr_sight **rec; /* NULL: it never ran */
  uint32_t *free;         /* by scope: nsr_free_loops */
  uint32_t *fence;        /* by loop and channel: slot, NSR_NONE: none */
  uint32_t *last_use;     /* by member: step of the last wait that covers it */
  struct loop *loops;     /* by number - 1 */
  struct nsr_sight *other;
  NSR_VEC(struct nsr_sight *) saved;
  uint32_t item_first, item_end;
  struct nsr_sight *at_item[NSR_MAX_ENGINES];
  uint32_t *now_at_item;
  size_t open_at_item;
};

/* ---- states: rows, and records of the members in a scope */

static uint32_t views_in(const struct lag *g, uint32_t begin) {
  const struct nsr_step *s = &g->s->steps[begin];
  uint32_t end = g->s->steps[s->end].member;
  return g->nrows + g->rec_at[end] - g->rec_at[s->member];
}

static struct nsr_sight **view(struct lag *g, uint32_t begin, uint32_t i) {
  if (i < g->nrows)
    return &g->rows[i];
  return &g->rec[g->rec_at[g->s->steps[begin].member] + i - g->nrows];
}

/* What never ran gets its record here: in scopes nothing is without. */
static enum nsr_status renew_all(struct lag *g, uint32_t begin) {
  uint32_t n = views_in(g, begin);
  for (uint32_t i = 0; i < n; i++) {
    struct nsr_sight **v = view(g, begin, i);
    if (*v) {
      NSR_TRY(nsr_sight_renew(g->x, *v));
      continue;
    }
    NSR_TRY(nsr_sight_new(g->x, v));
    NSR_TRY(g->touches ? nsr_sight_never(g->x, *v)
                       : nsr_sight_nothing(g->x, *v));
  }
  return NSR_OK;
}

static enum nsr_status put_copy(struct lag *g, struct nsr_sight **to,
                                const struct nsr_sight *from) {
  if (!*to)
    NSR_TRY(nsr_sight_new(g->x, to));
  return nsr_sight_copy(g->x, *to, from);
}

static enum nsr_status copy_all(struct lag *g, uint32_t begin,
                                struct nsr_sight **to) {
  uint32_t n = views_in(g, begin);
  for (uint32_t i = 0; i < n; i++)
    NSR_TRY(put_copy(g, &to[i], *view(g, begin, i)));
  return NSR_OK;
}

/* The state is that of from, as of here. */
static enum nsr_status take_all(struct lag *g, uint32_t begin,
                                struct nsr_sight **from) {
  uint32_t n = views_in(g, begin);
  for (uint32_t i = 0; i < n; i++) {
    NSR_TRY(put_copy(g, view(g, begin, i), from[i]));
    nsr_sight_stamp(g->x, *view(g, begin, i));
  }
  return NSR_OK;
}

/* to loses what the state, renewed, does not know. */
static enum nsr_status lose_all(struct lag *g, uint32_t begin,
                                struct nsr_sight **to, bool *changed) {
  uint32_t n = views_in(g, begin);
  for (uint32_t i = 0; i < n; i++)
    NSR_TRY(nsr_sight_merge(g->x, to[i], *view(g, begin, i), false, changed));
  return NSR_OK;
}

/* ---- scopes */

static struct loop *loop_at(struct lag *g, uint32_t begin) {
  return &g->loops[g->x->loop_number[begin] - 1];
}

static enum nsr_status enter_loop(void *user, uint32_t begin, bool *changed) {
  struct lag *g = user;
  struct loop *l = loop_at(g, begin);
  uint32_t n = views_in(g, begin), number = g->x->loop_number[begin];
  g->x->step = begin + 1;
  if (!l->head) {
    NSR_NEW(g->ctx, NSR_SCRATCH, l->head, n);
    NSR_NEW(g->ctx, NSR_SCRATCH, l->back, n);
    NSR_NEW(g->ctx, NSR_SCRATCH, l->exit, n);
  }
  NSR_TRY(renew_all(g, begin));
  *changed = !l->any_head;
  NSR_TRY(l->any_head ? lose_all(g, begin, l->head, changed)
                      : copy_all(g, begin, l->head));
  l->any_head = true;
  l->any_back = l->any_exit = false;
  const uint32_t *slots =
      g->x->loop_slots + (size_t)(number - 1) * 2 * g->x->nch;
  NSR_PUSH(
      g->ctx, NSR_SCRATCH, &g->x->loops,
      (struct nsr_sight_loop){begin + 1, number, slots, slots + g->x->nch});
  return take_all(g, begin, l->head);
}

static enum nsr_status end_way(void *user, uint32_t begin, bool back) {
  struct lag *g = user;
  struct loop *l = loop_at(g, begin);
  bool *any = back ? &l->any_back : &l->any_exit;
  struct nsr_sight **to = back ? l->back : l->exit;
  NSR_TRY(renew_all(g, begin));
  NSR_TRY(*any ? lose_all(g, begin, to, NULL) : copy_all(g, begin, to));
  *any = true;
  return NSR_OK;
}

static enum nsr_status leave_loop(void *user, uint32_t begin, bool *changed) {
  struct lag *g = user;
  struct loop *l = loop_at(g, begin);
  if (l->any_back) {
    NSR_TRY(take_all(g, begin, l->back));
    NSR_TRY(lose_all(g, begin, l->head, changed));
  }
  g->x->loops.n--;
  g->x->step = g->s->steps[begin].end + 1;
  return take_all(g, begin, l->any_exit ? l->exit : l->head);
}

static enum nsr_status enter_arm(void *user, uint32_t begin) {
  struct lag *g = user;
  uint32_t n = views_in(g, begin);
  g->x->step = begin + 1;
  NSR_TRY(renew_all(g, begin));
  NSR_RESERVE(g->ctx, NSR_SCRATCH, &g->saved, n);
  struct nsr_sight **to = g->saved.v + g->saved.n;
  memset(to, 0, n * sizeof *to);
  g->saved.n += n;
  return copy_all(g, begin, to);
}

static enum nsr_status leave_arm(void *user, uint32_t begin, bool join) {
  struct lag *g = user;
  uint32_t n = views_in(g, begin);
  struct nsr_sight **before = g->saved.v + g->saved.n - n;
  g->x->step = g->s->steps[begin].end + 1;
  if (join) {
    NSR_TRY(renew_all(g, begin));
    NSR_TRY(lose_all(g, begin, before, NULL));
  }
  NSR_TRY(take_all(g, begin, before));
  for (uint32_t i = 0; i < n; i++)
    nsr_sight_free(g->x, &before[i]);
  g->saved.n -= n;
  return NSR_OK;
}

/* ---- conflicts of a work */

/* The work that looks. */
struct look {
  struct lag *g;
  const struct nsr_sight *row;
  uint32_t touch, near;
};

static uint32_t scope_of(const struct lag *g, uint32_t touch) {
  const struct nsr_step *s =
      &g->s->steps[g->x->step_of[g->touches->v[touch].slot]];
  return g->s->tree->works[s->work].scope;
}

/* What is unknown of executions before this run of a loop around both. */
static uint32_t old_level(const struct look *l, uint32_t q) {
  const struct lag *g = l->g;
  uint32_t loop = g->free[scope_of(g, l->touch)];
  if (loop == NSR_NONE || g->free[scope_of(g, q)] != loop)
    return NSR_LEVEL_ANY;
  int8_t ch = g->s->steps[g->x->step_of[g->touches->v[q].slot]].channel;
  return nsr_sight_level(l->row,
                         g->fence[(size_t)loop * g->x->nch + (size_t)ch]);
}

static enum nsr_status look_at(const struct look *l, uint32_t q,
                               uint32_t level) {
  struct lag *g = l->g;
  const struct nsr_touches *t = g->touches;
  struct nsr_apart apart;
  g->out->looked_at++;
  if (nsr_touch_ordered(t, &t->v[q], &t->v[l->touch]))
    return NSR_OK;
  NSR_TRY(nsr_touch_apart(g->ctx, t, &t->v[q], &t->v[l->touch], &apart));
  if (level <= apart.level && !apart.front)
    return NSR_OK;
  g->out->more |= g->out->open.n >= MAX_OPEN;
  if (g->out->more)
    return NSR_OK;
  NSR_PUSH(g->ctx, NSR_SCRATCH, &g->out->open,
           (struct nsr_open_pair){q, l->touch, l->near, level, old_level(l, q),
                                  apart});
  return NSR_OK;
}

/* Where in a list the first touch with this slot, or a later one, is. */
static uint32_t first_from(const struct nsr_touches *t,
                           const struct nsr_spot_list *l, uint32_t slot) {
  uint32_t lo = 0, hi = l->n;
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (t->v[t->touches_of[l->first + mid]].slot < slot)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

/* Of a list, those of which something is unknown: run by run. */
static enum nsr_status look_along(const struct look *l,
                                  const struct nsr_spot_list *list) {
  const struct nsr_touches *t = l->g->touches;
  uint32_t first = t->v[t->touches_of[list->first]].slot;
  uint32_t last = t->v[t->touches_of[list->first + list->n - 1]].slot;
  for (uint32_t r = nsr_sight_run(l->row, first);
       r < l->row->n && l->row->v[r].slot <= last; r++) {
    uint32_t end = r + 1 < l->row->n ? l->row->v[r + 1].slot : UINT32_MAX;
    uint32_t level = l->row->v[r].level;
    if (level == 0)
      continue;
    for (uint32_t i = first_from(t, list, l->row->v[r].slot); i < list->n;
         i++) {
      uint32_t q = t->touches_of[list->first + i];
      if (t->v[q].slot >= end)
        break;
      NSR_TRY(look_at(l, q, level));
    }
  }
  return NSR_OK;
}

/* Own accumulation is in order behind what writes, so such lists need no
 * look. */
static bool all_ordered(const struct look *l,
                        const struct nsr_spot_list *list) {
  const struct nsr_touches *t = l->g->touches;
  const struct nsr_touch *q = &t->v[t->touches_of[list->first]];
  return nsr_touch_ordered(t, q, &t->v[l->touch]);
}

static enum nsr_status look_around(struct look *l) {
  const struct nsr_touches *t = l->g->touches;
  const struct nsr_touch *c = &t->v[l->touch];
  const struct nsr_spot *spot = &t->spots[c->spot];
  for (uint32_t i = 0; i < spot->nnear; i++) {
    l->near = spot->first_near + i;
    const struct nsr_spot *other = &t->spots[t->near[l->near].spot];
    for (uint32_t k = 0; k < other->nlists; k++) {
      const struct nsr_spot_list *list = &t->lists[other->first_list + k];
      if ((list->writes || c->writes) && !all_ordered(l, list))
        NSR_TRY(look_along(l, list));
    }
  }
  return NSR_OK;
}

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
    g->asked[k].free = nsr_sight_level(row, g->slot_of[g->asked[k].q]) > 0;
}

static enum nsr_status check_work(struct lag *g, uint32_t i,
                                  const struct nsr_sight *row) {
  uint32_t slot = g->x->slot[i];
  if (!g->touches) {
    answer(g, i, row);
    return NSR_OK;
  }
  struct look l = {.g = g, .row = row};
  for (uint32_t t = g->touches->first[slot]; t < g->touches->first[slot + 1];
       t++) {
    l.touch = t;
    NSR_TRY(look_around(&l));
  }
  return NSR_OK;
}

/* ---- steps */

/* Records move by one execution; the latest knows what the engine knows, and
 * all of its channel. */
static enum nsr_status record(struct lag *g, const struct nsr_step *s,
                              const struct nsr_sight *row) {
  uint32_t at = g->rec_at[s->member], end = g->rec_at[s->member + 1];
  if (at == end)
    return NSR_OK;
  struct nsr_sight *last = g->rec[end - 1];
  for (uint32_t r = end; r-- > at + 1;) {
    g->rec[r] = g->rec[r - 1];
    if (g->rec[r])
      NSR_TRY(nsr_sight_renew(g->x, g->rec[r]));
  }
  g->rec[at] = last;
  NSR_TRY(put_copy(g, &g->rec[at], row));
  return nsr_sight_learn(g->x, g->rec[at], g->x->base[s->channel],
                         g->x->base[s->channel + 1]);
}

static enum nsr_status take_work(struct lag *g, uint32_t i) {
  const struct nsr_step *s = &g->s->steps[i];
  struct nsr_sight *row = g->rows[g->row_of[s->engine]];
  bool slot = !s->island;
  NSR_TRY(nsr_sight_renew(g->x, row));
  if (slot) {
    NSR_TRY(check_work(g, i, row));
    g->x->now[s->channel]++;
    NSR_TRY(nsr_sight_renew(g->x, row));
  }
  if (slot && s->passes)
    NSR_TRY(nsr_sight_learn(g->x, row, g->x->slot[i], g->x->slot[i] + 1));
  if (s->group != NSR_NONE)
    NSR_TRY(record(g, s, row));
  if (s->load)
    NSR_TRY(nsr_sight_learn(g->x, row, g->x->base[s->channel],
                            g->x->base[s->channel + 1]));
  return NSR_OK;
}

/* Whether a wait, if it does not wait, is for what has retired anyway: for what
 * lies in front of a trip of a loop, where all of that is known. */
static bool is_sure(const struct lag *g, uint32_t i,
                    const struct nsr_wait_found *w,
                    const struct nsr_sight *row) {
  if (w->within == NSR_NONE)
    return true;
  size_t loop = g->s->steps[w->within].work;
  size_t ch = (size_t)g->s->groups[g->s->steps[i].group].channel;
  uint32_t fence = g->fence[loop * g->x->nch + ch];
  return fence != NSR_NONE && nsr_sight_level(row, fence) == 0;
}

static enum nsr_status take_wait(struct lag *g, uint32_t i) {
  const struct nsr_wait_found *w = &g->t->waits[g->t->wait_of[i]];
  struct nsr_sight *row = g->rows[g->row_of[g->s->steps[i].engine]];
  bool mixed = g->s->steps[i].group != NSR_NONE &&
               g->s->groups[g->s->steps[i].group].channel < 0;
  if (!g->touches && w->kind != NSR_WAIT_NEVER &&
      (w->kind != NSR_WAIT_LAG || mixed)) { /* it may tell anything */
    NSR_TRY(nsr_sight_clear(g->x, row));
    nsr_sight_stamp(g->x, row);
  }
  if (w->n == 0)
    return NSR_OK;
  NSR_TRY(nsr_sight_renew(g->x, row));
  bool sure = is_sure(g, i, w, row);
  if (g->out)
    g->out->sure[g->t->wait_of[i]] = sure;
  for (uint32_t k = 0; sure && k < w->n; k++) {
    const struct nsr_cover *c = &g->t->covers.v[w->first + k];
    const struct nsr_sight *rec = g->rec[g->rec_at[c->member] + c->age];
    uint32_t slot = g->x->slot[g->s->members[c->member]];
    /* who knows of an execution knows what follows from it */
    if (!rec || nsr_sight_level(row, slot) <= c->age)
      continue;
    NSR_TRY(nsr_sight_copy(g->x, g->other, rec));
    NSR_TRY(nsr_sight_renew(g->x, g->other));
    NSR_TRY(nsr_sight_merge(g->x, row, g->other, true, NULL));
  }
  return NSR_OK;
}

static enum nsr_status take_step(void *user, uint32_t i) {
  struct lag *g = user;
  const struct nsr_step *s = &g->s->steps[i];
  g->x->step = i + 1;
  if (g->x->effort > MAX_EFFORT)
    return NSR_E_UNDECIDED;
  nsr_work_count(g->ctx, NSR_WORK_PROVE, 1);
  if (s->kind == NSR_STEP_WORK)
    return take_work(g, i);
  if (s->kind == NSR_STEP_WAIT)
    return take_wait(g, i);
  for (uint32_t r = 0; s->kind == NSR_STEP_BARRIER && r < g->nrows; r++) {
    NSR_TRY(nsr_sight_clear(g->x, g->rows[r]));
    nsr_sight_stamp(g->x, g->rows[r]);
  }
  return NSR_OK;
}

/* ---- items */

static enum nsr_status begin_item(void *user, uint32_t first, uint32_t end) {
  struct lag *g = user;
  g->item_first = first;
  g->item_end = end;
  g->open_at_item = g->out ? g->out->open.n : 0;
  if (end - first == 1)
    return NSR_OK;
  g->x->step = first + 1;
  memcpy(g->now_at_item, g->x->now, g->x->nch * sizeof *g->x->now);
  for (uint32_t r = 0; r < g->nrows; r++)
    NSR_TRY(put_copy(g, &g->at_item[r], g->rows[r]));
  return NSR_OK;
}

/* All members of the item have never run yet. */
static void forget_records(struct lag *g) {
  uint32_t end = g->item_end < g->s->nsteps ? g->s->steps[g->item_end].member
                                            : g->s->nmembers;
  uint32_t first = g->s->steps[g->item_first].member;
  for (uint32_t r = g->rec_at[first]; r < g->rec_at[end]; r++)
    nsr_sight_free(g->x, &g->rec[r]);
}

static enum nsr_status again(void *user) {
  struct lag *g = user;
  memcpy(g->x->now, g->now_at_item, g->x->nch * sizeof *g->x->now);
  for (uint32_t r = 0; r < g->nrows; r++)
    NSR_TRY(put_copy(g, &g->rows[r], g->at_item[r]));
  forget_records(g);
  if (g->out)
    g->out->open.n = g->open_at_item;
  return NSR_OK;
}

static void free_loop(struct lag *g, uint32_t begin) {
  struct loop *l = loop_at(g, begin);
  uint32_t n = l->head ? views_in(g, begin) : 0;
  for (uint32_t i = 0; i < n; i++) {
    nsr_sight_free(g->x, &l->head[i]);
    nsr_sight_free(g->x, &l->back[i]);
    nsr_sight_free(g->x, &l->exit[i]);
  }
}

static void free_records(struct lag *g, uint32_t member) {
  for (uint32_t r = g->rec_at[member]; r < g->rec_at[member + 1]; r++)
    nsr_sight_free(g->x, &g->rec[r]);
}

static enum nsr_status settle_records(struct lag *g, uint32_t member) {
  for (uint32_t r = g->rec_at[member]; r < g->rec_at[member + 1]; r++)
    if (g->rec[r])
      NSR_TRY(nsr_sight_settle(g->x, g->rec[r]));
  return NSR_OK;
}

/* Records that no wait needs any more go, and so do the loops' views. */
static enum nsr_status leave_item(void *user, uint32_t first, uint32_t end) {
  struct lag *g = user;
  for (uint32_t r = 0; r < g->nrows && end - first > 1; r++) {
    g->x->step = end;
    NSR_TRY(nsr_sight_renew(g->x, g->rows[r]));
    NSR_TRY(nsr_sight_settle(g->x, g->rows[r]));
  }
  for (uint32_t i = first; i < end; i++) {
    const struct nsr_step *s = &g->s->steps[i];
    if (s->kind == NSR_STEP_LOOP)
      free_loop(g, i);
    if (s->kind == NSR_STEP_WORK && s->group != NSR_NONE &&
        g->last_use[s->member] < end)
      free_records(g, s->member);
    else if (s->kind == NSR_STEP_WORK && s->group != NSR_NONE &&
             end - first > 1)
      NSR_TRY(settle_records(g, s->member));
    if (s->kind != NSR_STEP_WAIT)
      continue;
    const struct nsr_wait_found *w = &g->t->waits[g->t->wait_of[i]];
    for (uint32_t k = 0; k < w->n; k++) {
      uint32_t m = g->t->covers.v[w->first + k].member;
      if (g->last_use[m] < end)
        free_records(g, m);
    }
  }
  return NSR_OK;
}

/* ---- */

static enum nsr_status number_records(struct lag *g) {
  const struct nsr_score *s = g->s;
  uint8_t *ages;
  uint32_t n = 0;
  NSR_NEW(g->ctx, NSR_SCRATCH, ages, s->nmembers);
  NSR_NEW(g->ctx, NSR_SCRATCH, g->last_use, s->nmembers);
  NSR_NEW(g->ctx, NSR_SCRATCH, g->rec_at, (size_t)s->nmembers + 1);
  for (uint32_t i = 0; i < s->nsteps; i++) {
    if (s->steps[i].kind != NSR_STEP_WAIT)
      continue;
    const struct nsr_wait_found *w = &g->t->waits[g->t->wait_of[i]];
    for (uint32_t k = 0; k < w->n; k++) {
      const struct nsr_cover *c = &g->t->covers.v[w->first + k];
      if (ages[c->member] <= c->age)
        ages[c->member] = c->age + 1;
      g->last_use[c->member] = i;
    }
  }
  for (uint32_t m = 0; m < s->nmembers; m++) {
    g->rec_at[m] = n;
    n += ages[m];
  }
  g->rec_at[s->nmembers] = n;
  NSR_NEW(g->ctx, NSR_SCRATCH, g->rec, n);
  return NSR_OK;
}

static enum nsr_status find_fences(struct lag *g) {
  NSR_TRY(nsr_free_loops(g->ctx, g->s->tree, &g->free));
  size_t n = (size_t)g->s->tree->nscopes * g->x->nch;
  NSR_NEW(g->ctx, NSR_SCRATCH, g->fence, n);
  for (size_t i = 0; i < n; i++)
    g->fence[i] = NSR_NONE;
  for (uint32_t i = 0; i < g->s->nsteps; i++) {
    const struct nsr_step *s = &g->s->steps[i];
    if (s->fence)
      g->fence[(size_t)s->end * g->x->nch + (size_t)s->channel] = g->x->slot[i];
  }
  return NSR_OK;
}

static enum nsr_status prepare(struct lag *g) {
  uint32_t loops = 0;
  NSR_TRY(number_records(g));
  for (uint32_t i = 0; i < g->s->nsteps; i++)
    loops += g->s->steps[i].kind == NSR_STEP_LOOP;
  NSR_NEW(g->ctx, NSR_SCRATCH, g->loops, loops);
  NSR_TRY(find_fences(g));
  NSR_NEW(g->ctx, NSR_SCRATCH, g->now_at_item, g->x->nch);
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    if (g->s->program->stream[e]) {
      g->row_of[e] = (int)g->nrows;
      NSR_TRY(nsr_sight_new(g->x, &g->rows[g->nrows++]));
    }
  return nsr_sight_new(g->x, &g->other);
}

static enum nsr_status walk(struct lag *g) {
  NSR_TRY(prepare(g));
  struct nsr_walker w = {g,         begin_item, again,   leave_item,
                         take_step, enter_loop, end_way, leave_loop,
                         enter_arm, leave_arm};
  return nsr_score_walk(g->ctx, g->s, &w);
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
