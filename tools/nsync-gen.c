/* nsync-gen - kernels of the suite, in barrier form. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nsr/gen.h>

#include "common.h"

static const char usage[] =
    "usage: nsync-gen NAME [--size=small|real] [--set KEY=VALUE ..] [--text]\n"
    "                 -o OUT\n"
    "       nsync-gen --list\n"
    "\n"
    "Makes the kernel NAME of the suite, with barriers at every loop's entry\n"
    "and iteration, into the kernel file OUT (\"-\" is standard output).\n"
    "\n"
    "  -o, --output=OUT     where the kernel goes\n"
    "      --size=SIZE      small (for tests; the default) or real\n"
    "      --set KEY=VALUE  one of the kernel's settings, such as tiles=5; a\n"
    "                       wrong KEY tells which there are\n"
    "      --text           write assembly text instead of a kernel file\n"
    "      --list           print the names and what they are\n"
    "      --help           print this\n"
    "      --version        print the version\n"
    "\n"
    "Exit: 0 done, 2 usage, 3 I/O.\n";

enum { MAX_SETTINGS = 64 };

struct request {
  const char *name, *out;
  bool text, list;
  struct nsr_setting settings[MAX_SETTINGS];
  struct nsr_gen_options options;
};

static bool set_size(struct tool *t, struct request *r, const char *size) {
  r->options.real_size = !strcmp(size, "real");
  if (r->options.real_size || !strcmp(size, "small"))
    return true;
  tool_usage(t, "--size=%s: expected small or real", size);
  return false;
}

/* KEY=VALUE, cut in place. */
static bool add_setting(struct tool *t, struct request *r, char *arg) {
  char *value = strchr(arg, '='), *end = "";
  if (r->options.nsettings == MAX_SETTINGS) {
    tool_usage(t, "--set %s: more than %d settings", arg, MAX_SETTINGS);
    return false;
  }
  struct nsr_setting *s = &r->settings[r->options.nsettings++];
  errno = 0;
  if (value)
    s->value = strtoll(value + 1, &end, 0);
  if (!value || value == arg || !value[1] || *end || errno) {
    tool_usage(t, "--set %s: expected KEY=NUMBER", arg);
    return false;
  }
  *value = '\0';
  s->key = arg;
  return true;
}

static enum nsr_status list(struct tool *t) {
  char *text = NULL;
  size_t n = 0;
  FILE *out = open_memstream(&text, &n);
  if (!out)
    return NSR_E_NOMEM;
  for (int i = 0; nsr_gen_names[i]; i++)
    fprintf(out, "%-12s %s\n", nsr_gen_names[i],
            nsr_gen_about(nsr_gen_names[i]));
  enum nsr_status status =
      fclose(out) == 0 ? tool_write(t, "-", text, n) : NSR_E_NOMEM;
  free(text);
  return status;
}

static enum nsr_status run(struct tool *t, const struct request *r) {
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
  case 's':
    return set_size(t, r, optarg);
  case 'S':
    return add_setting(t, r, optarg);
  default:
    return false;
  }
}

int main(int argc, char **argv) {
  static const struct option known[] = {
      {"output", required_argument, NULL, 'o'},
      {"size", required_argument, NULL, 's'},
      {"set", required_argument, NULL, 'S'},
      {"text", no_argument, NULL, 't'},
      {"list", no_argument, NULL, 'l'},
      TOOL_OPTIONS};
  struct tool t;
  struct request r = {0};
  int c;
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
