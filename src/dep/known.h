/* known.h - what an engine knows to have retired, for all trip counts.
 *
 * One walk of the common tree keeps, per engine, a set of facts (q, l): all
 * but the last l executions of work q so far are known to have retired.
 * The same set is kept for each awaited work: what follows from its l-th
 * latest execution having retired (theory-channels.md 2, in sets instead of
 * counts: exact for waits that name the latest execution or one a fixed
 * number of executions older). Heads of loops start with everything known
 * and lose facts until nothing changes.
 */
#ifndef NSR_DEP_KNOWN_H
#define NSR_DEP_KNOWN_H

#include "ir/tree.h"

enum { NSR_MAX_LAG = 7 };

struct nsr_walk {
  const struct nsr_tree *tree;
  uint32_t levels;   /* facts per work: lags 0..levels-1 */
  uint32_t rows;     /* engines, then awaited works times levels */
  size_t words;      /* per row */
  uint64_t *facts;   /* rows * words: the state here */
  uint64_t *heads;   /* the same at the head of each scope */
  uint64_t *before;  /* the same in front of each nested scope, by depth */
  uint64_t *back;    /* at the ends of the iterations of the loops around here
                        that go on, by depth */
  uint64_t *exit;    /* .. and that leave the loop */
  uint32_t loop;     /* depth of the innermost loop, NSR_NONE: none */
  uint64_t *channel; /* by channel: the facts about its works */
  const int32_t *row_of; /* by work: its first row, -1: never awaited */
  bool barriers;         /* whether barriers are in force (the input) */
  bool changed;
};

/* Called for each work in reference order, maybe several times; waits of the
 * work are entered with nsr_walk_wait, before it issues. */
typedef enum nsr_status nsr_visit_fn(void *user, struct nsr_walk *walk,
                                     uint32_t work);

/* Needs a linearized tree. awaited[w]: w may be waited for. levels: 1 + the
 * largest lag asked about. Refuses what would take too much memory. */
NSR_MUST_USE enum nsr_status nsr_walk_init(struct nsr_ctx *ctx,
                                           const struct nsr_tree *tree,
                                           const bool *awaited, uint32_t levels,
                                           bool barriers, struct nsr_walk *out);

/* Walks until the heads are stable; the last time through is consistent. */
NSR_MUST_USE enum nsr_status nsr_walk_run(struct nsr_walk *walk,
                                          nsr_visit_fn *visit, void *user);

/* Forgets the heads, for another run. */
void nsr_walk_reset(struct nsr_walk *walk);

/* Whether engine knows all but the last lag executions of work q. */
bool nsr_walk_known(const struct nsr_walk *walk, int engine, uint32_t q,
                    uint32_t lag);

/* The engine waits for the lag-th latest execution of u. */
void nsr_walk_wait(struct nsr_walk *walk, int engine, uint32_t u, uint32_t lag);

#endif
