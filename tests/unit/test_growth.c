/* test_growth.c - what the passes do for each instruction does not grow with
 * the kernel, whatever its shape.
 */
#include "passes.h"

#include <inttypes.h>

#include "base/strbuf.h"
#include "base/work.h"
#include "dep/explicit.h"
#include "dep/key_loads.h"
#include "emit/weave.h"
#include "ir/islands.h"

enum { SMALL = 1000, TIMES = 4, ENGINES = 3, DEPTH = 30 };

/* ---- shapes: one engine's stream with work number 0..n-1 on all of them */

struct text {
  struct nsr_strbuf *b;
  int engine;
};

static void line(const struct text *t, const char *s) {
  nsr_strbuf_printf(t->b, " %s\n", s);
}

static bool mine(const struct text *t, int i) {
  return i % ENGINES == t->engine;
}

/* Bytes of its own for each work. */
static void work(const struct text *t, int i) {
  if (mine(t, i))
    nsr_strbuf_printf(t->b, " copy w%d+%d[4*4], b0[4*4]\n", i % 64,
                      16 * (i / 64));
}

static void begin(const struct text *t, int loop) {
  nsr_strbuf_printf(t->b, " mov r%d, 0\nl%d:\n", 10 + loop % DEPTH, loop);
}

static void finish(const struct text *t, int loop) {
  line(t, "sync");
  nsr_strbuf_printf(t->b, " add r%d, r%d, 1\n br.lt r%d, r5, l%d\n",
                    10 + loop % DEPTH, 10 + loop % DEPTH, 10 + loop % DEPTH,
                    loop);
}

static void straight(const struct text *t, int n) {
  for (int i = 0; i < n; i++)
    work(t, i);
}

static void one_region(const struct text *t, int n) {
  begin(t, 0);
  straight(t, n);
  finish(t, 0);
}

/* A loop of many regions; what one engine wrote another reads later. */
static void regions(const struct text *t, int n) {
  begin(t, 0);
  for (int i = 0; i < n; i++) {
    work(t, i);
    if (mine(t, i + 1) && i > 40)
      nsr_strbuf_printf(t->b, " copy v%d[4*4], w%d+%d[4*4]\n", i % 8,
                        (i - 9) % 64, 16 * ((i - 9) / 64));
    if (i % 4 == 0)
      line(t, "sync");
  }
  finish(t, 0);
}

static void loops(const struct text *t, int n) {
  for (int i = 0; i < n; i += 5) {
    begin(t, i);
    for (int k = 0; k < 5; k++)
      work(t, i + k);
    finish(t, i);
  }
}

static void nest(const struct text *t, int n) {
  for (int i = 0; i < DEPTH; i++)
    begin(t, i);
  straight(t, n);
  for (int i = DEPTH; i-- > 0;)
    finish(t, i);
}

static void arms(const struct text *t, int n) {
  begin(t, 0);
  for (int i = 0; i < n; i += 2) {
    nsr_strbuf_printf(t->b, " br.lt r5, %d, a%d\n", i % 4, i);
    work(t, i);
    work(t, i + 1);
    nsr_strbuf_printf(t->b, "a%d:\n", i);
    if (i % 10 == 0)
      line(t, "sync");
  }
  finish(t, 0);
}

/* Without a barrier, so that each engine's are its own. */
static void private_arms(const struct text *t, int n) {
  begin(t, 0);
  for (int i = 0; i < n; i++) {
    nsr_strbuf_printf(t->b, " br.lt r5, %d, a%d\n", i % 4, i);
    if (mine(t, i))
      nsr_strbuf_printf(t->b, " copy w%d+%d[4*4], b0[4*4] ^s%d\n", i % 64,
                        16 * (i / 64), t->engine);
    nsr_strbuf_printf(t->b, "a%d:\n", i);
  }
  finish(t, 0);
}

/* All of one buffer: each fifth writes, the others read. */
static void one_buffer(const struct text *t, int n) {
  for (int i = 0; i < n; i++) {
    if (i % 5 == 0)
      line(t, "sync");
    if (i % 5 == 0 && mine(t, i))
      line(t, "copy b0[4*4], b1[4*4]");
    if (i % 5 == 0)
      line(t, "sync");
    else
      work(t, i);
  }
}

