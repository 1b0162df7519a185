/* sets.c - both forms behind sets.h. */
#include "dep/sets.h"

#include <assert.h>
#include <string.h>

#include "base/work.h"

enum { BLOCK = NSR_SET_BLOCK };

/* What an operation has cost: about as much for 64 slots as for a stretch. */
static inline void count(struct nsr_slots *s, const struct nsr_set *set) {
  s->units += 1 + (set->words ? s->cost : set->facts.n);
}

void nsr_slots_count(struct nsr_slots *s) {
  nsr_work_count(s->ctx, NSR_WORK_DEP, s->units);
  s->units = 0;
}

static void swap(struct nsr_facts *a, struct nsr_facts *b) {
  struct nsr_facts x = *a;
  *a = *b;
  *b = x;
}

enum nsr_status nsr_slots_room(struct nsr_slots *s, uint32_t n) {
  if (n < s->cap)
    return NSR_OK;
  s->cap = 2 * n + 1;
  NSR_NEW(s->ctx, NSR_SCRATCH, s->where, s->cap);
  NSR_NEW(s->ctx, NSR_SCRATCH, s->channel, s->cap);
  NSR_NEW(s->ctx, NSR_SCRATCH, s->slot, s->cap);
  NSR_NEW(s->ctx, NSR_SCRATCH, s->most, s->cap);
  NSR_NEW(s->ctx, NSR_SCRATCH, s->told, NSR_MAX_LEVELS * (s->cap / 64 + 1));
  NSR_NEW(s->ctx, NSR_SCRATCH, s->mask, s->nch * (s->cap / 64 + 1));
  return NSR_OK;
}

static void lay_dense(struct nsr_slots *s, uint32_t n) {
  uint32_t next[NSR_MAX_CHANNELS];
  assert(n <= s->cap);
  s->groups = n / 64 + 1;
  s->words = (s->groups * s->levels + BLOCK - 1) / BLOCK * BLOCK;
  s->cost = (n / 32 + 1) / 2;
  memcpy(next, s->place, sizeof next);
  memset(s->mask, 0, s->nch * s->groups * sizeof *s->mask);
  memset(s->told, 0, s->levels * s->groups * sizeof *s->told);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t ch = s->channel[i];
    s->slot[i] = s->first[ch] + next[ch] - s->place[ch];
    s->where[next[ch]++] = (uint16_t)i;
    s->mask[ch * s->groups + i / 64] |= UINT64_C(1) << i % 64;
    for (uint32_t l = 0; l < s->levels && l < s->most[i]; l++)
      s->told[i / 64 * s->levels + l] |= UINT64_C(1) << i % 64;
  }
}

void nsr_slots_lay(struct nsr_slots *s, bool dense) {
  uint32_t at = 0;
  s->nactive = 0;
  for (uint32_t ch = 0; ch < s->nch; ch++) {
    if (s->n[ch])
      s->active[s->nactive++] = (uint8_t)ch;
    s->place[ch] = at;
    at += s->n[ch];
  }
  s->words = 0;
  if (dense)
    lay_dense(s, at);
}

/* ---- forms */

enum nsr_status nsr_set_room(struct nsr_slots *s, struct nsr_set *set,
                             uint32_t words) {
  if (set->cap >= words)
    return NSR_OK;
  set->cap = 2 * words;
  NSR_NEW(s->ctx, NSR_SCRATCH, set->bits, set->cap);
  return NSR_OK;
}

void nsr_set_clear(struct nsr_set *set) {
  set->facts.n = 0;
  if (set->words)
    memset(set->bits, 0, set->words * sizeof *set->bits);
}

enum nsr_status nsr_set_begin(struct nsr_slots *s, struct nsr_set *set) {
  NSR_TRY(nsr_set_room(s, set, s->words));
  set->words = s->words;
  nsr_set_clear(set);
  return NSR_OK;
}

static uint32_t level_at(const struct nsr_slots *s, const struct nsr_set *set,
                         uint32_t place) {
  uint32_t level = 0;
  while (nsr_set_above(s, set, place, level))
    level++;
  return level;
}

/* Adds the unknown slots among those of a mask, in a group. */
static enum nsr_status push_group(struct nsr_slots *s,
                                  const struct nsr_set *set, uint32_t group,
                                  uint64_t mask, struct nsr_fact *run) {
  uint64_t unknown = mask & set->bits[group * s->levels];
  for (; unknown; unknown &= unknown - 1) {
    uint32_t place = 64 * group + (uint32_t)__builtin_ctzll(unknown);
    uint32_t slot = s->slot[place], level = level_at(s, set, place);
    if (slot != run->hi || level != run->level) {
      NSR_TRY(nsr_facts_push(&s->pool, &s->tmp, run->lo, run->hi, run->level));
      *run = (struct nsr_fact){slot, slot, level};
    }
    run->hi++;
  }
  return NSR_OK;
}

enum nsr_status nsr_set_to_facts(struct nsr_slots *s, struct nsr_set *set) {
  if (!set->words)
    return NSR_OK;
  struct nsr_fact run = {0};
  s->tmp.n = 0;
  for (uint32_t k = 0; k < s->nactive; k++) {
    const uint64_t *mask = s->mask + s->active[k] * s->groups;
    for (uint32_t i = 0; i < s->groups; i++)
      NSR_TRY(push_group(s, set, i, mask[i], &run));
  }
  set->words = 0;
  NSR_TRY(nsr_facts_push(&s->pool, &s->tmp, run.lo, run.hi, run.level));
  swap(&s->tmp, &set->facts);
  return NSR_OK;
}

