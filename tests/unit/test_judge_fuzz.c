/* Kernels of random words, checked or not: a verdict or a status comes back,
 * nothing worse, and the budget holds. */
#include "judge_case.h"
#include "prng.h"

#include <nsr/explore.h>

#include "sim/bytes.h"

enum { ROUNDS = 2000 };

static const char *const texts[] = {
    ".isa tile64\n.kernel \"t\"\n.queue q0 sp\n.queue q1 act full\n"
    ".tensor n dram i32 [2] at 0x1000 input range 0 3\n"
    ".tensor in dram i32 [4, 4] at 0 input\n"
    ".tensor out dram i32 [16, 4] at 0x100 output\n"
    ".tensor x sbuf i32 [4, 8] at 0:4, 0 scratch\n"
    ".tensor y sbuf i32 [4, 4] at 0:4, 64 scratch range -2 5\n"
    ".engine sp\n ld r1, n\n mov r2, 0\n mov r3, 0\nl:\n br.ge r2, r1, e\n"
    " rem r4, r2, 2\n mul r4, r4, 16\n"
    " dma q0, x+r4[4*4], in{4*16}[4*4] ?s1>=r2 ^s0\n add r2, r2, 1\n"
    " add r3, r3, 64\n br l\ne:\n sync 1\n halt\n"
    ".engine dve\n ld r1, n\n mov r2, 0\nl:\n br.ge r2, r1, e\n"
    " rem r4, r2, 2\n mul r4, r4, 16\n add r2, r2, 1\n"
    " copy y[4*4], x+r4[4*4] ?s0>=r2 ^s2\n"
    " ts y[r1*4], y[r1*4] op0=mul imm0=2.0 op1=none imm1=0 ?s2>=r2 ^s1\n"
    " br l\ne:\n sync 1\n halt\n"
    ".engine act\n ld r1, y+4\n sel r2, r1, 4, r3\n st y, r1 ^s3\n"
    " dma q1, out{4*16}[4*4], y[4*4] ?s3>=1 ^s4\n nop ?s200>=1 ^s201\n"
    " sync 1\n halt\n",
    ".isa tile64\n.kernel \"u\"\n.queue q0 pool\n"
    ".tensor t dram u8 [64] at 0 input words 1, 2, 3, 4, 5\n"
    ".tensor x sbuf u8 [4, 64] at 0:4, 0 scratch\n"
    ".engine pool\n iota x[4*16,4*4]:i32 base=1 pmul=2 step0=3 step1=4 "
    "step2=0\n"
    " dma q0, x{0:1}[64*1], t[64*1] ?s1==0 ^s1+=3\n"
    " wait ?s1>2\n ld r1, x+3\n mul r2, r1, 2\n"
    " dma q0, x+r2{1:2}[2*2,4*1], t[2*8,4*4,2*1]:u8 ^s1--\n"
    " jump r1\n halt\n halt\n halt\n halt\n halt\n halt\n",
};

/* Random bits in one word; kept if it still decodes. */
static void flip(struct prng *r, const struct nsr_isa *isa, int engine,
                 uint8_t *word) {
  uint8_t old[NSR_MAX_WORD];
  struct nsr_insn insn;
  memcpy(old, word, isa->word);
  int n = (int)prng_in(r, 1, 3);
  for (int i = 0; i < n; i++) {
    size_t at = (size_t)prng_in(r, 0, isa->word - 1);
    if (prng_in(r, 0, 3))
      word[at] ^= (uint8_t)(1 << prng_in(r, 0, 7));
    else
      word[at] = (uint8_t)prng_in(r, 0, 255);
  }
  if (nsr_decode(isa, engine, word, &insn) && prng_in(r, 0, 999))
    memcpy(word, old, isa->word);
}

