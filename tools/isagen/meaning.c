/* meaning.c - each instruction has the fields, operands and arguments that its
 * class, meaning and numeric semantics call for, and no others.
 */
#include "isagen.h"

#include <string.h>

#define BIT(slot) (UINT32_C(1) << (slot))

enum {
  WAIT_FIELDS = BIT(WAIT_SEM) | BIT(WAIT_CMP) | BIT(WAIT_REG) | BIT(WAIT_VALUE),
  UPDATE_FIELDS =
      BIT(UPDATE_SEM) | BIT(UPDATE_OP) | BIT(UPDATE_VALUE) | BIT(UPDATE_EARLY)
};

/* The fields a control operation is made of. */
static uint32_t control_fields(enum nsr_ctl ctl) {
  switch (ctl) {
  case NSR_CTL_NONE:
  case NSR_CTL_HALT:
    return 0;
  case NSR_CTL_WAIT:
    return BIT(WAIT_SEM);
  case NSR_CTL_MOV:
    return BIT(DST) | BIT(A);
  case NSR_CTL_SEL:
    return BIT(DST) | BIT(COND) | BIT(A) | BIT(B);
  case NSR_CTL_BR:
    return BIT(CC) | BIT(A) | BIT(B) | BIT(TARGET);
  case NSR_CTL_JUMP:
    return BIT(A);
  default:
    return BIT(DST) | BIT(A) | BIT(B);
  }
}

/* Fields that have to be there. */
static uint32_t needed_fields(const struct insn *insn) {
  switch (insn->cls) {
  case NSR_DATAPATH:
    return BIT(WAIT_SEM) | BIT(UPDATE_SEM) |
           (insn->sem == NSR_SEM_STORE ? BIT(VALUE_REG) : 0);
  case NSR_LOAD:
    return BIT(WAIT_SEM) | BIT(UPDATE_SEM) | BIT(DST);
  case NSR_CONTROL:
    return control_fields(insn->ctl);
  case NSR_BARRIER:
    return BIT(ID);
  }
  return 0;
}

/* Fields that may be there. */
static uint32_t allowed_fields(const struct insn *insn) {
  uint32_t allowed = needed_fields(insn);
  if (insn->cls != NSR_BARRIER)
    allowed |= WAIT_FIELDS;
  if (insn->cls == NSR_DATAPATH || insn->cls == NSR_LOAD)
    allowed |= UPDATE_FIELDS;
  if (insn->cls == NSR_DATAPATH)
    allowed |= BIT(QUEUE);
  if (allowed & BIT(A))
    allowed |= BIT(A_REG);
  if (allowed & BIT(B))
    allowed |= BIT(B_REG);
  return allowed;
}

static void check_needed(struct tool *t, const struct insn *insn, int slot) {
  if (slot == UPDATE_SEM)
    complain(t, insn->at, "`%s` is a %s instruction without an update",
             insn->mnemonic, nsr_class_name(insn->cls));
  else if (slot == WAIT_SEM)
    complain(t, insn->at, "`%s` has no wait", insn->mnemonic);
  else if (slot == TARGET)
    complain(t, insn->at, "`%s` is a branch without a target", insn->mnemonic);
  else
    complain(t, insn->at, "`%s` needs a field `%s`", insn->mnemonic,
             insn_slots[slot].name);
}

static void check_fields(struct tool *t, const struct insn *insn) {
  uint32_t needed = needed_fields(insn), allowed = allowed_fields(insn);
  for (int i = 0; i < NINSN_SLOTS; i++) {
    bool there = insn->fields[i].bits.width != 0;
    if (needed & BIT(i) && !there)
      check_needed(t, insn, i);
    if (there && !(allowed & BIT(i)))
      complain(t, insn->fields[i].at, "`%s` has no use for a field `%s`",
               insn->mnemonic, insn_slots[i].name);
  }
}

/* An argument numeric semantics rely on, and the names they know. */
struct need {
  const char *arg;
  enum nsr_arg_kind kind;
  const char *names; /* NSR_ARG_ENUM: separated by blanks */
};

