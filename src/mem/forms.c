/* forms.c - register operations on what registers may hold. */
#include "mem/forms.h"

const struct nsr_form nsr_form_unknown = {.kind = NSR_FORM_UNKNOWN,
                                          .loop = NSR_NONE};

struct nsr_form nsr_form_constant(int32_t v) {
  return (struct nsr_form){.kind = NSR_FORM_CONST, .base = v, .loop = NSR_NONE};
}

struct nsr_form nsr_form_loaded(uint32_t symbol, uint32_t loop) {
  return (struct nsr_form){.kind = NSR_FORM_CONST,
                           .scale = 1,
                           .symbol = symbol,
                           .symbol_loop = loop,
                           .loop = NSR_NONE};
}

bool nsr_form_related(const struct nsr_form *a, const struct nsr_form *b) {
  return a->scale == b->scale && a->symbol == b->symbol &&
         a->symbol_loop == b->symbol_loop;
}

int32_t nsr_form_at(const struct nsr_form *f, uint32_t t) {
  switch (f->kind) {
  case NSR_FORM_AFFINE:
    return (int32_t)((uint32_t)f->base + (uint32_t)f->step * t);
  case NSR_FORM_PERIODIC:
    return f->values[t % f->period];
  default:
    return f->base;
  }
}

bool nsr_form_equal(const struct nsr_form *a, const struct nsr_form *b) {
  if (a->kind != b->kind || a->kind == NSR_FORM_UNKNOWN || a->loop != b->loop ||
      a->trip != b->trip || !nsr_form_related(a, b))
    return false;
  if (a->kind != NSR_FORM_PERIODIC)
    return a->base == b->base && a->step == b->step;
  for (int t = 0; t < a->period && a->period == b->period; t++)
    if (a->values[t] != b->values[t])
      return false;
  return a->period == b->period;
}

/* ---- operations on forms */

static int32_t wrap(int64_t v) { return (int32_t)(uint32_t)(uint64_t)v; }

static bool fold(enum nsr_ctl op, int32_t a, int32_t b, int32_t *out) {
  uint32_t ua = (uint32_t)a, n = (uint32_t)b & 31;
  switch (op) {
  case NSR_CTL_ADD:
    *out = wrap((int64_t)a + b);
    return true;
  case NSR_CTL_SUB:
    *out = wrap((int64_t)a - b);
    return true;
  case NSR_CTL_MUL:
    *out = wrap((int64_t)a * b);
    return true;
  case NSR_CTL_AND:
    *out = a & b;
    return true;
  case NSR_CTL_OR:
    *out = a | b;
    return true;
  case NSR_CTL_XOR:
    *out = a ^ b;
    return true;
  case NSR_CTL_SHL:
    *out = (int32_t)(ua << n);
    return true;
  case NSR_CTL_SHR:
    *out = a < 0 ? ~(int32_t)(~ua >> n) : (int32_t)(ua >> n);
    return true;
  case NSR_CTL_REM:
    if (b == 0)
      return false;
    *out = b == -1 ? 0 : a % b;
    return true;
  case NSR_CTL_MIN:
    *out = a < b ? a : b;
    return true;
  case NSR_CTL_MAX:
    *out = a > b ? a : b;
    return true;
  default:
    return false;
  }
}

bool nsr_ctl_value(enum nsr_ctl op, int32_t a, int32_t b, int32_t *out) {
  switch (op) {
  case NSR_CTL_GT:
    *out = a > b;
    return true;
  case NSR_CTL_GE:
    *out = a >= b;
    return true;
  case NSR_CTL_LT:
    *out = a < b;
    return true;
  case NSR_CTL_LE:
    *out = a <= b;
    return true;
  case NSR_CTL_EQ:
    *out = a == b;
    return true;
  case NSR_CTL_NE:
    *out = a != b;
    return true;
  default:
    return fold(op, a, b, out);
  }
}

uint32_t nsr_form_period(const struct nsr_form *f) {
  return f->kind == NSR_FORM_PERIODIC ? f->period : 1;
}

static uint32_t gcd(uint32_t a, uint32_t b) {
  while (b) {
    uint32_t r = a % b;
    a = b;
    b = r;
  }
  return a;
}

uint32_t nsr_common_period(uint32_t a, uint32_t b) { return a / gcd(a, b) * b; }

uint8_t nsr_form_lasts(const struct nsr_form *f) {
  int64_t step = f->step < 0 ? -(int64_t)f->step : f->step;
  int64_t room =
      f->step < 0 ? f->base - (int64_t)INT32_MIN : INT32_MAX - (int64_t)f->base;
  uint8_t n = 0;
  while (n < 32 && step << (n + 1) <= room)
    n++;
  return n;
}

/* As long as both are right. */
static uint8_t both_last(const struct nsr_form *a, const struct nsr_form *b) {
  if (!a->lasts || !b->lasts)
    return a->lasts | b->lasts;
  return a->lasts < b->lasts ? a->lasts : b->lasts;
}

