/* test_isa_names.c - names both ways, look-ups, the instruction list of
 * isa/README.md against the description, and words written by hand from the
 * bit positions in isa/tile64.isa.
 */
#include <nsr/isa.h>

#include "sim/machine_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define CHECK_NAMES(what, last)                                                \
  do {                                                                         \
    for (int v = 0; v <= (int)(last); v++) {                                   \
      const char *name = nsr_##what##_name((enum nsr_##what)v);                \
      size_t n = strlen(name);                                                 \
      assert_int_equal(nsr_##what##_parse(name, n), v);                        \
      assert_int_not_equal(nsr_##what##_parse(name, n - 1), v);                \
    }                                                                          \
    assert_int_equal(nsr_##what##_parse("bogus", 5), -1);                      \
    assert_int_equal(nsr_##what##_parse("", 0), -1);                           \
    assert_string_equal(nsr_##what##_name((enum nsr_##what)((last) + 1)),      \
                        "?");                                                  \
  } while (0)

static void names_go_both_ways(void **unused) {
  (void)unused;
  CHECK_NAMES(space, NSR_PSUM);
  CHECK_NAMES(dtype, NSR_U8);
  CHECK_NAMES(role, NSR_MRW);
  CHECK_NAMES(cmp, NSR_CMP_LT);
  CHECK_NAMES(upd, NSR_UPD_SET);
  CHECK_NAMES(cc, NSR_CC_GE);
  CHECK_NAMES(order, NSR_ORDER_FULL);
  CHECK_NAMES(class, NSR_BARRIER);
  CHECK_NAMES(meaning, NSR_MEANING_OPAQUE);
  CHECK_NAMES(ctl, NSR_CTL_HALT);
  CHECK_NAMES(sem, NSR_SEM_TRANSPOSE);
  assert_int_equal(nsr_dtype_bytes(NSR_BF16), 2);
  assert_int_equal(nsr_dtype_bytes(NSR_FP8), 1);
  assert_int_equal(nsr_dtype_bytes(NSR_I32), 4);
}

static const struct nsr_isa *tile64(void) {
  const struct nsr_isa *isa = nsr_isa_by_name("tile64");
  assert_non_null(isa);
  return isa;
}

static const struct nsr_insn_desc *named(const char *mnemonic) {
  return nsr_isa_mnemonic(tile64(), mnemonic, strlen(mnemonic));
}

static void shape_of_the_machine(void **unused) {
  (void)unused;
  const struct nsr_isa *isa = tile64();
  assert_null(nsr_isa_by_name("tile"));
  assert_int_equal(isa->word, 64);
  assert_int_equal(isa->registers, 64);
  assert_int_equal(isa->semaphores, 256);
  assert_int_equal(isa->semaphore_bits, 32);
  assert_int_equal(isa->partitions, 128);
  assert_int_equal(isa->sbuf_bytes, 196608);
  assert_int_equal(isa->psum_bytes, 16384);
  assert_int_equal(isa->nengines, 5);
  assert_int_equal(nsr_isa_engine(isa, "pe"), 0);
  assert_int_equal(nsr_isa_engine(isa, "sp"), 4);
  assert_int_equal(nsr_isa_engine(isa, "s"), -1);
  for (int e = 0; e < isa->nengines; e++)
    assert_int_equal(isa->pipe_order[e], NSR_ORDER_HIDDEN);
  assert_int_equal(isa->queue_order, NSR_ORDER_NONE);
  assert_int_equal(isa->owned_first, 0);
  assert_int_equal(isa->owned_last, 191);
  assert_int_equal(isa->min_displacement, -(1 << 23));
  assert_int_equal(isa->max_displacement, (1 << 23) - 1);
}

static void look_ups(void **unused) {
  (void)unused;
  const struct nsr_isa *isa = tile64();
  assert_non_null(named("tsp"));
  assert_null(nsr_isa_mnemonic(isa, "tspx", 2 + 2));
  assert_ptr_equal(nsr_isa_mnemonic(isa, "tspx", 3), named("tsp"));
  assert_null(nsr_isa_mnemonic(isa, "", 0));
  assert_null(nsr_isa_mnemonic(isa, "br\0", 3));
  assert_ptr_equal(nsr_isa_nop(isa, false), named("nop"));
  assert_ptr_equal(nsr_isa_nop(isa, true), named("qnop"));
  assert_ptr_equal(nsr_isa_barrier(isa), named("sync"));
  for (int ctl = NSR_CTL_MOV; ctl <= NSR_CTL_HALT; ctl++) {
    const char *name = nsr_ctl_name((enum nsr_ctl)ctl);
    assert_ptr_equal(nsr_isa_control(isa, (enum nsr_ctl)ctl), named(name));
  }
  assert_null(nsr_isa_control(isa, NSR_CTL_NONE));
  for (int i = 0; i < isa->ninsns; i++)
    assert_int_equal(isa->insns[i].index, i);
}

static void machine_files_are_built_in(void **unused) {
  (void)unused;
  for (const struct nsr_machine_text *m = nsr_machine_texts; m->name; m++) {
    char path[256];
    snprintf(path, sizeof path, "isa/%s.machine", m->name);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    for (const char *s = m->text; *s; s++)
      assert_int_equal((unsigned char)*s, fgetc(f));
    assert_int_equal(fgetc(f), EOF);
    fclose(f);
  }
}

static void check_word(const struct nsr_insn *insn, const uint8_t *expected) {
  uint8_t word[NSR_MAX_WORD];
  char why[128] = "";
  if (!nsr_encode(tile64(), insn, word, why, sizeof why))
    fail_msg("%s", why);
  assert_memory_equal(word, expected, tile64()->word);
}

static void a_tensor_instruction_by_hand(void **unused) {
  (void)unused;
  static const uint8_t expected[64] = {
      0x10, 0x09, 0x69, 0xc8, 0x07, 0x00, 0x00, 0x00, /* opcode, wait */
      0x2c, 0x01, 0x32, 0x00, 0x5a, 0xd0, 0x48, 0x20, /* update; dst */
      0xff, 0xff, 0x0d, 0x00, 0x0a, 0x00, 0xe0, 0x3f, /* .. */
      0x40, 0x00, 0x00, 0x01, 0xfc, 0x3f, 0x00, 0x00, /* a at bit 198 */
      0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xc0, /* b at bit 316 */
      0xff, 0x00, 0x40, 0x00, 0x00, 0x0d, 0x00, 0xa0, /* .. */
      0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x10, 0x00, /* op at bit 434 */
      0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00};
  struct nsr_insn x;
  nsr_insn_init(named("tt"), &x);
  x.wait = (struct nsr_wait){NSR_CMP_GE, 9, {true, 7}};
  x.update = (struct nsr_update){NSR_UPD_ADD, 200, 300};
  struct nsr_operand *dst = &x.operands[0], *a = &x.operands[1],
                     *b = &x.operands[2];
  dst->space = NSR_SBUF;
  dst->dtype = NSR_BF16;
  dst->part = 3;
  dst->nparts = 64;
  dst->offset = 0x1234;
  dst->reg = 5;
  dst->ndims = 2;
  dst->dims[0] = (struct nsr_dim){-4, 6, true};
  dst->dims[1] = (struct nsr_dim){2, 511, false};
  a->space = NSR_PSUM;
  a->dtype = NSR_F32;
  a->nparts = 128;
  a->offset = 16380;
  b->space = NSR_SBUF;
  b->dtype = NSR_I8;
  b->part = 127;
  b->nparts = 1;
  b->offset = 1;
  b->ndims = 1;
  b->dims[0] = (struct nsr_dim){3, 5, false};
  x.args[0] = 4;
  assert_string_equal(x.desc->args[0].names[4], "max");
  check_word(&x, expected);
}

static void a_branch_by_hand(void **unused) {
  (void)unused;
  static const uint8_t expected[64] = {
      0x44, 0xff, 0x05, 0x00, 0xff, 0xff, 0xff, 0xff, /* opcode, wait */
      0x00, 0x00, 0x44, 0x00, 0x09, 0x00, 0x00, 0x00, /* cc, a.reg; a */
      0xfe, 0xff, 0xff, 0xff, 0x9c, 0xff, 0xff, 0x00  /* b; target */
  };
  struct nsr_insn x;
  nsr_insn_init(nsr_isa_control(tile64(), NSR_CTL_BR), &x);
  x.wait = (struct nsr_wait){NSR_CMP_LT, 255, {false, -1}};
  x.cc = NSR_CC_LE;
  x.a = (struct nsr_val){true, 9};
  x.b = (struct nsr_val){false, -2};
  x.displacement = -100;
  check_word(&x, expected);
}

/* The list in isa/README.md: cells of a row, without blanks at their ends. */
enum { CELLS = 5 };

static int cells(char *line, char *cell[CELLS]) {
  int n = 0;
  for (char *s = strchr(line, '|'); s && n < CELLS; n++) {
    char *next = strchr(s + 1, '|');
    if (!next)
      return n;
    *next = '\0';
    cell[n] = s + 1 + strspn(s + 1, " ");
    for (char *end = next; end > cell[n] && end[-1] == ' ';)
      *--end = '\0';
    s = next;
  }
  return n;
}

static bool has_word(const char *text, const char *word) {
  size_t n = strlen(word);
  static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
  for (const char *s = text; (s = strstr(s, word)) != NULL; s++)
    if ((s == text || !strchr(letters, s[-1])) &&
        (s[n] == '\0' || !strchr(letters, s[n])))
      return true;
  return false;
}

static void check_engines(const struct nsr_insn_desc *desc, const char *text) {
  const struct nsr_isa *isa = tile64();
  for (int e = 0; e < isa->nengines; e++) {
    bool listed = has_word(text, "all") || has_word(text, isa->engines[e]);
    assert_int_equal(listed, desc->engines >> e & 1);
  }
  assert_int_equal(has_word(text, "queue"), desc->queue);
}

/* Words of `text` that name things: as many as `n`, each `of` the list. */
static void check_list(const char *text, const char *(*name)(const void *, int),
                       const void *list, int n) {
  char copy[128];
  int seen = 0;
  snprintf(copy, sizeof copy, "%s", text);
  for (char *w = strtok(copy, "`,= "); w; w = strtok(NULL, "`,= ")) {
    if (strcmp(w, "qN") == 0 || strcmp(w, "rD") == 0 || strcmp(w, "rV") == 0)
      continue;
    assert_true(seen < n);
    assert_string_equal(w, name(list, seen));
    seen++;
  }
  assert_int_equal(seen, n);
}

static const char *operand_name(const void *list, int i) {
  return ((const struct nsr_operand_desc *)list)[i].name;
}

static const char *arg_name(const void *list, int i) {
  return ((const struct nsr_arg_desc *)list)[i].name;
}

static void check_row(const struct nsr_insn_desc *desc, char *cell[CELLS]) {
  check_engines(desc, cell[3]);
  check_list(cell[2], arg_name, desc->args, desc->nargs);
  if (desc->cls == NSR_DATAPATH || desc->cls == NSR_LOAD)
    check_list(cell[1], operand_name, desc->operands, desc->noperands);
  if (desc->cls == NSR_DATAPATH)
    assert_true(has_word(cell[4], nsr_meaning_name(desc->meaning)));
  else
    assert_true(has_word(cell[4], nsr_class_name(desc->cls)));
}

/* The mnemonics of a row; how many. */
static int check_mnemonics(char *cell[CELLS]) {
  int n = 0;
  char copy[128], *rest = NULL;
  snprintf(copy, sizeof copy, "%s", cell[0]);
  for (char *w = strtok_r(copy, "`, ", &rest); w;
       w = strtok_r(NULL, "`, ", &rest)) {
    if (strcmp(w, "br.CC") == 0)
      continue;
    if (!named(w))
      fail_msg("%s is in the list only", w);
    check_row(named(w), cell);
    n++;
  }
  return n;
}

static void the_list_is_the_description(void **unused) {
  (void)unused;
  char line[512], *cell[CELLS];
  int n = 0;
  FILE *f = fopen("isa/README.md", "r");
  assert_non_null(f);
  while (fgets(line, sizeof line, f) && strncmp(line, "`op` is", 7) != 0)
    if (strncmp(line, "| `", 3) == 0 && cells(line, cell) == CELLS)
      n += check_mnemonics(cell);
  fclose(f);
  assert_int_equal(n, tile64()->ninsns);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_go_both_ways),
      cmocka_unit_test(shape_of_the_machine),
      cmocka_unit_test(look_ups),
      cmocka_unit_test(machine_files_are_built_in),
      cmocka_unit_test(a_tensor_instruction_by_hand),
      cmocka_unit_test(a_branch_by_hand),
      cmocka_unit_test(the_list_is_the_description),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
