/* asm_source.c - lines in the order they are assembled: a stack of frames,
 * the text at the bottom, above it bodies of repeats and macros. A line with
 * \NAME in it is copied into a buffer with what NAME stands for. All work
 * that text can multiply is counted against a budget, so no text hangs.
 */
#include <stdio.h>
#include <string.h>

#include "asm/asm.h"
#include "asm/asm_quote.h"
#include "base/work.h"

enum nsr_status nsr_asm_source(struct nsr_asm *a, const char *text, size_t n) {
  a->budget = NSR_ASM_LINES;
  a->nframes = 1;
  a->frames[0] = (struct nsr_asm_frame){
      .begin = text, .p = text, .end = text + n, .begin_line = 1, .times = 1};
  return NSR_OK;
}

enum nsr_status nsr_asm_reader(struct nsr_ctx *ctx, const struct nsr_kernel *k,
                               const char *path, const char *text, size_t n,
                               struct nsr_asm **out) {
  struct nsr_asm *a;
  size_t skip = nsr_byte_order_mark(text, n);
  NSR_NEW(ctx, NSR_SCRATCH, a, 1);
  a->ctx = a->b.ctx = ctx;
  a->path = a->base = path;
  a->isa = k->isa;
  a->engine = -1;
  a->file = a->own_file = NSR_NONE;
  *out = a;
  return nsr_asm_source(a, text + skip, n - skip);
}

/* ---- substitution */

static const struct nsr_asm_param *in_frame(const struct nsr_asm_frame *f,
                                            const char *s, size_t n) {
  for (uint32_t i = 0; i < f->nparams; i++)
    if (f->params[i].n == n && memcmp(f->params[i].name, s, n) == 0)
      return &f->params[i];
  return NULL;
}

static const struct nsr_asm_param *param(const struct nsr_asm *a, const char *s,
                                         size_t n) {
  const struct nsr_asm_param *hit = NULL;
  for (uint32_t f = a->nframes; f-- > 0 && !hit;) {
    hit = in_frame(&a->frames[f], s, n);
    if (a->frames[f].macro)
      break;
  }
  return hit;
}

/* Also in macros used in the repeat: their arguments may name it. */
const struct nsr_asm_param *nsr_asm_variable(const struct nsr_asm *a,
                                             const char *s, size_t n) {
  for (uint32_t f = a->nframes; f-- > 0;) {
    const struct nsr_asm_param *hit = in_frame(&a->frames[f], s, n);
    if (hit && hit->counts)
      return hit;
  }
  return NULL;
}

static enum nsr_status put(struct nsr_asm *a, const char *s, size_t n) {
  NSR_RESERVE(a->ctx, NSR_SCRATCH, &a->buffer, n);
  if (n)
    memcpy(a->buffer.v + a->buffer.n, s, n);
  a->buffer.n += n;
  return NSR_OK;
}

/* The text of \NAME or \() at p (behind the backslash); its length, 0: it is
 * neither. */
static size_t stands_for(const struct nsr_asm *a, const char *p,
                         const char *end, const char **text, size_t *n) {
  const char *q = p;
  if (end - p > 1 && p[0] == '(' && p[1] == ')') {
    *n = 0;
    return 2;
  }
  while (q < end && (nsr_is_name_start(*q) || nsr_is_digit(*q)))
    q++;
  const struct nsr_asm_param *hit = param(a, p, (size_t)(q - p));
  if (q == p || !hit)
    return 0;
  *text = hit->text;
  *n = hit->text_n;
  return (size_t)(q - p);
}

/* Makes the cursor's line from s..end with parameters replaced. */
static enum nsr_status substitute(struct nsr_asm *a, const char *s,
                                  const char *end) {
  a->buffer.n = 0;
  while (s < end) {
    const char *slash = memchr(s, '\\', (size_t)(end - s));
    const char *text = s, *stop = slash ? slash : end;
    size_t n = 0, used = 0;
    NSR_TRY(put(a, s, (size_t)(stop - s)));
    if (slash)
      used = stands_for(a, slash + 1, end, &text, &n);
    if (slash && !used) {
      n = 1;
      text = slash;
    }
    NSR_TRY(put(a, text, n));
    s = slash ? slash + 1 + used : end;
    if (a->buffer.n > NSR_ASM_LINE_BYTES) {
      a->fatal = true;
      return nsr_asm_error(a, a->line,
                           "a line of more than %d bytes after substitution",
                           NSR_ASM_LINE_BYTES);
    }
  }
  NSR_TRY(put(a, "", 1)); /* never an empty allocation */
  a->line = a->p = a->buffer.v;
  a->line_end = a->line + a->buffer.n - 1;
  a->substituted = true;
  return NSR_OK;
}

