/* json_out.c - a kernel as JSON lines, schema 1: the head, one line for each
 * instruction, labels at streams' ends, carried sections.
 *
 * Jansson gives NULL where memory is short or a string is no UTF-8; setting a
 * member to NULL is then remembered, and the line as a whole fails.
 */
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include <nsr/text.h>

#include "asm/asm_map.h"
#include "asm/asm_quote.h"
#include "asm/asm_shape.h"
#include "base/strbuf.h"
#include "base/work.h"

struct out {
  struct nsr_ctx *ctx;
  const struct nsr_kernel *k;
  struct nsr_strbuf b;
  struct nsr_map files; /* first entry of each name */
  bool failed;          /* a value could not be made */
};

/* ---- values */

static void set(struct out *o, json_t *to, const char *key, json_t *value) {
  o->failed |= json_object_set_new(to, key, value) != 0;
}

static void add(struct out *o, json_t *to, json_t *value) {
  o->failed |= json_array_append_new(to, value) != 0;
}

static json_t *number(int64_t v) { return json_integer((json_int_t)v); }

static void set_base64(struct out *o, json_t *to, const char *key,
                       const uint8_t *data, size_t n) {
  struct nsr_mark mark = nsr_scratch_mark(o->ctx);
  const char *text = nsr_base64_encode(o->ctx, NSR_SCRATCH, data, n);
  set(o, to, key, text ? json_string(text) : NULL);
  nsr_scratch_release(o->ctx, mark);
}

static int append(const char *s, size_t n, void *user) {
  struct nsr_strbuf *b = user;
  nsr_strbuf_add(b, s, n);
  return b->failed ? -1 : 0;
}

/* Prints the object as a line and lets it go. */
static enum nsr_status line(struct out *o, json_t *object) {
  nsr_work_count(o->ctx, NSR_WORK_JSON_OUT, 1);
  size_t flags = JSON_COMPACT | JSON_REAL_PRECISION(9);
  if (!o->failed)
    o->failed = json_dump_callback(object, append, &o->b, flags) != 0;
  nsr_strbuf_puts(&o->b, "\n");
  json_decref(object);
  if (!o->failed || o->b.failed)
    return o->b.failed ? NSR_E_NOMEM : NSR_OK;
  return nsr_fail(o->ctx, NSR_E_NOMEM, NSR_NOWHERE,
                  "out of memory, or a name that is not UTF-8");
}

static json_t *object(struct out *o, const char *kind) {
  json_t *j = json_object();
  set(o, j, "kind", json_string(kind));
  return j;
}

/* ---- the first line */

static json_t *pair(struct out *o, int64_t a, int64_t b) {
  json_t *j = json_array();
  add(o, j, number(a));
  add(o, j, number(b));
  return j;
}

static json_t *queue(struct out *o, const struct nsr_queue *q) {
  json_t *j = json_object();
  set(o, j, "name", json_string(q->name));
  set(o, j, "engine", json_string(o->k->isa->engines[q->engine]));
  set(o, j, "order", json_string(nsr_order_name(q->order)));
  return j;
}

static json_t *tensor(struct out *o, const struct nsr_tensor *t) {
  json_t *j = json_object(), *shape = json_array();
  set(o, j, "name", json_string(t->name));
  set(o, j, "space", json_string(nsr_space_name((enum nsr_space)t->space)));
  if (t->space != NSR_DRAM)
    set(o, j, "part", pair(o, t->part, t->nparts));
  set(o, j, "offset", number((int64_t)t->offset));
  set(o, j, "bytes", number((int64_t)t->bytes));
  set(o, j, "dtype", json_string(nsr_dtype_name((enum nsr_dtype)t->dtype)));
  for (int i = 0; i < t->nshape; i++)
    add(o, shape, number(t->shape[i]));
  set(o, j, "shape", shape);
  set(o, j, "role",
      json_string(nsr_tensor_role_name((enum nsr_tensor_role)t->role)));
  set(o, j, "range", t->has_range ? pair(o, t->lo, t->hi) : json_null());
  if (t->data)
    set_base64(o, j, "data", t->data, t->data_size);
  else
    set(o, j, "data", json_null());
  return j;
}

