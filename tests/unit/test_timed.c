/* Timed runs: single instructions and small schedules, computed by hand. */
#include "prng.h"
#include "sim_kernel.h"

#include <nsr/gen.h>
#include <nsr/time.h>

/* 1 GHz everywhere, so that cycles are ns. */
static const char machine[] = "[pipeline]\n"
                              "window = 4\n"
                              "clock = 1\n"
                              "issue = 1\n"
                              "least = 10\n"
                              "element = 1\n"
                              "input = 1\n"
                              "start = 5\n"
                              "[instruction.ld]\n"
                              "least = 1\n"
                              "start = 6\n"
                              "dram = 30ns\n"
                              "[queue]\n"
                              "depth = 4\n"
                              "window = 2\n"
                              "issue = 2\n"
                              "start = 100ns\n"
                              "finish = 50\n"
                              "bandwidth = 10\n"
                              "[dma]\n"
                              "bandwidth = 10\n"
                              "[control]\n"
                              "register = 3\n"
                              "branch = 5\n"
                              "wait = 1\n"
                              "[semaphore]\n"
                              "update = 7ns\n"
                              "wait = 2ns\n"
                              "[barrier]\n"
                              "cost = 0.02us\n";

#define HEAD                                                                   \
  ".isa tile64\n.kernel \"k\"\n.queue q0 sp\n.queue q1 pool\n.queue q2 act\n"  \
  ".tensor n dram i32 [1] at 0 input range 0 9 words 3\n"                      \
  ".tensor x sbuf f32 [1, 16] at 0:1, 0 scratch\n"                             \
  ".tensor y sbuf f32 [1, 16] at 0:1, 64 scratch\n"                            \
  ".tensor b sbuf bf16 [1, 16] at 0:1, 128 scratch\n"                          \
  ".tensor c sbuf bf16 [1, 16] at 0:1, 160 scratch\n"                          \
  ".tensor z psum f32 [16, 16] at 0:16, 0 scratch\n"                           \
  ".tensor d dram u8 [4000] at 64 input\n"                                     \
  ".tensor t sbuf u8 [1, 4000] at 0:1, 256 scratch\n"                          \
  ".tensor m sbuf i32 [1, 1] at 0:1, 5000 scratch range 0 9\n"
#define MEMSET "memset x[16*4] value=0"
#define COPY "copy y[16*4], x[16*4]"

struct time_case {
  const char *what, *text, *sets[3];
  enum nsr_time_form form;
  double ns;
};

