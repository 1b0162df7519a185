/* rewrite.c - the list of passes, from a kernel to the rewritten one. */
#include <nsr/rewrite.h>

#include <string.h>

#include "base/strbuf.h"
#include "judging.h"
#include "limits/limits.h"
#include "report/rewritten.h"
#include "soft.h"

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
  if (o->soft == NSR_SOFT_NEVER)
    nsr_strbuf_puts(&b, " soft-barriers=never");
  if (o->machine.name)
    nsr_strbuf_printf(&b, " machine=%s",
                      o->machine.text ? "file" : o->machine.name);
  for (uint32_t i = 0; i < o->machine.nsets; i++)
    nsr_strbuf_printf(&b, " set{%s}", o->machine.sets[i]);
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
                                   const struct nsr_bench *b,
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

/* ---- passes */

/* No barrier to take out: the output is the input, or what has become of it. */
static enum nsr_status leave(struct nsr_ctx *ctx, const struct nsr_bench *b,
                             const struct nsr_rewrite_options *options,
                             struct nsr_kernel **out,
                             struct nsr_rewrite_report *report) {
  NSR_NEW(ctx, NSR_KEEP, *out, 1);
  **out = *b->program.k;
  report->changed = b->added_exit;
  if (b->added_exit) {
    NSR_TRY(nsr_kernel_check(ctx, *out));
    NSR_TRY(nsr_judge_rewritten(ctx, *out, *out, options, report));
  }
  nsr_report_streams(&b->program, report);
  report->scopes = b->tree.nscopes;
  return nsr_report_semaphores(ctx, &b->program, &report->semaphores);
}

static void report_woven(const struct nsr_woven *woven,
                         struct nsr_rewrite_report *r) {
  for (int e = 0; e < NSR_MAX_ENGINES; e++) {
    r->engines[e].insns_after = woven->streams[e].n;
    r->engines[e].barriers_after = woven->barriers[e];
    r->engines[e].waits_after = woven->waits[e];
  }
}

static enum nsr_status change(struct nsr_ctx *ctx, struct nsr_bench *b,
                              const uint8_t *input, size_t size,
                              const struct nsr_rewrite_options *options,
                              struct nsr_kernel **out,
                              struct nsr_rewrite_report *report) {
  report->changed = true;
  NSR_TRY(nsr_report_plan(ctx, &b->deps, &b->plan, report));
  nsr_deps_drop(ctx, &b->deps);
  NSR_TRY(nsr_weave(ctx, &b->plan, b->exit, &b->woven));
  NSR_TRY(make_kernel(ctx, b, options, input, size, out));
  NSR_TRY(nsr_kernel_check(ctx, *out));
  nsr_report_streams(&b->program, report);
  report_woven(&b->woven, report);
  NSR_TRY(nsr_report_soft(ctx, options, b, report));
  return nsr_judge_rewritten(ctx, b->program.k, *out, options, report);
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

/* A machine that is asked for is one of the kernel's, needed or not. */
static enum nsr_status machine_status(struct nsr_ctx *ctx,
                                      const struct nsr_kernel *k,
                                      const struct nsr_time_machine *asked) {
  struct nsr_machine m;
  if (!asked->name && asked->nsets == 0)
    return NSR_OK;
  return nsr_time_machine_of(ctx, k->isa, asked, &m);
}

enum nsr_status nsr_rewrite(struct nsr_ctx *ctx, const struct nsr_kernel *k,
                            const uint8_t *input, size_t size,
                            const struct nsr_rewrite_options *options,
                            struct nsr_kernel **out,
                            struct nsr_rewrite_report *report) {
  struct nsr_mark mark = nsr_scratch_mark(ctx);
  struct nsr_bench b = {0};
  uint32_t exit[NSR_MAX_ENGINES] = {0};
  *report = (struct nsr_rewrite_report){0};
  NSR_TRY(machine_status(ctx, k, &options->machine));
  NSR_TRY(nsr_bench_read(ctx, k, options, &b));
  report->added_exit = b.added_exit;
  bool only;
  NSR_TRY(nsr_program_only_exits(ctx, &b.program, exit, &only));
  if (only) {
    NSR_TRY(nsr_report_kept(ctx, &b.program, NULL, exit, NSR_NONE, report));
    NSR_TRY(leave(ctx, &b, options, out, report));
    return nsr_facts_text(ctx, b.program.facts, &report->facts);
  }
  NSR_TRY(nsr_bench_analyse(ctx, options, &b, false));
  const char *text;
  bool done;
  NSR_TRY(option_text(ctx, options, &text));
  NSR_TRY(nsr_weave_done(ctx, &b.program, text, &done));
  bool goes = b.deps.tree && !done;
  if (goes)
    NSR_TRY(nsr_bench_plan(ctx, options, &b, false));
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

/* ---- limits */

enum nsr_status nsr_limits(struct nsr_ctx *ctx, const struct nsr_kernel *k,
                           struct nsr_time_run *run,
                           const struct nsr_time_machine *machine,
                           struct nsr_limits *out) {
  static const struct nsr_rewrite_options options = {0};
  struct nsr_mark mark = nsr_scratch_mark(ctx);
  struct nsr_bench b = {0};
  struct nsr_machine m;
  NSR_TRY(nsr_time_machine_of(ctx, k->isa, machine, &m));
  NSR_TRY(nsr_bench_read(ctx, k, &options, &b));
  NSR_TRY(nsr_bench_analyse(ctx, &options, &b, true));
  enum nsr_status status = nsr_limits_find(ctx, &b.tree, &b.deps, run, &m, out);
  nsr_scratch_release(ctx, mark);
  return status;
}
