/* test_rotation.c - buffers that take turns in nests of loops, rewritten and
 * judged.
 *
 * Random nests: each loop has a layout of its own and, on each engine, a
 * counter that goes on from trip to trip, is set back, turns round, advances in
 * the header, in both arms of a branch or in some iterations only; and one way
 * back to its header, or two. One access at a time, in all
 * iterations or in some, chosen by such a counter, with a barrier behind it;
 * in one half of the buffers, that a word says which all engines load again now
 * and then;
 * and loops that are left in their middle, so the input has no race and a lag
 * that is too large is one of the output. NSR_SEED sets the first seed,
 * NSR_KERNELS how many.
 */
#include "passes.h"
#include "prng.h"

#include <stdlib.h>

#include <nsr/rewrite.h>

enum { ENGINES = 3, MAX_LOOPS = 4, MAX_LEVEL = 3, ROOM = 1 << 14 };

static const struct set {
  const char *isa, *engines[ENGINES];
} sets[] = {{"tile64", {"sp", "act", "dve"}}, {"lane48", {"io", "gen", "vec"}}};
enum { SETS = sizeof sets / sizeof *sets };

enum advance {
  SURVIVES,
  SET_BACK,
  TURNS,
  IN_HEADER,
  IN_BOTH_ARMS,
  SOMETIMES,
  NADVANCES
};

struct loop {
  int trips;   /* 0: loaded, -1: the index of the loop around it */
  bool bottom; /* tested there */
  enum { AT_END, AT_BEGIN, AT_HEADER } barrier;
  struct {
    bool early; /* advanced in front of the rest of the body */
    bool twice; /* two ways back */
    enum advance advance;
    int modulo;
  } on[ENGINES];
};

struct nest {
  struct prng *r;
  int nloops, nids, naccesses, nlabels;
  struct loop loops[MAX_LOOPS];
  int around[MAX_LEVEL], level;
  char text[ENGINES][ROOM];
};

#define PUT(n, e, ...)                                                         \
  do {                                                                         \
    size_t at_ = strlen((n)->text[e]);                                         \
    snprintf((n)->text[e] + at_, ROOM - at_, __VA_ARGS__);                     \
  } while (0)

static void put_barrier(struct nest *n) {
  for (int e = 0; e < ENGINES; e++)
    PUT(n, e, " sync %d\n", n->nids);
  n->nids++;
}

/* All engines load which half of a place is used from now on, or one says which
 * they load next. */
static void put_half(struct nest *n) {
  int e = (int)prng_in(n->r, 0, ENGINES - 1);
  if (prng_in(n->r, 0, 1))
    PUT(n, e, " mov r12, %d\n st half{0:1}, r12\n", (int)prng_in(n->r, 0, 1));
  else
    for (e = 0; e < ENGINES; e++)
      PUT(n, e, " ld r13, half{0:1}\n mul r13, r13, 80\n");
  put_barrier(n);
}

/* Where an access of engine e goes: a fixed place, a slot by the counter of
 * some loop around it, or, with one that does not turn round, ever on. */
static void put_place(struct nest *n, int e, char *place, size_t room) {
  int m = (int)prng_in(n->r, 0, 4);
  bool halves = prng_in(n->r, 0, 2) == 0;
  snprintf(place, room, halves ? "ring+r13[4*4]" : "ring[4*4]");
  if (n->level == 0 || m == 1)
    return;
  int l = n->around[prng_in(n->r, 0, n->level - 1)];
  PUT(n, e, " add r12, r%d, %d\n", 4 + l, (int)prng_in(n->r, 0, 2));
  if (m)
    PUT(n, e, " rem r12, r12, %d\n", m);
  PUT(n, e, " mul r12, r12, 16\n");
  if (halves && m)
    PUT(n, e, " add r12, r12, r13\n");
  snprintf(place, room, "%s+r12[4*4]", m ? "ring" : "wide");
}

