/* What a retirement tells, both ways: each order that a channel does not give
 * is a race without a wait and none with it. (a, b, c are act, dve, pool; qa
 * and qb are fed by act.) */
#include "judge_case.h"

#define HEAD                                                                   \
  ".isa tile64\n.kernel \"t\"\n.queue qa act\n.queue qb act\n"                 \
  ".tensor in dram i32 [4, 4] at 0 input\n"                                    \
  ".tensor x sbuf i32 [4, 4] at 0:4, 0 scratch range 0 3\n"                    \
  ".tensor y sbuf i32 [4, 4] at 0:4, 64 scratch\n"                             \
  ".tensor z sbuf i32 [4, 4] at 0:4, 128 scratch\n"                            \
  ".tensor c sbuf i32 [4, 4] at 0:4, 192 scratch range 0 3\n"
#define DMA(q, t) " dma " q ", " t "[4*4], in{4*16}[4*4]"
#define SET(t) " memset " t "[4*4] value=1"
#define END " sync 1\n halt\n"
#define A(body) ".engine act\n" body END
#define B(body) ".engine dve\n" body END
#define C(body) ".engine pool\n" body END
#define READ_X " copy z[4*4], x[4*4]"

#define RACE NSR_INPUT_BROKEN, NSR_FAULT_RACE
#define FINE NSR_EQUAL, NSR_FAULT_NONE

