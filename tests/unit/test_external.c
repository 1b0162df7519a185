/* What others do, given as events: waits for them block, their accesses are
 * ordered through semaphores of others alone, and what goes wrong names the
 * event. */
#include "judge_case.h"

#include "prng.h"

struct external_case {
  const char *name;
  enum nsr_verdict verdict;
  enum nsr_fault_kind fault;
  const char *says; /* part of the text or notes, NULL: any */
  const char *events;
  const char *a, *b; /* b NULL: a against itself */
};

static const struct nsr_external *
events_of(struct nsr_ctx *ctx, const struct nsr_kernel *k, const char *text) {
  struct nsr_external *x = NULL;
  char line[500];
  if (nsr_external_parse(ctx, k, "k.ev", text, strlen(text), &x) != NSR_OK)
    fail_msg("%s\n%s", first_error(ctx, line, sizeof line), text);
  return x;
}

static void judge_external(struct nsr_ctx *ctx, const struct external_case *c,
                           struct nsr_judge_options options,
                           struct nsr_judgement *j) {
  char line[500];
  struct nsr_kernel *a = kernel_of(ctx, c->a);
  struct nsr_kernel *b = c->b ? kernel_of(ctx, c->b) : a;
  options.external = c->events ? events_of(ctx, a, c->events) : NULL;
  if (nsr_cosimulate(ctx, a, b, &options, j) != NSR_OK)
    fail_msg("%s: %s", c->name, first_error(ctx, line, sizeof line));
}

/* In one schedule, and in many: early and late events alike. */
static void check(const struct external_case *c) {
  for (int every = 0; every < 2; every++) {
    struct nsr_ctx *ctx = nsr_ctx_new();
    struct nsr_judgement j;
    judge_external(
        ctx, c,
        (struct nsr_judge_options){.every_schedule = every, .schedules = 16},
        &j);
    if (j.verdict != c->verdict || j.fault != c->fault ||
        (c->says && !strstr(j.text, c->says) && !strstr(j.notes, c->says)))
      fail_msg("%s: %s, %s; wanted %s, %s\n%s\n%s", c->name,
               nsr_verdict_name(j.verdict), nsr_fault_name(j.fault),
               nsr_verdict_name(c->verdict), nsr_fault_name(c->fault), j.text,
               j.notes);
    nsr_ctx_free(ctx);
  }
}

#define CHECK(cases)                                                           \
  for (size_t i_ = 0; i_ < sizeof(cases) / sizeof *(cases); i_++)              \
  check(&(cases)[i_])

#define HEAD                                                                   \
  ".isa tile64\n.kernel \"t\"\n.queue q0 sp\n.queue q1 act\n"                  \
  ".tensor n dram i32 [1] at 0 input range 0 4\n"                              \
  ".tensor x dram f32 [4, 4] at 0x100 input\n"                                 \
  ".tensor y dram f32 [4, 4] at 0x200 output\n"                                \
  ".tensor z dram i32 [4] at 0x300 scratch range 0 7\n"                        \
  ".tensor t sbuf f32 [4, 4] at 0:4, 0 scratch\n"                              \
  ".tensor u sbuf f32 [4, 4] at 0:4, 64 scratch\n"
#define END " sync 9\n halt\n"
#define SP(body) ".engine sp\n" body END
#define ACT(body) ".engine act\n" body END
#define DVE(body) ".engine dve\n" body END
#define POOL(body) ".engine pool\n" body END
#define LOAD " dma q0, t[4*4], x{4*16}[4*4]"
#define STORE " dma q0, y{4*16}[4*4], t[4*4]"

#define FINE NSR_EQUAL, NSR_FAULT_NONE
#define OPEN NSR_UNDECIDED, NSR_FAULT_NONE
#define BROKEN(kind) NSR_INPUT_BROKEN, NSR_FAULT_##kind
#define REFUTED(kind) NSR_REFUTED, NSR_FAULT_##kind

/* ---- waits and orders */

