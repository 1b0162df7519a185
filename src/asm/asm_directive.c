/* asm_directive.c - everything that starts with a dot, but for tensors,
 * macros and repeats, which have files of their own.
 */
#include <string.h>

#include "asm/asm.h"
#include "asm/asm_quote.h"
#include "asm/asm_shape.h"

enum { TYPE_NOBITS = 8 }; /* of a section without bytes in the file */

static bool is(const char *s, size_t n, const char *word) {
  return strlen(word) == n && memcmp(s, word, n) == 0;
}

static enum nsr_status keep(struct nsr_asm *a, const char *s, size_t n,
                            const char **out) {
  *out = nsr_strndup(a->ctx, NSR_KEEP, s, n);
  return *out ? NSR_OK : NSR_E_NOMEM;
}

/* A name that the kernel keeps. */
static enum nsr_status kept_name(struct nsr_asm *a, const char *what,
                                 const char **out) {
  const char *s;
  size_t n;
  NSR_TRY(nsr_asm_name(a, what, &s, &n, NULL));
  return keep(a, s, n, out);
}

/* ---- what the kernel is */

static enum nsr_status isa_known(struct nsr_asm *a, const char *at,
                                 const char *s, size_t n) {
  char names[256] = "";
  for (int i = 0; nsr_isas[i]; i++) {
    if (is(s, n, nsr_isas[i]->name)) {
      a->isa = a->kernel.isa = nsr_isas[i];
      return NSR_OK;
    }
    if (strlen(names) + strlen(nsr_isas[i]->name) + 2 < sizeof names)
      strcat(strcat(names, " "), nsr_isas[i]->name);
  }
  return nsr_asm_error(a, at, "unknown instruction set '%.*s'; known:%s",
                       (int)n, s, names);
}

static enum nsr_status isa(struct nsr_asm *a) {
  const char *s;
  size_t n;
  nsr_asm_blank(a);
  const char *at = a->p;
  if (a->isa)
    return nsr_asm_error(a, at, ".isa is given twice");
  NSR_TRY(nsr_asm_name(a, "the name of an instruction set", &s, &n, NULL));
  NSR_TRY(isa_known(a, at, s, n));
  for (int e = 0; e < a->isa->nengines; e++)
    a->kernel.pipe_order[e] = a->isa->pipe_order[e];
  a->kernel.owned_first = a->isa->owned_first;
  a->kernel.owned_last = a->isa->owned_last;
  return NSR_OK;
}

static enum nsr_status kernel(struct nsr_asm *a) {
  if (a->named)
    return nsr_asm_error(a, a->p, ".kernel is given twice");
  a->named = true;
  a->kernel.name = "";
  if (nsr_asm_accept(a, "\"\"")) /* the one name that may be empty */
    return NSR_OK;
  return kept_name(a, "the kernel's name", &a->kernel.name);
}

static enum nsr_status owned(struct nsr_asm *a) {
  int64_t first, last, top = a->isa->semaphores - 1;
  NSR_TRY(nsr_asm_int(a, "the first owned semaphore", 0, top, &first));
  NSR_TRY(nsr_asm_expect(a, ","));
  NSR_TRY(nsr_asm_int(a, "the last owned semaphore", 0, top, &last));
  a->kernel.owned_first = (uint16_t)first;
  a->kernel.owned_last = (uint16_t)last;
  return NSR_OK;
}

static enum nsr_status engine_name(struct nsr_asm *a, int *engine) {
  const char *s = NULL;
  size_t n = 0;
  char name[32] = "";
  nsr_asm_blank(a);
  const char *at = a->p;
  if (nsr_asm_word(a, &s, &n) && n < sizeof name)
    memcpy(name, s, n);
  *engine = nsr_isa_engine(a->isa, name);
  if (*engine >= 0)
    return NSR_OK;
  a->p = at;
  return nsr_asm_expected(a, "an engine's name");
}

