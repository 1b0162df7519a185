/* cosim.c - co-simulation of two kernels on all inputs.
 *
 * Needs two kernels of one shape; makes a verdict. Per input: the first
 * kernel's run is the reference, and has to be sound by itself; the second
 * one runs against it, and once more with the registers that the first launch
 * left. One schedule speaks for all of an input unless a run says otherwise
 * (clocks.c); then several are tried and the verdict is no better than
 * undecided.
 */
#include "judge/cosim.h"

#include <string.h>

#include "judge/witness.h"
#include "sim/hash.h"

enum { MAX_REPEATS = 64, SPARE_BUDGET = 4 };

/* Of the budget, behind NSR_CUT_OFF_MANY inputs. */
enum { CUT_OFF_SHARE = 100 };

/* What the second kernel may need where the first one needed n. */
enum { TIMES_AS_MANY = 20, AND_MORE = 10000 };

/* ---- opening */

static void fill_options(struct nsr_judge_options *o) {
  if (!o->inputs)
    o->inputs = 60;
  if (!o->schedules)
    o->schedules = 8;
  if (!o->budget)
    o->budget = 2000000;
}

static enum nsr_status check_starts(struct nsr_judge *j) {
  const struct nsr_isa *isa = j->b->isa;
  int64_t limit = INT64_C(1) << (isa->semaphore_bits - 1);
  for (uint32_t i = 0; i < j->options.nstarts; i++) {
    const struct nsr_start *s = &j->options.starts[i];
    if (s->sem >= isa->semaphores || s->value >= limit || s->value < -limit)
      return nsr_fail(j->ctx, NSR_E_USAGE, NSR_NOWHERE,
                      "semaphore %u cannot hold %d: there are %u of %u bits",
                      s->sem, (int)s->value, isa->semaphores,
                      isa->semaphore_bits);
  }
  return NSR_OK;
}

static enum nsr_status open_inputs(struct nsr_judge *j) {
  const struct nsr_judge_options *o = &j->options;
  if (!o->only)
    return nsr_inputs_new(j->pool, NSR_KEEP, j->a->kernel, o->inputs, j->all,
                          o->seed, &j->inputs);
  enum nsr_status status =
      nsr_inputs_given(j->pool, NSR_KEEP, j->a->kernel, o->only, &j->inputs);
  const struct nsr_diag *d = nsr_ctx_first_error(j->pool);
  if (status == NSR_E_USAGE && d)
    return nsr_fail(j->ctx, status, d->place, "%s", d->text);
  return status;
}

static enum nsr_status open_rest(struct nsr_judge *j) {
  j->wild = j->a->has_foreign || j->a->has_unknown || j->b->has_foreign ||
            j->b->has_unknown || j->options.external;
  NSR_TRY(
      nsr_allowed_new(j->pool, NSR_KEEP, j->a, j->options.facts, &j->allowed));
  j->may = j->a->has_may || j->b->has_may || j->allowed.n;
  NSR_TRY(nsr_machine_default(j->ctx, j->a->isa, &j->machine));
  NSR_TRY(check_starts(j));
  NSR_TRY(open_inputs(j));
  nsr_inputs_use_ranges(&j->inputs, j->a, j->options.facts);
  NSR_NEW(j->pool, NSR_KEEP, j->most, j->inputs.ntensors);
  for (uint32_t t = 0; t < j->inputs.ntensors; t++)
    j->most[t] = INT64_MIN;
  for (int e = 0; e < j->a->nengines; e++) {
    NSR_NEW(j->pool, NSR_KEEP, j->ran[e], j->a->streams[e].n);
    NSR_NEW(j->pool, NSR_KEEP, j->taken[e], j->a->streams[e].n);
  }
  if (j->options.external)
    NSR_NEW(j->pool, NSR_KEEP, j->happened, j->options.external->nsequences);
  j->atoms = nsr_atoms_new(j->ctx, j->a->isa);
  if (!j->atoms)
    return NSR_E_NOMEM;
  NSR_TRY(nsr_opaque_cuts(j->atoms, j->a));
  NSR_TRY(nsr_opaque_cuts(j->atoms, j->b));
  if (j->options.external)
    NSR_TRY(nsr_opaque_external_cuts(j->atoms, j->options.external));
  return nsr_atoms_commit(j->atoms);
}

