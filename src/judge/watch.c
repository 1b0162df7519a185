/* watch.c - watches one run.
 *
 * Needs a kernel, an input, a schedule and, unless it records, the reference
 * run; makes the first finding: a race, another trace, other reads, a hang, a
 * fault, something left behind. A recording run that meets addresses without
 * cuts goes on blindly, for its caller to repeat it.
 */
#include "judge/watch.h"

#include <string.h>

#include "judge/accesses.h"
#include "judge/witness.h"
#include "sim/hash.h"

static bool alive(const struct nsr_watch *w) {
  return w->status == NSR_OK && w->clocks.status == NSR_OK &&
         (w->finding.kind == NSR_FAULT_NONE && !w->finding.undecided);
}

/* ---- may accesses of an instance or event */

static const struct nsr_trace *reference_trace(const struct nsr_watch *w) {
  return w->o.reference ? &w->o.reference->trace : NULL;
}

static bool may_check(struct nsr_watch *w, const struct nsr_may_access *a,
                      int engine, uint32_t insn, int operand) {
  struct nsr_clash clash = {.operand = operand};
  if (!nsr_may_check(w->may, a, reference_trace(w),
                     w->o.reference ? &w->o.reference->clocks : NULL, &clash))
    return true;
  nsr_witness_race(w, engine, insn, a->component, a->ordinal, a->clock, &clash);
  return false;
}

struct pass { /* one pass over an instance's accesses */
  struct nsr_watch *w;
  const struct nsr_flight *f;
  bool record;
};

static bool visit(void *self, const struct nsr_may_access *a, int operand) {
  struct pass *p = self;
  if (!p->record)
    return may_check(p->w, a, p->f->engine, p->f->insn, operand);
  p->w->status = nsr_may_record(p->w->may, a);
  return p->w->status == NSR_OK;
}

static bool check_may(struct nsr_watch *w, const struct nsr_flight *f) {
  struct pass p = {.w = w, .f = f};
  if (f->number == 0)
    return true;
  for (int pass = 0; pass < 2; pass++) {
    p.record = pass == 1;
    if (w->o.may && !nsr_each_operand(w, f, visit, &p))
      return false;
    if (w->o.wild && !nsr_each_event(w, f, visit, &p))
      return false;
  }
  return true;
}

/* ---- observer: waits and events at the program counter */

static bool compare_event(struct nsr_watch *w, int engine, uint32_t insn,
                          uint64_t identity, uint32_t component) {
  const struct nsr_watch *ref = w->o.reference;
  uint32_t number = ++w->numbered[component];
  if (!ref)
    return true;
  if (number <= ref->trace.of[component].n &&
      ref->trace.of[component].v[number - 1].identity == identity)
    return true;
  if (ref->finding.budget && number > ref->trace.of[component].n)
    nsr_witness_prefix(w);
  else
    nsr_witness_event(w, engine, insn);
  return false;
}

static enum nsr_status push_insn(struct nsr_watch *w, uint32_t component,
                                 uint32_t insn) {
  NSR_PUSH(w->pool, NSR_SCRATCH, &w->insns[component], insn);
  if (w->o.wild)
    NSR_PUSH(w->pool, NSR_SCRATCH, &w->numbers[component],
             w->numbered[component]);
  return NSR_OK;
}

static enum nsr_status push_entry(struct nsr_watch *w, uint32_t component,
                                  const struct nsr_trace_entry *entry) {
  NSR_PUSH(w->pool, NSR_SCRATCH, &w->trace.of[component], *entry);
  return NSR_OK;
}

/* Others may act on what they see: what an engine knows when it waits for
 * them or tells them something has to happen before it, so it may not be more
 * than in the first kernel, where they may act in between. */
static void compare_knowledge(struct nsr_watch *w, int engine, uint32_t insn,
                              uint32_t component, bool seen) {
  const struct nsr_watch *ref = w->o.reference;
  if (!ref || w->blind || w->awaits_more.text || w->o.external)
    return; /* where it is known what others do, a hang shows itself */
  uint32_t row = ref->trace.of[component].v[w->numbered[component] - 1].row;
  const uint32_t *before = nsr_clocks_at(&ref->clocks, row);
  const uint32_t *now = nsr_clocks_of(&w->clocks, engine);
  for (uint32_t c = w->clocks.width; c-- > 0;)
    if (now[c] &&
        nsr_watch_known(w, now, c) > nsr_watch_known(ref, before, c)) {
      nsr_witness_awaits_more(w, engine, insn, c, now, before, seen);
      return;
    }
}

