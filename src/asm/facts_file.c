/* facts_file.c - reads a file of facts.
 *
 * Needs the text and a kernel; makes the facts, all names resolved. Comments,
 * numbers, strings and expressions are the assembler's.
 */
#include <nsr/facts_file.h>

#include <stdlib.h>
#include <string.h>

#include "asm/asm.h"
#include "asm/asm_quote.h"

struct reader {
  struct nsr_asm *a;
  const struct nsr_kernel *k;
  NSR_VEC(struct nsr_user_fact) facts;
};

static bool is(const char *s, size_t n, const char *word) {
  return strlen(word) == n && memcmp(s, word, n) == 0;
}

/* ---- instructions */

struct insns {
  NSR_VEC(struct nsr_fact_insn) list;
};

static int by_place(const void *x, const void *y) {
  const struct nsr_fact_insn *a = x, *b = y;
  if (a->engine != b->engine)
    return a->engine < b->engine ? -1 : 1;
  return a->insn < b->insn ? -1 : a->insn > b->insn;
}

static bool at_source(const struct nsr_kernel *k, const struct nsr_stream *s,
                      uint32_t i, const char *file, size_t n, int64_t line) {
  if (!s->lines || s->lines[i].line != line || s->lines[i].file >= k->nfiles)
    return false;
  return is(file, n, k->files[s->lines[i].file]);
}

/* What follows FILE: all instructions of that line. */
static enum nsr_status source_line(struct reader *r, const char *at,
                                   const char *file, size_t n,
                                   struct insns *out) {
  struct nsr_asm *a = r->a;
  int64_t line;
  NSR_TRY(nsr_asm_expect(a, ":"));
  NSR_TRY(nsr_asm_int(a, "the line", 1, UINT32_MAX, &line));
  for (uint32_t i = 0; i < r->k->nstreams; i++) {
    const struct nsr_stream *s = &r->k->streams[i];
    for (uint32_t j = 0; j < s->n; j++)
      if (at_source(r->k, s, j, file, n, line))
        NSR_PUSH(a->ctx, NSR_KEEP, &out->list,
                 ((struct nsr_fact_insn){s->engine, j}));
  }
  if (out->list.n)
    return NSR_OK;
  return nsr_asm_error(a, at,
                       "no instruction of the kernel comes from line %lld of "
                       "%.*s",
                       (long long)line, (int)(n > 200 ? 200 : n), file);
}

/* What follows ENGINE: [INDEX]. */
static enum nsr_status engine_index(struct reader *r, const char *at,
                                    int engine, struct insns *out) {
  struct nsr_asm *a = r->a;
  const struct nsr_stream *s = nsr_kernel_stream(r->k, engine);
  int64_t insn;
  if (!s || !s->n)
    return nsr_asm_error(a, at, "the kernel has no instructions for %s",
                         r->k->isa->engines[engine]);
  NSR_TRY(nsr_asm_expect(a, "["));
  NSR_TRY(
      nsr_asm_int(a, "the instruction's index", 0, (int64_t)s->n - 1, &insn));
  NSR_TRY(nsr_asm_expect(a, "]"));
  NSR_PUSH(a->ctx, NSR_KEEP, &out->list,
           ((struct nsr_fact_insn){engine, (uint32_t)insn}));
  return NSR_OK;
}

/* ENGINE[INDEX] or FILE:LINE */
static enum nsr_status instructions(struct reader *r, struct nsr_user_fact *f,
                                    int end) {
  struct nsr_asm *a = r->a;
  struct insns found = {{0}};
  const char *s;
  size_t n;
  bool quoted;
  nsr_asm_blank(a);
  const char *at = a->p;
  NSR_TRY(nsr_asm_name(a, "an instruction, ENGINE[INDEX] or FILE:LINE", &s, &n,
                       &quoted));
  int engine = -1;
  for (int e = 0; !quoted && e < r->k->isa->nengines; e++)
    if (is(s, n, r->k->isa->engines[e]))
      engine = e;
  if (engine >= 0 && nsr_asm_at(a, '['))
    NSR_TRY(engine_index(r, at, engine, &found));
  else
    NSR_TRY(source_line(r, at, s, n, &found));
  qsort(found.list.v, found.list.n, sizeof *found.list.v, by_place);
  f->ends[end] = found.list.v;
  f->nends[end] = (uint32_t)found.list.n;
  return NSR_OK;
}

