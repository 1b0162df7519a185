/* Verdicts: every kind of difference is refuted as what it is, with the text
 * that names it; what cannot be decided is not called equal. */
#include "judge_case.h"

#define HEAD                                                                   \
  ".isa tile64\n.kernel \"t\"\n.queue q0 sp\n.owned 0, 99\n"                   \
  ".tensor n dram i32 [1] at 0x1000 input range 0 3\n"                         \
  ".tensor in dram i32 [4, 4] at 0 input\n"                                    \
  ".tensor out dram i32 [4, 4] at 0x100 output\n"                              \
  ".tensor x sbuf i32 [4, 4] at 0:4, 0 scratch\n"                              \
  ".tensor y sbuf i32 [4, 4] at 0:4, 64 scratch\n"
#define LOAD " dma q0, x[4*4], in{4*16}[4*4]"
#define STORE " dma q0, out{4*16}[4*4], y[4*4]"
#define END " sync 9\n halt\n"
#define SP(body) ".engine sp\n" body END
#define DVE(body) ".engine dve\n" body END
#define POOL(body) ".engine pool\n" body END

/* load, double, store */
#define GOOD                                                                   \
  HEAD SP(LOAD " ^s0\n" STORE " ?s1>=1\n")                                     \
      DVE(" copy y[4*4], x[4*4] ?s0>=1 ^s1\n")
#define BARRIERS                                                               \
  HEAD SP(LOAD "\n sync 1\n sync 2\n" STORE "\n")                              \
      DVE(" sync 1\n copy y[4*4], x[4*4]\n sync 2\n")

#define REFUTED(fault) NSR_REFUTED, NSR_FAULT_##fault
#define BROKEN(fault) NSR_INPUT_BROKEN, NSR_FAULT_##fault
#define EQUAL NSR_EQUAL, NSR_FAULT_NONE
#define UNDECIDED NSR_UNDECIDED, NSR_FAULT_NONE

