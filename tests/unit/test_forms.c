/* test_forms.c - forms with the symbol of a loaded word: what rests on what a
 * load gives shows it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "mem/forms.h"

enum { A, B, C, D, NREGS };

/* Applies an operation to registers A (and C, of SEL) and B, into D. */
static struct nsr_form apply(enum nsr_ctl op, struct nsr_form a,
                             struct nsr_form b, struct nsr_form c) {
  struct nsr_node n = {.cls = NSR_CONTROL, .ctl = (uint8_t)op, .dst = D};
  struct nsr_form env[NREGS] = {a, b, c, nsr_form_unknown};
  struct nsr_operation x = {
      .cond = C, .a = {.is_reg = true, .v = A}, .b = {.is_reg = true, .v = B}};
  nsr_forms_apply(env, &n, &x);
  return env[D];
}

/* Nobody knows which of the two a loaded word chooses, but of equal ones. */
static void test_chosen_by_a_load(void **state) {
  (void)state;
  struct nsr_form one = nsr_form_constant(1), two = nsr_form_constant(2);
  struct nsr_form word = nsr_form_loaded(7, NSR_NONE);
  struct nsr_form zero = nsr_form_constant(0);
  assert_int_equal(apply(NSR_CTL_SEL, one, two, word).kind, NSR_FORM_UNKNOWN);
  assert_int_equal(apply(NSR_CTL_SEL, one, one, word).base, 1);
  assert_int_equal(apply(NSR_CTL_SEL, one, two, zero).base, 2);
}

/* Sums and multiples keep the symbol, or are not known. */
static void test_symbols_stay(void **state) {
  (void)state;
  struct nsr_form word = nsr_form_loaded(7, NSR_NONE);
  struct nsr_form other = nsr_form_loaded(8, NSR_NONE);
  struct nsr_form three = nsr_form_constant(3), none = nsr_form_constant(0);
  struct nsr_form sum = apply(NSR_CTL_ADD, word, three, none);
  struct nsr_form twice = apply(NSR_CTL_ADD, sum, word, none);
  assert_true(nsr_form_symbolic(&sum) && sum.symbol == 7 && sum.base == 3);
  assert_true(nsr_form_symbolic(&twice) && twice.scale == 2);
  assert_int_equal(apply(NSR_CTL_SUB, sum, word, none).kind, NSR_FORM_UNKNOWN);
  assert_int_equal(apply(NSR_CTL_MUL, word, none, none).kind, NSR_FORM_UNKNOWN);
  assert_int_equal(apply(NSR_CTL_ADD, word, other, none).kind,
                   NSR_FORM_UNKNOWN);
  struct nsr_form far = apply(NSR_CTL_SHL, twice, nsr_form_constant(30), none);
  far = apply(NSR_CTL_SHL, far, nsr_form_constant(1), none);
  assert_int_equal(far.kind, NSR_FORM_UNKNOWN);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_chosen_by_a_load),
                                     cmocka_unit_test(test_symbols_stay)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
