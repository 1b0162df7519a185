/* scheme.c - schemes tried until one fits; the waits of the one that does. */
#include "sync/scheme_waits.h"

#include <stdlib.h>
#include <string.h>

#include "base/work.h"

/* Of a class of mirrors. */
struct cost {
  uint64_t sum;
  uint32_t scope; /* the last one counted */
};

struct choice {
  struct nsr_ctx *ctx;
  const struct nsr_tree *t;
  const struct nsr_needs *needs;
  enum nsr_scheme scheme;
  bool publish;   /* to the letter */
  bool can_add;   /* updates by more than 1 encode */
  uint8_t *loops; /* by scope: loops around it */
  uint32_t max;   /* registers of an engine */
  bool tight;     /* thresholds may be computed in the mirror itself */
  struct nsr_lack lack;
  struct cost *cost; /* by key of a class */
  struct nsr_chosen *c;
};

/* ---- what there is */

/* Those of islands come last: the barriers in front of an island and behind it
 * let nothing that counts be under way, and set all to 0. The publication's are
 * none of these: what a barrier set to 0 gets back behind it, in an island
 * too. */
static enum nsr_status find_semaphores(struct choice *p, uint32_t max) {
  const struct nsr_kernel *k = p->t->program->k;
  NSR_NEW(p->ctx, NSR_SCRATCH, p->c->sems, k->owned_last - k->owned_first + 1u);
  for (int taken = 0; taken < (p->publish ? 1 : 2); taken++)
    for (uint32_t s = k->owned_first; s <= k->owned_last && p->c->nsems < max;
         s++)
      if ((p->t->taken && p->t->taken[s]) == taken &&
          !nsr_facts_keep_semaphore(p->t->program->facts, s))
        p->c->sems[p->c->nsems++] = (uint16_t)s;
  return NSR_OK;
}

static enum nsr_status find_registers(struct choice *p, uint32_t max) {
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    if (p->t->program->stream[e])
      NSR_TRY(
          nsr_free_registers(p->ctx, p->t->program, e, max, &p->c->free[e]));
  return NSR_OK;
}

/* Counts that an engine keeps as of starts of iterations. */
struct kept {
  const struct nsr_need *need; /* one of them */
  uint32_t n;
};

static bool kept_together(const struct nsr_tree *t, const struct nsr_need *a,
                          const struct nsr_need *b) {
  const struct nsr_work *w = t->works;
  return w[a->c].engine == w[b->c].engine &&
         w[a->p].channel == w[b->p].channel && w[a->p].scope == w[b->p].scope &&
         a->of == b->of &&
         (a->back == NSR_AT_ENTRY) == (b->back == NSR_AT_ENTRY);
}

/* Registers for snapshots are taken from those for mirrors: of each count as
 * many as starts are told apart. */
static enum nsr_status keep_registers(struct choice *p) {
  NSR_VEC(struct kept) kept = {0};
  struct nsr_chosen *c = p->c;
  for (uint32_t i = 0; i < p->needs->n; i++) {
    const struct nsr_need *x = &p->needs->v[i];
    size_t k = 0;
    if (x->back == 0)
      continue;
    while (k < kept.n && !kept_together(p->t, kept.v[k].need, x))
      k++;
    if (k == kept.n)
      NSR_PUSH(p->ctx, NSR_SCRATCH, &kept, (struct kept){x, 0});
    uint32_t n = x->back == NSR_AT_ENTRY ? 1 : x->back;
    kept.v[k].n = kept.v[k].n > n ? kept.v[k].n : n;
  }
  for (size_t k = 0; k < kept.n; k++) {
    int e = p->t->works[kept.v[k].need->c].engine;
    uint32_t n = kept.v[k].n;
    p->lack.any |= n >= c->free[e].n;
    if (p->lack.any)
      return NSR_OK;
    c->free[e].n -= n;
    c->kept[e].n += n;
    c->kept[e].v = c->free[e].v + c->free[e].n;
  }
  return NSR_OK;
}

