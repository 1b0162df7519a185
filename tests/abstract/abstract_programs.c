/* abstract_programs.c - random abstract programs, rewritten: does each
 * threshold name what is owed?
 *
 * Rewritten per loop, each threshold must name just the executions that are
 * owed wherever a form can say that (abs_exact); under all schemes whatever is
 * owed must follow from the waits, and nothing hang. Programs run for several
 * control words each.
 *
 * usage: abstract_programs [-n PROGRAMS] [-s SEED] [-p] [-v]
 *   -p: a line of progress for each thousand; -v: prints the program (with -n
 * 1)
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <nsr/rewrite.h>
#include <nsr/text.h>

#include "abstract.h"

enum { INPUTS = 3 };

struct tally {
  long programs, right, refused, runs, executions;
  struct abs_outcome sum;
  long features[6];
};

static const char *const features[] = {"rotation",      "zero trips", "arms",
                                       "private loops", "queues",     "phases"};

static void count_features(const struct abs_program *p,
                           int32_t words[INPUTS][ABS_WORDS], struct tally *t) {
  bool has[6] = {false};
  for (int i = 0; i < p->nnodes; i++) {
    const struct abs_node *x = &p->nodes[i];
    has[2] |= x->kind == ABS_IF;
    has[3] |= x->engine >= 0;
    for (int j = 0; j < INPUTS; j++)
      has[1] |= x->kind == ABS_LOOP && !x->bottom && words[j][x->word] == 0;
  }
  for (int i = 0; i < p->ninsns; i++) {
    const struct abs_insn *x = &p->insns[i];
    has[0] |= x->write.slot == ABS_ROTATED || x->read.slot == ABS_ROTATED;
    has[4] |= x->channel >= ABS_ENGINES;
    has[5] |= (x->write.slot == ABS_ROTATED && x->write.phase) ||
              (x->read.slot == ABS_ROTATED && x->read.phase);
  }
  for (int i = 0; i < 6; i++)
    t->features[i] += has[i];
}

static void say(struct nsr_ctx *ctx, uint64_t seed, const char *what) {
  char line[500] = "";
  if (nsr_ctx_first_error(ctx))
    nsr_diag_format(nsr_ctx_first_error(ctx), line, sizeof line);
  printf("seed %" PRIu64 ": %s %s\n", seed, what, line);
}

static void say_where(const struct abs_program *p, uint64_t seed,
                      const struct abs_outcome *o, const int32_t *words) {
  printf("seed %" PRIu64 ", words %d %d %d: %s", seed, words[0], words[1],
         words[2], o->wrong);
  if (o->consumer >= 0)
    printf(": instruction %d (channel %d, [%u]), execution %d, of %d (channel "
           "%d, [%u])",
           o->consumer, p->insns[o->consumer].channel,
           p->insns[o->consumer].stream_at, o->nth, o->producer,
           p->insns[o->producer].channel, p->insns[o->producer].stream_at);
  printf("\n");
}

static enum nsr_status rewrite(struct nsr_ctx *ctx, struct abs_program *p,
                               enum nsr_scheme scheme, bool verbose,
                               struct nsr_kernel **out) {
  static char text[ABS_TEXT];
  struct nsr_rewrite_options options = {.verify = NSR_VERIFY_NONE,
                                        .scheme = scheme};
  struct nsr_rewrite_report report;
  struct nsr_kernel *k;
  size_t n = abs_text(p, text, sizeof text);
  if (verbose)
    printf("%s", text);
  NSR_TRY(nsr_assemble(ctx, "abstract.s", text, n, &k));
  NSR_TRY(nsr_kernel_check(ctx, k));
  return nsr_rewrite(ctx, k, NULL, 0, &options, out, &report);
}

static bool execute(struct nsr_ctx *ctx, const struct abs_program *p,
                    const struct nsr_kernel *k, uint64_t seed, bool exact,
                    int32_t words[INPUTS][ABS_WORDS], struct tally *t) {
  static struct abs_run runs[ABS_RUN];
  for (int i = 0; i < INPUTS; i++) {
    struct abs_outcome o = {0};
    int n = abs_walk(p, words[i], runs);
    if (n < 0)
      continue;
    abs_execute(p, ctx, k, words[i], runs, n, exact, &o);
    t->runs++;
    t->executions += n;
    t->sum.waits += o.waits;
    t->sum.exact += o.exact;
    t->sum.later += o.later;
    if (o.wrong) {
      say_where(p, seed, &o, words[i]);
      return false;
    }
  }
  return true;
}

static bool try_program(uint64_t seed, bool verbose, struct tally *t) {
  static const enum nsr_scheme schemes[] = {
      NSR_SCHEME_PER_LOOP, NSR_SCHEME_PER_LOOP, NSR_SCHEME_PER_ENGINE,
      NSR_SCHEME_EQUAL_WEIGHT};
  struct abs_program p = {.r = {seed * 0x10001}};
  struct nsr_ctx *ctx = nsr_ctx_new();
  int32_t words[INPUTS][ABS_WORDS];
  struct nsr_kernel *k = NULL;
  abs_random(&p);
  enum nsr_scheme scheme = schemes[prng_in(&p.r, 0, 3)];
  for (int i = 0; i < INPUTS; i++)
    for (int j = 0; j < ABS_WORDS; j++)
      words[i][j] = (int32_t)prng_in(&p.r, 0, i ? ABS_TOP : 2);
  enum nsr_status status = rewrite(ctx, &p, scheme, verbose, &k);
  bool good = status == NSR_OK;
  t->programs++;
  count_features(&p, words, t);
  if (status == NSR_E_REFUSED)
    t->refused++;
  else if (!good)
    say(ctx, seed, nsr_status_name(status));
  else
    good = execute(ctx, &p, k, seed, scheme == NSR_SCHEME_PER_LOOP, words, t);
  t->right += good;
  nsr_ctx_free(ctx);
  return good;
}

static void print(const struct tally *t) {
  printf("%ld programs, %ld right, %ld refused; %ld runs, %ld executions; %ld "
         "waits, %ld "
         "later than owed, %ld held to be exact\n",
         t->programs, t->right, t->refused, t->runs, t->executions,
         t->sum.waits, t->sum.later, t->sum.exact);
}

int main(int argc, char **argv) {
  struct tally t = {0};
  long n = 1000;
  uint64_t seed = 1;
  bool progress = false, verbose = false;
  int c;
  while ((c = getopt(argc, argv, "n:s:pv")) != -1) {
    if (c == 'n')
      n = strtol(optarg, NULL, 0);
    else if (c == 's')
      seed = strtoull(optarg, NULL, 0);
    else if (c == 'p')
      progress = true;
    else if (c == 'v')
      verbose = true;
    else
      return 2;
  }
  printf("seeds %" PRIu64 "..%" PRIu64 "\n", seed, seed + (uint64_t)n - 1);
  for (long i = 0; i < n; i++) {
    try_program(seed + (uint64_t)i, verbose, &t);
    if (progress && (i + 1) % 1000 == 0) {
      print(&t);
      fflush(stdout);
    }
  }
  print(&t);
  for (int i = 0; i < 6; i++)
    printf("  %s in %ld %%\n", features[i], 100 * t.features[i] / t.programs);
  /* few have no place for what they need */
  return t.right + t.refused != t.programs || t.refused * 100 > t.programs;
}