/* A wait on a semaphore of others: an event that everything in DRAM may
 * depend on. */
static void foreign_wait(struct nsr_watch *w, int engine, uint32_t insn,
                         const struct nsr_wait *wait, int32_t threshold) {
  uint32_t component = (uint32_t)(w->o.image->nchannels + engine);
  uint64_t identity =
      nsr_combine((uint64_t)wait->sem << 8 | wait->cmp, (uint32_t)threshold);
  if (!compare_event(w, engine, insn, identity, component))
    return;
  uint32_t ordinal = nsr_clocks_event(&w->clocks, engine);
  struct nsr_trace_entry entry = {.identity = identity,
                                  .insn = insn,
                                  .ordinal = ordinal,
                                  .row = nsr_clocks_keep(&w->clocks, engine)};
  if (w->clocks.status != NSR_OK)
    return;
  w->status = push_insn(w, component, insn);
  if (w->status == NSR_OK && !w->o.reference)
    w->status = push_entry(w, component, &entry);
  if (w->status == NSR_OK)
    compare_knowledge(w, engine, insn, component, false);
  struct nsr_may_access a = {.location = w->may->external,
                             .ordinal = ordinal,
                             .number = ordinal,
                             .component = (uint8_t)component,
                             .may = true,
                             .writes = true,
                             .clock = nsr_clocks_of(&w->clocks, engine)};
  for (int i = 0; i < 2 && w->status == NSR_OK && !w->blind; i++) {
    if (!may_check(w, &a, engine, insn, -1))
      return;
    w->status = nsr_may_record(w->may, &a);
    a.location = w->may->unknown;
    a.writes = false;
  }
}

static void on_waited(void *self, int engine, uint32_t insn,
                      int32_t threshold) {
  struct nsr_watch *w = self;
  const struct nsr_step *s = &w->o.image->streams[engine].steps[insn];
  if (!alive(w))
    return;
  if (s->flags & NSR_STEP_FOREIGN_WAIT) {
    if (w->o.external)
      nsr_clocks_waited(&w->clocks, engine, insn, &s->wait, threshold);
    foreign_wait(w, engine, insn, &s->wait, threshold);
    return;
  }
  if (w->o.on_wait)
    w->o.on_wait(w->o.probe_self, w, engine, insn, threshold);
  nsr_clocks_waited(&w->clocks, engine, insn, &s->wait, threshold);
}

/* ---- observer: instances */

/* What races decide is one unknown value. */
static bool take_races(const struct nsr_watch *w, struct nsr_flight *f) {
  uint32_t number = nsr_access_allowed(w, f);
  f->any_reads = number ? w->o.allowed->insns[number - 1].reads : 0;
  f->any_writes = number ? w->o.allowed->insns[number - 1].writes : 0;
  return true;
}

static bool on_begun(void *self, struct nsr_flight *f) {
  struct nsr_watch *w = self;
  const struct nsr_watch *ref = w->o.reference;
  if (!alive(w)) /* found by the wait of this instruction */
    return false;
  if (f->number == 0)
    return true;
  w->numbered[f->channel] = f->number;
  if (!ref)
    return take_races(w, f);
  if (f->number <= ref->trace.of[f->channel].n &&
      ref->trace.of[f->channel].v[f->number - 1].identity == f->identity)
    return take_races(w, f);
  if (ref->finding.budget && f->number > ref->trace.of[f->channel].n)
    nsr_witness_prefix(w);
  else
    nsr_witness_identity(w, f);
  return false;
}

