/* json_insn.c - one instruction from its JSON line. What it must have follows
 * from its description (asm_shape.h), as in assembly.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "asm/asm_shape.h"
#include "asm/json_in.h"
#include "isa/word.h"

/* An instruction being read. */
struct parse {
  struct nsr_json_in *in;
  const json_t *j;
  int engine;
  struct nsr_build_stream *stream;
  struct nsr_insn insn;
  struct nsr_takes takes;
  size_t nrelocs; /* of the stream before this instruction */
};

static enum nsr_status reloc(struct parse *p, enum nsr_reloc_kind kind,
                             uint8_t operand, uint32_t target) {
  NSR_APPEND(
      p->in->ctx, NSR_KEEP, &p->stream->relocs,
      ((struct nsr_reloc){p->stream->n, (uint8_t)kind, operand, target}));
  return NSR_OK;
}

/* ---- registers and values */

/* N or {"reg":N}. */
static enum nsr_status reg(struct parse *p, const json_t *from, const char *key,
                           int64_t *out) {
  const json_t *v = nsr_json_get(from, key);
  if (json_is_object(v)) {
    from = v;
    key = "reg";
  }
  return nsr_json_int(p->in, from, key, NSR_JSON_REQUIRED, 0,
                      p->in->isa->registers - 1, out);
}

static enum nsr_status reg16(struct parse *p, const char *key, int16_t *out) {
  int64_t v;
  NSR_TRY(reg(p, p->j, key, &v));
  *out = (int16_t)v;
  return NSR_OK;
}

/* {"reg":N} or {"imm":N}. */
static enum nsr_status val(struct parse *p, const json_t *from, const char *key,
                           struct nsr_val *out) {
  const json_t *v = nsr_json_get(from, key);
  int64_t number;
  if (!json_is_object(v))
    return nsr_json_expected(p->in, key, "{\"reg\":N} or {\"imm\":N}", v);
  out->is_reg = nsr_json_get(v, "reg") != NULL;
  size_t mark = nsr_json_enter(p->in, key, -1);
  if (out->is_reg)
    NSR_TRY(reg(p, v, "reg", &number));
  else
    NSR_TRY(nsr_json_int(p->in, v, "imm", NSR_JSON_REQUIRED, INT32_MIN,
                         INT32_MAX, &number));
  nsr_json_leave(p->in, mark);
  out->v = (int32_t)number;
  return NSR_OK;
}

/* ---- wait and update */

static enum nsr_status sem(struct parse *p, const json_t *from, uint16_t *out) {
  int64_t v;
  NSR_TRY(nsr_json_int(p->in, from, "sem", NSR_JSON_REQUIRED, 0,
                       p->in->isa->semaphores - 1, &v));
  *out = (uint16_t)v;
  return NSR_OK;
}

static enum nsr_status wait(struct parse *p) {
  struct nsr_wait *w = &p->insn.wait;
  json_t *j;
  int cmp = 0;
  NSR_TRY(nsr_json_object(p->in, p->j, "wait", &j));
  if (!j)
    return NSR_OK;
  if (!p->insn.desc->has_wait)
    return nsr_json_fail(p->in, "wait: %s takes none", p->insn.desc->mnemonic);
  size_t mark = nsr_json_enter(p->in, "wait", -1);
  NSR_TRY(sem(p, j, &w->sem));
  NSR_TRY(nsr_json_choice(p->in, j, "cmp", NSR_JSON_REQUIRED,
                          "one of >= == > <= <", nsr_cmp_parse, &cmp));
  if (cmp == NSR_CMP_NONE)
    return nsr_json_fail(p->in, "wait.cmp: expected one of >= == > <= <");
  NSR_TRY(val(p, j, "value", &w->value));
  nsr_json_leave(p->in, mark);
  w->cmp = (uint8_t)cmp;
  return NSR_OK;
}

