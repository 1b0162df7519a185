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

enum { SEED, INSTRUCTIONS, DEPTH, TRIPS };

/* The fewest instructions for each engine that are worth a loop, a
 * conditional; and what ends a kernel: a barrier, a halt. */
enum { LOOP = 20, CONDITIONAL = 14, END = 2 };

/* Queues 0 and 2 are fed by one engine; somebody works on tensors. */
enum { FEED0, FEED1, FEED3, VECTOR, UNARY, NROLES };
static const struct nsr_gen_role roles[NROLES] = {
    [FEED0] = {"dma", NULL},
    [FEED1] = {"dma", "act"},
    [FEED3] = {"dma", "iota"},
    [VECTOR] = {"tt copy memset", "scan"},
    [UNARY] = {"act copy memset", NULL}};
static const char on_all[] = "ld st mov add mul rem and br wait nop sync halt";

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

/* The next word of the phase that decides control flow, into a register. */
static uint32_t new_word(struct random *r) {
  return 4 * r->words.v[r->words.n - 1]++;
}

static void put_own_count(struct random *r, int engine, int reg) {
  INSN(r, engine, "    ld r%d, n%zu+%" PRIu32 "\n", reg, r->words.n - 1,
       new_word(r));
}

static void put_count(struct random *r, int reg) {
  nsr_random_all(r, "    ld r%d, n%zu+%" PRIu32 "\n", reg, r->words.n - 1,
                 new_word(r));
}

/* ---- scopes of one engine */

/* Arms of two engines are not one arm: something between them may have to
 * happen behind the one and in front of the other. */
static void put_own_parity(struct random *r, int engine, int index) {
  INSN(r, engine, "    add " BRIEF0 ", r%d, %d\n", index, engine + 1);
  INSN(r, engine, "    and " BRIEF0 ", " BRIEF0 ", 1\n");
}

