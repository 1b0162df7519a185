/* What instances need: against a look at every pair of accesses, byte by byte,
 * in the suite and in random kernels, under every order of channels that keeps
 * them free of races. */
#include "prng.h"
#include "sim_kernel.h"

#include <nsr/gen.h>

#include "judge/ideal.h"
#include "sim/runs.h"

enum { MOST = 1500, RUNS = 40, KERNELS = 60 };

struct run {
  uint8_t space;
  bool writes, accumulates;
  uint32_t part;
  int64_t begin, end;
};

struct instance {
  const struct nsr_step *step;
  uint8_t engine, channel;
  uint32_t number, nruns;
  struct run *runs;
  uint32_t clock[NSR_MAX_CHANNELS]; /* retired when it is issued */
};

struct log {
  struct nsr_ctx *ctx;
  const struct nsr_kernel *k;
  struct instance *v;
  uint32_t n;
  bool full; /* too long, or accesses of too many runs: not looked at */
};

static void add_runs(struct log *l, struct instance *x,
                     const struct nsr_flight *f, int i) {
  const struct nsr_operand *o = &f->step->access[i].op;
  struct nsr_shape shape = nsr_flight_shape(f, i);
  struct nsr_runs r;
  for (nsr_runs_first(&r, &shape, f->offset[i]); r.more; nsr_runs_next(&r)) {
    if (x->nruns == RUNS) {
      l->full = true;
      return;
    }
    x->runs[x->nruns++] = (struct run){o->space,
                                       nsr_role_writes((enum nsr_role)o->role),
                                       o->acc && o->space == NSR_PSUM,
                                       r.part,
                                       r.begin,
                                       r.begin + r.len};
  }
}

static bool on_issued(void *self, struct nsr_flight *f) {
  struct log *l = self;
  if (l->n == MOST)
    l->full = true;
  if (l->full || !f->number)
    return true;
  struct instance *x = &l->v[l->n++];
  *x = (struct instance){.step = f->step,
                         .engine = f->engine,
                         .channel = f->channel,
                         .number = f->number};
  x->runs = nsr_alloc_n(l->ctx, NSR_KEEP, RUNS, sizeof *x->runs);
  assert_non_null(x->runs);
  for (int i = 0; i < f->step->naccess; i++)
    if (!f->empty[i])
      add_runs(l, x, f, i);
  return true;
}

static bool meet(const struct run *a, const struct run *b) {
  return a->space == b->space && a->part == b->part && a->begin < b->end &&
         b->begin < a->end && (a->writes || b->writes);
}

/* Whether c has to wait for p, which was issued before. */
static bool conflict(const struct log *l, const struct instance *p,
                     const struct instance *c) {
  enum nsr_order order = nsr_channel_order(l->k, c->channel);
  bool same = p->channel == c->channel;
  if (same && order == NSR_ORDER_FULL)
    return false;
  for (uint32_t i = 0; i < p->nruns; i++)
    for (uint32_t j = 0; j < c->nruns; j++)
      if (meet(&p->runs[i], &c->runs[j]) &&
          !(same && order == NSR_ORDER_HIDDEN && c->runs[j].accumulates &&
            p->runs[i].writes))
        return true;
  if (same && order != NSR_ORDER_NONE)
    return false;
  for (int i = 0; i < p->step->desc->nhidden; i++)
    for (int j = 0; j < c->step->desc->nhidden; j++)
      if (p->step->hidden[i] == c->step->hidden[j] &&
          (nsr_role_writes(p->step->desc->hidden[i].role) ||
           nsr_role_writes(c->step->desc->hidden[j].role)))
        return true;
  return false;
}

static struct instance *find(struct log *l, uint8_t channel, uint32_t number) {
  for (uint32_t i = 0; i < l->n; i++)
    if (l->v[i].channel == channel && l->v[i].number == number)
      return &l->v[i];
  fail_msg("no instance %u of channel %u", number, channel);
  return NULL;
}

static void join(uint32_t *to, const uint32_t *from) {
  for (int c = 0; c < NSR_MAX_CHANNELS; c++)
    to[c] = from[c] > to[c] ? from[c] : to[c];
}

/* Everything that is retired when an instance is issued, if it waits for what
 * it needs. drop: a need that is left out, counted from 1. */
