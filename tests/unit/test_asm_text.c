/* test_asm_text.c - what assembly means: each text against the plain text it
 * stands for, as the disassembler prints it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <nsr/text.h>

static void print_diag(void *user, const struct nsr_diag *diag) {
  char text[400];
  (void)user;
  nsr_diag_format(diag, text, sizeof text);
  print_message("%s\n", text);
}

static struct nsr_ctx *ctx;

static int setup(void **state) {
  (void)state;
  ctx = nsr_ctx_new();
  nsr_ctx_on_diag(ctx, print_diag, NULL);
  return ctx ? 0 : -1;
}

static int teardown(void **state) {
  (void)state;
  nsr_ctx_free(ctx);
  return 0;
}

static struct nsr_kernel *assemble(const char *text) {
  struct nsr_kernel *k = NULL;
  if (nsr_assemble(ctx, "some/where/k.s", text, strlen(text), &k) != NSR_OK) {
    print_message("%s\n", text);
    fail();
  }
  return k;
}

/* head + body, as printed behind the head, without source lines. */
static void same(const char *head, const char *body, const char *printed) {
  char text[4096], expect[4096];
  const char *out;
  size_t n;
  snprintf(text, sizeof text, ".isa tile64\n.kernel \"k\"\n%s.files\n%s", head,
           body);
  snprintf(expect, sizeof expect, ".isa tile64\n.kernel \"k\"\n%s.files\n%s",
           head, printed);
  struct nsr_kernel *k = assemble(text);
  assert_int_equal(nsr_disassemble(ctx, k, &out, &n), NSR_OK);
  assert_string_equal(out, expect);
}

static void test_expressions(void **state) {
  (void)state;
  same("",
       ".const A 3\n.const B A*(2+4)-20/3%5\n.const C -(A)\n.engine sp\n"
       "mov r1, B\nmov r2, C*-2\nmov r3, 0x10+A\nmov r4, - - 7\n"
       "mov r5, +4-1-1\nmov r6, -7/2\nmov r7, -7%2\nmov r8, (1)\n",
       ".engine sp\n    mov r1, 17\n    mov r2, 6\n    mov r3, 19\n"
       "    mov r4, 7\n    mov r5, 2\n    mov r6, -3\n    mov r7, -1\n"
       "    mov r8, 1\n");
}

static void test_floats(void **state) {
  static const char *const cases[][2] = {{"2", "2.0"},
                                         {"-2", "-2.0"},
                                         {"1.5e3", "1500.0"},
                                         {"1/4.0", "0.25"},
                                         {"1/4", "0.0"},
                                         {"-0.0", "-0.0"},
                                         {"0x1.8p1", "3.0"},
                                         {"inf", "inf"},
                                         {"-inf", "-inf"},
                                         {"nan", "nan"},
                                         {"0f3f800000", "1.0"},
                                         {"0f80000000", "-0.0"},
                                         {"0f7fc00001", "0f7fc00001"},
                                         {"0fffc00000", "0fffc00000"},
                                         {"1e-45", "1.401298e-45"},
                                         {"3.4028235e38", "3.40282347e+38"},
                                         {"0.1", "0.1"},
                                         {"16777217", "16777216.0"},
                                         {"(1+0.5)*2", "3.0"},
                                         {"E", "1e-06"},
                                         {"1e10", "1e+10"}};
  char body[256], printed[256];
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *form = "%s.engine act\n    act sbuf{0:1}:f32, sbuf{0:1}:f32 "
                       "func=exp scale=%s bias=1.0\n";
    snprintf(body, sizeof body, form, ".const E 1e-6\n", cases[i][0]);
    snprintf(printed, sizeof printed, form, "", cases[i][1]);
    same("", body, printed);
  }
}

#define TENSORS                                                                \
  ".queue q0 sp none\n.tensor x dram f32 [512, 64] at 4096 input\n"            \
  ".tensor t sbuf bf16 [8, 64] at 16:8, 256 scratch\n"

static void test_operands(void **state) {
  (void)state;
  same(TENSORS,
       ".engine sp\n"
       "dma q0, t, x\n"
       "dma q0, t+0[], x{1*0}\n"
       "dma q0, t+2*4-1+r3 { 1 : 2 } [ 3 * 4 , r5 * -2 ] : f32, x\n"
       "dma q0, t-256{-16:128}, x-8+r1{(1+1)*2*4}[(2*2)*2*2]\n"
       "dma q0, sbuf{0:128}:i8, dram+0x10{4*-4}:i8\n"
       "dma q0, \"t\" : bf16, \"x\"\n"
       "ld r1, x\nld r1, t\nld r1, t{1:1}\nld r1, sbuf:i32\n"
       "ld r1, sbuf+4{7:1}:i32\nld r1, dram+4:u8\nst t, r1\n",
       ".engine sp\n"
       "    dma q0, t, x\n"
       "    dma q0, t, x\n"
       "    dma q0, t+7+r3{1:2}[3*4, r5*-2]:f32, x\n"
       "    dma q0, t-256{-16:128}, x-8+r1{2*8}[4*4]\n"
       "    dma q0, sbuf{0:128}:i8, dram+16{4*-4}:i8\n"
       "    dma q0, t, x\n"
       "    ld r1, x\n    ld r1, t\n    ld r1, t{1:1}\n    ld r1, sbuf:i32\n"
       "    ld r1, sbuf+4{7:1}:i32\n    ld r1, dram+4:u8\n    st t, r1\n");
}

