/* atoms.c - cuts memory into atoms.
 *
 * Needs the shapes and addresses of accesses; makes, per space, two sorted
 * lists of cuts, and per access a short description of the atoms it touches.
 * Atoms are numbered space by space, in a space partition range by partition
 * range, in it by byte.
 */
#include "sim/atoms.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "sim/hash.h"

enum {
  SPACES = 3,
  MAX_ATOMS = 1 << 22,
  MAX_RUNS = 1 << 20,   /* runs of bytes of one access */
  COMPACT_AT = 1 << 16, /* cuts asked for, before doubles are dropped */
  TRIM_AT = 1 << 28     /* bytes of covers kept between runs */
};
#define DRAM_END (UINT64_C(1) << 62)

struct numbers {
  uint64_t *v;
  size_t n, cap;
};

/* One dimension of one space: interval i is made.v[i]..made.v[i+1]-1. */
struct cuts {
  struct numbers made, wanted;
  size_t compact_at;
};

struct span { /* a run of bytes */
  uint64_t begin, end;
};

struct memo {
  const struct nsr_cover *cover; /* NULL: free */
  int64_t offset;
  uint32_t shape;
};

struct nsr_atoms {
  struct nsr_ctx *own; /* keep: cuts and shapes; scratch: covers */
  struct cuts byte[SPACES], part[SPACES];
  uint32_t first[SPACES]; /* number of a space's first atom */
  uint32_t count, version;
  bool pending, overflow;
  NSR_VEC(struct nsr_shape) shapes;
  uint32_t *shape_table; /* shape + 1, by hash; 0: free */
  size_t shape_cap;
  struct memo *memo;
  size_t memo_n, memo_cap, memo_bytes;
  NSR_VEC(struct span) spans; /* of the access at hand */
  NSR_VEC(struct nsr_piece) pieces;
};

/* ---- sorted lists */

