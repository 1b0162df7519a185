/* test_plan.c - which waits are chosen, and how they are counted. */
#include "passes.h"

#define HEAD                                                                   \
  ".isa tile64\n.owned 8, 11\n.queue q0 sp\n.queue q1 act\n"                   \
  ".tensor n dram i32 [1] at 0 input range 0 4\n"                              \
  ".tensor x dram f32 [64, 4] at 4096 input\n"                                 \
  ".tensor y dram f32 [64, 4] at 65536 output\n"                               \
  ".tensor a sbuf f32 [1, 4] at 0:1, 0 scratch\n"                              \
  ".tensor b sbuf f32 [1, 4] at 0:1, 16 scratch\n"                             \
  ".tensor c sbuf f32 [1, 4] at 0:1, 32 scratch\n"

static const struct pass_case plans[] = {
    {"top level: a constant",
     HEAD ".engine act\n sync 0\n copy b[4*4], a[4*4]\n sync 1\n halt\n"
          ".engine sp\n dma q0, c[4*4], x[4*4]\n dma q0, a[4*4], x[4*4]\n"
          " sync 0\n sync 1\n halt\n",
     NSR_OK,
     "sp[1] dma q0 counts in s8, scope 0\n"
     "act[1] copy waits s8 >= 1 for sp[1] dma q0\n"},
    {"in an arm that runs once at most: constants",
     HEAD ".engine act\n ld r1, x\n br.eq r1, 0, e\n sync 1\n"
          " copy b[4*4], a[4*4]\n sync 2\ne: sync 3\n halt\n"
          ".engine sp\n ld r1, x\n br.eq r1, 0, e\n dma q0, a[4*4], x[4*4]\n"
          " sync 1\n sync 2\n dma q0, a[4*4], x[4*4]\ne: sync 3\n halt\n",
     NSR_OK,
     "sp[2] dma q0 counts in s9, scope 1\n"
     "act[3] copy counts in s8, scope 1\n"
     "act[3] copy waits s9 >= 1 for sp[2] dma q0\n"
     "sp[5] dma q0 waits s8 >= 1 for act[3] copy\n"},
    {"one loop: the read in front of the next write",
     HEAD ".engine act\nl: copy b[4*4], a[4*4] ?s8>=1\n sync 1\n"
          " add r1, r1, 1\n br.lt r1, 3, l\n sync 2\n halt\n"
          ".engine sp\nl: dma q0, a[4*4], x[4*4] ^s8\n sync 1\n"
          " add r1, r1, 1\n br.lt r1, 3, l\n sync 2\n halt\n",
     NSR_OK,
     "sp[0] dma q0 counts in s9, scope 1\n"
     "act[0] copy counts in s8, scope 1\n"
     "act r0 starts at 0, +1 per entry of scope 1\n"
     "sp r0 starts at -1, +1 per entry of scope 1\n"
     "sp[0] dma q0 waits s8 >= r0 for act[0] copy\n"
     "act[0] copy waits s9 >= r0 for sp[0] dma q0\n"},
    {"N = 2, K = 1: the mirror is biased",
     HEAD ".engine act\n"
          "l: copy b[4*4], a[4*4] ?s8>=1 ^s9\n copy c[4*4], a[4*4] ^s9\n"
          " sync 1\n add r1, r1, 1\n br.lt r1, 3, l\n sync 2\n halt\n"
          ".engine sp\nl: dma q0, a[4*4], x[4*4] ^s8\n nop ?s9>=2\n"
          " sync 1\n add r1, r1, 1\n br.lt r1, 3, l\n sync 2\n halt\n"
          ".engine dve\nl: copy b[4*4], a[4*4] ?s9>=1\n"
          " sync 1\n add r1, r1, 1\n br.lt r1, 3, l\n sync 2\n halt\n",
     NSR_OK,
     "sp[0] dma q0 counts in s10, scope 1\n"
     "act[0] copy counts in s8, scope 1\n"
     "act[1] copy counts in s8, scope 1\n"
     "dve[0] copy counts in s9, scope 1\n"
     "act r0 starts at 0, +1 per entry of scope 1\n"
     "dve r0 starts at -1, +2 per entry of scope 1\n"
     "sp r0 starts at -2, +2 per entry of scope 1\n"
     "sp r2 starts at -1, +1 per entry of scope 1\n"
     "sp[0] dma q0 waits s8 >= r0 for act[1] copy\n"
     "sp[0] dma q0 waits s9 >= r2 for dve[0] copy\n"
     "act[0] copy waits s10 >= r0 for sp[0] dma q0\n"
     "dve[0] copy waits s8 >= r0 for act[0] copy\n"},
    {"follows from what the producer waited for",
     HEAD ".engine act\n sync 0\n copy b[4*4], a[4*4]\n sync 1\n sync 2\n"
          " halt\n.engine dve\n sync 0\n sync 1\n tt c[4*4], a[4*4], b[4*4] "
          "op=add\n sync 2\n halt\n"
          ".engine sp\n dma q0, a[4*4], x[4*4]\n sync 0\n sync 1\n sync 2\n"
          " halt\n",
     NSR_OK,
     "sp[0] dma q0 counts in s9, scope 0\n"
     "act[1] copy counts in s8, scope 0\n"
     "act[1] copy waits s9 >= 1 for sp[0] dma q0\n"
     "dve[2] tt waits s8 >= 1 for act[1] copy\n"},
    {"nothing conflicts",
     HEAD ".engine act\n sync 0\n copy b[4*4], c[4*4]\n sync 1\n halt\n"
          ".engine sp\n dma q0, a[4*4], x[4*4]\n sync 0\n sync 1\n halt\n",
     NSR_OK, ""},
    {"waits for work in front of a loop leave it, but for one that is free",
     HEAD ".engine act\n memset a[4*4] value=0\n sync 1\nl: sync 3\n"
          " add r1, r1, 1\n br.lt r1, 3, l\n sync 2\n halt\n"
          ".engine dve\n sync 1\nl: tt c[4*4], a[4*4], b[4*4] op=add\n"
          " sync 3\n add r1, r1, 1\n br.lt r1, 3, l\n sync 2\n halt\n"
          ".engine sp\n dma q0, b[4*4], x[4*4]\n sync 1\nl: sync 3\n"
          " add r1, r1, 1\n br.lt r1, 3, l\n sync 2\n halt\n",
     NSR_OK,
     "act[0] memset counts in s8, scope 0\n"
     "sp[0] dma q0 counts in s9, scope 0\n"
     "dve[1] tt counts in s10, scope 1\n"
     "dve r0 starts at -1, +1 per entry of scope 1\n"
     "dve[1] tt waits s10 >= r0 for dve[1] tt\n"
     "dve[1] tt waits s8 >= 1 for act[0] memset, in front of scope 1\n"
     "dve[1] tt waits s9 >= 1 for sp[0] dma q0, in front of scope 1\n"},
    {"both in a conditional inside a loop: the arm is counted",
     HEAD ".engine act\nl: sync 1\n br.eq r2, 0, s\n sync 3\n"
          " copy b[4*4], a[4*4] ?s8>=1\n sync 4\ns: add r1, r1, 1\n"
          " br.lt r1, 3, l\n sync 2\n halt\n"
          ".engine sp\nl: sync 1\n br.eq r2, 0, s\n sync 3\n"
          " dma q0, a[4*4], x[4*4] ^s8\n sync 4\ns: add r1, r1, 1\n"
          " br.lt r1, 3, l\n sync 2\n halt\n",
     NSR_OK,
     "sp[3] dma q0 counts in s9, scope 2\n"
     "act[3] copy counts in s8, scope 2\n"
     "act r0 starts at 0, +1 per entry of scope 2\n"
     "sp r0 starts at -1, +1 per entry of scope 2\n"
     "sp[3] dma q0 waits s8 >= r0 for act[3] copy\n"
     "act[3] copy waits s9 >= r0 for sp[3] dma q0\n"},
    {"a way on without work passes by a load that drains the pipeline",
     HEAD ".engine sp\n mov r1, 0\nl: br.ge r1, 2, d\n st a, r1\n sync\n"
          " add r1, r1, 1\n br.ne r1, 1, m\n br l\nm: ld r2, b\n sync\n"
          " br l\nd: st a, r1\n sync\n halt\n",
     NSR_OK,
     "sp[2] st counts in s8, scope 2\n"
     "sp r0 starts at -1, +1 per entry of scope 2\n"
     "sp[2] st waits s8 >= r0 for sp[2] st\n"
     "sp[10] st waits s8 >= r0 + 1 for sp[2] st\n"},
};

