/* Accesses to some of the bytes only, hidden state, accumulation in PSUM,
 * unknown effects, core barriers: in kernels that are decoded and then given
 * them, in all combinations, and in the instructions that have them. */
#include "judge_case.h"

#include "judge/cosim.h"

#define HEAD                                                                   \
  ".isa tile64\n.kernel \"t\"\n.queue q0 sp\n"                                 \
  ".tensor d dram i32 [1] at 0 output\n"                                       \
  ".tensor x sbuf i32 [4, 4] at 0:4, 0 scratch\n"                              \
  ".tensor y sbuf i32 [4, 4] at 0:4, 64 scratch\n"                             \
  ".tensor z sbuf i32 [4, 4] at 0:4, 128 scratch\n"
#define P "psum{0:4}[4*4]:i32"
#define END " sync 9\n halt\n"
#define ACT(body) ".engine act\n" body END
#define DVE(body) ".engine dve\n" body END
#define SET(t) " memset " t "[4*4] value=1"

/* What a memset and the source of a copy become. */
struct twist {
  enum nsr_role write, read;
  bool acc;             /* memsets of PSUM accumulate, but the first */
  enum nsr_role hidden; /* of memsets */
  bool has_hidden;
  bool unknown, external; /* no-ops */
};

static void twist_step(struct nsr_image *im, struct nsr_step *s,
                       const struct twist *t, bool first,
                       struct nsr_insn_desc *desc) {
  struct nsr_access *a = im->accesses + (s->access - im->accesses);
  *desc = *s->desc;
  if (strcmp(desc->mnemonic, "memset") == 0) {
    a[0].op.role = t->write;
    if (t->acc && !first && a[0].op.space == NSR_PSUM) {
      a[0].op.acc = true;
      a[0].op.role = NSR_RW;
    }
    if (t->has_hidden) {
      desc->nhidden = 1;
      desc->hidden[0] = (struct nsr_hidden_desc){"state", t->hidden};
      s->hidden[0] = 0;
      s->flags |= NSR_STEP_ORDERED;
    }
  } else if (strcmp(desc->mnemonic, "copy") == 0) {
    a[1].op.role = t->read;
  } else if (strcmp(desc->mnemonic, "nop") == 0) {
    desc->unknown_effects = t->unknown;
    desc->external = t->external;
    if (t->unknown || t->external)
      s->flags &= (uint8_t)~NSR_STEP_SKIP;
    if (t->external)
      s->flags |= NSR_STEP_FOREIGN_UPDATE;
  }
  for (int i = 0; i < s->naccess; i++)
    im->has_may |= nsr_role_may((enum nsr_role)a[i].op.role);
  s->desc = desc;
}

static struct nsr_image *twisted(struct nsr_ctx *ctx, const char *text,
                                 const struct twist *t) {
  struct nsr_image *im;
  assert_int_equal(nsr_image_new(ctx, NSR_KEEP, kernel_of(ctx, text), &im),
                   NSR_OK);
  for (int e = 0; e < im->nengines; e++) {
    struct nsr_step *steps = (struct nsr_step *)im->streams[e].steps;
    for (uint32_t i = 0; i < im->streams[e].n; i++) {
      struct nsr_insn_desc *desc = nsr_alloc(ctx, NSR_KEEP, sizeof *desc);
      twist_step(im, &steps[i], t, i == 0, desc);
    }
  }
  im->nhidden = t->has_hidden ? 1 : 0;
  im->has_unknown = t->unknown;
  im->has_foreign = t->external;
  return im;
}

struct twist_case {
  const char *name;
  enum nsr_verdict verdict;
  enum nsr_fault_kind fault;
  struct twist twist;
  const char *a, *b;
};

static void check(const struct twist_case *c) {
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_judgement out;
  struct nsr_judge j;
  struct nsr_image *a = twisted(ctx, c->a, &c->twist);
  struct nsr_image *b = c->b ? twisted(ctx, c->b, &c->twist) : a;
  assert_int_equal(nsr_judge_open_images(&j, ctx, a, b, NULL), NSR_OK);
  assert_int_equal(nsr_judge_all(&j, &out), NSR_OK);
  nsr_judge_close(&j);
  if (out.verdict != c->verdict || out.fault != c->fault)
    fail_msg("%s: %s, %s; wanted %s, %s\n%s", c->name,
             nsr_verdict_name(out.verdict), nsr_fault_name(out.fault),
             nsr_verdict_name(c->verdict), nsr_fault_name(c->fault), out.text);
  nsr_ctx_free(ctx);
}

