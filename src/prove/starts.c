/* starts.c - bits per pair and view, along a score.
 *
 * A view is what an engine knows, or what follows from one of the latest
 * executions of a member that some wait covers. All bits are true before q has
 * run, and become false as it does.
 */
#include "prove/starts.h"

#include <string.h>

#include "base/work.h"
#include "prove/walk_score.h"

/* All of q so far; bit b: in front of the b-th latest start; in front of the
 * loop. */
enum {
  NOW = 1,
  FRONT = 1 << (NSR_PROVE_BACK + 1),
  STARTS = FRONT - 1 - NOW,
  ALL = NOW | STARTS | FRONT
};

/* Bits of an item that are kept, in all its states, at most. */
#define MAX_BITS (UINT64_C(1) << 26)

struct loop {
  uint16_t *head, *back, *exit;
  bool any_head, any_back, any_exit;
};

struct starts {
  struct nsr_ctx *ctx;
  const struct nsr_score *s;
  const struct nsr_thresholds *t;
  const bool *sure;                 /* by wait */
  const struct nsr_snapshot *waits; /* by number */
  struct nsr_start_pair *pairs;
  size_t npairs;
  uint32_t *body;   /* by pair: step at which iterations start */
  uint32_t *loop;   /* .. at which the loop begins */
  uint8_t *ages;    /* by member: executions that waits cover */
  uint32_t *rec_at; /* by member of the item: its first record among views */
  struct loop *loops;
  uint32_t *loop_of; /* by step */
  uint32_t *around;  /* by step: that at which the way around it begins,
                        NSR_NONE:  the kernel */
  /* the item */
  uint32_t first, end, nrows, nviews;
  uint32_t *here; /* its pairs */
  size_t nhere, size;
  uint16_t *bits; /* by view, then pair */
  NSR_VEC(uint16_t) saved;
};

static uint16_t *view(const struct starts *x, uint32_t v) {
  return x->bits + (size_t)v * x->nhere;
}

static const struct nsr_start_pair *pair_at(const struct starts *x, size_t i) {
  return &x->pairs[x->here[i]];
}

/* ---- states */

static void fill(uint16_t *to, size_t n) {
  for (size_t i = 0; i < n; i++)
    to[i] = ALL;
}

static bool lose(uint16_t *to, const uint16_t *from, size_t n) {
  unsigned lost = 0;
  for (size_t i = 0; i < n; i++) {
    lost |= to[i] & ~(unsigned)from[i];
    to[i] &= from[i];
  }
  return lost != 0;
}

static void gather(const struct starts *x, uint16_t *to, bool *any) {
  if (*any)
    (void)lose(to, x->bits, x->size);
  else
    memcpy(to, x->bits, x->size * sizeof *to);
  *any = true;
}

/* What tells of all that was, tells of what was in front of any start. */
static uint16_t settled(uint16_t bits) { return bits & NOW ? ALL : bits; }

static void learn(const struct starts *x, uint32_t to, uint32_t from) {
  for (size_t i = 0; i < x->nhere; i++)
    view(x, to)[i] = settled(view(x, to)[i] | view(x, from)[i]);
}

/* All of the channels of these pairs' q. */
static void learn_channel(const struct starts *x, uint32_t v, int8_t channel) {
  for (size_t i = 0; i < x->nhere; i++)
    if (x->s->steps[pair_at(x, i)->q].channel == channel)
      view(x, v)[i] = ALL;
}

/* ---- steps */

/* An iteration starts. */
static void start(const struct starts *x, uint32_t step) {
  for (size_t i = 0; i < x->nhere; i++)
    for (uint32_t v = 0; x->body[x->here[i]] == step && v < x->nviews; v++) {
      uint16_t *b = &view(x, v)[i];
      unsigned kept = *b & (NOW | FRONT), starts = (unsigned)*b << 1 & STARTS;
      *b = settled((uint16_t)(kept | starts));
    }
}

/* A loop is entered. */
static void enter(const struct starts *x, uint32_t step) {
  for (size_t i = 0; i < x->nhere; i++)
    for (uint32_t v = 0; x->loop[x->here[i]] == step && v < x->nviews; v++)
      if (!(view(x, v)[i] & NOW))
        view(x, v)[i] &= (uint16_t)~FRONT;
}

