/* test_budgets.c - few registers and semaphores: what cannot be counted with
 * them keeps its barriers, named; with one semaphore for each channel and two
 * registers for each engine that is nothing, in the kernels of the suite.
 *
 * NSR_SEED sets the first seed, NSR_KERNELS how many random kernels.
 */
#include "passes.h"
#include "prng.h"

#include <stdlib.h>

#include <nsr/gen.h>

struct tally {
  unsigned kernels, gone, kept, unchanged;
};

static unsigned channels(const struct nsr_kernel *k) {
  return k->nstreams + k->nqueues;
}

/* A barrier that stays says why. */
static bool named(const struct nsr_rewrite_report *r) {
  for (uint32_t i = 0; i < r->nkept; i++)
    if (strcmp(r->kept[i].reason, "exit barrier") != 0 &&
        !strstr(r->kept[i].reason, "is not counted: all would take ") &&
        !strstr(r->kept[i].reason, "island: "))
      return false;
  return r->nkept > 0;
}

static bool within(const struct nsr_rewrite_report *r,
                   const struct nsr_rewrite_options *o) {
  bool good = !r->changed || r->semaphores <= o->max_semaphores;
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    good &= r->engines[e].registers <= o->max_registers;
  return good;
}

static bool try_kernel(struct nsr_ctx *ctx, const struct nsr_kernel *k,
                       const char *name, uint32_t registers,
                       uint32_t semaphores, struct tally *t) {
  struct nsr_rewrite_options o = {.max_registers = registers,
                                  .limit_registers = true,
                                  .max_semaphores = semaphores,
                                  .limit_semaphores = true,
                                  .judge = {.inputs = 3}};
  struct nsr_rewrite_report r;
  struct nsr_kernel *out;
  enum nsr_status status = nsr_rewrite(ctx, k, NULL, 0, &o, &out, &r);
  bool good = status == NSR_OK && named(&r) && within(&r, &o) &&
              (!r.changed || r.judgement.verdict == NSR_EQUAL);
  if (!good)
    fprintf(stderr, "%s, %u registers, %u semaphores: %s %s\n", name, registers,
            semaphores, nsr_status_name(status),
            status == NSR_OK && r.judged ? r.judgement.text
            : nsr_ctx_first_error(ctx)   ? nsr_ctx_first_error(ctx)->text
                                         : "");
  t->kernels++;
  t->unchanged += !r.changed;
  t->kept += r.nkept - 1;
  t->gone += r.nkept == 1;
  return good;
}

static struct nsr_kernel *make(struct nsr_ctx *ctx, const char *name,
                               const char *isa, int64_t seed, int64_t size) {
  struct nsr_setting settings[] = {{"seed", seed}, {"instructions", size}};
  struct nsr_gen_options gen = {.isa = nsr_isa_by_name(isa),
                                .nsettings = size ? 2 : 0,
                                .settings = settings};
  struct nsr_kernel *k = NULL;
  if (nsr_gen(ctx, name, &gen, &k) != NSR_OK)
    fail_msg("%s: %s", name, nsr_ctx_first_error(ctx)->text);
  return k;
}

/* One for each channel, two for each engine. */
static void test_enough(void **state) {
  (void)state;
  static const char *const isas[] = {"tile64", "lane48"};
  for (size_t i = 0; i < sizeof isas / sizeof *isas; i++)
    for (int g = 0; nsr_gen_names[g]; g++) {
      struct nsr_ctx *ctx = nsr_ctx_new();
      struct tally t = {0};
      const char *name = nsr_gen_names[g];
      if (strcmp(name, "random") == 0) {
        nsr_ctx_free(ctx);
        continue;
      }
      struct nsr_kernel *k = make(ctx, name, isas[i], 0, 0);
      assert_true(try_kernel(ctx, k, name, 2, channels(k), &t));
      assert_int_equal(t.gone, 1);
      nsr_ctx_free(ctx);
    }
}

static unsigned kernels(unsigned n) {
  const char *text = getenv("NSR_KERNELS");
  return text ? (unsigned)strtoul(text, NULL, 0) : n;
}

static void test_random(void **state) {
  (void)state;
  static const uint32_t few[] = {0, 1, 2, 4, 8};
  struct prng r = prng_seed("budgets", 5);
  struct tally t = {0}, enough = {0};
  unsigned bad = 0, n = kernels(50);
  for (unsigned i = 0; i < n; i++) {
    struct nsr_ctx *ctx = nsr_ctx_new();
    char name[64];
    int64_t seed = (int64_t)(prng_next(&r) >> 33);
    int64_t size = prng_in(&r, 40, 400);
    snprintf(name, sizeof name, "seed=%lld instructions=%lld", (long long)seed,
             (long long)size);
    struct nsr_kernel *k =
        make(ctx, "random", i % 2 ? "lane48" : "tile64", seed, size);
    bad += !try_kernel(ctx, k, name, few[i % 5], few[i / 5 % 5], &t);
    bad += !try_kernel(ctx, k, name, 2, channels(k), &enough);
    nsr_ctx_free(ctx);
  }
  printf("budgets 0..8: %u kernels, %u lose all, %u none; %u barriers stay\n",
         t.kernels, t.gone, t.unchanged, t.kept);
  printf("a semaphore per channel, two registers: %u kernels, %u lose all, %u "
         "none; %u barriers stay\n",
         enough.kernels, enough.gone, enough.unchanged, enough.kept);
  assert_int_equal(bad, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_enough),
      cmocka_unit_test(test_random),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
