/* partners.c - along the chains of one access. */
#include "dep/partners.h"

#include "base/mistake.h"
#include "base/work.h"
#include "dep/lags.h"
#include "dep/open.h"
#include "mem/trips.h"

#include <string.h>

/* Entries of one chain that the input leaves unordered one by one; further
 * ones are found together. */
enum { MAX_OPEN = 16 };

/* ---- pairs */

/* The innermost loop around the work that looks and another one, NSR_NONE:
 * none. */
static uint32_t inner_loop(const struct nsr_partners *s, uint32_t p) {
  for (size_t i = 0; i < s->loops.n; i++)
    if (p >= s->loops.v[i].first && p < s->loops.v[i].end)
      return s->loops.v[i].scope;
  return NSR_NONE;
}

/* Sets distance, lag and sureness of a pair, in one execution of a body around
 * both (together) or not; false: it never conflicts. */
static bool set_distance(const struct nsr_partners *s, const struct nsr_site *x,
                         bool together, struct nsr_dep *d) {
  return nsr_lag_set(s->d, &s->sites.groups[x->group].pattern,
                     &s->sites.groups[s->site->group].pattern,
                     (struct nsr_lag_of){.inner = inner_loop(s, x->work),
                                         .together = together,
                                         .may = x->may || s->site->may,
                                         .outside = s->outside},
                     d);
}

/* Whether the machine orders a pair by itself: on a channel that executes in
 * order, and accumulation into the same PSUM bytes, after the write that
 * started it, where a channel keeps that like hidden state. A wait for others
 * is over before its instruction is the channel's; and nobody knows when
 * unknown effects are. */
