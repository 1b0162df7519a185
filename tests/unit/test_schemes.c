/* test_schemes.c - random kernels in which barriers stay at random, planned
 * under every scheme with few registers and semaphores, and judged.
 *
 * NSR_SEED sets the first seed, NSR_KERNELS how many. A kernel that fails is
 * named by its seed and what was asked for.
 */
#include "passes.h"
#include "prng.h"

#include <nsr/gen.h>
#include <nsr/judge.h>

#include "dep/dep.h"
#include "dep/explicit.h"
#include "emit/weave.h"
#include "ir/islands.h"

enum { MAX_SIZE = 500 };

/* What is asked of one kernel. */
struct ask {
  uint64_t seed;
  int64_t size;
  int keep; /* percent of the barriers */
  struct nsr_budget budget;
};

struct tally {
  unsigned equal, refused, kept, markers, starts, used[5];
};

/* The passes as far as needed. */
struct bench {
  struct nsr_program program;
  struct nsr_tree tree;
  struct nsr_deps deps;
  struct nsr_needs needs;
  struct nsr_plan plan;
  struct nsr_woven woven;
  uint32_t exit;
};

static unsigned keep_some(struct bench *b, struct prng *r, int percent) {
  unsigned n = 0;
  for (uint32_t p = 0; p < b->tree.nparts; p++)
    if (b->tree.parts[p].kind == NSR_PART_BARRIER &&
        prng_in(r, 1, 100) <= percent) {
      b->tree.parts[p].keep = NSR_KEEP_ASKED;
      n += p != b->exit;
    }
  return n;
}

static enum nsr_status analyse(struct nsr_ctx *ctx, const struct nsr_kernel *k,
                               struct bench *b) {
  struct nsr_islands islands;
  uint32_t *target;
  NSR_TRY(nsr_program_build(ctx, k, &b->program));
  NSR_TRY(
      nsr_tree_build(ctx, &b->program, &(struct nsr_key_loads){0}, &b->tree));
  NSR_TRY(nsr_islands_find(ctx, &b->tree, NULL, 0, true, &islands));
  NSR_TRY(nsr_explicit_map(ctx, &b->tree, &islands, false, &target));
  NSR_TRY(nsr_tree_linearize(ctx, &b->tree, &islands, &target));
  NSR_TRY(nsr_tree_exit(ctx, &b->tree, &b->exit));
  NSR_TRY(nsr_deps_find(ctx, &b->tree, target, &b->deps));
  return nsr_needs_select(ctx, &b->deps, false, &b->needs);
}

static enum nsr_status plan(struct nsr_ctx *ctx, const struct nsr_kernel *k,
                            const struct nsr_budget *budget, struct bench *b,
                            struct nsr_kernel *out) {
  struct nsr_stream *streams;
  NSR_TRY(nsr_plan_make(ctx, &b->tree, &b->needs, budget, &b->plan));
  if (b->plan.lack.any)
    return NSR_E_REFUSED;
  NSR_TRY(nsr_weave(ctx, &b->plan, b->exit, &b->woven));
  NSR_NEW(ctx, NSR_KEEP, streams, k->nstreams);
  *out = *k;
  for (uint32_t i = 0; i < k->nstreams; i++)
    streams[i] = b->woven.streams[k->streams[i].engine];
  out->streams = streams;
  return nsr_kernel_check(ctx, out);
}

static void say(struct nsr_ctx *ctx, const struct ask *a, const char *text) {
  char line[2000] = "";
  const struct nsr_diag *d = nsr_ctx_first_error(ctx);
  if (d)
    nsr_diag_format(d, line, sizeof line);
  fprintf(stderr,
          "seed=%" PRIu64 " instructions=%d, keep %d %%, %u registers, %u "
          "semaphores, %s: %s %s\n",
          a->seed, (int)a->size, a->keep, a->budget.registers,
          a->budget.semaphores, nsr_scheme_name(a->budget.scheme), line, text);
}

static bool judge(struct nsr_ctx *ctx, const struct nsr_kernel *k,
                  const struct nsr_kernel *out, const struct ask *a) {
  struct nsr_judge_options options = {.inputs = 4};
  struct nsr_judgement j = {0};
  enum nsr_status status = nsr_cosimulate(ctx, k, out, &options, &j);
  bool good = status == NSR_OK && j.verdict == NSR_EQUAL;
  if (!good)
    say(ctx, a, j.text ? j.text : "");
  return good;
}

