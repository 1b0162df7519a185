/* vec.h - growing arrays of any type, in an arena.
 *
 *   NSR_VEC(struct edge) edges = {0};
 *   NSR_PUSH(ctx, NSR_SCRATCH, &edges, ((struct edge){a, b}));
 *   edges.v[0], edges.n
 *
 * Growing copies into a fresh block (the old one stays until its arena
 * goes), so a vector costs at most twice its final size.
 */
#ifndef NSR_BASE_VEC_H
#define NSR_BASE_VEC_H

#include "base/arena.h"

#define NSR_VEC(T)                                                             \
  struct {                                                                     \
    T *v;                                                                      \
    size_t n, cap;                                                             \
  }

/* Room for `more` further elements of `size` bytes; new storage or NULL. */
void *nsr_vec_grow(struct nsr_ctx *ctx, enum nsr_arena_id arena, void *v,
                   size_t n, size_t *cap, size_t more, size_t size);

/* Makes room for `more`, or returns NSR_E_NOMEM. */
#define NSR_RESERVE(ctx, arena, vec, more)                                     \
  do {                                                                         \
    if ((vec)->cap - (vec)->n < (size_t)(more)) {                              \
      void *nsr_grown_ = nsr_vec_grow((ctx), (arena), (vec)->v, (vec)->n,      \
                                      &(vec)->cap, (more), sizeof *(vec)->v);  \
      if (!nsr_grown_)                                                         \
        return NSR_E_NOMEM;                                                    \
      (vec)->v = nsr_grown_;                                                   \
    }                                                                          \
  } while (0)

#define NSR_PUSH(ctx, arena, vec, ...)                                         \
  do {                                                                         \
    NSR_RESERVE(ctx, arena, vec, 1);                                           \
    (vec)->v[(vec)->n] = (__VA_ARGS__);                                        \
    (vec)->n++;                                                                \
  } while (0)

#endif
