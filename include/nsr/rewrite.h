/* rewrite.h - the main job: take the barriers out of a kernel. */
#ifndef NSR_REWRITE_H
#define NSR_REWRITE_H

#include <nsr/explore.h>
#include <nsr/judge.h>
#include <nsr/prove.h>
#include <nsr/kernel.h>
#include <nsr/time.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Which judges, or-ed; the default: NSR_VERIFY_STATIC and NSR_VERIFY_COSIM. */
enum nsr_verify {
  NSR_VERIFY_DEFAULT = 0,
  NSR_VERIFY_NONE = 1,
  NSR_VERIFY_COSIM = 2,      /* nsr_cosimulate */
  NSR_VERIFY_EXHAUSTIVE = 4, /* nsr_explore */
  NSR_VERIFY_STATIC = 8      /* nsr_prove */
};

/* What a semaphore counts: the work of a channel in one scope; all work of a
 * channel; the same, all channels advancing alike; one instruction. AUTO takes
 * the cheapest that fits registers and semaphores, or a mixture. PUBLISHED: a
 * baseline, the publication's allocations to the letter. */
enum nsr_scheme {
  NSR_SCHEME_AUTO,
  NSR_SCHEME_PER_LOOP,
  NSR_SCHEME_PER_ENGINE,
  NSR_SCHEME_EQUAL_WEIGHT,
  NSR_SCHEME_PER_INSTRUCTION,
  NSR_SCHEME_PUBLISHED
};
const char *nsr_scheme_name(enum nsr_scheme s); /* "auto", "per-loop", .. */
int nsr_scheme_parse(const char *name);         /* -1: none */

/* Where a semaphore could come to count further than it holds. */
enum nsr_overflow {
  NSR_OVERFLOW_REPORT, /* said in the report */
  NSR_OVERFLOW_KEEP    /* barriers stay, in outer loops first */
};

/* Whether instructions with unknown effects are put in order with all others by
 * waits, in place of the barriers around them. */
enum nsr_soft {
  NSR_SOFT_AUTO, /* where that costs less, as the machine has it */
  NSR_SOFT_NEVER
};

/* A label of an engine: the loop or conditional that starts there, with all in
 * it, or else the barrier there. */
struct nsr_spot {
  const char *engine, *label;
};

/* Which barriers stay, for those who look for one that a fault is about: those
 * of all spots in keep, those of no spot in only (if any), and of the rest all
 * but the first `limit` (if limited), in the order of the kernel. */
struct nsr_bisect {
  const struct nsr_spot *keep, *only;
  uint32_t nkeep, nonly;
  uint32_t limit;
  bool limited;
};

struct nsr_rewrite_options {
  unsigned verify; /* enum nsr_verify */
  enum nsr_scheme scheme;
  enum nsr_scheme published; /* of PUBLISHED: what a semaphore counts; AUTO: per
                                loop */
  bool published_recent; /* .. the most recent execution where barriers would
                            have to stay */
  bool strict; /* undecided, or a barrier has to stay: NSR_E_UNDECIDED */
  enum nsr_overflow overflow;
  bool keep_outer; /* barriers directly in outermost loops stay, so that counts
                      are bounded by one iteration */
  bool add_exit;   /* a kernel without an exit barrier gets one, and is judged
                      as if it had had it */
  uint32_t max_registers;  /* fresh registers per engine; 0: all free ones */
  uint32_t max_semaphores; /* 0: the owned range */
  bool limit_registers;    /* max_registers counts as it is: 0 is none */
  bool limit_semaphores;
  enum nsr_soft soft;              /* PUBLISHED has none */
  struct nsr_time_machine machine; /* .. what costs are compared on */
  struct nsr_bisect bisect;
  struct nsr_judge_options judge; /* its facts are for the passes, too */
  struct nsr_explore_options explore;
};

struct nsr_engine_report {
  const char *engine; /* NULL: no stream */
  uint32_t insns_before, insns_after;
  uint32_t barriers_before, barriers_after;
  uint32_t waits_before, waits_after; /* owned ones */
  uint32_t registers;                 /* inserted */
};

