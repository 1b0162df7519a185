/* campaign.c - all orders of small kernels, against what others say of them.
 *
 * usage: explore_campaign clocks|rewrites|modes|published|proofs
 *                         [KERNELS [SEED [STATES]]]
 *   clocks: one run with vector clocks (nsr_cosimulate) says the same as all
 *     orders, of kernels and of rewritten ones, many of them with waits dropped
 *     or lowered and other mistakes
 *   rewrites: rewritten under each way to count and few registers and
 *     semaphores, no kernel is refuted by all orders
 *   modes: reduced and not, one verdict, the same number of outcomes, of waits
 *     and of those that are too long; queues in order or not
 *   published: the publication's per-loop form of kernels with fixed addresses
 *     waits for nothing that need not have retired, if no barrier stays
 *
 *   proofs: what the static judge (nsr_prove) proves, of rewritten kernels with
 *     mistakes, is not refuted on any of 12 inputs
 *
 * Each kernel comes with one input, but for proofs. One that fails is printed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nsr/explore.h>
#include <nsr/gen.h>
#include <nsr/rewrite.h>
#include <nsr/text.h>

#include "../mutants/mutant.h"
#include "../unit/prng.h"
#include "small.h"

enum {
  STATES = 20000,
  PROGRESS = 1000,
  LARGER = 50,
  MOST_WORK = 24,
  MUTANTS = 6
};

struct tally {
  uint64_t kernels, compared, good, broken, hangs, undecided, whole, refused,
      unproved, other, facts, failed,
      states; /* facts: kernels that rest on some */
  struct { /* by scheme, unlimited: equal ones, their waits, those too long */
    uint64_t equal, waits, longer, none; /* none: without such waits */
  } of[NSR_SCHEME_PUBLISHED + 1];
};

struct turn {
  struct nsr_ctx *ctx;
  struct prng r;
  uint64_t seed, limit; /* limit: states of a kernel */
  const struct nsr_isa *isa;
  bool plain;
  struct small_with with;
  char text[SMALL_TEXT];
  const struct nsr_kernel *kernel;
  struct tally *tally;
};

static int pick(struct turn *t, int n) { return (int)prng_in(&t->r, 0, n - 1); }

/* ---- failures */

static void print_kernel(struct nsr_ctx *ctx, const struct nsr_kernel *k) {
  const char *text;
  size_t n;
  if (nsr_disassemble(ctx, k, &text, &n) == NSR_OK)
    fprintf(stderr, "%s\n", text);
}

static void fail(struct turn *t, const struct nsr_kernel *b, const char *what,
                 const struct nsr_judgement *x, const struct nsr_judgement *y) {
  fprintf(stderr, "%s: seed %" PRIu64 " for %s\n%s\n", what, t->seed,
          t->isa->name, t->text);
  if (b)
    print_kernel(t->ctx, b);
  for (int i = 0; i < 2; i++) {
    const struct nsr_judgement *j = i ? y : x;
    if (j)
      fprintf(stderr, "-- %s, %s: %s\n", nsr_verdict_name(j->verdict),
              nsr_fault_name(j->fault), j->text);
  }
  t->tally->failed++;
}

static bool made(struct turn *t, enum nsr_status status) {
  char line[500];
  if (status == NSR_OK)
    return true;
  const struct nsr_diag *d = nsr_ctx_first_error(t->ctx);
  if (d)
    nsr_diag_format(d, line, sizeof line);
  fprintf(stderr, "seed %" PRIu64 ": %s\n%s\n", t->seed, d ? line : "?",
          t->text);
  t->tally->failed++;
  return false;
}

/* ---- kernels */

static enum nsr_status assemble(struct turn *t) {
  struct nsr_kernel *k;
  t->with = (struct small_with){.plain = t->plain};
  if (!t->plain) {
    t->with.may = pick(t, 4) == 0;
    t->with.others = pick(t, 6) == 0;
    t->with.odd = pick(t, 10) == 0;
    t->with.unknown = pick(t, 5) == 0;
  }
  small_kernel(t->isa, prng_next(&t->r), t->with, t->text);
  NSR_TRY(nsr_assemble(t->ctx, "small.s", t->text, strlen(t->text), &k));
  NSR_TRY(nsr_kernel_check(t->ctx, k));
  t->kernel = k;
  return NSR_OK;
}

