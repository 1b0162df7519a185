/* test_deps.c - explicit waits, dependences, distances, lost order. */
#include "passes.h"

#include "dep/distance.h"
#include "dep/explicit.h"
#include "ir/islands.h"

#define HEAD                                                                   \
  ".isa tile64\n.queue q0 sp\n.queue q1 act\n.queue q2 sp\n"                   \
  ".tensor n dram i32 [1] at 0 input range 0 4\n"                              \
  ".tensor x dram f32 [64, 4] at 4096 input\n"                                 \
  ".tensor y dram f32 [64, 4] at 65536 output\n"                               \
  ".tensor a sbuf f32 [1, 4] at 0:1, 0 scratch\n"                              \
  ".tensor b sbuf f32 [1, 4] at 0:1, 16 scratch\n"                             \
  ".tensor r sbuf f32 [1, 12] at 0:1, 64 scratch\n"

/* ---- waits of the input */

static const struct pass_case waits[] = {
    {"the wait orders",
     HEAD ".engine act\n copy b[4*4], a[4*4] ?s0>=1\n sync\n halt\n"
          ".engine sp\n dma q0, a[4*4], x[4*4] ^s0\n sync\n halt\n",
     NSR_OK, "act[0] copy after sp[0] dma q0: must, sbuf 0..15\n"},
    {"the second update, reached by an addition",
     HEAD ".engine act\n copy b[4*4], a[4*4] ?s0>=4\n sync\n halt\n"
          ".engine sp\n dma q0, b[4*4], x[4*4] ^s0\n"
          " dma q0, a[4*4], x[4*4] ^s0+=3\n sync\n halt\n",
     NSR_OK,
     "act[0] copy after sp[1] dma q0: must, sbuf 0..15\n"
     "act[0] copy after sp[0] dma q0: must, sbuf 16..31\n"},
    {"a threshold inside the step",
     HEAD ".engine act\n copy b[4*4], a[4*4] ?s0>=2\n sync\n halt\n"
          ".engine sp\n dma q0, a[4*4], x[4*4] ^s0+=3\n sync\n halt\n",
     NSR_OK, "act[0] copy after sp[0] dma q0: must, sbuf 0..15\n"},
    {"greater than",
     HEAD ".engine act\n copy b[4*4], a[4*4] ?s0>0\n sync\n halt\n"
          ".engine sp\n dma q0, a[4*4], x[4*4] ^s0\n sync\n halt\n",
     NSR_OK, "act[0] copy after sp[0] dma q0: must, sbuf 0..15\n"},
    {"a barrier starts counts anew",
     HEAD ".engine act\n sync\n copy b[4*4], a[4*4] ?s0>=2\n sync\n halt\n"
          ".engine sp\n dma q0, a[4*4], x[4*4] ^s0\n sync\n"
          " dma q0, r[4*4], x[4*4] ^s0\n sync\n halt\n",
     NSR_E_HANG, "reaches 1 since the last barrier, 2 is waited for"},
    {"nobody updates", HEAD ".engine sp\n st a, r1 ?s0>=1\n sync\n halt\n",
     NSR_E_HANG, "reaches 0"},
    {"a cycle",
     HEAD ".engine act\n nop ?s1>=1 ^s0\n sync\n halt\n"
          ".engine sp\n nop ?s0>=1 ^s1\n sync\n halt\n",
     NSR_E_HANG, "cycle"},
    {"for itself", HEAD ".engine sp\n nop ?s0>=1 ^s0\n sync\n halt\n",
     NSR_E_HANG, "cycle"},
};

/* Ways out of a loop are not ways around it. */
static const struct pass_case ways[] = {
    {"work in front of the test, a barrier behind it",
     HEAD ".engine sp\nl: st a, r1\n br.ge r2, r1, d\n sync\n br l\n"
          "d: sync\n halt\n",
     NSR_OK, "sp[0] st after sp[0] st (carried): must, sbuf 0..3\n"},
    {"an update in front of the test, awaited behind it",
     HEAD ".engine sp\nl: st a, r1 ^s0\n br.ge r2, r1, d\n"
          " st a, r1 ?s0>=1\n sync\n br l\nd: sync\n halt\n",
     NSR_OK,
     "sp[0] st after sp[2] st (carried): must, sbuf 0..3\n"
     "sp[2] st after sp[0] st: must, sbuf 0..3\n"},
    {"the last region of a loop, awaited behind it",
     HEAD ".engine sp\nl: sync\n st a, r1 ^s0\n br.lt r2, r1, l\n"
          " st a, r1 ?s0>=1\n sync\n halt\n",
     NSR_OK,
     "sp[1] st after sp[1] st (carried): must, sbuf 0..3\n"
     "sp[3] st after sp[1] st: must, sbuf 0..3\n"},
    {"a loop that may not run, with a barrier in it, is no race",
     HEAD ".engine sp\n st a, r1\nl: br.ge r2, r1, d\n sync\n br l\n"
          "d: st a, r1\n sync\n halt\n",
     NSR_OK,
     "sp[4] st after sp[0] st: must, sbuf 0..3, unordered in the input\n"},
};

