/* edit.c - makes an edited copy of a kernel.
 *
 * Needs the edits in any order; those of one place keep theirs. Streams without
 * edits are shared with the old kernel.
 */
#include "gen/edit.h"

#include <stdlib.h>
#include <string.h>

#include "object/note.h"

/* An instruction of the new stream. */
struct item {
  uint32_t at, from;
  bool slip;
  const uint8_t *word;
};

struct remake {
  struct nsr_ctx *ctx;
  const struct nsr_kernel *k;
  const struct nsr_stream *old;
  struct nsr_stream *s;
  struct item *items;
  uint32_t *moved; /* by old number 0..n: where branches to it go now */
};

/* ---- what comes where */

struct place {
  const struct nsr_edit *edit;
  size_t order;
};

static int by_place(const void *a, const void *b) {
  const struct place *x = a, *y = b;
  const struct nsr_edit *e = x->edit, *f = y->edit;
  if (e->stream != f->stream)
    return e->stream < f->stream ? -1 : 1;
  if (e->at != f->at)
    return e->at < f->at ? -1 : 1;
  return x->order < y->order ? -1 : x->order > y->order;
}

static void put(struct remake *r, struct item item) {
  r->items[r->s->n++] = item;
}

/* The edits of one old instruction, and it itself. */
static size_t put_one(struct remake *r, uint32_t i, const struct place *p,
                      size_t n) {
  size_t used = 0;
  struct item own = {.at = i, .from = i};
  if (i < r->old->n)
    own.word = nsr_stream_word(r->k, r->old, i);
  for (; used < n && p[used].edit->at == i; used++) {
    const struct nsr_edit *e = p[used].edit;
    if (e->kind == NSR_EDIT_DELETE) {
      own.word = NULL;
    } else if (e->kind == NSR_EDIT_REPLACE) {
      own.word = e->word;
      own.from = e->from;
    } else {
      put(r, (struct item){i, e->from, e->kind == NSR_EDIT_SLIP, e->word});
    }
  }
  if (own.word)
    put(r, own);
  return used;
}

static void map_targets(struct remake *r) {
  uint32_t next = 0;
  for (uint32_t i = 0; i <= r->old->n; i++) {
    while (next < r->s->n && (r->items[next].at < i ||
                              (r->items[next].at == i && r->items[next].slip)))
      next++;
    r->moved[i] = next;
  }
}

static enum nsr_status put_all(struct remake *r, const struct place *p,
                               size_t n) {
  NSR_NEW(r->ctx, NSR_SCRATCH, r->items, r->old->n + n);
  NSR_NEW(r->ctx, NSR_SCRATCH, r->moved, (size_t)r->old->n + 1);
  r->s->n = 0;
  for (uint32_t i = 0; i <= r->old->n; i++) {
    size_t used = put_one(r, i, p, n);
    p += used;
    n -= used;
  }
  map_targets(r);
  return NSR_OK;
}

/* ---- words and tables */

static uint32_t follow(const struct remake *r, int64_t target) {
  if (target < 0)
    return 0;
  return r->moved[target > r->old->n ? r->old->n : target];
}

static enum nsr_status copy_code(struct remake *r) {
  const struct nsr_isa *isa = r->k->isa;
  uint8_t *code;
  NSR_NEW(r->ctx, NSR_KEEP, code, (size_t)r->s->n * isa->word);
  r->s->code = code;
  for (uint32_t i = 0; i < r->s->n; i++, code += isa->word) {
    const struct item *item = &r->items[i];
    struct nsr_insn insn;
    memcpy(code, item->word, isa->word);
    if (nsr_decode(isa, r->s->engine, code, &insn) ||
        insn.desc->ctl != NSR_CTL_BR)
      continue;
    uint32_t to = follow(r, (int64_t)item->at + insn.displacement);
    if (!nsr_word_set_displacement(isa, code, (int32_t)((int64_t)to - i)))
      return nsr_fail(r->ctx, NSR_E_RANGE, nsr_insn_place(r->k, r->s, i),
                      "the branch does not reach its target any longer");
  }
  return NSR_OK;
}

/* A branch goes where its word says, a computed one where it did. */
static uint32_t reloc_target(const struct remake *r, uint32_t i,
                             const struct nsr_reloc *reloc) {
  struct nsr_insn insn;
  const uint8_t *word = nsr_stream_word(r->k, r->s, i);
  if (reloc->kind != NSR_RELOC_BRANCH)
    return reloc->target;
  if (!nsr_decode(r->k->isa, r->s->engine, word, &insn) &&
      insn.desc->ctl == NSR_CTL_BR)
    return (uint32_t)((int64_t)i + insn.displacement);
  return follow(r, reloc->target);
}

