/* congruence.c - value numbers over (engine, register). */
#include "ir/congruence.h"

#include <string.h>

#include "base/bitset.h"
#include "base/pieces.h"
#include "base/vec.h"
#include "base/work.h"
#include "ir/key_nodes.h"

struct slot {
  uint32_t hash;
  uint32_t node; /* + 1, 0: free */
};

/* A constant that was asked for, as most are again. */
struct recent {
  int32_t v;
  uint32_t number; /* 0: none yet */
};
enum { RECENT = 64 };

struct numbers {
  struct nsr_ctx *ctx;
  const struct nsr_key_loads *doubts;
  NSR_VEC(struct nsr_key_node) nodes;
  NSR_VEC(bool) known;    /* by node: nothing unknown goes into it */
  uint32_t *memo, *stamp; /* by node: of substitution number `turn` */
  size_t nmemo;
  uint32_t turn;
  struct slot *slots; /* open addressing */
  size_t nslots, nused;
  NSR_VEC(struct nsr_key_load) loads;
  struct recent constants[RECENT]; /* by the value's last digits */
  bool failed;                     /* out of memory */
};

/* One engine while it is walked. */
struct walk {
  struct numbers *n;
  const struct nsr_scopes *t;
  const struct nsr_cfg *g;
  const struct nsr_node *nodes; /* of its stream */
  const struct nsr_operation *operations;
  uint32_t nregs;
  struct nsr_pieces envs; /* a number by register */
  uint32_t region;
  uint32_t places; /* barriers and scopes with one so far: engines pass the
                      same in the same order, or the kernel is refused */
  bool *every;     /* by block: for one loop at a time */
  uint32_t *test;  /* by block: predicate on which its branch is taken */
};

/* A body while it is walked. */
struct body {
  uint32_t scope, next; /* next: of its items */
  uint32_t *env;        /* a number by register */
  uint32_t *before;     /* .. behind its latest branch */
  uint32_t branch;
};

/* ---- nodes */

static uint32_t hash(const struct nsr_key_node *x) {
  uint64_t h = UINT64_C(0x9e3779b97f4a7c15) * (x->kind + 1);
  h = (h ^ x->a) * UINT64_C(0xbf58476d1ce4e5b9);
  h = (h ^ x->b ^ (h >> 29)) * UINT64_C(0x94d049bb133111eb);
  h = (h ^ x->c ^ (h >> 31)) * UINT64_C(0xbf58476d1ce4e5b9);
  return (uint32_t)(h ^ (h >> 32));
}

/* Whether a slot holds the node. Only those of equal hashes are looked at. */
static bool holds(const struct numbers *n, const struct slot *s,
                  const struct nsr_key_node *x, uint32_t h) {
  return s->hash == h && memcmp(&n->nodes.v[s->node - 1], x, sizeof *x) == 0;
}

/* The node's slot, or a free one: among a few by the newest of what it is made
 * of, so that what is made at one time is near, else anywhere by its hash. */
static size_t find_slot(const struct numbers *n, const struct nsr_key_node *x,
                        uint32_t h) {
  enum { SPREAD = 8, NEAR = 8 };
  uint32_t newest = x->a > x->b ? x->a : x->b;
  newest = newest > x->c ? newest : x->c;
  size_t s = 2 * (size_t)newest + h % SPREAD;
  for (int i = 0; i < NEAR; i++, s++) {
    s &= n->nslots - 1;
    if (!n->slots[s].node || holds(n, &n->slots[s], x, h))
      return s;
  }
  s = h & (n->nslots - 1);
  while (n->slots[s].node && !holds(n, &n->slots[s], x, h))
    s = (s + 1) & (n->nslots - 1);
  return s;
}

