/* plan.h - what the output does about every wait: counter groups,
 * semaphores, mirrors, thresholds (algorithm.md 4, scheme per-loop).
 *
 * A group is the awaited work of one channel directly in one scope; each of
 * its N members increments the group's semaphore, so after the K-th member of
 * the r-th entry it reads N*r - (N-K). A waiting engine counts entries of the
 * scope itself, in a mirror register that holds N*r - d.
 */
#ifndef NSR_SYNC_PLAN_H
#define NSR_SYNC_PLAN_H

#include "sync/select.h"

/* A register that an engine advances by `step` at each entry of a scope. */
struct nsr_mirror {
  uint8_t engine;
  uint32_t scope; /* common scope */
  int32_t step;
  int32_t start; /* set in the prologue */
  int16_t reg;
};

/* One wait of the output, in front of or on work c. */
struct nsr_plan_wait {
  uint32_t c, p; /* waits for p */
  uint32_t lag;
  uint16_t sem;
  bool is_reg;
  int32_t value;   /* immediate threshold */
  uint32_t mirror; /* register threshold: mirrors[mirror] */
  int32_t scale;   /* threshold = mirror * scale - less */
  int32_t less;    /* (1 and 0: the mirror itself) */
};

struct nsr_plan {
  const struct nsr_tree *tree;
  const int32_t *update; /* by work: the semaphore it increments, -1: none */
  uint32_t nwaits, nmirrors, nsems;
  uint32_t largest; /* N of the largest group that is counted per entry */
  const struct nsr_plan_wait *waits;   /* by c */
  const struct nsr_mirror *mirrors;    /* by engine, then scope */
  int16_t temp[NSR_MAX_ENGINES];       /* scratch register, or NSR_NO_REG */
  uint32_t registers[NSR_MAX_ENGINES]; /* fresh ones used */
};

/* Budgets: fresh registers per engine and semaphores, at most; UINT32_MAX: all
 * there are. */
struct nsr_budget {
  uint32_t registers, semaphores;
};

/* Needs the waits; allocates. Mirrors are biased, so that most waits need no
 * operation; short of registers, engines share a mirror per (scope, N), then
 * per scope, and compute thresholds in a scratch register. Refuses what does
 * not fit then. */
NSR_MUST_USE enum nsr_status nsr_plan_make(struct nsr_ctx *ctx,
                                           const struct nsr_tree *tree,
                                           const struct nsr_needs *needs,
                                           const struct nsr_budget *budget,
                                           struct nsr_plan *out);

#endif
