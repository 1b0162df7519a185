/* world.h - one kernel on one input, as an automaton: where each engine can
 * be, what it issues there, what an instance makes of what it reads. All of it
 * is found out once, by the engine model, and numbered; states of the
 * exploration (moves.h) are then rows of these numbers.
 */
#ifndef NSR_EXPLORE_WORLD_H
#define NSR_EXPLORE_WORLD_H

#include "base/vec.h"
#include "judge/allowed.h"
#include "sim/opaque.h"

enum {
  NSR_MAX_INSTANCES = 4096, /* of one kernel on one input */
  NSR_MAX_STATIONS = 1 << 16,
  NSR_MAX_PLACES = 1 << 22, /* touched, by all instances */
  NSR_MAX_KEPT = 1 << 27    /* bytes of contents */
};

enum nsr_station_kind {
  NSR_AT_ISSUE,   /* about to issue `inst` */
  NSR_AT_PASS,    /* at control with a wait */
  NSR_AT_STALLED, /* on the load `inst` */
  NSR_AT_BARRIER,
  NSR_AT_HALTED,
  NSR_AT_FAULT,   /* stays here */
  NSR_AT_ENDLESS, /* goes round without ever changing */
  NSR_AT_LOST     /* no number tells where it goes */
};

/* A place of an engine: program counter, registers, instances so far. */
struct nsr_station {
  uint8_t engine, kind, cmp; /* cmp: of an owned wait; NSR_CMP_NONE: none */
  uint32_t sem;              /* its slot */
  int32_t threshold;
  uint32_t pc;
  uint32_t inst, event; /* event: a wait on a semaphore of others happens */
  uint32_t next;        /* NSR_NONE: not known yet */
  int32_t *reg;
  uint8_t *defined;
  uint32_t *counts; /* per own channel: issued, numbered; then events */
  NSR_VEC(struct nsr_landing {
    int32_t value;
    uint32_t next;
  })
  landings; /* STALLED: where it goes with what was loaded */
  struct nsr_sim_fault fault;
  const char *why; /* LOST */
};

enum nsr_touch_how {
  NSR_TOUCH_R = 1,
  NSR_TOUCH_W = 2,
  NSR_TOUCH_ACC = 4, /* accumulates in PSUM: reads and writes */
  NSR_TOUCH_MAY_R = 8,
  NSR_TOUCH_MAY_W = 16,
  NSR_TOUCH_HIDDEN_R = 32,
  NSR_TOUCH_HIDDEN_W = 64
};
struct nsr_touch {
  uint32_t slot; /* of memory */
  uint32_t how;
};

/* An instance of a datapath instruction or load; or a wait on a semaphore of
 * others, or an event of others, which happen at once. */
struct nsr_instance {
  struct nsr_flight flight;
  bool is_event, fires, sees; /* what others see or make; sees: DRAM */
  bool ordered, load;
  uint8_t lane; /* waits for others: channels + engine; events of others:
                   channels + engines + sequence */
  const struct nsr_external_event *others; /* such an event, NULL: none */
  const uint32_t *puts;                    /* its tokens, by writes */
  uint32_t allowed;                        /* nsr_allowed_number */
  uint32_t sem;                    /* slot of its update, NSR_NONE: none */
  const struct nsr_touch *touches; /* by slot */
  uint32_t ntouches;
  const uint32_t *reads, *writes; /* slots; may accesses write nothing */
  uint32_t nreads, nwrites;
};

/* What one instance read, and so does. */
struct nsr_reading {
  uint32_t inst;
  const uint32_t *in, *out; /* tokens, as the instance's reads and writes */
  uint64_t trace[2];        /* stands for it in the sum of all */
  int32_t value;            /* of a load */
  const char *why;          /* that has none */
};

/* Tokens are numbered from 1; 0 is what a slot holds at launch. */
struct nsr_token {
  uint64_t value;
  const uint8_t *bytes; /* NULL: opaque */
};

struct nsr_index { /* numbers by hash, open addressing; 0: free, else + 1 */
  uint32_t *at;
  size_t mask;
};

