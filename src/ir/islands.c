/* islands.c - regions by union-find over the places between barriers. */
#include "ir/islands.h"

#include <stdlib.h>

/* Where a walk over the tree stands: a place is where code runs without a
 * barrier since it was made. Places that flow connects are united. */
struct regions {
  struct nsr_ctx *ctx;
  const struct nsr_tree *t;
  NSR_VEC(uint32_t) up;  /* by place: another of its region, or itself */
  uint32_t *of, *behind; /* by part: places, then regions */
  uint32_t head, exit;   /* of the innermost loop, NSR_NONE: none */
};

static enum nsr_status new_place(struct regions *r, uint32_t *out) {
  *out = (uint32_t)r->up.n;
  NSR_PUSH(r->ctx, NSR_SCRATCH, &r->up, *out);
  return NSR_OK;
}

static uint32_t find(struct regions *r, uint32_t x) {
  uint32_t *up = r->up.v;
  while (up[x] != x)
    x = up[x] = up[up[x]];
  return x;
}

/* The older place stands for both. */
static void unite(struct regions *r, uint32_t a, uint32_t b) {
  a = find(r, a);
  b = find(r, b);
  if (a < b)
    r->up.v[b] = a;
  else
    r->up.v[a] = b;
}

/* A way through the innermost loop's body ends here. */
static void end_way(struct regions *r, uint32_t at, uint8_t ends) {
  if (r->head == NSR_NONE)
    return;
  if (ends & NSR_ENDS_BACK)
    unite(r, at, r->head);
  if (ends & NSR_ENDS_EXIT)
    unite(r, at, r->exit);
}

/* A segment, with all private scopes in it. */
static void place_segment(struct regions *r, uint32_t p, uint32_t at) {
  const struct nsr_part *part = &r->t->parts[p];
  r->of[p] = at;
  for (uint32_t w = part->first; w < part->first + part->n; w++) {
    uint32_t nested = r->t->works[w].nested;
    if (nested == NSR_NONE || !nsr_common_first(r->t, w))
      continue;
    for (uint32_t q = r->t->scopes[nested].first_part; q != NSR_NONE;
         q = r->t->parts[q].next)
      place_segment(r, q, at);
  }
}

static enum nsr_status walk_body(struct regions *r, uint32_t scope,
                                 uint32_t *at);

/* Iterations start in front of the loop and where others end. */
static enum nsr_status walk_loop(struct regions *r, uint32_t scope,
                                 uint32_t *at) {
  uint32_t head = r->head, exit = r->exit, inner = *at, behind;
  NSR_TRY(new_place(r, &behind));
  r->head = *at;
  r->exit = behind;
  NSR_TRY(walk_body(r, scope, &inner));
  r->head = head;
  r->exit = exit;
  *at = behind;
  return NSR_OK;
}

/* An arm may be passed by, and is joined, or ends an iteration. */
static enum nsr_status walk_arm(struct regions *r, uint32_t scope,
                                uint32_t at) {
  const struct nsr_common *s = &r->t->scopes[scope];
  uint32_t inner = at;
  NSR_TRY(walk_body(r, scope, &inner));
  if (!s->to_end)
    unite(r, at, inner);
  else
    end_way(r, at, s->skip);
  return NSR_OK;
}

/* Code without structure connects all that is in it with what is around. */
static void place_island(struct regions *r, uint32_t scope, uint32_t at) {
  for (uint32_t p = r->t->scopes[scope].first_part; p != NSR_NONE;
       p = r->t->parts[p].next)
    r->of[p] = r->behind[p] = at;
}

