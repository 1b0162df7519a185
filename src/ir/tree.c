/* tree.c - one tree out of several. */
#include "ir/tree.h"

#include <stdlib.h>

#include "base/vec.h"
#include "ir/barriers.h"

/* Where an engine stands in a body. */
struct cursor {
  uint32_t item; /* within its scope */
  uint32_t at;   /* next instruction of a code item, 0: from its start */
};

/* What an engine meets next. */
struct meet {
  enum { AT_END, AT_BARRIER, AT_SCOPE } kind;
  uint32_t insn;   /* the barrier, or the scope's entry */
  uint32_t scope;  /* the engine's own */
  uint32_t behind; /* the scope, if it is alone */
};

struct build {
  struct nsr_ctx *ctx;
  struct nsr_tree *t;
  NSR_VEC(struct nsr_common) scopes;
  NSR_VEC(struct nsr_part) parts;
  NSR_VEC(struct nsr_work) works;
  NSR_VEC(uint32_t) keys;  /* on which scopes were taken for the same */
  struct nsr_knots *knots; /* by engine: what is collapsed */
  bool again;              /* there are more than before: build anew */
  bool last_round;
};

bool nsr_common_first(const struct nsr_tree *t, uint32_t w) {
  const struct nsr_common *s = &t->scopes[t->works[w].nested];
  int e = 0;
  while (s->elements[e] == NSR_NONE)
    e++;
  return s->elements[e] == w;
}

static enum nsr_status push_work(struct build *b, uint32_t scope, int engine,
                                 uint32_t insn) {
  const struct nsr_node *n = &b->t->program->nodes[engine][insn];
  bool passes = n->channel < 0 && n->foreign_wait;
  NSR_APPEND(b->ctx, NSR_SCRATCH, &b->works,
             (struct nsr_work){.engine = (uint8_t)engine,
                               .channel = passes ? (int8_t)engine : n->channel,
                               .passes = passes,
                               .insn = insn,
                               .scope = scope,
                               .nested = NSR_NONE});
  return NSR_OK;
}

/* Where code goes on behind item i of a scope, arms of one branch taken
 * together; NSR_NONE: nowhere in this body. */
static uint32_t behind(const struct nsr_scopes *own, const struct nsr_scope *s,
                       uint32_t i) {
  const struct nsr_item *it = own->items + s->first_item;
  for (i++; i < s->nitems; i++) {
    if (!it[i].is_scope)
      return it[i].first;
    if (own->scopes[it[i].first].kind != NSR_SCOPE_ARM)
      return own->scopes[it[i].first].entry;
  }
  return NSR_NONE;
}

/* The same of a scope behind which no other arm of its branch lies. */
static uint32_t behind_last(const struct nsr_scopes *own,
                            const struct nsr_scope *s, uint32_t i) {
  const struct nsr_item *next = own->items + s->first_item + i + 1;
  bool arm = i + 1 < s->nitems && next->is_scope &&
             own->scopes[next->first].kind == NSR_SCOPE_ARM;
  return arm ? NSR_NONE : behind(own, s, i);
}

/* An element that stands for a private scope, for now by its local number. */
static enum nsr_status push_private(struct build *b, uint32_t scope, int engine,
                                    uint32_t local, uint32_t behind) {
  NSR_APPEND(b->ctx, NSR_SCRATCH, &b->works,
             (struct nsr_work){.engine = (uint8_t)engine,
                               .channel = -1,
                               .insn = behind,
                               .scope = scope,
                               .nested = local});
  return NSR_OK;
}

/* Takes the work of an engine up to its next barrier or scope. */
static enum nsr_status advance(struct build *b, uint32_t scope, int engine,
                               struct cursor *c, struct meet *out) {
  const struct nsr_scopes *own = &b->t->local[engine];
  const struct nsr_scope *s = &own->scopes[b->scopes.v[scope].local[engine]];
  for (; c->item < s->nitems; c->item++, c->at = 0) {
    const struct nsr_item *it = &own->items[s->first_item + c->item];
    if (it->is_scope) {
      if (!own->scopes[it->first].relevant)
        continue;
      if (!own->scopes[it->first].barrier) {
        NSR_TRY(
            push_private(b, scope, engine, it->first, behind(own, s, c->item)));
        continue;
      }
      *out = (struct meet){AT_SCOPE, own->scopes[it->first].entry, it->first,
                           behind_last(own, s, c->item)};
      c->item++;
      return NSR_OK;
    }
    for (uint32_t i = it->first + c->at; i < it->first + it->n; i++) {
      const struct nsr_node *n = &b->t->program->nodes[engine][i];
      if (n->cls == NSR_BARRIER) {
        *out = (struct meet){AT_BARRIER, i, 0, NSR_NONE};
        c->at = i + 1 - it->first;
        return NSR_OK;
      }
      if (nsr_node_relevant(n))
        NSR_TRY(push_work(b, scope, engine, i));
    }
  }
  *out = (struct meet){.kind = AT_END};
  return NSR_OK;
}