static enum nsr_status rewrite(struct turn *t, bool budgets,
                               struct nsr_kernel **out, enum nsr_scheme *scheme,
                               bool *limited) {
  static const uint32_t few[] = {0, 1, 2, 4, 8};
  static const enum nsr_scheme published[] = {
      NSR_SCHEME_PER_INSTRUCTION, NSR_SCHEME_PER_LOOP, NSR_SCHEME_PER_ENGINE};
  struct nsr_rewrite_options o = {.verify = NSR_VERIFY_NONE};
  struct nsr_rewrite_report report;
  o.scheme = (enum nsr_scheme)pick(t, NSR_SCHEME_PUBLISHED + 1);
  if (o.scheme == NSR_SCHEME_PUBLISHED) {
    o.published = published[pick(t, 3)];
    o.published_recent = pick(t, 2);
  }
  if (budgets) {
    o.limit_registers = pick(t, 2);
    o.limit_semaphores = pick(t, 2);
    o.max_registers = o.limit_registers ? few[pick(t, 5)] : 0;
    o.max_semaphores = o.limit_semaphores ? few[pick(t, 5)] : 0;
    o.keep_outer = pick(t, 8) == 0;
  }
  *scheme = o.scheme;
  *limited = o.limit_registers || o.limit_semaphores || o.keep_outer;
  return nsr_rewrite(t->ctx, t->kernel, NULL, 0, &o, out, &report);
}

/* b with one wait dropped or lowered, if it has one. */
static enum nsr_status weaken(struct turn *t, const struct nsr_kernel **b) {
  struct site *sites;
  struct nsr_kernel *mutant;
  size_t n;
  NSR_TRY(sites_find(t->ctx, *b, &sites, &n));
  if (!n)
    return NSR_OK;
  NSR_TRY(mutate(t->ctx, *b, &sites[pick(t, (int)n)], pick(t, 2) ? DROP : LOWER,
                 &mutant));
  if (!mutant)
    return NSR_OK;
  *b = mutant;
  return nsr_kernel_check(t->ctx, mutant);
}

/* b with another mistake of any kind. */
static enum nsr_status mistake(struct turn *t, const struct nsr_kernel **b) {
  const struct nsr_operator *op;
  struct nsr_kernel *mutant;
  const char *what;
  uint64_t places;
  int n = 0;
  while (nsr_operators[n].number)
    n++;
  do
    op = &nsr_operators[pick(t, n)];
  while (op->instead);
  NSR_TRY(nsr_mutate(t->ctx, *b, op, UINT64_MAX, &mutant, &what, &places));
  if (!places)
    return NSR_OK;
  uint64_t index = prng_next(&t->r) % places;
  NSR_TRY(nsr_mutate(t->ctx, *b, op, index, &mutant, &what, &places));
  if (mutant)
    *b = mutant;
  return NSR_OK;
}

static enum nsr_status explore(struct turn *t, const struct nsr_kernel *a,
                               const struct nsr_kernel *b,
                               const struct nsr_explore_options *o,
                               struct nsr_exploration *e) {
  NSR_TRY(nsr_explore(t->ctx, a, b, o, e));
  t->tally->states += e->states[0] + e->states[1];
  return NSR_OK;
}

/* Not all states were visited (a first finding counts all the same). */
static bool too_many(const struct turn *t, const struct nsr_exploration *e) {
  return e->states[0] > t->limit || e->states[1] > t->limit;
}

static bool same(const struct nsr_judgement *x, const struct nsr_judgement *y) {
  return x->verdict == y->verdict && x->fault == y->fault;
}

/* ---- campaigns */

/* A kernel or a rewritten one, three in four with mistakes, alone or against
 * the kernel. */
static enum nsr_status subject(struct turn *t, const struct nsr_kernel **a,
                               const struct nsr_kernel **b) {
  struct nsr_kernel *rewritten;
  *a = *b = t->kernel;
  if (pick(t, 4)) {
    enum nsr_scheme scheme;
    bool limited;
    enum nsr_status status = rewrite(t, false, &rewritten, &scheme, &limited);
    if (status == NSR_E_REFUSED) {
      t->tally->refused++;
      return NSR_OK;
    }
    NSR_TRY(status);
    *b = rewritten;
  }
  for (int i = pick(t, 6); i > 0; i--)
    NSR_TRY(pick(t, 4) ? weaken(t, b) : mistake(t, b));
  if (pick(t, 4) == 0)
    *a = *b;
  return NSR_OK;
}