static bool automatic(const struct nsr_partners *s, const struct nsr_site *x) {
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

/* Both directly in one body and in one region of it, p first: each execution
 * of c is unordered with the p of its own iteration only, and the ones before
 * that were ordered by a barrier. */
static bool same_region(const struct nsr_tree *t, const struct nsr_dep *d) {
  const struct nsr_work *p = &t->works[d->p], *c = &t->works[d->c];
  return d->p < d->c && p->scope == c->scope && p->region == c->region;
}

/* What others do may rest on what is behind the work that looks. */
static enum nsr_status add_trouble(struct nsr_partners *s) {
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
static bool may_race(const struct nsr_partners *s, const struct nsr_dep *d) {
  const struct nsr_facts_file *facts = s->t->program->facts;
  const struct nsr_work *p = &s->t->works[d->p], *c = &s->t->works[d->c];
  struct nsr_fact_insn a = {p->engine, p->insn}, b = {c->engine, c->insn};
  bool may = nsr_facts_race(facts, a, b);
  if (may)
    nsr_facts_raced(facts, a, b);
  return may;
}

/* How often loops run at most; outlives what the walk has in memory. */
static enum nsr_status ask_trips(struct nsr_partners *s) {
  uint64_t *found, *trips;
  if (s->trips)
    return NSR_OK;
  NSR_TRY(nsr_trips_find(s->ctx, s->t, &found));
  NSR_NEW(s->ctx, NSR_KEEP, trips, s->t->nscopes);
  memcpy(trips, found, s->t->nscopes * sizeof *trips);
  s->trips = trips;
  return NSR_OK;
}

/* Whether two works that nothing orders, and that surely touch common bytes,
 * race: whether both run. *first: in which iteration, from 0. */
static enum nsr_status is_race(struct nsr_partners *s, const struct nsr_site *x,
                               const struct nsr_dep *d, uint32_t *first,
                               bool *race) {
  *first = 0;
  *race = nsr_open_together(s->d, d, NULL, 0);
  if (!*race)
    return NSR_OK;
  if (x && d->overlap != NSR_OVERLAP_MUST)
    *first =
        nsr_pattern_first(s->t->program->k, &s->sites.groups[x->group].pattern,
                          &s->sites.groups[s->site->group].pattern);
  NSR_TRY(ask_trips(s));
  *race = nsr_open_together(s->d, d, s->trips, *first);
  return NSR_OK;
}

/* A pair that the input leaves unordered within an iteration is taken as
 * disjoint there; from one iteration to the next it was ordered. x: p's access,
 * NULL: it may be any of them. */
static enum nsr_status leave_open(struct nsr_partners *s,
                                  const struct nsr_site *x, struct nsr_dep *d) {
  uint32_t first = 0;
  bool race = d->overlap == NSR_OVERLAP_MUST || d->sure;
  d->allowed = may_race(s, d);
  race &= !nsr_walk_coarse(s->walk) && !d->allowed;
  if (race)
    NSR_TRY(is_race(s, x, d, &first, &race));
  if (race)
    return nsr_open_race(s->ctx, s->d, d, &s->where.v[d->where], first);
  s->complete[s->w] = false;
  s->deceived |= s->relied[s->w];
  d->unordered = !d->allowed && !nsr_open_exclusive(s->t, d);
  if (!same_region(s->t, d))
    return s->outside ? add_trouble(s) : NSR_OK;
  if (x && !set_distance(s, x, false, d))
    d->overlap = NSR_OVERLAP_NO;
  d->back = 0;
  if (d->lag == 0 && !d->once)
    d->lag = 1;
  return NSR_OK;
}

/* ---- looking along a chain */

enum list_kind {
  OWN, /* of the site's group: the same bytes, or the same pattern */
  OTHERS,
  CROWD
};

/* A chain in one of the lists that a site looks through. */
struct view {
  const struct nsr_chain *chain;
  uint32_t link; /* to all its entries, NSR_NONE: each has its own */
  enum list_kind kind;
  uint32_t effort; /* CROWD: left for finding out who meets whom; from 0 on
                      anybody may */
};

/* Of a chain in a crowd, so many boxes and entries are looked at for one
 * access; an entry whose distance is found out counts as several. */
enum { CROWD_EFFORT = 512, ENTRY_EFFORT = 8 };

/* Where that is not enough for addresses that move, as lags would be lost,
 * there is more, for all of those together. */
enum { SPARE_EFFORT = 1 << 24 };

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
static enum nsr_status note_own(struct nsr_partners *s, uint32_t p) {
  const struct nsr_tree *t = s->t;
  if (nsr_work_node(t, &t->works[p])->cls == NSR_LOAD ||
      nsr_work_node(t, &t->works[s->w])->cls == NSR_LOAD)
    NSR_PUSH(s->ctx, NSR_SCRATCH, &s->own, (struct nsr_own_pair){p, s->w});
  return NSR_OK;
}

/* How an entry's bytes and those of the work that looks meet, *link: where. */
static enum nsr_status meeting(struct nsr_partners *s, const struct view *v,
                               const struct nsr_chain_entry *e, uint32_t *link,
                               enum nsr_overlap *out) {
  const struct nsr_site_group *p =
      &s->sites.groups[s->sites.sites[e->site].group];
  const struct nsr_site_group *c = &s->sites.groups[s->site->group];
  struct nsr_bytes where;
  if (v->kind != CROWD) {
    *link = v->link == NSR_NONE ? e->link : v->link;
    *out = (enum nsr_overlap)s->sites.links[*link].overlap;
    return NSR_OK;
  }
  *out = nsr_overlap(&p->footprint, &c->footprint, &where);
  if (nsr_facts_disjoint(s->t->program->facts, p->tensor, c->tensor))
    *out = NSR_OVERLAP_NO;
  *link = (uint32_t)s->where.n;
  if (*out != NSR_OVERLAP_NO)
    NSR_PUSH(s->ctx, NSR_SCRATCH, &s->where, where);
  return NSR_OK;
}

/* Decides about a pair that conflicts, its lag being set. x as above. */
static enum nsr_status look_at_pair(struct nsr_partners *s,
                                    const struct nsr_site *x, struct nsr_dep *d,
                                    enum found *out) {
  bool known;
  NSR_TRY(
      nsr_walk_known(s->walk, s->t->works[s->w].engine, d->p, d->lag, &known));
  *out = known ? ORDERED : OPEN;
  if (!known)
    NSR_TRY(leave_open(s, x, d));
  NSR_APPEND(s->ctx, NSR_SCRATCH, &s->deps, *d);
  return NSR_OK;
}

/* One entry: its dependence, if it is one; *lag tells how strong the order
 * is. */
static enum nsr_status look(struct nsr_partners *s, const struct view *v,
                            const struct nsr_chain_entry *e, enum found *out,
                            uint8_t *lag) {
  const struct nsr_site *x = &s->sites.sites[e->site];
  struct nsr_dep d = {.p = e->work, .c = s->w, .kinds = kinds_of(x, s->site)};
  enum nsr_overlap overlap;
  nsr_work_count(s->ctx, NSR_WORK_DEP, 1);
  *out = NEVER_MEETS;
  *lag = 0;
  NSR_TRY(meeting(s, v, e, &d.where, &overlap));
  bool must = overlap == NSR_OVERLAP_MUST && !x->may && !s->site->may;
  d.overlap = must ? NSR_OVERLAP_MUST : NSR_OVERLAP_MAY;
  if (overlap == NSR_OVERLAP_NO || !set_distance(s, x, e->work < s->w, &d))
    return NSR_OK;
  *lag = d.lag ? d.lag : d.back ? d.back : d.once;
  *out = ORDERED;
  return automatic(s, x) ? note_own(s, e->work) : look_at_pair(s, x, &d, out);
}

/* The bytes of the work that looks, as those where it meets others. */
static enum nsr_status any_of_its_bytes(struct nsr_partners *s,
                                        uint32_t *link) {
  const struct nsr_footprint *f = &s->sites.groups[s->site->group].footprint;
  *link = (uint32_t)s->where.n;
  NSR_PUSH(s->ctx, NSR_SCRATCH, &s->where,
           (struct nsr_bytes){f->space, f->part, f->nparts, f->lo, f->hi});
  return NSR_OK;
}

/* The same where it has not been found out whether they meet. */
static enum nsr_status guess(struct nsr_partners *s,
                             const struct nsr_chain_entry *e, enum found *out,
                             uint8_t *lag) {
  const struct nsr_site *x = &s->sites.sites[e->site];
  struct nsr_dep d = {.p = e->work,
                      .c = s->w,
                      .overlap = NSR_OVERLAP_MAY,
                      .kinds = kinds_of(x, s->site)};
  nsr_work_count(s->ctx, NSR_WORK_DEP, 1);
  *lag = 0;
  *out = ORDERED;
  NSR_TRY(any_of_its_bytes(s, &d.where));
  nsr_lag_guess(inner_loop(s, e->work), e->work < s->w, &d);
  return automatic(s, x) ? note_own(s, e->work)
                         : look_at_pair(s, NULL, &d, out);
}

/* Of the n entries in front of e, all in its region, those at the end that the
 * input leaves unordered, too: a channel retires in order. */
static enum nsr_status count_open(struct nsr_partners *s,
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

static bool moves(const struct nsr_partners *s,
                  const struct nsr_chain_entry *e) {
  return s->sites.groups[s->site->group].moves ||
         s->sites.groups[s->sites.sites[e->site].group].moves;
}

/* Who waited for others itself knows that, and nothing of what its pipeline
 * holds in front of it. */
static bool tells_nothing(const struct nsr_partners *s,
                          const struct nsr_chain_entry *e) {
  const struct nsr_work *x = &s->t->works[e->work];
  return x->passes && x->engine == s->t->works[s->w].engine;
}

/* How many entries in front of e need not be looked at, if e has been found
 * to be so and surely ran (sure). */
static enum nsr_status passed_over(struct nsr_partners *s, const struct view *v,
                                   const struct nsr_chain_entry *e,
                                   enum found found, bool sure, uint32_t *nopen,
                                   uint32_t *skip) {
  *skip = 0;
  if (found == ORDERED && sure && v->kind == OWN &&
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
static struct reach reach_of(const struct nsr_partners *s,
                             const struct nsr_work *x,
                             const struct nsr_loop_around *in) {
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
static uint32_t mark_behind(const struct nsr_partners *s, int ch, uint32_t w) {
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

static bool awaits_mark(const struct nsr_partners *s, uint32_t m, uint32_t in) {
  for (size_t i = 0; i < s->awaited.n; i++)
    if (s->awaited.v[i].mark == m && s->awaited.v[i].in == in)
      return true;
  return false;
}

/* Between x and the entry in front of it there may be a marker that surely
 * ran: then who waits for that need not wait for any in front of it; in the
 * input they are in order if all of the channel up to there is. */
static enum nsr_status look_at_mark(struct nsr_partners *s,
                                    const struct view *v,
                                    const struct nsr_chain_entry *x,
                                    const struct nsr_loop_around *in,
                                    bool *found) {
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
  if (v->kind == CROWD)
    NSR_TRY(any_of_its_bytes(s, &link));
  NSR_PUSH(s->ctx, NSR_SCRATCH, &s->awaited,
           (struct nsr_awaited_mark){scope, m});
  NSR_APPEND(
      s->ctx, NSR_SCRATCH, &s->deps,
      ((struct nsr_dep){
          .p = m, .c = s->w, .overlap = NSR_OVERLAP_MAY, .where = link}));
  return NSR_OK;
}

/* Finds the last entry in front of entry `to` that may meet the work that
 * looks, as nsr_chain_latest does; no effort is left: it has not been found. */
static uint32_t find_latest(struct nsr_partners *s, struct view *v,
                            uint32_t from, uint32_t to) {
  const struct nsr_footprint *f = &s->sites.groups[s->site->group].footprint;
  for (uint32_t more = CROWD_EFFORT;; more *= 2) {
    uint32_t effort = v->effort;
    uint32_t at =
        nsr_chain_latest(&s->chains, v->chain, from, to, f, &v->effort);
    nsr_work_count(s->ctx, NSR_WORK_DEP, (effort - v->effort) / ENTRY_EFFORT);
    if (v->effort || !s->sites.groups[s->site->group].moves || s->spare < more)
      return at;
    s->spare -= more;
    v->effort = more;
  }
}

/* Looks at that entry; *to: how many lie up to it, `from`: there is none. */
static enum nsr_status look_at_next(struct nsr_partners *s, struct view *v,
                                    uint32_t from, uint32_t floor, uint32_t *to,
                                    enum found *found, uint8_t *lag) {
  const struct nsr_chain_entry *e = s->chains.entries + v->chain->first;
  *found = NEVER_MEETS;
  *lag = 0;
  if (v->kind != CROWD)
    return look(s, v, &e[*to - 1], found, lag);
  uint32_t at = find_latest(s, v, from, *to);
  if (!v->effort)
    return guess(s, &e[*to - 1], found, lag);
  *to = at;
  if (at == from || e[at - 1].work < floor)
    return NSR_OK;
  v->effort -= v->effort < ENTRY_EFFORT ? v->effort : ENTRY_EFFORT;
  return look(s, v, &e[at - 1], found, lag);
}

/* Looks at entries to-1 .. from of a chain, in front of the work that looks or
 * (in) later in a loop around it. *end: the entry behind which the rest
 * follows, NULL: there was none. */
static enum nsr_status look_along(struct nsr_partners *s, struct view *v,
                                  uint32_t from, uint32_t to, uint32_t floor,
                                  const struct nsr_loop_around *in,
                                  const struct nsr_chain_entry **end) {
  const struct nsr_chain_entry *e = s->chains.entries + v->chain->first;
  uint32_t nopen = 0;
  *end = NULL;
  while (to > from && e[to - 1].work >= floor) {
    enum found found;
    uint8_t lag;
    uint32_t skip;
    NSR_TRY(look_at_next(s, v, from, floor, &to, &found, &lag));
    if (to == from)
      break;
    const struct nsr_chain_entry *x = &e[--to];
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
static bool hides(const struct nsr_partners *s, const struct view *v,
                  const struct nsr_chain_entry *e) {
  return s->sites.sites[e->site].group == s->site->group && v->chain->writes &&
         s->complete[e->work];
}

/* The same of what comes later in a loop, which so far may only be taken to be
 * ordered. */
static bool hides_carried(struct nsr_partners *s, const struct view *v,
                          const struct nsr_chain_entry *e) {
  if (!hides(s, v, e) || moves(s, e))
    return false;
  s->relied[e->work] = true;
  return true;
}

/* How many entries of a chain lie in front of the end of a loop, if `from` lie
 * in front of a work in it. */
static uint32_t up_to_end(const struct nsr_partners *s,
                          const struct nsr_chain *chain, uint32_t from,
                          const struct nsr_loop_around *a) {
  const struct nsr_chain_entry *e = s->chains.entries + chain->first;
  if (from == chain->n || e[from].work >= a->end)
    return from;
  return nsr_chain_before(&s->chains, chain, a->end);
}

static enum nsr_status look_through(struct nsr_partners *s, struct view *v) {
  const struct nsr_chain_entry *end = NULL;
  uint32_t from = nsr_chain_before(&s->chains, v->chain, s->w), covered = 0;
  if (from > 0)
    NSR_TRY(look_along(s, v, 0, from, s->floor, NULL, &end));
  if (end)
    covered = end->work + 1;
  if (end && hides(s, v, end))
    s->floor = end->work + 1;
  for (size_t i = 0; i < s->loops.n && from < v->chain->n; i++) {
    struct nsr_loop_around *a = &s->loops.v[i];
    if (a->first < covered || a->first < s->floor)
      break;
    uint32_t to = up_to_end(s, v->chain, from, a);
    if (to == from)
      continue;
    NSR_TRY(look_along(s, v, from, to, a->floor, a, &end));
    if (end && hides_carried(s, v, end))
      a->floor = end->work;
    from = to;
  }
  return NSR_OK;
}

static enum nsr_status look_in_list(struct nsr_partners *s,
                                    const struct nsr_chain_list *list,
                                    uint32_t link, enum list_kind kind,
                                    bool writers) {
  const struct nsr_chain *chains = s->chains.chains + list->first;
  uint32_t from = writers ? 0 : list->nwriters;
  uint32_t to = writers ? list->nwriters : list->n;
  for (uint32_t i = from; i < to; i++) {
    struct view v = {&chains[i], link, kind, CROWD_EFFORT};
    NSR_TRY(look_through(s, &v));
  }
  return NSR_OK;
}

static enum nsr_status look_in_lists(struct nsr_partners *s, bool writers) {
  const struct nsr_site_group *g = &s->sites.groups[s->site->group];
  if (g->crowd)
    NSR_TRY(look_in_list(s, &s->chains.crowds[g->crowd - 1], NSR_NONE, CROWD,
                         writers));
  if (g->self != NSR_NONE)
    NSR_TRY(
        look_in_list(s, &s->chains.own[s->site->group], g->self, OWN, writers));
  NSR_TRY(look_in_list(s, &s->chains.near[s->site->group], NSR_NONE, OTHERS,
                       writers));
  for (uint32_t u = g->first_up; u < g->first_up + g->nups; u++) {
    uint32_t link = s->sites.ups[u];
    uint32_t other = nsr_site_other(&s->sites.links[link], s->site->group);
    NSR_TRY(look_in_list(s, &s->chains.own[other], link, OTHERS, writers));
  }
  return NSR_OK;
}

/* ---- all accesses of a work */

static enum nsr_status find_loops(struct nsr_partners *s) {
  uint32_t scope = s->t->works[s->w].scope;
  s->loops.n = 0;
  for (; scope != NSR_NONE; scope = s->t->scopes[scope].parent) {
    const struct nsr_common *x = &s->t->scopes[scope];
    if (x->kind == NSR_SCOPE_LOOP)
      NSR_PUSH(s->ctx, NSR_SCRATCH, &s->loops,
               (struct nsr_loop_around){scope, x->first_work, x->end_work, 0});
  }
  return NSR_OK;
}

enum nsr_status nsr_partners_find(struct nsr_partners *s, uint32_t w) {
  s->w = w;
  s->complete[w] = true;
  s->nunsure = 0;
  s->awaited.n = 0;
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
  return NSR_OK;
}

void nsr_partners_assume(struct nsr_partners *s, uint32_t first, uint32_t n,
                         bool complete) {
  memset(s->complete + first, complete, n * sizeof *s->complete);
  memset(s->relied + first, 0, n * sizeof *s->relied);
  s->deceived = false;
}

enum nsr_status nsr_partners_prepare(struct nsr_partners *s) {
  const struct nsr_tree *t = s->t;
  NSR_TRY(nsr_chains_build(s->ctx, &s->sites, &s->chains));
  for (uint32_t i = 0; i < s->sites.nsites; i++)
    s->outside |= s->sites.sites[i].external;
  s->where.v = s->sites.where;
  s->where.n = s->sites.nlinks;
  s->where.cap = s->sites.nwhere;
  for (uint32_t w = 0; w < t->nworks; w++)
    if (t->works[w].marker && t->works[w].insn != NSR_NONE)
      NSR_PUSH(s->ctx, NSR_SCRATCH, &s->marks[t->works[w].channel], w);
  s->spare = SPARE_EFFORT;
  NSR_NEW(s->ctx, NSR_SCRATCH, s->complete, t->nworks);
  NSR_NEW(s->ctx, NSR_SCRATCH, s->relied, t->nworks);
  return NSR_OK;
}
