/* Why a wait could go: the chain that makes it superfluous, or that nothing
 * needs it. */
#include "judge_case.h"

#define HEAD                                                                   \
  ".isa tile64\n.kernel \"t\"\n.queue q0 sp\n.queue q1 act\n"                  \
  ".tensor n dram i32 [1] at 0x1000 input range 0 3\n"                         \
  ".tensor in dram i32 [4, 4] at 0 input\n"                                    \
  ".tensor x sbuf i32 [4, 4] at 0:4, 0 scratch\n"                              \
  ".tensor y sbuf i32 [4, 4] at 0:4, 64 scratch\n"                             \
  ".tensor z sbuf i32 [4, 4] at 0:4, 128 scratch\n"
#define LOAD " dma q0, x[4*4], in{4*16}[4*4]"
#define END " sync 9\n halt\n"

struct explain_case {
  const char *name;
  const char *engine;
  uint32_t insn;
  const char *kernel, *mutant;
  const char *says[4]; /* in this order */
};

static const struct explain_case cases[] = {
    {"another engine passed it on",
     "pool",
     0,
     HEAD ".engine sp\n" LOAD " ^s0\n" END
          ".engine dve\n copy y[4*4], x[4*4] ?s0>=1 ^s1\n" END
          ".engine pool\n wait ?s0>=1\n copy z[4*4], x[4*4] ?s1>=1\n" END,
     HEAD ".engine sp\n" LOAD " ^s0\n" END
          ".engine dve\n copy y[4*4], x[4*4] ?s0>=1 ^s1\n" END
          ".engine pool\n wait ?s0>=0\n copy z[4*4], x[4*4] ?s1>=1\n" END,
     {"it names sp[0]", "pool knows without it", "pool[1]",
      "dve[0] (k.s:15) `copy y[4*4], x[4*4] ?s0>=1 ^s1` had waited"}},
    {"in order on its channel",
     "dve",
     0,
     HEAD ".engine sp\n" LOAD " ^s0\n qnop q0 ^s0\n" END
          ".engine dve\n wait ?s0>=1\n copy y[4*4], x[4*4] ?s0>=2\n" END,
     HEAD ".engine sp\n" LOAD " ^s0\n qnop q0 ^s0\n" END
          ".engine dve\n wait ?s0>=0\n copy y[4*4], x[4*4] ?s0>=2\n" END,
     {"it names sp[0]", "knows without it", "update of sp[1]",
      "itself or behind it on its channel"}},
    {"a barrier behind it",
     "dve",
     0,
     HEAD ".engine sp\n" LOAD " ^s0\n sync 1\n" END
          ".engine dve\n wait ?s0>=1\n sync 1\n copy y[4*4], x[4*4]\n" END,
     HEAD ".engine sp\n" LOAD " ^s0\n sync 1\n" END
          ".engine dve\n wait ?s0>=0\n sync 1\n copy y[4*4], x[4*4]\n" END,
     {"it names sp[0]", "knows without it", "a barrier drained everything"}},
    {"a load drains the pipe",
     "act",
     2,
     HEAD ".engine act\n copy y[4*4], x[4*4] ^s0\n ld r1, n\n wait ?s0>=1\n"
          " copy x[4*4], y[4*4]\n" END,
     HEAD ".engine act\n copy y[4*4], x[4*4] ^s0\n ld r1, n\n wait ?s0>=0\n"
          " copy x[4*4], y[4*4]\n" END,
     {"it names act[0]", "knows without it", "has loaded its register"}},
    {"nothing needs it",
     "dve",
     0,
     HEAD ".engine sp\n" LOAD " ^s0\n" END
          ".engine dve\n wait ?s0>=1\n memset z[4*4] value=1\n" END,
     HEAD ".engine sp\n" LOAD " ^s0\n" END
          ".engine dve\n wait ?s0>=0\n memset z[4*4] value=1\n" END,
     {"dve does not know all of q0 up to no. 1", "sp[0]",
      "nothing that dve issues from here on conflicts",
      "stronger than these inputs need"}},
    {"nothing needs it until later",
     "dve",
     0,
     HEAD ".engine sp\n" LOAD " ^s0\n" END
          ".engine dve\n memset z[4*4] value=1 ?s0>=1\n"
          " copy y[4*4], x[4*4] ?s0>=1\n" END,
     HEAD ".engine sp\n" LOAD " ^s0\n" END
          ".engine dve\n memset z[4*4] value=1\n"
          " copy y[4*4], x[4*4] ?s0>=1\n" END,
     {"does not know all of q0", "until it learns of them, at", "dve[1]"}},
    {"reached from the start",
     "dve",
     1,
     HEAD ".engine dve\n mov r1, 0\n nop ?s0>=r1\n" END ".engine sp\n" LOAD
          " ^s0\n" END,
     HEAD ".engine dve\n mov r1, 0\n nop\n" END ".engine sp\n" LOAD
          " ^s0\n" END,
     {"its threshold is reached from the start"}},
    {"nothing comes behind it",
     "dve",
     0,
     HEAD ".engine sp\n" LOAD " ^s0\n" END ".engine dve\n wait ?s0>=1\n" END,
     HEAD ".engine sp\n" LOAD " ^s0\n" END ".engine dve\n wait ?s0>=0\n" END,
     {"dve issues nothing more"}},
    {"it is needed",
     "dve",
     0,
     HEAD ".engine sp\n" LOAD " ^s0\n" END
          ".engine dve\n copy y[4*4], x[4*4] ?s0>=1\n" END,
     HEAD ".engine sp\n" LOAD " ^s0\n" END
          ".engine dve\n copy y[4*4], x[4*4]\n" END,
     {"it is needed", "race", "sbuf partitions [0,4) bytes [0,16)"}},
    {"never reached",
     "dve",
     2,
     HEAD ".engine dve\n mov r1, 1\n br.eq r1, 1, e\n nop ?s0>=1\ne:\n" END,
     HEAD ".engine dve\n mov r1, 1\n br.eq r1, 1, e\n nop\ne:\n" END,
     {"never executed"}},
};

