/* ranges.c - liveness of registers by blocks, and intervals of items. */
#include "sync/ranges.h"

#include <stdlib.h>
#include <string.h>

#include "base/bitset.h"

struct build {
  struct nsr_ctx *ctx;
  const struct nsr_scopes *own;
  const struct nsr_cfg *g;
  const struct nsr_stream *s;
  size_t words;
  uint64_t *reads, *sets; /* by instruction */
  uint64_t *live;         /* by block: in front of it */
};

/* ---- items */

static enum nsr_status find_items(struct build *b, struct nsr_ranges *out) {
  const struct nsr_scopes *own = b->own;
  uint32_t *item_of, *top; /* by instruction; by scope: its item */
  NSR_NEW(b->ctx, NSR_SCRATCH, item_of, b->s->n);
  NSR_NEW(b->ctx, NSR_SCRATCH, top, own->nscopes);
  out->items = own->items + own->scopes[0].first_item;
  out->nitems = own->scopes[0].nitems;
  for (uint32_t i = 0; i < b->s->n; i++)
    item_of[i] = NSR_NONE;
  for (uint32_t k = 0; k < out->nitems; k++) {
    const struct nsr_item *x = &out->items[k];
    if (x->is_scope)
      top[x->first] = k;
    for (uint32_t i = x->first; !x->is_scope && i < x->first + x->n; i++)
      item_of[i] = k;
  }
  for (uint32_t s = 1; s < own->nscopes; s++)
    if (own->scopes[s].parent != 0)
      top[s] = top[own->scopes[s].parent];
  for (uint32_t i = 0; i < b->s->n; i++) {
    uint32_t scope = own->scope_of[b->g->block_of[i]];
    if (item_of[i] == NSR_NONE && scope != NSR_NONE && scope != 0)
      item_of[i] = top[scope];
  }
  out->item_of = item_of;
  return NSR_OK;
}

/* ---- liveness */

static enum nsr_status decode_all(struct build *b) {
  NSR_NEW(b->ctx, NSR_SCRATCH, b->reads, b->s->n * b->words);
  NSR_NEW(b->ctx, NSR_SCRATCH, b->sets, b->s->n * b->words);
  for (uint32_t i = 0; i < b->s->n; i++) {
    struct nsr_insn x;
    NSR_TRY(nsr_stream_decode(b->ctx, b->g->program->k, b->s, i, &x));
    if (x.dst >= 0)
      nsr_bit_set(b->sets + i * b->words, (size_t)x.dst);
    x.dst = -1;
    nsr_mark_registers(b->reads + i * b->words, &x);
  }
  return NSR_OK;
}

/* From what is live behind instruction i to what is in front of it. */
static void step_back(const struct build *b, uint32_t i, uint64_t *live) {
  for (size_t w = 0; w < b->words; w++)
    live[w] =
        (live[w] & ~b->sets[i * b->words + w]) | b->reads[i * b->words + w];
}

/* What is live in front of an instruction, as far as blocks are known. */
static void live_at(const struct build *b, uint32_t insn, uint64_t *out) {
  const struct nsr_block *block = &b->g->blocks[b->g->block_of[insn]];
  memset(out, 0, b->words * sizeof *out);
  for (int j = 0; j < 2; j++)
    for (size_t w = 0; block->succ[j] != NSR_NONE && w < b->words; w++)
      out[w] |= b->live[block->succ[j] * b->words + w];
  for (uint32_t i = block->first + block->n; i-- > insn;)
    step_back(b, i, out);
}

static enum nsr_status find_live(struct build *b) {
  uint64_t *now;
  bool changed = true;
  NSR_NEW(b->ctx, NSR_SCRATCH, b->live, b->g->nblocks * b->words);
  NSR_NEW(b->ctx, NSR_SCRATCH, now, b->words);
  while (changed) {
    changed = false;
    for (uint32_t k = b->g->nblocks; k-- > 0;) {
      uint64_t *live = b->live + k * b->words;
      live_at(b, b->g->blocks[k].first, now);
      if (memcmp(now, live, b->words * sizeof *now) != 0) {
        memcpy(live, now, b->words * sizeof *now);
        changed = true;
      }
    }
  }
  return NSR_OK;
}

static void join(uint64_t *to, const uint64_t *from, size_t words) {
  for (size_t w = 0; w < words; w++)
    to[w] |= from[w];
}

