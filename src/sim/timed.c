/* timed.c - times a record.
 *
 * Needs a record and a machine's costs; makes times. Every engine goes through
 * its events; pipelines tell at issue when an instance will retire, transfers
 * of all queues share the bandwidth as they come. What happens at the same
 * time happens in this order: retirements, updates that become visible, ends
 * and begins of transfers, barriers, engines.
 */
#include "sim/timed.h"

#include <assert.h>

#define NEVER INT64_MAX

enum { SHARE_BITS = 10 }; /* of fractions of bandwidth */

enum state { GOING, WAITING, FULL, NEEDING, DRAINING, ARRIVED, HALTED };

struct engine {
  const struct nsr_record_event *event, *end;
  enum state state;
  bool arriving; /* the control in front of *event is not counted yet */
  int64_t at;    /* GOING: when it is at *event; else since when */
  int64_t cycle;
  int64_t control[NSR_CONTROL_KINDS]; /* costs */
  int64_t held;                       /* by waits since the last issue, .. */
  uint32_t held_at;                   /* .. at last by this instruction */
  uint8_t channel;                    /* FULL, NEEDING */
  uint64_t number;                    /* NEEDING */
};

/* An instance in flight, or just retired. */
struct slot {
  uint32_t variant;
  uint32_t number; /* of those that are not skipped, up to here */
  int64_t ready;   /* of a transfer: it is in the queue */
  int64_t retire;  /* known for pipelines, and behind the last byte */
};

struct lane {
  struct slot *ring;
  uint64_t mask, issued, moved, retired; /* so many in all */
  uint32_t depth, window, number;
  uint8_t engine;
  bool queue, moving;
  bool full;    /* order full: one begins when the one before it has retired */
  int64_t free; /* the unit, the mover; since when it moves */
  int64_t last; /* retirement of the youngest one for which it is known */
  int64_t next; /* of a queue: its mover begins or ends */
  int64_t left; /* of the work of the transfer that moves */
};

struct signal { /* an update on its way */
  int64_t at;
  const struct nsr_update *update;
};

struct run {
  struct nsr_ctx *ctx;
  const struct nsr_timed_options *o;
  const struct nsr_image *image;
  struct nsr_cost *cost; /* by variant */
  struct nsr_timed *t;
  int64_t now, shared; /* up to when transfers have moved */
  int64_t update, wait, start, barrier, release;
  uint32_t active; /* transfers that move */
  int64_t least;   /* share of one queue: 1 / this, with SHARE_BITS */
  uint32_t arrived, present;
  int32_t *sem;
  struct signal *signal; /* ring */
  uint64_t signal_mask, signals, seen;
  struct engine engine[NSR_MAX_ENGINES];
  struct lane lane[NSR_MAX_CHANNELS];
};

static const struct nsr_variant *variant_at(const struct run *r,
                                            const struct engine *e) {
  return &r->o->record->variants.v[e->event->variant];
}

static struct slot *slot_at(const struct lane *l, uint64_t i) {
  return &l->ring[i & l->mask];
}

/* ---- accounts */

static uint32_t insn_at(const struct run *r, const struct engine *e) {
  bool plain =
      e->event->kind == NSR_RECORD_BARRIER || e->event->kind == NSR_RECORD_HALT;
  return plain ? e->event->variant : variant_at(r, e)->insn;
}

static void book(struct run *r, int e, int64_t *account, int64_t time) {
  *account += time;
  r->t->engine[e].blocked[insn_at(r, &r->engine[e])] += time;
}

/* The engine goes on: from what blocked it, at a time. */
static void go_on(struct run *r, int e, int64_t at) {
  struct engine *g = &r->engine[e];
  struct nsr_timed_engine *t = &r->t->engine[e];
  int64_t *account = g->state == FULL                             ? &t->full
                     : g->state == WAITING || g->state == NEEDING ? &t->waiting
                                                                  : &t->barrier;
  book(r, e, account, at - g->at);
  if (account != &t->full) {
    g->held += at - g->at;
    g->held_at = insn_at(r, g);
  }
  g->state = GOING;
  g->at = at;
}

