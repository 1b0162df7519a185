/* forms.h - what a register may hold, as a function of a loop's iterations.
 *
 * To each form a multiple of a symbol may be added: of a word that has been
 * loaded, which nobody knows, but which is the same wherever the symbol is, in
 * one iteration of the loop around the load. No form without a symbol rests on
 * one.
 *
 * What a form says of two values it says modulo 2^32, as registers count. Where
 * that is not enough (a remainder, an access that does not run in each
 * iteration, so that what lies between two may be anything) it is right as long
 * as no register wraps; what wraps within NSR_LASTS iterations has none.
 */
#ifndef NSR_MEM_FORMS_H
#define NSR_MEM_FORMS_H

#include <nsr/isa.h>

#include "ir/program.h"

enum { NSR_MAX_PERIOD = 8 };
enum { NSR_LASTS = 10 }; /* as a power of two */

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
  bool trip;            /* t counts from the last entry of the loop */
  uint8_t lasts;        /* of t < 2^lasts, 0: of all: no register wraps that it
                           was made from */
  int32_t scale;        /* of the symbol, 0: there is none */
  uint32_t symbol;      /* the value number of the loaded word */
  uint32_t symbol_loop; /* the scope of the innermost loop around the load,
                           NSR_NONE: none; 0 without a symbol */
  uint32_t loop; /* its scope, whose iterations t counts; NSR_NONE: constant */
  int32_t base, step;
  int32_t values[NSR_MAX_PERIOD];
};

extern const struct nsr_form nsr_form_unknown;
struct nsr_form nsr_form_constant(int32_t v);
struct nsr_form nsr_form_loaded(uint32_t symbol, uint32_t loop);

/* Whether nothing is known of a form but in relation to others. */
static inline bool nsr_form_symbolic(const struct nsr_form *f) {
  return f->scale != 0;
}
/* Whether both have the same symbol as often, or none. */
bool nsr_form_related(const struct nsr_form *a, const struct nsr_form *b);

/* Whether both are the same known value. */
bool nsr_form_equal(const struct nsr_form *a, const struct nsr_form *b);

/* Whether it is affine or starts from a register. */
bool nsr_form_counts(const struct nsr_form *f);

/* Iterations after which the values of a form come again; 1: they stay, or
 * never do. */
uint32_t nsr_form_period(const struct nsr_form *f);

/* For how many iterations base + step*t stays in 32 bits: a power of two. */
uint8_t nsr_form_lasts(const struct nsr_form *f);

/* The least common multiple of two periods. */
uint32_t nsr_common_period(uint32_t a, uint32_t b);

/* The value in iteration t, without the symbol; f is not unknown. */
int32_t nsr_form_at(const struct nsr_form *f, uint32_t t);

/* What an operation or comparison gives; false: a fault, or none of these. */
bool nsr_ctl_value(enum nsr_ctl op, int32_t a, int32_t b, int32_t *out);

/* env: a form by register. */
struct nsr_form nsr_form_of_value(const struct nsr_form *env,
                                  const struct nsr_val *v);
/* 1 where a branch goes to its target, 0 where it does not. */
struct nsr_form nsr_form_taken(const struct nsr_form *env,
                               const struct nsr_operation *x);
/* cond ? a : b */
struct nsr_form nsr_form_choose(const struct nsr_form *cond,
                                const struct nsr_form *a,
                                const struct nsr_form *b);
/* Applies an instruction to the registers. */
void nsr_forms_apply(struct nsr_form *env, const struct nsr_node *n,
                     const struct nsr_operation *x);

#endif
