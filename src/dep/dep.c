/* dep.c - conflicts of the whole kernel, in the order the input gives them.
 *
 * One walk of the input. At each work the earlier sites that its own conflict
 * with are looked up, the latest first, and the search ends where the rest
 * follows: behind an access of the same channel that surely ran (a channel
 * retires in order), and behind a write of the same bytes that surely ran and
 * was ordered behind all that it conflicts with.
 */
#include "dep/dep.h"

#include <stdlib.h>

#include "base/bitset.h"
#include "base/mistake.h"
#include "base/vec.h"
#include "base/work.h"
#include "dep/chains.h"
#include "dep/known.h"
#include "dep/lags.h"
#include "dep/open.h"

/* Entries of one chain that the input leaves unordered one by one; further
 * ones are found together. */
enum { MAX_OPEN = 16 };

/* A loop around the work that looks: its works first..end-1. */
struct around {
  uint32_t scope, first, end;
  uint32_t floor; /* carried: nothing in front of this work matters */
};

/* A marker, and where it lies: in front of the work that looks (in: NSR_NONE),
 * or later in a loop around it. */
struct awaited_mark {
  uint32_t in, mark;
};

struct search {
  struct nsr_ctx *ctx;
  const struct nsr_tree *t;
  const struct nsr_distances *d;
  const uint32_t *target;
  struct nsr_sites sites;
  struct nsr_chains chains;
  NSR_VEC(uint32_t) marks[NSR_MAX_CHANNELS]; /* markers that have a place */
  bool *complete; /* by work: ordered behind all that it conflicts with */
  uint32_t *first;
  NSR_VEC(struct nsr_dep) deps;
  NSR_VEC(struct nsr_own_pair) own;
  bool outside; /* others take part */
  NSR_VEC(struct nsr_trouble) troubles;
  struct nsr_walk *walk;
  /* the work that looks */
  uint32_t w;
  const struct nsr_site *site;
  NSR_VEC(struct around) loops;         /* around it, the innermost first */
  uint32_t nunsure;                     /* entries that may not have run */
  NSR_VEC(struct awaited_mark) awaited; /* markers it depends on */
  uint32_t floor;                       /* forward: .. */
};

/* ---- pairs */

static int by_consumer(const void *a, const void *b) {
  const struct nsr_dep *x = a, *y = b;
  if (x->c != y->c)
    return x->c < y->c ? -1 : 1;
  /* what comes before c in the body is more recent than what comes later */
  bool fx = x->p < x->c, fy = y->p < y->c;
  if (fx != fy)
    return fx ? -1 : 1;
  return x->p > y->p ? -1 : x->p < y->p;
}

/* Sets distance, lag and sureness of a pair, in one execution of a body around
 * both (together) or not; false: it never conflicts. */
static bool set_distance(const struct search *s, const struct nsr_site *x,
                         bool together, struct nsr_dep *d) {
  return nsr_lag_set(s->d, &s->sites.groups[x->group].pattern,
                     &s->sites.groups[s->site->group].pattern,
                     (struct nsr_lag_of){.together = together,
                                         .may = x->may || s->site->may,
                                         .outside = s->outside},
                     d);
}

/* Whether the machine orders a pair by itself: on a channel that executes in
 * order, and accumulation into the same PSUM bytes, after the write that
 * started it, where a channel keeps that like hidden state. A wait for others
 * is over before its instruction is the channel's; and nobody knows when
 * unknown effects are. */
static bool automatic(const struct search *s, const struct nsr_site *x) {
  const struct nsr_tree *t = s->t;
  int ch = t->works[s->w].channel;
  if (ch != t->works[x->work].channel || x->anything ||
      (s->site->external && nsr_work_node(t, &t->works[s->w])->foreign_wait))
    return false;
  enum nsr_order order = nsr_channel_order(t->program->k, ch);
  if (nsr_mistaken(NSR_MISTAKE_OWN_HAZARDS))
    return true;
  return order == NSR_ORDER_FULL ||
         (order == NSR_ORDER_HIDDEN && x->writes && s->site->acc &&
          s->sites.groups[x->group].footprint.space == NSR_PSUM);
}

