/* levels.c - trees of levels, and what was computed with them. */
#include "prove/levels.h"

#include <string.h>

enum {
  WORDS = NSR_LEVEL_WORDS,
  LOWEST = NSR_LEVEL_PLACES,
  IN_WORD = LOWEST / WORDS,    /* places */
  NUMBERS = NSR_LEVEL_ANY + 1, /* trees of one level */
  MADE = 1 << 16,              /* operations that are remembered */
  FIRST_LIMIT = 1 << 16
};

#define EACH UINT64_C(0x1111111111111111)

/* ---- words */

static uint32_t combine(enum nsr_level_op op, uint32_t a, uint32_t b,
                        uint32_t most) {
  if (op == NSR_LEVEL_LEAST)
    return a < b ? a : b;
  if (op == NSR_LEVEL_MOST)
    return a > b ? a : b;
  if (op == NSR_LEVEL_SETTLE)
    return a ? NSR_LEVEL_ANY : 0;
  return a + b <= most ? a + b : NSR_LEVEL_ANY;
}

/* Of all words of a lowest node; x becomes x op y. Level by level in loops that
 * compilers make vectors of. */
#define EACH_LEVEL(x, y, a, b, expression)                                     \
  do {                                                                         \
    uint8_t v_[LOWEST / 2], u_[LOWEST / 2];                                    \
    memcpy(v_, (x), sizeof v_);                                                \
    memcpy(u_, (y), sizeof u_);                                                \
    for (int i_ = 0; i_ < LOWEST / 2; i_++) {                                  \
      uint8_t a = v_[i_] & 15, b = u_[i_] & 15;                                \
      uint8_t low_ = (expression);                                             \
      a = v_[i_] >> 4;                                                         \
      b = u_[i_] >> 4;                                                         \
      uint8_t high_ = (expression);                                            \
      v_[i_] = (uint8_t)(low_ | high_ << 4);                                   \
    }                                                                          \
    memcpy((x), v_, sizeof v_);                                                \
  } while (0)

static void combine_words(enum nsr_level_op op, uint64_t *x, const uint64_t *y,
                          uint8_t most) {
  if (op == NSR_LEVEL_LEAST)
    EACH_LEVEL(x, y, a, b, a < b ? a : b);
  else if (op == NSR_LEVEL_MOST)
    EACH_LEVEL(x, y, a, b, a > b ? a : b);
  else if (op == NSR_LEVEL_SETTLE)
    EACH_LEVEL(x, y, a, b, a > b ? NSR_LEVEL_ANY : 0);
  else
    EACH_LEVEL(x, y, a, b, (uint8_t)(a + b) <= most ? a + b : NSR_LEVEL_ANY);
}

/* The places lo..hi-1 of a word. */
static uint64_t places(uint32_t lo, uint32_t hi) {
  uint64_t to = hi < IN_WORD ? (UINT64_C(1) << 4 * hi) - 1 : UINT64_MAX;
  return to & UINT64_MAX << 4 * lo;
}

/* ---- nodes */

static uint32_t span_of(uint8_t height) {
  return (uint32_t)LOWEST << 3 * height; /* WORDS are 1 << 3 */
}

uint8_t nsr_levels_height(uint32_t n) {
  uint8_t height = 0;
  while ((uint64_t)LOWEST << 3 * height < n)
    height++;
  return height;
}

static uint32_t hash_of(const uint64_t *w, bool inner) {
  const uint64_t by = UINT64_C(0x9e3779b97f4a7c15);
  uint64_t a = 0, b = 0;
  for (int i = 0; i < WORDS; i += 2) {
    a = (a ^ w[i]) * by;
    b = (b ^ w[i + 1]) * by;
  }
  a = (a ^ a >> 32 ^ b >> 7) * UINT64_C(0xbf58476d1ce4e5b9);
  return (uint32_t)(a >> 32 & ~UINT64_C(1)) | inner;
}

/* Whether all words are of one level. */
static bool is_uniform(const uint64_t *w, bool inner) {
  for (int i = 1; i < WORDS; i++)
    if (w[i] != w[0])
      return false;
  return inner ? w[0] < NUMBERS : w[0] == (w[0] & NSR_LEVEL_ANY) * EACH;
}

static void put(struct nsr_levels *l, uint32_t a) {
  uint32_t last = 2 * l->cap - 1, at = l->hash[a] & last;
  while (l->table[at])
    at = (at + 1) & last;
  l->table[at] = a;
}

static void put_all(struct nsr_levels *l) {
  memset(l->table, 0, (size_t)2 * l->cap * sizeof *l->table);
  for (uint32_t a = NUMBERS; a < l->n; a++)
    if (l->used[a])
      put(l, a);
}

