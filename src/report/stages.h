/* stages.h - printers of what the passes make; nsr_dump runs the passes.
 */
#ifndef NSR_REPORT_STAGES_H
#define NSR_REPORT_STAGES_H

#include "base/strbuf.h"
#include "sync/plan.h"

void nsr_print_cfg(struct nsr_strbuf *b, const struct nsr_tree *t);
void nsr_print_scopes(struct nsr_strbuf *b, const struct nsr_tree *t);
void nsr_print_deps(struct nsr_strbuf *b, const struct nsr_deps *deps);
void nsr_print_plan(struct nsr_strbuf *b, const struct nsr_plan *plan);

#endif
