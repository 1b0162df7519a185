/* views.c - sets that age, are shared and are merged. */
#include "dep/views.h"

#include <assert.h>
#include <string.h>

_Static_assert((int)NSR_MAX_LAG < (int)NSR_MAX_LEVELS,
               "a level above each lag");

/* Stretches of a set behind an item. */
enum { SETTLED = 24 };

/* More loops than this between a view and now count as one. */
enum { MAX_PASSED = 4 };

/* ---- views */

enum nsr_status nsr_view_take(struct nsr_walk *w, struct nsr_view **out) {
  if (w->spare.n) {
    *out = w->spare.v[--w->spare.n];
    return NSR_OK;
  }
  NSR_NEW(w->ctx, NSR_SCRATCH, *out, 1);
  NSR_NEW(w->ctx, NSR_SCRATCH, (*out)->at, w->nch);
  NSR_NEW(w->ctx, NSR_SCRATCH, (*out)->starts, w->most_starts);
  return NSR_OK;
}

enum nsr_status nsr_view_give(struct nsr_walk *w, struct nsr_view **v) {
  if (*v) {
    nsr_set_free(&w->slots, &(*v)->set);
    NSR_PUSH(w->ctx, NSR_SCRATCH, &w->spare, *v);
  }
  *v = NULL;
  return NSR_OK;
}

void nsr_view_stamp(const struct nsr_walk *w, struct nsr_view *v) {
  v->tick = w->now.tick;
  v->serial = w->serial;
  v->slots = w->now.slots;
  if (!v->set.words)
    memcpy(v->at, w->now.at, w->nch * sizeof *v->at);
}

static void copy_starts(const struct nsr_walk *w, struct nsr_view *out,
                        const struct nsr_view *v) {
  for (uint32_t i = 0; i < w->nstarts; i++)
    out->starts[i] = v->starts[i];
}

static void clear_starts(const struct nsr_walk *w, struct nsr_view *v) {
  if (w->nstarts)
    memset(v->starts, 0, w->nstarts * sizeof *v->starts);
}

void nsr_view_clear(const struct nsr_walk *w, struct nsr_view *v) {
  nsr_set_clear(&v->set);
  clear_starts(w, v);
  v->past = NSR_PAST_KNOWN;
  nsr_view_stamp(w, v);
}

enum nsr_status nsr_view_copy_now(struct nsr_walk *w, struct nsr_view *out,
                                  const struct nsr_view *v) {
  out->past = v->past;
  copy_starts(w, out, v);
  NSR_TRY(nsr_set_copy(&w->slots, &out->set, &v->set));
  nsr_view_stamp(w, out);
  return NSR_OK;
}

enum nsr_status nsr_view_copy(struct nsr_walk *w, struct nsr_view *out,
                              const struct nsr_view *v) {
  out->past = v->past;
  out->tick = v->tick;
  out->serial = v->serial;
  out->slots = v->slots;
  if (!v->set.words)
    memcpy(out->at, v->at, w->nch * sizeof *out->at);
  copy_starts(w, out, v);
  return nsr_set_copy(&w->slots, &out->set, &v->set);
}

/* Loops that lie between a moment and now, outermost ones only, and the one
 * that was begun since and is not over. */
struct crossed {
  uint32_t n;
  const struct nsr_walk_loop *v[MAX_PASSED + 1];
  bool many;           /* v[0] .. v[n-1] stand for all between them, too */
  uint32_t first, end; /* all of them in walk->children */
};

/* The first child of a loop that begins behind a tick in it. */
static uint32_t child_behind(const struct nsr_walk *w, uint32_t loop,
                             uint32_t tick) {
  uint32_t l = w->ticks[tick].loop;
  if (l == loop)
    return w->ticks[tick].child;
  while (w->loops[l].parent != loop)
    l = w->loops[l].parent;
  return w->loops[l].index + 1;
}

static void find_crossed(const struct nsr_walk *w, uint32_t tick,
                         struct crossed *out) {
  uint32_t around = w->now.loop;
  while (tick < w->loops[around].begin || tick >= w->loops[around].end)
    around = w->loops[around].parent;
  out->first = child_behind(w, around, tick);
  out->end = child_behind(w, around, w->now.tick);
  out->n = 0;
  out->many = out->end - out->first > MAX_PASSED;
  if (out->many) {
    out->v[out->n++] = &w->loops[w->children[out->first]];
    out->v[out->n++] = &w->loops[w->children[out->end - 1]];
    return;
  }
  for (uint32_t i = out->first; i < out->end; i++)
    out->v[out->n++] = &w->loops[w->children[i]];
}

