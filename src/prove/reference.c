/* reference.c - reading the input, again with what turns out to be in doubt.
 *
 * Loads that may differ between engines decide nothing on several of them; and
 * code with a wait of which it is not known for what it is, is an island.
 */
#include "prove/reference.h"

#include <stdlib.h>

#include "prove/hint.h"
#include "prove/keys.h"

/* How often doubts may make the tree another one. */
enum { MAX_ROUNDS = 16 };

struct doubts {
  struct nsr_key_loads loads;
  NSR_VEC(struct nsr_trouble) waits; /* by engine, then instruction */
};

static enum nsr_status find_order(struct nsr_ctx *ctx, const struct doubts *d,
                                  struct nsr_reference *r) {
  struct nsr_islands islands;
  NSR_TRY(nsr_tree_build(ctx, &r->program, &d->loads, &r->tree));
  NSR_TRY(
      nsr_islands_find(ctx, &r->tree, d->waits.v, d->waits.n, false, &islands));
  NSR_TRY(nsr_hint_find(ctx, &r->tree, &islands, &r->before));
  NSR_TRY(nsr_tree_linearize(ctx, &r->tree, &islands, &r->before));
  NSR_TRY(nsr_score_input(ctx, &r->tree, &r->score));
  return nsr_thresholds_find(ctx, &r->score, &r->thresholds);
}

static enum nsr_status find_loads(struct nsr_ctx *ctx,
                                  const struct nsr_reference *r,
                                  struct doubts *d) {
  struct nsr_sights sights;
  struct nsr_touches touches;
  struct nsr_mark mark = nsr_scratch_mark(ctx);
  size_t n = d->loads.n;
  if (!r->tree.congruence.nloads)
    return NSR_OK;
  NSR_TRY(nsr_sights_init(ctx, &r->score, &sights));
  NSR_TRY(nsr_touches_find(ctx, &sights, &touches));
  NSR_TRY(nsr_keys_check(ctx, &touches, &d->loads));
  if (d->loads.n == n)
    nsr_scratch_release(ctx, mark);
  return NSR_OK;
}

/* Waits for what comes later, or for nobody knows what. */
static enum nsr_status find_waits(struct nsr_ctx *ctx,
                                  const struct nsr_reference *r,
                                  struct doubts *d) {
  for (uint32_t i = 0; i < r->score.nsteps; i++) {
    const struct nsr_step *s = &r->score.steps[i];
    if (s->kind != NSR_STEP_WAIT)
      continue;
    const struct nsr_wait_found *w =
        &r->thresholds.waits[r->thresholds.wait_of[i]];
    if (w->kind == NSR_WAIT_UNKNOWN || (w->kind == NSR_WAIT_LAG && w->lag < 0))
      NSR_PUSH(ctx, NSR_SCRATCH, &d->waits,
               (struct nsr_trouble){s->engine, s->insn, "the wait",
                                    "is for nobody knows what"});
  }
  if (d->waits.n)
    qsort(d->waits.v, d->waits.n, sizeof *d->waits.v, nsr_trouble_compare);
  return NSR_OK;
}

enum nsr_status nsr_reference_find(struct nsr_ctx *ctx,
                                   struct nsr_reference *out) {
  struct doubts d = {0};
  const struct nsr_facts_file *facts = out->program.facts;
  NSR_TRY(nsr_program_build(ctx, out->program.k, &out->program));
  out->program.facts = facts;
  for (int round = 0; round < MAX_ROUNDS; round++) {
    size_t n = d.loads.n + d.waits.n;
    NSR_TRY(find_order(ctx, &d, out));
    NSR_TRY(find_loads(ctx, out, &d));
    NSR_TRY(find_waits(ctx, out, &d));
    if (d.loads.n + d.waits.n == n)
      return NSR_OK;
  }
  return nsr_fail(ctx, NSR_E_REFUSED, NSR_NOWHERE,
                  "loads that decide control flow may differ between engines, "
                  "or waits are for nobody knows what");
}
