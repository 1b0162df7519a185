/* hint.h - a guess at the reference order, from the input's own waits.
 */
#ifndef NSR_PROVE_HINT_H
#define NSR_PROVE_HINT_H

#include "ir/islands.h"

/* Needs a tree, not linearized, and the islands known so far; makes by work the
 * one whose update takes a semaphore to what it waits for, NSR_NONE: none.
 * Regions with waits that name no such work become islands. Nothing rests on
 * the guess: whether all waits of the input agree with the order that comes of
 * it is looked at afterwards. */
NSR_MUST_USE enum nsr_status nsr_hint_find(struct nsr_ctx *ctx,
                                           const struct nsr_tree *t,
                                           struct nsr_islands *islands,
                                           uint32_t **before);

#endif
