/* test_kernels_attention.c - attention computes what plain C computes, with its
 * barriers, rewritten and by hand, for any number of sequences and keys. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "suite_case.h"

enum { H = 3, D = 4, T = 5, LENGTH = 9, NPAGES = 7 };

/* One head so far: maximum, sum, output. */
struct head {
  float max, sum, out[D];
};

static void head_start(struct head *h) {
  *h = (struct head){.max = -100000.0f};
}

/* Goes on with the n keys of a tile, whose scores these are; values n x D. In
 * the order of the engines, each step rounded. */
static void head_tile(struct head *h, const float *scores, const float *v,
                      int n) {
  float top = h->max, p[T], sum = 0, pv[D] = {0};
  for (int t = 0; t < n; t++)
    top = scores[t] > top ? scores[t] : top;
  float factor = expf(h->max - top);
  for (int t = 0; t < n; t++) {
    p[t] = expf(scores[t] - top);
    sum = t ? sum + p[t] : p[t];
  }
  for (int t = 0; t < n; t++)
    for (int d = 0; d < D; d++) {
      float x = rounded(p[t]) * v[t * D + d];
      pv[d] = pv[d] + x;
    }
  float scaled = h->sum * factor;
  h->max = top;
  h->sum = scaled + sum;
  for (int d = 0; d < D; d++) {
    float o = h->out[d] * factor;
    h->out[d] = o + pv[d];
  }
}

static void head_end(const struct head *h, float *out) {
  float inverse = 1.0f / (h->sum > 1e-30f ? h->sum : 1e-30f);
  for (int d = 0; d < D; d++)
    out[d] = h->out[d] * inverse;
}

/* Queries D x H, keys D x n in rows of so many. */
static void scores_of(const float *q, int heads, int head, const float *k,
                      int row, int n, float *scores) {
  for (int t = 0; t < n; t++) {
    scores[t] = 0;
    for (int d = 0; d < D; d++) {
      float x = q[d * heads + head] * k[d * row + t];
      scores[t] = scores[t] + x;
    }
  }
}

/* ---- paged */

struct paged {
  int32_t *lens, *table;
  float *q, *k, *v, *out;
};

static void paged_head(const struct paged *x, int s, int longest, int head) {
  struct head h;
  float scores[T];
  head_start(&h);
  for (int j = 0; j < x->lens[s]; j++) {
    int page = x->table[s * longest + j];
    scores_of(x->q + s * D * H, H, head, x->k + page * D * T, T, T, scores);
    head_tile(&h, scores, x->v + page * T * D, T);
  }
  head_end(&h, x->out + (s * H + head) * D);
}

static int32_t *integers(const struct nsr_kernel *k, const char *name,
                         size_t n) {
  int32_t *x = calloc(n + 1, sizeof *x);
  assert_non_null(x);
  contents(k, name, x, n * sizeof *x);
  return x;
}

static void paged_case(const struct nsr_isa *isa, int seqs, int longest,
                       int buffers) {
  struct nsr_ctx *ctx = new_ctx();
  struct nsr_setting settings[] = {
      {"seqs", seqs}, {"heads", H},         {"dim", D},
      {"tokens", T},  {"pages", NPAGES},    {"longest", longest},
      {"max", 1},     {"buffers", buffers}, {"seed", longest}};
  struct nsr_kernel *k = make(ctx, isa, "paged-attention", settings, 9);
  size_t n = (size_t)seqs, bytes = n * H * D * sizeof(float);
  struct paged x = {.lens = integers(k, "lens", n),
                    .table = integers(k, "table", n * (size_t)longest),
                    .q = matrix(k, "q", n * D * H),
                    .k = matrix(k, "k", (size_t)NPAGES * D * T),
                    .v = matrix(k, "v", (size_t)NPAGES * T * D),
                    .out = calloc(n + 1, H * D * sizeof(float))};
  assert_non_null(x.out);
  for (int s = 0; s < seqs; s++)
    for (int head = 0; head < H; head++)
      paged_head(&x, s, longest, head);
  expect(ctx, k, "out", x.out, bytes);
  expect_rewritten(ctx, k, "out", x.out, bytes);
  expect(ctx, by_hand(ctx, k, "paged-attention", settings, 9), "out", x.out,
         bytes);
  free(x.out);
  free(x.v);
  free(x.k);
  free(x.q);
  free(x.table);
  free(x.lens);
  nsr_ctx_free(ctx);
}

