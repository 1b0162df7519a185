/* cfg.c - blocks, dominators, loops. */
#include "ir/cfg.h"

#include "base/vec.h"
#include "ir/exits.h"
#include "ir/stretch.h"

static bool ends_block(const struct nsr_node *n) {
  return n->ctl == NSR_CTL_BR || n->ctl == NSR_CTL_HALT;
}

/* Marks the first instruction of each block. apart: barriers and branches with
 * a condition are blocks of their own, so that stretches start and end there.
 */
static enum nsr_status find_leaders(struct nsr_ctx *ctx,
                                    const struct nsr_node *nodes, uint32_t n,
                                    bool apart, bool **out) {
  bool *leader;
  NSR_NEW(ctx, NSR_SCRATCH, leader, n + 1);
  leader[0] = true;
  for (uint32_t i = 0; i < n; i++) {
    if (nodes[i].ctl == NSR_CTL_BR)
      leader[nodes[i].aux] = true;
    if (nodes[i].ctl == NSR_CTL_BR && !nodes[i].always && apart)
      leader[i] = true;
    if (nodes[i].cls == NSR_BARRIER && apart)
      leader[i] = leader[i + 1] = true;
    if (ends_block(&nodes[i]))
      leader[i + 1] = true;
  }
  *out = leader;
  return NSR_OK;
}

static void link_block(struct nsr_cfg *g, const struct nsr_node *nodes,
                       struct nsr_block *b) {
  uint32_t last = b->first + b->n - 1;
  const struct nsr_node *n = &nodes[last];
  b->succ[0] = b->succ[1] = NSR_NONE;
  if (n->ctl == NSR_CTL_HALT)
    return;
  if (n->ctl != NSR_CTL_BR) {
    b->succ[0] = g->block_of[last + 1];
    return;
  }
  b->succ[0] = g->block_of[n->aux];
  if (!n->always && g->block_of[last + 1] != b->succ[0])
    b->succ[1] = g->block_of[last + 1];
}

static enum nsr_status make_blocks(struct nsr_ctx *ctx, bool apart,
                                   struct nsr_cfg *g) {
  const struct nsr_node *nodes = g->program->nodes[g->engine];
  uint32_t n = g->program->stream[g->engine]->n;
  bool *leader;
  NSR_TRY(find_leaders(ctx, nodes, n, apart, &leader));
  uint32_t *block_of;
  NSR_NEW(ctx, NSR_SCRATCH, block_of, n);
  for (uint32_t i = 0; i < n; i++) {
    g->nblocks += leader[i];
    block_of[i] = g->nblocks - 1;
  }
  g->block_of = block_of;
  NSR_NEW(ctx, NSR_SCRATCH, g->blocks, g->nblocks);
  for (uint32_t i = 0; i < n; i++) {
    struct nsr_block *b = &g->blocks[block_of[i]];
    if (leader[i])
      b->first = i;
    b->n++;
  }
  for (uint32_t b = 0; b < g->nblocks; b++) {
    struct nsr_block *x = &g->blocks[b];
    link_block(g, nodes, x);
    x->idom = x->rpo = x->loop = x->stretch = NSR_NONE;
  }
  return NSR_OK;
}

/* Depth-first numbering with a stack of its own. */
static enum nsr_status number_blocks(struct nsr_ctx *ctx, struct nsr_cfg *g) {
  uint32_t *stack, *order;
  uint8_t *next; /* successors already visited; 3: not reached yet */
  NSR_NEW(ctx, NSR_SCRATCH, stack, g->nblocks);
  NSR_NEW(ctx, NSR_SCRATCH, order, g->nblocks);
  NSR_NEW(ctx, NSR_SCRATCH, next, g->nblocks);
  for (uint32_t b = 0; b < g->nblocks; b++)
    next[b] = 3;
  uint32_t top = 0, post = g->nblocks;
  stack[top++] = 0;
  next[0] = 0;
  while (top > 0) {
    uint32_t b = stack[top - 1];
    if (next[b] == 2) {
      order[--post] = b;
      top--;
      continue;
    }
    uint32_t s = g->blocks[b].succ[next[b]++];
    if (s != NSR_NONE && next[s] == 3) {
      next[s] = 0;
      stack[top++] = s;
    }
  }
  g->norder = g->nblocks - post;
  g->order = order + post;
  for (uint32_t i = 0; i < g->norder; i++)
    g->blocks[g->order[i]].rpo = i;
  return NSR_OK;
}

