/* gen_shrink.c - nsync-gen shrink: the smallest kernel for which a command
 * still says yes. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nsr/gen.h>

#include "common.h"
#include "gen_edit.h"

static const char usage[] =
    "usage: nsync-gen shrink --predicate=COMMAND [--tries=N] FILE -o OUT\n"
    "\n"
    "Brings a kernel down to a small one of which the same is true: takes out\n"
    "streams, loops, instructions and waits, and lowers numbers, as long as\n"
    "COMMAND ends with 0.\n"
    "\n"
    "  -o, --output=OUT     where the small kernel goes (\"-\" is standard\n"
    "                       output)\n"
    "      --predicate=COMMAND\n"
    "                       what to run, with sh, on each kernel that is "
    "tried:\n"
    "                       its file's name stands for every {}, or behind "
    "the\n"
    "                       command; what that prints is not shown. Exit code\n"
    "                       0: still interesting\n"
    "      --tries=N        give up after so many runs, 1 or more, and take "
    "what\n"
    "                       there is then\n"
    "      --help           print this\n"
    "      --version        print the version\n"
    "\n"
    "Exit: 0 done, 1 the command does not say 0 for FILE itself, 2 usage,\n"
    "3 unreadable or malformed input, or I/O.\n";

struct request {
  const char *file, *out, *predicate;
  uint64_t tries;
};

/* A predicate and the file its kernels are in. */
struct predicate {
  struct tool *t;
  char path[4096];
  const char *command; /* with the file's name in it */
};

/* ---- the command */

/* 'path' for sh, at the end of out. */
static char *quote(char *out, const char *path) {
  *out++ = '\'';
  for (; *path; path++) {
    if (*path == '\'') {
      memcpy(out, "'\\'", 3);
      out += 3;
    }
    *out++ = *path;
  }
  *out++ = '\'';
  return out;
}

static bool make_command(struct predicate *p, const char *text) {
  size_t room = 4 * strlen(p->path) + 4, n = strlen(text), places = 1;
  for (const char *at = text; (at = strstr(at, "{}")) != NULL; at += 2)
    places++;
  char *out = tool_alloc(p->t, n + places * room), *to = out;
  if (!out)
    return false;
  p->command = out;
  if (places == 1) {
    memcpy(to, text, n);
    to[n] = ' ';
    quote(to + n + 1, p->path);
    return true;
  }
  for (const char *at; (at = strstr(text, "{}")) != NULL; text = at + 2) {
    memcpy(to, text, (size_t)(at - text));
    to = quote(to + (at - text), p->path);
  }
  strcpy(to, text);
  return true;
}

static void run_child(const char *command) {
  int null = open("/dev/null", O_RDWR);
  for (int fd = 0; fd <= 2 && null >= 0; fd++)
    dup2(null, fd);
  execl("/bin/sh", "sh", "-c", command, (char *)NULL);
  _exit(127);
}

/* -1: it cannot be run, or somebody wants it to end. */
static int run_command(const char *command) {
  int state;
  pid_t child = fork();
  if (child == 0)
    run_child(command);
  if (child < 0)
    return -1;
  while (waitpid(child, &state, 0) < 0)
    if (errno != EINTR)
      return -1;
  if (WIFSIGNALED(state) &&
      (WTERMSIG(state) == SIGINT || WTERMSIG(state) == SIGTERM))
    return -1;
  return WIFEXITED(state) ? WEXITSTATUS(state) : 1;
}

