/* json_head.c - the first line: what the kernel is made for, its queues,
 * tensors and source files.
 */
#include <stdio.h>
#include <string.h>

#include "asm/asm_shape.h"
#include "asm/json_in.h"

/* What the head repeats of the instruction set must be what is built in. */
static enum nsr_status machine(struct nsr_json_in *in, const json_t *j) {
  const struct nsr_isa *isa = in->isa;
  json_t *bytes;
  int64_t v;
  NSR_TRY(nsr_json_object(in, j, "bytes", &bytes));
  const struct {
    const char *key;
    int64_t value;
  } facts[] = {{"isa_version", isa->version},
               {"registers", isa->registers},
               {"semaphores", isa->semaphores},
               {"semaphore_bits", isa->semaphore_bits},
               {"partitions", isa->partitions}};
  for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
    NSR_TRY(nsr_json_int(in, j, facts[i].key, NSR_JSON_OPTIONAL, facts[i].value,
                         facts[i].value, &v));
  size_t mark = nsr_json_enter(in, "bytes", -1);
  NSR_TRY(nsr_json_int(in, bytes, "sbuf", NSR_JSON_OPTIONAL, isa->sbuf_bytes,
                       isa->sbuf_bytes, &v));
  NSR_TRY(nsr_json_int(in, bytes, "psum", NSR_JSON_OPTIONAL, isa->psum_bytes,
                       isa->psum_bytes, &v));
  nsr_json_leave(in, mark);
  return NSR_OK;
}

static enum nsr_status isa(struct nsr_json_in *in, const json_t *j) {
  const char *name = NULL;
  int64_t schema;
  NSR_TRY(nsr_json_int(in, j, "schema", NSR_JSON_OPTIONAL, 1, 1, &schema));
  NSR_TRY(nsr_json_string(in, j, "isa", NSR_JSON_REQUIRED, &name));
  in->isa = nsr_isa_by_name(name);
  if (!in->isa)
    return nsr_json_expected(in, "isa", "a known instruction set",
                             json_object_get(j, "isa"));
  nsr_build_isa(&in->b, in->isa);
  return machine(in, j);
}

static enum nsr_status kernel_name(struct nsr_json_in *in, const json_t *j) {
  const char *name = "";
  NSR_TRY(nsr_json_string(in, j, "name", NSR_JSON_OPTIONAL, &name));
  in->b.kernel.name = nsr_strndup(in->ctx, NSR_KEEP, name, strlen(name));
  return in->b.kernel.name ? NSR_OK : NSR_E_NOMEM;
}

/* A list of engines: have streams; have line tables though no lines. */
static enum nsr_status engines(struct nsr_json_in *in, const json_t *j,
                               const char *key, bool lines) {
  json_t *list, *v;
  size_t i;
  int e;
  NSR_TRY(nsr_json_array(in, j, key, &list));
  in->listed |= list && !lines;
  json_array_foreach(list, i, v) {
    NSR_TRY(nsr_json_engine(in, key, v, &e));
    *(lines ? &in->b.streams[e].has_lines : &in->b.streams[e].present) = true;
  }
  return NSR_OK;
}

static enum nsr_status orders(struct nsr_json_in *in, const json_t *j) {
  json_t *map, *v;
  const char *key;
  int order = 0;
  NSR_TRY(nsr_json_object(in, j, "order", &map));
  size_t mark = nsr_json_enter(in, "order", -1);
  json_object_foreach(map, key, v) {
    int e = nsr_isa_engine(in->isa, key);
    if (e < 0)
      return nsr_json_fail(in, "order: '%.60s' is no engine of %s", key,
                           in->isa->name);
    NSR_TRY(nsr_json_choice(in, map, key, NSR_JSON_REQUIRED,
                            "hidden, none or full", nsr_order_parse, &order));
    in->b.kernel.pipe_order[e] = (enum nsr_order)order;
  }
  nsr_json_leave(in, mark);
  return NSR_OK;
}

