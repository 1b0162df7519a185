/* island_loads.c - conflicts between loads and writes of islands. */
#include "dep/island_loads.h"

#include <stdlib.h>

#include "base/vec.h"
#include "mem/conflict.h"

struct check {
  struct nsr_ctx *ctx;
  const struct nsr_tree *t;
  struct nsr_key_load *loads; /* by place */
  bool *is_load;              /* by work: one of them, in an island */
  NSR_VEC(struct nsr_access) accesses;
};

static int by_place(const void *a, const void *b) {
  const struct nsr_key_load *x = a, *y = b;
  if (x->engine != y->engine)
    return x->engine < y->engine ? -1 : 1;
  return x->insn < y->insn ? -1 : x->insn > y->insn;
}

/* Loads read; of others only what they write is of interest. */
static enum nsr_status add_work(struct check *c, uint32_t w) {
  const struct nsr_work *x = &c->t->works[w];
  const struct nsr_program *p = c->t->program;
  const struct nsr_stream *s = p->stream[x->engine];
  struct nsr_key_load key = {x->engine, x->insn, 0};
  struct nsr_insn insn;
  c->is_load[w] = bsearch(&key, c->loads, c->t->congruence.nloads, sizeof key,
                          by_place) != NULL;
  NSR_TRY(nsr_stream_decode(c->ctx, p->k, s, x->insn, &insn));
  for (int i = 0; i < insn.noperands; i++) {
    struct nsr_access a = {.owner = w};
    nsr_footprint_of(p->k, &insn.operands[i], nsr_operand_tensor(s, x->insn, i),
                     NULL, &a.footprint);
    if (c->is_load[w] || nsr_footprint_writes(&a.footprint))
      NSR_PUSH(c->ctx, NSR_SCRATCH, &c->accesses, a);
  }
  return NSR_OK;
}

enum nsr_status nsr_island_loads_check(struct nsr_ctx *ctx,
                                       const struct nsr_tree *t) {
  const struct nsr_congruence *k = &t->congruence;
  struct check c = {.ctx = ctx, .t = t};
  struct nsr_conflicts found;
  if (!t->ntroubles || !k->nloads)
    return NSR_OK;
  NSR_NEW(ctx, NSR_SCRATCH, c.loads, k->nloads);
  NSR_NEW(ctx, NSR_SCRATCH, c.is_load, t->nworks);
  for (uint32_t i = 0; i < k->nloads; i++)
    c.loads[i] = k->loads[i];
  qsort(c.loads, k->nloads, sizeof *c.loads, by_place);
  for (uint32_t w = 0; w < t->nworks; w++)
    if (t->works[w].island && !t->works[w].marker && t->works[w].channel >= 0)
      NSR_TRY(add_work(&c, w));
  NSR_TRY(
      nsr_conflicts_find(ctx, NSR_SCRATCH, c.accesses.v, c.accesses.n, &found));
  for (size_t i = 0; i < found.n; i++) {
    uint32_t a = found.v[i].a, b = found.v[i].b;
    if (c.is_load[a] || c.is_load[b])
      return nsr_fail(ctx, NSR_E_REFUSED,
                      nsr_work_place(t, &t->works[c.is_load[a] ? b : a]),
                      "this may write a word that several engines load for "
                      "their control flow, where the order cannot be read: "
                      "the word cannot be shown to be equal on them");
  }
  return NSR_OK;
}