static enum nsr_status resize(struct numbers *n, size_t size) {
  nsr_drop(n->ctx, NSR_SCRATCH, n->slots);
  NSR_NEW(n->ctx, NSR_SCRATCH, n->slots, size);
  n->nslots = size;
  for (uint32_t i = 0; i < n->nodes.n; i++) { /* all different */
    const struct nsr_key_node *x = &n->nodes.v[i];
    uint32_t h = hash(x);
    if (x->kind != NSR_KEY_UNIQUE)
      n->slots[find_slot(n, x, h)] = (struct slot){h, i + 1};
  }
  return NSR_OK;
}

static bool is_known(const struct numbers *n, const struct nsr_key_node *x) {
  const bool *known = n->known.v;
  switch (x->kind) {
  case NSR_KEY_UNIQUE:
  case NSR_KEY_START:
    return false;
  case NSR_KEY_CONSTANT:
  case NSR_KEY_SELF:
  case NSR_KEY_WORD:
  case NSR_KEY_REGION:
    return true;
  case NSR_KEY_LOAD:
    return known[x->b];
  case NSR_KEY_TEST:
  case NSR_KEY_PHI:
    return known[x->b] && known[x->c];
  case NSR_KEY_EXIT:
    return known[x->a];
  default:
    return known[x->a] && known[x->b] && known[x->c];
  }
}

static enum nsr_status push_node(struct numbers *n,
                                 const struct nsr_key_node *x) {
  NSR_APPEND(n->ctx, NSR_SCRATCH, &n->known, is_known(n, x));
  NSR_APPEND(n->ctx, NSR_SCRATCH, &n->nodes, *x);
  return NSR_OK;
}

static enum nsr_status intern(struct numbers *n, struct nsr_key_node x,
                              uint32_t *out) {
  if (x.kind == NSR_KEY_UNIQUE) { /* nobody looks for it */
    *out = (uint32_t)n->nodes.n;
    return push_node(n, &x);
  }
  if (2 * (n->nused + 1) > n->nslots)
    NSR_TRY(resize(n, 2 * n->nslots));
  uint32_t h = hash(&x);
  struct slot *slot = &n->slots[find_slot(n, &x, h)];
  if (!slot->node) {
    NSR_TRY(push_node(n, &x));
    n->nused++;
    *slot = (struct slot){h, (uint32_t)n->nodes.n};
  }
  *out = slot->node - 1;
  return NSR_OK;
}

/* A node's number; 0, the first unknown, once memory is short. */
static uint32_t make(struct numbers *n, uint32_t kind, uint32_t a, uint32_t b,
                     uint32_t c) {
  uint32_t number = 0;
  nsr_work_count(n->ctx, NSR_WORK_IR, 1);
  if (!n->failed &&
      intern(n, (struct nsr_key_node){kind, a, b, c}, &number) != NSR_OK)
    n->failed = true;
  return number;
}

static uint32_t unknown(struct numbers *n) {
  return make(n, NSR_KEY_UNIQUE, (uint32_t)n->nodes.n, 0, 0);
}

static uint32_t constant(struct numbers *n, int32_t v) {
  struct recent *x = &n->constants[(uint32_t)v % RECENT];
  if (!x->number || x->v != v)
    *x = (struct recent){v, make(n, NSR_KEY_CONSTANT, (uint32_t)v, 0, 0)};
  return x->number;
}

/* ---- operations */

static bool commutes(enum nsr_ctl op) {
  switch (op) {
  case NSR_CTL_ADD:
  case NSR_CTL_MUL:
  case NSR_CTL_AND:
  case NSR_CTL_OR:
  case NSR_CTL_XOR:
  case NSR_CTL_MIN:
  case NSR_CTL_MAX:
  case NSR_CTL_EQ:
  case NSR_CTL_NE:
    return true;
  default:
    return false;
  }
}

/* Operands of what commutes in the order of their numbers. */
static uint32_t make_operation(struct numbers *n, enum nsr_ctl op, uint32_t a,
                               uint32_t b, uint32_t c) {
  bool swap = commutes(op) && a > b;
  return make(n, NSR_KEY_OPERATION + op, swap ? b : a, swap ? a : b, c);
}

/* ---- instructions */

