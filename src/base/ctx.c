/* ctx.c - the context: arenas, diagnostics, statuses. */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/pages.h"
#include "base/work.h"

/* Blocks of many pieces are small to begin with, and large where an arena is.
 */
enum { BLOCK = 1 << 16, BLOCKS_TO_LARGE = 64, ALIGN = 16 };

struct block {
  struct block *prev;
  uint64_t number; /* in the order in which blocks were made, from 1 */
  size_t size, used;
};

/* The blocks of many small pieces, of which the last one has room, and those
 * of a single large piece; each the newest first. */
struct arena {
  struct block *many, *own;
  uint32_t nmany;
};

struct nsr_ctx {
  struct arena arena[2];
  struct nsr_pages pages;
  uint64_t blocks;
  uint64_t fail_in;
  uint64_t work[NSR_NWORK];
  nsr_diag_fn *fn;
  void *user;
  bool has_first;
  struct nsr_diag first;
};

static const struct {
  const char *name;
  int exit;
} statuses[] = {
    [NSR_OK] = {"ok", 0},
    [NSR_E_USAGE] = {"usage", 2},
    [NSR_E_IO] = {"input/output", 3},
    [NSR_E_FORMAT] = {"malformed", 3},
    [NSR_E_SYNTAX] = {"syntax", 3},
    [NSR_E_RANGE] = {"out of range", 3},
    [NSR_E_FAULT] = {"fault", 1},
    [NSR_E_HANG] = {"hang", 1},
    [NSR_E_RACE] = {"race", 1},
    [NSR_E_REFUSED] = {"refused", 1},
    [NSR_E_DIFFERENT] = {"different", 1},
    [NSR_E_UNDECIDED] = {"undecided", 4},
    [NSR_E_NOMEM] = {"out of memory", 70},
    [NSR_E_INTERNAL] = {"internal error", 70},
};

int nsr_status_exit(enum nsr_status status) { return statuses[status].exit; }

const char *nsr_status_name(enum nsr_status status) {
  return statuses[status].name;
}

struct nsr_ctx *nsr_ctx_new(void) {
  return calloc(1, sizeof(struct nsr_ctx));
}

static void block_free(struct nsr_ctx *ctx, struct block *b) {
  nsr_pages_free(&ctx->pages, b, b->size);
}

/* Frees the blocks of a list that are newer than a number. */
static uint32_t blocks_free(struct nsr_ctx *ctx, struct block **list,
                            uint64_t number) {
  uint32_t n = 0;
  for (struct block *b; (b = *list) && b->number > number; n++) {
    *list = b->prev;
    block_free(ctx, b);
  }
  return n;
}

void nsr_ctx_free(struct nsr_ctx *ctx) {
  if (!ctx)
    return;
  for (int i = NSR_KEEP; i <= NSR_SCRATCH; i++) {
    blocks_free(ctx, &ctx->arena[i].many, 0);
    blocks_free(ctx, &ctx->arena[i].own, 0);
  }
  nsr_pages_end(&ctx->pages);
  free(ctx);
}

void nsr_ctx_on_diag(struct nsr_ctx *ctx, nsr_diag_fn *fn, void *user) {
  ctx->fn = fn;
  ctx->user = user;
}

void nsr_ctx_fail_alloc(struct nsr_ctx *ctx, uint64_t nth) {
  ctx->fail_in = nth;
}

const struct nsr_diag *nsr_ctx_first_error(const struct nsr_ctx *ctx) {
  return ctx->has_first ? &ctx->first : NULL;
}

/* ---- work */

void nsr_work_count(struct nsr_ctx *ctx, enum nsr_counter stage,
                    uint64_t units) {
  ctx->work[stage] += units;
}

uint64_t nsr_work(const struct nsr_ctx *ctx, enum nsr_counter stage) {
  return ctx->work[stage];
}

/* ---- memory */

static size_t align_up(size_t n) {
  return (n + ALIGN - 1) & ~(size_t)(ALIGN - 1);
}

