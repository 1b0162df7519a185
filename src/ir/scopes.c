/* scopes.c - structure from a flow graph. */
#include "ir/scopes.h"

#include <assert.h>

#include "base/bitset.h"
#include "base/vec.h"

enum { MAX_DEPTH = 500 };

/* At each loop level the flow is acyclic once inner loops are single nodes
 * and ways back to the header or out of the loop lead to END. A node is a
 * block, nblocks + loop, or END. */
struct build {
  struct nsr_ctx *ctx;
  const struct nsr_cfg *g;
  uint32_t end;
  uint32_t *exit;   /* by loop: the block behind it; NSR_NONE: none yet */
  bool *many_exits; /* by loop */
  bool *low_exits;  /* by loop: left from other blocks than its header */
  uint32_t *pdom;   /* by node: immediate postdominator at its level */
  uint32_t *pdepth;
  uint32_t *scope_of;
  struct nsr_knots *knots;
  NSR_VEC(struct nsr_scope) scopes;
  NSR_VEC(struct nsr_item) items;
};

static enum nsr_status refuse(struct build *b, uint32_t block,
                              const char *why) {
  uint32_t last = b->g->blocks[block].first + b->g->blocks[block].n - 1;
  return nsr_fail(b->ctx, NSR_E_REFUSED,
                  nsr_program_place(b->g->program, b->g->engine, last), "%s",
                  why);
}

/* The node that stands for block s at a loop level. */
static uint32_t node_at(const struct build *b, uint32_t s, uint32_t level) {
  const struct nsr_cfg *g = b->g;
  if (s == NSR_NONE || !nsr_cfg_in_loop(g, s, level) ||
      (level != NSR_NONE && s == g->loops[level].header))
    return b->end;
  uint32_t l = g->blocks[s].loop;
  if (l == level)
    return s;
  while (g->loops[l].parent != level)
    l = g->loops[l].parent;
  return g->nblocks + l;
}

/* The successors of a node at its level, without doubles; how many. */
static int successors(const struct build *b, uint32_t node, uint32_t out[2]) {
  const struct nsr_cfg *g = b->g;
  if (node >= g->nblocks) {
    uint32_t l = node - g->nblocks;
    out[0] = node_at(b, b->exit[l], g->loops[l].parent);
    return 1;
  }
  const struct nsr_block *x = &g->blocks[node];
  out[0] = node_at(b, x->succ[0], x->loop);
  if (x->succ[1] == NSR_NONE)
    return 1;
  out[1] = node_at(b, x->succ[1], x->loop);
  return out[0] == out[1] ? 1 : 2;
}

static void find_exits(struct build *b) {
  const struct nsr_cfg *g = b->g;
  for (uint32_t l = 0; l < g->nloops; l++)
    b->exit[l] = NSR_NONE;
  for (uint32_t i = 0; i < g->norder; i++)
    for (int j = 0; j < 2; j++) {
      uint32_t s = g->blocks[g->order[i]].succ[j];
      uint32_t l = g->blocks[g->order[i]].loop;
      for (; s != NSR_NONE && l != NSR_NONE && !nsr_cfg_in_loop(g, s, l);
           l = g->loops[l].parent) {
        b->many_exits[l] |= b->exit[l] != NSR_NONE && b->exit[l] != s;
        b->low_exits[l] |= g->order[i] != g->loops[l].header;
        b->exit[l] = s;
      }
    }
}

/* Loops that are left to several places are knots of all their blocks, the
 * header first. */
static enum nsr_status push_loops(struct build *b) {
  const struct nsr_cfg *g = b->g;
  struct insns {
    NSR_VEC(uint32_t) v;
  } * of;
  NSR_NEW(b->ctx, NSR_SCRATCH, of, g->nloops);
  for (uint32_t i = 0; i < g->norder; i++) {
    const struct nsr_block *x = &g->blocks[g->order[i]];
    for (uint32_t l = x->loop; l != NSR_NONE; l = g->loops[l].parent)
      if (b->many_exits[l])
        NSR_PUSH(b->ctx, NSR_SCRATCH, &of[l].v, x->first);
  }
  for (uint32_t l = 0; l < g->nloops; l++)
    if (b->many_exits[l])
      NSR_PUSH(b->ctx, NSR_SCRATCH, b->knots,
               (struct nsr_knot){false, (uint32_t)of[l].v.n, of[l].v.v[0],
                                 of[l].v.v, "the loop",
                                 "is left to several places"});
  return NSR_OK;
}