static const char *scope_word(enum nsr_scope_kind kind) {
  return kind == NSR_SCOPE_LOOP     ? "loop"
         : kind == NSR_SCOPE_ISLAND ? "stretch without structure"
                                    : "conditional";
}

static const char *describe(struct build *b, int engine, const struct meet *m) {
  const struct nsr_program *p = b->t->program;
  const char *name = p->k->isa->engines[engine];
  const struct nsr_scopes *own = &b->t->local[engine];
  switch (m->kind) {
  case AT_BARRIER:
    return nsr_printf(b->ctx, NSR_KEEP, "%s has barrier %d at %s[%u]", name,
                      (int)p->nodes[engine][m->insn].aux, name, m->insn);
  case AT_SCOPE:
    return nsr_printf(b->ctx, NSR_KEEP, "%s has a %s at %s[%u]", name,
                      scope_word(own->scopes[m->scope].kind), name, m->insn);
  default:
    return nsr_printf(b->ctx, NSR_KEEP, "%s has no further barrier", name);
  }
}

static enum nsr_status mismatch(struct build *b, int e0, const struct meet *m0,
                                int e1, const struct meet *m1) {
  const char *a = describe(b, e0, m0), *c = describe(b, e1, m1);
  if (!a || !c)
    return NSR_E_NOMEM;
  int at = m1->kind == AT_END ? e0 : e1;
  return nsr_fail(
      b->ctx, NSR_E_FAULT,
      nsr_program_place(b->t->program, at, at == e0 ? m0->insn : m1->insn),
      "the barriers of the engines do not match: %s where %s", c, a);
}

/* Whether the same values decide a scope on all engines. */
static bool decided_alike(const struct build *b,
                          const struct meet m[NSR_MAX_ENGINES], int first) {
  uint32_t key = b->t->local[first].scopes[m[first].scope].key;
  for (int e = first; e < NSR_MAX_ENGINES; e++)
    if (b->t->program->stream[e] &&
        b->t->local[e].scopes[m[e].scope].key != key)
      return false;
  return key != 0;
}

/* Entries of a scope are counted only where work lies directly in it. */
static enum nsr_status check_anchors(struct build *b,
                                     const struct meet m[NSR_MAX_ENGINES],
                                     bool *anchored) {
  const struct nsr_program *p = b->t->program;
  int loose = -1;
  bool direct = false;
  for (int e = 0; e < NSR_MAX_ENGINES; e++) {
    if (!p->stream[e])
      continue;
    const struct nsr_scope *s = &b->t->local[e].scopes[m[e].scope];
    direct |= s->direct;
    if (!s->anchored && loose < 0)
      loose = e;
  }
  *anchored = loose < 0;
  if (*anchored || !direct)
    return NSR_OK;
  const struct nsr_scope *s = &b->t->local[loose].scopes[m[loose].scope];
  if (b->last_round)
    return nsr_fail(b->ctx, NSR_E_REFUSED,
                    nsr_program_place(p, loose, m[loose].insn),
                    "a %s with a way through it that passes no barrier: the "
                    "engines cannot be shown to run it equally often",
                    scope_word(s->kind));
  b->again = true;
  return nsr_barriers_loose(b->ctx, b->t, loose, m[loose].scope,
                            &b->knots[loose]);
}

/* ---- stretches without structure */

static bool at_island(const struct build *b, int e, const struct meet *m) {
  return m->kind == AT_SCOPE &&
         b->t->local[e].scopes[m->scope].kind == NSR_SCOPE_ISLAND;
}

/* Engine e is to have a stretch here, with the barriers of `want`, which stand
 * in stretches of others. */
