/* trips.c - counting loops, by reaching definitions along dominators. */
#include "mem/trips.h"

#include "base/vec.h"

enum {
  MAX_STEPS = 4,       /* back from a register to a constant or a load */
  EFFORT = 30,         /* steps for each block; past it nothing is known */
  ENOUGH = 1000 * 1000 /* .. but for small kernels */
};

/* What a value lies in. */
struct interval {
  bool known;
  int64_t lo, hi;
};

struct definition {
  uint32_t insn, block;
  uint32_t next; /* of the same register, NSR_NONE: none */
};

/* One stream. */
struct counting {
  struct nsr_ctx *ctx;
  const struct nsr_cfg *g;
  const struct nsr_stream *s;
  NSR_VEC(struct definition) defs;
  uint32_t *first; /* by register: its definitions */
  bool *every;     /* by block, of the loop that is looked at */
  uint64_t effort; /* left */
};

uint64_t nsr_trips_times(uint64_t a, uint64_t b) {
  if (a == 0 || b == 0)
    return 0;
  return a > NSR_ENDLESS / b ? NSR_ENDLESS : a * b;
}

uint64_t nsr_trips_plus(uint64_t a, uint64_t b) {
  return a > NSR_ENDLESS - b ? NSR_ENDLESS : a + b;
}

static enum nsr_status decode(const struct counting *c, uint32_t i,
                              struct nsr_insn *x) {
  return nsr_stream_decode(c->ctx, c->g->program->k, c->s, i, x);
}

static enum nsr_status list_definitions(struct counting *c) {
  const struct nsr_node *nodes = c->g->program->nodes[c->g->engine];
  uint32_t n = c->g->program->k->isa->registers;
  NSR_NEW(c->ctx, NSR_SCRATCH, c->first, n);
  NSR_NEW(c->ctx, NSR_SCRATCH, c->every, c->g->nblocks);
  for (uint32_t r = 0; r < n; r++)
    c->first[r] = NSR_NONE;
  for (uint32_t i = 0; i < c->s->n; i++) {
    uint32_t block = c->g->block_of[i];
    if (nodes[i].dst < 0 || c->g->blocks[block].idom == NSR_NONE)
      continue;
    NSR_PUSH(c->ctx, NSR_SCRATCH, &c->defs,
             (struct definition){i, block, c->first[nodes[i].dst]});
    c->first[nodes[i].dst] = (uint32_t)c->defs.n - 1;
  }
  return NSR_OK;
}

/* ---- which definition reaches a place */

/* Takes one step, if there are any left. */
static bool spend(struct counting *c) {
  if (c->effort)
    c->effort--;
  return c->effort > 0;
}

/* Without effort left: no. */
static bool dominates(struct counting *c, uint32_t a, uint32_t b) {
  const struct nsr_block *blocks = c->g->blocks;
  for (; blocks[b].rpo > blocks[a].rpo && c->effort; c->effort--)
    b = blocks[b].idom;
  return a == b;
}

/* The innermost loop around both blocks, NSR_NONE: none. */
static uint32_t loop_around(const struct nsr_cfg *g, uint32_t a, uint32_t b) {
  uint32_t l = g->blocks[a].loop;
  while (l != NSR_NONE && !nsr_cfg_in_loop(g, b, l))
    l = g->loops[l].parent;
  return l;
}

/* Where one enters the outermost loop around a block inside another loop (or
 * inside none); the block itself, if there is none. Without the other loop's
 * way back these lie in reverse postorder. */
static uint32_t way_in(const struct nsr_cfg *g, uint32_t block,
                       uint32_t around) {
  for (uint32_t l = g->blocks[block].loop; l != around; l = g->loops[l].parent)
    block = g->loops[l].header;
  return block;
}

/* The last definition of a register in front of instruction `at`, on the way
 * of dominators, outside a loop (NSR_NONE: anywhere). */
static uint32_t nearest(struct counting *c, int reg, uint32_t at,
                        uint32_t loop) {
  const struct nsr_cfg *g = c->g;
  uint32_t best = NSR_NONE, to = g->block_of[at];
  for (uint32_t d = c->first[reg]; d != NSR_NONE && spend(c);
       d = c->defs.v[d].next) {
    const struct definition *x = &c->defs.v[d];
    const struct definition *y = best == NSR_NONE ? x : &c->defs.v[best];
    if (loop != NSR_NONE && nsr_cfg_in_loop(g, x->block, loop))
      continue;
    bool before = x->block == to ? x->insn < at : dominates(c, x->block, to);
    if (before && (best == NSR_NONE ||
                   (x->block == y->block ? x->insn > y->insn
                                         : dominates(c, y->block, x->block))))
      best = d;
  }
  return best;
}

