/* verdict.h - how the parts of a proof say that it fails.
 *
 * A part that cannot go on writes what it found into the proof and returns;
 * whoever called it looks at nsr_proof_open before the next part.
 */
#ifndef NSR_PROVE_VERDICT_H
#define NSR_PROVE_VERDICT_H

#include <nsr/prove.h>

#include "ir/program.h"

/* Whether nothing has been found against it yet. */
static inline bool nsr_proof_open(const struct nsr_proof *p) {
  return p->verdict == NSR_PROOF_PROVED;
}

/* The first objection counts. */
NSR_PRINTF(5, 6)
NSR_MUST_USE enum nsr_status nsr_proof_object(struct nsr_ctx *ctx,
                                              struct nsr_proof *p,
                                              enum nsr_proof_verdict verdict,
                                              enum nsr_proof_rule rule,
                                              const char *fmt, ...);

/* "act[12] <loop> (k.s:40)", in scratch; NULL: out of memory. */
const char *nsr_proof_place(struct nsr_ctx *ctx, const struct nsr_program *p,
                            int engine, uint32_t insn);

#endif
