/* known.c - the walk behind known.h: works, scopes, items. */
#include "dep/known.h"

#include <assert.h>
#include <string.h>

#include "dep/views.h"

/* An engine's row, with all loops that lie between its making and now; what
 * has issued since then may still be missing. */
static enum nsr_status current_row(struct nsr_walk *w, int engine,
                                   struct nsr_view **row) {
  *row = w->rows[w->row[engine]];
  return (*row)->tick == w->now.tick ? NSR_OK : nsr_view_renew(w, *row);
}

/* ---- what is asked and told */

/* Whether a view that was made, or renewed, behind the last loop knows all but
 * the last lag executions of q. */
static bool view_knows(const struct nsr_walk *w, const struct nsr_view *v,
                       uint32_t q, uint32_t lag) {
  uint32_t ch = (uint32_t)w->tree->works[q].channel, s = w->slot[q];
  assert(lag < w->slots.levels && s != NSR_NONE && v->tick == w->now.tick);
  if (w->item_of[q] != w->item)
    return nsr_facts_level(&w->pasts.v[v->past].set, s) <= lag;
  bool since = s < w->now.at[ch] && s >= v->at[ch]; /* it ran */
  if (v->set.words) {
    uint32_t place = nsr_slot_place(&w->slots, ch, s) + w->entered.slots;
    since = place < w->now.slots && place >= v->slots;
  }
  return lag >= since &&
         !nsr_set_unknown(&w->slots, &v->set, ch, s, lag - since);
}

enum nsr_status nsr_walk_known(struct nsr_walk *w, int engine, uint32_t q,
                               uint32_t lag, bool *known) {
  struct nsr_view *row;
  NSR_TRY(current_row(w, engine, &row));
  *known = view_knows(w, row, q, lag);
  return NSR_OK;
}

/* Whether all in front of the back-th latest of some starts (of an index, or
 * NSR_NONE), or of an entry (0), is known. */
static bool knows_start(const struct nsr_walk *w, const struct nsr_view *v,
                        uint32_t start, uint32_t back) {
  return start != NSR_NONE &&
         nsr_start_known(v, &w->starts.v[start], back ? back : 1);
}

enum nsr_status nsr_walk_known_before(struct nsr_walk *w, int engine,
                                      uint32_t q, uint32_t loop, uint32_t back,
                                      bool *known) {
  struct nsr_view *row;
  uint32_t start = nsr_walk_find_start(w, q, loop, back == 0);
  NSR_TRY(nsr_walk_known(w, engine, q, 0, known));
  if (*known || start == NSR_NONE || w->item_of[q] != w->item)
    return NSR_OK;
  NSR_TRY(current_row(w, engine, &row));
  *known = knows_start(w, row, start, back);
  return NSR_OK;
}

struct nsr_question nsr_walk_question(const struct nsr_walk *w, uint32_t q,
                                      uint32_t lag) {
  struct nsr_question x = {.q = q,
                           .start = NSR_NONE,
                           .past = NSR_NONE,
                           .lag = (uint8_t)lag,
                           .own = w->item_of[q] == w->item};
  if (!x.own || !w->slots.words)
    return x;
  uint32_t place = nsr_slot_place(
      &w->slots, (uint32_t)w->tree->works[q].channel, w->slot[q]);
  x.slot = w->entered.slots + place;
  x.word = place / 64 * w->slots.levels + lag;
  x.bit = place % 64;
  return x;
}

struct nsr_question nsr_walk_question_before(const struct nsr_walk *w,
                                             uint32_t q, uint32_t loop,
                                             uint32_t back) {
  struct nsr_question x = nsr_walk_question(w, q, 0);
  if (x.own)
    x.start = nsr_walk_find_start(w, q, loop, back == 0);
  x.back = (uint8_t)back;
  return x;
}

static bool answer(const struct nsr_walk *w, const struct nsr_view *v,
                   struct nsr_question *x) {
  if (x->own && v->set.words) {
    bool since = x->slot < w->now.slots && x->slot >= v->slots;
    return x->lag >= since && !(v->set.bits[x->word - since] >> x->bit & 1);
  }
  if (x->own)
    return view_knows(w, v, x->q, x->lag);
  if (x->past != v->past) /* which does not change while in the item */
    x->known = view_knows(w, v, x->q, x->lag);
  x->past = v->past;
  return x->known;
}

