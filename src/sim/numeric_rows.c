/* numeric_rows.c - what works along rows: activations and their sums,
 * reductions, scans, the largest of a row.
 */
#include "sim/numeric_args.h"

#include <math.h>

enum func { F_IDENTITY, F_SQUARE, F_SQRT, F_RSQRT, F_EXP, F_RELU, F_RECIP };
static const char *const func_names[] = {"identity", "square", "sqrt", "rsqrt",
                                         "exp",      "relu",   "recip"};

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
  case F_IDENTITY:
    break;
  }
  return v;
}

static bool one_each(const struct nsr_elements *e,
                     const struct nsr_elements *of) {
  return e->nparts == of->nparts && nsr_per_partition(e) == 1;
}

static bool has_bias(enum nsr_sem sem) {
  return sem == NSR_SEM_ACTIVATION_ROWBIAS ||
         sem == NSR_SEM_ACTIVATION_ROWBIAS_SUM;
}

static bool has_sum(enum nsr_sem sem) {
  return sem == NSR_SEM_ACTIVATION_SUM || sem == NSR_SEM_ACTIVATION_ROWBIAS_SUM;
}

/* The sum is of the f32 results, in the order of the elements. */
const char *nsr_num_activation(const struct nsr_insn *insn,
                               struct nsr_elements *o) {
  enum nsr_sem sem = insn->desc->sem;
  int func = nsr_arg_enum(insn, "func", func_names, F_RECIP + 1);
  struct nsr_elements *sums = has_sum(sem) ? &o[1] : NULL;
  const struct nsr_elements *src = sums ? &o[2] : &o[1];
  const struct nsr_elements *biases = has_bias(sem) ? src + 1 : NULL;
  if (func < 0)
    return "unknown function";
  if (!nsr_same_shape(&o[0], src))
    return "source and destination have different shapes";
  if ((sums && !one_each(sums, src)) || (biases && !one_each(biases, src)))
    return "sums and biases need one element per partition";
  float scale = nsr_arg_float(insn, "scale", 1);
  float bias = nsr_arg_float(insn, "bias", 0);
  size_t n = nsr_per_partition(src), i = 0;
  for (size_t p = 0; p < src->nparts; p++) {
    float sum = 0.0f;
    if (biases)
      bias = nsr_get(biases, p);
    for (size_t j = 0; j < n; j++, i++) {
      float v = nsr_get(src, i) * scale;
      v += bias;
      v = func_apply((enum func)func, v);
      nsr_put(&o[0], i, v);
      sum += v;
    }
    if (sums)
      nsr_put(sums, p, sum);
  }
  return NULL;
}

/* From left to right, starting with the first element. */
const char *nsr_num_reduce(const struct nsr_insn *insn,
                           struct nsr_elements *o) {
  int op = nsr_arg_alu(insn, "op");
  if (op <= NSR_ALU_NONE)
    return "unknown operation";
  size_t inner = o[1].ndims ? o[1].dims[o[1].ndims - 1] : 1;
  if (o[0].nparts != o[1].nparts ||
      nsr_per_partition(&o[0]) * inner != nsr_per_partition(&o[1]))
    return "destination is not the source without its innermost dimension";
  size_t n = nsr_elements_total(&o[0]);
  if (!inner && n)
    return "nothing to reduce: the innermost dimension is empty";
  for (size_t i = 0; i < n; i++) {
    float v = nsr_get(&o[1], i * inner);
    for (size_t j = 1; j < inner; j++)
      v = nsr_alu_apply((enum nsr_alu)op, v, nsr_get(&o[1], i * inner + j));
    nsr_put(&o[0], i, v);
  }
  return NULL;
}

/* Along the innermost dimension of dst, anew in every row of it; what is
 * carried on is f32. */
const char *nsr_num_scan(const struct nsr_insn *insn, struct nsr_elements *o) {
  int op0 = nsr_arg_alu(insn, "op0"), op1 = nsr_arg_alu(insn, "op1");
  if (op0 <= NSR_ALU_NONE || op1 <= NSR_ALU_NONE)
    return "unknown operation";
  if (!nsr_same_shape(&o[0], &o[1]) || !nsr_same_shape(&o[0], &o[2]))
    return "destination and operands have different shapes";
  if (!one_each(&o[3], &o[0]))
    return "the start needs one element per partition";
  size_t inner = o[0].ndims ? o[0].dims[o[0].ndims - 1] : 1;
  size_t n = nsr_per_partition(&o[0]);
  float v = 0.0f;
  for (size_t i = 0; i < n * o[0].nparts; i++) {
    if (i % inner == 0)
      v = nsr_get(&o[3], i / n);
    v = nsr_alu_apply((enum nsr_alu)op0, v, nsr_get(&o[1], i));
    v = nsr_alu_apply((enum nsr_alu)op1, v, nsr_get(&o[2], i));
    nsr_put(&o[0], i, v);
  }
  return NULL;
}

enum { LARGEST = 8 };

/* Inserts v into n falling values; NaN counts as the smallest. */
static int insert(float *top, int n, float v) {
  int at = n;
  while (at > 0 && (v > top[at - 1] || (isnan(top[at - 1]) && !isnan(v))))
    at--;
  if (n < LARGEST)
    n++;
  for (int i = n - 1; i > at; i--)
    top[i] = top[i - 1];
  if (at < LARGEST)
    top[at] = v;
  return n;
}

const char *nsr_num_max8(struct nsr_elements *o) {
  size_t n = nsr_per_partition(&o[1]);
  if (o[0].nparts != o[1].nparts || nsr_per_partition(&o[0]) != LARGEST)
    return "the destination needs 8 elements per partition";
  if (n < LARGEST)
    return "the source has fewer than 8 elements per partition";
  for (size_t p = 0; p < o[1].nparts; p++) {
    float top[LARGEST];
    int have = 0;
    for (size_t i = 0; i < n; i++)
      have = insert(top, have, nsr_get(&o[1], p * n + i));
    for (size_t i = 0; i < LARGEST; i++)
      nsr_put(&o[0], p * LARGEST + i, top[i]);
  }
  return NULL;
}
