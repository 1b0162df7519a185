/* contents.c - pseudo-random initial contents as base64 text. */
#include <inttypes.h>
#include <string.h>

#include "gen/suite.h"

/* A mixing function on a counter, so that any element can be made alone. */
static uint64_t mix(uint64_t z) {
  z *= UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 29) * UINT64_C(0xff51afd7ed558ccd);
  z = (z ^ z >> 32) * UINT64_C(0xc4ceb9fe1a85ec53);
  return z ^ z >> 29;
}

/* -2..2 in 2 * steps steps, as f32 bits. */
static uint32_t f32_element(uint64_t seed, uint64_t i, uint32_t steps) {
  uint64_t r = mix(seed << 40 ^ (i + 1)) % (2 * (uint64_t)steps + 1);
  float v = (float)((int64_t)r - steps) / ((float)steps / 2);
  uint32_t bits;
  memcpy(&bits, &v, sizeof bits);
  return bits;
}

/* 0..2 */
static uint32_t positive_element(uint64_t seed, uint64_t i, uint32_t steps) {
  return f32_element(seed, i, steps) & INT32_MAX;
}

/* The upper half of an f32 whose lower half is 0. */
static uint32_t bf16_element(uint64_t seed, uint64_t i, uint32_t steps) {
  return f32_element(seed, i, steps) >> 16;
}

static uint32_t i32_element(uint64_t seed, uint64_t i, uint32_t below) {
  return (uint32_t)(mix(seed << 40 ^ (i + 1)) % below);
}

/* Three bytes or fewer as four characters. */
static void base64_group(struct nsr_strbuf *out, const uint8_t *b, size_t n) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                               "abcdefghijklmnopqrstuvwxyz0123456789+/";
  uint32_t w = (uint32_t)b[0] << 16;
  w |= n > 1 ? (uint32_t)b[1] << 8 : 0;
  w |= n > 2 ? b[2] : 0;
  char c[4] = {digits[w >> 18], digits[w >> 12 & 63],
               n > 1 ? digits[w >> 6 & 63] : '=', n > 2 ? digits[w & 63] : '='};
  nsr_strbuf_add(out, c, sizeof c);
}

struct contents {
  uint64_t seed;
  uint32_t limit; /* steps, or below what they are */
  unsigned size;
  uint32_t (*element)(uint64_t seed, uint64_t i, uint32_t limit);
};

/* Groups of 12 bytes have no rest in base64, and hold whole elements. */
static void add_data(struct nsr_strbuf *out, const struct contents *c,
                     uint64_t n) {
  enum { GROUP = 12 };
  unsigned each = GROUP / c->size;
  if (!n)
    return;
  nsr_strbuf_puts(out, " data \"");
  for (uint64_t i = 0; i < n; i += each) {
    uint8_t b[GROUP] = {0};
    size_t bytes = n - i < each ? (size_t)(n - i) * c->size : GROUP;
    for (size_t j = 0; j < bytes; j++)
      b[j] = (uint8_t)(c->element(c->seed, i + j / c->size, c->limit) >>
                       j % c->size * 8);
    for (size_t j = 0; j < bytes; j += 3)
      base64_group(out, b + j, bytes - j);
  }
  nsr_strbuf_puts(out, "\"");
}

void nsr_gen_random_f32(struct nsr_strbuf *out, uint64_t seed, uint64_t n) {
  add_data(out, &(struct contents){seed, 1024, 4, f32_element}, n);
}

void nsr_gen_random_positive(struct nsr_strbuf *out, uint64_t seed,
                             uint64_t n) {
  add_data(out, &(struct contents){seed, 1024, 4, positive_element}, n);
}

void nsr_gen_random_bf16(struct nsr_strbuf *out, uint64_t seed, uint64_t n) {
  add_data(out, &(struct contents){seed, 64, 2, bf16_element}, n);
}

void nsr_gen_random_i32(struct nsr_strbuf *out, uint64_t seed, uint64_t n) {
  nsr_gen_random_below(out, seed, n, 256);
}

void nsr_gen_random_below(struct nsr_strbuf *out, uint64_t seed, uint64_t n,
                          uint32_t below) {
  add_data(out, &(struct contents){seed, below, 4, i32_element}, n);
}

void nsr_gen_table(struct nsr_strbuf *out, const char *name, int64_t at,
                   int64_t n, uint64_t seed, int64_t most) {
  nsr_strbuf_printf(out,
                    ".tensor %s dram i32 [%" PRId64 "] at %" PRId64
                    " input range 0 %" PRId64,
                    name, n, at, most);
  nsr_gen_random_below(out, seed, (uint64_t)n, (uint32_t)(most + 1));
  nsr_strbuf_puts(out, "\n");
}

int64_t nsr_gen_rows(struct nsr_strbuf *out, const char *name, int64_t at,
                     int64_t n, int64_t cols, uint64_t seed) {
  enum { ALIGN = 64 };
  nsr_strbuf_printf(out,
                    ".tensor %s dram bf16 [%" PRId64 ", %" PRId64
                    "] at %" PRId64 " input",
                    name, n, cols, at);
  nsr_gen_random_bf16(out, seed, (uint64_t)(n * cols));
  nsr_strbuf_puts(out, "\n");
  return (at + 2 * n * cols + ALIGN - 1) / ALIGN * ALIGN;
}
