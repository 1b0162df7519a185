/* core.c - an engine at its program counter: control, waits, issue.
 *
 * Needs a run; moves one engine to its next issue, barrier, halt, block or
 * fault. Instructions that touch registers alone go by on the way: nobody
 * else can tell when.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sim/hash.h"
#include "sim/model.h"

enum { SPIN_CHECK = 1024 };

void nsr_sim_fail(struct nsr_sim *sim, enum nsr_machine_fault kind, int engine,
                  uint32_t insn, const char *fmt, ...) {
  va_list ap;
  if (sim->end != NSR_RUNNING)
    return;
  sim->end = NSR_SIM_FAULT;
  sim->fault = (struct nsr_sim_fault){kind, engine, insn, ""};
  va_start(ap, fmt);
  vsnprintf(sim->fault.text, sizeof sim->fault.text, fmt, ap);
  va_end(ap);
}

static void block(struct nsr_sim *sim, int e, enum nsr_core_state state) {
  sim->core[e].state = (uint8_t)state;
  sim->ready &= ~(UINT32_C(1) << e);
}

void nsr_core_wake(struct nsr_sim *sim, int e) {
  sim->core[e].state = NSR_CORE_READY;
  sim->ready |= UINT32_C(1) << e;
}

/* ---- registers */

static bool value_of(const struct nsr_core *c, struct nsr_val v, int32_t *out) {
  if (!v.is_reg) {
    *out = v.v;
    return true;
  }
  *out = c->reg[v.v];
  return c->defined[v.v];
}

static bool need(struct nsr_sim *sim, int e, struct nsr_val v, const char *what,
                 int32_t *out) {
  const struct nsr_core *c = &sim->core[e];
  if (value_of(c, v, out))
    return true;
  nsr_sim_fail(sim, NSR_MF_UNDEFINED, e, c->pc, "%s from r%d, undefined", what,
               (int)v.v);
  return false;
}

static void set(struct nsr_core *c, int16_t dst, bool defined, int32_t v) {
  if (dst < 0)
    return;
  c->reg[dst] = v;
  c->defined[dst] = defined;
}

static int32_t wrap(uint32_t v) {
  int32_t out;
  memcpy(&out, &v, sizeof out);
  return out;
}

static int32_t shift_right(int32_t a, uint32_t n) {
  uint32_t u = (uint32_t)a >> n;
  if (a < 0 && n)
    u |= ~(UINT32_MAX >> n);
  return wrap(u);
}

static int32_t compute(enum nsr_ctl op, int32_t a, int32_t b) {
  uint32_t x = (uint32_t)a, y = (uint32_t)b;
  switch (op) {
  case NSR_CTL_ADD:
    return wrap(x + y);
  case NSR_CTL_SUB:
    return wrap(x - y);
  case NSR_CTL_MUL:
    return wrap(x * y);
  case NSR_CTL_AND:
    return wrap(x & y);
  case NSR_CTL_OR:
    return wrap(x | y);
  case NSR_CTL_XOR:
    return wrap(x ^ y);
  case NSR_CTL_SHL:
    return wrap(x << (y & 31));
  case NSR_CTL_SHR:
    return shift_right(a, y & 31);
  case NSR_CTL_REM:
    return b == -1 ? 0 : a % b;
  case NSR_CTL_MIN:
    return a < b ? a : b;
  case NSR_CTL_MAX:
    return a > b ? a : b;
  case NSR_CTL_GT:
    return a > b;
  case NSR_CTL_GE:
    return a >= b;
  case NSR_CTL_LT:
    return a < b;
  case NSR_CTL_LE:
    return a <= b;
  case NSR_CTL_EQ:
    return a == b;
  case NSR_CTL_NE:
    return a != b;
  default: /* MOV: its value is a */
    return a;
  }
}

static bool branch_taken(uint8_t cc, int32_t a, int32_t b) {
  switch (cc) {
  case NSR_CC_EQ:
    return a == b;
  case NSR_CC_NE:
    return a != b;
  case NSR_CC_LT:
    return a < b;
  case NSR_CC_LE:
    return a <= b;
  case NSR_CC_GT:
    return a > b;
  case NSR_CC_GE:
    return a >= b;
  default:
    return true;
  }
}