static const struct judge_case cases[] = {
    {"the same", EQUAL, NULL, GOOD, NULL},
    {"without barriers", EQUAL, NULL, BARRIERS, GOOD},
    {"with barriers", EQUAL, NULL, GOOD, BARRIERS},
    {"no-ops come and go", EQUAL, NULL, GOOD,
     HEAD SP(" nop\n" LOAD " ^s0\n qnop q0\n nop\n" STORE " ?s1>=1\n")
         DVE(" wait ?s0>=1\n copy y[4*4], x[4*4] ^s1\n nop\n")},
    {"other semaphores, other registers", EQUAL, NULL, GOOD,
     HEAD SP(LOAD " ^s7\n mov r1, 5\n" STORE " ?s8>=r1\n")
         DVE(" copy y[4*4], x[4*4] ?s7>=1 ^s8+=5\n")},
    {"race", REFUTED(RACE), "dve[0] (k.s:16)", BARRIERS,
     HEAD SP(LOAD " ^s0\n" STORE " ?s1>=1\n")
         DVE(" copy y[4*4], x[4*4] ^s1\n")},
    {"race at the store", REFUTED(RACE), "knows of dve up to no. 0", BARRIERS,
     HEAD SP(LOAD " ^s0\n" STORE "\n")
         DVE(" copy y[4*4], x[4*4] ?s0>=1 ^s1\n")},
    {"hang", REFUTED(HANG), "waits for semaphore 1 >= 2, it is 1", BARRIERS,
     HEAD SP(LOAD " ^s0\n" STORE " ?s1>=2\n")
         DVE(" copy y[4*4], x[4*4] ?s0>=1 ^s1\n")},
    {"hang: who updates it", REFUTED(HANG), "ran 1 times", BARRIERS,
     HEAD SP(LOAD " ^s0\n" STORE " ?s1>=2\n")
         DVE(" copy y[4*4], x[4*4] ?s0>=1 ^s1\n")},
    {"hang: nobody updates it", REFUTED(HANG), "nothing updates it", BARRIERS,
     HEAD SP(LOAD " ^s0\n" STORE " ?s1>=1\n")
         DVE(" copy y[4*4], x[4*4] ?s0>=1\n")},
    {"hang: the others", REFUTED(HANG), "waits at barrier 9", BARRIERS,
     HEAD SP(LOAD " ^s0\n" STORE " ?s1>=1\n")
         DVE(" copy y[4*4], x[4*4] ?s0>=1\n")},
    {"hang: an engine that has halted", REFUTED(HANG), "dve has halted",
     BARRIERS,
     HEAD SP(LOAD " ^s0\n" STORE
                  " ?s1>=1\n") ".engine dve\n copy y[4*4], x[4*4] ?s0>=1 ^s1\n "
                               "wait ?s1>=1\n"
                               " halt\n"},
    {"a loop without end", REFUTED(HANG), "loop without end", BARRIERS,
     HEAD SP(LOAD " ^s0\nl:\n br l\n")
         DVE(" copy y[4*4], x[4*4] ?s0>=1 ^s1\n")},
    {"a loop without end, a register changes", REFUTED(HANG),
     "first kernel ended after", BARRIERS,
     HEAD SP(LOAD " ^s0\n mov r1, 0\nl:\n add r1, r1, 1\n br l\n")
         DVE(" copy y[4*4], x[4*4] ?s0>=1 ^s1\n")},
    {"a loop without end, no-ops", REFUTED(HANG), " goes on", BARRIERS,
     HEAD SP(LOAD " ^s0\n" STORE " ?s1>=1\n")
         DVE("l:\n nop ?s0>=1\n br l\n copy y[4*4], x[4*4] ^s1\n")},
    {"a loop without end, one turn more at a time", REFUTED(HANG),
     "waits at barrier 9", BARRIERS,
     HEAD SP(LOAD " ^s0\n" STORE " ?s1>=1\n")
         DVE(" copy y[4*4], x[4*4] ?s0>=1 ^s1\n mov r1, 0\n mov r2, 9\nl:\n"
             " add r2, r2, r2\n nop\n br.lt r1, 3, l\n")},
    {"semaphore left", REFUTED(LEAK), "semaphore 5 is 1", BARRIERS,
     HEAD ".engine sp\n" LOAD " ^s0\n" STORE " ?s1>=1 ^s2\n sync 9\n"
          " nop ^s5\n wait ?s5>=1\n halt\n" DVE(
              " copy y[4*4], x[4*4] ?s0>=1 ^s1\n")},
    {"work in flight", REFUTED(LEAK), "sp halts, and work of q0", BARRIERS,
     HEAD ".engine sp\n" LOAD " ^s0\n sync 9\n" STORE
          "\n halt\n" DVE(" copy y[4*4], x[4*4] ?s0>=1\n")},
    {"another instruction", REFUTED(TRACE), "no. 1 of dve", BARRIERS,
     HEAD SP(LOAD " ^s0\n" STORE " ?s1>=1\n")
         DVE(" memset y[4*4] value=1 ?s0>=1 ^s1\n")},
    {"another constant", REFUTED(TRACE), NULL,
     HEAD SP(" nop\n") DVE(" memset y[4*4] value=1\n"),
     HEAD SP(" nop\n") DVE(" memset y[4*4] value=2\n")},
    {"another value stored", REFUTED(TRACE), "value 5",
     HEAD SP(" mov r1, 4\n st x, r1\n"), HEAD SP(" mov r1, 5\n st x, r1\n")},
    {"another register loaded", REFUTED(TRACE), NULL, HEAD SP(" ld r1, n\n"),
     HEAD SP(" ld r2, n\n")},
    {"another address", REFUTED(TRACE), "at dst byte 64 in the first kernel",
     HEAD SP(" nop\n") DVE(" mov r1, 0\n memset y+r1[2*4] value=1\n"),
     HEAD SP(" nop\n") DVE(" mov r1, 4\n memset y+r1[2*4] value=1\n")},
    {"another count", REFUTED(TRACE), NULL,
     HEAD SP(" nop\n") DVE(" mov r1, 1\n memset y[r1*4] value=1\n"),
     HEAD SP(" nop\n") DVE(" mov r1, 2\n memset y[r1*4] value=1\n")},
    {"two in another order", REFUTED(TRACE), "no. 1 of dve",
     HEAD SP(" nop\n") DVE(" memset x[4*4] value=1\n memset y[4*4] value=1\n"),
     HEAD SP(" nop\n") DVE(" memset y[4*4] value=1\n memset x[4*4] value=1\n")},
    {"one less", REFUTED(TRACE), "dve ends after 1",
     HEAD SP(" nop\n") DVE(" memset x[4*4] value=1\n memset y[4*4] value=1\n"),
     HEAD SP(" nop\n") DVE(" memset x[4*4] value=1\n")},
    {"one less, and read", REFUTED(READS), "second: written by nobody",
     BARRIERS,
     HEAD SP(LOAD " ^s0\n" STORE " ?s1>=1\n") DVE(" nop ?s0>=1 ^s1\n")},
    {"one more", REFUTED(TRACE), "nothing more", BARRIERS,
     HEAD SP(LOAD " ^s0\n" STORE " ?s1>=1\n")
         DVE(" copy y[4*4], x[4*4] ?s0>=1 ^s1\n memset x[4*4] value=1 "
             "?s1>=1\n")},
    {"other values read", REFUTED(READS), "written by nobody",
     HEAD SP(LOAD " ^s0\n nop ?s1>=1\n") DVE(" copy y[4*4], x[4*4] ?s0>=1 "
                                             "^s1\n"),
     HEAD SP(LOAD " ?s1>=1\n") DVE(" copy y[4*4], x[4*4] ^s1\n")},
    {"another end", REFUTED(MEMORY), "sbuf partitions [0,4) bytes [0,16)",
     HEAD SP(LOAD " ^s0\n nop ?s1>=1\n") DVE(" memset x[4*4] value=1 ?s0>=1 "
                                             "^s1\n"),
     HEAD SP(LOAD " ?s1>=1\n") DVE(" memset x[4*4] value=1 ^s1\n")},
    {"a fault", REFUTED(MACHINE), "dve[0] (k.s:16)", BARRIERS,
     HEAD SP(LOAD " ^s0\n" STORE " ?s1>=1\n")
         DVE(" copy y[4*4], x[4*4] ?s0>=r1 ^s1\n")},
    {"the first kernel races", BROKEN(RACE), "first kernel",
     HEAD SP(LOAD "\n") DVE(" copy y[4*4], x[4*4]\n"), GOOD},
    {"the first kernel hangs", BROKEN(HANG), "first kernel",
     HEAD SP(" nop ?s0>=1\n"), HEAD SP(" nop\n")},
    {"the first kernel leaks", BROKEN(LEAK), "first kernel",
     HEAD ".engine sp\n nop ^s0\n wait ?s0>=1\n halt\n",
     HEAD ".engine sp\n nop ^s0\n wait ?s0>=1\n halt\n"},
    {"engines", REFUTED(SHAPE), "engine pool", HEAD SP(" nop\n"),
     HEAD SP(" nop\n") POOL(" nop\n")},
    {"tensors", REFUTED(SHAPE), "tensors", HEAD SP(" nop\n"),
     HEAD ".tensor z sbuf i32 [4, 4] at 0:4, 128 scratch\n" SP(" nop\n")},
    {"orders", REFUTED(SHAPE), "order of engine sp", HEAD SP(" nop\n"),
     HEAD ".order sp full\n" SP(" nop\n")},
};

