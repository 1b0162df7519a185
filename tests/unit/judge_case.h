/* judge_case.h - two kernels as text and the verdict they must get. */
#ifndef NSR_TESTS_JUDGE_CASE_H
#define NSR_TESTS_JUDGE_CASE_H

#include "sim_kernel.h"

struct judge_case {
  const char *name;
  enum nsr_verdict verdict;
  enum nsr_fault_kind fault;
  const char *says;  /* part of the text, NULL: any */
  const char *a, *b; /* b NULL: a against itself */
};

static inline void judge_texts(struct nsr_ctx *ctx, const char *a,
                               const char *b,
                               const struct nsr_judge_options *options,
                               struct nsr_judgement *j) {
  char line[500];
  struct nsr_kernel *ka = kernel_of(ctx, a);
  struct nsr_kernel *kb = b ? kernel_of(ctx, b) : ka;
  if (nsr_cosimulate(ctx, ka, kb, options, j) != NSR_OK)
    fail_msg("%s", first_error(ctx, line, sizeof line));
}

static inline void judge_case(const struct judge_case *c) {
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_judgement j;
  judge_texts(ctx, c->a, c->b, NULL, &j);
  if (j.verdict != c->verdict || j.fault != c->fault ||
      (c->says && !strstr(j.text, c->says)))
    fail_msg("%s: %s, %s; wanted %s, %s\n%s", c->name,
             nsr_verdict_name(j.verdict), nsr_fault_name(j.fault),
             nsr_verdict_name(c->verdict), nsr_fault_name(c->fault), j.text);
  nsr_ctx_free(ctx);
}

#define JUDGE_CASES(cases)                                                     \
  for (size_t i_ = 0; i_ < sizeof(cases) / sizeof *(cases); i_++)              \
  judge_case(&(cases)[i_])

#endif
