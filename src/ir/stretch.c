/* stretch.c - the smallest single-entry, single-exit stretches around knots:
 * from the nearest common dominator up to the nearest common postdominator,
 * grown until nothing enters or leaves elsewhere.
 */
#include "ir/stretch.h"

#include "base/vec.h"

/* How often one is grown before it is given up. */
enum { MAX_GROWTH = 64 };

/* One while it grows, by the blocks that must lie in it. */
struct grown {
  NSR_VEC(uint32_t) seeds;
  NSR_VEC(uint32_t) blocks;
  uint32_t entry, behind;
  uint32_t knot; /* the first of it */
  bool gone;     /* merged into another */
};

struct stretches {
  struct nsr_ctx *ctx;
  struct nsr_cfg *g;
  const struct nsr_preds *preds;
  const struct nsr_knots *knots;
  uint32_t end;    /* the node behind all halts */
  uint32_t *pdom;  /* by block: immediate postdominator; NSR_NONE: none */
  uint32_t *prpo;  /* by block: place in an order from the end backwards */
  uint32_t *owner; /* by block: the one it lies in, NSR_NONE: none */
  uint32_t *stamp, turn; /* by block: seen in this turn; 2 turns a growth */
  uint32_t *stack;
  NSR_VEC(struct grown) v;
};

/* ---- postdominators */

/* Postorder of the reversed graph, from the end. */
static enum nsr_status order_backwards(struct stretches *s, uint32_t *order,
                                       uint32_t *n) {
  const struct nsr_cfg *g = s->g;
  uint32_t *next, *stack = s->stack;
  NSR_NEW(s->ctx, NSR_SCRATCH, next, g->nblocks);
  *n = 0;
  for (uint32_t i = 0; i < g->norder; i++) {
    uint32_t top = 0, halt = g->order[i];
    if (g->blocks[halt].succ[0] != NSR_NONE)
      continue;
    for (stack[top++] = halt, next[halt] = 1; top > 0;) {
      uint32_t b = stack[top - 1], at = s->preds->at[b] + next[b] - 1;
      if (at == s->preds->at[b + 1]) {
        s->prpo[b] = *n;
        order[(*n)++] = b;
        top--;
        continue;
      }
      next[b]++;
      uint32_t p = s->preds->pred[at];
      if (!next[p]) {
        next[p] = 1;
        stack[top++] = p;
      }
    }
  }
  s->prpo[s->end] = *n;
  return NSR_OK;
}

/* The nearest common postdominator; the end where there is none. */
static uint32_t join(const struct stretches *s, uint32_t a, uint32_t b) {
  if (s->pdom[a] == NSR_NONE || s->pdom[b] == NSR_NONE)
    return s->end;
  while (a != b)
    if (s->prpo[a] < s->prpo[b])
      a = s->pdom[a];
    else
      b = s->pdom[b];
  return a;
}

static enum nsr_status find_postdominators(struct stretches *s) {
  const struct nsr_cfg *g = s->g;
  uint32_t *order, n;
  NSR_NEW(s->ctx, NSR_SCRATCH, s->pdom, g->nblocks + 1);
  NSR_NEW(s->ctx, NSR_SCRATCH, s->prpo, g->nblocks + 1);
  NSR_NEW(s->ctx, NSR_SCRATCH, order, g->nblocks);
  NSR_TRY(order_backwards(s, order, &n));
  for (uint32_t b = 0; b < g->nblocks; b++)
    s->pdom[b] = NSR_NONE;
  s->pdom[s->end] = s->end;
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = n; i-- > 0;) {
      uint32_t b = order[i], d = NSR_NONE;
      if (g->blocks[b].succ[0] == NSR_NONE)
        d = s->end;
      for (int j = 0; j < 2; j++) {
        uint32_t x = g->blocks[b].succ[j];
        if (x != NSR_NONE && s->pdom[x] != NSR_NONE)
          d = d == NSR_NONE ? x : join(s, d, x);
      }
      changed |= s->pdom[b] != d;
      s->pdom[b] = d;
    }
  }
  return NSR_OK;
}

/* ---- growing */

static uint32_t dominator(const struct nsr_cfg *g, uint32_t a, uint32_t b) {
  while (a != b)
    if (g->blocks[a].rpo > g->blocks[b].rpo)
      a = g->blocks[a].idom;
    else
      b = g->blocks[b].idom;
  return a;
}