#define CHECK(cases)                                                           \
  for (size_t i_ = 0; i_ < sizeof(cases) / sizeof *(cases); i_++)              \
  check(&(cases)[i_])

#define REFUTED NSR_REFUTED, NSR_FAULT_RACE
#define BROKEN NSR_INPUT_BROKEN, NSR_FAULT_RACE
#define EQUAL NSR_EQUAL, NSR_FAULT_NONE
#define MAY                                                                    \
  { .write = NSR_MW, .read = NSR_MR }
#define MUST                                                                   \
  { .write = NSR_W, .read = NSR_R }

#define ORDERED HEAD ACT(SET("x") " ^s0\n") DVE(SET("x") " ?s0>=1\n")
#define UNORDERED HEAD ACT(SET("x") " ^s0\n") DVE(SET("x") "\n")
#define CHAIN(t1, t2)                                                          \
  HEAD ACT(SET("x") " ^s0\n" SET("x") " ?s0>=1 ^s0\n")                         \
      DVE(SET("x") " ?s0>=" t1 " ^s1\n" SET("x") " ?s0>=" t2 "\n")

static const struct twist_case may_cases[] = {
    {"must: unordered is a race", BROKEN, MUST, UNORDERED, NULL},
    {"may: unordered in both", EQUAL, MAY, UNORDERED, NULL},
    {"may: ordered in both", EQUAL, MAY, ORDERED, NULL},
    {"may: an order lost", REFUTED, MAY, ORDERED, UNORDERED},
    {"may: an order gained", EQUAL, MAY, UNORDERED, ORDERED},
    {"may: the other way round, and lost", REFUTED, MAY,
     HEAD ACT(SET("x") " ?s1>=1\n") DVE(SET("x") " ^s1\n"),
     HEAD ACT(SET("x") "\n") DVE(SET("x") " ^s1\n")},
    {"may: the other way round, with an order", REFUTED, MAY,
     HEAD ACT(SET("x") " ?s1>=1\n") DVE(SET("x") " ^s1\n"),
     HEAD ACT(SET("x") " ^s0\n") DVE(SET("x") " ?s0>=1\n")},
    {"may: only what comes later is the other way round", REFUTED, MAY,
     HEAD ACT(SET("x") " ^s0\n" SET("x") " ?s1>=1 ^s0\n")
         DVE(SET("x") " ?s0>=1 ^s1\n"),
     HEAD ACT(SET("x") " ^s0\n" SET("x") " ^s0\n")
         DVE(SET("x") " ?s0>=2 ^s1\n")},
    {"may read: an order lost",
     REFUTED,
     {.write = NSR_W, .read = NSR_MR},
     HEAD ACT(SET("x") " ^s0\n") DVE(" copy y[4*4], x[4*4] ?s0>=1\n"),
     HEAD ACT(SET("x") " ^s0\n") DVE(" copy y[4*4], x[4*4]\n")},
    {"may reads do not conflict", EQUAL, MAY,
     HEAD ACT(" copy y[4*4], x[4*4]\n") DVE(" copy z[4*4], x[4*4]\n"), NULL},
    {"must pairs stay must among may ones",
     BROKEN,
     {.write = NSR_W, .read = NSR_MR},
     HEAD ACT(SET("x") "\n" SET("y") "\n")
         DVE(" copy z[4*4], x[4*4]\n" SET("y") "\n"),
     NULL},
    /* dve knows one write of act where it knew two: its own pipe too */
    {"the older of two is ordered, the newer is not: same in both", EQUAL, MAY,
     CHAIN("1", "1"), NULL},
    {"one of two orders lost", REFUTED, MAY, CHAIN("2", "2"), CHAIN("1", "2")},
    {"and its older one too", REFUTED, MAY, CHAIN("1", "2"), CHAIN("0", "2")},
    /* a may write hides nothing: pool knows it, and not what came before */
    {"an older must write behind a may write", BROKEN, MUST,
     HEAD ACT(SET("x") "\n") DVE(
         SET("x") " ^s1\n") ".engine pool\n copy z[4*4], x[4*4] ?s1>=1\n" END,
     NULL},
};

