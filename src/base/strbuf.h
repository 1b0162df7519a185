/* strbuf.h - text that grows: for everything that prints. An allocation
 * failure is remembered; nsr_strbuf_done reports it once.
 */
#ifndef NSR_BASE_STRBUF_H
#define NSR_BASE_STRBUF_H

#include "base/arena.h"

struct nsr_strbuf {
  struct nsr_ctx *ctx;
  enum nsr_arena_id arena;
  char *s; /* NUL-terminated once anything was added */
  size_t n, cap;
  bool failed;
};

void nsr_strbuf_init(struct nsr_strbuf *b, struct nsr_ctx *ctx,
                     enum nsr_arena_id arena);
void nsr_strbuf_add(struct nsr_strbuf *b, const char *s, size_t n);
void nsr_strbuf_puts(struct nsr_strbuf *b, const char *s);
void nsr_strbuf_decimal(struct nsr_strbuf *b, uint32_t v);
NSR_PRINTF(2, 3)
void nsr_strbuf_printf(struct nsr_strbuf *b, const char *fmt, ...);
/* The text (never NULL on success) and, if n is not NULL, its length. */
NSR_MUST_USE enum nsr_status nsr_strbuf_done(struct nsr_strbuf *b,
                                             const char **s, size_t *n);
#endif