/* Value by value over a common period; constants have period 1. */
static struct nsr_form pointwise(enum nsr_ctl op, const struct nsr_form *a,
                                 const struct nsr_form *b) {
  uint32_t period = nsr_common_period(nsr_form_period(a), nsr_form_period(b));
  struct nsr_form f = {.kind = NSR_FORM_PERIODIC,
                       .period = (uint8_t)period,
                       .trip = a->trip || b->trip,
                       .lasts = both_last(a, b),
                       .loop = a->loop == NSR_NONE ? b->loop : a->loop};
  if (period > NSR_MAX_PERIOD)
    return nsr_form_unknown;
  for (uint32_t t = 0; t < period; t++)
    if (!nsr_ctl_value(op, nsr_form_at(a, t), nsr_form_at(b, t), &f.values[t]))
      return nsr_form_unknown;
  return period == 1 ? nsr_form_constant(f.values[0]) : f;
}

/* a + step*t modulo m, for a and step >= 0; lasts: as the sum does. */
static struct nsr_form modulo(const struct nsr_form *a, int32_t m,
                              uint8_t lasts) {
  struct nsr_form f = {.kind = NSR_FORM_PERIODIC,
                       .trip = a->trip,
                       .lasts = lasts,
                       .loop = a->loop};
  if (m <= 0 || a->base < 0 || a->step < 0)
    return nsr_form_unknown;
  uint32_t period = (uint32_t)m / gcd((uint32_t)m, (uint32_t)a->step);
  if (period > NSR_MAX_PERIOD)
    return nsr_form_unknown;
  f.period = (uint8_t)period;
  for (uint32_t t = 0; t < period; t++)
    f.values[t] = (int32_t)(((int64_t)a->base + (int64_t)a->step * t) % m);
  if (period == 1) {
    f = nsr_form_constant(f.values[0]);
    f.lasts = lasts;
  }
  return f;
}

/* Of a register that has wrapped the remainder is another one. */
static struct nsr_form remainder_of(const struct nsr_form *a, int32_t m) {
  uint8_t lasts = nsr_form_lasts(a);
  return lasts < NSR_LASTS ? nsr_form_unknown : modulo(a, m, lasts);
}

/* a is affine or start-relative, k a constant. */
static struct nsr_form by_constant(enum nsr_ctl op, const struct nsr_form *a,
                                   int32_t k) {
  struct nsr_form f = *a;
  if (op == NSR_CTL_ADD || op == NSR_CTL_SUB) {
    f.base =
        wrap(op == NSR_CTL_ADD ? (int64_t)f.base + k : (int64_t)f.base - k);
    return f;
  }
  if (a->kind != NSR_FORM_AFFINE)
    return nsr_form_unknown;
  if (op == NSR_CTL_SHL && k >= 0 && k < 31) {
    op = NSR_CTL_MUL;
    k = (int32_t)1 << k;
  }
  if (op == NSR_CTL_MUL) {
    int64_t base = (int64_t)f.base * k, step = (int64_t)f.step * k;
    if (base != (int32_t)base || step != (int32_t)step)
      return nsr_form_unknown;
    f.base = (int32_t)base;
    f.step = (int32_t)step;
    return f;
  }
  if (op == NSR_CTL_REM)
    return remainder_of(a, k);
  if (op == NSR_CTL_AND && k >= 0 && k < INT32_MAX && (k & (k + 1)) == 0)
    return modulo(a, k + 1, 0);
  return nsr_form_unknown;
}

bool nsr_form_counts(const struct nsr_form *f) {
  return f->kind == NSR_FORM_AFFINE || f->kind == NSR_FORM_START;
}

/* Whether one counter counts both, as far as they are counted. */
static bool alike(const struct nsr_form *a, const struct nsr_form *b) {
  return a->loop == NSR_NONE || b->loop == NSR_NONE ||
         (a->loop == b->loop && a->trip == b->trip);
}

static struct nsr_form combine(enum nsr_ctl op, const struct nsr_form *a,
                               const struct nsr_form *b);

/* f with a symbol as often as told, or without any. */
static struct nsr_form with_symbol(struct nsr_form f, const struct nsr_form *of,
                                   int32_t scale) {
  f.scale = scale;
  f.symbol = scale ? of->symbol : 0;
  f.symbol_loop = scale ? of->symbol_loop : 0;
  return f;
}

/* The same where there was one: it stays. Who rests on what a load gives shows
 * it, so what turns out to be none any more is not known. */
static struct nsr_form
still_symbolic(struct nsr_form f, const struct nsr_form *of, int64_t scale) {
  int32_t wrapped = wrap(scale);
  return wrapped ? with_symbol(f, of, wrapped) : nsr_form_unknown;
}

