/* score.h - what a kernel does, in the reference order, as one flat list.
 *
 * The common tree of the input laid flat: loops and arms begin and end, work
 * issues, an engine waits or sets a register, a barrier is passed. A score is
 * made of the input (its own waits and barriers) or of the output: the same
 * works at the same places, and what was inserted in between. The proof only
 * ever walks scores (walk_score.h).
 */
#ifndef NSR_PROVE_SCORE_H
#define NSR_PROVE_SCORE_H

#include "base/vec.h"
#include "prove/erase.h"

enum nsr_step_kind {
  NSR_STEP_WORK,    /* datapath or load issues */
  NSR_STEP_WAIT,    /* an owned semaphore >= a threshold */
  NSR_STEP_SET,     /* a register gets a value */
  NSR_STEP_BARRIER, /* all engines meet; owned semaphores are 0 */
  NSR_STEP_GONE,    /* one of the input's that is no more */
  NSR_STEP_KEPT,    /* control that waits, in code whose order is not known */
  NSR_STEP_OTHER,   /* the arm ends here; what follows runs where it is passed
                       by */
  NSR_STEP_LOOP,    /* a body that runs any number of times */
  NSR_STEP_ARM,     /* one that may be passed by */
  NSR_STEP_END
};

struct nsr_step {
  uint8_t kind; /* enum nsr_step_kind */
  uint8_t engine;
  int8_t channel; /* work */
  bool is_reg;    /* wait: value is a register */
  bool load;      /* work: stalls its engine until it has retired */
  bool island;    /* work: in code whose order is not known */
  bool passes;    /* work: a control instruction that waits for others, known to
                     its engine at once */
  bool fence;     /* work: none, but stands behind a loop that `end` is, for all
                     of the channel in it */
  bool other;     /* wait: compares in another way than >= */
  int16_t dst;    /* set: the register */
  uint32_t insn;  /* in the kernel that the score is of */
  uint32_t work;  /* of the tree, NSR_NONE: inserted; scopes: the scope;
                     wait: of the work that carries it */
  uint32_t group; /* wait, work: by semaphore, NSR_NONE: none */
  int32_t value;  /* wait: threshold; work: weight; arm: the step of its other
                     way, 0: none */
  uint32_t end;   /* scopes: their end; end and other: its beginning */
  uint32_t member; /* work: its number among those of groups, or the next;
                      all others: the next one's */
};

/* By scope: the outermost loop without a barrier that is or encloses it,
 * NSR_NONE: none. */
NSR_MUST_USE enum nsr_status
nsr_free_loops(struct nsr_ctx *ctx, const struct nsr_tree *t, uint32_t **out);

/* What one semaphore counts from one barrier to the next: steps between which
 * there are ways without a barrier are of one region. */
struct nsr_count_group {
  uint16_t sem;
  uint32_t region;
  int8_t channel; /* -1: several, so that a count names no execution */
  bool bad;       /* not advanced by constants alone: nothing is known of it */
  uint32_t first, n; /* into nsr_score.by_group */
};

struct nsr_score {
  const struct nsr_tree *tree;
  const struct nsr_program *program; /* whose instructions the steps are */
  struct nsr_step *steps;
  uint32_t nsteps, nmembers, ngroups, nwaits;
  uint32_t *members;  /* steps, in order */
  uint32_t *by_group; /* members of each group, in order */
  uint32_t *region;   /* by step: that in front of it */
  struct nsr_count_group *groups;
  bool *to_end; /* by scope: an arm behind which nothing follows in the body of
                   the loop on any engine: its way ends as the scope's `ends`
                   says, the way past it as `skip` */
  bool *ended;  /* by scope: all ways through it end in such arms */
};

/* Needs a tree, linearized or not; makes the input's score. What a score lacks
 * (updates that are no counts) is not objected to here. */
NSR_MUST_USE enum nsr_status nsr_score_input(struct nsr_ctx *ctx,
                                             const struct nsr_tree *tree,
                                             struct nsr_score *out);

/* Needs the erasure; makes the output's score. Objects to semaphores that are
 * not advanced by one channel, or not by constants. */
NSR_MUST_USE enum nsr_status nsr_score_output(struct nsr_ctx *ctx,
                                              const struct nsr_erasure *e,
                                              struct nsr_score *out,
                                              struct nsr_proof *proof);

#endif
