/* review.c - what a line alone cannot show: widths against counts, names used
 * twice, opcodes that collide, fields that need each other.
 */
#include "isagen.h"

#include <string.h>

/* Bits that hold 0..count-1. */
static int bits_for(uint64_t count) {
  int bits = 1;
  while (bits < 63 && (UINT64_C(1) << bits) < count)
    bits++;
  return bits;
}

static uint64_t all_ones(int width) {
  return width >= 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
}

static void need_bits(struct tool *t, const char *name, struct field *f,
                      uint64_t count, const char *things) {
  f->max = count - 1;
  if (f->bits.width < bits_for(count))
    complain(t, f->at, "`%s` is too narrow (%d) for %llu %s", name,
             f->bits.width, (unsigned long long)count, things);
}

static void check_names(struct tool *t, const struct slot *slot,
                        struct field *f) {
  if (f->nnames == 0)
    complain(t, f->at, "`%s` lists no values: `%s LO..HI = ..`", slot->name,
             slot->name);
  else
    need_bits(t, slot->name, f, (uint64_t)f->nnames, "values");
}

static void check_number(struct tool *t, const struct slot *slot,
                         struct field *f) {
  int most = slot->bits + (f->is_signed ? 1 : 0);
  f->max = all_ones(f->bits.width);
  if (f->bits.width > most)
    complain(t, f->at, "`%s` has %d bits, at most %d are possible", slot->name,
             f->bits.width, most);
  if (slot->must_sign && !f->is_signed)
    complain(t, f->at, "`%s` has to be signed", slot->name);
}

static void check_queue(struct field *f) {
  f->max = all_ones(f->bits.width);
  if (f->max > NSR_MAX_QUEUES - 1)
    f->max = NSR_MAX_QUEUES - 1;
}

/* Width against what the field holds; sets the largest legal raw value. */
static void check_field(struct tool *t, const struct isa *isa,
                        const struct slot *slot, struct field *f, int ndims) {
  if (!f->bits.width)
    return;
  switch (slot->kind) {
  case SLOT_NUMBER:
    check_number(t, slot, f);
    break;
  case SLOT_FLAG:
    need_bits(t, slot->name, f, 2, "states");
    if (f->bits.width != 1)
      complain(t, f->at, "`%s` is one bit", slot->name);
    break;
  case SLOT_NAMES:
    check_names(t, slot, f);
    break;
  case SLOT_REGISTER:
    need_bits(t, slot->name, f, isa->registers, "registers");
    break;
  case SLOT_SEMAPHORE:
    need_bits(t, slot->name, f, isa->semaphores, "semaphores");
    break;
  case SLOT_QUEUE:
    check_queue(f);
    break;
  case SLOT_DIMS:
    need_bits(t, slot->name, f, (uint64_t)ndims + 1, "counts of dimensions");
    break;
  }
}

static bool has(const struct field *f) { return f->bits.width != 0; }

/* `flag` says that `number` holds a register: it has to be wide enough. */
static void check_flagged(struct tool *t, const struct isa *isa,
                          const struct slot *slot, const struct field *number,
                          const struct field *flag) {
  if (!has(flag))
    return;
  if (!has(number))
    complain(t, flag->at, "a register flag without `%s`", slot->name);
  else if (number->bits.width - number->is_signed < bits_for(isa->registers))
    complain(t, number->at,
             "`%s` may be a register, but is too narrow for %u of them",
             slot->name, isa->registers);
}

static void check_dims(struct tool *t, const struct isa *isa,
                       struct shape *shape) {
  for (int i = 0; i < NSR_MAX_DIMS; i++) {
    const struct field *f = &shape->fields[DIM0_STEP + 3 * i];
    const struct slot *slots = &shape_slots[DIM0_STEP + 3 * i];
    if (has(&f[0]) != has(&f[1]))
      complain(t, shape->at, "shape `%s`: dim%d needs a step and a count",
               shape->name, i);
    check_flagged(t, isa, &slots[1], &f[1], &f[2]);
    if (has(&f[1]) && shape->ndims < i)
      complain(t, f[1].at, "dim%d without dim%d", i, i - 1);
    if (has(&f[1]))
      shape->ndims = i + 1;
  }
  if (has(&shape->fields[DIMS]) != (shape->ndims > 0))
    complain(t, shape->at,
             "shape `%s`: the field `dims` belongs to shapes with dimensions",
             shape->name);
}

static bool on_chip(const struct shape *shape, int i) {
  return shape->fields[SPACE].names[i] != NSR_DRAM;
}

