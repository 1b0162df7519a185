/* bits.h - a word as 64-bit lanes, so that a field of up to 64 bits is at most
 * two of them. One spare lane spares the edge case at the end.
 */
#ifndef NSR_ISA_BITS_H
#define NSR_ISA_BITS_H

#include <nsr/isa.h>

#include <string.h>

enum { NSR_LANES = NSR_MAX_WORD / 8 + 1 };

struct nsr_bits {
  uint64_t lane[NSR_LANES];
};

/* Eight bytes, little endian, as one load where the machine is so. */
static inline uint64_t nsr_bits_lane(const uint8_t *p) {
  uint64_t v;
  memcpy(&v, p, sizeof v);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  v = __builtin_bswap64(v);
#endif
  return v;
}

static inline void nsr_bits_load(struct nsr_bits *b, const uint8_t *word,
                                 unsigned bytes) {
  unsigned i = 0, n = 0;
  for (; i + 8 <= bytes; i += 8)
    b->lane[n++] = nsr_bits_lane(word + i);
  while (n < NSR_LANES)
    b->lane[n++] = 0;
  for (; i < bytes; i++)
    b->lane[i / 8] |= (uint64_t)word[i] << (i % 8 * 8);
}

static inline void nsr_bits_store(const struct nsr_bits *b, uint8_t *word,
                                  unsigned bytes) {
  for (unsigned i = 0; i < bytes; i++)
    word[i] = (uint8_t)(b->lane[i / 8] >> (i % 8 * 8));
}

static inline uint64_t nsr_bits_ones(unsigned width) {
  return width >= 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
}

static inline uint64_t nsr_bits_get(const struct nsr_bits *b, unsigned lo,
                                    unsigned width) {
  unsigned shift = lo % 64;
  uint64_t v = b->lane[lo / 64] >> shift;
  if (shift + width > 64)
    v |= b->lane[lo / 64 + 1] << (64 - shift);
  return v & nsr_bits_ones(width);
}

/* raw must fit in width bits. */
static inline void nsr_bits_put(struct nsr_bits *b, unsigned lo, unsigned width,
                                uint64_t raw) {
  unsigned shift = lo % 64;
  uint64_t ones = nsr_bits_ones(width);
  uint64_t *lane = &b->lane[lo / 64];
  lane[0] = (lane[0] & ~(ones << shift)) | raw << shift;
  if (shift + width > 64)
    lane[1] = (lane[1] & ~(ones >> (64 - shift))) | raw >> (64 - shift);
}

/* The number a raw value of width bits stands for. */
static inline int64_t nsr_bits_extend(uint64_t raw, unsigned width,
                                      bool is_signed) {
  uint64_t sign = is_signed ? UINT64_C(1) << (width - 1) : 0;
  return (int64_t)((raw ^ sign) - sign);
}

#endif
