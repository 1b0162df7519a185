/* hint.c - waits of the input and the updates that they wait for. */
#include "prove/hint.h"

#include <stdlib.h>
#include <string.h>

#include "prove/thresholds.h"

/* An update in its region: it takes the count from `from` to `to`. */
struct update {
  uint32_t group, region, work;
  int64_t from, to; /* from -1: that depends on the way */
  int64_t low;      /* .. but it is that at least */
  int64_t epoch;    /* the barrier that they count from */
  int8_t channel;
  bool mixed; /* several channels make those of its group and region */
};

static int by_count(const void *a, const void *b) {
  const struct update *x = a, *y = b;
  if (x->group != y->group)
    return x->group < y->group ? -1 : 1;
  if (x->region != y->region)
    return x->region < y->region ? -1 : 1;
  if (x->epoch != y->epoch)
    return x->epoch < y->epoch ? -1 : 1;
  if (x->from != y->from)
    return x->from < y->from ? -1 : 1;
  if (x->low != y->low)
    return x->low < y->low ? -1 : 1;
  return x->work < y->work ? -1 : x->work > y->work;
}

struct finder {
  struct nsr_ctx *ctx;
  const struct nsr_tree *t;
  struct nsr_islands *islands;
  struct nsr_score score;
  struct nsr_thresholds thresholds;
  struct nsr_tree laid;            /* a copy, in some order without any wait */
  uint32_t *part;                  /* by work */
  uint32_t *work[NSR_MAX_ENGINES]; /* by instruction */
  struct update *updates;
  uint32_t *before;
};

static enum nsr_status find_parts(struct finder *f) {
  NSR_NEW(f->ctx, NSR_SCRATCH, f->part, f->t->nworks);
  for (uint32_t p = 0; p < f->t->nparts; p++)
    for (uint32_t i = 0;
         f->t->parts[p].kind == NSR_PART_SEGMENT && i < f->t->parts[p].n; i++)
      f->part[f->t->parts[p].first + i] = p;
  return NSR_OK;
}

static enum nsr_status find_works(struct finder *f) {
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    if (f->t->program->stream[e])
      NSR_NEW(f->ctx, NSR_SCRATCH, f->work[e], f->t->program->stream[e]->n);
  for (uint32_t w = 0; w < f->t->nworks; w++)
    if (f->t->works[w].nested == NSR_NONE)
      f->work[f->t->works[w].engine][f->t->works[w].insn] = w;
  return NSR_OK;
}

static void *copy(struct nsr_ctx *ctx, const void *from, size_t size) {
  void *to = nsr_alloc(ctx, NSR_SCRATCH, size);
  if (to && size)
    memcpy(to, from, size);
  return to;
}

/* Each engine's counts do not depend on when the others run, but on the order
 * of its own works and scopes: any order does that has these right. */
static enum nsr_status lay(struct finder *f) {
  struct nsr_islands islands = *f->islands;
  uint32_t *none, nregions = islands.nregions;
  f->laid = *f->t;
  f->laid.scopes =
      copy(f->ctx, f->t->scopes, f->t->nscopes * sizeof *f->t->scopes);
  f->laid.parts = copy(f->ctx, f->t->parts, f->t->nparts * sizeof *f->t->parts);
  f->laid.works = copy(f->ctx, f->t->works, f->t->nworks * sizeof *f->t->works);
  islands.trouble =
      copy(f->ctx, islands.trouble, nregions * sizeof *islands.trouble);
  if (!f->laid.scopes || !f->laid.parts || !f->laid.works || !islands.trouble)
    return NSR_E_NOMEM;
  NSR_NEW(f->ctx, NSR_SCRATCH, none, f->t->nworks);
  for (uint32_t w = 0; w < f->t->nworks; w++)
    none[w] = NSR_NONE;
  return nsr_tree_linearize(f->ctx, &f->laid, &islands, &none);
}

/* The work of the tree that a step is. */
static uint32_t work_of(const struct finder *f, const struct nsr_step *s) {
  return f->work[s->engine][s->insn];
}

static void mark_mixed(struct update *u, uint32_t n) {
  for (uint32_t i = 0, end; i < n; i = end) {
    bool mixed = false;
    for (end = i;
         end < n && u[end].group == u[i].group && u[end].region == u[i].region;
         end++)
      mixed |= u[end].channel != u[i].channel;
    for (uint32_t k = i; k < end; k++)
      u[k].mixed = mixed;
  }
}

