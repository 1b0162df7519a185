/* explicit.c - counts semaphores since the last barrier, along the tree.
 * A private scope adds an unknown amount: it closes the counts that it
 * updates, except for its own arms while they run.
 *
 * Two facts per semaphore meet at a wait: what the code before it in this
 * region has added (the state of a walk), and who adds to it later in the
 * same region (sets of "followers", found backwards). Where ways meet, a count
 * stays known if it is made of the same updates on each.
 */
#include "dep/explicit.h"

#include <string.h>

#include "base/pieces.h"
#include "base/vec.h"
#include "base/work.h"

/* Who updates a semaphore: a channel, or one of these. */
enum { NOBODY = -1, SEVERAL = -2 };

/* One update since the last barrier, of a work. Steps are linked to those in
 * front of them, so that counts are copied where ways part. */
struct step {
  int32_t total; /* the semaphore's value once it has fired */
  uint32_t n;    /* steps up to here */
  uint32_t prev; /* the step in front of it, NSR_NONE: none */
  uint32_t skip; /* one further back: of those, few lead to any */
};

/* A semaphore since the last barrier. */
struct count {
  bool known;
  int8_t channel;  /* of its steps, NOBODY: none yet */
  uint32_t closer; /* the private scope behind whose start steps are not
                      known, NSR_NONE: none */
  uint32_t last;   /* its latest step, NSR_NONE: none */
};

struct map {
  struct nsr_ctx *ctx;
  const struct nsr_tree *t;
  struct nsr_islands *islands;
  bool lenient;
  uint32_t nsems;           /* that are counted or waited for */
  uint32_t *sem;            /* by semaphore: its number among them */
  struct nsr_pieces copies; /* counts of all of them */
  struct count *counts;
  struct step *steps;      /* by work */
  NSR_VEC(uint32_t) parts; /* of a scope */
  int8_t *head;  /* by scope and semaphore: updates before a barrier, from
                    the scope's entry */
  int8_t *tail;  /* loops: the same after the last barrier, where ways end */
  int8_t *back;  /* loops: .. where they go on */
  int8_t *after; /* by part: updates before a barrier, behind the part */
  uint32_t *target;
  struct count *exit; /* where the innermost loop is left, so far */
  bool exits;         /* .. anywhere */
};

static bool positive(const struct nsr_update *u) {
  return u->op == NSR_UPD_INC || (u->op == NSR_UPD_ADD && u->value > 0);
}

/* Whether it changes a count; others' semaphores are not counted. */
static bool counts(const struct nsr_node *n) {
  return n->update.op != NSR_UPD_NONE && !n->foreign_update;
}

/* ---- sets of who updates */

/* Sets have room for whole words of so many semaphores. */
enum { WORD = sizeof(uint64_t) };

static void join(int8_t *set, const int8_t *more, uint32_t n) {
  for (uint32_t w = 0; w < n; w += WORD) {
    uint64_t x, y;
    memcpy(&x, set + w, sizeof x);
    memcpy(&y, more + w, sizeof y);
    for (uint32_t s = w; x != y && y != UINT64_MAX && s < w + WORD; s++)
      if (more[s] != NOBODY && more[s] != set[s])
        set[s] = set[s] == NOBODY ? more[s] : SEVERAL;
  }
}

static void clear(int8_t *set, uint32_t n) { memset(set, NOBODY, n); }

static void join_private(const struct map *m, int8_t *set, uint32_t scope);

static void join_segment(const struct map *m, int8_t *set,
                         const struct nsr_part *part) {
  nsr_work_count(m->ctx, NSR_WORK_DEP, part->n);
  for (uint32_t w = part->first; w < part->first + part->n; w++) {
    if (m->t->works[w].nested != NSR_NONE) {
      if (nsr_common_first(m->t, w))
        join_private(m, set, m->t->works[w].nested);
      continue;
    }
    const struct nsr_node *n = nsr_work_node(m->t, &m->t->works[w]);
    if (!counts(n))
      continue;
    int8_t *s = &set[m->sem[n->update.sem]];
    int8_t by = positive(&n->update) ? n->channel : SEVERAL;
    if (*s != by)
      *s = *s == NOBODY ? by : SEVERAL;
  }
}

/* All updates of a private scope. */
static void join_private(const struct map *m, int8_t *set, uint32_t scope) {
  for (uint32_t p = m->t->scopes[scope].first_part; p != NSR_NONE;
       p = m->t->parts[p].next)
    join_segment(m, set, &m->t->parts[p]);
}

