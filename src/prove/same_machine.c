/* same_machine.c - what two kernels must have in common around their code. */
#include <string.h>

#include "prove/erase.h"

static bool same_text(const char *a, const char *b) {
  return (!a && !b) || (a && b && strcmp(a, b) == 0);
}

static bool same_bytes(const struct nsr_tensor *a, const struct nsr_tensor *b) {
  return a->data_size == b->data_size &&
         (!a->data_size || memcmp(a->data, b->data, a->data_size) == 0);
}

static bool same_tensor(const struct nsr_tensor *a,
                        const struct nsr_tensor *b) {
  return same_text(a->name, b->name) && a->space == b->space &&
         a->dtype == b->dtype && a->role == b->role && a->part == b->part &&
         a->nparts == b->nparts && a->offset == b->offset &&
         a->bytes == b->bytes && a->has_range == b->has_range &&
         (!a->has_range || (a->lo == b->lo && a->hi == b->hi)) &&
         same_bytes(a, b);
}

static bool same_queues(const struct nsr_kernel *a,
                        const struct nsr_kernel *b) {
  if (a->nqueues != b->nqueues)
    return false;
  for (uint32_t q = 0; q < a->nqueues; q++)
    if (a->queues[q].engine != b->queues[q].engine ||
        a->queues[q].order != b->queues[q].order)
      return false;
  return true;
}

static bool same_engines(const struct nsr_kernel *a,
                         const struct nsr_kernel *b) {
  for (int e = 0; e < a->isa->nengines; e++)
    if (!nsr_kernel_stream(a, e) != !nsr_kernel_stream(b, e) ||
        a->pipe_order[e] != b->pipe_order[e])
      return false;
  return true;
}

static bool same_tensors(const struct nsr_kernel *a,
                         const struct nsr_kernel *b) {
  if (a->ntensors != b->ntensors)
    return false;
  for (uint32_t t = 0; t < a->ntensors; t++)
    if (!same_tensor(&a->tensors[t], &b->tensors[t]))
      return false;
  return true;
}

enum nsr_status nsr_prove_shape(struct nsr_ctx *ctx, const struct nsr_kernel *a,
                                const struct nsr_kernel *b,
                                struct nsr_proof *proof) {
  const char *what = NULL;
  if (a->isa != b->isa)
    what = "instruction sets";
  else if (a->owned_first != b->owned_first || a->owned_last != b->owned_last)
    what = "owned semaphores";
  else if (!same_engines(a, b))
    what = "engines";
  else if (!same_queues(a, b))
    what = "queues";
  else if (!same_tensors(a, b))
    what = "tensors";
  if (!what)
    return NSR_OK;
  return nsr_proof_object(ctx, proof, NSR_PROOF_REFUTED, NSR_RULE_SHAPE,
                          "the kernels have different %s", what);
}
