/* time.h - how long a kernel takes on a machine of which the costs are known.
 *
 * A kernel is run once on an input, which records what takes time; the record
 * is then timed on as many machines as one likes. Costs come from machine
 * files (isa/NAME.machine); figures that nobody has published are marked there.
 */
#ifndef NSR_TIME_H
#define NSR_TIME_H

#include <nsr/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The text of a machine file that is built in, by name; NULL: none. */
const char *nsr_machine_builtin(const char *name);

struct nsr_time_machine {
  const char *name; /* NULL: the default of the instruction set */
  const char *text; /* of the file; NULL: the one built in by that name */
  uint32_t nsets;
  const char *const *sets; /* "SECTION.KEY=VALUE", "barrier=20us", in turn */
};

/* Words of a control tensor; those behind the last one are equal to it. */
struct nsr_time_words {
  const char *tensor;
  uint32_t n;
  const int64_t *words;
};

struct nsr_time_input {
  uint32_t nwords; /* tensors that are given words; the others hold what the
                      file says, and 2 where it says nothing */
  const struct nsr_time_words *words;
  uint64_t budget; /* instructions; 0: 200,000,000 */
};

struct nsr_time_run;

/* Runs k on an input. */
NSR_MUST_USE enum nsr_status nsr_time_record(struct nsr_ctx *ctx,
                                             const struct nsr_kernel *k,
                                             const struct nsr_time_input *input,
                                             struct nsr_time_run **run);

enum nsr_time_form {
  NSR_TIME_AS_IS,
  /* The same, and for how long less it would have been enough to wait for the
   * retirements that each instruction conflicts with. */
  NSR_TIME_EXPLAINED,
  /* Dependences alone: waits and barriers are gone, the exit barrier stays;
   * each instance waits for the retirement of those it conflicts with in the
   * order of the kernel, and for nothing else. */
  NSR_TIME_IDEAL,
  /* The same, and it takes as long to hear of a retirement as with waits. */
  NSR_TIME_IDEAL_SIGNALS
};

/* Where the time of an engine went; ns. */
struct nsr_time_engine {
  const char *name; /* NULL: no stream */
  double end;       /* it halts */
  double unit;      /* its pipeline's unit is taken */
  double control, issue;
  double waiting, full, loading, barrier; /* blocked: by a wait, a full pipeline
                                             or queue, a register load, a
                                             barrier and the drain before */
};

struct nsr_time_queue {
  const char *name;
  double moving; /* ns in which bytes of it move */
  uint64_t bytes;
};

/* An instruction that its engine was blocked at. */
struct nsr_time_blocked {
  struct nsr_place place;
  double ns;
};

struct nsr_time {
  const char *machine;
  double ns;
  double cycles;                   /* of the default clock */
  uint64_t instructions, barriers; /* that were run */
  uint64_t operations, branches;   /* of registers; taken or not */
  uint64_t waits;                  /* on owned semaphores */
  uint64_t work, noops; /* what pipelines and queues were given: no-ops that
                           touch nothing but owned semaphores are apart */
  struct nsr_time_engine engines[NSR_MAX_ENGINES];
  uint32_t nqueues, nblocked, nexcess;
  const struct nsr_time_queue *queues;
  /* The longest first, some of them; excess: of waits and barriers, what was
   * more than enough (NSR_TIME_EXPLAINED). */
  const struct nsr_time_blocked *blocked, *excess;
};

enum { NSR_TIME_BLOCKED = 16 };

/* Times a run. Figures that do not exist are NSR_E_USAGE, a machine file for
 * another instruction set or without costs is NSR_E_FORMAT. */
NSR_MUST_USE enum nsr_status nsr_time(struct nsr_ctx *ctx,
                                      struct nsr_time_run *run,
                                      const struct nsr_time_machine *machine,
                                      enum nsr_time_form form,
                                      struct nsr_time *out);

/* Bounds of a loop, and what happens, in ns for an iteration; -1: not known. */
struct nsr_loop_limits {
  struct nsr_place place; /* where an iteration begins, on its first engine */
  uint32_t depth;
  uint64_t iterations; /* in all */
  double resources;    /* what the busiest resource has to do */
  const char *resource_kind, *resource; /* "control of ", "act"; "", "q0" */
  /* The slowest cycle of waiting, for loops without loops in them: with the
   * dependences that the rewriter finds, and with those of the run (what held
   * in half of the executions). */
  double recovered_distances, true_distances;
  double as_is, ideal; /* from one to the next, with what is around the loop */
};

struct nsr_limits {
  uint32_t n;
  const struct nsr_loop_limits *loops; /* outer ones first */
};

/* Limits of the loops of k, which run was recorded of. Fails as nsr_rewrite
 * does where a kernel cannot be read. */
NSR_MUST_USE enum nsr_status nsr_limits(struct nsr_ctx *ctx,
                                        const struct nsr_kernel *k,
                                        struct nsr_time_run *run,
                                        const struct nsr_time_machine *machine,
                                        struct nsr_limits *out);

#ifdef __cplusplus
}
#endif
#endif
