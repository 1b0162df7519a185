/* sites.h - who touches what.
 *
 * A site is one access of one work: an operand, hidden state of an engine
 * whose pipeline does not keep it in order, what lies outside (EXTERNAL), or,
 * where there are instructions with unknown effects, the one place that each of
 * these may write and all others read, so that they are in order with all.
 * Sites that touch the same bytes in every execution form a group, and groups
 * that have bytes in common are linked. So a buffer used a thousand times is
 * compared once, and what follows is linear in sites and links.
 */
#ifndef NSR_DEP_SITES_H
#define NSR_DEP_SITES_H

#include "dep/distance.h"
#include "mem/footprint.h"

struct nsr_site {
  uint32_t work, group;
  bool reads, writes;
  bool may;      /* touches some of the bytes only */
  bool acc;      /* accumulates in PSUM */
  bool external; /* what lies outside */
  bool anything; /* what unknown effects may be on */
};

struct nsr_site_group {
  struct nsr_footprint footprint; /* of all iterations; role R or RW */
  struct nsr_pattern pattern;     /* of one of its sites */
  uint32_t tensor;         /* of all its sites, if facts name it, or NSR_NONE */
  bool moves;              /* the bytes differ from iteration to iteration,
                              or nobody knows which they are */
  bool linked;             /* to some group; otherwise nobody cares */
  uint32_t self;           /* its link to itself, NSR_NONE: it never writes */
  uint32_t crowd;          /* + 1, 0: none; links to its groups, and to
                              itself, are not listed */
  uint32_t first_up, nups; /* links to groups with more links, in
                              nsr_sites.ups */
};

/* Two groups with common bytes, one of which writes; a <= b. */
struct nsr_site_link {
  uint32_t a, b;
  uint8_t overlap; /* enum nsr_overlap: MAY or MUST */
};

struct nsr_sites {
  const struct nsr_tree *tree;
  uint32_t nsites, ngroups, nlinks, ncrowds;
  const struct nsr_site *sites; /* by work */
  const uint32_t *first;        /* by work: first[w]..first[w+1]-1 */
  const struct nsr_site_group *groups;
  const struct nsr_site_link *links;
  struct nsr_bytes *where; /* by link: common bytes .. */
  size_t nwhere;           /* .. and room for those of crowds */
  const uint32_t *ups;     /* each link between two groups once, at the group
                              with fewer links */
};

/* Needs a linearized tree; works of islands have no sites. Groups with more
 * than `most` links are crowded. */
NSR_MUST_USE enum nsr_status nsr_sites_find(struct nsr_ctx *ctx,
                                            const struct nsr_distances *d,
                                            size_t most, struct nsr_sites *out);

/* The group at a link's other end. */
static inline uint32_t nsr_site_other(const struct nsr_site_link *l,
                                      uint32_t group) {
  return l->a == group ? l->b : l->a;
}

#endif