static enum nsr_status open_pool(struct nsr_judge *j, struct nsr_ctx *ctx,
                                 const struct nsr_judge_options *options) {
  *j = (struct nsr_judge){.ctx = ctx};
  if (options)
    j->options = *options;
  j->all = j->options.inputs > 0;
  fill_options(&j->options);
  j->budget = j->options.budget;
  j->pool = nsr_ctx_new();
  if (!j->pool)
    return nsr_fail(ctx, NSR_E_NOMEM, NSR_NOWHERE, "out of memory");
  return NSR_OK;
}

enum nsr_status nsr_judge_open_images(struct nsr_judge *j, struct nsr_ctx *ctx,
                                      const struct nsr_image *a,
                                      const struct nsr_image *b,
                                      const struct nsr_judge_options *options) {
  NSR_TRY(open_pool(j, ctx, options));
  j->a = a;
  j->b = b;
  return open_rest(j);
}

enum nsr_status nsr_judge_open(struct nsr_judge *j, struct nsr_ctx *ctx,
                               const struct nsr_kernel *a,
                               const struct nsr_kernel *b,
                               const struct nsr_judge_options *options) {
  struct nsr_image *image;
  bool two = b != a;
  NSR_TRY(open_pool(j, ctx, options));
  NSR_TRY(nsr_facts_ranges(ctx, j->options.facts, a, &a));
  NSR_TRY(nsr_facts_ranges(ctx, j->options.facts, b, &b));
  j->mark = nsr_scratch_mark(ctx);
  j->marked = true;
  NSR_TRY(nsr_image_new(ctx, NSR_SCRATCH, a, &image));
  j->a = j->b = image;
  if (two) {
    NSR_TRY(nsr_image_new(ctx, NSR_SCRATCH, b, &image));
    j->b = image;
  }
  return open_rest(j);
}

void nsr_judge_close(struct nsr_judge *j) {
  nsr_atoms_free(j->atoms);
  nsr_ctx_free(j->pool);
  if (j->marked)
    nsr_scratch_release(j->ctx, j->mark);
}

/* ---- runs */

static void pick_policy(const struct nsr_judge *j, uint32_t schedule,
                        struct nsr_policy *p) {
  static const enum nsr_policy_kind first[] = {
      NSR_ROUND_ROBIN, NSR_LATE_QUEUES, NSR_LATE_PIPES,   NSR_REVERSE,
      NSR_RANDOM,      NSR_HOLD_ENGINE, NSR_AHEAD_ENGINE, NSR_RANDOM};
  uint32_t engines[NSR_MAX_ENGINES], n = 0;
  for (int e = 0; e < j->a->nengines; e++)
    if (j->a->streams[e].stream)
      engines[n++] = (uint32_t)e;
  uint32_t turn = schedule / 8;
  uint32_t engine = n ? engines[(j->options.seed + turn) % n] : 0;
  nsr_policy_init(p, first[schedule % 8], engine,
                  nsr_combine(j->options.seed, schedule));
}

struct nsr_watch_options nsr_judge_run_options(const struct nsr_judge *j,
                                               const struct nsr_image *image,
                                               size_t input,
                                               uint32_t schedule) {
  bool optional = j->inputs.list.v[input].optional;
  struct nsr_watch_options o = {
      .image = image,
      .machine = &j->machine,
      .atoms = j->atoms,
      .ncontents = j->inputs.ntensors,
      .budget = optional ? j->options.budget / SPARE_BUDGET : j->options.budget,
      .external = j->options.external,
      .wild = j->wild,
      .no_order = j->options.no_order,
      .may = j->may,
      .allowed = &j->allowed};
  if (image == j->b && j->a != j->b) {
    o.nstarts = j->options.nstarts;
    o.starts = j->options.starts;
    o.unsigned_waits = j->options.unsigned_waits;
  }
  pick_policy(j, schedule, &o.policy);
  return o;
}