static enum nsr_status make_preds(struct nsr_ctx *ctx, const struct nsr_cfg *g,
                                  struct nsr_preds *out) {
  NSR_NEW(ctx, NSR_SCRATCH, out->at, g->nblocks + 2);
  NSR_NEW(ctx, NSR_SCRATCH, out->pred, 2 * (size_t)g->nblocks);
  for (uint32_t i = 0; i < g->norder; i++)
    for (int j = 0; j < 2; j++) {
      uint32_t s = g->blocks[g->order[i]].succ[j];
      if (s != NSR_NONE)
        out->at[s + 2]++;
    }
  for (uint32_t b = 1; b < g->nblocks + 2; b++)
    out->at[b] += out->at[b - 1];
  for (uint32_t i = 0; i < g->norder; i++)
    for (int j = 0; j < 2; j++) {
      uint32_t s = g->blocks[g->order[i]].succ[j];
      if (s != NSR_NONE)
        out->pred[out->at[s + 1]++] = g->order[i];
    }
  return NSR_OK;
}

static uint32_t intersect(const struct nsr_cfg *g, uint32_t a, uint32_t b) {
  while (a != b) {
    while (g->blocks[a].rpo > g->blocks[b].rpo)
      a = g->blocks[a].idom;
    while (g->blocks[b].rpo > g->blocks[a].rpo)
      b = g->blocks[b].idom;
  }
  return a;
}

static void find_dominators(struct nsr_cfg *g, const struct nsr_preds *preds) {
  g->blocks[0].idom = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = 1; i < g->norder; i++) {
      uint32_t b = g->order[i], dom = NSR_NONE;
      for (uint32_t j = preds->at[b]; j < preds->at[b + 1]; j++) {
        uint32_t p = preds->pred[j];
        if (g->blocks[p].idom != NSR_NONE)
          dom = dom == NSR_NONE ? p : intersect(g, dom, p);
      }
      changed |= g->blocks[b].idom != dom;
      g->blocks[b].idom = dom;
    }
  }
}

/* Preorder intervals of the dominator tree answer "dominates" at once. */
static enum nsr_status dominator_intervals(struct nsr_ctx *ctx,
                                           const struct nsr_cfg *g,
                                           uint32_t **pre, uint32_t **size) {
  NSR_NEW(ctx, NSR_SCRATCH, *pre, g->nblocks);
  NSR_NEW(ctx, NSR_SCRATCH, *size, g->nblocks);
  uint32_t *next;
  NSR_NEW(ctx, NSR_SCRATCH, next, g->nblocks);
  for (uint32_t i = g->norder; i-- > 0;) {
    uint32_t b = g->order[i];
    (*size)[b]++;
    if (b != 0)
      (*size)[g->blocks[b].idom] += (*size)[b];
  }
  next[0] = 1;
  for (uint32_t i = 1; i < g->norder; i++) {
    uint32_t b = g->order[i], d = g->blocks[b].idom;
    (*pre)[b] = next[d];
    next[d] += (*size)[b];
    next[b] = (*pre)[b] + 1;
  }
  return NSR_OK;
}

/* Adds to loop all blocks that reach `from` without passing its header,
 * stepping over inner loops that are known already. */
static void collect_loop(struct nsr_cfg *g, const struct nsr_preds *preds,
                         uint32_t loop, uint32_t from, uint32_t *stack) {
  uint32_t top = 0;
  stack[top++] = from;
  while (top > 0) {
    uint32_t b = stack[--top], l = g->blocks[b].loop;
    while (l != NSR_NONE && l != loop && g->loops[l].parent != NSR_NONE)
      l = g->loops[l].parent;
    if (l == loop)
      continue;
    if (l != NSR_NONE) { /* an inner loop: go on in front of it */
      g->loops[l].parent = loop;
      b = g->loops[l].header;
    } else {
      g->blocks[b].loop = loop;
    }
    if (b == g->loops[loop].header)
      continue;
    for (uint32_t j = preds->at[b]; j < preds->at[b + 1]; j++)
      if (!nsr_cfg_in_loop(g, preds->pred[j], loop))
        stack[top++] = preds->pred[j];
  }
}

