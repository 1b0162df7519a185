/* select.c - waits from dependences, on the graph without barriers. */
#include "sync/select.h"

#include <assert.h>

#include "base/vec.h"
#include "base/work.h"
#include "dep/known.h"

/* Units of work spent on dropping waits: in all, shared by the items, and for
 * each of an item's works. Past it the rest stays as it is. */
static const uint64_t effort = UINT64_C(10000000);
static const uint64_t effort_per_work = 30;

/* At one work, so many waits behind one are looked at for what it tells. */
enum { MOST_LATER = 32 };

/* Counts as of starts of iterations that are kept of one, at most. */
enum { MOST_KEPT = 3 };

/* A wait for a dependence. */
struct pick {
  uint32_t dep;
  bool front;   /* for what was in front of its loop */
  bool leads;   /* .. and nothing of its engine comes before it in there */
  bool start;   /* for what was in front of an iteration's start */
  bool implied; /* it may follow from others */
  bool dropped; /* it does */
};

/* The first work of an engine in the loop that was asked about last. */
struct lead {
  uint32_t loop, first;
};

/* A dependence, or what was in front of its loop, that may need a wait. */
struct ask {
  uint32_t dep;
  bool front;
};

struct select {
  struct nsr_ctx *ctx;
  const struct nsr_deps *deps;
  bool plain;
  struct nsr_walk *walk;
  struct lead lead[NSR_MAX_ENGINES]; /* first NSR_NONE: none */
  uint32_t next;                     /* the work behind the last one */
  uint32_t *first;                   /* by work, into picks */
  NSR_VEC(struct pick) picks;        /* of the whole kernel */
  NSR_VEC(uint32_t) fronts;          /* of the item: picks in front of loops */
  NSR_VEC(struct ask) asks;          /* of the item, by work .. */
  NSR_VEC(struct nsr_question) questions;
  uint32_t *first_ask; /* .. from this one on */
  uint64_t effort;     /* units left for making the item's waits fewer */
  bool holds;
};

uint32_t nsr_needs_awaited(const struct nsr_tree *t, uint32_t p, int engine) {
  uint32_t scope = NSR_NONE;
  for (uint32_t s = t->works[p].scope; !nsr_common_runs(t, s, engine);
       s = t->scopes[s].parent)
    scope = s;
  if (scope == NSR_NONE)
    return p;
  const struct nsr_common *x = &t->scopes[scope];
  for (uint32_t m = x->markers; m < x->markers + x->nmarkers; m++)
    if (t->works[m].channel == t->works[p].channel)
      return m;
  assert(false);
  return p;
}

static struct nsr_need need_for(const struct select *s, const struct pick *x) {
  const struct nsr_dep *d = &s->deps->deps[x->dep];
  const struct nsr_tree *t = s->deps->tree;
  uint32_t p = nsr_needs_awaited(t, d->p, t->works[d->c].engine);
  if (x->front && (x->leads || p != d->p))
    return (struct nsr_need){d->c, p, 0, d->loop, 0, 0};
  if (x->front)
    return (struct nsr_need){d->c, p, 0, NSR_NONE, NSR_AT_ENTRY, d->loop};
  if (x->start)
    return (struct nsr_need){d->c, p, 0, NSR_NONE, d->back, d->loop};
  bool lags = p == d->p && !(s->plain && d->front);
  return (struct nsr_need){d->c, p, lags ? d->lag : 0u, NSR_NONE, 0, 0};
}

/* Whether a count as of the start of an iteration is worth a register for each
 * one since: where work in a loop inside that one would be waited for. */
static bool by_start(const struct select *s, const struct nsr_dep *d) {
  const struct nsr_tree *t = s->deps->tree;
  uint32_t inner = nsr_common_loop(t, t->works[d->p].scope);
  return !s->plain && d->back > 0 && d->back <= MOST_KEPT && inner != d->loop &&
         nsr_needs_awaited(t, d->p, t->works[d->c].engine) == d->p;
}

static enum nsr_status enter(struct select *s, const struct pick *x) {
  const struct nsr_dep *d = &s->deps->deps[x->dep];
  struct nsr_need n = need_for(s, x);
  int engine = s->deps->tree->works[n.c].engine;
  if (x->front || x->start)
    return nsr_walk_wait_before(s->walk, engine, d->p, d->loop,
                                x->front ? 0 : d->back);
  return nsr_walk_wait(s->walk, engine, n.p, n.lag);
}

