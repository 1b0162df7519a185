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

#include <nsr/isa.h>

#include "dep/facts.h"

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
  uint64_t *mask;                   /* channel by channel: its places */
  uint32_t cap;                     /* room for so many places in these */
  uint32_t nactive;                 /* channels with slots: .. */
  uint8_t active[NSR_MAX_CHANNELS]; /* .. these */
  uint32_t words;                   /* of a dense set; 0: stretches */
  uint32_t groups;                  /* of 64 places each */
  uint32_t cost;                    /* units that a dense set costs */
  struct nsr_facts aged, tmp;
  bool coarse; /* a set of stretches was made coarser */
};

/* Room for the places of n slots, if sets are to be dense. */
NSR_MUST_USE enum nsr_status nsr_slots_room(struct nsr_slots *s, uint32_t n);
/* The item has slots first[ch] .. first[ch]+n[ch]-1, set by who calls, as are
 * ctx, levels, nch and (dense) the channel of each slot in the order of the
 * text. Sets of the item before are void, but for those that were made
 * stretches. Needs no set for itself. */
void nsr_slots_lay(struct nsr_slots *s, bool dense);

/* In the item's form: all is known. */
NSR_MUST_USE enum nsr_status nsr_set_begin(struct nsr_slots *s,
                                           struct nsr_set *set);
/* In the form it has: all is known. */
void nsr_set_clear(struct nsr_set *set);
/* Makes it stretches. */
NSR_MUST_USE enum nsr_status nsr_set_to_facts(struct nsr_slots *s,
                                              struct nsr_set *set);
NSR_MUST_USE enum nsr_status nsr_set_copy(struct nsr_slots *s,
                                          struct nsr_set *out,
                                          const struct nsr_set *set);
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

/* The same at once for places lo..hi-1 of a dense set. */
void nsr_set_age_places(struct nsr_slots *s, struct nsr_set *set, uint32_t lo,
                        uint32_t hi, uint32_t more);

/* a = a op b, of one form; ADD is not for this. *changed: whether a did. */
NSR_MUST_USE enum nsr_status nsr_set_merge(struct nsr_slots *s,
                                           struct nsr_set *a,
                                           const struct nsr_set *b,
                                           enum nsr_facts_op op, bool *changed);
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
