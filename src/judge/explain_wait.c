/* explain_wait.c - why a wait could go.
 *
 * Needs a kernel and the same kernel with one wait dropped or lowered, which
 * the judge accepts; runs both on the judge's inputs and follows, for each
 * execution of the wait, the retirement that it names: by which chain of
 * clocks the engine knows of it all the same, or what it would have to touch
 * for the wait to matter.
 */
#include "judge/cosim.h"
#include "judge/witness.h"
#include "sim/hash.h"

enum { MOST_REASONS = 8, MOST_LINKS = 16 };

/* One execution of the wait in the full kernel. */
struct passing {
  uint32_t issued; /* instances its engine had issued before */
  uint32_t ordinal;
  uint8_t channel; /* of the retirement it names; ordinal 0: none */
};

struct reason {
  uint64_t key;
  uint32_t times;
  const char *text, *input;
};

struct explanation {
  struct nsr_judge *j;
  int engine;
  uint32_t insn;
  NSR_VEC(struct passing) passings; /* of the input at hand */
  size_t next;                      /* the first one not met yet */
  size_t open;                      /* passing whose T is not known yet, + 1 */
  uint32_t open_insn;               /* what was issued first behind it */
  uint32_t open_known;
  NSR_VEC(struct reason) reasons; /* of all inputs */
  uint32_t left_out;
  size_t input;
  struct nsr_strbuf text;
  enum nsr_status status;
};

static uint32_t issued_by(const struct nsr_watch *w, int engine) {
  uint32_t n = 0;
  for (int ch = 0; ch < w->o.image->nchannels; ch++)
    if (w->sim->lane[ch].engine == engine)
      n += w->clocks.issued[ch];
  return n;
}

/* ---- the full kernel */

static enum nsr_status note_passing(struct explanation *x, struct nsr_watch *w,
                                    int32_t threshold) {
  const struct nsr_wait *wait =
      &w->o.image->streams[x->engine].steps[x->insn].wait;
  const struct nsr_update_event *u =
      nsr_clocks_target(&w->clocks, x->engine, wait, threshold);
  struct passing p = {issued_by(w, x->engine), 0, 0};
  if (u) {
    p.channel = u->channel;
    p.ordinal = u->ordinal;
  }
  NSR_PUSH(w->pool, NSR_SCRATCH, &x->passings, p);
  return NSR_OK;
}

static void on_wait(void *self, struct nsr_watch *w, int engine, uint32_t insn,
                    int32_t threshold) {
  struct explanation *x = self;
  if (engine == x->engine && insn == x->insn && x->status == NSR_OK)
    x->status = note_passing(x, w, threshold);
}

/* ---- reasons */

static enum nsr_status add_reason(struct explanation *x, uint64_t key) {
  for (size_t i = 0; i < x->reasons.n; i++)
    if (x->reasons.v[i].key == key) {
      x->reasons.v[i].times++;
      return NSR_OK;
    }
  struct reason r = {.key = key, .times = 1};
  if (x->reasons.n == MOST_REASONS) {
    x->left_out++;
    return NSR_OK;
  }
  NSR_TRY(nsr_strbuf_done(&x->text, &r.text, NULL));
  NSR_TRY(nsr_inputs_text(x->j->ctx, &x->j->inputs, x->input, &r.input));
  NSR_PUSH(x->j->ctx, NSR_KEEP, &x->reasons, r);
  return NSR_OK;
}

static void begin_text(struct explanation *x) {
  nsr_strbuf_init(&x->text, x->j->ctx, NSR_KEEP);
}

static const char *lesson_cmp(const struct nsr_image *image,
                              const struct nsr_lesson *l) {
  const struct nsr_step *s = image->streams[l->engine].steps;
  return nsr_cmp_name(
      l->how == NSR_BY_EVENT ? NSR_CMP_GE : (enum nsr_cmp)s[l->insn].wait.cmp);
}

/* One link: how `engine`, with clock `row`, knows of channel ch. False: the
 * chain ends here. */
