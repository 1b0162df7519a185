/* All orders: one kernel for everything that can be wrong, reduced and not;
 * orders and outcomes by count; the specification machine; garbage. */
#include "judge_case.h"
#include "prng.h"

#include <nsr/explore.h>

#include "base/arena.h"

#define HEAD                                                                   \
  ".isa tile64\n.kernel \"t\"\n.queue q0 sp\n.queue q1 act\n"                  \
  ".tensor n dram i32 [2] at 0 input range 0 3 words 1, 1\n"                   \
  ".tensor d dram i32 [8] at 64 output\n"                                      \
  ".tensor o dram i32 [1] at 128 input\n"                                      \
  ".tensor x sbuf i32 [1, 4] at 0:1, 0 scratch\n"                              \
  ".tensor y sbuf i32 [1, 4] at 0:1, 16 scratch\n"                             \
  ".tensor z sbuf i32 [1, 4] at 0:1, 32 scratch\n"                             \
  ".tensor u sbuf i32 [1, 4] at 0:1, 48 scratch\n"
#define END " sync 9\n halt\n"
#define ACT(body) ".engine act\n" body END
#define DVE(body) ".engine dve\n" body END
#define SP(body) ".engine sp\n" body END
#define SET(t) " memset " t "[4*4] value=1"
#define COPY(a, b) " copy " a "[4*4], " b "[4*4]"

