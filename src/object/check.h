/* check.h - the two halves of nsr_kernel_check. */
#ifndef NSR_OBJECT_CHECK_H
#define NSR_OBJECT_CHECK_H

#include <nsr/kernel.h>

/* Each stream: labels, lines, relocs, and every instruction. Needs the tables
 * of the kernel to be checked already. */
NSR_MUST_USE enum nsr_status nsr_check_stream(struct nsr_ctx *ctx,
                                              const struct nsr_kernel *k,
                                              const struct nsr_stream *s);

/* One decoded instruction: registers, semaphores, queue, operands, tensors;
 * nrelocs relocs are its own, and checked. Targets of branches are the stream's
 * matter. */
NSR_MUST_USE enum nsr_status nsr_check_insn(struct nsr_ctx *ctx,
                                            const struct nsr_kernel *k,
                                            const struct nsr_stream *s,
                                            uint32_t i,
                                            const struct nsr_insn *insn,
                                            const struct nsr_reloc *relocs,
                                            uint32_t nrelocs);

/* Why a string is no name, NULL: it is one. Names are UTF-8 without control
 * characters, not empty, so that assembly, JSON and messages can show them. */
const char *nsr_name_problem(const char *name);

/* The length of the UTF-8 character at s, 0: there is none. */
size_t nsr_utf8_length(const char *s);

#endif