static uint32_t value_of(struct walk *w, const uint32_t *env,
                         const struct nsr_val *v) {
  return v->is_reg ? env[v->v] : constant(w->n, v->v);
}

/* The bytes an operand names, its address register apart. */
static uint32_t word_of(struct walk *w, const struct nsr_operand *o) {
  uint32_t place = make(w->n, NSR_KEY_WORD, o->space, o->part,
                        (uint32_t)(uint64_t)o->offset);
  place = make(w->n, NSR_KEY_WORD, place, (uint32_t)((uint64_t)o->offset >> 32),
               o->dtype);
  return make(w->n, NSR_KEY_WORD, place, o->ndims, o->nparts);
}

static enum nsr_status load(struct walk *w, uint32_t *env, uint32_t i) {
  const struct nsr_program *p = w->g->program;
  struct nsr_insn x;
  NSR_TRY(nsr_stream_decode(w->n->ctx, p->k, p->stream[w->g->engine], i, &x));
  const struct nsr_operand *o = &x.operands[0];
  uint32_t address = o->reg < 0 ? constant(w->n, 0) : env[o->reg], number;
  if (nsr_key_loads_find(w->n->doubts->v, w->n->doubts->n, w->g->engine, i))
    number = unknown(w->n);
  else
    number = make(w->n, NSR_KEY_LOAD, word_of(w, o), address, w->region);
  env[x.dst] = number;
  NSR_PUSH(w->n->ctx, NSR_SCRATCH, &w->n->loads,
           (struct nsr_key_load){
               .engine = (uint8_t)w->g->engine, .insn = i, .number = number});
  return NSR_OK;
}

static void operate(struct walk *w, uint32_t *env, uint32_t i) {
  const struct nsr_node *n = &w->nodes[i];
  const struct nsr_operation *x = &w->operations[i];
  uint32_t a = value_of(w, env, &x->a), b = value_of(w, env, &x->b);
  uint32_t c = x->cond >= 0 ? env[x->cond] : constant(w->n, 0);
  env[n->dst] = n->ctl == NSR_CTL_MOV
                    ? a
                    : make_operation(w->n, (enum nsr_ctl)n->ctl, a, b, c);
}

/* The predicate on which a branch is taken, in one of four conditions. */
static uint32_t predicate(struct walk *w, const uint32_t *env,
                          const struct nsr_operation *x) {
  uint32_t a = value_of(w, env, &x->a), b = value_of(w, env, &x->b);
  uint32_t cc = x->cc;
  if (cc == NSR_CC_ALWAYS)
    return 0;
  bool swap = cc == NSR_CC_GT || cc == NSR_CC_GE ||
              ((cc == NSR_CC_EQ || cc == NSR_CC_NE) && a > b);
  if (cc == NSR_CC_GT || cc == NSR_CC_GE)
    cc = cc == NSR_CC_GT ? NSR_CC_LT : NSR_CC_LE;
  return make(w->n, NSR_KEY_TEST, cc, swap ? b : a, swap ? a : b);
}

/* a < b is not b <= a, a = b is not a != b. */
static uint32_t negated(struct walk *w, uint32_t test) {
  struct nsr_key_node x = w->n->nodes.v[test];
  if (x.kind != NSR_KEY_TEST)
    return test;
  switch (x.a) {
  case NSR_CC_LT:
    return make(w->n, NSR_KEY_TEST, NSR_CC_LE, x.c, x.b);
  case NSR_CC_LE:
    return make(w->n, NSR_KEY_TEST, NSR_CC_LT, x.c, x.b);
  default:
    return make(w->n, NSR_KEY_TEST, x.a == NSR_CC_EQ ? NSR_CC_NE : NSR_CC_EQ,
                x.b, x.c);
  }
}

static enum nsr_status apply(struct walk *w, uint32_t *env, uint32_t i) {
  const struct nsr_node *node = &w->nodes[i];
  if (node->cls == NSR_LOAD)
    return load(w, env, i);
  if (node->cls == NSR_BARRIER)
    w->region = make(w->n, NSR_KEY_REGION, 0, w->places++, 0);
  else if (node->ctl == NSR_CTL_BR)
    w->test[w->g->block_of[i]] = predicate(w, env, &w->operations[i]);
  else if (node->cls == NSR_CONTROL && node->dst >= 0)
    operate(w, env, i);
  return NSR_OK;
}