static void check(const struct explain_case *c) {
  struct nsr_ctx *ctx = nsr_ctx_new();
  const char *text = "", *at;
  char line[300];
  struct nsr_kernel *k = kernel_of(ctx, c->kernel);
  struct nsr_kernel *m = kernel_of(ctx, c->mutant);
  int e = nsr_isa_engine(k->isa, c->engine);
  if (nsr_explain_wait(ctx, k, m, e, c->insn, NULL, &text) != NSR_OK)
    fail_msg("%s: %s", c->name, first_error(ctx, line, sizeof line));
  at = text;
  for (int i = 0; i < 4 && c->says[i]; i++) {
    at = strstr(at, c->says[i]);
    if (!at)
      fail_msg("%s: no '%s' in\n%s", c->name, c->says[i], text);
  }
  nsr_ctx_free(ctx);
}

static void test_reasons(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    check(&cases[i]);
}

static void test_counts(void **state) {
  (void)state;
  static const char kernel[] =
      HEAD ".engine dve\n ld r1, n\n mov r2, 0\n mov r3, 1\nl:\n"
           " br.ge r2, r1, e\n memset x[4*4] value=1 ?s0>=r2 ^s0\n"
           " wait ?s0>=r3\n memset x[4*4] value=2 ?s0>=r3\n"
           " nop ^s1\n wait ?s1>=r3\n add r2, r2, 1\n add r3, r3, 1\n"
           " br l\ne:\n" END;
  static const char mutant[] =
      HEAD ".engine dve\n ld r1, n\n mov r2, 0\n mov r3, 1\nl:\n"
           " br.ge r2, r1, e\n memset x[4*4] value=1 ?s0>=r2 ^s0\n"
           " wait ?s0>=0\n memset x[4*4] value=2 ?s0>=r3\n"
           " nop ^s1\n wait ?s1>=r3\n add r2, r2, 1\n add r3, r3, 1\n"
           " br l\ne:\n" END;
  struct nsr_ctx *ctx = nsr_ctx_new();
  const char *text;
  struct nsr_kernel *k = kernel_of(ctx, kernel), *m = kernel_of(ctx, mutant);
  int e = nsr_isa_engine(k->isa, "dve");
  assert_int_equal(nsr_explain_wait(ctx, k, m, e, 5, NULL, &text), NSR_OK);
  assert_non_null(strstr(text, "6 times, first with input n=[3]"));
  nsr_ctx_free(ctx);
}

static void test_refused(void **state) {
  (void)state;
  struct nsr_ctx *ctx = nsr_ctx_new();
  const char *text;
  struct nsr_kernel *k = kernel_of(ctx, HEAD ".engine dve\n nop\n" END);
  struct nsr_kernel *other = kernel_of(ctx, HEAD ".engine act\n nop\n" END);
  int e = nsr_isa_engine(k->isa, "dve");
  assert_int_equal(nsr_explain_wait(ctx, k, k, e, 0, NULL, &text), NSR_E_USAGE);
  assert_int_equal(nsr_explain_wait(ctx, k, k, e, 99, NULL, &text),
                   NSR_E_USAGE);
  assert_int_equal(nsr_explain_wait(ctx, k, k, 99, 0, NULL, &text),
                   NSR_E_USAGE);
  assert_int_equal(nsr_explain_wait(ctx, k, other, e, 0, NULL, &text),
                   NSR_E_USAGE);
  nsr_ctx_free(ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_reasons),
                                     cmocka_unit_test(test_counts),
                                     cmocka_unit_test(test_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
