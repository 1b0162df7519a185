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

/* Without limits: in innermost loops two operations for a wait on average, and
 * one semaphore for a channel and scope with awaited work. */
static void test_figures(void **state) {
  (void)state;
  static const char *const isas[] = {"tile64", "lane48"};
  for (size_t i = 0; i < sizeof isas / sizeof *isas; i++)
    for (int g = 0; nsr_gen_names[g]; g++) {
      struct nsr_ctx *ctx = nsr_ctx_new();
      struct nsr_rewrite_options o = {.verify = NSR_VERIFY_NONE};
      struct nsr_rewrite_report r;
      struct nsr_kernel *out;
      bool random = strcmp(nsr_gen_names[g], "random") == 0;
      struct nsr_kernel *k =
          make(ctx, nsr_gen_names[g], isas[i], 7, random ? 400 : 0);
      assert_int_equal(nsr_rewrite(ctx, k, NULL, 0, &o, &out, &r), NSR_OK);
      assert_true(random || r.inner_waits > 0);
      assert_true(r.inner_operations <= 2 * r.inner_waits);
      assert_true(r.semaphores <= r.awaited);
      nsr_ctx_free(ctx);
    }
}

/* ---- registers that are free in a part of the stream only */

enum { LOOPS = 6 };

/* Loops in a row in which sp loads two words and act copies them. The first
 * `named` registers are set in front of all, and the last one is read behind
 * all. */
static void loops_text(char *out, size_t size, int named) {
  size_t at = (size_t)snprintf(out, size,
                               ".isa tile64\n.queue q0 sp\n"
                               ".tensor x dram f32 [64, 4] at 4096 input\n"
                               ".tensor a sbuf f32 [1, 4] at 0:1, 0 scratch\n"
                               ".tensor b sbuf f32 [1, 4] at 0:1, 16 scratch\n"
                               ".tensor c sbuf f32 [1, 4] at 0:1, 32 scratch\n"
                               ".tensor d sbuf f32 [1, 4] at 0:1, 48 scratch\n"
                               ".tensor y dram i32 [2] at 0 output\n");
  for (int e = 0; e < 2; e++) {
    at +=
        (size_t)snprintf(out + at, size - at, ".engine %s\n", e ? "sp" : "act");
    for (int r = 0; r < named; r++)
      at += (size_t)snprintf(out + at, size - at, " mov r%d, %d\n", r, r);
    at += (size_t)snprintf(out + at, size - at, " sync 0\n");
    for (int l = 1; l <= LOOPS; l++)
      at += (size_t)snprintf(
          out + at, size - at,
          " mov r1, 0\nl%d:%s sync %d\n add r1, r1, 1\n br.lt r1, 3, l%d\n", l,
          e ? " dma q0, a[4*4], x[4*4] ^s8\n dma q0, c[4*4], x[4*4] ^s8\n"
            : " copy b[4*4], a[4*4] ?s8>=1\n copy d[4*4], c[4*4] ?s8>=2\n",
          l, l);
    at +=
        (size_t)snprintf(out + at, size - at, " st y%s, r%d\n sync 99\n halt\n",
                         e ? "+4" : "", named ? named - 1 : 1);
  }
  assert_true(at < size);
}

static void rewrite_loops(int named, uint32_t registers, char *plan,
                          size_t size, struct nsr_rewrite_report *r) {
  static char text[20000];
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_rewrite_options o = {.scheme = NSR_SCHEME_PER_LOOP,
                                  .max_registers = registers};
  struct nsr_kernel *out;
  const char *s;
  loops_text(text, sizeof text, named);
  struct nsr_kernel *k = assemble(ctx, text);
  if (nsr_dump(ctx, k, NSR_STAGE_PLAN, &o, &s) != NSR_OK ||
      nsr_rewrite(ctx, k, NULL, 0, &o, &out, r) != NSR_OK)
    fail_msg("%s", nsr_ctx_first_error(ctx)->text);
  assert_int_equal(r->judgement.verdict, NSR_EQUAL);
  snprintf(plan, size, "%s", s);
  nsr_ctx_free(ctx);
}

/* Registers serve one loop after the other. */
static void test_one_after_the_other(void **state) {
  (void)state;
  static char plan[20000];
  struct nsr_rewrite_report r;
  rewrite_loops(0, 0, plan, sizeof plan, &r);
  uint32_t all = r.engines[4].registers;
  printf("%u and %u registers\n", r.engines[1].registers, all);
  assert_true(all >= 2 * LOOPS);
  assert_null(strstr(plan, "] on"));
  rewrite_loops(0, 4, plan, sizeof plan, &r);
  assert_int_equal(r.nkept, 1);
  assert_in_range(r.engines[4].registers, 1, 4);
  assert_non_null(strstr(plan, "] on"));
}

/* The kernel names all registers; dead ones serve, the one that is read at the
 * end stays as it is. */
static void test_dead_registers(void **state) {
  (void)state;
  static char plan[20000];
  struct nsr_rewrite_report r;
  rewrite_loops(64, 0, plan, sizeof plan, &r);
  assert_int_equal(r.nkept, 1);
  assert_in_range(r.engines[1].registers, 1, 63);
  assert_null(strstr(plan, "r63"));
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
  assert_true(n < 40 || 10 * enough.gone >= 8 * enough.kernels);
}

/* An arm of sp's own fills one slot again and again. Its execution before is
 * known by a no-op behind it, too, which all engines count. */
static void test_markers_instead(void **state) {
  (void)state;
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct tally t = {0};
  struct nsr_kernel *k = assemble(
      ctx,
      ".isa tile64\n.queue q0 sp\n"
      ".tensor n dram i32 [2] at 0 input range 0 4\n"
      ".tensor x dram f32 [64, 4] at 4096 input\n"
      ".tensor a sbuf f32 [1, 4] at 0:1, 0 scratch\n"
      ".tensor b sbuf f32 [1, 4] at 0:1, 16 scratch\n"
      ".tensor c sbuf f32 [1, 4] at 0:1, 32 scratch\n"
      ".engine act\n ld r1, n\n mov r2, 0\nl: br.ge r2, r1, d\n sync 1\n"
      " copy c[4*4], b[4*4]\n add r2, r2, 1\n sync 2\n br l\n"
      "d: sync 3\n halt\n"
      ".engine sp\n ld r1, n\n ld r3, n+4\n mov r2, 0\nl: br.ge r2, r1, d\n"
      " dma q0, b[4*4], x[4*4]\n br.eq r3, 0, f\n dma q0, a[4*4], x[4*4]\n"
      "f: sync 1\n add r2, r2, 1\n sync 2\n br l\nd: sync 3\n halt\n");
  assert_true(try_kernel(ctx, k, "an arm of sp's own", 2, 2, &t));
  assert_int_equal(t.gone, 1);
  nsr_ctx_free(ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_enough),
      cmocka_unit_test(test_figures),
      cmocka_unit_test(test_one_after_the_other),
      cmocka_unit_test(test_dead_registers),
      cmocka_unit_test(test_markers_instead),
      cmocka_unit_test(test_random),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