static int compare_numbers(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static void sort_unique(struct numbers *l) {
  if (!l->n)
    return;
  qsort(l->v, l->n, sizeof *l->v, compare_numbers);
  size_t n = 1;
  for (size_t i = 1; i < l->n; i++)
    if (l->v[i] != l->v[n - 1])
      l->v[n++] = l->v[i];
  l->n = n;
}

/* The interval that x lies in; x below the last cut. hint: where the last
 * one was found, near in most cases. */
static size_t interval(const struct numbers *l, uint64_t x, size_t hint) {
  const uint64_t *v = l->v;
  if (hint + 1 < l->n && v[hint] <= x) {
    for (int i = 0; i < 4 && hint + 1 < l->n; i++, hint++)
      if (x < v[hint + 1])
        return hint;
  }
  size_t lo = 0, hi = l->n - 1;
  while (hi - lo > 1) {
    size_t mid = lo + (hi - lo) / 2;
    if (v[mid] <= x)
      lo = mid;
    else
      hi = mid;
  }
  return lo;
}

static enum nsr_status want(struct nsr_atoms *a, struct cuts *c, uint64_t x) {
  NSR_PUSH(a->own, NSR_KEEP, &c->wanted, x);
  a->pending = true;
  if (c->wanted.n < c->compact_at)
    return NSR_OK;
  sort_unique(&c->wanted);
  c->compact_at = c->wanted.n * 2 < COMPACT_AT ? COMPACT_AT : c->wanted.n * 2;
  return NSR_OK;
}

/* The number of the cut at x, or of the nearest one below (up: above), which
 * is then asked for. */
static enum nsr_status locate(struct nsr_atoms *a, struct cuts *c, uint64_t x,
                              bool up, size_t *at) {
  size_t last = c->made.n - 1;
  size_t i = x >= c->made.v[last] ? last : interval(&c->made, x, *at);
  *at = i;
  if (c->made.v[i] == x)
    return NSR_OK;
  if (up && i < last)
    *at = i + 1;
  return want(a, c, x);
}

/* ---- life */

static void number_atoms(struct nsr_atoms *a) {
  uint64_t n = 0;
  for (int s = 0; s < SPACES; s++) {
    a->first[s] = (uint32_t)n;
    n += (uint64_t)(a->byte[s].made.n - 1) * (a->part[s].made.n - 1);
    if (n > MAX_ATOMS)
      a->overflow = true;
    if (a->overflow)
      n = 0;
  }
  a->count = (uint32_t)n;
}

static enum nsr_status cuts_init(struct nsr_atoms *a, struct cuts *c,
                                 uint64_t end) {
  c->compact_at = COMPACT_AT;
  NSR_PUSH(a->own, NSR_KEEP, &c->made, 0);
  NSR_PUSH(a->own, NSR_KEEP, &c->made, end);
  return NSR_OK;
}

static enum nsr_status spaces_init(struct nsr_atoms *a,
                                   const struct nsr_isa *isa) {
  const uint64_t bytes[SPACES] = {DRAM_END, isa->sbuf_bytes, isa->psum_bytes};
  for (int s = 0; s < SPACES; s++) {
    NSR_TRY(cuts_init(a, &a->byte[s], bytes[s]));
    NSR_TRY(cuts_init(a, &a->part[s], s == NSR_DRAM ? 1 : isa->partitions));
  }
  number_atoms(a);
  return NSR_OK;
}

struct nsr_atoms *nsr_atoms_new(struct nsr_ctx *ctx,
                                const struct nsr_isa *isa) {
  struct nsr_ctx *own = nsr_ctx_new();
  struct nsr_atoms *a = own ? nsr_alloc(own, NSR_KEEP, sizeof *a) : NULL;
  if (a) {
    a->own = own;
    if (spaces_init(a, isa) == NSR_OK)
      return a;
  }
  nsr_ctx_free(own);
  (void)nsr_fail(ctx, NSR_E_NOMEM, NSR_NOWHERE, "out of memory");
  return NULL;
}

void nsr_atoms_free(struct nsr_atoms *atoms) {
  if (atoms)
    nsr_ctx_free(atoms->own);
}

static void forget_covers(struct nsr_atoms *a) {
  nsr_scratch_release(a->own, (struct nsr_mark){0, 0});
  a->memo = NULL;
  a->memo_n = a->memo_cap = a->memo_bytes = 0;
}

void nsr_atoms_trim(struct nsr_atoms *a) {
  if (a->memo_bytes > TRIM_AT)
    forget_covers(a);
}

static enum nsr_status cuts_commit(struct nsr_atoms *a, struct cuts *c) {
  if (!c->wanted.n)
    return NSR_OK;
  NSR_RESERVE(a->own, NSR_KEEP, &c->made, c->wanted.n);
  memcpy(c->made.v + c->made.n, c->wanted.v, c->wanted.n * sizeof *c->made.v);
  c->made.n += c->wanted.n;
  sort_unique(&c->made);
  c->wanted.n = 0;
  c->compact_at = COMPACT_AT;
  return NSR_OK;
}

enum nsr_status nsr_atoms_commit(struct nsr_atoms *a) {
  forget_covers(a);
  for (int s = 0; s < SPACES; s++) {
    NSR_TRY(cuts_commit(a, &a->byte[s]));
    NSR_TRY(cuts_commit(a, &a->part[s]));
  }
  a->pending = false;
  a->version++;
  number_atoms(a);
  return NSR_OK;
}

bool nsr_atoms_pending(const struct nsr_atoms *a) { return a->pending; }
bool nsr_atoms_overflow(const struct nsr_atoms *a) { return a->overflow; }
uint32_t nsr_atoms_version(const struct nsr_atoms *a) { return a->version; }
uint32_t nsr_atoms_count(const struct nsr_atoms *a) { return a->count; }

/* ---- the bytes of an access, as sorted runs */

struct walk {
  uint64_t len; /* of each run */
  int ndims;
  struct {
    uint64_t step, count;
  } dims[NSR_MAX_DIMS + 1]; /* rising steps, longer than what is inside */
};

static void dim_insert(struct walk *w, uint64_t step, uint64_t count) {
  int i = w->ndims++;
  for (; i > 0 && w->dims[i - 1].step > step; i--)
    w->dims[i] = w->dims[i - 1];
  w->dims[i].step = step;
  w->dims[i].count = count;
}

/* Order does not matter here: steps are made positive, sorted, and what lies
 * without a gap becomes one run. */
static uint64_t walk_init(struct walk *w, const struct nsr_shape *s,
                          int64_t offset) {
  *w = (struct walk){.len = s->bytes};
  for (int d = 0; d < s->ndims; d++) {
    int64_t step = s->dims[d].step, count = s->dims[d].count;
    if (count < 2 || step == 0)
      continue;
    if (step < 0)
      offset += step * (count - 1);
    dim_insert(w, (uint64_t)(step < 0 ? -step : step), (uint64_t)count);
  }
  int folded = 0;
  while (folded < w->ndims && w->dims[folded].step <= w->len) {
    w->len += w->dims[folded].step * (w->dims[folded].count - 1);
    folded++;
  }
  w->ndims -= folded;
  memmove(w->dims, w->dims + folded, (size_t)w->ndims * sizeof *w->dims);
  return (uint64_t)offset;
}

static uint64_t walk_runs(const struct walk *w) {
  uint64_t n = 1;
  for (int d = 0; d < w->ndims; d++) {
    if (w->dims[d].count > MAX_RUNS)
      return MAX_RUNS + 1;
    n *= w->dims[d].count;
    if (n > MAX_RUNS)
      return MAX_RUNS + 1;
  }
  return n;
}

static void walk_spans(struct nsr_atoms *a, const struct walk *w, int d,
                       uint64_t begin) {
  if (d < 0) {
    a->spans.v[a->spans.n++] = (struct span){begin, begin + w->len};
    return;
  }
  for (uint64_t i = 0; i < w->dims[d].count; i++)
    walk_spans(a, w, d - 1, begin + i * w->dims[d].step);
}

static int compare_spans(const void *a, const void *b) {
  const struct span *x = a, *y = b;
  return (x->begin > y->begin) - (x->begin < y->begin);
}

static void merge_spans(struct nsr_atoms *a) {
  struct span *v = a->spans.v;
  size_t n = 0;
  bool sorted = true;
  for (size_t i = 1; i < a->spans.n && sorted; i++)
    sorted = v[i - 1].end < v[i].begin;
  if (sorted)
    return;
  qsort(v, a->spans.n, sizeof *v, compare_spans);
  for (size_t i = 1; i < a->spans.n; i++) {
    if (v[i].begin > v[n].end)
      v[++n] = v[i];
    else if (v[i].end > v[n].end)
      v[n].end = v[i].end;
  }
  a->spans.n = n + 1;
}

static enum nsr_status find_spans(struct nsr_atoms *a,
                                  const struct nsr_shape *s, int64_t offset) {
  struct walk w;
  uint64_t begin = walk_init(&w, s, offset);
  uint64_t runs = walk_runs(&w);
  a->spans.n = 0;
  if (runs > MAX_RUNS) { /* no verdict will come of this: take it whole */
    a->overflow = true;
    for (int d = 0; d < w.ndims; d++)
      w.len += w.dims[d].step * (w.dims[d].count - 1);
    w.ndims = 0;
    runs = 1;
  }
  NSR_RESERVE(a->own, NSR_KEEP, &a->spans, runs);
  walk_spans(a, &w, w.ndims - 1, begin);
  merge_spans(a);
  return NSR_OK;
}

/* ---- runs of bytes to atoms */

/* Joins a range of atoms to the last piece if it goes on at its stride. */
static enum nsr_status add_range(struct nsr_atoms *a, uint32_t first,
                                 uint32_t len) {
  struct nsr_piece *last = a->pieces.n ? &a->pieces.v[a->pieces.n - 1] : NULL;
  if (last && last->len == len) {
    uint32_t at = last->first + (last->count - 1) * last->stride;
    if (last->count == 1)
      last->stride = first - at;
    if (first == at + last->stride) {
      last->count++;
      return NSR_OK;
    }
  }
  NSR_PUSH(a->own, NSR_KEEP, &a->pieces,
           ((struct nsr_piece){first, len, 0, 1}));
  return NSR_OK;
}

/* The pieces of one partition range; the others follow at a distance of
 * `row` atoms. */
static enum nsr_status repeat_rows(struct nsr_atoms *a, uint32_t rows,
                                   uint32_t row) {
  size_t n = a->pieces.n;
  if (n == 1 && a->pieces.v[0].count == 1) {
    a->pieces.v[0].count = rows;
    a->pieces.v[0].stride = row;
    return NSR_OK;
  }
  for (uint32_t r = 1; r < rows; r++)
    for (size_t i = 0; i < n; i++) {
      struct nsr_piece p = a->pieces.v[i];
      p.first += r * row;
      NSR_PUSH(a->own, NSR_KEEP, &a->pieces, p);
    }
  return NSR_OK;
}

static enum nsr_status find_pieces(struct nsr_atoms *a,
                                   const struct nsr_shape *s, int64_t offset) {
  struct cuts *bytes = &a->byte[s->space], *parts = &a->part[s->space];
  size_t p0 = 0, p1 = 0, lo = 0, hi;
  uint32_t row = (uint32_t)(bytes->made.n - 1);
  NSR_TRY(locate(a, parts, s->part, false, &p0));
  p1 = p0;
  NSR_TRY(locate(a, parts, (uint64_t)s->part + s->nparts, true, &p1));
  NSR_TRY(find_spans(a, s, offset));
  a->pieces.n = 0;
  for (size_t i = 0; i < a->spans.n; i++) {
    NSR_TRY(locate(a, bytes, a->spans.v[i].begin, false, &lo));
    hi = lo;
    NSR_TRY(locate(a, bytes, a->spans.v[i].end, true, &hi));
    NSR_TRY(add_range(a, a->first[s->space] + (uint32_t)(p0 * row + lo),
                      (uint32_t)(hi - lo)));
    lo = hi;
  }
  return repeat_rows(a, (uint32_t)(p1 - p0), row);
}

enum nsr_status nsr_atoms_need(struct nsr_atoms *a,
                               const struct nsr_shape *shape, int64_t offset) {
  return find_pieces(a, shape, offset);
}

enum nsr_status nsr_atoms_need_dram(struct nsr_atoms *a, uint64_t begin,
                                    uint64_t end) {
  size_t at = 0;
  if (end > DRAM_END || begin > end)
    return NSR_OK;
  NSR_TRY(locate(a, &a->byte[NSR_DRAM], begin, false, &at));
  return locate(a, &a->byte[NSR_DRAM], end, true, &at);
}

/* ---- covers and shapes, remembered */

static enum nsr_status cover_new(struct nsr_atoms *a, const struct nsr_shape *s,
                                 int64_t offset, const struct nsr_cover **out) {
  struct nsr_piece *pieces;
  struct nsr_cover *c;
  NSR_TRY(find_pieces(a, s, offset));
  NSR_NEW(a->own, NSR_SCRATCH, c, 1);
  NSR_NEW(a->own, NSR_SCRATCH, pieces, a->pieces.n);
  memcpy(pieces, a->pieces.v, a->pieces.n * sizeof *pieces);
  c->pieces = pieces;
  c->npieces = (uint32_t)a->pieces.n;
  for (uint32_t i = 0; i < c->npieces; i++)
    c->n += pieces[i].len * pieces[i].count;
  a->memo_bytes += sizeof *c + a->pieces.n * sizeof *pieces;
  *out = c;
  return NSR_OK;
}

static uint64_t memo_hash(uint32_t shape, int64_t offset) {
  return nsr_combine(shape, (uint64_t)offset);
}

static enum nsr_status memo_grow(struct nsr_atoms *a) {
  size_t cap = a->memo_cap ? a->memo_cap * 2 : 1024;
  struct memo *table;
  NSR_NEW(a->own, NSR_SCRATCH, table, cap);
  for (size_t i = 0; i < a->memo_cap; i++) {
    const struct memo *m = &a->memo[i];
    if (!m->cover)
      continue;
    size_t at = memo_hash(m->shape, m->offset) & (cap - 1);
    while (table[at].cover)
      at = (at + 1) & (cap - 1);
    table[at] = *m;
  }
  a->memo = table;
  a->memo_cap = cap;
  a->memo_bytes += cap * sizeof *table;
  return NSR_OK;
}

enum nsr_status nsr_atoms_cover(struct nsr_atoms *a, uint32_t id,
                                int64_t offset,
                                const struct nsr_cover **cover) {
  assert(id < a->shapes.n);
  if (a->memo_n * 2 >= a->memo_cap)
    NSR_TRY(memo_grow(a));
  size_t at = memo_hash(id, offset) & (a->memo_cap - 1);
  for (; a->memo[at].cover; at = (at + 1) & (a->memo_cap - 1))
    if (a->memo[at].shape == id && a->memo[at].offset == offset) {
      *cover = a->memo[at].cover;
      return NSR_OK;
    }
  NSR_TRY(cover_new(a, &a->shapes.v[id], offset, cover));
  a->memo[at] = (struct memo){*cover, offset, id};
  a->memo_n++;
  return NSR_OK;
}

static enum nsr_status shape_table_grow(struct nsr_atoms *a) {
  size_t cap = a->shape_cap ? a->shape_cap * 2 : 256;
  uint32_t *table;
  NSR_NEW(a->own, NSR_KEEP, table, cap);
  for (uint32_t i = 0; i < a->shapes.n; i++) {
    size_t at = nsr_hash(&a->shapes.v[i], sizeof *a->shapes.v) & (cap - 1);
    while (table[at])
      at = (at + 1) & (cap - 1);
    table[at] = i + 1;
  }
  a->shape_table = table;
  a->shape_cap = cap;
  return NSR_OK;
}

enum nsr_status nsr_atoms_shape(struct nsr_atoms *a,
                                const struct nsr_shape *shape, uint32_t *id) {
  if (a->shapes.n * 2 >= a->shape_cap)
    NSR_TRY(shape_table_grow(a));
  size_t at = nsr_hash(shape, sizeof *shape) & (a->shape_cap - 1);
  for (; a->shape_table[at]; at = (at + 1) & (a->shape_cap - 1)) {
    *id = a->shape_table[at] - 1;
    if (memcmp(&a->shapes.v[*id], shape, sizeof *shape) == 0)
      return NSR_OK;
  }
  NSR_PUSH(a->own, NSR_KEEP, &a->shapes, *shape);
  *id = (uint32_t)a->shapes.n - 1;
  a->shape_table[at] = *id + 1;
  return NSR_OK;
}

/* ---- places */

struct nsr_extent nsr_atoms_extent(const struct nsr_atoms *a, uint32_t atom) {
  uint8_t s = SPACES - 1;
  while (s > 0 && atom < a->first[s])
    s--;
  size_t row = a->byte[s].made.n - 1;
  size_t p = (atom - a->first[s]) / row, b = (atom - a->first[s]) % row;
  const uint64_t *parts = a->part[s].made.v, *bytes = a->byte[s].made.v;
  assert(p + 1 < a->part[s].made.n);
  return (struct nsr_extent){s, (uint32_t)parts[p],
                             (uint32_t)(parts[p + 1] - parts[p]), bytes[b],
                             bytes[b + 1]};
}

uint32_t nsr_atoms_at(const struct nsr_atoms *a, uint8_t space, uint32_t part,
                      uint64_t byte) {
  size_t row = a->byte[space].made.n - 1;
  size_t p = interval(&a->part[space].made, part, 0);
  size_t b = interval(&a->byte[space].made, byte, 0);
  return a->first[space] + (uint32_t)(p * row + b);
}
