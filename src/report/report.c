/* report.c - what a rewrite did, as a short table and as JSON. Needs a report
 * that nsr_rewrite filled; the numbers are its, only totals are made here.
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include <nsr/rewrite.h>

#include "report/rewritten.h"

static struct nsr_engine_report totals(const struct nsr_rewrite_report *r) {
  struct nsr_engine_report sum = {.engine = "total"};
  for (int e = 0; e < NSR_MAX_ENGINES; e++) {
    const struct nsr_engine_report *x = &r->engines[e];
    if (!x->engine)
      continue;
    sum.insns_before += x->insns_before;
    sum.insns_after += x->insns_after;
    sum.barriers_before += x->barriers_before;
    sum.barriers_after += x->barriers_after;
    sum.waits_before += x->waits_before;
    sum.waits_after += x->waits_after;
    sum.registers += x->registers;
  }
  return sum;
}

/* One word on the verdict: that of the last judge who came to one, unless it
 * is undecided. */
static const char *verdict(const struct nsr_rewrite_report *r) {
  const struct nsr_judgement *all = &r->exploration.judgement;
  if (r->explored && (!r->judged || all->verdict != NSR_UNDECIDED))
    return nsr_verdict_name(all->verdict);
  if (r->judged)
    return nsr_verdict_name(r->judgement.verdict);
  if (r->proof_asked)
    return nsr_proof_verdict_name(r->proof.verdict);
  return r->changed ? "not judged" : "unchanged";
}

/* A place as messages show it: "sp[12] <loop> (k.s:40)". */
static void place(const struct nsr_place *p, char *out, size_t size) {
  static const char tail[] = ": error: "; /* what an empty message leaves */
  struct nsr_diag diag = {.place = *p, .text = ""};
  diag.place.file = NULL;
  nsr_diag_format(&diag, out, size);
  size_t n = strlen(out), cut = sizeof tail - 1;
  if (n >= cut && strcmp(out + n - cut, tail) == 0)
    out[n - cut] = 0;
}

/* ---- text */

/* A file's name as messages show it. */
static void name(struct nsr_strbuf *b, const char *s) {
  char c[8];
  for (; *s; s++) {
    const char one[] = {*s, 0};
    nsr_strbuf_add(b, c, nsr_escape(one, c, sizeof c));
  }
}

static void row(struct nsr_strbuf *b, const struct nsr_engine_report *e) {
  nsr_strbuf_printf(b, "%-8s %7u -> %-7u %6u -> %-6u %6u -> %-6u %6u\n",
                    e->engine, e->insns_before, e->insns_after,
                    e->barriers_before, e->barriers_after, e->waits_before,
                    e->waits_after, e->registers);
}

static void table(struct nsr_strbuf *b, const struct nsr_rewrite_report *r) {
  struct nsr_engine_report sum = totals(r);
  nsr_strbuf_printf(b, "%-8s %-18s %-16s %-16s %s\n", "engine",
                    "   instructions", "    barriers", "     waits",
                    "registers");
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    if (r->engines[e].engine)
      row(b, &r->engines[e]);
  row(b, &sum);
}

/* Text of one or more lines, each indented. */
static void lines(struct nsr_strbuf *b, const char *text) {
  while (text && *text) {
    const char *end = strchr(text, '\n');
    size_t n = end ? (size_t)(end - text) : strlen(text);
    nsr_strbuf_puts(b, "  ");
    nsr_strbuf_add(b, text, n);
    nsr_strbuf_puts(b, "\n");
    text = end ? end + 1 : NULL;
  }
}

static void verdict_lines(struct nsr_strbuf *b,
                          const struct nsr_rewrite_report *r) {
  const struct nsr_judgement *j = &r->judgement;
  if (!r->judged && !r->explored && !r->proof_asked) {
    nsr_strbuf_printf(b, "verdict: %s%s\n", verdict(r),
                      r->changed ? "" : ", nothing to rewrite");
    return;
  }
  if (!r->judged)
    return;
  nsr_strbuf_printf(b, "verdict: %s", nsr_verdict_name(j->verdict));
  nsr_strbuf_printf(b, ", %u equal inputs", j->inputs);
  if (j->undecided)
    nsr_strbuf_printf(b, ", %u undecided", j->undecided);
  nsr_strbuf_printf(b, ", %llu instructions simulated\n",
                    (unsigned long long)j->instances);
  if (j->input && j->verdict != NSR_EQUAL)
    nsr_strbuf_printf(b, "  input: %s\n", j->input);
  if (j->verdict != NSR_EQUAL)
    lines(b, j->text);
  lines(b, j->notes);
}