/* Walks a body backwards from what follows it (in set), noting at each part
 * what follows that; set is then what comes before a barrier from its start.
 */
static enum nsr_status follow(struct map *m, uint32_t scope, int8_t *set,
                              int8_t *after) {
  m->parts.n = 0;
  for (uint32_t p = m->t->scopes[scope].first_part; p != NSR_NONE;
       p = m->t->parts[p].next)
    NSR_PUSH(m->ctx, NSR_SCRATCH, &m->parts, p);
  for (size_t i = m->parts.n; i-- > 0;) {
    const struct nsr_part *part = &m->t->parts[m->parts.v[i]];
    if (after)
      memcpy(after + (size_t)m->parts.v[i] * m->nsems, set, m->nsems);
    if (part->kind == NSR_PART_BARRIER)
      clear(set, m->nsems);
    else if (part->kind == NSR_PART_SEGMENT)
      join_segment(m, set, part);
    else
      join(set, m->head + (size_t)part->first * m->nsems, m->nsems);
  }
  return NSR_OK;
}

/* What was updated since the last barrier where ways through a loop end. */
struct ends {
  int8_t *tail; /* all of them */
  int8_t *back; /* those that go on */
};

static void end_set(const struct map *m, const struct ends *e,
                    const int8_t *set, uint8_t ends) {
  join(e->tail, set, m->nsems);
  if (ends & NSR_ENDS_BACK)
    join(e->back, set, m->nsems);
}

static enum nsr_status gather(struct map *m, uint32_t scope, int8_t *set,
                              const struct ends *e);

/* An arm, which starts with set and is joined, or ends ways. */
static enum nsr_status gather_arm(struct map *m, uint32_t scope, int8_t *set,
                                  const struct ends *e) {
  const struct nsr_common *arm = &m->t->scopes[scope];
  int8_t *inner;
  NSR_NEW(m->ctx, NSR_SCRATCH, inner, m->nsems);
  memcpy(inner, set, m->nsems);
  NSR_TRY(gather(m, scope, inner, e));
  if (!arm->to_end)
    join(set, inner, m->nsems);
  else if (arm->skip)
    end_set(m, e, set, arm->skip);
  return NSR_OK;
}

/* Follows the ways through a body of the innermost loop, from set on. */
static enum nsr_status gather(struct map *m, uint32_t scope, int8_t *set,
                              const struct ends *e) {
  const struct nsr_common *s = &m->t->scopes[scope];
  bool ended = false;
  for (uint32_t p = s->first_part; p != NSR_NONE; p = m->t->parts[p].next) {
    const struct nsr_part *part = &m->t->parts[p];
    if (part->kind == NSR_PART_SEGMENT && part->n == 0)
      continue; /* the last one of a body */
    ended = false;
    if (part->kind == NSR_PART_BARRIER) {
      clear(set, m->nsems);
    } else if (part->kind == NSR_PART_SEGMENT) {
      join_segment(m, set, part);
    } else if (m->t->scopes[part->first].kind == NSR_SCOPE_LOOP) {
      join(set, m->tail + (size_t)part->first * m->nsems, m->nsems);
    } else {
      ended = m->t->scopes[part->first].to_end;
      NSR_TRY(gather_arm(m, part->first, set, e));
    }
  }
  if (!ended && (s->kind == NSR_SCOPE_LOOP || s->to_end))
    end_set(m, e, set, s->ends);
  return NSR_OK;
}

/* By scope: its part in the body around it, or the segment it stands in. */
static enum nsr_status find_parts(struct map *m, uint32_t **out) {
  const struct nsr_tree *t = m->t;
  NSR_NEW(m->ctx, NSR_SCRATCH, *out, t->nscopes);
  for (uint32_t p = 0; p < t->nparts; p++) {
    const struct nsr_part *part = &t->parts[p];
    if (part->kind == NSR_PART_SCOPE)
      (*out)[part->first] = p;
    for (uint32_t w = part->first;
         part->kind == NSR_PART_SEGMENT && w < part->first + part->n; w++)
      if (t->works[w].nested != NSR_NONE)
        (*out)[t->works[w].nested] = p;
  }
  return NSR_OK;
}

/* Adds what a segment updates; each is gone through once, however many scopes
 * stand in it. own: by part, NULL: not yet. */