bool nsr_cfg_in_loop(const struct nsr_cfg *g, uint32_t block, uint32_t loop) {
  if (loop == NSR_NONE)
    return true;
  uint32_t l = g->blocks[block].loop;
  while (l != NSR_NONE && l != loop)
    l = g->loops[l].parent;
  return l == loop;
}

enum nsr_status nsr_refuse_knot(struct nsr_ctx *ctx,
                                const struct nsr_program *p, int engine,
                                const struct nsr_knot *knot) {
  return nsr_fail(ctx, NSR_E_REFUSED, nsr_program_place(p, engine, knot->insn),
                  "control flow here is not structured, and no stretch around "
                  "it has one entry and one exit: %s %s",
                  knot->what, knot->why);
}

/* An edge back to a block that does not dominate where it comes from. */
static enum nsr_status push_entries(struct nsr_ctx *ctx,
                                    const struct nsr_cfg *g, uint32_t from,
                                    uint32_t to, struct nsr_knots *out) {
  uint32_t *insns;
  NSR_NEW(ctx, NSR_SCRATCH, insns, 2);
  insns[0] = g->blocks[to].first;
  insns[1] = g->blocks[from].first;
  NSR_PUSH(ctx, NSR_SCRATCH, out,
           (struct nsr_knot){false, 2, insns[0], insns, "the loop",
                             "has several entries"});
  return NSR_OK;
}

/* Needs dominators. Headers in reverse order of reverse postorder, so inner
 * loops come before outer ones while collecting. */
static enum nsr_status find_loops(struct nsr_ctx *ctx, struct nsr_cfg *g,
                                  const struct nsr_preds *preds,
                                  struct nsr_knots *knots) {
  uint32_t *pre, *size, *stack;
  NSR_TRY(dominator_intervals(ctx, g, &pre, &size));
  NSR_NEW(ctx, NSR_SCRATCH, stack, 2 * (size_t)g->nblocks + 2);
  NSR_NEW(ctx, NSR_SCRATCH, g->loops, g->nblocks);
  for (uint32_t i = g->norder; i-- > 0;) {
    uint32_t h = g->order[i], loop = NSR_NONE;
    for (uint32_t j = preds->at[h]; j < preds->at[h + 1]; j++) {
      uint32_t p = preds->pred[j];
      if (g->blocks[p].rpo < i)
        continue; /* a forward edge */
      if (pre[p] - pre[h] >= size[h]) {
        NSR_TRY(push_entries(ctx, g, p, h, knots));
        continue;
      }
      if (loop == NSR_NONE) {
        loop = g->nloops++;
        g->loops[loop] = (struct nsr_loop){.header = h, .parent = NSR_NONE};
      }
      collect_loop(g, preds, loop, p, stack);
    }
  }
  return NSR_OK;
}

/* Outer loops first, so that a parent's number is below its children's. */
static void number_loops(struct nsr_cfg *g) {
  uint32_t n = g->nloops;
  for (uint32_t i = 0; i < n / 2; i++) {
    struct nsr_loop t = g->loops[i];
    g->loops[i] = g->loops[n - 1 - i];
    g->loops[n - 1 - i] = t;
  }
  for (uint32_t i = 0; i < n; i++) {
    struct nsr_loop *l = &g->loops[i];
    if (l->parent != NSR_NONE)
      l->parent = n - 1 - l->parent;
    l->depth = l->parent == NSR_NONE ? 1 : g->loops[l->parent].depth + 1;
  }
  for (uint32_t b = 0; b < g->nblocks; b++)
    if (g->blocks[b].loop != NSR_NONE)
      g->blocks[b].loop = n - 1 - g->blocks[b].loop;
}

