/* test_random.c - random kernels, rewritten and judged.
 *
 * NSR_SEED sets the first seed, NSR_KERNELS how many (tools/campaign.sh runs
 * many of them), one after the other for each instruction set. A kernel that
 * fails is named by its seed:
 * nsync-gen random --isa=ISA --seed=N --instructions=M.
 */
#include "passes.h"
#include "prng.h"

#include <nsr/gen.h>

enum { MAX_SETS = 16 };

struct tally {
  unsigned rewritten, refused, instances;
};

static void say_first(struct nsr_ctx *ctx, const struct nsr_isa *isa,
                      uint64_t seed, int64_t size) {
  char line[2000] = "";
  const struct nsr_diag *d = nsr_ctx_first_error(ctx);
  if (d)
    nsr_diag_format(d, line, sizeof line);
  fprintf(stderr, "random isa=%s seed=%" PRIu64 " instructions=%d: %s\n",
          isa->name, seed, (int)size, line);
}

/* Rewrites one kernel under its judge; refusals for lack of registers or
 * semaphores are counted. */
static bool try_kernel(const struct nsr_isa *isa, uint64_t seed, int64_t size,
                       struct tally *tally) {
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_setting settings[] = {{"seed", (int64_t)seed},
                                   {"instructions", size}};
  struct nsr_gen_options gen = {
      .isa = isa, .nsettings = 2, .settings = settings};
  struct nsr_rewrite_options options = {.judge = {.inputs = 12}};
  struct nsr_rewrite_report report;
  struct nsr_kernel *k, *out;
  enum nsr_status status = nsr_gen(ctx, "random", &gen, &k);
  if (status == NSR_OK)
    status = nsr_kernel_check(ctx, k);
  if (status == NSR_OK)
    status = nsr_rewrite(ctx, k, NULL, 0, &options, &out, &report);
  bool good = status == NSR_OK && report.judgement.verdict == NSR_EQUAL;
  bool budget = status == NSR_E_REFUSED &&
                strstr(nsr_ctx_first_error(ctx)->text, " needed to count ");
  if (good) {
    tally->rewritten++;
    tally->instances += (unsigned)report.judgement.instances;
  } else if (budget) {
    tally->refused++;
  } else {
    say_first(ctx, isa, seed, size);
  }
  nsr_ctx_free(ctx);
  return good || budget;
}

/* The next kernel is for the next instruction set. */
static void test_random_kernels(void **state) {
  (void)state;
  struct prng r = prng_seed("random kernels", 1);
  const char *n = getenv("NSR_KERNELS");
  unsigned kernels = n ? (unsigned)strtoul(n, NULL, 0) : 50, bad = 0, sets = 0;
  struct tally tally[MAX_SETS] = {0};
  uint64_t first = r.state;
  while (nsr_isas[sets])
    sets++;
  assert_in_range(sets, 1, MAX_SETS);
  for (uint64_t seed = first; seed < first + kernels; seed++) {
    unsigned set = (unsigned)(seed % sets);
    bad += !try_kernel(nsr_isas[set], seed, 10 + (int64_t)(seed * 37 % 700),
                       &tally[set]);
    if (n && (seed - first) % 1000 == 999)
      fprintf(stderr, "%" PRIu64 " of %u, %u bad\n", seed - first + 1, kernels,
              bad);
  }
  for (unsigned i = 0; i < sets; i++) {
    printf("%s: %u rewritten, %u refused, %u instances\n", nsr_isas[i]->name,
           tally[i].rewritten, tally[i].refused, tally[i].instances);
    assert_true(tally[i].rewritten > kernels / sets / 2);
  }
  assert_int_equal(bad, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_kernels)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