static enum nsr_status join_part(const struct map *m, int8_t *set,
                                 uint32_t part, int8_t **own) {
  if (!own[part]) {
    NSR_NEW(m->ctx, NSR_SCRATCH, own[part], m->nsems);
    clear(own[part], m->nsems);
    join_segment(m, own[part], &m->t->parts[part]);
  }
  join(set, own[part], m->nsems);
  return NSR_OK;
}

/* head and tail from inner scopes to outer ones, after from outer to inner. */
static enum nsr_status find_followers(struct map *m) {
  const struct nsr_tree *t = m->t;
  size_t n = m->nsems;
  int8_t *set;
  NSR_NEW(m->ctx, NSR_SCRATCH, set, n);
  NSR_NEW(m->ctx, NSR_SCRATCH, m->head, t->nscopes * n);
  NSR_NEW(m->ctx, NSR_SCRATCH, m->tail, t->nscopes * n);
  NSR_NEW(m->ctx, NSR_SCRATCH, m->back, t->nscopes * n);
  NSR_NEW(m->ctx, NSR_SCRATCH, m->after, t->nparts * n);
  for (uint32_t s = t->nscopes; s-- > 0;) {
    clear(m->head + s * n, m->nsems);
    NSR_TRY(follow(m, s, m->head + s * n, NULL));
    struct ends ends = {m->tail + s * n, m->back + s * n};
    clear(ends.tail, m->nsems);
    clear(ends.back, m->nsems);
    clear(set, m->nsems);
    if (t->scopes[s].kind == NSR_SCOPE_LOOP)
      NSR_TRY(gather(m, s, set, &ends));
  }
  uint32_t *part_of;
  int8_t **own;
  NSR_NEW(m->ctx, NSR_SCRATCH, own, t->nparts);
  NSR_TRY(find_parts(m, &part_of));
  for (uint32_t s = 0; s < t->nscopes; s++) {
    clear(set, m->nsems);
    if (s > 0)
      join(set, m->after + part_of[s] * n, m->nsems);
    if (s > 0 && t->parts[part_of[s]].kind == NSR_PART_SEGMENT)
      NSR_TRY(join_part(m, set, part_of[s], own));
    if (t->scopes[s].kind == NSR_SCOPE_LOOP)
      join(set, m->head + s * n, m->nsems);
    NSR_TRY(follow(m, s, set, m->after));
  }
  return NSR_OK;
}

/* ---- counting */

static int32_t total(const struct map *m, const struct count *c) {
  return c->last == NSR_NONE ? 0 : m->steps[c->last].total;
}

static uint32_t length(const struct map *m, uint32_t step) {
  return step == NSR_NONE ? 0 : m->steps[step].n;
}

static uint32_t skip(const struct map *m, uint32_t step) {
  return step == NSR_NONE ? NSR_NONE : m->steps[step].skip;
}

/* Takes a count one step further, with an update of work w. Skips double in
 * length, as digits do when one counts. */
static void push_step(struct map *m, struct count *c, uint32_t w, int32_t by) {
  uint32_t prev = c->last, far = skip(m, prev), further = skip(m, far);
  bool longer =
      length(m, prev) - length(m, far) == length(m, far) - length(m, further);
  m->steps[w] = (struct step){.total = total(m, c) + by,
                              .n = length(m, prev) + 1,
                              .prev = prev,
                              .skip = longer ? further : prev};
  c->last = w;
}

/* The step that takes a count to v, which it gets to: steps are in ascending
 * order. */
static uint32_t find_step(const struct map *m, const struct count *c,
                          int64_t v) {
  uint32_t at = c->last;
  for (;;) {
    const struct step *s = &m->steps[at];
    if (s->skip != NSR_NONE && m->steps[s->skip].total >= v)
      at = s->skip;
    else if (s->prev != NSR_NONE && m->steps[s->prev].total >= v)
      at = s->prev;
    else
      return at;
  }
}

static enum nsr_status copy_counts(struct map *m, struct count **out) {
  NSR_TAKE(&m->copies, *out);
  memcpy(*out, m->counts, m->nsems * sizeof **out);
  return NSR_OK;
}

static void restart(struct map *m) {
  for (uint32_t s = 0; s < m->nsems; s++)
    m->counts[s] = (struct count){
        .known = true, .channel = NOBODY, .closer = NSR_NONE, .last = NSR_NONE};
}

/* A count that may differ between the ways to here. */
static void forget(struct count *c) {
  *c = (struct count){.channel = SEVERAL, .closer = NSR_NONE, .last = NSR_NONE};
}

