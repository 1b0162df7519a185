/* replay.c - writes and reads witnesses.
 *
 * One argument a line, options first; lines that begin with # are for people.
 */
#include "replay.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool replay_note(struct tool *t, struct replay *r, const char *name,
                 const char *arg) {
  size_t n = strlen(name) + (arg ? strlen(arg) : 0) + 4;
  char *text = tool_alloc(t, n);
  if (r->noptions == REPLAY_MAX_OPTIONS || !text)
    return tool_refuse(t, "too many options");
  snprintf(text, n, "--%s%s%s", name, arg ? "=" : "", arg ? arg : "");
  r->options[r->noptions++] = text;
  return true;
}

/* ---- writing */

static void write_comment(FILE *out, const char *text) {
  while (*text) {
    size_t n = strcspn(text, "\n");
    fprintf(out, "# %.*s\n", (int)n, text);
    text += n + (text[n] == '\n');
  }
}

/* Words behind the last one are equal to it. */
static void write_words(FILE *out, const struct nsr_words *w) {
  uint64_t n = w->n;
  while (n > 1 && w->words[n - 1] == w->words[n - 2])
    n--;
  fprintf(out, "--input=%s=", w->tensor);
  for (uint64_t i = 0; i < n; i++)
    fprintf(out, "%s%" PRId64, i ? "," : "", w->words[i]);
  fprintf(out, "\n");
}

static void write_all(FILE *out, const struct replay *r,
                      const struct nsr_judgement *j) {
  fprintf(out,
          "# nsync-cosim --replay=FILE judges this input again\n# %s: %s\n",
          nsr_verdict_name(j->verdict), nsr_fault_name(j->fault));
  write_comment(out, j->text);
  for (uint32_t i = 0; i < r->noptions; i++)
    fprintf(out, "%s\n", r->options[i]);
  fprintf(out, "--number=%" PRIu64 "\n", j->words->number);
  for (uint32_t i = 0; i < j->words->ntensors; i++)
    write_words(out, &j->words->tensors[i]);
  fprintf(out, "--\n%s\n%s\n", r->operands[0], r->operands[1]);
}

/* An argument with a line break would be two. */
static bool has_breaks(const struct replay *r, const struct nsr_judgement *j) {
  bool found = strchr(r->operands[0], '\n') || strchr(r->operands[1], '\n');
  for (uint32_t i = 0; i < r->noptions; i++)
    found |= strchr(r->options[i], '\n') != NULL;
  for (uint32_t i = 0; i < j->words->ntensors; i++)
    found |= strchr(j->words->tensors[i].tensor, '\n') != NULL;
  return found;
}

enum nsr_status replay_stage(struct tool *t, struct nsr_staged **staged,
                             const struct replay *r,
                             const struct nsr_judgement *j) {
  char *text = NULL;
  size_t n = 0;
  if (!r->witness || !j->words)
    return NSR_OK;
  if (has_breaks(r, j))
    return nsr_fail(t->ctx, NSR_E_USAGE, NSR_NOWHERE,
                    "a name with a line break cannot be in a witness");
  FILE *out = open_memstream(&text, &n);
  if (!out)
    return NSR_E_NOMEM;
  write_all(out, r, j);
  char *kept = fclose(out) == 0 ? tool_alloc(t, n + 1) : NULL;
  if (kept)
    memcpy(kept, text, n);
  free(text);
  return kept ? tool_stage(t, staged, r->witness, kept, n) : NSR_E_NOMEM;
}

/* ---- reading */

enum nsr_status replay_read(struct tool *t, const char *path, bool operands,
                            int *argc, char ***argv) {
  const uint8_t *data;
  size_t size, lines = 2;
  NSR_TRY(nsr_file_read(t->ctx, path, &data, &size));
  for (size_t i = 0; i < size; i++)
    lines += data[i] == '\n';
  char **list = tool_alloc(t, (lines + 1) * sizeof *list);
  char *text = tool_alloc(t, size + 1);
  if (!list || !text)
    return NSR_E_NOMEM;
  memcpy(text, data, size);
  int n = 0;
  bool end = false;
  list[n++] = t->argv[0];
  for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
    end |= strcmp(line, "--") == 0;
    if (*line == '#' && !end)
      continue;
    if (!end && strncmp(line, "--", 2) != 0)
      return nsr_fail(t->ctx, NSR_E_SYNTAX, (struct nsr_place){.file = path},
                      "this is no witness");
    if (!end || !operands)
      list[n++] = line;
  }
  if (!end)
    return nsr_fail(t->ctx, NSR_E_SYNTAX, (struct nsr_place){.file = path},
                    "this is no witness, or not all of one");
  *argc = n;
  *argv = list;
  return NSR_OK;
}
