/* test_islands.c - what cannot be read, and what stays around it. */
#include "passes.h"

#include <nsr/rewrite.h>

#define HEAD                                                                   \
  ".isa tile64\n.queue q0 sp\n.queue q1 act\n.queue q2 sp\n"                   \
  ".tensor n dram i32 [1] at 0 input range 0 4\n"                              \
  ".tensor x dram f32 [64, 4] at 4096 input\n"                                 \
  ".tensor y dram f32 [64, 4] at 65536 output\n"                               \
  ".tensor a sbuf f32 [1, 4] at 0:1, 0 scratch\n"                              \
  ".tensor b sbuf f32 [1, 4] at 0:1, 16 scratch\n"                             \
  ".tensor r sbuf f32 [1, 12] at 0:1, 64 scratch\n"

/* ---- reasons */

static const struct pass_case reasons[] = {
    {"two channels",
     HEAD ".engine act\n copy b[4*4], a[4*4] ?s0>=2\n sync\n halt\n"
          ".engine sp\n dma q0, a[4*4], x[4*4] ^s0\n nop ^s0\n sync\n halt\n",
     NSR_OK, "several channels update"},
    {"two queues of one engine",
     HEAD ".engine act\n copy b[4*4], a[4*4] ?s0>=1\n sync\n halt\n"
          ".engine sp\n dma q0, a[4*4], x[4*4] ^s0\n qnop q2 ^s0\n sync\n"
          " halt\n",
     NSR_OK, "several channels update"},
    {"a decrement",
     HEAD ".engine act\n copy b[4*4], a[4*4] ?s0>=1\n sync\n halt\n"
          ".engine sp\n dma q0, a[4*4], x[4*4] ^s0\n qnop q0 ^s0--\n sync\n"
          " halt\n",
     NSR_OK, "several channels update"},
    {"a register",
     HEAD ".engine act\n mov r1, 1\n copy b[4*4], a[4*4] ?s0>=r1\n sync\n"
          " halt\n.engine sp\n dma q0, a[4*4], x[4*4] ^s0\n sync\n halt\n",
     NSR_OK, "has its threshold in a register"},
    {"equality",
     HEAD ".engine act\n copy b[4*4], a[4*4] ?s0==1\n sync\n halt\n"
          ".engine sp\n dma q0, a[4*4], x[4*4] ^s0\n sync\n halt\n",
     NSR_OK, "does not compare"},
    {"an update in front of a loop, waited for inside",
     HEAD ".engine act\nl: copy b[4*4], a[4*4] ?s0>=1\n sync 1\n"
          " br.lt r1, 3, l\n sync 2\n halt\n"
          ".engine sp\n dma q0, a[4*4], x[4*4] ^s0\nl: sync 1\n"
          " br.lt r1, 3, l\n sync 2\n halt\n",
     NSR_OK, "differs"},
    {"the other queue may get there first",
     HEAD ".engine act\n copy b[4*4], a[4*4] ?s0>=1\n br.eq r1, 1, s\n"
          " sync 1\ns: sync 2\n halt\n"
          ".engine sp\n dma q0, a[4*4], x[4*4] ^s0\n br.eq r1, 1, s\n"
          " qnop q2 ^s0\n sync 1\ns: sync 2\n halt\n",
     NSR_OK, "several channels update"},
    {"two ways out of a loop with different counts",
     HEAD ".engine sp\nl: sync\n br.eq r3, 1, d\n st a, r1 ^s0\n"
          " br.lt r2, r1, l\nd: nop ?s0>=1\n sync\n halt\n",
     NSR_OK, "is satisfied in or behind a loop"},
    {"an update behind the arm",
     HEAD ".engine sp\n br.eq r1, 0, s\n st a, r1 ^s1\ns: st b, r1 ^s1\n"
          " nop ?s1>=2\n sync\n halt\n",
     NSR_OK, "is satisfied in or behind a loop"},
    {"a loop's own updates name no iteration",
     HEAD ".engine sp\nl: st a, r1 ^s1\n nop ?s1>=1\n br.lt r1, 3, l\n"
          " sync\n halt\n",
     NSR_OK, "is satisfied in or behind a loop"},
    {"C6: waits lead into a scope and out of it again",
     HEAD ".engine act\nl: nop ^s0\n nop ?s1>=1\n br.lt r1, 3, l\n sync\n"
          " halt\n.engine sp\n nop ?s0>=1 ^s1\n sync\n halt\n",
     NSR_OK, "is satisfied in or behind a loop"},
};