static enum nsr_status ask_stretch(struct build *b,
                                   const struct meet m[NSR_MAX_ENGINES], int e,
                                   int lead, const struct nsr_barriers *want) {
  const struct nsr_program *p = b->t->program;
  struct nsr_barriers all = {0};
  NSR_TRY(nsr_barriers_add(b->ctx, b->t, e, 0, &all));
  const struct nsr_barrier *x = nsr_barriers_lacking(&all, want);
  if (x)
    return nsr_fail(
        b->ctx, NSR_E_FAULT, nsr_program_place(p, x->engine, x->insn),
        "the barriers of the engines do not match: barrier %d in "
        "code without structure on %s is none of %s's",
        (int)x->id, p->k->isa->engines[x->engine], p->k->isa->engines[e]);
  bool here = m[e].kind == AT_SCOPE ||
              (m[e].kind == AT_BARRIER &&
               nsr_barriers_has(want, p->nodes[e][m[e].insn].aux));
  if (!here || b->last_round)
    return mismatch(b, lead, &m[lead], e, &m[e]);
  b->again = true;
  return nsr_barriers_knot(b->ctx, b->t, e,
                           m[e].kind == AT_SCOPE ? m[e].scope : NSR_NONE,
                           m[e].insn, &all, want, &b->knots[e]);
}

/* Engine `lead` stands in front of a stretch: all others must, with barriers of
 * the same ids in it; where they do not, the tree is built anew with their
 * matching code made one. */
static enum nsr_status
match_islands(struct build *b, const struct meet m[NSR_MAX_ENGINES], int lead) {
  const struct nsr_program *p = b->t->program;
  struct nsr_barriers have[NSR_MAX_ENGINES] = {0}, want = {0};
  for (int e = 0; e < NSR_MAX_ENGINES; e++) {
    if (!p->stream[e] || !at_island(b, e, &m[e]))
      continue;
    NSR_TRY(nsr_barriers_add(b->ctx, b->t, e, m[e].scope, &have[e]));
    for (size_t i = 0; i < have[e].n; i++)
      NSR_PUSH(b->ctx, NSR_SCRATCH, &want, have[e].v[i]);
  }
  nsr_barriers_sort(&want);
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    if (p->stream[e] && !nsr_barriers_alike(&have[e], &want))
      NSR_TRY(ask_stretch(b, m, e, lead, &want));
  return NSR_OK;
}

/* All engines must meet the same thing. */
static enum nsr_status check_meeting(struct build *b,
                                     const struct meet m[NSR_MAX_ENGINES],
                                     int first) {
  const struct nsr_program *p = b->t->program;
  for (int e = first; e < NSR_MAX_ENGINES; e++)
    if (p->stream[e] && at_island(b, e, &m[e]))
      return match_islands(b, m, e);
  for (int e = first + 1; e < NSR_MAX_ENGINES; e++) {
    if (!p->stream[e])
      continue;
    bool same = m[e].kind == m[first].kind;
    if (same && m[e].kind == AT_BARRIER)
      same = p->nodes[e][m[e].insn].aux == p->nodes[first][m[first].insn].aux;
    if (same && m[e].kind == AT_SCOPE)
      same = b->t->local[e].scopes[m[e].scope].kind ==
             b->t->local[first].scopes[m[first].scope].kind;
    if (!same)
      return mismatch(b, first, &m[first], e, &m[e]);
  }
  return NSR_OK;
}

static enum nsr_status push_part(struct build *b, uint32_t scope,
                                 uint32_t *last, struct nsr_part part) {
  uint32_t id = (uint32_t)b->parts.n;
  part.next = NSR_NONE;
  NSR_APPEND(b->ctx, NSR_SCRATCH, &b->parts, part);
  if (*last == NSR_NONE)
    b->scopes.v[scope].first_part = id;
  else
    b->parts.v[*last].next = id;
  *last = id;
  return NSR_OK;
}

/* How ways through a scope end, as far as its engines agree. An arm that other
 * engines do not run has something behind it: their work. */
static void take_ends(const struct build *b, struct nsr_common *c) {
  c->to_end =
      c->parent != NSR_NONE && b->scopes.v[c->parent].engines == c->engines;
  for (int e = 0; e < NSR_MAX_ENGINES; e++) {
    if (!(c->engines >> e & 1))
      continue;
    const struct nsr_scope *s = &b->t->local[e].scopes[c->local[e]];
    c->to_end &= s->to_end;
    c->skip |= s->skip;
    c->ends |= s->ways;
  }
}

