/* timing.h - a recorded run of a kernel, for those who time it. */
#ifndef NSR_JUDGE_TIMING_H
#define NSR_JUDGE_TIMING_H

#include <nsr/time.h>

#include "judge/ideal.h"

struct nsr_time_run {
  const struct nsr_image *image;
  const struct nsr_contents *contents;
  uint32_t ncontents;
  uint64_t budget;
  struct nsr_record *record;
  struct nsr_true_needs *needs; /* NULL: not asked for yet */
};

/* The machine that is meant, with its other figures. */
NSR_MUST_USE enum nsr_status
nsr_time_machine_of(struct nsr_ctx *ctx, const struct nsr_isa *isa,
                    const struct nsr_time_machine *from, struct nsr_machine *m);

/* A run in one of its forms. */
NSR_MUST_USE enum nsr_status nsr_time_form(struct nsr_ctx *ctx,
                                           struct nsr_time_run *run,
                                           const struct nsr_machine *m,
                                           enum nsr_time_form form,
                                           struct nsr_timed **timed);

#endif