static void make_clocks(struct log *l, const struct nsr_true_needs *needs,
                        uint64_t drop) {
  uint32_t known[NSR_MAX_ENGINES][NSR_MAX_CHANNELS] = {{0}};
  uint64_t n = 0;
  for (uint32_t i = 0; i < l->n; i++) {
    struct instance *x = &l->v[i];
    const uint64_t *first = &needs->first[x->channel].v[x->number - 1];
    for (uint64_t k = first[0]; k < first[1]; k++) {
      const struct nsr_true_need *need = &needs->all[x->channel].v[k];
      if (++n == drop)
        continue;
      join(known[x->engine], find(l, need->channel, need->number)->clock);
      if (known[x->engine][need->channel] < need->number)
        known[x->engine][need->channel] = need->number;
    }
    memcpy(x->clock, known[x->engine], sizeof x->clock);
    if (x->step->desc->cls == NSR_LOAD)
      known[x->engine][x->channel] = x->number;
  }
}

/* A pair that is in no order, NULL: none. */
static const struct instance *unordered(const struct log *l) {
  for (uint32_t c = 0; c < l->n; c++)
    for (uint32_t p = 0; p < c; p++)
      if (l->v[c].clock[l->v[p].channel] < l->v[p].number &&
          conflict(l, &l->v[p], &l->v[c]))
        return &l->v[c];
  return NULL;
}

static void expect_tight(struct log *l, const struct nsr_true_needs *needs,
                         const char *what) {
  for (uint32_t i = 0; i < l->n; i++) {
    const struct instance *x = &l->v[i];
    const uint64_t *first = &needs->first[x->channel].v[x->number - 1];
    for (uint64_t k = first[0]; k < first[1]; k++) {
      const struct nsr_true_need *need = &needs->all[x->channel].v[k];
      if (!conflict(l, find(l, need->channel, need->number), x))
        fail_msg("%s: %s number %u waits for what it has nothing to do with",
                 what, x->step->desc->mnemonic, x->number);
    }
  }
}

struct score {
  unsigned kernels, dropped, missed;
};

static void check(struct nsr_ctx *ctx, const struct nsr_kernel *k,
                  const char *what, struct prng *r, struct score *s) {
  struct opaque_run run;
  struct log l = {.ctx = ctx, .k = k};
  const struct nsr_observer o = {.self = &l, .issued = on_issued};
  struct nsr_true_needs *needs;
  char line[400];
  l.v = nsr_alloc_n(ctx, NSR_KEEP, MOST, sizeof *l.v);
  assert_non_null(l.v);
  opaque_run(&run, ctx, k, NSR_ROUND_ROBIN, 0, NULL);
  struct nsr_policy policy;
  nsr_policy_init(&policy, NSR_RANDOM, 0, 1);
  assert_int_equal(
      nsr_opaque_new(ctx, NSR_KEEP, run.image, run.atoms, NULL, 0, &run.memory),
      NSR_OK); /* once more, no cuts missing */
  const struct nsr_sim_options options = {.image = run.image,
                                          .machine = &run.machine,
                                          .memory = &run.memory->memory,
                                          .policy = &policy,
                                          .observer = &o,
                                          .budget = 400000};
  assert_int_equal(nsr_sim_new(ctx, NSR_KEEP, &options, &run.sim), NSR_OK);
  assert_int_equal(nsr_sim_run(run.sim), NSR_OK);
  if (!l.full && !run.image->has_may && run.sim->end == NSR_DONE) {
    if (nsr_ideal_needs(ctx, run.image, NULL, 0, 400000, NULL, NULL, &needs) !=
        NSR_OK)
      fail_msg("%s: %s", what, first_error(ctx, line, sizeof line));
    make_clocks(&l, needs, 0);
    if (unordered(&l))
      fail_msg("%s: in no order", what);
    expect_tight(&l, needs, what);
    uint64_t all = 0;
    for (int c = 0; c < run.image->nchannels; c++)
      all += needs->all[c].n;
    for (int i = 0; i < 3 && all; i++, s->dropped++) {
      make_clocks(&l, needs, (uint64_t)prng_in(r, 1, (int64_t)all));
      s->missed += !unordered(&l);
    }
    s->kernels++;
  }
  opaque_done(&run);
}

