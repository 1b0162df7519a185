/* witness.c - findings in words.
 *
 * Needs a run at the point where something was found; makes the text that a
 * person needs to see it again: instructions with their places, bytes, clocks.
 */
#include "judge/witness.h"

#include <nsr/text.h>

/* ---- pieces */

void nsr_say_insn(struct nsr_strbuf *b, const struct nsr_image *image,
                  int engine, uint32_t insn) {
  const struct nsr_stream *s = image->streams[engine].stream;
  struct nsr_place p = nsr_image_place(image, engine, insn);
  char text[160];
  nsr_strbuf_printf(b, "%s[%u]", image->isa->engines[engine], (unsigned)insn);
  if (p.label)
    nsr_strbuf_printf(b, " <%s>", p.label);
  if (p.source_file && p.source_line)
    nsr_strbuf_printf(b, " (%s:%u)", p.source_file, (unsigned)p.source_line);
  if (s && insn < s->n) {
    nsr_insn_format(image->kernel, s, insn, text, sizeof text);
    nsr_strbuf_printf(b, " `%s`", text);
  }
}

void nsr_say_event(struct nsr_strbuf *b, const struct nsr_external *external,
                   uint32_t index) {
  const struct nsr_external_event *e = &external->events[index];
  nsr_strbuf_printf(b, "event %s%s(%s:%u)", e->name ? e->name : "",
                    e->name ? " " : "", external->path, (unsigned)e->line);
}

static const char *component_name(const struct nsr_watch *w,
                                  uint32_t component) {
  const struct nsr_image *image = w->o.image;
  int ch = (int)component;
  if (component >= w->clocks.outside)
    return "others";
  return ch < image->nchannels ? nsr_channel_name(image->kernel, ch)
                               : image->isa->engines[ch - image->nchannels];
}

/* -1: others. */
static int component_engine(const struct nsr_watch *w, uint32_t component) {
  const struct nsr_image *image = w->o.image;
  int ch = (int)component;
  if (component >= w->clocks.outside)
    return -1;
  return ch < image->nchannels ? nsr_channel_engine(image->kernel, ch)
                               : ch - image->nchannels;
}

/* An instruction, or (engine -1) an event of others. */
static void say_source(struct nsr_strbuf *b, const struct nsr_watch *w,
                       int engine, uint32_t insn) {
  if (engine < 0)
    nsr_say_event(b, w->o.external, insn);
  else
    nsr_say_insn(b, w->o.image, engine, insn);
}

void nsr_say_instance(struct nsr_strbuf *b, const struct nsr_watch *w,
                      uint32_t component, uint32_t ordinal) {
  uint32_t insn = nsr_watch_insn(w, component, ordinal);
  if (insn == NSR_NONE)
    nsr_strbuf_puts(b, "?");
  else
    say_source(b, w, component_engine(w, component), insn);
  if (component < w->clocks.outside)
    nsr_strbuf_printf(b, ", no. %u of %s", (unsigned)ordinal,
                      component_name(w, component));
}

void nsr_say_place(struct nsr_strbuf *b, const struct nsr_watch *w,
                   uint32_t atom) {
  uint32_t natoms = nsr_atoms_count(w->o.atoms);
  if (atom >= natoms) {
    nsr_strbuf_puts(b, atom < natoms + (uint32_t)w->o.image->nhidden
                           ? "parts of the engine's hidden state"
                       : w->may && atom == w->may->external
                           ? "what others see"
                           : "unknown effects");
    return;
  }
  struct nsr_extent x = nsr_atoms_extent(w->o.atoms, atom);
  nsr_strbuf_puts(b, nsr_space_name((enum nsr_space)x.space));
  if (x.space != NSR_DRAM)
    nsr_strbuf_printf(b, " partitions [%u,%u)", (unsigned)x.part,
                      (unsigned)(x.part + x.nparts));
  nsr_strbuf_printf(b, " bytes [%llu,%llu)", (unsigned long long)x.begin,
                    (unsigned long long)x.end);
}

void nsr_say_clock(struct nsr_strbuf *b, const struct nsr_watch *w,
                   const uint32_t *clock) {
  const char *between = "";
  for (uint32_t c = 0; c < w->clocks.width; c++)
    if (clock[c]) {
      nsr_strbuf_printf(b, "%s%s%s %u", between,
                        (int)c >= w->o.image->nchannels ? "events of " : "",
                        component_name(w, c), (unsigned)clock[c]);
      between = ", ";
    }
  if (!*between)
    nsr_strbuf_puts(b, "nothing");
}

