/* abstract_random.c - random abstract programs. */
#include <string.h>

#include "abstract.h"

static bool chance(struct abs_program *p, int percent) {
  return prng_in(&p->r, 1, 100) <= percent;
}

static int in(struct abs_program *p, int lo, int hi) {
  return (int)prng_in(&p->r, lo, hi);
}

int abs_slots(const struct abs_program *p, const struct abs_access *a) {
  return a->place < ABS_BUFFERS ? p->slots[a->place] : ABS_SLOTS;
}

/* Where a node is made. */
struct around {
  int loop; /* innermost, -1: none */
  int depth;
  bool every; /* directly in that loop */
};

static bool is_around(const struct abs_program *p, int outer, int loop) {
  while (loop >= 0 && loop != outer)
    loop = p->parent[loop];
  return loop >= 0;
}

/* ---- accesses */

static void rotate(struct abs_program *p, const struct around *at,
                   struct abs_access *a) {
  int m = abs_slots(p, a);
  a->slot = ABS_ROTATED;
  a->loop = (int8_t)at->loop;
  while (p->parent[a->loop] >= 0 && chance(p, 50))
    a->loop = p->parent[a->loop];
  a->phase = (uint8_t)in(p, 0, m - 1);
  a->persistent = chance(p, 30);
  a->style = (uint8_t)in(p, ABS_REM, ABS_SELECT);
  if (a->style == ABS_AND && (m & (m - 1)))
    a->style = ABS_REM;
  if (a->style == ABS_TOGGLE && m != 2)
    a->style = ABS_OWN;
  if (a->style >= ABS_OWN && p->registers == 14)
    a->style = ABS_REM;
  if (a->style >= ABS_OWN)
    a->reg = (int8_t)p->registers++;
}

static struct abs_access random_access(struct abs_program *p,
                                       const struct around *at, bool all) {
  struct abs_access a = {.place = (uint8_t)in(p, 0, ABS_BUFFERS - 1),
                         .slot = ABS_FIXED,
                         .loop = -1,
                         .reg = -1};
  int m = p->slots[a.place];
  a.phase = (uint8_t)in(p, 0, m - 1);
  if (m == 1)
    return a;
  if (all && chance(p, 20))
    a.slot = ABS_ALL;
  else if (p->with_rotation && at->loop >= 0 && chance(p, 75))
    rotate(p, at, &a);
  return a;
}

/* Read or written by this instruction only; what is moved fits it. */
static struct abs_access own_place(int insn, const struct abs_access *other) {
  return (struct abs_access){.place = (uint8_t)(ABS_BUFFERS + insn),
                             .slot =
                                 other->slot == ABS_ALL ? ABS_ALL : ABS_FIXED,
                             .loop = -1,
                             .reg = -1};
}

static void make_accesses(struct abs_program *p, const struct around *at,
                          struct abs_insn *x, int number) {
  bool moves = x->kind == ABS_COPY || x->kind == ABS_DMA;
  if (x->kind == ABS_LOAD) {
    x->read = random_access(p, at, false);
    return;
  }
  if (!moves || chance(p, 55))
    x->write = random_access(p, at, x->kind != ABS_STORE);
  if (!moves)
    return;
  if (x->write.slot == ABS_NOTHING) {
    x->read = random_access(p, at, true);
    x->write = own_place(number, &x->read);
  } else if (x->write.slot != ABS_ALL && chance(p, 50)) {
    x->read = random_access(p, at, false);
  }
}

/* ---- nodes */

static int make_node(struct abs_program *p, enum abs_node_kind kind) {
  p->nodes[p->nnodes] =
      (struct abs_node){.kind = (uint8_t)kind,
                        .insn = -1,
                        .loop = -1,
                        .next = -1,
                        .body = -1,
                        .other = -1,
                        .word = (int8_t)in(p, 0, ABS_WORDS - 1),
                        .by = -1,
                        .engine = -1};
  return p->nnodes++;
}

/* Engines 0..2 copy and fill, 3 stores; queues 0 and 2 belong to 3, 1 to 0. */
static int make_insn(struct abs_program *p, const struct around *at,
                     int engine) {
  static const uint8_t feeds[ABS_QUEUES] = {3, 0, 3};
  int node = make_node(p, ABS_INSN), number = p->ninsns++;
  struct abs_insn *x = &p->insns[number];
  *x = (struct abs_insn){.loop = (int8_t)at->loop, .every = at->every};
  p->nodes[node].insn = (int8_t)number;
  x->channel = (uint8_t)(engine >= 0 ? engine : in(p, 0, ABS_CHANNELS - 1));
  x->engine = x->channel;
  if (engine >= 0) {
    x->kind = ABS_LOAD;
  } else if (x->channel >= ABS_ENGINES) {
    x->engine = feeds[x->channel - ABS_ENGINES];
    x->kind = ABS_DMA;
  } else if (chance(p, 12)) {
    x->kind = ABS_LOAD;
  } else {
    x->kind = x->engine == 3 ? ABS_STORE : chance(p, 70) ? ABS_COPY : ABS_FILL;
  }
  make_accesses(p, at, x, number);
  p->nodes[node].sync = engine < 0 && chance(p, p->with_waits ? 40 : 90);
  return node;
}

