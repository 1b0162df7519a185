/* numeric.c - what datapath instructions compute, on packed elements.
 *
 * Needs: an instruction that decoded, its operands' elements gathered. Makes:
 * the bytes of its writing operands. Here are the meanings that treat all
 * elements alike, and which function does what.
 *
 * Every step is one f32 operation, never fused, so that plain C with the same
 * steps gives the same bits.
 */
#include "sim/numeric_args.h"

#include <string.h>

/* ---- one function per meaning */

static const char *copy(struct nsr_elements *o) {
  if (o[0].dtype != o[1].dtype)
    return "a copy keeps the dtype, but source and destination differ";
  if (nsr_elements_total(&o[0]) != nsr_elements_total(&o[1]))
    return "source and destination have different numbers of elements";
  size_t bytes = nsr_elements_total(&o[0]) * nsr_dtype_bytes(o[0].dtype);
  if (bytes)
    memcpy(o[0].out, o[1].in, bytes);
  return NULL;
}

static const char *fill(const struct nsr_insn *insn, struct nsr_elements *o) {
  int64_t value = nsr_arg_int(insn, "value");
  for (size_t i = 0, n = nsr_elements_total(o); i < n; i++)
    nsr_put_int(o, i, value);
  return NULL;
}

static const char *iota(const struct nsr_insn *insn, struct nsr_elements *o) {
  struct nsr_ramp r;
  size_t i = 0;
  for (nsr_ramp_first(&r, insn, o); r.more; nsr_ramp_next(&r))
    nsr_put_int(o, i++, r.value);
  return NULL;
}

static const char *store(struct nsr_elements *o, int32_t value) {
  if (nsr_elements_total(o) != 1)
    return "a register is stored into exactly one element";
  nsr_element_put_bits(o->dtype, o->out, value);
  return NULL;
}

static const char *tensor_tensor(const struct nsr_insn *insn,
                                 struct nsr_elements *o) {
  int op = nsr_arg_alu(insn, "op");
  if (op <= NSR_ALU_NONE)
    return "unknown operation";
  if (!nsr_same_shape(&o[0], &o[1]) || !nsr_same_shape(&o[0], &o[2]))
    return "destination and operands have different shapes";
  for (size_t i = 0, n = nsr_elements_total(o); i < n; i++)
    nsr_put(
        &o[0], i,
        nsr_alu_apply((enum nsr_alu)op, nsr_get(&o[1], i), nsr_get(&o[2], i)));
  return NULL;
}

static const char *tensor_scalar(const struct nsr_insn *insn,
                                 struct nsr_elements *o) {
  int op0 = nsr_arg_alu(insn, "op0");
  int op1 = nsr_arg_alu(insn, "op1");
  if (op0 < 0 || op1 < 0)
    return "unknown operation";
  if (!nsr_same_shape(&o[0], &o[1]))
    return "source and destination have different shapes";
  float imm0 = nsr_arg_float(insn, "imm0", 0);
  float imm1 = nsr_arg_float(insn, "imm1", 0);
  for (size_t i = 0, n = nsr_elements_total(o); i < n; i++) {
    float v = nsr_alu_apply((enum nsr_alu)op0, nsr_get(&o[1], i), imm0);
    nsr_put(&o[0], i, nsr_alu_apply((enum nsr_alu)op1, v, imm1));
  }
  return NULL;
}

static const char *tensor_rowscalar(const struct nsr_insn *insn,
                                    struct nsr_elements *o) {
  int op = nsr_arg_alu(insn, "op");
  if (op <= NSR_ALU_NONE)
    return "unknown operation";
  if (!nsr_same_shape(&o[0], &o[1]))
    return "source and destination have different shapes";
  if (o[2].nparts != o[0].nparts || nsr_per_partition(&o[2]) != 1)
    return "the scalar needs one element per partition";
  size_t row = nsr_per_partition(o);
  for (size_t p = 0, i = 0; p < o->nparts; p++) {
    float s = nsr_get(&o[2], p);
    for (size_t j = 0; j < row; j++, i++)
      nsr_put(&o[0], i, nsr_alu_apply((enum nsr_alu)op, nsr_get(&o[1], i), s));
  }
  return NULL;
}

/* A conversion; elements in order, shapes may differ. */
static const char *cast(struct nsr_elements *o) {
  size_t n = nsr_elements_total(&o[0]);
  if (n != nsr_elements_total(&o[1]))
    return "source and destination have different numbers of elements";
  for (size_t i = 0; i < n; i++)
    nsr_move(&o[0], i, &o[1], i);
  return NULL;
}

static const char *accumulate(const struct nsr_insn *insn,
                              struct nsr_elements *o) {
  int op = nsr_arg_alu(insn, "op");
  size_t n = nsr_elements_total(&o[0]);
  if (op <= NSR_ALU_NONE)
    return "unknown operation";
  if (n != nsr_elements_total(&o[1]))
    return "source and destination have different numbers of elements";
  for (size_t i = 0; i < n; i++)
    nsr_put(
        &o[0], i,
        nsr_alu_apply((enum nsr_alu)op, nsr_get(&o[0], i), nsr_get(&o[1], i)));
  return NULL;
}