static enum nsr_status check_exits(struct build *b) {
  bool many = false;
  for (uint32_t l = 0; l < b->g->nloops; l++) {
    if (b->exit[l] == NSR_NONE)
      return refuse(b, b->g->loops[l].header, "a loop without an exit");
    many |= b->many_exits[l];
  }
  return many ? push_loops(b) : NSR_OK;
}

static uint32_t meet(const struct build *b, uint32_t x, uint32_t y) {
  while (x != y) {
    if (b->pdepth[x] >= b->pdepth[y])
      x = b->pdom[x];
    else
      y = b->pdom[y];
  }
  return x;
}

static void postdominate(struct build *b, uint32_t node) {
  uint32_t s[2];
  int n = successors(b, node, s);
  uint32_t d = n == 2 ? meet(b, s[0], s[1]) : s[0];
  b->pdom[node] = d;
  b->pdepth[node] = b->pdepth[d] + 1;
}

/* Inner levels and later nodes come first: reverse postorder backwards, a
 * header before the node of its own loop. */
static void find_postdominators(struct build *b) {
  const struct nsr_cfg *g = b->g;
  b->pdom[b->end] = b->end;
  b->pdepth[b->end] = 0;
  for (uint32_t i = g->norder; i-- > 0;) {
    uint32_t x = g->order[i], l = g->blocks[x].loop;
    postdominate(b, x);
    if (l != NSR_NONE && g->loops[l].header == x)
      postdominate(b, g->nblocks + l);
  }
}

static uint32_t first_insn(const struct build *b, uint32_t node) {
  const struct nsr_cfg *g = b->g;
  uint32_t block =
      node < g->nblocks ? node : g->loops[node - g->nblocks].header;
  return g->blocks[block].first;
}

static enum nsr_status new_scope(struct build *b, uint8_t kind, uint32_t parent,
                                 uint32_t node, uint32_t *out) {
  *out = (uint32_t)b->scopes.n;
  uint32_t depth = parent == NSR_NONE ? 0 : b->scopes.v[parent].depth + 1;
  NSR_APPEND(
      b->ctx, NSR_SCRATCH, &b->scopes,
      (struct nsr_scope){.kind = kind,
                         .parent = parent,
                         .depth = depth,
                         .top_exit = kind == NSR_SCOPE_LOOP &&
                                     !b->low_exits[b->g->blocks[node].loop],
                         .entry = first_insn(b, node)});
  return NSR_OK;
}

static enum nsr_status walk(struct build *b, uint32_t scope, uint32_t node,
                            uint32_t stop);

/* A nested scope over node..stop. */
static enum nsr_status nest(struct build *b, uint8_t kind, uint32_t scope,
                            uint32_t node, uint32_t stop) {
  uint32_t inner;
  NSR_TRY(new_scope(b, kind, scope, node, &inner));
  if (b->scopes.v[inner].depth > MAX_DEPTH)
    return refuse(b, b->g->block_of[first_insn(b, node)],
                  "loops and conditionals nested more than 500 deep");
  NSR_APPEND(b->ctx, NSR_SCRATCH, &b->items,
             (struct nsr_item){true, scope, inner, 0});
  NSR_TRY(walk(b, inner, node, stop));
  b->scopes.v[inner].last = (uint32_t)b->scopes.n - 1;
  return NSR_OK;
}

/* How a block's edge j, which leads to END, ends an iteration. */
static uint8_t edge_ends(const struct build *b, uint32_t block, int j) {
  const struct nsr_block *x = &b->g->blocks[block];
  bool back = x->loop != NSR_NONE && x->succ[j] != NSR_NONE &&
              x->succ[j] == b->g->loops[x->loop].header;
  return back ? NSR_ENDS_BACK : NSR_ENDS_EXIT;
}