void nsr_say_addresses(struct nsr_strbuf *b, const struct nsr_flight *f) {
  for (int i = 0; i < f->step->naccess; i++)
    nsr_strbuf_printf(b, "%s%s byte %lld", i ? ", " : " at ",
                      f->step->desc->operands[i].name
                          ? f->step->desc->operands[i].name
                          : "operand",
                      (long long)f->offset[i]);
  if (f->step->desc->sem == NSR_SEM_STORE)
    nsr_strbuf_printf(b, ", value %d", (int)f->value);
}

static struct nsr_strbuf begin(struct nsr_watch *w) {
  struct nsr_strbuf b;
  nsr_strbuf_init(&b, w->out, NSR_KEEP);
  return b;
}

static void found(struct nsr_watch *w, struct nsr_strbuf *b,
                  enum nsr_fault_kind kind) {
  enum nsr_status status = nsr_strbuf_done(b, &w->finding.text, NULL);
  if (w->status == NSR_OK)
    w->status = status;
  w->finding.kind = kind;
}

static void undecided(struct nsr_watch *w, struct nsr_strbuf *b) {
  found(w, b, NSR_FAULT_NONE);
  w->finding.undecided = true;
}

/* What differs only by the order of may pairs that the first kernel leaves
 * open is no difference between the kernels. */
static void found_value(struct nsr_watch *w, struct nsr_strbuf *b,
                        enum nsr_fault_kind kind) {
  if (!w->o.reference->unordered_may) {
    found(w, b, kind);
    return;
  }
  nsr_strbuf_puts(b, "\n  but the first kernel leaves may pairs unordered,"
                     " and values may depend on them");
  undecided(w, b);
}

/* ---- races */

static const char *did(bool writes) { return writes ? "writes" : "reads"; }

void nsr_witness_race(struct nsr_watch *w, int engine, uint32_t insn,
                      uint32_t component, uint32_t ordinal,
                      const uint32_t *clock, const struct nsr_clash *clash) {
  struct nsr_strbuf b = begin(w);
  if (engine < 0 || clash->channel >= w->clocks.outside)
    nsr_strbuf_puts(&b, "a race with an external event: ");
  nsr_say_place(&b, w, clash->atom);
  nsr_strbuf_printf(&b, "%s\n  ",
                    clash->reversed ? ", touched in the other order than in "
                                      "the first kernel:"
                    : clash->may    ? ", may be touched twice in no order:"
                                    : " are touched twice in no order:");
  nsr_say_instance(&b, w, clash->channel, clash->ordinal);
  nsr_strbuf_printf(&b, ", %s\n  ", did(clash->earlier_writes));
  say_source(&b, w, engine, insn);
  if (engine >= 0)
    nsr_strbuf_printf(&b, ", no. %u of %s", (unsigned)ordinal,
                      component_name(w, component));
  nsr_strbuf_printf(&b, ", %s\n  ", did(clash->later_writes));
  nsr_strbuf_printf(
      &b, "%s knows of %s up to no. %u; its clock: ",
      engine < 0 ? "that event" : w->o.image->isa->engines[engine],
      component_name(w, clash->channel), (unsigned)clock[clash->channel]);
  nsr_say_clock(&b, w, clock);
  found(w, &b, NSR_FAULT_RACE);
}

/* ---- differences */

static void say_reference(struct nsr_strbuf *b, const struct nsr_watch *w,
                          uint32_t component, uint32_t number) {
  const struct nsr_watch *ref = w->o.reference;
  if (number == 0 || number > ref->trace.of[component].n) {
    nsr_strbuf_puts(b, "nothing more");
    return;
  }
  nsr_say_insn(b, ref->o.image, component_engine(ref, component),
               ref->trace.of[component].v[number - 1].insn);
}

void nsr_witness_identity(struct nsr_watch *w, const struct nsr_flight *f) {
  struct nsr_strbuf b = begin(w);
  w->at_channel = f->channel;
  w->at_number = f->number;
  nsr_strbuf_printf(&b, "no. %u of %s (no-ops not counted) is another:\n  ",
                    (unsigned)f->number, component_name(w, f->channel));
  nsr_strbuf_puts(&b, "first kernel: ");
  say_reference(&b, w, f->channel, f->number);
  nsr_strbuf_puts(&b, "\n  second: ");
  nsr_say_insn(&b, w->o.image, f->engine, f->insn);
  nsr_say_addresses(&b, f);
  found(w, &b, NSR_FAULT_TRACE);
}

