/* work_bench.c - the passes from a program to its plan. Needs a kernel and
 * options; makes tree, islands, dependences, needs and plan, anew where one of
 * them finds out that an earlier one has to know more. */
#include "work_bench.h"

#include <stdlib.h>

#include "dep/explicit.h"
#include "emit/add_exit.h"
#include "ir/keeps.h"
#include "sync/behind.h"
#include "sync/bounds.h"
#include "sync/published.h"

/* Goes on with a kernel that has an exit barrier, if this one has none and does
 * anything. */
static enum nsr_status add_exit(struct nsr_ctx *ctx, struct nsr_bench *b) {
  const struct nsr_facts_file *facts = b->program.facts;
  uint32_t exit[NSR_MAX_ENGINES];
  const struct nsr_kernel *k;
  struct nsr_tree tree;
  bool only;
  NSR_TRY(nsr_program_only_exits(ctx, &b->program, exit, &only));
  if (only)
    return NSR_OK;
  NSR_TRY(nsr_tree_build(ctx, &b->program, &b->doubts, &tree));
  if (nsr_tree_last_barrier(&tree) != NSR_NONE)
    return NSR_OK;
  NSR_TRY(nsr_add_exit(ctx, &b->program, &k));
  b->added_exit = true;
  NSR_TRY(nsr_program_build(ctx, k, &b->program));
  b->program.facts = facts;
  return NSR_OK;
}

enum nsr_status nsr_bench_read(struct nsr_ctx *ctx, const struct nsr_kernel *k,
                               const struct nsr_rewrite_options *options,
                               struct nsr_bench *b) {
  NSR_TRY(nsr_program_build(ctx, k, &b->program));
  b->program.facts = options->judge.facts;
  return options->add_exit ? add_exit(ctx, b) : NSR_OK;
}

enum nsr_status nsr_bench_recover(struct nsr_ctx *ctx, struct nsr_bench *b) {
  NSR_TRY(nsr_tree_build(ctx, &b->program, &b->doubts, &b->tree));
  return nsr_tree_exit(ctx, &b->tree, &b->exit);
}

bool nsr_bench_wild(const struct nsr_rewrite_options *o) {
  return o->soft == NSR_SOFT_NEVER || o->scheme == NSR_SCHEME_PUBLISHED;
}

/* From the tree to the reference order, islands marked. */
static enum nsr_status read_waits(struct nsr_ctx *ctx,
                                  const struct nsr_rewrite_options *options,
                                  struct nsr_bench *b) {
  NSR_TRY(nsr_islands_find(ctx, &b->tree, b->known.v, b->known.n,
                           nsr_bench_wild(options), &b->islands));
  NSR_TRY(nsr_explicit_map(ctx, &b->tree, &b->islands, false, &b->target));
  NSR_TRY(nsr_tree_linearize(ctx, &b->tree, &b->islands, &b->target));
  NSR_TRY(nsr_tree_exit(ctx, &b->tree, &b->exit)); /* parts are new */
  if (options->keep_outer)
    NSR_TRY(nsr_keep_outer(ctx, &b->tree));
  return nsr_keep_asked(ctx, &b->tree, b->exit, &options->bisect);
}

/* How often dependences may turn out to be trouble. */
enum { MAX_ROUNDS = 8 };

static enum nsr_status give_up(struct nsr_ctx *ctx, const struct nsr_bench *b) {
  if (b->deps.ntroubles) {
    const struct nsr_trouble *x = &b->deps.troubles[0];
    return nsr_fail(ctx, NSR_E_REFUSED,
                    nsr_program_place(&b->program, x->engine, x->insn), "%s %s",
                    x->what, x->why);
  }
  const struct nsr_key_load *x = &b->doubts.v[b->doubts.n - 1];
  return nsr_fail(ctx, NSR_E_REFUSED,
                  nsr_program_place(&b->program, x->engine, x->insn),
                  "what this loads may decide control flow, and may be another "
                  "value than other engines load");
}

