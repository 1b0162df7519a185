/* dump.h - what the passes make, as text: for people and for tests.
 */
#ifndef NSR_DUMP_H
#define NSR_DUMP_H

#include <nsr/rewrite.h>

#ifdef __cplusplus
extern "C" {
#endif

enum nsr_stage {
  NSR_STAGE_CFG,    /* blocks and loops of each stream */
  NSR_STAGE_SCOPES, /* the common tree */
  NSR_STAGE_DEPS,   /* dependences, and what the input leaves open */
  NSR_STAGE_ORDERS, /* the same, each with all there is to say of it and how
                       the output keeps it; the input's waits */
  NSR_STAGE_PLAN    /* waits, counter groups, mirrors of the output */
};

/* A stage by name ("cfg", "scopes", "deps", "orders", "plan"), -1: none. */
int nsr_stage_parse(const char *name);

/* Runs the passes on k up to a stage and prints what it made. Fails as
 * nsr_rewrite does where a pass before that refuses. */
NSR_MUST_USE enum nsr_status
nsr_dump(struct nsr_ctx *ctx, const struct nsr_kernel *k, enum nsr_stage stage,
         const struct nsr_rewrite_options *options, const char **text);

/* The same as a graph in the dot language, of the scopes or the orders; of
 * other stages NSR_E_USAGE. */
NSR_MUST_USE enum nsr_status
nsr_dump_dot(struct nsr_ctx *ctx, const struct nsr_kernel *k,
             enum nsr_stage stage, const struct nsr_rewrite_options *options,
             const char **text);

/* The code of two kernels line by line, where it differs: "-" only in a, "+"
 * only in b, each with the instruction's index. same: nothing differs. */
NSR_MUST_USE enum nsr_status nsr_diff(struct nsr_ctx *ctx,
                                      const struct nsr_kernel *a,
                                      const struct nsr_kernel *b,
                                      const char **text, bool *same);

#ifdef __cplusplus
}
#endif
#endif
