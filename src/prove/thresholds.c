/* thresholds.c - differences of registers and counts, along a score.
 *
 * A scope saves and merges the cells it changes and the ages of its members,
 * nothing else.
 */
#include "prove/thresholds.h"

#include <string.h>

#include "base/work.h"
#include "prove/cells.h"
#include "prove/covers.h"
#include "prove/walk_score.h"

#define UNKNOWN INT64_MIN
/* A barrier puts so much between counts; ages of half of it are of no use. */
#define GAP (INT64_C(1) << 33)
#define LONG_AGO (INT64_C(1) << 60)
#define LARGE (INT64_C(1) << 40) /* constants in registers stay below */

/* What a loop keeps while its item is walked. */
struct trips {
  int64_t *head, *back, *exit;
  bool any_head, any_back, any_exit;
};

struct finder {
  struct nsr_ctx *ctx;
  const struct nsr_score *s;
  struct nsr_thresholds *out;
  struct nsr_tracks tracks;
  struct nsr_ages ages;
  struct nsr_cells cells;
  int64_t *cell;
  struct trips *trips;    /* by number of the scope */
  NSR_VEC(int64_t) saved; /* states in front of arms */
  struct nsr_extent item;
  NSR_VEC(int64_t) at_item;
  size_t covers_at_item;
  uint32_t meeting; /* step where ways meet that are merged */
};

static int64_t *least(struct finder *f, uint32_t g) { return &f->cell[g]; }
/* The frame of counts since the last barrier. */
static int64_t *base(struct finder *f) {
  return &f->cell[nsr_cell_base(&f->cells)];
}
static int64_t *exact(struct finder *f, uint32_t g) {
  return &f->cell[nsr_cell_exact(&f->cells, g)];
}
static int64_t *low(struct finder *f, uint32_t g) {
  return &f->cell[nsr_cell_low(&f->cells, g)];
}
static int64_t *track(struct finder *f, uint32_t t) {
  return &f->cell[nsr_cell_track(&f->cells, t)];
}

/* Its step + 1, 0: none yet; below 0: several, by the place where ways met. */
static int64_t *epoch(struct finder *f) {
  return &f->cell[nsr_cell_epoch(&f->cells)];
}

static bool is_frame(const struct finder *f, uint32_t cell) {
  return cell <= nsr_cell_base(&f->cells);
}
static bool is_low(const struct finder *f, uint32_t cell) {
  return cell >= nsr_cell_low(&f->cells, 0) &&
         cell < nsr_cell_track(&f->cells, 0);
}

static uint32_t group_of(const struct finder *f, uint32_t member) {
  return f->s->steps[f->s->members[member]].group;
}

/* ---- states */

static uint32_t ages_in(const struct finder *f, const struct nsr_extent *x) {
  return f->ages.at[x->end_member] - f->ages.at[x->member];
}

static size_t state_size(const struct finder *f, const struct nsr_extent *x) {
  return (size_t)x->n + ages_in(f, x);
}

static int64_t distance(int64_t now, int64_t then) {
  return now - then >= NSR_STALE ? LONG_AGO : now - then;
}

/* What an entry of a member is a distance from: states of different frames
 * compare. */
static int64_t origin(struct finder *f, uint32_t m, uint32_t entry) {
  return entry == nsr_ages_end(&f->ages, m) ? *base(f)
                                            : *least(f, group_of(f, m));
}

static void store(struct finder *f, const struct nsr_extent *x, int64_t *v) {
  for (uint32_t i = 0; i < x->n; i++)
    v[i] = f->cell[f->cells.lists.v[x->first + i]];
  v += x->n;
  for (uint32_t m = x->member; m < x->end_member; m++)
    for (uint32_t a = f->ages.at[m]; a < f->ages.at[m + 1]; a++)
      *v++ = distance(origin(f, m, a), f->ages.since[a]);
}

