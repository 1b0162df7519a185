/* main.c - isagen -o OUT.c FILE.isa ... [FILE.machine ...]
 *
 * Turns instruction set descriptions (isa/README.md) into constant tables, and
 * embeds machine files. Exit 0: OUT.c is written; 1: a description was refused
 * (file:line: reason on standard error) and nothing is; 2: usage.
 */
#include "isagen.h"

#include <errno.h>
#include <string.h>

static bool ends_in(const char *s, const char *end) {
  size_t n = strlen(s), m = strlen(end);
  return n > m && strcmp(s + n - m, end) == 0;
}

static void load_isa(struct tool *t, const char *path, struct isas *isas) {
  int before = t->errors;
  struct isa *isa = parse_isa(t, path);
  if (isa && t->errors == before)
    check_isa(t, isa);
  if (t->errors != before)
    return;
  for (int i = 0; i < isas->n; i++)
    if (strcmp(isas->v[i]->name, isa->name) == 0)
      complain(t, isa->at, "instruction set `%s` is already in %s", isa->name,
               isas->v[i]->path);
  APPEND(t, isas, isa);
}

static void load_machine(struct tool *t, const char *path,
                         struct machines *machines) {
  const char *slash = strrchr(path, '/');
  const char *base = slash ? slash + 1 : path;
  size_t size;
  char *name = copy_text(t, base, strlen(base) - strlen(".machine"));
  char *text = read_text(t, path, &size);
  struct place at = {path, 0};
  if (!text || !check_name(t, at, name))
    return;
  for (int i = 0; i < machines->n; i++)
    if (strcmp(machines->v[i].name, name) == 0)
      complain(t, at, "machine `%s` is already in %s", name,
               machines->v[i].path);
  APPEND(t, machines, (struct machine){name, path, text});
}

static int write_out(const char *path, const struct isas *isas,
                     const struct machines *machines) {
  FILE *f = fopen(path, "w");
  if (f)
    emit_all(f, isas, machines);
  bool bad = !f || ferror(f);
  if (f && fclose(f) != 0)
    bad = true;
  if (!bad)
    return 0;
  fprintf(stderr, "%s: cannot write: %s\n", path, strerror(errno));
  if (f)
    remove(path);
  return 1;
}

static int run(struct tool *t, const char *out, char **files) {
  struct isas isas = {0};
  struct machines machines = {0};
  for (; *files; files++) {
    if (ends_in(*files, ".isa")) {
      load_isa(t, *files, &isas);
    } else if (ends_in(*files, ".machine")) {
      load_machine(t, *files, &machines);
    } else {
      fprintf(stderr, "isagen: %s: neither .isa nor .machine\n", *files);
      return 2;
    }
  }
  return t->errors ? 1 : write_out(out, &isas, &machines);
}

int main(int argc, char **argv) {
  if (argc < 3 || strcmp(argv[1], "-o") != 0) {
    fprintf(stderr, "usage: isagen -o OUT.c FILE.isa ... [FILE.machine ...]\n");
    return 2;
  }
  struct tool t = {0};
  int exit_code = run(&t, argv[2], argv + 3);
  drop_all(&t);
  return exit_code;
}
