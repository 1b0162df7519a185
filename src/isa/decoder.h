/* decoder.h - a word to an instruction, for one codec.
 *
 * Inlined into a function for each instruction of the generated tables: there
 * the codec is a constant, so fields become shifts and masks, and what cannot
 * fail is not asked. Includes nothing that a table does not.
 */
#ifndef NSR_ISA_DECODER_H
#define NSR_ISA_DECODER_H

#include "isa/word.h"

#include <stddef.h>
#include <string.h>

/* Under sanitizers compilers take minutes over so much in one function. */
#ifdef __SANITIZE_ADDRESS__
#define NSR_UNROLLED static inline
#else
#define NSR_UNROLLED static inline __attribute__((always_inline))
#endif

/* The first enumerator a field can hold. */
NSR_UNROLLED uint8_t first_of(const struct nsr_field *f) {
  return f->map ? f->map[0] : 0;
}

NSR_UNROLLED void init_operand(const struct nsr_operand_desc *desc,
                               const struct nsr_shape *shape,
                               struct nsr_operand *o) {
  memset(o, 0, sizeof *o);
  o->role = (uint8_t)desc->role;
  o->indexed_by = desc->indexed_by;
  o->reg = NSR_NO_REG;
  o->space = first_of(&shape->space);
  o->dtype = first_of(&shape->dtype);
  o->nparts = shape->nparts.width ? 0 : 1; /* without the field: one */
}

NSR_UNROLLED int16_t first_reg(const struct nsr_field *f) {
  return f->width ? 0 : NSR_NO_REG;
}

/* An instruction of this kind with nothing set; operands that it does not have
 * are left as they are. */
NSR_UNROLLED void nsr_insn_clear(const struct nsr_insn_desc *desc,
                                 const struct nsr_codec *c,
                                 struct nsr_insn *insn) {
  /* in two: for more at once compilers take a slow string instruction */
  memset(insn, 0, offsetof(struct nsr_insn, args));
  memset(insn->args, 0, sizeof insn->args);
  insn->desc = desc;
  insn->noperands = desc->noperands;
  insn->queue = desc->queue ? 0 : -1;
  insn->cc = first_of(&c->cc);
  insn->dst = first_reg(&c->dst);
  insn->cond = first_reg(&c->cond);
  insn->value_reg = first_reg(&c->value_reg);
#pragma GCC unroll 4
  for (int i = 0; i < NSR_MAX_OPERANDS; i++)
    if (i < desc->noperands)
      init_operand(&desc->operands[i], c->operands[i].shape,
                   &insn->operands[i]);
}

/* What can be wrong with a word whose opcode is known; the text is in
 * decode.c. Noted as a set, so that nothing branches on it. */
enum nsr_wrong {
  WRONG_REGISTER,             /* no such register */
  WRONG_ABSENT_WAIT,          /* no wait, but its bits are set */
  WRONG_NOT_BY_ONE,           /* increment or decrement by other than 1 */
  WRONG_ABSENT_UPDATE,        /* no update, but its bits are set */
  WRONG_ABSENT_DIMENSION,     /* bits of an absent dimension are set */
  WRONG_ABSENT_REGISTER,      /* no offset register, but its bits are set */
  WRONG_ABSENT_ACCUMULATION,  /* accumulation where there is none */
  WRONG_OTHER_SPACE,          /* partition in DRAM, or a row step on chip */
  WRONG_ALWAYS_WITH_OPERANDS, /* branch taken always, but with operands */
  WRONG_IS_REGISTER,          /* bad register flag */
  WRONG_VALUE,                /* bad value */
  WRONG_WAIT_CMP,             /* no such comparison in the wait */
  WRONG_WAIT_SEM,             /* no such semaphore in the wait */
  WRONG_UPDATE_OP,            /* no such update operation */
  WRONG_UPDATE_SEM,           /* no such semaphore in the update */
  WRONG_UPDATE_VALUE,         /* bad update value */
  WRONG_EARLY,                /* bad early bit */
  WRONG_STEP,                 /* bad step */
  WRONG_COUNT,                /* bad count */
  WRONG_COUNT_IS_REGISTER,    /* bad count flag */
  WRONG_SPACE,                /* no such space */
  WRONG_DTYPE,                /* no such element type */
  WRONG_ACC,                  /* bad accumulation flag */
  WRONG_PART,                 /* bad partition */
  WRONG_NPARTS,               /* bad partitions */
  WRONG_PSTEP,                /* bad row step */
  WRONG_OFFSET,               /* bad offset */
  WRONG_NDIMS,                /* too many dimensions */
  WRONG_CC,                   /* no such condition */
  WRONG_TARGET,               /* bad branch target */
  WRONG_QUEUE,                /* no such queue */
  WRONG_ID,                   /* bad barrier id */
  WRONG_ARGUMENT,             /* no such value of an argument */
};
/* The first one of a set that is not empty. */
const char *nsr_wrong_text(uint64_t set);