static const struct time_case cases[] = {
    /* 1 to issue, 16 elements, 5 until it retires */
    {"one instruction", ".engine dve\n" MEMSET "\nhalt\n", {0}, 0, 22},
    {"at least so much",
     ".engine dve\nmemset x[2*4] value=0\nhalt\n",
     {0},
     0,
     16},
    {"fixed cost",
     ".engine dve\n" MEMSET "\nhalt\n",
     {"pipeline.fixed=7"},
     0,
     29},
    {"two inputs",
     ".engine dve\ntt x[16*4], x[16*4], y[16*4] op=add\nhalt\n",
     {0},
     0,
     38},
    {"a scalar is no second input",
     ".engine dve\ntsp x[16*4], x[16*4], y op=add\nhalt\n",
     {0},
     0,
     22},
    {"a clock of its own",
     ".engine dve\n" MEMSET "\nhalt\n",
     {"pipeline.dve.clock=2"},
     0,
     11},
    {"the most special figure counts",
     ".engine dve\n" MEMSET "\nhalt\n",
     {"instruction.memset.start=9", "pipeline.dve.start=1",
      "instruction.memset.dve.start=8"},
     0,
     25},
    {"fractions of cycles are whole ones",
     ".engine dve\n" MEMSET "\nhalt\n",
     {"pipeline.element=1.01"},
     0,
     23},
    /* the second one enters the unit when the first one leaves it, at 17 */
    {"a pipeline",
     ".engine dve\n" MEMSET "\nmemset y[16*4] value=0\nhalt\n",
     {0},
     0,
     38},
    {"a full pipeline",
     ".engine dve\n" MEMSET "\nmemset y[16*4] value=0\nhalt\n",
     {"pipeline.window=1"},
     0,
     44},
    {"order full: behind its retirement",
     ".order dve full\n.engine dve\n" MEMSET "\nmemset y[16*4] value=0\nhalt\n",
     {0},
     0,
     22 + 16 + 5},
    {"a queue of order full",
     ".queue q3 dve full\n.engine dve\ndma q3, t[1000*1], d[1000*1]\n"
     "dma q3, t+1000[1000*1], d[1000*1]\nhalt\n",
     {0},
     0,
     252 + 250},
    {"f32 sources",
     ".engine pe\nmm z{0:16}[16*4], x[16*4]\nhalt\n",
     {"pipeline.pe.f32=4"},
     0,
     1 + 64 + 5},
    {"sums of f32 alone cost nothing",
     ".engine pe\nmm z{0:16}[16*4], b[16*2]\nhalt\n",
     {"pipeline.pe.f32=4"},
     0,
     22},
    {"two bytes",
     ".engine dve\ncopy b[16*2], c[16*2]\nhalt\n",
     {"pipeline.half=0.75"},
     0,
     1 + 12 + 5},
    {"two bytes, least",
     ".engine dve\ncopy b[16*2], c[16*2]\nhalt\n",
     {"pipeline.half=0.5"},
     0,
     16},
    {"one operand of four bytes",
     ".engine dve\ncast b[16*2], x[16*4]\nhalt\n",
     {"pipeline.half=0.5"},
     0,
     22},
    {"registers and branches",
     ".engine dve\nmov r1, 0\nadd r1, r1, 2\nbr l\nl: br.gt r1, 7, l\nhalt\n",
     {0},
     0,
     16},
    {"a wait that holds", ".engine dve\nwait ?s0>=0\nhalt\n", {0}, 0, 1},
    /* 1 to issue, 1 element, 6, 30 from DRAM; then a move */
    {"a load", ".engine dve\nld r1, n\nmov r2, 0\nhalt\n", {0}, 0, 41},
    {"a load on chip", ".engine dve\nld r1, m\nhalt\n", {0}, 0, 8},
    /* 2 to issue, 100 until it starts, 100 for 1000 bytes, 50 behind */
    {"a transfer",
     ".engine sp\ndma q0, t[1000*1], d[1000*1]\nhalt\n",
     {0},
     0,
     252},
    {"no bytes", ".engine sp\nqnop q0\nhalt\n", {0}, 0, 152},
    /* both start at once, the bytes go one after the other: 102, 202, 302 */
    {"two transfers of a queue",
     ".engine sp\ndma q0, t[1000*1], d[1000*1]\n"
     "dma q0, t+1000[1000*1], d[1000*1]\nhalt\n",
     {0},
     0,
     352},
    /* the third one starts when the first one has retired, at 252 */
    {"a window of two",
     ".engine sp\ndma q0, t[1000*1], d[1000*1]\n"
     "dma q0, t+1000[1000*1], d[1000*1]\n"
     "dma q0, t+2000[1000*1], d[1000*1]\nhalt\n",
     {0},
     0,
     502},
    /* depth 1: issued when the first one has retired */
    {"a full queue",
     ".engine sp\ndma q0, t[1000*1], d[1000*1]\n"
     "dma q0, t+1000[1000*1], d[1000*1]\nhalt\n",
     {"queue.depth=1"},
     0,
     504},
    /* from 102 on both at half the rate: until 302 */
    {"queues share the bandwidth",
     ".engine sp\ndma q0, t[1000*1], d[1000*1]\nhalt\n"
     ".engine pool\ndma q1, t+1000[1000*1], d[1000*1]\nhalt\n",
     {0},
     0,
     352},
    /* pool begins 6 later: at 108 of the first one's 100 ns 94 are left, they
     * take 188, until 296; of the second one's 6 are left then, until 302 */
    {"one of them later",
     ".engine sp\ndma q0, t[1000*1], d[1000*1]\nhalt\n"
     ".engine pool\nmov r1, 0\nmov r1, 0\n"
     "dma q1, t+1000[1000*1], d[1000*1]\nhalt\n",
     {0},
     0,
     352},
    {"what a queue can do",
     ".engine sp\ndma q0, t[1000*1], d[1000*1]\nhalt\n"
     ".engine pool\ndma q1, t+1000[1000*1], d[1000*1]\nhalt\n",
     {"queue.bandwidth=5"},
     0,
     352},
    {"what a queue can do alone",
     ".engine sp\ndma q0, t[1000*1], d[1000*1]\nhalt\n",
     {"queue.bandwidth=5"},
     0,
     352},
    /* three at a third of 10 each, though a queue could do 5 */
    {"three queues",
     ".engine sp\ndma q0, t[1000*1], d[1000*1]\nhalt\n"
     ".engine pool\ndma q1, t+1000[1000*1], d[1000*1]\nhalt\n"
     ".engine act\ndma q2, t+2000[1000*1], d[1000*1]\nhalt\n",
     {"queue.bandwidth=5"},
     0,
     452},
    /* retired at 22, seen at 29, awake at 31 */
    {"a wait",
     ".engine dve\n" MEMSET " ^s0\nhalt\n"
     ".engine act\n" COPY " ?s0>=1\nhalt\n",
     {0},
     0,
     31 + 22},
    {"a wait that comes late",
     ".engine dve\n" MEMSET " ^s0\nhalt\n"
     ".engine act\n.repeat 10\nmov r1, 0\n.end\n" COPY " ?s0>=1\nhalt\n",
     {0},
     0,
     30 + 22},
    {"the wait of a no-op costs what it does",
     ".engine dve\n" MEMSET " ^s0\nhalt\n"
     ".engine act\nwait ?s0>=1\n" COPY "\nhalt\n",
     {0},
     0,
     31 + 1 + 22},
    {"the second of two updates",
     ".engine dve\n" MEMSET " ^s0\nmemset y[16*4] value=0 ^s0\nhalt\n"
     ".engine act\n" COPY " ?s0>=2\nhalt\n",
     {0},
     0,
     38 + 7 + 2 + 22},
    /* drained at 22, two updates, 20 */
    {"a barrier",
     ".engine dve\n" MEMSET "\nsync\nhalt\n.engine act\nsync\nhalt\n",
     {0},
     0,
     56},
    {"a barrier's cost",
     ".engine dve\n" MEMSET "\nsync\nhalt\n.engine act\nsync\nhalt\n",
     {"barrier=1us"},
     0,
     1036},
    {"a barrier waits for queues",
     ".engine sp\ndma q0, t[1000*1], d[1000*1]\nsync\nhalt\n"
     ".engine act\nsync\nhalt\n",
     {0},
     0,
     252 + 34},
    {"counts begin anew behind it",
     ".engine dve\n" MEMSET
     " ^s0\nsync\nmemset y[16*4] value=0 ^s0\nsync\nhalt\n"
     ".engine act\nsync\nwait ?s0>=1\nsync\nhalt\n",
     {0},
     0,
     56 + 22 + 7 + 2 + 1 + 34},
};

