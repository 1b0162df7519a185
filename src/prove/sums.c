/* sums.c - sums and choices, kept once and computed with. */
#include "prove/sums.h"

#include <string.h>

enum { BUCKETS = 1024 };

/* Constants and factors beyond are of no use: counts stay below. */
#define LARGE (INT64_C(1) << 31)

/* ---- sums */

static uint32_t bucket_of(const struct nsr_term *t, size_t n) {
  uint64_t h = n;
  for (size_t i = 0; i < n; i++)
    h = (h ^ t[i].reg ^ (uint64_t)(uint32_t)t[i].times << 32) *
        UINT64_C(0x9e3779b97f4a7c15);
  return (uint32_t)(h >> 32) % BUCKETS;
}

static bool same_terms(const struct nsr_sums *s, const struct nsr_sum *x) {
  const struct nsr_term *t = s->terms.v + x->first;
  if (x->n != s->made.n)
    return false;
  for (uint32_t i = 0; i < x->n; i++)
    if (t[i].reg != s->made.v[i].reg || t[i].times != s->made.v[i].times)
      return false;
  return true;
}

/* The number of the sum that was made. */
static enum nsr_status number_made(struct nsr_sums *s, uint32_t *out) {
  uint32_t *bucket = &s->buckets[bucket_of(s->made.v, s->made.n)];
  uint32_t first = (uint32_t)s->terms.n;
  for (*out = *bucket; *out != UINT32_MAX; *out = s->v.v[*out].next)
    if (same_terms(s, &s->v.v[*out]))
      return NSR_OK;
  for (size_t i = 0; i < s->made.n; i++)
    NSR_PUSH(s->ctx, NSR_SCRATCH, &s->terms, s->made.v[i]);
  *out = (uint32_t)s->v.n;
  NSR_PUSH(s->ctx, NSR_SCRATCH, &s->v,
           (struct nsr_sum){first, (uint32_t)s->made.n, *bucket});
  *bucket = *out;
  return NSR_OK;
}

enum nsr_status nsr_sums_init(struct nsr_ctx *ctx, struct nsr_sums *out) {
  uint32_t empty;
  *out = (struct nsr_sums){.ctx = ctx};
  NSR_NEW(ctx, NSR_SCRATCH, out->buckets, BUCKETS);
  memset(out->buckets, 0xff, BUCKETS * sizeof *out->buckets);
  return number_made(out, &empty);
}

int32_t nsr_sum_times(const struct nsr_sums *s, uint32_t sum, uint32_t reg) {
  uint32_t n;
  const struct nsr_term *t = nsr_sum_terms(s, sum, &n);
  for (uint32_t i = 0; i < n; i++)
    if (t[i].reg == reg)
      return t[i].times;
  return 0;
}

static bool small(int64_t x) { return x < LARGE && x > -LARGE; }

static enum nsr_status push_term(struct nsr_sums *s, uint32_t reg,
                                 int64_t times, bool *fits) {
  *fits &= small(times);
  if (times == 0 || !*fits)
    return NSR_OK;
  NSR_PUSH(s->ctx, NSR_SCRATCH, &s->made,
           (struct nsr_term){reg, (int32_t)times});
  return NSR_OK;
}

/* ka * a + kb * b */
static enum nsr_status combine(struct nsr_sums *s, const struct nsr_linear *a,
                               int64_t ka, const struct nsr_linear *b,
                               int64_t kb, struct nsr_linear *out, bool *fits) {
  struct nsr_sum x = s->v.v[a->sum], y = s->v.v[b->sum];
  *fits = small(ka) && small(kb) && small(a->add) && small(b->add);
  int64_t add = *fits ? ka * a->add + kb * b->add : 0;
  *fits &= small(add);
  s->made.n = 0;
  for (uint32_t i = 0, j = 0; (i < x.n || j < y.n) && *fits;) {
    struct nsr_term t =
        i < x.n ? s->terms.v[x.first + i] : (struct nsr_term){UINT32_MAX, 0};
    struct nsr_term u =
        j < y.n ? s->terms.v[y.first + j] : (struct nsr_term){UINT32_MAX, 0};
    uint32_t reg = t.reg < u.reg ? t.reg : u.reg;
    int64_t times =
        (t.reg == reg ? ka * t.times : 0) + (u.reg == reg ? kb * u.times : 0);
    NSR_TRY(push_term(s, reg, times, fits));
    i += t.reg == reg;
    j += u.reg == reg;
  }
  if (!*fits)
    return NSR_OK;
  out->add = add;
  return number_made(s, &out->sum);
}