/* Trip counts choose among verdicts; the witness names the input. */
#define LOOP(body)                                                             \
  HEAD SP(" ld r1, n\n mov r2, 0\nl:\n br.ge r2, r1, e\n" body                 \
          " add r2, r2, 1\n br l\ne:\n")

static const struct judge_case inputs[] = {
    {"wrong from three on", REFUTED(TRACE), NULL, LOOP(" nop\n"),
     LOOP(" br.lt r2, 2, k\n ld r3, n\nk:\n")},
    {"broken from three on", BROKEN(MACHINE), NULL,
     LOOP(" br.lt r2, 2, k\n rem r3, 1, 0\nk:\n"), LOOP(" nop\n")},
    {"refuted outweighs broken", REFUTED(TRACE), NULL,
     LOOP(" br.lt r2, 2, k\n rem r3, 1, 0\nk:\n"),
     LOOP(" br.ge r2, 1, k\n ld r3, n\nk:\n")},
};

/* One schedule does not speak for all. */
static const struct judge_case odd[] = {
    {"two channels count together", UNDECIDED, "updated by several channels",
     HEAD SP(LOAD " ^s0\n" STORE " ?s1>=1\n")
         DVE(" copy y[4*4], x[4*4] ?s0>=2 ^s1\n") POOL(" nop ^s0\n"),
     NULL},
    {"equality", UNDECIDED, "another comparison",
     HEAD SP(LOAD " ^s0\n" STORE " ?s1>=1\n")
         DVE(" copy y[4*4], x[4*4] ?s0==1 ^s1\n"),
     NULL},
    {"counted down", UNDECIDED, "not only counted up",
     HEAD SP(LOAD " ^s0\n" STORE " ?s1>=1\n")
         DVE(" copy y[4*4], x[4*4] ?s0>=1 ^s1\n nop ?s1>=1\n nop ^s0--\n"),
     NULL},
    {"set to less", UNDECIDED, "not only counted up",
     HEAD SP(LOAD " ^s0=5\n" STORE " ?s1>=1\n")
         DVE(" copy y[4*4], x[4*4] ?s0>=1 ^s1\n nop ?s1>=1\n nop ^s0=2\n"),
     NULL},
    {"set to more: it only grows", EQUAL, NULL,
     HEAD SP(LOAD " ^s0=5\n" STORE " ?s1>=1\n")
         DVE(" copy y[4*4], x[4*4] ?s0>=5 ^s1\n"),
     NULL},
    {"two channels, the second one behind the first", EQUAL, NULL,
     HEAD SP(LOAD " ^s0\n" STORE " ?s1>=1\n")
         DVE(" copy y[4*4], x[4*4] ?s0>=2 ^s1\n") POOL(" nop ?s0>=1 ^s0\n"),
     NULL},
    {"and the wait is for the first alone", BROKEN(RACE), NULL,
     HEAD SP(LOAD " ?s0>=1 ^s0\n" STORE " ?s1>=1\n")
         DVE(" copy y[4*4], x[4*4] ?s0>=1 ^s1\n") POOL(" nop ^s0\n"),
     NULL},
    {"an equality that time passes by", BROKEN(HANG), NULL,
     HEAD SP(" nop ^s0\n nop ^s0\n") DVE(" nop ?s0==1\n"), NULL},
    {"and in the second kernel", REFUTED(HANG), NULL,
     HEAD SP(" nop ^s0\n nop ^s0\n") DVE(" nop ?s0>=1\n"),
     HEAD SP(" nop ^s0\n nop ^s0\n") DVE(" nop ?s0==1\n")},
    {"a race that few schedules show", BROKEN(RACE), NULL,
     HEAD SP(LOAD " ^s0\n" STORE " ?s1>=1\n")
         DVE(" copy y[4*4], x[4*4] ?s0>=1 ^s1\n") POOL(" nop ^s0\n"),
     NULL},
    {"and in the first kernel alone", BROKEN(RACE), "first kernel (schedule",
     HEAD SP(LOAD " ^s0\n" STORE " ?s1>=1\n")
         DVE(" copy y[4*4], x[4*4] ?s0>=1 ^s1\n") POOL(" nop ^s0\n"),
     HEAD SP(LOAD " ^s0\n" STORE " ?s1>=1\n")
         DVE(" copy y[4*4], x[4*4] ?s0>=1 ^s1\n") POOL(" nop\n")},
    {"strictly greater is a count too", EQUAL, NULL,
     HEAD SP(LOAD " ^s0\n" STORE " ?s1>0\n")
         DVE(" copy y[4*4], x[4*4] ?s0>0 ^s1\n"),
     NULL},
    {"and off by one a race", BROKEN(RACE), NULL,
     HEAD SP(LOAD " ^s0\n" STORE " ?s1>0\n")
         DVE(" copy y[4*4], x[4*4] ?s0>-1 ^s1\n"),
     NULL},
};