static const struct judge_case channels[] = {
    {"C1: one semaphore of two channels", RACE, "no order",
     HEAD A(SET("x") " ^s0\n" DMA("qa", "y") " ^s0\n") B(READ_X " ?s0>=1\n"),
     NULL},
    {"C1: one each", FINE, NULL,
     HEAD A(SET("x") " ^s0\n" DMA("qa", "y") " ^s1\n") B(READ_X " ?s0>=1\n"),
     NULL},
    {"C2: a queue says nothing about the pipe", RACE, NULL,
     HEAD A(SET("x") "\n" DMA("qa", "y") " ^s1\n") B(READ_X " ?s1>=1\n"), NULL},
    {"C2: nor the pipe about a queue", RACE, NULL,
     HEAD A(DMA("qa", "x") "\n" SET("y") " ^s1\n") B(READ_X " ?s1>=1\n"), NULL},
    {"C2: wait for the right one", FINE, NULL,
     HEAD A(DMA("qa", "x") " ^s0\n" SET("y") " ^s1\n") B(READ_X " ?s0>=1\n"),
     NULL},
    {"C2: a later one of the same channel is enough", FINE, NULL,
     HEAD A(DMA("qa", "x") "\n" DMA("qa", "y") " ^s1\n") B(READ_X " ?s1>=1\n"),
     NULL},
    {"C2: an earlier one is not", RACE, NULL,
     HEAD A(DMA("qa", "y") " ^s1\n" DMA("qa", "x") "\n") B(READ_X " ?s1>=1\n"),
     NULL},
    {"C2': what the engine had waited for holds", FINE, NULL,
     HEAD A(" nop ?s0>=1\n" DMA("qa", "y") " ^s1\n") B(READ_X " ?s1>=1\n")
         C(SET("x") " ^s0\n"),
     NULL},
    {"C2': not what it waited for later", RACE, NULL,
     HEAD A(DMA("qa", "y") " ^s1\n nop ?s0>=1\n") B(READ_X " ?s1>=1\n")
         C(SET("x") " ^s0\n"),
     NULL},
    {"C2\": two queues of one engine", RACE, NULL,
     HEAD A(DMA("qa", "x") "\n" DMA("qb", "y") " ^s1\n") B(READ_X " ?s1>=1\n"),
     NULL},
    {"C2\": the other one", FINE, NULL,
     HEAD A(DMA("qa", "x") " ^s0\n" DMA("qb", "y") " ^s1\n")
         B(READ_X " ?s0>=1\n"),
     NULL},
    {"C3: a pipe's no-op is no marker for a queue", RACE, NULL,
     HEAD A(" mov r1, 0\nl:\n" DMA(
         "qa", "x") " ?s2>=r1 ^s2\n"
                    " add r1, r1, 1\n br.lt r1, 3, l\n nop ^s1\n")
         B(READ_X " ?s1>=1\n"),
     NULL},
    {"C3: qnop is", FINE, NULL,
     HEAD A(" mov r1, 0\nl:\n" DMA(
         "qa", "x") " ?s2>=r1 ^s2\n"
                    " add r1, r1, 1\n br.lt r1, 3, l\n qnop qa ^s1\n")
         B(READ_X " ?s1>=1\n"),
     NULL},
    {"C3: a relay is", FINE, NULL,
     HEAD A(" mov r1, 0\nl:\n" DMA(
         "qa", "x") " ?s2>=r1 ^s2\n"
                    " add r1, r1, 1\n br.lt r1, 3, l\n nop ?s2>=3\n nop ^s1\n")
         B(READ_X " ?s1>=1\n"),
     NULL},
    {"C4: a load behind a write of its own pipe", RACE, NULL,
     HEAD A(SET("c") "\n ld r1, c\n"), NULL},
    {"C4: with a wait", FINE, NULL, HEAD A(SET("c") " ^s0\n ld r1, c ?s0>=1\n"),
     NULL},
    {"C4: a load behind a write of its own queue", RACE, NULL,
     HEAD A(DMA("qa", "c") "\n ld r1, c\n"), NULL},
    {"C4': nothing is needed behind a load", FINE, NULL,
     HEAD A(" ld r1, c\n" SET("c") " ^s0\n" DMA("qa", "c") " ?s0>=1\n"), NULL},
    {"C4': by another engine it is", RACE, NULL,
     HEAD A(" ld r1, c\n") B(SET("c") "\n"), NULL},
    {"C4': and the load may say so", FINE, NULL,
     HEAD A(" ld r1, c ^s0\n") B(SET("c") " ?s0>=1\n"), NULL},
    {"C4': or anything the engine issues later", FINE, NULL,
     HEAD A(" ld r1, c\n" DMA("qa", "y") " ^s0\n") B(SET("c") " ?s0>=1\n"),
     NULL},
    {"C4\": a load drains the pipe", FINE, NULL,
     HEAD A(SET("x") "\n ld r1, c\n" DMA("qa", "x") "\n"), NULL},
    {"C4\": not the queues", RACE, NULL,
     HEAD A(DMA("qa", "x") "\n ld r1, c\n" READ_X "\n"), NULL},
    {"C4\": with a wait", FINE, NULL,
     HEAD A(DMA("qa", "x") " ^s0\n ld r1, c\n" READ_X " ?s0>=1\n"), NULL},
};

static const struct judge_case barriers[] = {
    {"a barrier orders all", FINE, NULL,
     HEAD A(DMA("qa", "x") "\n" SET("y") "\n sync 7\n")
         B(" sync 7\n" READ_X "\n"),
     NULL},
    {"what comes behind it on either side is not", RACE, NULL,
     HEAD A(" sync 7\n" DMA("qa", "x") "\n") B(" sync 7\n" READ_X "\n"), NULL},
    {"counts start anew behind it", RACE, NULL,
     HEAD A(SET("y") " ^s0\n sync 7\n" SET("y") " ^s0\n" SET(
         "x") " ?s0>=1 ^s0\n") B(" sync 7\n" READ_X " ?s0>=1\n"),
     NULL},
    {"and are met there", FINE, NULL,
     HEAD A(SET("y") " ^s0\n sync 7\n" SET("y") " ^s0\n" SET(
         "x") " ?s0>=1 ^s0\n") B(" sync 7\n" READ_X " ?s0>=2\n"),
     NULL},
    {"one semaphore, one channel in each region", FINE, NULL,
     HEAD A(SET("x") " ^s0\n sync 7\n" SET("y") " ?s0>=1\n")
         B(READ_X " ?s0>=1\n sync 7\n" SET("x") " ^s0\n"),
     NULL},
};

