/* add_exit.h - an exit barrier for a kernel that has none. */
#ifndef NSR_EMIT_ADD_EXIT_H
#define NSR_EMIT_ADD_EXIT_H

#include "ir/program.h"

/* Needs a program; makes its kernel with one barrier more, of an id of its
 * own, in front of a halt that all ways of each engine end with. No
 * instruction moves: barrier and halt are put at the end of each stream, and
 * halts become branches to there. NSR_E_REFUSED where those do not reach. */
NSR_MUST_USE enum nsr_status nsr_add_exit(struct nsr_ctx *ctx,
                                          const struct nsr_program *p,
                                          const struct nsr_kernel **out);

#endif
