/* shadow.h - who touched which atom last: finds conflicting accesses that no
 * clock orders.
 *
 * Per atom the last writer and, per channel, the last reader since. That is
 * enough: what an access is checked against knows all older ones, or is of
 * the same channel and retires behind them. Hidden state of an engine counts
 * as further atoms. Accesses that touch only some of their bytes, and events
 * of others, are kept by may.h.
 */
#ifndef NSR_JUDGE_SHADOW_H
#define NSR_JUDGE_SHADOW_H

#include "sim/atoms.h"
#include "sim/model.h"
#include "sim/opaque.h"

struct nsr_shadow {
  uint32_t natoms; /* hidden state h is atom natoms + h */
  uint32_t width;  /* components of clocks: channels, and others' sequences */
  struct nsr_shadow_writer {
    uint64_t readers; /* bit per component that has read since */
    uint32_t ordinal; /* 0: nobody */
    uint8_t channel;
  } * writer;
  uint32_t *reader; /* per atom and component: ordinal */
};

/* An earlier access that the one at hand is not ordered behind. */
struct nsr_clash {
  uint32_t atom;
  uint32_t ordinal; /* of the earlier one, on `channel` */
  uint8_t channel;
  bool earlier_writes, later_writes;
  bool may;      /* one of them touches only some of its bytes */
  bool reversed; /* it is, and the first kernel orders them the other way */
  int operand;   /* of the later one, -1: hidden state or an event */
};

NSR_MUST_USE enum nsr_status nsr_shadow_new(struct nsr_ctx *ctx,
                                            enum nsr_arena_id arena,
                                            const struct nsr_image *image,
                                            uint32_t natoms, uint32_t width,
                                            struct nsr_shadow **shadow);

/* Whether an instance about to issue, its engine knowing `clock`, clashes. */
bool nsr_shadow_check(const struct nsr_shadow *s, const struct nsr_image *image,
                      const struct nsr_flight *f, const uint32_t *clock,
                      struct nsr_clash *clash);
/* It has issued. */
void nsr_shadow_record(struct nsr_shadow *s, const struct nsr_flight *f);

/* The same for one access of an event of others. */
bool nsr_shadow_check_atoms(const struct nsr_shadow *s,
                            struct nsr_atom_range atoms, uint8_t component,
                            bool writes, const uint32_t *clock,
                            struct nsr_clash *clash);
void nsr_shadow_record_atoms(struct nsr_shadow *s, struct nsr_atom_range atoms,
                             uint8_t component, bool writes, uint32_t ordinal);

#endif
