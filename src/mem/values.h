/* values.h - what address registers hold, as far as constants, counting and
 * rotation go.
 *
 * Inside a loop that runs at most one trip (no loop around it) the value of a
 * register may be a function of the iteration's index t = 0, 1, ..: affine
 * where it is advanced by a constant, periodic where it is taken modulo
 * something or cycles through a few values. Elsewhere it is a constant or
 * unknown. Claims hold while no counter wraps around 32 bits.
 */
#ifndef NSR_MEM_VALUES_H
#define NSR_MEM_VALUES_H

#include "ir/scopes.h"

enum { NSR_MAX_PERIOD = 8, NSR_MANY = 2 };

enum nsr_form_kind {
  NSR_FORM_UNKNOWN,
  NSR_FORM_CONST,   /* base */
  NSR_FORM_AFFINE,  /* base + step * t */
  NSR_FORM_PERIODIC /* values[t mod period] */
};

struct nsr_form {
  uint8_t kind; /* enum nsr_form_kind */
  uint8_t period;
  int32_t base, step;
  int32_t values[NSR_MAX_PERIOD];
};

/* The form of one operand's address register. */
struct nsr_operand_form {
  uint32_t insn;
  uint8_t operand;
  struct nsr_form form;
};

struct nsr_values {
  const struct nsr_scopes *scopes;
  size_t n;
  const struct nsr_operand_form *forms; /* by insn, then operand */
  const bool *every;   /* by block: runs once in each completed iteration of
                          the outermost loop around it */
  const uint8_t *back; /* by scope: a loop's header is reached again at most
                          so often in each trip; NSR_MANY: nobody knows */
};

/* Needs one stream's scopes; makes the forms of all its operands that have an
 * address register. Induction by one symbolic round through each outermost
 * loop; rotation by running it for a few iterations. */
NSR_MUST_USE enum nsr_status nsr_values_build(struct nsr_ctx *ctx,
                                              const struct nsr_scopes *scopes,
                                              struct nsr_values *out);

/* The form of an operand's register; unknown where nothing is recorded. */
struct nsr_form nsr_values_form(const struct nsr_values *v, uint32_t insn,
                                int operand);

/* Iterations after which the values of a form come again; 1: they stay, or
 * never do. */
uint32_t nsr_form_period(const struct nsr_form *f);

/* The least common multiple of two periods. */
uint32_t nsr_common_period(uint32_t a, uint32_t b);

/* The value in iteration t; f is not unknown. */
int32_t nsr_form_at(const struct nsr_form *f, uint32_t t);

#endif
