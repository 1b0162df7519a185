/* count.c - cells of awaited work, and sums over them. */
#include "sync/count.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "base/work.h"

/* ---- cells */

/* A cell for each channel with awaited work in a scope, scopes in order: two
 * stable countings, by channel and then by scope. */
struct sorter {
  uint32_t *count, *out;
};

static enum nsr_status sort_by(struct nsr_ctx *ctx, const struct nsr_counts *c,
                               uint32_t n, uint32_t keys,
                               uint32_t (*key)(const struct nsr_counts *,
                                               const struct nsr_work *)) {
  const struct nsr_work *all = c->tree->works;
  uint32_t *works = c->members;
  struct sorter s;
  NSR_NEW(ctx, NSR_SCRATCH, s.count, (size_t)keys + 1);
  NSR_NEW(ctx, NSR_SCRATCH, s.out, n);
  for (uint32_t i = 0; i < n; i++)
    s.count[key(c, &all[works[i]]) + 1]++;
  for (uint32_t k = 0; k < keys; k++)
    s.count[k + 1] += s.count[k];
  for (uint32_t i = 0; i < n; i++)
    s.out[s.count[key(c, &all[works[i]])]++] = works[i];
  if (n)
    memcpy(works, s.out, n * sizeof *works);
  return NSR_OK;
}

static uint32_t channel_key(const struct nsr_counts *c,
                            const struct nsr_work *w) {
  (void)c;
  return (uint32_t)w->channel;
}

static uint32_t scope_key(const struct nsr_counts *c,
                          const struct nsr_work *w) {
  return c->in[w->scope];
}

/* The works somebody waits for, by scope, channel, order. */
static enum nsr_status find_members(struct nsr_ctx *ctx,
                                    const struct nsr_needs *needs,
                                    struct nsr_counts *c, uint32_t *n) {
  const struct nsr_tree *t = c->tree;
  bool *awaited;
  NSR_NEW(ctx, NSR_SCRATCH, awaited, t->nworks);
  for (uint32_t i = 0; i < needs->n; i++) {
    const struct nsr_work *p = &t->works[needs->v[i].p];
    assert(!p->marker || p->insn != NSR_NONE);
    awaited[needs->v[i].p] = true;
  }
  *n = 0;
  for (uint32_t w = 0; w < t->nworks; w++)
    *n += awaited[w];
  NSR_NEW(ctx, NSR_SCRATCH, c->members, *n);
  uint32_t at = 0;
  for (uint32_t w = 0; w < t->nworks; w++)
    if (awaited[w])
      c->members[at++] = w;
  NSR_TRY(sort_by(ctx, c, *n, c->nchannels, channel_key));
  return sort_by(ctx, c, *n, t->nscopes, scope_key);
}

static enum nsr_status make_cells(struct nsr_ctx *ctx, struct nsr_counts *c,
                                  uint32_t n) {
  const struct nsr_tree *t = c->tree;
  NSR_VEC(struct nsr_cell) cells = {0};
  for (uint32_t i = 0; i < n; i++) {
    const struct nsr_work *w = &t->works[c->members[i]];
    const struct nsr_cell *last = cells.n ? &cells.v[cells.n - 1] : NULL;
    uint32_t scope = c->in[w->scope];
    if (!last || c->each || last->scope != scope || last->channel != w->channel)
      NSR_PUSH(ctx, NSR_SCRATCH, &cells,
               (struct nsr_cell){scope, w->channel, i, 0, 0});
    cells.v[cells.n - 1].n++;
    c->cell_of[c->members[i]] = (uint32_t)cells.n - 1;
  }
  c->cells = cells.v;
  c->ncells = (uint32_t)cells.n;
  return NSR_OK;
}

static void index_scopes(struct nsr_counts *c) {
  for (uint32_t i = 0; i < c->ncells; i++) {
    struct nsr_cell *x = &c->cells[i];
    c->first_cell[x->scope + 1]++;
    if (c->most[x->scope] < x->n)
      c->most[x->scope] = x->n;
  }
  for (uint32_t s = 0; s < c->tree->nscopes; s++)
    c->first_cell[s + 1] += c->first_cell[s];
  for (uint32_t i = 0; i < c->ncells; i++) {
    struct nsr_cell *x = &c->cells[i];
    for (x->alike = c->first_cell[x->scope]; c->cells[x->alike].n != x->n;)
      x->alike++;
  }
}