static void forget(const struct walk *w, const uint64_t *set, uint32_t *env) {
  for (uint32_t r = nsr_bits_next(set, w->nregs, 0); r < w->nregs;
       r = nsr_bits_next(set, w->nregs, r + 1))
    env[r] = unknown(w->n);
}

/* ---- loops */

static const struct nsr_loop *loop_of(const struct walk *w, uint32_t scope) {
  uint32_t header = w->g->block_of[w->t->scopes[scope].entry];
  return &w->g->loops[w->g->blocks[header].loop];
}

/* Runs the operations of one iteration that run in all. */
static void run_round(struct walk *w, uint32_t scope, const bool *every,
                      const uint64_t *odd, uint32_t *env) {
  const struct nsr_loop *l = loop_of(w, scope);
  for (uint32_t i = 0; i < l->nblocks; i++) {
    uint32_t b = l->blocks[i];
    if (!every[b])
      continue;
    const struct nsr_block *k = &w->g->blocks[b];
    for (uint32_t j = k->first; j < k->first + k->n; j++) {
      const struct nsr_node *node = &w->nodes[j];
      if (node->dst < 0 || node->cls != NSR_CONTROL)
        continue;
      operate(w, env, j);
      if (nsr_bit(odd, (size_t)node->dst))
        env[node->dst] = unknown(w->n);
    }
  }
}

/* A step being rewritten. */
struct step {
  struct numbers *n;
  uint32_t self;
  const uint32_t *phi; /* by register, 0: none yet */
  bool good;
};

enum { MAX_DEPTH = 64 };

/* The step with its own start as NSR_KEY_SELF and the starts of others by their
 * numbers; good turns false where one of those has none yet. */
static uint32_t substitute(struct step *s, uint32_t number, int depth) {
  struct numbers *n = s->n;
  struct nsr_key_node x = n->nodes.v[number];
  if (depth == 0 || x.kind == NSR_KEY_UNIQUE || x.kind == NSR_KEY_TEST)
    s->good = false;
  if (x.kind == NSR_KEY_START && x.a != s->self)
    s->good &= s->phi[x.a] != 0;
  if (!s->good)
    return number;
  if (x.kind == NSR_KEY_START)
    return x.a == s->self ? make(n, NSR_KEY_SELF, 0, 0, 0) : s->phi[x.a];
  if (x.kind != NSR_KEY_JOIN && x.kind < NSR_KEY_OPERATION)
    return number;
  if (number < n->nmemo && n->stamp[number] == n->turn)
    return n->memo[number];
  uint32_t a = substitute(s, x.a, depth - 1);
  uint32_t b = substitute(s, x.b, depth - 1);
  uint32_t c = substitute(s, x.c, depth - 1);
  uint32_t out =
      x.kind == NSR_KEY_JOIN
          ? make(n, NSR_KEY_JOIN, a, b, c)
          : make_operation(n, (enum nsr_ctl)(x.kind - NSR_KEY_OPERATION), a, b,
                           c);
  if (number < n->nmemo) {
    n->stamp[number] = n->turn;
    n->memo[number] = out;
  }
  return out;
}

/* Starts a substitution: room to remember all nodes there are. */
static enum nsr_status start_step(struct numbers *n) {
  n->turn++;
  if (n->nmemo >= n->nodes.n)
    return NSR_OK;
  n->nmemo = 2 * n->nodes.n;
  nsr_drop(n->ctx, NSR_SCRATCH, n->memo);
  nsr_drop(n->ctx, NSR_SCRATCH, n->stamp);
  NSR_NEW(n->ctx, NSR_SCRATCH, n->memo, n->nmemo);
  NSR_NEW(n->ctx, NSR_SCRATCH, n->stamp, n->nmemo);
  n->turn = 1;
  return NSR_OK;
}

