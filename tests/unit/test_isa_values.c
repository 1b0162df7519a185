/* test_isa_values.c - encoding from values: whatever encodes decodes to the
 * same value, whatever does not says why, and patches change what they say.
 *
 * Values are drawn from far around what fields can hold. Prints its seed;
 * NSR_SEED sets it.
 */
#include <nsr/isa.h>

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t state;

static uint64_t rnd(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state * UINT64_C(0x2545f4914f6cdd1d) >> 11;
}

static int64_t below(int64_t n) { return (int64_t)(rnd() % (uint64_t)n); }

static bool wild; /* values no field may hold; else mostly small ones */

/* Numbers of every size, and now and then one next to a power of two. */
static int64_t any(int bits) {
  int width = 1 + (int)below(wild ? bits : 3);
  int64_t v = below(INT64_C(1) << width);
  if (wild && below(4) == 0)
    v = (INT64_C(1) << (width - 1)) - 1 + below(3);
  return below(wild ? 3 : 12) ? v : -v;
}

static struct nsr_val any_val(void) {
  bool is_reg = below(2);
  return (struct nsr_val){is_reg, (int32_t)any(is_reg ? 7 : 31)};
}

static void any_operand(const struct nsr_operand_desc *desc,
                        struct nsr_operand *o) {
  o->space = (uint8_t)below(NSR_PSUM + 1);
  o->dtype = (uint8_t)below(NSR_I32 + 1 + 3 * wild);
  if (desc->acc && o->space == NSR_PSUM)
    o->acc = below(2);
  if (o->acc)
    o->role = desc->role == NSR_W ? NSR_RW : NSR_MRW;
  if (o->space == NSR_DRAM)
    o->pstep = (int32_t)any(14);
  else
    o->part = (uint16_t)below(wild ? 40 : 20);
  if (o->nparts == 0 || below(20) == 0)
    o->nparts = (uint16_t)below(wild ? 140 : 34);
  o->offset = any(20);
  if (below(2))
    o->reg = (int16_t)below(wild ? 24 : 20);
  o->ndims = (uint8_t)below(desc->maxdims + 1);
  for (int i = 0; i < o->ndims; i++) {
    o->dims[i].step = (int32_t)any(14);
    o->dims[i].count = (int32_t)below(wild ? 40 : 20);
    o->dims[i].count_is_reg = below(2);
  }
}

static void any_sync(struct nsr_insn *insn) {
  if (insn->desc->has_wait && below(2))
    insn->wait = (struct nsr_wait){.cmp = (uint8_t)below(NSR_CMP_LT + 2),
                                   .sem = (uint16_t)below(wild ? 300 : 200),
                                   .value = any_val()};
  if (insn->desc->has_update && below(2)) {
    insn->update = (struct nsr_update){.op = (uint8_t)below(NSR_UPD_SET + 2),
                                       .sem = (uint16_t)below(wild ? 300 : 200),
                                       .value = (int32_t)any(17)};
    if (insn->update.op == NSR_UPD_INC || insn->update.op == NSR_UPD_DEC)
      insn->update.value = 1;
    insn->early_update = below(8) == 0;
  }
}

static int64_t any_arg(const struct nsr_arg_desc *arg) {
  if (arg->kind == NSR_ARG_F32)
    return below(INT64_C(1) << 32);
  return arg->kind == NSR_ARG_ENUM ? below(wild ? 9 : 3) : any(12);
}

static void any_insn(const struct nsr_insn_desc *desc, struct nsr_insn *insn) {
  wild = below(4) == 0;
  nsr_insn_init(desc, insn);
  any_sync(insn);
  if (desc->queue)
    insn->queue = (int8_t)below(wild ? 18 : 16);
  if (desc->ctl == NSR_CTL_BR) {
    insn->cc = (uint8_t)below(NSR_CC_GE + 1);
    insn->displacement = (int32_t)any(25);
  }
  if (insn->dst == 0)
    insn->dst = (int16_t)below(wild ? 70 : 20);
  if (insn->cond == 0)
    insn->cond = (int16_t)below(wild ? 70 : 20);
  if (insn->value_reg == 0)
    insn->value_reg = (int16_t)below(wild ? 70 : 20);
  if (desc->cls == NSR_CONTROL && insn->desc->ctl != NSR_CTL_WAIT &&
      insn->desc->ctl != NSR_CTL_HALT)
    insn->a = any_val();
  if (desc->cls == NSR_CONTROL && insn->a.v != 0 && below(2))
    insn->b = any_val();
  if (desc->cls == NSR_BARRIER)
    insn->id = (int32_t)any(31);
  for (int i = 0; i < desc->noperands; i++)
    any_operand(&desc->operands[i], &insn->operands[i]);
  for (int i = 0; i < desc->nargs; i++)
    insn->args[i] = any_arg(&desc->args[i]);
}

