/* decode.c - a word to an instruction.
 *
 * Needs a word and the engine whose stream it lies in; makes the value, or the
 * first reason against it. Accepts a word only where encode gives exactly the
 * same bits back: whatever is absent must be zero.
 */
#include "isa/word.h"

#include <assert.h>

struct reader {
  const struct nsr_isa *isa;
  struct nsr_bits bits;
  const char *error; /* the first one */
};

static void complain(struct reader *r, const char *error) {
  if (!r->error)
    r->error = error;
}

/* The field's value, or 0 and a complaint. */
static inline int64_t get_at(struct reader *r, const struct nsr_field *f,
                             unsigned at, const char *error) {
  if (f->width == 0)
    return 0;
  uint64_t raw = nsr_bits_get(&r->bits, f->lo + at, f->width);
  if (raw > f->max) {
    complain(r, error);
    return 0;
  }
  return f->map ? f->map[raw] : nsr_bits_extend(raw, f->width, f->is_signed);
}

static int64_t get(struct reader *r, const struct nsr_field *f,
                   const char *error) {
  return get_at(r, f, 0, error);
}

static int16_t get_reg(struct reader *r, const struct nsr_field *f) {
  if (f->width == 0)
    return NSR_NO_REG;
  return (int16_t)get(r, f, "no such register");
}

static struct nsr_val get_val(struct reader *r, const struct nsr_val_field *f) {
  struct nsr_val val = {.is_reg = get(r, &f->is_reg, "bad register flag") != 0,
                        .v = (int32_t)get(r, &f->v, "bad value")};
  if (val.is_reg && (val.v < 0 || val.v >= r->isa->registers))
    complain(r, "no such register");
  return val;
}

static bool val_is_zero(const struct nsr_val *val) {
  return !val->is_reg && val->v == 0;
}

static void get_wait(struct reader *r, const struct nsr_codec *c,
                     struct nsr_wait *wait) {
  wait->cmp = (uint8_t)get(r, &c->wait_cmp, "no such comparison in the wait");
  wait->sem = (uint16_t)get(r, &c->wait_sem, "no such semaphore in the wait");
  wait->value = get_val(r, &c->wait_value);
  if (wait->cmp == NSR_CMP_NONE && (wait->sem || !val_is_zero(&wait->value)))
    complain(r, "no wait, but its bits are set");
}

static void get_update(struct reader *r, const struct nsr_codec *c,
                       struct nsr_insn *insn) {
  struct nsr_update *u = &insn->update;
  u->op = (uint8_t)get(r, &c->update_op, "no such update operation");
  u->sem = (uint16_t)get(r, &c->update_sem, "no such semaphore in the update");
  u->value = (int32_t)get(r, &c->update_value, "bad update value");
  insn->early_update = get(r, &c->update_early, "bad early bit") != 0;
  bool one = u->op == NSR_UPD_INC || u->op == NSR_UPD_DEC;
  if (one && c->update_value.width == 0)
    u->value = 1;
  if (one && u->value != 1)
    complain(r, "increment or decrement by other than 1");
  if (u->op == NSR_UPD_NONE && (u->sem || u->value || insn->early_update))
    complain(r, "no update, but its bits are set");
}

static void get_dims(struct reader *r, const struct nsr_placed_shape *p,
                     struct nsr_operand *o) {
  const struct nsr_shape *s = p->shape;
  for (int i = 0; i < NSR_MAX_DIMS && s->dims[i].count.width; i++) {
    struct nsr_dim *dim = &o->dims[i];
    dim->step = (int32_t)get_at(r, &s->dims[i].step, p->at, "bad step");
    dim->count = (int32_t)get_at(r, &s->dims[i].count, p->at, "bad count");
    dim->count_is_reg =
        get_at(r, &s->dims[i].count_is_reg, p->at, "bad count flag") != 0;
    if (i >= o->ndims && (dim->step || dim->count || dim->count_is_reg))
      complain(r, "bits of an absent dimension are set");
    if (dim->count_is_reg && dim->count >= r->isa->registers)
      complain(r, "no such register");
  }
}

static void get_operand_reg(struct reader *r, const struct nsr_placed_shape *p,
                            struct nsr_operand *o) {
  bool has = get_at(r, &p->shape->has_reg, p->at, "bad register flag") != 0;
  int64_t reg = get_at(r, &p->shape->reg, p->at, "no such register");
  if (!has && reg)
    complain(r, "no offset register, but its bits are set");
  o->reg = has ? (int16_t)reg : NSR_NO_REG;
}

