/* chains.c - sorting sites into lists and chains, and boxes over chains. */
#include "dep/chains.h"

#include <string.h>

#include "base/vec.h"
#include "base/work.h"

struct builder {
  struct nsr_ctx *ctx;
  const struct nsr_sites *s;
  uint32_t nlists;                 /* own lists, near ones, those of crowds */
  uint32_t *first;                 /* by list, and one behind the last */
  uint32_t *next;                  /* by list: where its next entry goes */
  struct nsr_chain_entry *entries; /* by list */
  NSR_VEC(struct nsr_chain_entry) sorted; /* while one is sorted */
  NSR_VEC(struct nsr_chain) chains;
  NSR_VEC(struct nsr_chain_box) boxes;
};

/* A box stands for so many entries, or boxes. */
enum { FAN = 4, MOST_LEVELS = 16 };

/* Whether a site can conflict with one of another group. */
static bool matters(const struct nsr_sites *s, const struct nsr_site *x,
                    uint32_t group) {
  enum nsr_role role = (enum nsr_role)s->groups[group].footprint.role;
  return x->writes || nsr_role_writes(role);
}

static void put(struct builder *b, uint32_t list, uint32_t site,
                uint32_t link) {
  uint32_t at = b->next[list]++;
  if (b->entries)
    b->entries[at] = (struct nsr_chain_entry){
        .work = b->s->sites[site].work, .site = site, .link = link};
}

/* Each site into its group's own list, and into those it is near to. Sites
 * come in reference order, so lists are in it, too. */
static void put_all(struct builder *b) {
  const struct nsr_sites *s = b->s;
  for (uint32_t i = 0; i < s->nsites; i++) {
    const struct nsr_site *x = &s->sites[i];
    const struct nsr_site_group *g = &s->groups[x->group];
    put(b, x->group, i, g->self);
    if (g->crowd)
      put(b, 2 * s->ngroups + g->crowd - 1, i, NSR_NONE);
    for (uint32_t u = g->first_up; u < g->first_up + g->nups; u++) {
      uint32_t other = nsr_site_other(&s->links[s->ups[u]], x->group);
      if (matters(s, x, other))
        put(b, s->ngroups + other, i, s->ups[u]);
    }
  }
}

static enum nsr_status fill_lists(struct builder *b) {
  NSR_NEW(b->ctx, NSR_SCRATCH, b->first, b->nlists + 1);
  NSR_NEW(b->ctx, NSR_SCRATCH, b->next, b->nlists);
  put_all(b); /* counts */
  for (uint32_t l = 0; l < b->nlists; l++) {
    b->first[l + 1] = b->first[l] + b->next[l];
    b->next[l] = b->first[l];
  }
  NSR_NEW(b->ctx, NSR_SCRATCH, b->entries, b->first[b->nlists]);
  put_all(b);
  nsr_work_count(b->ctx, NSR_WORK_DEP, b->first[b->nlists]);
  return NSR_OK;
}

static uint32_t chain_key(const struct builder *b,
                          const struct nsr_chain_entry *e) {
  uint32_t ch = (uint32_t)b->s->tree->works[e->work].channel;
  return b->s->sites[e->site].writes ? ch : NSR_MAX_CHANNELS + ch;
}

static void count_older(const struct builder *b, struct nsr_chain_entry *e,
                        uint32_t n) {
  const struct nsr_work *works = b->s->tree->works;
  for (uint32_t i = 1; i < n; i++)
    if (works[e[i].work].scope == works[e[i - 1].work].scope &&
        works[e[i].work].region == works[e[i - 1].work].region)
      e[i].older = e[i - 1].older + 1;
}

/* Sorts the n entries of a list by chain, stably; writers come first. */
static enum nsr_status sort_list(struct builder *b, struct nsr_chain_entry *e,
                                 uint32_t n) {
  uint32_t count[2 * NSR_MAX_CHANNELS] = {0}, at = 0;
  b->sorted.n = 0;
  NSR_RESERVE(b->ctx, NSR_SCRATCH, &b->sorted, n);
  for (uint32_t i = 0; i < n; i++)
    count[chain_key(b, &e[i])]++;
  for (uint32_t key = 0; key < 2 * NSR_MAX_CHANNELS; key++) {
    uint32_t m = count[key];
    count[key] = at;
    at += m;
  }
  for (uint32_t i = 0; i < n; i++)
    b->sorted.v[count[chain_key(b, &e[i])]++] = e[i];
  memcpy(e, b->sorted.v, n * sizeof *e);
  return NSR_OK;
}

