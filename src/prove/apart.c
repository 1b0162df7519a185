/* apart.c - accesses that move with the iterations of a loop.
 *
 * Iterations of a loop are counted from the start of the kernel, alike on all
 * engines that run it together. An address that is a function of that number
 * says at which distances two accesses meet.
 */
#include "prove/starts.h"
#include "prove/touch.h"

/* Distances that are tried for addresses that advance. */
enum { FAR_ENOUGH = 64 };
#define NEVER UINT32_MAX

/* One side of a pair. */
struct side {
  const struct nsr_kernel *k;
  const struct nsr_work *work;
  struct nsr_operand op;
  uint32_t tensor;
  struct nsr_form form;
  uint32_t loop;   /* of the tree: that counts the form's values, NSR_NONE:
                      none */
  uint32_t within; /* .. in an iteration of which its symbol stays the same */
  bool known;      /* it has an operand whose address is known */
};

/* The loop around a scope that an engine's own one is. */
static uint32_t common_loop(const struct nsr_tree *t, uint32_t scope,
                            int engine, uint32_t local) {
  for (; scope != NSR_NONE; scope = t->scopes[scope].parent)
    if (t->scopes[scope].kind == NSR_SCOPE_LOOP &&
        t->scopes[scope].local[engine] == local)
      return scope;
  return NSR_NONE;
}

static enum nsr_status read_side(struct nsr_ctx *ctx,
                                 const struct nsr_touches *t,
                                 const struct nsr_touch *x, struct side *out) {
  const struct nsr_program *p = t->tree->program;
  const struct nsr_step *step =
      &t->sights->s->steps[t->sights->step_of[x->slot]];
  const struct nsr_work *w = &t->tree->works[step->work];
  struct nsr_insn insn;
  *out =
      (struct side){.k = p->k, .work = w, .loop = NSR_NONE, .within = NSR_NONE};
  if (x->operand >= NSR_MAX_OPERANDS)
    return NSR_OK;
  NSR_TRY(nsr_stream_decode(ctx, p->k, p->stream[w->engine], w->insn, &insn));
  out->op = insn.operands[x->operand];
  out->tensor = nsr_operand_tensor(p->stream[w->engine], w->insn, x->operand);
  out->form = (struct nsr_form){.kind = NSR_FORM_CONST, .loop = NSR_NONE};
  if (out->op.reg >= 0)
    out->form = nsr_values_form(&t->values[w->engine], w->insn, x->operand);
  out->known = out->form.kind != NSR_FORM_UNKNOWN;
  if (out->known && out->form.loop != NSR_NONE) {
    out->loop = common_loop(t->tree, w->scope, w->engine, out->form.loop);
    /* where engines number its iterations alike */
    out->known = out->loop != NSR_NONE && t->tree->scopes[out->loop].anchored;
  }
  if (out->known && out->form.scale && out->form.symbol_loop != NSR_NONE) {
    out->within =
        common_loop(t->tree, w->scope, w->engine, out->form.symbol_loop);
    out->known = out->within != NSR_NONE;
  }
  return NSR_OK;
}

/* The loop around both whose iterations tell apart what they touch. */
static uint32_t counting_loop(const struct nsr_tree *t, const struct side *a,
                              const struct side *b) {
  uint32_t loop = a->loop == NSR_NONE ? b->loop : a->loop;
  bool alike = a->loop == NSR_NONE || b->loop == NSR_NONE ||
               (a->loop == b->loop && a->form.trip == b->form.trip);
  if (loop == NSR_NONE || !alike || !nsr_common_in(t, a->work->scope, loop) ||
      !nsr_common_in(t, b->work->scope, loop))
    return NSR_NONE;
  return loop;
}

static bool meet(const struct side *q, uint32_t tq, const struct side *c,
                 uint32_t tc) {
  struct nsr_footprint a, b;
  int32_t vq = nsr_form_at(&q->form, tq), vc = nsr_form_at(&c->form, tc);
  nsr_footprint_of(q->k, &q->op, q->tensor, &vq, &a);
  nsr_footprint_of(c->k, &c->op, c->tensor, &vc, &b);
  return nsr_overlap(&a, &b, NULL) != NSR_OVERLAP_NO;
}

