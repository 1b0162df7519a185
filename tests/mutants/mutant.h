/* mutant.h - copies of a kernel in which one wait is weaker. */
#ifndef NSR_TESTS_MUTANT_H
#define NSR_TESTS_MUTANT_H

#include <nsr/kernel.h>

/* SAME is made like LOWER, but lowers by nothing: the control. */
enum mutation { SAME, DROP, LOWER, NMUTATIONS };

/* A wait of a kernel. */
struct site {
  uint32_t stream; /* index into nsr_kernel.streams */
  uint32_t insn;
  struct nsr_wait wait;
};

/* The waits on owned semaphores, in stream order. */
NSR_MUST_USE enum nsr_status sites_find(struct nsr_ctx *ctx,
                                        const struct nsr_kernel *k,
                                        struct site **sites, size_t *n);

/* A copy of k with the wait dropped, or its threshold lowered: in the
 * instruction for an immediate, by a `sub` into a register the stream never
 * names, inserted in front, for a register. *out is NULL where there is no
 * such register or value. */
NSR_MUST_USE enum nsr_status
mutate(struct nsr_ctx *ctx, const struct nsr_kernel *k, const struct site *site,
       enum mutation mutation, struct nsr_kernel **out);
#endif