const char *nsr_bytes_text(struct nsr_ctx *ctx, const struct nsr_bytes *b) {
  const char *space = nsr_space_name((enum nsr_space)b->space);
  if (b->space == NSR_SPACE_ANYTHING)
    return nsr_printf(ctx, NSR_KEEP, "unknown effects");
  if (b->space > NSR_PSUM)
    return nsr_printf(ctx, NSR_KEEP, "hidden state of the engine");
  if (b->space == NSR_DRAM)
    return nsr_printf(ctx, NSR_KEEP, "%s bytes %lld..%lld", space,
                      (long long)b->lo, (long long)b->hi - 1);
  return nsr_printf(ctx, NSR_KEEP, "%s partitions %u..%u, bytes %lld..%lld",
                    space, b->part, b->part + b->nparts - 1, (long long)b->lo,
                    (long long)b->hi - 1);
}

/* Both directly in one body and in one region of it, p first: each execution
 * of c is unordered with the p of its own iteration only, and the ones before
 * that were ordered by a barrier. */
static bool same_region(const struct nsr_tree *t, const struct nsr_dep *d) {
  const struct nsr_work *p = &t->works[d->p], *c = &t->works[d->c];
  return d->p < d->c && p->scope == c->scope && p->region == c->region;
}

/* What others do may rest on what is behind the work that looks. */
static enum nsr_status add_trouble(struct search *s) {
  const struct nsr_work *x = &s->t->works[s->w];
  size_t n = s->troubles.n;
  if (n && s->troubles.v[n - 1].engine == x->engine &&
      s->troubles.v[n - 1].insn == x->insn)
    return NSR_OK;
  NSR_PUSH(s->ctx, NSR_SCRATCH, &s->troubles,
           (struct nsr_trouble){x->engine, x->insn, "what this touches",
                                "is not ordered with other code of its region, "
                                "while others wait for this kernel"});
  return NSR_OK;
}

/* Whether facts allow a race; they are used then. */
static bool may_race(const struct search *s, const struct nsr_dep *d) {
  const struct nsr_facts_file *facts = s->t->program->facts;
  const struct nsr_work *p = &s->t->works[d->p], *c = &s->t->works[d->c];
  struct nsr_fact_insn a = {p->engine, p->insn}, b = {c->engine, c->insn};
  bool may = nsr_facts_race(facts, a, b);
  if (may)
    nsr_facts_raced(facts, a, b);
  return may;
}

/* A pair that the input leaves unordered within an iteration is taken as
 * disjoint there; from one iteration to the next it was ordered. */
static enum nsr_status leave_open(struct search *s, const struct nsr_site *x,
                                  struct nsr_dep *d) {
  d->allowed = may_race(s, d);
  if ((d->overlap == NSR_OVERLAP_MUST || d->sure) &&
      nsr_open_together(s->d, d) && !nsr_walk_coarse(s->walk) && !d->allowed)
    return nsr_open_race(s->ctx, s->d, d, &s->sites.where[d->where]);
  s->complete[s->w] = false;
  d->unordered = !d->allowed && !nsr_open_exclusive(s->t, d);
  if (!same_region(s->t, d))
    return s->outside ? add_trouble(s) : NSR_OK;
  if (!set_distance(s, x, false, d))
    d->overlap = NSR_OVERLAP_NO;
  d->back = 0;
  if (d->lag == 0 && !d->once)
    d->lag = 1;
  return NSR_OK;
}

/* ---- looking along a chain */

enum found { NEVER_MEETS, ORDERED, OPEN };

static uint8_t kinds_of(const struct nsr_site *p, const struct nsr_site *c) {
  unsigned kinds = 0;
  kinds |= p->writes && c->reads ? NSR_DEP_RAW : 0;
  kinds |= p->reads && c->writes ? NSR_DEP_WAR : 0;
  kinds |= p->writes && c->writes ? NSR_DEP_WAW : 0;
  kinds |= p->external || c->external ? NSR_DEP_EXTERNAL : 0;
  return (uint8_t)kinds;
}

