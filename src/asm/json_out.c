/* json_out.c - a kernel as JSON lines, schema 1: the head, one line for each
 * instruction, labels at streams' ends, carried sections. Text goes straight
 * into the buffer; a tree for each line would take most of the time.
 */
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include <nsr/text.h>

#include "asm/asm_map.h"
#include "asm/asm_quote.h"
#include "asm/asm_shape.h"
#include "asm/json_text.h"
#include "base/work.h"

struct out {
  struct nsr_ctx *ctx;
  const struct nsr_kernel *k;
  struct nsr_json_text t;
  struct nsr_map files; /* first entry of each name */
};

/* ---- values */

#define KEY(o, key) NSR_JSON_KEY(&(o)->t, key)
#define RAW(o, text) NSR_JSON_RAW(&(o)->t, text)

static void open(struct out *o, char bracket) { nsr_json_open(&o->t, bracket); }

static void close(struct out *o, char bracket) {
  nsr_json_close(&o->t, bracket);
}

static void number(struct out *o, int64_t v) { nsr_json_number(&o->t, v); }

static void text(struct out *o, const char *s) { nsr_json_text(&o->t, s); }

#define NUMBER(o, key, v) (KEY(o, key), number(o, v))
#define TEXT(o, key, s) (KEY(o, key), text(o, s))

static void null(struct out *o) { RAW(o, "null"); }

static void base64(struct out *o, const uint8_t *data, size_t n) {
  struct nsr_mark mark = nsr_scratch_mark(o->ctx);
  const char *s = nsr_base64_encode(o->ctx, NSR_SCRATCH, data, n);
  if (s)
    text(o, s);
  o->t.b.failed |= !s;
  nsr_scratch_release(o->ctx, mark);
}

/* Begins a line. */
#define OBJECT(o, kind) RAW(o, "{\"kind\":\"" kind "\"")

/* Ends it. */
static enum nsr_status line(struct out *o) {
  nsr_work_count(o->ctx, NSR_WORK_JSON_OUT, 1);
  close(o, '}');
  nsr_json_newline(&o->t);
  if (o->t.wrong)
    return nsr_fail(o->ctx, NSR_E_FORMAT,
                    (struct nsr_place){.file = o->k->path, .insn = -1},
                    "a name is not UTF-8, which JSON cannot show");
  return o->t.b.failed ? NSR_E_NOMEM : NSR_OK;
}

static void pair(struct out *o, int64_t a, int64_t b) {
  open(o, '[');
  number(o, a);
  number(o, b);
  close(o, ']');
}

/* ---- the first line */

static void queue(struct out *o, const struct nsr_queue *q) {
  open(o, '{');
  TEXT(o, "name", q->name);
  TEXT(o, "engine", o->k->isa->engines[q->engine]);
  TEXT(o, "order", nsr_order_name(q->order));
  close(o, '}');
}

static void placement(struct out *o, const struct nsr_tensor *t) {
  TEXT(o, "space", nsr_space_name((enum nsr_space)t->space));
  if (t->space != NSR_DRAM) {
    KEY(o, "part");
    pair(o, t->part, t->nparts);
  }
  NUMBER(o, "offset", (int64_t)t->offset);
  NUMBER(o, "bytes", (int64_t)t->bytes);
}

static void tensor(struct out *o, const struct nsr_tensor *t) {
  open(o, '{');
  TEXT(o, "name", t->name);
  placement(o, t);
  TEXT(o, "dtype", nsr_dtype_name((enum nsr_dtype)t->dtype));
  KEY(o, "shape");
  open(o, '[');
  for (int i = 0; i < t->nshape; i++)
    number(o, t->shape[i]);
  close(o, ']');
  TEXT(o, "role", nsr_tensor_role_name((enum nsr_tensor_role)t->role));
  KEY(o, "range");
  t->has_range ? pair(o, t->lo, t->hi) : null(o);
  KEY(o, "data");
  t->data ? base64(o, t->data, t->data_size) : null(o);
  close(o, '}');
}

