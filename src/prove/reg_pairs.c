/* reg_pairs.c - pairs of a register and a semaphore, closed under copies. */
#include "prove/reg_pairs.h"

#include <stdlib.h>

static int compare(const void *a, const void *b) {
  const struct nsr_pair *x = a, *y = b;
  if (x->reg != y->reg)
    return x->reg < y->reg ? -1 : 1;
  return x->group < y->group ? -1 : x->group > y->group;
}

uint32_t nsr_pair_find(const struct nsr_pairs *p, int engine, int reg,
                       uint32_t group) {
  struct nsr_pair key = {(uint32_t)engine * p->registers + (uint32_t)reg,
                         group};
  const struct nsr_pair *x =
      p->n ? bsearch(&key, p->v, p->n, sizeof key, compare) : NULL;
  return x ? (uint32_t)(x - p->v) : NSR_NONE;
}

/* Groups that each register is compared with, while they are found. */
struct finder {
  struct nsr_ctx *ctx;
  const struct nsr_score *s;
  uint32_t registers, ngroups;
  bool **has; /* by register: by group, NULL: none */
  NSR_VEC(struct nsr_pair) pairs;
};

static enum nsr_status add(struct finder *f, uint32_t reg, uint32_t group) {
  if (!f->has[reg])
    NSR_NEW(f->ctx, NSR_SCRATCH, f->has[reg], f->ngroups);
  if (f->has[reg][group])
    return NSR_OK;
  f->has[reg][group] = true;
  NSR_PUSH(f->ctx, NSR_SCRATCH, &f->pairs, (struct nsr_pair){reg, group});
  return NSR_OK;
}

static uint32_t reg_number(const struct finder *f, int engine, int reg) {
  return (uint32_t)engine * f->registers + (uint32_t)reg;
}

/* Copies dst from src, each once. */
struct copy {
  uint32_t dst, src;
};

static int by_dst(const void *a, const void *b) {
  const struct copy *x = a, *y = b;
  if (x->dst != y->dst)
    return x->dst < y->dst ? -1 : 1;
  return x->src < y->src ? -1 : x->src > y->src;
}

static enum nsr_status find_copies(struct finder *f, struct copy **out,
                                   size_t *n) {
  NSR_VEC(struct copy) v = {0};
  size_t kept = 0;
  for (uint32_t i = 0; i < f->s->nsteps; i++) {
    const struct nsr_step *s = &f->s->steps[i];
    if (s->kind == NSR_STEP_SET && s->known && s->src >= 0 && s->src != s->dst)
      NSR_PUSH(f->ctx, NSR_SCRATCH, &v,
               (struct copy){reg_number(f, s->engine, s->dst),
                             reg_number(f, s->engine, s->src)});
  }
  if (v.n)
    qsort(v.v, v.n, sizeof *v.v, by_dst);
  for (size_t i = 0; i < v.n; i++)
    if (!kept || by_dst(&v.v[kept - 1], &v.v[i]))
      v.v[kept++] = v.v[i];
  *out = v.v;
  *n = kept;
  return NSR_OK;
}

static enum nsr_status find(struct finder *f) {
  struct copy *copies;
  size_t n;
  NSR_TRY(find_copies(f, &copies, &n));
  for (uint32_t i = 0; i < f->s->nsteps; i++) {
    const struct nsr_step *s = &f->s->steps[i];
    if (s->kind == NSR_STEP_WAIT && s->is_reg && s->group != NSR_NONE)
      NSR_TRY(add(f, reg_number(f, s->engine, s->value), s->group));
  }
  for (size_t i = 0; i < f->pairs.n; i++) { /* grows on the way */
    struct nsr_pair p = f->pairs.v[i];
    size_t lo = 0, hi = n;
    while (lo < hi) {
      size_t mid = lo + (hi - lo) / 2;
      if (copies[mid].dst < p.reg)
        lo = mid + 1;
      else
        hi = mid;
    }
    for (; lo < n && copies[lo].dst == p.reg; lo++)
      NSR_TRY(add(f, copies[lo].src, p.group));
  }
  return NSR_OK;
}

/* Lists of pairs by a key of theirs. */
static enum nsr_status make_lists(struct nsr_ctx *ctx, struct nsr_pairs *p,
                                  bool by_reg, uint32_t keys, uint32_t *at,
                                  struct nsr_pair_list **out) {
  struct nsr_pair_list *lists;
  NSR_NEW(ctx, NSR_SCRATCH, lists, keys);
  for (uint32_t i = 0; i < p->n; i++)
    lists[by_reg ? p->v[i].reg : p->v[i].group].n++;
  for (uint32_t k = 0; k < keys; k++) {
    lists[k].first = *at;
    *at += lists[k].n;
    lists[k].n = 0;
  }
  for (uint32_t i = 0; i < p->n; i++) {
    struct nsr_pair_list *l = &lists[by_reg ? p->v[i].reg : p->v[i].group];
    p->lists[l->first + l->n++] = i;
  }
  *out = lists;
  return NSR_OK;
}

enum nsr_status nsr_pairs_find(struct nsr_ctx *ctx, const struct nsr_score *s,
                               struct nsr_pairs *out) {
  struct finder f = {.ctx = ctx,
                     .s = s,
                     .registers = s->program->k->isa->registers,
                     .ngroups = s->ngroups};
  uint32_t nregs = f.registers * NSR_MAX_ENGINES, at = 0;
  NSR_NEW(ctx, NSR_SCRATCH, f.has, nregs);
  NSR_TRY(find(&f));
  if (f.pairs.n)
    qsort(f.pairs.v, f.pairs.n, sizeof *f.pairs.v, compare);
  *out = (struct nsr_pairs){
      .n = (uint32_t)f.pairs.n, .registers = f.registers, .v = f.pairs.v};
  NSR_NEW(ctx, NSR_SCRATCH, out->lists, 2 * f.pairs.n);
  NSR_TRY(make_lists(ctx, out, true, nregs, &at, &out->by_reg));
  return make_lists(ctx, out, false, s->ngroups, &at, &out->by_group);
}
