/* test_footprint.c - footprints and overlap against sets of bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "mem/boxsum.h"
#include "mem/footprint.h"
#include "prng.h"

enum { LOW = -256, BYTES = 1024, PARTS = 8 };

static const struct nsr_isa isa = {
    .sbuf_bytes = 192 << 10, .psum_bytes = 16 << 10, .partitions = 128};
static const struct nsr_tensor tensors[] = {
    {.name = "d", .space = NSR_DRAM, .offset = 4096, .bytes = 512},
    {.name = "s", .space = NSR_SBUF, .nparts = 64, .offset = 256, .bytes = 64},
    {.name = "far", .offset = UINT64_MAX - 8, .bytes = UINT64_MAX},
};
static const struct nsr_kernel kernel = {
    .isa = &isa, .ntensors = 3, .tensors = tensors};

/* Every byte of every partition, one by one. */
struct set {
  bool in[PARTS][BYTES];
};

static struct nsr_footprint of(const struct nsr_operand *op) {
  struct nsr_footprint f;
  nsr_footprint_of(&kernel, op, NSR_NONE, NULL, &f);
  return f;
}

static struct nsr_operand operand(enum nsr_space space, int64_t offset,
                                  uint16_t part, uint16_t nparts) {
  return (struct nsr_operand){.role = NSR_RW,
                              .space = (uint8_t)space,
                              .dtype = NSR_U8,
                              .indexed_by = -1,
                              .reg = NSR_NO_REG,
                              .part = part,
                              .nparts = nparts,
                              .offset = offset};
}

static struct nsr_operand with_dim(struct nsr_operand op, int32_t step,
                                   int32_t count) {
  op.dims[op.ndims++] = (struct nsr_dim){step, count, false};
  return op;
}

static void put(struct set *s, int64_t part, int64_t at, int bytes) {
  for (int i = 0; i < bytes; i++) {
    assert_in_range(part, 0, PARTS - 1);
    assert_in_range(at + i - LOW, 0, BYTES - 1);
    s->in[part][at + i - LOW] = true;
  }
}

/* By the definition in isa.h, knowing nothing of footprints. */
static void enumerate(const struct nsr_operand *op, struct set *s) {
  int64_t n[NSR_MAX_DIMS] = {1, 1, 1};
  memset(s, 0, sizeof *s);
  for (int i = 0; i < op->ndims; i++)
    n[i] = op->dims[i].count;
  for (int64_t p = 0; p < op->nparts; p++)
    for (int64_t x = 0; x < n[0]; x++)
      for (int64_t y = 0; y < n[1]; y++)
        for (int64_t z = 0; z < n[2]; z++) {
          int64_t at = op->offset + x * op->dims[0].step +
                       y * op->dims[1].step + z * op->dims[2].step;
          bool dram = op->space == NSR_DRAM;
          put(s, dram ? 0 : op->part + p, dram ? at + p * op->pstep : at,
              nsr_dtype_bytes((enum nsr_dtype)op->dtype));
        }
}

/* The set a footprint stands for. */
static void enumerate_footprint(const struct nsr_footprint *f, struct set *s) {
  int64_t n[NSR_FOOTPRINT_DIMS] = {1, 1, 1, 1};
  memset(s, 0, sizeof *s);
  for (int i = 0; i < f->ndims; i++)
    n[i] = f->dims[i].count;
  for (int64_t p = 0; p < f->nparts; p++)
    for (int64_t x = 0; x < n[0]; x++)
      for (int64_t y = 0; y < n[1]; y++)
        for (int64_t z = 0; z < n[2]; z++)
          for (int64_t w = 0; w < n[3]; w++)
            put(s, f->part + p,
                f->lo + x * f->dims[0].step + y * f->dims[1].step +
                    z * f->dims[2].step + w * f->dims[3].step,
                (int)f->run);
}

static bool meet(const struct set *a, const struct set *b) {
  for (int p = 0; p < PARTS; p++)
    for (int i = 0; i < BYTES; i++)
      if (a->in[p][i] && b->in[p][i])
        return true;
  return false;
}

