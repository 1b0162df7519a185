/* asm_cursor.c - the scanner: words, numbers and strings of one line, and
 * messages that say where they stand and what was expected.
 */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "asm/asm.h"
#include "asm/asm_quote.h"
#include "object/check.h"

/* ---- messages */

static struct nsr_place place(const struct nsr_asm *a, const char *at) {
  const struct nsr_asm_frame *f = &a->frames[a->nframes - 1];
  return (struct nsr_place){.insn = -1,
                            .source_file = a->path,
                            .source_line = f->line,
                            .column = (uint32_t)(at - a->line) + 1};
}

/* Says which macro uses led to the current line, innermost first. */
static void say_calls(struct nsr_asm *a) {
  for (uint32_t i = a->nframes; i-- > 0;) {
    const struct nsr_asm_frame *f = &a->frames[i];
    if (!f->macro)
      continue;
    struct nsr_place at = {
        .insn = -1, .source_file = a->path, .source_line = f->call_line};
    nsr_say(a->ctx, NSR_NOTE, at, "in macro '%.*s' used here", (int)f->name_n,
            f->name);
    if (i + 8 < a->nframes)
      break; /* deep recursion tells its story in eight lines */
  }
}

enum nsr_status nsr_asm_error(struct nsr_asm *a, const char *at,
                              const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  char text[1024];
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  nsr_fail(a->ctx, NSR_E_SYNTAX, place(a, at ? at : a->p), "%s", text);
  say_calls(a);
  if (++a->errors == NSR_ASM_ERRORS) {
    a->fatal = true;
    nsr_fail(a->ctx, NSR_E_SYNTAX, place(a, a->line), "too many errors");
  }
  return NSR_E_SYNTAX;
}

/* What stands at the cursor, for "found ...". */
static void found(struct nsr_asm *a, char *out, size_t size) {
  if (nsr_asm_at_end(a)) {
    snprintf(out, size, "the end of the line");
    return;
  }
  const char *p = a->p;
  if (*p == '"') {
    snprintf(out, size, "a string");
    return;
  }
  while (p < a->line_end && nsr_is_name(*p))
    p++;
  if (p > a->p)
    snprintf(out, size, "'%.*s'", (int)(p - a->p > 40 ? 40 : p - a->p), a->p);
  else if (*p >= 0x20 && *p < 0x7f)
    snprintf(out, size, "'%c'", *p);
  else
    snprintf(out, size, "byte 0x%02x", (unsigned)(uint8_t)*p);
}

enum nsr_status nsr_asm_expected(struct nsr_asm *a, const char *what) {
  char text[64];
  found(a, text, sizeof text);
  return nsr_asm_error(a, a->p, "expected %s, found %s", what, text);
}

uint32_t nsr_asm_line(const struct nsr_asm *a) {
  for (uint32_t i = 0; i < a->nframes; i++)
    if (a->frames[i].macro)
      return a->frames[i].call_line;
  return a->frames[a->nframes - 1].line;
}

/* ---- characters */

void nsr_asm_blank(struct nsr_asm *a) {
  while (a->p < a->line_end && (*a->p == ' ' || *a->p == '\t' || *a->p == '\r'))
    a->p++;
}

bool nsr_asm_at_end(struct nsr_asm *a) {
  nsr_asm_blank(a);
  return a->p == a->line_end || *a->p == ';' || *a->p == '#';
}

bool nsr_asm_at(struct nsr_asm *a, char c) {
  return !nsr_asm_at_end(a) && *a->p == c;
}

bool nsr_asm_accept(struct nsr_asm *a, const char *s) {
  size_t n = strlen(s);
  if (nsr_asm_at_end(a) || (size_t)(a->line_end - a->p) < n ||
      memcmp(a->p, s, n) != 0)
    return false;
  a->p += n;
  return true;
}

enum nsr_status nsr_asm_expect(struct nsr_asm *a, const char *s) {
  char what[16];
  if (nsr_asm_accept(a, s))
    return NSR_OK;
  snprintf(what, sizeof what, "'%s'", s);
  return nsr_asm_expected(a, what);
}

enum nsr_status nsr_asm_finish_line(struct nsr_asm *a) {
  return nsr_asm_at_end(a) ? NSR_OK
                           : nsr_asm_expected(a, "the end of the line");
}

/* ---- words */

bool nsr_asm_word(struct nsr_asm *a, const char **s, size_t *n) {
  if (nsr_asm_at_end(a) || !(nsr_is_name_start(*a->p) || *a->p == '.'))
    return false;
  *s = a->p;
  do
    a->p++;
  while (a->p < a->line_end && nsr_is_name(*a->p));
  *n = (size_t)(a->p - *s);
  return true;
}

bool nsr_asm_register(struct nsr_asm *a, int32_t *reg) {
  if (nsr_asm_at_end(a) || *a->p != 'r')
    return false;
  const char *p = a->p + 1;
  int32_t v = 0;
  while (p < a->line_end && nsr_is_digit(*p)) {
    v = v < 1000000 ? v * 10 + (*p - '0') : v; /* no machine has more */
    p++;
  }
  if (p == a->p + 1 || (p < a->line_end && nsr_is_name(*p)))
    return false;
  a->p = p;
  *reg = v;
  return true;
}