static void test_reasons(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
    const struct pass_case *c = &reasons[i];
    struct nsr_ctx *ctx = nsr_ctx_new();
    struct nsr_rewrite_options options = {0};
    const char *text = "";
    struct nsr_kernel *k = assemble(ctx, c->text);
    enum nsr_status status =
        nsr_dump(ctx, k, NSR_STAGE_SCOPES, &options, &text);
    if (status != NSR_OK || !strstr(text, "island: ") ||
        !strstr(text, c->expect))
      fail_msg("%s: %s\n%s", c->name, nsr_status_name(status), text);
    nsr_ctx_free(ctx);
  }
}

/* ---- what becomes an island, what stays */

static const struct pass_case extents[] = {
    {"the barriers around one region stay, others do not",
     HEAD ".engine sp\n sync 1\n st a, r1\n sync 2\n st a, r1 ^s1\n"
          " nop ?s1>=r2\n sync 3\n st a, r1\n sync 4\n sync 5\n halt\n",
     NSR_OK,
     "program 0\n  sync 1\n  sp[1] st\n  sync 2 (stays)\n"
     "  sp[3] st (island)\n  sp[4] nop (island)\n  sync 3 (stays)\n"
     "  sp[6] st\n  sync 4\n  sync 5\n"
     "island: the wait on semaphore 1 at sp[4] has its threshold in a "
     "register\n"},
    {"a region that wraps around a loop",
     HEAD ".engine sp\n sync 1\nl: st a, r1\n sync 2\n st a, r1\n sync 3\n"
          " nop ?s1>=r2\n br.lt r1, 3, l\n sync 4\n st a, r1\n sync 5\n"
          " halt\n",
     NSR_OK,
     "program 0\n  sync 1 (stays)\n  loop 1\n    sp[1] st (island)\n"
     "    sync 2 (stays)\n    sp[3] st\n    sync 3 (stays)\n"
     "    sp[5] nop (island)\n  sync 4 (stays)\n  sp[8] st\n  sync 5\n"
     "island: the wait on semaphore 1 at sp[5] has its threshold in a "
     "register\n"},
    {"a region that spans arms and a private scope of another engine",
     HEAD ".engine sp\n sync 1\n br.eq r1, 1, s\n nop ?s1>=r2\n sync 2\n"
          "s: st a, r1\n sync 3\n st a, r1\n sync 4\n halt\n"
          ".engine act\n sync 1\n br.eq r1, 1, s\n sync 2\n"
          "s: st b, r1\n br.lt r1, 3, s\n sync 3\n sync 4\n halt\n",
     NSR_OK,
     "program 0\n  sync 1 (stays)\n  arm 1\n    sp[2] nop (island)\n"
     "    sync 2 (stays)\n  loop 2\n    act[3] st (island)\n"
     "  marker of act in front of act[5]\n  sp[4] st (island)\n"
     "  sync 3 (stays)\n  sp[6] st\n  sync 4\n"
     "island: the wait on semaphore 1 at sp[2] has its threshold in a "
     "register\n"},
    {"unknown effects",
     HEAD ".engine pool\n sync 1\n sync 2\n custom code=1\n sync 3\n sync 4\n"
          " halt\n",
     NSR_OK,
     "program 0\n  sync 1\n  sync 2 (stays)\n  pool[2] custom (island)\n"
     "  sync 3 (stays)\n  sync 4\n"
     "island: the instruction at pool[2] has unknown effects\n"},
};

static void test_extents(void **state) {
  (void)state;
  CHECK_CASES_WITH(extents, NSR_STAGE_SCOPES, NSR_SOFT_NEVER);
}

/* ---- flow that is not structured */