/* Whether the largest update that weighing could need encodes. */
static bool can_add(const struct choice *p) {
  const struct nsr_insn_desc *d = nsr_isa_nop(p->t->program->k->isa, false);
  struct nsr_insn x;
  uint8_t word[NSR_MAX_WORD];
  char why[160];
  int32_t most = 2;
  if (!d)
    return false;
  for (uint32_t s = 0; s < p->t->nscopes; s++)
    if (p->c->counts.most[s] > (uint32_t)most)
      most = (int32_t)p->c->counts.most[s];
  nsr_insn_init(d, &x);
  x.update = (struct nsr_update){NSR_UPD_ADD, 0, most};
  return nsr_encode(p->t->program->k->isa, &x, word, why, sizeof why);
}

struct hot {
  uint32_t loops, scope;
};

static int by_hotness(const void *a, const void *b) {
  const struct hot *x = a, *y = b;
  if (x->loops != y->loops)
    return x->loops > y->loops ? -1 : 1;
  return x->scope < y->scope ? -1 : x->scope > y->scope;
}

/* The program first, which needs no register, then innermost loops. */
static enum nsr_status order_scopes(struct choice *p) {
  const struct nsr_tree *t = p->t;
  struct hot *hot;
  NSR_NEW(p->ctx, NSR_SCRATCH, p->loops, t->nscopes);
  NSR_NEW(p->ctx, NSR_SCRATCH, p->c->order, t->nscopes);
  NSR_NEW(p->ctx, NSR_SCRATCH, hot, t->nscopes);
  for (uint32_t s = 1; s < t->nscopes; s++) {
    uint8_t around = p->loops[t->scopes[s].parent];
    bool loop = t->scopes[s].kind == NSR_SCOPE_LOOP && around < UINT8_MAX;
    p->loops[s] = around + loop;
  }
  for (uint32_t s = 0; s < t->nscopes; s++)
    if (p->c->counts.most[s])
      hot[p->c->norder++] = (struct hot){s ? p->loops[s] : UINT32_MAX, s};
  if (p->c->norder)
    qsort(hot, p->c->norder, sizeof *hot, by_hotness);
  for (uint32_t i = 0; i < p->c->norder; i++)
    p->c->order[i] = hot[i].scope;
  return NSR_OK;
}

/* ---- one scheme */

/* The first n scopes are their own, weighed or not; the others pooled. */
static void set_scheme(struct choice *p, uint32_t n, bool weigh_own,
                       bool weigh_pools) {
  for (uint32_t i = 0; i < p->c->norder; i++)
    p->c->counts.own[p->c->order[i]] = i < n;
  p->c->counts.weigh_own = weigh_own;
  p->c->counts.weigh_pools = weigh_pools;
}

static void number_groups(struct choice *p) {
  uint32_t keys = nsr_count_keys(&p->c->counts);
  for (uint32_t i = 0; i < keys; i++)
    p->c->group[i] = NSR_NONE;
  p->c->ngroups = 0;
  for (uint32_t i = 0; i < p->c->counts.ncells; i++) {
    uint32_t key = nsr_count_group(&p->c->counts, i);
    if (p->c->group[key] == NSR_NONE)
      p->c->group[key] = p->c->ngroups++;
  }
  nsr_work_count(p->ctx, NSR_WORK_SYNC, keys + p->c->counts.ncells);
}

static int engine_of(const struct choice *p, const struct nsr_plan_wait *w) {
  return p->t->works[w->c].engine;
}

/* How often a scope is entered, roughly: a loop runs eight times. */
static uint64_t heat_of(const struct choice *p, uint32_t scope) {
  unsigned loops = p->loops[scope];
  return UINT64_C(1) << (loops < 10 ? 3 * loops : 30);
}

/* How often a mirror of each class is advanced or set anew. */
static void find_costs(struct choice *p) {
  const struct nsr_counts *c = &p->c->counts;
  uint32_t keys = nsr_count_keys(c);
  uint64_t resets = 0;
  for (uint32_t i = 0; i < p->c->resets.n; i++)
    resets += heat_of(p, p->c->resets.v[i].scope);
  for (uint32_t i = 0; i < keys; i++)
    p->cost[i] = (struct cost){resets, 0};
  for (uint32_t i = 0; i < c->ncells; i++) {
    uint32_t scope = c->cells[i].scope;
    struct cost *cost = &p->cost[nsr_count_class(c, i)];
    if (cost->scope != scope) /* the program's add nothing */
      cost->sum += heat_of(p, scope);
    cost->scope = scope;
  }
  nsr_work_count(p->ctx, NSR_WORK_SYNC, keys + c->ncells);
}

