/* published.c - the plan with the publication's forms.
 *
 * Behind a barrier that stays every r of a scope in progress begins with 1, of
 * others with 0, and each group gets at once what its members in front of the
 * barrier had added in the bodies around it: so N * r - (N - K) names the same
 * execution as before. */
#include "sync/published.h"

#include <assert.h>
#include <stdlib.h>

#include "base/work.h"
#include "sync/publication.h"
#include "sync/scheme.h"

/* The registers of an engine: r and t of scopes. */
enum counter { ENTRIES, TRIP, COUNTERS };

struct engine {
  uint32_t *mirror[COUNTERS]; /* by scope: its mirror, NSR_NONE: none */
  uint32_t temps;             /* registers to compute in */
  int16_t temp[2];
};

struct publish {
  struct nsr_ctx *ctx;
  const struct nsr_tree *t;
  const struct nsr_needs *needs;
  enum nsr_scheme alloc;
  bool *kept;
  struct nsr_chosen c;
  uint32_t *next_cell, *first_cell; /* by cell: next of its group; by group */
  struct engine engines[NSR_MAX_ENGINES];
  uint32_t *class[COUNTERS]; /* by scope, as above */
  NSR_VEC(struct nsr_plan_class) classes;
  NSR_VEC(struct nsr_plan_step) steps;
  NSR_VEC(struct nsr_mirror) mirrors;
  NSR_VEC(struct nsr_plan_wait) waits;
  NSR_VEC(struct nsr_plan_op) ops;
  NSR_VEC(struct nsr_plan_marker) markers;
};

static uint32_t group_of(const struct publish *p, uint32_t cell) {
  return p->c.group[nsr_count_group(&p->c.counts, cell)];
}

static bool totals(const struct publish *p) {
  return p->alloc == NSR_SCHEME_PER_ENGINE;
}

/* ---- what is counted */

/* The cells of each group, by scope. */
static enum nsr_status link_cells(struct publish *p) {
  const struct nsr_counts *c = &p->c.counts;
  NSR_NEW(p->ctx, NSR_SCRATCH, p->next_cell, c->ncells);
  NSR_NEW(p->ctx, NSR_SCRATCH, p->first_cell, p->c.ngroups);
  for (uint32_t g = 0; g < p->c.ngroups; g++)
    p->first_cell[g] = NSR_NONE;
  for (uint32_t i = c->ncells; i-- > 0;) {
    uint32_t g = group_of(p, i);
    p->next_cell[i] = p->first_cell[g];
    p->first_cell[g] = i;
  }
  return NSR_OK;
}

static struct nsr_publication form_of(const struct publish *p,
                                      const struct nsr_need *need) {
  struct nsr_publication x = nsr_publication_of(p->t, p->kept, need);
  if (x.form == NSR_PUBLISHED_BARRIERS)
    x.form = NSR_PUBLISHED_PLAIN;
  return x;
}

/* Whether the sum for a wait of c goes over a scope: it is around c, comes
 * earlier, or a loop is around both. In others nothing has run yet. */
static bool counts(const struct publish *p, uint32_t scope, uint32_t c) {
  const struct nsr_common *s = &p->t->scopes[scope];
  uint32_t at = p->t->works[c].scope;
  return nsr_common_in(p->t, at, scope) || s->first_work < c ||
         p->t->scopes[nsr_common_shared(p->t, scope, at)].loops;
}

/* Notes that an engine counts a scope. */
static void use(struct publish *p, int e, enum counter kind, uint32_t scope) {
  if (scope == 0)
    return;
  p->engines[e].mirror[kind][scope] = 0;
  p->class[kind][scope] = 0;
}

