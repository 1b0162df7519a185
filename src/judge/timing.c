/* timing.c - times kernels.
 *
 * Needs a kernel, an input and a machine; makes its time and where it went.
 * Dependences are looked for when they are first asked for.
 */
#include "judge/timing.h"

#include <stdlib.h>
#include <string.h>

#include "sim/machine_text.h"
#include "sim/numeric.h"

enum { DEFAULT_BUDGET = 200000000 };

const char *nsr_machine_builtin(const char *name) {
  for (const struct nsr_machine_text *t = nsr_machine_texts; t->name; t++)
    if (strcmp(t->name, name) == 0)
      return t->text;
  return NULL;
}

/* ---- inputs */

static enum nsr_status bad_words(struct nsr_ctx *ctx, const char *name,
                                 const char *what) {
  return nsr_fail(ctx, NSR_E_USAGE, NSR_NOWHERE, "%.80s %s", name, what);
}

/* Overwrites the words of one tensor. */
static enum nsr_status put_words(struct nsr_ctx *ctx,
                                 const struct nsr_inputs *in,
                                 const struct nsr_time_words *w,
                                 struct nsr_contents *contents) {
  uint32_t i = 0;
  const struct nsr_tensor *t = NULL;
  for (; i < in->ntensors; i++) {
    t = &in->kernel->tensors[in->tensors[i]];
    if (t->name && strcmp(t->name, w->tensor) == 0)
      break;
  }
  if (i == in->ntensors)
    return bad_words(ctx, w->tensor,
                     "is no input in DRAM with a range of values");
  uint64_t size = nsr_dtype_bytes((enum nsr_dtype)t->dtype);
  uint64_t n = contents[i].size / size;
  if (!w->n || w->n > n)
    return bad_words(ctx, w->tensor, "does not have so many words");
  uint8_t *data;
  NSR_NEW(ctx, NSR_KEEP, data, contents[i].size);
  for (uint64_t k = 0; k < n; k++) {
    int64_t v = w->words[k < w->n ? k : w->n - 1];
    if (v < t->lo || v > t->hi)
      return bad_words(ctx, w->tensor, "is given a word outside of its range");
    nsr_element_put_bits((enum nsr_dtype)t->dtype, data + k * size, (int32_t)v);
  }
  contents[i].data = data;
  return NSR_OK;
}

static enum nsr_status make_contents(struct nsr_ctx *ctx,
                                     const struct nsr_kernel *k,
                                     const struct nsr_time_input *input,
                                     const struct nsr_contents **out,
                                     uint32_t *n) {
  struct nsr_inputs in;
  const struct nsr_contents *file;
  struct nsr_contents *c;
  NSR_TRY(nsr_inputs_new(ctx, NSR_KEEP, k, 1, false, 0, &in));
  in.list.v[0] = (struct nsr_input){.kind = NSR_INPUT_FILE};
  NSR_TRY(nsr_inputs_contents(ctx, NSR_KEEP, &in, 0, &file));
  NSR_NEW(ctx, NSR_KEEP, c, in.ntensors);
  for (uint32_t i = 0; i < in.ntensors; i++)
    c[i] = file[i];
  for (uint32_t i = 0; i < input->nwords; i++)
    NSR_TRY(put_words(ctx, &in, &input->words[i], c));
  *out = c;
  *n = in.ntensors;
  return NSR_OK;
}

enum nsr_status nsr_time_record(struct nsr_ctx *ctx, const struct nsr_kernel *k,
                                const struct nsr_time_input *input,
                                struct nsr_time_run **run) {
  static const struct nsr_time_input none = {0};
  const struct nsr_time_input *in = input ? input : &none;
  struct nsr_time_run *r;
  struct nsr_image *image;
  struct nsr_machine machine;
  NSR_NEW(ctx, NSR_KEEP, r, 1);
  r->budget = in->budget ? in->budget : DEFAULT_BUDGET;
  NSR_TRY(nsr_image_new(ctx, NSR_KEEP, k, &image));
  r->image = image;
  NSR_TRY(make_contents(ctx, k, in, &r->contents, &r->ncontents));
  NSR_TRY(nsr_machine_default(ctx, k->isa, &machine));
  *run = r;
  return nsr_record_run(ctx, image, &machine, r->contents, r->ncontents,
                        r->budget, &r->record);
}

