/* pieces.c - a list of pieces that wait. */
#include "base/pieces.h"

#include <assert.h>
#include <string.h>

void *nsr_piece_take(struct nsr_pieces *from) {
  void *piece = from->spare;
  assert(from->size >= sizeof from->spare);
  if (!piece)
    return nsr_alloc(from->ctx, from->arena, from->size);
  memcpy(&from->spare, piece, sizeof from->spare);
  return piece;
}

void nsr_piece_give(struct nsr_pieces *from, void *piece) {
  memcpy(piece, &from->spare, sizeof from->spare);
  from->spare = piece;
}
