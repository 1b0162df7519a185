/* common.c - options, messages and exit codes of all programs. */
#include "common.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct tool_block {
  struct tool_block *next;
  max_align_t bytes[];
};

static const char *copy(struct tool *t, const char *s) {
  char *to = s ? tool_alloc(t, strlen(s) + 1) : NULL;
  return to ? strcpy(to, s) : NULL;
}

static void keep_error(struct tool *t, const struct nsr_diag *diag) {
  if (t->failed || diag->severity != NSR_ERROR)
    return;
  t->failed = true;
  t->error = *diag;
  t->error.text = copy(t, diag->text);
  t->error.place.file = copy(t, diag->place.file);
  t->error.place.engine = copy(t, diag->place.engine);
  t->error.place.label = copy(t, diag->place.label);
  t->error.place.source_file = copy(t, diag->place.source_file);
}

static void print_diag(void *user, const struct nsr_diag *diag) {
  struct tool *t = user;
  keep_error(t, diag);
  char small[1024], *text = small;
  if (t->quiet && diag->severity != NSR_ERROR)
    return;
  size_t n = nsr_diag_format(diag, small, sizeof small);
  char *large = n < sizeof small ? NULL : malloc(n + 1);
  if (large) {
    nsr_diag_format(diag, large, n + 1);
    text = large;
  }
  bool placed = diag->place.file || diag->place.source_file;
  fprintf(stderr, "%s%s%s\n", placed ? "" : t->name, placed ? "" : ": ", text);
  free(large);
}

/* A file opened later must not take the number of a standard stream that was
 * closed: what is written to that stream would go into it. Opened the wrong
 * way round, these fail as a closed one does. */