static int make_body(struct abs_program *p, const struct around *at, int least,
                     int engine);

static int make_loop(struct abs_program *p, const struct around *at,
                     int engine) {
  int node = make_node(p, ABS_LOOP), loop = p->nloops++;
  struct abs_node *x = &p->nodes[node];
  struct around in_it = {loop, at->depth + 1, true};
  p->parent[loop] = (int8_t)at->loop;
  x->loop = (int8_t)loop;
  x->engine = (int8_t)engine;
  x->bottom = chance(p, 25);
  if (at->loop >= 0 && engine < 0 && chance(p, 30))
    x->by = (int8_t)at->loop;
  int body = make_body(p, &in_it, 1, engine);
  p->nodes[node].body = body;
  return node;
}

static int make_if(struct abs_program *p, const struct around *at) {
  int node = make_node(p, ABS_IF);
  struct abs_node *x = &p->nodes[node];
  struct around in_it = {at->loop, at->depth, false};
  x->mask = (uint8_t)in(p, 0, 3);
  if (at->loop >= 0 && chance(p, 75)) {
    x->by = (int8_t)at->loop;
    x->mask = (uint8_t)in(p, 1, 3);
  }
  int body = make_body(p, &in_it, 1, -1);
  p->nodes[node].body = body;
  if (chance(p, 40)) {
    body = make_body(p, &in_it, 1, -1);
    p->nodes[node].other = body;
  }
  return node;
}

/* An arm of an arm is one level deeper than an arm. */
static int make_any(struct abs_program *p, const struct around *at,
                    int engine) {
  bool deep = at->depth >= ABS_DEPTH;
  int what = in(p, 1, 100);
  if (engine >= 0 || what <= 50 || p->nnodes > ABS_NODES - 12)
    return make_insn(p, at, engine);
  struct around in_arm = {at->loop, at->depth + !at->every, at->every};
  if (what <= 65 && !deep)
    return make_if(p, &in_arm);
  if (deep || p->nloops == ABS_LOOPS)
    return make_insn(p, at, engine);
  if (p->with_private && chance(p, 25))
    return make_loop(p, at, in(p, 0, ABS_ENGINES - 1));
  return make_loop(p, at, -1);
}

/* Its first node, -1: no room for any. */
static int make_body(struct abs_program *p, const struct around *at, int least,
                     int engine) {
  int first = -1, last = -1;
  for (int n = in(p, least, least + 3); n > 0; n--) {
    if (p->ninsns == ABS_INSNS || p->nnodes > ABS_NODES - 4)
      break;
    int node = make_any(p, at, engine);
    if (last >= 0)
      p->nodes[last].next = node;
    else
      first = node;
    last = node;
  }
  return first;
}

void abs_random(struct abs_program *p) {
  struct around at = {-1, 0, false};
  struct prng r = p->r;
  memset(p, 0, sizeof *p);
  p->r = r;
  p->with_rotation = chance(p, 70);
  p->with_private = chance(p, 40);
  p->with_waits = chance(p, 60);
  for (int e = 0; e < ABS_ENGINES; e++)
    p->full[e] = chance(p, 15);
  for (int b = 0; b < ABS_BUFFERS; b++)
    p->slots[b] = in(p, 1, ABS_SLOTS);
  p->first = make_body(p, &at, 2, -1);
}

/* ---- what forms can say */

static bool fixed(const struct abs_access *a) { return a->slot != ABS_ROTATED; }

static bool touch(const struct abs_access *a, const struct abs_access *b) {
  return a->slot != ABS_NOTHING && b->slot != ABS_NOTHING &&
         a->place == b->place;
}

/* In a loop inside others the index must go on from trip to trip, and nothing
 * in it be set in an arm. */
static bool counted(const struct abs_program *p, const struct abs_access *a) {
  return !fixed(a) &&
         (p->parent[a->loop] < 0 || (a->persistent && a->style != ABS_RESET));
}

static bool same_rotation(const struct abs_program *p,
                          const struct abs_access *a,
                          const struct abs_access *b) {
  return counted(p, a) && counted(p, b) && a->loop == b->loop;
}

/* Fixed slots that are two are no conflict, of which nothing need be said. */
static bool expressible(const struct abs_program *prog, int p, int c,
                        const struct abs_access *a,
                        const struct abs_access *b) {
  if (!touch(a, b) || (fixed(a) && fixed(b)))
    return true;
  const struct abs_insn *x = &prog->insns[p], *y = &prog->insns[c];
  return same_rotation(prog, a, b) && x->loop == a->loop && x->every &&
         is_around(prog, a->loop, y->loop);
}

bool abs_exact(const struct abs_program *prog, int p, int c) {
  const struct abs_insn *x = &prog->insns[p], *y = &prog->insns[c];
  return expressible(prog, p, c, &x->write, &y->write) &&
         expressible(prog, p, c, &x->write, &y->read) &&
         expressible(prog, p, c, &x->read, &y->write);
}
