/* asm_operand.c - access patterns:
 *   BASE [+IMM] [+rN] [{PARTITIONS}] [[COUNT*STEP, ..]] [:dtype] [!acc]
 * Whatever is left out comes from the tensor the operand is tied to.
 */
#include <string.h>

#include "asm/asm.h"
#include "isa/word.h"

/* A space by its bare name, or a tensor. */
static enum nsr_status base(struct nsr_asm *a, struct nsr_operand *o,
                            uint32_t *tensor) {
  const char *s;
  size_t n;
  bool quoted;
  nsr_asm_blank(a);
  const char *at = a->p;
  NSR_TRY(nsr_asm_name(a, "a tensor or a space", &s, &n, &quoted));
  *tensor = NSR_NONE;
  int space = quoted ? -1 : nsr_space_parse(s, n);
  if (space >= 0) {
    o->space = (uint8_t)space;
    return NSR_OK;
  }
  *tensor = nsr_map_get(&a->b.tensor_map, s, n);
  if (*tensor == NSR_NONE)
    return nsr_asm_error(a, at, "unknown tensor '%.*s'", (int)n, s);
  o->space = a->b.tensors.v[*tensor].space;
  o->dtype = a->b.tensors.v[*tensor].dtype;
  return NSR_OK;
}

/* + and - terms, one of which may be a register. */
static enum nsr_status offset(struct nsr_asm *a, const struct nsr_tensor *t,
                              struct nsr_operand *o) {
  struct nsr_asm_value sum = {.i = t ? (int64_t)t->offset : 0}, term;
  int32_t reg;
  nsr_asm_blank(a);
  const char *start = a->p;
  while (nsr_asm_at(a, '+') || nsr_asm_at(a, '-')) {
    const char *at = a->p++;
    if (nsr_asm_register(a, &reg)) {
      if (*at == '-' || o->reg != NSR_NO_REG)
        return nsr_asm_error(a, at, "expected one register at most, and added");
      o->reg = (int16_t)(reg > INT16_MAX ? INT16_MAX : reg);
      continue;
    }
    NSR_TRY(nsr_asm_term(a, &term));
    NSR_TRY(nsr_asm_apply(a, at, *at, &sum, &term));
  }
  o->offset = sum.i;
  return nsr_asm_check_int(a, start, "the offset", INT64_MIN, INT64_MAX, &sum);
}

/* {FIRST:COUNT} on chip, relative to the tensor's partitions. */
static enum nsr_status chip_partitions(struct nsr_asm *a,
                                       const struct nsr_tensor *t, bool element,
                                       struct nsr_operand *o) {
  int64_t first, count, from = t ? t->part : 0;
  if (!nsr_asm_accept(a, "{")) {
    if (!t && !element)
      return nsr_asm_expected(a, "{first partition:count}");
    o->part = (uint16_t)from;
    o->nparts = element ? 1 : t->nparts;
    return NSR_OK;
  }
  NSR_TRY(
      nsr_asm_int(a, "the first partition", -from, UINT16_MAX - from, &first));
  NSR_TRY(nsr_asm_expect(a, ":"));
  NSR_TRY(nsr_asm_int(a, "the number of partitions", 0, UINT16_MAX, &count));
  o->part = (uint16_t)(first + from);
  o->nparts = (uint16_t)count;
  return nsr_asm_expect(a, "}");
}

/* {COUNT*STEP} in DRAM. */
static enum nsr_status dram_rows(struct nsr_asm *a, struct nsr_operand *o) {
  int64_t step;
  struct nsr_asm_value count;
  o->nparts = 1;
  if (!nsr_asm_accept(a, "{"))
    return NSR_OK;
  nsr_asm_blank(a);
  const char *at = a->p;
  NSR_TRY(nsr_asm_primary(a, &count));
  NSR_TRY(
      nsr_asm_check_int(a, at, "the number of rows", 0, UINT16_MAX, &count));
  if (!nsr_asm_accept(a, "*"))
    return nsr_asm_expected(a, "'*' and the bytes between rows (a count that "
                               "is an expression goes in parentheses)");
  NSR_TRY(
      nsr_asm_int(a, "the bytes between rows", INT32_MIN, INT32_MAX, &step));
  o->nparts = (uint16_t)count.i;
  o->pstep = (int32_t)step;
  return nsr_asm_expect(a, "}");
}

