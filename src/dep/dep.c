/* dep.c - conflicts of the whole kernel, in the order the input gives them.
 *
 * One walk of the input. At each work the earlier sites that its own conflict
 * with are looked up (partners.h); pairs that several accesses make together
 * are merged.
 */
#include "dep/dep.h"

#include <string.h>

#include "base/bitset.h"
#include "base/sort.h"
#include "base/vec.h"
#include "base/work.h"
#include "dep/known.h"
#include "dep/lags.h"
#include "dep/partners.h"

/* What meets more than this is looked for in another way. */
enum { MOST_LINKS = 24 };

struct search {
  struct nsr_ctx *ctx;
  const struct nsr_tree *t;
  const uint32_t *target;
  uint32_t *first;
  struct nsr_partners p;
  /* while pairs are sorted */
  NSR_VEC(struct nsr_key) keys;
  NSR_VEC(struct nsr_dep) sorted;
};

/* ---- pairs */

/* Of one consumer: what comes before it in the body is more recent than what
 * comes later. */
static uint64_t recent(const struct nsr_dep *d) {
  return (uint64_t)(d->p >= d->c) << 32 | (UINT32_MAX - d->p);
}

const char *nsr_bytes_text(struct nsr_ctx *ctx, const struct nsr_bytes *b) {
  const char *space = nsr_space_name((enum nsr_space)b->space);
  if (b->space == NSR_SPACE_ANYTHING)
    return nsr_printf(ctx, NSR_KEEP, "unknown effects");
  if (b->space > NSR_PSUM)
    return nsr_printf(ctx, NSR_KEEP, "hidden state of the engine");
  if (b->space == NSR_DRAM)
    return nsr_printf(ctx, NSR_KEEP, "%s bytes %lld..%lld", space,
                      (long long)b->lo, (long long)b->hi - 1);
  return nsr_printf(ctx, NSR_KEEP, "%s partitions %u..%u, bytes %lld..%lld",
                    space, b->part, b->part + b->nparts - 1, (long long)b->lo,
                    (long long)b->hi - 1);
}

/* ---- one work */

static enum nsr_status sort_many(struct search *s, struct nsr_dep *v,
                                 size_t n) {
  s->keys.n = s->sorted.n = 0;
  NSR_RESERVE(s->ctx, NSR_SCRATCH, &s->keys, 2 * n);
  NSR_RESERVE(s->ctx, NSR_SCRATCH, &s->sorted, n);
  for (size_t i = 0; i < n; i++)
    s->keys.v[i] = (struct nsr_key){recent(&v[i]), (uint32_t)i};
  nsr_sort_keys(s->keys.v, s->keys.v + n, n);
  for (size_t i = 0; i < n; i++)
    s->sorted.v[i] = v[s->keys.v[i].at];
  memcpy(v, s->sorted.v, n * sizeof *v);
  return NSR_OK;
}

/* Few pairs, all but in order, most of the time. */
static enum nsr_status sort_pairs(struct search *s, struct nsr_dep *v,
                                  size_t n) {
  enum { FEW = 12 };
  if (n > FEW)
    return sort_many(s, v, n);
  for (size_t i = 1; i < n; i++) {
    uint64_t key = recent(&v[i]);
    if (recent(&v[i - 1]) <= key)
      continue;
    struct nsr_dep x = v[i];
    size_t j = i;
    for (; j > 0 && recent(&v[j - 1]) > key; j--)
      v[j] = v[j - 1];
    v[j] = x;
  }
  return NSR_OK;
}

/* Takes pairs that several of their accesses make together, the strictest of
 * each. */
static enum nsr_status merge_pairs(struct search *s, uint32_t from) {
  struct nsr_dep *v = s->p.deps.v;
  size_t kept = from;
  if (s->p.deps.n > from)
    NSR_TRY(sort_pairs(s, v + from, s->p.deps.n - from));
  for (size_t i = from; i < s->p.deps.n; i++) {
    struct nsr_dep *last = kept > from ? &v[kept - 1] : NULL;
    if (!last || last->p != v[i].p) {
      if (kept++ != i)
        v[kept - 1] = v[i];
      continue;
    }
    if (v[i].overlap > last->overlap) {
      last->overlap = v[i].overlap;
      last->where = v[i].where;
    }
    nsr_lag_merge(s->t, last, &v[i]);
    last->sure |= v[i].sure;
    last->unordered &= v[i].unordered;
    last->allowed |= v[i].allowed;
    last->kinds |= v[i].kinds;
  }
  s->p.deps.n = kept;
  return NSR_OK;
}

