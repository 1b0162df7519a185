/* look.c - what touches the bytes that a work does, and may still run. */
#include "prove/look.h"

enum { MAX_OPEN = 1 << 20 };

/* The work that looks. */
struct look {
  const struct nsr_look *g;
  const struct nsr_sight *row;
  uint32_t touch;
  const struct nsr_neighbour *near; /* NULL: in a crowd */
};

static uint32_t scope_of(const struct nsr_look *g, uint32_t touch) {
  const struct nsr_step *s =
      &g->x->s->steps[g->x->step_of[g->touches->v[touch].slot]];
  return g->x->s->tree->works[s->work].scope;
}

/* What is unknown of executions before this run of a loop around both. */
static uint32_t old_level(const struct look *l, uint32_t q) {
  const struct nsr_look *g = l->g;
  uint32_t loop = g->free[scope_of(g, l->touch)];
  if (loop == NSR_NONE || g->free[scope_of(g, q)] != loop)
    return NSR_LEVEL_ANY;
  int8_t ch = g->x->s->steps[g->x->step_of[g->touches->v[q].slot]].channel;
  uint32_t fence = g->fence[(size_t)loop * g->x->nch + (size_t)ch];
  return fence == NSR_NONE ? NSR_LEVEL_ANY
                           : nsr_sight_level(g->x, l->row, fence);
}

/* What a touch has in common with that of the work that looks. */
static struct nsr_neighbour common(const struct look *l, uint32_t q) {
  const struct nsr_touches *t = l->g->touches;
  struct nsr_neighbour x = {.spot = t->v[q].spot};
  if (l->near)
    return *l->near;
  x.overlap =
      (uint8_t)nsr_overlap(&t->spots[x.spot].footprint,
                           &t->spots[t->v[l->touch].spot].footprint, &x.where);
  return x;
}

static enum nsr_status look_at(const struct look *l, uint32_t q,
                               uint32_t level) {
  const struct nsr_look *g = l->g;
  const struct nsr_touches *t = g->touches;
  struct nsr_apart apart;
  struct nsr_neighbour near = common(l, q);
  g->out->looked_at++;
  if (near.overlap == NSR_OVERLAP_NO)
    return NSR_OK;
  if (nsr_touch_ordered(t, &t->v[q], &t->v[l->touch]))
    return NSR_OK;
  NSR_TRY(nsr_touch_apart(g->ctx, t, &t->v[q], &t->v[l->touch], &apart));
  if (level <= apart.level && !apart.front)
    return NSR_OK;
  g->out->more |= g->out->open.n >= MAX_OPEN;
  if (g->out->more)
    return NSR_OK;
  NSR_PUSH(g->ctx, NSR_SCRATCH, &g->out->open,
           (struct nsr_open_pair){q, l->touch, near.overlap, near.where, level,
                                  old_level(l, q), apart});
  return NSR_OK;
}

/* Where in a list, behind `lo`, the first touch with this slot, or a later one,
 * is. */
static uint32_t first_from(const struct nsr_touches *t,
                           const struct nsr_spot_list *l, uint32_t lo,
                           uint32_t slot) {
  uint32_t hi = l->n;
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (t->v[t->touches_of[l->first + mid]].slot < slot)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

/* Of a list, those of which something is unknown. */
static enum nsr_status look_along(const struct look *l,
                                  const struct nsr_spot_list *list) {
  const struct nsr_touches *t = l->g->touches;
  const struct nsr_sights *x = l->g->x;
  for (uint32_t i = 0; i < list->n;) {
    uint32_t q = t->touches_of[list->first + i], slot = t->v[q].slot;
    uint32_t next = nsr_sight_next(x, l->row, (uint32_t)list->channel, slot);
    if (next == UINT32_MAX)
      return NSR_OK;
    if (next == slot)
      NSR_TRY(look_at(l, q, nsr_sight_level(x, l->row, slot)));
    i = next == slot ? i + 1 : first_from(t, list, i, next);
  }
  return NSR_OK;
}

/* Own accumulation is in order behind what writes, so such lists need no
 * look. */
static bool all_ordered(const struct look *l,
                        const struct nsr_spot_list *list) {
  const struct nsr_touches *t = l->g->touches;
  const struct nsr_touch *q = &t->v[t->touches_of[list->first]];
  return nsr_touch_ordered(t, q, &t->v[l->touch]);
}

static enum nsr_status look_in_lists(const struct look *l, uint32_t first,
                                     uint32_t n) {
  const struct nsr_touches *t = l->g->touches;
  const struct nsr_touch *c = &t->v[l->touch];
  for (uint32_t k = first; k < first + n; k++) {
    const struct nsr_spot_list *list = &t->lists[k];
    if ((list->writes || c->writes) && !all_ordered(l, list))
      NSR_TRY(look_along(l, list));
  }
  return NSR_OK;
}

static enum nsr_status look_around(struct look *l) {
  const struct nsr_touches *t = l->g->touches;
  const struct nsr_spot *spot = &t->spots[t->v[l->touch].spot];
  for (uint32_t i = 0; i < spot->nnear; i++) {
    l->near = &t->near[spot->first_near + i];
    const struct nsr_spot *other = &t->spots[l->near->spot];
    NSR_TRY(look_in_lists(l, other->first_list, other->nlists));
  }
  l->near = NULL;
  if (!spot->crowd)
    return NSR_OK;
  const struct nsr_spot_crowd *crowd = &t->crowds[spot->crowd - 1];
  return look_in_lists(l, crowd->first_list, crowd->nlists);
}

enum nsr_status nsr_look_from(const struct nsr_look *g, uint32_t slot,
                              const struct nsr_sight *row) {
  struct look l = {.g = g, .row = row};
  for (uint32_t t = g->touches->first[slot]; t < g->touches->first[slot + 1];
       t++) {
    l.touch = t;
    NSR_TRY(look_around(&l));
  }
  return NSR_OK;
}

enum nsr_status nsr_look_init(struct nsr_ctx *ctx, const struct nsr_sights *x,
                              const struct nsr_touches *touches,
                              struct nsr_lag_result *found,
                              struct nsr_look *out) {
  const struct nsr_score *score = x->s;
  *out = (struct nsr_look){ctx, x, touches, found, NULL, NULL};
  NSR_TRY(nsr_free_loops(ctx, score->tree, &out->free));
  size_t n = (size_t)score->tree->nscopes * x->nch;
  NSR_NEW(ctx, NSR_SCRATCH, out->fence, n);
  for (size_t i = 0; i < n; i++)
    out->fence[i] = NSR_NONE;
  for (uint32_t i = 0; i < score->nsteps; i++) {
    const struct nsr_step *s = &score->steps[i];
    if (s->fence)
      out->fence[(size_t)s->end * x->nch + (size_t)s->channel] = x->slot[i];
  }
  return NSR_OK;
}
