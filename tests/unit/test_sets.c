/* test_sets.c - sets of an item in both forms, operation by operation, and
 * walks over whole kernels with either.
 */
#include "passes.h"
#include "prng.h"

#include <nsr/gen.h>

#include "base/vec.h"
#include "dep/explicit.h"
#include "dep/views.h"
#include "ir/islands.h"

/* ---- operation by operation */

enum { CHANNELS = 5, SETS = 4, LEVELS = 6, STEPS = 300 };

/* The same item and sets, dense and as stretches. */
struct twin {
  struct nsr_slots slots;
  struct nsr_set set[SETS];
};

/* Slots of all channels in some order of the text; all levels of each are told
 * apart, or some. */
static void lay_text(struct prng *r, struct nsr_slots *s, bool all) {
  uint32_t left[CHANNELS], n = 0;
  for (int ch = 0; ch < CHANNELS; ch++)
    n += left[ch] = s->n[ch];
  assert_int_equal(nsr_slots_room(s, n), NSR_OK);
  for (uint32_t i = 0; i < n; i++) {
    int ch = (int)prng_in(r, 0, CHANNELS - 1);
    while (!left[ch])
      ch = (ch + 1) % CHANNELS;
    left[ch]--;
    s->channel[i] = (uint8_t)ch;
    s->most[i] = (uint8_t)(all ? LEVELS : prng_in(r, 1, LEVELS));
  }
}

static void lay(struct prng *r, struct twin t[2], struct nsr_ctx *ctx,
                bool all) {
  uint32_t at = 0;
  struct nsr_slots s = {
      .ctx = ctx, .pool.ctx = ctx, .levels = LEVELS, .nch = CHANNELS};
  for (int ch = 0; ch < CHANNELS; ch++) {
    s.first[ch] = at += (uint32_t)prng_in(r, 0, 50);
    s.n[ch] = (uint32_t)prng_in(r, 0, 3) * (uint32_t)prng_in(r, 0, 13);
    at += s.n[ch];
  }
  lay_text(r, &s, all);
  for (int i = 0; i < 2; i++) {
    t[i] = (struct twin){.slots = s};
    nsr_slots_lay(&t[i].slots, i == 0);
    assert_int_equal(t[i].slots.words > 0, i == 0);
    for (int k = 0; k < SETS; k++)
      assert_int_equal(nsr_set_begin(&t[i].slots, &t[i].set[k]), NSR_OK);
  }
}

static void compare(struct twin t[2], int set) {
  const struct nsr_slots *s = &t[0].slots;
  for (uint32_t ch = 0; ch < CHANNELS; ch++)
    for (uint32_t x = s->first[ch]; x < s->first[ch] + s->n[ch]; x++)
      for (uint32_t level = 0; level < s->most[nsr_slot_place(s, ch, x)];
           level++)
        assert_int_equal(
            nsr_set_unknown(s, &t[0].set[set], ch, x, level),
            nsr_set_unknown(&t[1].slots, &t[1].set[set], ch, x, level));
}

/* A range of a channel's slots, maybe empty. */
static void range(struct prng *r, const struct nsr_slots *s, uint32_t ch,
                  uint32_t *lo, uint32_t *hi) {
  *lo = s->first[ch] + (uint32_t)prng_in(r, 0, s->n[ch]);
  *hi = (uint32_t)prng_in(r, *lo, s->first[ch] + s->n[ch]);
}

static void age(struct prng *r, struct twin t[2], int set) {
  for (int i = 0; i < 2; i++)
    nsr_set_age_begin(&t[i].slots);
  for (uint32_t ch = 0; ch < CHANNELS; ch++) {
    uint32_t lo, hi, more = (uint32_t)prng_in(r, 1, LEVELS);
    range(r, &t[0].slots, ch, &lo, &hi);
    for (int i = 0; i < 2; i++)
      assert_int_equal(
          nsr_set_age(&t[i].slots, &t[i].set[set], ch, lo, hi, more), NSR_OK);
  }
  for (int i = 0; i < 2; i++)
    assert_int_equal(nsr_set_age_end(&t[i].slots, &t[i].set[set]), NSR_OK);
}

/* Places of the dense set, and the slots there of the other. */
static void age_places(struct prng *r, struct twin t[2], int set) {
  const struct nsr_slots *s = &t[0].slots;
  uint32_t n = 0, more = (uint32_t)prng_in(r, 1, LEVELS);
  for (int ch = 0; ch < CHANNELS; ch++)
    n += s->n[ch];
  uint32_t lo = (uint32_t)prng_in(r, 0, n), hi = (uint32_t)prng_in(r, 0, n);
  nsr_set_age_places(&t[0].slots, &t[0].set[set], lo, hi, more);
  nsr_set_age_begin(&t[1].slots);
  for (uint32_t ch = 0; ch < CHANNELS; ch++)
    for (uint32_t x = s->first[ch]; x < s->first[ch] + s->n[ch]; x++)
      if (nsr_slot_place(s, ch, x) >= lo && nsr_slot_place(s, ch, x) < hi)
        assert_int_equal(
            nsr_set_age(&t[1].slots, &t[1].set[set], ch, x, x + 1, more),
            NSR_OK);
  assert_int_equal(nsr_set_age_end(&t[1].slots, &t[1].set[set]), NSR_OK);
}

