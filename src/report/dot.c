/* dot.c - scopes and dependences as graphs for `dot`. */
#include "report/stages.h"

/* Text inside a quoted string. */
static void put_quoted(struct nsr_strbuf *b, const char *s) {
  for (; *s; s++) {
    if (*s == '"' || *s == '\\')
      nsr_strbuf_puts(b, "\\");
    nsr_strbuf_add(b, s, 1);
  }
}

static void put_source_line(struct nsr_strbuf *b, const struct nsr_place *p) {
  if (!p->source_file || !p->source_line)
    return;
  nsr_strbuf_puts(b, "\\n");
  put_quoted(b, p->source_file);
  nsr_strbuf_printf(b, ":%u", p->source_line);
}

/* "loop 2" and where it is on the first engine that runs it. */
static void put_scope_label(struct nsr_strbuf *b, const struct nsr_tree *t,
                            uint32_t scope) {
  static const char *const kinds[] = {"program", "loop", "arm", "island"};
  const struct nsr_common *s = &t->scopes[scope];
  nsr_strbuf_puts(b, kinds[s->kind]);
  if (scope == 0)
    return;
  nsr_strbuf_printf(b, " %u", scope);
  int e = __builtin_ctz(s->engines);
  struct nsr_place at =
      nsr_program_place(t->program, e, t->local[e].scopes[s->local[e]].entry);
  put_source_line(b, &at);
}

/* ---- scopes */

/* How much work of each engine lies directly in a scope. */
static void put_counts(struct nsr_strbuf *b, const struct nsr_tree *t,
                       uint32_t scope) {
  uint32_t n[NSR_MAX_ENGINES] = {0};
  for (uint32_t p = t->scopes[scope].first_part; p != NSR_NONE;
       p = t->parts[p].next)
    for (uint32_t w = t->parts[p].first; t->parts[p].kind == NSR_PART_SEGMENT &&
                                         w < t->parts[p].first + t->parts[p].n;
         w++)
      n[t->works[w].engine]++;
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    if (n[e])
      nsr_strbuf_printf(b, "\\n%s %u", t->program->k->isa->engines[e], n[e]);
}

static void put_children(struct nsr_strbuf *b, const struct nsr_tree *t,
                         uint32_t scope) {
  for (uint32_t p = t->scopes[scope].first_part; p != NSR_NONE;
       p = t->parts[p].next) {
    const struct nsr_part *x = &t->parts[p];
    if (x->kind == NSR_PART_SCOPE)
      nsr_strbuf_printf(b, "  s%u -> s%u;\n", scope, x->first);
    if (x->kind != NSR_PART_BARRIER)
      continue;
    nsr_strbuf_printf(b,
                      "  p%u [shape=plaintext, label=\"sync %d%s\"];\n"
                      "  s%u -> p%u [style=dotted];\n",
                      p, (int)x->id, x->keep ? " (stays)" : "", scope, p);
  }
}

void nsr_dot_scopes(struct nsr_strbuf *b, const struct nsr_tree *t) {
  nsr_strbuf_puts(b, "digraph scopes {\n  node [shape=box];\n");
  for (uint32_t s = 0; s < t->nscopes; s++) {
    nsr_strbuf_printf(b, "  s%u [label=\"", s);
    put_scope_label(b, t, s);
    put_counts(b, t, s);
    nsr_strbuf_puts(b, "\"];\n");
    put_children(b, t, s);
  }
  nsr_strbuf_puts(b, "}\n");
}

/* ---- dependences: works in the boxes of their scopes */

/* Queues may have any name. */
static void put_work(struct nsr_strbuf *b, const struct nsr_tree *t,
                     uint32_t w) {
  struct nsr_strbuf name;
  const char *text;
  nsr_strbuf_init(&name, b->ctx, NSR_SCRATCH);
  nsr_print_work(&name, t, w);
  if (nsr_strbuf_done(&name, &text, NULL) == NSR_OK)
    put_quoted(b, text);
  else
    b->failed = true;
}

static void put_node(struct nsr_strbuf *b, const struct nsr_tree *t,
                     uint32_t w) {
  struct nsr_place at = nsr_work_place(t, &t->works[w]);
  nsr_strbuf_printf(b, "  w%u [label=\"", w);
  put_work(b, t, w);
  put_source_line(b, &at);
  nsr_strbuf_puts(b, "\"];\n");
}

static void put_box(struct nsr_strbuf *b, const struct nsr_tree *t,
                    uint32_t scope) {
  if (scope) {
    nsr_strbuf_printf(b, "  subgraph cluster%u {\n  label=\"", scope);
    put_scope_label(b, t, scope);
    nsr_strbuf_puts(b, "\";\n");
  }
  for (uint32_t p = t->scopes[scope].first_part; p != NSR_NONE;
       p = t->parts[p].next) {
    const struct nsr_part *x = &t->parts[p];
    if (x->kind == NSR_PART_SCOPE)
      put_box(b, t, x->first);
    for (uint32_t w = x->first;
         x->kind == NSR_PART_SEGMENT && w < x->first + x->n; w++)
      put_node(b, t, w);
  }
  if (scope)
    nsr_strbuf_puts(b, "  }\n");
}

/* Solid: waited for; dashed: follows from that. What is carried points back
 * up. */
static void put_edge(struct nsr_strbuf *b, const struct nsr_orders *o,
                     const struct nsr_dep *d) {
  static const char *const forms[] = {[NSR_BY_RECENT] = "",
                                      [NSR_BY_ROTATION] = "\\nrotation",
                                      [NSR_BY_HISTORY] = "\\nhistory",
                                      [NSR_BY_FRONT] = "\\nfront",
                                      [NSR_BY_MARKER] = "\\nmarker",
                                      [NSR_BY_OTHERS] = ""};
  enum nsr_kept_by by = nsr_order_kept_by(o, d);
  char kinds[64];
  nsr_order_kinds(o, d, kinds, sizeof kinds);
  nsr_strbuf_printf(b, "  w%u -> w%u [label=\"%s%s%s\"%s%s];\n", d->p, d->c,
                    kinds, d->overlap == NSR_OVERLAP_MUST ? "" : "?", forms[by],
                    by == NSR_BY_OTHERS ? ", style=dashed" : "",
                    d->p >= d->c ? ", constraint=false" : "");
}

void nsr_dot_orders(struct nsr_strbuf *b, const struct nsr_orders *o) {
  nsr_strbuf_puts(b, "digraph dependences {\n  node [shape=box];\n");
  put_box(b, o->deps->tree, 0);
  for (uint32_t i = 0; i < o->deps->n; i++)
    if (o->deps->deps[i].overlap != NSR_OVERLAP_NO)
      put_edge(b, o, &o->deps->deps[i]);
  nsr_strbuf_puts(b, "}\n");
}
