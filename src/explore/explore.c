/* explore.c - level 3: two kernels on each input, all orders.
 *
 * Needs two kernels of one shape; makes a verdict. Per input both become
 * worlds (a scout goes through each once, until memory is cut finely enough),
 * both are searched, and then they are compared.
 */
#include <nsr/explore.h>

#include <string.h>

#include "explore/compare.h"
#include "explore/search.h"
#include "judge/cosim.h"

enum { INPUTS = 12, STATES = 1000000, ROUNDS = 64 };

struct explorer {
  struct nsr_ctx *ctx;  /* results: its keep arena */
  struct nsr_ctx *pool; /* images in keep, inputs in scratch */
  struct nsr_explore_options o;
  const struct nsr_image *a, *b;
  struct nsr_machine machine;
  struct nsr_atoms *atoms;
  struct nsr_inputs inputs;
  struct nsr_allowed allowed;
  struct nsr_exploration *out;
  struct nsr_longer_list longer;
};

struct finding {
  enum nsr_verdict verdict;
  enum nsr_fault_kind fault;
  const char *prefix, *text;
};

/* ---- opening */

static enum nsr_status open_images(struct explorer *x,
                                   const struct nsr_kernel *a,
                                   const struct nsr_kernel *b) {
  struct nsr_image *image;
  bool same = a == b;
  NSR_TRY(nsr_facts_ranges(x->pool, x->o.facts, a, &a));
  NSR_TRY(nsr_facts_ranges(x->pool, x->o.facts, b, &b));
  NSR_TRY(nsr_image_new(x->pool, NSR_KEEP, a, &image));
  x->a = x->b = image;
  if (!same) {
    NSR_TRY(nsr_image_new(x->pool, NSR_KEEP, b, &image));
    x->b = image;
  }
  NSR_TRY(nsr_machine_default(x->ctx, a->isa, &x->machine));
  NSR_TRY(nsr_inputs_new(x->pool, NSR_KEEP, a, x->o.inputs, false, x->o.seed,
                         &x->inputs));
  nsr_inputs_use_ranges(&x->inputs, x->a, x->o.facts);
  NSR_TRY(nsr_allowed_new(x->pool, NSR_KEEP, x->a, x->o.facts, &x->allowed));
  x->atoms = nsr_atoms_new(x->pool, a->isa);
  if (!x->atoms)
    return NSR_E_NOMEM;
  NSR_TRY(nsr_opaque_cuts(x->atoms, x->a));
  NSR_TRY(nsr_opaque_cuts(x->atoms, x->b));
  if (x->o.external)
    NSR_TRY(nsr_opaque_external_cuts(x->atoms, x->o.external));
  return nsr_atoms_commit(x->atoms);
}

/* ---- one kernel on one input */

static struct nsr_search search_of(const struct explorer *x,
                                   struct nsr_world *w) {
  return (struct nsr_search){.out = x->ctx,
                             .ctx = x->pool,
                             .arena = NSR_SCRATCH,
                             .w = w,
                             .split = x->o.no_reduce,
                             .out_of_order = x->o.out_of_order,
                             .limit = x->o.states};
}

/* Goes through a kernel once, to see what it issues and touches. */
static enum nsr_status scout(struct explorer *x, const struct nsr_image *image,
                             const struct nsr_contents *contents,
                             const struct nsr_world *reference,
                             struct nsr_world **world) {
  const struct nsr_world_setting setting = {.image = image,
                                            .machine = &x->machine,
                                            .atoms = x->atoms,
                                            .contents = contents,
                                            .ncontents = x->inputs.ntensors,
                                            .allowed = &x->allowed,
                                            .external = x->o.external,
                                            .reference = reference};
  struct nsr_world *w;
  NSR_TRY(nsr_world_new(x->pool, NSR_SCRATCH, &setting, &w));
  *world = w;
  for (;;) {
    struct nsr_search s = search_of(x, w);
    s.split = false;
    s.out = x->pool;
    NSR_TRY(nsr_search_init(&s, true));
    NSR_TRY(nsr_search_held(&s, true));
    if (!s.stale)
      return NSR_OK;
  }
}

static enum nsr_status go_through(struct explorer *x, struct nsr_world *w,
                                  struct nsr_search *s, int which) {
  do {
    *s = search_of(x, w);
    NSR_TRY(nsr_search_init(s, false));
    if (!x->o.no_reduce && !w->odd)
      NSR_TRY(nsr_search_held(s, false));
    else
      NSR_TRY(nsr_search_all(s, !x->o.no_reduce));
    x->out->states[which] += s->states;
  } while (s->stale && !w->blind);
  return NSR_OK;
}

