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

/* Stretches of a set behind an item. */
enum { SETTLED = 24 };

/* More loops than this between a view and now count as one. */
enum { MAX_PASSED = 4 };

struct view {
  struct nsr_facts set; /* of the item's works */
  uint32_t past;        /* of those before it: into walk->pasts; ALL_IN_SET:
                           an earlier item's, with the past in its set */
  uint32_t tick;
  uint64_t serial; /* order of making, to be compared with barriers */
  uint32_t *at;    /* by channel: the next slot */
};

/* What is unknown of the works before the item: views that know the same of
 * them share it. Two of these are always there. */
struct past {
  struct nsr_facts set;
  uint32_t *without; /* by channel: the same where all of that channel is
                        known, 0: not made yet */
};
enum { PAST_KNOWN, PAST_UNKNOWN };
#define ALL_IN_SET UINT32_MAX

/* A merge of two of them, kept. */
struct merged {
  uint32_t a, b, op, result;
};
enum { MERGED = 256 };

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

/* What a scope changes: the rows of engines with work in it, of all where it
 * has a barrier; and the records of its works. Other views age alone. */
struct range {
  uint32_t lo, hi;
  uint8_t nrows;
  uint8_t rows[NSR_MAX_ENGINES];
};

struct nsr_walk {
  struct nsr_ctx *ctx;
  const struct nsr_tree *tree;
  uint32_t levels;
  bool barriers, coarse, changed;

  uint32_t nrows;
  int row[NSR_MAX_ENGINES]; /* by engine */
  uint32_t nch;
  uint32_t *base;        /* by channel: its first slot; nch + 1 of them */
  uint32_t *slot;        /* by work with a channel */
  uint8_t *lags;         /* by work: records it has */
  uint32_t *record;      /* by work: its first */
  bool *carried;         /* by work: awaited where its latest execution may
                            lie in another iteration, or in a scope that may
                            be passed by; other records need no merging */
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
  NSR_VEC(struct past) pasts;
  struct merged merged[MERGED]; /* by hash; a == b: none */
  struct nsr_facts aged, tmp;
  struct nsr_facts_pool pool;
};

/* ---- views */

static enum nsr_status take(struct nsr_walk *w, struct view **out) {
  if (w->spare.n) {
    *out = w->spare.v[--w->spare.n];
    return NSR_OK;
  }
  NSR_NEW(w->ctx, NSR_SCRATCH, *out, 1);
  NSR_NEW(w->ctx, NSR_SCRATCH, (*out)->at, w->nch);
  return NSR_OK;
}

static enum nsr_status give(struct nsr_walk *w, struct view **v) {
  if (*v) {
    nsr_facts_free(&w->pool, &(*v)->set);
    NSR_PUSH(w->ctx, NSR_SCRATCH, &w->spare, *v);
  }
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
  out->past = v->past;
  out->tick = v->tick;
  out->serial = v->serial;
  memcpy(out->at, v->at, w->nch * sizeof *out->at);
  return nsr_facts_copy(&w->pool, &out->set, &v->set);
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
        nsr_facts_push(&w->pool, &w->aged, at, first, joined ? w->levels : 1));
    NSR_TRY(nsr_facts_push(&w->pool, &w->aged, first, last, w->levels));
    at = last;
  }
  return nsr_facts_push(&w->pool, &w->aged, at, w->at[ch], 1);
}

