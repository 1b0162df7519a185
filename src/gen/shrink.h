/* shrink.h - making a kernel smaller while something stays true of it. */
#ifndef NSR_GEN_SHRINK_H
#define NSR_GEN_SHRINK_H

#include <nsr/gen.h>

#include "gen/edit.h"

struct nsr_shrinker {
  struct nsr_ctx *home;    /* holds `best` */
  struct nsr_kernel *best; /* the smallest one so far */
  nsr_shrink_fn *fn;
  void *self;
  uint64_t tries, max_tries;
  enum nsr_status status;
  bool progress; /* something went in this round */
};

/* Whether a candidate, made in ctx, is valid and still interesting; it is then
 * the best one, in another home. A kernel that was got from the last one
 * (s->best) is not valid any longer. */
bool nsr_shrink_take(struct nsr_shrinker *s, struct nsr_ctx *ctx,
                     struct nsr_kernel *candidate);
/* The same for edits of s->best. */
bool nsr_shrink_edit(struct nsr_shrinker *s, struct nsr_ctx *ctx,
                     const struct nsr_edits *edits);

static inline bool nsr_shrink_over(const struct nsr_shrinker *s) {
  return s->status != NSR_OK || s->tries >= s->max_tries;
}

/* Passes. Each tries all it can and goes on where it takes something. */
void nsr_shrink_streams(struct nsr_shrinker *s);
void nsr_shrink_scopes(struct nsr_shrinker *s);
void nsr_shrink_engines(struct nsr_shrinker *s);
void nsr_shrink_barriers(struct nsr_shrinker *s);
void nsr_shrink_instructions(struct nsr_shrinker *s);
void nsr_shrink_synchronisation(struct nsr_shrinker *s);
void nsr_shrink_numbers(struct nsr_shrinker *s);
void nsr_shrink_tensors(struct nsr_shrinker *s);
void nsr_shrink_tables(struct nsr_shrinker *s);

#endif
