/* test_asm_roundtrip.c - whatever a kernel holds, its text and its JSON lines
 * write the same file bytes; also on an instruction set that uses what the
 * shipped one does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <nsr/text.h>

#include "object/note.h"
#include "random_kernel.h"
#include "sample_kernel.h"

struct bytes {
  const uint8_t *data;
  size_t size;
};

static void print_diag(void *user, const struct nsr_diag *diag) {
  char text[400];
  (void)user;
  nsr_diag_format(diag, text, sizeof text);
  print_message("%s\n", text);
}

static struct nsr_ctx *new_ctx(void) {
  struct nsr_ctx *ctx = nsr_ctx_new();
  assert_non_null(ctx);
  nsr_ctx_on_diag(ctx, print_diag, NULL);
  return ctx;
}

static struct bytes write_kernel(struct nsr_ctx *ctx,
                                 const struct nsr_kernel *k) {
  struct bytes b;
  assert_int_equal(nsr_kernel_write(ctx, k, &b.data, &b.size), NSR_OK);
  return b;
}

static void same(struct bytes a, struct bytes b, const char *text) {
  if (a.size == b.size && memcmp(a.data, b.data, a.size) == 0)
    return;
  print_message("%s\n", text);
  fail_msg("the bytes differ (%zu and %zu)", a.size, b.size);
}

/* Text and back, JSON and back; read from the bytes: the same text again. */
static void check(struct nsr_ctx *ctx, const struct nsr_kernel *k) {
  const char *text, *again;
  size_t n, m;
  struct nsr_kernel *back, *read;
  struct bytes b = write_kernel(ctx, k);
  assert_int_equal(nsr_disassemble(ctx, k, &text, &n), NSR_OK);
  assert_int_equal(strlen(text), n);
  if (nsr_assemble(ctx, "t.s", text, n, &back) != NSR_OK) {
    print_message("%s\n", text);
    fail();
  }
  same(b, write_kernel(ctx, back), text);
  assert_int_equal(nsr_kernel_read(ctx, "t", b.data, b.size, &read), NSR_OK);
  assert_int_equal(nsr_disassemble(ctx, read, &again, &m), NSR_OK);
  assert_string_equal(text, again);
  assert_int_equal(nsr_to_json(ctx, k, &text, &n), NSR_OK);
  if (nsr_from_json(ctx, "t.json", text, n, &back) != NSR_OK) {
    print_message("%s\n", text);
    fail();
  }
  same(b, write_kernel(ctx, back), text);
  assert_int_equal(nsr_to_json(ctx, back, &again, &m), NSR_OK);
  assert_string_equal(text, again);
}

static void test_sample(void **state) {
  static struct sample s;
  struct nsr_ctx *ctx = new_ctx();
  (void)state;
  sample_make(&s);
  check(ctx, &s.k);
  nsr_ctx_free(ctx);
}

static void test_random(void **state) {
  enum { KERNELS = 60 };
  struct prng r = prng_seed("asm_roundtrip", 1);
  (void)state;
  for (int i = 0; nsr_isas[i]; i++) {
    const struct nsr_isa *isa = nsr_isas[i];
    uint32_t *made = calloc(isa->ninsns, sizeof *made);
    assert_non_null(made);
    for (int n = 0; n < KERNELS; n++) {
      struct nsr_ctx *ctx = new_ctx();
      struct random_kernel *x = random_kernel(ctx, isa, &r, made);
      assert_non_null(x);
      check(ctx, &x->k);
      nsr_ctx_free(ctx);
    }
    for (int d = 0; d < isa->ninsns; d++)
      if (!made[d])
        fail_msg("no %s of %s was made", isa->insns[d].mnemonic, isa->name);
    free(made);
  }
}

/* A branch that leaves its stream is no valid kernel's. */
static bool stays(const struct nsr_insn *insn, uint32_t i) {
  return insn->desc->ctl != NSR_CTL_BR || (int64_t)i + insn->displacement >= 0;
}