static enum nsr_status push_scope(struct build *b, uint32_t parent,
                                  const struct meet m[NSR_MAX_ENGINES],
                                  int first, uint32_t *out) {
  const struct nsr_program *p = b->t->program;
  const struct nsr_scope *s = &b->t->local[first].scopes[m[first].scope];
  const struct nsr_common *up =
      parent == NSR_NONE ? NULL : &b->scopes.v[parent];
  struct nsr_common c = {.kind = s->kind,
                         .barrier = s->barrier,
                         .parent = parent,
                         .depth = up ? up->depth + 1 : 0,
                         .first_part = NSR_NONE};
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    c.elements[e] = NSR_NONE;
  bool island = s->kind == NSR_SCOPE_ISLAND;
  c.loops = s->kind == NSR_SCOPE_LOOP || island || (up && up->loops);
  c.alike = parent == NSR_NONE || (up->alike && decided_alike(b, m, first));
  if (c.alike && parent != NSR_NONE)
    NSR_PUSH(b->ctx, NSR_SCRATCH, &b->keys, s->key);
  c.anchored = c.alike || island; /* it runs wherever it is reached */
  if (!c.anchored)
    NSR_TRY(check_anchors(b, m, &c.anchored));
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    if (p->stream[e]) {
      c.local[e] = m[e].scope;
      c.engines |= UINT32_C(1) << e;
    }
  take_ends(b, &c);
  *out = (uint32_t)b->scopes.n;
  NSR_APPEND(b->ctx, NSR_SCRATCH, &b->scopes, c);
  return NSR_OK;
}

static enum nsr_status unify(struct build *b, uint32_t scope);

/* The body of a stretch with barriers: all work of each engine, then the
 * barriers, those that may meet together. */
static enum nsr_status lay_island(struct build *b, uint32_t scope) {
  const struct nsr_program *p = b->t->program;
  uint32_t last = NSR_NONE, start = (uint32_t)b->works.n;
  struct nsr_barriers all = {0};
  for (int e = 0; e < NSR_MAX_ENGINES; e++) {
    struct cursor cursor = {0};
    struct meet m = {.kind = AT_BARRIER};
    if (!p->stream[e])
      continue;
    while (m.kind != AT_END)
      NSR_TRY(advance(b, scope, e, &cursor, &m));
    NSR_TRY(
        nsr_barriers_add(b->ctx, b->t, e, b->scopes.v[scope].local[e], &all));
  }
  NSR_TRY(push_part(b, scope, &last,
                    (struct nsr_part){.kind = NSR_PART_SEGMENT,
                                      .first = start,
                                      .n = (uint32_t)b->works.n - start}));
  nsr_barriers_sort(&all);
  for (size_t i = 0; i < all.n;) {
    struct nsr_part part = {.kind = NSR_PART_BARRIER, .id = all.v[i].id};
    uint32_t turn = all.v[i].turn;
    for (int e = 0; e < NSR_MAX_ENGINES; e++)
      part.insn[e] = NSR_NONE;
    for (; i < all.n && all.v[i].id == part.id && all.v[i].turn == turn; i++)
      part.insn[all.v[i].engine] = all.v[i].insn;
    NSR_TRY(push_part(b, scope, &last, part));
  }
  return NSR_OK;
}

/* Elements of a segment that are one scope, by engine; NSR_NONE: not there. */
struct group {
  uint32_t elements[NSR_MAX_ENGINES];
};

static const struct nsr_scope *local_scope(const struct build *b,
                                           uint32_t element) {
  const struct nsr_work *w = &b->works.v[element];
  return &b->t->local[w->engine].scopes[w->nested];
}