/* Scopes with cells that the same engines run have the same pool. */
static enum nsr_status number_pools(struct nsr_ctx *ctx, struct nsr_counts *c,
                                    const struct nsr_needs *needs) {
  uint32_t *of;
  const struct nsr_tree *t = c->tree;
  NSR_NEW(ctx, NSR_SCRATCH, of, (size_t)1 << NSR_MAX_ENGINES);
  NSR_NEW(ctx, NSR_SCRATCH, c->pool_engines, (size_t)1 << NSR_MAX_ENGINES);
  for (uint32_t s = 0; s < t->nscopes; s++) {
    if (c->most[s] == 0)
      continue;
    uint32_t *pool = &of[t->scopes[s].engines];
    if (*pool == 0)
      *pool = ++c->npools;
    c->pool[s] = *pool - 1;
    c->pool_engines[c->pool[s]] = t->scopes[s].engines;
  }
  NSR_NEW(ctx, NSR_SCRATCH, c->waiters, (size_t)c->npools * c->nchannels);
  for (uint32_t i = 0; i < needs->n; i++) {
    const struct nsr_work *p = &t->works[needs->v[i].p];
    c->waiters[c->pool[c->in[p->scope]] * c->nchannels +
               (uint32_t)p->channel] |= 1u << t->works[needs->v[i].c].engine;
  }
  return NSR_OK;
}

enum nsr_status nsr_counts_make(struct nsr_ctx *ctx,
                                const struct nsr_tree *tree,
                                const struct nsr_needs *needs, bool each,
                                const uint32_t *in, struct nsr_counts *out) {
  struct nsr_counts c = {.tree = tree, .each = each, .in = in};
  uint32_t n = 0, *itself;
  c.nchannels = (uint32_t)nsr_nchannels(tree->program->k);
  NSR_NEW(ctx, NSR_SCRATCH, c.first_cell, (size_t)tree->nscopes + 1);
  NSR_NEW(ctx, NSR_SCRATCH, c.cell_of, tree->nworks);
  NSR_NEW(ctx, NSR_SCRATCH, c.most, tree->nscopes);
  NSR_NEW(ctx, NSR_SCRATCH, c.pool, tree->nscopes);
  NSR_NEW(ctx, NSR_SCRATCH, c.own, tree->nscopes);
  for (uint32_t w = 0; w < tree->nworks; w++)
    c.cell_of[w] = NSR_NONE;
  NSR_NEW(ctx, NSR_SCRATCH, itself, tree->nscopes);
  for (uint32_t s = 0; s < tree->nscopes; s++) {
    c.own[s] = true;
    itself[s] = s;
  }
  c.in = in ? in : itself;
  NSR_TRY(find_members(ctx, needs, &c, &n));
  NSR_TRY(make_cells(ctx, &c, n));
  index_scopes(&c);
  NSR_TRY(number_pools(ctx, &c, needs));
  nsr_work_count(ctx, NSR_WORK_SYNC, tree->nworks + needs->n + tree->nscopes);
  *out = c;
  return NSR_OK;
}

/* ---- pools merged */

/* Pools of one channel that have a group together. */
struct merged {
  uint32_t home, engines, waiters;
};

static bool joins(const struct merged *m, uint32_t engines, uint32_t waiters) {
  return ((m->waiters | waiters) & ~(m->engines & engines)) == 0;
}

static void merge_channel(struct nsr_counts *c, uint32_t ch, bool wide,
                          struct merged *v) {
  uint32_t n = 0;
  int feeder = nsr_channel_engine(c->tree->program->k, (int)ch);
  for (uint32_t p = 0; p < c->npools; p++) {
    uint32_t at = p * c->nchannels + ch, waiters = c->waiters[at], i = 0;
    c->home[at] = p;
    if (!waiters)
      continue;
    while (i < n && !joins(&v[i], c->pool_engines[p], waiters))
      i++;
    if (i == n)
      v[n++] = (struct merged){p, c->pool_engines[p], 0};
    v[i].engines &= c->pool_engines[p];
    v[i].waiters |= waiters;
    c->home[at] = v[i].home;
  }
  for (uint32_t p = 0; wide && p < c->npools; p++) {
    uint32_t at = p * c->nchannels + ch;
    if (c->waiters[at] || !(c->pool_engines[p] >> feeder & 1))
      continue;
    for (uint32_t i = 0; i < n && c->home[at] == p; i++)
      if ((v[i].waiters & ~c->pool_engines[p]) == 0)
        c->home[at] = v[i].home;
  }
}

/* Whether the groups of two pools and channels cover the same pools. */
static bool same_pools(const struct nsr_counts *c, uint32_t a, uint32_t b) {
  uint32_t n = c->nchannels;
  for (uint32_t p = 0; p < c->npools; p++)
    if ((c->home[p * n + a % n] == c->home[a]) !=
        (c->home[p * n + b % n] == c->home[b]))
      return false;
  return true;
}

