/* values.c - abstract interpretation of register operations. */
#include "mem/values.h"

#include <stdlib.h>
#include <string.h>

#include "base/bitset.h"
#include "base/pieces.h"
#include "base/vec.h"

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
  struct round round;     /* of the loop entered last */
  bool *every;
  uint8_t *back;
  uint8_t *leaves; /* by block: enum leaves, of the loop entered last */
  /* of the outermost loop around here */
  struct nsr_form *before; /* registers in front of it */
  uint32_t *sets;          /* by register: places in it that set it */
  uint32_t *own_sets;      /* .. and in the rounds of the loop entered last */
  NSR_VEC(struct nsr_operand_form) forms;
};

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
      env[r] = nsr_form_unknown;
}

/* ---- one round of a loop */

/* What the iteration that leaves a loop does with a block of it. A loop that is
 * entered again and again counts on where it was left, so its registers must
 * be advanced as often as its barrier is passed: on all engines that is as
 * often. */
enum leaves { LEAVES_OUT, LEAVES_SOMETIMES, LEAVES_RUN };

/* Marks the dominators of a block; returns the first one that is marked so
 * already, or the header. */
static uint32_t mark_way_out(const struct build *b, uint32_t header,
                             uint32_t block, enum leaves mark) {
  uint32_t a = block;
  while (b->leaves[a] < mark) {
    b->leaves[a] = (uint8_t)mark;
    if (a == header)
      break;
    a = b->g->blocks[a].idom;
  }
  return a;
}

static bool is_left_from(const struct nsr_cfg *g, uint32_t block,
                         uint32_t loop) {
  for (int i = 0; i < 2; i++) {
    uint32_t to = g->blocks[block].succ[i];
    if (to != NSR_NONE && !nsr_cfg_in_loop(g, to, loop))
      return true;
  }
  return false;
}

static void find_ways_out(const struct build *b, uint32_t loop) {
  const struct nsr_loop *l = &b->g->loops[loop];
  uint32_t all = NSR_NONE; /* the nearest dominator of all that leave it */
  for (uint32_t i = 0; i < l->nblocks; i++)
    b->leaves[l->blocks[i]] = LEAVES_OUT;
  for (uint32_t i = 0; i < l->nblocks; i++) {
    uint32_t x = l->blocks[i];
    if (!is_left_from(b->g, x, loop))
      continue;
    uint32_t met = mark_way_out(b, l->header, x, LEAVES_SOMETIMES);
    if (all == NSR_NONE)
      all = x;
    else if (b->g->blocks[met].rpo < b->g->blocks[all].rpo)
      all = met;
  }
  if (all != NSR_NONE)
    mark_way_out(b, l->header, all, LEAVES_RUN);
}

/* Of the blocks that run in each completed iteration, leaves those that run as
 * often as the loop's own barrier, the one with the smallest id. */
static void leave_counted(const struct build *b, uint32_t loop) {
  const struct nsr_cfg *g = b->g;
  const struct nsr_loop *l = &g->loops[loop];
  const struct nsr_node *nodes = g->program->nodes[g->engine];
  enum leaves with = LEAVES_SOMETIMES;
  int32_t id = INT32_MAX;
  find_ways_out(b, loop);
  for (uint32_t i = 0; i < l->nblocks; i++) {
    const struct nsr_block *k = &g->blocks[l->blocks[i]];
    if (k->loop != loop)
      continue;
    for (uint32_t j = k->first; j < k->first + k->n; j++)
      if (nodes[j].cls == NSR_BARRIER && nodes[j].aux < id) {
        id = nodes[j].aux;
        with =
            b->every[l->blocks[i]] ? b->leaves[l->blocks[i]] : LEAVES_SOMETIMES;
      }
  }
  for (uint32_t i = 0; i < l->nblocks; i++)
    if (with == LEAVES_SOMETIMES || b->leaves[l->blocks[i]] != with)
      b->every[l->blocks[i]] = false;
}

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
    nsr_forms_apply(env, &r->ops.v[i]);
    if (nsr_bit(r->other, (size_t)r->ops.v[i].dst))
      env[r->ops.v[i].dst] = nsr_form_unknown;
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
    env[reg] = nsr_form_constant(v);
    run_round(b, r, env);
    if (env[reg].kind != NSR_FORM_CONST)
      return nsr_form_unknown;
    v = env[reg].base;
    if (v == start) {
      f.period = (uint8_t)(t + 1);
      return t == 0 ? nsr_form_constant(start) : f;
    }
  }
  return nsr_form_unknown;
}

/* env holds the registers in front of the loop, which sets those in set; makes
 * them those at the start of its t-th iteration. fixed, at: room. */
