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
#include "emit/weave.h"
#include "ir/islands.h"
#include "ir/keeps.h"
#include "report/stages.h"
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
  uint32_t exit; /* the barrier that always stays */
  uint32_t *target;
  struct nsr_deps deps;
  struct nsr_needs needs;
  struct nsr_plan plan;
  struct nsr_woven woven;
};

/* What is rewritten, and what is known of it. */
static enum nsr_status read_program(struct nsr_ctx *ctx,
                                    const struct nsr_kernel *k,
                                    const struct nsr_rewrite_options *options,
                                    struct work_bench *b) {
  NSR_TRY(nsr_program_build(ctx, k, &b->program));
  b->program.facts = options->judge.facts;
  return NSR_OK;
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

/* From dependences to the plan. */
static enum nsr_status synthesise(struct nsr_ctx *ctx,
                                  const struct nsr_rewrite_options *options,
                                  struct work_bench *b) {
  struct nsr_budget budget = {
      at_most(options->max_registers, options->limit_registers),
      at_most(options->max_semaphores, options->limit_semaphores),
      options->scheme, options->published};
  bool more = options->scheme == NSR_SCHEME_PUBLISHED;
  NSR_TRY(nsr_needs_select(ctx, &b->deps, &b->needs));
  while (more && !options->published_recent) {
    NSR_TRY(nsr_published_keep(ctx, &b->tree, &b->needs, b->exit, &more));
    if (more)
      NSR_TRY(nsr_needs_select(ctx, &b->deps, &b->needs));
  }
  return nsr_plan_make(ctx, &b->tree, &b->needs, &budget, &b->plan);
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

/* ---- the report */

static enum nsr_status count_stream(struct nsr_ctx *ctx,
                                    const struct nsr_kernel *k,
                                    const struct nsr_stream *s, uint32_t *n,
                                    uint32_t *barriers, uint32_t *waits) {
  *n = s->n;
  for (uint32_t i = 0; i < s->n; i++) {
    struct nsr_insn x;
    NSR_TRY(nsr_stream_decode(ctx, k, s, i, &x));
    *barriers += x.desc->cls == NSR_BARRIER;
    *waits += x.wait.cmp && nsr_owned(k, x.wait.sem);
  }
  return NSR_OK;
}

static enum nsr_status count_kernels(struct nsr_ctx *ctx,
                                     const struct nsr_kernel *before,
                                     const struct nsr_kernel *after,
                                     struct nsr_rewrite_report *r) {
  for (uint32_t i = 0; i < before->nstreams; i++) {
    const struct nsr_stream *s = &before->streams[i];
    struct nsr_engine_report *e = &r->engines[s->engine];
    e->engine = before->isa->engines[s->engine];
    NSR_TRY(count_stream(ctx, before, s, &e->insns_before, &e->barriers_before,
                         &e->waits_before));
    NSR_TRY(count_stream(ctx, after, &after->streams[i], &e->insns_after,
                         &e->barriers_after, &e->waits_after));
  }
  return NSR_OK;
}

/* insn: a barrier, by engine; where it stands on the first that has it. */
static struct nsr_place barrier_place(const struct nsr_program *p,
                                      const uint32_t insn[NSR_MAX_ENGINES]) {
  int e = 0;
  while (!p->stream[e] || insn[e] == NSR_NONE)
    e++;
  return nsr_program_place(p, e, insn[e]);
}

/* "island: the wait on semaphore 4 at act[12] (k.s:40) has its .." */
static const char *kept_reason(struct nsr_ctx *ctx, const struct nsr_tree *t,
                               uint32_t why) {
  const struct nsr_trouble *x = &t->troubles[why];
  struct nsr_place at = nsr_program_place(t->program, x->engine, x->insn);
  const char *source = "";
  if (at.source_file && at.source_line)
    source = nsr_printf(ctx, NSR_SCRATCH, " (%s:%u)", at.source_file,
                        at.source_line);
  return source ? nsr_printf(ctx, NSR_KEEP, "island: %s at %s[%u]%s %s",
                             x->what, at.engine, x->insn, source, x->why)
                : NULL;
}

/* tree NULL: there are no islands. exit: the exit barrier's instructions. */
static enum nsr_status
kept_barriers(struct nsr_ctx *ctx, const struct nsr_program *p,
              const struct nsr_tree *t, const uint32_t exit[NSR_MAX_ENGINES],
              uint32_t exit_part, struct nsr_rewrite_report *r) {
  NSR_VEC(struct nsr_kept_barrier) kept = {0};
  for (uint32_t i = 0; t && i < t->nparts; i++) {
    const struct nsr_part *part = &t->parts[i];
    if (part->kind != NSR_PART_BARRIER || !part->keep || i == exit_part)
      continue;
    bool island = part->keep == NSR_KEEP_ISLAND;
    bool stays = island || part->keep == NSR_KEEP_PUBLISHED;
    const char *reason =
        island ? kept_reason(ctx, t, part->why) : nsr_keep_text(part->keep);
    if (!reason)
      return NSR_E_NOMEM;
    NSR_PUSH(
        ctx, NSR_KEEP, &kept,
        (struct nsr_kept_barrier){barrier_place(p, part->insn), reason, stays});
  }
  int e = 0;
  while (!p->stream[e])
    e++;
  if (exit[e] != NSR_NONE)
    NSR_PUSH(ctx, NSR_KEEP, &kept,
             (struct nsr_kept_barrier){barrier_place(p, exit), "exit barrier",
                                       false});
  r->kept = kept.v;
  r->nkept = (uint32_t)kept.n;
  return NSR_OK;
}

/* Semaphores that some instruction of k updates. */
static enum nsr_status count_semaphores(struct nsr_ctx *ctx,
                                        const struct nsr_program *p,
                                        uint32_t *n) {
  bool *used;
  NSR_NEW(ctx, NSR_SCRATCH, used, p->k->isa->semaphores);
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    for (uint32_t i = 0; p->stream[e] && i < p->stream[e]->n; i++) {
      const struct nsr_update *u = &p->nodes[e][i].update;
      *n += u->op && !used[u->sem];
      if (u->op)
        used[u->sem] = true;
    }
  return NSR_OK;
}

static enum nsr_status may_pairs(struct nsr_ctx *ctx,
                                 const struct nsr_deps *deps,
                                 struct nsr_rewrite_report *r) {
  const struct nsr_work *works = deps->tree->works;
  struct nsr_may_pair *pairs;
  NSR_NEW(ctx, NSR_KEEP, pairs, deps->unordered);
  for (uint32_t i = 0; i < deps->n; i++) {
    const struct nsr_dep *d = &deps->deps[i];
    if (!d->unordered)
      continue;
    struct nsr_may_pair *pair = &pairs[r->may_pairs++];
    pair->first = nsr_work_place(deps->tree, &works[d->p]);
    pair->second = nsr_work_place(deps->tree, &works[d->c]);
    pair->where = nsr_bytes_text(ctx, &d->where);
    if (!pair->where)
      return NSR_E_NOMEM;
  }
  r->pairs = pairs;
  return NSR_OK;
}

static int64_t entry_bound(const struct work_bench *b) {
  int bits = b->program.k->isa->semaphore_bits;
  int64_t most = (INT64_C(1) << ((bits < 32 ? bits : 32) - 1)) - 1;
  return b->plan.largest ? most / b->plan.largest : 0;
}

static enum nsr_status fill_report(struct nsr_ctx *ctx,
                                   const struct work_bench *b,
                                   const struct nsr_kernel *out,
                                   struct nsr_rewrite_report *r) {
  NSR_TRY(count_kernels(ctx, b->program.k, out, r));
  r->scopes = b->tree.nscopes;
  r->dependences = b->deps.n;
  NSR_TRY(may_pairs(ctx, &b->deps, r));
  r->max_entries = entry_bound(b);
  r->semaphores = b->plan.nsems;
  r->scheme = b->plan.scheme;
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    r->engines[e].registers = b->plan.registers[e];
  return NSR_OK;
}

/* ---- judging */

static enum nsr_status verdict_status(struct nsr_ctx *ctx,
                                      const struct nsr_kernel *k, bool strict,
                                      const struct nsr_judgement *j) {
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
    if (j->inputs == 0)
      return nsr_fail(ctx, NSR_E_REFUSED, place,
                      "the judge compared no run to its end: %s", j->text);
    if (strict)
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
  if (options->verify == NSR_VERIFY_NONE)
    return NSR_OK;
  NSR_TRY(nsr_cosimulate(ctx, k, out, &options->judge, &r->judgement));
  r->judged = true;
  return verdict_status(ctx, k, options->strict, &r->judgement);
}

/* No barrier to take out: the output is the input. */
static enum nsr_status leave(struct nsr_ctx *ctx, const struct work_bench *b,
                             struct nsr_kernel **out,
                             struct nsr_rewrite_report *report) {
  NSR_NEW(ctx, NSR_KEEP, *out, 1);
  **out = *b->program.k;
  NSR_TRY(count_kernels(ctx, *out, *out, report));
  report->scopes = b->tree.nscopes;
  return count_semaphores(ctx, &b->program, &report->semaphores);
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
  NSR_TRY(fill_report(ctx, b, *out, report));
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
  bool only;
  NSR_TRY(nsr_program_only_exits(ctx, &b.program, exit, &only));
  if (only) {
    NSR_TRY(kept_barriers(ctx, &b.program, NULL, exit, NSR_NONE, report));
    NSR_TRY(leave(ctx, &b, out, report));
    return nsr_facts_text(ctx, b.program.facts, &report->facts);
  }
  NSR_TRY(analyse(ctx, options, &b, false));
  const char *text;
  bool done;
  NSR_TRY(option_text(ctx, options, &text));
  NSR_TRY(nsr_weave_done(ctx, &b.program, text, &done));
  bool goes = b.deps.tree && !done;
  if (goes)
    NSR_TRY(synthesise(ctx, options, &b));
  goes &= nsr_islands_leave_any(&b.tree, b.exit);
  NSR_TRY(kept_barriers(ctx, &b.program, &b.tree, b.tree.parts[b.exit].insn,
                        b.exit, report));
  if (goes)
    NSR_TRY(change(ctx, &b, input, size, options, out, report));
  else
    NSR_TRY(leave(ctx, &b, out, report));
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
  return stage == NSR_STAGE_PLAN ? synthesise(ctx, options, b) : NSR_OK;
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
