/* asm.h - the assembler's state and what its files offer each other.
 *
 * Text goes line by line (asm_source.c: macros and repeats open frames on a
 * stack) through a cursor (asm_cursor.c: words, numbers, strings, messages)
 * into directives and instructions, which add to the vectors below;
 * assemble.c makes the kernel of them. Every function that reads text returns
 * NSR_E_SYNTAX after it has reported what it expected; the line is then given
 * up and the next one read. Everything here is in the scratch arena but what
 * the kernel keeps.
 */
#ifndef NSR_ASM_ASM_H
#define NSR_ASM_ASM_H

#include "asm/asm_build.h"

enum {
  NSR_ASM_DEPTH = 64,          /* macros and repeats inside each other */
  NSR_ASM_ERRORS = 1000,       /* reported before giving up */
  NSR_ASM_LINES = 1 << 24,     /* lines that macros and repeats make */
  NSR_ASM_LINE_BYTES = 1 << 20 /* of a line after substitution */
};

/* A number: integers stay exact, floats are for float arguments. */
struct nsr_asm_value {
  bool is_float;
  int64_t i;
  double f;
};

/* What \NAME stands for in a frame; a repeat's variable is a constant too. */
struct nsr_asm_param {
  const char *name, *text;
  size_t n, text_n;
  bool counts;
  int64_t value;
};

/* Lines being read: the text itself, a macro's body, a repeat's body. */
struct nsr_asm_frame {
  const char *begin, *p, *end;
  uint32_t begin_line, line; /* of `begin`; of the line last read */
  uint64_t times;            /* the body is read this often, from now */
  bool macro;                /* hides the parameters of outer frames */
  uint32_t call_line;        /* where a macro was used */
  const char *name;          /* a macro's */
  size_t name_n;
  struct nsr_asm_param *params;
  uint32_t nparams;
  char number[24];       /* text of a repeat's variable */
  NSR_VEC(char) storage; /* text of macro arguments */
};

struct nsr_asm_macro {
  const char *name;
  size_t name_n;
  const char *begin, *end;
  uint32_t begin_line;
  const struct nsr_asm_param *params; /* names only */
  uint32_t nparams;
};

/* A label used before it was defined. */
enum nsr_asm_fix {
  NSR_ASM_FIX_BRANCH,
  NSR_ASM_FIX_A,
  NSR_ASM_FIX_B,
  NSR_ASM_FIX_RELOC
};
struct nsr_asm_fixup {
  enum nsr_asm_fix kind;
  uint32_t insn;
  uint32_t reloc; /* of the stream, to be given the target; NSR_NONE: none */
  const char *name;
  size_t n;
  uint32_t line, column;
};

struct nsr_asm {
  struct nsr_ctx *ctx;
  const char *path, *base;   /* base: path's last component */
  const struct nsr_isa *isa; /* NULL: before .isa */
  struct nsr_build b;
  NSR_VEC(struct nsr_asm_fixup) fixups[NSR_MAX_ENGINES];
  uint32_t barriers[NSR_MAX_ENGINES]; /* seen so far */
  bool named;
  struct nsr_map const_map, macro_map;
  NSR_VEC(struct nsr_asm_value) consts;
  NSR_VEC(struct nsr_asm_macro) macros;
  int engine;          /* of the current stream, -1: none */
  bool in_section;     /* after .section, until the next stream */
  bool explicit_lines; /* .file or .files was given */
  uint32_t file;       /* current source file, NSR_NONE: none */
  uint32_t own_file;   /* the text's own entry, NSR_NONE: not yet made */

  const char *line, *p, *line_end; /* the cursor */
  bool substituted;                /* the line is not the text itself */
  bool labelled;                   /* something came before on the line */
  unsigned nesting;                /* of an expression */
  struct nsr_asm_frame frames[NSR_ASM_DEPTH];
  uint32_t nframes;
  NSR_VEC(char) buffer; /* a substituted line */
  uint64_t budget;      /* lines left to make */
  uint32_t errors;
  bool fatal; /* reported; read no further */
};

/* ---- asm_cursor.c */

/* Reports an error at a place of the current line (NULL: at the cursor). */
NSR_PRINTF(3, 4)
enum nsr_status nsr_asm_error(struct nsr_asm *a, const char *at,
                              const char *fmt, ...);
/* "expected WHAT, found ..." at the cursor. */
enum nsr_status nsr_asm_expected(struct nsr_asm *a, const char *what);

void nsr_asm_blank(struct nsr_asm *a); /* skips blanks */
bool nsr_asm_at_end(struct nsr_asm *a);
bool nsr_asm_at(struct nsr_asm *a, char c);
bool nsr_asm_accept(struct nsr_asm *a, const char *s);
NSR_MUST_USE enum nsr_status nsr_asm_expect(struct nsr_asm *a, const char *s);
NSR_MUST_USE enum nsr_status nsr_asm_finish_line(struct nsr_asm *a);

