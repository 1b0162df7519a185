/* asm_insn.c - one instruction. What it takes follows from its description
 * (asm_shape.h), in this order: queue, destination, condition, operands,
 * stored register, a, b, branch target; then, in any order, arguments
 * name=value, the wait ?sN>=V, the update ^sN, @LINE and marks.
 */
#include <math.h>
#include <string.h>

#include "asm/asm.h"
#include "asm/asm_quote.h"
#include "asm/asm_shape.h"

enum { MAX_TARGETS = 4096 };

/* An instruction being read. */
struct parse {
  struct nsr_asm *a;
  struct nsr_build_stream *stream;
  const char *at; /* the mnemonic */
  struct nsr_insn insn;
  struct nsr_takes takes;
  bool first; /* no comma before the next item */
  bool has_wait, has_update, has_line, reloc;
  int64_t line;
  uint32_t seen;   /* arguments given */
  uint32_t target; /* of a branch, NSR_NONE: a label still to come */
  size_t nrelocs;  /* of the stream before this instruction */
  size_t nfixups;
};

static enum nsr_status next_item(struct parse *p) {
  if (p->first) {
    p->first = false;
    return NSR_OK;
  }
  return nsr_asm_expect(p->a, ",");
}

static enum nsr_status reg(struct parse *p, const char *what, int16_t *out) {
  int32_t v;
  NSR_TRY(next_item(p));
  if (!nsr_asm_register(p->a, &v))
    return nsr_asm_expected(p->a, what);
  *out = (int16_t)(v > INT16_MAX ? INT16_MAX : v);
  return NSR_OK;
}

static enum nsr_status queue(struct parse *p) {
  struct nsr_asm *a = p->a;
  const char *s;
  size_t n;
  int64_t v;
  NSR_TRY(next_item(p));
  nsr_asm_blank(a);
  const char *at = a->p;
  if (nsr_asm_accept(a, "@")) {
    NSR_TRY(nsr_asm_int(a, "the queue's number", 0, INT8_MAX, &v));
  } else {
    NSR_TRY(nsr_asm_name(a, "a queue", &s, &n, NULL));
    v = nsr_queue_by_name(a->b.queues.v, (uint32_t)a->b.queues.n, s, n);
    if (v == NSR_NONE)
      return nsr_asm_error(a, at, "unknown queue '%.*s'", (int)n, s);
  }
  p->insn.queue = (int8_t)v;
  return NSR_OK;
}

static enum nsr_status operand(struct parse *p, int i) {
  const struct nsr_insn_desc *desc = p->insn.desc;
  uint32_t tensor;
  NSR_TRY(next_item(p));
  NSR_TRY(nsr_asm_operand(p->a, &desc->operands[i], p->takes.element,
                          &p->insn.operands[i], &tensor));
  if (tensor != NSR_NONE)
    NSR_APPEND(p->a->ctx, NSR_KEEP, &p->stream->relocs,
               ((struct nsr_reloc){p->stream->n, NSR_RELOC_TENSOR, (uint8_t)i,
                                   tensor}));
  return NSR_OK;
}

/* ---- labels and values */

/* A label (its index, or a fixup of this kind where it is not yet known) or,
 * behind @, an index. The cursor is at it. */
static enum nsr_status label_index(struct parse *p, enum nsr_asm_fix kind,
                                   uint32_t *index) {
  struct nsr_asm *a = p->a;
  const char *s;
  size_t n;
  nsr_asm_blank(a);
  const char *at = a->p;
  NSR_TRY(
      nsr_asm_name(a, "a label or @ and an instruction's index", &s, &n, NULL));
  *index = nsr_map_get(&p->stream->label_map, s, n);
  if (*index != NSR_NONE)
    return NSR_OK;
  if (a->substituted && !(s = nsr_strndup(a->ctx, NSR_SCRATCH, s, n)))
    return NSR_E_NOMEM;
  struct nsr_asm_fixup fix = {.kind = kind,
                              .insn = p->stream->n,
                              .reloc = kind == NSR_ASM_FIX_RELOC
                                           ? (uint32_t)p->stream->relocs.n
                                           : NSR_NONE,
                              .name = s,
                              .n = n,
                              .line = a->frames[a->nframes - 1].line,
                              .column = (uint32_t)(at - a->line) + 1};
  NSR_PUSH(a->ctx, NSR_SCRATCH, &p->a->fixups[p->a->engine], fix);
  return NSR_OK;
}