/* Any of the work of a, one after the other. */
static enum nsr_status find_work(struct turn *t, const struct nsr_kernel *a,
                                 struct nsr_fact_insn *out, int *n) {
  *n = 0;
  for (uint32_t s = 0; s < a->nstreams; s++)
    for (uint32_t i = 0; i < a->streams[s].n && *n < MOST_WORK; i++) {
      struct nsr_insn insn;
      NSR_TRY(nsr_stream_decode(t->ctx, a, &a->streams[s], i, &insn));
      if (insn.desc->noperands)
        out[(*n)++] = (struct nsr_fact_insn){a->streams[s].engine, i};
    }
  return NSR_OK;
}

/* For one kernel in four: half of the pairs of work of a may race. */
static enum nsr_status some_facts(struct turn *t, const struct nsr_kernel *a,
                                  const struct nsr_facts_file **facts) {
  static char text[MOST_WORK * MOST_WORK * 32];
  struct nsr_fact_insn work[MOST_WORK];
  struct nsr_facts_file *f;
  int n, size = 0;
  *facts = NULL;
  if (pick(t, 4))
    return NSR_OK;
  NSR_TRY(find_work(t, a, work, &n));
  for (int i = 0; i < n; i++)
    for (int j = i; j < n; j++)
      if (pick(t, 2))
        size += snprintf(text + size, sizeof text - (size_t)size,
                         "race %s[%" PRIu32 "] %s[%" PRIu32 "]\n",
                         a->isa->engines[work[i].engine], work[i].insn,
                         a->isa->engines[work[j].engine], work[j].insn);
  NSR_TRY(nsr_facts_parse(t->ctx, a, "facts", text, (size_t)size, &f));
  *facts = f;
  return NSR_OK;
}

static bool is_bad(const struct nsr_judgement *j) {
  return j->verdict == NSR_REFUTED || j->verdict == NSR_INPUT_BROKEN;
}

static void count(struct tally *tally, const struct nsr_judgement *j) {
  bool bad = is_bad(j);
  tally->compared++;
  tally->good += j->verdict == NSR_EQUAL;
  tally->broken += bad;
  tally->hangs += bad && j->fault == NSR_FAULT_HANG;
  tally->undecided += j->verdict == NSR_UNDECIDED;
}

/* One run does not speak for all, or there is no end to it. */
static bool undecided(const struct nsr_judgement *j) {
  return j->verdict == NSR_UNDECIDED || j->verdict == NSR_PREFIX_ONLY;
}

static enum nsr_status clocks(struct turn *t) {
  const struct nsr_kernel *a, *b;
  struct nsr_judge_options one = {.inputs = 1, .no_relaunch = true};
  struct nsr_explore_options all = {.inputs = 1, .states = t->limit};
  struct nsr_exploration e;
  struct nsr_judgement j;
  NSR_TRY(subject(t, &a, &b));
  NSR_TRY(some_facts(t, a, &one.facts));
  all.facts = one.facts;
  NSR_TRY(nsr_cosimulate(t->ctx, a, b, &one, &j));
  all.no_reduce = true;
  NSR_TRY(explore(t, a, b, &all, &e));
  if (too_many(t, &e)) {
    all.no_reduce = false;
    NSR_TRY(explore(t, a, b, &all, &e));
  } else {
    t->tally->whole++;
  }
  if (undecided(&j) || undecided(&e.judgement)) {
    t->tally->undecided++;
    return NSR_OK;
  }
  count(t->tally, &e.judgement);
  bool used = false;
  for (uint32_t i = 0; one.facts && i < one.facts->n; i++)
    used |= one.facts->used[i];
  t->tally->facts += used;
  t->tally->other += j.fault != e.judgement.fault; /* two things are wrong */
  if (t->with.odd ? is_bad(&j) != is_bad(&e.judgement)
                  : j.verdict != e.judgement.verdict)
    fail(t, b, "clocks and orders disagree", &j, &e.judgement);
  return NSR_OK;
}

