/* dep.c - conflicts of the whole kernel, in the order the input gives them.
 */
#include "dep/dep.h"

#include <stdlib.h>

#include "base/vec.h"
#include "dep/distance.h"
#include "dep/known.h"
#include "mem/conflict.h"

NSR_MUST_USE static enum nsr_status
collect_accesses(struct nsr_ctx *ctx, const struct nsr_distances *d,
                 struct nsr_access **out, size_t *n) {
  const struct nsr_tree *t = d->tree;
  const struct nsr_program *p = t->program;
  NSR_VEC(struct nsr_access) v = {0};
  for (uint32_t w = 0; w < t->nworks; w++) {
    const struct nsr_work *x = &t->works[w];
    const struct nsr_stream *s = p->stream[x->engine];
    struct nsr_insn insn;
    if (x->channel < 0 || x->marker)
      continue;
    NSR_TRY(nsr_stream_decode(ctx, p->k, s, x->insn, &insn));
    for (int i = 0; i < insn.noperands; i++) {
      struct nsr_access a = {.owner = w};
      struct nsr_form f = nsr_values_form(&d->values[x->engine], x->insn, i);
      nsr_footprint_of(p->k, &insn.operands[i],
                       nsr_operand_tensor(s, x->insn, i),
                       f.kind == NSR_FORM_CONST ? &f.base : NULL, &a.footprint);
      NSR_PUSH(ctx, NSR_SCRATCH, &v, a);
    }
  }
  *out = v.v;
  *n = v.n;
  return NSR_OK;
}

/* A channel that executes in order needs no wait between its own. */
static bool in_order(const struct nsr_tree *t, uint32_t a, uint32_t b) {
  int ch = t->works[a].channel;
  return ch == t->works[b].channel &&
         nsr_channel_order(t->program->k, ch) == NSR_ORDER_FULL;
}

static int by_consumer(const void *a, const void *b) {
  const struct nsr_dep *x = a, *y = b;
  if (x->c != y->c)
    return x->c < y->c ? -1 : 1;
  /* what comes before c in the body is more recent than what comes later */
  bool fx = x->p < x->c, fy = y->p < y->c;
  if (fx != fy)
    return fx ? -1 : 1;
  return x->p > y->p ? -1 : x->p < y->p;
}

/* How many of the latest executions of p need not have retired, if no
 * conflict is nearer than k iterations: p runs once in each. Another k, or a p
 * that may be passed by, leaves the most recent instance. */
static void set_lag(const struct nsr_distances *d, struct nsr_dep *dep,
                    uint32_t k) {
  uint32_t lag = 0;
  if (nsr_distance_every(d, dep->p) && k > 0)
    lag = dep->p < dep->c ? k : k - 1;
  dep->lag = (uint8_t)(lag < NSR_MAX_LAG ? lag : NSR_MAX_LAG);
}

/* Finds at which distances a pair conflicts, from `least` on; a pair that
 * never does is no dependence. */
static enum nsr_status set_distance(struct nsr_ctx *ctx,
                                    const struct nsr_distances *d,
                                    struct nsr_dep *dep, uint32_t least) {
  uint32_t k;
  bool exact;
  NSR_TRY(nsr_distance(ctx, d, dep->p, dep->c, least, &k, &exact));
  dep->lag = 0;
  if (k == NSR_NEVER)
    dep->overlap = NSR_OVERLAP_NO;
  else if (exact)
    set_lag(d, dep, k);
  dep->sure = exact && k == 0 && nsr_distance_every(d, dep->p) &&
              nsr_distance_every(d, dep->c);
  return NSR_OK;
}

/* The nearest distance, in iterations of the outermost loop, at which an
 * execution of a later work can precede one of an earlier: 0 where a loop
 * inside that one is around both. */
static uint32_t nearest(const struct nsr_tree *t, uint32_t shared) {
  uint32_t loops = 0;
  for (uint32_t s = shared; s != NSR_NONE; s = t->scopes[s].parent)
    loops += t->scopes[s].kind == NSR_SCOPE_LOOP;
  return loops == 1;
}

