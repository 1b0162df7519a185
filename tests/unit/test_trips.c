/* test_trips.c - how often loops run: against running them.
 *
 * NSR_SEED sets the seed, NSR_KERNELS how many random loop nests.
 */
#include "passes.h"
#include "prng.h"

#include <stdlib.h>

#include "mem/trips.h"

#define HEAD                                                                   \
  ".isa tile64\n.tensor n dram i32 [1] at 0 input range 2 7\n"                 \
  ".tensor m dram i32 [1] at 4 input\n.engine sp\n"

static void find(struct nsr_ctx *ctx, const char *text, struct nsr_program *p,
                 struct nsr_tree *t, uint64_t **trips) {
  struct nsr_kernel *k = assemble(ctx, text);
  enum nsr_status status = nsr_program_build(ctx, k, p);
  if (status == NSR_OK)
    status = nsr_tree_build(ctx, p, &(struct nsr_key_loads){0}, t);
  if (status == NSR_OK)
    status = nsr_trips_find(ctx, t, trips);
  if (status != NSR_OK)
    fail_msg("%s\n%s", nsr_ctx_first_error(ctx)->text, text);
}

/* The first loop's. */
static const struct {
  const char *name, *text;
  uint64_t most;
} cases[] = {
    {"tested at the bottom",
     " mov r1, 0\nl: nop\n add r1, r1, 1\n br.lt r1, 5, l\n sync 1\n halt\n",
     6},
    {"tested on top",
     " mov r1, 0\nl: br.ge r1, 5, e\n nop\n add r1, r1, 2\n br l\n"
     "e: sync 1\n halt\n",
     4},
    {"down",
     " mov r1, 9\nl: nop\n sub r1, r1, 3\n br.gt r1, 0, l\n sync 1\n halt\n",
     4},
    {"the other way round",
     " mov r1, 0\nl: nop\n add r1, r1, 1\n br.gt 5, r1, l\n sync 1\n halt\n",
     6},
    {"up to the bound itself",
     " mov r1, 0\nl: nop\n add r1, r1, 1\n br.le r1, 5, l\n sync 1\n halt\n",
     7},
    {"until equal",
     " mov r1, 0\nl: nop\n add r1, r1, 1\n br.ne r1, 5, l\n sync 1\n halt\n",
     6},
    {"until equal, in steps that may miss it",
     " mov r1, 0\nl: nop\n add r1, r1, 2\n br.ne r1, 5, l\n sync 1\n halt\n",
     NSR_ENDLESS},
    {"up to what is loaded",
     " ld r2, n\n mov r1, 0\nl: br.ge r1, r2, e\n nop\n add r1, r1, 1\n"
     " br l\ne: sync 1\n halt\n",
     8},
    {"and one more",
     " ld r2, n\n add r3, r2, 1\n mov r1, 0\nl: br.ge r1, r3, e\n nop\n"
     " add r1, r1, 1\n br l\ne: sync 1\n halt\n",
     9},
    {"down from what is loaded",
     " ld r1, n\nl: nop\n sub r1, r1, 1\n br.gt r1, 0, l\n sync 1\n halt\n", 8},
    {"wraps in the first step down",
     " mov r1, -2147483648\nl: nop\n sub r1, r1, 1\n"
     " br.gt r1, 2147483644, l\n sync 1\n halt\n",
     NSR_ENDLESS},
    {"wraps in the first step up",
     " mov r1, 2147483647\nl: nop\n add r1, r1, 1\n"
     " br.lt r1, -2147483640, l\n sync 1\n halt\n",
     NSR_ENDLESS},
    {"no range is declared",
     " ld r2, m\n mov r1, 0\nl: br.ge r1, r2, e\n nop\n add r1, r1, 1\n"
     " br l\ne: sync 1\n halt\n",
     NSR_ENDLESS},
    {"the bound moves",
     " mov r2, 5\n mov r1, 0\nl: nop\n add r2, r2, 1\n add r1, r1, 1\n"
     " br.lt r1, r2, l\n sync 1\n halt\n",
     NSR_ENDLESS},
    {"advanced on one way only",
     " mov r1, 0\nl: nop\n br.eq r3, 0, s\n add r1, r1, 1\n"
     "s: br.lt r1, 5, l\n sync 1\n halt\n",
     NSR_ENDLESS},
    {"set on one way only",
     " mov r1, 0\n br.eq r3, 0, l\n mov r1, -9\nl: nop\n add r1, r1, 1\n"
     " br.lt r1, 5, l\n sync 1\n halt\n",
     NSR_ENDLESS},
    {"the register serves again behind the loop",
     " mov r1, 0\nl: nop\n add r1, r1, 1\n br.lt r1, 5, l\n mov r1, -90\n"
     "m: nop\n add r1, r1, 1\n br.lt r1, 5, m\n sync 1\n halt\n",
     6},
    {"left in the middle as well",
     " mov r1, 0\nl: nop\n br.eq r3, 0, e\n add r1, r1, 1\n"
     " br.lt r1, 5, l\ne: sync 1\n halt\n",
     6},
};

