/* thresholds.c - differences of registers and counts, along a score.
 *
 * Values are kept in cells: per semaphore the count in front of here, at least
 * (in a frame that a loop's head fixes anew), exactly, and at least since the
 * last barrier; and per pair of a register and a semaphore their difference. A
 * scope saves and merges the cells it changes and the ages of its members,
 * nothing else.
 */
#include "prove/thresholds.h"

#include <stdlib.h>
#include <string.h>

#include "base/work.h"
#include "prove/reg_pairs.h"
#include "prove/walk_score.h"

#define UNKNOWN INT64_MIN
/* A barrier puts so much between counts; ages of half of it are of no use. */
#define GAP (INT64_C(1) << 33)
#define STALE (INT64_C(1) << 32)
#define LONG_AGO (INT64_C(1) << 60)

enum { MAX_COVERS = 32, NEIGHBOURS = 256 };

/* What a scope changes. */
struct extent {
  uint32_t first, n; /* into cells */
  uint32_t member, end_member;
  int64_t *head, *back, *exit; /* of a loop, while its item is walked */
  bool any_head, any_back, any_exit;
};

struct finder {
  struct nsr_ctx *ctx;
  const struct nsr_score *s;
  struct nsr_thresholds *out;
  struct nsr_pairs pairs;
  uint32_t ngroups, ncells;
  int64_t *cell;           /* least counts, exact counts, low ones, pairs; and
                              the last barrier passed */
  uint32_t *age_at;        /* by member: where its ages are */
  uint8_t *nages;          /* by member */
  int64_t *since;          /* by age: the least count behind which it retired */
  uint32_t *scope_of;      /* by member: step of the innermost scope */
  struct extent *extents;  /* by number of the scope's step */
  uint32_t *extent_of;     /* by step */
  NSR_VEC(uint32_t) cells; /* lists of the extents */
  NSR_VEC(int64_t) saved;  /* states in front of arms */
  NSR_VEC(uint32_t) loops; /* around here: steps */
  struct extent item;
  NSR_VEC(int64_t) at_item;
  size_t covers_at_item;
  uint32_t meeting; /* step where ways meet that are merged */
};

static int64_t *least(struct finder *f, uint32_t g) { return &f->cell[g]; }
/* The frame of counts since the last barrier. */
static int64_t *base(struct finder *f) { return &f->cell[f->ngroups]; }
static int64_t *exact(struct finder *f, uint32_t g) {
  return &f->cell[f->ngroups + 1 + g];
}
static int64_t *low(struct finder *f, uint32_t g) {
  return &f->cell[2 * f->ngroups + 1 + g];
}
static int64_t *pair(struct finder *f, uint32_t p) {
  return &f->cell[3 * f->ngroups + 1 + p];
}

/* Its step + 1, 0: none yet; where several may be, below 0, by the place where
 * ways met. */
static int64_t *epoch(struct finder *f) { return &f->cell[f->ncells - 1]; }

static bool is_frame(const struct finder *f, uint32_t cell) {
  return cell <= f->ngroups;
}
static bool is_low(const struct finder *f, uint32_t cell) {
  return cell > 2 * f->ngroups && cell <= 3 * f->ngroups;
}

static uint32_t group_of(const struct finder *f, uint32_t member) {
  return f->s->steps[f->s->members[member]].group;
}

/* ---- states */

static uint32_t ages_in(const struct finder *f, const struct extent *x) {
  return f->age_at[x->end_member] - f->age_at[x->member];
}

static size_t state_size(const struct finder *f, const struct extent *x) {
  return (size_t)x->n + ages_in(f, x);
}

static int64_t distance(int64_t now, int64_t then) {
  return now - then >= STALE ? LONG_AGO : now - then;
}

/* Ages as distances from now, so that states of different frames compare. */
/* Where the ages of a member end; behind them stands the place of its last
 * execution among counts since the last barrier. */
static uint32_t end_of_ages(const struct finder *f, uint32_t m) {
  return f->age_at[m + 1] - 1;
}