static void block(struct engine *g, enum state state, int64_t at) {
  g->state = state;
  g->at = at;
}

/* ---- transfers */

/* The transfer that moves takes so many times its work: what is shared by
 * all, but no more than a queue can do. */
static int64_t divisor(const struct run *r) {
  int64_t all = (int64_t)r->active << SHARE_BITS;
  return all > r->least ? all : r->least;
}

static int64_t stretched(const struct run *r, int64_t work) {
  int64_t d = divisor(r), one = INT64_C(1) << SHARE_BITS;
  if (work > NSR_TOO_LATE / d)
    return NSR_TOO_LATE;
  return (work * d + one - 1) / one;
}

/* Lets all that moves do so up to now. */
static void share(struct run *r) {
  int64_t done =
      r->active ? ((r->now - r->shared) << SHARE_BITS) / divisor(r) : 0;
  r->shared = r->now;
  for (int c = 0; done && c < r->image->nchannels; c++)
    if (r->lane[c].moving)
      r->lane[c].left -= done < r->lane[c].left ? done : r->lane[c].left;
}

static void reshare(struct run *r) {
  for (int c = 0; c < r->image->nchannels; c++)
    if (r->lane[c].moving)
      r->lane[c].next = r->now + stretched(r, r->lane[c].left);
}

/* When the next transfer of a queue begins to move. */
static void plan_move(struct run *r, struct lane *l) {
  l->next = NEVER;
  if (l->moving || l->moved == l->issued)
    return;
  int64_t from = slot_at(l, l->moved)->ready;
  if (l->moved >= l->window) {
    int64_t room = slot_at(l, l->moved - l->window)->retire;
    from = room > from ? room : from;
  }
  from += r->start;
  l->next = from > l->free ? from : l->free;
}

static void end_move(struct run *r, int c) {
  struct lane *l = &r->lane[c];
  struct slot *s = slot_at(l, l->moved++);
  int64_t retire = r->now + r->cost[s->variant].latency;
  s->retire = l->last = retire > l->last ? retire : l->last;
  r->t->channel[c].moving += r->now - l->free;
  l->free = r->now;
  plan_move(r, l);
}

static void move(struct run *r, int c) {
  struct lane *l = &r->lane[c];
  if (l->moving) {
    share(r);
    l->moving = false;
    r->active--;
    end_move(r, c);
    reshare(r);
    return;
  }
  const struct slot *s = slot_at(l, l->moved);
  l->free = r->now;
  l->left = r->cost[s->variant].work;
  r->t->channel[c].bytes += r->o->record->variants.v[s->variant].bytes;
  if (!l->left) {
    end_move(r, c);
    return;
  }
  share(r);
  l->moving = true;
  r->active++;
  reshare(r);
}

/* ---- retirement and updates */

static enum nsr_status signal_room(struct run *r) {
  if (r->signals - r->seen <= r->signal_mask)
    return NSR_OK;
  struct signal *old = r->signal;
  uint64_t mask = r->signal_mask;
  NSR_NEW(r->ctx, NSR_SCRATCH, r->signal, (mask + 1) * 2);
  r->signal_mask = mask * 2 + 1;
  for (uint64_t i = r->seen; i < r->signals; i++)
    r->signal[i & r->signal_mask] = old[i & mask];
  return NSR_OK;
}

static void see_update(struct run *r) {
  const struct nsr_update *u = r->signal[r->seen++ & r->signal_mask].update;
  r->sem[u->sem] = (int32_t)nsr_update_value(u, r->sem[u->sem]);
  for (int e = 0; e < r->image->nengines; e++) {
    const struct engine *g = &r->engine[e];
    if (g->state != WAITING)
      continue;
    const struct nsr_wait *w = &variant_at(r, g)->step->wait;
    if (w->sem == u->sem &&
        nsr_wait_holds(w->cmp, r->sem[w->sem], g->event->threshold))
      go_on(r, e, r->now + r->wait);
  }
}