static const struct judge_case cases[] = {
    {"equal", NSR_EQUAL, NSR_FAULT_NONE, NULL,
     HEAD ACT(SET("x") " ^s0\n") DVE(COPY("y", "x") " ?s0>=1\n"), NULL},
    {"read too early", NSR_INPUT_BROKEN, NSR_FAULT_RACE, "is in flight",
     HEAD ACT(SET("x") " ^s0\n") DVE(COPY("y", "x") "\n"), NULL},
    {"written twice", NSR_INPUT_BROKEN, NSR_FAULT_RACE, "no. 1 of q",
     HEAD ACT(" dma q1, x[4*4], d[4*4] ^s0\n")
         SP(" dma q0, x[4*4], d[4*4] ^s1\n"),
     NULL},
    {"its own queue", NSR_INPUT_BROKEN, NSR_FAULT_RACE, NULL,
     HEAD ACT(SET("x") " ^s0\n dma q1, d[4*4], x[4*4]\n"), NULL},
    {"its own queue, waited for", NSR_EQUAL, NSR_FAULT_NONE, NULL,
     HEAD ACT(SET("x") " ^s0\n dma q1, d[4*4], x[4*4] ?s0>=1\n"), NULL},
    {"a load drains its pipeline", NSR_EQUAL, NSR_FAULT_NONE, NULL,
     HEAD ACT(COPY("y", "x") "\n ld r1, n\n" SET("x") "\n"), NULL},
    {"and no queue", NSR_INPUT_BROKEN, NSR_FAULT_RACE, NULL,
     HEAD ACT(" dma q1, d[4*4], x[4*4]\n ld r1, n\n" SET("x") "\n"), NULL},
    {"each waits for the other", NSR_INPUT_BROKEN, NSR_FAULT_HANG,
     "waits for s1 >= 1, which is 0",
     HEAD ACT(" nop ?s1>=1 ^s0\n") DVE(" nop ?s0>=1 ^s1\n"), NULL},
    {"so does the other one", NSR_INPUT_BROKEN, NSR_FAULT_HANG,
     "the second kernel hangs as well",
     HEAD ACT(" nop ?s1>=1 ^s0\n") DVE(" nop ?s0>=1 ^s1\n"),
     HEAD ACT(" nop ?s1>=1 ^s0\n") DVE(" nop ?s0>=1 ^s1\n")},
    {"the other one does not", NSR_INPUT_BROKEN, NSR_FAULT_HANG,
     "the second kernel does not hang",
     HEAD ACT(" nop ?s1>=1 ^s0\n") DVE(" nop ?s0>=1 ^s1\n"),
     HEAD ACT("") DVE("")},
    {"a barrier nobody else comes to", NSR_INPUT_BROKEN, NSR_FAULT_HANG,
     "waits at a barrier", HEAD ACT("") ".engine dve\n halt\n", NULL},
    {"other barriers", NSR_INPUT_BROKEN, NSR_FAULT_MACHINE, "barrier",
     HEAD ACT(" sync 4\n") DVE(" sync 5\n"), NULL},
    {"an undefined threshold", NSR_INPUT_BROKEN, NSR_FAULT_MACHINE, "undefined",
     HEAD ACT(" nop ?s0>=r4\n"), NULL},
    {"an undefined branch", NSR_INPUT_BROKEN, NSR_FAULT_MACHINE, "undefined",
     HEAD ACT(" br.eq r1, 0, l\nl:\n"), NULL},
    {"out of its tensor", NSR_INPUT_BROKEN, NSR_FAULT_MACHINE, "tensor",
     HEAD ACT(" mov r1, 16\n memset x+r1[4*4] value=1 ?s0>=0\n"), NULL},
    {"only where it may", NSR_INPUT_BROKEN, NSR_FAULT_HANG, NULL,
     HEAD ACT(" mov r1, 16\n memset x+r1[4*4] value=1 ?s0>=1\n"), NULL},
    {"a semaphore left", NSR_INPUT_BROKEN, NSR_FAULT_LEAK,
     "semaphore 0 is 1 at the end",
     HEAD ".engine act\n nop ^s0\n ld r1, n\n"
          " halt\n",
     NULL},
    {"work left", NSR_INPUT_BROKEN, NSR_FAULT_LEAK, "halts while",
     HEAD ".engine act\n dma q1, d[4*4], x[4*4]\n halt\n", NULL},
    {"a loop without end", NSR_INPUT_BROKEN, NSR_FAULT_HANG, "without end",
     HEAD ACT("l:\n br l\n"), NULL},
    {"no number", NSR_UNDECIDED, NSR_FAULT_NONE, "without a range",
     HEAD ACT(" ld r1, o\n"), NULL},
    {"counts down", NSR_EQUAL, NSR_FAULT_NONE, NULL,
     HEAD ACT(SET("x") " ^s0+=2\n nop ?s0>=2 ^s0--\n")
         DVE(" nop ?s0==1\n" COPY("y", "x") "\n"),
     NULL},
    {"missed", NSR_INPUT_BROKEN, NSR_FAULT_HANG, "waits for s0 == 1",
     HEAD ACT(" nop ^s0\n nop ^s0\n") DVE(" nop ?s0==1\n"), NULL},
    {"another address", NSR_REFUTED, NSR_FAULT_TRACE, "first kernel has",
     HEAD ACT(SET("x") "\n"), HEAD ACT(SET("y") "\n")},
    {"one more", NSR_REFUTED, NSR_FAULT_TRACE, "has nothing",
     HEAD ACT(SET("x") "\n"), HEAD ACT(SET("x") "\n" SET("y") "\n")},
    {"one less", NSR_REFUTED, NSR_FAULT_TRACE, "has nothing",
     HEAD ACT(SET("x") "\n" SET("y") "\n"), HEAD ACT(SET("x") "\n")},
    {"the other order", NSR_REFUTED, NSR_FAULT_READS, "cannot read",
     HEAD ACT(SET("x") " ^s0\n") DVE(COPY("y", "x") " ?s0>=1\n"),
     HEAD ACT(SET("x") " ?s1>=1\n") DVE(COPY("y", "x") " ^s1\n")},
    {"the other last", NSR_REFUTED, NSR_FAULT_MEMORY, "final memory",
     HEAD ACT(SET("x") " ^s0\n") DVE(SET("x") " ?s0>=1\n"),
     HEAD ACT(SET("x") " ?s1>=1\n") DVE(SET("x") " ^s1\n")},
    {"a wait dropped", NSR_REFUTED, NSR_FAULT_RACE, NULL,
     HEAD ACT(SET("x") " ^s0\n") DVE(COPY("y", "x") " ?s0>=1\n"),
     HEAD ACT(SET("x") " ^s0\n") DVE(COPY("y", "x") "\n")},
    {"some bytes, never ordered", NSR_EQUAL, NSR_FAULT_NONE, NULL,
     HEAD DVE(" copyp x[4*4], y[4*4], z[4*4]\n") ACT(COPY("u", "x") "\n"),
     NULL},
    {"some bytes, no longer ordered", NSR_REFUTED, NSR_FAULT_RACE,
     "may come before this",
     HEAD DVE(" copyp x[4*4], y[4*4], z[4*4] ^s0\n")
         ACT(" nop ?s0>=1\n" COPY("u", "x") "\n"),
     HEAD DVE(" copyp x[4*4], y[4*4], z[4*4] ^s0\n") ACT(COPY("u", "x") "\n")},
    {"told others too early", NSR_REFUTED, NSR_FAULT_RACE,
     "may come before this",
     HEAD ACT(" dma q1, d[4*4], x[4*4] ^s0\n nop ?s0>=1 ^s200\n"),
     HEAD ACT(" dma q1, d[4*4], x[4*4] ^s0\n nop ^s200\n")},
    {"awaits more than others know", NSR_REFUTED, NSR_FAULT_HANG,
     "as in the first kernel it does not",
     HEAD ACT(SET("x") " ^s0\n") DVE(" nop ^s200\n"),
     HEAD ACT(SET("x") " ^s0\n") DVE(" nop ?s0>=1 ^s200\n")},
    {"does not wait for others", NSR_REFUTED, NSR_FAULT_RACE, NULL,
     HEAD ACT(" nop ?s200>=1 ^s0\n") SP(" dma q0, x[4*4], d[4*4] ?s0>=1\n"),
     HEAD ACT(" nop ?s200>=1 ^s0\n") SP(" dma q0, x[4*4], d[4*4]\n")},
    {"another shape", NSR_REFUTED, NSR_FAULT_SHAPE, NULL, HEAD ACT(""),
     HEAD DVE("")}};