static enum nsr_status find_uses(struct choice *p) {
  uint32_t count[NSR_MAX_ENGINES] = {0};
  for (size_t i = 0; i < p->c->waits.n; i++)
    count[engine_of(p, &p->c->waits.v[i])] += p->c->waits.v[i].is_reg;
  find_costs(p);
  for (int e = 0; e < NSR_MAX_ENGINES; e++) {
    nsr_drop(p->ctx, NSR_SCRATCH, p->c->uses[e].v); /* another scheme's */
    p->c->uses[e] = (struct nsr_uses){0};
    NSR_NEW(p->ctx, NSR_SCRATCH, p->c->uses[e].v, count[e]);
  }
  for (size_t i = 0; i < p->c->waits.n; i++) {
    const struct nsr_plan_wait *w = &p->c->waits.v[i];
    struct nsr_uses *u = &p->c->uses[engine_of(p, w)];
    uint32_t scope = w->back == NSR_AT_ENTRY ? p->t->scopes[w->of].parent
                     : w->back               ? p->t->scopes[w->of].body
                     : w->at == NSR_NONE     ? p->t->works[w->c].scope
                                             : p->t->scopes[w->at].parent;
    if (w->is_reg)
      u->v[u->n++] = (struct nsr_use){.class = w->mirror,
                                      .less = w->less,
                                      .heat = heat_of(p, scope),
                                      .cost = p->cost[w->mirror].sum,
                                      .from = w->c,
                                      .to = w->c};
  }
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    nsr_uses_join(&p->c->uses[e]);
  return NSR_OK;
}

/* The items from where a use's count begins to its last wait: from the first
 * one on, unless it is that of one outermost loop. */
static void find_range(const struct choice *p, int e, struct nsr_use *use,
                       uint32_t cell) {
  const struct nsr_ranges *r = &p->c->ranges[e];
  const struct nsr_scopes *own = &p->t->local[e];
  uint32_t scope = p->c->counts.cells[cell].scope;
  uint32_t entry = own->scopes[p->t->scopes[scope].local[e]].entry;
  uint32_t from = r->item_of[entry];
  uint32_t first = r->item_of[p->t->works[use->from].insn];
  uint32_t last = r->item_of[p->t->works[use->to].insn];
  const struct nsr_item *x = &r->items[from];
  bool alone = p->c->counts.own[scope] && x->is_scope && first >= from &&
               own->scopes[x->first].kind == NSR_SCOPE_LOOP;
  use->from = alone ? from : 0;
  use->to = p->c->counts.own[scope] ? last : r->nitems - 1;
}

/* One mirror for each class, that of its hottest use, and a register to compute
 * the others' thresholds in. */
static enum nsr_status share_classes(struct choice *p, int e) {
  struct nsr_uses *uses = &p->c->uses[e], some = {0};
  const struct nsr_ranges *r = &p->c->ranges[e];
  uint32_t first = 0;
  NSR_NEW(p->ctx, NSR_SCRATCH, some.v, uses->nclasses + 1);
  some.v[some.n++] = (struct nsr_use){.to = r->nitems - 1};
  for (uint32_t i = 1; i <= uses->n; i++) {
    if (i < uses->n && uses->v[i].class == uses->v[first].class)
      continue;
    struct nsr_use *x = &some.v[some.n++];
    *x = uses->v[first];
    for (uint32_t j = first; j < i; j++) {
      const struct nsr_use *y = &uses->v[j];
      if (y->heat > x->heat) {
        x->heat = y->heat;
        x->leader = j;
      }
      x->from = y->from < x->from ? y->from : x->from;
      x->to = y->to > x->to ? y->to : x->to;
    }
    for (; first < i; first++)
      uses->v[first].leader = x->leader;
  }
  NSR_TRY(nsr_ranges_assign(p->ctx, r, &p->c->free[e],
                            p->max < r->nregs ? p->max : r->nregs, &some,
                            &p->c->shared[e]));
  p->c->shared_temp[e] = some.v[0].reg;
  for (uint32_t i = 1; i < some.n; i++) {
    struct nsr_use *x = &uses->v[some.v[i].leader];
    x->reg = some.v[i].reg;
    x->from = some.v[i].from;
  }
  return NSR_OK;
}

