/* check_insn.c - distrust one instruction: what it names exists, and what it
 * certainly touches lies where it may.
 */
#include <stdarg.h>
#include <stdio.h>

#include "object/check.h"

#define DRAM_END (INT64_C(1) << 62)

struct checking {
  struct nsr_ctx *ctx;
  const struct nsr_kernel *k;
  const struct nsr_stream *s;
  uint32_t i;
  const struct nsr_insn *insn;
  const struct nsr_reloc *relocs;
  uint32_t nrelocs;
};

/* A range of bytes in a range of partitions (DRAM: partition 0). */
struct extent {
  int64_t lo, hi; /* lo..hi-1 */
  uint32_t part, nparts;
};

NSR_PRINTF(3, 4)
static enum nsr_status fail(const struct checking *c, enum nsr_status status,
                            const char *fmt, ...) {
  char what[240];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(what, sizeof what, fmt, ap);
  va_end(ap);
  return nsr_fail(c->ctx, status, nsr_insn_place(c->k, c->s, c->i), "%s: %s",
                  c->insn->desc->mnemonic, what);
}

/* ---- registers, semaphores, queue */

static enum nsr_status check_reg(const struct checking *c, int64_t reg,
                                 const char *what) {
  if (reg < 0 || reg >= c->k->isa->registers)
    return fail(c, NSR_E_FORMAT, "%s: register r%lld, expected r0..r%u", what,
                (long long)reg, c->k->isa->registers - 1);
  return NSR_OK;
}

/* A register that may be absent. */
static enum nsr_status check_optional(const struct checking *c, int16_t reg,
                                      const char *what) {
  return reg == NSR_NO_REG ? NSR_OK : check_reg(c, reg, what);
}

static enum nsr_status check_val(const struct checking *c,
                                 const struct nsr_val *v, const char *what) {
  return v->is_reg ? check_reg(c, v->v, what) : NSR_OK;
}

static enum nsr_status check_sem(const struct checking *c, uint16_t sem,
                                 const char *what) {
  if (sem >= c->k->isa->semaphores)
    return fail(c, NSR_E_FORMAT, "%s: semaphore s%u, expected s0..s%u", what,
                sem, c->k->isa->semaphores - 1);
  return NSR_OK;
}

static enum nsr_status check_registers(const struct checking *c) {
  const struct nsr_insn *insn = c->insn;
  NSR_TRY(check_optional(c, insn->dst, "destination"));
  NSR_TRY(check_optional(c, insn->cond, "condition"));
  NSR_TRY(check_optional(c, insn->value_reg, "value"));
  NSR_TRY(check_val(c, &insn->a, "first operand"));
  return check_val(c, &insn->b, "second operand");
}

static enum nsr_status check_sync(const struct checking *c) {
  const struct nsr_insn *insn = c->insn;
  if (insn->wait.cmp != NSR_CMP_NONE) {
    NSR_TRY(check_sem(c, insn->wait.sem, "wait"));
    NSR_TRY(check_val(c, &insn->wait.value, "wait"));
  }
  if (insn->update.op != NSR_UPD_NONE)
    NSR_TRY(check_sem(c, insn->update.sem, "update"));
  if (insn->early_update)
    return fail(c, NSR_E_REFUSED,
                "its update fires when inputs are read; such kernels are not "
                "handled");
  if (insn->desc->cls == NSR_BARRIER && insn->id < 0)
    return fail(c, NSR_E_FORMAT, "barrier id %d is negative", insn->id);
  return NSR_OK;
}

static enum nsr_status check_queue(const struct checking *c) {
  const struct nsr_kernel *k = c->k;
  int q = c->insn->queue;
  if (!c->insn->desc->queue)
    return NSR_OK;
  if (q < 0 || (uint32_t)q >= k->nqueues)
    return fail(c, NSR_E_FORMAT, "queue %d: the kernel has %u", q, k->nqueues);
  if (k->queues[q].engine != c->s->engine)
    return fail(c, NSR_E_FORMAT, "queue %s is fed by engine %s, not by %s",
                k->queues[q].name, k->isa->engines[k->queues[q].engine],
                k->isa->engines[c->s->engine]);
  return NSR_OK;
}

/* ---- operands */