static bool say_link(struct explanation *x, struct nsr_watch *w, int *engine,
                     uint32_t *row, uint32_t ch, uint64_t *key) {
  const struct nsr_image *image = w->o.image;
  uint32_t id = w->clocks.why.v[(size_t)*row * w->clocks.width + ch];
  if (!id) {
    nsr_strbuf_puts(&x->text, "\n    in this schedule");
    return false;
  }
  const struct nsr_lesson *l = &w->clocks.lessons.v[id - 1];
  *key = nsr_combine(*key, (uint64_t)l->how << 48 | (uint64_t)l->engine << 40 |
                               l->insn);
  if (l->how == NSR_BY_BARRIER) {
    nsr_strbuf_puts(&x->text, "\n    a barrier drained everything");
    return false;
  }
  nsr_strbuf_puts(&x->text, "\n    ");
  if (l->how == NSR_BY_EVENT)
    nsr_say_event(&x->text, w->o.external, l->insn);
  else
    nsr_say_insn(&x->text, image, l->engine, l->insn);
  if (l->how == NSR_BY_LOAD) {
    nsr_strbuf_puts(&x->text, " has loaded its register, and its pipeline "
                              "retires in order");
    return false;
  }
  if (l->how == NSR_BY_EVENT && l->sem == image->isa->semaphores)
    nsr_strbuf_printf(&x->text, " had waited for core barrier %d, that is ",
                      (int)l->threshold);
  else
    nsr_strbuf_printf(&x->text,
                      " had waited for semaphore %u %s %d, which is "
                      "the update of ",
                      (unsigned)l->sem, lesson_cmp(image, l),
                      (int)l->threshold);
  nsr_say_instance(&x->text, w, l->channel, l->ordinal);
  *key = nsr_combine(*key, nsr_watch_insn(w, l->channel, l->ordinal));
  if (l->channel == ch) {
    nsr_strbuf_puts(&x->text, ", itself or behind it on its channel");
    return false;
  }
  *row = l->row;
  if (l->channel >= w->clocks.outside) {
    nsr_strbuf_puts(&x->text, "; before that others");
    return true;
  }
  *engine = nsr_channel_engine(image->kernel, l->channel);
  nsr_strbuf_printf(&x->text, "; before that %s", image->isa->engines[*engine]);
  return true;
}

static enum nsr_status explain_known(struct explanation *x, struct nsr_watch *w,
                                     const struct nsr_flight *f,
                                     const struct passing *p) {
  int engine = x->engine;
  uint32_t row = f->tag;
  uint64_t key = nsr_combine(1, nsr_watch_insn(w, p->channel, p->ordinal));
  begin_text(x);
  nsr_strbuf_puts(&x->text, "it names ");
  nsr_say_instance(&x->text, w, p->channel, p->ordinal);
  nsr_strbuf_printf(&x->text, ", which %s knows without it:",
                    w->o.image->isa->engines[engine]);
  for (int i = 0; i < MOST_LINKS; i++)
    if (!say_link(x, w, &engine, &row, p->channel, &key))
      break;
  return add_reason(x, key);
}

/* Which instructions the unknown instances are, each once. */
static void say_unknown(struct explanation *x, const struct nsr_watch *w,
                        const struct passing *p, uint64_t *key) {
  uint32_t seen[4], n = 0;
  for (uint32_t o = p->ordinal; o > x->open_known && n < 4; o--) {
    uint32_t insn = nsr_watch_insn(w, p->channel, o), i = 0;
    while (i < n && seen[i] != insn)
      i++;
    if (i < n)
      continue;
    seen[n++] = insn;
    nsr_strbuf_puts(&x->text, "\n    ");
    nsr_say_instance(&x->text, w, p->channel, o);
    *key = nsr_combine(*key, insn);
  }
}

static enum nsr_status explain_unknown(struct explanation *x,
                                       struct nsr_watch *w,
                                       const struct nsr_flight *f) {
  const struct passing *p = &x->passings.v[x->open - 1];
  const char *engine = w->o.image->isa->engines[x->engine];
  uint64_t key = nsr_combine(2, x->open_insn);
  begin_text(x);
  nsr_strbuf_printf(
      &x->text, "%s does not know all of %s up to no. %u without it:", engine,
      nsr_channel_name(w->o.image->kernel, p->channel), (unsigned)p->ordinal);
  say_unknown(x, w, p, &key);
  nsr_strbuf_printf(&x->text,
                    "\n    but nothing that %s issues from here on conflicts "
                    "with their accesses",
                    engine);
  if (f) {
    nsr_strbuf_puts(&x->text, " until it learns of them, at\n    ");
    nsr_say_insn(&x->text, w->o.image, f->engine, f->insn);
    key = nsr_combine(key, f->insn);
  }
  nsr_strbuf_puts(&x->text, ": the wait is stronger than these inputs need");
  x->open = 0;
  return add_reason(x, key);
}

static enum nsr_status explain_nothing(struct explanation *x) {
  begin_text(x);
  nsr_strbuf_puts(&x->text, "it names no retirement: its threshold is reached "
                            "from the start");
  return add_reason(x, 3);
}

/* ---- the kernel without it */

/* The first instance issued behind a passing of the wait. */
static enum nsr_status meet(struct explanation *x, struct nsr_watch *w,
                            const struct nsr_flight *f) {
  const uint32_t *clock = nsr_clocks_of(&w->clocks, x->engine);
  uint32_t before = issued_by(w, x->engine) - 1;
  if (x->open) {
    const struct passing *p = &x->passings.v[x->open - 1];
    if (clock[p->channel] >= p->ordinal)
      NSR_TRY(explain_unknown(x, w, f));
  }
  for (; x->next < x->passings.n && x->passings.v[x->next].issued <= before;
       x->next++) {
    const struct passing *p = &x->passings.v[x->next];
    if (!p->ordinal) {
      NSR_TRY(explain_nothing(x));
    } else if (clock[p->channel] >= p->ordinal) {
      NSR_TRY(explain_known(x, w, f, p));
    } else if (!x->open) {
      x->open = x->next + 1;
      x->open_insn = f->insn;
      x->open_known = clock[p->channel];
    }
  }
  return NSR_OK;
}

