/* watch.h - one run of one kernel under the eyes of the judge: clocks, shadow
 * memory, trace; against the trace and memory of a reference run where one is
 * given.
 */
#ifndef NSR_JUDGE_WATCH_H
#define NSR_JUDGE_WATCH_H

#include <nsr/judge.h>

#include "judge/may.h"
#include "sim/opaque.h"

/* What is wrong with a run; the first thing found ends it. */
struct nsr_finding {
  enum nsr_fault_kind kind; /* NSR_FAULT_NONE: nothing so far */
  const char *text;         /* several lines, in the results' arena */
  bool undecided;           /* a reason, not a fault: text says which */
  bool budget;              /* undecided for lack of instances */
};

/* For those who ask more of a run than a verdict. */
struct nsr_watch;
typedef bool nsr_probe_fn(void *self, struct nsr_watch *w,
                          const struct nsr_flight *f);
typedef void nsr_wait_probe_fn(void *self, struct nsr_watch *w, int engine,
                               uint32_t insn, int32_t threshold);

struct nsr_watch_options {
  const struct nsr_image *image;
  const struct nsr_machine *machine;
  struct nsr_atoms *atoms;
  const struct nsr_contents *contents;
  uint32_t ncontents;
  struct nsr_policy policy;
  uint64_t budget;
  enum nsr_registers registers;
  const struct nsr_watch *before;      /* NSR_REGS_KEPT */
  const struct nsr_watch *reference;   /* NULL: this run records */
  const struct nsr_external *external; /* what others do, NULL: unknown */
  uint32_t nstarts; /* what semaphores hold at first, if not 0 */
  const struct nsr_start *starts;
  bool unsigned_waits;
  bool no_order; /* clocks stand still */
  bool wild;     /* either kernel has events of others, or they have some */
  bool may;      /* either kernel has may accesses, or races are allowed */
  const struct nsr_allowed *allowed;
  bool remember; /* how clocks were learned */
  bool must_end; /* within budget, or it never does */
  void *probe_self;
  nsr_probe_fn *on_issue;     /* checked, not yet recorded; false stops */
  nsr_probe_fn *on_read;      /* before the comparison; false stops */
  nsr_wait_probe_fn *on_wait; /* before the clocks learn of it */
};

struct nsr_watch {
  struct nsr_ctx *out; /* texts: its keep arena */
  struct nsr_ctx *pool;
  struct nsr_watch_options o;
  struct nsr_sim *sim;
  struct nsr_opaque *memory;
  struct nsr_clocks clocks;
  struct nsr_shadow *shadow;
  struct nsr_may *may;
  struct nsr_trace trace; /* of a recording run */
  uint32_t numbered[NSR_MAX_CLOCK];
  NSR_VEC(uint32_t) insns[NSR_MAX_CLOCK]; /* by ordinal - 1 */
  /* the same, where others take part: how many so far are not skipped */
  NSR_VEC(uint32_t) numbers[NSR_MAX_CLOCK];
  bool blind; /* new cuts are needed: nothing found here counts */
  struct nsr_finding finding;
  /* Other values read: the run goes on, for the race behind it if there is
   * one. */
  struct nsr_finding other_reads;
  /* What others can see waits for more than it did: counts if nothing else is
   * found. */
  struct nsr_finding awaits_more;
  uint32_t at_channel, at_number; /* the instance that differs, 0: none */
  enum nsr_status status;
  uint64_t unordered_may;
};

/* Runs to the end. Everything of the run is in pool's scratch arena. */
NSR_MUST_USE enum nsr_status
nsr_watch_run(struct nsr_ctx *out, struct nsr_ctx *pool,
              const struct nsr_watch_options *options,
              struct nsr_watch **watch);

/* The instruction of a channel's instance. */
static inline uint32_t nsr_watch_insn(const struct nsr_watch *w,
                                      uint32_t component, uint32_t ordinal) {
  return ordinal && ordinal <= w->insns[component].n
             ? w->insns[component].v[ordinal - 1]
             : NSR_NONE;
}

/* How many of a component's instances, skipped ones not counted, a clock
 * holds: comparable between kernels. Only where others take part. */
static inline uint32_t nsr_watch_known(const struct nsr_watch *w,
                                       const uint32_t *clock,
                                       uint32_t component) {
  uint32_t ordinal = clock[component];
  return ordinal ? w->numbers[component].v[ordinal - 1] : 0;
}
#endif
