/* nsync-gen - kernels of the suite, in barrier form or as written by hand. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nsr/gen.h>

#include "common.h"
#include "gen_edit.h"

static const char usage[] =
    "usage: nsync-gen NAME [--isa=ISA] [--size=small|real] "
    "[--form=barrier|manual]\n"
    "                 [--text] [--set KEY=VALUE ..] [--KEY=VALUE ..] "
    "[--stats] -o OUT\n"
    "       nsync-gen --list\n"
    "       nsync-gen mutate --operator=OP [--index=K] FILE -o OUT\n"
    "       nsync-gen shrink --predicate=COMMAND FILE -o OUT\n"
    "\n"
    "Makes the kernel NAME of the suite, with barriers at every loop's entry\n"
    "and iteration or (--form=manual) with waits alone, as a person writes "
    "them,\n"
    "into the kernel file OUT (\"-\" is standard output).\n"
    "`mutate` makes a kernel with one mistake, `shrink` a smaller one of\n"
    "which a command says the same; both have their own --help.\n"
    "\n"
    "  -o, --output=OUT     where the kernel goes\n"
    "      --isa=ISA        the instruction set it is for; a wrong one tells\n"
    "                       which there are, the first is the default\n"
    "      --size=SIZE      small (for tests; the default) or real\n"
    "      --form=FORM      barrier (the default) or manual\n"
    "      --set KEY=VALUE  one of the kernel's settings, such as tiles=5; a\n"
    "                       wrong KEY tells which there are\n"
    "      --KEY=VALUE      the same, for the settings of a random kernel: "
    "seed,\n"
    "                       instructions (in all, about 60 unless given), "
    "depth\n"
    "                       of nests, trips at most, engines and queues (0: "
    "as\n"
    "                       many as suit the size), rotation (percent of\n"
    "                       operands in loops), private, conditionals and\n"
    "                       unknown (effects; percent of what bodies hold)\n"
    "      --stats          say on standard error what a random kernel holds\n"
    "      --text           write assembly text instead of a kernel file\n"
    "      --list           print the names and what they are\n"
    "      --help           print this\n"
    "      --version        print the version\n"
    "\n"
    "Exit: 0 done, 2 usage, 3 I/O.\n";

enum { MAX_SETTINGS = 64 };

struct request {
  const char *name, *out;
  bool text, list, stats;
  struct nsr_random_shares shares;
  struct nsr_setting settings[MAX_SETTINGS];
  struct nsr_gen_options options;
};

static bool set_isa(struct tool *t, struct request *r, const char *name) {
  char known[256] = "";
  r->options.isa = nsr_isa_by_name(name);
  if (r->options.isa)
    return true;
  for (int i = 0; nsr_isas[i]; i++)
    if (strlen(known) + strlen(nsr_isas[i]->name) + 2 < sizeof known)
      strcat(strcat(known, " "), nsr_isas[i]->name);
  return tool_refuse(t, "--isa=%s: not known; there are%s", name, known);
}

static bool set_form(struct tool *t, struct request *r, const char *form) {
  r->options.manual = !strcmp(form, "manual");
  return r->options.manual || !strcmp(form, "barrier") ||
         tool_refuse(t, "--form=%s: expected barrier or manual", form);
}

static bool set_size(struct tool *t, struct request *r, const char *size) {
  r->options.real_size = !strcmp(size, "real");
  if (r->options.real_size || !strcmp(size, "small"))
    return true;
  tool_usage(t, "--size=%s: expected small or real", size);
  return false;
}

/* false: value is not a number; *wrong then. */
static bool add_number(struct tool *t, struct request *r, const char *option,
                       const char *key, const char *value, bool *wrong) {
  char *end = "";
  *wrong = false;
  if (r->options.nsettings == MAX_SETTINGS)
    return tool_refuse(t, "%s: more than %d settings", option, MAX_SETTINGS);
  struct nsr_setting *s = &r->settings[r->options.nsettings++];
  errno = 0;
  s->key = key;
  s->value = strtoll(value, &end, 0);
  *wrong = !*value || *end || errno;
  return !*wrong;
}

/* --set KEY=VALUE, cut in place. */
static bool add_setting(struct tool *t, struct request *r, char *arg) {
  char *value = strchr(arg, '=');
  bool wrong = true;
  if (value && value != arg) {
    *value = '\0';
    if (add_number(t, r, "--set", arg, value + 1, &wrong))
      return true;
    *value = '=';
  }
  return wrong && tool_refuse(t, "--set %s: expected KEY=NUMBER", arg);
}

/* --KEY=VALUE */
static bool add_named(struct tool *t, struct request *r, const char *key,
                      const char *value) {
  bool wrong;
  char option[32];
  snprintf(option, sizeof option, "--%s", key);
  if (add_number(t, r, option, key, value, &wrong))
    return true;
  return wrong && tool_refuse(t, "%s=%s: expected a number", option, value);
}

static enum nsr_status list(struct tool *t) {
  char *text = NULL;
  size_t n = 0;
  FILE *out = open_memstream(&text, &n);
  if (!out)
    return NSR_E_NOMEM;
  for (int i = 0; nsr_gen_names[i]; i++)
    fprintf(out, "%-15s %s\n", nsr_gen_names[i],
            nsr_gen_about(nsr_gen_names[i]));
  enum nsr_status status =
      fclose(out) == 0 ? tool_write(t, "-", text, n) : NSR_E_NOMEM;
  free(text);
  return status;
}

