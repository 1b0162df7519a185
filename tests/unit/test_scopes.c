/* test_scopes.c - control flow to structure: cfg, scopes, common tree. */
#include "passes.h"

#define HEAD                                                                   \
  ".isa tile64\n.queue q0 sp\n"                                                \
  ".tensor n dram i32 [1] at 0 input range 0 4\n"                              \
  ".tensor a sbuf f32 [1, 4] at 0:1, 0 scratch\n"

/* One engine is enough to see its structure. */
static const struct pass_case single[] = {
    {"straight", HEAD ".engine sp\n st a, r1\n sync\n halt\n", NSR_OK,
     "program 0\n  sp[0] st\n  sync 0\n"},
    {"top test",
     HEAD ".engine sp\n mov r1, 0\nl: br.ge r1, 3, d\n sync\n add r1, r1, 1\n"
          " st a, r1\n br l\nd: sync\n halt\n",
     NSR_OK,
     "program 0\n  loop 1\n    arm 2\n      sync 0\n      sp[4] st\n"
     "  sync 1\n"},
    {"bottom test",
     HEAD ".engine sp\n mov r1, 0\nl: st a, r1\n sync\n add r1, r1, 1\n"
          " br.lt r1, 3, l\n sync\n halt\n",
     NSR_OK, "program 0\n  loop 1\n    sp[1] st\n    sync 0\n  sync 1\n"},
    {"one-instruction loop at instruction 0",
     HEAD ".engine sp\nl: sync\n br.lt r1, 3, l\n sync\n halt\n", NSR_OK,
     "program 0\n  loop 1\n    sync 0\n  sync 1\n"},
    {"break",
     HEAD ".engine sp\nl: br.ge r1, 3, d\n sync\n br.eq r1, 2, d\n"
          " st a, r1\n sync\n br l\nd: sync\n halt\n",
     NSR_OK,
     "program 0\n  loop 1\n    arm 2\n      sync 0\n      arm 3\n"
     "        sp[3] st\n        sync 1\n  sync 2\n"},
    {"continue: two ways back to one head",
     HEAD ".engine sp\nl: br.ge r1, 3, d\n sync\n add r1, r1, 1\n"
          " br.eq r1, 2, l\n st a, r1\n sync\n br l\nd: sync\n halt\n",
     NSR_OK,
     "program 0\n  loop 1\n    arm 2\n      sync 0\n      arm 3\n"
     "        sp[4] st\n        sync 1\n  sync 2\n"},
    {"conditional, arm behind a taken branch",
     HEAD ".engine sp\n br.eq r1, 1, t\nj: sync\n halt\n"
          "t: st a, r1\n sync 7\n br j\n",
     NSR_OK, "program 0\n  arm 1\n    sp[3] st\n    sync 7\n  sync 0\n"},
    {"two conditions, one arm",
     HEAD ".engine sp\n br.eq r1, 1, s\n br.eq r2, 1, s\n st a, r1\n sync\n"
          "s: sync\n halt\n",
     NSR_OK,
     "program 0\n  arm 1\n    arm 2\n      sp[2] st\n      sync 0\n  sync 1\n"},
    {"arm that is a loop",
     HEAD ".engine sp\n br.eq r1, 1, s\nl: sync\n st a, r1\n br.lt r1, 3, l\n"
          "s: sync\n halt\n",
     NSR_OK,
     "program 0\n  arm 1\n    loop 2\n      sync 0\n      sp[2] st\n"
     "  sync 1\n"},
    {"control without work is not in the tree",
     HEAD ".engine sp\n mov r1, 0\nl: add r1, r1, 1\n br.lt r1, 3, l\n"
          " br.eq r1, 1, s\n mov r2, 1\ns: sync\n halt\n",
     NSR_OK, "program 0\n  sync 0\n"},
    {"three deep",
     HEAD ".engine sp\na1: br.ge r1, 2, d1\n sync\na2: br.ge r2, 2, d2\n sync\n"
          "a3: br.ge r3, 2, d3\n st a, r1\n sync\n br a3\nd3: br a2\n"
          "d2: br a1\nd1: sync\n halt\n",
     NSR_OK,
     "program 0\n  loop 1\n    arm 2\n      sync 0\n      loop 3\n"
     "        arm 4\n          sync 1\n          loop 5\n            arm 6\n"
     "              sp[5] st\n              sync 2\n  sync 3\n"},
    {"both arms",
     HEAD ".engine sp\n br.eq r1, 1, t\n st a, r1\n sync 1\n br j\n"
          "t: st a, r2\n sync 2\nj: sync 3\n halt\n",
     NSR_OK,
     "program 0\n  arm 1\n    sp[1] st\n    sync 1\n  arm 2\n    sp[4] st\n"
     "    sync 2\n  sync 3\n"},
    {"both arms, the later one laid out first",
     HEAD ".engine sp\n br.eq r1, 1, t\n st a, r1\n sync 2\n br j\n"
          "t: st a, r2\n sync 1\nj: sync 3\n halt\n",
     NSR_OK,
     "program 0\n  arm 1\n    sp[4] st\n    sync 1\n  arm 2\n    sp[1] st\n"
     "    sync 2\n  sync 3\n"},
    {"no exit", HEAD ".engine sp\n sync\nl: sync\n br l\n halt\n",
     NSR_E_REFUSED, "without an exit"},
    {"private loop: a marker behind it",
     HEAD ".engine sp\n mov r2, 1\nl: st a, r1\n dma q0, a, a\n"
          " br.lt r1, 3, l\n mov r2, 2\n sync\n halt\n"
          ".engine act\n sync\n halt\n",
     NSR_OK,
     "program 0\n  loop 1\n    sp[1] st\n    sp[2] dma q0\n"
     "  marker of sp in front of sp[4]\n"
     "  marker of q0 in front of sp[4]\n  sync 0\n"},
    {"private arms: markers behind both",
     HEAD ".engine sp\n br.eq r1, 1, t\n st a, r1\n br j\n"
          "t: dma q0, a, a\nj: sync 3\n halt\n"
          ".engine act\n sync 3\n halt\n",
     NSR_OK,
     "program 0\n  arm 1\n    sp[3] dma q0\n  arm 2\n    sp[1] st\n"
     "  marker of q0 in front of sp[4]\n  marker of sp in front of sp[4]\n"
     "  sync 3\n"},
    {"private rest of a body: the marker stands in the header",
     HEAD ".engine sp\nl: br.ge r1, 3, d\n sync\n add r1, r1, 1\n"
          " br.eq r1, 2, l\n st a, r1\n br l\nd: sync\n halt\n"
          ".engine act\nl: br.ge r1, 3, d\n sync\n br l\nd: sync\n halt\n",
     NSR_OK,
     "program 0\n  loop 1\n    marker of sp in front of sp[0]\n    arm 2\n"
     "      sync 0\n      arm 3\n        sp[4] st\n  sync 1\n"},
    {"private rest of a body that is left elsewhere: no place",
     HEAD ".engine sp\nl: sync\n br.eq r2, 1, l\n st a, r1\n"
          " br.lt r1, 3, l\n sync\n halt\n"
          ".engine act\nl: sync\n br.lt r1, 3, l\n sync\n halt\n",
     NSR_OK,
     "program 0\n  loop 1\n    sync 0\n    arm 2\n      sp[2] st\n"
     "    marker of sp in front of sp[-1]\n  sync 1\n"},
    {"nested private scopes share the outermost one's marker",
     HEAD ".engine sp\nl: br.eq r2, 1, s\n st a, r1\ns: add r1, r1, 1\n"
          " br.lt r1, 3, l\n mov r2, 1\n sync\n halt\n"
          ".engine act\n sync\n halt\n",
     NSR_OK,
     "program 0\n  loop 1\n    arm 2\n      sp[1] st\n"
     "  marker of sp in front of sp[4]\n  sync 0\n"},
    {"barrier passed by",
     HEAD ".engine sp\nl: br.eq r2, 1, s\n sync\ns: st a, r1\n"
          " br.lt r1, 3, l\n sync\n halt\n",
     NSR_OK,
     "program 0\n"
     "  loop 1\n"
     "    island 2\n"
     "      sp[2] st (island)\n"
     "      sync 0 (stays)\n"
     "  sync 1 (stays)\n"
     "island: the loop at sp[0] has a way through it that passes no barrier\n"},
    {"no exit barrier", HEAD ".engine sp\n sync\n st a, r1\n halt\n",
     NSR_E_REFUSED, "no exit barrier"},
    {"exit barrier in an arm only",
     HEAD ".engine sp\n br.eq r1, 1, s\n st a, r1\n sync\ns: halt\n",
     NSR_E_REFUSED, "no exit barrier"},
};