#define READS_X HEAD SP(" wait ?s200>=1\n" LOAD "\n")
#define WRITES_Y HEAD SP(STORE " ^s1\n nop ?s1>=1 ^s201\n")

static const struct external_case waits[] = {
    {"what the event wrote, behind it", FINE, "others do what k.ev says",
     "fill: write x ^s200\n", READS_X, NULL},
    {"not behind it", BROKEN(RACE), "a race with an external event: dram",
     "fill: write x ^s200\n", HEAD SP(LOAD "\n wait ?s200>=1\n"), NULL},
    {"names the event", BROKEN(RACE), "event fill (k.ev:1)",
     "fill: write x ^s200\n", HEAD SP(LOAD "\n wait ?s200>=1\n"), NULL},
    {"only in the second kernel", REFUTED(RACE), "external event",
     "fill: write x ^s200\n", READS_X, HEAD SP(LOAD "\n wait ?s200>=1\n")},
    {"the wrong semaphore", BROKEN(RACE), NULL,
     "fill: write x ^s200\nother: ^s203\n",
     HEAD SP(" wait ?s203>=1\n" LOAD "\n"), NULL},
    {"other bytes", FINE, NULL, "write n ^s200\n",
     HEAD SP(LOAD "\n wait ?s200>=1\n"), NULL},
    {"some of the bytes", BROKEN(RACE), NULL, "write x+60:4 ^s200\n",
     HEAD SP(LOAD "\n wait ?s200>=1\n"), NULL},
    {"by address", BROKEN(RACE), NULL, "write dram+0x13f:1 ^s200\n",
     HEAD SP(LOAD "\n wait ?s200>=1\n"), NULL},
    {"nothing to wait for", BROKEN(RACE), NULL, "write x\n", HEAD SP(LOAD "\n"),
     NULL},
    {"read behind the kernel's update", FINE, NULL, "?s201>=1 read y\n",
     WRITES_Y, NULL},
    {"the update comes too early", BROKEN(RACE), "external event",
     "?s201>=1 read y\n", HEAD SP(STORE " ^s1\n nop ^s201\n"), NULL},
    {"in the second kernel", REFUTED(RACE), NULL, "?s201>=1 read y\n", WRITES_Y,
     HEAD SP(STORE " ^s1\n nop ^s201\n")},
    {"reads do not conflict", FINE, NULL, "read x\n", HEAD SP(LOAD "\n"), NULL},
    {"there and back", FINE, NULL, "?s201>=1 read y write x ^s200\n",
     HEAD SP(STORE " ^s1\n nop ?s1>=1 ^s201\n" LOAD " ?s200>=1 ^s1\n"), NULL},
    {"and another engine behind it", FINE, NULL,
     "?s201>=1 read y write x ^s200\n",
     HEAD SP(STORE " ^s1\n nop ?s1>=1 ^s201\n")
         ACT(" dma q1, u[4*4], x{4*16}[4*4] ?s200>=1 ^s2\n"
             " copy t[4*4], u[4*4] ?s2>=1\n"),
     NULL},
    {"a kernel's own update of it too", FINE, NULL, "write n\n",
     HEAD SP(LOAD " ^s200\n") ACT(" copy u[4*4], t[4*4] ?s200>=1\n"), NULL},
    {"two events at once", BROKEN(RACE), "k.ev:2", "write x ^s200\nwrite x\n",
     HEAD SP(" nop\n"), NULL},
    {"one behind the other", FINE, NULL, "write x\nthen write x ^s200\n",
     READS_X, NULL},
    {"one behind the other by a semaphore", FINE, NULL,
     "write x ^s202\n?s202>=1 write x ^s200\n", READS_X, NULL},
    {"a barrier does not wait for others", BROKEN(RACE), NULL, "write x\n",
     HEAD SP(" sync 1\n" LOAD "\n") ACT(" sync 1\n"), NULL},
    {"but tells the others what one knows", FINE, NULL, "write x ^s200\n",
     HEAD SP(" sync 1\n" LOAD "\n") ACT(" wait ?s200>=1\n sync 1\n"), NULL},
};

/* ---- hangs */