/* *at: the place a body starts in, and then the one it ends in. */
static enum nsr_status walk_body(struct regions *r, uint32_t scope,
                                 uint32_t *at) {
  const struct nsr_tree *t = r->t;
  const struct nsr_common *s = &t->scopes[scope];
  bool ended = false; /* all ways end in arms */
  for (uint32_t p = s->first_part; p != NSR_NONE; p = t->parts[p].next) {
    const struct nsr_part *part = &t->parts[p];
    r->of[p] = *at;
    if (part->kind == NSR_PART_SEGMENT && part->n == 0)
      continue; /* the last one of a body */
    ended = false;
    if (part->kind == NSR_PART_SEGMENT) {
      place_segment(r, p, *at);
    } else if (part->kind == NSR_PART_BARRIER) {
      NSR_TRY(new_place(r, at));
      r->behind[p] = *at;
    } else if (t->scopes[part->first].kind == NSR_SCOPE_LOOP) {
      NSR_TRY(walk_loop(r, part->first, at));
    } else if (t->scopes[part->first].kind == NSR_SCOPE_ISLAND) {
      place_island(r, part->first, *at);
    } else {
      ended = t->scopes[part->first].to_end;
      NSR_TRY(walk_arm(r, part->first, *at));
    }
  }
  if (!ended && (s->kind == NSR_SCOPE_LOOP || s->to_end))
    end_way(r, *at, s->ends);
  return NSR_OK;
}

static enum nsr_status find_regions(struct nsr_ctx *ctx,
                                    const struct nsr_tree *t,
                                    struct nsr_islands *out) {
  struct regions r = {.ctx = ctx, .t = t, .head = NSR_NONE, .exit = NSR_NONE};
  uint32_t at;
  NSR_NEW(ctx, NSR_SCRATCH, r.of, t->nparts);
  NSR_NEW(ctx, NSR_SCRATCH, r.behind, t->nparts);
  NSR_TRY(new_place(&r, &at));
  NSR_TRY(walk_body(&r, 0, &at));
  for (uint32_t p = 0; p < t->nparts; p++) {
    r.of[p] = find(&r, r.of[p]);
    r.behind[p] = find(&r, r.behind[p]);
  }
  out->of = r.of;
  out->behind = r.behind;
  out->nregions = (uint32_t)r.up.n;
  NSR_NEW(ctx, NSR_SCRATCH, out->trouble, out->nregions);
  for (uint32_t i = 0; i < out->nregions; i++)
    out->trouble[i] = NSR_NONE;
  return NSR_OK;
}

enum nsr_status nsr_islands_add(struct nsr_ctx *ctx, struct nsr_islands *x,
                                uint32_t part, struct nsr_trouble trouble) {
  uint32_t *first = &x->trouble[x->of[part]];
  if (*first == NSR_NONE)
    *first = (uint32_t)x->troubles.n;
  NSR_PUSH(ctx, NSR_SCRATCH, &x->troubles, trouble);
  return NSR_OK;
}

/* ---- what is seen without waits */

/* A scope that is code without structure: because of the first engine whose own
 * it is. */
static enum nsr_status add_stretch(struct nsr_ctx *ctx,
                                   const struct nsr_tree *t,
                                   struct nsr_islands *x, uint32_t part,
                                   uint32_t scope) {
  const struct nsr_common *s = &t->scopes[scope];
  struct nsr_trouble trouble = {0};
  for (int e = NSR_MAX_ENGINES; e-- > 0;) {
    if (!(s->engines >> e & 1))
      continue;
    const struct nsr_stretch *own =
        nsr_scope_stretch(&t->local[e], s->local[e]);
    if (!trouble.what || !own->opposite)
      trouble =
          (struct nsr_trouble){(uint8_t)e, own->insn, own->what, own->why};
  }
  return nsr_islands_add(ctx, x, part, trouble);
}

int nsr_trouble_compare(const void *a, const void *b) {
  const struct nsr_trouble *x = a, *y = b;
  if (x->engine != y->engine)
    return x->engine < y->engine ? -1 : 1;
  return x->insn < y->insn ? -1 : x->insn > y->insn;
}