/* Whether another definition may come between d and the place: it can be
 * reached from d, and the place from it, without passing d again. */
static bool comes_between(struct counting *c, const struct definition *d,
                          const struct definition *other, uint32_t at) {
  const struct nsr_cfg *g = c->g;
  uint32_t to = g->block_of[at];
  if (other->block == d->block && other->insn < d->insn)
    return false;
  if (!dominates(c, d->block, other->block))
    return false;
  uint32_t around = loop_around(g, other->block, to);
  if (around != NSR_NONE && !nsr_cfg_in_loop(g, d->block, around))
    return true;
  if (other->block == to)
    return other->insn < at;
  return g->blocks[way_in(g, other->block, around)].rpo <
         g->blocks[way_in(g, to, around)].rpo;
}

/* The one definition that gives a register its value in front of `at`, those
 * in the loop apart; NSR_NONE: there may be others. */
static uint32_t reaching(struct counting *c, int reg, uint32_t at,
                         uint32_t loop) {
  uint32_t d = nearest(c, reg, at, loop);
  if (d == NSR_NONE)
    return NSR_NONE;
  for (uint32_t o = c->first[reg]; o != NSR_NONE && spend(c);
       o = c->defs.v[o].next) {
    const struct definition *x = &c->defs.v[o];
    bool inside = loop != NSR_NONE && nsr_cfg_in_loop(c->g, x->block, loop);
    if (o != d && !inside && comes_between(c, &c->defs.v[d], x, at))
      return NSR_NONE;
  }
  return c->effort ? d : NSR_NONE;
}

/* ---- intervals */

static struct interval constant(int64_t v) {
  return (struct interval){true, v, v};
}

static struct interval loaded(const struct counting *c, uint32_t insn) {
  const struct nsr_kernel *k = c->g->program->k;
  uint32_t t = nsr_operand_tensor(c->s, insn, 0);
  if (t >= k->ntensors || !k->tensors[t].has_range)
    return (struct interval){0};
  return (struct interval){true, k->tensors[t].lo, k->tensors[t].hi};
}

static enum nsr_status value(struct counting *c, const struct nsr_val *v,
                             uint32_t at, uint32_t loop, int steps,
                             struct interval *out);

/* What instruction i puts into its register. */
static enum nsr_status result(struct counting *c, uint32_t i, int steps,
                              struct interval *out) {
  struct nsr_insn x;
  struct interval b;
  *out = (struct interval){0};
  NSR_TRY(decode(c, i, &x));
  if (x.desc->cls == NSR_LOAD)
    *out = loaded(c, i);
  if (x.desc->cls != NSR_CONTROL)
    return NSR_OK;
  if (x.desc->ctl == NSR_CTL_MOV)
    return value(c, &x.a, i, NSR_NONE, steps, out);
  if (x.desc->ctl != NSR_CTL_ADD && x.desc->ctl != NSR_CTL_SUB)
    return NSR_OK;
  NSR_TRY(value(c, &x.a, i, NSR_NONE, steps, out));
  NSR_TRY(value(c, &x.b, i, NSR_NONE, steps, &b));
  bool sub = x.desc->ctl == NSR_CTL_SUB;
  out->lo += sub ? -b.hi : b.lo;
  out->hi += sub ? -b.lo : b.hi;
  out->known &= b.known && out->lo >= INT32_MIN && out->hi <= INT32_MAX;
  return NSR_OK;
}

/* A value in front of instruction `at`; a register's before the loop. */
static enum nsr_status value(struct counting *c, const struct nsr_val *v,
                             uint32_t at, uint32_t loop, int steps,
                             struct interval *out) {
  *out = (struct interval){0};
  if (!v->is_reg) {
    *out = constant(v->v);
    return NSR_OK;
  }
  uint32_t d = steps ? reaching(c, v->v, at, loop) : NSR_NONE;
  return d == NSR_NONE ? NSR_OK : result(c, c->defs.v[d].insn, steps - 1, out);
}

