/* order.c - the reference order: elements of a region sorted by its waits,
 * the tree laid anew in that order.
 */
#include <assert.h>
#include <string.h>

#include "base/vec.h"
#include "ir/islands.h"

struct order {
  struct nsr_ctx *ctx;
  struct nsr_tree *t; /* as it was built */
  struct nsr_islands *islands;
  const uint32_t *before;
  const uint32_t *first; /* by work: its edges[first[w]..first[w+1]-1] */
  const uint32_t *edges; /* elements of the same body that come before it */
  uint32_t *sorted;      /* segments in their new order, each where it was */
  uint32_t *count;       /* by part: how many of them stand for all */
  bool *placed;          /* by work: in its segment's new order */
  uint32_t *new_of;      /* by work: its new number */
  uint32_t *head; /* by scope: private scopes whose markers its header holds,
                     a list linked by .. */
  uint32_t *link; /* .. this */
  uint32_t *arms[NSR_MAX_ENGINES]; /* by instruction: the innermost arm at the
                                      end of which markers stand in front of
                                      it, 0: none; NULL: nowhere */
  uint32_t next[NSR_MAX_ENGINES], end[NSR_MAX_ENGINES];
  uint32_t merged; /* elements of this segment that another stands for */
  bool rests;      /* what is the rest of an iteration may be placed */
  NSR_VEC(struct nsr_part) parts;
  NSR_VEC(struct nsr_work) works;
};

/* ---- edges between elements of one body */

/* The elements in front of which w (waiting) and p (awaited) count, lifted
 * out of private scopes until they lie in one body. False where they never
 * do, or lie in one private scope: nothing to order here. */
static bool lift(const struct nsr_tree *t, uint32_t *w, uint32_t *p) {
  for (bool lifted = false;; lifted = true) {
    uint32_t sw = t->works[*w].scope, sp = t->works[*p].scope;
    if (sw == sp)
      return *w != *p || !lifted;
    bool up_w = t->scopes[sw].depth >= t->scopes[sp].depth;
    uint32_t s = up_w ? sw : sp;
    if (t->scopes[s].barrier)
      return false;
    uint32_t *up = up_w ? w : p;
    *up = t->scopes[s].elements[t->works[*up].engine];
  }
}

static enum nsr_status find_edges(struct order *o) {
  uint32_t n = o->t->nworks, *first, *edges;
  NSR_NEW(o->ctx, NSR_SCRATCH, first, n + 2);
  NSR_NEW(o->ctx, NSR_SCRATCH, edges, n);
  for (int pass = 0; pass < 2; pass++) {
    for (uint32_t i = 0; i < n; i++) {
      uint32_t w = i, p = o->before[i];
      if (p == NSR_NONE || !lift(o->t, &w, &p))
        continue;
      if (pass == 0)
        first[w + 2]++;
      else
        edges[first[w + 1]++] = p;
    }
    for (uint32_t i = 0; pass == 0 && i < n + 1; i++)
      first[i + 1] += first[i];
  }
  o->first = first;
  o->edges = edges;
  return NSR_OK;
}

/* ---- one segment */

/* Whether all that w must follow has been placed; edges out of other
 * segments of the body are behind us. */
static bool ready(const struct order *o, const struct nsr_part *part,
                  uint32_t w) {
  for (uint32_t i = o->first[w]; i < o->first[w + 1]; i++)
    if (o->edges[i] - part->first < part->n && !o->placed[o->edges[i]])
      return false;
  return true;
}

/* Whether an element can go: all engines that run its scope stand at it. */
static bool element_ready(const struct order *o, const struct nsr_part *part,
                          const struct nsr_common *s) {
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    if (s->elements[e] != NSR_NONE &&
        (o->next[e] != s->elements[e] || !ready(o, part, s->elements[e])))
      return false;
  return true;
}

/* Whether an element is the rest of an iteration on all engines that run it,
 * while others run the loop, too: what these do is part of iterations that end
 * in front of it, so it comes last. */
static bool is_rest(const struct order *o, const struct nsr_common *s) {
  if (s->kind != NSR_SCOPE_ARM || s->skip != NSR_ENDS_EXIT)
    return false;
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    if (s->elements[e] != NSR_NONE &&
        !o->t->local[e].scopes[s->local[e]].to_end)
      return false;
  return true;
}