/* The works of a segment that are known to be trouble. */
static enum nsr_status find_known(struct nsr_ctx *ctx, const struct nsr_tree *t,
                                  uint32_t p, const struct nsr_trouble *known,
                                  size_t n, struct nsr_islands *x) {
  const struct nsr_part *part = &t->parts[p];
  for (uint32_t w = part->first; w < part->first + part->n; w++) {
    const struct nsr_work *work = &t->works[w];
    struct nsr_trouble key = {work->engine, work->insn, NULL, NULL};
    const struct nsr_trouble *found =
        work->nested == NSR_NONE
            ? bsearch(&key, known, n, sizeof key, nsr_trouble_compare)
            : NULL;
    if (found)
      NSR_TRY(nsr_islands_add(ctx, x, p, *found));
  }
  return NSR_OK;
}

static enum nsr_status find_in_segment(struct nsr_ctx *ctx,
                                       const struct nsr_tree *t, uint32_t p,
                                       bool wild, struct nsr_islands *x) {
  const struct nsr_part *part = &t->parts[p];
  for (uint32_t w = part->first; w < part->first + part->n; w++) {
    const struct nsr_work *work = &t->works[w];
    if (work->nested != NSR_NONE) {
      if (t->scopes[work->nested].kind == NSR_SCOPE_ISLAND)
        NSR_TRY(add_stretch(ctx, t, x, p, work->nested));
    } else if (wild && nsr_work_node(t, work)->unknown) {
      NSR_TRY(nsr_islands_add(ctx, x, p,
                              (struct nsr_trouble){work->engine, work->insn,
                                                   "the instruction",
                                                   "has unknown effects"}));
    } else if (nsr_work_node(t, work)->foreign_wait &&
               (nsr_work_node(t, work)->ctl == NSR_CTL_BR ||
                nsr_work_node(t, work)->ctl == NSR_CTL_HALT)) {
      /* behind it is no place that it always comes to */
      NSR_TRY(nsr_islands_add(ctx, x, p,
                              (struct nsr_trouble){work->engine, work->insn,
                                                   "the branch",
                                                   "waits for others"}));
    }
  }
  return NSR_OK;
}

static enum nsr_status find_plain(struct nsr_ctx *ctx, const struct nsr_tree *t,
                                  bool wild, struct nsr_islands *x) {
  for (uint32_t p = 0; p < t->nparts; p++) {
    const struct nsr_part *part = &t->parts[p];
    if (part->kind == NSR_PART_SEGMENT)
      NSR_TRY(find_in_segment(ctx, t, p, wild, x));
    else if (part->kind == NSR_PART_SCOPE &&
             t->scopes[part->first].kind == NSR_SCOPE_ISLAND)
      NSR_TRY(add_stretch(ctx, t, x, p, part->first));
  }
  return NSR_OK;
}

enum nsr_status nsr_islands_find(struct nsr_ctx *ctx, const struct nsr_tree *t,
                                 const struct nsr_trouble *known, size_t nknown,
                                 bool wild, struct nsr_islands *out) {
  *out = (struct nsr_islands){0};
  NSR_TRY(find_regions(ctx, t, out));
  NSR_TRY(find_plain(ctx, t, wild, out));
  for (uint32_t p = 0; nknown && p < t->nparts; p++)
    if (t->parts[p].kind == NSR_PART_SEGMENT)
      NSR_TRY(find_known(ctx, t, p, known, nknown, out));
  return NSR_OK;
}

/* ---- marking */

static void mark_work(const struct nsr_tree *t, uint32_t w, uint32_t *target) {
  struct nsr_work *work = &t->works[w];
  work->island = true;
  target[w] = NSR_NONE;
  if (work->nested != NSR_NONE)
    return;
  const struct nsr_node *n = nsr_work_node(t, work);
  if (n->wait.cmp != NSR_CMP_NONE)
    t->taken[n->wait.sem] = true;
  if (n->update.op != NSR_UPD_NONE)
    t->taken[n->update.sem] = true;
}

