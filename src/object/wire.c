/* wire.c - little-endian numbers and strings. */
#include "object/wire.h"

#include <string.h>

const uint8_t *nsr_in_bytes(struct nsr_in *in, size_t n) {
  if (in->bad || in->left < n) {
    in->bad = true;
    return NULL;
  }
  const uint8_t *p = in->p;
  in->p += n;
  in->left -= n;
  return p;
}

static uint64_t number(struct nsr_in *in, size_t n) {
  const uint8_t *p = nsr_in_bytes(in, n);
  uint64_t v = 0;
  while (p && n-- > 0)
    v = v << 8 | p[n];
  return v;
}

uint8_t nsr_in_u8(struct nsr_in *in) { return (uint8_t)number(in, 1); }
uint16_t nsr_in_u16(struct nsr_in *in) { return (uint16_t)number(in, 2); }
uint32_t nsr_in_u32(struct nsr_in *in) { return (uint32_t)number(in, 4); }
uint64_t nsr_in_u64(struct nsr_in *in) { return number(in, 8); }

const char *nsr_in_str(struct nsr_in *in) {
  size_t n = nsr_in_u32(in);
  const uint8_t *p = in->bad ? NULL : nsr_in_bytes(in, n + 1);
  if (!p || memchr(p, 0, n + 1) != p + n) {
    in->bad = true;
    return "";
  }
  return (const char *)p;
}

const char *nsr_in_name(const struct nsr_in *strings, uint64_t at) {
  if (at >= strings->left)
    return NULL;
  size_t room = strings->left - at;
  if (room > NSR_MAX_NAME + 1)
    room = NSR_MAX_NAME + 1;
  const uint8_t *p = strings->p + at;
  return memchr(p, 0, room) ? (const char *)p : NULL;
}

uint32_t nsr_in_count(struct nsr_in *in, size_t size) {
  uint32_t n = nsr_in_u32(in);
  if (in->bad || n > in->left / size) {
    in->bad = true;
    return 0;
  }
  return n;
}

bool nsr_in_done(const struct nsr_in *in) { return !in->bad && in->left == 0; }

static void put(struct nsr_strbuf *b, uint64_t v, size_t n) {
  char bytes[8];
  for (size_t i = 0; i < n; i++)
    bytes[i] = (char)(uint8_t)(v >> (8 * i));
  nsr_strbuf_add(b, bytes, n);
}

void nsr_put_u8(struct nsr_strbuf *b, uint8_t v) { put(b, v, 1); }
void nsr_put_u16(struct nsr_strbuf *b, uint16_t v) { put(b, v, 2); }
void nsr_put_u32(struct nsr_strbuf *b, uint32_t v) { put(b, v, 4); }
void nsr_put_u64(struct nsr_strbuf *b, uint64_t v) { put(b, v, 8); }

void nsr_put_str(struct nsr_strbuf *b, const char *s) {
  size_t n = strlen(s);
  nsr_put_u32(b, (uint32_t)n);
  nsr_strbuf_add(b, s, n + 1);
}
