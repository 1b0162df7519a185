/* inputs.h - which inputs a judge tries: contents of the control tensors
 * (inputs in DRAM with a declared range), deterministic by seed.
 */
#ifndef NSR_JUDGE_INPUTS_H
#define NSR_JUDGE_INPUTS_H

#include <nsr/judge.h>

#include "base/vec.h"
#include "sim/opaque.h"

enum nsr_input_kind {
  NSR_INPUT_FILE,  /* what the file holds, 2 elsewhere */
  NSR_INPUT_GIVEN, /* what somebody asks for; so the file where nobody does */
  NSR_INPUT_NTH,   /* number `a` of all vectors of small values */
  NSR_INPUT_ANY,   /* number `a` of all vectors */
  NSR_INPUT_EQUAL, /* lo + a everywhere */
  NSR_INPUT_ONE,   /* lo + a in word `word`, lo + b elsewhere */
  NSR_INPUT_SMALL, /* random small values */
  NSR_INPUT_WIDE   /* random, lo .. lo + a */
};

struct nsr_input {
  enum nsr_input_kind kind;
  bool optional;   /* large: left out if it takes too long, */
  uint32_t series; /* and with it those behind it in its series; 0: none */
  uint64_t a, b, word, seed;
};

struct nsr_inputs {
  const struct nsr_kernel *kernel;
  uint32_t ntensors;
  uint32_t *tensors; /* the control tensors */
  uint64_t nwords;
  int64_t small; /* trip counts up to here are tried together */
  const struct nsr_input_words *given; /* NSR_INPUT_GIVEN */
  NSR_VEC(struct nsr_input) list;
};

/* At most `limit` (> 0) inputs, `all`: as many while there are any; exactly
 * one where nothing is controlled. */
NSR_MUST_USE enum nsr_status
nsr_inputs_new(struct nsr_ctx *ctx, enum nsr_arena_id arena,
               const struct nsr_kernel *k, uint32_t limit, bool all,
               uint64_t seed, struct nsr_inputs *inputs);
/* The one input that is asked for. A tensor that the kernel does not have, or
 * words out of its range, are NSR_E_USAGE. */
NSR_MUST_USE enum nsr_status nsr_inputs_given(
    struct nsr_ctx *ctx, enum nsr_arena_id arena, const struct nsr_kernel *k,
    const struct nsr_input_words *given, struct nsr_inputs *inputs);
/* Contents of the control tensors for input i: ntensors of them. */
NSR_MUST_USE enum nsr_status
nsr_inputs_contents(struct nsr_ctx *ctx, enum nsr_arena_id arena,
                    const struct nsr_inputs *inputs, size_t i,
                    const struct nsr_contents **contents);
/* Word i of the tensor-th control tensor, number n of all; *rest, which is the
 * input's `a` at first, goes from word to word. */
int64_t nsr_input_word(const struct nsr_inputs *inputs,
                       const struct nsr_input *in, uint32_t tensor, uint64_t i,
                       uint64_t n, uint64_t *rest);
/* How many words a control tensor has. */
uint64_t nsr_input_size(const struct nsr_inputs *inputs, uint32_t tensor);
/* Raises most[0..ntensors) to the largest words of input i. */
void nsr_inputs_reach(const struct nsr_inputs *inputs, size_t i, int64_t *most);
/* The ranges that facts give, if they do, to control tensors and to what a
 * kernel loads from are used. */
void nsr_inputs_use_ranges(const struct nsr_inputs *inputs,
                           const struct nsr_image *image,
                           const struct nsr_facts_file *facts);
/* "rows=[3], table=[0,1,..]" */
NSR_MUST_USE enum nsr_status nsr_inputs_text(struct nsr_ctx *ctx,
                                             const struct nsr_inputs *inputs,
                                             size_t i, const char **text);
/* All words of it, in ctx's keep arena. */
NSR_MUST_USE enum nsr_status
nsr_inputs_words(struct nsr_ctx *ctx, const struct nsr_inputs *inputs, size_t i,
                 const struct nsr_input_words **words);
#endif
