/* values.c - abstract interpretation of register operations. */
#include "mem/values.h"

#include <stdlib.h>
#include <string.h>

#include "base/bitset.h"
#include "base/pieces.h"
#include "base/vec.h"

/* While a loop's round is run symbolically, a value may be a register's at
 * the round's start plus a constant. */
enum { FORM_START = NSR_FORM_PERIODIC + 1 };

/* A loop's register operations that run in every iteration, in order. */
struct round {
  NSR_VEC(struct nsr_insn) ops;
  uint64_t *other; /* registers that other code of the loop sets */
};

struct build {
  struct nsr_ctx *ctx;
  const struct nsr_scopes *t;
  const struct nsr_cfg *g;
  uint32_t nregs;
  struct nsr_pieces envs; /* a form by register */
  struct nsr_pieces bits; /* a bit by register */
  struct round round;     /* of the outermost loop around here */
  bool *every;
  uint8_t *back;
  NSR_VEC(struct nsr_operand_form) forms;
};

static const struct nsr_form unknown = {.kind = NSR_FORM_UNKNOWN};

static struct nsr_form constant(int32_t v) {
  return (struct nsr_form){.kind = NSR_FORM_CONST, .base = v};
}

int32_t nsr_form_at(const struct nsr_form *f, uint32_t t) {
  switch (f->kind) {
  case NSR_FORM_AFFINE:
    return (int32_t)((uint32_t)f->base + (uint32_t)f->step * t);
  case NSR_FORM_PERIODIC:
    return f->values[t % f->period];
  default:
    return f->base;
  }
}

/* ---- operations on forms */

static int32_t wrap(int64_t v) { return (int32_t)(uint32_t)(uint64_t)v; }

static bool fold(enum nsr_ctl op, int32_t a, int32_t b, int32_t *out) {
  uint32_t ua = (uint32_t)a, n = (uint32_t)b & 31;
  switch (op) {
  case NSR_CTL_ADD:
    *out = wrap((int64_t)a + b);
    return true;
  case NSR_CTL_SUB:
    *out = wrap((int64_t)a - b);
    return true;
  case NSR_CTL_MUL:
    *out = wrap((int64_t)a * b);
    return true;
  case NSR_CTL_AND:
    *out = a & b;
    return true;
  case NSR_CTL_OR:
    *out = a | b;
    return true;
  case NSR_CTL_XOR:
    *out = a ^ b;
    return true;
  case NSR_CTL_SHL:
    *out = (int32_t)(ua << n);
    return true;
  case NSR_CTL_SHR:
    *out = a < 0 ? ~(int32_t)(~ua >> n) : (int32_t)(ua >> n);
    return true;
  case NSR_CTL_REM:
    if (b == 0)
      return false;
    *out = b == -1 ? 0 : a % b;
    return true;
  case NSR_CTL_MIN:
    *out = a < b ? a : b;
    return true;
  case NSR_CTL_MAX:
    *out = a > b ? a : b;
    return true;
  default:
    return false;
  }
}

static bool compare(enum nsr_ctl op, int32_t a, int32_t b, int32_t *out) {
  switch (op) {
  case NSR_CTL_GT:
    *out = a > b;
    return true;
  case NSR_CTL_GE:
    *out = a >= b;
    return true;
  case NSR_CTL_LT:
    *out = a < b;
    return true;
  case NSR_CTL_LE:
    *out = a <= b;
    return true;
  case NSR_CTL_EQ:
    *out = a == b;
    return true;
  case NSR_CTL_NE:
    *out = a != b;
    return true;
  default:
    return fold(op, a, b, out);
  }
}

uint32_t nsr_form_period(const struct nsr_form *f) {
  return f->kind == NSR_FORM_PERIODIC ? f->period : 1;
}

static uint32_t gcd(uint32_t a, uint32_t b) {
  while (b) {
    uint32_t r = a % b;
    a = b;
    b = r;
  }
  return a;
}

uint32_t nsr_common_period(uint32_t a, uint32_t b) { return a / gcd(a, b) * b; }

