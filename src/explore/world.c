/* world.c - where engines can be, and what they issue there.
 *
 * Needs a kernel and an input; makes stations and instances as they are asked
 * for, each once: the engine model computes a stretch of control between two
 * things that others can notice, and what it latches at an issue.
 */
#include "explore/world.h"

#include <stdlib.h>
#include <string.h>

#include "sim/hash.h"

enum { WALK = 1 << 22 /* control instructions between two stations */ };

/* ---- the model's core, set to a station and read back */

static int own_channels(const struct nsr_world *w, int engine,
                        int channels[NSR_MAX_CHANNELS]) {
  int n = 0;
  for (int ch = 0; ch < w->image->nchannels; ch++)
    if (nsr_channel_engine(w->image->kernel, ch) == engine)
      channels[n++] = ch;
  return n;
}

static void set_core(struct nsr_world *w, const struct nsr_station *s) {
  struct nsr_core *c = &w->sim->core[s->engine];
  int channels[NSR_MAX_CHANNELS];
  int n = own_channels(w, s->engine, channels);
  size_t registers = w->image->isa->registers;
  memcpy(c->reg, s->reg, registers * sizeof *c->reg);
  memcpy(c->defined, s->defined, registers);
  c->pc = s->pc;
  for (int i = 0; i < n; i++) {
    w->sim->lane[channels[i]].issued = s->counts[2 * i];
    w->sim->lane[channels[i]].numbered = s->counts[2 * i + 1];
  }
  w->events[s->engine] = s->counts[2 * n];
}

static enum nsr_status keep_core(struct nsr_world *w, struct nsr_station *s) {
  const struct nsr_core *c = &w->sim->core[s->engine];
  int channels[NSR_MAX_CHANNELS];
  int n = own_channels(w, s->engine, channels);
  size_t registers = w->image->isa->registers;
  NSR_NEW(w->ctx, w->arena, s->reg, registers);
  NSR_NEW(w->ctx, w->arena, s->defined, registers);
  NSR_NEW(w->ctx, w->arena, s->counts, 2 * (size_t)n + 1);
  memcpy(s->reg, c->reg, registers * sizeof *c->reg);
  memcpy(s->defined, c->defined, registers);
  s->pc = c->pc;
  for (int i = 0; i < n; i++) {
    s->counts[2 * i] = w->sim->lane[channels[i]].issued;
    s->counts[2 * i + 1] = w->sim->lane[channels[i]].numbered;
  }
  s->counts[2 * n] = w->events[s->engine];
  return NSR_OK;
}

static enum nsr_status push_station(struct nsr_world *w, struct nsr_station *s,
                                    uint32_t *id) {
  if (w->stations.n >= NSR_MAX_STATIONS && !w->full)
    w->full = "a run is too long to explore";
  *id = (uint32_t)w->stations.n;
  NSR_PUSH(w->ctx, w->arena, &w->stations, *s);
  return NSR_OK;
}

/* ---- instances */

static int by_slot(const void *a, const void *b) {
  const struct nsr_touch *x = a, *y = b;
  return x->slot < y->slot ? -1 : x->slot > y->slot;
}

struct touching {
  NSR_VEC(struct nsr_touch) touches;
  NSR_VEC(uint32_t) reads, writes;
};

static uint32_t how_of(const struct nsr_operand *o) {
  enum nsr_role role = (enum nsr_role)o->role;
  bool reads = nsr_role_reads(role), writes = nsr_role_writes(role);
  if (nsr_role_may(role))
    return (reads ? NSR_TOUCH_MAY_R : 0) | (writes ? NSR_TOUCH_MAY_W : 0);
  if (o->acc && o->space == NSR_PSUM && writes)
    return NSR_TOUCH_ACC;
  return (reads ? NSR_TOUCH_R : 0) | (writes ? NSR_TOUCH_W : 0);
}