/* Semaphores of others: 100 and up. */
static const struct judge_case foreign[] = {
    {"waits hold at once", EQUAL, NULL, HEAD SP(" nop ?s100>=7 ^s101\n"), NULL},
    {"and are part of the trace", REFUTED(TRACE), "for others",
     HEAD SP(" wait ?s100>=7\n"), HEAD SP(" wait ?s100>=8\n")},
    {"none may be left out", REFUTED(TRACE), NULL, HEAD SP(" wait ?s100>=7\n"),
     HEAD SP(" nop\n")},
    {"nor updates", REFUTED(TRACE), NULL, HEAD SP(" nop ^s100\n"),
     HEAD SP(" nop\n")},
    {"an order before an update may not go", REFUTED(RACE), "what others see",
     HEAD SP(STORE " ^s0\n") DVE(" nop ?s0>=1 ^s100\n"),
     HEAD SP(STORE " ^s0\n") DVE(" nop ^s100\n")},
    {"one that never was may stay away", EQUAL, NULL,
     HEAD SP(STORE " ^s0\n") DVE(" nop ^s100\n"), NULL},
    {"an order behind a wait may not go", REFUTED(RACE), "what others see",
     HEAD SP(LOAD " ?s0>=1\n") DVE(" wait ?s100>=1\n nop ^s0\n"),
     HEAD SP(LOAD "\n") DVE(" wait ?s100>=1\n nop ^s0\n")},
    {"what the engine issues behind it is ordered", EQUAL, NULL,
     HEAD SP(" wait ?s100>=1\n" LOAD "\n"), NULL},
    {"on chip nobody else looks", EQUAL, NULL,
     HEAD SP(" nop\n") DVE(" memset x[4*4] value=1 ^s0\n nop ?s0>=1 ^s100\n"),
     HEAD SP(" nop\n") DVE(" memset x[4*4] value=1 ^s0\n nop ^s100\n")},
    {"a wait that others end moves before what they see", REFUTED(HANG),
     "which others see",
     HEAD SP(" nop ^s100\n nop ?s1>=1\n") DVE(" wait ?s101>=1\n nop ^s1\n"),
     HEAD SP(" nop ?s1>=1\n nop ^s100\n") DVE(" wait ?s101>=1\n nop ^s1\n")},
    {"and where it guards something", REFUTED(HANG), "dve[0]",
     HEAD SP(" nop ^s100\n" STORE " ?s1>=1\n")
         DVE(" wait ?s101>=1\n copy y[4*4], x[4*4] ^s1\n"),
     HEAD SP(" wait ?s1>=1\n nop ^s100\n" STORE "\n")
         DVE(" wait ?s101>=1\n copy y[4*4], x[4*4] ^s1\n")},
    {"by way of a third engine", REFUTED(HANG), "dve[0]",
     HEAD SP(" nop ^s100\n nop ?s2>=1\n") DVE(" wait ?s101>=1\n nop ^s1\n")
         POOL(" nop ?s1>=1 ^s2\n"),
     HEAD SP(" nop ?s2>=1\n nop ^s100\n") DVE(" wait ?s101>=1\n nop ^s1\n")
         POOL(" nop ?s1>=1 ^s2\n")},
    {"the kernel may end the wait by itself", UNDECIDED, "which others see",
     HEAD SP(" nop ^s100\n nop ?s1>=1\n") DVE(" wait ?s101>=1\n nop ^s1\n")
         POOL(" nop ^s101\n"),
     HEAD SP(" nop ?s1>=1\n nop ^s100\n") DVE(" wait ?s101>=1\n nop ^s1\n")
         POOL(" nop ^s101\n")},
    {"other work moves before what others see", UNDECIDED, "which others see",
     HEAD SP(" nop ^s100\n nop ?s1>=1\n") DVE(" copy y[4*4], x[4*4] ^s1\n"),
     HEAD SP(" nop ?s1>=1\n nop ^s100\n") DVE(" copy y[4*4], x[4*4] ^s1\n")},
    {"before a wait for others", UNDECIDED, "which waits for others",
     HEAD SP(" wait ?s100>=1\n nop ?s1>=1\n") DVE(" copy y[4*4], x[4*4] ^s1\n"),
     HEAD SP(" nop ?s1>=1\n wait ?s100>=1\n")
         DVE(" copy y[4*4], x[4*4] ^s1\n")},
    {"a race weighs more", REFUTED(RACE), NULL,
     HEAD SP(" nop ^s100\n" STORE " ?s1>=1\n")
         DVE(" wait ?s101>=1\n copy y[4*4], x[4*4] ^s1\n"),
     HEAD SP(" wait ?s1>=1\n nop ^s100\n" STORE "\n")
         DVE(" wait ?s101>=1\n nop ^s1\n copy y[4*4], x[4*4]\n")},
    {"a barrier in the first kernel is enough", EQUAL, NULL,
     HEAD SP(" sync 1\n nop ^s100\n" STORE "\n")
         DVE(" wait ?s101>=1\n copy y[4*4], x[4*4] ^s1\n sync 1\n"),
     HEAD SP(" wait ?s1>=1\n nop ^s100\n" STORE "\n")
         DVE(" wait ?s101>=1\n nop ^s7\n copy y[4*4], x[4*4] ^s1\n")},
    {"no-ops do not count", EQUAL, NULL,
     HEAD SP(" nop ?s1>=1\n nop ^s100\n") DVE(" copy y[4*4], x[4*4] ^s1\n"),
     HEAD SP(" nop ?s1>=3\n nop ^s100\n")
         DVE(" nop\n copy y[4*4], x[4*4] ^s1\n nop ^s1\n nop ^s1\n")},
};