static void test_ways(void **state) {
  (void)state;
  CHECK_CASES(ways, NSR_STAGE_DEPS);
}

static void test_waits(void **state) {
  (void)state;
  CHECK_CASES(waits, NSR_STAGE_DEPS);
}

/* ---- races: theory-channels.md 2 */

static const struct pass_case races[] = {
    {"nothing orders",
     HEAD ".engine act\n copy b[4*4], a[4*4]\n sync\n halt\n"
          ".engine sp\n dma q0, a[4*4], x[4*4] ^s0\n sync\n halt\n",
     NSR_E_RACE, "act[0] (k.s:12)"},
    {"C2: a queue's retirement tells nothing about the pipeline",
     HEAD ".engine act\n copy b[4*4], a[4*4] ?s0>=1\n sync\n halt\n"
          ".engine sp\n st a, r1\n dma q0, r[4*4], x[4*4] ^s0\n sync\n halt\n",
     NSR_E_RACE, "race"},
    {"C2': an engine's earlier waits have held",
     HEAD ".engine act\n copy b[4*4], a[4*4] ?s0>=1\n sync\n halt\n"
          ".engine dve\n memset a[4*4] value=0 ^s1\n sync\n halt\n"
          ".engine sp\n nop ?s1>=1\n dma q0, r[4*4], x[4*4] ^s0\n sync\n"
          " halt\n",
     NSR_OK, "act[0] copy after dve[0] memset: must, sbuf 0..15\n"},
    {"C2'': nor about another queue",
     HEAD ".engine act\n copy b[4*4], a[4*4] ?s0>=1\n sync\n halt\n"
          ".engine sp\n dma q2, a[4*4], x[4*4]\n"
          " dma q0, r[4*4], x[4*4] ^s0\n sync\n halt\n",
     NSR_E_RACE, "race"},
    {"C4: a load may read before an earlier write lands",
     HEAD ".engine sp\n st a, r1\n ld r2, a\n sync\n halt\n", NSR_E_RACE,
     "its own semaphore"},
    {"C4, repaired",
     HEAD ".engine sp\n st a, r1 ^s0\n ld r2, a ?s0>=1\n sync\n halt\n", NSR_OK,
     "sp[1] ld after sp[0] st: must, sbuf 0..3\n"},
    {"C4': nothing is needed behind a load",
     HEAD ".engine sp\n ld r2, a\n st a, r1\n sync\n halt\n", NSR_OK,
     "sp[1] st after sp[0] ld: must, sbuf 0..3\n"},
    {"C4'': a load drains the pipeline, not the queues",
     HEAD ".engine sp\n dma q0, a[4*4], x[4*4]\n ld r2, b\n st a, r1\n sync\n"
          " halt\n",
     NSR_E_RACE, "race"},
    {"a queue overlaps its own transfers",
     HEAD ".engine sp\n dma q0, a[4*4], x[4*4]\n dma q0, a[4*4], x[4*4]\n"
          " sync\n halt\n",
     NSR_E_RACE, "its own semaphore"},
    {"a queue in order does not",
     ".isa tile64\n.queue q0 sp full\n.tensor x dram f32 [4] at 0 input\n"
     ".tensor a sbuf f32 [1, 4] at 0:1, 0 scratch\n"
     ".engine sp\n dma q0, a[4*4], x[4*4]\n dma q0, a[4*4], x[4*4]\n"
     " sync\n halt\n",
     NSR_OK, ""},
    {"even and odd columns",
     HEAD ".engine sp\n dma q0, a[2*8], x[2*4]\n dma q2, a+4[2*8], x[2*4]\n"
          " sync\n halt\n",
     NSR_OK, ""},
};

static void test_races(void **state) {
  (void)state;
  CHECK_CASES(races, NSR_STAGE_DEPS);
}

/* ---- private scopes */

static const struct pass_case privates[] = {
    {"an arm counts for itself, and is one step for others",
     HEAD ".engine act\n copy b[4*4], a[4*4] ?s0>=1\n sync\n halt\n"
          ".engine sp\n br.eq r1, 0, s\n st a, r1 ^s1\n st a, r1 ?s1>=1\n"
          "s: nop ^s0\n sync\n halt\n",
     NSR_OK,
     "sp[2] st after sp[1] st: must, sbuf 0..3\n"
     "act[0] copy after sp[2] st: must, sbuf 0..3\n"
     "act[0] copy after sp[1] st: must, sbuf 0..3\n"},
    {"a wait in an arm for the arm's own update",
     HEAD ".engine sp\n br.eq r1, 0, s\n st a, r1 ^s1\n st a, r1 ?s1>=1\n"
          "s: sync\n halt\n",
     NSR_OK, "sp[2] st after sp[1] st: must, sbuf 0..3\n"},
    {"updates in front of the arm are counted still",
     HEAD ".engine act\n copy b[4*4], a[4*4] ?s1>=1\n sync\n halt\n"
          ".engine sp\n st a, r1 ^s1\n br.eq r1, 0, s\n st r, r1 ^s1\n"
          "s: sync\n halt\n",
     NSR_OK, "act[0] copy after sp[0] st: must, sbuf 0..3\n"},
    {"a loop that overlaps its own iterations",
     HEAD ".engine sp\nl: st a, r1\n br.lt r1, 3, l\n sync\n halt\n",
     NSR_E_RACE, "its own semaphore"},
    {"two arms on contrary conditions are no race",
     HEAD ".engine sp\n br.eq r1, 0, s\n st a, r1\ns: br.ne r1, 0, t\n"
          " st a, r1\nt: sync\n halt\n",
     NSR_OK,
     "sp[3] st after sp[1] st: must, sbuf 0..3, unordered in the input\n"},
};