/* The first distance from least on at which they meet in some iteration; after
 * a common period all comes again. */
static uint32_t rotating(const struct side *q, const struct side *c,
                         uint32_t least) {
  uint32_t n =
      nsr_common_period(nsr_form_period(&q->form), nsr_form_period(&c->form));
  for (uint32_t d = least; d < least + n; d++)
    for (uint32_t t = 0; t < n; t++)
      if (meet(q, t, c, t + d))
        return d;
  return NEVER;
}

/* Whether c has passed by q for good at this distance. */
static bool passed(const struct side *q, const struct side *c, uint32_t d) {
  struct nsr_footprint a, b;
  int32_t vq = nsr_form_at(&q->form, 0), vc = nsr_form_at(&c->form, d);
  nsr_footprint_of(q->k, &q->op, q->tensor, &vq, &a);
  nsr_footprint_of(c->k, &c->op, c->tensor, &vc, &b);
  if (a.kind != NSR_FOOTPRINT_EXACT || b.kind != NSR_FOOTPRINT_EXACT)
    return false;
  return c->form.step > 0 ? b.lo >= a.hi : b.hi <= a.lo;
}

/* Both advance by one step: what counts is the distance alone. Those that were
 * tried do not meet; what is farther may. */
static uint32_t advancing(const struct side *q, const struct side *c,
                          uint32_t least) {
  for (uint32_t d = least; d < least + FAR_ENOUGH; d++) {
    if (meet(q, 0, c, d))
      return d;
    if (passed(q, c, d))
      return NEVER;
  }
  return least + FAR_ENOUGH;
}

/* Whether a work runs just once in each iteration of a loop. */
static bool in_each_iteration(const struct nsr_touches *t, const struct side *x,
                              uint32_t loop) {
  const struct nsr_cfg *g = t->tree->local[x->work->engine].cfg;
  return nsr_common_loop(t->tree, x->work->scope) == loop &&
         t->values[x->work->engine].every[g->block_of[x->work->insn]];
}

/* The first distance from least on at which they may meet. */
static uint32_t first_meeting(const struct side *q, const struct side *c,
                              uint32_t least, bool *exact) {
  bool affine_q = q->form.kind == NSR_FORM_AFFINE;
  bool affine_c = c->form.kind == NSR_FORM_AFFINE;
  *exact = true;
  if (affine_q && affine_c && q->form.step == c->form.step && q->form.step != 0)
    return advancing(q, c, least);
  if (!affine_q && !affine_c)
    return rotating(q, c, least);
  *exact = false;
  return least;
}

/* Executions of q at distances below d, the nearest being at 0 or 1. */
static uint32_t executions(uint32_t d, bool each, bool front) {
  if (d == NEVER)
    return NSR_LEVEL_ANY;
  uint32_t n = !each || d == 0 ? 0 : front ? d : d - 1;
  return n < NSR_LEVEL_ANY ? n : NSR_LEVEL_ANY - 1;
}

/* In front of which start of an iteration lies all that is at distance d or
 * beyond: a loop's body is entered in each iteration that goes on. */
static uint8_t starts_behind(const struct nsr_tree *t, const struct side *q,
                             const struct side *c, uint32_t loop, uint32_t d) {
  uint32_t body = t->scopes[loop].body;
  if (!nsr_common_in(t, q->work->scope, body) ||
      !nsr_common_in(t, c->work->scope, body))
    return 0;
  return (uint8_t)(d < NSR_PROVE_BACK ? d : NSR_PROVE_BACK);
}

/* Whether both add the same symbol as often to what is known. */
static bool same_symbol(const struct side *a, const struct side *b) {
  return a->form.scale == b->form.scale &&
         (a->form.scale == 0 ||
          (a->form.symbol == b->form.symbol && a->within == b->within));
}

