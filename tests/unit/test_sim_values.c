/* Values: what stays concrete in opaque memory, what numbers the rest gives,
 * and real numbers in numeric mode. */
#include "sim_kernel.h"

#include "sim/numeric.h"

#define HEAD                                                                   \
  ".isa tile64\n.kernel \"t\"\n.queue q0 sp\n"                                 \
  ".tensor n dram i32 [8] at 0 input words 5, -7, 11, 13, 17, 19, 23, 29\n"    \
  ".tensor b dram u8 [4] at 0x100 input words 200, 1, 2, 3\n"                  \
  ".tensor c dram i8 [4] at 0x140 input words -56, 1, 2, 3\n"                  \
  ".tensor s dram i16 [4] at 0x180 input words -300, 1, 2, 3\n"                \
  ".tensor x dram f32 [4, 4] at 0x200 input\n"                                 \
  ".tensor k dram i32 [4] at 0x300 input range 10 12\n"                        \
  ".tensor y dram i32 [8] at 0x400 output\n"                                   \
  ".tensor a sbuf i32 [4, 4] at 0:4, 0 scratch\n"                              \
  ".tensor d sbuf i32 [1, 8] at 0:1, 64 scratch\n"                             \
  ".tensor e sbuf u8 [4, 16] at 0:4, 128 scratch\n"                            \
  ".engine sp\n"

/* Register 1 to 9 of sp at the end of a run. */
static void check(const char *text, int reg, int32_t value) {
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_kernel *k = kernel_of(ctx, text);
  int sp = nsr_isa_engine(k->isa, "sp");
  for (int kind = 0; kind < NSR_POLICIES; kind++) {
    struct opaque_run r;
    opaque_run(&r, ctx, k, (enum nsr_policy_kind)kind, 0, NULL);
    if (r.sim->end != NSR_DONE)
      fail_msg("%s\nend %d: %s", text, r.sim->end, r.sim->fault.text);
    if (!r.sim->core[sp].defined[reg] || r.sim->core[sp].reg[reg] != value)
      fail_msg("%s\nr%d is %d, wanted %d", text, reg,
               (int)r.sim->core[sp].reg[reg], (int)value);
    opaque_done(&r);
  }
  nsr_ctx_free(ctx);
}

static void test_loads(void **state) {
  (void)state;
  check(HEAD " ld r1, n\n halt\n", 1, 5);
  check(HEAD " ld r1, n+4\n halt\n", 1, -7);
  check(HEAD " mov r2, 12\n ld r1, n+r2\n halt\n", 1, 13);
  check(HEAD " ld r1, b\n halt\n", 1, 200);
  check(HEAD " ld r1, c\n halt\n", 1, -56);
  check(HEAD " ld r1, s\n halt\n", 1, -300);
}

static void test_stores(void **state) {
  (void)state;
  check(HEAD " mov r2, -5\n st a, r2 ^s0\n ld r1, a ?s0>=1\n halt\n", 1, -5);
  check(HEAD " mov r2, 260\n st e, r2 ^s0\n ld r1, e ?s0>=1\n halt\n", 1, 4);
}

static void test_copies(void **state) {
  (void)state;
  /* eight words in one row, and the fourth of them back */
  check(HEAD " dma q0, d[8*4], n[8*4] ^s0\n ld r1, d+12 ?s0>=1\n halt\n", 1,
        13);
  /* rows of DRAM to partitions: element order is (p, i) */
  check(HEAD " dma q0, a{0:4}[2*4], n{4*8}[2*4] ^s0\n"
             " ld r1, a+4{2:1} ?s0>=1\n halt\n",
        1, 19);
  /* backwards */
  check(HEAD " dma q0, d[8*4], n+28[8*-4] ^s0\n ld r1, d ?s0>=1\n halt\n", 1,
        29);
  /* through SBUF and DRAM again */
  check(HEAD " dma q0, a{0:4}[2*4], n{4*8}[2*4] ^s0\n"
             " dma q0, y[8*4], a{0:4}[2*4] ?s0>=1 ^s0\n"
             " ld r1, y+20 ?s0>=2\n halt\n",
        1, 19);
  /* broadcast of one word */
  check(HEAD " dma q0, d[8*4], n+8[8*0] ^s0\n ld r1, d+24 ?s0>=1\n halt\n", 1,
        11);
}

