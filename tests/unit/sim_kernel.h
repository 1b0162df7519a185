/* sim_kernel.h - kernels from text for tests of the model and the judge. */
#ifndef NSR_TESTS_SIM_KERNEL_H
#define NSR_TESTS_SIM_KERNEL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <nsr/judge.h>
#include <nsr/text.h>

#include "sim/opaque.h"

/* A line about the first error, for messages. */
static inline const char *first_error(const struct nsr_ctx *ctx, char *out,
                                      size_t size) {
  const struct nsr_diag *d = nsr_ctx_first_error(ctx);
  if (d)
    nsr_diag_format(d, out, size);
  else
    snprintf(out, size, "no error reported");
  return out;
}

static inline struct nsr_kernel *kernel_of(struct nsr_ctx *ctx,
                                           const char *text) {
  struct nsr_kernel *k = NULL;
  char line[500];
  if (nsr_assemble(ctx, "k.s", text, strlen(text), &k) != NSR_OK ||
      nsr_kernel_check(ctx, k) != NSR_OK)
    fail_msg("%s\n%s", first_error(ctx, line, sizeof line), text);
  return k;
}

/* One run of the model in opaque memory. */
struct opaque_run {
  struct nsr_ctx *ctx;
  struct nsr_image *image;
  struct nsr_atoms *atoms;
  struct nsr_opaque *memory;
  struct nsr_machine machine;
  struct nsr_policy policy;
  struct nsr_sim *sim;
};

static inline void opaque_run(struct opaque_run *r, struct nsr_ctx *ctx,
                              const struct nsr_kernel *k,
                              enum nsr_policy_kind kind, uint32_t arg,
                              const struct nsr_observer *observer) {
  r->ctx = ctx;
  assert_int_equal(nsr_machine_default(ctx, k->isa, &r->machine), NSR_OK);
  assert_int_equal(nsr_image_new(ctx, NSR_KEEP, k, &r->image), NSR_OK);
  r->atoms = nsr_atoms_new(ctx, k->isa);
  assert_non_null(r->atoms);
  assert_int_equal(nsr_opaque_cuts(r->atoms, r->image), NSR_OK);
  do {
    assert_int_equal(nsr_atoms_commit(r->atoms), NSR_OK);
    assert_int_equal(
        nsr_opaque_new(ctx, NSR_KEEP, r->image, r->atoms, NULL, 0, &r->memory),
        NSR_OK);
    nsr_policy_init(&r->policy, kind, arg, 7);
    const struct nsr_sim_options options = {.image = r->image,
                                            .machine = &r->machine,
                                            .memory = &r->memory->memory,
                                            .policy = &r->policy,
                                            .observer = observer,
                                            .budget = 400000};
    assert_int_equal(nsr_sim_new(ctx, NSR_KEEP, &options, &r->sim), NSR_OK);
    assert_int_equal(nsr_sim_run(r->sim), NSR_OK);
  } while (nsr_atoms_pending(r->atoms));
}

static inline void opaque_done(struct opaque_run *r) {
  nsr_atoms_free(r->atoms);
}

#endif
