/* explain_place.h - nsync-cosim --explain: why a wait is needed. */
#ifndef NSR_TOOLS_EXPLAIN_PLACE_H
#define NSR_TOOLS_EXPLAIN_PLACE_H

#include <nsr/judge.h>

#include "common.h"

/* Prints why the wait of an instruction of k, named as ENGINE:INDEX, is needed,
 * or why it could go. */
enum nsr_status explain_wait(struct tool *t,
                             const struct nsr_judge_options *judge,
                             const struct nsr_kernel *k, const char *wait);

#endif
