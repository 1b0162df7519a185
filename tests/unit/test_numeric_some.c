/* test_numeric_some.c - what touches some of its bytes against plain C: by
 * predicate, by pattern, by index. */
#include "numeric_setup.h"

enum { PARTS = 3, ROW = 12, ALL = PARTS * ROW };

static void copy_predicated(void **state) {
  for (size_t to = 0; to < NDTYPES; to++)
    for (size_t from = 0; from < NDTYPES; from++) {
      static struct setup s;
      setup(&s, "copyp");
      shape(&s, 0, dtypes[to], PARTS, 2, 3, 4);
      shape(&s, 1, dtypes[from], PARTS, 1, ROW, 0);
      shape(&s, 2, dtypes[(to + from) % NDTYPES], PARTS, 1, ROW, 0);
      randomize(&s, 1, ALL, false, *state);
      predicate(&s, 2, ALL, *state);
      for (size_t i = 0; i < ALL; i++) {
        want_moved(&s, i, 1, i);
        s.want_mask[i] = in(&s, 2, i) != 0;
      }
      run_and_compare_marked(&s, ALL);
    }
}

static void fill_predicated(void **state) {
  for (size_t d = 0; d < NDTYPES; d++) {
    static struct setup s;
    setup(&s, "memsetp");
    arg(&s, "value", 97);
    shape(&s, 0, dtypes[d], PARTS, 1, ROW, 0);
    shape(&s, 1, NSR_U8, PARTS, 2, 4, 3);
    predicate(&s, 1, ALL, *state);
    for (size_t i = 0; i < ALL; i++) {
      want(&s, i, 97.0f);
      s.want_mask[i] = in(&s, 1, i) != 0;
    }
    run_and_compare_marked(&s, ALL);
  }
}

static void select_elements(void **state) {
  for (size_t to = 0; to < NDTYPES; to++)
    for (size_t a = 0; a < NDTYPES; a++) {
      static struct setup s;
      setup(&s, "tsel");
      shape(&s, 0, dtypes[to], PARTS, 1, ROW, 0);
      shape(&s, 1, dtypes[(to + a) % NDTYPES], PARTS, 1, ROW, 0);
      shape(&s, 2, dtypes[a], PARTS, 1, ROW, 0);
      shape(&s, 3, dtypes[to], PARTS, 1, ROW, 0);
      predicate(&s, 1, ALL, *state);
      randomize(&s, 2, ALL, false, *state);
      randomize(&s, 3, ALL, false, *state);
      for (size_t i = 0; i < ALL; i++)
        want_moved(&s, i, in(&s, 1, i) != 0 ? 2 : 3, i);
      run_and_compare(&s, ALL);
    }
}

static bool plain_test(const char *test, int v) {
  if (!strcmp(test, "ge"))
    return v >= 0;
  if (!strcmp(test, "gt"))
    return v > 0;
  if (!strcmp(test, "le"))
    return v <= 0;
  if (!strcmp(test, "lt"))
    return v < 0;
  if (!strcmp(test, "eq"))
    return v == 0;
  return v != 0;
}

static void affine_select(void **state) {
  static const char *const tests[] = {"ge", "gt", "le", "lt", "eq", "ne"};
  for (size_t d = 0; d < NDTYPES; d++)
    for (size_t t = 0; t < 6; t++) {
      static struct setup s;
      setup(&s, "asel");
      arg_name(&s, "test", tests[t]);
      arg(&s, "base", -1);
      arg(&s, "pmul", 5);
      arg(&s, "step0", -4);
      arg(&s, "step1", 1);
      arg_float(&s, "value", -7.5f);
      shape(&s, 0, dtypes[d], PARTS, 2, 3, 4);
      shape(&s, 1, dtypes[(d + t) % NDTYPES], PARTS, 1, ROW, 0);
      randomize(&s, 1, ALL, false, *state);
      for (int i = 0; i < ALL; i++) {
        int v = -1 + i / ROW * 5 - i % ROW / 4 * 4 + i % 4;
        if (plain_test(tests[t], v))
          want_moved(&s, (size_t)i, 1, (size_t)i);
        else
          want(&s, (size_t)i, -7.5f);
      }
      run_and_compare(&s, ALL);
    }
}

/* ---- by index */

static const enum nsr_dtype indices[] = {NSR_I32, NSR_I16, NSR_I8, NSR_U8};