/* Loop l has its index in r(l), its counter in r(4+l), its trips in r(8+l). */
static void put_access(struct nest *n) {
  int e = (int)prng_in(n->r, 0, ENGINES - 1), id = n->naccesses++;
  bool writes = prng_in(n->r, 0, 1), queue = e == 0 || prng_in(n->r, 0, 1);
  bool some = n->level > 0 && prng_in(n->r, 0, 5) == 0;
  char place[40], own[40], name[16] = "copy";
  if (some)
    PUT(n, e, " and r12, r%d, 1\n br.eq r12, 0, s%d\n", n->around[n->level - 1],
        id);
  put_place(n, e, place, sizeof place);
  snprintf(own, sizeof own, "own+%d[4*4]", 16 * id);
  if (queue)
    snprintf(name, sizeof name, "dma q%d,", e);
  PUT(n, e, " %s %s, %s\n", name, writes ? place : own, writes ? own : place);
  if (some)
    PUT(n, e, "s%d:\n", id);
  put_barrier(n);
}

static void put_step(struct nest *n, int e, int l) {
  const struct loop *x = &n->loops[l];
  PUT(n, e, " add r%d, r%d, 1\n", 4 + l, 4 + l);
  if (x->on[e].advance == TURNS || (x->on[e].advance == IN_BOTH_ARMS && l & 1))
    PUT(n, e, " rem r%d, r%d, %d\n", 4 + l, 4 + l, x->on[e].modulo);
}

static void put_advance(struct nest *n, int e, int l) {
  enum advance how = n->loops[l].on[e].advance;
  bool arms = how == SOMETIMES || how == IN_BOTH_ARMS;
  int label = n->nlabels++;
  if (arms)
    PUT(n, e, " and r12, r%d, 1\n br.eq r12, 0, a%d\n", l, label);
  put_step(n, e, l);
  if (how == IN_BOTH_ARMS) {
    PUT(n, e, " br b%d\na%d:\n", label, label);
    put_step(n, e, l);
    PUT(n, e, "b%d:\n", label);
  } else if (arms) {
    PUT(n, e, "a%d:\n", label);
  }
}

static void choose_loop(struct nest *n, struct loop *x) {
  struct prng *r = n->r;
  x->trips = n->level && prng_in(r, 0, 9) < 4 ? -1 : (int)prng_in(r, 0, 3);
  x->barrier = (int)prng_in(r, 0, 9) < 7 ? AT_END : (int)prng_in(r, 1, 2);
  x->bottom = x->trips > 0 && x->barrier != AT_HEADER && prng_in(r, 0, 3) == 0;
  bool twice = prng_in(r, 0, 3) == 0;
  bool all_back = prng_in(r, 0, 3) == 0; /* all counters are set back */
  for (int e = 0; e < ENGINES; e++) {
    x->on[e].early = prng_in(r, 0, 2) == 0;
    x->on[e].twice = x->barrier == AT_END ? twice : prng_in(r, 0, 3) == 0;
    x->on[e].modulo = (int)prng_in(r, 2, 4);
    x->on[e].advance = all_back               ? SET_BACK
                       : prng_in(r, 0, 9) < 6 ? SURVIVES
                                              : prng_in(r, 0, NADVANCES - 1);
  }
}

static void put_body(struct nest *n);

static void put_head(struct nest *n, int e, int l) {
  const struct loop *x = &n->loops[l];
  PUT(n, e, "l%d:\n", l);
  if (x->on[e].advance == IN_HEADER)
    put_advance(n, e, l);
  if (x->barrier == AT_HEADER)
    PUT(n, e, " sync %d\n", n->nids);
  if (!x->bottom && x->trips > 0)
    PUT(n, e, " br.ge r%d, %d, d%d\n", l, x->trips, l);
  else if (!x->bottom)
    PUT(n, e, " br.ge r%d, r%d, d%d\n", l,
        x->trips ? n->around[n->level - 1] : 8 + l, l);
  if (x->barrier == AT_BEGIN)
    PUT(n, e, " sync %d\n", n->nids);
}

