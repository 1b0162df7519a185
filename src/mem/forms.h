/* forms.h - what a register may hold, as a function of a loop's iterations. */
#ifndef NSR_MEM_FORMS_H
#define NSR_MEM_FORMS_H

#include <nsr/isa.h>

#include "ir/program.h"

enum { NSR_MAX_PERIOD = 8 };

enum nsr_form_kind {
  NSR_FORM_UNKNOWN,
  NSR_FORM_CONST,    /* base */
  NSR_FORM_AFFINE,   /* base + step * t */
  NSR_FORM_PERIODIC, /* values[t mod period] */
  NSR_FORM_START     /* while a loop's round is run symbolically: register
                        `step` at its start, plus base */
};

struct nsr_form {
  uint8_t kind; /* enum nsr_form_kind */
  uint8_t period;
  bool trip;     /* t counts from the last entry of the loop */
  uint32_t loop; /* its scope, whose iterations t counts; NSR_NONE: constant */
  int32_t base, step;
  int32_t values[NSR_MAX_PERIOD];
};

extern const struct nsr_form nsr_form_unknown;
struct nsr_form nsr_form_constant(int32_t v);

/* Whether both are the same known value. */
bool nsr_form_equal(const struct nsr_form *a, const struct nsr_form *b);

/* Whether it is affine or starts from a register. */
bool nsr_form_counts(const struct nsr_form *f);

/* Iterations after which the values of a form come again; 1: they stay, or
 * never do. */
uint32_t nsr_form_period(const struct nsr_form *f);

/* The least common multiple of two periods. */
uint32_t nsr_common_period(uint32_t a, uint32_t b);

/* The value in iteration t; f is not unknown. */
int32_t nsr_form_at(const struct nsr_form *f, uint32_t t);

/* What an operation or comparison gives; false: a fault, or none of these. */
bool nsr_ctl_value(enum nsr_ctl op, int32_t a, int32_t b, int32_t *out);

/* env: a form by register. */
struct nsr_form nsr_form_of_value(const struct nsr_form *env,
                                  const struct nsr_val *v);
/* 1 where a branch goes to its target, 0 where it does not. */
struct nsr_form nsr_form_taken(const struct nsr_form *env,
                               const struct nsr_insn *x);
/* cond ? a : b */
struct nsr_form nsr_form_choose(const struct nsr_form *cond,
                                const struct nsr_form *a,
                                const struct nsr_form *b);
/* Applies an instruction to the registers. */
void nsr_forms_apply(struct nsr_form *env, const struct nsr_insn *x);

#endif