/* Value by value over a common period; constants have period 1. */
static struct nsr_form pointwise(enum nsr_ctl op, const struct nsr_form *a,
                                 const struct nsr_form *b) {
  uint32_t period = nsr_common_period(nsr_form_period(a), nsr_form_period(b));
  struct nsr_form f = {.kind = NSR_FORM_PERIODIC, .period = (uint8_t)period};
  if (period > NSR_MAX_PERIOD)
    return unknown;
  for (uint32_t t = 0; t < period; t++)
    if (!compare(op, nsr_form_at(a, t), nsr_form_at(b, t), &f.values[t]))
      return unknown;
  return period == 1 ? constant(f.values[0]) : f;
}

/* a + step*t modulo m, for a and step >= 0. */
static struct nsr_form modulo(const struct nsr_form *a, int32_t m) {
  struct nsr_form f = {.kind = NSR_FORM_PERIODIC};
  if (m <= 0 || a->base < 0 || a->step < 0)
    return unknown;
  uint32_t period = (uint32_t)m / gcd((uint32_t)m, (uint32_t)a->step);
  if (period > NSR_MAX_PERIOD)
    return unknown;
  f.period = (uint8_t)period;
  for (uint32_t t = 0; t < period; t++)
    f.values[t] = (int32_t)(((int64_t)a->base + (int64_t)a->step * t) % m);
  return period == 1 ? constant(f.values[0]) : f;
}

/* a is affine or start-relative, k a constant. */
static struct nsr_form by_constant(enum nsr_ctl op, const struct nsr_form *a,
                                   int32_t k) {
  struct nsr_form f = *a;
  if (op == NSR_CTL_ADD || op == NSR_CTL_SUB) {
    f.base =
        wrap(op == NSR_CTL_ADD ? (int64_t)f.base + k : (int64_t)f.base - k);
    return f;
  }
  if (a->kind != NSR_FORM_AFFINE)
    return unknown;
  if (op == NSR_CTL_SHL && k >= 0 && k < 31) {
    op = NSR_CTL_MUL;
    k = (int32_t)1 << k;
  }
  if (op == NSR_CTL_MUL) {
    int64_t base = (int64_t)f.base * k, step = (int64_t)f.step * k;
    if (base != (int32_t)base || step != (int32_t)step)
      return unknown;
    f.base = (int32_t)base;
    f.step = (int32_t)step;
    return f;
  }
  if (op == NSR_CTL_REM)
    return modulo(a, k);
  if (op == NSR_CTL_AND && k >= 0 && k < INT32_MAX && (k & (k + 1)) == 0)
    return modulo(a, k + 1);
  return unknown;
}

static bool counts(const struct nsr_form *f) {
  return f->kind == NSR_FORM_AFFINE || f->kind == FORM_START;
}

static struct nsr_form combine(enum nsr_ctl op, const struct nsr_form *a,
                               const struct nsr_form *b) {
  if (a->kind == NSR_FORM_UNKNOWN || b->kind == NSR_FORM_UNKNOWN)
    return unknown;
  if (!counts(a) && !counts(b))
    return pointwise(op, a, b);
  if (counts(a) && b->kind == NSR_FORM_CONST)
    return by_constant(op, a, b->base);
  if (counts(b) && a->kind == NSR_FORM_CONST &&
      (op == NSR_CTL_ADD || op == NSR_CTL_MUL || op == NSR_CTL_AND))
    return by_constant(op, b, a->base);
  return unknown;
}

static struct nsr_form value_of(const struct nsr_form *env,
                                const struct nsr_val *v) {
  return v->is_reg ? env[v->v] : constant(v->v);
}

/* Applies an instruction to the registers. */
static void apply(struct nsr_form *env, const struct nsr_insn *x) {
  if (x->dst < 0)
    return;
  if (x->desc->cls != NSR_CONTROL || x->desc->ctl == NSR_CTL_SEL) {
    env[x->dst] = unknown;
    return;
  }
  struct nsr_form a = value_of(env, &x->a);
  if (x->desc->ctl != NSR_CTL_MOV) {
    struct nsr_form b = value_of(env, &x->b);
    a = combine(x->desc->ctl, &a, &b);
  }
  env[x->dst] = a;
}

/* ---- instructions of scopes */

static enum nsr_status decode(const struct build *b, uint32_t i,
                              struct nsr_insn *x) {
  const struct nsr_program *p = b->g->program;
  return nsr_stream_decode(b->ctx, p->k, p->stream[b->g->engine], i, x);
}

