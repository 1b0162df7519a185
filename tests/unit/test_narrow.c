/* test_narrow.c - semaphores of 16 bits. Without barriers they count on for as
 * long as a kernel runs: the model faults where one overflows, the report says
 * how far counts hold, and the judge accepts up to there and no further.
 */
#include "judge_case.h"

#include <inttypes.h>

#include <nsr/rewrite.h>

#include "base/arena.h"

enum { TOP = 32767 };

/* ---- the model */

static void run_updates(int n, const char *update, enum nsr_sim_end end,
                        const char *says) {
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct opaque_run r;
  char text[300];
  snprintf(text, sizeof text,
           ".isa lane48\n.kernel \"t\"\n.engine gen\n mov r1, 0\nl:\n"
           " nop ^s3%s\n add r1, r1, 1\n br.lt r1, %d, l\n sync\n halt\n",
           update, n);
  opaque_run(&r, ctx, kernel_of(ctx, text), NSR_ROUND_ROBIN, 0, NULL);
  assert_int_equal(r.sim->end, end);
  assert_int_equal(r.sim->fault.kind, says ? NSR_MF_SEMAPHORE : NSR_MF_NONE);
  if (says) {
    assert_string_equal(r.sim->fault.text, says);
    assert_int_equal(r.sim->fault.insn, 1);
  }
  opaque_done(&r);
  nsr_ctx_free(ctx);
}

static void model(void **state) {
  (void)state;
  const char *says = "semaphore 3 overflows";
  run_updates(TOP, "", NSR_DONE, NULL);
  run_updates(TOP + 1, "", NSR_SIM_FAULT, says);
  run_updates(TOP + 1, "--", NSR_DONE, NULL);
  run_updates(TOP + 2, "--", NSR_SIM_FAULT, says);
  run_updates(TOP / 127 + 1, "+=127", NSR_SIM_FAULT, says);
}

/* ---- rewritten kernels */

/* One loop, or one in another, trip counts from memory. The vector engine
 * writes `each` times an iteration, the general one reads the last. */
static const char head[] = ".isa lane48\n.kernel \"t\"\n"
                           ".tensor n dram i32 [2] at 0 input range 0 2 "
                           "words 1, 1\n"
                           ".tensor a sbuf i32 [1, 1] at 0:1, 0 scratch\n"
                           ".tensor b sbuf i32 [1, 1] at 0:1, 4 scratch\n";
static const char begin[] = " ld r1, n\n ld r2, n+4\n mov r3, 0\n sync\n"
                            "outer:\n br.ge r3, r1, done\n mov r4, 0\n sync\n"
                            "inner:\n br.ge r4, r2, next\n";
static const char end[] = " add r4, r4, 1\n sync\n br inner\n"
                          "next:\n add r3, r3, 1\n sync\n br outer\n"
                          "done:\n sync\n halt\n";

struct pair {
  struct nsr_ctx *ctx;
  struct nsr_kernel *with, *without; /* barriers */
  struct nsr_rewrite_report report;
};

/* Rewritten where counts are small. */
static void pair_new(struct pair *p, int each) {
  char text[2000];
  int n = snprintf(text, sizeof text, "%s.engine vec\n%s", head, begin);
  for (int i = 0; i < each; i++)
    n += snprintf(text + n, sizeof text - (size_t)n,
                  " memset a value=1 ?s0>=%d ^s0\n", i);
  snprintf(text + n, sizeof text - (size_t)n,
           "%s.engine gen\n%s copy b, a ?s0>=%d\n%s", end, begin, each, end);
  p->ctx = nsr_ctx_new();
  p->with = kernel_of(p->ctx, text);
  struct nsr_rewrite_options options = {0};
  assert_int_equal(
      nsr_rewrite(p->ctx, p->with, NULL, 0, &options, &p->without, &p->report),
      NSR_OK);
  assert_int_equal(p->report.judgement.verdict, NSR_EQUAL);
}

/* The kernel with other trip counts, which its range admits. */
static struct nsr_kernel with_trips(struct nsr_ctx *ctx,
                                    const struct nsr_kernel *k,
                                    const int32_t trips[2]) {
  struct nsr_kernel out = *k;
  struct nsr_tensor *tensors =
      nsr_alloc(ctx, NSR_KEEP, k->ntensors * sizeof *tensors);
  assert_non_null(tensors);
  memcpy(tensors, k->tensors, k->ntensors * sizeof *tensors);
  tensors[0].hi = trips[0] > trips[1] ? trips[0] : trips[1];
  tensors[0].data = (const uint8_t *)trips;
  out.tensors = tensors;
  return out;
}

static struct nsr_judgement judge(struct pair *p, int32_t outer, int32_t inner,
                                  uint64_t budget) {
  const struct nsr_judge_options options = {.inputs = 1, .budget = budget};
  const int32_t trips[2] = {outer, inner};
  struct nsr_kernel a = with_trips(p->ctx, p->with, trips);
  struct nsr_kernel b = with_trips(p->ctx, p->without, trips);
  struct nsr_judgement j;
  assert_int_equal(nsr_cosimulate(p->ctx, &a, &b, &options, &j), NSR_OK);
  return j;
}

static void expect(struct pair *p, int32_t outer, int32_t inner,
                   enum nsr_verdict verdict, const char *says) {
  struct nsr_judgement j = judge(p, outer, inner, 0);
  if (j.verdict != verdict || !strstr(j.text, says))
    fail_msg("%" PRId32 " x %" PRId32 ": %s, %s; wanted %s, %s\n%s", outer,
             inner, nsr_verdict_name(j.verdict), nsr_fault_name(j.fault),
             nsr_verdict_name(verdict), says, j.text);
}

static const char overflows[] = "semaphore 0 overflows";

/* What the report says is right, and no more than right. */
static void bound(void **state) {
  (void)state;
  for (int each = 1; each <= 3; each++) {
    struct pair p;
    pair_new(&p, each);
    assert_int_equal(p.report.max_entries, TOP / each);
    expect(&p, 1, TOP / each, NSR_EQUAL, "");
    expect(&p, 1, TOP / each + 1, NSR_REFUTED, overflows);
    nsr_ctx_free(p.ctx);
  }
}

/* All entries count, however they are spread over the loop around. */
static void nested(void **state) {
  (void)state;
  struct pair p;
  pair_new(&p, 1);
  expect(&p, 181, 181, NSR_EQUAL, "");
  expect(&p, 182, 181, NSR_REFUTED, overflows);
  nsr_ctx_free(p.ctx);
}

/* Where the budget ends before the counter does, nothing is said of it. */
static void budget(void **state) {
  (void)state;
  struct pair p;
  pair_new(&p, 1);
  struct nsr_judgement j = judge(&p, 1, TOP + 1, 100000);
  assert_int_equal(j.verdict, NSR_PREFIX_ONLY);
  assert_int_equal(j.inputs, 0);
  assert_non_null(strstr(j.text, "instance budget"));
  nsr_ctx_free(p.ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(model), cmocka_unit_test(bound),
      cmocka_unit_test(nested), cmocka_unit_test(budget)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
