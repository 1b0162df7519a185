/* lane.c - a channel's instances in flight: read, write, retire.
 *
 * Needs instances that were issued; makes their effects, in any order that
 * the channel's order and window allow, and retires them in order.
 */
#include <assert.h>

#include "sim/model.h"
#include "sim/numeric.h"

static bool is_ordered(const struct nsr_flight *f) {
  return (f->step->flags & NSR_STEP_ORDERED) != 0;
}

bool nsr_lane_may(const struct nsr_lane *l, uint32_t i) {
  if (i >= l->n || i >= l->window)
    return false;
  const struct nsr_flight *f = nsr_lane_slot(l, i);
  if (f->stage == NSR_WRITTEN)
    return false;
  bool all = l->order == NSR_ORDER_FULL;
  if (!all && (l->order == NSR_ORDER_NONE || !is_ordered(f)))
    return true;
  for (uint32_t j = 0; j < i; j++) {
    const struct nsr_flight *g = nsr_lane_slot(l, j);
    if (g->stage != NSR_WRITTEN && (all || is_ordered(g)))
      return false;
  }
  return true;
}

static void event(struct nsr_sim *sim, struct nsr_flight *f) {
  const struct nsr_memory_ops *ops = sim->memory->ops;
  const char *why = NULL;
  if (f->stage == NSR_READ) {
    sim->status = ops->write(sim->memory, f);
    f->stage = NSR_WRITTEN;
  } else {
    sim->status = ops->read(sim->memory, f, &why);
    f->stage = NSR_READ;
    if (why)
      nsr_sim_fail(sim, why == nsr_index_outside ? NSR_MF_BOUNDS : NSR_MF_SHAPE,
                   f->engine, f->insn, "%s", why);
    else if (sim->status == NSR_OK && sim->observer.read &&
             !sim->observer.read(sim->observer.self, f))
      sim->end = NSR_SIM_STOPPED;
  }
  if (sim->status != NSR_OK)
    sim->end = NSR_SIM_STOPPED;
}

/* ---- retirement */

int64_t nsr_update_value(const struct nsr_update *u, int32_t now) {
  switch (u->op) {
  case NSR_UPD_INC:
    return (int64_t)now + 1;
  case NSR_UPD_DEC:
    return (int64_t)now - 1;
  case NSR_UPD_ADD:
    return (int64_t)now + u->value;
  case NSR_UPD_SUB:
    return (int64_t)now - u->value;
  default:
    return u->value;
  }
}

bool nsr_update_apply(const struct nsr_sim *sim, const struct nsr_update *u,
                      int32_t *after) {
  int64_t next = nsr_update_value(u, sim->sem[u->sem]);
  int64_t limit = INT64_C(1) << (sim->image->isa->semaphore_bits - 1);
  if (next < -limit || next >= limit)
    return false;
  *after = (int32_t)next;
  return true;
}

static bool apply(struct nsr_sim *sim, const struct nsr_flight *f,
                  int32_t *before, int32_t *after) {
  const struct nsr_update *u = &f->step->update;
  *before = sim->sem[u->sem];
  if (!nsr_update_apply(sim, u, after)) {
    nsr_sim_fail(sim, NSR_MF_SEMAPHORE, f->engine, f->insn,
                 "semaphore %u overflows", (unsigned)u->sem);
    return false;
  }
  sim->sem[u->sem] = *after;
  return true;
}

void nsr_lane_wake(struct nsr_sim *sim, uint16_t sem) {
  for (int e = 0; e < sim->ncores; e++)
    if (sim->core[e].state == NSR_CORE_WAITING && sim->core[e].sem == sem)
      nsr_core_wake(sim, e);
}

static bool load_value(struct nsr_sim *sim, const struct nsr_flight *f) {
  struct nsr_core *c = &sim->core[f->engine];
  const char *why = "";
  int32_t v;
  if (!sim->memory->ops->value(sim->memory, f, &v, &why)) {
    nsr_sim_fail(sim, NSR_MF_UNDEFINED, f->engine, f->insn, "%s", why);
    sim->end = NSR_SIM_OPAQUE;
    return false;
  }
  if (f->step->dst >= 0) {
    c->reg[f->step->dst] = v;
    c->defined[f->step->dst] = true;
  }
  if (sim->observer.loaded)
    sim->observer.loaded(sim->observer.self, f);
  return true;
}

static void wake_own(struct nsr_sim *sim, const struct nsr_flight *f) {
  struct nsr_core *c = &sim->core[f->engine];
  if (c->state == NSR_CORE_STALLED && f->step->desc->cls == NSR_LOAD)
    nsr_core_wake(sim, f->engine);
  else if (c->state == NSR_CORE_FULL && c->channel == f->channel)
    nsr_core_wake(sim, f->engine);
  else if (c->state == NSR_CORE_DRAINING && c->inflight == 0)
    nsr_core_wake(sim, f->engine);
}

static void retire(struct nsr_sim *sim, int channel) {
  struct nsr_lane *l = &sim->lane[channel];
  struct nsr_flight *f = nsr_lane_slot(l, 0);
  int32_t before = 0, after = 0;
  assert(f->stage == NSR_WRITTEN);
  if (f->step->desc->cls == NSR_LOAD && !load_value(sim, f))
    return;
  bool updates = f->step->update.op != NSR_UPD_NONE;
  if (updates && !apply(sim, f, &before, &after))
    return;
  sim->sem[sim->image->isa->semaphores] += f->step->desc->external;
  if (sim->observer.retired)
    sim->observer.retired(sim->observer.self, f, before, after);
  l->head++;
  l->n--;
  if (!l->n)
    sim->busy &= ~(UINT32_C(1) << channel);
  sim->core[f->engine].inflight--;
  if (updates)
    nsr_lane_wake(sim, f->step->update.sem);
  wake_own(sim, f);
  if (f->step->flags & NSR_STEP_FOREIGN_UPDATE)
    nsr_external_due(sim);
}

/* ---- moves */

void nsr_lane_head(struct nsr_sim *sim, int channel) {
  struct nsr_flight *f = nsr_lane_slot(&sim->lane[channel], 0);
  while (f->stage != NSR_WRITTEN && sim->end == NSR_RUNNING)
    event(sim, f);
  if (sim->end == NSR_RUNNING)
    retire(sim, channel);
}

void nsr_lane_event(struct nsr_sim *sim, int channel, uint32_t slot) {
  struct nsr_lane *l = &sim->lane[channel];
  struct nsr_flight *f = nsr_lane_slot(l, slot);
  if (f->stage != NSR_WRITTEN)
    event(sim, f);
  else if (slot == 0)
    retire(sim, channel);
}
