/* known.c - the walk behind known.h.
 *
 * A view is a set with the moment it was made: the next slot of each channel,
 * and how many loops had been begun or ended in the order of the text. What
 * has issued since is added when the view is read: once where no loop lies
 * between, and an unknown number of times for the works of loops that do.
 */
#include "dep/known.h"

#include <assert.h>
#include <string.h>

#include "base/vec.h"
#include "base/work.h"
#include "dep/facts.h"

/* Straight code is cut into items of this many works. */
enum { ITEM_WORKS = 256 };

/* More loops than this between a view and now count as one. */
enum { MAX_PASSED = 4 };

struct view {
  struct nsr_facts set;
  uint32_t tick;
  uint64_t serial; /* order of making, to be compared with barriers */
  uint32_t *at;    /* by channel: the next slot */
};

/* A loop, or the program (loop 0). */
struct loop {
  uint32_t parent;
  uint32_t begin, end;        /* ticks behind its beginning and its end */
  uint32_t *first, *last;     /* by channel: its slots first..last-1 */
  uint32_t child, nchildren;  /* into walk->children */
  uint32_t nviews;            /* rows, and the records of its works */
  struct view **head;         /* NULL: not reached yet */
  struct view **back, **exit; /* what its ways end with */
  bool any_back, any_exit;
};

/* The last barrier passed. */
struct passed {
  uint64_t serial;
  uint32_t tick;
  uint32_t at[NSR_MAX_CHANNELS];
};

/* Where a scope's works have their records. */
struct range {
  uint32_t lo, hi;
};

struct nsr_walk {
  struct nsr_ctx *ctx;
  const struct nsr_tree *tree;
  uint32_t levels;
  bool barriers, coarse, changed;

  uint32_t nch;
  uint32_t *base;        /* by channel: its first slot; nch + 1 of them */
  uint32_t *slot;        /* by work with a channel */
  uint8_t *lags;         /* by work: records it has */
  uint32_t *record;      /* by work: its first */
  bool *exported;        /* by work: awaited from another item */
  uint32_t *item_of;     /* by work */
  struct range *records; /* by scope */
  uint32_t *loop_of;     /* by scope that is a loop */
  struct loop *loops;
  uint32_t nloops, *children;
  NSR_VEC(struct nsr_walk_item) items;
  bool started;

  /* the state: a row per engine, a record per awaited work and lag */
  struct view *rows[NSR_MAX_ENGINES];
  struct view **rec; /* NULL: never ran */
  uint32_t at[NSR_MAX_CHANNELS];
  uint32_t tick;
  uint64_t serial;
  struct passed passed;
  uint32_t loop; /* the innermost around here */

  /* at the entry of the item */
  uint32_t item;
  struct view *entry[NSR_MAX_ENGINES];
  uint32_t entry_at[NSR_MAX_CHANNELS], entry_tick;
  struct passed entry_passed;

  NSR_VEC(struct view *) stack; /* states in front of arms */
  NSR_VEC(struct view *) spare;
  struct view *other; /* for a record while it is read */
  struct view *held;  /* a row, for nsr_walk_back */
  struct nsr_facts aged, tmp;
};

/* ---- views */

static enum nsr_status take(struct nsr_walk *w, struct view **out) {
  if (w->spare.n) {
    *out = w->spare.v[--w->spare.n];
    (*out)->set.n = 0;
    return NSR_OK;
  }
  NSR_NEW(w->ctx, NSR_SCRATCH, *out, 1);
  NSR_NEW(w->ctx, NSR_SCRATCH, (*out)->at, w->nch);
  return NSR_OK;
}

static enum nsr_status give(struct nsr_walk *w, struct view **v) {
  if (*v)
    NSR_PUSH(w->ctx, NSR_SCRATCH, &w->spare, *v);
  *v = NULL;
  return NSR_OK;
}

static void stamp(const struct nsr_walk *w, struct view *v) {
  v->tick = w->tick;
  v->serial = w->serial;
  memcpy(v->at, w->at, w->nch * sizeof *v->at);
}

