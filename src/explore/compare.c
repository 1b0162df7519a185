/* compare.c - what a second kernel does that the first one cannot.
 *
 * Needs two explorations without a finding; makes the first difference.
 */
#include "explore/compare.h"

#include <string.h>

#include "base/strbuf.h"

/* ---- twins */

static bool counts(const struct nsr_search *s, uint32_t i) {
  return s->issued[i] && nsr_inst(s->w, i)->flight.number;
}

/* Instances by component and number. */
struct by_number {
  NSR_VEC(uint32_t)
  of[NSR_MAX_CHANNELS + NSR_MAX_ENGINES + NSR_MAX_SEQUENCES];
};

static enum nsr_status put(struct nsr_search *s, struct by_number *t,
                           uint32_t inst) {
  const struct nsr_instance *x = nsr_inst(s->w, inst);
  uint32_t c = x->lane, n = x->flight.number;
  while (t->of[c].n < n)
    NSR_PUSH(s->ctx, s->arena, &t->of[c], NSR_NONE);
  t->of[c].v[n - 1] = inst;
  return NSR_OK;
}

static enum nsr_status number(struct nsr_search *s, struct by_number *t) {
  for (uint32_t i = 0; i < s->insts && i < s->w->insts.n; i++)
    if (counts(s, i))
      NSR_TRY(put(s, t, i));
  return NSR_OK;
}

static enum nsr_status say_different(const struct nsr_search *a, uint32_t x,
                                     const struct nsr_search *b, uint32_t y,
                                     const char **text) {
  struct nsr_strbuf s;
  nsr_strbuf_init(&s, b->out, NSR_KEEP);
  nsr_strbuf_puts(&s, "where the first kernel has ");
  if (x == NSR_NONE)
    nsr_strbuf_puts(&s, "nothing");
  else
    nsr_say_inst(a, &s, x);
  nsr_strbuf_puts(&s, "\nthe second one has ");
  if (y == NSR_NONE)
    nsr_strbuf_puts(&s, "nothing");
  else
    nsr_say_inst(b, &s, y);
  return nsr_strbuf_done(&s, text, NULL);
}

static enum nsr_status match(struct nsr_twins *t, const struct by_number *x,
                             const struct by_number *y, uint32_t c,
                             const char **text) {
  size_t n = x->of[c].n > y->of[c].n ? x->of[c].n : y->of[c].n;
  for (size_t i = 0; i < n && !*text; i++) {
    uint32_t p = i < x->of[c].n ? x->of[c].v[i] : NSR_NONE;
    uint32_t q = i < y->of[c].n ? y->of[c].v[i] : NSR_NONE;
    if (q == NSR_NONE && !nsr_search_on(t->b))
      continue;
    if (p == NSR_NONE || q == NSR_NONE ||
        nsr_inst(t->a->w, p)->flight.identity !=
            nsr_inst(t->b->w, q)->flight.identity)
      return say_different(t->a, p, t->b, q, text);
    t->of_a[p] = q;
    t->of_b[q] = p;
  }
  return NSR_OK;
}

static enum nsr_status no_twins(struct nsr_search *s, uint32_t **of) {
  NSR_NEW(s->ctx, s->arena, *of, s->w->insts.n);
  memset(*of, 0xff, s->w->insts.n * sizeof **of);
  return NSR_OK;
}

enum nsr_status nsr_twins_find(struct nsr_search *a, struct nsr_search *b,
                               struct nsr_twins *t, const char **text) {
  struct by_number x = {.of = {{0}}}, y = {.of = {{0}}};
  uint32_t n = (uint32_t)(a->w->image->nchannels + a->w->image->nengines) +
               a->nsequences;
  *t = (struct nsr_twins){.a = a, .b = b};
  *text = NULL;
  NSR_TRY(no_twins(a, &t->of_a));
  NSR_TRY(no_twins(b, &t->of_b));
  NSR_TRY(number(a, &x));
  NSR_TRY(number(b, &y));
  for (uint32_t c = 0; c < n && !*text; c++)
    NSR_TRY(match(t, &x, &y, c, text));
  return NSR_OK;
}

/* ---- orders */

static enum nsr_status say_order(const struct nsr_search *b, uint32_t p,
                                 uint32_t c, const char *what,
                                 const char **text) {
  struct nsr_strbuf s;
  nsr_strbuf_init(&s, b->out, NSR_KEEP);
  nsr_say_inst(b, &s, c);
  nsr_strbuf_printf(&s, "\n%s: ", what);
  nsr_say_inst(b, &s, p);
  return nsr_strbuf_done(&s, text, NULL);
}

