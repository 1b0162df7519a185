/* nsync-cosim - judges one kernel against another by running both. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <nsr/explore.h>
#include <nsr/judge.h>
#include <nsr/prove.h>

#include "explain_place.h"
#include "replay.h"
#include "said.h"
#include "time_report.h"

static const char usage[] =
    "usage: nsync-cosim [options] A B\n"
    "       nsync-cosim --replay=FILE [A B]\n"
    "       nsync-cosim --time [options] FILE ..\n"
    "\n"
    "Runs kernel A and kernel B (objects, or archives with one kernel; \"-\" "
    "is\n"
    "standard input) on the engine model, on inputs chosen from the declared\n"
    "ranges of the control tensors, and says whether B does what A does.\n"
    "\n"
    "      --relation=R    rewrite (default): same instructions on every\n"
    "                      channel, same values read, every conflict ordered;\n"
    "                      outputs: any two kernels, same output tensors in\n"
    "                      numeric mode from the files' contents, in one\n"
    "                      schedule\n"
    "      --judge=J       for rewrite: static (all inputs), cosim (runs),\n"
    "                      static,cosim (default), or exhaustive: all orders "
    "of\n"
    "                      issue, read, write and retirement, for small\n"
    "                      kernels, and what B waits for beyond what A asks "
    "for\n"
    "      --states=N      exhaustive: states of a kernel on an input at most\n"
    "                      (1000000)\n"
    "      --no-reduce     exhaustive: every order, also of what commutes "
    "(slow);\n"
    "                      --reduce is the default\n"
    "      --out-of-order  exhaustive: queues complete in any order\n"
    "      --tolerance=X   for outputs: absolute plus relative (0)\n"
    "      --external=FILE what others do, an event a line (isa/README.md); "
    "without\n"
    "                      it, waits on semaphores of others hold at once\n"
    "      --facts=FILE    what is known of A beside what it says: races that\n"
    "                      do no harm, ranges of control tensors\n"
    "                      (isa/README.md)\n"
    "      --inputs=N      inputs to try, 1 or more, while there are any "
    "others\n"
    "                      (at most 60; exhaustive: 12)\n"
    "      --seed=N        chooses inputs and schedules (0)\n"
    "      --runs=N        no more inputs behind N runs of kernels, 1 or more\n"
    "      --time-limit=SECONDS\n"
    "                      no more inputs behind so many seconds\n"
    "      --schedules=N   schedules per input where one is not enough, 1 or\n"
    "                      more (8)\n"
    "      --budget=N      instructions per run at most, 1 or more (2000000)\n"
    "      --strict        exit 4 where anything is undecided, and where a\n"
    "                      range was not tried up to its top\n"
    "      --json=FILE     the verdict as JSON (\"-\": standard output)\n"
    "      --witness=FILE  where not \"equal\": what shows it, to be judged "
    "again\n"
    "      --replay=FILE   judge again what a witness tells, A and B included\n"
    "      --input=TENSOR=V,V,..\n"
    "                      one input: words of a control tensor; the last one\n"
    "                      stands for all behind it (else: what the file "
    "holds)\n"
    "      --number=N      with --input: launch as for the N-th of many (0)\n"
    "      --start=SEM:VALUE\n"
    "                      what a semaphore of B holds at first\n"
    "      --mistake=unsigned-wait\n"
    "                      B's waits compare without sign (a test of judges)\n"
    "      --explain=ENGINE:INDEX\n"
    "                      why the wait of that instruction of B is needed, "
    "or\n"
    "                      why it could go\n"
    "\n"
    "      --time          how long each kernel takes on a machine, where the\n"
    "                      time goes, and the ratio to the first one; takes\n"
    "                      --budget and --json, and:\n"
    "      --machine=M     a machine that is built in (v2), or its file\n"
    "      --set KEY=VALUE another figure of the machine: barrier=20us,\n"
    "                      pipeline.pe.window=8 (isa/README.md)\n"
    "      --sweep=KEY=V,V,..\n"
    "                      times for each of these values\n"
    "      --input=TENSOR=V,V,..\n"
    "                      as above\n"
    "      --ideal         also times for dependences alone, at no cost and "
    "at\n"
    "                      that of a semaphore\n"
    "      --limits        per loop the least time of an iteration: by "
    "resources,\n"
    "                      by dependences as found and as they were; and what "
    "it\n"
    "                      takes\n"
    "\n"
    "      --help          print this\n"
    "      --version       print the version\n"
    "\n"
    "Exit: 0 no difference found, 1 different, refused, or A itself is "
    "broken,\n"
    "2 usage, 3 unreadable or malformed input or I/O, 4 undecided "
    "(--strict).\n";

enum { MAX_STARTS = 64 };

struct settings {
  struct nsr_judge_options judge;
  struct nsr_explore_options explore;
  bool outputs, exhaustive, strict;
  bool statics, cosim; /* asked for; neither: both */
  double tolerance;
  const char *json, *explain, *external, *facts;
  const char *judging;   /* the last option that is not for --time */
  const char *exploring; /* the last one for --judge=exhaustive alone */
  struct time_settings time;
  struct replay replay;
  uint64_t number, seconds;
  struct timespec begun;
  uint32_t nstarts;
  struct nsr_start starts[MAX_STARTS];
};

