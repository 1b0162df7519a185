/* sets.c - both forms behind sets.h. */
#include "dep/sets.h"

#include <assert.h>
#include <string.h>

#include "base/work.h"

/* Dense sets are whole blocks, so that loops over them have a fixed length. */
enum { BLOCK = 32 };

static uint8_t *bytes_of(const struct nsr_set *set) {
  return (uint8_t *)set->facts.v;
}

/* What an operation has cost: about as much for two blocks as for a stretch. */
static void count(struct nsr_slots *s, const struct nsr_set *set) {
  uint32_t n = set->bytes ? set->bytes / (2 * BLOCK) : set->facts.n;
  nsr_work_count(s->ctx, NSR_WORK_DEP, 1 + n);
}

static void swap(struct nsr_facts *a, struct nsr_facts *b) {
  struct nsr_facts x = *a;
  *a = *b;
  *b = x;
}

enum nsr_status nsr_slots_room(struct nsr_slots *s, uint32_t n) {
  if (n <= s->cap)
    return NSR_OK;
  s->cap = 2 * n;
  NSR_NEW(s->ctx, NSR_SCRATCH, s->where, s->cap);
  NSR_NEW(s->ctx, NSR_SCRATCH, s->channel, s->cap);
  return NSR_OK;
}

void nsr_slots_lay(struct nsr_slots *s, bool dense) {
  uint32_t next[NSR_MAX_CHANNELS];
  uint32_t at = 0;
  s->nactive = 0;
  for (uint32_t ch = 0; ch < s->nch; ch++) {
    if (s->n[ch])
      s->active[s->nactive++] = (uint8_t)ch;
    s->place[ch] = next[ch] = at;
    at += s->n[ch];
  }
  assert(s->levels <= UINT8_MAX);
  s->bytes = dense ? (at / BLOCK + 1) * BLOCK : 0;
  assert(!dense || at <= s->cap);
  for (uint32_t i = 0; dense && i < at; i++)
    s->where[next[s->channel[i]]++] = (uint16_t)i;
}

/* ---- forms */

/* Storage for a dense set; what it held is lost. */
static enum nsr_status make_dense(struct nsr_slots *s, struct nsr_set *set,
                                  uint32_t bytes) {
  uint32_t size = sizeof *set->facts.v;
  set->bytes = bytes;
  set->facts.n = 0;
  return nsr_facts_reserve(&s->pool, &set->facts, (bytes + size - 1) / size);
}

void nsr_set_clear(struct nsr_set *set) {
  set->facts.n = 0;
  if (set->bytes)
    memset(bytes_of(set), 0, set->bytes);
}

enum nsr_status nsr_set_begin(struct nsr_slots *s, struct nsr_set *set) {
  if (s->bytes)
    NSR_TRY(make_dense(s, set, s->bytes));
  else
    set->bytes = 0;
  nsr_set_clear(set);
  return NSR_OK;
}

enum nsr_status nsr_set_to_facts(struct nsr_slots *s, struct nsr_set *set) {
  if (!set->bytes)
    return NSR_OK;
  s->tmp.n = 0;
  for (uint32_t ch = 0; ch < s->nch; ch++) {
    const uint16_t *where = s->where + s->place[ch];
    const uint8_t *b = bytes_of(set);
    for (uint32_t i = 0, j; i < s->n[ch]; i = j) {
      for (j = i + 1; j < s->n[ch] && b[where[j]] == b[where[i]];)
        j++;
      NSR_TRY(nsr_facts_push(&s->pool, &s->tmp, s->first[ch] + i,
                             s->first[ch] + j, b[where[i]]));
    }
  }
  set->bytes = 0;
  swap(&s->tmp, &set->facts);
  return NSR_OK;
}

enum nsr_status nsr_set_copy(struct nsr_slots *s, struct nsr_set *out,
                             const struct nsr_set *set) {
  if (set->bytes) {
    NSR_TRY(make_dense(s, out, set->bytes));
    memcpy(bytes_of(out), bytes_of(set), set->bytes);
    return NSR_OK;
  }
  out->bytes = 0;
  return nsr_facts_copy(&s->pool, &out->facts, &set->facts);
}

void nsr_set_free(struct nsr_slots *s, struct nsr_set *set) {
  set->bytes = 0;
  nsr_facts_free(&s->pool, &set->facts);
}

/* ---- ageing */

void nsr_set_age_begin(struct nsr_slots *s) { s->aged.n = 0; }

