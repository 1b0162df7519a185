/* exits.c - what runs only on the way out of a loop is part of its last
 * iteration.
 *
 *   while (more) { ..; if (found) { sync; save; break; } ..; sync; }
 *
 * The code in front of `break` leads to no back edge, so the natural loop does
 * not hold it and is left to two places. Taken into the loop, it is an arm in
 * its body, and the loop is left to one. */
#include "ir/exits.h"

#include <string.h>

#include "base/vec.h"

struct gather {
  struct nsr_ctx *ctx;
  struct nsr_cfg *g;
  const struct nsr_preds *preds;
  uint32_t *at, *to; /* by loop: the blocks that its edges lead out to */
  uint32_t *seen;    /* by block: 1 + the loop that it is a way out of */
  uint32_t *taken;   /* by block: 1 + the loop that it shall join */
  uint32_t *list, n; /* those that join the loop at hand */
  uint32_t open;     /* ways out that do not */
};

/* Counts (to == NULL) or lists the edges out of each loop. */
static void each_way_out(struct gather *w, uint32_t *next, uint32_t *to) {
  const struct nsr_cfg *g = w->g;
  for (uint32_t i = 0; i < g->norder; i++)
    for (int j = 0; j < 2; j++) {
      const struct nsr_block *x = &g->blocks[g->order[i]];
      uint32_t s = x->succ[j], l = x->loop;
      for (; s != NSR_NONE && l != NSR_NONE && !nsr_cfg_in_loop(g, s, l);
           l = g->loops[l].parent) {
        if (to)
          to[next[l]] = s;
        next[l]++;
      }
    }
}

static enum nsr_status list_ways_out(struct gather *w) {
  uint32_t n = w->g->nloops, *next;
  NSR_NEW(w->ctx, NSR_SCRATCH, w->at, n + 1);
  NSR_NEW(w->ctx, NSR_SCRATCH, next, n + 1);
  each_way_out(w, w->at + 1, NULL);
  for (uint32_t l = 0; l < n; l++)
    w->at[l + 1] += w->at[l];
  memcpy(next, w->at, (n + 1) * sizeof *next);
  NSR_NEW(w->ctx, NSR_SCRATCH, w->to, w->at[n]);
  each_way_out(w, next, w->to);
  return NSR_OK;
}

/* The header of the loop directly in `level` that block lies in, or block. */
static uint32_t top_of(const struct nsr_cfg *g, uint32_t block,
                       uint32_t level) {
  uint32_t l = g->blocks[block].loop;
  if (l == level)
    return block;
  while (l != NSR_NONE && g->loops[l].parent != level)
    l = g->loops[l].parent;
  return l == NSR_NONE ? NSR_NONE : g->loops[l].header;
}

static bool halts(const struct nsr_cfg *g, uint32_t block) {
  return g->blocks[block].succ[0] == NSR_NONE;
}

static void see(struct gather *w, uint32_t loop, uint32_t block) {
  w->open += w->seen[block] != loop + 1;
  w->seen[block] = loop + 1;
}

/* Whether x, or the loop that it heads, is reached from loop and what joins it
 * only. */
static bool behind(const struct gather *w, uint32_t loop, uint32_t x) {
  const struct nsr_cfg *g = w->g;
  uint32_t level = g->loops[loop].parent;
  if (top_of(g, x, level) != x)
    return false;
  for (uint32_t j = w->preds->at[x]; j < w->preds->at[x + 1]; j++) {
    uint32_t top = top_of(g, w->preds->pred[j], level);
    if (top != x && top != g->loops[loop].header &&
        (top == NSR_NONE || w->taken[top] != loop + 1))
      return false;
  }
  return true;
}

static void join(struct gather *w, uint32_t loop, uint32_t x) {
  const struct nsr_block *b = &w->g->blocks[x];
  w->taken[x] = loop + 1;
  w->list[w->n++] = x;
  w->open--;
  if (b->loop != w->g->loops[loop].parent) {
    for (uint32_t i = w->at[b->loop]; i < w->at[b->loop + 1]; i++)
      if (!nsr_cfg_in_loop(w->g, w->to[i], b->loop))
        see(w, loop, w->to[i]);
    return;
  }
  for (int j = 0; j < 2; j++)
    if (b->succ[j] != NSR_NONE)
      see(w, loop, b->succ[j]);
}

/* Nodes join in reverse postorder, up to where one way out is left; what
 * cannot join leaves the loop as it was. */
static void gather(struct gather *w, uint32_t loop) {
  const struct nsr_cfg *g = w->g;
  w->n = w->open = 0;
  for (uint32_t i = w->at[loop]; i < w->at[loop + 1]; i++) {
    if (halts(g, w->to[i]) && behind(w, loop, w->to[i]))
      return; /* the others never meet it */
    see(w, loop, w->to[i]);
  }
  for (uint32_t i = g->blocks[g->loops[loop].header].rpo + 1;
       w->open > 1 && i < g->norder; i++) {
    uint32_t x = g->order[i];
    if (w->seen[x] != loop + 1)
      continue;
    if (halts(g, x) || !behind(w, loop, x))
      return;
    join(w, loop, x);
  }
  for (uint32_t i = 0; w->open == 1 && i < w->n; i++) {
    struct nsr_block *b = &w->g->blocks[w->list[i]];
    if (b->loop == g->loops[loop].parent)
      b->loop = loop;
    else
      w->g->loops[b->loop].parent = loop;
  }
}

enum nsr_status nsr_exits_gather(struct nsr_ctx *ctx, struct nsr_cfg *g,
                                 const struct nsr_preds *preds) {
  struct gather w = {.ctx = ctx, .g = g, .preds = preds};
  NSR_TRY(list_ways_out(&w));
  NSR_NEW(ctx, NSR_SCRATCH, w.seen, g->nblocks);
  NSR_NEW(ctx, NSR_SCRATCH, w.taken, g->nblocks);
  NSR_NEW(ctx, NSR_SCRATCH, w.list, g->nblocks);
  for (uint32_t l = 0; l < g->nloops; l++)
    gather(&w, l);
  return NSR_OK;
}