enum nsr_status nsr_counts_merge(struct nsr_ctx *ctx, struct nsr_counts *c,
                                 bool wide) {
  uint32_t n = c->npools * c->nchannels;
  struct merged *v;
  NSR_NEW(ctx, NSR_SCRATCH, v, c->npools);
  NSR_NEW(ctx, NSR_SCRATCH, c->home, n);
  NSR_NEW(ctx, NSR_SCRATCH, c->same, n);
  for (uint32_t ch = 0; ch < c->nchannels; ch++)
    merge_channel(c, ch, wide, v);
  for (uint32_t i = 0; i < n; i++) {
    c->same[i] = 0;
    while (!same_pools(c, c->same[i], i))
      c->same[i]++;
  }
  c->merged = true;
  return NSR_OK;
}

/* ---- groups and classes */

/* The pool that has the group of a scope and channel. */
static uint32_t home_of(const struct nsr_counts *c, uint32_t scope,
                        uint32_t channel) {
  uint32_t pool = c->pool[scope];
  return c->merged ? c->home[pool * c->nchannels + channel] : pool;
}

uint32_t nsr_count_keys(const struct nsr_counts *c) {
  return c->ncells + c->npools * c->nchannels;
}

uint32_t nsr_count_pooled(const struct nsr_counts *c, uint32_t scope,
                          uint32_t channel) {
  return c->ncells + home_of(c, scope, channel) * c->nchannels + channel;
}

uint32_t nsr_count_group(const struct nsr_counts *c, uint32_t cell) {
  const struct nsr_cell *x = &c->cells[cell];
  return c->own[x->scope] ? cell
                          : nsr_count_pooled(c, x->scope, (uint32_t)x->channel);
}

bool nsr_count_once(const struct nsr_counts *c, uint32_t cell) {
  uint32_t scope = c->cells[cell].scope;
  return c->own[scope] && c->tree->scopes[scope].kind == NSR_SCOPE_PROGRAM;
}

bool nsr_count_weighed(const struct nsr_counts *c, uint32_t cell) {
  if (nsr_count_once(c, cell))
    return false;
  return c->own[c->cells[cell].scope] ? c->weigh_own : c->weigh_pools;
}

uint32_t nsr_count_class(const struct nsr_counts *c, uint32_t cell) {
  const struct nsr_cell *x = &c->cells[cell];
  bool weighed = nsr_count_weighed(c, cell);
  if (!c->own[x->scope]) {
    uint32_t key = nsr_count_pooled(c, x->scope, (uint32_t)x->channel);
    if (!weighed)
      return key;
    return c->merged ? c->ncells + c->same[key - c->ncells]
                     : nsr_count_pooled(c, x->scope, 0);
  }
  if (weighed)
    return c->first_cell[x->scope];
  return c->apart || nsr_count_once(c, cell) ? cell : x->alike;
}

/* ---- sums */

/* The part of the cell's group that lies in scope: its channel's cell there,
 * or NULL where there is none. */
static const struct nsr_cell *
part_in(const struct nsr_counts *c, const struct nsr_cell *x, uint32_t scope) {
  if (scope == x->scope)
    return x;
  for (uint32_t i = c->first_cell[scope]; i < c->first_cell[scope + 1]; i++)
    if (c->cells[i].channel == x->channel)
      return &c->cells[i];
  return NULL;
}

/* Whether entries of scope add to the cell's group at all. */
static bool counts_in(const struct nsr_counts *c, const struct nsr_cell *x,
                      uint32_t scope) {
  if (c->own[x->scope])
    return scope == x->scope;
  return c->most[scope] > 0 && !c->own[scope] &&
         home_of(c, scope, (uint32_t)x->channel) ==
             home_of(c, x->scope, (uint32_t)x->channel);
}

uint32_t nsr_count_step(const struct nsr_counts *c, uint32_t cell,
                        uint32_t scope) {
  const struct nsr_cell *x = &c->cells[cell], *part;
  if (!counts_in(c, x, scope))
    return 0;
  if (nsr_count_weighed(c, cell))
    return c->most[scope];
  part = part_in(c, x, scope);
  return part ? part->n : 0;
}

