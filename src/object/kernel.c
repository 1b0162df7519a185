/* kernel.c - looking things up in a kernel. */
#include <nsr/kernel.h>

#include "base/work.h"

const char *nsr_channel_name(const struct nsr_kernel *k, int channel) {
  int n = k->isa->nengines;
  return channel < n ? k->isa->engines[channel] : k->queues[channel - n].name;
}

const struct nsr_stream *nsr_kernel_stream(const struct nsr_kernel *k,
                                           int engine) {
  for (uint32_t i = 0; i < k->nstreams; i++)
    if (k->streams[i].engine == engine)
      return &k->streams[i];
  return NULL;
}

/* The first reloc at or behind insn. */
static uint32_t lower_bound(const struct nsr_stream *s, uint64_t insn) {
  uint32_t low = 0, high = s->nrelocs;
  while (low < high) {
    uint32_t mid = low + (high - low) / 2;
    if (s->relocs[mid].insn < insn)
      low = mid + 1;
    else
      high = mid;
  }
  return low;
}

const struct nsr_reloc *nsr_stream_relocs(const struct nsr_stream *s,
                                          uint32_t insn, uint32_t *n) {
  uint32_t first = lower_bound(s, insn);
  uint32_t end = first;
  while (end < s->nrelocs && s->relocs[end].insn == insn)
    end++;
  *n = end - first;
  return *n ? &s->relocs[first] : NULL;
}

uint32_t nsr_operand_tensor(const struct nsr_stream *s, uint32_t insn,
                            int operand) {
  uint32_t n;
  const struct nsr_reloc *r = nsr_stream_relocs(s, insn, &n);
  for (uint32_t i = 0; i < n; i++)
    if (r[i].kind == NSR_RELOC_TENSOR && r[i].operand == operand)
      return r[i].target;
  return NSR_NONE;
}

const struct nsr_label *nsr_stream_label(const struct nsr_stream *s,
                                         uint32_t insn) {
  uint32_t low = 0, high = s->nlabels;
  while (low < high) {
    uint32_t mid = low + (high - low) / 2;
    if (s->labels[mid].insn <= insn)
      low = mid + 1;
    else
      high = mid;
  }
  return low ? &s->labels[low - 1] : NULL;
}

struct nsr_place nsr_insn_place(const struct nsr_kernel *k,
                                const struct nsr_stream *s, uint32_t insn) {
  struct nsr_place place = {
      .file = k->path, .engine = k->isa->engines[s->engine], .insn = insn};
  const struct nsr_label *label = nsr_stream_label(s, insn);
  if (label)
    place.label = label->name;
  if (s->lines && insn < s->n && s->lines[insn].line &&
      s->lines[insn].file < k->nfiles) {
    place.source_file = k->files[s->lines[insn].file];
    place.source_line = s->lines[insn].line;
  }
  return place;
}

enum nsr_status nsr_stream_decode(struct nsr_ctx *ctx,
                                  const struct nsr_kernel *k,
                                  const struct nsr_stream *s, uint32_t i,
                                  struct nsr_insn *insn) {
  nsr_work_count(ctx, NSR_WORK_DECODE, 1);
  const char *why =
      nsr_decode(k->isa, s->engine, nsr_stream_word(k, s, i), insn);
  if (why)
    return nsr_fail(ctx, NSR_E_FORMAT, nsr_insn_place(k, s, i),
                    "illegal instruction: %s", why);
  return NSR_OK;
}
