/* Limits of loops: small ones by hand, those of the suite against the runs that
 * they bound. */
#include "sim_kernel.h"

#include <nsr/gen.h>
#include <nsr/time.h>

static const char machine[] =
    "[pipeline]\nwindow = 4\nclock = 1\nissue = 1\nleast = 10\nelement = 1\n"
    "start = 5\n"
    "[queue]\ndepth = 4\nwindow = 2\nissue = 2\nstart = 100\nfinish = 50\n"
    "bandwidth = 10\n"
    "[dma]\nbandwidth = 10\n"
    "[control]\nregister = 3\nbranch = 5\nwait = 1\n"
    "[semaphore]\nupdate = 7\nwait = 2\n"
    "[barrier]\ncost = 20\n";

#define HEAD                                                                   \
  ".isa tile64\n.queue q0 sp\n"                                                \
  ".tensor n dram i32 [1] at 0 input range 0 99 words 20\n"                    \
  ".tensor d dram u8 [1000] at 64 input\n"                                     \
  ".tensor t sbuf u8 [1, 4000] at 0:1, 0 scratch\n"                            \
  ".tensor y sbuf u8 [1, 1000] at 0:1, 4000 scratch\n"
#define LOOP(engine, more, work)                                               \
  ".engine " engine                                                            \
  "\nld r1, n\nmov r2, 0\nsync\nl: br.ge r2, r1, e\n" more work                \
  "add r2, r2, 1\nsync\nbr l\ne: sync\nhalt\n"
#define SLOT(count) "rem r3, r2, " count "\nmul r3, r3, 1000\n"

struct limit_case {
  const char *what, *text;
  double resources, found, truth;
};

static const struct limit_case cases[] = {
    /* the transfer 100 of its queue; itself again: 2 + 100 + 100 + 50 */
    {"one buffer", LOOP("sp", "", "dma q0, t[1000*1], d[1000*1]\n"), 100, 252,
     252},
    {"two buffers", LOOP("sp", SLOT("2"), "dma q0, t+r3[1000*1], d[1000*1]\n"),
     100, 126, 126},
    /* then the copy has 1 + 1000 + 5 */
    {"a consumer",
     LOOP("sp", "", "dma q0, t[1000*1], d[1000*1] ^s0\n")
         LOOP("dve", "", "copy y[1000*1], t[1000*1] ?s0>=1\n"),
     1000, 252 + 1006, 252 + 1006},
    {"a consumer, three buffers",
     LOOP("sp", SLOT("3"), "dma q0, t+r3[1000*1], d[1000*1] ^s0\n")
         LOOP("dve", SLOT("3"), "copy y[1000*1], t+r3[1000*1] ?s0>=1\n"),
     1000, 1006, 1006}, /* the copy waits for the one before it */
    /* in order: 2 moves, an add and the branches (the last test, too), 1 to
     * issue */
    {"control",
     LOOP("dve", "mov r5, 1\nmov r5, 1\n", "memset t[1*1] value=0\n"), 20.25,
     20.25, 20.25},
};

static void get_limits(struct nsr_ctx *ctx, const struct nsr_kernel *k,
                       const struct nsr_time_machine *m,
                       const struct nsr_time_input *in, const char *what,
                       struct nsr_limits *out) {
  struct nsr_time_run *run;
  char line[400];
  if (nsr_time_record(ctx, k, in, &run) != NSR_OK ||
      nsr_limits(ctx, k, run, m, out) != NSR_OK)
    fail_msg("%s: %s", what, first_error(ctx, line, sizeof line));
}

static void expect(const char *what, const char *which, double got,
                   double want) {
  if (got < want - 0.01 || got > want + 0.01)
    fail_msg("%s, %s: %f, not %f", what, which, got, want);
}