/* ---- loops */

/* The constant that the loop adds to a register in each iteration, 0: it does
 * anything else with it. */
static enum nsr_status step_of(struct counting *c, uint32_t loop, int reg,
                               int32_t *step) {
  uint32_t found = NSR_NONE;
  struct nsr_insn x;
  *step = 0;
  for (uint32_t d = c->first[reg]; d != NSR_NONE; d = c->defs.v[d].next) {
    const struct definition *y = &c->defs.v[d];
    if (!spend(c))
      return NSR_OK;
    if (!nsr_cfg_in_loop(c->g, y->block, loop))
      continue;
    if (found != NSR_NONE || !c->every[y->block])
      return NSR_OK;
    found = y->insn;
  }
  if (found == NSR_NONE)
    return NSR_OK;
  NSR_TRY(decode(c, found, &x));
  bool add = x.desc->ctl == NSR_CTL_ADD, sub = x.desc->ctl == NSR_CTL_SUB;
  if (x.desc->cls != NSR_CONTROL || !(add || sub) || !x.a.is_reg ||
      x.a.v != reg || x.b.is_reg || x.b.v == INT32_MIN)
    return NSR_OK;
  *step = sub ? -x.b.v : x.b.v;
  return NSR_OK;
}

/* Without effort left: yes. */
static bool changes_in(struct counting *c, uint32_t loop, int reg) {
  for (uint32_t d = c->first[reg]; d != NSR_NONE; d = c->defs.v[d].next)
    if (!spend(c) || nsr_cfg_in_loop(c->g, c->defs.v[d].block, loop))
      return true;
  return false;
}

static enum nsr_cc inverse(enum nsr_cc cc) {
  static const uint8_t of[] = {
      [NSR_CC_EQ] = NSR_CC_NE,        [NSR_CC_NE] = NSR_CC_EQ,
      [NSR_CC_LT] = NSR_CC_GE,        [NSR_CC_GE] = NSR_CC_LT,
      [NSR_CC_GT] = NSR_CC_LE,        [NSR_CC_LE] = NSR_CC_GT,
      [NSR_CC_ALWAYS] = NSR_CC_ALWAYS};
  return (enum nsr_cc)of[cc];
}

/* The comparison with its sides exchanged. */
static enum nsr_cc swapped(enum nsr_cc cc) {
  static const uint8_t of[] = {
      [NSR_CC_EQ] = NSR_CC_EQ,        [NSR_CC_NE] = NSR_CC_NE,
      [NSR_CC_LT] = NSR_CC_GT,        [NSR_CC_GE] = NSR_CC_LE,
      [NSR_CC_GT] = NSR_CC_LT,        [NSR_CC_LE] = NSR_CC_GE,
      [NSR_CC_ALWAYS] = NSR_CC_ALWAYS};
  return (enum nsr_cc)of[cc];
}

/* How often a test goes on while x cc bound, x advancing by step from start. */
static uint64_t passes(enum nsr_cc cc, int64_t step, struct interval start,
                       struct interval bound) {
  int64_t way;
  if (!start.known || !bound.known)
    return NSR_ENDLESS;
  if (step < 0) { /* as in a mirror */
    start = (struct interval){true, -start.hi, -start.lo};
    bound = (struct interval){true, -bound.hi, -bound.lo};
    step = -step;
    cc = swapped(cc);
  }
  way = bound.hi - start.lo + (cc == NSR_CC_LE);
  bool exact = step == 1 && start.hi < bound.lo;
  if (!(cc == NSR_CC_LT || cc == NSR_CC_LE || (cc == NSR_CC_NE && exact)) ||
      bound.hi + step > INT32_MAX)
    return NSR_ENDLESS;
  return way <= 0 ? 0 : ((uint64_t)way + (uint64_t)step - 1) / (uint64_t)step;
}

/* Whether each trip through a loop begins with the register set anew. */
static bool starts_anew(struct counting *c, uint32_t loop, int reg) {
  uint32_t around = c->g->loops[loop].parent;
  uint32_t at = c->g->blocks[c->g->loops[loop].header].first;
  uint32_t d = reaching(c, reg, at, loop);
  return d != NSR_NONE && (around == NSR_NONE ||
                           nsr_cfg_in_loop(c->g, c->defs.v[d].block, around));
}