enum nsr_status nsr_walk_ask(struct nsr_walk *w, int engine,
                             struct nsr_question *questions, uint32_t n,
                             uint32_t *at) {
  struct nsr_view *row;
  NSR_TRY(current_row(w, engine, &row));
  while (*at < n &&
         (answer(w, row, &questions[*at]) ||
          knows_start(w, row, questions[*at].start, questions[*at].back)))
    ++*at;
  return NSR_OK;
}

enum nsr_status nsr_walk_known_up_to(struct nsr_walk *w, int engine, uint32_t q,
                                     bool *known) {
  struct nsr_view *row = w->rows[w->row[engine]];
  uint32_t ch = (uint32_t)w->tree->works[q].channel, end = w->slot[q] + 1;
  assert(end > 0);
  NSR_TRY(nsr_view_renew(w, row));
  uint32_t first = w->slots.first[ch];
  uint32_t past = w->item_of[q] == w->item ? first : end;
  *known = nsr_facts_none(&w->pasts.v[row->past].set, w->base[ch], past) &&
           (past == end || nsr_set_none(&w->slots, &row->set, ch, end));
  return NSR_OK;
}

enum nsr_status nsr_walk_wait(struct nsr_walk *w, int engine, uint32_t u,
                              uint32_t lag) {
  struct nsr_view *row = w->rows[w->row[engine]];
  NSR_TRY(nsr_view_renew(w, row));
  w->told = NULL;
  w->told_work = u;
  w->told_lag = lag;
  if (lag >= w->lags[u]) {
    NSR_TRY(nsr_view_learn_one(w, row, u, lag));
    if (w->item_of[u] == w->item)
      nsr_view_settle_starts(w, row);
    return NSR_OK;
  }
  const struct nsr_view *rec = w->rec[w->record[u] + lag];
  /* it never ran, or not yet in this iteration of a loop in which nobody was
   * said to wait for it from an earlier one: that tells nothing */
  bool own = w->item_of[u] == w->item;
  uint32_t ch = (uint32_t)w->tree->works[u].channel;
  if (!rec || (own && !w->carried[u] && w->slot[u] >= w->now.at[ch]))
    return NSR_OK;
  if (!own) {
    NSR_TRY(nsr_view_adopt(w, w->record[u] + lag, &w->told));
    return nsr_view_merge_past(w, row, w->told);
  }
  NSR_TRY(nsr_view_copy(w, w->other, rec));
  NSR_TRY(nsr_view_renew(w, w->other));
  w->told = w->other;
  NSR_TRY(nsr_view_learn_from(w, row, w->other));
  nsr_view_settle_starts(w, row);
  return NSR_OK;
}

void nsr_walk_at_entries(struct nsr_walk *w, nsr_entry_fn *entry) {
  w->at_entry = entry;
}

enum nsr_status nsr_walk_wait_before(struct nsr_walk *w, int engine, uint32_t u,
                                     uint32_t loop, uint32_t back) {
  struct nsr_view *row;
  uint32_t start = nsr_walk_find_start(w, u, loop, back == 0);
  if (start == NSR_NONE || w->item_of[u] != w->item)
    return NSR_OK;
  NSR_TRY(current_row(w, engine, &row));
  const struct nsr_walk_start *s = &w->starts.v[start];
  uint64_t known = UINT64_MAX << s->bit << (back ? back - 1 : 0);
  row->starts[s->word] &= ~(known & nsr_start_bits(s));
  return NSR_OK;
}

bool nsr_walk_told(const struct nsr_walk *w, uint32_t q, uint32_t lag) {
  if (q == w->told_work)
    return lag >= w->told_lag;
  if (!w->told)
    return false;
  if (w->item_of[q] != w->item)
    return nsr_facts_level(&w->pasts.v[w->told->past].set, w->slot[q]) <= lag;
  return w->told == w->other && view_knows(w, w->told, q, lag);
}

bool nsr_walk_told_before(const struct nsr_walk *w, uint32_t q, uint32_t loop,
                          uint32_t back) {
  if (nsr_walk_told(w, q, 0))
    return true;
  return w->told == w->other && w->told && w->item_of[q] == w->item &&
         knows_start(w, w->told, nsr_walk_find_start(w, q, loop, back == 0),
                     back);
}

bool nsr_walk_coarse(const struct nsr_walk *w) {
  return w->coarse || w->slots.coarse;
}

/* ---- one work */

/* The records of a work move by one execution; the latest knows what the
 * engine knows, and all of its channel. */
