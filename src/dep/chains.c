/* chains.c - sorting sites into lists and chains. */
#include "dep/chains.h"

#include <string.h>

#include "base/vec.h"
#include "base/work.h"

struct builder {
  struct nsr_ctx *ctx;
  const struct nsr_sites *s;
  uint32_t nlists;                 /* own lists, then near ones */
  uint32_t *first;                 /* by list, and one behind the last */
  uint32_t *next;                  /* by list: where its next entry goes */
  struct nsr_chain_entry *entries; /* by list */
  NSR_VEC(struct nsr_chain) chains;
};

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

/* Sorts one list by chain, stably, into `sorted`; writers come first. */
static enum nsr_status cut_list(struct builder *b, uint32_t list,
                                struct nsr_chain_entry *sorted) {
  uint32_t count[2 * NSR_MAX_CHANNELS] = {0}, at = b->first[list];
  if (at == b->first[list + 1])
    return NSR_OK;
  for (uint32_t i = b->first[list]; i < b->first[list + 1]; i++)
    count[chain_key(b, &b->entries[i])]++;
  for (uint32_t key = 0; key < 2 * NSR_MAX_CHANNELS; key++) {
    uint32_t n = count[key];
    count[key] = at;
    if (n)
      NSR_PUSH(b->ctx, NSR_SCRATCH, &b->chains,
               (struct nsr_chain){.first = at,
                                  .n = n,
                                  .channel = (int8_t)(key % NSR_MAX_CHANNELS),
                                  .writes = key < NSR_MAX_CHANNELS});
    at += n;
  }
  for (uint32_t i = b->first[list]; i < b->first[list + 1]; i++)
    sorted[count[chain_key(b, &b->entries[i])]++] = b->entries[i];
  return NSR_OK;
}

enum nsr_status nsr_chains_build(struct nsr_ctx *ctx,
                                 const struct nsr_sites *sites,
                                 struct nsr_chains *out) {
  struct builder b = {.ctx = ctx, .s = sites, .nlists = 2 * sites->ngroups};
  struct nsr_chain_entry *sorted;
  struct nsr_chain_list *lists;
  NSR_TRY(fill_lists(&b));
  NSR_NEW(ctx, NSR_SCRATCH, sorted, b.first[b.nlists]);
  NSR_NEW(ctx, NSR_SCRATCH, lists, b.nlists);
  for (uint32_t l = 0; l < b.nlists; l++) {
    lists[l].first = (uint32_t)b.chains.n;
    NSR_TRY(cut_list(&b, l, sorted));
    lists[l].n = (uint32_t)b.chains.n - lists[l].first;
  }
  for (size_t i = 0; i < b.chains.n; i++)
    count_older(&b, sorted + b.chains.v[i].first, b.chains.v[i].n);
  *out = (struct nsr_chains){sorted, b.chains.v, lists, lists + sites->ngroups};
  return NSR_OK;
}

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
