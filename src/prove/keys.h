/* keys.h - loads on which scopes of different engines were taken for the same.
 */
#ifndef NSR_PROVE_KEYS_H
#define NSR_PROVE_KEYS_H

#include "prove/touch.h"

/* Needs the tree, linearized, and what the works of the input touch. Adds to
 * doubts (by place) the loads of one value between which something may write
 * it, or which lie in code whose order is not known. */
NSR_MUST_USE enum nsr_status nsr_keys_check(struct nsr_ctx *ctx,
                                            const struct nsr_touches *t,
                                            struct nsr_key_loads *doubts);

#endif
