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

enum { FIRST_CAP = 1 << 12, BATCH = 16 };

struct seen {
  XXH128_hash_t *at; /* 0, 0: free */
  uint64_t n, mask;
};

/* States yet to be left, and the ones that come next of one of them: made
 * together, so that looking them up waits for memory once. */
struct depth {
  struct nsr_search *s;
  bool reduce;
  struct seen seen;
  NSR_VEC(uint32_t) rows;
  NSR_VEC(size_t) starts;
  NSR_VEC(struct nsr_go_to) moves;
  uint32_t *row, *next[BATCH];
  uint32_t length[BATCH];
  XXH128_hash_t hash[BATCH];
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
                                XXH128_hash_t h, bool *fresh) {
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

/* The state of next[i] is looked up soon. */
static void announce(struct depth *d, uint32_t i) {
  d->length[i] = nsr_row_length(d->s, d->next[i]);
  d->hash[i] = XXH3_128bits(d->next[i], d->length[i] * sizeof **d->next);
  d->hash[i].high64 |= 1; /* never 0, 0 */
  __builtin_prefetch(&d->seen.at[d->hash[i].low64 & d->seen.mask]);
}

/* One not seen before is to be left. */
static enum nsr_status visit(struct depth *d, uint32_t i) {
  struct nsr_search *s = d->s;
  bool fresh;
  NSR_TRY(seen_add(s, &d->seen, d->hash[i], &fresh));
  if (!fresh)
    return NSR_OK;
  if (s->states++ >= s->limit) {
    s->more = true;
    return NSR_OK;
  }
  NSR_PUSH(s->ctx, s->arena, &d->starts, d->rows.n);
  NSR_RESERVE(s->ctx, s->arena, &d->rows, d->length[i]);
  memcpy(d->rows.v + d->rows.n, d->next[i], d->length[i] * sizeof **d->next);
  d->rows.n += d->length[i];
  return NSR_OK;
}

/* Where some moves lead from the row. */
static enum nsr_status follow(struct depth *d, uint32_t length,
                              const struct nsr_go_to *moves, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    memcpy(d->next[i], d->row, length * sizeof *d->row);
    NSR_TRY(nsr_move(d->s, d->next[i], moves[i]));
    if (!nsr_search_on(d->s))
      return NSR_OK;
    announce(d, i);
  }
  for (uint32_t i = 0; i < n && nsr_search_on(d->s); i++)
    NSR_TRY(visit(d, i));
  return NSR_OK;
}

/* Leaves the last state; an end is looked at. */
static enum nsr_status leave(struct depth *d) {
  struct nsr_search *s = d->s;
  size_t start = d->starts.v[--d->starts.n];
  uint32_t length = (uint32_t)(d->rows.n - start);
  memcpy(d->row, d->rows.v + start, length * sizeof *d->row);
  d->rows.n = start;
  d->moves.n = 0;
  NSR_RESERVE(s->ctx, s->arena, &d->moves,
              s->nengines + s->nsequences + (length - s->fixed) + 1);
  uint32_t n = moves_of(d, d->row, d->moves.v);
  if (!n)
    return nsr_search_end(s, d->row);
  for (uint32_t i = 0; i < n && nsr_search_on(s); i += BATCH)
    NSR_TRY(follow(d, length, d->moves.v + i, n - i < BATCH ? n - i : BATCH));
  return NSR_OK;
}

enum nsr_status nsr_search_all(struct nsr_search *s, bool reduce) {
  struct depth d = {.s = s, .reduce = reduce};
  NSR_TRY(seen_new(s, &d.seen, FIRST_CAP));
  NSR_NEW(s->ctx, s->arena, d.row, (size_t)s->longest + 2);
  for (int i = 0; i < BATCH; i++)
    NSR_NEW(s->ctx, s->arena, d.next[i], (size_t)s->longest + 2);
  NSR_TRY(nsr_search_start(s, d.next[0]));
  if (nsr_search_on(s)) {
    announce(&d, 0);
    NSR_TRY(visit(&d, 0));
  }
  while (d.starts.n && nsr_search_on(s))
    NSR_TRY(leave(&d));
  return NSR_OK;
}