/* Lets registers serve several uses, and dead ones of the kernel some, where
 * there are too few otherwise. Behind a barrier that stays all mirrors are set
 * anew: not then. */
static enum nsr_status share_registers(struct choice *p, int e) {
  struct nsr_uses *uses = &p->c->uses[e];
  struct nsr_ranges *r = &p->c->ranges[e];
  uint32_t have = p->c->free[e].n, *cell; /* by class */
  p->c->shared[e] = 0;
  if (p->c->resets.n || nsr_uses_want(uses, have, false) <= have)
    return NSR_OK;
  if (!r->items)
    NSR_TRY(nsr_ranges_find(p->ctx, p->t, e, r));
  NSR_NEW(p->ctx, NSR_SCRATCH, cell, nsr_count_keys(&p->c->counts));
  for (uint32_t i = 0; i < p->c->counts.ncells; i++)
    cell[nsr_count_class(&p->c->counts, i)] = i;
  for (uint32_t i = 0; i < uses->n; i++) {
    uses->v[i].leader = i;
    find_range(p, e, &uses->v[i], cell[uses->v[i].class]);
  }
  p->c->shared_temp[e] = NSR_NO_REG;
  NSR_TRY(nsr_ranges_assign(p->ctx, r, &p->c->free[e],
                            p->max < r->nregs ? p->max : r->nregs, uses,
                            &p->c->shared[e]));
  return p->c->shared[e] ? NSR_OK : share_classes(p, e);
}

/* Registers of the engine that lacks most. */
static struct nsr_lack find_lack(const struct nsr_chosen *c, bool tight) {
  struct nsr_lack lack = {false, -1, 0, 0};
  for (int e = 0; e < NSR_MAX_ENGINES; e++) {
    uint32_t have = c->free[e].n,
             want = nsr_uses_want(&c->uses[e], have, tight);
    if (want > have && want > lack.want && !c->shared[e])
      lack = (struct nsr_lack){true, e, want, have};
  }
  return lack;
}

/* Makes the waits of the scheme that is set; p->lack says what it lacks. */
static enum nsr_status attempt(struct choice *p) {
  number_groups(p);
  p->lack = (struct nsr_lack){true, -1, p->c->ngroups, p->c->nsems};
  if (p->c->ngroups > p->c->nsems)
    return NSR_OK;
  NSR_TRY(nsr_scheme_waits(p->ctx, p->t, p->needs, p->c));
  NSR_TRY(find_uses(p));
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    if (p->c->uses[e].n)
      NSR_TRY(share_registers(p, e));
    else
      p->c->shared[e] = 0;
  p->lack = find_lack(p->c, p->tight);
  return NSR_OK;
}

/* ---- choosing */

/* What mixtures take, as scopes go from their own groups into the pools. */
struct mixture {
  uint8_t *waiters; /* by cell: engines that wait for it .. */
  uint8_t *moving;  /* .. with thresholds that are not constant, if it is the
                       program's and its own */
  uint8_t *grouped; /* by key: it is a group's */
  uint8_t *engines; /* by key: with a mirror of that class */
  uint32_t groups;
  uint32_t classes[NSR_MAX_ENGINES]; /* and mirrors */
};

static enum nsr_status find_waiters(struct choice *p, struct mixture *m) {
  const struct nsr_counts *c = &p->c->counts;
  NSR_NEW(p->ctx, NSR_SCRATCH, m->waiters, c->ncells);
  NSR_NEW(p->ctx, NSR_SCRATCH, m->moving, c->ncells);
  for (uint32_t i = 0; i < p->needs->n; i++) {
    const struct nsr_need *need = &p->needs->v[i];
    uint32_t cell = c->cell_of[need->p];
    uint8_t engine = (uint8_t)(1u << p->t->works[need->c].engine);
    m->waiters[cell] |= engine;
    if (c->cells[cell].scope != 0 || p->c->resets.base[need->c] == NSR_NONE)
      m->moving[cell] |= engine;
  }
  nsr_work_count(p->ctx, NSR_WORK_SYNC, p->needs->n);
  return NSR_OK;
}

