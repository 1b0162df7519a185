/* test_facts.c - sets of stretches against plain arrays of levels. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "dep/facts.h"
#include "prng.h"

enum { SLOTS = 60, MOST = 5, STEPS = 20000 };

struct model {
  struct nsr_facts facts;
  uint8_t level[SLOTS];
};

static struct nsr_facts_pool pool;

/* The set is in its normal form and says what the array says. */
static void compare(const struct model *m) {
  const struct nsr_facts *f = &m->facts;
  for (uint32_t i = 0; i < f->n; i++) {
    assert_true(f->v[i].lo < f->v[i].hi && f->v[i].level > 0);
    if (i > 0 && f->v[i - 1].hi == f->v[i].lo)
      assert_int_not_equal(f->v[i - 1].level, f->v[i].level);
    assert_true(i == 0 || f->v[i - 1].hi <= f->v[i].lo);
  }
  for (uint32_t x = 0; x < SLOTS; x++)
    assert_int_equal(nsr_facts_level(f, x), m->level[x]);
}

static void build(struct prng *r, struct model *m) {
  memset(m->level, 0, sizeof m->level);
  m->facts.n = 0;
  for (uint32_t lo = (uint32_t)prng_in(r, 0, 9), hi; lo < SLOTS;
       lo = hi + (uint32_t)prng_in(r, 0, 9)) {
    uint32_t level = (uint32_t)prng_in(r, 0, MOST);
    hi = lo + (uint32_t)prng_in(r, 0, 9);
    hi = hi < SLOTS ? hi : SLOTS;
    assert_int_equal(nsr_facts_push(&pool, &m->facts, lo, hi, level), NSR_OK);
    memset(m->level + lo, (int)level, hi - lo);
  }
}

static uint8_t combine(enum nsr_facts_op op, uint8_t a, uint8_t b) {
  if (op == NSR_FACTS_ADD)
    return a + b < MOST ? (uint8_t)(a + b) : MOST;
  return (a > b) == (op == NSR_FACTS_MAX) ? a : b;
}

static void zip(struct prng *r, const struct model *a, const struct model *b,
                struct model *out) {
  enum nsr_facts_op op = (enum nsr_facts_op)prng_in(r, 0, 2);
  bool coarse = false;
  assert_int_equal(nsr_facts_zip(&pool, &out->facts, &a->facts, &b->facts, op,
                                 MOST, &coarse),
                   NSR_OK);
  assert_false(coarse);
  for (uint32_t x = 0; x < SLOTS; x++)
    out->level[x] = combine(op, a->level[x], b->level[x]);
}

/* b where a says nothing. */
static void unite(const struct model *a, const struct model *b,
                  struct model *out) {
  struct nsr_facts rest = {0};
  bool coarse = false;
  assert_int_equal(nsr_facts_copy(&pool, &rest, &b->facts), NSR_OK);
  for (uint32_t i = 0; i < a->facts.n; i++)
    assert_int_equal(
        nsr_facts_learn(&pool, &rest, a->facts.v[i].lo, a->facts.v[i].hi),
        NSR_OK);
  assert_int_equal(
      nsr_facts_unite(&pool, &out->facts, &a->facts, &rest, &coarse), NSR_OK);
  assert_false(coarse);
  nsr_facts_free(&pool, &rest);
  for (uint32_t x = 0; x < SLOTS; x++)
    out->level[x] = a->level[x] ? a->level[x] : b->level[x];
}

static void learn(struct prng *r, struct model *m) {
  uint32_t lo = (uint32_t)prng_in(r, 0, SLOTS);
  uint32_t hi = (uint32_t)prng_in(r, lo, SLOTS);
  assert_int_equal(nsr_facts_learn(&pool, &m->facts, lo, hi), NSR_OK);
  memset(m->level + lo, 0, hi - lo);
}

static void lower(struct prng *r, const struct model *m, struct model *out) {
  uint32_t x = (uint32_t)prng_in(r, 0, SLOTS - 1);
  uint32_t level = (uint32_t)prng_in(r, 0, MOST);
  assert_int_equal(nsr_facts_lower(&pool, &out->facts, &m->facts, x, level),
                   NSR_OK);
  memcpy(out->level, m->level, sizeof m->level);
  if (out->level[x] > level)
    out->level[x] = (uint8_t)level;
}

