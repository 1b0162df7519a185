/* walk_score.c - loops and arms of a score, whatever is walked with. */
#include "prove/walk_score.h"

struct walk {
  const struct nsr_score *s;
  const struct nsr_walker *w;
  const bool *ended; /* by scope: all ways end in its arms */
  bool changed;
};

static enum nsr_status walk_steps(struct walk *x, uint32_t first, uint32_t end,
                                  uint32_t loop);

/* A way through the innermost loop's body ends here. */
static enum nsr_status end_way(struct walk *x, uint32_t loop, uint8_t ends) {
  if (loop == NSR_NONE)
    return NSR_OK;
  if (ends & NSR_ENDS_BACK)
    NSR_TRY(x->w->end_way(x->w->user, loop, true));
  if (ends & NSR_ENDS_EXIT)
    NSR_TRY(x->w->end_way(x->w->user, loop, false));
  return NSR_OK;
}

static enum nsr_status walk_body(struct walk *x, uint32_t begin,
                                 uint32_t loop) {
  const struct nsr_step *s = &x->s->steps[begin];
  const struct nsr_common *c = &x->s->tree->scopes[s->work];
  NSR_TRY(walk_steps(x, begin + 1, s->end, loop));
  if (x->ended[s->work] || (s->kind == NSR_STEP_ARM && !c->to_end))
    return NSR_OK;
  return end_way(x, loop, c->ends);
}

static enum nsr_status walk_scope(struct walk *x, uint32_t begin,
                                  uint32_t loop) {
  const struct nsr_step *s = &x->s->steps[begin];
  const struct nsr_common *c = &x->s->tree->scopes[s->work];
  bool changed = false;
  if (s->kind == NSR_STEP_LOOP) {
    NSR_TRY(x->w->enter_loop(x->w->user, begin, &changed));
    x->changed |= changed;
    NSR_TRY(walk_body(x, begin, begin));
    changed = false;
    NSR_TRY(x->w->leave_loop(x->w->user, begin, &changed));
    x->changed |= changed;
    return NSR_OK;
  }
  NSR_TRY(x->w->enter_arm(x->w->user, begin));
  NSR_TRY(walk_body(x, begin, loop));
  NSR_TRY(x->w->leave_arm(x->w->user, begin, !c->to_end));
  return c->to_end ? end_way(x, loop, c->skip) : NSR_OK;
}

static enum nsr_status walk_steps(struct walk *x, uint32_t first, uint32_t end,
                                  uint32_t loop) {
  for (uint32_t i = first; i < end; i++) {
    const struct nsr_step *s = &x->s->steps[i];
    if (s->kind == NSR_STEP_LOOP || s->kind == NSR_STEP_ARM) {
      NSR_TRY(walk_scope(x, i, loop));
      i = s->end;
    } else if (s->kind == NSR_STEP_OTHER) {
      NSR_TRY(x->w->other_way(x->w->user, s->end));
    } else {
      NSR_TRY(x->w->step(x->w->user, i));
    }
  }
  return NSR_OK;
}

enum nsr_status nsr_score_ended(struct nsr_ctx *ctx, const struct nsr_tree *t,
                                bool **out) {
  bool *ended;
  NSR_NEW(ctx, NSR_SCRATCH, ended, t->nscopes);
  for (uint32_t s = 0; s < t->nscopes; s++)
    for (uint32_t p = t->scopes[s].first_part; p != NSR_NONE;
         p = t->parts[p].next)
      ended[s] = t->parts[p].kind == NSR_PART_SCOPE &&
                 t->scopes[t->parts[p].first].to_end;
  *out = ended;
  return NSR_OK;
}

enum nsr_status nsr_score_walk_on(struct nsr_ctx *ctx,
                                  const struct nsr_score *s,
                                  const struct nsr_walker *w,
                                  bool (*once_more)(void *user)) {
  bool *ended;
  NSR_TRY(nsr_score_ended(ctx, s->tree, &ended));
  struct walk x = {.s = s, .w = w, .ended = ended};
  for (uint32_t i = 0, end; i < s->nsteps; i = end) {
    bool scope =
        s->steps[i].kind == NSR_STEP_LOOP || s->steps[i].kind == NSR_STEP_ARM;
    end = scope ? s->steps[i].end + 1 : i + 1;
    NSR_TRY(w->item(w->user, i, end));
    x.changed = false;
    NSR_TRY(walk_steps(&x, i, end, NSR_NONE));
    while (x.changed || (once_more && once_more(w->user))) {
      NSR_TRY(w->again(w->user));
      x.changed = false;
      NSR_TRY(walk_steps(&x, i, end, NSR_NONE));
    }
    if (w->leave)
      NSR_TRY(w->leave(w->user, i, end));
  }
  return NSR_OK;
}

enum nsr_status nsr_score_walk(struct nsr_ctx *ctx, const struct nsr_score *s,
                               const struct nsr_walker *w) {
  return nsr_score_walk_on(ctx, s, w, NULL);
}