static void explore_texts(struct nsr_ctx *ctx, const char *a, const char *b,
                          const struct nsr_explore_options *options,
                          struct nsr_exploration *e) {
  char line[500];
  struct nsr_kernel *ka = kernel_of(ctx, a);
  struct nsr_kernel *kb = b ? kernel_of(ctx, b) : ka;
  if (nsr_explore(ctx, ka, kb, options, e) != NSR_OK)
    fail_msg("%s", first_error(ctx, line, sizeof line));
}

static void test_cases(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (int whole = 0; whole < 2; whole++) {
      const struct judge_case *c = &cases[i];
      const struct nsr_explore_options o = {.no_reduce = whole};
      struct nsr_ctx *ctx = nsr_ctx_new();
      struct nsr_exploration e;
      explore_texts(ctx, c->a, c->b, &o, &e);
      const struct nsr_judgement *j = &e.judgement;
      if (j->verdict != c->verdict || j->fault != c->fault ||
          (c->says && !strstr(j->text, c->says)))
        fail_msg("%s%s: %s, %s; wanted %s, %s\n%s", c->name,
                 whole ? ", whole" : "", nsr_verdict_name(j->verdict),
                 nsr_fault_name(j->fault), nsr_verdict_name(c->verdict),
                 nsr_fault_name(c->fault), j->text);
      nsr_ctx_free(ctx);
    }
}

/* ---- states by hand */

/* Instances of different engines, nothing between them: each is not issued,
 * issued, has read, has written or has retired. */
static void test_states(void **state) {
  (void)state;
  static const char one[] = HEAD ACT(SET("x") "\n");
  static const char two[] = HEAD ACT(SET("x") "\n") DVE(SET("y") "\n");
  static const struct {
    const char *text;
    bool whole;
    uint64_t states;
  } table[] = {
      {one, true, 5 + 1},         /* and behind the barrier */
      {two, true, 5 * 5 + 1},     /* each on its own */
      {one, false, 3 + 1},        /* issue, held, retire, barrier */
      {two, false, 2 + 2 * 2 + 1} /* the other one retires beside the held */
  };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    const struct nsr_explore_options o = {.no_reduce = table[i].whole,
                                          .inputs = 1};
    struct nsr_ctx *ctx = nsr_ctx_new();
    struct nsr_exploration e;
    explore_texts(ctx, table[i].text, NULL, &o, &e);
    if (e.states[0] != table[i].states || e.outcomes != 1)
      fail_msg("%zu: %" PRIu64 " states, %" PRIu64 " outcomes", i, e.states[0],
               e.outcomes);
    nsr_ctx_free(ctx);
  }
}

/* What is never ordered and may conflict counts as apart: one outcome. */
static void test_limit(void **state) {
  (void)state;
  const struct nsr_explore_options o = {.no_reduce = true, .states = 25};
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_exploration e;
  explore_texts(ctx, HEAD ACT(SET("x") "\n") DVE(SET("y") "\n"), NULL, &o, &e);
  assert_int_equal(e.judgement.verdict, NSR_UNDECIDED);
  assert_non_null(strstr(e.judgement.text, "more than 25 states"));
  nsr_ctx_free(ctx);
}

/* ---- queues that complete in any order */