static enum nsr_status target(struct parse *p, enum nsr_asm_fix kind,
                              uint32_t *index) {
  int64_t v;
  NSR_TRY(next_item(p));
  if (!nsr_asm_accept(p->a, "@"))
    return label_index(p, kind, index);
  NSR_TRY(nsr_asm_int(p->a, "the instruction's index", 0, UINT32_MAX - 1, &v));
  *index = (uint32_t)v;
  return NSR_OK;
}

static enum nsr_status branch_target(struct parse *p) {
  nsr_asm_blank(p->a);
  const char *at = p->a->p;
  NSR_TRY(target(p, NSR_ASM_FIX_BRANCH, &p->target));
  if (p->target != NSR_NONE &&
      !nsr_displacement(p->target, p->stream->n, &p->insn.displacement))
    return nsr_asm_error(p->a, at, "the target is too far away");
  return NSR_OK;
}

static enum nsr_status push_reloc(struct parse *p, uint32_t index) {
  NSR_APPEND(p->a->ctx, NSR_KEEP, &p->stream->relocs,
             ((struct nsr_reloc){p->stream->n, NSR_RELOC_BRANCH, 0, index}));
  return NSR_OK;
}

/* Where a computed jump may go. */
static enum nsr_status jump_targets(struct parse *p) {
  uint32_t index, n = 0;
  while (nsr_asm_at(p->a, ',')) {
    if (n++ == MAX_TARGETS)
      return nsr_asm_error(p->a, NULL, "more than %d targets", MAX_TARGETS);
    NSR_TRY(target(p, NSR_ASM_FIX_RELOC, &index));
    NSR_TRY(push_reloc(p, index));
  }
  return NSR_OK;
}

/* A register, an integer, or @label: the label's index. */
static enum nsr_status value(struct parse *p, enum nsr_asm_fix kind,
                             const char *what, struct nsr_val *out) {
  int64_t v;
  uint32_t index;
  NSR_TRY(next_item(p));
  *out = (struct nsr_val){0};
  if (nsr_asm_register(p->a, &out->v)) {
    out->is_reg = true;
  } else if (nsr_asm_accept(p->a, "@")) {
    NSR_TRY(label_index(p, kind, &index));
    out->v = index == NSR_NONE ? 0 : (int32_t)index;
  } else {
    NSR_TRY(nsr_asm_int(p->a, what, INT32_MIN, INT32_MAX, &v));
    out->v = (int32_t)v;
  }
  return NSR_OK;
}

/* ---- what may follow in any order */

/* sN; its number. */
static enum nsr_status semaphore(struct nsr_asm *a, uint16_t *sem) {
  const char *s = NULL;
  size_t n = 0;
  uint32_t v = 0;
  nsr_asm_blank(a);
  const char *at = a->p;
  bool good = nsr_asm_word(a, &s, &n) && n > 1 && n < 7 && *s == 's';
  for (size_t i = 1; good && i < n; i++) {
    good = nsr_is_digit(s[i]);
    v = v * 10 + (uint32_t)(s[i] - '0');
  }
  if (!good) {
    a->p = at;
    return nsr_asm_expected(a, "a semaphore (s0, s1, ..)");
  }
  if (v >= a->isa->semaphores)
    return nsr_asm_error(a, at, "expected a semaphore in s0..s%d",
                         a->isa->semaphores - 1);
  *sem = (uint16_t)v;
  return NSR_OK;
}

static enum nsr_status comparison(struct nsr_asm *a, uint8_t *cmp) {
  static const enum nsr_cmp all[] = {NSR_CMP_GE, NSR_CMP_LE, NSR_CMP_EQ,
                                     NSR_CMP_GT, NSR_CMP_LT};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (nsr_asm_accept(a, nsr_cmp_name(all[i]))) {
      *cmp = (uint8_t)all[i];
      return NSR_OK;
    }
  return nsr_asm_expected(a, "a comparison (>= == > <= <)");
}

static enum nsr_status wait(struct parse *p, const char *at) {
  struct nsr_wait *w = &p->insn.wait;
  int64_t v;
  if (p->has_wait)
    return nsr_asm_error(p->a, at, "expected one wait at most");
  if (!p->insn.desc->has_wait)
    return nsr_asm_error(p->a, at, "%s takes no wait", p->insn.desc->mnemonic);
  p->has_wait = true;
  NSR_TRY(semaphore(p->a, &w->sem));
  NSR_TRY(comparison(p->a, &w->cmp));
  if (nsr_asm_register(p->a, &w->value.v)) {
    w->value.is_reg = true;
    return NSR_OK;
  }
  NSR_TRY(nsr_asm_int(p->a, "the threshold", INT32_MIN, INT32_MAX, &v));
  w->value.v = (int32_t)v;
  return NSR_OK;
}

