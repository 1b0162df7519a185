/* arena.h - the two lifetimes of memory: keep (as long as the context) and
 * scratch (released back to a mark by whoever set it). Nothing else frees.
 */
#ifndef NSR_BASE_ARENA_H
#define NSR_BASE_ARENA_H

#include <nsr/nsr.h>

enum nsr_arena_id { NSR_KEEP, NSR_SCRATCH };

/* size zeroed bytes, aligned for any type; NULL where memory is short (the
 * error is then reported already). size 0 gives a valid pointer. */
void *nsr_alloc(struct nsr_ctx *ctx, enum nsr_arena_id arena, size_t size);
/* n * size, checked for overflow. */
void *nsr_alloc_n(struct nsr_ctx *ctx, enum nsr_arena_id arena, size_t n,
                  size_t size);
/* A copy of n bytes with a NUL behind it. */
char *nsr_strndup(struct nsr_ctx *ctx, enum nsr_arena_id arena, const char *s,
                  size_t n);
/* printf into the arena. */
NSR_PRINTF(3, 4)
char *nsr_printf(struct nsr_ctx *ctx, enum nsr_arena_id arena, const char *fmt,
                 ...);

/* Room for size bytes where p, which holds old bytes of this arena, was: in
 * place, or moved; p is not valid any longer. What is new is not zeroed. NULL
 * where memory is short; p then stays. p NULL: nothing was there. */
void *nsr_regrow(struct nsr_ctx *ctx, enum nsr_arena_id arena, void *p,
                 size_t old, size_t size);

/* p, of this arena, is not needed any longer: what stands in memory of its own
 * goes at once, the rest with the arena. NULL: there is nothing. */
void nsr_drop(struct nsr_ctx *ctx, enum nsr_arena_id arena, const void *p);

/* Scratch marks: everything allocated in scratch after the mark goes. */
struct nsr_mark {
  uint64_t block; /* the newest block; 0: the start */
  size_t used;    /* bytes of the one with room */
};
struct nsr_mark nsr_scratch_mark(struct nsr_ctx *ctx);
void nsr_scratch_release(struct nsr_ctx *ctx, struct nsr_mark mark);

/* What outlives a mark: size bytes at p. */
struct nsr_kept {
  void *p;
  size_t size;
};

/* The same, but for n pieces, which are moved to where their p says then; what
 * stands in memory of its own stays there. */
NSR_MUST_USE enum nsr_status nsr_scratch_release_but(struct nsr_ctx *ctx,
                                                     struct nsr_mark mark,
                                                     struct nsr_kept *kept,
                                                     size_t n);

/* p = n zeroed objects of its type, or return NSR_E_NOMEM. */
#define NSR_NEW(ctx, arena, p, n)                                              \
  do {                                                                         \
    (p) = nsr_alloc_n((ctx), (arena), (n), sizeof *(p));                       \
    if (!(p))                                                                  \
      return NSR_E_NOMEM;                                                      \
  } while (0)

#endif
