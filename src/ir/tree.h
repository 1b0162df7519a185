/* tree.h - the common tree: what the engines walk together.
 *
 * The engines' scope trees unified (algorithm.md 2.2). A body is a list of
 * parts: segments (straight work of every engine, no barrier in it), barriers
 * and nested scopes. A scope with a barrier is common to all engines. One
 * without is common to those engines on which the same values decide it
 * (congruence.h), for the others private, and one element of its region's
 * order (theory-channels.md 6). Scopes without any work are not in the tree:
 * their code is control that stays as it is.
 */
#ifndef NSR_IR_TREE_H
#define NSR_IR_TREE_H

#include "ir/congruence.h"

/* An instruction that matters to order: datapath, load, or a control
 * instruction with a wait. Numbered in the reference order once
 * nsr_tree_linearize has run; engine by engine within a segment before, where
 * a private scope stands in its place as an element of its own. */
struct nsr_work {
  uint8_t engine;
  int8_t channel;  /* -1: control */
  bool marker;     /* none of the input: a no-op that may be put in front of
                      insn, behind all work of its channel in the private
                      scope, or the many scopes, before it */
  bool passes;     /* a control instruction that waits for others: once passed
                      known to its engine, and to the rest by a no-op behind
                      it, as whose channel counts the pipeline */
  bool island;     /* its region cannot be read: copied with its own wait and
                      update, between barriers that stay */
  uint32_t insn;   /* marker: NSR_NONE if there is no place for it */
  uint32_t arm;    /* marker: its engine's own arm, at the end of which it
                      stands although insn lies behind that; 0: none */
  uint32_t scope;  /* scope it lies directly in */
  uint32_t region; /* works of one scope with equal region: no barrier
                      between them within the body */
  uint32_t nested; /* until linearized: the private scope it stands for,
                      NSR_NONE: none */
};

enum nsr_part_kind { NSR_PART_SEGMENT, NSR_PART_BARRIER, NSR_PART_SCOPE };

/* Why the output has a barrier, too. */
enum nsr_keep {
  NSR_KEEP_NOT,
  NSR_KEEP_ISLAND, /* next to it is one */
  NSR_KEEP_OUTER,  /* it bounds counts */
  NSR_KEEP_ASKED,
  NSR_KEEP_PUBLISHED, /* a dependence has no published form */
  NSR_KEEP_OVERFLOW   /* counts of the loop could pass what a semaphore holds */
};

struct nsr_part {
  uint8_t kind;                   /* enum nsr_part_kind */
  uint8_t keep;                   /* barrier: enum nsr_keep */
  uint32_t why;                   /* NSR_KEEP_ISLAND: the trouble in there */
  uint32_t next;                  /* NSR_NONE: last of its body */
  uint32_t first, n;              /* segment: works; scope: first = it */
  int32_t id;                     /* barrier */
  uint32_t insn[NSR_MAX_ENGINES]; /* by engine: barrier: where; scope with one:
                                     what follows it, NSR_NONE: nothing in this
                                     body, or another arm of its branch */
};

/* Something that cannot be read, and makes its region an island. */
struct nsr_trouble {
  uint8_t engine;
  uint32_t insn;
  const char *what; /* "the wait on semaphore 4" .. */
  const char *why;  /* .. "has its threshold in a register" */
};

struct nsr_common {
  uint8_t kind;  /* enum nsr_scope_kind */
  bool barrier;  /* a barrier in it; false: an element of a region */
  bool loops;    /* it or a scope around it is a loop */
  bool anchored; /* on all its engines, so that its entries are numbered
                    alike; always where work lies directly in it */
  bool to_end;   /* arm: on all its engines nothing follows it in the body of
                    the loop */
  uint8_t skip, ends; /* as in nsr_scope, of all its engines together; ends
                         holds where the last part is no arm to_end */
  bool alike;      /* the same values decide it, and all around it, on all its
                      engines */
  uint32_t parent; /* NSR_NONE: the program */
  uint32_t last;   /* last scope of its subtree (numbered in preorder) */
  uint32_t depth;
  uint32_t first_part;
  uint32_t first_work, end_work; /* once linearized: the works of its subtree
                                    are first_work..end_work-1 */
  uint32_t body;                 /* once linearized: of a loop what each
                                    iteration enters that goes on: the rest
                                    behind its test, where that comes first,
                                    else the loop */
  uint32_t engines;              /* bit e: engine e runs it */
  uint32_t elements[NSR_MAX_ENGINES]; /* without a barrier, until linearized:
                                         the works that stand for it */
  uint32_t markers, nmarkers;         /* the works behind it, one a channel */
  uint32_t local[NSR_MAX_ENGINES];    /* the engines' own scopes */
};

