/* chains.h - the earlier accesses that a site may conflict with, the latest
 * first.
 *
 * Each group of sites has two lists: its own sites, and those of linked groups
 * with fewer links. A site's partners are in the two lists of its group and
 * in the own lists of linked groups with more links, so no list is long for
 * everybody. A list is cut into chains: the writers, or the readers, of one
 * channel, in reference order.
 *
 * All sites of a crowd are in one list, whatever they touch; boxes over its
 * chains tell where those are that may meet some bytes.
 */
#ifndef NSR_DEP_CHAINS_H
#define NSR_DEP_CHAINS_H

#include "dep/sites.h"

struct nsr_chain_entry {
  uint32_t work, site;
  uint32_t link;  /* between its group and that of who looks */
  uint32_t older; /* entries in front of it in the chain that lie in the same
                     scope and region, one behind the other */
};

/* Entries first..first+n-1. */
struct nsr_chain {
  uint32_t first, n;
  int8_t channel;
  bool writes;
  uint32_t first_box; /* of a crowd's */
};

/* All bytes of several entries lie in lo..hi-1 of partitions part..end-1. */
struct nsr_chain_box {
  int64_t lo, hi;
  uint32_t part, end;
};

struct nsr_chain_list {
  uint32_t first, n; /* its chains .. */
  uint32_t nwriters; /* .. of which these come first */
};

struct nsr_chains {
  const struct nsr_chain_entry *entries;
  const struct nsr_chain *chains;
  const struct nsr_chain_list *own, *near; /* by group */
  const struct nsr_chain_list *crowds;     /* by crowd */
  const struct nsr_sites *sites;
  const struct nsr_chain_box *boxes;
};

/* Needs the sites; makes their chains. */
NSR_MUST_USE enum nsr_status nsr_chains_build(struct nsr_ctx *ctx,
                                              const struct nsr_sites *sites,
                                              struct nsr_chains *out);

/* How many entries of a chain lie in front of work w. */
uint32_t nsr_chain_before(const struct nsr_chains *c,
                          const struct nsr_chain *chain, uint32_t w);

/* Of the entries from..to-1 of a crowd's chain the last one whose bytes may
 * meet those of a footprint, that is, how many lie up to it; from: there is
 * none. Looks at *effort boxes and entries at most, and takes those it looked
 * at off; where none is left, nobody knows. */
uint32_t nsr_chain_latest(const struct nsr_chains *c,
                          const struct nsr_chain *chain, uint32_t from,
                          uint32_t to, const struct nsr_footprint *f,
                          uint32_t *effort);

#endif
