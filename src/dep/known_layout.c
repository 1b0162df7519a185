/* known_layout.c - what the walk numbers before it begins: slots, loops,
 * items, records.
 */
#include <assert.h>
#include <string.h>

#include "dep/views.h"

/* Straight code is cut into items of this many works. */
enum { ITEM_WORKS = 256 };

/* Works of an item up to which a set has a level for each of them. */
enum { MOST_DENSE = 1024 };

void nsr_walk_asks(struct nsr_walk *w, uint32_t item, uint32_t lag) {
  struct nsr_walk_item *x = &w->items.v[item];
  assert(!w->started && lag < w->levels);
  if (x->levels <= lag)
    x->levels = lag + 1;
}

void nsr_walk_about(struct nsr_walk *w, uint32_t p) {
  assert(!w->started && w->tree->works[p].channel >= 0);
  w->asked[p] = true;
  w->most[p] = NSR_MAX_LEVELS;
}

void nsr_walk_about_lag(struct nsr_walk *w, uint32_t p, uint32_t lag) {
  assert(!w->started && w->tree->works[p].channel >= 0);
  w->asked[p] = true;
  if (w->most[p] <= lag)
    w->most[p] = (uint8_t)(lag + 1);
}

void nsr_walk_awaits(struct nsr_walk *w, uint32_t c, uint32_t p, uint32_t lag) {
  nsr_walk_asks(w, w->item_of[c], lag);
  nsr_walk_about_lag(w, p, lag);
  if (w->lags[p] <= lag)
    w->lags[p] = (uint8_t)(lag + 1);
  w->exported[p] |= w->item_of[c] != w->item_of[p];
  w->carried[p] |=
      p >= c || lag > 0 ||
      !nsr_common_in(w->tree, w->tree->works[c].scope, w->tree->works[p].scope);
}

enum nsr_status nsr_walk_before(struct nsr_walk *w, uint32_t p, uint32_t loop,
                                uint32_t back) {
  uint32_t *first = &w->item_starts[w->item_of[p]];
  uint32_t n = *first ? w->starts.v[*first - 1].number + 1 : 0;
  uint8_t any = (uint8_t)(back ? back : 1);
  nsr_walk_about_lag(w, p, 0);
  uint32_t old = nsr_walk_find_start(w, p, loop, back == 0);
  if (old != NSR_NONE && w->starts.v[old].any < any)
    w->starts.v[old].any = any;
  if (n >= NSR_MAX_STARTS || old != NSR_NONE)
    return NSR_OK;
  NSR_PUSH(w->ctx, NSR_SCRATCH, &w->starts,
           (struct nsr_walk_start){p, loop, back == 0,
                                   back ? w->tree->scopes[loop].body : loop, n,
                                   *first, any, 0, 0});
  *first = (uint32_t)w->starts.n;
  return NSR_OK;
}

/* Bits for the starts of all items; those of one lie in one word. */
static enum nsr_status lay_starts(struct nsr_walk *w) {
  for (size_t i = 0; i < w->starts.n; i++) {
    struct nsr_walk_start *s = &w->starts.v[i];
    uint32_t bit = 0;
    if (s->further) {
      const struct nsr_walk_start *last = &w->starts.v[s->further - 1];
      s->word = last->word;
      bit = last->bit + last->any;
    }
    if (bit + s->any > 64) {
      s->word++;
      bit = 0;
    }
    s->bit = (uint8_t)bit;
    if (w->most_starts < s->word + 1)
      w->most_starts = s->word + 1;
  }
  NSR_NEW(w->ctx, NSR_SCRATCH, w->starts_of, w->nch * w->most_starts);
  return NSR_OK;
}

/* Bits of the starts of each loop of the item, those of loops inside it too. */
static enum nsr_status sort_starts(struct nsr_walk *w) {
  const struct nsr_part *part = &w->tree->parts[w->items.v[w->item].part];
  const struct nsr_common *scope = &w->tree->scopes[part->first];
  uint32_t s = part->first;
  assert(part->kind == NSR_PART_SCOPE);
  while (w->tree->scopes[s].kind != NSR_SCOPE_LOOP)
    s++;
  w->first_loop = w->loop_of[s];
  w->starts_in.n = 0;
  for (; s <= scope->last; s++) {
    if (w->tree->scopes[s].kind != NSR_SCOPE_LOOP)
      continue;
    NSR_RESERVE(w->ctx, NSR_SCRATCH, &w->starts_in, w->nstarts);
    memset(w->starts_in.v + w->starts_in.n, 0,
           w->nstarts * sizeof *w->starts_in.v);
    w->starts_in.n += w->nstarts;
  }
  return NSR_OK;
}