static void proof_lines(struct nsr_strbuf *b,
                        const struct nsr_rewrite_report *r) {
  const struct nsr_proof *p = &r->proof;
  if (!r->proof_asked)
    return;
  nsr_strbuf_printf(b, "for all inputs: %s",
                    nsr_proof_verdict_name(p->verdict));
  int64_t most = nsr_proof_limit(p, r->max_count > r->count_limit);
  if (p->verdict == NSR_PROOF_PROVED && most)
    nsr_strbuf_printf(b,
                      ", %u waits, as long as no loop runs more than "
                      "%lld iterations in all\n",
                      p->waits, (long long)most);
  else if (p->verdict == NSR_PROOF_PROVED)
    nsr_strbuf_printf(b, ", %u waits\n", p->waits);
  else
    nsr_strbuf_printf(b, " (%s)\n", nsr_proof_rule_name(p->rule));
  lines(b, p->text);
}

static void explored_lines(struct nsr_strbuf *b,
                           const struct nsr_rewrite_report *r) {
  const struct nsr_exploration *e = &r->exploration;
  const struct nsr_judgement *j = &e->judgement;
  if (!r->explored)
    return;
  nsr_strbuf_printf(b, "all orders: %s, %u equal inputs",
                    nsr_verdict_name(j->verdict), j->inputs);
  if (j->undecided)
    nsr_strbuf_printf(b, ", %u undecided", j->undecided);
  nsr_strbuf_printf(b, ", %llu and %llu states\n",
                    (unsigned long long)e->states[0],
                    (unsigned long long)e->states[1]);
  if (j->verdict != NSR_EQUAL) {
    nsr_strbuf_printf(b, "  input: %s\n", j->input);
    lines(b, j->text);
  }
  if (!e->demands.inputs)
    return;
  nsr_strbuf_printf(b, "  %llu of %llu waits are for more than is asked for\n",
                    (unsigned long long)e->demands.longer,
                    (unsigned long long)e->demands.waits);
  lines(b, e->demands.text);
}

/* The first few; the JSON report has them all. */
static void may_lines(struct nsr_strbuf *b,
                      const struct nsr_rewrite_report *r) {
  enum { SHOWN = 8 };
  if (r->may_pairs)
    nsr_strbuf_printf(b,
                      "%u pairs that the input leaves unordered were taken as "
                      "disjoint\n",
                      r->may_pairs);
  for (uint32_t i = 0; i < r->may_pairs && i < SHOWN; i++) {
    char first[256], second[256];
    place(&r->pairs[i].first, first, sizeof first);
    place(&r->pairs[i].second, second, sizeof second);
    nsr_strbuf_printf(b, "  %s and %s: %s\n", first, second, r->pairs[i].where);
  }
  if (r->may_pairs > SHOWN)
    nsr_strbuf_printf(b, "  and %u more\n", r->may_pairs - SHOWN);
}

static void count_line(struct nsr_strbuf *b,
                       const struct nsr_rewrite_report *r) {
  if (!r->max_entries)
    return;
  if (r->max_count >= 0 && r->max_count <= r->count_limit) {
    nsr_strbuf_printf(b, "counts come to %lld at most, of %lld\n",
                      (long long)r->max_count, (long long)r->count_limit);
    return;
  }
  nsr_strbuf_printf(b, "counts hold up to %lld iterations of a loop",
                    (long long)r->max_entries);
  if (r->max_count >= 0)
    nsr_strbuf_printf(b,
                      " in all, behind which they may overflow: what is "
                      "declared allows up to %lld, a semaphore holds %lld",
                      (long long)r->max_count, (long long)r->count_limit);
  nsr_strbuf_puts(b, "\n");
}

/* What a barrier costs; the exit barrier's once goes without saying. */
static void put_times(struct nsr_strbuf *b, uint64_t times) {
  if (times == UINT64_MAX)
    nsr_strbuf_puts(b, "; met any number of times");
  else if (times > 1)
    nsr_strbuf_printf(b, "; met %" PRIu64 " times at most", times);
}