/* How many operands a meaning works on; descriptions may carry more. */
static int operands_needed(enum nsr_sem sem) {
  switch (sem) {
  case NSR_SEM_NONE:
  case NSR_SEM_NOP:
  case NSR_SEM_LOAD:
    return 0;
  case NSR_SEM_FILL:
  case NSR_SEM_IOTA:
  case NSR_SEM_STORE:
  case NSR_SEM_LOAD_STATIONARY:
    return 1;
  case NSR_SEM_COPY:
  case NSR_SEM_TENSOR_SCALAR:
  case NSR_SEM_TENSOR_REDUCE:
  case NSR_SEM_ACTIVATION:
  case NSR_SEM_CAST:
  case NSR_SEM_FILL_PREDICATED:
  case NSR_SEM_AFFINE_SELECT:
  case NSR_SEM_MAX8:
  case NSR_SEM_ACCUMULATE:
  case NSR_SEM_MATMUL:
  case NSR_SEM_TRANSPOSE:
    return 2;
  case NSR_SEM_SELECT:
  case NSR_SEM_SCAN:
  case NSR_SEM_ACTIVATION_ROWBIAS_SUM:
    return 4;
  default:
    return 3;
  }
}

/* Roles and elements agree, and nothing accumulates that cannot. */
static const char *check_operands(const struct nsr_insn *insn,
                                  const struct nsr_elements *o) {
  enum nsr_sem sem = insn->desc->sem;
  if (insn->noperands < operands_needed(sem))
    return "an operand is missing";
  for (int i = 0; i < insn->noperands; i++) {
    enum nsr_role role = (enum nsr_role)insn->operands[i].role;
    if (insn->operands[i].acc && sem != NSR_SEM_MATMUL)
      return "accumulation has no meaning in this instruction";
    if (nsr_role_may(role) && nsr_role_writes(role) && !o[i].mask &&
        nsr_elements_total(&o[i]))
      return "an operand that is written in part needs a mask";
  }
  return NULL;
}

static const char *compute(const struct nsr_insn *insn, struct nsr_elements *o,
                           const struct nsr_elements *state, int32_t value) {
  switch (insn->desc->sem) {
  case NSR_SEM_NOP:
  case NSR_SEM_LOAD: /* the register is the caller's: nsr_element_bits */
    return NULL;
  case NSR_SEM_COPY:
    return copy(o);
  case NSR_SEM_FILL:
    return fill(insn, o);
  case NSR_SEM_IOTA:
    return iota(insn, o);
  case NSR_SEM_STORE:
    return store(o, value);
  case NSR_SEM_TENSOR_TENSOR:
    return tensor_tensor(insn, o);
  case NSR_SEM_TENSOR_SCALAR:
    return tensor_scalar(insn, o);
  case NSR_SEM_TENSOR_ROWSCALAR:
    return tensor_rowscalar(insn, o);
  case NSR_SEM_TENSOR_REDUCE:
    return nsr_num_reduce(insn, o);
  case NSR_SEM_ACTIVATION:
  case NSR_SEM_ACTIVATION_ROWBIAS:
  case NSR_SEM_ACTIVATION_SUM:
  case NSR_SEM_ACTIVATION_ROWBIAS_SUM:
    return nsr_num_activation(insn, o);
  case NSR_SEM_CAST:
    return cast(o);
  case NSR_SEM_COPY_PREDICATED:
    return nsr_num_copy_predicated(o);
  case NSR_SEM_FILL_PREDICATED:
    return nsr_num_fill_predicated(insn, o);
  case NSR_SEM_SELECT:
    return nsr_num_select(o);
  case NSR_SEM_SCAN:
    return nsr_num_scan(insn, o);
  case NSR_SEM_AFFINE_SELECT:
    return nsr_num_affine_select(insn, o);
  case NSR_SEM_MAX8:
    return nsr_num_max8(o);
  case NSR_SEM_GATHER:
    return nsr_num_gather(o);
  case NSR_SEM_ACCUMULATE:
    return accumulate(insn, o);
  case NSR_SEM_GATHER_ROWS:
    return nsr_num_gather_rows(o);
  case NSR_SEM_SCATTER_ROWS:
    return nsr_num_scatter_rows(o);
  case NSR_SEM_SCATTER_ACCUMULATE:
    return nsr_num_scatter_accumulate(insn, o);
  case NSR_SEM_LOAD_STATIONARY:
    return nsr_num_load_stationary(o);
  case NSR_SEM_MATMUL:
    return nsr_num_matmul(insn, o, state);
  case NSR_SEM_TRANSPOSE:
    return nsr_num_transpose(o);
  case NSR_SEM_NONE:
    break;
  }
  return "no numeric meaning";
}

const char *nsr_numeric(const struct nsr_insn *insn,
                        struct nsr_elements *operands,
                        const struct nsr_elements *state, int32_t value) {
  const char *why = check_operands(insn, operands);
  return why ? why : compute(insn, operands, state, value);
}
