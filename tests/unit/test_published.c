/* test_published.c - the publication's allocations: operations and semaphores
 * as it says, barriers where it says, and right.
 *
 * NSR_SEED sets the first seed, NSR_KERNELS how many random kernels.
 */
#include "passes.h"
#include "prng.h"

#include <stdlib.h>

#include <nsr/gen.h>

enum { NALLOCS = 3 };

static const enum nsr_scheme allocs[NALLOCS] = {
    NSR_SCHEME_PER_INSTRUCTION, NSR_SCHEME_PER_LOOP, NSR_SCHEME_PER_ENGINE};

static struct nsr_rewrite_options publish(int alloc, bool recent) {
  return (struct nsr_rewrite_options){.scheme = NSR_SCHEME_PUBLISHED,
                                      .published = allocs[alloc],
                                      .published_recent = recent,
                                      .judge = {.inputs = 4}};
}

/* ---- forms */

#define HEAD                                                                   \
  ".isa tile64\n.owned 8, 40\n.queue q0 sp\n"                                  \
  ".tensor x dram f32 [64, 4] at 4096 input\n"                                 \
  ".tensor y dram f32 [64, 4] at 65536 output\n"                               \
  ".tensor a sbuf f32 [1, 4] at 0:1, 0 scratch\n"                              \
  ".tensor b sbuf f32 [1, 4] at 0:1, 16 scratch\n"                             \
  ".tensor c sbuf f32 [1, 4] at 0:1, 32 scratch\n"                             \
  ".tensor d sbuf f32 [1, 4] at 0:1, 48 scratch\n"

/* act reads a, which sp loads: k = 0; the load overwrites it: k = 1. With two
 * members that are waited for in sp's queue. */
#define ACT_BODY                                                               \
  " copy b[4*4], a[4*4] ?s8>=1 ^s9\n copy d[4*4], c[4*4] ?s8>=2 ^s9\n"
#define SP_BODY " dma q0, a[4*4], x[4*4] ^s8\n dma q0, c[4*4], x[4*4] ^s8\n"

static const char one_loop[] =
    HEAD ".engine act\n mov r1, 0\nl:" ACT_BODY " sync 1\n add r1, r1, 1\n"
         " br.lt r1, 3, l\n sync 2\n halt\n"
         ".engine sp\n mov r1, 0\nl:" SP_BODY " sync 1\n add r1, r1, 1\n"
         " br.lt r1, 3, l\n sync 2\n halt\n";

static const char nest[] =
    HEAD ".engine act\n mov r2, 0\no: mov r1, 0\nl:" ACT_BODY
         " sync 1\n add r1, r1, 1\n"
         " br.lt r1, 3, l\n sync 3\n add r2, r2, 1\n br.lt r2, 3, o\n"
         " sync 2\n halt\n"
         ".engine sp\n mov r2, 0\no: mov r1, 0\nl:" SP_BODY
         " sync 1\n add r1, r1, 1\n"
         " br.lt r1, 3, l\n sync 3\n add r2, r2, 1\n br.lt r2, 3, o\n"
         " sync 2\n halt\n";

static void dump(const char *text, struct nsr_rewrite_options o, char *out,
                 size_t size) {
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_kernel *k = assemble(ctx, text);
  const char *s = "";
  if (nsr_dump(ctx, k, NSR_STAGE_PLAN, &o, &s) != NSR_OK)
    fail_msg("%s", nsr_ctx_first_error(ctx)->text);
  snprintf(out, size, "%s", s);
  nsr_ctx_free(ctx);
}

/* The lines of a plan that are about sp's wait for what act reads. */
static void sp_part(const char *plan, char *out, size_t size) {
  const char *end = strstr(plan, "] dma q0 waits"), *from = end;
  assert_non_null(from);
  while (from > plan && from[-1] != '\n')
    from--;
  while (from > plan) {
    const char *line = from - 1;
    while (line > plan && line[-1] != '\n')
      line--;
    if (strncmp(line, "sp r", 4) != 0 || !memchr(line, '=', 8))
      break;
    from = line;
  }
  end = strchr(end, '\n') + 1;
  snprintf(out, size, "%.*s", (int)(end - from), from);
}

static void expect_part(const char *text, struct nsr_rewrite_options o,
                        const char *want) {
  char plan[4000], part[1000];
  dump(text, o, plan, sizeof plan);
  sp_part(plan, part, sizeof part);
  if (strcmp(part, want) != 0)
    fail_msg("got\n%s\nof\n%s\nwanted\n%s", part, plan, want);
}

