/* common.h - what all programs share: options, messages, exit codes.
 *
 *   static const struct option options[] = {{"output", 1, NULL, 'o'},
 *                                           TOOL_OPTIONS};
 *   struct tool t;
 *   if (!tool_start(&t, "nsync-x", usage, argc, argv))
 *     return tool_exit(&t, NSR_E_NOMEM);
 *   while ((c = tool_option(&t, "o:", options)) != TOOL_DONE)
 *     switch (c) { case 'o': ...; break; default: return tool_stop(&t); }
 */
#ifndef NSR_TOOLS_COMMON_H
#define NSR_TOOLS_COMMON_H

#include <getopt.h>

#include <nsr/external.h>
#include <nsr/facts_file.h>
#include <nsr/kernel.h>
#include <nsr/time.h>

struct tool {
  const char *name;  /* "nsync-as" */
  const char *usage; /* all that --help prints */
  int argc;
  char **argv;
  struct nsr_ctx *ctx; /* prints its diagnostics on standard error */
  bool quiet;          /* no warnings and notes */
  bool failed;         /* error is the first one since this was set to false */
  struct nsr_diag error;
  int stop; /* exit code where tool_option said to stop */
  struct tool_block *blocks;
};

enum { TOOL_DONE = -1, TOOL_STOP = 256, TOOL_HELP, TOOL_VERSION };

/* Ends every list of options. */
#define TOOL_OPTIONS                                                           \
  {"help", no_argument, NULL, TOOL_HELP},                                      \
      {"version", no_argument, NULL, TOOL_VERSION}, {                          \
    NULL, 0, NULL, 0                                                           \
  }

/* Makes the context; false: out of memory. */
bool tool_start(struct tool *t, const char *name, const char *usage, int argc,
                char **argv);
/* The next option's letter, TOOL_DONE, or TOOL_STOP: --help, --version or a
 * wrong option were dealt with. */
int tool_option(struct tool *t, const char *letters,
                const struct option *options);
/* Frees the context and gives the exit code: after TOOL_STOP; of a status. */
int tool_stop(struct tool *t);
int tool_exit(struct tool *t, enum nsr_status status);

/* Says what is wrong with the command line and where to read more; the
 * context goes, the result is the exit code. */
NSR_PRINTF(2, 3)
int tool_usage(struct tool *t, const char *fmt, ...);

/* The same without an end: false; exit with tool_stop. */
NSR_PRINTF(2, 3)
bool tool_refuse(struct tool *t, const char *fmt, ...);

/* An option's whole number up to max; false: said, exit with tool_stop. */
bool tool_number(struct tool *t, const char *option, const char *text,
                 uint64_t max, uint64_t *value);

/* Whether n operands are left at optind; false: said, exit with tool_stop. */
bool tool_operands(struct tool *t, int n, const char *what);

/* Whether a file's name is one; false: it is empty, said, exit with
 * tool_stop. what: "OUT". */
bool tool_named(struct tool *t, const char *what, const char *path);

/* Whether two files are not one ("-" is none); false: said, exit with
 * tool_stop. what: "-o and --json". */
bool tool_apart(struct tool *t, const char *what, const char *a, const char *b);

/* Whether an option names a file that can be read more than once; false:
 * said, exit with tool_stop. */
bool tool_file(struct tool *t, const char *option, const char *path);

/* Reads a file of external events for a kernel; path NULL: none, NULL. */
enum nsr_status tool_external(struct tool *t, const char *path,
                              const struct nsr_kernel *k,
                              const struct nsr_external **external);

/* Reads a file of facts on a kernel; path NULL: none, NULL. */
enum nsr_status tool_facts(struct tool *t, const char *path,
                           const struct nsr_kernel *k,
                           const struct nsr_facts_file **facts);

/* Reads the file of a machine whose name is of none that is built in; NULL:
 * the default. */
enum nsr_status tool_machine(struct tool *t, struct nsr_time_machine *m);

/* size zeroed bytes until the tool ends; NULL: out of memory. */
void *tool_alloc(struct tool *t, size_t size);

/* Text for standard output or a file ("-" and NULL: standard output). */
enum nsr_status tool_write(struct tool *t, const char *path, const void *data,
                           size_t size);

/* The same, staged. */
enum nsr_status tool_stage(struct tool *t, struct nsr_staged **all,
                           const char *path, const void *data, size_t size);
#endif
