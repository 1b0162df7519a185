/* test_mutate.c - mutants of random kernels, rewritten or not: all are valid,
 * all differ from what they were made of, an index finds each again, and the
 * judge refutes some of every operator and none of the one that cancels out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <nsr/gen.h>
#include <nsr/judge.h>
#include <nsr/rewrite.h>

#include "prng.h"

enum { KERNELS = 12, NOPERATORS = 31, JUDGED = 6 };

struct series {
  struct nsr_ctx *ctx;
  const struct nsr_kernel *input, *k; /* before and behind the rewrite */
  const struct nsr_operator *op;
  struct prng *r;
  uint64_t places;
  unsigned *refuted;
  bool judge;
};

static bool same_code(const struct nsr_kernel *a, const struct nsr_kernel *b) {
  for (uint32_t s = 0; s < a->nstreams; s++)
    if (a->streams[s].n != b->streams[s].n ||
        memcmp(a->streams[s].code, b->streams[s].code,
               (size_t)a->streams[s].n * a->isa->word) != 0)
      return false;
  return true;
}

static enum nsr_status judge(struct series *s, const struct nsr_kernel *mutant,
                             const char *what) {
  const struct nsr_judge_options options = {.inputs = 8, .no_relaunch = true};
  struct nsr_judgement j;
  NSR_TRY(nsr_cosimulate(s->ctx, s->input, mutant, &options, &j));
  *s->refuted += j.verdict == NSR_REFUTED;
  if (s->op->number == 30 && j.verdict != NSR_EQUAL)
    fail_msg("%s: %s: %s", what, nsr_verdict_name(j.verdict), j.text);
  return NSR_OK;
}

static enum nsr_status look_at(void *self, const struct nsr_kernel *mutant,
                               const char *what) {
  struct series *s = self;
  struct nsr_kernel *again;
  const char *what_again;
  uint64_t places;
  NSR_TRY(nsr_kernel_check(s->ctx, mutant));
  if (same_code(s->k, mutant))
    fail_msg("operator %d: %s: nothing has changed", s->op->number, what);
  if (prng_in(s->r, 0, 7) == 0) {
    NSR_TRY(nsr_mutate(s->ctx, s->k, s->op, s->places, &again, &what_again,
                       &places));
    if (!again || !same_code(mutant, again) || strcmp(what, what_again) != 0)
      fail_msg("operator %d: %s: another one by its index", s->op->number,
               what);
  }
  s->places++;
  return s->judge && s->places <= JUDGED ? judge(s, mutant, what) : NSR_OK;
}

static void all_of(struct series *s, const struct nsr_kernel *k) {
  struct nsr_kernel *none;
  const char *what;
  uint64_t places;
  s->k = k;
  s->places = 0;
  if (s->op->instead) {
    assert_int_equal(nsr_mutate_each(s->ctx, k, s->op, look_at, s),
                     NSR_E_USAGE);
    return;
  }
  assert_int_equal(nsr_mutate_each(s->ctx, k, s->op, look_at, s), NSR_OK);
  assert_int_equal(
      nsr_mutate(s->ctx, k, s->op, s->places, &none, &what, &places), NSR_OK);
  assert_null(none);
  assert_int_equal(places, s->places);
}

static void one_kernel(const struct nsr_isa *isa, struct prng *r,
                       unsigned *refuted) {
  struct nsr_setting settings[] = {{"seed", prng_in(r, 0, INT32_MAX)},
                                   {"instructions", prng_in(r, 20, 150)}};
  struct nsr_gen_options gen = {
      .isa = isa, .nsettings = 2, .settings = settings};
  struct nsr_rewrite_options options = {
      .verify = NSR_VERIFY_NONE,
      .scheme = (enum nsr_scheme)prng_in(r, 0, NSR_SCHEME_PER_INSTRUCTION)};
  struct nsr_rewrite_report report;
  for (const struct nsr_operator *op = nsr_operators; op->number; op++) {
    struct nsr_ctx *ctx = nsr_ctx_new();
    struct nsr_kernel *k, *out;
    struct series s = {
        .ctx = ctx, .op = op, .r = r, .refuted = &refuted[op->number]};
    assert_int_equal(nsr_gen(ctx, "random", &gen, &k), NSR_OK);
    assert_int_equal(nsr_kernel_check(ctx, k), NSR_OK);
    all_of(&s, k);
    if (nsr_rewrite(ctx, k, NULL, 0, &options, &out, &report) == NSR_OK) {
      s.input = k;
      s.judge = true;
      all_of(&s, out);
    }
    nsr_ctx_free(ctx);
  }
}

/* Of those that the random kernels have places for. */
static void check_refuted(const struct nsr_isa *isa, const unsigned *refuted) {
  static const uint8_t found[] = {1, 2,  3,  4,  5,  6,  7,  8,
                                  9, 11, 14, 16, 18, 19, 20, 29};
  for (size_t i = 0; i < sizeof found; i++)
    if (!refuted[found[i]])
      fail_msg("%s: no mutant of operator %d was refuted", isa->name, found[i]);
}

static void test_random_mutants(void **state) {
  (void)state;
  struct prng r = prng_seed("random mutants", 1);
  for (int i = 0; nsr_isas[i]; i++) {
    unsigned refuted[NOPERATORS] = {0};
    for (int n = 0; n < KERNELS; n++)
      one_kernel(nsr_isas[i], &r, refuted);
    check_refuted(nsr_isas[i], refuted);
  }
}

static void test_names(void **state) {
  (void)state;
  int n = 0;
  for (const struct nsr_operator *op = nsr_operators; op->number; op++) {
    char number[8];
    snprintf(number, sizeof number, "%d", op->number);
    assert_ptr_equal(nsr_operator_parse(op->name), op);
    assert_ptr_equal(nsr_operator_parse(number), op);
    assert_int_equal(op->number, ++n);
  }
  assert_int_equal(n, NOPERATORS - 1);
  assert_string_equal(nsr_operators[0].name, "drop-wait");
  static const char *const wrong[] = {"", "0", "31", "1x", "drop", "-1", " 1"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    assert_null(nsr_operator_parse(wrong[i]));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_names),
                                     cmocka_unit_test(test_random_mutants)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
