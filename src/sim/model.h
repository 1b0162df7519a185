/* model.h - the engine model: engines that issue in order, channels that
 * retire in order, semaphores, barriers, faults (isa/README.md, engine
 * model). It knows no analysis: whoever judges a run watches it.
 *
 * An instance of a datapath instruction or register load has four events:
 * issue (at its engine's program counter: wait tested, registers latched),
 * read, write, retire (in order per channel: update applied). What happens
 * between issue and retirement, and when, is a policy's choice.
 */
#ifndef NSR_SIM_MODEL_H
#define NSR_SIM_MODEL_H

#include <nsr/external.h>

#include "sim/image.h"
#include "sim/machine.h"

struct nsr_cover;
struct nsr_sim;

enum nsr_flight_stage { NSR_ISSUED, NSR_READ, NSR_WRITTEN };

/* An instance in flight. */
struct nsr_flight {
  const struct nsr_step *step;
  uint32_t insn;
  uint8_t engine, channel;
  uint8_t stage;    /* enum nsr_flight_stage */
  bool concrete;    /* bytes holds what was read or will be written */
  uint32_t ordinal; /* 1-based, among all of its channel */
  uint32_t number;  /* 1-based, among those not NSR_STEP_SKIP; 0: skipped */
  int32_t value;    /* the register a store names */
  int64_t offset[NSR_MAX_OPERANDS];
  uint32_t count[NSR_MAX_OPERANDS][NSR_MAX_DIMS]; /* those in registers */
  bool empty[NSR_MAX_OPERANDS];                   /* touches no byte */
  uint8_t any_reads, any_writes; /* operands, a bit each, whose contents the
                                    observer takes for unknown */
  const struct nsr_cover *cover[NSR_MAX_OPERANDS]; /* opaque memory */
  uint64_t identity; /* signature, addresses, counts, value */
  uint64_t digest;   /* of everything read, opaque memory */
  uint8_t *bytes;    /* the memory's, nbytes valid of cap */
  size_t nbytes, cap;
  uint32_t tag; /* the observer's */
};

/* Memory: opaque.h (tokens) or bytes.h (numbers). */
struct nsr_memory;
struct nsr_memory_ops {
  /* at issue, addresses known and in bounds */
  enum nsr_status (*place)(struct nsr_memory *, struct nsr_flight *);
  /* On failure of the machine *why is a static reason. */
  enum nsr_status (*read)(struct nsr_memory *, struct nsr_flight *,
                          const char **why);
  enum nsr_status (*write)(struct nsr_memory *, struct nsr_flight *);
  /* the value a load has read; false: not a number, *why says why */
  bool (*value)(struct nsr_memory *, const struct nsr_flight *, int32_t *v,
                const char **why);
  /* event `index` of others writes what it writes; NULL: runs of this memory
   * have none */
  enum nsr_status (*external)(struct nsr_memory *,
                              const struct nsr_external_event *,
                              uint32_t index);
};
struct nsr_memory {
  const struct nsr_memory_ops *ops;
};

/* Who watches. Each member may be NULL. Those that return bool stop the run
 * with false. Semaphores, clocks, traces are the observer's business. */
struct nsr_observer {
  void *self;
  /* a wait has held and its instruction goes on; owned and foreign */
  void (*waited)(void *self, int engine, uint32_t insn, int32_t threshold);
  bool (*begun)(void *self, struct nsr_flight *); /* before place */
  bool (*issued)(void *self, struct nsr_flight *);
  bool (*read)(void *self, const struct nsr_flight *);
  void (*loaded)(void *self, const struct nsr_flight *); /* before retired */
  void (*retired)(void *self, const struct nsr_flight *, int32_t before,
                  int32_t after); /* of the updated semaphore */
  void (*barrier)(void *self);
  void (*halted)(void *self, int engine);
  /* event `index` of others happens: it reads, then it has written; then each
   * of its updates */
  bool (*external)(void *self, uint32_t index);
  void (*signalled)(void *self, uint32_t index, const struct nsr_update *,
                    int32_t before, int32_t after);
};

/* ---- policies */

enum nsr_move {
  NSR_MOVE_ENGINE,  /* engine `index` goes to its next issue */
  NSR_MOVE_HEAD,    /* channel `index` retires its oldest instance */
  NSR_MOVE_SLOT,    /* its instance `slot` has its next event, if it may */
  NSR_MOVE_EXTERNAL /* the next event of sequence `index` happens */
};
struct nsr_action {
  enum nsr_move move;
  uint8_t index;
  uint32_t slot; /* 0: oldest in flight */
};

