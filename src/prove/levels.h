/* levels.h - a level for each of many places, kept once.
 *
 * A tree has a node for so many places, with a word for each part of them;
 * where all of a part have one level, that is its word. Equal nodes are one, so
 * that what two trees have in common is seen at once, is stored once, and is
 * computed with once. A tree is the number of its root; nothing changes it.
 */
#ifndef NSR_PROVE_LEVELS_H
#define NSR_PROVE_LEVELS_H

#include "base/vec.h"

/* Places of a lowest node. */
enum { NSR_LEVEL_PLACES = 128 };

/* Levels stop here: any number of executions. Trees below 1 + this have one
 * level everywhere. */
enum { NSR_LEVEL_ANY = 15 };

enum { NSR_LEVEL_WORDS = 8 };

/* No tree: memory is short. */
#define NSR_NO_LEVELS UINT32_MAX

enum nsr_level_op {
  NSR_LEVEL_LEAST,
  NSR_LEVEL_MOST,
  NSR_LEVEL_SUM,   /* above `most`: any number */
  NSR_LEVEL_SETTLE /* of one tree: 0 or any number */
};

struct nsr_level_node {
  uint64_t w[NSR_LEVEL_WORDS]; /* of a lowest one: 16 levels each; else trees */
};

/* What an operation made: of places lo..hi-1 where it is of some. */
struct nsr_level_made {
  uint32_t a, b, lo, hi, out;
  uint32_t op;
};

struct nsr_levels {
  struct nsr_ctx *ctx;
  struct nsr_level_node *v; /* by tree */
  uint32_t *hash;           /* .. its lowest bit: not one of the lowest */
  bool *used;
  uint32_t n, cap; /* a power of two */
  uint32_t spare;  /* numbers that are not used, chained by hash; 0: none */
  uint32_t nspare;
  uint32_t *table;             /* of 2 * cap, by hash: trees; 0: none */
  struct nsr_level_made *made; /* by operands */
  uint32_t limit; /* of used ones, from which on it is worth to look for them */
  uint32_t most;  /* a sum above is any number; to be set at will */
  uint64_t effort; /* nodes gone through so far */
};

NSR_MUST_USE enum nsr_status nsr_levels_init(struct nsr_ctx *ctx,
                                             struct nsr_levels *out);

/* How high a tree of so many places is. */
uint8_t nsr_levels_height(uint32_t n);

/* All below make trees of one height: of two, place by place; of one, with
 * lo..hi-1 as told, or with another tree's added to these. Moved to there: a
 * tree just high enough for the places up to hi, from the start of lo's lowest
 * node on. */
uint32_t nsr_levels_join(struct nsr_levels *l, uint8_t height,
                         enum nsr_level_op op, uint32_t a, uint32_t b);
uint32_t nsr_levels_set(struct nsr_levels *l, uint8_t height, uint32_t a,
                        uint32_t lo, uint32_t hi, uint32_t level);
uint32_t nsr_levels_add(struct nsr_levels *l, uint8_t height, uint32_t a,
                        uint32_t lo, uint32_t hi, uint32_t b);
uint32_t nsr_levels_move(struct nsr_levels *l, uint8_t height, uint32_t a,
                         uint32_t lo, uint32_t hi, uint32_t b);

uint32_t nsr_levels_at(const struct nsr_levels *l, uint8_t height, uint32_t a,
                       uint32_t place);
/* The first place from one on with a level above 0, UINT32_MAX: none. */
uint32_t nsr_levels_next(const struct nsr_levels *l, uint8_t height, uint32_t a,
                         uint32_t place);

/* Where there are many trees: nothing is used, but for what is marked then; the
 * rest goes. */
static inline bool nsr_levels_full(const struct nsr_levels *l) {
  return l->n - l->nspare >= l->limit;
}
void nsr_levels_unmark(struct nsr_levels *l);
void nsr_levels_mark(struct nsr_levels *l, uint32_t a);
void nsr_levels_sweep(struct nsr_levels *l);

#endif