#define OPS "add sub mul div max min"
#define FUNCS "identity square sqrt rsqrt exp relu recip"

/* ORDER enum nsr_sem. */
static const struct {
  const char *roles; /* of the operands, "-": any */
  enum nsr_meaning meaning;
  struct need needs[4];
} sems[] = {
    {"-", NSR_MEANING_NONE, {{0}}},
    {"", NSR_MEANING_NOP, {{0}}},
    {"wr", NSR_MEANING_COPY, {{0}}},
    {"w", NSR_MEANING_FILL, {{0}}},
    {"w", NSR_MEANING_IOTA, {{0}}},
    {"w", NSR_MEANING_OPAQUE, {{0}}},
    {"r", NSR_MEANING_NONE, {{0}}},
    {"wrr", NSR_MEANING_OPAQUE, {{"op", NSR_ARG_ENUM, OPS}}},
    {"wr",
     NSR_MEANING_OPAQUE,
     {{"op0", NSR_ARG_ENUM, "none " OPS},
      {"imm0", NSR_ARG_F32, NULL},
      {"op1", NSR_ARG_ENUM, "none " OPS},
      {"imm1", NSR_ARG_F32, NULL}}},
    {"wrr", NSR_MEANING_OPAQUE, {{"op", NSR_ARG_ENUM, OPS}}},
    {"wr", NSR_MEANING_OPAQUE, {{"op", NSR_ARG_ENUM, OPS}}},
    {"wr",
     NSR_MEANING_OPAQUE,
     {{"func", NSR_ARG_ENUM, FUNCS},
      {"scale", NSR_ARG_F32, NULL},
      {"bias", NSR_ARG_F32, NULL}}},
};
_Static_assert(sizeof sems / sizeof *sems == NSR_SEM_ACTIVATION + 1,
               "order of enum nsr_sem");

static const struct arg *find_arg(const struct insn *insn, const char *name) {
  for (int i = 0; i < insn->nargs; i++)
    if (strcmp(insn->args[i].name, name) == 0)
      return &insn->args[i];
  return NULL;
}

static bool listed(const char *names, const char *name) {
  size_t n = strlen(name);
  for (const char *s = names; (s = strstr(s, name)) != NULL; s += n)
    if ((s == names || s[-1] == ' ') && (s[n] == ' ' || s[n] == '\0'))
      return true;
  return false;
}

static void check_need(struct tool *t, const struct insn *insn,
                       const struct need *need) {
  static const char *const kinds[] = {"int", "f32", "enum"};
  const struct arg *arg = find_arg(insn, need->arg);
  if (!arg || arg->kind != need->kind) {
    complain(t, insn->at, "`%s` needs an argument `%s` (%s)", insn->mnemonic,
             need->arg, kinds[need->kind]);
    return;
  }
  for (int i = 0; need->names && i < arg->enumeration->nnames; i++)
    if (!listed(need->names, arg->enumeration->names[i]))
      complain(t, arg->field.at, "semantics `%s` do not know `%s` %s",
               nsr_sem_name(insn->sem), arg->name, arg->enumeration->names[i]);
}

/* Reads and writes of the operands against "wrr". */
static bool roles_match(const struct insn *insn, const char *roles) {
  if (insn->noperands != (int)strlen(roles))
    return false;
  for (int i = 0; i < insn->noperands; i++) {
    enum nsr_role role = insn->operands[i].role;
    if (roles[i] == 'w' ? !nsr_role_writes(role) : nsr_role_writes(role))
      return false;
  }
  return true;
}