static enum nsr_status interesting(void *self, const struct nsr_kernel *k,
                                   bool *yes) {
  struct predicate *p = self;
  const uint8_t *data;
  size_t n;
  struct nsr_ctx *ctx = nsr_ctx_new();
  enum nsr_status status =
      ctx ? nsr_kernel_write(ctx, k, &data, &n) : NSR_E_NOMEM;
  FILE *out = status == NSR_OK ? fopen(p->path, "wb") : NULL;
  bool good = out && fwrite(data, 1, n, out) == n;
  if (out)
    good = fclose(out) == 0 && good;
  nsr_ctx_free(ctx);
  NSR_TRY(status);
  if (!good)
    return nsr_fail(p->t->ctx, NSR_E_IO, NSR_NOWHERE, "cannot write %s: %s",
                    p->path, strerror(errno));
  int code = run_command(p->command);
  if (code < 0)
    return nsr_fail(p->t->ctx, NSR_E_IO, NSR_NOWHERE,
                    "the predicate was stopped, or cannot be run");
  *yes = code == 0;
  return NSR_OK;
}

/* ---- the whole */

static uint64_t size_of(const struct nsr_kernel *k) {
  uint64_t n = 0;
  for (uint32_t s = 0; s < k->nstreams; s++)
    n += k->streams[s].n;
  return n;
}

static enum nsr_status shrink(struct tool *t, const struct request *r,
                              struct predicate *p) {
  struct nsr_kernel *k, *small;
  const uint8_t *data;
  uint64_t tries = 0;
  size_t n;
  NSR_TRY(nsr_kernel_load(t->ctx, r->file, &k));
  NSR_TRY(nsr_shrink(t->ctx, k, r->tries, interesting, p, &small, &tries));
  nsr_say(t->ctx, NSR_NOTE, NSR_NOWHERE,
          "%" PRIu64 " instructions were %" PRIu64 ", %" PRIu64 " tries",
          size_of(small), size_of(k), tries);
  NSR_TRY(nsr_kernel_write(t->ctx, small, &data, &n));
  return tool_write(t, r->out, data, n);
}

static enum nsr_status run(struct tool *t, const struct request *r) {
  struct predicate p = {.t = t};
  const char *folder = getenv("TMPDIR");
  int n = snprintf(p.path, sizeof p.path, "%s/nsync-shrink-XXXXXX",
                   folder && *folder ? folder : "/tmp");
  int fd = n > 0 && (size_t)n < sizeof p.path ? mkstemp(p.path) : -1;
  if (fd < 0)
    return nsr_fail(t->ctx, NSR_E_IO, NSR_NOWHERE,
                    "no place for kernels to try: %s", strerror(errno));
  close(fd);
  enum nsr_status status =
      make_command(&p, r->predicate) ? shrink(t, r, &p) : NSR_E_NOMEM;
  unlink(p.path);
  return status;
}

static bool option(struct tool *t, struct request *r, int c) {
  switch (c) {
  case 'o':
    r->out = optarg;
    return tool_named(t, "OUT", r->out);
  case 'p':
    r->predicate = optarg;
    return tool_named(t, "--predicate", optarg);
  case 't':
    return tool_number(t, "--tries", optarg, UINT64_MAX, &r->tries) &&
           (r->tries || tool_refuse(t, "--tries takes 1 or more, not 0"));
  default:
    return false;
  }
}

int gen_shrink(int argc, char **argv) {
  static const struct option known[] = {
      {"output", required_argument, NULL, 'o'},
      {"predicate", required_argument, NULL, 'p'},
      {"tries", required_argument, NULL, 't'},
      TOOL_OPTIONS};
  struct tool t;
  struct request r = {.file = NULL};
  int c;
  if (!tool_start(&t, "nsync-gen shrink", usage, argc, argv))
    return tool_exit(&t, NSR_E_NOMEM);
  while ((c = tool_option(&t, "o:", known)) != TOOL_DONE)
    if (!option(&t, &r, c))
      return tool_stop(&t);
  if ((!r.predicate && !tool_refuse(&t, "expected --predicate")) ||
      (!r.out && !tool_refuse(&t, "expected -o OUT")) ||
      !tool_operands(&t, 1, "one FILE"))
    return tool_stop(&t);
  r.file = argv[optind];
  return tool_exit(&t, run(&t, &r));
}
