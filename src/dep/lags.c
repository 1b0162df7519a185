/* lags.c - the forms of theory-channels.md 7.2 that are no more than the most
 * recent instance.
 */
#include "dep/lags.h"

#include "dep/known.h"

/* How many of the latest executions of p need not have retired, if no
 * conflict is nearer than k iterations of the loop: p runs once in each.
 * Another k, or a p that may be passed by, leaves the most recent instance. */
static uint8_t lag_of(const struct nsr_distances *x, const struct nsr_dep *d,
                      uint32_t k) {
  uint32_t lag = 0;
  if (k > 0 && nsr_distance_every(x, d->p, d->loop))
    lag = d->p < d->c ? k : k - 1;
  return (uint8_t)(lag < NSR_MAX_LAG ? lag : NSR_MAX_LAG);
}

/* The same if p runs any number of times in each: in front of the start of
 * which iteration, if not in front of c. */
static uint8_t back_of(const struct nsr_tree *t, const struct nsr_dep *d,
                       uint32_t k) {
  uint32_t body = t->scopes[d->loop].body;
  bool nearest = k == 0 || (k == 1 && d->p >= d->c);
  if (nearest || !nsr_common_in(t, t->works[d->c].scope, body) ||
      !nsr_common_in(t, t->works[d->p].scope, body))
    return 0;
  return (uint8_t)(k < NSR_MAX_BACK ? k : NSR_MAX_BACK);
}

/* The loop around both works whose iterations tell apart what they touch,
 * NSR_NONE: none. */
static uint32_t counting_loop(const struct nsr_tree *t,
                              const struct nsr_form *p,
                              const struct nsr_form *c,
                              const struct nsr_dep *d) {
  uint32_t a = p->loop == NSR_NONE ? c->loop : p->loop;
  bool alike = p->loop == NSR_NONE || c->loop == NSR_NONE ||
               (p->loop == c->loop && p->trip == c->trip);
  bool both = a != NSR_NONE && alike &&
              nsr_common_in(t, t->works[d->p].scope, a) &&
              nsr_common_in(t, t->works[d->c].scope, a);
  return both ? a : NSR_NONE;
}

/* For a conflict at distance k; where addresses start anew with each trip, what
 * was before it is another matter. */
static void set_lag(const struct nsr_distances *x, bool trip, uint32_t k,
                    struct nsr_dep *d) {
  d->once = k == NSR_NEVER;
  d->lag = d->once ? 0 : lag_of(x, d, k);
  d->back = d->once || d->lag > 0 ? 0 : back_of(x->tree, d, k);
  d->front = trip && (d->once || d->lag > 0 || d->back > 0);
}

static void set_most_recent(struct nsr_dep *d) {
  d->lag = d->back = 0;
  d->front = d->once = false;
}

void nsr_lag_guess(uint32_t inner, bool together, struct nsr_dep *d) {
  d->loop = inner;
  set_most_recent(d);
  d->distance = !together;
  d->exact = d->sure = false;
}

/* Of addresses with a symbol that is not the same for both, or not the same in
 * all iterations of a loop. Where they are apart in each of them, conflicts are
 * an iteration away. */
static void set_symbolic(const struct nsr_distances *x,
                         const struct nsr_pattern *p,
                         const struct nsr_pattern *c, bool together,
                         struct nsr_dep *d) {
  bool apart = nsr_form_related(&p->form, &c->form) && d->p < d->c &&
               nsr_pattern_apart(x, p, c);
  set_most_recent(d);
  if (apart) {
    d->loop = p->form.symbol_loop;
    set_lag(x, false, 1, d);
  }
  d->distance = apart || !together;
  d->exact = d->sure = false;
}

static bool stays(const struct nsr_form *f) {
  return f->kind == NSR_FORM_CONST && !nsr_form_symbolic(f) && !f->trip;
}

/* Whether p and c run once in each iteration of a loop, and meet in each. */
static bool meets_in_each(const struct nsr_distances *x, uint32_t k, bool may,
                          const struct nsr_dep *d) {
  return d->exact && k == 0 && !may && nsr_distance_every(x, d->p, d->loop) &&
         nsr_distance_every(x, d->c, d->loop);
}

