/* test_asm_errors.c - every error of assembly text: line, column and what was
 * expected; and no text, however wrong, does worse than that. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "prng.h"
#include "text_diags.h"

static const struct {
  const char *text, *errors;
} cases[] = {
    {".engine sp\n", "1:1: expected .isa before .engine\n"},
    {"nop\n", "1:1: expected .isa before the first instruction\n"},
    {"\n", "1:1: expected .isa and the name of an instruction set\n"},
    {".isa frob\n",
     "1:6: unknown instruction set 'frob'; known: tile64 lane48\n"},
    {".isa tile64\n"
     ".isa tile64\n"
     ".frob 1\n"
     ".end\n",
     "2:6: .isa is given twice\n"
     "3:1: unknown directive '.frob'\n"
     "4:1: .end closes no .repeat or .macro\n"},
    {".isa tile64\n"
     ".kernel \"a\"\n"
     ".kernel \"b\"\n",
     "3:9: .kernel is given twice\n"},
    {".isa tile64\n"
     ".owned 5\n"
     ".owned 5, 256\n"
     ".owned 1.5, 3\n"
     ".order frob none\n"
     ".order act frob\n"
     ".queue q0 frob\n"
     ".queue q0 sp\n"
     ".queue q0 sp\n"
     ".queue \"\" sp\n"
     ".queue q1 sp none x\n",
     "2:9: expected ',', found the end of the line\n"
     "3:11: the last owned semaphore: 256 is not in 0..255\n"
     "4:8: expected a whole number for the first owned semaphore\n"
     "5:8: expected an engine's name, found 'frob'\n"
     "6:12: expected hidden, none or full, found 'frob'\n"
     "7:11: expected an engine's name, found 'frob'\n"
     "9:8: queue 'q0' is already defined\n"
     "10:8: the name is empty\n"
     "11:19: expected the end of the line, found 'x'\n"},
    {".isa tile64\n"
     ".const r5 3\n"
     ".const A 3\n"
     ".const A 4\n"
     ".const 7 4\n"
     ".const B C\n"
     ".const B 5/0\n"
     ".const B 9223372036854775807+1\n"
     ".const B -9223372036854775808\n"
     ".const C 9223372036854775808\n"
     ".const D 1.5 % 2\n"
     ".const D (1\n"
     ".const D 0x\n"
     ".const D 12ab\n"
     ".const D 1e999\n"
     ".const D 1+\n"
     ".const E 3 4\n",
     "2:8: a constant cannot be called like a register\n"
     "4:8: constant 'A' is already defined\n"
     "5:8: expected the constant's name, found '7'\n"
     "6:10: unknown constant 'C'\n"
     "7:11: division by zero\n"
     "8:29: the result does not fit 64 bits\n"
     "10:10: 9223372036854775808 does not fit 64 bits\n"
     "11:14: % takes integers\n"
     "12:12: expected ')', found the end of the line\n"
     "13:10: expected a number, found '0x'\n"
     "14:10: expected a number, found '12ab'\n"
     "15:10: 1e999 is too large a number\n"
     "16:12: expected a number or a constant, found the end of the line\n"
     "17:12: expected the end of the line, found '4'\n"},
    {".isa tile64\n"
     ".tensor\n"
     ".tensor x frob f32 [1] at 0 input\n"
     ".tensor x dram frob [1] at 0 input\n"
     ".tensor x dram f32 1 at 0 input\n"
     ".tensor x dram f32 [1 at 0 input\n"
     ".tensor x dram f32 [-1] at 0 input\n"
     ".tensor x dram f32 [1,1,1,1,1,1,1,1,1] at 0 input\n"
     ".tensor x dram f32 [1] 0 input\n"
     ".tensor x dram f32 [1] at -1 input\n"
     ".tensor x dram f32 [1] at 0 frob\n"
     ".tensor x dram f32 [1] at 0 input frob 3\n"
     ".tensor x dram i32 [1] at 0 input range 4 3\n"
     ".tensor x dram i32 [1] at 0 input words 1, 2\n"
     ".tensor x dram i8 [1] at 0 input words 128\n"
     ".tensor x dram i32 [1] at 0 input words 1.5\n"
     ".tensor x dram i32 [1] at 0 input words 1 data \"AAAA\"\n"
     ".tensor x dram i32 [1] at 0 input data \"AAA\"\n"
     ".tensor x dram i32 [1] at 0 input data \"AA==\"\n"
     ".tensor x sbuf i32 [1] at 0 input\n"
     ".tensor y sbuf i32 [1] at 0:1, 0 input words 1\n"
     ".tensor y dram i32 [4294967295,4294967295] at 0 input\n"
     ".tensor x sbuf i32 [1] at 0:1, 0 input\n",
     "2:8: expected the tensor's name, found the end of the line\n"
     "3:11: expected a space (dram sbuf psum), found 'frob'\n"
     "4:16: expected a dtype (f32 bf16 f16 fp8 i32 i16 i8 u8), found 'frob'\n"
     "5:20: expected '[', found '1'\n"
     "6:23: expected ']', found 'at'\n"
     "7:21: a dimension: -1 is not in 0..4294967295\n"
     "8:37: expected at most 8 dimensions\n"
     "9:24: expected 'at' and the tensor's place, found '0'\n"
     "10:27: the offset: -1 is not in 0..9223372036854775807\n"
     "11:29: expected a role (input output scratch), found 'frob'\n"
     "12:35: expected bytes, range, words, data or the end of the line, foun"
     "d 'frob'\n"
     "13:43: the highest value: 3 is not in 4..2147483647\n"
     "14:9: 8 bytes of initial contents in 4 bytes\n"
     "15:40: an element: 128 is not in -128..127\n"
     "16:41: expected a whole number for an element\n"
     "17:43: initial contents are given twice\n"
     "18:40: expected base64\n"
     "20:9: tensor 'x' is already defined\n"
     "21:40: only DRAM tensors have initial contents\n"
     "22:9: the tensor's size does not fit 64 bits\n"
     "23:9: tensor 'x' is already defined\n"},
    {".isa tile64\n"
     ".engine frob\n"
     "l:\n"
     "    nop\n"
     ".engine sp\n"
     "l:\n"
     "l:\n"
     "\"\": nop\n"
     "\"a\\qb\": nop\n"
     "\"a\n"
     "\"a\\0\": nop\n"
     "\"a\" nop\n"
     "1: nop\n"
     "@ nop\n",
     "2:9: expected an engine's name, found 'frob'\n"
     "3:1: expected .engine before this\n"
     "4:5: expected .engine before this\n"
     "7:1: label 'l' is already defined\n"
     "8:1: the name is empty\n"
     "9:3: expected one of \\\\ \\\" \\n \\t \\0 \\xHH\n"
     "10:1: expected '\"' before the end of the line\n"
     "11:1: the name has a NUL in it\n"
     "12:5: expected ':' after a label, found 'nop'\n"
     "13:1: expected a label, a directive or an instruction, found '1'\n"
     "14:1: expected a label, a directive or an instruction, found '@'\n"},
    {".isa tile64\n"
     ".engine sp\n"
     ".tensor x dram i32 [4] at 0 input\n"
     ".tensor t sbuf i32 [4] at 0:4, 0 scratch\n"
     ".queue q0 sp\n"
     "    ld 1, x\n"
     "    ld r1\n"
     "    ld r1, 5\n"
     "    ld r1, y\n"
     "    ld r1, x+r1+r2\n"
     "    ld r1, x-r1\n"
     "    ld r1, x+\n"
     "    ld r1, x[4*4]\n"
     "    ld r1, dram\n"
     "    ld r1, dram:f99\n"
     "    ld r1, sbuf{0 1}:f32\n"
     "    ld r99, x\n"
     "    ld r1, x:i32 !acc\n"
     "    dma q0, t[4*4], x{4}[4*4]\n"
     "    dma q0, t{-1:4}, x\n"
     "    dma q0, sbuf:i32, x\n"
     "    dma q0, t[1*4, 1*4, 1*4, 1*4], x\n"
     "    dma q0, t[4*4, x\n"
     "    dma q0, t[2+2*4], x\n"
     "    dma q0, t[D], x\n"
     "    dma q0, t[1.5*3], x\n"
     "    dma q9, t, x\n"
     "    dma 0, t, x\n"
     "    dma q0 t, x\n"
     "    dma q0, t, x+4294967296\n"
     "    st x\n"
     "    st x, 5\n",
     "6:8: expected a destination register, found '1'\n"
     "7:10: expected ',', found the end of the line\n"
     "8:12: expected a tensor or a space, found '5'\n"
     "9:12: unknown tensor 'y'\n"
     "10:16: expected one register at most, and added\n"
     "11:13: expected one register at most, and added\n"
     "12:14: expected a number or a constant, found the end of the line\n"
     "13:14: expected at most 0 dimensions of src\n"
     "14:16: expected ':' and a dtype, found the end of the line\n"
     "15:17: expected a dtype (f32 bf16 f16 fp8 i32 i16 i8 u8), found 'f99'\n"
     "16:19: expected ':', found '1'\n"
     "17:5: destination register: 99 is not in 0..63\n"
     "18:18: src does not accumulate\n"
     "19:24: expected '*' and the bytes between rows (a count that is an exp"
     "ression goes in parentheses), found '}'\n"
     "20:15: the first partition: -1 is not in 0..65535\n"
     "21:17: expected {first partition:count}, found ':'\n"
     "22:30: expected at most 3 dimensions of dst\n"
     "23:20: unknown constant 'x'\n"
     "24:16: expected '*' and a step in bytes (a count that is an expression"
     " goes in parentheses), found '+'\n"
     "25:15: unknown constant 'D'\n"
     "26:15: expected a whole number for a count\n"
     "27:9: unknown queue 'q9'\n"
     "28:9: expected a queue, found '0'\n"
     "29:12: expected ',', found 't'\n"
     "30:5: offset of src: 4294967296 is not in 0..4294967295\n"
     "31:9: expected ',', found the end of the line\n"
     "32:11: expected the register stored, found '5'\n"},
    {".isa tile64\n"
     ".engine sp\n"
     "    mov r1, 4294967296\n"
     "    mov r1, 1.5\n"
     "    mov r1, l\n"
     "    mov r1\n"
     "    add r1, r2\n"
     "    sel r1, 3, 1, 2\n"
     "    br\n"
     "    br 5\n"
     "    br @\n"
     "    br @-1\n"
     "    br.frob r1, r2, l\n"
     "    br.lt r1, l\n"
     "    br l\n"
     "    br l !reloc\n"
     "    mov r1, @l\n"
     "    mov r2, @m\n"
     "    jump r1, m, l, @3\n"
     "    sync -1\n"
     "    sync ?s1>=1\n"
     "    sync x\n"
     "    halt 3\n"
     "m:\n",
     "3:13: a: 4294967296 is not in -2147483648..2147483647\n"
     "4:13: expected a whole number for a\n"
     "5:13: unknown constant 'l'\n"
     "6:11: expected ',', found the end of the line\n"
     "7:15: expected ',', found the end of the line\n"
     "8:13: expected a condition register, found '3'\n"
     "9:7: expected a label or @ and an instruction's index, found the end o"
     "f the line\n"
     "10:8: expected a label or @ and an instruction's index, found '5'\n"
     "11:9: expected a number or a constant, found the end of the line\n"
     "12:9: the instruction's index: -1 is not in 0..4294967294\n"
     "13:5: unknown instruction 'br.frob'\n"
     "14:15: unknown constant 'l'\n"
     "20:5: barrier id: -1 is not in 0..2147483647\n"
     "21:10: sync takes no wait\n"
     "22:10: unknown constant 'x'\n"
     "23:10: expected ?wait, ^update or the end of the line, found '3'\n"
     "15:8: undefined label 'l'\n"
     "16:8: undefined label 'l'\n"
     "17:14: undefined label 'l'\n"
     "19:17: undefined label 'l'\n"},
    {".isa tile64\n"
     ".engine dve\n"
     "    nop ?s256>=1\n"
     "    nop ?x>=1\n"
     "    nop ?s1!=1\n"
     "    nop ?s1>=1 ?s2>=1\n"
     "    nop ^s1 ^s2\n"
     "    nop ^s1+=\n"
     "    nop ^s1+=99999\n"
     "    nop ^s1=1.5\n"
     "    nop @5\n"
     "    nop !frob\n"
     "    nop !reloc\n"
     "    nop x=3\n"
     "    wait ^s1\n"
     "    wait !early\n"
     "    memset sbuf{0:1}:f32 value=1 value=2\n"
     "    memset sbuf{0:1}:f32 frob=1\n"
     "    memset sbuf{0:1}:f32 value=x\n"
     "    ts sbuf{0:1}:f32, sbuf{0:1}:f32 op0=frob\n"
     "    ts sbuf{0:1}:f32, sbuf{0:1}:f32 op0=mul\n"
     "    ts sbuf{0:1}:f32, sbuf{0:1}:f32 op0=mul imm0=1e39\n"
     "    ts sbuf{0:1}:f32, sbuf{0:1}:f32 op0 mul\n"
     "    tt sbuf{0:1}:f32, sbuf{0:1}:f32, sbuf{0:1}:f32\n"
     "    act sbuf{0:1}:f32, sbuf{0:1}:f32\n"
     "    dma @99, sbuf{0:1}:f32, dram:f32\n",
     "3:10: expected a semaphore in s0..s255\n"
     "4:10: expected a semaphore (s0, s1, ..), found 'x'\n"
     "5:12: expected a comparison (>= == > <= <), found '!'\n"
     "6:16: expected one wait at most\n"
     "7:13: expected one update at most\n"
     "8:14: expected a number or a constant, found the end of the line\n"
     "9:5: value of the update: 99999 is not in -32768..32767\n"
     "10:13: expected a whole number for the update's value\n"
     "11:9: expected .file before a line number\n"
     "12:9: nop has no mark 'frob'\n"
     "13:9: nop has no mark 'reloc'\n"
     "14:9: expected ?wait, ^update or the end of the line, found 'x'\n"
     "15:10: wait takes no update\n"
     "16:10: wait has no mark 'early'\n"
     "17:34: value is given twice\n"
     "18:26: memset has no argument 'frob'\n"
     "19:32: unknown constant 'x'\n"
     "20:41: expected one of none add sub mul div max min ge, found 'frob'\n"
     "21:5: ts needs imm0=\n"
     "22:50: imm0: 1e+39 does not fit a 32-bit float\n"
     "23:41: expected '=', found 'mul'\n"
     "24:5: tt needs op=\n"
     "25:5: act is no instruction of dve\n"
     "26:5: queue: 99 is not in 0..15\n"},
    {".isa tile64\n"
     ".engine sp\n"
     ".file\n"
     ".file 0\n"
     ".files \"a\"\n"
     ".file 1\n"
     ".file \"b\"\n"
     ".files 7\n"
     "    nop @x\n"
     "    nop @4294967296\n"
     "    .word \"00\"\n"
     "    .word 00\n"
     "    .word\n",
     "3:6: expected a file's name, or its number in .files, found the end of"
     " the line\n"
     "4:7: expected .files before a file's number\n"
     "6:7: the file's number: 1 is not in 0..0\n"
     "8:8: expected a file's name, found '7'\n"
     "9:10: unknown constant 'x'\n"
     "10:10: the line: 4294967296 is not in 0..4294967295\n"
     "11:11: expected 128 hexadecimal digits\n"
     "12:11: expected a string, found '00'\n"
     "13:10: expected a string, found the end of the line\n"},
    {".isa tile64\n"
     ".bytes \"AAAA\"\n"
     ".section\n"
     ".section .a frob=1\n"
     ".section .a type=x\n"
     ".section .a type=4294967296\n"
     ".section .a size=4\n"
     ".section .b type=8 size=4\n"
     ".bytes \"AAAA\"\n"
     ".section .c\n"
     ".bytes \"A\"\n"
     ".hex \"0\"\n"
     ".hex \"zz\"\n"
     ".hex 00\n"
     "nop\n"
     ".lines\n",
     "2:8: expected .section before this\n"
     "3:9: expected the section's name, found the end of the line\n"
     "4:13: expected type=, flags=, align=, entsize=, info= or size=, found "
     "'frob'\n"
     "5:18: expected a number, found 'x'\n"
     "6:18: expected a whole number up to 4294967295\n"
     "7:1: size= is for sections without bytes (type=8)\n"
     "9:8: a section of type 8 has no bytes\n"
     "11:8: expected base64\n"
     "12:6: expected pairs of hexadecimal digits\n"
     "13:6: expected pairs of hexadecimal digits\n"
     "14:6: expected a string, found '00'\n"
     "15:1: expected .engine before this\n"
     "16:1: expected .engine before this\n"},
    {".isa tile64\n"
     ".engine sp\n"
     ".repeat\n"
     ".end\n"
     ".repeat -1\n"
     ".end\n"
     ".repeat 2, a.b\n"
     ".end\n"
     ".repeat 2, 3\n"
     ".end\n"
     "l: .repeat 2\n"
     ".end\n",
     "3:8: expected a number or a constant, found the end of the line\n"
     "5:9: the number of repeats: -1 is not in 0..16777216\n"
     "7:12: expected letters, digits and _ in a variable's name\n"
     "9:12: expected a variable's name, found '3'\n"
     "11:1: expected .repeat at the start of a line\n"},
    {".isa tile64\n"
     ".engine sp\n"
     ".repeat 2\n"
     "nop\n",
     "3:1: .repeat without .end\n"},
    {".isa tile64\n"
     ".engine sp\n"
     ".macro\n"
     ".end\n"
     ".macro nop\n"
     ".end\n"
     ".macro a\n"
     ".end\n"
     ".macro a\n"
     ".end\n"
     ".macro b x,\n"
     ".end\n"
     ".macro b 3\n"
     ".end\n"
     ".macro b x y\n"
     ".end\n"
     "l: .macro c\n"
     ".end\n"
     ".repeat 1\n"
     ".macro d\n"
     ".end\n"
     ".end\n",
     "3:7: expected the macro's name, found the end of the line\n"
     "5:8: a macro cannot be called 'nop'\n"
     "9:8: macro 'a' is already defined\n"
     "11:12: expected a parameter's name, found the end of the line\n"
     "13:10: expected a parameter's name, found '3'\n"
     "15:12: expected ',', found 'y'\n"
     "17:1: expected .macro at the start of a line\n"
     "20:8: expected .macro outside macros and repeats\n"},
    {".isa tile64\n"
     ".engine sp\n"
     ".macro a x, y\n"
     " mov \\x, \\y\n"
     " frob\n"
     ".end\n"
     ".macro b x\n"
     " a \\x, 1.5\n"
     ".end\n"
     " a r1\n"
     " a r1, 2, 3\n"
     " a , 2\n"
     " b r5\n",
     "10:6: expected ',', found the end of the line\n"
     "11:9: expected the end of the line, found ','\n"
     "12:4: expected an argument for 'x'\n"
     "4:10: expected a whole number for a\n"
     "  note 8: in macro 'a' used here\n"
     "  note 13: in macro 'b' used here\n"
     "5:2: unknown instruction 'frob'\n"
     "  note 8: in macro 'a' used here\n"
     "  note 13: in macro 'b' used here\n"},
    {".isa tile64\n"
     ".engine sp\n"
     ".macro a\n"
     " a\n"
     ".end\n"
     " a\n",
     "4:1: macros and repeats nested more than 63 deep\n"
     "  note 4: in macro 'a' used here\n"
     "  note 4: in macro 'a' used here\n"
     "  note 4: in macro 'a' used here\n"
     "  note 4: in macro 'a' used here\n"
     "  note 4: in macro 'a' used here\n"
     "  note 4: in macro 'a' used here\n"
     "  note 4: in macro 'a' used here\n"
     "  note 4: in macro 'a' used here\n"
     "  note 4: in macro 'a' used here\n"},
};
/* The status and every message must be as written. */
static void test_messages(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct diags d;
    enum nsr_status status;
    diags_of(false, cases[i].text, strlen(cases[i].text), &d, &status);
    if (strcmp(d.text, cases[i].errors) != 0)
      print_message("%s", cases[i].text);
    assert_string_equal(d.text, cases[i].errors);
    assert_int_equal(status, NSR_E_SYNTAX);
  }
}

