/* test_kernels.c - kernels of the suite compute what plain C computes, with
 * their barriers and after the rewrite, on every instruction set. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <nsr/gen.h>
#include <nsr/judge.h>
#include <nsr/rewrite.h>

#include "base/arena.h"
#include "suite_case.h"

static const int64_t trips[] = {0, 1, 2, 3, 100};
#define NTRIPS (sizeof trips / sizeof *trips)

static void sync_bound_case(const struct nsr_isa *isa, int64_t tiles) {
  struct nsr_ctx *ctx = new_ctx();
  struct nsr_setting settings[] = {{"tiles", tiles}, {"cols", 7}};
  struct nsr_kernel *k = make(ctx, isa, "sync-bound", settings, 2);
  int32_t x[7], e = 0;
  contents(k, "x", x, sizeof x);
  for (int64_t t = 0; t < tiles; t++) {
    int32_t c = INT32_MIN;
    for (int j = 0; j < 7; j++)
      c = x[j] + e + 1 > c ? x[j] + e + 1 : c;
    e = c;
  }
  assert_true(tiles == 0 || e > tiles);
  expect(ctx, k, "out", &e, sizeof e);
  expect_rewritten(ctx, k, "out", &e, sizeof e);
  expect(ctx, by_hand(ctx, k, "sync-bound", settings, 2), "out", &e, sizeof e);
  nsr_ctx_free(ctx);
}

static void sync_bound(void **state) {
  (void)state;
  for (int s = 0; nsr_isas[s]; s++)
    for (size_t i = 0; i < NTRIPS; i++)
      sync_bound_case(nsr_isas[s], trips[i]);
}

static void rmsnorm_row(const float *x, const float *gamma, float *y, int d) {
  float sum = x[0] * x[0];
  for (int j = 1; j < d; j++) {
    float square = x[j] * x[j];
    sum += square;
  }
  float mean = sum * (1.0f / (float)d);
  mean += 1e-5f;
  float r = 1.0f / sqrtf(mean);
  for (int j = 0; j < d; j++) {
    y[j] = x[j] * r;
    y[j] *= gamma[j];
  }
}

static void rmsnorm_case(const struct nsr_isa *isa, int64_t tiles, int rows,
                         int cols, int buffers) {
  struct nsr_ctx *ctx = new_ctx();
  struct nsr_setting settings[] = {
      {"tiles", tiles}, {"rows", rows}, {"cols", cols}, {"buffers", buffers}};
  struct nsr_kernel *k = make(ctx, isa, "rmsnorm", settings, 4);
  size_t n = (size_t)tiles * (size_t)rows * (size_t)cols;
  float *x = calloc(n + 1, sizeof *x), *y = calloc(n + 1, sizeof *y);
  float *gamma = calloc((size_t)cols, sizeof *gamma);
  assert_true(x && y && gamma);
  contents(k, "x", x, n * sizeof *x);
  contents(k, "gamma", gamma, (size_t)cols * sizeof *gamma);
  for (size_t row = 0; row < (size_t)tiles * (size_t)rows; row++)
    rmsnorm_row(x + row * (size_t)cols, gamma, y + row * (size_t)cols, cols);
  expect(ctx, k, "y", y, n * sizeof *y);
  expect_rewritten(ctx, k, "y", y, n * sizeof *y);
  expect(ctx, by_hand(ctx, k, "rmsnorm", settings, 4), "y", y, n * sizeof *y);
  free(gamma);
  free(y);
  free(x);
  nsr_ctx_free(ctx);
}

static void rmsnorm(void **state) {
  (void)state;
  for (int s = 0; nsr_isas[s]; s++) {
    for (size_t i = 0; i < NTRIPS; i++)
      for (int buffers = 2; buffers <= 3; buffers++)
        rmsnorm_case(nsr_isas[s], trips[i], 4, 8, buffers);
    rmsnorm_case(nsr_isas[s], 5, 3, 33, 2);
    rmsnorm_case(nsr_isas[s], 4, nsr_isas[s]->partitions, 1, 3);
  }
}

/* ---- matmul */

