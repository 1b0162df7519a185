/* select.h - which waits the output needs.
 */
#ifndef NSR_SYNC_SELECT_H
#define NSR_SYNC_SELECT_H

#include "dep/dep.h"

/* c waits for the lag-th latest execution of p before it. */
struct nsr_need {
  uint32_t c, p;
  uint32_t lag;
};

struct nsr_needs {
  uint32_t n;
  struct nsr_need *v; /* by c */
};

/* Needs the dependences; makes waits from which all of them follow without
 * any barrier: one walk in reference order adds a wait where an engine does
 * not know yet, most recent producer first; then waits that follow from the
 * others are dropped, one at a time, as far as a bounded effort goes
 * (theory-channels.md 8). */
NSR_MUST_USE enum nsr_status nsr_needs_select(struct nsr_ctx *ctx,
                                              const struct nsr_deps *deps,
                                              struct nsr_needs *out);

/* Whom an engine waits for to know of p: p itself, or, in a scope it does not
 * run, the marker behind the outermost such scope. */
uint32_t nsr_needs_awaited(const struct nsr_tree *t, uint32_t p, int engine);

#endif
