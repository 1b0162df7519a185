/* test_weave.c - where inserted code goes, and what follows instructions. */
#include "passes.h"

#define HEAD                                                                   \
  ".isa tile64\n.queue q0 sp\n"                                                \
  ".tensor x dram f32 [64, 4] at 4096 input\n"                                 \
  ".tensor a sbuf f32 [1, 4] at 0:1, 0 scratch\n"                              \
  ".tensor b sbuf f32 [1, 4] at 0:1, 16 scratch\n"

/* Rewrites text, unjudged; the output's disassembly from the first engine on,
 * without the note and what it remarks. */
static const char *rewrite(struct nsr_ctx *ctx, const char *text,
                           struct nsr_rewrite_report *report) {
  struct nsr_rewrite_options options = {.verify = NSR_VERIFY_NONE};
  struct nsr_kernel *k = assemble(ctx, text), *out;
  const char *dis;
  size_t n;
  enum nsr_status status = nsr_rewrite(ctx, k, NULL, 0, &options, &out, report);
  if (status != NSR_OK)
    return nsr_ctx_first_error(ctx)->text;
  assert_int_equal(nsr_kernel_check(ctx, out), NSR_OK);
  out->nsections = 0;
  assert_int_equal(nsr_disassemble(ctx, out, &dis, &n), NSR_OK);
  return strstr(dis, ".engine");
}

static void check(const char *text, const char *want) {
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_rewrite_report report;
  const char *got = rewrite(ctx, text, &report);
  if (strcmp(got, want) != 0)
    fail_msg("--- got\n%s\n--- wanted\n%s", got, want);
  nsr_ctx_free(ctx);
}

/* The loop starts at instruction 0 and its back edge must not set the mirror
 * again; the arm's entry is counted behind the test. */
static void test_branch_to_zero(void **state) {
  (void)state;
  check(HEAD ".engine act\nl: br.ge r1, 3, d\n sync 1\n"
             " copy b[4*4], a[4*4]\n add r1, r1, 1\n sync 2\n br l\n"
             "d: sync 3\n halt\n"
             ".engine sp\nl: br.ge r1, 3, d\n dma q0, a[4*4], x[4*4]\n"
             " sync 1\n add r1, r1, 1\n sync 2\n br l\nd: sync 3\n halt\n",
        ".engine act\n.file \"k.s\"\n"
        "    mov r0, 0 @7\n"
        "l:\n"
        "    br.ge r1, 3, d @7\n"
        "    add r0, r0, 1 @8\n"
        "    copy b[4*4], a[4*4] ?s1>=r0 ^s0 @9\n"
        "    add r1, r1, 1 @10\n"
        "    br l @12\n"
        "d:\n"
        "    sync 3 @13\n"
        "    halt @14\n"
        ".engine sp\n"
        "    mov r0, -1 @16\n"
        "l:\n"
        "    br.ge r1, 3, d @16\n"
        "    add r0, r0, 1 @17\n"
        "    dma q0, a[4*4], x[4*4] ?s0>=r0 ^s1 @17\n"
        "    add r1, r1, 1 @19\n"
        "    br l @21\n"
        "d:\n"
        "    sync 3 @22\n"
        "    halt @23\n");
}

/* An arm whose first instruction heads a loop: entering the arm counts it
 * once, the way back to the header does not. The barrier is the target. */