static void paged(void **state) {
  (void)state;
  static const int seqs[] = {0, 1, 2, 3, 20};
  for (int s = 0; nsr_isas[s]; s++)
    for (size_t i = 0; i < sizeof seqs / sizeof *seqs; i++)
      for (int buffers = 1; buffers <= 3; buffers++)
        paged_case(nsr_isas[s], seqs[i], buffers == 2 ? LENGTH : buffers,
                   buffers);
}

/* ---- flash */

enum { BQ = 3, BK = 5, SQUARE = 4, MOST = T };

struct flash {
  int queries, keys, top; /* tiles */
  int rows, cols;
  bool causal;
  float *q, *k, *v, *out;
};

static void flash_row(const struct flash *x, int row) {
  int tile = row / x->rows, nq = x->top * x->rows, nk = x->top * x->cols;
  struct head h;
  float scores[MOST];
  head_start(&h);
  for (int j = 0; j < x->keys && (!x->causal || j <= tile); j++) {
    int seen = x->causal && j == tile ? row % x->rows + 1 : x->cols;
    scores_of(x->q, nq, row, x->k + j * x->cols, nk, seen, scores);
    head_tile(&h, scores, x->v + j * x->cols * D, seen);
  }
  head_end(&h, x->out + row * D);
}

static void flash_case(const struct nsr_isa *isa, int queries, int keys,
                       bool causal, int buffers) {
  struct nsr_ctx *ctx = new_ctx();
  struct flash x = {.queries = queries,
                    .keys = keys,
                    .top = queries > keys ? queries : keys,
                    .rows = causal ? SQUARE : BQ,
                    .cols = causal ? SQUARE : BK,
                    .causal = causal};
  x.top = x.top > 1 ? x.top : 1;
  struct nsr_setting settings[] = {
      {"queries", queries}, {"keys", keys},       {"rows", x.rows},
      {"cols", x.cols},     {"dim", D},           {"causal", causal},
      {"max", 1},           {"buffers", buffers}, {"seed", 3}};
  struct nsr_kernel *k = make(ctx, isa, "flash-attention", settings, 9);
  size_t nq = (size_t)(x.top * x.rows * D), nk = (size_t)(x.top * x.cols * D);
  size_t bytes = (size_t)(queries * x.rows * D) * sizeof(float);
  x.q = matrix(k, "q", nq);
  x.k = matrix(k, "k", nk);
  x.v = matrix(k, "v", nk);
  x.out = calloc(nq, sizeof *x.out);
  assert_non_null(x.out);
  for (int row = 0; row < queries * x.rows; row++)
    flash_row(&x, row);
  expect(ctx, k, "out", x.out, bytes);
  expect_rewritten(ctx, k, "out", x.out, bytes);
  expect(ctx, by_hand(ctx, k, "flash-attention", settings, 9), "out", x.out,
         bytes);
  free(x.out);
  free(x.v);
  free(x.k);
  free(x.q);
  nsr_ctx_free(ctx);
}

static void flash(void **state) {
  (void)state;
  static const int tiles[][2] = {{0, 2}, {1, 0}, {1, 1}, {2, 1}, {2, 2},
                                 {3, 3}, {1, 3}, {3, 2}, {7, 9}, {9, 7}};
  for (int s = 0; nsr_isas[s]; s++)
    for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++)
      for (int causal = 0; causal <= 1; causal++)
        flash_case(nsr_isas[s], tiles[i][0], tiles[i][1], causal != 0,
                   1 + (int)i % 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(paged),
                                     cmocka_unit_test(flash)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