/* How the edges of a block that lead to END end an iteration. */
static uint8_t block_ends(const struct build *b, uint32_t block) {
  const struct nsr_block *x = &b->g->blocks[block];
  uint8_t ends = 0;
  for (int j = 0; j < 2; j++)
    if ((j == 0 || x->succ[j] != NSR_NONE) &&
        node_at(b, x->succ[j], x->loop) == b->end)
      ends |= edge_ends(b, block, j);
  return ends;
}

/* How the way out of loop l ends an iteration of the loop around it. */
static uint8_t loop_ends(const struct build *b, uint32_t l) {
  uint32_t up = b->g->loops[l].parent;
  bool back = up != NSR_NONE && b->exit[l] == b->g->loops[up].header;
  return back ? NSR_ENDS_BACK : NSR_ENDS_EXIT;
}

/* A block is reached on two ways: it and the branch where they part are a
 * knot. */
static enum nsr_status push_shared(struct build *b, uint32_t block,
                                   const char *what, const char *why) {
  const struct nsr_block *x = &b->g->blocks[block];
  uint32_t *insns;
  NSR_NEW(b->ctx, NSR_SCRATCH, insns, 2);
  insns[0] = x->first;
  insns[1] = b->g->blocks[x->idom].first + b->g->blocks[x->idom].n - 1;
  NSR_PUSH(b->ctx, NSR_SCRATCH, b->knots,
           (struct nsr_knot){false, 2, insns[0], insns, what, why});
  return NSR_OK;
}

/* The scope of a stretch. */
static enum nsr_status lay_stretch(struct build *b, uint32_t scope,
                                   uint32_t block) {
  const struct nsr_cfg *g = b->g;
  const struct nsr_stretch *s = &g->stretches[g->blocks[block].stretch];
  uint32_t inner;
  NSR_TRY(new_scope(b, NSR_SCOPE_ISLAND, scope, block, &inner));
  NSR_APPEND(b->ctx, NSR_SCRATCH, &b->items,
             (struct nsr_item){true, scope, inner, 0});
  for (uint32_t i = 0; i < s->nblocks; i++) {
    const struct nsr_block *x = &g->blocks[s->blocks[i]];
    b->scope_of[s->blocks[i]] = inner;
    NSR_APPEND(b->ctx, NSR_SCRATCH, &b->items,
               (struct nsr_item){false, inner, x->first, x->n});
  }
  b->scopes.v[inner].last = inner;
  return NSR_OK;
}

/* The arms of a block that branches. */
static enum nsr_status walk_arms(struct build *b, uint32_t scope,
                                 uint32_t block, const uint32_t s[2],
                                 uint32_t next) {
  for (int i = 0; i < 2; i++) {
    uint32_t arm = (uint32_t)b->scopes.n;
    if (s[i] == next)
      continue;
    NSR_TRY(nest(b, NSR_SCOPE_ARM, scope, s[i], next));
    b->scopes.v[arm].to_end = next == b->end;
    if (next == b->end)
      b->scopes.v[arm].skip = block_ends(b, block);
  }
  return NSR_OK;
}

static enum nsr_status walk_block(struct build *b, uint32_t scope,
                                  uint32_t block, uint32_t *next) {
  const struct nsr_block *x = &b->g->blocks[block];
  if (x->stretch != NSR_NONE) {
    NSR_TRY(lay_stretch(b, scope, block));
  } else {
    b->scope_of[block] = scope;
    NSR_APPEND(b->ctx, NSR_SCRATCH, &b->items,
               (struct nsr_item){false, scope, x->first, x->n});
  }
  uint32_t s[2];
  int n = successors(b, block, s);
  *next = n == 2 ? b->pdom[block] : s[0];
  if (*next == b->end)
    b->scopes.v[scope].ends = n == 1 ? block_ends(b, block) : 0;
  return n == 2 ? walk_arms(b, scope, block, s, *next) : NSR_OK;
}

static enum nsr_status walk_loop(struct build *b, uint32_t scope, uint32_t node,
                                 uint32_t *next) {
  uint32_t s[2], loop = node - b->g->nblocks;
  NSR_TRY(nest(b, NSR_SCOPE_LOOP, scope, b->g->loops[loop].header, b->end));
  successors(b, node, s);
  *next = s[0];
  if (*next == b->end)
    b->scopes.v[scope].ends = loop_ends(b, loop);
  return NSR_OK;
}

