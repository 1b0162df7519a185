/* asm_tensor.c - .tensor NAME SPACE DTYPE [SHAPE] at PLACE ROLE and what may
 * follow: bytes N, range LO HI, words V, V, .., data "BASE64".
 */
#include <math.h>
#include <string.h>

#include "asm/asm.h"
#include "asm/asm_quote.h"
#include "asm/asm_shape.h"
#include "sim/numeric.h"

/* A word of a fixed list, read by parse. */
static enum nsr_status choice(struct nsr_asm *a, const char *what,
                              int (*parse)(const char *, size_t),
                              uint8_t *out) {
  const char *s = NULL;
  size_t n = 0;
  nsr_asm_blank(a);
  const char *at = a->p;
  int v = nsr_asm_word(a, &s, &n) ? parse(s, n) : -1;
  if (v < 0) {
    a->p = at;
    return nsr_asm_expected(a, what);
  }
  *out = (uint8_t)v;
  return NSR_OK;
}

static enum nsr_status shape(struct nsr_asm *a, struct nsr_tensor *t) {
  int64_t v;
  NSR_TRY(nsr_asm_expect(a, "["));
  if (nsr_asm_accept(a, "]"))
    return NSR_OK;
  do {
    if (t->nshape == NSR_MAX_SHAPE)
      return nsr_asm_error(a, a->p, "expected at most %d dimensions",
                           NSR_MAX_SHAPE);
    NSR_TRY(nsr_asm_int(a, "a dimension", 0, UINT32_MAX, &v));
    t->shape[t->nshape++] = (uint32_t)v;
  } while (nsr_asm_accept(a, ","));
  return nsr_asm_expect(a, "]");
}

static enum nsr_status placement(struct nsr_asm *a, struct nsr_tensor *t) {
  const char *s = NULL;
  size_t n = 0;
  int64_t v;
  nsr_asm_blank(a);
  const char *at = a->p;
  if (!nsr_asm_word(a, &s, &n) || n != 2 || memcmp(s, "at", 2) != 0) {
    a->p = at;
    return nsr_asm_expected(a, "'at' and the tensor's place");
  }
  if (t->space != NSR_DRAM) {
    NSR_TRY(nsr_asm_int(a, "the first partition", 0, UINT16_MAX, &v));
    t->part = (uint16_t)v;
    NSR_TRY(nsr_asm_expect(a, ":"));
    NSR_TRY(nsr_asm_int(a, "the number of partitions", 0, UINT16_MAX, &v));
    t->nparts = (uint16_t)v;
    NSR_TRY(nsr_asm_expect(a, ","));
  }
  NSR_TRY(nsr_asm_int(a, "the offset", 0, INT64_MAX, &v));
  t->offset = (uint64_t)v;
  return NSR_OK;
}

/* ---- initial contents */

static enum nsr_status no_contents_yet(struct nsr_asm *a, const char *at,
                                       const struct nsr_tensor *t) {
  if (t->data)
    return nsr_asm_error(a, at, "initial contents are given twice");
  if (t->space != NSR_DRAM)
    return nsr_asm_error(a, at, "only DRAM tensors have initial contents");
  return NSR_OK;
}

static bool is_float(enum nsr_dtype d) {
  return d == NSR_F32 || d == NSR_BF16 || d == NSR_F16 || d == NSR_FP8;
}

/* One element of the tensor's dtype into p. */
static enum nsr_status element(struct nsr_asm *a, enum nsr_dtype d,
                               uint8_t *p) {
  struct nsr_asm_value v;
  unsigned bits = 8u * nsr_dtype_bytes(d);
  nsr_asm_blank(a);
  const char *at = a->p;
  NSR_TRY(nsr_asm_expr(a, &v));
  if (is_float(d)) {
    double f = v.is_float ? v.f : (double)v.i;
    nsr_element_put(d, p, (float)nsr_f32_value(nsr_f32_bits(f)));
    return NSR_OK;
  }
  int64_t lo = d == NSR_U8 ? 0 : -(INT64_C(1) << (bits - 1));
  int64_t hi = (INT64_C(1) << (d == NSR_U8 ? bits : bits - 1)) - 1;
  NSR_TRY(nsr_asm_check_int(a, at, "an element", lo, hi, &v));
  nsr_element_put_bits(d, p, (int32_t)v.i);
  return NSR_OK;
}

