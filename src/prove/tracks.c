/* tracks.c - thresholds as sums, along a score, and what has to be known of
 * them.
 *
 * What a register was set to is seen through while its scope goes on, but not
 * in loops there, and as long as none of the registers in it is set anew.
 */
#include "prove/tracks.h"

#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 4096 };

/* A register that was set to something, and when. */
struct made {
  uint32_t reg, at;
};

struct finder {
  struct nsr_ctx *ctx;
  const struct nsr_score *s;
  struct nsr_tracks *out;
  uint32_t registers;
  struct nsr_reg_value *value; /* by register */
  uint32_t *made;              /* .. by step + 1; 0: not */
  uint32_t *changed;           /* .. last, by step + 1 */
  NSR_VEC(struct made) open;   /* what was made in scopes around here */
  NSR_VEC(uint32_t) loops;     /* around here: steps */
  size_t most;                 /* tracks */
};

static uint32_t number(const struct finder *f, int engine, int reg) {
  return (uint32_t)engine * f->registers + (uint32_t)reg;
}

/* ---- tracks */

static uint32_t *bucket_of(const struct nsr_tracks *t, uint32_t sum,
                           uint32_t count) {
  return &t->buckets[(sum * UINT32_C(0x9e3779b9) ^ count) % BUCKETS];
}

uint32_t nsr_track_of(const struct nsr_tracks *t, uint32_t sum,
                      uint32_t count) {
  uint32_t i = *bucket_of(t, sum, count);
  while (i != NSR_NONE && (t->v.v[i].sum != sum || t->v.v[i].count != count))
    i = t->v.v[i].next;
  return i;
}

static enum nsr_status add_track(struct finder *f, uint32_t sum,
                                 uint32_t count) {
  struct nsr_tracks *t = f->out;
  if (sum == 0 || t->v.n >= f->most || nsr_track_of(t, sum, count) != NSR_NONE)
    return NSR_OK;
  uint32_t *bucket = bucket_of(t, sum, count), at = (uint32_t)t->v.n;
  NSR_PUSH(f->ctx, NSR_SCRATCH, &t->v, (struct nsr_track){sum, count, *bucket});
  *bucket = at;
  return NSR_OK;
}

/* ---- values */

static bool still(const struct finder *f, const struct nsr_linear *x,
                  uint32_t made) {
  uint32_t n;
  const struct nsr_term *t = nsr_sum_terms(&f->out->sums, x->sum, &n);
  for (uint32_t i = 0; i < n; i++)
    if (f->changed[t[i].reg] > made)
      return false;
  return true;
}

/* What a register holds, in terms of registers as they are here. */
static enum nsr_status value_of(struct finder *f, uint32_t reg,
                                struct nsr_reg_value *out) {
  uint32_t made = f->made[reg];
  const struct nsr_reg_value *v = &f->value[reg];
  uint32_t loop = f->loops.n ? f->loops.v[f->loops.n - 1] + 1 : 0;
  if (made > loop && still(f, &v->yes, made) &&
      (v->kind == NSR_REG_PLAIN ||
       (still(f, &v->no, made) && still(f, &v->test, made)))) {
    *out = *v;
    return NSR_OK;
  }
  return nsr_reg_itself(&f->out->sums, reg, out);
}

static enum nsr_status operand(struct finder *f, int engine,
                               const struct nsr_val *v,
                               struct nsr_reg_value *out) {
  if (v->is_reg)
    return value_of(f, number(f, engine, v->v), out);
  *out = nsr_reg_constant(v->v);
  return NSR_OK;
}

/* The value that an instruction sets its register to. */
static enum nsr_status evaluate(struct finder *f, int engine,
                                const struct nsr_insn *x,
                                struct nsr_reg_value *out) {
  struct nsr_reg_value cond = {0}, a, b;
  enum nsr_ctl op = (enum nsr_ctl)x->desc->ctl;
  *out = (struct nsr_reg_value){.kind = NSR_REG_UNKNOWN};
  if (x->desc->cls != NSR_CONTROL)
    return NSR_OK;
  if (op == NSR_CTL_SEL)
    NSR_TRY(value_of(f, number(f, engine, x->cond), &cond));
  NSR_TRY(operand(f, engine, &x->a, &a));
  NSR_TRY(operand(f, engine, &x->b, &b));
  return nsr_reg_operation(&f->out->sums, op, &cond, &a, &b, out);
}