/* The machine keeps them in order; that a word is written is of interest. */
static enum nsr_status note_own(struct search *s, uint32_t p) {
  const struct nsr_tree *t = s->t;
  if (nsr_work_node(t, &t->works[p])->cls == NSR_LOAD ||
      nsr_work_node(t, &t->works[s->w])->cls == NSR_LOAD)
    NSR_PUSH(s->ctx, NSR_SCRATCH, &s->own, (struct nsr_own_pair){p, s->w});
  return NSR_OK;
}

/* One entry: its dependence, if it is one; *lag tells how strong the order
 * is. */
static enum nsr_status look(struct search *s, const struct nsr_chain_entry *e,
                            uint32_t link, enum found *out, uint8_t *lag) {
  const struct nsr_site *x = &s->sites.sites[e->site];
  const struct nsr_site_link *l = &s->sites.links[link];
  const struct nsr_tree *t = s->t;
  bool must = l->overlap == NSR_OVERLAP_MUST && !x->may && !s->site->may;
  struct nsr_dep d = {.p = e->work,
                      .c = s->w,
                      .overlap = must ? NSR_OVERLAP_MUST : NSR_OVERLAP_MAY,
                      .kinds = kinds_of(x, s->site),
                      .where = link};
  bool known;
  nsr_work_count(s->ctx, NSR_WORK_DEP, 1);
  *out = NEVER_MEETS;
  *lag = 0;
  if (!set_distance(s, x, e->work < s->w, &d))
    return NSR_OK;
  *lag = d.lag ? d.lag : d.back ? d.back : d.once;
  *out = ORDERED;
  if (automatic(s, x))
    return note_own(s, e->work);
  NSR_TRY(
      nsr_walk_known(s->walk, t->works[s->w].engine, e->work, d.lag, &known));
  if (!known) {
    *out = OPEN;
    NSR_TRY(leave_open(s, x, &d));
  }
  NSR_APPEND(s->ctx, NSR_SCRATCH, &s->deps, d);
  return NSR_OK;
}

/* Of the n entries in front of e, all in its region, those at the end that the
 * input leaves unordered, too: a channel retires in order. */
static enum nsr_status count_open(struct search *s,
                                  const struct nsr_chain_entry *e, uint32_t n,
                                  uint32_t *open) {
  uint32_t lo = 0, hi = n; /* e[-1-i] is open for i < lo, known from hi on */
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    bool known;
    NSR_TRY(nsr_walk_known(s->walk, s->t->works[s->w].engine,
                           e[-1 - (int64_t)mid].work, 0, &known));
    if (known)
      hi = mid;
    else
      lo = mid + 1;
  }
  *open = lo;
  return NSR_OK;
}

/* A chain in one of the lists that a site looks through. */
struct view {
  const struct nsr_chain *chain;
  uint32_t link; /* to all its entries, NSR_NONE: each has its own */
  bool own;      /* of the site's group: the same bytes, or the same pattern */
};

static bool moves(const struct search *s, const struct nsr_chain_entry *e) {
  return s->sites.groups[s->site->group].moves ||
         s->sites.groups[s->sites.sites[e->site].group].moves;
}

/* Who waited for others itself knows that, and nothing of what its pipeline
 * holds in front of it. */
static bool tells_nothing(const struct search *s,
                          const struct nsr_chain_entry *e) {
  const struct nsr_work *x = &s->t->works[e->work];
  return x->passes && x->engine == s->t->works[s->w].engine;
}

/* How many entries in front of e need not be looked at, if e has been found
 * to be so and surely ran (sure). */
static enum nsr_status passed_over(struct search *s, const struct view *v,
                                   const struct nsr_chain_entry *e,
                                   enum found found, bool sure, uint32_t *nopen,
                                   uint32_t *skip) {
  *skip = 0;
  if (found == ORDERED && sure && v->own &&
      !tells_nothing(s, e)) /* at an equal lag */
    *skip = e->older;
  if (found == NEVER_MEETS && v->link != NSR_NONE) /* nor do the others */
    *skip = e->older;
  if (found == OPEN && ++*nopen > MAX_OPEN && !moves(s, e))
    NSR_TRY(count_open(s, e, e->older, skip));
  return NSR_OK;
}

/* An entry that surely ran tells of those in front of it, from work `first`
 * on: whenever one of them ran, it ran later. */
