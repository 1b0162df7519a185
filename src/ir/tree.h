/* tree.h - the common tree: what all engines walk together.
 *
 * The engines' scope trees unified (algorithm.md 2.2). A body is a list of
 * parts: segments (straight work of every engine, no barrier in it), barriers
 * and nested scopes. Scopes without any work are not in it: their code is
 * control that stays as it is.
 */
#ifndef NSR_IR_TREE_H
#define NSR_IR_TREE_H

#include "ir/scopes.h"

/* An instruction that matters to order: datapath, load, or a control
 * instruction with a wait. Numbered in the reference order once
 * nsr_tree_linearize has run; engine by engine within a segment before. */
struct nsr_work {
  uint8_t engine;
  int8_t channel; /* -1: control */
  uint32_t insn;
  uint32_t scope;  /* common scope it lies directly in */
  uint32_t part;   /* its segment */
  uint32_t region; /* works of one scope with equal region: no barrier
                      between them within the body */
};

enum nsr_part_kind { NSR_PART_SEGMENT, NSR_PART_BARRIER, NSR_PART_SCOPE };

struct nsr_part {
  uint8_t kind;                   /* enum nsr_part_kind */
  uint32_t next;                  /* NSR_NONE: last of its body */
  uint32_t first, n;              /* segment: works; scope: first = it */
  int32_t id;                     /* barrier */
  uint32_t insn[NSR_MAX_ENGINES]; /* barrier: where, by engine */
};

struct nsr_common {
  uint8_t kind;    /* enum nsr_scope_kind */
  bool barrier;    /* a barrier in it */
  bool loops;      /* it or a scope around it is a loop */
  bool anchored;   /* on all engines, so that its entries are numbered alike;
                      always where work lies directly in it */
  uint32_t parent; /* NSR_NONE: the program */
  uint32_t last;   /* last scope of its subtree (numbered in preorder) */
  uint32_t depth;
  uint32_t first_part;
  uint32_t local[NSR_MAX_ENGINES]; /* the engines' own scopes */
};

struct nsr_tree {
  const struct nsr_program *program;
  struct nsr_scopes local[NSR_MAX_ENGINES];
  uint32_t nscopes, nparts, nworks;
  struct nsr_common *scopes;
  struct nsr_part *parts;
  struct nsr_work *works;
};

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
/* The innermost scope around both. */
uint32_t nsr_common_shared(const struct nsr_tree *t, uint32_t a, uint32_t b);

/* Needs a program; makes the scope trees and unifies them. Barriers pair by
 * id and order; where they cannot, both places are named (NSR_E_FAULT).
 * Refuses scopes that some engine may run differently. */
NSR_MUST_USE enum nsr_status nsr_tree_build(struct nsr_ctx *ctx,
                                            const struct nsr_program *p,
                                            struct nsr_tree *out);

/* The exit barrier's part: the last of the program's body, with no work and
 * no scope behind it. NSR_E_REFUSED where there is none. */
NSR_MUST_USE enum nsr_status
nsr_tree_exit(struct nsr_ctx *ctx, const struct nsr_tree *t, uint32_t *part);

/* Brings the works of each segment into the reference order: a linear
 * extension of program order and of the waits within the segment (ties by
 * engine, then position). before[w] is the work that w waits for, NSR_NONE:
 * none; it is renumbered along. A cycle is a hang of the input. */
NSR_MUST_USE enum nsr_status
nsr_tree_linearize(struct nsr_ctx *ctx, struct nsr_tree *t, uint32_t *before);

#endif