static void test_part_of_a_copy(void **state) {
  (void)state;
  /* an overwritten word among copied ones */
  check(HEAD " dma q0, d[8*4], n[8*4] ^s0\n mov r2, 99\n"
             " st d+8, r2 ?s0>=1 ^s1\n ld r1, d+8 ?s1>=1\n halt\n",
        1, 99);
  check(HEAD " dma q0, d[8*4], n[8*4] ^s0\n mov r2, 99\n"
             " st d+8, r2 ?s0>=1 ^s1\n ld r1, d+12 ?s1>=1\n halt\n",
        1, 13);
}

static void test_fill_and_iota(void **state) {
  (void)state;
  check(HEAD " sync 1\n ld r1, a+4{3:1}\n halt\n"
             ".engine dve\n memset a[4*4] value=-3\n sync 1\n halt\n",
        1, -3);
  check(HEAD " sync 1\n ld r1, a+8{3:1}\n halt\n"
             ".engine pool\n iota a[4*4] base=100 pmul=10 step0=3 step1=0 "
             "step2=0\n sync 1\n halt\n",
        1, 100 + 3 * 10 + 2 * 3);
  check(HEAD " sync 1\n ld r1, e+1\n halt\n"
             ".engine dve\n memset e[16*1] value=7\n sync 1\n halt\n",
        1, 7);
}

/* What nobody knows gives a number in the declared range, the same in every
 * schedule. */
static void test_ranges(void **state) {
  (void)state;
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_kernel *k = kernel_of(ctx, HEAD " ld r1, k\n ld r2, k+4\n"
                                             " ld r3, k+8\n ld r4, k+12\n"
                                             " halt\n");
  int sp = nsr_isa_engine(k->isa, "sp");
  struct opaque_run r;
  opaque_run(&r, ctx, k, NSR_ROUND_ROBIN, 0, NULL);
  assert_int_equal(r.sim->end, NSR_DONE);
  int32_t first = r.sim->core[sp].reg[1];
  bool differ = false;
  for (int i = 1; i <= 4; i++) {
    assert_in_range(r.sim->core[sp].reg[i], 10, 12);
    differ |= r.sim->core[sp].reg[i] != first;
  }
  assert_true(differ); /* words have tokens of their own */
  opaque_done(&r);
  opaque_run(&r, ctx, k, NSR_REVERSE, 0, NULL);
  assert_int_equal(r.sim->core[sp].reg[1], first);
  opaque_done(&r);
  nsr_ctx_free(ctx);
}

static void test_opaque_work(void **state) {
  (void)state;
  struct nsr_ctx *ctx = nsr_ctx_new();
  /* arithmetic makes words opaque, a copy does not make them known */
  struct nsr_kernel *k =
      kernel_of(ctx, HEAD " sync 1\n ld r1, a\n halt\n.engine dve\n"
                          " memset a[4*4] value=1 ^s0\n"
                          " ts a[4*4], a[4*4] op0=add imm0=1.0 op1=none "
                          "imm1=0 ?s0>=1\n sync 1\n halt\n");
  struct opaque_run r;
  opaque_run(&r, ctx, k, NSR_ROUND_ROBIN, 0, NULL);
  assert_int_equal(r.sim->end, NSR_SIM_OPAQUE);
  opaque_done(&r);
  nsr_ctx_free(ctx);
}

/* Two orders of two writes are two memories, even of equal values. */
static void test_tokens_tell_writers(void **state) {
  (void)state;
  uint64_t token[2];
  for (int i = 0; i < 2; i++) {
    struct nsr_ctx *ctx = nsr_ctx_new();
    struct nsr_kernel *k = kernel_of(
        ctx, i ? HEAD " halt\n.engine act\n memset a[4*4] value=1 ?s0>=1\n"
                      " halt\n.engine dve\n memset a[4*4] value=1 ^s0\n"
                      " halt\n"
               : HEAD " halt\n.engine act\n memset a[4*4] value=1 ^s0\n"
                      " halt\n.engine dve\n memset a[4*4] value=1 ?s0>=1\n"
                      " halt\n");
    struct opaque_run r;
    opaque_run(&r, ctx, k, NSR_ROUND_ROBIN, 0, NULL);
    assert_int_equal(r.sim->end, NSR_DONE);
    token[i] = r.memory->token[nsr_atoms_at(r.atoms, NSR_SBUF, 0, 0)];
    opaque_done(&r);
    nsr_ctx_free(ctx);
  }
  assert_true(token[0] != token[1]);
}

