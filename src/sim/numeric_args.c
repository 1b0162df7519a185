/* numeric_args.c - arguments of an instruction by name, operations, patterns.
 *
 * Enumerated arguments are looked up by the names of the instruction's
 * description, so their numbers stay there.
 */
#include "sim/numeric_args.h"

#include <math.h>
#include <string.h>

/* ORDER enum nsr_alu. */
static const char *const alu_names[] = {"none", "add", "sub", "mul", "div",
                                        "max",  "min", "ge",  "eq"};

/* ---- arguments */

static int arg_index(const struct nsr_insn *insn, const char *name) {
  for (int i = 0; i < insn->desc->nargs; i++)
    if (!strcmp(insn->desc->args[i].name, name))
      return i;
  return -1;
}

int64_t nsr_arg_int(const struct nsr_insn *insn, const char *name) {
  int i = arg_index(insn, name);
  return i < 0 ? 0 : insn->args[i];
}

float nsr_arg_float(const struct nsr_insn *insn, const char *name,
                    float absent) {
  int i = arg_index(insn, name);
  if (i < 0)
    return absent;
  uint32_t bits = (uint32_t)insn->args[i];
  float v;
  memcpy(&v, &bits, sizeof v);
  return v;
}

int nsr_arg_enum(const struct nsr_insn *insn, const char *name,
                 const char *const *names, int n) {
  int i = arg_index(insn, name);
  if (i < 0 || insn->desc->args[i].kind != NSR_ARG_ENUM)
    return -1;
  const char *const *given = insn->desc->args[i].names;
  int64_t k = 0;
  while (given[k] && k < insn->args[i])
    k++;
  if (!given[k] || k != insn->args[i])
    return -1;
  for (int j = 0; j < n; j++)
    if (!strcmp(names[j], given[k]))
      return j;
  return -1;
}

int nsr_arg_alu(const struct nsr_insn *insn, const char *name) {
  return nsr_arg_enum(insn, name, alu_names, NSR_ALU_EQ + 1);
}

/* ---- operations */

/* A number beats NaN; of two equal ones (zeros) the second is taken. */
static float larger(float a, float b) { return isnan(b) || a > b ? a : b; }

static float smaller(float a, float b) { return isnan(b) || a < b ? a : b; }

float nsr_alu_apply(enum nsr_alu op, float a, float b) {
  switch (op) {
  case NSR_ALU_ADD:
    return a + b;
  case NSR_ALU_SUB:
    return a - b;
  case NSR_ALU_MUL:
    return a * b;
  case NSR_ALU_DIV:
    return a / b;
  case NSR_ALU_MAX:
    return larger(a, b);
  case NSR_ALU_MIN:
    return smaller(a, b);
  case NSR_ALU_GE:
    return a >= b ? 1.0f : 0.0f;
  case NSR_ALU_EQ:
    return a == b ? 1.0f : 0.0f;
  case NSR_ALU_NONE:
    break;
  }
  return a;
}

/* ---- patterns */

/* Wraps like the integers it is written to. */
static int64_t step(int64_t at, uint32_t i, int64_t by) {
  return (int64_t)((uint64_t)at + (uint64_t)i * (uint64_t)by);
}

static void ramp_value(struct nsr_ramp *r) {
  r->value = step(r->base, r->part, r->pmul);
  for (int d = 0; d < NSR_MAX_DIMS; d++)
    r->value = step(r->value, r->at[d], r->step[d]);
}

void nsr_ramp_first(struct nsr_ramp *r, const struct nsr_insn *insn,
                    const struct nsr_elements *e) {
  static const char *const names[NSR_MAX_DIMS] = {"step0", "step1", "step2"};
  *r = (struct nsr_ramp){.more = nsr_elements_total(e) > 0,
                         .nparts = e->nparts,
                         .n = {1, 1, 1},
                         .base = nsr_arg_int(insn, "base"),
                         .pmul = nsr_arg_int(insn, "pmul")};
  for (int d = 0; d < e->ndims; d++) {
    r->n[d] = e->dims[d];
    r->step[d] = nsr_arg_int(insn, names[d]);
  }
  ramp_value(r);
}

void nsr_ramp_next(struct nsr_ramp *r) {
  int d = NSR_MAX_DIMS - 1;
  while (d >= 0 && ++r->at[d] == r->n[d])
    r->at[d--] = 0;
  if (d < 0 && ++r->part == r->nparts)
    r->more = false;
  ramp_value(r);
}

/* ---- elements */

static bool is_float(enum nsr_dtype d) {
  return d == NSR_F32 || d == NSR_BF16 || d == NSR_F16 || d == NSR_FP8;
}

void nsr_put_int(struct nsr_elements *e, size_t i, int64_t v) {
  if (is_float(e->dtype)) {
    nsr_put(e, i, (float)v);
    return;
  }
  uint32_t low = (uint32_t)(uint64_t)v;
  int32_t s;
  memcpy(&s, &low, sizeof s);
  nsr_element_put_bits(e->dtype, nsr_out(e, i), s);
}