static void count_engines(struct mixture *m, uint32_t engines, uint32_t by) {
  for (int e = 0; engines >> e; e++)
    m->classes[e] += (engines >> e & 1) * by;
}

/* A scope's groups, as is set, are among what the mixture takes. */
static void mix_in(struct choice *p, struct mixture *m, uint32_t scope) {
  const struct nsr_counts *c = &p->c->counts;
  for (uint32_t i = c->first_cell[scope]; i < c->first_cell[scope + 1]; i++) {
    uint8_t *grouped = &m->grouped[nsr_count_group(c, i)];
    uint8_t *seen = &m->engines[nsr_count_class(c, i)];
    uint8_t all = nsr_count_once(c, i) ? m->moving[i] : m->waiters[i];
    m->groups += !*grouped;
    *grouped = 1;
    count_engines(m, all & ~*seen, 1);
    *seen |= all;
  }
}

/* .. and no longer, of a scope that is its own. */
static void take_out(struct choice *p, struct mixture *m, uint32_t scope) {
  const struct nsr_counts *c = &p->c->counts;
  for (uint32_t i = c->first_cell[scope]; i < c->first_cell[scope + 1]; i++) {
    uint8_t *seen = &m->engines[nsr_count_class(c, i)];
    m->groups--;
    count_engines(m, *seen, UINT32_MAX);
    *seen = 0;
  }
}

/* Whether a mixture fits for sure: one mirror per class and a register to
 * compute in. Cheaper than an attempt. */
static bool surely_fits(const struct choice *p, const struct mixture *m) {
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    if (m->classes[e] && m->classes[e] + 1 > p->c->free[e].n)
      return false;
  return m->groups <= p->c->nsems;
}

/* The last number of scopes of their own with which the mixture surely fits;
 * NSR_NONE: none. */
static enum nsr_status most_own(struct choice *p, bool weigh_pools,
                                uint32_t *n) {
  struct mixture m = {0};
  uint32_t keys = nsr_count_keys(&p->c->counts);
  NSR_NEW(p->ctx, NSR_SCRATCH, m.grouped, keys);
  NSR_NEW(p->ctx, NSR_SCRATCH, m.engines, keys);
  NSR_TRY(find_waiters(p, &m));
  set_scheme(p, p->c->norder, p->can_add, weigh_pools);
  for (uint32_t i = 0; i < p->c->norder; i++)
    mix_in(p, &m, p->c->order[i]);
  for (*n = p->c->norder; !surely_fits(p, &m); --*n) {
    if (*n == 0) {
      *n = NSR_NONE;
      break;
    }
    uint32_t scope = p->c->order[*n - 1];
    take_out(p, &m, scope);
    p->c->counts.own[scope] = false;
    mix_in(p, &m, scope);
  }
  nsr_work_count(p->ctx, NSR_WORK_SYNC, keys + 2 * p->c->counts.ncells);
  return NSR_OK;
}

/* Sets and attempts the mixture with most scopes of their own that fits. */
static enum nsr_status mix(struct choice *p, bool weigh_pools) {
  uint32_t n;
  NSR_TRY(most_own(p, weigh_pools, &n));
  set_scheme(p, n == NSR_NONE ? 0 : n, p->can_add, weigh_pools);
  return attempt(p);
}

/* What is set, and if registers are lacking without one to compute in. */
static enum nsr_status attempt_tight(struct choice *p) {
  NSR_TRY(attempt(p));
  if (!p->lack.any || p->lack.engine < 0)
    return NSR_OK;
  p->tight = true;
  return attempt(p);
}

static enum nsr_status all_own(struct choice *p) {
  set_scheme(p, p->c->norder, false, false);
  return attempt_tight(p);
}