static void gather(void **state) {
  for (size_t d = 0; d < NDTYPES; d++)
    for (size_t k = 0; k < 4; k++) {
      static struct setup s;
      size_t at[PARTS * 8];
      setup(&s, "gather");
      shape(&s, 0, dtypes[d], PARTS, 1, 8, 0);
      shape(&s, 1, dtypes[(d + k) % NDTYPES], PARTS, 2, 3, 4);
      shape(&s, 2, indices[k], PARTS, 2, 2, 4);
      randomize(&s, 1, ALL, false, *state);
      for (size_t i = 0; i < PARTS * 8; i++) {
        at[i] = (size_t)prng_in(*state, 0, ROW - 1);
        set_index(&s, 2, i, (int32_t)at[i]);
        want_moved(&s, i, 1, i / 8 * ROW + at[i]);
      }
      run_and_compare(&s, (size_t)PARTS * 8);
    }
}

enum { ROWS = 7, TABLE = 9, LENGTH = 4 };

/* rows of operand `k` against those of the table, which one holds. */
static void set_rows(struct setup *s, int table, enum nsr_dtype d,
                     enum nsr_dtype other, enum nsr_dtype index,
                     struct prng *rng, size_t at[ROWS]) {
  shape(s, table, d, TABLE, 1, LENGTH, 0);
  shape(s, !table, other, ROWS, 2, 2, LENGTH / 2);
  shape(s, 2, index, prng_in(rng, 0, 1) ? ROWS : 1, 1, 0, 0);
  s->e[2].dims[0] = ROWS / s->e[2].nparts;
  for (size_t i = 0; i < ROWS; i++) {
    at[i] = (size_t)prng_in(rng, 0, TABLE - 1);
    set_index(s, 2, i, (int32_t)at[i]);
  }
}

static void gather_rows(void **state) {
  for (size_t d = 0; d < NDTYPES; d++)
    for (size_t k = 0; k < 4; k++) {
      static struct setup s;
      size_t at[ROWS];
      setup(&s, "dmag");
      set_rows(&s, 1, dtypes[d], dtypes[(d + k) % NDTYPES], indices[k], *state,
               at);
      randomize(&s, 1, TABLE * LENGTH, false, *state);
      for (size_t i = 0; i < ROWS * LENGTH; i++)
        want_moved(&s, i, 1, at[i / LENGTH] * LENGTH + i % LENGTH);
      run_and_compare(&s, ROWS * LENGTH);
    }
}

static void scatter_rows(void **state) {
  for (size_t d = 0; d < NDTYPES; d++)
    for (size_t k = 0; k < 4; k++) {
      static struct setup s;
      size_t at[ROWS];
      setup(&s, "dmas");
      set_rows(&s, 0, dtypes[d], dtypes[(d + k) % NDTYPES], indices[k], *state,
               at);
      randomize(&s, 1, ROWS * LENGTH, false, *state);
      for (size_t i = 0; i < ROWS * LENGTH; i++) { /* the last one stays */
        size_t to = at[i / LENGTH] * LENGTH + i % LENGTH;
        want_moved(&s, to, 1, i);
        s.want_mask[to] = 1;
      }
      run_and_compare_marked(&s, TABLE * LENGTH);
    }
}

static void scatter_accumulate(void **state) {
  for (size_t d = 0; d < NDTYPES; d++)
    for (size_t op = 1; op < NOPS; op++) {
      static struct setup s;
      size_t at[ROWS];
      setup(&s, "dmasa");
      arg_name(&s, "op", ops[op]);
      set_rows(&s, 0, dtypes[d], dtypes[(d + op) % NDTYPES], NSR_I32, *state,
               at);
      at[1] = at[0]; /* one row twice */
      set_index(&s, 2, 1, (int32_t)at[1]);
      randomize(&s, 0, TABLE * LENGTH, true, *state);
      randomize(&s, 1, ROWS * LENGTH, true, *state);
      memcpy(s.want[0], s.in[0], sizeof s.in[0]);
      for (size_t i = 0; i < ROWS * LENGTH; i++) {
        size_t to = at[i / LENGTH] * LENGTH + i % LENGTH;
        float v = nsr_element_get(dtypes[d],
                                  s.want[0] + to * nsr_dtype_bytes(dtypes[d]));
        want(&s, to, plain(ops[op], v, in(&s, 1, i)));
        s.want_mask[to] = 1;
      }
      run_and_compare_marked(&s, TABLE * LENGTH);
    }
}

