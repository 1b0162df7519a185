/* test_conflict.c - the sweep against all pairs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/work.h"
#include "mem/conflict.h"
#include "prng.h"

enum { MOST = 60, OWNERS = 12 };

static const struct nsr_isa isa = {.sbuf_bytes = 1024, .psum_bytes = 256};
static const struct nsr_kernel kernel = {.isa = &isa};

/* Tiles of a few pitches, so that they interleave. */
static void make_tile(struct prng *r, struct nsr_operand *op) {
  op->space = NSR_DRAM;
  op->pstep = (int32_t)prng_in(r, 1, 3) * 20;
  op->nparts = (uint16_t)prng_in(r, 1, 4);
  op->ndims = 1;
  op->dims[0] = (struct nsr_dim){1, (int32_t)prng_in(r, 1, 6), false};
}

static struct nsr_access random_access(struct prng *r) {
  struct nsr_operand op = {.role = (uint8_t)prng_in(r, NSR_R, NSR_MRW),
                           .space = (uint8_t)prng_in(r, 0, 2),
                           .dtype = NSR_U8,
                           .reg = prng_in(r, 0, 15) ? NSR_NO_REG : 3,
                           .part = (uint16_t)prng_in(r, 0, 3),
                           .nparts = (uint16_t)prng_in(r, 0, 3),
                           .pstep = 3,
                           .offset = prng_in(r, 0, 200),
                           .ndims = (uint8_t)prng_in(r, 0, 2)};
  for (int i = 0; i < op.ndims; i++)
    op.dims[i] = (struct nsr_dim){(int32_t)prng_in(r, -8, 8),
                                  (int32_t)prng_in(r, 0, 5), false};
  if (!prng_in(r, 0, 2))
    make_tile(r, &op);
  struct nsr_access a = {.owner = (uint32_t)prng_in(r, 0, OWNERS - 1)};
  nsr_footprint_of(&kernel, &op, NSR_NONE, NULL, &a.footprint);
  if (!prng_in(r, 0, 40))
    a.footprint = nsr_footprint_everything((enum nsr_space)op.space);
  return a;
}

/* What is left out of the comparison, to see that the comparison would tell. */
enum wrong { RIGHT, READS_CONFLICT, NO_SELF, ANY_STRENGTH, NWRONG };

static enum nsr_overlap conflict(const struct nsr_access *a,
                                 const struct nsr_access *b, enum wrong wrong,
                                 struct nsr_bytes *where) {
  bool writes = nsr_footprint_writes(&a->footprint) ||
                nsr_footprint_writes(&b->footprint);
  if (!writes && wrong != READS_CONFLICT)
    return NSR_OVERLAP_NO;
  if (wrong == NO_SELF && a->owner == b->owner)
    return NSR_OVERLAP_NO;
  enum nsr_overlap got = nsr_overlap(&a->footprint, &b->footprint, where);
  return wrong == ANY_STRENGTH && got == NSR_OVERLAP_MUST ? NSR_OVERLAP_MAY
                                                          : got;
}

static bool same_bytes(const struct nsr_bytes *a, const struct nsr_bytes *b) {
  return a->space == b->space && a->part == b->part && a->nparts == b->nparts &&
         a->lo == b->lo && a->hi == b->hi;
}

/* Whether c is what all pairs of accesses say of its two owners. */
static bool agrees(const struct nsr_access *v, size_t n, uint32_t a, uint32_t b,
                   const struct nsr_conflict *c, enum wrong wrong) {
  enum nsr_overlap best = NSR_OVERLAP_NO;
  bool seen = false;
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++) {
      struct nsr_bytes w = {0}, back = {0}; /* either way round */
      if (v[i].owner != a || v[j].owner != b)
        continue;
      enum nsr_overlap got = conflict(&v[i], &v[j], wrong, &w);
      best = got > best ? got : best;
      conflict(&v[j], &v[i], wrong, &back);
      seen =
          seen || (c && got == c->overlap &&
                   (same_bytes(&w, &c->where) || same_bytes(&back, &c->where)));
    }
  if (best == NSR_OVERLAP_NO)
    return !c;
  return c && c->overlap == best && seen;
}

static int disagreements(struct nsr_ctx *ctx, const struct nsr_access *v,
                         size_t n, enum wrong wrong) {
  struct nsr_conflicts got;
  assert_int_equal(nsr_conflicts_find(ctx, NSR_KEEP, v, n, &got), NSR_OK);
  size_t at = 0;
  int bad = 0;
  for (uint32_t a = 0; a < OWNERS; a++)
    for (uint32_t b = a; b < OWNERS; b++) {
      const struct nsr_conflict *c = NULL;
      if (at < got.n && got.v[at].a == a && got.v[at].b == b)
        c = &got.v[at++];
      bad += !agrees(v, n, a, b, c, wrong);
    }
  assert_int_equal(at, got.n); /* sorted, each once, nothing else */
  return bad;
}

