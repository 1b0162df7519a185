/* time_report.c - times kernels and prints tables. */
#include "time_report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nsr/time.h>

static const char *const form_names[] = {[NSR_TIME_AS_IS] = "as-is",
                                         [NSR_TIME_EXPLAINED] = "as-is",
                                         [NSR_TIME_IDEAL] = "ideal",
                                         [NSR_TIME_IDEAL_SIGNALS] =
                                             "ideal-signals"};

struct row {
  const char *path;
  const char *value; /* "barrier=20us" of a sweep, NULL: none */
  enum nsr_time_form form;
  struct nsr_time time;
  double ratio;
};

struct loops {
  const char *path, *value;
  struct nsr_limits limits;
};

struct table {
  struct tool *t;
  const struct time_settings *s;
  struct nsr_time_machine machine;
  const char **values; /* of the sweep; one NULL where there is none */
  uint32_t nvalues, nrows, nloops;
  struct row *rows;
  struct loops *loops;
};

bool time_add(struct tool *t, const char *option, const char *text,
              const char **list, uint32_t *n) {
  if (*n == TIME_MAX_OPTIONS)
    return tool_refuse(t, "%s: more than %d of them", option, TIME_MAX_OPTIONS);
  list[(*n)++] = text;
  return true;
}

/* ---- options */

static char *copy(struct tool *t, const char *s, size_t n) {
  char *p = tool_alloc(t, n + 1);
  if (p)
    memcpy(p, s, n);
  return p;
}

static uint32_t commas(const char *s) {
  uint32_t n = 1;
  for (; *s; s++)
    n += *s == ',';
  return n;
}

/* "KEY=V,V" to "KEY=V", "KEY=V". */
static enum nsr_status split_sweep(struct table *b) {
  const char *text = b->s->sweep;
  const char *equal = text ? strchr(text, '=') : NULL;
  b->nvalues = equal ? commas(equal) : 1;
  b->values = tool_alloc(b->t, b->nvalues * sizeof *b->values);
  if (!b->values)
    return NSR_E_NOMEM;
  if (!text)
    return NSR_OK;
  if (!equal)
    return nsr_fail(b->t->ctx, NSR_E_USAGE, NSR_NOWHERE,
                    "--sweep=%s: expected KEY=VALUE,VALUE,..", text);
  size_t key = (size_t)(equal - text) + 1;
  const char *at = equal + 1;
  for (uint32_t i = 0; i < b->nvalues; i++) {
    size_t n = strcspn(at, ",");
    char *v = tool_alloc(b->t, key + n + 1);
    if (!v)
      return NSR_E_NOMEM;
    memcpy(v, text, key);
    memcpy(v + key, at, n);
    b->values[i] = v;
    at += n + (at[n] == ',');
  }
  return NSR_OK;
}

enum nsr_status time_words(struct tool *t, const char *text,
                           struct nsr_time_words *out) {
  const char *equal = strchr(text, '=');
  const char *at = equal ? equal + 1 : "";
  int64_t *words = tool_alloc(t, commas(at) * sizeof *words);
  if (!words)
    return NSR_E_NOMEM;
  out->tensor = copy(t, text, equal ? (size_t)(equal - text) : 0);
  out->words = words;
  out->n = 0;
  for (bool more = true; more; at++) {
    char *end;
    errno = 0;
    words[out->n++] = strtoll(at, &end, 0);
    if (end == at || errno || (*end && *end != ',') || !*out->tensor)
      return nsr_fail(t->ctx, NSR_E_USAGE, NSR_NOWHERE,
                      "--input=%s: expected TENSOR=NUMBER,NUMBER,..", text);
    more = *end == ',';
    at = end;
  }
  return out->tensor ? NSR_OK : NSR_E_NOMEM;
}

static enum nsr_status parse_inputs(struct table *b,
                                    struct nsr_time_input *input) {
  struct nsr_time_words *w = tool_alloc(b->t, (b->s->ninputs + 1) * sizeof *w);
  if (!w)
    return NSR_E_NOMEM;
  for (uint32_t i = 0; i < b->s->ninputs; i++)
    NSR_TRY(time_words(b->t, b->s->inputs[i], &w[i]));
  *input = (struct nsr_time_input){b->s->ninputs, w, b->s->budget};
  return NSR_OK;
}

/* ---- times */

/* The machine at a value of the sweep; sets: room for its figures. */
static struct nsr_time_machine
machine_at(const struct table *b, const char *value, const char **sets) {
  struct nsr_time_machine m = {b->machine.name, b->machine.text, b->s->nsets,
                               sets};
  memcpy(sets, b->s->sets, b->s->nsets * sizeof *sets);
  if (value)
    sets[m.nsets++] = value;
  return m;
}

