/* judging.c - what is written passes the judges that are asked for, or is not
 * written. */
#include "judging.h"

static enum nsr_status proof_status(struct nsr_ctx *ctx,
                                    const struct nsr_kernel *k, bool strict,
                                    const struct nsr_proof *p) {
  struct nsr_place place = {.file = k->path, .insn = -1};
  if (p->verdict == NSR_PROOF_REFUTED)
    return nsr_fail(ctx, NSR_E_DIFFERENT, place,
                    "the static judge refutes the rewritten kernel: %s",
                    p->text);
  if (p->verdict == NSR_PROOF_UNDECIDED && strict)
    return nsr_fail(ctx, NSR_E_UNDECIDED, place,
                    "undecided by the static judge: %s", p->text);
  return NSR_OK;
}

/* alone: nobody else compares runs; proved: what runs did not get to is known
 * to be right. */
static enum nsr_status verdict_status(struct nsr_ctx *ctx,
                                      const struct nsr_kernel *k, bool strict,
                                      const struct nsr_judgement *j, bool alone,
                                      bool proved) {
  struct nsr_place place = {.file = k->path, .insn = -1};
  switch (j->verdict) {
  case NSR_INPUT_BROKEN:
    return nsr_fail(ctx, NSR_E_DIFFERENT, place, "the input is broken: %s",
                    j->text);
  case NSR_REFUTED:
    return nsr_fail(ctx, NSR_E_DIFFERENT, place,
                    "the judge refutes the rewritten kernel: %s", j->text);
  case NSR_UNDECIDED:
  case NSR_PREFIX_ONLY:
    if (j->inputs == 0 && alone)
      return nsr_fail(ctx, NSR_E_REFUSED, place,
                      "the judge compared no run to its end: %s", j->text);
    if (strict && !(proved && j->verdict == NSR_PREFIX_ONLY))
      return nsr_fail(ctx, NSR_E_UNDECIDED, place, "%s: %s",
                      nsr_verdict_name(j->verdict), j->text);
    break;
  case NSR_EQUAL:
    break;
  }
  return NSR_OK;
}

enum nsr_status nsr_judge_rewritten(struct nsr_ctx *ctx,
                                    const struct nsr_kernel *k,
                                    const struct nsr_kernel *out,
                                    const struct nsr_rewrite_options *options,
                                    struct nsr_rewrite_report *r) {
  unsigned how =
      options->verify ? options->verify : NSR_VERIFY_STATIC | NSR_VERIFY_COSIM;
  bool proved = false, strict = options->strict;
  if (how & NSR_VERIFY_STATIC) {
    NSR_TRY(nsr_prove(ctx, k, out, options->judge.facts, &r->proof));
    r->proof_asked = true;
    proved = r->proof.verdict == NSR_PROOF_PROVED;
    NSR_TRY(proof_status(ctx, k, strict, &r->proof));
  }
  if (how & NSR_VERIFY_COSIM) {
    NSR_TRY(nsr_cosimulate(ctx, k, out, &options->judge, &r->judgement));
    r->judged = true;
    NSR_TRY(verdict_status(ctx, k, strict, &r->judgement, true, proved));
  }
  if (how & NSR_VERIFY_EXHAUSTIVE) {
    struct nsr_explore_options explore = options->explore;
    explore.facts = options->judge.facts;
    explore.external = options->judge.external;
    NSR_TRY(nsr_explore(ctx, k, out, &explore, &r->exploration));
    r->explored = true;
    NSR_TRY(verdict_status(ctx, k, strict, &r->exploration.judgement,
                           !r->judged, proved));
  }
  return NSR_OK;
}
