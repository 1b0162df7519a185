/* test_numeric.c - datapath meanings against plain C, for every dtype. */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "sim/numeric.h"

enum { MAX_ELEMENTS = 512 };

static uint64_t seed_of_run(void) {
  const char *s = getenv("NSR_SEED");
  return s ? strtoull(s, NULL, 0) : 20240607;
}

static uint64_t next(uint64_t *state) {
  *state += UINT64_C(0x9e3779b97f4a7c15);
  uint64_t z = *state;
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

static const enum nsr_dtype dtypes[] = {NSR_F32, NSR_BF16, NSR_F16, NSR_FP8,
                                        NSR_I32, NSR_I16,  NSR_I8,  NSR_U8};
#define NDTYPES (sizeof dtypes / sizeof *dtypes)

/* ---- elements */

static float from_bits(uint32_t b) {
  float v;
  memcpy(&v, &b, sizeof v);
  return v;
}

static uint32_t to_bits(float v) {
  uint32_t b;
  memcpy(&b, &v, sizeof b);
  return b;
}

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

struct setup {
  struct nsr_insn insn;
  struct nsr_elements e[NSR_MAX_OPERANDS];
  uint8_t in[NSR_MAX_OPERANDS][MAX_ELEMENTS * 4];
  uint8_t out[MAX_ELEMENTS * 4];
  uint8_t want[MAX_ELEMENTS * 4];
};

static void setup(struct setup *s, const char *mnemonic) {
  const struct nsr_isa *isa = nsr_isa_by_name("tile64");
  assert_non_null(isa);
  const struct nsr_insn_desc *desc =
      nsr_isa_mnemonic(isa, mnemonic, strlen(mnemonic));
  assert_non_null(desc);
  memset(s, 0, sizeof *s);
  nsr_insn_init(desc, &s->insn);
  for (int i = 0; i < NSR_MAX_OPERANDS; i++)
    s->e[i].in = s->in[i];
  s->e[0].out = s->out;
}

static void arg(struct setup *s, const char *name, int64_t value) {
  for (int i = 0; i < s->insn.desc->nargs; i++)
    if (!strcmp(s->insn.desc->args[i].name, name)) {
      s->insn.args[i] = value;
      return;
    }
  fail_msg("no argument %s", name);
}

static void arg_float(struct setup *s, const char *name, float v) {
  arg(s, name, to_bits(v));
}

static void arg_name(struct setup *s, const char *name, const char *value) {
  for (int i = 0; i < s->insn.desc->nargs; i++) {
    if (strcmp(s->insn.desc->args[i].name, name))
      continue;
    for (int k = 0; s->insn.desc->args[i].names[k]; k++)
      if (!strcmp(s->insn.desc->args[i].names[k], value)) {
        s->insn.args[i] = k;
        return;
      }
  }
  fail_msg("no argument %s=%s", name, value);
}

static void shape(struct setup *s, int k, enum nsr_dtype d, uint32_t parts,
                  uint8_t ndims, uint32_t a, uint32_t b) {
  s->e[k].dtype = d;
  s->e[k].nparts = parts;
  s->e[k].ndims = ndims;
  s->e[k].dims[0] = a;
  s->e[k].dims[1] = b;
}

/* Small numbers with fractions, positive or of both signs. */
static void randomize(struct setup *s, int k, size_t n, bool positive,
                      uint64_t *rng) {
  for (size_t i = 0; i < n; i++) {
    float v = (float)(int)(next(rng) % 4096) / 64.0f + 0.25f;
    if (!positive && next(rng) & 1)
      v = -v;
    nsr_element_put(s->e[k].dtype,
                    s->in[k] + i * nsr_dtype_bytes(s->e[k].dtype), v);
  }
}

static float in(const struct setup *s, int k, size_t i) {
  return nsr_element_get(s->e[k].dtype,
                         s->in[k] + i * nsr_dtype_bytes(s->e[k].dtype));
}

static void want(struct setup *s, size_t i, float v) {
  nsr_element_put(s->e[0].dtype, s->want + i * nsr_dtype_bytes(s->e[0].dtype),
                  v);
}

static void run_and_compare(struct setup *s, size_t n) {
  assert_null(nsr_numeric(&s->insn, s->e, NULL, 0));
  assert_memory_equal(s->out, s->want, n * nsr_dtype_bytes(s->e[0].dtype));
}

static const char *const ops[] = {"none", "add", "sub", "mul",
                                  "div",  "max", "min"};

static float plain(const char *op, float a, float b) {
  if (!strcmp(op, "add"))
    return a + b;
  if (!strcmp(op, "sub"))
    return a - b;
  if (!strcmp(op, "mul"))
    return a * b;
  if (!strcmp(op, "div"))
    return a / b;
  if (!strcmp(op, "max"))
    return a > b ? a : b;
  if (!strcmp(op, "min"))
    return a < b ? a : b;
  return a;
}

static void tensor_tensor(void **state) {
  uint64_t *rng = *state;
  for (size_t d = 0; d < NDTYPES; d++)
    for (size_t from = 0; from < NDTYPES; from++)
      for (int op = 1; op < 7; op++) {
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
  uint64_t *rng = *state;
  for (size_t d = 0; d < NDTYPES; d++)
    for (int op0 = 0; op0 < 7; op0++)
      for (int op1 = 0; op1 < 7; op1++) {
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
  uint64_t *rng = *state;
  for (size_t d = 0; d < NDTYPES; d++)
    for (int op = 1; op < 7; op++) {
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
  uint64_t *rng = *state;
  for (size_t d = 0; d < NDTYPES; d++)
    for (int op = 1; op < 7; op++) {
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

static float plain_func(const char *func, float v) {
  if (!strcmp(func, "square"))
    return v * v;
  if (!strcmp(func, "sqrt"))
    return sqrtf(v);
  if (!strcmp(func, "rsqrt"))
    return 1.0f / sqrtf(v);
  if (!strcmp(func, "exp"))
    return expf(v);
  if (!strcmp(func, "relu"))
    return v > 0 ? v : 0;
  if (!strcmp(func, "recip"))
    return 1.0f / v;
  return v;
}

static void activation(void **state) {
  static const char *const funcs[] = {"identity", "square", "sqrt", "rsqrt",
                                      "exp",      "relu",   "recip"};
  uint64_t *rng = *state;
  for (size_t d = 0; d < NDTYPES; d++)
    for (size_t f = 0; f < 7; f++)
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
  uint64_t *rng = *state;
  static const char *const names[] = {"copy", "dma"};
  for (size_t k = 0; k < 2; k++)
    for (size_t d = 0; d < NDTYPES; d++) {
      static struct setup s;
      setup(&s, names[k]);
      shape(&s, 0, dtypes[d], 4, 2, 2, 5);
      shape(&s, 1, dtypes[d], 1, 1, 40, 0);
      size_t bytes = (size_t)40 * nsr_dtype_bytes(dtypes[d]);
      for (size_t i = 0; i < bytes; i++)
        s.want[i] = s.in[1][i] = (uint8_t)next(rng);
      run_and_compare(&s, 40);
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
        memset(s.want + i * nsr_dtype_bytes(t), 0xff, nsr_dtype_bytes(t));
      if (whole)
        s.want[i * nsr_dtype_bytes(t)] = (uint8_t)-77;
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
            s.want[at] = (uint8_t)v;
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
    assert_memory_equal(s.out, bytes, nsr_dtype_bytes(dtypes[d]));
    shape(&s, 0, dtypes[d], 1, 1, 2, 0);
    assert_non_null(nsr_numeric(&s.insn, s.e, NULL, 0));
  }
  static struct setup s;
  setup(&s, "nop");
  assert_null(nsr_numeric(&s.insn, s.e, NULL, 0));
  setup(&s, "ld");
  assert_null(nsr_numeric(&s.insn, s.e, NULL, 0));
  setup(&s, "halt");
  assert_non_null(nsr_numeric(&s.insn, s.e, NULL, 0));
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
  assert_non_null(nsr_numeric(&s.insn, s.e, NULL, 0));
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
    assert_null(nsr_numeric(&s.insn, s.e, NULL, 0));
  }
}

int main(void) {
  static uint64_t rng;
  rng = seed_of_run();
  print_message("seed %" PRIu64 " (NSR_SEED sets it)\n", rng);
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
      cmocka_unit_test(fill_and_iota),
      cmocka_unit_test(stores),
      cmocka_unit_test(shapes_that_do_not_fit),
      cmocka_unit_test(empty),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