/* What tells a loop from others: where it stands among the barriers, if it
 * has one, and its depth. */
static uint32_t loop_name(struct walk *w, uint32_t scope) {
  uint32_t loops = 0;
  for (uint32_t s = scope; s != NSR_NONE; s = w->t->scopes[s].parent)
    loops += w->t->scopes[s].kind == NSR_SCOPE_LOOP;
  uint32_t place = w->t->scopes[scope].barrier ? w->places++ : NSR_NONE;
  return make(w->n, NSR_KEY_REGION, 1, place, loops);
}

/* env: registers in front of a loop; makes them those at the start of an
 * iteration. set, odd: as nsr_scopes_sets and nsr_scopes_odd make them.
 * Recurrences are resolved as far as they rest on resolved ones. */
static enum nsr_status enter_loop(struct walk *w, uint32_t scope, uint32_t name,
                                  const bool *every, const uint64_t *set,
                                  const uint64_t *odd, uint32_t *env) {
  uint32_t *at, *phi;
  NSR_TAKE(&w->envs, at);
  NSR_TAKE(&w->envs, phi);
  memset(phi, 0, w->nregs * sizeof *phi);
  memcpy(at, env, w->nregs * sizeof *at);
  for (uint32_t r = nsr_bits_next(set, w->nregs, 0); r < w->nregs;
       r = nsr_bits_next(set, w->nregs, r + 1))
    at[r] =
        nsr_bit(odd, r) ? unknown(w->n) : make(w->n, NSR_KEY_START, r, 0, 0);
  run_round(w, scope, every, odd, at);
  for (bool more = true; more;) {
    more = false;
    for (uint32_t r = nsr_bits_next(set, w->nregs, 0); r < w->nregs;
         r = nsr_bits_next(set, w->nregs, r + 1)) {
      struct step s = {w->n, r, phi, true};
      if (nsr_bit(odd, r) || phi[r])
        continue;
      NSR_TRY(start_step(w->n));
      uint32_t step = substitute(&s, at[r], MAX_DEPTH);
      if (!s.good)
        continue;
      phi[r] = make(w->n, NSR_KEY_PHI, name, env[r], step);
      more = true;
    }
  }
  for (uint32_t r = nsr_bits_next(set, w->nregs, 0); r < w->nregs;
       r = nsr_bits_next(set, w->nregs, r + 1))
    env[r] = phi[r] ? phi[r] : unknown(w->n);
  nsr_piece_give(&w->envs, at);
  nsr_piece_give(&w->envs, phi);
  return NSR_OK;
}

/* The key of a loop: its only exit's predicate, if that is tested once in
 * each iteration, in front of everything conditional. */
static uint32_t loop_key(struct walk *w, uint32_t scope, uint32_t name) {
  const struct nsr_cfg *g = w->g;
  uint32_t exits = 0, block = 0;
  bool taken = false;
  const struct nsr_loop *l = loop_of(w, scope);
  for (uint32_t i = 0; i < l->nblocks; i++) {
    uint32_t b = l->blocks[i];
    for (int j = 0; j < 2; j++) {
      uint32_t s = g->blocks[b].succ[j];
      if (s == NSR_NONE || nsr_scope_in(w->t, w->t->scope_of[s], scope))
        continue;
      exits++;
      block = b;
      taken = j == 0;
    }
  }
  if (exits != 1 || w->t->scope_of[block] != scope || !w->test[block])
    return 0;
  uint32_t test = w->test[block];
  test = taken ? test : negated(w, test);
  if (!w->n->known.v[test])
    return 0;
  return make(w->n, NSR_KEY_EXIT, test, name, 0);
}

/* ---- the walk */

static enum nsr_status walk_body(struct walk *w, uint32_t scope, uint32_t *env);

