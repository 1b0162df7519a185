/* test_numeric_rows.c - what works along rows against plain C: activations
 * with sums and biases, scans, the largest of a row. */
#include "numeric_setup.h"

enum { PARTS = 3, ROW = 16 };

/* Where the operands of an activation are. */
struct places {
  int sum, src, bias; /* 0: none */
};

static void check_activation(const char *mnemonic, struct places at, size_t f,
                             enum nsr_dtype to, enum nsr_dtype from,
                             struct prng *rng) {
  static struct setup s;
  bool signs = f == 0 || f == 5; /* where functions are defined */
  setup(&s, mnemonic);
  arg_name(&s, "func", funcs[f]);
  arg_float(&s, "scale", 0.125f);
  shape(&s, 0, to, PARTS, 2, 4, 4);
  shape(&s, at.src, from, PARTS, 1, ROW, 0);
  randomize(&s, at.src, PARTS * ROW, !signs, rng);
  if (at.bias) {
    shape(&s, at.bias, NSR_F32, PARTS, 0, 0, 0);
    randomize(&s, at.bias, PARTS, true, rng);
  } else {
    arg_float(&s, "bias", 0.5f);
  }
  if (at.sum)
    shape(&s, at.sum, NSR_F32, PARTS, 0, 0, 0);
  for (size_t p = 0; p < PARTS; p++) {
    float sum = 0, bias = at.bias ? in(&s, at.bias, p) : 0.5f;
    for (size_t i = p * ROW; i < (p + 1) * ROW; i++) {
      float v = in(&s, at.src, i) * 0.125f;
      v = v + bias;
      v = plain_func(funcs[f], v);
      want(&s, i, v);
      sum = sum + v;
    }
    if (at.sum)
      want_of(&s, at.sum, p, sum);
  }
  run_and_compare(&s, PARTS * ROW);
  if (at.sum)
    compare(&s, at.sum, PARTS);
}

static void activations(void **state) {
  static const struct {
    const char *mnemonic;
    struct places at;
  } kinds[] = {{"act", {0, 1, 0}},
               {"actb", {0, 1, 2}},
               {"acts", {1, 2, 0}},
               {"actbs", {1, 2, 3}}};
  for (size_t k = 0; k < 4; k++)
    for (size_t to = 0; to < NDTYPES; to++)
      for (size_t from = 0; from < NDTYPES; from++)
        for (size_t f = 0; f < NFUNCS; f++)
          check_activation(kinds[k].mnemonic, kinds[k].at, f, dtypes[to],
                           dtypes[from], *state);
}

/* Sums in a narrow dtype are rounded once. */
static void sums_are_f32_inside(void **state) {
  (void)state;
  static struct setup s;
  setup(&s, "acts");
  arg_name(&s, "func", "identity");
  arg_float(&s, "scale", 1.0f);
  shape(&s, 0, NSR_BF16, 1, 1, 512, 0);
  shape(&s, 1, NSR_BF16, 1, 0, 0, 0);
  shape(&s, 2, NSR_BF16, 1, 1, 512, 0);
  for (size_t i = 0; i < 512; i++)
    set_in(&s, 2, i, 1.0f);
  assert_null(run(&s)); /* bf16 alone would stay at 256 */
  assert_true(nsr_element_get(NSR_BF16, s.out[1]) == 512.0f);
}

static void scan(void **state) {
  for (size_t d = 0; d < NDTYPES; d++)
    for (size_t op0 = 1; op0 < NOPS; op0++)
      for (size_t op1 = 1; op1 < NOPS; op1++) {
        static struct setup s;
        setup(&s, "scan");
        arg_name(&s, "op0", ops[op0]);
        arg_name(&s, "op1", ops[op1]);
        shape(&s, 0, dtypes[d], PARTS, 2, 2, 5);
        shape(&s, 1, dtypes[d], PARTS, 1, 10, 0);
        shape(&s, 2, NSR_F32, PARTS, 1, 10, 0);
        shape(&s, 3, NSR_BF16, PARTS, 0, 0, 0);
        randomize(&s, 1, PARTS * 10, true, *state);
        randomize(&s, 2, PARTS * 10, true, *state);
        randomize(&s, 3, PARTS, true, *state);
        for (size_t row = 0; row < PARTS * 2; row++) {
          float v = in(&s, 3, row / 2);
          for (size_t i = row * 5; i < row * 5 + 5; i++) {
            v = plain(ops[op0], v, in(&s, 1, i));
            v = plain(ops[op1], v, in(&s, 2, i));
            want(&s, i, v);
          }
        }
        run_and_compare(&s, PARTS * 10);
      }
}