static void check_partitions(struct tool *t, const struct isa *isa,
                             struct shape *shape) {
  const struct field *f = shape->fields;
  bool chip = false;
  for (int i = 0; i < f[SPACE].nnames; i++)
    chip |= on_chip(shape, i);
  if (!chip)
    return;
  if (!has(&f[PART]))
    complain(t, shape->at, "shape `%s` is on chip, but has no field `part`",
             shape->name);
  else if (f[PART].bits.width < bits_for(isa->partitions))
    complain(t, f[PART].at, "`part` is too narrow (%d) for %u partitions",
             f[PART].bits.width, isa->partitions);
  if (has(&f[NPARTS]) &&
      f[NPARTS].bits.width < bits_for((uint64_t)isa->partitions + 1))
    complain(t, f[NPARTS].at,
             "`nparts` is too narrow (%d) to count %u partitions",
             f[NPARTS].bits.width, isa->partitions);
}

static void check_shape(struct tool *t, const struct isa *isa,
                        struct shape *shape) {
  static const enum shape_slot needed[] = {SPACE, DTYPE, OFFSET};
  for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
    if (!has(&shape->fields[needed[i]]))
      complain(t, shape->at, "shape `%s` has no field `%s`", shape->name,
               shape_slots[needed[i]].name);
  if (has(&shape->fields[REG_ON]) != has(&shape->fields[REG]))
    complain(t, shape->at, "shape `%s`: `reg` and `reg.on` need each other",
             shape->name);
  check_dims(t, isa, shape);
  for (int i = 0; i < NSHAPE_SLOTS; i++)
    check_field(t, isa, &shape_slots[i], &shape->fields[i], shape->ndims);
  check_partitions(t, isa, shape);
  check_shape_spans(t, shape);
  if (!shape->used)
    complain(t, shape->at, "shape `%s` is never used", shape->name);
}

/* A group that can be absent is absent as all zero. */
static void check_absent_first(struct tool *t, const struct slot *slot,
                               const struct field *f) {
  if (f->nnames && f->names[0] != 0)
    complain(t, f->at, "the first value of `%s` has to be `none`", slot->name);
}

static bool update_needs_value(const struct field *op) {
  return memchr(op->names, NSR_UPD_ADD, (size_t)op->nnames) ||
         memchr(op->names, NSR_UPD_SUB, (size_t)op->nnames) ||
         memchr(op->names, NSR_UPD_SET, (size_t)op->nnames);
}

static void check_groups(struct tool *t, const struct insn *insn) {
  const struct field *f = insn->fields;
  bool wait = has(&f[WAIT_SEM]) || has(&f[WAIT_CMP]) || has(&f[WAIT_VALUE]);
  if (wait &&
      (!has(&f[WAIT_SEM]) || !has(&f[WAIT_CMP]) || !has(&f[WAIT_VALUE])))
    complain(t, insn->at, "`%s`: a wait needs sem, cmp and value",
             insn->mnemonic);
  bool update = has(&f[UPDATE_SEM]) || has(&f[UPDATE_OP]) ||
                has(&f[UPDATE_VALUE]) || has(&f[UPDATE_EARLY]);
  if (update && (!has(&f[UPDATE_SEM]) || !has(&f[UPDATE_OP])))
    complain(t, insn->at, "`%s`: an update needs sem and op", insn->mnemonic);
  if (!has(&f[UPDATE_VALUE]) && update_needs_value(&f[UPDATE_OP]))
    complain(t, f[UPDATE_OP].at, "add, sub and set need an `update.value`");
  check_absent_first(t, &insn_slots[WAIT_CMP], &f[WAIT_CMP]);
  check_absent_first(t, &insn_slots[UPDATE_OP], &f[UPDATE_OP]);
}

static void check_arg(struct tool *t, struct arg *arg) {
  struct field *f = &arg->field;
  f->max = all_ones(f->bits.width);
  if (arg->kind == NSR_ARG_F32 && f->bits.width != 32)
    complain(t, f->at, "`%s`: an f32 has 32 bits", arg->name);
  if (f->bits.width > 48)
    complain(t, f->at, "`%s` has %d bits, at most 48 are possible", arg->name,
             f->bits.width);
  if (arg->kind == NSR_ARG_ENUM)
    need_bits(t, arg->name, f, (uint64_t)arg->enumeration->nnames, "values");
}

static void check_args(struct tool *t, struct insn *insn) {
  for (int i = 0; i < insn->nargs; i++) {
    check_arg(t, &insn->args[i]);
    for (int k = 0; k < i; k++)
      if (strcmp(insn->args[k].name, insn->args[i].name) == 0)
        complain(t, insn->args[i].field.at, "a second argument `%s`",
                 insn->args[i].name);
  }
}