struct reach {
  bool sure;
  uint32_t first;
};

/* In front of the work that looks (in: NULL), what lies in a body around it
 * has run. In the iteration before this one of a loop, what lies on each way
 * that goes on; but the last iteration of an earlier trip through the loop may
 * have been left before that. */
static struct reach reach_of(const struct search *s, const struct nsr_work *x,
                             const struct around *in) {
  if (nsr_mistaken(NSR_MISTAKE_ALWAYS_RUNS))
    return (struct reach){true, 0};
  if (!in)
    return (struct reach){
        nsr_common_in(s->t, s->t->works[s->w].scope, x->scope), 0};
  uint32_t scope = x->scope;
  for (; scope != in->scope; scope = s->t->scopes[scope].parent) {
    const struct nsr_common *c = &s->t->scopes[scope];
    if (c->kind != NSR_SCOPE_ARM || !c->to_end || c->skip != NSR_ENDS_EXIT)
      return (struct reach){false, 0};
  }
  bool one_trip = !s->t->scopes[s->t->scopes[in->scope].parent].loops;
  bool all = x->scope == in->scope || one_trip;
  return (struct reach){true, all ? 0 : s->t->scopes[x->scope].first_work};
}

/* The first marker of a channel behind work w; NSR_NONE: there is none. */
static uint32_t mark_behind(const struct search *s, int ch, uint32_t w) {
  uint32_t lo = 0, hi = (uint32_t)s->marks[ch].n;
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (s->marks[ch].v[mid] <= w)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo < s->marks[ch].n ? s->marks[ch].v[lo] : NSR_NONE;
}

/* Entries that may not have run, after which markers are looked for. */
enum { MANY = 16 };

static bool awaits_mark(const struct search *s, uint32_t m, uint32_t in) {
  for (size_t i = 0; i < s->awaited.n; i++)
    if (s->awaited.v[i].mark == m && s->awaited.v[i].in == in)
      return true;
  return false;
}

/* Between x and the entry in front of it there may be a marker that surely
 * ran: then who waits for that need not wait for any in front of it; in the
 * input they are in order if all of the channel up to there is. */
static enum nsr_status look_at_mark(struct search *s, const struct view *v,
                                    const struct nsr_chain_entry *x,
                                    const struct around *in, bool *found) {
  uint32_t m = mark_behind(s, v->chain->channel, x[-1].work);
  uint32_t scope = in ? in->scope : NSR_NONE;
  *found = m != NSR_NONE && m < x->work && awaits_mark(s, m, scope);
  if (*found || m == NSR_NONE || m > x->work)
    return NSR_OK;
  struct reach reach = reach_of(s, &s->t->works[m], in);
  if (!reach.sure || reach.first > 0)
    return NSR_OK;
  NSR_TRY(nsr_walk_known_up_to(s->walk, s->t->works[s->w].engine, x[-1].work,
                               found));
  if (!*found)
    return NSR_OK;
  uint32_t link = v->link == NSR_NONE ? x[-1].link : v->link;
  NSR_PUSH(s->ctx, NSR_SCRATCH, &s->awaited, (struct awaited_mark){scope, m});
  NSR_PUSH(s->ctx, NSR_SCRATCH, &s->deps,
           (struct nsr_dep){
               .p = m, .c = s->w, .overlap = NSR_OVERLAP_MAY, .where = link});
  return NSR_OK;
}

/* Looks at entries to-1 .. from of a chain, in front of the work that looks or
 * (in) later in a loop around it. *end: the entry behind which the rest
 * follows, NULL: there was none. */
