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

/* The same for long vectors into which nobody holds a pointer while they grow:
 * where it stands in memory of its own, one grows without a second copy of it.
 * A vector is grown in either way, not in both. */
void *nsr_vec_regrow(struct nsr_ctx *ctx, enum nsr_arena_id arena, void *v,
                     size_t *cap, size_t want, size_t size);

#define NSR_REGROW(ctx, arena, vec, more)                                      \
  do {                                                                         \
    if ((vec)->cap - (vec)->n < (size_t)(more)) {                              \
      void *nsr_grown_ = nsr_vec_regrow((ctx), (arena), (vec)->v, &(vec)->cap, \
                                        (vec)->n + (more), sizeof *(vec)->v);  \
      if (!nsr_grown_)                                                         \
        return NSR_E_NOMEM;                                                    \
      (vec)->v = nsr_grown_;                                                   \
    }                                                                          \
  } while (0)

#define NSR_APPEND(ctx, arena, vec, ...)                                       \
  do {                                                                         \
    NSR_REGROW(ctx, arena, vec, 1);                                            \
    (vec)->v[(vec)->n] = (__VA_ARGS__);                                        \
    (vec)->n++;                                                                \
  } while (0)

/* p = the elements of such a vector, without room for more. */
#define NSR_VEC_DONE(ctx, arena, vec, p)                                       \
  do {                                                                         \
    void *nsr_done_ =                                                          \
        nsr_regrow((ctx), (arena), (vec)->v, (vec)->cap * sizeof *(vec)->v,    \
                   (vec)->n * sizeof *(vec)->v);                               \
    if (!nsr_done_)                                                            \
      return NSR_E_NOMEM;                                                      \
    (p) = nsr_done_;                                                           \
  } while (0)

#endif
