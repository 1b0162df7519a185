/* splits.c - which updates and waits of a semaphore belong together.
 *
 * All that engines do between two barriers lies on one way through the score,
 * in whichever order it runs. So does what is counted together: walking on, a
 * set holds the updates and waits that some way to here has had since the last
 * barrier, and the next one joins them. Sets grow where ways meet. A semaphore
 * of which there is too much to look at is left as it is.
 */
#include "prove/splits.h"

#include <string.h>

enum {
  WORDS = 16,
  MOST_ITEMS = 64 * WORDS, /* of a semaphore */
  MAX_ROUNDS = 32,
  EFFORT = 1000 * 1000, /* steps, and so many times those that there are */
  TIMES = 64
};

struct items {
  uint64_t w[WORDS];
};

struct finder {
  struct nsr_score *s;
  const bool *mixed;
  uint32_t sem;               /* that is looked at */
  uint32_t n, at[MOST_ITEMS]; /* its steps */
  uint32_t same[MOST_ITEMS];  /* by item: itself, or one that it is with */
  uint32_t *item;             /* by step */
  uint32_t *number;           /* by step that begins a loop */
  uint32_t nloops;
  struct items *head, *exit; /* by number: as of its start, and behind it */
  bool changed;
  uint64_t effort; /* steps left */
};

/* Whether a takes in more than it had. */
static bool take_in(struct items *a, const struct items *b) {
  bool more = false;
  for (int i = 0; i < WORDS; i++) {
    more |= (b->w[i] & ~a->w[i]) != 0;
    a->w[i] |= b->w[i];
  }
  return more;
}

static uint32_t root(struct finder *f, uint32_t i) {
  while (f->same[i] != i)
    i = f->same[i] = f->same[f->same[i]];
  return i;
}

static void unite(struct finder *f, uint32_t a, uint32_t b) {
  a = root(f, a);
  b = root(f, b);
  f->same[a > b ? a : b] = a > b ? b : a;
}

static bool is_item(const struct finder *f, uint32_t i) {
  const struct nsr_step *s = &f->s->steps[i];
  return (s->kind == NSR_STEP_WORK || s->kind == NSR_STEP_WAIT) &&
         s->group == f->sem && f->mixed[i];
}

static void take_step(struct finder *f, uint32_t i, struct items *now) {
  if (f->s->steps[i].kind == NSR_STEP_BARRIER)
    *now = (struct items){{0}};
  if (!is_item(f, i))
    return;
  uint32_t x = f->item[i];
  for (uint32_t y = 0; y < f->n; y++)
    if (now->w[y / 64] >> y % 64 & 1)
      unite(f, x, y);
  now->w[x / 64] |= UINT64_C(1) << x % 64;
}

/* ---- ways */

static void walk(struct finder *f, uint32_t first, uint32_t end, uint32_t loop,
                 struct items *now);

/* A way through the innermost loop's body ends here. */
static void end_way(struct finder *f, uint32_t loop, uint8_t ends,
                    const struct items *now) {
  if (loop == NSR_NONE)
    return;
  if (ends & NSR_ENDS_BACK)
    f->changed |= take_in(&f->head[f->number[loop]], now);
  if (ends & NSR_ENDS_EXIT)
    take_in(&f->exit[f->number[loop]], now);
}

static void walk_loop(struct finder *f, uint32_t begin, struct items *now) {
  const struct nsr_step *s = &f->s->steps[begin];
  uint32_t n = f->number[begin];
  f->changed |= take_in(&f->head[n], now);
  struct items inside = f->head[n];
  walk(f, begin + 1, s->end, begin, &inside);
  end_way(f, begin, f->s->tree->scopes[s->work].ends, &inside);
  take_in(now, &f->exit[n]);
  take_in(now, &f->head[n]);
}

/* What stands behind an arm is taken to follow it, too, where its way ends:
 * nothing does. */
static void walk_arm(struct finder *f, uint32_t begin, uint32_t loop,
                     struct items *now) {
  const struct nsr_step *s = &f->s->steps[begin];
  const struct nsr_common *c = &f->s->tree->scopes[s->work];
  bool to_end = f->s->to_end[s->work];
  struct items inside = *now;
  walk(f, begin + 1, s->end, loop, &inside);
  if (to_end) {
    end_way(f, loop, c->ends, &inside);
    end_way(f, loop, c->skip, now);
  }
  take_in(now, &inside);
}

