/* spans.c - every bit of a word is claimed exactly once: by the opcode, a
 * field, or as fixed or reserved.
 */
#include "isagen.h"

static void add_span(struct tool *t, struct spans *spans, const char *name,
                     struct place at, struct range bits, uint64_t max) {
  const char *what = print_text(t, "`%s`", name);
  APPEND(t, spans,
         (struct span){
             .name = name, .what = what, .at = at, .bits = bits, .max = max});
}

static void add_constant(struct tool *t, struct spans *spans, const char *what,
                         struct place at, struct range bits, uint64_t value) {
  APPEND(t, spans,
         (struct span){.what = what, .at = at, .bits = bits, .value = value});
}

static void add_constants(struct tool *t, struct spans *spans,
                          const struct constants *constants) {
  for (int i = 0; i < constants->n; i++) {
    const struct constant *c = &constants->v[i];
    add_constant(t, spans, c->reserved ? "`reserved`" : "`fixed`", c->at,
                 c->bits, c->value);
  }
}

/* Overlaps are reported where the later line stands. */
static void report_overlap(struct tool *t, const struct span *a,
                           const struct span *b, int bit) {
  const struct span *later = a->at.line > b->at.line ? a : b;
  const struct span *earlier = later == a ? b : a;
  complain(t, later->at, "%s overlaps %s (line %d) at bit %d", later->what,
           earlier->what, earlier->at.line, bit);
}

/* Claims the bits of one span. */
static void claim(struct tool *t, const struct span **owner,
                  const struct span *s) {
  bool reported = false;
  for (int b = s->bits.lo; b < s->bits.lo + s->bits.width; b++) {
    if (owner[b] && !reported)
      report_overlap(t, owner[b], s, b);
    reported |= owner[b] != NULL;
    owner[b] = s;
  }
}

static void check_gaps(struct tool *t, const struct span *const *owner,
                       int size, struct place at, const char *name) {
  for (int b = 0; b < size; b++) {
    int first = b;
    while (b < size && !owner[b])
      b++;
    if (b > first)
      complain(t, at, "`%s`: bits %d..%d are neither named, fixed nor reserved",
               name, first, b - 1);
  }
}

static void claim_all(struct tool *t, const struct spans *spans, int size,
                      struct place at, const char *name) {
  const struct span *owner[MAX_BITS] = {0};
  bool past = false;
  for (int i = 0; i < spans->n; i++) {
    const struct span *s = &spans->v[i];
    if (s->bits.lo + s->bits.width <= size) {
      claim(t, owner, s);
      continue;
    }
    past = true;
    complain(t, s->at, "%s of `%s` lies past the word of %d bits", s->what,
             name, size);
  }
  if (!past)
    check_gaps(t, owner, size, at, name);
}

void check_shape_spans(struct tool *t, struct shape *shape) {
  struct spans spans = {0};
  for (int i = 0; i < NSHAPE_SLOTS; i++)
    if (shape->fields[i].bits.width)
      add_span(t, &spans, shape_slots[i].name, shape->fields[i].at,
               shape->fields[i].bits, 0);
  add_constants(t, &spans, &shape->constants);
  for (int i = 0; i < spans.n; i++) {
    int end = spans.v[i].bits.lo + spans.v[i].bits.width;
    shape->width = end > shape->width ? end : shape->width;
  }
  claim_all(t, &spans, shape->width, shape->at, shape->name);
}

static void add_operand(struct tool *t, struct spans *spans,
                        const struct operand *o) {
  for (int i = 0; i < NSHAPE_SLOTS; i++) {
    const struct field *f = &o->shape->fields[i];
    struct range bits = {f->bits.lo + o->bit, f->bits.width};
    if (!bits.width)
      continue;
    /* An accumulation flag that may not be set is a reserved bit. */
    if (i == ACC && !o->acc)
      add_constant(t, spans, "`acc`", o->at, bits, 0);
    else
      add_span(t, spans, print_text(t, "%s.%s", o->name, shape_slots[i].name),
               o->at, bits, f->max);
  }
  for (int i = 0; i < o->shape->constants.n; i++) {
    struct constant c = o->shape->constants.v[i];
    c.bits.lo += o->bit;
    c.at = o->at;
    add_constants(t, spans, &(struct constants){&c, 1});
  }
}

void check_spans(struct tool *t, const struct isa *isa, struct insn *insn) {
  add_constant(t, &insn->spans, "`opcode`", isa->opcode_at, isa->opcode,
               insn->opcode);
  for (int i = 0; i < NINSN_SLOTS; i++)
    if (insn->fields[i].bits.width)
      add_span(t, &insn->spans, insn_slots[i].name, insn->fields[i].at,
               insn->fields[i].bits, insn->fields[i].max);
  for (int i = 0; i < insn->noperands; i++)
    add_operand(t, &insn->spans, &insn->operands[i]);
  for (int i = 0; i < insn->nargs; i++)
    add_span(t, &insn->spans, insn->args[i].name, insn->args[i].field.at,
             insn->args[i].field.bits, insn->args[i].field.max);
  add_constants(t, &insn->spans, &insn->constants);
  claim_all(t, &insn->spans, (int)isa->word * 8, insn->at, insn->mnemonic);
}
