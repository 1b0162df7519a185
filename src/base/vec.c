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

void *nsr_vec_regrow(struct nsr_ctx *ctx, enum nsr_arena_id arena, void *v,
                     size_t *cap, size_t want, size_t size) {
  size_t twice = *cap < 8 ? 8 : *cap * 2;
  want = want > twice ? want : twice;
  if (want > SIZE_MAX / 2 / size)
    want = SIZE_MAX / 2 / size; /* which there is not */
  void *p = nsr_regrow(ctx, arena, v, *cap * size, want * size);
  if (p)
    *cap = want;
  return p;
}