static const struct pass_case flows[] = {
    {"two entries",
     HEAD ".engine sp\n br.eq r1, 1, m\nl: st a, r1\nm: sync 1\n"
          " br.lt r1, 3, l\n sync 2\n halt\n",
     NSR_OK,
     "program 0\n"
     "  island 1\n"
     "    sp[1] st (island)\n"
     "    sync 1 (stays)\n"
     "  sync 2 (stays)\n"
     "island: the loop at sp[2] has several entries\n"},
    {"arms that share code",
     HEAD ".engine sp\n sync 1\n st b, r1\n sync 2\n br.eq r1, 1, t\n"
          " br.eq r2, 1, s\nt: st a, r1\n sync 3\ns: sync 4\n st b, r1\n"
          " sync 5\n sync 6\n halt\n",
     NSR_OK,
     "program 0\n"
     "  sync 1\n"
     "  sp[1] st\n"
     "  sync 2 (stays)\n"
     "  island 1\n"
     "    sp[5] st (island)\n"
     "    sync 3 (stays)\n"
     "  sync 4 (stays)\n"
     "  sp[8] st\n"
     "  sync 5\n"
     "  sync 6\n"
     "island: the code at sp[5] is shared by arms of conditionals\n"},
    {"what runs in front of a break",
     HEAD ".engine sp\n sync 1\n st b, r1\n sync 2\nl: br.ge r1, 3, d\n"
          " sync 3\n br.eq r1, 2, e\n br l\ne: st a, r1\nd: sync 4\n"
          " st b, r1\n sync 5\n sync 6\n halt\n",
     NSR_OK,
     "program 0\n"
     "  sync 1\n"
     "  sp[1] st\n"
     "  sync 2\n"
     "  loop 1\n"
     "    arm 2\n"
     "      sync 3\n"
     "      arm 3\n"
     "        sp[7] st\n"
     "  sync 4\n"
     "  sp[9] st\n"
     "  sync 5\n"
     "  sync 6\n"},
    {"a loop left to two places, one of them reached around it",
     HEAD ".engine sp\n sync 1\n st b, r1\n sync 2\n br.eq r2, 1, e\n"
          "l: br.ge r1, 3, d\n sync 3\n br.eq r1, 2, e\n br l\ne: st a, r1\n"
          "d: sync 4\n st b, r1\n sync 5\n sync 6\n halt\n",
     NSR_OK,
     "program 0\n"
     "  sync 1\n"
     "  sp[1] st\n"
     "  sync 2 (stays)\n"
     "  island 1\n"
     "    sp[8] st (island)\n"
     "    sync 3 (stays)\n"
     "  sync 4 (stays)\n"
     "  sp[10] st\n"
     "  sync 5\n"
     "  sync 6\n"
     "island: the loop at sp[4] is left to several places\n"},
    {"a break out of two loops takes the outer one along",
     HEAD ".engine sp\n sync 1\nl: sync 2\nm: st a, r1\n br.eq r1, 7, d\n"
          " br.lt r1, 3, m\n st b, r1\n br.lt r2, 3, l\nd: sync 3\n halt\n",
     NSR_OK,
     "program 0\n"
     "  sync 1 (stays)\n"
     "  island 1\n"
     "    sp[2] st (island)\n"
     "    sp[5] st (island)\n"
     "    sync 2 (stays)\n"
     "  sync 3 (stays)\n"
     "island: the loop at sp[2] is left to several places\n"},
    {"inside a loop, without a barrier, on one engine",
     HEAD ".engine act\nl: sync 1\n st b, r1\n sync 2\n br.lt r1, 3, l\n"
          " sync 3\n halt\n"
          ".engine sp\nl: sync 1\n br.eq r1, 1, n\nm: st a, r1\n"
          "n: st a, r1\n br.lt r1, 3, m\n sync 2\n br.lt r1, 3, l\n sync 3\n"
          " halt\n",
     NSR_OK,
     "program 0\n"
     "  loop 1\n"
     "    sync 1 (stays)\n"
     "    act[1] st (island)\n"
     "    island 2\n"
     "      sp[2] st (island)\n"
     "      sp[3] st (island)\n"
     "    marker of sp in front of sp[5]\n"
     "    sync 2 (stays)\n"
     "  sync 3\n"
     "island: the loop at sp[3] has several entries\n"},
    {"register operations without structure",
     HEAD ".engine sp\n sync 1\n br.eq r1, 1, n\nm: add r1, r1, 1\n"
          "n: add r1, r1, 2\n br.lt r1, 3, m\n sync 2\n st a, r1\n sync 3\n"
          " halt\n",
     NSR_OK,
     "program 0\n"
     "  sync 1\n"
     "  sync 2\n"
     "  sp[6] st\n"
     "  sync 3\n"},
    {"opposite code that can be read",
     HEAD ".engine act\n sync 1\n st b, r1\n sync 2\nl: sync 3\n sync 4\n"
          " br.lt r1, 3, l\n sync 5\n sync 6\n halt\n"
          ".engine sp\n sync 1\n sync 2\n br.eq r1, 1, n\nm: sync 4\n"
          "n: sync 3\n br.lt r1, 3, m\n sync 5\n st a, r1\n sync 6\n halt\n",
     NSR_OK,
     "program 0\n"
     "  sync 1\n"
     "  act[1] st\n"
     "  sync 2 (stays)\n"
     "  island 1\n"
     "    sync 3 (stays)\n"
     "    sync 4 (stays)\n"
     "  sync 5 (stays)\n"
     "  sp[7] st\n"
     "  sync 6\n"
     "island: the loop at sp[4] has several entries\n"},
    {"two of them with different barriers grow into one",
     HEAD ".engine act\n sync 1\n br.eq r1, 1, n\nm: sync 2\nn: sync 3\n"
          " br.lt r1, 3, m\n sync 4\n sync 5\n halt\n"
          ".engine sp\n sync 1\n br.eq r1, 1, n\nm: sync 3\nn: sync 4\n"
          " br.lt r1, 3, m\n sync 2\n sync 5\n halt\n",
     NSR_OK,
     "program 0\n"
     "  sync 1 (stays)\n"
     "  island 1\n"
     "    sync 2 (stays)\n"
     "    sync 3 (stays)\n"
     "    sync 4 (stays)\n"
     "  sync 5 (stays)\n"
     "island: the loop at act[3] has several entries\n"},
    {"at the start of a loop's body",
     HEAD ".engine sp\n sync 1\nl: br.eq r1, 1, n\nm: sync 2\nn: st a, r1\n"
          " br.lt r1, 3, m\n sync 3\n st b, r1\n sync 4\n br.lt r2, 3, l\n"
          " sync 5\n halt\n",
     NSR_OK,
     "program 0\n"
     "  sync 1 (stays)\n"
     "  loop 1\n"
     "    island 2\n"
     "      sp[3] st (island)\n"
     "      sync 2 (stays)\n"
     "    sync 3 (stays)\n"
     "    sp[6] st\n"
     "    sync 4 (stays)\n"
     "  sync 5 (stays)\n"
     "island: the loop at sp[3] has several entries\n"},
    {"one of its barriers stands elsewhere as well",
     HEAD ".engine sp\n sync 1\n br.eq r1, 1, n\nm: sync 3\nn: sync 4\n"
          " br.lt r1, 3, m\nl: sync 4\n br.lt r1, 3, l\n sync 5\n halt\n",
     NSR_OK,
     "program 0\n"
     "  sync 1 (stays)\n"
     "  island 1\n"
     "    sync 3 (stays)\n"
     "    sync 4 (stays)\n"
     "    sync 4 (stays)\n"
     "  sync 5 (stays)\n"
     "island: the loop at sp[3] has several entries\n"},
};

