/* loads.c - the loads that value numbers are made of, by place. */
#include <stdlib.h>

#include "ir/congruence.h"

static int by_place(const void *a, const void *b) {
  const struct nsr_key_load *x = a, *y = b;
  if (x->engine != y->engine)
    return x->engine < y->engine ? -1 : 1;
  return x->insn < y->insn ? -1 : x->insn > y->insn;
}

void nsr_key_loads_sort(struct nsr_key_load *v, size_t n) {
  if (n)
    qsort(v, n, sizeof *v, by_place);
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
