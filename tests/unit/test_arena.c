/* test_arena.c - memory that grows where it is, among other memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/strbuf.h"
#include "prng.h"

enum { VECTORS = 5, LARGE = 300000 };

struct vector {
  uint8_t *v;
  size_t n;
};

static uint8_t value(size_t vector, size_t at) {
  return (uint8_t)(vector * 37 + at * 11 + (at >> 8));
}

static void fill(struct vector *v, size_t which, size_t from) {
  for (size_t i = from; i < v->n; i++)
    v->v[i] = value(which, i);
}

static void same(const struct vector *v, size_t which) {
  for (size_t i = 0; i < v->n; i++)
    if (v->v[i] != value(which, i))
      fail_msg("vector %zu of %zu: byte %zu changed", which, v->n, i);
}

/* Vectors grow and shrink in turn; other memory in between stays, new memory
 * is zero, and a mark taken before them takes all of them away. */
static void grows(void **state) {
  (void)state;
  struct prng r = prng_seed("regrow", 1);
  struct nsr_ctx *ctx = nsr_ctx_new();
  for (int round = 0; round < 20; round++) {
    struct vector v[VECTORS] = {{NULL, 0}};
    struct nsr_mark mark = nsr_scratch_mark(ctx);
    for (int step = 0; step < 60; step++) {
      size_t which = (size_t)prng_in(&r, 0, VECTORS - 1), old = v[which].n;
      size_t size = (size_t)prng_in(&r, 1, step % 3 ? LARGE : 2000);
      v[which].v = nsr_regrow(ctx, NSR_SCRATCH, v[which].v, old, size);
      assert_non_null(v[which].v);
      v[which].n = old < size ? old : size;
      same(&v[which], which);
      v[which].n = size;
      fill(&v[which], which, 0);
      size_t fresh_size = (size_t)prng_in(&r, 1, 5000);
      uint8_t *fresh = nsr_alloc(ctx, NSR_SCRATCH, fresh_size);
      assert_non_null(fresh);
      for (size_t i = 0; i < fresh_size; i++)
        assert_int_equal(fresh[i], 0);
      memset(fresh, 0xff, fresh_size);
    }
    for (size_t i = 0; i < VECTORS; i++)
      same(&v[i], i);
    nsr_scratch_release(ctx, mark);
  }
  nsr_ctx_free(ctx);
}

/* A mark taken while a large vector stands stays good after it has moved. */
static void marks(void **state) {
  (void)state;
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct vector v = {nsr_regrow(ctx, NSR_SCRATCH, NULL, 0, LARGE), LARGE};
  fill(&v, 1, 0);
  struct nsr_mark mark = nsr_scratch_mark(ctx);
  for (size_t n = LARGE; n < 20 * (size_t)LARGE; n += LARGE) {
    assert_non_null(nsr_alloc(ctx, NSR_SCRATCH, 1000));
    v.v = nsr_regrow(ctx, NSR_SCRATCH, v.v, v.n, n);
    assert_non_null(v.v);
  }
  same(&v, 1);
  nsr_scratch_release(ctx, mark);
  assert_non_null(nsr_alloc(ctx, NSR_SCRATCH, LARGE));
  nsr_ctx_free(ctx);
}

/* What is dropped leaves everything else, and marks, as they are. */
static void dropped(void **state) {
  (void)state;
  struct prng r = prng_seed("dropped", 1);
  struct nsr_ctx *ctx = nsr_ctx_new();
  nsr_drop(ctx, NSR_SCRATCH, NULL);
  for (int round = 0; round < 60; round++) {
    struct nsr_mark mark = nsr_scratch_mark(ctx), inner = mark;
    struct vector v[VECTORS] = {{NULL, 0}};
    for (size_t i = 0; i < VECTORS; i++) {
      v[i].n = (size_t)prng_in(&r, 0, i % 2 ? 2 * LARGE : 2000);
      v[i].v = nsr_regrow(ctx, NSR_SCRATCH, NULL, 0, v[i].n);
      assert_non_null(v[i].v);
      fill(&v[i], i, 0);
      if (i == VECTORS / 2)
        inner = nsr_scratch_mark(ctx);
    }
    for (size_t i = 0; i < VECTORS; i += 2 + (size_t)(round % 2)) {
      nsr_drop(ctx, NSR_SCRATCH, v[i].v);
      v[i].v = NULL;
      assert_non_null(nsr_alloc(ctx, NSR_SCRATCH, 100));
    }
    for (size_t i = 0; i < VECTORS; i++)
      if (v[i].v)
        same(&v[i], i);
    nsr_scratch_release(ctx, inner);
    for (size_t i = 0; i <= VECTORS / 2; i++)
      if (v[i].v)
        same(&v[i], i);
    const uint8_t *zero = nsr_alloc(ctx, NSR_SCRATCH, 2000);
    for (size_t i = 0; i < 2000; i++)
      assert_int_equal(zero[i], 0);
    nsr_scratch_release(ctx, mark);
  }
  nsr_ctx_free(ctx);
}