void nsr_witness_event(struct nsr_watch *w, int engine, uint32_t insn) {
  uint32_t component = (uint32_t)(w->o.image->nchannels + engine);
  struct nsr_strbuf b = begin(w);
  nsr_strbuf_printf(&b, "wait no. %u of %s for others is another:\n  ",
                    (unsigned)w->numbered[component],
                    w->o.image->isa->engines[engine]);
  nsr_strbuf_puts(&b, "first kernel: ");
  say_reference(&b, w, component, w->numbered[component]);
  nsr_strbuf_puts(&b, "\n  second: ");
  nsr_say_insn(&b, w->o.image, engine, insn);
  found(w, &b, NSR_FAULT_TRACE);
}

void nsr_witness_reads(struct nsr_watch *w, const struct nsr_flight *f) {
  struct nsr_strbuf b = begin(w);
  w->at_channel = f->channel;
  w->at_number = f->number;
  nsr_say_insn(&b, w->o.image, f->engine, f->insn);
  nsr_strbuf_printf(&b,
                    ", no. %u of %s (no-ops not counted), reads what "
                    "another instruction wrote",
                    (unsigned)f->number, component_name(w, f->channel));
  found_value(w, &b, NSR_FAULT_READS);
}

void nsr_witness_length(struct nsr_watch *w, uint32_t component) {
  struct nsr_strbuf b = begin(w);
  uint32_t n = w->numbered[component];
  nsr_strbuf_printf(&b,
                    "%s ends after %u instructions, in the first kernel "
                    "after %zu; the next one there: ",
                    component_name(w, component), (unsigned)n,
                    w->o.reference->trace.of[component].n);
  say_reference(&b, w, component, n + 1);
  found(w, &b, NSR_FAULT_TRACE);
}

void nsr_witness_memory(struct nsr_watch *w, uint32_t atom) {
  struct nsr_strbuf b = begin(w);
  nsr_strbuf_puts(&b, "at the end, other contents in ");
  nsr_say_place(&b, w, atom);
  if (w->shadow && w->shadow->writer[atom].ordinal) {
    nsr_strbuf_puts(&b, "; written last by ");
    nsr_say_instance(&b, w, w->shadow->writer[atom].channel,
                     w->shadow->writer[atom].ordinal);
  }
  found_value(w, &b, NSR_FAULT_MEMORY);
}

/* ---- more awaited at what others take part in */

static bool updates(const struct nsr_image *image, uint16_t sem) {
  for (int e = 0; e < image->nengines; e++)
    for (uint32_t i = 0; i < image->streams[e].n; i++) {
      const struct nsr_update *u = &image->streams[e].steps[i].update;
      if (u->op != NSR_UPD_NONE && u->sem == sem)
        return true;
    }
  return false;
}

/* A wait for others that nothing in the kernel can end: they may end it once
 * they have seen the update, and no sooner. */
static bool others_alone(const struct nsr_watch *w, uint32_t component,
                         uint32_t ordinal) {
  const struct nsr_image *image = w->o.image;
  if ((int)component < image->nchannels)
    return false;
  const struct nsr_image_stream *s =
      &image->streams[component_engine(w, component)];
  uint32_t insn = nsr_watch_insn(w, component, ordinal);
  return insn < s->n && !updates(image, s->steps[insn].wait.sem);
}

void nsr_witness_awaits_more(struct nsr_watch *w, int engine, uint32_t insn,
                             uint32_t component, const uint32_t *now,
                             const uint32_t *before, bool seen) {
  uint32_t known = nsr_watch_known(w->o.reference, before, component);
  bool refuted = seen && others_alone(w, component, known + 1);
  struct nsr_strbuf b = begin(w);
  nsr_say_insn(&b, w->o.image, engine, insn);
  nsr_strbuf_printf(&b, ", %s, comes only after\n  ",
                    seen ? "which others see" : "which waits for others");
  nsr_say_instance(&b, w, component, now[component]);
  nsr_strbuf_puts(&b, "\n  in the second kernel and not in the first: ");
  nsr_strbuf_puts(&b, refuted ? "it hangs with others who make that possible "
                                "once they see this"
                              : "others who act in between may be waited for "
                                "without end");
  struct nsr_finding kept = w->finding;
  if (refuted)
    found(w, &b, NSR_FAULT_HANG);
  else
    undecided(w, &b);
  w->awaits_more = w->finding;
  w->finding = kept;
}

/* ---- left behind */

