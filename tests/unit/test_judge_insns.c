/* test_judge_insns.c - the judge on instructions with hidden state,
 * accumulation, may accesses, indices, and effects outside of the kernel. */
#include "judge_case.h"

#define EQUAL NSR_EQUAL, NSR_FAULT_NONE
#define RACE NSR_REFUTED, NSR_FAULT_RACE
#define BROKEN NSR_INPUT_BROKEN, NSR_FAULT_RACE

#define HEAD                                                                   \
  ".isa tile64\n.kernel \"t\"\n.queue q0 sp\n.queue q1 pool\n"                 \
  ".tensor t dram f32 [8, 4] at 0 input\n"                                     \
  ".tensor o dram f32 [8, 4] at 128 output\n"                                  \
  ".tensor a sbuf f32 [4, 4] at 0:4, 0 scratch\n"                              \
  ".tensor b sbuf f32 [4, 4] at 0:4, 16 scratch\n"                             \
  ".tensor c sbuf f32 [4, 4] at 0:4, 32 scratch\n"                             \
  ".tensor i sbuf i32 [4, 1] at 0:4, 48 scratch\n"                             \
  ".tensor s sbuf f32 [4, 1] at 0:4, 52 scratch\n"                             \
  ".tensor p psum f32 [4, 4] at 0:4, 0 scratch\n"                              \
  ".tensor q psum f32 [4, 4] at 0:4, 16 scratch\n"
#define END " sync 9\n halt\n"
#define PE(body) ".engine pe\n" body END
#define ACT(body) ".engine act\n" body END
#define DVE(body) ".engine dve\n" body END
#define POOL(body) ".engine pool\n" body END
#define SP(body) ".engine sp\n" body END
#define A "a[4*4]"
#define B "b[4*4]"
#define C "c[4*4]"
#define P "p[4*4]"
#define Q "q[4*4]"
#define D(t) t "{4*16}[4*4]"
#define LDW(t) " ldw " t "\n"
#define START " mm " P ", " B
#define ADD " mm " P " !acc, " B
#define SET(t) " memset " t " value=1"

/* ---- hidden state */

static const struct judge_case weights[] = {
    {"loads and products keep issue order", EQUAL, NULL,
     HEAD PE(LDW(A) START "\n" LDW(B) " mm " Q ", " A "\n"), NULL},
    {"not where the order is none", BROKEN, "hidden state",
     HEAD ".order pe none\n" PE(LDW(A) START "\n"), NULL},
    {"with a wait they do", EQUAL, NULL,
     HEAD ".order pe none\n" PE(" ldw " A " ^s0\n" START " ?s0>=1\n"), NULL},
    {"nor may a load overtake a product", BROKEN, "hidden state",
     HEAD ".order pe none\n" PE(" ldw " A " ^s0\n" START " ?s0>=1\n" LDW(A)),
     NULL},
    {"two products read alike", EQUAL, NULL,
     HEAD ".order pe none\n" PE(" ldw " A " ^s0\n" START " ?s0>=1\n mm " Q
                                ", " B "\n"),
     NULL},
    {"a transpose loads too", BROKEN, "hidden state",
     HEAD ".order pe none\n" PE(" tp " P ", " A "\n mm " Q ", " B "\n"), NULL},
    {"another load before a product", NSR_REFUTED, NSR_FAULT_TRACE, NULL,
     HEAD PE(LDW(A) LDW(B) START "\n"), HEAD PE(LDW(B) LDW(A) START "\n")},
    {"sources of loads are read like others", BROKEN, NULL,
     HEAD PE(LDW(A)) ACT(SET(A) "\n"), NULL},
};

/* ---- accumulation */

#define COPY_OUT " copy " C ", " P