static enum nsr_status record(struct nsr_walk *w, uint32_t i) {
  const struct nsr_work *x = &w->tree->works[i];
  struct nsr_view **r = w->rec + w->record[i];
  uint32_t n = w->lags[i];
  struct nsr_view *last = r[n - 1];
  for (uint32_t l = n; l-- > 1;) {
    r[l] = r[l - 1];
    if (r[l]) /* while this work is not among what lies between loops */
      NSR_TRY(nsr_view_renew(w, r[l]));
  }
  r[0] = last;
  if (!r[0])
    NSR_TRY(nsr_view_take(w, &r[0]));
  struct nsr_view *row;
  NSR_TRY(current_row(w, x->engine, &row));
  NSR_TRY(nsr_view_copy(w, r[0], row));
  return nsr_view_learn(w, r[0], (uint32_t)x->channel);
}

static enum nsr_status issue(struct nsr_walk *w, uint32_t i) {
  const struct nsr_work *x = &w->tree->works[i];
  w->slots.units++;
  if (x->channel < 0)
    return NSR_OK;
  if (w->asked[i]) {
    assert(w->now.at[x->channel] == w->slot[i]);
    if (x->passes) { /* the engine itself knows */
      NSR_TRY(nsr_view_renew(w, w->rows[w->row[x->engine]]));
      w->rows[w->row[x->engine]]->at[x->channel]++;
      w->rows[w->row[x->engine]]->slots++;
    }
    w->now.at[x->channel]++;
    w->now.slots++;
  }
  if (w->lags[i])
    NSR_TRY(record(w, i));
  /* a load stalls its engine until it has retired, in order */
  if (x->marker || nsr_work_node(w->tree, x)->cls != NSR_LOAD)
    return NSR_OK;
  struct nsr_view *row;
  NSR_TRY(current_row(w, x->engine, &row));
  return nsr_view_learn(w, row, (uint32_t)x->channel);
}

/* ---- scopes */

static enum nsr_status walk_body(struct nsr_walk *w, uint32_t scope,
                                 nsr_visit_fn *visit, void *user);

/* The scope of the innermost loop here, for its range of records. */
static const struct nsr_walk_range *loop_range(const struct nsr_walk *w,
                                               uint32_t scope) {
  const struct nsr_common *scopes = w->tree->scopes;
  while (scope != 0 && scopes[scope].kind != NSR_SCOPE_LOOP)
    scope = scopes[scope].parent;
  return &w->records[scope];
}

/* A way through the innermost loop's body ends here, in a scope; last: nothing
 * else of the loop follows. */
static enum nsr_status end_way(struct nsr_walk *w, uint32_t scope, uint8_t ends,
                               bool last) {
  struct nsr_walk_loop *l = &w->loops[w->now.loop];
  const struct nsr_walk_range *r = loop_range(w, scope);
  bool back = ends & NSR_ENDS_BACK, exit = ends & NSR_ENDS_EXIT;
  if (l->parent == NSR_NONE)
    return NSR_OK;
  if (back)
    NSR_TRY(nsr_state_gather(w, r, last && !exit, l->back, &l->any_back));
  if (exit)
    NSR_TRY(nsr_state_gather(w, r, last, l->exit, &l->any_exit));
  return NSR_OK;
}

/* The state becomes, and stays, what the loop's iterations start with. */
static enum nsr_status enter_head(struct nsr_walk *w, struct nsr_walk_loop *l,
                                  const struct nsr_walk_range *r) {
  uint32_t n = nsr_range_views(r);
  bool again = n && l->head && l->head[0], lost = false;
  if (!l->head) {
    NSR_NEW(w->ctx, NSR_SCRATCH, l->head, n);
    NSR_NEW(w->ctx, NSR_SCRATCH, l->back, n);
    NSR_NEW(w->ctx, NSR_SCRATCH, l->exit, n);
  }
  for (uint32_t i = 0; again && i < n; i++)
    NSR_TRY(nsr_view_lose(w, l->head[i], *nsr_range_view(w, r, i), &lost));
  if (!again)
    NSR_TRY(nsr_state_copy(w, r, l->head));
  w->now.tick++;
  return nsr_state_set(w, r, l->head);
}

/* Walks the body once; *lost: whether the head knew what it does not end
 * with. */
static enum nsr_status walk_iteration(struct nsr_walk *w, uint32_t scope,
                                      nsr_visit_fn *visit, void *user,
                                      bool *lost) {
  struct nsr_walk_loop *l = &w->loops[w->now.loop];
  uint32_t n = nsr_range_views(&w->records[scope]);
  *lost = l->any_back = l->any_exit = false;
  NSR_TRY(walk_body(w, scope, visit, user));
  for (uint32_t i = 0; l->any_back && i < n; i++)
    NSR_TRY(nsr_view_lose(w, l->head[i], l->back[i], lost));
  return NSR_OK;
}

