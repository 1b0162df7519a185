/* insn_format.c - one instruction as assembly text: what asm_insn.c and
 * asm_operand.c read back as the same word and relocations.
 */
#include "asm/insn_format.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <nsr/text.h>

#include "asm/asm_quote.h"
#include "asm/asm_shape.h"

/* ---- text */

void nsr_out_printf(struct nsr_out *o, const char *fmt, ...) {
  va_list ap;
  bool room = o->n < o->size;
  va_start(ap, fmt);
  int n =
      vsnprintf(room ? o->s + o->n : NULL, room ? o->size - o->n : 0, fmt, ap);
  va_end(ap);
  o->n += n > 0 ? (size_t)n : 0;
}

static void put(struct nsr_out *o, const char *s, size_t n) {
  nsr_out_printf(o, "%.*s", (int)n, s);
}

static void quote(struct nsr_out *o, const char *s) {
  put(o, "\"", 1);
  for (; *s; s++) {
    if (*s == '"' || *s == '\\')
      nsr_out_printf(o, "\\%c", *s);
    else if ((uint8_t)*s < 0x20 || *s == 0x7f)
      nsr_out_printf(o, "\\x%02x", (unsigned)*s);
    else
      put(o, s, 1);
  }
  put(o, "\"", 1);
}

void nsr_out_name(struct nsr_out *o, const char *name, bool quoted) {
  if (quoted || !nsr_name_is_plain(name))
    quote(o, name);
  else
    put(o, name, strlen(name));
}

/* ---- one instruction */

/* Items are separated by commas, the first by a blank. */
struct items {
  struct nsr_out *o;
  bool any;
};

static struct nsr_out *item(struct items *it) {
  nsr_out_printf(it->o, it->any ? ", " : " ");
  it->any = true;
  return it->o;
}

static void val(struct nsr_out *o, const struct nsr_val *v) {
  nsr_out_printf(o, v->is_reg ? "r%" PRId32 : "%" PRId32, v->v);
}

static void queue(struct nsr_out *o, const struct nsr_kernel *k, int q) {
  const char *name =
      q >= 0 && (uint32_t)q < k->nqueues ? k->queues[q].name : "";
  if (*name && nsr_queue_by_name(k->queues, k->nqueues, name, strlen(name)) ==
                   (uint32_t)q)
    nsr_out_name(o, name, false);
  else
    nsr_out_printf(o, "@%d", q);
}

/* A label at an instruction, or its index. */
static void target(struct nsr_out *o, const struct nsr_stream *s,
                   int64_t insn) {
  uint32_t lo = 0, hi = s->nlabels;
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (s->labels[mid].insn < insn)
      lo = mid + 1;
    else
      hi = mid;
  }
  if (lo < s->nlabels && s->labels[lo].insn == insn)
    nsr_out_name(o, s->labels[lo].name, false);
  else
    nsr_out_printf(o, "@%" PRId64, insn);
}

/* ---- operands */

static void offset(struct nsr_out *o, const struct nsr_operand *op,
                   const struct nsr_tensor *t) {
  int64_t from = t ? (int64_t)t->offset : 0;
  if (op->offset > from)
    nsr_out_printf(o, "+%" PRId64, op->offset - from);
  else if (op->offset < from)
    nsr_out_printf(o, "-%" PRId64, from - op->offset);
  if (op->reg != NSR_NO_REG)
    nsr_out_printf(o, "+r%d", op->reg);
}

static void partitions(struct nsr_out *o, const struct nsr_operand *op,
                       const struct nsr_tensor *t, bool element) {
  if (op->space == NSR_DRAM) {
    if (op->nparts != 1 || op->pstep)
      nsr_out_printf(o, "{%u*%" PRId32 "}", op->nparts, op->pstep);
    return;
  }
  unsigned whole = element ? 1 : t ? t->nparts : 0;
  int from = t ? t->part : 0;
  if (op->part != from || op->nparts != whole || (!t && !element))
    nsr_out_printf(o, "{%d:%u}", op->part - from, op->nparts);
}

static void dims(struct nsr_out *o, const struct nsr_operand *op) {
  for (int i = 0; i < op->ndims; i++) {
    const struct nsr_dim *d = &op->dims[i];
    nsr_out_printf(o,
                   d->count_is_reg ? "%sr%" PRId32 "*%" PRId32
                                   : "%s%" PRId32 "*%" PRId32,
                   i ? ", " : "[", d->count, d->step);
  }
  if (op->ndims)
    nsr_out_printf(o, "]");
}

static void operand(struct nsr_out *o, const struct nsr_operand *op,
                    const struct nsr_tensor *t, bool element) {
  const char *space = nsr_space_name((enum nsr_space)op->space);
  if (t) /* a tensor called like a space needs its quotes */
    nsr_out_name(o, t->name, nsr_space_parse(t->name, strlen(t->name)) >= 0);
  else
    nsr_out_printf(o, "%s", space);
  offset(o, op, t);
  partitions(o, op, t, element);
  dims(o, op);
  if (!t || t->dtype != op->dtype)
    nsr_out_printf(o, ":%s", nsr_dtype_name((enum nsr_dtype)op->dtype));
  if (op->acc)
    nsr_out_printf(o, " !acc");
}