static enum nsr_status walk_loop(struct walk *w, uint32_t scope,
                                 uint32_t *env) {
  struct nsr_scope *s = &w->t->scopes[scope];
  const struct nsr_loop *l = loop_of(w, scope);
  bool *every = w->every;
  uint64_t *set, *odd;
  NSR_NEW(w->n->ctx, NSR_SCRATCH, set, nsr_bits_words(w->nregs));
  NSR_NEW(w->n->ctx, NSR_SCRATCH, odd, nsr_bits_words(w->nregs));
  nsr_cfg_every(w->g, (uint32_t)(l - w->g->loops), every);
  nsr_scopes_sets(w->t, scope, set);
  nsr_scopes_odd(w->t, scope, every, odd);
  uint32_t name = loop_name(w, scope);
  NSR_TRY(enter_loop(w, scope, name, every, set, odd, env));
  for (uint32_t i = 0; i < l->nblocks; i++)
    every[l->blocks[i]] = false;
  if (s->barrier)
    w->region = make(w->n, NSR_KEY_REGION, 2, name, w->region);
  NSR_TRY(walk_body(w, scope, env));
  if (s->barrier)
    w->region = make(w->n, NSR_KEY_REGION, 3, name, 0);
  s->key = loop_key(w, scope, name);
  forget(w, set, env);
  return NSR_OK;
}

/* env: registers behind the branch, taken over by what the arm leaves where
 * it ran. */
static enum nsr_status walk_arm(struct walk *w, uint32_t scope, uint32_t branch,
                                const uint32_t *before, uint32_t *env) {
  struct nsr_scope *s = &w->t->scopes[scope];
  const struct nsr_node *n = &w->nodes[branch];
  uint32_t test = w->test[w->g->block_of[branch]];
  uint32_t *inner, region = w->region;
  if ((uint32_t)n->aux != s->entry)
    test = negated(w, test);
  s->key = test && w->n->known.v[test] ? test : 0;
  NSR_TAKE(&w->envs, inner);
  memcpy(inner, before, w->nregs * sizeof *inner);
  NSR_TRY(walk_body(w, scope, inner));
  for (uint32_t r = 0; r < w->nregs; r++)
    if (inner[r] != before[r])
      env[r] = make(w->n, NSR_KEY_JOIN, test, inner[r], env[r]);
  nsr_piece_give(&w->envs, inner);
  if (s->barrier)
    w->region = make(w->n, NSR_KEY_REGION, 4, w->places++, region);
  return NSR_OK;
}

/* Code without structure: nothing is known of what it sets. */
static enum nsr_status walk_island(struct walk *w, uint32_t scope,
                                   uint32_t *env) {
  uint64_t *set;
  NSR_NEW(w->n->ctx, NSR_SCRATCH, set, nsr_bits_words(w->nregs));
  nsr_scopes_sets(w->t, scope, set);
  forget(w, set, env);
  if (w->t->scopes[scope].barrier)
    w->region = make(w->n, NSR_KEY_REGION, 6, w->places++, 0);
  return NSR_OK;
}

static enum nsr_status enter_body(struct walk *w, uint32_t scope, uint32_t *env,
                                  struct body *out) {
  *out = (struct body){.scope = scope, .env = env};
  NSR_TAKE(&w->envs, out->before);
  memset(out->before, 0, w->nregs * sizeof *out->before);
  return NSR_OK;
}

static enum nsr_status walk_piece(struct walk *w, const struct nsr_item *it,
                                  struct body *b) {
  for (uint32_t j = it->first; j < it->first + it->n; j++)
    NSR_TRY(apply(w, b->env, j));
  b->branch = it->first + it->n - 1;
  memcpy(b->before, b->env, w->nregs * sizeof *b->env);
  return NSR_OK;
}

static enum nsr_status walk_item(struct walk *w, struct body *b) {
  const struct nsr_scope *s = &w->t->scopes[b->scope];
  const struct nsr_item *it = &w->t->items[s->first_item + b->next++];
  if (!it->is_scope)
    return walk_piece(w, it, b);
  switch ((enum nsr_scope_kind)w->t->scopes[it->first].kind) {
  case NSR_SCOPE_LOOP:
    return walk_loop(w, it->first, b->env);
  case NSR_SCOPE_ISLAND:
    return walk_island(w, it->first, b->env);
  default:
    return walk_arm(w, it->first, b->branch, b->before, b->env);
  }
}

