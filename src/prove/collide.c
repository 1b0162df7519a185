/* collide.c - what the output knows at most, what the input knows at least. */
#include "prove/collide.h"

/* Whether the input is shown to order two works. */
static enum nsr_status is_ordered(struct nsr_ctx *ctx,
                                  const struct nsr_reference *in, uint32_t q,
                                  uint32_t c, bool *yes) {
  struct nsr_sights sights;
  struct nsr_touches touches;
  struct nsr_lag_result found;
  NSR_TRY(nsr_sights_init(ctx, &in->score, &sights));
  NSR_TRY(nsr_touches_find(ctx, &sights, &touches));
  NSR_TRY(nsr_lag_check(ctx, &in->score, &in->thresholds, &sights, &touches,
                        &found));
  *yes = !found.more;
  for (size_t i = 0; i < found.open.n; i++) {
    const struct nsr_open_pair *x = &found.open.v[i];
    uint32_t a = sights.step_of[touches.v[x->q].slot];
    uint32_t b = sights.step_of[touches.v[x->c].slot];
    if (in->score.steps[a].work == q && in->score.steps[b].work == c)
      *yes = false;
  }
  return NSR_OK;
}

/* Behind an arm whose way past it counts as well, less is told than could be
 * known. */
static bool has_other_ways(const struct nsr_score *s) {
  for (uint32_t i = 0; i < s->nsteps; i++)
    if (s->steps[i].kind == NSR_STEP_OTHER)
      return true;
  return false;
}

enum nsr_status nsr_collide(struct nsr_ctx *ctx, const struct nsr_reference *in,
                            const struct nsr_score *out,
                            const struct nsr_thresholds *t, uint32_t q,
                            uint32_t c, bool *yes) {
  struct nsr_free_pair pair = {q, c, false};
  enum nsr_status status = NSR_OK;
  *yes = false;
  if (!has_other_ways(out))
    status = nsr_lag_free(ctx, out, t, &pair, 1);
  if (status == NSR_OK && pair.free)
    status = is_ordered(ctx, in, q, c, yes);
  return status == NSR_E_UNDECIDED ? NSR_OK : status;
}
