/* entries.c - the order of what stands in front of an instruction. */
#include "emit/entries.h"

#include <stdlib.h>

#include "base/vec.h"
#include "base/work.h"

static int by_entry(const void *a, const void *b) {
  const struct nsr_entry *x = a, *y = b;
  if (x->insn != y->insn)
    return x->insn < y->insn ? -1 : 1;
  if (!x->arm != !y->arm)
    return x->arm ? -1 : 1;
  if (x->depth != y->depth)
    return (x->depth < y->depth) != (x->arm > 0) ? -1 : 1;
  if (x->kind != y->kind)
    return x->kind < y->kind ? -1 : 1;
  return x->which < y->which ? -1 : x->which > y->which;
}

/* The first entry at an instruction. */
static size_t first_entry(const struct nsr_entry *v, size_t n, uint32_t insn) {
  size_t lo = 0, hi = n;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (v[mid].insn < insn)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

uint32_t nsr_entries_ends(const struct nsr_entry *v, size_t n,
                          const struct nsr_scopes *own, uint32_t scope,
                          uint32_t insn) {
  uint32_t ends = 0;
  for (size_t e = first_entry(v, n, insn); e < n; e++) {
    if (v[e].insn != insn || !v[e].arm)
      break;
    bool in = scope != NSR_NONE && nsr_scope_in(own, scope, v[e].arm);
    ends += ends || in != (v[e].kind == NSR_ENTRY_PAD);
  }
  return ends;
}

/* ---- what there is */

struct finder {
  struct nsr_ctx *ctx;
  const struct nsr_plan *plan;
  int engine;
  NSR_VEC(struct nsr_entry) v;
  struct nsr_entries *out;
};

static enum nsr_status push_entry(struct finder *f, uint32_t scope,
                                  struct nsr_entry e) {
  const struct nsr_tree *t = f->plan->tree;
  const struct nsr_scope *s =
      &t->local[f->engine].scopes[t->scopes[scope].local[f->engine]];
  if (e.insn == NSR_NONE)
    e.insn = s->entry;
  e.depth = s->depth;
  NSR_APPEND(f->ctx, NSR_SCRATCH, &f->v, e);
  return NSR_OK;
}

/* Markers that are waited for. They belong to the body around the scope they
 * stand behind, so they come before what a scope that starts there does. */
static enum nsr_status find_scope_markers(struct finder *f) {
  const struct nsr_tree *t = f->plan->tree;
  for (uint32_t i = 0; i < t->nworks; i++) {
    const struct nsr_work *x = &t->works[i];
    if (x->marker && x->engine == f->engine && f->plan->update[i] >= 0)
      NSR_TRY(
          push_entry(f, x->scope,
                     (struct nsr_entry){x->insn, 0, x->arm,
                                        NSR_ENTRY_SCOPE_MARKER, i, 0, false}));
  }
  return NSR_OK;
}

static enum nsr_status find_plan_markers(struct finder *f) {
  for (uint32_t i = 0; i < f->plan->nmarkers; i++) {
    const struct nsr_plan_marker *m = &f->plan->markers[i];
    if (nsr_channel_engine(f->plan->tree->program->k, m->channel) ==
            f->engine &&
        m->reset == NSR_NONE)
      NSR_TRY(
          push_entry(f, m->scope,
                     (struct nsr_entry){NSR_NONE, 0, 0, NSR_ENTRY_PLAN_MARKER,
                                        i, 0, false}));
  }
  return NSR_OK;
}

/* The branch that passes an arm by leads to its pads. */
static enum nsr_status find_pads(struct finder *f) {
  const struct nsr_plan *plan = f->plan;
  const struct nsr_tree *t = plan->tree;
  for (uint32_t i = 0, end; i < plan->npads; i = end) {
    uint32_t scope = plan->pads[i].scope, local, insn, n = 0;
    for (end = i; end < plan->npads && plan->pads[end].scope == scope; end++)
      n += nsr_channel_engine(t->program->k, plan->pads[end].channel) ==
           f->engine;
    if (n == 0)
      continue;
    local = t->scopes[scope].local[f->engine];
    insn = (uint32_t)t->program
               ->nodes[f->engine][t->local[f->engine].scopes[local].entry - 1]
               .aux;
    NSR_TRY(push_entry(f, scope,
                       (struct nsr_entry){insn, 0, local, NSR_ENTRY_OVER, 0,
                                          (int32_t)n, false}));
    for (uint32_t k = i; k < end; k++)
      if (nsr_channel_engine(t->program->k, plan->pads[k].channel) == f->engine)
        NSR_TRY(push_entry(
            f, scope,
            (struct nsr_entry){insn, 0, local, NSR_ENTRY_PAD, k, 0, false}));
  }
  return NSR_OK;
}

/* A mirror that begins in front of an outermost loop. */
static enum nsr_status push_start(struct finder *f, uint32_t m, int32_t v) {
  NSR_APPEND(f->ctx, NSR_SCRATCH, &f->v,
             (struct nsr_entry){f->plan->mirrors[m].set_at, 0, 0,
                                NSR_ENTRY_MIRROR, m, v, true});
  return NSR_OK;
}

static enum nsr_status find_mirrors(struct finder *f) {
  const struct nsr_plan *plan = f->plan;
  for (uint32_t m = 0; m < plan->nmirrors; m++) {
    if (plan->mirrors[m].engine != f->engine)
      continue;
    if (f->out->nmirrors++ == 0)
      f->out->first_mirror = m;
    const struct nsr_plan_class *c = &plan->classes[plan->mirrors[m].class];
    if (plan->mirrors[m].set_at != NSR_NONE)
      NSR_TRY(push_start(f, m, c->start - plan->mirrors[m].less));
    else
      f->out->nprologue++;
    for (uint32_t i = 0; i < c->nsteps; i++) {
      const struct nsr_plan_step *step = &plan->steps[c->first_step + i];
      NSR_TRY(push_entry(f, step->scope,
                         (struct nsr_entry){NSR_NONE, 0, 0, NSR_ENTRY_MIRROR, m,
                                            step->add, step->set}));
    }
  }
  return NSR_OK;
}

/* In front of a loop, not again in each iteration. */
static enum nsr_status push_in_front(struct finder *f, uint32_t scope,
                                     enum nsr_entry_kind kind, uint32_t which) {
  const struct nsr_tree *t = f->plan->tree;
  const struct nsr_scope *loop =
      &t->local[f->engine].scopes[t->scopes[scope].local[f->engine]];
  NSR_APPEND(f->ctx, NSR_SCRATCH, &f->v,
             (struct nsr_entry){loop->entry, loop->depth - 1, 0, (uint8_t)kind,
                                which, 0, false});
  return NSR_OK;
}

static enum nsr_status find_snapshots(struct finder *f) {
  for (uint32_t i = 0; i < f->plan->nsnapshots; i++) {
    const struct nsr_plan_snapshot *s = &f->plan->snapshots[i];
    if (s->engine != f->engine)
      continue;
    f->out->nprologue += s->n;
    if (s->entry) {
      NSR_TRY(push_in_front(f, s->of, NSR_ENTRY_SNAPSHOT, i));
      continue;
    }
    NSR_TRY(push_entry(
        f, s->body,
        (struct nsr_entry){NSR_NONE, 0, 0, NSR_ENTRY_SNAPSHOT, i, 0, false}));
  }
  return NSR_OK;
}

/* Waits in front of loops. */
static enum nsr_status find_waits(struct finder *f) {
  const struct nsr_tree *t = f->plan->tree;
  for (uint32_t i = f->plan->nwaits; i-- > 0;) {
    const struct nsr_plan_wait *x = &f->plan->waits[i];
    if (x->at == NSR_NONE)
      break;
    if (t->works[x->c].engine != f->engine)
      continue;
    NSR_TRY(push_in_front(f, x->at, NSR_ENTRY_WAIT, i));
  }
  return NSR_OK;
}

enum nsr_status nsr_entries_find(struct nsr_ctx *ctx,
                                 const struct nsr_plan *plan, int engine,
                                 struct nsr_entries *out) {
  struct finder f = {.ctx = ctx, .plan = plan, .engine = engine, .out = out};
  *out = (struct nsr_entries){0};
  NSR_TRY(find_mirrors(&f));
  NSR_TRY(find_snapshots(&f));
  NSR_TRY(find_waits(&f));
  NSR_TRY(find_scope_markers(&f));
  NSR_TRY(find_plan_markers(&f));
  NSR_TRY(find_pads(&f));
  if (f.v.n)
    qsort(f.v.v, f.v.n, sizeof *f.v.v, by_entry);
  out->v = f.v.v;
  out->n = f.v.n;
  nsr_work_count(ctx, NSR_WORK_EMIT, out->n);
  return NSR_OK;
}