/* Keeps the clock where something later asks for it. */
static enum nsr_status note_issue(struct nsr_watch *w, struct nsr_flight *f) {
  bool keep = f->step->update.op != NSR_UPD_NONE || f->step->desc->external ||
              (!w->o.reference && (w->o.may || w->o.wild)) || w->o.remember;
  if (keep)
    f->tag = nsr_clocks_keep(&w->clocks, f->engine);
  nsr_clocks_issued(&w->clocks, f);
  NSR_TRY(push_insn(w, f->channel, f->insn));
  if (w->o.reference || f->number == 0)
    return NSR_OK;
  struct nsr_trace_entry entry = {.identity = f->identity,
                                  .insn = f->insn,
                                  .ordinal = f->ordinal,
                                  .row = f->tag};
  return push_entry(w, f->channel, &entry);
}

static bool check_order(struct nsr_watch *w, const struct nsr_flight *f) {
  const uint32_t *clock = nsr_clocks_of(&w->clocks, f->engine);
  struct nsr_clash clash = {.may = false};
  if (!w->o.may && f->number &&
      nsr_shadow_check(w->shadow, w->o.image, f, clock, &clash)) {
    nsr_witness_race(w, f->engine, f->insn, f->channel, f->ordinal, clock,
                     &clash);
    return false;
  }
  return (!w->o.may && !w->o.wild) || check_may(w, f);
}

static bool on_issued(void *self, struct nsr_flight *f) {
  struct nsr_watch *w = self;
  w->blind = w->blind || nsr_atoms_pending(w->o.atoms);
  if (w->blind && w->other_reads.text)
    return false;
  w->status = note_issue(w, f);
  if (!w->blind && alive(w) && !w->o.no_order) {
    if (f->step->flags & NSR_STEP_FOREIGN_UPDATE)
      compare_knowledge(w, f->engine, f->insn, f->channel, true);
    if (!check_order(w, f))
      return false;
    if (w->o.on_issue && !w->o.on_issue(w->o.probe_self, w, f))
      return false;
    if (!w->o.may && f->number)
      nsr_shadow_record(w->shadow, f);
  }
  return alive(w);
}

static bool on_read(void *self, const struct nsr_flight *f) {
  struct nsr_watch *w = self;
  const struct nsr_watch *ref = w->o.reference;
  if (f->number == 0)
    return true;
  if (w->o.on_read && !w->o.on_read(w->o.probe_self, w, f))
    return false;
  if (!ref) {
    w->trace.of[f->channel].v[f->number - 1].digest = f->digest;
    w->trace.of[f->channel].v[f->number - 1].read = true;
    return true;
  }
  if (w->other_reads.text || !ref->trace.of[f->channel].v[f->number - 1].read ||
      ref->trace.of[f->channel].v[f->number - 1].digest == f->digest)
    return true;
  nsr_witness_reads(w, f);
  w->other_reads = w->finding;
  w->finding = (struct nsr_finding){.kind = NSR_FAULT_NONE};
  return w->status == NSR_OK;
}

static void on_loaded(void *self, const struct nsr_flight *f) {
  struct nsr_watch *w = self;
  nsr_clocks_loaded(&w->clocks, f);
}

static void on_retired(void *self, const struct nsr_flight *f, int32_t before,
                       int32_t after) {
  struct nsr_watch *w = self;
  nsr_clocks_retired(&w->clocks, f, before, after);
}

static void on_barrier(void *self) {
  struct nsr_watch *w = self;
  nsr_clocks_barrier(&w->clocks);
}

static void on_halted(void *self, int engine) {
  struct nsr_watch *w = self;
  const uint32_t *clock = nsr_clocks_of(&w->clocks, engine);
  if (w->blind || !alive(w))
    return;
  for (int ch = 0; ch < w->o.image->nchannels; ch++)
    if (w->sim->lane[ch].engine == engine && clock[ch] < w->clocks.issued[ch]) {
      nsr_witness_flight(w, engine, (uint32_t)ch);
      return;
    }
}

/* ---- observer: events of others */

/* Unknown effects reach what others read and write. */
static bool check_unknown(struct nsr_watch *w, struct nsr_may_access a,
                          uint32_t index) {
  a.location = w->may->unknown;
  a.may = true;
  a.writes = false;
  if (!may_check(w, &a, -1, index, -1))
    return false;
  w->status = nsr_may_record(w->may, &a);
  return w->status == NSR_OK;
}

