/* codec.h - where the fields of an instruction lie in its word.
 *
 * Private to src/isa and to the tables that isagen writes. A word is little
 * endian: bit b is bit b%8 of byte b/8. Fields never overlap; bits outside
 * all fields have one legal value (mask and value below).
 */
#ifndef NSR_ISA_CODEC_H
#define NSR_ISA_CODEC_H

#include <nsr/isa.h>

struct nsr_field {
  uint16_t lo;   /* first bit; in a shape relative to the operand */
  uint8_t width; /* bits; 0: there is no such field */
  bool is_signed;
  uint8_t nmap;       /* entries of map */
  const uint8_t *map; /* raw value -> enumerator; NULL: a number */
  uint64_t max;       /* largest legal raw value (all ones if signed) */
};

/* A register or an immediate: is_reg says which. */
struct nsr_val_field {
  struct nsr_field is_reg, v;
};

/* The layout of an operand, shared by instructions. */
struct nsr_shape {
  struct nsr_field space, dtype, acc, part, nparts, pstep, offset;
  struct nsr_field has_reg, reg, ndims;
  struct {
    struct nsr_field step, count, count_is_reg;
  } dims[NSR_MAX_DIMS];
};

struct nsr_placed_shape {
  const struct nsr_shape *shape;
  uint16_t at; /* added to every lo of the shape */
};

/* Every field by name, for tests and listings. */
struct nsr_named_field {
  const char *name; /* "dst.dim0.step" */
  uint16_t lo;
  uint8_t width;
  uint64_t max;
};

struct nsr_codec {
  struct nsr_field wait_sem, wait_cmp;
  struct nsr_val_field wait_value;
  struct nsr_field update_sem, update_op, update_value, update_early;
  struct nsr_field queue, dst, cond, value_reg, cc, target, id;
  struct nsr_val_field a, b;
  struct nsr_field args[NSR_MAX_ARGS];
  struct nsr_placed_shape operands[NSR_MAX_OPERANDS];
  /* The word's bits with one legal value (opcode, fixed and reserved ones),
   * and that value; 64 bits at a time, zero behind the word. */
  uint64_t mask[NSR_MAX_WORD / 8], value[NSR_MAX_WORD / 8];
  uint16_t opcode_lo;
  uint8_t opcode_width;
  uint16_t nfields;
  const struct nsr_named_field *fields;
};

#endif
