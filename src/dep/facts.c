/* facts.c - merging stretches. */
#include "dep/facts.h"

#include <string.h>

/* ---- storage: of 4, 8, 16, .. stretches */

static int size_class(uint32_t n) {
  int c = 0;
  while ((UINT32_C(4) << c) < n)
    c++;
  return c;
}

void nsr_facts_free(struct nsr_facts_pool *pool, struct nsr_facts *f) {
  if (f->cap) {
    void **spare = &pool->spare[size_class(f->cap)];
    memcpy(f->v, spare, sizeof *spare);
    *spare = f->v;
  }
  *f = (struct nsr_facts){0};
}

/* Room for n; the first `keep` stretches stay. */
static enum nsr_status reserve(struct nsr_facts_pool *pool, struct nsr_facts *f,
                               uint32_t n, uint32_t keep) {
  if (f->cap >= n)
    return NSR_OK;
  int c = size_class(n);
  struct nsr_facts x = {.n = f->n, .cap = UINT32_C(4) << c};
  if (pool->spare[c]) {
    x.v = pool->spare[c];
    memcpy(&pool->spare[c], x.v, sizeof pool->spare[c]);
  } else {
    NSR_NEW(pool->ctx, NSR_SCRATCH, x.v, x.cap);
  }
  if (keep)
    memcpy(x.v, f->v, keep * sizeof *x.v);
  nsr_facts_free(pool, f);
  *f = x;
  return NSR_OK;
}

enum nsr_status nsr_facts_reserve(struct nsr_facts_pool *pool,
                                  struct nsr_facts *f, uint32_t n) {
  return reserve(pool, f, n, 0);
}

enum nsr_status nsr_facts_push(struct nsr_facts_pool *pool, struct nsr_facts *f,
                               uint32_t lo, uint32_t hi, uint32_t level) {
  if (lo >= hi || level == 0)
    return NSR_OK;
  struct nsr_fact *last = f->n ? &f->v[f->n - 1] : NULL;
  if (last && last->hi == lo && last->level == level) {
    last->hi = hi;
    return NSR_OK;
  }
  NSR_TRY(reserve(pool, f, f->n + 1, f->n));
  f->v[f->n++] = (struct nsr_fact){lo, hi, level};
  return NSR_OK;
}

/* ---- merging */

/* ADD or MAX. */
static uint32_t combine(uint32_t a, uint32_t b, enum nsr_facts_op op,
                        uint32_t most) {
  if (op == NSR_FACTS_ADD)
    return a + b < most ? a + b : most;
  return a > b ? a : b;
}

/* Joins stretches in pairs, with what lies between them. */
static void coarsen(struct nsr_facts *f) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < f->n; i += 2) {
    struct nsr_fact x = f->v[i];
    if (i + 1 < f->n) {
      x.hi = f->v[i + 1].hi;
      if (f->v[i + 1].level > x.level)
        x.level = f->v[i + 1].level;
    }
    f->v[n++] = x;
  }
  f->n = n;
}

/* Behind the last; no sum with a null pointer. */
static const struct nsr_fact *end_of(const struct nsr_facts *f) {
  return f->n ? f->v + f->n : f->v;
}

/* Behind the last of out, which has room for it. */
static inline void put(struct nsr_facts *out, uint32_t lo, uint32_t hi,
                       uint32_t level) {
  struct nsr_fact *last = out->v + out->n;
  if (out->n && last[-1].hi == lo && last[-1].level == level)
    last[-1].hi = hi;
  else
    out->v[out->n++] = (struct nsr_fact){lo, hi, level};
}

static void keep_small(struct nsr_facts *out, bool *coarse) {
  if (out->n <= NSR_MAX_FACTS)
    return;
  coarsen(out);
  *coarse = true;
}

/* What is in both, at the lower level. */
static void intersect(struct nsr_facts *out, const struct nsr_facts *a,
                      const struct nsr_facts *b) {
  const struct nsr_fact *x = a->v, *y = b->v, *ex = end_of(a), *ey = end_of(b);
  out->n = 0;
  while (x < ex && y < ey) {
    uint32_t lo = x->lo > y->lo ? x->lo : y->lo;
    uint32_t hi = x->hi < y->hi ? x->hi : y->hi;
    if (lo < hi)
      put(out, lo, hi, x->level < y->level ? x->level : y->level);
    if (x->hi == hi)
      x++;
    else
      y++;
  }
}

enum nsr_status nsr_facts_unite(struct nsr_facts_pool *pool,
                                struct nsr_facts *out,
                                const struct nsr_facts *a,
                                const struct nsr_facts *b, bool *coarse) {
  NSR_TRY(reserve(pool, out, a->n + b->n, 0));
  const struct nsr_fact *x = a->v, *y = b->v, *ex = end_of(a), *ey = end_of(b);
  out->n = 0;
  while (x < ex || y < ey) {
    const struct nsr_fact *next =
        y == ey || (x < ex && x->lo < y->lo) ? x++ : y++;
    put(out, next->lo, next->hi, next->level);
  }
  keep_small(out, coarse);
  return NSR_OK;
}

