/* json_get.c - typed access to members of JSON objects, with messages. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "asm/asm_quote.h"
#include "asm/json_in.h"
#include "object/check.h"

/* ---- messages */

enum nsr_status nsr_json_fail(struct nsr_json_in *in, const char *fmt, ...) {
  struct nsr_place place = {.insn = -1,
                            .source_file = in->path,
                            .source_line =
                                in->line ? in->line : 1}; /* an empty text */
  char text[1024];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  in->errors++;
  return nsr_fail(in->ctx, NSR_E_SYNTAX, place, "%s", text);
}

static void describe(const json_t *v, char *out, size_t size) {
  if (json_is_string(v))
    snprintf(out, size, "\"%.60s\"", json_string_value(v));
  else if (json_is_integer(v))
    snprintf(out, size, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
  else if (json_is_real(v))
    snprintf(out, size, "%g", json_real_value(v));
  else if (json_is_boolean(v))
    snprintf(out, size, "%s", json_is_true(v) ? "true" : "false");
  else
    snprintf(out, size, "%s",
             json_is_array(v)    ? "an array"
             : json_is_object(v) ? "an object"
             : json_is_null(v)   ? "null"
                                 : "nothing");
}

enum nsr_status nsr_json_expected(struct nsr_json_in *in, const char *key,
                                  const char *what, const json_t *value) {
  char found[80];
  int n = (int)strlen(in->where) - !*key; /* "operands[1].", or without dot */
  describe(value, found, sizeof found);
  return nsr_json_fail(in, "%.*s%s: expected %s, found %s", n < 0 ? 0 : n,
                       in->where, key, what, found);
}

size_t nsr_json_enter(struct nsr_json_in *in, const char *key, int index) {
  size_t mark = strlen(in->where), room = sizeof in->where - mark;
  if (index < 0)
    snprintf(in->where + mark, room, "%s.", key);
  else
    snprintf(in->where + mark, room, "%s[%d].", key, index);
  return mark;
}

void nsr_json_leave(struct nsr_json_in *in, size_t mark) {
  in->where[mark] = 0;
}

/* ---- members */

json_t *nsr_json_get(const json_t *from, const char *key) {
  json_t *v = json_object_get(from, key);
  return json_is_null(v) ? NULL : v;
}

/* A member of some type; with a message only if the type is wrong. */
static enum nsr_status member(struct nsr_json_in *in, const json_t *from,
                              const char *key, enum nsr_json_need need,
                              json_type type, const char *what, json_t **out) {
  json_t *v = nsr_json_get(from, key);
  *out = v;
  if (v ? json_typeof(v) == type : need == NSR_JSON_OPTIONAL)
    return NSR_OK;
  return nsr_json_expected(in, key, what, json_object_get(from, key));
}

static enum nsr_status in_range(struct nsr_json_in *in, const char *key,
                                const json_t *v, int64_t lo, int64_t hi,
                                int64_t *out) {
  char what[80];
  if (json_is_integer(v) && json_integer_value(v) >= lo &&
      json_integer_value(v) <= hi) {
    *out = json_integer_value(v);
    return NSR_OK;
  }
  if (lo == hi)
    snprintf(what, sizeof what, "%" PRId64, lo);
  else
    snprintf(what, sizeof what, "an integer in %" PRId64 "..%" PRId64, lo, hi);
  return nsr_json_expected(in, key, what, v);
}

enum nsr_status nsr_json_int(struct nsr_json_in *in, const json_t *from,
                             const char *key, enum nsr_json_need need,
                             int64_t lo, int64_t hi, int64_t *out) {
  const json_t *v = nsr_json_get(from, key);
  if (!v && need == NSR_JSON_OPTIONAL)
    return NSR_OK;
  return in_range(in, key, v ? v : json_object_get(from, key), lo, hi, out);
}

enum nsr_status nsr_json_string(struct nsr_json_in *in, const json_t *from,
                                const char *key, enum nsr_json_need need,
                                const char **out) {
  json_t *v;
  NSR_TRY(member(in, from, key, need, JSON_STRING, "a string", &v));
  *out = v ? json_string_value(v) : *out;
  return NSR_OK;
}

enum nsr_status nsr_json_bool(struct nsr_json_in *in, const json_t *from,
                              const char *key, bool *out) {
  const json_t *v = nsr_json_get(from, key);
  if (v && !json_is_boolean(v))
    return nsr_json_expected(in, key, "true or false", v);
  *out = json_is_true(v);
  return NSR_OK;
}

enum nsr_status nsr_json_array(struct nsr_json_in *in, const json_t *from,
                               const char *key, json_t **out) {
  return member(in, from, key, NSR_JSON_OPTIONAL, JSON_ARRAY, "an array", out);
}

enum nsr_status nsr_json_object(struct nsr_json_in *in, const json_t *from,
                                const char *key, json_t **out) {
  return member(in, from, key, NSR_JSON_OPTIONAL, JSON_OBJECT, "an object",
                out);
}

enum nsr_status nsr_json_item(struct nsr_json_in *in, const json_t *array,
                              const char *key, size_t i, int64_t lo, int64_t hi,
                              int64_t *out) {
  char name[64];
  snprintf(name, sizeof name, "%s[%zu]", key, i);
  return in_range(in, name, json_array_get(array, i), lo, hi, out);
}

enum nsr_status nsr_json_choice(struct nsr_json_in *in, const json_t *from,
                                const char *key, enum nsr_json_need need,
                                const char *what,
                                int (*parse)(const char *, size_t), int *out) {
  json_t *v;
  NSR_TRY(member(in, from, key, need, JSON_STRING, what, &v));
  if (!v)
    return NSR_OK;
  *out = parse(json_string_value(v), json_string_length(v));
  return *out < 0 ? nsr_json_expected(in, key, what, v) : NSR_OK;
}

enum nsr_status nsr_json_name(struct nsr_json_in *in, const char *key,
                              const json_t *value, const char **out) {
  if (!json_is_string(value))
    return nsr_json_expected(in, key, "a name", value);
  *out = json_string_value(value);
  const char *problem = nsr_name_problem(*out);
  return problem
             ? nsr_json_fail(in, "%s%s: the name %s", in->where, key, problem)
             : NSR_OK;
}

enum nsr_status nsr_json_engine(struct nsr_json_in *in, const char *key,
                                const json_t *value, int *out) {
  const char *name = json_string_value(value);
  *out = name ? nsr_isa_engine(in->isa, name) : -1;
  return *out < 0 ? nsr_json_expected(in, key, "an engine's name", value)
                  : NSR_OK;
}

enum nsr_status nsr_json_data(struct nsr_json_in *in, const json_t *from,
                              const uint8_t **data, uint64_t *size) {
  json_t *v;
  uint8_t *out;
  size_t n;
  NSR_TRY(
      member(in, from, "data", NSR_JSON_OPTIONAL, JSON_STRING, "base64", &v));
  if (!v)
    return NSR_OK;
  NSR_NEW(in->ctx, NSR_KEEP, out, json_string_length(v) / 4 * 3);
  if (!nsr_base64_decode(json_string_value(v), json_string_length(v), out, &n))
    return nsr_json_expected(in, "data", "base64", v);
  *data = out;
  *size = n;
  return NSR_OK;
}