/* Races of a loop with itself need a second iteration, of a branch's two arms
 * a loop around them. */
static const struct pass_case rounds[] = {
    {"a loop of one iteration, tested at the bottom",
     HEAD ".engine sp\n mov r2, 0\nl: st a, r1\n add r2, r2, 1\n"
          " br.lt r2, 1, l\n sync\n halt\n",
     NSR_OK,
     "sp[1] st after sp[1] st (carried): must, sbuf 0..3, unordered in the "
     "input\n"},
    {"of two",
     HEAD ".engine sp\n mov r2, 0\nl: st a, r1\n add r2, r2, 1\n"
          " br.lt r2, 2, l\n sync\n halt\n",
     NSR_E_RACE,
     "in the first iteration of the loop at sp[1] (k.s:13) and "
     "the one behind it"},
    {"of one, tested on top",
     HEAD ".engine sp\n mov r2, 0\nl: br.ge r2, 1, d\n st a, r1\n"
          " add r2, r2, 1\n br l\nd: sync\n halt\n",
     NSR_OK,
     "sp[2] st after sp[2] st (carried): must, sbuf 0..3, unordered in the "
     "input\n"},
    {"what is in front of the test runs twice",
     HEAD ".engine sp\n mov r2, 0\nl: st a, r1\n br.ge r2, 1, d\n"
          " add r2, r2, 1\n br l\nd: sync\n halt\n",
     NSR_E_RACE, "race sp[1] sp[1]"},
    {"of one, through an arm that is known to be taken",
     HEAD ".engine sp\n mov r2, 0\n mov r3, 1\nl: br.eq r3, 0, s\n"
          " nop\ns: st a, r1\n add r2, r2, 1\n br.lt r2, 1, l\n sync\n"
          " halt\n",
     NSR_OK,
     "sp[4] st after sp[4] st (carried): must, sbuf 0..3, unordered in the "
     "input\n"},
    {"of one, in a loop of two",
     HEAD ".engine sp\n mov r3, 0\nk: mov r2, 0\nl: st a, r1\n"
          " add r2, r2, 1\n br.lt r2, 1, l\n add r3, r3, 1\n"
          " br.lt r3, 2, k\n sync\n halt\n",
     NSR_E_RACE, "the loop at sp[1] (k.s:13)"},
    {"the two arms of a branch",
     HEAD ".engine sp\n br.eq r1, 0, s\n st a, r1\n br t\ns: st a, r1\n"
          "t: sync\n halt\n",
     NSR_OK, "sp[1] st after sp[3] st: must, sbuf 0..3\n"},
    {"in a loop with a barrier",
     HEAD ".engine sp\nl: br.eq r1, 0, s\n st a, r1\n br t\ns: st a, r1\n"
          "t: sync\n br.lt r1, r2, l\n sync\n halt\n",
     NSR_OK,
     "sp[3] st after sp[1] st (carried): must, sbuf 0..3\n"
     "sp[3] st after sp[3] st (carried): must, sbuf 0..3\n"
     "sp[1] st after sp[3] st: must, sbuf 0..3\n"
     "sp[1] st after sp[1] st (carried): must, sbuf 0..3\n"},
    {"in a loop without one",
     HEAD ".engine sp\nl: br.eq r1, 0, s\n st a, r1\n br t\ns: st a, r1\n"
          "t: br.lt r1, r2, l\n sync\n halt\n",
     NSR_OK,
     "sp[3] st after sp[1] st (carried): must, sbuf 0..3, unordered in the "
     "input\n"
     "sp[3] st after sp[3] st (carried): must, sbuf 0..3, unordered in the "
     "input\n"
     "sp[1] st after sp[3] st: must, sbuf 0..3, unordered in the input\n"
     "sp[1] st after sp[1] st (carried): must, sbuf 0..3, unordered in the "
     "input\n"},
};

static void test_rounds(void **state) {
  (void)state;
  CHECK_CASES(rounds, NSR_STAGE_DEPS);
}

static void test_privates(void **state) {
  (void)state;
  CHECK_CASES(privates, NSR_STAGE_DEPS);
}

/* ---- distances */

#define LOOP(body)                                                             \
  HEAD ".engine sp\n mov r2, 0\n mov r5, 0\n"                                  \
       "l: br.ge r2, r1, d\n" body " add r2, r2, 1\n sync 1\n br l\n"          \
       "d: sync 2\n halt\n"

