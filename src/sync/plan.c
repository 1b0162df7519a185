/* plan.c - classes, markers, updates and mirrors of the scheme chosen. */
#include "sync/plan.h"

#include <stdlib.h>

#include "base/work.h"
#include "sync/behind.h"
#include "sync/hoist.h"
#include "sync/published.h"
#include "sync/scheme.h"

struct group {
  uint32_t cell, class; /* one cell of it */
  uint16_t sem;
};

struct plan {
  struct nsr_ctx *ctx;
  const struct nsr_tree *t;
  struct nsr_chosen c;
  uint32_t *class; /* by key: its number, NSR_NONE: none */
  uint32_t nclasses;
  struct nsr_plan_class *classes;
  NSR_VEC(struct nsr_plan_step) steps;
  NSR_VEC(struct group) groups; /* that mirrors count */
  NSR_VEC(struct nsr_plan_marker) markers;
  NSR_VEC(struct nsr_mirror) mirrors;
  NSR_VEC(struct nsr_plan_snapshot) snapshots;
};

/* ---- classes and the groups in them */

static enum nsr_status number_classes(struct plan *p) {
  uint32_t keys = nsr_count_keys(&p->c.counts);
  NSR_NEW(p->ctx, NSR_SCRATCH, p->class, keys);
  for (uint32_t i = 0; i < keys; i++)
    p->class[i] = NSR_NONE;
  for (size_t i = 0; i < p->c.waits.n; i++)
    if (p->c.waits.v[i].is_reg)
      p->class[p->c.waits.v[i].mirror] = 0;
  for (uint32_t i = 0; i < keys; i++)
    if (p->class[i] != NSR_NONE)
      p->class[i] = p->nclasses++;
  NSR_NEW(p->ctx, NSR_SCRATCH, p->classes, p->nclasses);
  return NSR_OK;
}

struct class_step {
  uint32_t class;
  struct nsr_plan_step step;
};

static int by_class(const void *a, const void *b) {
  const struct class_step *x = a, *y = b;
  if (x->class != y->class)
    return x->class < y->class ? -1 : 1;
  return x->step.scope < y->step.scope ? -1 : x->step.scope > y->step.scope;
}

/* Steps while they are found. */
struct finder {
  NSR_VEC(struct class_step) v;
  uint32_t *last; /* by class: 1 + the last scope with a step */
};

/* Entries of scope advance the class of a cell, if it has a mirror. */
static enum nsr_status add_step(struct plan *p, struct finder *f, uint32_t cell,
                                uint32_t scope) {
  uint32_t k = p->class[nsr_count_class(&p->c.counts, cell)];
  int32_t add = (int32_t)nsr_count_step(&p->c.counts, cell, scope);
  if (k == NSR_NONE || add == 0 || f->last[k] == scope + 1)
    return NSR_OK;
  f->last[k] = scope + 1;
  if (scope == 0)
    p->classes[k].start = add;
  else
    NSR_PUSH(p->ctx, NSR_SCRATCH, &f->v,
             (struct class_step){k, {scope, add, false}});
  return NSR_OK;
}

/* In a pooled scope, also those of channels that only have a marker there. */
static enum nsr_status add_pooled_steps(struct plan *p, struct finder *f,
                                        const uint32_t *first, uint32_t scope) {
  const struct nsr_counts *c = &p->c.counts;
  for (uint32_t ch = 0; ch < c->nchannels; ch++) {
    uint32_t group = p->c.group[nsr_count_pooled(c, scope, ch)];
    if (group != NSR_NONE)
      NSR_TRY(add_step(p, f, first[group], scope));
  }
  return NSR_OK;
}

