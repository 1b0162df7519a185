/* test_shrink.c - shrinking: what is left shows the same and no more, whatever
 * is tried is a valid kernel.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <nsr/gen.h>
#include <nsr/judge.h>
#include <nsr/text.h>

#include "prng.h"

struct wish {
  struct nsr_ctx *ctx;
  uint64_t calls;
  bool races; /* else: two datapath instructions of the same queue */
};

static uint64_t size_of(const struct nsr_kernel *k) {
  uint64_t n = 0;
  for (uint32_t s = 0; s < k->nstreams; s++)
    n += k->streams[s].n;
  return n;
}

static bool same_queue_twice(struct nsr_ctx *ctx, const struct nsr_kernel *k) {
  unsigned found[NSR_MAX_QUEUES] = {0};
  for (uint32_t s = 0; s < k->nstreams; s++)
    for (uint32_t i = 0; i < k->streams[s].n; i++) {
      struct nsr_insn insn;
      assert_int_equal(nsr_stream_decode(ctx, k, &k->streams[s], i, &insn),
                       NSR_OK);
      if (insn.desc->queue && ++found[insn.queue] == 2)
        return true;
    }
  return false;
}

static enum nsr_status look(void *self, const struct nsr_kernel *k,
                            bool *interesting) {
  struct wish *w = self;
  struct nsr_ctx *ctx = nsr_ctx_new();
  const struct nsr_judge_options options = {
      .inputs = 6, .budget = 4000, .no_relaunch = true};
  struct nsr_judgement j;
  w->calls++;
  assert_int_equal(nsr_kernel_check(ctx, k), NSR_OK);
  if (w->races) {
    assert_int_equal(nsr_cosimulate(ctx, k, k, &options, &j), NSR_OK);
    *interesting = j.verdict == NSR_INPUT_BROKEN && j.fault == NSR_FAULT_RACE;
  } else {
    *interesting = same_queue_twice(ctx, k);
  }
  nsr_ctx_free(ctx);
  return NSR_OK;
}

static struct nsr_kernel *
random_kernel(struct nsr_ctx *ctx, const struct nsr_isa *isa, struct prng *r) {
  struct nsr_setting settings[] = {{"seed", prng_in(r, 0, INT32_MAX)},
                                   {"instructions", prng_in(r, 60, 160)}};
  struct nsr_gen_options gen = {
      .isa = isa, .nsettings = 2, .settings = settings};
  struct nsr_kernel *k;
  assert_int_equal(nsr_gen(ctx, "random", &gen, &k), NSR_OK);
  assert_int_equal(nsr_kernel_check(ctx, k), NSR_OK);
  return k;
}

/* Nothing is left but the two instructions and what makes a stream end. */
static void test_smallest(void **state) {
  (void)state;
  struct prng r = prng_seed("smallest", 1);
  for (int i = 0; nsr_isas[i]; i++) {
    struct nsr_ctx *ctx = nsr_ctx_new();
    struct wish w = {.ctx = ctx};
    struct nsr_kernel *k, *small;
    uint64_t tries;
    do
      k = random_kernel(ctx, nsr_isas[i], &r);
    while (!same_queue_twice(ctx, k));
    assert_int_equal(nsr_shrink(ctx, k, 0, look, &w, &small, &tries), NSR_OK);
    assert_int_equal(w.calls, tries + 1);
    assert_int_equal(size_of(small), 3);
    assert_int_equal(small->nstreams, 1);
    assert_int_equal(small->nqueues, 1);
    assert_int_equal(small->streams[0].nlabels, 0);
    assert_true(same_queue_twice(ctx, small));
    nsr_ctx_free(ctx);
  }
}

static struct nsr_kernel *racing(struct nsr_ctx *ctx, struct nsr_kernel *k,
                                 struct wish *w) {
  const struct nsr_operator *op = nsr_operator_parse("drop-barrier");
  for (uint64_t i = 0;; i++) {
    struct nsr_kernel *mutant;
    const char *what;
    uint64_t places;
    bool good = false;
    assert_int_equal(nsr_mutate(ctx, k, op, i, &mutant, &what, &places),
                     NSR_OK);
    if (!mutant)
      return NULL;
    assert_int_equal(look(w, mutant, &good), NSR_OK);
    if (good)
      return mutant;
  }
}

