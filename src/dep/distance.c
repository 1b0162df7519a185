/* distance.c - footprints against footprints, iteration by iteration.
 *
 * A loop without a loop around it runs one trip, so iterations of it are
 * numbered alike on all engines, and all executions of both instructions lie
 * in it.
 */
#include "dep/distance.h"

#include "mem/footprint.h"

/* Distances tried for affine addresses before giving up. */
enum { MAX_DISTANCES = 64 };

enum nsr_status nsr_distances_init(struct nsr_ctx *ctx,
                                   const struct nsr_tree *tree,
                                   struct nsr_distances *out) {
  *out = (struct nsr_distances){.tree = tree};
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    if (tree->program->stream[e])
      NSR_TRY(nsr_values_build(ctx, &tree->local[e], &out->values[e]));
  return NSR_OK;
}

bool nsr_distance_every(const struct nsr_distances *d, uint32_t w) {
  const struct nsr_work *x = &d->tree->works[w];
  const struct nsr_cfg *g = d->tree->local[x->engine].cfg;
  return d->values[x->engine].every[g->block_of[x->insn]];
}

/* The outermost loop around a work, NSR_NONE: none, or one whose iterations
 * the engines may number differently. */
static uint32_t outermost_loop(const struct nsr_tree *t, uint32_t w) {
  uint32_t loop = NSR_NONE;
  for (uint32_t s = t->works[w].scope; s != NSR_NONE; s = t->scopes[s].parent)
    if (t->scopes[s].kind == NSR_SCOPE_LOOP)
      loop = s;
  return loop != NSR_NONE && t->scopes[loop].anchored ? loop : NSR_NONE;
}

/* One operand of one instruction, wherever its address goes. */
struct access {
  const struct nsr_kernel *k;
  const struct nsr_operand *op;
  uint32_t tensor;
  struct nsr_form form;
};

static struct access access_of(const struct nsr_distances *d, uint32_t w,
                               const struct nsr_insn *x, int operand) {
  const struct nsr_work *work = &d->tree->works[w];
  const struct nsr_program *p = d->tree->program;
  struct access a = {.k = p->k,
                     .op = &x->operands[operand],
                     .tensor = nsr_operand_tensor(p->stream[work->engine],
                                                  work->insn, operand),
                     .form = {.kind = NSR_FORM_CONST}};
  if (a.op->reg >= 0)
    a.form = nsr_values_form(&d->values[work->engine], work->insn, operand);
  return a;
}

/* Whether the accesses overlap with the given register values. */
static bool meet(const struct access *a, int32_t va, const struct access *b,
                 int32_t vb) {
  struct nsr_footprint fa, fb;
  nsr_footprint_of(a->k, a->op, a->tensor, &va, &fa);
  nsr_footprint_of(b->k, b->op, b->tensor, &vb, &fb);
  return nsr_overlap(&fa, &fb, NULL) != NSR_OVERLAP_NO;
}

static uint32_t period_of(const struct nsr_form *f) {
  return f->kind == NSR_FORM_PERIODIC ? f->period : 1;
}

static bool meet_at(const struct access *p, const struct access *c,
                    uint32_t period, uint32_t k) {
  for (uint32_t t = 0; t < period; t++)
    if (meet(p, nsr_form_at(&p->form, t), c, nsr_form_at(&c->form, t + k)))
      return true;
  return false;
}

static uint32_t rotating(const struct access *p, const struct access *c,
                         uint32_t least) {
  uint32_t period = period_of(&p->form) * period_of(&c->form);
  for (uint32_t k = least; k < least + period; k++)
    if (meet_at(p, c, period, k))
      return k;
  return NSR_NEVER;
}

/* Whether c's addresses have passed p's for good from distance k on. */
static bool passed(const struct access *p, const struct access *c, uint32_t k) {
  int32_t vp = p->form.base, vc = nsr_form_at(&c->form, k);
  struct nsr_footprint fp, fc;
  nsr_footprint_of(p->k, p->op, p->tensor, &vp, &fp);
  nsr_footprint_of(c->k, c->op, c->tensor, &vc, &fc);
  if (fp.kind != NSR_FOOTPRINT_EXACT || fc.kind != NSR_FOOTPRINT_EXACT)
    return false;
  return c->form.step > 0 ? fc.lo >= fp.hi : fc.hi <= fp.lo;
}

