/* mutant.c - one weaker wait. Everything here is public interface: what a
 * rewriter knows about its own waits is not used. */
#include "mutant.h"

#include <string.h>

#include "base/vec.h"

enum nsr_status sites_find(struct nsr_ctx *ctx, const struct nsr_kernel *k,
                           struct site **sites, size_t *n) {
  NSR_VEC(struct site) found = {0};
  for (uint32_t s = 0; s < k->nstreams; s++)
    for (uint32_t i = 0; i < k->streams[s].n; i++) {
      struct nsr_insn insn;
      NSR_TRY(nsr_stream_decode(ctx, k, &k->streams[s], i, &insn));
      if (insn.wait.cmp != NSR_CMP_NONE && nsr_owned(k, insn.wait.sem))
        NSR_PUSH(ctx, NSR_KEEP, &found, ((struct site){s, i, insn.wait}));
    }
  *sites = found.v;
  *n = found.n;
  return NSR_OK;
}

/* A copy with its own array of streams, and room for one more instruction in
 * stream s. */
static enum nsr_status copy(struct nsr_ctx *ctx, const struct nsr_kernel *k,
                            uint32_t s, struct nsr_kernel **out,
                            struct nsr_stream **stream, uint8_t **code) {
  struct nsr_kernel *m;
  struct nsr_stream *streams;
  size_t word = k->isa->word;
  NSR_NEW(ctx, NSR_KEEP, m, 1);
  NSR_NEW(ctx, NSR_KEEP, streams, k->nstreams);
  NSR_NEW(ctx, NSR_KEEP, *code, (k->streams[s].n + 1) * word);
  memcpy(streams, k->streams, k->nstreams * sizeof *streams);
  memcpy(*code, k->streams[s].code, k->streams[s].n * word);
  *m = *k;
  m->streams = streams;
  streams[s].code = *code;
  *stream = &streams[s];
  *out = m;
  return NSR_OK;
}

static void use(uint64_t *used, int64_t reg) {
  if (reg >= 0 && reg < 64)
    *used |= UINT64_C(1) << reg;
}

static void use_val(uint64_t *used, struct nsr_val v) {
  if (v.is_reg)
    use(used, v.v);
}

static void registers_of(const struct nsr_insn *insn, uint64_t *used) {
  use(used, insn->dst);
  use(used, insn->cond);
  use(used, insn->value_reg);
  use_val(used, insn->a);
  use_val(used, insn->b);
  if (insn->wait.cmp != NSR_CMP_NONE)
    use_val(used, insn->wait.value);
  for (int i = 0; i < insn->noperands; i++) {
    const struct nsr_operand *op = &insn->operands[i];
    use(used, op->reg);
    for (int d = 0; d < op->ndims; d++)
      if (op->dims[d].count_is_reg)
        use(used, op->dims[d].count);
  }
}

/* A register that no instruction of s names, -1: none. */
static enum nsr_status free_register(struct nsr_ctx *ctx,
                                     const struct nsr_kernel *k,
                                     const struct nsr_stream *s, int *reg) {
  uint64_t used = 0;
  for (uint32_t i = 0; i < s->n; i++) {
    struct nsr_insn insn;
    NSR_TRY(nsr_stream_decode(ctx, k, s, i, &insn));
    registers_of(&insn, &used);
  }
  *reg = -1;
  for (int r = 0; r < k->isa->registers && r < 64 && *reg < 0; r++)
    if (!(used >> r & 1))
      *reg = r;
  return NSR_OK;
}

/* Index i once an instruction stands in front of `at`; who came to `at` now
 * comes to the inserted one. */
static uint32_t moved(uint32_t i, uint32_t at) { return i + (i > at); }

static enum nsr_status fix_branches(struct nsr_ctx *ctx,
                                    const struct nsr_kernel *k,
                                    const struct nsr_stream *s, uint32_t at,
                                    uint8_t *code) {
  for (uint32_t i = 0; i < s->n; i++) {
    struct nsr_insn insn;
    NSR_TRY(nsr_stream_decode(ctx, k, s, i, &insn));
    if (insn.desc->ctl != NSR_CTL_BR)
      continue;
    uint32_t from = i + (i >= at);
    uint32_t target = moved((uint32_t)((int64_t)i + insn.displacement), at);
    if (!nsr_word_set_displacement(k->isa, code + from * (size_t)k->isa->word,
                                   (int32_t)target - (int32_t)from))
      return nsr_fail(ctx, NSR_E_RANGE, nsr_insn_place(k, s, i),
                      "branch does not reach past one more instruction");
  }
  return NSR_OK;
}