static enum nsr_status dim(struct nsr_asm *a, struct nsr_dim *d) {
  struct nsr_asm_value count;
  int64_t step;
  nsr_asm_blank(a);
  const char *at = a->p;
  *d = (struct nsr_dim){0};
  if (nsr_asm_register(a, &d->count)) {
    d->count_is_reg = true;
  } else {
    NSR_TRY(nsr_asm_primary(a, &count));
    NSR_TRY(nsr_asm_check_int(a, at, "a count", 0, INT32_MAX, &count));
    d->count = (int32_t)count.i;
  }
  if (!nsr_asm_accept(a, "*"))
    return nsr_asm_expected(a, "'*' and a step in bytes (a count that is an "
                               "expression goes in parentheses)");
  NSR_TRY(nsr_asm_int(a, "a step", INT32_MIN, INT32_MAX, &step));
  d->step = (int32_t)step;
  return NSR_OK;
}

static enum nsr_status dims(struct nsr_asm *a,
                            const struct nsr_operand_desc *desc,
                            struct nsr_operand *o) {
  if (!nsr_asm_accept(a, "[") || nsr_asm_accept(a, "]"))
    return NSR_OK;
  do {
    nsr_asm_blank(a);
    if (o->ndims == desc->maxdims || o->ndims == NSR_MAX_DIMS)
      return nsr_asm_error(a, a->p, "expected at most %u dimensions of %s",
                           desc->maxdims, desc->name);
    NSR_TRY(dim(a, &o->dims[o->ndims]));
    o->ndims++;
  } while (nsr_asm_accept(a, ","));
  return nsr_asm_expect(a, "]");
}

static enum nsr_status dtype(struct nsr_asm *a, bool tied,
                             struct nsr_operand *o) {
  const char *s = NULL;
  size_t n = 0;
  if (!nsr_asm_accept(a, ":"))
    return tied ? NSR_OK : nsr_asm_expected(a, "':' and a dtype");
  nsr_asm_blank(a);
  const char *at = a->p;
  int d = nsr_asm_word(a, &s, &n) ? nsr_dtype_parse(s, n) : -1;
  a->p = d < 0 ? at : a->p;
  o->dtype = (uint8_t)d;
  return d < 0 ? nsr_asm_expected(a, "a dtype (f32 bf16 f16 fp8 i32 i16 i8 u8)")
               : NSR_OK;
}

enum nsr_status nsr_asm_operand(struct nsr_asm *a,
                                const struct nsr_operand_desc *desc,
                                bool element, struct nsr_operand *o,
                                uint32_t *tensor) {
  NSR_TRY(base(a, o, tensor));
  const struct nsr_tensor *t =
      *tensor == NSR_NONE ? NULL : &a->b.tensors.v[*tensor];
  o->reg = NSR_NO_REG;
  o->part = 0;
  o->pstep = 0;
  o->ndims = 0;
  NSR_TRY(offset(a, t, o));
  if (o->space == NSR_DRAM)
    NSR_TRY(dram_rows(a, o));
  else
    NSR_TRY(chip_partitions(a, t, element, o));
  NSR_TRY(dims(a, desc, o));
  NSR_TRY(dtype(a, t != NULL, o));
  nsr_asm_blank(a);
  const char *at = a->p;
  o->acc = nsr_asm_accept(a, "!acc");
  if (o->acc && !desc->acc)
    return nsr_asm_error(a, at, "%s does not accumulate", desc->name);
  if (o->acc)
    o->role = (uint8_t)nsr_role_accumulating(desc->role);
  return NSR_OK;
}