static const struct judge_case sums[] = {
    {"adding behind the start", EQUAL, NULL,
     HEAD PE(LDW(A) START "\n" ADD "\n" LDW(B) ADD "\n"), NULL},
    {"behind a transpose", EQUAL, NULL, HEAD PE(" tp " P ", " A "\n" ADD "\n"),
     NULL},
    {"not where the order is none", BROKEN, NULL,
     HEAD ".order pe none\n" PE(" ldw " A " ^s0\n" START " ?s0>=1\n" ADD "\n"),
     NULL},
    {"the next start needs a wait", BROKEN, NULL,
     HEAD PE(LDW(A) START "\n" ADD "\n" START "\n"), NULL},
    {"on its own channel", EQUAL, NULL,
     HEAD PE(LDW(A) START "\n" ADD " ^s0\n" START " ?s0>=1\n"), NULL},
    {"elsewhere it needs none", EQUAL, NULL,
     HEAD PE(LDW(A) START "\n" ADD "\n mm " Q ", " B "\n"), NULL},
    {"a start by another engine", BROKEN, NULL,
     HEAD PE(LDW(A) ADD "\n") ACT(SET(P) "\n"), NULL},
    {"and with a wait", EQUAL, NULL,
     HEAD PE(LDW(A) ADD " ?s0>=1\n") ACT(SET(P) " ^s0\n"), NULL},
    {"read while adding", RACE, NULL,
     HEAD PE(LDW(A) START "\n" ADD " ^s0\n") ACT(COPY_OUT " ?s0>=1\n"),
     HEAD PE(LDW(A) START " ^s0\n" ADD "\n") ACT(COPY_OUT " ?s0>=1\n")},
    {"adding while read", RACE, NULL,
     HEAD PE(LDW(A) START " ^s0\n" ADD " ?s1>=1\n")
         ACT(COPY_OUT " ?s0>=1 ^s1\n"),
     HEAD PE(LDW(A) START " ^s0\n" ADD "\n") ACT(COPY_OUT " ?s0>=1 ^s1\n")},
    {"without the sum before it", NSR_REFUTED, NSR_FAULT_TRACE, NULL,
     HEAD PE(LDW(A) START "\n" ADD "\n"),
     HEAD PE(LDW(A) START "\n mm " P ", " B "\n")},
};

/* ---- predicates and indices */

#define IOTA " iota i base=0 pmul=1 step0=0 step1=0 step2=0"
#define GATHER " dmag q1, " A ", " D("t") ", i"
#define SCATTER(q, from) " dmas " q ", " D("o") ", " from ", i"
#define SUM(q, from) " dmasa " q ", " D("o") ", " from ", i op=add"

static const struct judge_case indices[] = {
    {"an index is read", RACE, NULL,
     HEAD POOL(IOTA " ^s0\n" GATHER " ?s0>=1\n"),
     HEAD POOL(IOTA " ^s0\n" GATHER "\n")},
    {"and may not be overwritten", RACE, NULL,
     HEAD POOL(IOTA " ^s0\n" GATHER " ?s0>=1 ^s1\n" IOTA " ?s1>=1\n"),
     HEAD POOL(IOTA " ^s0\n" GATHER " ?s0>=1 ^s1\n" IOTA " ?s0>=1\n")},
    {"the table may be read: an order lost", RACE, NULL,
     HEAD SP(" dma q0, " D("t") ", " B " ^s0\n") POOL(GATHER " ?s0>=1\n"),
     HEAD SP(" dma q0, " D("t") ", " B " ^s0\n") POOL(GATHER "\n")},
    {"what is gathered is written", RACE, NULL,
     HEAD POOL(GATHER " ^s0\n") ACT(SET(A) " ?s0>=1\n"),
     HEAD POOL(GATHER " ^s0\n") ACT(SET(A) "\n")},
    {"two scatters in no order are disjoint", EQUAL, NULL,
     HEAD POOL(SCATTER("q1", A) "\n") SP(SCATTER("q0", B) "\n"), NULL},
    {"ordered, they stay ordered", RACE, NULL,
     HEAD POOL(SCATTER("q1", A) " ^s0\n") SP(SCATTER("q0", B) " ?s0>=1\n"),
     HEAD POOL(SCATTER("q1", A) " ^s0\n") SP(SCATTER("q0", B) "\n")},
    {"sums too", RACE, NULL,
     HEAD POOL(SUM("q1", A) " ^s0\n") SP(SUM("q0", B) " ?s0>=1\n"),
     HEAD POOL(SUM("q1", A) " ^s0\n") SP(SUM("q0", B) "\n")},
    {"the source of a scatter must be read", BROKEN, NULL,
     HEAD POOL(SCATTER("q1", A) "\n") ACT(SET(A) "\n"), NULL},
    {"a sum of all rows is no may access", BROKEN, NULL,
     HEAD POOL(" dmaa q1, " D("o") ", " A " op=add\n")
         SP(" dmaa q0, " D("o") ", " B " op=add\n"),
     NULL},
    {"a predicate is read", RACE, NULL,
     HEAD ACT(SET(B) " ^s0\n") DVE(" copyp " A ", " C ", " B " ?s0>=1\n"),
     HEAD ACT(SET(B) " ^s0\n") DVE(" copyp " A ", " C ", " B "\n")},
    {"predicated writes may be disjoint", EQUAL, NULL,
     HEAD POOL(" memsetp " A ", " B " value=1\n")
         DVE(" copyp " A ", " C ", " B "\n"),
     NULL},
    {"a second destination is written", BROKEN, NULL,
     HEAD ACT(" acts " A ", s, " B " func=exp scale=1 bias=0\n")
         DVE(" copy c, s\n"),
     NULL},
};

