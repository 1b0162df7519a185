/* cells.h - where values are kept along a score, and which of them a scope may
 * change.
 *
 * Per semaphore its count in front of here, at least (in a frame that a loop's
 * head fixes anew), exactly, and at least since the last barrier; the frame of
 * counts since the last barrier; per track the difference of its sum and its
 * count; of each register in a sum the constant that it holds; and the last
 * barrier passed.
 */
#ifndef NSR_PROVE_CELLS_H
#define NSR_PROVE_CELLS_H

#include "prove/tracks.h"

/* What a scope changes. */
struct nsr_extent {
  uint32_t first, n;           /* into lists */
  uint32_t member, end_member; /* of the score */
};

struct nsr_cells {
  const struct nsr_score *s;
  const struct nsr_tracks *tracks;
  uint32_t n, nextents;
  uint32_t *constant_of;      /* by register: cell, NSR_NONE: none */
  uint32_t *first_group;      /* by region, NSR_NONE: none */
  uint32_t *next_group;       /* by group: of its region */
  uint32_t *scope_of;         /* by member: step of the innermost scope */
  uint32_t *extent_of;        /* by step of a scope */
  struct nsr_extent *extents; /* by number */
  NSR_VEC(uint32_t) lists;    /* cells */
};

/* Cells of a group: its least count, of its own number; the exact and the low
 * one. */
static inline uint32_t nsr_cell_base(const struct nsr_cells *c) {
  return c->s->ngroups;
}
static inline uint32_t nsr_cell_exact(const struct nsr_cells *c, uint32_t g) {
  return c->s->ngroups + 1 + g;
}
static inline uint32_t nsr_cell_low(const struct nsr_cells *c, uint32_t g) {
  return 2 * c->s->ngroups + 1 + g;
}
static inline uint32_t nsr_cell_track(const struct nsr_cells *c, uint32_t t) {
  return 3 * c->s->ngroups + 1 + t;
}
static inline uint32_t nsr_cell_epoch(const struct nsr_cells *c) {
  return c->n - 1;
}

/* Needs a score and its tracks. */
NSR_MUST_USE enum nsr_status nsr_cells_find(struct nsr_ctx *ctx,
                                            const struct nsr_score *s,
                                            const struct nsr_tracks *tracks,
                                            struct nsr_cells *out);

#endif