/* One of the ways back. */
static void put_way_back(struct nest *n, int e, int l, int id) {
  const struct loop *x = &n->loops[l];
  if (!x->on[e].early && x->on[e].advance != IN_HEADER)
    put_advance(n, e, l);
  PUT(n, e, " add r%d, r%d, 1\n", l, l);
  if (x->barrier == AT_END)
    PUT(n, e, " sync %d\n", id);
  if (x->bottom)
    PUT(n, e, " br.lt r%d, %d, l%d\n", l, x->trips, l);
  else
    PUT(n, e, " br l%d\n", l);
}

static void put_foot(struct nest *n, int e, int l, int id) {
  if (n->loops[l].on[e].twice) {
    PUT(n, e, " and r12, r%d, 1\n br.eq r12, 0, c%d\n", l, l);
    put_way_back(n, e, l, id + 1);
    if (n->loops[l].bottom)
      PUT(n, e, " br d%d\n", l);
    PUT(n, e, "c%d:\n", l);
  }
  put_way_back(n, e, l, id);
  PUT(n, e, "d%d:\n", l);
}

static void put_loop(struct nest *n) {
  int l = n->nloops++;
  choose_loop(n, &n->loops[l]);
  for (int e = 0; e < ENGINES; e++)
    PUT(n, e, " mov r%d, 0\n", l);
  for (int e = 0; e < ENGINES; e++)
    if (n->loops[l].on[e].advance == SET_BACK)
      PUT(n, e, " mov r%d, 0\n", 4 + l);
  put_barrier(n);
  for (int e = 0; e < ENGINES; e++)
    put_head(n, e, l);
  int id = n->nids;
  n->nids += 2;
  for (int e = 0; e < ENGINES; e++)
    if (n->loops[l].on[e].early && n->loops[l].on[e].advance != IN_HEADER)
      put_advance(n, e, l);
  n->around[n->level++] = l;
  put_body(n);
  n->level--;
  for (int e = 0; e < ENGINES; e++)
    put_foot(n, e, l, id);
}

/* The innermost loop may be left here, on all engines. */
static void put_break(struct nest *n) {
  int l = n->around[n->level - 1], at = (int)prng_in(n->r, 0, 2);
  for (int e = 0; e < ENGINES; e++)
    PUT(n, e, " br.eq r%d, %d, d%d\n", l, at, l);
}

static void put_body(struct nest *n) {
  for (int i = (int)prng_in(n->r, 1, 3); i > 0; i--)
    if (n->level > 0 && prng_in(n->r, 0, 7) == 0)
      put_break(n);
    else if (n->level < MAX_LEVEL && n->nloops < MAX_LOOPS &&
             (n->level == 0 || prng_in(n->r, 0, 2) == 0))
      put_loop(n);
    else if (prng_in(n->r, 0, 5) == 0)
      put_half(n);
    else
      put_access(n);
}