/* What each class adds at entries; the program's go into its start. */
static enum nsr_status find_steps(struct plan *p) {
  const struct nsr_counts *c = &p->c.counts;
  struct finder f = {0};
  uint32_t *first; /* by group: a cell of it */
  NSR_NEW(p->ctx, NSR_SCRATCH, f.last, p->nclasses);
  NSR_NEW(p->ctx, NSR_SCRATCH, first, p->c.ngroups);
  for (uint32_t i = c->ncells; i-- > 0;)
    first[p->c.group[nsr_count_group(c, i)]] = i;
  for (uint32_t i = 0; i < c->ncells; i++)
    if (c->own[c->cells[i].scope])
      NSR_TRY(add_step(p, &f, i, c->cells[i].scope));
  for (uint32_t i = 0; i < p->c.norder; i++)
    if (!c->own[p->c.order[i]])
      NSR_TRY(add_pooled_steps(p, &f, first, p->c.order[i]));
  if (f.v.n)
    qsort(f.v.v, f.v.n, sizeof *f.v.v, by_class);
  for (size_t i = 0; i < f.v.n; i++) {
    struct nsr_plan_class *x = &p->classes[f.v.v[i].class];
    if (x->nsteps++ == 0)
      x->first_step = (uint32_t)i;
    NSR_PUSH(p->ctx, NSR_SCRATCH, &p->steps, f.v.v[i].step);
  }
  nsr_work_count(p->ctx, NSR_WORK_SYNC, c->ncells);
  return NSR_OK;
}

static enum nsr_status find_groups(struct plan *p) {
  uint32_t next = 0; /* groups are numbered by their first cells */
  for (uint32_t i = 0; i < p->c.counts.ncells; i++) {
    uint32_t group = p->c.group[nsr_count_group(&p->c.counts, i)];
    uint32_t class = p->class[nsr_count_class(&p->c.counts, i)];
    if (group < next)
      continue;
    next = group + 1;
    if (class != NSR_NONE)
      NSR_PUSH(p->ctx, NSR_SCRATCH, &p->groups,
               (struct group){i, class, p->c.sems[group]});
  }
  return NSR_OK;
}

/* ---- behind barriers that stay */

/* Groups of a class differ in what is still to come behind a barrier; those
 * with less get the difference at once. */
static enum nsr_status reset_groups(struct plan *p, uint32_t i,
                                    int32_t *const *reset) {
  const struct nsr_reset *r = &p->c.resets.v[i];
  for (size_t g = 0; g < p->groups.n; g++) {
    const struct group *x = &p->groups.v[g];
    int64_t ahead = nsr_count_ahead(&p->c.counts, x->cell, r->scope, r->at);
    if (reset[x->class][i] < ahead)
      reset[x->class][i] = (int32_t)ahead;
  }
  for (size_t g = 0; g < p->groups.n; g++) {
    const struct group *x = &p->groups.v[g];
    int64_t ahead = nsr_count_ahead(&p->c.counts, x->cell, r->scope, r->at);
    if (ahead < reset[x->class][i])
      NSR_PUSH(p->ctx, NSR_SCRATCH, &p->markers,
               (struct nsr_plan_marker){p->c.counts.cells[x->cell].channel,
                                        x->sem, r->scope, i,
                                        (int32_t)(reset[x->class][i] - ahead)});
  }
  return NSR_OK;
}

static enum nsr_status find_resets(struct plan *p) {
  int32_t **reset;
  if (p->c.resets.n == 0)
    return NSR_OK;
  NSR_NEW(p->ctx, NSR_SCRATCH, reset, p->nclasses);
  for (uint32_t k = 0; k < p->nclasses; k++) {
    NSR_NEW(p->ctx, NSR_SCRATCH, reset[k], p->c.resets.n);
    p->classes[k].reset = reset[k];
  }
  for (uint32_t i = 0; i < p->c.resets.n; i++)
    NSR_TRY(reset_groups(p, i, reset));
  return NSR_OK;
}

/* ---- what the streams get */

