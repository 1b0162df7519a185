/* test_work.c - what reads and writes kernels does so many units of work, and
 * takes so much memory, per instruction, however long the kernel is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <nsr/text.h>

#include "base/strbuf.h"
#include "base/work.h"

enum { SMALL = 500, LARGE = 10 * SMALL, ENGINES = 2 };

/* n loops on each engine, with labels, tensors and source lines. */
static const char *source(struct nsr_ctx *ctx, int n, size_t *size) {
  static const char *const engines[ENGINES] = {"act", "dve"};
  struct nsr_strbuf b;
  const char *text;
  nsr_strbuf_init(&b, ctx, NSR_KEEP);
  nsr_strbuf_puts(&b, ".isa tile64\n");
  for (int i = 0; i < n; i++)
    nsr_strbuf_printf(&b, ".tensor t%d sbuf f32 [4, 2] at 0:4, %d scratch\n", i,
                      8 * i);
  for (int e = 0; e < ENGINES; e++) {
    nsr_strbuf_printf(&b, ".engine %s\n", engines[e]);
    for (int i = 0; i < n; i++)
      nsr_strbuf_printf(&b,
                        "l%d: br.ge r1, 4, m%d\n"
                        "    copy t%d[2*4], t%d[2*4] ?s1>=1 ^s2\n"
                        "    br l%d\nm%d:\n",
                        i, i, i, n - 1 - i, i, i);
    nsr_strbuf_puts(&b, "    halt\n");
  }
  assert_int_equal(nsr_strbuf_done(&b, &text, size), NSR_OK);
  return text;
}

struct work {
  uint64_t of[NSR_NWORK];
};

static struct work work(struct nsr_ctx *ctx) {
  struct work w;
  for (int i = 0; i < NSR_NWORK; i++)
    w.of[i] = nsr_work(ctx, (enum nsr_counter)i);
  return w;
}

static struct work since(struct nsr_ctx *ctx, struct work from) {
  struct work w = work(ctx);
  for (int i = 0; i < NSR_NWORK; i++)
    w.of[i] -= from.of[i];
  return w;
}

/* Each step on a kernel of n loops: what it counted. */
enum step {
  ASSEMBLE,
  CHECK,
  WRITE,
  READ,
  DISASSEMBLE,
  TO_JSON,
  FROM_JSON,
  NSTEPS
};
static const char *const step_names[NSTEPS] = {
    "assemble",    "check",   "write",    "read",
    "disassemble", "to json", "from json"};

static void run(int n, struct work steps[NSTEPS]) {
  struct nsr_ctx *ctx = nsr_ctx_new();
  size_t size, printed;
  const char *text = source(ctx, n, &size), *out;
  const uint8_t *data;
  struct nsr_kernel *k = NULL, *again = NULL;
  for (int step = 0; step < NSTEPS; step++) {
    struct work from = work(ctx);
    enum nsr_status status =
        step == ASSEMBLE      ? nsr_assemble(ctx, "x.s", text, size, &k)
        : step == CHECK       ? nsr_kernel_check(ctx, k)
        : step == WRITE       ? nsr_kernel_write(ctx, k, &data, &size)
        : step == READ        ? nsr_kernel_read(ctx, "x", data, size, &again)
        : step == DISASSEMBLE ? nsr_disassemble(ctx, k, &out, &printed)
        : step == TO_JSON     ? nsr_to_json(ctx, k, &out, &printed)
                              : nsr_from_json(ctx, "x", out, printed, &again);
    assert_int_equal(status, NSR_OK);
    steps[step] = since(ctx, from);
  }
  nsr_ctx_free(ctx);
}

/* Ten times the kernel: at most ten times the work. Memory grows by doubling,
 * and where it does is chance, so twice as much more is granted. */
static void test_linear(void **state) {
  (void)state;
  struct work small[NSTEPS], large[NSTEPS];
  run(SMALL, small);
  run(LARGE, large);
  for (int step = 0; step < NSTEPS; step++)
    for (int w = 0; w < NSR_NWORK; w++) {
      uint64_t most = small[step].of[w] * (w == NSR_WORK_BYTES ? 20 : 11);
      if (large[step].of[w] > most)
        fail_msg("%s, work %d: %llu, then %llu", step_names[step], w,
                 (unsigned long long)small[step].of[w],
                 (unsigned long long)large[step].of[w]);
    }
}

/* What is counted is counted: a unit a line or an instruction at least. */
static void test_counted(void **state) {
  (void)state;
  const uint64_t insns = ENGINES * (3 * SMALL + 1);
  struct work steps[NSTEPS];
  run(SMALL, steps);
  assert_true(steps[ASSEMBLE].of[NSR_WORK_ASM] > ENGINES * 4 * SMALL);
  assert_true(steps[CHECK].of[NSR_WORK_DECODE] >= insns);
  assert_true(steps[DISASSEMBLE].of[NSR_WORK_DISASM] >= insns);
  assert_true(steps[TO_JSON].of[NSR_WORK_JSON_OUT] >= insns);
  assert_true(steps[FROM_JSON].of[NSR_WORK_JSON_IN] >= insns);
  assert_true(steps[READ].of[NSR_WORK_BYTES] >= insns);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_linear),
                                     cmocka_unit_test(test_counted)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
