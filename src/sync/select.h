/* select.h - which waits the output needs.
 */
#ifndef NSR_SYNC_SELECT_H
#define NSR_SYNC_SELECT_H

#include "dep/dep.h"
#include "dep/known.h"

/* c waits for the lag-th latest execution of p before it; or (front) its engine
 * does, before that loop around c is entered; or (back above 0) c does for the
 * latest one in front of the start of the back-th latest iteration of a loop
 * (dep.h). */
struct nsr_need {
  uint32_t c, p;
  uint32_t lag;
  uint32_t front; /* NSR_NONE: at c */
  uint32_t back, of;
};

/* For `back`: all before the loop was last entered. */
enum { NSR_AT_ENTRY = NSR_MAX_BACK + 1 };

struct nsr_needs {
  uint32_t n;
  struct nsr_need *v; /* by c */
};

/* The scope in which a need is waited for, and the work in front of which. */
static inline uint32_t nsr_need_scope(const struct nsr_tree *t,
                                      const struct nsr_need *n) {
  return n->front == NSR_NONE ? t->works[n->c].scope
                              : t->scopes[n->front].parent;
}
static inline uint32_t nsr_need_at(const struct nsr_tree *t,
                                   const struct nsr_need *n) {
  return n->front == NSR_NONE ? n->c : t->scopes[n->front].first_work;
}

/* Needs the dependences; makes waits from which all of them follow without
 * any barrier: one walk in reference order adds a wait where an engine does
 * not know yet, most recent producer first; then waits that follow from the
 * others are dropped, one at a time, as far as a bounded effort goes
 * (theory-channels.md 8). plain: none in front of loops. */
NSR_MUST_USE enum nsr_status nsr_needs_select(struct nsr_ctx *ctx,
                                              const struct nsr_deps *deps,
                                              bool plain,
                                              struct nsr_needs *out);

/* Whom an engine waits for to know of p: p itself, or, in a scope it does not
 * run, the marker behind the outermost such scope. */
uint32_t nsr_needs_awaited(const struct nsr_tree *t, uint32_t p, int engine);

#endif
