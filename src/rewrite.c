/* rewrite.c - the list of passes; the only file that knows them all. */
#include <nsr/dump.h>
#include <nsr/rewrite.h>

#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/vec.h"
#include "dep/dep.h"
#include "dep/explicit.h"
#include "dep/key_loads.h"
#include "emit/add_exit.h"
#include "emit/weave.h"
#include "ir/islands.h"
#include "ir/keeps.h"
#include "report/rewritten.h"
#include "limits/limits.h"
#include "report/stages.h"
#include "sync/bounds.h"
#include "sync/published.h"

/* What the passes make, in the order they make it. */
struct work_bench {
  struct nsr_program program;
  struct nsr_tree tree;
  struct nsr_islands islands;
  /* from earlier rounds: what is in no order that can be kept, and loads that
   * may differ between engines */
  NSR_VEC(struct nsr_trouble) known;
  struct nsr_key_loads doubts;
  uint32_t exit;   /* the barrier that always stays */
  bool added_exit; /* it is none of the input */
  uint32_t *target;
  struct nsr_deps deps;
  struct nsr_needs needs;
  struct nsr_plan plan;
  struct nsr_woven woven;
};

/* Goes on with a kernel that has an exit barrier, if this one has none and does
 * anything. */
static enum nsr_status add_exit(struct nsr_ctx *ctx, struct work_bench *b) {
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

/* What is rewritten, and what is known of it. */
static enum nsr_status read_program(struct nsr_ctx *ctx,
                                    const struct nsr_kernel *k,
                                    const struct nsr_rewrite_options *options,
                                    struct work_bench *b) {
  NSR_TRY(nsr_program_build(ctx, k, &b->program));
  b->program.facts = options->judge.facts;
  return options->add_exit ? add_exit(ctx, b) : NSR_OK;
}

static enum nsr_status recover(struct nsr_ctx *ctx, struct work_bench *b) {
  NSR_TRY(nsr_tree_build(ctx, &b->program, &b->doubts, &b->tree));
  return nsr_tree_exit(ctx, &b->tree, &b->exit);
}

/* From the tree to the reference order, islands marked. */
static enum nsr_status read_waits(struct nsr_ctx *ctx,
                                  const struct nsr_rewrite_options *options,
                                  struct work_bench *b) {
  NSR_TRY(nsr_islands_find(ctx, &b->tree, b->known.v, b->known.n, &b->islands));
  NSR_TRY(nsr_explicit_map(ctx, &b->tree, &b->islands, false, &b->target));
  NSR_TRY(nsr_tree_linearize(ctx, &b->tree, &b->islands, &b->target));
  NSR_TRY(nsr_tree_exit(ctx, &b->tree, &b->exit)); /* parts are new */
  if (options->keep_outer)
    NSR_TRY(nsr_keep_outer(ctx, &b->tree));
  return nsr_keep_asked(ctx, &b->tree, b->exit, &options->bisect);
}

/* How often dependences may turn out to be trouble. */
enum { MAX_ROUNDS = 8 };

static enum nsr_status give_up(struct nsr_ctx *ctx,
                               const struct work_bench *b) {
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

/* From the program to its dependences; where all barriers stay they are
 * looked for only if asked for. What cannot be kept in order otherwise makes an
 * island, loads in doubt decide nothing on several engines, and the analysis
 * begins anew. */
static enum nsr_status analyse(struct nsr_ctx *ctx,
                               const struct nsr_rewrite_options *options,
                               struct work_bench *b, bool asked) {
  for (int round = 0;; round++) {
    NSR_TRY(recover(ctx, b));
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

static struct nsr_budget budget_of(const struct nsr_rewrite_options *o) {
  return (struct nsr_budget){at_most(o->max_registers, o->limit_registers),
                             at_most(o->max_semaphores, o->limit_semaphores),
                             o->scheme, o->published};
}

static enum nsr_status choose_waits(struct nsr_ctx *ctx,
                                    const struct nsr_rewrite_options *options,
                                    struct work_bench *b) {
  bool more = options->scheme == NSR_SCHEME_PUBLISHED;
  NSR_TRY(nsr_needs_select(ctx, &b->deps, &b->needs));
  while (more && !options->published_recent) {
    NSR_TRY(nsr_published_keep(ctx, &b->tree, &b->needs, b->exit, &more));
    if (more)
      NSR_TRY(nsr_needs_select(ctx, &b->deps, &b->needs));
  }
  return NSR_OK;
}

/* From dependences to the plan, again as long as barriers against overflow
 * are added. */
static enum nsr_status synthesise(struct nsr_ctx *ctx,
                                  const struct nsr_rewrite_options *options,
                                  struct work_bench *b) {
  struct nsr_budget budget = budget_of(options);
  bool more = true;
  while (more) {
    NSR_TRY(choose_waits(ctx, options, b));
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

/* ---- what does not fit */

/* Regions whose barriers stay, so that the rest can be counted. */
struct fit {
  struct nsr_ctx *ctx;
  const struct nsr_rewrite_options *options;
  struct work_bench *b;
  bool asked; /* as in analyse */
  struct nsr_regions regions;
  bool *given_up; /* by region */
  NSR_VEC(struct nsr_trouble) known;
  const char *why;
};

/* Where registers are lacking the program's own regions come last: they are
 * counted without. */
static enum nsr_status order_regions(struct fit *f) {
  struct nsr_region *v = f->regions.v, *sorted;
  uint32_t n = f->regions.n, top = 0;
  NSR_NEW(f->ctx, NSR_SCRATCH, sorted, n);
  while (top < n && v[top].loops == 0)
    top++;
  if (f->b->plan.lack.engine < 0)
    top = 0;
  for (uint32_t i = 0; i < n; i++)
    sorted[i] = v[(i + top) % n];
  f->regions.v = sorted;
  return NSR_OK;
}

static enum nsr_status list_regions(struct fit *f) {
  struct nsr_islands islands;
  struct work_bench *b = f->b, again = {.program = b->program};
  const struct nsr_lack *lack = &b->plan.lack;
  const char *what = lack->engine < 0 ? "semaphore" : "register";
  const char *of = lack->engine < 0 ? "" : " of ";
  const char *engine =
      lack->engine < 0 ? "" : b->program.k->isa->engines[lack->engine];
  NSR_TRY(nsr_tree_build(f->ctx, &b->program, &b->doubts, &again.tree));
  NSR_TRY(
      nsr_islands_find(f->ctx, &again.tree, b->known.v, b->known.n, &islands));
  NSR_TRY(nsr_islands_regions(f->ctx, &again.tree, &islands, &f->regions));
  NSR_NEW(f->ctx, NSR_SCRATCH, f->given_up, islands.nregions);
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
  const struct nsr_work *x = &f->b->tree.works[w];
  if (x->insn >= f->b->program.stream[x->engine]->n) /* a marker */
    return false;
  uint32_t region = f->regions.of[x->engine][x->insn];
  return region != NSR_NONE && f->given_up[region];
}

/* Whether a plan without the waits of the regions given up fits. */
static enum nsr_status would_fit(struct fit *f, bool *yes) {
  struct nsr_mark mark = nsr_scratch_mark(f->ctx);
  struct nsr_needs some = {0};
  struct nsr_plan plan;
  const struct nsr_needs *all = &f->b->needs;
  struct nsr_budget budget = budget_of(f->options);
  NSR_NEW(f->ctx, NSR_SCRATCH, some.v, all->n);
  for (uint32_t i = 0; i < all->n; i++)
    if (!work_given_up(f, all->v[i].c) && !work_given_up(f, all->v[i].p))
      some.v[some.n++] = all->v[i];
  NSR_TRY(nsr_plan_make(f->ctx, &f->b->tree, &some, &budget, &plan));
  *yes = !plan.lack.any;
  nsr_scratch_release(f->ctx, mark);
  return NSR_OK;
}

/* The first regions that have to go so that the rest would fit. */
static enum nsr_status give_up_first(struct fit *f, uint32_t *n) {
  uint32_t fails = 0;
  *n = f->regions.n;
  while (*n - fails > 1) {
    uint32_t mid = fails + (*n - fails) / 2;
    bool yes;
    set_regions(f, 0, f->regions.n, false);
    set_regions(f, 0, mid, true);
    NSR_TRY(would_fit(f, &yes));
    *(yes ? n : &fails) = mid;
  }
  set_regions(f, 0, f->regions.n, false);
  set_regions(f, 0, *n, true);
  return NSR_OK;
}

/* Takes back what would fit all the same, the last ones first: many at once,
 * then fewer. */
static enum nsr_status take_back(struct fit *f, uint32_t n) {
  enum { EFFORT = 4000000 }; /* waits looked at */
  uint64_t tests = EFFORT / (f->b->needs.n + 1);
  for (uint32_t size = n / 2; size; size /= 2)
    for (uint32_t to = n; to >= size && tests; to -= size, tests--) {
      bool yes, any = false;
      for (uint32_t i = to - size; i < to; i++)
        any |= f->given_up[f->regions.v[i].id];
      if (!any)
        continue;
      set_regions(f, to - size, to, false);
      NSR_TRY(would_fit(f, &yes));
      if (!yes)
        set_regions(f, to - size, to, true);
    }
  return NSR_OK;
}

/* The passes anew, with what is given up made islands. */
static enum nsr_status analyse_without(struct fit *f) {
  struct work_bench *b = f->b;
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
  NSR_TRY(analyse(f->ctx, f->options, b, f->asked));
  b->plan = (struct nsr_plan){0};
  return b->deps.tree ? synthesise(f->ctx, f->options, b) : NSR_OK;
}

/* Makes islands of as few regions as have to be for the rest to fit, those in
 * few loops first. What stays in between may take more, so further ones may
 * follow. */
static enum nsr_status fit(struct nsr_ctx *ctx,
                           const struct nsr_rewrite_options *options,
                           struct work_bench *b, bool asked) {
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

/* ---- the new kernel */

static void spots_text(struct nsr_strbuf *b, const char *name,
                       const struct nsr_spot *spots, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    nsr_strbuf_printf(b, " %s=%s:%s", name, spots[i].engine, spots[i].label);
}

/* "alloc=per-loop max-registers=8", or nothing where all are the default. */
static enum nsr_status option_text(struct nsr_ctx *ctx,
                                   const struct nsr_rewrite_options *o,
                                   const char **out) {
  struct nsr_strbuf b;
  nsr_strbuf_init(&b, ctx, NSR_SCRATCH);
  if (o->scheme != NSR_SCHEME_AUTO)
    nsr_strbuf_printf(&b, " alloc=%s", nsr_scheme_name(o->scheme));
  if (o->published != NSR_SCHEME_AUTO)
    nsr_strbuf_printf(&b, " published-alloc=%s", nsr_scheme_name(o->published));
  if (o->published_recent)
    nsr_strbuf_puts(&b, " published-most-recent");
  if (o->max_registers || o->limit_registers)
    nsr_strbuf_printf(&b, " max-registers=%u", o->max_registers);
  if (o->max_semaphores || o->limit_semaphores)
    nsr_strbuf_printf(&b, " max-semaphores=%u", o->max_semaphores);
  if (o->keep_outer)
    nsr_strbuf_puts(&b, " keep-outer-barrier");
  if (o->add_exit)
    nsr_strbuf_puts(&b, " add-exit-barrier");
  if (o->overflow == NSR_OVERFLOW_KEEP)
    nsr_strbuf_puts(&b, " on-overflow=keep-barrier");
  spots_text(&b, "keep", o->bisect.keep, o->bisect.nkeep);
  spots_text(&b, "only", o->bisect.only, o->bisect.nonly);
  if (o->bisect.limited)
    nsr_strbuf_printf(&b, " limit=%u", o->bisect.limit);
  for (uint32_t i = 0; o->judge.facts && i < o->judge.facts->n; i++)
    nsr_strbuf_printf(&b, " fact{%s}", o->judge.facts->facts[i].text);
  NSR_TRY(nsr_strbuf_done(&b, out, NULL));
  *out += **out == ' ';
  return NSR_OK;
}

/* All sections of k, an older note of ours replaced by the new one. */
static enum nsr_status sections(struct nsr_ctx *ctx, const struct nsr_kernel *k,
                                const struct nsr_section *note,
                                struct nsr_kernel *out) {
  NSR_VEC(struct nsr_section) v = {0};
  for (uint32_t i = 0; i < k->nsections; i++)
    if (strcmp(k->sections[i].name, nsr_rewrite_note) != 0)
      NSR_PUSH(ctx, NSR_KEEP, &v, k->sections[i]);
  NSR_PUSH(ctx, NSR_KEEP, &v, *note);
  out->sections = v.v;
  out->nsections = (uint32_t)v.n;
  return NSR_OK;
}

static enum nsr_status make_kernel(struct nsr_ctx *ctx,
                                   const struct work_bench *b,
                                   const struct nsr_rewrite_options *options,
                                   const uint8_t *input, size_t size,
                                   struct nsr_kernel **out) {
  const struct nsr_kernel *k = b->program.k;
  struct nsr_stream *streams;
  struct nsr_section note;
  const char *text;
  NSR_NEW(ctx, NSR_KEEP, *out, 1);
  NSR_NEW(ctx, NSR_KEEP, streams, k->nstreams);
  **out = *k;
  for (uint32_t i = 0; i < k->nstreams; i++)
    streams[i] = b->woven.streams[k->streams[i].engine];
  (*out)->streams = streams;
  NSR_TRY(option_text(ctx, options, &text));
  NSR_TRY(nsr_weave_note(ctx, &b->plan, &b->woven, text, input, size, &note));
  return sections(ctx, k, &note, *out);
}

/* ---- judging */

static enum nsr_status proof_status(struct nsr_ctx *ctx,
                                    const struct nsr_kernel *k, bool strict,
                                    const struct nsr_proof *p) {
  struct nsr_place place = {.file = k->path, .insn = -1};
  if (p->verdict == NSR_PROOF_REFUTED)
    return nsr_fail(ctx, NSR_E_DIFFERENT, place,
                    "the static judge refutes the rewritten kernel: %s",
                    p->text);
  if (p->verdict == NSR_PROOF_UNDECIDED && strict)
    return nsr_fail(ctx, NSR_E_UNDECIDED, place,
                    "undecided by the static judge: %s", p->text);
  return NSR_OK;
}

/* alone: nobody else compares runs; proved: what runs did not get to is known
 * to be right. */
static enum nsr_status verdict_status(struct nsr_ctx *ctx,
                                      const struct nsr_kernel *k, bool strict,
                                      const struct nsr_judgement *j, bool alone,
                                      bool proved) {
  struct nsr_place place = {.file = k->path, .insn = -1};
  switch (j->verdict) {
  case NSR_INPUT_BROKEN:
    return nsr_fail(ctx, NSR_E_DIFFERENT, place, "the input is broken: %s",
                    j->text);
  case NSR_REFUTED:
    return nsr_fail(ctx, NSR_E_DIFFERENT, place,
                    "the judge refutes the rewritten kernel: %s", j->text);
  case NSR_UNDECIDED:
  case NSR_PREFIX_ONLY:
    if (j->inputs == 0 && alone)
      return nsr_fail(ctx, NSR_E_REFUSED, place,
                      "the judge compared no run to its end: %s", j->text);
    if (strict && !(proved && j->verdict == NSR_PREFIX_ONLY))
      return nsr_fail(ctx, NSR_E_UNDECIDED, place, "%s: %s",
                      nsr_verdict_name(j->verdict), j->text);
    break;
  case NSR_EQUAL:
    break;
  }
  return NSR_OK;
}

static enum nsr_status judge(struct nsr_ctx *ctx, const struct nsr_kernel *k,
                             const struct nsr_kernel *out,
                             const struct nsr_rewrite_options *options,
                             struct nsr_rewrite_report *r) {
  unsigned how =
      options->verify ? options->verify : NSR_VERIFY_STATIC | NSR_VERIFY_COSIM;
  bool proved = false, strict = options->strict;
  if (how & NSR_VERIFY_STATIC) {
    NSR_TRY(nsr_prove(ctx, k, out, &r->proof));
    r->proof_asked = true;
    proved = r->proof.verdict == NSR_PROOF_PROVED;
    NSR_TRY(proof_status(ctx, k, strict, &r->proof));
  }
  if (how & NSR_VERIFY_COSIM) {
    NSR_TRY(nsr_cosimulate(ctx, k, out, &options->judge, &r->judgement));
    r->judged = true;
    NSR_TRY(verdict_status(ctx, k, strict, &r->judgement, true, proved));
  }
  if (how & NSR_VERIFY_EXHAUSTIVE) {
    NSR_TRY(nsr_explore(ctx, k, out, &options->explore, &r->exploration));
    r->explored = true;
    NSR_TRY(verdict_status(ctx, k, strict, &r->exploration.judgement,
                           !r->judged, proved));
  }
  return NSR_OK;
}

/* No barrier to take out: the output is the input, or what has become of it. */
static enum nsr_status leave(struct nsr_ctx *ctx, const struct work_bench *b,
                             const struct nsr_rewrite_options *options,
                             struct nsr_kernel **out,
                             struct nsr_rewrite_report *report) {
  NSR_NEW(ctx, NSR_KEEP, *out, 1);
  **out = *b->program.k;
  report->changed = b->added_exit;
  if (b->added_exit) {
    NSR_TRY(nsr_kernel_check(ctx, *out));
    NSR_TRY(judge(ctx, *out, *out, options, report));
  }
  NSR_TRY(nsr_report_streams(ctx, *out, *out, report));
  report->scopes = b->tree.nscopes;
  return nsr_report_semaphores(ctx, &b->program, &report->semaphores);
}

static enum nsr_status change(struct nsr_ctx *ctx, struct work_bench *b,
                              const uint8_t *input, size_t size,
                              const struct nsr_rewrite_options *options,
                              struct nsr_kernel **out,
                              struct nsr_rewrite_report *report) {
  report->changed = true;
  NSR_TRY(nsr_weave(ctx, &b->plan, b->exit, &b->woven));
  NSR_TRY(make_kernel(ctx, b, options, input, size, out));
  NSR_TRY(nsr_kernel_check(ctx, *out));
  NSR_TRY(nsr_report_streams(ctx, b->program.k, *out, report));
  NSR_TRY(nsr_report_plan(ctx, &b->deps, &b->plan, report));
  return judge(ctx, b->program.k, *out, options, report);
}

/* Barriers that somebody asked for are no reason to object. */
static enum nsr_status strict_status(struct nsr_ctx *ctx,
                                     const struct nsr_rewrite_options *options,
                                     const struct nsr_rewrite_report *r) {
  uint32_t i = 0;
  while (i < r->nkept && !r->kept[i].stays)
    i++;
  if (!options->strict || i == r->nkept)
    return NSR_OK;
  return nsr_fail(ctx, NSR_E_UNDECIDED, r->kept[i].place,
                  "a barrier has to stay: %s", r->kept[i].reason);
}

enum nsr_status nsr_rewrite(struct nsr_ctx *ctx, const struct nsr_kernel *k,
                            const uint8_t *input, size_t size,
                            const struct nsr_rewrite_options *options,
                            struct nsr_kernel **out,
                            struct nsr_rewrite_report *report) {
  struct nsr_mark mark = nsr_scratch_mark(ctx);
  struct work_bench b = {0};
  uint32_t exit[NSR_MAX_ENGINES] = {0};
  *report = (struct nsr_rewrite_report){0};
  NSR_TRY(read_program(ctx, k, options, &b));
  report->added_exit = b.added_exit;
  bool only;
  NSR_TRY(nsr_program_only_exits(ctx, &b.program, exit, &only));
  if (only) {
    NSR_TRY(nsr_report_kept(ctx, &b.program, NULL, exit, NSR_NONE, report));
    NSR_TRY(leave(ctx, &b, options, out, report));
    return nsr_facts_text(ctx, b.program.facts, &report->facts);
  }
  NSR_TRY(analyse(ctx, options, &b, false));
  const char *text;
  bool done;
  NSR_TRY(option_text(ctx, options, &text));
  NSR_TRY(nsr_weave_done(ctx, &b.program, text, &done));
  bool goes = b.deps.tree && !done;
  if (goes) {
    NSR_TRY(synthesise(ctx, options, &b));
    NSR_TRY(fit(ctx, options, &b, false));
  }
  goes = goes && b.deps.tree && nsr_islands_leave_any(&b.tree, b.exit);
  NSR_TRY(nsr_report_kept(ctx, &b.program, &b.tree, b.tree.parts[b.exit].insn,
                          b.exit, report));
  if (goes)
    NSR_TRY(change(ctx, &b, input, size, options, out, report));
  else
    NSR_TRY(leave(ctx, &b, options, out, report));
  NSR_TRY(nsr_facts_text(ctx, b.program.facts, &report->facts));
  NSR_TRY(strict_status(ctx, options, report));
  nsr_scratch_release(ctx, mark);
  return NSR_OK;
}

/* ---- dumps */

int nsr_stage_parse(const char *name) {
  static const char *const names[] = {"cfg", "scopes", "deps", "orders",
                                      "plan"};
  for (int i = 0; i <= NSR_STAGE_PLAN; i++)
    if (strcmp(names[i], name) == 0)
      return i;
  return -1;
}

/* For the stages before waits are read: islands are shown, orders are not. */
static enum nsr_status order_without_waits(struct nsr_ctx *ctx,
                                           struct work_bench *b) {
  NSR_TRY(recover(ctx, b));
  NSR_TRY(nsr_islands_find(ctx, &b->tree, NULL, 0, &b->islands));
  NSR_TRY(nsr_explicit_map(ctx, &b->tree, &b->islands, true, &b->target));
  for (uint32_t w = 0; w < b->tree.nworks; w++)
    b->target[w] = NSR_NONE;
  return nsr_tree_linearize(ctx, &b->tree, &b->islands, &b->target);
}

/* Runs the passes that a stage needs. */
static enum nsr_status run_to(struct nsr_ctx *ctx, const struct nsr_kernel *k,
                              enum nsr_stage stage,
                              const struct nsr_rewrite_options *options,
                              struct work_bench *b) {
  NSR_TRY(read_program(ctx, k, options, b));
  NSR_TRY(stage >= NSR_STAGE_DEPS ? analyse(ctx, options, b, true)
                                  : order_without_waits(ctx, b));
  if (stage == NSR_STAGE_ORDERS)
    return nsr_needs_select(ctx, &b->deps, &b->needs);
  if (stage != NSR_STAGE_PLAN)
    return NSR_OK;
  NSR_TRY(synthesise(ctx, options, b));
  return fit(ctx, options, b, true);
}

enum nsr_status nsr_dump(struct nsr_ctx *ctx, const struct nsr_kernel *k,
                         enum nsr_stage stage,
                         const struct nsr_rewrite_options *options,
                         const char **text) {
  struct work_bench b = {0};
  struct nsr_orders orders = {&b.deps, &b.needs, NULL};
  struct nsr_strbuf out;
  nsr_strbuf_init(&out, ctx, NSR_KEEP);
  NSR_TRY(run_to(ctx, k, stage, options, &b));
  orders.target = b.target;
  switch (stage) {
  case NSR_STAGE_CFG:
    nsr_print_cfg(&out, &b.tree);
    break;
  case NSR_STAGE_SCOPES:
    nsr_print_scopes(&out, &b.tree);
    break;
  case NSR_STAGE_DEPS:
    nsr_print_deps(&out, &b.deps);
    break;
  case NSR_STAGE_ORDERS:
    nsr_print_orders(&out, &orders);
    break;
  case NSR_STAGE_PLAN:
    nsr_print_plan(&out, &b.plan);
    break;
  }
  return nsr_strbuf_done(&out, text, NULL);
}

enum nsr_status nsr_dump_dot(struct nsr_ctx *ctx, const struct nsr_kernel *k,
                             enum nsr_stage stage,
                             const struct nsr_rewrite_options *options,
                             const char **text) {
  struct work_bench b = {0};
  struct nsr_orders orders = {&b.deps, &b.needs, NULL};
  struct nsr_strbuf out;
  if (stage != NSR_STAGE_SCOPES && stage != NSR_STAGE_ORDERS)
    return nsr_fail(ctx, NSR_E_USAGE, NSR_NOWHERE,
                    "scopes and orders alone are graphs");
  nsr_strbuf_init(&out, ctx, NSR_KEEP);
  NSR_TRY(run_to(ctx, k, stage, options, &b));
  orders.target = b.target;
  if (stage == NSR_STAGE_SCOPES)
    nsr_dot_scopes(&out, &b.tree);
  else
    nsr_dot_orders(&out, &orders);
  return nsr_strbuf_done(&out, text, NULL);
}

/* ---- limits */

enum nsr_status nsr_limits(struct nsr_ctx *ctx, const struct nsr_kernel *k,
                           struct nsr_time_run *run,
                           const struct nsr_time_machine *machine,
                           struct nsr_limits *out) {
  static const struct nsr_rewrite_options options = {0};
  struct nsr_mark mark = nsr_scratch_mark(ctx);
  struct work_bench b = {0};
  struct nsr_machine m;
  NSR_TRY(nsr_time_machine_of(ctx, k->isa, machine, &m));
  NSR_TRY(read_program(ctx, k, &options, &b));
  NSR_TRY(analyse(ctx, &options, &b, true));
  enum nsr_status status = nsr_limits_find(ctx, &b.tree, &b.deps, run, &m, out);
  nsr_scratch_release(ctx, mark);
  return status;
}
