/* covers.h - which executions a wait covers, by the least counts at which they
 * retired.
 */
#ifndef NSR_PROVE_COVERS_H
#define NSR_PROVE_COVERS_H

#include "prove/thresholds.h"

/* Counts so far apart do not tell anything about each other. */
#define NSR_STALE (INT64_C(1) << 32)

/* The latest executions of members, along a walk of a score. */
struct nsr_ages {
  struct nsr_ctx *ctx;
  const struct nsr_score *s;
  uint32_t *at;    /* by member: where its ages are */
  int64_t *since;  /* by age: the least count behind which it retired; behind
                      them the place of the last execution among counts since
                      the last barrier */
  uint32_t *scope; /* by member: step of the innermost scope */
  NSR_VEC(uint32_t) loops; /* around here: steps */
};

/* Where the ages of a member end. */
static inline uint32_t nsr_ages_end(const struct nsr_ages *a, uint32_t m) {
  return a->at[m + 1] - 1;
}

/* What is asked. */
struct nsr_cover_search {
  uint32_t step;   /* the wait's */
  int64_t now;     /* the least count here */
  int64_t lag;     /* .. less this is waited for */
  uint32_t within; /* a loop's step: only executions that cannot lie in the
                      latest `rounds` iterations of its present trip;
                      NSR_NONE: all */
  int64_t rounds;
};

/* Adds to out->covers. */
NSR_MUST_USE enum nsr_status nsr_covers_find(const struct nsr_ages *a,
                                             const struct nsr_cover_search *x,
                                             struct nsr_wait_found *w,
                                             struct nsr_thresholds *out);

/* For a threshold of which only the counts since the last barrier are known,
 * `base` being where these begin: those of the members in front of here whose
 * place among these counts is below it, or that ran before the barrier. */
NSR_MUST_USE enum nsr_status nsr_covers_absolute(const struct nsr_ages *a,
                                                 uint32_t step, int64_t base,
                                                 struct nsr_wait_found *w,
                                                 struct nsr_thresholds *out);

#endif