/* ---- lines */

static const char *line_end(const char *p, const char *end) {
  const char *nl = memchr(p, '\n', (size_t)(end - p));
  return nl ? nl : end;
}

/* A line of n bytes, read again or looked through. */
static enum nsr_status spend(struct nsr_asm *a, size_t n) {
  uint64_t cost = 1 + n / 64;
  if (a->budget >= cost) {
    a->budget -= cost;
    return NSR_OK;
  }
  a->fatal = true;
  return nsr_asm_error(a, a->line, "macros and repeats make more than %d lines",
                       NSR_ASM_LINES);
}

/* A repeat's body from its start again, with the variable's next value. */
static void rewind_frame(struct nsr_asm_frame *f) {
  f->p = f->begin;
  f->line = f->begin_line - 1;
  for (uint32_t i = 0; i < f->nparams; i++)
    if (f->params[i].counts) {
      int n = snprintf(f->number, sizeof f->number, "%lld",
                       (long long)++f->params[i].value);
      f->params[i].text = f->number;
      f->params[i].text_n = (size_t)n;
    }
}

/* Leaves frames that are read to their end; false: no line is left. */
static enum nsr_status settle(struct nsr_asm *a, bool *more) {
  for (;;) {
    struct nsr_asm_frame *f = &a->frames[a->nframes - 1];
    *more = f->p < f->end;
    if (*more || (a->nframes == 1 && f->times <= 1))
      return NSR_OK;
    if (f->times > 1 && f->begin < f->end) {
      NSR_TRY(spend(a, 0));
      f->times--;
      rewind_frame(f);
    } else {
      a->nframes--;
    }
  }
}

static bool has_params(const struct nsr_asm *a) {
  for (uint32_t f = 0; f < a->nframes; f++)
    if (a->frames[f].nparams)
      return true;
  return false;
}

/* Moves the cursor to the next line; *more false: there is none. */
static enum nsr_status next_line(struct nsr_asm *a, bool *more) {
  NSR_TRY(settle(a, more));
  if (!*more)
    return NSR_OK;
  struct nsr_asm_frame *f = &a->frames[a->nframes - 1];
  const char *s = f->p, *end = line_end(s, f->end);
  f->p = end < f->end ? end + 1 : end;
  f->line++;
  a->line = a->p = s;
  a->line_end = end;
  a->substituted = a->labelled = false;
  a->nesting = 0;
  if (a->nframes == 1)
    return NSR_OK;
  if (has_params(a) && memchr(s, '\\', (size_t)(end - s)))
    NSR_TRY(substitute(a, s, end));
  return spend(a, (size_t)(a->line_end - a->line));
}

enum nsr_status nsr_asm_each_line(struct nsr_asm *a, nsr_asm_line_fn *line,
                                  void *user) {
  bool more = true;
  while (more && !a->fatal) {
    enum nsr_status status = next_line(a, &more);
    nsr_work_count(a->ctx, NSR_WORK_ASM, 1);
    if (status == NSR_OK && more)
      status = line(user);
    if (status != NSR_OK && status != NSR_E_SYNTAX)
      return status;
  }
  return a->errors ? NSR_E_SYNTAX : NSR_OK;
}

/* ---- bodies */

/* The first word of a line. */
static size_t first_word(const char *p, const char *end, const char **word) {
  while (p < end && (*p == ' ' || *p == '\t'))
    p++;
  *word = p;
  while (p < end && nsr_is_name(*p))
    p++;
  return (size_t)(p - *word);
}

static bool is(const char *word, size_t n, const char *name) {
  return strlen(name) == n && memcmp(word, name, n) == 0;
}

/* The lines up to the .end that closes the block just opened. */
static enum nsr_status body(struct nsr_asm *a, const char *what,
                            struct nsr_asm_frame *out) {
  struct nsr_asm_frame *f = &a->frames[a->nframes - 1];
  unsigned depth = 1;
  *out = (struct nsr_asm_frame){.begin = f->p, .begin_line = f->line + 1};
  uint32_t line = f->line;
  for (const char *p = f->p; p < f->end;) {
    const char *end = line_end(p, f->end), *word;
    size_t n = first_word(p, end, &word);
    if (a->nframes > 1)
      NSR_TRY(spend(a, (size_t)(end - p)));
    line++;
    depth += is(word, n, ".repeat") || is(word, n, ".macro");
    depth -= is(word, n, ".end");
    if (depth == 0) {
      out->p = out->begin;
      out->end = p;
      f->p = end < f->end ? end + 1 : end;
      f->line = line;
      return NSR_OK;
    }
    p = end < f->end ? end + 1 : end;
  }
  a->fatal = true;
  return nsr_asm_error(a, a->line, "%s without .end", what);
}

