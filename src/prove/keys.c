/* keys.c - what may come between loads that decide control flow. */
#include "prove/keys.h"

#include "base/vec.h"
#include "ir/outsiders.h"

/* The works from the first load of one value to the last; where a loop without
 * a barrier is around one, from its first work to its last: it reads anew in
 * each iteration. */
struct span {
  uint32_t first, end; /* first NSR_NONE: there is none */
  bool doubtful;
};

struct keys {
  struct nsr_ctx *ctx;
  const struct nsr_touches *t;
  const struct nsr_congruence *c;
  struct span *spans; /* by number */
};

static const struct nsr_key_load *load_of(const struct keys *k, uint32_t w) {
  if (w == NSR_NONE)
    return NULL;
  const struct nsr_work *x = &k->t->tree->works[w];
  return x->marker ? NULL : nsr_congruence_kept(k->c, x->engine, x->insn);
}

/* The works that may run between executions of work w: of the outermost loop
 * around it in which there is no barrier. */
static struct span span_of(const struct nsr_tree *t, uint32_t w) {
  struct span s = {.first = w, .end = w + 1};
  uint32_t scope = t->works[w].scope;
  while (scope != NSR_NONE && !t->scopes[scope].barrier) {
    const struct nsr_common *x = &t->scopes[scope];
    if (x->kind == NSR_SCOPE_LOOP)
      s = (struct span){.first = x->first_work, .end = x->end_work};
    scope = x->parent;
  }
  return s;
}

/* What races may read one value here, another one there. */
static bool races(const struct nsr_tree *t, uint32_t w) {
  struct nsr_fact_insn at = {t->works[w].engine, t->works[w].insn};
  return nsr_facts_races(t->program->facts, at);
}

static enum nsr_status find_spans(struct keys *k) {
  const struct nsr_tree *t = k->t->tree;
  NSR_NEW(k->ctx, NSR_SCRATCH, k->spans, k->c->nnodes);
  for (uint32_t i = 0; i < k->c->nnodes; i++)
    k->spans[i].first = NSR_NONE;
  for (uint32_t w = 0; w < t->nworks; w++) {
    const struct nsr_key_load *load = load_of(k, w);
    if (!load)
      continue;
    struct span *s = &k->spans[load->number], own = span_of(t, w);
    if (s->first == NSR_NONE || own.first < s->first)
      s->first = own.first;
    s->end = own.end > s->end ? own.end : s->end;
    s->doubtful |= t->works[w].island || races(t, w);
  }
  return NSR_OK;
}

/* Works in code without a known order may do anything in between. */
static enum nsr_status check_islands(struct keys *k) {
  const struct nsr_tree *t = k->t->tree;
  uint32_t *before; /* by work: works of islands in front of it */
  NSR_NEW(k->ctx, NSR_SCRATCH, before, (size_t)t->nworks + 1);
  for (uint32_t w = 0; w < t->nworks; w++)
    before[w + 1] = before[w] + t->works[w].island;
  for (uint32_t i = 0; i < k->c->nnodes; i++) {
    struct span *s = &k->spans[i];
    if (s->first != NSR_NONE)
      s->doubtful |= before[s->end] > before[s->first];
  }
  return NSR_OK;
}

/* Unknown effects between two barriers may come in front of a load there, or
 * behind it. */
static enum nsr_status check_unknown(struct keys *k) {
  const struct nsr_score *s = k->t->sights->s;
  const struct nsr_tree *t = k->t->tree;
  uint32_t regions = 0;
  bool *wild;
  for (uint32_t i = 0; i < s->nsteps; i++)
    regions = s->region[i] < regions ? regions : s->region[i] + 1;
  NSR_NEW(k->ctx, NSR_SCRATCH, wild, regions);
  for (uint32_t i = 0; i < s->nsteps; i++)
    if (s->steps[i].kind == NSR_STEP_WORK && s->steps[i].work != NSR_NONE)
      wild[s->region[i]] |=
          nsr_work_node(t, &t->works[s->steps[i].work])->unknown;
  for (uint32_t i = 0; i < s->nsteps; i++) {
    bool work = s->steps[i].kind == NSR_STEP_WORK;
    const struct nsr_key_load *load =
        work ? load_of(k, s->steps[i].work) : NULL;
    if (load)
      k->spans[load->number].doubtful |= wild[s->region[i]];
  }
  return NSR_OK;
}

static uint32_t work_at(const struct keys *k, uint32_t touch) {
  const struct nsr_sights *x = k->t->sights;
  return x->s->steps[x->step_of[k->t->v[touch].slot]].work;
}