static enum nsr_status touch_operand(struct nsr_world *w,
                                     const struct nsr_flight *f, int i,
                                     struct touching *t) {
  const struct nsr_operand *o = &f->step->access[i].op;
  enum nsr_role role = (enum nsr_role)o->role;
  w->ntouches += f->cover[i]->n;
  if (w->ntouches > NSR_MAX_PLACES) {
    w->full = w->full ? w->full : "memory is touched in too many places";
    return NSR_OK;
  }
  for (struct nsr_cover_iter it = nsr_cover_first(f->cover[i]); it.more;
       nsr_cover_next(&it)) {
    struct nsr_touch touch = {.how = how_of(o)};
    NSR_TRY(nsr_world_slot(w, it.atom, &touch.slot));
    NSR_PUSH(w->ctx, w->arena, &t->touches, touch);
    if (nsr_role_reads(role))
      NSR_PUSH(w->ctx, w->arena, &t->reads, touch.slot);
    if (nsr_role_writes(role) && !nsr_role_may(role))
      NSR_PUSH(w->ctx, w->arena, &t->writes, touch.slot);
  }
  return NSR_OK;
}

static enum nsr_status touch_hidden(struct nsr_world *w,
                                    const struct nsr_step *s,
                                    struct touching *t) {
  uint32_t natoms = nsr_atoms_count(w->atoms);
  for (int h = 0; h < s->desc->nhidden; h++) {
    enum nsr_role role = s->desc->hidden[h].role;
    struct nsr_touch touch = {
        .how = (nsr_role_reads(role) ? NSR_TOUCH_HIDDEN_R : 0) |
               (nsr_role_writes(role) ? NSR_TOUCH_HIDDEN_W : 0)};
    NSR_TRY(nsr_world_slot(w, natoms + s->hidden[h], &touch.slot));
    NSR_PUSH(w->ctx, w->arena, &t->touches, touch);
    if (nsr_role_reads(role))
      NSR_PUSH(w->ctx, w->arena, &t->reads, touch.slot);
    if (nsr_role_writes(role))
      NSR_PUSH(w->ctx, w->arena, &t->writes, touch.slot);
  }
  return NSR_OK;
}

static enum nsr_status find_touches(struct nsr_world *w,
                                    struct nsr_instance *x) {
  struct touching t = {.touches = {0}};
  const struct nsr_step *s = x->flight.step;
  if (x->flight.number == 0)
    return NSR_OK;
  for (int i = 0; i < s->naccess; i++)
    if (!x->flight.empty[i])
      NSR_TRY(touch_operand(w, &x->flight, i, &t));
  NSR_TRY(touch_hidden(w, s, &t));
  if (t.touches.n)
    qsort(t.touches.v, t.touches.n, sizeof *t.touches.v, by_slot);
  size_t n = 0;
  for (size_t i = 0; i < t.touches.n; i++)
    if (n && t.touches.v[n - 1].slot == t.touches.v[i].slot)
      t.touches.v[n - 1].how |= t.touches.v[i].how;
    else
      t.touches.v[n++] = t.touches.v[i];
  x->touches = t.touches.v;
  x->ntouches = (uint32_t)n;
  x->reads = t.reads.v;
  x->nreads = (uint32_t)t.reads.n;
  x->writes = t.writes.v;
  x->nwrites = (uint32_t)t.writes.n;
  return NSR_OK;
}

static enum nsr_status push_instance(struct nsr_world *w,
                                     struct nsr_instance *x, uint32_t *id) {
  if (w->insts.n >= NSR_MAX_INSTANCES && !w->full)
    w->full = "more instances than are explored";
  *id = (uint32_t)w->insts.n;
  NSR_PUSH(w->ctx, w->arena, &w->insts, x);
  return NSR_OK;
}

/* Which instruction of the first kernel has that number; the second one has it
 * there, too, or is another kernel. */
static enum nsr_status find_allowed(struct nsr_world *w,
                                    struct nsr_instance *x) {
  const struct nsr_flight *f = &x->flight;
  uint32_t insn = f->insn, at = f->number - 1;
  if (!w->allowed->n || !f->number)
    return NSR_OK;
  if (w->reference) {
    insn = at < w->reference->insn_of[f->channel].n
               ? w->reference->insn_of[f->channel].v[at]
               : NSR_NONE;
  } else {
    while (w->insn_of[f->channel].n <= at)
      NSR_PUSH(w->ctx, w->arena, &w->insn_of[f->channel], NSR_NONE);
    w->insn_of[f->channel].v[at] = insn;
  }
  x->allowed = nsr_allowed_number(w->allowed, f->engine, insn);
  if (x->allowed) {
    x->flight.any_reads = w->allowed->insns[x->allowed - 1].reads;
    x->flight.any_writes = w->allowed->insns[x->allowed - 1].writes;
  }
  return NSR_OK;
}