/* The storage of a deeper frame is used again. */
static enum nsr_status push(struct nsr_asm *a, const struct nsr_asm_frame *new,
                            struct nsr_asm_frame **pushed) {
  if (a->nframes == NSR_ASM_DEPTH)
    return nsr_asm_error(a, a->line,
                         "macros and repeats nested more than %d deep",
                         NSR_ASM_DEPTH - 1);
  struct nsr_asm_frame *f = &a->frames[a->nframes++];
  char *v = f->storage.v;
  size_t cap = f->storage.cap;
  struct nsr_asm_param *params = f->params;
  *f = *new;
  f->storage.v = v;
  f->storage.cap = cap;
  f->params = params;
  f->line = f->begin_line - 1;
  *pushed = f;
  return NSR_OK;
}

/* Parameters of a frame: room for n, used again like the storage. */
enum { NPARAMS = 32 };
static enum nsr_status params(struct nsr_asm *a, struct nsr_asm_frame *f) {
  if (!f->params)
    NSR_NEW(a->ctx, NSR_SCRATCH, f->params, NPARAMS);
  return NSR_OK;
}

/* Text that outlives the line, in a frame's storage. */
static enum nsr_status store(struct nsr_asm *a, struct nsr_asm_frame *f,
                             const char *s, size_t n) {
  NSR_RESERVE(a->ctx, NSR_SCRATCH, &f->storage, n);
  if (n)
    memcpy(f->storage.v + f->storage.n, s, n);
  f->storage.n += n;
  return NSR_OK;
}

static enum nsr_status at_line_start(struct nsr_asm *a, const char *what) {
  return a->labelled ? nsr_asm_error(a, a->line,
                                     "expected %s at the start of a line", what)
                     : NSR_OK;
}

/* A name that \NAME finds. */
static enum nsr_status param_name(struct nsr_asm *a, const char *what,
                                  const char **s, size_t *n) {
  if (!nsr_asm_word(a, s, n))
    return nsr_asm_expected(a, what);
  for (size_t i = 0; i < *n; i++)
    if ((*s)[i] == '.' || (*s)[i] == '$')
      return nsr_asm_error(a, *s, "expected letters, digits and _ in %s", what);
  return NSR_OK;
}

/* ---- .repeat N [, VAR] */

static enum nsr_status repeat_head(struct nsr_asm *a, int64_t *times,
                                   const char **var, size_t *n) {
  *n = 0;
  NSR_TRY(at_line_start(a, ".repeat"));
  NSR_TRY(nsr_asm_int(a, "the number of repeats", 0, NSR_ASM_LINES, times));
  if (nsr_asm_accept(a, ","))
    NSR_TRY(param_name(a, "a variable's name", var, n));
  return nsr_asm_finish_line(a);
}

enum nsr_status nsr_asm_repeat(struct nsr_asm *a) {
  struct nsr_asm_frame frame, *f = NULL;
  int64_t times = 0;
  const char *var = NULL;
  size_t n;
  enum nsr_status head = repeat_head(a, &times, &var, &n);
  NSR_TRY(body(a, ".repeat", &frame)); /* skipped where the head is wrong */
  if (head != NSR_OK || times == 0)
    return head;
  frame.times = (uint64_t)times + 1;
  frame.p = frame.end; /* the first pass begins like all others */
  NSR_TRY(push(a, &frame, &f));
  if (n) {
    NSR_TRY(params(a, f));
    NSR_TRY(store(a, f, var, n));
    f->params[0] = (struct nsr_asm_param){
        .name = f->storage.v, .n = n, .counts = true, .value = -1};
    f->nparams = 1;
  }
  return NSR_OK;
}

/* ---- .macro NAME A, B and its use */

