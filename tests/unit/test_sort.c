/* test_sort.c - keys in ascending order, equal ones as they came. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/sort.h"
#include "prng.h"

enum { MOST = 600 };

/* Few keys, many equal ones, and digits that all have in common. */
static void test_sorts_stably(void **state) {
  static const uint64_t masks[] = {0,         1, 0x7, 0xff00, 0xff00000000ff,
                                   UINT64_MAX};
  struct nsr_key v[MOST], tmp[MOST];
  struct prng g = {1};
  (void)state;
  for (size_t m = 0; m < sizeof masks / sizeof *masks; m++)
    for (uint32_t n = 0; n < MOST; n += 1 + n / 3) {
      for (uint32_t i = 0; i < n; i++)
        v[i] = (struct nsr_key){prng_next(&g) & masks[m], i};
      nsr_sort_keys(v, tmp, n);
      for (uint32_t i = 1; i < n; i++)
        assert_true(v[i - 1].key < v[i].key ||
                    (v[i - 1].key == v[i].key && v[i - 1].at < v[i].at));
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_sorts_stably)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
