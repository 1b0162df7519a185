/* external.h - what the outside world does while a kernel runs: events that
 * wait for foreign semaphores and core barriers, read and write DRAM, and
 * update foreign semaphores (isa/README.md, external events).
 *
 * An event of a sequence happens behind the one before it there, once its
 * conditions hold, at any time from then on, all at once.
 */
#ifndef NSR_EXTERNAL_H
#define NSR_EXTERNAL_H

#include <nsr/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { NSR_MAX_SEQUENCES = 32 };

/* A semaphore, or the number of core barriers so far, is at least `need`. */
struct nsr_external_wait {
  bool cores;
  uint16_t sem;
  int64_t need;
};

struct nsr_external_access { /* bytes begin..end-1 of DRAM */
  uint64_t begin, end;
  uint32_t tensor; /* whose bytes, NSR_NONE: given by address */
  bool writes;
  const uint8_t *data; /* NULL: a value of its own, unlike any other */
};

struct nsr_external_event {
  const char *name; /* NULL: none */
  uint32_t line;
  uint32_t sequence, ordinal; /* 1-based in it */
  const struct nsr_external_wait *waits;
  const struct nsr_external_access *accesses;
  const struct nsr_update *updates;
  uint32_t nwaits, naccesses, nupdates;
};

/* Events in the order of their file: sequences one behind the other. */
struct nsr_external {
  const char *path;
  const struct nsr_external_event *events;
  uint32_t nevents, nsequences;
  uint32_t first[NSR_MAX_SEQUENCES + 1]; /* event of each, and the end */
};

/* Reads a file of events for a kernel, whose tensors and semaphores it names.
 * NSR_E_SYNTAX: reported with line and column, each line that is wrong. */
NSR_MUST_USE enum nsr_status nsr_external_parse(struct nsr_ctx *ctx,
                                                const struct nsr_kernel *k,
                                                const char *path,
                                                const char *text, size_t n,
                                                struct nsr_external **out);

#ifdef __cplusplus
}
#endif
#endif