struct reader {
  unsigned registers, bytes; /* of the instruction set */
  const uint8_t *word;
  uint64_t wrong; /* a set of enum nsr_wrong */
};

/* Bits 64*i and on, zero behind the word. */
NSR_UNROLLED uint64_t lane(const uint8_t *word, unsigned bytes, unsigned i) {
  uint64_t v = 0;
  if (8 * i + 8 <= bytes)
    return nsr_bits_lane(word + 8 * i);
  for (unsigned b = 8 * i; b < bytes; b++)
    v |= (uint64_t)word[b] << b % 8 * 8;
  return v;
}

NSR_UNROLLED uint64_t raw_at(const uint8_t *word, unsigned bytes, unsigned lo,
                             unsigned width) {
  unsigned shift = lo % 64;
  uint64_t v = lane(word, bytes, lo / 64) >> shift;
  if (shift + width > 64)
    v |= lane(word, bytes, lo / 64 + 1) << (64 - shift);
  return v & nsr_bits_ones(width);
}

/* Notes what is wrong, if it is. */
NSR_UNROLLED void check(struct reader *r, bool wrong, enum nsr_wrong what) {
  r->wrong |= (uint64_t)wrong << what;
}

/* The field's value, or 0 and what is wrong noted. */
NSR_UNROLLED int64_t get_at(struct reader *r, const struct nsr_field *f,
                            unsigned at, enum nsr_wrong what) {
  if (f->width == 0)
    return 0;
  uint64_t raw = raw_at(r->word, r->bytes, f->lo + at, f->width);
  check(r, raw > f->max, what);
  raw = raw > f->max ? 0 : raw;
  return f->map ? f->map[raw] : nsr_bits_extend(raw, f->width, f->is_signed);
}

NSR_UNROLLED int64_t get(struct reader *r, const struct nsr_field *f,
                         enum nsr_wrong what) {
  return get_at(r, f, 0, what);
}

NSR_UNROLLED int16_t get_reg(struct reader *r, const struct nsr_field *f) {
  if (f->width == 0)
    return NSR_NO_REG;
  return (int16_t)get(r, f, WRONG_REGISTER);
}

NSR_UNROLLED struct nsr_val get_val(struct reader *r,
                                    const struct nsr_val_field *f) {
  struct nsr_val val = {.is_reg = get(r, &f->is_reg, WRONG_IS_REGISTER) != 0,
                        .v = (int32_t)get(r, &f->v, WRONG_VALUE)};
  check(r, val.is_reg & ((uint32_t)val.v >= r->registers), WRONG_REGISTER);
  return val;
}

NSR_UNROLLED int val_is_zero(const struct nsr_val *val) {
  return !val->is_reg & (val->v == 0);
}

NSR_UNROLLED void get_wait(struct reader *r, const struct nsr_codec *c,
                           struct nsr_wait *wait) {
  wait->cmp = (uint8_t)get(r, &c->wait_cmp, WRONG_WAIT_CMP);
  wait->sem = (uint16_t)get(r, &c->wait_sem, WRONG_WAIT_SEM);
  wait->value = get_val(r, &c->wait_value);
  check(r,
        (wait->cmp == NSR_CMP_NONE) &
            ((wait->sem != 0) | !val_is_zero(&wait->value)),
        WRONG_ABSENT_WAIT);
}

