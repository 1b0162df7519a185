/* parse.c - lines to words, the head of a description, the start of blocks.
 *
 * A description is a head (word size, engines, ...) followed by blocks: enum,
 * shape, format, insn. A block goes on until the next begins. Errors do not
 * stop the parse: the next line is read.
 */
#include "isagen.h"

#include <stdlib.h>
#include <string.h>

struct parser {
  struct tool *tool;
  struct isa *isa;
  struct shape *shape; /* the open block: one of these, or neither */
  struct insn *insn;
  bool blocks; /* a block was seen: the head is over */
};

bool parse_number(struct tool *t, struct place at, const char *word,
                  uint64_t max, uint64_t *value) {
  char *end = NULL;
  if (word[0] >= '0' && word[0] <= '9' && strlen(word) < 18)
    *value = strtoull(word, &end, 0);
  if (!end || *end) {
    complain(t, at, "`%s` is not a number", word);
    return false;
  }
  if (*value > max)
    complain(t, at, "%s is more than %llu", word, (unsigned long long)max);
  return *value <= max;
}

/* "LO..HI", or "BIT". */
bool parse_range(struct tool *t, struct place at, const char *word,
                 struct range *range) {
  uint64_t lo, hi;
  const char *dots = strstr(word, "..");
  const char *low = dots ? copy_text(t, word, (size_t)(dots - word)) : word;
  const char *high = dots ? dots + 2 : word;
  if (!parse_number(t, at, low, MAX_BITS - 1, &lo) ||
      !parse_number(t, at, high, MAX_BITS - 1, &hi))
    return false;
  if (hi < lo) {
    complain(t, at, "`%s` ends before it begins", word);
    return false;
  }
  *range = (struct range){(int)lo, (int)(hi - lo + 1)};
  return true;
}