/* What an entry of a member is a distance from. */
static int64_t origin(struct finder *f, uint32_t m, uint32_t entry) {
  return entry == end_of_ages(f, m) ? *base(f) : *least(f, group_of(f, m));
}

static void store(struct finder *f, const struct extent *x, int64_t *v) {
  for (uint32_t i = 0; i < x->n; i++)
    v[i] = f->cell[f->cells.v[x->first + i]];
  v += x->n;
  for (uint32_t m = x->member; m < x->end_member; m++)
    for (uint32_t a = f->age_at[m]; a < f->age_at[m + 1]; a++)
      *v++ = distance(origin(f, m, a), f->since[a]);
}

/* frame: least counts are those of the state, too. */
static void load(struct finder *f, const struct extent *x, const int64_t *v,
                 bool frame) {
  for (uint32_t i = 0; i < x->n; i++)
    if (frame || !is_frame(f, f->cells.v[x->first + i]))
      f->cell[f->cells.v[x->first + i]] = v[i];
  v += x->n;
  for (uint32_t m = x->member; m < x->end_member; m++)
    for (uint32_t a = f->age_at[m]; a < f->age_at[m + 1]; a++)
      f->since[a] = origin(f, m, a) - *v++;
}

/* a takes in the current state; whether it changed, but for least counts. */
static bool merge(struct finder *f, const struct extent *x, int64_t *a) {
  bool changed = false;
  for (uint32_t i = 0; i < x->n; i++) {
    uint32_t c = f->cells.v[x->first + i];
    int64_t v = f->cell[c];
    if (is_frame(f, c) || is_low(f, c)) {
      changed |= is_low(f, c) && v < a[i];
      a[i] = v < a[i] ? v : a[i];
    } else if (a[i] != v && c == f->ncells - 1) {
      changed |= a[i] != -(int64_t)f->meeting - 1;
      a[i] = -(int64_t)f->meeting - 1;
    } else if (a[i] != v && a[i] != UNKNOWN) {
      a[i] = UNKNOWN;
      changed = true;
    }
  }
  a += x->n;
  for (uint32_t m = x->member; m < x->end_member; m++)
    for (uint32_t i = f->age_at[m]; i < f->age_at[m + 1]; i++, a++) {
      int64_t d = distance(origin(f, m, i), f->since[i]);
      changed |= d < *a;
      *a = d < *a ? d : *a;
    }
  return changed;
}

/* ---- steps */

static void add_to_pairs(struct finder *f, const struct nsr_pair_list *list,
                         int64_t add) {
  for (uint32_t i = 0; i < list->n; i++) {
    int64_t *v = pair(f, f->pairs.lists[list->first + i]);
    if (*v != UNKNOWN)
      *v += add;
  }
}

static void count_member(struct finder *f, const struct nsr_step *s) {
  uint32_t m = s->member, g = s->group;
  uint32_t at = f->age_at[m], end = end_of_ages(f, m);
  f->out->count[m] = *exact(f, g) == UNKNOWN ? -1 : *exact(f, g);
  f->out->low[m] = *low(f, g);
  f->out->epoch[m] = *epoch(f);
  *low(f, g) += s->value;
  memmove(f->since + at + 1, f->since + at, (end - at - 1) * sizeof *f->since);
  f->since[at] = *least(f, g) + 1;
  f->since[end] = *exact(f, g) == UNKNOWN ? LONG_AGO : *base(f) + *exact(f, g);
  *least(f, g) += s->value;
  if (*exact(f, g) != UNKNOWN)
    *exact(f, g) += s->value;
  add_to_pairs(f, &f->pairs.by_group[g], -(int64_t)s->value);
}

static int64_t value_of(struct finder *f, const struct nsr_step *s,
                        uint32_t group) {
  if (!s->known)
    return UNKNOWN;
  if (s->src < 0)
    return *exact(f, group) == UNKNOWN ? UNKNOWN : s->value - *exact(f, group);
  uint32_t p = nsr_pair_find(&f->pairs, s->engine, s->src, group);
  if (p == NSR_NONE || *pair(f, p) == UNKNOWN)
    return UNKNOWN;
  return *pair(f, p) + s->value;
}

