/* barriers.c - barriers by id, and what of a stream holds them. */
#include "ir/barriers.h"

#include <stdlib.h>

#include "base/vec.h"

struct insns {
  uint32_t *v;
  size_t n, cap;
};

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

/* All code of a scope, of an arm with the branch to it; NSR_NONE: none. */
static enum nsr_status add_scope_code(struct nsr_ctx *ctx,
                                      const struct nsr_scopes *own,
                                      uint32_t scope, struct insns *out) {
  if (scope == NSR_NONE)
    return NSR_OK;
  if (own->scopes[scope].kind == NSR_SCOPE_ARM) {
    const struct nsr_cfg *g = own->cfg;
    uint32_t from = g->blocks[g->block_of[own->scopes[scope].entry]].idom;
    NSR_PUSH(ctx, NSR_SCRATCH, out,
             g->blocks[from].first + g->blocks[from].n - 1);
  }
  for (uint32_t s = scope; s <= own->scopes[scope].last; s++)
    for (uint32_t i = 0; i < own->scopes[s].nitems; i++) {
      const struct nsr_item *it = &own->items[own->scopes[s].first_item + i];
      if (!it->is_scope)
        NSR_PUSH(ctx, NSR_SCRATCH, out, it->first);
    }
  return NSR_OK;
}

enum nsr_status nsr_barriers_knot(struct nsr_ctx *ctx, const struct nsr_tree *t,
                                  int e, uint32_t scope, uint32_t insn,
                                  const struct nsr_barriers *all,
                                  const struct nsr_barriers *want,
                                  struct nsr_knots *knots) {
  struct insns insns = {0};
  for (size_t i = 0; i < all->n; i++)
    if (nsr_barriers_has(want, all->v[i].id))
      NSR_PUSH(ctx, NSR_SCRATCH, &insns, all->v[i].insn);
  NSR_TRY(add_scope_code(ctx, &t->local[e], scope, &insns));
  NSR_PUSH(ctx, NSR_SCRATCH, knots,
           (struct nsr_knot){true, (uint32_t)insns.n, insn, insns.v, "the code",
                             "stands where that of another engine is not "
                             "structured"});
  return NSR_OK;
}

enum nsr_status nsr_barriers_loose(struct nsr_ctx *ctx,
                                   const struct nsr_tree *t, int e,
                                   uint32_t scope, struct nsr_knots *knots) {
  const struct nsr_scope *s = &t->local[e].scopes[scope];
  struct insns insns = {0};
  NSR_TRY(add_scope_code(ctx, &t->local[e], scope, &insns));
  NSR_PUSH(ctx, NSR_SCRATCH, knots,
           (struct nsr_knot){false, (uint32_t)insns.n, s->entry, insns.v,
                             s->kind == NSR_SCOPE_LOOP ? "the loop"
                                                       : "the conditional",
                             "has a way through it that passes no barrier"});
  return NSR_OK;
}

/* ---- one id at several places */

struct place_id {
  int32_t id;
  uint32_t part;
  bool alike; /* all scopes around it are decided by the same values */
  uint32_t scope;
};

static int by_place_id(const void *a, const void *b) {
  const struct place_id *x = a, *y = b;
  if (x->id != y->id)
    return x->id < y->id ? -1 : 1;
  return x->part < y->part ? -1 : x->part > y->part;
}

static enum nsr_status list_places(struct nsr_ctx *ctx,
                                   const struct nsr_tree *t,
                                   struct place_id **out, size_t *n) {
  NSR_VEC(struct place_id) ids = {0};
  for (uint32_t s = 0; s < t->nscopes; s++)
    for (uint32_t p = t->scopes[s].first_part; p != NSR_NONE;
         p = t->parts[p].next)
      if (t->parts[p].kind == NSR_PART_BARRIER)
        NSR_PUSH(ctx, NSR_SCRATCH, &ids,
                 (struct place_id){t->parts[p].id, p, t->scopes[s].alike, s});
  if (ids.n)
    qsort(ids.v, ids.n, sizeof *ids.v, by_place_id);
  *out = ids.v;
  *n = ids.n;
  return NSR_OK;
}

/* Whether the engines may pass two places with one id in another order. */
static bool may_mix(const struct nsr_tree *t, const struct place_id *x,
                    const struct place_id *y) {
  bool island =
      x->scope == y->scope && t->scopes[x->scope].kind == NSR_SCOPE_ISLAND;
  return x->id == y->id && !(x->alike && y->alike) && !island;
}

enum nsr_status nsr_barriers_check_ids(struct nsr_ctx *ctx,
                                       const struct nsr_tree *t, int e,
                                       bool last, struct nsr_knots *knots,
                                       bool *again) {
  struct place_id *ids;
  size_t n;
  NSR_TRY(list_places(ctx, t, &ids, &n));
  for (size_t i = 1; i < n; i++) {
    if (!may_mix(t, &ids[i - 1], &ids[i]))
      continue;
    uint32_t *insns, at = t->parts[ids[i].part].insn[e];
    NSR_NEW(ctx, NSR_SCRATCH, insns, 2);
    insns[0] = t->parts[ids[i - 1].part].insn[e];
    insns[1] = at;
    if (last)
      return nsr_fail(ctx, NSR_E_REFUSED, nsr_program_place(t->program, e, at),
                      "barrier id %d stands at two places (also at "
                      "instruction %u): the engines cannot be shown to run "
                      "the scopes around them equally often; give each place "
                      "its own id",
                      (int)ids[i].id, insns[0]);
    *again = true;
    NSR_PUSH(ctx, NSR_SCRATCH, knots,
             (struct nsr_knot){false, 2, at, insns, "the code",
                               "has one barrier id at several places, which "
                               "the engines may pass unequally often"});
  }
  return NSR_OK;
}