enum { MATMUL_TOP = 3, TM = 4, TN = 6, TK = 3 };

struct matmul {
  int inner;
  bool blocked;
  int m, n, k; /* of the matrices */
  float *a, *b, *c;
};

/* As the engine adds: over the rows of a tile, then tiles, then blocks. */
static float product(const struct matmul *x, int row, int col, int trips) {
  float sum = 0;
  for (int k = 0; k < trips; k++) {
    float block = 0;
    for (int u = 0; u < x->inner; u++) {
      float tile = 0;
      for (int i = (k * x->inner + u) * TK; i < (k * x->inner + u + 1) * TK;
           i++) {
        float p = x->a[i * x->m + row] * x->b[i * x->n + col];
        tile = tile + p;
      }
      if (x->blocked)
        block = u ? block + tile : tile;
      else
        sum = sum + tile;
    }
    if (x->blocked)
      sum = sum + block;
  }
  return sum;
}

/* What is not computed stays as nobody wrote it: all ones. */
static void matmul_result(struct matmul *x, int m, int n, int k) {
  memset(x->c, 0xff, (size_t)x->m * (size_t)x->n * sizeof *x->c);
  for (int row = 0; row < m * TM; row++)
    for (int col = 0; col < n * TN; col++)
      x->c[row * x->n + col] = product(x, row, col, k);
}

static void matmul_new(struct matmul *x, const struct nsr_kernel *k, int m,
                       int n, int depth, bool blocked, int inner) {
  *x = (struct matmul){.inner = inner,
                       .blocked = blocked,
                       .m = m * TM,
                       .n = n * TN,
                       .k = depth * inner * TK};
  x->a = matrix(k, "a", (size_t)x->k * (size_t)x->m);
  x->b = matrix(k, "b", (size_t)x->k * (size_t)x->n);
  x->c = calloc((size_t)x->m * (size_t)x->n + 1, sizeof *x->c);
  assert_non_null(x->c);
}

static void matmul_free(struct matmul *x) {
  free(x->a);
  free(x->b);
  free(x->c);
}

/* The kernel with other words in its trip tensors. */
static struct nsr_kernel with_trips(struct nsr_ctx *ctx,
                                    const struct nsr_kernel *k,
                                    const int32_t trips[3]) {
  static const char *const names[] = {"mt", "nt", "kt"};
  struct nsr_kernel out = *k;
  struct nsr_tensor *tensors =
      nsr_alloc(ctx, NSR_KEEP, k->ntensors * sizeof *tensors);
  assert_non_null(tensors);
  memcpy(tensors, k->tensors, k->ntensors * sizeof *tensors);
  for (uint32_t i = 0; i < k->ntensors; i++)
    for (int j = 0; j < 3; j++)
      if (!strcmp(tensors[i].name, names[j]))
        tensors[i].data = (const uint8_t *)&trips[j];
  out.tensors = tensors;
  return out;
}

/* All trips from memory: one kernel and one rewrite for all combinations. */
static void matmul_loaded(const struct nsr_isa *isa, bool blocked, int inner,
                          int buffers, int banks, bool prefetch) {
  struct nsr_ctx *ctx = new_ctx();
  struct nsr_setting settings[] = {
      {"loaded", 1},        {"blocked", blocked}, {"inner", inner},
      {"buffers", buffers}, {"banks", banks},     {"rows", TM},
      {"cols", TN},         {"depth", TK},        {"prefetch", prefetch}};
  struct nsr_kernel *k = make(ctx, isa, "tiled-matmul", settings, 9), *out;
  /* by hand, prefetch says nothing, and the same is done as without */
  struct nsr_kernel *plain = make(ctx, isa, "tiled-matmul", settings, 8);
  struct nsr_kernel *manual = by_hand(ctx, plain, "tiled-matmul", settings, 9);
  int top = tensor(k, "mt")->hi;
  struct matmul x;
  matmul_new(&x, k, top, top, top, blocked, inner);
  rewrite(ctx, k, &out);
  for (int t = 0; t < 64; t++) {
    const int32_t trips[] = {t / 16, t / 4 % 4, t % 4};
    struct nsr_kernel a = with_trips(ctx, k, trips);
    struct nsr_kernel b = with_trips(ctx, out, trips);
    struct nsr_kernel m = with_trips(ctx, manual, trips);
    size_t bytes = (size_t)x.m * (size_t)x.n * sizeof *x.c;
    matmul_result(&x, trips[0], trips[1], trips[2]);
    expect(ctx, &a, "c", x.c, bytes);
    expect(ctx, &b, "c", x.c, bytes);
    expect(ctx, &m, "c", x.c, bytes);
  }
  matmul_free(&x);
  nsr_ctx_free(ctx);
}

