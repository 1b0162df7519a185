/* rewritten.c - the report from what the passes made. */
#include "report/rewritten.h"

#include <stdlib.h>

#include "base/vec.h"
#include "ir/keeps.h"
#include "sync/bounds.h"

void nsr_report_streams(const struct nsr_program *p,
                        struct nsr_rewrite_report *r) {
  for (int e = 0; e < NSR_MAX_ENGINES; e++) {
    struct nsr_engine_report *x = &r->engines[e];
    if (!p->stream[e])
      continue;
    x->engine = p->k->isa->engines[e];
    x->insns_before = p->stream[e]->n;
    for (uint32_t i = 0; i < x->insns_before; i++) {
      const struct nsr_node *n = &p->nodes[e][i];
      x->barriers_before += n->cls == NSR_BARRIER;
      x->waits_before += n->wait.cmp && !n->foreign_wait;
    }
    x->insns_after = x->insns_before;
    x->barriers_after = x->barriers_before;
    x->waits_after = x->waits_before;
  }
}

/* insn: a barrier, by engine; where it stands on the first that has it. */
static struct nsr_place barrier_place(const struct nsr_program *p,
                                      const uint32_t insn[NSR_MAX_ENGINES]) {
  int e = 0;
  while (!p->stream[e] || insn[e] == NSR_NONE)
    e++;
  return nsr_program_place(p, e, insn[e]);
}

/* "island: the wait on semaphore 4 at act[12] (k.s:40) has its .." */
static const char *kept_reason(struct nsr_ctx *ctx, const struct nsr_tree *t,
                               uint32_t why) {
  const struct nsr_trouble *x = &t->troubles[why];
  struct nsr_place at = nsr_program_place(t->program, x->engine, x->insn);
  const char *source = "";
  if (at.source_file && at.source_line)
    source = nsr_printf(ctx, NSR_SCRATCH, " (%s:%u)", at.source_file,
                        at.source_line);
  return source ? nsr_printf(ctx, NSR_KEEP, "island: %s at %s[%u]%s %s",
                             x->what, at.engine, x->insn, source, x->why)
                : NULL;
}

/* By part: how often it is run at most. */
static enum nsr_status find_times(struct nsr_ctx *ctx, const struct nsr_tree *t,
                                  uint64_t **out) {
  uint64_t *entries;
  NSR_TRY(nsr_trips_entries(ctx, t, &entries));
  NSR_NEW(ctx, NSR_SCRATCH, *out, t->nparts);
  for (uint32_t s = 0; s < t->nscopes; s++)
    for (uint32_t p = t->scopes[s].first_part; p != NSR_NONE;
         p = t->parts[p].next)
      (*out)[p] = entries[s];
  return NSR_OK;
}

/* tree NULL: there are no islands. exit: the exit barrier's instructions. */
enum nsr_status
nsr_report_kept(struct nsr_ctx *ctx, const struct nsr_program *p,
                const struct nsr_tree *t, const uint32_t exit[NSR_MAX_ENGINES],
                uint32_t exit_part, struct nsr_rewrite_report *r) {
  NSR_VEC(struct nsr_kept_barrier) kept = {0};
  struct nsr_mark mark = nsr_scratch_mark(ctx);
  uint64_t *times = NULL;
  for (uint32_t i = 0; t && i < t->nparts; i++) {
    const struct nsr_part *part = &t->parts[i];
    if (part->kind != NSR_PART_BARRIER || !part->keep || i == exit_part)
      continue;
    bool island = part->keep == NSR_KEEP_ISLAND;
    bool stays = island || part->keep == NSR_KEEP_PUBLISHED;
    const char *reason =
        island ? kept_reason(ctx, t, part->why) : nsr_keep_text(part->keep);
    if (!reason)
      return NSR_E_NOMEM;
    if (!times)
      NSR_TRY(find_times(ctx, t, &times));
    NSR_PUSH(ctx, NSR_KEEP, &kept,
             (struct nsr_kept_barrier){barrier_place(p, part->insn), reason,
                                       stays, times[i]});
  }
  int e = 0;
  while (!p->stream[e])
    e++;
  if (exit[e] != NSR_NONE)
    NSR_PUSH(ctx, NSR_KEEP, &kept,
             (struct nsr_kept_barrier){barrier_place(p, exit), "exit barrier",
                                       false, 1});
  r->kept = kept.v;
  r->nkept = (uint32_t)kept.n;
  nsr_scratch_release(ctx, mark);
  return NSR_OK;
}

/* Semaphores that some instruction of k updates. */
enum nsr_status nsr_report_semaphores(struct nsr_ctx *ctx,
                                      const struct nsr_program *p,
                                      uint32_t *n) {
  bool *used;
  NSR_NEW(ctx, NSR_SCRATCH, used, p->k->isa->semaphores);
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    for (uint32_t i = 0; p->stream[e] && i < p->stream[e]->n; i++) {
      const struct nsr_update *u = &p->nodes[e][i].update;
      *n += u->op && !used[u->sem];
      if (u->op)
        used[u->sem] = true;
    }
  return NSR_OK;
}

