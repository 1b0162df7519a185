/* cycle_ratio.c - maximum cycle ratio.
 *
 * Needs a graph; makes the ratio of its slowest cycle. As long as some cycle
 * takes longer than the ratio known so far would let it, that cycle's ratio is
 * taken: there are finitely many, and each is larger than the one before
 * (Lawler 1976; cycles are found as Bellman and Ford do).
 */
#include "limits/cycle_ratio.h"

struct finder {
  uint32_t nnodes;
  const struct nsr_arc *arcs;
  size_t narcs;
  int64_t *length;   /* of the longest way to a node found so far */
  uint32_t *through; /* its last arc + 1, 0: it begins here */
  int64_t time;
  int64_t distance; /* the ratio so far */
};

static int64_t excess(const struct finder *f, const struct nsr_arc *a) {
  return a->time * f->distance - (int64_t)a->distance * f->time;
}

/* One pass; a node whose way got longer, nnodes: none. */
static uint32_t relax(struct finder *f) {
  uint32_t changed = f->nnodes;
  for (size_t i = 0; i < f->narcs; i++) {
    const struct nsr_arc *a = &f->arcs[i];
    int64_t l = f->length[a->from] + excess(f, a);
    if (l > f->length[a->to]) {
      f->length[a->to] = l;
      f->through[a->to] = (uint32_t)i + 1;
      changed = a->to;
    }
  }
  return changed;
}

/* A node of a cycle among last arcs, nnodes: there is none. Every node is
 * walked over once. */
static uint32_t on_cycle(const struct finder *f, uint32_t *mark) {
  for (uint32_t n = 0; n < f->nnodes; n++)
    mark[n] = 0;
  for (uint32_t n = 0; n < f->nnodes; n++) {
    uint32_t at = n;
    while (!mark[at] && f->through[at]) {
      mark[at] = n + 1;
      at = f->arcs[f->through[at] - 1].from;
    }
    if (mark[at] == n + 1)
      return at;
    mark[at] = mark[at] ? mark[at] : n + 1;
  }
  return f->nnodes;
}

static void take_cycle(struct finder *f, uint32_t start) {
  uint32_t at = start;
  f->time = 0;
  f->distance = 0;
  do {
    const struct nsr_arc *a = &f->arcs[f->through[at] - 1];
    f->time += a->time;
    f->distance += a->distance;
    at = a->from;
  } while (at != start);
}

/* A cycle slower than the ratio so far; false: there is none. */
static bool slower(struct finder *f, uint32_t *mark) {
  for (uint32_t n = 0; n < f->nnodes; n++) {
    f->length[n] = 0;
    f->through[n] = 0;
  }
  for (;;) {
    if (relax(f) == f->nnodes)
      return false;
    uint32_t at = on_cycle(f, mark);
    if (at != f->nnodes) {
      take_cycle(f, at);
      return true;
    }
  }
}

enum nsr_status nsr_cycle_ratio(struct nsr_ctx *ctx, uint32_t nnodes,
                                const struct nsr_arc *arcs, size_t narcs,
                                int64_t *time, uint64_t *distance,
                                bool *known) {
  /* any cycle takes longer than -1 for each of its iterations */
  struct finder f = {.nnodes = nnodes,
                     .arcs = arcs,
                     .narcs = narcs,
                     .time = -1,
                     .distance = 1};
  uint32_t *mark;
  *time = 0;
  *distance = 0;
  *known = nnodes <= NSR_MAX_NODES;
  if (!*known)
    return NSR_OK;
  struct nsr_mark scratch = nsr_scratch_mark(ctx);
  NSR_NEW(ctx, NSR_SCRATCH, f.length, nnodes);
  NSR_NEW(ctx, NSR_SCRATCH, f.through, nnodes);
  NSR_NEW(ctx, NSR_SCRATCH, mark, nnodes);
  while (*known && slower(&f, mark)) {
    *known = f.distance > 0;
    *time = f.time;
    *distance = (uint64_t)f.distance;
  }
  nsr_scratch_release(ctx, scratch);
  return NSR_OK;
}
