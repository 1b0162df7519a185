/* Schedules: each does what its name says, all of them keep the machine's
 * rules, and a kernel that is ordered ends in the same memory under all. */
#include "sim_kernel.h"

enum { ISSUE, READ, RETIRE, BARRIER, HALT };

struct event {
  uint8_t kind, engine, channel;
  uint32_t ordinal;
};

struct log {
  struct event v[4096];
  size_t n;
  struct opaque_run *run;
  uint32_t most[NSR_MAX_CHANNELS]; /* in flight at once */
};

static void push(struct log *l, int kind, int engine, int channel,
                 uint32_t ordinal) {
  assert_true(l->n < sizeof l->v / sizeof *l->v);
  l->v[l->n++] =
      (struct event){(uint8_t)kind, (uint8_t)engine, (uint8_t)channel, ordinal};
}

static bool on_issued(void *self, struct nsr_flight *f) {
  push(self, ISSUE, f->engine, f->channel, f->ordinal);
  return true;
}

static bool on_read(void *self, const struct nsr_flight *f) {
  push(self, READ, f->engine, f->channel, f->ordinal);
  return true;
}

static void on_retired(void *self, const struct nsr_flight *f, int32_t before,
                       int32_t after) {
  (void)before;
  (void)after;
  push(self, RETIRE, f->engine, f->channel, f->ordinal);
}

static void on_barrier(void *self) { push(self, BARRIER, 0, 0, 0); }

static void on_halted(void *self, int engine) {
  push(self, HALT, engine, 0, 0);
}

static void run(struct log *l, struct opaque_run *r, struct nsr_ctx *ctx,
                const struct nsr_kernel *k, enum nsr_policy_kind kind,
                uint32_t arg) {
  const struct nsr_observer o = {.self = l,
                                 .issued = on_issued,
                                 .read = on_read,
                                 .retired = on_retired,
                                 .barrier = on_barrier,
                                 .halted = on_halted};
  *l = (struct log){.run = r};
  opaque_run(r, ctx, k, kind, arg, &o);
  assert_int_equal(r->sim->end, NSR_DONE);
}

/* The place of an event in the log. */
static size_t at(const struct log *l, int kind, int channel, uint32_t ordinal) {
  for (size_t i = 0; i < l->n; i++)
    if (l->v[i].kind == kind && l->v[i].channel == channel &&
        l->v[i].ordinal == ordinal)
      return i;
  fail_msg("no event %d of %d:%u", kind, channel, (unsigned)ordinal);
  return 0;
}

static const char free_text[] =
    ".isa tile64\n.kernel \"t\"\n.queue q0 sp\n"
    ".tensor x dram f32 [4, 4] at 0 input\n"
    ".tensor a sbuf f32 [4, 4] at 0:4, 0 scratch\n"
    ".tensor b sbuf f32 [4, 4] at 0:4, 64 scratch\n"
    ".tensor c sbuf f32 [4, 16] at 0:4, 128 scratch\n"
    ".engine act\n memset a[4*4] value=1\n memset a[4*4] value=2\n"
    " memset a[4*4] value=3\n sync\n halt\n"
    ".engine dve\n memset b[4*4] value=1\n memset b[4*4] value=2\n"
    " memset b[4*4] value=3\n sync\n halt\n"
    ".engine sp\n dma q0, c[4*4], x{4*16}[4*4]\n"
    " dma q0, c+16[4*4], x{4*16}[4*4]\n dma q0, c+32[4*4], x{4*16}[4*4]\n"
    " sync\n halt\n";

struct names {
  int act, dve, sp, q0;
};

static struct names names_of(const struct nsr_kernel *k) {
  return (struct names){nsr_isa_engine(k->isa, "act"),
                        nsr_isa_engine(k->isa, "dve"),
                        nsr_isa_engine(k->isa, "sp"), k->isa->nengines};
}

static void test_held_back(void **state) {
  (void)state;
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_kernel *k = kernel_of(ctx, free_text);
  struct names n = names_of(k);
  struct opaque_run r;
  struct log l;
  run(&l, &r, ctx, k, NSR_HOLD_ENGINE, (uint32_t)n.dve);
  assert_true(at(&l, ISSUE, n.dve, 1) > at(&l, RETIRE, n.act, 3));
  assert_true(at(&l, ISSUE, n.dve, 1) > at(&l, RETIRE, n.q0, 3));
  opaque_done(&r);
  nsr_ctx_free(ctx);
}

static void test_ahead(void **state) {
  (void)state;
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_kernel *k = kernel_of(ctx, free_text);
  struct names n = names_of(k);
  struct opaque_run r;
  struct log l;
  run(&l, &r, ctx, k, NSR_AHEAD_ENGINE, (uint32_t)n.dve);
  assert_int_equal(at(&l, ISSUE, n.dve, 3), 2);
  assert_true(at(&l, ISSUE, n.act, 1) > at(&l, RETIRE, n.dve, 3));
  opaque_done(&r);
  nsr_ctx_free(ctx);
}