static enum nsr_status copy_relocs(struct remake *r) {
  NSR_VEC(struct nsr_reloc) relocs = {0};
  for (uint32_t i = 0; i < r->s->n; i++) {
    uint32_t n = 0;
    if (r->items[i].from == NSR_NONE)
      continue;
    const struct nsr_reloc *old =
        nsr_stream_relocs(r->old, r->items[i].from, &n);
    for (uint32_t j = 0; j < n; j++) {
      struct nsr_reloc reloc = old[j];
      reloc.insn = i;
      reloc.target = reloc_target(r, i, &old[j]);
      NSR_PUSH(r->ctx, NSR_KEEP, &relocs, reloc);
    }
  }
  r->s->relocs = relocs.v;
  r->s->nrelocs = (uint32_t)relocs.n;
  return NSR_OK;
}

static enum nsr_status copy_tables(struct remake *r) {
  struct nsr_label *labels;
  struct nsr_line *lines;
  NSR_NEW(r->ctx, NSR_KEEP, labels, r->old->nlabels);
  for (uint32_t i = 0; i < r->old->nlabels; i++)
    labels[i] = (struct nsr_label){r->old->labels[i].name,
                                   follow(r, r->old->labels[i].insn)};
  r->s->labels = labels;
  if (!r->old->lines)
    return NSR_OK;
  NSR_NEW(r->ctx, NSR_KEEP, lines, r->s->n);
  for (uint32_t i = 0; i < r->s->n; i++) {
    const struct item *item = &r->items[i];
    uint32_t from = item->from == NSR_NONE ? item->at : item->from;
    if (from < r->old->n)
      lines[i] = r->old->lines[from];
  }
  r->s->lines = lines;
  return NSR_OK;
}

static enum nsr_status remake(struct nsr_ctx *ctx, const struct nsr_kernel *k,
                              struct nsr_stream *s, const struct place *p,
                              size_t n) {
  struct nsr_stream old = *s;
  struct remake r = {.ctx = ctx, .k = k, .old = &old, .s = s};
  NSR_TRY(put_all(&r, p, n));
  NSR_TRY(copy_code(&r));
  NSR_TRY(copy_relocs(&r));
  return copy_tables(&r);
}

/* ---- the kernel */

static enum nsr_status copy_sections(struct nsr_ctx *ctx,
                                     const struct nsr_kernel *k,
                                     struct nsr_kernel *copy) {
  struct nsr_section *sections;
  NSR_NEW(ctx, NSR_KEEP, sections, k->nsections);
  copy->sections = sections;
  copy->nsections = 0;
  for (uint32_t i = 0; i < k->nsections; i++)
    if (strcmp(k->sections[i].name, NSR_REWRITE_NOTE) != 0)
      sections[copy->nsections++] = k->sections[i];
  return NSR_OK;
}

static enum nsr_status apply(struct nsr_ctx *ctx, const struct nsr_kernel *k,
                             const struct nsr_edits *edits,
                             struct nsr_kernel **out) {
  struct nsr_kernel *copy;
  struct nsr_stream *streams;
  struct place *places;
  size_t n = edits->list.n;
  NSR_NEW(ctx, NSR_KEEP, copy, 1);
  NSR_NEW(ctx, NSR_KEEP, streams, k->nstreams);
  NSR_NEW(ctx, NSR_SCRATCH, places, n);
  memcpy(streams, k->streams, k->nstreams * sizeof *streams);
  *copy = *k;
  copy->streams = streams;
  NSR_TRY(copy_sections(ctx, k, copy));
  for (size_t i = 0; i < n; i++)
    places[i] = (struct place){&edits->list.v[i], i};
  qsort(places, n, sizeof *places, by_place);
  for (size_t i = 0, end; i < n; i = end) {
    uint32_t stream = places[i].edit->stream;
    for (end = i + 1; end < n && places[end].edit->stream == stream;)
      end++;
    NSR_TRY(remake(ctx, k, &streams[stream], places + i, end - i));
  }
  *out = copy;
  return NSR_OK;
}

enum nsr_status nsr_edit_apply(struct nsr_ctx *ctx, const struct nsr_kernel *k,
                               const struct nsr_edits *edits,
                               struct nsr_kernel **out) {
  struct nsr_mark mark = nsr_scratch_mark(ctx);
  enum nsr_status status = apply(ctx, k, edits, out);
  nsr_scratch_release(ctx, mark);
  return status;
}

/* ---- names of registers */

static void rename_register(const uint16_t *name, int16_t *reg) {
  if (*reg >= 0)
    *reg = (int16_t)name[*reg];
}

static void rename_val(const uint16_t *name, struct nsr_val *v) {
  if (v->is_reg)
    v->v = name[v->v];
}

void nsr_insn_rename(const uint16_t *name, struct nsr_insn *insn) {
  rename_register(name, &insn->dst);
  rename_register(name, &insn->cond);
  rename_register(name, &insn->value_reg);
  rename_val(name, &insn->a);
  rename_val(name, &insn->b);
  if (insn->wait.cmp != NSR_CMP_NONE)
    rename_val(name, &insn->wait.value);
  for (int o = 0; o < insn->noperands; o++) {
    struct nsr_operand *op = &insn->operands[o];
    rename_register(name, &op->reg);
    for (int d = 0; d < op->ndims; d++)
      if (op->dims[d].count_is_reg)
        op->dims[d].count = name[op->dims[d].count];
  }
}