static void test_plans(void **state) {
  (void)state;
  CHECK_CASES(plans, NSR_STAGE_PLAN);
}

/* ---- budgets */

/* A reader of three words of one channel, at three lags. */
static const char three[] =
    HEAD ".engine act\nl: sync 1\n copy c[4*4], b[4*4]\n sync 3\n"
         " copy c[4*4], a[4*4]\n sync 4\n copy c[4*4], b[4*4]\n sync 5\n"
         " add r1, r1, 1\n br.lt r1, 3, l\n sync 2\n halt\n"
         ".engine sp\nl: dma q0, a[4*4], x[4*4]\n dma q0, b[4*4], x[4*4]\n"
         " sync 1\n sync 3\n sync 4\n sync 5\n"
         " add r1, r1, 1\n br.lt r1, 3, l\n sync 2\n halt\n";

static enum nsr_status plan_with(const char *text,
                                 struct nsr_rewrite_options options, char *out,
                                 size_t size) {
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_kernel *k = assemble(ctx, text);
  const char *dump = "";
  enum nsr_status status = nsr_dump(ctx, k, NSR_STAGE_PLAN, &options, &dump);
  snprintf(out, size, "%s",
           status == NSR_OK ? dump : nsr_ctx_first_error(ctx)->text);
  nsr_ctx_free(ctx);
  return status;
}