static void test_cases(void **state) {
  (void)state;
  JUDGE_CASES(cases);
}

static void test_inputs(void **state) {
  (void)state;
  JUDGE_CASES(inputs);
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_judgement j;
  judge_texts(ctx, inputs[0].a, inputs[0].b, NULL, &j);
  assert_string_equal(j.input, "n=[3]");
  judge_texts(ctx, inputs[0].a, inputs[0].a, NULL, &j);
  assert_int_equal(j.inputs, 4); /* 0..3 */
  assert_int_equal(j.undecided, 0);
  assert_string_equal(j.notes, "");
  nsr_ctx_free(ctx);
}

static void test_odd(void **state) {
  (void)state;
  JUDGE_CASES(odd);
}

static void test_foreign(void **state) {
  (void)state;
  JUDGE_CASES(foreign);
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_judgement j;
  judge_texts(ctx, foreign[0].a, NULL, NULL, &j);
  assert_non_null(strstr(j.notes, "semaphores of others hold at once"));
  judge_texts(ctx, foreign[5].a, NULL, NULL, &j);
  assert_true(j.may_pairs > 0);
  nsr_ctx_free(ctx);
}

/* Every schedule, asked for: the same verdicts. */
static void test_every_schedule(void **state) {
  (void)state;
  const struct nsr_judge_options options = {.every_schedule = true,
                                            .schedules = 24};
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_judgement j, few;
  judge_texts(ctx, BARRIERS, GOOD, &options, &j);
  assert_int_equal(j.verdict, NSR_EQUAL);
  judge_texts(ctx, BARRIERS, GOOD, NULL, &few);
  assert_true(j.instances > 5 * few.instances);
  nsr_ctx_free(ctx);
}

