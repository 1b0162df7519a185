/* groups.c - regions of a score, and the counts of each.
 *
 * A barrier sets semaphores to 0, so that what is counted behind it is another
 * count than what was before, though it may be of the same semaphore. Regions
 * are found in one walk: ways that meet make two regions one.
 */
#include "prove/groups.h"

#include <stdlib.h>

#include "prove/splits.h"
#include "prove/walk_score.h"

struct finder {
  struct nsr_ctx *ctx;
  struct nsr_score *s;
  struct nsr_proof *proof;
  uint32_t *same;          /* by region: itself, or one that it is a part of */
  uint32_t now;            /* region */
  uint32_t *head, *exit;   /* by step of a loop: regions, NSR_NONE: none yet */
  NSR_VEC(uint32_t) saved; /* in front of arms */
  uint32_t *bucket;        /* groups by semaphore and region, NSR_NONE: none */
  uint32_t *next;          /* by group: another one of its bucket */
  NSR_VEC(struct nsr_count_group) groups;
  bool *
      taken; /* by semaphore: islands use it, it is not known in which region */
  NSR_VEC(uint64_t)
  islands; /* semaphores with the regions in which islands use
              them, in order */
};

/* ---- regions */

static uint32_t root(struct finder *f, uint32_t r) {
  while (f->same[r] != r)
    r = f->same[r] = f->same[f->same[r]];
  return r;
}

static void unite(struct finder *f, uint32_t a, uint32_t b) {
  a = root(f, a);
  b = root(f, b);
  f->same[a > b ? a : b] = a > b ? b : a;
}

static void meet(struct finder *f, uint32_t *at) {
  if (*at == NSR_NONE)
    *at = f->now;
  else
    unite(f, *at, f->now);
}

static enum nsr_status enter_loop(void *user, uint32_t loop, bool *changed) {
  struct finder *f = user;
  (void)changed;
  meet(f, &f->head[loop]);
  return NSR_OK;
}

static enum nsr_status end_way(void *user, uint32_t loop, bool back) {
  struct finder *f = user;
  meet(f, back ? &f->head[loop] : &f->exit[loop]);
  return NSR_OK;
}

static enum nsr_status leave_loop(void *user, uint32_t loop, bool *changed) {
  struct finder *f = user;
  (void)changed;
  f->now = f->exit[loop] != NSR_NONE ? f->exit[loop] : f->head[loop];
  return NSR_OK;
}

static enum nsr_status enter_arm(void *user, uint32_t arm) {
  struct finder *f = user;
  (void)arm;
  NSR_PUSH(f->ctx, NSR_SCRATCH, &f->saved, f->now);
  return NSR_OK;
}

static enum nsr_status leave_arm(void *user, uint32_t arm, bool join) {
  struct finder *f = user;
  (void)arm;
  uint32_t before = f->saved.v[--f->saved.n];
  if (join)
    unite(f, before, f->now);
  f->now = before;
  return NSR_OK;
}

static enum nsr_status other_way(void *user, uint32_t arm) {
  struct finder *f = user;
  uint32_t *before = &f->saved.v[f->saved.n - 1], now = f->now;
  (void)arm;
  f->now = *before;
  *before = now;
  return NSR_OK;
}

static enum nsr_status take_step(void *user, uint32_t i) {
  struct finder *f = user;
  f->s->region[i] = f->now;
  if (f->s->steps[i].kind == NSR_STEP_BARRIER)
    f->now = i + 1;
  return NSR_OK;
}

static enum nsr_status nothing(void *user, uint32_t first, uint32_t end) {
  (void)user;
  (void)first;
  (void)end;
  return NSR_OK;
}

static enum nsr_status again(void *user) {
  (void)user;
  return NSR_OK;
}

static enum nsr_status find_regions(struct finder *f) {
  uint32_t n = f->s->nsteps;
  struct nsr_walker w = {.user = f,
                         .item = nothing,
                         .again = again,
                         .leave = nothing,
                         .step = take_step,
                         .enter_loop = enter_loop,
                         .end_way = end_way,
                         .leave_loop = leave_loop,
                         .enter_arm = enter_arm,
                         .leave_arm = leave_arm,
                         .other_way = other_way};
  NSR_NEW(f->ctx, NSR_SCRATCH, f->s->region, n);
  NSR_NEW(f->ctx, NSR_SCRATCH, f->same, (size_t)n + 1);
  NSR_NEW(f->ctx, NSR_SCRATCH, f->head, n);
  NSR_NEW(f->ctx, NSR_SCRATCH, f->exit, n);
  for (uint32_t i = 0; i <= n; i++)
    f->same[i] = i;
  for (uint32_t i = 0; i < n; i++)
    f->head[i] = f->exit[i] = NSR_NONE;
  NSR_TRY(nsr_score_walk(f->s, &w));
  for (uint32_t i = 0; i < n; i++)
    f->s->region[i] = root(f, f->s->region[i]);
  return NSR_OK;
}