static enum nsr_status registers(uint32_t n, bool limit, char *out,
                                 size_t size) {
  return plan_with(three,
                   (struct nsr_rewrite_options){.max_registers = n,
                                                .limit_registers = limit},
                   out, size);
}

static enum nsr_status semaphores(uint32_t n, bool limit, char *out,
                                  size_t size) {
  return plan_with(three,
                   (struct nsr_rewrite_options){.max_semaphores = n,
                                                .limit_semaphores = limit},
                   out, size);
}

static void test_budgets(void **state) {
  (void)state;
  char out[4000];
  assert_int_equal(registers(0, false, out, sizeof out), NSR_OK);
  assert_null(strstr(out, " - "));
  /* short of registers: one mirror and a scratch register */
  assert_int_equal(registers(2, false, out, sizeof out), NSR_OK);
  assert_non_null(strstr(out, " - "));
  /* the mirror alone, made the threshold and then as before */
  assert_int_equal(registers(1, false, out, sizeof out), NSR_OK);
  assert_non_null(strstr(out, " - "));
  assert_int_equal(semaphores(0, false, out, sizeof out), NSR_OK);
  /* short of semaphores: some of the code keeps its barriers */
  assert_int_equal(semaphores(1, false, out, sizeof out), NSR_OK);
  assert_null(strstr(out, " in s9"));
}

/* 0 means none where it is said to be a limit. */
static void test_budget_of_none(void **state) {
  (void)state;
  char out[4000];
  assert_int_equal(registers(0, true, out, sizeof out), NSR_OK);
  assert_null(strstr(out, " waits "));
  assert_int_equal(semaphores(0, true, out, sizeof out), NSR_OK);
  assert_null(strstr(out, " waits "));
}

/* ---- schemes */

/* A loop in a loop, both directly with work of two channels; in the inner one
 * sp has two and act has one. */
static const char nested[] =
    HEAD ".engine act\nl: sync 1\n copy c[4*4], a[4*4]\n sync 3\nm: sync 6\n"
         " copy c[4*4], b[4*4]\n sync 4\n add r2, r2, 1\n br.lt r2, 3, m\n"
         " sync 5\n add r1, r1, 1\n br.lt r1, 3, l\n sync 2\n halt\n"
         ".engine sp\nl: dma q0, a[4*4], x[4*4]\n sync 1\n sync 3\n"
         "m: dma q0, b[4*4], x[4*4] ^s8\n dma q0, b[4*4], x[4*4] ?s8>=1\n"
         " sync 6\n sync 4\n add r2, r2, 1\n br.lt r2, 3, m\n"
         " sync 5\n add r1, r1, 1\n br.lt r1, 3, l\n sync 2\n halt\n";

static void check_scheme(const char *text, enum nsr_scheme scheme,
                         uint32_t registers, const char *want) {
  char out[4000];
  struct nsr_rewrite_options o = {.scheme = scheme, .max_registers = registers};
  assert_int_equal(plan_with(text, o, out, sizeof out), NSR_OK);
  if (strcmp(out, want) != 0)
    fail_msg("--- got\n%s\n--- wanted\n%s", out, want);
}

