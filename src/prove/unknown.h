/* unknown.h - what is not known to have retired.
 *
 * The works of a score have slots, channel by channel, in order within each. A
 * view gives each slot a level: all but the last so many executions are known
 * to have retired. Views have most of what they say in common (levels.h). A
 * view holds at one moment; what has issued since is added when it is brought
 * up to date: once, and any number of times within loops.
 *
 * A score is cut into windows of whole items (walk_score.h). A view has levels
 * of the window it was made in apart from those of all windows before: what
 * views of one window differ by is small then, however long the score is.
 */
#ifndef NSR_PROVE_UNKNOWN_H
#define NSR_PROVE_UNKNOWN_H

#include "prove/levels.h"
#include "prove/score.h"

/* What a view says of a channel. */
struct nsr_sight_part {
  uint32_t past;   /* levels by slot behind the channel's first, in front of the
                      window; of others: any */
  uint32_t levels; /* by slot of the window */
  uint32_t at;     /* the next slot when it was made */
};

struct nsr_sight {
  struct nsr_sight *spare; /* no longer held: the next such one */
  uint32_t refs; /* who holds it; only what one holds may be changed */
  uint32_t step; /* when it was made: 1 + the step there, 0: in front of all */
  uint32_t window;
  struct nsr_sight_part of[]; /* by channel */
};

/* A loop around here. */
struct nsr_sight_loop {
  uint32_t begin;              /* 1 + its step */
  uint32_t number;             /* for slots, from 1; 0: none */
  const uint32_t *first, *end; /* by channel: slots */
  uint32_t barrier;            /* nsr_sights.barrier in front of it */
};

/* Of a channel in a window. */
struct nsr_window {
  uint32_t first, end; /* slots */
  uint32_t base; /* what its levels count from: where the first slot's lowest
                    node begins */
  uint8_t height;
};

/* Where a walk of a score stands, and storage for views. */
struct nsr_sights {
  struct nsr_ctx *ctx;
  const struct nsr_score *s;
  uint32_t nslots, nch;
  uint32_t *slot;  /* by step: of works; of barriers: their number */
  uint32_t *base;  /* by channel: its first slot; nch + 1 of them */
  uint8_t *height; /* by channel: of the levels of all slots */
  uint32_t nwindows;
  uint32_t *window_steps;     /* by window: its first; nwindows + 1 of them */
  struct nsr_window *windows; /* by window, then channel */
  uint8_t *most; /* by window: levels above are any number; at first there are
                    none above */
  uint32_t *loop_of;     /* by slot: number of the innermost loop */
  uint32_t *run_end;     /* by slot: of those that follow in the same loop */
  uint32_t *step_of;     /* by slot */
  uint32_t *loop_number; /* by step that begins a loop */
  uint32_t *loop_slots;  /* by number - 1: first by channel, then end */
  uint8_t *unit;         /* by slot: what its level is more by, each time */
  uint32_t *once;        /* by number - 1, then channel: levels of what issues
                            in one iteration; NSR_NO_LEVELS: not made yet */
  uint32_t nloops, first_loop; /* number - 1 of the window's first one */
  uint32_t *now;               /* by channel: the next slot */
  uint32_t step;               /* 1 + that of here */
  uint32_t window;             /* that of here */
  uint32_t barrier; /* 1 + that of the last barrier on all ways here since the
                       scopes around it began, or in front of those; 0: none */
  uint32_t *barrier_slots; /* by number of its step: the next by channel */
  NSR_VEC(struct nsr_sight_loop) loops;
  struct nsr_levels levels;
  NSR_VEC(struct nsr_sight *) views; /* all that there are */
  struct nsr_sight *spare;
};

NSR_MUST_USE enum nsr_status nsr_sights_init(struct nsr_ctx *ctx,
                                             const struct nsr_score *s,
                                             struct nsr_sights *out);

/* Goes to the window of an item that begins with a step, in the one that is
 * current or in one behind it. */
void nsr_sights_begin_item(struct nsr_sights *x, uint32_t step);
/* Goes to any one. */
static inline void nsr_sights_go_to(struct nsr_sights *x, uint32_t window) {
  x->window = window;
  x->levels.most = x->most[window];
}

/* A view to which all is known that has issued before `step` (0: nothing
 * has). */
NSR_MUST_USE enum nsr_status nsr_sight_new(struct nsr_sights *x,
                                           struct nsr_sight **out);
/* One holder less; *v is NULL then. */
void nsr_sight_free(struct nsr_sights *x, struct nsr_sight **v);
static inline struct nsr_sight *nsr_sight_share(struct nsr_sight *v) {
  v->refs++;
  return v;
}
/* Makes a copy of what others hold, too. */
NSR_MUST_USE enum nsr_status nsr_sight_own(struct nsr_sights *x,
                                           struct nsr_sight **v);
void nsr_sight_copy(const struct nsr_sights *x, struct nsr_sight *to,
                    const struct nsr_sight *from);
/* It is as of here, whatever it says. */
void nsr_sight_stamp(struct nsr_sights *x, struct nsr_sight *v);
/* All is known. */
void nsr_sight_clear(const struct nsr_sights *x, struct nsr_sight *v);
/* All that is in front of here has retired, and everyone knows. */
void nsr_sights_pass_barrier(struct nsr_sights *x, uint32_t step);
/* Brings it up to date. */
NSR_MUST_USE enum nsr_status nsr_sight_renew(struct nsr_sights *x,
                                             struct nsr_sight *v);
/* Nothing at all is known, as of here. */
void nsr_sight_nothing(const struct nsr_sights *x, struct nsr_sight *v);
/* How many executions are unknown is forgotten: no loop goes on. */
NSR_MUST_USE enum nsr_status nsr_sight_settle(struct nsr_sights *x,
                                              struct nsr_sight *v);
/* a knows what one of them knows (least), or what both do; *changed, unless
 * NULL: whether a did change. Both are of one window; moments are not looked
 * at. */
NSR_MUST_USE enum nsr_status nsr_sight_merge(struct nsr_sights *x,
                                             struct nsr_sight *a,
                                             const struct nsr_sight *b,
                                             bool least, bool *changed);
/* Whether a says less than b is unknown somewhere. Both of one moment. */
NSR_MUST_USE enum nsr_status nsr_sight_less(struct nsr_sights *x,
                                            const struct nsr_sight *a,
                                            const struct nsr_sight *b,
                                            bool *out);
/* All executions of a slot, or of a whole channel, are known. */
NSR_MUST_USE enum nsr_status
nsr_sight_learn(struct nsr_sights *x, struct nsr_sight *v, uint32_t slot);
static inline void nsr_sight_learn_all(struct nsr_sight *v, uint32_t channel) {
  v->of[channel].past = v->of[channel].levels = 0;
}
uint32_t nsr_sight_level(const struct nsr_sights *x, const struct nsr_sight *v,
                         uint32_t slot);
/* The first slot of a channel, from one on, of which something is unknown;
 * UINT32_MAX: none. */
uint32_t nsr_sight_next(const struct nsr_sights *x, const struct nsr_sight *v,
                        uint32_t channel, uint32_t slot);

#endif