struct nsr_tree {
  const struct nsr_program *program;
  struct nsr_scopes local[NSR_MAX_ENGINES];
  uint32_t nscopes, nparts, nworks;
  struct nsr_common *scopes;
  struct nsr_part *parts;
  struct nsr_work *works;
  struct nsr_congruence congruence; /* with the loads that scopes rest on */
  bool *taken;        /* by semaphore: islands use it; NULL: there are none */
  uint32_t ntroubles; /* of the islands; a region may have several */
  const struct nsr_trouble *troubles;
};

/* Not of a marker, nor of an element that stands for a scope. */
static inline const struct nsr_node *nsr_work_node(const struct nsr_tree *t,
                                                   const struct nsr_work *w) {
  return &t->program->nodes[w->engine][w->insn];
}
static inline struct nsr_place nsr_work_place(const struct nsr_tree *t,
                                              const struct nsr_work *w) {
  return nsr_program_place(t->program, w->engine, w->insn);
}
/* Whether common scope `inner` is `outer` or lies in it. */
static inline bool nsr_common_in(const struct nsr_tree *t, uint32_t inner,
                                 uint32_t outer) {
  return inner >= outer && inner <= t->scopes[outer].last;
}
/* Whether an engine runs a scope, and so can count its entries. */
static inline bool nsr_common_runs(const struct nsr_tree *t, uint32_t scope,
                                   int engine) {
  return t->scopes[scope].engines >> engine & 1;
}
/* Until linearized: whether w, which stands for a scope, is the first of the
 * elements that do. */
bool nsr_common_first(const struct nsr_tree *t, uint32_t w);

/* The innermost scope around both. */
static inline uint32_t nsr_common_shared(const struct nsr_tree *t, uint32_t a,
                                         uint32_t b) {
  while (!nsr_common_in(t, b, a))
    a = t->scopes[a].parent;
  return a;
}
/* The innermost loop that is or encloses a scope, NSR_NONE: none. */
static inline uint32_t nsr_common_loop(const struct nsr_tree *t,
                                       uint32_t scope) {
  while (scope != NSR_NONE && t->scopes[scope].kind != NSR_SCOPE_LOOP)
    scope = t->scopes[scope].parent;
  return scope;
}
/* Needs a program; makes the scope trees and unifies them. Barriers pair by
 * id and order; where they cannot, both places are named (NSR_E_FAULT).
 * Refuses scopes with a barrier that some engine may run differently. doubts:
 * as in nsr_congruence_find. */
NSR_MUST_USE enum nsr_status nsr_tree_build(struct nsr_ctx *ctx,
                                            const struct nsr_program *p,
                                            const struct nsr_key_loads *doubts,
                                            struct nsr_tree *out);

/* The exit barrier's part: the last of the program's body, with no work and
 * no scope behind it. NSR_NONE, and NSR_E_REFUSED, where there is none. */
uint32_t nsr_tree_last_barrier(const struct nsr_tree *t);
NSR_MUST_USE enum nsr_status
nsr_tree_exit(struct nsr_ctx *ctx, const struct nsr_tree *t, uint32_t *part);

struct nsr_islands;

/* Brings the works into the reference order: within each region a linear
 * extension of program order and of the waits (ties by engine, then
 * position), in which a private scope is one element; puts markers behind
 * private scopes and here and there in bodies of many scopes. (*before)[w] is
 * the work that w waits for, NSR_NONE: none; it is made anew along with works
 * and parts. A cycle is a hang of the input; where it leads through a private
 * scope, its region is one more island. Marks the islands (islands.h). */
NSR_MUST_USE enum nsr_status nsr_tree_linearize(struct nsr_ctx *ctx,
                                                struct nsr_tree *t,
                                                struct nsr_islands *islands,
                                                uint32_t **before);

#endif
