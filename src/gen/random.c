/* random.c - structured kernels from a seed, for testing, of any size.
 *
 * A kernel is a row of phases, each with buffers of its own (and some of the
 * phase before), so that what a buffer takes part in is bounded however long
 * the kernel is. A phase is a tree of loops and conditionals that all engines
 * walk, with random work at its leaves and small scopes of single engines in
 * between, put into barrier form by a deliberately naive pass: a sync in front
 * of every scope and at the end of every body, and in between one wait per
 * channel for the last conflicting work of the region. One semaphore per
 * channel counts all its work since the last barrier.
 *
 * Every piece is begun only where all of it fits in front of `until`, so
 * that the kernel has the number of instructions that was asked for.
 */
#include "gen/random.h"

#include <assert.h>
#include <inttypes.h>

#include "gen/suite.h"

enum {
  SEED,
  INSTRUCTIONS,
  DEPTH,
  TRIPS,
  ENGINES,
  QUEUES,
  ROTATION,
  PRIVATE,
  CONDITIONALS,
  UNKNOWN
};

/* The fewest instructions for each engine that are worth a loop, a
 * conditional; and what ends a kernel: a barrier, a halt. */
enum { LOOP = 18, CONDITIONAL = 10, END = 2 };

/* Queues 0 and 2 are fed by one engine; somebody works on tensors. */
enum { FEED0, FEED1, FEED3, VECTOR, UNARY, NROLES };
static const struct nsr_gen_role roles[NROLES] = {
    [FEED0] = {"dma", NULL},
    [FEED1] = {"dma", "act"},
    [FEED3] = {"dma", "iota"},
    [VECTOR] = {"tt copy memset", "scan"},
    [UNARY] = {"act copy memset", NULL}};
static const char on_all[] =
    "ld st mov add mul rem and xor lt br wait nop sync halt";

/* ---- phases */

/* Where the buffers of a phase lie. On chip phases take turns with the
 * partitions, four at a time, and begin again when memory is used up. */
enum {
  UNIT = 64, /* bytes: 16 columns */
  ROWS = 4,
  SBUF_BYTES = (NSTATIC + 2 + 3) * UNIT,
  PSUM_BYTES = NSUMS * UNIT,
  COUNTS_BYTES = 0x2000,
  DRAM_BYTES = 0x8000, /* of a tensor */
  PHASE_BYTES = COUNTS_BYTES + 2 * DRAM_BYTES,
  DRAM_START = 0x10000
};

static uint32_t dram_of(uint32_t phase) {
  return DRAM_START + phase * PHASE_BYTES;
}

static struct buffer buffer(const struct nsr_isa *isa, uint32_t phase,
                            int local) {
  uint32_t groups = isa->partitions / ROWS, turn = phase / groups;
  struct buffer b = {.kind = STATIC,
                     .slots = 1,
                     .part = (uint8_t)(phase % groups * ROWS),
                     .input = local == IN};
  uint32_t sbuf = turn % (isa->sbuf_bytes / SBUF_BYTES) * SBUF_BYTES;
  uint32_t psum = turn % (isa->psum_bytes / PSUM_BYTES) * PSUM_BYTES;
  uint32_t unit = (uint32_t)local;
  if (local >= IN) {
    b.kind = DRAM;
    b.offset = dram_of(phase) + COUNTS_BYTES + (local == OUT ? DRAM_BYTES : 0);
    return b;
  }
  if (local >= FIRST_SUMS) {
    b.kind = SUMS;
    b.offset = psum + (unit - FIRST_SUMS) * UNIT;
    return b;
  }
  if (local >= FIRST_ROTATING) {
    b.kind = ROTATING;
    b.slots = (uint8_t)(2 + local - FIRST_ROTATING);
    unit = local == FIRST_ROTATING ? NSTATIC : NSTATIC + 2;
  }
  b.offset = sbuf + unit * UNIT;
  return b;
}