/* ---- groups */

static enum nsr_status object(struct finder *f, const struct nsr_step *s,
                              const char *what) {
  const char *at;
  if (!f->proof)
    return NSR_OK;
  at = nsr_proof_place(f->ctx, f->s->program, s->engine, s->insn);
  return at ? nsr_proof_object(f->ctx, f->proof, NSR_PROOF_UNDECIDED,
                               NSR_RULE_COUNTERS, "semaphore %u %s, at %s",
                               (unsigned)s->group, what, at)
            : NSR_E_NOMEM;
}

static uint64_t use_of(const struct finder *f, uint32_t i, uint32_t sem) {
  return (uint64_t)sem << 32 | f->s->region[i];
}

static int by_use(const void *a, const void *b) {
  const uint64_t *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

static enum nsr_status add_uses(struct finder *f, uint32_t i) {
  const struct nsr_step *s = &f->s->steps[i];
  const struct nsr_node *n = &f->s->program->nodes[s->engine][s->insn];
  if (n->wait.cmp)
    NSR_PUSH(f->ctx, NSR_SCRATCH, &f->islands, use_of(f, i, n->wait.sem));
  if (n->update.op)
    NSR_PUSH(f->ctx, NSR_SCRATCH, &f->islands, use_of(f, i, n->update.sem));
  return NSR_OK;
}

/* Whether flow around a work is not structured, so that its place in the score
 * does not tell its region. */
static bool is_lost(const struct nsr_tree *t, uint32_t scope) {
  while (scope != NSR_NONE && t->scopes[scope].kind != NSR_SCOPE_ISLAND)
    scope = t->scopes[scope].parent;
  return scope != NSR_NONE;
}

/* Islands use theirs as they like; nothing else may. */
static enum nsr_status find_taken(struct finder *f) {
  const struct nsr_tree *t = f->s->tree;
  NSR_NEW(f->ctx, NSR_SCRATCH, f->taken, f->s->program->k->isa->semaphores);
  for (uint32_t i = 0; i < t->nworks; i++) {
    const struct nsr_work *x = &t->works[i];
    if (!x->island || x->marker)
      continue;
    const struct nsr_node *n = &t->program->nodes[x->engine][x->insn];
    bool lost = is_lost(t, x->scope);
    if (lost && n->wait.cmp)
      f->taken[n->wait.sem] = true;
    if (lost && n->update.op)
      f->taken[n->update.sem] = true;
  }
  for (uint32_t i = 0; i < f->s->nsteps; i++)
    if (f->s->steps[i].island)
      NSR_TRY(add_uses(f, i));
  if (f->islands.n)
    qsort(f->islands.v, f->islands.n, sizeof *f->islands.v, by_use);
  return NSR_OK;
}

static bool is_taken(const struct finder *f, uint32_t i) {
  uint64_t use = use_of(f, i, f->s->steps[i].group);
  return f->taken[f->s->steps[i].group] ||
         (f->islands.n &&
          bsearch(&use, f->islands.v, f->islands.n, sizeof use, by_use));
}

static uint32_t *bucket_of(const struct finder *f, uint32_t i) {
  uint32_t h = f->s->steps[i].group + f->s->region[i] * UINT32_C(0x9e3779b9);
  return &f->bucket[h % f->s->nsteps];
}

/* The group of a step with a semaphore; NSR_NONE: nothing counts there. */
static uint32_t group_of(const struct finder *f, uint32_t i) {
  uint32_t g = *bucket_of(f, i);
  while (g != NSR_NONE && (f->groups.v[g].sem != f->s->steps[i].group ||
                           f->groups.v[g].region != f->s->region[i]))
    g = f->next[g];
  return g;
}

static enum nsr_status add_group(struct finder *f, uint32_t i, uint32_t *out) {
  const struct nsr_step *s = &f->s->steps[i];
  struct nsr_count_group g = {.sem = (uint16_t)s->group,
                              .region = f->s->region[i],
                              .channel = s->channel};
  uint32_t *bucket = bucket_of(f, i);
  *out = (uint32_t)f->groups.n;
  f->next[*out] = *bucket;
  *bucket = *out;
  NSR_PUSH(f->ctx, NSR_SCRATCH, &f->groups, g);
  return NSR_OK;
}

static enum nsr_status number_groups(struct finder *f) {
  NSR_NEW(f->ctx, NSR_SCRATCH, f->bucket, f->s->nsteps);
  NSR_NEW(f->ctx, NSR_SCRATCH, f->next, f->s->nsteps);
  for (uint32_t i = 0; i < f->s->nsteps; i++)
    f->bucket[i] = NSR_NONE;
  for (uint32_t i = 0; i < f->s->nsteps; i++) {
    const struct nsr_step *s = &f->s->steps[i];
    if (s->kind != NSR_STEP_WORK || s->group == NSR_NONE || s->island)
      continue;
    uint32_t g = group_of(f, i);
    if (g == NSR_NONE)
      NSR_TRY(add_group(f, i, &g));
    if (f->proof && is_taken(f, i))
      NSR_TRY(object(f, s, "is one of code that is left as it is"));
    if (f->groups.v[g].channel != s->channel) {
      f->groups.v[g].channel = -1;
      NSR_TRY(object(f, s, "is advanced by several channels"));
    }
    if (s->value <= 0) {
      f->groups.v[g].bad = true;
      NSR_TRY(object(f, s, "is not advanced by a constant"));
    }
  }
  f->s->groups = f->groups.v;
  f->s->ngroups = (uint32_t)f->groups.n;
  return NSR_OK;
}

/* By step: updates and waits of groups of which it is not clear what they
 * count. */
static enum nsr_status find_mixed(struct finder *f, bool **out, bool *any) {
  NSR_NEW(f->ctx, NSR_SCRATCH, *out, f->s->nsteps);
  *any = false;
  for (uint32_t i = 0; i < f->s->nsteps; i++) {
    const struct nsr_step *s = &f->s->steps[i];
    bool counts = s->kind == NSR_STEP_WORK || s->kind == NSR_STEP_WAIT;
    if (!counts || s->group == NSR_NONE || s->island)
      continue;
    uint32_t g = group_of(f, i);
    (*out)[i] =
        g != NSR_NONE && (f->groups.v[g].channel < 0 || f->groups.v[g].bad);
    *any |= (*out)[i];
  }
  return NSR_OK;
}

/* What ways without a barrier lead to need not be counted together: behind an
 * arm that ends with one a semaphore may count another channel. */
static enum nsr_status split_groups(struct finder *f) {
  bool *mixed, any;
  NSR_TRY(find_mixed(f, &mixed, &any));
  if (any)
    NSR_TRY(nsr_split_counts(f->ctx, f->s, mixed, &any));
  f->groups.n = any ? 0 : f->groups.n;
  return any ? number_groups(f) : NSR_OK;
}

/* Semaphores become groups; what is no count belongs to none. */
static void name_groups(struct finder *f) {
  for (uint32_t i = 0; i < f->s->nsteps; i++) {
    struct nsr_step *s = &f->s->steps[i];
    bool work = s->kind == NSR_STEP_WORK;
    if ((work || s->kind == NSR_STEP_WAIT) && s->group != NSR_NONE)
      s->group = work && s->island ? NSR_NONE : group_of(f, i);
    if (s->group != NSR_NONE && work && f->groups.v[s->group].bad)
      s->group = NSR_NONE;
    s->member = f->s->nmembers;
    if (work && s->group != NSR_NONE) {
      f->groups.v[s->group].n++;
      f->s->nmembers++;
    }
  }
}

static enum nsr_status list_members(struct finder *f) {
  struct nsr_score *s = f->s;
  uint32_t at = 0;
  NSR_NEW(f->ctx, NSR_SCRATCH, s->members, s->nmembers);
  NSR_NEW(f->ctx, NSR_SCRATCH, s->by_group, s->nmembers);
  for (uint32_t g = 0; g < s->ngroups; g++) {
    s->groups[g].first = at;
    at += s->groups[g].n;
    s->groups[g].n = 0;
  }
  for (uint32_t i = 0; i < s->nsteps; i++) {
    const struct nsr_step *x = &s->steps[i];
    if (x->kind != NSR_STEP_WORK || x->group == NSR_NONE)
      continue;
    struct nsr_count_group *g = &s->groups[x->group];
    s->members[x->member] = i;
    s->by_group[g->first + g->n++] = x->member;
  }
  return NSR_OK;
}

enum nsr_status nsr_groups_find(struct nsr_ctx *ctx, struct nsr_score *s,
                                struct nsr_proof *proof) {
  struct finder f = {.ctx = ctx, .s = s, .proof = proof};
  NSR_TRY(find_regions(&f));
  NSR_TRY(find_taken(&f));
  NSR_TRY(number_groups(&f));
  if (!proof)
    NSR_TRY(split_groups(&f));
  name_groups(&f);
  return list_members(&f);
}