static void forget(const struct build *b, struct nsr_form *env,
                   const uint64_t *set) {
  for (uint32_t r = 0; r < b->nregs; r++)
    if (nsr_bit(set, r))
      env[r] = unknown;
}

/* ---- one round of an outermost loop */

static void clear_bits(const struct build *b, uint64_t *set) {
  memset(set, 0, nsr_bits_words(b->nregs) * sizeof *set);
}

/* Of a loop: its round, and (set) all registers that it sets. */
static enum nsr_status collect_round(struct build *b, uint32_t scope,
                                     uint32_t loop, uint64_t *set) {
  const struct nsr_cfg *g = b->g;
  const struct nsr_node *nodes = g->program->nodes[g->engine];
  struct round *r = &b->round;
  r->ops.n = 0;
  clear_bits(b, r->other);
  nsr_scopes_sets(b->t, scope, b->every, set, r->other);
  for (uint32_t i = 0; i < g->loops[loop].nblocks; i++) {
    uint32_t block = g->loops[loop].blocks[i];
    const struct nsr_block *k = &g->blocks[block];
    if (!b->every[block] || k->loop != loop)
      continue;
    for (uint32_t j = k->first; j < k->first + k->n; j++) {
      struct nsr_insn x;
      if (nodes[j].dst < 0 || nodes[j].cls != NSR_CONTROL)
        continue;
      NSR_TRY(decode(b, j, &x));
      NSR_PUSH(b->ctx, NSR_SCRATCH, &r->ops, x);
    }
  }
  return NSR_OK;
}

static void run_round(const struct build *b, const struct round *r,
                      struct nsr_form *env) {
  forget(b, env, r->other);
  for (size_t i = 0; i < r->ops.n; i++) {
    apply(env, &r->ops.v[i]);
    if (nsr_bit(r->other, (size_t)r->ops.v[i].dst))
      env[r->ops.v[i].dst] = unknown;
  }
}

/* Runs rounds from a constant until the register's value comes back. */
static struct nsr_form orbit(const struct build *b, const struct round *r,
                             const struct nsr_form *fixed, struct nsr_form *env,
                             uint32_t reg, int32_t start) {
  struct nsr_form f = {.kind = NSR_FORM_PERIODIC};
  int32_t v = start;
  for (uint32_t t = 0; t < NSR_MAX_PERIOD; t++) {
    f.values[t] = v;
    memcpy(env, fixed, b->nregs * sizeof *env);
    env[reg] = constant(v);
    run_round(b, r, env);
    if (env[reg].kind != NSR_FORM_CONST)
      return unknown;
    v = env[reg].base;
    if (v == start) {
      f.period = (uint8_t)(t + 1);
      return t == 0 ? constant(start) : f;
    }
  }
  return unknown;
}

/* env holds the registers in front of the loop, which sets those in set; makes
 * them those at the start of its t-th iteration. fixed, at: room. */
static void find_forms(struct build *b, const uint64_t *set,
                       struct nsr_form *env, struct nsr_form *fixed,
                       struct nsr_form *at, struct nsr_form *room) {
  const struct round *r = &b->round;
  size_t bytes = b->nregs * sizeof *env;
  memcpy(fixed, env, bytes);
  forget(b, fixed, set);
  memcpy(at, fixed, bytes);
  for (uint32_t q = 0; q < b->nregs; q++)
    if (nsr_bit(set, q))
      at[q] = (struct nsr_form){.kind = FORM_START, .step = (int32_t)q};
  run_round(b, r, at);
  for (uint32_t q = 0; q < b->nregs; q++) {
    if (!nsr_bit(set, q))
      continue;
    struct nsr_form start = env[q];
    env[q] = unknown;
    if (start.kind != NSR_FORM_CONST || nsr_bit(r->other, q))
      continue;
    if (at[q].kind == FORM_START && at[q].step == (int32_t)q)
      env[q] = (struct nsr_form){
          .kind = NSR_FORM_AFFINE, .base = start.base, .step = at[q].base};
    else
      env[q] = orbit(b, r, fixed, room, q, start.base);
  }
}

static uint32_t loop_of(const struct build *b, uint32_t scope) {
  return b->g->blocks[b->g->block_of[b->t->scopes[scope].entry]].loop;
}