static enum nsr_status update(struct parse *p) {
  struct nsr_update *u = &p->insn.update;
  json_t *j;
  int op = 0;
  int64_t value = 1;
  NSR_TRY(nsr_json_object(p->in, p->j, "update", &j));
  NSR_TRY(nsr_json_bool(p->in, p->j, "early", &p->insn.early_update));
  if (!j)
    return NSR_OK;
  if (!p->insn.desc->has_update)
    return nsr_json_fail(p->in, "update: %s takes none",
                         p->insn.desc->mnemonic);
  size_t mark = nsr_json_enter(p->in, "update", -1);
  NSR_TRY(sem(p, j, &u->sem));
  NSR_TRY(nsr_json_choice(p->in, j, "op", NSR_JSON_REQUIRED,
                          "one of inc dec add sub set", nsr_upd_parse, &op));
  if (op == NSR_UPD_NONE)
    return nsr_json_fail(p->in, "update.op: expected one of inc dec add sub "
                                "set");
  bool one = op == NSR_UPD_INC || op == NSR_UPD_DEC;
  NSR_TRY(nsr_json_int(p->in, j, "value",
                       one ? NSR_JSON_OPTIONAL : NSR_JSON_REQUIRED,
                       one ? 1 : INT32_MIN, one ? 1 : INT32_MAX, &value));
  nsr_json_leave(p->in, mark);
  u->op = (uint8_t)op;
  u->value = (int32_t)value;
  return NSR_OK;
}

/* ---- operands */

static enum nsr_status dim(struct parse *p, const json_t *pair, size_t i,
                           struct nsr_dim *d) {
  struct nsr_json_in *in = p->in;
  char name[24];
  int64_t v;
  snprintf(name, sizeof name, "dims[%zu]", i);
  if (json_array_size(pair) != 2)
    return nsr_json_expected(in, name, "[step, count]", pair);
  NSR_TRY(nsr_json_item(in, pair, name, 0, INT32_MIN, INT32_MAX, &v));
  d->step = (int32_t)v;
  const json_t *count = json_array_get(pair, 1);
  d->count_is_reg = json_is_object(count);
  size_t mark = nsr_json_enter(in, name, 1);
  if (d->count_is_reg)
    NSR_TRY(reg(p, count, "reg", &v));
  nsr_json_leave(in, mark);
  if (!d->count_is_reg)
    NSR_TRY(nsr_json_item(in, pair, name, 1, 0, INT32_MAX, &v));
  d->count = (int32_t)v;
  return NSR_OK;
}

static enum nsr_status dims(struct parse *p, const json_t *j,
                            const struct nsr_operand_desc *desc,
                            struct nsr_operand *o) {
  json_t *list;
  NSR_TRY(nsr_json_array(p->in, j, "dims", &list));
  if (json_array_size(list) > desc->maxdims ||
      json_array_size(list) > NSR_MAX_DIMS)
    return nsr_json_fail(p->in, "%sdims: expected at most %u dimensions",
                         p->in->where, desc->maxdims);
  o->ndims = (uint8_t)json_array_size(list);
  for (size_t i = 0; i < o->ndims; i++)
    NSR_TRY(dim(p, json_array_get(list, i), i, &o->dims[i]));
  return NSR_OK;
}

static enum nsr_status place(struct parse *p, const json_t *j,
                             struct nsr_operand *o) {
  struct nsr_json_in *in = p->in;
  json_t *part, *offset;
  int64_t first, count, pstep = 0, imm = 0, r = NSR_NO_REG;
  NSR_TRY(nsr_json_array(in, j, "part", &part));
  NSR_TRY(nsr_json_object(in, j, "offset", &offset));
  if (!part || !offset)
    return nsr_json_expected(
        in, part ? "offset" : "part",
        part ? "{\"imm\":BYTES,\"reg\":N or null}" : "[first, count]", NULL);
  NSR_TRY(nsr_json_item(in, part, "part", 0, 0, UINT16_MAX, &first));
  NSR_TRY(nsr_json_item(in, part, "part", 1, 0, UINT16_MAX, &count));
  NSR_TRY(nsr_json_int(in, j, "pstep", NSR_JSON_OPTIONAL, INT32_MIN, INT32_MAX,
                       &pstep));
  size_t mark = nsr_json_enter(in, "offset", -1);
  NSR_TRY(nsr_json_int(in, offset, "imm", NSR_JSON_OPTIONAL, INT64_MIN,
                       INT64_MAX, &imm));
  if (nsr_json_get(offset, "reg"))
    NSR_TRY(reg(p, offset, "reg", &r));
  nsr_json_leave(in, mark);
  o->part = (uint16_t)first;
  o->nparts = (uint16_t)count;
  o->pstep = (int32_t)pstep;
  o->offset = imm;
  o->reg = (int16_t)r;
  return NSR_OK;
}