static bool counts_constant(const struct nsr_operand *o) {
  bool constant = true;
  for (int d = 0; d < o->ndims; d++)
    constant &= !o->dims[d].count_is_reg;
  return constant;
}

/* The number of elements, saturating; counts must be constant. */
static uint64_t elements(const struct nsr_operand *o) {
  uint64_t n = o->nparts;
  for (int d = 0; d < o->ndims; d++)
    if (o->dims[d].count == 0)
      return 0;
  for (int d = 0; d < o->ndims; d++)
    if (__builtin_mul_overflow(n, (uint64_t)o->dims[d].count, &n))
      return UINT64_MAX;
  return n;
}

/* Moves lo or hi by step * (count - 1); false on overflow. */
static bool stretch(struct extent *e, int64_t step, int64_t count) {
  int64_t reach;
  if (__builtin_mul_overflow(step, count - 1, &reach))
    return false;
  int64_t *end = reach < 0 ? &e->lo : &e->hi;
  return !__builtin_add_overflow(*end, reach, end);
}

/* The bytes of a constant operand with at least one element; false where the
 * numbers overflow. */
static bool extent_of(const struct nsr_operand *o, struct extent *e) {
  *e = (struct extent){o->offset, o->offset, o->part, o->nparts};
  bool fits = !__builtin_add_overflow(
      e->hi, (int64_t)nsr_dtype_bytes((enum nsr_dtype)o->dtype), &e->hi);
  for (int d = 0; fits && d < o->ndims; d++)
    fits = stretch(e, o->dims[d].step, o->dims[d].count);
  if (fits && o->space == NSR_DRAM) {
    fits = stretch(e, o->pstep, o->nparts);
    e->part = 0;
    e->nparts = 1;
  }
  return fits;
}

static enum nsr_status check_pattern(const struct checking *c,
                                     const struct nsr_operand *o,
                                     const char *name) {
  for (int d = 0; d < o->ndims; d++) {
    if (o->dims[d].count_is_reg)
      NSR_TRY(check_reg(c, o->dims[d].count, name));
    else if (o->dims[d].count < 0)
      return fail(c, NSR_E_FORMAT, "%s: a count is negative", name);
  }
  NSR_TRY(check_optional(c, o->reg, name));
  if (o->space != NSR_DRAM &&
      (o->nparts == 0 || o->part + o->nparts > c->k->isa->partitions))
    return fail(c, NSR_E_FORMAT,
                "%s: partitions %u + %u, expected at least one within 0..%u",
                name, o->part, o->nparts, c->k->isa->partitions - 1);
  if (o->acc && o->space != NSR_PSUM)
    return fail(c, NSR_E_FORMAT, "%s: it accumulates, but not in psum", name);
  return NSR_OK;
}

static int64_t space_end(const struct nsr_isa *isa, uint8_t space) {
  return space == NSR_DRAM   ? DRAM_END
         : space == NSR_SBUF ? isa->sbuf_bytes
                             : isa->psum_bytes;
}

/* Whatever registers decide, space and partitions are fixed. */
static enum nsr_status check_placement(const struct checking *c,
                                       const struct nsr_operand *o,
                                       const char *name,
                                       const struct nsr_tensor *t) {
  if (o->space != t->space)
    return fail(c, NSR_E_FORMAT, "%s: it is in %s, but its tensor %s in %s",
                name, nsr_space_name((enum nsr_space)o->space), t->name,
                nsr_space_name((enum nsr_space)t->space));
  if (o->space != NSR_DRAM &&
      (o->part < t->part || o->part + o->nparts > t->part + t->nparts))
    return fail(c, NSR_E_FORMAT,
                "%s: partitions %u + %u are not within tensor %s, %u + %u",
                name, o->part, o->nparts, t->name, t->part, t->nparts);
  return NSR_OK;
}