/* Iterations start with what holds in front of the loop and wherever one goes
 * on; behind it holds what holds wherever one leaves. A barrier in it may not
 * have been passed. Where heads are not stable yet, an inner one becomes so
 * before its loop is left: so no more than the loop itself is walked again. */
static enum nsr_status walk_loop(struct nsr_walk *w, uint32_t scope,
                                 nsr_visit_fn *visit, void *user) {
  struct nsr_walk_loop *l = &w->loops[w->loop_of[scope]];
  const struct nsr_walk_range *r = &w->records[scope];
  struct nsr_moment before = w->now;
  bool lost;
  if (w->at_entry)
    NSR_TRY(w->at_entry(user, w, scope));
  NSR_TRY(nsr_state_renew(w, r));
  NSR_TRY(nsr_state_start(w, scope, true));
  NSR_TRY(enter_head(w, l, r));
  w->now.loop = w->loop_of[scope];
  NSR_TRY(walk_iteration(w, scope, visit, user, &lost));
  while (lost && w->settling) {
    w->now = before;
    w->now.tick++;
    w->now.loop = w->loop_of[scope];
    NSR_TRY(nsr_state_set(w, r, l->head));
    NSR_TRY(walk_iteration(w, scope, visit, user, &lost));
  }
  w->now.loop = before.loop;
  w->now.tick++;
  w->now.passed = before.passed;
  if (!l->any_exit)
    return nsr_state_set(w, r, l->head);
  nsr_state_swap(w, r, l->exit);
  return NSR_OK;
}

/* An arm may be passed by, and is joined, or ends an iteration. */
static enum nsr_status walk_arm(struct nsr_walk *w, uint32_t scope,
                                nsr_visit_fn *visit, void *user) {
  const struct nsr_common *s = &w->tree->scopes[scope];
  const struct nsr_walk_range *r = &w->records[scope];
  struct nsr_passed_barrier passed = w->now.passed;
  size_t at = w->stack.n;
  NSR_TRY(nsr_state_renew(w, r));
  NSR_RESERVE(w->ctx, NSR_SCRATCH, &w->stack, nsr_range_views(r));
  for (uint32_t i = 0; i < nsr_range_views(r); i++)
    w->stack.v[w->stack.n++] = NULL;
  NSR_TRY(nsr_state_copy(w, r, w->stack.v + at));
  NSR_TRY(walk_body(w, scope, visit, user));
  w->now.passed = passed;
  struct nsr_view **before = w->stack.v + at;
  if (s->to_end) {
    nsr_state_swap(w, r, before); /* for the other arm */
    if (s->skip)
      NSR_TRY(end_way(w, s->parent, s->skip, false));
  } else {
    NSR_TRY(nsr_state_renew(w, r));
    NSR_TRY(nsr_state_join(w, r, before));
  }
  while (w->stack.n > at)
    NSR_TRY(nsr_view_give(w, &w->stack.v[--w->stack.n]));
  return NSR_OK;
}

static void pass_barrier(struct nsr_walk *w) {
  w->now.passed.serial = ++w->serial;
  w->now.passed.tick = w->now.tick;
  w->now.passed.slots = w->now.slots;
  memcpy(w->now.passed.at, w->now.at, w->nch * sizeof *w->now.at);
  for (uint32_t e = 0; e < w->nrows; e++)
    nsr_view_clear(w, w->rows[e]);
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
  NSR_TRY(nsr_state_start(w, scope, false));
  for (uint32_t p = s->first_part; p != NSR_NONE; p = t->parts[p].next) {
    const struct nsr_part *part = &t->parts[p];
    ended = part->kind == NSR_PART_SCOPE && t->scopes[part->first].to_end;
    NSR_TRY(walk_part(w, part, part->first, part->n, visit, user));
  }
  if (!ended && (s->kind == NSR_SCOPE_LOOP || s->to_end))
    return end_way(w, scope, s->ends, s->kind == NSR_SCOPE_LOOP);
  return NSR_OK;
}

/* ---- items */

uint32_t nsr_walk_nitems(const struct nsr_walk *w) {
  return (uint32_t)w->items.n;
}

struct nsr_walk_item nsr_walk_item(const struct nsr_walk *w, uint32_t item) {
  return w->items.v[item];
}

uint32_t nsr_walk_item_of(const struct nsr_walk *w, uint32_t work) {
  return w->item_of[work];
}

