/* gen.h - make kernels of the suite. */
#ifndef NSR_GEN_H
#define NSR_GEN_H

#include <nsr/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One "--set key=value". */
struct nsr_setting {
  const char *key;
  int64_t value;
};

struct nsr_gen_options {
  const struct nsr_isa *isa; /* --isa; NULL: the first one built in */
  bool real_size;            /* --size=real; else small */
  bool manual;               /* --form=manual; else barrier */
  uint32_t nsettings;
  const struct nsr_setting *settings;
};

/* Kernel names, NULL-terminated, and a line about each. */
extern const char *const nsr_gen_names[];
const char *nsr_gen_about(const char *name);

/* Makes kernel `name` as assembly text. Unknown names and settings are
 * NSR_E_USAGE, the message lists the known ones; so are instruction sets that
 * lack what it needs. */
NSR_MUST_USE enum nsr_status nsr_gen_text(struct nsr_ctx *ctx, const char *name,
                                          const struct nsr_gen_options *options,
                                          const char **text, size_t *n);

/* The same, assembled. */
NSR_MUST_USE enum nsr_status nsr_gen(struct nsr_ctx *ctx, const char *name,
                                     const struct nsr_gen_options *options,
                                     struct nsr_kernel **k);

#ifdef __cplusplus
}
#endif
#endif