/* Trips of n and k in the instructions. */
static void matmul_constant(const struct nsr_isa *isa, int m, int n, int k,
                            bool blocked) {
  struct nsr_ctx *ctx = new_ctx();
  struct nsr_setting settings[] = {
      {"m", m},     {"n", n},     {"k", k},     {"blocked", blocked},
      {"inner", 1}, {"rows", TM}, {"cols", TN}, {"depth", TK}};
  struct nsr_kernel *kernel = make(ctx, isa, "matmul", settings, 8);
  int top = tensor(kernel, "mt")->hi;
  struct matmul x;
  matmul_new(&x, kernel, top, n ? n : 1, k ? k : 1, blocked, 1);
  matmul_result(&x, m, n, k);
  size_t bytes = (size_t)x.m * (size_t)x.n * sizeof *x.c;
  expect(ctx, kernel, "c", x.c, bytes);
  expect_rewritten(ctx, kernel, "c", x.c, bytes);
  expect(ctx, by_hand(ctx, kernel, "matmul", settings, 8), "c", x.c, bytes);
  matmul_free(&x);
  nsr_ctx_free(ctx);
}

/* Pipelines that keep order need no more than those that keep it for hidden
 * state; those that keep none would need waits that the kernel lacks. */
static void orders_case(const struct nsr_isa *isa, bool blocked) {
  struct nsr_ctx *ctx = new_ctx();
  struct nsr_setting settings[] = {{"blocked", blocked}};
  struct nsr_kernel k = *make(ctx, isa, "matmul", settings, 1), *out;
  struct nsr_judgement judgement;
  for (int e = 0; e < isa->nengines; e++)
    k.pipe_order[e] = NSR_ORDER_FULL;
  rewrite(ctx, &k, &out);
  for (int e = 0; e < isa->nengines; e++)
    k.pipe_order[e] = NSR_ORDER_NONE;
  assert_int_equal(nsr_cosimulate(ctx, &k, &k, NULL, &judgement), NSR_OK);
  assert_int_equal(judgement.verdict, NSR_INPUT_BROKEN);
  assert_int_equal(judgement.fault, NSR_FAULT_RACE);
  nsr_ctx_free(ctx);
}

static void matmul_orders(void **state) {
  (void)state;
  for (int s = 0; nsr_isas[s]; s++)
    for (int blocked = 0; blocked < 2; blocked++)
      orders_case(nsr_isas[s], blocked);
}

static void matmul_case(const struct nsr_isa *isa, bool blocked) {
  matmul_loaded(isa, blocked, 1, 1, 1, false);
  matmul_loaded(isa, blocked, 2, 2, 2, false);
  matmul_loaded(isa, blocked, 1, 3, 2, false);
  matmul_loaded(isa, blocked, 2, 2, 2, true);
  matmul_loaded(isa, blocked, 1, 3, 1, true);
  for (int trips = 0; trips <= MATMUL_TOP; trips++) {
    matmul_constant(isa, trips, 2, 2, blocked);
    matmul_constant(isa, 2, trips, 2, blocked);
    matmul_constant(isa, 2, 2, trips, blocked);
  }
}

static void matmul(void **state) {
  (void)state;
  for (int s = 0; nsr_isas[s]; s++)
    for (int blocked = 0; blocked < 2; blocked++)
      matmul_case(nsr_isas[s], blocked);
}

