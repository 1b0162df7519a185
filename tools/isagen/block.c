/* block.c - the lines of shapes, formats and instructions. */
#include "isagen.h"

#include <string.h>

/* FIELD RANGE [signed] [= NAME ..] */
static void parse_field(struct tool *t, const struct slot *slot,
                        struct field *f, const struct words *w) {
  if (f->bits.width) {
    complain(t, w->at, "`%s` was placed in line %d already", slot->name,
             f->at.line);
    return;
  }
  if (w->n < 2 || !parse_range(t, w->at, w->v[1], &f->bits)) {
    if (w->n < 2)
      complain(t, w->at, "`%s` needs its bits: LO..HI", slot->name);
    return;
  }
  int i = 2;
  f->at = w->at;
  f->is_signed = i < w->n && strcmp(w->v[i], "signed") == 0;
  i += f->is_signed;
  if (f->is_signed && !slot->may_sign)
    complain(t, w->at, "`%s` is never negative", slot->name);
  if (slot->kind == SLOT_NAMES && i < w->n && strcmp(w->v[i], "=") == 0) {
    for (i++; i < w->n && f->nnames < MAX_NAMES; i++) {
      int value = slot->parse(w->v[i], strlen(w->v[i]));
      if (value < 0)
        complain(t, w->at, "unknown value `%s` of `%s`", w->v[i], slot->name);
      if (value >= 0 && memchr(f->names, value, (size_t)f->nnames))
        complain(t, w->at, "`%s` is named twice", w->v[i]);
      f->names[f->nnames++] = (uint8_t)value;
    }
  }
  if (i < w->n)
    complain(t, w->at, "`%s` is not expected here", w->v[i]);
}

static int find_slot(const struct slot *slots, int n, const char *name) {
  for (int i = 0; i < n; i++)
    if (strcmp(slots[i].name, name) == 0)
      return i;
  return -1;
}

/* reserved RANGE; fixed RANGE VALUE */
static bool parse_constant(struct tool *t, struct constants *constants,
                           const struct words *w) {
  bool reserved = strcmp(w->v[0], "reserved") == 0;
  if (!reserved && strcmp(w->v[0], "fixed") != 0)
    return false;
  struct constant c = {.at = w->at, .reserved = reserved};
  if (w->n != (reserved ? 2 : 3)) {
    complain(t, w->at, "expected `%s`",
             reserved ? "reserved LO..HI" : "fixed LO..HI VALUE");
    return true;
  }
  if (!parse_range(t, w->at, w->v[1], &c.bits))
    return true;
  uint64_t max =
      c.bits.width >= 32 ? UINT32_MAX : (UINT64_C(1) << c.bits.width) - 1;
  if (reserved || parse_number(t, w->at, w->v[2], max, &c.value))
    APPEND(t, constants, c);
  return true;
}

static struct shape *find_shape(const struct isa *isa, const char *name) {
  for (int i = 0; i < isa->shapes.n; i++)
    if (strcmp(isa->shapes.v[i]->name, name) == 0)
      return isa->shapes.v[i];
  return NULL;
}

static void use_slots(struct tool *t, const struct slot *slots, int n,
                      struct field *to, const struct field *from,
                      struct place at) {
  for (int i = 0; i < n; i++) {
    if (!from[i].bits.width)
      continue;
    if (to[i].bits.width)
      complain(t, at, "`%s` was placed in line %d already", slots[i].name,
               to[i].at.line);
    to[i] = from[i];
  }
}

/* use SHAPE: as if its lines stood here. */
static void use_shape(struct tool *t, struct isa *isa, struct shape *shape,
                      const struct words *w) {
  struct shape *from = w->n == 2 ? find_shape(isa, w->v[1]) : NULL;
  if (!from || from == shape) {
    complain(t, w->at, "expected `use SHAPE`, a shape further up");
    return;
  }
  from->used = true;
  use_slots(t, shape_slots, NSHAPE_SLOTS, shape->fields, from->fields, w->at);
  for (int i = 0; i < from->constants.n; i++)
    APPEND(t, &shape->constants, from->constants.v[i]);
}