static void test_any_order(void **state) {
  (void)state;
  static const struct {
    const char *text;
    enum nsr_verdict in_order, any;
  } table[] = {
      /* the first of two is awaited */
      {HEAD SP(" dma q0, x[4*4], d[4*4] ^s0\n dma q0, y[4*4], d[4*4] ^s0\n")
           DVE(SET("x") " ?s0>=1\n"),
       NSR_EQUAL, NSR_INPUT_BROKEN},
      /* both are */
      {HEAD SP(" dma q0, x[4*4], d[4*4] ^s0\n dma q0, y[4*4], d[4*4] ^s0\n")
           DVE(SET("x") " ?s0>=2\n"),
       NSR_EQUAL, NSR_EQUAL},
      /* one at a time */
      {HEAD SP(" dma q0, x[4*4], d[4*4] ^s0\n"
               " dma q0, y[4*4], d[4*4] ?s0>=1 ^s0\n")
           DVE(SET("x") " ?s0>=1\n"),
       NSR_EQUAL, NSR_EQUAL},
      /* a marker behind the transfer tells nothing */
      {HEAD SP(" dma q0, x[4*4], d[4*4]\n qnop q0 ^s0\n")
           DVE(SET("x") " ?s0>=1\n"),
       NSR_EQUAL, NSR_INPUT_BROKEN},
      /* a semaphore each */
      {HEAD SP(" dma q0, x[4*4], d[4*4] ^s0\n dma q0, y[4*4], d[4*4] ^s1\n")
           DVE(SET("x") " ?s0>=1\n"),
       NSR_EQUAL, NSR_EQUAL}};
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    for (int mode = 0; mode < 4; mode++) {
      const struct nsr_explore_options o = {.no_reduce = mode & 1,
                                            .out_of_order = mode / 2};
      struct nsr_ctx *ctx = nsr_ctx_new();
      struct nsr_exploration e;
      explore_texts(ctx, table[i].text, NULL, &o, &e);
      if (e.judgement.verdict != (mode / 2 ? table[i].any : table[i].in_order))
        fail_msg("%zu, mode %d: %s", i, mode, e.judgement.text);
      nsr_ctx_free(ctx);
    }
}

/* ---- the specification machine */

static void test_demands(void **state) {
  (void)state;
  static const struct {
    const char *a, *b;
    uint64_t waits, longer;
  } table[] = {
      /* as asked for */
      {HEAD ACT(SET("x") " ^s0\n") DVE(COPY("y", "x") " ?s0>=1\n"), NULL, 1, 0},
      /* for nothing */
      {HEAD ACT(SET("x") " ^s0\n") DVE(SET("y") "\n"),
       HEAD ACT(SET("x") " ^s0\n") DVE(SET("y") " ?s0>=1\n"), 1, 1},
      /* for the second of two, where the first is meant */
      {HEAD ACT(SET("x") " ^s0\n" SET("z") " ^s0\n")
           DVE(COPY("y", "x") " ?s0>=1\n"),
       HEAD ACT(SET("x") " ^s0\n" SET("z") " ^s0\n")
           DVE(COPY("y", "x") " ?s0>=2\n"),
       1, 1},
      /* by way of a third engine: asked for all the same */
      {HEAD ACT(SET("x") " ^s0\n") DVE(COPY("y", "x") " ?s0>=1 ^s1\n")
           SP(" dma q0, d[4*4], y[4*4] ?s1>=1\n"),
       NULL, 3, 0},
      /* barriers ask for more */
      {HEAD ACT(SET("x") "\n sync 1\n" SET("y") "\n")
           DVE(SET("z") "\n sync 1\n"),
       NULL, 2, 2}};
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    for (int whole = 0; whole < 2; whole++) {
      const struct nsr_explore_options o = {
          .no_reduce = whole, .demands = true, .inputs = 1};
      struct nsr_ctx *ctx = nsr_ctx_new();
      struct nsr_exploration e;
      explore_texts(ctx, table[i].a, table[i].b, &o, &e);
      if (e.demands.waits != table[i].waits ||
          e.demands.longer != table[i].longer || e.demands.inputs != 1)
        fail_msg("%zu: %" PRIu64 " waits, %" PRIu64 " longer: %s\n%s", i,
                 e.demands.waits, e.demands.longer, e.demands.text,
                 e.judgement.text);
      nsr_ctx_free(ctx);
    }
}

/* ---- what the user knows */

static const char races[] = HEAD ACT(SET("x") "\n") DVE(COPY("y", "x") " ^s1\n")
    SP(" dma q0, d[4*4], y[4*4] ?s1>=1\n");
static const char waits[] = HEAD ACT(SET("x") " ^s0\n")
    DVE(COPY("y", "x") " ?s0>=1 ^s1\n") SP(" dma q0, d[4*4], y[4*4] ?s1>=1\n");
static const char twice[] =
    HEAD ACT(SET("x") "\n") DVE(SET("x") "\n" COPY("y", "x") "\n");
