/* sets.h - what is not known of the works of one item, in one of two forms.
 *
 * Sets of the walk (known.h) live as long as an item and are compared, copied
 * and merged all the time. Where the item is small they are dense: each of its
 * slots, in the order of the text, has a bit for each level, set where that
 * slot is above the level, so that the highest of two levels is their bits or,
 * the lowest their bits and, of 64 slots at once. Where the item is large they
 * are stretches (facts.h), since few describe much. Who uses them does not see
 * which.
 */
#ifndef NSR_DEP_SETS_H
#define NSR_DEP_SETS_H

#include <string.h>

#include <nsr/isa.h>

#include "dep/facts.h"

/* Levels that are told apart, at most. */
enum { NSR_MAX_LEVELS = 8 };

struct nsr_set {
  uint32_t words; /* of the dense form; 0: stretches */
  uint32_t cap;   /* room in bits */
  uint64_t *bits; /* 64 slots after the other: of those, level after level */
  struct nsr_facts facts;
};

/* The slots of an item. */
struct nsr_slots {
  struct nsr_ctx *ctx;
  struct nsr_facts_pool pool;
  uint32_t levels, nch;
  uint32_t first[NSR_MAX_CHANNELS], n[NSR_MAX_CHANNELS];
  uint32_t place[NSR_MAX_CHANNELS]; /* into where, of slot first */
  uint16_t *where;                  /* channel by channel: in a dense set */
  uint8_t *channel;                 /* by place in a dense set */
  uint32_t *slot;                   /* the same */
  uint8_t *most;                    /* the same: the highest level that is told
                                       apart from those above it */
  uint64_t *told;                   /* as bits of a dense set */
  uint64_t *mask;                   /* channel by channel: its places */
  uint32_t cap;                     /* room for so many places in these */
  uint32_t nactive;                 /* channels with slots: .. */
  uint8_t active[NSR_MAX_CHANNELS]; /* .. these */
  uint32_t words;                   /* of a dense set; 0: stretches */
  uint32_t groups;                  /* of 64 places each */
  uint32_t cost;                    /* units that a dense set costs */
  uint64_t units;                   /* of work since nsr_slots_count */
  struct nsr_facts aged, tmp;
  bool coarse; /* a set of stretches was made coarser */
};

/* Room for the places of n slots, if sets are to be dense. */
NSR_MUST_USE enum nsr_status nsr_slots_room(struct nsr_slots *s, uint32_t n);
/* The item has slots first[ch] .. first[ch]+n[ch]-1, set by who calls, as are
 * ctx, levels, nch and (dense) `channel` and `most` of each slot in the order
 * of the text. Sets of the item before are void, but for those that were made
 * stretches. Needs no set for itself. */
void nsr_slots_lay(struct nsr_slots *s, bool dense);

/* Work since the last time is counted. */
void nsr_slots_count(struct nsr_slots *s);

/* In the item's form: all is known. */
NSR_MUST_USE enum nsr_status nsr_set_begin(struct nsr_slots *s,
                                           struct nsr_set *set);
/* In the form it has: all is known. */
void nsr_set_clear(struct nsr_set *set);
/* Makes it stretches. */
NSR_MUST_USE enum nsr_status nsr_set_to_facts(struct nsr_slots *s,
                                              struct nsr_set *set);
/* Room for a dense set of so many words; what it held is lost. */
NSR_MUST_USE enum nsr_status nsr_set_room(struct nsr_slots *s,
                                          struct nsr_set *set, uint32_t words);
/* Dense sets are whole blocks, so that loops over them have a fixed length. */
enum { NSR_SET_BLOCK = 4 };

static inline enum nsr_status nsr_set_copy(struct nsr_slots *s,
                                           struct nsr_set *out,
                                           const struct nsr_set *set) {
  if (out->cap < set->words)
    NSR_TRY(nsr_set_room(s, out, set->words));
  out->words = set->words;
  if (!set->words)
    return nsr_facts_copy(&s->pool, &out->facts, &set->facts);
  uint64_t *x = out->bits, *end = x + set->words;
  for (const uint64_t *y = set->bits; x < end;
       x += NSR_SET_BLOCK, y += NSR_SET_BLOCK)
    memcpy(x, y, NSR_SET_BLOCK * sizeof *x);
  return NSR_OK;
}
/* Stretches go back into the pool; room for bits stays. */
void nsr_set_free(struct nsr_slots *s, struct nsr_set *set);

/* Adds `more` executions to slots lo..hi-1 of a channel, between a begin and
 * an end; slots come in ascending order. */
void nsr_set_age_begin(struct nsr_slots *s);
NSR_MUST_USE enum nsr_status nsr_set_age_some(struct nsr_slots *s,
                                              struct nsr_set *set, uint32_t ch,
                                              uint32_t lo, uint32_t hi,
                                              uint32_t more);