static enum nsr_status look_along(struct search *s, const struct view *v,
                                  uint32_t from, uint32_t to, uint32_t floor,
                                  const struct around *in,
                                  const struct nsr_chain_entry **end) {
  const struct nsr_chain_entry *e = s->chains.entries + v->chain->first;
  uint32_t nopen = 0;
  *end = NULL;
  while (to > from && e[to - 1].work >= floor) {
    const struct nsr_chain_entry *x = &e[--to];
    enum found found;
    uint8_t lag;
    uint32_t skip;
    NSR_TRY(look(s, x, v->link == NSR_NONE ? x->link : v->link, &found, &lag));
    struct reach reach = reach_of(s, &s->t->works[x->work], in);
    if (found == ORDERED && reach.sure && lag == 0 && !tells_nothing(s, x)) {
      *end = reach.first == 0 ? x : NULL;
      if (*end)
        return NSR_OK;
      to = nsr_chain_before(&s->chains, v->chain, reach.first);
      continue;
    }
    NSR_TRY(passed_over(s, v, x, found, reach.sure, &nopen, &skip));
    to -= skip < to - from ? skip : to - from;
    if (++s->nunsure >= MANY && to > from) {
      bool found;
      NSR_TRY(look_at_mark(s, v, &e[to], in, &found));
      if (found)
        return NSR_OK;
    }
  }
  return NSR_OK;
}

/* Whether what conflicts with e follows from e: it wrote the same bytes, and
 * was itself ordered. */
static bool hides(const struct search *s, const struct view *v,
                  const struct nsr_chain_entry *e) {
  return v->own && v->chain->writes && s->complete[e->work];
}

static enum nsr_status look_through(struct search *s, const struct view *v) {
  const struct nsr_chain_entry *end;
  uint32_t to = nsr_chain_before(&s->chains, v->chain, s->w), covered = 0;
  uint32_t from = to;
  NSR_TRY(look_along(s, v, 0, to, s->floor, NULL, &end));
  if (end)
    covered = end->work + 1;
  if (end && hides(s, v, end))
    s->floor = end->work + 1;
  for (size_t i = 0; i < s->loops.n; i++) {
    struct around *a = &s->loops.v[i];
    if (a->first < covered || a->first < s->floor)
      break;
    to = nsr_chain_before(&s->chains, v->chain, a->end);
    NSR_TRY(look_along(s, v, from, to, a->floor, a, &end));
    if (end && hides(s, v, end) && !moves(s, end))
      a->floor = end->work;
    from = to;
  }
  return NSR_OK;
}

static enum nsr_status look_in_list(struct search *s,
                                    const struct nsr_chain_list *list,
                                    uint32_t link, bool own, bool writers) {
  for (uint32_t i = list->first; i < list->first + list->n; i++) {
    struct view v = {&s->chains.chains[i], link, own};
    if (v.chain->writes == writers)
      NSR_TRY(look_through(s, &v));
  }
  return NSR_OK;
}

static enum nsr_status look_in_lists(struct search *s, bool writers) {
  const struct nsr_site_group *g = &s->sites.groups[s->site->group];
  if (g->self != NSR_NONE)
    NSR_TRY(look_in_list(s, &s->chains.own[s->site->group], g->self, true,
                         writers));
  NSR_TRY(look_in_list(s, &s->chains.near[s->site->group], NSR_NONE, false,
                       writers));
  for (uint32_t u = g->first_up; u < g->first_up + g->nups; u++) {
    uint32_t link = s->sites.ups[u];
    uint32_t other = nsr_site_other(&s->sites.links[link], s->site->group);
    NSR_TRY(look_in_list(s, &s->chains.own[other], link, false, writers));
  }
  return NSR_OK;
}

/* ---- one work */

static enum nsr_status find_loops(struct search *s) {
  uint32_t scope = s->t->works[s->w].scope;
  s->loops.n = 0;
  for (; scope != NSR_NONE; scope = s->t->scopes[scope].parent) {
    const struct nsr_common *x = &s->t->scopes[scope];
    if (x->kind == NSR_SCOPE_LOOP)
      NSR_PUSH(s->ctx, NSR_SCRATCH, &s->loops,
               (struct around){scope, x->first_work, x->end_work, 0});
  }
  return NSR_OK;
}

/* Few pairs, all but in order, most of the time. */
static void sort_pairs(struct nsr_dep *v, size_t n) {
  enum { FEW = 24 };
  if (n > FEW) {
    qsort(v, n, sizeof *v, by_consumer);
    return;
  }
  for (size_t i = 1; i < n; i++) {
    struct nsr_dep x = v[i];
    size_t j = i;
    for (; j > 0 && by_consumer(&v[j - 1], &x) > 0; j--)
      v[j] = v[j - 1];
    v[j] = x;
  }
}

