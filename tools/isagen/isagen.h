/* isagen.h - the model of a description, and the stages that make and use it.
 *
 *   .isa text --parse--> struct isa --review--> complete and sound --emit--> C
 *
 * The checks are the first review of a description: whatever passes them
 * decodes without ambiguity and encodes back bit for bit.
 */
#ifndef ISAGEN_H
#define ISAGEN_H

#include <nsr/isa.h>

#include <stdio.h>

enum { MAX_BITS = NSR_MAX_WORD * 8, MAX_NAMES = 64 };

/* Memory that lives until the end, and the errors so far. */
struct tool {
  struct block *blocks;
  int errors;
  struct {
    const char **v;
    int n;
  } messages; /* printed ones: each once */
};

struct place {
  const char *path;
  int line;
};

/* pool.c */
void *take(struct tool *t, size_t size);
char *copy_text(struct tool *t, const char *s, size_t n);
NSR_PRINTF(2, 3)
char *print_text(struct tool *t, const char *fmt, ...);
void *grown(struct tool *t, void *v, size_t n, size_t size);
void drop_all(struct tool *t);
/* Appends to an array {T *v; int n;}. */
#define APPEND(t, list, ...)                                                   \
  ((list)->v = grown((t), (list)->v, (size_t)(list)->n, sizeof *(list)->v),    \
   (list)->v[(list)->n++] = (__VA_ARGS__))
NSR_PRINTF(3, 4)
void complain(struct tool *t, struct place at, const char *fmt, ...);
/* A whole file, NUL-terminated; NULL (and a complaint): unreadable. */
char *read_text(struct tool *t, const char *path, size_t *size);

/* Bits lo..lo+width-1; width 0: not given. */
struct range {
  int lo, width;
};

/* What a field holds; decides width checks and the largest legal value. */
enum slot_kind {
  SLOT_NUMBER,
  SLOT_FLAG,
  SLOT_NAMES, /* enumerators, listed after "=" in the order of raw values */
  SLOT_REGISTER,
  SLOT_SEMAPHORE,
  SLOT_QUEUE,
  SLOT_DIMS
};

/* A field that descriptions may have. */
struct slot {
  const char *name;   /* in descriptions */
  const char *member; /* in struct nsr_codec or nsr_shape */
  enum slot_kind kind;
  int bits;       /* SLOT_NUMBER: widest unsigned field */
  bool may_sign;  /* may be one bit wider if signed */
  bool must_sign; /* has to be signed */
  int (*parse)(const char *s, size_t n); /* SLOT_NAMES */
};

/* slots.c. ORDER insn_slots. */
enum insn_slot {
  WAIT_SEM,
  WAIT_CMP,
  WAIT_REG,
  WAIT_VALUE,
  UPDATE_SEM,
  UPDATE_OP,
  UPDATE_VALUE,
  UPDATE_EARLY,
  QUEUE,
  DST,
  COND,
  VALUE_REG,
  CC,
  A_REG,
  A,
  B_REG,
  B,
  TARGET,
  ID,
  NINSN_SLOTS
};
extern const struct slot insn_slots[NINSN_SLOTS];

/* ORDER shape_slots. */
enum shape_slot {
  SPACE,
  DTYPE,
  ACC,
  PART,
  NPARTS,
  PSTEP,
  OFFSET,
  REG_ON,
  REG,
  DIMS,
  DIM0_STEP,
  DIM0_COUNT,
  DIM0_REG,
  NSHAPE_SLOTS = DIM0_STEP + 3 * NSR_MAX_DIMS
};
extern const struct slot shape_slots[NSHAPE_SLOTS];

struct field {
  struct place at;
  struct range bits;
  bool is_signed;
  int nnames;
  uint8_t names[MAX_NAMES]; /* SLOT_NAMES: raw value -> enumerator */
  uint64_t max;             /* largest legal raw value; set by check */
};

