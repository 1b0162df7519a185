/* fit.c - what stays where not everything can be counted. Needs a bench whose
 * plan lacks something; makes islands of as few regions as have to go. */
#include "fit.h"

#include <stdlib.h>

#include "base/strbuf.h"
#include "base/work.h"
#include "sync/behind.h"

/* Regions whose barriers stay, so that the rest can be counted. */
struct fit {
  struct nsr_ctx *ctx;
  const struct nsr_rewrite_options *options;
  struct nsr_bench *b;
  bool asked; /* as in analyse */
  struct nsr_islands islands;
  struct nsr_regions regions;
  bool *given_up; /* by region */
  NSR_VEC(struct nsr_trouble) known;
  const char *why;
};

static uint32_t region_of(const struct fit *f, uint32_t w) {
  const struct nsr_work *x = &f->b->tree.works[w];
  if (x->insn >= f->b->program.stream[x->engine]->n) /* a marker */
    return NSR_NONE;
  return f->regions.of[x->engine][x->insn];
}

/* Regions in which work is waited for that not all engines run, and no marker
 * will do: each set of engines takes semaphores and registers of its own. */
static enum nsr_status find_apart(struct fit *f, bool *apart) {
  const struct nsr_tree *t = &f->b->tree;
  struct nsr_needs needs;
  bool any;
  NSR_TRY(nsr_needs_behind(f->ctx, t, &f->b->needs, &needs, &any));
  for (uint32_t i = 0; i < needs.n; i++) {
    uint32_t scope = t->works[needs.v[i].p].scope;
    uint32_t region = region_of(f, needs.v[i].p);
    if (region != NSR_NONE && t->scopes[scope].engines != t->scopes[0].engines)
      apart[region] = true;
  }
  return NSR_OK;
}

/* Those first that take most, and where registers are lacking the program's own
 * last: they are counted without. */
static enum nsr_status order_regions(struct fit *f) {
  struct nsr_region *v = f->regions.v, *sorted;
  uint32_t n = f->regions.n, top = 0, at = 0;
  bool *apart;
  NSR_NEW(f->ctx, NSR_SCRATCH, sorted, n);
  NSR_NEW(f->ctx, NSR_SCRATCH, apart, f->islands.nregions);
  NSR_TRY(find_apart(f, apart));
  while (top < n && v[top].loops == 0)
    top++;
  if (f->b->plan.lack.engine < 0)
    top = 0;
  for (int first = 1; first >= 0; first--)
    for (uint32_t i = 0; i < n; i++)
      if (apart[v[(i + top) % n].id] == (first == 1))
        sorted[at++] = v[(i + top) % n];
  f->regions.v = sorted;
  return NSR_OK;
}

static enum nsr_status list_regions(struct fit *f) {
  struct nsr_bench *b = f->b, again = {.program = b->program};
  const struct nsr_lack *lack = &b->plan.lack;
  const char *what = lack->engine < 0 ? "semaphore" : "register";
  const char *of = lack->engine < 0 ? "" : " of ";
  const char *engine =
      lack->engine < 0 ? "" : b->program.k->isa->engines[lack->engine];
  NSR_TRY(nsr_tree_build(f->ctx, &b->program, &b->doubts, &again.tree));
  NSR_TRY(nsr_islands_find(f->ctx, &again.tree, b->known.v, b->known.n,
                           nsr_bench_wild(f->options), &f->islands));
  NSR_TRY(nsr_islands_regions(f->ctx, &again.tree, &f->islands, &f->regions));
  NSR_NEW(f->ctx, NSR_SCRATCH, f->given_up, f->islands.nregions);
  f->why = nsr_printf(f->ctx, NSR_SCRATCH,
                      "is not counted: all would take %u %s%s%s%s, and %u may "
                      "be used",
                      lack->want, what, lack->want == 1 ? "" : "s", of, engine,
                      lack->have);
  return f->why ? order_regions(f) : NSR_E_NOMEM;
}

/* Gives up regions from..to-1, in their order, or takes that back. */
static void set_regions(struct fit *f, uint32_t from, uint32_t to, bool up) {
  for (uint32_t i = from; i < to; i++)
    f->given_up[f->regions.v[i].id] = up;
}

static bool work_given_up(const struct fit *f, uint32_t w) {
  uint32_t region = region_of(f, w);
  return region != NSR_NONE && f->given_up[region];
}

/* Without any plan: a channel that is waited for takes a semaphore, and what
 * does not lie in the program's body itself is counted in a register. */
static bool surely_not(const struct fit *f, const struct nsr_needs *needs,
                       const struct nsr_budget *budget) {
  const struct nsr_tree *t = &f->b->tree;
  uint64_t channels = 0;
  uint32_t n = 0;
  bool counts = false;
  for (uint32_t i = 0; i < needs->n; i++) {
    const struct nsr_work *p = &t->works[needs->v[i].p];
    uint64_t bit = UINT64_C(1) << p->channel;
    n += (channels & bit) == 0;
    channels |= bit;
    counts |= p->scope != 0;
  }
  return n > budget->semaphores || (counts && budget->registers == 0);
}