static const struct nsr_tensor *tensor_of(const struct nsr_kernel *k,
                                          const struct nsr_stream *s,
                                          uint32_t i, int op,
                                          const struct nsr_insn *insn) {
  uint32_t t = nsr_operand_tensor(s, i, op);
  if (t >= k->ntensors || k->tensors[t].space != insn->operands[op].space)
    return NULL;
  return &k->tensors[t];
}

/* ---- what follows */

static void arguments(struct nsr_out *o, const struct nsr_insn *insn) {
  for (int i = 0; i < insn->desc->nargs; i++) {
    const struct nsr_arg_desc *arg = &insn->desc->args[i];
    char text[NSR_F32_TEXT];
    nsr_out_printf(o, " %s=", arg->name);
    if (arg->kind == NSR_ARG_ENUM) {
      nsr_out_printf(o, "%s", arg->names[insn->args[i]]);
    } else if (arg->kind == NSR_ARG_F32) {
      nsr_f32_format((uint32_t)insn->args[i], text);
      nsr_out_printf(o, "%s", text);
    } else {
      nsr_out_printf(o, "%" PRId64, insn->args[i]);
    }
  }
}

static void wait(struct nsr_out *o, const struct nsr_wait *w) {
  if (w->cmp == NSR_CMP_NONE)
    return;
  nsr_out_printf(o, " ?s%u%s", w->sem, nsr_cmp_name((enum nsr_cmp)w->cmp));
  val(o, &w->value);
}

static void update(struct nsr_out *o, const struct nsr_insn *insn) {
  static const char *const how[] = {
      [NSR_UPD_ADD] = "+=", [NSR_UPD_SUB] = "-=", [NSR_UPD_SET] = "="};
  const struct nsr_update *u = &insn->update;
  if (u->op != NSR_UPD_NONE)
    nsr_out_printf(o, " ^s%u", u->sem);
  if (u->op == NSR_UPD_DEC)
    nsr_out_printf(o, "--");
  else if (u->op >= NSR_UPD_ADD)
    nsr_out_printf(o, "%s%" PRId32, how[u->op], u->value);
  if (insn->early_update)
    nsr_out_printf(o, " !early");
}

/* Targets recorded for a computed jump; whether a branch is recorded. */
static bool branch_relocs(struct items *it, const struct nsr_stream *s,
                          uint32_t i, bool list) {
  uint32_t n;
  const struct nsr_reloc *r = nsr_stream_relocs(s, i, &n);
  bool any = false;
  for (uint32_t j = 0; j < n; j++) {
    if (r[j].kind != NSR_RELOC_BRANCH)
      continue;
    any = true;
    if (list)
      target(item(it), s, r[j].target);
  }
  return any;
}

static void body(struct nsr_out *o, const struct nsr_kernel *k,
                 const struct nsr_stream *s, uint32_t i,
                 const struct nsr_insn *insn) {
  struct nsr_takes takes = nsr_insn_takes(insn->desc, (enum nsr_cc)insn->cc);
  struct items it = {o, false};
  bool reloc = false;
  if (insn->desc->queue)
    queue(item(&it), k, insn->queue);
  if (takes.dst)
    nsr_out_printf(item(&it), "r%d", insn->dst);
  if (takes.cond)
    nsr_out_printf(item(&it), "r%d", insn->cond);
  for (int op = 0; op < insn->noperands; op++)
    operand(item(&it), &insn->operands[op], tensor_of(k, s, i, op, insn),
            takes.element);
  if (takes.value_reg)
    nsr_out_printf(item(&it), "r%d", insn->value_reg);
  if (takes.a)
    val(item(&it), &insn->a);
  if (takes.b)
    val(item(&it), &insn->b);
  if (takes.target)
    target(item(&it), s, (int64_t)i + insn->displacement);
  if (takes.target || takes.targets)
    reloc = branch_relocs(&it, s, i, takes.targets);
  if (takes.id)
    nsr_out_printf(item(&it), "%" PRId32, insn->id);
  arguments(o, insn);
  wait(o, &insn->wait);
  update(o, insn);
  if (reloc && takes.target)
    nsr_out_printf(o, " !reloc");
}

void nsr_out_insn(struct nsr_out *o, const struct nsr_kernel *k,
                  const struct nsr_stream *s, uint32_t i) {
  const uint8_t *word = nsr_stream_word(k, s, i);
  struct nsr_insn insn;
  if (nsr_decode(k->isa, s->engine, word, &insn)) {
    nsr_out_printf(o, ".word \"");
    for (int b = 0; b < k->isa->word; b++)
      nsr_out_printf(o, "%02x", word[b]);
    nsr_out_printf(o, "\"");
    return;
  }
  nsr_out_printf(o, "%s", insn.desc->mnemonic);
  if (insn.desc->cls == NSR_CONTROL && insn.desc->ctl == NSR_CTL_BR &&
      insn.cc != NSR_CC_ALWAYS)
    nsr_out_printf(o, ".%s", nsr_cc_name((enum nsr_cc)insn.cc));
  body(o, k, s, i, &insn);
}

size_t nsr_insn_format(const struct nsr_kernel *k, const struct nsr_stream *s,
                       uint32_t i, char *out, size_t size) {
  struct nsr_out o = {out, size, 0};
  if (size)
    out[0] = 0;
  nsr_out_insn(&o, k, s, i);
  return o.n;
}