static enum nsr_status macro_head(struct nsr_asm *a, struct nsr_asm_macro *m,
                                  struct nsr_asm_param *p) {
  NSR_TRY(at_line_start(a, ".macro"));
  if (a->nframes > 1)
    return nsr_asm_error(a, a->p, "expected .macro outside macros and repeats");
  nsr_asm_blank(a);
  const char *at = a->p;
  if (!nsr_asm_word(a, &m->name, &m->name_n))
    return nsr_asm_expected(a, "the macro's name");
  if (*m->name == '.' ||
      (a->isa && nsr_isa_mnemonic(a->isa, m->name, m->name_n)))
    return nsr_asm_error(a, at, "a macro cannot be called '%.*s'",
                         (int)m->name_n, m->name);
  if (nsr_map_get(&a->macro_map, m->name, m->name_n) != NSR_NONE)
    return nsr_asm_error(a, at, "macro '%.*s' is already defined",
                         (int)m->name_n, m->name);
  while (!nsr_asm_at_end(a)) {
    if (m->nparams)
      NSR_TRY(nsr_asm_expect(a, ","));
    if (m->nparams == NPARAMS)
      return nsr_asm_error(a, a->p, "more than %d parameters", NPARAMS);
    struct nsr_asm_param *next = &p[m->nparams];
    *next = (struct nsr_asm_param){0};
    NSR_TRY(param_name(a, "a parameter's name", &next->name, &next->n));
    m->nparams++;
  }
  return NSR_OK;
}

enum nsr_status nsr_asm_macro(struct nsr_asm *a) {
  struct nsr_asm_param p[NPARAMS], *kept;
  struct nsr_asm_macro m = {0};
  struct nsr_asm_frame frame;
  enum nsr_status head = macro_head(a, &m, p);
  /* only the text itself defines macros, so names stay where they are */
  NSR_TRY(body(a, ".macro", &frame));
  NSR_TRY(head);
  NSR_NEW(a->ctx, NSR_SCRATCH, kept, m.nparams);
  if (m.nparams)
    memcpy(kept, p, m.nparams * sizeof *p);
  m.params = kept;
  m.begin = frame.begin;
  m.end = frame.end;
  m.begin_line = frame.begin_line;
  NSR_TRY(nsr_map_put(a->ctx, &a->macro_map, m.name, m.name_n,
                      (uint32_t)a->macros.n));
  NSR_PUSH(a->ctx, NSR_SCRATCH, &a->macros, m);
  return NSR_OK;
}

/* The end of the argument at p: a comma outside parentheses and strings, a
 * comment, or the end of the line. */
static const char *argument_end(const char *p, const char *end) {
  int depth = 0;
  bool string = false;
  for (; p < end; p++) {
    if (string) {
      p += *p == '\\' && p + 1 < end;
      string = *p != '"';
    } else if (*p == '"') {
      string = true;
    } else if (*p == ';' || *p == '#' || (*p == ',' && depth <= 0)) {
      break;
    } else {
      depth += *p == '(' || *p == '[' || *p == '{';
      depth -= *p == ')' || *p == ']' || *p == '}';
    }
  }
  return p;
}

/* Copies the arguments into the frame; its storage moves while it grows, so
 * they are placed by offset first. */
static enum nsr_status arguments(struct nsr_asm *a, struct nsr_asm_frame *f,
                                 const struct nsr_asm_macro *m) {
  size_t at[NPARAMS + 1] = {0};
  NSR_TRY(params(a, f));
  for (uint32_t i = 0; i < m->nparams; i++) {
    if (i)
      NSR_TRY(nsr_asm_expect(a, ","));
    nsr_asm_blank(a);
    const char *s = a->p, *end = argument_end(s, a->line_end);
    a->p = end;
    while (end > s && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
      end--;
    if (end == s)
      return nsr_asm_error(a, s, "expected an argument for '%.*s'",
                           (int)m->params[i].n, m->params[i].name);
    NSR_TRY(store(a, f, s, (size_t)(end - s)));
    at[i + 1] = f->storage.n;
  }
  for (uint32_t i = 0; i < m->nparams; i++) {
    f->params[i] = m->params[i];
    f->params[i].text = f->storage.v + at[i];
    f->params[i].text_n = at[i + 1] - at[i];
  }
  f->nparams = m->nparams;
  return nsr_asm_finish_line(a);
}

enum nsr_status nsr_asm_call(struct nsr_asm *a, uint32_t macro) {
  const struct nsr_asm_macro *m = &a->macros.v[macro];
  struct nsr_asm_frame *f = NULL;
  uint32_t line = a->frames[a->nframes - 1].line;
  struct nsr_asm_frame frame = {.begin = m->begin,
                                .p = m->begin,
                                .end = m->end,
                                .begin_line = m->begin_line,
                                .times = 1,
                                .macro = true,
                                .call_line = line,
                                .name = m->name,
                                .name_n = m->name_n};
  NSR_TRY(push(a, &frame, &f));
  a->nframes--; /* messages about the arguments belong to the use */
  NSR_TRY(arguments(a, f, m));
  a->nframes++;
  return NSR_OK;
}