static enum nsr_status find_updates(struct finder *f) {
  const struct nsr_score *s = &f->score;
  NSR_NEW(f->ctx, NSR_SCRATCH, f->updates, s->nmembers);
  for (uint32_t m = 0; m < s->nmembers; m++) {
    const struct nsr_step *step = &s->steps[s->members[m]];
    int64_t from = f->thresholds.count[m];
    uint32_t w = work_of(f, step);
    f->updates[m] = (struct update){.group = step->group,
                                    .region = f->islands->of[f->part[w]],
                                    .work = w,
                                    .from = from,
                                    .to = from + step->value,
                                    .low = f->thresholds.low[m],
                                    .epoch = f->thresholds.epoch[m],
                                    .channel = step->channel};
  }
  if (s->nmembers)
    qsort(f->updates, s->nmembers, sizeof *f->updates, by_count);
  mark_mixed(f->updates, s->nmembers);
  return NSR_OK;
}

/* The first update of a group and region with a count from `from` on. */
static uint32_t search(const struct finder *f, uint32_t group, uint32_t region,
                       int64_t epoch, int64_t from) {
  struct update key = {.group = group,
                       .region = region,
                       .epoch = epoch,
                       .from = from,
                       .low = INT64_MIN};
  uint32_t lo = 0, hi = f->score.nmembers;
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (by_count(&f->updates[mid], &key) < 0)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

/* The one update of the region, for the wait of work w, with which the count
 * reaches v, if it runs whenever w does: the count could reach v without any
 * other. Of those in front of which it is the same, a run has but one. */
static uint32_t target_of(const struct finder *f, uint32_t group, uint32_t w,
                          int64_t epoch, int32_t v) {
  const struct update *u = f->updates;
  uint32_t region = f->islands->of[f->part[w]];
  uint32_t known = search(f, group, region, epoch, 0);
  uint32_t at = search(f, group, region, epoch, v);
  if (at == known || u[known].mixed)
    return NSR_NONE;
  int64_t from = u[at - 1].from;
  for (uint32_t i = at; i > known && u[i - 1].from == from; i--) {
    uint32_t target = u[i - 1].work;
    if (u[i - 1].to >= v &&
        nsr_common_in(f->t, f->t->works[w].scope, f->t->works[target].scope))
      return target;
  }
  return NSR_NONE;
}

static enum nsr_status map_wait(struct finder *f, uint32_t i) {
  const struct nsr_step *s = &f->score.steps[i];
  uint32_t w = work_of(f, s), p = f->part[w], target = NSR_NONE;
  const struct nsr_wait_found *found =
      &f->thresholds.waits[f->thresholds.wait_of[i]];
  if (nsr_island_at(f->islands, p) || found->kind == NSR_WAIT_NEVER)
    return NSR_OK;
  if (!s->is_reg && !s->other && s->group != NSR_NONE &&
      !f->score.groups[s->group].bad)
    target = target_of(f, s->group, w, found->epoch, s->value);
  f->before[w] = target;
  if (target != NSR_NONE)
    return NSR_OK;
  return nsr_islands_add(
      f->ctx, f->islands, p,
      (struct nsr_trouble){s->engine, s->insn, "the wait", "names no update"});
}

/* Nothing else stays. */
static enum nsr_status keep(struct finder *f, struct nsr_mark mark,
                            uint32_t **before) {
  struct nsr_islands *islands = f->islands;
  struct nsr_kept kept[] = {
      {f->before, f->t->nworks * sizeof *f->before},
      {islands->troubles.v, islands->troubles.n * sizeof *islands->troubles.v}};
  NSR_TRY(nsr_scratch_release_but(f->ctx, mark, kept, 2));
  *before = kept[0].p;
  islands->troubles.v = kept[1].p;
  islands->troubles.cap = islands->troubles.n;
  return NSR_OK;
}

enum nsr_status nsr_hint_find(struct nsr_ctx *ctx, const struct nsr_tree *t,
                              struct nsr_islands *islands, uint32_t **before) {
  struct finder f = {.ctx = ctx, .t = t, .islands = islands};
  struct nsr_mark mark = nsr_scratch_mark(ctx);
  NSR_TRY(lay(&f));
  NSR_TRY(nsr_score_input(ctx, &f.laid, &f.score));
  NSR_TRY(nsr_thresholds_find(ctx, &f.score, &f.thresholds));
  NSR_TRY(find_parts(&f));
  NSR_TRY(find_works(&f));
  NSR_TRY(find_updates(&f));
  NSR_NEW(ctx, NSR_SCRATCH, f.before, t->nworks);
  for (uint32_t w = 0; w < t->nworks; w++)
    f.before[w] = NSR_NONE;
  for (uint32_t i = 0; i < f.score.nsteps; i++)
    if (f.score.steps[i].kind == NSR_STEP_WAIT)
      NSR_TRY(map_wait(&f, i));
  return keep(&f, mark, before);
}