/* Pieces that outlive a mark, whatever stands around them and however large
 * they are; memory behind them is zero, and an older mark takes them away. */
static void kept(void **state) {
  (void)state;
  struct prng r = prng_seed("kept", 1);
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_mark outer = nsr_scratch_mark(ctx);
  for (int round = 0; round < 60; round++) {
    struct vector v[VECTORS] = {{NULL, 0}};
    struct nsr_kept kept[VECTORS];
    /* older than the mark */
    v[0].n = (size_t)prng_in(&r, 0, round % 3 ? LARGE : 100);
    v[0].v = nsr_regrow(ctx, NSR_SCRATCH, NULL, 0, v[0].n);
    struct nsr_mark mark = nsr_scratch_mark(ctx);
    for (size_t i = 1; i < VECTORS; i++) {
      assert_non_null(
          nsr_alloc(ctx, NSR_SCRATCH, (size_t)prng_in(&r, 0, LARGE)));
      v[i].n = (size_t)prng_in(&r, 0, i % 2 ? LARGE : 2000);
      v[i].v = nsr_regrow(ctx, NSR_SCRATCH, NULL, 0, v[i].n);
      assert_non_null(v[i].v);
    }
    for (size_t i = 0; i < VECTORS; i++) {
      fill(&v[i], i, 0);
      kept[i] = (struct nsr_kept){v[i].v, v[i].n};
    }
    assert_int_equal(nsr_scratch_release_but(ctx, mark, kept, VECTORS), NSR_OK);
    for (int i = 0; i < 20; i++) {
      size_t n = (size_t)prng_in(&r, 1, 20000);
      uint8_t *fresh = nsr_alloc(ctx, NSR_SCRATCH, n);
      assert_non_null(fresh);
      for (size_t k = 0; k < n; k++)
        assert_int_equal(fresh[k], 0);
      memset(fresh, 0xff, n);
    }
    for (size_t i = 0; i < VECTORS; i++) {
      v[i].v = kept[i].p;
      same(&v[i], i);
    }
    nsr_scratch_release(ctx, outer);
  }
  nsr_ctx_free(ctx);
}

/* Text that could not grow says so at its end, and only then. */
static void text(void **state) {
  (void)state;
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_strbuf b;
  const char *s;
  size_t n, at = 0;
  nsr_strbuf_init(&b, ctx, NSR_KEEP);
  for (int i = 0; i < 40000; i++)
    nsr_strbuf_printf(&b, "%d,", i);
  assert_int_equal(nsr_strbuf_done(&b, &s, &n), NSR_OK);
  for (int i = 0; i < 40000; i++) {
    char one[16];
    int length = snprintf(one, sizeof one, "%d,", i);
    assert_memory_equal(s + at, one, (size_t)length);
    at += (size_t)length;
  }
  assert_int_equal(n, at);
  nsr_ctx_fail_alloc(ctx, 1);
  for (int i = 0; i < 400000; i++)
    nsr_strbuf_printf(&b, "%d,", i);
  assert_int_equal(nsr_strbuf_done(&b, &s, &n), NSR_E_NOMEM);
  nsr_ctx_free(ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(grows), cmocka_unit_test(marks), cmocka_unit_test(kept),
      cmocka_unit_test(dropped), cmocka_unit_test(text)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