static char *kernel_text(struct prng *r, const struct set *set) {
  static struct nest n;
  static char text[ENGINES * ROOM + 2000];
  memset(&n, 0, sizeof n);
  n.r = r;
  put_body(&n);
  int at =
      snprintf(text, sizeof text,
               ".isa %s\n"
               ".tensor ring sbuf f32 [1, 40] at 0:1, 0 scratch\n"
               ".tensor wide sbuf f32 [1, 480] at 0:1, 0 scratch\n"
               ".tensor half sbuf i32 [1, 1] at 0:1, 16384 scratch range 0 1\n"
               ".tensor own sbuf f32 [1, 400] at 0:1, 2048 scratch\n",
               set->isa);
  for (int l = 0; l < MAX_LOOPS; l++)
    at +=
        snprintf(text + at, sizeof text - (size_t)at,
                 ".tensor n%d dram i32 [1] at %d input range 0 3\n", l, 64 * l);
  for (int e = 0; e < ENGINES; e++)
    at += snprintf(text + at, sizeof text - (size_t)at, ".queue q%d %s\n", e,
                   set->engines[e]);
  for (int e = 0; e < ENGINES; e++) {
    at += snprintf(text + at, sizeof text - (size_t)at, ".engine %s\n",
                   set->engines[e]);
    for (int l = 0; l < MAX_LOOPS; l++)
      at += snprintf(text + at, sizeof text - (size_t)at,
                     " mov r%d, 0\n ld r%d, n%d\n", 4 + l, 8 + l, l);
    at += snprintf(text + at, sizeof text - (size_t)at,
                   " mov r13, 0\n%s sync 9998\n",
                   e == 0 ? " mov r12, 1\n st half{0:1}, r12\n" : "");
    at += snprintf(text + at, sizeof text - (size_t)at, "%s sync 9999\n halt\n",
                   n.text[e]);
  }
  return text;
}

struct tally {
  unsigned kernels, refused, lagging, fronts, starts, proved;
};

static bool try_nest(uint64_t seed, const struct set *set,
                     struct tally *tally) {
  struct prng r = {seed};
  char *text = kernel_text(&r, set), line[2000] = "";
  const char *dump = "";
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_rewrite_options options = {.judge = {.inputs = 24}};
  struct nsr_rewrite_report report;
  struct nsr_kernel *k = assemble(ctx, text), *out;
  enum nsr_status status = nsr_dump(ctx, k, NSR_STAGE_DEPS, &options, &dump);
  tally->kernels++;
  tally->lagging += strstr(dump, "(carried) but the last") != NULL;
  tally->fronts += strstr(dump, "in front of loop") != NULL;
  if (status == NSR_OK)
    status = nsr_dump(ctx, k, NSR_STAGE_PLAN, &options, &dump);
  tally->starts += strstr(dump, "at the latest start") != NULL;
  if (status == NSR_OK)
    status = nsr_rewrite(ctx, k, NULL, 0, &options, &out, &report);
  bool good = status == NSR_OK &&
              (!report.judged || report.judgement.verdict == NSR_EQUAL);
  bool budget = status == NSR_E_REFUSED &&
                strstr(nsr_ctx_first_error(ctx)->text, " needed to count ");
  if (!good && nsr_ctx_first_error(ctx))
    nsr_diag_format(nsr_ctx_first_error(ctx), line, sizeof line);
  tally->refused += budget;
  tally->proved +=
      good && (!report.proof_asked || report.proof.verdict == NSR_PROOF_PROVED);
  if (!good && !budget)
    fprintf(stderr, "seed %llu, %s: %s\n%s\n", (unsigned long long)seed,
            set->isa, line, getenv("NSR_KERNELS") ? "" : text);
  nsr_ctx_free(ctx);
  return good || budget;
}

static void test_rotation(void **state) {
  (void)state;
  struct prng r = prng_seed("nests", 1);
  const char *n = getenv("NSR_KERNELS");
  unsigned kernels = n ? (unsigned)strtoul(n, NULL, 0) : 150, bad = 0;
  struct tally tally = {0};
  for (uint64_t seed = r.state; seed < r.state + kernels; seed++)
    bad += !try_nest(seed, &sets[seed % SETS], &tally);
  printf("%u nests, %u refused, %u with lags, %u with waits in front of loops, "
         "%u with counts as of starts, %u proved\n",
         tally.kernels, tally.refused, tally.lagging, tally.fronts,
         tally.starts, tally.proved);
  assert_int_equal(bad, 0);
  assert_true(tally.refused * 10 < kernels);
  assert_true(tally.lagging * 10 > kernels);
  assert_true(tally.fronts * 20 > kernels && tally.starts * 100 > kernels);
  assert_int_equal(tally.proved, kernels - tally.refused);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_rotation)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
