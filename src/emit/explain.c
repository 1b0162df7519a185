/* explain.c - the note a rewritten kernel carries, one line of text a note. */
#include <string.h>

#include <xxhash.h>

#include "emit/weave.h"
#include "ir/keeps.h"
#include "object/note.h"

const char nsr_rewrite_note[] = NSR_REWRITE_NOTE;

enum { SHT_NOTE_TYPE = 7 };

static enum nsr_status hash_text(struct nsr_ctx *ctx, const char *what,
                                 XXH128_hash_t hash, const char **out) {
  XXH128_canonical_t h;
  struct nsr_strbuf line;
  XXH128_canonicalFromHash(&h, hash);
  nsr_strbuf_init(&line, ctx, NSR_SCRATCH);
  nsr_strbuf_printf(&line, "%s xxh3-128 ", what);
  for (size_t i = 0; i < sizeof h.digest; i++)
    nsr_strbuf_printf(&line, "%02x", h.digest[i]);
  return nsr_strbuf_done(&line, out, NULL);
}

/* Of the options, and the code of all streams, by engine. */
static enum nsr_status
code_text(struct nsr_ctx *ctx, const struct nsr_kernel *k, const char *options,
          const struct nsr_stream *const streams[], const char **out) {
  XXH128_hash_t h = XXH3_128bits(options, strlen(options));
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    if (streams[e] && streams[e]->n)
      h = XXH3_128bits_withSeed(streams[e]->code,
                                (size_t)streams[e]->n * k->isa->word,
                                h.low64 ^ (h.high64 * 31 + (uint64_t)e));
  return hash_text(ctx, "output", h, out);
}

enum nsr_status nsr_weave_done(struct nsr_ctx *ctx, const struct nsr_program *p,
                               const char *options, bool *done) {
  const char *want, *line;
  *done = false;
  NSR_TRY(code_text(ctx, p->k, options, p->stream, &want));
  for (uint32_t i = 0; i < p->k->nsections; i++) {
    const struct nsr_section *s = &p->k->sections[i];
    struct nsr_in in = {.p = s->data, .left = s->size};
    if (strcmp(s->name, nsr_rewrite_note) == 0)
      while ((line = nsr_note_next(&in)) != NULL)
        *done |= strcmp(line, want) == 0;
  }
  return NSR_OK;
}

/* "act[12]" */
static void put_insn(struct nsr_strbuf *b, const struct nsr_tree *t, int engine,
                     uint32_t insn) {
  nsr_strbuf_puts(b, t->program->k->isa->engines[engine]);
  nsr_strbuf_puts(b, "[");
  nsr_strbuf_decimal(b, insn);
  nsr_strbuf_puts(b, "]");
}

/* There are many: no printf, and one `line` for all. */
static enum nsr_status put_wait(struct nsr_strbuf *b, struct nsr_strbuf *line,
                                const struct nsr_plan *plan,
                                const struct nsr_woven *woven, uint32_t i) {
  const struct nsr_plan_wait *w = &plan->waits[i];
  const struct nsr_tree *t = plan->tree;
  const char *text;
  line->n = 0;
  put_insn(line, t, t->works[w->c].engine, woven->wait_at[i]);
  nsr_strbuf_puts(line, " waits on semaphore ");
  nsr_strbuf_decimal(line, w->sem);
  nsr_strbuf_puts(line, " for ");
  put_insn(line, t, t->works[w->p].engine, woven->work_at[w->p]);
  if (w->lag)
    nsr_strbuf_printf(line, ", %u execution%s back", w->lag,
                      w->lag == 1 ? "" : "s");
  bool front =
      w->at != NSR_NONE && nsr_common_in(t, t->works[w->p].scope, w->at);
  if (w->back == NSR_AT_ENTRY)
    nsr_strbuf_printf(line, ", before loop %u was entered", w->of);
  else if (w->back)
    nsr_strbuf_printf(line, ", %u iteration%s of loop %u back", w->back,
                      w->back == 1 ? "" : "s", w->of);
  else if (w->p >= w->c || front)
    nsr_strbuf_puts(line, ", of an earlier iteration");
  NSR_TRY(nsr_strbuf_done(line, &text, NULL));
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
  if (part->keep != NSR_KEEP_ISLAND) {
    text = nsr_printf(b->ctx, NSR_SCRATCH, "%s[%u] stays: %s", engines[e],
                      woven->part_at[p], nsr_keep_text(part->keep));
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
  struct nsr_strbuf b, buffer;
  const struct nsr_stream *streams[NSR_MAX_ENGINES];
  const char *data, *line;
  size_t n;
  nsr_strbuf_init(&b, ctx, NSR_KEEP);
  nsr_strbuf_init(&buffer, ctx, NSR_SCRATCH);
  nsr_note_put(&b, "nsync-rewrite " NSR_VERSION);
  if (options[0])
    nsr_note_put(&b, options);
  if (input) {
    NSR_TRY(hash_text(ctx, "input", XXH3_128bits(input, size), &line));
    nsr_note_put(&b, line);
  }
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    streams[e] = &woven->streams[e];
  NSR_TRY(code_text(ctx, plan->tree->program->k, options, streams, &line));
  nsr_note_put(&b, line);
  for (uint32_t i = 0; i < plan->nwaits; i++)
    NSR_TRY(put_wait(&b, &buffer, plan, woven, i));
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
