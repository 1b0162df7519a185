/* plan.c - groups, thresholds, mirrors. */
#include "sync/plan.h"

#include <stdlib.h>

#include "base/bitset.h"
#include "base/vec.h"

/* Awaited work of one channel, directly in one scope. */
struct group {
  uint32_t scope;
  int8_t channel;
  uint32_t n; /* N */
  uint16_t sem;
};

/* How thresholds are kept; each step needs fewer registers than the last. */
enum sharing { PER_LAG, PER_COUNT, PER_SCOPE };

struct plan {
  struct nsr_ctx *ctx;
  const struct nsr_tree *t;
  const struct nsr_budget *budget;
  NSR_VEC(struct group) groups;
  uint32_t *group_of; /* by work */
  uint32_t *k_of;     /* by work: K, 1-based */
  NSR_VEC(struct nsr_plan_wait) waits;
  NSR_VEC(struct nsr_mirror) mirrors;
};

/* ---- groups */

struct member {
  uint32_t scope, work;
  int8_t channel;
};

static int by_group(const void *a, const void *b) {
  const struct member *x = a, *y = b;
  if (x->scope != y->scope)
    return x->scope < y->scope ? -1 : 1;
  if (x->channel != y->channel)
    return x->channel < y->channel ? -1 : 1;
  return x->work < y->work ? -1 : x->work > y->work;
}

static enum nsr_status no_place(struct plan *p, uint32_t c) {
  return nsr_fail(p->ctx, NSR_E_REFUSED, nsr_work_place(p->t, &p->t->works[c]),
                  "this waits for work in a loop or conditional without a "
                  "barrier, behind which there is no place for a marker");
}

static enum nsr_status collect_members(struct plan *p,
                                       const struct nsr_needs *needs,
                                       struct member **out, size_t *n) {
  bool *seen;
  NSR_VEC(struct member) v = {0};
  NSR_NEW(p->ctx, NSR_SCRATCH, seen, p->t->nworks);
  for (uint32_t i = 0; i < needs->n; i++) {
    uint32_t w = needs->v[i].p;
    const struct nsr_work *x = &p->t->works[w];
    if (x->marker && x->insn == NSR_NONE)
      return no_place(p, needs->v[i].c);
    if (!seen[w])
      NSR_PUSH(p->ctx, NSR_SCRATCH, &v,
               (struct member){x->scope, w, x->channel});
    seen[w] = true;
  }
  if (v.n)
    qsort(v.v, v.n, sizeof *v.v, by_group);
  *out = v.v;
  *n = v.n;
  return NSR_OK;
}

static enum nsr_status make_groups(struct plan *p,
                                   const struct nsr_needs *needs) {
  struct member *m = NULL;
  size_t n = 0;
  NSR_TRY(collect_members(p, needs, &m, &n));
  NSR_NEW(p->ctx, NSR_SCRATCH, p->group_of, p->t->nworks);
  NSR_NEW(p->ctx, NSR_SCRATCH, p->k_of, p->t->nworks);
  const struct nsr_kernel *k = p->t->program->k;
  uint32_t most = k->owned_last - k->owned_first + 1u;
  if (p->budget->semaphores < most)
    most = p->budget->semaphores;
  for (size_t i = 0; i < n; i++) {
    if (i == 0 || m[i].scope != m[i - 1].scope ||
        m[i].channel != m[i - 1].channel)
      NSR_PUSH(p->ctx, NSR_SCRATCH, &p->groups,
               (struct group){m[i].scope, m[i].channel, 0,
                              (uint16_t)(k->owned_first + p->groups.n)});
    struct group *g = &p->groups.v[p->groups.n - 1];
    p->k_of[m[i].work] = ++g->n;
    p->group_of[m[i].work] = (uint32_t)p->groups.n - 1;
  }
  if (p->groups.n > most)
    return nsr_fail(p->ctx, NSR_E_REFUSED,
                    (struct nsr_place){.file = k->path, .insn = -1},
                    "%zu semaphores are needed (one per scope and channel "
                    "that is waited for), %u may be used",
                    p->groups.n, most);
  return NSR_OK;
}

/* ---- thresholds: N*r - less, r the entries of the group's scope */

static bool is_once(const struct plan *p, uint32_t scope) {
  return p->t->scopes[scope].kind == NSR_SCOPE_PROGRAM;
}

/* What is subtracted from N*r. Where p lies directly in the shared scope and
 * comes later (p = c counts as later), this entry's p is not meant. */
static int64_t lag_of(const struct plan *p, const struct nsr_need *need) {
  const struct group *g = &p->groups.v[p->group_of[need->p]];
  const struct nsr_tree *t = p->t;
  bool in_shared = nsr_common_in(t, t->works[need->c].scope, g->scope);
  int64_t entries = need->lag + (in_shared && need->p >= need->c);
  return (int64_t)g->n * entries + g->n - p->k_of[need->p];
}

