/* scheme.h - which groups count, under the budgets, and what each wait then
 * is: a constant, or a class of mirrors less a constant.
 */
#ifndef NSR_SYNC_SCHEME_H
#define NSR_SYNC_SCHEME_H

#include "base/vec.h"
#include "sync/count.h"
#include "sync/mirrors.h"
#include "sync/plan.h"
#include "sync/ranges.h"

struct nsr_chosen {
  struct nsr_counts counts;
  struct nsr_resets resets;
  uint32_t nsems, ngroups, norder;
  uint16_t *sems;  /* that may be used: group g has sems[g] */
  uint32_t *group; /* by key: its number, NSR_NONE: none */
  uint32_t *order; /* scopes with cells, those to be their own first */
  struct nsr_free free[NSR_MAX_ENGINES];
  struct nsr_free kept[NSR_MAX_ENGINES]; /* for snapshots */
  NSR_VEC(struct nsr_plan_wait) waits;   /* mirror: key of the class; by c */
  struct nsr_uses uses[NSR_MAX_ENGINES];
  struct nsr_ranges ranges[NSR_MAX_ENGINES]; /* once they were needed */
  uint32_t shared[NSR_MAX_ENGINES]; /* registers that serve all uses, some one
                                       after the other; 0: each has its own */
  int16_t shared_temp[NSR_MAX_ENGINES]; /* one to compute in, or NSR_NO_REG */
  struct nsr_lack lack;
};

/* Needs the waits; takes the first scheme that may be used and fits, else says
 * what the last one lacked. */
NSR_MUST_USE enum nsr_status nsr_scheme_choose(struct nsr_ctx *ctx,
                                               const struct nsr_tree *tree,
                                               const struct nsr_needs *needs,
                                               const struct nsr_budget *budget,
                                               struct nsr_chosen *out);

/* The same for totals alone, with the work of arms counted where `in` says
 * (padded.h). *any: whether that may be used. */
NSR_MUST_USE enum nsr_status
nsr_scheme_pad(struct nsr_ctx *ctx, const struct nsr_tree *tree,
               const struct nsr_needs *needs, const struct nsr_budget *budget,
               const uint32_t *in, struct nsr_chosen *out, bool *any);

/* The groups of a published allocation, and what may be used; no waits. */
NSR_MUST_USE enum nsr_status nsr_scheme_publish(struct nsr_ctx *ctx,
                                                const struct nsr_tree *tree,
                                                const struct nsr_needs *needs,
                                                const struct nsr_budget *budget,
                                                struct nsr_chosen *out);

/* Whether anything waits for others. */
bool nsr_scheme_waits_outside(const struct nsr_program *p);

/* The scheme's name; "mixed": some loops are their own. */
const char *nsr_scheme_used(const struct nsr_chosen *c);

#endif