/* The operand's fields, not only their print. */
static void test_operand_fields(void **state) {
  struct nsr_insn insn;
  (void)state;
  const struct nsr_kernel *k = assemble(
      ".isa tile64\n" TENSORS
      ".engine sp\nsync\ndma q0, t+6{1:2}[3*4, r5*-2]:f32, x-8+r1{9*16}\n");
  const struct nsr_stream *s = &k->streams[0];
  assert_int_equal(nsr_stream_decode(ctx, k, s, 1, &insn), NSR_OK);
  const struct nsr_operand *o = insn.operands;
  assert_int_equal(o[0].space, NSR_SBUF);
  assert_int_equal(o[0].dtype, NSR_F32);
  assert_int_equal(o[0].part, 17);
  assert_int_equal(o[0].nparts, 2);
  assert_int_equal(o[0].offset, 262);
  assert_int_equal(o[0].reg, NSR_NO_REG);
  assert_int_equal(o[0].ndims, 2);
  assert_int_equal(o[0].dims[0].step, 4);
  assert_int_equal(o[0].dims[0].count, 3);
  assert_false(o[0].dims[0].count_is_reg);
  assert_int_equal(o[0].dims[1].step, -2);
  assert_int_equal(o[0].dims[1].count, 5);
  assert_true(o[0].dims[1].count_is_reg);
  assert_int_equal(o[1].offset, 4088);
  assert_int_equal(o[1].reg, 1);
  assert_int_equal(o[1].nparts, 9);
  assert_int_equal(o[1].pstep, 16);
  assert_int_equal(nsr_operand_tensor(s, 1, 0), 1);
  assert_int_equal(nsr_operand_tensor(s, 1, 1), 0);
  assert_int_equal(nsr_operand_tensor(s, 0, 0), NSR_NONE);
}

static void test_suffixes(void **state) {
  (void)state;
  same(TENSORS,
       ".engine sp\n"
       "nop ^s5 ? s3 >= 4\nnop ^s5++ ?s3==r9\nnop ?s0>-1 ^s5--\n"
       "nop ?s0<=1+1 ^ s255 += 2*2\nnop ?s0<0 ^s5-=3\nnop ^s5=-4\n"
       "qnop q0 ^s1\nqnop @0 !early ^s1\nwait ?s1>=1\nsync\nsync 7\nsync\n",
       ".engine sp\n"
       "    nop ?s3>=4 ^s5\n    nop ?s3==r9 ^s5\n    nop ?s0>-1 ^s5--\n"
       "    nop ?s0<=2 ^s255+=4\n    nop ?s0<0 ^s5-=3\n    nop ^s5=-4\n"
       "    qnop q0 ^s1\n    qnop q0 ^s1 !early\n    wait ?s1>=1\n"
       "    sync 0\n    sync 7\n    sync 2\n");
}

static void test_arguments(void **state) {
  (void)state;
  same("",
       ".engine dve\n"
       "ts sbuf{0:1}:f32, sbuf{0:1}:f32 imm0=1 op0=mul\n"
       "ts sbuf{0:1}:f32, sbuf{0:1}:f32\n"
       "memset sbuf{0:1}:i8 ^s1\nmemset sbuf{0:1}:i8 ^s1 value=-3 ?s1>=1\n"
       ".engine pool\niota sbuf{0:1}:i32 step1=4 base=2\n",
       ".engine dve\n"
       "    ts sbuf{0:1}:f32, sbuf{0:1}:f32 op0=mul imm0=1.0 op1=none "
       "imm1=0.0\n"
       "    ts sbuf{0:1}:f32, sbuf{0:1}:f32 op0=none imm0=0.0 op1=none "
       "imm1=0.0\n"
       "    memset sbuf{0:1}:i8 value=0 ^s1\n"
       "    memset sbuf{0:1}:i8 value=-3 ?s1>=1 ^s1\n"
       ".engine pool\n"
       "    iota sbuf{0:1}:i32 base=2 pmul=0 step0=0 step1=4 step2=0\n");
}

