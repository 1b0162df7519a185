/* test_random.c - random kernels, rewritten and judged.
 *
 * NSR_SEED sets the first seed, NSR_KERNELS how many (tools/campaign.sh runs
 * many of them), one after the other for each instruction set. A kernel that
 * fails is named by its seed:
 * nsync-gen random --isa=ISA --seed=N --instructions=M.
 */
#include "passes.h"
#include "prng.h"

#include <nsr/gen.h>

/* UNKNOWN: percent of instructions with unknown effects, in every fifth. */
enum { MAX_SETS = 16, UNKNOWN = 6 };

/* What kernels have some of. */
enum feature {
  DEPTH_2,
  DEPTH_3,
  DEPTH_4,
  CONFLICTS,
  ZERO_TRIPS,
  BREAK,
  CONTINUE,
  CONDITIONAL,
  BOTH_ARMS,
  PRIVATE,
  QUEUES,
  ADDRESSES,
  ROTATION,
  BY_AND,
  TOGGLED,
  SET_BACK,
  UNROLLED,
  SOFT,
  NFEATURES
};
static const char *const feature_names[NFEATURES] = {
    "depth 2",    "depth 3",        "depth 4",        "conflicts",
    "zero trips", "break",          "continue",       "conditionals",
    "both arms",  "private",        "several queues", "run-time addresses",
    "rotation",   "by and",         "toggled",        "set back",
    "unrolled",   "unknown effects"};

struct tally {
  unsigned rewritten, only_exit, refused;
  unsigned kept_unknown;    /* barriers too, but has unknown effects */
  unsigned with[NFEATURES]; /* of those with the exit barrier alone */
  uint64_t instances;
};

static void add_features(const struct nsr_random_shares *s, unsigned *with) {
  const uint32_t has[NFEATURES] = {
      [DEPTH_2] = s->by_depth[2],
      [DEPTH_3] = s->by_depth[3],
      [DEPTH_4] = s->by_depth[4],
      [CONFLICTS] = s->waiting,
      [ZERO_TRIPS] = s->zero_trips,
      [BREAK] = s->breaks,
      [CONTINUE] = s->continues,
      [CONDITIONAL] = s->conditionals,
      [BOTH_ARMS] = s->both_arms,
      [PRIVATE] = s->private_loops + s->private_arms,
      [QUEUES] = s->queues > 1,
      [ADDRESSES] = s->addressed + s->rotating[5],
      [ROTATION] = s->rotating[0] + s->rotating[1] + s->rotating[2] +
                   s->rotating[3] + s->rotating[4],
      [BY_AND] = s->rotating[1],
      [TOGGLED] = s->rotating[2],
      [SET_BACK] = s->rotating[3],
      [UNROLLED] = s->rotating[4],
      [SOFT] = s->unknown};
  for (int f = 0; f < NFEATURES; f++)
    with[f] += has[f] > 0;
}

static void say_first(struct nsr_ctx *ctx, const struct nsr_isa *isa,
                      uint64_t seed, int64_t size) {
  char line[2000] = "";
  const struct nsr_diag *d = nsr_ctx_first_error(ctx);
  if (d)
    nsr_diag_format(d, line, sizeof line);
  fprintf(stderr, "random isa=%s seed=%" PRIu64 " instructions=%d: %s\n",
          isa->name, seed, (int)size, line);
}

static void say_kept(const struct nsr_isa *isa, uint64_t seed, int64_t size,
                     const struct nsr_rewrite_report *r) {
  fprintf(stderr,
          "random isa=%s seed=%" PRIu64 " instructions=%d: kept %s[%d]: %s\n",
          isa->name, seed, (int)size, r->kept[0].place.engine,
          (int)r->kept[0].place.insn, r->kept[0].reason);
}