static enum nsr_status order_name(struct nsr_asm *a, enum nsr_order *order) {
  const char *s = NULL;
  size_t n = 0;
  nsr_asm_blank(a);
  const char *at = a->p;
  int v = nsr_asm_word(a, &s, &n) ? nsr_order_parse(s, n) : -1;
  if (v < 0) {
    a->p = at;
    return nsr_asm_expected(a, "hidden, none or full");
  }
  *order = (enum nsr_order)v;
  return NSR_OK;
}

static enum nsr_status order(struct nsr_asm *a) {
  int engine;
  NSR_TRY(engine_name(a, &engine));
  return order_name(a, &a->kernel.pipe_order[engine]);
}

static enum nsr_status queue(struct nsr_asm *a) {
  struct nsr_queue q = {.order = a->isa->queue_order};
  const char *s;
  size_t n;
  int engine;
  nsr_asm_blank(a);
  const char *at = a->p;
  NSR_TRY(nsr_asm_name(a, "the queue's name", &s, &n, NULL));
  if (nsr_queue_by_name(a->queues.v, (uint32_t)a->queues.n, s, n) != NSR_NONE)
    return nsr_asm_error(a, at, "queue '%.*s' is already defined", (int)n, s);
  if (a->queues.n == NSR_MAX_QUEUES)
    return nsr_asm_error(a, at, "expected at most %d queues", NSR_MAX_QUEUES);
  NSR_TRY(keep(a, s, n, &q.name));
  NSR_TRY(engine_name(a, &engine));
  q.engine = (uint8_t)engine;
  if (!nsr_asm_at_end(a))
    NSR_TRY(order_name(a, &q.order));
  NSR_PUSH(a->ctx, NSR_SCRATCH, &a->queues, q);
  return NSR_OK;
}

static enum nsr_status constant(struct nsr_asm *a) {
  struct nsr_asm_value v;
  const char *s, *name;
  size_t n;
  int32_t reg;
  nsr_asm_blank(a);
  const char *at = a->p;
  if (nsr_asm_register(a, &reg))
    return nsr_asm_error(a, at, "a constant cannot be called like a register");
  if (!nsr_asm_word(a, &s, &n))
    return nsr_asm_expected(a, "the constant's name");
  if (nsr_map_get(&a->const_map, s, n) != NSR_NONE)
    return nsr_asm_error(a, at, "constant '%.*s' is already defined", (int)n,
                         s);
  NSR_TRY(nsr_asm_expr(a, &v));
  name = nsr_strndup(a->ctx, NSR_SCRATCH, s, n);
  if (!name)
    return NSR_E_NOMEM;
  NSR_TRY(nsr_map_put(a->ctx, &a->const_map, name, n, (uint32_t)a->consts.n));
  NSR_PUSH(a->ctx, NSR_SCRATCH, &a->consts, v);
  return NSR_OK;
}

/* ---- streams */

static enum nsr_status engine(struct nsr_asm *a) {
  int e;
  NSR_TRY(engine_name(a, &e));
  a->engine = e;
  a->in_section = false;
  a->streams[e].present = true;
  return NSR_OK;
}

struct nsr_asm_stream *nsr_asm_current(struct nsr_asm *a, const char *at) {
  if (a->engine >= 0 && !a->in_section)
    return &a->streams[a->engine];
  nsr_asm_error(a, at, "expected .engine before this");
  return NULL;
}

enum nsr_status nsr_asm_label(struct nsr_asm *a, const char *at, const char *s,
                              size_t n) {
  struct nsr_asm_stream *stream = nsr_asm_current(a, at);
  const char *name;
  if (!stream)
    return NSR_E_SYNTAX;
  if (nsr_map_get(&stream->label_map, s, n) != NSR_NONE)
    return nsr_asm_error(a, at, "label '%.*s' is already defined", (int)n, s);
  NSR_TRY(keep(a, s, n, &name));
  NSR_TRY(nsr_map_put(a->ctx, &stream->label_map, name, n, stream->n));
  NSR_PUSH(a->ctx, NSR_SCRATCH, &stream->labels,
           ((struct nsr_label){name, stream->n}));
  return NSR_OK;
}

/* ---- source lines */