enum nsr_status nsr_sum_replace(struct nsr_sums *s, uint32_t sum, uint32_t reg,
                                const struct nsr_linear *value,
                                struct nsr_linear *out, bool *fits) {
  int32_t times = nsr_sum_times(s, sum, reg);
  struct nsr_linear all = {sum, 0}, one = {0, 0};
  s->made.n = 0;
  NSR_PUSH(s->ctx, NSR_SCRATCH, &s->made, (struct nsr_term){reg, 1});
  NSR_TRY(number_made(s, &one.sum));
  NSR_TRY(combine(s, &all, 1, &one, -(int64_t)times, out, fits));
  if (!*fits)
    return NSR_OK;
  all = *out;
  return combine(s, &all, 1, value, times, out, fits);
}

/* ---- values */

enum nsr_status nsr_reg_itself(struct nsr_sums *s, uint32_t reg,
                               struct nsr_reg_value *out) {
  *out = (struct nsr_reg_value){.kind = NSR_REG_PLAIN};
  s->made.n = 0;
  NSR_PUSH(s->ctx, NSR_SCRATCH, &s->made, (struct nsr_term){reg, 1});
  return number_made(s, &out->yes.sum);
}

struct nsr_reg_value nsr_reg_constant(int64_t c) {
  return (struct nsr_reg_value){.kind = NSR_REG_PLAIN, .yes = {0, c}};
}

static bool is_constant(const struct nsr_reg_value *a) {
  return a->kind == NSR_REG_PLAIN && a->yes.sum == 0;
}

/* A choice between constants: what comparisons make. */
static bool is_flag(const struct nsr_reg_value *a) {
  return a->kind == NSR_REG_CHOICE && a->yes.sum == 0 && a->no.sum == 0;
}

/* ka * a + kb * b, on both ways of a choice. */
static enum nsr_status add(struct nsr_sums *s, const struct nsr_reg_value *a,
                           int64_t ka, const struct nsr_reg_value *b,
                           int64_t kb, struct nsr_reg_value *out) {
  const struct nsr_reg_value *c = a->kind == NSR_REG_CHOICE ? a : b;
  bool both = a->kind == NSR_REG_CHOICE && b->kind == NSR_REG_CHOICE, fits;
  *out = (struct nsr_reg_value){.kind = c->kind, .test = c->test};
  NSR_TRY(combine(s, &a->yes, ka, &b->yes, kb, &out->yes, &fits));
  if (fits && c->kind == NSR_REG_CHOICE)
    NSR_TRY(combine(s, a->kind == NSR_REG_CHOICE ? &a->no : &a->yes, ka,
                    b->kind == NSR_REG_CHOICE ? &b->no : &b->yes, kb, &out->no,
                    &fits));
  if (!fits || (both && !nsr_linear_same(&a->test, &b->test)))
    out->kind = NSR_REG_UNKNOWN;
  return NSR_OK;
}

/* flag * a */
static enum nsr_status mask(struct nsr_sums *s,
                            const struct nsr_reg_value *flag,
                            const struct nsr_reg_value *a,
                            struct nsr_reg_value *out) {
  const struct nsr_linear none = {0, 0};
  bool yes, no = false;
  *out = (struct nsr_reg_value){.kind = NSR_REG_CHOICE, .test = flag->test};
  NSR_TRY(combine(s, &a->yes, flag->yes.add, &none, 0, &out->yes, &yes));
  if (yes)
    NSR_TRY(combine(s, &a->yes, flag->no.add, &none, 0, &out->no, &no));
  if (!yes || !no)
    out->kind = NSR_REG_UNKNOWN;
  return NSR_OK;
}