struct nsr_world {
  struct nsr_ctx *ctx;
  enum nsr_arena_id arena;
  const struct nsr_image *image;
  struct nsr_atoms *atoms;
  struct nsr_opaque *memory;
  struct nsr_sim *sim; /* the model, to ask it */
  bool odd;            /* some count can shrink, or is waited for otherwise */
  bool wild;           /* others take part */
  const struct nsr_external *external; /* what they do: the first instances, in
                                          their order; NULL: not known */
  uint32_t cores; /* slot of the number of core barriers, NSR_NONE: not asked */
  const struct nsr_allowed *allowed; /* races */
  const struct nsr_world *reference; /* the first kernel's; NULL: it is */
  NSR_VEC(uint32_t)
  insn_of[NSR_MAX_CHANNELS]; /* by channel and number - 1, where races are
                                allowed; NSR_NONE: none yet */
  bool blind;                /* new cuts are needed */
  const char *full;          /* more than fits: why */
  NSR_VEC(struct nsr_station) stations;
  NSR_VEC(struct nsr_instance *) insts;
  NSR_VEC(struct nsr_reading) readings;
  NSR_VEC(struct nsr_token) tokens;
  struct nsr_index reading_index, token_index;
  uint32_t start[NSR_MAX_ENGINES];
  uint32_t events[NSR_MAX_ENGINES]; /* where the model's cores are */
  uint64_t *launch_token;           /* by atom, hidden state behind */
  const uint8_t **launch_bytes;
  uint32_t nsems;
  uint32_t *sem_slot; /* by semaphore, NSR_NONE: not used */
  uint16_t *sem_at;   /* by slot */
  bool *sem_odd;      /* by slot: what makes odd */
  uint32_t nslots;    /* of memory */
  uint32_t *slot_of;  /* by atom, hidden state behind; NSR_NONE: not used */
  NSR_VEC(uint32_t) slot_at;
  uint64_t ntouches; /* of all instances */
  uint64_t kept;     /* bytes of tokens */
  uint8_t *meets;    /* by instance and later instance: what it is, + 1 */
  uint32_t meets_cap;
};

/* What a kernel runs in. */
struct nsr_world_setting {
  const struct nsr_image *image;
  const struct nsr_machine *machine;
  struct nsr_atoms *atoms;
  const struct nsr_contents *contents;
  uint32_t ncontents;
  const struct nsr_allowed *allowed;
  const struct nsr_external *external;
  const struct nsr_world *reference; /* of the second kernel: the first one's */
};
NSR_MUST_USE enum nsr_status
nsr_world_new(struct nsr_ctx *ctx, enum nsr_arena_id arena,
              const struct nsr_world_setting *setting,
              struct nsr_world **world);

/* Where an engine is behind station (ISSUE, PASS, BARRIER). */
NSR_MUST_USE enum nsr_status nsr_world_next(struct nsr_world *w,
                                            uint32_t station, uint32_t *next);
/* The same behind a load that gave `value`. */
NSR_MUST_USE enum nsr_status nsr_world_loaded(struct nsr_world *w,
                                              uint32_t station, int32_t value,
                                              uint32_t *next);

/* What an instance does, the tokens of its reads being in[]. */
NSR_MUST_USE enum nsr_status nsr_world_read(struct nsr_world *w, uint32_t inst,
                                            const uint32_t *in,
                                            uint32_t *reading);
/* The slot of an atom; hidden state counts behind the atoms. */
NSR_MUST_USE enum nsr_status nsr_world_slot(struct nsr_world *w, uint32_t atom,
                                            uint32_t *slot);

/* Whether instance c, issued while p is in flight, conflicts with it in a way
 * that the channel does not order; may: they touch some of their bytes. */
enum nsr_meet { NSR_MEET_NOT = 0, NSR_MEET_MUST = 1, NSR_MEET_MAY = 2 };
NSR_MUST_USE enum nsr_status nsr_world_meet(struct nsr_world *w, uint32_t p,
                                            uint32_t c, unsigned *how);

static inline struct nsr_instance *nsr_inst(const struct nsr_world *w,
                                            uint32_t i) {
  return w->insts.v[i];
}

/* readings.c, for world.c: tables made empty; the token of a slot as it is in
 * the model's memory. */
NSR_MUST_USE enum nsr_status nsr_readings_init(struct nsr_world *w);
NSR_MUST_USE enum nsr_status nsr_readings_take(struct nsr_world *w,
                                               uint32_t slot, uint32_t *token);
/* events.c, for world.c: an instance for each event of others. */
NSR_MUST_USE enum nsr_status nsr_events_new(struct nsr_world *w);

#endif
