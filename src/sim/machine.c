/* machine.c - machine files: INI text to a machine's limits and costs.
 *
 * Needs the text and the instruction set; makes a struct nsr_machine. inih
 * splits the lines, everything else is decided here.
 */
#include "sim/machine.h"

#include <ini.h>
#include <stdio.h>
#include <string.h>

#include "sim/machine_text.h"

/* What a figure counts, and so which units may follow it and how large it may
 * be. */
enum unit { COUNT, CYCLES, FACTOR, NANOSECONDS, GIGAHERTZ, RATE };

struct key {
  const char *section, *name;
  enum unit unit;
};

static const struct key pipe_keys[NSR_PIPE_FIGURES] = {
    [NSR_PIPE_WINDOW] = {"pipeline", "window", COUNT},
    [NSR_PIPE_CLOCK] = {"pipeline", "clock", GIGAHERTZ},
    [NSR_PIPE_ISSUE] = {"pipeline", "issue", CYCLES},
    [NSR_PIPE_LEAST] = {"pipeline", "least", CYCLES},
    [NSR_PIPE_FIXED] = {"pipeline", "fixed", CYCLES},
    [NSR_PIPE_ELEMENT] = {"pipeline", "element", CYCLES},
    [NSR_PIPE_INPUT] = {"pipeline", "input", CYCLES},
    [NSR_PIPE_START] = {"pipeline", "start", CYCLES},
    [NSR_PIPE_F32] = {"pipeline", "f32", FACTOR},
    [NSR_PIPE_HALF] = {"pipeline", "half", FACTOR},
    [NSR_PIPE_DRAM] = {"pipeline", "dram", NANOSECONDS}};

static const struct key machine_keys[NSR_MACHINE_FIGURES] = {
    [NSR_QUEUE_DEPTH] = {"queue", "depth", COUNT},
    [NSR_QUEUE_WINDOW] = {"queue", "window", COUNT},
    [NSR_QUEUE_ISSUE] = {"queue", "issue", CYCLES},
    [NSR_QUEUE_START] = {"queue", "start", NANOSECONDS},
    [NSR_QUEUE_FINISH] = {"queue", "finish", NANOSECONDS},
    [NSR_QUEUE_RATE] = {"queue", "bandwidth", RATE},
    [NSR_DMA_RATE] = {"dma", "bandwidth", RATE},
    [NSR_CONTROL_REGISTER] = {"control", "register", CYCLES},
    [NSR_CONTROL_BRANCH] = {"control", "branch", CYCLES},
    [NSR_CONTROL_WAIT] = {"control", "wait", CYCLES},
    [NSR_SEM_UPDATE] = {"semaphore", "update", NANOSECONDS},
    [NSR_SEM_WAIT] = {"semaphore", "wait", NANOSECONDS},
    [NSR_BARRIER_COST] = {"barrier", "cost", NANOSECONDS}};

/* Bounds that keep sums of costs far from where they overflow. */
static const struct {
  int64_t least, most; /* in thousandths */
  const char *what;
} units[] = {
    [COUNT] = {NSR_MILLI, (int64_t)NSR_MAX_WINDOW *NSR_MILLI,
               "whole number from 1 to 4096"},
    [CYCLES] = {0, INT64_C(1000000) * NSR_MILLI, "number of cycles"},
    [FACTOR] = {1, INT64_C(1000) * NSR_MILLI, "factor from 0.001 to 1000"},
    [NANOSECONDS] = {0, INT64_C(1000000000) * NSR_MILLI, "time up to 1 s"},
    [GIGAHERTZ] = {10, INT64_C(1000) * NSR_MILLI, "clock from 0.01 to 1000"},
    [RATE] = {1, INT64_C(1000000) * NSR_MILLI, "number of GB/s"}};

struct reader {
  struct nsr_ctx *ctx;
  struct nsr_machine *m;
  enum nsr_status status; /* NSR_E_NOMEM */
  char why[160];
};

static bool complain(struct reader *r, const char *what, const char *which) {
  snprintf(r->why, sizeof r->why, "%s '%.80s'", what, which);
  return false;
}

/* ---- numbers */

/* A decimal number with up to three digits behind its point, in thousandths;
 * where it ends, NULL: none, or too large. */
