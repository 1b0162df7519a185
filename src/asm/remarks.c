/* remarks.c - notes of carried sections as remarks on instructions. */
#include "asm/remarks.h"

#include <stdlib.h>
#include <string.h>

#include "asm/asm_quote.h"
#include "base/vec.h"
#include "object/note.h"

#define PREFIX ".note.nsr."

/* Splits "ENGINE[INDEX] text"; other texts stay whole. */
static struct nsr_remark parse(const struct nsr_kernel *k, const char *text) {
  struct nsr_remark whole = {-1, 0, 0, text}, r = {.insn = 0};
  const char *open = strchr(text, '['), *p = open ? open + 1 : text;
  char name[32];
  if (!open || (size_t)(open - text) >= sizeof name)
    return whole;
  memcpy(name, text, (size_t)(open - text));
  name[open - text] = 0;
  r.engine = nsr_isa_engine(k->isa, name);
  for (; nsr_is_digit(*p) && r.insn <= NSR_MAX_STREAM; p++)
    r.insn = r.insn * 10 + (uint32_t)(*p - '0');
  if (r.engine < 0 || p == open + 1 || p[0] != ']' || p[1] != ' ')
    return whole;
  r.text = p + 2;
  return r;
}

/* Fit for a comment: nothing in it ends a line. */
static bool printable(const char *s) {
  while (*s && (uint8_t)*s >= 0x20 && *s != 0x7f)
    s++;
  return !*s;
}

static int by_place(const void *a, const void *b) {
  const struct nsr_remark *x = a, *y = b;
  if (x->engine != y->engine)
    return x->engine < y->engine ? -1 : 1;
  if (x->insn != y->insn)
    return x->insn < y->insn ? -1 : 1;
  return (x->order > y->order) - (x->order < y->order);
}

enum nsr_status nsr_remarks_read(struct nsr_ctx *ctx,
                                 const struct nsr_kernel *k,
                                 struct nsr_remark **remarks, size_t *n) {
  NSR_VEC(struct nsr_remark) v = {0};
  for (uint32_t i = 0; i < k->nsections; i++) {
    const struct nsr_section *s = &k->sections[i];
    struct nsr_in in = {s->data, s->size, false};
    const char *text;
    if (!s->data || strncmp(s->name, PREFIX, strlen(PREFIX)) != 0)
      continue;
    while (in.left && (text = nsr_note_next(&in))) {
      struct nsr_remark r = parse(k, text);
      r.order = (uint32_t)v.n;
      if (printable(text))
        NSR_PUSH(ctx, NSR_SCRATCH, &v, r);
    }
  }
  if (v.n)
    qsort(v.v, v.n, sizeof *v.v, by_place);
  *remarks = v.v;
  *n = v.n;
  return NSR_OK;
}
