/* numeric_args.h - what the meanings of numeric mode share: arguments by
 * name, operations, elements of operands. For numeric*.c only.
 */
#ifndef NSR_SIM_NUMERIC_ARGS_H
#define NSR_SIM_NUMERIC_ARGS_H

#include "sim/numeric.h"

enum nsr_alu {
  NSR_ALU_NONE,
  NSR_ALU_ADD,
  NSR_ALU_SUB,
  NSR_ALU_MUL,
  NSR_ALU_DIV,
  NSR_ALU_MAX,
  NSR_ALU_MIN,
  NSR_ALU_GE,
  NSR_ALU_EQ
};

/* An argument by its name; where the instruction has none of that name, 0 or
 * `absent`. */
int64_t nsr_arg_int(const struct nsr_insn *insn, const char *name);
float nsr_arg_float(const struct nsr_insn *insn, const char *name,
                    float absent);
/* Which of n names an enumerated argument holds, -1: none of them. */
int nsr_arg_enum(const struct nsr_insn *insn, const char *name,
                 const char *const *names, int n);
/* enum nsr_alu, -1: none of these. */
int nsr_arg_alu(const struct nsr_insn *insn, const char *name);

/* One f32 operation; comparisons give 1 or 0. */
float nsr_alu_apply(enum nsr_alu op, float a, float b);

/* base + partition * pmul + i * step0 + .. over the elements of an operand:
 * for (nsr_ramp_first(&r, insn, e); r.more; nsr_ramp_next(&r)) r.value */
struct nsr_ramp {
  int64_t value;
  bool more;
  uint32_t nparts, part;
  uint32_t n[NSR_MAX_DIMS], at[NSR_MAX_DIMS];
  int64_t base, pmul, step[NSR_MAX_DIMS];
};
void nsr_ramp_first(struct nsr_ramp *r, const struct nsr_insn *insn,
                    const struct nsr_elements *e);
void nsr_ramp_next(struct nsr_ramp *r);

/* ---- elements */

static inline size_t nsr_per_partition(const struct nsr_elements *e) {
  size_t n = 1;
  for (int d = 0; d < e->ndims; d++)
    n *= e->dims[d];
  return n;
}

static inline size_t nsr_elements_total(const struct nsr_elements *e) {
  return nsr_per_partition(e) * e->nparts;
}

static inline bool nsr_same_shape(const struct nsr_elements *a,
                                  const struct nsr_elements *b) {
  return a->nparts == b->nparts && nsr_per_partition(a) == nsr_per_partition(b);
}

static inline const uint8_t *nsr_in(const struct nsr_elements *e, size_t i) {
  return e->in + i * nsr_dtype_bytes(e->dtype);
}

static inline uint8_t *nsr_out(const struct nsr_elements *e, size_t i) {
  return e->out + i * nsr_dtype_bytes(e->dtype);
}

static inline float nsr_get(const struct nsr_elements *e, size_t i) {
  return nsr_element_get(e->dtype, nsr_in(e, i));
}

static inline void nsr_put(struct nsr_elements *e, size_t i, float v) {
  nsr_element_put(e->dtype, nsr_out(e, i), v);
}

/* An integer into any dtype: floats round it, integers keep its low bits. */
void nsr_put_int(struct nsr_elements *e, size_t i, int64_t v);

/* Element j of src into element i of dst; its bytes where dtypes agree. */
static inline void nsr_move(struct nsr_elements *dst, size_t i,
                            const struct nsr_elements *src, size_t j) {
  nsr_element_convert(dst->dtype, nsr_out(dst, i), src->dtype, nsr_in(src, j));
}

/* Element i of a predicate holds. */
static inline bool nsr_holds(const struct nsr_elements *e, size_t i) {
  return nsr_get(e, i) != 0.0f;
}

/* ---- meanings, by file; each a reason or NULL, as nsr_numeric */

const char *nsr_num_activation(const struct nsr_insn *insn,
                               struct nsr_elements *o); /* numeric_rows.c */
const char *nsr_num_reduce(const struct nsr_insn *insn, struct nsr_elements *o);
const char *nsr_num_scan(const struct nsr_insn *insn, struct nsr_elements *o);
const char *nsr_num_max8(struct nsr_elements *o);

const char *
nsr_num_copy_predicated(struct nsr_elements *o); /* numeric_some.c */
const char *nsr_num_fill_predicated(const struct nsr_insn *insn,
                                    struct nsr_elements *o);
const char *nsr_num_select(struct nsr_elements *o);
const char *nsr_num_affine_select(const struct nsr_insn *insn,
                                  struct nsr_elements *o);
const char *nsr_num_gather(struct nsr_elements *o);
const char *nsr_num_gather_rows(struct nsr_elements *o);
const char *nsr_num_scatter_rows(struct nsr_elements *o);
const char *nsr_num_scatter_accumulate(const struct nsr_insn *insn,
                                       struct nsr_elements *o);

const char *nsr_num_load_stationary(const struct nsr_elements *o);
const char *nsr_num_matmul(const struct nsr_insn *insn, struct nsr_elements *o,
                           const struct nsr_elements *state);
const char *nsr_num_transpose(struct nsr_elements *o); /* numeric_matrix.c */

#endif