/* Line endings of other systems, and a last line without one. */
static void test_line_ends(void **state) {
  static const char text[] = ".isa tile64\r\n.engine sp\r\n nop\r\n frob";
  struct diags d;
  enum nsr_status status;
  (void)state;
  diags_of(false, text, strlen(text), &d, &status);
  assert_string_equal(d.text, "4:2: unknown instruction 'frob'\n");
}

/* NUL bytes are bytes like any other. */
static void test_nul(void **state) {
  static const char text[] = ".isa tile64\n.engine sp\n\0\n nop \0\n";
  struct diags d;
  enum nsr_status status;
  (void)state;
  diags_of(false, text, sizeof text - 1, &d, &status);
  assert_string_equal(d.text,
                      "3:1: expected a label, a directive or an instruction, "
                      "found byte 0x00\n"
                      "4:6: expected ?wait, ^update or the end of the line, "
                      "found byte 0x00\n");
}

static void repeated(const char *head, const char *line, unsigned n,
                     struct diags *d, enum nsr_status *status) {
  size_t size = strlen(head) + n * strlen(line), at = strlen(head);
  char *text = malloc(size + 1);
  assert_non_null(text);
  strcpy(text, head);
  for (unsigned i = 0; i < n; i++, at += strlen(line))
    strcpy(text + at, line);
  diags_of(false, text, size, d, status);
  free(text);
}