/* Five operations, three, and for all of a channel a sum. */
static void test_forms(void **state) {
  (void)state;
  expect_part(one_loop, publish(0, false),
              "sp r3 = sub r0, 1\nsp r4 = gt r2, 1\nsp r3 = mul r4, r3\n"
              "sp[1] dma q0 waits s8 >= r3 for act[1] copy\n");
  expect_part(one_loop, publish(1, false),
              "sp r3 = sub r0, 1\nsp r4 = gt r2, 1\nsp r3 = mul r4, r3\n"
              "sp r3 = mul r3, 2\nsp r3 = sub r3, 1\n"
              "sp[1] dma q0 waits s8 >= r3 for act[1] copy\n");
  expect_part(one_loop, publish(2, false),
              "sp r3 = mul r0, 2\nsp r3 = sub r3, 3\nsp r4 = gt r2, 1\n"
              "sp r3 = mul r4, r3\n"
              "sp[1] dma q0 waits s8 >= r3 for act[1] copy\n");
  expect_part(nest, publish(1, true),
              "sp r3 = sub r0, 1\nsp r3 = mul r3, 2\nsp r3 = sub r3, 1\n"
              "sp[2] dma q0 waits s8 >= r3 for act[2] copy\n");
  expect_part(nest, publish(1, false),
              "sp r4 = sub r0, 1\nsp r5 = gt r3, 1\nsp r4 = mul r5, r4\n"
              "sp r4 = mul r4, 2\nsp r4 = sub r4, 1\n"
              "sp[2] dma q0 waits s8 >= r4 for act[2] copy\n");
}

/* ---- barriers */

struct outcome {
  enum nsr_status status;
  bool equal;
  uint32_t kept, semaphores;
  char text[2000];
};

static void rewrite(struct nsr_ctx *ctx, const struct nsr_kernel *k,
                    struct nsr_rewrite_options o, struct outcome *out) {
  struct nsr_rewrite_report report;
  struct nsr_kernel *made;
  *out = (struct outcome){0};
  out->status = nsr_rewrite(ctx, k, NULL, 0, &o, &made, &report);
  if (out->status != NSR_OK)
    nsr_diag_format(nsr_ctx_first_error(ctx), out->text, sizeof out->text);
  out->equal = report.judged && report.judgement.verdict == NSR_EQUAL;
  if (out->equal || (out->status == NSR_OK && !report.changed))
    out->equal = true;
  else if (report.judged)
    snprintf(out->text, sizeof out->text, "%s", report.judgement.text);
  out->kept = report.nkept;
  out->semaphores = report.semaphores;
}

static void rewrite_text(const char *text, struct nsr_rewrite_options o,
                         struct outcome *out) {
  struct nsr_ctx *ctx = nsr_ctx_new();
  rewrite(ctx, assemble(ctx, text), o, out);
  nsr_ctx_free(ctx);
}

/* The mask would lose what the outer loop carries: a barrier in it stays, or
 * there is no mask. */
static void test_nest_keeps(void **state) {
  (void)state;
  struct outcome x;
  for (int a = 0; a < NALLOCS; a++) {
    rewrite_text(one_loop, publish(a, false), &x);
    assert_true(x.equal);
    assert_int_equal(x.kept, 1);
    rewrite_text(nest, publish(a, false), &x);
    assert_true(x.equal);
    assert_int_equal(x.kept, 2);
    rewrite_text(nest, publish(a, true), &x);
    assert_true(x.equal);
    assert_int_equal(x.kept, 1);
  }
}

/* ---- semaphores */

/* L loops in a row with n loads each, which act reads. */
static void loops_text(char *out, size_t size, int loops, int n) {
  size_t at = (size_t)snprintf(out, size,
                               ".isa tile64\n.queue q0 sp\n"
                               ".tensor x dram f32 [64, 4] at 4096 input\n");
  for (int i = 0; i < n; i++)
    at += (size_t)snprintf(out + at, size - at,
                           ".tensor a%d sbuf f32 [1, 4] at 0:1, %d scratch\n"
                           ".tensor b%d sbuf f32 [1, 4] at 0:1, %d scratch\n",
                           i, 32 * i, i, 32 * i + 16);
  for (int e = 0; e < 2; e++) {
    at += (size_t)snprintf(out + at, size - at, ".engine %s\n sync 0\n",
                           e ? "sp" : "act");
    for (int l = 1; l <= loops; l++) {
      at += (size_t)snprintf(out + at, size - at, " mov r1, 0\nl%d:", l);
      for (int i = 0; i < n; i++)
        at += (size_t)snprintf(out + at, size - at,
                               e ? " dma q0, a%d[4*4], x[4*4] ^s8\n"
                                 : " copy b%d[4*4], a%d[4*4] ?s8>=%d\n",
                               i, i, i + 1);
      at += (size_t)snprintf(out + at, size - at,
                             " sync %d\n add r1, r1, 1\n br.lt r1, 2, l%d\n", l,
                             l);
    }
    at += (size_t)snprintf(out + at, size - at, " sync 9999\n halt\n");
  }
  assert_true(at < size);
}