/* The same for lists of less than there are chains, which most are. */
static void sort_short(const struct builder *b, struct nsr_chain_entry *e,
                       uint32_t n) {
  for (uint32_t i = 1; i < n; i++) {
    struct nsr_chain_entry x = e[i];
    uint32_t key = chain_key(b, &x), j = i;
    for (; j > 0 && chain_key(b, &e[j - 1]) > key; j--)
      e[j] = e[j - 1];
    e[j] = x;
  }
}

enum { SHORT = 8 };

/* Makes the chains of a list. */
static enum nsr_status cut_list(struct builder *b, uint32_t list) {
  uint32_t first = b->first[list], end = b->first[list + 1], last = UINT32_MAX;
  if (end - first <= SHORT)
    sort_short(b, b->entries + first, end - first);
  else
    NSR_TRY(sort_list(b, b->entries + first, end - first));
  for (uint32_t i = first; i < end; i++) {
    uint32_t key = chain_key(b, &b->entries[i]);
    if (key == last) {
      b->chains.v[b->chains.n - 1].n++;
      continue;
    }
    last = key;
    NSR_APPEND(b->ctx, NSR_SCRATCH, &b->chains,
               (struct nsr_chain){.first = i,
                                  .n = 1,
                                  .channel = (int8_t)(key % NSR_MAX_CHANNELS),
                                  .writes = key < NSR_MAX_CHANNELS});
  }
  return NSR_OK;
}

static uint32_t count_writers(const struct builder *b,
                              const struct nsr_chain_list *list) {
  uint32_t n = 0;
  while (n < list->n && b->chains.v[list->first + n].writes)
    n++;
  return n;
}

/* ---- boxes */

static void widen(struct nsr_chain_box *x, const struct nsr_chain_box *y) {
  bool empty = x->part == x->end;
  x->lo = empty || y->lo < x->lo ? y->lo : x->lo;
  x->hi = empty || y->hi > x->hi ? y->hi : x->hi;
  x->part = empty || y->part < x->part ? y->part : x->part;
  x->end = empty || y->end > x->end ? y->end : x->end;
}

static struct nsr_chain_box box_of(const struct nsr_sites *s,
                                   const struct nsr_chain_entry *e) {
  const struct nsr_footprint *f = &s->groups[s->sites[e->site].group].footprint;
  return (struct nsr_chain_box){f->lo, f->hi, f->part, f->part + f->nparts};
}

/* Boxes over entries, then over those boxes, and so on up to one. */
static enum nsr_status box_chain(struct builder *b, struct nsr_chain *chain) {
  chain->first_box = (uint32_t)b->boxes.n;
  uint32_t n = chain->n, below = 0;
  for (bool entries = true; entries || n > 1; entries = false) {
    uint32_t made = (n + FAN - 1) / FAN, at = (uint32_t)b->boxes.n;
    NSR_RESERVE(b->ctx, NSR_SCRATCH, &b->boxes, made);
    memset(b->boxes.v + at, 0, made * sizeof *b->boxes.v);
    b->boxes.n += made;
    for (uint32_t i = 0; i < n; i++) {
      struct nsr_chain_box x = entries
                                   ? box_of(b->s, &b->entries[chain->first + i])
                                   : b->boxes.v[below + i];
      widen(&b->boxes.v[at + i / FAN], &x);
    }
    nsr_work_count(b->ctx, NSR_WORK_DEP, n);
    below = at;
    n = made;
  }
  return NSR_OK;
}

/* ---- all of them */

