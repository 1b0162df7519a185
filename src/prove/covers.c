/* covers.c - from a wait back over members that may have been what it is for.
 */
#include "prove/covers.h"

enum { MAX_COVERS = 32, NEIGHBOURS = 256 };

/* One search: members lo..hi-1 of a group, in the iteration that lies `back`
 * before this one; those from `now` on have run once less since. */
struct search {
  const struct nsr_ages *a;
  const struct nsr_cover_search *x;
  struct nsr_wait_found *w;
  struct nsr_thresholds *out;
  const struct nsr_count_group *g;
  uint32_t now, lo, hi, back;
  uint32_t loop; /* whose iterations, NSR_NONE: the program */
};

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

static uint32_t member_at(const struct search *x, uint32_t i) {
  return x->a->s->by_group[x->g->first + i];
}

/* The least count of a member's execution there; false: not looked at. */
static bool look_up(const struct search *x, uint32_t i, uint32_t *age,
                    int64_t *since) {
  uint32_t member = member_at(x, i);
  *age = i < x->now || x->back == 0 ? x->back : x->back - 1;
  uint32_t at = x->a->at[member] + *age;
  *since = at < nsr_ages_end(x->a, member) ? x->a->since[at] : INT64_MIN / 2;
  return at < nsr_ages_end(x->a, member);
}

/* From which member on all in front of this one ran before it whenever they
 * ran; NSR_NONE: it may not have run itself. In this iteration it ran where its
 * scope is around the wait. In one that went on it ran where it is directly in
 * the loop, or in the rest of one behind its exit; but the last iteration of an
 * earlier trip may have been left before that. */
static uint32_t reaches(const struct search *x, uint32_t member) {
  uint32_t scope = x->a->scope[member];
  const struct nsr_step *steps = x->a->s->steps;
  if (x->back == 0)
    return scope == NSR_NONE || steps[scope].end > x->x->step ? 0 : NSR_NONE;
  if (scope == x->loop)
    return 0;
  const struct nsr_common *scopes = x->a->s->tree->scopes;
  uint32_t s = scope == NSR_NONE ? 0 : steps[scope].work;
  while (s != 0 && s != steps[x->loop].work && x->a->s->to_end[s] &&
         scopes[s].skip == NSR_ENDS_EXIT)
    s = scopes[s].parent;
  return s == steps[x->loop].work ? steps[scope].member : NSR_NONE;
}

/* Whether a member may run several times in an iteration of a loop around
 * it. */
static bool repeats(const struct nsr_ages *a, uint32_t member, uint32_t loop) {
  const struct nsr_common *scopes = a->s->tree->scopes;
  uint32_t top = a->s->steps[loop].work;
  for (uint32_t s = a->s->steps[a->scope[member]].work; s != top;
       s = scopes[s].parent)
    if (scopes[s].kind == NSR_SCOPE_LOOP)
      return true;
  return false;
}

static bool inside(const struct nsr_score *s, uint32_t step, uint32_t loop) {
  return step > loop && step < s->steps[loop].end;
}

/* Whether an execution with this age lies in front of the latest iterations:
 * fewer of the same member's lie in these. */
static bool in_front(const struct search *x, uint32_t member, uint32_t age) {
  const struct nsr_ages *a = x->a;
  uint32_t within = x->x->within, at = a->s->members[member];
  if (within == NSR_NONE)
    return true;
  if (!inside(a->s, at, within))
    return false;
  for (size_t d = a->loops.n; d-- > 0 && a->loops.v[d] != within;)
    if (inside(a->s, at, a->loops.v[d]))
      return false;
  int64_t before = x->x->rounds - 1 + (at < x->x->step);
  return before <= 0 || (!repeats(a, member, within) && before <= age);
}

/* Whether a later execution of a member is covered: what that tells includes
 * what an earlier one would. */
static bool has_cover(const struct search *x, uint32_t member) {
  for (uint32_t i = 0; i < x->w->n; i++)
    if (x->out->covers.v[x->w->first + i].member == member)
      return true;
  return false;
}