/* Places what engine e comes to next, with the same scope of other engines;
 * false if it must wait. The first of several elements stands for all. */
static bool place_next(struct order *o, const struct nsr_part *part, int e,
                       uint32_t *sorted, uint32_t *n) {
  uint32_t w = o->next[e], nested = o->t->works[w].nested;
  if (nested == NSR_NONE ? !ready(o, part, w)
                         : !element_ready(o, part, &o->t->scopes[nested]))
    return false;
  if (nested != NSR_NONE && !o->rests && is_rest(o, &o->t->scopes[nested]))
    return false;
  o->placed[w] = true;
  sorted[(*n)++] = w;
  o->next[e]++;
  for (int f = 0; nested != NSR_NONE && f < NSR_MAX_ENGINES; f++) {
    uint32_t other = o->t->scopes[nested].elements[f];
    if (other == NSR_NONE || other == w)
      continue;
    o->placed[other] = true;
    o->next[f]++;
    o->merged++;
  }
  return true;
}

static bool run_engine(struct order *o, const struct nsr_part *part, int e,
                       uint32_t *sorted, uint32_t *n) {
  bool any = false;
  while (o->next[e] < o->end[e] && place_next(o, part, e, sorted, n))
    any = true;
  return any;
}

/* The waits of a segment form a cycle. If scopes are in it, it may be that they
 * are no one step; *again: that its region was made an island, and no wait of
 * it counts. */
static enum nsr_status found_cycle(struct order *o, uint32_t p, bool *again) {
  const struct nsr_part *part = &o->t->parts[p];
  uint32_t at = NSR_NONE, scope = NSR_NONE;
  for (uint32_t w = part->first; w < part->first + part->n; w++) {
    if (o->placed[w])
      continue;
    if (o->t->works[w].nested != NSR_NONE)
      scope = scope == NSR_NONE ? w : scope;
    else
      at = at == NSR_NONE ? w : at;
  }
  if (scope == NSR_NONE)
    return nsr_fail(o->ctx, NSR_E_HANG, nsr_work_place(o->t, &o->t->works[at]),
                    "the input hangs here: the waits of this region form a "
                    "cycle");
  const struct nsr_work *x = &o->t->works[scope];
  uint32_t local = o->t->scopes[x->nested].local[x->engine];
  *again = true;
  return nsr_islands_add(
      o->ctx, o->islands, p,
      (struct nsr_trouble){x->engine,
                           o->t->local[x->engine].scopes[local].entry,
                           "the loop or conditional",
                           "is no one step: waits lead into it and out of it "
                           "again"});
}

/* Sorts the elements of a segment; false: its waits form a cycle. */
static bool sort_segment(struct order *o, uint32_t p) {
  const struct nsr_part *part = &o->t->parts[p];
  uint32_t n = 0, *sorted = o->sorted + part->first;
  o->merged = 0;
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    o->next[e] = o->end[e] = 0;
  for (uint32_t w = part->first; w < part->first + part->n; w++) {
    int e = o->t->works[w].engine;
    o->placed[w] = false;
    if (o->end[e] == 0)
      o->next[e] = w;
    o->end[e] = w + 1;
  }
  o->rests = false;
  for (bool any = true; any && n + o->merged < part->n;) {
    any = false;
    for (int e = 0; e < NSR_MAX_ENGINES; e++)
      any |= run_engine(o, part, e, sorted, &n);
    if (!any && !o->rests)
      any = o->rests = true;
  }
  o->count[p] = n;
  return n + o->merged == part->n;
}

/* Sorts all segments; *again: some regions became islands on the way. */
static enum nsr_status sort_all(struct order *o, bool *again) {
  *again = false;
  NSR_TRY(find_edges(o));
  for (uint32_t p = 0; p < o->t->nparts; p++)
    if (o->t->parts[p].kind == NSR_PART_SEGMENT && !sort_segment(o, p))
      NSR_TRY(found_cycle(o, p, again));
  return NSR_OK;
}

/* ---- laying the tree anew */

static enum nsr_status push_part(struct order *o, uint32_t scope,
                                 uint32_t *last, struct nsr_part part) {
  uint32_t id = (uint32_t)o->parts.n;
  part.next = NSR_NONE;
  NSR_APPEND(o->ctx, NSR_SCRATCH, &o->parts, part);
  if (*last == NSR_NONE)
    o->t->scopes[scope].first_part = id;
  else
    o->parts.v[*last].next = id;
  *last = id;
  return NSR_OK;
}

