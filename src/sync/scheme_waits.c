/* scheme_waits.c - a wait for each need, joined place by place. */
#include "sync/scheme_waits.h"

#include <assert.h>
#include <stdlib.h>

#include "base/work.h"

struct maker {
  struct nsr_ctx *ctx;
  const struct nsr_tree *t;
  const struct nsr_needs *needs;
  struct nsr_chosen *c;
};

static enum nsr_status too_far(struct maker *p, const struct nsr_need *need) {
  return nsr_fail(p->ctx, NSR_E_REFUSED,
                  nsr_work_place(p->t, &p->t->works[need->c]),
                  "a threshold here passes the range of a semaphore");
}

/* Whether the count of p's group at c is known, so that the threshold is: p's
 * scope runs once at most, and has begun. */
static bool is_constant(const struct maker *p, const struct nsr_need *need) {
  const struct nsr_counts *c = &p->c->counts;
  uint32_t scope = c->in[p->t->works[need->p].scope];
  return need->front == NSR_NONE && need->back == 0 && c->own[scope] &&
         !p->t->scopes[scope].loops &&
         nsr_common_in(p->t, p->t->works[need->c].scope, scope) &&
         p->c->resets.base[need->c] != NSR_NONE;
}

/* A wait for a need, unless there is nothing to wait for. */
static enum nsr_status make_wait(struct maker *p, const struct nsr_need *need) {
  const struct nsr_counts *c = &p->c->counts;
  uint32_t cell = c->cell_of[need->p];
  int64_t less =
      need->back ? nsr_count_less_at_start(c, need) : nsr_count_less(c, need);
  if (less < 0)
    return NSR_OK;
  uint32_t group = p->c->group[nsr_count_group(c, cell)];
  if (less > INT32_MAX / 2)
    return too_far(p, need);
  struct nsr_plan_wait w = {.c = need->c,
                            .p = need->p,
                            .lag = need->lag,
                            .at = need->front,
                            .sem = p->c->sems[group],
                            .is_reg = !is_constant(p, need),
                            .back = need->back,
                            .of = need->of,
                            .mirror = nsr_count_class(c, cell),
                            .less = (int32_t)less};
  if (!w.is_reg) {
    uint32_t base = p->c->resets.base[need->c], scope = c->cells[cell].scope;
    int64_t first = nsr_count_before(c, cell, scope, base);
    w.value = (int32_t)(nsr_count_step(c, cell, scope) - less - first);
    if (w.value <= 0)
      return NSR_OK;
  }
  p->c->waits.v[p->c->waits.n++] = w;
  return NSR_OK;
}

static int by_wait(const void *a, const void *b) {
  const struct nsr_plan_wait *x = a, *y = b;
  if (x->at != y->at)
    return x->at < y->at ? -1 : 1;
  if (x->sem != y->sem)
    return x->sem < y->sem ? -1 : 1;
  if (x->of != y->of || !x->back != !y->back)
    return x->of < y->of || (x->of == y->of && !x->back) ? -1 : 1;
  if (x->back != y->back)
    return x->back < y->back ? -1 : 1;
  return x->less < y->less ? -1 : x->less > y->less;
}

/* Of which one, the stricter, will do. */
static bool same_place(const struct nsr_plan_wait *x,
                       const struct nsr_plan_wait *y) {
  return x->at == y->at && x->sem == y->sem && !x->back == !y->back &&
         (x->back == NSR_AT_ENTRY) == (y->back == NSR_AT_ENTRY) &&
         x->of == y->of;
}

/* Puts the waits from `from` on, at one place, in order; of several on one
 * group only the strictest stays. */
static void join_waits(struct maker *p, size_t from) {
  struct nsr_plan_wait *v = p->c->waits.v;
  size_t n = p->c->waits.n, kept = from;
  if (n - from < 2)
    return;
  qsort(v + from, n - from, sizeof *v, by_wait);
  for (size_t i = from; i < n; i++)
    if (kept == from || !same_place(&v[kept - 1], &v[i]))
      v[kept++] = v[i];
  p->c->waits.n = kept;
}

static int engine_of(const struct maker *p, const struct nsr_plan_wait *w) {
  return p->t->works[w->c].engine;
}

/* Waits in front of loops, by engine too: not of an order of works. */
struct front {
  uint32_t engine, wait;
  struct nsr_plan_wait w;
};

static int by_front(const void *a, const void *b) {
  const struct front *x = a, *y = b;
  if (x->engine != y->engine)
    return x->engine < y->engine ? -1 : 1;
  return by_wait(&x->w, &y->w);
}

/* Of those in front of one loop for one group the strictest is left. */
static enum nsr_status join_fronts(struct maker *p) {
  struct nsr_plan_wait *v = p->c->waits.v;
  size_t n = 0, kept = 0;
  struct front *fronts;
  for (size_t i = 0; i < p->c->waits.n; i++)
    n += v[i].at != NSR_NONE;
  if (n < 2)
    return NSR_OK;
  NSR_NEW(p->ctx, NSR_SCRATCH, fronts, n);
  n = 0;
  for (size_t i = 0; i < p->c->waits.n; i++)
    if (v[i].at != NSR_NONE)
      fronts[n++] =
          (struct front){(uint32_t)engine_of(p, &v[i]), (uint32_t)i, v[i]};
  qsort(fronts, n, sizeof *fronts, by_front);
  for (size_t i = 1; i < n; i++)
    if (fronts[i].engine == fronts[i - 1].engine &&
        fronts[i].w.at == fronts[i - 1].w.at &&
        fronts[i].w.sem == fronts[i - 1].w.sem)
      v[fronts[i].wait].c = NSR_NONE;
  for (size_t i = 0; i < p->c->waits.n; i++)
    if (v[i].c != NSR_NONE)
      v[kept++] = v[i];
  p->c->waits.n = kept;
  return NSR_OK;
}

enum nsr_status nsr_scheme_waits(struct nsr_ctx *ctx,
                                 const struct nsr_tree *tree,
                                 const struct nsr_needs *needs,
                                 struct nsr_chosen *c) {
  struct maker m = {ctx, tree, needs, c}, *p = &m;
  size_t from = 0;
  p->c->waits.n = 0;
  NSR_RESERVE(p->ctx, NSR_SCRATCH, &p->c->waits, p->needs->n);
  for (uint32_t i = 0; i < p->needs->n; i++) {
    bool begins = i > 0 && p->needs->v[i].c != p->needs->v[i - 1].c;
    assert(i == 0 || p->needs->v[i - 1].c <= p->needs->v[i].c);
    if (begins) {
      join_waits(p, from);
      from = p->c->waits.n;
    }
    NSR_TRY(make_wait(p, &p->needs->v[i]));
  }
  join_waits(p, from);
  NSR_TRY(join_fronts(p));
  nsr_work_count(p->ctx, NSR_WORK_SYNC, p->needs->n);
  return NSR_OK;
}
