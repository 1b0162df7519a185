/* check_kernel.c - distrust a kernel once: its tables. Needs a kernel from
 * anywhere; makes a promise (kernel.h) that everything behind it relies on.
 * Linear, but for the sorting of names.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "object/check.h"
#include "object/format.h"

#define DRAM_END (UINT64_C(1) << 62)

static struct nsr_place in_file(const struct nsr_kernel *k) {
  return (struct nsr_place){.file = k->path, .insn = -1};
}

/* ---- names */

size_t nsr_utf8_length(const char *text) {
  const uint8_t *s = (const uint8_t *)text;
  size_t n = *s < 0x80 ? 1 : *s < 0xc2 ? 0 : *s < 0xe0 ? 2 : *s < 0xf0 ? 3 : 4;
  if (*s > 0xf4)
    return 0;
  for (size_t i = 1; i < n; i++)
    if ((s[i] & 0xc0) != 0x80)
      return 0;
  bool overlong =
      (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
  bool beyond = s[0] == 0xf4 && s[1] >= 0x90;
  bool surrogate = s[0] == 0xed && s[1] >= 0xa0;
  return overlong || beyond || surrogate ? 0 : n;
}

const char *nsr_name_problem(const char *name) {
  const uint8_t *s = (const uint8_t *)name;
  if (!name || !*name)
    return "is empty";
  while (*s) {
    size_t n = nsr_utf8_length((const char *)s);
    if (n == 0)
      return "is not UTF-8";
    if (*s < 0x20 || *s == 0x7f)
      return "has a control character in it";
    s += n;
  }
  return s - (const uint8_t *)name > NSR_MAX_NAME ? "is too long" : NULL;
}

static enum nsr_status check_name(struct nsr_ctx *ctx,
                                  const struct nsr_kernel *k, const char *what,
                                  uint32_t i, const char *name) {
  const char *problem = nsr_name_problem(name);
  if (problem)
    return nsr_fail(ctx, NSR_E_FORMAT, in_file(k), "the name of %s %u %s", what,
                    i, problem);
  return NSR_OK;
}

static int by_name(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* ---- tables */

static enum nsr_status check_header(struct nsr_ctx *ctx,
                                    const struct nsr_kernel *k) {
  bool unnamed = k->name && !*k->name; /* allowed: nothing refers to it */
  const char *problem = unnamed ? NULL : nsr_name_problem(k->name);
  if (problem)
    return nsr_fail(ctx, NSR_E_FORMAT, in_file(k), "the kernel's name %s",
                    problem);
  if (k->owned_first > k->owned_last || k->owned_last >= k->isa->semaphores)
    return nsr_fail(ctx, NSR_E_FORMAT, in_file(k),
                    "owned semaphores %u..%u: expected a range within 0..%u",
                    k->owned_first, k->owned_last, k->isa->semaphores - 1);
  for (int e = 0; e < k->isa->nengines; e++)
    if ((unsigned)k->pipe_order[e] > NSR_ORDER_FULL)
      return nsr_fail(ctx, NSR_E_FORMAT, in_file(k),
                      "engine %s: its pipeline has no known order",
                      k->isa->engines[e]);
  return NSR_OK;
}

static enum nsr_status check_queue(struct nsr_ctx *ctx,
                                   const struct nsr_kernel *k, uint32_t q) {
  const struct nsr_queue *queue = &k->queues[q];
  NSR_TRY(check_name(ctx, k, "queue", q, queue->name));
  if (queue->engine >= k->isa->nengines ||
      (unsigned)queue->order > NSR_ORDER_FULL)
    return nsr_fail(ctx, NSR_E_FORMAT, in_file(k),
                    "queue %s has no known engine or order", queue->name);
  bool taken = nsr_isa_engine(k->isa, queue->name) >= 0;
  for (uint32_t i = 0; i < q; i++) /* at most NSR_MAX_QUEUES */
    taken |= strcmp(k->queues[i].name, queue->name) == 0;
  if (taken)
    return nsr_fail(ctx, NSR_E_FORMAT, in_file(k),
                    "queue %u is called %s, as another queue or an engine is",
                    q, queue->name);
  return NSR_OK;
}

static enum nsr_status check_queues(struct nsr_ctx *ctx,
                                    const struct nsr_kernel *k) {
  if (k->nqueues > NSR_MAX_QUEUES)
    return nsr_fail(ctx, NSR_E_FORMAT, in_file(k),
                    "%u queues: expected at most %d", k->nqueues,
                    NSR_MAX_QUEUES);
  for (uint32_t q = 0; q < k->nqueues; q++)
    NSR_TRY(check_queue(ctx, k, q));
  return NSR_OK;
}

static enum nsr_status check_files(struct nsr_ctx *ctx,
                                   const struct nsr_kernel *k) {
  for (uint32_t i = 0; i < k->nfiles; i++)
    NSR_TRY(check_name(ctx, k, "source file", i, k->files[i]));
  return NSR_OK;
}

static enum nsr_status check_sections(struct nsr_ctx *ctx,
                                      const struct nsr_kernel *k) {
  for (uint32_t i = 0; i < k->nsections; i++) {
    const struct nsr_section *s = &k->sections[i];
    NSR_TRY(check_name(ctx, k, "carried section", i, s->name));
    const char *problem = nsr_section_problem(k->isa, s);
    if (problem)
      return nsr_fail(ctx, NSR_E_REFUSED, in_file(k),
                      "section %s cannot be carried along: %s", s->name,
                      problem);
  }
  return NSR_OK;
}

/* ---- tensors */

NSR_PRINTF(4, 5)
static enum nsr_status tensor_fail(struct nsr_ctx *ctx,
                                   const struct nsr_kernel *k,
                                   const struct nsr_tensor *t, const char *fmt,
                                   ...) {
  char what[160];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(what, sizeof what, fmt, ap);
  va_end(ap);
  return nsr_fail(ctx, NSR_E_FORMAT, in_file(k), "tensor %s: %s", t->name,
                  what);
}

static enum nsr_status check_dram(struct nsr_ctx *ctx,
                                  const struct nsr_kernel *k,
                                  const struct nsr_tensor *t) {
  if (t->part || t->nparts)
    return tensor_fail(ctx, k, t, "partitions are given, but DRAM has none");
  if (t->offset > DRAM_END || t->bytes > DRAM_END - t->offset)
    return tensor_fail(
        ctx, k, t, "bytes %#llx + %#llx: expected an end up to 2^62",
        (unsigned long long)t->offset, (unsigned long long)t->bytes);
  if (t->data ? t->data_size > t->bytes : t->data_size != 0)
    return tensor_fail(
        ctx, k, t, "%llu bytes of contents: expected at most %llu",
        (unsigned long long)t->data_size, (unsigned long long)t->bytes);
  return NSR_OK;
}

static enum nsr_status check_on_chip(struct nsr_ctx *ctx,
                                     const struct nsr_kernel *k,
                                     const struct nsr_tensor *t) {
  uint64_t room =
      t->space == NSR_SBUF ? k->isa->sbuf_bytes : k->isa->psum_bytes;
  if (t->nparts == 0 || t->part + t->nparts > k->isa->partitions)
    return tensor_fail(ctx, k, t,
                       "partitions %u + %u: expected at least one within "
                       "0..%u",
                       t->part, t->nparts, k->isa->partitions - 1);
  if (t->offset > room || t->bytes > room - t->offset)
    return tensor_fail(
        ctx, k, t, "bytes %llu + %llu in each partition: %s has %llu",
        (unsigned long long)t->offset, (unsigned long long)t->bytes,
        nsr_space_name((enum nsr_space)t->space), (unsigned long long)room);
  if (t->data || t->data_size)
    return tensor_fail(ctx, k, t, "contents are given, but only DRAM has them");
  return NSR_OK;
}

/* The placement may be larger than the shape, never smaller. */
static bool shape_fits(const struct nsr_tensor *t) {
  uint64_t bytes = nsr_dtype_bytes((enum nsr_dtype)t->dtype);
  uint64_t room = t->space == NSR_DRAM ? t->bytes : t->bytes * t->nparts;
  for (int i = 0; i < t->nshape; i++)
    if (t->shape[i] == 0)
      return true;
  for (int i = 0; i < t->nshape; i++)
    if (__builtin_mul_overflow(bytes, (uint64_t)t->shape[i], &bytes))
      return false;
  return bytes <= room;
}

static bool is_integer(uint8_t dtype) {
  return dtype >= NSR_I32 && dtype <= NSR_U8;
}

static enum nsr_status check_tensor(struct nsr_ctx *ctx,
                                    const struct nsr_kernel *k, uint32_t i) {
  const struct nsr_tensor *t = &k->tensors[i];
  NSR_TRY(check_name(ctx, k, "tensor", i, t->name));
  if (t->space > NSR_PSUM || t->dtype > NSR_U8 ||
      t->role > NSR_TENSOR_SCRATCH || t->nshape > NSR_MAX_SHAPE)
    return tensor_fail(ctx, k, t, "no known space, dtype, role or shape");
  NSR_TRY(t->space == NSR_DRAM ? check_dram(ctx, k, t)
                               : check_on_chip(ctx, k, t));
  if (!shape_fits(t))
    return tensor_fail(ctx, k, t,
                       "its shape needs more than the %llu bytes it has%s",
                       (unsigned long long)t->bytes,
                       t->space == NSR_DRAM ? "" : " in each partition");
  if (t->has_range && t->lo > t->hi)
    return tensor_fail(ctx, k, t, "range %d..%d is empty", t->lo, t->hi);
  if (t->has_range && !is_integer(t->dtype))
    return tensor_fail(ctx, k, t, "a range of values needs an integer dtype");
  return NSR_OK;
}

static enum nsr_status check_tensors(struct nsr_ctx *ctx,
                                     const struct nsr_kernel *k) {
  const char **names;
  for (uint32_t i = 0; i < k->ntensors; i++)
    NSR_TRY(check_tensor(ctx, k, i));
  NSR_NEW(ctx, NSR_SCRATCH, names, k->ntensors);
  for (uint32_t i = 0; i < k->ntensors; i++)
    names[i] = k->tensors[i].name;
  qsort(names, k->ntensors, sizeof *names, by_name);
  for (uint32_t i = 1; i < k->ntensors; i++)
    if (strcmp(names[i - 1], names[i]) == 0)
      return nsr_fail(ctx, NSR_E_FORMAT, in_file(k),
                      "two tensors are called %s", names[i]);
  return NSR_OK;
}

static enum nsr_status check_streams(struct nsr_ctx *ctx,
                                     const struct nsr_kernel *k) {
  if (k->nstreams == 0)
    return nsr_fail(ctx, NSR_E_FORMAT, in_file(k),
                    "no engine has any instructions");
  for (uint32_t i = 0; i < k->nstreams; i++)
    if (k->streams[i].engine >= k->isa->nengines ||
        (i > 0 && k->streams[i].engine <= k->streams[i - 1].engine))
      return nsr_fail(ctx, NSR_E_FORMAT, in_file(k),
                      "streams are not one per engine, in the order of the "
                      "instruction set");
  for (uint32_t i = 0; i < k->nstreams; i++)
    NSR_TRY(nsr_check_stream(ctx, k, &k->streams[i]));
  return NSR_OK;
}

static enum nsr_status check_all(struct nsr_ctx *ctx,
                                 const struct nsr_kernel *k) {
  NSR_TRY(check_header(ctx, k));
  NSR_TRY(check_queues(ctx, k));
  NSR_TRY(check_files(ctx, k));
  NSR_TRY(check_sections(ctx, k));
  NSR_TRY(check_tensors(ctx, k));
  return check_streams(ctx, k);
}

enum nsr_status nsr_kernel_check(struct nsr_ctx *ctx,
                                 const struct nsr_kernel *k) {
  struct nsr_mark mark = nsr_scratch_mark(ctx);
  enum nsr_status status = check_all(ctx, k);
  nsr_scratch_release(ctx, mark);
  return status;
}