static const char *thousandths(const char *s, int64_t *out) {
  int64_t v = 0;
  int behind = -1;
  const char *start = s;
  for (; (*s >= '0' && *s <= '9') || (*s == '.' && behind < 0); s++) {
    if (*s == '.') {
      behind = 0;
      continue;
    }
    if (behind == 3 || v > INT64_MAX / 100000)
      return NULL;
    v = v * 10 + (*s - '0');
    behind += behind >= 0;
  }
  if (s == start || behind == 0)
    return NULL;
  for (int i = behind < 0 ? 0 : behind; i < 3; i++)
    v *= 10;
  *out = v;
  return s;
}

static const char *unit_of_time(const char *s, int64_t *v) {
  int64_t times = 1;
  if (strncmp(s, "us", 2) == 0)
    times = 1000;
  else if (strncmp(s, "ns", 2) != 0)
    return s;
  if (__builtin_mul_overflow(*v, times, v))
    *v = INT64_MAX;
  return s + 2;
}

/* "N", "N assumed"; times may end in ns or us. */
static bool figure(struct reader *r, enum unit unit, const char *text,
                   int64_t *out) {
  char wrong[64];
  int64_t v;
  const char *end = thousandths(text, &v);
  if (end && unit == NANOSECONDS)
    end = unit_of_time(end, &v);
  if (!end || v < units[unit].least || v > units[unit].most ||
      (unit == COUNT && v % NSR_MILLI)) {
    snprintf(wrong, sizeof wrong, "not a %s:", units[unit].what);
    return complain(r, wrong, text);
  }
  while (*end == ' ' || *end == '\t')
    end++;
  if (strcmp(end, "assumed") == 0)
    r->m->assumed++;
  else if (*end)
    return complain(r, "only 'assumed' may follow a figure, not", end);
  *out = v;
  return true;
}

/* ---- sections */

/* A figure of a pipeline, an engine's, an instruction's. */
static bool pipe_figure(struct reader *r, struct nsr_pipe_figures *f,
                        const char *of, const char *key, const char *value) {
  char what[48];
  for (int i = 0; i < NSR_PIPE_FIGURES; i++)
    if (strcmp(key, pipe_keys[i].name) == 0) {
      f->given |= UINT32_C(1) << i;
      return figure(r, pipe_keys[i].unit, value, &f->v[i]);
    }
  snprintf(what, sizeof what, "unknown figure of %s", of);
  return complain(r, what, key);
}

static bool engine_figure(struct reader *r, const char *engine, const char *key,
                          const char *value) {
  int e = nsr_isa_engine(r->m->isa, engine);
  if (e < 0)
    return complain(r, "no such engine", engine);
  return pipe_figure(r, &r->m->pipe_of[e], "a pipeline", key, value);
}

/* Where figures of an instruction are kept; NULL: out of memory. */
static struct nsr_insn_figures *insn_figures(struct reader *r, uint16_t insn,
                                             int engine) {
  struct nsr_machine *m = r->m;
  for (size_t i = 0; i < m->insns.n; i++)
    if (m->insns.v[i].insn == insn && m->insns.v[i].engine == engine)
      return &m->insns.v[i];
  if (m->insns.n == m->insns.cap) {
    void *p = nsr_vec_grow(r->ctx, NSR_KEEP, m->insns.v, m->insns.n,
                           &m->insns.cap, 1, sizeof *m->insns.v);
    if (!p)
      return NULL;
    m->insns.v = p;
  }
  struct nsr_insn_figures *f = &m->insns.v[m->insns.n++];
  *f = (struct nsr_insn_figures){.insn = insn, .engine = (int8_t)engine};
  return f;
}

/* which: MNEMONIC or MNEMONIC.ENGINE */
static bool insn_figure(struct reader *r, const char *which, const char *key,
                        const char *value) {
  const char *dot = strchr(which, '.');
  size_t n = dot ? (size_t)(dot - which) : strlen(which);
  const struct nsr_insn_desc *d = nsr_isa_mnemonic(r->m->isa, which, n);
  int engine = dot ? nsr_isa_engine(r->m->isa, dot + 1) : -1;
  if (!d || d->queue || (d->cls != NSR_DATAPATH && d->cls != NSR_LOAD))
    return complain(r, "no such instruction of a pipeline", which);
  if (dot && (engine < 0 || !(d->engines >> engine & 1)))
    return complain(r, "no engine that has this instruction", which);
  if (strcmp(key, "window") == 0 || strcmp(key, "clock") == 0)
    return complain(r, "unknown figure of an instruction", key);
  struct nsr_insn_figures *f = insn_figures(r, d->index, engine);
  if (!f) {
    r->status = NSR_E_NOMEM;
    return complain(r, "out of memory at", which);
  }
  return pipe_figure(r, &f->f, "an instruction", key, value);
}