static void test_cases(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct nsr_ctx *ctx = nsr_ctx_new();
    struct nsr_program p;
    struct nsr_tree t;
    uint64_t *trips;
    char text[1000];
    snprintf(text, sizeof text, HEAD "%s", cases[i].text);
    find(ctx, text, &p, &t, &trips);
    assert_true(t.nscopes > 1 && t.scopes[1].kind == NSR_SCOPE_LOOP);
    if (trips[1] != cases[i].most)
      fail_msg("%s: %llu, wanted %llu", cases[i].name,
               (unsigned long long)trips[1], (unsigned long long)cases[i].most);
    nsr_ctx_free(ctx);
  }
}

/* ---- random nests, run */

struct writer {
  char text[8000];
  size_t n;
  struct prng *r;
  int labels;
};

#define PUT(w, ...)                                                            \
  ((w)->n += (size_t)snprintf((w)->text + (w)->n, sizeof(w)->text - (w)->n,    \
                              __VA_ARGS__))

static void put_loops(struct writer *w, int depth);

/* A loop over a register of few, not always set in front of it. */
static void put_loop(struct writer *w, int depth) {
  static const char *const ups[] = {"lt", "le", "ne"};
  int label = w->labels++, reg = (int)prng_in(w->r, 1, 4);
  int step = (int)prng_in(w->r, 1, 3);
  bool top = prng_in(w->r, 0, 1), down = prng_in(w->r, 0, 3) == 0;
  const char *cc = ups[prng_in(w->r, 0, step == 1 ? 2 : 1)];
  int bound = (int)prng_in(w->r, -2, 6), start = (int)prng_in(w->r, -2, 3);
  if (strcmp(cc, "ne") == 0)
    bound = start + (int)prng_in(w->r, 0, 4);
  if (prng_in(w->r, 0, 4))
    PUT(w, " mov r%d, %d\n", reg, down ? -start : start);
  if (down)
    cc = cc[0] == 'n' ? "ne" : cc[1] == 't' ? "gt" : "ge";
  bound = down ? -bound : bound;
  if (top)
    PUT(w, "h%d: br.%s r%d, %d, b%d\n br e%d\nb%d: nop\n", label, cc, reg,
        bound, label, label, label);
  else
    PUT(w, "h%d: nop\n", label);
  put_loops(w, depth + 1);
  PUT(w, " %s r%d, r%d, %d\n", down ? "sub" : "add", reg, reg, step);
  if (top)
    PUT(w, " br h%d\n", label);
  else
    PUT(w, " br.%s r%d, %d, h%d\n", cc, reg, bound, label);
  PUT(w, "e%d: nop\n", label);
}

static void put_loops(struct writer *w, int depth) {
  int n = (int)prng_in(w->r, depth == 0, depth < 2 ? 2 : 0);
  for (int i = 0; i < n; i++) {
    if (prng_in(w->r, 0, 3) == 0)
      PUT(w, " mov r%d, %d\n", (int)prng_in(w->r, 1, 4),
          (int)prng_in(w->r, -3, 3));
    put_loop(w, depth);
  }
}

