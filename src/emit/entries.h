/* entries.h - what stands in front of an instruction because a scope starts or
 * ends there.
 */
#ifndef NSR_EMIT_ENTRIES_H
#define NSR_EMIT_ENTRIES_H

#include "sync/plan.h"

/* A marker behind a private scope; what leads from the end of an arm over its
 * pads, and one of these; a mirror advanced at entry, a marker that counts
 * where a group lacks members, what a mirror is there, or a wait. */
enum nsr_entry_kind {
  NSR_ENTRY_SCOPE_MARKER,
  NSR_ENTRY_OVER,
  NSR_ENTRY_PAD,
  NSR_ENTRY_MIRROR,
  NSR_ENTRY_PLAN_MARKER,
  NSR_ENTRY_SNAPSHOT,
  NSR_ENTRY_WAIT /* in front of a loop */
};

struct nsr_entry {
  uint32_t insn, depth;
  uint32_t arm;   /* runs at the end of this arm only (pad: where that is passed
                     by); 0: always */
  uint8_t kind;   /* enum nsr_entry_kind */
  uint32_t which; /* work, mirror, snapshot, marker, pad or wait */
  int32_t add;    /* mirror; over: so many */
  bool set;       /* .. to that */
};

/* By instruction; those at the end of arms first, inner arms before outer
 * ones, then outer scopes before inner ones. */
struct nsr_entries {
  size_t n;
  const struct nsr_entry *v;
  uint32_t first_mirror, nmirrors; /* of the engine, in the plan */
  uint32_t nprologue;              /* of these begin there */
};

NSR_MUST_USE enum nsr_status nsr_entries_find(struct nsr_ctx *ctx,
                                              const struct nsr_plan *plan,
                                              int engine,
                                              struct nsr_entries *out);

/* How many of the entries at the end of arms, in front of instruction insn, are
 * in front of who comes there from a scope by a branch: from the first one on
 * of an arm that it is in, or that it passes by with its pads. */
uint32_t nsr_entries_ends(const struct nsr_entry *v, size_t n,
                          const struct nsr_scopes *own, uint32_t scope,
                          uint32_t insn);

#endif