static const char loops[] =
    HEAD ACT(" ld r1, n\n br.lt r1, 2, e\n" SET("x") "\ne:\n")
        DVE(COPY("y", "x") "\n");

static const struct fact_case {
  const char *a, *b, *facts;
  enum nsr_verdict verdict;
  enum nsr_fault_kind fault;
  const char *used;
} fact_cases[] = {
    /* what was read is unknown, and what follows from it */
    {races, NULL, "race act[0] dve[0]\n", NSR_EQUAL, NSR_FAULT_NONE, ": used"},
    {races, waits, "race act[0] dve[0]\n", NSR_EQUAL, NSR_FAULT_NONE, ": used"},
    /* a fact about others */
    {races, NULL, "race act[0] sp[0]\n", NSR_INPUT_BROKEN, NSR_FAULT_RACE,
     ": not used"},
    /* what the first kernel orders stays ordered */
    {waits, races, "race act[0] dve[0]\n", NSR_REFUTED, NSR_FAULT_RACE, NULL},
    /* two writers, and a reader of both */
    {twice, NULL, "race act[0] dve[0]\n", NSR_INPUT_BROKEN, NSR_FAULT_RACE,
     NULL},
    {twice, NULL, "race act[0] dve[0]\nrace act[0] dve[1]\n", NSR_INPUT_BROKEN,
     NSR_FAULT_RACE, NULL},
    {twice, NULL,
     "race act[0] dve[0]\nrace act[0] dve[1]\nrace dve[0] dve[1]\n", NSR_EQUAL,
     NSR_FAULT_NONE, ": used"},
    /* inputs that never come */
    {loops, NULL, "", NSR_INPUT_BROKEN, NSR_FAULT_RACE, NULL},
    {loops, NULL, "range n 0 1\n", NSR_EQUAL, NSR_FAULT_NONE, ": used"},
    {loops, NULL, "range n 1 2\n", NSR_INPUT_BROKEN, NSR_FAULT_RACE, NULL}};

static void explore_facts(const struct fact_case *c, bool whole) {
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_explore_options o = {.no_reduce = whole};
  struct nsr_kernel *a = kernel_of(ctx, c->a);
  struct nsr_kernel *b = c->b ? kernel_of(ctx, c->b) : a;
  struct nsr_facts_file *facts;
  struct nsr_exploration e;
  char line[500];
  if (nsr_facts_parse(ctx, a, "f", c->facts, strlen(c->facts), &facts) !=
      NSR_OK)
    fail_msg("%s", first_error(ctx, line, sizeof line));
  o.facts = facts;
  if (nsr_explore(ctx, a, b, &o, &e) != NSR_OK)
    fail_msg("%s", first_error(ctx, line, sizeof line));
  const struct nsr_judgement *j = &e.judgement;
  if (j->verdict != c->verdict || j->fault != c->fault ||
      (c->used && !strstr(j->facts, c->used)))
    fail_msg("%s: %s, %s; wanted %s, %s\n%s\n%s", c->facts,
             nsr_verdict_name(j->verdict), nsr_fault_name(j->fault),
             nsr_verdict_name(c->verdict), nsr_fault_name(c->fault), j->text,
             j->facts);
  nsr_ctx_free(ctx);
}

static void test_facts(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof fact_cases / sizeof *fact_cases; i++)
    for (int whole = 0; whole < 2; whole++)
      explore_facts(&fact_cases[i], whole);
}

/* ---- memory that runs out */

static void test_no_memory(void **state) {
  (void)state;
  const struct nsr_explore_options o = {.demands = true};
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_kernel *a =
      kernel_of(ctx, HEAD ACT(SET("x") " ^s0\n") DVE(SET("x") " ?s0>=1\n"));
  struct nsr_kernel *b =
      kernel_of(ctx, HEAD ACT(SET("x") " ^s0\n") DVE(SET("x") "\n"));
  struct nsr_exploration e;
  enum nsr_status status = NSR_E_NOMEM;
  uint64_t n = 1;
  for (; status == NSR_E_NOMEM && n < 10000; n++) {
    nsr_ctx_fail_alloc(ctx, n);
    status = nsr_explore(ctx, a, b, &o, &e);
  }
  assert_int_equal(status, NSR_OK);
  assert_true(n > 2);
  assert_int_equal(e.judgement.fault, NSR_FAULT_RACE);
  nsr_ctx_free(ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_cases),    cmocka_unit_test(test_states),
      cmocka_unit_test(test_limit),    cmocka_unit_test(test_any_order),
      cmocka_unit_test(test_demands),  cmocka_unit_test(test_facts),
      cmocka_unit_test(test_no_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