enum nsr_status nsr_facts_zip(struct nsr_facts_pool *pool,
                              struct nsr_facts *out, const struct nsr_facts *a,
                              const struct nsr_facts *b, enum nsr_facts_op op,
                              uint32_t most, bool *coarse) {
  /* each end of a stretch ends at most one of the result's */
  NSR_TRY(reserve(pool, out, 2 * (a->n + b->n) + 1, 0));
  const struct nsr_fact *pa = a->v, *pb = b->v, *ea = end_of(a),
                        *eb = end_of(b);
  struct nsr_fact *o = out->v;
  uint32_t x = 0, last = 0, n = 0; /* last: level of the stretch up to x */
  if (op == NSR_FACTS_MIN) {
    intersect(out, a, b);
    keep_small(out, coarse);
    return NSR_OK;
  }
  for (;;) {
    uint32_t la = 0, lb = 0, until = UINT32_MAX;
    if (pa < ea) {
      la = pa->lo <= x ? pa->level : 0;
      until = pa->lo <= x ? pa->hi : pa->lo;
    }
    if (pb < eb) {
      uint32_t u = pb->lo <= x ? pb->hi : pb->lo;
      lb = pb->lo <= x ? pb->level : 0;
      until = u < until ? u : until;
    }
    uint32_t level = combine(la, lb, op, most);
    if (level && level == last)
      o[n - 1].hi = until;
    else if (level)
      o[n++] = (struct nsr_fact){x, until, level};
    if (until == UINT32_MAX)
      break;
    last = level;
    x = until;
    if (pa < ea && pa->hi <= x)
      pa++;
    if (pb < eb && pb->hi <= x)
      pb++;
  }
  out->n = n;
  keep_small(out, coarse);
  return NSR_OK;
}

enum nsr_status nsr_facts_copy(struct nsr_facts_pool *pool,
                               struct nsr_facts *out,
                               const struct nsr_facts *f) {
  NSR_TRY(reserve(pool, out, f->n, 0));
  if (f->n)
    memcpy(out->v, f->v, f->n * sizeof *f->v);
  out->n = f->n;
  return NSR_OK;
}

/* The first stretch that ends behind slot x. */
static uint32_t find(const struct nsr_facts *f, uint32_t x) {
  uint32_t lo = 0, hi = f->n;
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (f->v[mid].hi > x)
      hi = mid;
    else
      lo = mid + 1;
  }
  return lo;
}

enum nsr_status nsr_facts_learn(struct nsr_facts_pool *pool,
                                struct nsr_facts *f, uint32_t lo, uint32_t hi) {
  uint32_t i = find(f, lo), j = i;
  if (lo >= hi || i == f->n || f->v[i].lo >= hi)
    return NSR_OK;
  struct nsr_fact left = f->v[i];
  while (j < f->n && f->v[j].lo < hi)
    j++;
  struct nsr_fact right = f->v[j - 1];
  bool l = left.lo<lo, r = right.hi> hi;
  if (l && r && j == i + 1) { /* one stretch becomes two: room for it */
    NSR_TRY(reserve(pool, f, f->n + 1, f->n));
  }
  uint32_t keep = (uint32_t)l + r;
  memmove(f->v + i + keep, f->v + j, (f->n - j) * sizeof *f->v);
  f->n = f->n - (j - i) + keep;
  if (l)
    f->v[i++] = (struct nsr_fact){left.lo, lo, left.level};
  if (r)
    f->v[i] = (struct nsr_fact){hi, right.hi, right.level};
  return NSR_OK;
}

enum nsr_status nsr_facts_lower(struct nsr_facts_pool *pool,
                                struct nsr_facts *out,
                                const struct nsr_facts *f, uint32_t slot,
                                uint32_t level) {
  uint32_t at = find(f, slot);
  out->n = 0;
  for (uint32_t i = 0; i < f->n; i++) {
    struct nsr_fact x = f->v[i];
    if (i != at || x.lo > slot || x.level <= level) {
      NSR_TRY(nsr_facts_push(pool, out, x.lo, x.hi, x.level));
      continue;
    }
    NSR_TRY(nsr_facts_push(pool, out, x.lo, slot, x.level));
    NSR_TRY(nsr_facts_push(pool, out, slot, slot + 1, level));
    NSR_TRY(nsr_facts_push(pool, out, slot + 1, x.hi, x.level));
  }
  return NSR_OK;
}

uint32_t nsr_facts_level(const struct nsr_facts *f, uint32_t slot) {
  uint32_t i = find(f, slot);
  return i < f->n && f->v[i].lo <= slot ? f->v[i].level : 0;
}

bool nsr_facts_none(const struct nsr_facts *f, uint32_t lo, uint32_t hi) {
  uint32_t i = find(f, lo);
  return lo >= hi || i == f->n || f->v[i].lo >= hi;
}

/* Joins what lies at most `width` apart, within one channel. */
static void close_gaps(struct nsr_facts *f, uint32_t width,
                       const uint32_t *base, uint32_t nch) {
  uint32_t n = 0, ch = 0;
  for (uint32_t i = 0; i < f->n; i++) {
    struct nsr_fact x = f->v[i];
    while (ch + 1 < nch && base[ch + 1] <= x.lo)
      ch++;
    if (n && x.lo - f->v[n - 1].hi <= width &&
        (x.lo == f->v[n - 1].hi || f->v[n - 1].hi > base[ch]))
      f->v[n - 1].hi = x.hi;
    else
      f->v[n++] = x;
  }
  f->n = n;
}

void nsr_facts_flatten(struct nsr_facts *f, uint32_t level,
                       const uint32_t *base, uint32_t nch) {
  for (uint32_t i = 0; i < f->n; i++)
    f->v[i].level = level;
  close_gaps(f, 0, base, nch);
}

void nsr_facts_settle(struct nsr_facts *f, uint32_t most, uint32_t level,
                      const uint32_t *base, uint32_t nch) {
  nsr_facts_flatten(f, level, base, nch);
  for (uint32_t width = 1; f->n > most && width < UINT32_MAX / 4; width *= 4)
    close_gaps(f, width, base, nch);
}

bool nsr_facts_equal(const struct nsr_facts *a, const struct nsr_facts *b) {
  return a->n == b->n &&
         (a->n == 0 || memcmp(a->v, b->v, a->n * sizeof *a->v) == 0);
}