/* The instance that a core issues at its pc; *made false: a fault. */
static enum nsr_status instance_new(struct nsr_world *w, int engine,
                                    uint32_t *id, bool *made) {
  struct nsr_instance *x;
  NSR_NEW(w->ctx, w->arena, x, 1);
  *made = nsr_core_instance(w->sim, engine, &x->flight);
  if (!*made)
    return NSR_OK;
  const struct nsr_step *s = x->flight.step;
  NSR_TRY(w->memory->memory.ops->place(&w->memory->memory, &x->flight));
  NSR_TRY(find_allowed(w, x));
  w->blind = w->blind || nsr_atoms_pending(w->atoms);
  x->lane = s->channel;
  x->load = s->desc->cls == NSR_LOAD;
  x->ordered = (s->flags & NSR_STEP_ORDERED) != 0;
  x->fires = (s->flags & NSR_STEP_FOREIGN_UPDATE) != 0;
  x->sees = (s->flags & NSR_STEP_DRAM) != 0;
  x->sem = s->update.op == NSR_UPD_NONE ? NSR_NONE : w->sem_slot[s->update.sem];
  if (!w->blind)
    NSR_TRY(find_touches(w, x));
  return push_instance(w, x, id);
}

/* ---- stations */

static enum nsr_status event_new(struct nsr_world *w, struct nsr_station *s,
                                 const struct nsr_step *step) {
  struct nsr_instance *x;
  if (!(step->flags & NSR_STEP_FOREIGN_WAIT))
    return NSR_OK;
  NSR_NEW(w->ctx, w->arena, x, 1);
  x->is_event = x->fires = true;
  x->flight.step = step;
  x->flight.engine = s->engine;
  x->flight.insn = s->pc;
  x->flight.number = ++w->events[s->engine];
  x->flight.identity =
      nsr_combine((uint64_t)step->wait.sem << 8 | step->wait.cmp,
                  (uint32_t)w->sim->core[s->engine].threshold);
  x->lane = (uint8_t)(w->image->nchannels + s->engine);
  x->sem = NSR_NONE;
  return push_instance(w, x, &s->event);
}

static void undefined(struct nsr_station *s) {
  s->kind = NSR_AT_FAULT;
  s->fault =
      (struct nsr_sim_fault){.kind = NSR_MF_UNDEFINED,
                             .engine = s->engine,
                             .insn = s->pc,
                             .text = "threshold from an undefined register"};
}

/* Its wait on a count that the kernel owns. False: a fault. */
static bool find_wait(struct nsr_world *w, struct nsr_station *s,
                      const struct nsr_step *step) {
  struct nsr_core *c = &w->sim->core[s->engine];
  const struct nsr_wait *wait = &step->wait;
  if (wait->cmp == NSR_CMP_NONE)
    return true;
  if (wait->value.is_reg && !c->defined[wait->value.v]) {
    undefined(s);
    return false;
  }
  c->threshold = wait->value.is_reg ? c->reg[wait->value.v] : wait->value.v;
  if (step->flags & NSR_STEP_FOREIGN_WAIT && !w->external)
    return true;
  s->cmp = wait->cmp;
  s->sem = w->sem_slot[wait->sem];
  s->threshold = c->threshold;
  return true;
}

static enum nsr_status fault_station(struct nsr_world *w, uint8_t engine,
                                     uint32_t *id) {
  struct nsr_station s = {.engine = engine,
                          .kind = NSR_AT_FAULT,
                          .inst = NSR_NONE,
                          .event = NSR_NONE,
                          .next = NSR_NONE};
  s.fault = w->sim->fault;
  w->sim->end = NSR_RUNNING;
  NSR_TRY(keep_core(w, &s));
  return push_station(w, &s, id);
}

static void stopped(struct nsr_world *w, struct nsr_station *s) {
  s->kind = w->sim->end == NSR_RUNNING       ? NSR_AT_HALTED
            : w->sim->end == NSR_SIM_FAULT   ? NSR_AT_FAULT
            : w->sim->end == NSR_SIM_ENDLESS ? NSR_AT_ENDLESS
                                             : NSR_AT_LOST;
  s->fault = w->sim->fault;
  s->why = "an engine computes for too long";
}

