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

#define OPS "add sub mul div max min ge eq"
#define FUNCS "identity square sqrt rsqrt exp relu recip"
#define TESTS "ge gt le lt eq ne"
#define OPAQUE .meaning = NSR_MEANING_OPAQUE
#define OP                                                                     \
  { "op", NSR_ARG_ENUM, OPS }
#define FUNC                                                                   \
  {"func", NSR_ARG_ENUM, FUNCS}, { "scale", NSR_ARG_F32, NULL }
#define BIAS                                                                   \
  { "bias", NSR_ARG_F32, NULL }

/* What an instruction of these semantics looks like. Roles: "w" also rw,
 * "r" also mr, others as they are. */
static const struct sem {
  const char *roles; /* of the operands, NULL: any */
  enum nsr_meaning meaning;
  struct need needs[4];
  int indexed;        /* operand that needs `indexed_by` .. */
  int index;          /* .. this one; 0: none does */
  bool accumulates;   /* operands may have `acc` */
  const char *hidden; /* roles of its hidden state: NULL: any */
} sems[] = {
    [NSR_SEM_NONE] = {.roles = NULL},
    [NSR_SEM_NOP] = {"", .meaning = NSR_MEANING_NOP},
    [NSR_SEM_COPY] = {"w r", .meaning = NSR_MEANING_COPY},
    [NSR_SEM_FILL] = {"w", .meaning = NSR_MEANING_FILL},
    [NSR_SEM_IOTA] = {"w", .meaning = NSR_MEANING_IOTA},
    [NSR_SEM_STORE] = {"w", OPAQUE},
    [NSR_SEM_LOAD] = {.roles = "r"},
    [NSR_SEM_TENSOR_TENSOR] = {"w r r", OPAQUE, .needs = {OP}},
    [NSR_SEM_TENSOR_SCALAR] = {"w r", OPAQUE,
                               .needs = {{"op0", NSR_ARG_ENUM, "none " OPS},
                                         {"imm0", NSR_ARG_F32, NULL},
                                         {"op1", NSR_ARG_ENUM, "none " OPS},
                                         {"imm1", NSR_ARG_F32, NULL}}},
    [NSR_SEM_TENSOR_ROWSCALAR] = {"w r r", OPAQUE, .needs = {OP}},
    [NSR_SEM_TENSOR_REDUCE] = {"w r", OPAQUE, .needs = {OP}},
    [NSR_SEM_ACTIVATION] = {"w r", OPAQUE, .needs = {FUNC, BIAS}},
    [NSR_SEM_ACTIVATION_ROWBIAS] = {"w r r", OPAQUE, .needs = {FUNC}},
    [NSR_SEM_ACTIVATION_SUM] = {"w w r", OPAQUE, .needs = {FUNC, BIAS}},
    [NSR_SEM_ACTIVATION_ROWBIAS_SUM] = {"w w r r", OPAQUE, .needs = {FUNC}},
    [NSR_SEM_CAST] = {"w r", OPAQUE},
    [NSR_SEM_COPY_PREDICATED] = {"mw r r", OPAQUE},
    [NSR_SEM_FILL_PREDICATED] = {"mw r", OPAQUE,
                                 .needs = {{"value", NSR_ARG_INT, NULL}}},
    [NSR_SEM_SELECT] = {"w r r r", OPAQUE},
    [NSR_SEM_SCAN] = {"w r r r", OPAQUE,
                      .needs = {{"op0", NSR_ARG_ENUM, OPS},
                                {"op1", NSR_ARG_ENUM, OPS}}},
    [NSR_SEM_AFFINE_SELECT] = {"w r", OPAQUE,
                               .needs = {{"test", NSR_ARG_ENUM, TESTS},
                                         {"value", NSR_ARG_F32, NULL}}},
    [NSR_SEM_MAX8] = {"w r", OPAQUE},
    [NSR_SEM_GATHER] = {"w mr r", OPAQUE, .indexed = 1, .index = 2},
    [NSR_SEM_ACCUMULATE] = {"rw r", OPAQUE, .needs = {OP}},
    [NSR_SEM_GATHER_ROWS] = {"w mr r", OPAQUE, .indexed = 1, .index = 2},
    [NSR_SEM_SCATTER_ROWS] = {"mw r r", OPAQUE, .indexed = 0, .index = 2},
    [NSR_SEM_SCATTER_ACCUMULATE] = {"mrw r r", OPAQUE, .needs = {OP},
                                    .indexed = 0, .index = 2},
    [NSR_SEM_LOAD_STATIONARY] = {"r", OPAQUE, .hidden = "w"},
    [NSR_SEM_MATMUL] = {"w r", OPAQUE, .accumulates = true, .hidden = "r"},
    [NSR_SEM_TRANSPOSE] = {"w r", OPAQUE},
};
_Static_assert(sizeof sems / sizeof *sems == NSR_SEM_TRANSPOSE + 1,
               "one for each nsr_sem");

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

