/* trips.c - counting loops, by reaching definitions along dominators. */
#include "mem/trips.h"

#include "base/arena.h"

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
  uint32_t insn, block, place; /* place: of the block */
};

/* Places first..end-1. */
struct places {
  uint32_t first, end;
};

/* One stream. */
struct counting {
  struct nsr_ctx *ctx;
  const struct nsr_cfg *g;
  const struct nsr_stream *s;
  const struct nsr_node *nodes;
  const struct nsr_operation *operations;
  /* A place by block, so that each loop is a run of them and a way that goes
   * back to no header only goes up. */
  uint32_t *place;
  struct places *loops; /* by loop: of its blocks */
  /* In preorder of the tree of dominators, by block: the block, up to those
   * that it dominates. */
  struct places *dominated;
  struct definition *defs; /* by register, then by place */
  uint32_t *first;         /* by register: its own are first[r]..first[r+1]-1 */
  bool *every;             /* by block, of the loop that is looked at */
  uint64_t effort;         /* left */
};

uint64_t nsr_trips_times(uint64_t a, uint64_t b) {
  if (a == 0 || b == 0)
    return 0;
  return a > NSR_ENDLESS / b ? NSR_ENDLESS : a * b;
}

uint64_t nsr_trips_plus(uint64_t a, uint64_t b) {
  return a > NSR_ENDLESS - b ? NSR_ENDLESS : a + b;
}

/* Sizes of subtrees from the leaves up, then places from the root down. */
static enum nsr_status find_dominated(struct counting *c) {
  const struct nsr_cfg *g = c->g;
  uint32_t *size;
  NSR_NEW(c->ctx, NSR_SCRATCH, c->dominated, g->nblocks);
  NSR_NEW(c->ctx, NSR_SCRATCH, size, g->nblocks);
  for (uint32_t i = g->norder; i-- > 0;) {
    uint32_t b = g->order[i];
    size[b]++;
    if (i > 0)
      size[g->blocks[b].idom] += size[b];
  }
  for (uint32_t i = 0; i < g->norder; i++) {
    uint32_t b = g->order[i], up = g->blocks[b].idom, n = size[b];
    uint32_t at = i ? c->dominated[up].first + (size[up] -= n) : 0;
    c->dominated[b] = (struct places){at, at + n};
  }
  return NSR_OK;
}

/* In reverse postorder, but a loop as a whole where its header is. order: the
 * blocks by place. */
static enum nsr_status find_places(struct counting *c, uint32_t **order) {
  const struct nsr_cfg *g = c->g;
  uint32_t top = 0, *next; /* by loop: the next free place */
  NSR_NEW(c->ctx, NSR_SCRATCH, c->place, g->nblocks);
  NSR_NEW(c->ctx, NSR_SCRATCH, c->loops, g->nloops);
  NSR_NEW(c->ctx, NSR_SCRATCH, next, g->nloops);
  NSR_NEW(c->ctx, NSR_SCRATCH, *order, g->norder);
  for (uint32_t i = 0; i < g->norder; i++) {
    uint32_t b = g->order[i], l = g->blocks[b].loop;
    if (l != NSR_NONE && g->loops[l].header == b) {
      uint32_t up = g->loops[l].parent, n = g->loops[l].nblocks;
      uint32_t *from = up == NSR_NONE ? &top : &next[up];
      c->loops[l] = (struct places){*from, *from + n};
      next[l] = *from;
      *from += n;
    }
    c->place[b] = l == NSR_NONE ? top++ : next[l]++;
    (*order)[c->place[b]] = b;
  }
  return NSR_OK;
}