static enum nsr_status copy_view(struct nsr_walk *w, struct view *out,
                                 const struct view *v) {
  out->tick = v->tick;
  out->serial = v->serial;
  memcpy(out->at, v->at, w->nch * sizeof *out->at);
  return nsr_facts_copy(w->ctx, &out->set, &v->set);
}

static void swap_sets(struct nsr_facts *a, struct nsr_facts *b) {
  struct nsr_facts x = *a;
  *a = *b;
  *b = x;
}

/* Loops that lie between a moment and now, outermost ones only, and the one
 * that was begun since and is not over. */
struct crossed {
  uint32_t n;
  const struct loop *v[MAX_PASSED + 1];
  bool many; /* v[0] .. v[n-1] stand for all between them, too */
};

/* The first child of a loop that begins behind a tick. */
static uint32_t child_behind(const struct nsr_walk *w, const struct loop *l,
                             uint32_t tick) {
  uint32_t lo = l->child, hi = l->child + l->nchildren;
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (w->loops[w->children[mid]].begin > tick)
      hi = mid;
    else
      lo = mid + 1;
  }
  return lo;
}

static void find_crossed(const struct nsr_walk *w, uint32_t tick,
                         struct crossed *out) {
  const struct loop *around = &w->loops[w->loop];
  while (around->parent != NSR_NONE &&
         (tick < around->begin || tick >= around->end))
    around = &w->loops[around->parent];
  uint32_t first = child_behind(w, around, tick);
  uint32_t end = child_behind(w, around, w->tick);
  out->n = 0;
  out->many = end - first > MAX_PASSED;
  if (out->many) {
    out->v[out->n++] = &w->loops[w->children[first]];
    out->v[out->n++] = &w->loops[w->children[end - 1]];
    return;
  }
  for (uint32_t i = first; i < end; i++)
    out->v[out->n++] = &w->loops[w->children[i]];
}

/* What a channel has issued from slot `at` on. */
static enum nsr_status age_channel(struct nsr_walk *w, uint32_t ch, uint32_t at,
                                   const struct crossed *x) {
  for (uint32_t i = 0; i < x->n; i++) {
    uint32_t first = x->v[i]->first[ch], last = x->v[i]->last[ch];
    bool joined = x->many && i > 0;
    NSR_TRY(
        nsr_facts_push(w->ctx, &w->aged, at, first, joined ? w->levels : 1));
    NSR_TRY(nsr_facts_push(w->ctx, &w->aged, first, last, w->levels));
    at = last;
  }
  return nsr_facts_push(w->ctx, &w->aged, at, w->at[ch], 1);
}

/* Brings a view up to now. */
static enum nsr_status renew(struct nsr_walk *w, struct view *v) {
  struct crossed x = {0};
  if (v->serial < w->passed.serial) {
    v->set.n = 0;
    v->tick = w->passed.tick;
    memcpy(v->at, w->passed.at, w->nch * sizeof *v->at);
  }
  if (v->tick != w->tick)
    find_crossed(w, v->tick, &x);
  else if (memcmp(v->at, w->at, w->nch * sizeof *v->at) == 0)
    return NSR_OK;
  w->aged.n = 0;
  for (uint32_t ch = 0; ch < w->nch; ch++)
    NSR_TRY(age_channel(w, ch, v->at[ch], &x));
  NSR_TRY(nsr_facts_zip(w->ctx, &w->tmp, &v->set, &w->aged, NSR_FACTS_ADD,
                        w->levels, &w->coarse));
  nsr_work_count(w->ctx, NSR_WORK_DEP, 1 + w->tmp.n);
  swap_sets(&w->tmp, &v->set);
  stamp(w, v);
  return NSR_OK;
}

/* What a work that never ran says: all that has issued is unknown. */
static void never(const struct nsr_walk *w, struct view *v) {
  v->set.n = 0;
  v->tick = 0;
  v->serial = 0;
  memcpy(v->at, w->base, w->nch * sizeof *v->at);
}

/* The view in a place of the state, up to now. */
static enum nsr_status fresh(struct nsr_walk *w, struct view **place) {
  if (!*place) {
    NSR_TRY(take(w, place));
    never(w, *place);
  }
  return renew(w, *place);
}