/* The scope behind a group of elements, with its body. */
static enum nsr_status build_group(struct build *b, const struct group *g) {
  int first = 0;
  while (g->elements[first] == NSR_NONE)
    first++;
  const struct nsr_work *w = &b->works.v[g->elements[first]];
  const struct nsr_scope *s = local_scope(b, g->elements[first]);
  const struct nsr_common *up = &b->scopes.v[w->scope];
  uint32_t id = (uint32_t)b->scopes.n;
  struct nsr_common c = {.kind = s->kind,
                         .loops = s->kind == NSR_SCOPE_LOOP || up->loops,
                         .anchored = true,
                         .alike = up->alike,
                         .parent = w->scope,
                         .depth = up->depth + 1,
                         .first_part = NSR_NONE};
  for (int e = 0; e < NSR_MAX_ENGINES; e++) {
    c.elements[e] = g->elements[e];
    if (g->elements[e] == NSR_NONE)
      continue;
    c.engines |= UINT32_C(1) << e;
    c.local[e] = b->works.v[g->elements[e]].nested;
    b->works.v[g->elements[e]].nested = id;
  }
  take_ends(b, &c);
  if (c.engines & (c.engines - 1))
    NSR_PUSH(b->ctx, NSR_SCRATCH, &b->keys, s->key);
  NSR_APPEND(b->ctx, NSR_SCRATCH, &b->scopes, c);
  return unify(b, id);
}

/* How far ahead an engine's elements are compared. */
enum { LOOK_AHEAD = 32 };

/* The first element of an engine from *at on that is decided like `like`; *at
 * moves behind it. next: by work, from start on. */
static uint32_t find_like(const struct build *b, const struct nsr_scope *like,
                          const uint32_t *next, uint32_t start, uint32_t *at) {
  uint32_t w = *at;
  for (int seen = 0; w != NSR_NONE && seen < LOOK_AHEAD; seen++) {
    const struct nsr_scope *s = local_scope(b, w);
    if (s->key == like->key && s->kind == like->kind) {
      *at = next[w - start];
      return w;
    }
    w = next[w - start];
  }
  return NSR_NONE;
}

static bool any_elements(const struct build *b, uint32_t start) {
  for (size_t w = start; w < b->works.n; w++)
    if (b->works.v[w].nested != NSR_NONE)
      return true;
  return false;
}

/* Groups the elements of the works from start on; those of one engine keep
 * their order in every group: one in front of an element that has been grouped
 * stays alone. */
static enum nsr_status group_elements(struct build *b, uint32_t start,
                                      struct group **out, size_t *n) {
  uint32_t end = (uint32_t)b->works.n, at[NSR_MAX_ENGINES];
  uint32_t *next; /* by element: the next one of its engine */
  bool *grouped;
  NSR_VEC(struct group) v = {0};
  *n = 0;
  if (!any_elements(b, start))
    return NSR_OK;
  NSR_NEW(b->ctx, NSR_SCRATCH, grouped, end - start);
  NSR_NEW(b->ctx, NSR_SCRATCH, next, end - start);
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    at[e] = NSR_NONE;
  for (uint32_t w = end; w-- > start;) {
    const struct nsr_work *x = &b->works.v[w];
    if (x->nested == NSR_NONE)
      continue;
    next[w - start] = at[x->engine];
    at[x->engine] = w;
  }
  for (uint32_t w = start; w < end; w++) {
    if (b->works.v[w].nested == NSR_NONE || grouped[w - start])
      continue;
    struct group g;
    const struct nsr_scope *s = local_scope(b, w);
    for (int e = 0; e < NSR_MAX_ENGINES; e++) {
      bool later =
          s->key && e > b->works.v[w].engine && w >= at[b->works.v[w].engine];
      g.elements[e] = later ? find_like(b, s, next, start, &at[e]) : NSR_NONE;
      if (g.elements[e] != NSR_NONE)
        grouped[g.elements[e] - start] = true;
    }
    g.elements[b->works.v[w].engine] = w;
    NSR_PUSH(b->ctx, NSR_SCRATCH, &v, g);
  }
  *out = v.v;
  *n = v.n;
  return NSR_OK;
}

/* A segment of the works from start on, and the scopes in it. */
static enum nsr_status push_segment(struct build *b, uint32_t scope,
                                    uint32_t *last, uint32_t start) {
  struct group *groups;
  size_t n;
  NSR_TRY(push_part(b, scope, last,
                    (struct nsr_part){.kind = NSR_PART_SEGMENT,
                                      .first = start,
                                      .n = (uint32_t)b->works.n - start}));
  NSR_TRY(group_elements(b, start, &groups, &n));
  for (size_t i = 0; i < n; i++)
    NSR_TRY(build_group(b, &groups[i]));
  return NSR_OK;
}