/* q runs once more, and nobody knows. */
static void forget(const struct starts *x, uint32_t step) {
  for (size_t i = 0; i < x->nhere; i++)
    for (uint32_t v = 0; pair_at(x, i)->q == step && v < x->nviews; v++)
      view(x, v)[i] &= (uint16_t)~NOW;
}

static void record(const struct starts *x, const struct nsr_step *s) {
  uint32_t at = x->rec_at[s->member], n = x->ages[s->member];
  for (uint32_t a = n; a-- > 1;)
    memcpy(view(x, at + a), view(x, at + a - 1), x->nhere * sizeof *x->bits);
  if (n == 0)
    return;
  memcpy(view(x, at), view(x, s->engine), x->nhere * sizeof *x->bits);
  learn_channel(x, at, s->channel);
}

static void take_work(const struct starts *x, uint32_t i) {
  const struct nsr_step *s = &x->s->steps[i];
  for (size_t k = 0; k < x->nhere; k++) {
    struct nsr_start_pair *p = &x->pairs[x->here[k]];
    unsigned asked = (p->back ? 1u << p->back : 0u) | (p->front ? FRONT : 0u);
    if (p->c == i)
      p->ordered = (view(x, s->engine)[k] & asked) == asked;
  }
  forget(x, i);
  for (size_t k = 0; s->passes && k < x->nhere; k++)
    if (pair_at(x, k)->q == i) /* its engine knows at once */
      view(x, s->engine)[k] |= ALL;
  if (s->group != NSR_NONE)
    record(x, s);
  if (s->load)
    learn_channel(x, s->engine, s->channel);
}

static bool in_item(const struct starts *x, uint32_t member) {
  uint32_t step = x->s->members[member];
  return step >= x->first && step < x->end;
}

/* Whether whoever knows what a semaphore counted before some start, but for the
 * last `less`, knows of q: it counts more than that there, with what is behind
 * it in its body and channel. */
static bool counted(const struct starts *x, uint32_t q, uint32_t group,
                    int64_t less) {
  const struct nsr_count_group *g = &x->s->groups[group];
  const struct nsr_step *steps = x->s->steps;
  int64_t counts = 0;
  if (g->channel < 0 || g->channel != steps[q].channel)
    return false;
  for (uint32_t i = g->n; i-- > 0 && counts <= less;) {
    uint32_t at = x->s->members[x->s->by_group[g->first + i]];
    if (at < q)
      return false;
    if (x->around[at] == x->around[q])
      counts += steps[at].value;
  }
  return counts > less;
}

static void take_snapshot(const struct starts *x, uint32_t i) {
  const struct nsr_step *s = &x->s->steps[i];
  const struct nsr_snapshot *w = &x->waits[x->t->wait_of[i]];
  bool any = w->loop != NSR_NONE || w->entry != NSR_NONE;
  for (size_t k = 0; any && k < x->nhere; k++) {
    const struct nsr_start_pair *p = pair_at(x, k);
    if (p->loop == w->loop && counted(x, p->q, s->group, w->less))
      view(x, s->engine)[k] |= (uint16_t)(STARTS & ~((1u << w->back) - 1u));
    if (p->loop == w->entry && counted(x, p->q, s->group, w->entry_less))
      view(x, s->engine)[k] |= FRONT;
  }
}

static void take_wait(const struct starts *x, uint32_t i) {
  uint32_t wait = x->t->wait_of[i];
  const struct nsr_wait_found *w = &x->t->waits[wait];
  for (uint32_t k = 0; x->sure[wait] && k < w->n; k++) {
    const struct nsr_cover *c = &x->t->covers.v[w->first + k];
    if (in_item(x, c->member))
      learn(x, x->s->steps[i].engine, x->rec_at[c->member] + c->age);
  }
}

static enum nsr_status take_step(void *user, uint32_t i) {
  struct starts *x = user;
  const struct nsr_step *s = &x->s->steps[i];
  if (x->nhere == 0)
    return NSR_OK;
  nsr_work_count(x->ctx, NSR_WORK_PROVE, 1);
  if (s->kind == NSR_STEP_WORK)
    take_work(x, i);
  if (s->kind == NSR_STEP_WAIT) {
    take_wait(x, i);
    take_snapshot(x, i);
  }
  if (s->kind == NSR_STEP_BARRIER)
    fill(x->bits, x->size);
  return NSR_OK;
}