static bool same_val(const struct nsr_val *a, const struct nsr_val *b) {
  return a->is_reg == b->is_reg && a->v == b->v;
}

static bool same_operand(const struct nsr_operand *a,
                         const struct nsr_operand *b) {
  for (int i = 0; i < NSR_MAX_DIMS; i++)
    if (a->dims[i].step != b->dims[i].step ||
        a->dims[i].count != b->dims[i].count ||
        a->dims[i].count_is_reg != b->dims[i].count_is_reg)
      return false;
  return a->role == b->role && a->space == b->space && a->dtype == b->dtype &&
         a->ndims == b->ndims && a->acc == b->acc &&
         a->indexed_by == b->indexed_by && a->reg == b->reg &&
         a->part == b->part && a->nparts == b->nparts && a->pstep == b->pstep &&
         a->offset == b->offset;
}

static bool same_sync(const struct nsr_insn *a, const struct nsr_insn *b) {
  return a->wait.cmp == b->wait.cmp && a->wait.sem == b->wait.sem &&
         same_val(&a->wait.value, &b->wait.value) &&
         a->update.op == b->update.op && a->update.sem == b->update.sem &&
         a->update.value == b->update.value &&
         a->early_update == b->early_update;
}

static bool same(const struct nsr_insn *a, const struct nsr_insn *b) {
  for (int i = 0; i < a->noperands && i < b->noperands; i++)
    if (!same_operand(&a->operands[i], &b->operands[i]))
      return false;
  return same_sync(a, b) && a->desc == b->desc &&
         a->noperands == b->noperands && a->queue == b->queue &&
         a->cc == b->cc && a->dst == b->dst && a->cond == b->cond &&
         a->value_reg == b->value_reg && same_val(&a->a, &b->a) &&
         same_val(&a->b, &b->b) && a->displacement == b->displacement &&
         a->id == b->id && memcmp(a->args, b->args, sizeof a->args) == 0;
}

static int some_engine(const struct nsr_insn_desc *desc) {
  int e = 0;
  while (!(desc->engines >> e & 1))
    e++;
  return e;
}

/* Whether insn encodes; then it decodes to itself, else why is told. */
static bool round_trip(const struct nsr_isa *isa, const struct nsr_insn *insn) {
  uint8_t word[NSR_MAX_WORD], untouched[NSR_MAX_WORD];
  struct nsr_insn back;
  char why[160] = "";
  memset(word, 0xa5, sizeof word);
  memset(untouched, 0xa5, sizeof untouched);
  if (!nsr_encode(isa, insn, word, why, sizeof why)) {
    assert_true(strlen(why) > 0);
    assert_memory_equal(word, untouched, sizeof word);
    return false;
  }
  const char *error = nsr_decode(isa, some_engine(insn->desc), word, &back);
  if (error)
    fail_msg("%s encodes to what does not decode: %s", insn->desc->mnemonic,
             error);
  if (!same(insn, &back))
    fail_msg("%s decodes to another value", insn->desc->mnemonic);
  return true;
}

static void values_round_trip(void **unused) {
  (void)unused;
  for (const struct nsr_isa *const *isa = nsr_isas; *isa; isa++)
    for (int i = 0; i < (*isa)->ninsns; i++) {
      const struct nsr_insn_desc *desc = &(*isa)->insns[i];
      int good = 0;
      for (int n = 0; n < 6000; n++) {
        struct nsr_insn insn;
        any_insn(desc, &insn);
        good += round_trip(*isa, &insn);
      }
      if (good < 10)
        fail_msg("%s: %d of 6000 values encode", desc->mnemonic, good);
    }
}