/* The same where it is not known which bytes. */
static void unknown_bytes(const struct text *t, int n) {
  for (int i = 0; i < n; i++) {
    if (i % 4 == 0)
      line(t, "sync");
    if (mine(t, i))
      nsr_strbuf_printf(t->b,
                        i % 4 ? " copy v%d[4*4], w0+r5[4*4]\n"
                              : " copy w0+r5[4*4], v%d[4*4]\n",
                        i % 8);
    if (i % 4 == 0)
      line(t, "sync");
  }
}

/* Loops that may not run at all, and arms, that write and read few buffers: any
 * of those before may be the one that an access must follow. */
static void few_buffers(const struct text *t, int i) {
  if (mine(t, i))
    nsr_strbuf_printf(t->b, " copy v%d[4*4], v%d[4*4]\n", i % 3, (i + 1) % 3);
  line(t, "sync");
}

static void loops_of_few(const struct text *t, int n) {
  for (int i = 0; i < n; i += 2) {
    begin(t, i);
    few_buffers(t, i);
    few_buffers(t, i + 1);
    finish(t, i);
  }
}

static void arms_of_few(const struct text *t, int n) {
  begin(t, 0);
  for (int i = 0; i < n; i += 2) {
    nsr_strbuf_printf(t->b, " br.lt r5, %d, a%d\n", i % 4, i);
    few_buffers(t, i);
    few_buffers(t, i + 1);
    nsr_strbuf_printf(t->b, "a%d:\n", i);
  }
  finish(t, 0);
}

/* Conditionals three deep, work at each depth. */
static void arms_in_arms(const struct text *t, int n) {
  enum { DEEP = 3 };
  begin(t, 0);
  for (int i = 0; i + DEEP <= n; i += DEEP) {
    for (int j = i; j < i + DEEP; j++) {
      nsr_strbuf_printf(t->b, " br.lt r5, %d, a%d\n", j % 5, j);
      few_buffers(t, j);
    }
    for (int j = i + DEEP; j-- > i;)
      nsr_strbuf_printf(t->b, "a%d:\n", j);
  }
  finish(t, 0);
}

/* Tiles of one tensor: those of one region lie apart, those of the next one
 * overlap them; here and there any of its bytes is read. */
static void one_tensor(const struct text *t, int n) {
  for (int i = 0; i < n; i++) {
    bool any = i % 48 == 0;
    if (i % 4 == 0)
      line(t, "sync");
    if (mine(t, i) && any)
      line(t, "copy v0[4*4], w0+r5[4*4]");
    else if (mine(t, i))
      nsr_strbuf_printf(t->b, " copy w0+%d[4*4], v%d[4*4]\n",
                        i % 4 * 80 + i / 4 % 8 * 8, 1 + i % 7);
    if (any)
      line(t, "sync");
  }
}

/* A window of one tensor, written or read: nearly all are different, and many
 * overlap. at: added to where it is. */
static void window(const struct text *t, int i, unsigned spread,
                   const char *at) {
  uint32_t x = (uint32_t)i * UINT32_C(2654435761);
  unsigned first = (x >> 8) % spread, words = 1 + (x >> 20) % 64;
  if (mine(t, i) && i % 3 == 0)
    nsr_strbuf_printf(t->b, " copy w0+%u%s[4*%u], x%d[4*%u]\n", 4 * first, at,
                      words, i % 8, words);
  else if (mine(t, i))
    nsr_strbuf_printf(t->b, " copy x%d[4*%u], w0+%u%s[4*%u]\n", i % 8, words,
                      4 * first, at, words);
  line(t, "sync");
}

static void windows(const struct text *t, int n) {
  for (int i = 0; i < n; i++)
    window(t, i, 512, "");
}

/* One behind the other, each over most of the one before. */
static void sliding(const struct text *t, int n) {
  for (int i = 0; i < n; i++) {
    if (mine(t, i) && i / 7 % 2)
      nsr_strbuf_printf(t->b, " copy w0+%d[4*64], x%d[4*64]\n", 4 * i, i % 8);
    else if (mine(t, i))
      nsr_strbuf_printf(t->b, " copy x%d[4*64], w0+%d[4*64]\n", i % 8, 4 * i);
    line(t, "sync");
  }
}