static enum nsr_status use_for(struct publish *p, const struct nsr_need *need) {
  int e = p->t->works[need->c].engine;
  struct nsr_publication x = form_of(p, need);
  uint32_t cell = p->c.counts.cell_of[need->p], temps = 1;
  if (x.form == NSR_PUBLISHED_MASKED) {
    use(p, e, TRIP, x.shared);
    temps = 2;
  }
  if (!totals(p))
    use(p, e, ENTRIES, p->c.counts.cells[cell].scope);
  else
    for (uint32_t i = p->first_cell[group_of(p, cell)]; i != NSR_NONE;
         i = p->next_cell[i])
      if (counts(p, p->c.counts.cells[i].scope, need->c)) {
        use(p, e, ENTRIES, p->c.counts.cells[i].scope);
        temps = 2;
      }
  if (p->engines[e].temps < temps)
    p->engines[e].temps = temps;
  return NSR_OK;
}

static enum nsr_status find_uses(struct publish *p) {
  uint32_t n = p->t->nscopes;
  for (int k = 0; k < COUNTERS; k++) {
    NSR_NEW(p->ctx, NSR_SCRATCH, p->class[k], n);
    for (uint32_t s = 0; s < n; s++)
      p->class[k][s] = NSR_NONE;
    for (int e = 0; e < NSR_MAX_ENGINES; e++) {
      NSR_NEW(p->ctx, NSR_SCRATCH, p->engines[e].mirror[k], n);
      for (uint32_t s = 0; s < n; s++)
        p->engines[e].mirror[k][s] = NSR_NONE;
    }
  }
  for (uint32_t i = 0; i < p->needs->n; i++)
    NSR_TRY(use_for(p, &p->needs->v[i]));
  return NSR_OK;
}

/* ---- registers */

/* The scope at whose entries the trip of what is counted begins. */
static uint32_t trip_start(const struct publish *p, uint32_t scope) {
  while (p->t->scopes[scope].kind != NSR_SCOPE_LOOP)
    scope = p->t->scopes[scope].parent;
  return p->t->scopes[scope].parent;
}

static enum nsr_status add_class(struct publish *p, enum counter kind,
                                 uint32_t scope) {
  struct nsr_plan_class c = {.first_step = (uint32_t)p->steps.n,
                             .lasts = kind == TRIP};
  NSR_PUSH(p->ctx, NSR_SCRATCH, &p->steps,
           (struct nsr_plan_step){scope, 1, false});
  uint32_t start = kind == TRIP ? trip_start(p, scope) : 0;
  if (start != 0)
    NSR_PUSH(p->ctx, NSR_SCRATCH, &p->steps,
             (struct nsr_plan_step){start, 0, true});
  c.nsteps = (uint32_t)p->steps.n - c.first_step;
  int32_t *reset;
  NSR_NEW(p->ctx, NSR_SCRATCH, reset, p->c.resets.n);
  for (uint32_t i = 0; i < p->c.resets.n; i++)
    reset[i] = nsr_common_in(p->t, p->c.resets.v[i].scope, scope);
  c.reset = reset;
  p->class[kind][scope] = (uint32_t)p->classes.n;
  NSR_PUSH(p->ctx, NSR_SCRATCH, &p->classes, c);
  return NSR_OK;
}

static enum nsr_status add_mirrors(struct publish *p, int e,
                                   struct nsr_plan *out) {
  struct engine *x = &p->engines[e];
  const struct nsr_free *free = &p->c.free[e];
  uint32_t n = 0;
  for (uint32_t s = 1; s < p->t->nscopes; s++)
    for (int k = 0; k < COUNTERS; k++) {
      if (x->mirror[k][s] == NSR_NONE)
        continue;
      x->mirror[k][s] = (uint32_t)p->mirrors.n;
      NSR_PUSH(p->ctx, NSR_SCRATCH, &p->mirrors,
               (struct nsr_mirror){(uint8_t)e,
                                   n < free->n ? free->v[n] : NSR_NO_REG,
                                   p->class[k][s], 0, NSR_NONE});
      n++;
    }
  uint32_t want = n + (n ? x->temps : 0);
  if (want > free->n && want > out->lack.want)
    out->lack = (struct nsr_lack){true, e, want, free->n};
  if (want > free->n)
    return NSR_OK;
  for (uint32_t i = n; i < want; i++)
    x->temp[i - n] = free->v[i];
  out->registers[e] = want;
  return NSR_OK;
}

