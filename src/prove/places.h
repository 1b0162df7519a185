/* places.h - where inserted code stands in the common tree.
 *
 * Each piece of it runs between two things that its engine comes to in one
 * body: works, nested scopes, barriers that stay, the body's begin and end.
 * What else the other engines do between the two is for the reference order to
 * choose: from the first wait on it stands as late as it can, what is in front
 * of that as early.
 */
#ifndef NSR_PROVE_PLACES_H
#define NSR_PROVE_PLACES_H

#include "base/vec.h"
#include "prove/erase.h"

/* Output instructions lo..hi-1. */
struct nsr_inserted {
  uint32_t lo, hi;
};

/* No-ops of one engine where an arm is passed by. */
struct nsr_passing {
  uint32_t scope, engine, lo, hi;
};

struct nsr_inserted_run {
  uint32_t first, n; /* into v */
};

enum { NSR_FRONT, NSR_BEHIND };

struct nsr_places {
  NSR_VEC(struct nsr_inserted) v;
  /* in front of, and behind: */
  struct nsr_inserted_run *work[2]; /* by work */
  struct nsr_inserted_run *part[2]; /* by part * NSR_MAX_ENGINES + engine */
  struct nsr_inserted_run *body[2]; /* by scope * NSR_MAX_ENGINES + engine: its
                                       end, and its begin */
  NSR_VEC(struct nsr_passing) passing; /* by scope */
  uint32_t *part_of;                   /* by scope */
  uint64_t *set[NSR_MAX_ENGINES];      /* registers that inserted code sets */
};

/* The first no-ops where an arm is passed by, others of it follow; NULL: there
 * are none. */
const struct nsr_passing *nsr_passing_first(const struct nsr_places *p,
                                            uint32_t scope);

/* Needs the erasure and a linearized tree. Objects to inserted code where
 * nothing of the tree is, and to what it sets of the input's registers. */
NSR_MUST_USE enum nsr_status nsr_places_find(struct nsr_ctx *ctx,
                                             const struct nsr_erasure *e,
                                             struct nsr_places *out,
                                             struct nsr_proof *proof);

#endif