void nsr_witness_flight(struct nsr_watch *w, int engine, uint32_t channel) {
  const uint32_t *clock = nsr_clocks_of(&w->clocks, engine);
  struct nsr_strbuf b = begin(w);
  nsr_strbuf_printf(&b, "%s halts, and work of %s may be in flight: ",
                    w->o.image->isa->engines[engine],
                    component_name(w, channel));
  nsr_say_instance(&b, w, channel, clock[channel] + 1);
  found(w, &b, NSR_FAULT_LEAK);
}

void nsr_witness_semaphores(struct nsr_watch *w) {
  const struct nsr_kernel *k = w->o.image->kernel;
  struct nsr_strbuf b = begin(w);
  const char *between = "at the end, ";
  for (uint32_t s = k->owned_first;
       s <= k->owned_last && s < k->isa->semaphores; s++)
    if (w->sim->sem[s] != 0) {
      nsr_strbuf_printf(&b, "%ssemaphore %u is %d", between, (unsigned)s,
                        (int)w->sim->sem[s]);
      between = ", ";
    }
  nsr_strbuf_puts(&b, ", not 0");
  found(w, &b, NSR_FAULT_LEAK);
}

void nsr_witness_prefix(struct nsr_watch *w) {
  struct nsr_strbuf b = begin(w);
  nsr_strbuf_printf(&b,
                    "instance budget: the first kernel did not end in %llu "
                    "instructions; equal up to there",
                    (unsigned long long)w->o.reference->o.budget);
  w->finding.budget = true;
  undecided(w, &b);
}

/* ---- runs that do not end well */

/* Who updates a semaphore, and how often that ran. */
static void say_updaters(struct nsr_strbuf *b, const struct nsr_watch *w,
                         uint16_t sem) {
  int said = 0;
  for (int e = 0; e < w->o.image->nengines; e++) {
    const struct nsr_image_stream *s = &w->o.image->streams[e];
    for (uint32_t i = 0; i < s->n; i++) {
      const struct nsr_update *u = &s->steps[i].update;
      if (u->op == NSR_UPD_NONE || u->sem != sem)
        continue;
      if (++said > 4)
        continue;
      nsr_strbuf_puts(b, said == 1 ? "\n    its updates: " : "\n    ");
      nsr_say_insn(b, w->o.image, e, i);
      nsr_strbuf_printf(b, ", ran %u times", (unsigned)w->sim->core[e].ran[i]);
    }
  }
  if (!said)
    nsr_strbuf_puts(b, w->o.external && !nsr_owned(w->o.image->kernel, sem)
                           ? "\n    nothing in the kernel updates it"
                           : "\n    nothing updates it");
  else if (said > 4)
    nsr_strbuf_printf(b, "\n    and %d more", said - 4);
}

static bool event_updates(const struct nsr_external_event *e, uint16_t sem) {
  for (uint32_t i = 0; i < e->nupdates; i++)
    if (e->updates[i].sem == sem)
      return true;
  return false;
}

/* What the next event of a sequence still waits for. */
static void say_unmet(struct nsr_strbuf *b, const struct nsr_watch *w,
                      const struct nsr_external_event *e) {
  uint16_t cores = w->o.image->isa->semaphores;
  for (uint32_t i = 0; i < e->nwaits; i++) {
    const struct nsr_external_wait *x = &e->waits[i];
    int32_t have = w->sim->sem[x->cores ? cores : x->sem];
    if (have >= x->need)
      continue;
    if (x->cores)
      nsr_strbuf_puts(b, " waits for core barriers");
    else
      nsr_strbuf_printf(b, " waits for semaphore %u", (unsigned)x->sem);
    nsr_strbuf_printf(b, " >= %lld, it is %d", (long long)x->need, (int)have);
    return;
  }
}

/* Events that update a semaphore and did not happen. */
static void say_events(struct nsr_strbuf *b, const struct nsr_watch *w,
                       uint16_t sem) {
  const struct nsr_external *x = w->o.external;
  int said = 0;
  for (uint32_t s = 0; s < x->nsequences; s++)
    for (uint32_t i = x->first[s] + w->sim->happened[s]; i < x->first[s + 1];
         i++) {
      uint32_t next = x->first[s] + w->sim->happened[s];
      if (!event_updates(&x->events[i], sem) || ++said > 4)
        continue;
      nsr_strbuf_puts(b, "\n    did not happen: ");
      nsr_say_event(b, x, i);
      if (i != next) {
        nsr_strbuf_puts(b, ", behind ");
        nsr_say_event(b, x, next);
      }
      say_unmet(b, w, &x->events[next]);
    }
  if (!said)
    nsr_strbuf_printf(b, "\n    no further event of %s updates it", x->path);
}