static enum nsr_status start(struct nsr_walk *w) {
  uint32_t n = 0;
  w->started = true;
  NSR_TRY(nsr_walk_lay(w));
  NSR_NEW(w->ctx, NSR_SCRATCH, w->record, w->tree->nworks);
  nsr_walk_number_records(w, 0, &n);
  for (uint32_t i = 0; i < w->tree->nworks; i++)
    if (!w->carried[i]) {
      w->record[i] = n;
      n += w->lags[i];
    }
  NSR_NEW(w->ctx, NSR_SCRATCH, w->rec, n);
  NSR_NEW(w->ctx, NSR_SCRATCH, w->adopted, n);
  NSR_TRY(nsr_view_take(w, &w->other));
  memcpy(w->now.at, w->base, w->nch * sizeof *w->now.at);
  memcpy(w->now.passed.at, w->base, w->nch * sizeof *w->now.at);
  for (uint32_t e = 0; e < w->nrows; e++) {
    NSR_TRY(nsr_view_take(w, &w->rows[e]));
    NSR_TRY(nsr_view_take(w, &w->entry[e]));
    nsr_view_stamp(w, w->rows[e]);
    w->rows[e]->past = NSR_PAST_IN_SET;
  }
  return NSR_OK;
}

enum nsr_status nsr_walk_enter(struct nsr_walk *w, uint32_t item) {
  if (!w->started)
    NSR_TRY(start(w));
  w->item = item;
  NSR_TRY(nsr_starts_enter(w));
  w->now.loop = 0;
  w->entered = w->now;
  NSR_TRY(nsr_slots_enter(w));
  NSR_TRY(nsr_past_reset(w));
  for (uint32_t e = 0; e < w->nrows; e++) {
    NSR_TRY(nsr_view_resume(w, w->rows[e]));
    NSR_TRY(nsr_view_copy(w, w->entry[e], w->rows[e]));
  }
  return NSR_OK;
}

static enum nsr_status restore(struct nsr_walk *w,
                               const struct nsr_walk_item *x) {
  for (uint32_t e = 0; e < w->nrows; e++)
    NSR_TRY(nsr_view_copy(w, w->rows[e], w->entry[e]));
  w->now = w->entered;
  for (uint32_t i = x->first; i < x->first + x->n; i++)
    for (uint32_t l = 0; l < w->lags[i]; l++)
      NSR_TRY(nsr_view_give(w, &w->rec[w->record[i] + l]));
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
    struct nsr_walk_loop *l = &w->loops[w->loop_of[s]];
    for (uint32_t i = 0; l->head && i < nsr_range_views(&w->records[s]); i++) {
      NSR_TRY(nsr_view_give(w, &l->head[i]));
      NSR_TRY(nsr_view_give(w, &l->back[i]));
      NSR_TRY(nsr_view_give(w, &l->exit[i]));
    }
  }
  return NSR_OK;
}

static enum nsr_status walk_item(struct nsr_walk *w, bool settling,
                                 nsr_visit_fn *visit, void *user) {
  const struct nsr_walk_item *x = &w->items.v[w->item];
  NSR_TRY(restore(w, x));
  w->settling = settling;
  enum nsr_status status =
      walk_part(w, &w->tree->parts[x->part], x->first, x->n, visit, user);
  nsr_slots_count(&w->slots);
  return status;
}

enum nsr_status nsr_walk_once(struct nsr_walk *w, nsr_visit_fn *visit,
                              void *user) {
  return walk_item(w, false, visit, user);
}

enum nsr_status nsr_walk_through(struct nsr_walk *w, nsr_visit_fn *visit,
                                 void *user) {
  NSR_TRY(forget_heads(w, &w->items.v[w->item]));
  return walk_item(w, true, visit, user);
}

enum nsr_status nsr_walk_leave(struct nsr_walk *w) {
  const struct nsr_walk_item *x = &w->items.v[w->item];
  NSR_TRY(forget_heads(w, x));
  NSR_TRY(nsr_view_forget_adopted(w));
  for (uint32_t e = 0; e < w->nrows; e++)
    NSR_TRY(nsr_view_settle(w, w->rows[e]));
  for (uint32_t i = x->first; i < x->first + x->n; i++)
    for (uint32_t l = 0; l < w->lags[i]; l++) {
      struct nsr_view **rec = &w->rec[w->record[i] + l];
      if (!w->exported[i])
        NSR_TRY(nsr_view_give(w, rec));
      else if (*rec)
        NSR_TRY(nsr_view_settle(w, *rec));
    }
  nsr_slots_count(&w->slots);
  return NSR_OK;
}