/* A may pair that a orders, and b does not. */
static enum nsr_status lost_order(const struct nsr_twins *t, uint32_t p,
                                  uint32_t c, enum nsr_fault_kind *kind,
                                  const char **text) {
  unsigned how;
  if (!nsr_before(t->a, p, c) || nsr_before(t->b, t->of_a[p], t->of_a[c]))
    return NSR_OK;
  NSR_TRY(nsr_world_meet(t->a->w, p, c, &how));
  if (!(how & NSR_MEET_MAY))
    return NSR_OK;
  *kind = NSR_FAULT_RACE;
  return say_order(t->b, t->of_a[p], t->of_a[c],
                   "may come before this, as in the first kernel it cannot",
                   text);
}

/* One that a leaves open, as facts allow. */
static enum nsr_status use_fact(const struct nsr_twins *t, uint32_t p,
                                uint32_t c) {
  const struct nsr_world *w = t->a->w;
  uint32_t x = nsr_inst(w, p)->allowed, y = nsr_inst(w, c)->allowed;
  unsigned how;
  if (!nsr_allowed_pair(w->allowed, x, y) || nsr_before(t->a, p, c) ||
      nsr_before(t->a, c, p))
    return NSR_OK;
  NSR_TRY(nsr_world_meet(t->a->w, p, c, &how));
  if (how != NSR_MEET_NOT)
    nsr_allowed_use(w->allowed, x, y);
  return NSR_OK;
}

/* Others may act in between on what they see of a; where it is known what they
 * do, that shows itself. */
static enum nsr_status awaits_more(const struct nsr_twins *t, uint32_t p,
                                   uint32_t c, enum nsr_fault_kind *kind,
                                   const char **text) {
  if (t->a->w->external || !nsr_inst(t->a->w, c)->fires ||
      nsr_before(t->a, p, c) || !nsr_before(t->b, t->of_a[p], t->of_a[c]))
    return NSR_OK;
  *kind = NSR_FAULT_HANG;
  return say_order(t->b, t->of_a[p], t->of_a[c],
                   "others see it, or it waits for them, and it waits for "
                   "this, as in the first kernel it does not",
                   text);
}

static enum nsr_status compare_orders(const struct nsr_twins *t,
                                      enum nsr_fault_kind *kind,
                                      const char **text) {
  uint32_t n = (uint32_t)t->a->w->insts.n;
  bool may = t->a->w->image->has_may || t->a->w->wild || t->a->w->allowed->n;
  for (uint32_t c = 0; may && c < n; c++)
    for (uint32_t p = 0; p < n; p++) {
      if (t->of_a[p] == NSR_NONE || t->of_a[c] == NSR_NONE || p == c)
        continue;
      NSR_TRY(use_fact(t, p, c));
      NSR_TRY(lost_order(t, p, c, kind, text));
      if (*kind == NSR_FAULT_NONE)
        NSR_TRY(awaits_more(t, p, c, kind, text));
      if (*kind != NSR_FAULT_NONE)
        return NSR_OK;
    }
  return NSR_OK;
}

/* ---- outcomes */

static bool can_have(const struct nsr_search *a, const struct nsr_outcome *o,
                     bool trace, bool memory) {
  for (size_t i = 0; i < a->outcomes.n; i++) {
    const struct nsr_outcome *x = &a->outcomes.v[i];
    if ((!trace || memcmp(x->trace, o->trace, sizeof o->trace) == 0) &&
        (!memory || memcmp(x->memory, o->memory, sizeof o->memory) == 0))
      return true;
  }
  return false;
}

enum nsr_status nsr_compare(const struct nsr_twins *t,
                            enum nsr_fault_kind *kind, const char **text) {
  *kind = NSR_FAULT_NONE;
  *text = NULL;
  NSR_TRY(compare_orders(t, kind, text));
  for (size_t i = 0; i < t->b->outcomes.n && *kind == NSR_FAULT_NONE; i++) {
    const struct nsr_outcome *o = &t->b->outcomes.v[i];
    if (can_have(t->a, o, true, true))
      continue;
    bool reads = !can_have(t->a, o, true, false);
    *kind = reads ? NSR_FAULT_READS : NSR_FAULT_MEMORY;
    *text = reads ? "some instruction reads what it cannot read in the first "
                    "kernel"
                  : "final memory is as it cannot be in the first kernel";
  }
  return NSR_OK;
}