/* "soft pool[5] (k.s:75): has unknown effects: 3 waits, 2 for it, 146 ns; 2
 * barriers 4160 ns". */
void nsr_print_soft(struct nsr_strbuf *b, const struct nsr_soft_barrier *s) {
  char at[256];
  place(&s->place, at, sizeof at);
  nsr_strbuf_printf(b, "soft %s: ", at);
  name(b, s->reason);
  nsr_strbuf_printf(b,
                    ": %u wait%s, %u for it, %" PRId64 " ns; %u barrier%s "
                    "%" PRId64 " ns",
                    s->in, s->in == 1 ? "" : "s", s->out, s->cost, s->barriers,
                    s->barriers == 1 ? "" : "s", s->saved);
  put_times(b, s->times);
  nsr_strbuf_puts(b, "\n");
}

enum nsr_status nsr_report_text(struct nsr_ctx *ctx,
                                const struct nsr_rewrite_report *report,
                                const char *input, const char *output,
                                const char **text) {
  struct nsr_strbuf b;
  nsr_strbuf_init(&b, ctx, NSR_KEEP);
  name(&b, input);
  nsr_strbuf_puts(&b, " -> ");
  name(&b, output ? output : "not written");
  nsr_strbuf_puts(&b, "\n");
  table(&b, report);
  nsr_strbuf_printf(&b, "semaphores %u", report->semaphores);
  if (report->scheme)
    nsr_strbuf_printf(&b, " (%s)", report->scheme);
  nsr_strbuf_printf(&b, ", scopes %u, dependences %u\n", report->scopes,
                    report->dependences);
  count_line(&b, report);
  may_lines(&b, report);
  for (uint32_t i = 0; i < report->nsoft; i++)
    nsr_print_soft(&b, &report->soft[i]);
  for (uint32_t i = 0; i < report->nkept; i++) {
    char at[256];
    place(&report->kept[i].place, at, sizeof at);
    nsr_strbuf_printf(&b, "kept %s: ", at);
    name(&b, report->kept[i].reason);
    put_times(&b, report->kept[i].times);
    nsr_strbuf_puts(&b, "\n");
  }
  if (report->added_exit)
    nsr_strbuf_puts(&b, "exit barrier added: the input has none\n");
  if (report->facts)
    nsr_strbuf_puts(&b, report->facts);
  verdict_lines(&b, report);
  proof_lines(&b, report);
  explored_lines(&b, report);
  return nsr_strbuf_done(&b, text, NULL);
}

/* ---- JSON */

struct object {
  json_t *j;
  bool failed;
};

static void set(struct object *o, const char *key, json_t *value) {
  o->failed |= json_object_set_new(o->j, key, value) != 0;
}

/* Names in files may be no UTF-8: then with ? for all that could be wrong. */
static json_t *string(const char *s) {
  json_t *j = json_string(s);
  char *plain = j ? NULL : strdup(s);
  for (char *p = plain; p && *p; p++)
    *p = *p & 0x80 ? '?' : *p;
  j = plain ? json_string(plain) : j;
  free(plain);
  return j;
}

static json_t *text_or_null(const char *s) {
  return s && *s ? string(s) : json_null();
}

/* An object's finished value, NULL if anything in it could not be made. */
static json_t *done(struct object *o) {
  if (!o->failed)
    return o->j;
  json_decref(o->j);
  return NULL;
}

static void counts(struct object *o, const struct nsr_engine_report *e) {
  set(o, "instructions_before", json_integer(e->insns_before));
  set(o, "instructions_after", json_integer(e->insns_after));
  set(o, "barriers_before", json_integer(e->barriers_before));
  set(o, "barriers_after", json_integer(e->barriers_after));
  set(o, "waits_before", json_integer(e->waits_before));
  set(o, "waits", json_integer(e->waits_after));
  set(o, "registers", json_integer(e->registers));
}

static json_t *engines(const struct nsr_rewrite_report *r) {
  struct object list = {json_array(), false};
  for (int e = 0; e < NSR_MAX_ENGINES; e++) {
    if (!r->engines[e].engine)
      continue;
    struct object o = {json_object(), false};
    set(&o, "engine", json_string(r->engines[e].engine));
    counts(&o, &r->engines[e]);
    list.failed |= json_array_append_new(list.j, done(&o)) != 0;
  }
  return done(&list);
}

