/* encode.c - an instruction to a word, and patches of words.
 *
 * Needs a value (nsr_insn_init, then its members set); makes the word, or says
 * which member does not fit and why. Refuses whatever decode would not give
 * back: members that do not apply must be as nsr_insn_init leaves them.
 */
#include "isa/word.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct writer {
  const struct nsr_isa *isa;
  struct nsr_bits bits;
  char *why; /* the first reason; may be NULL if size is 0 */
  size_t size;
  bool failed;
};

/* Whose member a complaint is about: "offset of dst". */
struct what {
  const char *member, *owner;
};

NSR_PRINTF(3, 4)
static void complain(struct writer *w, struct what what, const char *fmt, ...) {
  if (w->failed)
    return;
  w->failed = true;
  char text[160];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  if (w->size)
    snprintf(w->why, w->size, "%s%s%s: %s", what.member,
             what.owner ? " of " : "", what.owner ? what.owner : "", text);
}

static void put_mapped(struct writer *w, const struct nsr_field *f, unsigned at,
                       int64_t value, struct what what) {
  for (unsigned raw = 0; raw < f->nmap; raw++)
    if (f->map[raw] == value) {
      nsr_bits_put(&w->bits, f->lo + at, f->width, raw);
      return;
    }
  complain(w, what, "%" PRId64 " is not one of its values", value);
}

static void put_number(struct writer *w, const struct nsr_field *f, unsigned at,
                       int64_t value, struct what what) {
  int64_t hi = f->is_signed ? (int64_t)(f->max >> 1) : (int64_t)f->max;
  int64_t lo = f->is_signed ? -hi - 1 : 0;
  if (value < lo || value > hi)
    complain(w, what, "%" PRId64 " is not in %" PRId64 "..%" PRId64, value, lo,
             hi);
  else
    nsr_bits_put(&w->bits, f->lo + at, f->width,
                 (uint64_t)value & nsr_bits_ones(f->width));
}

/* A field that is not there holds `absent` and nothing else. */
static void put_at(struct writer *w, const struct nsr_field *f, unsigned at,
                   int64_t value, int64_t absent, struct what what) {
  if (f->width == 0) {
    if (value != absent)
      complain(w, what, "must be %" PRId64 " here, not %" PRId64, absent,
               value);
  } else if (f->map) {
    put_mapped(w, f, at, value, what);
  } else {
    put_number(w, f, at, value, what);
  }
}

static void put(struct writer *w, const struct nsr_field *f, int64_t value,
                int64_t absent, const char *member, const char *owner) {
  put_at(w, f, 0, value, absent, (struct what){member, owner});
}

static void put_val(struct writer *w, const struct nsr_val_field *f,
                    const struct nsr_val *val, const char *member,
                    const char *owner) {
  if (val->is_reg && (val->v < 0 || val->v >= w->isa->registers))
    complain(w, (struct what){member, owner}, "there is no register r%" PRId32,
             val->v);
  put(w, &f->is_reg, val->is_reg, 0, member, owner);
  put(w, &f->v, val->v, 0, member, owner);
}

static bool val_is_zero(const struct nsr_val *val) {
  return !val->is_reg && val->v == 0;
}

static void put_wait(struct writer *w, const struct nsr_codec *c,
                     const struct nsr_wait *wait) {
  if (wait->cmp == NSR_CMP_NONE && (wait->sem || !val_is_zero(&wait->value)))
    complain(w, (struct what){"wait", NULL}, "absent, but not all zero");
  put(w, &c->wait_cmp, wait->cmp, NSR_CMP_NONE, "comparison", "the wait");
  put(w, &c->wait_sem, wait->sem, 0, "semaphore", "the wait");
  put_val(w, &c->wait_value, &wait->value, "value", "the wait");
}

static void put_update(struct writer *w, const struct nsr_codec *c,
                       const struct nsr_update *u, bool early) {
  struct what what = {"update", NULL};
  bool one = u->op == NSR_UPD_INC || u->op == NSR_UPD_DEC;
  if (u->op == NSR_UPD_NONE && (u->sem || u->value || early))
    complain(w, what, "absent, but not all zero");
  if (one && u->value != 1)
    complain(w, what, "increments and decrements are by 1, not %" PRId32,
             u->value);
  put(w, &c->update_op, u->op, NSR_UPD_NONE, "operation", "the update");
  put(w, &c->update_sem, u->sem, 0, "semaphore", "the update");
  put(w, &c->update_value, u->value, one ? 1 : 0, "value", "the update");
  put(w, &c->update_early, early, 0, "early bit", "the update");
}