static void *out_of_memory(struct nsr_ctx *ctx) {
  static const struct nsr_diag diag = {
      NSR_E_NOMEM, NSR_ERROR, {.insn = -1}, "out of memory"};
  if (!ctx->has_first) {
    ctx->has_first = true;
    ctx->first = diag;
  }
  if (ctx->fn)
    ctx->fn(ctx->user, &diag);
  return NULL;
}

/* A block in front of a list, with room for so many bytes. */
static struct block *block_new(struct nsr_ctx *ctx, struct block **list,
                               size_t room) {
  size_t head = align_up(sizeof(struct block)), size = head + room;
  struct block *b = nsr_pages_new(&ctx->pages, &size);
  if (!b)
    return NULL;
  *b = (struct block){*list, ++ctx->blocks, size, head};
  *list = b;
  return b;
}

/* The block that has room for a piece. */
static struct block *block_for(struct nsr_ctx *ctx, struct arena *a,
                               size_t need) {
  if (need > BLOCK)
    return block_new(ctx, &a->own, need);
  if (a->many && a->many->size - a->many->used >= need)
    return a->many;
  return block_new(ctx, &a->many,
                   ++a->nmany > BLOCKS_TO_LARGE
                       ? NSR_PAGE - align_up(sizeof(struct block))
                       : BLOCK);
}

void *nsr_alloc(struct nsr_ctx *ctx, enum nsr_arena_id arena, size_t size) {
  if (ctx->fail_in && --ctx->fail_in == 0)
    return out_of_memory(ctx);
  if (size > SIZE_MAX / 2)
    return out_of_memory(ctx);
  size_t need = align_up(size ? size : 1);
  struct block *b = block_for(ctx, &ctx->arena[arena], need);
  if (!b)
    return out_of_memory(ctx);
  void *p = (char *)b + b->used;
  b->used += need;
  ctx->work[NSR_WORK_BYTES] += need;
  return p;
}

void *nsr_alloc_n(struct nsr_ctx *ctx, enum nsr_arena_id arena, size_t n,
                  size_t size) {
  if (size && n > SIZE_MAX / 2 / size)
    return out_of_memory(ctx);
  return nsr_alloc(ctx, arena, n * size);
}

/* The block of p's own, or NULL. */
static struct block **own_block(struct nsr_ctx *ctx, enum nsr_arena_id arena,
                                const void *p) {
  size_t head = align_up(sizeof(struct block));
  struct block **at = &ctx->arena[arena].own;
  while (*at && (const char *)*at + head != p)
    at = &(*at)->prev;
  return *at ? at : NULL;
}

/* The same, for a piece of some size. */
static struct block **sole(struct nsr_ctx *ctx, enum nsr_arena_id arena,
                           const void *p, size_t size) {
  return align_up(size) > BLOCK ? own_block(ctx, arena, p) : NULL;
}

void *nsr_regrow(struct nsr_ctx *ctx, enum nsr_arena_id arena, void *p,
                 size_t old, size_t size) {
  struct block **at = p ? sole(ctx, arena, p, old) : NULL;
  size_t head = align_up(sizeof(struct block));
  if (!at) {
    void *moved = nsr_alloc(ctx, arena, size);
    if (moved && old)
      memcpy(moved, p, old < size ? old : size);
    return moved;
  }
  if ((ctx->fail_in && --ctx->fail_in == 0) || size > SIZE_MAX / 2)
    return out_of_memory(ctx);
  size_t whole = head + align_up(size), room = whole;
  struct block *b = nsr_pages_resize(&ctx->pages, *at, (*at)->size, &room);
  if (!b)
    return out_of_memory(ctx);
  ctx->work[NSR_WORK_BYTES] += whole > b->used ? whole - b->used : 0;
  b->size = room;
  b->used = whole;
  *at = b;
  return (char *)b + head;
}