/* What the instruction set says, for readers that do not know it. */
static void machine(struct out *o, json_t *j) {
  const struct nsr_isa *isa = o->k->isa;
  json_t *bytes = json_object();
  set(o, j, "isa_version", number(isa->version));
  set(o, j, "registers", number(isa->registers));
  set(o, j, "semaphores", number(isa->semaphores));
  set(o, j, "semaphore_bits", number(isa->semaphore_bits));
  set(o, j, "partitions", number(isa->partitions));
  set(o, bytes, "sbuf", number(isa->sbuf_bytes));
  set(o, bytes, "psum", number(isa->psum_bytes));
  set(o, j, "bytes", bytes);
}

static bool has_line(const struct nsr_stream *s) {
  for (uint32_t i = 0; s->lines && i < s->n; i++)
    if (s->lines[i].line)
      return true;
  return false;
}

static void streams(struct out *o, json_t *j) {
  const struct nsr_kernel *k = o->k;
  json_t *engines = json_array(), *order = json_object(), *empty = json_array();
  for (uint32_t i = 0; i < k->nstreams; i++) {
    const struct nsr_stream *s = &k->streams[i];
    add(o, engines, json_string(k->isa->engines[s->engine]));
    if (s->lines && !has_line(s))
      add(o, empty, json_string(k->isa->engines[s->engine]));
  }
  for (int e = 0; e < k->isa->nengines; e++)
    set(o, order, k->isa->engines[e],
        json_string(nsr_order_name(k->pipe_order[e])));
  set(o, j, "engines", engines);
  set(o, j, "order", order);
  /* line tables that no instruction shows */
  if (json_array_size(empty))
    set(o, j, "empty_line_tables", empty);
  else
    json_decref(empty);
}

static enum nsr_status files(struct out *o, json_t *j) {
  json_t *list = json_array();
  set(o, j, "files", list);
  for (uint32_t i = 0; i < o->k->nfiles; i++) {
    const char *name = o->k->files[i];
    add(o, list, json_string(name));
    if (nsr_map_get(&o->files, name, strlen(name)) == NSR_NONE)
      NSR_TRY(nsr_map_put(o->ctx, &o->files, name, strlen(name), i));
  }
  return NSR_OK;
}

static enum nsr_status head(struct out *o) {
  const struct nsr_kernel *k = o->k;
  json_t *j = object(o, "kernel"), *queues = json_array();
  json_t *tensors = json_array();
  set(o, j, "schema", number(1));
  set(o, j, "isa", json_string(k->isa->name));
  set(o, j, "name", json_string(k->name ? k->name : ""));
  machine(o, j);
  streams(o, j);
  for (uint32_t i = 0; i < k->nqueues; i++)
    add(o, queues, queue(o, &k->queues[i]));
  set(o, j, "queues", queues);
  set(o, j, "owned_semaphores", pair(o, k->owned_first, k->owned_last));
  for (uint32_t i = 0; i < k->ntensors; i++)
    add(o, tensors, tensor(o, &k->tensors[i]));
  set(o, j, "tensors", tensors);
  enum nsr_status status = files(o, j);
  if (status != NSR_OK) {
    json_decref(j);
    return status;
  }
  return line(o, j);
}

/* ---- instructions */

static json_t *val(struct out *o, const struct nsr_val *v) {
  json_t *j = json_object();
  set(o, j, v->is_reg ? "reg" : "imm", number(v->v));
  return j;
}

static json_t *wait(struct out *o, const struct nsr_wait *w) {
  if (w->cmp == NSR_CMP_NONE)
    return json_null();
  json_t *j = json_object();
  set(o, j, "sem", number(w->sem));
  set(o, j, "cmp", json_string(nsr_cmp_name((enum nsr_cmp)w->cmp)));
  set(o, j, "value", val(o, &w->value));
  return j;
}