static void test_labels(void **state) {
  (void)state;
  same("",
       ".engine sp\n"
       "add: r1: \"two words\": br end\nbr \"two words\"\nbr.lt r1, 4, r1\n"
       "br @1 !reloc\nbr end !reloc\nmov r1, @end\nadd r1, @add, @end\n"
       "jump r1, add, @3, end\njump 4\nend: halt\n"
       ".engine act\nbr end\nend: halt\n.engine sp\nmov r1, @end\nlast:\n",
       ".engine act\n    br end\nend:\n    halt\n"
       ".engine sp\nadd:\nr1:\n\"two words\":\n    br end\n    br add\n"
       "    br.lt r1, 4, add\n    br @1 !reloc\n    br end !reloc\n"
       "    mov r1, 9\n    add r1, 0, 9\n    jump r1, add, @3, end\n"
       "    jump 4\nend:\n    halt\n    mov r1, 9\nlast:\n");
}

static void test_macros(void **state) {
  (void)state;
  same("",
       ".macro put R, V\n mov \\R, \\V ; \\R\n add \\R, \\R, (\\V)*2\n.end\n"
       ".macro twice R\n put \\R, 1\n put \\R, 2\n.end\n"
       ".macro three R\n .repeat 3, I\n mov \\R, I*10+\\I\n .end\n.end\n"
       ".macro none\n.end\n"
       ".engine sp\n"
       "put r1, 1+2\n twice r2\nnone\nthree r3 # comment\n"
       ".repeat 2, J\nput r1\\J, J+1\n.end\n.repeat 0\nfrob\n.end\n",
       ".engine sp\n    mov r1, 3\n    add r1, r1, 6\n"
       "    mov r2, 1\n    add r2, r2, 2\n    mov r2, 2\n    add r2, r2, 4\n"
       "    mov r3, 0\n    mov r3, 11\n    mov r3, 22\n"
       "    mov r10, 1\n    add r10, r10, 2\n"
       "    mov r11, 2\n    add r11, r11, 4\n");
}

static void test_nested_repeats(void **state) {
  (void)state;
  same("",
       ".macro name A\nl\\A\\()_x: nop\n.end\n.engine sp\n"
       ".repeat 2, J\n.repeat 2, K\nmov r1\\K, J*2+K\n.end\nname \\J\n.end\n",
       ".engine sp\n    mov r10, 0\n    mov r11, 1\nl0_x:\n    nop\n"
       "    mov r10, 2\n    mov r11, 3\nl1_x:\n    nop\n");
}

static void test_tensor_fields(void **state) {
  (void)state;
  const struct nsr_kernel *k = assemble(
      ".isa tile64\n.const D 4\n"
      ".tensor a dram f32 [2, D] at 16*4 input words 1, -0.5, 1/2.0\n"
      ".tensor b dram i8 [D] at 0 input words -128, 0x7f range -5 D*2\n"
      ".tensor c dram bf16 [2] at 0 output words 1.0, -2\n"
      ".tensor d sbuf f16 [8, 3, 5] at 1:8, 2 scratch\n"
      ".tensor e psum u8 [] at 0:1, 0 scratch bytes 7\n"
      ".tensor f dram u8 [] at 0 input data \"\"\n");
  static const uint8_t a[] = {0, 0, 0x80, 0x3f, 0, 0, 0, 0xbf, 0, 0, 0, 0x3f};
  static const uint8_t c[] = {0x80, 0x3f, 0, 0xc0};
  const struct nsr_tensor *t = k->tensors;
  assert_int_equal(k->ntensors, 6);
  assert_string_equal(t[0].name, "a");
  assert_int_equal(t[0].offset, 64);
  assert_int_equal(t[0].bytes, 32);
  assert_int_equal(t[0].nshape, 2);
  assert_int_equal(t[0].shape[1], 4);
  assert_int_equal(t[0].role, NSR_INPUT);
  assert_int_equal(t[0].data_size, sizeof a);
  assert_memory_equal(t[0].data, a, sizeof a);
  assert_false(t[0].has_range);
  assert_memory_equal(t[1].data, "\x80\x7f", 2);
  assert_true(t[1].has_range);
  assert_int_equal(t[1].lo, -5);
  assert_int_equal(t[1].hi, 8);
  assert_memory_equal(t[2].data, c, sizeof c);
  assert_int_equal(t[2].role, NSR_OUTPUT);
  assert_int_equal(t[3].bytes, 30);
  assert_int_equal(t[3].part, 1);
  assert_int_equal(t[3].nparts, 8);
  assert_int_equal(t[3].offset, 2);
  assert_int_equal(t[3].role, NSR_TENSOR_SCRATCH);
  assert_null(t[3].data);
  assert_int_equal(t[4].bytes, 7);
  assert_non_null(t[5].data);
  assert_int_equal(t[5].data_size, 0);
}

/* ---- source lines */