struct nsr_watch_options nsr_judge_against(const struct nsr_judge *j,
                                           const struct nsr_watch *reference,
                                           const struct nsr_image *image,
                                           size_t input, uint32_t schedule) {
  struct nsr_watch_options o = nsr_judge_run_options(j, image, input, schedule);
  o.contents = reference->o.contents;
  o.reference = reference;
  if (reference->finding.budget)
    o.budget *= 2; /* to get as far as the first one */
  if (reference->finding.budget || (image == j->a && j->a != j->b))
    return o;
  o.must_end = true;
  if (__builtin_mul_overflow(reference->sim->executed, TIMES_AS_MANY,
                             &o.budget) ||
      __builtin_add_overflow(o.budget, AND_MORE, &o.budget))
    o.budget = UINT64_MAX;
  return o;
}

static const char too_many_pieces[] =
    "memory is accessed in too many pieces to follow";

static void undecided_atoms(struct nsr_watch *w) {
  w->finding = (struct nsr_finding){.undecided = true, .text = too_many_pieces};
}

static enum nsr_status run(struct nsr_judge *j,
                           const struct nsr_watch_options *o,
                           struct nsr_watch **watch) {
  NSR_TRY(nsr_watch_run(j->ctx, j->pool, o, watch));
  j->instances += (*watch)->sim->executed;
  j->runs++;
  if (nsr_atoms_overflow(j->atoms) ||
      ((*watch)->blind && (*watch)->finding.kind == NSR_FAULT_NONE &&
       !(*watch)->finding.undecided))
    undecided_atoms(*watch);
  return NSR_OK;
}

enum nsr_status nsr_judge_record(struct nsr_judge *j,
                                 struct nsr_watch_options *options,
                                 struct nsr_watch **watch) {
  struct nsr_mark mark = nsr_scratch_mark(j->pool);
  nsr_atoms_trim(j->atoms);
  for (int i = 0; i < MAX_REPEATS; i++) {
    NSR_TRY(run(j, options, watch));
    if (!(*watch)->blind || nsr_atoms_overflow(j->atoms))
      return NSR_OK;
    NSR_TRY(nsr_atoms_commit(j->atoms));
    if (nsr_atoms_overflow(j->atoms))
      return NSR_OK;
    nsr_scratch_release(j->pool, mark);
  }
  NSR_TRY(run(j, options, watch));
  undecided_atoms(*watch);
  return NSR_OK;
}

/* ---- one input */

struct outcome {
  enum nsr_verdict verdict;
  bool skipped;
  struct nsr_finding finding;
  const char *prefix; /* which run it was */
};

static void odd_note(struct nsr_judge *j, const struct nsr_watch *w) {
  if (j->odd || w->clocks.odd_sem < 0)
    return;
  const char *which = w->o.image == j->a ? "first" : "second";
  j->odd =
      w->clocks.odd_sem == w->o.image->isa->semaphores
          ? nsr_printf(j->ctx, NSR_KEEP,
                       "the count of core barriers of the %s kernel %s", which,
                       w->clocks.odd_why)
          : nsr_printf(j->ctx, NSR_KEEP, "semaphore %d of the %s kernel %s",
                       (int)w->clocks.odd_sem, which, w->clocks.odd_why);
}

/* False: the run found something, and out says what. */
static bool passed(struct nsr_judge *j, const struct nsr_watch *w,
                   enum nsr_verdict fault, struct outcome *out) {
  odd_note(j, w);
  if (w->finding.kind == NSR_FAULT_NONE && !w->finding.undecided)
    return true;
  out->finding = w->finding;
  out->verdict = w->finding.undecided ? NSR_UNDECIDED : fault;
  return false;
}