static enum nsr_status wait_for_target(void *user, struct nsr_walk *walk,
                                       uint32_t w) {
  struct search *s = user;
  if (s->target[w] == NSR_NONE)
    return NSR_OK;
  return nsr_walk_wait(walk, s->t->works[w].engine, s->target[w], 0);
}

/* The pairs of one work. */
static enum nsr_status search_work(void *user, struct nsr_walk *walk,
                                   uint32_t w) {
  struct search *s = user;
  s->first[w] = (uint32_t)s->p.deps.n;
  NSR_TRY(wait_for_target(s, walk, w));
  NSR_TRY(nsr_partners_find(&s->p, w));
  return merge_pairs(s, s->first[w]);
}

/* What has been found so far. */
struct found {
  size_t deps, where, own, troubles;
};

static struct found found_so_far(const struct search *s) {
  return (struct found){s->p.deps.n, s->p.where.n, s->p.own.n, s->p.troubles.n};
}

static void forget_since(struct search *s, struct found x) {
  s->p.deps.n = x.deps;
  s->p.where.n = x.where;
  s->p.own.n = x.own;
  s->p.troubles.n = x.troubles;
}

/* Waits alone decide what is known; so the pairs of an item are looked for
 * when that is stable. What comes later in a loop is taken to be complete:
 * where each of those that were relied on turns out to be, so it is, since one
 * execution rests on earlier ones only. Otherwise none is taken to be; that
 * leaves more pairs than are needed, but tells for the last time which are. */
static enum nsr_status search_item(struct search *s, uint32_t item) {
  struct nsr_walk_item x = nsr_walk_item(s->p.walk, item);
  struct found before = found_so_far(s);
  NSR_TRY(nsr_walk_enter(s->p.walk, item));
  if (x.loops)
    NSR_TRY(nsr_walk_through(s->p.walk, wait_for_target, s));
  nsr_partners_assume(&s->p, x.first, x.n, true);
  NSR_TRY(nsr_walk_once(s->p.walk, search_work, s));
  if (s->p.deceived) {
    forget_since(s, before);
    nsr_partners_assume(&s->p, x.first, x.n, false);
    NSR_TRY(nsr_walk_once(s->p.walk, search_work, s));
    forget_since(s, before);
    NSR_TRY(nsr_walk_once(s->p.walk, search_work, s));
  }
  return nsr_walk_leave(s->p.walk);
}

/* The largest lag of a pair in an item. Where addresses stay, conflicts are at
 * the nearest distance; where they rotate, within a common period of it. */
static uint32_t most_lag(const struct search *s,
                         const struct nsr_walk_item *x) {
  uint32_t period = 1;
  for (uint32_t w = x->first; w < x->first + x->n; w++)
    for (uint32_t i = s->p.sites.first[w]; i < s->p.sites.first[w + 1]; i++) {
      const struct nsr_site_group *g =
          &s->p.sites.groups[s->p.sites.sites[i].group];
      if (g->moves && g->pattern.form.kind != NSR_FORM_PERIODIC)
        return NSR_MAX_LAG;
      period = nsr_common_period(period, nsr_form_period(&g->pattern.form));
      if (period > NSR_MAX_LAG)
        return NSR_MAX_LAG;
    }
  return period;
}

/* Pairs of a work, about; so there is room for all, mostly. */
enum { PAIRS = 8 };

static enum nsr_status prepare(struct search *s, size_t most) {
  const struct nsr_tree *t = s->t;
  NSR_TRY(nsr_sites_find(s->ctx, s->p.d, most, &s->p.sites));
  NSR_TRY(nsr_partners_prepare(&s->p));
  NSR_NEW(s->ctx, NSR_SCRATCH, s->first, t->nworks + 1);
  NSR_REGROW(s->ctx, NSR_SCRATCH, &s->p.deps, PAIRS * (size_t)t->nworks);
  NSR_TRY(nsr_walk_new(s->ctx, t, true, &s->p.walk));
  for (uint32_t i = 0; i < s->p.sites.nsites; i++)
    if (s->p.sites.groups[s->p.sites.sites[i].group].linked)
      nsr_walk_about(s->p.walk, s->p.sites.sites[i].work);
  for (uint32_t w = 0; w < t->nworks; w++)
    if (s->target[w] != NSR_NONE)
      nsr_walk_awaits(s->p.walk, w, s->target[w], 0);
  for (uint32_t i = 0; i < nsr_walk_nitems(s->p.walk); i++) {
    struct nsr_walk_item x = nsr_walk_item(s->p.walk, i);
    nsr_walk_asks(s->p.walk, i, most_lag(s, &x));
  }
  return NSR_OK;
}