/* And what was read goes on in what is written. */
static void test_tokens_tell_reads(void **state) {
  (void)state;
  uint64_t token[2];
  for (int i = 0; i < 2; i++) {
    struct nsr_ctx *ctx = nsr_ctx_new();
    struct nsr_kernel *k = kernel_of(
        ctx, i ? HEAD " dma q0, d[4*4], a{0:1}[4*4] ?s0>=1\n halt\n"
                      ".engine dve\n memset a[4*4] value=1 ^s0\n halt\n"
               : HEAD " dma q0, d[4*4], a{0:1}[4*4]\n halt\n"
                      ".engine dve\n memset a[4*4] value=2 ^s0\n halt\n");
    struct opaque_run r;
    opaque_run(&r, ctx, k, NSR_ROUND_ROBIN, 0, NULL);
    assert_int_equal(r.sim->end, NSR_DONE);
    token[i] = r.memory->token[nsr_atoms_at(r.atoms, NSR_SBUF, 0, 64)];
    opaque_done(&r);
    nsr_ctx_free(ctx);
  }
  assert_true(token[0] != token[1]);
}

/* ---- numeric mode */

static void check_numbers(const char *text, const char *name,
                          const int32_t *want, size_t n) {
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_kernel *k = kernel_of(ctx, text);
  const uint8_t *data;
  size_t size;
  char line[300];
  if (nsr_run_numeric(ctx, k, name, &data, &size) != NSR_OK)
    fail_msg("%s", first_error(ctx, line, sizeof line));
  assert_true(size >= n * sizeof *want);
  for (size_t i = 0; i < n; i++)
    assert_int_equal(nsr_element_bits(NSR_I32, data + 4 * i), want[i]);
  nsr_ctx_free(ctx);
}

static void test_numeric(void **state) {
  (void)state;
  const int32_t stored[] = {7, 5, -1};
  check_numbers(HEAD " mov r1, 7\n st y, r1\n ld r2, n\n st y+4, r2 ^s0\n"
                     " sync 1\n halt\n",
                "y", stored, 3);
  const int32_t doubled[] = {10, -14, 22, 26};
  check_numbers(HEAD " dma q0, a{0:1}[4*4], n[4*4] ^s0\n"
                     " dma q0, y[4*4], a{0:1}[4*4] ?s1>=1\n sync 1\n halt\n"
                     ".engine dve\n ts a{0:1}[4*4], a{0:1}[4*4] op0=mul "
                     "imm0=2.0 op1=none imm1=0 ?s0>=1 ^s1\n sync 1\n halt\n",
                "y", doubled, 4);
  const int32_t pattern[] = {100, 103, 110, 113};
  check_numbers(HEAD " dma q0, y[4*4], a{0:2}[2*4] ?s1>=1\n sync 1\n halt\n"
                     ".engine pool\n iota a[4*4] base=100 pmul=10 step0=3 "
                     "step1=0 step2=0 ^s1\n sync 1\n halt\n",
                "y", pattern, 4);
}

static void test_numeric_trouble(void **state) {
  (void)state;
  struct nsr_ctx *ctx = nsr_ctx_new();
  const uint8_t *data;
  size_t size;
  struct nsr_kernel *k = kernel_of(ctx, HEAD " rem r1, 1, 0\n halt\n");
  assert_int_equal(nsr_run_numeric(ctx, k, "y", &data, &size), NSR_E_FAULT);
  k = kernel_of(ctx, HEAD " nop ?s0>=1\n halt\n");
  assert_int_equal(nsr_run_numeric(ctx, k, "y", &data, &size), NSR_E_HANG);
  assert_int_equal(nsr_run_numeric(ctx, k, "nobody", &data, &size),
                   NSR_E_USAGE);
  nsr_ctx_free(ctx);
}