static enum nsr_status update(struct parse *p, const char *at) {
  struct nsr_update *u = &p->insn.update;
  struct nsr_asm *a = p->a;
  int64_t v;
  if (p->has_update)
    return nsr_asm_error(a, at, "expected one update at most");
  if (!p->insn.desc->has_update)
    return nsr_asm_error(a, at, "%s takes no update", p->insn.desc->mnemonic);
  p->has_update = true;
  NSR_TRY(semaphore(a, &u->sem));
  u->value = 1;
  u->op = nsr_asm_accept(a, "--")   ? NSR_UPD_DEC
          : nsr_asm_accept(a, "++") ? NSR_UPD_INC
          : nsr_asm_accept(a, "+=") ? NSR_UPD_ADD
          : nsr_asm_accept(a, "-=") ? NSR_UPD_SUB
          : nsr_asm_accept(a, "=")  ? NSR_UPD_SET
                                    : NSR_UPD_INC;
  if (u->op == NSR_UPD_INC || u->op == NSR_UPD_DEC)
    return NSR_OK;
  NSR_TRY(nsr_asm_int(a, "the update's value", INT32_MIN, INT32_MAX, &v));
  u->value = (int32_t)v;
  return NSR_OK;
}

static enum nsr_status f32_argument(struct nsr_asm *a, const char *name,
                                    int64_t *out) {
  struct nsr_asm_value v;
  uint32_t bits = 0;
  nsr_asm_blank(a);
  const char *at = a->p;
  if (a->line_end - at >= 10 && nsr_f32_parse_bits(at, 10, &bits) &&
      (a->line_end - at == 10 || !nsr_is_name(at[10]))) {
    a->p += 10;
    *out = bits;
    return NSR_OK;
  }
  NSR_TRY(nsr_asm_expr(a, &v));
  double f = v.is_float ? v.f : (double)v.i;
  bits = nsr_f32_bits(f);
  if (isinf(nsr_f32_value(bits)) && !isinf(f))
    return nsr_asm_error(a, at, "%s: %g does not fit a 32-bit float", name, f);
  *out = bits;
  return NSR_OK;
}

static enum nsr_status
enum_argument(struct nsr_asm *a, const struct nsr_arg_desc *arg, int64_t *out) {
  const char *s = NULL;
  size_t n = 0;
  char text[256] = "one of";
  nsr_asm_blank(a);
  const char *at = a->p;
  int v = nsr_asm_word(a, &s, &n) ? nsr_arg_parse(arg, s, n) : -1;
  *out = v;
  if (v >= 0)
    return NSR_OK;
  for (int i = 0; arg->names[i]; i++)
    if (strlen(text) + strlen(arg->names[i]) + 2 < sizeof text)
      strcat(strcat(text, " "), arg->names[i]);
  a->p = at;
  return nsr_asm_expected(a, text);
}

/* name=value, the word just read. */
static enum nsr_status argument(struct parse *p, const char *s, size_t n) {
  const struct nsr_insn_desc *desc = p->insn.desc;
  int i = 0;
  while (i < desc->nargs && (strlen(desc->args[i].name) != n ||
                             memcmp(desc->args[i].name, s, n) != 0))
    i++;
  if (i == desc->nargs)
    return nsr_asm_error(p->a, s, "%s has no argument '%.*s'", desc->mnemonic,
                         (int)n, s);
  if (p->seen >> i & 1)
    return nsr_asm_error(p->a, s, "%.*s is given twice", (int)n, s);
  p->seen |= UINT32_C(1) << i;
  NSR_TRY(nsr_asm_expect(p->a, "="));
  int64_t *out = &p->insn.args[i];
  if (desc->args[i].kind == NSR_ARG_F32)
    return f32_argument(p->a, desc->args[i].name, out);
  if (desc->args[i].kind == NSR_ARG_ENUM)
    return enum_argument(p->a, &desc->args[i], out);
  return nsr_asm_int(p->a, desc->args[i].name, INT64_MIN, INT64_MAX, out);
}

static enum nsr_status source_line(struct parse *p, const char *at) {
  if (p->a->file == NSR_NONE)
    return nsr_asm_error(p->a, at, "expected .file before a line number");
  p->has_line = true;
  return nsr_asm_int(p->a, "the line", 0, UINT32_MAX, &p->line);
}