/* With N awaited instructions in L loops and C channels: N, L * C, C. */
static void test_semaphores(void **state) {
  (void)state;
  static char text[200000];
  printf("loops instructions channels: per-instruction per-loop per-engine\n");
  for (int loops = 1; loops <= 8; loops *= 2)
    for (int n = 1; n <= 9; n += 4) {
      struct outcome x[NALLOCS];
      loops_text(text, sizeof text, loops, n);
      for (int a = 0; a < NALLOCS; a++) {
        rewrite_text(text, publish(a, true), &x[a]);
        if (!x[a].equal)
          fail_msg("%s", x[a].text);
      }
      printf("%5d %12d %8d: %15u %8u %10u\n", loops, 2 * n * loops, 2,
             x[0].semaphores, x[1].semaphores, x[2].semaphores);
      assert_in_range(x[0].semaphores, n * loops, 2 * n * loops);
      assert_in_range(x[1].semaphores, loops, 2 * loops);
      assert_int_equal(x[2].semaphores, 2);
    }
}

/* ---- random kernels */

static bool count_ops(struct nsr_ctx *ctx, const struct nsr_kernel *k,
                      struct nsr_rewrite_options o, int most) {
  const char *s;
  int n = 0;
  if (nsr_dump(ctx, k, NSR_STAGE_PLAN, &o, &s) != NSR_OK)
    return true; /* too few registers */
  for (; *s; s = strchr(s, '\n') + 1) {
    const char *end = strchr(s, '\n'), *is = strstr(s, " = ");
    n = is && is < end ? n + 1 : 0;
    if (n > most)
      return false;
  }
  return true;
}

/* Barriers that stay without these forms, too: of islands, and the exit's. */
static unsigned kept_anyway(struct nsr_ctx *ctx, const struct nsr_kernel *k) {
  struct outcome x = {0};
  rewrite(ctx, k,
          (struct nsr_rewrite_options){.soft = NSR_SOFT_NEVER,
                                       .judge = {.inputs = 4}},
          &x);
  return x.equal ? x.kept : 1;
}

static bool try_seed(uint64_t seed, int alloc, bool recent, unsigned *done,
                     unsigned *kept) {
  static const int most[NALLOCS] = {3, 5, INT32_MAX};
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_setting settings[] = {
      {"seed", (int64_t)seed},
      {"instructions", 60 + (int64_t)(seed * 37 % 300)}};
  struct nsr_gen_options gen = {.nsettings = 2, .settings = settings};
  struct nsr_kernel *k;
  struct outcome x = {0};
  bool good = nsr_gen(ctx, "random", &gen, &k) == NSR_OK;
  if (good) {
    rewrite(ctx, k, publish(alloc, recent), &x);
    good = x.status == NSR_E_REFUSED ? strstr(x.text, " needed to count ") != 0
                                     : x.equal;
    good &= count_ops(ctx, k, publish(alloc, recent), most[alloc]);
    *done += x.equal;
    *kept += x.equal && x.kept > 1 ? x.kept - kept_anyway(ctx, k) : 0;
  }
  if (!good)
    fprintf(stderr, "seed %llu, %s%s: %s\n", (unsigned long long)seed,
            nsr_scheme_name(allocs[alloc]), recent ? ", most recent" : "",
            x.text);
  nsr_ctx_free(ctx);
  return good;
}

static void test_random(void **state) {
  (void)state;
  struct prng r = prng_seed("published", 3);
  const char *text = getenv("NSR_KERNELS");
  unsigned n = text ? (unsigned)strtoul(text, NULL, 0) : 30, bad = 0;
  unsigned done[2] = {0}, kept[2] = {0};
  for (unsigned i = 0; i < n; i++) {
    uint64_t seed = prng_next(&r) >> 33;
    int recent = i / NALLOCS % 2;
    bad += !try_seed(seed, (int)(i % NALLOCS), recent, &done[recent],
                     &kept[recent]);
  }
  printf("published: %u equal, %u barriers kept; most recent: %u equal, %u "
         "kept\n",
         done[0], kept[0], done[1], kept[1]);
  assert_int_equal(bad, 0);
  assert_int_equal(kept[1], 0);
  if (n >= 30)
    assert_true(kept[0] > 0 && done[0] + done[1] > n / 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_forms),
      cmocka_unit_test(test_nest_keeps),
      cmocka_unit_test(test_semaphores),
      cmocka_unit_test(test_random),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