/* ---- one input */

static const char too_many_pieces[] =
    "memory is accessed in too many pieces to follow";

static void undecided(struct finding *f, const char *text) {
  f->verdict = NSR_UNDECIDED;
  f->text = text;
}

static const enum nsr_fault_kind fault_of[NSR_WRONGS] = {
    [NSR_WRONG_RACE] = NSR_FAULT_RACE,
    [NSR_WRONG_FAULT] = NSR_FAULT_MACHINE,
    [NSR_WRONG_HANG] = NSR_FAULT_HANG,
    [NSR_WRONG_LEAK] = NSR_FAULT_LEAK};

/* Whether a search has found something by itself, or nothing for sure. */
static enum nsr_status settled(struct explorer *x, const struct nsr_search *s,
                               enum nsr_verdict verdict, struct finding *f,
                               bool *is) {
  *is = true;
  f->prefix = verdict == NSR_INPUT_BROKEN ? "first kernel: " : "";
  for (int i = 0; i < NSR_WRONG_LOST; i++)
    if (s->wrong[i]) {
      f->verdict = verdict;
      f->fault = fault_of[i];
      f->text = s->wrong[i];
      return NSR_OK;
    }
  *is = s->wrong[NSR_WRONG_LOST] || s->w->full || s->more;
  if (!*is)
    return NSR_OK;
  undecided(f,
            s->wrong[NSR_WRONG_LOST] ? s->wrong[NSR_WRONG_LOST] : s->w->full);
  if (!f->text)
    f->text = nsr_printf(x->ctx, NSR_KEEP, "more than %llu states",
                         (unsigned long long)x->o.states);
  return f->text ? NSR_OK : NSR_E_NOMEM;
}

/* b against a, which is sound. */
static enum nsr_status compare(struct explorer *x, struct nsr_search *a,
                               struct nsr_search *b, struct finding *f) {
  struct nsr_twins twins;
  const char *text;
  bool is;
  NSR_TRY(settled(x, b, NSR_REFUTED, f, &is));
  if (is && f->verdict == NSR_REFUTED)
    return NSR_OK;
  NSR_TRY(nsr_twins_find(a, b, &twins, &text));
  if (text) {
    f->verdict = NSR_REFUTED;
    f->fault = NSR_FAULT_TRACE;
    f->text = text;
  }
  if (text || is)
    return NSR_OK;
  NSR_TRY(nsr_compare(&twins, &f->fault, &f->text));
  if (f->fault != NSR_FAULT_NONE)
    f->verdict = NSR_REFUTED;
  else if (x->o.demands && !x->o.external)
    return nsr_demands_compare(&twins, x->pool, &x->out->demands, &x->longer);
  return NSR_OK;
}

/* Where the first one hangs, does the second one, too? */
static enum nsr_status both_hang(struct explorer *x, const struct nsr_search *b,
                                 struct finding *f) {
  f->text = nsr_printf(x->ctx, NSR_KEEP, "%s\nthe second kernel %s", f->text,
                       b->wrong[NSR_WRONG_HANG] ? "hangs as well"
                       : nsr_search_on(b)       ? "does not hang"
                                                : "is undecided");
  return f->text ? NSR_OK : NSR_E_NOMEM;
}

/* Both kernels as worlds, memory cut as finely as both ask. */
static enum nsr_status prepare(struct explorer *x, size_t input,
                               struct nsr_world *w[2], bool *good) {
  struct nsr_mark mark = nsr_scratch_mark(x->pool);
  *good = true;
  for (int i = 0; i < ROUNDS && !nsr_atoms_overflow(x->atoms); i++) {
    const struct nsr_contents *contents;
    NSR_TRY(nsr_inputs_contents(x->pool, NSR_SCRATCH, &x->inputs, input,
                                &contents));
    NSR_TRY(scout(x, x->a, contents, NULL, &w[0]));
    NSR_TRY(scout(x, x->b, contents, w[0], &w[1]));
    if (!nsr_atoms_pending(x->atoms))
      return NSR_OK;
    NSR_TRY(nsr_atoms_commit(x->atoms));
    nsr_scratch_release(x->pool, mark);
  }
  *good = false;
  return NSR_OK;
}