static void set_register(struct finder *f, const struct nsr_step *s) {
  const struct nsr_pair_list *list = nsr_pairs_of(&f->pairs, s->engine, s->dst);
  for (uint32_t i = 0; list && i < list->n; i++) {
    uint32_t p = f->pairs.lists[list->first + i];
    *pair(f, p) = value_of(f, s, f->pairs.v[p].group);
  }
}

/* Counts are 0, registers what they were. */
static void pass_barrier(struct finder *f, uint32_t i) {
  *epoch(f) = (int64_t)i + 1;
  *base(f) += GAP;
  for (uint32_t p = 0; p < f->pairs.n; p++) {
    int64_t k = *exact(f, f->pairs.v[p].group), *v = pair(f, p);
    *v = *v == UNKNOWN || k == UNKNOWN ? UNKNOWN : *v + k;
  }
  for (uint32_t g = 0; g < f->ngroups; g++) {
    *exact(f, g) = *low(f, g) = 0;
    *least(f, g) += GAP;
  }
}

/* ---- what a wait covers */

static uint32_t first_from(const struct nsr_score *s,
                           const struct nsr_count_group *g, uint32_t member) {
  uint32_t lo = 0, hi = g->n;
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (s->by_group[g->first + mid] < member)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

/* One search: members lo..hi-1 of a group, in the iteration that lies `back`
 * before this one; those from `now` on have run once less since. */
struct search {
  const struct nsr_count_group *g;
  int64_t most; /* executions that retire with this count at most */
  uint32_t now, lo, hi, back;
  uint32_t loop; /* whose iterations, NSR_NONE: the program */
  uint32_t at;   /* step of the wait */
};

/* The least count of a member's execution there; false: not looked at. */
static bool look_up(const struct finder *f, const struct search *x, uint32_t i,
                    uint32_t *member, uint32_t *age, int64_t *since) {
  *member = f->s->by_group[x->g->first + i];
  *age = i < x->now || x->back == 0 ? x->back : x->back - 1;
  uint32_t at = f->age_at[*member] + *age;
  *since = at < end_of_ages(f, *member) ? f->since[at] : INT64_MIN / 2;
  return at < end_of_ages(f, *member);
}

/* From which member on all in front of this one ran before it whenever they
 * ran; NSR_NONE: it may not have run itself. In this iteration it ran where its
 * scope is around the wait. In one that went on it ran where it is directly in
 * the loop, or in the rest of one behind its exit; but the last iteration of an
 * earlier trip may have been left before that. */
static uint32_t reaches(const struct finder *f, const struct search *x,
                        uint32_t member) {
  uint32_t scope = f->scope_of[member];
  const struct nsr_step *steps = f->s->steps;
  if (x->back == 0)
    return scope == NSR_NONE || steps[scope].end > x->at ? 0 : NSR_NONE;
  if (scope == x->loop)
    return 0;
  const struct nsr_common *scopes = f->s->tree->scopes;
  uint32_t s = scope == NSR_NONE ? 0 : steps[scope].work;
  while (s != 0 && s != steps[x->loop].work && scopes[s].to_end &&
         scopes[s].skip == NSR_ENDS_EXIT)
    s = scopes[s].parent;
  return s == steps[x->loop].work ? steps[scope].member : NSR_NONE;
}

/* Whether a later execution of a member is covered: what that tells includes
 * what an earlier one would. */
static bool has_cover(const struct finder *f, const struct nsr_wait_found *w,
                      uint32_t member) {
  for (uint32_t i = 0; i < w->n; i++)
    if (f->out->covers.v[w->first + i].member == member)
      return true;
  return false;
}

/* Looks at members hi-1 .. lo; *done: nothing before them matters. */
static enum nsr_status look_back(struct finder *f, const struct search *x,
                                 uint32_t lo, uint32_t hi,
                                 struct nsr_wait_found *w, bool *done) {
  int64_t now = *least(f, (uint32_t)(x->g - f->s->groups)), since;
  uint32_t member, age;
  for (uint32_t i = hi; i-- > lo && w->n < MAX_COVERS;) {
    if (!look_up(f, x, i, &member, &age, &since) || since > x->most ||
        now - since >= STALE || has_cover(f, w, member))
      continue;
    NSR_PUSH(f->ctx, NSR_SCRATCH, &f->out->covers,
             (struct nsr_cover){member, (uint8_t)age});
    w->n++;
    uint32_t reach = reaches(f, x, member);
    while (i > lo && reach != NSR_NONE &&
           f->s->by_group[x->g->first + i - 1] >= reach)
      i--;
    *done |= reach != NSR_NONE && i == x->lo;
  }
  return NSR_OK;
}

/* Counts grow along straight code; what may be passed by can be out of order.
 * So the nearest members are looked at one by one, and of more the last one
 * covered, and those before it. */
static enum nsr_status search(struct finder *f, const struct search *x,
                              struct nsr_wait_found *w, bool *done) {
  uint32_t lo = x->lo, hi = x->hi, member, age;
  uint32_t near = hi > lo + NEIGHBOURS ? hi - NEIGHBOURS : lo;
  int64_t since;
  *done = false;
  NSR_TRY(look_back(f, x, near, hi, w, done));
  if (*done || near == lo)
    return NSR_OK;
  hi = near;
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    look_up(f, x, mid, &member, &age, &since);
    if (since <= x->most)
      lo = mid + 1;
    else
      hi = mid;
  }
  hi = near - lo > NEIGHBOURS ? lo + NEIGHBOURS : near;
  lo = lo - x->lo > NEIGHBOURS ? lo - NEIGHBOURS : x->lo;
  return look_back(f, x, lo, hi, w, done);
}

