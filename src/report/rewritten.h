/* rewritten.h - fills in the report of a rewrite from what the passes made.
 */
#ifndef NSR_REPORT_REWRITTEN_H
#define NSR_REPORT_REWRITTEN_H

#include <nsr/rewrite.h>

#include "base/strbuf.h"
#include "sync/plan.h"

/* Instructions, barriers and waits of the program, by engine; the same for what
 * it becomes, until that is known. */
void nsr_report_streams(const struct nsr_program *p,
                        struct nsr_rewrite_report *r);

/* Barriers that stay. tree NULL: all but the exit barrier go. exit: the exit
 * barrier's instructions. */
NSR_MUST_USE enum nsr_status
nsr_report_kept(struct nsr_ctx *ctx, const struct nsr_program *p,
                const struct nsr_tree *t, const uint32_t exit[NSR_MAX_ENGINES],
                uint32_t exit_part, struct nsr_rewrite_report *r);

/* Semaphores that some instruction of the program updates. */
NSR_MUST_USE enum nsr_status nsr_report_semaphores(struct nsr_ctx *ctx,
                                                   const struct nsr_program *p,
                                                   uint32_t *n);

/* One line of the report. */
void nsr_print_soft(struct nsr_strbuf *b, const struct nsr_soft_barrier *s);

/* What the output counts with. */
NSR_MUST_USE enum nsr_status nsr_report_plan(struct nsr_ctx *ctx,
                                             const struct nsr_deps *deps,
                                             const struct nsr_plan *plan,
                                             struct nsr_rewrite_report *r);

#endif
