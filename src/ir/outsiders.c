/* outsiders.c - where others are waited for and told, between barriers.
 *
 * The walk through the tree as a list of steps is gone along forward for what
 * was waited for and backward for what will be told. A scope may be passed by;
 * an iteration starts with what the one before it ends with, so that the list
 * is gone along until nothing changes.
 */
#include "ir/outsiders.h"

#include "base/vec.h"

enum step_kind { WORKS, BARRIER, ENTER, LEAVE };

struct step {
  enum step_kind kind;
  uint32_t first, end; /* works; first: scope */
};

struct walk {
  struct nsr_ctx *ctx;
  const struct nsr_tree *t;
  NSR_VEC(struct step) steps;
  NSR_VEC(uint32_t) parts; /* of the bodies around: what comes next */
  NSR_VEC(uint32_t) scopes;
  NSR_VEC(bool) before; /* in front of the scopes around */
  bool *ends;           /* by scope: with what its body ends */
};

static bool waits(const struct nsr_tree *t, uint32_t w) {
  const struct nsr_work *x = &t->works[w];
  const struct nsr_node *n = x->marker ? NULL : nsr_work_node(t, x);
  return n && (n->foreign_wait || n->marked);
}

static bool tells(const struct nsr_tree *t, uint32_t w) {
  const struct nsr_work *x = &t->works[w];
  const struct nsr_node *n = x->marker ? NULL : nsr_work_node(t, x);
  return n && (n->foreign_update || n->marked);
}

/* ---- the steps */

static enum nsr_status enter(struct walk *w, uint32_t scope) {
  NSR_PUSH(w->ctx, NSR_SCRATCH, &w->steps, (struct step){ENTER, scope, 0});
  NSR_PUSH(w->ctx, NSR_SCRATCH, &w->scopes, scope);
  NSR_PUSH(w->ctx, NSR_SCRATCH, &w->parts, w->t->scopes[scope].first_part);
  return NSR_OK;
}

static enum nsr_status leave(struct walk *w) {
  uint32_t scope = w->scopes.v[--w->scopes.n];
  w->parts.n--;
  NSR_PUSH(w->ctx, NSR_SCRATCH, &w->steps, (struct step){LEAVE, scope, 0});
  return NSR_OK;
}

static enum nsr_status list_steps(struct walk *w) {
  NSR_TRY(enter(w, 0));
  while (w->parts.n > 0) {
    uint32_t p = w->parts.v[w->parts.n - 1];
    if (p == NSR_NONE) {
      NSR_TRY(leave(w));
      continue;
    }
    const struct nsr_part *x = &w->t->parts[p];
    w->parts.v[w->parts.n - 1] = x->next;
    if (x->kind == NSR_PART_SCOPE)
      NSR_TRY(enter(w, x->first));
    else
      NSR_PUSH(w->ctx, NSR_SCRATCH, &w->steps,
               x->kind == NSR_PART_BARRIER
                   ? (struct step){BARRIER, 0, 0}
                   : (struct step){WORKS, x->first, x->first + x->n});
  }
  return NSR_OK;
}

/* ---- along them */

static bool is_loop(const struct walk *w, uint32_t scope) {
  return w->t->scopes[scope].kind == NSR_SCOPE_LOOP;
}

static enum nsr_status into(struct walk *w, uint32_t scope, bool *now) {
  NSR_PUSH(w->ctx, NSR_SCRATCH, &w->before, *now);
  *now |= is_loop(w, scope) && w->ends[scope];
  return NSR_OK;
}

/* Whether the body ends with more than was known. */
static bool out_of(struct walk *w, uint32_t scope, bool *now) {
  bool more = *now && !w->ends[scope] && is_loop(w, scope);
  w->ends[scope] |= *now;
  *now |= w->before.v[--w->before.n];
  return more;
}

static enum nsr_status go_forward(struct walk *w, uint64_t *set, bool *again) {
  bool now = false;
  for (size_t i = 0; i < w->steps.n; i++) {
    const struct step *s = &w->steps.v[i];
    for (uint32_t x = s->first; s->kind == WORKS && x < s->end; x++) {
      now |= waits(w->t, x);
      if (now)
        nsr_bit_set(set, x);
    }
    now &= s->kind != BARRIER;
    if (s->kind == ENTER)
      NSR_TRY(into(w, s->first, &now));
    if (s->kind == LEAVE)
      *again |= out_of(w, s->first, &now);
  }
  return NSR_OK;
}

static enum nsr_status go_back(struct walk *w, uint64_t *set, bool *again) {
  bool now = false;
  for (size_t i = w->steps.n; i-- > 0;) {
    const struct step *s = &w->steps.v[i];
    for (uint32_t x = s->end; s->kind == WORKS && x-- > s->first;) {
      now |= tells(w->t, x);
      if (now)
        nsr_bit_set(set, x);
    }
    now &= s->kind != BARRIER;
    if (s->kind == LEAVE)
      NSR_TRY(into(w, s->first, &now));
    if (s->kind == ENTER)
      *again |= out_of(w, s->first, &now);
  }
  return NSR_OK;
}

enum nsr_status nsr_outsiders_find(struct nsr_ctx *ctx,
                                   const struct nsr_tree *t,
                                   struct nsr_outsiders *out) {
  struct walk w = {.ctx = ctx, .t = t};
  *out = (struct nsr_outsiders){0};
  for (uint32_t i = 0; i < t->nworks && !out->any; i++)
    out->any = waits(t, i) || tells(t, i);
  if (!out->any)
    return NSR_OK;
  NSR_NEW(ctx, NSR_SCRATCH, out->waited, nsr_bits_words(t->nworks));
  NSR_NEW(ctx, NSR_SCRATCH, out->told, nsr_bits_words(t->nworks));
  NSR_TRY(list_steps(&w));
  NSR_NEW(ctx, NSR_SCRATCH, w.ends, t->nscopes);
  for (bool again = true; again;) {
    again = false;
    NSR_TRY(go_forward(&w, out->waited, &again));
  }
  NSR_NEW(ctx, NSR_SCRATCH, w.ends, t->nscopes);
  for (bool again = true; again;) {
    again = false;
    NSR_TRY(go_back(&w, out->told, &again));
  }
  return NSR_OK;
}

enum nsr_status nsr_outsiders_read(struct nsr_ctx *ctx,
                                   const struct nsr_outsiders *o,
                                   const struct nsr_tree *t, uint32_t w,
                                   struct nsr_readings *r) {
  const struct nsr_work *x = &t->works[w];
  const struct nsr_common *in = &t->scopes[x->scope];
  struct nsr_insn insn;
  if (!o->any)
    return NSR_OK;
  NSR_TRY(nsr_stream_decode(ctx, t->program->k, t->program->stream[x->engine],
                            x->insn, &insn));
  if (insn.noperands > 0 && insn.operands[0].space != NSR_DRAM)
    return NSR_OK;
  bool told = nsr_bit(o->told, w), waited = nsr_bit(o->waited, w);
  bool again = in->loops && !in->barrier; /* it may be two of them itself */
  r->apart |= (told && r->waited) || (waited && r->told);
  r->apart |= told && waited && again;
  r->told |= told;
  r->waited |= waited;
  return NSR_OK;
}