enum nsr_policy_kind {
  NSR_ROUND_ROBIN,
  NSR_HOLD_ENGINE,  /* engine `arg` goes only where nothing else can */
  NSR_AHEAD_ENGINE, /* engine `arg` goes whenever it can */
  NSR_LATE_QUEUES,  /* DMA as late as possible */
  NSR_LATE_PIPES,   /* pipelines as late as possible */
  NSR_REVERSE,      /* as late as possible, newest first */
  NSR_RANDOM,
  NSR_POLICIES
};
enum nsr_timing { NSR_EARLY, NSR_LATE, NSR_SOME_TIME };
struct nsr_policy {
  enum nsr_policy_kind kind;
  uint32_t arg;
  uint64_t seed;
  struct nsr_action (*next)(struct nsr_policy *, const struct nsr_sim *);
  enum nsr_timing external; /* events of others, once they may happen */
  uint64_t state;           /* random numbers */
  uint32_t last;            /* round robin */
};
void nsr_policy_init(struct nsr_policy *p, enum nsr_policy_kind kind,
                     uint32_t arg, uint64_t seed);
/* What happens next: something may. */
struct nsr_action nsr_policy_next(struct nsr_policy *p,
                                  const struct nsr_sim *sim);
/* "random, seed 7", into out. */
void nsr_policy_describe(const struct nsr_policy *p,
                         const struct nsr_image *image, char *out, size_t size);

/* ---- a run */

enum nsr_sim_end {
  NSR_RUNNING,
  NSR_DONE,        /* every engine halted, nothing in flight */
  NSR_SIM_FAULT,   /* sim->fault */
  NSR_SIM_HANG,    /* every engine blocked, nothing in flight */
  NSR_SIM_ENDLESS, /* an engine goes round without ever changing */
  NSR_SIM_BUDGET,  /* as many instructions as were allowed */
  NSR_SIM_OPAQUE,  /* a value that only real numbers could tell */
  NSR_SIM_STOPPED  /* by its observer */
};

enum nsr_machine_fault {
  NSR_MF_NONE,
  NSR_MF_BOUNDS,    /* access outside its space */
  NSR_MF_TENSOR,    /* access outside its tensor */
  NSR_MF_BRANCH,    /* computed jump outside the section */
  NSR_MF_END,       /* ran off the end */
  NSR_MF_DIVISION,  /* by zero */
  NSR_MF_SEMAPHORE, /* overflow */
  NSR_MF_BARRIER,   /* different ids meet */
  NSR_MF_UNDEFINED, /* an undefined register decides something */
  NSR_MF_COUNT,     /* a negative count */
  NSR_MF_SHAPE      /* operands that do not fit (numeric mode) */
};
const char *nsr_machine_fault_name(enum nsr_machine_fault f);

struct nsr_sim_fault {
  enum nsr_machine_fault kind;
  int engine;
  uint32_t insn;
  char text[200];
};

enum nsr_core_state {
  NSR_CORE_READY,
  NSR_CORE_WAITING,  /* on semaphore `sem` */
  NSR_CORE_FULL,     /* for room in `channel` */
  NSR_CORE_STALLED,  /* on its register load */
  NSR_CORE_DRAINING, /* at a barrier, own work in flight */
  NSR_CORE_ARRIVED,  /* at a barrier */
  NSR_CORE_HALTED,
  NSR_CORE_ABSENT /* no stream */
};

/* What a control instruction costs an engine; halt is none of these. */
enum nsr_control_kind {
  NSR_CONTROL_OPERATION, /* of registers */
  NSR_CONTROL_TRANSFER,  /* branch, taken or not, and jump */
  NSR_CONTROL_ONLY_WAIT,
  NSR_CONTROL_KINDS
};

struct nsr_core {
  const struct nsr_step *steps;
  uint32_t n, pc;
  uint8_t state; /* enum nsr_core_state */
  uint8_t channel;
  uint16_t sem;
  uint32_t inflight; /* on its pipeline and queues */
  int32_t threshold; /* of the wait that blocks */
  int32_t *reg;
  uint8_t *defined;
  uint32_t *ran;                       /* executions per instruction */
  uint32_t *taken;                     /* per branch, how often taken */
  uint32_t control[NSR_CONTROL_KINDS]; /* control so far, round 2^32 */
};

struct nsr_lane { /* a channel's instances in flight, oldest first */
  struct nsr_flight *ring;
  uint32_t mask, head, n; /* slot i is ring[(head + i) & mask] */
  uint32_t depth, window;
  uint32_t issued, numbered;
  uint8_t order, engine; /* order: enum nsr_order */
};

