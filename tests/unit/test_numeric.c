/* test_numeric.c - datapath meanings against plain C, for every dtype. */
#include "numeric_setup.h"

/* ---- elements */

static float get16(enum nsr_dtype d, uint32_t pattern) {
  uint8_t p[4] = {(uint8_t)pattern, (uint8_t)(pattern >> 8)};
  return nsr_element_get(d, p);
}

static uint32_t put16(enum nsr_dtype d, float v) {
  uint8_t p[4] = {0};
  nsr_element_put(d, p, v);
  return p[0] | (uint32_t)p[1] << 8;
}

/* Known patterns, from the definitions of the formats. */
static void known_values(void **state) {
  (void)state;
  static const struct {
    enum nsr_dtype dtype;
    uint32_t pattern;
    float value;
  } known[] = {
      {NSR_BF16, 0x3f80, 1.0f},       {NSR_BF16, 0xc040, -3.0f},
      {NSR_BF16, 0x0001, 0x1p-133f},  {NSR_BF16, 0x7f80, INFINITY},
      {NSR_F16, 0x3c00, 1.0f},        {NSR_F16, 0x7bff, 65504.0f},
      {NSR_F16, 0x0001, 0x1p-24f},    {NSR_F16, 0xfc00, -INFINITY},
      {NSR_F16, 0x3555, 0x1.554p-2f}, {NSR_FP8, 0x38, 1.0f},
      {NSR_FP8, 0x7e, 448.0f},        {NSR_FP8, 0x01, 0x1p-9f},
      {NSR_FP8, 0x08, 0x1p-6f},       {NSR_FP8, 0xb8, -1.0f},
  };
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    assert_true(get16(known[i].dtype, known[i].pattern) == known[i].value);
    assert_int_equal(put16(known[i].dtype, known[i].value), known[i].pattern);
  }
  assert_true(isnan(get16(NSR_FP8, 0x7f)) && isnan(get16(NSR_FP8, 0xff)));
  assert_true(isnan(get16(NSR_F16, 0x7c01)) && isnan(get16(NSR_BF16, 0x7fc0)));
  assert_int_equal(put16(NSR_FP8, 1000.0f), 0x7f);
  assert_int_equal(put16(NSR_FP8, -INFINITY), 0xff);
  assert_int_equal(put16(NSR_F16, 65520.0f), 0x7c00);
  assert_int_equal(put16(NSR_F16, 65519.0f), 0x7bff);
  assert_int_equal(put16(NSR_BF16, from_bits(0x7f7fffff)), 0x7f80);
  assert_int_equal(put16(NSR_F16, -0.0f), 0x8000);
}

static void narrow_float(enum nsr_dtype d, uint32_t finite) {
  uint32_t sign = d == NSR_FP8 ? 0x80 : 0x8000;
  for (uint32_t p = 0; p < finite; p++) {
    float v = get16(d, p);
    assert_int_equal(put16(d, v), p);
    assert_int_equal(put16(d, -v), p | sign);
    if (p + 1 == finite)
      break;
    float w = get16(d, p + 1);
    assert_true(v < w);
    double mid = ((double)v + (double)w) / 2;
    float m = (float)mid; /* exact: the formats are far narrower than f32 */
    if ((double)m != mid)
      continue; /* but for bf16's smallest subnormals */
    assert_int_equal(put16(d, m), p & 1 ? p + 1 : p);
    assert_int_equal(put16(d, nextafterf(m, w)), p + 1);
    assert_int_equal(put16(d, nextafterf(m, v)), p);
  }
}

/* Every finite pattern round-trips; what lies between two goes to the nearer
 * one and ties go to the even one. */
static void narrow_floats_round(void **state) {
  (void)state;
  narrow_float(NSR_FP8, 0x7f);
  narrow_float(NSR_F16, 0x7c00);
  narrow_float(NSR_BF16, 0x7f80);
}