static int max_dims(const struct insn *insn) {
  int n = 0;
  for (int i = 0; i < insn->noperands; i++)
    if (insn->operands[i].shape->ndims > n)
      n = insn->operands[i].shape->ndims;
  return n;
}

/* The arguments of base + partition * pmul + i * step0 + .. */
static void check_pattern(struct tool *t, const struct insn *insn) {
  static const char *const steps[NSR_MAX_DIMS] = {"step0", "step1", "step2"};
  check_need(t, insn, &(struct need){"base", NSR_ARG_INT, NULL});
  check_need(t, insn, &(struct need){"pmul", NSR_ARG_INT, NULL});
  for (int i = 0; i < max_dims(insn); i++)
    check_need(t, insn, &(struct need){steps[i], NSR_ARG_INT, NULL});
}

static bool role_matches(enum nsr_role role, const char *want, size_t n) {
  if (n == 1 && *want == 'w')
    return role == NSR_W || role == NSR_RW;
  if (n == 1)
    return !nsr_role_writes(role);
  return (int)role == nsr_role_parse(want, n);
}

/* The operands against "w mr r". */
static bool roles_match(const struct insn *insn, const char *roles) {
  int i = 0;
  for (const char *s = roles; *s; i++) {
    size_t n = strcspn(s, " ");
    if (i == insn->noperands || !role_matches(insn->operands[i].role, s, n))
      return false;
    s += n + (s[n] == ' ');
  }
  return i == insn->noperands;
}

static void check_sem_index(struct tool *t, const struct insn *insn,
                            const struct sem *sem) {
  for (int i = 0; i < insn->noperands; i++) {
    const struct operand *o = &insn->operands[i];
    const char *want = sem->index && i == sem->indexed
                           ? insn->operands[sem->index].name
                           : NULL;
    if (want && (!o->indexed_by || strcmp(o->indexed_by, want) != 0))
      complain(t, o->at, "`%s`: semantics `%s` index `%s` by `%s`",
               insn->mnemonic, nsr_sem_name(insn->sem), o->name, want);
    if (!want && o->indexed_by)
      complain(t, o->at, "`%s`: semantics `%s` have no index of `%s`",
               insn->mnemonic, nsr_sem_name(insn->sem), o->name);
    if (o->acc && !sem->accumulates)
      complain(t, o->at, "`%s`: semantics `%s` do not accumulate",
               insn->mnemonic, nsr_sem_name(insn->sem));
  }
}

/* Matrix semantics keep one matrix in hidden state. */
static void check_sem_hidden(struct tool *t, const struct insn *insn,
                             const struct sem *sem) {
  if (sem->hidden && (insn->nhidden != 1 || (int)insn->hidden[0].role !=
                                                nsr_role_parse(sem->hidden, 1)))
    complain(t, insn->at, "`%s`: semantics `%s` need `hidden NAME %s`",
             insn->mnemonic, nsr_sem_name(insn->sem), sem->hidden);
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
  const struct sem *sem = &sems[insn->sem];
  if (insn->meaning != sem->meaning)
    complain(t, insn->at, "`%s`: semantics `%s` go with meaning `%s`, not `%s`",
             insn->mnemonic, nsr_sem_name(insn->sem),
             nsr_meaning_name(sem->meaning), nsr_meaning_name(insn->meaning));
  if (!roles_match(insn, sem->roles))
    complain(t, insn->at, "`%s`: semantics `%s` need operands `%s`",
             insn->mnemonic, nsr_sem_name(insn->sem), sem->roles);
  else
    check_sem_index(t, insn, sem);
  check_sem_hidden(t, insn, sem);
  for (int i = 0; i < 4 && sem->needs[i].arg; i++)
    check_need(t, insn, &sem->needs[i]);
  if (insn->sem == NSR_SEM_AFFINE_SELECT)
    check_pattern(t, insn);
}

static int count_roles(const struct insn *insn, bool writes) {
  int n = 0;
  for (int i = 0; i < insn->noperands; i++)
    n += writes ? nsr_role_writes(insn->operands[i].role)
                : nsr_role_reads(insn->operands[i].role);
  return n;
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
    check_pattern(t, insn);
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