/* Weighed pools: a marker for each channel without a member in a scope. */
static enum nsr_status find_markers(struct plan *p) {
  const struct nsr_counts *c = &p->c.counts;
  for (uint32_t i = 0; c->weigh_pools && i < p->c.norder; i++) {
    uint32_t scope = p->c.order[i], cell = c->first_cell[scope];
    if (c->own[scope])
      continue;
    for (uint32_t ch = 0; ch < c->nchannels; ch++) {
      uint32_t group = p->c.group[nsr_count_pooled(c, scope, ch)];
      if (cell < c->first_cell[scope + 1] && c->cells[cell].channel == (int)ch)
        cell++;
      else if (group != NSR_NONE)
        NSR_PUSH(p->ctx, NSR_SCRATCH, &p->markers,
                 (struct nsr_plan_marker){(int8_t)ch, p->c.sems[group], scope,
                                          NSR_NONE, (int32_t)c->most[scope]});
    }
  }
  return NSR_OK;
}

static enum nsr_status fill_updates(struct plan *p, struct nsr_plan *out) {
  int32_t *update, *weight;
  const struct nsr_counts *c = &p->c.counts;
  NSR_NEW(p->ctx, NSR_SCRATCH, update, p->t->nworks);
  NSR_NEW(p->ctx, NSR_SCRATCH, weight, p->t->nworks);
  for (uint32_t w = 0; w < p->t->nworks; w++) {
    update[w] = -1;
    if (c->cell_of[w] == NSR_NONE)
      continue;
    update[w] = p->c.sems[p->c.group[nsr_count_group(c, c->cell_of[w])]];
    weight[w] = (int32_t)nsr_count_weight(c, w);
  }
  out->update = update;
  out->weight = weight;
  return NSR_OK;
}

/* Mirrors in registers that serve several. */
static enum nsr_status share_mirrors(struct plan *p, int engine,
                                     struct nsr_plan *out) {
  const struct nsr_ranges *r = &p->c.ranges[engine];
  const struct nsr_scopes *own = &p->t->local[engine];
  struct nsr_uses *uses = &p->c.uses[engine];
  for (uint32_t i = 0; i < uses->n; i++) {
    struct nsr_use *use = &uses->v[i];
    uint32_t at = NSR_NONE;
    if (use->leader != i)
      continue;
    if (use->from)
      at = own->scopes[r->items[use->from].first].entry;
    use->mirror = (uint32_t)p->mirrors.n;
    NSR_PUSH(p->ctx, NSR_SCRATCH, &p->mirrors,
             (struct nsr_mirror){(uint8_t)engine, use->reg,
                                 p->class[use->class], use -> less, at});
  }
  for (uint32_t i = 0; i < uses->n; i++)
    uses->v[i].mirror = uses->v[uses->v[i].leader].mirror;
  out->temp[engine] = p->c.shared_temp[engine];
  out->registers[engine] = p->c.shared[engine];
  return NSR_OK;
}

/* The engine's mirrors, and its waits pointed at them. */
static enum nsr_status make_mirrors(struct plan *p, int engine,
                                    struct nsr_plan *out) {
  const struct nsr_free *regs = &p->c.free[engine];
  struct nsr_uses *uses = &p->c.uses[engine];
  uint32_t *own, n;
  if (p->c.shared[engine])
    return share_mirrors(p, engine, out);
  NSR_TRY(nsr_uses_assign(p->ctx, uses, regs->n, &own, &n));
  uint32_t first = (uint32_t)p->mirrors.n;
  for (uint32_t m = 0; m < n; m++)
    NSR_PUSH(p->ctx, NSR_SCRATCH, &p->mirrors,
             (struct nsr_mirror){(uint8_t)engine, regs->v[m],
                                 p->class[uses->v[own[m]].class],
                                 uses -> v[own[m]].less, NSR_NONE});
  for (uint32_t i = 0; i < uses->n; i++)
    uses->v[i].mirror += first;
  bool computes = n < uses->n && n < regs->n;
  out->temp[engine] = computes ? regs->v[n] : NSR_NO_REG;
  out->registers[engine] = n + computes;
  return NSR_OK;
}