static enum nsr_status check_bytes(const struct checking *c,
                                   const struct nsr_operand *o,
                                   const char *name,
                                   const struct nsr_tensor *t) {
  struct extent e;
  int64_t end = space_end(c->k->isa, o->space);
  if (o->reg != NSR_NO_REG || !counts_constant(o) || elements(o) == 0)
    return NSR_OK;
  if (!extent_of(o, &e) || e.lo < 0 || e.hi > end)
    return fail(c, NSR_E_FORMAT, "%s: it is not within the %lld bytes of %s",
                name, (long long)end, nsr_space_name((enum nsr_space)o->space));
  if (t &&
      (e.lo < (int64_t)t->offset || e.hi > (int64_t)(t->offset + t->bytes)))
    return fail(c, NSR_E_FORMAT,
                "%s: bytes %lld..%lld are not within tensor %s, %lld..%lld",
                name, (long long)e.lo, (long long)e.hi - 1, t->name,
                (long long)t->offset, (long long)(t->offset + t->bytes) - 1);
  return NSR_OK;
}

static enum nsr_status check_operand(const struct checking *c, int i,
                                     uint32_t tensor) {
  const struct nsr_operand *o = &c->insn->operands[i];
  const char *name = c->insn->desc->operands[i].name;
  const struct nsr_tensor *t =
      tensor == NSR_NONE ? NULL : &c->k->tensors[tensor];
  NSR_TRY(check_pattern(c, o, name));
  if (t)
    NSR_TRY(check_placement(c, o, name, t));
  return check_bytes(c, o, name, t);
}

static enum nsr_status check_operands(const struct checking *c) {
  uint32_t tensors[NSR_MAX_OPERANDS];
  const struct nsr_reloc *r = c->relocs;
  for (int i = 0; i < NSR_MAX_OPERANDS; i++)
    tensors[i] = NSR_NONE;
  for (uint32_t j = 0; j < c->nrelocs; j++)
    if (r[j].kind == NSR_RELOC_TENSOR)
      tensors[r[j].operand] = r[j].target;
  for (int i = 0; i < c->insn->noperands; i++)
    NSR_TRY(check_operand(c, i, tensors[i]));
  return NSR_OK;
}

/* ---- what the meaning promises */

/* A load or store moves one element between memory and a register. */
static enum nsr_status check_single(const struct checking *c) {
  const struct nsr_insn_desc *desc = c->insn->desc;
  if (desc->cls != NSR_LOAD && desc->sem != NSR_SEM_STORE)
    return NSR_OK;
  const struct nsr_operand *o = &c->insn->operands[0];
  if (!counts_constant(o) || elements(o) != 1)
    return fail(c, NSR_E_FORMAT, "%s: expected one element",
                desc->operands[0].name);
  return NSR_OK;
}

static const struct nsr_operand *first(const struct nsr_insn *insn,
                                       bool writes) {
  for (int i = 0; i < insn->noperands; i++) {
    enum nsr_role role = (enum nsr_role)insn->operands[i].role;
    if (writes ? nsr_role_writes(role) : nsr_role_reads(role))
      return &insn->operands[i];
  }
  return NULL;
}

/* A copy moves elements of one type, as many as there are. */
static enum nsr_status check_copy(const struct checking *c) {
  if (c->insn->desc->meaning != NSR_MEANING_COPY)
    return NSR_OK;
  const struct nsr_operand *from = first(c->insn, false);
  const struct nsr_operand *to = first(c->insn, true);
  if (!from || !to)
    return NSR_OK;
  if (from->dtype != to->dtype)
    return fail(c, NSR_E_FORMAT, "it copies %s to %s: expected one dtype",
                nsr_dtype_name((enum nsr_dtype)from->dtype),
                nsr_dtype_name((enum nsr_dtype)to->dtype));
  if (counts_constant(from) && counts_constant(to) &&
      elements(from) != elements(to))
    return fail(c, NSR_E_FORMAT, "it copies %llu elements to %llu",
                (unsigned long long)elements(from),
                (unsigned long long)elements(to));
  return NSR_OK;
}

enum nsr_status nsr_check_insn(struct nsr_ctx *ctx, const struct nsr_kernel *k,
                               const struct nsr_stream *s, uint32_t i,
                               const struct nsr_insn *insn,
                               const struct nsr_reloc *relocs,
                               uint32_t nrelocs) {
  struct checking c = {ctx, k, s, i, insn, relocs, nrelocs};
  NSR_TRY(check_registers(&c));
  NSR_TRY(check_sync(&c));
  NSR_TRY(check_queue(&c));
  NSR_TRY(check_operands(&c));
  NSR_TRY(check_single(&c));
  return check_copy(&c);
}