/* A word: letter, _ or . first. False, and nothing consumed: not there. The
 * text lives as long as the line. */
bool nsr_asm_word(struct nsr_asm *a, const char **s, size_t *n);
/* rN; false, and nothing consumed: not there. */
bool nsr_asm_register(struct nsr_asm *a, int32_t *reg);
/* A string with its escapes resolved, in scratch. bytes: may hold NUL. */
NSR_MUST_USE enum nsr_status nsr_asm_string(struct nsr_asm *a, const char **s,
                                            size_t *n);
/* A word or a string. */
NSR_MUST_USE enum nsr_status nsr_asm_name(struct nsr_asm *a, const char *what,
                                          const char **s, size_t *n,
                                          bool *quoted);
/* A number; u64 (may be NULL) then is its value if it is a whole one. */
NSR_MUST_USE enum nsr_status
nsr_asm_number(struct nsr_asm *a, struct nsr_asm_value *v, uint64_t *u64);
/* The line that instructions made now come from, and the outermost macro's
 * use where there is one. */
uint32_t nsr_asm_line(const struct nsr_asm *a);

/* ---- asm_expr.c */

NSR_MUST_USE enum nsr_status nsr_asm_primary(struct nsr_asm *a,
                                             struct nsr_asm_value *v);
/* Factors with * / %, no sums. */
NSR_MUST_USE enum nsr_status nsr_asm_term(struct nsr_asm *a,
                                          struct nsr_asm_value *v);
NSR_MUST_USE enum nsr_status nsr_asm_expr(struct nsr_asm *a,
                                          struct nsr_asm_value *v);
/* *x op= y for one of + - * / %, with checks; at: where to point. */
NSR_MUST_USE enum nsr_status nsr_asm_apply(struct nsr_asm *a, const char *at,
                                           char op, struct nsr_asm_value *x,
                                           const struct nsr_asm_value *y);
/* A whole expression that must be an integer in lo..hi. */
NSR_MUST_USE enum nsr_status nsr_asm_int(struct nsr_asm *a, const char *what,
                                         int64_t lo, int64_t hi, int64_t *v);
NSR_MUST_USE enum nsr_status nsr_asm_check_int(struct nsr_asm *a,
                                               const char *at, const char *what,
                                               int64_t lo, int64_t hi,
                                               const struct nsr_asm_value *v);

/* ---- asm_source.c */

NSR_MUST_USE enum nsr_status nsr_asm_source(struct nsr_asm *a, const char *text,
                                            size_t n);
/* The same for a text that is about a kernel: in scratch. */
NSR_MUST_USE enum nsr_status nsr_asm_reader(struct nsr_ctx *ctx,
                                            const struct nsr_kernel *k,
                                            const char *path, const char *text,
                                            size_t n, struct nsr_asm **out);
/* Calls line, with the cursor at its start, for each line; goes on behind
 * errors of syntax. NSR_E_SYNTAX: there were some. */
typedef enum nsr_status nsr_asm_line_fn(void *user);
NSR_MUST_USE enum nsr_status nsr_asm_each_line(struct nsr_asm *a,
                                               nsr_asm_line_fn *line,
                                               void *user);
/* The cursor is behind the directive's word or the macro's name. */
NSR_MUST_USE enum nsr_status nsr_asm_repeat(struct nsr_asm *a);
NSR_MUST_USE enum nsr_status nsr_asm_macro(struct nsr_asm *a);
NSR_MUST_USE enum nsr_status nsr_asm_call(struct nsr_asm *a, uint32_t macro);
/* A repeat's variable, or NULL. */
const struct nsr_asm_param *nsr_asm_variable(const struct nsr_asm *a,
                                             const char *s, size_t n);

/* ---- asm_directive.c, asm_tensor.c, asm_insn.c, asm_operand.c */

/* s is the directive's word, the cursor behind it. */
NSR_MUST_USE enum nsr_status nsr_asm_directive(struct nsr_asm *a, const char *s,
                                               size_t n);
NSR_MUST_USE enum nsr_status nsr_asm_tensor(struct nsr_asm *a);
NSR_MUST_USE enum nsr_status nsr_asm_label(struct nsr_asm *a, const char *at,
                                           const char *s, size_t n);
NSR_MUST_USE enum nsr_status nsr_asm_insn(struct nsr_asm *a, const char *s,
                                          size_t n);
/* The raw bytes of an instruction: `.word "HEX"`. */
NSR_MUST_USE enum nsr_status nsr_asm_word_directive(struct nsr_asm *a);
/* One operand; *tensor then is the one it is tied to, or NSR_NONE. */
NSR_MUST_USE enum nsr_status
nsr_asm_operand(struct nsr_asm *a, const struct nsr_operand_desc *desc,
                bool element, struct nsr_operand *o, uint32_t *tensor);
/* Reports that .engine is missing, if it is. */
NSR_MUST_USE enum nsr_status nsr_asm_need_engine(struct nsr_asm *a,
                                                 const char *at);

#endif
