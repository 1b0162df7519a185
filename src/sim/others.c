/* others.c - events of the outside world, beside the engines.
 *
 * Needs a run that was given events; says which of them may happen, and makes
 * one happen: memory, then semaphores. When it happens is a policy's choice.
 */
#include <assert.h>

#include "sim/model.h"

static const struct nsr_external_event *next_event(const struct nsr_sim *sim,
                                                   uint32_t sequence) {
  const struct nsr_external *x = sim->external;
  uint32_t i = x->first[sequence] + sim->happened[sequence];
  return i < x->first[sequence + 1] ? &x->events[i] : NULL;
}

static bool may_happen(const struct nsr_sim *sim,
                       const struct nsr_external_event *e) {
  for (uint32_t i = 0; i < e->nwaits; i++) {
    const struct nsr_external_wait *w = &e->waits[i];
    if (sim->sem[w->cores ? sim->image->isa->semaphores : w->sem] < w->need)
      return false;
  }
  return true;
}

void nsr_external_due(struct nsr_sim *sim) {
  sim->due = 0;
  for (uint32_t s = 0; sim->external && s < sim->external->nsequences; s++) {
    const struct nsr_external_event *e = next_event(sim, s);
    if (e && may_happen(sim, e))
      sim->due |= UINT32_C(1) << s;
  }
}

static void signal_others(struct nsr_sim *sim, uint32_t index,
                          const struct nsr_external_event *e) {
  for (uint32_t i = 0; i < e->nupdates; i++) {
    const struct nsr_update *u = &e->updates[i];
    int32_t before = sim->sem[u->sem], after;
    if (!nsr_update_apply(sim, u, &after)) {
      nsr_sim_fail(sim, NSR_MF_SEMAPHORE, -1, index,
                   "semaphore %u overflows in the event of %.60s:%u",
                   (unsigned)u->sem, sim->external->path, (unsigned)e->line);
      return;
    }
    sim->sem[u->sem] = after;
    if (sim->observer.signalled)
      sim->observer.signalled(sim->observer.self, index, u, before, after);
    nsr_lane_wake(sim, u->sem);
  }
}

void nsr_external_happen(struct nsr_sim *sim, uint32_t sequence) {
  const struct nsr_external_event *e = next_event(sim, sequence);
  assert(e);
  uint32_t index = (uint32_t)(e - sim->external->events);
  if (sim->observer.external &&
      !sim->observer.external(sim->observer.self, index)) {
    sim->end = NSR_SIM_STOPPED;
    return;
  }
  sim->status = sim->memory->ops->external(sim->memory, e, index);
  if (sim->status != NSR_OK) {
    sim->end = NSR_SIM_STOPPED;
    return;
  }
  sim->happened[sequence]++;
  signal_others(sim, index, e);
  nsr_external_due(sim);
}