static const char barrier_form[] = ".engine dve\n" MEMSET "\nsync\nsync\nhalt\n"
                                   ".engine act\nsync\n" COPY "\nsync\nhalt\n";
static const char wait_form[] =
    ".engine dve\n" MEMSET " ^s0\nsync\nhalt\n"
    ".engine act\nwait ?s0>=1\n" COPY "\nsync\nhalt\n";
static const char loop_form[] =
    ".engine sp\nmov r1, 0\nsync\n"
    "l: br.ge r1, 3, e\ndma q0, t[1000*1], d[1000*1]\nadd r1, r1, 1\n"
    "sync\nbr l\ne: sync\nhalt\n"
    ".engine dve\nmov r1, 0\nsync\nl: br.ge r1, 3, e\nadd r1, r1, 1\nsync\n"
    "br l\ne: sync\nhalt\n";

static const struct time_case forms[] = {
    {"barriers", barrier_form, {0}, NSR_TIME_AS_IS, 56 + 22 + 34},
    /* the copy is issued when the fill has retired, at 22 */
    {"dependences alone", barrier_form, {0}, NSR_TIME_IDEAL, 22 + 22 + 34},
    {"and signals", barrier_form, {0}, NSR_TIME_IDEAL_SIGNALS, 31 + 22 + 34},
    {"a wait is gone, its cost too", wait_form, {0}, NSR_TIME_IDEAL, 78},
    {"a wait, signals", wait_form, {0}, NSR_TIME_IDEAL_SIGNALS, 87},
    /* each transfer writes what the one before it writes: they follow each
     * other at once. 8 + 3 * (2 + 250), of the control nothing shows but that
     * in front of the first: 3 + 5 */
    {"own order", loop_form, {0}, NSR_TIME_IDEAL, 8 + 3 * 252 + 34},
    /* 3; 34; three times 5 + 2 + 250, drained behind the add, 34, and the
     * branch; 5 and 34 at the end */
    {"own order, barriers",
     loop_form,
     {0},
     NSR_TIME_AS_IS,
     3 + 34 + 3 * (5 + 252 + 34 + 5) + 5 + 34},
};

