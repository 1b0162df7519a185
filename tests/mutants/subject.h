/* subject.h - random kernels and what becomes of them, in all ways to count,
 * with all registers and semaphores or few of them: a seed says which. */
#ifndef NSR_TESTS_SUBJECT_H
#define NSR_TESTS_SUBJECT_H

#include <nsr/rewrite.h>

#include "../unit/prng.h"

struct subject {
  struct nsr_ctx *home; /* of the kernels */
  struct nsr_ctx *pool; /* of what is done with them */
  const struct nsr_isa *isa;
  const char *way;             /* "--alloc=per-loop" */
  int64_t seed, size, unknown; /* percent of unknown effects */
  bool alone;                  /* engines keep only hidden state in order */
  struct nsr_rewrite_options options;
  const struct nsr_kernel *before, *after;
  struct prng r; /* for whatever else is chosen */
};

/* Which kernel, of at most so many instructions, and how it is rewritten;
 * everything else is 0. */
void subject_choose(struct subject *s, int64_t seed, int64_t insns);

/* Makes both in s->home; false: it is not rewritten, or not changed. */
bool subject_make(struct subject *s);

/* The words that make it: "random --isa=.. --seed=.., --alloc=..". */
enum { SUBJECT_NAME = 240 };
void subject_name(const struct subject *s, char name[SUBJECT_NAME]);

#endif
