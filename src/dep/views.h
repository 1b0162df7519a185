/* views.h - the state of the walk behind known.h; private to src/dep.
 *
 * A view is a set with the moment it was made: the next slot of each channel
 * (which a dense set does without), how many slots have issued in the order of
 * the text, and how many loops had been begun or ended in that order. What
 * has issued since is added when the view is read: once where no loop lies
 * between, and an unknown number of times for the works of loops that do.
 */
#ifndef NSR_DEP_VIEWS_H
#define NSR_DEP_VIEWS_H

#include <string.h>

#include "base/pieces.h"
#include "base/vec.h"
#include "dep/known.h"
#include "dep/sets.h"

/* The executions of a work in front of an iteration's start: in a view so many
 * of the latest starts at most are not known to be like that. */
struct nsr_walk_start {
  uint32_t p, loop;
  bool entry;       /* of the loop, not of its iterations: 0 or 1 */
  uint32_t place;   /* scope at whose entry that is */
  uint32_t number;  /* among those of its item */
  uint32_t further; /* of the same item: + 1, 0: none */
  uint8_t any;      /* the latest one asked about; more count like it */
  uint8_t bit;      /* so many bits, of word .. */
  uint32_t word;    /* .. this of a view's: the lowest ones are set */
};

enum { NSR_MAX_STARTS = 64 }; /* of an item */

struct nsr_view {
  struct nsr_set set; /* of the item's works */
  uint64_t *starts;   /* of its walk_starts */
  uint32_t past;      /* of those before it: into walk->pasts;
                         NSR_PAST_IN_SET: an earlier item's, with the past in
                         its set, as stretches */
  uint32_t tick;
  uint64_t serial; /* order of making, to be compared with barriers */
  uint32_t slots;  /* in front of it, in the order of the text */
  uint32_t *at;    /* by channel: the next slot; void where the set is dense */
};

/* What is unknown of the works before the item: views that know the same of
 * them share it. Two of these are always there. */
struct nsr_past {
  struct nsr_facts set;
  uint32_t *without; /* by channel: the same where all of that channel is
                        known, 0: not made yet */
};
enum { NSR_PAST_KNOWN, NSR_PAST_UNKNOWN };
#define NSR_PAST_IN_SET UINT32_MAX

/* A merge of two of them, kept while in the item. */
struct nsr_merged_pasts {
  uint32_t a, b, op, result;
  uint32_t item; /* + 1; 0: none */
};
enum { NSR_MERGED_PASTS = 4096, NSR_PAST_SLOTS = 512 };

/* A loop, or the program (loop 0). */
struct nsr_walk_loop {
  uint32_t parent;
  uint32_t begin, end;            /* ticks behind its beginning and its end */
  uint32_t *first, *last;         /* by channel: its slots first..last-1 */
  uint32_t from, to;              /* its slots in the order of the text */
  uint32_t child, nchildren;      /* into walk->children */
  uint32_t index;                 /* of itself in there */
  struct nsr_view **head;         /* NULL: not reached yet */
  struct nsr_view **back, **exit; /* what its ways end with */
  bool any_back, any_exit;
};

/* Where a tick is. */
struct nsr_walk_tick {
  uint32_t loop;  /* the innermost around it */
  uint32_t child; /* into walk->children: the first one behind it */
};

/* The last barrier passed. */
struct nsr_passed_barrier {
  uint64_t serial;
  uint32_t tick, slots;
  uint32_t at[NSR_MAX_CHANNELS];
};

/* Where the walk stands. */
struct nsr_moment {
  uint32_t at[NSR_MAX_CHANNELS]; /* the next slots */
  uint32_t slots;                /* in front of here */
  uint32_t tick, loop;           /* loop: the innermost around here */
  struct nsr_passed_barrier passed;
};

/* What a scope changes: the rows of engines with work in it, of all where it
 * has a barrier; and the records of its works. Other views age alone. */
struct nsr_walk_range {
  uint32_t lo, hi;
  uint8_t nrows;
  uint8_t rows[NSR_MAX_ENGINES];
};

struct nsr_walk {
  struct nsr_ctx *ctx;
  const struct nsr_tree *tree;
  uint32_t levels;
  bool barriers, coarse;
  bool settling;       /* loops are walked until their heads are stable */
  uint32_t most_dense; /* works of an item whose sets may be dense */