/* ---- control instructions; false: fault or halt */

static bool go_branch(struct nsr_sim *sim, int e, const struct nsr_step *s) {
  struct nsr_core *c = &sim->core[e];
  int32_t a = 0, b = 0;
  if (s->cc != NSR_CC_ALWAYS &&
      (!need(sim, e, s->a, "branch", &a) || !need(sim, e, s->b, "branch", &b)))
    return false;
  if (branch_taken(s->cc, a, b)) {
    c->taken[c->pc]++;
    c->pc = (uint32_t)s->target;
  } else {
    c->pc++;
  }
  return true;
}

static bool go_jump(struct nsr_sim *sim, int e, const struct nsr_step *s) {
  struct nsr_core *c = &sim->core[e];
  int32_t a;
  if (!need(sim, e, s->a, "jump", &a))
    return false;
  if (a < 0 || (uint32_t)a >= c->n) {
    nsr_sim_fail(sim, NSR_MF_BRANCH, e, c->pc,
                 "jump to %d, outside the section", (int)a);
    return false;
  }
  c->taken[c->pc]++;
  c->pc = (uint32_t)a;
  return true;
}

static bool go_select(struct nsr_core *c, const struct nsr_step *s) {
  struct nsr_val cond = {true, s->cond};
  int32_t which, v = 0;
  bool known = s->cond >= 0 && value_of(c, cond, &which);
  if (known)
    known = value_of(c, which ? s->a : s->b, &v);
  set(c, s->dst, known, v);
  c->pc++;
  return true;
}

static bool go_compute(struct nsr_sim *sim, int e, const struct nsr_step *s) {
  struct nsr_core *c = &sim->core[e];
  int32_t a, b = 0;
  bool known = value_of(c, s->a, &a);
  if (s->desc->ctl != NSR_CTL_MOV) {
    bool known_b = value_of(c, s->b, &b);
    if (s->desc->ctl == NSR_CTL_REM && known_b && b == 0) {
      nsr_sim_fail(sim, NSR_MF_DIVISION, e, c->pc, "division by zero");
      return false;
    }
    known = known && known_b;
  }
  set(c, s->dst, known, known ? compute(s->desc->ctl, a, b) : 0);
  c->pc++;
  return true;
}

static bool go_control(struct nsr_sim *sim, int e, const struct nsr_step *s) {
  struct nsr_core *c = &sim->core[e];
  switch (s->desc->ctl) {
  case NSR_CTL_BR:
    c->control[NSR_CONTROL_TRANSFER]++;
    return go_branch(sim, e, s);
  case NSR_CTL_JUMP:
    c->control[NSR_CONTROL_TRANSFER]++;
    return go_jump(sim, e, s);
  case NSR_CTL_SEL:
    c->control[NSR_CONTROL_OPERATION]++;
    return go_select(c, s);
  case NSR_CTL_NONE:
  case NSR_CTL_WAIT:
    c->control[NSR_CONTROL_ONLY_WAIT]++;
    c->pc++;
    return true;
  case NSR_CTL_HALT:
    block(sim, e, NSR_CORE_HALTED);
    if (sim->observer.halted)
      sim->observer.halted(sim->observer.self, e);
    return false;
  default:
    c->control[NSR_CONTROL_OPERATION]++;
    return go_compute(sim, e, s);
  }
}

bool nsr_core_control(struct nsr_sim *sim, int e) {
  struct nsr_core *c = &sim->core[e];
  c->ran[c->pc]++;
  sim->executed++;
  return go_control(sim, e, &c->steps[c->pc]);
}

/* ---- waits */

bool nsr_wait_holds(uint8_t cmp, int32_t value, int32_t threshold) {
  switch (cmp) {
  case NSR_CMP_GE:
    return value >= threshold;
  case NSR_CMP_EQ:
    return value == threshold;
  case NSR_CMP_GT:
    return value > threshold;
  case NSR_CMP_LE:
    return value <= threshold;
  default:
    return value < threshold;
  }
}

/* False: blocked, or a fault. Waits on semaphores of others hold at once where
 * nobody says what others do. */