/* From the dominator of all seeds to a postdominator that is none of them. */
static bool bound(struct stretches *s, struct grown *x) {
  uint32_t turn = ++s->turn;
  x->entry = x->seeds.v[0];
  for (size_t i = 0; i < x->seeds.n; i++) {
    s->stamp[x->seeds.v[i]] = turn;
    x->entry = dominator(s->g, x->entry, x->seeds.v[i]);
  }
  s->stamp[x->entry] = turn;
  x->behind = x->entry;
  for (size_t i = 0; i < x->seeds.n; i++)
    x->behind = join(s, x->behind, x->seeds.v[i]);
  while (x->behind != s->end && s->stamp[x->behind] == turn)
    x->behind = s->pdom[x->behind];
  return x->behind != s->end;
}

/* All blocks from the entry on. */
static enum nsr_status fill(struct stretches *s, struct grown *x) {
  uint32_t turn = ++s->turn, top = 0;
  x->blocks.n = 0;
  s->stamp[x->entry] = turn;
  s->stack[top++] = x->entry;
  while (top > 0) {
    uint32_t b = s->stack[--top];
    NSR_PUSH(s->ctx, NSR_SCRATCH, &x->blocks, b);
    for (int j = 0; j < 2; j++) {
      uint32_t y = s->g->blocks[b].succ[j];
      if (y == NSR_NONE || y == x->behind || s->stamp[y] == turn)
        continue;
      s->stamp[y] = turn;
      s->stack[top++] = y;
    }
  }
  return NSR_OK;
}

/* The entry must be in front of where else flow enters: of the block itself,
 * or of where that comes from, if it comes from behind the stretch. */
static uint32_t other_entry(const struct stretches *s, const struct grown *x,
                            uint32_t block, uint32_t from) {
  return dominator(s->g, x->entry, block) == x->entry ? from : block;
}

/* Makes seeds of what enters elsewhere; of the block behind, if seeds lie
 * behind that. *more: there were any. */
static enum nsr_status extend(struct stretches *s, struct grown *x,
                              bool *more) {
  uint32_t turn = s->turn;
  const uint32_t *at = s->preds->at, *pred = s->preds->pred;
  size_t seeds = x->seeds.n;
  for (size_t i = 0; i < x->blocks.n; i++) {
    uint32_t b = x->blocks.v[i];
    for (uint32_t j = at[b]; b != x->entry && j < at[b + 1]; j++)
      if (s->stamp[pred[j]] != turn)
        NSR_PUSH(s->ctx, NSR_SCRATCH, &x->seeds, other_entry(s, x, b, pred[j]));
  }
  for (size_t i = 0; i < seeds; i++)
    if (s->stamp[x->seeds.v[i]] != turn) {
      NSR_PUSH(s->ctx, NSR_SCRATCH, &x->seeds, x->behind);
      break;
    }
  *more = x->seeds.n > seeds;
  return NSR_OK;
}

static enum nsr_status grow(struct stretches *s, struct grown *x) {
  bool more = true;
  for (int i = 0; more; i++) {
    if (i == MAX_GROWTH || !bound(s, x))
      return nsr_refuse_knot(s->ctx, s->g->program, s->g->engine,
                             &s->knots->v[x->knot]);
    NSR_TRY(fill(s, x));
    NSR_TRY(extend(s, x, &more));
  }
  return NSR_OK;
}

/* Whether knot a tells more than b about why a stretch is one. */
static bool better(const struct stretches *s, uint32_t a, uint32_t b) {
  bool oa = s->knots->v[a].opposite, ob = s->knots->v[b].opposite;
  return oa == ob ? a < b : ob;
}

/* Takes over the seeds of those that x overlaps; *any: there were some. */
static enum nsr_status absorb(struct stretches *s, struct grown *x, bool *any) {
  *any = false;
  for (size_t i = 0; i < x->blocks.n; i++) {
    uint32_t o = s->owner[x->blocks.v[i]];
    if (o == NSR_NONE || s->v.v[o].gone)
      continue;
    struct grown *other = &s->v.v[o];
    for (size_t j = 0; j < other->seeds.n; j++)
      NSR_PUSH(s->ctx, NSR_SCRATCH, &x->seeds, other->seeds.v[j]);
    NSR_PUSH(s->ctx, NSR_SCRATCH, &x->seeds, other->entry);
    if (better(s, other->knot, x->knot))
      x->knot = other->knot;
    other->gone = true;
    *any = true;
  }
  return NSR_OK;
}

/* The stretch that all of a knot lies in already, NSR_NONE: none. */
static uint32_t around(const struct stretches *s, const struct nsr_knot *knot) {
  uint32_t o = s->owner[s->g->block_of[knot->insns[0]]];
  if (o == NSR_NONE || s->v.v[o].gone)
    return NSR_NONE;
  for (uint32_t i = 1; i < knot->n; i++)
    if (s->owner[s->g->block_of[knot->insns[i]]] != o)
      return NSR_NONE;
  return o;
}