#define ROTATES(before, body)                                                  \
  HEAD ".engine sp\n mov r2, 0\n mov r5, 0\n" before                           \
       "l: br.ge r2, r1, d\n" body " add r2, r2, 1\n sync 1\n br l\n"          \
       "d: sync 2\n halt\n"

/* How an address comes back to a slot. */
static const struct pass_case rotations[] = {
    {"reset by a select",
     ROTATES("", " dma q0, r+r5[4*4], x[4*4]\n add r5, r5, 16\n lt r6, r5, "
                 "48\n sel r5, r6, r5, 0\n"),
     NSR_OK,
     "sp[3] dma q0 after sp[3] dma q0 (carried) but the last 2: may, sbuf "
     "64..111\n"},
    {"reset by a branch",
     ROTATES("", " dma q0, r+r5[4*4], x[4*4]\n add r5, r5, 16\n br.lt r5, 48, "
                 "s\n mov r5, 0\ns:"),
     NSR_OK,
     "sp[3] dma q0 after sp[3] dma q0 (carried) but the last 2: may, sbuf "
     "64..111\n"},
    {"reset where it is equal",
     ROTATES("", " dma q0, r+r5[4*4], x[4*4]\n add r5, r5, 16\n br.ne r5, 48, "
                 "s\n mov r5, 0\ns:"),
     NSR_OK,
     "sp[3] dma q0 after sp[3] dma q0 (carried) but the last 2: may, sbuf "
     "64..111\n"},
    {"downwards",
     ROTATES(" mov r5, 32\n", " dma q0, r+r5[4*4], x[4*4]\n sub r5, r5, 16\n "
                              "br.ge r5, 0, s\n mov r5, 32\ns:"),
     NSR_OK,
     "sp[4] dma q0 after sp[4] dma q0 (carried) but the last 2: may, sbuf "
     "64..111\n"},
    {"reset by a product",
     ROTATES("", " dma q0, r+r5[4*4], x[4*4]\n add r5, r5, 16\n lt r6, r5, "
                 "48\n mul r5, r5, r6\n"),
     NSR_OK,
     "sp[3] dma q0 after sp[3] dma q0 (carried) but the last 2: may, sbuf "
     "64..111\n"},
    {"a toggle by subtraction",
     ROTATES("", " dma q0, r+r5[4*4], x[4*4]\n sub r5, 16, r5\n"), NSR_OK,
     "sp[3] dma q0 after sp[3] dma q0 (carried) but the last 1: may, sbuf "
     "64..95\n"},
    {"two registers that change places",
     ROTATES(
         " mov r6, 16\n",
         " dma q0, r+r5[4*4], x[4*4]\n mov r7, r5\n mov r5, r6\n mov r6, r7\n"),
     NSR_OK,
     "sp[4] dma q0 after sp[4] dma q0 (carried) but the last 1: may, sbuf "
     "64..95\n"},
    {"three registers that move up",
     ROTATES(" mov r6, 16\n mov r7, 32\n",
             " dma q0, r+r5[4*4], x[4*4]\n mov r8, r5\n mov r5, r6\n mov r6, "
             "r7\n mov r7, r8\n"),
     NSR_OK,
     "sp[5] dma q0 after sp[5] dma q0 (carried) but the last 2: may, sbuf "
     "64..111\n"},
    {"change of places by xor",
     ROTATES(" mov r6, 16\n", " dma q0, r+r5[4*4], x[4*4]\n xor r5, r5, r6\n "
                              "xor r6, r5, r6\n xor r5, r5, r6\n"),
     NSR_OK,
     "sp[4] dma q0 after sp[4] dma q0 (carried) but the last 1: may, sbuf "
     "64..95\n"},
    {"a copy of the counter",
     ROTATES("", " mov r6, r2\n and r6, r6, 1\n mov r7, r6\n shl r7, r7, 4\n "
                 "dma q0, r+r7[4*4], x[4*4]\n"),
     NSR_OK,
     "sp[7] dma q0 after sp[7] dma q0 (carried) but the last 1: may, sbuf "
     "64..95\n"},
    {"the next one becomes the current one: never the same bytes",
     ROTATES(" mov r6, 16\n",
             " dma q0, y+r5[4*4], x[4*4]\n mov r5, r6\n add r6, r6, 16\n"),
     NSR_OK, ""},
    {"one that does not turn beside one that does",
     ROTATES(" mov r6, 0\n", " dma q0, r+r5[4*4], x[4*4]\n xor r5, r5, 16\n "
                             "add r6, r6, r6\n add r6, r6, 1\n"),
     NSR_OK,
     "sp[4] dma q0 after sp[4] dma q0 (carried) but the last 1: may, sbuf "
     "64..95\n"},
    {"a test that nobody knows",
     ROTATES("", " dma q0, r+r5[4*4], x[4*4]\n xor r5, r5, 16\n br.lt r9, 48, "
                 "s\n mov r5, 0\ns:"),
     NSR_OK, "sp[3] dma q0 after sp[3] dma q0 (carried): may, sbuf 64..111\n"},
    {"a body unrolled: each half has its slot",
     ROTATES("",
             " dma q0, r[4*4], x[4*4]\n sync 3\n dma q0, r+16[4*4], x[4*4]\n"),
     NSR_OK,
     "sp[3] dma q0 after sp[3] dma q0 (carried): must, sbuf 64..79\n"
     "sp[5] dma q0 after sp[5] dma q0 (carried): must, sbuf 80..95\n"}};