  uint32_t nrows;
  int row[NSR_MAX_ENGINES]; /* by engine */
  uint32_t nch;
  uint32_t *base;    /* by channel: its first slot; nch + 1 of them */
  bool *asked;       /* by work: may be asked about .. */
  uint8_t *most;     /* .. with lags below this one */
  uint32_t *slot;    /* by work that is; else NSR_NONE */
  uint8_t *lags;     /* by work: records it has */
  uint32_t *record;  /* by work: its first */
  bool *carried;     /* by work: awaited where its latest execution may
                        lie in another iteration, or in a scope that may
                        be passed by; other records need no merging */
  bool *exported;    /* by work: awaited from another item */
  uint32_t *item_of; /* by work */
  NSR_VEC(struct nsr_walk_start) starts;
  uint32_t *item_starts;          /* by item: the first + 1, 0: none */
  uint32_t most_starts;           /* words of an item */
  struct nsr_walk_range *records; /* by scope */
  uint32_t *loop_of;              /* by scope that is a loop */
  struct nsr_walk_loop *loops;
  uint32_t nloops, *children;
  struct nsr_walk_tick *ticks;
  NSR_VEC(struct nsr_walk_item) items;
  bool started;
  nsr_entry_fn *at_entry; /* or NULL */

  /* the state: a row per engine, a record per awaited work and lag */
  struct nsr_view *rows[NSR_MAX_ENGINES];
  struct nsr_view **rec; /* NULL: never ran */
  struct nsr_moment now;
  uint64_t serial;

  /* at the entry of the item */
  uint32_t item;
  uint32_t nstarts;            /* words of it .. */
  uint64_t *starts_of;         /* .. channel by channel: bits of its works */
  NSR_VEC(uint64_t) starts_in; /* .. loop by loop, from first_loop on */
  uint32_t first_loop;
  struct nsr_view *entry[NSR_MAX_ENGINES];
  struct nsr_moment entered;

  NSR_VEC(struct nsr_view *) stack; /* states in front of arms */
  NSR_VEC(struct nsr_view *) spare;
  struct nsr_view **adopted; /* by record of an earlier item: as of the
                                entry of this one; NULL: not yet */
  NSR_VEC(uint32_t) adoptions;
  struct nsr_view *other; /* for a record while it is read */
  /* the last wait: what follows from it as of then, NULL: only itself */
  const struct nsr_view *told;
  uint32_t told_work, told_lag;
  NSR_VEC(struct nsr_past) pasts;
  struct nsr_pieces withouts;
  uint16_t past_slots[NSR_PAST_SLOTS]; /* by hash: past + 1, 0: free; the first
                                          ones only */
  struct nsr_merged_pasts merged[NSR_MERGED_PASTS]; /* by hash */
  struct nsr_facts tmp;
  struct nsr_slots slots; /* of the item; its pool is for all sets */
};

/* ---- views (views.c) */

NSR_MUST_USE enum nsr_status nsr_view_take(struct nsr_walk *w,
                                           struct nsr_view **out);
/* Back into the pool; *v becomes NULL. */
NSR_MUST_USE enum nsr_status nsr_view_give(struct nsr_walk *w,
                                           struct nsr_view **v);
/* Its set is as of now. */
void nsr_view_stamp(const struct nsr_walk *w, struct nsr_view *v);
/* All is known, as of now; nothing of earlier items is in its set. */
void nsr_view_clear(const struct nsr_walk *w, struct nsr_view *v);
NSR_MUST_USE enum nsr_status nsr_view_copy(struct nsr_walk *w,
                                           struct nsr_view *out,
                                           const struct nsr_view *v);
/* out is what v is, as of now. */
NSR_MUST_USE enum nsr_status nsr_view_copy_now(struct nsr_walk *w,
                                               struct nsr_view *out,
                                               const struct nsr_view *v);
/* Adds what has issued since it was made, which is something. */
NSR_MUST_USE enum nsr_status nsr_view_renew_some(struct nsr_walk *w,
                                                 struct nsr_view *v);
/* Adds what has issued since it was made. */
static inline enum nsr_status nsr_view_renew(struct nsr_walk *w,
                                             struct nsr_view *v) {
  bool same =
      v->serial >= w->now.passed.serial && v->tick == w->now.tick &&
      (v->set.words ? v->slots == w->now.slots
                    : memcmp(v->at, w->now.at, w->nch * sizeof *v->at) == 0);
  return same ? NSR_OK : nsr_view_renew_some(w, v);
}
/* What a work that never ran says: all that has issued is unknown. */
NSR_MUST_USE enum nsr_status nsr_view_never(struct nsr_walk *w,
                                            struct nsr_view *v);
/* Both renewed at one place: a knows what either knows, or .. */
NSR_MUST_USE enum nsr_status nsr_view_learn_from(struct nsr_walk *w,
                                                 struct nsr_view *a,
                                                 const struct nsr_view *b);
/* .. loses what b does not know; *lost is set where that is anything. */
NSR_MUST_USE enum nsr_status nsr_view_lose(struct nsr_walk *w,
                                           struct nsr_view *a,
                                           const struct nsr_view *b,
                                           bool *lost);
/* a learns what b, which knows nothing of this item, knows of those before. */
NSR_MUST_USE enum nsr_status nsr_view_merge_past(struct nsr_walk *w,
                                                 struct nsr_view *a,
                                                 const struct nsr_view *b);