static const struct external_case hangs[] = {
    {"nobody updates it", BROKEN(HANG), "no further event of k.ev updates it",
     "write x\n", HEAD SP(" wait ?s200>=1\n"), NULL},
    {"too few", BROKEN(HANG), "adds the last of 1 is missing", "^s200\n",
     HEAD SP(" wait ?s200>=2\n"), NULL},
    {"an event that waits as well", BROKEN(HANG),
     "did not happen: event late (k.ev:1) waits for semaphore 201 >= 2, it is "
     "1",
     "late: ?s201>=2 ^s200\n", HEAD SP(" nop ^s201\n wait ?s200>=1\n"), NULL},
    {"behind one that waits", BROKEN(HANG), "behind event (k.ev:1) waits for",
     "?s201>=1 ^s202\nlate: then ^s200\n", HEAD SP(" wait ?s200>=1\n"), NULL},
    {"C7: the update moved behind the wait for the answer", REFUTED(HANG),
     "did not happen: event", "?s201>=1 ^s200\n",
     HEAD SP(" nop ^s201\n wait ?s200>=1\n"),
     HEAD SP(" wait ?s200>=1\n nop ^s201\n")},
    {"C7: an engine more between question and answer", REFUTED(HANG), NULL,
     "?s201>=1 ^s200\n",
     HEAD SP(" nop ^s201\n nop ?s1>=1\n") ACT(" wait ?s200>=1\n nop ^s1\n"),
     HEAD SP(" nop ?s1>=1 ^s201\n nop\n") ACT(" wait ?s200>=1\n nop ^s1\n")},
    {"others who do not wait for it", FINE, NULL, "^s200\n",
     HEAD SP(" nop ^s201\n nop ?s1>=1\n") ACT(" wait ?s200>=1\n nop ^s1\n"),
     HEAD SP(" nop ?s1>=1 ^s201\n nop\n") ACT(" wait ?s200>=1\n nop ^s1\n")},
    {"an equality that never comes", BROKEN(HANG), NULL, "^s200+=2\n",
     HEAD SP(" wait ?s200==1\n"), NULL},
    {"overflow", BROKEN(MACHINE), "in the event of k.ev:1",
     "^s200=0x7fffffff ^s200\n", HEAD SP(" nop\n"), NULL},
};

/* ---- counts, core barriers, values */

#define LOOP(body)                                                             \
  HEAD SP(" ld r1, n\n mov r2, 0\n mov r3, 1\nl:\n br.ge r2, r1, d\n" body     \
          " add r2, r2, 1\n add r3, r3, 1\n br l\nd:\n")