static const struct pass_case distances[] = {
    {"a fixed buffer", LOOP(" dma q0, a[4*4], x[4*4]\n"), NSR_OK,
     "sp[3] dma q0 after sp[3] dma q0 (carried): must, sbuf 0..15\n"},
    {"rotating by remainder",
     LOOP(" rem r3, r2, 3\n mul r3, r3, 16\n dma q0, r+r3[4*4], x[4*4]\n"),
     NSR_OK,
     "sp[5] dma q0 after sp[5] dma q0 (carried) but the last 2: may, "
     "sbuf 64..111\n"},
    {"rotating by mask",
     LOOP(" and r3, r2, 1\n shl r3, r3, 4\n dma q0, r+r3[4*4], x[4*4]\n"),
     NSR_OK,
     "sp[5] dma q0 after sp[5] dma q0 (carried) but the last 1: may, sbuf "
     "64..95\n"},
    {"rotating by a toggle",
     LOOP(" dma q0, r+r5[4*4], x[4*4]\n xor r5, r5, 16\n"), NSR_OK,
     "sp[3] dma q0 after sp[3] dma q0 (carried) but the last 1: may, sbuf "
     "64..95\n"},
    {"rotating by its own remainder",
     LOOP(" dma q0, r+r5[4*4], x[4*4]\n add r5, r5, 16\n rem r5, r5, 48\n"),
     NSR_OK,
     "sp[3] dma q0 after sp[3] dma q0 (carried) but the last 2: may, "
     "sbuf 64..111\n"},
    {"a step that is not a slot",
     LOOP(" rem r3, r2, 3\n mul r3, r3, 8\n dma q0, r+r3[4*4], x[4*4]\n"),
     NSR_OK, "sp[5] dma q0 after sp[5] dma q0 (carried): may, sbuf 64..95\n"},
    {"advancing: never the same bytes",
     LOOP(" dma q0, y+r5[4*4], x[4*4]\n add r5, r5, 16\n"), NSR_OK, ""},
    {"a byte, an element and its last byte, by one register",
     LOOP(" dma q0, r+r5:u8, x:u8\n sync 3\n dma q0, r+r5, x\n sync 4\n"
          " dma q0, y:u8, r+3+r5:u8\n add r5, r5, 8\n"),
     NSR_OK,
     "sp[5] dma q0 after sp[3] dma q0: may, sbuf 64..111\n"
     "sp[7] dma q0 after sp[5] dma q0: may, sbuf 64..111\n"
     "sp[7] dma q0 after sp[7] dma q0 (carried): must, dram 65536..65536\n"},
    {"advancing by half of what is written",
     LOOP(" dma q0, y+r5[4*4], x[4*4]\n add r5, r5, 8\n"), NSR_OK,
     "sp[3] dma q0 after sp[3] dma q0 (carried): may, dram 65536..66559\n"},
    {"advancing, read one tile behind",
     LOOP(" dma q0, y+16+r5[4*4], x[4*4] ^s0\n"
          " dma q0, r[4*4], y+r5[4*4] ?s0>=1 ^s0\n add r5, r5, 16\n"),
     NSR_OK,
     "sp[4] dma q0 after sp[3] dma q0 but the last 1: may, dram 65536..66559\n"
     "sp[4] dma q0 after sp[4] dma q0 (carried): must, sbuf 64..79\n"},
    {"a counter that is sometimes reset",
     LOOP(" br.lt r2, 2, s\n mov r5, 0\ns: dma q0, r+r5[4*4], x[4*4]\n"
          " xor r5, r5, 16\n"),
     NSR_OK, "sp[5] dma q0 after sp[5] dma q0 (carried): may, sbuf 64..111\n"},
    {"a start that is loaded",
     LOOP(" dma q0, r+r6[4*4], x[4*4]\n xor r6, r6, 16\n"), NSR_OK,
     "sp[3] dma q0 after sp[3] dma q0 (carried): may, sbuf 64..111\n"},
    {"prefetch into the other slot is not ordered, nor owed",
     LOOP(" and r3, r2, 1\n shl r3, r3, 4\n xor r4, r3, 16\n"
          " dma q0, r+r4[4*4], x[4*4]\n dma q2, y[4*4], r+r3[4*4] ^s2\n"
          " qnop q2 ?s2>=1\n"),
     NSR_OK,
     "sp[6] dma q0 after sp[7] dma q2 (carried): may, sbuf 64..95\n"
     "sp[6] dma q0 after sp[6] dma q0 (carried) but the last 1: may, sbuf "
     "64..95\n"
     "sp[7] dma q2 after sp[6] dma q0 but the last 1: may, sbuf 64..95\n"
     "sp[7] dma q2 after sp[7] dma q2 (carried): must, dram 65536..65551\n"},
    {"advancing by the outer loop, written again in the inner one",
     LOOP(" mov r7, 0\n sync 3\nm: br.ge r7, r1, e\n"
          " dma q0, y+r5[4*4], x[4*4]\n add r7, r7, 1\n sync 4\n br m\n"
          "e: add r5, r5, 16\n"),
     NSR_OK,
     "sp[6] dma q0 after sp[6] dma q0 (carried): may, dram 65536..66559\n"},
    {"prefetch in an inner loop, by the outer loop's slots",
     LOOP(" mov r7, 0\n sync 3\n and r3, r2, 1\n shl r3, r3, 4\n"
          " xor r4, r3, 16\nm: br.ge r7, r1, e\n"
          " dma q0, r+r4[4*4], x[4*4]\n dma q2, b[4*4], r+r3[4*4]\n"
          " add r7, r7, 1\n sync 4\n br m\ne:"),
     NSR_OK,
     "sp[9] dma q0 after sp[10] dma q2 (carried): may, sbuf 64..95\n"
     "sp[9] dma q0 after sp[9] dma q0 (carried): may, sbuf 64..95\n"
     "sp[10] dma q2 after sp[9] dma q0 but the last 1: may, sbuf 64..95, "
     "unordered in the input\n"
     "sp[10] dma q2 after sp[10] dma q2 (carried): must, sbuf 16..31\n"},
    {"the same slot in the same iteration, unordered",
     LOOP(" and r3, r2, 1\n shl r3, r3, 4\n dma q0, r+r3[4*4], x[4*4]\n"
          " dma q2, y[4*4], r+r3[4*4]\n"),
     NSR_E_RACE, "race"},
};

