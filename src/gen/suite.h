/* suite.h - what a kernel of the suite is: a name, settings, a text. */
#ifndef NSR_GEN_SUITE_H
#define NSR_GEN_SUITE_H

#include <nsr/gen.h>

#include "base/strbuf.h"

/* A setting: its value at either size, and what it may be set to. */
struct nsr_gen_param {
  const char *key;
  int64_t small, real, lo, hi;
};

enum { NSR_GEN_MAX_PARAMS = 16 };

struct nsr_gen_kernel {
  const char *name, *about;
  uint32_t nparams;
  struct nsr_gen_param params[NSR_GEN_MAX_PARAMS];
  /* Writes the kernel's text; v holds the settings, as params. Settings that
   * do not go together are NSR_E_USAGE. */
  enum nsr_status (*make)(struct nsr_ctx *ctx, const int64_t *v,
                          struct nsr_strbuf *out);
};

extern const struct nsr_gen_kernel nsr_gen_sync_bound, nsr_gen_rmsnorm,
    nsr_gen_matmul, nsr_gen_random;

/* ` data "BASE64"`: n pseudo-random elements, the same for the same seed; f32
 * in -2..2 in steps of 1/512, bf16 in -2..2 in steps of 1/32, or i32 in 0..255.
 * Nothing for n = 0. */
void nsr_gen_random_bf16(struct nsr_strbuf *out, uint64_t seed, uint64_t n);
void nsr_gen_random_f32(struct nsr_strbuf *out, uint64_t seed, uint64_t n);
void nsr_gen_random_i32(struct nsr_strbuf *out, uint64_t seed, uint64_t n);

#endif
