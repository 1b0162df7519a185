/* tree.c - one tree out of several. */
#include "ir/tree.h"

#include <stdlib.h>

#include "base/vec.h"

/* Where an engine stands in a body. */
struct cursor {
  uint32_t item; /* within its scope */
  uint32_t at;   /* next instruction of a code item, 0: from its start */
};

/* What an engine meets next. */
struct meet {
  enum { AT_END, AT_BARRIER, AT_SCOPE } kind;
  uint32_t insn;  /* the barrier, or the scope's entry */
  uint32_t scope; /* the engine's own */
};

struct build {
  struct nsr_ctx *ctx;
  struct nsr_tree *t;
  NSR_VEC(struct nsr_common) scopes;
  NSR_VEC(struct nsr_part) parts;
  NSR_VEC(struct nsr_work) works;
};

uint32_t nsr_common_shared(const struct nsr_tree *t, uint32_t a, uint32_t b) {
  while (!nsr_common_in(t, b, a))
    a = t->scopes[a].parent;
  return a;
}

static enum nsr_status push_work(struct build *b, uint32_t scope, int engine,
                                 uint32_t insn) {
  const struct nsr_node *n = &b->t->program->nodes[engine][insn];
  NSR_PUSH(b->ctx, NSR_SCRATCH, &b->works,
           (struct nsr_work){.engine = (uint8_t)engine,
                             .channel = n->channel,
                             .insn = insn,
                             .scope = scope,
                             .part = (uint32_t)b->parts.n});
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
      *out = (struct meet){AT_SCOPE, own->scopes[it->first].entry, it->first};
      c->item++;
      return NSR_OK;
    }
    for (uint32_t i = it->first + c->at; i < it->first + it->n; i++) {
      const struct nsr_node *n = &b->t->program->nodes[engine][i];
      if (n->cls == NSR_BARRIER) {
        *out = (struct meet){AT_BARRIER, i, 0};
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

/* An else-arm: two arms of one branch, with work in both. */
static enum nsr_status refuse_else(struct build *b, int engine,
                                   uint32_t scope) {
  const struct nsr_scopes *own = &b->t->local[engine];
  const struct nsr_scope *s = &own->scopes[scope];
  const struct nsr_item *it = own->items + s->first_item;
  for (uint32_t i = 1; i < s->nitems; i++) {
    if (!it[i].is_scope || !it[i - 1].is_scope)
      continue;
    const struct nsr_scope *x = &own->scopes[it[i - 1].first];
    const struct nsr_scope *y = &own->scopes[it[i].first];
    if (x->kind == NSR_SCOPE_ARM && y->kind == NSR_SCOPE_ARM && x->relevant &&
        y->relevant)
      return nsr_fail(b->ctx, NSR_E_REFUSED,
                      nsr_program_place(b->t->program, engine, y->entry),
                      "a conditional with work in both arms is not read yet; "
                      "its barriers would have to stay");
  }
  return NSR_OK;
}

static const char *scope_word(enum nsr_scope_kind kind) {
  return kind == NSR_SCOPE_LOOP ? "loop" : "conditional";
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

/* A scope that a barrier does not tie to the other engines. */
static enum nsr_status check_scope(struct build *b, int engine,
                                   const struct meet *m) {
  const struct nsr_scope *s = &b->t->local[engine].scopes[m->scope];
  struct nsr_place place = nsr_program_place(b->t->program, engine, m->insn);
  const char *word = scope_word(s->kind);
  if (!s->barrier)
    return nsr_fail(b->ctx, NSR_E_REFUSED, place,
                    "a %s with work but no barrier in it is not read yet: "
                    "other engines cannot count its entries",
                    word);
  return refuse_else(b, engine, m->scope);
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
  return nsr_fail(b->ctx, NSR_E_REFUSED,
                  nsr_program_place(p, loose, m[loose].insn),
                  "a %s with a way through it that passes no barrier: the "
                  "engines cannot be shown to run it equally often",
                  scope_word(s->kind));
}

/* All engines must meet the same thing. */
static enum nsr_status check_meeting(struct build *b,
                                     const struct meet m[NSR_MAX_ENGINES],
                                     int first) {
  const struct nsr_program *p = b->t->program;
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    if (p->stream[e] && m[e].kind == AT_SCOPE)
      NSR_TRY(check_scope(b, e, &m[e]));
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
  NSR_PUSH(b->ctx, NSR_SCRATCH, &b->parts, part);
  if (*last == NSR_NONE)
    b->scopes.v[scope].first_part = id;
  else
    b->parts.v[*last].next = id;
  *last = id;
  return NSR_OK;
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
  c.loops = s->kind == NSR_SCOPE_LOOP || (up && up->loops);
  NSR_TRY(check_anchors(b, m, &c.anchored));
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    if (p->stream[e])
      c.local[e] = m[e].scope;
  *out = (uint32_t)b->scopes.n;
  NSR_PUSH(b->ctx, NSR_SCRATCH, &b->scopes, c);
  return NSR_OK;
}

static enum nsr_status unify(struct build *b, uint32_t scope, int first);

/* The part behind a segment: a barrier or a nested scope. */
static enum nsr_status push_meeting(struct build *b, uint32_t scope,
                                    const struct meet m[NSR_MAX_ENGINES],
                                    int first, uint32_t *last) {
  const struct nsr_program *p = b->t->program;
  if (m[first].kind == AT_BARRIER) {
    struct nsr_part part = {.kind = NSR_PART_BARRIER,
                            .id = p->nodes[first][m[first].insn].aux};
    for (int e = 0; e < NSR_MAX_ENGINES; e++)
      part.insn[e] = p->stream[e] ? m[e].insn : NSR_NONE;
    return push_part(b, scope, last, part);
  }
  uint32_t inner;
  NSR_TRY(push_scope(b, scope, m, first, &inner));
  NSR_TRY(push_part(b, scope, last,
                    (struct nsr_part){.kind = NSR_PART_SCOPE, .first = inner}));
  return unify(b, inner, first);
}

/* Lays one body: segment, meeting, segment, .. until all engines are done. */
static enum nsr_status unify(struct build *b, uint32_t scope, int first) {
  struct cursor cursors[NSR_MAX_ENGINES] = {0};
  struct meet m[NSR_MAX_ENGINES] = {0};
  uint32_t last = NSR_NONE;
  do {
    uint32_t start = (uint32_t)b->works.n;
    for (int e = first; e < NSR_MAX_ENGINES; e++)
      if (b->t->program->stream[e])
        NSR_TRY(advance(b, scope, e, &cursors[e], &m[e]));
    NSR_TRY(push_part(b, scope, &last,
                      (struct nsr_part){.kind = NSR_PART_SEGMENT,
                                        .first = start,
                                        .n = (uint32_t)b->works.n - start}));
    NSR_TRY(check_meeting(b, m, first));
    if (m[first].kind != AT_END)
      NSR_TRY(push_meeting(b, scope, m, first, &last));
  } while (m[first].kind != AT_END);
  b->scopes.v[scope].last = (uint32_t)b->scopes.n - 1;
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

struct place_id {
  int32_t id;
  uint32_t part;
  bool once; /* directly in the program's body */
};

static int by_id(const void *a, const void *b) {
  const struct place_id *x = a, *y = b;
  if (x->id != y->id)
    return x->id < y->id ? -1 : 1;
  return x->part < y->part ? -1 : x->part > y->part;
}

/* Places that share an id pair up without fault however often each engine
 * passes them, unless each is passed exactly once (theory-channels.md 0). */
static enum nsr_status check_ids(struct nsr_ctx *ctx, const struct nsr_tree *t,
                                 int first) {
  NSR_VEC(struct place_id) ids = {0};
  for (uint32_t s = 0; s < t->nscopes; s++)
    for (uint32_t p = t->scopes[s].first_part; p != NSR_NONE;
         p = t->parts[p].next)
      if (t->parts[p].kind == NSR_PART_BARRIER)
        NSR_PUSH(ctx, NSR_SCRATCH, &ids,
                 (struct place_id){t->parts[p].id, p, s == 0});
  if (ids.n)
    qsort(ids.v, ids.n, sizeof *ids.v, by_id);
  for (size_t i = 1; i < ids.n; i++) {
    const struct place_id *x = &ids.v[i - 1], *y = &ids.v[i];
    if (x->id == y->id && !(x->once && y->once))
      return nsr_fail(
          ctx, NSR_E_REFUSED,
          nsr_program_place(t->program, first, t->parts[y->part].insn[first]),
          "barrier id %d stands at two places (also at "
          "instruction %u): the engines cannot be shown to run "
          "the scopes around them equally often; give each place "
          "its own id",
          (int)x->id, t->parts[x->part].insn[first]);
  }
  return NSR_OK;
}

static enum nsr_status build_local(struct nsr_ctx *ctx,
                                   const struct nsr_program *p,
                                   struct nsr_tree *t) {
  for (int e = 0; e < NSR_MAX_ENGINES; e++) {
    if (!p->stream[e])
      continue;
    struct nsr_cfg *g;
    NSR_NEW(ctx, NSR_SCRATCH, g, 1);
    NSR_TRY(nsr_cfg_build(ctx, p, e, g));
    NSR_TRY(nsr_scopes_build(ctx, g, &t->local[e]));
  }
  return NSR_OK;
}

enum nsr_status nsr_tree_build(struct nsr_ctx *ctx, const struct nsr_program *p,
                               struct nsr_tree *out) {
  *out = (struct nsr_tree){.program = p};
  int first = 0;
  while (first < NSR_MAX_ENGINES && !p->stream[first])
    first++;
  if (first == NSR_MAX_ENGINES)
    return nsr_fail(ctx, NSR_E_REFUSED,
                    (struct nsr_place){.file = p->k->path, .insn = -1},
                    "the kernel has no engine with instructions");
  NSR_TRY(build_local(ctx, p, out));
  struct build b = {.ctx = ctx, .t = out};
  struct meet roots[NSR_MAX_ENGINES] = {0};
  uint32_t root;
  for (int e = first; e < NSR_MAX_ENGINES; e++)
    if (p->stream[e])
      NSR_TRY(refuse_else(&b, e, 0));
  NSR_TRY(push_scope(&b, NSR_NONE, roots, first, &root));
  NSR_TRY(unify(&b, root, first));
  out->scopes = b.scopes.v;
  out->nscopes = (uint32_t)b.scopes.n;
  out->parts = b.parts.v;
  out->nparts = (uint32_t)b.parts.n;
  out->works = b.works.v;
  out->nworks = (uint32_t)b.works.n;
  number_regions(out);
  return check_ids(ctx, out, first);
}

enum nsr_status nsr_tree_exit(struct nsr_ctx *ctx, const struct nsr_tree *t,
                              uint32_t *part) {
  uint32_t last = NSR_NONE;
  for (uint32_t p = t->scopes[0].first_part; p != NSR_NONE;
       p = t->parts[p].next) {
    const struct nsr_part *x = &t->parts[p];
    if (x->kind == NSR_PART_BARRIER)
      last = p;
    else if (x->kind == NSR_PART_SCOPE || x->n > 0)
      last = NSR_NONE;
  }
  *part = last;
  if (last == NSR_NONE)
    return nsr_fail(ctx, NSR_E_REFUSED,
                    (struct nsr_place){.file = t->program->k->path, .insn = -1},
                    "no exit barrier: the kernel may end with work in flight "
                    "and semaphores that are not 0; put a sync in front of "
                    "its halts");
  return NSR_OK;
}

/* ---- reference order within a segment */

struct order {
  const struct nsr_tree *t;
  uint32_t first, n;
  const uint32_t *before;
  uint32_t *sorted; /* old numbers in new order */
  uint32_t *new_of; /* by old number; NSR_NONE: not placed yet */
  uint32_t placed;
  uint32_t next[NSR_MAX_ENGINES], end[NSR_MAX_ENGINES];
};

/* Places works of engine e until one waits for a work of this segment that
 * is not placed yet; whether any was placed. */
static bool run_engine(struct order *o, int e) {
  bool any = false;
  for (; o->next[e] < o->end[e]; o->next[e]++, any = true) {
    uint32_t w = o->next[e], p = o->before[w];
    bool here = p != NSR_NONE && p - o->first < o->n;
    if (here && o->new_of[p] == NSR_NONE)
      return any;
    o->new_of[w] = o->first + o->placed;
    o->sorted[o->first + o->placed++] = w;
  }
  return any;
}

static enum nsr_status order_segment(struct nsr_ctx *ctx, struct order *o) {
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    o->next[e] = o->end[e] = 0;
  for (uint32_t w = o->first; w < o->first + o->n; w++) {
    int e = o->t->works[w].engine;
    if (o->end[e] == 0)
      o->next[e] = w;
    o->end[e] = w + 1;
  }
  o->placed = 0;
  for (bool any = true; any && o->placed < o->n;) {
    any = false;
    for (int e = 0; e < NSR_MAX_ENGINES; e++)
      any |= run_engine(o, e);
  }
  if (o->placed == o->n)
    return NSR_OK;
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    if (o->next[e] < o->end[e])
      return nsr_fail(ctx, NSR_E_HANG,
                      nsr_work_place(o->t, &o->t->works[o->next[e]]),
                      "the input hangs here: the waits of this region form a "
                      "cycle");
  return NSR_OK;
}

enum nsr_status nsr_tree_linearize(struct nsr_ctx *ctx, struct nsr_tree *t,
                                   uint32_t *before) {
  struct order o = {.t = t, .before = before};
  struct nsr_work *works;
  uint32_t *again;
  NSR_NEW(ctx, NSR_SCRATCH, o.sorted, t->nworks);
  NSR_NEW(ctx, NSR_SCRATCH, o.new_of, t->nworks);
  NSR_NEW(ctx, NSR_SCRATCH, works, t->nworks);
  NSR_NEW(ctx, NSR_SCRATCH, again, t->nworks);
  for (uint32_t w = 0; w < t->nworks; w++)
    o.new_of[w] = NSR_NONE;
  for (uint32_t p = 0; p < t->nparts; p++) {
    if (t->parts[p].kind != NSR_PART_SEGMENT)
      continue;
    o.first = t->parts[p].first;
    o.n = t->parts[p].n;
    NSR_TRY(order_segment(ctx, &o));
  }
  for (uint32_t i = 0; i < t->nworks; i++) {
    uint32_t w = o.sorted[i], p = before[w];
    works[i] = t->works[w];
    again[i] = p == NSR_NONE ? NSR_NONE : o.new_of[p];
  }
  for (uint32_t i = 0; i < t->nworks; i++) {
    t->works[i] = works[i];
    before[i] = again[i];
  }
  return NSR_OK;
}
