/* loads.c - the loads that value numbers are made of, by place. */
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "ir/congruence.h"

static int by_place(const void *a, const void *b) {
  const struct nsr_key_load *x = a, *y = b;
  if (x->engine != y->engine)
    return x->engine < y->engine ? -1 : 1;
  return x->insn < y->insn ? -1 : x->insn > y->insn;
}

enum nsr_status nsr_key_loads_sort(struct nsr_ctx *ctx, struct nsr_key_load *v,
                                   size_t n) {
  struct nsr_key_load *sorted;
  struct nsr_key *keys;
  NSR_NEW(ctx, NSR_SCRATCH, keys, 2 * n);
  NSR_NEW(ctx, NSR_SCRATCH, sorted, n);
  for (size_t i = 0; i < n; i++)
    keys[i] =
        (struct nsr_key){(uint64_t)v[i].engine << 32 | v[i].insn, (uint32_t)i};
  nsr_sort_keys(keys, keys + n, n);
  for (size_t i = 0; i < n; i++)
    sorted[i] = v[keys[i].at];
  if (n)
    memcpy(v, sorted, n * sizeof *v);
  nsr_drop(ctx, NSR_SCRATCH, sorted);
  nsr_drop(ctx, NSR_SCRATCH, keys);
  return NSR_OK;
}

const struct nsr_key_load *nsr_key_loads_find(const struct nsr_key_load *v,
                                              size_t n, int engine,
                                              uint32_t insn) {
  struct nsr_key_load key = {.engine = (uint8_t)engine, .insn = insn};
  return n ? bsearch(&key, v, n, sizeof key, by_place) : NULL;
}

const struct nsr_key_load *nsr_congruence_load(const struct nsr_congruence *c,
                                               int engine, uint32_t insn) {
  return nsr_key_loads_find(c->all, c->nall, engine, insn);
}

const struct nsr_key_load *nsr_congruence_kept(const struct nsr_congruence *c,
                                               int engine, uint32_t insn) {
  return nsr_key_loads_find(c->loads, c->nloads, engine, insn);
}
