/* asm_quote.c - bytes as text and back. */
#include "asm/asm_quote.h"

#include <string.h>

bool nsr_name_is_plain(const char *s) {
  if (!nsr_is_name_start(*s))
    return false;
  while (nsr_is_name(*s))
    s++;
  return !*s;
}

int nsr_hex_digit(char c) {
  if (nsr_is_digit(c))
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  if (c >= 'A' && c <= 'F')
    return c - 'A' + 10;
  return -1;
}

static const char alphabet[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

char *nsr_base64_encode(struct nsr_ctx *ctx, enum nsr_arena_id arena,
                        const uint8_t *data, size_t n) {
  char *out = nsr_alloc_n(ctx, arena, n / 3 + 2, 4);
  if (!out)
    return NULL;
  char *o = out;
  for (size_t i = 0; i < n; i += 3) {
    size_t left = n - i;
    uint32_t v = (uint32_t)data[i] << 16;
    v |= left > 1 ? (uint32_t)data[i + 1] << 8 : 0;
    v |= left > 2 ? data[i + 2] : 0;
    *o++ = alphabet[v >> 18];
    *o++ = alphabet[v >> 12 & 63];
    *o++ = left > 1 ? alphabet[v >> 6 & 63] : '=';
    *o++ = left > 2 ? alphabet[v & 63] : '=';
  }
  *o = 0;
  return out;
}

static int sextet(char c) {
  if (c >= 'A' && c <= 'Z')
    return c - 'A';
  if (c >= 'a' && c <= 'z')
    return c - 'a' + 26;
  if (nsr_is_digit(c))
    return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

bool nsr_base64_decode(const char *s, size_t n, uint8_t *out, size_t *size) {
  size_t pad = 0, at = 0;
  if (n % 4)
    return false;
  while (pad < 2 && pad < n && s[n - 1 - pad] == '=')
    pad++;
  for (size_t i = 0; i < n; i += 4) {
    size_t keep = i + 4 == n ? 4 - pad : 4;
    uint32_t v = 0;
    for (size_t j = 0; j < 4; j++) {
      int six = j < keep ? sextet(s[i + j]) : 0;
      if (six < 0)
        return false;
      v = v << 6 | (uint32_t)six;
    }
    if (v & ((UINT32_C(1) << 8 * (4 - keep)) - 1))
      return false; /* bits that no byte keeps */
    for (size_t j = 0; j + 1 < keep; j++)
      out[at++] = (uint8_t)(v >> (16 - 8 * j));
  }
  *size = at;
  return true;
}
