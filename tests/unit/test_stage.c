/* test_stage.c - outputs, all or none: what is in a folder before and after. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nsr/nsr.h>

struct place {
  struct nsr_ctx *ctx;
  char folder[32];
  char name[8][320];
  int n;
};

static int begin(void **state) {
  static struct place p;
  p = (struct place){.ctx = nsr_ctx_new(), .folder = P_tmpdir "/stage-XXXXXX"};
  assert_non_null(p.ctx);
  assert_non_null(mkdtemp(p.folder));
  *state = &p;
  return 0;
}

/* folder/name, until the next 8 */
static const char *in(struct place *p, const char *name) {
  char *to = p->name[p->n++ % 8];
  snprintf(to, sizeof p->name[0], "%s/%s", p->folder, name);
  return to;
}

static int entries(struct place *p, bool take_away) {
  int n = 0;
  DIR *d = opendir(p->folder);
  assert_non_null(d);
  for (struct dirent *e; (e = readdir(d));) {
    if (e->d_name[0] == '.' && (!e->d_name[1] || e->d_name[1] == '.'))
      continue;
    n++;
    if (take_away)
      remove(in(p, e->d_name));
  }
  closedir(d);
  return n;
}

static int end(void **state) {
  struct place *p = *state;
  nsr_ctx_free(p->ctx);
  for (int i = 0; i < 3 && rmdir(p->folder) != 0; i++) {
    rmdir(in(p, "b/c"));
    entries(p, true);
  }
  return 0;
}

static enum nsr_status stage(struct place *p, struct nsr_staged **all,
                             const char *name, const char *text) {
  return nsr_file_stage(p->ctx, all, in(p, name), (const uint8_t *)text,
                        strlen(text));
}

static void write_now(struct place *p, const char *name, const char *text) {
  assert_int_equal(
      nsr_file_write(p->ctx, in(p, name), (const uint8_t *)text, strlen(text)),
      NSR_OK);
}

static void holds(struct place *p, const char *name, const char *text) {
  const uint8_t *data;
  size_t size;
  assert_int_equal(nsr_file_read(p->ctx, in(p, name), &data, &size), NSR_OK);
  assert_string_equal(data, text);
}

static void test_commit(void **state) {
  struct place *p = *state;
  struct nsr_staged *all = NULL;
  write_now(p, "a", "old");
  assert_int_equal(stage(p, &all, "a", "new"), NSR_OK);
  assert_int_equal(stage(p, &all, "b", "other"), NSR_OK);
  holds(p, "a", "old");
  assert_int_equal(access(in(p, "b"), F_OK), -1);
  assert_int_equal(nsr_file_commit(p->ctx, &all), NSR_OK);
  assert_null(all);
  holds(p, "a", "new");
  holds(p, "b", "other");
  assert_int_equal(entries(p, false), 2);
}

static void test_discard(void **state) {
  struct place *p = *state;
  struct nsr_staged *all = NULL;
  write_now(p, "a", "old");
  assert_int_equal(stage(p, &all, "a", "new"), NSR_OK);
  assert_int_equal(stage(p, &all, "b", "other"), NSR_OK);
  assert_int_equal(entries(p, false), 3);
  nsr_file_discard(&all);
  assert_null(all);
  holds(p, "a", "old");
  assert_int_equal(entries(p, false), 1);
}

/* A folder takes the second target's place between staging and commit: the
 * first one, old or new, is as it was. */
static void test_put_back(void **state) {
  struct place *p = *state;
  struct nsr_staged *all = NULL;
  write_now(p, "a", "old");
  assert_int_equal(stage(p, &all, "a", "new"), NSR_OK);
  assert_int_equal(stage(p, &all, "fresh", "new"), NSR_OK);
  assert_int_equal(stage(p, &all, "b", "other"), NSR_OK);
  assert_int_equal(mkdir(in(p, "b"), 0777), 0);
  assert_int_equal(mkdir(in(p, "b/c"), 0777), 0);
  assert_int_equal(nsr_file_commit(p->ctx, &all), NSR_E_IO);
  assert_null(all);
  assert_string_equal(nsr_ctx_first_error(p->ctx)->place.file, in(p, "b"));
  holds(p, "a", "old");
  assert_int_equal(access(in(p, "fresh"), F_OK), -1);
  assert_int_equal(entries(p, false), 2);
}

/* What has no place beside it goes first; where it fails nothing is renamed. */
static void test_in_place_first(void **state) {
  struct place *p = *state;
  struct nsr_staged *all = NULL;
  const uint8_t byte = 'x';
  write_now(p, "a", "old");
  assert_int_equal(stage(p, &all, "a", "new"), NSR_OK);
  assert_int_equal(nsr_file_stage(p->ctx, &all, "/dev/full", &byte, 1), NSR_OK);
  assert_int_equal(nsr_file_commit(p->ctx, &all), NSR_E_IO);
  holds(p, "a", "old");
  assert_int_equal(entries(p, false), 1);
}

static void test_same(void **state) {
  struct place *p = *state;
  assert_true(nsr_file_same(p->ctx, in(p, "a"), in(p, "./a")));
  assert_false(nsr_file_same(p->ctx, in(p, "a"), in(p, "b")));
  assert_int_equal(symlink("a", in(p, "link")), 0);
  assert_true(nsr_file_same(p->ctx, in(p, "a"), in(p, "link")));
  write_now(p, "link", "text");
  holds(p, "a", "text");
  assert_true(nsr_file_same(p->ctx, in(p, "a"), in(p, "link")));
  assert_false(nsr_file_same(p->ctx, in(p, "a"), in(p, "b")));
  assert_false(nsr_file_same(p->ctx, "-", "-"));
  assert_false(nsr_file_same(p->ctx, "/dev/null", "/dev/null"));
}

static void test_loop(void **state) {
  struct place *p = *state;
  struct nsr_staged *all = NULL;
  assert_int_equal(symlink("y", in(p, "x")), 0);
  assert_int_equal(symlink("x", in(p, "y")), 0);
  assert_int_equal(stage(p, &all, "x", "text"), NSR_E_IO);
  assert_null(all);
  assert_int_equal(entries(p, false), 2);
}

static void test_no_memory(void **state) {
  struct place *p = *state;
  assert_int_equal(symlink("a", in(p, "link")), 0);
  for (uint64_t nth = 1;; nth++) {
    struct nsr_staged *all = NULL;
    nsr_ctx_fail_alloc(p->ctx, nth);
    enum nsr_status status = stage(p, &all, "link", "text");
    if (status == NSR_OK)
      status = stage(p, &all, "b", "text");
    nsr_file_discard(&all);
    nsr_ctx_fail_alloc(p->ctx, 0);
    assert_int_equal(entries(p, false), 1);
    if (status == NSR_OK)
      break;
    assert_int_equal(status, NSR_E_NOMEM);
    assert_true(nth < 100);
  }
}

static void test_escape(void **state) {
  char out[16];
  (void)state;
  assert_int_equal(nsr_escape("a\n\t\x1b\x7fz", out, sizeof out), 14);
  assert_string_equal(out, "a\\n\\t\\x1b\\x7fz");
  assert_int_equal(nsr_escape("a\nbc", out, 3), 5);
  assert_string_equal(out, "a\\");
  assert_int_equal(nsr_escape("\xc3\xa4", out, sizeof out), 2);
  assert_int_equal(nsr_escape("\n", NULL, 0), 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_commit),    TEST(test_discard),
      TEST(test_put_back),  TEST(test_in_place_first),
      TEST(test_same),      TEST(test_loop),
      TEST(test_no_memory), cmocka_unit_test(test_escape),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