static enum nsr_status one_row(struct table *b, struct nsr_time_run *run,
                               const char *path, const char *value,
                               enum nsr_time_form form) {
  const char *sets[TIME_MAX_OPTIONS + 1];
  struct nsr_time_machine m = machine_at(b, value, sets);
  struct row *row = &b->rows[b->nrows++];
  *row = (struct row){.path = path, .value = value, .form = form};
  return nsr_time(b->t->ctx, run, &m, form, &row->time);
}

static enum nsr_status one_limit(struct table *b, const struct nsr_kernel *k,
                                 struct nsr_time_run *run, const char *path,
                                 const char *value) {
  const char *sets[TIME_MAX_OPTIONS + 1];
  struct nsr_time_machine m = machine_at(b, value, sets);
  struct loops *l = &b->loops[b->nloops++];
  *l = (struct loops){.path = path, .value = value};
  return nsr_limits(b->t->ctx, k, run, &m, &l->limits);
}

static enum nsr_status one_kernel(struct table *b, const char *path,
                                  const struct nsr_time_input *input) {
  struct nsr_kernel *k;
  struct nsr_time_run *run;
  NSR_TRY(nsr_kernel_load(b->t->ctx, path, &k));
  NSR_TRY(nsr_time_record(b->t->ctx, k, input, &run));
  int first = b->s->ideal ? NSR_TIME_EXPLAINED : NSR_TIME_AS_IS;
  int last = b->s->ideal ? NSR_TIME_IDEAL_SIGNALS : NSR_TIME_AS_IS;
  for (uint32_t i = 0; i < b->nvalues; i++)
    for (int form = first; form <= last; form++)
      NSR_TRY(one_row(b, run, path, b->values[i], (enum nsr_time_form)form));
  for (uint32_t i = 0; i < b->nvalues && b->s->limits; i++)
    NSR_TRY(one_limit(b, k, run, path, b->values[i]));
  return NSR_OK;
}

/* Against the first kernel as it is, at the same value of the sweep. */
static void find_ratios(struct table *b) {
  for (uint32_t i = 0; i < b->nrows; i++)
    for (uint32_t k = 0; k < b->nrows; k++)
      if (b->rows[k].path == b->rows[0].path &&
          b->rows[k].value == b->rows[i].value &&
          b->rows[k].form <= NSR_TIME_EXPLAINED && b->rows[k].time.ns > 0) {
        b->rows[i].ratio = b->rows[i].time.ns / b->rows[k].time.ns;
        break;
      }
}

/* ---- text */

static void print_engines(FILE *out, const struct row *r) {
  double all = r->time.ns > 0 ? r->time.ns / 100 : 1;
  fprintf(out, "  %% of the time   unit control   issue  waits    full   loads "
               "barrier\n");
  for (int e = 0; e < NSR_MAX_ENGINES; e++) {
    const struct nsr_time_engine *g = &r->time.engines[e];
    if (g->name)
      fprintf(out, "  %-12s  %6.1f  %6.1f  %6.1f  %5.1f  %6.1f  %6.1f  %6.1f\n",
              g->name, g->unit / all, g->control / all, g->issue / all,
              g->waiting / all, g->full / all, g->loading / all,
              g->barrier / all);
  }
  for (uint32_t q = 0; q < r->time.nqueues; q++)
    fprintf(out, "  %-12s  %6.1f  %.0f bytes\n", r->time.queues[q].name,
            r->time.queues[q].moving / all, (double)r->time.queues[q].bytes);
}

static void print_places(FILE *out, const struct row *r, const char *what,
                         const struct nsr_time_blocked *p, uint32_t n) {
  enum { SHOWN = 6 };
  double all = r->time.ns > 0 ? r->time.ns / 100 : 1;
  for (uint32_t i = 0; i < n && i < SHOWN && p->ns >= all / 20; i++, p++) {
    fprintf(out, "  %s %5.1f  %s[%lld] %s", what, p->ns / all, p->place.engine,
            (long long)p->place.insn, p->place.label ? p->place.label : "");
    if (p->place.source_line)
      fprintf(out, " %s:%u", p->place.source_file ? p->place.source_file : "",
              (unsigned)p->place.source_line);
    fputc('\n', out);
  }
}

static void print_blocked(FILE *out, const struct row *r) {
  print_places(out, r, "blocked", r->time.blocked, r->time.nblocked);
  print_places(out, r, "too long", r->time.excess, r->time.nexcess);
}

static void print_limit(FILE *out, double ns) {
  if (ns < 0)
    fprintf(out, " %11s", "-");
  else
    fprintf(out, " %11.1f", ns);
}

