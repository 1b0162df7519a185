/* findings.c - what an exploration finds, in words.
 *
 * Needs a search and what it came upon; makes the text of the first finding of
 * each kind.
 */
#include "base/strbuf.h"
#include "explore/compare.h"
#include "judge/witness.h"

static enum nsr_status keep(struct nsr_search *s, enum nsr_wrong kind,
                            struct nsr_strbuf *b) {
  return nsr_strbuf_done(b, &s->wrong[kind], NULL);
}

static void begin(const struct nsr_search *s, struct nsr_strbuf *b) {
  nsr_strbuf_init(b, s->out, NSR_KEEP);
}

void nsr_say_inst(const struct nsr_search *s, struct nsr_strbuf *b,
                  uint32_t inst) {
  const struct nsr_instance *x = nsr_inst(s->w, inst);
  const struct nsr_image *image = s->w->image;
  if (x->others) {
    nsr_strbuf_printf(b, "event %s%s(%s:%u)",
                      x->others->name ? x->others->name : "",
                      x->others->name ? " " : "", s->w->external->path,
                      (unsigned)x->others->line);
    return;
  }
  nsr_say_insn(b, image, x->flight.engine, x->flight.insn);
  if (!x->is_event)
    nsr_strbuf_printf(b, ", no. %u of %s", (unsigned)x->flight.ordinal,
                      nsr_channel_name(image->kernel, x->lane));
}

static void say_slot(const struct nsr_search *s, struct nsr_strbuf *b,
                     uint32_t slot) {
  uint32_t place = s->w->slot_at.v[slot];
  if (place >= nsr_atoms_count(s->w->atoms)) {
    nsr_strbuf_puts(b, "parts of the engine's hidden state");
    return;
  }
  struct nsr_extent x = nsr_atoms_extent(s->w->atoms, place);
  nsr_strbuf_puts(b, nsr_space_name((enum nsr_space)x.space));
  if (x.space != NSR_DRAM)
    nsr_strbuf_printf(b, " partitions [%u,%u)", (unsigned)x.part,
                      (unsigned)(x.part + x.nparts));
  nsr_strbuf_printf(b, " bytes [%llu,%llu)", (unsigned long long)x.begin,
                    (unsigned long long)x.end);
}

/* A place that both touch, one of them writing. */
static uint32_t common_slot(const struct nsr_instance *p,
                            const struct nsr_instance *c) {
  const uint32_t writes =
      NSR_TOUCH_W | NSR_TOUCH_ACC | NSR_TOUCH_MAY_W | NSR_TOUCH_HIDDEN_W;
  for (uint32_t i = 0, j = 0; i < p->ntouches && j < c->ntouches;) {
    if (p->touches[i].slot < c->touches[j].slot)
      i++;
    else if (p->touches[i].slot > c->touches[j].slot)
      j++;
    else if ((p->touches[i].how | c->touches[j].how) & writes)
      return p->touches[i].slot;
    else
      i++, j++;
  }
  return NSR_NONE;
}

enum nsr_status nsr_found_race(struct nsr_search *s, uint32_t p, uint32_t c) {
  struct nsr_strbuf b;
  if (s->wrong[NSR_WRONG_RACE])
    return NSR_OK;
  uint32_t slot = common_slot(nsr_inst(s->w, p), nsr_inst(s->w, c));
  begin(s, &b);
  nsr_say_inst(s, &b, c);
  nsr_strbuf_puts(&b, nsr_inst(s->w, p)->others || nsr_inst(s->w, c)->others
                          ? "\nis in no order with "
                          : "\nissues while this is in flight: ");
  nsr_say_inst(s, &b, p);
  nsr_strbuf_puts(&b, "\nboth touch ");
  if (slot == NSR_NONE)
    nsr_strbuf_puts(&b, "what others see");
  else
    say_slot(s, &b, slot);
  return keep(s, NSR_WRONG_RACE, &b);
}