static void say_wait(struct nsr_strbuf *b, const struct nsr_watch *w,
                     const struct nsr_core *c) {
  const struct nsr_wait *wait = &c->steps[c->pc].wait;
  int32_t have = w->sim->sem[c->sem];
  nsr_strbuf_printf(b, " waits for semaphore %u %s %d, it is %d",
                    (unsigned)c->sem, nsr_cmp_name(wait->cmp),
                    (int)c->threshold, (int)have);
  int64_t missing =
      (int64_t)c->threshold - have + (wait->cmp == NSR_CMP_GT ? 1 : 0);
  if ((wait->cmp == NSR_CMP_GE || wait->cmp == NSR_CMP_GT) && missing > 0)
    nsr_strbuf_printf(b, ": the update that adds the last of %lld is missing",
                      (long long)missing);
  say_updaters(b, w, c->sem);
  if (w->o.external && !nsr_owned(w->o.image->kernel, c->sem))
    say_events(b, w, c->sem);
}

/* Where an engine is, and what it waits for. */
static void say_engine(struct nsr_strbuf *b, const struct nsr_watch *w, int e) {
  const struct nsr_core *c = &w->sim->core[e];
  nsr_strbuf_puts(b, "\n  ");
  if (c->state == NSR_CORE_HALTED) {
    nsr_strbuf_printf(b, "%s has halted", w->o.image->isa->engines[e]);
    return;
  }
  nsr_say_insn(b, w->o.image, e, c->pc);
  if (c->state == NSR_CORE_WAITING)
    say_wait(b, w, c);
  else if (c->state == NSR_CORE_ARRIVED)
    nsr_strbuf_printf(b, " waits at barrier %d for the other engines",
                      (int)c->steps[c->pc].target);
  else
    nsr_strbuf_puts(b, c->state == NSR_CORE_READY ? " goes on" : " is stalled");
}

static void say_engines(struct nsr_strbuf *b, const struct nsr_watch *w) {
  for (int e = 0; e < w->o.image->nengines; e++)
    if (w->sim->core[e].state != NSR_CORE_ABSENT)
      say_engine(b, w, e);
}

static void witness_hang(struct nsr_watch *w) {
  struct nsr_strbuf b = begin(w);
  nsr_strbuf_puts(&b, "every engine is blocked and nothing is in flight:");
  say_engines(&b, w);
  found(w, &b, NSR_FAULT_HANG);
}

static void witness_no_end(struct nsr_watch *w) {
  struct nsr_strbuf b = begin(w);
  nsr_strbuf_printf(&b,
                    "still running after %llu instructions, the first kernel "
                    "ended after %llu:",
                    (unsigned long long)w->sim->executed,
                    (unsigned long long)w->o.reference->sim->executed);
  say_engines(&b, w);
  found(w, &b, NSR_FAULT_HANG);
}

static void say_fault_insn(struct nsr_strbuf *b, const struct nsr_watch *w) {
  const struct nsr_sim_fault *f = &w->sim->fault;
  say_source(b, w, f->engine, f->insn);
}

void nsr_witness_end(struct nsr_watch *w) {
  const struct nsr_sim_fault *f = &w->sim->fault;
  struct nsr_strbuf b = begin(w);
  switch (w->sim->end) {
  case NSR_SIM_HANG:
    witness_hang(w);
    return;
  case NSR_SIM_FAULT:
    say_fault_insn(&b, w);
    nsr_strbuf_printf(&b, ": %s (%s)", f->text,
                      nsr_machine_fault_name(f->kind));
    found(w, &b, NSR_FAULT_MACHINE);
    return;
  case NSR_SIM_ENDLESS:
    if (w->o.reference && w->o.reference->finding.budget) {
      nsr_strbuf_puts(&b, "instance budget: neither kernel comes to an end");
      w->finding.budget = true;
      break;
    }
    nsr_strbuf_puts(&b, "a loop without end, the same registers each time "
                        "at ");
    say_fault_insn(&b, w);
    found(w, &b, NSR_FAULT_HANG);
    return;
  case NSR_SIM_OPAQUE:
    say_fault_insn(&b, w);
    nsr_strbuf_printf(&b, ": %s", f->text);
    break;
  default:
    if (w->o.must_end) {
      witness_no_end(w);
      return;
    }
    nsr_strbuf_printf(&b, "instance budget: %llu instructions and no end",
                      (unsigned long long)w->o.budget);
    w->finding.budget = true;
    break;
  }
  undecided(w, &b);
}