/* Half of the phases go on with a buffer of the one before, some read what it
 * wrote to DRAM. */
static enum nsr_status new_phase(struct random *r) {
  uint32_t phase = (uint32_t)r->words.n;
  uint32_t before = r->local[1 + nsr_random_below(r, NSTATIC - 1)];
  uint32_t out = r->local[OUT];
  bool share = phase && nsr_random_chance(r, 50);
  bool read = phase && nsr_random_chance(r, 40);
  for (int i = 0; i < NLOCAL; i++) {
    if ((i == 0 && share) || (i == IN && read)) {
      r->local[i] = i == IN ? out : before;
      continue;
    }
    r->local[i] = (uint32_t)r->buffers.n;
    NSR_PUSH(r->ctx, NSR_SCRATCH, &r->buffers, buffer(r->isa, phase, i));
  }
  NSR_PUSH(r->ctx, NSR_SCRATCH, &r->words, 0);
  return NSR_OK;
}

/* ---- scopes of one engine */

/* Arms of two engines are not one arm: something between them may have to
 * happen behind the one and in front of the other. */
static void put_own_parity(struct random *r, int engine, int index) {
  INSN(r, engine, "    add " BRIEF0 ", r%d, %d\n", index, engine + 1);
  INSN(r, engine, "    and " BRIEF0 ", " BRIEF0 ", 1\n");
}

static enum nsr_status put_private_arm(struct random *r) {
  int engine = nsr_random_active(r), loop = nsr_random_loop(r);
  uint32_t label = r->labels++;
  size_t from = r->region.n;
  if (r->lost[engine])
    return NSR_OK;
  r->shares.private_arms++;
  if (loop >= 0)
    put_own_parity(r, engine, ITERATION + loop);
  else
    nsr_random_own_word(r, engine, BRIEF);
  INSN(r, engine, "    br.eq " BRIEF0 ", 0, own%" PRIu32 "\n", label);
  for (int i = 1 + nsr_random_below(r, 3); i > 0; i--)
    if (nsr_random_room(r, r->most.private_work))
      NSR_TRY(nsr_random_private_work(r, engine));
  EMIT(r, engine, "own%" PRIu32 ":\n", label);
  nsr_random_lose(r, engine, from);
  return NSR_OK;
}

/* A loop that stores tile after tile through a queue. */
static enum nsr_status put_private_loop(struct random *r) {
  int channel = r->nengines + nsr_random_below(r, r->nqueues);
  int engine = nsr_random_engine(r, channel);
  uint32_t label = r->labels++, out = r->local[OUT];
  size_t from = r->region.n;
  struct done d = {.channel = channel, .ntouch = 2};
  d.touch[0] = (struct touch){.buffer = out, .kind = DRAM, .write = true};
  d.touch[1] = nsr_random_columns(r, 0x00ff, "[8*4]", false);
  d.touch[0].loaded = true; /* by a count */
  if (nsr_random_conflicts(r, &d))
    return NSR_OK;
  r->shares.private_loops++;
  nsr_random_own_word(r, engine, BRIEF);
  INSN(r, engine, "    mov " BRIEF1 ", 0\n");
  EMIT(r, engine, "own%" PRIu32 ":\n", label);
  INSN(r, engine, "    br.ge " BRIEF1 ", " BRIEF0 ", end%" PRIu32 "\n", label);
  INSN(r, engine, "    mul " BRIEF2 ", " BRIEF1 ", 256\n");
  INSN(r, engine,
       "    dma q%d, t%" PRIu32 "+" BRIEF2 "{4*64}[8*4], t%" PRIu32 "[8*4]\n",
       channel - r->nengines, out, d.touch[1].buffer);
  INSN(r, engine, "    add " BRIEF1 ", " BRIEF1 ", 1\n");
  INSN(r, engine, "    br own%" PRIu32 "\n", label);
  EMIT(r, engine, "end%" PRIu32 ":\n", label);
  NSR_TRY(nsr_random_finish(r, &d));
  nsr_random_lose(r, channel, from);
  return NSR_OK;
}