static enum nsr_status may_pairs(struct nsr_ctx *ctx,
                                 const struct nsr_deps *deps,
                                 struct nsr_rewrite_report *r) {
  const struct nsr_work *works = deps->tree->works;
  struct nsr_may_pair *pairs;
  NSR_NEW(ctx, NSR_KEEP, pairs, deps->unordered);
  for (uint32_t i = 0; i < deps->n; i++) {
    const struct nsr_dep *d = &deps->deps[i];
    if (!d->unordered)
      continue;
    struct nsr_may_pair *pair = &pairs[r->may_pairs++];
    pair->first = nsr_work_place(deps->tree, &works[d->p]);
    pair->second = nsr_work_place(deps->tree, &works[d->c]);
    pair->where = nsr_bytes_text(ctx, &deps->bytes[d->where]);
    if (!pair->where)
      return NSR_E_NOMEM;
  }
  r->pairs = pairs;
  return NSR_OK;
}

static void set_bounds(const struct nsr_plan *plan,
                       struct nsr_rewrite_report *r) {
  r->count_limit = nsr_bounds_limit(plan->tree->program->k);
  r->max_count = plan->most > INT64_MAX ? -1 : (int64_t)plan->most;
  r->max_entries = plan->largest ? r->count_limit / plan->largest : 0;
}

/* By scope: whether the innermost loop around it holds no other. */
static enum nsr_status find_inner(struct nsr_ctx *ctx, const struct nsr_tree *t,
                                  bool **out) {
  uint32_t *loop;
  NSR_NEW(ctx, NSR_SCRATCH, *out, t->nscopes);
  NSR_NEW(ctx, NSR_SCRATCH, loop, t->nscopes);
  for (uint32_t s = 1; s < t->nscopes; s++) {
    loop[s] = loop[t->scopes[s].parent];
    if (t->scopes[s].kind != NSR_SCOPE_LOOP)
      continue;
    for (uint32_t l = loop[s]; l != 0 && (*out)[l];
         l = loop[t->scopes[l].parent])
      (*out)[l] = false;
    loop[s] = s;
    (*out)[s] = true;
  }
  for (uint32_t s = 1; s < t->nscopes; s++)
    (*out)[s] = loop[s] != 0 && (*out)[loop[s]];
  return NSR_OK;
}

static enum nsr_status count_inner(struct nsr_ctx *ctx,
                                   const struct nsr_plan *plan,
                                   struct nsr_rewrite_report *r) {
  const struct nsr_tree *t = plan->tree;
  bool *inner;
  NSR_TRY(find_inner(ctx, t, &inner));
  for (uint32_t i = 0; i < plan->nwaits; i++)
    if (plan->waits[i].at == NSR_NONE &&
        inner[t->works[plan->waits[i].c].scope]) {
      r->inner_waits++;
      r->inner_operations += nsr_plan_wait_ops(plan, &plan->waits[i]);
    }
  for (uint32_t m = 0; m < plan->nmirrors; m++) {
    const struct nsr_plan_class *c = &plan->classes[plan->mirrors[m].class];
    for (uint32_t i = 0; i < c->nsteps; i++)
      r->inner_operations += inner[plan->steps[c->first_step + i].scope];
  }
  return NSR_OK;
}

static int by_number(const void *a, const void *b) {
  const uint64_t *x = a, *y = b;
  return *x < *y ? -1 : *x > *y;
}

static enum nsr_status count_awaited(struct nsr_ctx *ctx,
                                     const struct nsr_plan *plan,
                                     struct nsr_rewrite_report *r) {
  const struct nsr_tree *t = plan->tree;
  uint64_t *pairs;
  uint32_t n = 0;
  NSR_NEW(ctx, NSR_SCRATCH, pairs, t->nworks);
  for (uint32_t w = 0; w < t->nworks; w++)
    if (plan->update[w] >= 0)
      pairs[n++] =
          (uint64_t)t->works[w].scope << 8 | (uint8_t)t->works[w].channel;
  if (n)
    qsort(pairs, n, sizeof *pairs, by_number);
  for (uint32_t i = 0; i < n; i++)
    r->awaited += i == 0 || pairs[i] != pairs[i - 1];
  return NSR_OK;
}

enum nsr_status nsr_report_plan(struct nsr_ctx *ctx,
                                const struct nsr_deps *deps,
                                const struct nsr_plan *plan,
                                struct nsr_rewrite_report *r) {
  r->scopes = plan->tree->nscopes;
  r->dependences = deps->n;
  NSR_TRY(may_pairs(ctx, deps, r));
  set_bounds(plan, r);
  NSR_TRY(count_inner(ctx, plan, r));
  NSR_TRY(count_awaited(ctx, plan, r));
  r->semaphores = plan->nsems;
  r->scheme = plan->scheme;
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    r->engines[e].registers = plan->registers[e];
  return NSR_OK;
}