enum nsr_status nsr_set_age_some(struct nsr_slots *s, struct nsr_set *set,
                                 uint32_t ch, uint32_t lo, uint32_t hi,
                                 uint32_t more) {
  if (!set->bytes)
    return nsr_facts_push(&s->pool, &s->aged, lo, hi, more);
  uint8_t *b = bytes_of(set);
  assert(lo < hi && lo >= s->first[ch] && hi - s->first[ch] <= s->n[ch]);
  for (uint32_t x = lo; x < hi; x++) {
    uint32_t at = nsr_slot_place(s, ch, x), level = b[at] + more;
    b[at] = (uint8_t)(level < s->levels ? level : s->levels);
  }
  return NSR_OK;
}

void nsr_set_age_places(struct nsr_slots *s, struct nsr_set *set, uint32_t lo,
                        uint32_t hi, uint32_t more) {
  uint8_t *b = bytes_of(set);
  assert(set->bytes && (lo >= hi || hi <= set->bytes));
  for (uint32_t i = lo; i < hi; i++) {
    uint32_t level = b[i] + more;
    b[i] = (uint8_t)(level < s->levels ? level : s->levels);
  }
}

enum nsr_status nsr_set_age_end(struct nsr_slots *s, struct nsr_set *set) {
  if (!set->bytes && s->aged.n) {
    NSR_TRY(nsr_facts_zip(&s->pool, &s->tmp, &set->facts, &s->aged,
                          NSR_FACTS_ADD, s->levels, &s->coarse));
    swap(&s->tmp, &set->facts);
  }
  count(s, set);
  return NSR_OK;
}

/* ---- merging */

/* The highest, or lowest, of each two; whether that changes a. Blocks of fixed
 * length, and without a way out, become a few vector instructions. */
static bool highest(uint8_t *restrict a, const uint8_t *restrict b,
                    uint32_t n) {
  uint8_t changed[BLOCK] = {0}, any = 0;
  for (uint8_t *end = a + n; a < end; a += BLOCK, b += BLOCK)
    for (int j = 0; j < BLOCK; j++) {
      uint8_t old = a[j];
      a[j] = old > b[j] ? old : b[j];
      changed[j] |= old ^ a[j];
    }
  for (int j = 0; j < BLOCK; j++)
    any |= changed[j];
  return any != 0;
}

static bool lowest(uint8_t *restrict a, const uint8_t *restrict b, uint32_t n) {
  uint8_t changed[BLOCK] = {0}, any = 0;
  for (uint8_t *end = a + n; a < end; a += BLOCK, b += BLOCK)
    for (int j = 0; j < BLOCK; j++) {
      uint8_t old = a[j];
      a[j] = old < b[j] ? old : b[j];
      changed[j] |= old ^ a[j];
    }
  for (int j = 0; j < BLOCK; j++)
    any |= changed[j];
  return any != 0;
}

enum nsr_status nsr_set_merge(struct nsr_slots *s, struct nsr_set *a,
                              const struct nsr_set *b, enum nsr_facts_op op,
                              bool *changed) {
  assert(a->bytes == b->bytes && op != NSR_FACTS_ADD);
  if (a->bytes) {
    *changed = op == NSR_FACTS_MAX ? highest(bytes_of(a), bytes_of(b), a->bytes)
                                   : lowest(bytes_of(a), bytes_of(b), a->bytes);
    count(s, a);
    return NSR_OK;
  }
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
  if (!set->bytes)
    return nsr_facts_learn(&s->pool, &set->facts, s->first[ch],
                           s->first[ch] + s->n[ch]);
  for (uint32_t i = 0; i < s->n[ch]; i++)
    bytes_of(set)[s->where[s->place[ch] + i]] = 0;
  return NSR_OK;
}

enum nsr_status nsr_set_lower(struct nsr_slots *s, struct nsr_set *set,
                              uint32_t ch, uint32_t slot, uint32_t level) {
  if (nsr_set_level(s, set, ch, slot) <= level)
    return NSR_OK;
  if (!set->bytes) {
    NSR_TRY(nsr_facts_lower(&s->pool, &s->tmp, &set->facts, slot, level));
    swap(&s->tmp, &set->facts);
    return NSR_OK;
  }
  bytes_of(set)[nsr_slot_place(s, ch, slot)] = (uint8_t)level;
  return NSR_OK;
}

uint32_t nsr_set_level(const struct nsr_slots *s, const struct nsr_set *set,
                       uint32_t ch, uint32_t slot) {
  return set->bytes ? bytes_of(set)[nsr_slot_place(s, ch, slot)]
                    : nsr_facts_level(&set->facts, slot);
}

bool nsr_set_none(const struct nsr_slots *s, const struct nsr_set *set,
                  uint32_t ch, uint32_t end) {
  if (!set->bytes)
    return nsr_facts_none(&set->facts, s->first[ch], end);
  for (uint32_t x = s->first[ch]; x < end; x++)
    if (bytes_of(set)[nsr_slot_place(s, ch, x)])
      return false;
  return true;
}