static void put_dim(struct writer *w, const struct nsr_placed_shape *p, int i,
                    const struct nsr_dim *dim, const char *owner) {
  const struct nsr_shape *s = p->shape;
  if (dim->count_is_reg && (dim->count < 0 || dim->count >= w->isa->registers))
    complain(w, (struct what){"count", owner}, "there is no register r%" PRId32,
             dim->count);
  put_at(w, &s->dims[i].step, p->at, dim->step, 0,
         (struct what){"step", owner});
  put_at(w, &s->dims[i].count, p->at, dim->count, 0,
         (struct what){"count", owner});
  put_at(w, &s->dims[i].count_is_reg, p->at, dim->count_is_reg, 0,
         (struct what){"count in a register", owner});
}

static void put_dims(struct writer *w, const struct nsr_placed_shape *p,
                     const struct nsr_operand *o, const char *owner) {
  put_at(w, &p->shape->ndims, p->at, o->ndims, 0,
         (struct what){"number of dimensions", owner});
  for (int i = 0; i < NSR_MAX_DIMS; i++) {
    const struct nsr_dim *dim = &o->dims[i];
    if (i >= o->ndims && (dim->step || dim->count || dim->count_is_reg))
      complain(w, (struct what){"dimension", owner}, "absent, but not zero");
    put_dim(w, p, i, dim, owner);
  }
}

/* What fields cannot say about an operand. */
static void check_operand(struct writer *w, const struct nsr_operand_desc *desc,
                          const struct nsr_operand *o) {
  const char *owner = desc->name;
  enum nsr_role role = o->acc ? nsr_role_accumulating(desc->role) : desc->role;
  if (o->role != role)
    complain(w, (struct what){"role", owner}, "must be %s, not %s",
             nsr_role_name(role), nsr_role_name(o->role));
  if (o->indexed_by != desc->indexed_by)
    complain(w, (struct what){"index operand", owner}, "must be %d, not %d",
             desc->indexed_by, o->indexed_by);
  if (o->acc && (!desc->acc || o->space != NSR_PSUM))
    complain(w, (struct what){"accumulation", owner}, "there is none");
  if (o->space == NSR_DRAM && o->part != 0)
    complain(w, (struct what){"partition", owner}, "must be 0 in DRAM, not %d",
             o->part);
  if (o->space != NSR_DRAM && o->pstep != 0)
    complain(w, (struct what){"row step", owner},
             "must be 0 on chip, not %" PRId32, o->pstep);
}

static void put_operand(struct writer *w, const struct nsr_operand_desc *desc,
                        const struct nsr_placed_shape *p,
                        const struct nsr_operand *o) {
  const struct nsr_shape *s = p->shape;
  const char *owner = desc->name;
  bool has_reg = o->reg != NSR_NO_REG;
  check_operand(w, desc, o);
  put_at(w, &s->space, p->at, o->space, 0, (struct what){"space", owner});
  put_at(w, &s->dtype, p->at, o->dtype, 0, (struct what){"dtype", owner});
  put_at(w, &s->acc, p->at, o->acc, 0, (struct what){"accumulation", owner});
  put_at(w, &s->part, p->at, o->part, 0, (struct what){"partition", owner});
  put_at(w, &s->nparts, p->at, o->nparts, 1,
         (struct what){"number of partitions", owner});
  put_at(w, &s->pstep, p->at, o->pstep, 0, (struct what){"row step", owner});
  put_at(w, &s->offset, p->at, o->offset, 0, (struct what){"offset", owner});
  put_at(w, &s->has_reg, p->at, has_reg, 0, (struct what){"register", owner});
  put_at(w, &s->reg, p->at, has_reg ? o->reg : 0, 0,
         (struct what){"register", owner});
  put_dims(w, p, o, owner);
}

