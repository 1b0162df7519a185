/* nsync-rewrite - takes the barriers out of kernels. */
#include <stdio.h>
#include <string.h>

#include <nsr/rewrite.h>

#include "common.h"

static const char usage[] =
    "usage: nsync-rewrite [OPTIONS] IN -o OUT\n"
    "\n"
    "Replaces the barriers of each kernel in IN (an object or a .neff\n"
    "archive; \"-\" is standard input) by counted waits, judges the result\n"
    "against the input, and writes OUT only if every kernel passed. A file\n"
    "in which there is nothing to do is copied byte for byte.\n"
    "\n"
    "  -o, --output=OUT     where the result goes; \"-\" is standard output\n"
    "      --json=FILE      the report as JSON, one line for each kernel;\n"
    "                       \"-\" is standard output, instead of the text\n"
    "      --verify=JUDGE,..\n"
    "                       static: for all inputs, as far as that can be\n"
    "                       shown; cosim: by co-simulation (both are the\n"
    "                       default);\n"
    "                       exhaustive: in all orders (small kernels);\n"
    "                       none: do not judge\n"
    "      --external=FILE  what others do while the judge runs the kernels,\n"
    "                       as for nsync-cosim\n"
    "      --facts=FILE     what is known of the kernels beside what they "
    "say:\n"
    "                       races that do no harm, disjoint tensors, ranges,\n"
    "                       registers and semaphores to leave alone\n"
    "                       (isa/README.md)\n"
    "      --explain-trust  print what the static judge shares with the\n"
    "                       rewriter, and assumes\n"
    "      --strict         write nothing where something stays undecided or\n"
    "                       a barrier has to stay, the one at the exit apart\n"
    "                       (exit 4)\n"
    "      --add-exit-barrier\n"
    "                       a kernel without a barrier in front of its end "
    "gets "
    "one\n"
    "      --keep-outer-barrier\n"
    "                       barriers directly in outermost loops stay, so "
    "that\n"
    "                       counts are bounded by one iteration\n"
    "      --on-overflow=report\n"
    "                       say so where trip counts, constant or declared,\n"
    "                       do not show that no semaphore can overflow (the\n"
    "                       default)\n"
    "      --on-overflow=keep-barrier\n"
    "                       barriers stay there, in outer loops first\n"
    "      --alloc=NAME     what a semaphore counts: auto (the default: the\n"
    "                       cheapest that fits), per-instruction, per-loop,\n"
    "                       per-engine (running totals), equal-weight, or\n"
    "                       published: the publication's, to the letter\n"
    "      --published-alloc=NAME\n"
    "                       its per-instruction, per-loop (the default) or\n"
    "                       per-engine\n"
    "      --published-most-recent\n"
    "                       it waits for the most recent execution instead "
    "of\n"
    "                       leaving a barrier where it has no form\n"
    "      --max-registers=N\n"
    "                       at most N new registers for each engine\n"
    "      --max-semaphores=N\n"
    "                       at most N semaphores\n"
    "      --soft-barriers=auto\n"
    "                       instructions with unknown effects are put in "
    "order\n"
    "                       with all others by waits, in place of the "
    "barriers\n"
    "                       around them, where that costs less (the default)\n"
    "      --soft-barriers=never\n"
    "                       these barriers stay\n"
    "      --machine=M, --set KEY=VALUE\n"
    "                       the machine to compare costs on, as for "
    "nsync-cosim\n"
    "      --keep=ENGINE:LABEL\n"
    "                       the barriers of the loop or conditional that "
    "starts\n"
    "                       at LABEL of ENGINE, or the one there, stay; may "
    "be\n"
    "                       given again\n"
    "      --only=ENGINE:LABEL\n"
    "                       all others stay; may be given again\n"
    "      --limit=N        all but the first N of those that go stay\n"
    "      --seed=N         of the inputs and schedules tried\n"
    "      --quiet          no report on standard output, no notes\n"
    "      --help           print this\n"
    "      --version        print the version\n"
    "\n"
    "Exit: 0 written, 1 refused or refuted, 2 usage, 3 unreadable or\n"
    "malformed input or I/O, 4 undecided (--strict), 70 internal error.\n";