/* Each block is listed by all loops around it. */
static enum nsr_status list_blocks(struct nsr_ctx *ctx, struct nsr_cfg *g) {
  uint32_t n = 0, at = 0, *blocks;
  for (uint32_t i = 0; i < g->norder; i++)
    for (uint32_t l = g->blocks[g->order[i]].loop; l != NSR_NONE;
         l = g->loops[l].parent, n++)
      g->loops[l].nblocks++;
  NSR_NEW(ctx, NSR_SCRATCH, blocks, n);
  for (uint32_t l = 0; l < g->nloops; l++) {
    g->loops[l].blocks = blocks + at;
    at += g->loops[l].nblocks;
    g->loops[l].nblocks = 0;
  }
  for (uint32_t i = 0; i < g->norder; i++)
    for (uint32_t l = g->blocks[g->order[i]].loop; l != NSR_NONE;
         l = g->loops[l].parent) {
      uint32_t first = (uint32_t)(g->loops[l].blocks - blocks);
      blocks[first + g->loops[l].nblocks++] = g->order[i];
    }
  return NSR_OK;
}

bool nsr_cfg_has_barrier(const struct nsr_cfg *g, uint32_t block) {
  const struct nsr_node *nodes = g->program->nodes[g->engine];
  const struct nsr_block *b = &g->blocks[block];
  for (uint32_t i = b->first; i < b->first + b->n; i++)
    if (nodes[i].cls == NSR_BARRIER)
      return true;
  return false;
}

void nsr_cfg_every(const struct nsr_cfg *g, uint32_t l, bool *every) {
  uint32_t h = g->loops[l].header, d = NSR_NONE;
  for (uint32_t i = 0; i < g->loops[l].nblocks; i++) {
    uint32_t x = g->loops[l].blocks[i];
    if (g->blocks[x].succ[0] != h && g->blocks[x].succ[1] != h)
      continue;
    uint32_t a = x; /* the nearest dominator common to all latches */
    while (d != NSR_NONE && a != d)
      if (g->blocks[a].rpo > g->blocks[d].rpo)
        a = g->blocks[a].idom;
      else
        d = g->blocks[d].idom;
    d = a;
  }
  for (;; d = g->blocks[d].idom) {
    every[d] = g->blocks[d].loop == l && g->blocks[d].stretch == NSR_NONE;
    if (d == h)
      return;
  }
}

/* Order, predecessors and dominators, after edges have changed. */
static enum nsr_status find_flow(struct nsr_ctx *ctx, struct nsr_cfg *g,
                                 struct nsr_preds *preds) {
  for (uint32_t b = 0; b < g->nblocks; b++)
    g->blocks[b].idom = g->blocks[b].rpo = NSR_NONE;
  NSR_TRY(number_blocks(ctx, g));
  NSR_TRY(make_preds(ctx, g, preds));
  find_dominators(g, preds);
  return NSR_OK;
}

/* How often edges into the middle of loops are looked for anew. */
enum { MAX_ROUNDS = 16 };

enum nsr_status nsr_cfg_build(struct nsr_ctx *ctx, const struct nsr_program *p,
                              int engine, struct nsr_knots *knots,
                              struct nsr_cfg *out) {
  for (int round = 0;; round++) {
    struct nsr_preds preds = {0};
    size_t known = knots->n;
    *out = (struct nsr_cfg){.program = p, .engine = engine};
    NSR_TRY(make_blocks(ctx, known > 0, out));
    NSR_TRY(find_flow(ctx, out, &preds));
    if (known) {
      NSR_TRY(nsr_stretches_make(ctx, out, &preds, knots));
      NSR_TRY(find_flow(ctx, out, &preds));
    }
    NSR_TRY(find_loops(ctx, out, &preds, knots));
    if (knots->n == known) {
      NSR_TRY(nsr_exits_gather(ctx, out, &preds));
      break;
    }
    if (round == MAX_ROUNDS)
      return nsr_refuse_knot(ctx, p, engine, &knots->v[known]);
  }
  number_loops(out);
  return list_blocks(ctx, out);
}