/* Whether *w is a range of bytes of both. */
static bool common(const struct set *a, const struct set *b,
                   const struct nsr_bytes *w) {
  if (!w->nparts || w->lo >= w->hi)
    return false;
  for (uint32_t p = w->part; p < w->part + w->nparts; p++)
    for (int64_t i = w->lo; i < w->hi; i++)
      if (!a->in[p][i - LOW] || !b->in[p][i - LOW])
        return false;
  return true;
}

/* Small enough that LOW.. holds all of it. */
static struct nsr_operand random_operand(struct prng *r) {
  static const uint8_t dtypes[] = {NSR_U8, NSR_BF16, NSR_F32};
  enum nsr_space space = prng_in(r, 0, 1) ? NSR_DRAM : NSR_SBUF;
  struct nsr_operand op = operand(space, prng_in(r, 0, 40), 0, 1);
  op.dtype = dtypes[prng_in(r, 0, 2)];
  op.nparts = (uint16_t)prng_in(r, prng_in(r, 0, 9) ? 1 : 0, 3);
  if (space == NSR_DRAM)
    op.pstep = (int32_t)prng_in(r, -20, 20);
  else
    op.part = (uint16_t)prng_in(r, 0, PARTS - 3);
  int ndims = (int)prng_in(r, 0, NSR_MAX_DIMS);
  for (int i = 0; i < ndims; i++)
    op = with_dim(op, (int32_t)prng_in(r, -12, 12),
                  (int32_t)prng_in(r, prng_in(r, 0, 9) ? 1 : 0, 4));
  return op;
}

/* What a wrong footprint would look like: one member is off by one. */
enum wrong { RIGHT, OFFSET, STEP, COUNT, FIRST_PART, DTYPE, NWRONG };

static struct nsr_operand spoil(struct nsr_operand op, enum wrong wrong) {
  if (wrong == OFFSET)
    op.offset++;
  if (wrong == STEP && op.ndims)
    op.dims[0].step++;
  if (wrong == COUNT && op.ndims)
    op.dims[0].count++;
  if (wrong == FIRST_PART && op.space != NSR_DRAM)
    op.part++;
  if (wrong == DTYPE)
    op.dtype = NSR_F32;
  return op;
}

/* Pairs for which overlap and bytes disagree, `wrong` being done to one side
 * of what overlap sees. */
static int disagreements(struct prng *r, int n, enum wrong wrong) {
  int bad = 0;
  for (int i = 0; i < n; i++) {
    struct nsr_operand a = random_operand(r), b = random_operand(r);
    static struct set sa, sb;
    enumerate(&a, &sa);
    enumerate(&b, &sb);
    a = spoil(a, wrong);
    struct nsr_footprint fa = of(&a), fb = of(&b);
    struct nsr_bytes ab = {0}, ba = {0};
    enum nsr_overlap got = nsr_overlap(&fa, &fb, &ab);
    bool expect = a.space == b.space && meet(&sa, &sb);
    bool ok = got == (expect ? NSR_OVERLAP_MUST : NSR_OVERLAP_NO) &&
              got == nsr_overlap(&fb, &fa, &ba);
    if (ok && expect)
      ok = common(&sa, &sb, &ab) && common(&sa, &sb, &ba);
    bad += !ok;
  }
  return bad;
}

static void test_random_pairs(void **state) {
  (void)state;
  struct prng r = prng_seed(__func__, 1);
  assert_int_equal(disagreements(&r, 60000, RIGHT), 0);
}

static void test_wrong_footprints_are_caught(void **state) {
  (void)state;
  struct prng r = prng_seed(__func__, 2);
  for (int w = RIGHT + 1; w < NWRONG; w++)
    assert_true(disagreements(&r, 4000, (enum wrong)w) > 0);
}

static void check_normal(const struct nsr_footprint *f) {
  assert_int_equal(f->kind, NSR_FOOTPRINT_EXACT);
  for (int i = 0; i < f->ndims; i++) {
    assert_true(f->dims[i].step > f->run);
    assert_true(f->dims[i].count > 1);
    assert_true(!i || f->dims[i - 1].step > f->dims[i].step);
  }
}