static unsigned percent(uint32_t part, uint32_t all) {
  return all ? (unsigned)((uint64_t)part * 100 / all) : 0;
}

static void print_shares(const struct nsr_random_shares *s) {
  static const char *const ways[] = {"by rem",   "by and",   "toggled",
                                     "set back", "unrolled", "advancing"};
  fprintf(stderr, "work: %u instructions on %u engines and %u queues\n",
          s->work, s->engines, s->queues);
  fprintf(stderr, "conflicts: %u %% of them wait for others of their region\n",
          percent(s->waiting, s->work));
  for (int d = 0; d < 5; d++)
    fprintf(stderr, "%s%d: %u %%%s", d ? " " : "depth ", d,
            percent(s->by_depth[d], s->work), d < 4 ? "," : "\n");
  fprintf(stderr,
          "loops: %u, %u %% may run zero times, %u with break, %u with "
          "continue\n",
          s->loops, percent(s->zero_trips, s->loops), s->breaks, s->continues);
  fprintf(stderr, "conditionals: %u, %u %% with both arms\n", s->conditionals,
          percent(s->both_arms, s->conditionals));
  fprintf(stderr,
          "scopes without a barrier: %u private loops, %u private arms, %u "
          "common\n",
          s->private_loops, s->private_arms, s->common_scopes);
  fprintf(stderr, "operands: %u; %u %% at addresses from memory", s->operands,
          percent(s->addressed, s->operands));
  for (int i = 0; i < 6; i++)
    fprintf(stderr, ", %u %% %s", percent(s->rotating[i], s->operands),
            ways[i]);
  fprintf(stderr, "\n");
}

static enum nsr_status make(struct tool *t, const struct request *r) {
  const char *text;
  const uint8_t *data;
  size_t n;
  struct nsr_kernel *k;
  if (r->text) {
    NSR_TRY(nsr_gen_text(t->ctx, r->name, &r->options, &text, &n));
    return tool_write(t, r->out, text, n);
  }
  NSR_TRY(nsr_gen(t->ctx, r->name, &r->options, &k));
  NSR_TRY(nsr_kernel_check(t->ctx, k));
  NSR_TRY(nsr_kernel_write(t->ctx, k, &data, &n));
  return tool_write(t, r->out, data, n);
}

static enum nsr_status run(struct tool *t, struct request *r) {
  if (r->stats && strcmp(r->name, "random") != 0)
    return nsr_fail(t->ctx, NSR_E_USAGE, NSR_NOWHERE,
                    "--stats is for random kernels");
  r->options.shares = &r->shares;
  NSR_TRY(make(t, r));
  if (r->stats)
    print_shares(&r->shares);
  return NSR_OK;
}

/* Settings that are options of their own. */
static const char *const named[] = {
    "seed",   "instructions", "depth",   "trips",        "engines",
    "queues", "rotation",     "private", "conditionals", "unknown"};
enum { NNAMED = sizeof named / sizeof *named, FIRST_NAMED = 1000 };

/* One option; false: what is wrong is said. */
static bool option(struct tool *t, struct request *r, int c) {
  switch (c) {
  case 'o':
    r->out = optarg;
    return true;
  case 't':
    r->text = true;
    return true;
  case 'l':
    r->list = true;
    return true;
  case 'a':
    return set_isa(t, r, optarg);
  case 's':
    return set_size(t, r, optarg);
  case 'f':
    return set_form(t, r, optarg);
  case 'S':
    return add_setting(t, r, optarg);
  case 'p':
    r->stats = true;
    return true;
  default:
    return c >= FIRST_NAMED && c < FIRST_NAMED + NNAMED &&
           add_named(t, r, named[c - FIRST_NAMED], optarg);
  }
}

int main(int argc, char **argv) {
  static const struct option others[] = {
      {"output", required_argument, NULL, 'o'},
      {"isa", required_argument, NULL, 'a'},
      {"size", required_argument, NULL, 's'},
      {"form", required_argument, NULL, 'f'},
      {"set", required_argument, NULL, 'S'},
      {"stats", no_argument, NULL, 'p'},
      {"text", no_argument, NULL, 't'},
      {"list", no_argument, NULL, 'l'},
      TOOL_OPTIONS};
  struct option known[NNAMED + sizeof others / sizeof *others];
  struct tool t;
  struct request r = {0};
  int c;
  for (int i = 0; i < NNAMED; i++)
    known[i] =
        (struct option){named[i], required_argument, NULL, FIRST_NAMED + i};
  memcpy(known + NNAMED, others, sizeof others);
  if (argc > 1 && !strcmp(argv[1], "mutate"))
    return gen_mutate(argc - 1, argv + 1);
  if (argc > 1 && !strcmp(argv[1], "shrink"))
    return gen_shrink(argc - 1, argv + 1);
  r.options.settings = r.settings;
  if (!tool_start(&t, "nsync-gen", usage, argc, argv))
    return tool_exit(&t, NSR_E_NOMEM);
  while ((c = tool_option(&t, "o:", known)) != TOOL_DONE)
    if (!option(&t, &r, c))
      return tool_stop(&t);
  if (!tool_operands(&t, r.list ? 0 : 1, r.list ? "no NAME" : "one NAME"))
    return tool_stop(&t);
  if (r.list)
    return tool_exit(&t, list(&t));
  if (!r.out)
    return tool_usage(&t, "expected -o OUT");
  if (!tool_named(&t, "OUT", r.out))
    return tool_stop(&t);
  r.name = argv[optind];
  return tool_exit(&t, run(&t, &r));
}