struct request {
  const char *in, *out, *json, *external, *facts;
  bool quiet, trust;
  struct nsr_spot *keep, *only; /* as many as there are arguments */
  const char **sets;
  struct nsr_rewrite_options options;
};

/* What became of one kernel: a report where it got as far as a verdict, else
 * the reason. */
struct result {
  const char *path;
  enum nsr_status status;
  bool reported;
  struct nsr_rewrite_report report;
  struct nsr_diag error;
};

struct results {
  struct result *v;
  uint32_t n;
};

static enum nsr_status one(struct tool *t, const struct request *r,
                           const struct nsr_container *c, uint32_t i,
                           struct nsr_blob *out, struct result *result) {
  const struct nsr_member *m = &c->members[i];
  struct nsr_kernel *k, *rewritten;
  struct nsr_rewrite_options options = r->options;
  NSR_TRY(nsr_container_kernel(t->ctx, c, i, &k));
  NSR_TRY(tool_external(t, r->external, k, &options.judge.external));
  NSR_TRY(tool_facts(t, r->facts, k, &options.judge.facts));
  enum nsr_status status = nsr_rewrite(t->ctx, k, m->data, m->size, &options,
                                       &rewritten, &result->report);
  result->reported = status == NSR_OK || result->report.judged;
  if (status == NSR_OK && result->report.changed)
    status = nsr_kernel_write(t->ctx, rewritten, &out->data, &out->size);
  return status;
}

/* Goes on behind a kernel that fails, so that all of them are reported. */
static enum nsr_status each(struct tool *t, const struct request *r,
                            const struct nsr_container *c,
                            struct nsr_blob *blobs, struct results *all) {
  enum nsr_status worst = NSR_OK;
  bool any = false;
  for (uint32_t i = 0; i < c->nmembers; i++) {
    if (!c->members[i].is_kernel)
      continue;
    any = true;
    struct result *result = &all->v[all->n++];
    result->path = c->members[i].path;
    t->failed = false;
    enum nsr_status status = one(t, r, c, i, &blobs[i], result);
    result->status = status;
    result->error = t->error;
    worst = worst == NSR_OK ? status : worst;
    if (status == NSR_E_NOMEM)
      break;
  }
  if (!any)
    return nsr_fail(t->ctx, NSR_E_FORMAT,
                    (struct nsr_place){.file = c->path, .insn = -1},
                    "no member is a kernel");
  return worst;
}

/* One kernel's part of the report; NULL: it has none. */
static enum nsr_status part(struct tool *t, const struct result *r,
                            const char *out, bool json, const char **text) {
  *text = NULL;
  if (r->reported && json)
    return nsr_report_json(t->ctx, &r->report, r->path, out, text);
  if (r->reported)
    return nsr_report_text(t->ctx, &r->report, r->path, out, text);
  if (json && r->error.text)
    return nsr_report_failure_json(t->ctx, r->status, &r->error, r->path, text);
  return NSR_OK;
}

/* All reports as one text; out NULL: nothing was written. */
static enum nsr_status text(struct tool *t, const struct results *all,
                            const char *out, bool json, const char **joined) {
  const char **parts = tool_alloc(t, all->n * sizeof *parts);
  size_t size = 1;
  if (!parts)
    return NSR_E_NOMEM;
  for (uint32_t i = 0; i < all->n; i++) {
    NSR_TRY(part(t, &all->v[i], out, json, &parts[i]));
    size += parts[i] ? strlen(parts[i]) : 0;
  }
  char *whole = tool_alloc(t, size), *end = whole;
  if (!whole)
    return NSR_E_NOMEM;
  for (uint32_t i = 0; i < all->n; i++)
    end = parts[i] ? stpcpy(end, parts[i]) : end;
  *joined = whole;
  return NSR_OK;
}