static void test_set_is_kept(void **state) {
  (void)state;
  struct prng r = prng_seed(__func__, 3);
  for (int i = 0; i < 20000; i++) {
    struct nsr_operand op = random_operand(&r);
    struct nsr_footprint f = of(&op);
    static struct set a, b;
    enumerate(&op, &a);
    enumerate_footprint(&f, &b);
    assert_memory_equal(&a, &b, sizeof a);
    check_normal(&f);
    if (nsr_footprint_empty(&f))
      continue;
    assert_true(b.in[f.part][f.lo - LOW]);
    assert_true(b.in[f.part][f.hi - 1 - LOW]);
  }
}

/* Strides of real size: byte sets as sorted arrays of starts would be large,
 * so the oracle tries every pair of runs. */
static bool runs_meet(const struct nsr_footprint *a,
                      const struct nsr_footprint *b) {
  static int64_t start[2][1 << 14];
  size_t n[2] = {0};
  for (int side = 0; side < 2; side++) {
    const struct nsr_footprint *f = side ? b : a;
    start[side][n[side]++] = f->lo;
    for (int i = 0; i < f->ndims; i++) {
      size_t m = n[side];
      for (int64_t c = 1; c < f->dims[i].count; c++)
        for (size_t j = 0; j < m; j++)
          start[side][n[side]++] = start[side][j] + c * f->dims[i].step;
    }
  }
  for (size_t i = 0; i < n[0]; i++)
    for (size_t j = 0; j < n[1]; j++)
      if (start[0][i] < start[1][j] + b->run &&
          start[1][j] < start[0][i] + a->run)
        return true;
  return false;
}

static void test_wide_strides(void **state) {
  (void)state;
  struct prng r = prng_seed(__func__, 4);
  int met = 0, n = 3000;
  for (int i = 0; i < n; i++) {
    struct nsr_footprint f[2];
    for (int side = 0; side < 2; side++) {
      struct nsr_operand op = operand(NSR_SBUF, prng_in(&r, 0, 5000), 0, 1);
      for (int d = 0; d < 3; d++)
        op = with_dim(op, (int32_t)prng_in(&r, -3000, 3000),
                      (int32_t)prng_in(&r, 1, 8));
      f[side] = of(&op);
    }
    bool expect = runs_meet(&f[0], &f[1]);
    assert_int_equal(nsr_overlap(&f[0], &f[1], NULL),
                     expect ? NSR_OVERLAP_MUST : NSR_OVERLAP_NO);
    met += expect;
  }
  assert_in_range(met, n / 20, n - n / 20);
}

static enum nsr_overlap overlap(struct nsr_operand a, struct nsr_operand b) {
  struct nsr_footprint fa = of(&a), fb = of(&b);
  return nsr_overlap(&fa, &fb, NULL);
}

static void test_columns(void **state) {
  (void)state;
  struct nsr_operand even = with_dim(operand(NSR_SBUF, 0, 0, 128), 8, 512);
  even.dtype = NSR_F32;
  struct nsr_operand odd = even;
  odd.offset = 4;
  assert_int_equal(overlap(even, odd), NSR_OVERLAP_NO);
  odd.offset = 3;
  assert_int_equal(overlap(even, odd), NSR_OVERLAP_MUST);
  odd.offset = 5;
  assert_int_equal(overlap(even, odd), NSR_OVERLAP_MUST);
  odd.offset = 8 * 511 + 4;
  assert_int_equal(overlap(even, odd), NSR_OVERLAP_NO);
  odd.offset = 8 * 511 + 3;
  assert_int_equal(overlap(even, odd), NSR_OVERLAP_MUST);
  odd.part = 128;
  assert_int_equal(overlap(even, odd), NSR_OVERLAP_NO);
  odd.part = 127;
  assert_int_equal(overlap(even, odd), NSR_OVERLAP_MUST);
  odd.space = NSR_PSUM;
  assert_int_equal(overlap(even, odd), NSR_OVERLAP_NO);
}