static void mark_part(const struct nsr_islands *x, struct nsr_tree *t,
                      uint32_t p, uint32_t *target) {
  struct nsr_part *part = &t->parts[p];
  uint32_t why = x->trouble[x->of[p]];
  if (part->kind == NSR_PART_BARRIER) {
    if (why == NSR_NONE)
      why = x->trouble[x->behind[p]];
    if (why != NSR_NONE)
      part->keep = NSR_KEEP_ISLAND;
    part->why = why;
  } else if (part->kind == NSR_PART_SEGMENT && why != NSR_NONE) {
    for (uint32_t w = part->first; w < part->first + part->n; w++)
      mark_work(t, w, target);
  }
}

enum nsr_status nsr_islands_mark(struct nsr_ctx *ctx,
                                 const struct nsr_islands *x,
                                 struct nsr_tree *t, uint32_t *target) {
  if (!x->troubles.n)
    return NSR_OK;
  NSR_NEW(ctx, NSR_SCRATCH, t->taken, t->program->k->isa->semaphores);
  for (uint32_t p = 0; p < t->nparts; p++)
    mark_part(x, t, p, target);
  t->troubles = x->troubles.v;
  t->ntroubles = (uint32_t)x->troubles.n;
  return NSR_OK;
}

bool nsr_islands_leave_any(const struct nsr_tree *t, uint32_t exit) {
  for (uint32_t p = 0; p < t->nparts; p++)
    if (t->parts[p].kind == NSR_PART_BARRIER && !t->parts[p].keep && p != exit)
      return true;
  return false;
}

/* ---- regions as a list */

static int by_loops(const void *a, const void *b) {
  const struct nsr_region *x = a, *y = b;
  if (x->loops != y->loops)
    return x->loops < y->loops ? -1 : 1;
  return x->id < y->id ? -1 : x->id > y->id;
}

/* The works of a segment in their region's entry. */
static void list_segment(const struct nsr_tree *t, const struct nsr_islands *x,
                         uint32_t p, uint32_t loops, struct nsr_regions *out) {
  struct nsr_region *r = &out->v[x->of[p]];
  for (uint32_t w = t->parts[p].first; w < t->parts[p].first + t->parts[p].n;
       w++) {
    const struct nsr_work *work = &t->works[w];
    if (work->nested != NSR_NONE)
      continue;
    out->of[work->engine][work->insn] = x->of[p];
    if (r->id == NSR_NONE)
      *r = (struct nsr_region){x->of[p], work->engine, work->insn, 0};
    r->loops = loops > r->loops ? loops : r->loops;
  }
}

enum nsr_status nsr_islands_regions(struct nsr_ctx *ctx,
                                    const struct nsr_tree *t,
                                    const struct nsr_islands *x,
                                    struct nsr_regions *out) {
  uint32_t *loops, n = 0; /* by scope: around its body */
  *out = (struct nsr_regions){0};
  NSR_NEW(ctx, NSR_SCRATCH, loops, t->nscopes);
  NSR_NEW(ctx, NSR_SCRATCH, out->v, x->nregions);
  for (uint32_t r = 0; r < x->nregions; r++)
    out->v[r].id = NSR_NONE;
  for (int e = 0; e < NSR_MAX_ENGINES; e++) {
    uint32_t insns = t->program->stream[e] ? t->program->stream[e]->n : 0;
    NSR_NEW(ctx, NSR_SCRATCH, out->of[e], insns);
    for (uint32_t i = 0; i < insns; i++)
      out->of[e][i] = NSR_NONE;
  }
  for (uint32_t s = 0; s < t->nscopes; s++) {
    if (s)
      loops[s] =
          loops[t->scopes[s].parent] + (t->scopes[s].kind == NSR_SCOPE_LOOP);
    for (uint32_t p = t->scopes[s].first_part; p != NSR_NONE;
         p = t->parts[p].next)
      if (t->parts[p].kind == NSR_PART_SEGMENT && !nsr_island_at(x, p))
        list_segment(t, x, p, loops[s], out);
  }
  for (uint32_t r = 0; r < x->nregions; r++)
    if (out->v[r].id != NSR_NONE)
      out->v[n++] = out->v[r];
  out->n = n;
  if (n)
    qsort(out->v, n, sizeof *out->v, by_loops);
  return NSR_OK;
}