/* What one launch in one schedule does not show, the others do. */
static void test_fall_back(void **state) {
  (void)state;
  const struct nsr_judge_options options = {.no_relaunch = true};
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_judgement j;
  judge_texts(ctx,
              HEAD SP(LOAD " ^s0\n" STORE " ?s1>=1\n")
                  DVE(" copy y[4*4], x[4*4] ?s0>=1 ^s1\n") POOL(" nop\n"),
              HEAD SP(LOAD " ^s0\n" STORE " ?s1>=1\n")
                  DVE(" copy y[4*4], x[4*4] ?s0>=1 ^s1\n") POOL(" nop ^s0\n"),
              &options, &j);
  assert_int_equal(j.verdict, NSR_REFUTED);
  assert_int_equal(j.fault, NSR_FAULT_RACE);
  assert_non_null(strstr(j.text, "second kernel (schedule"));
  nsr_ctx_free(ctx);
}

static void test_budget(void **state) {
  (void)state;
  static const char slow[] =
      HEAD SP(" mov r1, 0\nl:\n add r1, r1, 1\n br.lt r1, 1000, l\n");
  const struct nsr_judge_options options = {.budget = 500};
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_judgement j;
  judge_texts(ctx, slow, NULL, &options, &j);
  assert_int_equal(j.verdict, NSR_PREFIX_ONLY);
  assert_non_null(strstr(j.text, "instance budget"));
  assert_int_equal(j.undecided, 4);
  judge_texts(ctx, slow, NULL, NULL, &j);
  assert_int_equal(j.verdict, NSR_EQUAL);
  /* what comes before the end of the budget is compared all the same */
#define LONG(wait, value)                                                      \
  HEAD SP(" mov r1, 0\nl:\n" LOAD wait " ^s0\n add r1, r1, 1\n"                \
          " br.lt r1, 1000, l\n")                                              \
      DVE(" mov r1, 0\nl:\n add r1, r1, 1\n"                                   \
          " copy y[4*4], x[4*4] ?s0>=r1 ^s1\n wait ?s1>=r1\n"                  \
          " memset y[4*4] value=" value " ^s2\n wait ?s2>=r1\n"                \
          " br.lt r1, 1000, l\n")
  judge_texts(ctx, LONG(" ?s2>=r1", "1"), NULL, &options, &j);
  assert_int_equal(j.verdict, NSR_PREFIX_ONLY);
  assert_non_null(strstr(j.text, "equal up to there"));
  judge_texts(ctx, LONG(" ?s2>=r1", "1"), LONG("", "1"), &options, &j);
  assert_int_equal(j.verdict, NSR_REFUTED);
  assert_int_equal(j.fault, NSR_FAULT_RACE);
  judge_texts(ctx, LONG(" ?s2>=r1", "1"), LONG(" ?s2>=r1", "2"), &options, &j);
  assert_int_equal(j.verdict, NSR_REFUTED);
  assert_int_equal(j.fault, NSR_FAULT_TRACE);
  judge_texts(ctx, LONG(" ?s2>=r1", "1"), LONG(" ?s2>=500", "1"), &options, &j);
  assert_int_equal(j.verdict, NSR_REFUTED);
  assert_int_equal(j.fault, NSR_FAULT_HANG);
  /* the second kernel may take longer, within reason */
  judge_texts(ctx, HEAD SP(" nop\n"), slow, &options, &j);
  assert_int_equal(j.verdict, NSR_EQUAL);
  nsr_ctx_free(ctx);
}

