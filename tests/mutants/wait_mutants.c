/* wait_mutants.c - is every wait of a rewritten kernel needed, and is the judge
 * awake?
 *
 * Rewrites each kernel of the suite (or the files named), weakens one owned
 * wait at a time and judges the mutant against the original. A mutant that the
 * judge accepts must come with an explanation; half of all must be refuted.
 *
 * usage: wait_mutants [-q] [-s SCHEME] [FILE.neff..]
 *   -q: print the accepted ones and the sums only
 *   -s: how the rewritten kernels count; without files the suite's kernels but
 *       the random ones
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <nsr/gen.h>
#include <nsr/judge.h>
#include <nsr/rewrite.h>
#include <nsr/text.h>

#include "mutant.h"

enum { INPUTS = 12, MORE_INPUTS = 200, SEEDS = 3 };

struct tally {
  unsigned refuted, explained, undecided, unexplained, none;
};

struct run {
  struct nsr_ctx *ctx;
  const struct nsr_kernel *before, *after;
  struct nsr_judge_options options, more;
  enum nsr_scheme scheme;
  bool quiet;
  struct tally tally;
};

static void print_diag(void *user, const struct nsr_diag *diag) {
  char text[512];
  (void)user;
  nsr_diag_format(diag, text, sizeof text);
  fprintf(stderr, "mutants: %s\n", text);
}

/* Indents each line. */
static void print_lines(const char *text) {
  while (*text) {
    size_t n = strcspn(text, "\n");
    printf("      %.*s\n", (int)n, text);
    text += n + (text[n] != '\0');
  }
}

static void print_site(const struct run *run, const struct site *site,
                       enum mutation mutation, const char *verdict) {
  const struct nsr_kernel *k = run->after;
  const struct nsr_stream *s = &k->streams[site->stream];
  static const char *const names[] = {"same", "drop", "lower"};
  char text[256];
  nsr_insn_format(k, s, site->insn, text, sizeof text);
  printf("  %-5s %s[%" PRIu32 "] %s: %s\n", names[mutation],
         k->isa->engines[s->engine], site->insn, text, verdict);
}

static enum nsr_status explain(struct run *run, const struct site *site,
                               enum mutation mutation,
                               const struct nsr_kernel *mutant) {
  const char *text = NULL;
  int engine = run->after->streams[site->stream].engine;
  NSR_TRY(nsr_explain_wait(run->ctx, run->after, mutant, engine, site->insn,
                           &run->more, &text));
  bool explained = text && *text;
  print_site(run, site, mutation,
             explained ? "accepted" : "ACCEPTED, NOT EXPLAINED");
  if (explained)
    print_lines(text);
  run->tally.explained += explained;
  run->tally.unexplained += !explained;
  return NSR_OK;
}

/* Few inputs refute most mutants; only what those accept is worth many. */
static enum nsr_status cosimulate(struct run *run,
                                  const struct nsr_kernel *mutant,
                                  struct nsr_judgement *j) {
  NSR_TRY(nsr_cosimulate(run->ctx, run->before, mutant, &run->options, j));
  if (j->verdict != NSR_EQUAL)
    return NSR_OK;
  return nsr_cosimulate(run->ctx, run->before, mutant, &run->more, j);
}

/* What changes nothing must be accepted: else mutants would be refuted for
 * the way they are made. */
static enum nsr_status control(struct run *run, const struct site *site,
                               const struct nsr_kernel *mutant) {
  struct nsr_judgement j;
  NSR_TRY(nsr_cosimulate(run->ctx, run->before, mutant, &run->options, &j));
  if (j.verdict == NSR_EQUAL)
    return NSR_OK;
  print_site(run, site, SAME, nsr_verdict_name(j.verdict));
  return nsr_fail(run->ctx, NSR_E_DIFFERENT, NSR_NOWHERE,
                  "a change of nothing is not accepted: %s", j.text);
}

static enum nsr_status judge(struct run *run, const struct site *site,
                             enum mutation mutation) {
  struct nsr_kernel *mutant;
  struct nsr_judgement j;
  NSR_TRY(mutate(run->ctx, run->after, site, mutation, &mutant));
  if (!mutant) {
    print_site(run, site, mutation, "cannot be made");
    run->tally.none += mutation != SAME;
    return NSR_OK;
  }
  NSR_TRY(nsr_kernel_check(run->ctx, mutant));
  if (mutation == SAME)
    return control(run, site, mutant);
  NSR_TRY(cosimulate(run, mutant, &j));
  if (j.verdict == NSR_EQUAL)
    return explain(run, site, mutation, mutant);
  if (j.verdict == NSR_INPUT_BROKEN)
    return nsr_fail(run->ctx, NSR_E_DIFFERENT, NSR_NOWHERE,
                    "the original itself is broken: %s", j.text);
  bool refuted = j.verdict == NSR_REFUTED;
  run->tally.refuted += refuted;
  run->tally.undecided += !refuted;
  if (!run->quiet || !refuted) {
    char verdict[64];
    snprintf(verdict, sizeof verdict, "%s (%s)", nsr_verdict_name(j.verdict),
             nsr_fault_name(j.fault));
    print_site(run, site, mutation, verdict);
    if (j.text)
      print_lines(j.text);
  }
  return NSR_OK;
}

