/* compare.h - two explored kernels on one input, against each other. */
#ifndef NSR_EXPLORE_COMPARE_H
#define NSR_EXPLORE_COMPARE_H

#include <nsr/explore.h>

#include "explore/moves.h"

/* Which instance of one kernel is which of another. */
struct nsr_twins {
  const struct nsr_search *a, *b;
  uint32_t *of_a, *of_b; /* by instance: its twin, NSR_NONE: none */
};

/* Matches instances of the same channel and number, no-ops left out. *text:
 * the first difference, of what b has if it was not searched to its end; NULL:
 * none. */
NSR_MUST_USE enum nsr_status nsr_twins_find(struct nsr_search *a,
                                            struct nsr_search *b,
                                            struct nsr_twins *twins,
                                            const char **text);
/* What b does and a cannot; NSR_FAULT_NONE: nothing. */
NSR_MUST_USE enum nsr_status nsr_compare(const struct nsr_twins *twins,
                                         enum nsr_fault_kind *kind,
                                         const char **text);
/* Waits of the second kernel for what need not have retired, by instruction.
 */
struct nsr_longer {
  int waiter, awaited; /* engines */
  uint32_t waiter_insn, awaited_insn;
  uint64_t times;
};
struct nsr_longer_list {
  NSR_VEC(struct nsr_longer) v;
};

/* Adds to *out and the list (of pool's keep arena) how b compares with the
 * specification machine of a (demands.c). */
NSR_MUST_USE enum nsr_status nsr_demands_compare(const struct nsr_twins *twins,
                                                 struct nsr_ctx *pool,
                                                 struct nsr_demands *out,
                                                 struct nsr_longer_list *list);
/* The list in words, the most frequent first, not all of them. */
NSR_MUST_USE enum nsr_status nsr_longer_text(struct nsr_ctx *ctx,
                                             const struct nsr_image *image,
                                             struct nsr_longer_list *list,
                                             const char **text);

/* "act[9] (k.s:61) `copy ...`, no. 3 of act" */
struct nsr_strbuf;
void nsr_say_inst(const struct nsr_search *s, struct nsr_strbuf *b,
                  uint32_t inst);
#endif