/* Errors without end come to an end. */
static void test_too_many_errors(void **state) {
  struct diags d;
  enum nsr_status status;
  (void)state;
  repeated(".isa tile64\n", "frob\n", 5000, &d, &status);
  assert_int_equal(status, NSR_E_SYNTAX);
  assert_int_equal(d.errors, 1001);
  repeated(".isa tile64\n.engine sp\n", "br nowhere\n", 5000, &d, &status);
  assert_int_equal(status, NSR_E_SYNTAX);
  assert_int_equal(d.errors, 1001);
}

/* Small texts that stand for unbounded work are refused, soon. */
static void test_bombs(void **state) {
  static const char *const bombs[][2] = {
      {".macro a x\n a \\x\\x\n.end\n a 123456789\n",
       "a line of more than 1048576 bytes after substitution"},
      {".macro a\n a\n a\n.end\n a\n", "too many errors"},
      {".const A "
       "((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((("
       "(((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((("
       "\n",
       "parentheses nested too deeply"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof bombs / sizeof *bombs; i++) {
    char text[512];
    struct diags d;
    enum nsr_status status;
    snprintf(text, sizeof text, ".isa tile64\n.engine sp\n%s", bombs[i][0]);
    diags_of(false, text, strlen(text), &d, &status);
    assert_int_equal(status, NSR_E_SYNTAX);
    if (i != 1) /* its story is longer than what is kept */
      assert_non_null(strstr(d.text, bombs[i][1]));
    assert_true(i != 1 || d.errors == 1001);
  }
}

/* Long lines count for more than one, so that this ends soon, too. */
static void test_repeat_bomb(void **state) {
  static char text[200000];
  struct diags d;
  enum nsr_status status;
  (void)state;
  strcpy(text, ".isa tile64\n.engine sp\n.repeat 16777216\n#");
  size_t n = strlen(text);
  memset(text + n, ' ', 100000);
  strcpy(text + n + 100000, "\n.end\n");
  diags_of(false, text, strlen(text), &d, &status);
  assert_int_equal(status, NSR_E_SYNTAX);
  assert_string_equal(
      d.text, "4:1: macros and repeats make more than 16777216 lines\n");
}

/* A correct text with some bytes changed, removed or doubled: a kernel or
 * errors, and never one without the other. */
static void test_damaged(void **state) {
  static const char good[] =
      ".isa tile64\n.kernel \"d\"\n.queue q0 sp none\n.const D 4\n"
      ".tensor x dram f32 [8, D] at 0 input words 1.0, -2, 0x10\n"
      ".tensor t sbuf f32 [8, D] at 0:8, 64 scratch\n"
      ".macro m A, B\n mov \\A, \\B\n.end\n.engine sp\n"
      ".repeat 2, I\nl\\I: m r1, I*(D+1)\n.end\n"
      "loop: dma q0, t[D*4], x+r3{8*(D*4)}[D*4]:f32 ?s1>=r2 ^s2+=4\n"
      " br.lt r1, 4, loop !reloc\n jump r1, loop, @2\n sync\n halt\n"
      ".engine act\n act t[D*4], t[D*4] func=exp scale=1.5 bias=0f7fc00000\n"
      ".section \".s\" type=1 flags=3\n.bytes \"AAEC\"\n.hex \"00ff\"\n";
  struct prng r = prng_seed("asm_errors damaged", 1);
  struct diags d;
  enum nsr_status status;
  (void)state;
  diags_of(false, good, strlen(good), &d, &status);
  assert_string_equal(d.text, "");
  for (int i = 0; i < 3000; i++) {
    char text[2 * sizeof good];
    size_t n = strlen(good);
    memcpy(text, good, n);
    for (int64_t k = prng_in(&r, 1, 4); k > 0; k--) {
      size_t at = (size_t)prng_in(&r, 0, (int64_t)n - 1);
      size_t len = (size_t)prng_in(&r, 0, (int64_t)(n - at) / 8);
      if (prng_in(&r, 0, 2) == 0) { /* cut */
        memmove(text + at, text + at + len, n - at - len);
        n -= len;
      } else if (n + len < sizeof text) { /* double */
        memmove(text + at + len, text + at, n - at);
        n += len;
      }
      text[prng_in(&r, 0, (int64_t)n - 1)] =
          (char)(prng_in(&r, 0, 1) ? prng_next(&r)
                                   : (uint64_t)good[prng_in(&r, 0, 400)]);
    }
    diags_of(false, text, n, &d, &status);
    assert_true(status == NSR_OK ? d.errors == 0
                                 : status == NSR_E_SYNTAX && d.errors > 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_messages), cmocka_unit_test(test_line_ends),
      cmocka_unit_test(test_nul),      cmocka_unit_test(test_too_many_errors),
      cmocka_unit_test(test_bombs),    cmocka_unit_test(test_repeat_bomb),
      cmocka_unit_test(test_damaged)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