static enum nsr_status enter_loop(struct build *b, uint32_t scope,
                                  uint64_t *set, struct nsr_form *env) {
  struct nsr_form *room[3];
  uint32_t loop = loop_of(b, scope);
  nsr_cfg_every(b->g, loop, b->every);
  NSR_TRY(collect_round(b, scope, loop, set));
  for (int i = 0; i < 3; i++)
    NSR_TAKE(&b->envs, room[i]);
  find_forms(b, set, env, room[0], room[1], room[2]);
  for (int i = 0; i < 3; i++)
    nsr_piece_give(&b->envs, room[i]);
  return NSR_OK;
}

/* ---- loops of one iteration */

/* The block behind another, NSR_NONE: nobody knows. */
static enum nsr_status next_block(const struct build *b, uint32_t block,
                                  const struct nsr_form *env, uint32_t *next) {
  static const uint8_t ops[] = {
      [NSR_CC_EQ] = NSR_CTL_EQ, [NSR_CC_NE] = NSR_CTL_NE,
      [NSR_CC_LT] = NSR_CTL_LT, [NSR_CC_LE] = NSR_CTL_LE,
      [NSR_CC_GT] = NSR_CTL_GT, [NSR_CC_GE] = NSR_CTL_GE};
  const struct nsr_block *k = &b->g->blocks[block];
  struct nsr_insn x;
  int32_t taken = 1;
  *next = k->succ[0];
  if (k->succ[1] == NSR_NONE)
    return NSR_OK;
  NSR_TRY(decode(b, k->first + k->n - 1, &x));
  struct nsr_form v = value_of(env, &x.a), w = value_of(env, &x.b);
  bool known = v.kind == NSR_FORM_CONST && w.kind == NSR_FORM_CONST &&
               compare((enum nsr_ctl)ops[x.cc], v.base, w.base, &taken);
  *next = known ? k->succ[!taken] : NSR_NONE;
  return NSR_OK;
}

static enum nsr_status run_block(const struct build *b, uint32_t block,
                                 struct nsr_form *env) {
  const struct nsr_block *k = &b->g->blocks[block];
  const struct nsr_node *nodes = b->g->program->nodes[b->g->engine];
  for (uint32_t i = k->first; i < k->first + k->n; i++) {
    struct nsr_insn x;
    if (nodes[i].dst < 0)
      continue;
    NSR_TRY(decode(b, i, &x));
    apply(env, &x);
  }
  return NSR_OK;
}

/* Follows the first iteration, and the header once more, from env in front of
 * the loop, as long as it is known where it goes and that is through no loop.
 */
static enum nsr_status count_back(struct build *b, uint32_t loop,
                                  const struct nsr_form *env, uint8_t *back) {
  const struct nsr_loop *l = &b->g->loops[loop];
  struct nsr_form *now;
  uint32_t at = l->header;
  uint8_t n = 0;
  NSR_TAKE(&b->envs, now);
  memcpy(now, env, b->nregs * sizeof *now);
  *back = NSR_MANY;
  for (uint32_t i = 0; i <= l->nblocks; i++) {
    NSR_TRY(run_block(b, at, now));
    NSR_TRY(next_block(b, at, now, &at));
    if (at == NSR_NONE || (n == 1 && nsr_cfg_in_loop(b->g, at, loop)))
      break;
    n += at == l->header;
    if (!nsr_cfg_in_loop(b->g, at, loop))
      *back = n;
    if (*back == n || b->g->blocks[at].loop != loop)
      break;
  }
  nsr_piece_give(&b->envs, now);
  return NSR_OK;
}

/* ---- the walk */

static enum nsr_status record(struct build *b, const struct nsr_form *env,
                              uint32_t i, const struct nsr_insn *x) {
  for (int o = 0; o < x->noperands; o++) {
    if (x->operands[o].reg < 0)
      continue;
    const struct nsr_form *f = &env[x->operands[o].reg];
    if (f->kind != NSR_FORM_UNKNOWN)
      NSR_APPEND(b->ctx, NSR_SCRATCH, &b->forms,
                 (struct nsr_operand_form){i, (uint8_t)o, *f});
  }
  return NSR_OK;
}