static enum nsr_status push_run(struct order *o, uint32_t scope, uint32_t *last,
                                uint32_t start) {
  uint32_t n = (uint32_t)o->works.n - start;
  struct nsr_part part = {.kind = NSR_PART_SEGMENT, .first = start, .n = n};
  return n ? push_part(o, scope, last, part) : NSR_OK;
}

static uint64_t channels_of(const struct nsr_tree *t, uint32_t scope) {
  uint64_t channels = 0;
  for (uint32_t p = t->scopes[scope].first_part; p != NSR_NONE;
       p = t->parts[p].next)
    for (uint32_t w = t->parts[p].first; w < t->parts[p].first + t->parts[p].n;
         w++)
      if (t->works[w].nested != NSR_NONE)
        channels |=
            nsr_common_first(t, w) ? channels_of(t, t->works[w].nested) : 0;
      else if (t->works[w].channel >= 0)
        channels |= UINT64_C(1) << t->works[w].channel;
  return channels;
}

/* Where markers stand: in front of insn[e], at the end of arm[e] (0: none). */
struct spots {
  uint32_t insn[NSR_MAX_ENGINES], arm[NSR_MAX_ENGINES];
};

static enum nsr_status push_markers(struct order *o, uint64_t channels,
                                    uint32_t scope, const struct spots *at) {
  for (int8_t ch = 0; ch < NSR_MAX_CHANNELS; ch++) {
    if (!(channels >> ch & 1))
      continue;
    int e = nsr_channel_engine(o->t->program->k, ch);
    NSR_APPEND(o->ctx, NSR_SCRATCH, &o->works,
               (struct nsr_work){.engine = (uint8_t)e,
                                 .channel = ch,
                                 .marker = true,
                                 .insn = at->insn[e],
                                 .arm = at->arm[e],
                                 .scope = scope,
                                 .nested = NSR_NONE});
  }
  return NSR_OK;
}

/* Markers for a scope without a barrier: one per channel with work in it. */
static enum nsr_status push_private_markers(struct order *o, uint32_t private,
                                            uint64_t channels, uint32_t scope,
                                            const struct spots *at) {
  struct nsr_common *x = &o->t->scopes[private];
  x->markers = (uint32_t)o->works.n;
  NSR_TRY(push_markers(o, channels, scope, at));
  x->nmarkers = (uint32_t)o->works.n - x->markers;
  return NSR_OK;
}

/* Whether nothing follows scope `inner` in x: it is the last item, or an arm
 * of the branch that is. */
static bool ends_with(const struct nsr_scopes *own, const struct nsr_scope *x,
                      uint32_t inner) {
  for (uint32_t i = x->nitems; i-- > 0;) {
    const struct nsr_item *it = &own->items[x->first_item + i];
    if (!it->is_scope)
      return false;
    if (it->first == inner)
      return true;
    if (own->scopes[it->first].kind != NSR_SCOPE_ARM)
      return false;
  }
  return false;
}

/* Where nothing follows a private scope in its body, nor in the arms around
 * it: the loop whose header runs next, if that is the only way out of it. */
static uint32_t header_behind(const struct nsr_tree *t, uint32_t private,
                              int e) {
  const struct nsr_scopes *own = &t->local[e];
  uint32_t s = t->scopes[private].parent;
  uint32_t inner = t->scopes[private].local[e];
  while (s != 0) {
    uint32_t local = t->scopes[s].local[e];
    const struct nsr_scope *x = &own->scopes[local];
    if (!ends_with(own, x, inner))
      return NSR_NONE;
    if (x->kind == NSR_SCOPE_LOOP)
      return x->top_exit ? s : NSR_NONE;
    inner = local;
    s = t->scopes[s].parent;
  }
  return NSR_NONE;
}

/* The loop whose header runs next behind a scope without a barrier on all its
 * engines, NSR_NONE: none, or on one of them something else is behind it. */
