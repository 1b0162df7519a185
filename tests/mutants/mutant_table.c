/* mutant_table.c - what each judge says of mutants of each operator.
 *
 * Rewrites random kernels in all ways to count, with all registers and
 * semaphores or few of them, makes mutants of the result and has them judged
 * against the original: statically (level 1), on 32 inputs (level 2), and in
 * all orders on a few small ones (level 3). A mutant is a mistake if level 2 or
 * 3 refutes it, equivalent if level 3 finds no difference and level 2 none
 * either, and open where level 3 has too much to do.
 *
 * With -s only whether level 1 is sound is asked, of many: levels 2 and 3 look
 * at what it proves, for nothing else can be proved and wrong.
 *
 * usage: mutant_table [-s MUTANTS] [-n KERNELS] [-f FIRST-SEED] [-m MUTANTS]
 *                     [-i INSNS] [-c] [-v]
 *   -s: until so many mutants were judged, however many kernels that takes;
 *       exit 1 where a mistake is proved
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

#include "subject.h"

enum {
  NOPERATORS = 31,
  INPUTS = 32,
  STATES = 20000,
  SMALL_INPUTS = 5,
  MORE_STATES = 100000, /* of what is proved: there are few */
  MORE_SMALL_INPUTS = 12,
  PROGRESS = 5000
};

enum { KILLED, PASSED, OPEN };

/* Of one operator. */
struct row {
  uint64_t mutants, mistakes, equivalent, open;
  uint64_t killed[4];    /* of the mistakes, by level */
  uint64_t proved;       /* by level 1 */
  uint64_t unsound;      /* mistakes that level 1 proves */
  uint64_t conservative; /* equivalent ones that level 1 does not prove */
};

struct table {
  struct row rows[NOPERATORS];
  int64_t kernels, first, most, insns, wanted; /* wanted: -s, else 0 */
  bool check, verbose;
  uint64_t mutants, rewritten, unproved; /* unproved: kernels as they are */
};

/* ---- judges */

static int by_proof(const struct subject *c, const struct nsr_kernel *b) {
  struct nsr_proof proof;
  if (nsr_prove(c->pool, c->before, b, NULL, &proof) != NSR_OK)
    return OPEN;
  return proof.verdict == NSR_PROOF_PROVED ? PASSED : KILLED;
}

static int by_runs(const struct subject *c, const struct nsr_kernel *b) {
  const struct nsr_judge_options options = {.inputs = INPUTS, .budget = 20000};
  struct nsr_judgement j;
  if (nsr_cosimulate(c->pool, c->before, b, &options, &j) != NSR_OK)
    return OPEN;
  return j.verdict == NSR_REFUTED ? KILLED
         : j.verdict == NSR_EQUAL ? PASSED
                                  : OPEN;
}

static int by_orders(const struct subject *c, const struct nsr_kernel *b,
                     bool more) {
  const struct nsr_explore_options options = {
      .inputs = more ? MORE_SMALL_INPUTS : SMALL_INPUTS,
      .states = more ? MORE_STATES : STATES};
  struct nsr_exploration e;
  if (nsr_explore(c->pool, c->before, b, &options, &e) != NSR_OK)
    return OPEN;
  return e.judgement.verdict == NSR_REFUTED ? KILLED
         : e.judgement.verdict == NSR_EQUAL ? PASSED
                                            : OPEN;
}

/* How to make the mutant again. */
static void tell(const struct subject *c, const struct nsr_operator *op,
                 uint64_t index, const char *what, const char *how) {
  char name[SUBJECT_NAME];
  subject_name(c, name);
  fprintf(stderr, "%s: %s: %s, operator %d, index %" PRIu64 "\n", how, what,
          name, op->number, index);
}