/* Both affine with one step: the difference depends on k alone. */
static uint32_t advancing(const struct access *p, const struct access *c,
                          uint32_t least, bool *exact) {
  for (uint32_t k = least; k < least + MAX_DISTANCES; k++) {
    if (meet(p, p->form.base, c, nsr_form_at(&c->form, k)))
      return k;
    if (passed(p, c, k))
      return NSR_NEVER;
  }
  *exact = false;
  return least;
}

static bool settled(const struct nsr_form *f) {
  return f->kind == NSR_FORM_CONST || f->kind == NSR_FORM_PERIODIC;
}

static uint32_t between(const struct access *p, const struct access *c,
                        uint32_t least, bool *exact) {
  if (settled(&p->form) && settled(&c->form))
    return rotating(p, c, least);
  if (p->form.kind == NSR_FORM_AFFINE && c->form.kind == NSR_FORM_AFFINE &&
      p->form.step == c->form.step && p->form.step != 0)
    return advancing(p, c, least, exact);
  *exact = false;
  return least;
}

/* Accumulation into the same PSUM bytes, after the write that started it,
 * happens in issue order where a channel keeps that for hidden state. */
static bool accumulates(const struct nsr_tree *t, uint32_t p, uint32_t c,
                        const struct access *ap, const struct access *ac) {
  int ch = t->works[p].channel;
  return ch == t->works[c].channel && ac->op->acc &&
         nsr_role_writes((enum nsr_role)ap->op->role) &&
         ap->op->space == NSR_PSUM && ac->op->space == NSR_PSUM &&
         nsr_channel_order(t->program->k, ch) == NSR_ORDER_HIDDEN;
}

/* Whether the two can conflict at all, whatever their registers hold. */
static bool may_conflict(const struct access *a, const struct access *b) {
  struct nsr_footprint fa, fb;
  if (!nsr_role_writes((enum nsr_role)a->op->role) &&
      !nsr_role_writes((enum nsr_role)b->op->role))
    return false;
  nsr_footprint_of(a->k, a->op, a->tensor, NULL, &fa);
  nsr_footprint_of(b->k, b->op, b->tensor, NULL, &fb);
  return nsr_overlap(&fa, &fb, NULL) != NSR_OVERLAP_NO;
}

static enum nsr_status decode(struct nsr_ctx *ctx,
                              const struct nsr_distances *d, uint32_t w,
                              struct nsr_insn *x) {
  const struct nsr_work *work = &d->tree->works[w];
  const struct nsr_program *p = d->tree->program;
  return nsr_stream_decode(ctx, p->k, p->stream[work->engine], work->insn, x);
}

enum nsr_status nsr_distance(struct nsr_ctx *ctx, const struct nsr_distances *d,
                             uint32_t p, uint32_t c, uint32_t least,
                             uint32_t *k, bool *exact) {
  uint32_t loop = outermost_loop(d->tree, p);
  struct nsr_insn xp, xc;
  bool counted = loop != NSR_NONE && loop == outermost_loop(d->tree, c);
  *exact = counted;
  *k = NSR_NEVER;
  NSR_TRY(decode(ctx, d, p, &xp));
  NSR_TRY(decode(ctx, d, c, &xc));
  for (int i = 0; i < xp.noperands; i++)
    for (int j = 0; j < xc.noperands; j++) {
      struct access ap = access_of(d, p, &xp, i), ac = access_of(d, c, &xc, j);
      if (accumulates(d->tree, p, c, &ap, &ac) || !may_conflict(&ap, &ac))
        continue;
      uint32_t x = counted ? between(&ap, &ac, least, exact) : least;
      if (x < *k)
        *k = x;
    }
  return NSR_OK;
}
