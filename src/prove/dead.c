/* dead.c - which registers a stream names, and where they are in use. */
#include "prove/dead.h"

#include <string.h>

#include "base/bitset.h"

static void use(uint64_t *set, int reg) {
  if (reg >= 0)
    nsr_bit_set(set, (size_t)reg);
}

static void use_val(uint64_t *set, const struct nsr_val *v) {
  if (v->is_reg)
    use(set, v->v);
}

/* All that x reads. */
static void uses(const struct nsr_insn *x, uint64_t *set) {
  use_val(set, &x->a);
  use_val(set, &x->b);
  if (x->wait.cmp)
    use_val(set, &x->wait.value);
  use(set, x->cond);
  use(set, x->value_reg);
  for (int i = 0; i < x->noperands; i++) {
    const struct nsr_operand *o = &x->operands[i];
    use(set, o->reg);
    for (int d = 0; d < o->ndims; d++)
      if (o->dims[d].count_is_reg)
        use(set, o->dims[d].count);
  }
}

enum nsr_status nsr_live_init(struct nsr_ctx *ctx, const struct nsr_program *p,
                              int engine, struct nsr_live *out) {
  const struct nsr_stream *s = p->stream[engine];
  *out = (struct nsr_live){.words = nsr_bits_words(p->k->isa->registers)};
  NSR_NEW(ctx, NSR_SCRATCH, out->named, out->words);
  for (uint32_t i = 0; i < s->n; i++) {
    struct nsr_insn x;
    NSR_TRY(nsr_stream_decode(ctx, p->k, s, i, &x));
    uses(&x, out->named);
    use(out->named, x.dst);
  }
  return NSR_OK;
}

/* From what is in use behind instructions first..end-1 to what is in front. */
static enum nsr_status backwards(struct nsr_ctx *ctx, const struct nsr_cfg *g,
                                 uint32_t first, uint32_t end, uint64_t *set) {
  const struct nsr_program *p = g->program;
  for (uint32_t i = end; i-- > first;) {
    struct nsr_insn x;
    NSR_TRY(nsr_stream_decode(ctx, p->k, p->stream[g->engine], i, &x));
    if (x.dst >= 0)
      nsr_bit_clear(set, (size_t)x.dst);
    uses(&x, set);
  }
  return NSR_OK;
}

static void behind(const struct nsr_cfg *g, const struct nsr_live *live,
                   uint32_t b, uint64_t *set) {
  memset(set, 0, live->words * sizeof *set);
  for (int j = 0; j < 2; j++)
    if (g->blocks[b].succ[j] != NSR_NONE)
      nsr_bits_or(set, live->in + g->blocks[b].succ[j] * live->words,
                  live->words);
}

static enum nsr_status solve(struct nsr_ctx *ctx, const struct nsr_cfg *g,
                             struct nsr_live *live) {
  uint64_t *set;
  NSR_NEW(ctx, NSR_SCRATCH, set, live->words);
  NSR_NEW(ctx, NSR_SCRATCH, live->in, live->words * g->nblocks);
  for (bool again = true; again;) {
    again = false;
    for (uint32_t b = g->nblocks; b-- > 0;) {
      const struct nsr_block *x = &g->blocks[b];
      behind(g, live, b, set);
      NSR_TRY(backwards(ctx, g, x->first, x->first + x->n, set));
      again |= nsr_bits_or(live->in + b * live->words, set, live->words);
    }
  }
  return NSR_OK;
}

enum nsr_status nsr_live_at(struct nsr_ctx *ctx, const struct nsr_cfg *g,
                            struct nsr_live *live, uint32_t i, int reg,
                            bool *out) {
  uint64_t *set;
  uint32_t b = g->block_of[i];
  *out = false;
  if (!nsr_bit(live->named, (size_t)reg))
    return NSR_OK;
  if (!live->in)
    NSR_TRY(solve(ctx, g, live));
  NSR_NEW(ctx, NSR_SCRATCH, set, live->words);
  behind(g, live, b, set);
  NSR_TRY(backwards(ctx, g, i, g->blocks[b].first + g->blocks[b].n, set));
  *out = nsr_bit(set, (size_t)reg);
  return NSR_OK;
}