void nsr_set_free(struct nsr_slots *s, struct nsr_set *set) {
  set->words = 0;
  nsr_facts_free(&s->pool, &set->facts);
}

/* ---- ageing */

void nsr_set_age_begin(struct nsr_slots *s) { s->aged.n = 0; }

/* Some slots of a group, as bits of a mask. */
static inline void age_group(struct nsr_slots *s, struct nsr_set *set,
                             uint32_t group, uint64_t mask, uint32_t more) {
  uint64_t *b = set->bits + group * s->levels;
  const uint64_t *told = s->told + group * s->levels;
  uint32_t n = more < s->levels ? more : s->levels;
  for (uint32_t l = s->levels; l-- > n;)
    b[l] |= b[l - n] & mask & told[l];
  for (uint32_t l = 0; l < n; l++)
    b[l] |= mask & told[l];
}

enum nsr_status nsr_set_age_some(struct nsr_slots *s, struct nsr_set *set,
                                 uint32_t ch, uint32_t lo, uint32_t hi,
                                 uint32_t more) {
  if (!set->words)
    return nsr_facts_push(&s->pool, &s->aged, lo, hi, more);
  assert(lo < hi && lo >= s->first[ch] && hi - s->first[ch] <= s->n[ch]);
  for (uint32_t x = lo; x < hi; x++) {
    uint32_t at = nsr_slot_place(s, ch, x);
    age_group(s, set, at / 64, UINT64_C(1) << at % 64, more);
  }
  return NSR_OK;
}

void nsr_set_age_span(struct nsr_slots *s, struct nsr_set *set, uint32_t lo,
                      uint32_t hi, uint32_t more) {
  uint32_t first = lo / 64, last = (hi - 1) / 64;
  uint64_t from = UINT64_MAX << lo % 64,
           to = UINT64_MAX >> (63 - (hi - 1) % 64);
  assert(set->words && last < s->groups);
  if (first == last) {
    age_group(s, set, first, from & to, more);
    return;
  }
  age_group(s, set, first, from, more);
  for (uint32_t i = first + 1; i < last; i++)
    age_group(s, set, i, UINT64_MAX, more);
  age_group(s, set, last, to, more);
}

enum nsr_status nsr_set_age_end(struct nsr_slots *s, struct nsr_set *set) {
  if (!set->words && s->aged.n) {
    NSR_TRY(nsr_facts_zip(&s->pool, &s->tmp, &set->facts, &s->aged,
                          NSR_FACTS_ADD, s->levels, &s->coarse));
    swap(&s->tmp, &set->facts);
  }
  count(s, set);
  return NSR_OK;
}

/* ---- merging */

enum nsr_status nsr_set_merge_facts(struct nsr_slots *s, struct nsr_set *a,
                                    const struct nsr_set *b,
                                    enum nsr_facts_op op, bool *changed) {
  assert(!b->words && op != NSR_FACTS_ADD);
  *changed = false;
  if (nsr_facts_equal(&a->facts, &b->facts))
    return NSR_OK;
  NSR_TRY(nsr_facts_zip(&s->pool, &s->tmp, &a->facts, &b->facts, op, s->levels,
                        &s->coarse));
  *changed = !nsr_facts_equal(&s->tmp, &a->facts);
  swap(&s->tmp, &a->facts);
  count(s, a);
  return NSR_OK;
}

/* ---- single channels and slots */

enum nsr_status nsr_set_learn(struct nsr_slots *s, struct nsr_set *set,
                              uint32_t ch) {
  if (!set->words)
    return nsr_facts_learn(&s->pool, &set->facts, s->first[ch],
                           s->first[ch] + s->n[ch]);
  const uint64_t *mask = s->mask + ch * s->groups;
  uint64_t *b = set->bits;
  for (uint32_t i = 0; i < s->groups; i++)
    for (uint32_t l = 0; l < s->levels; l++)
      *b++ &= ~mask[i];
  return NSR_OK;
}

enum nsr_status nsr_set_lower(struct nsr_slots *s, struct nsr_set *set,
                              uint32_t ch, uint32_t slot, uint32_t level) {
  if (!nsr_set_unknown(s, set, ch, slot, level))
    return NSR_OK;
  if (!set->words) {
    NSR_TRY(nsr_facts_lower(&s->pool, &s->tmp, &set->facts, slot, level));
    swap(&s->tmp, &set->facts);
    return NSR_OK;
  }
  uint32_t place = nsr_slot_place(s, ch, slot);
  for (uint32_t l = level; l < s->levels; l++)
    set->bits[place / 64 * s->levels + l] &= ~(UINT64_C(1) << place % 64);
  return NSR_OK;
}

bool nsr_set_none(const struct nsr_slots *s, const struct nsr_set *set,
                  uint32_t ch, uint32_t end) {
  if (!set->words)
    return nsr_facts_none(&set->facts, s->first[ch], end);
  for (uint32_t x = s->first[ch]; x < end; x++)
    if (nsr_set_above(s, set, nsr_slot_place(s, ch, x), 0))
      return false;
  return true;
}
