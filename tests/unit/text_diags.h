/* text_diags.h - the errors a text gets, one "line:column: message" a line
 * (notes as "  note line: ..."), to compare with what is expected. */
#ifndef NSR_TESTS_TEXT_DIAGS_H
#define NSR_TESTS_TEXT_DIAGS_H

#include <stdio.h>
#include <string.h>

#include <nsr/text.h>

struct diags {
  char text[1 << 15];
  size_t n;
  unsigned errors;
};

static inline void diags_add(void *user, const struct nsr_diag *diag) {
  struct diags *d = user;
  size_t room = sizeof d->text - d->n;
  char column[16] = "";
  d->errors += diag->severity == NSR_ERROR;
  if (diag->place.column)
    snprintf(column, sizeof column, "%u:", diag->place.column);
  int n = snprintf(d->text + d->n, room, "%s%u:%s %s\n",
                   diag->severity == NSR_ERROR ? "" : "  note ",
                   diag->place.source_line, column, diag->text);
  d->n += n > 0 && (size_t)n < room ? (size_t)n : 0;
}

/* The errors of a text as assembly or as JSON lines; its status in *status. */
static inline void diags_of(bool json, const char *text, size_t n,
                            struct diags *d, enum nsr_status *status) {
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_kernel *k;
  *d = (struct diags){0};
  nsr_ctx_on_diag(ctx, diags_add, d);
  *status = json ? nsr_from_json(ctx, "t.json", text, n, &k)
                 : nsr_assemble(ctx, "dir/t.s", text, n, &k);
  nsr_ctx_free(ctx);
}
#endif
