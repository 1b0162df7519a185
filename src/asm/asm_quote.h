/* asm_quote.h - bytes as text: plain names, base64, hex. */
#ifndef NSR_ASM_QUOTE_H
#define NSR_ASM_QUOTE_H

#include "base/arena.h"

static inline bool nsr_is_digit(char c) { return c >= '0' && c <= '9'; }
static inline bool nsr_is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static inline bool nsr_is_name(char c) {
  return nsr_is_name_start(c) || nsr_is_digit(c) || c == '.' || c == '$';
}
/* Needs no quotes in assembly: a letter or _, then letters, digits, _ . $ */
bool nsr_name_is_plain(const char *s);
/* 0..15, -1: not a hexadecimal digit. */
int nsr_hex_digit(char c);

/* The base64 text of n bytes, NUL-terminated; NULL: out of memory. */
char *nsr_base64_encode(struct nsr_ctx *ctx, enum nsr_arena_id arena,
                        const uint8_t *data, size_t n);
/* The inverse, with padding and nothing but base64 in it: into out, which has
 * room for n / 4 * 3 bytes. False: not base64. */
bool nsr_base64_decode(const char *s, size_t n, uint8_t *out, size_t *size);
#endif