/* The part behind a segment: a barrier or a nested scope. */
static enum nsr_status push_meeting(struct build *b, uint32_t scope,
                                    const struct meet m[NSR_MAX_ENGINES],
                                    int first, uint32_t *last) {
  const struct nsr_program *p = b->t->program;
  bool barrier = m[first].kind == AT_BARRIER;
  struct nsr_part part = {.kind = barrier ? NSR_PART_BARRIER : NSR_PART_SCOPE};
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    part.insn[e] = !p->stream[e] ? NSR_NONE : barrier ? m[e].insn : m[e].behind;
  if (barrier) {
    part.id = p->nodes[first][m[first].insn].aux;
    return push_part(b, scope, last, part);
  }
  uint32_t inner;
  NSR_TRY(push_scope(b, scope, m, first, &inner));
  part.first = inner;
  NSR_TRY(push_part(b, scope, last, part));
  return at_island(b, first, &m[first]) ? lay_island(b, inner)
                                        : unify(b, inner);
}

/* Lays one body: segment, meeting, segment, .. until all engines that run it
 * are done. */
static enum nsr_status unify(struct build *b, uint32_t scope) {
  struct cursor cursors[NSR_MAX_ENGINES] = {0};
  struct meet m[NSR_MAX_ENGINES] = {0};
  uint32_t last = NSR_NONE, engines = b->scopes.v[scope].engines;
  int first = 0;
  while (!(engines >> first & 1))
    first++;
  do {
    uint32_t start = (uint32_t)b->works.n;
    for (int e = first; e < NSR_MAX_ENGINES; e++)
      if (engines >> e & 1)
        NSR_TRY(advance(b, scope, e, &cursors[e], &m[e]));
    NSR_TRY(push_segment(b, scope, &last, start));
    if (b->scopes.v[scope].barrier)
      NSR_TRY(check_meeting(b, m, first));
    if (b->again)
      return NSR_OK;
    if (m[first].kind != AT_END)
      NSR_TRY(push_meeting(b, scope, m, first, &last));
  } while (m[first].kind != AT_END);
  b->scopes.v[scope].last = (uint32_t)b->scopes.n - 1;
  return NSR_OK;
}

/* How often what is not structured is collapsed, and the rest read anew. */
enum { MAX_ROUNDS = 32 };

static enum nsr_status build_engine(struct nsr_ctx *ctx,
                                    const struct nsr_program *p, int e,
                                    struct nsr_knots *knots,
                                    struct nsr_scopes *out) {
  for (int round = 0;; round++) {
    struct nsr_cfg *g;
    NSR_NEW(ctx, NSR_SCRATCH, g, 1);
    NSR_TRY(nsr_cfg_build(ctx, p, e, knots, g));
    size_t known = knots->n;
    NSR_TRY(nsr_scopes_build(ctx, g, out, knots));
    if (knots->n == known)
      return NSR_OK;
    if (round == MAX_ROUNDS)
      return nsr_refuse_knot(ctx, p, e, &knots->v[known]);
  }
}

/* Leaves of a round what the tree is: value numbers are many, and are done
 * with. */
static enum nsr_status keep(struct build *b, struct nsr_mark mark,
                            struct nsr_tree *out) {
  struct nsr_congruence *c = &out->congruence;
  NSR_TRY(nsr_congruence_keep(b->ctx, c, b->keys.v, b->keys.n));
  NSR_VEC_DONE(b->ctx, NSR_SCRATCH, &b->scopes, out->scopes);
  NSR_VEC_DONE(b->ctx, NSR_SCRATCH, &b->parts, out->parts);
  NSR_VEC_DONE(b->ctx, NSR_SCRATCH, &b->works, out->works);
  struct nsr_kept kept[] = {{out->scopes, out->nscopes * sizeof *out->scopes},
                            {out->parts, out->nparts * sizeof *out->parts},
                            {out->works, out->nworks * sizeof *out->works},
                            {c->loads, c->nloads * sizeof *c->loads},
                            {c->all, c->nall * sizeof *c->all}};
  NSR_TRY(nsr_scratch_release_but(b->ctx, mark, kept, 5));
  out->scopes = kept[0].p;
  out->parts = kept[1].p;
  out->works = kept[2].p;
  c->loads = kept[3].p;
  c->all = kept[4].p;
  c->nodes = NULL;
  return NSR_OK;
}