/* Whether a plan without the waits of the regions given up fits. */
static enum nsr_status would_fit(struct fit *f, bool *yes) {
  struct nsr_mark mark = nsr_scratch_mark(f->ctx);
  struct nsr_needs some = {0};
  struct nsr_plan plan;
  const struct nsr_needs *all = &f->b->needs;
  struct nsr_budget budget = nsr_bench_budget(f->options);
  NSR_NEW(f->ctx, NSR_SCRATCH, some.v, all->n);
  for (uint32_t i = 0; i < all->n; i++)
    if (!work_given_up(f, all->v[i].c) && !work_given_up(f, all->v[i].p))
      some.v[some.n++] = all->v[i];
  *yes = !surely_not(f, &some, &budget);
  if (*yes) {
    NSR_TRY(nsr_plan_make(f->ctx, &f->b->tree, &some, &budget, &plan));
    *yes = !plan.lack.any;
  }
  nsr_scratch_release(f->ctx, mark);
  return NSR_OK;
}

/* Whether the rest would fit without the first n. */
static enum nsr_status without_first(struct fit *f, uint32_t n, bool *yes) {
  set_regions(f, 0, f->regions.n, false);
  set_regions(f, 0, n, true);
  return would_fit(f, yes);
}

/* The first regions that have to go so that the rest would fit: few, most of
 * the time. */
static enum nsr_status give_up_first(struct fit *f, uint32_t *n) {
  uint32_t fails = 0;
  bool yes = false;
  for (*n = 1; *n < f->regions.n; *n *= 2) {
    NSR_TRY(without_first(f, *n, &yes));
    if (yes)
      break;
    fails = *n;
  }
  *n = *n < f->regions.n ? *n : f->regions.n;
  while (*n - fails > 1) {
    uint32_t mid = fails + (*n - fails) / 2;
    NSR_TRY(without_first(f, mid, &yes));
    *(yes ? n : &fails) = mid;
  }
  set_regions(f, 0, f->regions.n, false);
  set_regions(f, 0, *n, true);
  return NSR_OK;
}

/* Takes back what would fit all the same, the last ones first: many at once,
 * then fewer. */
static enum nsr_status take_back(struct fit *f, uint32_t n) {
  enum { EFFORT = 4000000 }; /* units of work, about a wait looked at each */
  uint64_t end = nsr_work(f->ctx, NSR_WORK_SYNC) + EFFORT;
  for (uint32_t size = n / 2; size; size /= 2)
    for (uint32_t to = n; to >= size; to -= size) {
      bool yes, any = false;
      for (uint32_t i = to - size; i < to; i++)
        any |= f->given_up[f->regions.v[i].id];
      if (!any)
        continue;
      if (nsr_work(f->ctx, NSR_WORK_SYNC) > end)
        return NSR_OK;
      set_regions(f, to - size, to, false);
      NSR_TRY(would_fit(f, &yes));
      if (!yes)
        set_regions(f, to - size, to, true);
    }
  return NSR_OK;
}

/* The passes anew, with what is given up made islands. */
static enum nsr_status analyse_without(struct fit *f) {
  struct nsr_bench *b = f->b;
  b->known.n = 0;
  for (size_t i = 0; i < f->known.n; i++)
    NSR_PUSH(f->ctx, NSR_SCRATCH, &b->known, f->known.v[i]);
  for (uint32_t i = 0; i < f->regions.n; i++) {
    const struct nsr_region *r = &f->regions.v[i];
    if (f->given_up[r->id])
      NSR_PUSH(f->ctx, NSR_SCRATCH, &b->known,
               (struct nsr_trouble){r->engine, r->insn, "the code", f->why});
  }
  if (b->known.n)
    qsort(b->known.v, b->known.n, sizeof *b->known.v, nsr_trouble_compare);
  NSR_TRY(nsr_bench_analyse(f->ctx, f->options, b, f->asked));
  b->plan = (struct nsr_plan){0};
  return b->deps.tree ? nsr_bench_synthesise(f->ctx, f->options, b, f->asked)
                      : NSR_OK;
}

enum nsr_status nsr_fit(struct nsr_ctx *ctx,
                        const struct nsr_rewrite_options *options,
                        struct nsr_bench *b, bool asked) {
  struct fit f = {.ctx = ctx, .options = options, .b = b, .asked = asked};
  uint32_t n;
  if (!b->plan.lack.any)
    return NSR_OK;
  NSR_TRY(list_regions(&f));
  for (size_t i = 0; i < b->known.n; i++)
    NSR_PUSH(ctx, NSR_SCRATCH, &f.known, b->known.v[i]);
  NSR_TRY(give_up_first(&f, &n));
  NSR_TRY(take_back(&f, n));
  NSR_TRY(analyse_without(&f));
  for (; b->plan.lack.any && n <= f.regions.n; n += (f.regions.n - n) / 2 + 1) {
    set_regions(&f, 0, n, true);
    NSR_TRY(analyse_without(&f));
  }
  return NSR_OK;
}