static void test_nested_entries(void **state) {
  (void)state;
  check(HEAD ".engine act\nl: br.eq r2, 0, s\nm: sync 1\n copy b[4*4], a[4*4]\n"
             " add r1, r1, 1\n br.lt r1, 3, m\n sync 5\n copy b[4*4], a[4*4]\n"
             " sync 4\n"
             "s: sync 2\n add r3, r3, 1\n br.lt r3, 3, l\n sync 3\n halt\n"
             ".engine sp\nl: br.eq r2, 0, s\nm: sync 1\n"
             " add r1, r1, 1\n br.lt r1, 3, m\n sync 5\n sync 4\n"
             " dma q0, a[4*4], x[4*4]\n"
             "s: sync 2\n add r3, r3, 1\n br.lt r3, 3, l\n sync 3\n halt\n",
        ".engine act\n.file \"k.s\"\n"
        "    mov r0, -1 @7\n"
        "    mov r4, -1 @7\n"
        "l:\n"
        "    br.eq r2, 0, s @7\n"
        "    add r0, r0, 1 @8\n"
        "    wait ?s1>=r0 @8\n"
        "m:\n"
        "    add r4, r4, 1 @8\n"
        "    copy b[4*4], a[4*4] ?s2>=r4 ^s2 @9\n"
        "    add r1, r1, 1 @10\n"
        "    br.lt r1, 3, m @11\n"
        "    add r5, r4, 1 @13\n"
        "    copy b[4*4], a[4*4] ?s2>=r5 ^s0 @13\n"
        "s:\n"
        "    add r3, r3, 1 @16\n"
        "    br.lt r3, 3, l @17\n"
        "    sync 3 @18\n"
        "    halt @19\n"
        ".engine sp\n"
        "    mov r0, 0 @21\n"
        "l:\n"
        "    br.eq r2, 0, s @21\n"
        "    add r0, r0, 1 @22\n"
        "m:\n"
        "    add r1, r1, 1 @23\n"
        "    br.lt r1, 3, m @24\n"
        "    dma q0, a[4*4], x[4*4] ?s0>=r0 ^s1 @27\n"
        "s:\n"
        "    add r3, r3, 1 @29\n"
        "    br.lt r3, 3, l @30\n"
        "    sync 3 @31\n"
        "    halt @32\n");
}

/* Waits beyond the one an instruction can carry become no-ops in front of
 * it; a branch to it lands on the first. No-ops that only synchronised go,
 * others stay. Labels at the end stay at the end. */
static void test_extra_waits(void **state) {
  (void)state;
  check(HEAD ".engine act\n sync 1\n nop\n br.eq r1, 1, t\n mov r1, 2\n"
             "t: tail: copy b[4*4], a[4*4]\n sync 2\n halt\nend:\n"
             ".engine dve\n memset b[4*4] value=1 ^s9\n nop ?s9>=1\n"
             " sync 1\n sync 2\n halt\n"
             ".engine sp\n dma q0, a[4*4], x[4*4] ^s3\n"
             " sync 1\n qnop q0\n sync 2\n halt\n",
        ".engine act\n.file \"k.s\"\n"
        "    nop @8\n"
        "    br.eq r1, 1, t @9\n"
        "    mov r1, 2 @10\n"
        "t:\n"
        "tail:\n"
        "    wait ?s0>=1 @11\n"
        "    copy b[4*4], a[4*4] ?s1>=1 @11\n"
        "    sync 2 @12\n"
        "    halt @13\n"
        "end:\n"
        ".engine dve\n"
        "    memset b[4*4] value=1 ^s0 @16\n"
        "    sync 2 @19\n"
        "    halt @20\n"
        ".engine sp\n"
        "    dma q0, a[4*4], x[4*4] ^s1 @22\n"
        "    qnop q0 @24\n"
        "    sync 2 @25\n"
        "    halt @26\n");
}

static void test_report(void **state) {
  (void)state;
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_rewrite_report r;
  rewrite(ctx,
          HEAD ".engine sp\n dma q0, a[4*4], x[4*4]\n sync 1\n"
               " dma q0, a[4*4], x[4*4]\n sync 2\n halt\n",
          &r);
  assert_true(r.changed);
  assert_int_equal(r.nkept, 1);
  assert_string_equal(r.kept[0].reason, "exit barrier");
  assert_int_equal(r.kept[0].place.insn, 3);
  const struct nsr_engine_report *e = NULL;
  for (int i = 0; i < NSR_MAX_ENGINES; i++)
    if (r.engines[i].engine)
      e = &r.engines[i];
  assert_non_null(e);
  assert_string_equal(e->engine, "sp");
  assert_int_equal(e->barriers_before, 2);
  assert_int_equal(e->barriers_after, 1);
  assert_int_equal(e->insns_before, 5);
  assert_int_equal(e->insns_after, 4);
  assert_int_equal(e->waits_after, 1);
  assert_int_equal(r.semaphores, 1);
  nsr_ctx_free(ctx);
}

