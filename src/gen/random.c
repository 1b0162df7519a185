/* random.c - structured kernels from a seed, for testing.
 *
 * A tree of loops and conditionals that all engines walk, with random work at
 * its leaves and small scopes of single engines in between, put into barrier
 * form by a deliberately naive pass: a sync in
 * front of every scope and at the end of every body, and in between one wait
 * per channel for the last conflicting work of the region. One semaphore per
 * channel counts all its work since the last barrier.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/vec.h"
#include "gen/suite.h"

enum { SEED, INSTRUCTIONS, DEPTH, TRIPS };

enum { PE, ACT, DVE, POOL, SP, NENGINES };
enum { NQUEUES = 3, NCHANNELS = NENGINES + NQUEUES };
static const char *const names[NENGINES] = {"pe", "act", "dve", "pool", "sp"};
static const int feeds[NQUEUES] = {SP, ACT, SP};

/* Tensors: the first ones static, 16 columns; then rotating ones of 2 and 3
 * slots of 16 columns; then DRAM. */
enum { NSTATIC = 5, NROTATING = 2, IN = NSTATIC + NROTATING, OUT, NTENSORS };
enum { COLS = 16, MAX_DEPTH = 4, ROWS = 4 };

/* What one operand touches: a set of columns, or a slot of a rotating tensor
 * chosen by the iteration of a loop. */
struct touch {
  int tensor;
  uint32_t columns; /* static */
  int loop, phase;  /* rotating: depth of the loop */
  bool advancing;   /* DRAM: a tile of its own in each iteration of loop */
  bool write;
};

struct done {
  int channel;
  uint32_t ordinal; /* since the last barrier */
  bool uncounted;   /* in, or behind, a scope of its engine alone */
  int ntouch;
  struct touch touch[3];
};

struct random {
  struct nsr_ctx *ctx;
  uint64_t state;
  int64_t left, depth_limit, trips;
  struct nsr_strbuf text[NENGINES];
  NSR_VEC(struct done) region;
  uint32_t count[NCHANNELS]; /* work since the last barrier */
  bool lost[NCHANNELS];      /* .. which is not known any longer */
  bool no_barrier;           /* in a scope that is to have none */
  uint32_t labels, words;    /* used so far */
  int depth;                 /* loops around here */
  bool loop[MAX_DEPTH + 1];
};

