/* mutant_table.c - what each judge says of mutants of each operator.
 *
 * Rewrites random kernels in all ways to count, makes mutants of the result and
 * has them judged against the original: statically (level 1), on 32 inputs
 * (level 2), and in all orders on a few small ones (level 3). A mutant is a
 * mistake if level 2 or 3 refutes it, equivalent if level 3 finds no difference
 * and level 2 none either, and open where level 3 has too much to do.
 *
 * usage: mutant_table [-n KERNELS] [-f FIRST-SEED] [-m MUTANTS] [-i INSNS]
 *                     [-c] [-v]
 *   -n: kernels (40)  -m: mutants of a kernel and operator at most (3)
 *   -i: instructions of a kernel, at most (110)
 *   -c: checks what must hold of a short run: exit 1 where not
 *   -v: prints each mistake that level 1 or 2 lets pass
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <nsr/explore.h>
#include <nsr/gen.h>
#include <nsr/prove.h>
#include <nsr/rewrite.h>
#include <nsr/text.h>

#include "../unit/prng.h"

enum { NOPERATORS = 31, INPUTS = 32, STATES = 20000, SMALL_INPUTS = 5 };

enum { KILLED, PASSED, OPEN };

/* Of one operator. */
struct row {
  uint64_t mutants, mistakes, equivalent, open;
  uint64_t killed[4];    /* of the mistakes, by level */
  uint64_t unsound;      /* mistakes that level 1 proves */
  uint64_t conservative; /* equivalent ones that level 1 does not prove */
  uint64_t false_alarms; /* equivalent ones that level 2 refutes: none */
};

struct table {
  struct row rows[NOPERATORS];
  int64_t kernels, first, most, insns;
  bool check, verbose;
  uint64_t rewritten, unproved; /* kernels; of these level 1 proves not all */
  struct prng r;
};

struct kernel_case {
  struct nsr_ctx *ctx;
  const struct nsr_kernel *before, *after;
  const struct nsr_isa *isa;
  int64_t seed, size;
  enum nsr_scheme scheme;
};

/* ---- judges */

static int by_proof(const struct kernel_case *c, const struct nsr_kernel *b) {
  struct nsr_proof proof;
  if (nsr_prove(c->ctx, c->before, b, &proof) != NSR_OK)
    return OPEN;
  return proof.verdict == NSR_PROOF_PROVED ? PASSED : KILLED;
}

static int by_runs(const struct kernel_case *c, const struct nsr_kernel *b) {
  const struct nsr_judge_options options = {.inputs = INPUTS, .budget = 20000};
  struct nsr_judgement j;
  if (nsr_cosimulate(c->ctx, c->before, b, &options, &j) != NSR_OK)
    return OPEN;
  return j.verdict == NSR_REFUTED ? KILLED
         : j.verdict == NSR_EQUAL ? PASSED
                                  : OPEN;
}

static int by_orders(const struct kernel_case *c, const struct nsr_kernel *b) {
  const struct nsr_explore_options options = {.inputs = SMALL_INPUTS,
                                              .states = STATES};
  struct nsr_exploration e;
  if (nsr_explore(c->ctx, c->before, b, &options, &e) != NSR_OK)
    return OPEN;
  return e.judgement.verdict == NSR_REFUTED ? KILLED
         : e.judgement.verdict == NSR_EQUAL ? PASSED
                                            : OPEN;
}

static void tell(const struct table *t, const struct kernel_case *c,
                 const struct nsr_operator *op, uint64_t index,
                 const char *what, const char *how) {
  if (t->verbose)
    fprintf(stderr,
            "%s: %s: random --isa=%s --seed=%" PRId64 " --instructions=%" PRId64
            ", %s, operator %d, index %" PRIu64 "\n",
            how, what, c->isa->name, c->seed, c->size,
            nsr_scheme_name(c->scheme), op->number, index);
}