static void integers_saturate(void **state) {
  (void)state;
  static const struct {
    enum nsr_dtype dtype;
    float value;
    int32_t want;
  } cases[] = {
      {NSR_I32, 2.5f, 2},
      {NSR_I32, 3.5f, 4},
      {NSR_I32, -2.5f, -2},
      {NSR_I32, 3e9f, INT32_MAX},
      {NSR_I32, -3e9f, INT32_MIN},
      {NSR_I32, INFINITY, INT32_MAX},
      {NSR_I32, NAN, 0},
      {NSR_I16, 40000.0f, 32767},
      {NSR_I16, -40000.0f, -32768},
      {NSR_I16, -0.5f, 0},
      {NSR_I8, 127.5f, 127},
      {NSR_I8, -128.6f, -128},
      {NSR_I8, 100.0f, 100},
      {NSR_U8, 255.4f, 255},
      {NSR_U8, 300.0f, 255},
      {NSR_U8, -1.0f, 0},
      {NSR_U8, 1.5f, 2},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    uint8_t p[4] = {0xaa, 0xaa, 0xaa, 0xaa};
    nsr_element_put(cases[i].dtype, p, cases[i].value);
    assert_int_equal(nsr_element_bits(cases[i].dtype, p), cases[i].want);
    assert_true(nsr_element_get(cases[i].dtype, p) == (float)cases[i].want);
  }
}

static void registers_extend(void **state) {
  (void)state;
  uint8_t p[4] = {0xff, 0x80, 0x12, 0xf3};
  assert_int_equal(nsr_element_bits(NSR_I8, p), -1);
  assert_int_equal(nsr_element_bits(NSR_U8, p), 255);
  assert_int_equal(nsr_element_bits(NSR_I16, p), -0x7f01);
  assert_int_equal(nsr_element_bits(NSR_BF16, p), 0x80ff);
  assert_int_equal(nsr_element_bits(NSR_I32, p), (int32_t)0xf31280ff);
  uint8_t q[4] = {1, 2, 3, 4};
  nsr_element_put_bits(NSR_I16, q, -2);
  assert_memory_equal(q, ((uint8_t[]){0xfe, 0xff, 3, 4}), 4);
  nsr_element_put_bits(NSR_F32, q, (int32_t)to_bits(1.0f));
  assert_true(nsr_element_get(NSR_F32, q) == 1.0f);
}

/* ---- instructions */

static void tensor_tensor(void **state) {
  struct prng *rng = *state;
  for (size_t d = 0; d < NDTYPES; d++)
    for (size_t from = 0; from < NDTYPES; from++)
      for (size_t op = 1; op < NOPS; op++) {
        static struct setup s;
        setup(&s, "tt");
        arg_name(&s, "op", ops[op]);
        shape(&s, 0, dtypes[d], 4, 2, 3, 5);
        shape(&s, 1, dtypes[from], 4, 1, 15, 0);
        shape(&s, 2, dtypes[d], 4, 2, 5, 3);
        randomize(&s, 1, 60, false, rng);
        randomize(&s, 2, 60, true, rng);
        for (size_t i = 0; i < 60; i++)
          want(&s, i, plain(ops[op], in(&s, 1, i), in(&s, 2, i)));
        run_and_compare(&s, 60);
      }
}

static void tensor_scalar(void **state) {
  struct prng *rng = *state;
  for (size_t d = 0; d < NDTYPES; d++)
    for (size_t op0 = 0; op0 < NOPS - 1; op0++)
      for (size_t op1 = 0; op1 < NOPS - 1; op1++) {
        static struct setup s;
        setup(&s, "ts");
        arg_name(&s, "op0", ops[op0]);
        arg_name(&s, "op1", ops[op1]);
        arg_float(&s, "imm0", 1.7f);
        arg_float(&s, "imm1", -3.25f);
        shape(&s, 0, dtypes[d], 2, 1, 9, 0);
        shape(&s, 1, dtypes[d], 2, 1, 9, 0);
        randomize(&s, 1, 18, false, rng);
        for (size_t i = 0; i < 18; i++) {
          float v = plain(ops[op0], in(&s, 1, i), 1.7f);
          want(&s, i, plain(ops[op1], v, -3.25f));
        }
        run_and_compare(&s, 18);
      }
}

