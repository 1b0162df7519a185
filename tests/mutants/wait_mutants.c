/* wait_mutants.c - is every wait of a rewritten kernel needed, and is the judge
 * awake?
 *
 * Rewrites each kernel of the suite (or the files named), weakens one owned
 * wait at a time and judges the mutant against the original. A mutant that the
 * judge accepts must come with an explanation; half of all must be refuted.
 *
 * usage: wait_mutants [-q] [-s SCHEME] [FILE..]
 *        wait_mutants -n [-s SCHEME] [FILE..]
 *   FILE: an object, or its text (.s); none: the suite's kernels
 *   -q: print the accepted ones and the sums only
 *   -s: how the rewritten kernels count; without files the suite's kernels but
 *       the random ones
 *   -n: how many waits are needed: lowered by one they are refuted; the others
 *       with what implies them. The suite's kernels but the random ones, and
 *       FILEs; at least 90 % of all have to be
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
#include "object/note.h"

enum { INPUTS = 12, MORE_INPUTS = 200, SEEDS = 3, NEEDED_PERCENT = 90 };

struct tally {
  unsigned refuted, explained, undecided, unexplained, none;
};

struct run {
  struct nsr_ctx *ctx;
  const struct nsr_kernel *before, *after;
  struct nsr_judge_options options, more;
  enum nsr_scheme scheme;
  bool quiet, needed; /* needed: as with -n */
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

/* Whether the rewritten kernel's note tells whom the wait is for. Those in
 * islands are the input's own. */
static bool in_note(const struct run *run, const struct site *site) {
  const struct nsr_kernel *k = run->after;
  char name[64];
  const char *line;
  snprintf(name, sizeof name, "%s[%" PRIu32 "] waits on semaphore ",
           k->isa->engines[k->streams[site->stream].engine], site->insn);
  for (uint32_t i = 0; i < k->nsections; i++) {
    const struct nsr_section *s = &k->sections[i];
    struct nsr_in in = {.p = s->data, .left = s->size};
    if (strcmp(s->name, NSR_REWRITE_NOTE) == 0)
      while ((line = nsr_note_next(&in)) != NULL)
        if (strncmp(line, name, strlen(name)) == 0)
          return true;
  }
  return false;
}

static enum nsr_status judge_all(struct run *run) {
  struct site *sites;
  size_t n;
  NSR_TRY(sites_find(run->ctx, run->after, &sites, &n));
  for (size_t i = 0; i < n; i++)
    for (int m = run->needed ? LOWER : 0; m < NMUTATIONS; m++)
      if (!run->needed || in_note(run, &sites[i]))
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

static enum nsr_status load(struct run *run, const char *path,
                            struct nsr_kernel **out) {
  size_t n = strlen(path);
  const uint8_t *text;
  size_t size;
  if (n < 2 || strcmp(path + n - 2, ".s") != 0)
    return nsr_kernel_load(run->ctx, path, out);
  NSR_TRY(nsr_file_read(run->ctx, path, &text, &size));
  NSR_TRY(nsr_assemble(run->ctx, path, (const char *)text, size, out));
  return nsr_kernel_check(run->ctx, *out);
}

/* Makes, or reads, the kernel and rewrites it. */
static enum nsr_status prepare(struct run *run, const struct source *source) {
  struct nsr_kernel *before, *after;
  if (source->file) {
    NSR_TRY(load(run, source->name, &before));
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

/* What is asked of all kernels. */
struct how {
  enum nsr_scheme scheme;
  bool quiet, needed;
  struct tally sum;
};

/* Whether this kernel's mutants are as they should be. */
static bool print_tally(const struct how *how, const struct tally *t) {
  unsigned all = t->refuted + t->explained + t->undecided + t->unexplained;
  if (how->needed) {
    printf("  %u waits: %u needed\n", all, t->refuted);
    return !t->unexplained && !t->undecided;
  }
  printf("  %u mutants: %u refuted, %u accepted and explained, %u not "
         "explained, %u undecided; %u could not be made\n",
         all, t->refuted, t->explained, t->unexplained, t->undecided, t->none);
  return all > 0 && !t->unexplained && !t->undecided && 2 * t->refuted >= all;
}

static bool run_kernel(const struct source *source, struct how *how) {
  struct run run = {.ctx = nsr_ctx_new(),
                    .scheme = how->scheme,
                    .quiet = how->quiet || how->needed,
                    .needed = how->needed,
                    .options = {.inputs = INPUTS, .no_relaunch = true},
                    .more = {.inputs = MORE_INPUTS, .no_relaunch = true}};
  if (!run.ctx)
    return false;
  nsr_ctx_on_diag(run.ctx, print_diag, NULL);
  print_name(source);
  enum nsr_status status = prepare(&run, source);
  if (status == NSR_OK)
    status = judge_all(&run);
  bool good = print_tally(how, &run.tally);
  how->sum.refuted += run.tally.refuted;
  how->sum.explained += run.tally.explained;
  nsr_ctx_free(run.ctx);
  return status == NSR_OK && good;
}

/* The suite; its random kernel from a few seeds, for the first instruction set
 * and the default scheme alone. */
static bool run_suite(struct how *how) {
  bool ok = true;
  for (size_t s = 0; nsr_isas[s]; s++)
    for (size_t i = 0; nsr_gen_names[i]; i++) {
      struct source source = {.isa = nsr_isas[s], .name = nsr_gen_names[i]};
      bool random = !strcmp(source.name, "random");
      source.nsettings = random;
      if (random && (s || how->needed || how->scheme != NSR_SCHEME_AUTO))
        continue;
      for (int64_t seed = 1; seed <= (random ? SEEDS : 1); seed++) {
        source.setting = (struct nsr_setting){"seed", seed};
        ok = run_kernel(&source, how) && ok;
      }
    }
  return ok;
}

static bool print_needed(const struct tally *t) {
  unsigned all = t->refuted + t->explained;
  printf("all %u waits: %u needed, %.1f %%\n", all, t->refuted,
         all ? 100.0 * t->refuted / all : 100.0);
  return 100 * t->refuted >= NEEDED_PERCENT * all;
}

int main(int argc, char **argv) {
  struct how how = {.scheme = NSR_SCHEME_AUTO};
  bool ok = true;
  int c, scheme;
  while ((c = getopt(argc, argv, "nqs:")) != -1) {
    how.quiet |= c == 'q';
    how.needed |= c == 'n';
    if (c == 's' && (scheme = nsr_scheme_parse(optarg)) >= 0)
      how.scheme = (enum nsr_scheme)scheme;
    else if (c != 'q' && c != 'n')
      return 2;
  }
  for (int i = optind; i < argc; i++)
    ok =
        run_kernel(&(struct source){.name = argv[i], .file = true}, &how) && ok;
  if (optind == argc || how.needed)
    ok = run_suite(&how) && ok;
  if (how.needed)
    ok = print_needed(&how.sum) && ok;
  return !ok;
}
