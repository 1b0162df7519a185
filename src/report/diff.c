/* diff.c - two kernels' code side by side, engine by engine.
 *
 * Lines of the disassembly, comments apart. Labels that both have, in the same
 * order, cut a stream into pieces; a piece is compared with Myers's greedy
 * algorithm (An O(ND) difference algorithm, 1986), or, where the two differ in
 * more than MAX_CHANGES lines, taken as another one altogether.
 */
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include <nsr/dump.h>
#include <nsr/text.h>

#include "base/strbuf.h"
#include "base/vec.h"

enum { MAX_CHANGES = 1500, AROUND = 2 };

struct line {
  const char *s;
  uint32_t n;
  uint32_t insn; /* index in its stream, NSR_NONE: none */
  uint64_t key;
  bool label;
};

struct side {
  NSR_VEC(struct line) lines;
};

struct change {
  char how; /* ' ', '-', '+' */
  const struct line *line;
};

/* How far down each diagonal one gets with so many changes: of step c at
 * v[c * c + diagonal + c]. */
struct trace {
  uint32_t *v;
  size_t cap;
};

/* A label of b. */
struct label {
  uint64_t key;
  uint32_t line;
};

struct diff {
  struct nsr_ctx *ctx;
  struct trace trace;
  NSR_VEC(struct label) labels; /* by key, then line */
  struct side a, b;             /* of one engine */
  NSR_VEC(struct change) changes;
  struct nsr_strbuf out;
  bool same;
};

/* ---- lines */

/* Without the comment: a semicolon outside quotes. */
static uint32_t without_comment(const char *s, uint32_t n) {
  bool quoted = false;
  for (uint32_t i = 0; i < n; i++) {
    quoted ^= s[i] == '"';
    if (s[i] == ';' && !quoted) {
      n = i;
      break;
    }
  }
  while (n && s[n - 1] == ' ')
    n--;
  return n;
}

/* The lines of an engine's code in a disassembly. */
static enum nsr_status read_lines(struct nsr_ctx *ctx, const char *text,
                                  const char *engine, struct side *out) {
  bool in = false;
  uint32_t insn = 0;
  out->lines.n = 0;
  for (const char *s = text, *end; *s; s = *end ? end + 1 : end) {
    end = strchrnul(s, '\n');
    uint32_t n = (uint32_t)(end - s), bare = without_comment(s, n);
    if (n > 8 && strncmp(s, ".engine ", 8) == 0)
      in = strlen(engine) == bare - 8u && memcmp(s + 8, engine, bare - 8u) == 0;
    else if (*s == '.' && strncmp(s, ".section", 8) == 0)
      in = false;
    else if (in && bare && *s != '.') {
      bool label = *s != ' ';
      NSR_PUSH(ctx, NSR_SCRATCH, &out->lines,
               (struct line){s, n, label ? NSR_NONE : insn,
                             XXH3_64bits(s, bare), label});
      insn += !label;
    }
  }
  return NSR_OK;
}

/* ---- one piece */

static enum nsr_status push(struct diff *d, char how, const struct line *x) {
  d->same &= how == ' ';
  NSR_PUSH(d->ctx, NSR_SCRATCH, &d->changes, (struct change){how, x});
  return NSR_OK;
}

static enum nsr_status push_all(struct diff *d, char how, const struct line *x,
                                uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    NSR_TRY(push(d, how, &x[i]));
  return NSR_OK;
}

static uint32_t furthest(const struct trace *t, int32_t c, int32_t diagonal) {
  return t->v[(int64_t)c * c + diagonal + c];
}

/* Where step c arrives on a diagonal before it follows equal lines; *down:
 * by a line of b. */
static uint32_t arrive(const struct trace *t, int32_t c, int32_t k,
                       bool *down) {
  *down = k == -c ||
          (k != c && furthest(t, c - 1, k - 1) < furthest(t, c - 1, k + 1));
  if (c == 0)
    return 0;
  return *down ? furthest(t, c - 1, k + 1) : furthest(t, c - 1, k - 1) + 1;
}

/* Fewest changes from a to b, -1: too many. */
static int32_t search(const struct trace *t, const struct line *a, uint32_t na,
                      const struct line *b, uint32_t nb, int32_t most) {
  for (int32_t c = 0; c <= most; c++)
    for (int32_t k = -c; k <= c; k += 2) {
      bool down;
      uint32_t x = arrive(t, c, k, &down);
      int64_t y = (int64_t)x - k;
      while (x < na && y >= 0 && y < nb && a[x].key == b[y].key) {
        x++;
        y++;
      }
      t->v[(int64_t)c * c + k + c] = x;
      if (x >= na && y >= nb)
        return c;
    }
  return -1;
}

/* The changes of the way back, last one first. */
static enum nsr_status go_back(struct diff *d, const struct trace *t, int32_t c,
                               const struct line *a, uint32_t na,
                               const struct line *b, uint32_t nb) {
  uint32_t x = na, y = nb;
  size_t first = d->changes.n;
  for (; c >= 0; c--) {
    int32_t k = (int32_t)x - (int32_t)y;
    bool down;
    uint32_t from = arrive(t, c, k, &down);
    while (x > from) {
      NSR_TRY(push(d, ' ', &b[--y]));
      x--;
    }
    if (c && down)
      NSR_TRY(push(d, '+', &b[--y]));
    else if (c)
      NSR_TRY(push(d, '-', &a[--x]));
  }
  for (size_t i = first, j = d->changes.n; i + 1 < j; i++) {
    struct change swap = d->changes.v[i];
    d->changes.v[i] = d->changes.v[--j];
    d->changes.v[j] = swap;
  }
  return NSR_OK;
}

