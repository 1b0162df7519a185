/* gen.h - make kernels of the suite, spoil kernels, make them smaller. */
#ifndef NSR_GEN_H
#define NSR_GEN_H

#include <nsr/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One "--set key=value". */
struct nsr_setting {
  const char *key;
  int64_t value;
};

/* What a random kernel holds. */
struct nsr_random_shares {
  uint32_t work, waiting; /* instructions that work; that conflict with earlier
                             ones of their region, and wait for them */
  uint32_t unknown;       /* .. with unknown effects */
  uint32_t by_depth[5];   /* .. by the loops and conditionals around them */
  uint32_t engines, queues;   /* that work */
  uint32_t loops, zero_trips; /* all; that some input enters and does not run */
  uint32_t breaks, continues;
  uint32_t conditionals, both_arms;
  uint32_t private_loops, private_arms; /* of one engine, without a barrier */
  uint32_t common_scopes;               /* of all, without a barrier */
  uint32_t operands, addressed; /* all; whose address a word of memory tells */
  uint32_t rotating[6]; /* by rem, and, toggle, set back, unrolled; advancing */
};

struct nsr_gen_options {
  const struct nsr_isa *isa; /* --isa; NULL: the first one built in */
  bool real_size;            /* --size=real; else small */
  bool manual;               /* --form=manual; else barrier */
  uint32_t nsettings;
  const struct nsr_setting *settings;
  struct nsr_random_shares *shares; /* of `random`: filled; NULL: not asked */
};

/* Kernel names, NULL-terminated, and a line about each. */
extern const char *const nsr_gen_names[];
const char *nsr_gen_about(const char *name);

/* Makes kernel `name` as assembly text. Unknown names and settings are
 * NSR_E_USAGE, the message lists the known ones; so are instruction sets that
 * lack what it needs. */
NSR_MUST_USE enum nsr_status nsr_gen_text(struct nsr_ctx *ctx, const char *name,
                                          const struct nsr_gen_options *options,
                                          const char **text, size_t *n);

/* The same, assembled. */
NSR_MUST_USE enum nsr_status nsr_gen(struct nsr_ctx *ctx, const char *name,
                                     const struct nsr_gen_options *options,
                                     struct nsr_kernel **k);

/* ---- mutants: kernels with one mistake each, for tests of judges
 *
 * What a mistake is an operator tells. They work on the kernel's bytes alone,
 * and are of most use on a rewritten one: counters are registers that reach
 * nothing but waits, loops are branches back. Every mutant passes
 * nsr_kernel_check. */
struct nsr_operator {
  uint8_t number;   /* from 1; 0 ends the list */
  const char *name; /* "drop-wait" */
  const char *about;
  const char *instead; /* NULL; else no mistake of a file, but of the machine
                          or of a tool: how to have it */
};
extern const struct nsr_operator nsr_operators[];

/* By name or number, NULL: none. */
const struct nsr_operator *nsr_operator_parse(const char *text);

/* Called for each mutant; a status other than NSR_OK ends the series. what:
 * "act[12]: the wait dropped". */
typedef enum nsr_status
nsr_mutant_fn(void *self, const struct nsr_kernel *mutant, const char *what);

/* All mutants of an operator, in a fixed order. Each takes memory of ctx as
 * long as that lives. An operator that changes no file is NSR_E_USAGE. */
NSR_MUST_USE enum nsr_status nsr_mutate_each(struct nsr_ctx *ctx,
                                             const struct nsr_kernel *k,
                                             const struct nsr_operator *op,
                                             nsr_mutant_fn *fn, void *self);

/* The one at an index, from 0. *out is NULL where there are no more than
 * *places. */
NSR_MUST_USE enum nsr_status nsr_mutate(struct nsr_ctx *ctx,
                                        const struct nsr_kernel *k,
                                        const struct nsr_operator *op,
                                        uint64_t index, struct nsr_kernel **out,
                                        const char **what, uint64_t *places);

/* ---- smaller kernels of which the same is true */

/* Whether what is looked for shows in k; k is valid during the call. */
typedef enum nsr_status nsr_shrink_fn(void *self, const struct nsr_kernel *k,
                                      bool *interesting);

/* The smallest kernel that was found by taking parts away and lowering numbers
 * (streams, scopes, instructions, waits, ranges, ..) of which fn says yes,
 * after max_tries calls at most (0: as many as it takes). Not interesting to
 * begin with: NSR_E_REFUSED. *tries: calls made. */
NSR_MUST_USE enum nsr_status nsr_shrink(struct nsr_ctx *ctx,
                                        const struct nsr_kernel *k,
                                        uint64_t max_tries, nsr_shrink_fn *fn,
                                        void *self, struct nsr_kernel **out,
                                        uint64_t *tries);

#ifdef __cplusplus
}
#endif
#endif
