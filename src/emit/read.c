/* read.c - mirrors that are read, from the ends of blocks to their starts.
 *
 * A piece is what lies between two barriers that stay, or the ends of a block:
 * each piece but the first begins behind a barrier.
 */
#include "emit/read.h"

#include <string.h>

struct reading {
  const struct nsr_plan *plan;
  const struct nsr_cfg *g;
  const struct nsr_entries *entries;
  uint32_t words;
  uint32_t *piece_of;    /* by instruction */
  uint32_t *first_piece; /* by block, and one more */
  uint64_t *read;        /* by piece: in it */
  uint64_t *in;          /* by block: from its start on */
};

static uint64_t *set_of(const struct reading *r, uint64_t *sets, uint32_t i) {
  return sets + (size_t)i * r->words;
}

static enum nsr_status cut(struct nsr_ctx *ctx, struct reading *r, uint32_t n,
                           const uint32_t *reset_at) {
  uint32_t piece = 0;
  NSR_NEW(ctx, NSR_SCRATCH, r->piece_of, n);
  NSR_NEW(ctx, NSR_SCRATCH, r->first_piece, r->g->nblocks + (size_t)1);
  for (uint32_t b = 0; b < r->g->nblocks; b++) {
    const struct nsr_block *x = &r->g->blocks[b];
    r->first_piece[b] = piece;
    for (uint32_t i = x->first; i < x->first + x->n; i++) {
      r->piece_of[i] = piece;
      piece += reset_at[i] != NSR_NONE;
    }
    piece++;
  }
  r->first_piece[r->g->nblocks] = piece;
  NSR_NEW(ctx, NSR_SCRATCH, r->read, (size_t)piece * r->words);
  NSR_NEW(ctx, NSR_SCRATCH, r->in, (size_t)r->g->nblocks * r->words);
  return NSR_OK;
}

static void add_wait(const struct reading *r, const struct nsr_plan_wait *x,
                     uint32_t insn) {
  if (x->is_reg && !x->back)
    nsr_bit_set(set_of(r, r->read, r->piece_of[insn]),
                x->mirror - r->entries->first_mirror);
}

/* Whether any threshold is computed: that may be from any mirror. */
static bool computes(const struct nsr_plan *plan) {
  bool any = false;
  for (uint32_t i = 0; i < plan->nwaits; i++)
    any |= plan->waits[i].nops > 0;
  return any;
}

static void add_reads(const struct reading *r, int engine) {
  const struct nsr_tree *t = r->plan->tree;
  for (uint32_t i = 0; i < r->plan->nwaits; i++) {
    const struct nsr_plan_wait *x = &r->plan->waits[i];
    if (t->works[x->c].engine == engine && x->at == NSR_NONE)
      add_wait(r, x, t->works[x->c].insn);
  }
  for (size_t i = 0; i < r->entries->n; i++) {
    const struct nsr_entry *e = &r->entries->v[i];
    if (e->kind == NSR_ENTRY_WAIT)
      add_wait(r, &r->plan->waits[e->which], e->insn);
    else if (e->kind == NSR_ENTRY_SNAPSHOT)
      nsr_bit_set(set_of(r, r->read, r->piece_of[e->insn]),
                  r->plan->snapshots[e->which].mirror -
                      r->entries->first_mirror);
  }
}

/* What is read from the end of a block on. Who proves the output need not see
 * that of two arms only one runs: mirrors are right behind the first one for
 * the other one, too, so branches may all be passed by. */
static void behind(const struct reading *r, uint32_t b, uint64_t *out) {
  uint32_t next = b + 1 < r->g->nblocks ? b + 1 : NSR_NONE;
  const uint32_t *succ = r->g->blocks[b].succ;
  uint32_t to[] = {succ[0], succ[1], succ[0] == NSR_NONE ? NSR_NONE : next};
  memset(out, 0, r->words * sizeof *out);
  for (int i = 0; i < 3; i++)
    if (to[i] != NSR_NONE)
      nsr_bits_or(out, set_of(r, r->in, to[i]), r->words);
}

/* Whether more is read from a block's start on than was known; room: for a
 * set. */
static bool step_back(const struct reading *r, uint32_t b, uint64_t *room) {
  uint64_t *in = set_of(r, r->in, b);
  uint32_t first = r->first_piece[b];
  bool more = nsr_bits_or(in, set_of(r, r->read, first), r->words);
  if (r->first_piece[b + 1] > first + 1)
    return more;
  behind(r, b, room);
  return nsr_bits_or(in, room, r->words) || more;
}

/* Code without structure, which may go anywhere, reads all. */
static void go_back(const struct reading *r, uint64_t *room) {
  bool more = true;
  for (uint32_t b = 0; b < r->g->nblocks; b++)
    if (r->g->blocks[b].rpo == NSR_NONE || r->g->blocks[b].stretch != NSR_NONE)
      memset(set_of(r, r->in, b), 0xff, r->words * sizeof *room);
  while (more) {
    more = false;
    for (uint32_t i = r->g->norder; i-- > 0;)
      more |= step_back(r, r->g->order[i], room);
  }
}

static void collect(const struct reading *r, uint32_t n,
                    const struct nsr_read *out) {
  const uint32_t *reset_at = out->reset_at;
  for (uint32_t i = 0; i < n; i++) {
    if (reset_at[i] == NSR_NONE)
      continue;
    uint32_t b = r->g->block_of[i], piece = r->piece_of[i] + 1;
    uint64_t *set = set_of(r, out->of, reset_at[i]);
    if (piece + 1 == r->first_piece[b + 1])
      behind(r, b, set);
    if (r->g->blocks[b].stretch != NSR_NONE)
      memset(set, 0xff, r->words * sizeof *set);
    nsr_bits_or(set, set_of(r, r->read, piece), r->words);
  }
}

static enum nsr_status find_resets(struct nsr_ctx *ctx,
                                   const struct nsr_plan *plan, int engine,
                                   uint32_t n, const uint32_t **out) {
  uint32_t *at;
  NSR_NEW(ctx, NSR_SCRATCH, at, n);
  for (uint32_t i = 0; i < n; i++)
    at[i] = NSR_NONE;
  for (uint32_t r = 0; r < plan->resets.n; r++)
    at[plan->tree->parts[plan->resets.v[r].part].insn[engine]] = r;
  *out = at;
  return NSR_OK;
}

enum nsr_status nsr_read_find(struct nsr_ctx *ctx, const struct nsr_plan *plan,
                              int engine, const struct nsr_entries *entries,
                              struct nsr_read *out) {
  struct reading r = {.plan = plan,
                      .g = plan->tree->local[engine].cfg,
                      .entries = entries,
                      .words = (uint32_t)nsr_bits_words(entries->nmirrors)};
  uint32_t n = plan->tree->program->stream[engine]->n;
  uint64_t *room;
  out->words = r.words;
  NSR_TRY(find_resets(ctx, plan, engine, n, &out->reset_at));
  NSR_NEW(ctx, NSR_SCRATCH, out->of, (size_t)plan->resets.n * r.words);
  if (plan->resets.n == 0 || r.words == 0)
    return NSR_OK;
  if (computes(plan)) {
    memset(out->of, 0xff, (size_t)plan->resets.n * r.words * sizeof *out->of);
    return NSR_OK;
  }
  NSR_NEW(ctx, NSR_SCRATCH, room, r.words);
  NSR_TRY(cut(ctx, &r, n, out->reset_at));
  add_reads(&r, engine);
  go_back(&r, room);
  collect(&r, n, out);
  return NSR_OK;
}
