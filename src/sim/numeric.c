/* numeric.c - what datapath instructions compute, on packed elements.
 *
 * Needs: an instruction that decoded, its operands' elements gathered. Makes:
 * the bytes of its writing operands. Enumerated arguments are looked up by
 * the names of the instruction's description, so their numbers stay there.
 * Every step is one f32 operation, never fused, so that plain C with the same
 * steps gives the same bits.
 */
#include <math.h>
#include <string.h>

#include "sim/numeric.h"

enum alu { ALU_NONE, ALU_ADD, ALU_SUB, ALU_MUL, ALU_DIV, ALU_MAX, ALU_MIN };
static const char *const alu_names[] = {"none", "add", "sub", "mul",
                                        "div",  "max", "min"};

enum func { F_IDENTITY, F_SQUARE, F_SQRT, F_RSQRT, F_EXP, F_RELU, F_RECIP };
static const char *const func_names[] = {"identity", "square", "sqrt", "rsqrt",
                                         "exp",      "relu",   "recip"};

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* A number beats NaN; of two equal ones (zeros) the second is taken. */
static float larger(float a, float b) { return isnan(b) || a > b ? a : b; }

static float smaller(float a, float b) { return isnan(b) || a < b ? a : b; }

static float alu_apply(enum alu op, float a, float b) {
  switch (op) {
  case ALU_ADD:
    return a + b;
  case ALU_SUB:
    return a - b;
  case ALU_MUL:
    return a * b;
  case ALU_DIV:
    return a / b;
  case ALU_MAX:
    return larger(a, b);
  case ALU_MIN:
    return smaller(a, b);
  default:
    return a;
  }
}

static float func_apply(enum func func, float v) {
  switch (func) {
  case F_SQUARE:
    return v * v;
  case F_SQRT:
    return sqrtf(v);
  case F_RSQRT:
    return 1.0f / sqrtf(v);
  case F_EXP:
    return expf(v);
  case F_RELU:
    return v > 0.0f ? v : 0.0f;
  case F_RECIP:
    return 1.0f / v;
  default:
    return v;
  }
}

/* ---- arguments and shapes */

static int arg_index(const struct nsr_insn *insn, const char *name) {
  for (int i = 0; i < insn->desc->nargs; i++)
    if (!strcmp(insn->desc->args[i].name, name))
      return i;
  return -1;
}

/* An integer argument, 0 where the instruction has none of that name. */
static int64_t arg_int(const struct nsr_insn *insn, const char *name) {
  int i = arg_index(insn, name);
  return i < 0 ? 0 : insn->args[i];
}

static float arg_float(const struct nsr_insn *insn, const char *name,
                       float absent) {
  int i = arg_index(insn, name);
  if (i < 0)
    return absent;
  uint32_t bits = (uint32_t)insn->args[i];
  float v;
  memcpy(&v, &bits, sizeof v);
  return v;
}

/* Which of names an enumerated argument holds, -1: none of them. */
static int arg_enum(const struct nsr_insn *insn, const char *name,
                    const char *const *names, size_t n) {
  int i = arg_index(insn, name);
  if (i < 0 || insn->desc->args[i].kind != NSR_ARG_ENUM)
    return -1;
  const char *const *given = insn->desc->args[i].names;
  int64_t k = 0;
  while (given[k] && k < insn->args[i])
    k++;
  if (!given[k] || k != insn->args[i])
    return -1;
  for (size_t j = 0; j < n; j++)
    if (!strcmp(names[j], given[k]))
      return (int)j;
  return -1;
}

static size_t per_partition(const struct nsr_elements *e) {
  size_t n = 1;
  for (int d = 0; d < e->ndims; d++)
    n *= e->dims[d];
  return n;
}

static size_t total(const struct nsr_elements *e) {
  return per_partition(e) * e->nparts;
}

static bool same_shape(const struct nsr_elements *a,
                       const struct nsr_elements *b) {
  return a->nparts == b->nparts && per_partition(a) == per_partition(b);
}

static float get(const struct nsr_elements *e, size_t i) {
  return nsr_element_get(e->dtype, e->in + i * nsr_dtype_bytes(e->dtype));
}

static void put(struct nsr_elements *e, size_t i, float v) {
  nsr_element_put(e->dtype, e->out + i * nsr_dtype_bytes(e->dtype), v);
}