NSR_UNROLLED void get_update(struct reader *r, const struct nsr_codec *c,
                             struct nsr_insn *insn) {
  struct nsr_update *u = &insn->update;
  u->op = (uint8_t)get(r, &c->update_op, WRONG_UPDATE_OP);
  u->sem = (uint16_t)get(r, &c->update_sem, WRONG_UPDATE_SEM);
  u->value = (int32_t)get(r, &c->update_value, WRONG_UPDATE_VALUE);
  insn->early_update = get(r, &c->update_early, WRONG_EARLY) != 0;
  bool one = (u->op == NSR_UPD_INC) | (u->op == NSR_UPD_DEC);
  if (c->update_value.width == 0)
    u->value = one;
  check(r, one & (u->value != 1), WRONG_NOT_BY_ONE);
  check(r,
        (u->op == NSR_UPD_NONE) &
            ((u->sem != 0) | (u->value != 0) | insn->early_update),
        WRONG_ABSENT_UPDATE);
}

NSR_UNROLLED void get_dims(struct reader *r, const struct nsr_placed_shape *p,
                           struct nsr_operand *o) {
  const struct nsr_shape *s = p->shape;
#pragma GCC unroll 3
  for (int i = 0; i < NSR_MAX_DIMS; i++) {
    if (s->dims[i].count.width == 0)
      break;
    struct nsr_dim *dim = &o->dims[i];
    dim->step = (int32_t)get_at(r, &s->dims[i].step, p->at, WRONG_STEP);
    dim->count = (int32_t)get_at(r, &s->dims[i].count, p->at, WRONG_COUNT);
    dim->count_is_reg = get_at(r, &s->dims[i].count_is_reg, p->at,
                               WRONG_COUNT_IS_REGISTER) != 0;
    check(r,
          (i >= o->ndims) &
              ((dim->step != 0) | (dim->count != 0) | dim->count_is_reg),
          WRONG_ABSENT_DIMENSION);
    check(r, dim->count_is_reg & (dim->count >= (int)r->registers),
          WRONG_REGISTER);
  }
}

NSR_UNROLLED void get_operand_reg(struct reader *r,
                                  const struct nsr_placed_shape *p,
                                  struct nsr_operand *o) {
  bool has = get_at(r, &p->shape->has_reg, p->at, WRONG_IS_REGISTER) != 0;
  int64_t reg = get_at(r, &p->shape->reg, p->at, WRONG_REGISTER);
  check(r, !has & (reg != 0), WRONG_ABSENT_REGISTER);
  o->reg = has ? (int16_t)reg : NSR_NO_REG;
}

NSR_UNROLLED void get_operand(struct reader *r,
                              const struct nsr_operand_desc *desc,
                              const struct nsr_placed_shape *p,
                              struct nsr_operand *o) {
  const struct nsr_shape *s = p->shape;
  o->space = (uint8_t)get_at(r, &s->space, p->at, WRONG_SPACE);
  o->dtype = (uint8_t)get_at(r, &s->dtype, p->at, WRONG_DTYPE);
  o->acc = get_at(r, &s->acc, p->at, WRONG_ACC) != 0;
  o->part = (uint16_t)get_at(r, &s->part, p->at, WRONG_PART);
  if (s->nparts.width)
    o->nparts = (uint16_t)get_at(r, &s->nparts, p->at, WRONG_NPARTS);
  o->pstep = (int32_t)get_at(r, &s->pstep, p->at, WRONG_PSTEP);
  o->offset = get_at(r, &s->offset, p->at, WRONG_OFFSET);
  o->ndims = (uint8_t)get_at(r, &s->ndims, p->at, WRONG_NDIMS);
  get_operand_reg(r, p, o);
  get_dims(r, p, o);
  check(r, o->acc & (!desc->acc | (o->space != NSR_PSUM)),
        WRONG_ABSENT_ACCUMULATION);
  if (o->acc)
    o->role = nsr_role_accumulating(desc->role);
  bool dram = o->space == NSR_DRAM;
  check(r, (dram & (o->part != 0)) | (!dram & (o->pstep != 0)),
        WRONG_OTHER_SPACE);
}