static const struct external_case counts[] = {
    {"updates of one sequence count", FINE, NULL,
     "write x:16 ^s200\nthen write x+16:16 ^s200\n",
     HEAD SP(" wait ?s200>=2\n" LOAD "\n"), NULL},
    {"only so many", BROKEN(RACE), NULL,
     "write x:16 ^s200\nthen write x+16:16 ^s200\n",
     HEAD SP(" wait ?s200>=1\n" LOAD "\n"), NULL},
    {"in no order: whose update was it?", OPEN, "updated by several channels",
     "write x:16 ^s200\nwrite x+16:16 ^s200\n",
     HEAD SP(" wait ?s200>=2\n" LOAD "\n"), NULL},
    {"semaphores set to more", FINE, NULL, "write x ^s200=7\n",
     HEAD SP(" wait ?s200>6\n" LOAD "\n"), NULL},
    {"a hand-over in a loop", FINE, NULL,
     ".repeat 5, i\nthen_\\i: ?s201>=i ?s202>=i write x ^s202 ^s200\n.end\n",
     LOOP(" wait ?s200>=r3\n" LOAD " ^s1\n add r4, r2, 1\n"
          " nop ?s1>=r4 ^s201\n"),
     NULL},
    {"handed back too early", BROKEN(RACE), NULL,
     "write x ^s200\n.repeat 5, i\nthen ?s201>=i+1 write x ^s200\n.end\n",
     LOOP(" wait ?s200>=r3\n" LOAD " ^s1\n nop ^s201\n"), NULL},
    {"for one iteration only", BROKEN(HANG), "no further event",
     "write x ^s200\n",
     LOOP(" wait ?s200>=r3\n" LOAD " ^s1\n add r4, r2, 1\n nop ?s1>=r4\n"),
     NULL},
    {"core barriers tell others", FINE, NULL, "?cbar>=2 write x\n",
     HEAD SP(LOAD " ^s1\n cbar\n nop ?s1>=1\n cbar\n"), NULL},
    {"one too early", BROKEN(RACE), NULL, "?cbar>=1 write x\n",
     HEAD SP(LOAD " ^s1\n cbar\n nop ?s1>=1\n cbar\n"), NULL},
    {"core barriers in no order", OPEN, "count of core barriers",
     "?cbar>=2 write n\n", HEAD SP(" cbar\n") ACT(" cbar\n"), NULL},
    {"never", FINE, "event (k.ev:1) never happened", "?cbar>=2 write n\n",
     HEAD SP(" cbar\n"), NULL},
    {"a word for control", FINE, NULL, "write n = 3 ^s200\n",
     HEAD SP(" wait ?s200>=1\n ld r1, n\n br.eq r1, 3, k\n rem r1, r1, 0\n"
             "k:\n"),
     NULL},
    {"a word of the declared range", FINE, NULL, "write n ^s200\n",
     HEAD SP(" wait ?s200>=1\n ld r1, n\n br.le r1, 4, k\n rem r1, r1, 0\n"
             "k:\n"),
     NULL},
    {"words of any register", BROKEN(MACHINE), NULL,
     "write z = 0, 1, 1+1, 3 ^s200\n",
     HEAD SP(" wait ?s200>=1\n ld r1, z+8\n br.ne r1, 2, k\n rem r1, r1, 0\n"
             "k:\n"),
     NULL},
    {"among accesses to some bytes only, ordered", FINE, NULL,
     "write x ^s200\n?s201>=1 read y\n",
     HEAD SP(" wait ?s200>=1\n" LOAD " ^s2\n" STORE " ?s2>=1 ^s2\n"
             " nop ?s2>=2 ^s201\n")
         POOL(" iota u[4*4]:i32 base=0 pmul=0 step0=1 step1=0 step2=0 ?s2>=1 "
              "^s1\n"
              " gather u[4*4], t[4*4], u[4*4]:i32 ?s1>=1\n") DVE(" nop\n"),
     NULL},
    {"among accesses to some bytes only", BROKEN(RACE), "external event",
     "write x ^s200\n",
     HEAD SP(LOAD "\n")
         POOL(" iota u[4*4]:i32 base=0 pmul=0 step0=1 step1=0 step2=0 ^s1\n"
              " gather t[4*4], t[4*4], u[4*4]:i32 ?s1>=1\n"),
     NULL},
};

/* ---- when */

struct moments { /* instructions issued before each event */
  const struct nsr_sim *sim;
  uint64_t before[4];
  uint32_t n;
};

static bool on_external(void *self, uint32_t index) {
  struct moments *m = self;
  assert_true(index < 4 && m->n < 4);
  m->before[m->n++] = m->sim->executed;
  return true;
}

/* One run of a kernel of six instructions, in four of which event 1 may
 * happen. */
