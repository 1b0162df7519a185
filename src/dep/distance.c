/* distance.c - footprints against footprints, iteration by iteration.
 *
 * Iterations of a loop are counted from the start of the kernel, through all
 * its trips, and numbered alike on all engines where each passes a barrier.
 */
#include "dep/distance.h"

#include <string.h>

#include "mem/footprint.h"

/* Distances tried for affine addresses before giving up. */
enum { MAX_DISTANCES = 64 };

enum nsr_status nsr_distances_init(struct nsr_ctx *ctx,
                                   const struct nsr_tree *tree,
                                   struct nsr_distances *out) {
  *out = (struct nsr_distances){.tree = tree};
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    if (tree->program->stream[e])
      NSR_TRY(nsr_values_build(ctx, &tree->local[e], &tree->congruence,
                               &out->values[e]));
  return NSR_OK;
}

bool nsr_distance_every(const struct nsr_distances *d, uint32_t w,
                        uint32_t loop) {
  const struct nsr_work *x = &d->tree->works[w];
  const struct nsr_cfg *g = d->tree->local[x->engine].cfg;
  return loop != NSR_NONE && nsr_common_loop(d->tree, x->scope) == loop &&
         d->values[x->engine].every[g->block_of[x->insn]];
}

/* The common loop that is an engine's own one, around a scope; NSR_NONE: none.
 */
static uint32_t common_loop(const struct nsr_tree *t, uint32_t scope,
                            int engine, uint32_t local) {
  while (scope != NSR_NONE && (t->scopes[scope].kind != NSR_SCOPE_LOOP ||
                               t->scopes[scope].local[engine] != local))
    scope = t->scopes[scope].parent;
  return scope;
}

/* Member by member: what is between them may be anything in `f`. */
static void copy_form(struct nsr_form *out, const struct nsr_form *f) {
  out->kind = f->kind;
  out->period = f->period;
  out->trip = f->trip;
  out->loop = f->loop;
  out->scale = f->scale;
  out->symbol = f->symbol;
  out->symbol_loop = f->symbol_loop;
  out->base = f->base;
  out->step = f->step;
  memcpy(out->values, f->values, sizeof out->values);
}

void nsr_pattern_of(const struct nsr_distances *d, uint32_t w,
                    const struct nsr_insn *x, int operand,
                    struct nsr_pattern *out) {
  const struct nsr_work *work = &d->tree->works[w];
  memset(out, 0, sizeof *out);
  out->op = x->operands[operand];
  out->tensor = nsr_operand_tensor(d->tree->program->stream[work->engine],
                                   work->insn, operand);
  out->form.kind = NSR_FORM_CONST;
  out->form.loop = NSR_NONE;
  if (out->op.reg < 0)
    return;
  struct nsr_form form =
      nsr_values_form(&d->values[work->engine], work->insn, operand);
  const struct nsr_tree *t = d->tree;
  bool known = true;
  copy_form(&out->form, &form);
  if (form.loop != NSR_NONE) {
    out->form.loop = common_loop(t, work->scope, work->engine, form.loop);
    known = out->form.loop != NSR_NONE && /* numbered alike on all engines */
            t->scopes[out->form.loop].anchored;
  }
  if (nsr_form_symbolic(&form) && form.symbol_loop != NSR_NONE) {
    out->form.symbol_loop =
        common_loop(t, work->scope, work->engine, form.symbol_loop);
    known &= out->form.symbol_loop != NSR_NONE;
  }
  if (!known) {
    memset(&out->form, 0, sizeof out->form);
    out->form.loop = NSR_NONE;
  }
}

/* ---- where an access is */

/* Its bytes with one value of its register. */
struct spot {
  const struct nsr_kernel *k;
  const struct nsr_pattern *p;
  struct nsr_footprint f;
  int32_t value;
  bool slides; /* with another value they are the same ones elsewhere */
};

static void set_spot(struct spot *x, int32_t v) {
  const int64_t far = INT64_C(1) << 55; /* no sum with a value overflows */
  nsr_footprint_of(x->k, &x->p->op, x->p->tensor, &v, &x->f);
  x->value = v;
  x->slides =
      x->f.kind == NSR_FOOTPRINT_EXACT && x->f.lo > -far && x->f.hi < far;
}

static struct spot spot_of(const struct nsr_kernel *k,
                           const struct nsr_pattern *p) {
  struct spot x = {.k = k, .p = p};
  set_spot(&x, nsr_form_at(&p->form, 0));
  return x;
}

static void move(struct spot *x, int32_t v) {
  int64_t by = (int64_t)v - x->value;
  if (!x->slides || nsr_footprint_empty(&x->f)) {
    set_spot(x, v);
    return;
  }
  x->f.lo += by;
  x->f.hi += by;
  x->value = v;
}

