/* may.c - order of may pairs, relative to the first kernel.
 *
 * Needs accesses in the order of their issue; makes the first pair that the
 * first kernel orders and this run does not, or the other way round. Two facts
 * keep it from looking at every pair: what an engine knows of a channel is a
 * prefix, and clocks of later instances of a channel are no smaller.
 */
#include "judge/may.h"

enum nsr_status nsr_may_new(struct nsr_ctx *ctx, enum nsr_arena_id arena,
                            const struct nsr_image *image, uint32_t natoms,
                            bool atoms, const struct nsr_allowed *allowed,
                            struct nsr_may **may) {
  struct nsr_may *m;
  NSR_NEW(ctx, arena, m, 1);
  m->ctx = ctx;
  m->arena = arena;
  m->atoms = atoms;
  m->allowed = allowed;
  m->locations = natoms + (uint32_t)image->nhidden;
  m->external = m->locations;
  m->unknown = m->locations + 1;
  NSR_NEW(ctx, arena, m->head, (size_t)m->locations + 2);
  *may = m;
  return NSR_OK;
}

static const struct nsr_trace_entry *
entry_of(const struct nsr_trace *t, uint8_t component, uint32_t number) {
  if (number == 0 || number > t->of[component].n)
    return NULL;
  return &t->of[component].v[number - 1];
}

/* Whether the first kernel orders its instance (ch, a) before (dh, b). */
static bool ordered(const struct nsr_trace *t, const struct nsr_clocks *c,
                    uint8_t ch, uint32_t a, uint8_t dh, uint32_t b) {
  const struct nsr_trace_entry *x = entry_of(t, ch, a);
  const struct nsr_trace_entry *y = entry_of(t, dh, b);
  return x && y && nsr_clocks_at(c, y->row)[ch] >= x->ordinal;
}

/* The oldest entry that the access is not ordered behind: its index. */
static size_t first_unknown(const struct nsr_may_list *l,
                            const uint32_t *clock) {
  uint32_t known = clock[l->component];
  size_t lo = 0, hi = l->entries.n;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (l->entries.v[mid].ordinal > known)
      hi = mid;
    else
      lo = mid + 1;
  }
  return lo;
}

/* Pairs that the first kernel leaves unordered, too. */
static void left_open(struct nsr_may *m, const struct nsr_may_list *l,
                      const struct nsr_may_access *a, size_t n) {
  if (a->may || l->may)
    m->unordered += n;
  else
    nsr_allowed_use(m->allowed, l->allowed, a->allowed);
}

static bool check_list(struct nsr_may *m, const struct nsr_may_list *l,
                       const struct nsr_may_access *a,
                       const struct nsr_trace *trace,
                       const struct nsr_clocks *clocks,
                       struct nsr_clash *clash) {
  size_t first = first_unknown(l, a->clock), n = l->entries.n;
  const struct nsr_may_entry *v = l->entries.v;
  const struct nsr_may_entry *found = NULL;
  if (first && trace &&
      ordered(trace, clocks, a->component, a->number, l->component,
              v[first - 1].number)) {
    found = &v[first - 1]; /* and none of the others there comes later */
    clash->reversed = true;
  } else if (first == n) {
    return false;
  } else if (!a->may && !l->may &&
             !nsr_allowed_pair(m->allowed, l->allowed, a->allowed)) {
    found = &v[n - 1];
  } else if (!trace) {
    left_open(m, l, a, n - first);
  } else if (ordered(trace, clocks, l->component, v[first].number, a->component,
                     a->number)) {
    found = &v[first];
  } else if (ordered(trace, clocks, a->component, a->number, l->component,
                     v[n - 1].number)) {
    found = &v[n - 1];
  } else {
    left_open(m, l, a, n - first);
  }
  if (!found)
    return false;
  clash->atom = a->location;
  clash->channel = l->component;
  clash->ordinal = found->ordinal;
  clash->earlier_writes = l->writes;
  clash->later_writes = a->writes;
  clash->may = a->may || l->may;
  return true;
}

bool nsr_may_conflict(const struct nsr_may_list *l,
                      const struct nsr_may_access *a) {
  bool same = l->component == a->component;
  return (a->writes || l->writes) && !(same && a->same_free) &&
         !(same && a->write_free && l->writes);
}

uint32_t nsr_may_known(const struct nsr_may_list *l, const uint32_t *clock) {
  size_t n = first_unknown(l, clock);
  return n ? l->entries.v[n - 1].number : 0;
}

bool nsr_may_check(struct nsr_may *m, const struct nsr_may_access *a,
                   const struct nsr_trace *trace,
                   const struct nsr_clocks *clocks, struct nsr_clash *clash) {
  for (uint32_t i = m->head[a->location]; i; i = m->lists.v[i - 1].next) {
    const struct nsr_may_list *l = &m->lists.v[i - 1];
    if (nsr_may_conflict(l, a) && check_list(m, l, a, trace, clocks, clash))
      return true;
  }
  return false;
}

enum nsr_status nsr_may_record(struct nsr_may *m,
                               const struct nsr_may_access *a) {
  uint32_t i = m->head[a->location];
  for (; i; i = m->lists.v[i - 1].next) {
    const struct nsr_may_list *l = &m->lists.v[i - 1];
    if (l->component == a->component && l->may == a->may &&
        l->writes == a->writes && l->allowed == a->allowed)
      break;
  }
  if (!i) {
    NSR_PUSH(m->ctx, m->arena, &m->lists,
             ((struct nsr_may_list){.next = m->head[a->location],
                                    .allowed = a->allowed,
                                    .component = a->component,
                                    .may = a->may,
                                    .writes = a->writes}));
    i = m->head[a->location] = (uint32_t)m->lists.n;
  }
  struct nsr_may_list *l = &m->lists.v[i - 1];
  NSR_PUSH(m->ctx, m->arena, &l->entries,
           ((struct nsr_may_entry){a->ordinal, a->number}));
  return NSR_OK;
}
