/* json_text.c - JSON as text, piece by piece. */
#include "asm/json_text.h"

#include <string.h>

#include "object/check.h"

static void put(struct nsr_json_text *t, const char *s, size_t n) {
  nsr_strbuf_add(&t->b, s, n);
}

/* A comma behind what is a value. */
static void separate(struct nsr_json_text *t) {
  if (t->b.n && !strchr("{[:\n", t->b.s[t->b.n - 1]))
    put(t, ",", 1);
}

void nsr_json_raw(struct nsr_json_text *t, const char *s, size_t n) {
  separate(t);
  put(t, s, n);
}

void nsr_json_open(struct nsr_json_text *t, char bracket) {
  nsr_json_raw(t, &bracket, 1);
}

void nsr_json_close(struct nsr_json_text *t, char bracket) {
  put(t, &bracket, 1);
}

void nsr_json_newline(struct nsr_json_text *t) { put(t, "\n", 1); }

void nsr_json_number(struct nsr_json_text *t, int64_t v) {
  char digits[24], *p = digits + sizeof digits;
  uint64_t rest = v < 0 ? -(uint64_t)v : (uint64_t)v;
  do
    *--p = (char)('0' + rest % 10);
  while (rest /= 10);
  if (v < 0)
    *--p = '-';
  nsr_json_raw(t, p, (size_t)(digits + sizeof digits - p));
}

/* ---- strings */

static void escape(struct nsr_json_text *t, unsigned char c) {
  static const char digits[] = "0123456789ABCDEF";
  static const char named[] = "\"\"\\\\\bb\ff\nn\rr\tt";
  char text[] = "\\u0000";
  for (size_t i = 0; i + 1 < sizeof named; i += 2)
    if (named[i] == (char)c) {
      text[1] = named[i + 1];
      put(t, text, 2);
      return;
    }
  text[4] = digits[c >> 4];
  text[5] = digits[c & 15];
  put(t, text, 6);
}

static bool plain(unsigned char c) {
  return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

/* Strings end at their NUL, as all names here do. */
void nsr_json_text(struct nsr_json_text *t, const char *s) {
  separate(t);
  put(t, "\"", 1);
  while (*s) {
    size_t n = 0;
    while (plain((unsigned char)s[n]))
      n++;
    if (!n && (unsigned char)*s >= 0x80) {
      n = nsr_utf8_length(s);
      t->wrong |= n == 0;
      n += n == 0;
    }
    if (n)
      put(t, s, n);
    else
      escape(t, (unsigned char)*s);
    s += n ? n : 1;
  }
  put(t, "\"", 1);
}

void nsr_json_key(struct nsr_json_text *t, const char *key) {
  nsr_json_text(t, key);
  put(t, ":", 1);
}