static void test_late(void **state) {
  (void)state;
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_kernel *k = kernel_of(ctx, free_text);
  struct names n = names_of(k);
  struct opaque_run r;
  struct log l;
  run(&l, &r, ctx, k, NSR_LATE_QUEUES, 0);
  assert_true(at(&l, READ, n.q0, 1) > at(&l, RETIRE, n.act, 3));
  assert_true(at(&l, READ, n.q0, 1) > at(&l, RETIRE, n.dve, 3));
  opaque_done(&r);
  run(&l, &r, ctx, k, NSR_LATE_PIPES, 0);
  assert_true(at(&l, READ, n.act, 1) > at(&l, RETIRE, n.q0, 3));
  assert_true(at(&l, READ, n.dve, 1) > at(&l, RETIRE, n.q0, 3));
  opaque_done(&r);
  nsr_ctx_free(ctx);
}

/* With replaced order of q0: which of its reads comes first. */
static bool newest_first(struct nsr_ctx *ctx, enum nsr_order order) {
  struct nsr_kernel *k = kernel_of(ctx, free_text);
  struct nsr_kernel other = *k;
  struct nsr_queue q = k->queues[0];
  struct opaque_run r;
  struct log l;
  q.order = order;
  other.queues = &q;
  run(&l, &r, ctx, &other, NSR_REVERSE, 0);
  int q0 = names_of(k).q0;
  bool reversed = at(&l, READ, q0, 3) < at(&l, READ, q0, 2) &&
                  at(&l, READ, q0, 2) < at(&l, READ, q0, 1);
  bool forward = at(&l, READ, q0, 1) < at(&l, READ, q0, 2) &&
                 at(&l, READ, q0, 2) < at(&l, READ, q0, 3);
  assert_true(reversed != forward);
  assert_true(at(&l, RETIRE, q0, 1) < at(&l, RETIRE, q0, 2));
  assert_true(at(&l, RETIRE, q0, 2) < at(&l, RETIRE, q0, 3));
  opaque_done(&r);
  return reversed;
}

static void test_reverse(void **state) {
  (void)state;
  struct nsr_ctx *ctx = nsr_ctx_new();
  assert_true(newest_first(ctx, NSR_ORDER_NONE));
  assert_true(newest_first(ctx, NSR_ORDER_HIDDEN));
  assert_false(newest_first(ctx, NSR_ORDER_FULL));
  nsr_ctx_free(ctx);
}

/* What a pipeline does to PSUM stays in issue order where its order is
 * hidden, and does not where it is none. */
static void test_psum_order(void **state) {
  (void)state;
  for (int hidden = 0; hidden < 2; hidden++) {
    struct nsr_ctx *ctx = nsr_ctx_new();
    struct nsr_kernel *k =
        kernel_of(ctx, ".isa tile64\n.kernel \"t\"\n"
                       ".engine act\n memset psum{0:4}[4*4]:i32 value=1\n"
                       " memset sbuf{0:4}[4*4]:i32 value=2\n"
                       " memset psum+16{0:4}[4*4]:i32 value=3\n sync\n halt\n");
    struct names n = names_of(k);
    k->pipe_order[n.act] = hidden ? NSR_ORDER_HIDDEN : NSR_ORDER_NONE;
    struct opaque_run r;
    struct log l;
    run(&l, &r, ctx, k, NSR_REVERSE, 0);
    assert_true(at(&l, READ, n.act, 2) < at(&l, READ, n.act, 1));
    assert_int_equal(at(&l, READ, n.act, 1) < at(&l, READ, n.act, 3), hidden);
    opaque_done(&r);
    nsr_ctx_free(ctx);
  }
}

static bool same_log(const struct log *a, const struct log *b) {
  return a->n == b->n && memcmp(a->v, b->v, a->n * sizeof *a->v) == 0;
}

static void test_random(void **state) {
  (void)state;
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_kernel *k = kernel_of(ctx, free_text);
  struct opaque_run r;
  static struct log a, b;
  run(&a, &r, ctx, k, NSR_RANDOM, 0);
  opaque_done(&r);
  run(&b, &r, ctx, k, NSR_RANDOM, 0);
  assert_true(same_log(&a, &b));
  opaque_done(&r);
  run(&b, &r, ctx, k, NSR_ROUND_ROBIN, 0);
  assert_false(same_log(&a, &b));
  opaque_done(&r);
  nsr_ctx_free(ctx);
}

/* ---- rules that hold in every schedule */