static void print_loops(FILE *out, const struct loops *l) {
  fprintf(out, "%s, loops%s%s\n", l->path, l->value ? ", " : "",
          l->value ? l->value : "");
  fprintf(out, "  ns of one   resources       found        true       as is"
               "       ideal  iterations\n");
  for (uint32_t i = 0; i < l->limits.n; i++) {
    const struct nsr_loop_limits *x = &l->limits.loops[i];
    fprintf(out, "           ");
    print_limit(out, x->iterations ? x->resources : -1);
    print_limit(out, x->recovered_distances);
    print_limit(out, x->true_distances);
    print_limit(out, x->as_is);
    print_limit(out, x->ideal);
    fprintf(out, " %11llu  %*s%s[%lld] %s", (unsigned long long)x->iterations,
            (int)x->depth * 2 - 2, "", x->place.engine,
            (long long)x->place.insn, x->place.label ? x->place.label : "");
    if (x->resource)
      fprintf(out, " (%s%s)", x->resource_kind, x->resource);
    fputc('\n', out);
  }
}

static void print_table(FILE *out, const struct table *b) {
  fprintf(out, "%14s %14s %7s %12s %9s\n", "ns", "cycles", "ratio",
          "instructions", "barriers");
  for (uint32_t i = 0; i < b->nrows; i++) {
    const struct row *r = &b->rows[i];
    fprintf(out, "%14.1f %14.1f %7.4f %12llu %9llu  %s", r->time.ns,
            r->time.cycles, r->ratio, (unsigned long long)r->time.instructions,
            (unsigned long long)r->time.barriers, r->path);
    if (r->form > NSR_TIME_EXPLAINED)
      fprintf(out, ", %s", form_names[r->form]);
    if (r->value)
      fprintf(out, ", %s", r->value);
    fputc('\n', out);
  }
  for (uint32_t i = 0; i < b->nrows && b->nvalues == 1; i++) {
    if (b->rows[i].form == NSR_TIME_IDEAL_SIGNALS)
      continue;
    fprintf(out, "%s, %s, machine %s\n", b->rows[i].path,
            form_names[b->rows[i].form], b->rows[i].time.machine);
    print_engines(out, &b->rows[i]);
    print_blocked(out, &b->rows[i]);
  }
  for (uint32_t i = 0; i < b->nloops; i++)
    print_loops(out, &b->loops[i]);
}

/* ---- JSON */

static void json_text(FILE *out, const char *name, const char *s) {
  fprintf(out, "\"%s\":", name);
  if (!s) {
    fputs("null", out);
    return;
  }
  fputc('"', out);
  for (; *s; s++) {
    unsigned char c = (unsigned char)*s;
    if (c == '"' || c == '\\')
      fprintf(out, "\\%c", c);
    else if (c < 0x20 || c == 0x7f)
      fprintf(out, "\\u%04x", c);
    else
      fputc(c, out);
  }
  fputc('"', out);
}

static void json_engines(FILE *out, const struct nsr_time *t) {
  const char *between = "";
  fputs(",\"engines\":[", out);
  for (int e = 0; e < NSR_MAX_ENGINES; e++) {
    const struct nsr_time_engine *g = &t->engines[e];
    if (!g->name)
      continue;
    fprintf(out, "%s{", between);
    json_text(out, "engine", g->name);
    fprintf(out,
            ",\"end\":%.3f,\"unit\":%.3f,\"control\":%.3f,\"issue\":%.3f,"
            "\"waiting\":%.3f,\"full\":%.3f,\"loading\":%.3f,"
            "\"barrier\":%.3f}",
            g->end, g->unit, g->control, g->issue, g->waiting, g->full,
            g->loading, g->barrier);
    between = ",";
  }
  fputs("],\"queues\":[", out);
  for (uint32_t q = 0; q < t->nqueues; q++) {
    fputs(q ? ",{" : "{", out);
    json_text(out, "queue", t->queues[q].name);
    fprintf(out, ",\"moving\":%.3f,\"bytes\":%llu}", t->queues[q].moving,
            (unsigned long long)t->queues[q].bytes);
  }
  fputc(']', out);
}

static void json_places(FILE *out, const char *name,
                        const struct nsr_time_blocked *p, uint32_t n) {
  fprintf(out, ",\"%s\":[", name);
  for (uint32_t i = 0; i < n; i++, p++) {
    fputs(i ? ",{" : "{", out);
    json_text(out, "engine", p->place.engine);
    fprintf(out, ",\"index\":%lld,\"ns\":%.3f,", (long long)p->place.insn,
            p->ns);
    json_text(out, "label", p->place.label);
    fputc(',', out);
    json_text(out, "file", p->place.source_file);
    fprintf(out, ",\"line\":%u}", (unsigned)p->place.source_line);
  }
  fputc(']', out);
}