static bool check_atoms(struct nsr_watch *w, struct nsr_may_access *a,
                        struct nsr_atom_range atoms, uint32_t index,
                        bool record) {
  struct nsr_clash clash = {.operand = -1};
  if (!w->o.may && record) {
    nsr_shadow_record_atoms(w->shadow, atoms, a->component, a->writes,
                            a->ordinal);
  } else if (!w->o.may && nsr_shadow_check_atoms(w->shadow, atoms, a->component,
                                                 a->writes, a->clock, &clash)) {
    nsr_witness_race(w, -1, index, a->component, a->ordinal, a->clock, &clash);
    return false;
  }
  for (uint32_t i = atoms.first; w->o.may && i < atoms.end; i++) {
    a->location = i;
    if (!record && !may_check(w, a, -1, index, -1))
      return false;
    if (record)
      w->status = nsr_may_record(w->may, a);
    if (w->status != NSR_OK)
      return false;
  }
  return true;
}

/* All accesses are checked, then recorded, writes last: they stand for both. */
static bool check_external(struct nsr_watch *w,
                           const struct nsr_external_event *e, uint32_t index) {
  struct nsr_may_access a = {
      .ordinal = e->ordinal,
      .number = e->ordinal,
      .component = (uint8_t)(w->clocks.outside + e->sequence),
      .clock = nsr_clocks_of(&w->clocks, nsr_clocks_sequence(e))};
  for (int pass = 0; pass < 3; pass++)
    for (uint32_t i = 0; i < e->naccesses; i++) {
      const struct nsr_external_access *x = &e->accesses[i];
      a.writes = x->writes;
      if ((pass == 0 || x->writes == (pass == 2)) &&
          !check_atoms(w, &a, nsr_atoms_dram(w->o.atoms, x->begin, x->end),
                       index, pass > 0))
        return false;
    }
  return !e->naccesses || check_unknown(w, a, index);
}

static bool on_external(void *self, uint32_t index) {
  struct nsr_watch *w = self;
  const struct nsr_external_event *e = &w->o.external->events[index];
  uint32_t component = w->clocks.outside + e->sequence;
  if (!alive(w))
    return false;
  nsr_clocks_external(&w->clocks, index);
  if (w->clocks.status != NSR_OK)
    return false;
  w->numbered[component] = e->ordinal;
  w->status = push_insn(w, component, index);
  struct nsr_trace_entry entry = {
      .insn = index,
      .ordinal = e->ordinal,
      .row = nsr_clocks_keep(&w->clocks, nsr_clocks_sequence(e))};
  if (w->status == NSR_OK && !w->o.reference)
    w->status = push_entry(w, component, &entry);
  return w->status == NSR_OK && (w->blind || check_external(w, e, index));
}

static void on_signalled(void *self, uint32_t index, const struct nsr_update *u,
                         int32_t before, int32_t after) {
  struct nsr_watch *w = self;
  nsr_clocks_signalled(&w->clocks, index, u, before, after);
}

/* ---- the end */

static void compare_memory(struct nsr_watch *w) {
  const struct nsr_watch *ref = w->o.reference;
  uint32_t n = nsr_atoms_count(w->o.atoms);
  for (uint32_t a = 0; a < n; a++)
    if (w->memory->token[a] != ref->memory->token[a]) {
      nsr_witness_memory(w, a);
      return;
    }
}

static void compare_lengths(struct nsr_watch *w) {
  for (uint32_t c = 0; c < w->clocks.outside; c++)
    if (w->numbered[c] != w->o.reference->trace.of[c].n) {
      nsr_witness_length(w, c);
      return;
    }
}

static bool semaphores_left(const struct nsr_watch *w) {
  const struct nsr_kernel *k = w->o.image->kernel;
  for (uint32_t s = k->owned_first;
       s <= k->owned_last && s < k->isa->semaphores; s++)
    if (w->sim->sem[s] != 0)
      return true;
  return false;
}

/* Whether the reference, cut off by its budget, went on where this run stops.
 */
static bool went_on(const struct nsr_watch *w) {
  for (uint32_t c = 0; c < w->clocks.outside; c++)
    if (w->numbered[c] < w->o.reference->trace.of[c].n)
      return true;
  return false;
}