static void merge(struct prng *r, struct twin t[2], int a, int b, bool all) {
  enum nsr_facts_op op = prng_in(r, 0, 1) ? NSR_FACTS_MAX : NSR_FACTS_MIN;
  bool changed[2];
  for (int i = 0; i < 2; i++)
    assert_int_equal(
        nsr_set_merge(&t[i].slots, &t[i].set[a], &t[i].set[b], op, &changed[i]),
        NSR_OK);
  if (all || changed[0])
    assert_int_equal(changed[0], changed[1]);
}

static void one_slot(struct prng *r, struct twin t[2], int set) {
  const struct nsr_slots *s = &t[0].slots;
  uint32_t ch = (uint32_t)prng_in(r, 0, CHANNELS - 1);
  bool all = prng_in(r, 0, 2) == 0;
  if (!all && !s->n[ch])
    return;
  uint32_t slot =
      s->first[ch] + (uint32_t)(all ? 0 : prng_in(r, 0, s->n[ch] - 1));
  uint32_t level = (uint32_t)prng_in(r, 0, LEVELS);
  for (int i = 0; i < 2; i++) {
    struct nsr_set *x = &t[i].set[set];
    assert_int_equal(all ? nsr_set_learn(&t[i].slots, x, ch)
                         : nsr_set_lower(&t[i].slots, x, ch, slot, level),
                     NSR_OK);
  }
}

static void test_operations(void **state) {
  (void)state;
  struct prng r = prng_seed("both forms", 1);
  for (int round = 0; round < 60; round++) {
    struct nsr_ctx *ctx = nsr_ctx_new();
    struct twin t[2];
    bool all = round % 2;
    lay(&r, t, ctx, all);
    for (int step = 0; step < STEPS; step++) {
      int a = (int)prng_in(&r, 0, SETS - 1), b = (int)prng_in(&r, 0, SETS - 1);
      int64_t what = prng_in(&r, 0, 9);
      if (what < 2)
        age(&r, t, a);
      else if (what < 4)
        age_places(&r, t, a);
      else if (what < 6 && a != b)
        merge(&r, t, a, b, all);
      else if (what < 9)
        one_slot(&r, t, a);
      for (int i = 0; what == 9 && a != b && i < 2; i++)
        assert_int_equal(nsr_set_copy(&t[i].slots, &t[i].set[a], &t[i].set[b]),
                         NSR_OK);
      compare(t, a);
    }
    for (int k = 0; all && k < SETS; k++) {
      assert_int_equal(nsr_set_to_facts(&t[0].slots, &t[0].set[k]), NSR_OK);
      assert_true(nsr_facts_equal(&t[0].set[k].facts, &t[1].set[k].facts));
    }
    assert_false(t[1].slots.coarse);
    nsr_ctx_free(ctx);
  }
}

/* ---- whole walks */

static enum nsr_status read_kernel(struct nsr_ctx *ctx, int64_t seed,
                                   int64_t size, struct nsr_program *p,
                                   struct nsr_tree *t) {
  struct nsr_setting settings[] = {{"seed", seed}, {"instructions", size}};
  struct nsr_gen_options gen = {.nsettings = 2, .settings = settings};
  struct nsr_kernel *k;
  struct nsr_islands islands;
  uint32_t *target;
  NSR_TRY(nsr_gen(ctx, "random", &gen, &k));
  NSR_TRY(nsr_kernel_check(ctx, k));
  NSR_TRY(nsr_program_build(ctx, k, p));
  NSR_TRY(nsr_tree_build(ctx, p, &(struct nsr_key_loads){0}, t));
  NSR_TRY(nsr_islands_find(ctx, t, NULL, 0, true, &islands));
  NSR_TRY(nsr_explicit_map(ctx, t, &islands, false, &target));
  return nsr_tree_linearize(ctx, t, &islands, &target);
}

enum { MOST_LAG = 2, WAITS = 2, ASKED = 60 };

struct made_up_wait {
  uint32_t p, lag;
};

struct asker {
  struct nsr_ctx *ctx;
  const struct nsr_tree *tree;
  const struct made_up_wait *waits; /* WAITS for each work */
  NSR_VEC(uint8_t) answers;
};

static bool is_asked(const struct nsr_tree *t, uint32_t w) {
  return t->works[w].channel >= 0;
}