static void connect_waits(struct plan *p) {
  for (size_t i = 0; i < p->c.waits.n; i++) {
    struct nsr_plan_wait *w = &p->c.waits.v[i];
    if (!w->is_reg)
      continue;
    const struct nsr_use *use =
        nsr_uses_find(&p->c.uses[p->t->works[w->c].engine], w->mirror, w->less);
    w->mirror = use->mirror;
    w->less -= p->mirrors.v[w->mirror].less;
  }
}

/* ---- snapshots */

static bool is_of(const struct plan *p, const struct nsr_plan_snapshot *s,
                  const struct nsr_plan_wait *w) {
  return s->engine == p->t->works[w->c].engine && s->of == w->of &&
         s->entry == (w->back == NSR_AT_ENTRY) && s->mirror == w->mirror &&
         s->less == w->less;
}

/* What waits for counts as of starts of iterations keep of their mirrors: of
 * classes as long as these are not connected. */
static enum nsr_status find_snapshots(struct plan *p) {
  p->snapshots.n = 0;
  for (size_t i = 0; i < p->c.waits.n; i++) {
    struct nsr_plan_wait *w = &p->c.waits.v[i];
    size_t k = 0;
    if (w->back == 0)
      continue;
    while (k < p->snapshots.n && !is_of(p, &p->snapshots.v[k], w))
      k++;
    if (k == p->snapshots.n)
      NSR_PUSH(p->ctx, NSR_SCRATCH, &p->snapshots,
               (struct nsr_plan_snapshot){p->t->works[w->c].engine,
                                          w->back == NSR_AT_ENTRY,
                                          w->mirror,
                                          w->less,
                                          w->of,
                                          p->t->scopes[w->of].body,
                                          0,
                                          {0}});
    struct nsr_plan_snapshot *s = &p->snapshots.v[k];
    uint32_t n = s->entry ? 1 : w->back;
    s->n = s->n > n ? s->n : n;
    w->snapshot = (uint32_t)k;
  }
  return NSR_OK;
}

/* Whether there are registers for them; mirrors that share theirs are not
 * always there. */
static bool have_room(const struct plan *p) {
  uint32_t want[NSR_MAX_ENGINES] = {0};
  for (size_t i = 0; i < p->snapshots.n; i++)
    want[p->snapshots.v[i].engine] += p->snapshots.v[i].n;
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    if (want[e] > p->c.kept[e].n || (want[e] && p->c.shared[e]))
      return false;
  return true;
}

static enum nsr_status make_snapshots(struct plan *p, struct nsr_plan *out) {
  uint32_t used[NSR_MAX_ENGINES] = {0};
  NSR_TRY(find_snapshots(p));
  for (size_t i = 0; i < p->snapshots.n; i++) {
    struct nsr_plan_snapshot *s = &p->snapshots.v[i];
    for (uint32_t k = 0; k < s->n; k++)
      s->regs[k] = p->c.kept[s->engine].v[used[s->engine]++];
    out->registers[s->engine] += s->n;
  }
  for (size_t i = 0; i < p->c.waits.n; i++)
    if (p->c.waits.v[i].back)
      p->c.waits.v[i].less = 0;
  out->snapshots = p->snapshots.v;
  out->nsnapshots = (uint32_t)p->snapshots.n;
  return NSR_OK;
}

/* Whether the scratch register still holds what wait a put there when its
 * engine comes to b: straight on, over no barrier. */
static bool lasts_to(const struct nsr_tree *t, const struct nsr_plan_wait *a,
                     const struct nsr_plan_wait *b) {
  const struct nsr_work *x = &t->works[a->c], *y = &t->works[b->c];
  const struct nsr_cfg *g = t->local[x->engine].cfg;
  return a->mirror == b->mirror && a->less == b->less && x->scope == y->scope &&
         x->region == y->region && g->block_of[x->insn] == g->block_of[y->insn];
}

