/* names.c - the vocabulary: enumerators and their names in assembly, JSON and
 * instruction set descriptions, once. isagen links this file too, and no
 * other of the library.
 */
#include <nsr/isa.h>

#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* Each list in the order of its enum in isa.h. */
static const char *const spaces[] = {"dram", "sbuf", "psum"};
static const char *const dtypes[] = {"f32", "bf16", "f16", "fp8",
                                     "i32", "i16",  "i8",  "u8"};
static const char *const roles[] = {"r", "w", "rw", "mr", "mw", "mrw"};
static const char *const cmps[] = {"none", ">=", "==", ">", "<=", "<"};
static const char *const upds[] = {"none", "inc", "dec", "add", "sub", "set"};
static const char *const ccs[] = {"always", "eq", "ne", "lt", "le", "gt", "ge"};
static const char *const orders[] = {"hidden", "none", "full"};
static const char *const classes[] = {"datapath", "load", "control", "barrier"};
static const char *const meanings[] = {"none", "nop",  "copy",
                                       "fill", "iota", "opaque"};
static const char *const ctls[] = {
    "none", "mov", "add", "sub", "mul", "and",  "or",   "xor",
    "shl",  "shr", "rem", "min", "max", "gt",   "ge",   "lt",
    "le",   "eq",  "ne",  "sel", "br",  "wait", "jump", "halt"};
static const char *const sems[] = {
    "none",
    "nop",
    "copy",
    "fill",
    "iota",
    "store",
    "load",
    "tensor-tensor",
    "tensor-scalar",
    "tensor-rowscalar",
    "tensor-reduce",
    "activation",
    "activation-rowbias",
    "activation-sum",
    "activation-rowbias-sum",
    "cast",
    "copy-predicated",
    "fill-predicated",
    "select",
    "scan",
    "affine-select",
    "max8",
    "gather",
    "accumulate",
    "gather-rows",
    "scatter-rows",
    "scatter-accumulate",
    "load-stationary",
    "matmul",
    "transpose",
};

_Static_assert(COUNT(spaces) == NSR_PSUM + 1, "order of enum nsr_space");
_Static_assert(COUNT(dtypes) == NSR_U8 + 1, "order of enum nsr_dtype");
_Static_assert(COUNT(roles) == NSR_MRW + 1, "order of enum nsr_role");
_Static_assert(COUNT(cmps) == NSR_CMP_LT + 1, "order of enum nsr_cmp");
_Static_assert(COUNT(upds) == NSR_UPD_SET + 1, "order of enum nsr_upd");
_Static_assert(COUNT(ccs) == NSR_CC_GE + 1, "order of enum nsr_cc");
_Static_assert(COUNT(orders) == NSR_ORDER_FULL + 1, "order of enum nsr_order");
_Static_assert(COUNT(classes) == NSR_BARRIER + 1, "order of enum nsr_class");
_Static_assert(COUNT(meanings) == NSR_MEANING_OPAQUE + 1,
               "order of enum nsr_meaning");
_Static_assert(COUNT(ctls) == NSR_CTL_HALT + 1, "order of enum nsr_ctl");
_Static_assert(COUNT(sems) == NSR_SEM_TRANSPOSE + 1, "order of enum nsr_sem");

static const char *name_of(const char *const *list, size_t n, unsigned i) {
  return i < n ? list[i] : "?";
}

static int find(const char *const *list, size_t count, const char *s,
                size_t n) {
  for (size_t i = 0; i < count; i++)
    if (strlen(list[i]) == n && memcmp(list[i], s, n) == 0)
      return (int)i;
  return -1;
}

#define NAMES(what, list)                                                      \
  const char *nsr_##what##_name(enum nsr_##what v) {                           \
    return name_of(list, COUNT(list), (unsigned)v);                            \
  }                                                                            \
  int nsr_##what##_parse(const char *s, size_t n) {                            \
    return find(list, COUNT(list), s, n);                                      \
  }

NAMES(space, spaces)
NAMES(dtype, dtypes)
NAMES(role, roles)
NAMES(cmp, cmps)
NAMES(upd, upds)
NAMES(cc, ccs)
NAMES(order, orders)
NAMES(class, classes)
NAMES(meaning, meanings)
NAMES(ctl, ctls)
NAMES(sem, sems)

uint8_t nsr_dtype_bytes(enum nsr_dtype d) {
  static const uint8_t bytes[] = {4, 2, 2, 1, 4, 2, 1, 1};
  return (unsigned)d < COUNT(bytes) ? bytes[d] : 0;
}