static inline enum nsr_status nsr_set_age(struct nsr_slots *s,
                                          struct nsr_set *set, uint32_t ch,
                                          uint32_t lo, uint32_t hi,
                                          uint32_t more) {
  return lo < hi ? nsr_set_age_some(s, set, ch, lo, hi, more) : NSR_OK;
}
NSR_MUST_USE enum nsr_status nsr_set_age_end(struct nsr_slots *s,
                                             struct nsr_set *set);

/* The same at once for places lo..hi-1 of a dense set, without an end. */
void nsr_set_age_span(struct nsr_slots *s, struct nsr_set *set, uint32_t lo,
                      uint32_t hi, uint32_t more);
static inline void nsr_set_age_places(struct nsr_slots *s, struct nsr_set *set,
                                      uint32_t lo, uint32_t hi, uint32_t more) {
  if (lo < hi)
    nsr_set_age_span(s, set, lo, hi, more);
}

/* The highest, or lowest, of each two; whether that changes a. */
static inline bool nsr_bits_highest(uint64_t *restrict a,
                                    const uint64_t *restrict b, uint32_t n) {
  uint64_t changed[NSR_SET_BLOCK] = {0}, any = 0;
  for (uint64_t *end = a + n; a < end; a += NSR_SET_BLOCK, b += NSR_SET_BLOCK)
    for (int j = 0; j < NSR_SET_BLOCK; j++) {
      changed[j] |= b[j] & ~a[j];
      a[j] |= b[j];
    }
  for (int j = 0; j < NSR_SET_BLOCK; j++)
    any |= changed[j];
  return any != 0;
}

static inline bool nsr_bits_lowest(uint64_t *restrict a,
                                   const uint64_t *restrict b, uint32_t n) {
  uint64_t changed[NSR_SET_BLOCK] = {0}, any = 0;
  for (uint64_t *end = a + n; a < end; a += NSR_SET_BLOCK, b += NSR_SET_BLOCK)
    for (int j = 0; j < NSR_SET_BLOCK; j++) {
      changed[j] |= a[j] & ~b[j];
      a[j] &= b[j];
    }
  for (int j = 0; j < NSR_SET_BLOCK; j++)
    any |= changed[j];
  return any != 0;
}

NSR_MUST_USE enum nsr_status nsr_set_merge_facts(struct nsr_slots *s,
                                                 struct nsr_set *a,
                                                 const struct nsr_set *b,
                                                 enum nsr_facts_op op,
                                                 bool *changed);
/* a = a op b, of one form; ADD is not for this. *changed: whether a did. */
static inline enum nsr_status
nsr_set_merge(struct nsr_slots *s, struct nsr_set *a, const struct nsr_set *b,
              enum nsr_facts_op op, bool *changed) {
  if (!a->words)
    return nsr_set_merge_facts(s, a, b, op, changed);
  *changed = op == NSR_FACTS_MAX ? nsr_bits_highest(a->bits, b->bits, a->words)
                                 : nsr_bits_lowest(a->bits, b->bits, a->words);
  s->units += 1 + s->cost;
  return NSR_OK;
}
/* All of the item's slots of a channel are known. */
NSR_MUST_USE enum nsr_status nsr_set_learn(struct nsr_slots *s,
                                           struct nsr_set *set, uint32_t ch);
/* A slot of a channel is at most at a level. */
NSR_MUST_USE enum nsr_status nsr_set_lower(struct nsr_slots *s,
                                           struct nsr_set *set, uint32_t ch,
                                           uint32_t slot, uint32_t level);
/* Whether all of the item's slots of a channel below `end` are known. */
bool nsr_set_none(const struct nsr_slots *s, const struct nsr_set *set,
                  uint32_t ch, uint32_t end);
/* Where a slot of a channel is in dense sets. */
static inline uint32_t nsr_slot_place(const struct nsr_slots *s, uint32_t ch,
                                      uint32_t slot) {
  return s->where[s->place[ch] + slot - s->first[ch]];
}

/* Whether the slot at a place of a dense set is above a level. */
static inline bool nsr_set_above(const struct nsr_slots *s,
                                 const struct nsr_set *set, uint32_t place,
                                 uint32_t level) {
  return level < s->levels &&
         (set->bits[place / 64 * s->levels + level] >> place % 64 & 1);
}

/* Whether a slot of a channel is above a level. */
static inline bool nsr_set_unknown(const struct nsr_slots *s,
                                   const struct nsr_set *set, uint32_t ch,
                                   uint32_t slot, uint32_t level) {
  return set->words ? nsr_set_above(s, set, nsr_slot_place(s, ch, slot), level)
                    : nsr_facts_level(&set->facts, slot) > level;
}

#endif
