/* facts.c - merging stretches. */
#include "dep/facts.h"

#include <string.h>

#include "base/vec.h"

enum nsr_status nsr_facts_push(struct nsr_ctx *ctx, struct nsr_facts *f,
                               uint32_t lo, uint32_t hi, uint32_t level) {
  if (lo >= hi || level == 0)
    return NSR_OK;
  struct nsr_fact *last = f->n ? &f->v[f->n - 1] : NULL;
  if (last && last->hi == lo && last->level == level) {
    last->hi = hi;
    return NSR_OK;
  }
  if (f->n == f->cap) {
    size_t cap = f->cap;
    struct nsr_fact *v =
        nsr_vec_grow(ctx, NSR_SCRATCH, f->v, f->n, &cap, 1, sizeof *v);
    if (!v)
      return NSR_E_NOMEM;
    f->v = v;
    f->cap = (uint32_t)cap;
  }
  f->v[f->n++] = (struct nsr_fact){lo, hi, level};
  return NSR_OK;
}

static uint32_t combine(uint32_t a, uint32_t b, enum nsr_facts_op op,
                        uint32_t most) {
  switch (op) {
  case NSR_FACTS_ADD:
    return a + b < most ? a + b : most;
  case NSR_FACTS_MAX:
    return a > b ? a : b;
  default:
    return a < b ? a : b;
  }
}

/* A set read from left to right: the level at x, and where it ends. */
struct reader {
  const struct nsr_fact *at, *end;
};

static uint32_t level_at(struct reader *r, uint32_t x, uint32_t *until) {
  while (r->at < r->end && r->at->hi <= x)
    r->at++;
  if (r->at == r->end)
    *until = UINT32_MAX;
  else
    *until = r->at->lo > x ? r->at->lo : r->at->hi;
  return r->at < r->end && r->at->lo <= x ? r->at->level : 0;
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

enum nsr_status nsr_facts_zip(struct nsr_ctx *ctx, struct nsr_facts *out,
                              const struct nsr_facts *a,
                              const struct nsr_facts *b, enum nsr_facts_op op,
                              uint32_t most, bool *coarse) {
  struct reader ra = {a->v, a->v + a->n}, rb = {b->v, b->v + b->n};
  uint32_t x = 0;
  out->n = 0;
  while (x != UINT32_MAX) {
    uint32_t ua, ub;
    uint32_t la = level_at(&ra, x, &ua), lb = level_at(&rb, x, &ub);
    uint32_t until = ua < ub ? ua : ub;
    NSR_TRY(nsr_facts_push(ctx, out, x, until, combine(la, lb, op, most)));
    x = until;
  }
  if (out->n > NSR_MAX_FACTS) {
    coarsen(out);
    *coarse = true;
  }
  return NSR_OK;
}

enum nsr_status nsr_facts_copy(struct nsr_ctx *ctx, struct nsr_facts *out,
                               const struct nsr_facts *f) {
  if (out->cap < f->n) {
    size_t cap = 0;
    out->v =
        nsr_vec_grow(ctx, NSR_SCRATCH, NULL, 0, &cap, f->n, sizeof *out->v);
    out->cap = 0;
    if (!out->v)
      return NSR_E_NOMEM;
    out->cap = (uint32_t)cap;
  }
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

enum nsr_status nsr_facts_learn(struct nsr_ctx *ctx, struct nsr_facts *f,
                                uint32_t lo, uint32_t hi) {
  uint32_t i = find(f, lo), j = i;
  if (lo >= hi || i == f->n || f->v[i].lo >= hi)
    return NSR_OK;
  struct nsr_fact left = f->v[i];
  while (j < f->n && f->v[j].lo < hi)
    j++;
  struct nsr_fact right = f->v[j - 1];
  bool l = left.lo<lo, r = right.hi> hi;
  if (l && r && j == i + 1) { /* one stretch becomes two: room for it */
    uint32_t n = f->n;
    NSR_TRY(nsr_facts_push(ctx, f, UINT32_MAX - 1, UINT32_MAX, 1));
    f->n = n;
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

uint32_t nsr_facts_level(const struct nsr_facts *f, uint32_t slot) {
  uint32_t i = find(f, slot);
  return i < f->n && f->v[i].lo <= slot ? f->v[i].level : 0;
}

bool nsr_facts_equal(const struct nsr_facts *a, const struct nsr_facts *b) {
  return a->n == b->n &&
         (a->n == 0 || memcmp(a->v, b->v, a->n * sizeof *a->v) == 0);
}