/* Lays the nodes from node up to stop into scope; what was laid before is left
 * as it is, a knot. */
static enum nsr_status walk(struct build *b, uint32_t scope, uint32_t node,
                            uint32_t stop) {
  const struct nsr_cfg *g = b->g;
  while (node != stop) {
    assert(node != b->end);
    bool loop = node >= g->nblocks;
    uint32_t block = loop ? g->loops[node - g->nblocks].header : node;
    if (b->scope_of[block] != NSR_NONE)
      return push_shared(b, block, loop ? "the loop" : "the code",
                         loop ? "is shared by two conditionals"
                              : "is shared by arms of conditionals");
    NSR_TRY(loop ? walk_loop(b, scope, node, &node)
                 : walk_block(b, scope, node, &node));
  }
  return NSR_OK;
}

/* Items in order of their scope; within one, as they were laid. */
static enum nsr_status sort_items(struct build *b, struct nsr_scopes *out,
                                  struct nsr_item **items) {
  struct nsr_item *sorted;
  NSR_NEW(b->ctx, NSR_SCRATCH, sorted, b->items.n);
  for (size_t i = 0; i < b->items.n; i++)
    b->scopes.v[b->items.v[i].scope].nitems++;
  uint32_t at = 0;
  for (size_t s = 0; s < b->scopes.n; s++) {
    b->scopes.v[s].first_item = at;
    at += b->scopes.v[s].nitems;
    b->scopes.v[s].nitems = 0;
  }
  for (size_t i = 0; i < b->items.n; i++) {
    struct nsr_scope *s = &b->scopes.v[b->items.v[i].scope];
    sorted[s->first_item + s->nitems++] = b->items.v[i];
  }
  out->items = *items = sorted;
  return NSR_OK;
}

/* What lies in the scopes, inner ones counted for outer ones too. */
static void mark_contents(const struct nsr_scopes *t) {
  const struct nsr_cfg *g = t->cfg;
  const struct nsr_node *nodes = g->program->nodes[g->engine];
  for (uint32_t s = t->nscopes; s-- > 0;) {
    struct nsr_scope *x = &t->scopes[s];
    x->first_id = INT32_MAX;
    for (uint32_t i = 0; i < x->nitems; i++) {
      const struct nsr_item *it = &t->items[x->first_item + i];
      if (it->is_scope) {
        x->barrier |= t->scopes[it->first].barrier;
        x->relevant |= t->scopes[it->first].relevant;
        if (t->scopes[it->first].first_id < x->first_id)
          x->first_id = t->scopes[it->first].first_id;
        continue;
      }
      for (uint32_t j = it->first; j < it->first + it->n; j++) {
        x->barrier |= nodes[j].cls == NSR_BARRIER;
        if (nodes[j].cls == NSR_BARRIER && nodes[j].aux < x->first_id)
          x->first_id = nodes[j].aux;
        x->relevant |= nsr_node_relevant(&nodes[j]);
        x->direct |=
            nodes[j].cls != NSR_BARRIER && nsr_node_relevant(&nodes[j]);
      }
    }
  }
}

/* Inner scopes have larger numbers. */
static void find_ways(const struct nsr_scopes *t) {
  for (uint32_t s = t->nscopes; s-- > 0;) {
    struct nsr_scope *x = &t->scopes[s];
    x->ways = x->ends;
    for (uint32_t i = 0; i < x->nitems; i++) {
      const struct nsr_item *it = &t->items[x->first_item + i];
      if (it->is_scope && t->scopes[it->first].to_end)
        x->ways |= t->scopes[it->first].ways | t->scopes[it->first].skip;
    }
    if (!x->ways)
      x->ways = NSR_ENDS_BACK | NSR_ENDS_EXIT;
  }
}