static enum nsr_status race(struct reader *r, struct nsr_user_fact *f) {
  NSR_TRY(instructions(r, f, 0));
  return instructions(r, f, 1);
}

/* ---- tensors */

struct tensors {
  NSR_VEC(uint32_t) list;
};

static enum nsr_status tensor(struct reader *r, struct tensors *out) {
  struct nsr_asm *a = r->a;
  const char *s;
  size_t n;
  nsr_asm_blank(a);
  const char *at = a->p;
  uint32_t i = 0;
  NSR_TRY(nsr_asm_name(a, "a tensor", &s, &n, NULL));
  while (i < r->k->ntensors &&
         !(r->k->tensors[i].name && is(s, n, r->k->tensors[i].name)))
    i++;
  if (i == r->k->ntensors)
    return nsr_asm_error(a, at, "the kernel has no tensor '%.*s'",
                         (int)(n > 200 ? 200 : n), s);
  for (size_t j = 0; j < out->list.n; j++)
    if (out->list.v[j] == i)
      return nsr_asm_error(a, at, "%.200s twice", r->k->tensors[i].name);
  NSR_PUSH(a->ctx, NSR_KEEP, &out->list, i);
  return NSR_OK;
}

static enum nsr_status disjoint(struct reader *r, struct nsr_user_fact *f) {
  struct tensors found = {{0}};
  NSR_TRY(tensor(r, &found));
  do
    NSR_TRY(tensor(r, &found));
  while (!nsr_asm_at_end(r->a));
  f->tensors = found.list.v;
  f->ntensors = (uint32_t)found.list.n;
  return NSR_OK;
}

static bool holds_integers(const struct nsr_tensor *t) {
  return t->dtype == NSR_I32 || t->dtype == NSR_I16 || t->dtype == NSR_I8 ||
         t->dtype == NSR_U8;
}

static enum nsr_status known_once(struct reader *r, const char *at,
                                  uint32_t tensor) {
  for (size_t i = 0; i < r->facts.n; i++)
    if (r->facts.v[i].kind == NSR_FACT_RANGE &&
        r->facts.v[i].tensors[0] == tensor)
      return nsr_asm_error(r->a, at, "%.200s has a range already, in line %u",
                           r->k->tensors[tensor].name,
                           (unsigned)r->facts.v[i].line);
  return NSR_OK;
}

static enum nsr_status range(struct reader *r, struct nsr_user_fact *f) {
  struct nsr_asm *a = r->a;
  struct tensors found = {{0}};
  int64_t lo, hi;
  nsr_asm_blank(a);
  const char *at = a->p;
  NSR_TRY(tensor(r, &found));
  const struct nsr_tensor *t = &r->k->tensors[found.list.v[0]];
  if (!holds_integers(t))
    return nsr_asm_error(a, at, "expected a tensor of integers, %.200s is %s",
                         t->name, nsr_dtype_name((enum nsr_dtype)t->dtype));
  NSR_TRY(known_once(r, at, found.list.v[0]));
  NSR_TRY(nsr_asm_int(a, "the least value", t->has_range ? t->lo : INT32_MIN,
                      t->has_range ? t->hi : INT32_MAX, &lo));
  NSR_TRY(nsr_asm_int(a, "the largest value", lo,
                      t->has_range ? t->hi : INT32_MAX, &hi));
  f->tensors = found.list.v;
  f->ntensors = 1;
  f->first = (int32_t)lo;
  f->last = (int32_t)hi;
  return NSR_OK;
}

/* ---- what others use */

/* The digits of rN or sN; ".." may follow. */
static enum nsr_status number(struct reader *r, const char *what, int32_t first,
                              int32_t end, int32_t *out) {
  struct nsr_asm *a = r->a;
  struct nsr_asm_value v = {.i = 0};
  const char *at = a->p;
  while (a->p < a->line_end && nsr_is_digit(*a->p)) {
    v.i = v.i < INT32_MAX ? v.i * 10 + (*a->p - '0') : v.i;
    a->p++;
  }
  if (a->p == at)
    return nsr_asm_expected(a, "a number");
  NSR_TRY(nsr_asm_check_int(a, at, what, first, end - 1, &v));
  *out = (int32_t)v.i;
  return NSR_OK;
}

