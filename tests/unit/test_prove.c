/* test_prove.c - the static judge: it proves what the rewriter makes of the
 * suite and of random kernels, under every scheme, and no mutant of that which
 * co-simulation refutes.
 *
 * NSR_SEED sets the first seed, NSR_KERNELS how many kernels. What is not
 * proved is printed with its seed and scheme.
 */
#include "passes.h"
#include "prng.h"

#include <nsr/gen.h>
#include <nsr/prove.h>

static const char *const schemes[] = {"auto",         "per-loop",
                                      "per-engine",   "per-instruction",
                                      "equal-weight", "published"};
enum { NSCHEMES = sizeof schemes / sizeof *schemes };

struct tally {
  unsigned proved, undecided, refused;
  unsigned mutants, killed, refuted, accepted;
};

static unsigned kernels(unsigned normally) {
  const char *n = getenv("NSR_KERNELS");
  return n ? (unsigned)strtoul(n, NULL, 0) : normally;
}

/* One kernel rewritten under one scheme; NULL: refused. */
static struct nsr_kernel *
rewritten(struct nsr_ctx *ctx, const struct nsr_kernel *k, const char *scheme) {
  struct nsr_rewrite_options options = {
      .verify = NSR_VERIFY_NONE,
      .scheme = (enum nsr_scheme)nsr_scheme_parse(scheme)};
  struct nsr_rewrite_report report;
  struct nsr_kernel *out;
  if (nsr_rewrite(ctx, k, NULL, 0, &options, &out, &report) != NSR_OK)
    return NULL;
  return out;
}

static bool is_proved(struct nsr_ctx *ctx, const struct nsr_kernel *a,
                      const struct nsr_kernel *b, struct nsr_proof *p) {
  assert_int_equal(nsr_prove(ctx, a, b, NULL, p), NSR_OK);
  assert_true((p->verdict == NSR_PROOF_PROVED) == (p->text == NULL));
  return p->verdict == NSR_PROOF_PROVED;
}

/* ---- what the rewriter makes */

static void test_suite(void **state) {
  (void)state;
  for (int i = 0; nsr_isas[i]; i++)
    for (int n = 0; nsr_gen_names[n]; n++)
      for (int s = 0; s < NSCHEMES; s++) {
        struct nsr_ctx *ctx = nsr_ctx_new();
        struct nsr_gen_options gen = {.isa = nsr_isas[i]};
        struct nsr_kernel *k, *out = NULL;
        struct nsr_proof p;
        if (strcmp(nsr_gen_names[n], "random") != 0 &&
            nsr_gen(ctx, nsr_gen_names[n], &gen, &k) == NSR_OK)
          out = rewritten(ctx, k, schemes[s]);
        if (out && !is_proved(ctx, k, out, &p))
          fail_msg("%s %s %s: %s: %s: %s", nsr_isas[i]->name, nsr_gen_names[n],
                   schemes[s], nsr_proof_verdict_name(p.verdict),
                   nsr_proof_rule_name(p.rule), p.text);
        nsr_ctx_free(ctx);
      }
}

static struct nsr_kernel *random_kernel(struct nsr_ctx *ctx, uint64_t seed,
                                        int64_t size) {
  int sets = 0;
  while (nsr_isas[sets])
    sets++;
  struct nsr_setting settings[] = {{"seed", (int64_t)seed},
                                   {"instructions", size}};
  struct nsr_gen_options gen = {.isa = nsr_isas[seed % (unsigned)sets],
                                .nsettings = 2,
                                .settings = settings};
  struct nsr_kernel *k;
  assert_int_equal(nsr_gen(ctx, "random", &gen, &k), NSR_OK);
  assert_int_equal(nsr_kernel_check(ctx, k), NSR_OK);
  return k;
}

static void one_random(uint64_t seed, int64_t size, struct tally *t) {
  for (int s = 0; s < NSCHEMES; s++) {
    struct nsr_ctx *ctx = nsr_ctx_new();
    struct nsr_kernel *k = random_kernel(ctx, seed, size);
    struct nsr_kernel *out = rewritten(ctx, k, schemes[s]);
    struct nsr_proof p;
    bool proved = out && is_proved(ctx, k, out, &p);
    t->proved += proved;
    t->refused += !out;
    if (out && !proved) {
      t->undecided++;
      printf("%s seed=%" PRIu64 " instructions=%d %s: %s: %s: %s\n",
             k->isa->name, seed, (int)size, schemes[s],
             nsr_proof_verdict_name(p.verdict), nsr_proof_rule_name(p.rule),
             p.text);
    }
    nsr_ctx_free(ctx);
  }
}