/* Every mirror serves a wait, every semaphore that counts is waited for. */
static bool all_used(const struct bench *b, const struct ask *a) {
  const struct nsr_plan *p = &b->plan;
  static bool mirror[4096], sem[256];
  bool good = p->nmirrors < 4096;
  memset(mirror, 0, sizeof mirror);
  memset(sem, 0, sizeof sem);
  for (uint32_t i = 0; i < p->nwaits; i++) {
    sem[p->waits[i].sem] = true;
    if (p->waits[i].is_reg)
      mirror[p->waits[i].mirror] = true;
  }
  for (uint32_t m = 0; m < p->nmirrors && good; m++)
    good = mirror[m];
  for (uint32_t w = 0; w < b->tree.nworks && good; w++)
    good = p->update[w] < 0 || sem[p->update[w]];
  if (!good)
    fprintf(stderr, "seed=%" PRIu64 " instructions=%d: something is unused\n",
            a->seed, (int)a->size);
  return good;
}

static void count(const struct bench *b, struct tally *tally) {
  static const char *const names[] = {"per-loop", "mixed", "per-engine",
                                      "equal-weight", "per-instruction"};
  tally->equal++;
  tally->markers += b->plan.nmarkers > 0;
  bool starts = false; /* some mirror in front of a loop */
  for (uint32_t m = 0; m < b->plan.nmirrors; m++)
    starts |= b->plan.mirrors[m].set_at != NSR_NONE;
  tally->starts += starts;
  for (int i = 0; i < 5; i++)
    tally->used[i] += strcmp(names[i], b->plan.scheme) == 0;
}

/* Says how many are needed, and with as many it fits (where all there are of
 * the other may be used). */
static bool lacks_rightly(struct nsr_ctx *ctx, const struct nsr_kernel *k,
                          const struct ask *a, struct bench *b) {
  struct nsr_budget more = {.registers = UINT32_MAX,
                            .semaphores = UINT32_MAX,
                            .scheme = a->budget.scheme};
  struct nsr_lack lack = b->plan.lack;
  struct nsr_kernel out;
  bool registers = lack.engine >= 0;
  uint32_t owned = k->owned_last - k->owned_first + 1u;
  bool machine = lack.want > k->isa->registers / 2u || /* too many of these */
                 lack.want > owned;
  *(registers ? &more.registers : &more.semaphores) = lack.want;
  if (lack.want <= lack.have || machine)
    return machine;
  return plan(ctx, k, &more, b, &out) == NSR_OK ||
         (b->plan.lack.any && (b->plan.lack.engine >= 0) != registers);
}

static bool try_ask(const struct ask *a, struct tally *tally) {
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct prng r = {a->seed};
  struct nsr_setting settings[] = {{"seed", (int64_t)a->seed},
                                   {"instructions", a->size}};
  struct nsr_gen_options gen = {.nsettings = 2, .settings = settings};
  struct bench b = {0};
  struct nsr_kernel *k, out;
  bool good = false;
  enum nsr_status status = nsr_gen(ctx, "random", &gen, &k);
  if (status == NSR_OK)
    status = nsr_kernel_check(ctx, k);
  if (status == NSR_OK)
    status = analyse(ctx, k, &b);
  if (status == NSR_OK) {
    tally->kept += keep_some(&b, &r, a->keep);
    status = plan(ctx, k, &a->budget, &b, &out);
    if (status == NSR_E_REFUSED && lacks_rightly(ctx, k, a, &b)) {
      tally->refused++;
      good = true;
    }
  }
  if (status == NSR_OK) {
    good = judge(ctx, k, &out, a) && all_used(&b, a);
    count(&b, tally);
  } else if (!good) {
    say(ctx, a, nsr_status_name(status));
  }
  nsr_ctx_free(ctx);
  return good;
}

static unsigned kernels(unsigned n) {
  const char *text = getenv("NSR_KERNELS");
  return text ? (unsigned)strtoul(text, NULL, 0) : n;
}

static void print_tally(const char *name, const struct tally *t) {
  printf("%s: %u equal, %u refused, %u barriers kept, %u with markers; "
         "per-loop %u, mixed %u, per-engine %u, equal-weight %u, "
         "per-instruction %u\n",
         name, t->equal, t->refused, t->kept, t->markers, t->used[0],
         t->used[1], t->used[2], t->used[3], t->used[4]);
}