/* [ENGINE] rN[..rM] or sN[..sM] */
static enum nsr_status reserve(struct reader *r, struct nsr_user_fact *f) {
  struct nsr_asm *a = r->a;
  const struct nsr_isa *isa = r->k->isa;
  f->engine = -1;
  nsr_asm_blank(a);
  for (int e = 0; f->engine < 0 && e < isa->nengines; e++) {
    const char *s, *at = a->p;
    size_t n;
    if (nsr_asm_word(a, &s, &n) && is(s, n, isa->engines[e]))
      f->engine = e;
    else
      a->p = at;
  }
  bool regs = nsr_asm_accept(a, "r");
  if (!regs && (f->engine >= 0 || !nsr_asm_accept(a, "s")))
    return nsr_asm_expected(a, f->engine >= 0
                                   ? "a register such as r7"
                                   : "an engine, a register such as r7 or a "
                                     "semaphore such as s7");
  const char *what = regs ? "the register" : "the semaphore";
  int32_t end = regs ? isa->registers : isa->semaphores;
  f->kind = regs ? NSR_FACT_REGISTERS : NSR_FACT_SEMAPHORES;
  NSR_TRY(number(r, what, 0, end, &f->first));
  f->last = f->first;
  if (!nsr_asm_accept(a, ".."))
    return NSR_OK;
  NSR_TRY(nsr_asm_expect(a, regs ? "r" : "s"));
  return number(r, what, f->first, end, &f->last);
}

/* ---- lines */

/* What was read of the line, without blanks around it. */
static enum nsr_status keep_text(struct reader *r, struct nsr_user_fact *f) {
  const char *s = r->a->line, *end = r->a->p;
  while (s < end && (*s == ' ' || *s == '\t'))
    s++;
  while (end > s && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
    end--;
  f->text = nsr_strndup(r->a->ctx, NSR_KEEP, s, (size_t)(end - s));
  return f->text ? NSR_OK : NSR_E_NOMEM;
}

static enum nsr_status fact(struct reader *r, const char *s, size_t n,
                            const char *at, struct nsr_user_fact *f) {
  if (is(s, n, "race")) {
    f->kind = NSR_FACT_RACE;
    return race(r, f);
  }
  if (is(s, n, "disjoint")) {
    f->kind = NSR_FACT_DISJOINT;
    return disjoint(r, f);
  }
  if (is(s, n, "range")) {
    f->kind = NSR_FACT_RANGE;
    return range(r, f);
  }
  if (is(s, n, "reserve"))
    return reserve(r, f);
  r->a->p = at;
  return nsr_asm_expected(r->a, "race, disjoint, range or reserve");
}

static enum nsr_status line(void *user) {
  struct reader *r = user;
  struct nsr_asm *a = r->a;
  struct nsr_user_fact f = {.line = nsr_asm_line(a)};
  const char *s, *at;
  size_t n;
  if (nsr_asm_at_end(a))
    return NSR_OK;
  at = a->p;
  if (!nsr_asm_word(a, &s, &n))
    return nsr_asm_expected(a, "race, disjoint, range or reserve");
  NSR_TRY(fact(r, s, n, at, &f));
  NSR_TRY(nsr_asm_finish_line(a));
  NSR_TRY(keep_text(r, &f));
  NSR_PUSH(a->ctx, NSR_KEEP, &r->facts, f);
  return NSR_OK;
}

static enum nsr_status finish(const struct reader *r, const char *path,
                              struct nsr_facts_file **out) {
  struct nsr_facts_file *f;
  NSR_NEW(r->a->ctx, NSR_KEEP, f, 1);
  NSR_NEW(r->a->ctx, NSR_KEEP, f->used, r->facts.n);
  f->path = nsr_strndup(r->a->ctx, NSR_KEEP, path, strlen(path));
  if (!f->path)
    return NSR_E_NOMEM;
  f->facts = r->facts.v;
  f->n = (uint32_t)r->facts.n;
  *out = f;
  return NSR_OK;
}

enum nsr_status nsr_facts_parse(struct nsr_ctx *ctx, const struct nsr_kernel *k,
                                const char *path, const char *text, size_t n,
                                struct nsr_facts_file **out) {
  struct nsr_mark mark = nsr_scratch_mark(ctx);
  struct nsr_asm *a;
  enum nsr_status status = nsr_asm_reader(ctx, k, path, text, n, &a);
  struct reader r = {.a = a, .k = k};
  if (status == NSR_OK)
    status = nsr_asm_each_line(a, line, &r);
  if (status == NSR_OK)
    status = finish(&r, path, out);
  nsr_scratch_release(ctx, mark);
  return status;
}