/* ---- output */

typedef void print_fn(FILE *out, const struct verdict *v);

static enum nsr_status stage(struct tool *t, struct nsr_staged **staged,
                             const char *path, print_fn *print,
                             const struct verdict *v) {
  char *text = NULL;
  size_t n = 0;
  FILE *out = open_memstream(&text, &n);
  if (!out)
    return NSR_E_NOMEM;
  print(out, v);
  bool good = fclose(out) == 0;
  char *kept = good ? tool_alloc(t, n + 1) : NULL;
  if (kept)
    memcpy(kept, text, n);
  free(text);
  return kept ? tool_stage(t, staged, path, kept, n) : NSR_E_NOMEM;
}

static enum nsr_status status_of(const struct settings *s,
                                 const struct nsr_judgement *j) {
  switch (j->verdict) {
  case NSR_EQUAL:
    return NSR_OK;
  case NSR_UNDECIDED:
  case NSR_PREFIX_ONLY:
    return s->strict ? NSR_E_UNDECIDED : NSR_OK;
  default:
    return NSR_E_DIFFERENT;
  }
}

static enum nsr_status proof_status(const struct settings *s,
                                    const struct nsr_proof *p) {
  if (!p || p->verdict == NSR_PROOF_PROVED)
    return NSR_OK;
  if (p->verdict == NSR_PROOF_REFUTED)
    return NSR_E_DIFFERENT;
  return s->strict ? NSR_E_UNDECIDED : NSR_OK;
}

static enum nsr_status both_status(const struct settings *s,
                                   const struct verdict *v) {
  enum nsr_status status = v->judged ? status_of(s, &v->j) : NSR_OK;
  if (v->proof && v->proof->verdict == NSR_PROOF_PROVED && v->judged &&
      v->j.verdict == NSR_PREFIX_ONLY)
    return NSR_OK; /* what runs did not get to is known to be right */
  return status == NSR_OK ? proof_status(s, v->proof) : status;
}

static enum nsr_status report(struct tool *t, const struct settings *s,
                              const struct verdict *v) {
  struct nsr_staged *staged = NULL;
  bool to_stdout = s->json && strcmp(s->json, "-") == 0;
  if (s->json)
    NSR_TRY(stage(t, &staged, s->json, verdict_json, v));
  enum nsr_status status = NSR_OK;
  if (!to_stdout)
    status = stage(t, &staged, "-", verdict_text, v);
  if (status == NSR_OK)
    status = replay_stage(t, &staged, &s->replay, &v->j);
  if (status == NSR_OK)
    status = nsr_file_commit(t->ctx, &staged);
  nsr_file_discard(&staged);
  return status == NSR_OK ? both_status(s, v) : status;
}

/* ---- one input, and limits */

static enum nsr_status parse_input(struct tool *t, struct settings *s,
                                   struct nsr_input_words *only) {
  struct nsr_words *tensors =
      tool_alloc(t, (s->time.ninputs + 1) * sizeof *tensors);
  if (!tensors)
    return NSR_E_NOMEM;
  for (uint32_t i = 0; i < s->time.ninputs; i++) {
    struct nsr_time_words w;
    NSR_TRY(time_words(t, s->time.inputs[i], &w));
    tensors[i] = (struct nsr_words){w.tensor, w.n, w.words};
  }
  only->ntensors = s->time.ninputs;
  only->tensors = tensors;
  if (only->ntensors || s->replay.from)
    s->judge.only = only;
  return NSR_OK;
}