/* Channels that keep everything in order need less. */
static void set_full(struct nsr_ctx *ctx, struct nsr_kernel *k) {
  struct nsr_queue *q =
      nsr_alloc_n(ctx, NSR_KEEP, k->nqueues, sizeof *k->queues);
  assert_non_null(q);
  for (uint32_t i = 0; i < k->nqueues; i++) {
    q[i] = k->queues[i];
    q[i].order = NSR_ORDER_FULL;
  }
  k->queues = q;
  for (int e = 0; e < k->isa->nengines; e++)
    k->pipe_order[e] = NSR_ORDER_FULL;
}

static void check_gen(const char *name, const struct nsr_isa *isa,
                      uint64_t seed, bool full, struct prng *r,
                      struct score *s) {
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_kernel *k;
  char what[120];
  const struct nsr_setting settings[] = {{"seed", (int64_t)seed},
                                         {"instructions", 60}};
  const struct nsr_gen_options o = {.isa = isa,
                                    .nsettings =
                                        strcmp(name, "random") == 0 ? 2 : 0,
                                    .settings = settings};
  snprintf(what, sizeof what, "%s, %s, seed %llu%s", name, isa->name,
           (unsigned long long)seed, full ? ", full order" : "");
  if (nsr_gen(ctx, name, &o, &k) == NSR_OK) { /* not all for all sets */
    if (full)
      set_full(ctx, k);
    check(ctx, k, what, r, s);
  }
  nsr_ctx_free(ctx);
}

static void test_pairs(void **state) {
  (void)state;
  struct prng r = prng_seed("test_ideal", 1);
  struct score s = {0};
  for (int i = 0; nsr_isas[i]; i++)
    for (int full = 0; full < 2; full++) {
      for (int n = 0; nsr_gen_names[n]; n++)
        if (strcmp(nsr_gen_names[n], "random") != 0)
          check_gen(nsr_gen_names[n], nsr_isas[i], 0, full, &r, &s);
      for (int n = 0; n < KERNELS / 4; n++)
        check_gen("random", nsr_isas[i], prng_next(&r) % 65536, full, &r, &s);
    }
  printf("%u kernels; of %u needs dropped %u are implied by others\n",
         s.kernels, s.dropped, s.missed);
  assert_true(s.kernels > 10);
  assert_true(s.missed < s.dropped / 2);
}

/* Some of the bytes: what the kernel orders is needed, what it leaves open is
 * not. */
static const char may_head[] =
    ".isa tile64\n.queue q0 sp\n.queue q1 pool\n"
    ".tensor t dram f32 [8, 16] at 0 input\n"
    ".tensor i sbuf i32 [4, 1] at 0:4, 0 scratch\n"
    ".tensor x sbuf f32 [4, 16] at 0:4, 64 scratch\n"
    ".engine sp\ndma q0, t{8*64}[16*4], t{8*64}[16*4] ^s0\n";

static uint64_t needs_of(struct nsr_ctx *ctx, const char *rest) {
  char text[1500];
  struct nsr_image *image;
  struct nsr_true_needs *needs;
  snprintf(text, sizeof text, "%s%s", may_head, rest);
  struct nsr_kernel *k = kernel_of(ctx, text);
  assert_int_equal(nsr_image_new(ctx, NSR_KEEP, k, &image), NSR_OK);
  assert_true(image->has_may);
  assert_int_equal(
      nsr_ideal_needs(ctx, image, NULL, 0, 1000, NULL, NULL, &needs), NSR_OK);
  return needs->all[nsr_isa_engine(k->isa, "sp") + 1 + 1].n; /* q1 */
}

static void test_may(void **state) {
  (void)state;
  struct nsr_ctx *ctx = nsr_ctx_new();
  assert_int_equal(needs_of(ctx, "sync\nhalt\n.engine pool\n"
                                 "dmag q1, x[16*4], t{8*64}[16*4], i ?s0>=1\n"
                                 "sync\nhalt\n"),
                   1);
  assert_int_equal(needs_of(ctx, "sync\nsync\nhalt\n.engine pool\nsync\n"
                                 "dmag q1, x[16*4], t{8*64}[16*4], i\n"
                                 "sync\nhalt\n"),
                   1);
  assert_int_equal(needs_of(ctx, "sync\nhalt\n.engine pool\n"
                                 "dmag q1, x[16*4], t{8*64}[16*4], i\n"
                                 "sync\nhalt\n"),
                   0);
  nsr_ctx_free(ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_pairs),
                                     cmocka_unit_test(test_may)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