static enum nsr_status arrive(struct nsr_world *w, struct nsr_station *s,
                              const struct nsr_step *step) {
  bool made = true;
  if (!find_wait(w, s, step))
    return NSR_OK;
  NSR_TRY(event_new(w, s, step));
  if (step->desc->cls == NSR_BARRIER) {
    s->kind = NSR_AT_BARRIER;
  } else if (step->desc->cls == NSR_CONTROL) {
    s->kind = NSR_AT_PASS;
  } else {
    s->kind = NSR_AT_ISSUE;
    NSR_TRY(instance_new(w, s->engine, &s->inst, &made));
  }
  if (made)
    return NSR_OK;
  s->kind = NSR_AT_PASS; /* and faults as soon as its wait has held */
  return fault_station(w, s->engine, &s->next);
}

/* The engine goes on from where the core is. */
static enum nsr_status settle(struct nsr_world *w, int engine, uint32_t *id) {
  struct nsr_station s = {.engine = (uint8_t)engine,
                          .inst = NSR_NONE,
                          .event = NSR_NONE,
                          .next = NSR_NONE};
  w->sim->end = NSR_RUNNING;
  w->sim->executed = 0;
  w->sim->fault = (struct nsr_sim_fault){.kind = NSR_MF_NONE};
  const struct nsr_step *step = nsr_core_walk(w->sim, engine);
  s.pc = w->sim->core[engine].pc;
  if (step)
    NSR_TRY(arrive(w, &s, step));
  else
    stopped(w, &s);
  NSR_TRY(keep_core(w, &s));
  return push_station(w, &s, id);
}

/* A load has issued: nothing else does until it has retired. */
static enum nsr_status stall(struct nsr_world *w, uint32_t station,
                             uint32_t *id) {
  struct nsr_station s = w->stations.v[station];
  s.kind = NSR_AT_STALLED;
  s.cmp = NSR_CMP_NONE;
  s.event = NSR_NONE;
  return push_station(w, &s, id);
}

static enum nsr_status go_on(struct nsr_world *w, uint32_t station,
                             uint32_t *id) {
  const struct nsr_station *s = &w->stations.v[station];
  if (s->kind == NSR_AT_ISSUE && nsr_inst(w, s->inst)->load)
    return stall(w, station, id);
  set_core(w, s);
  w->sim->executed = 0;
  if (s->kind == NSR_AT_PASS) {
    w->sim->end = NSR_RUNNING;
    (void)nsr_core_control(w->sim, s->engine);
    if (w->sim->end == NSR_SIM_FAULT)
      return fault_station(w, s->engine, id);
  } else {
    w->sim->core[s->engine].pc++;
  }
  return settle(w, s->engine, id);
}

enum nsr_status nsr_world_next(struct nsr_world *w, uint32_t station,
                               uint32_t *next) {
  uint32_t id;
  if (w->stations.v[station].next == NSR_NONE) {
    NSR_TRY(go_on(w, station, &id));
    w->stations.v[station].next = id;
  }
  *next = w->stations.v[station].next;
  return NSR_OK;
}

static enum nsr_status land(struct nsr_world *w, uint32_t station,
                            int32_t value, uint32_t *id) {
  const struct nsr_station *s = &w->stations.v[station];
  struct nsr_core *c = &w->sim->core[s->engine];
  int16_t dst = nsr_inst(w, s->inst)->flight.step->dst;
  set_core(w, s);
  if (dst >= 0) {
    c->reg[dst] = value;
    c->defined[dst] = true;
  }
  c->pc++;
  return settle(w, s->engine, id);
}

enum nsr_status nsr_world_loaded(struct nsr_world *w, uint32_t station,
                                 int32_t value, uint32_t *next) {
  struct nsr_station *s = &w->stations.v[station];
  for (size_t i = 0; i < s->landings.n; i++)
    if (s->landings.v[i].value == value) {
      *next = s->landings.v[i].next;
      return NSR_OK;
    }
  NSR_TRY(land(w, station, value, next));
  s = &w->stations.v[station]; /* they may have moved */
  NSR_PUSH(w->ctx, w->arena, &s->landings,
           ((struct nsr_landing){value, *next}));
  return NSR_OK;
}

/* ---- slots */

enum nsr_status nsr_world_slot(struct nsr_world *w, uint32_t atom,
                               uint32_t *slot) {
  if (w->slot_of[atom] == NSR_NONE) {
    w->slot_of[atom] = w->nslots++;
    NSR_PUSH(w->ctx, w->arena, &w->slot_at, atom);
  }
  *slot = w->slot_of[atom];
  return NSR_OK;
}