/* Looks at members hi-1 .. lo; *done: nothing before them matters. */
static enum nsr_status look_back(const struct search *x, uint32_t lo,
                                 uint32_t hi, bool *done) {
  int64_t most = x->x->now - x->x->lag, since;
  uint32_t age;
  for (uint32_t i = hi; i-- > lo && x->w->n < MAX_COVERS;) {
    uint32_t member = member_at(x, i);
    if (!look_up(x, i, &age, &since) || since > most ||
        x->x->now - since >= NSR_STALE || has_cover(x, member) ||
        !in_front(x, member, age))
      continue;
    NSR_PUSH(x->a->ctx, NSR_SCRATCH, &x->out->covers,
             (struct nsr_cover){member, (uint8_t)age});
    x->w->n++;
    uint32_t reach = reaches(x, member);
    while (i > lo && reach != NSR_NONE && member_at(x, i - 1) >= reach)
      i--;
    *done |= reach != NSR_NONE && i == x->lo;
  }
  return NSR_OK;
}

/* Counts grow along straight code; what may be passed by can be out of order.
 * So the nearest members are looked at one by one, and of more the last one
 * covered, and those before it. */
static enum nsr_status search(const struct search *x, bool *done) {
  uint32_t lo = x->lo, hi = x->hi, age;
  uint32_t near = hi > lo + NEIGHBOURS ? hi - NEIGHBOURS : lo;
  int64_t since;
  *done = false;
  NSR_TRY(look_back(x, near, hi, done));
  if (*done || near == lo)
    return NSR_OK;
  hi = near;
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    look_up(x, mid, &age, &since);
    if (since <= x->x->now - x->x->lag)
      lo = mid + 1;
    else
      hi = mid;
  }
  hi = near - lo > NEIGHBOURS ? lo + NEIGHBOURS : near;
  lo = lo - x->lo > NEIGHBOURS ? lo - NEIGHBOURS : x->lo;
  return look_back(x, lo, hi, done);
}

/* From here back: this iteration, the ones before, what lies in front of the
 * loop, and so on outwards. */
enum nsr_status nsr_covers_find(const struct nsr_ages *a,
                                const struct nsr_cover_search *asked,
                                struct nsr_wait_found *w,
                                struct nsr_thresholds *out) {
  const struct nsr_score *s = a->s;
  const struct nsr_step *step = &s->steps[asked->step];
  struct search x = {
      .a = a, .x = asked, .w = w, .out = out, .g = &s->groups[step->group]};
  bool done;
  x.now = x.hi = first_from(s, x.g, step->member);
  for (size_t d = a->loops.n;; d--) {
    uint32_t loop = d ? a->loops.v[d - 1] : NSR_NONE;
    x.loop = loop;
    x.lo = d ? first_from(s, x.g, s->steps[loop].member) : 0;
    x.back = 0;
    NSR_TRY(search(&x, &done));
    if (done || d == 0)
      return NSR_OK;
    uint32_t front = x.lo;
    x.hi = first_from(s, x.g, s->steps[s->steps[loop].end].member);
    for (x.back = 1; x.back <= NSR_MAX_AGE && !done && x.lo < x.hi; x.back++)
      NSR_TRY(search(&x, &done));
    x.hi = x.now = front;
  }
}

enum nsr_status nsr_covers_absolute(const struct nsr_ages *a, uint32_t step,
                                    int64_t base, struct nsr_wait_found *w,
                                    struct nsr_thresholds *out) {
  const struct nsr_cover_search asked = {.step = step, .within = NSR_NONE};
  const struct nsr_step *s = &a->s->steps[step];
  struct search x = {.a = a,
                     .x = &asked,
                     .w = w,
                     .out = out,
                     .g = &a->s->groups[s->group],
                     .loop = NSR_NONE};
  uint32_t k = first_from(a->s, x.g, s->member);
  uint32_t end = k > NEIGHBOURS ? k - NEIGHBOURS : 0;
  while (k-- > end && w->n < MAX_COVERS) {
    uint32_t member = member_at(&x, k);
    int64_t d = base - a->since[nsr_ages_end(a, member)];
    if (d >= NSR_STALE || d <= -(int64_t)s->value)
      continue;
    NSR_PUSH(a->ctx, NSR_SCRATCH, &out->covers, (struct nsr_cover){member, 0});
    w->n++;
    if (reaches(&x, member) == 0)
      break;
  }
  return NSR_OK;
}