static enum nsr_status merge(struct nsr_walk *w, struct view *a,
                             const struct view *b, enum nsr_facts_op op) {
  NSR_TRY(nsr_facts_zip(w->ctx, &w->tmp, &a->set, &b->set, op, w->levels,
                        &w->coarse));
  nsr_work_count(w->ctx, NSR_WORK_DEP, 1 + w->tmp.n);
  swap_sets(&w->tmp, &a->set);
  return NSR_OK;
}

/* ---- what is asked and told */

enum nsr_status nsr_walk_known(struct nsr_walk *w, int engine, uint32_t q,
                               uint32_t lag, bool *known) {
  struct view *row = w->rows[engine];
  uint32_t ch = (uint32_t)w->tree->works[q].channel, s = w->slot[q];
  if (row->tick != w->tick)
    NSR_TRY(renew(w, row));
  uint32_t level = nsr_facts_level(&row->set, s);
  level += s >= row->at[ch] && s < w->at[ch];
  *known = level <= lag;
  return NSR_OK;
}

enum nsr_status nsr_walk_wait(struct nsr_walk *w, int engine, uint32_t u,
                              uint32_t lag) {
  const struct view *rec = w->rec[w->record[u] + lag];
  assert(lag < w->lags[u]);
  if (rec)
    NSR_TRY(copy_view(w, w->other, rec));
  else
    never(w, w->other);
  NSR_TRY(renew(w, w->other));
  NSR_TRY(renew(w, w->rows[engine]));
  return merge(w, w->rows[engine], w->other, NSR_FACTS_MIN);
}

enum nsr_status nsr_walk_hold(struct nsr_walk *w, int engine) {
  NSR_TRY(renew(w, w->rows[engine]));
  return copy_view(w, w->held, w->rows[engine]);
}

enum nsr_status nsr_walk_back(struct nsr_walk *w, int engine) {
  return copy_view(w, w->rows[engine], w->held);
}

void nsr_walk_again(struct nsr_walk *w) { w->changed = true; }

bool nsr_walk_coarse(const struct nsr_walk *w) { return w->coarse; }

/* ---- one work */

/* The records of a work move by one execution; the latest knows what the
 * engine knows, and all of its channel. */
static enum nsr_status record(struct nsr_walk *w, uint32_t i) {
  const struct nsr_work *x = &w->tree->works[i];
  struct view **r = w->rec + w->record[i];
  uint32_t n = w->lags[i];
  struct view *last = r[n - 1];
  for (uint32_t l = n; l-- > 1;) {
    r[l] = r[l - 1];
    if (r[l]) /* while this work is not among what lies between loops */
      NSR_TRY(renew(w, r[l]));
  }
  r[0] = last;
  if (!r[0])
    NSR_TRY(take(w, &r[0]));
  NSR_TRY(renew(w, w->rows[x->engine]));
  NSR_TRY(copy_view(w, r[0], w->rows[x->engine]));
  return nsr_facts_learn(w->ctx, &r[0]->set, w->base[x->channel],
                         w->base[x->channel + 1]);
}

static enum nsr_status issue(struct nsr_walk *w, uint32_t i) {
  const struct nsr_work *x = &w->tree->works[i];
  nsr_work_count(w->ctx, NSR_WORK_DEP, 1);
  if (x->channel < 0)
    return NSR_OK;
  assert(w->at[x->channel] == w->slot[i]);
  w->at[x->channel]++;
  if (w->lags[i])
    NSR_TRY(record(w, i));
  /* a load stalls its engine until it has retired, in order */
  if (x->marker || nsr_work_node(w->tree, x)->cls != NSR_LOAD)
    return NSR_OK;
  NSR_TRY(renew(w, w->rows[x->engine]));
  return nsr_facts_learn(w->ctx, &w->rows[x->engine]->set, w->base[x->channel],
                         w->base[x->channel + 1]);
}

/* ---- states: the rows, and the records of a range */

static uint32_t nviews(const struct range *r) {
  return NSR_MAX_ENGINES + r->hi - r->lo;
}

