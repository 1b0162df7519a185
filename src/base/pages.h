/* pages.h - the memory that blocks of arenas are made of. What is large stands
 * in huge pages, where the system has them, and these are used again: a kernel
 * of a million instructions touches some hundred thousand small pages, and each
 * that is new costs a trap and is cleared.
 */
#ifndef NSR_BASE_PAGES_H
#define NSR_BASE_PAGES_H

#include <stddef.h>
#include <stdint.h>

/* Blocks from this size on are large, and made of pages of it; smaller ones are
 * malloc's, and all are where the system gives no room for pages. */
enum { NSR_PAGE = 1 << 21 };

/* Zeroed to begin. */
struct nsr_pages {
  char *first;    /* NULL: no room yet */
  uint8_t *state; /* by page */
  size_t n;       /* that were used so far; those behind them never were */
};

/* *size zeroed bytes, or more: *size is then that. Aligned for any type; NULL:
 * there are none. */
void *nsr_pages_new(struct nsr_pages *pages, size_t *size);

/* The same, with the bytes of p, of size `old`, which is not valid any longer;
 * what is new is not zeroed. NULL: there are none, and p stays. */
void *nsr_pages_resize(struct nsr_pages *pages, void *p, size_t old,
                       size_t *size);

void nsr_pages_free(struct nsr_pages *pages, void *p, size_t size);

/* What stands in pages goes back. */
void nsr_pages_end(struct nsr_pages *pages);

#endif
