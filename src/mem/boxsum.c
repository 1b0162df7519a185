/* boxsum.c - sums of strided terms in a window.
 *
 * Needs positive steps; makes a solution, or the proof that there is none.
 * First the terms are reduced by steps that lose nothing, each noted so that a
 * solution can be carried back:
 *   scale   all steps share a factor g: divide, round the window inwards;
 *   absorb  a step no longer than the window: its sums leave no gap, so the
 *           window grows by its span;
 *   merge   a step m times another whose count is at least m: together they
 *           are one term of the finer step.
 * That alone settles nested patterns. What is left is searched from the
 * largest step down, pruned by span and common factor; the last two terms are
 * solved in closed form (a remainder falling into an interval, by Euclid's
 * recursion).
 */
#include "mem/boxsum.h"

#include <assert.h>
#include <stdbool.h>

enum {
  NODES = 2 * NSR_BOXSUM_TERMS, /* terms given and merged */
  OPS = 4 * NSR_BOXSUM_TERMS,
  BUDGET = 1 << 14 /* nodes of the search */
};

struct term {
  int64_t step, count;
  int node;
};

struct op {
  enum { SCALE, ABSORB, MERGE } kind;
  int64_t factor;         /* SCALE: of the sum; MERGE: outer over inner */
  int64_t lo;             /* ABSORB: of the window then */
  int64_t step;           /* ABSORB */
  int64_t count;          /* ABSORB: of the term; MERGE: of the outer term */
  int node, outer, inner; /* ABSORB: node; MERGE: all */
};

struct problem {
  int64_t lo, hi;
  int n, nnodes, nops;
  struct term t[NSR_BOXSUM_TERMS];
  struct op op[OPS];
};

struct search {
  int n, left;                      /* terms, nodes left to visit */
  const struct term *t;             /* steps descending */
  int64_t span[NSR_BOXSUM_TERMS];   /* of terms i.. */
  int64_t common[NSR_BOXSUM_TERMS]; /* factor of terms i.. */
  int64_t z[NSR_BOXSUM_TERMS];
};

static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }

static int64_t ceil_div(int64_t a, int64_t b) { return a / b + (a % b > 0); }

static int64_t floor_mod(int64_t a, int64_t b) {
  int64_t r = a % b;
  return r < 0 ? r + b : r;
}

static int64_t max(int64_t a, int64_t b) { return a > b ? a : b; }

static int64_t min(int64_t a, int64_t b) { return a < b ? a : b; }

static int64_t gcd(int64_t a, int64_t b) {
  while (b) {
    int64_t r = a % b;
    a = b;
    b = r;
  }
  return a;
}

/* The smallest x >= 0 with lo <= a * x mod m <= hi, -1: none.
 * 0 <= lo <= hi < m, 0 <= a < m. */
static int64_t first_in(int64_t a, int64_t m, int64_t lo, int64_t hi) {
  if (lo == 0)
    return 0;
  if (a == 0)
    return -1;
  if (2 * a > m)
    return first_in(m - a, m, m - hi, m - lo);
  int64_t x = ceil_div(lo, a);
  if (x * a <= hi)
    return x;
  /* No multiple of a lies in lo..hi: count the wraps y instead. */
  int64_t y = first_in(floor_mod(-m, a), a, lo % a, hi % a);
  return y < 0 ? -1 : ceil_div(lo + m * y, a);
}

static void remove_term(struct problem *p, int i) {
  p->n--;
  for (; i < p->n; i++)
    p->t[i] = p->t[i + 1];
}

static void note(struct problem *p, struct op op) {
  assert(p->nops < OPS);
  p->op[p->nops++] = op;
}

static bool scale(struct problem *p) {
  int64_t g = 0;
  for (int i = 0; i < p->n; i++)
    g = gcd(p->t[i].step, g);
  if (g <= 1)
    return false;
  for (int i = 0; i < p->n; i++)
    p->t[i].step /= g;
  p->lo = ceil_div(p->lo, g);
  p->hi = floor_div(p->hi, g);
  note(p, (struct op){.kind = SCALE, .factor = g});
  return true;
}

static bool absorb(struct problem *p) {
  for (int i = 0; i < p->n; i++) {
    struct term t = p->t[i];
    if (t.step > p->hi - p->lo + 1)
      continue;
    note(p, (struct op){.kind = ABSORB,
                        .lo = p->lo,
                        .step = t.step,
                        .count = t.count,
                        .node = t.node});
    p->lo -= t.step * (t.count - 1);
    remove_term(p, i);
    return true;
  }
  return false;
}

static bool merge_two(struct problem *p, int outer, int inner) {
  struct term o = p->t[outer], i = p->t[inner];
  int64_t m = o.step / i.step;
  if (o.step % i.step || m > i.count)
    return false;
  int node = p->nnodes++;
  note(p, (struct op){.kind = MERGE,
                      .factor = m,
                      .count = o.count,
                      .node = node,
                      .outer = o.node,
                      .inner = i.node});
  p->t[inner].count = m * (o.count - 1) + i.count;
  p->t[inner].node = node;
  remove_term(p, outer);
  return true;
}

static bool merge(struct problem *p) {
  for (int o = 0; o < p->n; o++)
    for (int i = 0; i < p->n; i++)
      if (o != i && p->t[o].step >= p->t[i].step && merge_two(p, o, i))
        return true;
  return false;
}