static const struct twist_case psum_cases[] = {
    {"accumulation behind its start",
     EQUAL,
     {.write = NSR_W, .acc = true},
     HEAD ACT(" memset " P " value=1\n memset " P " value=1\n memset " P
              " value=1\n"),
     NULL},
    {"not where the order is none",
     BROKEN,
     {.write = NSR_W, .acc = true},
     ".isa tile64\n.kernel \"t\"\n.order act none\n" ACT(
         " memset " P " value=1\n memset " P " value=1\n"),
     NULL},
    {"not across engines",
     BROKEN,
     {.write = NSR_W, .acc = true},
     HEAD ACT(" memset " P " value=1\n") DVE(" nop\n memset " P " value=1\n"),
     NULL},
    {"not for another's read in between",
     BROKEN,
     {.write = NSR_W, .read = NSR_R, .acc = true},
     HEAD ACT(" memset " P " value=1 ^s0\n memset " P " value=1\n")
         DVE(" copy x[4*4], " P " ?s0>=1\n"),
     NULL},
};

static const struct twist_case hidden_cases[] = {
    {"hidden state keeps issue order",
     EQUAL,
     {.write = NSR_W, .has_hidden = true, .hidden = NSR_RW},
     HEAD ACT(SET("x") "\n" SET("y") "\n" SET("z") "\n"),
     NULL},
    {"not where the order is none",
     BROKEN,
     {.write = NSR_W, .has_hidden = true, .hidden = NSR_RW},
     HEAD ".order act none\n" ACT(SET("x") "\n" SET("y") "\n"),
     NULL},
    {"with a wait it does",
     EQUAL,
     {.write = NSR_W, .has_hidden = true, .hidden = NSR_RW},
     HEAD ".order act none\n" ACT(SET("x") " ^s0\n" SET("y") " ?s0>=1\n"),
     NULL},
    {"reads of it need none",
     EQUAL,
     {.write = NSR_W, .has_hidden = true, .hidden = NSR_R},
     HEAD ".order act none\n" ACT(SET("x") "\n" SET("y") "\n"),
     NULL},
};

static const struct twist_case event_cases[] = {
    {"a core barrier: an order lost",
     REFUTED,
     {.write = NSR_W, .read = NSR_R, .external = true},
     HEAD ACT(" mov r1, 5\n st d, r1 ^s0\n") DVE(" nop ?s0>=1\n"),
     HEAD ACT(" mov r1, 5\n st d, r1 ^s0\n") DVE(" nop\n")},
    {"on chip it orders nothing",
     EQUAL,
     {.write = NSR_W, .read = NSR_R, .external = true},
     HEAD ACT(SET("x") " ^s0\n") DVE(" nop ?s0>=1\n"),
     HEAD ACT(SET("x") " ^s0\n") DVE(" nop\n")},
    {"unknown effects reach there too",
     REFUTED,
     {.write = NSR_W, .read = NSR_R, .unknown = true},
     HEAD ACT(SET("x") " ^s0\n") DVE(" nop ?s0>=1\n"),
     HEAD ACT(SET("x") " ^s0\n") DVE(" nop\n")},
    {"and may not go",
     NSR_REFUTED,
     NSR_FAULT_TRACE,
     {.write = NSR_W, .read = NSR_R, .unknown = true},
     HEAD ACT(" nop\n"),
     HEAD ACT(" wait ?s0>=0\n")},
};

/* ---- the shipped instructions */

#define REAL                                                                   \
  ".isa tile64\n.kernel \"t\"\n.queue q0 sp\n.queue q1 dve\n"                  \
  ".tensor t dram f32 [64, 4] at 0x1000 output\n"                              \
  ".tensor ix dram i32 [4, 1] at 0x8000 input range 0 63\n"                    \
  ".tensor w sbuf f32 [4, 4] at 0:4, 0 scratch\n"                              \
  ".tensor y sbuf f32 [4, 4] at 0:4, 64 scratch\n"                             \
  ".tensor z sbuf i32 [4, 1] at 0:4, 128 scratch\n"                            \
  ".tensor p psum f32 [4, 4] at 0:4, 0 scratch\n"
#define SCATTER(q, src) " dmas " q ", t{64*16}[4*4], " src "[4*4], z[1*4]"
#define SP(body) ".engine sp\n" body END
#define PE(body) ".engine pe\n" body END
#define FINE NSR_EQUAL, NSR_FAULT_NONE