/* Counts the update of a work in private scope `in`, NSR_NONE: in none. */
static void add_update(struct map *m, uint32_t w, uint32_t in) {
  const struct nsr_node *n = nsr_work_node(m->t, &m->t->works[w]);
  if (!counts(n))
    return;
  struct count *c = &m->counts[m->sem[n->update.sem]];
  if (!positive(&n->update) ||
      (c->channel != NOBODY && c->channel != n->channel) ||
      total(m, c) > INT32_MAX - n->update.value)
    forget(c);
  if (!c->known || c->closer != in)
    return;
  c->channel = n->channel;
  push_step(m, c, w, n->update.value);
}

static enum nsr_status cannot_read(struct map *m, uint32_t w, uint32_t part,
                                   const char *why) {
  const struct nsr_work *x = &m->t->works[w];
  const char *what = nsr_printf(m->ctx, NSR_KEEP, "the wait on semaphore %u",
                                nsr_work_node(m->t, x)->wait.sem);
  if (!what)
    return NSR_E_NOMEM;
  return nsr_islands_add(m->ctx, m->islands, part,
                         (struct nsr_trouble){x->engine, x->insn, what, why});
}

static enum nsr_status unsatisfied(struct map *m, uint32_t w, uint32_t part,
                                   int64_t v, int8_t later) {
  const struct nsr_node *n = nsr_work_node(m->t, &m->t->works[w]);
  const struct count *c = &m->counts[m->sem[n->wait.sem]];
  if (later != NOBODY || c->closer != NSR_NONE)
    return cannot_read(m, w, part,
                       "is satisfied in or behind a loop or conditional, or in "
                       "another iteration");
  if (m->lenient)
    return NSR_OK;
  return nsr_fail(m->ctx, NSR_E_HANG, nsr_work_place(m->t, &m->t->works[w]),
                  "this wait can never hold, the input hangs here: semaphore "
                  "%u reaches %d since the last barrier, %lld is waited for",
                  n->wait.sem, (int)total(m, c), (long long)v);
}

/* Finds the step that takes the count to where the wait is over. */
static enum nsr_status map_wait(struct map *m, uint32_t w, uint32_t part) {
  const struct nsr_wait *x = &nsr_work_node(m->t, &m->t->works[w])->wait;
  m->target[w] = NSR_NONE;
  if (x->cmp == NSR_CMP_NONE || nsr_island_at(m->islands, part) ||
      nsr_work_node(m->t, &m->t->works[w])->foreign_wait)
    return NSR_OK;
  if (x->value.is_reg)
    return cannot_read(m, w, part, "has its threshold in a register");
  if (x->cmp != NSR_CMP_GE && x->cmp != NSR_CMP_GT)
    return cannot_read(m, w, part, "does not compare with >= or >");
  int64_t v = (int64_t)x->value.v + (x->cmp == NSR_CMP_GT);
  const struct count *c = &m->counts[m->sem[x->sem]];
  int8_t later = m->after[(size_t)part * m->nsems + m->sem[x->sem]];
  if (v <= 0 && c->known && later != SEVERAL)
    return NSR_OK;
  if (!c->known)
    return cannot_read(m, w, part,
                       "counts since the last barrier what differs between the "
                       "ways to here, or what several channels update");
  if (v > total(m, c))
    return unsatisfied(m, w, part, v, later);
  if (later != NOBODY && later != c->channel)
    return cannot_read(m, w, part, "counts what several channels update");
  m->target[w] = find_step(m, c, v);
  return NSR_OK;
}

/* Closes the counts that a private scope updates on an engine, as far as its
 * code may go on with those that are not closed, or (from) closed by the scope
 * around it. */
static void close_counts(struct map *m, uint32_t scope, uint32_t in,
                         uint32_t from, int engine) {
  for (uint32_t p = m->t->scopes[scope].first_part; p != NSR_NONE;
       p = m->t->parts[p].next) {
    const struct nsr_part *part = &m->t->parts[p];
    for (uint32_t w = part->first; w < part->first + part->n; w++) {
      const struct nsr_work *x = &m->t->works[w];
      if (x->engine != engine)
        continue;
      if (x->nested != NSR_NONE) {
        close_counts(m, x->nested, in, from, engine);
        continue;
      }
      const struct nsr_node *n = nsr_work_node(m->t, x);
      if (!counts(n))
        continue;
      struct count *c = &m->counts[m->sem[n->update.sem]];
      if (!positive(&n->update) ||
          (c->channel != NOBODY && c->channel != n->channel))
        forget(c);
      c->channel = c->known ? n->channel : SEVERAL;
      if (c->closer == from)
        c->closer = in;
    }
  }
}