/* ---- scopes of all engines without a barrier */

static bool any_lost(const struct random *r) {
  for (int c = 0; c < r->nchannels; c++)
    if (r->lost[c])
      return true;
  return false;
}

static void lose_all(struct random *r, const uint32_t *count, size_t from) {
  for (int c = 0; c < r->nchannels; c++)
    if (r->count[c] != count[c])
      nsr_random_lose(r, c, from);
}

/* Decided alike on all engines: by the parity of an iteration, or by a word
 * that each loads for itself. Work in it counts on; behind it nobody knows. */
static enum nsr_status put_common_arm(struct random *r) {
  uint32_t label = r->labels++, count[MAX_CHANNELS];
  int loop = nsr_random_loop(r);
  size_t from = r->region.n;
  if (any_lost(r))
    return NSR_OK;
  for (int c = 0; c < r->nchannels; c++)
    count[c] = r->count[c];
  if (loop >= 0 && nsr_random_chance(r, 50))
    nsr_random_all(r, "    and " BRIEF0 ", r%d, 1\n", ITERATION + loop);
  else
    nsr_random_word_of_all(r, BRIEF);
  nsr_random_all(r, "    br.eq " BRIEF0 ", 0, all%" PRIu32 "\n", label);
  r->shares.common_scopes++;
  r->no_barrier = true;
  for (int i = 1 + nsr_random_below(r, 4);
       i > 0 && nsr_random_room(r, r->most.work); i--)
    NSR_TRY(nsr_random_chance(r, 70) ? nsr_random_work(r) : nsr_random_word(r));
  r->no_barrier = false;
  nsr_random_label(r, "all", label);
  lose_all(r, count, from);
  return NSR_OK;
}

/* A loop of all engines in which some load words. */
static enum nsr_status put_common_loop(struct random *r) {
  uint32_t label = r->labels++, count[MAX_CHANNELS];
  size_t from = r->region.n;
  if (any_lost(r))
    return NSR_OK;
  for (int c = 0; c < r->nchannels; c++)
    count[c] = r->count[c];
  nsr_random_word_of_all(r, BRIEF);
  nsr_random_all(r, "    mov " BRIEF1 ", 0\n");
  nsr_random_label(r, "all", label);
  nsr_random_all(r, "    br.ge " BRIEF1 ", " BRIEF0 ", end%" PRIu32 "\n",
                 label);
  for (int i = 1 + nsr_random_below(r, 2); i > 0; i--) {
    char suffix[40];
    struct done d = {.channel = nsr_random_active(r), .ntouch = 1};
    int column = nsr_random_below(r, 16);
    d.touch[0] = nsr_random_columns(r, UINT32_C(1) << column, "", false);
    nsr_random_waits(r, &d, suffix, sizeof suffix);
    INSN(r, d.channel, "    ld " TAKEN ", t%" PRIu32 "+%d{0:1}%s\n",
         d.touch[0].buffer, 4 * column, suffix);
    NSR_TRY(nsr_random_finish(r, &d));
  }
  nsr_random_all(r, "    add " BRIEF1 ", " BRIEF1 ", 1\n");
  nsr_random_all(r, "    br all%" PRIu32 "\n", label);
  nsr_random_label(r, "end", label);
  lose_all(r, count, from);
  r->shares.common_scopes++;
  return NSR_OK;
}

/* ---- structure */

static enum nsr_status put_item(struct random *r);

/* Fills what is left. */
static enum nsr_status put_body(struct random *r) {
  while (nsr_random_room(r, r->most.word))
    NSR_TRY(put_item(r));
  return NSR_OK;
}

/* Where a scope of at least `least` instructions is to end: mostly short,
 * sometimes long. */