/* A queue and a pipeline that promise more, or less. */
#define ORDER(what) ".order act " what "\n"
#define QUEUE(what)                                                            \
  ".isa tile64\n.kernel \"t\"\n.queue qa act " what "\n"                       \
  ".tensor in dram i32 [4, 4] at 0 input\n"                                    \
  ".tensor x sbuf i32 [4, 4] at 0:4, 0 scratch\n"

static const struct judge_case orders[] = {
    {"hidden: WAW in a pipe", RACE, NULL,
     HEAD ORDER("hidden") A(SET("x") "\n" SET("x") "\n"), NULL},
    {"none", RACE, NULL, HEAD ORDER("none") A(SET("x") "\n" SET("x") "\n"),
     NULL},
    {"full", FINE, NULL, HEAD ORDER("full") A(SET("x") "\n" SET("x") "\n"),
     NULL},
    {"full: RAW", FINE, NULL,
     HEAD ORDER("full") A(SET("x") "\n copy z[4*4], x[4*4]\n"), NULL},
    {"full: WAR", FINE, NULL,
     HEAD ORDER("full") A(" copy z[4*4], x[4*4]\n" SET("x") "\n"), NULL},
    {"full: a load", FINE, NULL, HEAD ORDER("full") A(SET("c") "\n ld r1, c\n"),
     NULL},
    {"full: not against its queue", RACE, NULL,
     HEAD ORDER("full") A(SET("x") "\n" DMA("qa", "x") "\n"), NULL},
    {"full: others still wait", RACE, NULL,
     HEAD ORDER("full") A(SET("x") "\n" SET("x") " ^s0\n" SET("x") "\n")
         B(READ_X " ?s0>=1\n"),
     NULL},
    {"hidden: WAW with a wait", FINE, NULL,
     HEAD ORDER("hidden") A(SET("x") " ^s0\n" SET("x") " ?s0>=1\n"), NULL},
    {"hidden: a plain write of PSUM is none", RACE, NULL,
     HEAD A(" memset psum{0:4}[4*4]:i32 value=1\n"
            " memset psum{0:4}[4*4]:i32 value=2\n"),
     NULL},
    {"a queue: WAW", RACE, NULL,
     QUEUE("none") A(DMA("qa", "x") "\n" DMA("qa", "x") "\n"), NULL},
    {"a queue in order", FINE, NULL,
     QUEUE("full") A(DMA("qa", "x") "\n" DMA("qa", "x") "\n"), NULL},
    {"reads do not conflict", FINE, NULL,
     HEAD A(" copy z[4*4], x[4*4]\n") B(" copy y[4*4], x[4*4]\n"), NULL},
    {"nor do neighbours", FINE, NULL,
     HEAD A(" memset x[2*4] value=1\n") B(" memset x+8[2*4] value=1\n"), NULL},
    {"nor other partitions", FINE, NULL,
     HEAD A(" memset x{0:2}[4*4] value=1\n") B(" memset x{2:2}[4*4] "
                                               "value=1\n"),
     NULL},
    {"one byte is enough", RACE, "partitions [2,3) bytes [4,8)",
     HEAD A(" memset x{0:3}[2*4] value=1\n") B(" memset x+4{2:2}[2*4] "
                                               "value=1\n"),
     NULL},
    {"strides that pass each other", FINE, NULL,
     HEAD A(" memset x[2*8] value=1\n") B(" memset x+4[2*8] value=1\n"), NULL},
    {"strides that meet", RACE, NULL,
     HEAD A(" memset x[2*8] value=1\n") B(" memset x[2*4] value=1\n"), NULL},
};

static void test_channels(void **state) {
  (void)state;
  JUDGE_CASES(channels);
}

static void test_barriers(void **state) {
  (void)state;
  JUDGE_CASES(barriers);
}

static void test_orders(void **state) {
  (void)state;
  JUDGE_CASES(orders);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_channels),
                                     cmocka_unit_test(test_barriers),
                                     cmocka_unit_test(test_orders)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
