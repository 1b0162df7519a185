/* pairs.c - counts pairs: a table by hash. */
#include "judge/pairs.h"

#include <string.h>

#include "sim/hash.h"

static uint64_t hash_of(const struct nsr_pair *p) {
  uint64_t h = nsr_combine((uint64_t)p->p << 32 | p->c, p->distance);
  return nsr_combine(h, (uint64_t)p->p_engine << 8 | p->c_engine);
}

static bool same(const struct nsr_pair *a, const struct nsr_pair *b) {
  return a->p == b->p && a->c == b->c && a->distance == b->distance &&
         a->p_engine == b->p_engine && a->c_engine == b->c_engine;
}

static uint32_t *find(const struct nsr_pairs *pairs,
                      const struct nsr_pair *pair) {
  size_t i = hash_of(pair) & (pairs->cap - 1);
  while (pairs->table[i] && !same(&pairs->list.v[pairs->table[i] - 1], pair))
    i = (i + 1) & (pairs->cap - 1);
  return &pairs->table[i];
}

static enum nsr_status grow(struct nsr_ctx *ctx, struct nsr_pairs *pairs) {
  pairs->cap = pairs->cap ? pairs->cap * 2 : 64;
  NSR_NEW(ctx, NSR_KEEP, pairs->table, pairs->cap);
  for (size_t i = 0; i < pairs->list.n; i++)
    *find(pairs, &pairs->list.v[i]) = (uint32_t)i + 1;
  return NSR_OK;
}

enum nsr_status nsr_pairs_add(struct nsr_ctx *ctx, struct nsr_pairs *pairs,
                              const struct nsr_pair *pair) {
  if (pairs->list.n * 2 >= pairs->cap)
    NSR_TRY(grow(ctx, pairs));
  uint32_t *at = find(pairs, pair);
  if (!*at) {
    NSR_PUSH(ctx, NSR_KEEP, &pairs->list, *pair);
    *at = (uint32_t)pairs->list.n;
    pairs->list.v[*at - 1].count = 0;
  }
  pairs->list.v[*at - 1].count++;
  return NSR_OK;
}