/* Each member that does not apply, set: refused. */
static void check_strangers(const struct nsr_isa *isa,
                            const struct nsr_insn_desc *desc) {
  enum { N = 18 };
  for (int i = 0; i < N; i++) {
    struct nsr_insn insn, empty;
    nsr_insn_init(desc, &insn);
    nsr_insn_init(desc, &empty);
    if (desc->ctl == NSR_CTL_BR)
      empty.cc = insn.cc = NSR_CC_ALWAYS;
    switch (i) {
    case 0:
      insn.wait.sem = 1;
      break;
    case 1:
      insn.wait.value.v = 1;
      break;
    case 2:
      insn.wait.value.is_reg = true;
      break;
    case 3:
      insn.update.sem = 1;
      break;
    case 4:
      insn.update.value = 1;
      break;
    case 5:
      insn.early_update = true;
      break;
    case 6:
      insn.queue = desc->queue ? -1 : 0;
      break;
    case 7:
      insn.dst = insn.dst < 0 ? 0 : -1;
      break;
    case 8:
      insn.cond = insn.cond < 0 ? 0 : -1;
      break;
    case 9:
      insn.value_reg = insn.value_reg < 0 ? 0 : -1;
      break;
    case 10:
      insn.cc = desc->ctl == NSR_CTL_BR ? 99 : NSR_CC_EQ;
      break;
    case 11:
      insn.displacement = desc->ctl == NSR_CTL_BR ? INT32_MAX : 1;
      break;
    case 12:
      insn.id = desc->cls == NSR_BARRIER ? -1 : 1;
      break;
    case 13:
      insn.noperands++;
      break;
    case 14:
      insn.operands[0].role = 77;
      break;
    case 15:
      insn.operands[0].indexed_by = 3;
      break;
    case 16:
      insn.operands[0].dims[2].count = 1;
      break;
    case 17:
      insn.update = (struct nsr_update){NSR_UPD_INC, 1, 2};
      break;
    }
    if (i >= 14 && i < 17 && desc->noperands == 0)
      continue;
    if (round_trip(isa, &insn))
      fail_msg("%s: stranger %d is accepted", desc->mnemonic, i);
    assert_true(round_trip(isa, &empty));
  }
}

/* What fields alone would let through in operand k: refused. */
static void check_operand_strangers(const struct nsr_isa *isa,
                                    const struct nsr_insn_desc *desc, int k) {
  enum { N = 7 };
  bool acc = desc->operands[k].acc;
  for (int i = 0; i < N; i++) {
    struct nsr_insn insn;
    nsr_insn_init(desc, &insn);
    struct nsr_operand *o = &insn.operands[k];
    if (i == 0) {
      o->space = NSR_DRAM;
      o->part = 1;
    } else if (i == 1) {
      o->space = NSR_SBUF;
      o->pstep = 1;
    } else if (i == 2) {
      o->dims[0].count = 1;
    } else if (i == 3) {
      o->ndims = 1;
      o->dims[1].step = 1;
    } else {
      o->acc = true;
      o->space = i == 4 ? NSR_SBUF : NSR_PSUM;
      if (i < 6 && o->role == NSR_W)
        o->role = NSR_RW;
      else if (i < 6 && o->role == NSR_MW)
        o->role = NSR_MRW;
    }
    if (round_trip(isa, &insn) != (i == 5 && acc))
      fail_msg("%s: %s: stranger %d", desc->mnemonic, desc->operands[k].name,
               i);
  }
}

static void strangers_are_refused(void **unused) {
  (void)unused;
  for (const struct nsr_isa *const *isa = nsr_isas; *isa; isa++)
    for (int i = 0; i < (*isa)->ninsns; i++) {
      check_strangers(*isa, &(*isa)->insns[i]);
      for (int k = 0; k < (*isa)->insns[i].noperands; k++)
        check_operand_strangers(*isa, &(*isa)->insns[i], k);
    }
}

/* A patch equals encoding the changed value, or changes nothing. */
static void check_patches(const struct nsr_isa *isa, struct nsr_insn *insn) {
  uint8_t word[NSR_MAX_WORD], patched[NSR_MAX_WORD], whole[NSR_MAX_WORD];
  struct nsr_insn other;
  if (!nsr_encode(isa, insn, word, NULL, 0))
    return;
  any_insn(insn->desc, &other);
  other.early_update = insn->early_update && other.update.op != NSR_UPD_NONE;
  struct nsr_insn wanted = *insn;
  for (int which = 0; which < 3; which++) {
    bool ok;
    memcpy(patched, word, sizeof word);
    wanted = *insn;
    if (which == 0) {
      wanted.wait = other.wait;
      ok = nsr_word_set_wait(isa, patched, &other.wait);
    } else if (which == 1) {
      wanted.update = other.update;
      wanted.early_update = other.early_update;
      ok = nsr_word_set_update(isa, patched, &other.update);
    } else {
      wanted.displacement = other.displacement;
      ok = nsr_word_set_displacement(isa, patched, other.displacement);
    }
    bool can = nsr_encode(isa, &wanted, whole, NULL, 0);
    if (which == 2 && insn->desc->ctl != NSR_CTL_BR)
      can = false;
    assert_int_equal(ok, can);
    assert_memory_equal(patched, ok ? whole : word, isa->word);
  }
}

