/* arms.c - which arms belong to one branch, as the engines' own trees say. */
#include "prove/arms.h"

#include "base/vec.h"

/* An arm stands right in front of the other one of its branch. */
static enum nsr_status find_twins(struct nsr_ctx *ctx,
                                  const struct nsr_scopes *t, uint32_t **out) {
  uint32_t *twin;
  NSR_NEW(ctx, NSR_SCRATCH, twin, t->nscopes);
  for (uint32_t s = 0; s < t->nscopes; s++)
    twin[s] = NSR_NONE;
  for (uint32_t s = 0; s < t->nscopes; s++)
    for (uint32_t i = 0; i < t->scopes[s].nitems; i++) {
      const struct nsr_item *x = &t->items[t->scopes[s].first_item + i];
      if (!x->is_scope || t->scopes[x->first].kind != NSR_SCOPE_ARM ||
          twin[x->first] != NSR_NONE ||
          !nsr_scopes_two_arms(t, &t->scopes[s], i))
        continue;
      twin[x->first] = x[1].first;
      twin[x[1].first] = x->first;
    }
  *out = twin;
  return NSR_OK;
}

enum nsr_status nsr_arms_find(struct nsr_ctx *ctx, const struct nsr_tree *t,
                              struct nsr_arms *out) {
  *out = (struct nsr_arms){.tree = t};
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    if (t->program->stream[e])
      NSR_TRY(find_twins(ctx, &t->local[e], &out->twin[e]));
  return NSR_OK;
}

/* The scope directly in `outer` that `inner` is or lies in; NSR_NONE: it is
 * that itself. */
static uint32_t below(const struct nsr_tree *t, uint32_t inner,
                      uint32_t outer) {
  if (inner == outer)
    return NSR_NONE;
  while (t->scopes[inner].parent != outer)
    inner = t->scopes[inner].parent;
  return inner;
}

bool nsr_arms_exclude(const struct nsr_arms *x, uint32_t a, uint32_t b,
                      uint32_t *loop) {
  const struct nsr_tree *t = x->tree;
  uint32_t shared = nsr_common_shared(t, a, b);
  a = below(t, a, shared);
  b = below(t, b, shared);
  if (a == NSR_NONE || b == NSR_NONE)
    return false;
  *loop = nsr_common_loop(t, shared);
  uint32_t both = t->scopes[a].engines & t->scopes[b].engines;
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    if (both >> e & 1 &&
        x->twin[e][t->scopes[a].local[e]] == t->scopes[b].local[e])
      return true;
  return false;
}
