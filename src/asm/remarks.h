/* remarks.h - what a kernel's notes say about its instructions. */
#ifndef NSR_ASM_REMARKS_H
#define NSR_ASM_REMARKS_H

#include <nsr/kernel.h>

/* "act[12] waits for .." is about instruction 12 of act; a line that begins
 * otherwise is about the kernel (engine -1). */
struct nsr_remark {
  int engine;
  uint32_t insn;
  uint32_t order; /* among all */
  const char *text;
};

/* The lines of all note sections of ours, in scratch, sorted by engine,
 * instruction and place in the notes. */
NSR_MUST_USE enum nsr_status nsr_remarks_read(struct nsr_ctx *ctx,
                                              const struct nsr_kernel *k,
                                              struct nsr_remark **remarks,
                                              size_t *n);
#endif