static uint32_t headers_behind(const struct nsr_tree *t, uint32_t private) {
  const struct nsr_common *x = &t->scopes[private];
  uint32_t header = NSR_NONE;
  for (int e = 0; e < NSR_MAX_ENGINES; e++) {
    if (!nsr_common_runs(t, private, e))
      continue;
    if (t->works[x->elements[e]].insn != NSR_NONE)
      return NSR_NONE;
    uint32_t h = header_behind(t, private, e);
    if (h == NSR_NONE || (header != NSR_NONE && h != header))
      return NSR_NONE;
    header = h;
  }
  return header;
}

/* Lists the private scopes whose markers stand in a loop's header. */
static enum nsr_status find_headers(struct order *o) {
  const struct nsr_tree *t = o->t;
  NSR_NEW(o->ctx, NSR_SCRATCH, o->head, t->nscopes);
  NSR_NEW(o->ctx, NSR_SCRATCH, o->link, t->nscopes);
  for (uint32_t s = 0; s < t->nscopes; s++)
    o->head[s] = NSR_NONE;
  for (uint32_t s = t->nscopes; s-- > 1;) {
    const struct nsr_common *x = &t->scopes[s];
    if (x->barrier || x->engines == t->scopes[x->parent].engines)
      continue;
    uint32_t h = headers_behind(t, s);
    if (h == NSR_NONE)
      continue;
    o->link[s] = o->head[h];
    o->head[h] = s;
  }
  return NSR_OK;
}

/* The markers at a loop's header: behind the last of its iterations. */
static enum nsr_status lay_header(struct order *o, uint32_t scope,
                                  uint32_t *last) {
  uint32_t start = (uint32_t)o->works.n;
  for (uint32_t s = o->head[scope]; s != NSR_NONE; s = o->link[s]) {
    struct spots at = {{0}, {0}};
    for (int e = 0; e < NSR_MAX_ENGINES; e++)
      if (nsr_common_runs(o->t, s, e))
        at.insn[e] = o->t->local[e].scopes[o->t->scopes[scope].local[e]].entry;
    NSR_TRY(push_private_markers(o, s, channels_of(o->t, s), scope, &at));
  }
  return push_run(o, scope, last, start);
}

/* ---- markers at the end of an arm */

/* Whether scope s or one around it begins at an instruction. */
static bool begins(const struct nsr_scopes *own, uint32_t s, uint32_t insn) {
  for (; s != NSR_NONE; s = own->scopes[s].parent)
    if (own->scopes[s].entry == insn)
      return true;
  return false;
}

/* The block that all ways out of an arm lead to; NSR_NONE: there is none, or
 * there are several, as where an arm in it leaves the loop. */
static uint32_t block_behind(const struct nsr_scopes *own, uint32_t arm) {
  const struct nsr_cfg *g = own->cfg;
  uint32_t behind = NSR_NONE;
  for (uint32_t x = arm; x <= own->scopes[arm].last; x++)
    for (uint32_t i = 0; i < own->scopes[x].nitems; i++) {
      const struct nsr_item *it = &own->items[own->scopes[x].first_item + i];
      uint32_t at = it->first;
      while (!it->is_scope && at < it->first + it->n) {
        const struct nsr_block *k = &g->blocks[g->block_of[at]];
        for (int j = 0; j < 2; j++) {
          uint32_t to = k->succ[j];
          if (to == NSR_NONE || nsr_scope_in(own, own->scope_of[to], arm))
            continue;
          if (behind != NSR_NONE && behind != to)
            return NSR_NONE;
          behind = to;
        }
        at = k->first + k->n;
      }
    }
  return behind;
}

/* Whether code in front of an instruction that goes on to it is the arm's. */
static bool goes_on(const struct nsr_scopes *own, uint32_t insn, uint32_t arm) {
  const struct nsr_cfg *g = own->cfg;
  const struct nsr_node *n = &g->program->nodes[g->engine][insn - 1];
  if (n->ctl == NSR_CTL_HALT || (n->ctl == NSR_CTL_BR && n->always))
    return true;
  uint32_t s = own->scope_of[g->block_of[insn - 1]];
  return s != NSR_NONE && nsr_scope_in(own, s, arm);
}

/* Where nothing follows a private scope in the arm around it: its markers may
 * stand where the arm joins other code, in front of what runs on other ways,
 * too. Of the arms that end there each lies in the other. */