static enum nsr_status list_definitions(struct counting *c,
                                        const uint32_t *order) {
  const struct nsr_cfg *g = c->g;
  const struct nsr_node *nodes = c->nodes;
  uint32_t n = g->program->k->isa->registers, *next;
  NSR_NEW(c->ctx, NSR_SCRATCH, c->first, n + 1);
  NSR_NEW(c->ctx, NSR_SCRATCH, next, n);
  NSR_NEW(c->ctx, NSR_SCRATCH, c->every, g->nblocks);
  for (uint32_t i = 0; i < c->s->n; i++)
    if (nodes[i].dst >= 0)
      c->first[nodes[i].dst + 1]++;
  for (uint32_t r = 0; r < n; r++)
    c->first[r + 1] += next[r] = c->first[r];
  NSR_NEW(c->ctx, NSR_SCRATCH, c->defs, c->first[n]);
  for (uint32_t i = 0; i < g->norder; i++) {
    const struct nsr_block *b = &g->blocks[order[i]];
    for (uint32_t j = b->first; j < b->first + b->n; j++)
      if (nodes[j].dst >= 0)
        c->defs[next[nodes[j].dst]++] = (struct definition){j, order[i], i};
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

/* Both can be reached. */
static bool dominates(const struct counting *c, uint32_t a, uint32_t b) {
  uint32_t at = c->dominated[b].first;
  return c->dominated[a].first <= at && at < c->dominated[a].end;
}

/* Whether a block lies in a loop; in none does any. */
static bool lies_in(const struct counting *c, uint32_t block, uint32_t loop) {
  return loop != NSR_NONE && c->loops[loop].first <= c->place[block] &&
         c->place[block] < c->loops[loop].end;
}

/* The first definition of a register that does not lie in front of instruction
 * insn of the block at a place. */
static uint32_t first_behind(const struct counting *c, int reg, uint32_t place,
                             uint32_t insn) {
  uint32_t lo = c->first[reg], hi = c->first[reg + 1];
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2, at = c->defs[mid].place;
    if (at < place || (at == place && c->defs[mid].insn < insn))
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

/* A loop's definitions of a register; in no loop there are none. */
static struct places defined_in(const struct counting *c, int reg,
                                uint32_t loop) {
  if (loop == NSR_NONE)
    return (struct places){0, 0};
  return (struct places){first_behind(c, reg, c->loops[loop].first, 0),
                         first_behind(c, reg, c->loops[loop].end, 0)};
}

/* Whether a loop around a block, and not around d, sets the register outside a
 * loop in it (NSR_NONE: anywhere). */
static bool comes_again(const struct counting *c, int reg, uint32_t d,
                        uint32_t block, uint32_t loop) {
  uint32_t around = NSR_NONE;
  for (uint32_t l = c->g->blocks[block].loop;
       l != NSR_NONE && !lies_in(c, c->defs[d].block, l);
       l = c->g->loops[l].parent)
    around = l;
  struct places all = defined_in(c, reg, around);
  struct places inside = defined_in(c, reg, loop);
  return around != NSR_NONE && all.end - all.first > inside.end - inside.first;
}

/* The one definition that gives a register its value in front of `at`, those
 * in a loop around that apart (NSR_NONE: none is); NSR_NONE: there may be
 * others. It is the nearest that dominates `at`; another one that is reached
 * from it lies between them, or in a loop around `at`, but not around it. */
static uint32_t reaching(struct counting *c, int reg, uint32_t at,
                         uint32_t loop) {
  uint32_t block = c->g->block_of[at];
  uint32_t end = first_behind(c, reg, c->place[block], at), d = end;
  while (d > c->first[reg] && spend(c) &&
         (lies_in(c, c->defs[d - 1].block, loop) ||
          !dominates(c, c->defs[d - 1].block, block)))
    d--;
  if (d == c->first[reg] || c->effort == 0)
    return NSR_NONE;
  d--;
  for (uint32_t o = d + 1; o < end; o++)
    if (!lies_in(c, c->defs[o].block, loop) &&
        dominates(c, c->defs[d].block, c->defs[o].block))
      return NSR_NONE;
  return comes_again(c, reg, d, block, loop) ? NSR_NONE : d;
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

static struct interval value(struct counting *c, const struct nsr_val *v,
                             uint32_t at, uint32_t loop, int steps);

/* What instruction i puts into its register. */
static struct interval result(struct counting *c, uint32_t i, int steps) {
  const struct nsr_node *n = &c->nodes[i];
  const struct nsr_operation *x = &c->operations[i];
  bool sub = n->ctl == NSR_CTL_SUB;
  if (n->cls == NSR_LOAD)
    return loaded(c, i);
  if (n->cls != NSR_CONTROL ||
      !(n->ctl == NSR_CTL_MOV || n->ctl == NSR_CTL_ADD || sub))
    return (struct interval){0};
  struct interval a = value(c, &x->a, i, NSR_NONE, steps);
  if (n->ctl == NSR_CTL_MOV)
    return a;
  struct interval b = value(c, &x->b, i, NSR_NONE, steps);
  a.lo += sub ? -b.hi : b.lo;
  a.hi += sub ? -b.lo : b.hi;
  a.known &= b.known && a.lo >= INT32_MIN && a.hi <= INT32_MAX;
  return a;
}

/* A value in front of instruction `at`; a register's before the loop. */
static struct interval value(struct counting *c, const struct nsr_val *v,
                             uint32_t at, uint32_t loop, int steps) {
  if (!v->is_reg)
    return constant(v->v);
  uint32_t d = steps ? reaching(c, v->v, at, loop) : NSR_NONE;
  return d == NSR_NONE ? (struct interval){0}
                       : result(c, c->defs[d].insn, steps - 1);
}

/* ---- loops */

/* The constant that the loop adds to a register in each iteration, 0: it does
 * anything else with it. */
static int32_t step_of(const struct counting *c, uint32_t loop, int reg) {
  struct places in = defined_in(c, reg, loop);
  const struct definition *d = &c->defs[in.first];
  if (in.end - in.first != 1 || !c->every[d->block])
    return 0;
  const struct nsr_node *n = &c->nodes[d->insn];
  const struct nsr_operation *x = &c->operations[d->insn];
  bool add = n->ctl == NSR_CTL_ADD, sub = n->ctl == NSR_CTL_SUB;
  if (n->cls != NSR_CONTROL || !(add || sub) || !x->a.is_reg || x->a.v != reg ||
      x->b.is_reg || x->b.v == INT32_MIN)
    return 0;
  return sub ? -x->b.v : x->b.v;
}

static bool changes_in(const struct counting *c, uint32_t loop, int reg) {
  struct places in = defined_in(c, reg, loop);
  return in.first < in.end;
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
      bound.hi + step > INT32_MAX || start.hi + step > INT32_MAX)
    return NSR_ENDLESS; /* it may wrap */
  return way <= 0 ? 0 : ((uint64_t)way + (uint64_t)step - 1) / (uint64_t)step;
}

/* Whether each trip through a loop begins with the register set anew. */
static bool starts_anew(struct counting *c, uint32_t loop, int reg) {
  uint32_t around = c->g->loops[loop].parent;
  uint32_t at = c->g->blocks[c->g->loops[loop].header].first;
  uint32_t d = reaching(c, reg, at, loop);
  return d != NSR_NONE && (around == NSR_NONE ||
                           nsr_cfg_in_loop(c->g, c->defs[d].block, around));
}

/* Of one test in each iteration, with a way out of the loop. */
static uint64_t count_test(struct counting *c, uint32_t loop, uint32_t block) {
  const struct nsr_block *b = &c->g->blocks[block];
  uint32_t at = c->g->blocks[c->g->loops[loop].header].first;
  bool in0 = nsr_cfg_in_loop(c->g, b->succ[0], loop);
  if (b->succ[1] == NSR_NONE || in0 == nsr_cfg_in_loop(c->g, b->succ[1], loop))
    return NSR_ENDLESS;
  const struct nsr_operation *x = &c->operations[b->first + b->n - 1];
  enum nsr_cc stay = in0 ? (enum nsr_cc)x->cc : inverse((enum nsr_cc)x->cc);
  for (int side = 0; side < 2; side++) {
    const struct nsr_val *v = side ? &x->b : &x->a, *w = side ? &x->a : &x->b;
    if (!v->is_reg || (w->is_reg && changes_in(c, loop, w->v)))
      continue;
    int32_t step = step_of(c, loop, v->v);
    if (step == 0 || !starts_anew(c, loop, v->v))
      continue;
    struct interval start = value(c, v, at, loop, MAX_STEPS);
    struct interval bound = value(c, w, at, loop, MAX_STEPS);
    return passes(side ? swapped(stay) : stay, step, start, bound);
  }
  return NSR_ENDLESS;
}

/* A loop's iterations in a trip, at most. */
static uint64_t count_loop(struct counting *c, uint32_t loop) {
  const struct nsr_loop *l = &c->g->loops[loop];
  uint64_t most = NSR_ENDLESS;
  if (c->effort == 0)
    return most;
  nsr_cfg_every(c->g, loop, c->every);
  for (uint32_t i = 0; i < l->nblocks; i++) {
    if (!c->every[l->blocks[i]] || c->g->blocks[l->blocks[i]].loop != loop)
      continue;
    /* the last iteration does not pass it */
    uint64_t n = nsr_trips_plus(count_test(c, loop, l->blocks[i]), 1);
    most = n < most ? n : most;
  }
  for (uint32_t i = 0; i < l->nblocks; i++)
    c->every[l->blocks[i]] = false;
  return most;
}

/* All loops, as one engine says. */
static enum nsr_status count_loops(struct counting *c, const struct nsr_tree *t,
                                   uint64_t *out) {
  int e = c->g->engine;
  uint32_t *order;
  NSR_TRY(find_dominated(c));
  NSR_TRY(find_places(c, &order));
  NSR_TRY(list_definitions(c, order));
  c->effort = ENOUGH + EFFORT * (uint64_t)c->g->nblocks;
  for (uint32_t s = 1; s < t->nscopes; s++) {
    if (t->scopes[s].kind != NSR_SCOPE_LOOP || !nsr_common_runs(t, s, e))
      continue;
    uint32_t entry = t->local[e].scopes[t->scopes[s].local[e]].entry;
    uint64_t n = count_loop(c, c->g->blocks[c->g->block_of[entry]].loop);
    out[s] = n < out[s] ? n : out[s];
  }
  return NSR_OK;
}

enum nsr_status nsr_trips_find(struct nsr_ctx *ctx, const struct nsr_tree *t,
                               uint64_t **out) {
  NSR_NEW(ctx, NSR_SCRATCH, *out, t->nscopes);
  for (uint32_t s = 0; s < t->nscopes; s++)
    (*out)[s] = t->scopes[s].kind == NSR_SCOPE_LOOP ? NSR_ENDLESS : 1;
  for (int e = 0; e < NSR_MAX_ENGINES; e++) {
    struct nsr_mark mark = nsr_scratch_mark(ctx);
    struct counting c = {.ctx = ctx,
                         .g = t->local[e].cfg,
                         .s = t->program->stream[e],
                         .nodes = t->program->nodes[e],
                         .operations = t->program->operations[e]};
    if (!c.s)
      continue;
    NSR_TRY(count_loops(&c, t, *out));
    nsr_scratch_release(ctx, mark);
  }
  return NSR_OK;
}

enum nsr_status nsr_trips_entries(struct nsr_ctx *ctx, const struct nsr_tree *t,
                                  uint64_t **out) {
  uint64_t *trips;
  NSR_TRY(nsr_trips_find(ctx, t, &trips));
  NSR_NEW(ctx, NSR_SCRATCH, *out, t->nscopes);
  for (uint32_t s = 0; s < t->nscopes; s++)
    (*out)[s] = s ? nsr_trips_times((*out)[t->scopes[s].parent], trips[s]) : 1;
  return NSR_OK;
}
