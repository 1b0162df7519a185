/* time_report.h - nsync-cosim --time: how long kernels take. */
#ifndef NSR_TOOLS_TIME_REPORT_H
#define NSR_TOOLS_TIME_REPORT_H

#include <nsr/time.h>

#include "common.h"

enum { TIME_MAX_OPTIONS = 64 };

struct time_settings {
  bool on; /* --time */
  const char *machine;
  const char *option; /* the last one that is for --time alone, NULL: none */
  bool ideal, limits;
  uint32_t nsets, ninputs;
  const char *sets[TIME_MAX_OPTIONS];
  const char *inputs[TIME_MAX_OPTIONS]; /* "TENSOR=V,V,.." */
  const char *sweep;                    /* "KEY=V,V,.." */
  uint64_t budget;
  const char *json;
};

/* One more --set or --input; false: too many, said. */
bool time_add(struct tool *t, const char *option, const char *text,
              const char **list, uint32_t *n);

/* Words as --input gives them. */
enum nsr_status time_words(struct tool *t, const char *text,
                           struct nsr_time_words *out);

/* Times n kernels and prints a table; with json, a line for each time. */
enum nsr_status time_report(struct tool *t, const struct time_settings *s,
                            char **paths, int n);

#endif