static enum nsr_status tensor(struct parse *p, const json_t *j, int i) {
  const char *name = NULL;
  NSR_TRY(nsr_json_string(p->in, j, "tensor", NSR_JSON_OPTIONAL, &name));
  if (!name)
    return NSR_OK;
  uint32_t t = nsr_map_get(&p->in->b.tensor_map, name, strlen(name));
  if (t == NSR_NONE)
    return nsr_json_expected(p->in, "tensor", "a tensor of the first line",
                             nsr_json_get(j, "tensor"));
  return reloc(p, NSR_RELOC_TENSOR, (uint8_t)i, t);
}

static enum nsr_status operand(struct parse *p, const json_t *j, int i) {
  const struct nsr_operand_desc *desc = &p->insn.desc->operands[i];
  struct nsr_operand *o = &p->insn.operands[i];
  int space = 0, dtype = 0, role;
  if (!json_is_object(j))
    return nsr_json_expected(p->in, "", "an object", j);
  NSR_TRY(nsr_json_choice(p->in, j, "space", NSR_JSON_REQUIRED,
                          "dram, sbuf or psum", nsr_space_parse, &space));
  NSR_TRY(nsr_json_choice(p->in, j, "dtype", NSR_JSON_REQUIRED, "a dtype",
                          nsr_dtype_parse, &dtype));
  NSR_TRY(nsr_json_bool(p->in, j, "acc", &o->acc));
  if (o->acc && !desc->acc)
    return nsr_json_fail(p->in, "%sacc: %s does not accumulate", p->in->where,
                         desc->name);
  o->role = (uint8_t)(o->acc ? nsr_role_accumulating(desc->role) : desc->role);
  role = o->role;
  NSR_TRY(nsr_json_choice(p->in, j, "role", NSR_JSON_OPTIONAL,
                          "one of r w rw mr mw mrw", nsr_role_parse, &role));
  if (role != o->role)
    return nsr_json_expected(p->in, "role",
                             nsr_role_name((enum nsr_role)o->role),
                             json_object_get(j, "role"));
  o->space = (uint8_t)space;
  o->dtype = (uint8_t)dtype;
  NSR_TRY(place(p, j, o));
  NSR_TRY(dims(p, j, desc, o));
  return tensor(p, j, i);
}

static enum nsr_status operands(struct parse *p) {
  int n = p->insn.desc->noperands;
  char what[32];
  json_t *list;
  NSR_TRY(nsr_json_array(p->in, p->j, "operands", &list));
  snprintf(what, sizeof what, "%d operands", n);
  if (json_array_size(list) != (size_t)n)
    return nsr_json_expected(p->in, "operands", what, list);
  for (int i = 0; i < n; i++) {
    size_t mark = nsr_json_enter(p->in, "operands", i);
    NSR_TRY(operand(p, json_array_get(list, (size_t)i), i));
    nsr_json_leave(p->in, mark);
  }
  return NSR_OK;
}

/* ---- arguments */