/* Both directions of each conflict that can occur. */
NSR_MUST_USE static enum nsr_status
direct(struct nsr_ctx *ctx, const struct nsr_distances *distances,
       const struct nsr_conflicts *conflicts, struct nsr_deps *out) {
  const struct nsr_tree *t = distances->tree;
  NSR_VEC(struct nsr_dep) v = {0};
  for (size_t i = 0; i < conflicts->n; i++) {
    const struct nsr_conflict *x = &conflicts->v[i];
    struct nsr_dep d = {.p = x->a,
                        .c = x->b,
                        .overlap = (uint8_t)x->overlap,
                        .where = x->where};
    if (in_order(t, x->a, x->b))
      continue;
    uint32_t shared =
        nsr_common_shared(t, t->works[x->a].scope, t->works[x->b].scope);
    if (x->a != x->b)
      NSR_TRY(set_distance(ctx, distances, &d, 0));
    if (x->a != x->b && d.overlap != NSR_OVERLAP_NO)
      NSR_PUSH(ctx, NSR_SCRATCH, &v, d);
    if (!t->scopes[shared].loops)
      continue;
    d = (struct nsr_dep){.p = x->b,
                         .c = x->a,
                         .overlap = (uint8_t)x->overlap,
                         .where = x->where};
    NSR_TRY(set_distance(ctx, distances, &d, nearest(t, shared)));
    if (d.overlap != NSR_OVERLAP_NO)
      NSR_PUSH(ctx, NSR_SCRATCH, &v, d);
  }
  if (v.n)
    qsort(v.v, v.n, sizeof *v.v, by_consumer);
  uint32_t *first;
  NSR_NEW(ctx, NSR_SCRATCH, first, t->nworks + 1);
  for (size_t i = 0; i < v.n; i++)
    first[v.v[i].c + 1]++;
  for (uint32_t w = 0; w < t->nworks; w++)
    first[w + 1] += first[w];
  *out = (struct nsr_deps){
      .tree = t, .n = (uint32_t)v.n, .deps = v.v, .first = first};
  return NSR_OK;
}

/* ---- what the input orders */

struct check {
  struct nsr_ctx *ctx;
  const struct nsr_distances *distances;
  const uint32_t *target;
  struct nsr_deps *deps;
};

const char *nsr_bytes_text(struct nsr_ctx *ctx, const struct nsr_bytes *b) {
  const char *space = nsr_space_name((enum nsr_space)b->space);
  if (b->space == NSR_DRAM)
    return nsr_printf(ctx, NSR_KEEP, "%s bytes %lld..%lld", space,
                      (long long)b->lo, (long long)b->hi - 1);
  return nsr_printf(ctx, NSR_KEEP, "%s partitions %u..%u, bytes %lld..%lld",
                    space, b->part, b->part + b->nparts - 1, (long long)b->lo,
                    (long long)b->hi - 1);
}

static enum nsr_status report_race(const struct check *c,
                                   const struct nsr_dep *d) {
  const struct nsr_tree *t = c->deps->tree;
  struct nsr_place p = nsr_work_place(t, &t->works[d->p]);
  const char *where = nsr_bytes_text(c->ctx, &d->where);
  if (!where)
    return NSR_E_NOMEM;
  return nsr_fail(c->ctx, NSR_E_RACE, nsr_work_place(t, &t->works[d->c]),
                  "a race in the input: nothing orders this behind %s[%lld] "
                  "(%s:%u), which touches the same bytes (%s)%s",
                  p.engine, (long long)p.insn,
                  p.source_file ? p.source_file : "?", p.source_line, where,
                  t->works[d->p].channel == t->works[d->c].channel
                      ? "; a channel overlaps its own work, so this needs a "
                        "wait on its own semaphore"
                      : "");
}

/* Both directly in one body and in one region of it, p first: each execution
 * of c is unordered with the p of its own iteration only, and the ones before
 * that were ordered by a barrier. */
static bool same_region(const struct nsr_tree *t, const struct nsr_dep *d) {
  const struct nsr_work *p = &t->works[d->p], *c = &t->works[d->c];
  return d->p < d->c && p->scope == c->scope && p->region == c->region;
}

/* A pair that the input leaves unordered within an iteration is taken as
 * disjoint there; from one iteration to the next it was ordered. */
static enum nsr_status unorder(const struct check *c, struct nsr_dep *d) {
  const struct nsr_tree *t = c->deps->tree;
  uint32_t least = nearest(t, t->works[d->p].scope);
  NSR_TRY(set_distance(c->ctx, c->distances, d, least));
  if (d->lag == 0)
    d->lag = 1;
  return NSR_OK;
}

/* Whether both surely run in one execution of the region, in one body of it:
 * elsewhere the input may be ordered in ways that a walk over all paths does
 * not see, and the judge decides. */
static bool together(const struct nsr_tree *t, const struct nsr_dep *d) {
  const struct nsr_work *p = &t->works[d->p], *c = &t->works[d->c];
  return p->scope == c->scope && ((d->p < d->c && p->region == c->region) ||
                                  !t->scopes[p->scope].barrier);
}

static enum nsr_status check_work(void *user, struct nsr_walk *walk,
                                  uint32_t w) {
  struct check *c = user;
  const struct nsr_tree *t = c->deps->tree;
  int engine = t->works[w].engine;
  if (c->target[w] != NSR_NONE)
    nsr_walk_wait(walk, engine, c->target[w], 0);
  for (uint32_t i = c->deps->first[w]; i < c->deps->first[w + 1]; i++) {
    struct nsr_dep *d = &c->deps->deps[i];
    if (d->unordered || nsr_walk_known(walk, engine, d->p, d->lag))
      continue;
    if ((d->overlap == NSR_OVERLAP_MUST || d->sure) && together(t, d))
      return report_race(c, d);
    d->unordered = true;
    c->deps->unordered++;
    if (same_region(t, d))
      NSR_TRY(unorder(c, d));
  }
  return NSR_OK;
}

