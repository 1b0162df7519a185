/* plan.h - what the output does about every wait: counter groups,
 * semaphores, mirrors, thresholds (algorithm.md 4).
 *
 * Each member of a group (count.h) advances the group's semaphore when it
 * retires. A waiting engine keeps a mirror: a register that it advances, at
 * the entry of each scope, by what an entry adds to the group; a threshold is
 * the mirror less a constant. A barrier that stays sets the semaphores to 0,
 * so behind it every engine sets its mirrors anew: to what the bodies around
 * the barrier still add.
 */
#ifndef NSR_SYNC_PLAN_H
#define NSR_SYNC_PLAN_H

#include <nsr/rewrite.h>

#include "dep/known.h"
#include "sync/padded.h"
#include "sync/resets.h"
#include "sync/select.h"

/* What there is too little of: semaphores, or registers of the engine that
 * lacks most. */
struct nsr_lack {
  bool any;
  int engine; /* -1: semaphores */
  uint32_t want, have;
};

/* What a mirror is advanced by, or set to, at an entry of scope. */
struct nsr_plan_step {
  uint32_t scope;
  int32_t add;
  bool set;
};

/* How mirrors of a class go: groups that advance alike share them. */
struct nsr_plan_class {
  uint32_t first_step, nsteps;
  int32_t start;        /* in the prologue */
  bool lasts;           /* not set anew behind barriers that stay */
  const int32_t *reset; /* by barrier that stays: behind it */
};

/* A register that counts as its class says, less a constant. */
struct nsr_mirror {
  uint8_t engine;
  int16_t reg;
  uint32_t class;
  int32_t less;
  uint32_t set_at; /* the loop in front of which it begins; NSR_NONE: in the
                      prologue */
};

/* A no-op that counts where a group lacks members: at the entries of a scope,
 * or behind a barrier that stays. */
struct nsr_plan_marker {
  int8_t channel;
  uint16_t sem;
  uint32_t scope;
  uint32_t reset; /* NSR_NONE: at entry of scope */
  int32_t weight;
};

/* An operation that goes into a threshold: dst = a ctl b. */
struct nsr_plan_op {
  uint8_t ctl; /* enum nsr_ctl */
  int16_t dst;
  struct nsr_val a, b;
};

/* What a mirror was, less a constant, at the latest starts of iterations of a
 * loop (theory-channels.md 7.1): regs[0] at that of this one; or (entry) in
 * front of the loop. All are 0 before the first. */
struct nsr_plan_snapshot {
  uint8_t engine;
  bool entry;
  uint32_t mirror;
  int32_t less;
  uint32_t of, body; /* the loop, and the scope at whose entry it starts */
  uint32_t n;
  int16_t regs[NSR_MAX_BACK];
};

/* One wait of the output, in front of or on work c. */
struct nsr_plan_wait {
  uint32_t c, p; /* waits for p */
  uint32_t lag;
  uint16_t sem;
  bool is_reg;
  int32_t value;   /* immediate threshold */
  uint32_t mirror; /* register threshold: mirrors[mirror] - less */
  int32_t less;
  bool again;    /* .. which is in the scratch register from the wait before */
  uint32_t back; /* above 0: snapshots[snapshot].regs[back - 1] is the
                    threshold, of iterations of loop `of`; NSR_AT_ENTRY: of its
                    entry, in regs[0] */
  uint32_t snapshot, of;
  uint32_t at;             /* loop in front of which it waits once for all
                              iterations; NSR_NONE: at c */
  uint32_t first_op, nops; /* or, if there are operations, the last one's */
};

struct nsr_plan {
  const struct nsr_tree *tree;
  const int32_t *update; /* by work: the semaphore it advances, -1: none */
  const int32_t *weight; /* by work: by how much */
  uint32_t nwaits, nmirrors, nsteps, nclasses, nmarkers, nsems, nsnapshots;
  uint32_t npads;
  int64_t largest;      /* most that a semaphore gains while each scope that is
                           counted is entered once */
  struct nsr_lack lack; /* any: it does not fit, and nothing else is set */
  uint64_t most;        /* that a semaphore can come to; NSR_ENDLESS: nobody
                           knows (bounds.h) */
  const char *scheme;   /* "per-loop", .. */
  const struct nsr_plan_wait *waits; /* by c; those in front of loops last */
  const struct nsr_mirror *mirrors;  /* by engine, then class */
  const struct nsr_plan_snapshot *snapshots; /* by engine */
  const struct nsr_plan_class *classes;
  const struct nsr_plan_step *steps;
  const struct nsr_plan_op *ops;
  const struct nsr_plan_marker *markers;
  const struct nsr_pad *pads; /* by scope */
  struct nsr_resets resets;
  int16_t temp[NSR_MAX_ENGINES]; /* scratch register; NSR_NO_REG: a mirror that
                                    is not the threshold is made it, and then
                                    as before */
  uint32_t registers[NSR_MAX_ENGINES]; /* fresh ones used */
};

/* Budgets: fresh registers per engine and semaphores, at most; UINT32_MAX: all
 * there are. */
struct nsr_budget {
  uint32_t registers, semaphores;
  enum nsr_scheme scheme;
  enum nsr_scheme published; /* of PUBLISHED */
};

/* Needs the waits; allocates. Where nothing fits, out->lack says what is
 * lacking. The first of these that fits is taken, unless one is asked for: a
 * group per channel and scope; the same weighed, so that a mirror per scope
 * does; running totals, groups of their own only for the program and for as
 * many of the innermost loops as fit; running totals weighed, so that two
 * registers for each set of engines do; totals with arms padded. Mirrors are
 * biased as far as registers last, so that most waits need no operation. */
NSR_MUST_USE enum nsr_status nsr_plan_make(struct nsr_ctx *ctx,
                                           const struct nsr_tree *tree,
                                           const struct nsr_needs *needs,
                                           const struct nsr_budget *budget,
                                           struct nsr_plan *out);

/* Whether a wait changes its mirror, for want of another register. */
bool nsr_plan_bends(const struct nsr_plan *plan, const struct nsr_plan_wait *w);
/* Operations for the threshold of a wait, undoing that included. */
uint32_t nsr_plan_wait_ops(const struct nsr_plan *plan,
                           const struct nsr_plan_wait *w);

#endif