/* Of addresses that stay, which most do: as near as the order of the text
 * allows. */
static void set_fixed(const struct nsr_distances *x, struct nsr_lag_of of,
                      struct nsr_dep *d) {
  d->loop = of.inner;
  d->distance = !of.together;
  d->exact = d->loop != NSR_NONE;
  if (d->exact)
    set_lag(x, false, d->distance, d);
  else
    set_most_recent(d);
  d->sure = meets_in_each(x, d->distance, of.may, d);
}

static bool advances(const struct nsr_pattern *p) {
  return p->form.kind == NSR_FORM_AFFINE;
}

bool nsr_lag_set(const struct nsr_distances *x, const struct nsr_pattern *p,
                 const struct nsr_pattern *c, struct nsr_lag_of of,
                 struct nsr_dep *d) {
  const struct nsr_tree *t = x->tree;
  if (stays(&p->form) && stays(&c->form)) {
    set_fixed(x, of, d);
    return true;
  }
  bool trip = p->form.trip || c->form.trip;
  bool symbolic = nsr_form_symbolic(&p->form);
  if (!nsr_form_related(&p->form, &c->form) ||
      (symbolic && p->form.symbol_loop != NSR_NONE)) {
    d->loop = of.inner;
    set_symbolic(x, p, c, of.together, d);
    return true;
  }
  d->loop = counting_loop(t, &p->form, &c->form, d);
  bool exact = d->loop != NSR_NONE;
  if (!exact) {
    d->loop = of.inner;
    exact = (symbolic || of.inner != NSR_NONE) &&
            p->form.kind == NSR_FORM_CONST && c->form.kind == NSR_FORM_CONST;
  }
  /* a loop inside that one may be around both */
  uint32_t k = !of.together && of.inner == d->loop;
  if (trip && of.outside) /* others may wait for what is behind the loop */
    exact = false;
  if (exact)
    k = nsr_pattern_distance(t->program->k, p, c, k, &exact);
  if (k == NSR_NEVER && !(trip && (advances(p) || advances(c))))
    return false; /* what turns comes by all its places in any trip */
  exact &= d->loop != NSR_NONE;
  if (exact)
    set_lag(x, trip, k, d);
  else
    set_most_recent(d);
  d->distance = (uint8_t)(k < UINT8_MAX ? k : UINT8_MAX);
  d->exact = exact;
  d->sure = meets_in_each(x, k, of.may, d);
  return true;
}

/* ---- several accesses of one pair */

/* The nearer one, or that of the loop further inside. */
static void merge_distances(const struct nsr_tree *t, struct nsr_dep *to,
                            const struct nsr_dep *d) {
  to->exact &= d->exact && d->loop == to->loop;
  if (d->loop == to->loop ? d->distance < to->distance
                          : nsr_common_in(t, d->loop, to->loop)) {
    to->loop = d->loop;
    to->distance = d->distance;
  }
}

static bool by_loop(const struct nsr_dep *d) {
  return d->back || d->front || d->once;
}

/* Where they are not of a kind, the most recent one. */
static void merge_lags(struct nsr_dep *to, const struct nsr_dep *d) {
  bool alike = to->loop == d->loop || (!by_loop(to) && !by_loop(d));
  bool kind = to->once || d->once || !to->back == !d->back;
  if (!alike || !kind) {
    set_most_recent(to);
    return;
  }
  if (to->once || (!d->once && d->lag < to->lag))
    to->lag = d->lag;
  if (to->once || (!d->once && d->back < to->back))
    to->back = d->back;
  to->once &= d->once;
  to->front |= d->front;
  if (to->lag == 0 && to->back == 0 && !to->once)
    set_most_recent(to);
}

void nsr_lag_merge(const struct nsr_tree *t, struct nsr_dep *to,
                   const struct nsr_dep *d) {
  merge_lags(to, d);
  merge_distances(t, to, d);
}