static void test_all_pairs(void **state) {
  (void)state;
  struct prng r = prng_seed(__func__, 1);
  int bad[NWRONG] = {0};
  for (int round = 0; round < 300; round++) {
    struct nsr_ctx *ctx = nsr_ctx_new();
    struct nsr_access v[MOST];
    size_t n = (size_t)prng_in(&r, 0, MOST);
    for (size_t i = 0; i < n; i++)
      v[i] = i && !prng_in(&r, 0, 3) ? v[prng_in(&r, 0, (int64_t)i - 1)]
                                     : random_access(&r);
    for (int w = RIGHT; w < NWRONG; w++)
      bad[w] += disagreements(ctx, v, n, (enum wrong)w);
    nsr_ctx_free(ctx);
  }
  assert_int_equal(bad[RIGHT], 0);
  for (int w = RIGHT + 1; w < NWRONG; w++)
    assert_true(bad[w] > 0);
}

/* Whether `few` says what `all` does, in pairs or by crowds. */
static bool says_all(const struct nsr_conflicts *few,
                     const struct nsr_conflicts *all) {
  size_t at = 0;
  for (size_t i = 0; i < all->n; i++) {
    const struct nsr_conflict *c = &all->v[i];
    bool crowded = few->crowd[c->a] && few->crowd[c->b];
    if (crowded && few->crowd[c->a] != few->crowd[c->b])
      return false;
    if (crowded)
      continue;
    if (at == few->n || few->v[at].a != c->a || few->v[at].b != c->b ||
        few->v[at].overlap != c->overlap)
      return false;
    at++;
  }
  return at == few->n;
}

static void test_crowds(void **state) {
  (void)state;
  struct prng r = prng_seed(__func__, 3);
  size_t crowded = 0, pairs = 0;
  for (int round = 0; round < 400; round++) {
    struct nsr_ctx *ctx = nsr_ctx_new();
    struct nsr_access v[MOST];
    struct nsr_conflicts all, few;
    size_t most = (size_t)prng_in(&r, 0, 12), of[MOST] = {0};
    for (uint32_t i = 0; i < MOST; i++) {
      v[i] = i && !prng_in(&r, 0, 3) ? v[prng_in(&r, 0, (int64_t)i - 1)]
                                     : random_access(&r);
      v[i].owner = i;
    }
    assert_int_equal(nsr_conflicts_find(ctx, NSR_KEEP, v, MOST, &all), NSR_OK);
    assert_int_equal(nsr_conflicts_few(ctx, NSR_KEEP, v, MOST, most, &few),
                     NSR_OK);
    assert_true(says_all(&few, &all));
    for (size_t i = 0; i < few.n; i++, pairs++)
      of[few.crowd[few.v[i].a] ? few.v[i].b : few.v[i].a] += 1;
    for (uint32_t i = 0; i < MOST; i++) {
      assert_true(few.crowd[i] || of[i] <= most + 1);
      crowded += few.crowd[i] > 0;
    }
    nsr_ctx_free(ctx);
  }
  assert_true(crowded > 1000 && pairs > 1000);
}

static void test_order_of_input(void **state) {
  (void)state;
  struct prng r = prng_seed(__func__, 2);
  struct nsr_ctx *ctx = nsr_ctx_new();
  for (int round = 0; round < 100; round++) {
    struct nsr_access v[MOST];
    struct nsr_conflicts a, b;
    for (int i = 0; i < MOST; i++)
      v[i] = random_access(&r);
    assert_int_equal(nsr_conflicts_find(ctx, NSR_KEEP, v, MOST, &a), NSR_OK);
    for (int i = MOST - 1; i > 0; i--) {
      int j = (int)prng_in(&r, 0, i);
      struct nsr_access x = v[i];
      v[i] = v[j];
      v[j] = x;
    }
    assert_int_equal(nsr_conflicts_find(ctx, NSR_SCRATCH, v, MOST, &b), NSR_OK);
    assert_int_equal(a.n, b.n);
    for (size_t i = 0; i < a.n; i++) {
      assert_int_equal(a.v[i].a, b.v[i].a);
      assert_int_equal(a.v[i].b, b.v[i].b);
      assert_int_equal(a.v[i].overlap, b.v[i].overlap);
      assert_true(same_bytes(&a.v[i].where, &b.v[i].where));
    }
  }
  nsr_ctx_free(ctx);
}

static struct nsr_access element(uint32_t owner, enum nsr_role role,
                                 int64_t at) {
  struct nsr_operand op = {.role = (uint8_t)role,
                           .dtype = NSR_F32,
                           .reg = NSR_NO_REG,
                           .nparts = 1,
                           .offset = at};
  struct nsr_access a = {.owner = owner};
  nsr_footprint_of(&kernel, &op, NSR_NONE, NULL, &a.footprint);
  return a;
}

