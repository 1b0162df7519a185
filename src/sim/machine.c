/* machine.c - machine files: INI text to the model's structural limits.
 *
 * Needs the text and the instruction set; makes a struct nsr_machine. inih
 * splits the lines, everything else is decided here.
 */
#include "sim/machine.h"

#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/machine_text.h"

struct reader {
  const struct nsr_isa *isa;
  struct nsr_machine *m;
  uint32_t pipe_window;
  char why[160];
};

static bool complain(struct reader *r, const char *what, const char *which) {
  snprintf(r->why, sizeof r->why, "%s '%.80s'", what, which);
  return false;
}

/* "N" or "N assumed", 1..NSR_MAX_WINDOW. */
static bool figure(struct reader *r, const char *text, uint32_t *out) {
  char *end;
  errno = 0;
  long v = strtol(text, &end, 10);
  if (end == text || errno || v < 1 || v > NSR_MAX_WINDOW)
    return complain(r, "not a whole number from 1 to 4096:", text);
  while (*end == ' ' || *end == '\t')
    end++;
  if (strcmp(end, "assumed") == 0)
    r->m->assumed++;
  else if (*end)
    return complain(r, "only 'assumed' may follow a figure, not", end);
  *out = (uint32_t)v;
  return true;
}

static bool pipeline_figure(struct reader *r, const char *engine,
                            const char *key, const char *value) {
  if (strcmp(key, "window") != 0)
    return complain(r, "unknown figure of a pipeline", key);
  if (!engine)
    return figure(r, value, &r->pipe_window);
  int e = nsr_isa_engine(r->isa, engine);
  if (e < 0)
    return complain(r, "no such engine", engine);
  return figure(r, value, &r->m->pipe_window[e]);
}

static bool queue_figure(struct reader *r, const char *key, const char *value) {
  if (strcmp(key, "depth") == 0)
    return figure(r, value, &r->m->queue_depth);
  if (strcmp(key, "window") == 0)
    return figure(r, value, &r->m->queue_window);
  return complain(r, "unknown figure of a queue", key);
}

static bool machine_isa(struct reader *r, const char *key, const char *value) {
  if (strcmp(key, "isa") != 0)
    return complain(r, "unknown key of a machine", key);
  if (strcmp(value, r->isa->name) != 0)
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
    return pipeline_figure(r, NULL, key, value);
  if (strncmp(section, "pipeline.", 9) == 0)
    return pipeline_figure(r, section + 9, key, value);
  if (strcmp(section, "queue") == 0)
    return queue_figure(r, key, value);
  return complain(r, "unknown section", section);
}

static enum nsr_status missing(struct nsr_ctx *ctx, const char *name,
                               const char *what) {
  return nsr_fail(ctx, NSR_E_FORMAT,
                  (struct nsr_place){.file = name, .insn = -1},
                  "machine file without %s", what);
}

enum nsr_status nsr_machine_parse(struct nsr_ctx *ctx,
                                  const struct nsr_isa *isa, const char *name,
                                  const char *text, struct nsr_machine *m) {
  *m = (struct nsr_machine){0};
  struct reader r = {.isa = isa, .m = m};
  int line = ini_parse_string(text, on_figure, &r);
  if (line != 0) {
    struct nsr_place at = {.insn = -1,
                           .source_file = name,
                           .source_line = line > 0 ? (uint32_t)line : 0};
    return nsr_fail(ctx, NSR_E_FORMAT, at, "%s",
                    r.why[0] ? r.why : "neither [section] nor key = value");
  }
  for (int e = 0; e < isa->nengines; e++) {
    if (!m->pipe_window[e])
      m->pipe_window[e] = r.pipe_window;
    if (!m->pipe_window[e])
      return missing(ctx, name, "[pipeline] window");
  }
  if (!m->queue_depth)
    return missing(ctx, name, "[queue] depth");
  if (!m->queue_window)
    return missing(ctx, name, "[queue] window");
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