static bool machine_figure(struct reader *r, const char *section,
                           const char *key, const char *value) {
  bool known = false;
  char what[48];
  for (int i = 0; i < NSR_MACHINE_FIGURES; i++) {
    if (strcmp(section, machine_keys[i].section) != 0)
      continue;
    known = true;
    if (strcmp(key, machine_keys[i].name) != 0)
      continue;
    r->m->given |= UINT32_C(1) << i;
    return figure(r, machine_keys[i].unit, value, &r->m->v[i]);
  }
  if (!known)
    return complain(r, "unknown section", section);
  snprintf(what, sizeof what, "unknown figure of a %.20s", section);
  return complain(r, what, key);
}

static bool machine_isa(struct reader *r, const char *key, const char *value) {
  if (strcmp(key, "isa") != 0)
    return complain(r, "unknown key of a machine", key);
  if (strcmp(value, r->m->isa->name) != 0)
    return complain(r, "for another instruction set,", value);
  return true;
}

/* inih: 0 is an error. */
static int on_figure(void *user, const char *section, const char *key,
                     const char *value) {
  struct reader *r = user;
  if (r->why[0]) /* the first complaint stands */
    return 0;
  if (strcmp(section, "machine") == 0)
    return machine_isa(r, key, value);
  if (strcmp(section, "pipeline") == 0)
    return pipe_figure(r, &r->m->pipe, "a pipeline", key, value);
  if (strncmp(section, "pipeline.", 9) == 0)
    return engine_figure(r, section + 9, key, value);
  if (strncmp(section, "instruction.", 12) == 0)
    return insn_figure(r, section + 12, key, value);
  return machine_figure(r, section, key, value);
}

/* ---- a machine */

static enum nsr_status missing(struct nsr_ctx *ctx, const char *name,
                               const struct key *key) {
  return nsr_fail(ctx, NSR_E_FORMAT,
                  (struct nsr_place){.file = name, .insn = -1},
                  "machine file without [%s] %s", key->section, key->name);
}

/* The limits, as the judges' runs read them. */
static void take_limits(struct nsr_machine *m) {
  for (int e = 0; e < m->isa->nengines; e++)
    m->pipe_window[e] =
        (uint32_t)(nsr_machine_pipe(m, e, -1, NSR_PIPE_WINDOW) / NSR_MILLI);
  m->queue_depth = (uint32_t)(m->v[NSR_QUEUE_DEPTH] / NSR_MILLI);
  m->queue_window = (uint32_t)(m->v[NSR_QUEUE_WINDOW] / NSR_MILLI);
}

enum nsr_status nsr_machine_parse(struct nsr_ctx *ctx,
                                  const struct nsr_isa *isa, const char *name,
                                  const char *text, struct nsr_machine *m) {
  *m = (struct nsr_machine){.isa = isa, .name = name};
  struct reader r = {.ctx = ctx, .m = m};
  int line = ini_parse_string(text, on_figure, &r);
  NSR_TRY(r.status);
  if (line != 0) {
    struct nsr_place at = {.insn = -1,
                           .source_file = name,
                           .source_line = line > 0 ? (uint32_t)line : 0};
    return nsr_fail(ctx, NSR_E_FORMAT, at, "%s",
                    r.why[0] ? r.why : "neither [section] nor key = value");
  }
  take_limits(m);
  for (int e = 0; e < isa->nengines; e++)
    if (!m->pipe_window[e])
      return missing(ctx, name, &pipe_keys[NSR_PIPE_WINDOW]);
  if (!m->queue_depth)
    return missing(ctx, name, &machine_keys[NSR_QUEUE_DEPTH]);
  if (!m->queue_window)
    return missing(ctx, name, &machine_keys[NSR_QUEUE_WINDOW]);
  return NSR_OK;
}