/* frame: least counts are those of the state, too. */
static void load(struct finder *f, const struct nsr_extent *x, const int64_t *v,
                 bool frame) {
  for (uint32_t i = 0; i < x->n; i++)
    if (frame || !is_frame(f, f->cells.lists.v[x->first + i]))
      f->cell[f->cells.lists.v[x->first + i]] = v[i];
  v += x->n;
  for (uint32_t m = x->member; m < x->end_member; m++)
    for (uint32_t a = f->ages.at[m]; a < f->ages.at[m + 1]; a++)
      f->ages.since[a] = origin(f, m, a) - *v++;
}

/* a takes in the current state; whether it changed, but for least counts. */
static bool merge(struct finder *f, const struct nsr_extent *x, int64_t *a) {
  bool changed = false;
  for (uint32_t i = 0; i < x->n; i++) {
    uint32_t c = f->cells.lists.v[x->first + i];
    int64_t v = f->cell[c];
    if (is_frame(f, c) || is_low(f, c)) {
      changed |= is_low(f, c) && v < a[i];
      a[i] = v < a[i] ? v : a[i];
    } else if (a[i] != v && c == nsr_cell_epoch(&f->cells)) {
      changed |= a[i] != -(int64_t)f->meeting - 1;
      a[i] = -(int64_t)f->meeting - 1;
    } else if (a[i] != v && a[i] != UNKNOWN) {
      a[i] = UNKNOWN;
      changed = true;
    }
  }
  a += x->n;
  for (uint32_t m = x->member; m < x->end_member; m++)
    for (uint32_t i = f->ages.at[m]; i < f->ages.at[m + 1]; i++, a++) {
      int64_t d = distance(origin(f, m, i), f->ages.since[i]);
      changed |= d < *a;
      *a = d < *a ? d : *a;
    }
  return changed;
}

/* ---- steps */

static void add_to_tracks(struct finder *f, uint32_t count, int64_t add) {
  const struct nsr_track_list *l = &f->tracks.by_count[count];
  for (uint32_t i = 0; i < l->n; i++) {
    int64_t *v = track(f, f->tracks.lists[l->first + i]);
    if (*v != UNKNOWN)
      *v += add;
  }
}

static void count_member(struct finder *f, const struct nsr_step *s) {
  uint32_t m = s->member, g = s->group;
  uint32_t at = f->ages.at[m], end = nsr_ages_end(&f->ages, m);
  int64_t *since = f->ages.since;
  f->out->count[m] = *exact(f, g) == UNKNOWN ? -1 : *exact(f, g);
  f->out->low[m] = *low(f, g);
  f->out->epoch[m] = *epoch(f);
  *low(f, g) += s->value;
  memmove(since + at + 1, since + at, (end - at - 1) * sizeof *since);
  since[at] = *least(f, g) + 1;
  since[end] = *exact(f, g) == UNKNOWN ? LONG_AGO : *base(f) + *exact(f, g);
  *least(f, g) += s->value;
  if (*exact(f, g) != UNKNOWN)
    *exact(f, g) += s->value;
  add_to_tracks(f, g, -(int64_t)s->value);
}

/* A sum of registers with known constants; else UNKNOWN. */
static int64_t sum_of(struct finder *f, uint32_t sum) {
  uint32_t n;
  const struct nsr_term *t = nsr_sum_terms(&f->tracks.sums, sum, &n);
  int64_t v = 0;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t c = f->cells.constant_of[t[i].reg];
    if (c == NSR_NONE || f->cell[c] == UNKNOWN)
      return UNKNOWN;
    v += t[i].times * f->cell[c];
    if (v >= LARGE || v <= -LARGE)
      return UNKNOWN;
  }
  return v;
}

/* A sum less a semaphore's count, or less the iterations of a loop. */
static int64_t difference(struct finder *f, uint32_t sum, uint32_t count) {
  uint32_t at = sum ? nsr_track_of(&f->tracks, sum, count) : NSR_NONE;
  if (at != NSR_NONE && *track(f, at) != UNKNOWN)
    return *track(f, at);
  int64_t k = count < f->s->ngroups ? *exact(f, count) : UNKNOWN;
  int64_t v = k == UNKNOWN ? UNKNOWN : sum_of(f, sum);
  return v == UNKNOWN ? UNKNOWN : v - k;
}