static struct view **place_of(struct nsr_walk *w, const struct range *r,
                              uint32_t i) {
  return i < NSR_MAX_ENGINES ? &w->rows[i]
                             : &w->rec[r->lo + i - NSR_MAX_ENGINES];
}

/* All of them up to now. */
static enum nsr_status fresh_state(struct nsr_walk *w, const struct range *r) {
  for (uint32_t i = 0; i < nviews(r); i++)
    NSR_TRY(fresh(w, place_of(w, r, i)));
  return NSR_OK;
}

static enum nsr_status copy_state(struct nsr_walk *w, const struct range *r,
                                  struct view **out) {
  for (uint32_t i = 0; i < nviews(r); i++) {
    if (!out[i])
      NSR_TRY(take(w, &out[i]));
    NSR_TRY(copy_view(w, out[i], *place_of(w, r, i)));
  }
  return NSR_OK;
}

/* The state is v, as of now. */
static enum nsr_status set_state(struct nsr_walk *w, const struct range *r,
                                 struct view **v) {
  for (uint32_t i = 0; i < nviews(r); i++) {
    struct view **place = place_of(w, r, i);
    if (!*place)
      NSR_TRY(take(w, place));
    NSR_TRY(nsr_facts_copy(w->ctx, &(*place)->set, &v[i]->set));
    stamp(w, *place);
  }
  return NSR_OK;
}

/* into loses what the state does not know; *lost: whether that was anything. */
static enum nsr_status lose(struct nsr_walk *w, const struct range *r,
                            struct view **into, bool *lost) {
  for (uint32_t i = 0; i < nviews(r); i++) {
    NSR_TRY(merge(w, into[i], *place_of(w, r, i), NSR_FACTS_MAX));
    *lost |= !nsr_facts_equal(&w->tmp, &into[i]->set);
  }
  return NSR_OK;
}

/* Adds the state, where a way ends, to those of other ways. */
static enum nsr_status gather(struct nsr_walk *w, const struct range *r,
                              struct view **acc, bool *any) {
  if (!*any) {
    *any = true;
    return copy_state(w, r, acc);
  }
  return lose(w, r, acc, &(bool){false});
}

/* ---- scopes */

static enum nsr_status walk_body(struct nsr_walk *w, uint32_t scope,
                                 nsr_visit_fn *visit, void *user);

/* The scope of the innermost loop here, for its range of records. */
static const struct range *loop_range(const struct nsr_walk *w,
                                      uint32_t scope) {
  const struct nsr_common *scopes = w->tree->scopes;
  while (scope != 0 && scopes[scope].kind != NSR_SCOPE_LOOP)
    scope = scopes[scope].parent;
  return &w->records[scope];
}

/* A way through the innermost loop's body ends here, in a scope. */
static enum nsr_status end_way(struct nsr_walk *w, uint32_t scope,
                               uint8_t ends) {
  struct loop *l = &w->loops[w->loop];
  const struct range *r = loop_range(w, scope);
  if (l->parent == NSR_NONE)
    return NSR_OK;
  NSR_TRY(fresh_state(w, r));
  if (ends & NSR_ENDS_BACK)
    NSR_TRY(gather(w, r, l->back, &l->any_back));
  if (ends & NSR_ENDS_EXIT)
    NSR_TRY(gather(w, r, l->exit, &l->any_exit));
  return NSR_OK;
}

/* Iterations start with what holds in front of the loop and wherever one goes
 * on; behind it holds what holds wherever one leaves. A barrier in it may not
 * have been passed. */