void parse_shape_line(struct tool *t, struct isa *isa, struct shape *shape,
                      const struct words *w) {
  int slot = find_slot(shape_slots, NSHAPE_SLOTS, w->v[0]);
  if (slot >= 0)
    parse_field(t, &shape_slots[slot], &shape->fields[slot], w);
  else if (strcmp(w->v[0], "use") == 0)
    use_shape(t, isa, shape, w);
  else if (!parse_constant(t, &shape->constants, w))
    complain(t, w->at, "a shape has no field `%s`", w->v[0]);
}

static void parse_class(struct tool *t, struct insn *insn,
                        const struct words *w) {
  int cls = w->n == 2 ? nsr_class_parse(w->v[1], strlen(w->v[1])) : -1;
  if (insn->has_class)
    complain(t, w->at, "a second class");
  else if (w->n != 2)
    complain(t, w->at, "expected `class CLASS`");
  else if (cls < 0)
    complain(t, w->at, "unknown class `%s`", w->v[1]);
  else if (cls == NSR_CONTROL)
    complain(t, w->at, "write `control OPERATION` instead");
  insn->has_class = true;
  insn->cls = cls < 0 ? NSR_DATAPATH : (enum nsr_class)cls;
}

static void parse_control(struct tool *t, struct insn *insn,
                          const struct words *w) {
  int ctl = w->n == 2 ? nsr_ctl_parse(w->v[1], strlen(w->v[1])) : -1;
  if (insn->has_class)
    complain(t, w->at, "a second class");
  else if (w->n != 2)
    complain(t, w->at, "expected `control OPERATION`");
  else if (ctl <= NSR_CTL_NONE)
    complain(t, w->at, "unknown control operation `%s`", w->v[1]);
  insn->has_class = true;
  insn->cls = NSR_CONTROL;
  insn->ctl = ctl < 0 ? NSR_CTL_NONE : (enum nsr_ctl)ctl;
}

static void parse_meaning(struct tool *t, struct insn *insn,
                          const struct words *w) {
  int meaning = w->n == 2 ? nsr_meaning_parse(w->v[1], strlen(w->v[1])) : -1;
  if (insn->has_meaning)
    complain(t, w->at, "a second meaning");
  else if (w->n != 2)
    complain(t, w->at, "expected `meaning MEANING`");
  else if (meaning <= NSR_MEANING_NONE)
    complain(t, w->at, "unknown meaning `%s`", w->v[1]);
  insn->has_meaning = true;
  insn->meaning = meaning < 0 ? NSR_MEANING_NONE : (enum nsr_meaning)meaning;
}

static void parse_sem(struct tool *t, struct insn *insn,
                      const struct words *w) {
  int sem = w->n == 2 ? nsr_sem_parse(w->v[1], strlen(w->v[1])) : -1;
  if (insn->has_sem)
    complain(t, w->at, "a second sem");
  else if (w->n != 2)
    complain(t, w->at, "expected `sem SEMANTICS`");
  else if (sem < 0)
    complain(t, w->at, "unknown semantics `%s`", w->v[1]);
  insn->has_sem = true;
  insn->sem = sem < 0 ? NSR_SEM_NONE : (enum nsr_sem)sem;
}

static uint32_t engine_bits(struct tool *t, const struct isa *isa,
                            struct place at, const char *name) {
  if (strcmp(name, "all") == 0)
    return (1u << isa->nengines) - 1;
  for (int i = 0; i < isa->nengines; i++)
    if (strcmp(isa->engines[i], name) == 0)
      return 1u << i;
  complain(t, at, "unknown engine `%s`", name);
  return 0;
}

static void parse_engines(struct tool *t, const struct isa *isa,
                          struct insn *insn, const struct words *w) {
  if (insn->engines)
    complain(t, w->at, "a second list of engines");
  for (int i = 1; i < w->n; i++)
    insn->engines |= engine_bits(t, isa, w->at, w->v[i]);
}

/* The rest of an operand line: [acc] [indexed_by NAME] */
static void parse_operand_flags(struct tool *t, struct operand *o,
                                const struct words *w) {
  for (int i = 6; i < w->n; i++) {
    if (strcmp(w->v[i], "acc") == 0)
      o->acc = true;
    else if (strcmp(w->v[i], "indexed_by") == 0 && i + 1 < w->n)
      o->indexed_by = w->v[++i];
    else
      complain(t, w->at, "`%s` is not expected here", w->v[i]);
  }
}