static enum nsr_status judge_all(struct run *run) {
  struct site *sites;
  size_t n;
  NSR_TRY(sites_find(run->ctx, run->after, &sites, &n));
  for (size_t i = 0; i < n; i++)
    for (int m = 0; m < NMUTATIONS; m++)
      NSR_TRY(judge(run, &sites[i], (enum mutation)m));
  return NSR_OK;
}

/* Where a kernel comes from: a file, or the suite. */
struct source {
  const struct nsr_isa *isa;
  const char *name;
  bool file;
  uint32_t nsettings;
  struct nsr_setting setting;
};

/* Makes, or reads, the kernel and rewrites it. */
static enum nsr_status prepare(struct run *run, const struct source *source) {
  struct nsr_kernel *before, *after;
  if (source->file) {
    NSR_TRY(nsr_kernel_load(run->ctx, source->name, &before));
  } else {
    const struct nsr_gen_options gen = {.isa = source->isa,
                                        .nsettings = source->nsettings,
                                        .settings = &source->setting};
    NSR_TRY(nsr_gen(run->ctx, source->name, &gen, &before));
    NSR_TRY(nsr_kernel_check(run->ctx, before));
  }
  struct nsr_rewrite_options options = {
      .verify = NSR_VERIFY_COSIM, .scheme = run->scheme, .judge = run->options};
  struct nsr_rewrite_report report;
  NSR_TRY(nsr_rewrite(run->ctx, before, NULL, 0, &options, &after, &report));
  run->before = before;
  run->after = after;
  return NSR_OK;
}

static void print_name(const struct source *source) {
  printf("%s", source->name);
  if (source->isa)
    printf(" for %s", source->isa->name);
  if (source->nsettings)
    printf(" %s=%" PRId64, source->setting.key, source->setting.value);
  printf("\n");
}

/* Whether this kernel's mutants are as they should be. */
static bool run_kernel(const struct source *source, enum nsr_scheme scheme,
                       bool quiet) {
  struct run run = {.ctx = nsr_ctx_new(),
                    .scheme = scheme,
                    .quiet = quiet,
                    .options = {.inputs = INPUTS, .no_relaunch = true},
                    .more = {.inputs = MORE_INPUTS, .no_relaunch = true}};
  if (!run.ctx)
    return false;
  nsr_ctx_on_diag(run.ctx, print_diag, NULL);
  print_name(source);
  enum nsr_status status = prepare(&run, source);
  if (status == NSR_OK)
    status = judge_all(&run);
  const struct tally *t = &run.tally;
  unsigned all = t->refuted + t->explained + t->undecided + t->unexplained;
  printf("  %u mutants: %u refuted, %u accepted and explained, %u not "
         "explained, %u undecided; %u could not be made\n",
         all, t->refuted, t->explained, t->unexplained, t->undecided, t->none);
  nsr_ctx_free(run.ctx);
  return status == NSR_OK && all > 0 && !t->unexplained && !t->undecided &&
         2 * t->refuted >= all;
}

/* The suite; its random kernel from a few seeds, for the first instruction set
 * and the default scheme alone. */
static bool run_suite(enum nsr_scheme scheme, bool quiet) {
  bool ok = true;
  for (size_t s = 0; nsr_isas[s]; s++)
    for (size_t i = 0; nsr_gen_names[i]; i++) {
      struct source source = {.isa = nsr_isas[s], .name = nsr_gen_names[i]};
      bool random = !strcmp(source.name, "random");
      source.nsettings = random;
      if (random && (s || scheme != NSR_SCHEME_AUTO))
        continue;
      for (int64_t seed = 1; seed <= (random ? SEEDS : 1); seed++) {
        source.setting = (struct nsr_setting){"seed", seed};
        ok = run_kernel(&source, scheme, quiet) && ok;
      }
    }
  return ok;
}

int main(int argc, char **argv) {
  bool ok = true, quiet = false;
  int scheme = NSR_SCHEME_AUTO, c;
  while ((c = getopt(argc, argv, "qs:")) != -1) {
    if (c == 'q')
      quiet = true;
    else if (c != 's' || (scheme = nsr_scheme_parse(optarg)) < 0)
      return 2;
  }
  for (int i = optind; i < argc; i++)
    ok = run_kernel(&(struct source){.name = argv[i], .file = true},
                    (enum nsr_scheme)scheme, quiet) &&
         ok;
  if (optind == argc)
    ok = run_suite((enum nsr_scheme)scheme, quiet);
  return !ok;
}