/* A race can be shown by a few instructions, whatever it was found in. */
static void test_race(void **state) {
  (void)state;
  struct prng r = prng_seed("race", 1);
  for (int i = 0; nsr_isas[i]; i++)
    for (int n = 0; n < 2; n++) {
      struct nsr_ctx *ctx = nsr_ctx_new();
      struct wish w = {.ctx = ctx, .races = true};
      struct nsr_kernel *k, *small;
      uint64_t tries;
      bool good;
      do
        k = racing(ctx, random_kernel(ctx, nsr_isas[i], &r), &w);
      while (!k);
      assert_int_equal(nsr_shrink(ctx, k, 0, look, &w, &small, &tries), NSR_OK);
      assert_int_equal(look(&w, small, &good), NSR_OK);
      assert_true(good);
      printf("%s: %d instructions were %d, %d tries\n", nsr_isas[i]->name,
             (int)size_of(small), (int)size_of(k), (int)tries);
      assert_in_range(size_of(small), 3, 16);
      nsr_ctx_free(ctx);
    }
}

static void test_limits(void **state) {
  (void)state;
  struct prng r = prng_seed("limits", 1);
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct wish w = {.ctx = ctx, .races = true};
  struct nsr_kernel *k = random_kernel(ctx, nsr_isas[0], &r), *small;
  uint64_t tries;
  assert_int_equal(nsr_shrink(ctx, k, 0, look, &w, &small, &tries),
                   NSR_E_REFUSED);
  w.races = false;
  while (!same_queue_twice(ctx, k))
    k = random_kernel(ctx, nsr_isas[0], &r);
  w.calls = 0;
  assert_int_equal(nsr_shrink(ctx, k, 7, look, &w, &small, &tries), NSR_OK);
  assert_int_equal(tries, 7);
  assert_int_equal(w.calls, 8);
  assert_true(same_queue_twice(ctx, small));
  nsr_ctx_free(ctx);
}

/* Two copies, of streams with a loop, at addresses in registers of their own.
 */
static enum nsr_status two_copies(void *self, const struct nsr_kernel *k,
                                  bool *interesting) {
  unsigned copies = 0;
  *interesting = true;
  for (uint32_t s = 0; s < k->nstreams; s++) {
    unsigned before = copies;
    bool loop = false;
    int reg = NSR_NO_REG;
    for (uint32_t i = 0; i < k->streams[s].n; i++) {
      struct nsr_insn insn;
      assert_int_equal(nsr_stream_decode(self, k, &k->streams[s], i, &insn),
                       NSR_OK);
      loop |= insn.desc->ctl == NSR_CTL_BR && insn.displacement < 0;
      if (insn.desc->meaning != NSR_MEANING_COPY)
        continue;
      *interesting = *interesting && insn.operands[0].reg != reg;
      reg = insn.operands[0].reg;
      copies++;
    }
    *interesting = *interesting && (loop || copies == before);
  }
  *interesting = *interesting && copies == 2;
  return NSR_OK;
}

/* One engine does what two did, in the same loop, with other registers. */
static void test_engines(void **state) {
  (void)state;
  static const char text[] =
      ".isa tile64\n.kernel \"k\"\n"
      ".tensor x sbuf i32 [1, 64] at 0:1, 0 scratch\n"
      ".engine dve\n mov r1, 0\nl:\n sync 1\n copy x+r1[1*4], x+128[1*4]\n"
      " add r1, r1, 4\n br.lt r1, 16, l\n sync 2\n halt\n"
      ".engine act\n mov r1, 0\nl:\n sync 1\n copy x+r1[1*4], x+128[1*4]\n"
      " add r1, r1, 4\n br.lt r1, 16, l\n sync 2\n halt\n";
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_kernel *k, *small;
  struct nsr_insn a, b;
  uint64_t tries;
  assert_int_equal(nsr_assemble(ctx, "k.s", text, strlen(text), &k), NSR_OK);
  assert_int_equal(nsr_shrink(ctx, k, 0, two_copies, ctx, &small, &tries),
                   NSR_OK);
  assert_int_equal(small->nstreams, 1);
  const struct nsr_stream *s = &small->streams[0];
  assert_int_equal(s->n, 4);
  assert_int_equal(nsr_stream_decode(ctx, small, s, 0, &a), NSR_OK);
  assert_int_equal(nsr_stream_decode(ctx, small, s, 1, &b), NSR_OK);
  assert_int_equal(a.desc->meaning, NSR_MEANING_COPY);
  assert_int_not_equal(a.operands[0].reg, b.operands[0].reg);
  nsr_ctx_free(ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_smallest), cmocka_unit_test(test_race),
      cmocka_unit_test(test_engines), cmocka_unit_test(test_limits)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
