/* spans.c - every bit of a word is claimed exactly once: by the opcode, a
 * field, or as fixed or reserved.
 */
#include "isagen.h"

static void add_span(struct tool *t, struct spans *spans, const char *name,
                     struct place at, struct range bits, uint64_t max) {
  APPEND(t, spans,
         (struct span){.name = name, .at = at, .bits = bits, .max = max});
}

static void add_constants(struct tool *t, struct spans *spans,
                          const struct constants *constants) {
  for (int i = 0; i < constants->n; i++) {
    const struct constant *c = &constants->v[i];
    APPEND(t, spans,
           (struct span){.at = c->at, .bits = c->bits, .value = c->value});
  }
}

static const char *span_name(const struct span *s) {
  return s->name ? s->name : "a fixed or reserved range";
}

/* Overlaps are reported where the later line stands. */
static void report_overlap(struct tool *t, const struct span *a,
                           const struct span *b, int bit) {
  const struct span *later = a->at.line > b->at.line ? a : b;
  const struct span *earlier = later == a ? b : a;
  complain(t, later->at, "`%s` overlaps `%s` (line %d) at bit %d",
           span_name(later), span_name(earlier), earlier->at.line, bit);
}

static void report_gap(struct tool *t, struct place at, const char *name,
                       int first, int last) {
  complain(t, at, "`%s`: bits %d..%d are neither named, fixed nor reserved",
           name, first, last);
}

/* Claims the bits 0..size-1 for the spans. */
static void claim(struct tool *t, const struct spans *spans, int size,
                  struct place at, const char *name) {
  const struct span *owner[MAX_BITS] = {0};
  for (int i = 0; i < spans->n; i++) {
    const struct span *s = &spans->v[i];
    if (s->bits.lo + s->bits.width > size) {
      complain(t, s->at, "`%s` of `%s` lies past the word of %d bits",
               span_name(s), name, size);
      continue;
    }
    bool reported = false;
    for (int b = s->bits.lo; b < s->bits.lo + s->bits.width; b++) {
      if (owner[b] && !reported)
        report_overlap(t, owner[b], s, b);
      reported |= owner[b] != NULL;
      owner[b] = s;
    }
  }
  for (int b = 0; b < size; b++) {
    int first = b;
    while (b < size && !owner[b])
      b++;
    if (b > first)
      report_gap(t, at, name, first, b - 1);
  }
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
  claim(t, &spans, shape->width, shape->at, shape->name);
}

static void add_operand(struct tool *t, struct spans *spans,
                        const struct operand *o) {
  for (int i = 0; i < NSHAPE_SLOTS; i++) {
    const struct field *f = &o->shape->fields[i];
    struct range bits = {f->bits.lo + o->bit, f->bits.width};
    if (!bits.width)
      continue;
    /* An accumulation flag that may not be set is a reserved bit. */
    bool reserved = i == ACC && !o->acc;
    add_span(t, spans,
             reserved ? NULL
                      : print_text(t, "%s.%s", o->name, shape_slots[i].name),
             o->at, bits, f->max);
  }
  for (int i = 0; i < o->shape->constants.n; i++) {
    struct constant c = o->shape->constants.v[i];
    c.bits.lo += o->bit;
    c.at = o->at;
    add_constants(t, spans, &(struct constants){&c, 1});
  }
}

/* The opcode is a constant of its instruction. */
static void add_opcode(struct tool *t, const struct isa *isa,
                       struct insn *insn) {
  APPEND(t, &insn->spans,
         (struct span){
             .at = isa->opcode_at, .bits = isa->opcode, .value = insn->opcode});
}

void check_spans(struct tool *t, const struct isa *isa, struct insn *insn) {
  add_opcode(t, isa, insn);
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
  claim(t, &insn->spans, (int)isa->word * 8, insn->at, insn->mnemonic);
}