static json_t *update(struct out *o, const struct nsr_insn *insn) {
  const struct nsr_update *u = &insn->update;
  if (u->op == NSR_UPD_NONE)
    return json_null();
  json_t *j = json_object();
  set(o, j, "sem", number(u->sem));
  set(o, j, "op", json_string(nsr_upd_name((enum nsr_upd)u->op)));
  set(o, j, "value", number(u->value));
  return j;
}

static json_t *dims(struct out *o, const struct nsr_operand *op) {
  json_t *list = json_array();
  for (int i = 0; i < op->ndims; i++) {
    const struct nsr_dim *d = &op->dims[i];
    struct nsr_val reg = {true, d->count};
    json_t *pair = json_array();
    add(o, pair, number(d->step));
    add(o, pair, d->count_is_reg ? val(o, &reg) : number(d->count));
    add(o, list, pair);
  }
  return list;
}

static json_t *operand(struct out *o, const struct nsr_operand *op,
                       uint32_t tensor) {
  json_t *j = json_object(), *offset = json_object();
  set(o, j, "role", json_string(nsr_role_name((enum nsr_role)op->role)));
  set(o, j, "space", json_string(nsr_space_name((enum nsr_space)op->space)));
  set(o, j, "dtype", json_string(nsr_dtype_name((enum nsr_dtype)op->dtype)));
  set(o, j, "part", pair(o, op->part, op->nparts));
  set(o, j, "pstep", number(op->pstep));
  set(o, offset, "imm", number(op->offset));
  set(o, offset, "reg", op->reg == NSR_NO_REG ? json_null() : number(op->reg));
  set(o, j, "offset", offset);
  set(o, j, "dims", dims(o, op));
  set(o, j, "tensor",
      tensor < o->k->ntensors ? json_string(o->k->tensors[tensor].name)
                              : json_null());
  if (op->acc)
    set(o, j, "acc", json_true());
  if (op->indexed_by >= 0)
    set(o, j, "indexed_by", number(op->indexed_by));
  return j;
}

static void operands(struct out *o, json_t *j, const struct nsr_stream *s,
                     uint32_t i, const struct nsr_insn *insn) {
  json_t *list = json_array();
  for (int op = 0; op < insn->noperands; op++)
    add(o, list, operand(o, &insn->operands[op], nsr_operand_tensor(s, i, op)));
  set(o, j, "operands", list);
}

/* Floats that JSON has no number for go as the assembler's text. */
static json_t *f32(uint32_t bits) {
  char text[NSR_F32_TEXT];
  json_t *j = json_real(nsr_f32_value(bits));
  if (j)
    return j;
  nsr_f32_format(bits, text);
  return json_string(text);
}

static json_t *argument(const struct nsr_arg_desc *arg, int64_t v) {
  return arg->kind == NSR_ARG_ENUM  ? json_string(arg->names[v])
         : arg->kind == NSR_ARG_F32 ? f32((uint32_t)v)
                                    : number(v);
}

static bool starts(const char *s, const char *with) {
  return strncmp(s, with, strlen(with)) == 0;
}

/* Arguments by name; those a meaning is made of once more beside them. */
static void arguments(struct out *o, json_t *j, const struct nsr_insn *insn) {
  enum nsr_meaning meaning = insn->desc->meaning;
  json_t *args = json_object(), *steps = json_array();
  for (int i = 0; i < insn->desc->nargs; i++) {
    const struct nsr_arg_desc *arg = &insn->desc->args[i];
    bool step = meaning == NSR_MEANING_IOTA && starts(arg->name, "step");
    set(o, args, arg->name, argument(arg, insn->args[i]));
    if (step)
      add(o, steps, number(insn->args[i]));
    else if (meaning == NSR_MEANING_FILL || meaning == NSR_MEANING_IOTA)
      set(o, j, arg->name, argument(arg, insn->args[i]));
  }
  if (meaning == NSR_MEANING_IOTA)
    set(o, j, "steps", json_incref(steps));
  json_decref(steps);
  set(o, j, "args", args);
}

