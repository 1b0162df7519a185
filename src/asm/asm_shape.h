/* asm_shape.h - what an instruction takes, as it follows from its
 * description: shared by assembler, disassembler and JSON.
 */
#ifndef NSR_ASM_SHAPE_H
#define NSR_ASM_SHAPE_H

#include <nsr/kernel.h>

struct nsr_takes {
  bool dst, cond, value_reg, a, b, target, targets, id;
  bool element; /* operands are one element: one partition by default */
};
/* cc: of a branch; only conditional ones take a and b. */
struct nsr_takes nsr_insn_takes(const struct nsr_insn_desc *desc,
                                enum nsr_cc cc);

const char *nsr_tensor_role_name(enum nsr_tensor_role role);
int nsr_tensor_role_parse(const char *s, size_t n); /* -1: none */

/* Bytes a tensor has where nothing else is said: shape times dtype, on chip
 * per partition (the first dimension is the partitions'). UINT64_MAX: more
 * than 64 bits. */
uint64_t nsr_tensor_bytes(const struct nsr_tensor *t);

/* An enumerated argument's value by name, -1: none. */
int nsr_arg_parse(const struct nsr_arg_desc *arg, const char *s, size_t n);
/* Sets arguments that were left out (seen: bit i = args[i] was given):
 * integers 0; an enumeration with a `none` to that, and then the float that
 * follows it to 0. The name of one that must be given, or NULL. */
const char *nsr_args_complete(struct nsr_insn *insn, uint32_t seen);

/* A float argument's bits. Formatting gives a decimal that reads back as the
 * same bits, "inf", "-inf", "nan", or "0f" and the bits in hexadecimal. */
enum { NSR_F32_TEXT = 32 };
uint32_t nsr_f32_bits(double v);
double nsr_f32_value(uint32_t bits);
void nsr_f32_format(uint32_t bits, char out[NSR_F32_TEXT]);
/* Reads "0fXXXXXXXX" (n bytes, all of it). */
bool nsr_f32_parse_bits(const char *s, size_t n, uint32_t *bits);

/* The first queue of this name, NSR_NONE: none. */
uint32_t nsr_queue_by_name(const struct nsr_queue *queues, uint32_t n,
                           const char *name, size_t len);
/* Branch displacement to `target`, false where 32 bits do not hold it. */
bool nsr_displacement(int64_t target, uint32_t insn, int32_t *displacement);
#endif
