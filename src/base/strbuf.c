/* strbuf.c - text that grows. */
#include "base/strbuf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SMALLEST = 64 };

void nsr_strbuf_init(struct nsr_strbuf *b, struct nsr_ctx *ctx,
                     enum nsr_arena_id arena) {
  *b = (struct nsr_strbuf){.ctx = ctx, .arena = arena};
}

/* Room for `more` bytes and the NUL. */
static bool reserve(struct nsr_strbuf *b, size_t more) {
  if (b->failed)
    return false;
  if (b->cap - b->n > more)
    return true;
  size_t need = b->n + more + 1, twice = b->cap * 2;
  size_t cap = need > twice ? need : twice;
  cap = cap > SMALLEST ? cap : SMALLEST;
  void *p = nsr_regrow(b->ctx, b->arena, b->s, b->cap, cap);
  b->failed = !p;
  if (p) {
    b->s = p;
    b->cap = cap;
  }
  return p != NULL;
}

void nsr_strbuf_add(struct nsr_strbuf *b, const char *s, size_t n) {
  if (!reserve(b, n))
    return;
  if (n)
    memcpy(b->s + b->n, s, n);
  b->n += n;
  b->s[b->n] = 0;
}

void nsr_strbuf_puts(struct nsr_strbuf *b, const char *s) {
  nsr_strbuf_add(b, s, strlen(s));
}

void nsr_strbuf_decimal(struct nsr_strbuf *b, uint32_t v) {
  char text[10], *p = text + sizeof text;
  do {
    *--p = (char)('0' + v % 10);
    v /= 10;
  } while (v);
  nsr_strbuf_add(b, p, (size_t)(text + sizeof text - p));
}

void nsr_strbuf_printf(struct nsr_strbuf *b, const char *fmt, ...) {
  va_list ap, again;
  va_start(ap, fmt);
  va_copy(again, ap);
  size_t room = b->failed ? 0 : b->cap - b->n;
  int n = vsnprintf(room ? b->s + b->n : NULL, room, fmt, ap);
  if (n >= 0 && (size_t)n >= room && reserve(b, (size_t)n))
    n = vsnprintf(b->s + b->n, (size_t)n + 1, fmt, again);
  if (n >= 0 && !b->failed)
    b->n += (size_t)n;
  va_end(again);
  va_end(ap);
}

enum nsr_status nsr_strbuf_done(struct nsr_strbuf *b, const char **s,
                                size_t *n) {
  if (!reserve(b, 0))
    return NSR_E_NOMEM;
  b->s[b->n] = 0;
  *s = b->s;
  if (n)
    *n = b->n;
  return NSR_OK;
}
