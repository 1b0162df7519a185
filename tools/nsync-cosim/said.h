/* said.h - what the judges of nsync-cosim say, as text and as JSON. */
#ifndef NSR_TOOLS_SAID_H
#define NSR_TOOLS_SAID_H

#include <stdio.h>

#include <nsr/explore.h>
#include <nsr/judge.h>
#include <nsr/prove.h>

struct verdict {
  struct nsr_judgement j;
  const struct nsr_exploration *explored; /* NULL: another judge */
  const struct nsr_proof *proof;          /* NULL: not asked for */
  bool judged;                            /* j holds something */
};

/* An object in a line. */
void verdict_json(FILE *out, const struct verdict *v);
/* Lines. */
void verdict_text(FILE *out, const struct verdict *v);

#endif
