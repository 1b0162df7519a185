/* test_random_islands.c - kernels with branches to anywhere, waits and
 * instructions that cannot be read, rewritten and judged.
 *
 * The engines run the same flow over the same registers; each piece of work
 * stands between barriers of its own, so that no input has a race. NSR_SEED
 * sets the first seed, NSR_KERNELS how many.
 */
#include "passes.h"
#include "prng.h"

#include <nsr/gen.h>
#include <nsr/rewrite.h>

enum { ENGINES = 3, MOST = 10 };

static const char *const engines[ENGINES] = {"sp", "dve", "pool"};

static const char head[] = ".isa tile64\n.kernel \"flow\"\n.queue q0 sp\n"
                           ".tensor n dram i32 [1] at 0 input range 0 6\n"
                           ".tensor x dram f32 [4, 8] at 4096 input\n"
                           ".tensor y dram f32 [4, 8] at 8192 output\n"
                           ".tensor t0 sbuf f32 [4, 8] at 0:4, 0 scratch\n"
                           ".tensor t1 sbuf f32 [4, 8] at 0:4, 32 scratch\n"
                           ".tensor t2 sbuf f32 [4, 8] at 0:4, 64 scratch\n";

/* What a block does, and how it goes on. */
struct block {
  enum { WORK, PAIR, LOAD, UNREADABLE, UNKNOWN, NOTHING } kind;
  unsigned engine, other; /* of the work */
  unsigned from, to;      /* buffers */
  unsigned step, mask, value;
  int target; /* -1: falls through */
};

struct flow {
  unsigned n;
  struct block blocks[MOST];
};

static struct flow make_flow(struct prng *r) {
  struct flow f = {.n = (unsigned)prng_in(r, 3, MOST)};
  for (unsigned i = 0; i < f.n; i++) {
    struct block *b = &f.blocks[i];
    int64_t kind = prng_in(r, 0, 15);
    b->kind = kind < 7    ? WORK
              : kind < 10 ? PAIR
              : kind < 12 ? LOAD
              : kind < 13 ? UNREADABLE
              : kind < 14 ? UNKNOWN
                          : NOTHING;
    b->engine = (unsigned)prng_in(r, 0, 1);
    b->other = 2;
    b->from = (unsigned)prng_in(r, 0, 2);
    b->to = (b->from + (unsigned)prng_in(r, 1, 2)) % 3;
    b->step = (unsigned)prng_in(r, 1, 5);
    b->mask = (unsigned)prng_in(r, 0, 1) * 2 + 1;
    b->value = (unsigned)prng_in(r, 0, b->mask);
    b->target = prng_in(r, 0, 2) ? (int)prng_in(r, 0, f.n) : -1;
  }
  return f;
}

struct text {
  char s[20000];
  size_t n;
};

NSR_PRINTF(2, 3)
static void put(struct text *t, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  t->n += (size_t)vsnprintf(t->s + t->n, sizeof t->s - t->n, fmt, args);
  va_end(args);
  assert_in_range(t->n, 0, sizeof t->s - 1);
}

static void put_copy(struct text *t, const struct block *b, unsigned engine,
                     const char *sync) {
  if (engine == 0)
    put(t, " dma q0, t%u[8*4], t%u[8*4]%s\n", b->to, b->from, sync);
  else
    put(t, " copy t%u[8*4], t%u[8*4]%s\n", b->to, b->from, sync);
}

static void put_work(struct text *t, const struct block *b, unsigned e) {
  switch (b->kind) {
  case WORK:
    if (e == b->engine)
      put_copy(t, b, e, "");
    break;
  case PAIR: /* one behind the other */
    if (e == b->engine)
      put_copy(t, b, e, " ^s3");
    if (e == b->other)
      put_copy(t, b, e, " ?s3>=1");
    break;
  case LOAD:
    put(t, e == b->engine ? " ld r9, n\n" : "");
    break;
  case UNREADABLE:
    put(t, e == b->engine ? " nop ?s4>=r8\n" : "");
    break;
  case UNKNOWN:
    put(t, e == 2 ? " custom code=7\n" : "");
    break;
  case NOTHING:
    break;
  }
}