static bool on_issue(void *self, struct nsr_watch *w,
                     const struct nsr_flight *f) {
  struct explanation *x = self;
  if (f->engine == x->engine && x->status == NSR_OK)
    x->status = meet(x, w, f);
  return x->status == NSR_OK;
}

static enum nsr_status explain_refuted(struct explanation *x,
                                       const struct nsr_watch *w) {
  begin_text(x);
  nsr_strbuf_printf(&x->text, "it is needed: without it, %s: %s",
                    nsr_fault_name(w->finding.kind), w->finding.text);
  return add_reason(x, nsr_combine(4, w->finding.kind));
}

/* Passings with no instance of the engine behind them. */
static enum nsr_status explain_rest(struct explanation *x) {
  if (x->next == x->passings.n)
    return NSR_OK;
  begin_text(x);
  nsr_strbuf_printf(&x->text, "behind it %s issues nothing more",
                    x->j->a->isa->engines[x->engine]);
  x->next = x->passings.n;
  return add_reason(x, 5);
}

static enum nsr_status explain_input(struct explanation *x, size_t input) {
  struct nsr_judge *j = x->j;
  struct nsr_watch_options o = nsr_judge_run_options(j, j->a, input, 0);
  struct nsr_watch *reference, *w;
  x->input = input;
  x->next = x->open = 0;
  NSR_TRY(nsr_inputs_contents(j->pool, NSR_SCRATCH, &j->inputs, input,
                              &o.contents));
  NSR_TRY(nsr_judge_record(j, &o, &reference)); /* for the cuts */
  if (reference->finding.kind != NSR_FAULT_NONE || reference->finding.undecided)
    return NSR_OK;
  x->passings.v = NULL;
  x->passings.n = x->passings.cap = 0;
  o.probe_self = x;
  o.on_wait = on_wait;
  NSR_TRY(nsr_judge_record(j, &o, &reference));
  NSR_TRY(x->status);
  o = nsr_judge_against(j, reference, j->b, input, 0);
  o.remember = true;
  o.probe_self = x;
  o.on_issue = on_issue;
  NSR_TRY(nsr_watch_run(j->ctx, j->pool, &o, &w));
  NSR_TRY(x->status);
  if (w->finding.kind != NSR_FAULT_NONE)
    return explain_refuted(x, w);
  if (x->open)
    NSR_TRY(explain_unknown(x, w, NULL));
  return explain_rest(x);
}

static enum nsr_status explain(struct explanation *x, const char **text) {
  struct nsr_strbuf b;
  for (size_t i = 0; i < x->j->inputs.list.n; i++) {
    struct nsr_mark mark = nsr_scratch_mark(x->j->pool);
    NSR_TRY(explain_input(x, i));
    nsr_scratch_release(x->j->pool, mark);
  }
  nsr_strbuf_init(&b, x->j->ctx, NSR_KEEP);
  nsr_say_insn(&b, x->j->a, x->engine, x->insn);
  nsr_strbuf_puts(&b, "\n");
  for (size_t i = 0; i < x->reasons.n; i++) {
    const struct reason *r = &x->reasons.v[i];
    nsr_strbuf_printf(&b, "  %u times, first with input %s:\n  %s\n",
                      (unsigned)r->times, *r->input ? r->input : "(none)",
                      r->text);
  }
  if (!x->reasons.n)
    nsr_strbuf_puts(&b, "  never executed on these inputs\n");
  if (x->left_out)
    nsr_strbuf_printf(&b, "  and %u more in other ways\n",
                      (unsigned)x->left_out);
  return nsr_strbuf_done(&b, text, NULL);
}

enum nsr_status
nsr_explain_wait(struct nsr_ctx *ctx, const struct nsr_kernel *b,
                 const struct nsr_kernel *mutant, int engine, uint32_t insn,
                 const struct nsr_judge_options *options, const char **text) {
  const struct nsr_stream *s = engine >= 0 && engine < b->isa->nengines
                                   ? nsr_kernel_stream(b, engine)
                                   : NULL;
  if (!s || insn >= s->n)
    return nsr_fail(ctx, NSR_E_USAGE, NSR_NOWHERE, "no such instruction");
  const char *why = nsr_judge_shape(ctx, b, mutant);
  if (why)
    return nsr_fail(ctx, NSR_E_USAGE, NSR_NOWHERE, "%s", why);
  struct nsr_judge j;
  struct explanation x = {.j = &j, .engine = engine, .insn = insn};
  enum nsr_status status = nsr_judge_open(&j, ctx, b, mutant, options);
  const struct nsr_step *step =
      status == NSR_OK ? &j.a->streams[engine].steps[insn] : NULL;
  if (step &&
      (step->wait.cmp == NSR_CMP_NONE || step->flags & NSR_STEP_FOREIGN_WAIT))
    status = nsr_fail(ctx, NSR_E_USAGE, nsr_insn_place(b, s, insn),
                      "no wait on an owned semaphore here");
  if (status == NSR_OK)
    status = explain(&x, text);
  nsr_judge_close(&j);
  return status;
}