static enum nsr_status per_loop(struct choice *p) {
  set_scheme(p, p->c->norder, false, false);
  NSR_TRY(attempt(p));
  if (!p->lack.any || !p->can_add)
    return NSR_OK;
  set_scheme(p, p->c->norder, true, false);
  return attempt(p);
}

/* Totals, and if they do not fit with as few groups and registers as can be. */
static enum nsr_status all_pooled(struct choice *p, bool weigh) {
  set_scheme(p, 0, false, weigh);
  p->c->counts.merged = false;
  NSR_TRY(attempt_tight(p));
  for (int wide = 0; wide <= weigh && p->lack.any; wide++) {
    NSR_TRY(nsr_counts_merge(p->ctx, &p->c->counts, wide));
    NSR_TRY(attempt_tight(p));
  }
  return NSR_OK;
}

/* The first instruction that waits for others; false: none does. */
static bool find_outside(const struct nsr_program *p, int *engine,
                         uint32_t *insn) {
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    for (uint32_t i = 0; p->stream[e] && i < p->stream[e]->n; i++)
      if (p->nodes[e][i].foreign_wait) {
        *engine = e;
        *insn = i;
        return true;
      }
  return false;
}

bool nsr_scheme_waits_outside(const struct nsr_program *p) {
  int engine;
  uint32_t insn;
  return find_outside(p, &engine, &insn);
}

/* Without totals. One may wait for more than is owed: for work that waits for
 * others, who may wait for what comes behind. Counts of a loop never do. */
static enum nsr_status choose_outside(struct choice *p) {
  if (p->scheme == NSR_SCHEME_AUTO || p->scheme == NSR_SCHEME_PER_LOOP) {
    NSR_TRY(per_loop(p));
    p->tight = p->lack.any;
    return p->tight ? per_loop(p) : NSR_OK;
  }
  if (p->scheme == NSR_SCHEME_PER_INSTRUCTION)
    return all_own(p);
  const struct nsr_program *program = p->t->program;
  int engine = 0;
  uint32_t insn = 0;
  find_outside(program, &engine, &insn);
  return nsr_fail(p->ctx, NSR_E_REFUSED,
                  nsr_insn_place(program->k, program->stream[engine], insn),
                  "the kernel waits for others here: what they wait for could "
                  "be behind a wait for a total; use --alloc=per-loop");
}

static enum nsr_status choose(struct choice *p) {
  if (nsr_scheme_waits_outside(p->t->program))
    return choose_outside(p);
  switch (p->scheme) {
  case NSR_SCHEME_PER_LOOP:
    return choose_outside(p);
  case NSR_SCHEME_PER_INSTRUCTION:
    return all_own(p);
  case NSR_SCHEME_PER_ENGINE:
    return all_pooled(p, false);
  case NSR_SCHEME_EQUAL_WEIGHT:
    return all_pooled(p, p->can_add);
  case NSR_SCHEME_AUTO:
  case NSR_SCHEME_PUBLISHED: /* is not chosen here */
    break;
  }
  NSR_TRY(per_loop(p));
  if (p->lack.any)
    NSR_TRY(mix(p, false));
  if (p->lack.any && p->can_add)
    NSR_TRY(mix(p, true));
  if (p->lack.any)
    NSR_TRY(all_pooled(p, false));
  if (p->lack.any && p->can_add)
    NSR_TRY(all_pooled(p, true));
  return NSR_OK;
}

const char *nsr_scheme_name(enum nsr_scheme s) {
  static const char *const names[] = {
      "auto",         "per-loop",        "per-engine",
      "equal-weight", "per-instruction", "published"};
  return names[s];
}

int nsr_scheme_parse(const char *name) {
  for (int s = 0; s <= NSR_SCHEME_PUBLISHED; s++)
    if (strcmp(name, nsr_scheme_name((enum nsr_scheme)s)) == 0)
      return s;
  return strcmp(name, "running-total") == 0 ? NSR_SCHEME_PER_ENGINE : -1;
}

