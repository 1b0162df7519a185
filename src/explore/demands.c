/* demands.c - the specification machine.
 *
 * Needs an exploration of the first kernel: what it issues, and what has
 * always retired before; makes a machine in which each instance waits for its
 * dependences itself (earlier instances that it conflicts with and that the
 * first kernel orders before it), and compares what it knows at each issue
 * with what the second kernel waits for. The machine's moves only ever make
 * more possible, so what can issue while one instance is held back is all that
 * can issue without it (hold.c).
 */
#include "explore/compare.h"

#include <stdlib.h>
#include <string.h>

#include "judge/witness.h"

enum { MOST = 512, LINES = 8, PAIRS = 256 };

struct spec {
  const struct nsr_twins *t;
  struct nsr_ctx *ctx;
  enum nsr_arena_id arena;
  uint32_t n, words;
  const struct nsr_instance **x; /* by instance of the first kernel */
  NSR_VEC(uint32_t) wakes[MOST]; /* who waits for it */
  uint32_t owes[MOST];           /* how many it waits for */
  uint32_t *before;
  NSR_VEC(uint32_t) program[NSR_MAX_ENGINES]; /* in order */
  /* one run */
  uint32_t next[NSR_MAX_ENGINES], stalled[NSR_MAX_ENGINES], left[MOST];
  uint32_t *retired;
  NSR_VEC(uint32_t) flying[NSR_MAX_CHANNELS];
};

static bool before(const struct spec *s, uint32_t earlier, uint32_t later) {
  return s->before[(size_t)later * s->words + earlier / 32] >> earlier % 32 & 1;
}

/* ---- making it */

static enum nsr_status depend(struct spec *s, uint32_t p, uint32_t c) {
  unsigned how;
  if (!nsr_before(s->t->a, p, c))
    return NSR_OK;
  NSR_TRY(nsr_world_meet(s->t->a->w, p, c, &how));
  if (how == NSR_MEET_NOT)
    return NSR_OK;
  NSR_PUSH(s->ctx, s->arena, &s->wakes[p], c);
  s->owes[c]++;
  return NSR_OK;
}

static enum nsr_status make(struct spec *s) {
  const struct nsr_world *w = s->t->a->w;
  for (uint32_t c = 0; c < s->n; c++) {
    const struct nsr_instance *x = nsr_inst(w, c);
    if (s->t->of_a[c] == NSR_NONE)
      continue;
    s->x[c] = x;
    NSR_PUSH(s->ctx, s->arena, &s->program[x->flight.engine], c);
    for (uint32_t p = 0; p < s->n; p++)
      if (p != c && s->t->of_a[p] != NSR_NONE)
        NSR_TRY(depend(s, p, c));
  }
  return NSR_OK;
}

/* ---- one run */

static void retire(struct spec *s, uint32_t i) {
  s->retired[i / 32] |= UINT32_C(1) << i % 32;
  for (size_t k = 0; k < s->wakes[i].n; k++)
    s->left[s->wakes[i].v[k]]--;
  if (s->stalled[s->x[i]->flight.engine] == i)
    s->stalled[s->x[i]->flight.engine] = NSR_NONE;
}

static enum nsr_status issue(struct spec *s, uint32_t i) {
  const struct nsr_instance *x = s->x[i];
  for (uint32_t k = 0; k < s->words; k++)
    s->before[(size_t)i * s->words + k] &= s->retired[k];
  s->next[x->flight.engine]++;
  if (x->is_event) {
    retire(s, i);
    return NSR_OK;
  }
  if (x->load)
    s->stalled[x->flight.engine] = i;
  NSR_PUSH(s->ctx, s->arena, &s->flying[x->lane], i);
  return NSR_OK;
}

static enum nsr_status issue_all(struct spec *s, bool *any) {
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    while (s->next[e] < s->program[e].n && s->stalled[e] == NSR_NONE &&
           !s->left[s->program[e].v[s->next[e]]]) {
      NSR_TRY(issue(s, s->program[e].v[s->next[e]]));
      *any = true;
    }
  return NSR_OK;
}

static void retire_all(struct spec *s, uint32_t held, bool *any) {
  for (int l = 0; l < s->t->a->w->image->nchannels; l++) {
    size_t kept = 0;
    bool stop = false;
    for (size_t i = 0; i < s->flying[l].n; i++) {
      uint32_t at = s->flying[l].v[i];
      stop = stop || (at == held && !nsr_any_order(s->t->a, l));
      if (stop || at == held) {
        s->flying[l].v[kept++] = at;
        continue;
      }
      retire(s, at);
      *any = true;
    }
    s->flying[l].n = kept;
  }
}

/* Everything happens but the retirement of one instance. */
static enum nsr_status run(struct spec *s, uint32_t held) {
  bool any = true;
  memset(s->next, 0, sizeof s->next);
  memset(s->stalled, 0xff, sizeof s->stalled);
  memcpy(s->left, s->owes, sizeof s->left);
  memset(s->retired, 0, s->words * sizeof *s->retired);
  for (int l = 0; l < NSR_MAX_CHANNELS; l++)
    s->flying[l].n = 0;
  while (any) {
    any = false;
    NSR_TRY(issue_all(s, &any));
    retire_all(s, held, &any);
  }
  return NSR_OK;
}

