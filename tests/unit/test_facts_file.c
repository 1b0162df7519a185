/* test_facts_file.c - files of facts: damaged, and while memory is short. What
 * facts do is in tests/golden/facts.test.
 */
#include "passes.h"
#include "prng.h"

static const char kernel[] =
    ".isa tile64\n.tensor n dram i32 [1] at 0 input range 0 9\n"
    ".tensor a dram f32 [4] at 64 input\n.tensor b dram f32 [4] at 64 scratch\n"
    ".tensor t sbuf f32 [1] at 0:1, 0 scratch\n"
    ".engine dve\n memset t value=1\n sync\n halt\n"
    ".engine pool\n memset t value=2\n sync\n halt\n";

static const char facts[] = "race dve[0] pool[0] ; comment\n"
                            "race k.s:7 \"k.s\":11\n"
                            "disjoint a b\nrange n 1 2*3\n"
                            "reserve dve r3..r5\nreserve s3..s5\n";

static const struct nsr_fact_insn dve = {2, 0};

static enum nsr_status judge(struct nsr_ctx *ctx, const struct nsr_kernel *k,
                             const char *text, size_t n) {
  struct nsr_facts_file *f;
  struct nsr_judgement j;
  enum nsr_status status = nsr_facts_parse(ctx, k, "k.facts", text, n, &f);
  const struct nsr_judge_options options = {.facts =
                                                status == NSR_OK ? f : NULL};
  return status == NSR_OK ? nsr_cosimulate(ctx, k, k, &options, &j) : status;
}

static void test_no_memory(void **state) {
  (void)state;
  for (uint64_t n = 1; n < 400; n += n < 60 ? 1 : 13) {
    struct nsr_ctx *ctx = nsr_ctx_new();
    struct nsr_kernel *k = assemble(ctx, kernel);
    nsr_ctx_fail_alloc(ctx, n);
    enum nsr_status status = judge(ctx, k, facts, strlen(facts));
    assert_true(status == NSR_OK || status == NSR_E_NOMEM);
    nsr_ctx_free(ctx);
  }
}

/* Without the facts the kernel races. */
static void test_whole(void **state) {
  (void)state;
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_kernel *k = assemble(ctx, kernel);
  struct nsr_facts_file *f;
  struct nsr_judgement j;
  struct nsr_judge_options options = {.facts = NULL};
  assert_int_equal(nsr_cosimulate(ctx, k, k, &options, &j), NSR_OK);
  assert_int_equal(j.verdict, NSR_INPUT_BROKEN);
  assert_int_equal(j.fault, NSR_FAULT_RACE);
  assert_int_equal(nsr_facts_parse(ctx, k, "k.facts", facts, strlen(facts), &f),
                   NSR_OK);
  assert_int_equal(f->n, 6);
  assert_int_equal(f->facts[3].last, 6);
  options.facts = f;
  assert_int_equal(nsr_cosimulate(ctx, k, k, &options, &j), NSR_OK);
  assert_int_equal(j.verdict, NSR_EQUAL);
  assert_true(f->used[0] && f->used[1] && f->used[3]);
  assert_false(f->used[2] || f->used[4] || f->used[5]);
  assert_true(nsr_facts_disjoint(f, 2, 1));
  assert_false(nsr_facts_disjoint(f, 2, 2) || nsr_facts_disjoint(f, 2, 0) ||
               nsr_facts_disjoint(NULL, 2, 1));
  assert_true(!nsr_facts_keep_register(f, 3, 5) &&
              nsr_facts_keep_register(f, nsr_isa_engine(k->isa, "dve"), 5));
  assert_false(nsr_facts_race(f, dve, dve));
  nsr_ctx_free(ctx);
}

/* Any bytes are facts or an error, and never more than that. */
static void test_damage(void **state) {
  (void)state;
  struct prng r = prng_seed("damaged facts", 1);
  for (int i = 0; i < 3000; i++) {
    char text[sizeof facts];
    struct nsr_ctx *ctx = nsr_ctx_new();
    struct nsr_kernel *k = assemble(ctx, kernel);
    struct nsr_facts_file *f;
    size_t n = sizeof facts - 1;
    memcpy(text, facts, n);
    for (int64_t j = prng_in(&r, 0, 4); j > 0; j--)
      text[prng_in(&r, 0, (int64_t)n - 1)] =
          prng_in(&r, 0, 1) ? (char)prng_next(&r)
                            : facts[prng_in(&r, 0, (int64_t)n - 1)];
    n = (size_t)prng_in(&r, 0, (int64_t)n);
    enum nsr_status status = nsr_facts_parse(ctx, k, "k.facts", text, n, &f);
    assert_true(status == NSR_OK || status == NSR_E_SYNTAX);
    nsr_ctx_free(ctx);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_whole),
                                     cmocka_unit_test(test_no_memory),
                                     cmocka_unit_test(test_damage)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
