/* Every fault of the machine ends a run with its own name and place, and
 * nothing else does. */
#include "sim_kernel.h"

struct fault_case {
  const char *name;
  enum nsr_machine_fault fault; /* NSR_MF_NONE: another end */
  enum nsr_sim_end end;
  uint32_t insn; /* on the first engine */
  const char *text, *kernel;
};

#define HEAD ".isa tile64\n.kernel \"t\"\n.queue q0 sp\n"
#define X ".tensor x dram f32 [4, 4] at 0 input\n"
#define A ".tensor a sbuf f32 [4, 4] at 0:4, 0 scratch\n"

static const struct fault_case cases[] = {
    {"ends well", NSR_MF_NONE, NSR_DONE, 0, NULL,
     HEAD A ".engine act\n memset a[4*4] value=0\n sync\n halt\n"
            ".engine dve\n sync\n halt\n"},
    {"dram below zero", NSR_MF_BOUNDS, NSR_SIM_FAULT, 1, "lies outside dram",
     HEAD ".engine act\n mov r1, -4\n ld r2, dram+r1:i32\n halt\n"},
    {"sbuf beyond its end", NSR_MF_BOUNDS, NSR_SIM_FAULT, 1,
     "[196607,196611) lies outside sbuf",
     HEAD ".engine act\n mov r1, 196607\n ld r2, sbuf+r1:i32\n halt\n"},
    {"psum, a row too long", NSR_MF_BOUNDS, NSR_SIM_FAULT, 1,
     "lies outside psum",
     HEAD ".engine act\n mov r1, 16380\n"
          " memset psum+r1{0:4}[2*4]:i32 value=1\n halt\n"},
    {"outside its tensor", NSR_MF_TENSOR, NSR_SIM_FAULT, 1, "leaves tensor a",
     HEAD A ".engine act\n mov r1, 4\n memset a+r1[4*4] value=1\n halt\n"},
    {"below its tensor", NSR_MF_TENSOR, NSR_SIM_FAULT, 1, "leaves tensor b",
     HEAD ".tensor b sbuf f32 [4, 4] at 0:4, 64 scratch\n"
          ".engine act\n mov r1, -4\n memset b+r1[4*4] value=1\n halt\n"},
    {"a run-time count too large", NSR_MF_TENSOR, NSR_SIM_FAULT, 1,
     "leaves tensor a",
     HEAD A ".engine act\n mov r1, 5\n memset a[r1*4] value=1\n halt\n"},
    {"a negative count", NSR_MF_COUNT, NSR_SIM_FAULT, 1, "count -1 from r1",
     HEAD A ".engine act\n mov r1, -1\n memset a[r1*4] value=1\n halt\n"},
    {"a count of zero touches nothing", NSR_MF_NONE, NSR_DONE, 0, NULL,
     HEAD A ".engine act\n mov r1, 0\n memset a[r1*4] value=1\n halt\n"},
    {"jump outside", NSR_MF_BRANCH, NSR_SIM_FAULT, 1, "jump to 3",
     HEAD ".engine act\n mov r1, 3\n jump r1\n halt\n"},
    {"jump below", NSR_MF_BRANCH, NSR_SIM_FAULT, 1, "jump to -1",
     HEAD ".engine act\n mov r1, -1\n jump r1\n halt\n"},
    {"jump inside", NSR_MF_NONE, NSR_DONE, 0, NULL,
     HEAD ".engine act\n mov r1, 3\n jump r1\n rem r2, 1, 0\n halt\n"},
    {"remainder by zero", NSR_MF_DIVISION, NSR_SIM_FAULT, 1, "division by zero",
     HEAD ".engine act\n mov r1, 0\n rem r2, 5, r1\n halt\n"},
    {"remainder of the least by -1", NSR_MF_NONE, NSR_DONE, 0, NULL,
     HEAD ".engine act\n mov r1, -0x80000000\n rem r2, r1, -1\n"
          " br.eq r2, 0, good\n rem r2, 1, 0\ngood:\n halt\n"},
    {"semaphore too high", NSR_MF_SEMAPHORE, NSR_SIM_FAULT, 1,
     "semaphore 3 overflows",
     HEAD ".engine act\n mov r1, 0\nl:\n nop ^s3+=32767\n"
          " add r1, r1, 1\n br.lt r1, 70000, l\n sync\n halt\n"},
    {"semaphore too low", NSR_MF_SEMAPHORE, NSR_SIM_FAULT, 1,
     "semaphore 3 overflows",
     HEAD ".engine act\n mov r1, 0\nl:\n nop ^s3-=32767\n"
          " add r1, r1, 1\n br.lt r1, 70000, l\n sync\n halt\n"},
    {"barriers with different ids", NSR_MF_BARRIER, NSR_SIM_FAULT, 0,
     "barrier 2 meets barrier 1 of act[0]",
     HEAD ".engine act\n sync 1\n halt\n.engine dve\n sync 2\n halt\n"},
    {"branch on an undefined register", NSR_MF_UNDEFINED, NSR_SIM_FAULT, 0,
     "branch from r7", HEAD ".engine act\n br.eq r7, 0, e\ne:\n halt\n"},
    {"address from one", NSR_MF_UNDEFINED, NSR_SIM_FAULT, 0, "address from r7",
     HEAD A ".engine act\n memset a+r7[4*4] value=1\n halt\n"},
    {"count from one", NSR_MF_UNDEFINED, NSR_SIM_FAULT, 0, "count from r7",
     HEAD A ".engine act\n memset a[r7*4] value=1\n halt\n"},
    {"threshold from one", NSR_MF_UNDEFINED, NSR_SIM_FAULT, 0,
     "threshold from r7", HEAD ".engine act\n nop ?s1>=r7\n halt\n"},
    {"a store of one", NSR_MF_UNDEFINED, NSR_SIM_FAULT, 0,
     "stored value from r7", HEAD A ".engine act\n st a, r7\n halt\n"},
    {"a jump to one", NSR_MF_UNDEFINED, NSR_SIM_FAULT, 0, "jump from r7",
     HEAD ".engine act\n jump r7\n halt\n"},
    {"arithmetic on one is none", NSR_MF_NONE, NSR_DONE, 0, NULL,
     HEAD ".engine act\n add r1, r7, 1\n mul r2, r7, 0\n sel r3, r7, 1, 2\n"
          " mov r4, r7\n halt\n"},
    {"and its result is undefined", NSR_MF_UNDEFINED, NSR_SIM_FAULT, 1,
     "branch from r2",
     HEAD ".engine act\n mul r2, r7, 0\n br.eq r2, 0, e\ne:\n halt\n"},
    {"so is a select on one", NSR_MF_UNDEFINED, NSR_SIM_FAULT, 1,
     "branch from r3",
     HEAD ".engine act\n sel r3, r7, 1, 1\n br.eq r3, 1, e\ne:\n halt\n"},
    {"a select that leaves one aside", NSR_MF_NONE, NSR_DONE, 0, NULL,
     HEAD ".engine act\n mov r1, 1\n sel r3, r1, 5, r7\n br.eq r3, 5, e\n"
          "e:\n halt\n"},
    {"deadlock", NSR_MF_NONE, NSR_SIM_HANG, 0, NULL,
     HEAD ".engine act\n nop ?s1>=1\n halt\n.engine dve\n nop ?s2>=1 ^s1\n"
          " halt\n"},
    {"a barrier that one engine skips", NSR_MF_NONE, NSR_SIM_HANG, 0, NULL,
     HEAD ".engine act\n sync 1\n halt\n.engine dve\n halt\n"},
    {"a loop that changes nothing", NSR_MF_NONE, NSR_SIM_ENDLESS, 0, NULL,
     HEAD ".engine act\n mov r1, 1\nl:\n br.gt r1, 0, l\n halt\n"},
    {"a loop of two registers", NSR_MF_NONE, NSR_SIM_ENDLESS, 0, NULL,
     HEAD ".engine act\n mov r1, 1\nl:\n xor r1, r1, 3\n br.gt r1, 0, l\n"
          " halt\n"},
    {"a loop that counts on and on", NSR_MF_NONE, NSR_SIM_BUDGET, 0, NULL,
     HEAD ".engine act\n mov r1, 1\nl:\n add r1, r1, 1\n br.ne r1, 0, l\n"
          " halt\n"},
    {"a loop of waits", NSR_MF_NONE, NSR_SIM_BUDGET, 0, NULL,
     HEAD ".engine act\nl:\n wait ?s1>=0\n br l\n halt\n"},
    {"a value that nobody knows", NSR_MF_UNDEFINED, NSR_SIM_OPAQUE, 0,
     "opaque value",
     HEAD ".tensor n dram i32 [1] at 0 input\n.engine act\n ld r1, n\n halt\n"},
};

