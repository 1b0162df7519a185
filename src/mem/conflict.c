/* conflict.c - conflicting pairs by a sweep over address ranges.
 *
 * Needs footprints; makes the sorted list of owner pairs. Accesses with the
 * same footprint form one group, so that a buffer used a thousand times is
 * compared once. Groups are swept by first byte, space by space (active.h); as
 * two reads never conflict, a reading group meets writing ones only. The work
 * is what sorting takes plus the groups that all but meet plus the pairs found.
 *
 * Where there may be too many of those, a group that has met many is crowded:
 * it leaves the sweep's lists for those of the crowd, which are looked through
 * only as far as it takes to find that who looks is crowded, too.
 */
#include "mem/conflict.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "base/vec.h"
#include "base/work.h"
#include "mem/active.h"

/* order[first..end-1]: accesses with one footprint, one for each owner. */
struct group {
  struct nsr_active_item item; /* first member: found by it */
  int64_t part, part_end;      /* its partitions */
  size_t first, end;
  size_t degree; /* owners it is known to meet */
};

/* Groups begun and not left that read, and all that write. */
struct sides {
  struct nsr_active readers, writers;
};

/* Of groups that a query finds, so many may turn out not to meet; of those of
 * a crowd fewer, since who looks may as well be of it. */
enum { NEARLY = 1024, NEARLY_CROWDED = 128 };

struct finder {
  struct nsr_ctx *ctx;
  const struct nsr_access **order;
  size_t most;         /* owners that one may meet */
  struct sides active; /* but for the crowd: .. */
  struct sides crowd;
  struct nsr_active_list met;
  uint64_t queries;
  NSR_VEC(struct nsr_conflict) found;
  size_t compact_at; /* found.n at which duplicates are taken out */
};

static int compare(int64_t a, int64_t b) { return (a > b) - (a < b); }

static int compare_footprints(const struct nsr_footprint *a,
                              const struct nsr_footprint *b) {
  int c = compare(a->space, b->space);
  c = c ? c : compare(a->lo, b->lo);
  c = c ? c : compare(a->hi, b->hi);
  c = c ? c : compare(a->part, b->part);
  c = c ? c : compare(a->nparts, b->nparts);
  c = c ? c : compare(a->role, b->role);
  c = c ? c : compare(a->kind, b->kind);
  c = c ? c : compare(a->run, b->run);
  c = c ? c : compare(a->ndims, b->ndims);
  for (int i = 0; i < a->ndims && !c; i++) {
    c = compare(a->dims[i].step, b->dims[i].step);
    c = c ? c : compare(a->dims[i].count, b->dims[i].count);
  }
  return c;
}

static int compare_accesses(const void *x, const void *y) {
  const struct nsr_access *a = *(const struct nsr_access *const *)x;
  const struct nsr_access *b = *(const struct nsr_access *const *)y;
  int c = compare_footprints(&a->footprint, &b->footprint);
  return c ? c : compare(a->owner, b->owner);
}

/* Of one pair, the strongest first; the rest only makes the choice of `where`
 * independent of the order of the input. */
static int compare_conflicts(const struct nsr_conflict *a,
                             const struct nsr_conflict *b) {
  int c = compare(b->overlap, a->overlap);
  c = c ? c : compare(a->where.space, b->where.space);
  c = c ? c : compare(a->where.lo, b->where.lo);
  c = c ? c : compare(a->where.hi, b->where.hi);
  c = c ? c : compare(a->where.part, b->where.part);
  return c ? c : compare(a->where.nparts, b->where.nparts);
}

/* The pairs found, sorted, each once, into v: room for all of them. */
static enum nsr_status sort_pairs(struct finder *f, struct nsr_conflict *v,
                                  size_t *n) {
  struct nsr_key *keys;
  NSR_NEW(f->ctx, NSR_SCRATCH, keys, 2 * f->found.n);
  for (size_t i = 0; i < f->found.n; i++)
    keys[i] = (struct nsr_key){
        (uint64_t)f->found.v[i].a << 32 | f->found.v[i].b, (uint32_t)i};
  nsr_sort_keys(keys, keys + f->found.n, f->found.n);
  *n = 0;
  for (size_t i = 0; i < f->found.n; i++) {
    const struct nsr_conflict *x = &f->found.v[keys[i].at];
    if (i == 0 || keys[i].key != keys[i - 1].key)
      v[(*n)++] = *x;
    else if (compare_conflicts(x, &v[*n - 1]) < 0)
      v[*n - 1] = *x;
  }
  nsr_drop(f->ctx, NSR_SCRATCH, keys);
  return NSR_OK;
}

static enum nsr_status compact(struct finder *f) {
  struct nsr_conflict *v;
  size_t n;
  NSR_NEW(f->ctx, NSR_SCRATCH, v, f->found.n);
  NSR_TRY(sort_pairs(f, v, &n));
  memcpy(f->found.v, v, n * sizeof *v);
  nsr_drop(f->ctx, NSR_SCRATCH, v);
  f->found.n = n;
  f->compact_at = n < 512 ? 1024 : 2 * n;
  return NSR_OK;
}