/* ---- results */

static double ns(int64_t fs) { return (double)fs / (double)NSR_FS_PER_NS; }

static int by_time(const void *a, const void *b) {
  const struct nsr_time_blocked *x = a, *y = b;
  if (x->ns != y->ns)
    return x->ns < y->ns ? 1 : -1;
  if (x->place.engine != y->place.engine)
    return strcmp(x->place.engine, y->place.engine);
  return (x->place.insn > y->place.insn) - (x->place.insn < y->place.insn);
}

/* The longest of these times, by instruction of each engine. */
static enum nsr_status find_longest(struct nsr_ctx *ctx,
                                    const struct nsr_time_run *run,
                                    int64_t *const times[NSR_MAX_ENGINES],
                                    const struct nsr_time_blocked **out,
                                    uint32_t *n) {
  NSR_VEC(struct nsr_time_blocked) all = {0};
  struct nsr_time_blocked *kept;
  for (int e = 0; e < run->image->nengines; e++)
    for (uint32_t i = 0; i < run->image->streams[e].n; i++)
      if (times[e][i] > 0)
        NSR_PUSH(ctx, NSR_SCRATCH, &all,
                 ((struct nsr_time_blocked){nsr_image_place(run->image, e, i),
                                            ns(times[e][i])}));
  if (all.n)
    qsort(all.v, all.n, sizeof *all.v, by_time);
  *n = all.n < NSR_TIME_BLOCKED ? (uint32_t)all.n : NSR_TIME_BLOCKED;
  NSR_NEW(ctx, NSR_KEEP, kept, *n);
  if (all.n)
    memcpy(kept, all.v, *n * sizeof *kept);
  *out = kept;
  return NSR_OK;
}

static enum nsr_status find_blocked(struct nsr_ctx *ctx,
                                    const struct nsr_time_run *run,
                                    const struct nsr_timed *t,
                                    struct nsr_time *out) {
  int64_t *blocked[NSR_MAX_ENGINES], *excess[NSR_MAX_ENGINES];
  for (int e = 0; e < NSR_MAX_ENGINES; e++) {
    blocked[e] = t->engine[e].blocked;
    excess[e] = t->engine[e].excess;
  }
  NSR_TRY(find_longest(ctx, run, blocked, &out->blocked, &out->nblocked));
  return find_longest(ctx, run, excess, &out->excess, &out->nexcess);
}

static enum nsr_status find_queues(struct nsr_ctx *ctx,
                                   const struct nsr_time_run *run,
                                   const struct nsr_timed *t,
                                   struct nsr_time *out) {
  const struct nsr_kernel *k = run->image->kernel;
  struct nsr_time_queue *q;
  NSR_NEW(ctx, NSR_KEEP, q, k->nqueues);
  for (uint32_t i = 0; i < k->nqueues; i++) {
    const struct nsr_timed_queue *from = &t->channel[k->isa->nengines + (int)i];
    q[i] = (struct nsr_time_queue){k->queues[i].name, ns(from->moving),
                                   from->bytes};
  }
  out->nqueues = k->nqueues;
  out->queues = q;
  return NSR_OK;
}

static void find_engines(const struct nsr_time_run *run,
                         const struct nsr_timed *t, struct nsr_time *out) {
  for (int e = 0; e < run->image->nengines; e++) {
    const struct nsr_timed_engine *from = &t->engine[e];
    if (run->image->streams[e].stream)
      out->engines[e] =
          (struct nsr_time_engine){.name = run->image->isa->engines[e],
                                   .end = ns(from->end),
                                   .unit = ns(from->unit),
                                   .control = ns(from->control),
                                   .issue = ns(from->issue),
                                   .waiting = ns(from->waiting),
                                   .full = ns(from->full),
                                   .loading = ns(from->loading),
                                   .barrier = ns(from->barrier)};
  }
}

