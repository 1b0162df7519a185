/* The machines of isa/ take what is public of them: what one more instruction
 * of a kind takes, in cycles of its engine or ns. */
#include "sim_kernel.h"

#include <nsr/time.h>

#define HEAD                                                                   \
  ".isa tile64\n.queue q0 sp\n"                                                \
  ".tensor x sbuf f32 [128, 1024] at 0:128, 0 scratch\n"                       \
  ".tensor y sbuf f32 [128, 1024] at 0:128, 4096 scratch\n"                    \
  ".tensor b sbuf bf16 [128, 1024] at 0:128, 8192 scratch\n"                   \
  ".tensor c sbuf bf16 [128, 1024] at 0:128, 10240 scratch\n"                  \
  ".tensor z psum f32 [128, 1024] at 0:128, 0 scratch\n"                       \
  ".tensor d dram f32 [128, 1024] at 0 input\n"

struct figure {
  const char *what, *engine, *line;
  double v2, v3; /* cycles */
};

static const double clocks[2][4] = {{2.8, 1.12, 1.4, 1.4},
                                    {2.4, 0.96, 1.2, 1.2}};

static const struct figure figures[] = {
    {"product of 512", "pe", "mm z[512*4], b[512*2]", 512, 512},
    {"product of 16", "pe", "mm z[16*4], b[16*2]", 64, 64},
    {"product of f32", "pe", "mm z[512*4], x[512*4]", 2048, 2048},
    {"vector", "dve", "ts x[512*4], x[512*4] op0=add imm0=1", 512, 512},
    {"short vector", "dve", "ts x[8*4], x[8*4] op0=add imm0=1", 64, 64},
    {"vector, two inputs", "dve", "tt x[512*4], x[512*4], y[512*4] op=add",
     1024, 1024},
    {"vector, bf16", "dve", "ts b[512*2], c[512*2] op0=add imm0=1", 512, 256},
    {"activation", "act", "act x[512*4], x[512*4] func=exp scale=1 bias=0", 512,
     512},
    {"short activation", "act", "act x[8*4], x[8*4] func=exp scale=1 bias=0",
     64, 64},
    {"general", "pool", "copy x[512*4], y[512*4]", 662, 662},
};

static double time_of(const char *machine, const char *engine, const char *line,
                      int n) {
  struct nsr_ctx *ctx = nsr_ctx_new();
  const struct nsr_time_machine m = {.name = machine};
  struct nsr_time_run *run;
  struct nsr_time t;
  char text[2000], why[300];
  snprintf(text, sizeof text, "%s.engine %s\n.repeat %d\n%s\n.end\nhalt\n",
           HEAD, engine, n, line);
  if (nsr_time_record(ctx, kernel_of(ctx, text), NULL, &run) != NSR_OK ||
      nsr_time(ctx, run, &m, NSR_TIME_AS_IS, &t) != NSR_OK)
    fail_msg("%s: %s", line, first_error(ctx, why, sizeof why));
  nsr_ctx_free(ctx);
  return t.ns;
}

static void expect(const char *what, const char *machine, double got,
                   double want) {
  if (got < want * 0.999 - 0.01 || got > want * 1.001 + 0.01)
    fail_msg("%s on %s: %f ns, not %f", what, machine, got, want);
}

static int clock_of(const char *engine) {
  static const char *const names[] = {"pe", "dve", "act", "pool"};
  int i = 0;
  while (strcmp(names[i], engine) != 0)
    i++;
  return i;
}

static void test_engines(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
    for (int v = 0; v < 2; v++) {
      const struct figure *f = &figures[i];
      const char *machine = v ? "v3" : "v2";
      double more = time_of(machine, f->engine, f->line, 3) -
                    time_of(machine, f->engine, f->line, 2);
      expect(f->what, machine, more,
             (v ? f->v3 : f->v2) / clocks[v][clock_of(f->engine)]);
    }
}

static void test_transfers(void **state) {
  (void)state;
  static const char large[] = "dma q0, x[1024*4], d{128*4096}[1024*4]";
  static const char small[] = "dma q0, x{0:1}[1*4], d[1*4]";
  static const double rate[] = {272, 368};
  for (int v = 0; v < 2; v++) {
    const char *machine = v ? "v3" : "v2";
    double more =
        time_of(machine, "sp", large, 3) - time_of(machine, "sp", large, 2);
    expect("bytes", machine, more, 128 * 4096 / rate[v]);
    double fixed = time_of(machine, "sp", small, 1);
    assert_true(fixed > 1300 && fixed < 2050); /* about 1.3 to 2 us */
    assert_true(v || fixed > 1950);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_engines),
                                     cmocka_unit_test(test_transfers)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
