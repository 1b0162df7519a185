/* judge_shape.c - whether two kernels can be compared at all: same engines,
 * queues, orders, owned semaphores and tensors.
 */
#include "judge/cosim.h"

#include <string.h>

static bool same_text(const char *a, const char *b) {
  return (!a && !b) || (a && b && strcmp(a, b) == 0);
}

static bool same_tensor(const struct nsr_tensor *a,
                        const struct nsr_tensor *b) {
  if (!same_text(a->name, b->name) || a->space != b->space ||
      a->dtype != b->dtype || a->role != b->role || a->nshape != b->nshape ||
      a->part != b->part || a->nparts != b->nparts || a->offset != b->offset ||
      a->bytes != b->bytes || a->has_range != b->has_range ||
      a->data_size != b->data_size)
    return false;
  if (a->has_range && (a->lo != b->lo || a->hi != b->hi))
    return false;
  for (int d = 0; d < a->nshape; d++)
    if (a->shape[d] != b->shape[d])
      return false;
  return !a->data_size || a->data == b->data ||
         memcmp(a->data, b->data, a->data_size) == 0;
}

static const char *engines_differ(struct nsr_ctx *ctx,
                                  const struct nsr_kernel *a,
                                  const struct nsr_kernel *b) {
  for (int e = 0; e < a->isa->nengines; e++) {
    bool in_a = nsr_kernel_stream(a, e) != NULL;
    bool in_b = nsr_kernel_stream(b, e) != NULL;
    if (in_a != in_b)
      return nsr_printf(ctx, NSR_KEEP, "engine %s is in one kernel only",
                        a->isa->engines[e]);
    if (a->pipe_order[e] != b->pipe_order[e])
      return nsr_printf(ctx, NSR_KEEP, "the order of engine %s differs",
                        a->isa->engines[e]);
  }
  return NULL;
}

static const char *queues_differ(struct nsr_ctx *ctx,
                                 const struct nsr_kernel *a,
                                 const struct nsr_kernel *b) {
  if (a->nqueues != b->nqueues)
    return nsr_printf(ctx, NSR_KEEP, "%u queues against %u",
                      (unsigned)a->nqueues, (unsigned)b->nqueues);
  for (uint32_t q = 0; q < a->nqueues; q++)
    if (!same_text(a->queues[q].name, b->queues[q].name) ||
        a->queues[q].engine != b->queues[q].engine ||
        a->queues[q].order != b->queues[q].order)
      return nsr_printf(ctx, NSR_KEEP, "queue %u (%s) differs", (unsigned)q,
                        a->queues[q].name ? a->queues[q].name : "?");
  return NULL;
}

static const char *tensors_differ(struct nsr_ctx *ctx,
                                  const struct nsr_kernel *a,
                                  const struct nsr_kernel *b) {
  if (a->ntensors != b->ntensors)
    return nsr_printf(ctx, NSR_KEEP, "%u tensors against %u",
                      (unsigned)a->ntensors, (unsigned)b->ntensors);
  for (uint32_t t = 0; t < a->ntensors; t++)
    if (!same_tensor(&a->tensors[t], &b->tensors[t]))
      return nsr_printf(ctx, NSR_KEEP, "tensor %u (%s) differs", (unsigned)t,
                        a->tensors[t].name ? a->tensors[t].name : "?");
  return NULL;
}

const char *nsr_judge_shape(struct nsr_ctx *ctx, const struct nsr_kernel *a,
                            const struct nsr_kernel *b) {
  if (a->isa != b->isa)
    return "the kernels have different instruction sets";
  if (a->owned_first != b->owned_first || a->owned_last != b->owned_last)
    return "the kernels own different semaphores";
  const char *why = engines_differ(ctx, a, b);
  if (!why)
    why = queues_differ(ctx, a, b);
  if (!why)
    why = tensors_differ(ctx, a, b);
  return why;
}