static const struct judge_case real_cases[] = {
    {"two scatters in no order", FINE, NULL,
     REAL SP(SCATTER("q0", "w") " ^s0\n") DVE(SCATTER("q1", "y") "\n"), NULL},
    {"an order of scatters lost", REFUTED, "may be touched twice",
     REAL SP(SCATTER("q0", "w") " ^s0\n") DVE(SCATTER("q1", "y") " ?s0>=1\n"),
     REAL SP(SCATTER("q0", "w") " ^s0\n") DVE(SCATTER("q1", "y") "\n")},
    {"scatters in the other order", REFUTED, "in the other order",
     REAL SP(SCATTER("q0", "w") " ^s0\n") DVE(SCATTER("q1", "y") " ?s0>=1\n"),
     REAL SP(SCATTER("q0", "w") " ?s1>=1\n") DVE(SCATTER("q1", "y") " ^s1\n")},
    {"what a scatter reads is a must", BROKEN, "are touched twice",
     REAL SP(SCATTER("q0", "w") " ^s0\n") DVE(" memset w[4*4] value=1\n"),
     NULL},
    {"accumulation behind its start", FINE, NULL,
     REAL PE(" ldw w[4*4]\n mm p[4*4], y[4*4]\n mm p[4*4] !acc, y[4*4]\n"
             " ldw y[4*4]\n mm p[4*4] !acc, w[4*4]\n"),
     NULL},
    {"a new start is no accumulation", BROKEN, "are touched twice",
     REAL PE(" ldw w[4*4]\n mm p[4*4], y[4*4]\n mm p[4*4], y[4*4]\n"), NULL},
    {"stationary weights where the order is none", BROKEN, "hidden state",
     REAL ".order pe none\n" PE(" ldw w[4*4]\n mm p[4*4], y[4*4]\n"), NULL},
    {"with a wait", FINE, NULL,
     REAL ".order pe none\n" PE(" ldw w[4*4] ^s0\n mm p[4*4], y[4*4] ?s0>=1\n"),
     NULL},
    {"the next weights too", BROKEN, "hidden state",
     REAL ".order pe none\n" PE(
         " ldw w[4*4] ^s0\n mm p[4*4], y[4*4] ?s0>=1\n ldw y[4*4]\n"),
     NULL},
    {"and with a wait for their last use", FINE, NULL,
     REAL
     ".order pe none\n" PE(" ldw w[4*4] ^s0\n mm p[4*4], y[4*4] ?s0>=1 ^s0\n"
                           " ldw y[4*4] ?s0>=2\n"),
     NULL},
    {"a transposition is hidden state too", BROKEN, "hidden state",
     REAL ".order pe none\n" PE(" ldw w[4*4] ^s0\n tp p[4*4], y[4*4]\n"), NULL},
    {"the wait lost in the second kernel", REFUTED, "hidden state",
     REAL ".order pe none\n" PE(" ldw w[4*4] ^s0\n mm p[4*4], y[4*4] ?s0>=1\n"),
     REAL ".order pe none\n" PE(" ldw w[4*4] ^s0\n mm p[4*4], y[4*4]\n")},
    {"weights in issue order: full", FINE, NULL,
     REAL ".order pe full\n" PE(" ldw w[4*4]\n mm p[4*4], y[4*4]\n"
                                " mm p[4*4], y[4*4]\n ldw y[4*4]\n"),
     NULL},
    {"sums where the order is none", BROKEN, "psum",
     REAL ".order pe none\n" PE(" ldw w[4*4] ^s0\n mm p[4*4], y[4*4] ?s0>=1\n"
                                " mm p[4*4] !acc, y[4*4]\n"),
     NULL},
    {"sums with waits", FINE, NULL,
     REAL
     ".order pe none\n" PE(" ldw w[4*4] ^s0\n mm p[4*4], y[4*4] ?s0>=1 ^s0\n"
                           " mm p[4*4] !acc, y[4*4] ?s0>=2 ^s0\n"
                           " mm p[4*4] !acc, y[4*4] ?s0>=3\n"),
     NULL},
    {"the wait of a sum lost", REFUTED, "psum",
     REAL
     ".order pe none\n" PE(" ldw w[4*4] ^s0\n mm p[4*4], y[4*4] ?s0>=1 ^s0\n"
                           " mm p[4*4] !acc, y[4*4] ?s0>=2\n"),
     REAL
     ".order pe none\n" PE(" ldw w[4*4] ^s0\n mm p[4*4], y[4*4] ?s0>=1 ^s0\n"
                           " mm p[4*4] !acc, y[4*4] ?s0>=1\n")},
    {"sums in issue order: full", FINE, NULL,
     REAL ".order pe full\n" PE(" ldw w[4*4]\n mm p[4*4], y[4*4]\n"
                                " mm p[4*4] !acc, y[4*4]\n"),
     NULL},
    {"other weights are another program", NSR_REFUTED, NSR_FAULT_TRACE, NULL,
     REAL PE(" ldw w[4*4]\n mm p[4*4], y[4*4]\n"),
     REAL PE(" ldw y[4*4]\n mm p[4*4], y[4*4]\n")},
    {"a core barrier holds back", REFUTED, "what others see",
     REAL SP(" dma q0, t{4*16}[4*4], y[4*4] ^s0\n") DVE(" cbar ?s0>=1\n"),
     REAL SP(" dma q0, t{4*16}[4*4], y[4*4] ^s0\n") DVE(" cbar\n")},
    {"and may not go", NSR_REFUTED, NSR_FAULT_TRACE, NULL, REAL SP(" cbar\n"),
     REAL SP(" nop\n")},
    {"its owned semaphores may", FINE, NULL, REAL SP(" cbar\n"),
     REAL SP(" cbar ^s4\n")},
};

