/* runs.c - walks an access in element order.
 *
 * Needs a shape and an offset in bounds; makes its bytes in the order of its
 * elements (p, i, j, ..), neighbours in one run.
 */
#include "sim/runs.h"

void nsr_runs_first(struct nsr_runs *r, const struct nsr_shape *s,
                    int64_t offset) {
  *r = (struct nsr_runs){.begin = offset,
                         .part = s->part,
                         .len = s->bytes,
                         .more = s->nparts > 0,
                         .last_part = s->part + s->nparts - 1,
                         .offset = offset};
  int n = s->ndims;
  while (n > 0 && (s->dims[n - 1].count == 1 ||
                   (s->dims[n - 1].step == (int64_t)r->len &&
                    (uint64_t)r->len * s->dims[n - 1].count <= UINT32_MAX))) {
    r->len *= s->dims[n - 1].count;
    n--;
  }
  r->ndims = n;
  for (int d = 0; d < n; d++) {
    r->dims[d].step = s->dims[d].step;
    r->dims[d].count = s->dims[d].count;
    r->more = r->more && s->dims[d].count > 0;
  }
  r->more = r->more && r->len > 0;
}

void nsr_runs_next(struct nsr_runs *r) {
  for (int d = r->ndims - 1; d >= 0; d--) {
    r->begin += r->dims[d].step;
    if (++r->at[d] < r->dims[d].count)
      return;
    r->begin -= r->dims[d].step * (int64_t)r->dims[d].count;
    r->at[d] = 0;
  }
  if (r->part == r->last_part)
    r->more = false;
  r->part++;
}

struct nsr_shape nsr_flight_shape(const struct nsr_flight *f, int i) {
  const struct nsr_access *a = &f->step->access[i];
  struct nsr_shape s;
  int64_t low, high;
  if (a->fixed)
    return a->shape;
  (void)nsr_access_resolve(a, f->count[i], &s, &low, &high);
  return s;
}

uint64_t nsr_shape_bytes(const struct nsr_shape *s) {
  uint64_t n = (uint64_t)s->bytes * s->nparts;
  for (int d = 0; d < s->ndims; d++)
    if (__builtin_mul_overflow(n, (uint64_t)s->dims[d].count, &n))
      return UINT64_MAX;
  return n;
}

enum nsr_status nsr_flight_reserve(struct nsr_ctx *ctx, enum nsr_arena_id arena,
                                   struct nsr_flight *f, size_t n) {
  if (f->cap >= n)
    return NSR_OK;
  size_t cap = f->cap * 2 > n ? f->cap * 2 : n;
  NSR_NEW(ctx, arena, f->bytes, cap);
  f->cap = cap;
  return NSR_OK;
}