static int64_t linked(struct finder *f, const struct nsr_track_link *l) {
  int64_t v = l->sum == NSR_NONE
                  ? UNKNOWN
                  : difference(f, l->sum, f->tracks.v.v[l->from].count);
  return v == UNKNOWN ? UNKNOWN : v + l->add;
}

/* Tracks that lead to each other keep out of each other's way: those to which
 * others lead do not have this register. */
static void set_tracks(struct finder *f, const struct nsr_set *set) {
  const struct nsr_track_list *l = &f->tracks.by_reg[set->reg];
  for (uint32_t i = 0; i < l->n; i++) {
    uint32_t at = f->tracks.lists[l->first + i];
    int64_t *v = track(f, at);
    if (set->kind == NSR_SET_VALUE)
      *v = linked(f, &f->tracks.links.v[set->first + i]);
    else if (set->kind == NSR_SET_UNKNOWN)
      *v = UNKNOWN;
    else if (*v != UNKNOWN)
      *v += set->value.add *
            nsr_sum_times(&f->tracks.sums, f->tracks.v.v[at].sum, set->reg);
  }
}

static void set_register(struct finder *f, uint32_t i) {
  const struct nsr_set *set = &f->tracks.sets.v[f->tracks.set_of[i]];
  uint32_t c = f->cells.constant_of[set->reg];
  if (c == NSR_NONE)
    return;
  int64_t v = set->kind == NSR_SET_STEP    ? f->cell[c]
              : set->kind == NSR_SET_VALUE ? sum_of(f, set->value.sum)
                                           : UNKNOWN;
  v = v == UNKNOWN ? UNKNOWN : v + set->value.add;
  set_tracks(f, set);
  f->cell[c] = v < LARGE && v > -LARGE ? v : UNKNOWN;
}

/* Counts are 0, registers what they were. */
static void pass_barrier(struct finder *f, uint32_t i) {
  *epoch(f) = (int64_t)i + 1;
  *base(f) += GAP;
  for (uint32_t g = f->cells.first_group[f->s->region[i]]; g != NSR_NONE;
       g = f->cells.next_group[g]) {
    const struct nsr_track_list *l = &f->tracks.by_count[g];
    int64_t k = *exact(f, g);
    for (uint32_t x = 0; x < l->n; x++) {
      int64_t *v = track(f, f->tracks.lists[l->first + x]);
      *v = *v == UNKNOWN || k == UNKNOWN ? UNKNOWN : *v + k;
    }
    *exact(f, g) = *low(f, g) = 0;
    *least(f, g) += GAP;
  }
}

/* ---- waits */

/* How far a threshold lies below the count here; UNKNOWN. */
static int64_t lag_of(struct finder *f, const struct nsr_linear *x,
                      uint32_t group) {
  int64_t d = difference(f, x->sum, group);
  return d == UNKNOWN ? UNKNOWN : -(d + x->add);
}

static enum nsr_status cover(struct finder *f, uint32_t i, uint32_t within,
                             int64_t rounds, struct nsr_wait_found *w) {
  uint32_t g = f->s->steps[i].group;
  const struct nsr_cover_search x = {i, *least(f, g), w->lag, within, rounds};
  w->within = within;
  if (w->lag < 0 || f->s->groups[g].channel < 0)
    return NSR_OK;
  return nsr_covers_find(&f->ages, &x, w, f->out);
}

/* An immediate threshold where the count depends on the way. */
static enum nsr_status read_low(struct finder *f, uint32_t i,
                                struct nsr_wait_found *w) {
  const struct nsr_step *s = &f->s->steps[i];
  if (s->is_reg || *low(f, s->group) < s->value)
    return NSR_OK;
  w->kind = NSR_WAIT_HOLDS;
  if (f->s->groups[s->group].channel < 0)
    return NSR_OK;
  return nsr_covers_absolute(&f->ages, i, *base(f), w, f->out);
}

/* The loop whose iterations since it was entered a sum tells, but for a
 * constant; NSR_NONE: none around here. */