/* The text goes to standard output unless something else is there. */
static enum nsr_status print(struct tool *t, const struct request *r,
                             const struct results *all, const char *out,
                             struct nsr_staged **staged) {
  const char *s;
  if (r->json) {
    NSR_TRY(text(t, all, out, true, &s));
    NSR_TRY(tool_stage(t, staged, r->json, s, strlen(s)));
  }
  if (r->quiet || (r->json && strcmp(r->json, "-") == 0))
    return NSR_OK;
  NSR_TRY(text(t, all, out, false, &s));
  if (*s && strcmp(r->out, "-") != 0)
    return tool_stage(t, staged, "-", s, strlen(s));
  fputs(s, stderr);
  return NSR_OK;
}

static enum nsr_status stage(struct tool *t, const struct request *r,
                             const struct nsr_container *c,
                             const struct nsr_blob *blobs,
                             struct nsr_staged **staged) {
  const uint8_t *data;
  size_t size;
  NSR_TRY(nsr_container_write(t->ctx, c, blobs, &data, &size));
  return tool_stage(t, staged, r->out, data, size);
}

/* Refused kernels have a report as well; where an output cannot be written,
 * there is none of anything. */
static enum nsr_status rewrite(struct tool *t, const struct request *r,
                               const struct nsr_container *c,
                               struct nsr_staged **staged) {
  struct results all = {0};
  struct nsr_blob *blobs = tool_alloc(t, c->nmembers * sizeof *blobs);
  all.v = tool_alloc(t, c->nmembers * sizeof *all.v);
  if (!blobs || !all.v)
    return NSR_E_NOMEM;
  enum nsr_status status = each(t, r, c, blobs, &all);
  if (status == NSR_OK)
    NSR_TRY(stage(t, r, c, blobs, staged));
  if (status != NSR_E_NOMEM) {
    NSR_TRY(print(t, r, &all, status == NSR_OK ? r->out : NULL, staged));
    NSR_TRY(nsr_file_commit(t->ctx, staged));
  }
  return status;
}

static enum nsr_status run(struct tool *t, struct request *r) {
  const uint8_t *data;
  size_t size;
  struct nsr_container *c;
  struct nsr_staged *staged = NULL;
  const char *path = strcmp(r->in, "-") == 0 ? "<stdin>" : r->in;
  NSR_TRY(tool_machine(t, &r->options.machine));
  NSR_TRY(nsr_file_read(t->ctx, r->in, &data, &size));
  NSR_TRY(nsr_container_read(t->ctx, path, data, size, &c));
  enum nsr_status status = rewrite(t, r, c, &staged);
  nsr_file_discard(&staged);
  return status;
}

static unsigned judge_of(const char *name, size_t n) {
  static const struct {
    const char *name;
    unsigned judge;
  } judges[] = {{"static", NSR_VERIFY_STATIC},
                {"cosim", NSR_VERIFY_COSIM},
                {"exhaustive", NSR_VERIFY_EXHAUSTIVE},
                {"none", NSR_VERIFY_NONE}};
  for (size_t i = 0; i < sizeof judges / sizeof *judges; i++)
    if (strlen(judges[i].name) == n && memcmp(judges[i].name, name, n) == 0)
      return judges[i].judge;
  return 0;
}

/* "cosim,exhaustive", or none alone. */
static bool verify(struct tool *t, struct request *r, const char *how) {
  unsigned all = 0;
  for (const char *at = how;;) {
    size_t n = strcspn(at, ",");
    unsigned one = judge_of(at, n);
    bool again = (all & one) || (all && one == NSR_VERIFY_NONE) ||
                 all == NSR_VERIFY_NONE;
    if (!one || again)
      return tool_refuse(
          t,
          "--verify=%s: expected static, cosim and exhaustive, once each, or "
          "none",
          how);
    all |= one;
    if (!at[n])
      break;
    at += n + 1;
  }
  r->options.verify = all;
  return true;
}

static bool overflow(struct tool *t, struct request *r, const char *how) {
  if (strcmp(how, "report") == 0)
    r->options.overflow = NSR_OVERFLOW_REPORT;
  else if (strcmp(how, "keep-barrier") == 0)
    r->options.overflow = NSR_OVERFLOW_KEEP;
  else
    return tool_refuse(t, "--on-overflow=%s: expected report or keep-barrier",
                       how);
  return true;
}