static void count_event(const struct nsr_record *r,
                        const struct nsr_record_event *e,
                        struct nsr_time *out) {
  out->operations += e->control[NSR_CONTROL_OPERATION];
  out->branches += e->control[NSR_CONTROL_TRANSFER];
  if (e->kind != NSR_RECORD_WAIT && e->kind != NSR_RECORD_ISSUE)
    return;
  const struct nsr_step *s = r->variants.v[e->variant].step;
  bool waits = s->wait.cmp != NSR_CMP_NONE;
  out->waits += waits && !(s->flags & NSR_STEP_FOREIGN_WAIT);
  if (e->kind == NSR_RECORD_ISSUE)
    *(s->flags & NSR_STEP_SKIP ? &out->noops : &out->work) += 1;
}

static void count_events(const struct nsr_record *r, struct nsr_time *out) {
  for (int e = 0; e < r->image->nengines; e++)
    for (size_t i = 0; i < r->events[e].n; i++)
      count_event(r, &r->events[e].v[i], out);
}

enum nsr_status nsr_time_machine_of(struct nsr_ctx *ctx,
                                    const struct nsr_isa *isa,
                                    const struct nsr_time_machine *from,
                                    struct nsr_machine *m) {
  if (!from || !from->name)
    NSR_TRY(nsr_machine_default(ctx, isa, m));
  else if (from->text)
    NSR_TRY(nsr_machine_parse(ctx, isa, from->name, from->text, m));
  else
    NSR_TRY(nsr_machine_find(ctx, isa, from->name, m));
  for (uint32_t i = 0; from && i < from->nsets; i++)
    NSR_TRY(nsr_machine_set(ctx, m, from->sets[i]));
  return NSR_OK;
}

enum nsr_status nsr_time_form(struct nsr_ctx *ctx, struct nsr_time_run *run,
                              const struct nsr_machine *m,
                              enum nsr_time_form form,
                              struct nsr_timed **timed) {
  if (form != NSR_TIME_AS_IS && !run->needs)
    NSR_TRY(nsr_ideal_needs(ctx, run->image, run->contents, run->ncontents,
                            run->budget, NULL, NULL, &run->needs));
  const struct nsr_timed_options options = {
      .record = run->record,
      .machine = m,
      .needs = form >= NSR_TIME_IDEAL ? run->needs : NULL,
      .enough = form == NSR_TIME_EXPLAINED ? run->needs : NULL,
      .signals = form == NSR_TIME_IDEAL_SIGNALS};
  return nsr_timed_run(ctx, &options, timed);
}

enum nsr_status nsr_time(struct nsr_ctx *ctx, struct nsr_time_run *run,
                         const struct nsr_time_machine *machine,
                         enum nsr_time_form form, struct nsr_time *out) {
  struct nsr_machine m;
  struct nsr_timed *t;
  NSR_TRY(nsr_time_machine_of(ctx, run->image->isa, machine, &m));
  NSR_TRY(nsr_time_form(ctx, run, &m, form, &t));
  int64_t clock = m.pipe.given >> NSR_PIPE_CLOCK & 1
                      ? m.pipe.v[NSR_PIPE_CLOCK]
                      : nsr_machine_pipe(&m, 0, -1, NSR_PIPE_CLOCK);
  *out = (struct nsr_time){.machine = m.name,
                           .ns = ns(t->end),
                           .cycles = ns(t->end) * (double)clock / NSR_MILLI,
                           .instructions = run->record->executed,
                           .barriers = t->barriers};
  count_events(run->record, out);
  find_engines(run, t, out);
  NSR_TRY(find_queues(ctx, run, t, out));
  struct nsr_mark mark = nsr_scratch_mark(ctx);
  enum nsr_status status = find_blocked(ctx, run, t, out);
  nsr_scratch_release(ctx, mark);
  return status;
}