/* The loaded words that addresses are made of. */
static enum nsr_status find_symbols(struct search *s, uint64_t **out) {
  NSR_NEW(s->ctx, NSR_SCRATCH, *out,
          nsr_bits_words(s->t->congruence.nnodes) + 1);
  for (uint32_t g = 0; g < s->p.sites.ngroups; g++) {
    const struct nsr_form *f = &s->p.sites.groups[g].pattern.form;
    if (nsr_form_symbolic(f))
      nsr_bit_set(*out, f->symbol);
  }
  return NSR_OK;
}

/* What is found outlives the search. */
static enum nsr_status keep(struct search *s, struct nsr_mark mark,
                            struct nsr_deps *out) {
  size_t words = nsr_bits_words(s->t->congruence.nnodes) + 1;
  struct nsr_dep *deps;
  uint64_t *symbols;
  NSR_TRY(find_symbols(s, &symbols));
  NSR_VEC_DONE(s->ctx, NSR_SCRATCH, &s->p.deps, deps);
  struct nsr_kept kept[] = {
      {deps, s->p.deps.n * sizeof *deps},
      {s->first, (s->t->nworks + (size_t)1) * sizeof *s->first},
      {s->p.troubles.v, s->p.troubles.n * sizeof *s->p.troubles.v},
      {s->p.where.v, s->p.where.n * sizeof *s->p.where.v},
      {symbols, words * sizeof *symbols},
      {s->p.own.v, s->p.own.n * sizeof *s->p.own.v}};
  NSR_TRY(nsr_scratch_release_but(s->ctx, mark, kept, 6));
  *out = (struct nsr_deps){.tree = s->t,
                           .n = (uint32_t)s->p.deps.n,
                           .deps = kept[0].p,
                           .first = kept[1].p,
                           .bytes = kept[3].p,
                           .symbols = kept[4].p,
                           .own = kept[5].p,
                           .nown = (uint32_t)s->p.own.n,
                           .ntroubles = (uint32_t)s->p.troubles.n,
                           .troubles = kept[2].p};
  for (uint32_t i = 0; i < out->n; i++)
    out->unordered += out->deps[i].unordered;
  return NSR_OK;
}

void nsr_deps_drop(struct nsr_ctx *ctx, struct nsr_deps *deps) {
  nsr_drop(ctx, NSR_SCRATCH, deps->deps);
  nsr_drop(ctx, NSR_SCRATCH, deps->first);
  nsr_drop(ctx, NSR_SCRATCH, deps->bytes);
  nsr_drop(ctx, NSR_SCRATCH, deps->own);
  nsr_drop(ctx, NSR_SCRATCH, deps->symbols);
  deps->deps = NULL;
  deps->first = NULL;
  deps->bytes = NULL;
  deps->own = NULL;
  deps->symbols = NULL;
}

enum nsr_status nsr_deps_find_few(struct nsr_ctx *ctx, const struct nsr_tree *t,
                                  const uint32_t *target, size_t most,
                                  struct nsr_deps *out) {
  struct nsr_mark mark = nsr_scratch_mark(ctx);
  struct nsr_distances d;
  NSR_TRY(nsr_distances_init(ctx, t, &d));
  struct search s = {
      .ctx = ctx, .t = t, .target = target, .p = {.ctx = ctx, .t = t, .d = &d}};
  NSR_TRY(prepare(&s, most));
  for (uint32_t i = 0; i < nsr_walk_nitems(s.p.walk); i++)
    NSR_TRY(search_item(&s, i));
  s.first[t->nworks] = (uint32_t)s.p.deps.n;
  return keep(&s, mark, out);
}

enum nsr_status nsr_deps_find(struct nsr_ctx *ctx, const struct nsr_tree *t,
                              const uint32_t *target, struct nsr_deps *out) {
  return nsr_deps_find_few(ctx, t, target, MOST_LINKS, out);
}