static void tensor_rowscalar(void **state) {
  struct prng *rng = *state;
  for (size_t d = 0; d < NDTYPES; d++)
    for (size_t op = 1; op < NOPS; op++) {
      static struct setup s;
      setup(&s, "tsp");
      arg_name(&s, "op", ops[op]);
      shape(&s, 0, dtypes[d], 7, 2, 2, 4);
      shape(&s, 1, dtypes[d], 7, 2, 2, 4);
      shape(&s, 2, NSR_F32, 7, 0, 0, 0);
      randomize(&s, 1, 56, false, rng);
      randomize(&s, 2, 7, true, rng);
      for (size_t i = 0; i < 56; i++)
        want(&s, i, plain(ops[op], in(&s, 1, i), in(&s, 2, i / 8)));
      run_and_compare(&s, 56);
    }
}

static void tensor_reduce(void **state) {
  struct prng *rng = *state;
  for (size_t d = 0; d < NDTYPES; d++)
    for (size_t op = 1; op < NOPS; op++) {
      static struct setup s;
      setup(&s, "tr");
      arg_name(&s, "op", ops[op]);
      shape(&s, 0, NSR_F32, 3, 1, 4, 0);
      shape(&s, 1, dtypes[d], 3, 2, 4, 6);
      randomize(&s, 1, 72, true, rng);
      for (size_t i = 0; i < 12; i++) {
        float v = in(&s, 1, i * 6);
        for (size_t j = 1; j < 6; j++)
          v = plain(ops[op], v, in(&s, 1, i * 6 + j));
        want(&s, i, v);
      }
      run_and_compare(&s, 12);
    }
}

static void activation(void **state) {
  struct prng *rng = *state;
  for (size_t d = 0; d < NDTYPES; d++)
    for (size_t f = 0; f < NFUNCS; f++)
      for (size_t to = 0; to < NDTYPES; to++) {
        static struct setup s;
        bool signs = f == 0 || f == 5;
        setup(&s, "act");
        arg_name(&s, "func", funcs[f]);
        arg_float(&s, "scale", 0.125f);
        arg_float(&s, "bias", 0.5f);
        shape(&s, 0, dtypes[to], 2, 2, 2, 4);
        shape(&s, 1, dtypes[d], 2, 2, 2, 4);
        randomize(&s, 1, 16, !signs, rng);
        for (size_t i = 0; i < 16; i++) {
          float v = in(&s, 1, i) * 0.125f;
          v = v + 0.5f;
          want(&s, i, plain_func(funcs[f], v));
        }
        run_and_compare(&s, 16);
      }
}

/* Copies move bytes: NaN payloads and large integers come out unchanged, and
 * shapes may differ. */
static void copy(void **state) {
  struct prng *rng = *state;
  static const char *const names[] = {"copy", "dma"};
  for (size_t k = 0; k < 2; k++)
    for (size_t d = 0; d < NDTYPES; d++) {
      static struct setup s;
      setup(&s, names[k]);
      shape(&s, 0, dtypes[d], 4, 2, 2, 5);
      shape(&s, 1, dtypes[d], 1, 1, 40, 0);
      size_t bytes = (size_t)40 * nsr_dtype_bytes(dtypes[d]);
      for (size_t i = 0; i < bytes; i++)
        s.want[0][i] = s.in[1][i] = (uint8_t)prng_next(rng);
      run_and_compare(&s, 40);
    }
}