static int64_t end_of(struct random *r, int64_t least) {
  int x = nsr_random_below(r, 100);
  int more = x < 45 ? 60 : x < 75 ? 250 : x < 95 ? 800 : 1800;
  int64_t end = r->made + least + nsr_random_below(r, more);
  return end < r->until ? end : r->until;
}

/* What a loop does in front of its way back: instructions for each engine. */
static int advance_size(const struct level *l) {
  return l->turn == TOGGLED ? 2 : l->turn == SET_BACK ? 4 : 1;
}

static void put_advance(struct random *r, const struct level *l, int index) {
  nsr_random_all(r, "    add r%d, r%d, %d\n", index, index,
                 l->turn == UNROLLED ? 2 : 1);
  if (l->turn == TOGGLED)
    nsr_random_all(r, "    xor r%d, r%d, 64\n", TURN, TURN);
  if (l->turn != SET_BACK)
    return;
  nsr_random_all(r, "    add r%d, r%d, 64\n", TURN, TURN);
  nsr_random_all(r, "    lt " BRIEF0 ", r%d, 192\n", TURN);
  nsr_random_all(r, "    mul r%d, r%d, " BRIEF0 "\n", TURN, TURN);
}

/* Two iterations where the body holds two. */
static enum nsr_status put_halves(struct random *r, struct level *l) {
  int64_t end = r->until;
  if (l->turn == UNROLLED) {
    r->until = r->made + (end - r->made) / 2 - r->nactive;
    NSR_TRY(put_body(r));
    r->until = end;
    nsr_random_barrier(r);
    l->half = 1;
  }
  NSR_TRY(put_body(r));
  l->half = 0;
  return NSR_OK;
}

/* The next iteration begins here for some. */
static void put_continue(struct random *r, const struct level *l, int index,
                         uint32_t label) {
  uint32_t more = r->labels++;
  nsr_random_all(r, "    br.ne r%d, %d, more%" PRIu32 "\n", index,
                 l->turn == UNROLLED ? 0 : nsr_random_below(r, 2), more);
  put_advance(r, l, index);
  nsr_random_all(r, "    br loop%" PRIu32 "\n", label);
  nsr_random_label(r, "more", more);
  r->shares.continues++;
}

/* One more item and its barrier, behind a way out or on. */
static enum nsr_status put_rest(struct random *r) {
  r->until -= r->nactive;
  NSR_TRY(put_item(r));
  r->until += r->nactive;
  nsr_random_barrier(r);
  return NSR_OK;
}

/* The body, all that a continue or break jumps over, and what is behind it. */
static enum nsr_status put_iteration(struct random *r, struct level *l,
                                     int index, uint32_t label, bool top) {
  int64_t all = r->nactive, item = r->most.word + all, held = all;
  int64_t on = (2 + advance_size(l)) * all + item, out = all + item;
  bool halves = l->turn == UNROLLED;
  bool again = top && nsr_random_chance(r, 15) &&
               nsr_random_room(r, held + on + halves * all);
  held += again ? on : 0;
  bool leave =
      nsr_random_chance(r, 20) && nsr_random_room(r, held + out + halves * all);
  held += leave ? out : 0;
  r->until -= held;
  NSR_TRY(put_halves(r, l));
  r->until += held;
  nsr_random_barrier(r);
  if (again) {
    r->until -= leave ? out : 0;
    put_continue(r, l, index, label);
    NSR_TRY(put_rest(r));
    r->until += leave ? out : 0;
  }
  if (!leave)
    return NSR_OK;
  nsr_random_all(r, "    br.eq r%d, 2, done%" PRIu32 "\n", index, label);
  r->shares.breaks++;
  return put_rest(r);
}

static void choose_turn(struct random *r, struct level *l) {
  *l = (struct level){.loop = true, .turn = BY_REM};
  if (!r->turning && nsr_random_chance(r, 40))
    l->turn = nsr_random_chance(r, 40) ? TOGGLED : SET_BACK;
  else if (nsr_random_chance(r, 15))
    l->turn = UNROLLED;
}