static bool mentions(const struct finder *f, const struct nsr_reg_value *v,
                     uint32_t reg) {
  const struct nsr_sums *s = &f->out->sums;
  return nsr_sum_times(s, v->yes.sum, reg) ||
         (v->kind == NSR_REG_CHOICE && (nsr_sum_times(s, v->no.sum, reg) ||
                                        nsr_sum_times(s, v->test.sum, reg)));
}

/* Whether an operation adds a constant to its register. */
static bool adds(const struct nsr_insn *x, int64_t *add) {
  bool plus = x->desc->ctl == NSR_CTL_ADD;
  const struct nsr_val *a = &x->a, *b = &x->b;
  const struct nsr_val *c = a->is_reg ? b : a, *r = a->is_reg ? a : b;
  if ((!plus && x->desc->ctl != NSR_CTL_SUB) || c->is_reg || !r->is_reg ||
      r->v != x->dst || (!plus && c == a))
    return false;
  *add = plus ? c->v : -(int64_t)c->v;
  return true;
}

/* Constants are not seen through: what they differ from counts by is known
 * better of the register itself. */
static enum nsr_status read_set(struct finder *f, uint32_t i) {
  const struct nsr_step *s = &f->s->steps[i];
  const struct nsr_program *p = f->s->program;
  struct nsr_set set = {.reg = number(f, s->engine, s->dst)};
  struct nsr_reg_value v;
  struct nsr_insn x;
  NSR_TRY(nsr_stream_decode(f->ctx, p->k, p->stream[s->engine], s->insn, &x));
  NSR_TRY(evaluate(f, s->engine, &x, &v));
  bool own = mentions(f, &v, set.reg);
  if (x.desc->cls == NSR_CONTROL && adds(&x, &set.value.add)) {
    set.kind = NSR_SET_STEP;
  } else if (v.kind == NSR_REG_PLAIN && !own) {
    set.kind = NSR_SET_VALUE;
    set.value = v.yes;
  }
  f->changed[set.reg] = i + 1;
  f->made[set.reg] = 0;
  if (v.kind == NSR_REG_CHOICE || (v.kind == NSR_REG_PLAIN && v.yes.sum != 0)) {
    f->value[set.reg] = v;
    f->made[set.reg] = own ? 0 : i + 1;
    NSR_PUSH(f->ctx, NSR_SCRATCH, &f->open, (struct made){set.reg, i + 1});
  }
  f->out->set_of[i] = (uint32_t)f->out->sets.n;
  NSR_PUSH(f->ctx, NSR_SCRATCH, &f->out->sets, set);
  return NSR_OK;
}

static enum nsr_status read_wait(struct finder *f, uint32_t i, uint32_t n) {
  const struct nsr_step *s = &f->s->steps[i];
  struct nsr_reg_value *v = &f->out->waits[n];
  f->out->wait_of[i] = n;
  *v = (struct nsr_reg_value){.kind = NSR_REG_UNKNOWN};
  if (!s->is_reg)
    *v = nsr_reg_constant(s->value);
  if (!s->is_reg || s->group == NSR_NONE)
    return NSR_OK;
  NSR_TRY(value_of(f, number(f, s->engine, s->value), v));
  NSR_TRY(add_track(f, v->yes.sum, s->group));
  if (v->kind != NSR_REG_CHOICE)
    return NSR_OK;
  NSR_TRY(add_track(f, v->no.sum, s->group));
  for (size_t l = 0; l < f->loops.n; l++)
    NSR_TRY(add_track(f, v->test.sum, f->out->count_of[f->loops.v[l]]));
  return NSR_OK;
}

