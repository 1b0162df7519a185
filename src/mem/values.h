/* values.h - what address registers hold, as far as constants, counting and
 * rotation go.
 *
 * Inside a loop the value of a register may be a function of the number t = 0,
 * 1, .. of its iterations so far: affine where it is advanced by a constant,
 * periodic where it is taken modulo something or cycles through a few values.
 * In a loop inside others t goes on from trip to trip, so this holds for what
 * nothing else sets; what has one value at each entry is a function of the
 * iterations of the trip. Elsewhere a value is a constant, or a multiple of a
 * loaded word plus one, or unknown. Claims hold while no counter wraps around
 * 32 bits.
 */
#ifndef NSR_MEM_VALUES_H
#define NSR_MEM_VALUES_H

#include "ir/congruence.h"
#include "mem/forms.h"

enum { NSR_MANY = 2 };

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
                          the innermost loop around it; if that lies in another
                          loop, in the iteration that leaves it just if its
                          barrier does */
  const uint8_t *back; /* by scope: a loop's header is reached again at most
                          so often in each trip; NSR_MANY: nobody knows */
};

/* Needs one stream's scopes, and the numbers of what its loads load; makes the
 * forms of all its operands that have an
 * address register. Induction and rotation by rounds
 * through each loop (rounds.h). */
NSR_MUST_USE enum nsr_status nsr_values_build(struct nsr_ctx *ctx,
                                              const struct nsr_scopes *scopes,
                                              const struct nsr_congruence *c,
                                              struct nsr_values *out);

/* The form of an operand's register; unknown where nothing is recorded. */
struct nsr_form nsr_values_form(const struct nsr_values *v, uint32_t insn,
                                int operand);

#endif