/* Column tiles of a matrix in DRAM, a million rows. */
static void test_tiles(void **state) {
  (void)state;
  struct nsr_operand a = with_dim(operand(NSR_DRAM, 0, 0, 60000), 1, 64);
  a.pstep = 4096;
  struct nsr_operand b = a;
  for (int64_t at = 64; at + 64 <= 4096; at += 64) {
    b.offset = at;
    assert_int_equal(overlap(a, b), NSR_OVERLAP_NO);
  }
  b.offset = 63;
  assert_int_equal(overlap(a, b), NSR_OVERLAP_MUST);
  b.offset = INT64_C(4096) * 59999 + 63;
  assert_int_equal(overlap(a, b), NSR_OVERLAP_MUST);
  b.offset++;
  assert_int_equal(overlap(a, b), NSR_OVERLAP_NO);
}

static void test_normal_form(void **state) {
  (void)state;
  /* A dense 4 x 8 x 16 block of f32, backwards, with a broadcast. */
  struct nsr_operand op = operand(NSR_SBUF, 4 * 511, 3, 5);
  op.dtype = NSR_F32;
  op = with_dim(with_dim(with_dim(op, -512, 4), 0, 9), -4, 128);
  struct nsr_footprint f = of(&op);
  assert_int_equal(f.ndims, 0);
  assert_int_equal(f.lo, 0);
  assert_int_equal(f.run, 4 * 512);
  assert_int_equal(f.hi, 4 * 512);
  assert_int_equal(f.part, 3);
  assert_int_equal(f.nparts, 5);
  /* Rows and a dimension of DRAM that are one row of tiles. */
  op = with_dim(operand(NSR_DRAM, 100, 0, 3), 10, 4);
  op.pstep = 40;
  f = of(&op);
  assert_int_equal(f.ndims, 1);
  assert_int_equal(f.dims[0].step, 10);
  assert_int_equal(f.dims[0].count, 12);
  assert_int_equal(f.run, 1);
  assert_int_equal(f.nparts, 1);
}

static void check_hull(const struct nsr_operand *op, uint32_t tensor,
                       const int32_t *reg, int64_t lo, int64_t hi) {
  struct nsr_footprint f;
  nsr_footprint_of(&kernel, op, tensor, reg, &f);
  assert_int_equal(f.kind, NSR_FOOTPRINT_HULL);
  assert_int_equal(f.lo, lo);
  assert_int_equal(f.hi, hi);
  assert_int_equal(f.part, op->space == NSR_DRAM ? 0 : op->part);
  assert_int_equal(f.nparts, op->space == NSR_DRAM ? 1 : op->nparts);
}

static void test_unknown(void **state) {
  (void)state;
  struct nsr_operand s = with_dim(operand(NSR_SBUF, 256, 2, 4), 4, 4);
  s.reg = 7;
  check_hull(&s, 1, NULL, 256, 320);
  check_hull(&s, NSR_NONE, NULL, 0, isa.sbuf_bytes);
  check_hull(&s, 2, NULL, INT64_MAX, INT64_MAX);
  struct nsr_operand d = operand(NSR_DRAM, 4096, 0, 4);
  d.pstep = 128;
  d.reg = 7;
  check_hull(&d, 0, NULL, 4096, 4608);
  check_hull(&d, NSR_NONE, NULL, 0, INT64_MAX);
  int32_t value = -32;
  struct nsr_footprint f;
  nsr_footprint_of(&kernel, &d, 0, &value, &f);
  assert_int_equal(f.kind, NSR_FOOTPRINT_EXACT);
  assert_int_equal(f.lo, 4064);
  assert_int_equal(f.hi, 4064 + 3 * 128 + 1);
  d.dims[0] = (struct nsr_dim){4, 9, true};
  d.ndims = 1;
  check_hull(&d, 0, &value, 4096, 4608);
  d.reg = NSR_NO_REG;
  check_hull(&d, 0, NULL, 4096, 4608);
  /* No rows: nothing, whatever the register holds. */
  d.nparts = 0;
  nsr_footprint_of(&kernel, &d, 0, NULL, &f);
  assert_true(nsr_footprint_empty(&f));
}