static void test_rotations(void **state) {
  (void)state;
  CHECK_CASES(rotations, NSR_STAGE_DEPS);
}

static void test_distances(void **state) {
  (void)state;
  CHECK_CASES(distances, NSR_STAGE_DEPS);
}

/* ---- in loops inside others: r5 is the slot, r7 the inner loop's index */

#define NEST(before, head, body, tail)                                         \
  HEAD ".engine sp\n mov r2, 0\n mov r5, 0\n sync 1\n"                         \
       "l: br.ge r2, r1, d\n mov r7, 0\n" before " sync 2\n"                   \
       "m: " head "br.ge r7, r1, e\n" body " add r7, r7, 1\n sync 3\n"         \
       " br m\ne: " tail "add r2, r2, 1\n sync 4\n br l\nd: sync 5\n halt\n"
#define SLOT " rem r3, r5, 3\n mul r3, r3, 16\n dma q0, r+r3[4*4], x[4*4]\n"
#define TURN " add r5, r5, 1\n"

static const struct pass_case nests[] = {
    {"a counter goes on from trip to trip", NEST("", "", SLOT TURN, ""), NSR_OK,
     "sp[9] dma q0 after sp[9] dma q0 (carried) but the last 2: may, sbuf "
     "64..111\n"},
    {"a toggle does",
     NEST("", "", " dma q0, r+r5[4*4], x[4*4]\n xor r5, r5, 16\n", ""), NSR_OK,
     "sp[7] dma q0 after sp[7] dma q0 (carried) but the last 1: may, sbuf "
     "64..95\n"},
    {"tested at the bottom",
     HEAD ".engine sp\n mov r2, 0\n mov r5, 0\n sync 1\n"
          "l: mov r7, 0\n sync 2\n"
          "m: " SLOT TURN " add r7, r7, 1\n sync 3\n br.lt r7, 2, m\n"
          " add r2, r2, 1\n sync 4\n br.lt r2, 2, l\n sync 5\n halt\n",
     NSR_OK,
     "sp[7] dma q0 after sp[7] dma q0 (carried) but the last 2: may, "
     "sbuf 64..111\n"},
    {"it is set back", NEST(" mov r5, 0\n", "", SLOT TURN, ""), NSR_OK,
     "sp[10] dma q0 after sp[10] dma q0 (carried) but the last 2, and all in "
     "front of loop 3: may, sbuf 64..111\n"},
    {"the loop outside advances it, too", NEST("", "", SLOT TURN, TURN), NSR_OK,
     "sp[9] dma q0 after sp[9] dma q0 (carried): may, sbuf 64..111\n"},
    {"it advances once more where the loop is left", NEST("", TURN, SLOT, ""),
     NSR_OK,
     "sp[10] dma q0 after sp[10] dma q0 (carried): may, sbuf 64..111\n"},
    {"it advances in some iterations",
     NEST("", "", SLOT " br.eq r7, 1, s\n" TURN "s: ", ""), NSR_OK,
     "sp[9] dma q0 after sp[9] dma q0 (carried): may, sbuf 64..111\n"},
    {"the slot turns with the loop outside, which may run it more often, or "
     "not",
     NEST("", "", SLOT, TURN), NSR_OK,
     "sp[9] dma q0 after sp[9] dma q0 (carried): may, sbuf 64..111\n"},
    {"used in some iterations",
     NEST("", "", " br.eq r7, 1, s\n" SLOT "s: " TURN, ""), NSR_OK,
     "sp[10] dma q0 after sp[10] dma q0 (carried) but the last 3 iterations of "
     "loop 3: may, sbuf 64..111\n"},
};