static enum nsr_status describe(struct nsr_judge *j, const struct nsr_watch *w,
                                const char *what, struct outcome *out) {
  char policy[64];
  nsr_policy_describe(&w->o.policy, w->o.image, policy, sizeof policy);
  out->prefix =
      nsr_printf(j->ctx, NSR_KEEP, "%s (schedule: %s): ", what, policy);
  return out->prefix ? NSR_OK : NSR_E_NOMEM;
}

/* One run against the reference. */
static enum nsr_status compare(struct nsr_judge *j, struct nsr_watch *reference,
                               const struct nsr_watch_options *o,
                               const char *what, struct outcome *out,
                               bool *good, struct nsr_watch **watch) {
  struct nsr_watch *w;
  NSR_TRY(run(j, o, &w));
  enum nsr_verdict fault = o->image == j->a ? NSR_INPUT_BROKEN : NSR_REFUTED;
  *good = passed(j, w, fault, out);
  *watch = w;
  if (*good)
    return NSR_OK;
  NSR_TRY(nsr_judge_details(j, reference, w));
  out->finding = w->finding;
  return describe(j, w, what, out);
}

/* Schedules first.. of an image, each against the reference. */
static enum nsr_status more_schedules(struct nsr_judge *j,
                                      struct nsr_watch *reference,
                                      const struct nsr_image *image,
                                      size_t input, const char *what,
                                      struct outcome *out, bool *good) {
  struct nsr_watch *w;
  for (uint32_t s = 1; *good && s < j->options.schedules; s++) {
    struct nsr_mark mark = nsr_scratch_mark(j->pool);
    struct nsr_watch_options o =
        nsr_judge_against(j, reference, image, input, s);
    NSR_TRY(compare(j, reference, &o, what, out, good, &w));
    nsr_scratch_release(j->pool, mark);
  }
  return NSR_OK;
}

/* Which one of the series an input is, or was. */
static uint64_t number_of(const struct nsr_judge *j, size_t input) {
  return j->options.only ? j->options.only->number : input;
}

/* The registers of the first launch stay, or anything is in them. */
static enum nsr_status relaunch(struct nsr_judge *j,
                                struct nsr_watch *reference,
                                struct nsr_watch *before, size_t input,
                                bool garbage, struct outcome *out, bool *good) {
  struct nsr_mark mark = nsr_scratch_mark(j->pool);
  struct nsr_watch_options o = nsr_judge_against(
      j, reference, j->b, input, 1 + (uint32_t)(number_of(j, input) % 7));
  struct nsr_watch *w;
  o.registers = garbage ? NSR_REGS_GARBAGE : NSR_REGS_KEPT;
  o.before = before;
  NSR_TRY(compare(j, reference, &o,
                  garbage ? "launched with anything in its registers"
                          : "launched again, registers not reset",
                  out, good, &w));
  nsr_scratch_release(j->pool, mark);
  return NSR_OK;
}

static enum nsr_status judge_second(struct nsr_judge *j,
                                    struct nsr_watch *reference, size_t input,
                                    struct outcome *out) {
  struct nsr_watch_options o = nsr_judge_against(j, reference, j->b, input, 0);
  struct nsr_watch *w;
  bool good = true;
  NSR_TRY(compare(j, reference, &o, "", out, &good, &w));
  out->prefix = good ? out->prefix : "";
  bool relaunches = !j->options.no_relaunch;
  uint64_t number = number_of(j, input);
  if (good && relaunches && (number % 2 == 0 || number == 1))
    NSR_TRY(relaunch(j, reference, w, input, false, out, &good));
  if (good && relaunches && (number % 2 == 1 || number == 0))
    NSR_TRY(relaunch(j, reference, w, input, true, out, &good));
  if (good && (w->clocks.odd_sem >= 0 || j->options.every_schedule))
    NSR_TRY(
        more_schedules(j, reference, j->b, input, "second kernel", out, &good));
  return NSR_OK;
}