/* Takes pairs that several of their accesses make together, the strictest of
 * each. */
static void merge_pairs(struct search *s, uint32_t from) {
  struct nsr_dep *v = s->deps.v;
  size_t kept = from;
  if (s->deps.n > from)
    sort_pairs(v + from, s->deps.n - from);
  for (size_t i = from; i < s->deps.n; i++) {
    struct nsr_dep *last = kept > from ? &v[kept - 1] : NULL;
    if (!last || last->p != v[i].p) {
      v[kept++] = v[i];
      continue;
    }
    if (v[i].overlap > last->overlap) {
      last->overlap = v[i].overlap;
      last->where = v[i].where;
    }
    nsr_lag_merge(s->t, last, &v[i]);
    last->sure |= v[i].sure;
    last->unordered &= v[i].unordered;
    last->allowed |= v[i].allowed;
    last->kinds |= v[i].kinds;
  }
  s->deps.n = kept;
}

static enum nsr_status wait_for_target(void *user, struct nsr_walk *walk,
                                       uint32_t w) {
  struct search *s = user;
  if (s->target[w] == NSR_NONE)
    return NSR_OK;
  return nsr_walk_wait(walk, s->t->works[w].engine, s->target[w], 0);
}

/* The pairs of one work. */
static enum nsr_status search_work(void *user, struct nsr_walk *walk,
                                   uint32_t w) {
  struct search *s = user;
  s->first[w] = (uint32_t)s->deps.n;
  s->w = w;
  s->complete[w] = true;
  s->nunsure = 0;
  s->awaited.n = 0;
  NSR_TRY(wait_for_target(s, walk, w));
  NSR_TRY(find_loops(s));
  for (uint32_t i = s->sites.first[w]; i < s->sites.first[w + 1]; i++) {
    s->site = &s->sites.sites[i];
    if (!s->sites.groups[s->site->group].linked)
      continue;
    s->floor = 0;
    for (size_t l = 0; l < s->loops.n; l++)
      s->loops.v[l].floor = 0;
    NSR_TRY(look_in_lists(s, true));
    if (s->site->writes)
      NSR_TRY(look_in_lists(s, false));
  }
  merge_pairs(s, s->first[w]);
  return NSR_OK;
}

/* Waits alone decide what is known; so the pairs of an item are looked for
 * when that is stable. The first time nothing that comes later in a loop is
 * taken to be complete; that leaves more pairs than are needed, but tells what
 * is. */
static enum nsr_status search_item(struct search *s, uint32_t item) {
  struct nsr_walk_item x = nsr_walk_item(s->walk, item);
  size_t from = s->deps.n;
  NSR_TRY(nsr_walk_enter(s->walk, item));
  if (x.loops) {
    NSR_TRY(nsr_walk_through(s->walk, wait_for_target, s));
    NSR_TRY(nsr_walk_once(s->walk, search_work, s));
    s->deps.n = from;
  }
  NSR_TRY(nsr_walk_once(s->walk, search_work, s));
  return nsr_walk_leave(s->walk);
}

/* The largest lag of a pair in an item. Where addresses stay, conflicts are at
 * the nearest distance; where they rotate, within a common period of it. */
static uint32_t most_lag(const struct search *s,
                         const struct nsr_walk_item *x) {
  uint32_t period = 1;
  for (uint32_t w = x->first; w < x->first + x->n; w++)
    for (uint32_t i = s->sites.first[w]; i < s->sites.first[w + 1]; i++) {
      const struct nsr_site_group *g =
          &s->sites.groups[s->sites.sites[i].group];
      if (g->moves && g->pattern.form.kind != NSR_FORM_PERIODIC)
        return NSR_MAX_LAG;
      period = nsr_common_period(period, nsr_form_period(&g->pattern.form));
      if (period > NSR_MAX_LAG)
        return NSR_MAX_LAG;
    }
  return period;
}