static void judge(struct table *t, const struct subject *c,
                  const struct nsr_operator *op, uint64_t index,
                  const struct nsr_kernel *mutant, const char *what) {
  struct row *row = &t->rows[op->number];
  int said[4] = {OPEN, by_proof(c, mutant), OPEN, OPEN};
  bool asked = !t->wanted || said[1] == PASSED;
  if (asked) {
    said[2] = by_runs(c, mutant);
    said[3] = by_orders(c, mutant, t->wanted);
  }
  bool mistake = said[2] == KILLED || said[3] == KILLED;
  bool equal = !mistake && said[3] == PASSED;
  t->mutants++;
  row->mutants++;
  row->proved += said[1] == PASSED;
  row->mistakes += mistake;
  for (int level = 1; level < 4; level++)
    row->killed[level] += mistake && said[level] == KILLED;
  row->equivalent += equal;
  row->open += asked && !mistake && !equal;
  row->conservative += equal && said[1] == KILLED;
  row->unsound += mistake && said[1] == PASSED;
  if (mistake && said[1] == PASSED && (t->verbose || t->wanted))
    tell(c, op, index, what, "PROVED, BUT WRONG");
  if (mistake && said[2] != KILLED && t->verbose)
    tell(c, op, index, what, "not seen by level 2");
}

/* ---- kernels */

/* Up to t->most mutants, from a random one on. */
static void mutate_with(struct table *t, struct subject *c,
                        const struct nsr_operator *op) {
  struct nsr_kernel *mutant;
  const char *what;
  uint64_t places, most = (uint64_t)t->most;
  if (op->instead || nsr_mutate(c->pool, c->after, op, UINT64_MAX, &mutant,
                                &what, &places) != NSR_OK)
    return;
  uint64_t n = places < most ? places : most, start = prng_next(&c->r);
  for (uint64_t i = 0; i < n; i++) {
    uint64_t turn = (start % places + i * places / n) % places;
    if (nsr_mutate(c->pool, c->after, op, turn, &mutant, &what, &places) ==
            NSR_OK &&
        mutant && nsr_kernel_check(c->pool, mutant) == NSR_OK)
      judge(t, c, op, turn, mutant, what);
  }
}

/* The memory of mutants goes with each operator. */
static bool with_operator(struct table *t, struct subject *c,
                          const struct nsr_operator *op) {
  c->pool = nsr_ctx_new();
  if (!c->pool)
    return false;
  if (op == nsr_operators) {
    t->rewritten++;
    t->unproved += by_proof(c, c->after) != PASSED;
  }
  mutate_with(t, c, op);
  nsr_ctx_free(c->pool);
  return true;
}

static bool one_kernel(struct table *t, int64_t seed) {
  struct subject c;
  subject_choose(&c, seed, t->insns);
  c.home = nsr_ctx_new();
  bool memory = c.home != NULL;
  if (memory && subject_make(&c))
    for (const struct nsr_operator *op = nsr_operators; op->number && memory;
         op++)
      memory = with_operator(t, &c, op);
  nsr_ctx_free(c.home);
  return memory;
}

/* ---- the table */

static void print_share(uint64_t some, uint64_t all) {
  if (all)
    printf(" %7.1f", 100.0 * (double)some / (double)all);
  else
    printf(" %7s", "-");
}

static void print_row(const struct table *t, const char *name,
                      const struct row *row) {
  printf("%-24s %8" PRIu64, name, row->mutants);
  if (t->wanted) {
    printf(" %8" PRIu64 " %8" PRIu64 " %8" PRIu64 " %8" PRIu64 "\n",
           row->proved, row->equivalent, row->open, row->unsound);
    return;
  }
  printf(" %8" PRIu64, row->mistakes);
  for (int level = 1; level < 4; level++)
    print_share(row->killed[level], row->mistakes);
  printf(" %8" PRIu64 " %8" PRIu64 " %8" PRIu64 " %8" PRIu64 "\n",
         row->equivalent, row->open, row->unsound, row->conservative);
}