/* Thresholds of one value that follow each other are computed once. */
static void share_thresholds(struct plan *p, const struct nsr_plan *out) {
  const struct nsr_plan_wait *last[NSR_MAX_ENGINES] = {0};
  for (size_t i = 0; i < p->c.waits.n; i++) {
    struct nsr_plan_wait *w = &p->c.waits.v[i];
    int e = p->t->works[w->c].engine;
    if (!w->is_reg || w->less == 0 || out->temp[e] == NSR_NO_REG ||
        w->at != NSR_NONE)
      continue;
    w->again = last[e] && lasts_to(p->t, last[e], w);
    last[e] = w;
  }
}

/* Ways past arms whose work counts in the body around them. */
static enum nsr_status make_pads(struct plan *p, struct nsr_plan *out) {
  struct nsr_pads pads = {0};
  for (uint32_t s = 0; s < p->t->nscopes; s++)
    if (p->c.counts.in[s] != s)
      NSR_TRY(nsr_padded_arm(p->ctx, &p->c.counts, s, out->update, &pads));
  out->pads = pads.l.v;
  out->npads = (uint32_t)pads.l.n;
  return NSR_OK;
}

static int64_t largest(const struct plan *p) {
  int64_t most = 0;
  for (uint32_t k = 0; k < p->nclasses; k++) {
    const struct nsr_plan_class *c = &p->classes[k];
    int64_t sum = c->nsteps ? c->start : 0;
    for (uint32_t i = 0; i < c->nsteps; i++)
      sum += p->steps.v[c->first_step + i].add;
    most = sum > most ? sum : most;
  }
  return most;
}

static enum nsr_status build(struct plan *p, struct nsr_plan *out) {
  NSR_TRY(number_classes(p));
  NSR_TRY(find_steps(p));
  NSR_TRY(find_groups(p));
  NSR_TRY(find_resets(p));
  NSR_TRY(find_markers(p));
  NSR_TRY(fill_updates(p, out));
  NSR_TRY(make_pads(p, out));
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    NSR_TRY(make_mirrors(p, e, out));
  connect_waits(p);
  NSR_TRY(make_snapshots(p, out));
  NSR_TRY(
      nsr_hoist_waits(p->ctx, &p->c.counts, out, p->c.waits.v, p->c.waits.n));
  share_thresholds(p, out);
  out->largest = largest(p);
  out->scheme = nsr_scheme_used(&p->c);
  out->waits = p->c.waits.v;
  out->nwaits = (uint32_t)p->c.waits.n;
  out->mirrors = p->mirrors.v;
  out->nmirrors = (uint32_t)p->mirrors.n;
  out->classes = p->classes;
  out->nclasses = p->nclasses;
  out->steps = p->steps.v;
  out->nsteps = (uint32_t)p->steps.n;
  out->markers = p->markers.v;
  out->nmarkers = (uint32_t)p->markers.n;
  out->nsems = p->c.ngroups;
  out->resets = p->c.resets;
  return NSR_OK;
}

/* Whether a barrier that stays orders a pair anyway, in an island or between
 * the two, or there is nothing to wait for. */
static bool needless(const struct nsr_tree *t, const struct nsr_resets *r,
                     const struct nsr_need *need) {
  const struct nsr_work *p = &t->works[need->p], *c = &t->works[need->c];
  if (p->island || c->island)
    return true;
  if (need->p >= nsr_need_at(t, need))
    return !t->scopes[nsr_common_shared(t, p->scope, nsr_need_scope(t, need))]
                .loops;
  return r->base[need->c] != NSR_NONE && need->p < r->base[need->c];
}

static enum nsr_status drop_needless(struct nsr_ctx *ctx,
                                     const struct nsr_tree *t,
                                     const struct nsr_needs *needs,
                                     struct nsr_needs *out, bool *stays) {
  struct nsr_resets resets;
  *out = (struct nsr_needs){0};
  NSR_TRY(nsr_resets_find(ctx, t, &resets));
  *stays = resets.n > 0;
  NSR_NEW(ctx, NSR_SCRATCH, out->v, needs->n);
  for (uint32_t i = 0; i < needs->n; i++)
    if (!needless(t, &resets, &needs->v[i]))
      out->v[out->n++] = needs->v[i];
  return NSR_OK;
}