/* Every field of every instruction at its lowest and highest value, alone and
 * in random company. */
static void limits(const struct nsr_isa *isa, int engine, struct prng *r) {
  enum { MAX = 4000, COMPANY = 40 };
  struct nsr_ctx *ctx = new_ctx();
  struct nsr_queue queues[NSR_MAX_QUEUES];
  struct nsr_insn insn;
  uint8_t *code = nsr_alloc_n(ctx, NSR_KEEP, MAX, isa->word);
  char names[NSR_MAX_QUEUES][8], why[200];
  uint32_t n = 0;
  assert_non_null(code);
  for (int q = 0; q < NSR_MAX_QUEUES; q++) {
    snprintf(names[q], sizeof names[q], "q%d", NSR_MAX_QUEUES - q);
    queues[q] = (struct nsr_queue){names[q], (uint8_t)engine, NSR_ORDER_NONE};
  }
  for (int d = 0; d < isa->ninsns; d++) {
    const struct nsr_insn_desc *desc = &isa->insns[d];
    int fields = nsr_desc_fields(desc);
    uint8_t base[NSR_MAX_WORD];
    nsr_insn_init(desc, &insn);
    if (!(desc->engines >> engine & 1) ||
        !nsr_encode(isa, &insn, base, why, sizeof why))
      continue;
    for (int f = 0; f < 2 * fields + COMPANY && n < MAX; f++) {
      uint8_t *word = code + (size_t)n * isa->word;
      memcpy(word, base, isa->word);
      for (int i = 0; f >= 2 * fields && i < fields; i++)
        nsr_desc_field_set(desc, i, (int)prng_in(r, 0, 1), word);
      if (f < 2 * fields)
        nsr_desc_field_set(desc, f / 2, f % 2, word);
      n += !nsr_decode(isa, engine, word, &insn) && stays(&insn, n) &&
           insn.queue < NSR_MAX_QUEUES;
    }
  }
  struct nsr_stream s = {.engine = (uint8_t)engine, .n = n, .code = code};
  struct nsr_kernel k = {.isa = isa,
                         .name = "limits",
                         .owned_last = 5,
                         .nqueues = NSR_MAX_QUEUES,
                         .queues = queues,
                         .nstreams = 1,
                         .streams = &s};
  assert_true(n > isa->ninsns / 2u);
  check(ctx, &k);
  nsr_ctx_free(ctx);
}

static void test_limits(void **state) {
  struct prng r = prng_seed("asm_roundtrip limits", 1);
  (void)state;
  for (int i = 0; nsr_isas[i]; i++)
    for (int e = 0; e < nsr_isas[i]->nengines; e++)
      limits(nsr_isas[i], e, &r);
}

/* Undecodable words are shown and carried by text, too. */
static void test_raw_words(void **state) {
  struct nsr_ctx *ctx = new_ctx();
  const struct nsr_isa *isa = nsr_isas[0];
  uint8_t code[2 * NSR_MAX_WORD];
  struct nsr_stream s = {.n = 2, .code = code};
  struct nsr_kernel k = {.isa = isa,
                         .name = "raw",
                         .nstreams = 1,
                         .streams = &s},
                    *back;
  const char *text;
  char line[3 * NSR_MAX_WORD];
  size_t n;
  (void)state;
  memset(code, 0xa5, sizeof code);
  size_t len = nsr_insn_format(&k, &s, 0, line, sizeof line);
  assert_int_equal(len, strlen(".word \"\"") + 2u * isa->word);
  assert_memory_equal(line, ".word \"a5a5", 11);
  assert_int_equal(nsr_disassemble(ctx, &k, &text, &n), NSR_OK);
  assert_int_equal(nsr_assemble(ctx, "t.s", text, n, &back), NSR_OK);
  same(write_kernel(ctx, &k), write_kernel(ctx, back), text);
  nsr_ctx_free(ctx);
}