/* All of a channel is known to a view that was made, or renewed, behind the
 * last loop. */
NSR_MUST_USE enum nsr_status nsr_view_learn(struct nsr_walk *w,
                                            struct nsr_view *v, uint32_t ch);
/* A renewed row learns that all but the last lag executions of work u have
 * retired. */
NSR_MUST_USE enum nsr_status nsr_view_learn_one(struct nsr_walk *w,
                                                struct nsr_view *row,
                                                uint32_t u, uint32_t lag);
/* A record of an earlier item as a view of this one, kept until it ends. */
NSR_MUST_USE enum nsr_status nsr_view_adopt(struct nsr_walk *w, uint32_t record,
                                            const struct nsr_view **out);
NSR_MUST_USE enum nsr_status nsr_view_forget_adopted(struct nsr_walk *w);
/* Behind the item: all is in its set. */
NSR_MUST_USE enum nsr_status nsr_view_settle(struct nsr_walk *w,
                                             struct nsr_view *v);
/* At the next item: its set becomes the past. */
NSR_MUST_USE enum nsr_status nsr_view_resume(struct nsr_walk *w,
                                             struct nsr_view *v);
/* Sets from here on are of the item that w->item says. */
NSR_MUST_USE enum nsr_status nsr_slots_enter(struct nsr_walk *w);
/* Pasts begin anew with the item: all is known, or nothing. */
NSR_MUST_USE enum nsr_status nsr_past_reset(struct nsr_walk *w);

/* ---- starts of iterations (states.c) */

/* All bits of a start; none of them: it is known. */
static inline uint64_t nsr_start_bits(const struct nsr_walk_start *s) {
  return (UINT64_MAX >> (64 - s->any)) << s->bit;
}

/* Whether a view knows what is in front of the back-th latest (from 1 on). */
static inline bool nsr_start_known(const struct nsr_view *v,
                                   const struct nsr_walk_start *s,
                                   uint32_t back) {
  return !(v->starts[s->word] >> s->bit >> (back - 1) & 1);
}

/* A renewed view that knows all of a work knows what it did before any
 * start. */
void nsr_view_settle_starts(const struct nsr_walk *w, struct nsr_view *v);
/* A scope is entered, or (entry) a loop, from in front of it. */
NSR_MUST_USE enum nsr_status nsr_state_start(struct nsr_walk *w, uint32_t place,
                                             bool entry);
uint32_t nsr_walk_find_start(const struct nsr_walk *w, uint32_t p,
                             uint32_t loop, bool entry);

/* ---- states: the rows and records of a range (states.c) */

static inline uint32_t nsr_range_views(const struct nsr_walk_range *r) {
  return r->nrows + r->hi - r->lo;
}

static inline struct nsr_view **
nsr_range_view(struct nsr_walk *w, const struct nsr_walk_range *r, uint32_t i) {
  return i < r->nrows ? &w->rows[r->rows[i]] : &w->rec[r->lo + i - r->nrows];
}

/* All views of the range are there, up to now. */
NSR_MUST_USE enum nsr_status nsr_state_renew(struct nsr_walk *w,
                                             const struct nsr_walk_range *r);
NSR_MUST_USE enum nsr_status nsr_state_copy(struct nsr_walk *w,
                                            const struct nsr_walk_range *r,
                                            struct nsr_view **out);
/* The state, which is there, is v, as of now. */
NSR_MUST_USE enum nsr_status nsr_state_set(struct nsr_walk *w,
                                           const struct nsr_walk_range *r,
                                           struct nsr_view **v);
/* The same, where v need not stay what it is. */
void nsr_state_swap(struct nsr_walk *w, const struct nsr_walk_range *r,
                    struct nsr_view **v);
/* The renewed state loses what v does not know. */
NSR_MUST_USE enum nsr_status nsr_state_join(struct nsr_walk *w,
                                            const struct nsr_walk_range *r,
                                            struct nsr_view **v);
/* Adds the state, where a way ends, to those of other ways; last: nothing is
 * asked of it any more before it is set. */
NSR_MUST_USE enum nsr_status nsr_state_gather(struct nsr_walk *w,
                                              const struct nsr_walk_range *r,
                                              bool last, struct nsr_view **acc,
                                              bool *any);

/* ---- numbers (known_layout.c) */

/* Numbers slots and loops, once all is announced. */
NSR_MUST_USE enum nsr_status nsr_walk_lay(struct nsr_walk *w);

/* Starts from here on are of the item that w->item says. */
NSR_MUST_USE enum nsr_status nsr_starts_enter(struct nsr_walk *w);

/* Numbers the records of a scope's works: those that are merged. Returns the
 * engines with work in it. */
uint32_t nsr_walk_number_records(struct nsr_walk *w, uint32_t scope,
                                 uint32_t *n);

#endif