/* From here back: this iteration, the ones before, what lies in front of the
 * loop, and so on outwards. */
static enum nsr_status find_covers(struct finder *f, uint32_t i,
                                   struct nsr_wait_found *w) {
  const struct nsr_step *s = &f->s->steps[i];
  struct search x = {.g = &f->s->groups[s->group],
                     .most = *least(f, s->group) - w->lag,
                     .at = i};
  bool done;
  x.now = x.hi = first_from(f->s, x.g, s->member);
  for (size_t d = f->loops.n;; d--) {
    uint32_t loop = d ? f->loops.v[d - 1] : NSR_NONE;
    x.loop = loop;
    x.lo = d ? first_from(f->s, x.g, f->s->steps[loop].member) : 0;
    x.back = 0;
    NSR_TRY(search(f, &x, w, &done));
    if (done || d == 0)
      return NSR_OK;
    uint32_t front = x.lo;
    x.hi = first_from(f->s, x.g, f->s->steps[f->s->steps[loop].end].member);
    for (x.back = 1; x.back <= NSR_MAX_AGE && !done && x.lo < x.hi; x.back++)
      NSR_TRY(search(f, &x, w, &done));
    x.hi = x.now = front;
  }
}

/* For a threshold that no count but that since the last barrier is known of:
 * those of the members in front of here whose place among these counts is below
 * it, or that ran before the barrier. */
static enum nsr_status find_absolute(struct finder *f, uint32_t i,
                                     struct nsr_wait_found *w) {
  const struct nsr_step *s = &f->s->steps[i];
  struct search x = {.g = &f->s->groups[s->group], .loop = NSR_NONE, .at = i};
  uint32_t k = first_from(f->s, x.g, s->member);
  uint32_t end = k > NEIGHBOURS ? k - NEIGHBOURS : 0;
  while (k-- > end && w->n < MAX_COVERS) {
    uint32_t member = f->s->by_group[x.g->first + k];
    int64_t d = *base(f) - f->since[end_of_ages(f, member)];
    if (d >= STALE || d <= -(int64_t)s->value)
      continue;
    NSR_PUSH(f->ctx, NSR_SCRATCH, &f->out->covers,
             (struct nsr_cover){member, 0});
    w->n++;
    if (reaches(f, &x, member) == 0)
      break;
  }
  return NSR_OK;
}