static void put_control(struct writer *w, const struct nsr_codec *c,
                        const struct nsr_insn *insn) {
  if (insn->desc->ctl == NSR_CTL_BR && insn->cc == NSR_CC_ALWAYS &&
      (!val_is_zero(&insn->a) || !val_is_zero(&insn->b)))
    complain(w, (struct what){"branch", NULL}, "taken always, but operands");
  put(w, &c->queue, insn->queue, -1, "queue", NULL);
  put(w, &c->cc, insn->cc, NSR_CC_ALWAYS, "condition", NULL);
  put(w, &c->dst, insn->dst, NSR_NO_REG, "destination register", NULL);
  put(w, &c->cond, insn->cond, NSR_NO_REG, "condition register", NULL);
  put(w, &c->value_reg, insn->value_reg, NSR_NO_REG, "value register", NULL);
  put_val(w, &c->a, &insn->a, "a", NULL);
  put_val(w, &c->b, &insn->b, "b", NULL);
  put(w, &c->target, insn->displacement, 0, "branch displacement", NULL);
  put(w, &c->id, insn->id, 0, "barrier id", NULL);
}

static void put_all(struct writer *w, const struct nsr_insn *insn) {
  const struct nsr_insn_desc *desc = insn->desc;
  const struct nsr_codec *c = desc->codec;
  memcpy(w->bits.lane, c->value, sizeof c->value);
  put_wait(w, c, &insn->wait);
  put_update(w, c, &insn->update, insn->early_update);
  put_control(w, c, insn);
  if (insn->noperands != desc->noperands)
    complain(w, (struct what){"operands", desc->mnemonic}, "must be %d, not %d",
             desc->noperands, insn->noperands);
  for (int i = 0; i < desc->noperands; i++)
    put_operand(w, &desc->operands[i], &c->operands[i], &insn->operands[i]);
  for (int i = 0; i < desc->nargs; i++)
    put(w, &c->args[i], insn->args[i], 0, desc->args[i].name, NULL);
}

bool nsr_encode(const struct nsr_isa *isa, const struct nsr_insn *insn,
                uint8_t *word, char *why, size_t size) {
  struct writer w = {.isa = isa, .why = why, .size = size};
  put_all(&w, insn);
  if (!w.failed)
    nsr_bits_store(&w.bits, word, isa->word);
  return !w.failed;
}

/* A patch: the word as it is, and the fields to change in it. */
static const struct nsr_insn_desc *
patch_begin(struct writer *w, const struct nsr_isa *isa, const uint8_t *word) {
  *w = (struct writer){.isa = isa};
  nsr_bits_load(&w->bits, word, isa->word);
  return nsr_word_desc(isa, &w->bits);
}

static bool patch_end(const struct writer *w, uint8_t *word) {
  if (!w->failed)
    nsr_bits_store(&w->bits, word, w->isa->word);
  return !w->failed;
}

bool nsr_word_set_wait(const struct nsr_isa *isa, uint8_t *word,
                       const struct nsr_wait *wait) {
  struct writer w;
  const struct nsr_insn_desc *desc = patch_begin(&w, isa, word);
  if (!desc)
    return false;
  put_wait(&w, desc->codec, wait);
  return patch_end(&w, word);
}

bool nsr_word_set_update(const struct nsr_isa *isa, uint8_t *word,
                         const struct nsr_update *update) {
  struct writer w;
  const struct nsr_insn_desc *desc = patch_begin(&w, isa, word);
  if (!desc)
    return false;
  const struct nsr_field *f = &desc->codec->update_early;
  bool early = f->width && nsr_bits_get(&w.bits, f->lo, f->width);
  put_update(&w, desc->codec, update, early && update->op != NSR_UPD_NONE);
  return patch_end(&w, word);
}

bool nsr_word_set_displacement(const struct nsr_isa *isa, uint8_t *word,
                               int32_t d) {
  struct writer w;
  const struct nsr_insn_desc *desc = patch_begin(&w, isa, word);
  if (!desc || desc->ctl != NSR_CTL_BR)
    return false;
  put(&w, &desc->codec->target, d, 0, "branch displacement", NULL);
  return patch_end(&w, word);
}