static void test_answers(void **state) {
  (void)state;
  struct nsr_operand op = with_dim(operand(NSR_SBUF, 0, 0, 4), 8, 4);
  struct nsr_footprint a = of(&op), hull, all;
  assert_int_equal(nsr_overlap(&a, &a, NULL), NSR_OVERLAP_MUST);
  struct nsr_footprint may = a;
  may.role = NSR_MW;
  assert_int_equal(nsr_overlap(&a, &may, NULL), NSR_OVERLAP_MAY);
  assert_int_equal(nsr_overlap(&may, &a, NULL), NSR_OVERLAP_MAY);
  op.reg = 1;
  nsr_footprint_of(&kernel, &op, 1, NULL, &hull);
  assert_int_equal(nsr_overlap(&a, &hull, NULL), NSR_OVERLAP_NO);
  assert_int_equal(nsr_overlap(&hull, &hull, NULL), NSR_OVERLAP_MAY);
  struct nsr_bytes where;
  all = nsr_footprint_everything(NSR_SBUF);
  assert_int_equal(nsr_overlap(&a, &all, &where), NSR_OVERLAP_MAY);
  assert_int_equal(where.part, 0);
  assert_int_equal(where.nparts, 4);
  assert_int_equal(where.hi - where.lo, 1);
  assert_int_equal(nsr_overlap(&all, &hull, &where), NSR_OVERLAP_MAY);
  assert_int_equal(where.lo, 256);
  assert_int_equal(where.hi, 320);
  all = nsr_footprint_everything(NSR_DRAM);
  assert_int_equal(nsr_overlap(&a, &all, NULL), NSR_OVERLAP_NO);
  assert_int_equal(nsr_overlap(&all, &all, NULL), NSR_OVERLAP_MAY);
}

/* A hull that falls into the gap of a pattern touches nothing of it. */
static void test_hull_in_gap(void **state) {
  (void)state;
  struct nsr_operand op = with_dim(operand(NSR_SBUF, 0, 0, 128), 400, 3);
  op = with_dim(op, 1, 256);
  struct nsr_footprint a = of(&op), hull;
  op.reg = 1;
  nsr_footprint_of(&kernel, &op, 1, NULL, &hull);
  assert_int_equal(nsr_overlap(&a, &hull, NULL), NSR_OVERLAP_NO);
  a.lo--, a.hi--;
  assert_int_equal(nsr_overlap(&a, &hull, NULL), NSR_OVERLAP_NO);
  a.lo += 2, a.hi += 2;
  assert_int_equal(nsr_overlap(&a, &hull, NULL), NSR_OVERLAP_MAY);
}

/* Any bits at all: an answer, no overflow. */
static void test_any_values(void **state) {
  (void)state;
  struct prng r = prng_seed(__func__, 5);
  static const int64_t odd[] = {INT64_MIN, INT64_MAX,       0, -1, INT32_MIN,
                                INT32_MAX, INT64_C(1) << 56};
  for (int i = 0; i < 20000; i++) {
    struct nsr_footprint f[2];
    for (int side = 0; side < 2; side++) {
      struct nsr_operand op =
          operand((enum nsr_space)prng_in(&r, 0, 2), (int64_t)prng_next(&r),
                  (uint16_t)prng_next(&r), (uint16_t)prng_next(&r));
      if (prng_in(&r, 0, 1))
        op.offset = odd[prng_in(&r, 0, 6)];
      op.pstep = (int32_t)prng_next(&r);
      op.reg = (int16_t)prng_in(&r, NSR_NO_REG, 0);
      for (int d = 0; d < 3; d++)
        op = with_dim(op, (int32_t)(prng_next(&r) >> prng_in(&r, 32, 63)),
                      (int32_t)(prng_next(&r) >> prng_in(&r, 32, 63)));
      int32_t value = (int32_t)prng_next(&r);
      nsr_footprint_of(&kernel, &op, NSR_NONE, &value, &f[side]);
    }
    struct nsr_bytes where;
    if (nsr_overlap(&f[0], &f[1], &where) != NSR_OVERLAP_NO)
      assert_true(where.lo < where.hi && where.nparts);
  }
}