static enum nsr_status map_element(struct map *m, uint32_t scope, bool arms);

/* Maps the waits in a private scope. Its work continues the counts in front of
 * it if it runs at most once where they are made: it is an arm, and those
 * around it (arms) are. */
static enum nsr_status map_private(struct map *m, uint32_t scope, bool arms) {
  arms &= m->t->scopes[scope].kind == NSR_SCOPE_ARM;
  for (uint32_t p = m->t->scopes[scope].first_part; p != NSR_NONE;
       p = m->t->parts[p].next) {
    const struct nsr_part *part = &m->t->parts[p];
    for (uint32_t w = part->first; arms && w < part->first + part->n; w++) {
      const struct nsr_work *x = &m->t->works[w];
      if (x->nested != NSR_NONE)
        close_counts(m, x->nested, x->nested, scope, x->engine);
      else
        add_update(m, w, scope);
    }
    for (uint32_t w = part->first; w < part->first + part->n; w++) {
      uint32_t nested = m->t->works[w].nested;
      if (nested == NSR_NONE)
        NSR_TRY(map_wait(m, w, p));
      else if (nsr_common_first(m->t, w))
        NSR_TRY(map_element(m, nested, arms));
    }
  }
  return NSR_OK;
}

/* Maps the waits in a private scope, whose own steps are forgotten afterwards.
 */
static enum nsr_status map_element(struct map *m, uint32_t scope, bool arms) {
  struct count *before;
  NSR_TRY(copy_counts(m, &before));
  NSR_TRY(map_private(m, scope, arms));
  for (uint32_t s = 0; s < m->nsems; s++) {
    m->counts[s].last = before[s].last;
    m->counts[s].closer = before[s].closer;
  }
  nsr_piece_give(&m->copies, before);
  return NSR_OK;
}

static enum nsr_status map_segment(struct map *m, uint32_t p) {
  const struct nsr_part *part = &m->t->parts[p];
  for (uint32_t w = part->first; w < part->first + part->n; w++) {
    uint32_t nested = m->t->works[w].nested;
    if (nested == NSR_NONE)
      add_update(m, w, NSR_NONE);
    else
      close_counts(m, nested, nested, NSR_NONE, m->t->works[w].engine);
  }
  for (uint32_t w = part->first; w < part->first + part->n; w++) {
    uint32_t nested = m->t->works[w].nested;
    if (nested == NSR_NONE)
      NSR_TRY(map_wait(m, w, p));
    else if (nsr_common_first(m->t, w))
      NSR_TRY(map_element(m, nested, true));
  }
  return NSR_OK;
}

static enum nsr_status map_body(struct map *m, uint32_t scope);

/* ---- ways that part and meet */

/* Lists of steps with the same last one are the same. */
static bool same_count(const struct count *a, const struct count *b) {
  return a->known && b->known && a->closer == b->closer && a->last == b->last;
}

/* Leaves in a what is the same in b. */
static void meet_counts(const struct map *m, struct count *a,
                        const struct count *b) {
  for (uint32_t s = 0; s < m->nsems; s++)
    if (!same_count(&a[s], &b[s]))
      forget(&a[s]);
}

/* A way through the innermost loop ends here. */
static enum nsr_status end_way(struct map *m, uint8_t ends) {
  if (!(ends & NSR_ENDS_EXIT))
    return NSR_OK;
  if (m->exits)
    meet_counts(m, m->exit, m->counts);
  else
    NSR_TRY(copy_counts(m, &m->exit));
  m->exits = true;
  return NSR_OK;
}

/* Iterations start with what is counted in front of the loop, unless they
 * may start otherwise later. */
static enum nsr_status map_loop(struct map *m, uint32_t scope) {
  struct count *outer = m->exit;
  bool exits = m->exits;
  const int8_t *back = m->back + (size_t)scope * m->nsems;
  for (uint32_t s = 0; s < m->nsems; s++) {
    const struct count *c = &m->counts[s];
    if (!c->known || c->last != NSR_NONE || c->closer != NSR_NONE ||
        back[s] != NOBODY)
      forget(&m->counts[s]);
  }
  m->exits = false;
  NSR_TRY(map_body(m, scope));
  if (m->exits) {
    nsr_piece_give(&m->copies, m->counts);
    m->counts = m->exit;
  }
  m->exit = outer;
  m->exits = exits;
  return NSR_OK;
}