static void json_number(FILE *out, const char *name, double v) {
  fprintf(out, ",\"%s\":", name);
  if (v < 0)
    fputs("null", out);
  else
    fprintf(out, "%.3f", v);
}

static void json_loop(FILE *out, const struct loops *l,
                      const struct nsr_loop_limits *x) {
  fputs("{\"kind\":\"loop\",\"schema\":1,", out);
  json_text(out, "file", l->path);
  fputc(',', out);
  json_text(out, "set", l->value);
  fputc(',', out);
  json_text(out, "engine", x->place.engine);
  fprintf(out, ",\"index\":%lld,", (long long)x->place.insn);
  json_text(out, "label", x->place.label);
  fprintf(out, ",\"depth\":%u,\"iterations\":%llu", (unsigned)x->depth,
          (unsigned long long)x->iterations);
  json_number(out, "resources", x->iterations ? x->resources : -1);
  json_number(out, "found", x->recovered_distances);
  json_number(out, "true", x->true_distances);
  json_number(out, "as_is", x->as_is);
  json_number(out, "ideal", x->ideal);
  fputs("}\n", out);
}

static void print_json(FILE *out, const struct table *b) {
  for (uint32_t i = 0; i < b->nrows; i++) {
    const struct row *r = &b->rows[i];
    fputs("{\"kind\":\"time\",\"schema\":1,", out);
    json_text(out, "file", r->path);
    fputc(',', out);
    json_text(out, "form", form_names[r->form]);
    fputc(',', out);
    json_text(out, "machine", r->time.machine);
    fputc(',', out);
    json_text(out, "set", r->value);
    fprintf(out,
            ",\"ns\":%.3f,\"cycles\":%.3f,\"ratio\":%.6f,"
            "\"instructions\":%llu,\"barriers\":%llu,\"operations\":%llu,"
            "\"branches\":%llu,\"waits\":%llu,\"work\":%llu,\"noops\":%llu",
            r->time.ns, r->time.cycles, r->ratio,
            (unsigned long long)r->time.instructions,
            (unsigned long long)r->time.barriers,
            (unsigned long long)r->time.operations,
            (unsigned long long)r->time.branches,
            (unsigned long long)r->time.waits, (unsigned long long)r->time.work,
            (unsigned long long)r->time.noops);
    json_engines(out, &r->time);
    json_places(out, "blocked", r->time.blocked, r->time.nblocked);
    json_places(out, "excess", r->time.excess, r->time.nexcess);
    fputs("}\n", out);
  }
  for (uint32_t i = 0; i < b->nloops; i++)
    for (uint32_t k = 0; k < b->loops[i].limits.n; k++)
      json_loop(out, &b->loops[i], &b->loops[i].limits.loops[k]);
}

/* ---- all */

static enum nsr_status stage(struct table *b, struct nsr_staged **staged,
                             const char *path,
                             void print(FILE *, const struct table *)) {
  char *text = NULL;
  size_t n = 0;
  FILE *out = open_memstream(&text, &n);
  if (!out)
    return NSR_E_NOMEM;
  print(out, b);
  bool good = fclose(out) == 0;
  char *kept = good ? copy(b->t, text, n) : NULL;
  free(text);
  return kept ? tool_stage(b->t, staged, path, kept, n) : NSR_E_NOMEM;
}

static enum nsr_status write_all(struct table *b) {
  struct nsr_staged *staged = NULL;
  const char *json = b->s->json;
  enum nsr_status status = NSR_OK;
  if (json)
    status = stage(b, &staged, json, print_json);
  if (status == NSR_OK && (!json || strcmp(json, "-") != 0))
    status = stage(b, &staged, "-", print_table);
  if (status == NSR_OK)
    status = nsr_file_commit(b->t->ctx, &staged);
  nsr_file_discard(&staged);
  return status;
}

enum nsr_status time_report(struct tool *t, const struct time_settings *s,
                            char **paths, int n) {
  struct table b = {.t = t, .s = s, .machine = {.name = s->machine}};
  struct nsr_time_input input;
  NSR_TRY(tool_machine(t, &b.machine));
  NSR_TRY(split_sweep(&b));
  NSR_TRY(parse_inputs(&b, &input));
  b.rows = tool_alloc(t, (size_t)n * b.nvalues * 3 * sizeof *b.rows);
  b.loops = tool_alloc(t, (size_t)n * b.nvalues * sizeof *b.loops);
  if (!b.rows || !b.loops)
    return NSR_E_NOMEM;
  for (int i = 0; i < n; i++)
    NSR_TRY(one_kernel(&b, paths[i], &input));
  find_ratios(&b);
  return write_all(&b);
}
