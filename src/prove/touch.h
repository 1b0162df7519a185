/* touch.h - which works touch common bytes.
 *
 * An access is one operand of one work, hidden state where a pipeline does not
 * keep it in order, or what lies outside. Accesses to the same bytes make a
 * spot; spots with bytes in common are neighbours. So a buffer that is used a
 * thousand times is compared once. Spots with many neighbours form crowds
 * instead: who looks compares those of which something is unknown.
 */
#ifndef NSR_PROVE_TOUCH_H
#define NSR_PROVE_TOUCH_H

#include "mem/footprint.h"
#include "mem/values.h"
#include "prove/unknown.h"

struct nsr_touch {
  uint32_t slot, spot;
  uint8_t operand; /* NSR_MAX_OPERANDS: none */
  bool reads, writes, may, acc;
  bool early; /* a wait for others: over before its work is the channel's */
};

/* Slots of one channel that touch a spot, ascending. */
struct nsr_spot_list {
  uint32_t first, n; /* into touches_of */
  int8_t channel;
  bool writes;
};

struct nsr_spot {
  struct nsr_footprint footprint; /* of all iterations */
  uint32_t first_list, nlists;
  uint32_t crowd; /* + 1, 0: none; its spots, and itself, are no neighbours */
  uint32_t first_near, nnear; /* neighbours, itself among them */
};

struct nsr_neighbour {
  uint32_t spot;
  uint8_t overlap; /* enum nsr_overlap: MAY or MUST */
  struct nsr_bytes where;
};

/* Lists of touches of all spots of a crowd. */
struct nsr_spot_crowd {
  uint32_t first_list, nlists;
};

struct nsr_touches {
  const struct nsr_sights *sights;
  const struct nsr_tree *tree;
  uint32_t n, nspots;
  struct nsr_touch *v; /* by slot */
  uint32_t *first;     /* by slot: first[s]..first[s+1]-1 */
  uint8_t *period; /* by slot: of what rotates, at most, 255 standing for all
                      above; 1: of what moves in other ways; 0: always the same
                      bytes */
  uint32_t *touches_of; /* touches of the spots' lists */
  struct nsr_spot *spots;
  struct nsr_spot_list *lists;
  struct nsr_neighbour *near;
  struct nsr_spot_crowd *crowds;
  bool outside; /* others take part */
  struct nsr_values values[NSR_MAX_ENGINES];
};

/* Needs the slots of a score of the output or input; reads the input's
 * instructions. */
NSR_MUST_USE enum nsr_status nsr_touches_find(struct nsr_ctx *ctx,
                                              const struct nsr_sights *sights,
                                              struct nsr_touches *out);

/* How far access q, of executions in front of one of c, is from it. */
struct nsr_apart {
  uint32_t level; /* so many of the latest executions can have no byte in common
                     with c; NSR_LEVEL_ANY: none ever has */
  uint32_t but_one; /* the same if the latest one does not matter */
  bool sure;        /* the latest one has, in some iteration, whatever the trip
                       counts */
  bool first;       /* .. in the first iteration */
  uint32_t loop;    /* whose iterations tell them apart, and start in front of
                       both; NSR_NONE: none */
  uint8_t back;     /* .. what is behind the back-th latest start has no byte in
                       common with c, 0: nobody knows */
  bool front; /* all this holds within one run of the loop: what was before it
                 was entered is another matter */
};

/* Reads rotation and steps off the outermost loop around both. */
NSR_MUST_USE enum nsr_status nsr_touch_apart(struct nsr_ctx *ctx,
                                             const struct nsr_touches *t,
                                             const struct nsr_touch *q,
                                             const struct nsr_touch *c,
                                             struct nsr_apart *out);

/* Whether the machine itself keeps q in front of c. */
bool nsr_touch_ordered(const struct nsr_touches *t, const struct nsr_touch *q,
                       const struct nsr_touch *c);

#endif