/* For what all engines have, if they share nothing. */
static enum nsr_status make_room(struct build *b) {
  const struct nsr_program *p = b->t->program;
  size_t works = 0, scopes = 0;
  for (int e = 0; e < NSR_MAX_ENGINES; e++) {
    if (!p->stream[e])
      continue;
    scopes += b->t->local[e].nscopes;
    for (uint32_t i = 0; i < p->stream[e]->n; i++)
      works += nsr_node_relevant(&p->nodes[e][i]);
  }
  NSR_REGROW(b->ctx, NSR_SCRATCH, &b->works, works);
  NSR_REGROW(b->ctx, NSR_SCRATCH, &b->scopes, scopes);
  NSR_REGROW(b->ctx, NSR_SCRATCH, &b->parts, scopes);
  return NSR_OK;
}

/* The engines' trees, and one of them; *again: what is to be collapsed for
 * that has been added to knots. */
static enum nsr_status build_round(struct nsr_ctx *ctx, int first, bool last,
                                   const struct nsr_key_loads *doubts,
                                   struct nsr_knots *knots,
                                   struct nsr_tree *out, bool *again) {
  const struct nsr_program *p = out->program;
  struct build b = {.ctx = ctx, .t = out, .knots = knots, .last_round = last};
  struct meet roots[NSR_MAX_ENGINES] = {0};
  uint32_t root;
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    if (p->stream[e])
      NSR_TRY(build_engine(ctx, p, e, &knots[e], &out->local[e]));
  struct nsr_mark mark = nsr_scratch_mark(ctx);
  NSR_TRY(nsr_congruence_find(ctx, out->local, doubts, &out->congruence));
  NSR_TRY(make_room(&b));
  NSR_TRY(push_scope(&b, NSR_NONE, roots, first, &root));
  NSR_TRY(unify(&b, root));
  *again = b.again;
  out->scopes = b.scopes.v;
  out->nscopes = (uint32_t)b.scopes.n;
  out->parts = b.parts.v;
  out->nparts = (uint32_t)b.parts.n;
  out->works = b.works.v;
  out->nworks = (uint32_t)b.works.n;
  return b.again ? NSR_OK : keep(&b, mark, out);
}

enum nsr_status nsr_tree_build(struct nsr_ctx *ctx, const struct nsr_program *p,
                               const struct nsr_key_loads *doubts,
                               struct nsr_tree *out) {
  struct nsr_knots knots[NSR_MAX_ENGINES] = {0};
  int first = 0;
  bool again = true;
  *out = (struct nsr_tree){.program = p};
  while (first < NSR_MAX_ENGINES && !p->stream[first])
    first++;
  if (first == NSR_MAX_ENGINES)
    return nsr_fail(ctx, NSR_E_REFUSED,
                    (struct nsr_place){.file = p->k->path, .insn = -1},
                    "the kernel has no engine with instructions");
  for (int round = 0; again; round++) {
    bool last = round == MAX_ROUNDS;
    NSR_TRY(build_round(ctx, first, last, doubts, knots, out, &again));
    if (!again)
      NSR_TRY(
          nsr_barriers_check_ids(ctx, out, first, last, &knots[first], &again));
  }
  return NSR_OK;
}

uint32_t nsr_tree_last_barrier(const struct nsr_tree *t) {
  uint32_t last = NSR_NONE;
  for (uint32_t p = t->scopes[0].first_part; p != NSR_NONE;
       p = t->parts[p].next) {
    const struct nsr_part *x = &t->parts[p];
    if (x->kind == NSR_PART_BARRIER)
      last = p;
    else if (x->kind == NSR_PART_SCOPE || x->n > 0)
      last = NSR_NONE;
  }
  return last;
}

enum nsr_status nsr_tree_exit(struct nsr_ctx *ctx, const struct nsr_tree *t,
                              uint32_t *part) {
  *part = nsr_tree_last_barrier(t);
  if (*part == NSR_NONE)
    return nsr_fail(ctx, NSR_E_REFUSED,
                    (struct nsr_place){.file = t->program->k->path, .insn = -1},
                    "no exit barrier: the kernel may end with work in flight "
                    "and semaphores that are not 0; put a sync in front of "
                    "its halts, or ask for one with --add-exit-barrier");
  return NSR_OK;
}
