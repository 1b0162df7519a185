/* behind.c - work and the markers behind the scopes around it.
 *
 * A marker retires behind all work of its channel in the scope, and runs each
 * time that the body around the scope comes there. So it tells what the work
 * tells and what its engine learned since, if its latest execution comes
 * behind the one waited for. Where both lie in one execution of the scope it
 * does not.
 */
#include "sync/behind.h"

#include <assert.h>
#include <string.h>

/* Whether c may wait for an execution of p in the execution of scope s, around
 * p, that c itself is in. */
static bool within(const struct nsr_tree *t, const struct nsr_need *need,
                   uint32_t s) {
  uint32_t from = t->works[need->p].scope, to = nsr_need_scope(t, need);
  if (!nsr_common_in(t, to, s))
    return false;
  if (need->p < nsr_need_at(t, need))
    return true;
  uint32_t loop = nsr_common_loop(t, nsr_common_shared(t, from, to));
  return loop != NSR_NONE && nsr_common_in(t, loop, s);
}

static uint32_t marker_behind(const struct nsr_tree *t, uint32_t s,
                              int8_t channel) {
  const struct nsr_common *x = &t->scopes[s];
  for (uint32_t m = x->markers; m < x->markers + x->nmarkers; m++)
    if (t->works[m].channel == channel)
      return t->works[m].insn == NSR_NONE ? NSR_NONE : m;
  return NSR_NONE;
}

/* Whether p runs once at most in an execution of scope s. */
static bool once(const struct nsr_tree *t, uint32_t p, uint32_t s) {
  for (uint32_t a = t->works[p].scope; a != t->scopes[s].parent;
       a = t->scopes[a].parent)
    if (t->scopes[a].kind == NSR_SCOPE_LOOP)
      return false;
  return true;
}

/* The outermost scope will do that it can. */
static bool put_behind(const struct nsr_tree *t, struct nsr_need *need) {
  const struct nsr_work *p = &t->works[need->p];
  uint32_t best = NSR_NONE, at = NSR_NONE;
  for (uint32_t s = p->scope; s != 0 && !within(t, need, s);
       s = t->scopes[s].parent) {
    uint32_t m = marker_behind(t, s, p->channel);
    if (m != NSR_NONE) {
      best = m;
      at = s;
    }
  }
  if (best == NSR_NONE)
    return false;
  need->lag = once(t, need->p, at) ? need->lag : 0;
  need->p = best;
  return true;
}

enum nsr_status nsr_needs_behind(struct nsr_ctx *ctx, const struct nsr_tree *t,
                                 const struct nsr_needs *needs,
                                 struct nsr_needs *out, bool *any) {
  out->n = needs->n;
  NSR_NEW(ctx, NSR_SCRATCH, out->v, needs->n);
  if (needs->n)
    memcpy(out->v, needs->v, needs->n * sizeof *out->v);
  *any = false;
  for (uint32_t i = 0; i < out->n; i++)
    *any |= put_behind(t, &out->v[i]);
  return NSR_OK;
}

/* A work of a scope that its marker stands for. */
static uint32_t told_by(const struct nsr_tree *t, uint32_t scope,
                        const struct nsr_work *marker) {
  uint32_t w = t->scopes[scope].first_work;
  while (t->works[w].marker || t->works[w].channel != marker->channel)
    w++;
  return w;
}

enum nsr_status nsr_needs_placeless(struct nsr_ctx *ctx,
                                    const struct nsr_tree *t,
                                    const struct nsr_needs *needs,
                                    uint32_t **works, uint32_t *n) {
  bool *awaited = NULL;
  *n = 0;
  for (uint32_t i = 0; i < needs->n; i++) {
    const struct nsr_work *p = &t->works[needs->v[i].p];
    if (!p->marker || p->insn != NSR_NONE)
      continue;
    if (!awaited)
      NSR_NEW(ctx, NSR_SCRATCH, awaited, t->nworks);
    *n += !awaited[needs->v[i].p];
    awaited[needs->v[i].p] = true;
  }
  NSR_NEW(ctx, NSR_SCRATCH, *works, *n);
  uint32_t at = 0;
  for (uint32_t s = 0; awaited && s < t->nscopes; s++) {
    const struct nsr_common *x = &t->scopes[s];
    for (uint32_t m = x->markers; m < x->markers + x->nmarkers; m++)
      if (awaited[m])
        (*works)[at++] = told_by(t, s, &t->works[m]);
  }
  assert(at == *n);
  return NSR_OK;
}