static bool sum_exists(const struct nsr_boxsum_term *t, int n, int64_t lo,
                       int64_t hi) {
  if (n == 0)
    return lo <= 0 && hi >= 0;
  for (int64_t z = 0; z < t->count; z++)
    if (sum_exists(t + 1, n - 1, lo - z * t->step, hi - z * t->step))
      return true;
  return false;
}

static void test_boxsum(void **state) {
  (void)state;
  struct prng r = prng_seed(__func__, 6);
  int yes = 0, n = 40000;
  for (int i = 0; i < n; i++) {
    struct nsr_boxsum_term t[5];
    int terms = (int)prng_in(&r, 0, 5);
    int64_t most = prng_in(&r, 1, 500), span = 0;
    for (int j = 0; j < terms; j++) {
      t[j] = (struct nsr_boxsum_term){prng_in(&r, 1, most), prng_in(&r, 1, 6)};
      span += t[j].step * (t[j].count - 1);
    }
    int64_t lo = prng_in(&r, -10, span + 10), hi = lo + prng_in(&r, -1, 5);
    int64_t z[5], sum = 0;
    enum nsr_boxsum got = nsr_boxsum_solve(t, terms, lo, hi, z);
    assert_int_equal(got, sum_exists(t, terms, lo, hi) ? NSR_BOXSUM_YES
                                                       : NSR_BOXSUM_NO);
    yes += got == NSR_BOXSUM_YES;
    for (int j = 0; got == NSR_BOXSUM_YES && j < terms; j++) {
      assert_in_range(z[j], 0, t[j].count - 1);
      sum += z[j] * t[j].step;
    }
    if (got == NSR_BOXSUM_YES)
      assert_true(lo <= sum && sum <= hi);
  }
  assert_in_range(yes, n / 10, n - n / 10);
}

/* Two terms of any size are closed form; many incommensurable ones give up
 * rather than run for ever. */
static void test_boxsum_effort(void **state) {
  (void)state;
  int64_t z[8];
  const struct nsr_boxsum_term two[] = {{1999999973, 100000007},
                                        {1999999943, 100000037}};
  int64_t want = 1999999973 * INT64_C(73456789) + 1999999943 * INT64_C(1234567);
  assert_int_equal(nsr_boxsum_solve(two, 2, want, want, z), NSR_BOXSUM_YES);
  assert_int_equal(two[0].step * z[0] + two[1].step * z[1], want);
  assert_int_equal(nsr_boxsum_solve(two, 2, 1, 1999999942, z), NSR_BOXSUM_NO);
  const struct nsr_boxsum_term many[] = {{2147483629, 200}, {2147483587, 200},
                                         {2147483579, 200}, {2147483563, 200},
                                         {2147483549, 200}, {2147483543, 200}};
  int64_t hard = INT64_C(600) * 2147483600 + 1000000000;
  assert_int_equal(nsr_boxsum_solve(many, 6, hard, hard, z),
                   NSR_BOXSUM_GAVE_UP);
  struct nsr_operand a = operand(NSR_DRAM, hard, 0, 1);
  struct nsr_operand b = operand(NSR_DRAM, 0, 0, 1);
  for (int i = 0; i < 3; i++) {
    a = with_dim(a, -(int32_t)many[i].step, 200);
    b = with_dim(b, (int32_t)many[i + 3].step, 200);
  }
  assert_int_equal(overlap(a, b), NSR_OVERLAP_MAY);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_random_pairs),
      cmocka_unit_test(test_wrong_footprints_are_caught),
      cmocka_unit_test(test_set_is_kept),
      cmocka_unit_test(test_wide_strides),
      cmocka_unit_test(test_columns),
      cmocka_unit_test(test_tiles),
      cmocka_unit_test(test_normal_form),
      cmocka_unit_test(test_unknown),
      cmocka_unit_test(test_answers),
      cmocka_unit_test(test_hull_in_gap),
      cmocka_unit_test(test_any_values),
      cmocka_unit_test(test_boxsum),
      cmocka_unit_test(test_boxsum_effort),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