static bool is_float(enum nsr_dtype d) {
  return d == NSR_F32 || d == NSR_BF16 || d == NSR_F16 || d == NSR_FP8;
}

/* An integer into any dtype: floats round it, integers keep its low bits. */
static void put_int(struct nsr_elements *e, size_t i, int64_t v) {
  uint8_t *p = e->out + i * nsr_dtype_bytes(e->dtype);
  if (is_float(e->dtype)) {
    nsr_element_put(e->dtype, p, (float)v);
    return;
  }
  uint32_t low = (uint32_t)(uint64_t)v;
  int32_t s;
  memcpy(&s, &low, sizeof s);
  nsr_element_put_bits(e->dtype, p, s);
}

/* ---- one function per meaning */

static const char *copy(struct nsr_elements *o) {
  if (o[0].dtype != o[1].dtype)
    return "a copy keeps the dtype, but source and destination differ";
  if (total(&o[0]) != total(&o[1]))
    return "source and destination have different numbers of elements";
  size_t bytes = total(&o[0]) * nsr_dtype_bytes(o[0].dtype);
  if (bytes)
    memcpy(o[0].out, o[1].in, bytes);
  return NULL;
}

static const char *fill(const struct nsr_insn *insn, struct nsr_elements *o) {
  int64_t value = arg_int(insn, "value");
  for (size_t i = 0, n = total(o); i < n; i++)
    put_int(o, i, value);
  return NULL;
}

/* Wraps like the integers it is written to. */
static int64_t step(int64_t at, uint32_t i, int64_t by) {
  return (int64_t)((uint64_t)at + (uint64_t)i * (uint64_t)by);
}

static const char *iota(const struct nsr_insn *insn, struct nsr_elements *o) {
  static const char *const names[NSR_MAX_DIMS] = {"step0", "step1", "step2"};
  uint32_t n[NSR_MAX_DIMS] = {1, 1, 1};
  int64_t by[NSR_MAX_DIMS] = {0};
  for (int d = 0; d < o->ndims; d++) {
    n[d] = o->dims[d];
    by[d] = arg_int(insn, names[d]);
  }
  int64_t base = arg_int(insn, "base"), pmul = arg_int(insn, "pmul");
  size_t at = 0;
  for (uint32_t p = 0; p < o->nparts; p++)
    for (uint32_t i = 0; i < n[0]; i++)
      for (uint32_t j = 0; j < n[1]; j++)
        for (uint32_t k = 0; k < n[2]; k++)
          put_int(o, at++,
                  step(step(step(step(base, p, pmul), i, by[0]), j, by[1]), k,
                       by[2]));
  return NULL;
}

static const char *store(struct nsr_elements *o, int32_t value) {
  if (total(o) != 1)
    return "a register is stored into exactly one element";
  nsr_element_put_bits(o->dtype, o->out, value);
  return NULL;
}

static const char *tensor_tensor(const struct nsr_insn *insn,
                                 struct nsr_elements *o) {
  int op = arg_enum(insn, "op", alu_names, COUNT(alu_names));
  if (op <= ALU_NONE)
    return "unknown operation";
  if (!same_shape(&o[0], &o[1]) || !same_shape(&o[0], &o[2]))
    return "destination and operands have different shapes";
  for (size_t i = 0, n = total(o); i < n; i++)
    put(&o[0], i, alu_apply((enum alu)op, get(&o[1], i), get(&o[2], i)));
  return NULL;
}

static const char *tensor_scalar(const struct nsr_insn *insn,
                                 struct nsr_elements *o) {
  int op0 = arg_enum(insn, "op0", alu_names, COUNT(alu_names));
  int op1 = arg_enum(insn, "op1", alu_names, COUNT(alu_names));
  if (op0 < 0 || op1 < 0)
    return "unknown operation";
  if (!same_shape(&o[0], &o[1]))
    return "source and destination have different shapes";
  float imm0 = arg_float(insn, "imm0", 0), imm1 = arg_float(insn, "imm1", 0);
  for (size_t i = 0, n = total(o); i < n; i++) {
    float v = alu_apply((enum alu)op0, get(&o[1], i), imm0);
    put(&o[0], i, alu_apply((enum alu)op1, v, imm1));
  }
  return NULL;
}

