/* numeric_setup.h - one instruction in numeric mode: its operands' elements,
 * what it makes of them, and what plain C makes of them. */
#ifndef NSR_TESTS_NUMERIC_SETUP_H
#define NSR_TESTS_NUMERIC_SETUP_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "prng.h"
#include "sim/numeric.h"

enum { MAX_ELEMENTS = 1024 };

static const enum nsr_dtype dtypes[] = {NSR_F32, NSR_BF16, NSR_F16, NSR_FP8,
                                        NSR_I32, NSR_I16,  NSR_I8,  NSR_U8};
#define NDTYPES (sizeof dtypes / sizeof *dtypes)

static const char *const ops[] = {"none", "add", "sub", "mul", "div",
                                  "max",  "min", "ge",  "eq"};
#define NOPS (sizeof ops / sizeof *ops)

static inline float from_bits(uint32_t b) {
  float v;
  memcpy(&v, &b, sizeof v);
  return v;
}

static inline uint32_t to_bits(float v) {
  uint32_t b;
  memcpy(&b, &v, sizeof b);
  return b;
}

/* Operand 0 is written; another one too where written() says so. */
struct setup {
  struct nsr_insn insn;
  struct nsr_elements e[NSR_MAX_OPERANDS];
  struct nsr_elements state; /* of the engine */
  uint8_t in[NSR_MAX_OPERANDS][MAX_ELEMENTS * 4];
  uint8_t out[NSR_MAX_OPERANDS][MAX_ELEMENTS * 4];
  uint8_t want[NSR_MAX_OPERANDS][MAX_ELEMENTS * 4];
  uint8_t mask[MAX_ELEMENTS], want_mask[MAX_ELEMENTS];
};

static inline void setup(struct setup *s, const char *mnemonic) {
  const struct nsr_isa *isa = nsr_isa_by_name("tile64");
  assert_non_null(isa);
  const struct nsr_insn_desc *desc =
      nsr_isa_mnemonic(isa, mnemonic, strlen(mnemonic));
  assert_non_null(desc);
  memset(s, 0, sizeof *s);
  nsr_insn_init(desc, &s->insn);
  for (int i = 0; i < desc->noperands; i++) {
    enum nsr_role role = desc->operands[i].role;
    if (nsr_role_reads(role))
      s->e[i].in = s->in[i];
    if (nsr_role_writes(role))
      s->e[i].out = s->out[i];
    if (nsr_role_writes(role) && nsr_role_may(role))
      s->e[i].mask = s->mask;
  }
}

static inline void arg(struct setup *s, const char *name, int64_t value) {
  for (int i = 0; i < s->insn.desc->nargs; i++)
    if (!strcmp(s->insn.desc->args[i].name, name)) {
      s->insn.args[i] = value;
      return;
    }
  fail_msg("no argument %s", name);
}

static inline void arg_float(struct setup *s, const char *name, float v) {
  arg(s, name, to_bits(v));
}

static inline void arg_name(struct setup *s, const char *name,
                            const char *value) {
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

static inline void shape(struct setup *s, int k, enum nsr_dtype d,
                         uint32_t parts, uint8_t ndims, uint32_t a,
                         uint32_t b) {
  s->e[k].dtype = d;
  s->e[k].nparts = parts;
  s->e[k].ndims = ndims;
  s->e[k].dims[0] = a;
  s->e[k].dims[1] = b;
}

static inline void set_in(struct setup *s, int k, size_t i, float v) {
  nsr_element_put(s->e[k].dtype, s->in[k] + i * nsr_dtype_bytes(s->e[k].dtype),
                  v);
}

static inline void set_index(struct setup *s, int k, size_t i, int32_t v) {
  nsr_element_put_bits(s->e[k].dtype,
                       s->in[k] + i * nsr_dtype_bytes(s->e[k].dtype), v);
}

/* Small numbers with fractions, positive or of both signs. */
static inline void randomize(struct setup *s, int k, size_t n, bool positive,
                             struct prng *rng) {
  for (size_t i = 0; i < n; i++) {
    float v = (float)prng_in(rng, 0, 4095) / 64.0f + 0.25f;
    set_in(s, k, i, !positive && prng_in(rng, 0, 1) ? -v : v);
  }
}

/* About half of them 0. */
static inline void predicate(struct setup *s, int k, size_t n,
                             struct prng *rng) {
  for (size_t i = 0; i < n; i++)
    set_in(s, k, i, prng_in(rng, 0, 1) ? (float)prng_in(rng, 1, 5) : 0.0f);
}

static inline float in(const struct setup *s, int k, size_t i) {
  return nsr_element_get(s->e[k].dtype,
                         s->in[k] + i * nsr_dtype_bytes(s->e[k].dtype));
}

static inline void want_of(struct setup *s, int k, size_t i, float v) {
  nsr_element_put(s->e[k].dtype,
                  s->want[k] + i * nsr_dtype_bytes(s->e[k].dtype), v);
}

static inline void want(struct setup *s, size_t i, float v) {
  want_of(s, 0, i, v);
}

/* Element i of operand 0 is element j of operand k: its bytes where dtypes
 * agree. */
static inline void want_moved(struct setup *s, size_t i, int k, size_t j) {
  size_t n = nsr_dtype_bytes(s->e[0].dtype);
  if (s->e[0].dtype == s->e[k].dtype)
    memcpy(s->want[0] + i * n, s->in[k] + j * n, n);
  else
    want(s, i, in(s, k, j));
}

static inline void compare(const struct setup *s, int k, size_t n) {
  assert_memory_equal(s->out[k], s->want[k],
                      n * nsr_dtype_bytes(s->e[k].dtype));
}

static inline const char *run(struct setup *s) {
  return nsr_numeric(&s->insn, s->e, &s->state, 0);
}

static inline void run_and_compare(struct setup *s, size_t n) {
  assert_null(run(s));
  compare(s, 0, n);
}

/* The marked elements are the wanted ones, and right. */
static inline void run_and_compare_marked(struct setup *s, size_t n) {
  size_t size = nsr_dtype_bytes(s->e[0].dtype);
  assert_null(run(s));
  assert_memory_equal(s->mask, s->want_mask, n);
  for (size_t i = 0; i < n; i++)
    if (s->mask[i])
      assert_memory_equal(s->out[0] + i * size, s->want[0] + i * size, size);
}

static inline float plain(const char *op, float a, float b) {
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
  if (!strcmp(op, "ge"))
    return a >= b;
  if (!strcmp(op, "eq"))
    return a == b;
  return a;
}

static const char *const funcs[] = {"identity", "square", "sqrt", "rsqrt",
                                    "exp",      "relu",   "recip"};
#define NFUNCS (sizeof funcs / sizeof *funcs)

static inline float plain_func(const char *func, float v) {
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

#endif