enum nsr_registers { NSR_REGS_UNDEFINED, NSR_REGS_KEPT, NSR_REGS_GARBAGE };

struct nsr_sim_options {
  const struct nsr_image *image;
  const struct nsr_machine *machine;
  struct nsr_memory *memory;
  struct nsr_policy *policy;
  const struct nsr_observer *observer; /* may be NULL */
  const struct nsr_external *external; /* NULL: waits for others hold at once */
  uint64_t budget;                     /* instructions */
  enum nsr_registers registers;
  const struct nsr_sim *before; /* NSR_REGS_KEPT: whose registers stay */
  uint64_t seed;                /* NSR_REGS_GARBAGE */
  bool unsigned_waits;          /* a machine that compares without sign */
};

struct nsr_sim {
  struct nsr_ctx *ctx;
  enum nsr_arena_id arena;
  const struct nsr_image *image;
  struct nsr_memory *memory;
  struct nsr_policy *policy;
  struct nsr_observer observer;
  enum nsr_sim_end end;
  enum nsr_status status; /* of a callback that failed */
  struct nsr_sim_fault fault;
  uint64_t budget, executed;
  bool unsigned_waits;
  uint32_t ready; /* bit per engine that may go */
  uint32_t busy;  /* bit per channel with work in flight */
  uint32_t due;   /* bit per sequence of others whose next event may happen */
  int ncores, nchannels, arrived, present;
  int32_t *sem; /* behind the semaphores the number of core barriers */
  const struct nsr_external *external;
  uint32_t *happened; /* per sequence: how many of its events */
  struct nsr_core core[NSR_MAX_ENGINES];
  struct nsr_lane lane[NSR_MAX_CHANNELS];
};

/* A run from the start. *sim lives in the arena. */
NSR_MUST_USE enum nsr_status nsr_sim_new(struct nsr_ctx *ctx,
                                         enum nsr_arena_id arena,
                                         const struct nsr_sim_options *options,
                                         struct nsr_sim **sim);
/* Runs to its end: sim->end. Fails only where memory is short. */
NSR_MUST_USE enum nsr_status nsr_sim_run(struct nsr_sim *sim);

static inline struct nsr_flight *nsr_lane_slot(const struct nsr_lane *l,
                                               uint32_t i) {
  return &l->ring[(l->head + i) & l->mask];
}

/* Whether slot i may have its next event before it retires, by the channel's
 * order and window. Slot 0 always may, until it is written. */
bool nsr_lane_may(const struct nsr_lane *l, uint32_t i);

/* ---- an engine by itself, for who explores its steps: pc, registers and
 * threshold in sim->core[engine], counts of its channels in sim->lane[]. What
 * goes wrong is in sim->end and sim->fault. */

/* Control that waits for nobody goes by. The step it stops at; NULL: halted,
 * or sim->end is set. */
const struct nsr_step *nsr_core_walk(struct nsr_sim *sim, int engine);
/* The control instruction at pc, its wait passed. False: as above. */
bool nsr_core_control(struct nsr_sim *sim, int engine);
/* The instance that issues at pc, counted in its channel, addresses in
 * bounds; false: they are not. pc stays. */
bool nsr_core_instance(struct nsr_sim *sim, int engine, struct nsr_flight *f);

/* ---- for src/sim only */

void nsr_sim_issue_next(struct nsr_sim *sim, int engine); /* core.c */
void nsr_lane_head(struct nsr_sim *sim, int channel);     /* lane.c */
void nsr_lane_event(struct nsr_sim *sim, int channel, uint32_t slot);
NSR_PRINTF(5, 6)
void nsr_sim_fail(struct nsr_sim *sim, enum nsr_machine_fault kind, int engine,
                  uint32_t insn, const char *fmt, ...);
/* Tests an engine again after something it may wait for. */
void nsr_core_wake(struct nsr_sim *sim, int engine);
/* Whether a comparison (enum nsr_cmp, not none) of a wait holds. core.c */
bool nsr_wait_holds(uint8_t cmp, int32_t value, int32_t threshold);
/* What an update makes of a value; lane.c */
int64_t nsr_update_value(const struct nsr_update *u, int32_t now);
/* The same; false: it does not fit the semaphore. */
bool nsr_update_apply(const struct nsr_sim *sim, const struct nsr_update *u,
                      int32_t *after); /* lane.c */
void nsr_lane_wake(struct nsr_sim *sim, uint16_t sem);
/* Semaphores of others, or the number of core barriers, have changed. */
void nsr_external_due(struct nsr_sim *sim); /* others.c */
void nsr_external_happen(struct nsr_sim *sim, uint32_t sequence);

#endif
