/* passes.h - for tests of the passes: text in, dump or diagnostic out. */
#ifndef NSR_TESTS_PASSES_H
#define NSR_TESTS_PASSES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <nsr/dump.h>
#include <nsr/text.h>

/* One kernel and what a stage makes of it. */
struct pass_case {
  const char *name;
  const char *text;
  enum nsr_status status;
  const char *expect; /* the dump, or a part of the diagnostic */
};

static inline struct nsr_kernel *assemble(struct nsr_ctx *ctx,
                                          const char *text) {
  struct nsr_kernel *k = NULL;
  enum nsr_status status = nsr_assemble(ctx, "k.s", text, strlen(text), &k);
  if (status == NSR_OK)
    status = nsr_kernel_check(ctx, k);
  if (status != NSR_OK) {
    char line[500];
    nsr_diag_format(nsr_ctx_first_error(ctx), line, sizeof line);
    fail_msg("%s", line);
  }
  return k;
}

static inline void check_case(const struct pass_case *c, enum nsr_stage stage,
                              enum nsr_soft soft) {
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_rewrite_options options = {.soft = soft};
  const char *text = "";
  struct nsr_kernel *k = assemble(ctx, c->text);
  enum nsr_status status = nsr_dump(ctx, k, stage, &options, &text);
  if (status != NSR_OK)
    text = nsr_ctx_first_error(ctx)->text;
  bool same = status == NSR_OK ? strcmp(text, c->expect) == 0
                               : strstr(text, c->expect) != NULL;
  if (status != c->status || !same)
    fail_msg("%s: %s, wanted %s\n--- got\n%s\n--- wanted\n%s", c->name,
             nsr_status_name(status), nsr_status_name(c->status), text,
             c->expect);
  nsr_ctx_free(ctx);
}

#define CHECK_CASES_WITH(cases, stage, soft)                                   \
  for (size_t i_ = 0; i_ < sizeof(cases) / sizeof *(cases); i_++)              \
  check_case(&(cases)[i_], stage, soft)
#define CHECK_CASES(cases, stage) CHECK_CASES_WITH(cases, stage, NSR_SOFT_AUTO)

#endif
