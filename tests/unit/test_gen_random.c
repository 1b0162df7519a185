/* test_gen_random.c - random kernels have the size asked for and the shape of
 * real ones at every size: short loops, and buffers that few use.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include <nsr/gen.h>

#include "base/arena.h"
#include "base/work.h"
#include "prng.h"

static struct nsr_kernel *make(struct nsr_ctx *ctx, const struct nsr_isa *isa,
                               int64_t seed, int64_t instructions,
                               int64_t depth) {
  struct nsr_setting settings[] = {
      {"seed", seed}, {"instructions", instructions}, {"depth", depth}};
  struct nsr_gen_options options = {
      .isa = isa, .nsettings = 3, .settings = settings};
  struct nsr_kernel *k;
  assert_int_equal(nsr_gen(ctx, "random", &options, &k), NSR_OK);
  assert_int_equal(nsr_kernel_check(ctx, k), NSR_OK);
  return k;
}

static uint64_t size(const struct nsr_kernel *k) {
  uint64_t n = 0;
  for (uint32_t i = 0; i < k->nstreams; i++)
    n += k->streams[i].n;
  return n;
}

static void exact_sizes(const struct nsr_isa *isa, struct prng *r) {
  for (int64_t n = 2 * isa->nengines; n < 4000; n += n < 120 ? 1 : 97) {
    struct nsr_ctx *ctx = nsr_ctx_new();
    int64_t seed = prng_in(r, 0, INT32_MAX);
    const struct nsr_kernel *k = make(ctx, isa, seed, n, prng_in(r, 0, 4));
    if (size(k) != (uint64_t)n)
      fail_msg("%s, seed %lld: %llu instructions, not %lld", isa->name,
               (long long)seed, (unsigned long long)size(k), (long long)n);
    nsr_ctx_free(ctx);
  }
}

static void exact_size(void **state) {
  (void)state;
  struct prng r = prng_seed("exact size", 1);
  for (int i = 0; nsr_isas[i]; i++)
    exact_sizes(nsr_isas[i], &r);
}

/* ---- shape */

struct shape {
  uint32_t loops, longest; /* backward branches, and the farthest */
  uint32_t uses;           /* of the tensor that most operands name */
  uint64_t work, bytes;
};

static void look_at(struct nsr_ctx *ctx, const struct nsr_kernel *k,
                    struct shape *shape) {
  uint32_t *uses = calloc(k->ntensors, sizeof *uses);
  assert_non_null(uses);
  for (uint32_t i = 0; i < k->nstreams; i++) {
    const struct nsr_stream *s = &k->streams[i];
    struct nsr_insn insn;
    for (uint32_t at = 0; at < s->nrelocs; at++)
      if (s->relocs[at].kind == NSR_RELOC_TENSOR)
        uses[s->relocs[at].target]++;
    for (uint32_t at = 0; at < s->n; at++) {
      assert_int_equal(nsr_stream_decode(ctx, k, s, at, &insn), NSR_OK);
      bool back = insn.desc->ctl == NSR_CTL_BR &&
                  insn.desc->cls == NSR_CONTROL && insn.displacement < 0;
      shape->loops += back;
      if (back && (uint32_t)-insn.displacement > shape->longest)
        shape->longest = (uint32_t)-insn.displacement;
    }
  }
  for (uint32_t t = 0; t < k->ntensors; t++)
    if (uses[t] > shape->uses)
      shape->uses = uses[t];
  free(uses);
}

static struct shape shape_of(const struct nsr_isa *isa, int64_t instructions,
                             int64_t depth) {
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct shape shape = {0};
  const struct nsr_kernel *k = make(ctx, isa, 5, instructions, depth);
  shape.work = nsr_work(ctx, NSR_WORK_GEN);
  shape.bytes = nsr_work(ctx, NSR_WORK_BYTES);
  look_at(ctx, k, &shape);
  nsr_ctx_free(ctx);
  return shape;
}

/* Ten times as many instructions: ten times as many loops, none of them
 * longer, no tensor used by more, and ten times the work to make them. */
static void grow(const struct nsr_isa *isa, int64_t depth) {
  struct shape a = shape_of(isa, 20000, depth);
  struct shape b = shape_of(isa, 200000, depth);
  assert_in_range(b.loops, a.loops * 8, a.loops * 12);
  assert_in_range(a.longest, 4, 1000);
  assert_in_range(b.longest, 4, 1000);
  assert_in_range(a.uses, 20, 400);
  assert_in_range(b.uses, 20, 400);
  assert_in_range(b.work, a.work * 8, a.work * 12);
  assert_in_range(b.bytes, a.bytes * 5, a.bytes * 20);
}

static void grows(void **state) {
  (void)state;
  for (int depth = 0; depth <= 4; depth += 4)
    grow(nsr_isas[0], depth);
}

/* ---- places */

/* The first and the last byte, counted through spaces and partitions. */
struct span {
  uint64_t first, last;
};

static struct span span(const struct nsr_tensor *t) {
  uint64_t base = (uint64_t)t->space << 48 | (uint64_t)t->part << 32;
  return (struct span){base + t->offset, base + t->offset + t->bytes - 1};
}

static int by_first(const void *a, const void *b) {
  const struct span *x = a, *y = b;
  return (x->first > y->first) - (x->first < y->first);
}

/* Tensors are apart as long as memory lasts; on chip they begin in every
 * fourth partition and have four. */
static void apart(void **state) {
  (void)state;
  struct nsr_ctx *ctx = nsr_ctx_new();
  const struct nsr_kernel *k =
      make(ctx, nsr_isa_by_name("tile64"), 9, 300000, 4);
  struct span *spans = calloc(k->ntensors, sizeof *spans);
  uint32_t high = 0;
  assert_non_null(spans);
  for (uint32_t i = 0; i < k->ntensors; i++) {
    const struct nsr_tensor *t = &k->tensors[i];
    assert_true(t->space == NSR_DRAM || (t->part % 4 == 0 && t->nparts == 4));
    high += t->part >= 64;
    spans[i] = span(t);
  }
  qsort(spans, k->ntensors, sizeof *spans, by_first);
  for (uint32_t i = 1; i < k->ntensors; i++)
    assert_true(spans[i - 1].last < spans[i].first);
  assert_true(high > k->ntensors / 4);
  free(spans);
  nsr_ctx_free(ctx);
}

/* The n-th allocation fails: reported as such, for every n. */
static void out_of_memory(void **state) {
  (void)state;
  for (uint64_t nth = 1;; nth++) {
    struct nsr_ctx *ctx = nsr_ctx_new();
    struct nsr_gen_options options = {.real_size = false};
    struct nsr_kernel *k;
    nsr_ctx_fail_alloc(ctx, nth);
    enum nsr_status status = nsr_gen(ctx, "random", &options, &k);
    nsr_ctx_free(ctx);
    if (status == NSR_OK)
      break;
    assert_int_equal(status, NSR_E_NOMEM);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(exact_size), cmocka_unit_test(grows),
      cmocka_unit_test(apart), cmocka_unit_test(out_of_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