/* What the instruction set says, for readers that do not know it. */
static void machine(struct out *o) {
  const struct nsr_isa *isa = o->k->isa;
  NUMBER(o, "isa_version", isa->version);
  NUMBER(o, "registers", isa->registers);
  NUMBER(o, "semaphores", isa->semaphores);
  NUMBER(o, "semaphore_bits", isa->semaphore_bits);
  NUMBER(o, "partitions", isa->partitions);
  KEY(o, "bytes");
  RAW(o, "{\"sbuf\":");
  number(o, isa->sbuf_bytes);
  NUMBER(o, "psum", isa->psum_bytes);
  close(o, '}');
}

static bool has_line(const struct nsr_stream *s) {
  for (uint32_t i = 0; s->lines && i < s->n; i++)
    if (s->lines[i].line)
      return true;
  return false;
}

/* Line tables that no instruction shows. */
static void empty_line_tables(struct out *o) {
  const struct nsr_kernel *k = o->k;
  bool any = false;
  for (uint32_t i = 0; i < k->nstreams; i++) {
    const struct nsr_stream *s = &k->streams[i];
    if (!s->lines || has_line(s))
      continue;
    if (!any) {
      KEY(o, "empty_line_tables");
      open(o, '[');
    }
    any = true;
    text(o, k->isa->engines[s->engine]);
  }
  if (any)
    close(o, ']');
}

static void streams(struct out *o) {
  const struct nsr_kernel *k = o->k;
  KEY(o, "engines");
  open(o, '[');
  for (uint32_t i = 0; i < k->nstreams; i++)
    text(o, k->isa->engines[k->streams[i].engine]);
  close(o, ']');
  KEY(o, "order");
  open(o, '{');
  for (int e = 0; e < k->isa->nengines; e++) {
    nsr_json_key(&o->t, k->isa->engines[e]);
    text(o, nsr_order_name(k->pipe_order[e]));
  }
  close(o, '}');
  empty_line_tables(o);
}

static enum nsr_status files(struct out *o) {
  KEY(o, "files");
  open(o, '[');
  for (uint32_t i = 0; i < o->k->nfiles; i++) {
    const char *name = o->k->files[i];
    text(o, name);
    if (nsr_map_get(&o->files, name, strlen(name)) == NSR_NONE)
      NSR_TRY(nsr_map_put(o->ctx, &o->files, name, strlen(name), i));
  }
  close(o, ']');
  return NSR_OK;
}

static enum nsr_status head(struct out *o) {
  const struct nsr_kernel *k = o->k;
  OBJECT(o, "kernel");
  NUMBER(o, "schema", 1);
  TEXT(o, "isa", k->isa->name);
  TEXT(o, "name", k->name ? k->name : "");
  machine(o);
  streams(o);
  KEY(o, "queues");
  open(o, '[');
  for (uint32_t i = 0; i < k->nqueues; i++)
    queue(o, &k->queues[i]);
  close(o, ']');
  KEY(o, "owned_semaphores");
  pair(o, k->owned_first, k->owned_last);
  KEY(o, "tensors");
  open(o, '[');
  for (uint32_t i = 0; i < k->ntensors; i++)
    tensor(o, &k->tensors[i]);
  close(o, ']');
  NSR_TRY(files(o));
  return line(o);
}

/* ---- instructions */

static void reg(struct out *o, int64_t r) {
  RAW(o, "{\"reg\":");
  number(o, r);
  close(o, '}');
}

static void val(struct out *o, const struct nsr_val *v) {
  if (v->is_reg) {
    reg(o, v->v);
    return;
  }
  RAW(o, "{\"imm\":");
  number(o, v->v);
  close(o, '}');
}

static void wait(struct out *o, const struct nsr_wait *w) {
  KEY(o, "wait");
  if (w->cmp == NSR_CMP_NONE) {
    null(o);
    return;
  }
  RAW(o, "{\"sem\":");
  number(o, w->sem);
  TEXT(o, "cmp", nsr_cmp_name((enum nsr_cmp)w->cmp));
  KEY(o, "value");
  val(o, &w->value);
  close(o, '}');
}