/* How often it runs: a word says, or a constant. */
static void put_trip(struct random *r, int trip) {
  if (nsr_random_chance(r, 88)) {
    nsr_random_word_of_all(r, trip);
    r->shares.zero_trips++;
  } else {
    nsr_random_all(r, "    mov r%d, %d\n", trip, 1 + nsr_random_below(r, 3));
  }
  r->shares.loops++;
}

/* Top-test, bottom-test (behind a conditional), or broken out of. */
static enum nsr_status put_loop(struct random *r) {
  int d = r->depth++, trip = TRIP + d, index = ITERATION + d;
  uint32_t label = r->labels++;
  struct level *l = &r->level[d];
  int64_t outer = r->until;
  bool bottom = nsr_random_chance(r, 25), outer_turns = r->turning;
  r->until = end_of(r, LOOP * r->nactive);
  choose_turn(r, l);
  put_trip(r, trip);
  nsr_random_all(r, "    mov r%d, 0\n", index);
  if (l->turn == TOGGLED || l->turn == SET_BACK) {
    nsr_random_all(r, "    mov r%d, 0\n", TURN);
    r->turning = true;
  }
  nsr_random_barrier(r);
  if (bottom)
    nsr_random_all(r, "    br.le r%d, 0, done%" PRIu32 "\n", trip, label);
  nsr_random_label(r, "loop", label);
  if (!bottom)
    nsr_random_all(r, "    br.ge r%d, r%d, done%" PRIu32 "\n", index, trip,
                   label);
  r->until -= (advance_size(l) + (bottom ? 2 : 1)) * r->nactive;
  NSR_TRY(put_iteration(r, l, index, label, !bottom));
  r->until = outer;
  put_advance(r, l, index);
  if (bottom)
    nsr_random_all(r, "    br.lt r%d, r%d, loop%" PRIu32 "\n", index, trip,
                   label);
  else
    nsr_random_all(r, "    br loop%" PRIu32 "\n", label);
  nsr_random_label(r, "done", label);
  if (bottom)
    nsr_random_barrier(r);
  r->turning = outer_turns;
  r->depth--;
  return NSR_OK;
}

/* One arm, or two that share the room. */
static enum nsr_status put_arms(struct random *r, uint32_t label) {
  bool two = nsr_random_chance(r, 40) && nsr_random_room(r, 4 * r->nactive);
  int64_t end = r->until - r->nactive, half = (end - r->made) / 2;
  r->until = two ? r->made + half - r->nactive : end;
  r->shares.conditionals++;
  r->shares.both_arms += two;
  NSR_TRY(put_body(r));
  nsr_random_barrier(r);
  if (!two) {
    nsr_random_label(r, "skip", label);
    return NSR_OK;
  }
  nsr_random_all(r, "    br join%" PRIu32 "\n", label);
  nsr_random_label(r, "skip", label);
  nsr_random_barrier(r);
  r->until = end;
  NSR_TRY(put_body(r));
  nsr_random_barrier(r);
  nsr_random_label(r, "join", label);
  return NSR_OK;
}

/* On a loaded word, or on the parity of an iteration. */
static enum nsr_status put_conditional(struct random *r) {
  uint32_t label = r->labels++;
  int loop = nsr_random_loop(r);
  int64_t outer = r->until;
  r->until = end_of(r, CONDITIONAL * r->nactive);
  if (loop >= 0 && nsr_random_chance(r, 50))
    nsr_random_all(r, "    and " BRIEF0 ", r%d, 1\n", ITERATION + loop);
  else
    nsr_random_word_of_all(r, BRIEF);
  nsr_random_barrier(r);
  nsr_random_all(r, "    br.eq " BRIEF0 ", 0, skip%" PRIu32 "\n", label);
  r->level[r->depth++] = (struct level){.loop = false};
  NSR_TRY(put_arms(r, label));
  r->depth--;
  r->until = outer;
  return NSR_OK;
}