/* The index that is just right, and those that are outside. */
static void bounds(void **state) {
  (void)state;
  static const struct {
    const char *mnemonic;
    int table;
    int32_t end;
  } cases[] = {{"gather", 1, ROW},
               {"dmag", 1, TABLE},
               {"dmas", 0, TABLE},
               {"dmasa", 0, TABLE}};
  for (size_t c = 0; c < 4; c++)
    for (int32_t at = -1; at <= cases[c].end; at++) {
      static struct setup s;
      bool rows = cases[c].table == 0 || cases[c].end == TABLE;
      setup(&s, cases[c].mnemonic);
      if (c == 3)
        arg_name(&s, "op", "add");
      shape(&s, cases[c].table, NSR_F32, rows ? TABLE : 1, 1, ROW, 0);
      shape(&s, !cases[c].table, NSR_F32, 1, 1, rows ? ROW : 1, 0);
      shape(&s, 2, NSR_I8, 1, 1, 1, 0);
      set_index(&s, 2, 0, at);
      bool inside = at >= 0 && at < cases[c].end;
      assert_ptr_equal(run(&s), inside ? NULL : nsr_index_outside);
    }
}

static void refused(const char *mnemonic, const uint32_t parts[],
                    const uint32_t row[]) {
  static struct setup s;
  setup(&s, mnemonic);
  if (!strcmp(mnemonic, "dmasa"))
    arg_name(&s, "op", "add");
  for (int k = 0; k < s.insn.desc->noperands; k++)
    shape(&s, k, k == 2 ? NSR_I32 : NSR_F32, parts[k], 1, row[k], 0);
  const char *why = run(&s);
  assert_non_null(why);
  assert_ptr_not_equal(why, nsr_index_outside);
}
#define REFUSED(mnemonic, parts, row)                                          \
  refused(mnemonic, (const uint32_t[])parts, (const uint32_t[])row)
#define L(...)                                                                 \
  { __VA_ARGS__ }

static void shapes_that_do_not_fit(void **state) {
  (void)state;
  REFUSED("copyp", L(2, 2, 2), L(4, 5, 4));
  REFUSED("copyp", L(2, 2, 2), L(4, 4, 5));
  REFUSED("copyp", L(2, 1, 2), L(4, 8, 4));
  REFUSED("memsetp", L(2, 2), L(4, 5));
  REFUSED("tsel", L(2, 2, 2, 2), L(4, 5, 4, 4));
  REFUSED("tsel", L(2, 2, 2, 2), L(4, 4, 5, 4));
  REFUSED("tsel", L(2, 2, 2, 2), L(4, 4, 4, 5));
  REFUSED("asel", L(2, 2), L(4, 5));
  REFUSED("gather", L(2, 2, 2), L(4, 9, 5));
  REFUSED("gather", L(2, 1, 2), L(4, 9, 4));
  REFUSED("dmag", L(2, 9, 2), L(4, 5, 1));
  REFUSED("dmag", L(2, 9, 3), L(4, 4, 1));
  REFUSED("dmas", L(9, 2, 2), L(4, 5, 1));
  REFUSED("dmas", L(9, 2, 2), L(4, 4, 2));
  REFUSED("dmasa", L(9, 2, 2), L(4, 5, 1));
  REFUSED("dmasa", L(9, 2, 2), L(4, 4, 2));
}

/* Elements that are written in part need somewhere to say which. */
static void no_mask(void **state) {
  (void)state;
  static struct setup s;
  setup(&s, "memsetp");
  shape(&s, 0, NSR_F32, 1, 1, 4, 0);
  shape(&s, 1, NSR_F32, 1, 1, 4, 0);
  s.e[0].mask = NULL;
  assert_non_null(run(&s));
}

int main(void) {
  static struct prng rng;
  rng = prng_seed("numeric_some", 11);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_prestate(copy_predicated, &rng),
      cmocka_unit_test_prestate(fill_predicated, &rng),
      cmocka_unit_test_prestate(select_elements, &rng),
      cmocka_unit_test_prestate(affine_select, &rng),
      cmocka_unit_test_prestate(gather, &rng),
      cmocka_unit_test_prestate(gather_rows, &rng),
      cmocka_unit_test_prestate(scatter_rows, &rng),
      cmocka_unit_test_prestate(scatter_accumulate, &rng),
      cmocka_unit_test(bounds),
      cmocka_unit_test(shapes_that_do_not_fit),
      cmocka_unit_test(no_mask),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