/* An arm that nobody looks at is a way past the other one. */
static void pass_by_plain(const struct nsr_scopes *t) {
  for (uint32_t s = 0; s < t->nscopes; s++)
    for (uint32_t i = 1; i < t->scopes[s].nitems; i++) {
      const struct nsr_item *it = &t->items[t->scopes[s].first_item + i];
      if (!it[0].is_scope || !it[-1].is_scope)
        continue;
      struct nsr_scope *x = &t->scopes[it[-1].first];
      struct nsr_scope *y = &t->scopes[it[0].first];
      if (!x->to_end || !y->to_end || x->relevant == y->relevant)
        continue;
      if (x->relevant)
        x->skip |= y->ways;
      else
        y->skip |= x->ways;
    }
}

/* Puts the arms of each branch in order. Items of arms follow the block that
 * branches, so two in a row are the arms of one. */
static void order_arms(const struct nsr_scopes *t, struct nsr_item *items) {
  for (uint32_t s = 0; s < t->nscopes; s++) {
    struct nsr_item *it = items + t->scopes[s].first_item;
    for (uint32_t i = 1; i < t->scopes[s].nitems; i++) {
      if (!it[i].is_scope || !it[i - 1].is_scope)
        continue;
      const struct nsr_scope *x = &t->scopes[it[i - 1].first];
      const struct nsr_scope *y = &t->scopes[it[i].first];
      if (x->kind != NSR_SCOPE_ARM || y->kind != NSR_SCOPE_ARM ||
          x->first_id <= y->first_id)
        continue;
      struct nsr_item swap = it[i];
      it[i] = it[i - 1];
      it[i - 1] = swap;
    }
  }
}

/* Searches scope s from its entry without passing a barrier: a loop is
 * anchored if its header cannot be reached again, an arm if its end cannot be
 * reached. seen[b] == s + 1 marks what this search has seen. */
static bool anchored(const struct nsr_scopes *t, uint32_t s,
                     const bool *has_barrier, uint32_t *seen, uint32_t *stack) {
  const struct nsr_cfg *g = t->cfg;
  bool loop = t->scopes[s].kind == NSR_SCOPE_LOOP;
  uint32_t start = g->block_of[t->scopes[s].entry], top = 0;
  stack[top++] = start;
  seen[start] = s + 1;
  while (top > 0) {
    uint32_t b = stack[--top];
    if (has_barrier[b])
      continue;
    for (int j = 0; j < 2; j++) {
      uint32_t x = g->blocks[b].succ[j];
      if (x == NSR_NONE)
        continue;
      bool inside = nsr_scope_in(t, t->scope_of[x], s);
      if (loop ? x == start : !inside)
        return false;
      if (inside && seen[x] != s + 1) {
        seen[x] = s + 1;
        stack[top++] = x;
      }
    }
  }
  return true;
}

static enum nsr_status mark_anchors(struct nsr_ctx *ctx,
                                    const struct nsr_scopes *t) {
  uint32_t n = t->cfg->nblocks;
  bool *has_barrier;
  uint32_t *seen, *stack;
  NSR_NEW(ctx, NSR_SCRATCH, has_barrier, n);
  NSR_NEW(ctx, NSR_SCRATCH, seen, n);
  NSR_NEW(ctx, NSR_SCRATCH, stack, n);
  for (uint32_t b = 0; b < n; b++)
    has_barrier[b] = t->cfg->blocks[b].stretch == NSR_NONE
                         ? nsr_cfg_has_barrier(t->cfg, b)
                         : t->cfg->stretches[t->cfg->blocks[b].stretch].barred;
  t->scopes[0].anchored = true;
  for (uint32_t s = 1; s < t->nscopes; s++)
    if (t->scopes[s].barrier)
      t->scopes[s].anchored = anchored(t, s, has_barrier, seen, stack);
  return NSR_OK;
}

static enum nsr_status prepare(struct build *b) {
  const struct nsr_cfg *g = b->g;
  uint32_t nodes = g->nblocks + g->nloops + 1;
  b->end = nodes - 1;
  NSR_NEW(b->ctx, NSR_SCRATCH, b->exit, g->nloops);
  NSR_NEW(b->ctx, NSR_SCRATCH, b->many_exits, g->nloops);
  NSR_NEW(b->ctx, NSR_SCRATCH, b->low_exits, g->nloops);
  NSR_NEW(b->ctx, NSR_SCRATCH, b->pdom, nodes);
  NSR_NEW(b->ctx, NSR_SCRATCH, b->pdepth, nodes);
  NSR_NEW(b->ctx, NSR_SCRATCH, b->scope_of, g->nblocks);
  for (uint32_t i = 0; i < g->nblocks; i++)
    b->scope_of[i] = NSR_NONE;
  find_exits(b);
  NSR_TRY(check_exits(b));
  find_postdominators(b);
  return NSR_OK;
}

