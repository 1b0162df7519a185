/* prove.h - verdicts on two kernels: level 1, static, for all inputs.
 *
 * Reads the two binaries, what a user says of the first, and nothing else: no
 * note, no plan, no list of dependences. What is claimed is relative: each pair
 * of accesses with bytes in common, one of them writing, is in the output in
 * the order of the input, the instructions are the same, and no wait is for
 * what comes later. Rests on the tables of the instruction set, the scope
 * trees, footprints and register values that the rewriter uses, too
 * (nsr_prove_trust).
 */
#ifndef NSR_PROVE_H
#define NSR_PROVE_H

#include <nsr/facts_file.h>
#include <nsr/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

enum nsr_proof_verdict {
  NSR_PROOF_PROVED,
  NSR_PROOF_REFUTED,  /* a rule is broken at a place */
  NSR_PROOF_UNDECIDED /* not shown, for a reason */
};

/* Which part of the proof speaks. */
enum nsr_proof_rule {
  NSR_RULE_NONE,
  NSR_RULE_SHAPE,     /* engines, queues or tensors differ */
  NSR_RULE_ERASURE,   /* other instructions, or control flow */
  NSR_RULE_REGISTERS, /* an inserted operation sets a register in use */
  NSR_RULE_COUNTERS,  /* who advances a semaphore, and by how much */
  NSR_RULE_THRESHOLD, /* a threshold that is no count less a constant */
  NSR_RULE_ORDER,     /* two accesses that nothing orders */
  NSR_RULE_LIVE,      /* a wait for what comes later */
  NSR_RULE_BUDGET,    /* counts may pass the width of a semaphore */
  NSR_RULE_STRUCTURE  /* the input's flow or waits cannot be read */
};
const char *nsr_proof_verdict_name(enum nsr_proof_verdict v);
const char *nsr_proof_rule_name(enum nsr_proof_rule r);

struct nsr_proof {
  enum nsr_proof_verdict verdict;
  enum nsr_proof_rule rule; /* where it is not proved */
  const char *text;         /* the reason with places; NULL: proved */
  uint32_t waits;           /* of owned semaphores in the output */
  uint64_t pairs;           /* of accesses looked at one by one */
  uint32_t may_pairs;       /* that the input leaves unordered, too */
  int64_t bound;            /* counts hold while no counted loop runs more
                               iterations than this; 0: none is counted */
  int64_t lasting;          /* addresses are known while no loop runs more
                               iterations than this, 0: any number that may */
  int64_t most;             /* iterations of a loop in all, as far as known from
                               the input; INT64_MAX: any number */
};

/* Judges b against a, both of which passed nsr_kernel_check; facts on a (NULL:
 * none): races that do no harm, tensors without common bytes, registers and
 * semaphores that b leaves alone. NSR_OK whatever the verdict; other statuses
 * only where memory is short. */
NSR_MUST_USE enum nsr_status nsr_prove(struct nsr_ctx *ctx,
                                       const struct nsr_kernel *a,
                                       const struct nsr_kernel *b,
                                       const struct nsr_facts_file *facts,
                                       struct nsr_proof *out);

/* Iterations of a loop in all that a proof holds for, 0: any number. counts:
 * whether some loop may reach what counters can hold. */
int64_t nsr_proof_limit(const struct nsr_proof *p, bool counts);

/* What a proof rests on, in lines: shared with the rewriter, and assumed. */
const char *nsr_prove_trust(void);

#ifdef __cplusplus
}
#endif
#endif