static enum nsr_status find_registers(struct publish *p, struct nsr_plan *out) {
  if (p->c.ngroups > p->c.nsems) {
    out->lack = (struct nsr_lack){true, -1, p->c.ngroups, p->c.nsems};
    return NSR_OK;
  }
  for (uint32_t s = 1; s < p->t->nscopes; s++)
    for (int k = 0; k < COUNTERS; k++)
      if (p->class[k][s] != NSR_NONE)
        NSR_TRY(add_class(p, (enum counter)k, s));
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    NSR_TRY(add_mirrors(p, e, out));
  return NSR_OK;
}

/* ---- thresholds */

/* One while it is computed. */
struct sum {
  const struct engine *e;
  struct nsr_val v; /* so far */
  uint32_t mirror;  /* the last one used */
};

static struct nsr_val reg(int16_t r) { return (struct nsr_val){true, r}; }
static struct nsr_val imm(int32_t v) { return (struct nsr_val){false, v}; }

static struct nsr_val counter(const struct publish *p, struct sum *s,
                              enum counter kind, uint32_t scope) {
  s->mirror = s->e->mirror[kind][scope];
  assert(s->mirror != NSR_NONE);
  return reg(p->mirrors.v[s->mirror].reg);
}

static enum nsr_status put(struct publish *p, struct sum *s, int temp,
                           enum nsr_ctl ctl, struct nsr_val a,
                           struct nsr_val b) {
  int16_t dst = s->e->temp[temp];
  if (p->ops.n > NSR_MAX_STREAM)
    return nsr_fail(
        p->ctx, NSR_E_REFUSED,
        (struct nsr_place){.file = p->t->program->k->path, .insn = -1},
        "the sums of this allocation take more than %d operations",
        NSR_MAX_STREAM);
  NSR_PUSH(p->ctx, NSR_SCRATCH, &p->ops,
           (struct nsr_plan_op){(uint8_t)ctl, dst, a, b});
  s->v = reg(dst);
  return NSR_OK;
}

/* value op n, unless that changes nothing. */
static enum nsr_status times(struct publish *p, struct sum *s, int temp,
                             uint32_t n) {
  return n == 1 ? NSR_OK : put(p, s, temp, NSR_CTL_MUL, s->v, imm((int32_t)n));
}

static enum nsr_status less(struct publish *p, struct sum *s, int64_t n) {
  if (n == 0)
    return NSR_OK;
  return put(p, s, 0, n < 0 ? NSR_CTL_ADD : NSR_CTL_SUB, s->v,
             imm((int32_t)llabs(n)));
}

static enum nsr_status mask(struct publish *p, struct sum *s,
                            const struct nsr_publication *x) {
  struct nsr_val value = s->v;
  NSR_TRY(put(p, s, 1, NSR_CTL_GT, counter(p, s, TRIP, x->shared),
              imm((int32_t)x->k)));
  return put(p, s, 0, NSR_CTL_MUL, s->v, value);
}

/* N * mask * (r - k) - (N - K), or without a mask. In the case that the
 * publication counts, p directly in S and masked, all operations are there,
 * also those that change nothing. */
