/* lag.h - whether every conflict is in order, for all trip counts.
 *
 * The walk of theory-channels.md 9, in levels instead of lags: per engine, and
 * per distance back in what waits count (told.h), how many of the latest
 * executions of each work are not known to have retired. A barrier sets all to
 * 0, a wait brings in what its distance tells, and each work must know enough
 * of all others that touch the same bytes.
 */
#ifndef NSR_PROVE_LAG_H
#define NSR_PROVE_LAG_H

#include "prove/thresholds.h"
#include "prove/touch.h"

/* A pair that is not shown to be in order: in front of c, the latest `level`
 * executions of q. */
struct nsr_open_pair {
  uint32_t q, c;   /* touches */
  uint8_t overlap; /* enum nsr_overlap: MAY or MUST */
  struct nsr_bytes where;
  uint32_t level;
  uint32_t old; /* of what is behind the last run of the outermost loop without
                   a barrier around both: 0: only executions of this run are
                   unknown; NSR_LEVEL_ANY where there is none */
  struct nsr_apart apart;
};

struct nsr_lag_result {
  bool *sure; /* by wait: what it covers is known behind it, also if it is for
                 some iterations only */
  NSR_VEC(struct nsr_open_pair) open; /* the first ones */
  bool more;                          /* there are others */
  uint64_t looked_at;
};

/* Needs a score, its thresholds and what its works touch. NSR_E_UNDECIDED,
 * without a message: it would take too long. */
NSR_MUST_USE enum nsr_status
nsr_lag_check(struct nsr_ctx *ctx, const struct nsr_score *s,
              const struct nsr_thresholds *t, struct nsr_sights *sights,
              const struct nsr_touches *touches, struct nsr_lag_result *out);

/* Whether a kernel surely leaves the latest execution of work q unordered with
 * the execution of c that follows in the same run of one body. */
struct nsr_free_pair {
  uint32_t q, c; /* works */
  bool free;     /* out */
};

/* Needs a score of the input and its thresholds; pairs sorted by c. Walks as
 * above, but for what may be known at most. */
NSR_MUST_USE enum nsr_status nsr_lag_free(struct nsr_ctx *ctx,
                                          const struct nsr_score *s,
                                          const struct nsr_thresholds *t,
                                          struct nsr_free_pair *pairs,
                                          size_t n);

#endif