static void update(struct out *o, const struct nsr_insn *insn) {
  const struct nsr_update *u = &insn->update;
  KEY(o, "update");
  if (u->op == NSR_UPD_NONE) {
    null(o);
  } else {
    RAW(o, "{\"sem\":");
    number(o, u->sem);
    TEXT(o, "op", nsr_upd_name((enum nsr_upd)u->op));
    NUMBER(o, "value", u->value);
    close(o, '}');
  }
  if (insn->early_update)
    RAW(o, "\"early\":true");
}

static void dims(struct out *o, const struct nsr_operand *op) {
  KEY(o, "dims");
  open(o, '[');
  for (int i = 0; i < op->ndims; i++) {
    const struct nsr_dim *d = &op->dims[i];
    open(o, '[');
    number(o, d->step);
    d->count_is_reg ? reg(o, d->count) : number(o, d->count);
    close(o, ']');
  }
  close(o, ']');
}

static void operand(struct out *o, const struct nsr_operand *op,
                    uint32_t tensor) {
  RAW(o, "{\"role\":");
  text(o, nsr_role_name((enum nsr_role)op->role));
  TEXT(o, "space", nsr_space_name((enum nsr_space)op->space));
  TEXT(o, "dtype", nsr_dtype_name((enum nsr_dtype)op->dtype));
  KEY(o, "part");
  pair(o, op->part, op->nparts);
  NUMBER(o, "pstep", op->pstep);
  KEY(o, "offset");
  RAW(o, "{\"imm\":");
  number(o, op->offset);
  KEY(o, "reg");
  op->reg == NSR_NO_REG ? null(o) : number(o, op->reg);
  close(o, '}');
  dims(o, op);
  KEY(o, "tensor");
  tensor < o->k->ntensors ? text(o, o->k->tensors[tensor].name) : null(o);
  if (op->acc)
    RAW(o, "\"acc\":true");
  if (op->indexed_by >= 0) {
    NUMBER(o, "indexed_by", op->indexed_by);
  }
  close(o, '}');
}

static void operands(struct out *o, const struct nsr_stream *s, uint32_t i,
                     const struct nsr_insn *insn) {
  KEY(o, "operands");
  open(o, '[');
  for (int op = 0; op < insn->noperands; op++)
    operand(o, &insn->operands[op], nsr_operand_tensor(s, i, op));
  close(o, ']');
}

/* Floats that JSON has no number for go as the assembler's text. */
static void f32(struct out *o, uint32_t bits) {
  char s[64];
  json_t *j = json_real(nsr_f32_value(bits));
  if (!j) {
    nsr_f32_format(bits, s);
    text(o, s);
    return;
  }
  size_t n =
      json_dumpb(j, s, sizeof s, JSON_ENCODE_ANY | JSON_REAL_PRECISION(9));
  json_decref(j);
  o->t.b.failed |= n == 0 || n > sizeof s;
  nsr_json_raw(&o->t, s, n < sizeof s ? n : 0);
}

static void argument(struct out *o, const struct nsr_arg_desc *arg, int64_t v) {
  if (arg->kind == NSR_ARG_ENUM)
    text(o, arg->names[v]);
  else if (arg->kind == NSR_ARG_F32)
    f32(o, (uint32_t)v);
  else
    number(o, v);
}

static bool starts(const char *s, const char *with) {
  return strncmp(s, with, strlen(with)) == 0;
}

/* Those a meaning is made of, once more beside the arguments. */
static void meaning(struct out *o, const struct nsr_insn *insn) {
  const struct nsr_insn_desc *desc = insn->desc;
  bool iota = desc->meaning == NSR_MEANING_IOTA;
  if (!iota && desc->meaning != NSR_MEANING_FILL)
    return;
  for (int i = 0; i < desc->nargs; i++) {
    if (iota && starts(desc->args[i].name, "step"))
      continue;
    nsr_json_key(&o->t, desc->args[i].name);
    argument(o, &desc->args[i], insn->args[i]);
  }
  if (!iota)
    return;
  KEY(o, "steps");
  open(o, '[');
  for (int i = 0; i < desc->nargs; i++)
    if (starts(desc->args[i].name, "step"))
      number(o, insn->args[i]);
  close(o, ']');
}