/* Shifts what refers to instructions of s by number. */
static enum nsr_status fix_tables(struct nsr_ctx *ctx, uint32_t at,
                                  struct nsr_stream *s) {
  struct nsr_reloc *relocs;
  struct nsr_label *labels;
  struct nsr_line *lines;
  NSR_NEW(ctx, NSR_KEEP, relocs, s->nrelocs);
  NSR_NEW(ctx, NSR_KEEP, labels, s->nlabels);
  NSR_NEW(ctx, NSR_KEEP, lines, s->n + 1);
  for (uint32_t i = 0; i < s->nrelocs; i++) {
    relocs[i] = s->relocs[i];
    relocs[i].insn += relocs[i].insn >= at;
    if (relocs[i].kind == NSR_RELOC_BRANCH)
      relocs[i].target = moved(relocs[i].target, at);
  }
  for (uint32_t i = 0; i < s->nlabels; i++) {
    labels[i] = s->labels[i];
    labels[i].insn = moved(labels[i].insn, at);
  }
  for (uint32_t i = 0; i < s->n && s->lines; i++)
    lines[i + (i >= at)] = s->lines[i];
  s->relocs = relocs;
  s->labels = labels;
  s->lines = s->lines ? lines : NULL;
  return NSR_OK;
}

/* Puts `sub reg, wait's register, less` in front of the wait, which then
 * reads reg. */
static enum nsr_status insert_sub(struct nsr_ctx *ctx,
                                  const struct nsr_kernel *k,
                                  const struct site *site, int reg, int less,
                                  struct nsr_kernel **out) {
  const struct nsr_stream *old = &k->streams[site->stream];
  size_t word = k->isa->word, at = site->insn;
  struct nsr_stream *s;
  uint8_t *code;
  NSR_TRY(copy(ctx, k, site->stream, out, &s, &code));
  memmove(code + (at + 1) * word, code + at * word, (s->n - at) * word);
  NSR_TRY(fix_branches(ctx, k, old, site->insn, code));
  NSR_TRY(fix_tables(ctx, site->insn, s));
  s->n++;

  struct nsr_insn sub;
  char why[128];
  nsr_insn_init(nsr_isa_control(k->isa, NSR_CTL_SUB), &sub);
  sub.dst = (int16_t)reg;
  sub.a = site->wait.value;
  sub.b = (struct nsr_val){false, less};
  struct nsr_wait wait = site->wait;
  wait.value.v = reg;
  if (!nsr_encode(k->isa, &sub, code + at * word, why, sizeof why) ||
      !nsr_word_set_wait(k->isa, code + (at + 1) * word, &wait))
    *out = NULL;
  return NSR_OK;
}

static enum nsr_status set_wait(struct nsr_ctx *ctx, const struct nsr_kernel *k,
                                const struct site *site,
                                const struct nsr_wait *wait,
                                struct nsr_kernel **out) {
  struct nsr_stream *s;
  uint8_t *code;
  NSR_TRY(copy(ctx, k, site->stream, out, &s, &code));
  if (!nsr_word_set_wait(k->isa, code + site->insn * (size_t)k->isa->word,
                         wait))
    *out = NULL;
  return NSR_OK;
}

enum nsr_status mutate(struct nsr_ctx *ctx, const struct nsr_kernel *k,
                       const struct site *site, enum mutation mutation,
                       struct nsr_kernel **out) {
  struct nsr_wait wait = {.cmp = NSR_CMP_NONE};
  *out = NULL;
  if (mutation == DROP)
    return set_wait(ctx, k, site, &wait, out);
  wait = site->wait;
  int less = mutation == LOWER;
  if (wait.value.is_reg) {
    int reg;
    NSR_TRY(free_register(ctx, k, &k->streams[site->stream], &reg));
    return reg < 0 ? NSR_OK : insert_sub(ctx, k, site, reg, less, out);
  }
  if (wait.value.v == INT32_MIN)
    return NSR_OK;
  wait.value.v -= less;
  return set_wait(ctx, k, site, &wait, out);
}
