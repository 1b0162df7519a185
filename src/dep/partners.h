/* partners.h - the earlier accesses that one access must follow; private to
 * src/dep.
 *
 * The accesses of a work are looked at one by one, while the walk of the input
 * stands at it. Each chain (chains.h) is gone through from its latest entry,
 * and left where the rest follows: behind an access of the same channel that
 * surely ran (a channel retires in order), and behind a write of the same bytes
 * that surely ran and was ordered behind all that it conflicts with.
 */
#ifndef NSR_DEP_PARTNERS_H
#define NSR_DEP_PARTNERS_H

#include "base/vec.h"
#include "dep/chains.h"
#include "dep/dep.h"
#include "dep/known.h"

/* A loop around the work that looks: its works first..end-1. */
struct nsr_loop_around {
  uint32_t scope, first, end;
  uint32_t floor; /* carried: nothing in front of this work matters */
};

/* A marker, and where it lies: in front of the work that looks (in: NSR_NONE),
 * or later in a loop around it. */
struct nsr_awaited_mark {
  uint32_t in, mark;
};

struct nsr_partners {
  struct nsr_ctx *ctx;
  const struct nsr_tree *t;
  const struct nsr_distances *d;
  struct nsr_sites sites;
  struct nsr_chains chains;
  NSR_VEC(struct nsr_bytes) where; /* of links, then of what crowds have */
  NSR_VEC(uint32_t) marks[NSR_MAX_CHANNELS]; /* markers that have a place */
  bool *complete; /* by work: ordered behind all that it conflicts with */
  bool *relied;   /* by work: something was left out because it is complete */
  bool deceived;  /* .. which it turned out not to be */
  NSR_VEC(struct nsr_dep) deps;
  NSR_VEC(struct nsr_own_pair) own;
  bool outside; /* others take part */
  NSR_VEC(struct nsr_trouble) troubles;
  struct nsr_walk *walk;
  const uint64_t *trips; /* by scope; NULL: not asked for yet */
  uint32_t spare;        /* effort for what takes more than its own */
  /* the work that looks */
  uint32_t w;
  const struct nsr_site *site;
  NSR_VEC(struct nsr_loop_around) loops;    /* around it, the innermost first */
  uint32_t nunsure;                         /* entries that may not have run */
  NSR_VEC(struct nsr_awaited_mark) awaited; /* markers it depends on */
  uint32_t floor;                           /* forward: .. */
};

/* Needs the sites, and room for `complete`. */
NSR_MUST_USE enum nsr_status nsr_partners_prepare(struct nsr_partners *s);

/* Works first..first+n-1 are taken to be complete, or not to be, until each is
 * looked at. */
void nsr_partners_assume(struct nsr_partners *s, uint32_t first, uint32_t n,
                         bool complete);

/* Adds the pairs of work w to deps; several of its accesses may make one. */
NSR_MUST_USE enum nsr_status nsr_partners_find(struct nsr_partners *s,
                                               uint32_t w);

#endif
