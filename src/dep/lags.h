/* lags.h - how far back a consumer has to look, from iteration distances.
 */
#ifndef NSR_DEP_LAGS_H
#define NSR_DEP_LAGS_H

#include "dep/dep.h"
#include "dep/distance.h"

struct nsr_lag_of {
  uint32_t inner; /* the innermost loop around both, NSR_NONE: none */
  bool together;  /* in one execution of a body around both */
  bool may;       /* one of them touches some of its bytes only */
  bool outside;   /* others take part */
};

/* Sets loop, distance, lag and sureness of d, whose p and c touch bytes as
 * patterns say; false: they never conflict. */
bool nsr_lag_set(const struct nsr_distances *x, const struct nsr_pattern *p,
                 const struct nsr_pattern *c, struct nsr_lag_of of,
                 struct nsr_dep *d);

/* The same where nobody knows what they touch: the most recent one. */
void nsr_lag_guess(uint32_t inner, bool together, struct nsr_dep *d);

/* to asks for what both ask for. */
void nsr_lag_merge(const struct nsr_tree *t, struct nsr_dep *to,
                   const struct nsr_dep *d);

#endif