/* ---- loads that decide alike */

static int by_place(const void *a, const void *b) {
  const struct nsr_key_load *x = a, *y = b;
  if (x->engine != y->engine)
    return x->engine < y->engine ? -1 : 1;
  return x->insn < y->insn ? -1 : x->insn > y->insn;
}

/* First and last of the works that load a value of one number. */
struct span {
  uint32_t first, last;
};

/* By work: the number of what it loads, NSR_NONE: not of interest. */
static enum nsr_status find_spans(struct nsr_ctx *ctx, const struct nsr_tree *t,
                                  uint32_t **number, struct span **spans) {
  const struct nsr_congruence *c = &t->congruence;
  struct nsr_key_load *loads;
  uint32_t most = 0;
  NSR_NEW(ctx, NSR_SCRATCH, loads, c->nloads);
  for (uint32_t i = 0; i < c->nloads; i++) {
    loads[i] = c->loads[i];
    most = loads[i].number > most ? loads[i].number : most;
  }
  qsort(loads, c->nloads, sizeof *loads, by_place);
  NSR_NEW(ctx, NSR_SCRATCH, *number, t->nworks);
  NSR_NEW(ctx, NSR_SCRATCH, *spans, most + 1);
  for (uint32_t i = 0; i <= most; i++)
    (*spans)[i].first = NSR_NONE;
  for (uint32_t w = 0; w < t->nworks; w++) {
    struct nsr_key_load key = {t->works[w].engine, t->works[w].insn, 0};
    const struct nsr_key_load *x =
        t->works[w].marker
            ? NULL
            : bsearch(&key, loads, c->nloads, sizeof key, by_place);
    (*number)[w] = x ? x->number : NSR_NONE;
    if (!x)
      continue;
    struct span *s = &(*spans)[x->number];
    s->first = s->first == NSR_NONE ? w : s->first;
    s->last = w;
  }
  return NSR_OK;
}

/* Scopes were matched on loads of the same bytes in the same region: nothing
 * may write those between the loads (algorithm.md 2.2). */
static enum nsr_status check_loads(struct nsr_ctx *ctx,
                                   const struct nsr_deps *deps) {
  const struct nsr_tree *t = deps->tree;
  uint32_t *number;
  struct span *spans;
  if (!t->congruence.nloads)
    return NSR_OK;
  NSR_TRY(find_spans(ctx, t, &number, &spans));
  for (uint32_t i = 0; i < deps->n; i++) {
    uint32_t p = deps->deps[i].p, c = deps->deps[i].c;
    uint32_t load = number[c] == NSR_NONE ? p : c, other = load == c ? p : c;
    if (number[load] == NSR_NONE || deps->deps[i].overlap == NSR_OVERLAP_NO)
      continue;
    const struct span *s = &spans[number[load]];
    if (other > s->first && other < s->last)
      return nsr_fail(ctx, NSR_E_REFUSED, nsr_work_place(t, &t->works[other]),
                      "this may write a word between loads of it on several "
                      "engines, and what is loaded may decide their control "
                      "flow: it cannot be shown to be equal");
  }
  return NSR_OK;
}

uint32_t nsr_deps_levels(const struct nsr_deps *deps) {
  uint32_t levels = 1;
  for (uint32_t i = 0; i < deps->n; i++)
    if (deps->deps[i].lag >= levels)
      levels = deps->deps[i].lag + 1u;
  return levels;
}

enum nsr_status nsr_deps_find(struct nsr_ctx *ctx, const struct nsr_tree *t,
                              const uint32_t *target, struct nsr_deps *out) {
  struct nsr_access *accesses;
  size_t n;
  struct nsr_conflicts conflicts;
  struct nsr_distances distances;
  NSR_TRY(nsr_distances_init(ctx, t, &distances));
  NSR_TRY(collect_accesses(ctx, &distances, &accesses, &n));
  NSR_TRY(nsr_conflicts_find(ctx, NSR_SCRATCH, accesses, n, &conflicts));
  NSR_TRY(direct(ctx, &distances, &conflicts, out));
  NSR_TRY(check_loads(ctx, out));
  bool *awaited;
  NSR_NEW(ctx, NSR_SCRATCH, awaited, t->nworks);
  for (uint32_t w = 0; w < t->nworks; w++)
    if (target[w] != NSR_NONE)
      awaited[target[w]] = true;
  struct nsr_walk walk;
  NSR_TRY(nsr_walk_init(ctx, t, awaited, nsr_deps_levels(out), true, &walk));
  struct check c = {ctx, &distances, target, out};
  return nsr_walk_run(&walk, check_work, &c);
}
