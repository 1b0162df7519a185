/* word.h - what decode, encode and the patches share. */
#ifndef NSR_ISA_WORD_H
#define NSR_ISA_WORD_H

#include "isa/bits.h"
#include "isa/codec.h"

/* The instruction a word's opcode names, NULL: none. */
const struct nsr_insn_desc *nsr_word_desc(const struct nsr_isa *isa,
                                          const struct nsr_bits *bits);

/* The role of an operand that accumulates: what it adds to, it reads. */
static inline enum nsr_role nsr_role_accumulating(enum nsr_role role) {
  return role == NSR_W ? NSR_RW : role == NSR_MW ? NSR_MRW : role;
}

#endif
