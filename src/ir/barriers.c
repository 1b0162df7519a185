/* barriers.c - barriers by id, and what of a stream holds them. */
#include "ir/barriers.h"

#include <stdlib.h>

#include "base/vec.h"

static int by_id(const void *a, const void *b) {
  const struct nsr_barrier *x = a, *y = b;
  if (x->id != y->id)
    return x->id < y->id ? -1 : 1;
  if (x->turn != y->turn)
    return x->turn < y->turn ? -1 : 1;
  if (x->engine != y->engine)
    return x->engine < y->engine ? -1 : 1;
  return x->insn < y->insn ? -1 : x->insn > y->insn;
}

void nsr_barriers_sort(struct nsr_barriers *x) {
  if (x->n)
    qsort(x->v, x->n, sizeof *x->v, by_id);
}

static enum nsr_status add_code(struct nsr_ctx *ctx, const struct nsr_tree *t,
                                int e, const struct nsr_item *it,
                                struct nsr_barriers *out) {
  const struct nsr_node *nodes = t->program->nodes[e];
  for (uint32_t i = it->first; i < it->first + it->n; i++)
    if (nodes[i].cls == NSR_BARRIER)
      NSR_PUSH(ctx, NSR_SCRATCH, out,
               (struct nsr_barrier){nodes[i].aux, 0, e, i});
  return NSR_OK;
}

enum nsr_status nsr_barriers_add(struct nsr_ctx *ctx, const struct nsr_tree *t,
                                 int e, uint32_t scope,
                                 struct nsr_barriers *out) {
  const struct nsr_scopes *own = &t->local[e];
  struct nsr_barriers new = {0};
  for (uint32_t s = scope; s <= own->scopes[scope].last; s++)
    for (uint32_t i = 0; i < own->scopes[s].nitems; i++) {
      const struct nsr_item *it = &own->items[own->scopes[s].first_item + i];
      if (!it->is_scope)
        NSR_TRY(add_code(ctx, t, e, it, &new));
    }
  nsr_barriers_sort(&new);
  for (size_t i = 0; i < new.n; i++) {
    if (i > 0 && new.v[i].id == new.v[i - 1].id)
      new.v[i].turn = new.v[i - 1].turn + 1;
    NSR_PUSH(ctx, NSR_SCRATCH, out, new.v[i]);
  }
  return NSR_OK;
}

bool nsr_barriers_alike(const struct nsr_barriers *x,
                        const struct nsr_barriers *y) {
  size_t i = 0, j = 0;
  while (i < x->n && j < y->n) {
    int32_t id = x->v[i].id;
    if (y->v[j].id != id)
      return false;
    while (i < x->n && x->v[i].id == id)
      i++;
    while (j < y->n && y->v[j].id == id)
      j++;
  }
  return i == x->n && j == y->n;
}

bool nsr_barriers_has(const struct nsr_barriers *x, int32_t id) {
  size_t lo = 0, hi = x->n;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (x->v[mid].id < id)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo < x->n && x->v[lo].id == id;
}

const struct nsr_barrier *nsr_barriers_lacking(const struct nsr_barriers *x,
                                               const struct nsr_barriers *y) {
  for (size_t i = 0; i < y->n; i++)
    if (!nsr_barriers_has(x, y->v[i].id))
      return &y->v[i];
  return NULL;
}

enum nsr_status nsr_barriers_knot(struct nsr_ctx *ctx, const struct nsr_tree *t,
                                  int e, uint32_t scope, uint32_t insn,
                                  const struct nsr_barriers *all,
                                  const struct nsr_barriers *want,
                                  struct nsr_knots *knots) {
  const struct nsr_scopes *own = &t->local[e];
  NSR_VEC(uint32_t) insns = {0};
  for (size_t i = 0; i < all->n; i++)
    if (nsr_barriers_has(want, all->v[i].id))
      NSR_PUSH(ctx, NSR_SCRATCH, &insns, all->v[i].insn);
  if (scope != NSR_NONE && own->scopes[scope].kind == NSR_SCOPE_ARM) {
    const struct nsr_cfg *g = own->cfg; /* its branch as well */
    uint32_t from = g->blocks[g->block_of[own->scopes[scope].entry]].idom;
    NSR_PUSH(ctx, NSR_SCRATCH, &insns,
             g->blocks[from].first + g->blocks[from].n - 1);
  }
  uint32_t end = scope == NSR_NONE ? 0 : own->scopes[scope].last + 1;
  for (uint32_t s = scope == NSR_NONE ? 0 : scope; s < end; s++)
    for (uint32_t i = 0; i < own->scopes[s].nitems; i++) {
      const struct nsr_item *it = &own->items[own->scopes[s].first_item + i];
      if (!it->is_scope)
        NSR_PUSH(ctx, NSR_SCRATCH, &insns, it->first);
    }
  NSR_PUSH(ctx, NSR_SCRATCH, knots,
           (struct nsr_knot){true, (uint32_t)insns.n, insn, insns.v, "the code",
                             "stands where that of another engine is not "
                             "structured"});
  return NSR_OK;
}