static enum nsr_status find_busy(struct build *b, struct nsr_ranges *out) {
  uint64_t *live;
  NSR_NEW(b->ctx, NSR_SCRATCH, out->busy, out->nitems * b->words);
  NSR_NEW(b->ctx, NSR_SCRATCH, live, b->words);
  for (uint32_t i = 0; i < b->s->n; i++) {
    uint32_t k = out->item_of[i];
    for (uint32_t j = k == NSR_NONE ? 0 : k;
         j < out->nitems && (k == NSR_NONE || j == k); j++) {
      join(out->busy + j * b->words, b->reads + i * b->words, b->words);
      join(out->busy + j * b->words, b->sets + i * b->words, b->words);
    }
  }
  for (uint32_t k = 0; k < out->nitems; k++) {
    const struct nsr_item *x = &out->items[k];
    live_at(b, x->is_scope ? b->own->scopes[x->first].entry : x->first, live);
    join(out->busy + k * b->words, live, b->words);
  }
  return NSR_OK;
}

/* What is to be left alone serves nobody, idle or not. */
static void keep_reserved(const struct build *b, int engine,
                          struct nsr_ranges *out) {
  for (uint32_t reg = 0; reg < out->nregs; reg++)
    if (nsr_facts_keep_register(b->g->program->facts, engine, reg))
      for (uint32_t k = 0; k < out->nitems; k++)
        nsr_bit_set(out->busy + k * b->words, reg);
}

enum nsr_status nsr_ranges_find(struct nsr_ctx *ctx, const struct nsr_tree *t,
                                int engine, struct nsr_ranges *out) {
  struct build b = {.ctx = ctx,
                    .own = &t->local[engine],
                    .g = t->local[engine].cfg,
                    .s = t->program->stream[engine],
                    .words = nsr_bits_words(t->program->k->isa->registers)};
  *out = (struct nsr_ranges){.nregs = t->program->k->isa->registers};
  NSR_TRY(find_items(&b, out));
  NSR_TRY(decode_all(&b));
  NSR_TRY(find_live(&b));
  NSR_TRY(find_busy(&b, out));
  keep_reserved(&b, engine, out);
  return NSR_OK;
}

/* ---- registers for intervals */

static bool idle(const struct nsr_ranges *r, uint32_t reg, uint32_t from,
                 uint32_t to) {
  size_t words = nsr_bits_words(r->nregs);
  for (uint32_t k = from; k <= to; k++)
    if (nsr_bit(r->busy + k * words, reg))
      return false;
  return true;
}

static int by_start(const void *a, const void *b) {
  const struct nsr_use *const *x = a, *const *y = b;
  if ((*x)->from != (*y)->from)
    return (*x)->from < (*y)->from ? -1 : 1;
  return *x < *y ? -1 : *x > *y;
}

/* A register for a use: one that serves already, or another. next[r]: the item
 * behind its last use, 0: it serves nobody. */
static int16_t pick(const struct nsr_ranges *r, const struct nsr_free *fresh,
                    uint32_t room, const uint32_t *next,
                    const struct nsr_use *use) {
  for (uint32_t reg = 0; reg < r->nregs; reg++)
    if (next[reg] && next[reg] <= use->from && idle(r, reg, use->from, use->to))
      return (int16_t)reg;
  if (room == 0)
    return NSR_NO_REG;
  for (uint32_t i = 0; i < fresh->n; i++)
    if (!next[fresh->v[i]])
      return fresh->v[i];
  for (uint32_t reg = 0; reg < r->nregs; reg++)
    if (!next[reg] && idle(r, reg, use->from, use->to))
      return (int16_t)reg;
  return NSR_NO_REG;
}

enum nsr_status nsr_ranges_assign(struct nsr_ctx *ctx,
                                  const struct nsr_ranges *r,
                                  const struct nsr_free *fresh, uint32_t max,
                                  struct nsr_uses *uses, uint32_t *n) {
  struct nsr_use **order;
  uint32_t *next;
  *n = 0;
  NSR_NEW(ctx, NSR_SCRATCH, order, uses->n);
  NSR_NEW(ctx, NSR_SCRATCH, next, r->nregs);
  for (uint32_t i = 0; i < uses->n; i++)
    order[i] = &uses->v[i];
  if (uses->n)
    qsort(order, uses->n, sizeof(struct nsr_use *), by_start);
  for (uint32_t i = 0; i < uses->n; i++) {
    struct nsr_use *use = order[i];
    use->reg = pick(r, fresh, max - *n, next, use);
    if (use->reg == NSR_NO_REG) {
      *n = 0;
      return NSR_OK;
    }
    *n += next[use->reg] == 0;
    next[use->reg] = use->to + 1;
  }
  return NSR_OK;
}
