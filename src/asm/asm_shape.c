/* asm_shape.c - what an instruction takes, names and small conversions. */
#include "asm/asm_shape.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "asm/asm_quote.h"

struct nsr_takes nsr_insn_takes(const struct nsr_insn_desc *desc,
                                enum nsr_cc cc) {
  enum nsr_ctl ctl = desc->cls == NSR_CONTROL ? desc->ctl : NSR_CTL_NONE;
  bool computes = ctl >= NSR_CTL_MOV && ctl <= NSR_CTL_SEL;
  bool compares = ctl == NSR_CTL_BR && cc != NSR_CC_ALWAYS;
  return (struct nsr_takes){
      .dst = desc->cls == NSR_LOAD || computes,
      .cond = ctl == NSR_CTL_SEL,
      .value_reg = desc->sem == NSR_SEM_STORE,
      .a = computes || compares || ctl == NSR_CTL_JUMP,
      .b = (computes && ctl != NSR_CTL_MOV) || compares,
      .target = ctl == NSR_CTL_BR,
      .targets = ctl == NSR_CTL_JUMP,
      .id = desc->cls == NSR_BARRIER,
      .element = desc->cls == NSR_LOAD || desc->sem == NSR_SEM_STORE,
  };
}

static const char *const tensor_roles[] = {"input", "output", "scratch"};

const char *nsr_tensor_role_name(enum nsr_tensor_role role) {
  return tensor_roles[role];
}

static bool same(const char *name, const char *s, size_t n) {
  return strlen(name) == n && memcmp(name, s, n) == 0;
}

int nsr_tensor_role_parse(const char *s, size_t n) {
  for (int i = 0; i <= NSR_TENSOR_SCRATCH; i++)
    if (same(tensor_roles[i], s, n))
      return i;
  return -1;
}

uint64_t nsr_tensor_bytes(const struct nsr_tensor *t) {
  uint64_t bytes = nsr_dtype_bytes((enum nsr_dtype)t->dtype);
  for (int i = t->space == NSR_DRAM ? 0 : 1; i < t->nshape; i++)
    if (__builtin_mul_overflow(bytes, (uint64_t)t->shape[i], &bytes))
      return UINT64_MAX;
  return bytes;
}

int nsr_arg_parse(const struct nsr_arg_desc *arg, const char *s, size_t n) {
  for (int i = 0; arg->names[i]; i++)
    if (same(arg->names[i], s, n))
      return i;
  return -1;
}

const char *nsr_args_complete(struct nsr_insn *insn, uint32_t seen) {
  const struct nsr_insn_desc *desc = insn->desc;
  bool none = false; /* the argument before is a `none` */
  for (int i = 0; i < desc->nargs; i++) {
    const struct nsr_arg_desc *arg = &desc->args[i];
    bool given = seen >> i & 1, was_none = none;
    int at = arg->kind == NSR_ARG_ENUM ? nsr_arg_parse(arg, "none", 4) : -1;
    none = at >= 0 && (!given || insn->args[i] == at);
    if (given)
      continue;
    if (arg->kind == NSR_ARG_ENUM ? at < 0
                                  : arg->kind == NSR_ARG_F32 && !was_none)
      return arg->name;
    insn->args[i] = at >= 0 ? at : 0;
  }
  return NULL;
}

uint32_t nsr_f32_bits(double v) {
  if (isnan(v))
    return UINT32_C(0x7fc00000);
  float f = (float)v;
  uint32_t bits;
  memcpy(&bits, &f, sizeof bits);
  return bits;
}

double nsr_f32_value(uint32_t bits) {
  float f;
  memcpy(&f, &bits, sizeof f);
  return (double)f;
}

void nsr_f32_format(uint32_t bits, char out[NSR_F32_TEXT]) {
  double v = nsr_f32_value(bits);
  if (isinf(v)) {
    strcpy(out, v < 0 ? "-inf" : "inf");
  } else if (isnan(v)) {
    if (bits == nsr_f32_bits(NAN))
      strcpy(out, "nan");
    else
      snprintf(out, NSR_F32_TEXT, "0f%08x", bits);
  } else {
    /* 7 digits read better and often suffice, 9 always do */
    snprintf(out, NSR_F32_TEXT - 2, "%.7g", v);
    if (nsr_f32_bits(strtod(out, NULL)) != bits)
      snprintf(out, NSR_F32_TEXT - 2, "%.9g", v);
    if (!strpbrk(out, ".e"))
      strcat(out, ".0");
  }
}

bool nsr_f32_parse_bits(const char *s, size_t n, uint32_t *bits) {
  if (n != 10 || s[0] != '0' || s[1] != 'f')
    return false;
  *bits = 0;
  for (size_t i = 2; i < n; i++) {
    int digit = nsr_hex_digit(s[i]);
    if (digit < 0)
      return false;
    *bits = *bits << 4 | (uint32_t)digit;
  }
  return true;
}

uint32_t nsr_queue_by_name(const struct nsr_queue *queues, uint32_t n,
                           const char *name, size_t len) {
  for (uint32_t i = 0; i < n; i++)
    if (same(queues[i].name, name, len))
      return i;
  return NSR_NONE;
}

bool nsr_displacement(int64_t target, uint32_t insn, int32_t *displacement) {
  int64_t d = target - (int64_t)insn;
  if (target < 0 || target > UINT32_MAX || d < INT32_MIN || d > INT32_MAX)
    return false;
  *displacement = (int32_t)d;
  return true;
}