static enum nsr_status new_file(struct nsr_asm *a, const char *s, size_t n,
                                uint32_t *file) {
  const char *name;
  NSR_TRY(keep(a, s, n, &name));
  *file = (uint32_t)a->files.n;
  if (nsr_map_get(&a->file_map, name, n) == NSR_NONE)
    NSR_TRY(nsr_map_put(a->ctx, &a->file_map, name, n, *file));
  NSR_PUSH(a->ctx, NSR_SCRATCH, &a->files, name);
  return NSR_OK;
}

enum nsr_status nsr_asm_file(struct nsr_asm *a, const char *name, size_t n,
                             uint32_t *file) {
  *file = nsr_map_get(&a->file_map, name, n);
  return *file == NSR_NONE ? new_file(a, name, n, file) : NSR_OK;
}

static enum nsr_status file(struct nsr_asm *a) {
  const char *s;
  size_t n;
  int64_t v;
  a->explicit_lines = true;
  if (nsr_asm_at(a, '"') || nsr_asm_word(a, &s, &n)) {
    if (nsr_asm_at(a, '"'))
      NSR_TRY(nsr_asm_name(a, "a file's name", &s, &n, NULL));
    return nsr_asm_file(a, s, n, &a->file);
  }
  if (nsr_asm_at_end(a) || *a->p < '0' || *a->p > '9')
    return nsr_asm_expected(a, "a file's name, or its number in .files");
  if (!a->files.n)
    return nsr_asm_error(a, a->p, "expected .files before a file's number");
  NSR_TRY(nsr_asm_int(a, "the file's number", 0, (int64_t)a->files.n - 1, &v));
  a->file = (uint32_t)v;
  return NSR_OK;
}

static enum nsr_status files(struct nsr_asm *a) {
  const char *s;
  size_t n;
  uint32_t made;
  a->explicit_lines = true;
  if (nsr_asm_at_end(a))
    return NSR_OK;
  do {
    NSR_TRY(nsr_asm_name(a, "a file's name", &s, &n, NULL));
    NSR_TRY(new_file(a, s, n, &made));
  } while (nsr_asm_accept(a, ","));
  return NSR_OK;
}

static enum nsr_status lines(struct nsr_asm *a) {
  struct nsr_asm_stream *stream = nsr_asm_current(a, a->line);
  if (!stream)
    return NSR_E_SYNTAX;
  stream->has_lines = true;
  return NSR_OK;
}

/* ---- raw sections */

static enum nsr_status attribute(struct nsr_asm *a,
                                 struct nsr_asm_section *section,
                                 uint64_t *size, bool *sized) {
  struct nsr_section *head = &section->head;
  const char *s = NULL;
  size_t n = 0;
  struct nsr_asm_value v;
  uint64_t u, *to = NULL, max = UINT64_MAX;
  uint64_t type = head->type, info = head->info;
  nsr_asm_blank(a);
  const char *at = a->p;
  if (nsr_asm_word(a, &s, &n))
    to = is(s, n, "type")      ? &type
         : is(s, n, "flags")   ? &head->flags
         : is(s, n, "align")   ? &head->align
         : is(s, n, "entsize") ? &head->entsize
         : is(s, n, "info")    ? &info
         : is(s, n, "size")    ? size
                               : NULL;
  if (!to) {
    a->p = at;
    return nsr_asm_expected(a, "type=, flags=, align=, entsize=, info= or "
                               "size=");
  }
  max = to == &type || to == &info ? UINT32_MAX : max;
  NSR_TRY(nsr_asm_expect(a, "="));
  nsr_asm_blank(a);
  at = a->p;
  NSR_TRY(nsr_asm_number(a, &v, &u));
  if (v.is_float || u > max)
    return nsr_asm_error(a, at, "expected a whole number up to %llu",
                         (unsigned long long)max);
  *to = u;
  *sized |= to == size;
  head->type = (uint32_t)type;
  head->info = (uint32_t)info;
  return NSR_OK;
}