static void walk(struct finder *f, uint32_t first, uint32_t end, uint32_t loop,
                 struct items *now) {
  for (uint32_t i = first; i < end; i++) {
    const struct nsr_step *s = &f->s->steps[i];
    if (s->kind == NSR_STEP_LOOP)
      walk_loop(f, i, now);
    else if (s->kind == NSR_STEP_ARM)
      walk_arm(f, i, loop, now);
    else
      take_step(f, i, now);
    if (s->kind == NSR_STEP_LOOP || s->kind == NSR_STEP_ARM)
      i = s->end;
  }
}

/* ---- a semaphore */

/* Whether there are few enough. */
static bool list_items(struct finder *f) {
  f->n = 0;
  for (uint32_t i = 0; i < f->s->nsteps; i++) {
    if (!is_item(f, i))
      continue;
    if (f->n == MOST_ITEMS)
      return false;
    f->same[f->n] = f->n;
    f->at[f->n] = i;
    f->item[i] = f->n++;
  }
  return true;
}

/* Whether it came to an end. */
static bool join_items(struct finder *f) {
  memset(f->head, 0, f->nloops * sizeof *f->head);
  memset(f->exit, 0, f->nloops * sizeof *f->exit);
  f->changed = true;
  for (int round = 0; f->changed && round < MAX_ROUNDS; round++) {
    struct items now = {{0}};
    if (f->effort < f->s->nsteps)
      return false;
    f->effort -= f->s->nsteps;
    f->changed = false;
    walk(f, 0, f->s->nsteps, NSR_NONE, &now);
  }
  return !f->changed;
}

/* Those that are with the first one keep their semaphore. */
static bool name_items(struct finder *f, uint32_t *next) {
  uint32_t name[MOST_ITEMS];
  bool any = false;
  for (uint32_t x = 0; x < f->n; x++) {
    uint32_t r = root(f, x);
    if (r == x)
      name[x] = x == 0 ? f->sem : (*next)++;
    f->s->steps[f->at[x]].group = name[r];
    any |= name[r] != f->sem;
  }
  return any;
}

/* ---- all of them */

/* Whether a place in the score tells what lies between two barriers. */
static bool is_structured(const struct nsr_score *s) {
  const struct nsr_tree *t = s->tree;
  for (uint32_t x = 0; x < t->nscopes; x++)
    if (t->scopes[x].kind == NSR_SCOPE_ISLAND)
      return false;
  return true;
}

static enum nsr_status find_sems(struct nsr_ctx *ctx, const struct finder *f,
                                 bool **out) {
  NSR_NEW(ctx, NSR_SCRATCH, *out, f->s->program->k->isa->semaphores);
  for (uint32_t i = 0; i < f->s->nsteps; i++)
    if (f->mixed[i])
      (*out)[f->s->steps[i].group] = true;
  return NSR_OK;
}

enum nsr_status nsr_split_counts(struct nsr_ctx *ctx, struct nsr_score *s,
                                 const bool *mixed, bool *any) {
  uint32_t nsems = s->program->k->isa->semaphores, next = nsems;
  struct finder f = {.s = s, .mixed = mixed};
  bool *sems;
  *any = false;
  if (!is_structured(s))
    return NSR_OK;
  f.effort = EFFORT + TIMES * (uint64_t)s->nsteps;
  NSR_NEW(ctx, NSR_SCRATCH, f.item, s->nsteps);
  NSR_NEW(ctx, NSR_SCRATCH, f.number, s->nsteps);
  for (uint32_t i = 0; i < s->nsteps; i++)
    if (s->steps[i].kind == NSR_STEP_LOOP)
      f.number[i] = f.nloops++;
  NSR_NEW(ctx, NSR_SCRATCH, f.head, f.nloops);
  NSR_NEW(ctx, NSR_SCRATCH, f.exit, f.nloops);
  NSR_TRY(find_sems(ctx, &f, &sems));
  for (f.sem = 0; f.sem < nsems && next < UINT16_MAX - MOST_ITEMS; f.sem++)
    if (sems[f.sem] && list_items(&f) && join_items(&f))
      *any |= name_items(&f, &next);
  return NSR_OK;
}
