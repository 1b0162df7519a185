/* assemble.c - assembly text to kernel: reads every line, then puts label
 * indices where they were used too early, and hands out the arrays.
 */
#include <string.h>

#include "asm/asm.h"
#include "asm/asm_shape.h"

/* Labels, then a directive, an instruction or a macro's use. */
static enum nsr_status statement(struct nsr_asm *a) {
  const char *s, *at;
  size_t n;
  bool quoted;
  while (!nsr_asm_at_end(a)) {
    at = a->p;
    NSR_TRY(nsr_asm_name(a, "a label, a directive or an instruction", &s, &n,
                         &quoted));
    if (nsr_asm_accept(a, ":")) {
      a->labelled = true;
      NSR_TRY(nsr_asm_label(a, at, s, n));
      continue;
    }
    if (quoted)
      return nsr_asm_expected(a, "':' after a label");
    return *s == '.' ? nsr_asm_directive(a, s, n) : nsr_asm_insn(a, s, n);
  }
  return NSR_OK;
}

static enum nsr_status read_all(struct nsr_asm *a) {
  bool more = true;
  while (more && !a->fatal) {
    enum nsr_status status = nsr_asm_next_line(a, &more);
    if (status == NSR_OK && more)
      status = statement(a);
    if (status != NSR_OK && status != NSR_E_SYNTAX)
      return status;
  }
  return NSR_OK;
}

/* ---- labels used before they were defined */

static struct nsr_place fix_place(const struct nsr_asm *a,
                                  const struct nsr_asm_fixup *fix) {
  return (struct nsr_place){.insn = -1,
                            .source_file = a->path,
                            .source_line = fix->line,
                            .column = fix->column};
}

static enum nsr_status
fix_error(struct nsr_asm *a, const struct nsr_asm_fixup *fix, const char *why) {
  a->errors++;
  return nsr_fail(a->ctx, NSR_E_SYNTAX, fix_place(a, fix), "%s", why);
}

/* A value that names a label: decode, set, encode. */
static enum nsr_status fix_value(struct nsr_asm *a, int engine, uint8_t *word,
                                 const struct nsr_asm_fixup *fix,
                                 uint32_t index) {
  struct nsr_insn insn;
  char why[256];
  const char *bad = nsr_decode(a->isa, engine, word, &insn);
  if (bad)
    return fix_error(a, fix, bad);
  struct nsr_val *v = fix->kind == NSR_ASM_FIX_A ? &insn.a : &insn.b;
  v->v = (int32_t)index;
  return nsr_encode(a->isa, &insn, word, why, sizeof why)
             ? NSR_OK
             : fix_error(a, fix, why);
}

static enum nsr_status fix_one(struct nsr_asm *a, int engine,
                               const struct nsr_asm_fixup *fix) {
  struct nsr_asm_stream *s = &a->streams[engine];
  uint8_t *word = s->code.v + (size_t)fix->insn * a->isa->word;
  uint32_t index = nsr_map_get(&s->label_map, fix->name, fix->n);
  int32_t d;
  if (index == NSR_NONE) {
    a->errors++;
    return nsr_fail(a->ctx, NSR_E_SYNTAX, fix_place(a, fix),
                    "undefined label '%.*s'",
                    (int)(fix->n > 200 ? 200 : fix->n), fix->name);
  }
  switch (fix->kind) {
  case NSR_ASM_FIX_RELOC:
    s->relocs.v[fix->reloc].target = index;
    return NSR_OK;
  case NSR_ASM_FIX_BRANCH:
    return nsr_displacement(index, fix->insn, &d) &&
                   nsr_word_set_displacement(a->isa, word, d)
               ? NSR_OK
               : fix_error(a, fix, "the target is too far away");
  default:
    return fix_value(a, engine, word, fix, index);
  }
}

static enum nsr_status fix_all(struct nsr_asm *a) {
  for (int e = 0; a->isa && e < a->isa->nengines; e++)
    for (size_t i = 0; i < a->streams[e].fixups.n; i++) {
      const struct nsr_asm_fixup *fix = &a->streams[e].fixups.v[i];
      if (a->errors >= NSR_ASM_ERRORS)
        return fix_error(a, fix, "too many errors");
      enum nsr_status status = fix_one(a, e, fix);
      if (status != NSR_OK && status != NSR_E_SYNTAX)
        return status;
    }
  return NSR_OK;
}

/* ---- the kernel */