static enum nsr_status add_pair(struct finder *f, uint32_t a, uint32_t b,
                                enum nsr_overlap overlap,
                                const struct nsr_bytes *where) {
  if (f->found.n >= f->compact_at)
    NSR_TRY(compact(f));
  struct nsr_conflict c = {a < b ? a : b, a < b ? b : a, overlap, *where};
  NSR_APPEND(f->ctx, NSR_SCRATCH, &f->found, c);
  return NSR_OK;
}

static enum nsr_status pair_owners(struct finder *f, const struct group *g,
                                   const struct group *h,
                                   enum nsr_overlap overlap,
                                   const struct nsr_bytes *where) {
  for (size_t i = g->first; i < g->end; i++)
    for (size_t j = g == h ? i : h->first; j < h->end; j++)
      NSR_TRY(
          add_pair(f, f->order[i]->owner, f->order[j]->owner, overlap, where));
  return NSR_OK;
}

/* A group meets so many more owners. One that is in the sweep's lists goes over
 * to the crowd's when it has met too many. */
static enum nsr_status meet(struct finder *f, struct group *g, size_t owners,
                            bool listed) {
  g->degree += owners;
  if (g->degree <= f->most || g->item.crowded)
    return NSR_OK;
  g->item.crowded = true;
  bool writes = nsr_footprint_writes(g->item.footprint);
  return !listed
             ? NSR_OK
             : nsr_active_add(f->ctx,
                              writes ? &f->crowd.writers : &f->crowd.readers,
                              &g->item);
}

/* g has come now, h before or (g == h) now. */
static enum nsr_status compare_groups(struct finder *f, struct group *g,
                                      struct group *h) {
  struct nsr_bytes where;
  enum nsr_overlap overlap =
      nsr_overlap(g->item.footprint, h->item.footprint, &where);
  if (overlap == NSR_OVERLAP_NO)
    return NSR_OK;
  NSR_TRY(meet(f, g, h->end - h->first - (g == h), false));
  if (g != h)
    NSR_TRY(meet(f, h, g->end - g->first, true));
  if (g->item.crowded && h->item.crowded)
    return NSR_OK;
  return pair_owners(f, g, h, overlap, &where);
}

static enum nsr_status find_met(struct finder *f, struct nsr_active *active,
                                const struct group *g, size_t most) {
  f->met.n = 0;
  NSR_TRY(nsr_active_find(f->ctx, active, g->item.footprint, f->queries, most,
                          &f->met));
  nsr_work_count(f->ctx, NSR_WORK_MEM, 1 + f->met.n);
  return NSR_OK;
}

/* Too many to be compared: the crowd's, all of them. */
static enum nsr_status crowd_out(struct finder *f, struct nsr_active *active,
                                 struct group *g) {
  NSR_TRY(meet(f, g, f->most + 1, false));
  f->queries++;
  NSR_TRY(find_met(f, active, g, SIZE_MAX));
  for (size_t i = 0; i < f->met.n; i++)
    NSR_TRY(meet(f, (struct group *)f->met.v[i], f->most + 1, true));
  return NSR_OK;
}

static enum nsr_status
compare_active(struct finder *f, struct nsr_active *active, struct group *g) {
  size_t most = f->most == SIZE_MAX ? SIZE_MAX : f->most + NEARLY;
  f->queries++;
  NSR_TRY(find_met(f, active, g, most));
  if (f->met.n == most)
    return crowd_out(f, active, g);
  for (size_t i = 0; i < f->met.n; i++) {
    struct group *h = (struct group *)f->met.v[i];
    if (h->part < g->part_end && g->part < h->part_end) /* few are */
      NSR_TRY(compare_groups(f, g, h));
  }
  return NSR_OK;
}

/* Of the crowd: no more than it takes to find that g is of it, too. */
static enum nsr_status compare_crowd(struct finder *f, struct nsr_active *crowd,
                                     struct group *g) {
  size_t most = f->most + 1;
  f->queries++;
  for (int few = 0; few < 2 && !g->item.crowded; few++, most = NEARLY_CROWDED) {
    NSR_TRY(find_met(f, crowd, g, most));
    for (size_t i = 0; i < f->met.n && !g->item.crowded; i++)
      NSR_TRY(compare_groups(f, g, (struct group *)f->met.v[i]));
    if (f->met.n < most)
      return NSR_OK;
  }
  return meet(f, g, f->most + 1, false);
}

/* The crowd's last, and only by who may be none of them. */
static enum nsr_status sweep(struct finder *f, struct group *g) {
  bool writes = nsr_footprint_writes(g->item.footprint);
  if (writes)
    NSR_TRY(compare_groups(f, g, g));
  NSR_TRY(compare_active(f, &f->active.writers, g));
  if (writes)
    NSR_TRY(compare_active(f, &f->active.readers, g));
  if (f->most != SIZE_MAX && !g->item.crowded)
    NSR_TRY(compare_crowd(f, &f->crowd.writers, g));
  if (f->most != SIZE_MAX && !g->item.crowded && writes)
    NSR_TRY(compare_crowd(f, &f->crowd.readers, g));
  struct sides *to = g->item.crowded ? &f->crowd : &f->active;
  return nsr_active_add(f->ctx, writes ? &to->writers : &to->readers, &g->item);
}