/* Adds what a channel has issued since a view was made. */
static enum nsr_status age_channel(struct nsr_walk *w, struct nsr_view *v,
                                   uint32_t ch, const struct crossed *x) {
  struct nsr_slots *s = &w->slots;
  uint32_t at = v->at[ch];
  for (uint32_t i = 0; i < x->n; i++) {
    uint32_t first = x->v[i]->first[ch], last = x->v[i]->last[ch];
    uint32_t more = x->many && i > 0 ? w->levels : 1; /* in front of it */
    NSR_TRY(nsr_set_age(s, &v->set, ch, at, first, more));
    NSR_TRY(nsr_set_age(s, &v->set, ch, first, last, w->levels));
    at = last;
  }
  return nsr_set_age(s, &v->set, ch, at, w->now.at[ch], 1);
}

/* The same for all channels at once, of a dense set. */
static void age_dense(struct nsr_walk *w, struct nsr_view *v,
                      const struct crossed *x) {
  struct nsr_slots *s = &w->slots;
  uint32_t begin = w->entered.slots, at = v->slots - begin;
  for (uint32_t i = 0; i < x->n; i++) {
    uint32_t from = x->v[i]->from - begin, to = x->v[i]->to - begin;
    uint32_t more = x->many && i > 0 ? w->levels : 1;
    nsr_set_age_places(s, &v->set, at, from, more);
    nsr_set_age_places(s, &v->set, from, to, w->levels);
    at = to;
  }
  nsr_set_age_places(s, &v->set, at, w->now.slots - begin, 1);
  s->units += 1 + s->cost;
}

/* Of starts in loops that lie between nothing is known. */
static void age_starts(const struct nsr_walk *w, struct nsr_view *v,
                       const struct crossed *x) {
  for (uint32_t i = x->first; w->nstarts && i < x->end; i++) {
    uint32_t loop = w->children[i] - w->first_loop;
    for (uint32_t k = 0; k < w->nstarts; k++)
      v->starts[k] |= w->starts_in.v[loop * w->nstarts + k];
  }
}

static enum nsr_status age_facts(struct nsr_walk *w, struct nsr_view *v,
                                 const struct crossed *x) {
  /* an earlier item's has slots of any channel in its set */
  bool all = v->past == NSR_PAST_IN_SET;
  uint32_t n = all ? w->nch : w->slots.nactive;
  nsr_set_age_begin(&w->slots);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t ch = all ? i : w->slots.active[i];
    bool in = x->n && x->v[x->n - 1]->last[ch] > v->at[ch];
    if (in || v->at[ch] < w->now.at[ch])
      NSR_TRY(age_channel(w, v, ch, x));
  }
  return nsr_set_age_end(&w->slots, &v->set);
}

static void pass_view(const struct nsr_walk *w, struct nsr_view *v) {
  nsr_set_clear(&v->set);
  clear_starts(w, v);
  v->past = v->past == NSR_PAST_IN_SET ? NSR_PAST_IN_SET : NSR_PAST_KNOWN;
  v->tick = w->now.passed.tick;
  v->slots = w->now.passed.slots;
  if (!v->set.words)
    memcpy(v->at, w->now.passed.at, w->nch * sizeof *v->at);
}

enum nsr_status nsr_view_renew_some(struct nsr_walk *w, struct nsr_view *v) {
  struct crossed x;
  x.n = x.first = x.end = 0;
  if (v->serial < w->now.passed.serial)
    pass_view(w, v);
  if (v->tick != w->now.tick)
    find_crossed(w, v->tick, &x);
  if (v->set.words)
    age_dense(w, v, &x);
  else
    NSR_TRY(age_facts(w, v, &x));
  if (v->past != NSR_PAST_IN_SET)
    age_starts(w, v, &x);
  nsr_view_stamp(w, v);
  return NSR_OK;
}

enum nsr_status nsr_view_never(struct nsr_walk *w, struct nsr_view *v) {
  v->past = NSR_PAST_UNKNOWN;
  v->tick = w->entered.tick;
  v->serial = w->entered.passed.serial; /* which the past begins with */
  v->slots = w->entered.slots;
  memcpy(v->at, w->entered.at, w->nch * sizeof *v->at);
  clear_starts(w, v);
  return nsr_set_begin(&w->slots, &v->set);
}