static enum nsr_status section(struct nsr_asm *a) {
  struct nsr_asm_section section = {.head = {.type = 1, .align = 1}};
  uint64_t size = 0;
  bool sized = false;
  NSR_TRY(kept_name(a, "the section's name", &section.head.name));
  while (!nsr_asm_at_end(a))
    NSR_TRY(attribute(a, &section, &size, &sized));
  section.nobits = section.head.type == TYPE_NOBITS;
  if (sized && !section.nobits)
    return nsr_asm_error(a, a->line,
                         "size= is for sections without bytes (type=%d)",
                         TYPE_NOBITS);
  section.head.size = size;
  NSR_PUSH(a->ctx, NSR_SCRATCH, &a->sections, section);
  a->in_section = true;
  return NSR_OK;
}

/* Room for n bytes in the section being filled. */
static enum nsr_status section_room(struct nsr_asm *a, const char *at, size_t n,
                                    struct nsr_asm_section **out) {
  if (!a->in_section)
    return nsr_asm_error(a, at, "expected .section before this");
  struct nsr_asm_section *s = &a->sections.v[a->sections.n - 1];
  if (s->nobits)
    return nsr_asm_error(a, at, "a section of type %d has no bytes",
                         TYPE_NOBITS);
  NSR_RESERVE(a->ctx, NSR_SCRATCH, &s->data, n);
  *out = s;
  return NSR_OK;
}

static enum nsr_status bytes(struct nsr_asm *a) {
  struct nsr_asm_section *to;
  const char *s;
  size_t n, size;
  nsr_asm_blank(a);
  const char *at = a->p;
  NSR_TRY(nsr_asm_string(a, &s, &n));
  NSR_TRY(section_room(a, at, n / 4 * 3, &to));
  if (!nsr_base64_decode(s, n, to->data.v + to->data.n, &size))
    return nsr_asm_error(a, at, "expected base64");
  to->data.n += size;
  return NSR_OK;
}

static enum nsr_status hex(struct nsr_asm *a) {
  struct nsr_asm_section *to;
  const char *s;
  size_t n;
  nsr_asm_blank(a);
  const char *at = a->p;
  NSR_TRY(nsr_asm_string(a, &s, &n));
  NSR_TRY(section_room(a, at, n / 2, &to));
  for (size_t i = 0; i < n; i++) {
    if (s[i] == ' ')
      continue;
    int hi = nsr_hex_digit(s[i]), lo = i + 1 < n ? nsr_hex_digit(s[i + 1]) : -1;
    if (hi < 0 || lo < 0)
      return nsr_asm_error(a, at, "expected pairs of hexadecimal digits");
    to->data.v[to->data.n++] = (uint8_t)(hi * 16 + lo);
    i++;
  }
  return NSR_OK;
}

static enum nsr_status end(struct nsr_asm *a) {
  return nsr_asm_error(a, a->line, ".end closes no .repeat or .macro");
}

/* ---- all of them */

static const struct {
  const char *name;
  enum nsr_status (*read)(struct nsr_asm *a);
  bool needs_isa;
} directives[] = {
    {".isa", isa, false},
    {".kernel", kernel, false},
    {".owned", owned, true},
    {".order", order, true},
    {".queue", queue, true},
    {".const", constant, false},
    {".tensor", nsr_asm_tensor, true},
    {".engine", engine, true},
    {".word", nsr_asm_word_directive, true},
    {".files", files, false},
    {".file", file, false},
    {".lines", lines, true},
    {".section", section, false},
    {".bytes", bytes, false},
    {".hex", hex, false},
    {".repeat", nsr_asm_repeat, false},
    {".macro", nsr_asm_macro, false},
    {".end", end, false},
};

enum nsr_status nsr_asm_directive(struct nsr_asm *a, const char *s, size_t n) {
  for (size_t i = 0; i < sizeof directives / sizeof *directives; i++) {
    if (!is(s, n, directives[i].name))
      continue;
    if (directives[i].needs_isa && !a->isa)
      return nsr_asm_error(a, s, "expected .isa before %s", directives[i].name);
    NSR_TRY(directives[i].read(a));
    /* the lines of a block are the next ones: its head is already done */
    bool block = directives[i].read == nsr_asm_repeat ||
                 directives[i].read == nsr_asm_macro;
    return block ? NSR_OK : nsr_asm_finish_line(a);
  }
  return nsr_asm_error(a, s, "unknown directive '%.*s'", (int)n, s);
}
