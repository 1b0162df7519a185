/* asm_directive.c - everything that starts with a dot, but for tensors,
 * macros and repeats, which have files of their own.
 */
#include <string.h>

#include "asm/asm.h"
#include "asm/asm_quote.h"
#include "asm/asm_shape.h"

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
      a->isa = nsr_isas[i];
      nsr_build_isa(&a->b, a->isa);
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
  return isa_known(a, at, s, n);
}

static enum nsr_status kernel(struct nsr_asm *a) {
  if (a->named)
    return nsr_asm_error(a, a->p, ".kernel is given twice");
  a->named = true;
  a->b.kernel.name = "";
  if (nsr_asm_accept(a, "\"\"")) /* the one name that may be empty */
    return NSR_OK;
  return kept_name(a, "the kernel's name", &a->b.kernel.name);
}

static enum nsr_status owned(struct nsr_asm *a) {
  int64_t first, last, top = a->isa->semaphores - 1;
  NSR_TRY(nsr_asm_int(a, "the first owned semaphore", 0, top, &first));
  NSR_TRY(nsr_asm_expect(a, ","));
  NSR_TRY(nsr_asm_int(a, "the last owned semaphore", 0, top, &last));
  a->b.kernel.owned_first = (uint16_t)first;
  a->b.kernel.owned_last = (uint16_t)last;
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
  return order_name(a, &a->b.kernel.pipe_order[engine]);
}

static enum nsr_status queue(struct nsr_asm *a) {
  struct nsr_queue q = {.order = a->isa->queue_order};
  const char *s;
  size_t n;
  int engine;
  nsr_asm_blank(a);
  const char *at = a->p;
  NSR_TRY(nsr_asm_name(a, "the queue's name", &s, &n, NULL));
  if (nsr_queue_by_name(a->b.queues.v, (uint32_t)a->b.queues.n, s, n) !=
      NSR_NONE)
    return nsr_asm_error(a, at, "queue '%.*s' is already defined", (int)n, s);
  if (a->b.queues.n == NSR_MAX_QUEUES)
    return nsr_asm_error(a, at, "expected at most %d queues", NSR_MAX_QUEUES);
  NSR_TRY(keep(a, s, n, &q.name));
  NSR_TRY(engine_name(a, &engine));
  q.engine = (uint8_t)engine;
  if (!nsr_asm_at_end(a))
    NSR_TRY(order_name(a, &q.order));
  NSR_PUSH(a->ctx, NSR_SCRATCH, &a->b.queues, q);
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
  a->b.streams[e].present = true;
  return NSR_OK;
}

enum nsr_status nsr_asm_need_engine(struct nsr_asm *a, const char *at) {
  return a->engine >= 0 && !a->in_section
             ? NSR_OK
             : nsr_asm_error(a, at, "expected .engine before this");
}

enum nsr_status nsr_asm_label(struct nsr_asm *a, const char *at, const char *s,
                              size_t n) {
  NSR_TRY(nsr_asm_need_engine(a, at));
  struct nsr_map *map = &a->b.streams[a->engine].label_map;
  if (nsr_map_get(map, s, n) != NSR_NONE)
    return nsr_asm_error(a, at, "label '%.*s' is already defined", (int)n, s);
  return nsr_build_label(&a->b, a->engine, s, n);
}

/* ---- source lines */

static enum nsr_status file(struct nsr_asm *a) {
  const char *s;
  size_t n;
  int64_t v;
  a->explicit_lines = true;
  if (nsr_asm_at(a, '"') || nsr_asm_word(a, &s, &n)) {
    if (nsr_asm_at(a, '"'))
      NSR_TRY(nsr_asm_name(a, "a file's name", &s, &n, NULL));
    return nsr_build_file(&a->b, s, n, &a->file);
  }
  if (nsr_asm_at_end(a) || *a->p < '0' || *a->p > '9')
    return nsr_asm_expected(a, "a file's name, or its number in .files");
  if (!a->b.files.n)
    return nsr_asm_error(a, a->p, "expected .files before a file's number");
  NSR_TRY(
      nsr_asm_int(a, "the file's number", 0, (int64_t)a->b.files.n - 1, &v));
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
    NSR_TRY(nsr_build_new_file(&a->b, s, n, &made));
  } while (nsr_asm_accept(a, ","));
  return NSR_OK;
}

static enum nsr_status lines(struct nsr_asm *a) {
  NSR_TRY(nsr_asm_need_engine(a, a->line));
  a->b.streams[a->engine].has_lines = true;
  return NSR_OK;
}

/* ---- raw sections */

static enum nsr_status attribute(struct nsr_asm *a,
                                 struct nsr_build_section *section,
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
  struct nsr_build_section section = {.head = {.type = 1, .align = 1}};
  uint64_t size = 0;
  bool sized = false;
  NSR_TRY(kept_name(a, "the section's name", &section.head.name));
  while (!nsr_asm_at_end(a))
    NSR_TRY(attribute(a, &section, &size, &sized));
  if (sized && section.head.type != NSR_BUILD_NOBITS)
    return nsr_asm_error(a, a->line,
                         "size= is for sections without bytes (type=%d)",
                         NSR_BUILD_NOBITS);
  section.head.size = size;
  NSR_PUSH(a->ctx, NSR_SCRATCH, &a->b.sections, section);
  a->in_section = true;
  return NSR_OK;
}

/* Room for n bytes in the section being filled. */
static enum nsr_status section_room(struct nsr_asm *a, const char *at, size_t n,
                                    struct nsr_build_section **out) {
  if (!a->in_section)
    return nsr_asm_error(a, at, "expected .section before this");
  struct nsr_build_section *s = &a->b.sections.v[a->b.sections.n - 1];
  if (s->head.type == NSR_BUILD_NOBITS)
    return nsr_asm_error(a, at, "a section of type %d has no bytes",
                         NSR_BUILD_NOBITS);
  NSR_RESERVE(a->ctx, NSR_SCRATCH, &s->data, n);
  *out = s;
  return NSR_OK;
}

static enum nsr_status bytes(struct nsr_asm *a) {
  struct nsr_build_section *to = NULL;
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
  struct nsr_build_section *to = NULL;
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