static void fill_standard(void) {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
    if (fcntl(fd, F_GETFD) < 0 &&
        open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
      return;
}

bool tool_start(struct tool *t, const char *name, const char *usage, int argc,
                char **argv) {
  *t = (struct tool){.name = name, .usage = usage, .argc = argc, .argv = argv};
  fill_standard();
  /* a write that cannot go on is an error with a message, not an end */
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
  t->ctx = nsr_ctx_new();
  if (!t->ctx) {
    fprintf(stderr, "%s: out of memory\n", name);
    return false;
  }
  nsr_ctx_on_diag(t->ctx, print_diag, t);
  opterr = 0; /* messages come from here */
  return true;
}

static int out_of_reach(struct tool *t) {
  fprintf(stderr, "%s: cannot write standard output: %s\n", t->name,
          strerror(errno));
  return nsr_status_exit(NSR_E_IO);
}

static int say(struct tool *t, const char *text) {
  bool good = fputs(text, stdout) >= 0 && fflush(stdout) == 0;
  return good ? 0 : out_of_reach(t);
}

static void hint(struct tool *t) {
  fprintf(stderr, "Try '%s --help'.\n", t->name);
  t->stop = nsr_status_exit(NSR_E_USAGE);
}

/* getopt leaves the option it refuses in optopt or before optind. */
static void refuse(struct tool *t, int c) {
  const char *word = t->argv[optind > 1 ? optind - 1 : 0];
  bool is_long = strncmp(word, "--", 2) == 0;
  const char *why = c == ':'            ? "needs a value"
                    : is_long && optopt ? "takes no value"
                                        : "is not known";
  if (is_long)
    fprintf(stderr, "%s: option '%s' %s\n", t->name, word, why);
  else
    fprintf(stderr, "%s: option '-%c' %s\n", t->name, optopt, why);
  hint(t);
}

int tool_option(struct tool *t, const char *letters,
                const struct option *options) {
  char with_colon[64];
  snprintf(with_colon, sizeof with_colon, ":%s", letters);
  int c = getopt_long(t->argc, t->argv, with_colon, options, NULL);
  switch (c) {
  case '?':
  case ':':
    refuse(t, c);
    return TOOL_STOP;
  case TOOL_HELP:
    t->stop = say(t, t->usage);
    return TOOL_STOP;
  case TOOL_VERSION: {
    char text[128];
    snprintf(text, sizeof text, "%s %s\n", t->name, NSR_VERSION);
    t->stop = say(t, text);
    return TOOL_STOP;
  }
  default:
    return c;
  }
}

int tool_stop(struct tool *t) {
  nsr_ctx_free(t->ctx);
  t->ctx = NULL;
  while (t->blocks) {
    struct tool_block *next = t->blocks->next;
    free(t->blocks);
    t->blocks = next;
  }
  return t->stop;
}

int tool_exit(struct tool *t, enum nsr_status status) {
  if (status == NSR_E_NOMEM && t->ctx && !nsr_ctx_first_error(t->ctx))
    fprintf(stderr, "%s: out of memory\n", t->name);
  t->stop = nsr_status_exit(status);
  if ((fflush(stdout) != 0 || ferror(stdout)) && t->stop == 0)
    t->stop = out_of_reach(t);
  return tool_stop(t);
}

/* Names in a message may hold anything. */
static void refuse_command(struct tool *t, const char *fmt, va_list ap) {
  char *text = NULL, *plain = NULL;
  if (vasprintf(&text, fmt, ap) >= 0) {
    size_t n = nsr_escape(text, NULL, 0) + 1;
    plain = malloc(n);
    if (plain)
      nsr_escape(text, plain, n);
    free(text);
  }
  fprintf(stderr, "%s: %s\n", t->name, plain ? plain : "out of memory");
  free(plain);
  hint(t);
}

bool tool_refuse(struct tool *t, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  refuse_command(t, fmt, ap);
  va_end(ap);
  return false;
}

int tool_usage(struct tool *t, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  refuse_command(t, fmt, ap);
  va_end(ap);
  return tool_stop(t);
}

void *tool_alloc(struct tool *t, size_t size) {
  struct tool_block *b = calloc(1, sizeof *b + size);
  if (!b)
    return NULL;
  b->next = t->blocks;
  t->blocks = b;
  return b->bytes;
}

bool tool_number(struct tool *t, const char *option, const char *text,
                 uint64_t max, uint64_t *value) {
  char *end;
  errno = 0;
  bool digits = *text >= '0' && *text <= '9';
  *value = strtoull(text, &end, 0);
  if (digits && !*end && errno == 0 && *value <= max)
    return true;
  return tool_refuse(t, "%s=%s: expected a number in 0..%llu", option, text,
                     (unsigned long long)max);
}

bool tool_operands(struct tool *t, int n, const char *what) {
  int given = t->argc - optind;
  if (given == n)
    return true;
  if (given < n)
    return tool_refuse(t, "expected %s", what);
  return tool_refuse(t, "unexpected '%s'; expected %s", t->argv[optind + n],
                     what);
}

bool tool_named(struct tool *t, const char *what, const char *path) {
  return *path || tool_refuse(t, "the name of %s is empty", what);
}

bool tool_apart(struct tool *t, const char *what, const char *a,
                const char *b) {
  if (!nsr_file_same(t->ctx, a, b))
    return true;
  return tool_refuse(t, "%s are the same file, %s", what, b);
}

enum nsr_status tool_write(struct tool *t, const char *path, const void *data,
                           size_t size) {
  return nsr_file_write(t->ctx, path ? path : "-", data, size);
}

enum nsr_status tool_stage(struct tool *t, struct nsr_staged **all,
                           const char *path, const void *data, size_t size) {
  return nsr_file_stage(t->ctx, all, path ? path : "-", data, size);
}

bool tool_file(struct tool *t, const char *option, const char *path) {
  return (*path && strcmp(path, "-") != 0) ||
         tool_refuse(t, "%s takes the name of a file, not '%s'", option, path);
}

enum nsr_status tool_external(struct tool *t, const char *path,
                              const struct nsr_kernel *k,
                              const struct nsr_external **external) {
  const uint8_t *data;
  size_t size;
  struct nsr_external *x;
  *external = NULL;
  if (!path)
    return NSR_OK;
  NSR_TRY(nsr_file_read(t->ctx, path, &data, &size));
  NSR_TRY(nsr_external_parse(t->ctx, k, path, (const char *)data, size, &x));
  *external = x;
  return NSR_OK;
}

enum nsr_status tool_machine(struct tool *t, struct nsr_time_machine *m) {
  const uint8_t *data;
  size_t size;
  if (!m->name || nsr_machine_builtin(m->name))
    return NSR_OK;
  NSR_TRY(nsr_file_read(t->ctx, m->name, &data, &size));
  m->text = (const char *)data;
  return NSR_OK;
}

enum nsr_status tool_facts(struct tool *t, const char *path,
                           const struct nsr_kernel *k,
                           const struct nsr_facts_file **facts) {
  const uint8_t *data;
  size_t size;
  struct nsr_facts_file *f;
  *facts = NULL;
  if (!path)
    return NSR_OK;
  NSR_TRY(nsr_file_read(t->ctx, path, &data, &size));
  NSR_TRY(nsr_facts_parse(t->ctx, k, path, (const char *)data, size, &f));
  *facts = f;
  return NSR_OK;
}