/* ---- scopes */

static enum nsr_status enter_loop(void *user, uint32_t begin, bool *changed) {
  struct starts *x = user;
  if (x->nhere == 0)
    return NSR_OK;
  struct loop *l = &x->loops[x->loop_of[begin]];
  if (!l->head) {
    NSR_NEW(x->ctx, NSR_SCRATCH, l->head, x->size);
    NSR_NEW(x->ctx, NSR_SCRATCH, l->back, x->size);
    NSR_NEW(x->ctx, NSR_SCRATCH, l->exit, x->size);
  }
  enter(x, begin);
  *changed = !l->any_head || lose(l->head, x->bits, x->size);
  if (!l->any_head)
    memcpy(l->head, x->bits, x->size * sizeof *x->bits);
  l->any_head = true;
  l->any_back = l->any_exit = false;
  memcpy(x->bits, l->head, x->size * sizeof *x->bits);
  start(x, begin);
  return NSR_OK;
}

static enum nsr_status end_way(void *user, uint32_t begin, bool back) {
  struct starts *x = user;
  if (x->nhere == 0)
    return NSR_OK;
  struct loop *l = &x->loops[x->loop_of[begin]];
  gather(x, back ? l->back : l->exit, back ? &l->any_back : &l->any_exit);
  return NSR_OK;
}

static enum nsr_status leave_loop(void *user, uint32_t begin, bool *changed) {
  struct starts *x = user;
  if (x->nhere == 0)
    return NSR_OK;
  struct loop *l = &x->loops[x->loop_of[begin]];
  *changed = l->any_back && lose(l->head, l->back, x->size);
  memcpy(x->bits, l->any_exit ? l->exit : l->head, x->size * sizeof *x->bits);
  return NSR_OK;
}

static enum nsr_status enter_arm(void *user, uint32_t begin) {
  struct starts *x = user;
  if (x->nhere == 0)
    return NSR_OK;
  NSR_RESERVE(x->ctx, NSR_SCRATCH, &x->saved, x->size);
  memcpy(x->saved.v + x->saved.n, x->bits, x->size * sizeof *x->bits);
  x->saved.n += x->size;
  start(x, begin);
  return NSR_OK;
}

static enum nsr_status leave_arm(void *user, uint32_t begin, bool join) {
  struct starts *x = user;
  (void)begin;
  if (x->nhere == 0)
    return NSR_OK;
  x->saved.n -= x->size;
  if (join)
    (void)lose(x->bits, x->saved.v + x->saved.n, x->size);
  else
    memcpy(x->bits, x->saved.v + x->saved.n, x->size * sizeof *x->bits);
  return NSR_OK;
}

static enum nsr_status other_way(void *user, uint32_t begin) {
  struct starts *x = user;
  (void)begin;
  uint16_t *before = x->saved.v + x->saved.n - x->size;
  for (size_t i = 0; x->nhere && i < x->size; i++) {
    uint16_t now = x->bits[i];
    x->bits[i] = before[i];
    before[i] = now;
  }
  return NSR_OK;
}

/* ---- items */

static bool too_large(const struct starts *x) {
  uint64_t states = 2;
  for (uint32_t i = x->first; i < x->end; i++) {
    states += 3u * (x->s->steps[i].kind == NSR_STEP_LOOP);
    states += x->s->steps[i].kind == NSR_STEP_ARM;
  }
  return states * x->size > MAX_BITS;
}

static enum nsr_status begin_item(void *user, uint32_t first, uint32_t end) {
  struct starts *x = user;
  x->first = first;
  x->end = end;
  x->nhere = 0;
  for (size_t i = 0; end - first > 1 && i < x->npairs; i++)
    if (x->pairs[i].q >= first && x->pairs[i].q < end)
      x->here[x->nhere++] = (uint32_t)i;
  if (x->nhere == 0)
    return NSR_OK;
  x->nviews = x->nrows;
  for (uint32_t i = first; i < end; i++) {
    const struct nsr_step *s = &x->s->steps[i];
    if (s->kind != NSR_STEP_WORK || s->group == NSR_NONE)
      continue;
    x->rec_at[s->member] = x->nviews;
    x->nviews += x->ages[s->member];
  }
  x->size = (size_t)x->nviews * x->nhere;
  x->saved.n = 0;
  if (too_large(x)) {
    x->nhere = 0;
    return NSR_OK;
  }
  NSR_NEW(x->ctx, NSR_SCRATCH, x->bits, x->size);
  fill(x->bits, x->size);
  return NSR_OK;
}

