/* walk_score.h - abstract walks of a score, until nothing changes.
 *
 * An item is a step outside of all scopes, or a scope there with all in it. It
 * is gone through again and again, its loops' heads losing facts, until a
 * round changes none; the last round is consistent. What a state is, its
 * walker knows; it has one that is current, and per loop one at the head, one
 * of the ways back and one of the ways out.
 */
#ifndef NSR_PROVE_WALK_SCORE_H
#define NSR_PROVE_WALK_SCORE_H

#include "prove/score.h"

struct nsr_walker {
  void *user;
  /* An item of these steps begins; it is gone through once more. */
  enum nsr_status (*item)(void *user, uint32_t first, uint32_t end);
  enum nsr_status (*again)(void *user);
  /* It is over; NULL: nothing is to be done. */
  enum nsr_status (*leave)(void *user, uint32_t first, uint32_t end);
  /* Any step but those of scopes. */
  enum nsr_status (*step)(void *user, uint32_t i);
  /* The head takes in the current state, which then is the head's. */
  enum nsr_status (*enter_loop)(void *user, uint32_t loop, bool *changed);
  /* A way through the body ends in the current state. */
  enum nsr_status (*end_way)(void *user, uint32_t loop, bool back);
  /* The head takes in the ways back; the current state is that of the ways
   * out, of the head where there is none. */
  enum nsr_status (*leave_loop)(void *user, uint32_t loop, bool *changed);
  /* The current state is kept; taken again, the arm's state forgotten; or
   * joined with that. */
  enum nsr_status (*enter_arm)(void *user, uint32_t arm);
  enum nsr_status (*leave_arm)(void *user, uint32_t arm, bool join);
  /* What was kept becomes current, the current state is kept for leave_arm to
   * join with. */
  enum nsr_status (*other_way)(void *user, uint32_t arm);
  /* Whether a body that was entered would do again what it did, so that the
   * loop may be left at once; NULL: none may. */
  bool (*passes_loop)(void *user, uint32_t loop);
};

/* Needs a score's steps; makes to_end and ended. */
NSR_MUST_USE enum nsr_status nsr_score_ends(struct nsr_ctx *ctx,
                                            struct nsr_score *s);

NSR_MUST_USE enum nsr_status nsr_score_walk(const struct nsr_score *s,
                                            const struct nsr_walker *w);
/* The same; where nothing changes any more it is asked whether to go through
 * the item once more all the same. */
NSR_MUST_USE enum nsr_status nsr_score_walk_on(const struct nsr_score *s,
                                               const struct nsr_walker *w,
                                               bool (*once_more)(void *user));

#endif
