/* readings.c - what instances make of what they read.
 *
 * Needs an instance and the tokens it reads; makes the tokens it writes, by
 * the opaque memory of the model, once for the same question.
 */
#include <string.h>

#include "explore/world.h"
#include "sim/hash.h"

enum { FIRST_INDEX = 1 << 10, MOST = 1 << 22 };

static enum nsr_status index_new(struct nsr_world *w, struct nsr_index *x,
                                 size_t cap) {
  NSR_NEW(w->ctx, w->arena, x->at, cap);
  x->mask = cap - 1;
  return NSR_OK;
}

enum nsr_status nsr_readings_init(struct nsr_world *w) {
  size_t natoms = nsr_atoms_count(w->atoms);
  size_t nhidden = (size_t)w->image->nhidden;
  NSR_TRY(index_new(w, &w->reading_index, FIRST_INDEX));
  NSR_TRY(index_new(w, &w->token_index, FIRST_INDEX));
  NSR_NEW(w->ctx, w->arena, w->launch_token, natoms + nhidden);
  NSR_NEW(w->ctx, w->arena, w->launch_bytes, natoms);
  memcpy(w->launch_token, w->memory->token, natoms * sizeof(uint64_t));
  memcpy(w->launch_token + natoms, w->memory->hidden,
         nhidden * sizeof(uint64_t));
  memcpy(w->launch_bytes, w->memory->bytes, natoms * sizeof(uint8_t *));
  return NSR_OK;
}

/* ---- tokens */

static uint32_t *token_place(const struct nsr_world *w, uint64_t value) {
  size_t i = nsr_spread(value) & w->token_index.mask;
  while (w->token_index.at[i] &&
         w->tokens.v[w->token_index.at[i] - 1].value != value)
    i = (i + 1) & w->token_index.mask;
  return &w->token_index.at[i];
}

static enum nsr_status tokens_grow(struct nsr_world *w) {
  if (2 * w->tokens.n < w->token_index.mask)
    return NSR_OK;
  NSR_TRY(index_new(w, &w->token_index, 4 * (w->token_index.mask + 1)));
  for (size_t i = 0; i < w->tokens.n; i++)
    *token_place(w, w->tokens.v[i].value) = (uint32_t)i + 1;
  return NSR_OK;
}

static enum nsr_status token(struct nsr_world *w, uint64_t value,
                             const uint8_t *bytes, size_t size, uint32_t *id) {
  struct nsr_token t = {value, NULL};
  NSR_TRY(tokens_grow(w));
  uint32_t *at = token_place(w, value);
  if (!*at) {
    uint8_t *copy = NULL;
    w->kept += size;
    if (w->kept > NSR_MAX_KEPT && !w->full)
      w->full = "more contents than are followed";
    if (bytes && !w->full) {
      NSR_NEW(w->ctx, w->arena, copy, size);
      memcpy(copy, bytes, size);
    }
    t.bytes = copy;
    NSR_PUSH(w->ctx, w->arena, &w->tokens, t);
    *at = (uint32_t)w->tokens.n;
  }
  *id = *at;
  return NSR_OK;
}

static size_t atom_bytes(const struct nsr_world *w, uint32_t atom) {
  struct nsr_extent x = nsr_atoms_extent(w->atoms, atom);
  return (size_t)(x.end - x.begin) * x.nparts;
}

/* ---- asking the memory */

static void set_place(struct nsr_world *w, uint32_t slot, uint32_t id) {
  uint32_t place = w->slot_at.v[slot], natoms = nsr_atoms_count(w->atoms);
  uint64_t value = id ? w->tokens.v[id - 1].value : w->launch_token[place];
  if (place >= natoms) {
    w->memory->hidden[place - natoms] = value;
    return;
  }
  w->memory->token[place] = value;
  w->memory->bytes[place] =
      id ? w->tokens.v[id - 1].bytes : w->launch_bytes[place];
}

