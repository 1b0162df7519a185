/* test_reach.c - branches as far as an instruction set can encode them (case
 * rocm-systems PR 9597: relative addresses after text has grown).
 *
 * Rewriting makes loops longer. Where a branch then leads exactly as far as can
 * be encoded it leads to its target; one instruction further and the kernel is
 * refused, with the place, and nothing is made. The reach is lowered to what
 * the output needs instead of kernels being made that long.
 */
#include "passes.h"

#include <nsr/rewrite.h>

/* Published thresholds take the most operations; the loop is left forwards at
 * its top, and gone round backwards. */
static const char text[] = ".isa tile64\n.kernel \"k\"\n"
                           ".tensor n dram i32 [1] at 0 input range 0 5\n"
                           ".tensor a sbuf i32 [1, 4] at 0:1, 0 scratch\n"
                           ".tensor b sbuf i32 [1, 4] at 0:1, 16 scratch\n"
                           ".engine dve\n    ld r1, n\n    mov r2, 0\nl:\n"
                           "    br.ge r2, r1, d\n    sync 1\n"
                           "    memset a[4*4] value=1 ^s0\n    add r2, r2, 1\n"
                           "    br l\nd:\n    sync 2\n    halt\n"
                           ".engine act\n    ld r1, n\n    mov r2, 0\nl:\n"
                           "    br.ge r2, r1, d\n    sync 1\n"
                           "    copy b[4*4], a[4*4] ?s0>=1\n"
                           "    add r2, r2, 1\n    br l\nd:\n    sync 2\n"
                           "    halt\n";

struct reach {
  struct nsr_ctx *ctx;
  struct nsr_isa isa;
  struct nsr_kernel *in, *out;
  int32_t back, ahead; /* of branches in the output, the furthest */
};

static enum nsr_status rewrite(struct reach *r, unsigned verify) {
  const struct nsr_rewrite_options options = {.verify = verify,
                                              .scheme = NSR_SCHEME_PUBLISHED};
  struct nsr_rewrite_report report;
  r->out = NULL;
  return nsr_rewrite(r->ctx, r->in, NULL, 0, &options, &r->out, &report);
}

static void furthest(struct reach *r, const struct nsr_kernel *k) {
  r->back = r->ahead = 0;
  for (uint32_t s = 0; s < k->nstreams; s++)
    for (uint32_t i = 0; i < k->streams[s].n; i++) {
      struct nsr_insn insn;
      assert_int_equal(nsr_stream_decode(r->ctx, k, &k->streams[s], i, &insn),
                       NSR_OK);
      int32_t d = insn.desc->ctl == NSR_CTL_BR ? insn.displacement : 0;
      r->back = d < r->back ? d : r->back;
      r->ahead = d > r->ahead ? d : r->ahead;
    }
}

static void start(struct reach *r) {
  struct reach before = {.ctx = nsr_ctx_new()};
  assert_non_null(before.ctx);
  before.in = assemble(before.ctx, text);
  furthest(&before, before.in);
  *r = before;
  assert_int_equal(rewrite(r, NSR_VERIFY_DEFAULT), NSR_OK);
  furthest(r, r->out);
  assert_true(r->back < before.back && r->ahead > before.ahead);
  r->isa = *r->in->isa;
  r->in->isa = &r->isa;
}

static void refused(struct reach *r, int32_t d) {
  char says[80];
  snprintf(says, sizeof says, "the target of this branch lies %d instructions",
           (int)d);
  assert_int_equal(rewrite(r, NSR_VERIFY_NONE), NSR_E_REFUSED);
  assert_null(r->out);
  const struct nsr_diag *diag = nsr_ctx_first_error(r->ctx);
  assert_non_null(diag);
  assert_non_null(strstr(diag->text, says));
  assert_true(diag->place.insn >= 0);
  nsr_ctx_free(r->ctx);
}

static void as_far_as_it_goes(void **state) {
  (void)state;
  struct reach r;
  start(&r);
  r.isa.min_displacement = r.back;
  r.isa.max_displacement = r.ahead;
  assert_int_equal(rewrite(&r, NSR_VERIFY_DEFAULT), NSR_OK);
  nsr_ctx_free(r.ctx);
}

static void one_past_back(void **state) {
  (void)state;
  struct reach r;
  start(&r);
  r.isa.min_displacement = r.back + 1;
  refused(&r, r.back);
}

static void one_past_ahead(void **state) {
  (void)state;
  struct reach r;
  start(&r);
  r.isa.max_displacement = r.ahead - 1;
  refused(&r, r.ahead);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(as_far_as_it_goes),
                                     cmocka_unit_test(one_past_back),
                                     cmocka_unit_test(one_past_ahead)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