static void conclude(struct nsr_watch *w) {
  bool prefix = w->o.reference && w->o.reference->finding.budget;
  if (w->other_reads.text) {
    if (w->finding.kind != NSR_FAULT_RACE)
      w->finding = w->other_reads;
    return;
  }
  bool all = w->sim->end == NSR_DONE || w->sim->end == NSR_SIM_HANG ||
             w->sim->end == NSR_SIM_ENDLESS;
  if (prefix && alive(w) && all && !went_on(w)) {
    nsr_witness_prefix(w);
    return;
  }
  if (w->sim->end != NSR_DONE && w->sim->end != NSR_SIM_STOPPED) {
    nsr_witness_end(w);
    return;
  }
  if (!alive(w) || w->sim->end == NSR_SIM_STOPPED)
    return;
  if (w->o.reference)
    compare_lengths(w);
  if (alive(w) && semaphores_left(w))
    nsr_witness_semaphores(w);
  if (alive(w) && w->o.reference)
    compare_memory(w);
  /* clocks of semaphores that are no counts depend on the schedule */
  if (alive(w) && w->awaits_more.text && w->clocks.odd_sem < 0 &&
      w->o.reference->clocks.odd_sem < 0)
    w->finding = w->awaits_more;
}

static enum nsr_status start(struct nsr_watch *w) {
  const struct nsr_watch_options *o = &w->o;
  uint32_t natoms = nsr_atoms_count(o->atoms);
  struct nsr_observer observer = {.self = w,
                                  .waited = on_waited,
                                  .begun = on_begun,
                                  .issued = on_issued,
                                  .read = on_read,
                                  .loaded = on_loaded,
                                  .retired = on_retired,
                                  .barrier = on_barrier,
                                  .halted = on_halted,
                                  .external = on_external,
                                  .signalled = on_signalled};
  if (o->no_order) {
    observer.waited = NULL;
    observer.loaded = NULL;
    observer.retired = NULL;
    observer.barrier = NULL;
    observer.halted = NULL;
  }
  NSR_TRY(nsr_opaque_new(w->pool, NSR_SCRATCH, o->image, o->atoms, o->contents,
                         o->ncontents, &w->memory));
  NSR_TRY(nsr_clocks_init(&w->clocks, w->pool, NSR_SCRATCH, o->image,
                          o->external, o->wild, o->remember));
  if (!o->may)
    NSR_TRY(nsr_shadow_new(w->pool, NSR_SCRATCH, o->image, natoms,
                           o->external ? w->clocks.width
                                       : (uint32_t)o->image->nchannels,
                           &w->shadow));
  if (o->may || o->wild)
    NSR_TRY(nsr_may_new(w->pool, NSR_SCRATCH, o->image, natoms, o->may,
                        o->allowed, &w->may));
  const struct nsr_sim_options options = {.image = o->image,
                                          .machine = o->machine,
                                          .memory = &w->memory->memory,
                                          .policy = &w->o.policy,
                                          .observer = &observer,
                                          .external = o->external,
                                          .budget = o->budget,
                                          .registers = o->registers,
                                          .unsigned_waits = o->unsigned_waits,
                                          .before =
                                              o->before ? o->before->sim : NULL,
                                          .seed = o->policy.seed};
  NSR_TRY(nsr_sim_new(w->pool, NSR_SCRATCH, &options, &w->sim));
  for (uint32_t i = 0; i < o->nstarts; i++) {
    w->sim->sem[o->starts[i].sem] = o->starts[i].value;
    NSR_TRY(nsr_clocks_start(&w->clocks, o->starts[i].sem, o->starts[i].value));
  }
  return NSR_OK;
}

enum nsr_status nsr_watch_run(struct nsr_ctx *out, struct nsr_ctx *pool,
                              const struct nsr_watch_options *options,
                              struct nsr_watch **watch) {
  struct nsr_watch *w;
  NSR_NEW(pool, NSR_SCRATCH, w, 1);
  w->out = out;
  w->pool = pool;
  w->o = *options;
  NSR_TRY(start(w));
  NSR_TRY(nsr_sim_run(w->sim));
  NSR_TRY(w->status);
  NSR_TRY(w->clocks.status);
  if (!w->blind || w->other_reads.text)
    conclude(w);
  w->unordered_may = w->may ? w->may->unordered : 0;
  *watch = w;
  return w->status;
}