static enum nsr_status walk_loop(struct nsr_walk *w, uint32_t scope,
                                 nsr_visit_fn *visit, void *user) {
  struct loop *l = &w->loops[w->loop_of[scope]];
  const struct range *r = &w->records[scope];
  struct passed passed = w->passed;
  uint32_t outer = w->loop;
  NSR_TRY(fresh_state(w, r));
  if (!l->head) {
    NSR_NEW(w->ctx, NSR_SCRATCH, l->head, nviews(r));
    NSR_NEW(w->ctx, NSR_SCRATCH, l->back, nviews(r));
    NSR_NEW(w->ctx, NSR_SCRATCH, l->exit, nviews(r));
  }
  if (l->head[0]) {
    NSR_TRY(lose(w, r, l->head, &w->changed));
  } else {
    NSR_TRY(copy_state(w, r, l->head));
    w->changed = true;
  }
  w->tick++;
  w->loop = w->loop_of[scope];
  l->any_back = l->any_exit = false;
  NSR_TRY(set_state(w, r, l->head));
  NSR_TRY(walk_body(w, scope, visit, user));
  if (l->any_back) {
    NSR_TRY(set_state(w, r, l->back));
    NSR_TRY(lose(w, r, l->head, &w->changed));
  }
  w->loop = outer;
  w->tick++;
  w->passed = passed;
  return set_state(w, r, l->any_exit ? l->exit : l->head);
}

/* An arm may be passed by, and is joined, or ends an iteration. */
static enum nsr_status walk_arm(struct nsr_walk *w, uint32_t scope,
                                nsr_visit_fn *visit, void *user) {
  const struct nsr_common *s = &w->tree->scopes[scope];
  const struct range *r = &w->records[scope];
  struct passed passed = w->passed;
  size_t at = w->stack.n;
  NSR_TRY(fresh_state(w, r));
  NSR_RESERVE(w->ctx, NSR_SCRATCH, &w->stack, nviews(r));
  for (uint32_t i = 0; i < nviews(r); i++)
    w->stack.v[w->stack.n++] = NULL;
  NSR_TRY(copy_state(w, r, w->stack.v + at));
  NSR_TRY(walk_body(w, scope, visit, user));
  w->passed = passed;
  struct view **before = w->stack.v + at;
  if (s->to_end) {
    NSR_TRY(set_state(w, r, before)); /* for the other arm */
    if (s->skip)
      NSR_TRY(end_way(w, s->parent, s->skip));
  } else {
    NSR_TRY(fresh_state(w, r));
    for (uint32_t i = 0; i < nviews(r); i++)
      NSR_TRY(merge(w, *place_of(w, r, i), before[i], NSR_FACTS_MAX));
  }
  while (w->stack.n > at)
    NSR_TRY(give(w, &w->stack.v[--w->stack.n]));
  return NSR_OK;
}

static void pass_barrier(struct nsr_walk *w) {
  w->passed.serial = ++w->serial;
  w->passed.tick = w->tick;
  memcpy(w->passed.at, w->at, w->nch * sizeof *w->at);
  for (int e = 0; e < NSR_MAX_ENGINES; e++) {
    w->rows[e]->set.n = 0;
    stamp(w, w->rows[e]);
  }
}

static enum nsr_status walk_part(struct nsr_walk *w,
                                 const struct nsr_part *part, uint32_t first,
                                 uint32_t n, nsr_visit_fn *visit, void *user) {
  if (part->kind == NSR_PART_BARRIER) {
    if (w->barriers || part->keep)
      pass_barrier(w);
    return NSR_OK;
  }
  if (part->kind == NSR_PART_SCOPE)
    return w->tree->scopes[part->first].kind == NSR_SCOPE_LOOP
               ? walk_loop(w, part->first, visit, user)
               : walk_arm(w, part->first, visit, user);
  for (uint32_t i = first; i < first + n; i++) {
    NSR_TRY(visit(user, w, i));
    NSR_TRY(issue(w, i));
  }
  return NSR_OK;
}

static enum nsr_status walk_body(struct nsr_walk *w, uint32_t scope,
                                 nsr_visit_fn *visit, void *user) {
  const struct nsr_tree *t = w->tree;
  const struct nsr_common *s = &t->scopes[scope];
  bool ended = false; /* all ways end in arms */
  for (uint32_t p = s->first_part; p != NSR_NONE; p = t->parts[p].next) {
    const struct nsr_part *part = &t->parts[p];
    ended = part->kind == NSR_PART_SCOPE && t->scopes[part->first].to_end;
    NSR_TRY(walk_part(w, part, part->first, part->n, visit, user));
  }
  if (!ended && (s->kind == NSR_SCOPE_LOOP || s->to_end))
    return end_way(w, scope, s->ends);
  return NSR_OK;
}

