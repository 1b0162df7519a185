/* shrink.c - shrinks a kernel, for the sake of a predicate.
 *
 * Needs a valid kernel of which the predicate holds; makes a smaller one. Takes
 * whatever it can in rounds, large things first (streams, scopes, halves of
 * streams), until a round takes nothing.
 */
#include "gen/shrink.h"

bool nsr_shrink_take(struct nsr_shrinker *s, struct nsr_ctx *ctx,
                     struct nsr_kernel *candidate) {
  bool good = false;
  const uint8_t *data;
  struct nsr_kernel *k;
  size_t n;
  if (nsr_shrink_over(s) || nsr_kernel_check(ctx, candidate) != NSR_OK)
    return false;
  s->tries++;
  s->status = s->fn(s->self, candidate, &good);
  if (s->status != NSR_OK || !good)
    return false;
  struct nsr_ctx *home = nsr_ctx_new();
  s->status = home ? nsr_kernel_write(ctx, candidate, &data, &n) : NSR_E_NOMEM;
  if (s->status == NSR_OK)
    s->status = nsr_kernel_read(home, NULL, data, n, &k);
  if (s->status != NSR_OK) {
    nsr_ctx_free(home);
    return false;
  }
  nsr_ctx_free(s->home);
  s->home = home;
  s->best = k;
  s->progress = true;
  return true;
}

bool nsr_shrink_edit(struct nsr_shrinker *s, struct nsr_ctx *ctx,
                     const struct nsr_edits *edits) {
  struct nsr_kernel *candidate;
  if (!edits->list.n || nsr_shrink_over(s))
    return false;
  enum nsr_status status = nsr_edit_apply(ctx, s->best, edits, &candidate);
  if (status == NSR_E_NOMEM)
    s->status = status;
  return status == NSR_OK && nsr_shrink_take(s, ctx, candidate);
}

static void one_round(struct nsr_shrinker *s) {
  static void (*const passes[])(struct nsr_shrinker *) = {
      nsr_shrink_streams,      nsr_shrink_scopes,  nsr_shrink_barriers,
      nsr_shrink_instructions, nsr_shrink_engines, nsr_shrink_synchronisation,
      nsr_shrink_numbers,      nsr_shrink_tensors, nsr_shrink_tables};
  s->progress = false;
  for (size_t i = 0; i < sizeof passes / sizeof *passes; i++)
    if (!nsr_shrink_over(s))
      passes[i](s);
}

static enum nsr_status start(struct nsr_shrinker *s, struct nsr_ctx *ctx,
                             const struct nsr_kernel *k) {
  const uint8_t *data;
  size_t n;
  bool good = false;
  s->home = nsr_ctx_new();
  if (!s->home)
    return NSR_E_NOMEM;
  NSR_TRY(nsr_kernel_write(ctx, k, &data, &n));
  NSR_TRY(nsr_kernel_read(s->home, NULL, data, n, &s->best));
  NSR_TRY(s->fn(s->self, k, &good));
  if (good)
    return NSR_OK;
  return nsr_fail(ctx, NSR_E_REFUSED, NSR_NOWHERE,
                  "the predicate does not hold of the kernel as it is");
}

enum nsr_status nsr_shrink(struct nsr_ctx *ctx, const struct nsr_kernel *k,
                           uint64_t max_tries, nsr_shrink_fn *fn, void *self,
                           struct nsr_kernel **out, uint64_t *tries) {
  struct nsr_shrinker s = {
      .fn = fn, .self = self, .max_tries = max_tries ? max_tries : UINT64_MAX};
  const uint8_t *data;
  size_t n;
  enum nsr_status status = start(&s, ctx, k);
  s.progress = status == NSR_OK;
  while (s.progress && !nsr_shrink_over(&s))
    one_round(&s);
  *tries = s.tries;
  if (status == NSR_OK)
    status = s.status;
  if (status == NSR_OK)
    status = nsr_kernel_write(ctx, s.best, &data, &n);
  if (status == NSR_OK)
    status = nsr_kernel_read(ctx, NULL, data, n, out);
  nsr_ctx_free(s.home);
  if (status == NSR_E_NOMEM && !nsr_ctx_first_error(ctx))
    return nsr_fail(ctx, status, NSR_NOWHERE, "out of memory");
  return status;
}