enum nsr_status nsr_machine_set(struct nsr_ctx *ctx, struct nsr_machine *m,
                                const char *text) {
  struct reader r = {.ctx = ctx, .m = m};
  const char *value = strchr(text, '=');
  const char *dot = NULL;
  for (const char *p = text; value && p < value; p++)
    dot = *p == '.' ? p : dot;
  const char *end = dot ? dot : value;
  if (!value || end == text)
    return nsr_fail(ctx, NSR_E_USAGE, NSR_NOWHERE,
                    "'%.80s': expected SECTION.KEY=VALUE", text);
  char *section = nsr_strndup(ctx, NSR_KEEP, text, (size_t)(end - text));
  char *key =
      dot ? nsr_strndup(ctx, NSR_KEEP, dot + 1, (size_t)(value - dot - 1))
          : nsr_strndup(ctx, NSR_KEEP, "cost", 4);
  if (!section || !key)
    return NSR_E_NOMEM;
  bool good = on_figure(&r, section, key, value + 1);
  NSR_TRY(r.status);
  if (!good)
    return nsr_fail(ctx, NSR_E_USAGE, NSR_NOWHERE, "'%.80s': %s", text, r.why);
  take_limits(m);
  return NSR_OK;
}

int64_t nsr_machine_pipe(const struct nsr_machine *m, int engine, int insn,
                         enum nsr_pipe_figure figure) {
  const struct nsr_pipe_figures *best = NULL;
  uint32_t bit = UINT32_C(1) << figure;
  if (m->pipe.given & bit)
    best = &m->pipe;
  if (m->pipe_of[engine].given & bit)
    best = &m->pipe_of[engine];
  for (int special = 0; special < 2 && insn >= 0; special++)
    for (size_t i = 0; i < m->insns.n; i++) {
      const struct nsr_insn_figures *f = &m->insns.v[i];
      if (f->insn == insn && f->engine == (special ? engine : -1) &&
          f->f.given & bit)
        best = &f->f;
    }
  if (best)
    return best->v[figure];
  return pipe_keys[figure].unit == FACTOR ? NSR_MILLI : 0;
}

enum nsr_status nsr_machine_costs(struct nsr_ctx *ctx,
                                  const struct nsr_machine *m) {
  static const enum nsr_pipe_figure needed[] = {NSR_PIPE_CLOCK, NSR_PIPE_ISSUE,
                                                NSR_PIPE_ELEMENT};
  for (int e = 0; e < m->isa->nengines; e++)
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
      if (!((m->pipe.given | m->pipe_of[e].given) >> needed[i] & 1))
        return missing(ctx, m->name, &pipe_keys[needed[i]]);
  for (int i = 0; i < NSR_MACHINE_FIGURES; i++)
    if (!(m->given >> i & 1))
      return missing(ctx, m->name, &machine_keys[i]);
  return NSR_OK;
}

/* inih: 0 ends the search. Whether the text says which set it is for, and
 * that it is this one. */
struct owner {
  const char *isa;
  bool named, same;
};

static int on_owner(void *user, const char *section, const char *key,
                    const char *value) {
  struct owner *o = user;
  if (strcmp(section, "machine") != 0 || strcmp(key, "isa") != 0)
    return 1;
  o->named = true;
  o->same = strcmp(value, o->isa) == 0;
  return 0;
}

enum nsr_status nsr_machine_find(struct nsr_ctx *ctx, const struct nsr_isa *isa,
                                 const char *name, struct nsr_machine *m) {
  for (const struct nsr_machine_text *t = nsr_machine_texts; t->name; t++)
    if (strcmp(t->name, name) == 0)
      return nsr_machine_parse(ctx, isa, name, t->text, m);
  return nsr_fail(ctx, NSR_E_USAGE, NSR_NOWHERE, "no machine '%s'", name);
}

enum nsr_status nsr_machine_default(struct nsr_ctx *ctx,
                                    const struct nsr_isa *isa,
                                    struct nsr_machine *m) {
  const struct nsr_machine_text *any = NULL;
  for (const struct nsr_machine_text *t = nsr_machine_texts; t->name; t++) {
    struct owner o = {.isa = isa->name};
    (void)ini_parse_string(t->text, on_owner, &o); /* parsed below */
    if (o.same)
      return nsr_machine_parse(ctx, isa, t->name, t->text, m);
    if (!o.named && !any)
      any = t;
  }
  if (any)
    return nsr_machine_parse(ctx, isa, any->name, any->text, m);
  return nsr_fail(ctx, NSR_E_USAGE, NSR_NOWHERE,
                  "no machine for instruction set '%s'", isa->name);
}