static void lines(const struct nsr_kernel *k, const char *expect) {
  char text[512] = "";
  const struct nsr_stream *s = &k->streams[0];
  for (uint32_t i = 0; s->lines && i < s->n; i++) {
    size_t n = strlen(text);
    const struct nsr_line *l = &s->lines[i];
    snprintf(text + n, sizeof text - n, "%s:%u ",
             l->line ? k->files[l->file] : "", l->line);
  }
  assert_string_equal(text, expect);
}

static void test_own_lines(void **state) {
  (void)state;
  const struct nsr_kernel *k =
      assemble(".isa tile64\n.macro m\nnop\nnop\n.end\n.engine sp\nnop\n\nm\n"
               ".repeat 2\nnop\nm\n.end\nhalt");
  lines(k, "k.s:7 k.s:9 k.s:9 k.s:11 k.s:12 k.s:12 k.s:11 k.s:12 k.s:12 "
           "k.s:14 ");
  assert_int_equal(k->nfiles, 1);
  assert_string_equal(k->path, "some/where/k.s");
  assert_string_equal(k->name, "k");
}

static void test_given_lines(void **state) {
  (void)state;
  const struct nsr_kernel *k =
      assemble(".isa tile64\n.engine sp\nnop\n.file \"a.c\"\nnop @7\nnop\n"
               ".files \"b.c\", \"c.c\", \"b.c\"\nnop @8 ^s1\n.file 4\nnop @9\n"
               ".file \"b.c\"\nnop ?s1>=1 @1+2\n.file d.c\nsync @4\nhalt @1\n");
  lines(k, "k.s:3 a.c:7 :0 a.c:8 b.c:9 b.c:3 d.c:4 d.c:1 ");
  assert_int_equal(k->nfiles, 6);
  assert_int_equal(k->streams[0].lines[4].file, 4);
  assert_int_equal(k->streams[0].lines[5].file, 2);
}

static void test_no_lines(void **state) {
  (void)state;
  const struct nsr_kernel *k =
      assemble(".isa tile64\n.files\n.engine sp\nnop\nhalt\n");
  assert_null(k->streams[0].lines);
  assert_int_equal(k->nfiles, 0);
  k = assemble(".isa tile64\n.files \"x\"\n.engine sp\n.lines\nnop\nhalt\n");
  lines(k, ":0 :0 ");
  assert_int_equal(k->nfiles, 1);
}

static void test_sections(void **state) {
  (void)state;
  const struct nsr_kernel *k = assemble(
      ".isa tile64\n.section .debug type=0x70000001 flags=0xffffffffffffffff "
      "align=8 entsize=3 info=4\n.bytes \"AAEC\"\n.hex \"03 04ff\"\n"
      ".section \"b b\" type=8 size=99\n.section c\n.engine sp\nhalt\n");
  const struct nsr_section *s = k->sections;
  assert_int_equal(k->nsections, 3);
  assert_string_equal(s[0].name, ".debug");
  assert_int_equal(s[0].type, 0x70000001);
  assert_true(s[0].flags == UINT64_MAX);
  assert_int_equal(s[0].align, 8);
  assert_int_equal(s[0].entsize, 3);
  assert_int_equal(s[0].info, 4);
  assert_int_equal(s[0].size, 6);
  assert_memory_equal(s[0].data, "\0\1\2\3\4\xff", 6);
  assert_string_equal(s[1].name, "b b");
  assert_null(s[1].data);
  assert_int_equal(s[1].size, 99);
  assert_int_equal(s[2].type, 1);
  assert_int_equal(s[2].align, 1);
  assert_int_equal(s[2].size, 0);
}

static void test_head(void **state) {
  (void)state;
  same(".owned 3, 9\n.order pe full\n.order sp none\n.queue \"a b\" act full\n",
       ".engine sp\n", ".engine sp\n");
  const struct nsr_kernel *k = assemble(".isa tile64\n.kernel \"\"\n");
  assert_string_equal(k->name, "");
  assert_int_equal(k->owned_first, k->isa->owned_first);
  assert_int_equal(k->owned_last, k->isa->owned_last);
  assert_int_equal(k->nstreams, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_expressions),
                                     cmocka_unit_test(test_floats),
                                     cmocka_unit_test(test_operands),
                                     cmocka_unit_test(test_operand_fields),
                                     cmocka_unit_test(test_suffixes),
                                     cmocka_unit_test(test_arguments),
                                     cmocka_unit_test(test_labels),
                                     cmocka_unit_test(test_macros),
                                     cmocka_unit_test(test_nested_repeats),
                                     cmocka_unit_test(test_tensor_fields),
                                     cmocka_unit_test(test_own_lines),
                                     cmocka_unit_test(test_given_lines),
                                     cmocka_unit_test(test_no_lines),
                                     cmocka_unit_test(test_sections),
                                     cmocka_unit_test(test_head)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