enum nsr_status nsr_starts_enter(struct nsr_walk *w) {
  uint32_t i = w->item_starts[w->item];
  w->nstarts = i ? w->starts.v[i - 1].word + 1 : 0;
  if (!i)
    return NSR_OK;
  memset(w->starts_of, 0, w->nch * w->nstarts * sizeof *w->starts_of);
  NSR_TRY(sort_starts(w));
  for (; i; i = w->starts.v[i - 1].further) {
    const struct nsr_walk_start *s = &w->starts.v[i - 1];
    uint32_t ch = (uint32_t)w->tree->works[s->p].channel;
    w->starts_of[ch * w->nstarts + s->word] |= nsr_start_bits(s);
    for (uint32_t l = w->loop_of[s->loop]; l; l = w->loops[l].parent)
      w->starts_in.v[(l - w->first_loop) * w->nstarts + s->word] |=
          nsr_start_bits(s);
  }
  return NSR_OK;
}

/* Numbers the records of all scopes: those that are merged. Returns the
 * engines with work in the scope. */
uint32_t nsr_walk_number_records(struct nsr_walk *w, uint32_t scope,
                                 uint32_t *n) {
  const struct nsr_tree *t = w->tree;
  struct nsr_walk_range *r = &w->records[scope];
  uint32_t engines = t->scopes[scope].barrier ? UINT32_MAX : 0;
  r->lo = *n;
  for (uint32_t p = t->scopes[scope].first_part; p != NSR_NONE;
       p = t->parts[p].next) {
    const struct nsr_part *part = &t->parts[p];
    if (part->kind == NSR_PART_SCOPE)
      engines |= nsr_walk_number_records(w, part->first, n);
    for (uint32_t i = part->first;
         part->kind == NSR_PART_SEGMENT && i < part->first + part->n; i++) {
      engines |= UINT32_C(1) << t->works[i].engine;
      if (w->carried[i]) {
        w->record[i] = *n;
        *n += w->lags[i];
      }
    }
  }
  r->hi = *n;
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    if (t->program->stream[e] && (engines >> e & 1))
      r->rows[r->nrows++] = (uint8_t)w->row[e];
  return engines;
}

/* ---- making a walk */

static enum nsr_status number_slots(struct nsr_walk *w) {
  const struct nsr_tree *t = w->tree;
  NSR_NEW(w->ctx, NSR_SCRATCH, w->base, w->nch + 1);
  NSR_NEW(w->ctx, NSR_SCRATCH, w->slot, t->nworks);
  for (uint32_t i = 0; i < t->nworks; i++)
    if (w->asked[i])
      w->base[t->works[i].channel + 1]++;
  for (uint32_t ch = 0; ch < w->nch; ch++)
    w->base[ch + 1] += w->base[ch];
  memcpy(w->now.at, w->base, w->nch * sizeof *w->now.at);
  for (uint32_t i = 0; i < t->nworks; i++)
    w->slot[i] = w->asked[i] ? w->now.at[t->works[i].channel]++ : NSR_NONE;
  return NSR_OK;
}

/* A loop's bounds, in the order of the text; w->now.at and w->now.tick run
 * along. */
static enum nsr_status lay_loops(struct nsr_walk *w, uint32_t scope,
                                 uint32_t parent) {
  const struct nsr_tree *t = w->tree;
  uint32_t id = parent;
  if (scope == 0 || t->scopes[scope].kind == NSR_SCOPE_LOOP) {
    struct nsr_walk_loop *l = &w->loops[id = w->nloops++];
    w->loop_of[scope] = id;
    l->parent = parent;
    l->begin = scope == 0 ? 0 : ++w->now.tick;
    l->from = w->now.slots;
    NSR_NEW(w->ctx, NSR_SCRATCH, l->first, w->nch);
    NSR_NEW(w->ctx, NSR_SCRATCH, l->last, w->nch);
    memcpy(l->first, w->now.at, w->nch * sizeof *w->now.at);
  }
  for (uint32_t p = t->scopes[scope].first_part; p != NSR_NONE;
       p = t->parts[p].next) {
    const struct nsr_part *part = &t->parts[p];
    if (part->kind == NSR_PART_SCOPE)
      NSR_TRY(lay_loops(w, part->first, id));
    for (uint32_t i = part->first;
         part->kind == NSR_PART_SEGMENT && i < part->first + part->n; i++)
      if (w->asked[i]) {
        w->now.at[t->works[i].channel]++;
        w->now.slots++;
      }
  }
  if (id == parent)
    return NSR_OK;
  w->loops[id].end = scope == 0 ? UINT32_MAX : ++w->now.tick;
  w->loops[id].to = w->now.slots;
  memcpy(w->loops[id].last, w->now.at, w->nch * sizeof *w->now.at);
  return NSR_OK;
}

static enum nsr_status list_children(struct nsr_walk *w) {
  NSR_NEW(w->ctx, NSR_SCRATCH, w->children, w->nloops);
  for (uint32_t i = 1; i < w->nloops; i++)
    w->loops[w->loops[i].parent].nchildren++;
  uint32_t at = 0;
  for (uint32_t i = 0; i < w->nloops; i++) {
    w->loops[i].child = at;
    at += w->loops[i].nchildren;
    w->loops[i].nchildren = 0;
  }
  for (uint32_t i = 1; i < w->nloops; i++) {
    struct nsr_walk_loop *up = &w->loops[w->loops[i].parent];
    w->loops[i].index = up->child + up->nchildren;
    w->children[up->child + up->nchildren++] = i;
  }
  return NSR_OK;
}

