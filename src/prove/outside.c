/* outside.c - what a wait adds to what the input held up.
 *
 * A walk of the score keeps of each semaphore how much it gained at most since
 * the last barrier of the input, taken out or not. A wait for older members is
 * for what that barrier had drained. The same holds for inserted ones right
 * behind it, up to what their engine does next.
 */
#include "prove/outside.h"

#include <string.h>

#include "prove/walk_score.h"

#define MANY (INT64_C(1) << 60)

/* Of a loop, by group each. */
struct gains {
  int64_t *head, *back, *exit;
  bool any_head, any_back, any_exit;
};

struct check {
  struct nsr_ctx *ctx;
  const struct nsr_score *s;
  const struct nsr_thresholds *t;
  const uint32_t *before;
  int64_t *since;         /* by group; and by engine: 0: idle so far */
  struct gains **loops;   /* by step */
  NSR_VEC(int64_t) saved; /* in front of arms */
  int64_t *at_item;
  uint32_t found, found_at_item; /* the first wait that adds something */
};

/* Others that are only told, or only waited for, may still depend on this
 * kernel in ways that it does not show (they may look at DRAM, or at each
 * other): the judges of runs do not take such a wait for harmless either. */
static bool takes_part(const struct nsr_program *p) {
  bool outside = false;
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    for (uint32_t i = 0; p->stream[e] && i < p->stream[e]->n; i++) {
      const struct nsr_node *n = &p->nodes[e][i];
      outside |= n->foreign_wait || n->foreign_update ||
                 (n->marked && !n->unknown) /* a core barrier */;
    }
  return outside;
}

static uint32_t nvalues(const struct check *c) {
  return c->s->ngroups + NSR_MAX_ENGINES;
}

static size_t bytes(const struct check *c) {
  return nvalues(c) * sizeof *c->since;
}

/* a is what may have been gained on either way; widen: what grows goes on
 * growing. */
static bool join(const struct check *c, int64_t *a, const int64_t *b,
                 bool widen) {
  bool changed = false;
  for (uint32_t g = 0; g < nvalues(c); g++)
    if (b[g] > a[g]) {
      a[g] = widen ? MANY : b[g];
      changed = true;
    }
  return changed;
}

static enum nsr_status enter_loop(void *user, uint32_t loop, bool *changed) {
  struct check *c = user;
  struct gains *l = c->loops[loop];
  if (!l) {
    NSR_NEW(c->ctx, NSR_SCRATCH, l, 1);
    NSR_NEW(c->ctx, NSR_SCRATCH, l->head, nvalues(c));
    NSR_NEW(c->ctx, NSR_SCRATCH, l->back, nvalues(c));
    NSR_NEW(c->ctx, NSR_SCRATCH, l->exit, nvalues(c));
    c->loops[loop] = l;
  }
  *changed = join(c, l->head, c->since, l->any_head) || !l->any_head;
  l->any_head = true;
  l->any_back = l->any_exit = false;
  memcpy(c->since, l->head, bytes(c));
  return NSR_OK;
}

static enum nsr_status end_way(void *user, uint32_t loop, bool back) {
  struct check *c = user;
  struct gains *l = c->loops[loop];
  int64_t *to = back ? l->back : l->exit;
  bool *any = back ? &l->any_back : &l->any_exit;
  if (*any)
    join(c, to, c->since, false);
  else
    memcpy(to, c->since, bytes(c));
  *any = true;
  return NSR_OK;
}

static enum nsr_status leave_loop(void *user, uint32_t loop, bool *changed) {
  struct check *c = user;
  struct gains *l = c->loops[loop];
  if (l->any_back)
    *changed = join(c, l->head, l->back, true);
  memcpy(c->since, l->any_exit ? l->exit : l->head, bytes(c));
  return NSR_OK;
}

static enum nsr_status enter_arm(void *user, uint32_t arm) {
  struct check *c = user;
  (void)arm;
  NSR_RESERVE(c->ctx, NSR_SCRATCH, &c->saved, nvalues(c));
  memcpy(c->saved.v + c->saved.n, c->since, bytes(c));
  c->saved.n += nvalues(c);
  return NSR_OK;
}

static enum nsr_status leave_arm(void *user, uint32_t arm, bool joins) {
  struct check *c = user;
  (void)arm;
  c->saved.n -= nvalues(c);
  if (joins)
    join(c, c->since, c->saved.v + c->saved.n, false);
  else
    memcpy(c->since, c->saved.v + c->saved.n, bytes(c));
  return NSR_OK;
}

static enum nsr_status other_way(void *user, uint32_t arm) {
  struct check *c = user;
  int64_t *before = c->saved.v + c->saved.n - c->s->ngroups;
  (void)arm;
  for (uint32_t g = 0; g < c->s->ngroups; g++) {
    int64_t now = c->since[g];
    c->since[g] = before[g];
    before[g] = now;
  }
  return NSR_OK;
}