static void test_small(void **state) {
  (void)state;
  const struct nsr_time_machine m = {.name = "m", .text = machine};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const struct limit_case *c = &cases[i];
    struct nsr_ctx *ctx = nsr_ctx_new();
    char text[2000];
    struct nsr_limits l;
    snprintf(text, sizeof text, HEAD "%s", c->text);
    get_limits(ctx, kernel_of(ctx, text), &m, NULL, c->what, &l);
    assert_int_equal(l.n, 1);
    assert_int_equal(l.loops[0].iterations, 20);
    expect(c->what, "resources", l.loops[0].resources, c->resources);
    expect(c->what, "found", l.loops[0].recovered_distances, c->found);
    expect(c->what, "true", l.loops[0].true_distances, c->truth);
    nsr_ctx_free(ctx);
  }
}

/* What is found is no faster than what is true, and neither is the ideal run,
 * but for the ends of its loops. */
static void check_suite(const char *name, const struct nsr_isa *isa,
                        unsigned *loops) {
  struct nsr_ctx *ctx = nsr_ctx_new();
  const struct nsr_gen_options o = {.isa = isa};
  struct nsr_kernel *k;
  struct nsr_limits l;
  struct nsr_time_words words[16];
  struct nsr_time_input in = {.words = words};
  static const int64_t trips = 60;
  if (nsr_gen(ctx, name, &o, &k) != NSR_OK) { /* not all for all sets */
    nsr_ctx_free(ctx);
    return;
  }
  for (uint32_t i = 0; i < k->ntensors && in.nwords < 16; i++)
    if (strcmp(k->tensors[i].name, "tiles") == 0 && k->tensors[i].hi >= trips)
      words[in.nwords++] =
          (struct nsr_time_words){k->tensors[i].name, 1, &trips};
  get_limits(ctx, k, NULL, &in, name, &l);
  for (uint32_t i = 0; i < l.n; i++) {
    const struct nsr_loop_limits *x = &l.loops[i];
    if (x->true_distances < 0 || x->iterations < 20 || x->depth > 1)
      continue;
    ++*loops;
    if (x->recovered_distances < x->true_distances - 0.01 ||
        x->ideal < x->true_distances * 0.95 || x->ideal > x->as_is * 1.001)
      fail_msg("%s, %s: found %f, true %f, ideal %f, as it is %f", name,
               isa->name, x->recovered_distances, x->true_distances, x->ideal,
               x->as_is);
  }
  nsr_ctx_free(ctx);
}

static void test_suite(void **state) {
  (void)state;
  unsigned loops = 0;
  for (int i = 0; nsr_isas[i]; i++)
    for (int n = 0; nsr_gen_names[n]; n++)
      if (strcmp(nsr_gen_names[n], "random") != 0)
        check_suite(nsr_gen_names[n], nsr_isas[i], &loops);
  assert_true(loops >= 6);
}

static enum nsr_status all_of_it(struct nsr_ctx *ctx,
                                 const struct nsr_kernel *k) {
  const struct nsr_time_machine m = {.name = "m", .text = machine};
  struct nsr_time_run *run;
  struct nsr_time t;
  struct nsr_limits l;
  NSR_TRY(nsr_time_record(ctx, k, NULL, &run));
  NSR_TRY(nsr_time(ctx, run, &m, NSR_TIME_AS_IS, &t));
  NSR_TRY(nsr_time(ctx, run, &m, NSR_TIME_IDEAL_SIGNALS, &t));
  return nsr_limits(ctx, k, run, &m, &l);
}

/* Whichever allocation fails, the failure comes back. */
static void test_no_memory(void **state) {
  (void)state;
  for (uint64_t nth = 1;; nth++) {
    struct nsr_ctx *ctx = nsr_ctx_new();
    char text[2000];
    snprintf(text, sizeof text, HEAD "%s", cases[2].text);
    struct nsr_kernel *k = kernel_of(ctx, text);
    nsr_ctx_fail_alloc(ctx, nth);
    enum nsr_status status = all_of_it(ctx, k);
    nsr_ctx_free(ctx);
    if (status == NSR_OK)
      break;
    assert_int_equal(status, NSR_E_NOMEM);
    assert_true(nth < 20000);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_memory),
                                     cmocka_unit_test(test_small),
                                     cmocka_unit_test(test_suite)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