static enum nsr_status add(struct stretches *s, uint32_t knot) {
  const struct nsr_knot *k = &s->knots->v[knot];
  struct grown x = {.knot = knot};
  uint32_t o = around(s, k);
  if (o != NSR_NONE) {
    if (better(s, knot, s->v.v[o].knot))
      s->v.v[o].knot = knot;
    return NSR_OK;
  }
  for (uint32_t i = 0; i < k->n; i++) {
    uint32_t b = s->g->block_of[k->insns[i]];
    if (s->g->blocks[b].idom != NSR_NONE)
      NSR_PUSH(s->ctx, NSR_SCRATCH, &x.seeds, b);
  }
  if (!x.seeds.n)
    return nsr_refuse_knot(s->ctx, s->g->program, s->g->engine, k);
  for (bool any = true; any;) {
    NSR_TRY(grow(s, &x));
    NSR_TRY(absorb(s, &x, &any));
  }
  for (size_t i = 0; i < x.blocks.n; i++)
    s->owner[x.blocks.v[i]] = (uint32_t)s->v.n;
  NSR_PUSH(s->ctx, NSR_SCRATCH, &s->v, x);
  return NSR_OK;
}

/* ---- collapsing */

/* Whether no way through x passes by all barriers. */
static bool is_barred(struct stretches *s, const struct grown *x) {
  uint32_t turn = ++s->turn, top = 0;
  s->stamp[x->entry] = turn;
  s->stack[top++] = x->entry;
  while (top > 0) {
    uint32_t b = s->stack[--top];
    if (nsr_cfg_has_barrier(s->g, b))
      continue;
    for (int j = 0; j < 2; j++) {
      uint32_t y = s->g->blocks[b].succ[j];
      if (y == x->behind)
        return false;
      if (y == NSR_NONE || s->stamp[y] == turn)
        continue;
      s->stamp[y] = turn;
      s->stack[top++] = y;
    }
  }
  return true;
}

static void collapse(struct stretches *s, const struct grown *x) {
  struct nsr_cfg *g = s->g;
  const struct nsr_knot *k = &s->knots->v[x->knot];
  bool barred = is_barred(s, x);
  for (size_t i = 0; i < x->blocks.n; i++)
    g->blocks[x->blocks.v[i]].stretch = g->nstretches;
  g->blocks[x->entry].succ[0] = x->behind;
  g->blocks[x->entry].succ[1] = NSR_NONE;
  g->stretches[g->nstretches++] =
      (struct nsr_stretch){NULL,        (uint32_t)x->blocks.n,
                           x->entry,    barred,
                           k->opposite, k->insn,
                           k->what,     k->why};
}

/* The blocks of each in stream order, in one pass. */
static enum nsr_status list_blocks(struct stretches *s) {
  struct nsr_cfg *g = s->g;
  uint32_t *all, *next, at = 0;
  NSR_NEW(s->ctx, NSR_SCRATCH, all, g->nblocks);
  NSR_NEW(s->ctx, NSR_SCRATCH, next, g->nstretches);
  for (uint32_t i = 0; i < g->nstretches; i++) {
    g->stretches[i].blocks = all + at;
    next[i] = at;
    at += g->stretches[i].nblocks;
  }
  for (uint32_t b = 0; b < g->nblocks; b++)
    if (g->blocks[b].stretch != NSR_NONE)
      all[next[g->blocks[b].stretch]++] = b;
  return NSR_OK;
}

enum nsr_status nsr_stretches_make(struct nsr_ctx *ctx, struct nsr_cfg *g,
                                   const struct nsr_preds *preds,
                                   const struct nsr_knots *knots) {
  struct stretches s = {
      .ctx = ctx, .g = g, .preds = preds, .knots = knots, .end = g->nblocks};
  NSR_NEW(ctx, NSR_SCRATCH, s.stack, g->nblocks + 1);
  NSR_NEW(ctx, NSR_SCRATCH, s.stamp, g->nblocks + 1);
  NSR_NEW(ctx, NSR_SCRATCH, s.owner, g->nblocks);
  NSR_NEW(ctx, NSR_SCRATCH, g->stretches, knots->n);
  g->nstretches = 0;
  NSR_TRY(find_postdominators(&s));
  for (uint32_t b = 0; b < g->nblocks; b++)
    s.owner[b] = NSR_NONE;
  for (size_t k = 0; k < knots->n; k++)
    NSR_TRY(add(&s, (uint32_t)k));
  for (size_t i = 0; i < s.v.n; i++)
    if (!s.v.v[i].gone)
      collapse(&s, &s.v.v[i]);
  return list_blocks(&s);
}