static struct moments run(enum nsr_policy_kind kind, uint64_t seed) {
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct opaque_run r = {.ctx = ctx};
  struct moments m = {0};
  const struct nsr_observer o = {.self = &m, .external = on_external};
  const struct nsr_kernel *k =
      kernel_of(ctx, HEAD SP(" nop ^s201\n nop\n nop\n nop\n"));
  const struct nsr_external *x = events_of(ctx, k, "read n\n?s201>=1 read x\n");
  assert_int_equal(nsr_machine_find(ctx, k->isa, "v2", &r.machine), NSR_OK);
  assert_int_equal(nsr_image_new(ctx, NSR_KEEP, k, &r.image), NSR_OK);
  r.atoms = nsr_atoms_new(ctx, k->isa);
  assert_non_null(r.atoms);
  assert_int_equal(nsr_opaque_external_cuts(r.atoms, x), NSR_OK);
  assert_int_equal(nsr_atoms_commit(r.atoms), NSR_OK);
  assert_int_equal(
      nsr_opaque_new(ctx, NSR_KEEP, r.image, r.atoms, NULL, 0, &r.memory),
      NSR_OK);
  nsr_policy_init(&r.policy, kind, (uint32_t)nsr_isa_engine(k->isa, "sp"),
                  seed);
  const struct nsr_sim_options options = {.image = r.image,
                                          .machine = &r.machine,
                                          .memory = &r.memory->memory,
                                          .policy = &r.policy,
                                          .observer = &o,
                                          .external = x,
                                          .budget = 1000};
  assert_int_equal(nsr_sim_new(ctx, NSR_KEEP, &options, &r.sim), NSR_OK);
  m.sim = r.sim;
  assert_int_equal(nsr_sim_run(r.sim), NSR_OK);
  assert_int_equal(r.sim->end, NSR_DONE);
  assert_int_equal(m.n, 2);
  nsr_atoms_free(r.atoms);
  nsr_ctx_free(ctx);
  return m;
}

static void test_moments(void **state) {
  (void)state;
  struct moments early = run(NSR_ROUND_ROBIN, 0);
  struct moments late = run(NSR_LATE_QUEUES, 0);
  assert_int_equal(early.before[0], 0);
  assert_in_range(early.before[1], 1, 5);
  assert_int_equal(late.before[0], 6); /* the kernel has ended */
  assert_int_equal(late.before[1], 6);
  uint32_t seen = 0;
  for (uint64_t seed = 0; seed < 300; seed++)
    seen |= UINT32_C(1) << run(NSR_RANDOM, seed).before[0];
  assert_int_equal(seen & 0x4f, 0x4f); /* before, between, behind them all */
}

static void test_no_memory(void **state) {
  (void)state;
  for (uint64_t n = 1; n < 400; n += n < 60 ? 1 : 13) {
    struct nsr_ctx *ctx = nsr_ctx_new();
    struct nsr_judgement j;
    struct nsr_kernel *k = kernel_of(ctx, READS_X);
    const struct nsr_judge_options options = {
        .external = events_of(ctx, k, "write x ^s200\n")};
    nsr_ctx_fail_alloc(ctx, n);
    enum nsr_status status = nsr_cosimulate(ctx, k, k, &options, &j);
    assert_true(status == NSR_OK || status == NSR_E_NOMEM);
    nsr_ctx_free(ctx);
  }
}

/* ---- orders that others depend on: with events, and without any */

