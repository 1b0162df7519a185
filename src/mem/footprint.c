/* footprint.c - from operands to sets of bytes, and where two sets meet.
 *
 * Needs checked kernels for tight answers, but stands any value: what would
 * overflow becomes the hull of the whole space.
 */
#include "mem/footprint.h"

#include <assert.h>

#include "base/mistake.h"
#include "mem/boxsum.h"

/* Addresses and spans of exact footprints stay below this, so that sums of a
 * few of them cannot overflow. */
#define FAR (INT64_C(1) << 56)

static int64_t max(int64_t a, int64_t b) { return a > b ? a : b; }

static int64_t min(int64_t a, int64_t b) { return a < b ? a : b; }

static int64_t clamp(uint64_t x) {
  return x > INT64_MAX ? INT64_MAX : (int64_t)x;
}

static void set_hull(struct nsr_footprint *f, int64_t lo, int64_t hi) {
  f->kind = NSR_FOOTPRINT_HULL;
  f->ndims = 0;
  f->lo = lo;
  f->hi = hi;
  f->run = hi - lo;
}

static int64_t space_bytes(const struct nsr_isa *isa, enum nsr_space space) {
  if (space == NSR_DRAM)
    return INT64_MAX;
  return space == NSR_SBUF ? isa->sbuf_bytes : isa->psum_bytes;
}

/* All bytes an unknown address may reach. */
static void set_unknown(const struct nsr_kernel *k, uint32_t tensor,
                        struct nsr_footprint *f) {
  if (tensor == NSR_NONE) {
    set_hull(f, 0, space_bytes(k->isa, (enum nsr_space)f->space));
    return;
  }
  assert(tensor < k->ntensors);
  const struct nsr_tensor *t = &k->tensors[tensor];
  int64_t lo = clamp(t->offset), size = clamp(t->bytes);
  set_hull(f, lo, size > INT64_MAX - lo ? INT64_MAX : lo + size);
}

static void sort_descending(struct nsr_footprint_dim *d, int n) {
  for (int i = 1; i < n; i++) {
    struct nsr_footprint_dim x = d[i];
    int j = i;
    for (; j > 0 && d[j - 1].step < x.step; j--)
      d[j] = d[j - 1];
    d[j] = x;
  }
}

/* Joins dimension i+1 with i where they make one regular pattern. */
static bool join(struct nsr_footprint *f, int i) {
  struct nsr_footprint_dim *outer = &f->dims[i], *inner = outer + 1;
  int64_t m = outer->step / inner->step;
  if (outer->step % inner->step || m > inner->count)
    return false;
  outer->count = m * (outer->count - 1) + inner->count;
  outer->step = inner->step;
  for (int j = i + 1; j < f->ndims - 1; j++)
    f->dims[j] = f->dims[j + 1];
  f->ndims--;
  return true;
}

/* Positive descending steps to normal form; lo and run are those of one
 * element. */
static void normalise(struct nsr_footprint *f) {
  sort_descending(f->dims, f->ndims);
  for (int i = f->ndims - 2; i >= 0; i--)
    if (join(f, i))
      i = f->ndims - 1;
  while (f->ndims && f->dims[f->ndims - 1].step <= f->run) {
    const struct nsr_footprint_dim *d = &f->dims[--f->ndims];
    f->run += d->step * (d->count - 1);
  }
  f->hi = f->lo + f->run;
  for (int i = 0; i < f->ndims; i++)
    f->hi += f->dims[i].step * (f->dims[i].count - 1);
  for (int i = f->ndims; i < NSR_FOOTPRINT_DIMS; i++)
    f->dims[i] = (struct nsr_footprint_dim){0};
}

/* Adds a dimension, negative steps turned; false: too far away. */
static bool add_dim(struct nsr_footprint *f, int64_t step, int64_t count) {
  if (step == 0 || count == 1)
    return true;
  if (count > FAR / (step < 0 ? -step : step))
    return false;
  if (step < 0) {
    f->lo += step * (count - 1);
    step = -step;
  }
  f->dims[f->ndims++] = (struct nsr_footprint_dim){step, count};
  return true;
}

/* False: not an exact set, or none that the arithmetic could hold. */
static bool set_exact(const struct nsr_operand *op, int64_t base,
                      struct nsr_footprint *f) {
  if (base < -FAR || base > FAR)
    return false;
  f->lo = base;
  f->run = nsr_dtype_bytes((enum nsr_dtype)op->dtype);
  if (op->space == NSR_DRAM && !add_dim(f, op->pstep, op->nparts))
    return false;
  int seen = op->ndims - nsr_mistaken(NSR_MISTAKE_SHORT_FOOTPRINT);
  for (int i = 0; i < seen; i++)
    if (!add_dim(f, op->dims[i].step, op->dims[i].count))
      return false;
  normalise(f);
  return true;
}

static bool count_unknown(const struct nsr_operand *op) {
  for (int i = 0; i < op->ndims; i++)
    if (op->dims[i].count_is_reg)
      return true;
  return false;
}

