/* conflict.c - conflicting pairs by a sweep over address ranges.
 *
 * Needs footprints; makes the sorted list of owner pairs. Accesses with the
 * same footprint form one group, so that a buffer used a thousand times is
 * compared once. Groups are swept by first byte, space by space: a group is
 * compared with those whose hull still reaches it, and as two reads never
 * conflict, a reading group with writing ones only. The work is what sorting
 * takes plus the pairs of hulls that meet plus the pairs of owners found.
 */
#include "mem/conflict.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

/* order[first..end-1]: accesses with one footprint, one for each owner. */
struct group {
  const struct nsr_footprint *footprint;
  size_t first, end;
};

struct active {
  NSR_VEC(const struct group *) groups;
};

struct finder {
  struct nsr_ctx *ctx;
  const struct nsr_access **order;
  struct active readers, writers; /* writers: all that write */
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

/* By owners, the strongest first; the rest only makes the choice of `where`
 * independent of the order of the input. */
static int compare_conflicts(const void *x, const void *y) {
  const struct nsr_conflict *a = x, *b = y;
  int c = compare(a->a, b->a);
  c = c ? c : compare(a->b, b->b);
  c = c ? c : compare(b->overlap, a->overlap);
  c = c ? c : compare(a->where.space, b->where.space);
  c = c ? c : compare(a->where.lo, b->where.lo);
  c = c ? c : compare(a->where.hi, b->where.hi);
  c = c ? c : compare(a->where.part, b->where.part);
  return c ? c : compare(a->where.nparts, b->where.nparts);
}

static void compact(struct finder *f) {
  size_t n = 0;
  struct nsr_conflict *v = f->found.v;
  if (f->found.n)
    qsort(v, f->found.n, sizeof *v, compare_conflicts);
  for (size_t i = 0; i < f->found.n; i++)
    if (!n || v[n - 1].a != v[i].a || v[n - 1].b != v[i].b)
      v[n++] = v[i];
  f->found.n = n;
  f->compact_at = n < 512 ? 1024 : 2 * n;
}

static enum nsr_status add_pair(struct finder *f, uint32_t a, uint32_t b,
                                enum nsr_overlap overlap,
                                const struct nsr_bytes *where) {
  if (f->found.n >= f->compact_at)
    compact(f);
  struct nsr_conflict c = {a < b ? a : b, a < b ? b : a, overlap, *where};
  NSR_PUSH(f->ctx, NSR_SCRATCH, &f->found, c);
  return NSR_OK;
}

static enum nsr_status compare_groups(struct finder *f, const struct group *g,
                                      const struct group *h) {
  struct nsr_bytes where;
  enum nsr_overlap overlap = nsr_overlap(g->footprint, h->footprint, &where);
  if (overlap == NSR_OVERLAP_NO)
    return NSR_OK;
  for (size_t i = g->first; i < g->end; i++)
    for (size_t j = g == h ? i : h->first; j < h->end; j++)
      NSR_TRY(
          add_pair(f, f->order[i]->owner, f->order[j]->owner, overlap, &where));
  return NSR_OK;
}

/* Compares g with the active groups; drops those that end before it. */
static enum nsr_status compare_active(struct finder *f, struct active *active,
                                      const struct group *g) {
  size_t n = 0, total = active->groups.n;
  for (size_t i = 0; i < total; i++) {
    const struct group *h = active->groups.v[i];
    if (h->footprint->hi <= g->footprint->lo)
      continue;
    active->groups.v[n++] = h;
    NSR_TRY(compare_groups(f, h, g));
  }
  active->groups.n = n;
  return NSR_OK;
}

static enum nsr_status sweep(struct finder *f, const struct group *g) {
  NSR_TRY(compare_active(f, &f->writers, g));
  if (!nsr_footprint_writes(g->footprint)) {
    NSR_PUSH(f->ctx, NSR_SCRATCH, &f->readers.groups, g);
    return NSR_OK;
  }
  NSR_TRY(compare_active(f, &f->readers, g));
  NSR_TRY(compare_groups(f, g, g));
  NSR_PUSH(f->ctx, NSR_SCRATCH, &f->writers.groups, g);
  return NSR_OK;
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

static enum nsr_status sweep_all(struct finder *f, size_t n) {
  struct group *groups;
  NSR_NEW(f->ctx, NSR_SCRATCH, groups, n);
  size_t i = 0;
  for (size_t ngroups = 0; i < n; ngroups++) {
    struct group *g = &groups[ngroups];
    g->first = i;
    g->footprint = &f->order[i]->footprint;
    while (i < n && !compare_footprints(g->footprint, &f->order[i]->footprint))
      i++;
    g->end = i;
    if (!ngroups || g->footprint->space != g[-1].footprint->space)
      f->readers.groups.n = f->writers.groups.n = 0;
    NSR_TRY(sweep(f, g));
  }
  return NSR_OK;
}

static enum nsr_status find(struct finder *f, enum nsr_arena_id arena,
                            const struct nsr_access *access, size_t n,
                            struct nsr_conflicts *out) {
  size_t kept;
  NSR_TRY(sort(f, access, n, &kept));
  NSR_TRY(sweep_all(f, kept));
  compact(f);
  NSR_NEW(f->ctx, arena, out->v, f->found.n);
  out->n = f->found.n;
  if (out->n)
    memcpy(out->v, f->found.v, out->n * sizeof *out->v);
  return NSR_OK;
}

enum nsr_status nsr_conflicts_find(struct nsr_ctx *ctx, enum nsr_arena_id arena,
                                   const struct nsr_access *access, size_t n,
                                   struct nsr_conflicts *out) {
  struct finder f = {.ctx = ctx, .compact_at = 1024};
  struct nsr_mark mark = nsr_scratch_mark(ctx);
  *out = (struct nsr_conflicts){0};
  enum nsr_status status = find(&f, arena, access, n, out);
  if (arena != NSR_SCRATCH)
    nsr_scratch_release(ctx, mark);
  return status;
}