static const char ordered_text[] =
    ".isa tile64\n.kernel \"t\"\n.queue q0 sp\n.queue q1 act\n"
    ".const N 40\n"
    ".tensor n dram i32 [1] at 0x8000 input words 40\n"
    ".tensor x dram f32 [4, 4] at 0 input\n"
    ".tensor y dram f32 [4, 4] at 0x100 output\n"
    ".tensor a sbuf f32 [4, 4] at 0:4, 0 scratch\n"
    ".tensor b sbuf f32 [4, 4] at 0:4, 64 scratch\n"
    ".engine sp\n ld r1, n\n mov r2, 0\nl:\n"
    " dma q0, a[4*4], x{4*16}[4*4] ?s1>=r2 ^s0\n add r2, r2, 1\n"
    " br.lt r2, r1, l\n sync\n halt\n"
    ".engine dve\n ld r1, n\n mov r2, 0\nl:\n add r2, r2, 1\n"
    " wait ?s2>=r2\n"
    " ts b[4*4], a[4*4] op0=mul imm0=2.0 op1=none imm1=0 ?s0>=r2 ^s1\n"
    " br.lt r2, r1, l\n sync\n halt\n"
    ".engine act\n ld r1, n\n mov r2, 0\n nop ^s2\nl:\n add r2, r2, 1\n"
    " dma q1, y{4*16}[4*4], b[4*4] ?s1>=r2 ^s2\n"
    " br.lt r2, r1, l\n sync\n halt\n";

/* In order, one after the other, inside the window, nothing past a barrier. */
static void check_rules(const struct log *l, const struct nsr_kernel *k) {
  uint32_t issued[NSR_MAX_CHANNELS] = {0}, retired[NSR_MAX_CHANNELS] = {0};
  int halted = 0;
  for (size_t i = 0; i < l->n; i++) {
    const struct event *e = &l->v[i];
    if (e->kind == ISSUE)
      assert_int_equal(e->ordinal, ++issued[e->channel]);
    if (e->kind == RETIRE)
      assert_int_equal(e->ordinal, ++retired[e->channel]);
    if (e->kind == READ)
      assert_true(e->ordinal <= issued[e->channel] &&
                  e->ordinal > retired[e->channel]);
    halted += e->kind == HALT;
    for (int ch = 0; ch < nsr_nchannels(k); ch++) {
      uint32_t limit = ch < k->isa->nengines ? l->run->machine.pipe_window[ch]
                                             : l->run->machine.queue_depth;
      assert_true(issued[ch] - retired[ch] <= limit);
      if (e->kind == BARRIER)
        assert_int_equal(issued[ch], retired[ch]);
    }
  }
  assert_int_equal(halted, k->nstreams);
}

static uint64_t memory_digest(const struct opaque_run *r) {
  uint64_t h = 0;
  for (uint32_t a = 0; a < nsr_atoms_count(r->atoms); a++)
    h = h * 31 + r->memory->token[a];
  return h;
}

static void test_rules(void **state) {
  (void)state;
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_kernel *k = kernel_of(ctx, ordered_text);
  uint64_t first = 0;
  for (int kind = 0; kind < NSR_POLICIES; kind++)
    for (int e = 0; e < k->isa->nengines; e++) {
      if (!nsr_kernel_stream(k, e))
        continue;
      struct opaque_run r;
      static struct log l;
      run(&l, &r, ctx, k, (enum nsr_policy_kind)kind, (uint32_t)e);
      check_rules(&l, k);
      if (!first)
        first = memory_digest(&r);
      assert_int_equal(memory_digest(&r), first);
      opaque_done(&r);
    }
  nsr_ctx_free(ctx);
}

/* A full queue blocks its engine until the oldest transfer has retired. */
static void test_full_queue(void **state) {
  (void)state;
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_kernel *k =
      kernel_of(ctx, ".isa tile64\n.kernel \"t\"\n.queue q0 sp\n"
                     ".engine sp\n.repeat 70\n qnop q0\n.end\n halt\n");
  int q0 = names_of(k).q0;
  struct opaque_run r;
  struct log l;
  run(&l, &r, ctx, k, NSR_LATE_QUEUES, 0);
  uint32_t depth = r.machine.queue_depth;
  assert_true(depth < 70);
  assert_true(at(&l, ISSUE, q0, depth) < at(&l, RETIRE, q0, 1));
  assert_true(at(&l, ISSUE, q0, depth + 1) > at(&l, RETIRE, q0, 1));
  opaque_done(&r);
  nsr_ctx_free(ctx);
}

/* A register load stalls its engine, not its queues. */
static void test_load_stalls(void **state) {
  (void)state;
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_kernel *k =
      kernel_of(ctx, ".isa tile64\n.kernel \"t\"\n.queue q0 sp\n"
                     ".tensor n dram i32 [1] at 0 input words 4\n"
                     ".engine sp\n qnop q0\n nop\n ld r1, n\n nop\n halt\n");
  struct names n = names_of(k);
  struct opaque_run r;
  struct log l;
  run(&l, &r, ctx, k, NSR_LATE_QUEUES, 0);
  assert_true(at(&l, ISSUE, n.sp, 3) > at(&l, RETIRE, n.sp, 2));
  assert_true(at(&l, RETIRE, n.q0, 1) > at(&l, ISSUE, n.sp, 3));
  opaque_done(&r);
  nsr_ctx_free(ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_held_back),   cmocka_unit_test(test_ahead),
      cmocka_unit_test(test_late),        cmocka_unit_test(test_reverse),
      cmocka_unit_test(test_psum_order),  cmocka_unit_test(test_random),
      cmocka_unit_test(test_rules),       cmocka_unit_test(test_full_queue),
      cmocka_unit_test(test_load_stalls),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
