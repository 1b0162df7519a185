/* lasting.c - forms that a wrap would make wrong, against trips. */
#include "mem/lasting.h"

#include "mem/trips.h"


/* Iterations in all, by an engine's own loop. */
static enum nsr_status own_entries(struct nsr_ctx *ctx,
                                   const struct nsr_tree *t, int engine,
                                   const uint64_t *entries, uint64_t **out) {
  uint32_t n = t->local[engine].nscopes;
  NSR_NEW(ctx, NSR_SCRATCH, *out, n);
  for (uint32_t s = 0; s < n; s++)
    (*out)[s] = NSR_ENDLESS;
  for (uint32_t s = 0; s < t->nscopes; s++)
    if (nsr_common_runs(t, s, engine))
      (*out)[t->scopes[s].local[engine]] = entries[s];
  return NSR_OK;
}

static enum nsr_status limit(struct nsr_ctx *ctx, const struct nsr_tree *t,
                             const struct nsr_values *values, int engine,
                             const uint64_t *entries, int64_t *iterations) {
  uint64_t *own = NULL;
  for (size_t i = 0; i < values->n; i++) {
    const struct nsr_form *f = &values->forms[i].form;
    int64_t lasts = INT64_C(1) << f->lasts;
    if (!f->lasts || (*iterations && *iterations <= lasts))
      continue;
    if (!own)
      NSR_TRY(own_entries(ctx, t, engine, entries, &own));
    if (f->loop == NSR_NONE || own[f->loop] > (uint64_t)lasts)
      *iterations = lasts;
  }
  return NSR_OK;
}

enum nsr_status nsr_values_lasting(struct nsr_ctx *ctx,
                                   const struct nsr_tree *t,
                                   const struct nsr_values *values,
                                   const uint64_t *entries,
                                   int64_t *iterations) {
  struct nsr_mark mark = nsr_scratch_mark(ctx);
  enum nsr_status status = NSR_OK;
  *iterations = 0;
  for (int e = 0; e < NSR_MAX_ENGINES && status == NSR_OK; e++)
    if (t->program->stream[e])
      status = limit(ctx, t, &values[e], e, entries, iterations);
  nsr_scratch_release(ctx, mark);
  return status;
}
