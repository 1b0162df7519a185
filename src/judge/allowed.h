/* allowed.h - races that a facts file allows.
 *
 * Such a pair is like one that may conflict: where the first kernel leaves it
 * unordered it may stay so, where it is ordered it must stay ordered. What its
 * instructions read of each other, and leave behind where both write, depends
 * on the schedule and counts as one unknown value; all other pairs are judged
 * as ever.
 */
#ifndef NSR_JUDGE_ALLOWED_H
#define NSR_JUDGE_ALLOWED_H

#include <nsr/facts_file.h>

#include "sim/image.h"

/* An instruction of the first kernel, and its operands (a bit each) that
 * another one may touch meanwhile. */
struct nsr_allowed_insn {
  struct nsr_fact_insn at;
  uint8_t reads, writes;
};

struct nsr_allowed {
  const struct nsr_facts_file *facts;
  uint32_t n;
  struct nsr_allowed_insn *insns; /* by place; number i + 1 is insns[i] */
};

/* n 0: there are none. */
NSR_MUST_USE enum nsr_status nsr_allowed_new(struct nsr_ctx *ctx,
                                             enum nsr_arena_id arena,
                                             const struct nsr_image *image,
                                             const struct nsr_facts_file *facts,
                                             struct nsr_allowed *out);

/* The number of an instruction of the first kernel, 0: it may not race. a may
 * be NULL. */
uint32_t nsr_allowed_number(const struct nsr_allowed *a, int engine,
                            uint32_t insn);
/* Whether two numbers (0: none) are an allowed pair. */
bool nsr_allowed_pair(const struct nsr_allowed *a, uint32_t x, uint32_t y);
/* Such a pair is unordered in the first kernel. */
void nsr_allowed_use(const struct nsr_allowed *a, uint32_t x, uint32_t y);

#endif