/* What is to be known for a dependence, but for what was in front of its loop;
 * or (front) for that. */
static enum nsr_status push_ask(struct select *s, uint32_t dep, bool front) {
  const struct nsr_dep *d = &s->deps->deps[dep];
  struct nsr_question q;
  bool plain = s->plain && d->front; /* for the latest execution at all */
  if (!plain && (front ? !d->front : d->once))
    return NSR_OK;
  if (!plain && (front || d->back))
    q = nsr_walk_question_before(s->walk, d->p, d->loop, front ? 0 : d->back);
  else
    q = nsr_walk_question(s->walk, d->p, plain ? 0 : d->lag);
  NSR_PUSH(s->ctx, NSR_SCRATCH, &s->asks, ((struct ask){dep, front}));
  NSR_PUSH(s->ctx, NSR_SCRATCH, &s->questions, q);
  return NSR_OK;
}

/* What an item's works ask. */
static enum nsr_status list_asks(struct select *s,
                                 const struct nsr_walk_item *x) {
  const struct nsr_deps *deps = s->deps;
  s->asks.n = s->questions.n = 0;
  for (uint32_t w = x->first; w < x->first + x->n; w++) {
    s->first_ask[w] = (uint32_t)s->asks.n;
    for (uint32_t i = deps->first[w]; i < deps->first[w + 1]; i++) {
      if (deps->deps[i].overlap == NSR_OVERLAP_NO)
        continue;
      NSR_TRY(push_ask(s, i, false));
      NSR_TRY(push_ask(s, i, true));
    }
  }
  s->first_ask[x->first + x->n] = (uint32_t)s->asks.n;
  return NSR_OK;
}

static enum nsr_status all_hold(struct select *s, uint32_t w, bool *yes) {
  const struct nsr_deps *deps = s->deps;
  uint32_t at = s->first_ask[w], end = s->first_ask[w + 1];
  nsr_work_count(s->ctx, NSR_WORK_DEP,
                 (deps->first[w + 1] - deps->first[w]) / 4);
  if (at < end)
    NSR_TRY(nsr_walk_ask(s->walk, deps->tree->works[w].engine, s->questions.v,
                         end, &at));
  *yes = at == end;
  return NSR_OK;
}

/* What has been done since `start` was for fewer waits. */
static void spend(struct select *s, uint64_t start) {
  uint64_t units = nsr_work(s->ctx, NSR_WORK_DEP) - start;
  s->effort -= units < s->effort ? units : s->effort;
}

/* ---- adding */

/* A wait that was not known can be known only from waits behind it, at the
 * same work: where one is taken away no more holds in front of it. So it can
 * follow from others only where the last one entered, the newest pick, or one
 * behind that, says so. */
static void mark_implied(struct select *s, uint32_t w) {
  size_t end = s->picks.n - 1, from = s->first[w];
  if (end - from > MOST_LATER) {
    from = end - MOST_LATER;
    s->picks.v[from - 1].implied = true;
  }
  for (size_t i = from; i < end; i++) {
    struct pick *x = &s->picks.v[i];
    const struct nsr_dep *d = &s->deps->deps[x->dep];
    if (x->implied)
      continue;
    x->implied = d->back || x->front
                     ? nsr_walk_told_before(s->walk, d->p, d->loop,
                                            x->front ? 0 : d->back)
                     : nsr_walk_told(s->walk, d->p, d->lag);
  }
}

/* Whether c is the first work of its engine in a loop: what waits in front of
 * it holds up nothing else. */
static bool leads(struct select *s, uint32_t c, uint32_t loop) {
  const struct nsr_tree *t = s->deps->tree;
  struct lead *x = &s->lead[t->works[c].engine];
  if (x->first == NSR_NONE || x->loop != loop) {
    *x = (struct lead){loop, t->scopes[loop].first_work};
    while (t->works[x->first].engine != t->works[c].engine ||
           t->works[x->first].marker)
      x->first++;
  }
  return x->first == c;
}

