/* tracks.h - sums of registers and the counts that they are held against.
 *
 * Counts are those of semaphores, and of loops: the iterations begun since a
 * loop was entered. A track is a sum and a count whose difference somebody asks
 * for: a wait, a choice that a wait's threshold makes, or another track, since
 * one of its registers is set to such a sum.
 */
#ifndef NSR_PROVE_TRACKS_H
#define NSR_PROVE_TRACKS_H

#include "prove/score.h"
#include "prove/sums.h"

struct nsr_track {
  uint32_t sum, count;
  uint32_t next; /* of its bucket */
};

struct nsr_track_list {
  uint32_t first, n; /* into lists */
};

enum nsr_set_kind {
  NSR_SET_UNKNOWN,
  NSR_SET_STEP, /* a constant is added */
  NSR_SET_VALUE /* a plain value without the register itself */
};

/* What a setting makes of a track: the difference of `sum` and its count (of
 * track `to`, NSR_NONE: none is kept), and a constant. Sum NSR_NONE: nothing.
 */
struct nsr_track_link {
  uint32_t from, to, sum;
  int64_t add;
};

struct nsr_set {
  uint32_t reg;            /* engine * registers + register */
  uint8_t kind;            /* enum nsr_set_kind */
  struct nsr_linear value; /* STEP: its constant alone */
  uint32_t first, n;       /* links, of VALUE */
};

struct nsr_tracks {
  struct nsr_sums sums;
  NSR_VEC(struct nsr_track) v;
  uint32_t ncounts, nregisters;
  uint32_t *count_of;          /* by step: of a loop; else NSR_NONE */
  uint32_t *set_of;            /* by step, into sets; NSR_NONE: none */
  uint32_t *wait_of;           /* by step: number of a wait; NSR_NONE: none */
  struct nsr_reg_value *waits; /* by number: thresholds */
  NSR_VEC(struct nsr_set) sets;
  NSR_VEC(struct nsr_track_link) links;
  uint32_t *lists; /* tracks */
  struct nsr_track_list *by_count, *by_reg;
  uint32_t *buckets;
};

/* Needs a score. */
NSR_MUST_USE enum nsr_status nsr_tracks_find(struct nsr_ctx *ctx,
                                             const struct nsr_score *s,
                                             struct nsr_tracks *out);

/* NSR_NONE: none. */
uint32_t nsr_track_of(const struct nsr_tracks *t, uint32_t sum, uint32_t count);

#endif