static enum nsr_status prepare(struct search *s) {
  const struct nsr_tree *t = s->t;
  NSR_TRY(nsr_sites_find(s->ctx, s->d, &s->sites));
  NSR_TRY(nsr_chains_build(s->ctx, &s->sites, &s->chains));
  for (uint32_t i = 0; i < s->sites.nsites; i++)
    s->outside |= s->sites.sites[i].external;
  NSR_NEW(s->ctx, NSR_SCRATCH, s->complete, t->nworks);
  NSR_NEW(s->ctx, NSR_SCRATCH, s->first, t->nworks + 1);
  for (uint32_t w = 0; w < t->nworks; w++)
    if (t->works[w].marker && t->works[w].insn != NSR_NONE)
      NSR_PUSH(s->ctx, NSR_SCRATCH, &s->marks[t->works[w].channel], w);
  NSR_TRY(nsr_walk_new(s->ctx, t, true, &s->walk));
  for (uint32_t i = 0; i < s->sites.nsites; i++)
    if (s->sites.groups[s->sites.sites[i].group].linked)
      nsr_walk_about(s->walk, s->sites.sites[i].work);
  for (uint32_t w = 0; w < t->nworks; w++)
    if (s->target[w] != NSR_NONE)
      nsr_walk_awaits(s->walk, w, s->target[w], 0);
  for (uint32_t i = 0; i < nsr_walk_nitems(s->walk); i++) {
    struct nsr_walk_item x = nsr_walk_item(s->walk, i);
    nsr_walk_asks(s->walk, i, most_lag(s, &x));
  }
  return NSR_OK;
}

/* The loaded words that addresses are made of. */
static enum nsr_status find_symbols(struct search *s, uint64_t **out) {
  NSR_NEW(s->ctx, NSR_SCRATCH, *out,
          nsr_bits_words(s->t->congruence.nnodes) + 1);
  for (uint32_t g = 0; g < s->sites.ngroups; g++) {
    const struct nsr_form *f = &s->sites.groups[g].pattern.form;
    if (nsr_form_symbolic(f))
      nsr_bit_set(*out, f->symbol);
  }
  return NSR_OK;
}

/* What is found outlives the search. */
static enum nsr_status keep(struct search *s, struct nsr_mark mark,
                            struct nsr_deps *out) {
  size_t words = nsr_bits_words(s->t->congruence.nnodes) + 1;
  struct nsr_dep *deps;
  uint64_t *symbols;
  NSR_TRY(find_symbols(s, &symbols));
  NSR_VEC_DONE(s->ctx, NSR_SCRATCH, &s->deps, deps);
  struct nsr_kept kept[] = {
      {deps, s->deps.n * sizeof *deps},
      {s->first, (s->t->nworks + (size_t)1) * sizeof *s->first},
      {s->troubles.v, s->troubles.n * sizeof *s->troubles.v},
      {s->sites.where, s->sites.nlinks * sizeof *s->sites.where},
      {symbols, words * sizeof *symbols},
      {s->own.v, s->own.n * sizeof *s->own.v}};
  NSR_TRY(nsr_scratch_release_but(s->ctx, mark, kept, 6));
  *out = (struct nsr_deps){.tree = s->t,
                           .n = (uint32_t)s->deps.n,
                           .deps = kept[0].p,
                           .first = kept[1].p,
                           .bytes = kept[3].p,
                           .symbols = kept[4].p,
                           .own = kept[5].p,
                           .nown = (uint32_t)s->own.n,
                           .ntroubles = (uint32_t)s->troubles.n,
                           .troubles = kept[2].p};
  for (uint32_t i = 0; i < out->n; i++)
    out->unordered += out->deps[i].unordered;
  return NSR_OK;
}

enum nsr_status nsr_deps_find(struct nsr_ctx *ctx, const struct nsr_tree *t,
                              const uint32_t *target, struct nsr_deps *out) {
  struct nsr_mark mark = nsr_scratch_mark(ctx);
  struct nsr_distances d;
  NSR_TRY(nsr_distances_init(ctx, t, &d));
  struct search s = {.ctx = ctx, .t = t, .d = &d, .target = target};
  NSR_TRY(prepare(&s));
  for (uint32_t i = 0; i < nsr_walk_nitems(s.walk); i++)
    NSR_TRY(search_item(&s, i));
  s.first[t->nworks] = (uint32_t)s.deps.n;
  return keep(&s, mark, out);
}