/* One that says nothing but for itself is in front of a loop. */
static enum nsr_status add_need(struct select *s, uint32_t w, uint32_t dep,
                                bool front) {
  const struct nsr_dep *d = &s->deps->deps[dep];
  bool start = !front && by_start(s, d);
  NSR_APPEND(s->ctx, NSR_SCRATCH, &s->picks,
             ((struct pick){.dep = dep,
                            .front = front,
                            .start = start,
                            .implied = front,
                            .leads = front && leads(s, d->c, d->loop)}));
  NSR_TRY(enter(s, &s->picks.v[s->picks.n - 1]));
  if (!front && !start)
    mark_implied(s, w);
  return NSR_OK;
}

/* Adds what is not known at work w, from picks.v[first[w]] on. */
static enum nsr_status add_needs(struct select *s, uint32_t w) {
  int engine = s->deps->tree->works[w].engine;
  uint32_t end = s->first_ask[w + 1];
  for (uint32_t at = s->first_ask[w]; at < end; at++) {
    NSR_TRY(nsr_walk_ask(s->walk, engine, s->questions.v, end, &at));
    if (at < end)
      NSR_TRY(add_need(s, w, s->asks.v[at].dep, s->asks.v[at].front));
  }
  return NSR_OK;
}

/* Each round through a loop starts anew: its head knows less than in the
 * round before, and the last round counts. */
static enum nsr_status select_work(void *user, struct nsr_walk *walk,
                                   uint32_t w) {
  struct select *s = user;
  (void)walk;
  if (w < s->next)
    s->picks.n = s->first[w];
  s->next = w + 1;
  s->first[w] = (uint32_t)s->picks.n;
  if (s->deps->tree->works[w].island)
    return NSR_OK;
  return add_needs(s, w);
}

/* ---- dropping */

static enum nsr_status check_work(void *user, struct nsr_walk *walk,
                                  uint32_t w) {
  struct select *s = user;
  (void)walk;
  if (s->deps->tree->works[w].island)
    return NSR_OK;
  for (uint32_t i = s->first[w]; i < s->first[w + 1]; i++)
    if (!s->picks.v[i].dropped)
      NSR_TRY(enter(s, &s->picks.v[i]));
  NSR_TRY(all_hold(s, w, &s->holds));
  /* stops the walk; nobody reports it */
  return s->holds ? NSR_OK : NSR_E_DIFFERENT;
}

/* What waits in front of a loop tells more there than where it is asked for. */
static enum nsr_status wait_in_front(void *user, struct nsr_walk *walk,
                                     uint32_t loop) {
  struct select *s = user;
  for (size_t i = 0; i < s->fronts.n; i++) {
    const struct pick *x = &s->picks.v[s->fronts.v[i]];
    struct nsr_need n = need_for(s, x);
    if (n.front == loop && !x->dropped)
      NSR_TRY(
          nsr_walk_wait(walk, s->deps->tree->works[n.c].engine, n.p, n.lag));
  }
  return NSR_OK;
}

static enum nsr_status check_item(struct select *s) {
  s->holds = true;
  enum nsr_status status = nsr_walk_through(s->walk, check_work, s);
  return s->holds ? status : NSR_OK;
}

/* Tries to do without each wait of an item that may be implied, the last one
 * first; to go through it once takes about so much work. */
static enum nsr_status
drop_implied(struct select *s, const struct nsr_walk_item *x, uint64_t once) {
  bool tried = false;
  uint32_t from = x->n ? s->first[x->first] : (uint32_t)s->picks.n;
  s->first[x->first + x->n] = (uint32_t)s->picks.n;
  s->fronts.n = 0;
  for (size_t i = from; i < s->picks.n; i++)
    if (s->picks.v[i].front)
      NSR_PUSH(s->ctx, NSR_SCRATCH, &s->fronts, (uint32_t)i);
  for (size_t i = s->picks.n; i-- > from;) {
    uint64_t start = nsr_work(s->ctx, NSR_WORK_DEP);
    if (!s->picks.v[i].implied)
      continue;
    if (once > s->effort)
      break;
    s->picks.v[i].dropped = tried = true;
    NSR_TRY(check_item(s));
    spend(s, start);
    s->picks.v[i].dropped = s->holds;
  }
  if (!tried)
    return NSR_OK;
  NSR_TRY(check_item(s)); /* the item is left as it is now */
  if (s->holds)
    return NSR_OK;
  /* sets were made coarser in another way: as they were, then */
  s->fronts.n = 0;
  return nsr_walk_through(s->walk, select_work, s);
}