/* ---- rotating banks */

enum { RM = 3, RN = 5, RK = 4 };

/* One tile of products, or of zeros where x is NULL. */
static void rotating_tile(const float *w, const float *x, float *y) {
  for (int row = 0; row < RM; row++)
    for (int col = 0; col < RN; col++) {
      float sum = 0;
      for (int k = 0; x && k < RK; k++) {
        float p = w[k * RM + row] * x[k * RN + col];
        sum = sum + p;
      }
      y[row * RN + col] = sum;
    }
}

/* Tile t holds what its bank got last before iteration t. */
static void rotating_banks_case(const struct nsr_isa *isa, int tiles,
                                int banks) {
  struct nsr_ctx *ctx = new_ctx();
  struct nsr_setting settings[] = {{"tiles", tiles}, {"rows", RM},
                                   {"cols", RN},     {"depth", RK},
                                   {"banks", banks}, {"max", 1}};
  struct nsr_kernel *k = make(ctx, isa, "rotating-banks", settings, 6);
  size_t each = (size_t)RM * RN, bytes = (size_t)(tiles + banks) * each * 4;
  float *w = matrix(k, "wd", (size_t)RK * RM);
  float *x = matrix(k, "x", (size_t)tiles * RK * RN);
  float *y = calloc(1, bytes);
  assert_non_null(y);
  for (int t = 0; t < tiles + banks; t++) {
    int from = t < tiles ? t - banks : tiles - 1;
    while (t >= tiles && from >= 0 && from % banks != t - tiles)
      from--;
    rotating_tile(w, from < 0 ? NULL : x + (size_t)from * RK * RN,
                  y + (size_t)t * each);
  }
  expect(ctx, k, "y", y, bytes);
  expect_rewritten(ctx, k, "y", y, bytes);
  expect(ctx, by_hand(ctx, k, "rotating-banks", settings, 6), "y", y, bytes);
  free(y);
  free(x);
  free(w);
  nsr_ctx_free(ctx);
}

static void rotating_banks(void **state) {
  (void)state;
  static const int tiles[] = {0, 1, 2, 3, 7, 8, 9, 40};
  for (int s = 0; nsr_isas[s]; s++)
    for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++) {
      rotating_banks_case(nsr_isas[s], tiles[i], 8);
      rotating_banks_case(nsr_isas[s], tiles[i], 3);
    }
}

/* ---- adamw */

struct adamw {
  float *p, *g, *m, *v;
};

/* Rounded after each step, as the engines do. */
static void adamw_step(float *p, float g, float *m, float *v) {
  float a = *m * 0.9f, t = g * 0.1f;
  *m = a + t;
  float scaled = g * 0.1f, b = *v * 0.99f;
  float q = scaled * scaled;
  *v = b + q;
  float s = *v * 100.0f;
  s = sqrtf(s) * 100.0f;
  float r = 1.0f / (s + 1e-06f);
  float u = *m * r, decayed = *p * 0.9999f;
  *p = decayed - u;
}

static float *stream_of(const struct nsr_kernel *k, const char *name,
                        size_t n) {
  float *x = calloc(n + 1, sizeof *x);
  assert_non_null(x);
  contents(k, name, x, n * sizeof *x);
  return x;
}

static void adamw_case(const struct nsr_isa *isa, int64_t tiles, int buffers) {
  struct nsr_ctx *ctx = new_ctx();
  struct nsr_setting settings[] = {{"tiles", tiles},
                                   {"rows", 3},
                                   {"cols", 5},
                                   {"buffers", buffers},
                                   {"max", 1}};
  struct nsr_kernel *k = make(ctx, isa, "adamw", settings, 5), *out;
  struct nsr_kernel *manual = by_hand(ctx, k, "adamw", settings, 5);
  size_t n = (size_t)tiles * 15;
  struct adamw x = {stream_of(k, "p", n), stream_of(k, "g", n),
                    stream_of(k, "m", n), stream_of(k, "v", n)};
  for (size_t i = 0; i < n; i++)
    adamw_step(&x.p[i], x.g[i], &x.m[i], &x.v[i]);
  rewrite(ctx, k, &out);
  const struct nsr_kernel *all[] = {k, out, manual};
  for (int i = 0; i < 3; i++) {
    expect(ctx, all[i], "po", x.p, n * sizeof *x.p);
    expect(ctx, all[i], "mo", x.m, n * sizeof *x.m);
    expect(ctx, all[i], "vo", x.v, n * sizeof *x.v);
  }
  free(x.p);
  free(x.g);
  free(x.m);
  free(x.v);
  nsr_ctx_free(ctx);
}

