/* pieces.h - pieces of one size that are given back and taken again, for walks
 * that need some at each level and would fill an arena otherwise.
 */
#ifndef NSR_BASE_PIECES_H
#define NSR_BASE_PIECES_H

#include "base/arena.h"

/* Zeroed but for these to begin; size: at least that of a pointer. */
struct nsr_pieces {
  struct nsr_ctx *ctx;
  enum nsr_arena_id arena;
  size_t size;
  void *spare; /* each begins with a pointer to the next */
};

/* A piece, with anything in it; NULL where memory is short. */
void *nsr_piece_take(struct nsr_pieces *from);
void nsr_piece_give(struct nsr_pieces *from, void *piece);

/* p = a piece, or return NSR_E_NOMEM. */
#define NSR_TAKE(from, p)                                                      \
  do {                                                                         \
    (p) = nsr_piece_take(from);                                                \
    if (!(p))                                                                  \
      return NSR_E_NOMEM;                                                      \
  } while (0)

#endif
