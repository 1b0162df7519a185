/* ideal.h - what every instance of a kernel really has to wait for. */
#ifndef NSR_JUDGE_IDEAL_H
#define NSR_JUDGE_IDEAL_H

#include "judge/inputs.h"
#include "judge/pairs.h"
#include "sim/timed.h"

/* The retirements that conflicts in the kernel's own order ask for, in ctx's
 * keep arena: read behind write, write behind read and write, hidden state,
 * and what others see, but for what channels keep by themselves. Pairs that
 * may conflict and that the kernel leaves unordered ask for nothing. A kernel
 * that races is NSR_E_RACE. map: counts pairs of instructions of the same loop,
 * too; NULL: does not. */
NSR_MUST_USE enum nsr_status
nsr_ideal_needs(struct nsr_ctx *ctx, const struct nsr_image *image,
                const struct nsr_contents *contents, uint32_t ncontents,
                uint64_t budget, const struct nsr_loop_map *map,
                struct nsr_pairs *pairs, struct nsr_true_needs **needs);

#endif