static void adamw(void **state) {
  (void)state;
  static const int64_t tiles[] = {0, 1, 2, 3, 30};
  for (int s = 0; nsr_isas[s]; s++)
    for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++)
      for (int buffers = 1; buffers <= 3; buffers++)
        adamw_case(nsr_isas[s], tiles[i], buffers);
}

/* ---- page table */

static void page_table_case(const struct nsr_isa *isa, int64_t tiles, int pages,
                            int buffers) {
  enum { PAGE = 3 * 5 };
  struct nsr_ctx *ctx = new_ctx();
  struct nsr_setting settings[] = {{"tiles", tiles}, {"rows", 3},
                                   {"cols", 5},      {"pages", pages},
                                   {"max", 1},       {"buffers", buffers}};
  struct nsr_kernel *k = make(ctx, isa, "page-table", settings, 6);
  size_t n = (size_t)pages * PAGE;
  float *cache = calloc(n, sizeof *cache);
  int32_t *src = calloc((size_t)tiles + 1, sizeof *src);
  int32_t *dst = calloc((size_t)tiles + 1, sizeof *dst);
  assert_true(cache && src && dst);
  contents(k, "cache", cache, n * sizeof *cache);
  contents(k, "src", src, (size_t)tiles * sizeof *src);
  contents(k, "dst", dst, (size_t)tiles * sizeof *dst);
  for (int64_t t = 0; t < tiles; t++)
    for (int j = 0; j < PAGE; j++) {
      float half = cache[src[t] * PAGE + j] * 0.5f;
      cache[dst[t] * PAGE + j] = half + 1.0f;
    }
  expect(ctx, k, "cache", cache, n * sizeof *cache);
  expect_rewritten(ctx, k, "cache", cache, n * sizeof *cache);
  expect(ctx, by_hand(ctx, k, "page-table", settings, 6), "cache", cache,
         n * sizeof *cache);
  free(dst);
  free(src);
  free(cache);
  nsr_ctx_free(ctx);
}

static void page_table(void **state) {
  (void)state;
  for (int s = 0; nsr_isas[s]; s++)
    for (size_t i = 0; i < NTRIPS; i++) {
      page_table_case(nsr_isas[s], trips[i], 1, 2);
      page_table_case(nsr_isas[s], trips[i], 6, 2);
      page_table_case(nsr_isas[s], trips[i], 3, 3);
    }
}

static void refused(const struct nsr_isa *isa, const char *name,
                    const struct nsr_setting *settings, uint32_t nsettings,
                    const char *words) {
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_gen_options options = {
      .isa = isa, .nsettings = nsettings, .settings = settings};
  const char *text;
  size_t n;
  assert_int_equal(nsr_gen_text(ctx, name, &options, &text, &n), NSR_E_USAGE);
  const char *said = nsr_ctx_first_error(ctx)->text;
  if (!strstr(said, words))
    fail_msg("'%s' is not in '%s'", words, said);
  nsr_ctx_free(ctx);
}

/* Unknown names and settings name the known ones; what is too large says what
 * there is of it in the instruction set (NULL: the first). */