static bool touches_nothing(const struct nsr_operand *op) {
  for (int i = 0; i < op->ndims; i++)
    if (!op->dims[i].count_is_reg && op->dims[i].count <= 0)
      return true;
  return op->nparts == 0;
}

void nsr_footprint_of(const struct nsr_kernel *k, const struct nsr_operand *op,
                      uint32_t tensor, const int32_t *reg_value,
                      struct nsr_footprint *out) {
  bool dram = op->space == NSR_DRAM;
  const struct nsr_footprint blank = {.space = op->space,
                                      .role = op->role,
                                      .part = dram ? 0 : op->part,
                                      .nparts = dram ? 1 : op->nparts};
  *out = blank;
  if (touches_nothing(op)) {
    out->part = out->nparts = 0;
    return;
  }
  bool known = op->reg == NSR_NO_REG || reg_value;
  int64_t base = op->offset;
  if (op->reg != NSR_NO_REG && reg_value &&
      __builtin_add_overflow(base, *reg_value, &base))
    known = false;
  if (known && !count_unknown(op) && set_exact(op, base, out))
    return;
  *out = blank;
  set_unknown(k, tensor, out);
}

struct nsr_footprint nsr_footprint_everything(enum nsr_space space) {
  struct nsr_footprint f = {
      .space = (uint8_t)space,
      .role = NSR_RW,
      .nparts = space == NSR_DRAM ? 1 : UINT32_MAX,
  };
  set_hull(&f, 0, INT64_MAX);
  return f;
}

/* Cuts a contiguous footprint to what b can reach at all: whole spaces leave
 * the range of the exact arithmetic this way. */
static void clip(struct nsr_footprint *a, const struct nsr_footprint *b) {
  if (a->ndims)
    return;
  a->lo = max(a->lo, b->lo);
  a->hi = min(a->hi, b->hi);
  a->run = a->hi - a->lo;
}

/* Runs of a and b that meet. The distance of two runs' starts is a constant
 * plus a sum of steps once b's dimensions count downwards. Sets *lo, *hi to
 * the common bytes. */
static enum nsr_boxsum meet(const struct nsr_footprint *a,
                            const struct nsr_footprint *b, int64_t *lo,
                            int64_t *hi) {
  struct nsr_boxsum_term t[2 * NSR_FOOTPRINT_DIMS];
  int64_t z[2 * NSR_FOOTPRINT_DIMS];
  int n = 0;
  for (int i = 0; i < a->ndims; i++)
    t[n++] = (struct nsr_boxsum_term){a->dims[i].step, a->dims[i].count};
  for (int i = 0; i < b->ndims; i++)
    t[n++] = (struct nsr_boxsum_term){b->dims[i].step, b->dims[i].count};
  int64_t distance = a->lo - (b->hi - b->run);
  enum nsr_boxsum got =
      nsr_boxsum_solve(t, n, 1 - a->run - distance, b->run - 1 - distance, z);
  if (got != NSR_BOXSUM_YES)
    return got;
  int64_t at = a->lo, bt = b->hi - b->run;
  for (int i = 0; i < a->ndims; i++)
    at += t[i].step * z[i];
  for (int i = a->ndims; i < n; i++)
    bt -= t[i].step * z[i];
  *lo = max(at, bt);
  *hi = min(at + a->run, bt + b->run);
  assert(*lo < *hi);
  return got;
}

enum nsr_overlap nsr_overlap(const struct nsr_footprint *a,
                             const struct nsr_footprint *b,
                             struct nsr_bytes *where) {
  _Static_assert(2 * NSR_FOOTPRINT_DIMS <= NSR_BOXSUM_TERMS, "terms");
  if (a->space != b->space || nsr_footprint_empty(a) || nsr_footprint_empty(b))
    return NSR_OVERLAP_NO;
  int64_t part = max(a->part, b->part);
  int64_t end = min((int64_t)a->part + a->nparts, (int64_t)b->part + b->nparts);
  int64_t lo = max(a->lo, b->lo), hi = min(a->hi, b->hi);
  if (part >= end || lo >= hi)
    return NSR_OVERLAP_NO;
  enum nsr_boxsum got = NSR_BOXSUM_YES;
  if (a->ndims || b->ndims) {
    struct nsr_footprint ca = *a, cb = *b;
    clip(&ca, b);
    clip(&cb, a);
    got = meet(&ca, &cb, &lo, &hi);
  }
  if (got == NSR_BOXSUM_NO)
    return NSR_OVERLAP_NO;
  if (where)
    *where = (struct nsr_bytes){a->space, (uint32_t)part,
                                (uint32_t)(end - part), lo, hi};
  bool must = got == NSR_BOXSUM_YES && a->kind == NSR_FOOTPRINT_EXACT &&
              b->kind == NSR_FOOTPRINT_EXACT &&
              !nsr_role_may((enum nsr_role)a->role) &&
              !nsr_role_may((enum nsr_role)b->role);
  return must ? NSR_OVERLAP_MUST : NSR_OVERLAP_MAY;
}