static enum nsr_status walk(struct build *b, uint32_t scope, bool in_loop,
                            struct nsr_form *env);

/* A nested scope; afterwards what it sets is unknown. */
static enum nsr_status walk_nested(struct build *b, uint32_t scope,
                                   bool in_loop, struct nsr_form *env) {
  const struct nsr_scope *s = &b->t->scopes[scope];
  bool loop = s->kind == NSR_SCOPE_LOOP;
  struct nsr_form *inner;
  uint64_t *set;
  NSR_TAKE(&b->envs, inner);
  NSR_TAKE(&b->bits, set);
  clear_bits(b, set);
  memcpy(inner, env, b->nregs * sizeof *env);
  if (loop)
    NSR_TRY(count_back(b, loop_of(b, scope), env, &b->back[scope]));
  if (loop && !in_loop)
    NSR_TRY(enter_loop(b, scope, set, inner));
  else
    nsr_scopes_sets(b->t, scope, NULL, set, NULL);
  if (loop && in_loop)
    forget(b, inner, set);
  if (s->kind != NSR_SCOPE_ISLAND) /* whose order is not that of its code */
    NSR_TRY(walk(b, scope, in_loop || loop, inner));
  forget(b, env, set);
  nsr_piece_give(&b->envs, inner);
  nsr_piece_give(&b->bits, set);
  return NSR_OK;
}

static enum nsr_status walk(struct build *b, uint32_t scope, bool in_loop,
                            struct nsr_form *env) {
  const struct nsr_scope *s = &b->t->scopes[scope];
  for (uint32_t i = 0; i < s->nitems; i++) {
    const struct nsr_item *it = &b->t->items[s->first_item + i];
    if (it->is_scope) {
      NSR_TRY(walk_nested(b, it->first, in_loop, env));
      continue;
    }
    for (uint32_t j = it->first; j < it->first + it->n; j++) {
      struct nsr_insn x;
      NSR_TRY(decode(b, j, &x));
      NSR_TRY(record(b, env, j, &x));
      apply(env, &x);
    }
  }
  return NSR_OK;
}

static int by_place(const void *a, const void *b) {
  const struct nsr_operand_form *x = a, *y = b;
  if (x->insn != y->insn)
    return x->insn < y->insn ? -1 : 1;
  return x->operand < y->operand ? -1 : x->operand > y->operand;
}

enum nsr_status nsr_values_build(struct nsr_ctx *ctx,
                                 const struct nsr_scopes *scopes,
                                 struct nsr_values *out) {
  struct build b = {.ctx = ctx,
                    .t = scopes,
                    .g = scopes->cfg,
                    .nregs = scopes->cfg->program->k->isa->registers};
  struct nsr_form *env;
  size_t bits = nsr_bits_words(b.nregs) * sizeof *b.round.other;
  b.envs = (struct nsr_pieces){
      .ctx = ctx, .arena = NSR_SCRATCH, .size = b.nregs * sizeof *env};
  b.bits = (struct nsr_pieces){.ctx = ctx, .arena = NSR_SCRATCH, .size = bits};
  NSR_NEW(ctx, NSR_SCRATCH, env, b.nregs);
  NSR_TAKE(&b.bits, b.round.other);
  NSR_NEW(ctx, NSR_SCRATCH, b.every, b.g->nblocks);
  NSR_NEW(ctx, NSR_SCRATCH, b.back, scopes->nscopes);
  memset(b.back, NSR_MANY, scopes->nscopes);
  NSR_TRY(walk(&b, 0, false, env));
  if (b.forms.n)
    qsort(b.forms.v, b.forms.n, sizeof *b.forms.v, by_place);
  *out = (struct nsr_values){.scopes = scopes,
                             .n = b.forms.n,
                             .forms = b.forms.v,
                             .every = b.every,
                             .back = b.back};
  return NSR_OK;
}

struct nsr_form nsr_values_form(const struct nsr_values *v, uint32_t insn,
                                int operand) {
  struct nsr_operand_form key = {.insn = insn, .operand = (uint8_t)operand};
  size_t lo = 0, hi = v->n;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    int c = by_place(&v->forms[mid], &key);
    if (c == 0)
      return v->forms[mid].form;
    if (c < 0)
      lo = mid + 1;
    else
      hi = mid;
  }
  return unknown;
}