/* to = a copy of vec in what outlives the call. */
#define HAND_OUT(ctx, vec, to, count)                                          \
  do {                                                                         \
    void *copy_ = nsr_alloc_n((ctx), NSR_KEEP, (vec)->n, sizeof *(vec)->v);    \
    if (!copy_)                                                                \
      return NSR_E_NOMEM;                                                      \
    if ((vec)->n)                                                              \
      memcpy(copy_, (vec)->v, (vec)->n * sizeof *(vec)->v);                    \
    (to) = copy_;                                                              \
    (count) = (uint32_t)(vec)->n;                                              \
  } while (0)

static enum nsr_status hand_out_stream(struct nsr_asm *a, int engine,
                                       struct nsr_stream *out) {
  struct nsr_asm_stream *s = &a->streams[engine];
  uint32_t unused;
  out->engine = (uint8_t)engine;
  out->n = s->n;
  HAND_OUT(a->ctx, &s->code, out->code, unused);
  HAND_OUT(a->ctx, &s->relocs, out->relocs, out->nrelocs);
  HAND_OUT(a->ctx, &s->labels, out->labels, out->nlabels);
  if (s->has_lines)
    HAND_OUT(a->ctx, &s->lines, out->lines, unused);
  (void)unused;
  return NSR_OK;
}

static enum nsr_status hand_out_sections(struct nsr_asm *a,
                                         struct nsr_kernel *k) {
  struct nsr_section *out;
  NSR_NEW(a->ctx, NSR_KEEP, out, a->sections.n);
  for (size_t i = 0; i < a->sections.n; i++) {
    struct nsr_asm_section *s = &a->sections.v[i];
    uint32_t unused;
    out[i] = s->head;
    if (s->nobits)
      continue;
    HAND_OUT(a->ctx, &s->data, out[i].data, unused);
    (void)unused;
    out[i].size = s->data.n;
  }
  k->sections = out;
  k->nsections = (uint32_t)a->sections.n;
  return NSR_OK;
}

/* Without .kernel: the text's name without what follows its last dot. */
static enum nsr_status default_name(struct nsr_asm *a) {
  const char *dot = strrchr(a->base, '.');
  size_t n = dot && dot != a->base ? (size_t)(dot - a->base) : strlen(a->base);
  a->kernel.name = nsr_strndup(a->ctx, NSR_KEEP, a->base, n);
  return a->kernel.name ? NSR_OK : NSR_E_NOMEM;
}

static enum nsr_status hand_out(struct nsr_asm *a, struct nsr_kernel **out) {
  struct nsr_kernel *k;
  struct nsr_stream *streams;
  NSR_NEW(a->ctx, NSR_KEEP, k, 1);
  NSR_NEW(a->ctx, NSR_KEEP, streams, NSR_MAX_ENGINES);
  if (!a->named)
    NSR_TRY(default_name(a));
  *k = a->kernel;
  k->path = nsr_strndup(a->ctx, NSR_KEEP, a->path, strlen(a->path));
  if (!k->path)
    return NSR_E_NOMEM;
  for (int e = 0; e < a->isa->nengines; e++)
    if (a->streams[e].present)
      NSR_TRY(hand_out_stream(a, e, &streams[k->nstreams++]));
  k->streams = streams;
  HAND_OUT(a->ctx, &a->queues, k->queues, k->nqueues);
  HAND_OUT(a->ctx, &a->tensors, k->tensors, k->ntensors);
  HAND_OUT(a->ctx, &a->files, k->files, k->nfiles);
  NSR_TRY(hand_out_sections(a, k));
  *out = k;
  return NSR_OK;
}

static enum nsr_status assemble(struct nsr_asm *a, const char *text, size_t n,
                                struct nsr_kernel **k) {
  NSR_TRY(nsr_asm_source(a, text, n));
  NSR_TRY(read_all(a));
  if (!a->fatal)
    NSR_TRY(fix_all(a));
  if (!a->isa && !a->errors) {
    a->line = a->p = a->line_end = text;
    a->frames[0].line = 1;
    nsr_asm_error(a, text, "expected .isa and the name of an instruction set");
  }
  return a->errors ? NSR_E_SYNTAX : hand_out(a, k);
}

enum nsr_status nsr_assemble(struct nsr_ctx *ctx, const char *path,
                             const char *text, size_t n,
                             struct nsr_kernel **k) {
  struct nsr_mark mark = nsr_scratch_mark(ctx);
  struct nsr_asm *a = nsr_alloc(ctx, NSR_SCRATCH, sizeof *a);
  const char *slash = strrchr(path, '/');
  if (!a)
    return NSR_E_NOMEM;
  a->ctx = ctx;
  a->path = path;
  a->base = slash ? slash + 1 : path;
  a->engine = -1;
  a->file = a->own_file = NSR_NONE;
  enum nsr_status status = assemble(a, text, n, k);
  nsr_scratch_release(ctx, mark);
  return status;
}