static void time_one(const struct time_case *c) {
  struct nsr_ctx *ctx = nsr_ctx_new();
  char text[4000], line[400];
  snprintf(text, sizeof text, HEAD "%s", c->text);
  struct nsr_kernel *k = kernel_of(ctx, text);
  struct nsr_time_run *run;
  struct nsr_time t;
  struct nsr_time_machine m = {.name = "m", .text = machine, .sets = c->sets};
  while (m.nsets < 3 && c->sets[m.nsets])
    m.nsets++;
  if (nsr_time_record(ctx, k, NULL, &run) != NSR_OK ||
      nsr_time(ctx, run, &m, c->form, &t) != NSR_OK)
    fail_msg("%s: %s", c->what, first_error(ctx, line, sizeof line));
  if (t.ns < c->ns - 1e-6 || t.ns > c->ns + 1e-6)
    fail_msg("%s: %f ns, not %f", c->what, t.ns, c->ns);
  nsr_ctx_free(ctx);
}

static void test_schedules(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    time_one(&cases[i]);
}

static void test_forms(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
    time_one(&forms[i]);
}

struct excess_case {
  const char *what, *text, *engine;
  double ns; /* of the longest excess; 0: there is none */
};

static const struct excess_case excesses[] = {
    {"enough",
     ".engine dve\n" MEMSET
     " ^s0\nmemset z{0:1}[16*4] value=0 ^s0\nsync\nhalt\n"
     ".engine act\n" COPY " ?s0>=1\nsync\nhalt\n",
     NULL, 0},
    /* x is there at 22, seen at 31; y at 38, 47 */
    {"one more than enough",
     ".engine dve\n" MEMSET
     " ^s0\nmemset z{0:1}[16*4] value=0 ^s0\nsync\nhalt\n"
     ".engine act\n" COPY " ?s0>=2\nsync\nhalt\n",
     "act", 16},
    {"nothing to wait for",
     ".engine dve\nmemset z{0:1}[16*4] value=0 ^s0\nsync\nhalt\n"
     ".engine act\nwait ?s0>=1\n" COPY "\nsync\nhalt\n",
     "act", 31},
    /* what it waits for is late itself */
    {"another's fault",
     ".engine dve\nmemset z{0:1}[16*4] value=0 ^s0\nsync\nhalt\n"
     ".engine pool\n" MEMSET " ?s0>=1 ^s1\nsync\nhalt\n"
     ".engine act\n" COPY " ?s1>=1\nsync\nhalt\n",
     "pool", 31},
    /* on until 56 instead of 31 */
    {"a barrier",
     ".engine dve\n" MEMSET "\nsync\nsync\nhalt\n.engine act\nsync\n" COPY
     "\nsync\nhalt\n",
     "act", 25},
};