static enum nsr_status put_item(struct random *r) {
  const struct most *most = &r->most;
  const int all = r->nactive, arms = (r->privates * 3 + 4) / 5;
  bool deep = r->depth >= r->depth_limit;
  const struct {
    int weight, room;
    enum nsr_status (*put)(struct random *r);
  } items[] = {{deep ? 0 : 22, LOOP * all, put_loop},
               {deep ? 0 : r->conditionals, CONDITIONAL * all, put_conditional},
               {10, most->word, nsr_random_word},
               {arms, 3 + most->private_work, put_private_arm},
               {r->privates - arms, 7, put_private_loop},
               {6, 2 * all + most->work, put_common_arm},
               {3, 5 * all + 2 * (most->waits + 1), put_common_loop},
               {5, most->matmul, nsr_random_matmul},
               {r->unknown, most->word, nsr_random_unknown},
               {32, most->work, nsr_random_work}};
  enum { NITEMS = sizeof items / sizeof *items };
  int sum = 0, i = 0;
  for (int k = 0; k < NITEMS; k++)
    sum += items[k].weight;
  for (int x = nsr_random_below(r, sum); x >= items[i].weight; i++)
    x -= items[i].weight;
  return nsr_random_room(r, items[i].room) ? items[i].put(r)
                                           : nsr_random_word(r);
}

static enum nsr_status put_phase(struct random *r) {
  int64_t outer = r->until;
  NSR_TRY(new_phase(r));
  int64_t end = r->made + 300 + nsr_random_below(r, 1700);
  r->until = end < outer ? end : outer;
  NSR_TRY(put_body(r));
  r->until = outer;
  return NSR_OK;
}

/* ---- the kernel */

static void put_tensor(const struct random *r, uint32_t i,
                       struct nsr_strbuf *out) {
  const struct buffer *b = &r->buffers.v[i];
  const char *name = b->kind == SUMS ? "psum f32" : "sbuf i32";
  nsr_strbuf_printf(out, ".tensor t%" PRIu32, i);
  if (b->kind == DRAM)
    nsr_strbuf_printf(out, " dram i32 [512, 16] at %" PRIu32 " %s\n", b->offset,
                      b->input ? "input" : "output");
  else
    nsr_strbuf_printf(out, " %s [4, %d] at %d:4, %" PRIu32 " scratch%s\n", name,
                      16 * b->slots, b->part, b->offset,
                      b->kind == SUMS ? "" : " range 0 3");
}

static void put_head(const struct random *r, struct nsr_strbuf *out) {
  nsr_strbuf_printf(out, ".isa %s\n.kernel \"random\"\n", r->isa->name);
  for (int q = 0; q < r->nqueues; q++)
    nsr_strbuf_printf(out, ".queue q%d %s\n", q, r->isa->engines[r->feeds[q]]);
  for (size_t i = 0; i < r->words.n; i++) {
    nsr_strbuf_printf(out,
                      ".tensor n%zu dram i32 [%" PRIu32 "] at %" PRIu32
                      " input range 0 %" PRId64 " words 2",
                      i, r->words.v[i] + 1, dram_of((uint32_t)i), r->trips);
    for (uint32_t w = 0; w < r->words.v[i]; w++)
      nsr_strbuf_printf(out, ", %" PRIu32, w % 3 + 1);
    nsr_strbuf_puts(out, "\n");
  }
  for (uint32_t i = 0; i < r->buffers.n; i++)
    put_tensor(r, i, out);
}

static enum nsr_status put_all(struct random *r) {
  if (nsr_random_room(r, r->nactive))
    nsr_random_all(r, "    mov " STORED ", 7\n");
  while (nsr_random_room(r, r->most.word))
    NSR_TRY(put_phase(r));
  for (int i = 0; nsr_random_room(r, 1); i = (i + 1) % r->nactive)
    INSN(r, r->active[i], "    nop\n");
  nsr_random_barrier(r);
  nsr_random_all(r, "    halt\n");
  return NSR_OK;
}