/* ---- pasts */

static uint32_t hash_facts(const struct nsr_facts *f) {
  uint64_t h = f->n;
  for (uint32_t i = 0; i < f->n; i++) {
    uint64_t x = (uint64_t)f->v[i].lo << 32 | f->v[i].hi;
    h = (h ^ x) * UINT64_C(0x9e3779b97f4a7c15) + f->v[i].level;
    h ^= h >> 29;
  }
  return (uint32_t)(h >> 16);
}

/* The past with this set; of equal ones there are several only where there are
 * many. */
static enum nsr_status push_past(struct nsr_walk *w,
                                 const struct nsr_facts *set, uint32_t *out) {
  uint32_t n = (uint32_t)w->pasts.n, slot = hash_facts(set);
  for (;; slot++) {
    uint32_t i = w->past_slots[slot % NSR_PAST_SLOTS];
    if (i == 0)
      break;
    *out = i - 1;
    if (nsr_facts_equal(&w->pasts.v[i - 1].set, set))
      return NSR_OK;
  }
  struct nsr_past p = {0};
  NSR_TRY(nsr_facts_copy(&w->slots.pool, &p.set, set));
  NSR_PUSH(w->ctx, NSR_SCRATCH, &w->pasts, p);
  if (n < NSR_PAST_SLOTS / 2)
    w->past_slots[slot % NSR_PAST_SLOTS] = (uint16_t)(n + 1);
  *out = n;
  return NSR_OK;
}

static enum nsr_status zip_pasts(struct nsr_walk *w, uint32_t a, uint32_t b,
                                 enum nsr_facts_op op, uint32_t *out) {
  const struct nsr_facts *sa = &w->pasts.v[a].set, *sb = &w->pasts.v[b].set;
  NSR_TRY(nsr_facts_zip(&w->slots.pool, &w->tmp, sa, sb, op, w->levels,
                        &w->coarse));
  w->slots.units += 1 + w->tmp.n;
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
  uint32_t strong = max ? NSR_PAST_UNKNOWN : NSR_PAST_KNOWN;
  uint32_t weak = max ? NSR_PAST_KNOWN : NSR_PAST_UNKNOWN;
  *out = a;
  if (a == b || a == strong || b == weak)
    return NSR_OK;
  *out = b;
  if (b == strong || a == weak)
    return NSR_OK;
  struct nsr_merged_pasts *m =
      &w->merged[((a * 0x9e3779b1u + b) * 0x85ebca6bu + op) >> 7 &
                 (NSR_MERGED_PASTS - 1)];
  if (m->a != a || m->b != b || m->op != op || m->item != w->item + 1) {
    NSR_TRY(zip_pasts(w, a, b, op, out));
    *m = (struct nsr_merged_pasts){a, b, op, *out, w->item + 1};
  }
  *out = m->result;
  return NSR_OK;
}

/* The same with all of one channel known. */
static enum nsr_status past_without(struct nsr_walk *w, uint32_t past,
                                    uint32_t ch, uint32_t *out) {
  if (!w->pasts.v[past].without) {
    NSR_TAKE(&w->withouts, w->pasts.v[past].without);
    memset(w->pasts.v[past].without, 0, w->nch * sizeof *out);
  }
  *out = w->pasts.v[past].without[ch];
  if (*out || past == NSR_PAST_KNOWN)
    return NSR_OK;
  NSR_TRY(nsr_facts_copy(&w->slots.pool, &w->tmp, &w->pasts.v[past].set));
  NSR_TRY(
      nsr_facts_learn(&w->slots.pool, &w->tmp, w->base[ch], w->base[ch + 1]));
  NSR_TRY(push_past(w, &w->tmp, out));
  w->pasts.v[past].without[ch] = *out;
  return NSR_OK;
}

/* Begins anew with the item: all of the past is known, or only what lies in
 * front of the last barrier. */
