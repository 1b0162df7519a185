/* test_plan_growth.c - planning and weaving cost what the kernel's size costs,
 * under every scheme. Waits are made up, so that no other pass is asked.
 */
#include "passes.h"

#include <nsr/gen.h>

#include "base/work.h"
#include "dep/explicit.h"
#include "emit/weave.h"
#include "ir/islands.h"

struct bench {
  struct nsr_program program;
  struct nsr_tree tree;
  struct nsr_needs needs;
  struct nsr_plan plan;
  struct nsr_woven woven;
  uint32_t exit;
};

static enum nsr_status read_kernel(struct nsr_ctx *ctx, int64_t size,
                                   struct bench *b) {
  struct nsr_setting settings[] = {{"seed", 11}, {"instructions", size}};
  struct nsr_gen_options gen = {.nsettings = 2, .settings = settings};
  struct nsr_kernel *k;
  struct nsr_islands islands;
  uint32_t *target;
  NSR_TRY(nsr_gen(ctx, "random", &gen, &k));
  NSR_TRY(nsr_kernel_check(ctx, k));
  NSR_TRY(nsr_program_build(ctx, k, &b->program));
  NSR_TRY(
      nsr_tree_build(ctx, &b->program, &(struct nsr_key_loads){0}, &b->tree));
  NSR_TRY(nsr_islands_find(ctx, &b->tree, NULL, 0, true, &islands));
  NSR_TRY(nsr_explicit_map(ctx, &b->tree, &islands, false, &target));
  NSR_TRY(nsr_tree_linearize(ctx, &b->tree, &islands, &target));
  return nsr_tree_exit(ctx, &b->tree, &b->exit);
}

static bool may_wait(const struct nsr_tree *t, uint32_t c, uint32_t p) {
  const struct nsr_work *w = &t->works[p];
  return w->channel >= 0 && !t->works[c].marker && !w->marker &&
         t->scopes[w->scope].engines == t->scopes[0].engines;
}

/* Every work waits for some of those shortly before it that lie in scopes
 * which all engines run. */
static enum nsr_status make_needs(struct nsr_ctx *ctx, struct bench *b) {
  static const uint32_t back[] = {1, 3, 7};
  const struct nsr_tree *t = &b->tree;
  NSR_NEW(ctx, NSR_SCRATCH, b->needs.v, 3 * (size_t)t->nworks);
  for (uint32_t c = 0; c < t->nworks; c++)
    for (int i = 0; i < 3; i++)
      if (c >= back[i] && may_wait(t, c, c - back[i]))
        b->needs.v[b->needs.n++] =
            (struct nsr_need){c, c - back[i], 0, NSR_NONE, 0, 0};
  return NSR_OK;
}

/* Units of planning, of weaving, and bytes of both. */
static void measure(int64_t size, const struct nsr_budget *budget,
                    uint64_t units[3]) {
  static const enum nsr_counter of[] = {NSR_WORK_SYNC, NSR_WORK_EMIT,
                                        NSR_WORK_BYTES};
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct bench b = {0};
  assert_int_equal(read_kernel(ctx, size, &b), NSR_OK);
  assert_int_equal(make_needs(ctx, &b), NSR_OK);
  for (uint32_t p = 0; p < b.tree.nparts; p += 16)
    b.tree.parts[p].keep = b.tree.parts[p].kind == NSR_PART_BARRIER;
  for (int i = 0; i < 3; i++)
    units[i] = nsr_work(ctx, of[i]);
  enum nsr_status status =
      nsr_plan_make(ctx, &b.tree, &b.needs, budget, &b.plan);
  if (status == NSR_OK)
    status = nsr_weave(ctx, &b.plan, b.exit, &b.woven);
  if (status != NSR_OK)
    fail_msg("%s", nsr_ctx_first_error(ctx)->text);
  for (int i = 0; i < 3; i++)
    units[i] = nsr_work(ctx, of[i]) - units[i];
  nsr_ctx_free(ctx);
}

static void test_growth(void **state) {
  enum { SMALL = 10000, TIMES = 4 };
  (void)state;
  for (int s = 0; s <= NSR_SCHEME_EQUAL_WEIGHT; s++) {
    struct nsr_budget budget = {.registers = UINT32_MAX,
                                .semaphores = UINT32_MAX,
                                .scheme = (enum nsr_scheme)s};
    uint64_t small[3], large[3];
    if (s == NSR_SCHEME_PER_LOOP)
      continue; /* runs out of semaphores */
    measure(SMALL, &budget, small);
    measure(TIMES * SMALL, &budget, large);
    /* auto tries several, the logarithm of the number of scopes */
    uint64_t more = s == NSR_SCHEME_AUTO ? 2 * TIMES : TIMES + 1;
    for (int i = 0; i < 3; i++)
      if (large[i] > small[i] * more)
        fail_msg("%s: counter %d grows from %llu to %llu",
                 nsr_scheme_name(budget.scheme), i,
                 (unsigned long long)small[i], (unsigned long long)large[i]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_growth)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
