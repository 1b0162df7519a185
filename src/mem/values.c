/* values.c - abstract interpretation of register operations. */
#include "mem/values.h"

#include <stdlib.h>
#include <string.h>

#include "base/bitset.h"
#include "base/pieces.h"
#include "mem/rounds.h"

struct build {
  struct nsr_ctx *ctx;
  const struct nsr_scopes *t;
  const struct nsr_congruence *c;
  const struct nsr_cfg *g;
  const struct nsr_node *nodes; /* of the stream */
  const struct nsr_operation *operations;
  uint32_t nregs;
  struct nsr_pieces envs; /* a form by register, for some of them */
  struct nsr_pieces bits; /* a bit by register */
  struct nsr_round round; /* of the loop entered last */
  bool *every;
  bool *asked; /* by scope: addresses in registers, or loops, lie in it */
  uint8_t *back;
  uint8_t *leaves; /* by block: enum leaves, of the loop entered last */
  /* of the outermost loop around here */
  struct nsr_form *before;  /* in front of it: registers that it sets */
  struct nsr_form *entered; /* the same, of the loop entered last */
  uint32_t *sets;           /* by register: places in it that set it */
  uint32_t *own_sets;       /* .. and in the rounds of the loop entered last */
  NSR_VEC(struct nsr_operand_form) forms;
};

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
 * often as the loop's own barriers are passed. */
static void leave_counted(const struct build *b, uint32_t loop) {
  const struct nsr_loop *l = &b->g->loops[loop];
  enum leaves with = b->round.out == NSR_BARRED_ALL ? LEAVES_RUN : LEAVES_OUT;
  find_ways_out(b, loop);
  for (uint32_t i = 0; i < l->nblocks; i++)
    if (b->round.out == NSR_BARRED_SOME || b->leaves[l->blocks[i]] != with)
      b->every[l->blocks[i]] = false;
}

static void clear_bits(const struct build *b, uint64_t *set) {
  memset(set, 0, nsr_bits_words(b->nregs) * sizeof *set);
}

static uint32_t loop_of(const struct build *b, uint32_t scope) {
  return b->g->blocks[b->g->block_of[b->t->scopes[scope].entry]].loop;
}