static bool wait_holds(struct nsr_sim *sim, int e, const struct nsr_step *s) {
  struct nsr_core *c = &sim->core[e];
  if (!need(sim, e, s->wait.value, "threshold", &c->threshold))
    return false;
  if ((s->flags & NSR_STEP_FOREIGN_WAIT) && !sim->external)
    return true;
  int32_t value = sim->sem[s->wait.sem], threshold = c->threshold;
  if (sim->unsigned_waits) { /* the same order, from the smallest up */
    value ^= INT32_MIN;
    threshold ^= INT32_MIN;
  }
  if (nsr_wait_holds(s->wait.cmp, value, threshold))
    return true;
  c->sem = s->wait.sem;
  block(sim, e, NSR_CORE_WAITING);
  return false;
}

static void wait_passed(struct nsr_sim *sim, int e, const struct nsr_step *s) {
  const struct nsr_core *c = &sim->core[e];
  if (s->wait.cmp != NSR_CMP_NONE && sim->observer.waited)
    sim->observer.waited(sim->observer.self, e, c->pc, c->threshold);
}

/* ---- barriers */

static void barrier_mismatch(struct nsr_sim *sim, int e, int other) {
  const struct nsr_core *c = &sim->core[e], *o = &sim->core[other];
  nsr_sim_fail(sim, NSR_MF_BARRIER, e, c->pc,
               "barrier %d meets barrier %d of %s[%u]",
               (int)c->steps[c->pc].target, (int)o->steps[o->pc].target,
               sim->image->isa->engines[other], (unsigned)o->pc);
}

static void barrier_release(struct nsr_sim *sim, int e) {
  const struct nsr_kernel *k = sim->image->kernel;
  int32_t id = sim->core[e].steps[sim->core[e].pc].target;
  for (int o = 0; o < sim->ncores; o++) {
    const struct nsr_core *c = &sim->core[o];
    if (c->state == NSR_CORE_ARRIVED && c->steps[c->pc].target != id) {
      barrier_mismatch(sim, e, o);
      return;
    }
  }
  for (uint32_t s = k->owned_first;
       s <= k->owned_last && s < k->isa->semaphores; s++)
    sim->sem[s] = 0;
  if (sim->observer.barrier)
    sim->observer.barrier(sim->observer.self);
  sim->arrived = 0;
  for (int o = 0; o < sim->ncores; o++)
    if (sim->core[o].state == NSR_CORE_ARRIVED) {
      sim->core[o].pc++;
      nsr_core_wake(sim, o);
    }
}

static void go_barrier(struct nsr_sim *sim, int e) {
  struct nsr_core *c = &sim->core[e];
  if (c->inflight) {
    block(sim, e, NSR_CORE_DRAINING);
    return;
  }
  c->ran[c->pc]++;
  sim->executed++;
  block(sim, e, NSR_CORE_ARRIVED);
  if (++sim->arrived == sim->present)
    barrier_release(sim, e);
}

/* ---- issue */

/* The run-time counts and bytes of one operand, in bounds. */
static bool resolve_counts(struct nsr_sim *sim, int e,
                           const struct nsr_access *a, uint32_t *count) {
  const struct nsr_core *c = &sim->core[e];
  for (int d = 0; d < a->op.ndims; d++) {
    if (!a->op.dims[d].count_is_reg)
      continue;
    int32_t v;
    struct nsr_val r = {true, a->op.dims[d].count};
    if (!need(sim, e, r, "count", &v))
      return false;
    if (v < 0) {
      nsr_sim_fail(sim, NSR_MF_COUNT, e, c->pc, "count %d from r%d", (int)v,
                   (int)r.v);
      return false;
    }
    count[d] = (uint32_t)v;
  }
  return true;
}

static bool in_tensor(struct nsr_sim *sim, int e, const struct nsr_access *a,
                      int64_t begin, int64_t end) {
  const struct nsr_tensor *t = &sim->image->kernel->tensors[a->tensor];
  bool inside = begin >= 0 && (uint64_t)begin >= t->offset &&
                (uint64_t)end <= t->offset + t->bytes;
  if (a->op.space != NSR_DRAM)
    inside = inside && a->op.part >= t->part &&
             a->op.part + a->op.nparts <= t->part + t->nparts;
  if (!inside)
    nsr_sim_fail(sim, NSR_MF_TENSOR, e, sim->core[e].pc,
                 "access to bytes [%lld,%lld) leaves tensor %.60s",
                 (long long)begin, (long long)end, t->name ? t->name : "");
  return inside;
}