/* Whether what counts a side's values lies around the loop, or is it. */
static bool counted_outside(const struct nsr_tree *t, const struct side *x,
                            uint32_t loop) {
  return x->loop == NSR_NONE || nsr_common_in(t, loop, x->loop);
}

/* Of a symbol that each iteration of a loop has anew: accesses that do not meet
 * in the iteration that both are in may meet those of others. */
static void apart_within(const struct nsr_touches *t, const struct side *q,
                         const struct side *c, struct nsr_apart *out) {
  uint32_t loop = q->within;
  bool exact, alike = q->loop == NSR_NONE || c->loop == NSR_NONE ||
                      (q->loop == c->loop && q->form.trip == c->form.trip);
  if (q->work >= c->work || !alike || !counted_outside(t->tree, q, loop) ||
      !counted_outside(t->tree, c, loop) || first_meeting(q, c, 0, &exact) == 0)
    return;
  out->level = executions(1, in_each_iteration(t, q, loop), true);
  out->loop = loop;
  out->back = starts_behind(t->tree, q, c, loop, 1);
}

enum nsr_status nsr_touch_apart(struct nsr_ctx *ctx,
                                const struct nsr_touches *t,
                                const struct nsr_touch *q,
                                const struct nsr_touch *c,
                                struct nsr_apart *out) {
  struct side a, b;
  bool exact;
  *out = (struct nsr_apart){.level = 0, .but_one = 1, .loop = NSR_NONE};
  NSR_TRY(read_side(ctx, t, q, &a));
  NSR_TRY(read_side(ctx, t, c, &b));
  uint32_t loop = counting_loop(t->tree, &a, &b);
  if (!a.known || !b.known || !same_symbol(&a, &b))
    return NSR_OK;
  if (a.within != NSR_NONE) {
    apart_within(t, &a, &b, out);
    return NSR_OK;
  }
  bool stay = a.form.kind == NSR_FORM_CONST && b.form.kind == NSR_FORM_CONST;
  if (a.form.scale && stay && !meet(&a, 0, &b, 0))
    out->level = out->but_one = NSR_LEVEL_ANY;
  if (loop == NSR_NONE || out->level == NSR_LEVEL_ANY)
    return NSR_OK;
  bool front = a.work < b.work; /* q comes first in the text */
  bool each = in_each_iteration(t, &a, loop);
  /* a loop inside that one may be around both, too */
  uint32_t least =
      nsr_common_loop(t->tree, nsr_common_shared(t->tree, a.work->scope,
                                                 b.work->scope)) == loop;
  uint32_t d = first_meeting(&a, &b, front ? 0 : least, &exact);
  out->level = executions(d, each, front);
  out->loop = loop;
  out->back = starts_behind(t->tree, &a, &b, loop, d);
  bool turn = a.form.kind != NSR_FORM_AFFINE && b.form.kind != NSR_FORM_AFFINE;
  out->front = (a.form.trip || b.form.trip) && !(d == NEVER && turn);
  out->sure = exact && d == 0 && each && in_each_iteration(t, &b, loop) &&
              !q->may && !c->may;
  out->first = out->sure && meet(&a, 0, &b, 0);
  d = first_meeting(&a, &b, least, &exact);
  uint32_t but_one = executions(d, each, front);
  out->but_one = but_one > 1 && !out->front ? but_one : 1;
  return NSR_OK;
}

bool nsr_touch_ordered(const struct nsr_touches *t, const struct nsr_touch *q,
                       const struct nsr_touch *c) {
  const struct nsr_sights *x = t->sights;
  const struct nsr_step *a = &x->s->steps[x->step_of[q->slot]];
  const struct nsr_step *b = &x->s->steps[x->step_of[c->slot]];
  bool anything = t->spots[q->spot].footprint.space == NSR_SPACE_ANYTHING;
  if (a->channel != b->channel || c->early || anything)
    return false;
  enum nsr_order order = nsr_channel_order(t->tree->program->k, a->channel);
  return order == NSR_ORDER_FULL ||
         (order == NSR_ORDER_HIDDEN && q->writes && c->acc &&
          t->spots[q->spot].footprint.space == NSR_PSUM);
}
