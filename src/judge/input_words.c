/* input_words.c - what the words of an input are: as text, as numbers, and how
 * far they reach.
 */
#include "base/strbuf.h"
#include "judge/inputs.h"

enum { SHOWN = 48 }; /* words in texts */

void nsr_inputs_reach(const struct nsr_inputs *inputs, size_t i,
                      int64_t *most) {
  const struct nsr_input *in = &inputs->list.v[i];
  uint64_t n = 0, rest = in->a;
  for (uint32_t t = 0; t < inputs->ntensors; t++)
    for (uint64_t w = 0; w < nsr_input_size(inputs, t); w++, n++) {
      int64_t v = nsr_input_word(inputs, in, t, w, n, &rest);
      if (v > most[t])
        most[t] = v;
    }
}

static const char *name_of(const struct nsr_inputs *inputs, uint32_t t) {
  const char *name = inputs->kernel->tensors[inputs->tensors[t]].name;
  return name ? name : "?";
}

enum nsr_status nsr_inputs_text(struct nsr_ctx *ctx,
                                const struct nsr_inputs *inputs, size_t i,
                                const char **text) {
  const struct nsr_input *in = &inputs->list.v[i];
  struct nsr_strbuf b;
  uint64_t n = 0, rest = in->a;
  nsr_strbuf_init(&b, ctx, NSR_KEEP);
  for (uint32_t t = 0; t < inputs->ntensors; t++) {
    uint64_t words = nsr_input_size(inputs, t);
    nsr_strbuf_printf(&b, "%s%s=[", t ? ", " : "", name_of(inputs, t));
    for (uint64_t w = 0; w < words; w++, n++) {
      int64_t v = nsr_input_word(inputs, in, t, w, n, &rest);
      if (w < SHOWN)
        nsr_strbuf_printf(&b, "%s%lld", w ? "," : "", (long long)v);
      else if (w == SHOWN)
        nsr_strbuf_printf(&b, ",.. %llu words, input no. %zu",
                          (unsigned long long)words, i);
    }
    nsr_strbuf_puts(&b, "]");
  }
  return nsr_strbuf_done(&b, text, NULL);
}

enum nsr_status nsr_inputs_words(struct nsr_ctx *ctx,
                                 const struct nsr_inputs *inputs, size_t i,
                                 const struct nsr_input_words **words) {
  const struct nsr_input *in = &inputs->list.v[i];
  struct nsr_input_words *out;
  struct nsr_words *tensors;
  uint64_t n = 0, rest = in->a;
  NSR_NEW(ctx, NSR_KEEP, out, 1);
  NSR_NEW(ctx, NSR_KEEP, tensors, inputs->ntensors);
  for (uint32_t t = 0; t < inputs->ntensors; t++) {
    int64_t *v;
    uint64_t size = nsr_input_size(inputs, t);
    NSR_NEW(ctx, NSR_KEEP, v, size);
    for (uint64_t w = 0; w < size; w++, n++)
      v[w] = nsr_input_word(inputs, in, t, w, n, &rest);
    tensors[t] = (struct nsr_words){name_of(inputs, t), size, v};
  }
  *out = (struct nsr_input_words){inputs->given ? inputs->given->number : i,
                                  inputs->ntensors, tensors};
  *words = out;
  return NSR_OK;
}