static enum nsr_status owned(struct nsr_json_in *in, const json_t *j) {
  json_t *pair;
  int64_t first, last, top = in->isa->semaphores - 1;
  NSR_TRY(nsr_json_array(in, j, "owned_semaphores", &pair));
  if (!pair)
    return NSR_OK;
  NSR_TRY(nsr_json_item(in, pair, "owned_semaphores", 0, 0, top, &first));
  NSR_TRY(nsr_json_item(in, pair, "owned_semaphores", 1, 0, top, &last));
  in->b.kernel.owned_first = (uint16_t)first;
  in->b.kernel.owned_last = (uint16_t)last;
  return NSR_OK;
}

static enum nsr_status kept_name(struct nsr_json_in *in, const json_t *j,
                                 const char **out) {
  NSR_TRY(nsr_json_name(in, "name", json_object_get(j, "name"), out));
  *out = nsr_strndup(in->ctx, NSR_KEEP, *out, strlen(*out));
  return *out ? NSR_OK : NSR_E_NOMEM;
}

static enum nsr_status queue(struct nsr_json_in *in, const json_t *j) {
  struct nsr_queue q = {0};
  int e, order = (int)in->isa->queue_order;
  uint32_t n = (uint32_t)in->b.queues.n;
  NSR_TRY(kept_name(in, j, &q.name));
  if (nsr_queue_by_name(in->b.queues.v, n, q.name, strlen(q.name)) != NSR_NONE)
    return nsr_json_fail(in, "%sname: queue '%s' is already defined", in->where,
                         q.name);
  if (n == NSR_MAX_QUEUES)
    return nsr_json_fail(in, "expected at most %d queues", NSR_MAX_QUEUES);
  NSR_TRY(nsr_json_engine(in, "engine", json_object_get(j, "engine"), &e));
  NSR_TRY(nsr_json_choice(in, j, "order", NSR_JSON_OPTIONAL,
                          "hidden, none or full", nsr_order_parse, &order));
  q.engine = (uint8_t)e;
  q.order = (enum nsr_order)order;
  NSR_PUSH(in->ctx, NSR_SCRATCH, &in->b.queues, q);
  return NSR_OK;
}

/* ---- tensors */

static enum nsr_status tensor_kind(struct nsr_json_in *in, const json_t *j,
                                   struct nsr_tensor *t) {
  int space = 0, dtype = 0, role = 0;
  NSR_TRY(nsr_json_choice(in, j, "space", NSR_JSON_REQUIRED,
                          "dram, sbuf or psum", nsr_space_parse, &space));
  NSR_TRY(nsr_json_choice(in, j, "dtype", NSR_JSON_REQUIRED, "a dtype",
                          nsr_dtype_parse, &dtype));
  NSR_TRY(nsr_json_choice(in, j, "role", NSR_JSON_REQUIRED,
                          "input, output or scratch", nsr_tensor_role_parse,
                          &role));
  t->space = (uint8_t)space;
  t->dtype = (uint8_t)dtype;
  t->role = (uint8_t)role;
  return NSR_OK;
}

static enum nsr_status tensor_shape(struct nsr_json_in *in, const json_t *j,
                                    struct nsr_tensor *t) {
  json_t *shape;
  int64_t v;
  NSR_TRY(nsr_json_array(in, j, "shape", &shape));
  if (json_array_size(shape) > NSR_MAX_SHAPE)
    return nsr_json_fail(in, "%sshape: expected at most %d dimensions",
                         in->where, NSR_MAX_SHAPE);
  t->nshape = (uint8_t)json_array_size(shape);
  for (int i = 0; i < t->nshape; i++) {
    NSR_TRY(nsr_json_item(in, shape, "shape", (size_t)i, 0, UINT32_MAX, &v));
    t->shape[i] = (uint32_t)v;
  }
  return NSR_OK;
}