static void patches_change_one_group(void **unused) {
  (void)unused;
  for (const struct nsr_isa *const *isa = nsr_isas; *isa; isa++)
    for (int i = 0; i < (*isa)->ninsns; i++)
      for (int n = 0; n < 500; n++) {
        struct nsr_insn insn;
        any_insn(&(*isa)->insns[i], &insn);
        check_patches(*isa, &insn);
      }
}

static void patches_refuse_other_words(void **unused) {
  (void)unused;
  const struct nsr_isa *isa = nsr_isa_by_name("tile64");
  uint8_t word[NSR_MAX_WORD] = {0}, sync[NSR_MAX_WORD];
  struct nsr_insn insn;
  struct nsr_wait wait = {.cmp = NSR_CMP_GE, .sem = 1, .value = {false, 1}};
  struct nsr_update update = {.op = NSR_UPD_INC, .sem = 1, .value = 1};
  assert_false(nsr_word_set_wait(isa, word, &wait)); /* no opcode */
  assert_false(nsr_word_set_update(isa, word, &update));
  assert_false(nsr_word_set_displacement(isa, word, 0));
  nsr_insn_init(nsr_isa_barrier(isa), &insn);
  assert_true(nsr_encode(isa, &insn, sync, NULL, 0));
  assert_false(nsr_word_set_wait(isa, sync, &wait));
  assert_false(nsr_word_set_update(isa, sync, &update));
  assert_true(nsr_word_set_wait(isa, sync, &(struct nsr_wait){0}));
}

static void encode_says(const struct nsr_insn *insn, const char *expected) {
  const struct nsr_isa *isa = nsr_isa_by_name("tile64");
  uint8_t word[NSR_MAX_WORD];
  char why[160] = "", cut[8] = "";
  assert_false(nsr_encode(isa, insn, word, why, sizeof why));
  assert_string_equal(why, expected);
  assert_false(nsr_encode(isa, insn, word, cut, sizeof cut));
  assert_memory_equal(cut, expected, 7);
  assert_int_equal(cut[7], '\0');
}

static void reasons_name_the_member(void **unused) {
  (void)unused;
  const struct nsr_isa *isa = nsr_isa_by_name("tile64");
  struct nsr_insn x;
  nsr_insn_init(nsr_isa_mnemonic(isa, "copy", 4), &x);
  x.operands[1].offset = 262144;
  encode_says(&x, "offset of src: 262144 is not in 0..262143");
  x.operands[1].offset = 0;
  x.operands[0].ndims = 1;
  x.operands[0].dims[0].step = -262145;
  encode_says(&x, "step of dst: -262145 is not in -262144..262143");
  x.operands[0].dims[0] = (struct nsr_dim){0, 64, true};
  encode_says(&x, "count of dst: there is no register r64");
  x.operands[0].dims[0].count = 63;
  x.operands[0].space = NSR_DRAM;
  encode_says(&x, "space of dst: 0 is not one of its values");
  x.operands[0].space = NSR_PSUM;
  x.operands[0].pstep = 4;
  encode_says(&x, "row step of dst: must be 0 on chip, not 4");
  x.operands[0].pstep = 0;
  x.wait.cmp = NSR_CMP_GE;
  x.wait.sem = 256;
  encode_says(&x, "semaphore of the wait: 256 is not in 0..255");
  x.wait.sem = 255;
  x.queue = 2;
  encode_says(&x, "queue: must be -1 here, not 2");
}

int main(void) {
  const char *seed = getenv("NSR_SEED");
  state = seed ? strtoull(seed, NULL, 0) | 1 : 20240608 | 1;
  printf("seed %" PRIu64 "\n", state);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_round_trip),
      cmocka_unit_test(strangers_are_refused),
      cmocka_unit_test(patches_change_one_group),
      cmocka_unit_test(patches_refuse_other_words),
      cmocka_unit_test(reasons_name_the_member),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