static void arguments(struct out *o, const struct nsr_insn *insn) {
  meaning(o, insn);
  KEY(o, "args");
  open(o, '{');
  for (int i = 0; i < insn->desc->nargs; i++) {
    nsr_json_key(&o->t, insn->desc->args[i].name);
    argument(o, &insn->desc->args[i], insn->args[i]);
  }
  close(o, '}');
}

static enum nsr_status hidden(struct out *o, const struct nsr_insn_desc *desc) {
  KEY(o, "hidden");
  open(o, '[');
  for (int i = 0; i < desc->nhidden; i++) {
    struct nsr_mark mark = nsr_scratch_mark(o->ctx);
    const char *s =
        nsr_printf(o->ctx, NSR_SCRATCH, "%s:%s", desc->hidden[i].name,
                   nsr_role_name(desc->hidden[i].role));
    if (!s)
      return NSR_E_NOMEM;
    text(o, s);
    nsr_scratch_release(o->ctx, mark);
  }
  close(o, ']');
  return NSR_OK;
}

static enum nsr_status datapath(struct out *o, const struct nsr_stream *s,
                                uint32_t i, const struct nsr_insn *insn) {
  const struct nsr_insn_desc *desc = insn->desc;
  operands(o, s, i, insn);
  TEXT(o, "meaning", nsr_meaning_name(desc->meaning));
  NSR_TRY(hidden(o, desc));
  if (desc->unknown_effects)
    RAW(o, "\"unknown_effects\":true");
  if (desc->external)
    RAW(o, "\"external\":true");
  KEY(o, "regs");
  open(o, '[');
  if (nsr_insn_takes(desc, NSR_CC_ALWAYS).value_reg) {
    RAW(o, "{\"name\":\"value\"");
    NUMBER(o, "reg", insn->value_reg);
    close(o, '}');
  }
  close(o, ']');
  arguments(o, insn);
  return NSR_OK;
}

/* The recorded targets of a computed jump, null: none; whether a branch has
 * its target recorded. */
static void targets(struct out *o, const struct nsr_stream *s, uint32_t i,
                    bool list) {
  uint32_t n;
  const struct nsr_reloc *r = nsr_stream_relocs(s, i, &n);
  if (!list) {
    if (n)
      RAW(o, "\"reloc\":true");
    return;
  }
  KEY(o, "targets");
  if (!n) {
    null(o);
    return;
  }
  open(o, '[');
  for (uint32_t at = 0; at < n; at++)
    number(o, r[at].target);
  close(o, ']');
}

static void control(struct out *o, const struct nsr_stream *s, uint32_t i,
                    const struct nsr_insn *insn) {
  struct nsr_takes takes = nsr_insn_takes(insn->desc, (enum nsr_cc)insn->cc);
  static const struct nsr_val zero = {false, 0};
  if (takes.dst) {
    NUMBER(o, "dst", insn->dst);
  }
  if (takes.cond) {
    NUMBER(o, "cond", insn->cond);
  }
  if (takes.target) {
    TEXT(o, "cc", nsr_cc_name((enum nsr_cc)insn->cc));
  }
  if (takes.a || takes.target) { /* a branch has both, needed or not */
    KEY(o, "a");
    val(o, takes.a ? &insn->a : &zero);
  }
  if (takes.b || takes.target) {
    KEY(o, "b");
    val(o, takes.b ? &insn->b : &zero);
  }
  if (takes.target) {
    NUMBER(o, "target", (int64_t)i + insn->displacement);
  }
  if (takes.target || takes.targets)
    targets(o, s, i, takes.targets);
}

