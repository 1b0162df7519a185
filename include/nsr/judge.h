/* judge.h - verdicts on two kernels: level 2, co-simulation.
 *
 * Both kernels run on the engine model with opaque semantics, for a set of
 * inputs (trip counts and arms come from the control tensors' declared
 * ranges). For each input one schedule speaks for all (verification.md,
 * level 2) while semaphores only grow, by updates in one order each, and waits
 * are >=; elsewhere several schedules run and the verdict is undecided beyond
 * them.
 */
#ifndef NSR_JUDGE_H
#define NSR_JUDGE_H

#include <nsr/external.h>
#include <nsr/facts_file.h>
#include <nsr/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

enum nsr_verdict {
  NSR_EQUAL,        /* equal on every input tried */
  NSR_REFUTED,      /* with a witness */
  NSR_UNDECIDED,    /* with a reason */
  NSR_INPUT_BROKEN, /* the first kernel itself races, hangs, faults or leaks */
  NSR_PREFIX_ONLY   /* undecided, as runs are longer than the budget: equal as
                       far as it went */
};

/* Why a kernel was refuted (or the first one is broken). */
enum nsr_fault_kind {
  NSR_FAULT_NONE,
  NSR_FAULT_TRACE,   /* another instruction, or other addresses */
  NSR_FAULT_READS,   /* a read saw another writer */
  NSR_FAULT_MEMORY,  /* final memory differs */
  NSR_FAULT_RACE,    /* conflicting accesses in no order */
  NSR_FAULT_HANG,    /* names every blocked engine */
  NSR_FAULT_LEAK,    /* semaphores not 0, or work in flight, at the end */
  NSR_FAULT_MACHINE, /* bounds, undefined register, barrier ids, ... */
  NSR_FAULT_SHAPE    /* engines, queues or tensors differ */
};
const char *nsr_fault_name(enum nsr_fault_kind kind);
const char *nsr_verdict_name(enum nsr_verdict verdict);

/* Words of a control tensor, at least one; those behind the last one are equal
 * to it. */
struct nsr_words {
  const char *tensor;
  uint64_t n;
  const int64_t *words;
};

/* What an input was: enough to judge it again. */
struct nsr_input_words {
  uint64_t number; /* in the series of inputs; it decides how kernels are
                      launched again */
  uint32_t ntensors;
  const struct nsr_words *tensors;
};

/* A value that a semaphore of the second kernel holds at first. */
struct nsr_start {
  uint16_t sem;
  int32_t value;
};

struct nsr_judge_options {
  uint32_t inputs;    /* this many input vectors, if there are; 0: at most 60 */
  uint32_t schedules; /* per input, in the fall-back; 0: 8 */
  uint64_t seed;
  uint64_t budget;     /* instances per run; 0: 2,000,000 */
  bool no_relaunch;    /* skip the second launch without reset */
  bool no_order;       /* compare traces, reads and memory alone: no clocks, and
                          no races are found (to measure what they take) */
  bool every_schedule; /* run all schedule kinds even where one suffices */
  bool whole_ranges;   /* undecided where a range was not tried to its top */
  const struct nsr_external *external; /* what others do; NULL: nobody knows,
                                          and waits for them hold at once */
  const struct nsr_facts_file *facts;  /* on the first kernel; NULL: none */
  uint64_t runs; /* of kernels, in all: no more inputs are begun behind so
                    many; 0: any number */
  bool (*go_on)(void *self); /* asked in front of each input but the first;
                                NULL: always */
  void *self;
  const struct nsr_input_words *only; /* this input alone; NULL: many */
  uint32_t nstarts;
  const struct nsr_start *starts;
  bool unsigned_waits; /* the second kernel's machine compares without sign */
};

struct nsr_judgement {
  enum nsr_verdict verdict;
  enum nsr_fault_kind fault;
  const char *text;  /* the witness or reason, one or more lines */
  const char *input; /* control words of the witness: "rows=[3]" */
  const struct nsr_input_words *words; /* the same; NULL: no witness */
  uint32_t inputs;                     /* equal ones */
  uint32_t undecided;                  /* inputs undecided */
  uint64_t instances;                  /* simulated, both kernels */
  uint64_t may_pairs; /* may pairs unordered by a, taken as disjoint */
  const char *notes;  /* loops and arms never entered, assumptions; lines */
  const char *facts;  /* as nsr_facts_text: those given, and whether used */
};

/* Judges b against a. NSR_OK whatever the verdict; other statuses only where
 * judging itself fails. */
NSR_MUST_USE enum nsr_status nsr_cosimulate(
    struct nsr_ctx *ctx, const struct nsr_kernel *a, const struct nsr_kernel *b,
    const struct nsr_judge_options *options, struct nsr_judgement *out);

/* For a wait of b that could be dropped or lowered without refutation (mutant
 * is b with that change): why. Prints, per distinct reason, the chain of
 * clocks by which the waiting engine knows of the awaited retirement without
 * it, or the fact that no access behind the wait conflicts with it. */
NSR_MUST_USE enum nsr_status
nsr_explain_wait(struct nsr_ctx *ctx, const struct nsr_kernel *b,
                 const struct nsr_kernel *mutant, int engine, uint32_t insn,
                 const struct nsr_judge_options *options, const char **text);

/* --relation=outputs: runs both in numeric mode from the files' initial
 * contents, in one schedule and within options' budget, and compares output
 * tensors within tolerance (absolute plus relative). Inputs without contents
 * get numbers made up from their names. */
NSR_MUST_USE enum nsr_status
nsr_compare_outputs(struct nsr_ctx *ctx, const struct nsr_kernel *a,
                    const struct nsr_kernel *b, double tolerance,
                    const struct nsr_judge_options *options,
                    struct nsr_judgement *out);

/* Runs k once in numeric mode from its initial contents; *data then holds
 * the final bytes of tensor `name` (DRAM). */
NSR_MUST_USE enum nsr_status
nsr_run_numeric(struct nsr_ctx *ctx, const struct nsr_kernel *k,
                const char *name, const uint8_t **data, size_t *size);

#ifdef __cplusplus
}
#endif
#endif
