/* mirrors.c - thresholds into registers. */
#include "sync/mirrors.h"

#include <stdlib.h>

#include "base/bitset.h"

/* ---- free registers */

enum nsr_status nsr_free_registers(struct nsr_ctx *ctx,
                                   const struct nsr_program *p, int engine,
                                   uint32_t max, struct nsr_free *out) {
  uint32_t all = p->k->isa->registers;
  const uint64_t *used = p->named[engine];
  *out = (struct nsr_free){0};
  NSR_NEW(ctx, NSR_SCRATCH, out->v, all);
  for (uint32_t r = 0; r < all && out->n < max; r++)
    if (!nsr_bit(used, r) && !nsr_facts_keep_register(p->facts, engine, r))
      out->v[out->n++] = (int16_t)r;
  return NSR_OK;
}

/* ---- uses */

static int by_use(const void *a, const void *b) {
  const struct nsr_use *x = a, *y = b;
  if (x->class != y->class)
    return x->class < y->class ? -1 : 1;
  return x->less < y->less ? -1 : x->less > y->less;
}

void nsr_uses_join(struct nsr_uses *uses) {
  uint32_t n = 0;
  if (uses->n)
    qsort(uses->v, uses->n, sizeof *uses->v, by_use);
  uses->nclasses = 0;
  for (uint32_t i = 0; i < uses->n; i++) {
    struct nsr_use *last = n ? &uses->v[n - 1] : NULL, x = uses->v[i];
    if (last && by_use(last, &x) == 0) {
      last->heat += x.heat;
      last->from = x.from < last->from ? x.from : last->from;
      last->to = x.to > last->to ? x.to : last->to;
      continue;
    }
    uses->nclasses += !last || last->class != x.class;
    uses->v[n++] = x;
  }
  uses->n = n;
}

uint32_t nsr_uses_want(const struct nsr_uses *uses, uint32_t have, bool tight) {
  if (uses->n <= have || uses->n == uses->nclasses)
    return uses->n;
  return uses->nclasses + !tight;
}

const struct nsr_use *nsr_uses_find(const struct nsr_uses *uses, uint32_t class,
                                    int32_t less) {
  struct nsr_use key = {.class = class, .less = less};
  return bsearch(&key, uses->v, uses->n, sizeof key, by_use);
}

/* ---- which have a mirror of their own */

struct rank {
  uint64_t heat;
  uint32_t use;
};

static int by_heat(const void *a, const void *b) {
  const struct rank *x = a, *y = b;
  if (x->heat != y->heat)
    return x->heat > y->heat ? -1 : 1;
  return x->use < y->use ? -1 : x->use > y->use;
}

/* The hottest of each class, then the hottest of those worth it, up to max. */
static void choose(const struct nsr_uses *uses, const struct rank *ranks,
                   uint32_t max, bool *chosen) {
  uint32_t first = 0, n = uses->nclasses;
  for (uint32_t i = 1; i <= uses->n; i++) {
    if (i < uses->n && uses->v[i].class == uses->v[first].class)
      continue;
    uint32_t best = first;
    for (uint32_t j = first; j < i; j++)
      if (uses->v[j].heat > uses->v[best].heat)
        best = j;
    chosen[best] = true;
    first = i;
  }
  for (uint32_t i = 0; i < uses->n && n < max; i++) {
    uint32_t use = ranks[i].use;
    if (chosen[use] || uses->v[use].heat < uses->v[use].cost)
      continue;
    chosen[use] = true;
    n++;
  }
}

enum nsr_status nsr_uses_assign(struct nsr_ctx *ctx, struct nsr_uses *uses,
                                uint32_t have, uint32_t **own,
                                uint32_t *nmirrors) {
  struct rank *ranks;
  bool *chosen;
  uint32_t max = uses->n <= have || have == uses->nclasses ? have : have - 1;
  uint32_t any = 0;
  NSR_NEW(ctx, NSR_SCRATCH, ranks, uses->n);
  NSR_NEW(ctx, NSR_SCRATCH, chosen, uses->n);
  NSR_NEW(ctx, NSR_SCRATCH, *own, uses->n);
  for (uint32_t i = 0; i < uses->n; i++)
    ranks[i] = (struct rank){uses->v[i].heat, i};
  if (uses->n) {
    qsort(ranks, uses->n, sizeof *ranks, by_heat);
    choose(uses, ranks, max, chosen);
  }
  *nmirrors = 0;
  for (uint32_t i = 0; i < uses->n; i++)
    if (chosen[i]) {
      uses->v[i].mirror = *nmirrors;
      (*own)[(*nmirrors)++] = i;
    }
  for (uint32_t i = 0; i < uses->n; i++) {
    if (i == 0 || uses->v[i].class != uses->v[i - 1].class)
      for (any = i; !chosen[any];)
        any++;
    if (!chosen[i])
      uses->v[i].mirror = uses->v[any].mirror;
  }
  return NSR_OK;
}
