/* clocks.h - vector clocks: what each engine knows to be retired.
 *
 * One clock per engine, one component per channel: the ordinal up to which
 * the engine knows the channel's instances to have retired. Where semaphores
 * of others are used there is one more component per engine, for its events
 * at the program counter. Where a file says what others do, each of its
 * sequences has a clock and a component too, behind all these.
 *
 * A wait that holds brings in the clock of the update that satisfied it: the
 * updating engine's clock when that instance was issued, and the instance's
 * own channel up to it. A register load adds itself when it retires, a
 * barrier joins everything.
 */
#ifndef NSR_JUDGE_CLOCKS_H
#define NSR_JUDGE_CLOCKS_H

#include "base/vec.h"
#include "sim/model.h"

enum { NSR_MAX_CLOCK = NSR_MAX_CHANNELS + NSR_MAX_ENGINES + NSR_MAX_SEQUENCES };

/* How an engine learned something (only where clocks remember it). */
enum nsr_learned {
  NSR_BY_WAIT = 1,
  NSR_BY_LOAD,
  NSR_BY_BARRIER,
  NSR_BY_EVENT /* not an engine: an event of others */
};
struct nsr_lesson {
  enum nsr_learned how;
  uint8_t engine; /* who learned */
  uint32_t insn;  /* its wait, load; event: its index */
  uint16_t sem;   /* wait: */
  int32_t threshold;
  uint8_t channel; /* whose instance `ordinal` made the update */
  uint32_t ordinal;
  uint32_t row; /* the updating engine's clock when it issued that */
};

struct nsr_update_event {
  int32_t after;
  uint32_t row, ordinal;
  uint8_t channel;
};

struct nsr_sem_clock {
  NSR_VEC(struct nsr_update_event) events; /* since the last barrier */
  int32_t start;                           /* what it held then */
  bool odd;     /* not a count whose updates are in one order, waited for with
                   >= or > */
  uint32_t all; /* odd: row of all updates so far */
};

struct nsr_clocks {
  struct nsr_ctx *ctx;
  enum nsr_arena_id arena;
  const struct nsr_image *image;
  uint32_t width;   /* components */
  uint32_t outside; /* the first one of a sequence of others */
  const struct nsr_external *external; /* NULL: nobody says what they do */
  NSR_VEC(uint32_t) rows;              /* clocks, width each */
  NSR_VEC(uint32_t) why; /* beside rows: lesson + 1 per component */
  NSR_VEC(struct nsr_lesson) lessons;
  bool remember; /* fill why and lessons */
  /* clocks of engines and, behind NSR_MAX_ENGINES, of sequences of others */
  uint32_t row[NSR_MAX_ENGINES + NSR_MAX_SEQUENCES];
  bool shared[NSR_MAX_ENGINES + NSR_MAX_SEQUENCES]; /* somebody refers to it */
  uint32_t issued[NSR_MAX_CLOCK];
  struct nsr_sem_clock *sem; /* behind them all the count of core barriers */
  uint32_t *hint; /* per engine and semaphore: the event last waited for */
  NSR_VEC(uint16_t) touched; /* semaphores with events */
  int32_t odd_sem; /* the first odd one, -1: one schedule speaks for all */
  const char *odd_why;
  enum nsr_status status;
};

NSR_MUST_USE enum nsr_status
nsr_clocks_init(struct nsr_clocks *c, struct nsr_ctx *ctx,
                enum nsr_arena_id arena, const struct nsr_image *image,
                const struct nsr_external *external, bool events,
                bool remember);

static inline const uint32_t *nsr_clocks_at(const struct nsr_clocks *c,
                                            uint32_t row) {
  return c->rows.v + (size_t)row * c->width;
}
static inline const uint32_t *nsr_clocks_of(const struct nsr_clocks *c,
                                            int engine) {
  return nsr_clocks_at(c, c->row[engine]);
}
/* The engine's clock, to be kept as it is now. */
static inline uint32_t nsr_clocks_keep(struct nsr_clocks *c, int engine) {
  c->shared[engine] = true;
  return c->row[engine];
}

/* The update that a wait of an engine holds because of, NULL: it holds from
 * the start, or its semaphore is odd. The value is reached already. */
const struct nsr_update_event *nsr_clocks_target(struct nsr_clocks *c,
                                                 int engine,
                                                 const struct nsr_wait *wait,
                                                 int32_t threshold);

/* A semaphore holds something at first. */
NSR_MUST_USE enum nsr_status nsr_clocks_start(struct nsr_clocks *c,
                                              uint16_t sem, int32_t value);

/* The events of a run. Failures stay in c->status. */
void nsr_clocks_waited(struct nsr_clocks *c, int engine, uint32_t insn,
                       const struct nsr_wait *wait, int32_t threshold);
void nsr_clocks_issued(struct nsr_clocks *c, const struct nsr_flight *f);
void nsr_clocks_loaded(struct nsr_clocks *c, const struct nsr_flight *f);
void nsr_clocks_retired(struct nsr_clocks *c, const struct nsr_flight *f,
                        int32_t before, int32_t after);
void nsr_clocks_barrier(struct nsr_clocks *c);
/* An event at the engine's program counter: its ordinal there. */
uint32_t nsr_clocks_event(struct nsr_clocks *c, int engine);

/* An event of others happens: its sequence's clock is then what it knows, and
 * its ordinal is there. Then what it updates. */
void nsr_clocks_external(struct nsr_clocks *c, uint32_t index);
void nsr_clocks_signalled(struct nsr_clocks *c, uint32_t index,
                          const struct nsr_update *u, int32_t before,
                          int32_t after);
static inline int nsr_clocks_sequence(const struct nsr_external_event *e) {
  return NSR_MAX_ENGINES + (int)e->sequence;
}

#endif