static void test_nests(void **state) {
  (void)state;
  CHECK_CASES(nests, NSR_STAGE_DEPS);
}

/* ---- what lies outside: all of DRAM, behind semaphores of others */

static const struct pass_case outside[] = {
    {"a wait for others, DRAM behind a barrier",
     HEAD ".engine act\n nop ?s200>=1\n sync\n sync\n halt\n"
          ".engine sp\n sync\n dma q0, a[4*4], x[4*4]\n sync\n halt\n",
     NSR_OK, "sp[1] dma q0 after act[0] nop: may, dram 4096..4111\n"},
    {"by a control instruction",
     HEAD ".engine act\n wait ?s200>=1\n sync\n sync\n halt\n"
          ".engine sp\n sync\n dma q0, a[4*4], x[4*4]\n sync\n halt\n",
     NSR_OK, "sp[1] dma q0 after act[0] wait: may, dram 4096..4111\n"},
    {"what its own engine does later is behind it",
     HEAD ".engine act\n wait ?s200>=1\n dma q1, a[4*4], x[4*4]\n sync\n"
          " halt\n",
     NSR_OK, "act[1] dma q1 after act[0] wait: may, dram 4096..4111\n"},
    {"DRAM, then an update for others",
     HEAD
     ".engine sp\n dma q0, y[4*4], a[4*4]\n sync\n nop ^s201\n sync\n halt\n",
     NSR_OK, "sp[2] nop after sp[0] dma q0: may, dram 65536..65551\n"},
    {"a barrier with another core",
     HEAD ".engine pool\n cbar\n sync\n sync\n halt\n"
          ".engine sp\n dma q0, y[4*4], a[4*4]\n sync\n"
          " dma q0, a[4*4], x[4*4]\n sync\n halt\n",
     NSR_OK,
     "sp[0] dma q0 after pool[0] cbar but the last 1: may, dram 65536..65551, "
     "unordered in the input\n"
     "sp[2] dma q0 after sp[0] dma q0: must, sbuf 0..15\n"
     "sp[2] dma q0 after pool[0] cbar: may, dram 4096..4111\n"},
    {"on chip nobody looks in",
     HEAD ".engine act\n nop ?s200>=1\n sync\n st a, r1\n sync\n halt\n",
     NSR_OK, ""},
    {"several places of one region: its barriers stay",
     HEAD ".engine act\nl: sync 1\n br.eq r2, 1, e\n dma q1, a[4*4], x[4*4]\n"
          "e: br.lt r2, r1, l\n sync 2\n halt\n"
          ".engine sp\nl: sync 1\n wait ?s200>=1\n br.lt r2, r1, l\n sync 2\n"
          " halt\n",
     NSR_OK, ""},
    {"what waits for others in the same place as what others may wait for",
     HEAD ".engine act\nl: sync 1\n dma q1, a[4*4], x[4*4]\n"
          " br.lt r2, r1, l\n sync 2\n halt\n"
          ".engine sp\nl: sync 1\n wait ?s200>=1\n br.lt r2, r1, l\n sync 2\n"
          " halt\n",
     NSR_OK,
     "act[1] dma q1 after sp[1] wait (carried): may, dram 4096..4111\n"
     "act[1] dma q1 after act[1] dma q1 (carried): must, sbuf 0..15\n"
     "sp[1] wait after act[1] dma q1 but the last 1: may, dram 4096..4111, "
     "unordered in the input\n"
     "sp[1] wait after sp[1] wait (carried): may, dram "
     "0..9223372036854775806\n"},
};

static void test_outside(void **state) {
  (void)state;
  CHECK_CASES(outside, NSR_STAGE_DEPS);
}

/* ---- loads of one word, and who writes it */

#define LOOPS(write)                                                           \
  HEAD ".engine act\n ld r1, n ^s0\n mov r2, 0\nl: br.ge r2, r1, d\n"          \
       " ld r3, a\n add r2, r2, 1\n br l\nd: mov r2, 0\n sync\n sync\n halt\n" \
       ".engine sp\n nop ?s0>=1\n" write " sync\n sync\n halt\n"               \
       ".engine pool\n ld r1, n ?s1>=1\n mov r2, 0\nl: br.ge r2, r1, d\n"      \
       " ld r3, a\n add r2, r2, 1\n br l\nd: mov r2, 0\n sync\n st a, r3\n"    \
       " sync\n halt\n"

