/* conflict.c - conflicting pairs by a sweep over address ranges.
 *
 * Needs footprints; makes the sorted list of owner pairs. Accesses with the
 * same footprint form one group, so that a buffer used a thousand times is
 * compared once. Groups are swept by first byte, space by space (active.h); as
 * two reads never conflict, a reading group meets writing ones only. The work
 * is what sorting takes plus the groups that all but meet plus the pairs found.
 */
#include "mem/conflict.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "base/work.h"
#include "mem/active.h"

/* order[first..end-1]: accesses with one footprint, one for each owner. */
struct group {
  struct nsr_active_item item; /* first member: found by it */
  size_t first, end;
};

struct finder {
  struct nsr_ctx *ctx;
  const struct nsr_access **order;
  struct nsr_active readers, writers; /* writers: all that write */
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
  enum nsr_overlap overlap =
      nsr_overlap(g->item.footprint, h->item.footprint, &where);
  if (overlap == NSR_OVERLAP_NO)
    return NSR_OK;
  for (size_t i = g->first; i < g->end; i++)
    for (size_t j = g == h ? i : h->first; j < h->end; j++)
      NSR_TRY(
          add_pair(f, f->order[i]->owner, f->order[j]->owner, overlap, &where));
  return NSR_OK;
}

static enum nsr_status compare_active(struct finder *f,
                                      struct nsr_active *active,
                                      const struct group *g) {
  f->met.n = 0;
  NSR_TRY(nsr_active_find(f->ctx, active, g->item.footprint, ++f->queries,
                          &f->met));
  nsr_work_count(f->ctx, NSR_WORK_MEM, 1 + f->met.n);
  for (size_t i = 0; i < f->met.n; i++)
    NSR_TRY(compare_groups(f, (const struct group *)f->met.v[i], g));
  return NSR_OK;
}

static enum nsr_status sweep(struct finder *f, struct group *g) {
  NSR_TRY(compare_active(f, &f->writers, g));
  if (!nsr_footprint_writes(g->item.footprint))
    return nsr_active_add(f->ctx, &f->readers, &g->item);
  NSR_TRY(compare_active(f, &f->readers, g));
  NSR_TRY(compare_groups(f, g, g));
  return nsr_active_add(f->ctx, &f->writers, &g->item);
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
    const struct nsr_footprint *fp = &f->order[i]->footprint;
    g->item.footprint = fp;
    g->first = i;
    while (i < n && !compare_footprints(fp, &f->order[i]->footprint))
      i++;
    g->end = i;
    if (ngroups && fp->space != g[-1].item.footprint->space) {
      nsr_active_clear(&f->readers);
      nsr_active_clear(&f->writers);
    }
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
