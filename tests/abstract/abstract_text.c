/* abstract_text.c - the kernel of an abstract program, in barrier form.
 *
 * Barriers stand in front of and behind loops and arms, at the start of each
 * iteration, and between instructions as the program says. Between two of them
 * whatever has a buffer in common waits for each other, one semaphore for each
 * instruction that is awaited.
 *
 * Registers: 1, 41 addresses; 2.. counters, 8.. bounds, 14.. counters that go
 * on, by loop; 20.. control words; 23.. registers of single accesses; 42 what
 * is loaded.
 */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "abstract.h"

enum { COUNTER = 2, BOUND = 8, EVER = 14, WORD = 20, OWN = 23 };

static const char *const engines[ABS_ENGINES] = {"act", "dve", "pool", "sp"};

struct text {
  struct abs_program *p;
  char *s;
  size_t n, size;
  int engine;
  uint32_t at; /* instructions of the engine so far */
  int labels;
  int piece[ABS_INSNS], npiece; /* instructions since the last barrier */
};

static void put(struct text *t, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void put(struct text *t, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  t->n += (size_t)vsnprintf(t->s + t->n, t->size - t->n, fmt, args);
  va_end(args);
  assert(t->n < t->size);
}

#define INSN(t, ...) ((t)->at++, put(t, "    " __VA_ARGS__), put(t, "\n"))

static void barrier(struct text *t) {
  INSN(t, "sync");
  t->npiece = 0;
}

/* ---- addresses */

static const char *place_name(const struct abs_access *a, char *name) {
  bool shared = a->place < ABS_BUFFERS;
  sprintf(name, "%c%d", shared ? 'b' : 'k',
          a->place - (shared ? 0 : ABS_BUFFERS));
  return name;
}

/* Puts a rotated slot's offset into a register; its number, -1: none. */
static int address(struct text *t, const struct abs_access *a, int temp) {
  int m = abs_slots(t->p, a);
  if (a->slot != ABS_ROTATED)
    return -1;
  if (a->style >= ABS_OWN)
    return OWN + a->reg;
  INSN(t, "add r%d, r%d, %d", temp, (a->persistent ? EVER : COUNTER) + a->loop,
       a->phase);
  if (a->style == ABS_AND)
    INSN(t, "and r%d, r%d, %d", temp, temp, m - 1);
  else
    INSN(t, "rem r%d, r%d, %d", temp, temp, m);
  INSN(t, "mul r%d, r%d, 16", temp, temp);
  return temp;
}

/* An access as an operand of so many elements. */
static const char *operand(const struct abs_access *a, int reg, int elements,
                           char *out) {
  char name[16];
  int n = sprintf(out, "%s", place_name(a, name));
  if (reg >= 0)
    n += sprintf(out + n, "+r%d", reg);
  else if (a->slot == ABS_FIXED)
    n += sprintf(out + n, "+%d", 16 * a->phase);
  if (elements > 1)
    sprintf(out + n, "[%d*4]", elements);
  return out;
}

/* The register that is an access's own, in front of its loop. */
static void start_own(struct text *t, const struct abs_access *a, int loop) {
  bool mine = a->slot == ABS_ROTATED && a->style >= ABS_OWN &&
              (loop < 0 ? a->persistent : !a->persistent && a->loop == loop);
  if (mine)
    INSN(t, "mov r%d, %d", OWN + a->reg, 16 * a->phase);
}

static void advance_own(struct text *t, const struct abs_access *a, int loop) {
  int r = OWN + a->reg, m = abs_slots(t->p, a);
  if (a->slot != ABS_ROTATED || a->style < ABS_OWN || a->loop != loop)
    return;
  if (a->style == ABS_TOGGLE) {
    INSN(t, "xor r%d, r%d, 16", r, r);
    return;
  }
  INSN(t, "add r%d, r%d, 16", r, r);
  if (a->style == ABS_OWN) {
    INSN(t, "rem r%d, r%d, %d", r, r, 16 * m);
  } else if (a->style == ABS_RESET) {
    INSN(t, "br.lt r%d, %d, go%d", r, 16 * m, t->labels);
    INSN(t, "mov r%d, 0", r);
    put(t, "go%d:\n", t->labels++);
  } else {
    INSN(t, "lt r1, r%d, %d", r, 16 * m);
    INSN(t, "sel r%d, r1, r%d, 0", r, r);
  }
}

static void each_own(struct text *t, int loop,
                     void (*what)(struct text *, const struct abs_access *,
                                  int)) {
  for (int i = 0; i < t->p->ninsns; i++) {
    if (t->p->insns[i].engine != t->engine)
      continue;
    what(t, &t->p->insns[i].write, loop);
    what(t, &t->p->insns[i].read, loop);
  }
}

/* ---- instructions */

static bool touch(const struct abs_access *a, const struct abs_access *b) {
  return a->slot != ABS_NOTHING && b->slot != ABS_NOTHING &&
         a->place == b->place;
}

static bool waits_for(const struct abs_program *p, int c, int before) {
  const struct abs_insn *x = &p->insns[c], *y = &p->insns[before];
  if (x->channel == y->channel && abs_in_order(p, x->channel))
    return false;
  return touch(&x->write, &y->write) || touch(&x->write, &y->read) ||
         touch(&x->read, &y->write);
}

/* Whether anything in the rest of the piece waits for it. */
static bool awaited(const struct abs_program *p, int insn, int node) {
  for (node = p->nodes[node].next; node >= 0; node = p->nodes[node].next) {
    const struct abs_node *x = &p->nodes[node];
    if (x->kind != ABS_INSN || x->sync)
      return false;
    if (waits_for(p, x->insn, insn))
      return true;
  }
  return false;
}

/* Waits of the instruction: all but the last in front of it, that one into
 * `last`. */
static void put_waits(struct text *t, int insn, char *last) {
  last[0] = '\0';
  for (int i = 0; i < t->npiece; i++) {
    if (!waits_for(t->p, insn, t->piece[i]))
      continue;
    if (last[0])
      INSN(t, "wait%s", last);
    sprintf(last, " ?s%d>=1", i);
  }
}

static void put_insn(struct text *t, int node) {
  struct abs_insn *x = &t->p->insns[t->p->nodes[node].insn];
  char to[32], from[32], wait[32], update[32] = "";
  int number = (int)(x - t->p->insns);
  int w = address(t, &x->write, 1), r = address(t, &x->read, 41);
  put_waits(t, number, wait);
  if (awaited(t->p, number, node))
    sprintf(update, " ^s%d", t->npiece);
  const struct abs_access *shared =
      x->read.slot != ABS_NOTHING ? &x->read : &x->write;
  int elements = x->kind == ABS_STORE || x->kind == ABS_LOAD ? 1
                 : shared->slot == ABS_ALL ? 4 * abs_slots(t->p, shared)
                                           : 4;
  operand(&x->write, w, elements, to);
  if (x->read.slot != ABS_NOTHING)
    operand(&x->read, r, elements, from);
  else
    sprintf(from, "%c[%d*4]", x->kind == ABS_DMA ? 'x' : 'w', elements);
  x->stream_at = t->at;
  switch (x->kind) {
  case ABS_COPY:
    INSN(t, "copy %s, %s%s%s", to, from, wait, update);
    break;
  case ABS_FILL:
    INSN(t, "memset %s value=%d%s%s", to, number, wait, update);
    break;
  case ABS_STORE:
    INSN(t, "st %s, r1%s%s", to, wait, update);
    break;
  case ABS_LOAD:
    INSN(t, "ld r42, %s%s%s", from, wait, update);
    break;
  default:
    INSN(t, "dma q%d, %s, %s%s%s", x->channel - ABS_ENGINES, to, from, wait,
         update);
  }
}

/* ---- nodes */

static void put_nodes(struct text *t, int node);

static void put_loop(struct text *t, const struct abs_node *x) {
  int label = t->labels++, c = COUNTER + x->loop, b = BOUND + x->loop;
  if (x->engine >= 0 && x->engine != t->engine)
    return;
  INSN(t, "mov r%d, 0", c);
  INSN(t, "add r%d, r%d, 0", b, WORD + x->word);
  if (x->by >= 0) {
    INSN(t, "add r%d, r%d, r%d", b, b, COUNTER + x->by);
    INSN(t, "and r%d, r%d, 3", b, b);
  }
  each_own(t, x->loop, start_own);
  put(t, "loop%d:\n", label);
  if (!x->bottom)
    INSN(t, "br.ge r%d, r%d, done%d", c, b, label);
  if (x->engine < 0)
    barrier(t);
  put_nodes(t, x->body);
  each_own(t, x->loop, advance_own);
  INSN(t, "add r%d, r%d, 1", c, c);
  INSN(t, "add r%d, r%d, 1", EVER + x->loop, EVER + x->loop);
  if (x->bottom)
    INSN(t, "br.lt r%d, r%d, loop%d", c, b, label);
  else
    INSN(t, "br loop%d", label);
  put(t, "done%d:\n", label);
}

/* An arm of one instruction may be without a barrier. */
static void put_arm(struct text *t, int node) {
  t->npiece = 0;
  if (node < 0)
    return;
  const struct abs_node *x = &t->p->nodes[node];
  if (x->kind != ABS_INSN || x->next >= 0)
    barrier(t);
  put_nodes(t, node);
}

static void put_if(struct text *t, const struct abs_node *x) {
  int label = t->labels++;
  if (x->by >= 0) {
    INSN(t, "and r1, r%d, %d", COUNTER + x->by, x->mask);
    INSN(t, "br.eq r1, 0, else%d", label);
  } else {
    INSN(t, "br.le r%d, %d, else%d", WORD + x->word, x->mask, label);
  }
  put_arm(t, x->body);
  if (x->other >= 0)
    INSN(t, "br join%d", label);
  put(t, "else%d:\n", label);
  put_arm(t, x->other);
  put(t, "join%d:\n", label);
}

static void put_nodes(struct text *t, int node) {
  bool behind = false; /* a loop or arms */
  for (; node >= 0; node = t->p->nodes[node].next) {
    const struct abs_node *x = &t->p->nodes[node];
    if (x->sync || behind || x->kind != ABS_INSN)
      barrier(t);
    behind = x->kind != ABS_INSN;
    if (x->kind == ABS_LOOP)
      put_loop(t, x);
    else if (x->kind == ABS_IF)
      put_if(t, x);
    else if (t->p->insns[x->insn].engine == t->engine)
      put_insn(t, node);
    if (x->kind == ABS_INSN)
      t->piece[t->npiece++] = x->insn;
  }
}

static void put_engine(struct text *t, int engine) {
  t->engine = engine;
  t->at = 0;
  t->labels = 0;
  put(t, ".engine %s\n", engines[engine]);
  for (int i = 0; i < ABS_WORDS; i++)
    INSN(t, "ld r%d, t+%d", WORD + i, 4 * i);
  INSN(t, "mov r1, 0");
  for (int i = 0; i < t->p->nloops; i++)
    INSN(t, "mov r%d, 0", EVER + i);
  each_own(t, -1, start_own);
  barrier(t);
  put_nodes(t, t->p->first);
  barrier(t);
  INSN(t, "halt");
}

size_t abs_text(struct abs_program *p, char *text, size_t size) {
  struct text t = {.p = p, .s = text, .size = size};
  put(&t,
      ".isa tile64\n.queue q0 sp\n.queue q1 act\n.queue q2 sp\n"
      ".tensor t dram i32 [3] at 0 input range 0 %d words 3, 2, 3\n"
      ".tensor x dram i32 [64] at 4096 input\n"
      ".tensor w sbuf i32 [1, 16] at 0:1, 0 scratch\n",
      ABS_TOP);
  for (int i = 0; i < ABS_BUFFERS; i++)
    put(&t, ".tensor b%d sbuf i32 [1, %d] at 0:1, %d scratch range 0 9\n", i,
        4 * p->slots[i], 64 + 64 * i);
  for (int i = 0; i < p->ninsns; i++)
    put(&t, ".tensor k%d sbuf i32 [1, 16] at 0:1, %d scratch\n", i,
        1024 + 64 * i);
  for (int e = 0; e < ABS_ENGINES; e++)
    if (p->full[e])
      put(&t, ".order %s full\n", engines[e]);
  for (int e = 0; e < ABS_ENGINES; e++)
    put_engine(&t, e);
  return t.n;
}