/* operand NAME ROLE SHAPE at BIT [acc] [indexed_by NAME] */
static void parse_operand(struct tool *t, struct isa *isa, struct insn *insn,
                          const struct words *w) {
  uint64_t bit = 0;
  if (w->n < 3) {
    complain(t, w->at, "expected `operand NAME ROLE SHAPE at BIT`");
    return;
  }
  int role = nsr_role_parse(w->v[2], strlen(w->v[2]));
  if (role < 0) {
    complain(t, w->at,
             "operand `%s` has no role: `%s` is none of r w rw mr mw mrw",
             w->v[1], w->v[2]);
    return;
  }
  if (w->n < 6 || strcmp(w->v[4], "at") != 0) {
    complain(t, w->at, "expected `operand NAME ROLE SHAPE at BIT`");
    return;
  }
  struct shape *shape = find_shape(isa, w->v[3]);
  if (!shape)
    complain(t, w->at, "unknown shape `%s`", w->v[3]);
  if (!shape || !check_name(t, w->at, w->v[1]) ||
      !parse_number(t, w->at, w->v[5], MAX_BITS - 1, &bit))
    return;
  if (insn->noperands == NSR_MAX_OPERANDS) {
    complain(t, w->at, "more than %d operands", NSR_MAX_OPERANDS);
    return;
  }
  struct operand *o = &insn->operands[insn->noperands++];
  *o = (struct operand){.name = w->v[1],
                        .at = w->at,
                        .role = (enum nsr_role)role,
                        .shape = shape,
                        .bit = (int)bit};
  shape->used = true;
  parse_operand_flags(t, o, w);
}

static const struct enumeration *find_enum(const struct isa *isa,
                                           const char *name) {
  for (int i = 0; i < isa->enumerations.n; i++)
    if (strcmp(isa->enumerations.v[i]->name, name) == 0)
      return isa->enumerations.v[i];
  return NULL;
}

/* arg NAME int|uint|f32|ENUM RANGE */
static void parse_arg(struct tool *t, const struct isa *isa, struct insn *insn,
                      const struct words *w) {
  if (w->n != 4) {
    complain(t, w->at, "expected `arg NAME TYPE LO..HI`");
    return;
  }
  struct arg arg = {.name = w->v[1], .field = {.at = w->at}};
  const char *type = w->v[2];
  arg.field.is_signed = strcmp(type, "int") == 0;
  if (strcmp(type, "f32") == 0) {
    arg.kind = NSR_ARG_F32;
  } else if (!arg.field.is_signed && strcmp(type, "uint") != 0) {
    arg.kind = NSR_ARG_ENUM;
    arg.enumeration = find_enum(isa, type);
    if (!arg.enumeration) {
      complain(t, w->at, "unknown type `%s`: int, uint, f32 or an enum", type);
      return;
    }
  }
  if (insn->nargs == NSR_MAX_ARGS)
    complain(t, w->at, "more than %d arguments", NSR_MAX_ARGS);
  else if (check_name(t, w->at, arg.name) &&
           parse_range(t, w->at, w->v[3], &arg.field.bits))
    insn->args[insn->nargs++] = arg;
}

/* hidden NAME ROLE */
static void parse_hidden(struct tool *t, struct insn *insn,
                         const struct words *w) {
  int role = w->n == 3 ? nsr_role_parse(w->v[2], strlen(w->v[2])) : -1;
  if (role < 0 || role > NSR_RW)
    complain(t, w->at, "expected `hidden NAME ROLE`, role r, w or rw");
  else if (insn->nhidden == NSR_MAX_HIDDEN)
    complain(t, w->at, "more than %d kinds of hidden state", NSR_MAX_HIDDEN);
  else if (check_name(t, w->at, w->v[1]))
    insn->hidden[insn->nhidden++] =
        (struct hidden){w->v[1], (enum nsr_role)role};
}