static void test_flows(void **state) {
  (void)state;
  CHECK_CASES(flows, NSR_STAGE_SCOPES);
}

/* ---- loads that decide nothing on several engines */

static const struct pass_case never_doubts[] = {
    {"unknown effects may write a word that engines load",
     HEAD ".engine act\n ld r1, n\n mov r2, 0\n sync 1\nl: br.eq r2, r1, d\n "
          "ld r3, a\n"
          " add r2, r2, 1\n br l\nd: sync 2\n halt\n"
          ".engine pool\n ld r1, n\n mov r2, 0\n custom code=1\n sync 1\n"
          "l: br.eq r2, r1, d\n ld r3, a\n add r2, r2, 1\n br l\n"
          "d: sync 2\n halt\n",
     NSR_OK, ""},
};

static const struct pass_case doubts[] = {
    {"unknown effects between two barriers, where an engine loads",
     HEAD ".engine act\n ld r1, n\n mov r2, 0\n sync 1\n"
          "l: br.eq r2, r1, d\n ld r3, a\n add r2, r2, 1\n br l\n"
          "d: sync 2\n sync 3\n halt\n"
          ".engine pool\n ld r1, n\n mov r2, 0\n custom code=1\n sync 1\n"
          "l: br.eq r2, r1, d\n ld r3, b\n add r2, r2, 1\n br l\n"
          "d: sync 2\n st a, r1\n sync 3\n halt\n",
     NSR_OK,
     "pool[2] custom counts in s1, scope 0\n"
     "marker of act in front of act[7] counts in s0, scope 0\n"
     "act[4] ld waits s1 >= 1 for pool[2] custom\n"
     "pool[5] ld waits s1 >= 1 for pool[2] custom\n"
     "pool[9] st waits s0 >= 1 for marker of act in front of act[7]\n"
     "pool[9] st waits s1 >= 1 for pool[2] custom\n"
     "soft pool[2] (k.s:25): has unknown effects: 0 waits, 3 for it, 102 ns; "
     "1 barrier 2080 ns\n"},
};

