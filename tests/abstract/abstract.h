/* abstract.h - abstract programs: what a kernel does, said before there is a
 * kernel.
 *
 * A program is a tree of loops, arms and instructions that touch slots of
 * buffers. Its order is that of the tree: whatever conflicts is in the order in
 * which a walk through the tree comes to it. From the tree alone three things
 * are made, none of them by the passes that are tested: the kernel's text with
 * barriers, the list of all executions for given control words, and what each
 * execution has to wait for.
 */
#ifndef NSR_TESTS_ABSTRACT_H
#define NSR_TESTS_ABSTRACT_H

#include <stdbool.h>
#include <stdint.h>

#include <nsr/kernel.h>

#include "../unit/prng.h"

enum {
  ABS_ENGINES = 4,
  ABS_QUEUES = 3,
  ABS_CHANNELS = ABS_ENGINES + ABS_QUEUES, /* pipelines, then queues */
  ABS_LOOPS = 6,
  ABS_NODES = 64,
  ABS_INSNS = 24,
  ABS_BUFFERS = 5,                      /* shared ones .. */
  ABS_PLACES = ABS_BUFFERS + ABS_INSNS, /* .. and one of each instruction */
  ABS_SLOTS = 4,
  ABS_WORDS = 3,
  ABS_TOP = 5,       /* largest control word */
  ABS_DEPTH = 3,     /* loops in each other */
  ABS_RUN = 1 << 12, /* executions of a run */
  ABS_TEXT = 1 << 16
};

enum abs_slot {
  ABS_NOTHING,
  ABS_FIXED,  /* slot `phase` */
  ABS_ALL,    /* all slots */
  ABS_ROTATED /* (index of loop + phase) mod the slots of the buffer */
};

/* How the address register gets there. */
enum abs_style { ABS_REM, ABS_AND, ABS_OWN, ABS_TOGGLE, ABS_RESET, ABS_SELECT };

struct abs_access {
  uint8_t place; /* buffer, or ABS_BUFFERS + instruction */
  uint8_t slot;  /* enum abs_slot */
  uint8_t phase, style;
  int8_t loop;
  bool persistent; /* the index goes on from trip to trip */
  int8_t reg;      /* from OWN on: its register */
};

enum abs_kind { ABS_COPY, ABS_FILL, ABS_STORE, ABS_LOAD, ABS_DMA };

struct abs_insn {
  uint8_t kind; /* enum abs_kind */
  uint8_t engine, channel;
  int8_t loop;        /* innermost around it, -1: none */
  bool every;         /* directly in that loop's body */
  uint32_t stream_at; /* its place in the stream */
  struct abs_access write, read;
};

enum abs_node_kind { ABS_INSN, ABS_LOOP, ABS_IF };

/* A node, its siblings behind it, -1: none. */
struct abs_node {
  uint8_t kind; /* enum abs_node_kind */
  int8_t insn, loop;
  int next, body, other; /* first of its body, of the other arm */
  int8_t word;           /* trips, or what decides: this control word .. */
  int8_t by;             /* .. or the counter of this loop, -1: word */
  uint8_t mask;          /* IF by a counter: some of these bits; by a word:
                            above this. LOOP by a counter: word and counter,
                            mod 4 */
  bool bottom;           /* tested at its end: runs once at least */
  bool sync;             /* a barrier in front of it */
  int8_t engine;         /* only there, -1: all */
};

struct abs_program {
  struct prng r;
  int nnodes, ninsns, nloops, first, registers;
  bool with_rotation, with_private, with_waits;
  bool full[ABS_ENGINES];   /* pipelines that execute in order */
  int8_t parent[ABS_LOOPS]; /* loop around a loop, -1: none */
  int slots[ABS_BUFFERS];
  struct abs_node nodes[ABS_NODES];
  struct abs_insn insns[ABS_INSNS];
};

/* Makes a program; p->r has been seeded. */
void abs_random(struct abs_program *p);

/* Its kernel in barrier form; sets stream_at of its instructions. Returns the
 * text's length. */
size_t abs_text(struct abs_program *p, char *text, size_t size);

int abs_slots(const struct abs_program *p, const struct abs_access *a);

/* One execution: which instruction, for the how manieth time (from 1); for
 * each instruction p how often it has run before (ran), and which of its
 * executions conflicts last (owed; 0: none). */
struct abs_run {
  uint8_t insn;
  uint16_t nth;
  uint16_t ran[ABS_INSNS], owed[ABS_INSNS];
};

/* All executions for these control words, in order; their number, -1: more
 * than ABS_RUN. */
int abs_walk(const struct abs_program *p, const int32_t *words,
             struct abs_run *runs);

/* Whether a channel orders its own work by itself. */
static inline bool abs_in_order(const struct abs_program *p, int channel) {
  return channel < ABS_ENGINES && p->full[channel];
}

/* What executing a rewritten kernel of p showed. */
struct abs_outcome {
  const char *wrong;           /* NULL: nothing */
  int consumer, producer, nth; /* where */
  long waits, exact, later; /* thresholds that name what is owed, later ones */
};

/* Runs the register operations of k, without barriers but the last, for these
 * control words; holds what each instruction then knows to have retired against
 * runs[0..n-1]. exact: thresholds name one instruction's executions, and where
 * abs_exact says so just those that are owed. */
void abs_execute(const struct abs_program *p, struct nsr_ctx *ctx,
                 const struct nsr_kernel *k, const int32_t *words,
                 const struct abs_run *runs, int n, bool exact,
                 struct abs_outcome *out);

/* Whether a count of p's executions minus a constant says just what c owes it
 * (algorithm.md 3.2): fixed addresses, or both rotate alike by one loop that is
 * not in another and p runs once in each of its iterations. */
bool abs_exact(const struct abs_program *prog, int p, int c);

#endif
