/* active.c - active footprints of a sweep, interleaving tiles by column. */
#include "mem/active.h"

#include <string.h>

enum {
  TILES = 4,           /* a pitch is worth it from so many tiles side by side */
  MOST_BUCKETS = 4096, /* per pitch */
  MOST_TOUCHED = 8     /* buckets of one tile; wider ones are plain */
};

/* Columns lo..lo+extent-1 of a pitch, lo below the pitch; they may wrap. */
struct columns {
  int64_t lo, extent;
};

static int64_t floor_mod(int64_t a, int64_t b) {
  int64_t r = a % b;
  return r < 0 ? r + b : r;
}

/* Bytes that one step of the outermost dimension spans. */
static int64_t inner_extent(const struct nsr_footprint *f) {
  if (!f->ndims)
    return f->hi - f->lo;
  return f->hi - f->lo - f->dims[0].step * (f->dims[0].count - 1);
}

/* The columns of f in rows of `pitch` bytes; false: it may touch all. */
static bool columns_of(const struct nsr_footprint *f, int64_t pitch,
                       struct columns *out) {
  int64_t extent = f->hi - f->lo;
  if (extent > pitch && f->ndims && f->dims[0].step % pitch == 0)
    extent = inner_extent(f);
  *out = (struct columns){floor_mod(f->lo, pitch), extent};
  return extent < pitch;
}

static int64_t buckets_touched(const struct nsr_active_pitch *p,
                               const struct columns *c) {
  int64_t first = c->lo / p->width, end = c->lo + c->extent;
  if (end <= p->pitch)
    return (end - 1) / p->width - first + 1;
  return (int64_t)p->nbuckets - first + (end - p->pitch - 1) / p->width + 1;
}

static struct nsr_active_list *bucket(struct nsr_active_pitch *p,
                                      const struct columns *c, int64_t i) {
  return &p->buckets[(size_t)(c->lo / p->width + i) % p->nbuckets];
}

/* The pitch that tile f belongs to, made if need be; *out NULL: none. */
static enum nsr_status pitch_of(struct nsr_ctx *ctx, struct nsr_active *a,
                                const struct nsr_footprint *f,
                                struct nsr_active_pitch **out) {
  int64_t extent = inner_extent(f);
  *out = NULL;
  if (!f->ndims || extent > f->dims[0].step / TILES)
    return NSR_OK;
  for (int i = 0; i < a->npitches && !*out; i++)
    if (a->pitches[i].pitch == f->dims[0].step)
      *out = &a->pitches[i];
  if (*out || a->npitches == NSR_ACTIVE_PITCHES)
    return NSR_OK;
  struct nsr_active_pitch *p = &a->pitches[a->npitches];
  *p = (struct nsr_active_pitch){.pitch = f->dims[0].step};
  int64_t most = (p->pitch + MOST_BUCKETS - 1) / MOST_BUCKETS;
  p->width = extent > most ? extent : most;
  p->nbuckets = (size_t)((p->pitch + p->width - 1) / p->width);
  NSR_NEW(ctx, NSR_SCRATCH, p->buckets, p->nbuckets);
  a->npitches++;
  *out = p;
  return NSR_OK;
}

void nsr_active_clear(struct nsr_active *a) {
  a->plain.n = 0;
  a->npitches = 0;
}

enum nsr_status nsr_active_add(struct nsr_ctx *ctx, struct nsr_active *a,
                               struct nsr_active_item *item) {
  struct nsr_active_pitch *p;
  struct columns c;
  NSR_TRY(pitch_of(ctx, a, item->footprint, &p));
  if (!p || !columns_of(item->footprint, p->pitch, &c) ||
      buckets_touched(p, &c) > MOST_TOUCHED) {
    NSR_PUSH(ctx, NSR_SCRATCH, &a->plain, item);
    return NSR_OK;
  }
  NSR_PUSH(ctx, NSR_SCRATCH, &p->all, item);
  for (int64_t i = 0; i < buckets_touched(p, &c); i++)
    NSR_PUSH(ctx, NSR_SCRATCH, bucket(p, &c, i), item);
  return NSR_OK;
}

struct query {
  struct nsr_ctx *ctx;
  const struct nsr_footprint *f;
  uint64_t number;
  size_t most;
  bool crowded;
  struct nsr_active_list *out;
};

/* Copies what f may meet from list to out, the last that came first, since
 * those are near; what ends before f, or does not belong here any more, leaves
 * the list. */
static enum nsr_status scan(const struct query *q,
                            struct nsr_active_list *list) {
  size_t i = list->n, kept = list->n;
  struct nsr_active_list *out = q->out;
  while (i > 0 && out->n < q->most) {
    struct nsr_active_item *item = list->v[--i];
    if (item->footprint->hi <= q->f->lo || item->crowded != q->crowded)
      continue;
    list->v[--kept] = item;
    if (item->seen != q->number)
      NSR_PUSH(q->ctx, NSR_SCRATCH, out, item);
    item->seen = q->number;
  }
  if (i < kept)
    memmove(list->v + i, list->v + kept, (list->n - kept) * sizeof *list->v);
  list->n -= kept - i;
  return NSR_OK;
}

enum nsr_status nsr_active_find(struct nsr_ctx *ctx, struct nsr_active *a,
                                const struct nsr_footprint *f, uint64_t query,
                                size_t most, struct nsr_active_list *out) {
  struct query q = {ctx, f, query, most, a->crowded, out};
  NSR_TRY(scan(&q, &a->plain));
  for (int i = 0; i < a->npitches; i++) {
    struct nsr_active_pitch *p = &a->pitches[i];
    struct columns c;
    if (!columns_of(f, p->pitch, &c)) {
      NSR_TRY(scan(&q, &p->all));
      continue;
    }
    int64_t touched = buckets_touched(p, &c);
    for (int64_t b = 0; b < touched && b < (int64_t)p->nbuckets; b++)
      NSR_TRY(scan(&q, bucket(p, &c, b)));
  }
  return NSR_OK;
}
