/* test_prove_growth.c - what the static judge does for each instruction does
 * not grow with the kernel: where nothing is passed by, and in random kernels.
 */
#include "passes.h"

#include <inttypes.h>

#include <nsr/gen.h>
#include <nsr/prove.h>

#include "base/strbuf.h"
#include "base/work.h"

enum { SMALL = 500, TIMES = 4, ENGINES = 3, LARGE = 40000 };

static void straight(struct nsr_strbuf *b, int engine, int i) {
  if (i % ENGINES == engine)
    nsr_strbuf_printf(b, " copy v%d[4*4], v%d[4*4]\n", i % 8, (i + 1) % 8);
  nsr_strbuf_puts(b, " sync\n");
}

/* Windows of one tensor, which overlap many others. */
static void windows(struct nsr_strbuf *b, int engine, int i) {
  uint32_t x = (uint32_t)i * UINT32_C(2654435761);
  unsigned first = (x >> 8) % 64, words = 1 + (x >> 20) % 64;
  if (i % ENGINES == engine && i % 5 == 0)
    nsr_strbuf_printf(b, " memset w+%u[4*%u] value=1\n", 4 * first, words);
  else if (i % ENGINES == engine)
    nsr_strbuf_printf(b, " copy x%d[4*%u], w+%u[4*%u]\n", i % 8, words,
                      4 * first, words);
  nsr_strbuf_puts(b, " sync\n");
}

static const struct {
  const char *name;
  void (*write)(struct nsr_strbuf *b, int engine, int i);
} shapes[] = {{"straight", straight}, {"windows", windows}};
enum { NSHAPES = sizeof shapes / sizeof *shapes };

static struct nsr_kernel *kernel(struct nsr_ctx *ctx, int shape, int n) {
  static const char *const engines[ENGINES] = {"act", "dve", "pool"};
  struct nsr_strbuf b;
  const char *text;
  nsr_strbuf_init(&b, ctx, NSR_KEEP);
  nsr_strbuf_puts(&b, ".isa tile64\n"
                      ".tensor n dram i32 [1] at 0 input range 0 4\n");
  nsr_strbuf_puts(&b, ".tensor w sbuf f32 [1, 128] at 64:1, 0 scratch\n");
  for (int i = 0; i < 8; i++)
    nsr_strbuf_printf(
        &b, ".tensor x%d sbuf f32 [1, 64] at %d:1, 1024 scratch\n", i, 10 + i);
  for (int i = 0; i < 8; i++)
    nsr_strbuf_printf(&b, ".tensor v%d sbuf f32 [1, 4] at %d:1, 0 scratch\n", i,
                      10 + i);
  for (int e = 0; e < ENGINES; e++) {
    nsr_strbuf_printf(&b, ".engine %s\n ld r5, n\n", engines[e]);
    for (int i = 0; i < n; i++)
      shapes[shape].write(&b, e, 2 * i);
    nsr_strbuf_puts(&b, " sync\n halt\n");
  }
  assert_int_equal(nsr_strbuf_done(&b, &text, NULL), NSR_OK);
  return assemble(ctx, text);
}

/* What level 1 counts, of a kernel and what is made of it. */
static uint64_t work_of(struct nsr_ctx *ctx, const struct nsr_kernel *k,
                        const char *name, int n, bool may_be_open) {
  struct nsr_rewrite_options options = {.verify = NSR_VERIFY_NONE};
  struct nsr_rewrite_report report;
  struct nsr_kernel *out;
  struct nsr_proof p;
  assert_int_equal(nsr_rewrite(ctx, k, NULL, 0, &options, &out, &report),
                   NSR_OK);
  assert_int_equal(nsr_prove(ctx, k, out, NULL, &p), NSR_OK);
  if (p.verdict == NSR_PROOF_REFUTED ||
      (p.verdict != NSR_PROOF_PROVED && !may_be_open))
    fail_msg("%s of %d: %s", name, n, p.text);
  return nsr_work(ctx, NSR_WORK_PROVE) + nsr_work(ctx, NSR_WORK_MEM);
}

static uint64_t measure(int shape, int n) {
  struct nsr_ctx *ctx = nsr_ctx_new();
  uint64_t work =
      work_of(ctx, kernel(ctx, shape, n), shapes[shape].name, n, false);
  nsr_ctx_free(ctx);
  return work;
}

static uint64_t measure_random(int64_t seed, int64_t n) {
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_setting settings[] = {{"seed", seed}, {"instructions", n}};
  struct nsr_gen_options options = {.nsettings = 2, .settings = settings};
  struct nsr_kernel *k;
  assert_int_equal(nsr_gen(ctx, "random", &options, &k), NSR_OK);
  uint64_t work = work_of(ctx, k, "random", (int)n, true);
  nsr_ctx_free(ctx);
  return work;
}

static void test_growth(void **state) {
  (void)state;
  for (int shape = 0; shape < NSHAPES; shape++) {
    uint64_t small = measure(shape, SMALL);
    uint64_t large = measure(shape, TIMES * SMALL);
    if (large > small * (TIMES + 1))
      fail_msg("%s: %" PRIu64 " units become %" PRIu64, shapes[shape].name,
               small, large);
  }
}

/* One kernel as large as a number of small ones together. In it semaphores
 * count more, and more is asked of each at once; but not much more. */
static void test_random_growth(void **state) {
  (void)state;
  uint64_t small = 0, large = measure_random(1, LARGE);
  for (int seed = 1; seed <= LARGE / 1000; seed++)
    small += measure_random(seed, 1000);
  if (large > 2 * small + small / 4)
    fail_msg("random: %" PRIu64 " units of small kernels become %" PRIu64,
             small, large);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_growth),
                                     cmocka_unit_test(test_random_growth)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
