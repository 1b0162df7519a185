/* suite_case.h - for tests of the suite: makes a kernel, compares one of its
 * tensors after a numeric run, rewrites it, holds its manual form against it.
 */
#ifndef SUITE_CASE_H
#define SUITE_CASE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <nsr/gen.h>
#include <nsr/judge.h>
#include <nsr/rewrite.h>

static void print_diag(void *user, const struct nsr_diag *diag) {
  (void)user;
  char line[512];
  nsr_diag_format(diag, line, sizeof line);
  print_message("%s\n", line);
}

static struct nsr_ctx *new_ctx(void) {
  struct nsr_ctx *ctx = nsr_ctx_new();
  assert_non_null(ctx);
  nsr_ctx_on_diag(ctx, print_diag, NULL);
  return ctx;
}

static struct nsr_kernel *make_form(struct nsr_ctx *ctx,
                                    const struct nsr_isa *isa, const char *name,
                                    const struct nsr_setting *settings,
                                    uint32_t n, bool manual) {
  struct nsr_gen_options options = {
      .isa = isa, .manual = manual, .nsettings = n, .settings = settings};
  struct nsr_kernel *k;
  assert_int_equal(nsr_gen(ctx, name, &options, &k), NSR_OK);
  assert_int_equal(nsr_kernel_check(ctx, k), NSR_OK);
  assert_ptr_equal(k->isa, isa);
  return k;
}

static struct nsr_kernel *make(struct nsr_ctx *ctx, const struct nsr_isa *isa,
                               const char *name,
                               const struct nsr_setting *settings, uint32_t n) {
  return make_form(ctx, isa, name, settings, n, false);
}

static const struct nsr_tensor *tensor(const struct nsr_kernel *k,
                                       const char *name) {
  for (uint32_t i = 0; i < k->ntensors; i++)
    if (!strcmp(k->tensors[i].name, name))
      return &k->tensors[i];
  fail_msg("no tensor %s", name);
  return NULL;
}

/* Words of a tensor's initial contents. */
static void contents(const struct nsr_kernel *k, const char *name, void *out,
                     size_t bytes) {
  const struct nsr_tensor *t = tensor(k, name);
  assert_true(t->data_size >= bytes);
  if (bytes)
    memcpy(out, t->data, bytes);
}

static void expect(struct nsr_ctx *ctx, const struct nsr_kernel *k,
                   const char *name, const void *want, size_t bytes) {
  const uint8_t *data;
  size_t size;
  assert_int_equal(nsr_run_numeric(ctx, k, name, &data, &size), NSR_OK);
  assert_true(size >= bytes);
  if (bytes)
    assert_memory_equal(data, want, bytes);
}

static void rewrite(struct nsr_ctx *ctx, const struct nsr_kernel *k,
                    struct nsr_kernel **free_of_barriers) {
  struct nsr_rewrite_options options = {.verify = NSR_VERIFY_COSIM,
                                        .judge = {.inputs = 6}};
  struct nsr_rewrite_report report;
  assert_int_equal(
      nsr_rewrite(ctx, k, NULL, 0, &options, free_of_barriers, &report),
      NSR_OK);
  assert_true(report.changed && report.judged);
  assert_int_equal(report.judgement.verdict, NSR_EQUAL);
  for (int e = 0; e < NSR_MAX_ENGINES; e++) {
    const struct nsr_engine_report *r = &report.engines[e];
    if (!r->engine)
      continue;
    assert_true(r->barriers_before > 1);
    assert_int_equal(r->barriers_after, 1);
  }
}

static void expect_rewritten(struct nsr_ctx *ctx, const struct nsr_kernel *k,
                             const char *name, const void *want, size_t bytes) {
  struct nsr_kernel *free_of_barriers;
  rewrite(ctx, k, &free_of_barriers);
  expect(ctx, free_of_barriers, name, want, bytes);
}

/* Written by hand it does the same, with one barrier. */
static struct nsr_kernel *by_hand(struct nsr_ctx *ctx,
                                  const struct nsr_kernel *k, const char *name,
                                  const struct nsr_setting *settings,
                                  uint32_t n) {
  struct nsr_kernel *m = make_form(ctx, k->isa, name, settings, n, true);
  struct nsr_judge_options options = {.inputs = 6};
  struct nsr_judgement judgement;
  assert_int_equal(nsr_cosimulate(ctx, k, m, &options, &judgement), NSR_OK);
  assert_int_equal(judgement.verdict, NSR_EQUAL);
  for (int e = 0; e < NSR_MAX_ENGINES; e++) {
    unsigned barriers = 0;
    for (uint32_t i = 0; m->streams[e].n && i < m->streams[e].n; i++) {
      struct nsr_insn x;
      assert_int_equal(nsr_stream_decode(ctx, m, &m->streams[e], i, &x),
                       NSR_OK);
      barriers += x.desc->cls == NSR_BARRIER;
    }
    assert_true(barriers <= 1);
  }
  return m;
}

/* A bf16 matrix of the kernel's contents, at least one element. */
static float *matrix(const struct nsr_kernel *k, const char *name, size_t n) {
  uint16_t *raw = calloc(n + 1, sizeof *raw);
  float *out = calloc(n + 1, sizeof *out);
  assert_true(raw && out);
  contents(k, name, raw, n * sizeof *raw);
  for (size_t i = 0; i < n; i++) {
    uint32_t bits = (uint32_t)raw[i] << 16;
    memcpy(&out[i], &bits, sizeof bits);
  }
  free(raw);
  return out;
}

/* Rounded to bf16, to nearest even. */
static inline float rounded(float v) {
  uint32_t bits;
  memcpy(&bits, &v, sizeof bits);
  bits += UINT32_C(0x7fff) + (bits >> 16 & 1);
  bits &= UINT32_C(0xffff0000);
  memcpy(&v, &bits, sizeof v);
  return v;
}

#endif