static bool drained(const struct run *r, int e) {
  for (int c = 0; c < r->image->nchannels; c++)
    if (r->lane[c].engine == e && r->lane[c].issued != r->lane[c].retired)
      return false;
  return true;
}

static void arrive(struct run *r, int e) {
  r->engine[e].state = ARRIVED;
  if (++r->arrived == r->present)
    r->release = r->now + 2 * r->update + r->barrier;
}

/* Engines that wait for a retirement of this channel. */
static void wake(struct run *r, int c) {
  const struct lane *l = &r->lane[c];
  for (int e = 0; e < r->image->nengines; e++) {
    const struct engine *g = &r->engine[e];
    if (g->state == FULL && g->channel == c)
      go_on(r, e, r->now);
    else if (g->state == NEEDING && g->channel == c && l->retired >= g->number)
      go_on(r, e, r->now);
    else if (g->state == DRAINING && l->engine == e && drained(r, e))
      arrive(r, e);
  }
}

static enum nsr_status retire(struct run *r, int c) {
  struct lane *l = &r->lane[c];
  const struct slot *s = slot_at(l, l->retired++);
  r->t->end = r->now;
  const struct nsr_step *step = r->o->record->variants.v[s->variant].step;
  if (step->update.op != NSR_UPD_NONE && !r->o->needs) {
    NSR_TRY(signal_room(r));
    r->signal[r->signals++ & r->signal_mask] =
        (struct signal){r->now + r->update, &step->update};
  }
  wake(r, c);
  return NSR_OK;
}

/* ---- barriers */

static void release(struct run *r) {
  const struct nsr_kernel *k = r->image->kernel;
  for (uint32_t s = k->owned_first;
       s <= k->owned_last && s < k->isa->semaphores; s++)
    r->sem[s] = 0;
  r->release = NEVER;
  r->arrived = 0;
  r->t->barriers++;
  for (int e = 0; e < r->image->nengines; e++)
    if (r->engine[e].state == ARRIVED) {
      go_on(r, e, r->now);
      r->engine[e].event++;
      r->engine[e].arriving = true;
    }
}

/* ---- engines */

/* Whether a wait holds; else its engine blocks. */
static bool passes(struct run *r, int e, const struct nsr_step *step) {
  struct engine *g = &r->engine[e];
  if (step->wait.cmp == NSR_CMP_NONE || r->o->needs ||
      (step->flags & NSR_STEP_FOREIGN_WAIT) ||
      nsr_wait_holds(step->wait.cmp, r->sem[step->wait.sem],
                     g->event->threshold))
    return true;
  block(g, WAITING, r->now);
  return false;
}

/* Whether an instance has retired, and its engine may know; else the engine
 * is stopped. Nothing is skipped here, so numbers are places in the ring; what
 * has left it is long gone. */
static bool need_met(struct run *r, int e, const struct nsr_true_need *need) {
  struct engine *g = &r->engine[e];
  const struct lane *l = &r->lane[need->channel];
  if (l->retired < need->number) {
    g->channel = need->channel;
    g->number = need->number;
    block(g, NEEDING, r->now);
    return false;
  }
  if (!r->o->signals || need->number + l->mask < l->issued)
    return true;
  int64_t seen = slot_at(l, need->number - 1)->retire + r->update;
  if (seen <= r->now)
    return true;
  g->at = seen + r->wait;
  book(r, e, &r->t->engine[e].waiting, g->at - r->now);
  return false;
}

/* Everything that the next instance of a channel needs. */
static bool needs_met(struct run *r, int e, int channel) {
  const struct nsr_true_needs *n = r->o->needs;
  uint64_t i = r->lane[channel].issued;
  for (uint64_t k = n->first[channel].v[i]; k < n->first[channel].v[i + 1]; k++)
    if (!need_met(r, e, &n->all[channel].v[k]))
      return false;
  return true;
}

/* ---- more than enough */