static bool holds(int cc, int32_t a, int32_t b) {
  switch (cc) {
  case NSR_CC_EQ:
    return a == b;
  case NSR_CC_NE:
    return a != b;
  case NSR_CC_LT:
    return a < b;
  case NSR_CC_LE:
    return a <= b;
  case NSR_CC_GT:
    return a > b;
  case NSR_CC_GE:
    return a >= b;
  default:
    return true;
  }
}

/* Runs the stream; most[loop]: iterations of a trip. false: it takes long. */
static bool run(struct nsr_ctx *ctx, const struct nsr_program *p,
                const struct nsr_cfg *g, uint64_t *most) {
  const struct nsr_stream *s = p->stream[g->engine];
  int32_t regs[64] = {0};
  uint64_t now[64] = {0};
  uint32_t at = 0, from = NSR_NONE;
  for (int steps = 0; steps < 20000; steps++) {
    uint32_t block = g->block_of[at], l = g->blocks[block].loop;
    if (l != NSR_NONE && g->blocks[block].first == at &&
        g->loops[l].header == block) {
      bool again = from != NSR_NONE && nsr_cfg_in_loop(g, g->block_of[from], l);
      now[l] = again ? now[l] + 1 : 1;
      most[l] = now[l] > most[l] ? now[l] : most[l];
    }
    struct nsr_insn x;
    assert_int_equal(nsr_stream_decode(ctx, p->k, s, at, &x), NSR_OK);
    int32_t a = x.a.is_reg ? regs[x.a.v] : x.a.v;
    int32_t b = x.b.is_reg ? regs[x.b.v] : x.b.v;
    from = at++;
    if (x.desc->cls != NSR_CONTROL)
      continue;
    if (x.desc->ctl == NSR_CTL_HALT)
      return true;
    if (x.desc->ctl == NSR_CTL_MOV)
      regs[x.dst] = a;
    else if (x.desc->ctl == NSR_CTL_ADD)
      regs[x.dst] = a + b;
    else if (x.desc->ctl == NSR_CTL_SUB)
      regs[x.dst] = a - b;
    else if (x.desc->ctl == NSR_CTL_BR && holds(x.cc, a, b))
      at = (uint32_t)p->nodes[g->engine][from].aux;
  }
  return false;
}

static void test_random(void **state) {
  (void)state;
  struct prng r = prng_seed("trips", 11);
  const char *count = getenv("NSR_KERNELS");
  unsigned n = count ? (unsigned)strtoul(count, NULL, 0) : 800;
  unsigned loops = 0, known = 0, tight = 0;
  for (unsigned i = 0; i < n; i++) {
    struct nsr_ctx *ctx = nsr_ctx_new();
    struct writer w = {.r = &r};
    struct nsr_program p;
    struct nsr_tree t;
    uint64_t *trips, most[64] = {0};
    PUT(&w, HEAD " mov r1, 0\n mov r2, 0\n mov r3, 0\n mov r4, 0\n");
    put_loops(&w, 0);
    PUT(&w, " sync 1\n halt\n");
    find(ctx, w.text, &p, &t, &trips);
    int e = nsr_isa_engine(p.k->isa, "sp");
    const struct nsr_cfg *g = t.local[e].cfg;
    bool ends = run(ctx, &p, g, most);
    for (uint32_t s = 1; s < t.nscopes; s++) {
      if (t.scopes[s].kind != NSR_SCOPE_LOOP)
        continue;
      uint32_t entry = t.local[e].scopes[t.scopes[s].local[e]].entry;
      uint64_t ran = most[g->blocks[g->block_of[entry]].loop];
      if (ran > trips[s])
        fail_msg("scope %u ran %llu times, at most %llu was said:\n%s", s,
                 (unsigned long long)ran, (unsigned long long)trips[s], w.text);
      loops++;
      known += trips[s] != NSR_ENDLESS;
      tight += ends && ran + 2 >= trips[s];
    }
    nsr_ctx_free(ctx);
  }
  printf("%u loops, %u known, %u within two\n", loops, known, tight);
  assert_true(known * 2 > loops);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_cases),
      cmocka_unit_test(test_random),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