static void windows_in_loop(const struct text *t, int n) {
  begin(t, 0);
  windows(t, n);
  finish(t, 0);
}

/* The address goes on, or turns, with each iteration. */
static void moving_windows(const struct text *t, int n) {
  line(t, "mov r8, 0");
  begin(t, 0);
  for (int i = 0; i < n; i++)
    window(t, i, 512, "+r8");
  line(t, "add r8, r8, 2304");
  finish(t, 0);
}

static void turning_windows(const struct text *t, int n) {
  line(t, "mov r8, 0");
  begin(t, 0);
  for (int i = 0; i < n; i++)
    window(t, i, 512, "+r8");
  line(t, "add r8, r8, 2304");
  line(t, "rem r8, r8, 6912");
  finish(t, 0);
}

static void windows_in_loops(const struct text *t, int n) {
  for (int i = 0; i < n; i += 4) {
    begin(t, i);
    for (int k = i; k < i + 4; k++)
      window(t, k, 64, "");
    finish(t, i);
  }
}

static void windows_in_arms(const struct text *t, int n) {
  begin(t, 0);
  for (int i = 0; i < n; i += 2) {
    nsr_strbuf_printf(t->b, " br.lt r5, %d, a%d\n", i % 4, i);
    window(t, i, 64, "");
    window(t, i + 1, 64, "");
    nsr_strbuf_printf(t->b, "a%d:\n", i);
  }
  finish(t, 0);
}

/* All but the first is in islands. */
static void windows_in_islands(const struct text *t, int n) {
  windows(t, 4);
  begin(t, 0);
  for (int i = 0; i < n; i++) {
    if (t->engine == ENGINES - 1) /* it has such instructions */
      line(t, "custom code=1");
    window(t, i, 512, "");
  }
  finish(t, 0);
}

/* Effort beyond what each access has is shared by all, in units. */
enum { SPARE = 2200000 };

static const struct {
  const char *name;
  void (*write)(const struct text *t, int n);
  uint64_t spare;
} shapes[] = {
    {"straight", straight, 0},
    {"one region", one_region, 0},
    {"regions", regions, 0},
    {"loops", loops, 0},
    {"nest", nest, 0},
    {"arms", arms, 0},
    {"private arms", private_arms, 0},
    {"one buffer", one_buffer, 0},
    {"unknown bytes", unknown_bytes, 0},
    {"loops of few buffers", loops_of_few, 0},
    {"arms of few buffers", arms_of_few, 0},
    {"arms in arms", arms_in_arms, 0},
    {"one tensor", one_tensor, 0},
    {"windows", windows, 0},
    {"sliding windows", sliding, 0},
    {"windows in a loop", windows_in_loop, 0},
    {"moving windows", moving_windows, SPARE},
    {"turning windows", turning_windows, SPARE},
    {"windows in loops", windows_in_loops, 0},
    {"windows in arms", windows_in_arms, 0},
    {"windows in islands", windows_in_islands, 0},
};
enum { NSHAPES = sizeof shapes / sizeof *shapes };

static const char *kernel_text(struct nsr_ctx *ctx, int shape, int n) {
  static const char *const engines[ENGINES] = {"act", "dve", "pool"};
  struct nsr_strbuf b;
  const char *text;
  nsr_strbuf_init(&b, ctx, NSR_KEEP);
  nsr_strbuf_puts(&b, ".isa tile64\n"
                      ".tensor n dram i32 [1] at 0 input range 0 4\n"
                      ".tensor b0 sbuf f32 [1, 4] at 0:1, 0 scratch\n"
                      ".tensor b1 sbuf f32 [1, 4] at 1:1, 0 scratch\n");
  for (int i = 0; i < 8; i++)
    nsr_strbuf_printf(&b, ".tensor v%d sbuf f32 [1, 4] at %d:1, 0 scratch\n", i,
                      10 + i);
  for (int i = 0; i < 8; i++)
    nsr_strbuf_printf(&b,
                      ".tensor x%d sbuf f32 [1, 64] at %d:1, 161024 scratch\n",
                      i, 10 + i);
  for (int i = 0; i < 64; i++)
    nsr_strbuf_printf(
        &b, ".tensor w%d sbuf f32 [1, 40000] at %d:1, 0 scratch\n", i, 64 + i);
  for (int e = 0; e < ENGINES; e++) {
    struct text t = {&b, e};
    nsr_strbuf_printf(&b, ".engine %s\n ld r5, n\n", engines[e]);
    shapes[shape].write(&t, n);
    nsr_strbuf_puts(&b, " sync\n halt\n");
  }
  assert_int_equal(nsr_strbuf_done(&b, &text, NULL), NSR_OK);
  return text;
}

