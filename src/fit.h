/* What does not fit into the budgets keeps its barriers. */
#ifndef NSR_FIT_H
#define NSR_FIT_H

#include "work_bench.h"

/* Where b's plan lacks something: makes islands of as few regions as have to be
 * for the rest to fit, those in few loops first, and plans anew. What stays in
 * between may take more, so further ones may follow. asked: as in
 * nsr_bench_analyse(). */
enum nsr_status nsr_fit(struct nsr_ctx *ctx,
                        const struct nsr_rewrite_options *options,
                        struct nsr_bench *b, bool asked);

#endif