/* Who works on tensors: engines as often as they are versatile, and queues. */
static void deal(struct random *r, int vector) {
  static const char *const counts[] = {"act", "tt", "scan"};
  for (int i = 0; i < r->nactive; i++)
    for (int k = 0; k < 3; k++)
      if (nsr_gen_has(r->isa, r->active[i], "copy memset") &&
          nsr_gen_has(r->isa, r->active[i], counts[k]))
        r->workers[r->nworkers++] = r->active[i];
  for (int q = 0; q <= r->nqueues; q++)
    r->workers[r->nworkers++] = r->nengines + q % r->nqueues;
  r->workers[r->nworkers++] = vector;
}

static void set_most(struct random *r) {
  int waits = r->nactive + r->nqueues - 1, word = r->nactive + waits + 1;
  r->most = (struct most){.waits = waits,
                          .word = word,
                          .work = word + 9,
                          .private_work = waits + 1,
                          .matmul = r->nactive + 4 * (waits + 1)};
}

/* Small kernels have few engines, or nothing would fit around their work; those
 * with the roles of `first` and `second` are among them. */
static void choose_active(struct random *r, int64_t asked, int first,
                          int second) {
  enum { ENOUGH = 40 }; /* instructions for an engine */
  int64_t fit = (r->until + ENOUGH / 2) / ENOUGH + nsr_random_below(r, 2);
  int n = (int)(asked ? asked : fit < 2 ? 2 : fit);
  uint32_t in = UINT32_C(1) << first | UINT32_C(1) << second;
  n = n < r->nengines ? n : r->nengines;
  while (__builtin_popcount(in) < n)
    in |= UINT32_C(1) << nsr_random_below(r, r->nengines);
  for (int e = 0; e < r->nengines; e++)
    if (in >> e & 1)
      r->active[r->nactive++] = e;
}

static bool is_active(const struct random *r, int engine) {
  int i = 0;
  while (i < r->nactive && r->active[i] != engine)
    i++;
  return i < r->nactive;
}

/* Queues, fed by engines that are there. */
static void choose_queues(struct random *r, int64_t asked, const int *engines) {
  static const int roles_of[NQUEUES] = {FEED0, FEED1, FEED0, FEED3};
  bool all = r->nactive == r->nengines;
  r->nqueues = (int)(asked ? asked
                     : all ? NQUEUES
                           : 1 + nsr_random_below(r, 3));
  r->nchannels = r->nengines + r->nqueues;
  for (int q = 0; q < r->nqueues; q++) {
    int e = engines[roles_of[q]];
    r->feeds[q] = is_active(r, e) ? e : engines[FEED0];
  }
}

static enum nsr_status set_engines(struct random *r, const int64_t *v) {
  const struct nsr_isa *isa = r->isa;
  int engines[NROLES];
  r->nengines = isa->nengines;
  NSR_TRY(
      nsr_gen_engines(r->ctx, isa, "random", on_all, roles, NROLES, engines));
  choose_active(r, v[ENGINES], engines[FEED0], engines[VECTOR]);
  r->until -= END * r->nactive;
  choose_queues(r, v[QUEUES], engines);
  r->matrix = -1;
  for (int i = r->nactive - 1; i >= 0; i--)
    if (nsr_gen_has(isa, r->active[i], "ldw mm"))
      r->matrix = r->active[i];
  r->wild = -1;
  for (int i = r->nactive - 1; i >= 0; i--)
    if (nsr_gen_has(isa, r->active[i], "custom"))
      r->wild = r->active[i];
  deal(r, engines[VECTOR]);
  set_most(r);
  if (isa->owned_last - isa->owned_first + 1 < r->nchannels ||
      isa->partitions < ROWS || isa->registers < TURN + 1 ||
      isa->sbuf_bytes < SBUF_BYTES || isa->psum_bytes < PSUM_BYTES)
    return nsr_fail(
        r->ctx, NSR_E_USAGE, NSR_NOWHERE,
        "random needs %d owned semaphores, %d registers, %d "
        "partitions of %d bytes of SBUF and %d of PSUM; %s has less",
        r->nchannels, TURN + 1, ROWS, SBUF_BYTES, PSUM_BYTES, isa->name);
  return NSR_OK;
}

