/* numeric_some.c - what touches some of its bytes: by predicate, by pattern,
 * by index.
 *
 * An operand whose role says "may write" has a mask: only what is marked there
 * is written. Indices count elements of a row, or rows (partitions on chip),
 * of the operand they belong to, from 0.
 */
#include "sim/numeric_args.h"

#include <string.h>

const char nsr_index_outside[] = "an index lies outside of its operand";

static void keep(struct nsr_elements *dst, size_t i, size_t n) {
  if (n)
    memset(dst->mask + i, 1, n);
}

/* ---- by predicate */

const char *nsr_num_copy_predicated(struct nsr_elements *o) {
  if (!nsr_same_shape(&o[0], &o[1]) || !nsr_same_shape(&o[0], &o[2]))
    return "destination, source and predicate have different shapes";
  for (size_t i = 0, n = nsr_elements_total(o); i < n; i++) {
    if (!nsr_holds(&o[2], i))
      continue;
    nsr_move(&o[0], i, &o[1], i);
    keep(&o[0], i, 1);
  }
  return NULL;
}

const char *nsr_num_fill_predicated(const struct nsr_insn *insn,
                                    struct nsr_elements *o) {
  if (!nsr_same_shape(&o[0], &o[1]))
    return "destination and predicate have different shapes";
  int64_t value = nsr_arg_int(insn, "value");
  for (size_t i = 0, n = nsr_elements_total(o); i < n; i++) {
    if (!nsr_holds(&o[1], i))
      continue;
    nsr_put_int(&o[0], i, value);
    keep(&o[0], i, 1);
  }
  return NULL;
}

const char *nsr_num_select(struct nsr_elements *o) {
  for (int i = 1; i < 4; i++)
    if (!nsr_same_shape(&o[0], &o[i]))
      return "destination, predicate and operands have different shapes";
  for (size_t i = 0, n = nsr_elements_total(o); i < n; i++)
    nsr_move(&o[0], i, &o[nsr_holds(&o[1], i) ? 2 : 3], i);
  return NULL;
}

/* ---- by pattern */

enum test { TEST_GE, TEST_GT, TEST_LE, TEST_LT, TEST_EQ, TEST_NE };
static const char *const test_names[] = {"ge", "gt", "le", "lt", "eq", "ne"};

static bool passes(enum test test, int64_t v) {
  switch (test) {
  case TEST_GE:
    return v >= 0;
  case TEST_GT:
    return v > 0;
  case TEST_LE:
    return v <= 0;
  case TEST_LT:
    return v < 0;
  case TEST_EQ:
    return v == 0;
  case TEST_NE:
    break;
  }
  return v != 0;
}

const char *nsr_num_affine_select(const struct nsr_insn *insn,
                                  struct nsr_elements *o) {
  int test = nsr_arg_enum(insn, "test", test_names, TEST_NE + 1);
  if (test < 0)
    return "unknown comparison";
  if (!nsr_same_shape(&o[0], &o[1]))
    return "source and destination have different shapes";
  float value = nsr_arg_float(insn, "value", 0);
  struct nsr_ramp r;
  size_t i = 0;
  for (nsr_ramp_first(&r, insn, &o[0]); r.more; nsr_ramp_next(&r), i++) {
    if (passes((enum test)test, r.value))
      nsr_move(&o[0], i, &o[1], i);
    else
      nsr_put(&o[0], i, value);
  }
  return NULL;
}

/* ---- by index */

/* Element i of the indices, if it is below n. */
static bool index_at(const struct nsr_elements *e, size_t i, size_t n,
                     size_t *index) {
  int32_t v = nsr_element_bits(e->dtype, nsr_in(e, i));
  *index = (size_t)(v < 0 ? 0 : v);
  return v >= 0 && *index < n;
}

const char *nsr_num_gather(struct nsr_elements *o) {
  if (!nsr_same_shape(&o[0], &o[2]) || o[0].nparts != o[1].nparts)
    return "destination and indices have different shapes";
  size_t n = nsr_per_partition(&o[0]), from = nsr_per_partition(&o[1]);
  for (size_t i = 0; i < n * o[0].nparts; i++) {
    size_t index;
    if (!index_at(&o[2], i, from, &index))
      return nsr_index_outside;
    nsr_move(&o[0], i, &o[1], i / n * from + index);
  }
  return NULL;
}

/* One index for each row of `rows`, whose rows are as long as those of
 * `table`. */
static const char *check_rows(const struct nsr_elements *rows,
                              const struct nsr_elements *table,
                              const struct nsr_elements *index) {
  if (nsr_per_partition(rows) != nsr_per_partition(table))
    return "rows of source and destination have different lengths";
  if (nsr_elements_total(index) != rows->nparts)
    return "there has to be one index for each row";
  return NULL;
}

const char *nsr_num_gather_rows(struct nsr_elements *o) {
  const char *why = check_rows(&o[0], &o[1], &o[2]);
  size_t n = nsr_per_partition(&o[0]);
  for (size_t row = 0; !why && row < o[0].nparts; row++) {
    size_t from;
    if (!index_at(&o[2], row, o[1].nparts, &from))
      return nsr_index_outside;
    for (size_t j = 0; j < n; j++)
      nsr_move(&o[0], row * n + j, &o[1], from * n + j);
  }
  return why;
}

const char *nsr_num_scatter_rows(struct nsr_elements *o) {
  const char *why = check_rows(&o[1], &o[0], &o[2]);
  size_t n = nsr_per_partition(&o[0]);
  for (size_t row = 0; !why && row < o[1].nparts; row++) {
    size_t to;
    if (!index_at(&o[2], row, o[0].nparts, &to))
      return nsr_index_outside;
    for (size_t j = 0; j < n; j++)
      nsr_move(&o[0], to * n + j, &o[1], row * n + j);
    keep(&o[0], to * n, n);
  }
  return why;
}

/* Rows that are named twice count twice, in the order of the indices. */
const char *nsr_num_scatter_accumulate(const struct nsr_insn *insn,
                                       struct nsr_elements *o) {
  const char *why = check_rows(&o[1], &o[0], &o[2]);
  int op = nsr_arg_alu(insn, "op");
  if (op <= NSR_ALU_NONE)
    return "unknown operation";
  size_t n = nsr_per_partition(&o[0]);
  for (size_t row = 0; !why && row < o[1].nparts; row++) {
    size_t to;
    if (!index_at(&o[2], row, o[0].nparts, &to))
      return nsr_index_outside;
    for (size_t j = 0, i = to * n; j < n; j++, i++) {
      const uint8_t *old = o[0].mask[i] ? nsr_out(&o[0], i) : nsr_in(&o[0], i);
      float v = nsr_element_get(o[0].dtype, old);
      nsr_put(&o[0], i,
              nsr_alu_apply((enum nsr_alu)op, v, nsr_get(&o[1], row * n + j)));
    }
    keep(&o[0], to * n, n);
  }
  return why;
}
