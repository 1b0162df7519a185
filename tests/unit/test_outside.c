/* test_outside.c - random kernels that wait for others and tell them.
 *
 * A random kernel gets waits for and updates of semaphores it does not own on
 * some of its instructions, and stays as free of
 * races as it was. It is rewritten and judged, which checks that
 * accesses to DRAM stay on the sides of these where they were.
 */
#include "passes.h"
#include "prng.h"

#include <nsr/gen.h>

enum { SHARE = 60 };

/* Waits or tells on an instruction that has room for it; false: it has none.
 * Branches seldom do: their region would be an island. */
static bool decorate(const struct nsr_kernel *k, struct prng *r,
                     struct nsr_insn *x) {
  bool waits = x->desc->has_wait && !x->wait.cmp &&
               (x->desc->cls != NSR_CONTROL || prng_in(r, 1, 20) == 1);
  bool tells = x->desc->has_update && !x->update.op;
  int64_t last = k->isa->semaphores - 1;
  uint16_t sem = (uint16_t)prng_in(r, k->owned_last + 1, last);
  if (waits && (!tells || prng_in(r, 0, 1)))
    x->wait = (struct nsr_wait){NSR_CMP_GE, sem, {false, 0}};
  else if (tells)
    x->update = (struct nsr_update){NSR_UPD_INC, sem, 1};
  return waits || tells;
}

static enum nsr_status last_barrier(struct nsr_ctx *ctx,
                                    const struct nsr_kernel *k,
                                    const struct nsr_stream *s, uint32_t *at) {
  *at = 0;
  for (uint32_t i = 0; i < s->n; i++) {
    struct nsr_insn x;
    NSR_TRY(nsr_stream_decode(ctx, k, s, i, &x));
    if (x.desc->cls == NSR_BARRIER)
      *at = i;
  }
  return NSR_OK;
}

static enum nsr_status decorate_some(struct nsr_ctx *ctx, struct nsr_kernel *k,
                                     struct prng *r, unsigned *n) {
  for (uint32_t s = 0; s < k->nstreams; s++) {
    uint32_t end; /* the exit barrier: behind it is nothing but halts */
    NSR_TRY(last_barrier(ctx, k, &k->streams[s], &end));
    for (uint32_t i = 0; i < end; i++) {
      struct nsr_insn x;
      uint8_t *word =
          (uint8_t *)(uintptr_t)nsr_stream_word(k, &k->streams[s], i);
      char why[160];
      NSR_TRY(nsr_stream_decode(ctx, k, &k->streams[s], i, &x));
      if (prng_in(r, 1, SHARE) > 1 || !decorate(k, r, &x))
        continue;
      assert_true(nsr_encode(k->isa, &x, word, why, sizeof why));
      ++*n;
    }
  }
  return NSR_OK;
}

struct tally {
  unsigned equal, refused, kept, decorated;
};

static void try_kernel(const struct nsr_isa *isa, uint64_t seed,
                       struct tally *tally) {
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct prng r = {seed};
  struct nsr_setting settings[] = {{"seed", (int64_t)seed},
                                   {"instructions", prng_in(&r, 20, 400)}};
  struct nsr_gen_options gen = {
      .isa = isa, .nsettings = 2, .settings = settings};
  struct nsr_rewrite_options options = {.judge = {.inputs = 12}};
  struct nsr_rewrite_report report = {0};
  struct nsr_kernel *k, *out;
  enum nsr_status status = nsr_gen(ctx, "random", &gen, &k);
  if (status == NSR_OK && k->owned_last + 1 == isa->semaphores)
    k->owned_last--;
  if (status == NSR_OK)
    status = decorate_some(ctx, k, &r, &tally->decorated);
  if (status == NSR_OK)
    status = nsr_rewrite(ctx, k, NULL, 0, &options, &out, &report);
  const struct nsr_diag *d = nsr_ctx_first_error(ctx);
  bool refused = status == NSR_E_REFUSED;
  tally->equal += status == NSR_OK;
  tally->refused += refused;
  tally->kept += report.nkept > 1;
  if (status != NSR_OK && !refused) {
    char line[2000] = "";
    if (d)
      nsr_diag_format(d, line, sizeof line);
    fail_msg("%s, seed %" PRIu64 ": %s", isa->name, seed, line);
  }
  assert_true(refused || report.judgement.verdict == NSR_EQUAL ||
              !report.changed);
  nsr_ctx_free(ctx);
}

static void test_outside(void **state) {
  (void)state;
  struct prng r = prng_seed("semaphores of others", 1);
  const char *n = getenv("NSR_KERNELS");
  uint64_t kernels = n ? strtoull(n, NULL, 0) : 40, first = r.state;
  for (int i = 0; nsr_isas[i]; i++) {
    struct tally tally = {0};
    for (uint64_t seed = first; seed < first + kernels; seed++)
      try_kernel(nsr_isas[i], seed, &tally);
    printf("%s: %u equal (%u with barriers that stay), %u refused; %u waits "
           "and updates of others\n",
           nsr_isas[i]->name, tally.equal, tally.kept, tally.refused,
           tally.decorated);
    assert_true(tally.equal > kernels / 2);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_outside)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
