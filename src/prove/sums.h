/* sums.h - what registers hold, as sums of other registers.
 *
 * A sum is a number of registers, each times a constant. Equal ones are one and
 * have one number; 0 is the empty one. A value is a sum and a constant, or a
 * choice between two of these, by whether a third is above 0: masks, maxima,
 * minima and selects are such choices.
 */
#ifndef NSR_PROVE_SUMS_H
#define NSR_PROVE_SUMS_H

#include <nsr/isa.h>

#include "base/vec.h"

struct nsr_term {
  uint32_t reg; /* engine * registers + register */
  int32_t times;
};

/* A sum and a constant. */
struct nsr_linear {
  uint32_t sum;
  int64_t add;
};

enum nsr_reg_kind { NSR_REG_UNKNOWN, NSR_REG_PLAIN, NSR_REG_CHOICE };

/* test > 0 ? yes : no; a plain one is yes. */
struct nsr_reg_value {
  uint8_t kind; /* enum nsr_reg_kind */
  struct nsr_linear test, yes, no;
};

struct nsr_sum {
  uint32_t first, n; /* terms, by register */
  uint32_t next;     /* of its bucket */
};

struct nsr_sums {
  struct nsr_ctx *ctx;
  NSR_VEC(struct nsr_term) terms;
  NSR_VEC(struct nsr_sum) v;
  uint32_t *buckets;
  NSR_VEC(struct nsr_term) made;
};

NSR_MUST_USE enum nsr_status nsr_sums_init(struct nsr_ctx *ctx,
                                           struct nsr_sums *out);

/* The value of a register, and a constant. */
NSR_MUST_USE enum nsr_status nsr_reg_itself(struct nsr_sums *s, uint32_t reg,
                                            struct nsr_reg_value *out);
struct nsr_reg_value nsr_reg_constant(int64_t c);

/* What a control operation makes of its operands' values; cond: of the register
 * that selects. */
NSR_MUST_USE enum nsr_status nsr_reg_operation(struct nsr_sums *s,
                                               enum nsr_ctl op,
                                               const struct nsr_reg_value *cond,
                                               const struct nsr_reg_value *a,
                                               const struct nsr_reg_value *b,
                                               struct nsr_reg_value *out);

/* a with reg replaced by a plain value; *fits: numbers stay small. */
NSR_MUST_USE enum nsr_status nsr_sum_replace(struct nsr_sums *s, uint32_t sum,
                                             uint32_t reg,
                                             const struct nsr_linear *value,
                                             struct nsr_linear *out,
                                             bool *fits);

/* How often a register is in a sum. */
int32_t nsr_sum_times(const struct nsr_sums *s, uint32_t sum, uint32_t reg);

static inline const struct nsr_term *nsr_sum_terms(const struct nsr_sums *s,
                                                   uint32_t sum, uint32_t *n) {
  *n = s->v.v[sum].n;
  return s->terms.v + s->v.v[sum].first;
}

static inline bool nsr_linear_same(const struct nsr_linear *a,
                                   const struct nsr_linear *b) {
  return a->sum == b->sum && a->add == b->add;
}

#endif
