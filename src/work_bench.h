/* The bench that the passes work on, and the passes from a program to its plan
 * in their order. Rewriting, what does not fit, dumps and limits share it. */
#ifndef NSR_WORK_BENCH_H
#define NSR_WORK_BENCH_H

#include <nsr/rewrite.h>

#include "base/vec.h"
#include "dep/dep.h"
#include "dep/key_loads.h"
#include "emit/weave.h"
#include "ir/islands.h"
#include "sync/plan.h"

/* What the passes make, in the order they make it. */
struct nsr_bench {
  struct nsr_program program;
  struct nsr_tree tree;
  struct nsr_islands islands;
  /* from earlier rounds: what is in no order that can be kept, and loads that
   * may differ between engines */
  NSR_VEC(struct nsr_trouble) known;
  struct nsr_key_loads doubts;
  uint32_t exit;   /* the barrier that always stays */
  bool added_exit; /* it is none of the input */
  uint32_t *target;
  struct nsr_deps deps;
  struct nsr_needs needs;
  struct nsr_plan plan;
  struct nsr_woven woven;
};

/* What is rewritten, and what is known of it. */
enum nsr_status nsr_bench_read(struct nsr_ctx *ctx, const struct nsr_kernel *k,
                               const struct nsr_rewrite_options *options,
                               struct nsr_bench *b);

/* The tree, and the barrier that always stays. */
enum nsr_status nsr_bench_recover(struct nsr_ctx *ctx, struct nsr_bench *b);

/* From the program to its dependences; where all barriers stay they are
 * looked for only if asked for. What cannot be kept in order otherwise makes an
 * island, loads in doubt decide nothing on several engines, and the analysis
 * begins anew. */
enum nsr_status nsr_bench_analyse(struct nsr_ctx *ctx,
                                  const struct nsr_rewrite_options *options,
                                  struct nsr_bench *b, bool asked);

/* Whether what has unknown effects is an island. */
bool nsr_bench_wild(const struct nsr_rewrite_options *o);

/* What the options leave to count with. */
struct nsr_budget nsr_bench_budget(const struct nsr_rewrite_options *o);

/* From dependences to the plan, again as long as barriers against overflow
 * are added; and with more islands, until each marker that is waited for has a
 * place (asked: as in nsr_bench_analyse). Where the plan lacks something, or
 * all is islands, it is none. */
enum nsr_status nsr_bench_synthesise(struct nsr_ctx *ctx,
                                     const struct nsr_rewrite_options *options,
                                     struct nsr_bench *b, bool asked);

#endif