static void source(struct out *o, const struct nsr_stream *s, uint32_t i) {
  struct nsr_line l = s->lines ? s->lines[i] : (struct nsr_line){0};
  KEY(o, "source");
  if (!l.line) {
    null(o);
    return;
  }
  const char *name = o->k->files[l.file];
  RAW(o, "{\"file\":");
  text(o, name);
  NUMBER(o, "line", l.line);
  if (nsr_map_get(&o->files, name, strlen(name)) != l.file) {
    NUMBER(o, "index", l.file); /* of several of that name */
  }
  close(o, '}');
}

static void channel(struct out *o, const struct nsr_stream *s,
                    const struct nsr_insn *insn) {
  KEY(o, "channel");
  if (insn->desc->cls == NSR_DATAPATH || insn->desc->cls == NSR_LOAD)
    text(o, nsr_channel_name(o->k, nsr_channel(o->k, s->engine, insn)));
  else
    null(o);
}

static enum nsr_status class_keys(struct out *o, const struct nsr_stream *s,
                                  uint32_t i, const struct nsr_insn *insn) {
  switch (insn->desc->cls) {
  case NSR_DATAPATH:
    return datapath(o, s, i, insn);
  case NSR_LOAD:
    NUMBER(o, "dst", insn->dst);
    operands(o, s, i, insn);
    break;
  case NSR_CONTROL:
    control(o, s, i, insn);
    break;
  case NSR_BARRIER:
    NUMBER(o, "id", insn->id);
    break;
  }
  return NSR_OK;
}

static enum nsr_status insn_line(struct out *o, const struct nsr_stream *s,
                                 uint32_t i, uint32_t *label) {
  struct nsr_insn insn;
  NSR_TRY(nsr_stream_decode(o->ctx, o->k, s, i, &insn));
  OBJECT(o, "insn");
  TEXT(o, "engine", o->k->isa->engines[s->engine]);
  NUMBER(o, "index", i);
  KEY(o, "labels");
  open(o, '[');
  for (; *label < s->nlabels && s->labels[*label].insn == i; ++*label)
    text(o, s->labels[*label].name);
  close(o, ']');
  source(o, s, i);
  TEXT(o, "op", insn.desc->mnemonic);
  TEXT(o, "class", nsr_class_name(insn.desc->cls));
  channel(o, s, &insn);
  wait(o, &insn.wait);
  update(o, &insn);
  NSR_TRY(class_keys(o, s, i, &insn));
  return line(o);
}

static enum nsr_status stream(struct out *o, const struct nsr_stream *s) {
  uint32_t label = 0;
  for (uint32_t i = 0; i < s->n; i++)
    NSR_TRY(insn_line(o, s, i, &label));
  for (; label < s->nlabels; label++) {
    OBJECT(o, "label");
    TEXT(o, "engine", o->k->isa->engines[s->engine]);
    NUMBER(o, "index", s->labels[label].insn);
    TEXT(o, "name", s->labels[label].name);
    NSR_TRY(line(o));
  }
  return NSR_OK;
}

/* ---- carried sections */

static enum nsr_status section(struct out *o, const struct nsr_section *s) {
  OBJECT(o, "section");
  TEXT(o, "name", s->name);
  NUMBER(o, "type", s->type);
  /* 64 bits unsigned: what is beyond signed ones wraps, both ways */
  NUMBER(o, "flags", (int64_t)s->flags);
  NUMBER(o, "align", (int64_t)s->align);
  NUMBER(o, "entsize", (int64_t)s->entsize);
  NUMBER(o, "info", s->info);
  KEY(o, "data");
  if (s->data) {
    base64(o, s->data, s->size);
  } else {
    null(o);
    NUMBER(o, "size", (int64_t)s->size);
  }
  return line(o);
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
                            const char **out, size_t *n) {
  struct out o = {.ctx = ctx, .k = k};
  struct nsr_mark mark = nsr_scratch_mark(ctx);
  nsr_strbuf_init(&o.t.b, ctx, NSR_KEEP);
  enum nsr_status status = all(&o);
  nsr_scratch_release(ctx, mark);
  NSR_TRY(status);
  return nsr_strbuf_done(&o.t.b, out, n);
}