#define REGROW(l, p, old, n)                                                   \
  do {                                                                         \
    void *grown_ = nsr_regrow((l)->ctx, NSR_SCRATCH, (p), (old) * sizeof *(p), \
                              (n) * sizeof *(p));                              \
    if (!grown_)                                                               \
      return NSR_E_NOMEM;                                                      \
    (p) = grown_;                                                              \
  } while (0)

static enum nsr_status grow(struct nsr_levels *l, uint32_t cap) {
  size_t old = l->cap, n = cap;
  REGROW(l, l->v, old, n);
  REGROW(l, l->hash, old, n);
  REGROW(l, l->used, old, n);
  REGROW(l, l->table, 2 * old, 2 * n);
  l->cap = cap;
  put_all(l);
  return NSR_OK;
}

enum nsr_status nsr_levels_init(struct nsr_ctx *ctx, struct nsr_levels *out) {
  *out = (struct nsr_levels){.ctx = ctx,
                             .n = NUMBERS,
                             .limit = FIRST_LIMIT,
                             .most = NSR_LEVEL_ANY - 1};
  NSR_NEW(ctx, NSR_SCRATCH, out->made, MADE);
  return grow(out, 1024);
}

/* A number that is not used, 0: memory is short. */
static uint32_t new_number(struct nsr_levels *l) {
  uint32_t a = l->spare;
  if (a) {
    l->spare = l->hash[a];
    l->nspare--;
    return a;
  }
  if (l->n == l->cap &&
      (l->cap > UINT32_MAX / 4 || grow(l, 2 * l->cap) != NSR_OK))
    return 0;
  return l->n++;
}

/* The tree of these words. */
static uint32_t make(struct nsr_levels *l, const uint64_t *w, bool inner) {
  if (is_uniform(w, inner))
    return (uint32_t)(w[0] & NSR_LEVEL_ANY);
  uint32_t hash = hash_of(w, inner), last = 2 * l->cap - 1;
  l->effort++;
  for (uint32_t at = hash & last; l->table[at]; at = (at + 1) & last) {
    uint32_t a = l->table[at];
    if (l->hash[a] == hash && memcmp(l->v[a].w, w, sizeof l->v[a].w) == 0)
      return a;
  }
  uint32_t a = new_number(l);
  if (!a)
    return NSR_NO_LEVELS;
  memcpy(l->v[a].w, w, sizeof l->v[a].w);
  l->hash[a] = hash;
  l->used[a] = true;
  put(l, a);
  return a;
}

/* Words of a tree, also of one level. */
static void open(const struct nsr_levels *l, uint8_t height, uint32_t a,
                 uint64_t *w) {
  if (a >= NUMBERS)
    memcpy(w, l->v[a].w, sizeof l->v[a].w);
  else
    for (int i = 0; i < WORDS; i++)
      w[i] = height ? a : a * EACH;
}

/* ---- what was made before */

/* Further operations, with the height: what is one level has none. */
enum { ADD_AT = NSR_LEVEL_SETTLE + 1, SET_AT, MOVE_TO };

/* Where such an operation is remembered. */
static struct nsr_level_made *made_of(const struct nsr_levels *l, uint32_t op,
                                      uint32_t a, uint32_t b, uint32_t lo,
                                      uint32_t hi) {
  uint32_t at = (a * UINT32_C(0x9e3779b1)) ^ (b * UINT32_C(0x85ebca77)) ^
                (lo * UINT32_C(0xc2b2ae3d)) ^ (hi * UINT32_C(0x27d4eb2f));
  return &l->made[(at + op) * UINT32_C(0x165667b1) >> 16];
}

static bool is_made(const struct nsr_level_made *made, uint32_t op, uint32_t a,
                    uint32_t b, uint32_t lo, uint32_t hi) {
  return made->a == a && made->b == b && made->lo == lo && made->hi == hi &&
         made->op == op;
}

/* ---- two trees */

/* Whether an operation needs no look at b: it is a >= b or one level. */
static bool is_plain(enum nsr_level_op op, uint32_t a, uint32_t b,
                     uint32_t *out) {
  bool zero = a == 0, any = a == NSR_LEVEL_ANY;
  if (op == NSR_LEVEL_LEAST ? zero : any)
    *out = a;
  else if (op == NSR_LEVEL_LEAST ? any : zero)
    *out = b;
  else if (a == b && op != NSR_LEVEL_SUM)
    *out = a;
  else
    return false;
  return true;
}

static uint32_t join_nodes(struct nsr_levels *l, uint8_t height,
                           enum nsr_level_op op, uint32_t a, uint32_t b) {
  uint64_t x[WORDS], y[WORDS];
  open(l, height, a, x);
  open(l, height, b, y);
  if (!height)
    combine_words(op, x, y, (uint8_t)l->most);
  for (int i = 0; i < WORDS && height; i++) {
    if (x[i] == y[i] && op <= NSR_LEVEL_MOST)
      continue;
    x[i] = nsr_levels_join(l, height - 1, op, (uint32_t)x[i], (uint32_t)y[i]);
    if (x[i] == NSR_NO_LEVELS)
      return NSR_NO_LEVELS;
  }
  return make(l, x, height);
}