/* From inner scopes to outer ones. */
static enum nsr_status find_sets(struct nsr_ctx *ctx, struct nsr_scopes *t) {
  const struct nsr_program *p = t->cfg->program;
  const struct nsr_node *nodes = p->nodes[t->cfg->engine];
  size_t words = nsr_bits_words(p->k->isa->registers);
  uint64_t *sets;
  NSR_NEW(ctx, NSR_SCRATCH, sets, t->nscopes * words);
  for (uint32_t s = t->nscopes; s-- > 0;) {
    const struct nsr_scope *x = &t->scopes[s];
    uint64_t *set = sets + s * words;
    for (uint32_t i = 0; i < x->nitems; i++) {
      const struct nsr_item *it = &t->items[x->first_item + i];
      for (uint32_t j = it->first; !it->is_scope && j < it->first + it->n; j++)
        if (nodes[j].dst >= 0)
          nsr_bit_set(set, (size_t)nodes[j].dst);
    }
    if (x->parent != NSR_NONE)
      nsr_bits_or(sets + x->parent * words, set, words);
  }
  t->sets = sets;
  return NSR_OK;
}

enum nsr_status nsr_scopes_build(struct nsr_ctx *ctx, const struct nsr_cfg *g,
                                 struct nsr_scopes *out,
                                 struct nsr_knots *knots) {
  struct build b = {.ctx = ctx, .g = g, .knots = knots};
  size_t known = knots->n;
  NSR_TRY(prepare(&b));
  if (knots->n > known)
    return NSR_OK;
  uint32_t root, first = node_at(&b, 0, NSR_NONE);
  NSR_TRY(new_scope(&b, NSR_SCOPE_PROGRAM, NSR_NONE, first, &root));
  NSR_TRY(walk(&b, root, first, b.end));
  if (knots->n > known)
    return NSR_OK;
  b.scopes.v[root].last = (uint32_t)b.scopes.n - 1;
  *out = (struct nsr_scopes){.cfg = g,
                             .nscopes = (uint32_t)b.scopes.n,
                             .scopes = b.scopes.v,
                             .scope_of = b.scope_of};
  struct nsr_item *items;
  NSR_TRY(sort_items(&b, out, &items));
  mark_contents(out);
  find_ways(out);
  pass_by_plain(out);
  order_arms(out, items);
  NSR_TRY(find_sets(ctx, out));
  return mark_anchors(ctx, out);
}

void nsr_scopes_sets(const struct nsr_scopes *t, uint32_t scope,
                     uint64_t *set) {
  size_t words = nsr_bits_words(t->cfg->program->k->isa->registers);
  nsr_bits_or(set, t->sets + scope * words, words);
}

/* One stretch of code, for nsr_scopes_odd. */
static void code_odd(const struct nsr_cfg *g, const struct nsr_item *it,
                     const bool *every, uint64_t *odd) {
  const struct nsr_node *nodes = g->program->nodes[g->engine];
  bool all = !every[g->block_of[it->first]];
  for (uint32_t i = it->first; i < it->first + it->n; i++)
    if (nodes[i].dst >= 0 && (all || nodes[i].cls != NSR_CONTROL))
      nsr_bit_set(odd, (size_t)nodes[i].dst);
}

void nsr_scopes_odd(const struct nsr_scopes *t, uint32_t scope,
                    const bool *every, uint64_t *odd) {
  for (uint32_t s = scope; s <= t->scopes[scope].last; s++)
    for (uint32_t i = 0; i < t->scopes[s].nitems; i++) {
      const struct nsr_item *it = &t->items[t->scopes[s].first_item + i];
      if (!it->is_scope)
        code_odd(t->cfg, it, every, odd);
    }
}
