/* scheme_waits.h - what each wait is under a scheme.
 */
#ifndef NSR_SYNC_SCHEME_WAITS_H
#define NSR_SYNC_SCHEME_WAITS_H

#include "sync/scheme.h"

/* Needs the groups of a scheme, numbered; makes its waits: one for each need
 * that may have to wait, and of several on one group at one place the
 * strictest. */
NSR_MUST_USE enum nsr_status nsr_scheme_waits(struct nsr_ctx *ctx,
                                              const struct nsr_tree *tree,
                                              const struct nsr_needs *needs,
                                              struct nsr_chosen *c);

#endif