static json_t *source(const struct nsr_place *p) {
  struct object o = {json_object(), false};
  if (!p->source_file || !p->source_line) {
    json_decref(o.j);
    return json_null();
  }
  set(&o, "file", string(p->source_file));
  set(&o, "line", json_integer(p->source_line));
  return done(&o);
}

static void set_place(struct object *o, const struct nsr_place *p) {
  set(o, "engine", text_or_null(p->engine));
  set(o, "index", p->insn < 0 ? json_null() : json_integer(p->insn));
  set(o, "label", text_or_null(p->label));
  set(o, "source", source(p));
}

static json_t *place_object(const struct nsr_place *p) {
  struct object o = {json_object(), false};
  set_place(&o, p);
  return done(&o);
}

static json_t *may_pairs(const struct nsr_rewrite_report *r) {
  struct object list = {json_array(), false};
  for (uint32_t i = 0; i < r->may_pairs; i++) {
    struct object o = {json_object(), false};
    set(&o, "first", place_object(&r->pairs[i].first));
    set(&o, "second", place_object(&r->pairs[i].second));
    set(&o, "where", text_or_null(r->pairs[i].where));
    list.failed |= json_array_append_new(list.j, done(&o)) != 0;
  }
  return done(&list);
}

/* Each line of a text. */
static json_t *text_lines(const char *text) {
  struct object list = {json_array(), false};
  while (text && *text) {
    size_t n = strcspn(text, "\n");
    char *one = strndup(text, n);
    list.failed |= !one || json_array_append_new(list.j, string(one)) != 0;
    free(one);
    text += n + (text[n] == '\n');
  }
  return done(&list);
}

static json_t *count_or_null(uint64_t n) {
  return n > INT64_MAX ? json_null() : json_integer((json_int_t)n);
}

static json_t *kept_barriers(const struct nsr_rewrite_report *r) {
  struct object list = {json_array(), false};
  for (uint32_t i = 0; i < r->nkept; i++) {
    struct object o = {json_object(), false};
    set_place(&o, &r->kept[i].place);
    set(&o, "reason", text_or_null(r->kept[i].reason));
    set(&o, "times", count_or_null(r->kept[i].times));
    list.failed |= json_array_append_new(list.j, done(&o)) != 0;
  }
  return done(&list);
}

static json_t *soft_barriers(const struct nsr_rewrite_report *r) {
  struct object list = {json_array(), false};
  for (uint32_t i = 0; i < r->nsoft; i++) {
    const struct nsr_soft_barrier *s = &r->soft[i];
    struct object o = {json_object(), false};
    set_place(&o, &s->place);
    set(&o, "because", text_or_null(s->reason));
    set(&o, "waits", json_integer(s->in));
    set(&o, "waits_for_it", json_integer(s->out));
    set(&o, "ns", json_integer(s->cost));
    set(&o, "barriers", json_integer(s->barriers));
    set(&o, "barriers_ns", json_integer(s->saved));
    set(&o, "times", count_or_null(s->times));
    list.failed |= json_array_append_new(list.j, done(&o)) != 0;
  }
  return done(&list);
}

static json_t *judgement(const struct nsr_judgement *j) {
  struct object o = {json_object(), false};
  set(&o, "verdict", json_string(nsr_verdict_name(j->verdict)));
  set(&o, "fault",
      j->fault == NSR_FAULT_NONE ? json_null()
                                 : json_string(nsr_fault_name(j->fault)));
  set(&o, "text", text_or_null(j->text));
  set(&o, "input", text_or_null(j->input));
  set(&o, "equal_inputs", json_integer(j->inputs));
  set(&o, "undecided_inputs", json_integer(j->undecided));
  set(&o, "instances", json_integer((json_int_t)j->instances));
  set(&o, "may_pairs", json_integer((json_int_t)j->may_pairs));
  set(&o, "notes", text_or_null(j->notes));
  return done(&o);
}

static json_t *proof(const struct nsr_proof *p) {
  struct object o = {json_object(), false};
  set(&o, "verdict", json_string(nsr_proof_verdict_name(p->verdict)));
  set(&o, "rule",
      p->rule == NSR_RULE_NONE ? json_null()
                               : json_string(nsr_proof_rule_name(p->rule)));
  set(&o, "text", text_or_null(p->text));
  set(&o, "waits", json_integer(p->waits));
  set(&o, "may_pairs", json_integer(p->may_pairs));
  set(&o, "bound", p->bound ? json_integer(p->bound) : json_null());
  set(&o, "lasting", p->lasting ? json_integer(p->lasting) : json_null());
  return done(&o);
}