static enum nsr_status map_arm(struct map *m, uint32_t scope) {
  const struct nsr_common *s = &m->t->scopes[scope];
  struct count *before;
  NSR_TRY(copy_counts(m, &before));
  NSR_TRY(map_body(m, scope));
  if (!s->to_end) {
    meet_counts(m, m->counts, before);
    nsr_piece_give(&m->copies, before);
    return NSR_OK;
  }
  nsr_piece_give(&m->copies, m->counts);
  m->counts = before;
  return end_way(m, s->skip);
}

static enum nsr_status map_body(struct map *m, uint32_t scope) {
  const struct nsr_common *s = &m->t->scopes[scope];
  bool ended = false;
  for (uint32_t p = s->first_part; p != NSR_NONE; p = m->t->parts[p].next) {
    const struct nsr_part *part = &m->t->parts[p];
    if (part->kind == NSR_PART_SEGMENT && part->n == 0)
      continue; /* the last one of a body */
    ended = false;
    if (part->kind == NSR_PART_BARRIER) {
      restart(m);
    } else if (part->kind == NSR_PART_SEGMENT) {
      NSR_TRY(map_segment(m, p));
    } else if (m->t->scopes[part->first].kind == NSR_SCOPE_LOOP) {
      NSR_TRY(map_loop(m, part->first));
    } else if (m->t->scopes[part->first].kind == NSR_SCOPE_ISLAND) {
      for (uint32_t i = 0; i < m->nsems; i++)
        forget(&m->counts[i]);
    } else {
      ended = m->t->scopes[part->first].to_end;
      NSR_TRY(map_arm(m, part->first));
    }
  }
  bool last = s->kind == NSR_SCOPE_LOOP || s->to_end;
  return !ended && last ? end_way(m, s->ends) : NSR_OK;
}

/* Those that no work updates or waits for have no number. */
static enum nsr_status number_semaphores(struct map *m) {
  const struct nsr_tree *t = m->t;
  uint32_t n = t->program->k->isa->semaphores;
  bool *used;
  NSR_NEW(m->ctx, NSR_SCRATCH, used, n);
  NSR_NEW(m->ctx, NSR_SCRATCH, m->sem, n);
  for (uint32_t w = 0; w < t->nworks; w++) {
    if (t->works[w].nested != NSR_NONE)
      continue;
    const struct nsr_node *x = nsr_work_node(t, &t->works[w]);
    if (counts(x))
      used[x->update.sem] = true;
    if (x->wait.cmp != NSR_CMP_NONE)
      used[x->wait.sem] = true;
  }
  for (uint32_t s = 0; s < n; s++)
    if (used[s])
      m->sem[s] = m->nsems++;
  m->nsems = m->nsems ? (m->nsems + WORD - 1) / WORD * WORD : WORD;
  return NSR_OK;
}

enum nsr_status nsr_explicit_map(struct nsr_ctx *ctx, const struct nsr_tree *t,
                                 struct nsr_islands *islands, bool lenient,
                                 uint32_t **target) {
  struct nsr_mark mark = nsr_scratch_mark(ctx);
  struct map m = {.ctx = ctx, .t = t, .islands = islands, .lenient = lenient};
  NSR_TRY(number_semaphores(&m));
  m.copies = (struct nsr_pieces){
      .ctx = ctx, .arena = NSR_SCRATCH, .size = m.nsems * sizeof *m.counts};
  NSR_TAKE(&m.copies, m.counts);
  NSR_NEW(ctx, NSR_SCRATCH, m.steps, t->nworks);
  NSR_NEW(ctx, NSR_SCRATCH, m.target, t->nworks);
  for (uint32_t w = 0; w < t->nworks; w++)
    m.target[w] = NSR_NONE;
  NSR_TRY(find_followers(&m));
  restart(&m);
  NSR_TRY(map_body(&m, 0));
  struct nsr_kept kept[] = {
      {m.target, t->nworks * sizeof *m.target},
      {islands->troubles.v,
       islands->troubles.cap * sizeof *islands->troubles.v}};
  NSR_TRY(nsr_scratch_release_but(ctx, mark, kept, 2));
  *target = kept[0].p;
  islands->troubles.v = kept[1].p;
  return NSR_OK;
}
