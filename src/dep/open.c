/* open.c - what may be said of two works that nothing orders. */
#include "dep/open.h"

/* ---- both in one region */

/* Whether a loop's header is reached again more than n times in a trip, as
 * far as anybody knows. */
static bool goes_round(const struct nsr_distances *d, const uint64_t *trips,
                       uint32_t scope, int n) {
  const struct nsr_common *s = &d->tree->scopes[scope];
  if (trips && trips[scope] <= (uint64_t)n + 1)
    return false;
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    if (s->engines >> e & 1 && d->values[e].back[s->local[e]] <= n)
      return false;
  return true;
}

/* The innermost loop without a barrier that runs a scope's body in each
 * iteration (the last one maybe not: arms that only a way out of the loop
 * passes by); NSR_NONE: none. */
static uint32_t carrier(const struct nsr_distances *d, const uint64_t *trips,
                        uint32_t scope) {
  const struct nsr_common *s = d->tree->scopes;
  for (int n = 0; !s[scope].barrier; scope = s[scope].parent) {
    bool arm = s[scope].kind == NSR_SCOPE_ARM && s[scope].to_end &&
               s[scope].skip == NSR_ENDS_EXIT;
    if (arm) {
      n = 1;
      continue;
    }
    if (s[scope].kind != NSR_SCOPE_LOOP)
      break;
    if (goes_round(d, trips, scope, n))
      return scope;
    n = 0;
  }
  return NSR_NONE;
}

bool nsr_open_together(const struct nsr_distances *d, const struct nsr_dep *x,
                       const uint64_t *trips, uint32_t first) {
  const struct nsr_tree *t = d->tree;
  const struct nsr_work *p = &t->works[x->p], *c = &t->works[x->c];
  if (p->scope != c->scope)
    return false;
  if (x->p >= x->c)
    return carrier(d, trips, p->scope) != NSR_NONE;
  /* the entry behind the last iteration is counted, too */
  if (trips && first > 0 && x->loop != NSR_NONE && trips[x->loop] <= first + 1)
    return false;
  return p->region == c->region || !t->scopes[p->scope].barrier;
}

/* ---- arms of one branch */

/* The scope directly in `outer` that `inner` lies in. */
static uint32_t below(const struct nsr_tree *t, uint32_t inner,
                      uint32_t outer) {
  while (t->scopes[inner].parent != outer)
    inner = t->scopes[inner].parent;
  return inner;
}

/* Whether a branch of this engine leads into one of two arms. */
static bool branch(const struct nsr_tree *t, int engine, uint32_t a,
                   uint32_t b) {
  const struct nsr_scopes *l = &t->local[engine];
  const struct nsr_cfg *g = l->cfg;
  uint32_t x = t->scopes[a].local[engine], y = t->scopes[b].local[engine];
  uint32_t p = g->block_of[l->scopes[x].entry];
  uint32_t q = g->block_of[l->scopes[y].entry];
  uint32_t at = g->blocks[p].idom;
  const struct nsr_block *k = &g->blocks[at];
  return at == g->blocks[q].idom && ((k->succ[0] == p && k->succ[1] == q) ||
                                     (k->succ[0] == q && k->succ[1] == p));
}

/* Whether each way round a loop passes a barrier, on all its engines. */
static bool barred(const struct nsr_tree *t, uint32_t scope) {
  const struct nsr_common *s = &t->scopes[scope];
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    if (s->engines >> e & 1 && !t->local[e].scopes[s->local[e]].anchored)
      return false;
  return s->barrier;
}

bool nsr_open_exclusive(const struct nsr_tree *t, const struct nsr_dep *x) {
  uint32_t p = t->works[x->p].scope, c = t->works[x->c].scope;
  uint32_t shared = nsr_common_shared(t, p, c);
  if (p == shared || c == shared)
    return false;
  p = below(t, p, shared);
  c = below(t, c, shared);
  if (p == c || t->scopes[p].kind != NSR_SCOPE_ARM ||
      t->scopes[c].kind != NSR_SCOPE_ARM)
    return false;
  bool found = false;
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    if (t->scopes[p].engines & t->scopes[c].engines & UINT32_C(1) << e)
      found |= branch(t, e, p, c);
  for (; found && shared != NSR_NONE; shared = t->scopes[shared].parent) {
    if (t->scopes[shared].kind == NSR_SCOPE_LOOP)
      return barred(t, shared);
  }
  return found;
}

/* ---- the report */

static const char *place_text(struct nsr_ctx *ctx, const struct nsr_place *p) {
  if (!p->source_file || !p->source_line)
    return nsr_printf(ctx, NSR_KEEP, "%s[%lld]", p->engine, (long long)p->insn);
  return nsr_printf(ctx, NSR_KEEP, "%s[%lld] (%s:%u)", p->engine,
                    (long long)p->insn, p->source_file, p->source_line);
}

/* Which executions of the two meet. */
static const char *iterations(struct nsr_ctx *ctx,
                              const struct nsr_distances *d,
                              const struct nsr_dep *x, uint32_t first) {
  const struct nsr_tree *t = d->tree;
  uint32_t scope = t->works[x->p].scope;
  bool carried = x->p >= x->c;
  if (carried)
    scope = carrier(d, NULL, scope);
  while (scope != 0 && t->scopes[scope].kind != NSR_SCOPE_LOOP)
    scope = t->scopes[scope].parent;
  if (scope == 0)
    return "where both run";
  int e = t->works[x->c].engine;
  const struct nsr_common *s = &t->scopes[scope];
  struct nsr_place at =
      nsr_program_place(t->program, e, t->local[e].scopes[s->local[e]].entry);
  const char *loop = place_text(ctx, &at);
  if (!loop)
    return NULL;
  if (!carried && first > 0)
    return nsr_printf(ctx, NSR_KEEP, "in iteration %u of the loop at %s",
                      first + 1, loop);
  return nsr_printf(ctx, NSR_KEEP,
                    carried ? "in the first iteration of the loop at %s and "
                              "the one behind it"
                            : "in the first iteration of the loop at %s",
                    loop);
}

enum nsr_status nsr_open_race(struct nsr_ctx *ctx,
                              const struct nsr_distances *d,
                              const struct nsr_dep *x,
                              const struct nsr_bytes *bytes, uint32_t first) {
  const struct nsr_tree *t = d->tree;
  struct nsr_place p = nsr_work_place(t, &t->works[x->p]);
  struct nsr_place c = nsr_work_place(t, &t->works[x->c]);
  const char *other = place_text(ctx, &p);
  const char *where = nsr_bytes_text(ctx, bytes);
  const char *when = iterations(ctx, d, x, first);
  if (!other || !where || !when)
    return NSR_E_NOMEM;
  bool channel = t->works[x->p].channel == t->works[x->c].channel;
  return nsr_fail(ctx, NSR_E_RACE, c,
                  "a race in the input: nothing orders this behind %s, which "
                  "touches the same bytes (%s), %s%s; if that does no harm, "
                  "say so in a facts file: race %s[%lld] %s[%lld]",
                  other, where, when,
                  channel ? "; a channel overlaps its own work, so this needs "
                            "a wait on its own semaphore"
                          : "",
                  p.engine, (long long)p.insn, c.engine, (long long)c.insn);
}