static enum nsr_status count_loop(struct publish *p, struct sum *s,
                                  const struct nsr_publication *x,
                                  uint32_t cell, uint32_t work) {
  const struct nsr_counts *c = &p->c.counts;
  const struct nsr_cell *y = &c->cells[cell];
  bool masked = x->form == NSR_PUBLISHED_MASKED, literal = masked && x->direct;
  uint32_t k = nsr_count_before(c, cell, y->scope, work + 1);
  s->v = counter(p, s, ENTRIES, y->scope);
  if (x->direct && x->k)
    NSR_TRY(put(p, s, 0, NSR_CTL_SUB, s->v, imm((int32_t)x->k)));
  if (masked)
    NSR_TRY(mask(p, s, x));
  if (literal && !c->each) {
    NSR_TRY(put(p, s, 0, NSR_CTL_MUL, s->v, imm((int32_t)y->n)));
    return put(p, s, 0, NSR_CTL_SUB, s->v, imm((int32_t)(y->n - k)));
  }
  NSR_TRY(times(p, s, 0, y->n));
  return less(p, s, y->n - k);
}

/* The sum of N * r over the scopes with members, less `sub`, what is surely
 * behind the one waited for, and masked. */
static enum nsr_status count_all(struct publish *p, struct sum *s,
                                 const struct nsr_publication *x, uint32_t cell,
                                 const struct nsr_need *need, int64_t sub) {
  const struct nsr_counts *c = &p->c.counts;
  bool any = false;
  for (uint32_t i = p->first_cell[group_of(p, cell)]; i != NSR_NONE;
       i = p->next_cell[i]) {
    const struct nsr_cell *y = &c->cells[i];
    struct nsr_val before = s->v;
    if (!counts(p, y->scope, need->c))
      continue;
    if (y->scope == 0) {
      sub -= y->n;
      continue;
    }
    s->v = counter(p, s, ENTRIES, y->scope);
    NSR_TRY(times(p, s, any, y->n));
    if (any)
      NSR_TRY(put(p, s, 0, NSR_CTL_ADD, before, s->v));
    any = true;
  }
  if (!any) {
    s->v = imm((int32_t)-sub);
    return NSR_OK;
  }
  NSR_TRY(less(p, s, sub));
  return x->form == NSR_PUBLISHED_MASKED ? mask(p, s, x) : NSR_OK;
}

static enum nsr_status make_wait(struct publish *p,
                                 const struct nsr_need *need) {
  const struct nsr_counts *c = &p->c.counts;
  uint32_t cell = c->cell_of[need->p], first = (uint32_t)p->ops.n;
  struct nsr_publication x = form_of(p, need);
  struct sum s = {.e = &p->engines[p->t->works[need->c].engine]};
  int64_t sub = nsr_count_less(c, need);
  if (sub < 0)
    return NSR_OK;
  if (totals(p))
    NSR_TRY(count_all(p, &s, &x, cell, need, sub));
  else if (c->cells[cell].scope == 0)
    s.v = imm((int32_t)nsr_count_before(c, cell, 0, need->p + 1));
  else
    NSR_TRY(count_loop(p, &s, &x, cell, need->p));
  struct nsr_plan_wait w = {.c = need->c,
                            .p = need->p,
                            .lag = need->lag,
                            .at = NSR_NONE,
                            .sem = p->c.sems[group_of(p, cell)],
                            .is_reg = s.v.is_reg,
                            .first_op = first,
                            .nops = (uint32_t)p->ops.n - first};
  if (!w.is_reg)
    w.value = s.v.v;
  else if (w.nops == 0)
    w.mirror = s.mirror;
  if (w.is_reg || w.value > 0)
    NSR_PUSH(p->ctx, NSR_SCRATCH, &p->waits, w);
  return NSR_OK;
}

/* ---- behind barriers that stay */

/* What the bodies around have added to a group, so that r = 1 counts. */
static enum nsr_status add_bumps(struct publish *p, uint32_t i) {
  const struct nsr_counts *c = &p->c.counts;
  const struct nsr_reset *r = &p->c.resets.v[i];
  for (uint32_t g = 0; g < p->c.ngroups; g++) {
    uint32_t cell = p->first_cell[g];
    int64_t sum = -nsr_count_ahead(c, cell, r->scope, r->at);
    for (uint32_t a = r->scope; a != NSR_NONE; a = p->t->scopes[a].parent)
      sum += nsr_count_step(c, cell, a);
    if (sum > 0)
      NSR_PUSH(p->ctx, NSR_SCRATCH, &p->markers,
               (struct nsr_plan_marker){c->cells[cell].channel, p->c.sems[g],
                                        r->scope, i, (int32_t)sum});
  }
  return NSR_OK;
}