/* Whatever the input: a few budgets, not one per input. */
static void test_never_ends(void **state) {
  (void)state;
  static const char endless[] =
      ".isa tile64\n.kernel \"t\"\n.queue q0 sp\n.owned 0, 99\n"
      ".tensor n dram i32 [4] at 0x1000 input range 0 1000\n"
      ".tensor in dram i32 [4, 4] at 0 input\n"
      ".tensor x sbuf i32 [4, 4] at 0:4, 0 scratch\n"
      ".engine sp\nl:\n" LOAD "\n sync 1\n br.eq 1, 2, d\n br l\n"
      "d:\n sync 2\n halt\n";
  const struct nsr_judge_options options = {.budget = 20000};
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_judgement j;
  judge_texts(ctx, endless, NULL, &options, &j);
  assert_int_equal(j.verdict, NSR_PREFIX_ONLY);
  assert_int_equal(j.inputs, 0);
  assert_true(j.instances < 20000 * 3 * 2 * 3 / 2);
  assert_non_null(strstr(j.notes, "first 3 inputs did not end in 20000"));
  nsr_ctx_free(ctx);
}

/* Large inputs are extra: one that takes too long is left out and said. */
static void test_large_inputs(void **state) {
  (void)state;
  static const char text[] =
      ".isa tile64\n.kernel \"t\"\n"
      ".tensor n dram i32 [2] at 0 input range 0 5000\n.engine sp\n"
      " ld r1, n\n ld r3, n+4\n mov r2, 0\n"
      "l:\n br.ge r2, r1, e\n add r2, r2, 1\n br l\n"
      "e:\n br.le r3, 90, f\n nop\nf:\n sync\n halt\n";
  struct nsr_judge_options options = {0};
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_judgement j;
  judge_texts(ctx, text, NULL, &options, &j);
  assert_int_equal(j.verdict, NSR_EQUAL);
  assert_true(j.inputs > 25); /* 5 x 5 small ones and more */
  assert_null(strstr(j.notes, "never ran"));
  options.budget = 400;
  judge_texts(ctx, text, NULL, &options, &j);
  assert_int_equal(j.verdict, NSR_EQUAL);
  assert_non_null(strstr(j.notes, "large inputs left out"));
  options.inputs = 3;
  judge_texts(ctx, text, NULL, &options, &j);
  assert_int_equal(j.inputs, 3);
  assert_non_null(strstr(j.notes, "never ran: sp[7]"));
  nsr_ctx_free(ctx);
}

/* Ranges are tried to their tops where that does not take too long. */
#define ROUNDS(range, behind)                                                  \
  ".isa tile64\n.kernel \"t\"\n"                                               \
  ".tensor n dram i32 [1] at 0 input range " range "\n"                        \
  ".tensor x sbuf i32 [4, 4] at 0:4, 0 scratch\n.engine pool\n"                \
  " ld r1, n\n mov r2, 0\nl:\n br.ge r2, r1, e\n add r2, r2, 1\n br l\n"       \
  "e:\n" behind " sync\n halt\n.engine dve\n sync\n halt\n"
