/* The slowest cycle, against all simple cycles of small graphs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "limits/cycle_ratio.h"
#include "prng.h"

enum { NODES = 5, ARCS = 12 };

struct search {
  const struct nsr_arc *arcs;
  size_t n;
  uint32_t start;
  int64_t best_time;
  uint64_t best_distance; /* 0: none */
  bool none, loops;       /* loops: a cycle without distance */
};

static void walk(struct search *s, uint32_t at, unsigned seen, int64_t time,
                 uint64_t distance) {
  for (size_t i = 0; i < s->n; i++) {
    const struct nsr_arc *a = &s->arcs[i];
    if (a->from != at || a->to < s->start)
      continue;
    int64_t t = time + a->time;
    uint64_t d = distance + a->distance;
    if (a->to != s->start) {
      if (!(seen >> a->to & 1))
        walk(s, a->to, seen | 1u << a->to, t, d);
      continue;
    }
    s->loops = s->loops || !d;
    if (!s->best_distance ||
        t * (int64_t)s->best_distance > s->best_time * (int64_t)d) {
      s->best_time = t;
      s->best_distance = d;
    }
  }
}

static void test_all_cycles(void **state) {
  (void)state;
  struct prng r = prng_seed("test_cycle_ratio", 1);
  struct nsr_ctx *ctx = nsr_ctx_new();
  unsigned cycles = 0, without = 0;
  for (int n = 0; n < 3000; n++) {
    struct nsr_arc arcs[ARCS];
    struct search s = {.arcs = arcs, .n = (size_t)prng_in(&r, 0, ARCS)};
    for (size_t i = 0; i < s.n; i++)
      arcs[i] = (struct nsr_arc){(uint32_t)prng_in(&r, 0, NODES - 1),
                                 (uint32_t)prng_in(&r, 0, NODES - 1),
                                 prng_in(&r, 0, 20),
                                 (uint32_t)prng_in(&r, 0, n % 4 ? 3 : 1)};
    for (s.start = 0; s.start < NODES; s.start++)
      walk(&s, s.start, 1u << s.start, 0, 0);
    int64_t time;
    uint64_t distance;
    bool known;
    assert_int_equal(
        nsr_cycle_ratio(ctx, NODES, arcs, s.n, &time, &distance, &known),
        NSR_OK);
    if (s.loops) { /* one of them may be found */
      without++;
      continue;
    }
    assert_true(known);
    assert_int_equal(!distance, !s.best_distance);
    cycles += distance > 0;
    assert_int_equal(time * (int64_t)s.best_distance,
                     s.best_time * (int64_t)distance);
  }
  assert_true(cycles > 500 && without > 100);
  nsr_ctx_free(ctx);
}

/* Load 200, product 150, which overwrite one of two buffers. */
static void test_example(void **state) {
  (void)state;
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_arc arcs[] = {{0, 1, 200, 0}, {1, 0, 150, 1}};
  int64_t time;
  uint64_t distance;
  bool known;
  assert_int_equal(nsr_cycle_ratio(ctx, 2, arcs, 2, &time, &distance, &known),
                   NSR_OK);
  assert_true(known && time == 350 && distance == 1);
  arcs[1].distance = 2;
  assert_int_equal(nsr_cycle_ratio(ctx, 2, arcs, 2, &time, &distance, &known),
                   NSR_OK);
  assert_true(known && time == 350 && distance == 2);
  arcs[1].distance = 0;
  assert_int_equal(nsr_cycle_ratio(ctx, 2, arcs, 2, &time, &distance, &known),
                   NSR_OK);
  assert_false(known);
  assert_int_equal(
      nsr_cycle_ratio(ctx, 3000, arcs, 2, &time, &distance, &known), NSR_OK);
  assert_false(known);
  nsr_ctx_free(ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_cycles),
                                     cmocka_unit_test(test_example)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