enum nsr_status nsr_readings_take(struct nsr_world *w, uint32_t slot,
                                  uint32_t *id) {
  uint32_t place = w->slot_at.v[slot], natoms = nsr_atoms_count(w->atoms);
  if (place >= natoms)
    return token(w, w->memory->hidden[place - natoms], NULL, 0, id);
  const uint8_t *bytes = w->memory->bytes[place];
  return token(w, w->memory->token[place], bytes,
               bytes ? atom_bytes(w, place) : 0, id);
}

static void stand_for(const struct nsr_flight *f, struct nsr_reading *r) {
  uint64_t h;
  if (!f->number)
    return;
  h = nsr_combine(nsr_combine(f->channel, f->number), f->identity);
  r->trace[0] = nsr_combine(h, f->digest);
  r->trace[1] = nsr_combine(r->trace[0], h);
}

static enum nsr_status ask(struct nsr_world *w, struct nsr_reading *r) {
  struct nsr_instance *x = nsr_inst(w, r->inst);
  struct nsr_memory *m = &w->memory->memory;
  struct nsr_flight *f = &x->flight;
  uint32_t *out;
  const char *why = NULL;
  f->concrete = false;
  f->nbytes = 0;
  f->digest = 0;
  for (uint32_t i = 0; i < x->nreads; i++)
    set_place(w, x->reads[i], r->in[i]);
  NSR_TRY(m->ops->read(m, f, &why));
  stand_for(f, r);
  if (x->load && !m->ops->value(m, f, &r->value, &r->why) && !r->why)
    r->why = "no number";
  NSR_TRY(m->ops->write(m, f));
  NSR_NEW(w->ctx, w->arena, out, x->nwrites);
  for (uint32_t i = 0; i < x->nwrites; i++)
    NSR_TRY(nsr_readings_take(w, x->writes[i], &out[i]));
  r->out = out;
  return NSR_OK;
}

/* ---- readings */

static uint64_t reading_hash(uint32_t inst, const uint32_t *in, uint32_t n) {
  return nsr_combine(nsr_hash(in, n * sizeof *in), inst);
}

static size_t reading_place(const struct nsr_world *w, uint64_t hash,
                            uint32_t inst, const uint32_t *in, uint32_t n) {
  size_t i = hash & w->reading_index.mask;
  for (; w->reading_index.at[i]; i = (i + 1) & w->reading_index.mask) {
    const struct nsr_reading *r = &w->readings.v[w->reading_index.at[i] - 1];
    if (r->inst == inst && memcmp(r->in, in, n * sizeof *in) == 0)
      break;
  }
  return i;
}

static enum nsr_status readings_grow(struct nsr_world *w) {
  if (2 * w->readings.n < w->reading_index.mask)
    return NSR_OK;
  NSR_TRY(index_new(w, &w->reading_index, 4 * (w->reading_index.mask + 1)));
  for (size_t i = 0; i < w->readings.n; i++) {
    const struct nsr_reading *r = &w->readings.v[i];
    uint32_t n = nsr_inst(w, r->inst)->nreads;
    size_t at =
        reading_place(w, reading_hash(r->inst, r->in, n), r->inst, r->in, n);
    w->reading_index.at[at] = (uint32_t)i + 1;
  }
  return NSR_OK;
}

enum nsr_status nsr_world_read(struct nsr_world *w, uint32_t inst,
                               const uint32_t *in, uint32_t *reading) {
  uint32_t n = nsr_inst(w, inst)->nreads;
  NSR_TRY(readings_grow(w));
  size_t at = reading_place(w, reading_hash(inst, in, n), inst, in, n);
  if (!w->reading_index.at[at]) {
    struct nsr_reading r = {.inst = inst};
    uint32_t *copy;
    NSR_NEW(w->ctx, w->arena, copy, n);
    memcpy(copy, in, n * sizeof *in);
    r.in = copy;
    NSR_TRY(ask(w, &r));
    NSR_PUSH(w->ctx, w->arena, &w->readings, r);
    w->reading_index.at[at] = (uint32_t)w->readings.n;
    if (w->readings.n >= MOST && !w->full)
      w->full = "more values are read than are explored";
  }
  *reading = w->reading_index.at[at] - 1;
  return NSR_OK;
}