/* Bits with one legal value: fixed, or reserved (0). */
struct constant {
  struct place at;
  struct range bits;
  uint64_t value;
  bool reserved;
};
struct constants {
  struct constant *v;
  int n;
};

struct enumeration {
  const char *name;
  int number; /* in its instruction set */
  struct place at;
  const char *names[MAX_NAMES];
  int nnames;
};

struct shape {
  const char *name;
  int number; /* in its instruction set */
  struct place at;
  struct field fields[NSHAPE_SLOTS];
  struct constants constants;
  int ndims; /* set by check, as is width */
  int width;
  bool used;
};

struct operand {
  const char *name;
  struct place at;
  enum nsr_role role;
  struct shape *shape;
  int bit;
  bool acc;
  const char *indexed_by; /* NULL: none */
};

struct arg {
  const char *name;
  enum nsr_arg_kind kind;
  const struct enumeration *enumeration;
  struct field field;
};

struct hidden {
  const char *name;
  enum nsr_role role;
};

/* An instruction, or a format: the lines instructions share. */
struct insn {
  const char *mnemonic;
  struct place at;
  uint32_t opcode;
  bool used; /* formats */
  bool has_class, has_meaning, has_sem;
  enum nsr_class cls;
  enum nsr_ctl ctl;
  enum nsr_meaning meaning;
  enum nsr_sem sem;
  uint32_t engines;
  bool unknown_effects, external;
  struct field fields[NINSN_SLOTS];
  int noperands, nargs, nhidden;
  struct operand operands[NSR_MAX_OPERANDS];
  struct arg args[NSR_MAX_ARGS];
  struct hidden hidden[NSR_MAX_HIDDEN];
  struct constants constants;
  struct spans { /* made by check: every bit of the word, by name */
    struct span *v;
    int n;
  } spans;
};

struct span {
  const char *name; /* NULL: a constant */
  const char *what; /* for messages */
  struct place at;
  struct range bits;
  uint64_t max;   /* of a named one */
  uint64_t value; /* of a constant */
};

struct isa {
  const char *name, *path;
  struct place at;
  bool seen[16]; /* head lines, by index in parse.c's table */
  uint32_t version, word, registers, semaphores, semaphore_bits, partitions;
  uint32_t sbuf, psum, owned_first, owned_last;
  int nengines;
  const char *engines[NSR_MAX_ENGINES];
  enum nsr_order pipe_order[NSR_MAX_ENGINES], queue_order;
  struct range opcode;
  struct place opcode_at, owned_at;
  struct {
    struct enumeration **v;
    int n;
  } enumerations;
  struct {
    struct shape **v;
    int n;
  } shapes;
  struct {
    struct insn **v;
    int n;
  } formats, insns;
};

struct isas {
  struct isa **v;
  int n;
};

struct machine {
  const char *name, *path, *text;
};
struct machines {
  struct machine *v;
  int n;
};

/* parse.c, block.c: text to model; complaints are counted in t. */
struct words {
  struct place at;
  char *v[MAX_NAMES + 8];
  int n;
};
struct isa *parse_isa(struct tool *t, const char *path);
bool parse_number(struct tool *t, struct place at, const char *word,
                  uint64_t max, uint64_t *value);
bool parse_range(struct tool *t, struct place at, const char *word,
                 struct range *range);
bool check_name(struct tool *t, struct place at, const char *word);
void parse_shape_line(struct tool *t, struct isa *isa, struct shape *shape,
                      const struct words *w);
void parse_insn_line(struct tool *t, struct isa *isa, struct insn *insn,
                     const struct words *w);

/* review.c: what a line alone cannot show. spans.c: every bit once.
 * meaning.c: each instruction has what its class and meaning need. */
void check_isa(struct tool *t, struct isa *isa);
void check_spans(struct tool *t, const struct isa *isa, struct insn *insn);
void check_shape_spans(struct tool *t, struct shape *shape);
void check_insn_meaning(struct tool *t, const struct insn *insn);

/* emit.c */
void emit_all(FILE *out, const struct isas *isas,
              const struct machines *machines);

#endif