static const struct external_case orders[] = {
    /* the wait for others moves behind the access that it guards */
    {"ld, a wait of its own", REFUTED(RACE), NULL, NULL,
     HEAD SP(" wait ?s200>=1\n ld r1, n\n"),
     HEAD SP(" ld r1, n\n wait ?s200>=1\n")},
    {"st, a wait of its own", REFUTED(RACE), NULL, NULL,
     HEAD SP(" mov r1, 1\n wait ?s200>=1\n st z, r1\n"),
     HEAD SP(" mov r1, 1\n st z, r1\n wait ?s200>=1\n")},
    {"dma, a wait of its own", REFUTED(RACE), NULL, NULL, READS_X,
     HEAD SP(LOAD "\n wait ?s200>=1\n")},
    {"dma, a no-op that waits", REFUTED(RACE), NULL, NULL,
     HEAD SP(" nop ?s200>=1\n" LOAD "\n"), HEAD SP(LOAD "\n nop ?s200>=1\n")},
    {"ld, on a dma before it", REFUTED(RACE), NULL, NULL,
     HEAD SP(LOAD " ?s200>=1\n ld r1, n\n"),
     HEAD SP(" ld r1, n\n" LOAD " ?s200>=1\n")},
    {"ld, its own wait", REFUTED(TRACE), NULL, NULL,
     HEAD SP(" ld r1, n ?s200>=1\n"), HEAD SP(" ld r1, n\n wait ?s200>=1\n")},
    {"dma, its own wait", REFUTED(TRACE), NULL, NULL,
     HEAD SP(LOAD " ?s200>=1\n"), HEAD SP(LOAD "\n wait ?s200>=1\n")},
    {"another engine's access", REFUTED(RACE), NULL, NULL,
     HEAD SP(" nop ?s200>=1 ^s1\n") ACT(" ld r1, n ?s1>=1\n"),
     HEAD SP(" nop ?s200>=1 ^s1\n") ACT(" ld r1, n\n nop ?s1>=1\n")},
    /* the update for others moves in front of the access */
    {"st, another engine's update", REFUTED(RACE), NULL, NULL,
     HEAD SP(" mov r1, 1\n st z, r1 ^s1\n") ACT(" nop ?s1>=1 ^s201\n"),
     HEAD SP(" mov r1, 1\n st z, r1 ^s1\n") ACT(" nop ^s201\n nop ?s1>=1\n")},
    {"st, its own pipeline's update", REFUTED(TRACE), NULL, NULL,
     HEAD SP(" mov r1, 1\n st z, r1\n nop ^s201\n"),
     HEAD SP(" mov r1, 1\n nop ^s201\n st z, r1\n")},
    {"dma, the pipeline's update", REFUTED(RACE), NULL, NULL, WRITES_Y,
     HEAD SP(STORE " ^s1\n nop ^s201\n nop ?s1>=1\n")},
    {"dma, the update on the access", REFUTED(TRACE), NULL, NULL,
     HEAD SP(STORE " ^s201\n"), HEAD SP(" nop ^s201\n" STORE "\n")},
    {"dma, the update on a later one", REFUTED(RACE), NULL, NULL,
     HEAD SP(STORE " ^s1\n")
         ACT(" dma q1, u[4*4], x{4*16}[4*4] ?s1>=1 ^s201\n"),
     HEAD SP(STORE " ^s1\n") ACT(" dma q1, u[4*4], x{4*16}[4*4] ^s201\n"
                                 " wait ?s1>=1\n")},
    {"ld before an update", REFUTED(RACE), NULL, NULL,
     HEAD SP(" ld r1, n\n") ACT(" ld r1, n ^s1\n") DVE(" nop ?s1>=1 ^s201\n"),
     HEAD SP(" ld r1, n\n") ACT(" ld r1, n ^s1\n") DVE(" nop ^s201\n")},
    /* what is on chip is not theirs */
    {"on chip nothing is guarded", FINE, NULL, NULL,
     HEAD SP(" wait ?s200>=1\n nop\n") DVE(" memset u[4*4] value=1\n"),
     HEAD SP(" nop\n wait ?s200>=1\n") DVE(" memset u[4*4] value=1\n")},
    {"unknown effects are guarded", REFUTED(RACE), NULL, NULL,
     HEAD POOL(" wait ?s200>=1\n custom code=1\n"),
     HEAD POOL(" custom code=1\n wait ?s200>=1\n")},
    {"and seen", REFUTED(RACE), NULL, NULL,
     HEAD POOL(" custom code=1 ^s1\n") SP(" nop ?s1>=1 ^s201\n"),
     HEAD POOL(" custom code=1 ^s1\n") SP(" nop ^s201\n nop ?s1>=1\n")},
};

static void test_orders(void **state) {
  static const char *const events[] = {NULL, "^s200\n?s201>=1 ^s203\n",
                                       "write dram+0x1000:4 ^s200\n"};
  (void)state;
  for (size_t e = 0; e < sizeof events / sizeof *events; e++)
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
      struct external_case c = orders[i];
      c.events = events[e];
      check(&c);
      c.b = NULL; /* as it was, it is right */
      c.verdict = NSR_EQUAL;
      c.fault = NSR_FAULT_NONE;
      check(&c);
    }
}

static void test_waits(void **state) {
  (void)state;
  CHECK(waits);
}

