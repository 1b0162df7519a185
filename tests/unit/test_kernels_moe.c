/* test_kernels_moe.c - a mixture of experts computes what plain C computes,
 * with its barriers, rewritten and by hand, for any number of blocks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "suite_case.h"

enum { N = 7, T = 3, D = 4, F = 5, EXPERTS = 3 };

/* One token through one expert, in the order of the engines. */
static void expert_adds(const float *x, const float *w1, const float *w2,
                        float *y) {
  float h[F], out[D] = {0};
  for (int f = 0; f < F; f++) {
    float sum = 0;
    for (int d = 0; d < D; d++) {
      float p = w1[d * F + f] * x[d];
      sum = sum + p;
    }
    h[f] = rounded(sum > 0 ? sum : 0);
  }
  for (int f = 0; f < F; f++)
    for (int d = 0; d < D; d++) {
      float p = h[f] * w2[f * D + d];
      out[d] = out[d] + p;
    }
  for (int d = 0; d < D; d++)
    y[d] = y[d] + out[d];
}

static void *words(const struct nsr_kernel *k, const char *name, size_t n) {
  void *x = calloc(n + 1, 4);
  assert_non_null(x);
  contents(k, name, x, n * 4);
  return x;
}

static void moe_result(const struct nsr_kernel *k, int groups, int most,
                       float *y) {
  size_t n = (size_t)groups;
  int32_t *expert = words(k, "expert", n), *blocks = words(k, "blocks", n);
  int32_t *idx = words(k, "idx", n * (size_t)most * T), *tokens = idx;
  float *x = matrix(k, "x", N * D), *w1 = matrix(k, "w1", EXPERTS * D * F);
  float *w2 = matrix(k, "w2", EXPERTS * F * D);
  for (int g = 0; g < groups; g++)
    for (int b = 0; b < blocks[g]; b++, tokens += T)
      for (int t = 0; t < T; t++)
        expert_adds(x + tokens[t] * D, w1 + expert[g] * D * F,
                    w2 + expert[g] * F * D, y + tokens[t] * D);
  free(w2);
  free(w1);
  free(x);
  free(idx);
  free(blocks);
  free(expert);
}

static void moe_case(const struct nsr_isa *isa, int groups, int most,
                     int buffers) {
  struct nsr_ctx *ctx = new_ctx();
  struct nsr_setting settings[] = {{"groups", groups}, {"blocks", most},
                                   {"tokens", N},      {"tile", T},
                                   {"dim", D},         {"hidden", F},
                                   {"experts", 3},     {"buffers", buffers},
                                   {"max", 1},         {"seed", most}};
  struct nsr_kernel *k = make(ctx, isa, "moe", settings, 10);
  float *y = words(k, "y", N * D);
  size_t bytes = N * D * sizeof *y;
  moe_result(k, groups, most, y);
  expect(ctx, k, "y", y, bytes);
  expect_rewritten(ctx, k, "y", y, bytes);
  expect(ctx, by_hand(ctx, k, "moe", settings, 10), "y", y, bytes);
  free(y);
  nsr_ctx_free(ctx);
}

static void moe(void **state) {
  (void)state;
  static const int groups[] = {0, 1, 2, 3, 15}, most[] = {1, 2, 9};
  for (int s = 0; nsr_isas[s]; s++)
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
      for (int buffers = 1; buffers <= 3; buffers++)
        moe_case(nsr_isas[s], groups[i], most[buffers - 1], buffers);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(moe)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