/* Members of a cell in front of work x. */
static uint32_t members_before(const struct nsr_counts *c,
                               const struct nsr_cell *x, uint32_t work) {
  uint32_t lo = 0, hi = x->n;
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (c->members[x->first + mid] < work)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

uint32_t nsr_count_weight(const struct nsr_counts *c, uint32_t w) {
  uint32_t cell = c->cell_of[w];
  const struct nsr_cell *x = &c->cells[cell];
  bool last = c->members[x->first + x->n - 1] == w;
  return last ? nsr_count_step(c, cell, x->scope) - (x->n - 1) : 1;
}

/* The last member brings the sum up to the step, and so does a marker, which
 * stands in front of all. */
uint32_t nsr_count_before(const struct nsr_counts *c, uint32_t cell,
                          uint32_t scope, uint32_t x) {
  const struct nsr_cell *group = &c->cells[cell], *part;
  if (!counts_in(c, group, scope))
    return 0;
  part = part_in(c, group, scope);
  uint32_t k = part ? members_before(c, part, x) : 0;
  return part && k < part->n ? k : nsr_count_step(c, cell, scope);
}

static uint32_t behind(const struct nsr_counts *c, uint32_t cell,
                       uint32_t scope, uint32_t p) {
  return nsr_count_step(c, cell, scope) -
         nsr_count_before(c, cell, scope, p + 1);
}

int64_t nsr_count_ahead(const struct nsr_counts *c, uint32_t cell,
                        uint32_t scope, uint32_t x) {
  int64_t sum = 0;
  for (uint32_t a = scope; a != NSR_NONE; a = c->tree->scopes[a].parent)
    sum += nsr_count_step(c, cell, a) - nsr_count_before(c, cell, a, x);
  return sum;
}

/* What passes from one execution of p to the next, at least. */
static int64_t cycle(const struct nsr_counts *c, uint32_t cell) {
  uint32_t scope = c->cells[cell].scope, loop = nsr_common_loop(c->tree, scope);
  int64_t sum = 0;
  for (uint32_t a = scope; a != NSR_NONE; a = c->tree->scopes[a].parent) {
    sum += nsr_count_step(c, cell, a);
    if (a == loop)
      break;
  }
  return sum;
}

/* A group that only scope `from` adds to. */
static int64_t less_alone(const struct nsr_counts *c,
                          const struct nsr_need *need, uint32_t cell,
                          uint32_t from, uint32_t to) {
  uint32_t step = nsr_count_step(c, cell, from);
  int64_t sum = behind(c, cell, from, need->p) + (int64_t)need->lag * step;
  bool again =
      need->p >= nsr_need_at(c->tree, need) && nsr_common_in(c->tree, to, from);
  return again ? sum + step : sum;
}

/* From behind p to the end of the body of `top`, where it comes later than c;
 * or straight from p to c; and on to the ends of all bodies around c. */
int64_t nsr_count_less(const struct nsr_counts *c,
                       const struct nsr_need *need) {
  const struct nsr_tree *t = c->tree;
  uint32_t cell = c->cell_of[need->p], a;
  uint32_t from = c->in[t->works[need->p].scope];
  uint32_t to = c->in[nsr_need_scope(t, need)];
  uint32_t top = nsr_common_shared(t, from, to), at = nsr_need_at(t, need);
  int64_t sum = 0;
  if (need->p >= at)
    top = nsr_common_loop(t, top);
  if (top == NSR_NONE)
    return -1;
  if (c->own[from])
    return less_alone(c, need, cell, from, to);
  for (a = from; a != top; a = t->scopes[a].parent)
    sum += behind(c, cell, a, need->p);
  sum += behind(c, cell, top, need->p);
  for (a = to; a != top; a = t->scopes[a].parent)
    sum += nsr_count_step(c, cell, a);
  if (need->p >= at)
    sum += nsr_count_step(c, cell, top);
  for (a = t->scopes[top].parent; a != NSR_NONE; a = t->scopes[a].parent)
    sum += nsr_count_step(c, cell, a) - nsr_count_before(c, cell, a, at);
  return need->lag ? sum + need->lag * cycle(c, cell) : sum;
}

/* The iteration, or the run of the loop, with p's last execution ends behind
 * all that comes behind p in the bodies around it. */
int64_t nsr_count_less_at_start(const struct nsr_counts *c,
                                const struct nsr_need *need) {
  const struct nsr_tree *t = c->tree;
  uint32_t cell = c->cell_of[need->p], body = t->scopes[need->of].body;
  bool entry = need->back == NSR_AT_ENTRY;
  uint32_t top = entry ? need->of : body;
  int64_t sum =
      nsr_count_ahead(c, cell, entry ? t->scopes[need->of].parent : body,
                      t->scopes[body].first_work);
  for (uint32_t a = t->works[need->p].scope;; a = t->scopes[a].parent) {
    sum += behind(c, cell, a, need->p);
    if (a == top)
      return sum;
  }
}