/* When an instance of a channel has retired, 0: long ago. */
static int64_t retired_at(const struct lane *l, uint32_t number) {
  uint64_t lo = l->issued > l->mask ? l->issued - l->mask : 0, hi = l->issued;
  while (lo < hi) { /* the first one of the ring with this number */
    uint64_t mid = lo + (hi - lo) / 2;
    if (slot_at(l, mid)->number < number)
      lo = mid + 1;
    else
      hi = mid;
  }
  bool there = lo < l->issued && slot_at(l, lo)->number == number;
  return there ? slot_at(l, lo)->retire : 0;
}

/* An instance is issued: for how long less it could have been held up. */
static void note_excess(struct run *r, int e, int channel) {
  const struct nsr_true_needs *n = r->o->enough;
  struct engine *g = &r->engine[e];
  uint32_t i = r->lane[channel].number;
  int64_t enough = 0;
  for (uint64_t k = n->first[channel].v[i]; k < n->first[channel].v[i + 1];
       k++) {
    const struct nsr_true_need *need = &n->all[channel].v[k];
    int64_t at = retired_at(&r->lane[need->channel], need->number);
    at = nsr_time_add(at, r->update + r->wait);
    enough = at > enough ? at : enough;
  }
  int64_t more = r->now - enough;
  if (g->held && more > 0)
    r->t->engine[e].excess[g->held_at] += more < g->held ? more : g->held;
  g->held = 0;
}

static void enter_pipeline(struct run *r, struct lane *l, struct slot *s,
                           int64_t at) {
  const struct nsr_cost *c = &r->cost[s->variant];
  int64_t free = l->full ? l->last : l->free;
  int64_t start = at > free ? at : free;
  l->free = nsr_time_add(start, c->interval);
  s->retire = nsr_time_add(l->free, c->latency);
  s->retire = l->last = s->retire > l->last ? s->retire : l->last;
  int64_t *unit = &r->t->engine[l->engine].unit;
  *unit = nsr_time_add(*unit, c->interval);
}

static void note_issue(struct nsr_timed_engine *t, uint32_t insn, int64_t now) {
  t->last[insn] = now;
  if (t->first[insn] < 0)
    t->first[insn] = now;
}

static void issue(struct run *r, int e) {
  struct engine *g = &r->engine[e];
  const struct nsr_variant *v = variant_at(r, g);
  struct lane *l = &r->lane[v->channel];
  if (r->o->needs && (v->step->flags & NSR_STEP_SKIP)) {
    g->event++;
    g->arriving = true;
    return;
  }
  if (!passes(r, e, v->step) || (r->o->needs && !needs_met(r, e, v->channel)))
    return;
  if (l->issued - l->retired == l->depth) {
    g->channel = v->channel;
    block(g, FULL, r->now);
    return;
  }
  note_issue(&r->t->engine[e], v->insn, r->now);
  bool skip = (v->step->flags & NSR_STEP_SKIP) != 0;
  if (r->o->enough && !skip)
    note_excess(r, e, v->channel);
  l->number += !skip;
  int64_t cost = r->cost[g->event->variant].issue;
  struct slot *s = slot_at(l, l->issued);
  *s = (struct slot){g->event->variant, l->number, r->now + cost, NEVER};
  g->at = r->now + cost;
  r->t->engine[e].issue += cost;
  if (l->queue) {
    l->issued++;
    if (!l->moving && l->moved + 1 == l->issued)
      plan_move(r, l);
  } else {
    enter_pipeline(r, l, s, g->at);
    l->issued++;
    if (v->step->desc->cls == NSR_LOAD) {
      book(r, e, &r->t->engine[e].loading, s->retire - g->at);
      g->at = s->retire;
    }
  }
  g->event++;
  g->arriving = true;
}

static bool is_exit(const struct engine *g) {
  return g->event + 1 < g->end && g->event[1].kind == NSR_RECORD_HALT;
}

static void meet(struct run *r, int e) {
  struct engine *g = &r->engine[e];
  if (r->o->needs && !is_exit(g)) {
    g->event++;
    g->arriving = true;
    return;
  }
  block(g, DRAINING, r->now);
  if (drained(r, e))
    arrive(r, e);
}

/* The control in front of an event; with needs instructions that only wait
 * are as good as gone. */