static void find_sem(struct nsr_world *w, uint16_t sem, bool odd) {
  if (w->sem_slot[sem] == NSR_NONE) {
    w->sem_at[w->nsems] = sem;
    w->sem_slot[sem] = w->nsems++;
  }
  w->sem_odd[w->sem_slot[sem]] |= odd;
  w->odd = w->odd || odd;
}

/* Counts only grow and are waited for with >= or >: what may happen stays
 * possible. */
static void find_sems(struct nsr_world *w, const struct nsr_step *s) {
  const struct nsr_update *u = &s->update;
  bool waits = s->wait.cmp != NSR_CMP_NONE &&
               (w->external || !(s->flags & NSR_STEP_FOREIGN_WAIT));
  if (waits) {
    find_sem(w, s->wait.sem,
             s->wait.cmp != NSR_CMP_GE && s->wait.cmp != NSR_CMP_GT);
  }
  if (u->op == NSR_UPD_NONE)
    return;
  bool grows = u->op == NSR_UPD_INC || (u->op == NSR_UPD_ADD && u->value >= 0);
  find_sem(w, u->sem,
           !grows && (w->external || nsr_owned(w->image->kernel, u->sem)));
}

/* What others wait for and update. */
static void find_others(struct nsr_world *w) {
  for (uint32_t i = 0; w->external && i < w->external->nevents; i++) {
    const struct nsr_external_event *e = &w->external->events[i];
    for (uint32_t j = 0; j < e->nwaits; j++)
      find_sem(w,
               e->waits[j].cores ? w->image->isa->semaphores : e->waits[j].sem,
               false);
    for (uint32_t j = 0; j < e->nupdates; j++) {
      const struct nsr_update *u = &e->updates[j];
      find_sem(w, u->sem,
               u->op != NSR_UPD_INC && (u->op != NSR_UPD_ADD || u->value < 0));
    }
  }
  w->cores = w->sem_slot[w->image->isa->semaphores];
}

/* ---- start */

static enum nsr_status start_engine(struct nsr_world *w, int engine) {
  const struct nsr_image_stream *s = &w->image->streams[engine];
  for (uint32_t i = 0; i < s->n; i++)
    find_sems(w, &s->steps[i]);
  return settle(w, engine, &w->start[engine]);
}

static enum nsr_status model_new(struct nsr_world *w,
                                 const struct nsr_machine *machine) {
  const struct nsr_sim_options options = {.image = w->image,
                                          .machine = machine,
                                          .memory = &w->memory->memory,
                                          .budget = WALK};
  return nsr_sim_new(w->ctx, w->arena, &options, &w->sim);
}

static enum nsr_status tables_new(struct nsr_world *w) {
  size_t sems = (size_t)w->image->isa->semaphores + 1; /* core barriers last */
  size_t places = (size_t)nsr_atoms_count(w->atoms) + (size_t)w->image->nhidden;
  NSR_NEW(w->ctx, w->arena, w->sem_slot, sems);
  NSR_NEW(w->ctx, w->arena, w->sem_at, sems);
  NSR_NEW(w->ctx, w->arena, w->sem_odd, sems);
  NSR_NEW(w->ctx, w->arena, w->slot_of, places);
  for (size_t i = 0; i < sems; i++)
    w->sem_slot[i] = NSR_NONE;
  for (size_t i = 0; i < places; i++)
    w->slot_of[i] = NSR_NONE;
  return nsr_readings_init(w);
}

enum nsr_status nsr_world_new(struct nsr_ctx *ctx, enum nsr_arena_id arena,
                              const struct nsr_world_setting *setting,
                              struct nsr_world **world) {
  const struct nsr_image *image = setting->image;
  struct nsr_world *w;
  NSR_NEW(ctx, arena, w, 1);
  w->ctx = ctx;
  w->arena = arena;
  w->image = image;
  w->atoms = setting->atoms;
  w->allowed = setting->allowed;
  w->reference = setting->reference;
  w->external = setting->external;
  w->wild = image->has_foreign || image->has_unknown;
  NSR_TRY(nsr_opaque_new(ctx, arena, image, w->atoms, setting->contents,
                         setting->ncontents, &w->memory));
  NSR_TRY(model_new(w, setting->machine));
  NSR_TRY(tables_new(w));
  find_others(w);
  NSR_TRY(nsr_events_new(w));
  for (int e = 0; e < image->nengines; e++)
    if (image->streams[e].stream)
      NSR_TRY(start_engine(w, e));
  *world = w;
  return NSR_OK;
}