static bool is_name(const char *word) {
  if (word[0] < 'a' || word[0] > 'z')
    return false;
  return word[strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789_")] == '\0';
}

bool check_name(struct tool *t, struct place at, const char *word) {
  if (is_name(word))
    return true;
  complain(t, at, "`%s` is not a name: a-z, then a-z, 0-9, _", word);
  return false;
}

/* A line of the head: a keyword and its words. */
struct head {
  const char *word;
  int min, max; /* words behind the keyword */
  bool repeats;
  void (*read)(struct parser *p, const struct words *w);
};

static uint32_t number(struct parser *p, const struct words *w, int i,
                       uint64_t min, uint64_t max) {
  uint64_t value = 0;
  if (!parse_number(p->tool, w->at, w->v[i], max, &value))
    return 0;
  if (value < min)
    complain(p->tool, w->at, "%s is less than %llu", w->v[i],
             (unsigned long long)min);
  return (uint32_t)value;
}

static void expect(struct parser *p, const struct words *w, int i,
                   const char *word) {
  if (strcmp(w->v[i], word) != 0)
    complain(p->tool, w->at, "expected `%s`, not `%s`", word, w->v[i]);
}

static enum nsr_order order(struct parser *p, const struct words *w, int i) {
  int o = nsr_order_parse(w->v[i], strlen(w->v[i]));
  if (o < 0)
    complain(p->tool, w->at, "unknown order `%s`: hidden, none or full",
             w->v[i]);
  return o < 0 ? NSR_ORDER_NONE : (enum nsr_order)o;
}

static void read_isa(struct parser *p, const struct words *w) {
  p->isa->at = w->at;
  if (check_name(p->tool, w->at, w->v[1]))
    p->isa->name = w->v[1];
  expect(p, w, 2, "version");
  p->isa->version = number(p, w, 3, 1, UINT32_MAX);
}

static void read_word(struct parser *p, const struct words *w) {
  p->isa->word = number(p, w, 1, 4, NSR_MAX_WORD);
  if (p->isa->word % 4)
    complain(p->tool, w->at, "a word is a multiple of 4 bytes");
}

static void read_registers(struct parser *p, const struct words *w) {
  p->isa->registers = number(p, w, 1, 1, INT16_MAX);
}

static void read_semaphores(struct parser *p, const struct words *w) {
  p->isa->semaphores = number(p, w, 1, 1, UINT16_MAX);
  expect(p, w, 2, "bits");
  p->isa->semaphore_bits = number(p, w, 3, 2, 32);
}

static void read_partitions(struct parser *p, const struct words *w) {
  p->isa->partitions = number(p, w, 1, 1, UINT16_MAX);
}

static void read_sbuf(struct parser *p, const struct words *w) {
  p->isa->sbuf = number(p, w, 1, 0, UINT32_MAX);
}

static void read_psum(struct parser *p, const struct words *w) {
  p->isa->psum = number(p, w, 1, 0, UINT32_MAX);
}

static void read_engines(struct parser *p, const struct words *w) {
  for (int i = 1; i < w->n; i++) {
    check_name(p->tool, w->at, w->v[i]);
    for (int k = 1; k < i; k++)
      if (strcmp(w->v[k], w->v[i]) == 0)
        complain(p->tool, w->at, "engine `%s` is named twice", w->v[i]);
    p->isa->engines[p->isa->nengines++] = w->v[i];
  }
}

static void read_pipelines(struct parser *p, const struct words *w) {
  for (int i = 0; i < NSR_MAX_ENGINES; i++)
    p->isa->pipe_order[i] = order(p, w, 1);
}

static void read_pipeline(struct parser *p, const struct words *w) {
  for (int i = 0; i < p->isa->nengines; i++)
    if (strcmp(p->isa->engines[i], w->v[1]) == 0) {
      p->isa->pipe_order[i] = order(p, w, 2);
      return;
    }
  complain(p->tool, w->at, "unknown engine `%s`", w->v[1]);
}

static void read_queues(struct parser *p, const struct words *w) {
  p->isa->queue_order = order(p, w, 1);
}

static void read_owned(struct parser *p, const struct words *w) {
  p->isa->owned_at = w->at;
  p->isa->owned_first = number(p, w, 1, 0, UINT16_MAX);
  p->isa->owned_last = number(p, w, 2, 0, UINT16_MAX);
}

static void read_opcode(struct parser *p, const struct words *w) {
  p->isa->opcode_at = w->at;
  if (parse_range(p->tool, w->at, w->v[1], &p->isa->opcode) &&
      p->isa->opcode.width > 16)
    complain(p->tool, w->at, "an opcode has at most 16 bits");
}

/* Every line of the head, `pipeline` apart, has to be there once. */
static const struct head heads[] = {
    {"isa", 3, 3, false, read_isa},
    {"word", 1, 1, false, read_word},
    {"registers", 1, 1, false, read_registers},
    {"semaphores", 3, 3, false, read_semaphores},
    {"partitions", 1, 1, false, read_partitions},
    {"sbuf", 1, 1, false, read_sbuf},
    {"psum", 1, 1, false, read_psum},
    {"engines", 1, NSR_MAX_ENGINES, false, read_engines},
    {"pipelines", 1, 1, false, read_pipelines},
    {"pipeline", 2, 2, true, read_pipeline},
    {"queues", 1, 1, false, read_queues},
    {"owned", 2, 2, false, read_owned},
    {"opcode", 1, 1, false, read_opcode},
};
enum { NHEADS = sizeof heads / sizeof *heads };
_Static_assert(NHEADS <= 16, "struct isa.seen");

static void head_line(struct parser *p, const struct words *w) {
  int i = 0;
  while (i < NHEADS && strcmp(heads[i].word, w->v[0]) != 0)
    i++;
  if (i == NHEADS) {
    complain(p->tool, w->at, "unknown word `%s`", w->v[0]);
  } else if (p->isa->seen[i] && !heads[i].repeats) {
    complain(p->tool, w->at, "a second `%s`", w->v[0]);
  } else if (w->n - 1 < heads[i].min || w->n - 1 > heads[i].max) {
    complain(p->tool, w->at, "`%s` does not take %d words", w->v[0], w->n - 1);
  } else {
    heads[i].read(p, w);
  }
  if (i < NHEADS)
    p->isa->seen[i] = true;
}

static void check_head(struct parser *p, struct place end) {
  for (int i = 0; i < NHEADS; i++)
    if (!p->isa->seen[i] && !heads[i].repeats)
      complain(p->tool, end, "the head has no `%s`", heads[i].word);
}

static void begin_enum(struct parser *p, const struct words *w) {
  struct enumeration *e = take(p->tool, sizeof *e);
  if (w->n < 4 || strcmp(w->v[2], "=") != 0) {
    complain(p->tool, w->at, "expected `enum NAME = NAME ..`");
    return;
  }
  *e = (struct enumeration){
      .name = w->v[1], .number = p->isa->enumerations.n, .at = w->at};
  check_name(p->tool, w->at, e->name);
  for (int i = 3; i < w->n; i++) {
    check_name(p->tool, w->at, w->v[i]);
    for (int k = 3; k < i; k++)
      if (strcmp(w->v[k], w->v[i]) == 0)
        complain(p->tool, w->at, "`%s` is named twice", w->v[i]);
    e->names[e->nnames++] = w->v[i];
  }
  for (int i = 0; i < p->isa->enumerations.n; i++)
    if (strcmp(p->isa->enumerations.v[i]->name, e->name) == 0)
      complain(p->tool, w->at, "a second enum `%s`", e->name);
  APPEND(p->tool, &p->isa->enumerations, e);
}

static void begin_shape(struct parser *p, const struct words *w) {
  p->shape = take(p->tool, sizeof *p->shape);
  p->shape->at = w->at;
  p->shape->number = p->isa->shapes.n;
  p->shape->name = w->n > 1 ? w->v[1] : "";
  if (w->n != 2)
    complain(p->tool, w->at, "expected `shape NAME`");
  else
    check_name(p->tool, w->at, w->v[1]);
  for (int i = 0; i < p->isa->shapes.n; i++)
    if (strcmp(p->isa->shapes.v[i]->name, p->shape->name) == 0)
      complain(p->tool, w->at, "a second shape `%s`", p->shape->name);
  APPEND(p->tool, &p->isa->shapes, p->shape);
}

static void begin_format(struct parser *p, const struct words *w) {
  p->insn = take(p->tool, sizeof *p->insn);
  p->insn->at = w->at;
  p->insn->mnemonic = w->n > 1 ? w->v[1] : "";
  if (w->n != 2)
    complain(p->tool, w->at, "expected `format NAME`");
  else
    check_name(p->tool, w->at, w->v[1]);
  for (int i = 0; i < p->isa->formats.n; i++)
    if (strcmp(p->isa->formats.v[i]->mnemonic, p->insn->mnemonic) == 0)
      complain(p->tool, w->at, "a second format `%s`", p->insn->mnemonic);
  APPEND(p->tool, &p->isa->formats, p->insn);
}

static void begin_insn(struct parser *p, const struct words *w) {
  uint64_t opcode = 0;
  p->insn = take(p->tool, sizeof *p->insn);
  p->insn->at = w->at;
  p->insn->mnemonic = w->n > 1 ? w->v[1] : "";
  if (w->n != 3)
    complain(p->tool, w->at, "expected `insn MNEMONIC OPCODE`");
  else if (check_name(p->tool, w->at, w->v[1]))
    parse_number(p->tool, w->at, w->v[2], UINT16_MAX, &opcode);
  p->insn->opcode = (uint32_t)opcode;
  APPEND(p->tool, &p->isa->insns, p->insn);
}

static const struct {
  const char *word;
  void (*begin)(struct parser *p, const struct words *w);
} blocks[] = {
    {"enum", begin_enum},
    {"shape", begin_shape},
    {"format", begin_format},
    {"insn", begin_insn},
};

static void parse_line(struct parser *p, const struct words *w) {
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
    if (strcmp(w->v[0], blocks[i].word) == 0) {
      if (!p->blocks)
        check_head(p, w->at);
      p->blocks = true;
      p->shape = NULL;
      p->insn = NULL;
      blocks[i].begin(p, w);
      return;
    }
  if (p->insn)
    parse_insn_line(p->tool, p->isa, p->insn, w);
  else if (p->shape)
    parse_shape_line(p->tool, p->isa, p->shape, w);
  else if (p->blocks)
    complain(p->tool, w->at, "`%s` belongs to no shape, format or insn",
             w->v[0]);
  else
    head_line(p, w);
}

/* Splits in place; a # starts a comment. */
static void split(struct tool *t, char *line, struct words *w) {
  line[strcspn(line, "#")] = '\0';
  w->n = 0;
  for (char *rest = NULL, *word = strtok_r(line, " \t\r", &rest); word;
       word = strtok_r(NULL, " \t\r", &rest)) {
    if (w->n == MAX_NAMES + 3) {
      complain(t, w->at, "too many words on a line");
      return;
    }
    w->v[w->n++] = word;
  }
}

struct isa *parse_isa(struct tool *t, const char *path) {
  size_t size;
  char *text = read_text(t, path, &size);
  if (!text)
    return NULL;
  struct parser p = {.tool = t, .isa = take(t, sizeof *p.isa)};
  struct words w = {.at = {path, 0}};
  p.isa->path = path;
  p.isa->name = "?";
  for (char *line = text, *next; line; line = next) {
    next = strchr(line, '\n');
    if (next)
      *next++ = '\0';
    w.at.line++;
    split(t, line, &w);
    if (w.n)
      parse_line(&p, &w);
  }
  p.isa->at.path = path;
  if (!p.blocks)
    check_head(&p, w.at);
  if (p.isa->insns.n == 0)
    complain(t, w.at, "no instructions");
  return p.isa;
}
