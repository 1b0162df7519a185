/* assemble.c - assembly text to kernel: reads every line, then puts label
 * indices where they were used too early, and hands out the arrays.
 */
#include <string.h>

#include "asm/asm.h"
#include "asm/asm_shape.h"
#include "base/work.h"
#include "object/check.h"

/* Labels, then a directive, an instruction or a macro's use. */
static enum nsr_status statement(void *user) {
  struct nsr_asm *a = user;
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

/* Errors are counted; what is left undefined is named, too. */
static enum nsr_status read_all(struct nsr_asm *a) {
  enum nsr_status status = nsr_asm_each_line(a, statement, a);
  return status == NSR_E_SYNTAX ? NSR_OK : status;
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
  struct nsr_build_stream *s = &a->b.streams[engine];
  uint8_t *word = s->code.v + (size_t)fix->insn * a->isa->word;
  uint32_t index = nsr_map_get(&s->label_map, fix->name, fix->n);
  int32_t d;
  if (index == NSR_NONE) {
    a->errors++;
    return nsr_fail(a->ctx, NSR_E_SYNTAX, fix_place(a, fix),
                    "undefined label '%.*s'",
                    (int)(fix->n > 200 ? 200 : fix->n), fix->name);
  }
  if (fix->reloc != NSR_NONE)
    s->relocs.v[fix->reloc].target = index;
  if (fix->kind == NSR_ASM_FIX_RELOC)
    return NSR_OK;
  if (fix->kind != NSR_ASM_FIX_BRANCH)
    return fix_value(a, engine, word, fix, index);
  return nsr_displacement(index, fix->insn, &d) &&
                 nsr_word_set_displacement(a->isa, word, d)
             ? NSR_OK
             : fix_error(a, fix, "the target is too far away");
}

static enum nsr_status fix_all(struct nsr_asm *a) {
  for (int e = 0; a->isa && e < a->isa->nengines; e++)
    for (size_t i = 0; i < a->fixups[e].n; i++) {
      nsr_work_count(a->ctx, NSR_WORK_ASM, 1);
      const struct nsr_asm_fixup *fix = &a->fixups[e].v[i];
      if (a->errors >= NSR_ASM_ERRORS)
        return fix_error(a, fix, "too many errors");
      enum nsr_status status = fix_one(a, e, fix);
      if (status != NSR_OK && status != NSR_E_SYNTAX)
        return status;
    }
  return NSR_OK;
}

/* ---- the kernel */

/* Without .kernel: the text's name without what follows its last dot. */
static enum nsr_status default_name(struct nsr_asm *a) {
  const char *dot = strrchr(a->base, '.');
  size_t n = dot && dot != a->base ? (size_t)(dot - a->base) : strlen(a->base);
  a->b.kernel.name = nsr_strndup(a->ctx, NSR_KEEP, a->base, n);
  return a->b.kernel.name ? NSR_OK : NSR_E_NOMEM;
}

/* The text's own name is part of the kernel where it names the source of an
 * instruction, or the kernel. */
static enum nsr_status own_name(struct nsr_asm *a) {
  bool kept = a->own_file != NSR_NONE || !a->named;
  const char *problem = kept && *a->base ? nsr_name_problem(a->base) : NULL;
  if (problem)
    return nsr_fail(a->ctx, NSR_E_SYNTAX,
                    (struct nsr_place){.file = a->path, .insn = -1},
                    "the name of this file %s, but it would go into the kernel "
                    "as the name of its source",
                    problem);
  return a->named ? NSR_OK : default_name(a);
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
  if (a->errors)
    return NSR_E_SYNTAX;
  NSR_TRY(own_name(a));
  return nsr_build_finish(&a->b, a->path, k);
}

enum nsr_status nsr_assemble(struct nsr_ctx *ctx, const char *path,
                             const char *text, size_t n,
                             struct nsr_kernel **k) {
  struct nsr_mark mark = nsr_scratch_mark(ctx);
  struct nsr_asm *a = nsr_alloc(ctx, NSR_SCRATCH, sizeof *a);
  const char *slash = strrchr(path, '/');
  if (!a)
    return NSR_E_NOMEM;
  a->ctx = a->b.ctx = ctx;
  a->path = path;
  a->base = slash ? slash + 1 : path;
  a->engine = -1;
  a->file = a->own_file = NSR_NONE;
  size_t mark_size = nsr_byte_order_mark(text, n);
  enum nsr_status status = assemble(a, text + mark_size, n - mark_size, k);
  nsr_scratch_release(ctx, mark);
  return status;
}