static void judge(struct table *t, const struct kernel_case *c,
                  const struct nsr_operator *op, uint64_t index,
                  const struct nsr_kernel *mutant, const char *what) {
  struct row *row = &t->rows[op->number];
  int said[4] = {OPEN, by_proof(c, mutant), by_runs(c, mutant),
                 by_orders(c, mutant)};
  bool mistake = said[2] == KILLED || said[3] == KILLED;
  row->mutants++;
  row->mistakes += mistake;
  for (int level = 1; level < 4; level++)
    row->killed[level] += mistake && said[level] == KILLED;
  if (mistake && said[1] == PASSED) {
    row->unsound++;
    tell(t, c, op, index, what, "PROVED, BUT WRONG");
  }
  if (mistake && said[2] != KILLED)
    tell(t, c, op, index, what, "not seen by level 2");
  bool equal = !mistake && said[3] == PASSED;
  row->equivalent += equal;
  row->open += !mistake && !equal;
  row->conservative += equal && said[1] == KILLED;
}

/* ---- kernels */

/* Up to t->most mutants, chosen at random. */
static void mutate_with(struct table *t, const struct kernel_case *c,
                        const struct nsr_operator *op) {
  struct nsr_kernel *mutant;
  const char *what;
  uint64_t places, turn;
  if (op->instead || nsr_mutate(c->ctx, c->after, op, UINT64_MAX, &mutant,
                                &what, &places) != NSR_OK)
    return;
  for (int64_t i = 0; i < t->most && (uint64_t)i < places; i++) {
    turn =
        places <= (uint64_t)t->most ? (uint64_t)i : prng_next(&t->r) % places;
    if (nsr_mutate(c->ctx, c->after, op, turn, &mutant, &what, &places) ==
            NSR_OK &&
        mutant && nsr_kernel_check(c->ctx, mutant) == NSR_OK)
      judge(t, c, op, turn, mutant, what);
  }
}

/* A kernel and what becomes of it; false: it is not rewritten, or not changed.
 */
static bool prepare(struct kernel_case *c) {
  struct nsr_setting settings[] = {{"seed", c->seed},
                                   {"instructions", c->size}};
  struct nsr_gen_options gen = {
      .isa = c->isa, .nsettings = 2, .settings = settings};
  struct nsr_rewrite_options o = {.verify = NSR_VERIFY_NONE,
                                  .scheme = c->scheme,
                                  .published = NSR_SCHEME_PER_LOOP};
  struct nsr_rewrite_report report;
  struct nsr_kernel *k, *out;
  bool good = nsr_gen(c->ctx, "random", &gen, &k) == NSR_OK &&
              nsr_kernel_check(c->ctx, k) == NSR_OK &&
              nsr_rewrite(c->ctx, k, NULL, 0, &o, &out, &report) == NSR_OK &&
              report.changed;
  if (!good)
    return false;
  c->before = k;
  c->after = out;
  return true;
}

static void one_kernel(struct table *t, int64_t seed) {
  static const enum nsr_scheme schemes[] = {
      NSR_SCHEME_PER_LOOP, NSR_SCHEME_PER_ENGINE, NSR_SCHEME_EQUAL_WEIGHT,
      NSR_SCHEME_PER_INSTRUCTION, NSR_SCHEME_PUBLISHED};
  int nisas = 0;
  while (nsr_isas[nisas])
    nisas++;
  struct kernel_case c = {.isa = nsr_isas[seed % nisas],
                          .seed = seed,
                          .scheme = schemes[seed / nisas % 5]};
  int64_t least = 4 * c.isa->nengines;
  c.size = prng_in(&t->r, least, t->insns > least ? t->insns : least);
  for (const struct nsr_operator *op = nsr_operators; op->number; op++) {
    c.ctx = nsr_ctx_new(); /* memory of mutants goes with each operator */
    bool good = c.ctx && prepare(&c);
    if (good)
      mutate_with(t, &c, op);
    if (good && op == nsr_operators) {
      t->rewritten++;
      t->unproved += by_proof(&c, c.after) != PASSED;
    }
    nsr_ctx_free(c.ctx);
    if (!good)
      return;
  }
}