static void same_bytes(struct nsr_ctx *ctx, const struct nsr_kernel *x,
                       const struct nsr_kernel *y) {
  const uint8_t *a, *b;
  size_t na, nb;
  assert_int_equal(nsr_kernel_write(ctx, x, &a, &na), NSR_OK);
  assert_int_equal(nsr_kernel_write(ctx, y, &b, &nb), NSR_OK);
  assert_int_equal(na, nb);
  assert_memory_equal(a, b, na);
}

/* Rewriting is deterministic, and rewriting twice is rewriting once. */
static void test_identity(void **state) {
  static const char *const texts[] = {
      HEAD ".engine sp\nl: dma q0, a[4*4], x[4*4]\n sync 1\n"
           " br.lt r1, 2, l\n sync 2\n halt\n",
      HEAD ".engine sp\n sync 1\n sync 2\n mov r1, 1\n br.eq r1, 2, h\n"
           " halt\nh: halt\n",
      HEAD ".engine sp\n sync 1\n sync 2\n halt\n dma q0, a, x\n sync 3\n"
           " halt\n",
  };
  (void)state;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    struct nsr_ctx *ctx = nsr_ctx_new();
    struct nsr_rewrite_options options = {.verify = NSR_VERIFY_NONE};
    struct nsr_rewrite_report r;
    struct nsr_kernel *k = assemble(ctx, texts[i]), *once, *again, *twice;
    assert_int_equal(nsr_rewrite(ctx, k, NULL, 0, &options, &once, &r), NSR_OK);
    assert_true(r.changed);
    assert_int_equal(nsr_rewrite(ctx, k, NULL, 0, &options, &again, &r),
                     NSR_OK);
    assert_int_equal(nsr_rewrite(ctx, once, NULL, 0, &options, &twice, &r),
                     NSR_OK);
    assert_false(r.changed);
    same_bytes(ctx, once, again);
    same_bytes(ctx, once, twice);
    nsr_ctx_free(ctx);
  }
}

/* Nothing to do: kernels without work, or with an exit barrier only. */
static void test_nothing(void **state) {
  static const char *const texts[] = {
      HEAD ".engine sp\n halt\n",
      HEAD ".engine sp\nl: add r1, r1, 1\n br.lt r1, 3, l\n halt\n",
      HEAD ".engine sp\n sync\n halt\n",
      HEAD ".engine sp\n br.eq r1, 1, m\nl: st a, r1\nm: br.lt r1, 3, l\n"
           " sync\n halt\n",
  };
  (void)state;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    struct nsr_ctx *ctx = nsr_ctx_new();
    struct nsr_rewrite_options options = {.verify = NSR_VERIFY_NONE};
    struct nsr_rewrite_report r;
    struct nsr_kernel *k = assemble(ctx, texts[i]), *out;
    assert_int_equal(nsr_rewrite(ctx, k, NULL, 0, &options, &out, &r), NSR_OK);
    assert_false(r.changed);
    same_bytes(ctx, k, out);
    nsr_ctx_free(ctx);
  }
}

/* Every allocation fails in turn: a status, never a crash. */
static void test_out_of_memory(void **state) {
  (void)state;
  static const char text[] =
      HEAD ".engine act\n mov r1, 0\nl: copy b[4*4], a[4*4]\n sync 1\n"
           " add r1, r1, 1\n br.lt r1, 3, l\n sync 2\n halt\n"
           ".engine sp\n mov r1, 0\nl: sync 1\n add r1, r1, 1\n"
           " br.lt r1, 3, l\n sync 2\n halt\n";
  enum nsr_status status = NSR_E_NOMEM;
  for (uint64_t n = 1; status != NSR_OK; n++) {
    struct nsr_ctx *ctx = nsr_ctx_new();
    struct nsr_rewrite_options options = {.judge = {.inputs = 2}};
    struct nsr_rewrite_report r;
    struct nsr_kernel *out, *k = assemble(ctx, text);
    nsr_ctx_fail_alloc(ctx, n);
    status = nsr_rewrite(ctx, k, NULL, 0, &options, &out, &r);
    nsr_ctx_free(ctx);
    assert_true(status == NSR_E_NOMEM || status == NSR_OK);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_branch_to_zero),
      cmocka_unit_test(test_nested_entries),
      cmocka_unit_test(test_extra_waits),
      cmocka_unit_test(test_report),
      cmocka_unit_test(test_identity),
      cmocka_unit_test(test_nothing),
      cmocka_unit_test(test_out_of_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