/* One semaphore a channel; a mirror counts both loops. */
static void test_running_total(void **state) {
  (void)state;
  check_scheme(
      nested, NSR_SCHEME_PER_ENGINE, 0,
      "sp[0] dma q0 counts in s9, scope 1\n"
      "act[1] copy counts in s8, scope 1\n"
      "sp[3] dma q0 counts in s9, scope 2\n"
      "sp[4] dma q0 counts in s9, scope 2\n"
      "act[4] copy counts in s8, scope 2\n"
      "act r0 starts at -1, +1 per entry of scope 1, +1 per entry of scope 2\n"
      "act r3 starts at 0, +1 per entry of scope 1, +2 per entry of scope 2\n"
      "sp r0 starts at -1, +1 per entry of scope 1, +1 per entry of scope 2\n"
      "sp r3 starts at -1, +1 per entry of scope 1, +2 per entry of scope 2\n"
      "sp[0] dma q0 waits s8 >= r0 for act[1] copy\n"
      "act[1] copy waits s8 >= r0 for act[4] copy\n"
      "act[1] copy waits s9 >= r3 for sp[0] dma q0\n"
      "sp[3] dma q0 waits s8 >= r0 for act[4] copy\n"
      "sp[4] dma q0 waits s9 >= r3 for sp[3] dma q0\n"
      "act[4] copy waits s8 >= r0 for act[1] copy\n"
      "act[4] copy waits s9 >= r3 for sp[4] dma q0\n");
}

/* act's one work in the inner loop counts for two, so that a mirror does. */
static void test_equal_weight(void **state) {
  (void)state;
  check_scheme(
      nested, NSR_SCHEME_EQUAL_WEIGHT, 2,
      "sp[0] dma q0 counts in s9, scope 1\n"
      "act[1] copy counts in s8, scope 1\n"
      "sp[3] dma q0 counts in s9, scope 2\n"
      "sp[4] dma q0 counts in s9, scope 2\n"
      "act[4] copy counts in s8, scope 2, for 2\n"
      "act r0 starts at 0, +1 per entry of scope 1, +2 per entry of scope 2\n"
      "sp r0 starts at -1, +1 per entry of scope 1, +2 per entry of scope 2\n"
      "sp[0] dma q0 waits s8 >= r0 for act[1] copy\n"
      "act[1] copy waits s8 >= r0 - 1 for act[4] copy\n"
      "act[1] copy waits s9 >= r0 for sp[0] dma q0\n"
      "sp[3] dma q0 waits s8 >= r0 - 1 for act[4] copy\n"
      "sp[4] dma q0 waits s9 >= r0 for sp[3] dma q0\n"
      "act[4] copy waits s8 >= r0 - 2 for act[1] copy\n"
      "act[4] copy waits s9 >= r0 for sp[4] dma q0\n");
}

/* The wait for equality is an island, so the barriers around it stay. Behind
 * them act counts none of sp's work of this iteration, which came before, and
 * sp expects act's, which is still to come: 1, less its own constant. */
static void test_kept_barrier(void **state) {
  (void)state;
  check_scheme(HEAD
               ".engine act\nl: sync 1\n copy c[4*4], a[4*4]\n sync 3\n"
               " copy b[4*4], a[4*4] ^s8\n nop ?s8==1\n sync 4\n"
               " copy c[4*4], a[4*4]\n"
               " sync 5\n add r1, r1, 1\n br.lt r1, 3, l\n sync 2\n halt\n"
               ".engine sp\nl: dma q0, a[4*4], x[4*4]\n sync 1\n sync 3\n"
               " sync 4\n sync 5\n add r1, r1, 1\n br.lt r1, 3, l\n sync 2\n"
               " halt\n",
               NSR_SCHEME_AUTO, 0,
               "sp[0] dma q0 counts in s10, scope 1\n"
               "act[6] copy counts in s9, scope 1\n"
               "act r0 starts at 0, +1 per entry of scope 1\n"
               "act r0 is 0 behind sync 3\n"
               "act r0 is 0 behind sync 4\n"
               "sp r0 starts at -1, +1 per entry of scope 1\n"
               "sp r0 is 0 behind sync 3\n"
               "sp r0 is 0 behind sync 4\n"
               "sp[0] dma q0 waits s9 >= r0 for act[6] copy\n"
               "act[1] copy waits s10 >= r0 for sp[0] dma q0\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_plans),
      cmocka_unit_test(test_budgets),
      cmocka_unit_test(test_budget_of_none),
      cmocka_unit_test(test_running_total),
      cmocka_unit_test(test_equal_weight),
      cmocka_unit_test(test_kept_barrier),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
