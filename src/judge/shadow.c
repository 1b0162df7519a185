/* shadow.c - conflicting accesses and the clocks between them.
 *
 * Needs instances in the order of their issue, each with its engine's clock;
 * makes the first pair of conflicting accesses that are in no order.
 */
#include "judge/shadow.h"

enum nsr_status nsr_shadow_new(struct nsr_ctx *ctx, enum nsr_arena_id arena,
                               const struct nsr_image *image, uint32_t natoms,
                               uint32_t width, struct nsr_shadow **shadow) {
  struct nsr_shadow *s;
  size_t n = (size_t)natoms + (size_t)image->nhidden;
  NSR_NEW(ctx, arena, s, 1);
  s->natoms = natoms;
  s->width = width;
  NSR_NEW(ctx, arena, s->writer, n);
  NSR_NEW(ctx, arena, s->reader, n * s->width);
  *shadow = s;
  return NSR_OK;
}

/* The later access of a pair. */
struct access {
  const uint32_t *clock;
  uint8_t channel;
  bool writes;
  bool same_free;  /* its channel orders it behind all of its own earlier */
  bool write_free; /* behind its own earlier writes */
};

static bool check_atom(const struct nsr_shadow *s, uint32_t atom,
                       const struct access *a, struct nsr_clash *clash) {
  const struct nsr_shadow_writer *w = &s->writer[atom];
  if (w->ordinal > a->clock[w->channel] &&
      !(w->channel == a->channel && (a->same_free || a->write_free))) {
    clash->ordinal = w->ordinal;
    clash->channel = w->channel;
    clash->earlier_writes = true;
  } else {
    if (!a->writes || !w->readers)
      return false;
    const uint32_t *readers = s->reader + (size_t)atom * s->width;
    uint64_t left = w->readers;
    for (; left; left &= left - 1) {
      uint32_t ch = (uint32_t)__builtin_ctzll(left);
      if (readers[ch] > a->clock[ch] && !(ch == a->channel && a->same_free))
        break;
    }
    if (!left)
      return false;
    clash->channel = (uint8_t)__builtin_ctzll(left);
    clash->ordinal = readers[clash->channel];
    clash->earlier_writes = false;
  }
  clash->atom = atom;
  clash->later_writes = a->writes;
  return true;
}

static bool check_operands(const struct nsr_shadow *s,
                           const struct nsr_flight *f, struct access *a,
                           bool hidden_order, struct nsr_clash *clash) {
  for (int i = 0; i < f->step->naccess; i++) {
    const struct nsr_operand *o = &f->step->access[i].op;
    if (f->empty[i])
      continue;
    clash->operand = i;
    a->writes = nsr_role_writes((enum nsr_role)o->role);
    a->write_free = hidden_order && o->acc && o->space == NSR_PSUM;
    for (struct nsr_cover_iter it = nsr_cover_first(f->cover[i]); it.more;
         nsr_cover_next(&it))
      if (check_atom(s, it.atom, a, clash))
        return true;
  }
  return false;
}

bool nsr_shadow_check(const struct nsr_shadow *s, const struct nsr_image *image,
                      const struct nsr_flight *f, const uint32_t *clock,
                      struct nsr_clash *clash) {
  const struct nsr_insn_desc *d = f->step->desc;
  enum nsr_order order = nsr_channel_order(image->kernel, f->channel);
  struct access a = {.clock = clock,
                     .channel = f->channel,
                     .same_free = order == NSR_ORDER_FULL};
  if (check_operands(s, f, &a, order == NSR_ORDER_HIDDEN, clash))
    return true;
  a.same_free = order != NSR_ORDER_NONE;
  clash->operand = -1;
  for (int h = 0; h < d->nhidden; h++) {
    a.writes = nsr_role_writes(d->hidden[h].role);
    if (check_atom(s, s->natoms + f->step->hidden[h], &a, clash))
      return true;
  }
  return false;
}

static void record_atom(struct nsr_shadow *s, uint32_t atom, uint8_t component,
                        uint32_t ordinal, bool writes) {
  struct nsr_shadow_writer *w = &s->writer[atom];
  if (writes) {
    w->ordinal = ordinal;
    w->channel = component;
    w->readers = 0;
  } else {
    w->readers |= UINT64_C(1) << component;
    s->reader[(size_t)atom * s->width + component] = ordinal;
  }
}

/* Reads first: an instance that also writes the atom stands for both. */
void nsr_shadow_record(struct nsr_shadow *s, const struct nsr_flight *f) {
  const struct nsr_insn_desc *d = f->step->desc;
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < f->step->naccess; i++) {
      enum nsr_role role = (enum nsr_role)f->step->access[i].op.role;
      if (f->empty[i] || nsr_role_writes(role) != (pass == 1))
        continue;
      for (struct nsr_cover_iter it = nsr_cover_first(f->cover[i]); it.more;
           nsr_cover_next(&it))
        record_atom(s, it.atom, f->channel, f->ordinal, pass == 1);
    }
    for (int h = 0; h < d->nhidden; h++)
      if (nsr_role_writes(d->hidden[h].role) == (pass == 1))
        record_atom(s, s->natoms + f->step->hidden[h], f->channel, f->ordinal,
                    pass == 1);
  }
}

bool nsr_shadow_check_atoms(const struct nsr_shadow *s,
                            struct nsr_atom_range atoms, uint8_t component,
                            bool writes, const uint32_t *clock,
                            struct nsr_clash *clash) {
  struct access a = {.clock = clock, .channel = component, .writes = writes};
  for (uint32_t atom = atoms.first; atom < atoms.end; atom++)
    if (check_atom(s, atom, &a, clash))
      return true;
  return false;
}

void nsr_shadow_record_atoms(struct nsr_shadow *s, struct nsr_atom_range atoms,
                             uint8_t component, bool writes, uint32_t ordinal) {
  for (uint32_t atom = atoms.first; atom < atoms.end; atom++)
    record_atom(s, atom, component, ordinal, writes);
}