/* ---- strings */

/* One escape behind the backslash at *p; the byte, -1: none such. */
static int escape(const char **p, const char *end) {
  static const char from[] = "\\\"nt0", to[] = "\\\"\n\t";
  const char *hit = *p < end && **p ? strchr(from, **p) : NULL;
  if (hit) {
    ++*p;
    return (uint8_t)to[hit - from]; /* the NUL behind `to` is that of \0 */
  }
  if (end - *p < 3 || **p != 'x')
    return -1;
  int hi = nsr_hex_digit((*p)[1]), lo = nsr_hex_digit((*p)[2]);
  *p += 3;
  return hi < 0 || lo < 0 ? -1 : hi * 16 + lo;
}

enum nsr_status nsr_asm_string(struct nsr_asm *a, const char **s, size_t *n) {
  if (!nsr_asm_at(a, '"'))
    return nsr_asm_expected(a, "a string");
  const char *open = a->p, *p = open + 1;
  while (p < a->line_end && *p != '"')
    p += *p == '\\' ? 2 : 1;
  if (p >= a->line_end)
    return nsr_asm_error(a, open, "expected '\"' before the end of the line");
  char *out = nsr_strndup(a->ctx, NSR_SCRATCH, open, (size_t)(p - open));
  if (!out)
    return NSR_E_NOMEM;
  size_t at = 0;
  for (p = open + 1; *p != '"';) {
    const char *here = p;
    int c = (uint8_t)*p++;
    if (c == '\\' && (c = escape(&p, a->line_end)) < 0)
      return nsr_asm_error(a, here,
                           "expected one of \\\\ \\\" \\n \\t \\0 \\xHH");
    out[at++] = (char)c;
  }
  out[at] = 0;
  a->p = p + 1;
  *s = out;
  *n = at;
  return NSR_OK;
}

enum nsr_status nsr_asm_name(struct nsr_asm *a, const char *what,
                             const char **s, size_t *n, bool *quoted) {
  bool dummy;
  quoted = quoted ? quoted : &dummy;
  *quoted = nsr_asm_at(a, '"');
  if (!*quoted)
    return nsr_asm_word(a, s, n) ? NSR_OK : nsr_asm_expected(a, what);
  const char *open = a->p;
  NSR_TRY(nsr_asm_string(a, s, n));
  const char *problem =
      memchr(*s, 0, *n) ? "has a NUL in it" : nsr_name_problem(*s);
  return problem ? nsr_asm_error(a, open, "the name %s", problem) : NSR_OK;
}

/* ---- numbers */

/* The end of the number at p: letters, digits, dots, and the sign behind an
 * exponent's letter. */
static const char *number_end(const char *p, const char *end) {
  bool hex = end - p > 1 && p[0] == '0' && (p[1] | 0x20) == 'x';
  const char *q = p;
  while (q < end) {
    char prev = q > p ? (char)(q[-1] | 0x20) : 0;
    bool sign = (*q == '+' || *q == '-') && prev == (hex ? 'p' : 'e');
    if (!nsr_is_digit(*q) && !nsr_is_name_start(*q) && *q != '.' && !sign)
      break;
    q++;
  }
  return q;
}

/* All of s as an unsigned whole number. */
static bool whole(const char *s, uint64_t *u64, bool *large) {
  unsigned base = s[0] == '0' && (s[1] | 0x20) == 'x' ? 16 : 10;
  const char *p = base == 16 ? s + 2 : s;
  *u64 = 0;
  *large = false;
  if (!*p)
    return false;
  for (; *p; p++) {
    int digit = nsr_hex_digit(*p);
    if (digit < 0 || digit >= (int)base)
      return false;
    *large |= __builtin_mul_overflow(*u64, (uint64_t)base, u64);
    *large |= __builtin_add_overflow(*u64, (uint64_t)digit, u64);
  }
  return true;
}

enum nsr_status nsr_asm_number(struct nsr_asm *a, struct nsr_asm_value *v,
                               uint64_t *u64) {
  char text[64];
  uint64_t u = 0;
  bool large;
  if (nsr_asm_at_end(a) || !nsr_is_digit(*a->p))
    return nsr_asm_expected(a, "a number");
  const char *open = a->p, *end = number_end(open, a->line_end);
  size_t n = (size_t)(end - open);
  if (n >= sizeof text)
    return nsr_asm_error(a, open, "a number of more than %zu characters",
                         sizeof text - 1);
  memcpy(text, open, n);
  text[n] = 0;
  if (whole(text, &u, &large)) {
    if (large || (!u64 && u > INT64_MAX))
      return nsr_asm_error(a, open, "%s does not fit 64 bits", text);
    *v = (struct nsr_asm_value){.i = (int64_t)(u & INT64_MAX)};
  } else {
    char *stop;
    *v = (struct nsr_asm_value){.is_float = true, .f = strtod(text, &stop)};
    if (*stop)
      return nsr_asm_error(a, open, "expected a number, found '%s'", text);
    if (isinf(v->f))
      return nsr_asm_error(a, open, "%s is too large a number", text);
  }
  if (u64)
    *u64 = u;
  a->p = end;
  return NSR_OK;
}
