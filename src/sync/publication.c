/* publication.c - forms, and barriers for what has none. */
#include "sync/publication.h"

#include "base/work.h"
#include "ir/keeps.h"
#include "sync/published.h"

/* ---- forms */

/* The loop whose iterations are the entries of a scope: the scope itself, or
 * one of which it is the rest behind a test; NSR_NONE: none. */
static uint32_t loop_of(const struct nsr_tree *t, uint32_t s) {
  while (t->scopes[s].kind == NSR_SCOPE_ARM && t->scopes[s].to_end &&
         t->scopes[s].skip == NSR_ENDS_EXIT)
    s = t->scopes[s].parent;
  return t->scopes[s].kind == NSR_SCOPE_LOOP ? s : NSR_NONE;
}

/* The innermost loop around a scope, NSR_NONE: none. */
static uint32_t loop_around(const struct nsr_tree *t, uint32_t scope) {
  for (uint32_t s = t->scopes[scope].parent; s != NSR_NONE;
       s = t->scopes[s].parent)
    if (t->scopes[s].kind == NSR_SCOPE_LOOP)
      return s;
  return NSR_NONE;
}

/* Whether a barrier that stays lies between two executions of a scope that is
 * one part of a body: directly in that body, or in one around it up to the
 * innermost loop. Or there is no such loop. */
static bool separated(const struct nsr_tree *t, const bool *kept,
                      uint32_t scope) {
  uint32_t around = loop_around(t, scope);
  if (around == NSR_NONE)
    return true;
  for (uint32_t s = t->scopes[scope].parent;; s = t->scopes[s].parent) {
    if (kept[s])
      return true;
    if (s == around)
      return false;
  }
}

struct nsr_publication nsr_publication_of(const struct nsr_tree *t,
                                          const bool *kept,
                                          const struct nsr_need *need) {
  uint32_t p = t->works[need->p].scope;
  uint32_t s = nsr_common_shared(t, p, t->works[need->c].scope);
  bool forward = need->p < need->c;
  struct nsr_publication x = {NSR_PUBLISHED_PLAIN, need->lag + !forward, p == s,
                              s, loop_of(t, s)};
  if (x.k == 0)
    return x;
  bool expressible =
      x.loop != NSR_NONE && (x.direct || (!forward && need->lag == 0));
  x.form = expressible && separated(t, kept, x.loop) ? NSR_PUBLISHED_MASKED
                                                     : NSR_PUBLISHED_BARRIERS;
  return x;
}

enum nsr_status nsr_publication_kept(struct nsr_ctx *ctx,
                                     const struct nsr_tree *t, bool **out) {
  NSR_NEW(ctx, NSR_SCRATCH, *out, t->nscopes);
  for (uint32_t s = 0; s < t->nscopes; s++)
    for (uint32_t p = t->scopes[s].first_part; p != NSR_NONE;
         p = t->parts[p].next)
      (*out)[s] |= t->parts[p].kind == NSR_PART_BARRIER &&
                   t->parts[p].keep != NSR_KEEP_NOT;
  return NSR_OK;
}

/* ---- barriers */

struct keeper {
  const struct nsr_tree *t;
  uint32_t exit;
  const bool *kept;
};

static bool removable(const struct keeper *k, uint32_t part) {
  return k->t->parts[part].kind == NSR_PART_BARRIER && part != k->exit &&
         k->t->parts[part].keep == NSR_KEEP_NOT;
}

/* Keeps the last barrier directly in a scope; false: there is none to keep. */
static bool keep_last(struct keeper *k, uint32_t scope) {
  uint32_t last = NSR_NONE;
  for (uint32_t p = k->t->scopes[scope].first_part; p != NSR_NONE;
       p = k->t->parts[p].next)
    if (removable(k, p))
      last = p;
  if (last == NSR_NONE)
    return false;
  nsr_keep(&k->t->parts[last], NSR_KEEP_PUBLISHED);
  return true;
}

static bool keep_all(struct keeper *k, uint32_t scope) {
  bool any = false;
  for (uint32_t s = scope; s <= k->t->scopes[scope].last; s++)
    for (uint32_t p = k->t->scopes[s].first_part; p != NSR_NONE;
         p = k->t->parts[p].next)
      if (removable(k, p)) {
        nsr_keep(&k->t->parts[p], NSR_KEEP_PUBLISHED);
        any = true;
      }
  return any;
}

/* One barrier between the executions of a scope, if there is one; else all of
 * the loops around it, the innermost first. */
static bool keep_for(struct keeper *k, uint32_t whole) {
  const struct nsr_tree *t = k->t;
  uint32_t around = loop_around(t, whole);
  if (around != NSR_NONE && !separated(t, k->kept, whole))
    for (uint32_t s = t->scopes[whole].parent;; s = t->scopes[s].parent) {
      if (keep_last(k, s))
        return true;
      if (s == around)
        break;
    }
  for (uint32_t s = whole; s != NSR_NONE; s = t->scopes[s].parent)
    if (keep_all(k, s))
      return true;
  return false;
}

enum nsr_status nsr_published_keep(struct nsr_ctx *ctx, struct nsr_tree *tree,
                                   const struct nsr_needs *needs, uint32_t exit,
                                   bool *more) {
  struct keeper k = {.t = tree, .exit = exit};
  bool *kept, *served; /* by scope: what has been kept for it may do */
  *more = false;
  NSR_TRY(nsr_publication_kept(ctx, tree, &kept));
  NSR_NEW(ctx, NSR_SCRATCH, served, tree->nscopes);
  k.kept = kept;
  for (uint32_t i = 0; i < needs->n; i++) {
    const struct nsr_need *need = &needs->v[i];
    if (tree->works[need->c].island || tree->works[need->p].island)
      continue;
    struct nsr_publication x = nsr_publication_of(tree, kept, need);
    uint32_t whole = x.loop != NSR_NONE ? x.loop : x.shared;
    if (x.form != NSR_PUBLISHED_BARRIERS || served[whole])
      continue;
    served[whole] = true;
    *more |= keep_for(&k, whole);
  }
  nsr_work_count(ctx, NSR_WORK_SYNC, needs->n + tree->nparts);
  return NSR_OK;
}
