/* pool.c - memory, complaints, whole files. */
#include "isagen.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct block {
  struct block *next;
  max_align_t data[];
};

void *take(struct tool *t, size_t size) {
  struct block *b = calloc(1, sizeof *b + size);
  if (!b) {
    fprintf(stderr, "isagen: out of memory\n");
    exit(1);
  }
  b->next = t->blocks;
  t->blocks = b;
  return b->data;
}

char *copy_text(struct tool *t, const char *s, size_t n) {
  char *copy = take(t, n + 1);
  memcpy(copy, s, n);
  return copy;
}

static char *print_list(struct tool *t, const char *fmt, va_list ap) {
  va_list again;
  va_copy(again, ap);
  int n = vsnprintf(NULL, 0, fmt, again);
  va_end(again);
  char *text = take(t, (size_t)n + 1);
  vsnprintf(text, (size_t)n + 1, fmt, ap);
  return text;
}

char *print_text(struct tool *t, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  char *text = print_list(t, fmt, ap);
  va_end(ap);
  return text;
}

/* Room for one more of n objects: capacities are the powers of two. */
void *grown(struct tool *t, void *v, size_t n, size_t size) {
  if (n & (n - 1))
    return v;
  void *bigger = take(t, (n ? 2 * n : 1) * size);
  if (n)
    memcpy(bigger, v, n * size);
  return bigger;
}

void drop_all(struct tool *t) {
  while (t->blocks) {
    struct block *next = t->blocks->next;
    free(t->blocks);
    t->blocks = next;
  }
}

/* What a format or shape has wrong would be told again at every use. */
void complain(struct tool *t, struct place at, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  char *text = print_list(t, fmt, ap);
  va_end(ap);
  text = print_text(t, "%s:%d: %s\n", at.path, at.line, text);
  t->errors++;
  for (int i = 0; i < t->messages.n; i++)
    if (strcmp(t->messages.v[i], text) == 0)
      return;
  APPEND(t, &t->messages, text);
  fputs(text, stderr);
}

static char *read_stream(struct tool *t, FILE *f, size_t *size) {
  size_t cap = 1 << 12;
  char *text = take(t, cap + 1);
  for (*size = 0;;) {
    *size += fread(text + *size, 1, cap - *size, f);
    if (*size < cap)
      return text; /* zeroed behind the last byte */
    char *bigger = take(t, 2 * cap + 1);
    memcpy(bigger, text, cap);
    text = bigger;
    cap *= 2;
  }
}

char *read_text(struct tool *t, const char *path, size_t *size) {
  struct place at = {path, 0};
  FILE *f = fopen(path, "rb");
  if (!f) {
    complain(t, at, "cannot read: %s", strerror(errno));
    return NULL;
  }
  char *text = read_stream(t, f, size);
  if (ferror(f)) {
    complain(t, at, "cannot read: %s", strerror(errno));
    text = NULL;
  } else if (strlen(text) != *size) {
    complain(t, at, "holds a NUL byte");
    text = NULL;
  }
  fclose(f);
  return text;
}
