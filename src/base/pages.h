/* pages.h - the memory that blocks of arenas are made of. What is large comes
 * from the system in huge pages where it has them, and is used again: a kernel
 * of a million instructions touches some hundred thousand small pages, and each
 * that is new costs a trap and is cleared.
 */
#ifndef NSR_BASE_PAGES_H
#define NSR_BASE_PAGES_H

#include <stddef.h>

/* Blocks from this size on are large: of four sizes between two powers of two;
 * smaller ones are malloc's. */
enum { NSR_PAGES_LARGE = 1 << 21, NSR_PAGES_SIZES = 4 * 64 };

/* Zeroed to begin. Large blocks that were given back are kept as long as all
 * together are not more than were in use at some time. */
struct nsr_pages {
  void *spare[NSR_PAGES_SIZES];
  size_t used, kept, most; /* bytes in large blocks */
};

/* *size zeroed bytes, or more: *size is then that. Aligned for any type; NULL:
 * there are none. */
void *nsr_pages_new(struct nsr_pages *pages, size_t *size);

/* The same, with the bytes of p, of size `old`, which is not valid any longer;
 * what is new is not zeroed. NULL: there are none, and p stays. */
void *nsr_pages_resize(struct nsr_pages *pages, void *p, size_t old,
                       size_t *size);

/* Of p's bytes the first `written` may not be zero. */
void nsr_pages_free(struct nsr_pages *pages, void *p, size_t size,
                    size_t written);

/* What is kept goes back. */
void nsr_pages_end(struct nsr_pages *pages);

#endif