static const struct pass_case words[] = {
    {"nobody: the loops are one", LOOPS(" nop ^s1\n"), NSR_OK,
     "act[3] ld counts in s0, scope 2\n"
     "pool r0 starts at 0, +1 per entry of scope 2\n"
     "pool[8] st waits s0 >= r0 for act[3] ld\n"},
    {"between them: each engine has its own", LOOPS(" st n, r5 ^s1\n"), NSR_OK,
     "act[0] ld counts in s0, scope 0\n"
     "marker of act in front of act[6] counts in s0, scope 0\n"
     "sp[1] st counts in s1, scope 0\n"
     "sp[1] st waits s0 >= 1 for act[0] ld\n"
     "pool[0] ld waits s1 >= 1 for sp[1] st\n"
     "pool[8] st waits s0 >= 2 for marker of act in front of act[6]\n"},
};

static void test_words(void **state) {
  (void)state;
  CHECK_CASES(words, NSR_STAGE_PLAN);
}

/* ---- hidden state of an engine, where its pipeline does not keep it */

#define PE(order, body)                                                        \
  HEAD ".tensor p psum f32 [4, 4] at 0:4, 0 scratch\n.order pe " order         \
       "\n.engine pe\n" body "\n halt\n"

static const struct pass_case hidden[] = {
    {"weights, then a product: kept in order",
     PE("hidden", " ldw a[4*4]\n mm p[4*4], b[4*4]\n sync"), NSR_OK, ""},
    {"not kept, and nothing orders",
     PE("none", " ldw a[4*4]\n mm p[4*4], b[4*4]\n sync"), NSR_E_RACE,
     "hidden state"},
    {"not kept, a wait orders",
     PE("none", " ldw a[4*4] ^s0\n mm p[4*4], b[4*4] ?s0>=1\n sync"), NSR_OK,
     "pe[1] mm after pe[0] ldw: must, hidden state 0..0\n"},
    {"not kept, a barrier orders",
     PE("none", " ldw a[4*4]\n sync\n mm p[4*4], b[4*4]\n sync"), NSR_OK,
     "pe[2] mm after pe[0] ldw: must, hidden state 0..0\n"},
    {"all is kept", PE("full", " ldw a[4*4]\n mm p[4*4], b[4*4]\n sync"),
     NSR_OK, ""},
    {"sums are no hidden state, but kept like it",
     PE("hidden", " mm p[4*4], b[4*4]\n mm p[4*4] !acc, b[4*4]\n sync"), NSR_OK,
     ""},
    {"sums that are not kept",
     PE("none", " mm p[4*4], b[4*4]\n mm p[4*4] !acc, b[4*4]\n sync"),
     NSR_E_RACE, "psum"},
};

static void test_hidden(void **state) {
  (void)state;
  CHECK_CASES(hidden, NSR_STAGE_DEPS);
}

/* ---- keys */

/* Patterns are compared byte by byte: nothing of what lay in memory before may
 * show. */
static void test_patterns(void **state) {
  (void)state;
  const char *text = HEAD ".engine act\n copy b[2*4], a[2*8]\n sync\n halt\n"
                          ".engine sp\n dma q0, b[4*4], x[4*4]\n"
                          " sync\n halt\n";
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_program p;
  struct nsr_tree t;
  struct nsr_islands islands;
  struct nsr_distances d;
  uint32_t *target, patterns = 0;
  assert_int_equal(nsr_program_build(ctx, assemble(ctx, text), &p), NSR_OK);
  assert_int_equal(nsr_tree_build(ctx, &p, &(struct nsr_key_loads){0}, &t),
                   NSR_OK);
  assert_int_equal(nsr_islands_find(ctx, &t, NULL, 0, true, &islands), NSR_OK);
  assert_int_equal(nsr_explicit_map(ctx, &t, &islands, false, &target), NSR_OK);
  assert_int_equal(nsr_tree_linearize(ctx, &t, &islands, &target), NSR_OK);
  assert_int_equal(nsr_distances_init(ctx, &t, &d), NSR_OK);
  for (uint32_t w = 0; w < t.nworks; w++) {
    const struct nsr_stream *s = p.stream[t.works[w].engine];
    struct nsr_insn insn[2];
    struct nsr_pattern of[2];
    for (int i = 0; i < 2; i++) {
      memset(&insn[i], i ? 0x55 : 0xaa, sizeof insn[i]);
      assert_int_equal(
          nsr_stream_decode(ctx, p.k, s, t.works[w].insn, &insn[i]), NSR_OK);
    }
    for (int o = 0; o < insn[0].noperands; o++, patterns++) {
      memset(of, 0xcc, sizeof of);
      for (int i = 0; i < 2; i++)
        nsr_pattern_of(&d, w, &insn[i], o, &of[i]);
      assert_memory_equal(&of[0], &of[1], sizeof of[0]);
    }
  }
  assert_int_equal(patterns, 4);
  nsr_ctx_free(ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_hidden),    cmocka_unit_test(test_words),
      cmocka_unit_test(test_outside),   cmocka_unit_test(test_waits),
      cmocka_unit_test(test_ways),      cmocka_unit_test(test_races),
      cmocka_unit_test(test_privates),  cmocka_unit_test(test_rounds),
      cmocka_unit_test(test_distances), cmocka_unit_test(test_rotations),
      cmocka_unit_test(test_nests),     cmocka_unit_test(test_patterns),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
