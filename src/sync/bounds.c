/* bounds.c - counts of semaphores from trips of loops. */
#include "sync/bounds.h"

#include "base/vec.h"
#include "base/work.h"
#include "ir/keeps.h"

struct bounds {
  struct nsr_ctx *ctx;
  const struct nsr_plan *plan;
  const struct nsr_tree *t;
  bool *barred;      /* by scope: a barrier in each of its iterations stays */
  uint64_t *entries; /* by scope: between two of these */
  uint64_t *count;   /* by semaphore */
  uint32_t *around;  /* room: scopes around one */
  uint32_t members;
};

int64_t nsr_bounds_limit(const struct nsr_kernel *k) {
  int bits = k->isa->semaphore_bits;
  return (INT64_C(1) << ((bits < 32 ? bits : 32) - 1)) - 1;
}

/* An arm that is the rest of a loop behind its test. */
static bool is_rest(const struct nsr_common *s) {
  return s->kind == NSR_SCOPE_ARM && s->to_end && s->skip == NSR_ENDS_EXIT;
}

static enum nsr_status find_barred(struct bounds *b) {
  const struct nsr_tree *t = b->t;
  NSR_NEW(b->ctx, NSR_SCRATCH, b->barred, t->nscopes);
  for (uint32_t s = t->nscopes; s-- > 1;) {
    for (uint32_t p = t->scopes[s].first_part; p != NSR_NONE;
         p = t->parts[p].next)
      b->barred[s] |= t->parts[p].kind == NSR_PART_BARRIER &&
                      t->parts[p].keep != NSR_KEEP_NOT;
    if (b->barred[s] && is_rest(&t->scopes[s]))
      b->barred[t->scopes[s].parent] = true;
  }
  return NSR_OK;
}

static enum nsr_status find_entries(struct bounds *b) {
  uint64_t *trips;
  const struct nsr_tree *t = b->t;
  NSR_TRY(nsr_trips_find(b->ctx, t, &trips));
  NSR_NEW(b->ctx, NSR_SCRATCH, b->entries, t->nscopes);
  b->entries[0] = 1;
  for (uint32_t s = 1; s < t->nscopes; s++)
    b->entries[s] =
        b->barred[s]
            ? 1
            : nsr_trips_times(b->entries[t->scopes[s].parent], trips[s]);
  return NSR_OK;
}

static void count(struct bounds *b, uint32_t sem, int32_t weight,
                  uint32_t scope) {
  b->members++;
  b->count[sem] = nsr_trips_plus(
      b->count[sem], nsr_trips_times((uint64_t)weight, b->entries[scope]));
}

static enum nsr_status make(struct nsr_ctx *ctx, const struct nsr_plan *plan,
                            struct bounds *b) {
  *b = (struct bounds){.ctx = ctx, .plan = plan, .t = plan->tree};
  NSR_TRY(find_barred(b));
  NSR_TRY(find_entries(b));
  NSR_NEW(ctx, NSR_SCRATCH, b->count, b->t->program->k->isa->semaphores);
  for (uint32_t w = 0; w < b->t->nworks; w++)
    if (plan->update[w] >= 0)
      count(b, (uint32_t)plan->update[w], plan->weight[w],
            b->t->works[w].scope);
  for (uint32_t i = 0; i < plan->nmarkers; i++) {
    const struct nsr_plan_marker *m = &plan->markers[i];
    count(b, m->sem, m->weight, m->reset == NSR_NONE ? m->scope : 0);
  }
  nsr_work_count(ctx, NSR_WORK_SYNC, b->t->nworks + plan->nmarkers);
  return NSR_OK;
}

enum nsr_status nsr_bounds_find(struct nsr_ctx *ctx, struct nsr_plan *plan) {
  struct nsr_mark mark = nsr_scratch_mark(ctx);
  struct bounds b;
  plan->most = 0;
  NSR_TRY(make(ctx, plan, &b));
  for (uint32_t s = 0; s < b.t->program->k->isa->semaphores; s++)
    plan->most = b.count[s] > plan->most ? b.count[s] : plan->most;
  nsr_scratch_release(ctx, mark);
  return NSR_OK;
}

/* ---- barriers against overflow */

/* Keeps the last barrier of a loop's body, the rest behind its test included;
 * false: it has none that could go. */
static bool keep_in(const struct bounds *b, uint32_t loop, uint32_t exit) {
  const struct nsr_tree *t = b->t;
  uint32_t last = NSR_NONE;
  for (uint32_t s = loop; s != NSR_NONE && last == NSR_NONE;) {
    uint32_t rest = NSR_NONE;
    for (uint32_t p = t->scopes[s].first_part; p != NSR_NONE;
         p = t->parts[p].next) {
      const struct nsr_part *part = &t->parts[p];
      if (part->kind == NSR_PART_BARRIER && p != exit &&
          part->keep == NSR_KEEP_NOT)
        last = p;
      if (part->kind == NSR_PART_SCOPE && is_rest(&t->scopes[part->first]))
        rest = part->first;
    }
    s = rest;
  }
  if (last != NSR_NONE)
    nsr_keep(&t->parts[last], NSR_KEEP_OVERFLOW);
  return last != NSR_NONE;
}

/* In the outermost loop around a scope that has one and keeps none yet. */
static bool keep_around(struct bounds *b, uint32_t scope, uint32_t exit) {
  const struct nsr_tree *t = b->t;
  uint32_t n = 0;
  for (uint32_t s = scope; s != 0; s = t->scopes[s].parent)
    b->around[n++] = s;
  while (n-- > 0) {
    uint32_t s = b->around[n];
    if (t->scopes[s].kind != NSR_SCOPE_LOOP || b->barred[s])
      continue;
    if (keep_in(b, s, exit)) {
      b->barred[s] = true;
      return true;
    }
  }
  return false;
}

/* Whether a member makes up so much of its semaphore's count that it must
 * change. */
static bool too_much(const struct bounds *b, uint32_t sem, int32_t weight,
                     uint32_t scope) {
  uint64_t limit = (uint64_t)nsr_bounds_limit(b->t->program->k);
  uint64_t part = nsr_trips_times((uint64_t)weight, b->entries[scope]);
  return b->count[sem] > limit && nsr_trips_times(part, b->members) > limit;
}

enum nsr_status nsr_bounds_keep(struct nsr_ctx *ctx,
                                const struct nsr_plan *plan, uint32_t exit,
                                bool *more) {
  struct bounds b;
  bool *seen;
  *more = false;
  NSR_TRY(make(ctx, plan, &b));
  NSR_NEW(ctx, NSR_SCRATCH, seen, b.t->nscopes);
  NSR_NEW(ctx, NSR_SCRATCH, b.around, b.t->nscopes);
  for (uint32_t w = 0; w < b.t->nworks; w++)
    if (plan->update[w] >= 0)
      seen[b.t->works[w].scope] |= too_much(
          &b, (uint32_t)plan->update[w], plan->weight[w], b.t->works[w].scope);
  for (uint32_t i = 0; i < plan->nmarkers; i++)
    if (plan->markers[i].reset == NSR_NONE)
      seen[plan->markers[i].scope] |=
          too_much(&b, plan->markers[i].sem, plan->markers[i].weight,
                   plan->markers[i].scope);
  for (uint32_t s = 1; s < b.t->nscopes; s++)
    if (seen[s])
      *more |= keep_around(&b, s, exit);
  return NSR_OK;
}