static enum nsr_status walk_body(struct walk *w, uint32_t scope,
                                 uint32_t *env) {
  struct body b;
  NSR_TRY(enter_body(w, scope, env, &b));
  while (b.next < w->t->scopes[scope].nitems)
    NSR_TRY(walk_item(w, &b));
  nsr_piece_give(&w->envs, b.before);
  return NSR_OK;
}

static enum nsr_status start_engine(struct numbers *n,
                                    struct nsr_scopes *scopes, struct walk *w,
                                    struct body *program) {
  const struct nsr_program *p = scopes->cfg->program;
  uint32_t *env;
  *w = (struct walk){.n = n,
                     .t = scopes,
                     .g = scopes->cfg,
                     .nodes = p->nodes[scopes->cfg->engine],
                     .operations = p->operations[scopes->cfg->engine],
                     .nregs = p->k->isa->registers};
  w->envs = (struct nsr_pieces){
      .ctx = n->ctx, .arena = NSR_SCRATCH, .size = w->nregs * sizeof *env};
  NSR_TAKE(&w->envs, env);
  NSR_NEW(n->ctx, NSR_SCRATCH, w->test, w->g->nblocks);
  NSR_NEW(n->ctx, NSR_SCRATCH, w->every, w->g->nblocks);
  for (uint32_t r = 0; r < w->nregs; r++)
    env[r] = unknown(n);
  w->region = make(n, NSR_KEY_REGION, 5, 0, 0);
  return enter_body(w, 0, env, program);
}

/* All engines go on together, from place to place: most of what one makes the
 * others make, too, and then it is at hand. */
static enum nsr_status walk_engines(struct numbers *n,
                                    struct nsr_scopes *scopes) {
  struct walk w[NSR_MAX_ENGINES];
  struct body program[NSR_MAX_ENGINES];
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    if (scopes[e].cfg)
      NSR_TRY(start_engine(n, &scopes[e], &w[e], &program[e]));
  uint32_t place = 0;
  for (bool more = true; more;) {
    uint32_t furthest = place;
    more = false;
    for (int e = 0; e < NSR_MAX_ENGINES; e++) {
      uint32_t nitems = scopes[e].cfg ? scopes[e].scopes[0].nitems : 0;
      while (nitems && program[e].next < nitems && w[e].places <= place)
        NSR_TRY(walk_item(&w[e], &program[e]));
      more |= nitems && program[e].next < nitems;
      if (nitems && w[e].places > furthest)
        furthest = w[e].places;
    }
    place = furthest;
  }
  return NSR_OK;
}

enum nsr_status nsr_congruence_find(struct nsr_ctx *ctx,
                                    struct nsr_scopes *scopes,
                                    const struct nsr_key_loads *doubts,
                                    struct nsr_congruence *out) {
  struct numbers n = {.ctx = ctx, .doubts = doubts};
  size_t ninsns = 0, size = 1024;
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    if (scopes[e].cfg)
      ninsns += scopes[e].cfg->program->stream[e]->n;
  while (size < ninsns) /* most make few nodes */
    size *= 2;
  NSR_TRY(resize(&n, size));
  NSR_REGROW(ctx, NSR_SCRATCH, &n.nodes, ninsns);
  NSR_REGROW(ctx, NSR_SCRATCH, &n.known, ninsns);
  unknown(&n); /* number 0 */
  if (n.failed)
    return NSR_E_NOMEM;
  NSR_TRY(walk_engines(&n, scopes));
  *out = (struct nsr_congruence){.nloads = (uint32_t)n.loads.n,
                                 .nnodes = (uint32_t)n.nodes.n,
                                 .loads = n.loads.v,
                                 .nodes = n.nodes.v};
  return n.failed ? NSR_E_NOMEM : NSR_OK;
}