static int by_wait(const void *a, const void *b) {
  const struct nsr_plan_wait *x = a, *y = b;
  if (x->c != y->c)
    return x->c < y->c ? -1 : 1;
  if (x->sem != y->sem)
    return x->sem < y->sem ? -1 : 1;
  return x->less < y->less ? -1 : x->less > y->less;
}

static enum nsr_status too_far(struct plan *p, const struct nsr_need *need) {
  return nsr_fail(p->ctx, NSR_E_REFUSED,
                  nsr_work_place(p->t, &p->t->works[need->c]),
                  "a threshold here passes the range of a semaphore");
}

/* One wait per need; of several on one group at one place the strictest. */
static enum nsr_status make_waits(struct plan *p,
                                  const struct nsr_needs *needs) {
  for (uint32_t i = 0; i < needs->n; i++) {
    const struct nsr_need *need = &needs->v[i];
    const struct group *g = &p->groups.v[p->group_of[need->p]];
    int64_t less = lag_of(p, need);
    if (less > INT32_MAX / 2 || g->n > INT16_MAX)
      return too_far(p, need);
    struct nsr_plan_wait w = {.c = need->c,
                              .p = need->p,
                              .lag = need->lag,
                              .sem = g->sem,
                              .is_reg = !is_once(p, g->scope),
                              .scale = 1,
                              .less = (int32_t)less};
    if (!w.is_reg) {
      w.value = (int32_t)(g->n - less);
      if (w.value <= 0)
        continue;
    }
    NSR_PUSH(p->ctx, NSR_SCRATCH, &p->waits, w);
  }
  if (p->waits.n)
    qsort(p->waits.v, p->waits.n, sizeof *p->waits.v, by_wait);
  size_t kept = 0;
  for (size_t i = 0; i < p->waits.n; i++)
    if (kept == 0 || p->waits.v[kept - 1].c != p->waits.v[i].c ||
        p->waits.v[kept - 1].sem != p->waits.v[i].sem)
      p->waits.v[kept++] = p->waits.v[i];
  p->waits.n = kept;
  return NSR_OK;
}

/* ---- registers */

static void mark_val(uint64_t *used, const struct nsr_val *v) {
  if (v->is_reg)
    nsr_bit_set(used, (size_t)v->v);
}

static void mark_reg(uint64_t *used, int reg) {
  if (reg >= 0)
    nsr_bit_set(used, (size_t)reg);
}

static void mark_insn(uint64_t *used, const struct nsr_insn *x) {
  mark_val(used, &x->a);
  mark_val(used, &x->b);
  if (x->wait.cmp)
    mark_val(used, &x->wait.value);
  mark_reg(used, x->dst);
  mark_reg(used, x->cond);
  mark_reg(used, x->value_reg);
  for (int i = 0; i < x->noperands; i++) {
    const struct nsr_operand *o = &x->operands[i];
    mark_reg(used, o->reg);
    for (int d = 0; d < o->ndims; d++)
      if (o->dims[d].count_is_reg)
        mark_reg(used, o->dims[d].count);
  }
}

/* Registers that the engine's stream never names. */
static enum nsr_status free_registers(struct plan *p, int engine, int16_t **out,
                                      uint32_t *n) {
  const struct nsr_program *pr = p->t->program;
  const struct nsr_stream *s = pr->stream[engine];
  uint32_t all = pr->k->isa->registers;
  uint64_t *used;
  NSR_NEW(p->ctx, NSR_SCRATCH, used, nsr_bits_words(all));
  NSR_NEW(p->ctx, NSR_SCRATCH, *out, all);
  for (uint32_t i = 0; i < s->n; i++) {
    struct nsr_insn x;
    NSR_TRY(nsr_stream_decode(p->ctx, pr->k, s, i, &x));
    mark_insn(used, &x);
  }
  *n = 0;
  for (uint32_t r = 0; r < all; r++)
    if (!nsr_bit(used, r))
      (*out)[(*n)++] = (int16_t)r;
  if (*n > p->budget->registers)
    *n = p->budget->registers;
  return NSR_OK;
}

/* The mirror a wait wants at a level of sharing. */
static struct nsr_mirror mirror_for(const struct plan *p,
                                    const struct nsr_plan_wait *w,
                                    enum sharing sharing) {
  const struct group *g = &p->groups.v[p->group_of[w->p]];
  return (struct nsr_mirror){
      .engine = p->t->works[w->c].engine,
      .scope = g->scope,
      .step = sharing == PER_SCOPE ? 1 : (int32_t)g->n,
      .start = sharing == PER_LAG ? -w->less : 0,
  };
}

static int by_mirror(const void *a, const void *b) {
  const struct nsr_mirror *x = a, *y = b;
  if (x->engine != y->engine)
    return x->engine < y->engine ? -1 : 1;
  if (x->scope != y->scope)
    return x->scope < y->scope ? -1 : 1;
  if (x->step != y->step)
    return x->step < y->step ? -1 : 1;
  return x->start > y->start ? -1 : x->start < y->start;
}