/* ---- the world outside */

static const struct judge_case outside[] = {
    {"a core barrier is behind what was stored", RACE, NULL,
     HEAD SP(" dma q0, " D("o") ", " A " ^s0\n cbar ?s0>=1\n"),
     HEAD SP(" dma q0, " D("o") ", " A " ^s0\n cbar\n")},
    {"it may not go", NSR_REFUTED, NSR_FAULT_TRACE, NULL, HEAD SP(" cbar\n"),
     HEAD SP(" wait ?s0>=0\n")},
    {"its owned update may come and go", EQUAL, NULL,
     HEAD SP(" cbar\n") ACT(SET(A) "\n"),
     HEAD SP(" cbar ^s7\n") ACT(SET(A) "\n")},
    {"those of others may not", NSR_REFUTED, NSR_FAULT_TRACE, NULL,
     HEAD SP(" cbar\n"), HEAD SP(" cbar ^s200\n")},
    {"code of others may touch anything", RACE, NULL,
     HEAD POOL(" custom code=3 ^s0\n") ACT(SET(A) " ?s0>=1\n"),
     HEAD POOL(" custom code=3 ^s0\n") ACT(SET(A) "\n")},
    {"it is what it is", NSR_REFUTED, NSR_FAULT_TRACE, NULL,
     HEAD POOL(" custom code=3\n"), HEAD POOL(" custom code=4\n")},
};

static void test_weights(void **state) {
  (void)state;
  JUDGE_CASES(weights);
}

static void test_sums(void **state) {
  (void)state;
  JUDGE_CASES(sums);
}

static void test_indices(void **state) {
  (void)state;
  JUDGE_CASES(indices);
}

static void test_outside(void **state) {
  (void)state;
  JUDGE_CASES(outside);
}

/* Numbers: code of others has none, an index outside is a fault. */
static void faults(const char *text, const char *says) {
  struct nsr_ctx *ctx = nsr_ctx_new();
  const uint8_t *data;
  size_t size;
  struct nsr_kernel *k = kernel_of(ctx, text);
  assert_int_equal(nsr_run_numeric(ctx, k, "o", &data, &size), NSR_E_FAULT);
  if (!strstr(nsr_ctx_first_error(ctx)->text, says))
    fail_msg("%s", nsr_ctx_first_error(ctx)->text);
  nsr_ctx_free(ctx);
}

static void test_faults(void **state) {
  (void)state;
  faults(HEAD POOL(" custom code=3\n"), "no numeric meaning");
  faults(HEAD POOL(" iota i base=1 pmul=1 step0=0 step1=0 step2=0 ^s0\n" GATHER
                   " ?s0>=1\n"),
         "outside of its operand");
  faults(HEAD PE(START "\n"), "stationary");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_weights), cmocka_unit_test(test_sums),
      cmocka_unit_test(test_indices), cmocka_unit_test(test_outside),
      cmocka_unit_test(test_faults)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