static void test_hangs(void **state) {
  (void)state;
  CHECK(hangs);
}

static void test_counts(void **state) {
  (void)state;
  CHECK(counts);
}

/* ---- text */

static const char sample[] =
    "; a comment\n.const N 2\n.macro FILL s\nwrite x ^\\s\n.end\n"
    "\"a name\": ?s201>=N*2-1 ?cbar>1 read y+4:8 ^s202+=3 ^s203--\n"
    "FILL s200\nb: then write z = 1, -2, token_ ^s204=5 # more\n"
    ".const token_ 4\n.repeat 2, i\nthen write dram+0x1000+i*4:4 = 1,2,3,4\n"
    ".end\n\n";

static void test_text(void **state) {
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_kernel *k = kernel_of(ctx, HEAD SP(" nop\n"));
  char text[sizeof sample];
  (void)state;
  memcpy(text, sample, sizeof sample);
  char *late = strstr(text, "token_ ^");
  memcpy(late, "N+2   ", 6);
  const struct nsr_external *x = events_of(ctx, k, text);
  assert_int_equal(x->nevents, 5);
  assert_int_equal(x->nsequences, 2);
  const struct nsr_external_event *e = x->events;
  assert_string_equal(e[0].name, "a name");
  assert_int_equal(e[0].line, 6);
  assert_int_equal(e[0].nwaits, 2);
  assert_int_equal(e[0].waits[0].need, 3);
  assert_true(e[0].waits[1].cores);
  assert_int_equal(e[0].waits[1].need, 2);
  assert_int_equal(e[0].accesses[0].begin, 0x204);
  assert_int_equal(e[0].accesses[0].end, 0x20c);
  assert_int_equal(e[0].updates[0].value, 3);
  assert_int_equal(e[0].updates[1].op, NSR_UPD_DEC);
  assert_null(e[1].name);
  assert_int_equal(e[1].line, 7);
  assert_int_equal(e[2].sequence, 1);
  assert_int_equal(e[2].ordinal, 2);
  static const uint8_t words[] = {1, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff, 4};
  assert_memory_equal(e[2].accesses[0].data, words, sizeof words);
  assert_int_equal(e[2].accesses[0].end, 0x30c);
  assert_int_equal(e[4].accesses[0].begin, 0x1004);
  assert_int_equal(e[4].ordinal, 4);
  nsr_ctx_free(ctx);
}

/* Neither damaged text nor missing memory does more than fail. */
static void test_damage(void **state) {
  struct prng r = prng_seed("damage", 1);
  (void)state;
  for (int i = 0; i < 3000; i++) {
    struct nsr_ctx *ctx = nsr_ctx_new();
    struct nsr_kernel *k = kernel_of(ctx, HEAD SP(" nop\n"));
    struct nsr_external *x;
    char text[sizeof sample];
    memcpy(text, sample, sizeof sample);
    for (int64_t n = prng_in(&r, 0, 4); n > 0; n--)
      text[prng_in(&r, 0, sizeof sample - 2)] =
          prng_in(&r, 0, 1) ? sample[prng_in(&r, 0, sizeof sample - 2)]
                            : (char)prng_in(&r, 0, 127);
    if (i % 3 == 0)
      nsr_ctx_fail_alloc(ctx, (uint64_t)prng_in(&r, 1, 60));
    enum nsr_status status =
        nsr_external_parse(ctx, k, "k.ev", text, sizeof sample - 1, &x);
    if (status != NSR_OK && status != NSR_E_SYNTAX && status != NSR_E_NOMEM)
      fail_msg("status %d\n%s", status, text);
    if (status != NSR_OK)
      assert_non_null(nsr_ctx_first_error(ctx));
    nsr_ctx_free(ctx);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_waits),   cmocka_unit_test(test_hangs),
      cmocka_unit_test(test_counts),  cmocka_unit_test(test_orders),
      cmocka_unit_test(test_moments), cmocka_unit_test(test_no_memory),
      cmocka_unit_test(test_text),    cmocka_unit_test(test_damage)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