/* A barrier of the output; the exit barrier is the last one. */
struct nsr_kept_barrier {
  struct nsr_place place; /* in the input, on the first engine that has it */
  const char *reason; /* "island: the wait on semaphore 4 at act[12] (k.s:40)
                         has its threshold in a register"; "directly in an
                         outermost loop"; "asked for"; "exit barrier" */
  bool stays;         /* has to; false: asked for, or the exit barrier */
  uint64_t times;     /* what it costs: in one launch the engines meet there so
                         often at most; UINT64_MAX: nobody knows */
};

/* In place of barriers: an instruction that waits for what all channels did in
 * front of it, and that whoever goes on behind it waits for. Costs in ns, for
 * one execution, without what is under way being waited for. */
struct nsr_soft_barrier {
  struct nsr_place place; /* the instruction, in the input */
  const char *reason;     /* "has unknown effects" */
  uint32_t in, out;       /* its waits, and waits for it */
  int64_t cost;
  uint32_t barriers; /* that would have to stay */
  int64_t saved;     /* what these would cost */
  uint64_t times;    /* it runs at most; UINT64_MAX: nobody knows */
};

/* Two accesses that may touch common bytes and that the input leaves
 * unordered within a region: taken as disjoint there (algorithm.md 2.6). */
struct nsr_may_pair {
  struct nsr_place first, second; /* as in the reference order */
  const char *where;              /* the bytes: "sbuf partitions 0..3, .." */
};

struct nsr_rewrite_report {
  struct nsr_engine_report engines[NSR_MAX_ENGINES];
  uint32_t semaphores;  /* used by the output */
  const char *scheme;   /* how it counts: as nsr_scheme_name, "mixed": some
                           loops on their own; NULL: nothing was planned */
  uint32_t scopes;      /* of the common tree, the program included */
  uint32_t dependences; /* static pairs that owe an order */
  uint32_t may_pairs;   /* how many of pairs */
  const struct nsr_may_pair *pairs;
  int64_t max_entries; /* thresholds hold while no loop that is counted runs
                          more iterations; 0: none is counted */
  int64_t max_count; /* that a semaphore comes to, as constant and declared trip
                        counts have it; -1: that is not known */
  int64_t count_limit; /* most that it holds */
  /* in innermost loops: waits, and register operations that are there for
   * them (thresholds and counting), each once */
  uint32_t inner_waits, inner_operations;
  uint32_t awaited; /* pairs of a channel and a scope with work that somebody
                       waits for */
  uint32_t nsoft;
  const struct nsr_soft_barrier *soft;
  uint32_t nkept;
  const struct nsr_kept_barrier *kept;
  bool added_exit;   /* the exit barrier is none of the input */
  const char *facts; /* as nsr_facts_text; NULL: refused */
  bool changed; /* false: nothing to do, output is the input byte for byte */
  bool proof_asked; /* of nsr_prove */
  struct nsr_proof proof;
  bool judged, explored; /* by nsr_cosimulate, by nsr_explore */
  struct nsr_judgement judgement;
  struct nsr_exploration exploration;
};

/* Rewrites k (which passed nsr_kernel_check) into *out, judges, reports.
 * input/size are the bytes k was read from (hashed into the output's note;
 * may be NULL). NSR_E_REFUSED, NSR_E_RACE, NSR_E_HANG: nothing made, the
 * diagnostic names place and reason. NSR_E_DIFFERENT: the judge objected. */
NSR_MUST_USE enum nsr_status
nsr_rewrite(struct nsr_ctx *ctx, const struct nsr_kernel *k,
            const uint8_t *input, size_t size,
            const struct nsr_rewrite_options *options, struct nsr_kernel **out,
            struct nsr_rewrite_report *report);

/* The report as text (a short table) and as JSON, a line. output NULL:
 * nothing was written. */
NSR_MUST_USE enum nsr_status
nsr_report_text(struct nsr_ctx *ctx, const struct nsr_rewrite_report *report,
                const char *input, const char *output, const char **text);
NSR_MUST_USE enum nsr_status
nsr_report_json(struct nsr_ctx *ctx, const struct nsr_rewrite_report *report,
                const char *input, const char *output, const char **text);

/* A kernel of which no report was made, as such a line: the status by name as
 * the verdict, the diagnostic's text and place as reason. */
NSR_MUST_USE enum nsr_status
nsr_report_failure_json(struct nsr_ctx *ctx, enum nsr_status status,
                        const struct nsr_diag *diag, const char *input,
                        const char **text);

#ifdef __cplusplus
}
#endif
#endif