static json_t *exploration(const struct nsr_exploration *e) {
  struct object o = {judgement(&e->judgement), false};
  if (!o.j)
    return NULL;
  set(&o, "states", json_integer((json_int_t)e->states[0]));
  set(&o, "states_after", json_integer((json_int_t)e->states[1]));
  set(&o, "waits", json_integer((json_int_t)e->demands.waits));
  set(&o, "waits_longer", json_integer((json_int_t)e->demands.longer));
  return done(&o);
}

static json_t *report_object(const struct nsr_rewrite_report *r,
                             const char *input, const char *output) {
  struct object o = {json_object(), false};
  struct nsr_engine_report sum = totals(r);
  set(&o, "input", string(input));
  set(&o, "output", text_or_null(output));
  set(&o, "changed", json_boolean(r->changed));
  counts(&o, &sum);
  set(&o, "semaphores", json_integer(r->semaphores));
  set(&o, "scheme", text_or_null(r->scheme));
  set(&o, "scopes", json_integer(r->scopes));
  set(&o, "dependences", json_integer(r->dependences));
  set(&o, "max_entries",
      r->max_entries ? json_integer(r->max_entries) : json_null());
  set(&o, "max_count",
      r->max_entries && r->max_count >= 0 ? json_integer(r->max_count)
                                          : json_null());
  set(&o, "count_limit",
      r->max_entries ? json_integer(r->count_limit) : json_null());
  set(&o, "inner_waits", json_integer(r->inner_waits));
  set(&o, "inner_operations", json_integer(r->inner_operations));
  set(&o, "awaited", json_integer(r->awaited));
  set(&o, "may_pairs", may_pairs(r));
  set(&o, "verdict", json_string(verdict(r)));
  set(&o, "static", r->proof_asked ? proof(&r->proof) : json_null());
  set(&o, "judgement", r->judged ? judgement(&r->judgement) : json_null());
  set(&o, "exhaustive",
      r->explored ? exploration(&r->exploration) : json_null());
  set(&o, "kept_barriers", kept_barriers(r));
  set(&o, "soft_barriers", soft_barriers(r));
  set(&o, "exit_barrier_added", json_boolean(r->added_exit));
  set(&o, "facts", text_lines(r->facts));
  set(&o, "engines", engines(r));
  return done(&o);
}

static json_t *failure_object(enum nsr_status status,
                              const struct nsr_diag *diag, const char *input) {
  struct object o = {json_object(), false};
  set(&o, "input", string(input));
  set(&o, "output", json_null());
  set(&o, "changed", json_false());
  set(&o, "verdict", json_string(nsr_status_name(status)));
  set(&o, "reason", text_or_null(diag->text));
  set_place(&o, &diag->place);
  return done(&o);
}

static int append(const char *s, size_t n, void *user) {
  struct nsr_strbuf *b = user;
  nsr_strbuf_add(b, s, n);
  return b->failed ? -1 : 0;
}

/* j as a line; it goes. */
static enum nsr_status line(struct nsr_ctx *ctx, json_t *j, const char **text) {
  struct nsr_strbuf b;
  nsr_strbuf_init(&b, ctx, NSR_KEEP);
  bool good = j && json_dump_callback(j, append, &b, JSON_COMPACT) == 0;
  json_decref(j);
  if (!good)
    return b.failed ? NSR_E_NOMEM
                    : nsr_fail(ctx, NSR_E_NOMEM, NSR_NOWHERE,
                               "the report does not fit memory");
  nsr_strbuf_puts(&b, "\n");
  return nsr_strbuf_done(&b, text, NULL);
}

enum nsr_status nsr_report_json(struct nsr_ctx *ctx,
                                const struct nsr_rewrite_report *report,
                                const char *input, const char *output,
                                const char **text) {
  return line(ctx, report_object(report, input, output), text);
}

enum nsr_status nsr_report_failure_json(struct nsr_ctx *ctx,
                                        enum nsr_status status,
                                        const struct nsr_diag *diag,
                                        const char *input, const char **text) {
  return line(ctx, failure_object(status, diag, input), text);
}