/* What was asked for as of the start of an iteration is to be the most recent
 * execution, and as of a loop's entry is waited for in front of it; whether
 * anything was. */
static bool forget_starts(struct nsr_needs *needs) {
  bool any = false;
  for (uint32_t i = 0; i < needs->n; i++) {
    any |= needs->v[i].back > 0;
    if (needs->v[i].back == NSR_AT_ENTRY)
      needs->v[i].front = needs->v[i].of;
    needs->v[i].back = needs->v[i].of = 0;
  }
  return any;
}

/* A marker tells more than the work in front of it, so who waits for it may
 * wait for more: that is for where the exact waits do not fit. */
static enum nsr_status choose_behind(struct plan *p,
                                     const struct nsr_needs *needs,
                                     const struct nsr_budget *budget) {
  struct nsr_needs behind;
  bool any;
  if (nsr_scheme_waits_outside(p->t->program))
    return NSR_OK;
  NSR_TRY(nsr_needs_behind(p->ctx, p->t, needs, &behind, &any));
  return any ? nsr_scheme_choose(p->ctx, p->t, &behind, budget, &p->c) : NSR_OK;
}

/* Padding costs a no-op where an arm is passed by, and a branch where it runs:
 * the last resort. */
static enum nsr_status choose_padded(struct plan *p,
                                     const struct nsr_needs *needs,
                                     const struct nsr_budget *budget) {
  struct nsr_chosen padded;
  const uint32_t *in;
  bool any;
  if (nsr_scheme_waits_outside(p->t->program))
    return NSR_OK;
  NSR_TRY(nsr_padded_find(p->ctx, p->t, &in, &any));
  if (any)
    NSR_TRY(nsr_scheme_pad(p->ctx, p->t, needs, budget, in, &padded, &any));
  if (any && !padded.lack.any)
    p->c = padded;
  return NSR_OK;
}

enum nsr_status nsr_plan_make(struct nsr_ctx *ctx, const struct nsr_tree *tree,
                              const struct nsr_needs *needs,
                              const struct nsr_budget *budget,
                              struct nsr_plan *out) {
  struct plan p = {.ctx = ctx, .t = tree};
  *out = (struct nsr_plan){.tree = tree};
  struct nsr_needs some;
  bool stays; /* a barrier behind which counts begin anew */
  NSR_TRY(drop_needless(ctx, tree, needs, &some, &stays));
  if (stays)
    (void)forget_starts(&some);
  if (budget->scheme == NSR_SCHEME_PUBLISHED)
    return nsr_published_plan(ctx, tree, &some, budget, out);
  NSR_TRY(nsr_scheme_choose(ctx, tree, &some, budget, &p.c));
  if (!p.c.lack.any)
    NSR_TRY(find_snapshots(&p));
  if ((p.c.lack.any || !have_room(&p)) && forget_starts(&some)) {
    p = (struct plan){.ctx = ctx, .t = tree};
    NSR_TRY(nsr_scheme_choose(ctx, tree, &some, budget, &p.c));
  }
  if (p.c.lack.any)
    NSR_TRY(choose_behind(&p, &some, budget));
  if (p.c.lack.any)
    NSR_TRY(choose_padded(&p, &some, budget));
  nsr_drop(ctx, NSR_SCRATCH, some.v);
  out->lack = p.c.lack;
  return out->lack.any ? NSR_OK : build(&p, out);
}

bool nsr_plan_bends(const struct nsr_plan *plan,
                    const struct nsr_plan_wait *w) {
  int engine = plan->tree->works[w->c].engine;
  return w->is_reg && w->nops == 0 && w->less != 0 &&
         plan->temp[engine] == NSR_NO_REG;
}

uint32_t nsr_plan_wait_ops(const struct nsr_plan *plan,
                           const struct nsr_plan_wait *w) {
  if (w->nops || !w->is_reg || w->less == 0 || w->again)
    return w->nops;
  return nsr_plan_bends(plan, w) ? 2 : 1;
}
