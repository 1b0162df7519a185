/* count.h - how the awaited work is counted.
 *
 * A cell is the awaited work of one channel directly in one scope, or (each)
 * one instruction of it. A group is
 * what one semaphore counts: one cell (the scope is its own), or all cells of
 * a channel in the pooled scopes that the same engines run (or, merged, that
 * all engines run that wait for them). Members add 1; in
 * weighed groups the last one of a cell adds the rest of what the fullest cell
 * of its scope has, and a channel without a member there has a marker at the
 * scope's start, so that all groups advance alike. A class is the groups that
 * advance alike, so that one mirror does for them.
 * Where an arm that not all engines run has a way past it, that way can add
 * what the arm does (padded): its work counts like that of the body around it
 * then.
 *
 * At a point x a mirror (advanced at the entry of each scope by what an entry
 * adds) reads the members before x and those still to come in the bodies
 * around x; a wait for p subtracts these and what surely passed behind p.
 */
#ifndef NSR_SYNC_COUNT_H
#define NSR_SYNC_COUNT_H

#include "sync/select.h"

struct nsr_cell {
  uint32_t scope;
  int8_t channel;
  uint32_t first, n; /* into members */
  uint32_t alike;    /* first cell of its scope with the same n */
};

struct nsr_counts {
  const struct nsr_tree *tree;
  uint32_t ncells, nchannels, npools;
  struct nsr_cell *cells; /* by scope, then channel */
  uint32_t *first_cell;   /* by scope: its cells are first..first[scope+1]-1 */
  uint32_t *members;      /* works, by cell, in order */
  uint32_t *cell_of;      /* by work, NSR_NONE: nobody waits for it */
  const uint32_t *in;     /* by scope: that in whose body its work counts */
  uint32_t *most;         /* by scope: members of its fullest cell */
  uint32_t *pool; /* by scope with cells: number of its set of engines */
  uint32_t *pool_engines; /* by pool: that set */
  uint32_t *waiters;      /* by pool and channel: engines that wait for that */
  /* by pool and channel: the pool that has its group, and the first pool and
   * channel of which the group covers the same pools; made when merged */
  uint32_t *home, *same;
  bool each; /* a cell has one member; there are no pools then */
  /* the scheme; set by who chooses */
  bool *own;                   /* by scope */
  bool weigh_own, weigh_pools; /* weighed groups */
  bool apart;                  /* no class of groups that are not weighed */
  bool merged; /* pools share groups where those who wait run all of them */
};

/* Needs the waits; makes cells, with each one member alone if `each`. All
 * scopes are their own at first. in: as in struct nsr_counts; NULL: itself. */
NSR_MUST_USE enum nsr_status nsr_counts_make(struct nsr_ctx *ctx,
                                             const struct nsr_tree *tree,
                                             const struct nsr_needs *needs,
                                             bool each, const uint32_t *in,
                                             struct nsr_counts *out);

/* Merges the pools of each channel where all who wait for one of them run the
 * other, too; with wide also those in which the channel has nothing to do, so
 * that more groups may advance alike. */
NSR_MUST_USE enum nsr_status nsr_counts_merge(struct nsr_ctx *ctx,
                                              struct nsr_counts *c, bool wide);

/* Numbers of groups and of classes are below this. */
uint32_t nsr_count_keys(const struct nsr_counts *c);
/* The group and the class a cell is in. */
uint32_t nsr_count_group(const struct nsr_counts *c, uint32_t cell);
uint32_t nsr_count_class(const struct nsr_counts *c, uint32_t cell);
/* The group of a channel in a scope that is pooled. */
uint32_t nsr_count_pooled(const struct nsr_counts *c, uint32_t scope,
                          uint32_t channel);
/* The cell's own scope is the program: its members have constant ordinals. */
bool nsr_count_once(const struct nsr_counts *c, uint32_t cell);
bool nsr_count_weighed(const struct nsr_counts *c, uint32_t cell);

/* What an entry of scope adds to the cell's group. */
uint32_t nsr_count_step(const struct nsr_counts *c, uint32_t cell,
                        uint32_t scope);
/* What work w, a member, adds. */
uint32_t nsr_count_weight(const struct nsr_counts *c, uint32_t w);
/* What an entry of scope adds to the cell's group before work x, which lies
 * (or would lie) in the scope. */
uint32_t nsr_count_before(const struct nsr_counts *c, uint32_t cell,
                          uint32_t scope, uint32_t x);
/* What the bodies around a place in scope, in front of work x, still add. */
int64_t nsr_count_ahead(const struct nsr_counts *c, uint32_t cell,
                        uint32_t scope, uint32_t x);
/* What a wait for a need subtracts from a mirror of p's group: what passes at
 * least from behind p's execution to c, and what the bodies around c still add
 * then. -1: no execution of p comes before c. */
int64_t nsr_count_less(const struct nsr_counts *c, const struct nsr_need *need);
/* The same for a need with `back`, and a mirror as it was at the start that
 * this is about: what passes at least from behind p's last execution in front
 * of it, and what the bodies around it still add. */
int64_t nsr_count_less_at_start(const struct nsr_counts *c,
                                const struct nsr_need *need);

#endif
