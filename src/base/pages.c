/* pages.c - large blocks of memory, from huge pages, again and again. */
#include "base/pages.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Sanitizers see the ends of what malloc hands out only. */
#if defined(__SANITIZE_ADDRESS__)
enum { FROM_SYSTEM = 0 };
#else
enum { FROM_SYSTEM = 1 };
#endif

/* How a kept block begins. */
struct spare {
  struct spare *next;
  size_t written;
};

static bool large(size_t size) {
  return FROM_SYSTEM && size >= NSR_PAGES_LARGE && size <= SIZE_MAX / 4;
}

static unsigned log2_of(size_t size) {
  return 63 - (unsigned)__builtin_clzll(size);
}

static size_t round_up(size_t size) {
  size_t step = (size_t)1 << (log2_of(size) - 2);
  return (size + step - 1) & ~(step - 1);
}

/* By a size that is rounded up. */
static struct spare **spares(struct nsr_pages *x, size_t size) {
  unsigned log = log2_of(size);
  return (struct spare **)&x->spare[4 * log + (size >> (log - 2) & 3)];
}

/* At the start of a huge page; what is mapped around goes back. */
static void *map(size_t size) {
  size_t room = size + NSR_PAGES_LARGE;
  char *p = mmap(NULL, room, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED)
    return NULL;
  size_t before = (size_t) - (uintptr_t)p % NSR_PAGES_LARGE;
  if (before)
    munmap(p, before);
  munmap(p + before + size, NSR_PAGES_LARGE - before);
  madvise(p + before, size, MADV_HUGEPAGE); /* a wish */
  return p + before;
}

static void *take_spare(struct nsr_pages *x, size_t size, bool zeroed) {
  struct spare **at = spares(x, size), *p = *at;
  if (!p)
    return NULL;
  *at = p->next;
  x->kept -= size;
  if (zeroed)
    memset(p, 0, p->written > sizeof *p ? p->written : sizeof *p);
  return p;
}

/* Gives back what is kept until no more than `most` bytes are. */
static void trim(struct nsr_pages *x, size_t most) {
  for (size_t i = NSR_PAGES_SIZES; i-- > 0 && x->kept > most;) {
    size_t size = i < 8 ? 0 : (size_t)(4 + i % 4) << (i / 4 - 2);
    for (struct spare *p; (p = x->spare[i]) && x->kept > most;) {
      x->spare[i] = p->next;
      x->kept -= size;
      munmap(p, size);
    }
  }
}

static void *take(struct nsr_pages *x, size_t size, bool zeroed) {
  void *p = take_spare(x, size, zeroed);
  size_t free = x->most > x->used + size ? x->most - x->used - size : 0;
  if (!p) {
    trim(x, free);
    p = map(size);
  }
  if (!p)
    return NULL;
  x->used += size;
  x->most = x->used > x->most ? x->used : x->most;
  return p;
}

void *nsr_pages_new(struct nsr_pages *x, size_t *size) {
  if (!large(*size))
    return calloc(1, *size);
  *size = round_up(*size);
  return take(x, *size, true);
}

void *nsr_pages_resize(struct nsr_pages *x, void *p, size_t old, size_t *size) {
  if (!large(old) && !large(*size))
    return realloc(p, *size);
  size_t want = large(*size) ? round_up(*size) : *size;
  void *moved = large(want) ? take(x, want, false) : malloc(want);
  if (!moved)
    return NULL;
  memcpy(moved, p, old < want ? old : want);
  nsr_pages_free(x, p, old, old);
  *size = want;
  return moved;
}

void nsr_pages_free(struct nsr_pages *x, void *p, size_t size, size_t written) {
  if (!large(size)) {
    free(p);
    return;
  }
  struct spare **at = spares(x, size);
  *(struct spare *)p = (struct spare){*at, written};
  *at = p;
  x->used -= size;
  x->kept += size;
}

void nsr_pages_end(struct nsr_pages *x) { trim(x, 0); }
