/* explore.h - verdicts on two small kernels: level 3, all interleavings.
 *
 * For each input every order of issue, read, write and retirement is gone
 * through, with opaque semantics, unbounded windows and no clocks: what the
 * other judges conclude is seen here. A race is two conflicting instances in
 * flight together. The second kernel is refuted by a race, hang, fault or
 * something left behind, where the first has none; by another sequence of
 * instructions on a channel; by an outcome (values read, final memory) that
 * the first one cannot have; and by two accesses to some of the same bytes, or
 * events that others see, that may come in an order that the first one
 * excludes.
 */
#ifndef NSR_EXPLORE_H
#define NSR_EXPLORE_H

#include <nsr/judge.h>

#ifdef __cplusplus
extern "C" {
#endif

struct nsr_explore_options {
  uint32_t inputs; /* this many, if there are; 0: at most 12 */
  uint64_t seed;
  uint64_t states;   /* of a kernel on an input, at most; 0: 1,000,000 */
  bool no_reduce;    /* every order, also of what commutes, and reads and
                        writes as steps of their own */
  bool out_of_order; /* queues complete in any order */
  bool demands;      /* compare with the specification machine, too */
  const struct nsr_facts_file *facts;  /* on the first kernel; NULL: none */
  const struct nsr_external *external; /* what others do; NULL: nobody knows,
                                          and waits for them hold at once */
};

/* The specification machine issues each instruction of the first kernel as
 * soon as everything has retired that it must come behind: no semaphores, no
 * registers. Waits of the second kernel are counted once per instance and
 * channel waited for, where an engine learns of it. */
struct nsr_demands {
  uint64_t inputs;  /* compared */
  uint64_t waits;   /* of the second kernel */
  uint64_t longer;  /* of these, for what need not have retired */
  const char *text; /* which, a line each, some of them; "" */
};

struct nsr_exploration {
  struct nsr_judgement judgement; /* instances: of the first kernel */
  uint64_t states[2];             /* visited, of either kernel */
  uint64_t outcomes;              /* most of an input, first kernel */
  struct nsr_demands demands;
};

/* Judges b against a. NSR_OK whatever the verdict. */
NSR_MUST_USE enum nsr_status nsr_explore(
    struct nsr_ctx *ctx, const struct nsr_kernel *a, const struct nsr_kernel *b,
    const struct nsr_explore_options *options, struct nsr_exploration *out);

#ifdef __cplusplus
}
#endif
#endif