static bool in_time(void *self) {
  const struct settings *s = self;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)(now.tv_sec - s->begun.tv_sec) +
             (double)(now.tv_nsec - s->begun.tv_nsec) * 1e-9 <
         (double)s->seconds;
}

static void set_limits(struct settings *s) {
  clock_gettime(CLOCK_MONOTONIC, &s->begun);
  s->judge.self = s;
  s->judge.go_on = s->seconds ? in_time : NULL;
  s->judge.starts = s->starts;
  s->judge.nstarts = s->nstarts;
}

/* SEM:VALUE, SEM as 3 or s3. */
static bool parse_start(struct tool *t, struct settings *s, const char *text) {
  char *end;
  const char *colon = strchr(text, ':');
  unsigned long sem = strtoul(text + (*text == 's'), &end, 10);
  bool good = colon && end == colon && end > text + (*text == 's');
  errno = 0;
  long long value = good ? strtoll(colon + 1, &end, 0) : 0;
  good = good && end > colon + 1 && !*end && !errno && sem <= UINT16_MAX &&
         value >= INT32_MIN && value <= INT32_MAX;
  if (!good)
    return tool_refuse(t, "--start takes SEM:VALUE, not '%s'", text);
  if (s->nstarts == MAX_STARTS)
    return tool_refuse(t, "more than %d of --start", MAX_STARTS);
  s->starts[s->nstarts++] = (struct nsr_start){(uint16_t)sem, (int32_t)value};
  return true;
}

static bool parse_mistake(struct tool *t, struct settings *s,
                          const char *text) {
  s->judge.unsigned_waits = strcmp(text, "unsigned-wait") == 0;
  return s->judge.unsigned_waits ||
         tool_refuse(t, "no mistake '%s': unsigned-wait", text);
}

/* ---- main */

static enum nsr_status judge(struct tool *t, struct settings *s,
                             const char *path_a, const char *path_b) {
  struct nsr_kernel *a, *b;
  struct nsr_exploration e;
  struct nsr_proof proof;
  struct verdict v = {.explored = s->exhaustive ? &e : NULL};
  struct nsr_input_words only = {.number = s->number};
  NSR_TRY(nsr_kernel_load(t->ctx, path_a, &a));
  NSR_TRY(nsr_kernel_load(t->ctx, path_b, &b));
  NSR_TRY(tool_external(t, s->external, a, &s->judge.external));
  NSR_TRY(tool_facts(t, s->facts, a, &s->judge.facts));
  NSR_TRY(parse_input(t, s, &only));
  if (s->explain)
    return explain_wait(t, &s->judge, b, s->explain);
  if (s->statics) {
    NSR_TRY(nsr_prove(t->ctx, a, b, s->judge.facts, &proof));
    v.proof = &proof;
  }
  v.judged = s->exhaustive || s->outputs || s->cosim;
  if (s->exhaustive) {
    s->explore.inputs = s->judge.inputs;
    s->explore.seed = s->judge.seed;
    s->explore.facts = s->judge.facts;
    s->explore.external = s->judge.external;
    NSR_TRY(nsr_explore(t->ctx, a, b, &s->explore, &e));
    v.j = e.judgement;
  } else if (s->outputs) {
    NSR_TRY(nsr_compare_outputs(t->ctx, a, b, s->tolerance, &s->judge, &v.j));
  } else if (s->cosim) {
    NSR_TRY(nsr_cosimulate(t->ctx, a, b, &s->judge, &v.j));
  }
  return report(t, s, &v);
}

static bool parse_relation(struct tool *t, const char *text,
                           struct settings *s) {
  s->outputs = strcmp(text, "outputs") == 0;
  if (s->outputs || strcmp(text, "rewrite") == 0)
    return true;
  return tool_refuse(t, "no relation '%s': rewrite or outputs", text);
}

static bool parse_judge(struct tool *t, const char *text, struct settings *s) {
  s->exhaustive = strcmp(text, "exhaustive") == 0;
  s->statics = strcmp(text, "static") == 0;
  s->cosim = strcmp(text, "cosim") == 0;
  if (strcmp(text, "static,cosim") == 0 || strcmp(text, "cosim,static") == 0)
    s->statics = s->cosim = true;
  if (s->exhaustive || s->statics || s->cosim)
    return true;
  return tool_refuse(t,
                     "no judge '%s': static, cosim, both with a comma "
                     "between, or exhaustive",
                     text);
}