enum nsr_status nsr_chains_build(struct nsr_ctx *ctx,
                                 const struct nsr_sites *sites,
                                 struct nsr_chains *out) {
  uint32_t crowds = 2 * sites->ngroups;
  struct builder b = {
      .ctx = ctx, .s = sites, .nlists = crowds + sites->ncrowds};
  struct nsr_chain_list *lists;
  NSR_TRY(fill_lists(&b));
  NSR_NEW(ctx, NSR_SCRATCH, lists, b.nlists);
  for (uint32_t l = 0; l < b.nlists; l++) {
    lists[l].first = (uint32_t)b.chains.n;
    NSR_TRY(cut_list(&b, l));
    lists[l].n = (uint32_t)b.chains.n - lists[l].first;
    lists[l].nwriters = count_writers(&b, &lists[l]);
    for (uint32_t i = 0; l >= crowds && i < lists[l].n; i++)
      NSR_TRY(box_chain(&b, &b.chains.v[lists[l].first + i]));
  }
  nsr_drop(ctx, NSR_SCRATCH, b.first);
  nsr_drop(ctx, NSR_SCRATCH, b.next);
  for (size_t i = 0; i < b.chains.n; i++)
    count_older(&b, b.entries + b.chains.v[i].first, b.chains.v[i].n);
  *out = (struct nsr_chains){.entries = b.entries,
                             .chains = b.chains.v,
                             .own = lists,
                             .near = lists + sites->ngroups,
                             .crowds = lists + crowds,
                             .sites = sites,
                             .boxes = b.boxes.v};
  return NSR_OK;
}

/* ---- looking things up */

uint32_t nsr_chain_before(const struct nsr_chains *c,
                          const struct nsr_chain *chain, uint32_t w) {
  const struct nsr_chain_entry *e = c->entries + chain->first;
  uint32_t lo = 0, hi = chain->n;
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (e[mid].work < w)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

/* A search among the boxes of a chain. */
struct latest {
  const struct nsr_chains *c;
  const struct nsr_chain_entry *entries;
  const struct nsr_chain_box *level[MOST_LEVELS]; /* the lowest first */
  uint32_t span[MOST_LEVELS];                     /* entries of one box */
  uint32_t from, to;
  struct nsr_chain_box of;
  uint32_t *effort;
};

static bool apart(const struct nsr_chain_box *x,
                  const struct nsr_chain_box *y) {
  return x->lo >= y->hi || y->lo >= x->hi || x->part >= y->end ||
         y->part >= x->end;
}

static uint32_t latest_entry(const struct latest *l, uint32_t first) {
  uint32_t end = first + FAN < l->to ? first + FAN : l->to;
  for (; end > first && end > l->from && *l->effort; end--, --*l->effort) {
    struct nsr_chain_box x = box_of(l->c->sites, &l->entries[end - 1]);
    if (!apart(&x, &l->of))
      return end;
  }
  return l->from;
}

static uint32_t latest_in(const struct latest *l, int level, uint32_t box) {
  uint32_t first = box * l->span[level], found = l->from;
  if (first >= l->to || first + l->span[level] <= l->from || !*l->effort)
    return l->from;
  --*l->effort;
  if (apart(&l->level[level][box], &l->of))
    return l->from;
  if (level == 0)
    return latest_entry(l, first);
  for (uint32_t i = FAN; i-- > 0 && found == l->from && *l->effort;)
    found = latest_in(l, level - 1, box * FAN + i);
  return found;
}

uint32_t nsr_chain_latest(const struct nsr_chains *c,
                          const struct nsr_chain *chain, uint32_t from,
                          uint32_t to, const struct nsr_footprint *f,
                          uint32_t *effort) {
  struct latest l = {.c = c,
                     .entries = c->entries + chain->first,
                     .from = from,
                     .to = to,
                     .of = {f->lo, f->hi, f->part, f->part + f->nparts},
                     .effort = effort};
  const struct nsr_chain_box *at = c->boxes + chain->first_box;
  int top = 0;
  for (uint32_t n = chain->n, span = FAN;; span *= FAN) {
    n = (n + FAN - 1) / FAN;
    l.level[top] = at;
    l.span[top] = span;
    if (n <= 1)
      return latest_in(&l, top, 0);
    at += n;
    top++;
  }
}