/* Unknown effects against one access, on either side of it: ordered it is
 * right, and the order lost or turned round is a race. */
#define POOL(body) ".engine pool\n" body END
#define TO(engine, insn)                                                       \
  {                                                                            \
    REAL POOL(" custom code=1 ^s0\n") engine(" nop\n" insn " ?s0>=1\n"),       \
        REAL POOL(" custom code=1 ^s0\n") engine(" nop ?s0>=0\n" insn "\n")    \
  }
#define FROM(engine, insn)                                                     \
  {                                                                            \
    REAL engine(insn " ^s1\n") POOL(" custom code=1 ?s1>=1\n"),                \
        REAL engine(insn " ^s1\n") POOL(" custom code=1\n")                    \
  }
#define BOTH(engine, insn) TO(engine, insn), FROM(engine, insn)

static const struct unknown_pair {
  const char *right, *wrong;
} unknown_pairs[] = {
    BOTH(PE, " ldw w[4*4]"),                   /* reads SBUF, hidden state */
    BOTH(PE, " mm p[4*4], y[4*4]"),            /* writes PSUM */
    BOTH(DVE, " memset w[4*4] value=1"),       /* writes SBUF */
    BOTH(DVE, " copy y[4*4], p[4*4]"),         /* reads PSUM */
    BOTH(DVE, " ld r1, ix"),                   /* of DRAM */
    BOTH(SP, " dma q0, t{4*16}[4*4], y[4*4]"), /* writes DRAM */
    BOTH(SP, " dma q0, y[4*4], t{4*16}[4*4]"), /* reads it */
    BOTH(SP, SCATTER("q0", "w")),              /* some bytes of it */
    BOTH(SP, " cbar"),                         /* tells others */
    TO(SP, " nop ^s200"),                      /* with a semaphore */
    FROM(SP, " nop ^s200\n nop"),
    {REAL POOL(" custom code=1 ^s0\n custom code=2 ?s0>=1\n"),
     REAL POOL(" custom code=1 ^s0\n custom code=2\n")},
};

static void test_unknown(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof unknown_pairs / sizeof *unknown_pairs; i++) {
    const struct unknown_pair *p = &unknown_pairs[i];
    judge_case(&(struct judge_case){p->right, FINE, NULL, p->right, NULL});
    judge_case(
        &(struct judge_case){p->wrong, REFUTED, NULL, p->right, p->wrong});
  }
}

static void test_instructions(void **state) {
  (void)state;
  JUDGE_CASES(real_cases);
}

static void test_may(void **state) {
  (void)state;
  CHECK(may_cases);
}

static void test_psum(void **state) {
  (void)state;
  CHECK(psum_cases);
}

static void test_hidden(void **state) {
  (void)state;
  CHECK(hidden_cases);
}

static void test_events(void **state) {
  (void)state;
  CHECK(event_cases);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_instructions), cmocka_unit_test(test_may),
      cmocka_unit_test(test_psum),         cmocka_unit_test(test_hidden),
      cmocka_unit_test(test_events),       cmocka_unit_test(test_unknown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