static void get_operand(struct reader *r, const struct nsr_operand_desc *desc,
                        const struct nsr_placed_shape *p,
                        struct nsr_operand *o) {
  const struct nsr_shape *s = p->shape;
  o->space = (uint8_t)get_at(r, &s->space, p->at, "no such space");
  o->dtype = (uint8_t)get_at(r, &s->dtype, p->at, "no such element type");
  o->acc = get_at(r, &s->acc, p->at, "bad accumulation flag") != 0;
  o->part = (uint16_t)get_at(r, &s->part, p->at, "bad partition");
  if (s->nparts.width)
    o->nparts = (uint16_t)get_at(r, &s->nparts, p->at, "bad partitions");
  o->pstep = (int32_t)get_at(r, &s->pstep, p->at, "bad row step");
  o->offset = get_at(r, &s->offset, p->at, "bad offset");
  o->ndims = (uint8_t)get_at(r, &s->ndims, p->at, "too many dimensions");
  get_operand_reg(r, p, o);
  get_dims(r, p, o);
  if (o->acc && (!desc->acc || o->space != NSR_PSUM))
    complain(r, "accumulation where there is none");
  if (o->acc)
    o->role = nsr_role_accumulating(desc->role);
  if (o->space == NSR_DRAM ? o->part != 0 : o->pstep != 0)
    complain(r, "partition in DRAM, or a row step on chip");
}

static void get_control(struct reader *r, const struct nsr_codec *c,
                        struct nsr_insn *insn) {
  insn->cc = (uint8_t)get(r, &c->cc, "no such condition");
  insn->dst = get_reg(r, &c->dst);
  insn->cond = get_reg(r, &c->cond);
  insn->a = get_val(r, &c->a);
  insn->b = get_val(r, &c->b);
  insn->displacement = (int32_t)get(r, &c->target, "bad branch target");
  if (insn->desc->ctl == NSR_CTL_BR && insn->cc == NSR_CC_ALWAYS &&
      (!val_is_zero(&insn->a) || !val_is_zero(&insn->b)))
    complain(r, "branch taken always, but with operands");
}

/* The fields only instructions of one class have. */
static void get_class(struct reader *r, const struct nsr_codec *c,
                      struct nsr_insn *insn) {
  switch (insn->desc->cls) {
  case NSR_DATAPATH:
    insn->value_reg = get_reg(r, &c->value_reg);
    if (insn->desc->queue)
      insn->queue = (int8_t)get(r, &c->queue, "no such queue");
    break;
  case NSR_LOAD:
    insn->dst = get_reg(r, &c->dst);
    break;
  case NSR_CONTROL:
    get_control(r, c, insn);
    break;
  case NSR_BARRIER:
    insn->id = (int32_t)get(r, &c->id, "bad barrier id");
    break;
  }
}

static const char *get_all(struct reader *r, struct nsr_insn *insn) {
  const struct nsr_insn_desc *desc = insn->desc;
  const struct nsr_codec *c = desc->codec;
  if (desc->has_wait)
    get_wait(r, c, &insn->wait);
  if (desc->has_update)
    get_update(r, c, insn);
  get_class(r, c, insn);
  for (int i = 0; i < desc->noperands; i++)
    get_operand(r, &desc->operands[i], &c->operands[i], &insn->operands[i]);
  for (int i = 0; i < desc->nargs; i++)
    insn->args[i] = get(r, &c->args[i], "no such value of an argument");
  return r->error;
}

/* Bits with only one legal value. */
static bool fixed_bits_hold(const struct nsr_codec *c,
                            const struct nsr_bits *bits) {
  uint64_t wrong = 0;
  for (unsigned i = 0; i < NSR_MAX_WORD / 8; i++)
    wrong |= (bits->lane[i] & c->mask[i]) ^ c->value[i];
  return wrong == 0;
}

const struct nsr_insn_desc *nsr_word_desc(const struct nsr_isa *isa,
                                          const struct nsr_bits *bits) {
  const struct nsr_codec *any = isa->insns[0].codec;
  uint64_t opcode = nsr_bits_get(bits, any->opcode_lo, any->opcode_width);
  if (opcode >= isa->nopcodes || isa->by_opcode[opcode] == 0)
    return NULL;
  return &isa->insns[isa->by_opcode[opcode] - 1];
}

const char *nsr_decode(const struct nsr_isa *isa, int engine,
                       const uint8_t *word, struct nsr_insn *insn) {
  assert(engine >= 0 && engine < isa->nengines);
  struct reader r = {.isa = isa};
  nsr_bits_load(&r.bits, word, isa->word);
  const struct nsr_insn_desc *desc = nsr_word_desc(isa, &r.bits);
  if (!desc)
    return "illegal opcode";
  if (!(desc->engines >> engine & 1))
    return "this engine has no such instruction";
  if (!fixed_bits_hold(desc->codec, &r.bits))
    return "reserved bits are set";
  nsr_insn_init(desc, insn);
  return get_all(&r, insn);
}