/* Notes become comments, whatever is in them, and change nothing. */
static void test_remarks(void **state) {
  static const char *const notes[] = {"first line",
                                      "sp[2] waits for dve[3]",
                                      "sp[2] and so on",
                                      "sp[0] early",
                                      "sp[99999999999] far",
                                      "sp[7] behind the end",
                                      "act[x] no",
                                      "[1] no",
                                      "sp[1]no",
                                      "evil\n.frob",
                                      "sp[1] evil\n.frob",
                                      "act[1] \"; quoted"};
  static struct sample s;
  struct nsr_ctx *ctx = new_ctx();
  struct nsr_strbuf b;
  const char *data, *text;
  size_t n;
  (void)state;
  sample_make(&s);
  nsr_strbuf_init(&b, ctx, NSR_KEEP);
  for (size_t i = 0; i < sizeof notes / sizeof *notes; i++)
    nsr_note_put(&b, notes[i]);
  nsr_strbuf_add(&b, "\xff\xff\xff\xff garbage", 12);
  assert_int_equal(nsr_strbuf_done(&b, &data, &n), NSR_OK);
  s.sections[0] = (struct nsr_section){.name = ".note.nsr.test",
                                       .type = SHT_NOTE,
                                       .align = 4,
                                       .data = (const uint8_t *)data,
                                       .size = n};
  check(ctx, &s.k);
  assert_int_equal(nsr_disassemble(ctx, &s.k, &text, &n), NSR_OK);
  assert_non_null(strstr(text, "; first line\n"));
  assert_non_null(strstr(text, " ; waits for dve[3] ; and so on\n"));
  assert_non_null(strstr(text, " ; early\n"));
  assert_non_null(strstr(text, " ; \"; quoted\n"));
  assert_null(strstr(text, "behind the end"));
  assert_null(strstr(text, "evil"));
  nsr_ctx_free(ctx);
}

/* nsr_insn_format counts like snprintf and never passes the end. */
static void test_format_size(void **state) {
  static struct sample s;
  char whole[256], part[256];
  (void)state;
  sample_make(&s);
  const struct nsr_stream *sp = nsr_kernel_stream(&s.k, s.streams[1].engine);
  size_t n = nsr_insn_format(&s.k, sp, SP_DMA, whole, sizeof whole);
  assert_int_equal(n, strlen(whole));
  for (size_t size = 0; size <= n + 1; size++) {
    memset(part, '#', sizeof part);
    assert_int_equal(nsr_insn_format(&s.k, sp, SP_DMA, part, size), n);
    assert_int_equal(part[size], '#');
    if (size)
      assert_int_equal(strncmp(part, whole, size - 1), 0);
    if (size)
      assert_int_equal(part[size <= n ? size - 1 : n], 0);
  }
}

static enum nsr_status both_ways(struct nsr_ctx *ctx,
                                 const struct nsr_kernel *k) {
  const char *text;
  size_t n;
  struct nsr_kernel *back;
  NSR_TRY(nsr_disassemble(ctx, k, &text, &n));
  NSR_TRY(nsr_assemble(ctx, "t.s", text, n, &back));
  NSR_TRY(nsr_to_json(ctx, k, &text, &n));
  return nsr_from_json(ctx, "t.json", text, n, &back);
}

/* Every allocation may fail: the status says so, nothing else happens. */
static void test_no_memory(void **state) {
  static struct sample s;
  (void)state;
  sample_make(&s);
  for (uint64_t nth = 1;; nth++) {
    struct nsr_ctx *ctx = nsr_ctx_new();
    assert_non_null(ctx);
    nsr_ctx_fail_alloc(ctx, nth);
    enum nsr_status status = both_ways(ctx, &s.k);
    nsr_ctx_free(ctx);
    if (status == NSR_OK)
      break;
    assert_int_equal(status, NSR_E_NOMEM);
    assert_true(nth < 100000);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sample),   cmocka_unit_test(test_random),
      cmocka_unit_test(test_limits),   cmocka_unit_test(test_raw_words),
      cmocka_unit_test(test_remarks),  cmocka_unit_test(test_format_size),
      cmocka_unit_test(test_no_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
