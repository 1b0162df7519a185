/* json_in.c - JSON lines to kernel. The first line says what the kernel is;
 * every other one is an instruction, a label at a stream's end, or a carried
 * section. A line that is wrong is reported and the next one read.
 */
#include <string.h>

#include <nsr/text.h>

#include "asm/json_in.h"
#include "base/work.h"

/* ---- lines */

enum nsr_status nsr_json_label(struct nsr_json_in *in, int engine,
                               const char *key, const json_t *value) {
  const char *name;
  size_t n;
  NSR_TRY(nsr_json_name(in, key, value, &name));
  n = strlen(name);
  if (nsr_map_get(&in->b.streams[engine].label_map, name, n) != NSR_NONE)
    return nsr_json_fail(in, "%s%s: label '%s' is already defined", in->where,
                         key, name);
  return nsr_build_label(&in->b, engine, name, n);
}

enum nsr_status nsr_json_stream(struct nsr_json_in *in, const json_t *j,
                                int *engine) {
  const json_t *v = json_object_get(j, "engine");
  NSR_TRY(nsr_json_engine(in, "engine", v, engine));
  if (in->listed && !in->b.streams[*engine].present)
    return nsr_json_expected(in, "engine", "one of the first line's engines",
                             v);
  in->b.streams[*engine].present = true;
  return NSR_OK;
}

static enum nsr_status label(struct nsr_json_in *in, const json_t *j) {
  int engine;
  int64_t index;
  NSR_TRY(nsr_json_stream(in, j, &engine));
  uint32_t end = in->index[engine];
  NSR_TRY(nsr_json_int(in, j, "index", NSR_JSON_REQUIRED, end, end, &index));
  return nsr_json_label(in, engine, "name", json_object_get(j, "name"));
}

static enum nsr_status section(struct nsr_json_in *in, const json_t *j) {
  struct nsr_build_section s = {.head = {.align = 1}};
  const char *name;
  const uint8_t *data = NULL;
  uint64_t n = 0;
  int64_t type, info = 0, flags = 0, align = 1, entsize = 0, size = 0;
  NSR_TRY(nsr_json_name(in, "name", json_object_get(j, "name"), &name));
  NSR_TRY(nsr_json_int(in, j, "type", NSR_JSON_REQUIRED, 0, UINT32_MAX, &type));
  NSR_TRY(nsr_json_int(in, j, "info", NSR_JSON_OPTIONAL, 0, UINT32_MAX, &info));
  const struct {
    const char *key;
    int64_t *value;
  } wide[] = {{"flags", &flags},
              {"align", &align},
              {"entsize", &entsize},
              {"size", &size}};
  for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
    NSR_TRY(nsr_json_int(in, j, wide[i].key, NSR_JSON_OPTIONAL, INT64_MIN,
                         INT64_MAX, wide[i].value));
  NSR_TRY(nsr_json_data(in, j, &data, &n));
  s.head = (struct nsr_section){.type = (uint32_t)type,
                                .flags = (uint64_t)flags,
                                .align = (uint64_t)align,
                                .entsize = (uint64_t)entsize,
                                .info = (uint32_t)info,
                                .size = (uint64_t)size};
  if (data && type == NSR_BUILD_NOBITS)
    return nsr_json_fail(in, "data: a section of type %d has none",
                         NSR_BUILD_NOBITS);
  s.head.name = nsr_strndup(in->ctx, NSR_KEEP, name, strlen(name));
  if (!s.head.name)
    return NSR_E_NOMEM;
  NSR_RESERVE(in->ctx, NSR_SCRATCH, &s.data, n);
  if (n)
    memcpy(s.data.v, data, n);
  s.data.n = n;
  NSR_PUSH(in->ctx, NSR_SCRATCH, &in->b.sections, s);
  return NSR_OK;
}

static enum nsr_status value(struct nsr_json_in *in, const json_t *j) {
  const char *kind = NULL;
  in->where[0] = 0;
  if (!json_is_object(j))
    return nsr_json_fail(in, "expected an object");
  if (!in->isa)
    return nsr_json_head(in, j);
  NSR_TRY(nsr_json_string(in, j, "kind", NSR_JSON_REQUIRED, &kind));
  if (strcmp(kind, "insn") == 0)
    return nsr_json_insn(in, j);
  if (strcmp(kind, "label") == 0)
    return label(in, j);
  if (strcmp(kind, "section") == 0)
    return section(in, j);
  return nsr_json_expected(in, "kind", "insn, label or section",
                           json_object_get(j, "kind"));
}

static enum nsr_status parse_error(struct nsr_json_in *in,
                                   const json_error_t *error) {
  struct nsr_place place = {
      .insn = -1,
      .source_file = in->path,
      .source_line = in->line,
      .column = error->column > 0 ? (uint32_t)error->column : 0};
  enum nsr_status status = json_error_code(error) == json_error_out_of_memory
                               ? NSR_E_NOMEM
                               : NSR_E_SYNTAX;
  in->errors++;
  return nsr_fail(in->ctx, status, place, "JSON: %s", error->text);
}

static bool blank(const char *s, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (!strchr(" \t\r", s[i]) || !s[i])
      return false;
  return true;
}

static enum nsr_status one_line(struct nsr_json_in *in, const char *s,
                                size_t n) {
  json_error_t error;
  if (blank(s, n))
    return NSR_OK;
  json_t *j = json_loadb(s, n, JSON_REJECT_DUPLICATES, &error);
  if (!j)
    return parse_error(in, &error);
  enum nsr_status status = value(in, j);
  json_decref(j);
  return status;
}

static enum nsr_status all_lines(struct nsr_json_in *in, const char *text,
                                 size_t n) {
  const char *end = text + n;
  text += nsr_byte_order_mark(text, n);
  for (const char *s = text, *stop; s < end; s = stop + 1) {
    stop = memchr(s, '\n', (size_t)(end - s));
    stop = stop ? stop : end;
    in->line++;
    nsr_work_count(in->ctx, NSR_WORK_JSON_IN, 1);
    bool first = !in->isa;
    enum nsr_status status = one_line(in, s, (size_t)(stop - s));
    if (status != NSR_OK && (status != NSR_E_SYNTAX || first))
      return status; /* nothing makes sense without the first line */
    if (in->errors >= NSR_JSON_ERRORS)
      return nsr_json_fail(in, "too many errors");
  }
  if (!in->isa)
    return nsr_json_fail(in, "expected a line of kind \"kernel\"");
  return in->errors ? NSR_E_SYNTAX : NSR_OK;
}

enum nsr_status nsr_from_json(struct nsr_ctx *ctx, const char *path,
                              const char *text, size_t n,
                              struct nsr_kernel **k) {
  struct nsr_mark mark = nsr_scratch_mark(ctx);
  struct nsr_json_in *in = nsr_alloc(ctx, NSR_SCRATCH, sizeof *in);
  if (!in)
    return NSR_E_NOMEM;
  in->ctx = in->b.ctx = ctx;
  in->path = path;
  enum nsr_status status = all_lines(in, text, n);
  if (status == NSR_OK)
    status = nsr_build_finish(&in->b, path, k);
  nsr_scratch_release(ctx, mark);
  return status;
}