static enum nsr_status spot_at_end(struct order *o, uint32_t private, int e,
                                   struct spots *at) {
  const struct nsr_scopes *own = &o->t->local[e];
  uint32_t inner = o->t->scopes[private].local[e];
  uint32_t arm = own->scopes[inner].parent;
  if (own->scopes[arm].kind != NSR_SCOPE_ARM ||
      !ends_with(own, &own->scopes[arm], inner))
    return NSR_OK;
  uint32_t block = block_behind(own, arm);
  if (block == NSR_NONE)
    return NSR_OK;
  uint32_t insn = own->cfg->blocks[block].first;
  if (insn == 0 || begins(own, arm, insn) || !goes_on(own, insn, arm))
    return NSR_OK;
  if (!o->arms[e])
    NSR_NEW(o->ctx, NSR_SCRATCH, o->arms[e], o->t->program->stream[e]->n);
  uint32_t *last = &o->arms[e][insn];
  if (*last && !nsr_scope_in(own, arm, *last) && !nsr_scope_in(own, *last, arm))
    return NSR_OK;
  if (!*last || nsr_scope_in(own, arm, *last))
    *last = arm;
  at->insn[e] = insn;
  at->arm[e] = arm;
  return NSR_OK;
}

static enum nsr_status lay_scope(struct order *o, uint32_t scope);

/* The markers by which engines that run the body around a scope but not it
 * know it. */
static enum nsr_status lay_markers(struct order *o, uint32_t scope,
                                   uint32_t *last, uint32_t private,
                                   uint64_t channels) {
  const struct nsr_common *x = &o->t->scopes[private];
  struct spots at = {{0}, {0}};
  if (x->engines == o->t->scopes[scope].engines || x->nmarkers > 0)
    return NSR_OK;
  for (int e = 0; e < NSR_MAX_ENGINES; e++) {
    at.insn[e] = x->elements[e] == NSR_NONE ? NSR_NONE
                                            : o->t->works[x->elements[e]].insn;
    if (x->elements[e] != NSR_NONE && at.insn[e] == NSR_NONE)
      NSR_TRY(spot_at_end(o, private, e, &at));
  }
  uint32_t start = (uint32_t)o->works.n;
  NSR_TRY(push_private_markers(o, private, channels, scope, &at));
  return push_run(o, scope, last, start);
}

/* By engine: an arm whose markers are still to come, NSR_NONE: none.
 * They stand where it joins the other arm of its branch, and what that one does
 * is in front of them. */
struct joins {
  uint32_t arm[NSR_MAX_ENGINES];
  uint64_t channels[NSR_MAX_ENGINES];
};

/* Whether the element behind w in a segment is the other arm of its branch. */
static bool other_follows(const struct nsr_tree *t, const struct nsr_part *part,
                          uint32_t w) {
  const struct nsr_work *x = &t->works[w], *y = x + 1;
  return w + 1 < part->first + part->n && y->engine == x->engine &&
         y->nested != NSR_NONE && y->insn == x->insn &&
         t->scopes[x->nested].kind == NSR_SCOPE_ARM &&
         t->scopes[y->nested].kind == NSR_SCOPE_ARM;
}

/* The engine of a scope on which the other arm follows, -1: none. Others that
 * run it have nothing behind it in the segment that would be in front of its
 * markers then. */
static int joining_engine(const struct nsr_tree *t, const struct nsr_part *part,
                          const struct nsr_common *s) {
  int found = -1;
  for (int e = 0; e < NSR_MAX_ENGINES; e++) {
    uint32_t w = s->elements[e];
    if (w == NSR_NONE)
      continue;
    bool last = w + 1 == part->first + part->n || t->works[w + 1].engine != e;
    if (!last && (found >= 0 || !other_follows(t, part, w)))
      return -1;
    found = last ? found : e;
  }
  return found;
}

/* Lays the markers that were to come behind a scope's other arm. */
static enum nsr_status lay_joined(struct order *o, uint32_t scope,
                                  uint32_t *last, struct joins *joins,
                                  uint32_t laid) {
  for (int e = 0; e < NSR_MAX_ENGINES; e++) {
    uint32_t arm = joins->arm[e], w = o->t->scopes[laid].elements[e];
    if (arm == NSR_NONE || w == NSR_NONE)
      continue;
    joins->arm[e] = NSR_NONE;
    NSR_TRY(lay_markers(o, scope, last, arm, joins->channels[e]));
  }
  return NSR_OK;
}