static void test_single(void **state) {
  (void)state;
  CHECK_CASES(single, NSR_STAGE_SCOPES);
}

static const struct pass_case several[] = {
    {"pairs by id",
     HEAD ".engine act\n sync 5\n st a, r1\n sync 6\n halt\n"
          ".engine sp\n dma q0, a[4*4], a[4*4]\n sync 5\n sync 6\n halt\n",
     NSR_OK, "program 0\n  sp[0] dma q0\n  sync 5\n  act[1] st\n  sync 6\n"},
    {"ids differ",
     HEAD ".engine act\n sync 5\n halt\n.engine sp\n sync 6\n halt\n",
     NSR_E_FAULT, "sp has barrier 6 at sp[0] where act has barrier 5"},
    {"one barrier too few",
     HEAD ".engine act\n sync 5\n sync 6\n halt\n"
          ".engine sp\n sync 5\n halt\n",
     NSR_E_FAULT, "sp has no further barrier where act has barrier 6"},
    {"a loop against a barrier",
     HEAD ".engine act\n sync 5\n sync 6\n halt\n"
          ".engine sp\nl: sync 5\n br.lt r1, 3, l\n sync 6\n halt\n",
     NSR_E_FAULT, "sp has a loop at sp[0] where act has barrier 5"},
    {"one id at two places in loops",
     HEAD ".engine sp\nl: sync 5\n br.lt r1, 3, l\nm: sync 5\n"
          " br.lt r2, 3, m\n sync 6\n halt\n",
     NSR_OK,
     "program 0\n"
     "  island 1\n"
     "    sync 5 (stays)\n"
     "    sync 5 (stays)\n"
     "  sync 6 (stays)\n"
     "island: the code at sp[2] has one barrier id at several places, which "
     "the engines may pass unequally often\n"},
    {"one id at two places, trip counts shown to be equal",
     HEAD ".engine act\n mov r1, 0\n ld r4, n\nl: sync 5\n add r1, r1, 2\n"
          " br.lt r1, r4, l\n mov r2, 0\nm: sync 5\n add r2, r2, 1\n"
          " br.lt r2, 3, m\n sync 6\n halt\n"
          ".engine sp\n ld r9, n\n mov r3, 0\nl: sync 5\n add r3, 2, r3\n"
          " br.gt r9, r3, l\n mov r2, 0\nm: sync 5\n add r2, r2, 1\n"
          " br.lt r2, 3, m\n sync 6\n halt\n",
     NSR_OK,
     "program 0\n  act[1] ld\n  sp[0] ld\n  loop 1\n    sync 5\n  loop 2\n"
     "    sync 5\n  sync 6\n"},
    {"one id at two places, one engine counts otherwise",
     HEAD ".engine act\n mov r1, 0\n ld r4, n\nl: sync 5\n add r1, r1, 1\n"
          " br.lt r1, r4, l\n mov r2, 0\nm: sync 5\n add r2, r2, 1\n"
          " br.lt r2, 3, m\n sync 6\n halt\n"
          ".engine sp\n ld r9, n\n mov r3, 0\nl: sync 5\n add r3, r3, 1\n"
          " br.lt r3, 3, l\n mov r2, 0\nm: sync 5\n add r2, r2, 1\n"
          " br.lt r2, r9, m\n sync 6\n halt\n",
     NSR_OK,
     "program 0\n"
     "  act[1] ld (island)\n"
     "  sp[0] ld (island)\n"
     "  island 1\n"
     "    sync 5 (stays)\n"
     "    sync 5 (stays)\n"
     "  sync 6 (stays)\n"
     "island: the code at act[6] has one barrier id at several places, which "
     "the engines may pass unequally often\n"},
    {"passes no barrier, but decided alike",
     HEAD ".engine act\n mov r1, 0\nl: and r2, r1, 1\n br.eq r2, 1, s\n"
          " sync\ns: st a, r1\n add r1, r1, 1\n br.lt r1, 3, l\n sync\n"
          " halt\n"
          ".engine sp\n mov r3, 0\nl: and r4, 1, r3\n br.eq r4, 1, s\n"
          " sync\ns: add r3, r3, 1\n br.lt r3, 3, l\n sync\n halt\n",
     NSR_OK,
     "program 0\n  loop 1\n    arm 2\n      sync 0\n    act[4] st\n"
     "  sync 1\n"},
    {"one id at two places that are passed once",
     HEAD ".engine sp\n sync 5\n st a, r1\n sync 5\n halt\n", NSR_OK,
     "program 0\n  sync 5\n  sp[1] st\n  sync 5\n"},
    {"computed branch", HEAD ".engine sp\n jump r1\n sync\n halt\n",
     NSR_E_REFUSED, "computed branch"},
    {"order of a region follows its waits",
     HEAD ".engine act\n st a, r1 ?s0>=1\n sync\n halt\n"
          ".engine sp\n st a, r1 ^s0\n sync\n halt\n",
     NSR_OK, "program 0\n  act[0] st\n  sp[0] st\n  sync 0\n"},
};

