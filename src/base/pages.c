/* pages.c - large blocks of memory: the first free pages of a stretch of
 * addresses that is claimed once.
 */
#include "base/pages.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Sanitizers see the ends of what malloc hands out only. */
#if defined(__SANITIZE_ADDRESS__)
enum { CLAIMS = 0 };
#else
enum { CLAIMS = 1 };
#endif

enum { CLAIMED = 1 << 14 }; /* pages of addresses: 32 GiB */

enum state { FRESH, FREE, USED }; /* never used, used once, in use */

static size_t pages_of(size_t size) { return (size - 1) / NSR_PAGE + 1; }

static bool inside(const struct nsr_pages *x, const void *p) {
  return x->first &&
         (uintptr_t)p - (uintptr_t)x->first < (uintptr_t)CLAIMED * NSR_PAGE;
}

/* Claims the addresses; where that is not possible malloc serves. */
static bool claim(struct nsr_pages *x) {
  size_t size = (size_t)CLAIMED * NSR_PAGE;
  if (x->state)
    return x->first;
  x->state = CLAIMS ? calloc(CLAIMED, 1) : NULL;
  char *p = x->state ? mmap(NULL, size + NSR_PAGE, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                     : MAP_FAILED;
  if (p == MAP_FAILED)
    return false;
  size_t before = (size_t) - (uintptr_t)p % NSR_PAGE;
  if (before)
    munmap(p, before);
  munmap(p + before + size, NSR_PAGE - before);
  x->first = p + before;
  madvise(x->first, size, MADV_HUGEPAGE); /* a wish */
  return true;
}

/* Of the first n free pages in a row the first; CLAIMED: there are not so
 * many. */
static size_t find(const struct nsr_pages *x, size_t n) {
  size_t run = 0;
  for (size_t i = 0; i < x->n; i++) {
    run = x->state[i] == USED ? 0 : run + 1;
    if (run == n)
      return i + 1 - n;
  }
  return n <= CLAIMED - (x->n - run) ? x->n - run : CLAIMED;
}

static void *use(struct nsr_pages *x, size_t from, size_t n, bool zeroed) {
  for (size_t i = from; i < from + n; i++) {
    if (zeroed && x->state[i] == FREE)
      memset(x->first + i * NSR_PAGE, 0, NSR_PAGE);
    x->state[i] = USED;
  }
  x->n = from + n > x->n ? from + n : x->n;
  return x->first + from * NSR_PAGE;
}

/* Makes *size a multiple of the page where it stands in pages. */
static void *take(struct nsr_pages *x, size_t *size, bool zeroed) {
  size_t n = pages_of(*size);
  if (*size >= NSR_PAGE && n <= CLAIMED && claim(x)) {
    size_t from = find(x, n);
    if (from < CLAIMED) {
      *size = n * NSR_PAGE;
      return use(x, from, n, zeroed);
    }
  }
  return zeroed ? calloc(1, *size) : malloc(*size);
}

void *nsr_pages_new(struct nsr_pages *x, size_t *size) {
  return take(x, size, true);
}

static void give(struct nsr_pages *x, size_t from, size_t n) {
  memset(x->state + from, FREE, n);
}

/* Where p is large enough, or the pages behind it are free, it stays. */
static bool resize_here(struct nsr_pages *x, char *p, size_t old,
                        size_t *size) {
  size_t from = (size_t)(p - x->first) / NSR_PAGE;
  size_t n = pages_of(old), want = pages_of(*size);
  if (*size < NSR_PAGE || want > CLAIMED - from)
    return false;
  for (size_t i = n; i < want; i++)
    if (x->state[from + i] == USED)
      return false;
  if (want > n)
    use(x, from + n, want - n, false);
  else
    give(x, from + want, n - want);
  *size = want * NSR_PAGE;
  return true;
}

void *nsr_pages_resize(struct nsr_pages *x, void *p, size_t old, size_t *size) {
  bool paged = inside(x, p);
  if (paged && resize_here(x, p, old, size))
    return p;
  if (!paged && *size < NSR_PAGE)
    return realloc(p, *size);
  void *moved = take(x, size, false);
  if (!moved)
    return NULL;
  memcpy(moved, p, old < *size ? old : *size);
  nsr_pages_free(x, p, old);
  return moved;
}

void nsr_pages_free(struct nsr_pages *x, void *p, size_t size) {
  if (inside(x, p))
    give(x, (size_t)((char *)p - x->first) / NSR_PAGE, pages_of(size));
  else
    free(p);
}

void nsr_pages_end(struct nsr_pages *x) {
  if (x->first)
    munmap(x->first, (size_t)CLAIMED * NSR_PAGE);
  free(x->state);
  *x = (struct nsr_pages){0};
}