/* A scope among the elements of a segment. */
static enum nsr_status lay_private(struct order *o, uint32_t scope,
                                   uint32_t *last, const struct nsr_part *part,
                                   struct joins *joins, uint32_t private) {
  const struct nsr_common *x = &o->t->scopes[private];
  uint64_t channels = channels_of(o->t, private); /* until it is laid */
  int e = joining_engine(o->t, part, x);
  NSR_TRY(
      push_part(o, scope, last,
                (struct nsr_part){.kind = NSR_PART_SCOPE, .first = private}));
  NSR_TRY(lay_scope(o, private));
  NSR_TRY(lay_joined(o, scope, last, joins, private));
  if (e < 0)
    return lay_markers(o, scope, last, private, channels);
  joins->arm[e] = private;
  joins->channels[e] = channels;
  return NSR_OK;
}

static enum nsr_status lay_segment(struct order *o, uint32_t scope,
                                   uint32_t *last, uint32_t p) {
  const struct nsr_part *part = &o->t->parts[p];
  const uint32_t *sorted = o->sorted + part->first;
  uint32_t start = (uint32_t)o->works.n;
  struct joins joins;
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    joins.arm[e] = NSR_NONE;
  for (uint32_t i = 0; i < o->count[p]; i++) {
    const struct nsr_work *w = &o->t->works[sorted[i]];
    if (w->nested == NSR_NONE) {
      o->new_of[sorted[i]] = (uint32_t)o->works.n;
      NSR_APPEND(o->ctx, NSR_SCRATCH, &o->works, *w);
      continue;
    }
    NSR_TRY(push_run(o, scope, last, start));
    NSR_TRY(lay_private(o, scope, last, part, &joins, w->nested));
    start = (uint32_t)o->works.n;
  }
  return push_run(o, scope, last, start);
}

/* Scopes of a body behind which markers stand that speak for all of them. */
enum { MARKED_SCOPES = 24 };

/* Whether markers may stand at a part: in front of a barrier that does not
 * stay, behind a scope on all engines, far from islands. */
static bool can_mark(const struct nsr_tree *t, const struct nsr_part *part) {
  if (part->kind == NSR_PART_BARRIER)
    return !part->keep;
  if (part->kind != NSR_PART_SCOPE || t->ntroubles > 0)
    return false;
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    if (t->program->stream[e] && part->insn[e] == NSR_NONE)
      return false;
  return true;
}

/* Markers at a part, one for each channel with work since works `since`.
 * Whoever depends on many scopes that may have been passed by waits for them
 * instead; where nobody does they are not put there. */
static enum nsr_status lay_marks(struct order *o, uint32_t scope,
                                 uint32_t *last, const struct nsr_part *part,
                                 uint32_t since) {
  uint32_t start = (uint32_t)o->works.n;
  uint64_t channels = 0;
  for (uint32_t w = since; w < start; w++)
    if (o->works.v[w].channel >= 0)
      channels |= UINT64_C(1) << o->works.v[w].channel;
  struct spots at = {{0}, {0}};
  memcpy(at.insn, part->insn, sizeof at.insn);
  NSR_TRY(push_markers(o, channels, scope, &at));
  return push_run(o, scope, last, start);
}

static enum nsr_status lay_scope(struct order *o, uint32_t scope) {
  uint32_t last = NSR_NONE, next = o->t->scopes[scope].first_part;
  uint32_t since = (uint32_t)o->works.n, nscopes = 0;
  o->t->scopes[scope].first_part = NSR_NONE;
  o->t->scopes[scope].first_work = (uint32_t)o->works.n;
  NSR_TRY(lay_header(o, scope, &last));
  for (; next != NSR_NONE; next = o->t->parts[next].next) {
    const struct nsr_part *part = &o->t->parts[next];
    bool mark = nscopes >= MARKED_SCOPES && can_mark(o->t, part);
    nscopes += part->kind == NSR_PART_SCOPE;
    if (mark && part->kind == NSR_PART_BARRIER)
      NSR_TRY(lay_marks(o, scope, &last, part, since));
    if (part->kind == NSR_PART_SEGMENT)
      NSR_TRY(lay_segment(o, scope, &last, next));
    else
      NSR_TRY(push_part(o, scope, &last, *part));
    if (part->kind == NSR_PART_SCOPE)
      NSR_TRY(lay_scope(o, part->first));
    if (mark && part->kind == NSR_PART_SCOPE)
      NSR_TRY(lay_marks(o, scope, &last, part, since));
    if (mark) {
      since = (uint32_t)o->works.n;
      nscopes = 0;
    }
  }
  o->t->scopes[scope].end_work = (uint32_t)o->works.n;
  return NSR_OK;
}