static enum nsr_status compare(struct diff *d, const struct line *a,
                               uint32_t na, const struct line *b, uint32_t nb) {
  uint32_t most = na + nb < MAX_CHANGES ? na + nb : MAX_CHANGES;
  size_t room = (size_t)(most + 1) * (most + 1);
  if (room > d->trace.cap) {
    NSR_NEW(d->ctx, NSR_SCRATCH, d->trace.v, room);
    d->trace.cap = room;
  }
  int32_t c = search(&d->trace, a, na, b, nb, (int32_t)most);
  if (c >= 0)
    return go_back(d, &d->trace, c, a, na, b, nb);
  NSR_TRY(push_all(d, '-', a, na));
  return push_all(d, '+', b, nb);
}

/* ---- pieces */

static int by_label(const void *a, const void *b) {
  const struct label *x = a, *y = b;
  if (x->key != y->key)
    return x->key < y->key ? -1 : 1;
  return x->line < y->line ? -1 : x->line > y->line;
}

static enum nsr_status list_labels(struct diff *d) {
  d->labels.n = 0;
  for (size_t i = 0; i < d->b.lines.n; i++)
    if (d->b.lines.v[i].label)
      NSR_PUSH(d->ctx, NSR_SCRATCH, &d->labels,
               (struct label){d->b.lines.v[i].key, (uint32_t)i});
  if (d->labels.n)
    qsort(d->labels.v, d->labels.n, sizeof *d->labels.v, by_label);
  return NSR_OK;
}

/* The next line of b, from i on, that is this label; NSR_NONE: none. */
static uint32_t find_label(const struct diff *d, uint32_t i, uint64_t key) {
  struct label want = {key, i};
  size_t lo = 0, hi = d->labels.n;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (by_label(&d->labels.v[mid], &want) < 0)
      lo = mid + 1;
    else
      hi = mid;
  }
  bool found = lo < d->labels.n && d->labels.v[lo].key == key;
  return found ? d->labels.v[lo].line : NSR_NONE;
}

static enum nsr_status compare_engine(struct diff *d) {
  const struct line *a = d->a.lines.v, *b = d->b.lines.v;
  uint32_t na = (uint32_t)d->a.lines.n, nb = (uint32_t)d->b.lines.n;
  uint32_t from_a = 0, from_b = 0;
  NSR_TRY(list_labels(d));
  for (uint32_t i = 0; i < na; i++) {
    uint32_t j = a[i].label ? find_label(d, from_b, a[i].key) : NSR_NONE;
    if (j == NSR_NONE)
      continue;
    NSR_TRY(compare(d, a + from_a, i - from_a, b + from_b, j - from_b));
    NSR_TRY(push(d, ' ', &b[j]));
    from_a = i + 1;
    from_b = j + 1;
  }
  return compare(d, a + from_a, na - from_a, b + from_b, nb - from_b);
}

/* ---- text */

static void put_line(struct diff *d, const struct change *c) {
  if (c->line->insn == NSR_NONE)
    nsr_strbuf_printf(&d->out, "%c       ", c->how);
  else
    nsr_strbuf_printf(&d->out, "%c%6u ", c->how, c->line->insn);
  nsr_strbuf_add(&d->out, c->line->s, c->line->n);
  nsr_strbuf_puts(&d->out, "\n");
}

/* Changes with a few equal lines around them. */
static void put_changes(struct diff *d, const char *engine) {
  const struct change *v = d->changes.v;
  size_t n = d->changes.n, next = 0, shown = 0;
  bool any = false;
  for (size_t i = 0; i < n; i++) {
    for (next = next < i ? i : next; next < n && v[next].how == ' ';)
      next++;
    bool near = (next < n && next - i <= AROUND) || (any && i < shown);
    if (v[i].how != ' ')
      shown = i + 1 + AROUND;
    if (!near && v[i].how == ' ')
      continue;
    if (!any)
      nsr_strbuf_printf(&d->out, "%s\n", engine);
    else if (i > 0 && i > shown && v[i].how == ' ')
      nsr_strbuf_puts(&d->out, "        ...\n");
    any = true;
    put_line(d, &v[i]);
    if (v[i].how == ' ' && i >= shown)
      shown = i + 1;
  }
}

enum nsr_status nsr_diff(struct nsr_ctx *ctx, const struct nsr_kernel *a,
                         const struct nsr_kernel *b, const char **text,
                         bool *same) {
  struct diff d = {.ctx = ctx, .same = true};
  const char *ta, *tb;
  size_t n;
  nsr_strbuf_init(&d.out, ctx, NSR_KEEP);
  NSR_TRY(nsr_disassemble(ctx, a, &ta, &n));
  NSR_TRY(nsr_disassemble(ctx, b, &tb, &n));
  for (int e = 0; e < a->isa->nengines; e++) {
    const char *engine = a->isa->engines[e];
    d.changes.n = 0;
    NSR_TRY(read_lines(ctx, ta, engine, &d.a));
    NSR_TRY(read_lines(ctx, tb, engine, &d.b));
    NSR_TRY(compare_engine(&d));
    put_changes(&d, engine);
  }
  *same = d.same;
  return nsr_strbuf_done(&d.out, text, NULL);
}
