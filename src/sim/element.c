/* element.c - one element of any dtype, to and from f32 and registers.
 *
 * Floats narrower than f32 share one pair of conversions, driven by a small
 * description: exponent bits, mantissa bits, and whether the top exponent
 * holds infinities (f16, bf16) or numbers (fp8 e4m3: largest 448, the pattern
 * of all ones is the only NaN, and what is too large becomes that NaN).
 */
#include <math.h>
#include <string.h>

#include "sim/numeric.h"

struct small_float {
  int exponent, mantissa; /* bits */
  bool infinities;
};

static const struct small_float bf16 = {8, 7, true};
static const struct small_float f16 = {5, 10, true};
static const struct small_float fp8 = {4, 3, false};

static uint32_t f32_bits(float v) {
  uint32_t b;
  memcpy(&b, &v, sizeof b);
  return b;
}

static float f32_from_bits(uint32_t b) {
  float v;
  memcpy(&v, &b, sizeof v);
  return v;
}

static float small_get(struct small_float f, uint32_t bits) {
  int bias = (1 << (f.exponent - 1)) - 1;
  uint32_t top = (1u << f.exponent) - 1, all = (1u << f.mantissa) - 1;
  uint32_t e = bits >> f.mantissa & top, m = bits & all;
  float sign = bits >> (f.exponent + f.mantissa) & 1 ? -1.0f : 1.0f;
  if (e == top && (f.infinities ? m != 0 : m == all))
    return f32_from_bits(0x7fc00000u | (sign < 0 ? 0x80000000u : 0));
  if (e == top && f.infinities)
    return sign * INFINITY;
  if (e == 0)
    return sign * ldexpf((float)m, 1 - bias - f.mantissa);
  return sign * ldexpf((float)(m | (all + 1)), (int)e - bias - f.mantissa);
}

/* Nearest even: the value is scaled so that one unit is the last place of the
 * result, rounded there, and laid down as exponent and mantissa; a mantissa
 * that rounds up to the next power carries into the exponent by itself. */
static uint32_t small_put(struct small_float f, float v) {
  int bias = (1 << (f.exponent - 1)) - 1;
  uint32_t top = (1u << f.exponent) - 1, all = (1u << f.mantissa) - 1;
  uint32_t sign = f32_bits(v) >> 31 << (f.exponent + f.mantissa);
  uint32_t nan =
      top << f.mantissa | (f.infinities ? 1u << (f.mantissa - 1) : all);
  uint32_t over = f.infinities ? top << f.mantissa : nan;
  if (isnan(v))
    return sign | nan;
  if (v == 0.0f)
    return sign;
  if (isinf(v))
    return sign | over;
  int e;
  double a = frexp(fabs((double)v), &e); /* 0.5 <= a < 1, v = a * 2^e */
  e += bias - 1;                         /* biased */
  int place = e < 1 ? 1 - e : 0;         /* bits lost to a subnormal */
  double units = rint(ldexp(a, f.mantissa + 1 - place));
  uint32_t laid = (uint32_t)units;
  if (e >= 1) {
    if (e > (int)top)
      return sign | over;
    laid += (uint32_t)(e - 1) << f.mantissa;
  }
  return sign | (laid >= over ? over : laid);
}

static uint32_t raw(enum nsr_dtype dtype, const uint8_t *p) {
  uint32_t v = 0;
  for (int i = nsr_dtype_bytes(dtype) - 1; i >= 0; i--)
    v = v << 8 | p[i];
  return v;
}

static void raw_put(enum nsr_dtype dtype, uint8_t *p, uint32_t v) {
  for (int i = 0; i < nsr_dtype_bytes(dtype); i++)
    p[i] = (uint8_t)(v >> 8 * i);
}

/* A 32-bit pattern as signed, without relying on how casts behave. */
static int32_t as_signed(uint32_t v) {
  int32_t s;
  memcpy(&s, &v, sizeof s);
  return s;
}

int32_t nsr_element_bits(enum nsr_dtype dtype, const uint8_t *p) {
  uint32_t v = raw(dtype, p);
  switch (dtype) {
  case NSR_I16:
    return as_signed((v ^ 0x8000u) - 0x8000u);
  case NSR_I8:
    return as_signed((v ^ 0x80u) - 0x80u);
  default:
    return as_signed(v);
  }
}

void nsr_element_put_bits(enum nsr_dtype dtype, uint8_t *p, int32_t v) {
  raw_put(dtype, p, (uint32_t)v);
}

float nsr_element_get(enum nsr_dtype dtype, const uint8_t *p) {
  switch (dtype) {
  case NSR_F32:
    return f32_from_bits(raw(dtype, p));
  case NSR_BF16:
    return small_get(bf16, raw(dtype, p));
  case NSR_F16:
    return small_get(f16, raw(dtype, p));
  case NSR_FP8:
    return small_get(fp8, raw(dtype, p));
  default:
    return (float)nsr_element_bits(dtype, p);
  }
}

/* Rounds to nearest even and clamps; NaN becomes 0. */
static int32_t saturate(float v, int32_t lo, int32_t hi) {
  if (isnan(v))
    return 0;
  double r = rint((double)v);
  return r <= lo ? lo : r >= hi ? hi : (int32_t)r;
}

/* What an integer dtype can hold; false: no integer. */
static bool integer_range(enum nsr_dtype dtype, int32_t *lo, int32_t *hi) {
  switch (dtype) {
  case NSR_I32:
    *lo = INT32_MIN;
    *hi = INT32_MAX;
    return true;
  case NSR_I16:
    *lo = INT16_MIN;
    *hi = INT16_MAX;
    return true;
  case NSR_I8:
    *lo = INT8_MIN;
    *hi = INT8_MAX;
    return true;
  case NSR_U8:
    *lo = 0;
    *hi = UINT8_MAX;
    return true;
  default:
    return false;
  }
}

static uint32_t integer_put(enum nsr_dtype dtype, float v) {
  int32_t lo = 0, hi = 0;
  (void)integer_range(dtype, &lo, &hi);
  return (uint32_t)saturate(v, lo, hi);
}

void nsr_element_put(enum nsr_dtype dtype, uint8_t *p, float v) {
  switch (dtype) {
  case NSR_F32:
    raw_put(dtype, p, f32_bits(v));
    break;
  case NSR_BF16:
    raw_put(dtype, p, small_put(bf16, v));
    break;
  case NSR_F16:
    raw_put(dtype, p, small_put(f16, v));
    break;
  case NSR_FP8:
    raw_put(dtype, p, small_put(fp8, v));
    break;
  default:
    raw_put(dtype, p, integer_put(dtype, v));
  }
}

void nsr_element_convert(enum nsr_dtype to, uint8_t *out, enum nsr_dtype from,
                         const uint8_t *in) {
  int32_t lo, hi;
  if (to == from) {
    memcpy(out, in, nsr_dtype_bytes(to));
  } else if (integer_range(from, &lo, &hi) && integer_range(to, &lo, &hi)) {
    int32_t v = nsr_element_bits(from, in);
    raw_put(to, out, (uint32_t)(v < lo ? lo : v > hi ? hi : v));
  } else {
    nsr_element_put(to, out, nsr_element_get(from, in));
  }
}