/* Whether p in iteration t meets c in another one. */
static bool meet(struct spot *p, uint32_t t, struct spot *c, uint32_t u) {
  move(p, nsr_form_at(&p->p->form, t));
  move(c, nsr_form_at(&c->p->form, u));
  return nsr_overlap(&p->f, &c->f, NULL) != NSR_OVERLAP_NO;
}

/* ---- distances */

/* The first of the iterations of a common period in which p meets c d
 * iterations later; NSR_NEVER: none. */
static uint32_t first_turn(struct spot *p, struct spot *c, uint32_t d) {
  uint32_t period = nsr_common_period(nsr_form_period(&p->p->form),
                                      nsr_form_period(&c->p->form));
  for (uint32_t t = 0; t < period; t++)
    if (meet(p, t, c, t + d))
      return t;
  return NSR_NEVER;
}

static uint32_t rotating(struct spot *p, struct spot *c, uint32_t least) {
  uint32_t period = nsr_common_period(nsr_form_period(&p->p->form),
                                      nsr_form_period(&c->p->form));
  for (uint32_t d = least; d < least + period; d++)
    if (first_turn(p, c, d) != NSR_NEVER)
      return d;
  return NSR_NEVER;
}

/* Whether c's addresses have passed p's for good. */
static bool passed(const struct spot *p, const struct spot *c) {
  if (p->f.kind != NSR_FOOTPRINT_EXACT || c->f.kind != NSR_FOOTPRINT_EXACT)
    return false;
  return c->p->form.step > 0 ? c->f.lo >= p->f.hi : c->f.hi <= p->f.lo;
}

/* Both affine with one step: the difference depends on the distance alone. */
static uint32_t advancing(struct spot *p, struct spot *c, uint32_t least,
                          bool *exact) {
  for (uint32_t d = least; d < least + MAX_DISTANCES; d++) {
    if (meet(p, 0, c, d))
      return d;
    if (passed(p, c))
      return NSR_NEVER;
  }
  *exact = false;
  return least;
}

static bool settled(const struct nsr_form *f) {
  return f->kind == NSR_FORM_CONST || f->kind == NSR_FORM_PERIODIC;
}

uint32_t nsr_pattern_distance(const struct nsr_kernel *k,
                              const struct nsr_pattern *p,
                              const struct nsr_pattern *c, uint32_t least,
                              bool *exact) {
  const struct nsr_form *fp = &p->form, *fc = &c->form;
  bool stay = fp->kind == NSR_FORM_CONST && fc->kind == NSR_FORM_CONST;
  bool advance = fp->kind == NSR_FORM_AFFINE && fc->kind == NSR_FORM_AFFINE &&
                 fp->step == fc->step && fp->step != 0;
  *exact = stay || advance || (settled(fp) && settled(fc));
  if (!*exact || (stay && !nsr_form_symbolic(fp)))
    return least;
  struct spot x = spot_of(k, p), y = spot_of(k, c);
  if (stay)
    return meet(&x, 0, &y, 0) ? least : NSR_NEVER;
  return advance ? advancing(&x, &y, least, exact) : rotating(&x, &y, least);
}

uint32_t nsr_pattern_first(const struct nsr_kernel *k,
                           const struct nsr_pattern *p,
                           const struct nsr_pattern *c) {
  if (!settled(&p->form) || !settled(&c->form)) /* it is the same in each */
    return 0;
  struct spot x = spot_of(k, p), y = spot_of(k, c);
  uint32_t t = first_turn(&x, &y, 0);
  return t == NSR_NEVER ? 0 : t;
}

/* Whether what a form counts stays in an iteration of the loop. */
static bool stays_in(const struct nsr_tree *t, const struct nsr_form *f,
                     uint32_t loop) {
  return f->loop == NSR_NONE || nsr_common_in(t, loop, f->loop);
}

bool nsr_pattern_apart(const struct nsr_distances *d,
                       const struct nsr_pattern *p,
                       const struct nsr_pattern *c) {
  const struct nsr_form *fp = &p->form, *fc = &c->form;
  bool alike = fp->loop == NSR_NONE || fc->loop == NSR_NONE ||
               (fp->loop == fc->loop && fp->trip == fc->trip);
  bool exact;
  if (!alike || !stays_in(d->tree, fp, fp->symbol_loop) ||
      !stays_in(d->tree, fc, fp->symbol_loop))
    return false;
  return nsr_pattern_distance(d->tree->program->k, p, c, 0, &exact) > 0 &&
         exact;
}