/* What is linear in the one symbol that there is. */
static struct nsr_form combine_symbols(enum nsr_ctl op,
                                       const struct nsr_form *a,
                                       const struct nsr_form *b) {
  const struct nsr_form *of = nsr_form_symbolic(a) ? a : b;
  struct nsr_form x = with_symbol(*a, NULL, 0), y = with_symbol(*b, NULL, 0);
  struct nsr_form f = combine(op, &x, &y);
  int64_t scale;
  if (f.kind == NSR_FORM_UNKNOWN)
    return f;
  if (op == NSR_CTL_ADD || op == NSR_CTL_SUB) {
    if (nsr_form_symbolic(a) && nsr_form_symbolic(b) &&
        (a->symbol != b->symbol || a->symbol_loop != b->symbol_loop))
      return nsr_form_unknown;
    scale = op == NSR_CTL_ADD ? (int64_t)a->scale + b->scale
                              : (int64_t)a->scale - b->scale;
    return still_symbolic(f, of, scale);
  }
  const struct nsr_form *times = nsr_form_symbolic(a) ? b : a;
  if (times->kind != NSR_FORM_CONST || nsr_form_symbolic(times))
    return nsr_form_unknown;
  if (op == NSR_CTL_SHL && times == b && b->base >= 0 && b->base < 31)
    scale = (int64_t)of->scale * (INT32_C(1) << b->base);
  else if (op == NSR_CTL_MUL)
    scale = (int64_t)of->scale * times->base;
  else
    return nsr_form_unknown;
  return still_symbolic(f, of, scale);
}

static struct nsr_form combine(enum nsr_ctl op, const struct nsr_form *a,
                               const struct nsr_form *b) {
  if (a->kind == NSR_FORM_UNKNOWN || b->kind == NSR_FORM_UNKNOWN)
    return nsr_form_unknown;
  if (nsr_form_symbolic(a) || nsr_form_symbolic(b))
    return combine_symbols(op, a, b);
  if (!alike(a, b))
    return nsr_form_unknown;
  if (!nsr_form_counts(a) && !nsr_form_counts(b))
    return pointwise(op, a, b);
  if (nsr_form_counts(a) && b->kind == NSR_FORM_CONST)
    return by_constant(op, a, b->base);
  if (nsr_form_counts(b) && a->kind == NSR_FORM_CONST &&
      (op == NSR_CTL_ADD || op == NSR_CTL_MUL || op == NSR_CTL_AND))
    return by_constant(op, b, a->base);
  return nsr_form_unknown;
}

struct nsr_form nsr_form_of_value(const struct nsr_form *env,
                                  const struct nsr_val *v) {
  return v->is_reg ? env[v->v] : nsr_form_constant(v->v);
}

struct nsr_form nsr_form_taken(const struct nsr_form *env,
                               const struct nsr_operation *x) {
  static const uint8_t ops[] = {
      [NSR_CC_EQ] = NSR_CTL_EQ, [NSR_CC_NE] = NSR_CTL_NE,
      [NSR_CC_LT] = NSR_CTL_LT, [NSR_CC_LE] = NSR_CTL_LE,
      [NSR_CC_GT] = NSR_CTL_GT, [NSR_CC_GE] = NSR_CTL_GE};
  if (x->cc == NSR_CC_ALWAYS)
    return nsr_form_constant(1);
  struct nsr_form a = nsr_form_of_value(env, &x->a);
  struct nsr_form b = nsr_form_of_value(env, &x->b);
  return combine((enum nsr_ctl)ops[x->cc], &a, &b);
}

static bool settled(const struct nsr_form *f) {
  return !nsr_form_symbolic(f) &&
         (f->kind == NSR_FORM_CONST || f->kind == NSR_FORM_PERIODIC);
}

/* What is chosen by a known constant may be anything. */
struct nsr_form nsr_form_choose(const struct nsr_form *cond,
                                const struct nsr_form *a,
                                const struct nsr_form *b) {
  if (cond->kind == NSR_FORM_CONST && !nsr_form_symbolic(cond))
    return cond->base ? *a : *b;
  if (nsr_form_equal(a, b))
    return *a;
  if (!settled(cond) || !settled(a) || !settled(b) || !alike(a, cond) ||
      !alike(b, cond))
    return nsr_form_unknown;
  uint32_t period = nsr_common_period(nsr_form_period(a), nsr_form_period(b));
  period = nsr_common_period(period, nsr_form_period(cond));
  struct nsr_form f = {.kind = NSR_FORM_PERIODIC,
                       .period = (uint8_t)period,
                       .trip = cond->trip,
                       .lasts = both_last(a, b),
                       .loop = cond->loop};
  if (period > NSR_MAX_PERIOD)
    return nsr_form_unknown;
  for (uint32_t t = 0; t < period; t++)
    f.values[t] = nsr_form_at(nsr_form_at(cond, t) ? a : b, t);
  return f;
}

/* Applies an instruction to the registers. */
void nsr_forms_apply(struct nsr_form *env, const struct nsr_node *n,
                     const struct nsr_operation *x) {
  enum nsr_ctl ctl = (enum nsr_ctl)n->ctl;
  if (n->dst < 0)
    return;
  if (n->cls != NSR_CONTROL) {
    env[n->dst] = nsr_form_unknown;
    return;
  }
  struct nsr_form a = nsr_form_of_value(env, &x->a);
  if (ctl != NSR_CTL_MOV) {
    struct nsr_form b = nsr_form_of_value(env, &x->b);
    a = ctl == NSR_CTL_SEL ? nsr_form_choose(&env[x->cond], &a, &b)
                           : combine(ctl, &a, &b);
  }
  env[n->dst] = a;
}