enum nsr_status nsr_past_reset(struct nsr_walk *w) {
  struct nsr_facts none = {0};
  uint32_t past;
  for (size_t i = 0; i < w->pasts.n; i++) {
    nsr_facts_free(&w->slots.pool, &w->pasts.v[i].set);
    if (w->pasts.v[i].without)
      nsr_piece_give(&w->withouts, w->pasts.v[i].without);
  }
  memset(w->past_slots, 0, sizeof w->past_slots);
  w->pasts.n = 0;
  NSR_TRY(push_past(w, &none, &past));
  assert(past == NSR_PAST_KNOWN);
  struct nsr_past all = {0};
  for (uint32_t ch = 0; ch < w->nch; ch++)
    NSR_TRY(nsr_facts_push(&w->slots.pool, &all.set, w->entered.passed.at[ch],
                           w->now.at[ch], w->levels));
  NSR_PUSH(w->ctx, NSR_SCRATCH, &w->pasts, all);
  uint16_t *slot = &w->past_slots[hash_facts(&all.set) % NSR_PAST_SLOTS];
  *slot = *slot ? *slot : NSR_PAST_UNKNOWN + 1;
  return NSR_OK;
}

/* ---- the item's form of sets */

enum { MOST_DENSE_BYTES = 1 << 23 }; /* of all sets of an item */

/* About how many sets an item has at once. */
static uint64_t count_views(const struct nsr_walk *w,
                            const struct nsr_walk_item *x) {
  const struct nsr_tree *t = w->tree;
  const struct nsr_part *part = &t->parts[x->part];
  uint64_t n = 0;
  for (uint32_t i = x->first; i < x->first + x->n; i++)
    n += w->lags[i];
  if (part->kind != NSR_PART_SCOPE)
    return n;
  for (uint32_t s = part->first; s <= t->scopes[part->first].last; s++) {
    bool loop = t->scopes[s].kind == NSR_SCOPE_LOOP;
    n += (loop ? 3 : 1) * nsr_range_views(&w->records[s]);
  }
  return n;
}

enum nsr_status nsr_slots_enter(struct nsr_walk *w) {
  const struct nsr_walk_item *x = &w->items.v[w->item];
  struct nsr_slots *s = &w->slots;
  uint32_t n = 0;
  s->ctx = w->ctx;
  s->nch = w->nch;
  s->levels = x->levels;
  memcpy(s->first, w->now.at, w->nch * sizeof *w->now.at);
  memset(s->n, 0, sizeof s->n);
  for (uint32_t i = x->first; i < x->first + x->n; i++)
    n += w->asked[i];
  bool dense = n <= w->most_dense && count_views(w, x) * n <= MOST_DENSE_BYTES;
  if (dense)
    NSR_TRY(nsr_slots_room(s, n));
  n = 0;
  for (uint32_t i = x->first; i < x->first + x->n; i++) {
    if (!w->asked[i])
      continue;
    uint8_t ch = (uint8_t)w->tree->works[i].channel;
    s->n[ch]++;
    if (!dense)
      continue;
    s->most[n] = w->most[i];
    s->channel[n++] = ch;
  }
  nsr_slots_lay(s, dense);
  return NSR_OK;
}

/* ---- merging views */

static bool merge_starts(const struct nsr_walk *w, struct nsr_view *a,
                         const struct nsr_view *b, enum nsr_facts_op op) {
  uint64_t changed = 0;
  for (uint32_t i = 0; i < w->nstarts; i++) {
    uint64_t old = a->starts[i], x = b->starts[i];
    a->starts[i] = op == NSR_FACTS_MAX ? old | x : old & x;
    changed |= old ^ a->starts[i];
  }
  return changed != 0;
}

static enum nsr_status merge(struct nsr_walk *w, struct nsr_view *a,
                             const struct nsr_view *b, enum nsr_facts_op op,
                             bool *changed) {
  uint32_t past = a->past;
  NSR_TRY(merge_pasts(w, a->past, b->past, op, &a->past));
  NSR_TRY(nsr_set_merge(&w->slots, &a->set, &b->set, op, changed));
  *changed |= a->past != past;
  *changed |= merge_starts(w, a, b, op);
  return NSR_OK;
}

enum nsr_status nsr_view_lose(struct nsr_walk *w, struct nsr_view *a,
                              const struct nsr_view *b, bool *lost) {
  bool changed;
  NSR_TRY(merge(w, a, b, NSR_FACTS_MAX, &changed));
  *lost |= changed;
  return NSR_OK;
}

enum nsr_status nsr_view_learn_from(struct nsr_walk *w, struct nsr_view *a,
                                    const struct nsr_view *b) {
  bool changed;
  return merge(w, a, b, NSR_FACTS_MIN, &changed);
}

