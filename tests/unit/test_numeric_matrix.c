/* test_numeric_matrix.c - the matrix engine against plain C, alone and in
 * kernels, where its hidden state is kept. */
#include "numeric_setup.h"
#include "sim_kernel.h"

static const enum nsr_dtype floats[] = {NSR_F32, NSR_BF16, NSR_F16, NSR_FP8};

/* A stationary operand of k x m, at s->in[2]. */
static void stationary(struct setup *s, enum nsr_dtype d, uint32_t k,
                       uint32_t m, struct prng *rng) {
  shape(s, 2, d, k, 1, m, 0);
  randomize(s, 2, (size_t)k * m, false, rng);
  s->state = s->e[2];
  s->state.in = s->in[2];
}

static void check_product(enum nsr_dtype weights, enum nsr_dtype moving,
                          enum nsr_dtype to, bool acc, uint32_t k, uint32_t m,
                          uint32_t n, struct prng *rng) {
  static struct setup s;
  setup(&s, "mm");
  stationary(&s, weights, k, m, rng);
  shape(&s, 0, to, m, 1, n, 0);
  shape(&s, 1, moving, k, 2, 1, n);
  randomize(&s, 1, (size_t)k * n, false, rng);
  if (acc) {
    s.insn.operands[0].acc = true;
    s.insn.operands[0].role = NSR_RW;
    s.e[0].in = s.in[0];
    randomize(&s, 0, (size_t)m * n, false, rng);
  }
  for (size_t i = 0; i < m; i++)
    for (size_t j = 0; j < n; j++) {
      float sum = 0;
      for (size_t x = 0; x < k; x++) {
        float product = in(&s, 2, x * m + i) * in(&s, 1, x * n + j);
        sum = sum + product;
      }
      want(&s, i * n + j, acc ? in(&s, 0, i * n + j) + sum : sum);
    }
  run_and_compare(&s, (size_t)m * n);
}

static void product(void **state) {
  for (size_t w = 0; w < 4; w++)
    for (size_t x = 0; x < 4; x++)
      for (size_t to = 0; to < 4; to++)
        for (int acc = 0; acc < 2; acc++)
          check_product(floats[w], floats[x], floats[to], acc, 5, 3, 7, *state);
  for (uint32_t k = 1; k < 4; k++)
    for (uint32_t m = 1; m < 4; m++)
      for (uint32_t n = 1; n < 4; n++)
        check_product(NSR_F32, NSR_BF16, NSR_F32, k & 1, k, m, n, *state);
  check_product(NSR_F32, NSR_F32, NSR_F32, true, 128, 8, 8, *state);
  check_product(NSR_F32, NSR_F32, NSR_F32, false, 200, 5, 5, *state);
}

static void transpose(void **state) {
  static const char *const names[] = {"tp", "tpv"};
  for (size_t to = 0; to < NDTYPES; to++)
    for (size_t from = 0; from < NDTYPES; from++) {
      static struct setup s;
      setup(&s, names[to & 1]);
      shape(&s, 0, dtypes[to], 6, 1, 5, 0);
      shape(&s, 1, dtypes[from], 5, 2, 2, 3);
      randomize(&s, 1, 30, false, *state);
      for (size_t i = 0; i < 5; i++)
        for (size_t j = 0; j < 6; j++)
          want_moved(&s, j * 5 + i, 1, i * 6 + j);
      run_and_compare(&s, 30);
    }
}

static void shapes_that_do_not_fit(void **state) {
  static struct setup s;
  setup(&s, "mm");
  shape(&s, 0, NSR_F32, 3, 1, 4, 0);
  shape(&s, 1, NSR_F32, 2, 1, 4, 0);
  assert_non_null(run(&s)); /* nothing stationary */
  stationary(&s, NSR_F32, 2, 3, *state);
  assert_null(run(&s));
  shape(&s, 1, NSR_F32, 3, 1, 4, 0);
  assert_non_null(run(&s));
  shape(&s, 1, NSR_F32, 2, 1, 5, 0);
  assert_non_null(run(&s));
  shape(&s, 1, NSR_F32, 2, 1, 4, 0);
  stationary(&s, NSR_F32, 2, 2, *state);
  assert_non_null(run(&s));
  setup(&s, "tp");
  shape(&s, 0, NSR_F32, 3, 1, 2, 0);
  shape(&s, 1, NSR_F32, 2, 1, 2, 0);
  assert_non_null(run(&s));
  setup(&s, "ldw");
  shape(&s, 0, NSR_F32, 2, 1, 0, 0);
  assert_non_null(run(&s));
}

/* ---- in kernels: what stays in the engine from one to the next */

