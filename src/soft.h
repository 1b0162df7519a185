/* Soft barriers: waits in place of barriers around instructions with unknown
 * effects. */
#ifndef NSR_SOFT_H
#define NSR_SOFT_H

#include "work_bench.h"

/* From dependences to a plan that fits, without soft barriers that would cost
 * more than the barriers they are in place of. asked: as in
 * nsr_bench_analyse(). */
enum nsr_status nsr_bench_plan(struct nsr_ctx *ctx,
                               const struct nsr_rewrite_options *options,
                               struct nsr_bench *b, bool asked);

/* Those of a plan, into the report. */
enum nsr_status nsr_report_soft(struct nsr_ctx *ctx,
                                const struct nsr_rewrite_options *options,
                                const struct nsr_bench *b,
                                struct nsr_rewrite_report *r);

#endif