/* Sorts the accesses that touch anything; repeated ones go. */
static enum nsr_status sort(struct finder *f, const struct nsr_access *access,
                            size_t n, size_t *kept) {
  NSR_NEW(f->ctx, NSR_SCRATCH, f->order, n);
  size_t m = 0;
  for (size_t i = 0; i < n; i++)
    if (!nsr_footprint_empty(&access[i].footprint))
      f->order[m++] = &access[i];
  *kept = 0;
  if (m)
    qsort(f->order, m, sizeof *f->order, compare_accesses);
  for (size_t i = 0; i < m; i++)
    if (!*kept || compare_accesses(&f->order[*kept - 1], &f->order[i]))
      f->order[(*kept)++] = f->order[i];
  return NSR_OK;
}

static void clear(struct sides *s) {
  nsr_active_clear(&s->readers);
  nsr_active_clear(&s->writers);
}

static enum nsr_status sweep_all(struct finder *f, size_t n, struct group **out,
                                 size_t *ngroups) {
  struct group *groups;
  NSR_NEW(f->ctx, NSR_SCRATCH, groups, n);
  size_t i = 0;
  for (*ngroups = 0; i < n; ++*ngroups) {
    struct group *g = &groups[*ngroups];
    const struct nsr_footprint *fp = &f->order[i]->footprint;
    g->item.footprint = fp;
    g->part = fp->part;
    g->part_end = g->part + fp->nparts;
    g->first = i;
    while (i < n && !compare_footprints(fp, &f->order[i]->footprint))
      i++;
    g->end = i;
    if (*ngroups && fp->space != g[-1].item.footprint->space) {
      clear(&f->active);
      clear(&f->crowd);
    }
    NSR_TRY(sweep(f, g));
  }
  *out = groups;
  return NSR_OK;
}

/* A crowd: crowded groups whose hulls hang together. */
static enum nsr_status number_crowds(struct finder *f, struct group *groups,
                                     size_t n, enum nsr_arena_id arena,
                                     size_t nowners,
                                     struct nsr_conflicts *out) {
  int64_t end = 0;
  int space = -1;
  NSR_NEW(f->ctx, arena, out->crowd, nowners);
  for (size_t i = 0; i < n; i++) {
    const struct nsr_footprint *fp = groups[i].item.footprint;
    if (!groups[i].item.crowded)
      continue;
    if (fp->space != space || fp->lo >= end) {
      out->ncrowds++;
      end = fp->hi;
    }
    space = fp->space;
    end = fp->hi > end ? fp->hi : end;
    for (size_t a = groups[i].first; a < groups[i].end; a++)
      out->crowd[f->order[a]->owner] = out->ncrowds;
  }
  return NSR_OK;
}

/* Pairs of those that have become crowded since they met go. */
static void forget_crowded(struct finder *f, const uint32_t *crowd) {
  size_t n = 0;
  struct nsr_conflict *v = f->found.v;
  for (size_t i = 0; i < f->found.n; i++)
    if (!crowd[v[i].a] || !crowd[v[i].b])
      v[n++] = v[i];
  f->found.n = n;
}

static enum nsr_status find(struct finder *f, enum nsr_arena_id arena,
                            const struct nsr_access *access, size_t n,
                            struct nsr_conflicts *out) {
  size_t kept, ngroups;
  struct group *groups;
  NSR_TRY(sort(f, access, n, &kept));
  NSR_TRY(sweep_all(f, kept, &groups, &ngroups));
  if (f->most != SIZE_MAX) {
    NSR_TRY(number_crowds(f, groups, ngroups, arena, n, out));
    forget_crowded(f, out->crowd);
  }
  NSR_NEW(f->ctx, arena, out->v, f->found.n);
  NSR_TRY(sort_pairs(f, out->v, &out->n));
  nsr_drop(f->ctx, NSR_SCRATCH, f->found.v);
  return NSR_OK;
}

enum nsr_status nsr_conflicts_few(struct nsr_ctx *ctx, enum nsr_arena_id arena,
                                  const struct nsr_access *access, size_t n,
                                  size_t most, struct nsr_conflicts *out) {
  bool repeated = most == SIZE_MAX; /* others have one access each */
  struct finder f = {
      .ctx = ctx, .compact_at = repeated ? 1024 : SIZE_MAX, .most = most};
  struct nsr_mark mark = nsr_scratch_mark(ctx);
  f.crowd.readers.crowded = f.crowd.writers.crowded = true;
  *out = (struct nsr_conflicts){0};
  enum nsr_status status = find(&f, arena, access, n, out);
  if (arena != NSR_SCRATCH)
    nsr_scratch_release(ctx, mark);
  return status;
}

enum nsr_status nsr_conflicts_find(struct nsr_ctx *ctx, enum nsr_arena_id arena,
                                   const struct nsr_access *access, size_t n,
                                   struct nsr_conflicts *out) {
  return nsr_conflicts_few(ctx, arena, access, n, SIZE_MAX, out);
}