/* Brings a view up to now. */
static enum nsr_status renew(struct nsr_walk *w, struct view *v) {
  struct crossed x = {0};
  if (v->serial < w->passed.serial) {
    v->set.n = 0;
    v->past = v->past == ALL_IN_SET ? ALL_IN_SET : PAST_KNOWN;
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
  NSR_TRY(nsr_facts_zip(&w->pool, &w->tmp, &v->set, &w->aged, NSR_FACTS_ADD,
                        w->levels, &w->coarse));
  nsr_work_count(w->ctx, NSR_WORK_DEP, 1 + w->tmp.n);
  swap_sets(&w->tmp, &v->set);
  stamp(w, v);
  return NSR_OK;
}

/* What a work that never ran says: all that has issued is unknown. */
static void never(const struct nsr_walk *w, struct view *v) {
  v->set.n = 0;
  v->past = PAST_UNKNOWN;
  v->tick = w->entry_tick;
  v->serial = 0;
  memcpy(v->at, w->entry_at, w->nch * sizeof *v->at);
}

/* The view in a place of the state, up to now. */
static enum nsr_status fresh(struct nsr_walk *w, struct view **place) {
  if (!*place) {
    NSR_TRY(take(w, place));
    never(w, *place);
  }
  return renew(w, *place);
}

/* ---- pasts */

/* The past with this set, which is one of the last ones or becomes new. */
static enum nsr_status push_past(struct nsr_walk *w,
                                 const struct nsr_facts *set, uint32_t *out) {
  uint32_t n = (uint32_t)w->pasts.n;
  for (uint32_t i = n; i-- > 0 && n - i <= 16;)
    if (nsr_facts_equal(&w->pasts.v[i].set, set)) {
      *out = i;
      return NSR_OK;
    }
  struct past p = {0};
  NSR_TRY(nsr_facts_copy(&w->pool, &p.set, set));
  NSR_PUSH(w->ctx, NSR_SCRATCH, &w->pasts, p);
  *out = n;
  return NSR_OK;
}

static enum nsr_status zip_pasts(struct nsr_walk *w, uint32_t a, uint32_t b,
                                 enum nsr_facts_op op, uint32_t *out) {
  const struct nsr_facts *sa = &w->pasts.v[a].set, *sb = &w->pasts.v[b].set;
  NSR_TRY(nsr_facts_zip(&w->pool, &w->tmp, sa, sb, op, w->levels, &w->coarse));
  nsr_work_count(w->ctx, NSR_WORK_DEP, 1 + w->tmp.n);
  if (nsr_facts_equal(&w->tmp, sa)) {
    *out = a;
    return NSR_OK;
  }
  if (nsr_facts_equal(&w->tmp, sb)) {
    *out = b;
    return NSR_OK;
  }
  return push_past(w, &w->tmp, out);
}

static enum nsr_status merge_pasts(struct nsr_walk *w, uint32_t a, uint32_t b,
                                   enum nsr_facts_op op, uint32_t *out) {
  bool max = op == NSR_FACTS_MAX;
  uint32_t strong = max ? PAST_UNKNOWN : PAST_KNOWN;
  uint32_t weak = max ? PAST_KNOWN : PAST_UNKNOWN;
  *out = a;
  if (a == b || a == strong || b == weak)
    return NSR_OK;
  *out = b;
  if (b == strong || a == weak)
    return NSR_OK;
  struct merged *m = &w->merged[(a * 31 + b * 7 + op) % MERGED];
  if (m->a != a || m->b != b || m->op != op) {
    NSR_TRY(zip_pasts(w, a, b, op, out));
    *m = (struct merged){a, b, op, *out};
  }
  *out = m->result;
  return NSR_OK;
}

/* The same with all of one channel known. */
static enum nsr_status past_without(struct nsr_walk *w, uint32_t past,
                                    uint32_t ch, uint32_t *out) {
  if (!w->pasts.v[past].without)
    NSR_NEW(w->ctx, NSR_SCRATCH, w->pasts.v[past].without, w->nch);
  *out = w->pasts.v[past].without[ch];
  if (*out || past == PAST_KNOWN)
    return NSR_OK;
  NSR_TRY(nsr_facts_copy(&w->pool, &w->tmp, &w->pasts.v[past].set));
  NSR_TRY(nsr_facts_learn(&w->pool, &w->tmp, w->base[ch], w->base[ch + 1]));
  NSR_TRY(push_past(w, &w->tmp, out));
  w->pasts.v[past].without[ch] = *out;
  return NSR_OK;
}

/* Begins anew with the item: nothing of the past is known, or all of it. */
static enum nsr_status reset_pasts(struct nsr_walk *w) {
  for (size_t i = 0; i < w->pasts.n; i++)
    nsr_facts_free(&w->pool, &w->pasts.v[i].set);
  memset(w->merged, 0, sizeof w->merged);
  w->pasts.n = 0;
  NSR_PUSH(w->ctx, NSR_SCRATCH, &w->pasts, (struct past){0});
  struct past all = {0};
  for (uint32_t ch = 0; ch < w->nch; ch++)
    NSR_TRY(
        nsr_facts_push(&w->pool, &all.set, w->base[ch], w->at[ch], w->levels));
  NSR_PUSH(w->ctx, NSR_SCRATCH, &w->pasts, all);
  return NSR_OK;
}

/* ---- merging views */

static enum nsr_status merge(struct nsr_walk *w, struct view *a,
                             const struct view *b, enum nsr_facts_op op) {
  NSR_TRY(merge_pasts(w, a->past, b->past, op, &a->past));
  if (nsr_facts_equal(&a->set, &b->set))
    return NSR_OK;
  NSR_TRY(nsr_facts_zip(&w->pool, &w->tmp, &a->set, &b->set, op, w->levels,
                        &w->coarse));
  nsr_work_count(w->ctx, NSR_WORK_DEP, 1 + w->tmp.n);
  swap_sets(&w->tmp, &a->set);
  return NSR_OK;
}

/* All of a channel is known to a view that was made, or renewed, behind the
 * last loop. */
static enum nsr_status learn(struct nsr_walk *w, struct view *v, uint32_t ch) {
  v->at[ch] = w->at[ch];
  NSR_TRY(past_without(w, v->past, ch, &v->past));
  return nsr_facts_learn(&w->pool, &v->set, w->base[ch], w->base[ch + 1]);
}

/* Cuts an earlier item's view into past, left in w->aged, and present. */
static enum nsr_status cut(struct nsr_walk *w, struct view *v) {
  uint32_t ch = 0;
  w->aged.n = w->tmp.n = 0;
  for (uint32_t i = 0; i < v->set.n; i++) {
    struct nsr_fact x = v->set.v[i];
    while (x.lo < x.hi) {
      while (w->base[ch + 1] <= x.lo)
        ch++;
      uint32_t here = w->entry_at[ch], end = w->base[ch + 1];
      bool old = x.lo < here;
      end = old ? here : end;
      end = end < x.hi ? end : x.hi;
      NSR_TRY(nsr_facts_push(&w->pool, old ? &w->aged : &w->tmp, x.lo, end,
                             x.level));
      x.lo = end;
    }
  }
  swap_sets(&w->tmp, &v->set);
  return NSR_OK;
}

/* A row learns what an earlier item's view says. */
static enum nsr_status learn_earlier(struct nsr_walk *w, struct view *row,
                                     struct view *v) {
  NSR_TRY(cut(w, v));
  NSR_TRY(nsr_facts_zip(&w->pool, &w->tmp, &w->pasts.v[row->past].set, &w->aged,
                        NSR_FACTS_MIN, w->levels, &w->coarse));
  nsr_work_count(w->ctx, NSR_WORK_DEP, 1 + w->tmp.n);
  if (!nsr_facts_equal(&w->tmp, &w->pasts.v[row->past].set))
    NSR_TRY(push_past(w, &w->tmp, &row->past));
  v->past = row->past;
  return merge(w, row, v, NSR_FACTS_MIN);
}

/* ---- what is asked and told */

enum nsr_status nsr_walk_known(struct nsr_walk *w, int engine, uint32_t q,
                               uint32_t lag, bool *known) {
  struct view *row = w->rows[w->row[engine]];
  uint32_t ch = (uint32_t)w->tree->works[q].channel, s = w->slot[q];
  if (row->tick != w->tick)
    NSR_TRY(renew(w, row));
  if (w->item_of[q] != w->item) {
    *known = nsr_facts_level(&w->pasts.v[row->past].set, s) <= lag;
    return NSR_OK;
  }
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
  NSR_TRY(renew(w, w->rows[w->row[engine]]));
  if (w->other->past == ALL_IN_SET)
    return learn_earlier(w, w->rows[w->row[engine]], w->other);
  return merge(w, w->rows[w->row[engine]], w->other, NSR_FACTS_MIN);
}

enum nsr_status nsr_walk_hold(struct nsr_walk *w, int engine) {
  NSR_TRY(renew(w, w->rows[w->row[engine]]));
  return copy_view(w, w->held, w->rows[w->row[engine]]);
}

enum nsr_status nsr_walk_back(struct nsr_walk *w, int engine) {
  return copy_view(w, w->rows[w->row[engine]], w->held);
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
  struct view *row = w->rows[w->row[x->engine]];
  if (row->tick != w->tick)
    NSR_TRY(renew(w, row));
  NSR_TRY(copy_view(w, r[0], row));
  return learn(w, r[0], (uint32_t)x->channel);
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
  struct view *row = w->rows[w->row[x->engine]];
  if (row->tick != w->tick)
    NSR_TRY(renew(w, row));
  return learn(w, row, (uint32_t)x->channel);
}

/* ---- states: the rows, and the records of a range */

static uint32_t nviews(const struct range *r) {
  return r->nrows + r->hi - r->lo;
}

static struct view **place_of(struct nsr_walk *w, const struct range *r,
                              uint32_t i) {
  return i < r->nrows ? &w->rows[r->rows[i]] : &w->rec[r->lo + i - r->nrows];
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
    NSR_TRY(nsr_facts_copy(&w->pool, &(*place)->set, &v[i]->set));
    (*place)->past = v[i]->past;
    stamp(w, *place);
  }
  return NSR_OK;
}