static const char *tensor_rowscalar(const struct nsr_insn *insn,
                                    struct nsr_elements *o) {
  int op = arg_enum(insn, "op", alu_names, COUNT(alu_names));
  if (op <= ALU_NONE)
    return "unknown operation";
  if (!same_shape(&o[0], &o[1]))
    return "source and destination have different shapes";
  if (o[2].nparts != o[0].nparts || per_partition(&o[2]) != 1)
    return "the scalar needs one element per partition";
  size_t row = per_partition(o);
  for (size_t p = 0, i = 0; p < o->nparts; p++) {
    float s = get(&o[2], p);
    for (size_t j = 0; j < row; j++, i++)
      put(&o[0], i, alu_apply((enum alu)op, get(&o[1], i), s));
  }
  return NULL;
}

/* From left to right, starting with the first element. */
static const char *tensor_reduce(const struct nsr_insn *insn,
                                 struct nsr_elements *o) {
  int op = arg_enum(insn, "op", alu_names, COUNT(alu_names));
  if (op <= ALU_NONE)
    return "unknown operation";
  size_t inner = o[1].ndims ? o[1].dims[o[1].ndims - 1] : 1;
  if (o[0].nparts != o[1].nparts ||
      per_partition(&o[0]) * inner != per_partition(&o[1]))
    return "destination is not the source without its innermost dimension";
  if (!inner && total(o))
    return "nothing to reduce: the innermost dimension is empty";
  for (size_t i = 0, n = total(o); i < n; i++) {
    float v = get(&o[1], i * inner);
    for (size_t j = 1; j < inner; j++)
      v = alu_apply((enum alu)op, v, get(&o[1], i * inner + j));
    put(&o[0], i, v);
  }
  return NULL;
}

static const char *activation(const struct nsr_insn *insn,
                              struct nsr_elements *o) {
  int func = arg_enum(insn, "func", func_names, COUNT(func_names));
  if (func < 0)
    return "unknown function";
  if (!same_shape(&o[0], &o[1]))
    return "source and destination have different shapes";
  float scale = arg_float(insn, "scale", 1), bias = arg_float(insn, "bias", 0);
  for (size_t i = 0, n = total(o); i < n; i++) {
    float v = get(&o[1], i) * scale;
    v += bias;
    put(&o[0], i, func_apply((enum func)func, v));
  }
  return NULL;
}

/* How many operands a meaning works on; descriptions may carry more. */
static int operands_needed(enum nsr_sem sem) {
  switch (sem) {
  case NSR_SEM_FILL:
  case NSR_SEM_IOTA:
  case NSR_SEM_STORE:
    return 1;
  case NSR_SEM_COPY:
  case NSR_SEM_TENSOR_SCALAR:
  case NSR_SEM_TENSOR_REDUCE:
  case NSR_SEM_ACTIVATION:
    return 2;
  case NSR_SEM_TENSOR_TENSOR:
  case NSR_SEM_TENSOR_ROWSCALAR:
    return 3;
  default:
    return 0;
  }
}

static bool accumulates(const struct nsr_insn *insn) {
  for (int i = 0; i < insn->noperands; i++)
    if (insn->operands[i].acc)
      return true;
  return false;
}

const char *nsr_numeric(const struct nsr_insn *insn,
                        struct nsr_elements *operands, int32_t value) {
  if (insn->noperands < operands_needed(insn->desc->sem))
    return "an operand is missing";
  if (accumulates(insn))
    return "accumulation has no meaning in this instruction";
  switch (insn->desc->sem) {
  case NSR_SEM_NOP:
  case NSR_SEM_LOAD: /* the register is the caller's: nsr_element_bits */
    return NULL;
  case NSR_SEM_COPY:
    return copy(operands);
  case NSR_SEM_FILL:
    return fill(insn, operands);
  case NSR_SEM_IOTA:
    return iota(insn, operands);
  case NSR_SEM_STORE:
    return store(operands, value);
  case NSR_SEM_TENSOR_TENSOR:
    return tensor_tensor(insn, operands);
  case NSR_SEM_TENSOR_SCALAR:
    return tensor_scalar(insn, operands);
  case NSR_SEM_TENSOR_ROWSCALAR:
    return tensor_rowscalar(insn, operands);
  case NSR_SEM_TENSOR_REDUCE:
    return tensor_reduce(insn, operands);
  case NSR_SEM_ACTIVATION:
    return activation(insn, operands);
  case NSR_SEM_NONE:
    break;
  }
  return "no numeric meaning";
}