static enum nsr_status rewrites(struct turn *t) {
  const struct nsr_explore_options all = {
      .inputs = 4, .states = t->limit * LARGER, .demands = true};
  struct nsr_exploration e;
  struct nsr_kernel *b;
  enum nsr_scheme scheme;
  bool limited;
  enum nsr_status status = rewrite(t, true, &b, &scheme, &limited);
  if (status == NSR_E_REFUSED) {
    t->tally->refused++;
    return NSR_OK;
  }
  NSR_TRY(status);
  NSR_TRY(explore(t, t->kernel, b, &all, &e));
  if (t->with.odd /* hangs by itself, or has too many orders */ &&
      (e.judgement.verdict == NSR_INPUT_BROKEN ||
       e.judgement.verdict == NSR_UNDECIDED))
    return NSR_OK;
  count(t->tally, &e.judgement);
  if (e.judgement.verdict != NSR_EQUAL) {
    fail(t, b, "a rewritten kernel is not equal", &e.judgement, NULL);
    return NSR_OK;
  }
  if (limited) /* barriers stay */
    return NSR_OK;
  t->tally->of[scheme].equal++;
  t->tally->of[scheme].waits += e.demands.waits;
  t->tally->of[scheme].longer += e.demands.longer;
  t->tally->of[scheme].none += !e.demands.longer;
  return NSR_OK;
}

static enum nsr_status modes(struct turn *t) {
  const struct nsr_kernel *a, *b;
  struct nsr_explore_options o = {
      .inputs = 1, .states = t->limit, .demands = true};
  struct nsr_exploration whole, part;
  NSR_TRY(subject(t, &a, &b));
  o.out_of_order = pick(t, 2);
  o.no_reduce = true;
  NSR_TRY(explore(t, a, b, &o, &whole));
  if (too_many(t, &whole))
    return NSR_OK;
  t->tally->whole++;
  o.no_reduce = false;
  NSR_TRY(explore(t, a, b, &o, &part));
  count(t->tally, &whole.judgement);
  bool ends = whole.judgement.verdict == NSR_EQUAL;
  if (!same(&whole.judgement, &part.judgement) ||
      (ends && (whole.demands.waits != part.demands.waits ||
                whole.demands.longer != part.demands.longer ||
                whole.outcomes != part.outcomes)))
    fail(t, b,
         o.out_of_order ? "modes disagree, out of order" : "modes disagree",
         &whole.judgement, &part.judgement);
  return NSR_OK;
}

/* Bisimilar to the specification machine: safe, and nothing waits longer. */
static enum nsr_status published(struct turn *t) {
  const struct nsr_explore_options all = {
      .inputs = 4, .states = t->limit * LARGER, .demands = true};
  const struct nsr_rewrite_options o = {.verify = NSR_VERIFY_NONE,
                                        .scheme = NSR_SCHEME_PUBLISHED,
                                        .published = NSR_SCHEME_PER_LOOP};
  struct nsr_rewrite_report report;
  struct nsr_exploration e;
  struct nsr_kernel *b;
  NSR_TRY(nsr_rewrite(t->ctx, t->kernel, NULL, 0, &o, &b, &report));
  if (!report.changed || report.nkept > 1) {
    t->tally->refused++;
    return NSR_OK;
  }
  NSR_TRY(explore(t, t->kernel, b, &all, &e));
  count(t->tally, &e.judgement);
  if (e.judgement.verdict != NSR_EQUAL)
    fail(t, b, "a published form is not equal", &e.judgement, NULL);
  else if (!e.demands.inputs || e.demands.longer) {
    fprintf(stderr, "%s\n", e.demands.text);
    fail(t, b, "a published form waits for more", &e.judgement, NULL);
  }
  return NSR_OK;
}