static enum nsr_status again(void *user) {
  struct starts *x = user;
  if (x->nhere)
    fill(x->bits, x->size);
  return NSR_OK;
}

/* ---- */

/* The step at which a scope begins, which lies around another step. */
static uint32_t begin_of(const struct nsr_score *s, uint32_t scope,
                         uint32_t in) {
  for (uint32_t i = in; i-- > 0;) {
    uint8_t kind = s->steps[i].kind;
    if ((kind == NSR_STEP_LOOP || kind == NSR_STEP_ARM) &&
        s->steps[i].work == scope)
      return i;
  }
  return NSR_NONE;
}

static enum nsr_status find_around(struct starts *x) {
  const struct nsr_step *steps = x->s->steps;
  uint32_t here = NSR_NONE;
  NSR_NEW(x->ctx, NSR_SCRATCH, x->around, x->s->nsteps);
  for (uint32_t i = 0; i < x->s->nsteps; i++) {
    uint8_t kind = steps[i].kind;
    if (kind == NSR_STEP_END)
      here = x->around[steps[i].end];
    x->around[i] = here;
    if (kind == NSR_STEP_OTHER)
      x->around[i] = x->around[steps[i].end];
    if (kind == NSR_STEP_LOOP || kind == NSR_STEP_ARM || kind == NSR_STEP_OTHER)
      here = i;
  }
  return NSR_OK;
}

static enum nsr_status prepare(struct starts *x) {
  const struct nsr_score *s = x->s;
  uint32_t loops = 0;
  x->nrows = NSR_MAX_ENGINES;
  NSR_NEW(x->ctx, NSR_SCRATCH, x->body, x->npairs);
  NSR_NEW(x->ctx, NSR_SCRATCH, x->loop, x->npairs);
  NSR_NEW(x->ctx, NSR_SCRATCH, x->here, x->npairs);
  NSR_NEW(x->ctx, NSR_SCRATCH, x->ages, s->nmembers);
  NSR_NEW(x->ctx, NSR_SCRATCH, x->rec_at, s->nmembers);
  NSR_NEW(x->ctx, NSR_SCRATCH, x->loop_of, s->nsteps);
  NSR_TRY(find_around(x));
  for (size_t i = 0; i < x->npairs; i++) {
    struct nsr_start_pair *p = &x->pairs[i];
    p->ordered = false;
    x->body[i] = begin_of(s, s->tree->scopes[p->loop].body, p->q);
    x->loop[i] = begin_of(s, p->loop, p->q);
  }
  for (uint32_t i = 0; i < s->nsteps; i++)
    if (s->steps[i].kind == NSR_STEP_LOOP)
      x->loop_of[i] = loops++;
  NSR_NEW(x->ctx, NSR_SCRATCH, x->loops, loops);
  for (size_t k = 0; k < x->t->covers.n; k++) {
    const struct nsr_cover *c = &x->t->covers.v[k];
    if (x->ages[c->member] <= c->age)
      x->ages[c->member] = c->age + 1;
  }
  return NSR_OK;
}

enum nsr_status nsr_starts_check(struct nsr_ctx *ctx, const struct nsr_score *s,
                                 const struct nsr_thresholds *t,
                                 const bool *sure,
                                 const struct nsr_snapshot *waits,
                                 struct nsr_start_pair *pairs, size_t n) {
  struct starts x = {.ctx = ctx,
                     .s = s,
                     .t = t,
                     .sure = sure,
                     .waits = waits,
                     .pairs = pairs,
                     .npairs = n};
  if (n == 0)
    return NSR_OK;
  struct nsr_mark mark = nsr_scratch_mark(ctx);
  NSR_TRY(prepare(&x));
  struct nsr_walker w = {.user = &x,
                         .item = begin_item,
                         .again = again,
                         .step = take_step,
                         .enter_loop = enter_loop,
                         .end_way = end_way,
                         .leave_loop = leave_loop,
                         .enter_arm = enter_arm,
                         .leave_arm = leave_arm,
                         .other_way = other_way};
  NSR_TRY(nsr_score_walk(s, &w));
  nsr_scratch_release(ctx, mark);
  return NSR_OK;
}