static void test_tops(void **state) {
  (void)state;
  struct nsr_judge_options options = {.whole_ranges = true};
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_judgement j;
  judge_texts(ctx, ROUNDS("0 1000", ""), NULL, &options, &j);
  assert_int_equal(j.verdict, NSR_EQUAL);
  assert_null(strstr(j.notes, "tried up to"));
  uint32_t few = j.inputs;
  assert_true(few < 30);
  /* only at the top */
  judge_texts(
      ctx, ROUNDS("0 1000", ""),
      ROUNDS("0 1000", " br.lt r1, 1000, f\n memset x[4*4] value=1\nf:\n"),
      NULL, &j);
  assert_int_equal(j.verdict, NSR_REFUTED);
  assert_string_equal(j.input, "n=[1000]");
  options.inputs = 1000;
  judge_texts(ctx, ROUNDS("0 1000", ""), NULL, &options, &j);
  assert_int_equal(j.inputs, 1000);
  options.inputs = 2000;
  judge_texts(ctx, ROUNDS("0 1000", ""), NULL, &options, &j);
  assert_int_equal(j.inputs, 1001);
  /* too far */
  options.inputs = 0;
  judge_texts(ctx, ROUNDS("0 1000000", ""), NULL, &options, &j);
  assert_int_equal(j.verdict, NSR_UNDECIDED);
  assert_non_null(strstr(j.text, "range of n: tried up to"));
  assert_non_null(strstr(j.text, " of 1000000"));
  options.whole_ranges = false;
  judge_texts(ctx, ROUNDS("0 1000000", ""), NULL, &options, &j);
  assert_int_equal(j.verdict, NSR_EQUAL);
  assert_non_null(strstr(j.notes, "range of n: tried up to"));
  judge_texts(ctx, ROUNDS("-2147483648 2147483647", ""), NULL, &options, &j);
  assert_int_equal(j.verdict, NSR_EQUAL);
  nsr_ctx_free(ctx);
}

static void test_notes(void **state) {
  (void)state;
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_judgement j;
  judge_texts(ctx,
              ".isa tile64\n.kernel \"t\"\n"
              ".tensor n dram i32 [1] at 0 input range 1 1\n.engine sp\n"
              " ld r1, n\nl:\n sub r1, r1, 1\n br.eq r1, 5, x\n"
              " br.gt r1, 0, l\n sync\n halt\nx:\n nop\n nop\n br l\n",
              NULL, NULL, &j);
  assert_int_equal(j.verdict, NSR_EQUAL);
  assert_non_null(strstr(j.notes, "never ran: sp[6] <x> (k.s:13) `nop` and 2"));
  assert_non_null(strstr(j.notes, "loop never went round: sp[3] <l>"));
  nsr_ctx_free(ctx);
}

/* Registers are not reset between launches: anything may be in them. */
static void test_relaunch(void **state) {
  (void)state;
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_judgement with, without;
  const struct nsr_judge_options options = {.no_relaunch = true};
  static const char text[] = HEAD SP(
      " add r5, r6, r7\n mov r6, 3\n sel r7, r6, 1, r5\n" LOAD " ^s0\n" STORE
      " ?s1>=r7\n") DVE(" copy y[4*4], x[4*4] ?s0>=1 ^s1\n");
  judge_texts(ctx, BARRIERS, text, NULL, &with);
  assert_int_equal(with.verdict, NSR_EQUAL);
  judge_texts(ctx, BARRIERS, text, &options, &without);
  assert_int_equal(without.verdict, NSR_EQUAL);
  assert_true(without.instances < with.instances);
  nsr_ctx_free(ctx);
}

/* The same seed, the same everything. */
static void test_deterministic(void **state) {
  (void)state;
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_judgement a, b;
  judge_texts(ctx, odd[6].a, NULL, NULL, &a);
  judge_texts(ctx, odd[6].a, NULL, NULL, &b);
  assert_string_equal(a.text, b.text);
  assert_string_equal(a.input, b.input);
  assert_int_equal(a.instances, b.instances);
  nsr_ctx_free(ctx);
}

/* Memory that runs short anywhere is a status, not a crash. */
static void test_no_memory(void **state) {
  (void)state;
  for (uint64_t n = 1; n < 400; n += n < 60 ? 1 : 13) {
    struct nsr_ctx *ctx = nsr_ctx_new();
    struct nsr_judgement j;
    struct nsr_kernel *a = kernel_of(ctx, BARRIERS);
    struct nsr_kernel *b = kernel_of(ctx, GOOD);
    nsr_ctx_fail_alloc(ctx, n);
    enum nsr_status status = nsr_cosimulate(ctx, a, b, NULL, &j);
    assert_true(status == NSR_OK || status == NSR_E_NOMEM);
    nsr_ctx_free(ctx);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_cases),
      cmocka_unit_test(test_inputs),
      cmocka_unit_test(test_odd),
      cmocka_unit_test(test_foreign),
      cmocka_unit_test(test_every_schedule),
      cmocka_unit_test(test_fall_back),
      cmocka_unit_test(test_budget),
      cmocka_unit_test(test_never_ends),
      cmocka_unit_test(test_large_inputs),
      cmocka_unit_test(test_tops),
      cmocka_unit_test(test_notes),
      cmocka_unit_test(test_relaunch),
      cmocka_unit_test(test_deterministic),
      cmocka_unit_test(test_no_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