/* The distinct mirrors of one engine's waits. */
static enum nsr_status wanted(struct plan *p, int engine, enum sharing sharing,
                              struct nsr_mirror **out, uint32_t *n) {
  NSR_VEC(struct nsr_mirror) v = {0};
  for (size_t i = 0; i < p->waits.n; i++)
    if (p->waits.v[i].is_reg && p->t->works[p->waits.v[i].c].engine == engine)
      NSR_PUSH(p->ctx, NSR_SCRATCH, &v, mirror_for(p, &p->waits.v[i], sharing));
  if (v.n)
    qsort(v.v, v.n, sizeof *v.v, by_mirror);
  uint32_t kept = 0;
  for (size_t i = 0; i < v.n; i++)
    if (kept == 0 || by_mirror(&v.v[kept - 1], &v.v[i]) != 0)
      v.v[kept++] = v.v[i];
  *out = v.v;
  *n = kept;
  return NSR_OK;
}

static uint32_t find_mirror(const struct nsr_mirror *v, uint32_t n,
                            const struct nsr_mirror *key) {
  uint32_t lo = 0, hi = n;
  while (hi - lo > 1) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (by_mirror(&v[mid], key) <= 0)
      lo = mid;
    else
      hi = mid;
  }
  return lo;
}

/* Points the engine's waits at its mirrors, which start at `base`. */
static void connect(struct plan *p, int engine, enum sharing sharing,
                    const struct nsr_mirror *v, uint32_t n, uint32_t base) {
  for (size_t i = 0; i < p->waits.n; i++) {
    struct nsr_plan_wait *w = &p->waits.v[i];
    if (!w->is_reg || p->t->works[w->c].engine != engine)
      continue;
    struct nsr_mirror key = mirror_for(p, w, sharing);
    w->mirror = base + find_mirror(v, n, &key);
    if (sharing == PER_SCOPE)
      w->scale = (int32_t)p->groups.v[p->group_of[w->p]].n;
    if (sharing == PER_LAG)
      w->less = 0;
  }
}

static enum nsr_status no_registers(struct plan *p, int engine, uint32_t want,
                                    uint32_t have) {
  const struct nsr_kernel *k = p->t->program->k;
  return nsr_fail(p->ctx, NSR_E_REFUSED,
                  (struct nsr_place){.file = k->path,
                                     .engine = k->isa->engines[engine],
                                     .insn = -1},
                  "%u registers are needed to count loop entries, %u may be "
                  "used",
                  want, have);
}

static enum nsr_status engine_registers(struct plan *p, int engine,
                                        struct nsr_plan *out) {
  int16_t *regs;
  uint32_t have, n = 0, want = 0;
  struct nsr_mirror *v = NULL;
  enum sharing sharing = PER_LAG;
  NSR_TRY(free_registers(p, engine, &regs, &have));
  for (;; sharing++) {
    NSR_TRY(wanted(p, engine, sharing, &v, &n));
    want = n + (n > 0 && sharing != PER_LAG);
    if (want <= have || sharing == PER_SCOPE)
      break;
  }
  if (want > have)
    return no_registers(p, engine, want, have);
  connect(p, engine, sharing, v, n, (uint32_t)p->mirrors.n);
  for (uint32_t i = 0; i < n; i++) {
    v[i].reg = regs[i];
    NSR_PUSH(p->ctx, NSR_SCRATCH, &p->mirrors, v[i]);
  }
  out->temp[engine] = want > n ? regs[n] : NSR_NO_REG;
  out->registers[engine] = want;
  return NSR_OK;
}

static enum nsr_status fill_updates(struct plan *p, struct nsr_plan *out) {
  int32_t *update;
  NSR_NEW(p->ctx, NSR_SCRATCH, update, p->t->nworks);
  for (uint32_t w = 0; w < p->t->nworks; w++)
    update[w] = p->k_of[w] > 0 ? p->groups.v[p->group_of[w]].sem : -1;
  out->update = update;
  return NSR_OK;
}

enum nsr_status nsr_plan_make(struct nsr_ctx *ctx, const struct nsr_tree *tree,
                              const struct nsr_needs *needs,
                              const struct nsr_budget *budget,
                              struct nsr_plan *out) {
  struct plan p = {.ctx = ctx, .t = tree, .budget = budget};
  *out = (struct nsr_plan){.tree = tree};
  NSR_TRY(make_groups(&p, needs));
  NSR_TRY(make_waits(&p, needs));
  for (int e = 0; e < NSR_MAX_ENGINES; e++) {
    out->temp[e] = NSR_NO_REG;
    if (tree->program->stream[e])
      NSR_TRY(engine_registers(&p, e, out));
  }
  NSR_TRY(fill_updates(&p, out));
  out->waits = p.waits.v;
  out->nwaits = (uint32_t)p.waits.n;
  out->mirrors = p.mirrors.v;
  out->nmirrors = (uint32_t)p.mirrors.n;
  out->nsems = (uint32_t)p.groups.n;
  for (size_t i = 0; i < p.groups.n; i++)
    if (!is_once(&p, p.groups.v[i].scope) && p.groups.v[i].n > out->largest)
      out->largest = p.groups.v[i].n;
  return NSR_OK;
}