static enum nsr_status f32(struct parse *p, const char *key, const json_t *v,
                           int64_t *out) {
  const char *text = json_string_value(v);
  double number = json_number_value(v);
  uint32_t bits = 0;
  bool good = json_is_number(v);
  if (text && nsr_f32_parse_bits(text, strlen(text), &bits)) {
    *out = bits;
    return NSR_OK;
  }
  if (text) {
    good = true;
    if (strcmp(text, "nan") == 0)
      number = NAN;
    else if (strcmp(text, "inf") == 0)
      number = INFINITY;
    else if (strcmp(text, "-inf") == 0)
      number = -INFINITY;
    else
      good = false;
  }
  bits = nsr_f32_bits(number);
  if (!text && isinf(nsr_f32_value(bits)))
    good = false;
  *out = bits;
  return good ? NSR_OK
              : nsr_json_expected(p->in, key,
                                  "a 32-bit float (or \"nan\", \"inf\", "
                                  "\"-inf\", \"0fXXXXXXXX\")",
                                  v);
}

static enum nsr_status argument(struct parse *p, const json_t *v, int i) {
  const struct nsr_arg_desc *arg = &p->insn.desc->args[i];
  int64_t *out = &p->insn.args[i];
  const char *name = json_string_value(v);
  if (arg->kind == NSR_ARG_F32)
    return f32(p, arg->name, v, out);
  if (arg->kind == NSR_ARG_INT && json_is_integer(v)) {
    *out = json_integer_value(v);
    return NSR_OK;
  }
  if (arg->kind == NSR_ARG_INT)
    return nsr_json_expected(p->in, arg->name, "an integer", v);
  *out = name ? nsr_arg_parse(arg, name, strlen(name)) : -1;
  return *out < 0
             ? nsr_json_expected(p->in, arg->name, "a name of this argument", v)
             : NSR_OK;
}

/* Where a meaning puts an argument beside "args", NULL: nowhere. */
static const json_t *beside(const struct parse *p, int i, size_t *step) {
  const struct nsr_insn_desc *desc = p->insn.desc;
  if (desc->meaning != NSR_MEANING_FILL && desc->meaning != NSR_MEANING_IOTA)
    return NULL;
  if (desc->meaning == NSR_MEANING_IOTA &&
      strncmp(desc->args[i].name, "step", 4) == 0)
    return json_array_get(json_object_get(p->j, "steps"), (*step)++);
  return nsr_json_get(p->j, desc->args[i].name);
}

static enum nsr_status arguments(struct parse *p) {
  const struct nsr_insn_desc *desc = p->insn.desc;
  uint32_t seen = 0;
  size_t step = 0;
  json_t *args;
  NSR_TRY(nsr_json_object(p->in, p->j, "args", &args));
  for (int i = 0; i < desc->nargs; i++) {
    const json_t *v = nsr_json_get(args, desc->args[i].name);
    const json_t *other = beside(p, i, &step);
    if (v && other && !json_equal(v, other))
      return nsr_json_fail(p->in,
                           "args.%s: differs from what stands beside "
                           "args",
                           desc->args[i].name);
    v = v ? v : other;
    if (v)
      NSR_TRY(argument(p, v, i));
    seen |= (uint32_t)(v != NULL) << i;
  }
  const char *missing = nsr_args_complete(&p->insn, seen);
  return missing ? nsr_json_expected(p->in, "args", missing, NULL) : NSR_OK;
}

/* ---- the rest */

static enum nsr_status queue(struct parse *p) {
  struct nsr_build *b = &p->in->b;
  const char *name = NULL, *engine = p->in->isa->engines[p->engine];
  enum nsr_class cls = p->insn.desc->cls;
  NSR_TRY(nsr_json_string(
      p->in, p->j, "channel",
      p->insn.desc->queue ? NSR_JSON_REQUIRED : NSR_JSON_OPTIONAL, &name));
  const json_t *found = json_object_get(p->j, "channel");
  if (p->insn.desc->queue) {
    uint32_t q = nsr_queue_by_name(b->queues.v, (uint32_t)b->queues.n, name,
                                   strlen(name));
    p->insn.queue = (int8_t)q;
    return q == NSR_NONE ? nsr_json_expected(p->in, "channel",
                                             "a queue of the first line", found)
                         : NSR_OK;
  }
  bool piped = cls == NSR_DATAPATH || cls == NSR_LOAD;
  if (name && (!piped || strcmp(name, engine) != 0))
    return nsr_json_expected(p->in, "channel", piped ? engine : "null", found);
  return NSR_OK;
}

