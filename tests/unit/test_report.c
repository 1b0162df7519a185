/* test_report.c - reports of rewrites, to the letter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <nsr/rewrite.h>

static const struct nsr_kept_barrier kept[] = {
    {{.file = "k.o",
      .engine = "sp",
      .insn = 12,
      .label = "done",
      .source_file = "k.s",
      .source_line = 40},
     "exit barrier",
     false,
     1},
    {{.engine = "act", .insn = 3}, "a computed jump", true, 12},
    {{.engine = "act", .insn = 4}, "a loop", true, UINT64_MAX}};

static const struct nsr_may_pair pairs[] = {
    {{.engine = "sp", .insn = 2}, {.engine = "act", .insn = 5}, "sbuf bytes"}};

static struct nsr_rewrite_report report(void) {
  static const struct nsr_soft_barrier soft[] = {
      {{.engine = "pool", .insn = 5, .label = "loop"},
       "has unknown effects",
       3,
       2,
       112,
       2,
       4160,
       UINT64_MAX}};
  struct nsr_rewrite_report r = {.semaphores = 3,
                                 .scheme = "mixed",
                                 .scopes = 2,
                                 .dependences = 7,
                                 .may_pairs = 1,
                                 .pairs = pairs,
                                 .max_entries = 715827882,
                                 .max_count = -1,
                                 .count_limit = 2147483647,
                                 .inner_waits = 6,
                                 .inner_operations = 4,
                                 .awaited = 2,
                                 .nsoft = 1,
                                 .soft = soft,
                                 .nkept = 3,
                                 .kept = kept,
                                 .changed = true,
                                 .judged = true};
  r.engines[1] = (struct nsr_engine_report){"act", 10, 12, 3, 1, 1, 2, 1};
  r.engines[4] = (struct nsr_engine_report){"sp", 20, 25, 3, 1, 0, 4, 2};
  r.judgement = (struct nsr_judgement){.verdict = NSR_EQUAL,
                                       .text = "",
                                       .input = "",
                                       .inputs = 60,
                                       .instances = 12345,
                                       .notes = ""};
  return r;
}

static void same_text(const struct nsr_rewrite_report *r, const char *output,
                      const char *expect) {
  struct nsr_ctx *ctx = nsr_ctx_new();
  const char *text;
  assert_int_equal(nsr_report_text(ctx, r, "a.o", output, &text), NSR_OK);
  assert_string_equal(text, expect);
  nsr_ctx_free(ctx);
}

static void same_json(const struct nsr_rewrite_report *r, const char *input,
                      const char *output, const char *expect) {
  struct nsr_ctx *ctx = nsr_ctx_new();
  const char *text;
  assert_int_equal(nsr_report_json(ctx, r, input, output, &text), NSR_OK);
  assert_string_equal(text, expect);
  nsr_ctx_free(ctx);
}

#define TABLE                                                                  \
  "engine      instructions        barriers          waits       registers\n"  \
  "act           10 -> 12           3 -> 1           1 -> 2           1\n"     \
  "sp            20 -> 25           3 -> 1           0 -> 4           2\n"     \
  "total         30 -> 37           6 -> 2           1 -> 6           3\n"     \
  "semaphores 3 (mixed), scopes 2, dependences 7\n"                            \
  "counts hold up to 715827882 iterations of a loop\n"
#define KEPT                                                                   \
  "soft pool[5] <loop>: has unknown effects: 3 waits, 2 for it, 112 ns; 2 "    \
  "barriers 4160 ns; met any number of times\n"                                \
  "kept sp[12] <done> (k.s:40): exit barrier\n"                                \
  "kept act[3]: a computed jump; met 12 times at most\n"                       \
  "kept act[4]: a loop; met any number of times\n"

static void test_text(void **state) {
  struct nsr_rewrite_report r = report();
  (void)state;
  same_text(&r, "b.o",
            "a.o -> b.o\n" TABLE
            "1 pairs that the input leaves unordered were taken as disjoint\n"
            "  sp[2] and act[5]: sbuf bytes\n" KEPT
            "verdict: equal, 60 equal inputs, 12345 instructions simulated\n");
  r.may_pairs = 0;
  r.nkept = r.nsoft = 0;
  r.judgement.verdict = NSR_REFUTED;
  r.judgement.text = "sp[3] read too early\nact[7] wrote late";
  r.judgement.input = "n=[3]";
  r.judgement.undecided = 2;
  r.judgement.notes = "loop at sp[4] never entered\n";
  same_text(&r, NULL,
            "a.o -> not written\n" TABLE
            "verdict: refuted, 60 equal inputs, 2 undecided, 12345 "
            "instructions simulated\n"
            "  input: n=[3]\n  sp[3] read too early\n  act[7] wrote late\n"
            "  loop at sp[4] never entered\n");
  r.judged = false;
  same_text(&r, "b.o", "a.o -> b.o\n" TABLE "verdict: not judged\n");
  r.changed = false;
  same_text(&r, "b.o",
            "a.o -> b.o\n" TABLE "verdict: unchanged, nothing to rewrite\n");
}

#define COUNTS(i, j, b, c, w, x, r)                                            \
  "\"instructions_before\":" #i ",\"instructions_after\":" #j                  \
  ",\"barriers_before\":" #b ",\"barriers_after\":" #c ",\"waits_before\":" #w \
  ",\"waits\":" #x ",\"registers\":" #r
#define ENGINES                                                                \
  "\"engines\":[{\"engine\":\"act\"," COUNTS(                                  \
      10, 12, 3, 1, 1, 2, 1) "},{\"engine\":\"sp\"," COUNTS(20, 25, 3, 1, 0,   \
                                                            4, 2) "}]}\n"

#define PAIRS                                                                  \
  "\"max_entries\":715827882,\"max_count\":null,\"count_limit\":2147483647,"   \
  "\"inner_waits\":6,\"inner_operations\":4,\"awaited\":2,"                    \
  "\"may_pairs\":[{\"first\":{\"engine\":\"sp\","                              \
  "\"index\":2,\"label\":null,\"source\":null},\"second\":{\"engine\":"        \
  "\"act\","                                                                   \
  "\"index\":5,\"label\":null,\"source\":null},\"where\":\"sbuf bytes\"}],"

static void test_json(void **state) {
  struct nsr_rewrite_report r = report();
  (void)state;
  r.facts = "f:1: race: used\nf:3: x: not used\n";
  same_json(
      &r, "a.o", "b.o",
      "{\"input\":\"a.o\",\"output\":\"b.o\",\"changed\":true," COUNTS(
          30, 37, 6, 2, 1, 6,
          3) ",\"semaphores\":3,\"scheme\":\"mixed\",\"scopes\":2,"
             "\"dependences\":7," PAIRS "\"verdict\":\"equal\",\"static\":null,"
             "\"judgement\":{\"verdict\":\"equal\","
             "\"fault\":null,\"text\":null,\"input\":null,\"equal_inputs\":60,"
             "\"undecided_inputs\":0,\"instances\":12345,\"may_pairs\":0,"
             "\"notes\":null},\"exhaustive\":null,"
             "\"kept_barriers\":[{\"engine\":\"sp\",\"index\":"
             "12,"
             "\"label\":\"done\",\"source\":{\"file\":\"k.s\",\"line\":40},"
             "\"reason\":\"exit barrier\",\"times\":1},"
             "{\"engine\":\"act\",\"index\":3,"
             "\"label\":null,\"source\":null,\"reason\":\"a computed "
             "jump\",\"times\":12},{\"engine\":\"act\",\"index\":4,"
             "\"label\":null,\"source\":null,\"reason\":\"a loop\","
             "\"times\":null}],"
             "\"soft_barriers\":[{\"engine\":\"pool\",\"index\":5,"
             "\"label\":\"loop\",\"source\":null,\"because\":\"has unknown "
             "effects\",\"waits\":3,\"waits_for_it\":2,\"ns\":112,"
             "\"barriers\":2,\"barriers_ns\":4160,\"times\":null}],"
             "\"exit_barrier_added\":false,"
             "\"facts\":[\"f:1: race: used\",\"f:3: x: not "
             "used\"]," ENGINES);
  r.judged = false;
  r.nkept = r.nsoft = 0;
  r.facts = NULL;
  same_json(
      &r, "a\xff\xc3\xa4.o", NULL,
      "{\"input\":\"a???.o\",\"output\":null,\"changed\":true," COUNTS(
          30, 37, 6, 2, 1, 6,
          3) ",\"semaphores\":3,\"scheme\":\"mixed\",\"scopes\":2,"
             "\"dependences\":7," PAIRS "\"verdict\":\"not "
             "judged\",\"static\":null,\"judgement\":null,\"exhaustive\":null,"
             "\"kept_barriers\":[],\"soft_barriers\":[],"
             "\"exit_barrier_added\":false,\"facts\":[]," ENGINES);
}

/* Names that are no UTF-8, of files and in places, still make a line. */
static void test_failure(void **state) {
  const struct nsr_diag diag = {.status = NSR_E_REFUSED,
                                .place = {.engine = "act",
                                          .insn = 4,
                                          .label = "loop",
                                          .source_file = "k\xff.s",
                                          .source_line = 7},
                                .text = "a computed branch"};
  struct nsr_ctx *ctx = nsr_ctx_new();
  const char *text;
  (void)state;
  assert_int_equal(
      nsr_report_failure_json(ctx, NSR_E_REFUSED, &diag, "a\xff.o", &text),
      NSR_OK);
  assert_string_equal(
      text, "{\"input\":\"a?.o\",\"output\":null,\"changed\":false,"
            "\"verdict\":\"refused\",\"reason\":\"a computed branch\","
            "\"engine\":\"act\",\"index\":4,\"label\":\"loop\",\"source\":"
            "{\"file\":\"k?.s\",\"line\":7}}\n");
  nsr_ctx_free(ctx);
}

static void test_no_memory(void **state) {
  struct nsr_rewrite_report r = report();
  (void)state;
  for (uint64_t nth = 1;; nth++) {
    struct nsr_ctx *ctx = nsr_ctx_new();
    const char *text;
    nsr_ctx_fail_alloc(ctx, nth);
    enum nsr_status status = nsr_report_text(ctx, &r, "a", "b", &text);
    if (status == NSR_OK)
      status = nsr_report_json(ctx, &r, "a", "b", &text);
    nsr_ctx_free(ctx);
    if (status == NSR_OK)
      break;
    assert_int_equal(status, NSR_E_NOMEM);
    assert_true(nth < 1000);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_text), cmocka_unit_test(test_json),
      cmocka_unit_test(test_failure), cmocka_unit_test(test_no_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