/* All windows of a buffer that hold its middle, and tiles elsewhere. */
static void test_crowd_growth(void **state) {
  (void)state;
  enum { N = 20000 };
  struct nsr_access *v = calloc(2 * N, sizeof *v);
  uint64_t units[2];
  assert_non_null(v);
  for (int i = 0; i < 2; i++) {
    struct nsr_ctx *ctx = nsr_ctx_new();
    uint32_t n = i ? N : N / 4;
    struct nsr_conflicts got;
    for (uint32_t k = 0; k < n; k++) {
      v[k] = element(k, k % 3 ? NSR_R : NSR_W, 4 * (int64_t)k);
      v[k].footprint.hi = 8 * (int64_t)n - 4 * (int64_t)k;
      v[k].footprint.run = v[k].footprint.hi - v[k].footprint.lo;
      v[n + k] = element(n + k, NSR_RW, 8 * ((int64_t)n + k));
    }
    assert_int_equal(nsr_conflicts_few(ctx, NSR_KEEP, v, 2 * n, 20, &got),
                     NSR_OK);
    assert_true(got.ncrowds == 1 && got.n < (size_t)25 * n);
    units[i] = nsr_work(ctx, NSR_WORK_MEM);
    nsr_ctx_free(ctx);
  }
  assert_true(units[1] < 5 * units[0]);
  free(v);
}

/* Many readers of one word and one writer; many words with one writer each:
 * the work follows the answer, or this does not end. */
static void test_many(void **state) {
  (void)state;
  enum { N = 200000 };
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_access *v = calloc(2 * N, sizeof *v);
  assert_non_null(v);
  for (uint32_t i = 0; i < N; i++) {
    v[i] = element(i, i == 77 ? NSR_W : NSR_R, 0);
    v[N + i] = element(i, NSR_W, 8 + 4 * (int64_t)i);
  }
  struct nsr_conflicts got;
  assert_int_equal(nsr_conflicts_find(ctx, NSR_KEEP, v, 2 * N, &got), NSR_OK);
  assert_int_equal(got.n, N - 1 + N);
  /* The same few buffers again and again by few owners. */
  for (uint32_t i = 0; i < N; i++)
    v[i] = element(i % 100, NSR_RW, 4 * (i % 7));
  assert_int_equal(nsr_conflicts_find(ctx, NSR_KEEP, v, N, &got), NSR_OK);
  assert_int_equal(got.n, 100 * 101 / 2);
  free(v);
  nsr_ctx_free(ctx);
}

/* Tiles of a matrix, side by side and in blocks of rows. */
static void test_tiles(void **state) {
  (void)state;
  enum { COLS = 5000, BLOCKS = 4, N = COLS * BLOCKS, TILE = 64 };
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_access *v = calloc(N + 2, sizeof *v);
  assert_non_null(v);
  struct nsr_operand op = {
      .role = NSR_W, .reg = NSR_NO_REG, .pstep = COLS * TILE, .nparts = 128};
  op.dims[op.ndims++] = (struct nsr_dim){4, TILE / 4, false};
  for (uint32_t i = 0; i < N; i++) {
    op.offset = i % COLS * TILE + (int64_t)op.pstep * 128 * (i / COLS);
    v[i].owner = i;
    nsr_footprint_of(&kernel, &op, NSR_NONE, NULL, &v[i].footprint);
  }
  struct nsr_conflicts got;
  assert_int_equal(nsr_conflicts_find(ctx, NSR_KEEP, v, N, &got), NSR_OK);
  assert_int_equal(got.n, N);
  /* One row of the second block, and a tile that wraps around an edge. */
  v[N].owner = N;
  op.offset = (int64_t)op.pstep * 128;
  op.dims[0].count = COLS * TILE / 4;
  op.nparts = 1;
  nsr_footprint_of(&kernel, &op, NSR_NONE, NULL, &v[N].footprint);
  v[N + 1].owner = N + 1;
  op.offset = COLS * TILE - 4;
  op.dims[0].count = 2;
  op.nparts = 127;
  nsr_footprint_of(&kernel, &op, NSR_NONE, NULL, &v[N + 1].footprint);
  assert_int_equal(nsr_conflicts_find(ctx, NSR_KEEP, v, N + 2, &got), NSR_OK);
  assert_int_equal(got.n, N + COLS + 1 + 2 + 1);
  free(v);
  nsr_ctx_free(ctx);
}

static void test_no_memory(void **state) {
  (void)state;
  struct prng r = prng_seed(__func__, 3);
  struct nsr_access v[MOST];
  for (int i = 0; i < MOST; i++)
    v[i] = random_access(&r);
  enum nsr_status status = NSR_E_NOMEM;
  uint64_t nth = 1;
  for (; status != NSR_OK; nth++) {
    struct nsr_ctx *ctx = nsr_ctx_new();
    struct nsr_conflicts got;
    nsr_ctx_fail_alloc(ctx, nth);
    status = nsr_conflicts_find(ctx, NSR_KEEP, v, MOST, &got);
    assert_true(status == NSR_OK || status == NSR_E_NOMEM);
    nsr_ctx_free(ctx);
  }
  assert_true(nth > 4);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_all_pairs),
      cmocka_unit_test(test_order_of_input),
      cmocka_unit_test(test_many),
      cmocka_unit_test(test_tiles),
      cmocka_unit_test(test_no_memory),
      cmocka_unit_test(test_crowds),
      cmocka_unit_test(test_crowd_growth),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