/* ---- all of it */

static enum nsr_status fill_updates(struct publish *p, struct nsr_plan *out) {
  const struct nsr_counts *c = &p->c.counts;
  int32_t *update, *weight;
  NSR_NEW(p->ctx, NSR_SCRATCH, update, p->t->nworks);
  NSR_NEW(p->ctx, NSR_SCRATCH, weight, p->t->nworks);
  for (uint32_t w = 0; w < p->t->nworks; w++) {
    bool counted = c->cell_of[w] != NSR_NONE;
    update[w] = counted ? p->c.sems[group_of(p, c->cell_of[w])] : -1;
    weight[w] = counted;
  }
  out->update = update;
  out->weight = weight;
  return NSR_OK;
}

/* Most that a group gains while each scope is entered once. */
static int64_t largest(const struct publish *p) {
  int64_t most = 0;
  for (uint32_t g = 0; g < p->c.ngroups; g++) {
    int64_t sum = 0;
    bool loops = false;
    for (uint32_t i = p->first_cell[g]; i != NSR_NONE; i = p->next_cell[i]) {
      sum += p->c.counts.cells[i].n;
      loops |= p->c.counts.cells[i].scope != 0;
    }
    most = loops && sum > most ? sum : most;
  }
  return most;
}

static void fill(const struct publish *p, struct nsr_plan *out) {
  static const char *const names[] = {
      [NSR_SCHEME_PER_INSTRUCTION] = "published per-instruction",
      [NSR_SCHEME_PER_LOOP] = "published per-loop",
      [NSR_SCHEME_PER_ENGINE] = "published per-engine"};
  out->scheme = names[p->alloc];
  out->largest = largest(p);
  out->waits = p->waits.v;
  out->nwaits = (uint32_t)p->waits.n;
  out->mirrors = p->mirrors.v;
  out->nmirrors = (uint32_t)p->mirrors.n;
  out->classes = p->classes.v;
  out->nclasses = (uint32_t)p->classes.n;
  out->steps = p->steps.v;
  out->nsteps = (uint32_t)p->steps.n;
  out->ops = p->ops.v;
  out->markers = p->markers.v;
  out->nmarkers = (uint32_t)p->markers.n;
  out->nsems = p->c.ngroups;
  out->resets = p->c.resets;
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    out->temp[e] = NSR_NO_REG;
}

enum nsr_status nsr_published_plan(struct nsr_ctx *ctx,
                                   const struct nsr_tree *tree,
                                   const struct nsr_needs *needs,
                                   const struct nsr_budget *budget,
                                   struct nsr_plan *out) {
  struct publish p = {.ctx = ctx, .t = tree, .needs = needs};
  struct nsr_budget b = *budget;
  if (b.published == NSR_SCHEME_AUTO)
    b.published = NSR_SCHEME_PER_LOOP;
  p.alloc = b.published;
  *out = (struct nsr_plan){.tree = tree};
  NSR_TRY(nsr_publication_kept(ctx, tree, &p.kept));
  NSR_TRY(nsr_scheme_publish(ctx, tree, needs, &b, &p.c));
  NSR_TRY(link_cells(&p));
  NSR_TRY(find_uses(&p));
  NSR_TRY(find_registers(&p, out));
  if (out->lack.any)
    return NSR_OK;
  for (uint32_t i = 0; i < needs->n; i++)
    NSR_TRY(make_wait(&p, &needs->v[i]));
  for (uint32_t i = 0; i < p.c.resets.n; i++)
    NSR_TRY(add_bumps(&p, i));
  NSR_TRY(fill_updates(&p, out));
  fill(&p, out);
  return NSR_OK;
}