/* Of one test in each iteration, with a way out of the loop. */
static enum nsr_status count_test(struct counting *c, uint32_t loop,
                                  uint32_t block, uint64_t *most) {
  const struct nsr_block *b = &c->g->blocks[block];
  uint32_t at = b->first + b->n - 1, header = c->g->loops[loop].header;
  struct nsr_insn x;
  *most = NSR_ENDLESS;
  bool in0 = nsr_cfg_in_loop(c->g, b->succ[0], loop);
  if (b->succ[1] == NSR_NONE || in0 == nsr_cfg_in_loop(c->g, b->succ[1], loop))
    return NSR_OK;
  NSR_TRY(decode(c, at, &x));
  enum nsr_cc stay = in0 ? (enum nsr_cc)x.cc : inverse((enum nsr_cc)x.cc);
  for (int side = 0; side < 2; side++) {
    struct nsr_val v = side ? x.b : x.a, w = side ? x.a : x.b;
    struct interval start, bound;
    int32_t step;
    if (!v.is_reg || (w.is_reg && changes_in(c, loop, w.v)))
      continue;
    NSR_TRY(step_of(c, loop, v.v, &step));
    if (step == 0 || !starts_anew(c, loop, v.v))
      continue;
    NSR_TRY(value(c, &v, c->g->blocks[header].first, loop, MAX_STEPS, &start));
    NSR_TRY(value(c, &w, c->g->blocks[header].first, loop, MAX_STEPS, &bound));
    *most = passes(side ? swapped(stay) : stay, step, start, bound);
    return NSR_OK;
  }
  return NSR_OK;
}

/* A loop's iterations in a trip, at most. */
static enum nsr_status count_loop(struct counting *c, uint32_t loop,
                                  uint64_t *most) {
  const struct nsr_loop *l = &c->g->loops[loop];
  *most = NSR_ENDLESS;
  if (c->effort == 0)
    return NSR_OK;
  nsr_cfg_every(c->g, loop, c->every);
  for (uint32_t i = 0; i < l->nblocks; i++) {
    uint64_t n;
    if (!c->every[l->blocks[i]] || c->g->blocks[l->blocks[i]].loop != loop)
      continue;
    NSR_TRY(count_test(c, loop, l->blocks[i], &n));
    n = nsr_trips_plus(n, 1); /* the last iteration does not pass it */
    *most = n < *most ? n : *most;
  }
  for (uint32_t i = 0; i < l->nblocks; i++)
    c->every[l->blocks[i]] = false;
  return NSR_OK;
}

enum nsr_status nsr_trips_find(struct nsr_ctx *ctx, const struct nsr_tree *t,
                               uint64_t **out) {
  NSR_NEW(ctx, NSR_SCRATCH, *out, t->nscopes);
  for (uint32_t s = 0; s < t->nscopes; s++)
    (*out)[s] = t->scopes[s].kind == NSR_SCOPE_LOOP ? NSR_ENDLESS : 1;
  for (int e = 0; e < NSR_MAX_ENGINES; e++) {
    struct counting c = {
        .ctx = ctx, .g = t->local[e].cfg, .s = t->program->stream[e]};
    if (!c.s)
      continue;
    NSR_TRY(list_definitions(&c));
    c.effort = ENOUGH + EFFORT * (uint64_t)c.g->nblocks;
    for (uint32_t s = 1; s < t->nscopes; s++) {
      uint64_t n;
      if (t->scopes[s].kind != NSR_SCOPE_LOOP || !nsr_common_runs(t, s, e))
        continue;
      uint32_t entry = t->local[e].scopes[t->scopes[s].local[e]].entry;
      NSR_TRY(count_loop(&c, c.g->blocks[c.g->block_of[entry]].loop, &n));
      (*out)[s] = n < (*out)[s] ? n : (*out)[s];
    }
  }
  return NSR_OK;
}

enum nsr_status nsr_trips_entries(struct nsr_ctx *ctx, const struct nsr_tree *t,
                                  uint64_t **out) {
  uint64_t *trips;
  NSR_TRY(nsr_trips_find(ctx, t, &trips));
  NSR_NEW(ctx, NSR_SCRATCH, *out, t->nscopes);
  for (uint32_t s = 0; s < t->nscopes; s++)
    (*out)[s] =
        s ? nsr_trips_times((*out)[t->scopes[s].parent], trips[s]) : 1;
  return NSR_OK;
}