static void add_coverage(struct nsr_judge *j, const struct nsr_watch *w) {
  for (int e = 0; e < j->a->nengines; e++)
    for (uint32_t i = 0; i < j->a->streams[e].n; i++) {
      j->ran[e][i] |= w->sim->core[e].ran[i];
      j->taken[e][i] |= w->sim->core[e].taken[i];
    }
  for (uint32_t s = 0; j->happened && s < j->options.external->nsequences; s++)
    if (w->sim->happened[s] > j->happened[s])
      j->happened[s] = w->sim->happened[s];
}

static enum nsr_status judge_input(struct nsr_judge *j, size_t input,
                                   struct outcome *out) {
  struct nsr_watch_options o = nsr_judge_run_options(j, j->a, input, 0);
  struct nsr_watch *reference;
  bool good = true;
  const struct nsr_input *in = &j->inputs.list.v[input];
  *out = (struct outcome){.verdict = NSR_EQUAL, .prefix = ""};
  if (in->series && in->series == j->series) {
    out->skipped = true;
    return NSR_OK;
  }
  if (nsr_atoms_overflow(j->atoms)) {
    out->verdict = NSR_UNDECIDED;
    out->finding.text = too_many_pieces;
    return NSR_OK;
  }
  NSR_TRY(nsr_inputs_contents(j->pool, NSR_SCRATCH, &j->inputs, input,
                              &o.contents));
  NSR_TRY(nsr_judge_record(j, &o, &reference));
  add_coverage(j, reference);
  if (reference->finding.budget && !in->optional)
    return judge_second(j, reference, input, out); /* as far as it goes */
  if (!passed(j, reference, NSR_INPUT_BROKEN, out)) {
    out->skipped = reference->finding.budget;
    j->series = out->skipped ? in->series : 0;
    out->prefix = out->verdict == NSR_INPUT_BROKEN ? "first kernel: " : "";
    return NSR_OK;
  }
  j->may_pairs += reference->unordered_may;
  if (reference->clocks.odd_sem >= 0 || j->options.every_schedule)
    NSR_TRY(
        more_schedules(j, reference, j->a, input, "first kernel", out, &good));
  return good ? judge_second(j, reference, input, out) : NSR_OK;
}

/* ---- all inputs */

static enum nsr_status take(struct nsr_judge *j, size_t input,
                            const struct outcome *o,
                            struct nsr_judgement *out) {
  out->verdict = o->verdict;
  out->fault = o->finding.kind;
  out->text = nsr_printf(j->ctx, NSR_KEEP, "%s%s", o->prefix,
                         o->finding.text ? o->finding.text : "");
  if (!out->text)
    return NSR_E_NOMEM;
  NSR_TRY(nsr_inputs_words(j->ctx, &j->inputs, input, &out->words));
  return nsr_inputs_text(j->ctx, &j->inputs, input, &out->input);
}

static enum nsr_status beyond(struct nsr_judge *j, struct nsr_judgement *out) {
  out->verdict = NSR_UNDECIDED;
  out->text = nsr_printf(j->ctx, NSR_KEEP, "%s: undecided beyond %u schedules",
                         j->odd, (unsigned)j->options.schedules);
  return out->text ? NSR_OK : NSR_E_NOMEM;
}

static void pass(struct nsr_judge *j, size_t input, struct nsr_judgement *out) {
  out->inputs++;
  nsr_inputs_reach(&j->inputs, input, j->most);
}

static enum nsr_status partly(struct nsr_judge *j, const char *ranges,
                              struct nsr_judgement *out) {
  out->verdict = NSR_UNDECIDED;
  out->text = !*ranges ? "not all inputs were tried"
                       : nsr_printf(j->ctx, NSR_KEEP, "%.*s",
                                    (int)strcspn(ranges, "\n"), ranges);
  return out->text ? NSR_OK : NSR_E_NOMEM;
}