uint32_t nsr_levels_join(struct nsr_levels *l, uint8_t height,
                         enum nsr_level_op op, uint32_t a, uint32_t b) {
  uint32_t out;
  if (op != NSR_LEVEL_SETTLE) {
    uint32_t least = a < b ? a : b;
    b = a < b ? b : a;
    a = least;
    if (is_plain(op, a, b, &out))
      return out;
  }
  if (a < NUMBERS && b < NUMBERS)
    return combine(op, a, b, l->most);
  uint32_t with = op == NSR_LEVEL_SUM ? l->most : 0;
  struct nsr_level_made *made = made_of(l, op, a, b, 0, with);
  if (!is_made(made, op, a, b, 0, with)) {
    out = join_nodes(l, height, op, a, b);
    if (out == NSR_NO_LEVELS)
      return NSR_NO_LEVELS;
    *made = (struct nsr_level_made){a, b, 0, with, out, op};
  }
  return made->out;
}

/* ---- some places of a tree */

/* .. at lo..hi-1 of a tree. */
static uint32_t change(struct nsr_levels *l, uint8_t height, uint32_t a,
                       uint32_t lo, uint32_t hi, uint32_t b, bool add) {
  uint64_t x[WORDS], y[WORDS], sum[WORDS];
  uint32_t span = height ? span_of(height - 1) : IN_WORD;
  if (add ? b == 0 || a == NSR_LEVEL_ANY : a == b)
    return a;
  if (lo == 0 && hi >= (uint64_t)span * WORDS)
    return add ? nsr_levels_join(l, height, NSR_LEVEL_SUM, a, b) : b;
  open(l, height, a, x);
  open(l, height, b, y);
  if (!height && add) {
    memcpy(sum, x, sizeof sum);
    combine_words(NSR_LEVEL_SUM, sum, y, (uint8_t)l->most);
  }
  for (uint32_t i = lo / span; i < WORDS && i * span < hi; i++) {
    uint32_t from = lo > i * span ? lo - i * span : 0, to = hi - i * span;
    if (height) {
      x[i] =
          change(l, height - 1, (uint32_t)x[i], from, to, (uint32_t)y[i], add);
      if (x[i] == NSR_NO_LEVELS)
        return NSR_NO_LEVELS;
    } else {
      uint64_t at = places(from, to);
      x[i] = (x[i] & ~at) | ((add ? sum[i] : y[i]) & at);
    }
  }
  return make(l, x, height);
}

static uint32_t change_at(struct nsr_levels *l, uint8_t height, uint32_t a,
                          uint32_t lo, uint32_t hi, uint32_t b, bool add) {
  uint32_t op = (uint32_t)height << 8 | (add ? ADD_AT | l->most << 16 : SET_AT);
  if (lo >= hi || (add ? b == 0 || a == NSR_LEVEL_ANY : a == b))
    return a;
  struct nsr_level_made *made = made_of(l, op, a, b, lo, hi);
  if (!is_made(made, op, a, b, lo, hi)) {
    uint32_t out = change(l, height, a, lo, hi, b, add);
    if (out == NSR_NO_LEVELS)
      return NSR_NO_LEVELS;
    *made = (struct nsr_level_made){a, b, lo, hi, out, op};
  }
  return made->out;
}

uint32_t nsr_levels_set(struct nsr_levels *l, uint8_t height, uint32_t a,
                        uint32_t lo, uint32_t hi, uint32_t level) {
  return change_at(l, height, a, lo, hi, level, false);
}

uint32_t nsr_levels_add(struct nsr_levels *l, uint8_t height, uint32_t a,
                        uint32_t lo, uint32_t hi, uint32_t b) {
  return change_at(l, height, a, lo, hi, b, true);
}

/* ---- places from another tree */

/* The lowest node that has a place. */
static uint32_t lowest(const struct nsr_levels *l, uint8_t height, uint32_t a,
                       uint32_t place) {
  for (; a >= NUMBERS && height; height--) {
    a = (uint32_t)l->v[a].w[place / span_of(height - 1)];
    place %= span_of(height - 1);
  }
  return a;
}

/* What is moved: places lo..hi-1, of a tree that begins with `first`. */
struct move {
  uint32_t b, lo, hi, first;
  uint8_t height;
};