static bool soft(struct tool *t, struct request *r, const char *how) {
  if (strcmp(how, "auto") == 0)
    r->options.soft = NSR_SOFT_AUTO;
  else if (strcmp(how, "never") == 0)
    r->options.soft = NSR_SOFT_NEVER;
  else
    return tool_refuse(t, "--soft-barriers=%s: expected auto or never", how);
  return true;
}

static bool scheme(struct tool *t, struct request *r, const char *name) {
  int s = nsr_scheme_parse(name);
  if (s < 0)
    return tool_refuse(t,
                       "--alloc=%s: expected auto, per-instruction, per-loop, "
                       "per-engine, equal-weight or published",
                       name);
  r->options.scheme = (enum nsr_scheme)s;
  return true;
}

static bool published(struct tool *t, struct request *r, const char *name) {
  int s = nsr_scheme_parse(name);
  if (s != NSR_SCHEME_PER_INSTRUCTION && s != NSR_SCHEME_PER_LOOP &&
      s != NSR_SCHEME_PER_ENGINE)
    return tool_refuse(t,
                       "--published-alloc=%s: expected per-instruction, "
                       "per-loop or per-engine",
                       name);
  r->options.published = (enum nsr_scheme)s;
  return true;
}

static bool limit(struct tool *t, const char *option, uint32_t *to) {
  uint64_t v;
  if (!tool_number(t, option, optarg, UINT32_MAX, &v))
    return false;
  *to = (uint32_t)v;
  return true;
}

/* "ENGINE:LABEL"; the argument is cut in two. */
static bool spot(struct tool *t, const char *option, struct nsr_spot *v,
                 uint32_t *n) {
  char *colon = strchr(optarg, ':');
  if (!colon || colon == optarg || !colon[1])
    return tool_refuse(t, "%s=%s: expected ENGINE:LABEL", option, optarg);
  *colon = 0;
  v[(*n)++] = (struct nsr_spot){optarg, colon + 1};
  return true;
}

/* false: said what is wrong with the option. */
static bool option(struct tool *t, struct request *r, int c) {
  switch (c) {
  case 'o':
    r->out = optarg;
    return true;
  case 'j':
    r->json = optarg;
    return true;
  case 'v':
    return verify(t, r, optarg);
  case 'x':
    r->external = optarg;
    return true;
  case 'f':
    r->facts = optarg;
    return true;
  case 'T':
    r->trust = true;
    return true;
  case 's':
    r->options.strict = true;
    r->options.judge.whole_ranges = true;
    return true;
  case 'k':
    r->options.keep_outer = true;
    return true;
  case 'E':
    r->options.add_exit = true;
    return true;
  case 'w':
    return overflow(t, r, optarg);
  case 'S':
    return soft(t, r, optarg);
  case 'M':
    r->options.machine.name = optarg;
    return true;
  case 'Z':
    r->sets[r->options.machine.nsets++] = optarg;
    return true;
  case 'c':
    return scheme(t, r, optarg);
  case 'P':
    return published(t, r, optarg);
  case 'R':
    r->options.published_recent = true;
    return true;
  case 'r':
    r->options.limit_registers = true;
    return limit(t, "--max-registers", &r->options.max_registers);
  case 'm':
    r->options.limit_semaphores = true;
    return limit(t, "--max-semaphores", &r->options.max_semaphores);
  case 'K':
    return spot(t, "--keep", r->keep, &r->options.bisect.nkeep);
  case 'O':
    return spot(t, "--only", r->only, &r->options.bisect.nonly);
  case 'L':
    r->options.bisect.limited = true;
    return limit(t, "--limit", &r->options.bisect.limit);
  case 'e':
    return tool_number(t, "--seed", optarg, UINT64_MAX, &r->options.judge.seed);
  case 'q':
    r->quiet = t->quiet = true;
    return true;
  default:
    return false;
  }
}

