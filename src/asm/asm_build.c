/* asm_build.c - a kernel out of vectors. */
#include "asm/asm_build.h"

#include <string.h>

void nsr_build_isa(struct nsr_build *b, const struct nsr_isa *isa) {
  struct nsr_kernel *k = &b->kernel;
  k->isa = isa;
  for (int e = 0; e < isa->nengines; e++)
    k->pipe_order[e] = isa->pipe_order[e];
  k->owned_first = isa->owned_first;
  k->owned_last = isa->owned_last;
}

enum nsr_status nsr_build_word(struct nsr_build *b, int engine,
                               const uint8_t *word, struct nsr_line line) {
  struct nsr_build_stream *s = &b->streams[engine];
  uint16_t size = b->kernel.isa->word;
  NSR_REGROW(b->ctx, NSR_KEEP, &s->code, size);
  memcpy(s->code.v + s->code.n, word, size);
  s->code.n += size;
  NSR_APPEND(b->ctx, NSR_KEEP, &s->lines, line);
  s->has_lines |= line.line != 0;
  s->n++;
  return NSR_OK;
}

enum nsr_status nsr_build_label(struct nsr_build *b, int engine,
                                const char *name, size_t n) {
  struct nsr_build_stream *s = &b->streams[engine];
  name = nsr_strndup(b->ctx, NSR_KEEP, name, n);
  if (!name)
    return NSR_E_NOMEM;
  NSR_TRY(nsr_map_put(b->ctx, &s->label_map, name, n, s->n));
  NSR_PUSH(b->ctx, NSR_SCRATCH, &s->labels, ((struct nsr_label){name, s->n}));
  return NSR_OK;
}

enum nsr_status nsr_build_tensor(struct nsr_build *b,
                                 const struct nsr_tensor *t) {
  NSR_TRY(nsr_map_put(b->ctx, &b->tensor_map, t->name, strlen(t->name),
                      (uint32_t)b->tensors.n));
  NSR_PUSH(b->ctx, NSR_SCRATCH, &b->tensors, *t);
  return NSR_OK;
}

enum nsr_status nsr_build_new_file(struct nsr_build *b, const char *name,
                                   size_t n, uint32_t *file) {
  name = nsr_strndup(b->ctx, NSR_KEEP, name, n);
  if (!name)
    return NSR_E_NOMEM;
  *file = (uint32_t)b->files.n;
  if (nsr_map_get(&b->file_map, name, n) == NSR_NONE)
    NSR_TRY(nsr_map_put(b->ctx, &b->file_map, name, n, *file));
  NSR_PUSH(b->ctx, NSR_SCRATCH, &b->files, name);
  return NSR_OK;
}

enum nsr_status nsr_build_file(struct nsr_build *b, const char *name, size_t n,
                               uint32_t *file) {
  *file = nsr_map_get(&b->file_map, name, n);
  return *file == NSR_NONE ? nsr_build_new_file(b, name, n, file) : NSR_OK;
}

/* ---- the kernel */

/* to = a copy of vec in what outlives the call. */
#define HAND_OUT(b, vec, to)                                                   \
  do {                                                                         \
    void *copy_ = nsr_alloc_n((b)->ctx, NSR_KEEP, (vec)->n, sizeof *(vec)->v); \
    if (!copy_)                                                                \
      return NSR_E_NOMEM;                                                      \
    if ((vec)->n)                                                              \
      memcpy(copy_, (vec)->v, (vec)->n * sizeof *(vec)->v);                    \
    (to) = copy_;                                                              \
  } while (0)

static enum nsr_status hand_out_stream(struct nsr_build *b, int engine,
                                       struct nsr_stream *out) {
  struct nsr_build_stream *s = &b->streams[engine];
  out->engine = (uint8_t)engine;
  out->n = s->n;
  out->nrelocs = (uint32_t)s->relocs.n;
  out->nlabels = (uint32_t)s->labels.n;
  NSR_VEC_DONE(b->ctx, NSR_KEEP, &s->code, out->code);
  NSR_VEC_DONE(b->ctx, NSR_KEEP, &s->relocs, out->relocs);
  HAND_OUT(b, &s->labels, out->labels);
  if (s->has_lines)
    NSR_VEC_DONE(b->ctx, NSR_KEEP, &s->lines, out->lines);
  return NSR_OK;
}

static enum nsr_status hand_out_sections(struct nsr_build *b,
                                         struct nsr_kernel *k) {
  struct nsr_section *out;
  NSR_NEW(b->ctx, NSR_KEEP, out, b->sections.n);
  for (size_t i = 0; i < b->sections.n; i++) {
    struct nsr_build_section *s = &b->sections.v[i];
    out[i] = s->head;
    if (s->head.type == NSR_BUILD_NOBITS)
      continue;
    HAND_OUT(b, &s->data, out[i].data);
    out[i].size = s->data.n;
  }
  k->sections = out;
  k->nsections = (uint32_t)b->sections.n;
  return NSR_OK;
}

size_t nsr_byte_order_mark(const char *text, size_t n) {
  return n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

enum nsr_status nsr_build_finish(struct nsr_build *b, const char *path,
                                 struct nsr_kernel **out) {
  struct nsr_kernel *k;
  struct nsr_stream *streams;
  NSR_NEW(b->ctx, NSR_KEEP, k, 1);
  NSR_NEW(b->ctx, NSR_KEEP, streams, NSR_MAX_ENGINES);
  *k = b->kernel;
  k->path = nsr_strndup(b->ctx, NSR_KEEP, path, strlen(path));
  if (!k->path)
    return NSR_E_NOMEM;
  for (int e = 0; e < k->isa->nengines; e++)
    if (b->streams[e].present)
      NSR_TRY(hand_out_stream(b, e, &streams[k->nstreams++]));
  k->streams = streams;
  k->nqueues = (uint32_t)b->queues.n;
  k->ntensors = (uint32_t)b->tensors.n;
  k->nfiles = (uint32_t)b->files.n;
  HAND_OUT(b, &b->queues, k->queues);
  HAND_OUT(b, &b->tensors, k->tensors);
  HAND_OUT(b, &b->files, k->files);
  NSR_TRY(hand_out_sections(b, k));
  *out = k;
  return NSR_OK;
}
