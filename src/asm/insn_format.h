/* insn_format.h - text of instructions and names, into a fixed buffer. */
#ifndef NSR_ASM_INSN_FORMAT_H
#define NSR_ASM_INSN_FORMAT_H

#include <nsr/kernel.h>

/* Like snprintf: n counts what there was no room for, too. */
struct nsr_out {
  char *s;
  size_t size, n;
};
NSR_PRINTF(2, 3)
void nsr_out_printf(struct nsr_out *o, const char *fmt, ...);
/* A name, in quotes where it is not plain or where quoted says so. */
void nsr_out_name(struct nsr_out *o, const char *name, bool quoted);

/* nsr_insn_format. */
void nsr_out_insn(struct nsr_out *o, const struct nsr_kernel *k,
                  const struct nsr_stream *s, uint32_t i);
#endif