static bool pass_control(struct run *r, struct engine *g, int e) {
  int64_t time = 0;
  g->arriving = false;
  for (int k = 0; k < NSR_CONTROL_KINDS; k++)
    if (k != NSR_CONTROL_ONLY_WAIT || !r->o->needs)
      time += g->event->control[k] * g->control[k];
  r->t->engine[e].control += time;
  g->at += time;
  return time == 0;
}

static void step(struct run *r, int e) {
  struct engine *g = &r->engine[e];
  if (g->arriving && !pass_control(r, g, e))
    return;
  switch (g->event->kind) {
  case NSR_RECORD_WAIT:
    if (passes(r, e, variant_at(r, g)->step)) {
      g->event++;
      g->arriving = true;
    }
    return;
  case NSR_RECORD_ISSUE:
    issue(r, e);
    return;
  case NSR_RECORD_BARRIER:
    meet(r, e);
    return;
  default:
    g->state = HALTED;
    r->t->engine[e].end = r->t->end = r->now;
    return;
  }
}

/* ---- the run */

enum what { RETIRE, UPDATE, MOVE, RELEASE, ENGINE };
struct next {
  int64_t at;
  enum what what;
  int which;
};

static void sooner(struct next *n, int64_t at, enum what what, int which) {
  if (at < n->at)
    *n = (struct next){at, what, which};
}

static struct next next_of(const struct run *r) {
  struct next n = {NEVER, ENGINE, -1};
  for (int c = 0; c < r->image->nchannels; c++) {
    const struct lane *l = &r->lane[c];
    if (l->retired != (l->queue ? l->moved : l->issued))
      sooner(&n, slot_at(l, l->retired)->retire, RETIRE, c);
  }
  if (r->seen != r->signals)
    sooner(&n, r->signal[r->seen & r->signal_mask].at, UPDATE, 0);
  for (int c = r->image->nengines; c < r->image->nchannels; c++)
    sooner(&n, r->lane[c].next, MOVE, c);
  sooner(&n, r->release, RELEASE, 0);
  for (int e = 0; e < r->image->nengines; e++)
    if (r->engine[e].state == GOING)
      sooner(&n, r->engine[e].at, ENGINE, e);
  return n;
}

static enum nsr_status happen(struct run *r, const struct next *n) {
  switch (n->what) {
  case RETIRE:
    return retire(r, n->which);
  case UPDATE:
    see_update(r);
    break;
  case MOVE:
    move(r, n->which);
    break;
  case RELEASE:
    release(r);
    break;
  default:
    step(r, n->which);
    break;
  }
  return NSR_OK;
}

static enum nsr_status at_end(struct run *r) {
  for (int e = 0; e < r->image->nengines; e++)
    if (r->engine[e].state != HALTED)
      return nsr_fail(r->ctx, NSR_E_HANG,
                      nsr_image_place(r->image, e, insn_at(r, &r->engine[e])),
                      "hangs here at these times: what it waits for does not "
                      "hold in every schedule");
  return NSR_OK;
}

static enum nsr_status run_all(struct run *r) {
  for (;;) {
    struct next n = next_of(r);
    if (n.at == NEVER)
      return at_end(r);
    if (n.at >= NSR_TOO_LATE)
      return nsr_fail(r->ctx, NSR_E_RANGE, NSR_NOWHERE,
                      "takes longer than clocks can tell");
    assert(n.at >= r->now);
    r->now = n.at;
    NSR_TRY(happen(r, &n));
  }
}

/* ---- the start */

static uint64_t at_least(uint64_t n) {
  uint64_t p = 1;
  while (p < n)
    p *= 2;
  return p;
}