static struct row sum_of(const struct table *t) {
  struct row sum = {0};
  for (int i = 1; i < NOPERATORS; i++) {
    const struct row *row = &t->rows[i];
    sum.mutants += row->mutants;
    sum.proved += row->proved;
    sum.mistakes += row->mistakes;
    sum.equivalent += row->equivalent;
    sum.open += row->open;
    sum.unsound += row->unsound;
    sum.conservative += row->conservative;
    for (int level = 1; level < 4; level++)
      sum.killed[level] += row->killed[level];
  }
  return sum;
}

static void print_table(const struct table *t) {
  struct row sum = sum_of(t);
  printf("%-24s %8s", "operator", "mutants");
  if (t->wanted)
    printf(" %8s %8s %8s %8s\n", "proved", "equal", "open", "unsound");
  else
    printf(" %8s %7s %7s %7s %8s %8s %8s %8s\n", "wrong", "L1 %", "L2 %",
           "L3 %", "equal", "open", "unsound", "L1 no");
  for (const struct nsr_operator *op = nsr_operators; op->number; op++) {
    char name[40];
    snprintf(name, sizeof name, "%2d %s", op->number, op->name);
    if (!op->instead)
      print_row(t, name, &t->rows[op->number]);
  }
  print_row(t, "all", &sum);
  printf("%" PRIu64 " of %" PRIu64 " unmutated outputs are not proved\n",
         t->unproved, t->rewritten);
}

/* What a short run can hold the judges to. */
static int check(const struct table *t) {
  struct row sum = sum_of(t);
  bool blind = 100 * sum.killed[2] < 98 * sum.mistakes;
  if (sum.unsound)
    printf("level 1 proves %" PRIu64 " mistakes\n", sum.unsound);
  if (t->wanted)
    return sum.unsound || !sum.proved;
  if (t->rows[30].mistakes)
    printf("what cancels out is refuted\n");
  if (blind)
    printf("level 2 sees %" PRIu64 " of %" PRIu64 "\n", sum.killed[2],
           sum.mistakes);
  return sum.unsound || t->rows[30].mistakes || blind || sum.mistakes < 100;
}

/* ---- main */

static bool wants_more(const struct table *t, int64_t done) {
  return t->wanted ? t->mutants < (uint64_t)t->wanted : done < t->kernels;
}

static bool run(struct table *t) {
  for (int64_t i = 0; wants_more(t, i); i++) {
    uint64_t before = t->mutants;
    if (!one_kernel(t, t->first + i))
      return false;
    if (before / PROGRESS != t->mutants / PROGRESS)
      fprintf(stderr,
              "seed %" PRId64 ": %" PRIu64 " mutants, %" PRIu64 " unsound\n",
              t->first + i, t->mutants, sum_of(t).unsound);
  }
  return true;
}

static bool option(struct table *t, int c, const char *value) {
  switch (c) {
  case 's':
    t->wanted = strtoll(value, NULL, 0);
    return t->wanted > 0;
  case 'n':
    t->kernels = strtoll(value, NULL, 0);
    return true;
  case 'f':
    t->first = strtoll(value, NULL, 0);
    return true;
  case 'm':
    t->most = strtoll(value, NULL, 0);
    return t->most > 0;
  case 'i':
    t->insns = strtoll(value, NULL, 0);
    return true;
  case 'c':
    t->check = true;
    return true;
  case 'v':
    t->verbose = true;
    return true;
  default:
    return false;
  }
}

int main(int argc, char **argv) {
  struct table t = {.kernels = 40, .first = 1, .most = 3, .insns = 110};
  int c;
  while ((c = getopt(argc, argv, "s:n:f:m:i:cv")) != -1)
    if (!option(&t, c, optarg))
      return 2;
  printf("mutants of kernels from seed %" PRId64 "\n", t.first);
  if (!run(&t)) {
    fprintf(stderr, "mutant_table: out of memory\n");
    return 70;
  }
  print_table(&t);
  return t.check || t.wanted ? check(&t) : 0;
}