enum nsr_status nsr_found_fault(struct nsr_search *s,
                                const struct nsr_sim_fault *f) {
  struct nsr_strbuf b;
  if (s->wrong[NSR_WRONG_FAULT])
    return NSR_OK;
  begin(s, &b);
  nsr_say_insn(&b, s->w->image, f->engine, f->insn);
  nsr_strbuf_printf(&b, ": %s: %s", nsr_machine_fault_name(f->kind), f->text);
  return keep(s, NSR_WRONG_FAULT, &b);
}

enum nsr_status nsr_found_outside(struct nsr_search *s, uint32_t event,
                                  const char *what) {
  struct nsr_strbuf b;
  if (s->wrong[NSR_WRONG_FAULT])
    return NSR_OK;
  begin(s, &b);
  nsr_say_inst(s, &b, event);
  nsr_strbuf_printf(&b, ": %s", what);
  return keep(s, NSR_WRONG_FAULT, &b);
}

enum nsr_status nsr_found_endless(struct nsr_search *s, int engine,
                                  uint32_t insn) {
  struct nsr_strbuf b;
  if (s->wrong[NSR_WRONG_HANG])
    return NSR_OK;
  begin(s, &b);
  nsr_say_insn(&b, s->w->image, engine, insn);
  nsr_strbuf_puts(&b, ": a loop without end");
  return keep(s, NSR_WRONG_HANG, &b);
}

static void say_blocked(const struct nsr_search *s, struct nsr_strbuf *b,
                        const uint32_t *row, int engine) {
  const struct nsr_station *p = &s->w->stations.v[row[engine]];
  if (p->kind == NSR_AT_HALTED) {
    nsr_strbuf_printf(b, "%s has halted", s->w->image->isa->engines[engine]);
    return;
  }
  nsr_say_insn(b, s->w->image, engine, p->pc);
  if (p->kind == NSR_AT_BARRIER)
    nsr_strbuf_puts(b, " waits at a barrier");
  else if (p->cmp != NSR_CMP_NONE)
    nsr_strbuf_printf(b, " waits for s%u %s %d, which is %d",
                      (unsigned)s->w->sem_at[p->sem],
                      nsr_cmp_name((enum nsr_cmp)p->cmp), (int)p->threshold,
                      (int)row[s->sem + p->sem]);
}

enum nsr_status nsr_found_hang(struct nsr_search *s, const uint32_t *row) {
  struct nsr_strbuf b;
  if (s->wrong[NSR_WRONG_HANG])
    return NSR_OK;
  begin(s, &b);
  nsr_strbuf_puts(&b, "nothing can go on:");
  for (uint32_t e = 0; e < s->nengines; e++)
    if (s->w->image->streams[e].stream) {
      nsr_strbuf_puts(&b, "\n");
      say_blocked(s, &b, row, (int)e);
    }
  return keep(s, NSR_WRONG_HANG, &b);
}

enum nsr_status nsr_found_flight(struct nsr_search *s, int engine,
                                 uint32_t inst) {
  struct nsr_strbuf b;
  if (s->wrong[NSR_WRONG_LEAK])
    return NSR_OK;
  begin(s, &b);
  nsr_strbuf_printf(&b, "%s halts while this is in flight: ",
                    s->w->image->isa->engines[engine]);
  nsr_say_inst(s, &b, inst);
  return keep(s, NSR_WRONG_LEAK, &b);
}

enum nsr_status nsr_found_count(struct nsr_search *s, uint32_t sem,
                                int32_t value) {
  struct nsr_strbuf b;
  if (s->wrong[NSR_WRONG_LEAK])
    return NSR_OK;
  begin(s, &b);
  nsr_strbuf_printf(&b, "semaphore %u is %d at the end",
                    (unsigned)s->w->sem_at[sem], (int)value);
  return keep(s, NSR_WRONG_LEAK, &b);
}

enum nsr_status nsr_found_lost(struct nsr_search *s, int engine, uint32_t insn,
                               const char *why) {
  struct nsr_strbuf b;
  if (s->wrong[NSR_WRONG_LOST])
    return NSR_OK;
  begin(s, &b);
  nsr_say_insn(&b, s->w->image, engine, insn);
  nsr_strbuf_printf(&b, ": %s", why);
  return keep(s, NSR_WRONG_LOST, &b);
}