static int falling(const void *a, const void *b) {
  float x, y;
  memcpy(&x, a, sizeof x);
  memcpy(&y, b, sizeof y);
  return (x < y) - (x > y);
}

static void max8(void **state) {
  for (size_t to = 0; to < NDTYPES; to++)
    for (size_t d = 0; d < NDTYPES; d++)
      for (uint32_t n = 8; n < 30; n += 7) {
        static struct setup s;
        float row[30];
        setup(&s, "max8");
        shape(&s, 0, dtypes[to], PARTS, 1, 8, 0);
        shape(&s, 1, dtypes[d], PARTS, 1, n, 0);
        randomize(&s, 1, (size_t)PARTS * n, false, *state);
        for (size_t p = 0; p < PARTS; p++) {
          for (size_t i = 0; i < n; i++)
            row[i] = in(&s, 1, p * n + i);
          qsort(row, n, sizeof *row, falling);
          for (size_t i = 0; i < 8; i++)
            want(&s, p * 8 + i, row[i]);
        }
        run_and_compare(&s, (size_t)PARTS * 8);
      }
}

/* What is not a number comes last, wherever it stood. */
static void max8_of_nans(void **state) {
  (void)state;
  for (size_t nan = 0; nan < 9; nan++) {
    static struct setup s;
    setup(&s, "max8");
    shape(&s, 0, NSR_F32, 1, 1, 8, 0);
    shape(&s, 1, NSR_F32, 1, 1, 9, 0);
    for (size_t i = 0; i < 9; i++)
      set_in(&s, 1, i, i == nan ? NAN : (float)i);
    for (size_t i = 0, v = 9; i < 8; i++) {
      v--;
      v -= v == nan;
      want(&s, i, (float)v);
    }
    run_and_compare(&s, 8);
  }
}

static void refused(const char *mnemonic, const uint32_t parts[],
                    const uint32_t row[]) {
  static struct setup s;
  setup(&s, mnemonic);
  for (int i = 0; i < s.insn.desc->nargs; i++)
    if (!strncmp(s.insn.desc->args[i].name, "op", 2))
      arg_name(&s, s.insn.desc->args[i].name, "add");
  for (int k = 0; k < s.insn.desc->noperands; k++)
    shape(&s, k, NSR_F32, parts[k], 1, row[k], 0);
  assert_non_null(run(&s));
}
#define REFUSED(mnemonic, parts, row)                                          \
  refused(mnemonic, (const uint32_t[])parts, (const uint32_t[])row)
#define L(...)                                                                 \
  { __VA_ARGS__ }

static void shapes_that_do_not_fit(void **state) {
  (void)state;
  REFUSED("actb", L(2, 2, 2), L(4, 4, 4));
  REFUSED("actb", L(2, 2, 1), L(4, 4, 1));
  REFUSED("acts", L(2, 1, 2), L(4, 1, 4));
  REFUSED("acts", L(2, 2, 2), L(4, 1, 5));
  REFUSED("actbs", L(2, 2, 2, 2), L(4, 1, 4, 2));
  REFUSED("actbs", L(2, 2, 2, 2), L(4, 2, 4, 1));
  REFUSED("scan", L(2, 2, 2, 2), L(4, 4, 5, 1));
  REFUSED("scan", L(2, 2, 2, 2), L(4, 5, 4, 1));
  REFUSED("scan", L(2, 2, 2, 2), L(4, 4, 4, 2));
  REFUSED("scan", L(2, 2, 2, 1), L(4, 4, 4, 1));
  REFUSED("max8", L(2, 2), L(7, 9));
  REFUSED("max8", L(2, 2), L(8, 7));
  REFUSED("max8", L(2, 1), L(8, 8));
}

int main(void) {
  static struct prng rng;
  rng = prng_seed("numeric_rows", 7);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_prestate(activations, &rng),
      cmocka_unit_test(sums_are_f32_inside),
      cmocka_unit_test_prestate(scan, &rng),
      cmocka_unit_test_prestate(max8, &rng),
      cmocka_unit_test(max8_of_nans),
      cmocka_unit_test(shapes_that_do_not_fit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
