/* random.h - what the two files of the random generator share: random_work.c
 * makes single pieces of work and orders them, random.c puts loops,
 * conditionals and barriers around them.
 */
#ifndef NSR_GEN_RANDOM_H
#define NSR_GEN_RANDOM_H

#include <nsr/gen.h>

#include "base/strbuf.h"
#include "base/vec.h"

/* Channels: the pipelines of all engines, then the queues. */
enum { NQUEUES = 4, MAX_CHANNELS = NSR_MAX_ENGINES + NQUEUES };

/* Registers, the same for all engines and few: trip counts and iterations of
 * the loops around, of which the first trip count is what is stored; one that
 * takes words; three that hold something for a moment; and the slot that the
 * iterations of one loop keep. */
enum {
  TRIP = 0,
  ITERATION = TRIP + 4,
  BRIEF = ITERATION + 5,
  TURN = BRIEF + 3
};
#define STORED "r0"
#define TAKEN "r8"
#define BRIEF0 "r9"
#define BRIEF1 "r10"
#define BRIEF2 "r11"

enum { MAX_DEPTH = 4, REGION = 128 };

/* A tensor, by what its accesses look like: a set of its 16 columns, a slot
 * of 16 columns that rotates, the same sets in PSUM, tiles of 4 rows in DRAM.
 */
enum kind { STATIC, ROTATING, SUMS, DRAM };
struct buffer {
  uint8_t kind, slots;
  uint8_t part; /* the first of 4 */
  bool input;
  uint32_t offset;
};

/* Buffers of a phase. */
enum { NSTATIC = 5, NROTATING = 2, NSUMS = 2 };
enum {
  FIRST_ROTATING = NSTATIC,
  FIRST_SUMS = FIRST_ROTATING + NROTATING,
  IN = FIRST_SUMS + NSUMS,
  OUT,
  NLOCAL
};

/* How a loop turns its buffers: by what is computed from its iteration for
 * each access; by a slot that it keeps, toggled, or counted and set back; by
 * two iterations in its body, each with slots of its own. */
enum turn { BY_REM, BY_AND, TOGGLED, SET_BACK, UNROLLED, NTURNS };

/* A loop around here, or a conditional. */
struct level {
  bool loop;
  uint8_t turn; /* enum turn: BY_REM and BY_AND are the accesses' choice */
  uint8_t half; /* UNROLLED: which of its iterations this is */
};

/* What one operand touches. */
struct touch {
  uint32_t buffer;
  uint8_t kind, slots; /* of the buffer */
  uint32_t columns;    /* STATIC, SUMS */
  const char *text;    /* .. as an access pattern */
  int loop, phase;     /* ROTATING: depth of the loop that turns it */
  uint8_t turn;        /* .. and how */
  bool advancing;      /* DRAM: a tile of its own in each iteration of loop */
  bool loaded;         /* DRAM: the tile that a word names */
  bool write;
  bool product;     /* of the matrix engine .. */
  bool accumulates; /* .. which adds behind its earlier ones */
};

struct done {
  int channel;
  uint32_t ordinal; /* since the last barrier */
  bool uncounted;   /* in, or behind, a scope that others do not count */
  bool unknown;     /* it may touch anything */
  int ntouch;
  struct touch touch[3];
};

/* The most instructions that a piece makes. */
struct most {
  int waits, word, work, private_work, matmul;
};

