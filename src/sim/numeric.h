/* numeric.h - numeric mode: what datapath instructions compute, on bytes.
 *
 * The engine model gathers the elements of every reading operand at the read
 * event, calls nsr_numeric, and scatters the elements of every writing
 * operand, where it is marked in its mask, at the write event. Pure: no
 * state, no memory, no addresses.
 */
#ifndef NSR_SIM_NUMERIC_H
#define NSR_SIM_NUMERIC_H

#include <nsr/isa.h>

/* An operand's elements, densely packed in element order (p, i, j, ..). */
struct nsr_elements {
  enum nsr_dtype dtype;
  uint32_t nparts;
  uint8_t ndims;
  uint32_t dims[NSR_MAX_DIMS]; /* counts, run-time ones resolved */
  const uint8_t *in;           /* reading operands: their bytes */
  uint8_t *out;                /* writing operands: to be filled completely */
  uint8_t *mask;               /* may-writing ones: a byte per element, 0 when
                                  called, 1 where out is filled and counts */
};

/* Computes insn's writing operands; value is the register a store names.
 * state holds what insn->desc->hidden of it reads, in their order: the
 * elements of an operand, or in NULL where nothing was kept yet. Hidden state
 * that an instruction writes is, after it, its first reading operand: to keep
 * that is the caller's business.
 * A static reason where shapes or dtypes do not fit, else NULL. f32
 * arithmetic inside, rounded to the destination's dtype (nearest even, and
 * saturating for integers). */
NSR_MUST_USE const char *nsr_numeric(const struct nsr_insn *insn,
                                     struct nsr_elements *operands,
                                     const struct nsr_elements *state,
                                     int32_t value);

/* The reason that is an access out of bounds. */
extern const char nsr_index_outside[];

/* One element to and from f32, by dtype; integers by value. */
float nsr_element_get(enum nsr_dtype dtype, const uint8_t *p);
void nsr_element_put(enum nsr_dtype dtype, uint8_t *p, float v);
/* One element in another dtype: its bytes where they are the same, saturated
 * between integers, else through f32. */
void nsr_element_convert(enum nsr_dtype to, uint8_t *out, enum nsr_dtype from,
                         const uint8_t *in);
/* One integer element (or a float's bits) to and from a register. */
int32_t nsr_element_bits(enum nsr_dtype dtype, const uint8_t *p);
void nsr_element_put_bits(enum nsr_dtype dtype, uint8_t *p, int32_t v);

#endif
