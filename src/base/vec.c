/* vec.c - growing arrays. */
#include "base/vec.h"

#include <string.h>

void *nsr_vec_grow(struct nsr_ctx *ctx, enum nsr_arena_id arena, void *v,
                   size_t n, size_t *cap, size_t more, size_t size) {
  size_t want = *cap < 8 ? 8 : *cap * 2;
  if (want < n + more)
    want = n + more;
  void *p = nsr_alloc_n(ctx, arena, want, size);
  if (!p)
    return NULL;
  if (n)
    memcpy(p, v, n * size);
  *cap = want;
  return p;
}