static void count_good(const struct nsr_isa *isa, uint64_t seed, int64_t size,
                       const struct nsr_rewrite_report *r,
                       const struct nsr_random_shares *shares,
                       struct tally *tally) {
  tally->rewritten++;
  tally->instances += r->judgement.instances;
  if (r->nkept > 1) {
    tally->kept_unknown += shares->unknown > 0;
    say_kept(isa, seed, size, r);
    return;
  }
  tally->only_exit++;
  add_features(shares, tally->with);
}

/* Rewrites one kernel under its judge; refusals for lack of registers or
 * semaphores are counted. */
static bool try_kernel(const struct nsr_isa *isa, uint64_t seed, int64_t size,
                       struct tally *tally) {
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_setting settings[] = {{"seed", (int64_t)seed},
                                   {"instructions", size},
                                   {"unknown", seed % 5 ? 0 : UNKNOWN}};
  struct nsr_random_shares shares;
  struct nsr_gen_options gen = {
      .isa = isa, .nsettings = 3, .settings = settings, .shares = &shares};
  struct nsr_rewrite_options options = {.judge = {.inputs = 12}};
  struct nsr_rewrite_report report;
  struct nsr_kernel *k, *out;
  enum nsr_status status = nsr_gen(ctx, "random", &gen, &k);
  if (status == NSR_OK)
    status = nsr_kernel_check(ctx, k);
  if (status == NSR_OK)
    status = nsr_rewrite(ctx, k, NULL, 0, &options, &out, &report);
  bool good = status == NSR_OK && report.judgement.verdict == NSR_EQUAL;
  bool budget = status == NSR_E_REFUSED &&
                strstr(nsr_ctx_first_error(ctx)->text, " needed to count ");
  if (good)
    count_good(isa, seed, size, &report, &shares, tally);
  else
    say_first(ctx, isa, seed, size);
  tally->refused += !good && budget;
  nsr_ctx_free(ctx);
  return good || budget;
}

/* Of all that came out with the exit barrier alone. */
static void print_features(const struct tally *t, unsigned nsets) {
  unsigned with[NFEATURES] = {0}, all = 0;
  for (unsigned i = 0; i < nsets; i++) {
    all += t[i].only_exit;
    for (int f = 0; f < NFEATURES; f++)
      with[f] += t[i].with[f];
  }
  for (int f = 0; f < NFEATURES; f++)
    printf("%s%s %u %%", f ? ", " : "", feature_names[f],
           all ? with[f] * 100 / all : 0);
  printf("\n");
}

/* The next kernel is for the next instruction set. */
static void test_random_kernels(void **state) {
  (void)state;
  struct prng r = prng_seed("random kernels", 1);
  const char *n = getenv("NSR_KERNELS");
  unsigned kernels = n ? (unsigned)strtoul(n, NULL, 0) : 50, bad = 0, sets = 0;
  unsigned whole = 0, unknown = 0;
  struct tally tally[MAX_SETS] = {0};
  uint64_t first = r.state;
  while (nsr_isas[sets])
    sets++;
  assert_in_range(sets, 1, MAX_SETS);
  for (uint64_t seed = first; seed < first + kernels; seed++) {
    unsigned set = (unsigned)(seed % sets);
    bad += !try_kernel(nsr_isas[set], seed, 10 + (int64_t)(seed * 37 % 700),
                       &tally[set]);
    if (n && (seed - first) % 1000 == 999)
      fprintf(stderr, "%" PRIu64 " of %u, %u bad\n", seed - first + 1, kernels,
              bad);
  }
  for (unsigned i = 0; i < sets; i++) {
    printf("%s: %u rewritten (%u with the exit barrier alone), %u refused, "
           "%" PRIu64 " instances\n",
           nsr_isas[i]->name, tally[i].rewritten, tally[i].only_exit,
           tally[i].refused, tally[i].instances);
    whole += tally[i].only_exit;
    unknown += tally[i].kept_unknown;
  }
  print_features(tally, sets);
  assert_int_equal(bad, 0);
  /* who may overwrite the words that decide scopes keeps them apart */
  assert_true(unknown <= kernels / 20 + 1);
  assert_true(whole + unknown >= kernels - kernels / 100 - 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_kernels)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