/* *again: something was touched that the scout had not seen. */
static enum nsr_status try_input(struct explorer *x, size_t input,
                                 struct finding *f, bool *again) {
  struct nsr_world *w[2];
  struct nsr_search a, b;
  bool good, is;
  *again = false;
  NSR_TRY(prepare(x, input, w, &good));
  if (!good) {
    undecided(f, too_many_pieces);
    return NSR_OK;
  }
  NSR_TRY(go_through(x, w[0], &a, 0));
  if (!w[0]->blind)
    NSR_TRY(go_through(x, w[1], &b, 1));
  *again = w[0]->blind || w[1]->blind;
  if (*again)
    return nsr_atoms_commit(x->atoms);
  if (a.outcomes.n > x->out->outcomes)
    x->out->outcomes = a.outcomes.n;
  x->out->judgement.instances += w[0]->insts.n;
  NSR_TRY(settled(x, &a, NSR_INPUT_BROKEN, f, &is));
  if (f->fault == NSR_FAULT_HANG)
    return both_hang(x, &b, f);
  return is ? NSR_OK : compare(x, &a, &b, f);
}

static enum nsr_status judge_input(struct explorer *x, size_t input,
                                   struct finding *f) {
  bool again = true;
  *f = (struct finding){.verdict = NSR_EQUAL, .prefix = "", .text = ""};
  for (int i = 0; again && i < ROUNDS; i++) {
    struct nsr_mark mark = nsr_scratch_mark(x->pool);
    NSR_TRY(try_input(x, input, f, &again));
    nsr_scratch_release(x->pool, mark);
  }
  if (again)
    undecided(f, too_many_pieces);
  return NSR_OK;
}

/* ---- all inputs */

static int severity(enum nsr_verdict v) {
  return v == NSR_EQUAL ? 0 : v == NSR_UNDECIDED ? 1 : 2 + (v == NSR_REFUTED);
}

static enum nsr_status take(struct explorer *x, size_t input,
                            const struct finding *f) {
  struct nsr_judgement *j = &x->out->judgement;
  j->verdict = f->verdict;
  j->fault = f->fault;
  j->text = nsr_printf(x->ctx, NSR_KEEP, "%s%s", f->prefix, f->text);
  if (!j->text)
    return NSR_E_NOMEM;
  return nsr_inputs_text(x->ctx, &x->inputs, input, &j->input);
}

static enum nsr_status all_inputs(struct explorer *x) {
  struct nsr_judgement *j = &x->out->judgement;
  struct finding f;
  for (size_t i = 0; i < x->inputs.list.n; i++) {
    NSR_TRY(judge_input(x, i, &f));
    j->inputs += f.verdict == NSR_EQUAL;
    j->undecided += f.verdict == NSR_UNDECIDED;
    if (severity(f.verdict) > severity(j->verdict))
      NSR_TRY(take(x, i, &f));
    if (j->verdict == NSR_REFUTED)
      break;
  }
  return nsr_longer_text(x->ctx, x->b, &x->longer, &x->out->demands.text);
}

enum nsr_status nsr_explore(struct nsr_ctx *ctx, const struct nsr_kernel *a,
                            const struct nsr_kernel *b,
                            const struct nsr_explore_options *options,
                            struct nsr_exploration *out) {
  struct explorer x = {.ctx = ctx, .out = out};
  *out = (struct nsr_exploration){
      .judgement = {.text = "", .input = "", .notes = "", .facts = ""},
      .demands = {.text = ""}};
  const char *why = nsr_judge_shape(ctx, a, b);
  if (why) {
    out->judgement.verdict = NSR_REFUTED;
    out->judgement.fault = NSR_FAULT_SHAPE;
    out->judgement.text = why;
    return NSR_OK;
  }
  if (options)
    x.o = *options;
  x.o.inputs = x.o.inputs ? x.o.inputs : INPUTS;
  x.o.states = x.o.states ? x.o.states : STATES;
  x.pool = nsr_ctx_new();
  if (!x.pool)
    return nsr_fail(ctx, NSR_E_NOMEM, NSR_NOWHERE, "out of memory");
  enum nsr_status status = open_images(&x, a, b);
  if (status == NSR_OK)
    status = all_inputs(&x);
  if (status == NSR_OK)
    status = nsr_facts_text(ctx, x.o.facts, &out->judgement.facts);
  nsr_atoms_free(x.atoms);
  nsr_ctx_free(x.pool);
  return status;
}