/* Scopes without a barrier: common where the same values decide them. */
static const struct pass_case alike[] = {
    {"the same word, loaded by each; conditions turned around",
     HEAD ".engine act\n ld r1, n\n sync\n br.eq r1, 0, s\n st a, r1\n"
          "s: sync\n halt\n"
          ".engine sp\n ld r2, n\n sync\n br.ne 0, r2, t\ns: sync\n halt\n"
          "t: st a, r2\n br s\n",
     NSR_OK,
     "program 0\n  act[0] ld\n  sp[0] ld\n  sync 0\n  arm 1\n    act[3] st\n"
     "    sp[5] st\n  sync 1\n"},
    {"in different regions",
     HEAD ".engine act\n ld r1, n\n sync\n br.eq r1, 0, s\n st a, r1\n"
          "s: sync\n halt\n"
          ".engine sp\n sync\n ld r2, n\n br.eq r2, 0, s\n st a, r2\n"
          "s: sync\n halt\n",
     NSR_OK,
     "program 0\n  act[0] ld\n  sync 0\n  arm 1\n    act[3] st\n"
     "  marker of act in front of act[4]\n  sp[1] ld\n  arm 2\n"
     "    sp[3] st\n  marker of sp in front of sp[4]\n  sync 1\n"},
    {"the parity of an iteration; a third engine knows it by a marker",
     HEAD ".engine act\n mov r1, 0\nl: sync 1\n and r2, r1, 1\n"
          " br.eq r2, 0, s\n st a, r1\ns: add r1, r1, 1\n br.lt r1, 3, l\n"
          " sync 2\n halt\n"
          ".engine dve\n mov r1, 0\nl: sync 1\n add r1, r1, 1\n"
          " br.lt r1, 3, l\n sync 2\n halt\n"
          ".engine sp\n mov r7, 0\nl: sync 1\n and r2, r7, 1\n"
          " br.eq r2, 0, s\n dma q0, a, a\ns: add r7, r7, 1\n"
          " br.lt r7, 3, l\n sync 2\n halt\n",
     NSR_OK,
     "program 0\n  loop 1\n    sync 1\n    arm 2\n      act[4] st\n"
     "      sp[4] dma q0\n    marker of act in front of act[5]\n"
     "    marker of q0 in front of sp[5]\n  sync 2\n"},
    {"another start",
     HEAD ".engine act\n mov r1, 0\nl: sync 1\n and r2, r1, 1\n"
          " br.eq r2, 0, s\n st a, r1\ns: add r1, r1, 1\n br.lt r1, 3, l\n"
          " sync 2\n halt\n"
          ".engine sp\n mov r7, 1\nl: sync 1\n and r2, r7, 1\n"
          " br.eq r2, 0, s\n st a, r7\ns: add r7, r7, 1\n"
          " br.lt r7, 3, l\n sync 2\n halt\n",
     NSR_OK,
     "program 0\n  loop 1\n    sync 1\n    arm 2\n      act[4] st\n"
     "    marker of act in front of act[5]\n    arm 3\n      sp[4] st\n"
     "    marker of sp in front of sp[5]\n  sync 2\n"},
    {"a loop, its counter run differently but alike",
     HEAD ".engine act\n ld r1, n\n mov r2, 0\nl: br.ge r2, r1, e\n"
          " ld r3, a\n add r2, r2, 1\n br l\ne: sync\n halt\n"
          ".engine sp\n mov r9, 0\n ld r8, n\nl: br.le r8, r9, e\n"
          " ld r3, a\n add r9, 1, r9\n br l\ne: sync\n halt\n",
     NSR_OK,
     "program 0\n  act[0] ld\n  sp[1] ld\n  loop 1\n    arm 2\n"
     "      act[3] ld\n      sp[3] ld\n  sync 0\n"},
    {"a loop broken out of on one engine",
     HEAD ".engine act\n ld r1, n\n mov r2, 0\nl: br.ge r2, r1, e\n"
          " ld r3, a\n br.eq r3, 7, e\n add r2, r2, 1\n br l\ne: sync\n"
          " halt\n"
          ".engine sp\n mov r9, 0\n ld r8, n\nl: br.ge r9, r8, e\n"
          " ld r3, a\n add r9, r9, 1\n br l\ne: sync\n halt\n",
     NSR_OK,
     "program 0\n  act[0] ld\n  loop 1\n    arm 2\n      act[3] ld\n"
     "  marker of act in front of act[7]\n  sp[1] ld\n  loop 3\n    arm 4\n"
     "      sp[3] ld\n  marker of sp in front of sp[6]\n  sync 0\n"},
};

static void test_alike(void **state) {
  (void)state;
  CHECK_CASES(alike, NSR_STAGE_SCOPES);
}

static void test_several(void **state) {
  (void)state;
  CHECK_CASES(several, NSR_STAGE_SCOPES);
}

static void test_blocks(void **state) {
  (void)state;
  static const struct pass_case c = {
      "blocks",
      HEAD ".engine sp\nl: br.ge r1, 3, d\n sync\n br l\nd: sync\n halt\n"
           " mov r1, 1\n halt\n",
      NSR_OK,
      "sp: 4 blocks, 1 loops\n"
      "  b0 0..0 idom b0 loop b0 -> b2 -> b1\n"
      "  b1 1..2 idom b0 loop b0 -> b0\n"
      "  b2 3..4 idom b0\n"
      "  b3 5..6 unreachable\n"};
  check_case(&c, NSR_STAGE_CFG, NSR_SOFT_AUTO);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_single),
      cmocka_unit_test(test_several),
      cmocka_unit_test(test_alike),
      cmocka_unit_test(test_blocks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
