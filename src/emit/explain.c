/* explain.c - the note a rewritten kernel carries. */
#include <string.h>

#include <xxhash.h>

#include "base/strbuf.h"
#include "emit/weave.h"

const char nsr_rewrite_note[] = ".note.nsr.rewrite";

enum { NOTE_REWRITE = 2, SHT_NOTE_TYPE = 7 };
static const char owner[8] = "nsync";

static void put32(uint8_t *p, uint32_t v) {
  for (int i = 0; i < 4; i++)
    p[i] = (uint8_t)(v >> (8 * i));
}

static void add_hash(struct nsr_strbuf *b, const uint8_t *input, size_t size) {
  XXH128_canonical_t h;
  XXH128_canonicalFromHash(&h, XXH3_128bits(input, size));
  nsr_strbuf_puts(b, "input xxh3-128 ");
  for (size_t i = 0; i < sizeof h.digest; i++)
    nsr_strbuf_printf(b, "%02x", h.digest[i]);
  nsr_strbuf_puts(b, "\n");
}

static void add_wait(struct nsr_strbuf *b, const struct nsr_plan *plan,
                     const struct nsr_woven *woven, uint32_t i) {
  const struct nsr_plan_wait *w = &plan->waits[i];
  const struct nsr_tree *t = plan->tree;
  const char *const *engines = t->program->k->isa->engines;
  const struct nsr_work *c = &t->works[w->c], *p = &t->works[w->p];
  nsr_strbuf_printf(b, "%s[%u] waits on semaphore %u for %s[%u]",
                    engines[c->engine], woven->wait_at[i], w->sem,
                    engines[p->engine], woven->work_at[w->p]);
  if (w->lag)
    nsr_strbuf_printf(b, ", %u executions back", w->lag);
  nsr_strbuf_puts(b, w->p < w->c ? "\n" : " of an earlier iteration\n");
}

enum nsr_status nsr_weave_note(struct nsr_ctx *ctx, const struct nsr_plan *plan,
                               const struct nsr_woven *woven,
                               const char *options, const uint8_t *input,
                               size_t size, struct nsr_section *out) {
  struct nsr_strbuf b;
  const char *text;
  size_t n;
  nsr_strbuf_init(&b, ctx, NSR_SCRATCH);
  nsr_strbuf_printf(&b, "nsync-rewrite " NSR_VERSION "\noptions%s\n", options);
  if (input)
    add_hash(&b, input, size);
  for (uint32_t i = 0; i < plan->nwaits; i++)
    add_wait(&b, plan, woven, i);
  NSR_TRY(nsr_strbuf_done(&b, &text, &n));
  size_t padded = (n + 3) & ~(size_t)3, head = 12 + sizeof owner;
  uint8_t *data;
  NSR_NEW(ctx, NSR_KEEP, data, head + padded);
  put32(data, sizeof owner - 2); /* "nsync" and its NUL */
  put32(data + 4, (uint32_t)n);
  put32(data + 8, NOTE_REWRITE);
  memcpy(data + 12, owner, sizeof owner);
  memcpy(data + head, text, n);
  *out = (struct nsr_section){.name = nsr_rewrite_note,
                              .type = SHT_NOTE_TYPE,
                              .align = 4,
                              .data = data,
                              .size = head + padded};
  return NSR_OK;
}
