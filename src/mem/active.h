/* active.h - the footprints that a sweep has begun and not left.
 *
 * Footprints come by first byte, ascending. For each, those that came before
 * and may meet it are: whose hull reaches it and, among tiles that interleave
 * (rows of a matrix are their outermost dimension), whose columns it touches.
 * So a thousand tiles side by side take about a thousand comparisons.
 */
#ifndef NSR_MEM_ACTIVE_H
#define NSR_MEM_ACTIVE_H

#include "base/vec.h"
#include "mem/footprint.h"

struct nsr_active_item {
  const struct nsr_footprint *footprint;
  uint64_t seen; /* the query that met this item last, 0: none yet */
  bool crowded;  /* which of two such structures it is in (struct nsr_active) */
};

struct nsr_active_list {
  struct nsr_active_item **v;
  size_t n, cap;
};

/* Tiles whose outermost step is `pitch`, by column: bucket b holds those that
 * touch bytes b*width.. of the pitch. */
struct nsr_active_pitch {
  int64_t pitch, width;
  size_t nbuckets;
  struct nsr_active_list all, *buckets;
};

enum { NSR_ACTIVE_PITCHES = 16 };

struct nsr_active {
  bool crowded;                 /* others leave */
  struct nsr_active_list plain; /* what has no pitch */
  struct nsr_active_pitch pitches[NSR_ACTIVE_PITCHES];
  int npitches;
};

/* Forgets all items. */
void nsr_active_clear(struct nsr_active *a);

/* Adds an item, which stays where it is until the sweep is over. */
NSR_MUST_USE enum nsr_status nsr_active_add(struct nsr_ctx *ctx,
                                            struct nsr_active *a,
                                            struct nsr_active_item *item);

/* Appends to *out the items that may meet f, each once, until it holds `most`;
 * query is a number that grows from call to call, from 1. Items that end before
 * f begins go. */
NSR_MUST_USE enum nsr_status nsr_active_find(struct nsr_ctx *ctx,
                                             struct nsr_active *a,
                                             const struct nsr_footprint *f,
                                             uint64_t query, size_t most,
                                             struct nsr_active_list *out);
#endif