static enum nsr_status begin_item(void *user, uint32_t first, uint32_t end) {
  struct check *c = user;
  (void)first;
  (void)end;
  memcpy(c->at_item, c->since, bytes(c));
  c->found_at_item = c->found;
  return NSR_OK;
}

static enum nsr_status again(void *user) {
  struct check *c = user;
  memcpy(c->since, c->at_item, bytes(c));
  c->found = c->found_at_item;
  return NSR_OK;
}

/* Whether what a wait is for is what the input's wait at its work names. The
 * work is the next one of its engine. */
static bool names_same(const struct check *c, uint32_t i,
                       const struct nsr_wait_found *w) {
  const struct nsr_step *wait = &c->s->steps[i];
  while (i < c->s->nsteps && (c->s->steps[i].kind != NSR_STEP_WORK ||
                              c->s->steps[i].engine != wait->engine ||
                              c->s->steps[i].work == NSR_NONE))
    if (c->s->steps[i].kind >= NSR_STEP_LOOP)
      return false;
    else
      i++;
  if (i == c->s->nsteps || w->n == 0)
    return false;
  const struct nsr_cover *cover = &c->t->covers.v[w->first];
  uint32_t p = c->s->steps[c->s->members[cover->member]].work;
  return p != NSR_NONE && p == c->before[c->s->steps[i].work];
}

/* Whether a wait is for what the last barrier of the input had drained. */
static bool is_old(const struct check *c, uint32_t i) {
  const struct nsr_step *s = &c->s->steps[i];
  const struct nsr_wait_found *w = &c->t->waits[c->t->wait_of[i]];
  bool known = w->kind == NSR_WAIT_LAG || w->kind == NSR_WAIT_CHOICE;
  return w->kind == NSR_WAIT_NEVER || (known && w->least >= c->since[s->group]);
}

static void take_wait(struct check *c, uint32_t i) {
  if (is_old(c, i))
    return;
  c->since[c->s->ngroups + c->s->steps[i].engine] = 1;
  if (c->found == NSR_NONE && !names_same(c, i, &c->t->waits[c->t->wait_of[i]]))
    c->found = i;
}

static void take_work(const struct check *c, const struct nsr_step *s) {
  int64_t *busy = &c->since[c->s->ngroups + s->engine];
  if (s->work != NSR_NONE)
    *busy = 1;
  if (s->group != NSR_NONE && *busy && c->since[s->group] < MANY)
    c->since[s->group] += s->value;
}

static enum nsr_status take_step(void *user, uint32_t i) {
  struct check *c = user;
  const struct nsr_step *s = &c->s->steps[i];
  if (s->kind == NSR_STEP_BARRIER || s->kind == NSR_STEP_GONE)
    memset(c->since, 0, bytes(c));
  else if (s->kind == NSR_STEP_WORK)
    take_work(c, s);
  else if (s->kind == NSR_STEP_WAIT)
    take_wait(c, i);
  else if (s->kind == NSR_STEP_KEPT)
    c->since[c->s->ngroups + s->engine] = 1;
  return NSR_OK;
}

enum nsr_status nsr_outside_check(struct nsr_ctx *ctx,
                                  const struct nsr_score *s,
                                  const struct nsr_thresholds *t,
                                  const uint32_t *before,
                                  struct nsr_proof *proof) {
  struct check c = {
      .ctx = ctx, .s = s, .t = t, .before = before, .found = NSR_NONE};
  struct nsr_walker w = {.user = &c,
                         .item = begin_item,
                         .again = again,
                         .step = take_step,
                         .enter_loop = enter_loop,
                         .end_way = end_way,
                         .leave_loop = leave_loop,
                         .enter_arm = enter_arm,
                         .leave_arm = leave_arm,
                         .other_way = other_way};
  if (!takes_part(s->tree->program))
    return NSR_OK;
  NSR_NEW(ctx, NSR_SCRATCH, c.since, nvalues(&c));
  NSR_NEW(ctx, NSR_SCRATCH, c.at_item, nvalues(&c));
  NSR_NEW(ctx, NSR_SCRATCH, c.loops, s->nsteps);
  NSR_TRY(nsr_score_walk(s, &w));
  if (c.found == NSR_NONE)
    return NSR_OK;
  const struct nsr_step *wait = &s->steps[c.found];
  const char *at = nsr_proof_place(ctx, s->program, wait->engine, wait->insn);
  return at ? nsr_proof_object(ctx, proof, NSR_PROOF_UNDECIDED, NSR_RULE_LIVE,
                               "others wait for this kernel, too: what the "
                               "wait at %s holds up may be what they wait for",
                               at)
            : NSR_E_NOMEM;
}