/* A wait in front of d's loop is for an execution in an earlier run of it. */
static enum nsr_status await_front(struct select *s, const struct nsr_dep *d,
                                   uint32_t p) {
  uint32_t first = s->deps->tree->scopes[d->loop].first_work;
  nsr_walk_awaits(s->walk, first, p, 0);
  return nsr_walk_before(s->walk, d->p, d->loop, 0);
}

/* Announces the waits that work w may come to need: of those for one channel
 * none behind one that surely ran later. */
static enum nsr_status announce(struct select *s, uint32_t w) {
  const struct nsr_tree *t = s->deps->tree;
  uint64_t covered = 0; /* channels */
  for (uint32_t i = s->deps->first[w]; i < s->deps->first[w + 1]; i++) {
    const struct nsr_dep *d = &s->deps->deps[i];
    struct nsr_need n = need_for(s, &(struct pick){.dep = i});
    bool lags = d->back || (d->front && !s->plain);
    nsr_walk_asks(s->walk, nsr_walk_item_of(s->walk, w), d->lag);
    uint64_t channel = UINT64_C(1) << t->works[n.p].channel;
    if (d->overlap == NSR_OVERLAP_NO)
      continue;
    nsr_walk_about_lag(s->walk, d->p, d->lag);
    if (d->back)
      NSR_TRY(nsr_walk_before(s->walk, d->p, d->loop, d->back));
    if (d->front && !s->plain)
      NSR_TRY(await_front(s, d, n.p));
    if (covered & channel)
      continue;
    nsr_walk_awaits(s->walk, n.c, n.p, n.lag);
    if (n.p < w && n.lag == 0 && !lags &&
        nsr_common_in(t, t->works[w].scope, t->works[n.p].scope))
      covered |= channel;
  }
  return NSR_OK;
}

static enum nsr_status select_items(struct select *s) {
  for (uint32_t i = 0; i < nsr_walk_nitems(s->walk); i++) {
    struct nsr_walk_item x = nsr_walk_item(s->walk, i);
    NSR_TRY(nsr_walk_enter(s->walk, i));
    NSR_TRY(list_asks(s, &x));
    s->fronts.n = 0;
    uint64_t start = nsr_work(s->ctx, NSR_WORK_DEP);
    s->effort = effort / nsr_walk_nitems(s->walk) + effort_per_work * x.n;
    NSR_TRY(nsr_walk_through(s->walk, select_work, s));
    NSR_TRY(drop_implied(s, &x, nsr_work(s->ctx, NSR_WORK_DEP) - start));
    NSR_TRY(nsr_walk_leave(s->walk));
  }
  return NSR_OK;
}

/* What was picked and not dropped; nothing else stays. */
static enum nsr_status finish(struct select *s, struct nsr_mark mark,
                              struct nsr_needs *out) {
  struct nsr_need *v;
  uint32_t n = 0;
  for (size_t i = 0; i < s->picks.n; i++)
    n += !s->picks.v[i].dropped;
  NSR_NEW(s->ctx, NSR_SCRATCH, v, n);
  struct nsr_kept needs = {v, n * sizeof *v};
  for (size_t i = 0; i < s->picks.n; i++)
    if (!s->picks.v[i].dropped)
      *v++ = need_for(s, &s->picks.v[i]);
  NSR_TRY(nsr_scratch_release_but(s->ctx, mark, &needs, 1));
  *out = (struct nsr_needs){n, needs.p};
  return NSR_OK;
}

enum nsr_status nsr_needs_select(struct nsr_ctx *ctx,
                                 const struct nsr_deps *deps, bool plain,
                                 struct nsr_needs *out) {
  struct nsr_mark mark = nsr_scratch_mark(ctx);
  struct select s = {.ctx = ctx, .deps = deps, .plain = plain};
  NSR_TRY(nsr_walk_new(ctx, deps->tree, false, &s.walk));
  nsr_walk_at_entries(s.walk, wait_in_front);
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    s.lead[e].first = NSR_NONE;
  for (uint32_t w = 0; w < deps->tree->nworks; w++)
    NSR_TRY(announce(&s, w));
  NSR_NEW(ctx, NSR_SCRATCH, s.first, deps->tree->nworks + 1);
  NSR_NEW(ctx, NSR_SCRATCH, s.first_ask, deps->tree->nworks + 1);
  NSR_TRY(select_items(&s));
  return finish(&s, mark, out);
}