static uint32_t trip_of(struct finder *f, uint32_t sum, int64_t *add) {
  for (size_t d = f->ages.loops.n; d-- > 0;) {
    uint32_t loop = f->ages.loops.v[d];
    *add = difference(f, sum, f->tracks.count_of[loop]);
    if (*add != UNKNOWN)
      return loop;
  }
  return NSR_NONE;
}

/* One of two, by a test: it waits for the later lag at least, for the earlier
 * one where it takes the larger. Or it is for nothing in the first iterations
 * of a trip: then it is for what cannot lie in these. */
static enum nsr_status read_choice(struct finder *f, uint32_t i,
                                   const struct nsr_reg_value *v,
                                   struct nsr_wait_found *w) {
  uint32_t group = f->s->steps[i].group, within = NSR_NONE;
  int64_t yes = lag_of(f, &v->yes, group), no = lag_of(f, &v->no, group);
  int64_t add, rounds = 0;
  bool never = v->no.sum == 0 && v->no.add <= 0;
  if (yes == UNKNOWN || yes < 0 || (!never && (no == UNKNOWN || no < 0)))
    return NSR_OK;
  w->lag = yes;
  w->least = never || yes < no ? yes : no;
  w->kind = NSR_WAIT_CHOICE;
  if (never)
    within = trip_of(f, v->test.sum, &add);
  if (within != NSR_NONE)
    rounds = -(add + v->test.add);
  else if (no == UNKNOWN || no < 0)
    return NSR_OK;
  else
    w->lag = yes > no ? yes : no;
  return cover(f, i, rounds > 0 ? within : NSR_NONE, rounds, w);
}

static enum nsr_status read_wait(struct finder *f, uint32_t i) {
  const struct nsr_step *s = &f->s->steps[i];
  struct nsr_wait_found *w = &f->out->waits[f->out->wait_of[i]];
  const struct nsr_reg_value *v = &f->tracks.waits[f->out->wait_of[i]];
  *w = (struct nsr_wait_found){.first = (uint32_t)f->out->covers.n,
                               .epoch = *epoch(f),
                               .within = NSR_NONE};
  if (s->other)
    return NSR_OK;
  w->kind = NSR_WAIT_NEVER;
  if (v->kind == NSR_REG_PLAIN && v->yes.sum == 0 && v->yes.add <= 0)
    return NSR_OK;
  w->kind = NSR_WAIT_UNKNOWN;
  if (s->group == NSR_NONE || f->s->groups[s->group].bad)
    return NSR_OK;
  if (v->kind == NSR_REG_CHOICE)
    return read_choice(f, i, v, w);
  w->lag = w->least = lag_of(f, &v->yes, s->group);
  if (w->lag == UNKNOWN)
    return read_low(f, i, w);
  w->kind = NSR_WAIT_LAG;
  return cover(f, i, NSR_NONE, 0, w);
}

static enum nsr_status take_step(void *user, uint32_t i) {
  struct finder *f = user;
  const struct nsr_step *s = &f->s->steps[i];
  nsr_work_count(f->ctx, NSR_WORK_PROVE, 1);
  switch ((enum nsr_step_kind)s->kind) {
  case NSR_STEP_WORK:
    if (s->group != NSR_NONE)
      count_member(f, s);
    break;
  case NSR_STEP_WAIT:
    return read_wait(f, i);
  case NSR_STEP_SET:
    set_register(f, i);
    break;
  case NSR_STEP_BARRIER:
    pass_barrier(f, i);
    break;
  default:
    break;
  }
  return NSR_OK;
}

/* ---- scopes */

static const struct nsr_extent *extent(const struct finder *f, uint32_t step) {
  return &f->cells.extents[f->cells.extent_of[step]];
}

static struct trips *trips_of(struct finder *f, uint32_t loop) {
  return &f->trips[f->cells.extent_of[loop]];
}

/* No iteration has begun. */
static void begin_trip(struct finder *f, uint32_t loop) {
  const struct nsr_track_list *l =
      &f->tracks.by_count[f->tracks.count_of[loop]];
  for (uint32_t i = 0; i < l->n; i++) {
    uint32_t at = f->tracks.lists[l->first + i];
    *track(f, at) = sum_of(f, f->tracks.v.v[at].sum);
  }
}