/* Numbers the regions of each body: a barrier, or a scope with one, ends
 * one. */
static void number_regions(struct nsr_tree *t) {
  for (uint32_t s = 0; s < t->nscopes; s++) {
    uint32_t region = 0;
    for (uint32_t p = t->scopes[s].first_part; p != NSR_NONE;
         p = t->parts[p].next) {
      const struct nsr_part *part = &t->parts[p];
      if (part->kind == NSR_PART_SEGMENT)
        for (uint32_t i = 0; i < part->n; i++)
          t->works[part->first + i].region = region;
      else if (part->kind == NSR_PART_BARRIER || t->scopes[part->first].barrier)
        region++;
    }
  }
}

static uint32_t body_of(const struct nsr_tree *t, uint32_t loop) {
  uint32_t p = t->scopes[loop].first_part;
  while (p != NSR_NONE && t->parts[p].kind != NSR_PART_SCOPE)
    p = t->parts[p].next;
  if (p == NSR_NONE)
    return loop;
  const struct nsr_common *x = &t->scopes[t->parts[p].first];
  bool rest = x->kind == NSR_SCOPE_ARM && x->to_end && x->skip == NSR_ENDS_EXIT;
  return rest ? t->parts[p].first : loop;
}

/* Sorts, with islands marked: those that cycles make need a second time, in
 * which they have no waits. */
static enum nsr_status find_order(struct order *o, uint32_t *before) {
  bool again;
  NSR_NEW(o->ctx, NSR_SCRATCH, o->placed, o->t->nworks);
  NSR_NEW(o->ctx, NSR_SCRATCH, o->sorted, o->t->nworks);
  NSR_NEW(o->ctx, NSR_SCRATCH, o->count, o->t->nparts);
  NSR_TRY(nsr_islands_mark(o->ctx, o->islands, o->t, before));
  NSR_TRY(sort_all(o, &again));
  if (!again)
    return NSR_OK;
  NSR_TRY(nsr_islands_mark(o->ctx, o->islands, o->t, before));
  NSR_TRY(sort_all(o, &again));
  assert(!again);
  return NSR_OK;
}

/* The tree has been laid anew. */
static void drop_old(const struct order *o, uint32_t *before) {
  void *const old[] = {o->t->parts, o->t->works, o->placed, o->sorted,
                       o->count,    o->new_of,   before};
  for (size_t i = 0; i < sizeof old / sizeof *old; i++)
    nsr_drop(o->ctx, NSR_SCRATCH, old[i]);
}

enum nsr_status nsr_tree_linearize(struct nsr_ctx *ctx, struct nsr_tree *t,
                                   struct nsr_islands *islands,
                                   uint32_t **before) {
  struct order o = {.ctx = ctx, .t = t, .islands = islands, .before = *before};
  NSR_TRY(find_order(&o, *before));
  NSR_NEW(ctx, NSR_SCRATCH, o.new_of, t->nworks);
  NSR_TRY(find_headers(&o));
  NSR_TRY(lay_scope(&o, 0));
  uint32_t *again;
  NSR_NEW(ctx, NSR_SCRATCH, again, o.works.n);
  for (size_t w = 0; w < o.works.n; w++)
    again[w] = NSR_NONE;
  for (uint32_t w = 0; w < t->nworks; w++)
    if ((*before)[w] != NSR_NONE)
      again[o.new_of[w]] = o.new_of[(*before)[w]];
  drop_old(&o, *before);
  *before = again;
  t->parts = o.parts.v;
  t->nparts = (uint32_t)o.parts.n;
  t->works = o.works.v;
  t->nworks = (uint32_t)o.works.n;
  number_regions(t);
  for (uint32_t s = 0; s < t->nscopes; s++)
    t->scopes[s].body = body_of(t, s);
  return NSR_OK;
}