static void find_forms(struct build *b, uint32_t scope, const uint64_t *set,
                       struct nsr_form *env, struct nsr_form *fixed,
                       struct nsr_form *at, struct nsr_form *room) {
  const struct round *r = &b->round;
  size_t bytes = b->nregs * sizeof *env;
  memcpy(fixed, env, bytes);
  forget(b, fixed, set);
  memcpy(at, fixed, bytes);
  for (uint32_t q = 0; q < b->nregs; q++)
    if (nsr_bit(set, q))
      at[q] = (struct nsr_form){
          .kind = NSR_FORM_START, .step = (int32_t)q, .loop = NSR_NONE};
  run_round(b, r, at);
  for (uint32_t q = 0; q < b->nregs; q++) {
    if (!nsr_bit(set, q))
      continue;
    struct nsr_form start = env[q];
    env[q] = nsr_form_unknown;
    if (start.kind != NSR_FORM_CONST || nsr_bit(r->other, q))
      continue;
    if (at[q].kind == NSR_FORM_START && at[q].step == (int32_t)q)
      env[q] = (struct nsr_form){
          .kind = NSR_FORM_AFFINE, .base = start.base, .step = at[q].base};
    else
      env[q] = orbit(b, r, fixed, room, q, start.base);
    env[q].loop = nsr_form_counts(&env[q]) || env[q].kind == NSR_FORM_PERIODIC
                      ? scope
                      : NSR_NONE;
  }
}

static uint32_t loop_of(const struct build *b, uint32_t scope) {
  return b->g->blocks[b->g->block_of[b->t->scopes[scope].entry]].loop;
}

/* An outermost loop begins. */
static void enter_nest(struct build *b, uint32_t scope,
                       const struct nsr_form *env) {
  const struct nsr_node *nodes = b->g->program->nodes[b->g->engine];
  memcpy(b->before, env, b->nregs * sizeof *env);
  memset(b->sets, 0, b->nregs * sizeof *b->sets);
  for (uint32_t s = scope; s <= b->t->scopes[scope].last; s++)
    for (uint32_t i = 0; i < b->t->scopes[s].nitems; i++) {
      const struct nsr_item *it = &b->t->items[b->t->scopes[s].first_item + i];
      for (uint32_t j = it->first; !it->is_scope && j < it->first + it->n; j++)
        if (nodes[j].dst >= 0)
          b->sets[nodes[j].dst]++;
    }
}

/* In front of a loop inside others. What only its own rounds set survives
 * between its trips: it is as if they followed each other from the start of
 * the outermost loop on. */
static void find_survivors(const struct build *b, const uint64_t *set,
                           struct nsr_form *env) {
  memset(b->own_sets, 0, b->nregs * sizeof *b->own_sets);
  for (size_t i = 0; i < b->round.ops.n; i++)
    b->own_sets[b->round.ops.v[i].dst]++;
  for (uint32_t q = 0; q < b->nregs; q++)
    if (nsr_bit(set, q))
      env[q] = b->own_sets[q] == b->sets[q] ? b->before[q] : nsr_form_unknown;
}

static enum nsr_status enter_loop(struct build *b, uint32_t scope, bool in_loop,
                                  uint64_t *set, struct nsr_form *env) {
  struct nsr_form *room[3];
  uint32_t loop = loop_of(b, scope);
  nsr_cfg_every(b->g, loop, b->every);
  if (in_loop)
    leave_counted(b, loop);
  else
    enter_nest(b, scope, env);
  NSR_TRY(collect_round(b, scope, loop, set));
  if (in_loop)
    find_survivors(b, set, env);
  for (int i = 0; i < 3; i++)
    NSR_TAKE(&b->envs, room[i]);
  find_forms(b, scope, set, env, room[0], room[1], room[2]);
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
  struct nsr_form v = nsr_form_of_value(env, &x.a),
                  w = nsr_form_of_value(env, &x.b);
  bool known = v.kind == NSR_FORM_CONST && w.kind == NSR_FORM_CONST &&
               nsr_ctl_value((enum nsr_ctl)ops[x.cc], v.base, w.base, &taken);
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
    nsr_forms_apply(env, &x);
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
  if (loop)
    NSR_TRY(enter_loop(b, scope, in_loop, set, inner));
  else
    nsr_scopes_sets(b->t, scope, NULL, set, NULL);
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
      nsr_forms_apply(env, &x);
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
  NSR_NEW(ctx, NSR_SCRATCH, b.before, b.nregs);
  NSR_NEW(ctx, NSR_SCRATCH, b.sets, b.nregs);
  NSR_NEW(ctx, NSR_SCRATCH, b.own_sets, b.nregs);
  NSR_NEW(ctx, NSR_SCRATCH, b.leaves, b.g->nblocks);
  for (uint32_t q = 0; q < b.nregs; q++)
    env[q] = nsr_form_unknown;
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
  return nsr_form_unknown;
}