NSR_UNROLLED void get_control(struct reader *r,
                              const struct nsr_insn_desc *desc,
                              const struct nsr_codec *c,
                              struct nsr_insn *insn) {
  insn->cc = (uint8_t)get(r, &c->cc, WRONG_CC);
  insn->dst = get_reg(r, &c->dst);
  insn->cond = get_reg(r, &c->cond);
  insn->a = get_val(r, &c->a);
  insn->b = get_val(r, &c->b);
  insn->displacement = (int32_t)get(r, &c->target, WRONG_TARGET);
  check(r,
        (desc->ctl == NSR_CTL_BR) & (insn->cc == NSR_CC_ALWAYS) &
            !(val_is_zero(&insn->a) & val_is_zero(&insn->b)),
        WRONG_ALWAYS_WITH_OPERANDS);
}

/* The fields only instructions of one class have. */
NSR_UNROLLED void get_class(struct reader *r, const struct nsr_insn_desc *desc,
                            const struct nsr_codec *c, struct nsr_insn *insn) {
  switch (desc->cls) {
  case NSR_DATAPATH:
    insn->value_reg = get_reg(r, &c->value_reg);
    if (desc->queue)
      insn->queue = (int8_t)get(r, &c->queue, WRONG_QUEUE);
    break;
  case NSR_LOAD:
    insn->dst = get_reg(r, &c->dst);
    break;
  case NSR_CONTROL:
    get_control(r, desc, c, insn);
    break;
  case NSR_BARRIER:
    insn->id = (int32_t)get(r, &c->id, WRONG_ID);
    break;
  }
}

NSR_UNROLLED void get_all(struct reader *r, struct nsr_insn *insn,
                          const struct nsr_insn_desc *desc,
                          const struct nsr_codec *c) {
  if (desc->has_wait)
    get_wait(r, c, &insn->wait);
  if (desc->has_update)
    get_update(r, c, insn);
  get_class(r, desc, c, insn);
#pragma GCC unroll 4
  for (int i = 0; i < NSR_MAX_OPERANDS; i++)
    if (i < desc->noperands)
      get_operand(r, &desc->operands[i], &c->operands[i], &insn->operands[i]);
#pragma GCC unroll 8
  for (int i = 0; i < NSR_MAX_ARGS; i++)
    if (i < desc->nargs)
      insn->args[i] = get(r, &c->args[i], WRONG_ARGUMENT);
}

/* Bits with only one legal value. */
NSR_UNROLLED bool fixed_bits_hold(const struct nsr_codec *c,
                                  const uint8_t *word, unsigned bytes) {
  uint64_t wrong = 0;
#pragma GCC unroll 8
  for (unsigned i = 0; i < NSR_MAX_WORD / 8; i++)
    if (c->mask[i])
      wrong |= (lane(word, bytes, i) & c->mask[i]) ^ c->value[i];
  return wrong == 0;
}

/* The instruction desc, whose codec is c, out of a word; NULL, or the first
 * reason against it. */
NSR_UNROLLED const char *nsr_decode_as(const struct nsr_insn_desc *desc,
                                       const struct nsr_codec *c,
                                       unsigned registers, unsigned bytes,
                                       const uint8_t *word,
                                       struct nsr_insn *insn) {
  struct reader r = {.registers = registers, .bytes = bytes, .word = word};
  if (!fixed_bits_hold(c, word, bytes))
    return "reserved bits are set";
  nsr_insn_clear(desc, c, insn);
  get_all(&r, insn, desc, c);
  return r.wrong ? nsr_wrong_text(r.wrong) : NULL;
}

/* What decodes the words with one opcode, and the engines that have them. */
struct nsr_decoder {
  const char *(*decode)(const uint8_t *word, struct nsr_insn *insn);
  uint32_t engines;
};

/* A word of an engine's stream, by its opcode: bits lo..lo+width-1. */
NSR_UNROLLED const char *nsr_decode_any(const struct nsr_decoder *decoders,
                                        uint32_t n, unsigned lo, unsigned width,
                                        unsigned bytes, int engine,
                                        const uint8_t *word,
                                        struct nsr_insn *insn) {
  uint64_t opcode = raw_at(word, bytes, lo, width);
  if (opcode >= n || !decoders[opcode].engines)
    return "illegal opcode";
  if (!(decoders[opcode].engines >> engine & 1))
    return "this engine has no such instruction";
  return decoders[opcode].decode(word, insn);
}

#endif