/* What cast makes of one element, by the definition of the formats. */
static void cast_element(struct setup *s, size_t i) {
  static const int32_t lo[] = {INT32_MIN, INT16_MIN, INT8_MIN, 0};
  static const int32_t hi[] = {INT32_MAX, INT16_MAX, INT8_MAX, UINT8_MAX};
  enum nsr_dtype to = s->e[0].dtype, from = s->e[1].dtype;
  const uint8_t *p = s->in[1] + i * nsr_dtype_bytes(from);
  if (from == to || from < NSR_I32 || to < NSR_I32) {
    want_moved(s, i, 1, i);
    return;
  }
  int32_t v = nsr_element_bits(from, p);
  v = v < lo[to - NSR_I32] ? lo[to - NSR_I32] : v;
  v = v > hi[to - NSR_I32] ? hi[to - NSR_I32] : v;
  nsr_element_put_bits(to, s->want[0] + i * nsr_dtype_bytes(to), v);
}

/* Between all pairs of dtypes, any bytes. */
static void cast(void **state) {
  struct prng *rng = *state;
  for (size_t to = 0; to < NDTYPES; to++)
    for (size_t from = 0; from < NDTYPES; from++) {
      static struct setup s;
      setup(&s, "cast");
      shape(&s, 0, dtypes[to], 4, 2, 2, 5);
      shape(&s, 1, dtypes[from], 4, 1, 10, 0);
      for (size_t i = 0; i < 40u * nsr_dtype_bytes(dtypes[from]); i++)
        s.in[1][i] = (uint8_t)prng_next(rng);
      for (size_t i = 0; i < 40; i++)
        cast_element(&s, i);
      run_and_compare(&s, 40);
    }
  uint8_t big[4], out[4] = {0};
  nsr_element_put_bits(NSR_I32, big, 16777217); /* not an f32 */
  nsr_element_convert(NSR_I16, out, NSR_I32, big);
  assert_int_equal(nsr_element_bits(NSR_I16, out), INT16_MAX);
  nsr_element_convert(NSR_F32, out, NSR_I32, big);
  assert_true(nsr_element_get(NSR_F32, out) == 16777216.0f);
}

static void accumulate(void **state) {
  struct prng *rng = *state;
  for (size_t d = 0; d < NDTYPES; d++)
    for (size_t from = 0; from < NDTYPES; from++)
      for (size_t op = 1; op < NOPS; op++) {
        static struct setup s;
        setup(&s, "dmaa");
        arg_name(&s, "op", ops[op]);
        shape(&s, 0, dtypes[d], 4, 1, 6, 0);
        shape(&s, 1, dtypes[from], 1, 2, 3, 8);
        randomize(&s, 0, 24, false, rng);
        randomize(&s, 1, 24, true, rng);
        for (size_t i = 0; i < 24; i++)
          want(&s, i, plain(ops[op], in(&s, 0, i), in(&s, 1, i)));
        run_and_compare(&s, 24);
      }
}

static void fill_and_iota(void **state) {
  (void)state;
  for (size_t d = 0; d < NDTYPES; d++) {
    enum nsr_dtype t = dtypes[d];
    bool whole = d >= 4;
    static struct setup s;
    setup(&s, "memset");
    arg(&s, "value", -77);
    shape(&s, 0, t, 3, 1, 5, 0);
    for (size_t i = 0; i < 15; i++) {
      want(&s, i, -77.0f);
      if (whole)
        memset(s.want[0] + i * nsr_dtype_bytes(t), 0xff, nsr_dtype_bytes(t));
      if (whole)
        s.want[0][i * nsr_dtype_bytes(t)] = (uint8_t)-77;
    }
    run_and_compare(&s, 15);

    setup(&s, "iota");
    arg(&s, "base", 3);
    arg(&s, "pmul", 20);
    arg(&s, "step0", -4);
    arg(&s, "step1", 2);
    shape(&s, 0, t, 3, 2, 2, 3);
    for (int p = 0; p < 3; p++)
      for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3; j++) {
          size_t at = (size_t)(p * 6 + i * 3 + j);
          int v = 3 + p * 20 - i * 4 + j * 2;
          want(&s, at, (float)v);
          if (t == NSR_U8)
            s.want[0][at] = (uint8_t)v;
        }
    run_and_compare(&s, 18);
  }
}

