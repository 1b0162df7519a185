/* explain.c - the note a rewritten kernel carries, one line of text a note. */
#include <xxhash.h>

#include "emit/weave.h"
#include "object/note.h"

const char nsr_rewrite_note[] = ".note.nsr.rewrite";

enum { SHT_NOTE_TYPE = 7 };

static enum nsr_status put_hash(struct nsr_strbuf *b, const uint8_t *input,
                                size_t size) {
  XXH128_canonical_t h;
  struct nsr_strbuf line;
  const char *text;
  XXH128_canonicalFromHash(&h, XXH3_128bits(input, size));
  nsr_strbuf_init(&line, b->ctx, NSR_SCRATCH);
  nsr_strbuf_puts(&line, "input xxh3-128 ");
  for (size_t i = 0; i < sizeof h.digest; i++)
    nsr_strbuf_printf(&line, "%02x", h.digest[i]);
  NSR_TRY(nsr_strbuf_done(&line, &text, NULL));
  nsr_note_put(b, text);
  return NSR_OK;
}

static enum nsr_status put_wait(struct nsr_strbuf *b,
                                const struct nsr_plan *plan,
                                const struct nsr_woven *woven, uint32_t i) {
  const struct nsr_plan_wait *w = &plan->waits[i];
  const struct nsr_tree *t = plan->tree;
  const char *const *engines = t->program->k->isa->engines;
  const struct nsr_work *c = &t->works[w->c], *p = &t->works[w->p];
  const char *back =
      w->lag ? nsr_printf(b->ctx, NSR_SCRATCH, ", %u execution%s back", w->lag,
                          w->lag == 1 ? "" : "s")
             : "";
  const char *text =
      back ? nsr_printf(b->ctx, NSR_SCRATCH,
                        "%s[%u] waits on semaphore %u for %s[%u]%s%s",
                        engines[c->engine], woven->wait_at[i], w->sem,
                        engines[p->engine], woven->work_at[w->p], back,
                        w->p < w->c ? "" : ", of an earlier iteration")
           : NULL;
  if (!text)
    return NSR_E_NOMEM;
  nsr_note_put(b, text);
  return NSR_OK;
}

/* A barrier that stays, and why. */
static enum nsr_status put_barrier(struct nsr_strbuf *b,
                                   const struct nsr_tree *t,
                                   const struct nsr_woven *woven, uint32_t p) {
  const struct nsr_part *part = &t->parts[p];
  const char *const *engines = t->program->k->isa->engines;
  const char *text;
  int e = 0;
  while (!t->program->stream[e] || part->insn[e] == NSR_NONE)
    e++;
  if (part->why == NSR_NONE) {
    text = nsr_printf(b->ctx, NSR_SCRATCH, "%s[%u] stays: it bounds counts",
                      engines[e], woven->part_at[p]);
  } else {
    const struct nsr_trouble *x = &t->troubles[part->why];
    text = nsr_printf(b->ctx, NSR_SCRATCH, "%s[%u] stays: %s at %s[%u] %s",
                      engines[e], woven->part_at[p], x->what,
                      engines[x->engine], woven->trouble_at[part->why], x->why);
  }
  if (!text)
    return NSR_E_NOMEM;
  nsr_note_put(b, text);
  return NSR_OK;
}

enum nsr_status nsr_weave_note(struct nsr_ctx *ctx, const struct nsr_plan *plan,
                               const struct nsr_woven *woven,
                               const char *options, const uint8_t *input,
                               size_t size, struct nsr_section *out) {
  struct nsr_strbuf b;
  const char *data;
  size_t n;
  nsr_strbuf_init(&b, ctx, NSR_KEEP);
  nsr_note_put(&b, "nsync-rewrite " NSR_VERSION);
  if (options[0])
    nsr_note_put(&b, options);
  if (input)
    NSR_TRY(put_hash(&b, input, size));
  for (uint32_t i = 0; i < plan->nwaits; i++)
    NSR_TRY(put_wait(&b, plan, woven, i));
  for (uint32_t p = 0; p < plan->tree->nparts; p++)
    if (woven->part_at[p] != NSR_NONE)
      NSR_TRY(put_barrier(&b, plan->tree, woven, p));
  NSR_TRY(nsr_strbuf_done(&b, &data, &n));
  *out = (struct nsr_section){.name = nsr_rewrite_note,
                              .type = SHT_NOTE_TYPE,
                              .align = 4,
                              .data = (const uint8_t *)data,
                              .size = n};
  return NSR_OK;
}