static enum nsr_status enter_loop(void *user, uint32_t loop, bool *changed) {
  struct finder *f = user;
  const struct nsr_extent *x = extent(f, loop);
  struct trips *l = trips_of(f, loop);
  size_t n = state_size(f, x);
  if (!l->head) {
    NSR_NEW(f->ctx, NSR_SCRATCH, l->head, n);
    NSR_NEW(f->ctx, NSR_SCRATCH, l->back, n);
    NSR_NEW(f->ctx, NSR_SCRATCH, l->exit, n);
  }
  f->meeting = loop;
  begin_trip(f, loop);
  *changed = !l->any_head || merge(f, x, l->head);
  if (!l->any_head)
    store(f, x, l->head);
  l->any_head = true;
  l->any_back = l->any_exit = false;
  load(f, x, l->head, false);
  add_to_tracks(f, f->tracks.count_of[loop], -1);
  NSR_PUSH(f->ctx, NSR_SCRATCH, &f->ages.loops, loop);
  return NSR_OK;
}

static enum nsr_status end_way(void *user, uint32_t loop, bool back) {
  struct finder *f = user;
  const struct nsr_extent *x = extent(f, loop);
  struct trips *l = trips_of(f, loop);
  f->meeting = back ? loop : f->s->steps[loop].end;
  bool *any = back ? &l->any_back : &l->any_exit;
  int64_t *to = back ? l->back : l->exit;
  if (*any)
    merge(f, x, to);
  else
    store(f, x, to);
  *any = true;
  return NSR_OK;
}

/* The frame in front of the loop is that behind it: least counts are of no
 * iterations at all. */
static enum nsr_status leave_loop(void *user, uint32_t loop, bool *changed) {
  struct finder *f = user;
  const struct nsr_extent *x = extent(f, loop);
  struct trips *l = trips_of(f, loop);
  f->ages.loops.n--;
  if (l->any_back) {
    load(f, x, l->back, true);
    f->meeting = loop;
    *changed = merge(f, x, l->head);
  }
  load(f, x, l->any_exit ? l->exit : l->head, true);
  if (*epoch(f) == -(int64_t)loop - 1) /* behind it others count */
    *epoch(f) = -(int64_t)f->s->steps[loop].end - 1;
  return NSR_OK;
}

static enum nsr_status enter_arm(void *user, uint32_t arm) {
  struct finder *f = user;
  const struct nsr_extent *x = extent(f, arm);
  size_t n = state_size(f, x);
  NSR_RESERVE(f->ctx, NSR_SCRATCH, &f->saved, n);
  store(f, x, f->saved.v + f->saved.n);
  f->saved.n += n;
  return NSR_OK;
}

static enum nsr_status leave_arm(void *user, uint32_t arm, bool join) {
  struct finder *f = user;
  const struct nsr_extent *x = extent(f, arm);
  f->saved.n -= state_size(f, x);
  f->meeting = f->s->steps[arm].end;
  if (join)
    merge(f, x, f->saved.v + f->saved.n);
  load(f, x, f->saved.v + f->saved.n, true);
  return NSR_OK;
}

static enum nsr_status other_way(void *user, uint32_t arm) {
  struct finder *f = user;
  size_t n = state_size(f, extent(f, arm));
  NSR_TRY(enter_arm(user, arm));
  int64_t *now = f->saved.v + (f->saved.n -= n);
  load(f, extent(f, arm), now - n, true);
  memcpy(now - n, now, n * sizeof *now);
  return NSR_OK;
}

/* ---- items */

static enum nsr_status begin_item(void *user, uint32_t first, uint32_t end) {
  struct finder *f = user;
  f->item = (struct nsr_extent){0};
  f->covers_at_item = f->out->covers.n;
  if (end - first == 1)
    return NSR_OK;
  f->item = *extent(f, first);
  size_t n = state_size(f, &f->item);
  f->at_item.n = 0;
  NSR_RESERVE(f->ctx, NSR_SCRATCH, &f->at_item, n);
  store(f, &f->item, f->at_item.v);
  return NSR_OK;
}