static enum nsr_status words(struct nsr_asm *a, struct nsr_tensor *t) {
  NSR_VEC(uint8_t) data = {0};
  enum nsr_dtype d = (enum nsr_dtype)t->dtype;
  do {
    NSR_RESERVE(a->ctx, NSR_KEEP, &data, 8);
    NSR_TRY(element(a, d, data.v + data.n));
    data.n += nsr_dtype_bytes(d);
  } while (nsr_asm_accept(a, ","));
  t->data = data.v;
  t->data_size = data.n;
  return NSR_OK;
}

static enum nsr_status data(struct nsr_asm *a, struct nsr_tensor *t) {
  const char *s;
  size_t n, size;
  uint8_t *out;
  nsr_asm_blank(a);
  const char *at = a->p;
  NSR_TRY(nsr_asm_string(a, &s, &n));
  NSR_NEW(a->ctx, NSR_KEEP, out, n / 4 * 3);
  if (!nsr_base64_decode(s, n, out, &size))
    return nsr_asm_error(a, at, "expected base64");
  t->data = out;
  t->data_size = size;
  return NSR_OK;
}

static enum nsr_status range(struct nsr_asm *a, struct nsr_tensor *t) {
  struct nsr_asm_value lo, hi;
  nsr_asm_blank(a);
  const char *at = a->p;
  /* no sums: "-5 -3" are two numbers */
  NSR_TRY(nsr_asm_term(a, &lo));
  NSR_TRY(
      nsr_asm_check_int(a, at, "the lowest value", INT32_MIN, INT32_MAX, &lo));
  nsr_asm_blank(a);
  at = a->p;
  NSR_TRY(nsr_asm_term(a, &hi));
  NSR_TRY(nsr_asm_check_int(a, at, "the highest value", lo.i, INT32_MAX, &hi));
  t->has_range = true;
  t->lo = (int32_t)lo.i;
  t->hi = (int32_t)hi.i;
  return NSR_OK;
}

/* ---- the directive */

static bool is(const char *s, size_t n, const char *word) {
  return strlen(word) == n && memcmp(s, word, n) == 0;
}

static enum nsr_status extras(struct nsr_asm *a, struct nsr_tensor *t) {
  const char *s, *at;
  size_t n;
  int64_t v;
  for (; nsr_asm_blank(a), at = a->p, nsr_asm_word(a, &s, &n);) {
    if (is(s, n, "bytes")) {
      NSR_TRY(nsr_asm_int(a, "the size", 0, INT64_MAX, &v));
      t->bytes = (uint64_t)v;
    } else if (is(s, n, "range")) {
      NSR_TRY(range(a, t));
    } else if (is(s, n, "words") || is(s, n, "data")) {
      NSR_TRY(no_contents_yet(a, at, t));
      NSR_TRY(*s == 'w' ? words(a, t) : data(a, t));
    } else {
      a->p = at;
      break;
    }
  }
  return nsr_asm_at_end(a)
             ? NSR_OK
             : nsr_asm_expected(a, "bytes, range, words, data or the end of "
                                   "the line");
}

static enum nsr_status add(struct nsr_asm *a, const char *at,
                           const struct nsr_tensor *t) {
  if (t->bytes == UINT64_MAX)
    return nsr_asm_error(a, at, "the tensor's size does not fit 64 bits");
  if (t->data_size > t->bytes)
    return nsr_asm_error(a, at, "%llu bytes of initial contents in %llu bytes",
                         (unsigned long long)t->data_size,
                         (unsigned long long)t->bytes);
  return nsr_build_tensor(&a->b, t);
}

enum nsr_status nsr_asm_tensor(struct nsr_asm *a) {
  struct nsr_tensor t = {0};
  const char *s;
  size_t n;
  nsr_asm_blank(a);
  const char *at = a->p;
  NSR_TRY(nsr_asm_name(a, "the tensor's name", &s, &n, NULL));
  if (nsr_map_get(&a->b.tensor_map, s, n) != NSR_NONE)
    return nsr_asm_error(a, at, "tensor '%.*s' is already defined", (int)n, s);
  t.name = nsr_strndup(a->ctx, NSR_KEEP, s, n);
  if (!t.name)
    return NSR_E_NOMEM;
  NSR_TRY(choice(a, "a space (dram sbuf psum)", nsr_space_parse, &t.space));
  NSR_TRY(choice(a, "a dtype (f32 bf16 f16 fp8 i32 i16 i8 u8)", nsr_dtype_parse,
                 &t.dtype));
  NSR_TRY(shape(a, &t));
  NSR_TRY(placement(a, &t));
  NSR_TRY(choice(a, "a role (input output scratch)", nsr_tensor_role_parse,
                 &t.role));
  t.bytes = nsr_tensor_bytes(&t);
  NSR_TRY(extras(a, &t));
  return add(a, at, &t);
}
