/* walk_score.c - loops and arms of a score, whatever is walked with. */
#include "prove/walk_score.h"

struct walk {
  const struct nsr_score *s;
  const struct nsr_walker *w;
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
  if (x->s->ended[s->work] ||
      (s->kind == NSR_STEP_ARM && !x->s->to_end[s->work]))
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
    if (!x->w->passes_loop || !x->w->passes_loop(x->w->user, begin))
      NSR_TRY(walk_body(x, begin, begin));
    changed = false;
    NSR_TRY(x->w->leave_loop(x->w->user, begin, &changed));
    x->changed |= changed;
    return NSR_OK;
  }
  NSR_TRY(x->w->enter_arm(x->w->user, begin));
  NSR_TRY(walk_body(x, begin, loop));
  NSR_TRY(x->w->leave_arm(x->w->user, begin, !x->s->to_end[s->work]));
  return x->s->to_end[s->work] ? end_way(x, loop, c->skip) : NSR_OK;
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

/* Whether an arm that not all engines of its loop run is the rest of the
 * iteration on those that do: past it they leave the loop, and so do all in
 * that iteration, since all run it equally often. Where nothing stands behind
 * it, or where it is passed by, no engine has anything else to do. */
static bool is_rest(const struct nsr_score *s, uint32_t scope) {
  const struct nsr_tree *t = s->tree;
  const struct nsr_common *c = &t->scopes[scope];
  if (c->kind != NSR_SCOPE_ARM || c->skip != NSR_ENDS_EXIT ||
      (t->scopes[c->parent].kind != NSR_SCOPE_LOOP && !s->to_end[c->parent]))
    return false;
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    if (nsr_common_runs(t, scope, e) && !t->local[e].scopes[c->local[e]].to_end)
      return false;
  return true;
}

enum nsr_status nsr_score_ends(struct nsr_ctx *ctx, struct nsr_score *s) {
  const struct nsr_tree *t = s->tree;
  NSR_NEW(ctx, NSR_SCRATCH, s->to_end, t->nscopes);
  NSR_NEW(ctx, NSR_SCRATCH, s->ended, t->nscopes);
  for (uint32_t x = 0; x < t->nscopes; x++) {
    s->to_end[x] = t->scopes[x].to_end;
    for (uint32_t p = t->scopes[x].first_part; p != NSR_NONE;
         p = t->parts[p].next)
      s->ended[x] = t->parts[p].kind == NSR_PART_SCOPE &&
                    t->scopes[t->parts[p].first].to_end;
  }
  for (uint32_t i = s->nsteps; i-- > 1;) { /* outer scopes first */
    const struct nsr_step *around = &s->steps[i], *last = around - 1;
    if (around->kind != NSR_STEP_END || last->kind != NSR_STEP_END ||
        s->to_end[last->work] || s->steps[last->end].value ||
        !is_rest(s, last->work))
      continue;
    s->to_end[last->work] = s->ended[around->work] = true;
  }
  return NSR_OK;
}

enum nsr_status nsr_score_walk_on(const struct nsr_score *s,
                                  const struct nsr_walker *w,
                                  bool (*once_more)(void *user)) {
  struct walk x = {.s = s, .w = w};
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

enum nsr_status nsr_score_walk(const struct nsr_score *s,
                               const struct nsr_walker *w) {
  return nsr_score_walk_on(s, w, NULL);
}
