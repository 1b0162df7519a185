/* keeps.h - barriers that stay though all around them can be read.
 *
 * Somebody asks for them: to bound counts, or to find out which barrier a
 * fault is about. Nothing has to be an island for it: behind a barrier that
 * stays counts begin anew.
 */
#ifndef NSR_IR_KEEPS_H
#define NSR_IR_KEEPS_H

#include <nsr/rewrite.h>

#include "ir/tree.h"

/* Why as reports say it: "directly in an outermost loop". */
const char *nsr_keep_text(enum nsr_keep because);

/* Makes a barrier stay; one that does already keeps its reason. */
void nsr_keep(struct nsr_part *part, enum nsr_keep because);

/* Needs a linearized tree; makes barriers stay that lie directly in outermost
 * loops. */
NSR_MUST_USE enum nsr_status nsr_keep_outer(struct nsr_ctx *ctx,
                                            struct nsr_tree *t);

/* Needs a linearized tree; makes barriers stay as asked for: in the scopes of
 * o->keep, outside those of o->only (if there are any), and all but the first
 * o->limit (if limited) in the order of the tree. `exit` is not counted.
 * NSR_E_USAGE: a label is none, or starts nothing. */
NSR_MUST_USE enum nsr_status nsr_keep_asked(struct nsr_ctx *ctx,
                                            struct nsr_tree *t, uint32_t exit,
                                            const struct nsr_bisect *o);

#endif