static enum nsr_status value_reg(struct parse *p) {
  json_t *list;
  const char *name = NULL;
  int64_t v;
  NSR_TRY(nsr_json_array(p->in, p->j, "regs", &list));
  const json_t *entry = json_array_get(list, 0);
  if (!json_is_object(entry))
    return nsr_json_expected(p->in, "regs", "[{\"name\":\"value\",\"reg\":N}]",
                             list);
  size_t mark = nsr_json_enter(p->in, "regs", 0);
  NSR_TRY(nsr_json_string(p->in, entry, "name", NSR_JSON_REQUIRED, &name));
  if (strcmp(name, "value") != 0)
    return nsr_json_expected(p->in, "name", "\"value\"",
                             json_object_get(entry, "name"));
  NSR_TRY(reg(p, entry, "reg", &v));
  nsr_json_leave(p->in, mark);
  p->insn.value_reg = (int16_t)v;
  return NSR_OK;
}

static enum nsr_status branch_target(struct parse *p) {
  int64_t target;
  bool recorded;
  NSR_TRY(nsr_json_int(p->in, p->j, "target", NSR_JSON_REQUIRED, 0,
                       NSR_MAX_STREAM, &target));
  NSR_TRY(nsr_json_bool(p->in, p->j, "reloc", &recorded));
  if (!nsr_displacement(target, p->stream->n, &p->insn.displacement))
    return nsr_json_fail(p->in, "target: %lld is too far away",
                         (long long)target);
  return recorded ? reloc(p, NSR_RELOC_BRANCH, 0, (uint32_t)target) : NSR_OK;
}

static enum nsr_status jump_targets(struct parse *p) {
  json_t *list;
  int64_t v;
  NSR_TRY(nsr_json_array(p->in, p->j, "targets", &list));
  for (size_t i = 0; i < json_array_size(list); i++) {
    NSR_TRY(nsr_json_item(p->in, list, "targets", i, 0, NSR_MAX_STREAM, &v));
    NSR_TRY(reloc(p, NSR_RELOC_BRANCH, 0, (uint32_t)v));
  }
  return NSR_OK;
}

static enum nsr_status class_keys(struct parse *p) {
  struct nsr_insn *insn = &p->insn;
  const struct nsr_takes *takes = &p->takes;
  int64_t id;
  NSR_TRY(queue(p));
  if (takes->dst)
    NSR_TRY(reg16(p, "dst", &insn->dst));
  if (takes->cond)
    NSR_TRY(reg16(p, "cond", &insn->cond));
  if (insn->desc->noperands)
    NSR_TRY(operands(p));
  if (takes->value_reg)
    NSR_TRY(value_reg(p));
  if (takes->a)
    NSR_TRY(val(p, p->j, "a", &insn->a));
  if (takes->b)
    NSR_TRY(val(p, p->j, "b", &insn->b));
  if (takes->target)
    NSR_TRY(branch_target(p));
  if (takes->targets)
    NSR_TRY(jump_targets(p));
  if (takes->id) {
    NSR_TRY(nsr_json_int(p->in, p->j, "id", NSR_JSON_REQUIRED, INT32_MIN,
                         INT32_MAX, &id));
    insn->id = (int32_t)id;
  }
  return arguments(p);
}

