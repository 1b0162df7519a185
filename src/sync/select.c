/* select.c - waits from dependences, on the graph without barriers. */
#include "sync/select.h"

#include <assert.h>

#include "base/vec.h"
#include "dep/known.h"

/* Facts tested while dropping waits; past it the rest stays as it is. */
static const uint64_t max_effort = UINT64_C(200000000);

struct select {
  struct nsr_ctx *ctx;
  const struct nsr_deps *deps;
  NSR_VEC(struct nsr_need) needs;
};

/* Whom engine waits for to know of p: p itself, or, in a scope it does not
 * run, the marker behind the outermost such scope. */
static uint32_t awaited_for(const struct nsr_tree *t, uint32_t p, int engine) {
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

static void enter(struct nsr_walk *walk, const struct nsr_work *works,
                  const struct nsr_need *n) {
  nsr_walk_wait(walk, works[n->c].engine, n->p, n->lag);
}

static enum nsr_status add_need(struct select *s, struct nsr_walk *walk,
                                struct nsr_need n) {
  NSR_PUSH(s->ctx, NSR_SCRATCH, &s->needs, n);
  enter(walk, s->deps->tree->works, &n);
  return NSR_OK;
}

/* Whether a dependence holds where the walk stands. */
static bool satisfied(const struct nsr_walk *walk, int engine,
                      const struct nsr_dep *d) {
  return d->overlap == NSR_OVERLAP_NO ||
         nsr_walk_known(walk, engine, d->p, d->lag);
}

/* Adds what is not known at work w. Each pass of the walk starts anew: heads
 * of loops know less than in the pass before, and the last pass counts. */
static enum nsr_status select_work(void *user, struct nsr_walk *walk,
                                   uint32_t w) {
  struct select *s = user;
  const struct nsr_deps *deps = s->deps;
  int engine = deps->tree->works[w].engine;
  if (w == 0)
    s->needs.n = 0;
  for (uint32_t i = deps->first[w]; i < deps->first[w + 1]; i++) {
    const struct nsr_dep *d = &deps->deps[i];
    if (satisfied(walk, engine, d))
      continue;
    uint32_t p = awaited_for(deps->tree, d->p, engine);
    NSR_TRY(
        add_need(s, walk, (struct nsr_need){w, p, p == d->p ? d->lag : 0u}));
  }
  return NSR_OK;
}

/* ---- dropping */

struct check {
  const struct nsr_deps *deps;
  const struct nsr_need *needs;
  const uint32_t *first; /* by work, into needs */
  const bool *dropped;   /* by need */
  bool holds;
};

static enum nsr_status check_work(void *user, struct nsr_walk *walk,
                                  uint32_t w) {
  struct check *c = user;
  const struct nsr_work *works = c->deps->tree->works;
  for (uint32_t i = c->first[w]; i < c->first[w + 1]; i++)
    if (!c->dropped[i])
      enter(walk, works, &c->needs[i]);
  for (uint32_t i = c->deps->first[w]; i < c->deps->first[w + 1]; i++) {
    const struct nsr_dep *d = &c->deps->deps[i];
    if (!satisfied(walk, works[w].engine, d)) {
      c->holds = false;
      return NSR_E_DIFFERENT; /* stops the walk; nobody reports it */
    }
  }
  return NSR_OK;
}

static enum nsr_status holds(struct nsr_walk *walk, struct check *c) {
  c->holds = true;
  nsr_walk_reset(walk);
  enum nsr_status status = nsr_walk_run(walk, check_work, c);
  return c->holds ? status : NSR_OK;
}

/* Tries to do without each wait, the last one first. */
static enum nsr_status drop_implied(struct nsr_ctx *ctx,
                                    const struct nsr_deps *deps,
                                    struct nsr_walk *walk,
                                    struct nsr_needs *needs) {
  uint32_t *first;
  bool *dropped;
  NSR_NEW(ctx, NSR_SCRATCH, first, deps->tree->nworks + 1);
  NSR_NEW(ctx, NSR_SCRATCH, dropped, needs->n);
  for (uint32_t i = 0; i < needs->n; i++)
    first[needs->v[i].c + 1]++;
  for (uint32_t w = 0; w < deps->tree->nworks; w++)
    first[w + 1] += first[w];
  struct check c = {deps, needs->v, first, dropped, true};
  uint64_t cost =
      (uint64_t)walk->rows *
          (deps->tree->nworks + walk->words * (deps->tree->nscopes + 1)) +
      deps->n + 1;
  uint64_t effort = 0;
  for (uint32_t i = needs->n; i-- > 0 && effort < max_effort;) {
    dropped[i] = true;
    NSR_TRY(holds(walk, &c));
    dropped[i] = c.holds;
    effort += cost;
  }
  uint32_t kept = 0;
  for (uint32_t i = 0; i < needs->n; i++)
    if (!dropped[i])
      needs->v[kept++] = needs->v[i];
  needs->n = kept;
  return NSR_OK;
}

enum nsr_status nsr_needs_select(struct nsr_ctx *ctx,
                                 const struct nsr_deps *deps,
                                 struct nsr_needs *out) {
  const struct nsr_tree *t = deps->tree;
  bool *awaited;
  NSR_NEW(ctx, NSR_SCRATCH, awaited, t->nworks);
  for (uint32_t i = 0; i < deps->n; i++) {
    const struct nsr_dep *d = &deps->deps[i];
    awaited[awaited_for(t, d->p, t->works[d->c].engine)] = true;
  }
  struct nsr_walk walk;
  NSR_TRY(nsr_walk_init(ctx, t, awaited, nsr_deps_levels(deps), false, &walk));
  struct select s = {.ctx = ctx, .deps = deps};
  NSR_TRY(nsr_walk_run(&walk, select_work, &s));
  *out = (struct nsr_needs){(uint32_t)s.needs.n, s.needs.v};
  return drop_implied(ctx, deps, &walk, out);
}