/* A file that is read once for each kernel is none that is written. */
static bool side_file(struct tool *t, const struct request *r,
                      const char *option, const char *path) {
  char with_out[40], with_json[40];
  snprintf(with_out, sizeof with_out, "%s and -o", option);
  snprintf(with_json, sizeof with_json, "%s and --json", option);
  return !path ||
         (tool_file(t, option, path) && tool_apart(t, with_out, path, r->out) &&
          (!r->json || tool_apart(t, with_json, path, r->json)));
}

/* IN may be OUT: it is read whole before anything is written. */
static bool names(struct tool *t, const struct request *r) {
  return tool_named(t, "IN", r->in) && tool_named(t, "OUT", r->out) &&
         side_file(t, r, "--external", r->external) &&
         side_file(t, r, "--facts", r->facts) &&
         (!r->json || (tool_named(t, "the report", r->json) &&
                       tool_apart(t, "-o and --json", r->out, r->json) &&
                       tool_apart(t, "IN and --json", r->in, r->json)));
}

int main(int argc, char **argv) {
  static const struct option options[] = {
      {"output", required_argument, NULL, 'o'},
      {"json", required_argument, NULL, 'j'},
      {"verify", required_argument, NULL, 'v'},
      {"external", required_argument, NULL, 'x'},
      {"facts", required_argument, NULL, 'f'},
      {"explain-trust", no_argument, NULL, 'T'},
      {"strict", no_argument, NULL, 's'},
      {"keep-outer-barrier", no_argument, NULL, 'k'},
      {"add-exit-barrier", no_argument, NULL, 'E'},
      {"on-overflow", required_argument, NULL, 'w'},
      {"soft-barriers", required_argument, NULL, 'S'},
      {"machine", required_argument, NULL, 'M'},
      {"set", required_argument, NULL, 'Z'},
      {"alloc", required_argument, NULL, 'c'},
      {"scheme", required_argument, NULL, 'c'}, /* older names */
      {"published-alloc", required_argument, NULL, 'P'},
      {"published-most-recent", no_argument, NULL, 'R'},
      {"max-registers", required_argument, NULL, 'r'},
      {"registers", required_argument, NULL, 'r'},
      {"max-semaphores", required_argument, NULL, 'm'},
      {"semaphores", required_argument, NULL, 'm'},
      {"keep", required_argument, NULL, 'K'},
      {"only", required_argument, NULL, 'O'},
      {"limit", required_argument, NULL, 'L'},
      {"seed", required_argument, NULL, 'e'},
      {"quiet", no_argument, NULL, 'q'},
      TOOL_OPTIONS};
  struct tool t;
  struct request r = {.options.explore.demands = true};
  int c;
  if (!tool_start(&t, "nsync-rewrite", usage, argc, argv))
    return tool_exit(&t, NSR_E_NOMEM);
  r.keep = tool_alloc(&t, (size_t)argc * sizeof *r.keep);
  r.only = tool_alloc(&t, (size_t)argc * sizeof *r.only);
  r.sets = tool_alloc(&t, (size_t)argc * sizeof *r.sets);
  if (!r.keep || !r.only || !r.sets)
    return tool_exit(&t, NSR_E_NOMEM);
  r.options.bisect.keep = r.keep;
  r.options.bisect.only = r.only;
  r.options.machine.sets = r.sets;
  while ((c = tool_option(&t, "o:", options)) != TOOL_DONE)
    if (!option(&t, &r, c))
      return tool_stop(&t);
  if (r.trust) {
    fputs(nsr_prove_trust(), stdout);
    return tool_exit(&t, NSR_OK);
  }
  if (!tool_operands(&t, 1, "one IN"))
    return tool_stop(&t);
  if ((r.options.published || r.options.published_recent) &&
      r.options.scheme != NSR_SCHEME_PUBLISHED)
    return tool_usage(&t, "--published-alloc and --published-most-recent are "
                          "for --alloc=published");
  if (!r.out)
    return tool_usage(&t, "expected -o OUT");
  if (r.json && strcmp(r.json, "-") == 0 && strcmp(r.out, "-") == 0)
    return tool_usage(&t, "-o and --json cannot both be standard output");
  r.in = argv[optind];
  if (!names(&t, &r))
    return tool_stop(&t);
  return tool_exit(&t, run(&t, &r));
}
