/* resets.c - where barriers that stay lie among the works. */
#include "sync/resets.h"

#include "base/vec.h"
#include "base/work.h"

/* One walk over all parts; a body's next part is kept by scope. Nothing is
 * counted in code without structure, and another barrier follows that. */
static enum nsr_status collect(struct nsr_ctx *ctx, const struct nsr_tree *t,
                               struct nsr_resets *out) {
  NSR_VEC(struct nsr_reset) v = {0};
  uint32_t *next, at = 0, s = 0;
  NSR_NEW(ctx, NSR_SCRATCH, next, t->nscopes);
  next[0] = t->scopes[0].first_part;
  while (s != NSR_NONE) {
    uint32_t i = next[s];
    if (i == NSR_NONE) {
      s = t->scopes[s].parent;
      continue;
    }
    const struct nsr_part *p = &t->parts[i];
    next[s] = p->next;
    if (p->kind == NSR_PART_SEGMENT) {
      at = p->n ? p->first + p->n : at;
    } else if (p->kind == NSR_PART_SCOPE) {
      s = p->first;
      next[s] = t->scopes[s].first_part;
    } else if (p->keep && t->scopes[s].kind != NSR_SCOPE_ISLAND &&
               (s != 0 || at < t->nworks)) {
      NSR_PUSH(ctx, NSR_SCRATCH, &v, (struct nsr_reset){i, s, at});
    }
  }
  out->v = v.v;
  out->n = (uint32_t)v.n;
  nsr_work_count(ctx, NSR_WORK_SYNC, t->nparts);
  return NSR_OK;
}

/* By scope: the outermost one around it but the program, and of these whether
 * a barrier in it stays. */
static enum nsr_status find_tops(struct nsr_ctx *ctx, const struct nsr_tree *t,
                                 const struct nsr_resets *r, uint32_t **top,
                                 bool **kept) {
  NSR_NEW(ctx, NSR_SCRATCH, *top, t->nscopes);
  NSR_NEW(ctx, NSR_SCRATCH, *kept, t->nscopes);
  for (uint32_t s = 1; s < t->nscopes; s++)
    (*top)[s] = t->scopes[s].parent == 0 ? s : (*top)[t->scopes[s].parent];
  for (uint32_t i = 0; i < r->n; i++)
    (*kept)[(*top)[r->v[i].scope]] = r->v[i].scope != 0;
  return NSR_OK;
}

static enum nsr_status find_bases(struct nsr_ctx *ctx, const struct nsr_tree *t,
                                  struct nsr_resets *r) {
  uint32_t *base, *top, i = 0, now = 0;
  bool *kept;
  NSR_TRY(find_tops(ctx, t, r, &top, &kept));
  NSR_NEW(ctx, NSR_SCRATCH, base, t->nworks);
  for (uint32_t w = 0; w < t->nworks; w++) {
    for (; i < r->n && r->v[i].at <= w; i++)
      now = r->v[i].scope == 0 ? r->v[i].at : NSR_NONE;
    uint32_t scope = top[t->works[w].scope];
    if (scope != 0 && kept[scope])
      now = NSR_NONE;
    base[w] = now;
  }
  r->base = base;
  return NSR_OK;
}

enum nsr_status nsr_resets_find(struct nsr_ctx *ctx, const struct nsr_tree *t,
                                struct nsr_resets *out) {
  *out = (struct nsr_resets){0};
  NSR_TRY(collect(ctx, t, out));
  return find_bases(ctx, t, out);
}