enum nsr_status nsr_view_merge_past(struct nsr_walk *w, struct nsr_view *a,
                                    const struct nsr_view *b) {
  return merge_pasts(w, a->past, b->past, NSR_FACTS_MIN, &a->past);
}

static void learn_starts(const struct nsr_walk *w, struct nsr_view *v,
                         uint32_t ch) {
  for (uint32_t i = 0; i < w->nstarts; i++)
    v->starts[i] &= ~w->starts_of[ch * w->nstarts + i];
}

/* All of a channel is known to a view that was made, or renewed, behind the
 * last loop. */
enum nsr_status nsr_view_learn(struct nsr_walk *w, struct nsr_view *v,
                               uint32_t ch) {
  if (v->set.words)
    NSR_TRY(nsr_view_renew(w, v));
  else
    v->at[ch] = w->now.at[ch];
  learn_starts(w, v, ch);
  NSR_TRY(past_without(w, v->past, ch, &v->past));
  return nsr_set_learn(&w->slots, &v->set, ch);
}

enum nsr_status nsr_view_learn_one(struct nsr_walk *w, struct nsr_view *row,
                                   uint32_t u, uint32_t lag) {
  uint32_t ch = (uint32_t)w->tree->works[u].channel, slot = w->slot[u];
  if (slot == NSR_NONE)
    return NSR_OK;
  if (w->item_of[u] == w->item)
    return nsr_set_lower(&w->slots, &row->set, ch, slot, lag);
  const struct nsr_facts *past = &w->pasts.v[row->past].set;
  if (nsr_facts_level(past, slot) <= lag)
    return NSR_OK;
  NSR_TRY(nsr_facts_lower(&w->slots.pool, &w->tmp, past, slot, lag));
  return push_past(w, &w->tmp, &row->past);
}

/* Behind the item, a view holds all in its set. Lags are asked about within an
 * item, so levels do not matter any more; and what is long past is told apart
 * less and less. */
enum nsr_status nsr_view_settle(struct nsr_walk *w, struct nsr_view *v) {
  struct nsr_facts *set = &v->set.facts;
  NSR_TRY(nsr_view_renew(w, v));
  NSR_TRY(nsr_set_to_facts(&w->slots, &v->set));
  nsr_view_stamp(w, v);
  if (v->past != NSR_PAST_IN_SET) {
    NSR_TRY(nsr_facts_unite(&w->slots.pool, &w->tmp, set,
                            &w->pasts.v[v->past].set, &w->coarse));
    struct nsr_facts x = w->tmp;
    w->tmp = *set;
    *set = x;
    v->past = NSR_PAST_IN_SET;
  }
  nsr_facts_settle(set, SETTLED, w->levels, w->base, w->nch);
  return NSR_OK;
}

enum nsr_status nsr_view_resume(struct nsr_walk *w, struct nsr_view *v) {
  if (v->past != NSR_PAST_IN_SET)
    return NSR_OK;
  nsr_facts_flatten(&v->set.facts, w->levels, w->base, w->nch);
  NSR_TRY(push_past(w, &v->set.facts, &v->past));
  clear_starts(w, v);
  return nsr_set_begin(&w->slots, &v->set);
}

/* The walk goes back to the entry of the item while this is found out. */
static enum nsr_status adopt(struct nsr_walk *w, const struct nsr_view *rec,
                             struct nsr_view *out) {
  struct nsr_moment now = w->now;
  NSR_TRY(nsr_view_copy(w, out, rec));
  w->now = w->entered;
  enum nsr_status status = nsr_view_renew(w, out);
  w->now = now;
  NSR_TRY(status);
  out->serial = w->entered.passed.serial;
  return nsr_view_resume(w, out);
}

enum nsr_status nsr_view_adopt(struct nsr_walk *w, uint32_t record,
                               const struct nsr_view **out) {
  struct nsr_view **place = &w->adopted[record];
  if (!*place) {
    NSR_PUSH(w->ctx, NSR_SCRATCH, &w->adoptions, record);
    NSR_TRY(nsr_view_take(w, place));
    NSR_TRY(adopt(w, w->rec[record], *place));
  }
  *out = *place;
  return NSR_OK;
}

enum nsr_status nsr_view_forget_adopted(struct nsr_walk *w) {
  while (w->adoptions.n)
    NSR_TRY(nsr_view_give(w, &w->adopted[w->adoptions.v[--w->adoptions.n]]));
  return NSR_OK;
}
