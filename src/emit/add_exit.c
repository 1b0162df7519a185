/* add_exit.c - appends a barrier and a halt to each stream. */
#include "emit/add_exit.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

struct adder {
  struct nsr_ctx *ctx;
  const struct nsr_program *p;
  int32_t id;
};

static int by_value(const void *a, const void *b) {
  int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return x < y ? -1 : x > y;
}

/* The least id that no barrier has. */
static enum nsr_status choose_id(struct adder *a) {
  NSR_VEC(int32_t) ids = {0};
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    for (uint32_t i = 0; a->p->stream[e] && i < a->p->stream[e]->n; i++)
      if (a->p->nodes[e][i].cls == NSR_BARRIER)
        NSR_PUSH(a->ctx, NSR_SCRATCH, &ids, a->p->nodes[e][i].aux);
  if (ids.n)
    qsort(ids.v, ids.n, sizeof *ids.v, by_value);
  for (size_t i = 0; i < ids.n; i++)
    a->id += ids.v[i] == a->id;
  return NSR_OK;
}

/* A control instruction of an engine, NULL: it has none such. */
static const struct nsr_insn_desc *control(const struct nsr_isa *isa,
                                           int engine, enum nsr_ctl ctl) {
  for (uint16_t i = 0; i < isa->ninsns; i++)
    if (isa->insns[i].cls == NSR_CONTROL && isa->insns[i].ctl == ctl &&
        isa->insns[i].engines >> engine & 1)
      return &isa->insns[i];
  return NULL;
}

static enum nsr_status put(const struct adder *a, int engine,
                           const struct nsr_insn *x, uint8_t *word) {
  char why[160];
  if (nsr_encode(a->p->k->isa, x, word, why, sizeof why))
    return NSR_OK;
  return nsr_fail(a->ctx, NSR_E_REFUSED,
                  (struct nsr_place){.file = a->p->k->path,
                                     .engine = a->p->k->isa->engines[engine],
                                     .insn = -1},
                  "an exit barrier cannot be added: %s", why);
}

/* The barrier at `at` and the halt behind it. */
static enum nsr_status put_end(const struct adder *a, int engine, uint8_t *code,
                               uint32_t at) {
  const struct nsr_isa *isa = a->p->k->isa;
  const struct nsr_insn_desc *halt = control(isa, engine, NSR_CTL_HALT);
  struct nsr_insn x;
  nsr_insn_init(nsr_isa_barrier(isa), &x);
  x.id = a->id;
  NSR_TRY(put(a, engine, &x, code + (size_t)at * isa->word));
  nsr_insn_init(halt, &x);
  return put(a, engine, &x, code + (size_t)(at + 1) * isa->word);
}

/* Halts lead to the barrier at `end`; a wait they have goes with them. */
static enum nsr_status lead_halts(const struct adder *a,
                                  const struct nsr_stream *s, uint8_t *code,
                                  uint32_t end) {
  const struct nsr_isa *isa = a->p->k->isa;
  const struct nsr_node *nodes = a->p->nodes[s->engine];
  for (uint32_t i = 0; i < s->n && i < end; i++) {
    struct nsr_insn x;
    if (nodes[i].ctl != NSR_CTL_HALT)
      continue;
    nsr_insn_init(control(isa, s->engine, NSR_CTL_BR), &x);
    x.wait = nodes[i].wait;
    x.displacement = (int32_t)(end - i);
    NSR_TRY(put(a, s->engine, &x, code + (size_t)i * isa->word));
  }
  return NSR_OK;
}

/* Each new instruction has the line of the last one. */
static enum nsr_status add_lines(const struct adder *a, struct nsr_stream *s,
                                 uint32_t n) {
  struct nsr_line *lines;
  if (!s->lines)
    return NSR_OK;
  NSR_NEW(a->ctx, NSR_KEEP, lines, n);
  memcpy(lines, s->lines, s->n * sizeof *lines);
  for (uint32_t i = s->n; i < n && s->n; i++)
    lines[i] = lines[s->n - 1];
  s->lines = lines;
  return NSR_OK;
}

static enum nsr_status add_to_stream(const struct adder *a,
                                     struct nsr_stream *s) {
  const struct nsr_node *nodes = a->p->nodes[s->engine];
  size_t word = a->p->k->isa->word;
  uint8_t *code;
  /* the last halt can be the barrier itself */
  bool last = s->n && nodes[s->n - 1].ctl == NSR_CTL_HALT &&
              nodes[s->n - 1].wait.cmp == NSR_CMP_NONE;
  uint32_t end = s->n - last, n = end + 2;
  NSR_NEW(a->ctx, NSR_KEEP, code, n * word);
  if (s->n)
    memcpy(code, s->code, s->n * word);
  NSR_TRY(put_end(a, s->engine, code, end));
  NSR_TRY(lead_halts(a, s, code, end));
  NSR_TRY(add_lines(a, s, n));
  s->code = code;
  s->n = n;
  return NSR_OK;
}

enum nsr_status nsr_add_exit(struct nsr_ctx *ctx, const struct nsr_program *p,
                             const struct nsr_kernel **out) {
  struct adder a = {.ctx = ctx, .p = p};
  struct nsr_stream *streams;
  struct nsr_kernel *k;
  NSR_TRY(choose_id(&a));
  NSR_NEW(ctx, NSR_KEEP, k, 1);
  NSR_NEW(ctx, NSR_KEEP, streams, p->k->nstreams);
  *k = *p->k;
  for (uint32_t i = 0; i < k->nstreams; i++) {
    streams[i] = p->k->streams[i];
    NSR_TRY(add_to_stream(&a, &streams[i]));
  }
  k->streams = streams;
  *out = k;
  return NSR_OK;
}