static enum nsr_status again(void *user) {
  struct finder *f = user;
  load(f, &f->item, f->at_item.v, true);
  f->out->covers.n = f->covers_at_item;
  return NSR_OK;
}

/* ---- all of it */

static enum nsr_status prepare(struct finder *f) {
  const struct nsr_score *s = f->s;
  uint32_t ages = 0;
  NSR_TRY(nsr_tracks_find(f->ctx, s, &f->tracks));
  NSR_TRY(nsr_cells_find(f->ctx, s, &f->tracks, &f->cells));
  f->ages.scope = f->cells.scope_of;
  NSR_NEW(f->ctx, NSR_SCRATCH, f->trips, f->cells.nextents);
  NSR_NEW(f->ctx, NSR_SCRATCH, f->cell, f->cells.n);
  for (uint32_t c = nsr_cell_track(&f->cells, 0); c < nsr_cell_epoch(&f->cells);
       c++)
    f->cell[c] = UNKNOWN;
  NSR_NEW(f->ctx, NSR_SCRATCH, f->out->waits, s->nwaits);
  NSR_NEW(f->ctx, NSR_SCRATCH, f->out->count, s->nmembers);
  NSR_NEW(f->ctx, NSR_SCRATCH, f->out->low, s->nmembers);
  NSR_NEW(f->ctx, NSR_SCRATCH, f->out->epoch, s->nmembers);
  f->out->wait_of = f->tracks.wait_of;
  NSR_NEW(f->ctx, NSR_SCRATCH, f->ages.at, (size_t)s->nmembers + 1);
  for (uint32_t m = 0; m < s->nmembers; m++) {
    f->ages.at[m] = ages;
    ages += (f->ages.scope[m] == NSR_NONE ? 1u : NSR_MAX_AGE) + 1u;
  }
  f->ages.at[s->nmembers] = ages;
  NSR_NEW(f->ctx, NSR_SCRATCH, f->ages.since, ages);
  for (uint32_t a = 0; a < ages; a++)
    f->ages.since[a] = -LONG_AGO;
  return NSR_OK;
}

/* Nothing else stays. */
static enum nsr_status keep(struct finder *f, struct nsr_mark mark) {
  struct nsr_thresholds *t = f->out;
  size_t members = f->s->nmembers;
  struct nsr_kept kept[] = {{t->wait_of, f->s->nsteps * sizeof *t->wait_of},
                            {t->waits, f->s->nwaits * sizeof *t->waits},
                            {t->covers.v, t->covers.n * sizeof *t->covers.v},
                            {t->count, members * sizeof *t->count},
                            {t->low, members * sizeof *t->low},
                            {t->epoch, members * sizeof *t->epoch}};
  NSR_TRY(nsr_scratch_release_but(f->ctx, mark, kept, 6));
  t->wait_of = kept[0].p;
  t->waits = kept[1].p;
  t->covers.v = kept[2].p;
  t->covers.cap = t->covers.n;
  t->count = kept[3].p;
  t->low = kept[4].p;
  t->epoch = kept[5].p;
  return NSR_OK;
}

enum nsr_status nsr_thresholds_find(struct nsr_ctx *ctx,
                                    const struct nsr_score *s,
                                    struct nsr_thresholds *out) {
  struct finder f = {
      .ctx = ctx, .s = s, .out = out, .ages = {.ctx = ctx, .s = s}};
  struct nsr_mark mark = nsr_scratch_mark(ctx);
  *out = (struct nsr_thresholds){0};
  NSR_TRY(prepare(&f));
  struct nsr_walker w = {.user = &f,
                         .item = begin_item,
                         .again = again,
                         .step = take_step,
                         .enter_loop = enter_loop,
                         .end_way = end_way,
                         .leave_loop = leave_loop,
                         .enter_arm = enter_arm,
                         .leave_arm = leave_arm,
                         .other_way = other_way};
  NSR_TRY(nsr_score_walk(s, &w));
  return keep(&f, mark);
}