static enum nsr_status lanes_new(struct run *r) {
  const struct nsr_machine *m = r->o->machine;
  const struct nsr_kernel *k = r->image->kernel;
  for (int c = 0; c < r->image->nchannels; c++) {
    struct lane *l = &r->lane[c];
    l->queue = c >= r->image->nengines;
    l->engine = (uint8_t)nsr_channel_engine(k, c);
    l->depth = l->queue ? m->queue_depth : m->pipe_window[c];
    l->full = nsr_channel_order(k, c) == NSR_ORDER_FULL;
    l->window = l->queue && !l->full ? m->queue_window : 1;
    l->next = NEVER;
    uint64_t cap = at_least((uint64_t)l->depth + l->window + 1);
    l->mask = cap - 1;
    NSR_NEW(r->ctx, NSR_SCRATCH, l->ring, cap);
  }
  return NSR_OK;
}

static int64_t cycles(int64_t figure, int64_t cycle) {
  return (figure * cycle + NSR_MILLI - 1) / NSR_MILLI;
}

static enum nsr_status engines_new(struct run *r) {
  const struct nsr_machine *m = r->o->machine;
  for (int e = 0; e < r->image->nengines; e++) {
    struct engine *g = &r->engine[e];
    struct nsr_timed_engine *t = &r->t->engine[e];
    uint32_t n = r->image->streams[e].n;
    NSR_NEW(r->ctx, NSR_KEEP, t->blocked, n);
    NSR_NEW(r->ctx, NSR_KEEP, t->excess, n);
    NSR_NEW(r->ctx, NSR_KEEP, t->first, n);
    NSR_NEW(r->ctx, NSR_KEEP, t->last, n);
    for (uint32_t i = 0; i < n; i++)
      t->first[i] = t->last[i] = -1;
    g->event = r->o->record->events[e].v;
    g->end = g->event + r->o->record->events[e].n;
    g->state = r->image->streams[e].stream ? GOING : HALTED;
    g->arriving = true;
    r->present += g->state == GOING;
    g->cycle = nsr_cycle_of(m, e);
    g->control[NSR_CONTROL_OPERATION] =
        cycles(m->v[NSR_CONTROL_REGISTER], g->cycle);
    g->control[NSR_CONTROL_TRANSFER] =
        cycles(m->v[NSR_CONTROL_BRANCH], g->cycle);
    g->control[NSR_CONTROL_ONLY_WAIT] =
        cycles(m->v[NSR_CONTROL_WAIT], g->cycle);
  }
  return NSR_OK;
}

static enum nsr_status run_new(struct run *r) {
  const struct nsr_machine *m = r->o->machine;
  const struct nsr_record *rec = r->o->record;
  r->update = m->v[NSR_SEM_UPDATE] * NSR_FS_PER_PS;
  r->wait = m->v[NSR_SEM_WAIT] * NSR_FS_PER_PS;
  r->start = m->v[NSR_QUEUE_START] * NSR_FS_PER_PS;
  r->barrier = m->v[NSR_BARRIER_COST] * NSR_FS_PER_PS;
  r->release = NEVER;
  r->least = (m->v[NSR_DMA_RATE] << SHARE_BITS) / m->v[NSR_QUEUE_RATE];
  NSR_NEW(r->ctx, NSR_KEEP, r->t, 1);
  NSR_NEW(r->ctx, NSR_SCRATCH, r->sem, r->image->isa->semaphores);
  NSR_NEW(r->ctx, NSR_SCRATCH, r->signal, 64);
  r->signal_mask = 63;
  NSR_NEW(r->ctx, NSR_SCRATCH, r->cost, rec->variants.n);
  for (size_t i = 0; i < rec->variants.n; i++)
    r->cost[i] = nsr_cost_of(m, &rec->variants.v[i]);
  NSR_TRY(lanes_new(r));
  return engines_new(r);
}

enum nsr_status nsr_timed_run(struct nsr_ctx *ctx,
                              const struct nsr_timed_options *options,
                              struct nsr_timed **timed) {
  struct nsr_mark mark = nsr_scratch_mark(ctx);
  struct run r = {.ctx = ctx, .o = options, .image = options->record->image};
  NSR_TRY(nsr_machine_costs(ctx, options->machine));
  enum nsr_status status = run_new(&r);
  if (status == NSR_OK)
    status = run_all(&r);
  nsr_scratch_release(ctx, mark);
  *timed = r.t;
  return status;
}
