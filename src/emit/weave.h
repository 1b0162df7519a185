/* weave.h - the output's streams: the input's instructions without its
 * barriers and waits, and the plan's waits, updates and mirrors in between.
 * What lies in islands keeps its own; barriers that stay do.
 */
#ifndef NSR_EMIT_WEAVE_H
#define NSR_EMIT_WEAVE_H

#include "sync/plan.h"

struct nsr_woven {
  struct nsr_stream streams[NSR_MAX_ENGINES]; /* by engine; n 0: none */
  uint32_t barriers[NSR_MAX_ENGINES];         /* in them */
  uint32_t waits[NSR_MAX_ENGINES];            /* .. on owned semaphores */
  const uint32_t *wait_at; /* by plan wait: the instruction that carries it */
  const uint32_t *work_at; /* by work: where it went, NSR_NONE: removed */
  const uint32_t *part_at; /* by part: a barrier that stays, on the first engine
                              that has it */
  const uint32_t *trouble_at; /* by trouble of the tree: where that is */
};

/* Needs a plan; exit is the part of the exit barrier. Branches, labels,
 * relocations and lines follow their instructions: a branch lands behind
 * what its target's scope does on entry from outside, unless it enters from
 * there. Refuses branches that become too long and values that do not
 * encode. */
NSR_MUST_USE enum nsr_status nsr_weave(struct nsr_ctx *ctx,
                                       const struct nsr_plan *plan,
                                       uint32_t exit, struct nsr_woven *out);

/* The note that explains a rewritten kernel: version, options, hashes of the
 * input and of options and the code it became, and per wait whom it waits for.
 * No paths, no dates. */
NSR_MUST_USE enum nsr_status
nsr_weave_note(struct nsr_ctx *ctx, const struct nsr_plan *plan,
               const struct nsr_woven *woven, const char *options,
               const uint8_t *input, size_t size, struct nsr_section *out);

/* Whether a kernel is what its own note says came out with these options:
 * nothing is left to do, whatever could be read now. */
NSR_MUST_USE enum nsr_status nsr_weave_done(struct nsr_ctx *ctx,
                                            const struct nsr_program *p,
                                            const char *options, bool *done);

/* Name of the note's section. */
extern const char nsr_rewrite_note[];

#endif