static void use_lists(struct tool *t, struct insn *insn,
                      const struct insn *format, struct place at) {
  if (insn->noperands + format->noperands > NSR_MAX_OPERANDS ||
      insn->nargs + format->nargs > NSR_MAX_ARGS ||
      insn->nhidden + format->nhidden > NSR_MAX_HIDDEN) {
    complain(t, at, "too many operands, arguments or hidden state");
    return;
  }
  for (int i = 0; i < format->noperands; i++)
    insn->operands[insn->noperands++] = format->operands[i];
  for (int i = 0; i < format->nargs; i++)
    insn->args[insn->nargs++] = format->args[i];
  for (int i = 0; i < format->nhidden; i++)
    insn->hidden[insn->nhidden++] = format->hidden[i];
}

static void use_properties(struct tool *t, struct insn *insn,
                           const struct insn *format, struct place at) {
  if ((insn->has_class && format->has_class) ||
      (insn->has_meaning && format->has_meaning) ||
      (insn->has_sem && format->has_sem) || (insn->engines && format->engines))
    complain(t, at, "format `%s` repeats a class, meaning, sem or engines",
             format->mnemonic);
  if (format->has_class) {
    insn->has_class = true;
    insn->cls = format->cls;
    insn->ctl = format->ctl;
  }
  if (format->has_meaning) {
    insn->has_meaning = true;
    insn->meaning = format->meaning;
  }
  if (format->has_sem) {
    insn->has_sem = true;
    insn->sem = format->sem;
  }
  insn->engines |= format->engines;
  insn->unknown_effects |= format->unknown_effects;
  insn->external |= format->external;
}

/* use FORMAT: as if its lines stood here. */
static void parse_use(struct tool *t, struct isa *isa, struct insn *insn,
                      const struct words *w) {
  for (int i = 0; w->n == 2 && i < isa->formats.n; i++) {
    struct insn *format = isa->formats.v[i];
    if (format == insn || strcmp(format->mnemonic, w->v[1]) != 0)
      continue;
    format->used = true;
    use_slots(t, insn_slots, NINSN_SLOTS, insn->fields, format->fields, w->at);
    for (int k = 0; k < format->constants.n; k++)
      APPEND(t, &insn->constants, format->constants.v[k]);
    use_lists(t, insn, format, w->at);
    use_properties(t, insn, format, w->at);
    return;
  }
  if (w->n == 2)
    complain(t, w->at, "unknown format `%s`", w->v[1]);
  else
    complain(t, w->at, "expected `use FORMAT`");
}

static bool parse_property(struct tool *t, struct isa *isa, struct insn *insn,
                           const struct words *w) {
  const char *word = w->v[0];
  if (strcmp(word, "class") == 0)
    parse_class(t, insn, w);
  else if (strcmp(word, "control") == 0)
    parse_control(t, insn, w);
  else if (strcmp(word, "meaning") == 0)
    parse_meaning(t, insn, w);
  else if (strcmp(word, "sem") == 0)
    parse_sem(t, insn, w);
  else if (strcmp(word, "engines") == 0)
    parse_engines(t, isa, insn, w);
  else if (strcmp(word, "unknown_effects") == 0 && w->n == 1)
    insn->unknown_effects = true;
  else if (strcmp(word, "external") == 0 && w->n == 1)
    insn->external = true;
  else
    return false;
  return true;
}

void parse_insn_line(struct tool *t, struct isa *isa, struct insn *insn,
                     const struct words *w) {
  const char *word = w->v[0];
  int slot = find_slot(insn_slots, NINSN_SLOTS, word);
  if (slot >= 0)
    parse_field(t, &insn_slots[slot], &insn->fields[slot], w);
  else if (strcmp(word, "operand") == 0)
    parse_operand(t, isa, insn, w);
  else if (strcmp(word, "arg") == 0)
    parse_arg(t, isa, insn, w);
  else if (strcmp(word, "hidden") == 0)
    parse_hidden(t, insn, w);
  else if (strcmp(word, "use") == 0)
    parse_use(t, isa, insn, w);
  else if (!parse_property(t, isa, insn, w) &&
           !parse_constant(t, &insn->constants, w))
    complain(t, w->at, "an instruction has no field `%s`", word);
}