/* Barriers that stay, all registers there are. */
static void test_kept_barriers(void **state) {
  (void)state;
  struct prng r = prng_seed("kept barriers", 1);
  struct tally tally = {0};
  unsigned bad = 0, n = kernels(24);
  for (unsigned i = 0; i < n; i++) {
    struct ask a = {
        .seed = prng_next(&r) >> 33,
        .size = prng_in(&r, 60, MAX_SIZE),
        .keep = i % 3 == 0 ? 90 : 25,
        .budget = {.registers = UINT32_MAX,
                   .semaphores = UINT32_MAX,
                   .scheme = i % 2 ? NSR_SCHEME_AUTO
                                   : (enum nsr_scheme)prng_in(&r, 0, 4)}};
    bad += !try_ask(&a, &tally);
  }
  print_tally("kept barriers", &tally);
  assert_int_equal(bad, 0);
  assert_true(tally.kept > n);
}

/* Every scheme, few registers and semaphores, some barriers that stay. */
static void test_budgets(void **state) {
  (void)state;
  struct prng r = prng_seed("schemes", 3);
  struct tally tally = {0};
  unsigned bad = 0, n = kernels(40);
  for (unsigned i = 0; i < n; i++) {
    struct ask a = {.seed = prng_next(&r) >> 33,
                    .size = prng_in(&r, 60, i % 4 ? MAX_SIZE : 3 * MAX_SIZE),
                    .keep = prng_in(&r, 0, 1) ? 0 : 30,
                    .budget = {.registers = UINT32_MAX,
                               .semaphores = UINT32_MAX,
                               .scheme = i % 5}};
    if (prng_in(&r, 0, 2))
      a.budget.registers = (uint32_t)prng_in(&r, 0, i % 2 ? 4 : 12);
    if (prng_in(&r, 0, 2) == 0)
      a.budget.semaphores = (uint32_t)prng_in(&r, 0, i % 2 ? 8 : 24);
    bad += !try_ask(&a, &tally);
  }
  print_tally("schemes", &tally);
  assert_int_equal(bad, 0);
  if (n >= 40)
    for (int i = 0; i < 5; i++)
      assert_true(tally.used[i] > 0);
}

/* Registers serve one loop after the other, and the kernel's dead ones. */
static void test_shared_registers(void **state) {
  (void)state;
  struct prng r = prng_seed("shared registers", 8);
  struct tally tally = {0};
  unsigned bad = 0, n = kernels(40);
  for (unsigned i = 0; i < n; i++) {
    struct ask a = {.seed = prng_next(&r) >> 33,
                    .size = prng_in(&r, 100, 2 * MAX_SIZE),
                    .budget = {.registers = (uint32_t)prng_in(&r, 5, 14),
                               .semaphores = UINT32_MAX,
                               .scheme = i % 4 ? NSR_SCHEME_PER_LOOP
                                               : NSR_SCHEME_PER_INSTRUCTION}};
    bad += !try_ask(&a, &tally);
  }
  print_tally("shared registers", &tally);
  printf("%u begin mirrors in front of loops\n", tally.starts);
  assert_int_equal(bad, 0);
  assert_true(n < 40 || tally.starts > 0);
}

/* So few that pools share groups, and some groups are padded where their
 * channels have nothing to do. */
static void test_shared_pools(void **state) {
  (void)state;
  struct prng r = prng_seed("shared pools", 6);
  struct tally tally = {0};
  unsigned bad = 0, n = kernels(40);
  /* mirrors that were not advanced where their groups were padded */
  const struct ask padded = {.seed = 1558649006,
                             .size = 507,
                             .budget = {.registers = 4,
                                        .semaphores = 12,
                                        .scheme = NSR_SCHEME_EQUAL_WEIGHT}};
  bad += !try_ask(&padded, &tally);
  for (unsigned i = 0; i < n; i++) {
    struct ask a = {.seed = prng_next(&r) >> 33,
                    .size = prng_in(&r, 100, 2 * MAX_SIZE),
                    .keep = prng_in(&r, 0, 1) ? 0 : 30,
                    .budget = {.registers = (uint32_t)prng_in(&r, 2, 5),
                               .semaphores = (uint32_t)prng_in(&r, 10, 18),
                               .scheme = NSR_SCHEME_EQUAL_WEIGHT}};
    bad += !try_ask(&a, &tally);
  }
  print_tally("shared pools", &tally);
  assert_int_equal(bad, 0);
  assert_true(tally.equal * 4 > n);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_kept_barriers),
      cmocka_unit_test(test_budgets),
      cmocka_unit_test(test_shared_pools),
      cmocka_unit_test(test_shared_registers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