const char *nsr_scheme_used(const struct nsr_chosen *c) {
  uint32_t own = 0, pooled = 0;
  for (uint32_t i = 0; i < c->norder; i++) {
    bool alone = c->counts.own[c->order[i]];
    own += alone && c->order[i] != 0;
    pooled += !alone;
  }
  if (own && pooled)
    return "mixed";
  if (!pooled)
    return nsr_scheme_name(c->counts.each ? NSR_SCHEME_PER_INSTRUCTION
                                          : NSR_SCHEME_PER_LOOP);
  return nsr_scheme_name(c->counts.weigh_pools ? NSR_SCHEME_EQUAL_WEIGHT
                                               : NSR_SCHEME_PER_ENGINE);
}

/* All but a scheme. */
static enum nsr_status prepare(struct choice *p, bool each, const uint32_t *in,
                               const struct nsr_budget *budget) {
  struct nsr_chosen *c = p->c;
  *c = (struct nsr_chosen){0};
  NSR_TRY(nsr_resets_find(p->ctx, p->t, &c->resets));
  NSR_TRY(nsr_counts_make(p->ctx, p->t, p->needs, each, in, &c->counts));
  c->counts.apart = c->resets.n > 0;
  p->can_add = can_add(p);
  NSR_NEW(p->ctx, NSR_SCRATCH, c->group, nsr_count_keys(&c->counts));
  NSR_NEW(p->ctx, NSR_SCRATCH, p->cost, nsr_count_keys(&c->counts));
  NSR_TRY(find_semaphores(p, budget->semaphores));
  p->max = budget->registers;
  NSR_TRY(find_registers(p, budget->registers));
  NSR_TRY(keep_registers(p));
  return order_scopes(p);
}

enum nsr_status nsr_scheme_choose(struct nsr_ctx *ctx,
                                  const struct nsr_tree *tree,
                                  const struct nsr_needs *needs,
                                  const struct nsr_budget *budget,
                                  struct nsr_chosen *out) {
  struct choice p = {.ctx = ctx,
                     .t = tree,
                     .needs = needs,
                     .scheme = budget->scheme,
                     .c = out};
  NSR_TRY(
      prepare(&p, budget->scheme == NSR_SCHEME_PER_INSTRUCTION, NULL, budget));
  if (!p.lack.any)
    NSR_TRY(choose(&p));
  out->lack = p.lack;
  return NSR_OK;
}

enum nsr_status nsr_scheme_pad(struct nsr_ctx *ctx, const struct nsr_tree *tree,
                               const struct nsr_needs *needs,
                               const struct nsr_budget *budget,
                               const uint32_t *in, struct nsr_chosen *out,
                               bool *any) {
  enum nsr_scheme scheme = budget->scheme;
  struct choice p = {
      .ctx = ctx, .t = tree, .needs = needs, .scheme = scheme, .c = out};
  bool equal = scheme == NSR_SCHEME_AUTO || scheme == NSR_SCHEME_EQUAL_WEIGHT;
  *any = equal || scheme == NSR_SCHEME_PER_ENGINE;
  if (!*any)
    return NSR_OK;
  NSR_TRY(prepare(&p, false, in, budget));
  *any = p.can_add;
  if (!*any)
    return NSR_OK;
  if (!p.lack.any && scheme != NSR_SCHEME_EQUAL_WEIGHT)
    NSR_TRY(all_pooled(&p, false));
  if (equal && (p.lack.any || scheme == NSR_SCHEME_EQUAL_WEIGHT))
    NSR_TRY(all_pooled(&p, true));
  out->lack = p.lack;
  return NSR_OK;
}

enum nsr_status nsr_scheme_publish(struct nsr_ctx *ctx,
                                   const struct nsr_tree *tree,
                                   const struct nsr_needs *needs,
                                   const struct nsr_budget *budget,
                                   struct nsr_chosen *out) {
  bool totals = budget->published == NSR_SCHEME_PER_ENGINE;
  struct choice p = {.ctx = ctx,
                     .t = tree,
                     .needs = needs,
                     .scheme = budget->published,
                     .publish = true,
                     .c = out};
  if (totals && nsr_scheme_waits_outside(tree->program))
    return choose_outside(&p);
  NSR_TRY(prepare(&p, budget->published == NSR_SCHEME_PER_INSTRUCTION, NULL,
                  budget));
  set_scheme(&p, totals ? 0 : out->norder, false, false);
  number_groups(&p);
  return NSR_OK;
}
