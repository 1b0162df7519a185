/* test_crowds.c - accesses that overlap many others: the waits are the same
 * whether each pair of them is known or they are looked up in a crowd.
 */
#include "passes.h"
#include "prng.h"

#include <nsr/gen.h>

#include "dep/explicit.h"
#include "ir/islands.h"
#include "sync/select.h"
#include "base/arena.h"

enum { KERNELS = 200 };

/* Waits of one kernel; those of accesses with more than `most` overlaps come
 * from crowds. */
static enum nsr_status waits(struct nsr_ctx *ctx, const struct nsr_kernel *k,
                             size_t most, struct nsr_needs *out) {
  struct nsr_program *p = nsr_alloc(ctx, NSR_KEEP, sizeof *p);
  struct nsr_tree *t = nsr_alloc(ctx, NSR_KEEP, sizeof *t);
  struct nsr_islands islands;
  struct nsr_key_loads doubts = {0};
  struct nsr_deps deps;
  uint32_t *target;
  NSR_TRY(nsr_program_build(ctx, k, p));
  NSR_TRY(nsr_tree_build(ctx, p, &doubts, t));
  NSR_TRY(nsr_islands_find(ctx, t, NULL, 0, true, &islands));
  NSR_TRY(nsr_explicit_map(ctx, t, &islands, false, &target));
  NSR_TRY(nsr_tree_linearize(ctx, t, &islands, &target));
  NSR_TRY(nsr_deps_find_few(ctx, t, target, most, &deps));
  return nsr_needs_select(ctx, &deps, false, out);
}

static bool same(const struct nsr_needs *a, const struct nsr_needs *b) {
  if (a->n != b->n)
    return false;
  for (uint32_t i = 0; i < a->n; i++)
    if (a->v[i].c != b->v[i].c || a->v[i].p != b->v[i].p ||
        a->v[i].lag != b->v[i].lag || a->v[i].front != b->v[i].front ||
        a->v[i].back != b->v[i].back || a->v[i].of != b->v[i].of)
      return false;
  return true;
}

static bool same_waits(const struct nsr_isa *isa, int64_t seed, int64_t n) {
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_setting settings[] = {{"seed", seed}, {"instructions", n}};
  struct nsr_gen_options gen = {
      .isa = isa, .nsettings = 2, .settings = settings};
  struct nsr_kernel *k;
  struct nsr_needs pairs, crowds;
  assert_int_equal(nsr_gen(ctx, "random", &gen, &k), NSR_OK);
  assert_int_equal(waits(ctx, k, SIZE_MAX, &pairs), NSR_OK);
  assert_int_equal(waits(ctx, k, 0, &crowds), NSR_OK);
  bool equal = same(&pairs, &crowds);
  nsr_ctx_free(ctx);
  return equal;
}

/* Random kernels are of few buffers; that all accesses are of crowds makes no
 * difference, but for the choice of markers that speak for many. */
static void test_same_waits(void **state) {
  (void)state;
  struct prng r = prng_seed(__func__, 1);
  int differ = 0;
  for (int i = 0; i < KERNELS; i++) {
    const struct nsr_isa *isa = nsr_isa_by_name(i % 2 ? "lane48" : "tile64");
    int64_t seed = prng_in(&r, 1, 1000000);
    differ += !same_waits(isa, seed, prng_in(&r, 20, 300));
  }
  assert_in_range(differ, 0, KERNELS / 20);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_waits)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
