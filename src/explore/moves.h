/* moves.h - states of one kernel on one input, and what can happen in them.
 *
 * A state is a row of words: each engine's station, how many events of each
 * sequence of others have happened, semaphores, the token of
 * each slot of memory, the sum of what was read so far, a bit per instance that
 * has retired, and per channel the instances in flight, oldest first, each with
 * its stage and what it has read.
 */
#ifndef NSR_EXPLORE_MOVES_H
#define NSR_EXPLORE_MOVES_H

#include "explore/world.h"

enum nsr_go {
  NSR_GO_ENGINE, /* passes its wait: issues, or goes on */
  NSR_GO_STAGE,  /* an instance in flight reads, or writes */
  NSR_GO_RETIRE,
  NSR_GO_BARRIER,
  NSR_GO_OTHERS /* an event of others */
};
struct nsr_go_to {
  uint8_t go, index; /* engine, channel, sequence */
  uint16_t slot;     /* 0: oldest in flight */
};

/* What is wrong with a kernel, worst first. */
enum nsr_wrong {
  NSR_WRONG_RACE,
  NSR_WRONG_FAULT,
  NSR_WRONG_HANG,
  NSR_WRONG_LEAK,
  NSR_WRONG_LOST, /* nothing: cannot be told */
  NSR_WRONGS
};

struct nsr_outcome {
  uint64_t memory[2], trace[2];
};

struct nsr_search {
  struct nsr_ctx *out; /* texts: its keep arena */
  struct nsr_ctx *ctx;
  enum nsr_arena_id arena;
  struct nsr_world *w;
  bool split;        /* reads and writes are moves of their own */
  bool out_of_order; /* queues complete in any order */
  bool stale;        /* there is more than the rows have room for */
  uint64_t states, limit;
  bool more; /* than limit */
  /* rows */
  uint32_t nengines, nsequences, nlanes, insts, slots;
  uint32_t happened, sem, memory, trace, done, lanes, fixed, longest;
  /* findings */
  const char *wrong[NSR_WRONGS];
  NSR_VEC(struct nsr_outcome) outcomes;
  /* per instance: those that have retired whenever it issues */
  uint32_t words;
  uint32_t *before;
  bool *issued;
  uint32_t held; /* an event of others that could happen, and does not;
                    NSR_NONE: none */
  NSR_VEC(uint32_t) tokens; /* of one read */
};

/* Rows for what the world knows by now, twice as much if `room`. */
NSR_MUST_USE enum nsr_status nsr_search_init(struct nsr_search *s, bool room);
NSR_MUST_USE enum nsr_status nsr_search_start(struct nsr_search *s,
                                              uint32_t *row);
uint32_t nsr_row_length(const struct nsr_search *s, const uint32_t *row);

/* What can happen in a state. */
uint32_t nsr_moves(const struct nsr_search *s, const uint32_t *row,
                   struct nsr_go_to *moves);
bool nsr_may_go(const struct nsr_search *s, const uint32_t *row, int engine);
/* The event of a sequence that may happen, NSR_NONE: none does (events.c). */
uint32_t nsr_next_event(const struct nsr_search *s, const uint32_t *row,
                        uint32_t sequence);
/* It does; what is wrong then is noted. */
NSR_MUST_USE enum nsr_status nsr_move(struct nsr_search *s, uint32_t *row,
                                      struct nsr_go_to move);
/* Nothing can happen any more. */
NSR_MUST_USE enum nsr_status nsr_search_end(struct nsr_search *s,
                                            const uint32_t *row);

static inline uint32_t nsr_in_flight(const struct nsr_search *s,
                                     const uint32_t *row, int lane) {
  return row[s->lanes + (uint32_t)lane];
}
/* Whether its instances may retire in any order. */
static inline bool nsr_any_order(const struct nsr_search *s, int lane) {
  return s->out_of_order && lane >= (int)s->nengines &&
         nsr_channel_order(s->w->image->kernel, lane) != NSR_ORDER_FULL;
}
bool nsr_may_retire(const struct nsr_search *s, const uint32_t *row, int lane,
                    uint32_t slot);
/* Nothing that was found ends the search. */
static inline bool nsr_search_on(const struct nsr_search *s) {
  return !s->wrong[NSR_WRONG_RACE] && !s->stale && !s->w->full && !s->more;
}

/* Whether an instance has retired whenever a later one issues. */
static inline bool nsr_before(const struct nsr_search *s, uint32_t earlier,
                              uint32_t later) {
  return s->before[(size_t)later * s->words + earlier / 32] >> earlier % 32 & 1;
}

/* Each first finding in words (findings.c). */
NSR_MUST_USE enum nsr_status nsr_found_race(struct nsr_search *s, uint32_t p,
                                            uint32_t c);
NSR_MUST_USE enum nsr_status nsr_found_fault(struct nsr_search *s,
                                             const struct nsr_sim_fault *f);
NSR_MUST_USE enum nsr_status
nsr_found_outside(struct nsr_search *s, uint32_t event, const char *what);
NSR_MUST_USE enum nsr_status nsr_found_endless(struct nsr_search *s, int engine,
                                               uint32_t insn);
NSR_MUST_USE enum nsr_status nsr_found_hang(struct nsr_search *s,
                                            const uint32_t *row);
NSR_MUST_USE enum nsr_status nsr_found_flight(struct nsr_search *s, int engine,
                                              uint32_t inst);
NSR_MUST_USE enum nsr_status nsr_found_count(struct nsr_search *s, uint32_t sem,
                                             int32_t value);
NSR_MUST_USE enum nsr_status nsr_found_lost(struct nsr_search *s, int engine,
                                            uint32_t insn, const char *why);
#endif
