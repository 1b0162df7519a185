/* behind.h - waits for markers instead of work that some engines do not run.
 */
#ifndef NSR_SYNC_BEHIND_H
#define NSR_SYNC_BEHIND_H

#include "sync/select.h"

/* Needs the waits; makes those for work in a scope that not all engines run
 * waits for the marker behind it, where that has surely run since the execution
 * waited for: not within one execution of the scope. Markers lie in scopes of
 * more engines, so fewer groups count. *any: whether there were any. */
NSR_MUST_USE enum nsr_status nsr_needs_behind(struct nsr_ctx *ctx,
                                              const struct nsr_tree *t,
                                              const struct nsr_needs *needs,
                                              struct nsr_needs *out, bool *any);

/* Needs the waits; lists a work of each scope behind which others wait for a
 * marker that has no place. The plan
 * takes no such waits. */
NSR_MUST_USE enum nsr_status nsr_needs_placeless(struct nsr_ctx *ctx,
                                                 const struct nsr_tree *t,
                                                 const struct nsr_needs *needs,
                                                 uint32_t **works, uint32_t *n);

#endif