/* Kernels that need not resemble each other, by their outputs. */
static void test_outputs(void **state) {
  (void)state;
  static const char *const same[] = {
      HEAD " mov r1, 7\n st y, r1\n sync 1\n halt\n",
      HEAD " mov r2, 6\n add r3, r2, 1\n st y, r3\n sync 1\n halt\n",
      HEAD " mov r2, 8\n st y, r2\n sync 1\n halt\n",
      HEAD " nop ?s0>=1\n halt\n"};
  static const enum nsr_verdict verdicts[] = {NSR_EQUAL, NSR_EQUAL, NSR_REFUTED,
                                              NSR_REFUTED};
  for (int i = 0; i < 4; i++) {
    struct nsr_ctx *ctx = nsr_ctx_new();
    struct nsr_kernel *a = kernel_of(ctx, same[0]);
    struct nsr_kernel *b = kernel_of(ctx, same[i]);
    struct nsr_judgement j;
    assert_int_equal(nsr_compare_outputs(ctx, a, b, 0, NULL, &j), NSR_OK);
    assert_int_equal(j.verdict, verdicts[i]);
    assert_int_equal(nsr_compare_outputs(ctx, a, b, 0.2, NULL, &j), NSR_OK);
    assert_int_equal(j.verdict, i == 3 ? NSR_REFUTED : NSR_EQUAL);
    assert_int_equal(nsr_compare_outputs(ctx, b, a, 0, NULL, &j), NSR_OK);
    assert_int_equal(j.verdict, i == 3 ? NSR_INPUT_BROKEN : verdicts[i]);
    nsr_ctx_free(ctx);
  }
}

/* A huge output costs what is written to it; the first difference is told. */
#define HUGE_OUTPUT(code)                                                      \
  ".isa tile64\n.kernel \"t\"\n"                                               \
  ".tensor y dram i32 [1000, 250000000] at 0x1002 output\n.engine sp\n"        \
  " mov r1, 1\n mov r2, 2\n mov r7, 7\n" code " sync 1\n halt\n"
static void test_huge_output(void **state) {
  (void)state;
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_judgement j;
  struct nsr_kernel *k[3] = {
      kernel_of(ctx, HUGE_OUTPUT(" st y+4096, r7\n st y+2000000000, r1\n")),
      kernel_of(ctx, HUGE_OUTPUT(" st y+2000000000, r1\n st y+4096, r7\n")),
      kernel_of(ctx, HUGE_OUTPUT(" st y+2000000000, r2\n st y+4092, r7\n"))};
  assert_int_equal(nsr_compare_outputs(ctx, k[0], k[1], 0, NULL, &j), NSR_OK);
  assert_int_equal(j.verdict, NSR_EQUAL);
  assert_non_null(strstr(j.notes, "races were not looked for"));
  assert_int_equal(nsr_compare_outputs(ctx, k[0], k[2], 0, NULL, &j), NSR_OK);
  assert_int_equal(j.verdict, NSR_REFUTED);
  assert_non_null(strstr(j.text, "element 1023:"));
  assert_int_equal(nsr_compare_outputs(ctx, k[2], k[0], 0, NULL, &j), NSR_OK);
  assert_non_null(strstr(j.text, "element 1023:"));
  nsr_ctx_free(ctx);
}

static void test_outputs_budget(void **state) {
  (void)state;
  const struct nsr_judge_options options = {.budget = 1000};
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_judgement j;
  struct nsr_kernel *a = kernel_of(ctx, HEAD " sync 1\n halt\n");
  struct nsr_kernel *b =
      kernel_of(ctx, HEAD " mov r1, 0\nl:\n add r1, r1, 1\n br l\n halt\n");
  assert_int_equal(nsr_compare_outputs(ctx, a, b, 0, &options, &j), NSR_OK);
  assert_int_equal(j.verdict, NSR_UNDECIDED);
  assert_true(j.instances <= 1002);
  nsr_ctx_free(ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_loads),
      cmocka_unit_test(test_stores),
      cmocka_unit_test(test_copies),
      cmocka_unit_test(test_part_of_a_copy),
      cmocka_unit_test(test_fill_and_iota),
      cmocka_unit_test(test_ranges),
      cmocka_unit_test(test_opaque_work),
      cmocka_unit_test(test_tokens_tell_writers),
      cmocka_unit_test(test_tokens_tell_reads),
      cmocka_unit_test(test_numeric),
      cmocka_unit_test(test_numeric_trouble),
      cmocka_unit_test(test_outputs),
      cmocka_unit_test(test_huge_output),
      cmocka_unit_test(test_outputs_budget),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