static void hidden(struct out *o, json_t *j, const struct nsr_insn_desc *desc) {
  json_t *list = json_array();
  for (int i = 0; i < desc->nhidden; i++)
    add(o, list,
        json_sprintf("%s:%s", desc->hidden[i].name,
                     nsr_role_name(desc->hidden[i].role)));
  set(o, j, "hidden", list);
}

static void datapath(struct out *o, json_t *j, const struct nsr_stream *s,
                     uint32_t i, const struct nsr_insn *insn) {
  const struct nsr_insn_desc *desc = insn->desc;
  json_t *regs = json_array();
  operands(o, j, s, i, insn);
  set(o, j, "meaning", json_string(nsr_meaning_name(desc->meaning)));
  hidden(o, j, desc);
  if (desc->unknown_effects)
    set(o, j, "unknown_effects", json_true());
  if (desc->external)
    set(o, j, "external", json_true());
  if (nsr_insn_takes(desc, NSR_CC_ALWAYS).value_reg) {
    json_t *reg = json_object();
    set(o, reg, "name", json_string("value"));
    set(o, reg, "reg", number(insn->value_reg));
    add(o, regs, reg);
  }
  set(o, j, "regs", regs);
  arguments(o, j, insn);
}

/* The recorded targets of a computed jump, null: none; whether a branch has
 * its target recorded. */
static void targets(struct out *o, json_t *j, const struct nsr_stream *s,
                    uint32_t i, bool list) {
  uint32_t n;
  const struct nsr_reloc *r = nsr_stream_relocs(s, i, &n);
  json_t *to = list && n ? json_array() : NULL;
  for (uint32_t at = 0; to && at < n; at++)
    add(o, to, number(r[at].target));
  if (list)
    set(o, j, "targets", to ? to : json_null());
  else if (n)
    set(o, j, "reloc", json_true());
}

static void control(struct out *o, json_t *j, const struct nsr_stream *s,
                    uint32_t i, const struct nsr_insn *insn) {
  struct nsr_takes takes = nsr_insn_takes(insn->desc, (enum nsr_cc)insn->cc);
  static const struct nsr_val zero = {false, 0};
  if (takes.dst)
    set(o, j, "dst", number(insn->dst));
  if (takes.cond)
    set(o, j, "cond", number(insn->cond));
  if (takes.target)
    set(o, j, "cc", json_string(nsr_cc_name((enum nsr_cc)insn->cc)));
  if (takes.a || takes.target) /* a branch has both, though it may not care */
    set(o, j, "a", val(o, takes.a ? &insn->a : &zero));
  if (takes.b || takes.target)
    set(o, j, "b", val(o, takes.b ? &insn->b : &zero));
  if (takes.target)
    set(o, j, "target", number((int64_t)i + insn->displacement));
  if (takes.target || takes.targets)
    targets(o, j, s, i, takes.targets);
}

static json_t *source(struct out *o, const struct nsr_stream *s, uint32_t i) {
  struct nsr_line l = s->lines ? s->lines[i] : (struct nsr_line){0};
  if (!l.line)
    return json_null();
  const char *name = o->k->files[l.file];
  json_t *j = json_object();
  set(o, j, "file", json_string(name));
  set(o, j, "line", number(l.line));
  if (nsr_map_get(&o->files, name, strlen(name)) != l.file)
    set(o, j, "index", number(l.file)); /* of several of that name */
  return j;
}

static json_t *channel(const struct nsr_kernel *k, const struct nsr_stream *s,
                       const struct nsr_insn *insn) {
  bool any = insn->desc->cls == NSR_DATAPATH || insn->desc->cls == NSR_LOAD;
  if (!any)
    return json_null();
  return json_string(nsr_channel_name(k, nsr_channel(k, s->engine, insn)));
}