/* ---- items */

uint32_t nsr_walk_nitems(const struct nsr_walk *w) {
  return (uint32_t)w->items.n;
}

struct nsr_walk_item nsr_walk_item(const struct nsr_walk *w, uint32_t item) {
  return w->items.v[item];
}

void nsr_walk_awaits(struct nsr_walk *w, uint32_t c, uint32_t p, uint32_t lag) {
  assert(!w->started && lag < w->levels);
  if (w->lags[p] <= lag)
    w->lags[p] = (uint8_t)(lag + 1);
  w->exported[p] |= w->item_of[c] != w->item_of[p];
}

/* Numbers the records of all scopes. */
static void number_records(struct nsr_walk *w, uint32_t scope, uint32_t *n) {
  const struct nsr_tree *t = w->tree;
  struct range *r = &w->records[scope];
  r->lo = *n;
  for (uint32_t p = t->scopes[scope].first_part; p != NSR_NONE;
       p = t->parts[p].next) {
    const struct nsr_part *part = &t->parts[p];
    if (part->kind == NSR_PART_SCOPE)
      number_records(w, part->first, n);
    for (uint32_t i = part->first;
         part->kind == NSR_PART_SEGMENT && i < part->first + part->n; i++) {
      w->record[i] = *n;
      *n += w->lags[i];
    }
  }
  r->hi = *n;
}

static enum nsr_status start(struct nsr_walk *w) {
  uint32_t n = 0;
  w->started = true;
  NSR_NEW(w->ctx, NSR_SCRATCH, w->record, w->tree->nworks);
  number_records(w, 0, &n);
  NSR_NEW(w->ctx, NSR_SCRATCH, w->rec, n);
  NSR_TRY(take(w, &w->other));
  NSR_TRY(take(w, &w->held));
  memcpy(w->at, w->base, w->nch * sizeof *w->at);
  memcpy(w->passed.at, w->base, w->nch * sizeof *w->at);
  for (int e = 0; e < NSR_MAX_ENGINES; e++) {
    NSR_TRY(take(w, &w->rows[e]));
    NSR_TRY(take(w, &w->entry[e]));
    stamp(w, w->rows[e]);
  }
  return NSR_OK;
}

enum nsr_status nsr_walk_enter(struct nsr_walk *w, uint32_t item) {
  if (!w->started)
    NSR_TRY(start(w));
  w->item = item;
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    NSR_TRY(copy_view(w, w->entry[e], w->rows[e]));
  memcpy(w->entry_at, w->at, sizeof w->at);
  w->entry_tick = w->tick;
  w->entry_passed = w->passed;
  return NSR_OK;
}

static enum nsr_status restore(struct nsr_walk *w,
                               const struct nsr_walk_item *x) {
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    NSR_TRY(copy_view(w, w->rows[e], w->entry[e]));
  memcpy(w->at, w->entry_at, sizeof w->at);
  w->tick = w->entry_tick;
  w->passed = w->entry_passed;
  w->loop = 0;
  for (uint32_t i = x->first; i < x->first + x->n; i++)
    for (uint32_t l = 0; l < w->lags[i]; l++)
      NSR_TRY(give(w, &w->rec[w->record[i] + l]));
  return NSR_OK;
}

/* The views of the loops of an item go. */
static enum nsr_status forget_heads(struct nsr_walk *w,
                                    const struct nsr_walk_item *x) {
  const struct nsr_part *part = &w->tree->parts[x->part];
  if (part->kind != NSR_PART_SCOPE)
    return NSR_OK;
  for (uint32_t s = part->first; s <= w->tree->scopes[part->first].last; s++) {
    if (w->tree->scopes[s].kind != NSR_SCOPE_LOOP)
      continue;
    struct loop *l = &w->loops[w->loop_of[s]];
    for (uint32_t i = 0; l->head && i < nviews(&w->records[s]); i++) {
      NSR_TRY(give(w, &l->head[i]));
      NSR_TRY(give(w, &l->back[i]));
      NSR_TRY(give(w, &l->exit[i]));
    }
  }
  return NSR_OK;
}

