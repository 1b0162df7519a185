/* erase.h - the output as the input with code in between.
 *
 * Erased are, from both, no-ops that only wait for or update owned semaphores,
 * such waits and updates of other instructions, and the input's barriers. What
 * is left must be the same, and each branch must reach its target through
 * inserted code only. What the output has besides stands in front of
 * instructions of the input, erased ones too: from start[i] up to own[i], or to
 * start[i + 1] where i is erased. All ways to i run through all of that, but
 * those that go on with a loop start where the loop says; and who leaves a loop
 * may run more first. At the end of an arm a branch may lead over no-ops, to
 * which the one branch leads that passes the arm by (sync/padded.h).
 */
#ifndef NSR_PROVE_ERASE_H
#define NSR_PROVE_ERASE_H

#include "base/vec.h"
#include "ir/tree.h"
#include "prove/verdict.h"

/* What only those run who leave a loop, before they come to where other ways
 * lead, too: output instructions lo..hi-1. */
struct nsr_exit_code {
  uint32_t lo, hi;
};

/* An inserted branch and what it leads over, `at` to `end`. */
struct nsr_over {
  uint32_t at, end;
  uint32_t skip; /* the input's branch that leads to at + 1, NSR_NONE: none */
};

/* One engine. */
struct nsr_erased {
  uint32_t *own;   /* by input instruction: where it went, NSR_NONE: erased; of
                      a barrier: where it stayed */
  uint32_t *next;  /* by input instruction 0..n: the first at or behind it that
                      has a place, n: none */
  uint32_t *gap;   /* by input instruction with a place: what is inserted
                      between the last one that has one and this begins there */
  uint32_t *start; /* by input instruction 0..n */
  NSR_VEC(struct nsr_over) overs; /* in order */
  uint32_t *loop_at; /* by loop of the graph: where the next iteration starts,
                        NSR_NONE: nothing goes on with it */
  struct nsr_exit_code *exit; /* by loop of the graph */
  bool *exits; /* by input instruction: behind it stands such code */
};

struct nsr_erasure {
  const struct nsr_tree *tree; /* of the input */
  const struct nsr_program *in, *out;
  struct nsr_erased engines[NSR_MAX_ENGINES];
};

/* The first of them at output instructions lo..hi-1, or NULL. */
struct nsr_over *nsr_erased_over(const struct nsr_erased *e, uint32_t lo,
                                 uint32_t hi);

/* Needs the input's tree, linearized, and the output's program. Objects to the
 * first difference. */
NSR_MUST_USE enum nsr_status nsr_erase(struct nsr_ctx *ctx,
                                       const struct nsr_tree *tree,
                                       const struct nsr_program *out,
                                       struct nsr_erasure *e,
                                       struct nsr_proof *proof);

/* Whether the kernels have the same machine around them: instruction set,
 * engines, queues, orders, semaphores and tensors. */
NSR_MUST_USE enum nsr_status nsr_prove_shape(struct nsr_ctx *ctx,
                                             const struct nsr_kernel *a,
                                             const struct nsr_kernel *b,
                                             struct nsr_proof *proof);

#endif