/* Each loop but the program has a tick behind its beginning and one behind its
 * end. */
static enum nsr_status lay_ticks(struct nsr_walk *w) {
  NSR_NEW(w->ctx, NSR_SCRATCH, w->ticks, 2 * w->nloops);
  for (uint32_t i = 0; i < w->nloops; i++) {
    const struct nsr_walk_loop *l = &w->loops[i];
    w->ticks[l->begin] = (struct nsr_walk_tick){i, l->child};
    if (i)
      w->ticks[l->end] = (struct nsr_walk_tick){l->parent, l->index + 1};
  }
  return NSR_OK;
}

static enum nsr_status find_loops(struct nsr_walk *w) {
  const struct nsr_tree *t = w->tree;
  uint32_t n = 1;
  for (uint32_t s = 1; s < t->nscopes; s++)
    n += t->scopes[s].kind == NSR_SCOPE_LOOP;
  NSR_NEW(w->ctx, NSR_SCRATCH, w->loop_of, t->nscopes);
  NSR_NEW(w->ctx, NSR_SCRATCH, w->loops, n);
  memcpy(w->now.at, w->base, w->nch * sizeof *w->now.at);
  NSR_TRY(lay_loops(w, 0, NSR_NONE));
  w->now.tick = w->now.slots = 0;
  NSR_TRY(list_children(w));
  return lay_ticks(w);
}

static bool has_loops(const struct nsr_tree *t, const struct nsr_part *part) {
  if (part->kind != NSR_PART_SCOPE)
    return false;
  for (uint32_t s = part->first; s <= t->scopes[part->first].last; s++)
    if (t->scopes[s].kind == NSR_SCOPE_LOOP)
      return true;
  return false;
}

enum nsr_status nsr_walk_lay(struct nsr_walk *w) {
  NSR_TRY(number_slots(w));
  NSR_TRY(lay_starts(w));
  return find_loops(w);
}

static enum nsr_status push_item(struct nsr_walk *w, uint32_t part,
                                 uint32_t first, uint32_t n) {
  bool loops = has_loops(w->tree, &w->tree->parts[part]);
  for (uint32_t i = first; i < first + n; i++)
    w->item_of[i] = (uint32_t)w->items.n;
  NSR_PUSH(w->ctx, NSR_SCRATCH, &w->items,
           (struct nsr_walk_item){part, first, n, 1, loops});
  return NSR_OK;
}

static enum nsr_status find_items(struct nsr_walk *w) {
  const struct nsr_tree *t = w->tree;
  uint32_t at = 0;
  NSR_NEW(w->ctx, NSR_SCRATCH, w->item_of, t->nworks);
  for (uint32_t p = t->scopes[0].first_part; p != NSR_NONE;
       p = t->parts[p].next) {
    const struct nsr_part *part = &t->parts[p];
    bool straight = part->kind == NSR_PART_SEGMENT;
    uint32_t n = straight ? part->n : 0, i = 0;
    if (part->kind == NSR_PART_SCOPE)
      n = t->scopes[part->first].end_work - at;
    assert(!straight || part->first == at);
    for (; straight && n - i > ITEM_WORKS; i += ITEM_WORKS)
      NSR_TRY(push_item(w, p, at + i, ITEM_WORKS));
    NSR_TRY(push_item(w, p, at + i, n - i));
    at += n;
  }
  assert(at == t->nworks);
  return NSR_OK;
}

enum nsr_status nsr_walk_new(struct nsr_ctx *ctx, const struct nsr_tree *tree,
                             bool barriers, struct nsr_walk **out) {
  struct nsr_walk *w;
  NSR_NEW(ctx, NSR_SCRATCH, w, 1);
  w->ctx = w->slots.ctx = w->slots.pool.ctx = ctx;
  w->tree = tree;
  w->levels = NSR_MAX_LEVELS;
  w->barriers = barriers;
  w->most_dense = MOST_DENSE;
  NSR_NEW(ctx, NSR_SCRATCH, w->lags, tree->nworks);
  NSR_NEW(ctx, NSR_SCRATCH, w->exported, tree->nworks);
  NSR_NEW(ctx, NSR_SCRATCH, w->carried, tree->nworks);
  NSR_NEW(ctx, NSR_SCRATCH, w->records, tree->nscopes);
  NSR_NEW(ctx, NSR_SCRATCH, w->asked, tree->nworks);
  NSR_NEW(ctx, NSR_SCRATCH, w->most, tree->nworks);
  w->nch = (uint32_t)nsr_nchannels(tree->program->k);
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    if (tree->program->stream[e])
      w->row[e] = (int)w->nrows++;
  w->withouts = (struct nsr_pieces){
      .ctx = ctx, .arena = NSR_SCRATCH, .size = (w->nch + 1) * sizeof *w->base};
  NSR_TRY(find_items(w));
  NSR_NEW(ctx, NSR_SCRATCH, w->item_starts, w->items.n);
  *out = w;
  return NSR_OK;
}