#define HEAD                                                                   \
  ".isa tile64\n.kernel \"t\"\n.queue q0 sp\n"                                 \
  ".tensor x dram f32 [8] at 0 input words 1, 2, 3, 4, 10, 20, 30, 40\n"       \
  ".tensor y dram f32 [4] at 64 output\n"                                      \
  ".tensor a sbuf f32 [2, 2] at 0:2, 0 scratch\n"                              \
  ".tensor b sbuf f32 [2, 2] at 0:2, 8 scratch\n"                              \
  ".tensor c sbuf f32 [2, 2] at 0:2, 16 scratch\n"                             \
  ".tensor p psum f32 [2, 2] at 0:2, 0 scratch\n"
/* a = 1 2 / 3 4, b = 10 20 / 30 40; then what `pe` does; then p is stored. */
#define KERNEL(pe)                                                             \
  HEAD ".engine sp\n dma q0, a[2*4], x{2*8}[2*4]\n"                            \
       " dma q0, b[2*4], x+16{2*8}[2*4]\n sync 1\n sync 2\n sync 3\n"          \
       " dma q0, y{2*8}[2*4], c[2*4]\n sync 4\n halt\n"                        \
       ".engine pe\n sync 1\n" pe " sync 2\n sync 3\n sync 4\n halt\n"         \
       ".engine act\n sync 1\n sync 2\n copy c[2*4], p[2*4]\n"                 \
       " sync 3\n sync 4\n halt\n"

static void expect(const char *text, const float want[4]) {
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_kernel *k = kernel_of(ctx, text);
  const uint8_t *data;
  size_t size;
  char line[300];
  if (nsr_run_numeric(ctx, k, "y", &data, &size) != NSR_OK)
    fail_msg("%s\n%s", first_error(ctx, line, sizeof line), text);
  for (size_t i = 0; i < 4; i++)
    if (nsr_element_get(NSR_F32, data + 4 * i) != want[i])
      fail_msg("%s\nelement %zu is %g, wanted %g", text, i,
               (double)nsr_element_get(NSR_F32, data + 4 * i), (double)want[i]);
  nsr_ctx_free(ctx);
}
#define F(...)                                                                 \
  (const float[4]) { __VA_ARGS__ }

static void kernels(void **state) {
  (void)state;
  /* a' b */
  expect(KERNEL(" ldw a[2*4]\n mm p[2*4], b[2*4]\n"), F(100, 140, 140, 200));
  /* twice the same weights, the second adds */
  expect(KERNEL(" ldw a[2*4]\n mm p[2*4], b[2*4]\n mm p[2*4] !acc, b[2*4]\n"),
         F(200, 280, 280, 400));
  /* and with others */
  expect(KERNEL(" ldw a[2*4]\n mm p[2*4], b[2*4] ^s0\n ldw b[2*4]\n"
                " mm p[2*4] !acc, a[2*4]\n"),
         F(200, 280, 280, 400));
  expect(KERNEL(" ldw a[2*4]\n mm p[2*4], a[2*4]\n ldw b[2*4]\n"
                " mm p[2*4] !acc, b[2*4]\n"),
         F(10 + 1000, 14 + 1400, 14 + 1400, 20 + 2000));
  /* a transpose, and what it leaves */
  expect(KERNEL(" tp p[2*4], a[2*4]\n"), F(1, 3, 2, 4));
  expect(KERNEL(" tp p[2*4], a[2*4]\n mm p[2*4] !acc, b[2*4]\n"),
         F(1 + 100, 3 + 140, 2 + 140, 4 + 200));
  /* another shape: one column against one */
  expect(KERNEL(" ldw a[2*4]\n mm p[2*4], b[2*4]\n ldw a\n"
                " mm p{0:1} !acc, b\n"),
         F(200, 140, 140, 200));
}

/* Weights are read when they are loaded: what becomes of their source later
 * does not matter. */
static void weights_are_a_copy(void **state) {
  (void)state;
  expect(KERNEL(" ldw a[2*4] ^s0\n ld r1, a\n mov r2, 0\n st a, r2 ?s0>=1\n"
                " mm p[2*4], b[2*4]\n"),
         F(100, 140, 140, 200));
}

static void no_weights(void **state) {
  (void)state;
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_kernel *k = kernel_of(ctx, KERNEL(" mm p[2*4], b[2*4]\n"));
  const uint8_t *data;
  size_t size;
  assert_int_equal(nsr_run_numeric(ctx, k, "y", &data, &size), NSR_E_FAULT);
  assert_non_null(strstr(nsr_ctx_first_error(ctx)->text, "stationary"));
  nsr_ctx_free(ctx);
}

int main(void) {
  static struct prng rng;
  rng = prng_seed("numeric_matrix", 13);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_prestate(product, &rng),
      cmocka_unit_test_prestate(transpose, &rng),
      cmocka_unit_test_prestate(shapes_that_do_not_fit, &rng),
      cmocka_unit_test(kernels),
      cmocka_unit_test(weights_are_a_copy),
      cmocka_unit_test(no_weights),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
