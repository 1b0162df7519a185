/* told.h - what follows from a count.
 *
 * A track counts the updates of a semaphore, or the executions of one that is
 * waited for in another way than by a count less a lag. For each distance it
 * tells what is known if all but the last so many have retired: a list of
 * views, of which each stands for all distances down to the next one's. A
 * member appends what its channel and its engine know when it issues. Where
 * ways meet, a distance tells what it does on both; in a loop, what it does in
 * each iteration. What a scope appends stands in a layer of its own until it is
 * left.
 */
#ifndef NSR_PROVE_TOLD_H
#define NSR_PROVE_TOLD_H

#include "prove/thresholds.h"
#include "prove/unknown.h"

/* As far as what was told when nothing had run yet. */
#define NSR_TOLD_NOTHING (INT64_C(1) << 60)

struct nsr_tell {
  int64_t at; /* the count that it needs; in lists of their own: the distance */
  uint32_t slot; /* the one execution that it is of, NSR_NONE: of several */
  struct nsr_sight *view;
};

struct nsr_tells { /* lists: nearest first */
  NSR_VEC(struct nsr_tell) l;
};

/* The most distant that any wait from a step on looks at. */
struct nsr_reach {
  uint32_t step;
  int64_t most;
};

struct nsr_layer {
  uint32_t begin;     /* step of the scope */
  size_t below, base; /* what is in front of it ends; it begins */
  int64_t count;      /* in front of it */
  int64_t weight;     /* of the track's members in it */
};

struct nsr_track {
  int64_t count; /* the least that came so far, from some point on */
  struct nsr_tells v;
  NSR_VEC(struct nsr_layer) layers; /* the first is always there */
  NSR_VEC(struct nsr_reach) reach;  /* the last waits first */
};

/* What a wait tells. */
struct nsr_told_by {
  uint32_t track;
  int64_t lag;
};

/* A distance, and whose waits look at it. */
struct nsr_ask {
  int64_t distance;
  uint32_t engines; /* bits */
};

/* Nearest first. */
struct nsr_asks {
  NSR_VEC(struct nsr_ask) v;
};

/* Tracks with members in a scope, how far these count, and what is asked. */
struct nsr_told_in {
  uint32_t track;
  int64_t weight;
  struct nsr_asks head, behind; /* of the scope; head: a loop's */
  struct nsr_asks front;        /* of one that nothing is around */
};

struct nsr_told_run {
  uint32_t first, n;
};

struct nsr_told {
  struct nsr_sights *x;
  bool most; /* asked is what may be known at most */
  uint32_t ntracks;
  struct nsr_track *tracks;
  uint32_t *own;                 /* by member: its own track, NSR_NONE: none */
  struct nsr_told_run *of_wait;  /* by wait: into by */
  struct nsr_told_run *of_scope; /* by step: into in */
  NSR_VEC(struct nsr_told_by) by;
  NSR_VEC(struct nsr_told_in) in;
  bool *asked; /* by member: whether anything asks for it; NULL: for all, at all
                  distances */
  const uint32_t *wait_of; /* nsr_thresholds */
  uint8_t *ages; /* by window: iterations back that waits in loops are for, at
                    most */
  uint32_t from; /* waits in front of this step are over */
  struct nsr_sight **knows; /* by engine: what it knows; set by the walk */
  uint32_t *swap;           /* by channel */
  struct nsr_sight *tmp;
  struct nsr_sight *nothing;        /* has retired of what has issued */
  struct nsr_tells near, far, made; /* lists under way */
};

/* Needs a score and its thresholds. */
NSR_MUST_USE enum nsr_status nsr_told_init(struct nsr_ctx *ctx,
                                           const struct nsr_score *s,
                                           const struct nsr_thresholds *t,
                                           struct nsr_sights *x, bool most,
                                           struct nsr_told *out);

/* How far a loop's lists go: in front of what is told there all that runs in it
 * is unknown anyway. */
static inline int64_t nsr_told_limit(const struct nsr_told *g, int64_t weight) {
  return weight * (g->x->most[g->x->window] + 2);
}

/* Row, renewed and of one holder, learns what wait number w tells. */
NSR_MUST_USE enum nsr_status nsr_told_wait(struct nsr_told *g, uint32_t w,
                                           struct nsr_sight *row);

/* Whether a member tells anything that is asked. */
bool nsr_told_asked(struct nsr_told *g, const struct nsr_step *s);

/* A member issues; row: what its engine knows behind it, NULL: nobody asks. */
NSR_MUST_USE enum nsr_status nsr_told_member(struct nsr_told *g,
                                             const struct nsr_step *s,
                                             const struct nsr_sight *row);

/* Where a scope begins. */
struct nsr_moment {
  uint32_t step, nloops, barrier; /* as in nsr_sights */
  uint32_t *now;                  /* by channel */
};

/* A scope begins that nothing is around: of what those who ask know anyway, no
 * more is told than that. Who asks is up to date. */
NSR_MUST_USE enum nsr_status nsr_told_shorten(struct nsr_told *g,
                                              uint32_t begin);
/* A scope begins; what was appended in it is dropped; what is told is that in
 * front of an arm, as of here; or what holds behind an arm whether it ran or
 * not becomes part of what is around it. */
NSR_MUST_USE enum nsr_status nsr_told_begin(struct nsr_told *g, uint32_t begin);
void nsr_told_drop(struct nsr_told *g, uint32_t begin);
NSR_MUST_USE enum nsr_status nsr_told_pass(struct nsr_told *g, uint32_t begin,
                                           struct nsr_moment *entry);
NSR_MUST_USE enum nsr_status nsr_told_join(struct nsr_told *g, uint32_t begin,
                                           struct nsr_moment *entry);

/* What an arm that is left tells, and how far it has counted, is kept by track,
 * and told is what was in front of it; what holds there and behind what counts
 * instead of it becomes part of what is around. */
NSR_MUST_USE enum nsr_status nsr_told_other(struct nsr_told *g, uint32_t begin,
                                            struct nsr_tells *ends,
                                            int64_t *weights);
NSR_MUST_USE enum nsr_status nsr_told_both(struct nsr_told *g, uint32_t begin,
                                           struct nsr_tells *ends,
                                           const int64_t *weights);

/* One list for each track in the scope takes in what is told here, or is that
 * (first); of a loop's head: at distances that iterations reach. */
NSR_MUST_USE enum nsr_status nsr_told_take(struct nsr_told *g, uint32_t begin,
                                           struct nsr_tells *lists, bool head,
                                           bool first, bool *changed);
/* A loop has begun: its head takes in what is told in front of it. */
NSR_MUST_USE enum nsr_status nsr_told_enter(struct nsr_told *g, uint32_t begin,
                                            struct nsr_tells *heads, bool first,
                                            bool *changed);
/* Appended is what these lists tell, as of here. */
NSR_MUST_USE enum nsr_status nsr_told_put(struct nsr_told *g, uint32_t begin,
                                          struct nsr_tells *lists);
/* A scope that nothing is around is left for good: what it appended stays. */
NSR_MUST_USE enum nsr_status nsr_told_keep(struct nsr_told *g, uint32_t begin);
void nsr_told_clear(struct nsr_told *g, struct nsr_tells *list);

#endif
