/* accesses.c - what an instance touches.
 *
 * Needs an instance whose operands are covered by atoms; makes its accesses,
 * each with what its channel's order takes care of.
 */
#include "judge/accesses.h"

uint32_t nsr_access_allowed(const struct nsr_watch *w,
                            const struct nsr_flight *f) {
  const struct nsr_watch *ref = w->o.reference;
  uint32_t insn = f->insn;
  if (f->number == 0)
    return 0;
  if (ref)
    insn = ref->trace.of[f->channel].v[f->number - 1].insn;
  return nsr_allowed_number(w->o.allowed, f->engine, insn);
}

static struct nsr_may_access access_of(struct nsr_watch *w,
                                       const struct nsr_flight *f) {
  return (struct nsr_may_access){.ordinal = f->ordinal,
                                 .number = f->number,
                                 .component = f->channel,
                                 .clock = nsr_clocks_of(&w->clocks, f->engine)};
}

bool nsr_each_operand(struct nsr_watch *w, const struct nsr_flight *f,
                      nsr_access_fn *visit, void *self) {
  const struct nsr_step *s = f->step;
  enum nsr_order order = nsr_channel_order(w->o.image->kernel, f->channel);
  struct nsr_may_access a = access_of(w, f);
  a.allowed = nsr_access_allowed(w, f);
  for (int i = 0; i < s->naccess; i++) {
    const struct nsr_operand *o = &s->access[i].op;
    if (f->empty[i])
      continue;
    a.may = nsr_role_may((enum nsr_role)o->role);
    a.writes = nsr_role_writes((enum nsr_role)o->role);
    a.same_free = order == NSR_ORDER_FULL;
    a.write_free = order == NSR_ORDER_HIDDEN && o->acc && o->space == NSR_PSUM;
    for (struct nsr_cover_iter it = nsr_cover_first(f->cover[i]); it.more;
         nsr_cover_next(&it)) {
      a.location = it.atom;
      if (!visit(self, &a, i))
        return false;
    }
  }
  a.may = false;
  a.allowed = 0;
  a.same_free = order != NSR_ORDER_NONE;
  a.write_free = false;
  for (int h = 0; h < s->desc->nhidden; h++) {
    a.writes = nsr_role_writes(s->desc->hidden[h].role);
    a.location = nsr_atoms_count(w->o.atoms) + s->hidden[h];
    if (!visit(self, &a, -1))
      return false;
  }
  return true;
}

/* Events fire at retirement, behind all that their channel holds. */
bool nsr_each_event(struct nsr_watch *w, const struct nsr_flight *f,
                    nsr_access_fn *visit, void *self) {
  const struct nsr_step *s = f->step;
  enum nsr_order order = nsr_channel_order(w->o.image->kernel, f->channel);
  bool fires = (s->flags & NSR_STEP_FOREIGN_UPDATE) != 0;
  struct nsr_may_access a = access_of(w, f);
  a.may = true;
  a.location = w->may->external;
  a.same_free = fires || order == NSR_ORDER_FULL;
  a.writes = fires;
  if ((fires || (s->flags & NSR_STEP_DRAM)) && !visit(self, &a, -1))
    return false;
  a.location = w->may->unknown;
  a.same_free = false;
  a.writes = s->desc->unknown_effects;
  return visit(self, &a, -1);
}