static void put_block(struct text *t, const struct flow *f, unsigned i,
                      unsigned e) {
  const struct block *b = &f->blocks[i];
  bool barriers = b->kind != LOAD && b->kind != NOTHING;
  put(t, "l%u:\n", i);
  if (barriers)
    put(t, " sync %u\n", 10 + 2 * i);
  put_work(t, b, e);
  if (barriers)
    put(t, " sync %u\n", 11 + 2 * i);
  if (b->target < 0)
    return;
  put(t, " add r3, r3, %u\n and r4, r3, %u\n sub r2, r2, 1\n", b->step,
      b->mask);
  if (b->target <= (int)i)
    put(t, " br.le r2, 0, k%u\n", i);
  put(t, " br.eq r4, %u, l%d\nk%u:\n", b->value, b->target, i);
}

static void put_kernel(struct text *t, const struct flow *f) {
  put(t, "%s", head);
  for (unsigned e = 0; e < ENGINES; e++) {
    put(t, ".engine %s\n ld r3, n\n mov r2, 12\n mov r8, 0\n sync 0\n",
        engines[e]);
    for (unsigned i = 0; e == 0 && i < 3; i++)
      put(t, " dma q0, t%u[8*4], x{4*32}[8*4]\n", i);
    put(t, " sync 1\n");
    for (unsigned i = 0; i < f->n; i++)
      put_block(t, f, i, e);
    put(t, "l%u: sync 2\n", f->n);
    put(t, e == 0 ? " dma q0, y{4*32}[8*4], t0[8*4]\n" : "");
    put(t, " sync 3\n halt\n");
  }
}

struct tally {
  unsigned same, fewer, islands, refused;
};

/* Structure that is refused, not what cannot happen in these kernels. */
static bool may_refuse(const char *text) {
  return strstr(text, "no stretch around it") != NULL;
}

/* Whether the report says of each stream of the output what is in it. */
static bool counts_agree(struct nsr_ctx *ctx, const struct nsr_kernel *out,
                         const struct nsr_rewrite_report *r) {
  for (uint32_t i = 0; i < out->nstreams; i++) {
    const struct nsr_stream *s = &out->streams[i];
    const struct nsr_engine_report *e = &r->engines[s->engine];
    uint32_t barriers = 0, waits = 0;
    for (uint32_t j = 0; j < s->n; j++) {
      struct nsr_insn x;
      if (nsr_stream_decode(ctx, out, s, j, &x) != NSR_OK)
        return false;
      barriers += x.desc->cls == NSR_BARRIER;
      waits += x.wait.cmp && nsr_owned(out, x.wait.sem);
    }
    if (e->insns_after != s->n || e->barriers_after != barriers ||
        e->waits_after != waits)
      return false;
  }
  return true;
}

static bool try_flow(uint64_t seed, struct tally *tally) {
  struct prng r = {seed};
  struct flow f = make_flow(&r);
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_rewrite_options options = {.keep_outer = seed % 4 == 0,
                                        .scheme =
                                            (enum nsr_scheme)(seed / 4 % 5),
                                        .judge = {.inputs = 7}};
  struct nsr_rewrite_report report;
  struct nsr_kernel *k, *out;
  static struct text t;
  char line[2000] = "";
  t.n = 0;
  put_kernel(&t, &f);
  k = assemble(ctx, t.s);
  enum nsr_status status =
      nsr_rewrite(ctx, k, NULL, 0, &options, &out, &report);
  bool good = status == NSR_OK;
  if (good) {
    tally->islands += report.nkept > 1;
    tally->same += !report.changed;
    tally->fewer += report.changed;
    good = (!report.changed || report.judgement.verdict != NSR_REFUTED) &&
           counts_agree(ctx, out, &report);
  } else {
    nsr_diag_format(nsr_ctx_first_error(ctx), line, sizeof line);
    good = status == NSR_E_REFUSED && may_refuse(line);
    tally->refused += good;
  }
  if (!good)
    fprintf(stderr, "seed %" PRIu64 ": %s\n%s\n", seed, line, t.s);
  nsr_ctx_free(ctx);
  return good;
}

static void test_flows(void **state) {
  (void)state;
  struct prng r = prng_seed("random flows", 1);
  const char *n = getenv("NSR_KERNELS");
  unsigned kernels = n ? (unsigned)strtoul(n, NULL, 0) : 60, bad = 0;
  struct tally tally = {0};
  for (uint64_t seed = r.state; seed < r.state + kernels; seed++)
    bad += !try_flow(seed, &tally);
  printf("%u with fewer barriers, %u unchanged, %u refused; %u with islands\n",
         tally.fewer, tally.same, tally.refused, tally.islands);
  assert_int_equal(bad, 0);
  assert_true(tally.fewer > kernels / 4);
  assert_true(tally.islands > kernels / 4);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_flows)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