enum nsr_status nsr_walk_through(struct nsr_walk *w, nsr_visit_fn *visit,
                                 void *user) {
  const struct nsr_walk_item *x = &w->items.v[w->item];
  NSR_TRY(forget_heads(w, x));
  do {
    NSR_TRY(restore(w, x));
    w->changed = false;
    NSR_TRY(
        walk_part(w, &w->tree->parts[x->part], x->first, x->n, visit, user));
  } while (w->changed);
  return NSR_OK;
}

enum nsr_status nsr_walk_leave(struct nsr_walk *w) {
  const struct nsr_walk_item *x = &w->items.v[w->item];
  NSR_TRY(forget_heads(w, x));
  for (uint32_t i = x->first; i < x->first + x->n; i++)
    for (uint32_t l = 0; !w->exported[i] && l < w->lags[i]; l++)
      NSR_TRY(give(w, &w->rec[w->record[i] + l]));
  return NSR_OK;
}

enum nsr_status nsr_walk_run(struct nsr_walk *w, nsr_visit_fn *visit,
                             void *user) {
  for (uint32_t i = 0; i < w->items.n; i++) {
    NSR_TRY(nsr_walk_enter(w, i));
    NSR_TRY(nsr_walk_through(w, visit, user));
    NSR_TRY(nsr_walk_leave(w));
  }
  return NSR_OK;
}

/* ---- making a walk */

static enum nsr_status number_slots(struct nsr_walk *w) {
  const struct nsr_tree *t = w->tree;
  w->nch = (uint32_t)nsr_nchannels(t->program->k);
  NSR_NEW(w->ctx, NSR_SCRATCH, w->base, w->nch + 1);
  NSR_NEW(w->ctx, NSR_SCRATCH, w->slot, t->nworks);
  for (uint32_t i = 0; i < t->nworks; i++)
    if (t->works[i].channel >= 0)
      w->base[t->works[i].channel + 1]++;
  for (uint32_t ch = 0; ch < w->nch; ch++)
    w->base[ch + 1] += w->base[ch];
  memcpy(w->at, w->base, w->nch * sizeof *w->at);
  for (uint32_t i = 0; i < t->nworks; i++)
    if (t->works[i].channel >= 0)
      w->slot[i] = w->at[t->works[i].channel]++;
  return NSR_OK;
}

/* A loop's bounds, in the order of the text; w->at and w->tick run along. */
static enum nsr_status lay_loops(struct nsr_walk *w, uint32_t scope,
                                 uint32_t parent) {
  const struct nsr_tree *t = w->tree;
  uint32_t id = parent;
  if (scope == 0 || t->scopes[scope].kind == NSR_SCOPE_LOOP) {
    struct loop *l = &w->loops[id = w->nloops++];
    w->loop_of[scope] = id;
    l->parent = parent;
    l->begin = scope == 0 ? 0 : ++w->tick;
    NSR_NEW(w->ctx, NSR_SCRATCH, l->first, w->nch);
    NSR_NEW(w->ctx, NSR_SCRATCH, l->last, w->nch);
    memcpy(l->first, w->at, w->nch * sizeof *w->at);
  }
  for (uint32_t p = t->scopes[scope].first_part; p != NSR_NONE;
       p = t->parts[p].next) {
    const struct nsr_part *part = &t->parts[p];
    if (part->kind == NSR_PART_SCOPE)
      NSR_TRY(lay_loops(w, part->first, id));
    for (uint32_t i = part->first;
         part->kind == NSR_PART_SEGMENT && i < part->first + part->n; i++)
      if (t->works[i].channel >= 0)
        w->at[t->works[i].channel]++;
  }
  if (id == parent)
    return NSR_OK;
  w->loops[id].end = scope == 0 ? UINT32_MAX : ++w->tick;
  memcpy(w->loops[id].last, w->at, w->nch * sizeof *w->at);
  return NSR_OK;
}

