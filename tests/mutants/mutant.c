/* mutant.c - one weaker wait, and the same made of nothing: nsr_mutate has no
 * control. */
#include "mutant.h"

#include <string.h>

#include "base/vec.h"
#include "gen/edit.h"
#include "gen/survey.h"

enum nsr_status sites_find(struct nsr_ctx *ctx, const struct nsr_kernel *k,
                           struct site **sites, size_t *n) {
  NSR_VEC(struct site) found = {0};
  for (uint32_t s = 0; s < k->nstreams; s++)
    for (uint32_t i = 0; i < k->streams[s].n; i++) {
      struct nsr_insn insn;
      NSR_TRY(nsr_stream_decode(ctx, k, &k->streams[s], i, &insn));
      if (nsr_survey_waits(k, &insn))
        NSR_PUSH(ctx, NSR_KEEP, &found, ((struct site){s, i, insn.wait}));
    }
  *sites = found.v;
  *n = found.n;
  return NSR_OK;
}

/* A register that no instruction of the stream names, -1: none. */
static enum nsr_status free_register(struct nsr_ctx *ctx,
                                     const struct nsr_kernel *k,
                                     const struct site *site, int *reg) {
  struct nsr_survey survey;
  NSR_TRY(nsr_survey_new(ctx, k, &survey));
  *reg = survey.streams[site->stream].free;
  return NSR_OK;
}

/* The instruction waits so. */
static enum nsr_status set_wait(struct nsr_ctx *ctx, const struct nsr_kernel *k,
                                const struct site *site,
                                const struct nsr_wait *wait,
                                struct nsr_edits *edits, bool *fits) {
  struct nsr_edit e = {.kind = NSR_EDIT_REPLACE,
                       .stream = site->stream,
                       .at = site->insn,
                       .from = site->insn};
  memcpy(e.word, nsr_stream_word(k, &k->streams[site->stream], site->insn),
         k->isa->word);
  *fits &= nsr_word_set_wait(k->isa, e.word, wait);
  NSR_PUSH(ctx, NSR_KEEP, &edits->list, e);
  return NSR_OK;
}

/* `sub reg, wait's register, less` in front of it. */
static enum nsr_status put_sub(struct nsr_ctx *ctx, const struct nsr_kernel *k,
                               const struct site *site, int reg, int less,
                               struct nsr_edits *edits, bool *fits) {
  struct nsr_edit e = {.kind = NSR_EDIT_INSERT,
                       .stream = site->stream,
                       .at = site->insn,
                       .from = NSR_NONE};
  struct nsr_insn sub;
  char why[128];
  nsr_insn_init(nsr_isa_control(k->isa, NSR_CTL_SUB), &sub);
  sub.dst = (int16_t)reg;
  sub.a = site->wait.value;
  sub.b = (struct nsr_val){false, less};
  *fits &= nsr_encode(k->isa, &sub, e.word, why, sizeof why);
  NSR_PUSH(ctx, NSR_KEEP, &edits->list, e);
  return NSR_OK;
}

enum nsr_status mutate(struct nsr_ctx *ctx, const struct nsr_kernel *k,
                       const struct site *site, enum mutation mutation,
                       struct nsr_kernel **out) {
  struct nsr_edits edits = {{0}};
  struct nsr_wait wait = {.cmp = NSR_CMP_NONE};
  int less = mutation == LOWER, reg = -1;
  bool fits = true;
  *out = NULL;
  if (mutation != DROP)
    wait = site->wait;
  if (mutation != DROP && wait.value.is_reg) {
    NSR_TRY(free_register(ctx, k, site, &reg));
    NSR_TRY(put_sub(ctx, k, site, reg, less, &edits, &fits));
    wait.value.v = reg;
    fits &= reg >= 0;
  } else if (mutation != DROP) {
    fits = wait.value.v != INT32_MIN;
    wait.value.v -= less && fits;
  }
  NSR_TRY(set_wait(ctx, k, site, &wait, &edits, &fits));
  return fits ? nsr_edit_apply(ctx, k, &edits, out) : NSR_OK;
}