static void check_index(struct tool *t, const struct insn *insn,
                        const struct operand *o) {
  for (int i = 0; i < insn->noperands; i++) {
    const struct operand *index = &insn->operands[i];
    if (strcmp(index->name, o->indexed_by) != 0)
      continue;
    if (index == o || !nsr_role_reads(index->role))
      complain(t, o->at, "`%s` does not hold indices of `%s`", index->name,
               o->name);
    return;
  }
  complain(t, o->at, "unknown operand `%s`", o->indexed_by);
}

static void check_operands(struct tool *t, const struct insn *insn) {
  for (int i = 0; i < insn->noperands; i++) {
    const struct operand *o = &insn->operands[i];
    for (int k = 0; k < i; k++)
      if (strcmp(insn->operands[k].name, o->name) == 0)
        complain(t, o->at, "a second operand `%s`", o->name);
    if (o->acc && !nsr_role_writes(o->role))
      complain(t, o->at, "`%s` accumulates, but is only read", o->name);
    if (o->acc && !has(&o->shape->fields[ACC]))
      complain(t, o->at, "`%s` accumulates, but shape `%s` has no `acc`",
               o->name, o->shape->name);
    if (o->indexed_by)
      check_index(t, insn, o);
  }
}

static void check_insn(struct tool *t, const struct isa *isa,
                       struct insn *insn) {
  if (insn->opcode > all_ones(isa->opcode.width))
    complain(t, insn->at, "opcode %u does not fit in %d bits", insn->opcode,
             isa->opcode.width);
  if (!insn->engines)
    complain(t, insn->at, "`%s` runs on no engine", insn->mnemonic);
  for (int i = 0; i < NINSN_SLOTS; i++)
    check_field(t, isa, &insn_slots[i], &insn->fields[i], 0);
  const struct field *f = insn->fields;
  check_flagged(t, isa, &insn_slots[WAIT_VALUE], &f[WAIT_VALUE], &f[WAIT_REG]);
  check_flagged(t, isa, &insn_slots[A], &f[A], &f[A_REG]);
  check_flagged(t, isa, &insn_slots[B], &f[B], &f[B_REG]);
  if (insn->cls == NSR_DATAPATH && insn->has_class && !insn->has_meaning)
    insn->meaning = NSR_MEANING_OPAQUE;
  check_groups(t, insn);
  check_args(t, insn);
  check_operands(t, insn);
  check_insn_meaning(t, insn);
  check_spans(t, isa, insn);
}

static void check_unique(struct tool *t, const struct isa *isa, int i) {
  const struct insn *insn = isa->insns.v[i];
  for (int k = 0; k < i; k++) {
    const struct insn *other = isa->insns.v[k];
    if (strcmp(other->mnemonic, insn->mnemonic) == 0)
      complain(t, insn->at, "a second instruction `%s`", insn->mnemonic);
    else if (other->opcode == insn->opcode)
      complain(t, insn->at, "no bit tells `%s` from `%s`: both have opcode %u",
               insn->mnemonic, other->mnemonic, insn->opcode);
    const struct range a = other->fields[TARGET].bits;
    const struct range b = insn->fields[TARGET].bits;
    if (a.width && b.width && a.width != b.width)
      complain(t, insn->fields[TARGET].at,
               "`target` of `%s` and `%s` differ in width", insn->mnemonic,
               other->mnemonic);
  }
}

static void check_head(struct tool *t, const struct isa *isa) {
  if (isa->owned_first > isa->owned_last || isa->owned_last >= isa->semaphores)
    complain(t, isa->owned_at, "owned semaphores %u..%u are not among 0..%u",
             isa->owned_first, isa->owned_last, isa->semaphores - 1);
  if (isa->opcode.lo + isa->opcode.width > (int)isa->word * 8)
    complain(t, isa->opcode_at, "`opcode` lies past the word of %u bits",
             isa->word * 8);
}

void check_isa(struct tool *t, struct isa *isa) {
  check_head(t, isa);
  for (int i = 0; i < isa->formats.n; i++)
    if (!isa->formats.v[i]->used)
      complain(t, isa->formats.v[i]->at, "format `%s` is never used",
               isa->formats.v[i]->mnemonic);
  for (int i = 0; i < isa->shapes.n; i++)
    check_shape(t, isa, isa->shapes.v[i]);
  if (t->errors)
    return;
  for (int i = 0; i < isa->insns.n; i++) {
    check_insn(t, isa, isa->insns.v[i]);
    check_unique(t, isa, i);
  }
}
