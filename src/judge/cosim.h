/* cosim.h - two kernels side by side, for the parts of the level-2 judge. */
#ifndef NSR_JUDGE_COSIM_H
#define NSR_JUDGE_COSIM_H

#include "judge/inputs.h"
#include "judge/watch.h"

/* So many inputs cut off by the budget and none equal: the others get little.
 */
enum { NSR_CUT_OFF_MANY = 3 };

struct nsr_judge {
  struct nsr_ctx *ctx;  /* results: its keep arena */
  struct nsr_ctx *pool; /* work: images in keep, runs in scratch */
  struct nsr_mark mark;
  bool marked; /* images lie in ctx's scratch arena, behind mark */
  const struct nsr_image *a, *b;
  struct nsr_atoms *atoms;
  struct nsr_machine machine;
  struct nsr_judge_options options; /* defaults filled in */
  struct nsr_inputs inputs;
  bool wild, may;
  struct nsr_allowed allowed;
  bool all; /* as many inputs as options.inputs, if there are */
  uint64_t instances, may_pairs, runs;
  size_t left;      /* inputs that were not begun */
  uint32_t skipped; /* optional inputs that took too long */
  uint32_t series;  /* that of the last one of these */
  int64_t *most;    /* by control tensor: up to where inputs are equal */
  uint32_t cut_off; /* inputs that the budget ended, before any equal one */
  uint64_t budget;  /* as asked for: options.budget shrinks behind these */
  uint32_t *ran[NSR_MAX_ENGINES], *taken[NSR_MAX_ENGINES]; /* of a */
  uint32_t *happened; /* per sequence of others: so many events, with a */
  const char *odd;    /* why schedules beyond those tried may differ */
};

/* Starts with nothing allocated: call nsr_judge_close whatever comes back. */
NSR_MUST_USE enum nsr_status
nsr_judge_open(struct nsr_judge *j, struct nsr_ctx *ctx,
               const struct nsr_kernel *a, const struct nsr_kernel *b,
               const struct nsr_judge_options *options);
/* The same for images that the caller made (in any arena). */
NSR_MUST_USE enum nsr_status
nsr_judge_open_images(struct nsr_judge *j, struct nsr_ctx *ctx,
                      const struct nsr_image *a, const struct nsr_image *b,
                      const struct nsr_judge_options *options);
void nsr_judge_close(struct nsr_judge *j);

/* The first difference in engines, queues, tensors; NULL: none. */
const char *nsr_judge_shape(struct nsr_ctx *ctx, const struct nsr_kernel *a,
                            const struct nsr_kernel *b);

/* Options of one run of an image; schedule 0 is round robin. */
struct nsr_watch_options nsr_judge_run_options(const struct nsr_judge *j,
                                               const struct nsr_image *image,
                                               size_t input, uint32_t schedule);

/* Those of a run against a first kernel's that has ended: so has the second
 * one to, if not quite as soon. */
struct nsr_watch_options nsr_judge_against(const struct nsr_judge *j,
                                           const struct nsr_watch *reference,
                                           const struct nsr_image *image,
                                           size_t input, uint32_t schedule);

/* Runs a first kernel on an input until it needs no new cuts. */
NSR_MUST_USE enum nsr_status nsr_judge_record(struct nsr_judge *j,
                                              struct nsr_watch_options *options,
                                              struct nsr_watch **watch);

/* Judges on all inputs; the work of nsr_cosimulate. */
NSR_MUST_USE enum nsr_status nsr_judge_all(struct nsr_judge *j,
                                           struct nsr_judgement *out);

/* The control tensors whose range was not tried to its top, a line each; ""
 * where all were. */
NSR_MUST_USE enum nsr_status nsr_judge_ranges(struct nsr_judge *j,
                                              const char **lines);

/* Adds to a finding who wrote what was read, or other addresses. */
NSR_MUST_USE enum nsr_status nsr_judge_details(struct nsr_judge *j,
                                               struct nsr_watch *reference,
                                               struct nsr_watch *failed);

/* Lines on loops and arms never entered, on ranges (the lines above) and on
 * what is assumed. */
NSR_MUST_USE enum nsr_status
nsr_judge_notes(struct nsr_judge *j, const char *ranges, const char **notes);
#endif