static enum nsr_status put_private_arm(struct random *r) {
  int engine = nsr_random_below(r, r->nengines), loop = nsr_random_loop(r);
  uint32_t label = r->labels++;
  size_t from = r->region.n;
  if (r->lost[engine])
    return NSR_OK;
  if (loop >= 0)
    put_own_parity(r, engine, ITERATION + loop);
  else
    put_own_count(r, engine, BRIEF);
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
  int channel = r->nengines + nsr_random_below(r, NQUEUES);
  int engine = nsr_random_engine(r, channel);
  uint32_t label = r->labels++, out = r->local[OUT];
  size_t from = r->region.n;
  struct done d = {.channel = channel, .ntouch = 2};
  d.touch[0] = (struct touch){.buffer = out, .kind = DRAM, .write = true};
  d.touch[1] = nsr_random_columns(r, 0x00ff, "[8*4]", false);
  if (nsr_random_conflicts(r, &d))
    return NSR_OK;
  put_own_count(r, engine, BRIEF);
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
    put_count(r, BRIEF);
  nsr_random_all(r, "    br.eq " BRIEF0 ", 0, all%" PRIu32 "\n", label);
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
  put_count(r, BRIEF);
  nsr_random_all(r, "    mov " BRIEF1 ", 0\n");
  nsr_random_label(r, "all", label);
  nsr_random_all(r, "    br.ge " BRIEF1 ", " BRIEF0 ", end%" PRIu32 "\n",
                 label);
  for (int i = 1 + nsr_random_below(r, 2); i > 0; i--) {
    char suffix[40];
    struct done d = {.channel = nsr_random_below(r, r->nengines), .ntouch = 1};
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

/* The body, all that a break jumps over, and what is behind it. */
static enum nsr_status put_iteration(struct random *r, int index,
                                     uint32_t label) {
  bool leave = nsr_random_chance(r, 20);
  int64_t held = r->nengines + (leave ? 2 * r->nengines + r->most.work : 0);
  r->until -= held;
  NSR_TRY(put_body(r));
  r->until += held;
  nsr_random_barrier(r);
  if (!leave)
    return NSR_OK;
  nsr_random_all(r, "    br.eq r%d, 2, done%" PRIu32 "\n", index, label);
  r->until -= r->nengines;
  NSR_TRY(put_item(r));
  r->until += r->nengines;
  nsr_random_barrier(r);
  return NSR_OK;
}

/* Top-test, bottom-test (behind a conditional), or broken out of. */
static enum nsr_status put_loop(struct random *r) {
  int d = r->depth++, trip = TRIP + d, index = ITERATION + d;
  uint32_t label = r->labels++;
  int64_t outer = r->until;
  bool bottom = nsr_random_chance(r, 25);
  r->loop[d] = true;
  r->until = end_of(r, LOOP * r->nengines);
  put_count(r, trip);
  nsr_random_all(r, "    mov r%d, 0\n", index);
  nsr_random_barrier(r);
  if (bottom)
    nsr_random_all(r, "    br.le r%d, 0, done%" PRIu32 "\n", trip, label);
  nsr_random_label(r, "loop", label);
  if (!bottom)
    nsr_random_all(r, "    br.ge r%d, r%d, done%" PRIu32 "\n", index, trip,
                   label);
  r->until -= (bottom ? 3 : 2) * r->nengines;
  NSR_TRY(put_iteration(r, index, label));
  r->until = outer;
  nsr_random_all(r, "    add r%d, r%d, 1\n", index, index);
  if (bottom)
    nsr_random_all(r, "    br.lt r%d, r%d, loop%" PRIu32 "\n", index, trip,
                   label);
  else
    nsr_random_all(r, "    br loop%" PRIu32 "\n", label);
  nsr_random_label(r, "done", label);
  if (bottom)
    nsr_random_barrier(r);
  r->depth--;
  return NSR_OK;
}

/* One arm, or two that share the room. */
static enum nsr_status put_arms(struct random *r, uint32_t label) {
  bool two = nsr_random_chance(r, 30);
  int64_t end = r->until - r->nengines, half = (end - r->made) / 2;
  r->until = two ? r->made + half - r->nengines : end;
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
  r->until = end_of(r, CONDITIONAL * r->nengines);
  if (loop >= 0 && nsr_random_chance(r, 50))
    nsr_random_all(r, "    and " BRIEF0 ", r%d, 1\n", ITERATION + loop);
  else
    put_count(r, BRIEF);
  nsr_random_barrier(r);
  nsr_random_all(r, "    br.eq " BRIEF0 ", 0, skip%" PRIu32 "\n", label);
  r->loop[r->depth++] = false;
  NSR_TRY(put_arms(r, label));
  r->depth--;
  r->until = outer;
  return NSR_OK;
}

static enum nsr_status put_item(struct random *r) {
  const struct most *most = &r->most;
  const int all = r->nengines;
  const struct {
    int below, room;
    enum nsr_status (*put)(struct random *r);
  } items[] = {{22, LOOP * all, put_loop},
               {34, CONDITIONAL * all, put_conditional},
               {44, most->word, nsr_random_word},
               {50, 3 + most->private_work, put_private_arm},
               {54, 7, put_private_loop},
               {60, 2 * all + most->work, put_common_arm},
               {63, 5 * all + 2 * (most->waits + 1), put_common_loop},
               {68, most->matmul, nsr_random_matmul},
               {100, most->work, nsr_random_work}};
  bool deep = r->depth >= r->depth_limit;
  int x = deep ? 34 + nsr_random_below(r, 66) : nsr_random_below(r, 100);
  size_t i = 0;
  while (x >= items[i].below)
    i++;
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
  for (int q = 0; q < NQUEUES; q++)
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
  if (nsr_random_room(r, r->nengines))
    nsr_random_all(r, "    mov " STORED ", 7\n");
  while (nsr_random_room(r, r->most.word))
    NSR_TRY(put_phase(r));
  for (int e = 0; nsr_random_room(r, 1); e = (e + 1) % r->nengines)
    INSN(r, e, "    nop\n");
  nsr_random_barrier(r);
  nsr_random_all(r, "    halt\n");
  return NSR_OK;
}

/* Who works on tensors: engines as often as they are versatile, and queues. */
static void deal(struct random *r, int vector) {
  static const char *const counts[] = {"act", "tt", "scan"};
  for (int e = 0; e < r->nengines; e++)
    for (int i = 0; i < 3; i++)
      if (nsr_gen_has(r->isa, e, "copy memset") &&
          nsr_gen_has(r->isa, e, counts[i]))
        r->workers[r->nworkers++] = e;
  for (int q = 0; q <= NQUEUES; q++)
    r->workers[r->nworkers++] = r->nengines + q % NQUEUES;
  r->workers[r->nworkers++] = vector;
}

static void set_most(struct random *r) {
  int waits = r->nchannels - 1, word = r->nengines + waits + 1;
  r->most = (struct most){.waits = waits,
                          .word = word,
                          .work = word + 9,
                          .private_work = waits + 1,
                          .matmul = r->nengines + 4 * (waits + 1)};
}

static enum nsr_status set_engines(struct random *r) {
  const struct nsr_isa *isa = r->isa;
  int engines[NROLES];
  r->nengines = isa->nengines;
  r->nchannels = r->nengines + NQUEUES;
  NSR_TRY(
      nsr_gen_engines(r->ctx, isa, "random", on_all, roles, NROLES, engines));
  r->feeds[0] = r->feeds[2] = engines[FEED0];
  r->feeds[1] = engines[FEED1];
  r->feeds[3] = engines[FEED3];
  r->matrix = -1;
  for (int e = r->nengines - 1; e >= 0; e--)
    if (nsr_gen_has(isa, e, "ldw mm"))
      r->matrix = e;
  deal(r, engines[VECTOR]);
  set_most(r);
  if (isa->owned_last - isa->owned_first + 1 < r->nchannels ||
      isa->partitions < ROWS || isa->registers < BRIEF + 3 ||
      isa->sbuf_bytes < SBUF_BYTES || isa->psum_bytes < PSUM_BYTES)
    return nsr_fail(
        r->ctx, NSR_E_USAGE, NSR_NOWHERE,
        "random needs %d owned semaphores, %d registers, %d "
        "partitions of %d bytes of SBUF and %d of PSUM; %s has less",
        r->nchannels, BRIEF + 3, ROWS, SBUF_BYTES, PSUM_BYTES, isa->name);
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
                     .until = v[INSTRUCTIONS] - END * isa->nengines};
  NSR_TRY(set_engines(&r));
  for (int e = 0; e < r.nengines; e++)
    nsr_strbuf_init(&r.text[e], ctx, NSR_SCRATCH);
  NSR_TRY(put_all(&r));
  assert(r.made == v[INSTRUCTIONS]);
  NSR_TRY(check_reach(&r));
  put_head(&r, out);
  for (int e = 0; e < r.nengines; e++) {
    const char *text;
    size_t n;
    NSR_TRY(nsr_strbuf_done(&r.text[e], &text, &n));
    nsr_strbuf_printf(out, "\n.engine %s\n", isa->engines[e]);
    nsr_strbuf_add(out, text, n);
  }
  return NSR_OK;
}

const struct nsr_gen_kernel nsr_gen_random = {
    .name = "random",
    .about = "a structured kernel from a seed, in naive barrier form",
    .nparams = 4,
    .params = {{"seed", 1, 1, 0, INT32_MAX, NSR_GEN_PLAIN},
               {"instructions", 500, 10000, END, 4000000, NSR_GEN_PER_ENGINE},
               {"depth", 4, 4, 0, MAX_DEPTH, NSR_GEN_PLAIN},
               {"trips", 3, 3, 0, 100, NSR_GEN_PLAIN}},
    .make = make,
};