static void test_random_kernels(void **state) {
  (void)state;
  struct prng r = prng_seed("static judge", 1);
  struct tally t = {0};
  uint64_t first = r.state;
  for (uint64_t seed = first; seed < first + kernels(30); seed++)
    one_random(seed, 10 + (int64_t)(seed * 37 % 700), &t);
  printf("proved %u, undecided %u, refused %u\n", t.proved, t.undecided,
         t.refused);
  assert_true(t.proved > t.refused);
  assert_true(t.undecided * 20 <= t.proved);
}

/* What the publication counts behind a barrier that stays is not what an island
 * behind it counts. */
static void test_islands_count_apart(void **state) {
  (void)state;
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_kernel *k = random_kernel(ctx, 21813, 694), *out;
  struct nsr_rewrite_options options = {.verify = NSR_VERIFY_NONE,
                                        .scheme = NSR_SCHEME_PUBLISHED,
                                        .published =
                                            NSR_SCHEME_PER_INSTRUCTION};
  struct nsr_rewrite_report report;
  struct nsr_proof p;
  assert_int_equal(nsr_rewrite(ctx, k, NULL, 0, &options, &out, &report),
                   NSR_OK);
  assert_true(report.nkept > 1);
  if (!is_proved(ctx, k, out, &p))
    fail_msg("%s", p.text);
  nsr_ctx_free(ctx);
}

/* ---- mutants */

enum { MUTANTS = 4 }; /* of one operator and kernel */

struct series {
  struct nsr_ctx *ctx;
  const struct nsr_kernel *input;
  struct tally *t;
  uint64_t seed;
  unsigned left;
};

static enum nsr_status look_at(void *self, const struct nsr_kernel *mutant,
                               const char *what) {
  struct series *s = self;
  struct nsr_proof p;
  struct nsr_judge_options options = {.inputs = 16};
  struct nsr_judgement j;
  if (s->left-- == 0)
    return NSR_E_REFUSED;
  s->t->mutants++;
  if (!is_proved(s->ctx, s->input, mutant, &p)) {
    s->t->killed++;
    return NSR_OK;
  }
  if (nsr_cosimulate(s->ctx, s->input, mutant, &options, &j) != NSR_OK ||
      j.verdict != NSR_REFUTED)
    return NSR_OK;
  s->t->accepted++;
  printf("seed %" PRIu64 ": proved, but refuted: %s: %s\n", s->seed, what,
         j.text);
  return NSR_OK;
}

static void mutants_of(uint64_t seed, struct tally *t) {
  for (const struct nsr_operator *op = nsr_operators; op->number; op++) {
    struct nsr_ctx *ctx = nsr_ctx_new();
    struct nsr_kernel *k = random_kernel(ctx, seed, 10 + seed * 29 % 150);
    struct nsr_kernel *out = rewritten(ctx, k, schemes[seed % NSCHEMES]);
    struct series s = {ctx, k, t, seed, MUTANTS};
    if (out && !op->instead &&
        nsr_mutate_each(ctx, out, op, look_at, &s) != NSR_OK)
      assert_int_equal(s.left, UINT32_MAX);
    nsr_ctx_free(ctx);
  }
}

static void test_mutants(void **state) {
  (void)state;
  struct prng r = prng_seed("static judge, mutants", 1);
  struct tally t = {0};
  uint64_t first = r.state;
  for (uint64_t seed = first; seed < first + kernels(12); seed++)
    mutants_of(seed, &t);
  mutants_of(5057, &t); /* an update in front of where a branch lands */
  printf("mutants %u, not proved %u, proved although refuted %u\n", t.mutants,
         t.killed, t.accepted);
  assert_int_equal(t.accepted, 0);
  assert_true(t.killed > t.mutants / 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_suite),
                                     cmocka_unit_test(test_random_kernels),
                                     cmocka_unit_test(test_islands_count_apart),
                                     cmocka_unit_test(test_mutants)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
