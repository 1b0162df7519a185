/* random_work.c - pieces of random work: operands, what they conflict with,
 * and the waits that order them, as a deliberately naive pass puts them.
 */
#include "gen/random.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/work.h"
#include "gen/suite.h"

static uint64_t next(struct random *r) {
  uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

int nsr_random_below(struct random *r, int n) {
  return (int)(next(r) % (uint64_t)n);
}

bool nsr_random_chance(struct random *r, int percent) {
  return nsr_random_below(r, 100) < percent;
}

/* ---- text */

static void add_all(struct random *r, const char *s, size_t n) {
  for (int i = 0; i < r->nactive; i++)
    nsr_strbuf_add(&r->text[r->active[i]], s, n);
}

void nsr_random_all(struct random *r, const char *fmt, ...) {
  char line[80];
  va_list ap;
  va_start(ap, fmt);
  int n = vsnprintf(line, sizeof line, fmt, ap);
  va_end(ap);
  add_all(r, line, (size_t)n);
  r->made += r->nactive;
}

void nsr_random_label(struct random *r, const char *name, uint32_t number) {
  char line[40];
  int n = snprintf(line, sizeof line, "%s%" PRIu32 ":\n", name, number);
  add_all(r, line, (size_t)n);
}

/* All semaphores are 0 behind it, so others may be used from here on: each is
 * that of one channel in all of the kernel. */
void nsr_random_barrier(struct random *r) {
  uint32_t owned = (uint32_t)(r->isa->owned_last - r->isa->owned_first + 1);
  uint32_t channels = (uint32_t)r->nchannels;
  nsr_random_all(r, "    sync\n");
  r->region.n = 0;
  r->sems = r->isa->owned_first +
            (uint32_t)r->words.n % (owned / channels) * channels;
  for (int c = 0; c < r->nchannels; c++) {
    r->count[c] = 0;
    r->lost[c] = false;
  }
}

int nsr_random_active(struct random *r) {
  return r->active[nsr_random_below(r, r->nactive)];
}

int nsr_random_engine(const struct random *r, int channel) {
  return nsr_random_queue(r, channel) ? r->feeds[channel - r->nengines]
                                      : channel;
}

static uint32_t new_word(struct random *r) {
  return 4 * r->words.v[r->words.n - 1]++;
}

void nsr_random_own_word(struct random *r, int engine, int reg) {
  INSN(r, engine, "    ld r%d, n%zu+%" PRIu32 "\n", reg, r->words.n - 1,
       new_word(r));
}

void nsr_random_word_of_all(struct random *r, int reg) {
  nsr_random_all(r, "    ld r%d, n%zu+%" PRIu32 "\n", reg, r->words.n - 1,
                 new_word(r));
}

/* ---- conflicts, as the naive pass sees them */

static bool conflict(const struct touch *a, const struct touch *b) {
  if (a->buffer != b->buffer || !(a->write || b->write))
    return false;
  if (a->kind == DRAM)
    return true;
  if (a->kind == ROTATING)
    return a->loop != b->loop || (a->phase - b->phase) % a->slots == 0;
  if (a->product && b->accumulates && a->columns == b->columns)
    return false; /* its engine keeps their order */
  return (a->columns & b->columns) != 0;
}

static bool conflicts(const struct done *a, const struct done *b) {
  if (a->unknown || b->unknown)
    return true;
  for (int i = 0; i < a->ntouch; i++)
    for (int j = 0; j < b->ntouch; j++)
      if (conflict(&a->touch[i], &b->touch[j]))
        return true;
  return false;
}

/* Whether d conflicts with work that no immediate wait can name. */
static bool needs_barrier(struct random *r, const struct done *d) {
  nsr_work_count(r->ctx, NSR_WORK_GEN, 1 + r->region.n);
  for (size_t i = 0; i < r->region.n; i++)
    if (r->region.v[i].uncounted && conflicts(&r->region.v[i], d))
      return true;
  return false;
}

bool nsr_random_conflicts(struct random *r, const struct done *d) {
  nsr_work_count(r->ctx, NSR_WORK_GEN, 1 + r->region.n);
  for (size_t i = 0; i < r->region.n; i++)
    if (conflicts(&r->region.v[i], d))
      return true;
  return false;
}

bool nsr_random_settle(struct random *r, const struct done *d) {
  if (r->no_barrier)
    return !needs_barrier(r, d);
  if (r->region.n >= REGION || needs_barrier(r, d))
    nsr_random_barrier(r);
  return true;
}

void nsr_random_waits(struct random *r, const struct done *d, char *suffix,
                      size_t size) {
  uint32_t need[MAX_CHANNELS] = {0};
  nsr_work_count(r->ctx, NSR_WORK_GEN, 1 + r->region.n);
  for (size_t i = 0; i < r->region.n; i++)
    if (conflicts(&r->region.v[i], d))
      need[r->region.v[i].channel] = r->region.v[i].ordinal;
  int engine = nsr_random_engine(r, d->channel), last = -1;
  for (int c = 0; c < r->nchannels; c++) {
    if (!need[c])
      continue;
    if (last >= 0)
      INSN(r, engine, "    wait ?s%" PRIu32 ">=%" PRIu32 "\n",
           r->sems + (uint32_t)last, need[last]);
    last = c;
  }
  suffix[0] = 0;
  r->shares.waiting += last >= 0;
  if (last >= 0)
    snprintf(suffix, size, " ?s%" PRIu32 ">=%" PRIu32, r->sems + (uint32_t)last,
             need[last]);
}

static void count_touch(struct nsr_random_shares *s, const struct touch *t) {
  s->operands++;
  s->addressed += t->loaded;
  if (t->kind == ROTATING)
    s->rotating[t->turn]++;
  s->rotating[NTURNS] += t->advancing;
}

enum nsr_status nsr_random_finish(struct random *r, struct done *d) {
  r->shares.work++;
  r->shares.unknown += d->unknown;
  r->shares.by_depth[r->depth]++;
  r->used |= UINT32_C(1) << d->channel;
  for (int i = 0; i < d->ntouch; i++)
    count_touch(&r->shares, &d->touch[i]);
  d->ordinal = ++r->count[d->channel];
  d->uncounted = r->lost[d->channel];
  NSR_PUSH(r->ctx, NSR_SCRATCH, &r->region, *d);
  return NSR_OK;
}

void nsr_random_lose(struct random *r, int channel, size_t from) {
  r->lost[channel] = true;
  for (size_t i = from; i < r->region.n; i++)
    if (r->region.v[i].channel == channel)
      r->region.v[i].uncounted = true;
}

/* ---- operands */

/* Column sets and their text, eight columns each. */
static const struct {
  uint32_t columns;
  const char *text;
} patterns[] = {
    {0x00ff, "[8*4]"}, {0xff00, "+32[8*4]"}, {0x0ff0, "+16[8*4]"},
    {0x5555, "[8*8]"}, {0xaaaa, "+4[8*8]"},
};
enum { NPATTERNS = sizeof patterns / sizeof *patterns };

int nsr_random_loop(struct random *r) {
  int loops[MAX_DEPTH + 1], n = 0;
  for (int d = 0; d < r->depth; d++)
    if (r->level[d].loop)
      loops[n++] = d;
  return n ? loops[nsr_random_below(r, n)] : -1;
}

/* A buffer of the phase and some columns of it. */
static struct touch touch(struct random *r, int local, bool write) {
  int pattern = nsr_random_below(r, NPATTERNS);
  uint32_t id = r->local[local];
  const struct buffer *b = &r->buffers.v[id];
  return (struct touch){.buffer = id,
                        .kind = b->kind,
                        .slots = b->slots,
                        .columns = patterns[pattern].columns,
                        .text = patterns[pattern].text,
                        .write = write};
}

struct touch nsr_random_columns(struct random *r, uint32_t columns,
                                const char *text, bool write) {
  struct touch t = touch(r, nsr_random_below(r, NSTATIC), write);
  t.columns = columns;
  t.text = text;
  return t;
}

/* A slot of a rotating buffer: the loop's way where it fits the buffer. */
static struct touch turning(struct random *r, int loop, bool write) {
  const struct level *l = &r->level[loop];
  int local = FIRST_ROTATING + nsr_random_below(r, NROTATING);
  struct touch t = touch(r, local, write);
  t.loop = loop;
  t.phase = nsr_random_below(r, t.slots);
  t.turn = t.slots == 2 && nsr_random_chance(r, 50) ? BY_AND : BY_REM;
  if ((t.slots == 2 && (l->turn == TOGGLED || l->turn == UNROLLED)) ||
      (t.slots == 3 && l->turn == SET_BACK && t.phase == 0))
    t.turn = l->turn;
  return t;
}

/* A random operand; in DRAM too if `dram`, else in PSUM too. */
static struct touch some_touch(struct random *r, bool dram, bool write) {
  int loop = nsr_random_loop(r);
  if (dram && nsr_random_chance(r, 50)) {
    struct touch t = touch(r, write ? OUT : IN, write);
    t.loop = loop;
    t.advancing = loop >= 0 && nsr_random_chance(r, 70);
    t.loaded = !t.advancing && nsr_random_chance(r, 40);
    return t;
  }
  if (loop >= 0 && nsr_random_chance(r, r->rotation))
    return turning(r, loop, write);
  if (!dram && nsr_random_chance(r, write ? 5 : 15))
    return touch(r, FIRST_SUMS + nsr_random_below(r, NSUMS), write);
  return touch(r, nsr_random_below(r, NSTATIC), write);
}

/* The register that holds a run-time offset, computed just before use. */
static void put_offset(struct random *r, int engine, const struct touch *t,
                       int reg) {
  int index = ITERATION + t->loop;
  if (t->kind == ROTATING && t->turn <= BY_AND) {
    bool rem = t->turn == BY_REM;
    INSN(r, engine, "    add r%d, r%d, %d\n", reg, index, t->phase);
    INSN(r, engine, "    %s r%d, r%d, %d\n", rem ? "rem" : "and", reg, reg,
         rem ? t->slots : t->slots - 1);
    INSN(r, engine, "    mul r%d, r%d, 64\n", reg, reg);
  } else if (t->kind == ROTATING && t->turn == TOGGLED) {
    INSN(r, engine, "    xor r%d, r%d, %d\n", reg, TURN, t->phase * 64);
  } else if (t->kind == ROTATING && t->turn == SET_BACK) {
    INSN(r, engine, "    mov r%d, r%d\n", reg, TURN);
  } else if (t->advancing) {
    INSN(r, engine, "    mul r%d, r%d, 256\n", reg, index);
  } else if (t->loaded) {
    nsr_random_own_word(r, engine, reg);
    INSN(r, engine, "    mul r%d, r%d, 256\n", reg, reg);
  }
}

/* All elements are integers, but for the matrix engine's. */
static void put_touch(struct random *r, int engine, const struct touch *t,
                      int reg) {
  EMIT(r, engine, "t%" PRIu32, t->buffer);
  if (t->kind == ROTATING && t->turn == UNROLLED)
    EMIT(r, engine, "+%d[8*4]", (t->phase + r->level[t->loop].half) % 2 * 64);
  else if (t->kind == ROTATING)
    EMIT(r, engine, "+r%d[8*4]", reg);
  else if (t->kind != DRAM)
    EMIT(r, engine, "%s", t->text);
  else if (t->advancing || t->loaded)
    EMIT(r, engine, "+r%d{4*64}[8*4]", reg);
  else
    EMIT(r, engine, "{4*64}[8*4]");
  if ((t->kind == SUMS) != (engine == r->matrix))
    EMIT(r, engine, engine == r->matrix ? ":f32" : ":i32");
  if (t->accumulates)
    EMIT(r, engine, " !acc");
}

/* The line: op, operands, arguments, wait, update. */
static void put_line(struct random *r, const struct done *d, const char *op,
                     const char *arguments, const char *suffix) {
  int engine = nsr_random_engine(r, d->channel);
  EMIT(r, engine, "    %s ", op);
  if (nsr_random_queue(r, d->channel))
    EMIT(r, engine, "q%d, ", d->channel - r->nengines);
  for (int i = 0; i < d->ntouch; i++) {
    if (i)
      EMIT(r, engine, ", ");
    put_touch(r, engine, &d->touch[i], BRIEF + i);
  }
  INSN(r, engine, "%s%s ^s%" PRIu32 "\n", arguments, suffix,
       r->sems + (uint32_t)d->channel);
}

/* ---- work */

static const char *operation(struct random *r, int channel, int ntouch) {
  if (nsr_random_queue(r, channel))
    return "dma";
  if (ntouch != 2)
    return ntouch == 3 ? "tt" : "memset";
  if (nsr_gen_has(r->isa, channel, "act") && nsr_random_chance(r, 60))
    return "act";
  bool more = nsr_gen_has(r->isa, channel, "ts");
  return more && nsr_random_below(r, 2) == 0 ? "ts" : "copy";
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
static void choose(struct random *r, struct done *d) {
  bool dma = nsr_random_queue(r, d->channel);
  int most = !dma && nsr_gen_has(r->isa, d->channel, "tt") ? 3 : 2;
  d->ntouch = dma ? 2 : 1 + nsr_random_below(r, most);
  for (int i = 0; i < d->ntouch; i++)
    d->touch[i] = some_touch(r, dma, i == 0);
  if (dma && d->touch[0].kind == DRAM && d->touch[1].kind == DRAM)
    d->touch[1].buffer = r->local[OUT];
}

enum nsr_status nsr_random_work(struct random *r) {
  struct done d = {.channel = r->workers[nsr_random_below(r, r->nworkers)]};
  char suffix[40];
  int engine = nsr_random_engine(r, d.channel);
  choose(r, &d);
  if (!nsr_random_settle(r, &d))
    return NSR_OK;
  for (int i = 0; i < d.ntouch; i++)
    put_offset(r, engine, &d.touch[i], BRIEF + i);
  nsr_random_waits(r, &d, suffix, sizeof suffix);
  const char *op = operation(r, d.channel, d.ntouch);
  put_line(r, &d, op, arguments(op), suffix);
  return nsr_random_finish(r, &d);
}

/* One column of a static buffer, to or from a register. */
static struct done word(struct random *r, int engine, int stores) {
  struct done d = {.channel = engine, .ntouch = 1};
  int column = nsr_random_below(r, 16);
  d.touch[0] = nsr_random_columns(r, UINT32_C(1) << column, NULL,
                                  nsr_random_chance(r, stores));
  return d;
}

static enum nsr_status put_word(struct random *r, struct done *d) {
  const struct touch *t = &d->touch[0];
  const char *load = t->write ? "" : TAKEN ", ";
  const char *store = t->write ? ", " STORED : "";
  int column = 0;
  char suffix[40];
  while (!(t->columns >> column & 1))
    column++;
  nsr_random_waits(r, d, suffix, sizeof suffix);
  INSN(r, d->channel, "    %s %st%" PRIu32 "+%d{0:1}%s%s ^s%" PRIu32 "\n",
       t->write ? "st" : "ld", load, t->buffer, 4 * column, store, suffix,
       r->sems + (uint32_t)d->channel);
  return nsr_random_finish(r, d);
}

enum nsr_status nsr_random_word(struct random *r) {
  struct done d = word(r, nsr_random_active(r), 50);
  return nsr_random_settle(r, &d) ? put_word(r, &d) : NSR_OK;
}

enum nsr_status nsr_random_unknown(struct random *r) {
  struct done d = {.channel = r->wild, .unknown = true};
  char suffix[40];
  if (r->wild < 0)
    return nsr_random_word(r);
  if (!nsr_random_settle(r, &d))
    return NSR_OK;
  nsr_random_waits(r, &d, suffix, sizeof suffix);
  put_line(r, &d, "custom", "code=7", suffix);
  return nsr_random_finish(r, &d);
}

enum nsr_status nsr_random_private_work(struct random *r, int engine) {
  struct done d = word(r, engine, 60);
  return needs_barrier(r, &d) ? NSR_OK : put_word(r, &d);
}

/* ---- the matrix engine */

/* One product; false: nothing could order it here. */
static bool put_product(struct random *r, struct done *d) {
  char suffix[40];
  if (needs_barrier(r, d))
    return false;
  nsr_random_waits(r, d, suffix, sizeof suffix);
  put_line(r, d, "mm", "", suffix);
  return true;
}

enum nsr_status nsr_random_matmul(struct random *r) {
  struct done load = {.channel = r->matrix, .ntouch = 1};
  char suffix[40];
  if (r->matrix < 0)
    return nsr_random_word(r);
  load.touch[0] = nsr_random_columns(r, 0x000f, "[4*4]", false);
  if (!nsr_random_settle(r, &load))
    return NSR_OK;
  nsr_random_waits(r, &load, suffix, sizeof suffix);
  put_line(r, &load, "ldw", "", suffix);
  NSR_TRY(nsr_random_finish(r, &load));
  int sums = FIRST_SUMS + nsr_random_below(r, NSUMS);
  struct touch to = touch(r, sums, true);
  to.product = true;
  for (int i = 1 + nsr_random_below(r, 3); i > 0; i--) {
    struct done d = {.channel = r->matrix, .ntouch = 2};
    d.touch[0] = to;
    d.touch[1] = touch(r, nsr_random_below(r, NSTATIC), false);
    if (!put_product(r, &d))
      return NSR_OK;
    NSR_TRY(nsr_random_finish(r, &d));
    to.accumulates = nsr_random_chance(r, 80);
  }
  return NSR_OK;
}
