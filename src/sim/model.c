/* model.c - a run of the engine model from its start to its end.
 *
 * Needs an image, a machine, a memory and a policy; makes the events, one
 * policy decision at a time. A run ends when every engine has halted and
 * nothing is in flight, or where no decision is left.
 */
#include "sim/model.h"

#include <stdio.h>
#include <string.h>

#include "sim/hash.h"

const char *nsr_machine_fault_name(enum nsr_machine_fault f) {
  static const char *const names[] = {
      "none",           "out of bounds",      "outside its tensor",
      "wild jump",      "off the end",        "division by zero",
      "semaphore",      "barrier ids",        "undefined register",
      "negative count", "operands do not fit"};
  return names[f];
}

static uint32_t at_least(uint32_t n) {
  uint32_t p = 1;
  while (p < n)
    p *= 2;
  return p;
}

static int32_t garbage(uint64_t *state) {
  static const int32_t odd[] = {-7, 3, 1 << 20};
  uint32_t which = nsr_random_below(state, 4);
  return which < 3 ? odd[which] : (int32_t)(uint32_t)nsr_random(state);
}

static enum nsr_status core_new(struct nsr_sim *sim, int e,
                                const struct nsr_sim_options *o,
                                uint64_t *random) {
  const struct nsr_image_stream *s = &o->image->streams[e];
  struct nsr_core *c = &sim->core[e];
  size_t nregs = o->image->isa->registers;
  c->state = NSR_CORE_ABSENT;
  if (!s->stream)
    return NSR_OK;
  c->steps = s->steps;
  c->n = s->n;
  NSR_NEW(sim->ctx, sim->arena, c->reg, nregs);
  NSR_NEW(sim->ctx, sim->arena, c->defined, nregs);
  NSR_NEW(sim->ctx, sim->arena, c->ran, s->n);
  NSR_NEW(sim->ctx, sim->arena, c->taken, s->n);
  for (size_t r = 0; r < nregs && o->registers != NSR_REGS_UNDEFINED; r++) {
    c->reg[r] = garbage(random);
    c->defined[r] = true;
    if (o->registers == NSR_REGS_KEPT && o->before->core[e].reg &&
        o->before->core[e].defined[r])
      c->reg[r] = o->before->core[e].reg[r];
  }
  sim->present++;
  nsr_core_wake(sim, e);
  return NSR_OK;
}

static enum nsr_status lane_new(struct nsr_sim *sim, int ch,
                                const struct nsr_machine *m) {
  const struct nsr_kernel *k = sim->image->kernel;
  struct nsr_lane *l = &sim->lane[ch];
  bool pipe = ch < k->isa->nengines;
  l->order = (uint8_t)nsr_channel_order(k, ch);
  l->engine = (uint8_t)nsr_channel_engine(k, ch);
  if (!sim->image->streams[l->engine].stream)
    return NSR_OK;
  l->depth = pipe ? m->pipe_window[ch] : m->queue_depth;
  l->window = pipe ? m->pipe_window[ch] : m->queue_window;
  uint32_t cap = at_least(l->depth);
  l->mask = cap - 1;
  NSR_NEW(sim->ctx, sim->arena, l->ring, cap);
  return NSR_OK;
}

enum nsr_status nsr_sim_new(struct nsr_ctx *ctx, enum nsr_arena_id arena,
                            const struct nsr_sim_options *o,
                            struct nsr_sim **out) {
  struct nsr_sim *sim;
  uint64_t random = o->seed;
  NSR_NEW(ctx, arena, sim, 1);
  sim->ctx = ctx;
  sim->arena = arena;
  sim->image = o->image;
  sim->memory = o->memory;
  sim->policy = o->policy;
  if (o->observer)
    sim->observer = *o->observer;
  sim->budget = o->budget;
  sim->unsigned_waits = o->unsigned_waits;
  sim->ncores = o->image->nengines;
  sim->nchannels = o->image->nchannels;
  NSR_NEW(ctx, arena, sim->sem, (size_t)o->image->isa->semaphores + 1);
  sim->external = o->external;
  if (o->external) {
    NSR_NEW(ctx, arena, sim->happened, o->external->nsequences);
    nsr_external_due(sim);
  }
  for (int e = 0; e < sim->ncores; e++)
    NSR_TRY(core_new(sim, e, o, &random));
  for (int ch = 0; ch < sim->nchannels; ch++)
    NSR_TRY(lane_new(sim, ch, o->machine));
  *out = sim;
  return NSR_OK;
}

static enum nsr_sim_end nothing_moves(const struct nsr_sim *sim) {
  for (int e = 0; e < sim->ncores; e++)
    if (sim->core[e].state != NSR_CORE_HALTED &&
        sim->core[e].state != NSR_CORE_ABSENT)
      return NSR_SIM_HANG;
  return NSR_DONE;
}

enum nsr_status nsr_sim_run(struct nsr_sim *sim) {
  while (sim->end == NSR_RUNNING) {
    if (!(sim->ready | sim->busy | sim->due)) {
      sim->end = nothing_moves(sim);
      break;
    }
    struct nsr_action a = nsr_policy_next(sim->policy, sim);
    if (a.move == NSR_MOVE_ENGINE)
      nsr_sim_issue_next(sim, a.index);
    else if (a.move == NSR_MOVE_HEAD)
      nsr_lane_head(sim, a.index);
    else if (a.move == NSR_MOVE_EXTERNAL)
      nsr_external_happen(sim, a.index);
    else
      nsr_lane_event(sim, a.index, a.slot);
  }
  return sim->status;
}