static bool in_space(struct nsr_sim *sim, int e, const struct nsr_operand *o,
                     int64_t begin, int64_t end) {
  const struct nsr_isa *isa = sim->image->isa;
  int64_t size = o->space == NSR_DRAM   ? INT64_C(1) << 62
                 : o->space == NSR_SBUF ? isa->sbuf_bytes
                                        : isa->psum_bytes;
  bool parts =
      o->space == NSR_DRAM || o->part + o->nparts <= (int)isa->partitions;
  if (begin >= 0 && end <= size && parts)
    return true;
  nsr_sim_fail(sim, NSR_MF_BOUNDS, e, sim->core[e].pc,
               "access to bytes [%lld,%lld)%s lies outside %s",
               (long long)begin, (long long)end,
               parts ? "" : ", too many partitions,",
               nsr_space_name((enum nsr_space)o->space));
  return false;
}

static bool resolve_operand(struct nsr_sim *sim, int e,
                            const struct nsr_access *a, struct nsr_flight *f,
                            int i) {
  const struct nsr_core *c = &sim->core[e];
  int64_t low = a->low, high = a->high, offset = a->op.offset;
  bool empty = a->empty;
  if (a->op.reg != NSR_NO_REG) {
    int32_t v;
    if (!need(sim, e, (struct nsr_val){true, a->op.reg}, "address", &v))
      return false;
    if (__builtin_add_overflow(offset, v, &offset))
      offset = INT64_MAX; /* out of bounds below */
  }
  if (!a->fixed) {
    struct nsr_shape shape;
    if (!resolve_counts(sim, e, a, f->count[i]))
      return false;
    empty = !nsr_access_resolve(a, f->count[i], &shape, &low, &high);
  }
  f->offset[i] = offset;
  f->empty[i] = empty;
  if (empty)
    return true;
  int64_t begin, end;
  if (__builtin_add_overflow(offset, low, &begin) ||
      __builtin_add_overflow(offset, high, &end)) {
    nsr_sim_fail(sim, NSR_MF_BOUNDS, e, c->pc, "address overflows");
    return false;
  }
  return in_space(sim, e, &a->op, begin, end) &&
         (a->tensor == NSR_NONE || in_tensor(sim, e, a, begin, end));
}

static uint64_t identity_of(const struct nsr_flight *f, int32_t threshold) {
  const struct nsr_step *s = f->step;
  uint64_t h = s->signature;
  for (int i = 0; i < s->naccess; i++) {
    h = nsr_combine(h, (uint64_t)f->offset[i]);
    if (!s->access[i].fixed)
      h = nsr_combine(h, nsr_hash(f->count[i], sizeof f->count[i]));
  }
  if (s->desc->sem == NSR_SEM_STORE)
    h = nsr_combine(h, (uint32_t)f->value);
  if (s->flags & NSR_STEP_FOREIGN_WAIT)
    h = nsr_combine(h, (uint32_t)threshold);
  return h;
}

static bool flight_init(struct nsr_sim *sim, int e, const struct nsr_step *s,
                        struct nsr_flight *f) {
  struct nsr_core *c = &sim->core[e];
  struct nsr_lane *l = &sim->lane[s->channel];
  f->step = s;
  f->insn = c->pc;
  f->engine = (uint8_t)e;
  f->channel = s->channel;
  f->stage = NSR_ISSUED;
  f->concrete = false;
  f->nbytes = 0;
  f->digest = 0;
  f->tag = 0;
  f->value = 0;
  f->any_reads = f->any_writes = 0;
  if (s->desc->sem == NSR_SEM_STORE && s->value_reg >= 0 &&
      !need(sim, e, (struct nsr_val){true, s->value_reg}, "stored value",
            &f->value))
    return false;
  for (int i = 0; i < s->naccess; i++) {
    f->cover[i] = NULL;
    memset(f->count[i], 0, sizeof f->count[i]);
    if (!resolve_operand(sim, e, &s->access[i], f, i))
      return false;
  }
  f->identity = identity_of(f, c->threshold);
  f->ordinal = ++l->issued;
  f->number = s->flags & NSR_STEP_SKIP ? 0 : ++l->numbered;
  return true;
}

