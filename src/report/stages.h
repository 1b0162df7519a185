/* stages.h - printers of what the passes make; nsr_dump runs the passes.
 */
#ifndef NSR_REPORT_STAGES_H
#define NSR_REPORT_STAGES_H

#include "base/strbuf.h"
#include "sync/plan.h"

/* "act[12] tt", "marker of q0 in front of sp[7]" */
void nsr_print_work(struct nsr_strbuf *b, const struct nsr_tree *t, uint32_t w);
/* " (k.s:40)", nothing where that is not known */
void nsr_print_source(struct nsr_strbuf *b, const struct nsr_place *p);

void nsr_print_cfg(struct nsr_strbuf *b, const struct nsr_tree *t);
void nsr_print_scopes(struct nsr_strbuf *b, const struct nsr_tree *t);
void nsr_print_deps(struct nsr_strbuf *b, const struct nsr_deps *deps);
/* ---- orders.c */

/* What the passes have made of dependences; target: the input's waits, by
 * work. */
struct nsr_orders {
  const struct nsr_deps *deps;
  const struct nsr_needs *needs;
  const uint32_t *target;
};
void nsr_print_orders(struct nsr_strbuf *b, const struct nsr_orders *o);

/* ---- dot.c */

void nsr_dot_scopes(struct nsr_strbuf *b, const struct nsr_tree *t);
void nsr_dot_orders(struct nsr_strbuf *b, const struct nsr_orders *o);

/* How the output keeps a dependence. */
enum nsr_kept_by {
  NSR_BY_RECENT,
  NSR_BY_ROTATION,
  NSR_BY_HISTORY, /* as of the start of an iteration */
  NSR_BY_FRONT,   /* in front of the loop, whatever is waited for in it */
  NSR_BY_MARKER,
  NSR_BY_OTHERS
};
/* "RAW+control", into out. */
void nsr_order_kinds(const struct nsr_orders *o, const struct nsr_dep *d,
                     char *out, size_t size);
enum nsr_kept_by nsr_order_kept_by(const struct nsr_orders *o,
                                   const struct nsr_dep *d);

void nsr_print_plan(struct nsr_strbuf *b, const struct nsr_plan *plan);

#endif