/* What was made in a scope is not used behind it. */
static void leave_scope(struct finder *f, uint32_t begin) {
  while (f->open.n && f->open.v[f->open.n - 1].at > begin + 1)
    f->made[f->open.v[--f->open.n].reg] = 0;
  if (f->s->steps[begin].kind == NSR_STEP_LOOP)
    f->loops.n--;
}

static enum nsr_status read_step(struct finder *f, uint32_t i,
                                 uint32_t *waits) {
  const struct nsr_step *s = &f->s->steps[i];
  struct nsr_tracks *t = f->out;
  t->count_of[i] = t->set_of[i] = t->wait_of[i] = NSR_NONE;
  switch (s->kind) {
  case NSR_STEP_SET:
    return read_set(f, i);
  case NSR_STEP_WAIT:
    return read_wait(f, i, (*waits)++);
  case NSR_STEP_LOOP:
    t->count_of[i] = t->ncounts++;
    NSR_PUSH(f->ctx, NSR_SCRATCH, &f->loops, i);
    return NSR_OK;
  case NSR_STEP_END:
    leave_scope(f, s->end);
    return NSR_OK;
  default:
    return NSR_OK;
  }
}

static enum nsr_status read_steps(struct finder *f) {
  uint32_t waits = 0;
  f->out->ncounts = f->s->ngroups;
  for (uint32_t i = 0; i < f->s->nsteps; i++)
    NSR_TRY(read_step(f, i, &waits));
  return NSR_OK;
}

/* ---- closure */

/* Settings to sums by register, then sum. */
static int by_register(const void *a, const void *b) {
  const struct nsr_set *x = a, *y = b;
  if (x->reg != y->reg)
    return x->reg < y->reg ? -1 : 1;
  return (x->value.sum > y->value.sum) - (x->value.sum < y->value.sum);
}

/* What registers are set to, each sum once. */
static enum nsr_status list_sums(struct finder *f, struct nsr_set **out,
                                 size_t *n) {
  struct nsr_set *v;
  size_t kept = 0, all = 0;
  NSR_NEW(f->ctx, NSR_SCRATCH, v, f->out->sets.n);
  for (size_t i = 0; i < f->out->sets.n; i++)
    if (f->out->sets.v[i].kind == NSR_SET_VALUE &&
        f->out->sets.v[i].value.sum != 0)
      v[all++] = f->out->sets.v[i];
  if (all)
    qsort(v, all, sizeof *v, by_register);
  for (size_t i = 0; i < all; i++)
    if (!kept || by_register(&v[kept - 1], &v[i]))
      v[kept++] = v[i];
  *out = v;
  *n = kept;
  return NSR_OK;
}

static enum nsr_status add_replaced(struct finder *f, struct nsr_track t,
                                    const struct nsr_set *set) {
  struct nsr_linear sum;
  bool fits;
  NSR_TRY(nsr_sum_replace(&f->out->sums, t.sum, set->reg, &set->value, &sum,
                          &fits));
  return fits ? add_track(f, sum.sum, t.count) : NSR_OK;
}

static enum nsr_status close_tracks(struct finder *f) {
  struct nsr_set *sets;
  size_t n;
  NSR_TRY(list_sums(f, &sets, &n));
  for (size_t i = 0; n && i < f->out->v.n; i++) { /* grows on the way */
    struct nsr_track t = f->out->v.v[i];
    uint32_t nterms = f->out->sums.v.v[t.sum].n;
    for (uint32_t k = 0; k < nterms; k++) {
      struct nsr_set key = {
          .reg = f->out->sums.terms.v[f->out->sums.v.v[t.sum].first + k].reg};
      size_t lo = 0, hi = n;
      while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (by_register(&sets[mid], &key) < 0)
          lo = mid + 1;
        else
          hi = mid;
      }
      for (; lo < n && sets[lo].reg == key.reg; lo++)
        NSR_TRY(add_replaced(f, t, &sets[lo]));
    }
  }
  return NSR_OK;
}

/* ---- lists */

