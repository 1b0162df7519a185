/* asm_expr.c - expressions: + - * / % ( ), numbers and constants. Integers
 * are exact 64 bits, overflow is an error; a float makes the result one.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "asm/asm.h"

enum { NESTING = 100 };

static double as_float(const struct nsr_asm_value *v) {
  return v->is_float ? v->f : (double)v->i;
}

static enum nsr_status apply_float(struct nsr_asm *a, const char *at, char op,
                                   struct nsr_asm_value *x, double r) {
  double l = as_float(x);
  if (op == '%')
    return nsr_asm_error(a, at, "%% takes integers");
  x->is_float = true;
  x->f = op == '+' ? l + r : op == '-' ? l - r : op == '*' ? l * r : l / r;
  return NSR_OK;
}

enum nsr_status nsr_asm_apply(struct nsr_asm *a, const char *at, char op,
                              struct nsr_asm_value *x,
                              const struct nsr_asm_value *y) {
  if (x->is_float || y->is_float)
    return apply_float(a, at, op, x, as_float(y));
  bool over = false;
  if (op == '+') {
    over = __builtin_add_overflow(x->i, y->i, &x->i);
  } else if (op == '-') {
    over = __builtin_sub_overflow(x->i, y->i, &x->i);
  } else if (op == '*') {
    over = __builtin_mul_overflow(x->i, y->i, &x->i);
  } else if (y->i == 0) {
    return nsr_asm_error(a, at, "division by zero");
  } else if (y->i == -1) {
    over = op == '/' && __builtin_sub_overflow(0, x->i, &x->i);
    x->i = op == '%' ? 0 : x->i;
  } else {
    x->i = op == '/' ? x->i / y->i : x->i % y->i;
  }
  return over ? nsr_asm_error(a, at, "the result does not fit 64 bits")
              : NSR_OK;
}

static enum nsr_status constant(struct nsr_asm *a, const char *s, size_t n,
                                struct nsr_asm_value *v) {
  const struct nsr_asm_param *var = nsr_asm_variable(a, s, n);
  uint32_t i = nsr_map_get(&a->const_map, s, n);
  if (var)
    *v = (struct nsr_asm_value){.i = var->value};
  else if (i != NSR_NONE)
    *v = a->consts.v[i];
  else if (n == 3 && memcmp(s, "inf", 3) == 0)
    *v = (struct nsr_asm_value){.is_float = true, .f = INFINITY};
  else if (n == 3 && memcmp(s, "nan", 3) == 0)
    *v = (struct nsr_asm_value){.is_float = true, .f = NAN};
  else
    return nsr_asm_error(a, s, "unknown constant '%.*s'", (int)n, s);
  return NSR_OK;
}

enum nsr_status nsr_asm_primary(struct nsr_asm *a, struct nsr_asm_value *v) {
  const char *s;
  size_t n;
  if (nsr_asm_accept(a, "(")) {
    if (++a->nesting > NESTING)
      return nsr_asm_error(a, NULL, "parentheses nested too deeply");
    NSR_TRY(nsr_asm_expr(a, v));
    a->nesting--;
    return nsr_asm_expect(a, ")");
  }
  if (nsr_asm_word(a, &s, &n))
    return constant(a, s, n, v);
  if (nsr_asm_at_end(a) || *a->p < '0' || *a->p > '9')
    return nsr_asm_expected(a, "a number or a constant");
  return nsr_asm_number(a, v, NULL);
}

/* The one integer whose absolute value is none. */
static bool lowest(struct nsr_asm *a, struct nsr_asm_value *v) {
  if (!nsr_asm_accept(a, "9223372036854775808"))
    return false;
  *v = (struct nsr_asm_value){.i = INT64_MIN};
  return true;
}

static enum nsr_status unary(struct nsr_asm *a, struct nsr_asm_value *v) {
  bool negative = false;
  const char *at = NULL;
  while (nsr_asm_at(a, '-') || nsr_asm_at(a, '+')) {
    at = a->p;
    negative ^= *a->p++ == '-';
  }
  if (negative && lowest(a, v))
    return NSR_OK;
  NSR_TRY(nsr_asm_primary(a, v));
  if (!negative)
    return NSR_OK;
  if (!v->is_float) {
    struct nsr_asm_value x = {.i = 0};
    NSR_TRY(nsr_asm_apply(a, at, '-', &x, v));
    *v = x;
  }
  v->f = -v->f; /* keeps the sign of zero */
  return NSR_OK;
}

enum nsr_status nsr_asm_term(struct nsr_asm *a, struct nsr_asm_value *v) {
  NSR_TRY(unary(a, v));
  while (nsr_asm_at(a, '*') || nsr_asm_at(a, '/') || nsr_asm_at(a, '%')) {
    const char *at = a->p++;
    struct nsr_asm_value r;
    NSR_TRY(unary(a, &r));
    NSR_TRY(nsr_asm_apply(a, at, *at, v, &r));
  }
  return NSR_OK;
}

enum nsr_status nsr_asm_expr(struct nsr_asm *a, struct nsr_asm_value *v) {
  NSR_TRY(nsr_asm_term(a, v));
  while (nsr_asm_at(a, '+') || nsr_asm_at(a, '-')) {
    const char *at = a->p++;
    struct nsr_asm_value r;
    NSR_TRY(nsr_asm_term(a, &r));
    NSR_TRY(nsr_asm_apply(a, at, *at, v, &r));
  }
  return NSR_OK;
}

enum nsr_status nsr_asm_check_int(struct nsr_asm *a, const char *at,
                                  const char *what, int64_t lo, int64_t hi,
                                  const struct nsr_asm_value *v) {
  if (v->is_float)
    return nsr_asm_error(a, at, "expected a whole number for %s", what);
  if (v->i < lo || v->i > hi)
    return nsr_asm_error(a, at, "%s: %lld is not in %lld..%lld", what,
                         (long long)v->i, (long long)lo, (long long)hi);
  return NSR_OK;
}

enum nsr_status nsr_asm_int(struct nsr_asm *a, const char *what, int64_t lo,
                            int64_t hi, int64_t *v) {
  struct nsr_asm_value value;
  nsr_asm_blank(a);
  const char *at = a->p;
  NSR_TRY(nsr_asm_expr(a, &value));
  *v = value.i;
  return nsr_asm_check_int(a, at, what, lo, hi, &value);
}