static bool parse_tolerance(struct tool *t, const char *text,
                            struct settings *s) {
  char *end;
  errno = 0;
  s->tolerance = strtod(text, &end);
  if (end != text && !*end && !errno && s->tolerance >= 0)
    return true;
  return tool_refuse(t, "--tolerance takes a number >= 0, not '%s'", text);
}

static bool parse_positive(struct tool *t, const char *name, const char *text,
                           uint64_t max, uint64_t *out) {
  if (!tool_number(t, name, text, max, out))
    return false;
  return *out > 0 || tool_refuse(t, "%s takes 1 or more, not 0", name);
}

static bool parse_count(struct tool *t, const char *name, const char *text,
                        uint32_t *out) {
  uint64_t v;
  if (!parse_positive(t, name, text, 1000000, &v))
    return false;
  *out = (uint32_t)v;
  return true;
}

/* A file beside the kernels. */
static bool side_file(struct tool *t, const char *option, const char *path,
                      const char *json) {
  char both[40];
  snprintf(both, sizeof both, "%s and --json", option);
  return !path || (tool_file(t, option, path) &&
                   (!json || tool_apart(t, both, path, json)));
}

static bool names(struct tool *t, const char *a, const char *b,
                  const char *json, const struct settings *s) {
  return tool_named(t, "A", a) && tool_named(t, "B", b) &&
         side_file(t, "--external", s->external, json) &&
         side_file(t, "--facts", s->facts, json) &&
         (!json || (tool_named(t, "the report", json) &&
                    tool_apart(t, "A and --json", a, json) &&
                    tool_apart(t, "B and --json", b, json)));
}

/* Options of --time; false: wrong, said. */
static bool time_option(struct tool *t, struct settings *s, int c) {
  static const char *const names[] = {"--machine", "--set",   "--sweep",
                                      "",          "--ideal", "--limits"};
  struct time_settings *x = &s->time;
  if (c == 'T') {
    x->on = true;
    return true;
  }
  if (c == 'D') /* for judging as well */
    return time_add(t, "--input", optarg, x->inputs, &x->ninputs);
  x->option = names[c - 'A'];
  switch (c) {
  case 'A':
    x->machine = optarg;
    return true;
  case 'B':
    return time_add(t, "--set", optarg, x->sets, &x->nsets);
  case 'C':
    x->sweep = optarg;
    return true;
  case 'E':
    x->ideal = true;
    return true;
  default:
    x->limits = true;
    return true;
  }
}

/* Options of the exhaustive judge; false: wrong, said. */
static bool explore_option(struct tool *t, struct settings *s, int c) {
  switch (c) {
  case 'N':
    s->exploring = "--states";
    return parse_positive(t, "--states", optarg, UINT64_MAX,
                          &s->explore.states);
  case 'O':
    s->exploring = "--out-of-order";
    s->explore.out_of_order = true;
    return true;
  default:
    s->exploring = c == 'U' ? "--no-reduce" : "--reduce";
    s->explore.no_reduce = c == 'U';
    return true;
  }
}

/* Those that say what is run, and how long. */
static bool run_option(struct tool *t, struct settings *s, int c) {
  s->judging = c == 'q'   ? "--runs"
               : c == 'l' ? "--time-limit"
               : c == 'a' ? "--start"
               : c == 'm' ? "--mistake"
               : c == 'k' ? "--number"
               : c == 'w' ? "--witness"
                          : "--replay";
  switch (c) {
  case 'q':
    return parse_positive(t, "--runs", optarg, UINT64_MAX, &s->judge.runs);
  case 'l':
    return parse_positive(t, "--time-limit", optarg, UINT32_MAX, &s->seconds);
  case 'a':
    return parse_start(t, s, optarg);
  case 'm':
    return parse_mistake(t, s, optarg);
  case 'k':
    return tool_number(t, "--number", optarg, UINT64_MAX, &s->number);
  case 'w':
    s->replay.witness = optarg;
    return tool_named(t, "the witness", optarg);
  default:
    s->replay.from = optarg;
    return tool_file(t, "--replay", optarg);
  }
}