/* Asks about works around this one, then waits. */
static enum nsr_status ask(void *user, struct nsr_walk *walk, uint32_t w) {
  struct asker *a = user;
  const struct nsr_tree *t = a->tree;
  uint32_t from = w > ASKED / 2 ? w - ASKED / 2 : 0;
  for (uint32_t q = from; q < from + ASKED && q < t->nworks; q++)
    for (int e = 0; is_asked(t, q) && e < NSR_MAX_ENGINES; e++) {
      uint8_t answer = 0;
      for (uint32_t lag = 0; t->program->stream[e] && lag <= MOST_LAG; lag++) {
        bool known;
        NSR_TRY(nsr_walk_known(walk, e, q, lag, &known));
        answer = (uint8_t)(2 * answer + known);
      }
      NSR_PUSH(a->ctx, NSR_SCRATCH, &a->answers, answer);
    }
  for (int i = 0; i < WAITS; i++) {
    const struct made_up_wait *x = &a->waits[WAITS * (size_t)w + (size_t)i];
    if (x->p != NSR_NONE)
      NSR_TRY(nsr_walk_wait(walk, t->works[w].engine, x->p, x->lag));
  }
  return NSR_OK;
}

/* Waits for works near by, seldom for ones far back; not all announced. */
static enum nsr_status make_waits(struct nsr_ctx *ctx, struct prng *r,
                                  const struct nsr_tree *t,
                                  struct made_up_wait **out) {
  NSR_NEW(ctx, NSR_SCRATCH, *out, WAITS * (size_t)t->nworks);
  for (uint32_t i = 0; i < WAITS * t->nworks; i++) {
    int64_t w = i / WAITS, back = prng_in(r, 0, 9) ? 40 : t->nworks;
    int64_t p = prng_in(r, w > back ? w - back : 0, w + 20);
    bool some = prng_in(r, 0, 2) > 0 && p < t->nworks &&
                is_asked(t, (uint32_t)p) && is_asked(t, (uint32_t)w);
    (*out)[i].p = some ? (uint32_t)p : NSR_NONE;
    (*out)[i].lag = prng_in(r, 0, 3) ? 0 : (uint32_t)prng_in(r, 0, MOST_LAG);
  }
  return NSR_OK;
}

static enum nsr_status walk(struct asker *a, bool dense, bool *coarse) {
  struct nsr_walk *w;
  NSR_TRY(nsr_walk_new(a->ctx, a->tree, true, &w));
  if (!dense)
    w->most_dense = 0;
  for (uint32_t i = 0; i < nsr_walk_nitems(w); i++)
    nsr_walk_asks(w, i, MOST_LAG);
  for (uint32_t i = 0; i < a->tree->nworks; i++)
    if (is_asked(a->tree, i))
      nsr_walk_about(w, i);
  for (uint32_t i = 0; i < WAITS * a->tree->nworks; i++)
    if (a->waits[i].p != NSR_NONE && i % 7)
      nsr_walk_awaits(w, i / WAITS, a->waits[i].p, a->waits[i].lag);
  a->answers.n = 0;
  for (uint32_t i = 0; i < nsr_walk_nitems(w); i++) {
    NSR_TRY(nsr_walk_enter(w, i));
    NSR_TRY(nsr_walk_through(w, ask, a));
    NSR_TRY(nsr_walk_leave(w));
  }
  assert_true(!dense || w->slots.words > 0);
  *coarse = nsr_walk_coarse(w);
  return NSR_OK;
}

static enum nsr_status walk_twice(struct nsr_ctx *ctx, struct prng *r,
                                  int64_t seed, int64_t size, int *compared) {
  struct nsr_program p;
  struct nsr_tree t;
  struct made_up_wait *waits;
  bool coarse;
  NSR_TRY(read_kernel(ctx, seed, size, &p, &t));
  NSR_TRY(make_waits(ctx, r, &t, &waits));
  struct asker dense = {.ctx = ctx, .tree = &t, .waits = waits}, sparse = dense;
  NSR_TRY(walk(&dense, true, &coarse));
  NSR_TRY(walk(&sparse, false, &coarse));
  if (coarse) /* claims less, in another number of rounds */
    return NSR_OK;
  ++*compared;
  assert_int_equal(dense.answers.n, sparse.answers.n);
  for (size_t i = 0; i < dense.answers.n; i++)
    if (dense.answers.v[i] != sparse.answers.v[i])
      fail_msg("random seed=%d instructions=%d: answer %u of %u differs",
               (int)seed, (int)size, (unsigned)i, (unsigned)dense.answers.n);
  return NSR_OK;
}

static void test_walks(void **state) {
  (void)state;
  struct prng r = prng_seed("walks in both forms", 1);
  int compared = 0;
  for (int i = 0; i < 36; i++) {
    struct nsr_ctx *ctx = nsr_ctx_new();
    enum nsr_status status =
        walk_twice(ctx, &r, prng_in(&r, 0, 1 << 20), 20 + i * i, &compared);
    if (status != NSR_OK)
      fail_msg("%s", nsr_ctx_first_error(ctx)->text);
    nsr_ctx_free(ctx);
  }
  assert_true(compared >= 20);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_operations),
      cmocka_unit_test(test_walks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