static enum nsr_status mark(struct parse *p, const char *at) {
  const char *s;
  size_t n;
  if (!nsr_asm_word(p->a, &s, &n))
    return nsr_asm_expected(p->a, "a mark (reloc, early)");
  if (n == 5 && memcmp(s, "reloc", n) == 0 && p->takes.target)
    p->reloc = true;
  else if (n == 5 && memcmp(s, "early", n) == 0 && p->insn.desc->has_update)
    p->insn.early_update = true;
  else
    return nsr_asm_error(p->a, at, "%s has no mark '%.*s'",
                         p->insn.desc->mnemonic, (int)n, s);
  return NSR_OK;
}

static enum nsr_status suffixes(struct parse *p) {
  struct nsr_asm *a = p->a;
  const char *s;
  size_t n;
  while (!nsr_asm_at_end(a)) {
    const char *at = a->p;
    if (nsr_asm_accept(a, "?"))
      NSR_TRY(wait(p, at));
    else if (nsr_asm_accept(a, "^"))
      NSR_TRY(update(p, at));
    else if (nsr_asm_accept(a, "@"))
      NSR_TRY(source_line(p, at));
    else if (nsr_asm_accept(a, "!"))
      NSR_TRY(mark(p, at));
    else if (p->insn.desc->nargs && nsr_asm_word(a, &s, &n))
      NSR_TRY(argument(p, s, n));
    else
      return nsr_asm_expected(a, p->insn.desc->nargs
                                     ? "name=value, ?wait, ^update or the end "
                                       "of the line"
                                     : "?wait, ^update or the end of the line");
  }
  return NSR_OK;
}

/* ---- the whole */

/* Whether a number can begin here, not one of the suffixes. */
static bool at_number(struct nsr_asm *a) {
  return !nsr_asm_at_end(a) && !strchr("?^@!", *a->p);
}

static enum nsr_status items(struct parse *p) {
  struct nsr_insn *insn = &p->insn;
  const struct nsr_takes *takes = &p->takes;
  int64_t id =
      p->a->barriers[p->a->engine]; /* the k-th barrier of an engine is k */
  if (insn->desc->queue)
    NSR_TRY(queue(p));
  if (takes->dst)
    NSR_TRY(reg(p, "a destination register", &insn->dst));
  if (takes->cond)
    NSR_TRY(reg(p, "a condition register", &insn->cond));
  for (int i = 0; i < insn->desc->noperands; i++)
    NSR_TRY(operand(p, i));
  if (takes->value_reg)
    NSR_TRY(reg(p, "the register stored", &insn->value_reg));
  if (takes->a)
    NSR_TRY(value(p, NSR_ASM_FIX_A, "a", &insn->a));
  if (takes->b)
    NSR_TRY(value(p, NSR_ASM_FIX_B, "b", &insn->b));
  if (takes->target)
    NSR_TRY(branch_target(p));
  if (takes->targets)
    NSR_TRY(jump_targets(p));
  if (takes->id && at_number(p->a))
    NSR_TRY(nsr_asm_int(p->a, "the barrier's id", INT32_MIN, INT32_MAX, &id));
  insn->id = takes->id ? (int32_t)id : insn->id;
  return NSR_OK;
}

/* Adds an instruction with the source line given, the text's own, or none. */
static enum nsr_status add(struct nsr_asm *a, const uint8_t *word,
                           const char *at, bool given, int64_t number) {
  struct nsr_line line = {0};
  if (a->b.streams[a->engine].n == NSR_MAX_STREAM) {
    a->fatal = true;
    return nsr_asm_error(a, at, "expected at most %d instructions in a stream",
                         NSR_MAX_STREAM);
  }
  if (given && number) {
    line = (struct nsr_line){a->file, (uint32_t)number};
  } else if (!a->explicit_lines) {
    if (a->own_file == NSR_NONE)
      NSR_TRY(nsr_build_file(&a->b, a->base, strlen(a->base), &a->own_file));
    line = (struct nsr_line){a->own_file, nsr_asm_line(a)};
  }
  return nsr_build_word(&a->b, a->engine, word, line);
}

static struct nsr_asm_fixup *last_fixup(struct parse *p) {
  return &p->a->fixups[p->a->engine].v[p->a->fixups[p->a->engine].n - 1];
}