void nsr_drop(struct nsr_ctx *ctx, enum nsr_arena_id arena, const void *p) {
  struct block **at = p ? own_block(ctx, arena, p) : NULL;
  struct block *b = at ? *at : NULL;
  if (!b) /* one of many */
    return;
  *at = b->prev;
  block_free(ctx, b);
}

char *nsr_strndup(struct nsr_ctx *ctx, enum nsr_arena_id arena, const char *s,
                  size_t n) {
  char *p = nsr_alloc_n(ctx, arena, n + 1, 1);
  if (p && n)
    memcpy(p, s, n);
  return p;
}

static char *vprint(struct nsr_ctx *ctx, enum nsr_arena_id arena,
                    const char *fmt, va_list ap) {
  va_list again;
  va_copy(again, ap);
  int n = vsnprintf(NULL, 0, fmt, again);
  va_end(again);
  char *p = n < 0 ? NULL : nsr_alloc(ctx, arena, (size_t)n + 1);
  if (p)
    vsnprintf(p, (size_t)n + 1, fmt, ap);
  return p;
}

char *nsr_printf(struct nsr_ctx *ctx, enum nsr_arena_id arena, const char *fmt,
                 ...) {
  va_list ap;
  va_start(ap, fmt);
  char *p = vprint(ctx, arena, fmt, ap);
  va_end(ap);
  return p;
}

struct nsr_mark nsr_scratch_mark(struct nsr_ctx *ctx) {
  struct block *b = ctx->arena[NSR_SCRATCH].many;
  return (struct nsr_mark){ctx->blocks, b ? b->used : 0};
}

void nsr_scratch_release(struct nsr_ctx *ctx, struct nsr_mark mark) {
  struct arena *a = &ctx->arena[NSR_SCRATCH];
  blocks_free(ctx, &a->own, mark.block);
  a->nmany -= blocks_free(ctx, &a->many, mark.block);
  struct block *b = a->many;
  if (b && b->used > mark.used) {
    /* what is handed out next must be zero again */
    memset((char *)b + mark.used, 0, b->used - mark.used);
    b->used = mark.used;
  }
}

/* A block with a piece alone in it, taken out of the arena: its own, or a new
 * one with a copy. */
static struct block *take_out(struct nsr_ctx *ctx, struct nsr_kept *kept) {
  struct block **at = sole(ctx, NSR_SCRATCH, kept->p, kept->size);
  size_t head = align_up(sizeof(struct block));
  struct block *b;
  if (at) {
    b = *at;
    *at = b->prev;
    return b;
  }
  bool fails = ctx->fail_in && --ctx->fail_in == 0;
  size_t need = align_up(kept->size);
  struct block *out = NULL;
  b = fails ? NULL : block_new(ctx, &out, need);
  if (!b)
    return out_of_memory(ctx);
  b->used += need;
  ctx->work[NSR_WORK_BYTES] += need;
  if (kept->size)
    memcpy((char *)b + head, kept->p, kept->size);
  kept->p = (char *)b + head;
  return b;
}

enum nsr_status nsr_scratch_release_but(struct nsr_ctx *ctx,
                                        struct nsr_mark mark,
                                        struct nsr_kept *kept, size_t n) {
  struct block *out = NULL, **own = &ctx->arena[NSR_SCRATCH].own;
  size_t i = 0;
  for (; i < n; i++) {
    struct block *b = take_out(ctx, &kept[i]);
    if (!b)
      break;
    b->prev = out;
    out = b;
  }
  nsr_scratch_release(ctx, mark);
  while (out) {
    struct block *b = out;
    out = b->prev;
    b->prev = *own;
    b->number = ++ctx->blocks;
    *own = b;
  }
  return i == n ? NSR_OK : NSR_E_NOMEM;
}

/* ---- diagnostics */

static const char *keep(struct nsr_ctx *ctx, const char *s) {
  return s ? nsr_strndup(ctx, NSR_KEEP, s, strlen(s)) : NULL;
}