static void class_keys(struct out *o, json_t *j, const struct nsr_stream *s,
                       uint32_t i, const struct nsr_insn *insn) {
  switch (insn->desc->cls) {
  case NSR_DATAPATH:
    datapath(o, j, s, i, insn);
    break;
  case NSR_LOAD:
    set(o, j, "dst", number(insn->dst));
    operands(o, j, s, i, insn);
    break;
  case NSR_CONTROL:
    control(o, j, s, i, insn);
    break;
  case NSR_BARRIER:
    set(o, j, "id", number(insn->id));
    break;
  }
}

static enum nsr_status insn_line(struct out *o, const struct nsr_stream *s,
                                 uint32_t i, uint32_t *label) {
  struct nsr_insn insn;
  NSR_TRY(nsr_stream_decode(o->ctx, o->k, s, i, &insn));
  json_t *j = object(o, "insn"), *labels = json_array();
  set(o, j, "engine", json_string(o->k->isa->engines[s->engine]));
  set(o, j, "index", number(i));
  for (; *label < s->nlabels && s->labels[*label].insn == i; ++*label)
    add(o, labels, json_string(s->labels[*label].name));
  set(o, j, "labels", labels);
  set(o, j, "source", source(o, s, i));
  set(o, j, "op", json_string(insn.desc->mnemonic));
  set(o, j, "class", json_string(nsr_class_name(insn.desc->cls)));
  set(o, j, "channel", channel(o->k, s, &insn));
  set(o, j, "wait", wait(o, &insn.wait));
  set(o, j, "update", update(o, &insn));
  if (insn.early_update)
    set(o, j, "early", json_true());
  class_keys(o, j, s, i, &insn);
  return line(o, j);
}

static enum nsr_status stream(struct out *o, const struct nsr_stream *s) {
  uint32_t label = 0;
  for (uint32_t i = 0; i < s->n; i++)
    NSR_TRY(insn_line(o, s, i, &label));
  for (; label < s->nlabels; label++) {
    json_t *j = object(o, "label");
    set(o, j, "engine", json_string(o->k->isa->engines[s->engine]));
    set(o, j, "index", number(s->labels[label].insn));
    set(o, j, "name", json_string(s->labels[label].name));
    NSR_TRY(line(o, j));
  }
  return NSR_OK;
}

/* ---- carried sections */

static enum nsr_status section(struct out *o, const struct nsr_section *s) {
  json_t *j = object(o, "section");
  set(o, j, "name", json_string(s->name));
  set(o, j, "type", number(s->type));
  /* 64 bits unsigned: what is beyond signed ones wraps, both ways */
  set(o, j, "flags", number((int64_t)s->flags));
  set(o, j, "align", number((int64_t)s->align));
  set(o, j, "entsize", number((int64_t)s->entsize));
  set(o, j, "info", number(s->info));
  if (s->data) {
    set_base64(o, j, "data", s->data, s->size);
  } else {
    set(o, j, "data", json_null());
    set(o, j, "size", number((int64_t)s->size));
  }
  return line(o, j);
}

static enum nsr_status all(struct out *o) {
  NSR_TRY(head(o));
  for (uint32_t i = 0; i < o->k->nstreams; i++)
    NSR_TRY(stream(o, &o->k->streams[i]));
  for (uint32_t i = 0; i < o->k->nsections; i++)
    NSR_TRY(section(o, &o->k->sections[i]));
  return NSR_OK;
}

enum nsr_status nsr_to_json(struct nsr_ctx *ctx, const struct nsr_kernel *k,
                            const char **text, size_t *n) {
  struct out o = {.ctx = ctx, .k = k};
  struct nsr_mark mark = nsr_scratch_mark(ctx);
  nsr_strbuf_init(&o.b, ctx, NSR_KEEP);
  enum nsr_status status = all(&o);
  nsr_scratch_release(ctx, mark);
  NSR_TRY(status);
  return nsr_strbuf_done(&o.b, text, n);
}
