/* explain_place.c - nsync-cosim --explain: why a wait is needed. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explain_place.h"

/* A copy of k in which one instruction's wait is another. */
static enum nsr_status with_wait(struct tool *t, const struct nsr_kernel *k,
                                 const struct nsr_stream *s, uint32_t insn,
                                 const struct nsr_wait *wait,
                                 struct nsr_kernel *copy,
                                 struct nsr_stream *streams, uint8_t *code) {
  size_t at = (size_t)insn * k->isa->word;
  memcpy(code, s->code, (size_t)s->n * k->isa->word);
  if (!nsr_word_set_wait(k->isa, code + at, wait))
    return nsr_fail(t->ctx, NSR_E_RANGE, nsr_insn_place(k, s, insn),
                    "the wait cannot be changed");
  *copy = *k;
  memcpy(streams, k->streams, k->nstreams * sizeof *streams);
  streams[s - k->streams].code = code;
  copy->streams = streams;
  return NSR_OK;
}

static enum nsr_status
explain_change(struct tool *t, const struct nsr_judge_options *judge,
               const struct nsr_kernel *k, const struct nsr_stream *stream,
               uint32_t insn, const char *what, const struct nsr_wait *wait) {
  struct nsr_stream streams[NSR_MAX_ENGINES];
  struct nsr_kernel mutant;
  const char *text;
  uint8_t *code = tool_alloc(t, (size_t)stream->n * k->isa->word);
  if (!code)
    return NSR_E_NOMEM;
  enum nsr_status status =
      with_wait(t, k, stream, insn, wait, &mutant, streams, code);
  if (status == NSR_OK)
    status = nsr_explain_wait(t->ctx, k, &mutant, stream->engine, insn, judge,
                              &text);
  if (status == NSR_OK)
    printf("%s: %s", what, text);
  return status;
}

static enum nsr_status parse_place(struct tool *t, const struct nsr_kernel *k,
                                   const char *wait, int *engine,
                                   uint32_t *insn) {
  char name[32];
  unsigned long index;
  char *end;
  const char *colon = strchr(wait, ':');
  size_t n = colon ? (size_t)(colon - wait) : sizeof name;
  if (n < sizeof name) {
    memcpy(name, wait, n);
    name[n] = 0;
    *engine = nsr_isa_engine(k->isa, name);
    errno = 0;
    index = strtoul(colon + 1, &end, 10);
    *insn = (uint32_t)index;
    if (*engine >= 0 && end != colon + 1 && !*end && !errno &&
        index <= UINT32_MAX)
      return NSR_OK;
  }
  return nsr_fail(t->ctx, NSR_E_USAGE, NSR_NOWHERE,
                  "--explain takes ENGINE:INDEX, not '%s'", wait);
}

enum nsr_status explain_wait(struct tool *t,
                             const struct nsr_judge_options *judge,
                             const struct nsr_kernel *k, const char *wait) {
  int engine = -1;
  uint32_t insn = 0;
  NSR_TRY(parse_place(t, k, wait, &engine, &insn));
  const struct nsr_stream *stream = nsr_kernel_stream(k, engine);
  const struct nsr_wait none = {.cmp = NSR_CMP_NONE};
  struct nsr_insn decoded;
  if (!stream || insn >= stream->n)
    return nsr_fail(t->ctx, NSR_E_USAGE, NSR_NOWHERE,
                    "no instruction %s in the second kernel", wait);
  NSR_TRY(nsr_stream_decode(t->ctx, k, stream, insn, &decoded));
  NSR_TRY(explain_change(t, judge, k, stream, insn, "dropped", &none));
  struct nsr_wait lower = decoded.wait;
  if (lower.value.is_reg || lower.value.v == INT32_MIN)
    return NSR_OK;
  lower.value.v--;
  return explain_change(t, judge, k, stream, insn, "lowered by one", &lower);
}
