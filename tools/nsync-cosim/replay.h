/* replay.h - nsync-cosim --witness and --replay: a file of arguments that
 * judge one input again. */
#ifndef NSR_TOOLS_REPLAY_H
#define NSR_TOOLS_REPLAY_H

#include <nsr/judge.h>

#include "common.h"

enum { REPLAY_MAX_OPTIONS = 200 };

/* The options that decide what a run does, as they were given. */
struct replay {
  const char *witness; /* where it goes, NULL: nowhere */
  const char *from;    /* --replay */
  uint32_t noptions;
  const char *options[REPLAY_MAX_OPTIONS];
  const char *operands[2];
};

/* Notes an option to be written; arg NULL: it has none. False: said. */
bool replay_note(struct tool *t, struct replay *r, const char *name,
                 const char *arg);

/* Stages the witness of a verdict, if it has one and r wants it. */
enum nsr_status replay_stage(struct tool *t, struct nsr_staged **staged,
                             const struct replay *r,
                             const struct nsr_judgement *j);

/* The arguments in a witness: the program's name, options and, unless there
 * are operands already, its files. */
enum nsr_status replay_read(struct tool *t, const char *path, bool operands,
                            int *argc, char ***argv);

#endif