/* k with random bits in a copy of its words. */
static void scramble(struct nsr_ctx *ctx, struct prng *r, struct nsr_kernel *k,
                     struct nsr_stream *streams) {
  const struct nsr_isa *isa = k->isa;
  memcpy(streams, k->streams, k->nstreams * sizeof *streams);
  for (uint32_t i = 0; i < k->nstreams; i++) {
    size_t size = (size_t)streams[i].n * isa->word;
    uint8_t *code = nsr_alloc(ctx, NSR_KEEP, size);
    memcpy(code, streams[i].code, size);
    int flips = (int)prng_in(r, 0, 60);
    for (int f = 0; f < flips; f++)
      flip(r, isa, streams[i].engine,
           code + (size_t)prng_in(r, 0, streams[i].n - 1) * isa->word);
    streams[i].code = code;
  }
  k->streams = streams;
}

/* The same words on real bytes. */
static void run_numbers(struct nsr_ctx *ctx, const struct nsr_kernel *k) {
  struct nsr_image *image;
  struct nsr_byte_memory *memory;
  struct nsr_machine machine;
  struct nsr_policy policy;
  struct nsr_sim *sim;
  assert_int_equal(nsr_machine_default(ctx, k->isa, &machine), NSR_OK);
  assert_int_equal(nsr_image_new(ctx, NSR_KEEP, k, &image), NSR_OK);
  assert_int_equal(nsr_bytes_new(ctx, NSR_KEEP, image, &memory), NSR_OK);
  nsr_policy_init(&policy, NSR_RANDOM, 0, 1);
  const struct nsr_sim_options options = {.image = image,
                                          .machine = &machine,
                                          .memory = nsr_bytes_memory(memory),
                                          .policy = &policy,
                                          .budget = 1000};
  assert_int_equal(nsr_sim_new(ctx, NSR_KEEP, &options, &sim), NSR_OK);
  assert_int_equal(nsr_sim_run(sim), NSR_OK);
  assert_true(sim->end != NSR_RUNNING && sim->executed <= 1000);
}

/* The same words in all orders, or as many states as are allowed. */
static void explore_words(struct nsr_ctx *ctx, const struct nsr_kernel *a,
                          const struct nsr_kernel *b, int mode) {
  const struct nsr_explore_options options = {.inputs = 2,
                                              .states = 200,
                                              .no_reduce = mode & 1,
                                              .out_of_order = mode & 2,
                                              .demands = mode & 4};
  struct nsr_exploration e;
  enum nsr_status status = nsr_explore(ctx, a, b, &options, &e);
  assert_true(status == NSR_OK || status == NSR_E_FORMAT);
  if (status == NSR_OK) {
    assert_non_null(e.judgement.text);
    assert_non_null(e.demands.text);
  }
}

static void test_random_words(void **state) {
  (void)state;
  struct prng r = prng_seed("test_random_words", 21);
  const struct nsr_judge_options options = {
      .inputs = 3, .schedules = 3, .budget = 3000};
  int judged = 0;
  for (int i = 0; i < ROUNDS; i++) {
    struct nsr_ctx *ctx = nsr_ctx_new();
    struct nsr_stream streams[NSR_MAX_ENGINES];
    struct nsr_judgement j;
    struct nsr_kernel *k = kernel_of(ctx, texts[i % 2]);
    struct nsr_kernel other = *k;
    scramble(ctx, &r, &other, streams);
    bool first = prng_in(&r, 0, 1);
    enum nsr_status status = nsr_cosimulate(ctx, first ? &other : k,
                                            first ? k : &other, &options, &j);
    assert_true(status == NSR_OK || status == NSR_E_FORMAT);
    if (status == NSR_OK) {
      judged++;
      assert_non_null(j.text);
      assert_true(j.instances <= 3 * 20 * 3000);
    }
    if (status == NSR_OK)
      run_numbers(ctx, &other);
    explore_words(ctx, first ? &other : k, first ? k : &other, i % 8);
    nsr_ctx_free(ctx);
  }
  printf("%d of %d judged\n", judged, ROUNDS);
  assert_true(judged > ROUNDS / 4);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_words)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