static void copy(const struct model *m, struct model *out) {
  assert_int_equal(nsr_facts_copy(&pool, &out->facts, &m->facts), NSR_OK);
  memcpy(out->level, m->level, sizeof m->level);
}

static void test_operations(void **state) {
  (void)state;
  struct prng r = prng_seed("stretches against arrays", 1);
  struct model m[4] = {0};
  pool = (struct nsr_facts_pool){.ctx = nsr_ctx_new()};
  for (int i = 0; i < 4; i++)
    build(&r, &m[i]);
  for (int step = 0; step < STEPS; step++) {
    uint32_t a = (uint32_t)prng_in(&r, 0, 2), b = (uint32_t)prng_in(&r, 0, 2);
    switch (prng_in(&r, 0, 7)) {
    case 0:
      nsr_facts_free(&pool, &m[3].facts);
      build(&r, &m[3]);
      break;
    case 1:
    case 2:
      zip(&r, &m[a], &m[b], &m[3]);
      break;
    case 3:
      learn(&r, &m[3]);
      break;
    case 4:
      lower(&r, &m[a], &m[3]);
      break;
    case 5:
      unite(&m[a], &m[b], &m[3]);
      break;
    default:
      copy(&m[a], &m[3]);
    }
    compare(&m[3]);
    assert_int_equal(nsr_facts_equal(&m[3].facts, &m[b].facts),
                     memcmp(m[3].level, m[b].level, SLOTS) == 0);
    struct model x = m[a];
    m[a] = m[3];
    m[3] = x;
  }
  nsr_ctx_free(pool.ctx);
}

/* A set with a stretch at every other slot. */
static void comb(struct nsr_facts *f, uint32_t n) {
  f->n = 0;
  for (uint32_t i = 0; i < n; i++)
    assert_int_equal(nsr_facts_push(&pool, f, 2 * i, 2 * i + 1, 1 + i % MOST),
                     NSR_OK);
}

/* What is made coarser forgets, but claims nothing new. */
static void test_coarse(void **state) {
  (void)state;
  struct nsr_facts a = {0}, none = {0}, out = {0};
  bool coarse = false;
  pool = (struct nsr_facts_pool){.ctx = nsr_ctx_new()};
  comb(&a, NSR_MAX_FACTS);
  assert_int_equal(
      nsr_facts_zip(&pool, &out, &a, &none, NSR_FACTS_MAX, MOST, &coarse),
      NSR_OK);
  assert_true(!coarse && nsr_facts_equal(&a, &out));
  comb(&a, NSR_MAX_FACTS + 1);
  assert_int_equal(
      nsr_facts_zip(&pool, &out, &a, &none, NSR_FACTS_MAX, MOST, &coarse),
      NSR_OK);
  assert_true(coarse && out.n <= NSR_MAX_FACTS);
  for (uint32_t x = 0; x < 2 * NSR_MAX_FACTS + 2; x++)
    assert_true(nsr_facts_level(&out, x) >= nsr_facts_level(&a, x));
  nsr_ctx_free(pool.ctx);
}

/* Settling tells no levels apart, and joins within channels only where there
 * is too much. */
static void test_settle(void **state) {
  (void)state;
  static const uint32_t base[] = {0, 20, 20, 60};
  struct prng r = prng_seed("settling", 1);
  pool = (struct nsr_facts_pool){.ctx = nsr_ctx_new()};
  for (int step = 0; step < STEPS / 10; step++) {
    struct model m = {0};
    uint32_t most = (uint32_t)prng_in(&r, 2, 12);
    build(&r, &m);
    uint32_t n = m.facts.n;
    bool none = true; /* of the first channel is unknown */
    for (uint32_t x = 0; x < 20; x++)
      none &= m.level[x] == 0;
    nsr_facts_settle(&m.facts, most, MOST, base, 3);
    for (uint32_t x = 0; n <= most && x < SLOTS; x++)
      assert_int_equal(nsr_facts_level(&m.facts, x), m.level[x] ? MOST : 0);
    assert_true(m.facts.n <= most);
    for (uint32_t x = 0; x < SLOTS; x++) {
      assert_true(nsr_facts_level(&m.facts, x) >= m.level[x]);
      if (none && x < 20)
        assert_int_equal(nsr_facts_level(&m.facts, x), 0);
    }
  }
  nsr_ctx_free(pool.ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_operations),
      cmocka_unit_test(test_coarse),
      cmocka_unit_test(test_settle),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