static enum nsr_status check_reach(const struct random *r) {
  uint64_t end = DRAM_START + (uint64_t)r->words.n * PHASE_BYTES;
  if (end <= (uint64_t)nsr_gen_reach(r->isa).offset)
    return NSR_OK;
  return nsr_fail(r->ctx, NSR_E_USAGE, NSR_NOWHERE,
                  "%" PRId64 " instructions are beyond what offsets of %s can "
                  "say",
                  r->made, r->isa->name);
}

static enum nsr_status make(struct nsr_ctx *ctx,
                            const struct nsr_gen_request *request,
                            struct nsr_strbuf *out) {
  const struct nsr_isa *isa = request->isa;
  const int64_t *v = request->v;
  struct random r = {.ctx = ctx,
                     .isa = isa,
                     .state = (uint64_t)v[SEED],
                     .depth_limit = v[DEPTH],
                     .trips = v[TRIPS],
                     .rotation = (int)v[ROTATION],
                     .privates = (int)v[PRIVATE],
                     .conditionals = (int)v[CONDITIONALS],
                     .unknown = (int)v[UNKNOWN],
                     .until = v[INSTRUCTIONS]};
  NSR_TRY(set_engines(&r, v));
  for (int e = 0; e < r.nengines; e++)
    nsr_strbuf_init(&r.text[e], ctx, NSR_SCRATCH);
  NSR_TRY(put_all(&r));
  assert(r.made == v[INSTRUCTIONS]);
  NSR_TRY(check_reach(&r));
  put_head(&r, out);
  for (int i = 0; i < r.nactive; i++) {
    const char *text;
    size_t n;
    NSR_TRY(nsr_strbuf_done(&r.text[r.active[i]], &text, &n));
    nsr_strbuf_printf(out, "\n.engine %s\n", isa->engines[r.active[i]]);
    nsr_strbuf_add(out, text, n);
  }
  uint32_t engines = (UINT32_C(1) << r.nengines) - 1;
  r.shares.engines = (uint32_t)__builtin_popcount(r.used & engines);
  r.shares.queues = (uint32_t)__builtin_popcount(r.used & ~engines);
  if (request->shares)
    *request->shares = r.shares;
  return NSR_OK;
}

const struct nsr_gen_kernel nsr_gen_random = {
    .name = "random",
    .about = "a structured kernel from a seed, in naive barrier form",
    .nparams = 10,
    .params = {{"seed", 1, 1, 0, INT32_MAX, NSR_GEN_PLAIN},
               {"instructions", 60, 10000, END, 4000000, NSR_GEN_PER_ENGINE},
               {"depth", 4, 4, 0, MAX_DEPTH, NSR_GEN_PLAIN},
               {"trips", 3, 3, 0, 100, NSR_GEN_PLAIN},
               {"engines", 0, 0, 0, NSR_MAX_ENGINES, NSR_GEN_ENGINES},
               {"queues", 0, 0, 0, NQUEUES, NSR_GEN_PLAIN},
               {"rotation", 45, 45, 0, 100, NSR_GEN_PLAIN},
               {"private", 10, 10, 0, 100, NSR_GEN_PLAIN},
               {"conditionals", 12, 12, 0, 100, NSR_GEN_PLAIN},
               {"unknown", 0, 0, 0, 100, NSR_GEN_PLAIN}},
    .make = make,
};
