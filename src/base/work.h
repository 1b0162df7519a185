/* work.h - work, counted by whoever does it, so that tests can say how it
 * grows without looking at a clock.
 *
 * A unit is what a stage does again and again and is done with at once: a line
 * read, a word decoded, a pair compared, an edge followed. What is counted
 * is what could grow faster than it should; a loop may add its turns at its
 * end. Counts only grow, for as long as their context.
 */
#ifndef NSR_BASE_WORK_H
#define NSR_BASE_WORK_H

#include <nsr/nsr.h>

enum nsr_counter {
  NSR_WORK_BYTES,    /* handed out by the arenas */
  NSR_WORK_DECODE,   /* words decoded by nsr_stream_decode */
  NSR_WORK_GEN,      /* pieces of work compared by a generator */
  NSR_WORK_ASM,      /* lines read, labels resolved */
  NSR_WORK_DISASM,   /* instructions printed, remarks passed */
  NSR_WORK_JSON_OUT, /* lines printed */
  NSR_WORK_JSON_IN,  /* lines read */
  NSR_WORK_IR,
  NSR_WORK_MEM,
  NSR_WORK_DEP,
  NSR_WORK_SYNC,
  NSR_WORK_EMIT,
  NSR_WORK_PROVE,
  NSR_NWORK
};

void nsr_work_count(struct nsr_ctx *ctx, enum nsr_counter stage,
                    uint64_t units);
uint64_t nsr_work(const struct nsr_ctx *ctx, enum nsr_counter stage);

#endif