struct random {
  struct nsr_ctx *ctx;
  const struct nsr_isa *isa;
  int nengines, nqueues, nchannels;
  int nactive;                 /* engines that have a stream .. */
  int active[NSR_MAX_ENGINES]; /* .. ascending */
  int matrix;                  /* the engine that multiplies, -1: none */
  int wild;                    /* the one with unknown effects, -1: none */
  int feeds[NQUEUES];          /* engines */
  int nworkers; /* channels that work is dealt to, some several times */
  int workers[3 * NSR_MAX_ENGINES + NQUEUES + 2];
  struct most most;
  uint64_t state;
  int64_t depth_limit, trips;
  int rotation, privates, conditionals, unknown; /* percent */
  int64_t made, until; /* instructions; where what is being made must end */
  struct nsr_strbuf text[NSR_MAX_ENGINES];
  NSR_VEC(struct done) region;
  uint32_t used;                /* channels that work, a bit each */
  uint32_t count[MAX_CHANNELS]; /* work since the last barrier */
  bool lost[MAX_CHANNELS];      /* .. which is not known any longer */
  bool no_barrier;              /* in a scope that is to have none */
  uint32_t labels;              /* used so far */
  int depth;                    /* loops and conditionals around here */
  struct level level[MAX_DEPTH + 1];
  bool turning; /* some loop around here keeps a slot */
  struct nsr_random_shares shares;

  NSR_VEC(struct buffer) buffers;
  NSR_VEC(uint32_t) words; /* that each phase loads, the last one so far */
  uint32_t local[NLOCAL];  /* of this phase */
  uint32_t sems;           /* the first of this region's */
};

/* ---- numbers */

int nsr_random_below(struct random *r, int n);
bool nsr_random_chance(struct random *r, int percent);

/* ---- text */

#define EMIT(r, engine, ...) nsr_strbuf_printf(&(r)->text[engine], __VA_ARGS__)

/* A whole instruction, for one engine or for all of them. */
#define INSN(r, engine, ...)                                                   \
  do {                                                                         \
    EMIT(r, engine, __VA_ARGS__);                                              \
    (r)->made++;                                                               \
  } while (0)
NSR_PRINTF(2, 3)
void nsr_random_all(struct random *r, const char *fmt, ...);
/* A label, for all of them. */
void nsr_random_label(struct random *r, const char *name, uint32_t number);

/* Whether n more instructions fit. */
static inline bool nsr_random_room(const struct random *r, int64_t n) {
  return r->made + n <= r->until;
}

void nsr_random_barrier(struct random *r);

/* ---- work */

static inline bool nsr_random_queue(const struct random *r, int channel) {
  return channel >= r->nengines;
}
int nsr_random_engine(const struct random *r, int channel);
/* An engine that has a stream. */
int nsr_random_active(struct random *r);
/* A loop around here, -1: none. */
int nsr_random_loop(struct random *r);
/* A static buffer; some of its columns. */
struct touch nsr_random_columns(struct random *r, uint32_t columns,
                                const char *text, bool write);
/* The next word of the phase, which decides control flow or an address, into a
 * register of one engine, of all of them. */
void nsr_random_own_word(struct random *r, int engine, int reg);
void nsr_random_word_of_all(struct random *r, int reg);
/* Whether d conflicts with work of its region. */
bool nsr_random_conflicts(struct random *r, const struct done *d);
/* Whether immediate waits can order d; puts a barrier in front of it where
 * they cannot and one is allowed. */
bool nsr_random_settle(struct random *r, const struct done *d);
/* One wait for each channel with conflicting work in the region; the last one
 * as the suffix of the instruction itself. */
void nsr_random_waits(struct random *r, const struct done *d, char *suffix,
                      size_t size);
/* d is made. */
NSR_MUST_USE enum nsr_status nsr_random_finish(struct random *r,
                                               struct done *d);
/* Behind a scope, work of the channel is not counted any longer; that from
 * `from` on lies in the scope, and is named by nobody outside. */
void nsr_random_lose(struct random *r, int channel, size_t from);

/* One instruction on some channel and what it needs in front of it. */
NSR_MUST_USE enum nsr_status nsr_random_work(struct random *r);
/* A register store or load of one column, on any engine. */
NSR_MUST_USE enum nsr_status nsr_random_word(struct random *r);
/* A stationary matrix and products with it. */
NSR_MUST_USE enum nsr_status nsr_random_matmul(struct random *r);
/* One with unknown effects. */
NSR_MUST_USE enum nsr_status nsr_random_unknown(struct random *r);
/* The same as _word, on one engine, without a barrier. */
NSR_MUST_USE enum nsr_status nsr_random_private_work(struct random *r,
                                                     int engine);
#endif