static enum nsr_status multiply(struct nsr_sums *s,
                                const struct nsr_reg_value *a,
                                const struct nsr_reg_value *b,
                                struct nsr_reg_value *out) {
  const struct nsr_reg_value none = nsr_reg_constant(0);
  if (is_constant(b))
    return add(s, a, b->yes.add, &none, 0, out);
  if (is_constant(a))
    return add(s, b, a->yes.add, &none, 0, out);
  if (is_flag(a) && b->kind == NSR_REG_PLAIN)
    return mask(s, a, b, out);
  if (is_flag(b) && a->kind == NSR_REG_PLAIN)
    return mask(s, b, a, out);
  out->kind = NSR_REG_UNKNOWN;
  return NSR_OK;
}

/* a - b + more > 0 ? yes : no, of plain values. */
static enum nsr_status choose(struct nsr_sums *s, const struct nsr_reg_value *a,
                              const struct nsr_reg_value *b, int more,
                              const struct nsr_linear *yes,
                              const struct nsr_linear *no,
                              struct nsr_reg_value *out) {
  bool fits = false;
  *out = (struct nsr_reg_value){.kind = NSR_REG_CHOICE, .yes = *yes, .no = *no};
  if (a->kind == NSR_REG_PLAIN && b->kind == NSR_REG_PLAIN)
    NSR_TRY(combine(s, &a->yes, 1, &b->yes, -1, &out->test, &fits));
  out->test.add += more;
  if (!fits)
    out->kind = NSR_REG_UNKNOWN;
  else if (out->test.sum == 0)
    *out = (struct nsr_reg_value){.kind = NSR_REG_PLAIN,
                                  .yes = out->test.add > 0 ? *yes : *no};
  return NSR_OK;
}

static void select_by(const struct nsr_reg_value *cond,
                      const struct nsr_reg_value *a,
                      const struct nsr_reg_value *b,
                      struct nsr_reg_value *out) {
  *out = (struct nsr_reg_value){.kind = NSR_REG_UNKNOWN};
  if (is_constant(cond)) {
    *out = cond->yes.add ? *a : *b;
  } else if (is_flag(cond) && a->kind == NSR_REG_PLAIN &&
             b->kind == NSR_REG_PLAIN && !cond->yes.add != !cond->no.add) {
    *out = (struct nsr_reg_value){.kind = NSR_REG_CHOICE,
                                  .test = cond->test,
                                  .yes = cond->yes.add ? a->yes : b->yes,
                                  .no = cond->yes.add ? b->yes : a->yes};
  }
}

enum nsr_status nsr_reg_operation(struct nsr_sums *s, enum nsr_ctl op,
                                  const struct nsr_reg_value *cond,
                                  const struct nsr_reg_value *a,
                                  const struct nsr_reg_value *b,
                                  struct nsr_reg_value *out) {
  const struct nsr_reg_value none = nsr_reg_constant(0);
  const struct nsr_linear one = {0, 1}, zero = {0, 0};
  *out = (struct nsr_reg_value){.kind = NSR_REG_UNKNOWN};
  if (op == NSR_CTL_SEL) {
    select_by(cond, a, b, out);
    return NSR_OK;
  }
  if (a->kind == NSR_REG_UNKNOWN ||
      (b->kind == NSR_REG_UNKNOWN && op != NSR_CTL_MOV))
    return NSR_OK;
  switch (op) {
  case NSR_CTL_MOV:
    *out = *a;
    return NSR_OK;
  case NSR_CTL_ADD:
    return add(s, a, 1, b, 1, out);
  case NSR_CTL_SUB:
    return add(s, a, 1, b, -1, out);
  case NSR_CTL_MUL:
    return multiply(s, a, b, out);
  case NSR_CTL_SHL:
    if (is_constant(b) && b->yes.add >= 0 && b->yes.add < 31)
      return add(s, a, INT64_C(1) << b->yes.add, &none, 0, out);
    return NSR_OK;
  case NSR_CTL_MAX:
    return choose(s, a, b, 0, &a->yes, &b->yes, out);
  case NSR_CTL_MIN:
    return choose(s, b, a, 0, &a->yes, &b->yes, out);
  case NSR_CTL_GT:
    return choose(s, a, b, 0, &one, &zero, out);
  case NSR_CTL_GE:
    return choose(s, a, b, 1, &one, &zero, out);
  case NSR_CTL_LT:
    return choose(s, b, a, 0, &one, &zero, out);
  case NSR_CTL_LE:
    return choose(s, b, a, 1, &one, &zero, out);
  default:
    return NSR_OK;
  }
}
