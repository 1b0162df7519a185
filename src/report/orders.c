/* orders.c - dependences, a line each: who, what kind, at which level and
 * distance, how the output keeps them, which bytes; then waits of the input
 * for which nothing in memory is a reason.
 */
#include <stdio.h>
#include <string.h>

#include "report/stages.h"

/* ---- what there is to say */

static bool is_load(const struct nsr_tree *t, uint32_t w) {
  const struct nsr_work *x = &t->works[w];
  return !x->marker && nsr_work_node(t, x)->cls == NSR_LOAD;
}

void nsr_order_kinds(const struct nsr_orders *o, const struct nsr_dep *d,
                     char *out, size_t size) {
  const struct nsr_tree *t = o->deps->tree;
  const struct {
    bool is;
    const char *name;
  } kinds[] = {{d->kinds & NSR_DEP_RAW, "RAW"},
               {d->kinds & NSR_DEP_WAR, "WAR"},
               {d->kinds & NSR_DEP_WAW, "WAW"},
               {d->kinds & NSR_DEP_EXTERNAL, "external"},
               {is_load(t, d->p) || is_load(t, d->c), "control"},
               {o->target[d->c] == d->p, "explicit"}};
  size_t n = 0;
  out[0] = 0;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (kinds[i].is && n < size)
      n += (size_t)snprintf(out + n, size - n, "%s%s", n ? "+" : "",
                            kinds[i].name);
}

/* The wait for d's producer, or (front) that in front of its loop; NULL: it
 * follows from others. */
static const struct nsr_need *need_of(const struct nsr_orders *o,
                                      const struct nsr_dep *d, bool front) {
  const struct nsr_tree *t = o->deps->tree;
  const struct nsr_needs *n = o->needs;
  uint32_t p = nsr_needs_awaited(t, d->p, t->works[d->c].engine);
  size_t lo = 0, hi = n->n;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (n->v[mid].c < d->c)
      lo = mid + 1;
    else
      hi = mid;
  }
  for (; lo < n->n && n->v[lo].c == d->c; lo++)
    if (n->v[lo].p == p &&
        (front ? n->v[lo].front == d->loop ||
                     (n->v[lo].back == NSR_AT_ENTRY && n->v[lo].of == d->loop)
               : n->v[lo].front == NSR_NONE && n->v[lo].back != NSR_AT_ENTRY &&
                     n->v[lo].lag <= d->lag &&
                     (n->v[lo].back == 0 || n->v[lo].of == d->loop)))
      return &n->v[lo];
  return NULL;
}

enum nsr_kept_by nsr_order_kept_by(const struct nsr_orders *o,
                                   const struct nsr_dep *d) {
  const struct nsr_need *n = need_of(o, d, false);
  if (!n)
    return d->front && need_of(o, d, true) ? NSR_BY_FRONT : NSR_BY_OTHERS;
  if (o->deps->tree->works[n->p].marker)
    return NSR_BY_MARKER;
  if (n->back)
    return NSR_BY_HISTORY;
  return n->lag ? NSR_BY_ROTATION : NSR_BY_RECENT;
}

/* ---- lines */

static void put_end(struct nsr_strbuf *b, const struct nsr_tree *t,
                    uint32_t w) {
  struct nsr_place at = nsr_work_place(t, &t->works[w]);
  nsr_print_work(b, t, w);
  nsr_print_source(b, &at);
}

/* The loop that carries it and the distance there. */
static void put_level(struct nsr_strbuf *b, const struct nsr_tree *t,
                      const struct nsr_dep *d) {
  int e = t->works[d->c].engine;
  if (d->loop == NSR_NONE) {
    nsr_strbuf_puts(b, "program, once");
    return;
  }
  struct nsr_place at = nsr_program_place(
      t->program, e, t->local[e].scopes[t->scopes[d->loop].local[e]].entry);
  nsr_strbuf_printf(b, "loop %u", d->loop);
  nsr_print_source(b, &at);
  nsr_strbuf_printf(b, ", distance %s%u", d->exact ? "" : ">= ", d->distance);
}