static void stores(void **state) {
  (void)state;
  for (size_t d = 0; d < NDTYPES; d++) {
    static struct setup s;
    setup(&s, "st");
    shape(&s, 0, dtypes[d], 1, 0, 0, 0);
    assert_null(nsr_numeric(&s.insn, s.e, NULL, (int32_t)0x8192a3b4));
    uint8_t bytes[4] = {0xb4, 0xa3, 0x92, 0x81};
    assert_memory_equal(s.out[0], bytes, nsr_dtype_bytes(dtypes[d]));
    shape(&s, 0, dtypes[d], 1, 1, 2, 0);
    assert_non_null(run(&s));
  }
  static struct setup s;
  setup(&s, "nop");
  assert_null(run(&s));
  setup(&s, "ld");
  assert_null(run(&s));
  setup(&s, "halt");
  assert_non_null(run(&s));
}

static void refused(const char *mnemonic, enum nsr_dtype src, uint32_t parts0,
                    uint32_t n0, uint32_t parts1, uint32_t n1) {
  static struct setup s;
  setup(&s, mnemonic);
  for (int i = 0; i < s.insn.desc->nargs; i++)
    if (!strcmp(s.insn.desc->args[i].name, "op"))
      arg_name(&s, "op", "add");
  shape(&s, 0, NSR_F32, parts0, 1, n0, 0);
  shape(&s, 1, src, parts1, 1, n1, 0);
  shape(&s, 2, NSR_F32, parts1, 1, n1, 0);
  assert_non_null(run(&s));
}

static void shapes_that_do_not_fit(void **state) {
  (void)state;
  refused("copy", NSR_I32, 1, 4, 1, 4);
  refused("copy", NSR_F32, 1, 4, 2, 4);
  refused("tt", NSR_F32, 2, 4, 4, 2);
  refused("ts", NSR_F32, 2, 4, 2, 5);
  refused("tsp", NSR_F32, 2, 4, 2, 4); /* scalar of four elements */
  refused("tr", NSR_F32, 2, 4, 2, 4);
  refused("tr", NSR_F32, 2, 1, 2, 0);
  refused("act", NSR_F32, 3, 4, 2, 4);
  refused("cast", NSR_I8, 1, 4, 1, 5);
  refused("dmaa", NSR_F32, 1, 4, 1, 5);
}

/* Nothing to do for no elements; empty pointers are never followed. */
static void empty(void **state) {
  (void)state;
  static const char *const names[] = {"copy", "ts", "act", "memset"};
  for (size_t k = 0; k < 4; k++) {
    static struct setup s;
    setup(&s, names[k]);
    for (int i = 0; i < 3; i++) {
      shape(&s, i, NSR_F32, 2, 1, 0, 0);
      s.e[i].in = NULL;
      s.e[i].out = NULL;
    }
    assert_null(run(&s));
  }
}

int main(void) {
  static struct prng rng;
  rng = prng_seed("numeric", 20240607);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(known_values),
      cmocka_unit_test(narrow_floats_round),
      cmocka_unit_test(integers_saturate),
      cmocka_unit_test(registers_extend),
      cmocka_unit_test_prestate(tensor_tensor, &rng),
      cmocka_unit_test_prestate(tensor_scalar, &rng),
      cmocka_unit_test_prestate(tensor_rowscalar, &rng),
      cmocka_unit_test_prestate(tensor_reduce, &rng),
      cmocka_unit_test_prestate(activation, &rng),
      cmocka_unit_test_prestate(copy, &rng),
      cmocka_unit_test_prestate(cast, &rng),
      cmocka_unit_test_prestate(accumulate, &rng),
      cmocka_unit_test(fill_and_iota),
      cmocka_unit_test(stores),
      cmocka_unit_test(shapes_that_do_not_fit),
      cmocka_unit_test(empty),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
