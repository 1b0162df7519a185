/* known.h - what an engine knows to have retired, for all trip counts.
 *
 * One walk of the common tree keeps, per engine, for every work q the least
 * l such that all but the last l executions of q so far are known to have
 * retired. The same is kept for each awaited work: what follows from its l-th
 * latest execution having retired (theory-channels.md 2, in sets instead of
 * counts: exact for waits that name the latest execution or one a fixed
 * number of executions older). Heads of loops start with everything known
 * and lose facts until nothing changes, inner ones first: with given waits the
 * result is the same in any order, since a transfer that is told less tells
 * less. Where waits are chosen on the way (select.c) another order may choose
 * others; what is found holds in any, since it is stable.
 *
 * Nothing is told apart that nobody asks: levels of a work above the largest
 * lag asked about are one, which maximum, minimum and ageing all respect.
 *
 * Sets are sparse (facts.h) and age by themselves: whatever issues after a set
 * was made is unknown to it. So a work costs what the waits at it cost, and
 * the walk grows with the kernel. It goes item by item: an item is a part of
 * the program's body, or a piece of straight code.
 */
#ifndef NSR_DEP_KNOWN_H
#define NSR_DEP_KNOWN_H

#include "ir/tree.h"

enum { NSR_MAX_LAG = 7 };

/* Starts of iterations that are told apart: the latest ones. */
enum { NSR_MAX_BACK = 7 };

struct nsr_walk;

/* Called for each work in reference order, maybe several times; waits of the
 * work are entered with nsr_walk_wait, before it issues. A work that is not
 * behind the last one begins another round through a loop: what was found
 * from that work on is void. */
typedef enum nsr_status nsr_visit_fn(void *user, struct nsr_walk *walk,
                                     uint32_t work);

/* Called whenever a loop is entered from in front of it, with the same user. */
typedef enum nsr_status nsr_entry_fn(void *user, struct nsr_walk *walk,
                                     uint32_t loop);
void nsr_walk_at_entries(struct nsr_walk *walk, nsr_entry_fn *entry);

/* Needs a linearized tree. barriers: whether those that do not stay are in
 * force (the input). */
NSR_MUST_USE enum nsr_status nsr_walk_new(struct nsr_ctx *ctx,
                                          const struct nsr_tree *tree,
                                          bool barriers, struct nsr_walk **out);

/* Announces that a lag may be asked about, or waited for, in an item (below),
 * about its own works; of others only the latest execution is told apart. All
 * such calls come before the first step. */
void nsr_walk_asks(struct nsr_walk *walk, uint32_t item, uint32_t lag);
/* The item of a work. */
uint32_t nsr_walk_item_of(const struct nsr_walk *walk, uint32_t w);

/* Announces that work p, which has a channel, may be asked about; what is known
 * of others is not kept. */
void nsr_walk_about(struct nsr_walk *walk, uint32_t p);
/* The same, and with lags up to this one only, unless it is announced in the
 * other way, too: heads do not change any more where all lags above it are
 * unknown. */
void nsr_walk_about_lag(struct nsr_walk *walk, uint32_t p, uint32_t lag);

/* Announces that work c may wait for the lag-th latest execution of p, so that
 * what follows from that is kept. Implies the two above. */
void nsr_walk_awaits(struct nsr_walk *walk, uint32_t c, uint32_t p,
                     uint32_t lag);

/* Announces that it may be asked whether what p did in front of the back-th
 * latest iteration of a loop around it is known, or (0) before the loop was
 * last entered (theory-channels.md 7). Implies that p may be asked about. */
NSR_MUST_USE enum nsr_status nsr_walk_before(struct nsr_walk *walk, uint32_t p,
                                             uint32_t loop, uint32_t back);

/* ---- item by item */

/* The works of an item are first..first+n-1. */
struct nsr_walk_item {
  uint32_t part;
  uint32_t first, n;
  uint32_t levels; /* lags below are told apart */
  bool loops;      /* it may have to be walked several times */
};