/* ---- the table */

static void print_share(uint64_t some, uint64_t all) {
  if (all)
    printf(" %7.1f", 100.0 * (double)some / (double)all);
  else
    printf(" %7s", "-");
}

static void print_row(const char *name, const struct row *row) {
  printf("%-24s %8" PRIu64 " %8" PRIu64, name, row->mutants, row->mistakes);
  for (int level = 1; level < 4; level++)
    print_share(row->killed[level], row->mistakes);
  printf(" %8" PRIu64 " %8" PRIu64 " %8" PRIu64 " %8" PRIu64 "\n",
         row->equivalent, row->open, row->unsound, row->conservative);
}

static void print_table(const struct table *t) {
  struct row sum = {0};
  printf("%-24s %8s %8s %7s %7s %7s %8s %8s %8s %8s\n", "operator", "mutants",
         "wrong", "L1 %", "L2 %", "L3 %", "equal", "open", "unsound", "L1 no");
  for (const struct nsr_operator *op = nsr_operators; op->number; op++) {
    const struct row *row = &t->rows[op->number];
    char name[40];
    snprintf(name, sizeof name, "%2d %s", op->number, op->name);
    if (!op->instead)
      print_row(name, row);
    sum.mutants += row->mutants;
    sum.mistakes += row->mistakes;
    sum.equivalent += row->equivalent;
    sum.open += row->open;
    sum.unsound += row->unsound;
    sum.conservative += row->conservative;
    for (int level = 1; level < 4; level++)
      sum.killed[level] += row->killed[level];
  }
  print_row("all", &sum);
}

/* What a short run can hold the judges to. */
static int check(const struct table *t) {
  uint64_t mistakes = 0, seen = 0, unsound = 0;
  for (int i = 1; i < NOPERATORS; i++) {
    mistakes += t->rows[i].mistakes;
    seen += t->rows[i].killed[2];
    unsound += t->rows[i].unsound;
  }
  if (unsound)
    printf("level 1 proves %" PRIu64 " mistakes\n", unsound);
  if (t->rows[30].mistakes)
    printf("what cancels out is refuted\n");
  if (100 * seen < 98 * mistakes)
    printf("level 2 sees %" PRIu64 " of %" PRIu64 "\n", seen, mistakes);
  return unsound || t->rows[30].mistakes || 100 * seen < 98 * mistakes ||
         mistakes < 100;
}

int main(int argc, char **argv) {
  struct table t = {.kernels = 40, .first = 1, .most = 3, .insns = 110};
  int c;
  while ((c = getopt(argc, argv, "n:f:m:i:cv")) != -1)
    switch (c) {
    case 'n':
      t.kernels = strtoll(optarg, NULL, 0);
      break;
    case 'f':
      t.first = strtoll(optarg, NULL, 0);
      break;
    case 'm':
      t.most = strtoll(optarg, NULL, 0);
      break;
    case 'i':
      t.insns = strtoll(optarg, NULL, 0);
      break;
    case 'c':
      t.check = true;
      break;
    case 'v':
      t.verbose = true;
      break;
    default:
      return 2;
    }
  t.r = prng_seed("mutants of kernels", (uint64_t)t.first);
  for (int64_t i = 0; i < t.kernels; i++) {
    one_kernel(&t, t.first + i);
    if (i % 100 == 99)
      fprintf(stderr, "%" PRId64 " of %" PRId64 " kernels\n", i + 1, t.kernels);
  }
  print_table(&t);
  printf("%" PRIu64 " of %" PRIu64 " unmutated outputs are not proved\n",
         t.unproved, t.rewritten);
  return t.check ? check(&t) : 0;
}