/* ---- against the second kernel */

/* Whether the engine learns at c, and not before, that p has retired; and of
 * nothing later on its channel. */
static bool learns(const struct spec *s, uint32_t p, uint32_t c,
                   uint32_t previous) {
  const struct nsr_twins *t = s->t;
  uint32_t q = t->of_a[p], d = t->of_a[c];
  if (!nsr_before(t->b, q, d) ||
      (previous != NSR_NONE && nsr_before(t->b, q, t->of_a[previous])))
    return false;
  for (uint32_t r = p + 1; r < s->n; r++)
    if (t->of_a[r] != NSR_NONE && s->x[r]->lane == s->x[p]->lane &&
        nsr_before(t->b, t->of_a[r], d))
      return false;
  return true;
}

static enum nsr_status longer(const struct spec *s, uint32_t p, uint32_t c,
                              struct nsr_ctx *pool,
                              struct nsr_longer_list *list) {
  const struct nsr_world *w = s->t->b->w;
  const struct nsr_flight *x = &nsr_inst(w, s->t->of_a[c])->flight;
  const struct nsr_flight *y = &nsr_inst(w, s->t->of_a[p])->flight;
  for (size_t i = 0; i < list->v.n; i++) {
    struct nsr_longer *l = &list->v.v[i];
    if (l->waiter == x->engine && l->waiter_insn == x->insn &&
        l->awaited == y->engine && l->awaited_insn == y->insn) {
      l->times++;
      return NSR_OK;
    }
  }
  if (list->v.n < PAIRS)
    NSR_PUSH(pool, NSR_KEEP, &list->v,
             ((struct nsr_longer){x->engine, y->engine, x->insn, y->insn, 1}));
  return NSR_OK;
}

static enum nsr_status compare_at(const struct spec *s, uint32_t c,
                                  uint32_t previous, struct nsr_ctx *pool,
                                  struct nsr_demands *out,
                                  struct nsr_longer_list *list) {
  for (uint32_t p = 0; p < s->n; p++) {
    if (p == c || s->t->of_a[p] == NSR_NONE || s->x[p]->is_event ||
        !learns(s, p, c, previous))
      continue;
    out->waits++;
    if (before(s, p, c))
      continue;
    out->longer++;
    NSR_TRY(longer(s, p, c, pool, list));
  }
  return NSR_OK;
}

enum nsr_status nsr_demands_compare(const struct nsr_twins *t,
                                    struct nsr_ctx *pool,
                                    struct nsr_demands *out,
                                    struct nsr_longer_list *list) {
  struct spec *s;
  struct nsr_ctx *ctx = t->a->ctx;
  uint32_t n = (uint32_t)t->a->w->insts.n;
  if (n > MOST)
    return NSR_OK;
  NSR_NEW(ctx, t->a->arena, s, 1);
  s->t = t;
  s->ctx = ctx;
  s->arena = t->a->arena;
  s->n = n;
  s->words = (n + 31) / 32;
  NSR_NEW(ctx, s->arena, s->x, n);
  NSR_NEW(ctx, s->arena, s->before, (size_t)n * s->words);
  NSR_NEW(ctx, s->arena, s->retired, s->words);
  memset(s->before, 0xff, (size_t)n * s->words * sizeof *s->before);
  NSR_TRY(make(s));
  for (uint32_t i = 0; i < n; i++)
    if (t->of_a[i] != NSR_NONE)
      NSR_TRY(run(s, i));
  out->inputs++;
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    for (size_t i = 0; i < s->program[e].n; i++)
      NSR_TRY(compare_at(s, s->program[e].v[i],
                         i ? s->program[e].v[i - 1] : NSR_NONE, pool, out,
                         list));
  return NSR_OK;
}

static int by_times(const void *a, const void *b) {
  const struct nsr_longer *x = a, *y = b;
  if (x->times != y->times)
    return x->times < y->times ? 1 : -1;
  if (x->waiter != y->waiter)
    return x->waiter - y->waiter;
  if (x->waiter_insn != y->waiter_insn)
    return x->waiter_insn < y->waiter_insn ? -1 : 1;
  if (x->awaited != y->awaited)
    return x->awaited - y->awaited;
  return x->awaited_insn < y->awaited_insn ? -1 : 1;
}

enum nsr_status nsr_longer_text(struct nsr_ctx *ctx,
                                const struct nsr_image *image,
                                struct nsr_longer_list *list,
                                const char **text) {
  struct nsr_strbuf b;
  nsr_strbuf_init(&b, ctx, NSR_KEEP);
  if (list->v.n)
    qsort(list->v.v, list->v.n, sizeof *list->v.v, by_times);
  for (size_t i = 0; i < list->v.n && i < LINES; i++) {
    const struct nsr_longer *l = &list->v.v[i];
    nsr_say_insn(&b, image, l->waiter, l->waiter_insn);
    nsr_strbuf_puts(&b, "\nwaits for ");
    nsr_say_insn(&b, image, l->awaited, l->awaited_insn);
    nsr_strbuf_printf(&b, ", %llu times\n", (unsigned long long)l->times);
  }
  return nsr_strbuf_done(&b, text, NULL);
}