static uint32_t move_lowest(struct nsr_levels *l, uint32_t a, uint32_t at,
                            const struct move *m) {
  uint64_t x[WORDS], y[WORDS];
  uint32_t b = lowest(l, m->height, m->b, at - m->first);
  uint32_t from = m->lo > at ? m->lo - at : 0, to = m->hi - at;
  if (from == 0 && to >= LOWEST)
    return b;
  open(l, 0, a, x);
  open(l, 0, b, y);
  for (uint32_t i = from / IN_WORD; i < WORDS && i * IN_WORD < to; i++) {
    uint32_t lo = from > i * IN_WORD ? from - i * IN_WORD : 0;
    uint64_t mask = places(lo, to - i * IN_WORD);
    x[i] = (x[i] & ~mask) | (y[i] & mask);
  }
  return make(l, x, false);
}

/* To a node that begins with place `at`. */
static uint32_t move(struct nsr_levels *l, uint8_t height, uint32_t a,
                     uint32_t at, const struct move *m) {
  uint64_t x[WORDS];
  if (!height)
    return move_lowest(l, a, at, m);
  uint32_t span = span_of(height - 1);
  open(l, height, a, x);
  for (uint32_t i = m->lo > at ? (m->lo - at) / span : 0;
       i < WORDS && at + i * span < m->hi; i++) {
    x[i] = move(l, height - 1, (uint32_t)x[i], at + i * span, m);
    if (x[i] == NSR_NO_LEVELS)
      return NSR_NO_LEVELS;
  }
  return make(l, x, true);
}

uint32_t nsr_levels_move(struct nsr_levels *l, uint8_t height, uint32_t a,
                         uint32_t lo, uint32_t hi, uint32_t b) {
  uint32_t op = (uint32_t)height << 8 | MOVE_TO, first = lo / LOWEST * LOWEST;
  if (lo >= hi || (a < NUMBERS && a == b))
    return a;
  struct nsr_level_made *made = made_of(l, op, a, b, lo, hi);
  if (!is_made(made, op, a, b, lo, hi)) {
    struct move m = {b, lo, hi, first, nsr_levels_height(hi - first)};
    uint32_t out = move(l, height, a, 0, &m);
    if (out == NSR_NO_LEVELS)
      return NSR_NO_LEVELS;
    *made = (struct nsr_level_made){a, b, lo, hi, out, op};
  }
  return made->out;
}

/* ---- looking */

uint32_t nsr_levels_at(const struct nsr_levels *l, uint8_t height, uint32_t a,
                       uint32_t place) {
  a = lowest(l, height, a, place);
  place %= LOWEST;
  if (a < NUMBERS)
    return a;
  return l->v[a].w[place / IN_WORD] >> 4 * (place % IN_WORD) & NSR_LEVEL_ANY;
}

static uint32_t next_in_words(const uint64_t *w, uint32_t place) {
  for (uint32_t i = place / IN_WORD; i < WORDS; i++) {
    uint32_t from = place > i * IN_WORD ? place - i * IN_WORD : 0;
    uint64_t rest = w[i] & places(from, IN_WORD);
    for (; rest && !(rest >> 4 * from & NSR_LEVEL_ANY); from++)
      ;
    if (rest)
      return i * IN_WORD + from;
  }
  return UINT32_MAX;
}

uint32_t nsr_levels_next(const struct nsr_levels *l, uint8_t height, uint32_t a,
                         uint32_t place) {
  if (a < NUMBERS)
    return a ? place : UINT32_MAX;
  if (!height)
    return next_in_words(l->v[a].w, place);
  uint32_t span = span_of(height - 1);
  for (uint32_t i = place / span; i < WORDS; i++) {
    uint32_t from = place > i * span ? place - i * span : 0;
    uint32_t at = nsr_levels_next(l, height - 1, (uint32_t)l->v[a].w[i], from);
    if (at != UINT32_MAX)
      return i * span + at;
  }
  return UINT32_MAX;
}

/* ---- unused ones */

void nsr_levels_unmark(struct nsr_levels *l) {
  memset(l->used, 0, l->n * sizeof *l->used);
}

void nsr_levels_mark(struct nsr_levels *l, uint32_t a) {
  if (a < NUMBERS || l->used[a])
    return;
  l->used[a] = true;
  for (int i = 0; i < WORDS && l->hash[a] & 1; i++)
    nsr_levels_mark(l, (uint32_t)l->v[a].w[i]);
}

void nsr_levels_sweep(struct nsr_levels *l) {
  l->spare = l->nspare = 0;
  for (uint32_t a = l->n; a-- > NUMBERS;)
    if (!l->used[a]) {
      l->hash[a] = l->spare;
      l->spare = a;
      l->nspare++;
    }
  uint32_t used = l->n - l->nspare;
  l->limit = used < FIRST_LIMIT / 4 ? FIRST_LIMIT : 4 * used;
  memset(l->made, 0, MADE * sizeof *l->made);
  put_all(l);
}
