/* nsr.h - what every part of libnsr shares: statuses, places, diagnostics,
 * the context that owns memory.
 *
 * The library never prints, exits or reads the environment. Every fallible
 * function returns an nsr_status that must be looked at; results leave
 * through out parameters. Malformed input is a status, a broken invariant of
 * the library itself is an assert.
 */
#ifndef NSR_NSR_H
#define NSR_NSR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NSR_VERSION "0.1.0"

#if defined(__GNUC__)
#define NSR_MUST_USE __attribute__((warn_unused_result))
#define NSR_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define NSR_MUST_USE
#define NSR_PRINTF(f, a)
#endif

/* What happened. Numbers are pinned: new ones go at the end. */
enum nsr_status {
  NSR_OK = 0,
  NSR_E_USAGE = 1,      /* bad options or arguments */
  NSR_E_IO = 2,         /* cannot read, write, rename */
  NSR_E_FORMAT = 3,     /* malformed file, illegal word, branch out of range */
  NSR_E_SYNTAX = 4,     /* assembly text or JSON that does not parse */
  NSR_E_RANGE = 5,      /* a value that its field cannot hold */
  NSR_E_FAULT = 6,      /* a fault of the simulated machine (machine.md 7) */
  NSR_E_HANG = 7,       /* every engine blocked, nothing in flight */
  NSR_E_RACE = 8,       /* conflicting accesses in no order */
  NSR_E_REFUSED = 9,    /* valid, but not rewritable; the text says why */
  NSR_E_DIFFERENT = 10, /* a judge found a difference */
  NSR_E_UNDECIDED = 11, /* with --strict: undecided, or a barrier was kept */
  NSR_E_NOMEM = 12,     /* out of memory */
  NSR_E_INTERNAL = 13   /* a broken promise of the library itself */
};

/* The exit code of the programs for a status: 0 done, 1 refused / refuted /
 * different / hang / race / fault, 2 usage, 3 unreadable or malformed input
 * or I/O, 4 undecided (--strict), 70 internal (and out of memory). */
int nsr_status_exit(enum nsr_status status);

/* A short name of a status for messages: "malformed", "race", ... */
const char *nsr_status_name(enum nsr_status status);

/* Where something is. Every part may be absent (NULL, -1, 0). */
struct nsr_place {
  const char *file;        /* the file being read */
  const char *engine;      /* engine of the stream: "act" */
  int64_t insn;            /* instruction index in that stream, -1: none */
  const char *label;       /* nearest label at or before it */
  const char *source_file; /* from the line table, or the text being parsed */
  uint32_t source_line;    /* 1-based, 0: unknown */
  uint32_t column;         /* 1-based, 0: unknown (text only) */
};

#define NSR_NOWHERE ((struct nsr_place){.insn = -1})

enum nsr_severity { NSR_ERROR, NSR_WARNING, NSR_NOTE };

struct nsr_diag {
  enum nsr_status status;
  enum nsr_severity severity;
  struct nsr_place place;
  const char *text; /* one sentence, no newline, no place in it */
};

/* Owns the diagnostics and two arenas (base/arena.h): everything a library
 * call hands out lives until nsr_ctx_free. One context, one thread. */
struct nsr_ctx;

struct nsr_ctx *nsr_ctx_new(void); /* NULL: out of memory */
void nsr_ctx_free(struct nsr_ctx *ctx);

/* Called for each diagnostic as it is made (the assembler makes many). The
 * strings are valid during the call only. */
typedef void nsr_diag_fn(void *user, const struct nsr_diag *diag);
void nsr_ctx_on_diag(struct nsr_ctx *ctx, nsr_diag_fn *fn, void *user);

/* The first error reported, or NULL. Lives as long as the context. */
const struct nsr_diag *nsr_ctx_first_error(const struct nsr_ctx *ctx);

/* "file: engine[12] (label+3, k.s:40): text" into out (size bytes, always
 * terminated); the length it would have. */
size_t nsr_diag_format(const struct nsr_diag *diag, char *out, size_t size);

/* s with control characters as \n, \t, \x1b: what a name may look like in a
 * message. Into out (size bytes, always terminated); the length it would
 * have. */
size_t nsr_escape(const char *s, char *out, size_t size);

/* Reports an error and returns status. The first one is kept. */
NSR_PRINTF(4, 5)
enum nsr_status nsr_fail(struct nsr_ctx *ctx, enum nsr_status status,
                         struct nsr_place place, const char *fmt, ...);

/* Reports a warning or a note; keeps nothing. */
NSR_PRINTF(4, 5)
void nsr_say(struct nsr_ctx *ctx, enum nsr_severity severity,
             struct nsr_place place, const char *fmt, ...);

/* Reads a whole file into ctx's keep arena, with read, never mapped. A NUL
 * byte follows the last one. "-" is standard input. */
NSR_MUST_USE enum nsr_status nsr_file_read(struct nsr_ctx *ctx,
                                           const char *path,
                                           const uint8_t **data, size_t *size);

/* Outputs of one run, all or none. Staging writes each beside its target, so
 * that most of what can go wrong goes wrong while nothing has changed; commit
 * then writes what has no place beside it ("-", which is standard output, own
 * descriptors such as /dev/stdout, devices, pipes) and renames last. Links are
 * followed, an existing target keeps its permissions. */
struct nsr_staged;

/* Adds a file to *all (NULL at first). data must live until commit. */
NSR_MUST_USE enum nsr_status nsr_file_stage(struct nsr_ctx *ctx,
                                            struct nsr_staged **all,
                                            const char *path,
                                            const uint8_t *data, size_t size);
/* All go to their places, in order. Where one cannot, the rest is discarded
 * and what was renamed is put back (as far as the file system can exchange
 * names). *all is NULL afterwards, whatever happened. */
NSR_MUST_USE enum nsr_status nsr_file_commit(struct nsr_ctx *ctx,
                                             struct nsr_staged **all);
/* Takes away what was staged; no target is touched. */
void nsr_file_discard(struct nsr_staged **all);

/* Stages one file and commits it: path is either untouched or whole. */
NSR_MUST_USE enum nsr_status nsr_file_write(struct nsr_ctx *ctx,
                                            const char *path,
                                            const uint8_t *data, size_t size);

/* Whether writing one would replace the other: one regular file, or the same
 * name in one folder where there is none yet. */
bool nsr_file_same(struct nsr_ctx *ctx, const char *a, const char *b);

/* Fails the n-th allocation from now (1-based), 0: never. For tests. */
void nsr_ctx_fail_alloc(struct nsr_ctx *ctx, uint64_t nth);

/* Returns early with the status of a call that failed. */
#define NSR_TRY(call)                                                          \
  do {                                                                         \
    enum nsr_status nsr_try_ = (call);                                         \
    if (nsr_try_ != NSR_OK)                                                    \
      return nsr_try_;                                                         \
  } while (0)

#ifdef __cplusplus
}
#endif
#endif