/* An outermost loop begins. */
static void enter_nest(struct build *b, uint32_t scope, const uint64_t *set,
                       const struct nsr_form *env) {
  const struct nsr_node *nodes = b->nodes;
  nsr_forms_copy(b->before, env, b->nregs, set);
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
static void find_survivors(const struct build *b, struct nsr_form *env) {
  memset(b->own_sets, 0, b->nregs * sizeof *b->own_sets);
  for (size_t i = 0; i < b->round.steps.n; i++)
    if (b->round.steps.v[i].kind == NSR_STEP_OPERATION)
      b->own_sets[b->nodes[b->round.steps.v[i].insn].dst]++;
  for (size_t i = 0; i < b->round.set.n; i++) {
    uint32_t q = b->round.set.v[i];
    env[q] = b->own_sets[q] == b->sets[q] ? b->before[q] : nsr_form_unknown;
  }
}

/* Whether a register has no form over all trips, and the same value at each
 * entry. */
static bool any_trip(const struct build *b, const struct nsr_form *env) {
  for (size_t i = 0; i < b->round.set.n; i++) {
    uint32_t q = b->round.set.v[i];
    if (env[q].kind == NSR_FORM_UNKNOWN && b->entered[q].kind == NSR_FORM_CONST)
      return true;
  }
  return false;
}

/* What two ways make of some registers, exchanged. */
static void swap_forms(const struct build *b, const uint64_t *set,
                       struct nsr_form *one, struct nsr_form *other) {
  for (uint32_t q = nsr_bits_next(set, b->nregs, 0); q < b->nregs;
       q = nsr_bits_next(set, b->nregs, q + 1)) {
    struct nsr_form f = one[q];
    one[q] = other[q];
    other[q] = f;
  }
}

/* What is set in front of the loop counts from there, trip by trip. */
static void find_trips(struct build *b, uint32_t scope, const uint64_t *set,
                       struct nsr_form *env) {
  swap_forms(b, set, b->entered, env);
  nsr_round_forms(&b->round, scope, true, env);
  for (size_t i = 0; i < b->round.set.n; i++) {
    uint32_t q = b->round.set.v[i];
    if (b->entered[q].kind != NSR_FORM_UNKNOWN)
      env[q] = b->entered[q];
  }
}

/* A loop that nobody asks about what registers hold in it. */
static enum nsr_status pass_loop(struct build *b, uint32_t scope, bool in_loop,
                                 const uint64_t *set, struct nsr_form *env) {
  uint32_t loop = loop_of(b, scope);
  nsr_cfg_every(b->g, loop, b->every);
  if (!in_loop)
    return NSR_OK;
  NSR_TRY(nsr_round_collect(b->ctx, b->t, scope, true, set, &b->round));
  nsr_round_ways(&b->round, env);
  leave_counted(b, loop);
  return NSR_OK;
}

static enum nsr_status enter_loop(struct build *b, uint32_t scope, bool in_loop,
                                  const uint64_t *set, struct nsr_form *env) {
  uint32_t loop = loop_of(b, scope);
  NSR_TRY(nsr_round_collect(b->ctx, b->t, scope, in_loop, set, &b->round));
  nsr_forms_copy(b->entered, env, b->nregs, set);
  if (in_loop)
    find_survivors(b, env);
  else
    enter_nest(b, scope, set, env);
  nsr_round_forms(&b->round, scope, false, env);
  if (in_loop && any_trip(b, env))
    find_trips(b, scope, set, env);
  nsr_cfg_every(b->g, loop, b->every);
  if (in_loop)
    leave_counted(b, loop);
  return NSR_OK;
}

/* ---- loops of one iteration */

/* The block behind another, NSR_NONE: nobody knows. */
static uint32_t next_block(const struct build *b, uint32_t block,
                           const struct nsr_form *env) {
  const struct nsr_block *k = &b->g->blocks[block];
  if (k->succ[1] == NSR_NONE)
    return k->succ[0];
  struct nsr_form taken =
      nsr_form_taken(env, &b->operations[k->first + k->n - 1]);
  return taken.kind == NSR_FORM_CONST ? k->succ[!taken.base] : NSR_NONE;
}

static void run_block(const struct build *b, uint32_t block,
                      struct nsr_form *env) {
  const struct nsr_block *k = &b->g->blocks[block];
  for (uint32_t i = k->first; i < k->first + k->n; i++)
    nsr_forms_apply(env, &b->nodes[i], &b->operations[i]);
}

/* Follows the first iteration, and the header once more, from env in front of
 * the loop, which sets some registers, as long as it is known where it goes and
 * that is through no loop. */
static enum nsr_status count_back(struct build *b, uint32_t loop,
                                  const uint64_t *set, struct nsr_form *env,
                                  uint8_t *back) {
  const struct nsr_loop *l = &b->g->loops[loop];
  struct nsr_form *before;
  uint32_t at = l->header;
  uint8_t n = 0;
  NSR_TAKE(&b->envs, before);
  nsr_forms_copy(before, env, b->nregs, set);
  *back = NSR_MANY;
  for (uint32_t i = 0; i <= l->nblocks; i++) {
    run_block(b, at, env);
    at = next_block(b, at, env);
    if (at == NSR_NONE || (n == 1 && nsr_cfg_in_loop(b->g, at, loop)))
      break;
    n += at == l->header;
    if (!nsr_cfg_in_loop(b->g, at, loop))
      *back = n;
    if (*back == n || b->g->blocks[at].loop != loop)
      break;
  }
  nsr_forms_copy(env, before, b->nregs, set);
  nsr_piece_give(&b->envs, before);
  return NSR_OK;
}

/* ---- the walk */

/* Accesses in each iteration are in bounds in each: so none wraps between two
 * of them. Others may wrap where nobody sees it. */
static void limit(const struct build *b, uint32_t i, uint32_t loop,
                  struct nsr_form *f) {
  bool each = f->loop == loop && b->every[b->g->block_of[i]];
  if (f->kind != NSR_FORM_AFFINE || each)
    return;
  f->lasts = nsr_form_lasts(f);
  if (f->lasts < NSR_LASTS)
    *f = nsr_form_unknown;
}

/* loop: the innermost one around, NSR_NONE: none. */
static enum nsr_status record(struct build *b, const struct nsr_form *env,
                              uint32_t i, uint32_t loop) {
  const struct nsr_program *p = b->g->program;
  struct nsr_insn x;
  NSR_TRY(nsr_stream_decode(b->ctx, p->k, p->stream[b->g->engine], i, &x));
  for (int o = 0; o < x.noperands; o++) {
    if (x.operands[o].reg < 0)
      continue;
    struct nsr_form f = env[x.operands[o].reg];
    limit(b, i, loop, &f);
    if (f.kind != NSR_FORM_UNKNOWN)
      NSR_APPEND(b->ctx, NSR_SCRATCH, &b->forms,
                 (struct nsr_operand_form){i, (uint8_t)o, f});
  }
  return NSR_OK;
}

/* loop: the innermost one around, NSR_NONE: none. */
static enum nsr_status walk(struct build *b, uint32_t scope, uint32_t loop,
                            struct nsr_form *env);

/* A branch in front of arms. */
struct test {
  uint32_t target;
  struct nsr_form taken;
};

/* A nested loop, or code without structure; afterwards what it sets is
 * unknown. */
static enum nsr_status walk_nested(struct build *b, uint32_t scope,
                                   uint32_t loop, struct nsr_form *env) {
  uint64_t *set;
  NSR_TAKE(&b->bits, set);
  clear_bits(b, set);
  nsr_scopes_sets(b->t, scope, set);
  if (b->t->scopes[scope].kind == NSR_SCOPE_LOOP) {
    bool in_loop = loop != NSR_NONE;
    NSR_TRY(count_back(b, loop_of(b, scope), set, env, &b->back[scope]));
    NSR_TRY(b->asked[scope] ? enter_loop(b, scope, in_loop, set, env)
                            : pass_loop(b, scope, in_loop, set, env));
    if (b->asked[scope])
      NSR_TRY(walk(b, scope, scope, env));
  }
  nsr_forms_forget(env, b->nregs, set);
  nsr_piece_give(&b->bits, set);
  return NSR_OK;
}

/* One arm or two of a branch; afterwards what they set is what the branch
 * chooses. */
static enum nsr_status walk_arms(struct build *b, const struct nsr_item *it,
                                 bool two, uint32_t loop,
                                 const struct test *test,
                                 struct nsr_form *env) {
  struct nsr_form *one;
  uint64_t *set;
  NSR_TAKE(&b->envs, one);
  NSR_TAKE(&b->bits, set);
  clear_bits(b, set);
  nsr_scopes_sets(b->t, it[0].first, set);
  if (two)
    nsr_scopes_sets(b->t, it[1].first, set);
  nsr_forms_copy(one, env, b->nregs, set);
  NSR_TRY(walk(b, it[0].first, loop, env));
  swap_forms(b, set, one, env); /* env: in front of the arms */
  if (two)
    NSR_TRY(walk(b, it[1].first, loop, env));
  bool target = test->target == b->t->scopes[it[0].first].entry;
  for (uint32_t q = nsr_bits_next(set, b->nregs, 0); q < b->nregs;
       q = nsr_bits_next(set, b->nregs, q + 1))
    env[q] = nsr_form_choose(&test->taken, target ? &one[q] : &env[q],
                             target ? &env[q] : &one[q]);
  nsr_piece_give(&b->envs, one);
  nsr_piece_give(&b->bits, set);
  return NSR_OK;
}

static enum nsr_status walk_piece(struct build *b, const struct nsr_item *it,
                                  uint32_t loop, struct test *test,
                                  struct nsr_form *env) {
  test->taken = nsr_form_unknown;
  for (uint32_t j = it->first; j < it->first + it->n; j++) {
    const struct nsr_node *n = &b->nodes[j];
    if (n->addressed)
      NSR_TRY(record(b, env, j, loop));
    nsr_forms_apply(env, n, &b->operations[j]);
    const struct nsr_key_load *load =
        n->cls == NSR_LOAD ? nsr_congruence_load(b->c, b->g->engine, j) : NULL;
    if (load)
      env[n->dst] = nsr_form_loaded(load->number, loop);
    if (n->ctl == NSR_CTL_BR && !n->always)
      *test = (struct test){(uint32_t)n->aux,
                            nsr_form_taken(env, &b->operations[j])};
  }
  return NSR_OK;
}

static enum nsr_status walk(struct build *b, uint32_t scope, uint32_t loop,
                            struct nsr_form *env) {
  const struct nsr_scope *s = &b->t->scopes[scope];
  struct test test = {NSR_NONE, nsr_form_unknown};
  for (uint32_t i = 0; i < s->nitems; i++) {
    const struct nsr_item *it = &b->t->items[s->first_item + i];
    if (!it->is_scope) {
      NSR_TRY(walk_piece(b, it, loop, &test, env));
    } else if (b->t->scopes[it->first].kind != NSR_SCOPE_ARM) {
      NSR_TRY(walk_nested(b, it->first, loop, env));
    } else {
      bool two = nsr_scopes_two_arms(b->t, s, i);
      NSR_TRY(walk_arms(b, it, two, loop, &test, env));
      i += two;
    }
  }
  return NSR_OK;
}

static enum nsr_status find_asked(struct build *b) {
  const struct nsr_scopes *t = b->t;
  NSR_NEW(b->ctx, NSR_SCRATCH, b->asked, t->nscopes);
  for (uint32_t s = t->nscopes; s-- > 0;) {
    const struct nsr_scope *x = &t->scopes[s];
    for (uint32_t i = 0; i < x->nitems; i++) {
      const struct nsr_item *it = &t->items[x->first_item + i];
      for (uint32_t j = it->first; !it->is_scope && j < it->first + it->n; j++)
        b->asked[s] |= b->nodes[j].addressed;
    }
    if (x->parent != NSR_NONE)
      b->asked[x->parent] |= b->asked[s] || x->kind == NSR_SCOPE_LOOP;
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
                                 const struct nsr_congruence *c,
                                 struct nsr_values *out) {
  const struct nsr_program *p = scopes->cfg->program;
  struct build b = {.ctx = ctx,
                    .t = scopes,
                    .c = c,
                    .g = scopes->cfg,
                    .nodes = p->nodes[scopes->cfg->engine],
                    .operations = p->operations[scopes->cfg->engine],
                    .nregs = p->k->isa->registers};
  struct nsr_form *env;
  struct nsr_mark mark = nsr_scratch_mark(ctx);
  size_t bits = nsr_bits_words(b.nregs) * sizeof(uint64_t);
  b.envs = (struct nsr_pieces){
      .ctx = ctx, .arena = NSR_SCRATCH, .size = b.nregs * sizeof *env};
  b.bits = (struct nsr_pieces){.ctx = ctx, .arena = NSR_SCRATCH, .size = bits};
  NSR_NEW(ctx, NSR_SCRATCH, env, b.nregs);
  NSR_NEW(ctx, NSR_SCRATCH, b.before, b.nregs);
  NSR_NEW(ctx, NSR_SCRATCH, b.entered, b.nregs);
  NSR_NEW(ctx, NSR_SCRATCH, b.sets, b.nregs);
  NSR_NEW(ctx, NSR_SCRATCH, b.own_sets, b.nregs);
  NSR_NEW(ctx, NSR_SCRATCH, b.leaves, b.g->nblocks);
  for (uint32_t q = 0; q < b.nregs; q++)
    env[q] = nsr_form_unknown;
  NSR_TRY(nsr_round_init(ctx, b.nregs, &b.round));
  NSR_NEW(ctx, NSR_SCRATCH, b.every, b.g->nblocks);
  NSR_NEW(ctx, NSR_SCRATCH, b.back, scopes->nscopes);
  memset(b.back, NSR_MANY, scopes->nscopes);
  NSR_TRY(find_asked(&b));
  NSR_TRY(walk(&b, 0, NSR_NONE, env));
  if (b.forms.n)
    qsort(b.forms.v, b.forms.n, sizeof *b.forms.v, by_place);
  struct nsr_kept kept[] = {{b.forms.v, b.forms.n * sizeof *b.forms.v},
                            {b.every, b.g->nblocks * sizeof *b.every},
                            {b.back, scopes->nscopes * sizeof *b.back}};
  NSR_TRY(nsr_scratch_release_but(ctx, mark, kept, 3));
  *out = (struct nsr_values){.scopes = scopes,
                             .n = b.forms.n,
                             .forms = kept[0].p,
                             .every = kept[1].p,
                             .back = kept[2].p};
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