/* Options of judging; false: wrong, said. */
static bool judge_option(struct tool *t, struct settings *s, int c) {
  switch (c) {
  case 'r':
    s->judging = "--relation";
    return parse_relation(t, optarg, s);
  case 't':
    s->judging = "--tolerance";
    return parse_tolerance(t, optarg, s);
  case 'i':
    s->judging = "--inputs";
    return parse_count(t, "--inputs", optarg, &s->judge.inputs);
  case 's':
    s->judging = "--seed";
    return tool_number(t, "--seed", optarg, UINT64_MAX, &s->judge.seed);
  case 'n':
    s->judging = "--schedules";
    return parse_count(t, "--schedules", optarg, &s->judge.schedules);
  case 'b':
    return parse_positive(t, "--budget", optarg, UINT64_MAX, &s->judge.budget);
  case 'S':
    s->judging = "--strict";
    s->strict = s->judge.whole_ranges = true;
    return true;
  case 'j':
    s->json = optarg;
    return true;
  case 'e':
    s->judging = "--explain";
    s->explain = optarg;
    return true;
  case 'f':
    s->judging = "--facts";
    s->facts = optarg;
    return true;
  case 'x':
    s->judging = "--external";
    s->external = optarg;
    return true;
  case 'J':
    s->judging = "--judge";
    return parse_judge(t, optarg, s);
  default:
    return strchr("NORU", c) ? explore_option(t, s, c) : run_option(t, s, c);
  }
}

/* Whether an option decides what the run of an input does. */
static bool decides(int c) { return c && strchr("rtsnbfxamD", c) != NULL; }

static const struct option options[] = {
    {"relation", required_argument, NULL, 'r'},
    {"tolerance", required_argument, NULL, 't'},
    {"inputs", required_argument, NULL, 'i'},
    {"seed", required_argument, NULL, 's'},
    {"schedules", required_argument, NULL, 'n'},
    {"budget", required_argument, NULL, 'b'},
    {"strict", no_argument, NULL, 'S'},
    {"json", required_argument, NULL, 'j'},
    {"explain", required_argument, NULL, 'e'},
    {"external", required_argument, NULL, 'x'},
    {"runs", required_argument, NULL, 'q'},
    {"time-limit", required_argument, NULL, 'l'},
    {"start", required_argument, NULL, 'a'},
    {"mistake", required_argument, NULL, 'm'},
    {"number", required_argument, NULL, 'k'},
    {"witness", required_argument, NULL, 'w'},
    {"replay", required_argument, NULL, 'p'},
    {"time", no_argument, NULL, 'T'},
    {"machine", required_argument, NULL, 'A'},
    {"set", required_argument, NULL, 'B'},
    {"sweep", required_argument, NULL, 'C'},
    {"input", required_argument, NULL, 'D'},
    {"ideal", no_argument, NULL, 'E'},
    {"limits", no_argument, NULL, 'F'},
    {"facts", required_argument, NULL, 'f'},
    {"judge", required_argument, NULL, 'J'},
    {"states", required_argument, NULL, 'N'},
    {"reduce", no_argument, NULL, 'R'},
    {"no-reduce", no_argument, NULL, 'U'},
    {"out-of-order", no_argument, NULL, 'O'},
    TOOL_OPTIONS};

/* The command line, or the arguments of a witness; false: said. */
static bool parse_options(struct tool *t, struct settings *s) {
  int c;
  while ((c = tool_option(t, "", options)) != TOOL_DONE) {
    bool timing = c == 'T' || (c >= 'A' && c <= 'F');
    const struct option *o = options;
    if (c == TOOL_STOP ||
        !(timing ? time_option(t, s, c) : judge_option(t, s, c)))
      return false;
    while (o->val != c)
      o++;
    if (c != 'D' && decides(c) &&
        !replay_note(t, &s->replay, o->name, o->has_arg ? optarg : NULL))
      return false;
  }
  return true;
}

/* The arguments of a witness come behind those of the command line, whose
 * operands count if there are any. */