static enum nsr_status finish(struct parse *p) {
  uint8_t word[NSR_MAX_WORD];
  char why[256];
  const char *missing = nsr_args_complete(&p->insn, p->seen);
  if (missing)
    return nsr_asm_error(p->a, p->at, "%s needs %s=", p->insn.desc->mnemonic,
                         missing);
  if (!nsr_encode(p->a->isa, &p->insn, word, why, sizeof why))
    return nsr_asm_error(p->a, p->at, "%s", why);
  if (p->reloc)
    NSR_TRY(push_reloc(p, p->target));
  if (p->reloc && p->target == NSR_NONE) /* its fixup is the last one */
    last_fixup(p)->reloc = (uint32_t)p->stream->relocs.n - 1;
  NSR_TRY(add(p->a, word, p->at, p->has_line, p->line));
  p->a->barriers[p->a->engine] += p->takes.id;
  return NSR_OK;
}

/* A mnemonic, with a branch's condition behind a dot. */
static const struct nsr_insn_desc *
lookup(const struct nsr_isa *isa, const char *s, size_t n, enum nsr_cc *cc) {
  const struct nsr_insn_desc *desc = nsr_isa_mnemonic(isa, s, n);
  const char *dot = desc ? NULL : memrchr(s, '.', n);
  *cc = NSR_CC_ALWAYS;
  if (!dot)
    return desc;
  desc = nsr_isa_mnemonic(isa, s, (size_t)(dot - s));
  int c = nsr_cc_parse(dot + 1, n - (size_t)(dot - s) - 1);
  if (!desc || desc->ctl != NSR_CTL_BR || c < 0)
    return NULL;
  *cc = (enum nsr_cc)c;
  return desc;
}

static enum nsr_status read_insn(struct nsr_asm *a,
                                 const struct nsr_insn_desc *desc,
                                 enum nsr_cc cc, const char *at) {
  struct parse p = {.a = a, .at = at, .first = true, .target = NSR_NONE};
  NSR_TRY(nsr_asm_need_engine(a, at));
  p.stream = &a->b.streams[a->engine];
  if (!(desc->engines >> a->engine & 1))
    return nsr_asm_error(a, at, "%s is no instruction of %s", desc->mnemonic,
                         a->isa->engines[a->engine]);
  nsr_insn_init(desc, &p.insn);
  p.insn.cc = (uint8_t)cc;
  p.takes = nsr_insn_takes(desc, cc);
  p.nrelocs = p.stream->relocs.n;
  p.nfixups = a->fixups[a->engine].n;
  enum nsr_status status = items(&p);
  if (status == NSR_OK)
    status = suffixes(&p);
  if (status == NSR_OK)
    status = finish(&p);
  if (status != NSR_OK) { /* nothing may refer to what is not there */
    p.stream->relocs.n = p.nrelocs;
    a->fixups[a->engine].n = p.nfixups;
  }
  return status;
}

enum nsr_status nsr_asm_insn(struct nsr_asm *a, const char *s, size_t n) {
  enum nsr_cc cc;
  uint32_t macro = nsr_map_get(&a->macro_map, s, n);
  if (macro != NSR_NONE)
    return nsr_asm_call(a, macro);
  if (!a->isa)
    return nsr_asm_error(a, s, "expected .isa before the first instruction");
  const struct nsr_insn_desc *desc = lookup(a->isa, s, n, &cc);
  if (!desc)
    return nsr_asm_error(a, s, "unknown instruction '%.*s'", (int)n, s);
  return read_insn(a, desc, cc, s);
}

enum nsr_status nsr_asm_word_directive(struct nsr_asm *a) {
  uint8_t word[NSR_MAX_WORD];
  const char *s, *at;
  size_t n;
  int64_t line = 0;
  nsr_asm_blank(a);
  at = a->p;
  NSR_TRY(nsr_asm_need_engine(a, a->line));
  NSR_TRY(nsr_asm_string(a, &s, &n));
  bool good = n == 2u * a->isa->word;
  for (size_t i = 0; good && i < a->isa->word; i++) {
    int hi = nsr_hex_digit(s[2 * i]), lo = nsr_hex_digit(s[2 * i + 1]);
    good = hi >= 0 && lo >= 0;
    word[i] = (uint8_t)(hi * 16 + lo);
  }
  if (!good)
    return nsr_asm_error(a, at, "expected %d hexadecimal digits",
                         2 * a->isa->word);
  bool given = nsr_asm_accept(a, "@");
  if (given && a->file == NSR_NONE)
    return nsr_asm_error(a, at, "expected .file before a line number");
  if (given)
    NSR_TRY(nsr_asm_int(a, "the line", 0, UINT32_MAX, &line));
  NSR_TRY(nsr_asm_finish_line(a));
  return add(a, word, at, given, line);
}