static void keep_first(struct nsr_ctx *ctx, const struct nsr_diag *diag) {
  if (ctx->has_first)
    return;
  struct nsr_diag d = *diag;
  d.place.file = keep(ctx, diag->place.file);
  d.place.engine = keep(ctx, diag->place.engine);
  d.place.label = keep(ctx, diag->place.label);
  d.place.source_file = keep(ctx, diag->place.source_file);
  ctx->first = d;
  ctx->has_first = true;
}

static void report(struct nsr_ctx *ctx, struct nsr_diag diag, const char *fmt,
                   va_list ap) {
  diag.text = vprint(ctx, NSR_KEEP, fmt, ap);
  if (!diag.text)
    return;
  if (diag.severity == NSR_ERROR)
    keep_first(ctx, &diag);
  if (ctx->fn)
    ctx->fn(ctx->user, &diag);
}

enum nsr_status nsr_fail(struct nsr_ctx *ctx, enum nsr_status status,
                         struct nsr_place place, const char *fmt, ...) {
  assert(status != NSR_OK);
  va_list ap;
  va_start(ap, fmt);
  report(ctx, (struct nsr_diag){status, NSR_ERROR, place, NULL}, fmt, ap);
  va_end(ap);
  return status;
}

void nsr_say(struct nsr_ctx *ctx, enum nsr_severity severity,
             struct nsr_place place, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  report(ctx, (struct nsr_diag){NSR_OK, severity, place, NULL}, fmt, ap);
  va_end(ap);
}

/* Appends to out like snprintf, without ever passing its end. */
NSR_PRINTF(4, 5)
static size_t put(char *out, size_t size, size_t at, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  int n = vsnprintf(at < size ? out + at : NULL, at < size ? size - at : 0, fmt,
                    ap);
  va_end(ap);
  return at + (n > 0 ? (size_t)n : 0);
}

static size_t put_escaped(char *out, size_t size, size_t at, const char *s,
                          const char *plain) {
  for (; *s; s++) {
    unsigned char c = (unsigned char)*s;
    if ((c >= 0x20 && c != 0x7f) || strchr(plain, c))
      at = put(out, size, at, "%c", c);
    else if (c == '\n' || c == '\t')
      at = put(out, size, at, c == '\n' ? "\\n" : "\\t");
    else
      at = put(out, size, at, "\\x%02x", c);
  }
  return at;
}

size_t nsr_escape(const char *s, char *out, size_t size) {
  if (size)
    out[0] = 0;
  return put_escaped(out, size, 0, s, "");
}

/* "k.s:40:2" */
static size_t put_source(char *out, size_t size, size_t n,
                         const struct nsr_place *p) {
  n = put_escaped(out, size, n, p->source_file, "");
  n = put(out, size, n, ":%u", p->source_line);
  return p->column ? put(out, size, n, ":%u", p->column) : n;
}

size_t nsr_diag_format(const struct nsr_diag *diag, char *out, size_t size) {
  const struct nsr_place *p = &diag->place;
  size_t n = 0;
  if (size)
    out[0] = 0;
  if (p->file)
    n = put(out, size, put_escaped(out, size, n, p->file, ""), ": ");
  if (p->engine && p->insn >= 0)
    n = put(out, size, n, "%s[%lld]", p->engine, (long long)p->insn);
  else if (p->engine)
    n = put(out, size, n, "%s", p->engine);
  if (p->label) {
    n = put(out, size, n, " <");
    n = put(out, size, put_escaped(out, size, n, p->label, ""), ">");
  }
  bool sourced = p->source_file && p->source_line;
  if (sourced) {
    n = put(out, size, n, p->engine ? " (" : "");
    n = put_source(out, size, n, p);
    n = put(out, size, n, p->engine ? ")" : "");
  }
  if (p->engine || sourced)
    n = put(out, size, n, ": ");
  static const char *const kinds[] = {"error", "warning", "note"};
  n = put(out, size, n, "%s: ", kinds[diag->severity]);
  return put_escaped(out, size, n, diag->text, "\n\t");
}