static enum nsr_status read_wait(struct finder *f, uint32_t i) {
  const struct nsr_step *s = &f->s->steps[i];
  struct nsr_wait_found *w = &f->out->waits[f->out->wait_of[i]];
  int64_t lag = UNKNOWN;
  *w = (struct nsr_wait_found){.first = (uint32_t)f->out->covers.n,
                               .epoch = *epoch(f)};
  if (s->other)
    return NSR_OK;
  w->kind = NSR_WAIT_NEVER;
  if (!s->is_reg && s->value <= 0)
    return NSR_OK;
  w->kind = NSR_WAIT_UNKNOWN;
  if (s->group == NSR_NONE || f->s->groups[s->group].bad)
    return NSR_OK;
  if (s->is_reg) {
    uint32_t p = nsr_pair_find(&f->pairs, s->engine, s->value, s->group);
    lag = *pair(f, p) == UNKNOWN ? UNKNOWN : -*pair(f, p);
  } else if (*exact(f, s->group) != UNKNOWN) {
    lag = *exact(f, s->group) - s->value;
  }
  if (lag == UNKNOWN && !s->is_reg && *low(f, s->group) >= s->value) {
    w->kind = NSR_WAIT_HOLDS;
    return f->s->groups[s->group].channel < 0 ? NSR_OK : find_absolute(f, i, w);
  }
  if (lag == UNKNOWN)
    return NSR_OK;
  w->kind = NSR_WAIT_LAG;
  w->lag = lag;
  return lag < 0 || f->s->groups[s->group].channel < 0 ? NSR_OK
                                                       : find_covers(f, i, w);
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
    set_register(f, s);
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

static struct extent *extent(struct finder *f, uint32_t step) {
  return &f->extents[f->extent_of[step]];
}

static enum nsr_status enter_loop(void *user, uint32_t loop, bool *changed) {
  struct finder *f = user;
  struct extent *x = extent(f, loop);
  size_t n = state_size(f, x);
  if (!x->head) {
    NSR_NEW(f->ctx, NSR_SCRATCH, x->head, n);
    NSR_NEW(f->ctx, NSR_SCRATCH, x->back, n);
    NSR_NEW(f->ctx, NSR_SCRATCH, x->exit, n);
  }
  f->meeting = loop;
  *changed = !x->any_head || merge(f, x, x->head);
  if (!x->any_head)
    store(f, x, x->head);
  x->any_head = true;
  x->any_back = x->any_exit = false;
  load(f, x, x->head, false);
  NSR_PUSH(f->ctx, NSR_SCRATCH, &f->loops, loop);
  return NSR_OK;
}

static enum nsr_status end_way(void *user, uint32_t loop, bool back) {
  struct finder *f = user;
  struct extent *x = extent(f, loop);
  f->meeting = back ? loop : f->s->steps[loop].end;
  bool *any = back ? &x->any_back : &x->any_exit;
  int64_t *to = back ? x->back : x->exit;
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
  struct extent *x = extent(f, loop);
  f->loops.n--;
  if (x->any_back) {
    load(f, x, x->back, true);
    f->meeting = loop;
    *changed = merge(f, x, x->head);
  }
  load(f, x, x->any_exit ? x->exit : x->head, true);
  if (*epoch(f) == -(int64_t)loop - 1) /* behind it others count */
    *epoch(f) = -(int64_t)f->s->steps[loop].end - 1;
  return NSR_OK;
}

static enum nsr_status enter_arm(void *user, uint32_t arm) {
  struct finder *f = user;
  const struct extent *x = extent(f, arm);
  size_t n = state_size(f, x);
  NSR_RESERVE(f->ctx, NSR_SCRATCH, &f->saved, n);
  store(f, x, f->saved.v + f->saved.n);
  f->saved.n += n;
  return NSR_OK;
}

static enum nsr_status leave_arm(void *user, uint32_t arm, bool join) {
  struct finder *f = user;
  const struct extent *x = extent(f, arm);
  f->saved.n -= state_size(f, x);
  f->meeting = f->s->steps[arm].end;
  if (join)
    merge(f, x, f->saved.v + f->saved.n);
  load(f, x, f->saved.v + f->saved.n, true);
  return NSR_OK;
}

/* ---- items */

static enum nsr_status begin_item(void *user, uint32_t first, uint32_t end) {
  struct finder *f = user;
  f->item = (struct extent){0};
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

static enum nsr_status leave_item(void *user, uint32_t first, uint32_t end) {
  (void)user;
  (void)first;
  (void)end;
  return NSR_OK;
}

/* ---- extents */

/* Cells that the open scopes change, one row for each depth. */
struct opened {
  NSR_VEC(uint32_t) cells;
  bool *has;
};

struct opener {
  struct finder *f;
  NSR_VEC(struct opened *) rows;
  uint32_t depth;
  NSR_VEC(uint32_t) scopes; /* steps */
};

static enum nsr_status touch(struct opener *o, uint32_t cell) {
  struct opened *row = o->rows.v[o->depth - 1];
  if (row->has[cell])
    return NSR_OK;
  row->has[cell] = true;
  NSR_PUSH(o->f->ctx, NSR_SCRATCH, &row->cells, cell);
  return NSR_OK;
}

static enum nsr_status touch_list(struct opener *o,
                                  const struct nsr_pair_list *list) {
  for (uint32_t i = 0; list && i < list->n; i++)
    NSR_TRY(
        touch(o, 3 * o->f->ngroups + 1 + o->f->pairs.lists[list->first + i]));
  return NSR_OK;
}

static enum nsr_status touch_step(struct opener *o, const struct nsr_step *s) {
  struct finder *f = o->f;
  if (s->kind == NSR_STEP_WORK && s->group != NSR_NONE) {
    f->scope_of[s->member] =
        o->scopes.n ? o->scopes.v[o->scopes.n - 1] : NSR_NONE;
    f->nages[s->member] = o->depth ? NSR_MAX_AGE : 1;
  }
  if (!o->depth)
    return NSR_OK;
  if (s->kind == NSR_STEP_WORK && s->group != NSR_NONE) {
    NSR_TRY(touch(o, s->group));
    NSR_TRY(touch(o, f->ngroups + 1 + s->group));
    NSR_TRY(touch(o, 2 * f->ngroups + 1 + s->group));
    return touch_list(o, &f->pairs.by_group[s->group]);
  }
  if (s->kind == NSR_STEP_SET)
    return touch_list(o, nsr_pairs_of(&f->pairs, s->engine, s->dst));
  for (uint32_t c = 0; s->kind == NSR_STEP_BARRIER && c < f->ncells; c++)
    NSR_TRY(touch(o, c));
  return NSR_OK;
}

static enum nsr_status open_scope(struct opener *o, uint32_t i) {
  if (o->depth == o->rows.n) {
    struct opened *row;
    NSR_NEW(o->f->ctx, NSR_SCRATCH, row, 1);
    NSR_NEW(o->f->ctx, NSR_SCRATCH, row->has, o->f->ncells);
    NSR_PUSH(o->f->ctx, NSR_SCRATCH, &o->rows, row);
  }
  o->depth++;
  NSR_PUSH(o->f->ctx, NSR_SCRATCH, &o->scopes, i);
  return NSR_OK;
}

/* What it changes, the scope around it changes, too. */
static enum nsr_status close_scope(struct opener *o, uint32_t i) {
  struct finder *f = o->f;
  struct opened *row = o->rows.v[--o->depth];
  uint32_t begin = o->scopes.v[--o->scopes.n];
  struct extent *x = extent(f, begin);
  x->first = (uint32_t)f->cells.n;
  x->n = (uint32_t)row->cells.n;
  x->member = f->s->steps[begin].member;
  x->end_member = f->s->steps[i].member;
  for (size_t c = 0; c < row->cells.n; c++) {
    NSR_APPEND(f->ctx, NSR_SCRATCH, &f->cells, row->cells.v[c]);
    row->has[row->cells.v[c]] = false;
    if (o->depth)
      NSR_TRY(touch(o, row->cells.v[c]));
  }
  row->cells.n = 0;
  return NSR_OK;
}

static enum nsr_status find_extents(struct finder *f) {
  struct opener o = {.f = f};
  uint32_t n = 0;
  for (uint32_t i = 0; i < f->s->nsteps; i++) {
    uint8_t kind = f->s->steps[i].kind;
    if (kind == NSR_STEP_LOOP || kind == NSR_STEP_ARM)
      f->extent_of[i] = n++;
  }
  NSR_NEW(f->ctx, NSR_SCRATCH, f->extents, n);
  for (uint32_t i = 0; i < f->s->nsteps; i++) {
    const struct nsr_step *s = &f->s->steps[i];
    if (s->kind == NSR_STEP_LOOP || s->kind == NSR_STEP_ARM)
      NSR_TRY(open_scope(&o, i));
    else if (s->kind == NSR_STEP_END)
      NSR_TRY(close_scope(&o, i));
    else
      NSR_TRY(touch_step(&o, s));
  }
  return NSR_OK;
}

static enum nsr_status prepare(struct finder *f) {
  const struct nsr_score *s = f->s;
  uint32_t ages = 0, waits = 0;
  f->ngroups = s->ngroups;
  NSR_TRY(nsr_pairs_find(f->ctx, s, &f->pairs));
  f->ncells = 3 * f->ngroups + f->pairs.n + 2;
  NSR_NEW(f->ctx, NSR_SCRATCH, f->cell, f->ncells);
  for (uint32_t p = 0; p < f->pairs.n; p++)
    *pair(f, p) = UNKNOWN;
  NSR_NEW(f->ctx, NSR_SCRATCH, f->nages, s->nmembers);
  NSR_NEW(f->ctx, NSR_SCRATCH, f->scope_of, s->nmembers);
  NSR_NEW(f->ctx, NSR_SCRATCH, f->extent_of, s->nsteps);
  NSR_NEW(f->ctx, NSR_SCRATCH, f->out->wait_of, s->nsteps);
  NSR_NEW(f->ctx, NSR_SCRATCH, f->out->waits, s->nwaits);
  NSR_NEW(f->ctx, NSR_SCRATCH, f->out->count, s->nmembers);
  NSR_NEW(f->ctx, NSR_SCRATCH, f->out->low, s->nmembers);
  NSR_NEW(f->ctx, NSR_SCRATCH, f->out->epoch, s->nmembers);
  NSR_TRY(find_extents(f));
  NSR_NEW(f->ctx, NSR_SCRATCH, f->age_at, (size_t)s->nmembers + 1);
  for (uint32_t m = 0; m < s->nmembers; m++) {
    f->age_at[m] = ages;
    ages += f->nages[m] + 1u;
  }
  f->age_at[s->nmembers] = ages;
  NSR_NEW(f->ctx, NSR_SCRATCH, f->since, ages);
  for (uint32_t a = 0; a < ages; a++)
    f->since[a] = -LONG_AGO;
  for (uint32_t i = 0; i < s->nsteps; i++)
    f->out->wait_of[i] = s->steps[i].kind == NSR_STEP_WAIT ? waits++ : NSR_NONE;
  return NSR_OK;
}

enum nsr_status nsr_thresholds_find(struct nsr_ctx *ctx,
                                    const struct nsr_score *s,
                                    struct nsr_thresholds *out) {
  struct finder f = {.ctx = ctx, .s = s, .out = out};
  *out = (struct nsr_thresholds){0};
  NSR_TRY(prepare(&f));
  struct nsr_walker w = {&f,        begin_item, again,   leave_item,
                         take_step, enter_loop, end_way, leave_loop,
                         enter_arm, leave_arm};
  return nsr_score_walk(ctx, s, &w);
}
