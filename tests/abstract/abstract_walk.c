/* abstract_walk.c - all executions of an abstract program, one by one. */
#include <string.h>

#include "abstract.h"

struct walk {
  const struct abs_program *p;
  const int32_t *words;
  struct abs_run *runs;
  int n;
  bool full;
  int32_t trip[ABS_LOOPS], ever[ABS_LOOPS]; /* index in the trip, in all */
  uint16_t ran[ABS_INSNS];
  /* the last execution of an instruction that read, or wrote, a slot */
  uint16_t last[ABS_INSNS][2][ABS_PLACES][ABS_SLOTS];
};

/* Bit by slot. */
static unsigned slots_of(const struct walk *w, const struct abs_access *a) {
  int m = abs_slots(w->p, a);
  switch (a->slot) {
  case ABS_FIXED:
    return 1u << a->phase;
  case ABS_ALL:
    return (1u << m) - 1;
  case ABS_ROTATED: {
    int32_t index = a->persistent ? w->ever[a->loop] : w->trip[a->loop];
    return 1u << ((index + a->phase) % m);
  }
  default:
    return 0;
  }
}

static void look(const struct walk *w, const struct abs_access *a, bool writes,
                 uint16_t *owed) {
  unsigned slots = slots_of(w, a);
  for (int p = 0; p < w->p->ninsns; p++)
    for (int wrote = writes ? 0 : 1; wrote < 2; wrote++)
      for (int s = 0; s < ABS_SLOTS; s++)
        if (slots >> s & 1 && w->last[p][wrote][a->place][s] > owed[p])
          owed[p] = w->last[p][wrote][a->place][s];
}

static void note(struct walk *w, int insn, const struct abs_access *a,
                 bool writes) {
  unsigned slots = slots_of(w, a);
  for (int s = 0; s < ABS_SLOTS; s++)
    if (slots >> s & 1)
      w->last[insn][writes][a->place][s] = w->ran[insn];
}

static void execute(struct walk *w, int insn) {
  const struct abs_insn *x = &w->p->insns[insn];
  if (w->n == ABS_RUN) {
    w->full = true;
    return;
  }
  struct abs_run *run = &w->runs[w->n++];
  memset(run, 0, sizeof *run);
  memcpy(run->ran, w->ran, sizeof run->ran);
  look(w, &x->write, true, run->owed);
  look(w, &x->read, false, run->owed);
  run->insn = (uint8_t)insn;
  run->nth = ++w->ran[insn];
  note(w, insn, &x->write, true);
  note(w, insn, &x->read, false);
}

static void walk_nodes(struct walk *w, int node);

static int32_t trips_of(const struct walk *w, const struct abs_node *x) {
  int32_t trips = w->words[x->word];
  if (x->by >= 0)
    trips = (trips + w->trip[x->by]) & 3;
  return x->bottom && trips < 1 ? 1 : trips;
}

static bool taken(const struct walk *w, const struct abs_node *x) {
  return x->by >= 0 ? (w->trip[x->by] & x->mask) != 0
                    : w->words[x->word] > x->mask;
}

static void walk_loop(struct walk *w, const struct abs_node *x) {
  int32_t trips = trips_of(w, x);
  for (w->trip[x->loop] = 0; w->trip[x->loop] < trips && !w->full;
       w->trip[x->loop]++, w->ever[x->loop]++)
    walk_nodes(w, x->body);
}

static void walk_nodes(struct walk *w, int node) {
  for (; node >= 0; node = w->p->nodes[node].next) {
    const struct abs_node *x = &w->p->nodes[node];
    if (x->kind == ABS_INSN)
      execute(w, x->insn);
    else if (x->kind == ABS_LOOP)
      walk_loop(w, x);
    else
      walk_nodes(w, taken(w, x) ? x->body : x->other);
  }
}

int abs_walk(const struct abs_program *p, const int32_t *words,
             struct abs_run *runs) {
  static struct walk w; /* large */
  memset(&w, 0, sizeof w);
  w.p = p;
  w.words = words;
  w.runs = runs;
  walk_nodes(&w, p->first);
  return w.full ? -1 : w.n;
}
