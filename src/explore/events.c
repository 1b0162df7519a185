/* events.c - what others do, where that is known.
 *
 * Needs a world without instances; makes one for each event of others, which
 * happens once, all at once, at any time behind the one before it in its
 * sequence and once what it waits for has come true.
 */
#include <stdlib.h>

#include "explore/moves.h"

/* ---- instances */

static int by_slot(const void *a, const void *b) {
  const struct nsr_touch *x = a, *y = b;
  return x->slot < y->slot ? -1 : x->slot > y->slot;
}

struct touching {
  NSR_VEC(struct nsr_touch) touches;
  NSR_VEC(uint32_t) writes;
};

static enum nsr_status touch_bytes(struct nsr_world *w,
                                   const struct nsr_external_access *x,
                                   struct touching *t) {
  struct nsr_atom_range r = nsr_atoms_dram(w->atoms, x->begin, x->end);
  for (uint32_t atom = r.first; atom < r.end; atom++) {
    struct nsr_touch touch = {.how = x->writes ? NSR_TOUCH_W : NSR_TOUCH_R};
    NSR_TRY(nsr_world_slot(w, atom, &touch.slot));
    NSR_PUSH(w->ctx, w->arena, &t->touches, touch);
    if (x->writes)
      NSR_PUSH(w->ctx, w->arena, &t->writes, touch.slot);
  }
  return NSR_OK;
}

/* Both kernels meet the same events: what they leave is known at once. */
static enum nsr_status find_puts(struct nsr_world *w, struct nsr_instance *x,
                                 uint32_t index) {
  struct nsr_memory *m = &w->memory->memory;
  uint32_t *puts;
  NSR_NEW(w->ctx, w->arena, puts, x->nwrites);
  NSR_TRY(m->ops->external(m, x->others, index));
  for (uint32_t i = 0; i < x->nwrites; i++)
    NSR_TRY(nsr_readings_take(w, x->writes[i], &puts[i]));
  x->puts = puts;
  return NSR_OK;
}

static enum nsr_status event_new(struct nsr_world *w, uint32_t index) {
  const struct nsr_external_event *e = &w->external->events[index];
  struct touching t = {.touches = {0}};
  struct nsr_instance *x;
  NSR_NEW(w->ctx, w->arena, x, 1);
  x->is_event = true;
  x->others = e;
  x->flight.number = e->ordinal;
  x->flight.identity = index;
  x->lane = (uint8_t)(w->image->nchannels + w->image->nengines + e->sequence);
  x->sem = NSR_NONE;
  for (uint32_t i = 0; i < e->naccesses; i++)
    NSR_TRY(touch_bytes(w, &e->accesses[i], &t));
  if (t.touches.n)
    qsort(t.touches.v, t.touches.n, sizeof *t.touches.v, by_slot);
  x->touches = t.touches.v;
  x->ntouches = (uint32_t)t.touches.n;
  x->writes = t.writes.v;
  x->nwrites = (uint32_t)t.writes.n;
  NSR_PUSH(w->ctx, w->arena, &w->insts, x);
  return find_puts(w, x, index);
}

enum nsr_status nsr_events_new(struct nsr_world *w) {
  for (uint32_t i = 0; w->external && i < w->external->nevents; i++)
    NSR_TRY(event_new(w, i));
  return NSR_OK;
}

/* ---- moves */

uint32_t nsr_next_event(const struct nsr_search *s, const uint32_t *row,
                        uint32_t sequence) {
  const struct nsr_external *x = s->w->external;
  uint32_t i = x->first[sequence] + row[s->happened + sequence];
  if (i == x->first[sequence + 1])
    return NSR_NONE;
  const struct nsr_external_event *e = &x->events[i];
  for (uint32_t j = 0; j < e->nwaits; j++) {
    const struct nsr_external_wait *wait = &e->waits[j];
    uint32_t slot = wait->cores ? s->w->cores : s->w->sem_slot[wait->sem];
    if ((int32_t)row[s->sem + slot] < wait->need)
      return NSR_NONE;
  }
  return i;
}
