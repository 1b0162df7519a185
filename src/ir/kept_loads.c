/* kept_loads.c - the loads that keys of scopes rest on.
 *
 * Needs the value numbers and those that decide scopes; leaves the loads that
 * go into these, and those that read one value in several places.
 */
#include "base/vec.h"
#include "ir/congruence.h"
#include "ir/key_nodes.h"

/* Numbers that go into a node. */
static int parts_of(const struct nsr_key_node *x, uint32_t out[3]) {
  int n = 0;
  bool a = x->kind == NSR_KEY_EXIT || x->kind == NSR_KEY_JOIN ||
           x->kind >= NSR_KEY_OPERATION;
  bool b = x->kind == NSR_KEY_LOAD || x->kind == NSR_KEY_PHI ||
           x->kind == NSR_KEY_TEST || x->kind == NSR_KEY_JOIN ||
           x->kind >= NSR_KEY_OPERATION;
  if (a)
    out[n++] = x->a;
  if (b)
    out[n++] = x->b;
  if (b && x->kind != NSR_KEY_LOAD)
    out[n++] = x->c;
  return n;
}

enum nsr_status nsr_congruence_keep(struct nsr_ctx *ctx,
                                    struct nsr_congruence *c,
                                    const uint32_t *keys, size_t n) {
  bool *seen, *loaded, *shared; /* by number */
  struct nsr_key_load *kept;
  uint32_t nkept = 0;
  NSR_VEC(uint32_t) stack = {0};
  NSR_NEW(ctx, NSR_SCRATCH, seen, c->nnodes);
  NSR_NEW(ctx, NSR_SCRATCH, kept, c->nloads);
  for (size_t i = 0; i < n; i++)
    NSR_PUSH(ctx, NSR_SCRATCH, &stack, keys[i]);
  while (stack.n > 0) {
    uint32_t number = stack.v[--stack.n], parts[3];
    if (seen[number])
      continue;
    seen[number] = true;
    for (int i = parts_of(&c->nodes[number], parts); i-- > 0;)
      NSR_PUSH(ctx, NSR_SCRATCH, &stack, parts[i]);
  }
  NSR_NEW(ctx, NSR_SCRATCH, loaded, c->nnodes);
  NSR_NEW(ctx, NSR_SCRATCH, shared, c->nnodes);
  for (uint32_t i = 0; i < c->nloads; i++) {
    shared[c->loads[i].number] |= loaded[c->loads[i].number];
    loaded[c->loads[i].number] = true;
  }
  NSR_TRY(nsr_key_loads_sort(ctx, c->loads, c->nloads));
  for (uint32_t i = 0; i < c->nloads; i++)
    c->loads[i].key = seen[c->loads[i].number];
  for (uint32_t i = 0; i < c->nloads; i++)
    if (c->loads[i].key || shared[c->loads[i].number])
      kept[nkept++] = c->loads[i];
  c->all = c->loads;
  c->nall = c->nloads;
  c->loads = kept;
  c->nloads = nkept;
  return NSR_OK;
}