static void put_form(struct nsr_strbuf *b, const struct nsr_orders *o,
                     const struct nsr_dep *d) {
  const struct nsr_need *n = need_of(o, d, false);
  bool front = d->front && need_of(o, d, true);
  switch (nsr_order_kept_by(o, d)) {
  case NSR_BY_RECENT:
    nsr_strbuf_puts(b, "most recent");
    return;
  case NSR_BY_ROTATION:
    nsr_strbuf_printf(b, "rotation, all but the last %u%s", n->lag,
                      front ? ", in front of the loop all" : "");
    return;
  case NSR_BY_HISTORY:
    nsr_strbuf_printf(b, "history, all but the last %u iterations", n->back);
    return;
  case NSR_BY_FRONT:
    nsr_strbuf_puts(b, "in front of the loop");
    return;
  case NSR_BY_MARKER:
    nsr_strbuf_puts(b, "marker");
    return;
  case NSR_BY_OTHERS:
    nsr_strbuf_puts(b, "follows from other waits");
    return;
  }
}

static void put_bytes(struct nsr_strbuf *b, const struct nsr_bytes *x) {
  if (x->space == NSR_SPACE_ANYTHING) {
    nsr_strbuf_puts(b, "unknown effects");
    return;
  }
  if (x->space > NSR_PSUM) {
    nsr_strbuf_puts(b, "hidden state");
    return;
  }
  nsr_strbuf_puts(b, nsr_space_name((enum nsr_space)x->space));
  if (x->space != NSR_DRAM)
    nsr_strbuf_printf(b, " partitions %u..%u", x->part,
                      x->part + x->nparts - 1);
  nsr_strbuf_printf(b, " bytes %lld..%lld", (long long)x->lo,
                    (long long)x->hi - 1);
}

static void put_order(struct nsr_strbuf *b, const struct nsr_orders *o,
                      const struct nsr_dep *d) {
  const struct nsr_tree *t = o->deps->tree;
  char kinds[64];
  nsr_order_kinds(o, d, kinds, sizeof kinds);
  put_end(b, t, d->c);
  nsr_strbuf_puts(b, " after ");
  put_end(b, t, d->p);
  nsr_strbuf_printf(b, ": %s, ", kinds);
  put_level(b, t, d);
  nsr_strbuf_puts(b, ", ");
  put_form(b, o, d);
  nsr_strbuf_puts(b, d->overlap == NSR_OVERLAP_MUST ? ", must, " : ", may, ");
  put_bytes(b, &o->deps->bytes[d->where]);
  nsr_strbuf_puts(b, d->unordered ? ", unordered in the input"
                     : d->allowed ? ", a race that facts allow"
                                  : "");
  nsr_strbuf_puts(b, "\n");
}

static bool owed(const struct nsr_orders *o, uint32_t c, uint32_t p) {
  const struct nsr_deps *deps = o->deps;
  for (uint32_t i = deps->first[c]; i < deps->first[c + 1]; i++)
    if (deps->deps[i].p == p && deps->deps[i].overlap != NSR_OVERLAP_NO)
      return true;
  return false;
}

void nsr_print_orders(struct nsr_strbuf *b, const struct nsr_orders *o) {
  const struct nsr_tree *t = o->deps->tree;
  for (uint32_t i = 0; i < o->deps->n; i++)
    if (o->deps->deps[i].overlap != NSR_OVERLAP_NO)
      put_order(b, o, &o->deps->deps[i]);
  for (uint32_t c = 0; c < t->nworks; c++) {
    uint32_t p = o->target[c];
    if (p == NSR_NONE || owed(o, c, p))
      continue;
    put_end(b, t, c);
    nsr_strbuf_puts(b, " after ");
    put_end(b, t, p);
    nsr_strbuf_puts(b, ": explicit, no bytes in common, not owed\n");
  }
}