static void check(const struct fault_case *c) {
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct opaque_run r;
  opaque_run(&r, ctx, kernel_of(ctx, c->kernel), NSR_ROUND_ROBIN, 0, NULL);
  const struct nsr_sim_fault *f = &r.sim->fault;
  if (r.sim->end != c->end)
    fail_msg("%s: end %d, wanted %d (%s)", c->name, r.sim->end, c->end,
             f->text);
  if (f->kind != c->fault)
    fail_msg("%s: fault %s, wanted %s (%s)", c->name,
             nsr_machine_fault_name(f->kind), nsr_machine_fault_name(c->fault),
             f->text);
  if (c->text && (!strstr(f->text, c->text) || f->insn != c->insn))
    fail_msg("%s: [%u] %s, wanted [%u] %s", c->name, (unsigned)f->insn, f->text,
             (unsigned)c->insn, c->text);
  opaque_done(&r);
  nsr_ctx_free(ctx);
}

static void test_faults(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    check(&cases[i]);
}

/* A branch may target the end; running there is the fault. */
static void test_off_the_end(void **state) {
  (void)state;
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_kernel *k =
      kernel_of(ctx, HEAD ".engine act\n mov r1, 1\n halt\n");
  /* a stream without its halt: only the model can tell */
  struct nsr_stream s = k->streams[0];
  struct nsr_kernel cut = *k;
  s.n = 1;
  s.nlabels = 0;
  cut.streams = &s;
  struct opaque_run r;
  opaque_run(&r, ctx, &cut, NSR_ROUND_ROBIN, 0, NULL);
  assert_int_equal(r.sim->end, NSR_SIM_FAULT);
  assert_int_equal(r.sim->fault.kind, NSR_MF_END);
  opaque_done(&r);
  nsr_ctx_free(ctx);
}

/* The judge names engine, instruction, label and source line. */
static void test_place(void **state) {
  (void)state;
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_judgement j;
  struct nsr_kernel *k = kernel_of(
      ctx, HEAD ".file \"mine.s\"\n.engine act\n mov r1, 0 @7\nhere:\n"
                " rem r2, 5, r1 @8\n halt @9\n");
  assert_int_equal(nsr_cosimulate(ctx, k, k, NULL, &j), NSR_OK);
  assert_int_equal(j.verdict, NSR_INPUT_BROKEN);
  assert_int_equal(j.fault, NSR_FAULT_MACHINE);
  assert_non_null(strstr(j.text, "act[1] <here> (mine.s:8)"));
  assert_non_null(strstr(j.text, "division by zero"));
  nsr_ctx_free(ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_faults),
                                     cmocka_unit_test(test_off_the_end),
                                     cmocka_unit_test(test_place)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