/* The first touch of a list with a work not in front of `from`. */
static uint32_t first_from(const struct keys *k, const struct nsr_spot_list *l,
                           uint32_t from) {
  uint32_t lo = 0, hi = l->n;
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (work_at(k, k->t->touches_of[l->first + mid]) < from)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

/* In a crowd not all do. */
static bool meet(const struct keys *k, uint32_t a, uint32_t b) {
  const struct nsr_spot *x = &k->t->spots[k->t->v[a].spot];
  const struct nsr_spot *y = &k->t->spots[k->t->v[b].spot];
  return !x->crowd || !y->crowd ||
         nsr_overlap(&x->footprint, &y->footprint, NULL) != NSR_OVERLAP_NO;
}

static enum nsr_status check_list(struct keys *k, struct span *s,
                                  const struct nsr_spot_list *l,
                                  uint32_t touch) {
  for (uint32_t i = first_from(k, l, s->first); i < l->n && !s->doubtful; i++) {
    uint32_t q = k->t->touches_of[l->first + i];
    struct nsr_apart apart;
    if (work_at(k, q) >= s->end)
      break;
    if (!meet(k, q, touch))
      continue;
    NSR_TRY(
        nsr_touch_apart(k->ctx, k->t, &k->t->v[q], &k->t->v[touch], &apart));
    s->doubtful = apart.level < NSR_LEVEL_ANY || apart.front;
  }
  return NSR_OK;
}

static enum nsr_status check_lists(struct keys *k, struct span *s,
                                   uint32_t first, uint32_t n, uint32_t touch) {
  for (uint32_t l = first; l < first + n; l++)
    if (k->t->lists[l].writes)
      NSR_TRY(check_list(k, s, &k->t->lists[l], touch));
  return NSR_OK;
}

static enum nsr_status check_load(struct keys *k, uint32_t slot,
                                  struct span *s) {
  const struct nsr_touches *t = k->t;
  for (uint32_t x = t->first[slot]; x < t->first[slot + 1]; x++) {
    const struct nsr_spot *spot = &t->spots[t->v[x].spot];
    for (uint32_t n = 0; n < spot->nnear; n++) {
      const struct nsr_spot *other =
          &t->spots[t->near[spot->first_near + n].spot];
      NSR_TRY(check_lists(k, s, other->first_list, other->nlists, x));
    }
    if (spot->crowd) {
      const struct nsr_spot_crowd *crowd = &t->crowds[spot->crowd - 1];
      NSR_TRY(check_lists(k, s, crowd->first_list, crowd->nlists, x));
    }
  }
  return NSR_OK;
}

static enum nsr_status check_outsiders(struct keys *k) {
  struct nsr_outsiders o;
  struct nsr_readings *of; /* by number */
  NSR_TRY(nsr_outsiders_find(k->ctx, k->t->tree, &o));
  if (!o.any)
    return NSR_OK;
  NSR_NEW(k->ctx, NSR_SCRATCH, of, k->c->nnodes);
  for (uint32_t w = 0; w < k->t->tree->nworks; w++) {
    const struct nsr_key_load *load = load_of(k, w);
    if (!load)
      continue;
    struct nsr_readings *r = &of[load->number];
    NSR_TRY(nsr_outsiders_read(k->ctx, &o, k->t->tree, w, r));
    k->spans[load->number].doubtful |= r->apart;
  }
  return NSR_OK;
}

enum nsr_status nsr_keys_check(struct nsr_ctx *ctx, const struct nsr_touches *t,
                               struct nsr_key_loads *doubts) {
  struct keys k = {.ctx = ctx, .t = t, .c = &t->tree->congruence};
  size_t n = doubts->n;
  NSR_TRY(find_spans(&k));
  NSR_TRY(check_islands(&k));
  NSR_TRY(check_outsiders(&k));
  NSR_TRY(check_unknown(&k));
  for (uint32_t slot = 0; slot < t->sights->nslots; slot++) {
    uint32_t w = t->sights->s->steps[t->sights->step_of[slot]].work;
    const struct nsr_key_load *load = load_of(&k, w);
    if (load && !k.spans[load->number].doubtful)
      NSR_TRY(check_load(&k, slot, &k.spans[load->number]));
  }
  for (uint32_t i = 0; i < k.c->nloads; i++)
    if (k.spans[k.c->loads[i].number].doubtful)
      NSR_PUSH(ctx, NSR_SCRATCH, doubts, k.c->loads[i]);
  if (doubts->n > n)
    NSR_TRY(nsr_key_loads_sort(ctx, doubts->v, doubts->n));
  return NSR_OK;
}