static uint64_t next(struct random *r) {
  uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static int below(struct random *r, int n) {
  return (int)(next(r) % (uint64_t)n);
}

static bool chance(struct random *r, int percent) {
  return below(r, 100) < percent;
}

static int slots_of(int tensor) { return tensor - NSTATIC + 2; }

/* ---- conflicts, as the naive pass sees them */

static bool rotating(const struct touch *t) {
  return t->tensor >= NSTATIC && t->tensor < IN;
}

static bool conflict(const struct touch *a, const struct touch *b) {
  if (a->tensor != b->tensor || !(a->write || b->write))
    return false;
  if (rotating(a)) {
    int m = slots_of(a->tensor);
    return a->loop != b->loop || (a->phase - b->phase) % m == 0;
  }
  if (a->tensor >= IN)
    return true;
  return (a->columns & b->columns) != 0;
}

static bool conflicts(const struct done *a, const struct done *b) {
  for (int i = 0; i < a->ntouch; i++)
    for (int j = 0; j < b->ntouch; j++)
      if (conflict(&a->touch[i], &b->touch[j]))
        return true;
  return false;
}

/* ---- text */

#define EMIT(r, engine, ...) nsr_strbuf_printf(&(r)->text[engine], __VA_ARGS__)

/* The same line for every engine. */
#define EMIT_ALL(r, ...)                                                       \
  do {                                                                         \
    for (int e_ = 0; e_ < NENGINES; e_++)                                      \
      EMIT(r, e_, __VA_ARGS__);                                                \
  } while (0)

static void barrier(struct random *r) {
  EMIT_ALL(r, "    sync\n");
  r->region.n = 0;
  for (int c = 0; c < NCHANNELS; c++) {
    r->count[c] = 0;
    r->lost[c] = false;
  }
}

static int engine_of(int channel) {
  return channel < NENGINES ? channel : feeds[channel - NENGINES];
}

/* Column sets and their text, eight columns each. */
static const struct {
  uint32_t columns;
  const char *pattern;
} patterns[] = {
    {0x00ff, "[8*4]"}, {0xff00, "+32[8*4]"}, {0x0ff0, "+16[8*4]"},
    {0x5555, "[8*8]"}, {0xaaaa, "+4[8*8]"},
};
enum { NPATTERNS = sizeof patterns / sizeof *patterns };

static void put_touch(struct random *r, int engine, const struct touch *t,
                      int pattern, int reg) {
  if (t->tensor < NSTATIC) {
    EMIT(r, engine, "t%d%s", t->tensor, patterns[pattern].pattern);
  } else if (rotating(t)) {
    EMIT(r, engine, "t%d+r%d[8*4]", t->tensor, reg);
  } else {
    EMIT(r, engine, "t%d", t->tensor);
    if (t->advancing)
      EMIT(r, engine, "+r%d", reg);
    EMIT(r, engine, "{4*64}[8*4]");
  }
}

/* The register that holds a run-time offset, computed just before use. */
static void put_offset(struct random *r, int engine, const struct touch *t,
                       int reg) {
  int index = 20 + t->loop;
  if (rotating(t)) {
    EMIT(r, engine, "    add r%d, r%d, %d\n", reg, index, t->phase);
    EMIT(r, engine, "    rem r%d, r%d, %d\n", reg, reg, slots_of(t->tensor));
    EMIT(r, engine, "    mul r%d, r%d, 64\n", reg, reg);
  } else if (t->advancing) {
    EMIT(r, engine, "    mul r%d, r%d, 256\n", reg, index);
  }
}

/* A loop around here, -1: none. */
static int some_loop(struct random *r) {
  int loops[MAX_DEPTH + 1], n = 0;
  for (int d = 0; d < r->depth; d++)
    if (r->loop[d])
      loops[n++] = d;
  return n ? loops[below(r, n)] : -1;
}

/* A random operand; in DRAM too if `dram`. */
static struct touch some_touch(struct random *r, bool dram, bool write,
                               int *pattern) {
  struct touch t = {.write = write, .loop = some_loop(r)};
  *pattern = below(r, NPATTERNS);
  if (dram && chance(r, 50)) {
    t.tensor = write ? OUT : IN;
    t.advancing = t.loop >= 0 && chance(r, 70);
    return t;
  }
  if (t.loop >= 0 && chance(r, 45)) {
    t.tensor = NSTATIC + below(r, NROTATING);
    t.phase = below(r, slots_of(t.tensor));
    return t;
  }
  t.tensor = below(r, NSTATIC);
  t.columns = patterns[*pattern].columns;
  return t;
}

/* Whether d conflicts with work that no immediate wait can name. */
static bool needs_barrier(const struct random *r, const struct done *d) {
  for (size_t i = 0; i < r->region.n; i++)
    if (r->region.v[i].uncounted && conflicts(&r->region.v[i], d))
      return true;
  return false;
}

/* One wait per channel with conflicting work in this region; the last one as
 * the suffix of the instruction itself. */
static void put_waits(struct random *r, const struct done *d, char *suffix,
                      size_t size) {
  uint32_t need[NCHANNELS] = {0};
  for (size_t i = 0; i < r->region.n; i++)
    if (conflicts(&r->region.v[i], d))
      need[r->region.v[i].channel] = r->region.v[i].ordinal;
  int engine = engine_of(d->channel), last = -1;
  for (int c = 0; c < NCHANNELS; c++) {
    if (!need[c])
      continue;
    if (last >= 0)
      EMIT(r, engine, "    wait ?s%d>=%" PRIu32 "\n", last, need[last]);
    last = c;
  }
  suffix[0] = 0;
  if (last >= 0)
    snprintf(suffix, size, " ?s%d>=%" PRIu32, last, need[last]);
}

static const char *operation(struct random *r, int channel, int ntouch) {
  static const char *const two[] = {"ts", "copy"};
  if (channel >= NENGINES)
    return "dma";
  if (channel == ACT)
    return ntouch == 2 ? (chance(r, 60) ? "act" : "copy") : "memset";
  return ntouch == 3 ? "tt" : ntouch == 2 ? two[below(r, 2)] : "memset";
}

static const char *arguments(const char *op) {
  switch (op[1]) {
  case 't':
    return " op=add";
  case 's':
    return " op0=mul imm0=0.5 op1=add imm1=1.0";
  case 'c':
    return " func=relu scale=1.0 bias=0.5";
  case 'e':
    return " value=3";
  default:
    return "";
  }
}

/* The operands of work on a channel: destination, then sources. */
static void choose(struct random *r, struct done *d, int pattern[3]) {
  bool dma = d->channel >= NENGINES;
  d->ntouch = dma ? 2 : d->channel == ACT ? 1 + below(r, 2) : 1 + below(r, 3);
  for (int i = 0; i < d->ntouch; i++) {
    d->touch[i] = some_touch(r, dma, i == 0, &pattern[i]);
    if (dma && i == 1 && d->touch[0].tensor == OUT && d->touch[1].tensor == IN)
      d->touch[1].tensor = OUT;
  }
}

static enum nsr_status finish(struct random *r, struct done *d) {
  d->ordinal = ++r->count[d->channel];
  d->uncounted = r->lost[d->channel];
  NSR_PUSH(r->ctx, NSR_SCRATCH, &r->region, *d);
  r->left--;
  return NSR_OK;
}

static enum nsr_status put_work(struct random *r) {
  static const int channels[] = {ACT,          DVE,          DVE,
                                 POOL,         NENGINES + 0, NENGINES + 1,
                                 NENGINES + 2, NENGINES + 0};
  struct done d = {.channel = channels[below(r, 8)]};
  int pattern[3];
  char suffix[40];
  int engine = engine_of(d.channel);
  choose(r, &d, pattern);
  if (needs_barrier(r, &d) && r->no_barrier)
    return NSR_OK;
  if (needs_barrier(r, &d))
    barrier(r);
  for (int i = 0; i < d.ntouch; i++)
    put_offset(r, engine, &d.touch[i], 30 + i);
  put_waits(r, &d, suffix, sizeof suffix);
  const char *op = operation(r, d.channel, d.ntouch);
  EMIT(r, engine, "    %s ", op);
  if (d.channel >= NENGINES)
    EMIT(r, engine, "q%d, ", d.channel - NENGINES);
  for (int i = 0; i < d.ntouch; i++) {
    EMIT(r, engine, "%s", i ? ", " : "");
    put_touch(r, engine, &d.touch[i], pattern[i], 30 + i);
  }
  EMIT(r, engine, "%s%s ^s%d\n", arguments(op), suffix, d.channel);
  return finish(r, &d);
}

/* A register store or load of one column, on any engine. */
static enum nsr_status put_word(struct random *r) {
  bool store = chance(r, 50);
  struct done d = {.channel = below(r, NENGINES), .ntouch = 1};
  int column = below(r, COLS);
  char suffix[40];
  d.touch[0] = (struct touch){.tensor = below(r, NSTATIC),
                              .columns = UINT32_C(1) << column,
                              .write = store};
  if (needs_barrier(r, &d) && r->no_barrier)
    return NSR_OK;
  if (needs_barrier(r, &d))
    barrier(r);
  put_waits(r, &d, suffix, sizeof suffix);
  const char *where = "{0:1}";
  if (store)
    EMIT(r, d.channel, "    st t%d+%d%s, r10%s ^s%d\n", d.touch[0].tensor,
         4 * column, where, suffix, d.channel);
  else
    EMIT(r, d.channel, "    ld r40, t%d+%d%s%s ^s%d\n", d.touch[0].tensor,
         4 * column, where, suffix, d.channel);
  return finish(r, &d);
}

/* ---- scopes of one engine */

/* Work of one engine behind a condition, its own hazards waited for. */
static enum nsr_status put_private_work(struct random *r, int engine) {
  struct done d = {.ntouch = 1};
  char suffix[40];
  bool store = chance(r, 60);
  int column = below(r, COLS);
  d.channel = engine;
  d.touch[0] = (struct touch){.tensor = below(r, NSTATIC),
                              .columns = UINT32_C(1) << column,
                              .write = store};
  for (size_t i = 0; i < r->region.n; i++)
    if (r->region.v[i].uncounted && conflicts(&r->region.v[i], &d))
      return NSR_OK; /* nothing could order it here */
  put_waits(r, &d, suffix, sizeof suffix);
  if (store)
    EMIT(r, engine, "    st t%d+%d{0:1}, r10%s ^s%d\n", d.touch[0].tensor,
         4 * column, suffix, engine);
  else
    EMIT(r, engine, "    ld r40, t%d+%d{0:1}%s ^s%d\n", d.touch[0].tensor,
         4 * column, suffix, engine);
  return finish(r, &d);
}

/* Behind it the engine's count is not known; work in it is named by nobody
 * outside. */
static void lose(struct random *r, int channel, size_t from) {
  r->lost[channel] = true;
  for (size_t i = from; i < r->region.n; i++)
    if (r->region.v[i].channel == channel)
      r->region.v[i].uncounted = true;
}

static enum nsr_status put_private_arm(struct random *r) {
  int engine = below(r, NENGINES), loop = some_loop(r);
  uint32_t label = r->labels++;
  size_t from = r->region.n;
  if (r->lost[engine])
    return NSR_OK;
  if (loop >= 0)
    EMIT(r, engine, "    and r42, r%d, 1\n", 20 + loop);
  else
    EMIT(r, engine, "    ld r42, counts+%" PRIu32 "\n", 4 * r->words++);
  EMIT(r, engine, "    br.eq r42, 0, own%" PRIu32 "\n", label);
  for (int i = 1 + below(r, 3); i > 0; i--)
    NSR_TRY(put_private_work(r, engine));
  EMIT(r, engine, "own%" PRIu32 ":\n", label);
  lose(r, engine, from);
  return NSR_OK;
}

/* A loop that stores tile after tile through a queue. */
static enum nsr_status put_private_loop(struct random *r) {
  int queue = below(r, NQUEUES), channel = NENGINES + queue;
  int engine = feeds[queue];
  uint32_t label = r->labels++;
  size_t from = r->region.n;
  struct done d = {.channel = channel, .ntouch = 2};
  d.touch[0] = (struct touch){.tensor = OUT, .write = true};
  d.touch[1] = (struct touch){.tensor = below(r, NSTATIC), .columns = 0x00ff};
  for (size_t i = 0; i < r->region.n; i++)
    if (conflicts(&r->region.v[i], &d))
      return NSR_OK;
  EMIT(r, engine, "    ld r43, counts+%" PRIu32 "\n", 4 * r->words++);
  EMIT(r, engine, "    mov r44, 0\nown%" PRIu32 ":\n", label);
  EMIT(r, engine, "    br.ge r44, r43, end%" PRIu32 "\n", label);
  EMIT(r, engine, "    mul r45, r44, 256\n");
  EMIT(r, engine, "    dma q%d, t%d+r45{4*64}[8*4], t%d[8*4]\n", queue, OUT,
       d.touch[1].tensor);
  EMIT(r, engine, "    add r44, r44, 1\n    br own%" PRIu32 "\n", label);
  EMIT(r, engine, "end%" PRIu32 ":\n", label);
  NSR_TRY(finish(r, &d));
  lose(r, channel, from);
  return NSR_OK;
}

/* ---- scopes of all engines without a barrier */

static void put_count(struct random *r, int reg) {
  EMIT_ALL(r, "    ld r%d, counts+%" PRIu32 "\n", reg, 4 * r->words);
  r->words++;
}

static void lose_all(struct random *r, const uint32_t *count, size_t from) {
  for (int c = 0; c < NCHANNELS; c++)
    if (r->count[c] != count[c])
      lose(r, c, from);
}

/* Decided alike on all engines: by the parity of an iteration, or by a word
 * that each loads for itself. Work in it counts on; behind it nobody knows. */
static enum nsr_status put_common_arm(struct random *r) {
  uint32_t label = r->labels++, count[NCHANNELS];
  int loop = some_loop(r);
  size_t from = r->region.n;
  for (int c = 0; c < NCHANNELS; c++) {
    count[c] = r->count[c];
    if (r->lost[c])
      return NSR_OK;
  }
  if (loop >= 0 && chance(r, 50))
    EMIT_ALL(r, "    and r46, r%d, 1\n", 20 + loop);
  else
    put_count(r, 46);
  EMIT_ALL(r, "    br.eq r46, 0, all%" PRIu32 "\n", label);
  r->no_barrier = true;
  for (int i = 1 + below(r, 4); i > 0; i--)
    NSR_TRY(chance(r, 70) ? put_work(r) : put_word(r));
  r->no_barrier = false;
  EMIT_ALL(r, "all%" PRIu32 ":\n", label);
  lose_all(r, count, from);
  return NSR_OK;
}

/* A loop of all engines in which some load words. */
static enum nsr_status put_common_loop(struct random *r) {
  uint32_t label = r->labels++, count[NCHANNELS];
  size_t from = r->region.n;
  for (int c = 0; c < NCHANNELS; c++) {
    count[c] = r->count[c];
    if (r->lost[c])
      return NSR_OK;
  }
  put_count(r, 47);
  EMIT_ALL(r, "    mov r48, 0\n");
  EMIT_ALL(r, "all%" PRIu32 ":\n    br.ge r48, r47, end%" PRIu32 "\n", label,
           label);
  for (int i = 1 + below(r, 2); i > 0; i--) {
    char suffix[40];
    struct done d = {.channel = below(r, NENGINES), .ntouch = 1};
    int column = below(r, COLS);
    d.touch[0] = (struct touch){.tensor = below(r, NSTATIC),
                                .columns = UINT32_C(1) << column};
    put_waits(r, &d, suffix, sizeof suffix);
    EMIT(r, d.channel, "    ld r40, t%d+%d{0:1}%s\n", d.touch[0].tensor,
         4 * column, suffix);
    NSR_TRY(finish(r, &d));
  }
  EMIT_ALL(r, "    add r48, r48, 1\n    br all%" PRIu32 "\n", label);
  EMIT_ALL(r, "end%" PRIu32 ":\n", label);
  lose_all(r, count, from);
  return NSR_OK;
}

/* ---- structure */

static enum nsr_status put_body(struct random *r, int length);

/* Top-test, bottom-test (behind a conditional), or broken out of. */
static enum nsr_status put_loop(struct random *r) {
  int d = r->depth++, trip = 10 + d, index = 20 + d;
  uint32_t label = r->labels++;
  bool bottom = chance(r, 25), leave = chance(r, 20);
  r->loop[d] = true;
  put_count(r, trip);
  EMIT_ALL(r, "    mov r%d, 0\n", index);
  barrier(r);
  if (bottom)
    EMIT_ALL(r, "    br.le r%d, 0, done%" PRIu32 "\n", trip, label);
  EMIT_ALL(r, "loop%" PRIu32 ":\n", label);
  if (!bottom)
    EMIT_ALL(r, "    br.ge r%d, r%d, done%" PRIu32 "\n", index, trip, label);
  NSR_TRY(put_body(r, 2 + below(r, 4)));
  barrier(r);
  if (leave) {
    EMIT_ALL(r, "    br.eq r%d, 2, done%" PRIu32 "\n", index, label);
    NSR_TRY(put_body(r, 1));
    barrier(r);
  }
  EMIT_ALL(r, "    add r%d, r%d, 1\n", index, index);
  if (bottom)
    EMIT_ALL(r, "    br.lt r%d, r%d, loop%" PRIu32 "\n", index, trip, label);
  else
    EMIT_ALL(r, "    br loop%" PRIu32 "\n", label);
  EMIT_ALL(r, "done%" PRIu32 ":\n", label);
  if (bottom)
    barrier(r);
  r->depth--;
  return NSR_OK;
}

/* On a loaded word, or on the parity of an iteration. */
static enum nsr_status put_conditional(struct random *r) {
  uint32_t label = r->labels++;
  int loop = some_loop(r);
  if (loop >= 0 && chance(r, 50))
    EMIT_ALL(r, "    and r41, r%d, 1\n", 20 + loop);
  else
    put_count(r, 41);
  barrier(r);
  EMIT_ALL(r, "    br.eq r41, 0, skip%" PRIu32 "\n", label);
  r->loop[r->depth++] = false;
  NSR_TRY(put_body(r, 1 + below(r, 3)));
  barrier(r);
  if (chance(r, 30)) {
    EMIT_ALL(r, "    br join%" PRIu32 "\nskip%" PRIu32 ":\n", label, label);
    barrier(r);
    NSR_TRY(put_body(r, 1 + below(r, 3)));
    barrier(r);
    EMIT_ALL(r, "join%" PRIu32 ":\n", label);
  } else {
    EMIT_ALL(r, "skip%" PRIu32 ":\n", label);
  }
  r->depth--;
  return NSR_OK;
}

static enum nsr_status put_body(struct random *r, int length) {
  for (int i = 0; i < length; i++) {
    bool deep = r->depth >= r->depth_limit || r->left <= 0;
    int x = below(r, 100);
    if (x < 22 && !deep)
      NSR_TRY(put_loop(r));
    else if (x < 34 && !deep)
      NSR_TRY(put_conditional(r));
    else if (x < 44)
      NSR_TRY(put_word(r));
    else if (x < 50)
      NSR_TRY(put_private_arm(r));
    else if (x < 54)
      NSR_TRY(put_private_loop(r));
    else if (x < 60)
      NSR_TRY(put_common_arm(r));
    else if (x < 63)
      NSR_TRY(put_common_loop(r));
    else
      NSR_TRY(put_work(r));
  }
  return NSR_OK;
}

static void put_head(struct random *r, struct nsr_strbuf *out) {
  nsr_strbuf_puts(out, ".isa tile64\n.kernel \"random\"\n"
                       ".queue q0 sp\n.queue q1 act\n.queue q2 sp\n");
  nsr_strbuf_printf(out,
                    ".tensor counts dram i32 [%" PRIu32 "] at 0x10000 input "
                    "range 0 %" PRId64 " words 2",
                    r->words + 1, r->trips);
  for (uint32_t i = 0; i < r->words; i++)
    nsr_strbuf_printf(out, ", %d", (int)(i % 3) + 1);
  nsr_strbuf_puts(out, "\n");
  for (int i = 0; i < NSTATIC; i++)
    nsr_strbuf_printf(
        out, ".tensor t%d sbuf i32 [4, 16] at 0:4, %d scratch range 0 3\n", i,
        i * 64);
  for (int i = NSTATIC; i < IN; i++)
    nsr_strbuf_printf(
        out, ".tensor t%d sbuf i32 [4, %d] at 0:4, %d scratch range 0 3\n", i,
        16 * slots_of(i), 1024 * (i - NSTATIC + 1));
  nsr_strbuf_printf(out,
                    ".tensor t%d dram i32 [512, 16] at 0x100000 input\n"
                    ".tensor t%d dram i32 [512, 16] at 0x200000 output\n",
                    IN, OUT);
}

static enum nsr_status make(struct nsr_ctx *ctx, const int64_t *v,
                            struct nsr_strbuf *out) {
  struct random r = {.ctx = ctx,
                     .state = (uint64_t)v[SEED],
                     .left = v[INSTRUCTIONS],
                     .depth_limit = v[DEPTH],
                     .trips = v[TRIPS]};
  for (int e = 0; e < NENGINES; e++)
    nsr_strbuf_init(&r.text[e], ctx, NSR_SCRATCH);
  EMIT_ALL(&r, "    mov r10, 7\n");
  while (r.left > 0)
    NSR_TRY(put_body(&r, 3));
  barrier(&r);
  EMIT_ALL(&r, "    halt\n");
  put_head(&r, out);
  for (int e = 0; e < NENGINES; e++) {
    const char *text;
    size_t n;
    NSR_TRY(nsr_strbuf_done(&r.text[e], &text, &n));
    nsr_strbuf_printf(out, "\n.engine %s\n", names[e]);
    nsr_strbuf_add(out, text, n);
  }
  return NSR_OK;
}

const struct nsr_gen_kernel nsr_gen_random = {
    .name = "random",
    .about = "a structured kernel from a seed, in naive barrier form",
    .nparams = 4,
    .params = {{"seed", 1, 1, 0, INT32_MAX},
               {"instructions", 30, 1000, 1, 1 << 20},
               {"depth", 3, 4, 0, MAX_DEPTH},
               {"trips", 3, 3, 0, 100}},
    .make = make,
};