static void check_sem(struct tool *t, const struct insn *insn) {
  if ((insn->cls == NSR_LOAD) != (insn->sem == NSR_SEM_LOAD)) {
    complain(t, insn->at, "`%s`: class and semantics `load` go together",
             insn->mnemonic);
    return;
  }
  if (insn->sem == NSR_SEM_NONE)
    return;
  if (insn->cls == NSR_CONTROL || insn->cls == NSR_BARRIER) {
    complain(t, insn->at, "`%s`: a %s instruction has no semantics",
             insn->mnemonic, nsr_class_name(insn->cls));
    return;
  }
  if (insn->meaning != sems[insn->sem].meaning)
    complain(t, insn->at, "`%s`: semantics `%s` go with meaning `%s`, not `%s`",
             insn->mnemonic, nsr_sem_name(insn->sem),
             nsr_meaning_name(sems[insn->sem].meaning),
             nsr_meaning_name(insn->meaning));
  if (!roles_match(insn, sems[insn->sem].roles))
    complain(t, insn->at, "`%s`: semantics `%s` need operands `%s`",
             insn->mnemonic, nsr_sem_name(insn->sem), sems[insn->sem].roles);
  for (int i = 0; i < 4 && sems[insn->sem].needs[i].arg; i++)
    check_need(t, insn, &sems[insn->sem].needs[i]);
}

static int count_roles(const struct insn *insn, bool writes) {
  int n = 0;
  for (int i = 0; i < insn->noperands; i++)
    n += writes ? nsr_role_writes(insn->operands[i].role)
                : nsr_role_reads(insn->operands[i].role);
  return n;
}

static int max_dims(const struct insn *insn) {
  int n = 0;
  for (int i = 0; i < insn->noperands; i++)
    if (insn->operands[i].shape->ndims > n)
      n = insn->operands[i].shape->ndims;
  return n;
}

static void check_iota(struct tool *t, const struct insn *insn) {
  static const char *const steps[NSR_MAX_DIMS] = {"step0", "step1", "step2"};
  check_need(t, insn, &(struct need){"base", NSR_ARG_INT, NULL});
  check_need(t, insn, &(struct need){"pmul", NSR_ARG_INT, NULL});
  for (int i = 0; i < max_dims(insn); i++)
    check_need(t, insn, &(struct need){steps[i], NSR_ARG_INT, NULL});
}

static void check_meaning(struct tool *t, const struct insn *insn) {
  int reads = count_roles(insn, false), writes = count_roles(insn, true);
  switch (insn->meaning) {
  case NSR_MEANING_NOP:
    if (insn->noperands)
      complain(t, insn->at, "`%s`: a nop has no operands", insn->mnemonic);
    break;
  case NSR_MEANING_COPY:
    if (!reads || !writes)
      complain(t, insn->at, "`%s`: a copy reads and writes", insn->mnemonic);
    break;
  case NSR_MEANING_FILL:
    if (!writes)
      complain(t, insn->at, "`%s`: a fill writes", insn->mnemonic);
    check_need(t, insn, &(struct need){"value", NSR_ARG_INT, NULL});
    break;
  case NSR_MEANING_IOTA:
    if (!writes)
      complain(t, insn->at, "`%s`: an iota writes", insn->mnemonic);
    check_iota(t, insn);
    break;
  case NSR_MEANING_NONE:
  case NSR_MEANING_OPAQUE:
    break;
  }
}

/* What only some classes may have. */
static void check_class(struct tool *t, const struct insn *insn) {
  bool datapath = insn->cls == NSR_DATAPATH;
  if (!datapath && (insn->nargs || insn->nhidden || insn->external ||
                    insn->unknown_effects || insn->has_meaning))
    complain(t, insn->at,
             "`%s`: a meaning, arguments and effects are for datapath",
             insn->mnemonic);
  if (insn->cls == NSR_LOAD && max_dims(insn))
    complain(t, insn->at, "`%s`: a load reads one element", insn->mnemonic);
  if (!datapath && insn->cls != NSR_LOAD && insn->noperands)
    complain(t, insn->at, "`%s`: a %s instruction has no operands",
             insn->mnemonic, nsr_class_name(insn->cls));
  if (insn->external && insn->noperands)
    complain(t, insn->at, "`%s`: a core barrier has no operands",
             insn->mnemonic);
}

void check_insn_meaning(struct tool *t, const struct insn *insn) {
  if (!insn->has_class) {
    complain(t, insn->at, "`%s` has no class", insn->mnemonic);
    return;
  }
  check_fields(t, insn);
  check_class(t, insn);
  if (insn->cls == NSR_DATAPATH)
    check_meaning(t, insn);
  check_sem(t, insn);
}