static enum nsr_status list_by(struct finder *f, bool by_reg, uint32_t nkeys,
                               uint32_t *at, struct nsr_track_list **out) {
  struct nsr_tracks *t = f->out;
  struct nsr_track_list *l;
  NSR_NEW(f->ctx, NSR_SCRATCH, l, nkeys);
  for (int fill = 0; fill < 2; fill++) {
    for (uint32_t i = 0; i < t->v.n; i++) {
      const struct nsr_sum *s = &t->sums.v.v[t->v.v[i].sum];
      for (uint32_t k = 0; k < (by_reg ? s->n : 1); k++) {
        uint32_t key =
            by_reg ? t->sums.terms.v[s->first + k].reg : t->v.v[i].count;
        if (fill)
          t->lists[l[key].first + l[key].n] = i;
        l[key].n++;
      }
    }
    for (uint32_t k = 0; !fill && k < nkeys; k++) {
      l[k].first = *at;
      *at += l[k].n;
      l[k].n = 0;
    }
  }
  *out = l;
  return NSR_OK;
}

static enum nsr_status make_lists(struct finder *f) {
  struct nsr_tracks *t = f->out;
  size_t n = t->v.n;
  uint32_t at = 0;
  for (size_t i = 0; i < t->v.n; i++)
    n += t->sums.v.v[t->v.v[i].sum].n;
  NSR_NEW(f->ctx, NSR_SCRATCH, t->lists, n);
  NSR_TRY(list_by(f, false, t->ncounts, &at, &t->by_count));
  return list_by(f, true, t->nregisters, &at, &t->by_reg);
}

/* What settings to values make of the tracks with that register. */
static enum nsr_status link_sets(struct finder *f) {
  struct nsr_tracks *t = f->out;
  for (size_t i = 0; i < t->sets.n; i++) {
    struct nsr_set *set = &t->sets.v[i];
    const struct nsr_track_list *l = &t->by_reg[set->reg];
    set->first = (uint32_t)t->links.n;
    for (uint32_t k = 0; set->kind == NSR_SET_VALUE && k < l->n; k++) {
      uint32_t from = t->lists[l->first + k];
      struct nsr_linear sum;
      bool fits;
      NSR_TRY(nsr_sum_replace(&t->sums, t->v.v[from].sum, set->reg, &set->value,
                              &sum, &fits));
      if (!fits)
        sum = (struct nsr_linear){NSR_NONE, 0};
      uint32_t to =
          fits ? nsr_track_of(t, sum.sum, t->v.v[from].count) : NSR_NONE;
      NSR_PUSH(f->ctx, NSR_SCRATCH, &t->links,
               (struct nsr_track_link){from, to, sum.sum, sum.add});
    }
    set->n = (uint32_t)t->links.n - set->first;
  }
  return NSR_OK;
}

enum nsr_status nsr_tracks_find(struct nsr_ctx *ctx, const struct nsr_score *s,
                                struct nsr_tracks *out) {
  struct finder f = {.ctx = ctx,
                     .s = s,
                     .out = out,
                     .registers = s->program->k->isa->registers,
                     .most = 8 * ((size_t)s->nsteps + 1024)};
  *out = (struct nsr_tracks){.nregisters = f.registers * NSR_MAX_ENGINES};
  NSR_TRY(nsr_sums_init(ctx, &out->sums));
  NSR_NEW(ctx, NSR_SCRATCH, out->buckets, BUCKETS);
  memset(out->buckets, 0xff, BUCKETS * sizeof *out->buckets);
  NSR_NEW(ctx, NSR_SCRATCH, out->count_of, s->nsteps);
  NSR_NEW(ctx, NSR_SCRATCH, out->set_of, s->nsteps);
  NSR_NEW(ctx, NSR_SCRATCH, out->wait_of, s->nsteps);
  NSR_NEW(ctx, NSR_SCRATCH, out->waits, s->nwaits);
  NSR_NEW(ctx, NSR_SCRATCH, f.value, out->nregisters);
  NSR_NEW(ctx, NSR_SCRATCH, f.made, out->nregisters);
  NSR_NEW(ctx, NSR_SCRATCH, f.changed, out->nregisters);
  NSR_TRY(read_steps(&f));
  NSR_TRY(close_tracks(&f));
  NSR_TRY(make_lists(&f));
  return link_sets(&f);
}