/* A kernel that does not end whatever the input costs a few full budgets, not
 * one per input. */
static void spare(struct nsr_judge *j, const struct outcome *o,
                  const struct nsr_judgement *out) {
  if (out->inputs || !o->finding.budget || ++j->cut_off != NSR_CUT_OFF_MANY)
    return;
  j->options.budget = j->budget / CUT_OFF_SHARE + 1;
}

/* Of several inputs the worst counts. */
static int severity(enum nsr_verdict verdict) {
  switch (verdict) {
  case NSR_EQUAL:
    return 0;
  case NSR_PREFIX_ONLY:
    return 1;
  case NSR_UNDECIDED:
    return 2;
  case NSR_INPUT_BROKEN:
    return 3;
  default:
    return 4;
  }
}

/* Whether the caller wants no more. */
static bool stopped(struct nsr_judge *j, size_t i) {
  const struct nsr_judge_options *o = &j->options;
  bool stop = i > 0 && ((o->runs && j->runs >= o->runs) ||
                        (o->go_on && !o->go_on(o->self)));
  if (stop)
    j->left = j->inputs.list.n - i;
  return stop;
}

enum nsr_status nsr_judge_all(struct nsr_judge *j, struct nsr_judgement *out) {
  struct outcome o;
  *out = (struct nsr_judgement){
      .verdict = NSR_EQUAL, .text = "", .input = "", .notes = "", .facts = ""};
  for (size_t i = 0; i < j->inputs.list.n && !stopped(j, i); i++) {
    struct nsr_mark mark = nsr_scratch_mark(j->pool);
    NSR_TRY(judge_input(j, i, &o));
    nsr_scratch_release(j->pool, mark);
    if (o.skipped)
      j->skipped++;
    else if (o.verdict == NSR_EQUAL)
      pass(j, i, out);
    else if (o.verdict == NSR_UNDECIDED)
      out->undecided++;
    spare(j, &o, out);
    if (o.verdict == NSR_UNDECIDED && o.finding.budget)
      o.verdict = NSR_PREFIX_ONLY;
    if (!o.skipped && severity(o.verdict) > severity(out->verdict))
      NSR_TRY(take(j, i, &o, out));
    if (o.verdict == NSR_REFUTED)
      break;
  }
  if (out->verdict == NSR_EQUAL && j->odd)
    NSR_TRY(beyond(j, out));
  const char *ranges;
  NSR_TRY(nsr_judge_ranges(j, &ranges));
  if (out->verdict == NSR_EQUAL && (*ranges || j->left) &&
      j->options.whole_ranges)
    NSR_TRY(partly(j, ranges, out));
  out->instances = j->instances;
  out->may_pairs = j->may_pairs;
  return nsr_judge_notes(j, ranges, &out->notes);
}

static enum nsr_status shapes_differ(struct nsr_judgement *out,
                                     const char *why) {
  *out = (struct nsr_judgement){.verdict = NSR_REFUTED,
                                .fault = NSR_FAULT_SHAPE,
                                .text = why,
                                .input = "",
                                .notes = "",
                                .facts = ""};
  return NSR_OK;
}

enum nsr_status nsr_cosimulate(struct nsr_ctx *ctx, const struct nsr_kernel *a,
                               const struct nsr_kernel *b,
                               const struct nsr_judge_options *options,
                               struct nsr_judgement *out) {
  struct nsr_judge j;
  const char *why = nsr_judge_shape(ctx, a, b);
  if (why)
    return shapes_differ(out, why);
  enum nsr_status status = nsr_judge_open(&j, ctx, a, b, options);
  if (status == NSR_OK)
    status = nsr_judge_all(&j, out);
  nsr_judge_close(&j);
  return status == NSR_OK
             ? nsr_facts_text(ctx, options ? options->facts : NULL, &out->facts)
             : status;
}