static enum nsr_status list_children(struct nsr_walk *w) {
  NSR_NEW(w->ctx, NSR_SCRATCH, w->children, w->nloops);
  for (uint32_t i = 1; i < w->nloops; i++)
    w->loops[w->loops[i].parent].nchildren++;
  uint32_t at = 0;
  for (uint32_t i = 0; i < w->nloops; i++) {
    w->loops[i].child = at;
    at += w->loops[i].nchildren;
    w->loops[i].nchildren = 0;
  }
  for (uint32_t i = 1; i < w->nloops; i++) {
    struct loop *up = &w->loops[w->loops[i].parent];
    w->children[up->child + up->nchildren++] = i;
  }
  return NSR_OK;
}

static enum nsr_status find_loops(struct nsr_walk *w) {
  const struct nsr_tree *t = w->tree;
  uint32_t n = 1;
  for (uint32_t s = 1; s < t->nscopes; s++)
    n += t->scopes[s].kind == NSR_SCOPE_LOOP;
  NSR_NEW(w->ctx, NSR_SCRATCH, w->loop_of, t->nscopes);
  NSR_NEW(w->ctx, NSR_SCRATCH, w->loops, n);
  memcpy(w->at, w->base, w->nch * sizeof *w->at);
  NSR_TRY(lay_loops(w, 0, NSR_NONE));
  w->tick = 0;
  return list_children(w);
}

static enum nsr_status push_item(struct nsr_walk *w, uint32_t part,
                                 uint32_t first, uint32_t n) {
  for (uint32_t i = first; i < first + n; i++)
    w->item_of[i] = (uint32_t)w->items.n;
  NSR_PUSH(w->ctx, NSR_SCRATCH, &w->items,
           (struct nsr_walk_item){part, first, n});
  return NSR_OK;
}

/* Works of a scope follow each other: those up to the next part's. */
static uint32_t works_in(const struct nsr_tree *t, uint32_t scope) {
  uint32_t n = 0;
  for (uint32_t p = t->scopes[scope].first_part; p != NSR_NONE;
       p = t->parts[p].next)
    if (t->parts[p].kind == NSR_PART_SEGMENT)
      n += t->parts[p].n;
    else if (t->parts[p].kind == NSR_PART_SCOPE)
      n += works_in(t, t->parts[p].first);
  return n;
}

static enum nsr_status find_items(struct nsr_walk *w) {
  const struct nsr_tree *t = w->tree;
  uint32_t at = 0;
  NSR_NEW(w->ctx, NSR_SCRATCH, w->item_of, t->nworks);
  for (uint32_t p = t->scopes[0].first_part; p != NSR_NONE;
       p = t->parts[p].next) {
    const struct nsr_part *part = &t->parts[p];
    bool straight = part->kind == NSR_PART_SEGMENT;
    uint32_t n = straight ? part->n : 0, i = 0;
    if (part->kind == NSR_PART_SCOPE)
      n = works_in(t, part->first);
    assert(!straight || part->first == at);
    for (; straight && n - i > ITEM_WORKS; i += ITEM_WORKS)
      NSR_TRY(push_item(w, p, at + i, ITEM_WORKS));
    NSR_TRY(push_item(w, p, at + i, n - i));
    at += n;
  }
  assert(at == t->nworks);
  return NSR_OK;
}

enum nsr_status nsr_walk_new(struct nsr_ctx *ctx, const struct nsr_tree *tree,
                             uint32_t levels, bool barriers,
                             struct nsr_walk **out) {
  struct nsr_walk *w;
  NSR_NEW(ctx, NSR_SCRATCH, w, 1);
  w->ctx = ctx;
  w->tree = tree;
  w->levels = levels;
  w->barriers = barriers;
  NSR_NEW(ctx, NSR_SCRATCH, w->lags, tree->nworks);
  NSR_NEW(ctx, NSR_SCRATCH, w->exported, tree->nworks);
  NSR_NEW(ctx, NSR_SCRATCH, w->records, tree->nscopes);
  NSR_TRY(number_slots(w));
  NSR_TRY(find_loops(w));
  NSR_TRY(find_items(w));
  *out = w;
  return NSR_OK;
}