/* Carries the values of the remaining terms back to the given ones. */
static void expand(const struct problem *p, int64_t *value) {
  int64_t sum = 0;
  for (int i = 0; i < p->n; i++)
    sum += p->t[i].step * value[p->t[i].node];
  for (int i = p->nops; i-- > 0;) {
    const struct op *op = &p->op[i];
    if (op->kind == SCALE) {
      sum *= op->factor;
    } else if (op->kind == ABSORB) {
      int64_t z = sum >= op->lo ? 0 : ceil_div(op->lo - sum, op->step);
      assert(z < op->count);
      value[op->node] = z;
      sum += z * op->step;
    } else {
      int64_t z = value[op->node];
      value[op->outer] = min(z / op->factor, op->count - 1);
      value[op->inner] = z - value[op->outer] * op->factor;
    }
  }
}

/* step * z in lo..hi. */
static bool solve_one(const struct term *t, int64_t lo, int64_t hi,
                      int64_t *z) {
  *z = max(0, ceil_div(lo, t->step));
  return *z < t->count && *z * t->step <= hi;
}

/* a->step * z[0] + b->step * z[1] in lo..hi. */
static bool solve_two(const struct term *a, const struct term *b, int64_t lo,
                      int64_t hi, int64_t *z) {
  int64_t b_max = b->step * (b->count - 1);
  int64_t first = max(0, ceil_div(lo - b_max, a->step));
  int64_t last = min(a->count - 1, floor_div(hi, a->step));
  if (first > last)
    return false;
  int64_t x = first, rest = hi - a->step * x, width = hi - lo;
  if (rest < b_max && floor_mod(rest, b->step) > width) {
    /* From here on b's count limits nothing: look at remainders only. */
    int64_t m = b->step, r = floor_mod(rest, m);
    int64_t more = first_in(floor_mod(-a->step, m), m, m - r, m - r + width);
    if (more < 0 || more > last - first)
      return false;
    x += more;
    rest -= a->step * more;
  }
  z[0] = x;
  z[1] = min(rest / b->step, b->count - 1);
  return true;
}

/* Terms i.. of s to fall into lo..hi. */
static enum nsr_boxsum descend(struct search *s, int i, int64_t lo,
                               int64_t hi) {
  if (i == s->n)
    return lo <= 0 && hi >= 0 ? NSR_BOXSUM_YES : NSR_BOXSUM_NO;
  if (hi < 0 || lo > s->span[i] ||
      floor_div(hi, s->common[i]) < ceil_div(lo, s->common[i]))
    return NSR_BOXSUM_NO;
  if (i == s->n - 1)
    return solve_one(&s->t[i], lo, hi, &s->z[i]) ? NSR_BOXSUM_YES
                                                 : NSR_BOXSUM_NO;
  if (i == s->n - 2)
    return solve_two(&s->t[i], &s->t[i + 1], lo, hi, &s->z[i]) ? NSR_BOXSUM_YES
                                                               : NSR_BOXSUM_NO;
  int64_t step = s->t[i].step;
  int64_t z = max(0, ceil_div(lo - s->span[i + 1], step));
  int64_t last = min(s->t[i].count - 1, floor_div(hi, step));
  for (; z <= last; z++) {
    if (s->left-- <= 0)
      return NSR_BOXSUM_GAVE_UP;
    s->z[i] = z;
    enum nsr_boxsum got = descend(s, i + 1, lo - z * step, hi - z * step);
    if (got != NSR_BOXSUM_NO)
      return got;
  }
  return NSR_BOXSUM_NO;
}

static void sort_descending(struct term *t, int n) {
  for (int i = 1; i < n; i++) {
    struct term x = t[i];
    int j = i;
    for (; j > 0 && t[j - 1].step < x.step; j--)
      t[j] = t[j - 1];
    t[j] = x;
  }
}

static enum nsr_boxsum search(struct problem *p, int64_t *value) {
  struct search s = {.n = p->n, .left = BUDGET, .t = p->t};
  sort_descending(p->t, p->n);
  int64_t span = 0, common = 0;
  for (int i = p->n; i-- > 0;) {
    span += p->t[i].step * (p->t[i].count - 1);
    common = gcd(p->t[i].step, common);
    s.span[i] = span;
    s.common[i] = common;
  }
  enum nsr_boxsum got = descend(&s, 0, p->lo, p->hi);
  for (int i = 0; i < p->n && got == NSR_BOXSUM_YES; i++)
    value[p->t[i].node] = s.z[i];
  return got;
}

enum nsr_boxsum nsr_boxsum_solve(const struct nsr_boxsum_term *terms, int n,
                                 int64_t lo, int64_t hi, int64_t *z) {
  struct problem p = {.lo = lo, .hi = hi, .n = n, .nnodes = n};
  int64_t value[NODES] = {0};
  assert(n <= NSR_BOXSUM_TERMS);
  for (int i = 0; i < n; i++)
    p.t[i] = (struct term){terms[i].step, terms[i].count, i};
  while (p.lo <= p.hi && (scale(&p) || absorb(&p) || merge(&p)))
    ;
  if (p.lo > p.hi)
    return NSR_BOXSUM_NO;
  enum nsr_boxsum got = search(&p, value);
  if (got != NSR_BOXSUM_YES)
    return got;
  expand(&p, value);
  for (int i = 0; i < n; i++)
    z[i] = value[i];
  return NSR_BOXSUM_YES;
}