enum nsr_status nsr_bench_analyse(struct nsr_ctx *ctx,
                                  const struct nsr_rewrite_options *options,
                                  struct nsr_bench *b, bool asked) {
  for (int round = 0;; round++) {
    NSR_TRY(nsr_bench_recover(ctx, b));
    NSR_TRY(read_waits(ctx, options, b));
    b->deps = (struct nsr_deps){0};
    if (!asked && !nsr_islands_leave_any(&b->tree, b->exit))
      return NSR_OK;
    NSR_TRY(nsr_deps_find(ctx, &b->tree, b->target, &b->deps));
    size_t doubts = b->doubts.n;
    NSR_TRY(nsr_key_loads_check(ctx, &b->deps, &b->doubts));
    if (!b->deps.ntroubles && b->doubts.n == doubts)
      return NSR_OK;
    if (round == MAX_ROUNDS)
      return give_up(ctx, b);
    for (uint32_t i = 0; i < b->deps.ntroubles; i++)
      NSR_PUSH(ctx, NSR_SCRATCH, &b->known, b->deps.troubles[i]);
    if (b->known.n)
      qsort(b->known.v, b->known.n, sizeof *b->known.v, nsr_trouble_compare);
  }
}

/* 0 allows none only where the option says that it is a limit. */
static uint32_t at_most(uint32_t max, bool limit) {
  return max || limit ? max : UINT32_MAX;
}

struct nsr_budget nsr_bench_budget(const struct nsr_rewrite_options *o) {
  return (struct nsr_budget){at_most(o->max_registers, o->limit_registers),
                             at_most(o->max_semaphores, o->limit_semaphores),
                             o->scheme, o->published};
}

static enum nsr_status choose_waits(struct nsr_ctx *ctx,
                                    const struct nsr_rewrite_options *options,
                                    struct nsr_bench *b) {
  bool plain = options->scheme == NSR_SCHEME_PUBLISHED, more = plain;
  NSR_TRY(nsr_needs_select(ctx, &b->deps, plain, &b->needs));
  while (more && !options->published_recent) {
    NSR_TRY(nsr_published_keep(ctx, &b->tree, &b->needs, b->exit, &more));
    if (more)
      NSR_TRY(nsr_needs_select(ctx, &b->deps, plain, &b->needs));
  }
  return NSR_OK;
}

/* Makes islands of what others wait for a marker behind that has no place;
 * *any: whether there is such work. */
static enum nsr_status keep_placeless(struct nsr_ctx *ctx, struct nsr_bench *b,
                                      bool *any) {
  uint32_t *works, n;
  NSR_TRY(nsr_needs_placeless(ctx, &b->tree, &b->needs, &works, &n));
  for (uint32_t i = 0; i < n; i++) {
    const struct nsr_work *x = &b->tree.works[works[i]];
    NSR_PUSH(ctx, NSR_SCRATCH, &b->known,
             (struct nsr_trouble){x->engine, x->insn, "the work",
                                  "is waited for by engines that do not run "
                                  "the loop or conditional around it, and "
                                  "behind that is no place for a marker"});
  }
  if (n)
    qsort(b->known.v, b->known.n, sizeof *b->known.v, nsr_trouble_compare);
  *any = n > 0;
  return NSR_OK;
}

enum nsr_status nsr_bench_synthesise(struct nsr_ctx *ctx,
                                     const struct nsr_rewrite_options *options,
                                     struct nsr_bench *b, bool asked) {
  struct nsr_budget budget = nsr_bench_budget(options);
  for (bool more = true; more;) {
    NSR_TRY(choose_waits(ctx, options, b));
    NSR_TRY(keep_placeless(ctx, b, &more));
    if (more) {
      NSR_TRY(nsr_bench_analyse(ctx, options, b, asked));
      b->plan = (struct nsr_plan){0};
      more = b->deps.tree != NULL;
      continue;
    }
    NSR_TRY(nsr_plan_make(ctx, &b->tree, &b->needs, &budget, &b->plan));
    if (b->plan.lack.any)
      return NSR_OK;
    NSR_TRY(nsr_bounds_find(ctx, &b->plan));
    more = options->overflow == NSR_OVERFLOW_KEEP &&
           b->plan.most > (uint64_t)nsr_bounds_limit(b->program.k);
    if (more)
      NSR_TRY(nsr_bounds_keep(ctx, &b->plan, b->exit, &more));
  }
  return NSR_OK;
}
