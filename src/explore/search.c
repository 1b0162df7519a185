/* search.c - every state that can be reached, depth first.
 *
 * Needs a world; visits each state once, by a fingerprint of 128 bits. Reduced
 * it takes one order of what commutes: an engine that may go on by a wait on a
 * count that only grows, or none, goes first and alone (unless others see it).
 * Theory: this keeps every other move possible and changes nothing that another
 * one asks for; the instance is in flight for longer, which hides no race, and
 * what has retired when it issues is as little as it can be. Every state counts
 * moves made, so none comes back and nothing is put off for ever.
 */
#include "explore/search.h"

#include <string.h>
#include <xxhash.h>

enum { FIRST_CAP = 1 << 12 };

struct seen {
  XXH128_hash_t *at; /* 0, 0: free */
  uint64_t n, mask;
};

struct frame {
  size_t row, moves;
  uint32_t length, nmoves, next;
};

struct depth {
  struct nsr_search *s;
  bool reduce;
  struct seen seen;
  NSR_VEC(uint32_t) rows;
  NSR_VEC(struct nsr_go_to) moves;
  NSR_VEC(struct frame) frames;
};

/* ---- fingerprints */

static enum nsr_status seen_new(struct nsr_search *s, struct seen *x,
                                uint64_t cap) {
  NSR_NEW(s->ctx, s->arena, x->at, cap);
  x->mask = cap - 1;
  return NSR_OK;
}

static XXH128_hash_t *seen_place(const struct seen *x, XXH128_hash_t h) {
  uint64_t i = h.low64 & x->mask;
  while ((x->at[i].low64 | x->at[i].high64) &&
         (x->at[i].low64 != h.low64 || x->at[i].high64 != h.high64))
    i = (i + 1) & x->mask;
  return &x->at[i];
}

static enum nsr_status seen_grow(struct nsr_search *s, struct seen *x) {
  struct seen old = *x;
  NSR_TRY(seen_new(s, x, 4 * (old.mask + 1)));
  for (uint64_t i = 0; i <= old.mask; i++)
    if (old.at[i].low64 | old.at[i].high64)
      *seen_place(x, old.at[i]) = old.at[i];
  return NSR_OK;
}

static enum nsr_status seen_add(struct nsr_search *s, struct seen *x,
                                const uint32_t *row, uint32_t length,
                                bool *fresh) {
  XXH128_hash_t h = XXH3_128bits(row, length * sizeof *row);
  h.high64 |= 1; /* never 0, 0 */
  if (4 * x->n >= 3 * x->mask)
    NSR_TRY(seen_grow(s, x));
  XXH128_hash_t *at = seen_place(x, h);
  *fresh = !(at->low64 | at->high64);
  if (*fresh) {
    *at = h;
    x->n++;
  }
  return NSR_OK;
}

/* ---- states */

static bool plain_wait(const struct nsr_search *s, const uint32_t *row,
                       int engine) {
  const struct nsr_station *p = &s->w->stations.v[row[engine]];
  return p->event == NSR_NONE &&
         (p->cmp == NSR_CMP_NONE || !s->w->sem_odd[p->sem]);
}

static uint32_t moves_of(const struct depth *d, const uint32_t *row,
                         struct nsr_go_to *moves) {
  for (uint32_t e = 0; d->reduce && e < d->s->nengines; e++)
    if (nsr_may_go(d->s, row, (int)e) && plain_wait(d->s, row, (int)e)) {
      moves[0] = (struct nsr_go_to){NSR_GO_ENGINE, (uint8_t)e, 0};
      return 1;
    }
  return nsr_moves(d->s, row, moves);
}

/* A state not seen before goes onto the stack; an end is looked at. */
static enum nsr_status visit(struct depth *d, const uint32_t *row) {
  struct nsr_search *s = d->s;
  uint32_t length = nsr_row_length(s, row);
  bool fresh;
  NSR_TRY(seen_add(s, &d->seen, row, length, &fresh));
  if (!fresh)
    return NSR_OK;
  if (s->states++ >= s->limit) {
    s->more = true;
    return NSR_OK;
  }
  uint32_t most = s->nengines + (length - s->fixed) + 1;
  NSR_RESERVE(s->ctx, s->arena, &d->moves, most);
  uint32_t n = moves_of(d, row, d->moves.v + d->moves.n);
  if (!n)
    return nsr_search_end(s, row);
  NSR_RESERVE(s->ctx, s->arena, &d->rows, length);
  memcpy(d->rows.v + d->rows.n, row, length * sizeof *row);
  NSR_PUSH(s->ctx, s->arena, &d->frames,
           ((struct frame){d->rows.n, d->moves.n, length, n, 0}));
  d->rows.n += length;
  d->moves.n += n;
  return NSR_OK;
}

static enum nsr_status step(struct depth *d, uint32_t *row) {
  struct frame *f = &d->frames.v[d->frames.n - 1];
  if (f->next == f->nmoves) {
    d->rows.n = f->row;
    d->moves.n = f->moves;
    d->frames.n--;
    return NSR_OK;
  }
  struct nsr_go_to move = d->moves.v[f->moves + f->next++];
  memcpy(row, d->rows.v + f->row, f->length * sizeof *row);
  NSR_TRY(nsr_move(d->s, row, move));
  return nsr_search_on(d->s) ? visit(d, row) : NSR_OK;
}

enum nsr_status nsr_search_all(struct nsr_search *s, bool reduce) {
  struct depth d = {.s = s, .reduce = reduce};
  uint32_t *row;
  NSR_TRY(seen_new(s, &d.seen, FIRST_CAP));
  NSR_NEW(s->ctx, s->arena, row, (size_t)s->longest + 2);
  NSR_TRY(nsr_search_start(s, row));
  if (nsr_search_on(s))
    NSR_TRY(visit(&d, row));
  while (d.frames.n && nsr_search_on(s))
    NSR_TRY(step(&d, row));
  return NSR_OK;
}
