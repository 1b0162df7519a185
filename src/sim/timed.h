/* timed.h - how long a recorded run takes on a machine: a deterministic,
 * event-driven run of what the record says (isa/README.md, "Timing").
 */
#ifndef NSR_SIM_TIMED_H
#define NSR_SIM_TIMED_H

#include "sim/record.h"

/* Times are in femtoseconds, so that cycles of all clocks are whole enough;
 * a second is 10^15 of them. */
enum { NSR_FS_PER_PS = 1000 };
#define NSR_FS_PER_NS INT64_C(1000000)

/* No run gets here: times and sums of times stop at it. */
#define NSR_TOO_LATE (INT64_MAX / 4)
static inline int64_t nsr_time_add(int64_t a, int64_t b) {
  int64_t sum = a < NSR_TOO_LATE && b < NSR_TOO_LATE ? a + b : NSR_TOO_LATE;
  return sum < NSR_TOO_LATE ? sum : NSR_TOO_LATE;
}

/* What the instances of a channel have to wait for: retirements of others, by
 * number (1-based, those of steps that are NSR_STEP_SKIP not counted; they
 * are left out of such a run). */
struct nsr_true_need {
  uint32_t number;
  uint8_t channel;
};
struct nsr_true_needs {
  NSR_VEC(struct nsr_true_need) all[NSR_MAX_CHANNELS];
  /* instance n waits for all[first[n - 1]] .. all[first[n] - 1] */
  NSR_VEC(uint64_t) first[NSR_MAX_CHANNELS];
};

struct nsr_timed_options {
  const struct nsr_record *record;
  const struct nsr_machine *machine; /* with all costs */
  /* Instead of waits and of all barriers but the one at the end, instances
   * wait for these; at no cost, or with that of updates and waits. */
  const struct nsr_true_needs *needs;
  bool signals;
  /* What it would have been enough to wait for: `excess` is accounted. */
  const struct nsr_true_needs *enough;
};

/* Where an engine's time goes. */
struct nsr_timed_engine {
  int64_t end;     /* it halts */
  int64_t unit;    /* its pipeline's unit is taken */
  int64_t control; /* register operations, branches, waiting instructions */
  int64_t issue;
  int64_t waiting;       /* blocked: by a wait, */
  int64_t full;          /* a full pipeline or queue, */
  int64_t loading;       /* a register load, */
  int64_t barrier;       /* a barrier */
  int64_t *blocked;      /* all of these by instruction */
  int64_t *excess;       /* of waits and barriers: what was more than enough */
  int64_t *first, *last; /* when an instruction was issued; -1: never */
};

struct nsr_timed_queue {
  int64_t moving; /* bytes of it move */
  uint64_t bytes;
};

struct nsr_timed {
  int64_t end; /* every engine has halted and everything has retired */
  uint64_t barriers;
  struct nsr_timed_engine engine[NSR_MAX_ENGINES];
  struct nsr_timed_queue channel[NSR_MAX_CHANNELS]; /* those of queues */
};

/* Times a record, in ctx's keep arena. A run that hangs at these times (its
 * waits do not hold in every schedule) is NSR_E_HANG. */
NSR_MUST_USE enum nsr_status
nsr_timed_run(struct nsr_ctx *ctx, const struct nsr_timed_options *options,
              struct nsr_timed **timed);

/* What an instruction takes on a machine. */
struct nsr_cost {
  int64_t issue;    /* at its engine's program counter */
  int64_t interval; /* of its pipeline's unit; of a transfer the least time
                       that its bytes take if nobody else moves any */
  int64_t latency;  /* then, until it retires */
  int64_t work;     /* of a transfer: its share of all queues' bandwidth */
};
struct nsr_cost nsr_cost_of(const struct nsr_machine *m,
                            const struct nsr_variant *v);
/* A cycle of an engine. */
int64_t nsr_cycle_of(const struct nsr_machine *m, int engine);

#endif