static void test_doubts(void **state) {
  (void)state;
  CHECK_CASES_WITH(never_doubts, NSR_STAGE_DEPS, NSR_SOFT_NEVER);
  CHECK_CASES(doubts, NSR_STAGE_PLAN);
}

/* ---- what is told all the same */

static const struct pass_case errors[] = {
    {"a wait that can never hold, beside one that cannot be read",
     HEAD ".engine sp\n nop ?s1>=r2\n sync\n st a, r1 ^s1\n nop ?s1>=2\n"
          " sync\n halt\n",
     NSR_E_HANG, "can never hold"},
    {"a cycle of waits",
     HEAD ".engine act\n nop ?s1>=1 ^s0\n sync\n halt\n"
          ".engine sp\n nop ?s0>=1 ^s1\n sync\n halt\n",
     NSR_E_HANG, "form a cycle"},
    {"no structure up to the end",
     HEAD ".engine sp\n sync 1\nl: br.ge r1, 3, d\n sync 2\n br.eq r1, 2, e\n"
          " br l\nd: sync 3\n halt\ne: sync 4\n halt\n",
     NSR_E_REFUSED, "the loop is left to several places"},
    {"no exit from it",
     HEAD ".engine sp\n sync 1\n br.eq r1, 1, n\nm: st a, r1\nn: sync 2\n"
          " br m\n sync 3\n halt\n",
     NSR_E_REFUSED, "the loop has several entries"},
    {"other barriers opposite",
     HEAD ".engine act\n sync 1\nl: sync 2\n br.lt r1, 3, l\n sync 5\n halt\n"
          ".engine sp\n sync 1\n br.eq r1, 1, n\nm: sync 3\nn: sync 4\n"
          " br.lt r1, 3, m\n sync 5\n halt\n",
     NSR_E_FAULT, "barrier 3 in code without structure on sp is none of act's"},
    {"nothing opposite",
     HEAD ".engine act\n sync 1\n sync 5\n halt\n"
          ".engine sp\n sync 1\n br.eq r1, 1, n\nm: sync 3\nn: sync 4\n"
          " br.lt r1, 3, m\n sync 5\n halt\n",
     NSR_E_FAULT, "barrier 3 in code without structure on sp is none of act's"},
};

static void test_errors(void **state) {
  (void)state;
  CHECK_CASES(errors, NSR_STAGE_DEPS);
}

/* Waits lead into an arm and out of it again: one step it is not, but where it
 * is not taken, nothing hangs. */
static void test_cycle(void **state) {
  (void)state;
  static const char text[] =
      HEAD ".engine act\n ld r1, n\n sync 1\n br.eq r1, 9, s\n st a, r1\n"
           "s: sync 2\n br.lt r1, 7, t\n nop ?s1>=1\nt: nop ^s0\n sync 3\n"
           " st a, r1\n sync 4\n st a, r1\n sync 5\n halt\n"
           ".engine sp\n sync 1\n sync 2\n nop ?s0>=1\n nop ^s1\n sync 3\n"
           " sync 4\n sync 5\n halt\n";
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_rewrite_options options = {0};
  struct nsr_rewrite_report report = {0};
  struct nsr_kernel *out, *k = assemble(ctx, text);
  enum nsr_status status =
      nsr_rewrite(ctx, k, NULL, 0, &options, &out, &report);
  assert_int_equal(status, NSR_OK);
  assert_true(report.changed);
  assert_int_equal(report.judgement.verdict, NSR_EQUAL);
  assert_int_equal(report.nkept, 3);
  for (uint32_t i = 0; i < 2; i++) {
    assert_true(report.kept[i].stays);
    assert_non_null(strstr(report.kept[i].reason, "act[6]"));
    assert_non_null(strstr(report.kept[i].reason, "is no one step"));
  }
  assert_false(report.kept[2].stays);
  nsr_ctx_free(ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_reasons), cmocka_unit_test(test_extents),
      cmocka_unit_test(test_flows),   cmocka_unit_test(test_doubts),
      cmocka_unit_test(test_errors),  cmocka_unit_test(test_cycle)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
