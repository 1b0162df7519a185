/* scopes.h - the scope tree of one stream.
 *
 * A scope is the program, a loop (entered once per iteration of its header)
 * or an arm of a conditional. Scopes are numbered in preorder: the subtree of
 * s is s..last. A loop that tests on top or in the middle is a loop over its
 * header whose rest is an arm inside it (algorithm.md 2.1).
 */
#ifndef NSR_IR_SCOPES_H
#define NSR_IR_SCOPES_H

#include "ir/cfg.h"

/* An island is a stretch of the graph (cfg.h): code without structure that
 * runs where it is reached, its blocks listed as they stand in the stream. */
enum nsr_scope_kind {
  NSR_SCOPE_PROGRAM,
  NSR_SCOPE_LOOP,
  NSR_SCOPE_ARM,
  NSR_SCOPE_ISLAND
};

/* How a way through a loop's body ends. */
enum { NSR_ENDS_BACK = 1, NSR_ENDS_EXIT = 2 };

struct nsr_scope {
  uint8_t kind;     /* enum nsr_scope_kind */
  bool barrier;     /* a barrier somewhere in it */
  bool relevant;    /* anything but plain control somewhere in it */
  bool top_exit;    /* loop: left from its header only */
  bool direct;      /* work directly in it, not in a nested scope */
  bool anchored;    /* each entry that ends passes a barrier: for a loop each
                       way back to its header, for an arm each way through */
  bool to_end;      /* arm: nothing follows it in the loop's body */
  uint8_t skip;     /* arm to_end: how the way past it ends (NSR_ENDS_*), 0: it
                       is the other arm, with work in it */
  uint8_t ends;     /* loop, arm to_end: how the way through it ends; 0: in
                       arms */
  uint8_t ways;     /* how any way through it ends, those of its arms too */
  int32_t first_id; /* smallest barrier id in it, INT32_MAX: none */
  uint32_t key; /* what decides it, equal on engines that decide alike; 0: not
                   comparable (congruence.h) */
  uint32_t parent; /* NSR_NONE: the program */
  uint32_t last;   /* last scope of its subtree */
  uint32_t depth;  /* 0: the program */
  uint32_t entry;  /* instruction in front of which an entry is counted */
  uint32_t first_item, nitems;
};

/* What a body holds, in order: straight code or a nested scope. The two arms
 * of a branch follow each other, the one with the smaller barrier id first,
 * so that engines with different layouts agree. */
struct nsr_item {
  bool is_scope;
  uint32_t scope;    /* the scope it lies in */
  uint32_t first, n; /* instructions; or first = the nested scope */
};

struct nsr_scopes {
  const struct nsr_cfg *cfg;
  uint32_t nscopes;
  struct nsr_scope *scopes;
  const struct nsr_item *items;
  const uint32_t *scope_of; /* by block, NSR_NONE: unreachable */
  const uint64_t *sets;     /* by scope: the registers set in it, a bit each */
};

/* Whether scope `inner` is `outer` or lies in it. */
static inline bool nsr_scope_in(const struct nsr_scopes *t, uint32_t inner,
                                uint32_t outer) {
  return inner >= outer && inner <= t->scopes[outer].last;
}

/* Whether item i of a scope, an arm, is the first of two of its branch. */
static inline bool nsr_scopes_two_arms(const struct nsr_scopes *t,
                                       const struct nsr_scope *s, uint32_t i) {
  const struct nsr_item *next = &t->items[s->first_item + i + 1];
  return i + 1 < s->nitems && next->is_scope &&
         t->scopes[next->first].kind == NSR_SCOPE_ARM;
}

/* Needs a graph; makes the tree from natural loops and postdominators per loop
 * level. What is not structured is added to knots, and the tree then worth
 * nothing: loops with several exit targets, and arms that are entered from
 * elsewhere. Refuses loops without an exit, and scopes that are too deep. */
NSR_MUST_USE enum nsr_status nsr_scopes_build(struct nsr_ctx *ctx,
                                              const struct nsr_cfg *g,
                                              struct nsr_scopes *out,
                                              struct nsr_knots *knots);

/* The stretch that an island is. */
static inline const struct nsr_stretch *
nsr_scope_stretch(const struct nsr_scopes *t, uint32_t island) {
  const struct nsr_cfg *g = t->cfg;
  uint32_t block = g->block_of[t->scopes[island].entry];
  return &g->stretches[g->blocks[block].stretch];
}

/* Adds to set the registers that a scope's subtree sets. */
void nsr_scopes_sets(const struct nsr_scopes *t, uint32_t scope, uint64_t *set);
/* The same of those set by loads, or by code outside the blocks of `every`: not
 * by the same operations in each iteration. */
void nsr_scopes_odd(const struct nsr_scopes *t, uint32_t scope,
                    const bool *every, uint64_t *odd);

#endif