static enum nsr_status tensor_place(struct nsr_json_in *in, const json_t *j,
                                    struct nsr_tensor *t) {
  int64_t first = 0, count = 0, offset = 0, bytes = -1;
  json_t *part;
  NSR_TRY(nsr_json_array(in, j, "part", &part));
  if (!part && t->space != NSR_DRAM)
    return nsr_json_expected(in, "part", "[first partition, count]", NULL);
  if (part && t->space != NSR_DRAM) {
    NSR_TRY(nsr_json_item(in, part, "part", 0, 0, UINT16_MAX, &first));
    NSR_TRY(nsr_json_item(in, part, "part", 1, 0, UINT16_MAX, &count));
  }
  NSR_TRY(
      nsr_json_int(in, j, "offset", NSR_JSON_REQUIRED, 0, INT64_MAX, &offset));
  NSR_TRY(
      nsr_json_int(in, j, "bytes", NSR_JSON_OPTIONAL, 0, INT64_MAX, &bytes));
  t->part = (uint16_t)first;
  t->nparts = (uint16_t)count;
  t->offset = (uint64_t)offset;
  t->bytes = bytes < 0 ? nsr_tensor_bytes(t) : (uint64_t)bytes;
  return NSR_OK;
}

static enum nsr_status tensor_range(struct nsr_json_in *in, const json_t *j,
                                    struct nsr_tensor *t) {
  json_t *range;
  int64_t lo, hi;
  NSR_TRY(nsr_json_array(in, j, "range", &range));
  if (!range)
    return NSR_OK;
  NSR_TRY(nsr_json_item(in, range, "range", 0, INT32_MIN, INT32_MAX, &lo));
  NSR_TRY(nsr_json_item(in, range, "range", 1, lo, INT32_MAX, &hi));
  t->has_range = true;
  t->lo = (int32_t)lo;
  t->hi = (int32_t)hi;
  return NSR_OK;
}

static enum nsr_status tensor(struct nsr_json_in *in, const json_t *j) {
  struct nsr_tensor t = {0};
  NSR_TRY(kept_name(in, j, &t.name));
  if (nsr_map_get(&in->b.tensor_map, t.name, strlen(t.name)) != NSR_NONE)
    return nsr_json_fail(in, "%sname: tensor '%s' is already defined",
                         in->where, t.name);
  NSR_TRY(tensor_kind(in, j, &t));
  NSR_TRY(tensor_shape(in, j, &t));
  NSR_TRY(tensor_place(in, j, &t));
  NSR_TRY(tensor_range(in, j, &t));
  NSR_TRY(nsr_json_data(in, j, &t.data, &t.data_size));
  return nsr_build_tensor(&in->b, &t);
}

/* ---- the line */

static enum nsr_status
each(struct nsr_json_in *in, const json_t *j, const char *key,
     enum nsr_status (*read)(struct nsr_json_in *, const json_t *)) {
  json_t *list, *v;
  size_t i;
  NSR_TRY(nsr_json_array(in, j, key, &list));
  json_array_foreach(list, i, v) {
    size_t mark = nsr_json_enter(in, key, (int)i);
    NSR_TRY(json_is_object(v) ? read(in, v)
                              : nsr_json_expected(in, "", "an object", v));
    nsr_json_leave(in, mark);
  }
  return NSR_OK;
}

static enum nsr_status files(struct nsr_json_in *in, const json_t *j) {
  json_t *list, *v;
  size_t i;
  const char *name;
  uint32_t made;
  NSR_TRY(nsr_json_array(in, j, "files", &list));
  json_array_foreach(list, i, v) {
    NSR_TRY(nsr_json_name(in, "files", v, &name));
    NSR_TRY(nsr_build_new_file(&in->b, name, strlen(name), &made));
  }
  return NSR_OK;
}

enum nsr_status nsr_json_head(struct nsr_json_in *in, const json_t *j) {
  const char *kind = NULL;
  NSR_TRY(nsr_json_string(in, j, "kind", NSR_JSON_REQUIRED, &kind));
  if (strcmp(kind, "kernel") != 0)
    return nsr_json_expected(in, "kind", "\"kernel\" on the first line",
                             json_object_get(j, "kind"));
  NSR_TRY(isa(in, j));
  NSR_TRY(kernel_name(in, j));
  NSR_TRY(engines(in, j, "engines", false));
  NSR_TRY(engines(in, j, "empty_line_tables", true));
  NSR_TRY(orders(in, j));
  NSR_TRY(owned(in, j));
  NSR_TRY(each(in, j, "queues", queue));
  NSR_TRY(each(in, j, "tensors", tensor));
  return files(in, j);
}