/* ---- conflicts */

static unsigned meet_at(unsigned p, unsigned c, bool same,
                        enum nsr_order order) {
  const unsigned may = NSR_TOUCH_MAY_R | NSR_TOUCH_MAY_W;
  const unsigned writes = NSR_TOUCH_W | NSR_TOUCH_ACC | NSR_TOUCH_MAY_W;
  const unsigned hidden = NSR_TOUCH_HIDDEN_R | NSR_TOUCH_HIDDEN_W;
  bool p_writes = (p & (NSR_TOUCH_W | NSR_TOUCH_ACC)) != 0;
  unsigned how = 0;
  if (p & hidden && c & hidden && (p | c) & NSR_TOUCH_HIDDEN_W &&
      !(same && order != NSR_ORDER_NONE))
    how |= NSR_MEET_MUST;
  if (c & (NSR_TOUCH_R | NSR_TOUCH_W) && p_writes)
    how |= NSR_MEET_MUST;
  if (c & (NSR_TOUCH_W | NSR_TOUCH_ACC) && p & NSR_TOUCH_R && !p_writes)
    how |= NSR_MEET_MUST;
  if (c & NSR_TOUCH_ACC && p_writes && !(same && order == NSR_ORDER_HIDDEN))
    how |= NSR_MEET_MUST;
  if ((p & may && c & writes) || (p & NSR_TOUCH_MAY_W) ||
      (c & may && p & writes) || (c & NSR_TOUCH_MAY_W))
    how |= NSR_MEET_MAY;
  return how;
}

/* What others see or make, and unknown effects. */
static unsigned meet_others(const struct nsr_world *w,
                            const struct nsr_instance *p,
                            const struct nsr_instance *c, bool same,
                            enum nsr_order order) {
  if (!w->wild || !p->flight.number || !c->flight.number)
    return NSR_MEET_NOT;
  bool outside = (p->fires && (c->fires || c->sees)) || (p->sees && c->fires);
  if (outside && !(same && (c->fires || order == NSR_ORDER_FULL)))
    return NSR_MEET_MAY;
  bool unknown = (!p->is_event && p->flight.step->desc->unknown_effects) ||
                 (!c->is_event && c->flight.step->desc->unknown_effects);
  return unknown ? NSR_MEET_MAY : NSR_MEET_NOT;
}

static unsigned meet(const struct nsr_world *w, const struct nsr_instance *p,
                     const struct nsr_instance *c) {
  bool same = !p->is_event && p->lane == c->lane;
  enum nsr_order order =
      same ? nsr_channel_order(w->image->kernel, p->lane) : NSR_ORDER_NONE;
  unsigned how = meet_others(w, p, c, same, order), at;
  bool allowed = nsr_allowed_pair(w->allowed, p->allowed, c->allowed);
  if (same && order == NSR_ORDER_FULL)
    return how;
  for (uint32_t i = 0, j = 0; i < p->ntouches && j < c->ntouches;) {
    if (p->touches[i].slot < c->touches[j].slot) {
      i++;
      continue;
    }
    if (p->touches[i].slot > c->touches[j].slot) {
      j++;
      continue;
    }
    bool hidden = w->slot_at.v[p->touches[i].slot] >= nsr_atoms_count(w->atoms);
    at = meet_at(p->touches[i++].how, c->touches[j++].how, same, order);
    how |= at && allowed && !hidden ? NSR_MEET_MAY : at;
  }
  return how;
}

static enum nsr_status meets_grow(struct nsr_world *w) {
  uint32_t cap = w->meets_cap ? w->meets_cap * 2 : 64;
  while (cap < w->insts.n)
    cap *= 2;
  NSR_NEW(w->ctx, w->arena, w->meets, (size_t)cap * cap);
  w->meets_cap = cap;
  return NSR_OK;
}

enum nsr_status nsr_world_meet(struct nsr_world *w, uint32_t p, uint32_t c,
                               unsigned *how) {
  if (p >= w->meets_cap || c >= w->meets_cap)
    NSR_TRY(meets_grow(w));
  uint8_t *known = &w->meets[(size_t)p * w->meets_cap + c];
  if (!*known)
    *known = (uint8_t)(meet(w, nsr_inst(w, p), nsr_inst(w, c)) + 1);
  *how = *known - 1u;
  return NSR_OK;
}