/* The instruction's description, and whether it can stand here. */
static enum nsr_status describe(struct parse *p) {
  struct nsr_json_in *in = p->in;
  const char *op = NULL, *cls = NULL;
  int cc = NSR_CC_ALWAYS;
  NSR_TRY(nsr_json_string(in, p->j, "op", NSR_JSON_REQUIRED, &op));
  const struct nsr_insn_desc *desc = nsr_isa_mnemonic(in->isa, op, strlen(op));
  if (!desc)
    return nsr_json_expected(in, "op", "an instruction",
                             json_object_get(p->j, "op"));
  if (!(desc->engines >> p->engine & 1))
    return nsr_json_fail(in, "op: %s is no instruction of %s", desc->mnemonic,
                         in->isa->engines[p->engine]);
  NSR_TRY(nsr_json_string(in, p->j, "class", NSR_JSON_OPTIONAL, &cls));
  if (cls && strcmp(cls, nsr_class_name(desc->cls)) != 0)
    return nsr_json_expected(in, "class", nsr_class_name(desc->cls),
                             json_object_get(p->j, "class"));
  if (desc->cls == NSR_CONTROL && desc->ctl == NSR_CTL_BR)
    NSR_TRY(nsr_json_choice(in, p->j, "cc", NSR_JSON_REQUIRED,
                            "one of always eq ne lt le gt ge", nsr_cc_parse,
                            &cc));
  nsr_insn_init(desc, &p->insn);
  p->insn.cc = (uint8_t)cc;
  p->takes = nsr_insn_takes(desc, (enum nsr_cc)cc);
  return NSR_OK;
}

static enum nsr_status source(struct parse *p, struct nsr_line *line) {
  struct nsr_json_in *in = p->in;
  json_t *j;
  const char *name = NULL;
  int64_t number, index = -1;
  NSR_TRY(nsr_json_object(in, p->j, "source", &j));
  if (!j)
    return NSR_OK;
  size_t mark = nsr_json_enter(in, "source", -1);
  NSR_TRY(nsr_json_name(in, "file", json_object_get(j, "file"), &name));
  NSR_TRY(
      nsr_json_int(in, j, "line", NSR_JSON_REQUIRED, 1, UINT32_MAX, &number));
  NSR_TRY(
      nsr_json_int(in, j, "index", NSR_JSON_OPTIONAL, 0, UINT32_MAX, &index));
  if (index >= (int64_t)in->b.files.n)
    return nsr_json_expected(in, "index", "an index into \"files\"",
                             json_object_get(j, "index"));
  nsr_json_leave(in, mark);
  if (index >= 0)
    line->file = (uint32_t)index;
  else
    NSR_TRY(nsr_build_file(&in->b, name, strlen(name), &line->file));
  line->line = (uint32_t)number;
  return NSR_OK;
}

static enum nsr_status encode(struct parse *p, uint8_t *word) {
  char why[256];
  if (nsr_encode(p->in->isa, &p->insn, word, why, sizeof why))
    return NSR_OK;
  return nsr_json_fail(p->in, "%s: %s", p->insn.desc->mnemonic, why);
}

static enum nsr_status labels(struct parse *p) {
  json_t *list, *v;
  size_t i;
  NSR_TRY(nsr_json_array(p->in, p->j, "labels", &list));
  json_array_foreach(list, i, v)
      NSR_TRY(nsr_json_label(p->in, p->engine, "labels", v));
  return NSR_OK;
}

static enum nsr_status read_insn(struct parse *p) {
  struct nsr_line line = {0};
  uint8_t word[NSR_MAX_WORD];
  NSR_TRY(describe(p));
  NSR_TRY(labels(p));
  NSR_TRY(source(p, &line));
  NSR_TRY(wait(p));
  NSR_TRY(update(p));
  NSR_TRY(class_keys(p));
  NSR_TRY(encode(p, word));
  return nsr_build_word(&p->in->b, p->engine, word, line);
}

enum nsr_status nsr_json_insn(struct nsr_json_in *in, const json_t *j) {
  struct parse p = {.in = in, .j = j};
  int64_t index;
  NSR_TRY(nsr_json_stream(in, j, &p.engine));
  uint32_t expect = in->index[p.engine]++;
  index = expect;
  p.stream = &in->b.streams[p.engine];
  if (p.stream->n == NSR_MAX_STREAM)
    return nsr_json_fail(in, "expected at most %d instructions in a stream",
                         NSR_MAX_STREAM);
  NSR_TRY(
      nsr_json_int(in, j, "index", NSR_JSON_OPTIONAL, expect, expect, &index));
  size_t nrelocs = p.stream->relocs.n;
  enum nsr_status status = read_insn(&p);
  if (status != NSR_OK)
    p.stream->relocs.n = nrelocs;
  return status;
}