/* into loses what the state does not know; *lost: whether that was anything. */
static enum nsr_status lose(struct nsr_walk *w, const struct range *r,
                            struct view **into, bool *lost) {
  for (uint32_t i = 0; i < nviews(r); i++) {
    const struct view *v = *place_of(w, r, i);
    uint32_t past = into[i]->past;
    bool same = nsr_facts_equal(&into[i]->set, &v->set);
    NSR_TRY(merge(w, into[i], v, NSR_FACTS_MAX));
    *lost |= into[i]->past != past ||
             (!same && !nsr_facts_equal(&w->tmp, &into[i]->set));
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
  if (nviews(r) && l->head[0]) {
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
  for (uint32_t e = 0; e < w->nrows; e++) {
    w->rows[e]->set.n = 0;
    w->rows[e]->past = PAST_KNOWN;
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
  w->carried[p] |=
      p >= c || lag > 0 ||
      !nsr_common_in(w->tree, w->tree->works[c].scope, w->tree->works[p].scope);
}

/* Numbers the records of all scopes: those that are merged. Returns the
 * engines with work in the scope. */
static uint32_t number_records(struct nsr_walk *w, uint32_t scope,
                               uint32_t *n) {
  const struct nsr_tree *t = w->tree;
  struct range *r = &w->records[scope];
  uint32_t engines = t->scopes[scope].barrier ? UINT32_MAX : 0;
  r->lo = *n;
  for (uint32_t p = t->scopes[scope].first_part; p != NSR_NONE;
       p = t->parts[p].next) {
    const struct nsr_part *part = &t->parts[p];
    if (part->kind == NSR_PART_SCOPE)
      engines |= number_records(w, part->first, n);
    for (uint32_t i = part->first;
         part->kind == NSR_PART_SEGMENT && i < part->first + part->n; i++) {
      engines |= UINT32_C(1) << t->works[i].engine;
      if (w->carried[i]) {
        w->record[i] = *n;
        *n += w->lags[i];
      }
    }
  }
  r->hi = *n;
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    if (t->program->stream[e] && (engines >> e & 1))
      r->rows[r->nrows++] = (uint8_t)w->row[e];
  return engines;
}

static enum nsr_status start(struct nsr_walk *w) {
  uint32_t n = 0;
  w->started = true;
  NSR_NEW(w->ctx, NSR_SCRATCH, w->record, w->tree->nworks);
  number_records(w, 0, &n);
  for (uint32_t i = 0; i < w->tree->nworks; i++)
    if (!w->carried[i]) {
      w->record[i] = n;
      n += w->lags[i];
    }
  NSR_NEW(w->ctx, NSR_SCRATCH, w->rec, n);
  NSR_TRY(take(w, &w->other));
  NSR_TRY(take(w, &w->held));
  memcpy(w->at, w->base, w->nch * sizeof *w->at);
  memcpy(w->passed.at, w->base, w->nch * sizeof *w->at);
  for (uint32_t e = 0; e < w->nrows; e++) {
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
  memcpy(w->entry_at, w->at, sizeof w->at);
  w->entry_tick = w->tick;
  w->entry_passed = w->passed;
  w->loop = 0;
  NSR_TRY(reset_pasts(w));
  for (uint32_t e = 0; e < w->nrows; e++) {
    if (w->rows[e]->past == ALL_IN_SET) {
      NSR_TRY(cut(w, w->rows[e]));
      NSR_TRY(push_past(w, &w->aged, &w->rows[e]->past));
    }
    NSR_TRY(copy_view(w, w->entry[e], w->rows[e]));
  }
  return NSR_OK;
}

static enum nsr_status restore(struct nsr_walk *w,
                               const struct nsr_walk_item *x) {
  for (uint32_t e = 0; e < w->nrows; e++)
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

/* Behind the item, a view holds all in its set. Lags are asked about within a
 * loop, so levels do not matter any more; and what is long past is told apart
 * less and less. */
static enum nsr_status settle(struct nsr_walk *w, struct view *v) {
  NSR_TRY(renew(w, v));
  if (v->past != ALL_IN_SET) {
    NSR_TRY(nsr_facts_zip(&w->pool, &w->tmp, &v->set, &w->pasts.v[v->past].set,
                          NSR_FACTS_MAX, w->levels, &w->coarse));
    swap_sets(&w->tmp, &v->set);
    v->past = ALL_IN_SET;
  }
  nsr_facts_settle(&v->set, SETTLED, w->levels, w->base, w->nch);
  return NSR_OK;
}

enum nsr_status nsr_walk_leave(struct nsr_walk *w) {
  const struct nsr_walk_item *x = &w->items.v[w->item];
  NSR_TRY(forget_heads(w, x));
  for (uint32_t e = 0; e < w->nrows; e++)
    NSR_TRY(settle(w, w->rows[e]));
  for (uint32_t i = x->first; i < x->first + x->n; i++)
    for (uint32_t l = 0; l < w->lags[i]; l++) {
      struct view **rec = &w->rec[w->record[i] + l];
      if (!w->exported[i])
        NSR_TRY(give(w, rec));
      else if (*rec)
        NSR_TRY(settle(w, *rec));
    }
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
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    if (t->program->stream[e])
      w->row[e] = (int)w->nrows++;
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
  w->ctx = w->pool.ctx = ctx;
  w->tree = tree;
  w->levels = levels;
  w->barriers = barriers;
  NSR_NEW(ctx, NSR_SCRATCH, w->lags, tree->nworks);
  NSR_NEW(ctx, NSR_SCRATCH, w->exported, tree->nworks);
  NSR_NEW(ctx, NSR_SCRATCH, w->carried, tree->nworks);
  NSR_NEW(ctx, NSR_SCRATCH, w->records, tree->nscopes);
  NSR_TRY(number_slots(w));
  NSR_TRY(find_loops(w));
  NSR_TRY(find_items(w));
  *out = w;
  return NSR_OK;
}