static void test_excess(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof excesses / sizeof *excesses; i++) {
    const struct excess_case *c = &excesses[i];
    struct nsr_ctx *ctx = nsr_ctx_new();
    const struct nsr_time_machine m = {.name = "m", .text = machine};
    char text[2000];
    struct nsr_time_run *run;
    struct nsr_time t;
    snprintf(text, sizeof text, HEAD "%s", c->text);
    assert_int_equal(nsr_time_record(ctx, kernel_of(ctx, text), NULL, &run),
                     NSR_OK);
    assert_int_equal(nsr_time(ctx, run, &m, NSR_TIME_EXPLAINED, &t), NSR_OK);
    double ns = t.nexcess ? t.excess[0].ns : 0;
    if (ns < c->ns - 1e-6 || ns > c->ns + 1e-6 ||
        (c->engine && strcmp(t.excess[0].place.engine, c->engine) != 0))
      fail_msg("%s: %f ns of %s", c->what, ns,
               t.nexcess ? t.excess[0].place.engine : "none");
    nsr_ctx_free(ctx);
  }
}

/* Nothing of an engine's time is lost or counted twice, its unit does no more
 * than there is time for, and less waiting takes no longer (here). */
static void check_accounts(struct nsr_ctx *ctx, const struct nsr_kernel *k,
                           const char *what) {
  struct nsr_time_run *run;
  struct nsr_time t[4];
  char line[400];
  if (nsr_time_record(ctx, k, NULL, &run) != NSR_OK)
    fail_msg("%s: %s", what, first_error(ctx, line, sizeof line));
  for (int f = NSR_TIME_AS_IS; f <= NSR_TIME_IDEAL_SIGNALS; f++) {
    if (nsr_time(ctx, run, NULL, (enum nsr_time_form)f, &t[f]) != NSR_OK)
      fail_msg("%s: %s", what, first_error(ctx, line, sizeof line));
    for (int e = 0; e < k->isa->nengines; e++) {
      const struct nsr_time_engine *g = &t[f].engines[e];
      double sum = g->control + g->issue + g->waiting + g->full + g->loading +
                   g->barrier;
      if (g->name && (sum < g->end - 0.01 || sum > g->end + 0.01))
        fail_msg("%s, form %d, %s: %f of %f ns", what, f, g->name, sum, g->end);
      assert_true(!g->name || g->unit <= t[f].ns + 0.01);
    }
  }
  if (t[2].ns > t[3].ns * 1.001 || t[3].ns > t[0].ns * 1.001 ||
      t[0].ns != t[1].ns)
    fail_msg("%s: ideal %f, with signals %f, as it is %f", what, t[2].ns,
             t[3].ns, t[0].ns);
}

static void test_accounts(void **state) {
  (void)state;
  struct prng r = prng_seed("test_timed", 1);
  unsigned kernels = 0;
  for (int i = 0; nsr_isas[i]; i++)
    for (int n = 0; n < 40; n++) {
      struct nsr_ctx *ctx = nsr_ctx_new();
      struct nsr_kernel *k;
      const struct nsr_setting settings[] = {{"seed", prng_in(&r, 0, 65535)},
                                             {"instructions", 80}};
      const struct nsr_gen_options o = {
          .isa = nsr_isas[i], .nsettings = 2, .settings = settings};
      char what[80];
      snprintf(what, sizeof what, "random, %s, seed %d", nsr_isas[i]->name,
               (int)settings[0].value);
      if (nsr_gen(ctx, "random", &o, &k) == NSR_OK) {
        check_accounts(ctx, k, what);
        kernels++;
      }
      nsr_ctx_free(ctx);
    }
  assert_true(kernels > 60);
}

/* Longer than clocks can tell is said, not counted. */
static void test_too_long(void **state) {
  (void)state;
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_kernel *k =
      kernel_of(ctx, HEAD ".engine dve\n.repeat 9\n"
                          "memset x[65535*0, 65535*0, 65535*0] value=0\n.end\n"
                          "halt\n");
  const struct nsr_time_machine m = {.name = "m", .text = machine};
  struct nsr_time_run *run;
  struct nsr_time t;
  assert_int_equal(nsr_time_record(ctx, k, NULL, &run), NSR_OK);
  assert_int_equal(nsr_time(ctx, run, &m, NSR_TIME_AS_IS, &t), NSR_E_RANGE);
  nsr_ctx_free(ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_schedules), cmocka_unit_test(test_forms),
      cmocka_unit_test(test_accounts), cmocka_unit_test(test_excess),
      cmocka_unit_test(test_too_long)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