uint32_t nsr_walk_nitems(const struct nsr_walk *walk);
struct nsr_walk_item nsr_walk_item(const struct nsr_walk *walk, uint32_t item);

/* Steps to the next item: all items come once, in order. */
NSR_MUST_USE enum nsr_status nsr_walk_enter(struct nsr_walk *walk,
                                            uint32_t item);
/* Walks the item from its entry until the heads are stable; the last time
 * through is consistent. May be repeated; the last one counts. */
NSR_MUST_USE enum nsr_status nsr_walk_through(struct nsr_walk *walk,
                                              nsr_visit_fn *visit, void *user);
/* Once more, with the same waits: heads are stable already. */
NSR_MUST_USE enum nsr_status nsr_walk_once(struct nsr_walk *walk,
                                           nsr_visit_fn *visit, void *user);
NSR_MUST_USE enum nsr_status nsr_walk_leave(struct nsr_walk *walk);

/* ---- at a work */

/* Whether engine knows all but the last lag executions of work q; both were
 * announced. */
NSR_MUST_USE enum nsr_status nsr_walk_known(struct nsr_walk *walk, int engine,
                                            uint32_t q, uint32_t lag,
                                            bool *known);

/* Whether engine knows all executions of work q in front of the start of the
 * back-th latest iteration of a loop, 1: of this one, 0: in front of the loop.
 * An iteration starts where the loop's body does (tree.h). */
NSR_MUST_USE enum nsr_status nsr_walk_known_before(struct nsr_walk *walk,
                                                   int engine, uint32_t q,
                                                   uint32_t loop, uint32_t back,
                                                   bool *known);

/* Whether engine knows all executions of all work, that may be asked about, of
 * q's channel up to q. */
NSR_MUST_USE enum nsr_status nsr_walk_known_up_to(struct nsr_walk *walk,
                                                  int engine, uint32_t q,
                                                  bool *known);

/* A question of these two kinds, made ready for the item that was entered. */
struct nsr_question {
  uint32_t q;
  uint32_t start;      /* that is enough, too, or NSR_NONE */
  uint32_t past;       /* q is an earlier item's: asked about last .. */
  uint32_t slot, word; /* else where q and its level are in dense sets */
  uint8_t bit, lag, back;
  bool own, known; /* q is the item's; .. what that knew */
};

struct nsr_question nsr_walk_question(const struct nsr_walk *walk, uint32_t q,
                                      uint32_t lag);
struct nsr_question nsr_walk_question_before(const struct nsr_walk *walk,
                                             uint32_t q, uint32_t loop,
                                             uint32_t back);
/* Asks from question *at on, in order, up to the first one that an engine does
 * not know: *at is that, or n. */
NSR_MUST_USE enum nsr_status nsr_walk_ask(struct nsr_walk *walk, int engine,
                                          struct nsr_question *questions,
                                          uint32_t n, uint32_t *at);

/* The engine waits for the lag-th latest execution of u. Where that was not
 * announced nothing but itself follows. */
NSR_MUST_USE enum nsr_status nsr_walk_wait(struct nsr_walk *walk, int engine,
                                           uint32_t u, uint32_t lag);

/* The engine waits for all executions of u in front of the start of the back-th
 * latest iteration of a loop, 0: of the loop. Nothing else is taken to
 * follow. */
NSR_MUST_USE enum nsr_status nsr_walk_wait_before(struct nsr_walk *walk,
                                                  int engine, uint32_t u,
                                                  uint32_t loop, uint32_t back);

/* Whether the last wait but for these tells, by itself, that all but the last
 * lag executions of work q, which was announced, have retired. */
bool nsr_walk_told(const struct nsr_walk *walk, uint32_t q, uint32_t lag);
/* .. all in front of the start of the back-th latest iteration of a loop, or of
 * that. */
bool nsr_walk_told_before(const struct nsr_walk *walk, uint32_t q,
                          uint32_t loop, uint32_t back);

/* Whether something known was forgotten, to keep a set small. */
bool nsr_walk_coarse(const struct nsr_walk *walk);

#endif