/* Nothing that is proved is wrong. */
static enum nsr_status proofs(struct turn *t) {
  const struct nsr_explore_options all = {.states = t->limit};
  struct nsr_kernel *rewritten;
  const struct nsr_kernel *b;
  struct nsr_exploration e;
  struct nsr_proof proof;
  enum nsr_scheme scheme;
  bool limited;
  enum nsr_status status = rewrite(t, true, &rewritten, &scheme, &limited);
  if (status == NSR_E_REFUSED) {
    t->tally->refused++;
    return NSR_OK;
  }
  NSR_TRY(status);
  for (int i = 0; i < MUTANTS; i++) {
    b = rewritten;
    NSR_TRY(pick(t, 4) ? weaken(t, &b) : mistake(t, &b));
    if (i && pick(t, 4) == 0)
      NSR_TRY(pick(t, 2) ? weaken(t, &b) : mistake(t, &b));
    NSR_TRY(nsr_prove(t->ctx, t->kernel, b, NULL, &proof));
    if (proof.verdict != NSR_PROOF_PROVED) {
      t->tally->unproved++;
      continue;
    }
    NSR_TRY(explore(t, t->kernel, b, &all, &e));
    count(t->tally, &e.judgement);
    if (e.judgement.verdict == NSR_REFUTED)
      fail(t, b, "what is proved is refuted", &e.judgement, NULL);
  }
  return NSR_OK;
}

/* ---- main */

struct campaign {
  const char *name;
  enum nsr_status (*what)(struct turn *);
  bool plain;
};

static void run(uint64_t seed, uint64_t limit, const struct campaign *campaign,
                struct tally *tally) {
  static struct turn t;
  size_t sets = 0;
  while (nsr_isas[sets])
    sets++;
  t = (struct turn){.ctx = nsr_ctx_new(),
                    .r = {seed},
                    .seed = seed,
                    .limit = limit,
                    .plain = campaign->plain,
                    .isa = nsr_isas[seed % sets],
                    .tally = tally};
  tally->kernels++;
  if (made(&t, assemble(&t)))
    (void)made(&t, campaign->what(&t));
  nsr_ctx_free(t.ctx);
}

static void print_tally(FILE *out, const struct tally *t) {
  fprintf(out,
          "%" PRIu64 " kernels: %" PRIu64 " compared (%" PRIu64
          " unreduced), %" PRIu64 " good, %" PRIu64 " broken (%" PRIu64
          " hang, %" PRIu64 " for another reason), %" PRIu64
          " undecided, %" PRIu64 " refused, %" PRIu64 " not proved, %" PRIu64
          " with facts that matter, %" PRIu64 " failed; %" PRIu64 " states\n",
          t->kernels, t->compared, t->whole, t->good, t->broken, t->hangs,
          t->other, t->undecided, t->refused, t->unproved, t->facts, t->failed,
          t->states);
}

static void print_schemes(const struct tally *t) {
  for (int s = 0; s <= NSR_SCHEME_PUBLISHED; s++)
    if (t->of[s].equal)
      printf("  %s: %" PRIu64 " kernels, %" PRIu64 " without a wait that is "
             "too long; %" PRIu64 " of %" PRIu64 " waits are\n",
             nsr_scheme_name((enum nsr_scheme)s), t->of[s].equal, t->of[s].none,
             t->of[s].longer, t->of[s].waits);
}

int main(int argc, char **argv) {
  static const struct campaign campaigns[] = {{"clocks", clocks, false},
                                              {"rewrites", rewrites, false},
                                              {"modes", modes, false},
                                              {"published", published, true},
                                              {"proofs", proofs, false}};
  struct tally tally = {0};
  uint64_t n = argc > 2 ? strtoull(argv[2], NULL, 0) : 1000;
  uint64_t first = argc > 3 ? strtoull(argv[3], NULL, 0) : 1;
  uint64_t limit = argc > 4 ? strtoull(argv[4], NULL, 0) : STATES;
  for (size_t i = 0; argc > 1 && i < sizeof campaigns / sizeof *campaigns;
       i++) {
    if (strcmp(argv[1], campaigns[i].name) != 0)
      continue;
    printf("%s: seeds %" PRIu64 "..%" PRIu64 "\n", argv[1], first,
           first + n - 1);
    for (uint64_t seed = first; seed < first + n && tally.failed < 5; seed++) {
      run(seed, limit, &campaigns[i], &tally);
      if ((seed - first) % PROGRESS == PROGRESS - 1)
        print_tally(stderr, &tally);
    }
    print_tally(stdout, &tally);
    print_schemes(&tally);
    return tally.failed || tally.compared < n / 4;
  }
  fprintf(stderr,
          "usage: %s clocks|rewrites|modes|published|proofs [KERNELS [SEED "
          "[STATES]]]\n",
          argv[0]);
  return 2;
}