/* ---- passes, and what each counted */

enum { TREE, DEPS, SELECT, PLAN, NPASSES };

struct counted {
  uint64_t units, bytes;
};

static void note(struct nsr_ctx *ctx, struct counted *now,
                 struct counted *since) {
  uint64_t units = 0, bytes = nsr_work(ctx, NSR_WORK_BYTES);
  for (int w = NSR_WORK_IR; w < NSR_NWORK; w++)
    units += nsr_work(ctx, (enum nsr_counter)w);
  *now = (struct counted){units - since->units, bytes - since->bytes};
  *since = (struct counted){units, bytes};
}

static enum nsr_status run(struct nsr_ctx *ctx, const struct nsr_kernel *k,
                           struct counted of[NPASSES]) {
  struct nsr_program p;
  struct nsr_tree t;
  struct nsr_islands islands;
  struct nsr_key_loads doubts = {0};
  struct nsr_deps deps;
  struct nsr_needs needs;
  struct nsr_plan plan;
  struct nsr_woven woven;
  struct nsr_budget budget = {.registers = UINT32_MAX,
                              .semaphores = UINT32_MAX};
  struct counted since = {0};
  uint32_t *target, exit;
  note(ctx, &of[TREE], &since);
  NSR_TRY(nsr_program_build(ctx, k, &p));
  NSR_TRY(nsr_tree_build(ctx, &p, &doubts, &t));
  NSR_TRY(nsr_islands_find(ctx, &t, NULL, 0, true, &islands));
  NSR_TRY(nsr_explicit_map(ctx, &t, &islands, false, &target));
  NSR_TRY(nsr_tree_linearize(ctx, &t, &islands, &target));
  NSR_TRY(nsr_tree_exit(ctx, &t, &exit));
  note(ctx, &of[TREE], &since);
  NSR_TRY(nsr_deps_find(ctx, &t, target, &deps));
  NSR_TRY(nsr_key_loads_check(ctx, &deps, &doubts));
  note(ctx, &of[DEPS], &since);
  NSR_TRY(nsr_needs_select(ctx, &deps, false, &needs));
  note(ctx, &of[SELECT], &since);
  NSR_TRY(nsr_plan_make(ctx, &t, &needs, &budget, &plan));
  NSR_TRY(nsr_weave(ctx, &plan, exit, &woven));
  note(ctx, &of[PLAN], &since);
  return NSR_OK;
}

static void measure(int shape, int n, struct counted of[NPASSES]) {
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_kernel *k = assemble(ctx, kernel_text(ctx, shape, n));
  if (run(ctx, k, of) != NSR_OK)
    fail_msg("%s: %s", shapes[shape].name, nsr_ctx_first_error(ctx)->text);
  nsr_ctx_free(ctx);
}

static void test_growth(void **state) {
  static const char *const passes[] = {"tree", "deps", "select", "plan"};
  (void)state;
  for (int shape = 0; shape < NSHAPES; shape++) {
    struct counted small[NPASSES], large[NPASSES];
    measure(shape, SMALL, small);
    measure(shape, TIMES * SMALL, large);
    for (int i = 0; i < NPASSES; i++)
      /* blocks of memory, and tables that double, come in steps */
      if (large[i].units >
              small[i].units * (TIMES + 1) + 100 + shapes[shape].spare ||
          large[i].bytes > small[i].bytes * (2 * TIMES) + 100000)
        fail_msg("%s, %s: %" PRIu64 " units become %" PRIu64 ", %" PRIu64
                 " bytes %" PRIu64,
                 shapes[shape].name, passes[i], small[i].units, large[i].units,
                 small[i].bytes, large[i].bytes);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_growth)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