static void usage(void **state) {
  (void)state;
  static const struct {
    const char *isa, *name;
    struct nsr_setting settings[2];
    const char *words;
  } cases[] = {
      {NULL, "nonesuch", {{"tiles", 1}}, "sync-bound, rmsnorm, tiled-matmul"},
      {NULL,
       "rmsnorm",
       {{"speed", 1}},
       "tiles, rows, cols, buffers, max, seed"},
      {"tile64", "rmsnorm", {{"rows", 129}}, "129 is not in 1..128"},
      {"tile64", "rmsnorm", {{"cols", 16384}}, "which has 196608"},
      {"tile64",
       "rmsnorm",
       {{"max", 1 << 20}, {"cols", 500}},
       "offsets and steps"},
      {"tile64", "sync-bound", {{"tiles", -1}}, "-1 is not in 0.."},
      {"tile64", "matmul", {{"rows", 129}}, "129 is not in 1..128"},
      {"tile64", "matmul", {{"cols", 2049}}, "PSUM, which has 16384"},
      {"tile64",
       "matmul",
       {{"m", 1 << 16}, {"n", 1 << 10}},
       "steps and offsets"},
      {"lane48", "rmsnorm", {{"rows", 33}}, "33 is not in 1..32"},
      {"lane48", "rmsnorm", {{"cols", 1366}}, "which has 32768"},
      {"lane48",
       "rmsnorm",
       {{"max", 1 << 20}, {"cols", 32}},
       "offsets and steps"},
      {"lane48", "sync-bound", {{"cols", 2730}}, "which has 32768"},
      {"tile64", "matmul", {{"prefetch", 1}, {"buffers", 1}}, "two buffers"},
      {"tile64", "rotating-banks", {{"cols", 513}}, "16384 and 196608"},
      {"tile64", "adamw", {{"cols", 8192}}, "which has 196608"},
      {"tile64", "page-table", {{"cols", 4096}, {"buffers", 7}}, "196608"},
      {"lane48", "paged-attention", {{"heads", 33}}, "33 is not in 1..32"},
      {"lane48",
       "paged-attention",
       {{"longest", 4096}, {"max", 1 << 16}},
       "rows of up to 20, are beyond"},
      {"tile64", "flash-attention", {{"rows", 5}}, "square, not 5 x 4"},
      {"lane48", "flash-attention", {{"dim", 33}}, "33 is not in 1..32"},
      {"tile64", "moe", {{"tile", 8}}, "7 tokens do not fill a block of 8"},
      {"lane48", "matmul", {{"depth", 33}}, "33 is not in 1..32"},
      {"lane48", "matmul", {{"cols", 513}}, "PSUM, which has 4096"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    refused(cases[i].isa ? nsr_isa_by_name(cases[i].isa) : NULL, cases[i].name,
            cases[i].settings, cases[i].settings[1].key ? 2 : 1,
            cases[i].words);
}

/* lane48 without an instruction, or without it on one engine; free *insns. */
static struct nsr_isa lane48_less(const char *mnemonic, int engine,
                                  struct nsr_insn_desc **insns) {
  struct nsr_isa isa = *nsr_isa_by_name("lane48");
  struct nsr_insn_desc *copy = calloc(isa.ninsns, sizeof *copy);
  assert_non_null(copy);
  memcpy(copy, isa.insns, isa.ninsns * sizeof *copy);
  for (int i = 0; i < isa.ninsns; i++)
    if (!strcmp(copy[i].mnemonic, mnemonic))
      copy[i].engines &= engine < 0 ? 0 : ~(UINT32_C(1) << engine);
  isa.insns = copy;
  isa.name = "less";
  *insns = copy;
  return isa;
}

static void lacking(const char *name, const char *mnemonic, int engine,
                    const char *words) {
  struct nsr_insn_desc *insns;
  struct nsr_isa isa = lane48_less(mnemonic, engine, &insns);
  refused(&isa, name, NULL, 0, words);
  free(insns);
}

/* What the rewriter would insert has to be there as well. */
static void lacks_wait(void **state) {
  (void)state;
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_insn_desc *insns;
  struct nsr_kernel *out;
  struct nsr_rewrite_options options = {0};
  struct nsr_rewrite_report report;
  const struct nsr_isa *isa = nsr_isa_by_name("lane48");
  struct nsr_kernel k = *make(ctx, isa, "sync-bound", NULL, 0);
  struct nsr_isa less = lane48_less("wait", nsr_isa_engine(isa, "gen"), &insns);
  k.isa = &less;
  assert_int_equal(nsr_rewrite(ctx, &k, NULL, 0, &options, &out, &report),
                   NSR_E_REFUSED);
  assert_non_null(
      strstr(nsr_ctx_first_error(ctx)->text, "less has no wait here"));
  nsr_ctx_free(ctx);
  free(insns);
}

static void lacks(void **state) {
  (void)state;
  lacking("rmsnorm", "act", -1, "rmsnorm needs an engine with act, which less");
  lacking("rmsnorm", "ts", -1, "an engine with tr ts tsp tt, which less");
  lacking("sync-bound", "tr", -1, "an engine with tr, which less");
  lacking("matmul", "mm", -1, "an engine with ldw mm, which less");
  lacking("matmul", "rem", 3, "on all engines; io of less");
  lacking("rotating-banks", "mm", -1, "an engine with ldw mm, which less");
  lacking("adamw", "ts", -1, "an engine with ts tt, which less");
  lacking("page-table", "act", -1, "an engine with act, which less");
  lacking("paged-attention", "tp", -1, "an engine with ldw mm tp, which less");
  lacking("flash-attention", "actb", -1, "with act actb cast, which less");
  lacking("moe", "dmas", -1, "an engine with dmag dmas, which less");
  lacking("random", "tt", -1, "an engine with tt copy memset, which less");
  lacking("random", "ld", 0, "on all engines; mat of less");
}

/* Every name can be made at either size, always the same. */
static void deterministic_case(const struct nsr_isa *isa, const char *name) {
  struct nsr_ctx *ctx = new_ctx();
  struct nsr_setting seed = {"seed", 2};
  struct nsr_gen_options options = {.isa = isa};
  const char *a, *b, *c;
  size_t n, m;
  assert_non_null(nsr_gen_about(name));
  assert_int_equal(nsr_gen_text(ctx, name, &options, &a, &n), 0);
  assert_int_equal(nsr_gen_text(ctx, name, &options, &b, &m), 0);
  assert_int_equal(n, m);
  assert_string_equal(a, b);
  options.nsettings = 1;
  options.settings = &seed;
  assert_int_equal(nsr_gen_text(ctx, name, &options, &c, &m), 0);
  assert_string_not_equal(a, c);
  struct nsr_kernel *k;
  options = (struct nsr_gen_options){.isa = isa, .real_size = true};
  assert_int_equal(nsr_gen(ctx, name, &options, &k), NSR_OK);
  assert_int_equal(nsr_kernel_check(ctx, k), NSR_OK);
  nsr_ctx_free(ctx);
}

static void deterministic(void **state) {
  (void)state;
  for (int s = 0; nsr_isas[s]; s++)
    for (int i = 0; nsr_gen_names[i]; i++)
      deterministic_case(nsr_isas[s], nsr_gen_names[i]);
  assert_null(nsr_gen_about("nonesuch"));
}

/* The n-th allocation fails: reported as such, for every n. */
static void out_of_memory(void **state) {
  (void)state;
  for (uint64_t nth = 1;; nth++) {
    struct nsr_ctx *ctx = nsr_ctx_new();
    struct nsr_gen_options options = {.real_size = false};
    struct nsr_kernel *k;
    nsr_ctx_fail_alloc(ctx, nth);
    enum nsr_status status = nsr_gen(ctx, "rmsnorm", &options, &k);
    nsr_ctx_free(ctx);
    if (status == NSR_OK)
      break;
    assert_int_equal(status, NSR_E_NOMEM);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(usage),         cmocka_unit_test(lacks),
      cmocka_unit_test(lacks_wait),    cmocka_unit_test(deterministic),
      cmocka_unit_test(out_of_memory), cmocka_unit_test(sync_bound),
      cmocka_unit_test(rmsnorm),       cmocka_unit_test(matmul),
      cmocka_unit_test(matmul_orders), cmocka_unit_test(rotating_banks),
      cmocka_unit_test(page_table),    cmocka_unit_test(adamw),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