static enum nsr_status parse_replay(struct tool *t, struct settings *s) {
  int argc, first = optind;
  char **argv;
  bool operands = t->argc > first;
  NSR_TRY(replay_read(t, s->replay.from, operands, &argc, &argv));
  char **all = tool_alloc(t, (size_t)(argc + t->argc) * sizeof *all);
  if (!all)
    return NSR_E_NOMEM;
  memcpy(all, argv, (size_t)argc * sizeof *all);
  for (; first < t->argc; first++)
    all[argc++] = t->argv[first];
  const char *from = s->replay.from;
  s->replay.from = NULL;
  t->argc = argc;
  t->argv = all;
  optind = 0;
  if (!parse_options(t, s) || s->replay.from)
    return nsr_fail(t->ctx, NSR_E_SYNTAX, (struct nsr_place){.file = from},
                    "this is no witness");
  s->replay.from = from;
  return NSR_OK;
}

/* Both judges, unless one is asked for; what is about single runs is for
 * cosim. */
static void default_judges(struct settings *s) {
  bool runs = s->replay.witness || s->replay.from || s->judge.runs ||
              s->seconds || s->nstarts || s->judge.unsigned_waits ||
              s->time.ninputs;
  if (s->exhaustive || s->statics || s->cosim)
    return;
  s->cosim = !s->outputs;
  s->statics = !s->outputs && !runs && !s->explain;
}

/* What does not go together. */
static bool fits(struct tool *t, const struct settings *s) {
  if (s->time.on && s->judging)
    return tool_refuse(t, "%s is not for --time", s->judging);
  if (!s->time.on && s->time.option)
    return tool_refuse(t, "%s is for --time alone", s->time.option);
  if (s->explain && s->outputs)
    return tool_refuse(t, "--explain is for --relation=rewrite alone");
  if (s->external && s->outputs)
    return tool_refuse(t, "--external is for --relation=rewrite alone");
  bool runs = s->replay.witness || s->judge.runs || s->seconds || s->nstarts ||
              s->judge.unsigned_waits || s->time.ninputs;
  if (!s->time.on && runs && (s->outputs || s->exhaustive))
    return tool_refuse(t, "--runs, --time-limit, --start, --mistake, --input "
                          "and --witness are for --relation=rewrite and "
                          "--judge=cosim alone");
  if (s->statics && (s->outputs || s->explain))
    return tool_refuse(t, "--judge=static is for --relation=rewrite, without "
                          "--explain");
  if (runs && s->statics && !s->cosim)
    return tool_refuse(t, "--judge=static runs nothing");
  if (s->facts && s->outputs)
    return tool_refuse(t, "--facts is for --relation=rewrite alone");
  if (s->exploring && !s->exhaustive)
    return tool_refuse(t, "%s is for --judge=exhaustive alone", s->exploring);
  if (s->exhaustive && (s->outputs || s->explain))
    return tool_refuse(t, "--judge=exhaustive is for --relation=rewrite, "
                          "without --explain");
  return true;
}

static int run_time(struct tool *t, struct settings *s) {
  int n = t->argc - optind;
  s->time.json = s->json;
  s->time.budget = s->judge.budget;
  if (n < 1) {
    (void)tool_refuse(t, "expected kernels");
    return tool_stop(t);
  }
  for (int i = optind; i < t->argc; i++)
    if (!tool_named(t, "FILE", t->argv[i]) ||
        (s->json && !tool_apart(t, "FILE and --json", t->argv[i], s->json)))
      return tool_stop(t);
  if (s->json && !tool_named(t, "the report", s->json))
    return tool_stop(t);
  return tool_exit(t, time_report(t, &s->time, t->argv + optind, n));
}

int main(int argc, char **argv) {
  struct tool t;
  struct settings s = {.explore.demands = true};
  if (!tool_start(&t, "nsync-cosim", usage, argc, argv))
    return tool_exit(&t, NSR_E_NOMEM);
  if (!parse_options(&t, &s))
    return tool_stop(&t);
  if (s.replay.from) {
    enum nsr_status status = parse_replay(&t, &s);
    if (status != NSR_OK)
      return tool_exit(&t, status);
  }
  default_judges(&s);
  if (!fits(&t, &s))
    return tool_stop(&t);
  if (s.time.on)
    return run_time(&t, &s);
  if (!tool_operands(&t, 2, "two kernels"))
    return tool_stop(&t);
  const char *a = t.argv[optind], *b = t.argv[optind + 1];
  if (!names(&t, a, b, s.json, &s))
    return tool_stop(&t);
  s.replay.operands[0] = a;
  s.replay.operands[1] = b;
  set_limits(&s);
  return tool_exit(&t, judge(&t, &s, a, b));
}