bool nsr_core_instance(struct nsr_sim *sim, int e, struct nsr_flight *f) {
  return flight_init(sim, e, &sim->core[e].steps[sim->core[e].pc], f);
}

static void go_issue(struct nsr_sim *sim, int e, const struct nsr_step *s) {
  struct nsr_core *c = &sim->core[e];
  struct nsr_lane *l = &sim->lane[s->channel];
  if (l->n == l->depth) {
    c->channel = s->channel;
    block(sim, e, NSR_CORE_FULL);
    return;
  }
  struct nsr_flight *f = nsr_lane_slot(l, l->n);
  wait_passed(sim, e, s);
  if (!flight_init(sim, e, s, f))
    return;
  const struct nsr_observer *o = &sim->observer;
  bool go = !o->begun || o->begun(o->self, f);
  if (go) {
    sim->status = sim->memory->ops->place(sim->memory, f);
    go = sim->status == NSR_OK && (!o->issued || o->issued(o->self, f));
  }
  if (!go) {
    sim->end = NSR_SIM_STOPPED;
    return;
  }
  c->ran[c->pc]++;
  sim->executed++;
  c->pc++;
  c->inflight++;
  l->n++;
  sim->busy |= UINT32_C(1) << s->channel;
  if (s->desc->cls == NSR_LOAD)
    block(sim, e, NSR_CORE_STALLED);
}

/* ---- loops that never end: the same place with the same registers */

struct spin {
  uint32_t n, check_at, pc;
  bool marked;
  int32_t reg[1 << 8];
  uint8_t defined[1 << 8];
};

static bool spins(struct nsr_sim *sim, int e, struct spin *s) {
  const struct nsr_core *c = &sim->core[e];
  size_t n = sim->image->isa->registers;
  if (n > sizeof s->defined)
    return false;
  if (s->marked && s->pc == c->pc &&
      memcmp(s->reg, c->reg, n * sizeof *c->reg) == 0 &&
      memcmp(s->defined, c->defined, n) == 0) {
    sim->end = NSR_SIM_ENDLESS;
    sim->fault = (struct nsr_sim_fault){.engine = e, .insn = c->pc};
    return true;
  }
  if (s->n >= s->check_at) {
    s->marked = true;
    s->check_at = s->n * 2;
    s->pc = c->pc;
    memcpy(s->reg, c->reg, n * sizeof *c->reg);
    memcpy(s->defined, c->defined, n);
  }
  return false;
}

const struct nsr_step *nsr_core_walk(struct nsr_sim *sim, int e) {
  struct nsr_core *c = &sim->core[e];
  struct spin spin;
  spin.n = 0;
  spin.check_at = SPIN_CHECK;
  spin.marked = false;
  for (;;) {
    if (c->pc >= c->n) {
      nsr_sim_fail(sim, NSR_MF_END, e, c->n, "runs off the end");
      return NULL;
    }
    if (sim->executed >= sim->budget) {
      sim->end = NSR_SIM_BUDGET;
      return NULL;
    }
    const struct nsr_step *s = &c->steps[c->pc];
    if (s->wait.cmp != NSR_CMP_NONE || s->desc->cls != NSR_CONTROL)
      return s;
    if (!nsr_core_control(sim, e))
      return NULL;
    if (++spin.n >= SPIN_CHECK && spins(sim, e, &spin))
      return NULL;
  }
}

/* Control up to the next instruction that someone else can notice. */
void nsr_sim_issue_next(struct nsr_sim *sim, int e) {
  const struct nsr_step *s;
  while ((s = nsr_core_walk(sim, e)) != NULL) {
    if (s->wait.cmp != NSR_CMP_NONE && !wait_holds(sim, e, s))
      return;
    if (s->desc->cls == NSR_BARRIER) {
      go_barrier(sim, e);
      return;
    }
    if (s->desc->cls != NSR_CONTROL) {
      go_issue(sim, e, s);
      return;
    }
    wait_passed(sim, e, s);
    if (!nsr_core_control(sim, e))
      return;
  }
}
