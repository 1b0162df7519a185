/* test_object_neff.c - archives: what is in them, what survives, damage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <archive.h>
#include <archive_entry.h>

#include "sample_kernel.h"

enum { HEADER = 1024, ROOM = 1 << 20 };

static struct nsr_ctx *ctx;
static const uint8_t *object, *other; /* two kernels, written */
static size_t object_size, other_size;

/* ---- archives made here */

enum make { PLAIN = 0, GZIP = 1, PAX = 2, GNU = 4, NO_KERNEL = 8, ONE = 16 };

static void add(struct archive *a, const char *name, int type, int mode,
                time_t mtime, const void *data, size_t size) {
  struct archive_entry *e = archive_entry_new();
  archive_entry_set_pathname(e, name);
  archive_entry_set_filetype(e, (unsigned)type);
  archive_entry_set_perm(e, (unsigned)mode);
  archive_entry_set_mtime(e, mtime, 0);
  archive_entry_set_uname(e, "someone");
  archive_entry_set_uid(e, 1234);
  archive_entry_set_size(e, (la_int64_t)size);
  if (type == AE_IFLNK)
    archive_entry_set_symlink(e, "info.json");
  assert_int_equal(archive_write_header(a, e), ARCHIVE_OK);
  assert_int_equal(archive_write_data(a, data, size), size);
  archive_entry_free(e);
}

static char long_name[300];

static void add_all(struct archive *a, enum make make) {
  add(a, "sg00", AE_IFDIR, 0755, 1, NULL, 0);
  add(a, "info.json", AE_IFREG, 0640, 1600000000, "{\"a\": 1}", 8);
  if (!(make & NO_KERNEL))
    add(a, "sg00/pe.bin", AE_IFREG, 0444, 1500000000, object, object_size);
  add(a, "empty", AE_IFREG, 0600, 3, NULL, 0);
  add(a, "link", AE_IFLNK, 0777, 4, NULL, 0);
  add(a, "x.so", AE_IFREG, 0755, 5, "\177ELF\2\1\1 something else", 22);
  if (make & (PAX | GNU)) {
    memset(long_name, 'n', sizeof long_name - 1);
    add(a, long_name, AE_IFREG, 0400, 6, "long", 4);
  }
  if (!(make & (NO_KERNEL | ONE)))
    add(a, make & (PAX | GNU) ? long_name : "k2", AE_IFREG, 0644, 7, other,
        other_size);
}

/* An archive as a .neff file; freed by the caller. */
static uint8_t *make_neff(enum make make, size_t *size) {
  uint8_t *file = malloc(ROOM);
  size_t n = 0;
  struct archive *a = archive_write_new();
  assert_non_null(file);
  for (int i = 0; i < HEADER; i++)
    file[i] = (uint8_t)(i * 7 + 1);
  assert_int_equal(make & PAX   ? archive_write_set_format_pax(a)
                   : make & GNU ? archive_write_set_format_gnutar(a)
                                : archive_write_set_format_ustar(a),
                   ARCHIVE_OK);
  if (make & GZIP)
    assert_int_equal(archive_write_add_filter_gzip(a), ARCHIVE_OK);
  assert_int_equal(
      archive_write_open_memory(a, file + HEADER, ROOM - HEADER, &n),
      ARCHIVE_OK);
  add_all(a, make);
  assert_int_equal(archive_write_close(a), ARCHIVE_OK);
  archive_write_free(a);
  *size = HEADER + n;
  return file;
}

static void expect_ok(struct nsr_ctx *c, enum nsr_status status) {
  char text[400] = "no diagnostic";
  if (status != NSR_OK && nsr_ctx_first_error(c))
    nsr_diag_format(nsr_ctx_first_error(c), text, sizeof text);
  if (status != NSR_OK)
    fail_msg("status %d: %s", status, text);
}

static int setup(void **state) {
  static struct sample s;
  (void)state;
  ctx = nsr_ctx_new();
  sample_make(&s);
  expect_ok(ctx, nsr_kernel_write(ctx, &s.k, &object, &object_size));
  s.k.nsections = 1;
  s.k.name = "other";
  expect_ok(ctx, nsr_kernel_write(ctx, &s.k, &other, &other_size));
  return 0;
}

static int teardown(void **state) {
  (void)state;
  nsr_ctx_free(ctx);
  return 0;
}

static struct nsr_container *read_ok(struct nsr_ctx *c, const uint8_t *data,
                                     size_t size) {
  struct nsr_container *file;
  expect_ok(c, nsr_container_read(c, "m.neff", data, size, &file));
  return file;
}

static uint32_t member(const struct nsr_container *c, const char *name,
                       uint32_t from) {
  for (uint32_t i = from; i < c->nmembers; i++)
    if (strcmp(c->members[i].name, name) == 0)
      return i;
  fail_msg("no member %s", name);
  return 0;
}

/* All that libarchive sees of an archive, as text. */
static char *attributes(const uint8_t *file, size_t size) {
  char *out = calloc(1, ROOM);
  size_t n = 0;
  struct archive *a = archive_read_new();
  struct archive_entry *e;
  assert_non_null(out);
  archive_read_support_filter_gzip(a);
  archive_read_support_format_tar(a);
  assert_int_equal(archive_read_open_memory(a, file + HEADER, size - HEADER),
                   ARCHIVE_OK);
  while (archive_read_next_header(a, &e) == ARCHIVE_OK) {
    uint8_t byte;
    uint64_t hash = 14695981039346656037u;
    bool kernel = strcmp(archive_entry_pathname(e), "sg00/pe.bin") == 0;
    while (!kernel && archive_read_data(a, &byte, 1) == 1)
      hash = (hash ^ byte) * 1099511628211u;
    n += (size_t)snprintf(
        out + n, ROOM - n, "%s %o %o %ld %ld %s %s %lld %llx\n",
        archive_entry_pathname(e), (unsigned)archive_entry_filetype(e),
        (unsigned)archive_entry_perm(e), (long)archive_entry_mtime(e),
        (long)archive_entry_uid(e), archive_entry_uname(e),
        archive_entry_symlink(e) ? archive_entry_symlink(e) : "",
        kernel ? 0LL : (long long)archive_entry_size(e),
        (unsigned long long)hash);
  }
  archive_read_free(a);
  return out;
}

/* ---- reading */

static void members_are_listed(void **state) {
  (void)state;
  static const int makes[] = {PLAIN, GZIP, PAX, PAX | GZIP, GNU};
  for (size_t i = 0; i < sizeof makes / sizeof *makes; i++) {
    size_t size;
    struct nsr_kernel *k;
    uint8_t *file = make_neff((enum make)makes[i], &size);
    struct nsr_container *c = read_ok(ctx, file, size);
    assert_non_null(c->archive);
    assert_int_equal(c->nkernels, 2);
    assert_int_equal(c->nmembers, makes[i] & (PAX | GNU) ? 8 : 7);
    uint32_t pe = member(c, "sg00/pe.bin", 0);
    assert_string_equal(c->members[pe].path, "m.neff(sg00/pe.bin)");
    assert_true(c->members[pe].is_kernel);
    assert_int_equal(c->members[pe].size, object_size);
    assert_memory_equal(c->members[pe].data, object, object_size);
    assert_false(c->members[member(c, "x.so", 0)].is_kernel);
    assert_int_equal(c->members[member(c, "empty", 0)].size, 0);
    assert_null(c->members[member(c, "link", 0)].data);
    assert_null(c->members[0].data);
    assert_memory_equal(c->members[member(c, "info.json", 0)].data, "{\"a", 3);
    expect_ok(ctx, nsr_container_kernel(ctx, c, pe, &k));
    assert_string_equal(k->path, "m.neff(sg00/pe.bin)");
    expect_ok(ctx, nsr_container_kernel(ctx, c, c->nmembers - 1, &k));
    assert_string_equal(k->name, "other");
    free(file);
  }
}

static void plain_object_is_one_member(void **state) {
  (void)state;
  const uint8_t *data;
  size_t size;
  struct nsr_kernel *k;
  struct nsr_blob keep = {0}, with = {other, other_size};
  struct nsr_container *c = read_ok(ctx, object, object_size);
  assert_null(c->archive);
  assert_int_equal(c->nmembers, 1);
  assert_null(c->members[0].name);
  assert_string_equal(c->members[0].path, "m.neff");
  expect_ok(ctx, nsr_container_kernel(ctx, c, 0, &k));
  expect_ok(ctx, nsr_container_write(ctx, c, &keep, &data, &size));
  assert_ptr_equal(data, object);
  expect_ok(ctx, nsr_container_write(ctx, c, &with, &data, &size));
  assert_ptr_equal(data, other);
  assert_int_equal(size, other_size);
}

static void other_files_are_told(void **state) {
  (void)state;
  struct nsr_ctx *c = nsr_ctx_new();
  struct nsr_kernel *k;
  const uint8_t *text = (const uint8_t *)"this is no kernel";
  struct nsr_container *file = read_ok(c, text, 17);
  assert_int_equal(nsr_container_kernel(c, file, 0, &k), NSR_E_FORMAT);
  assert_non_null(strstr(nsr_ctx_first_error(c)->text, "neither"));
  nsr_ctx_free(c);
}

/* ---- writing */

static void replace_in(enum make make, const uint8_t *with, size_t with_size) {
  size_t size, n, again_size;
  const uint8_t *out, *again;
  uint8_t *file = make_neff(make, &size);
  struct nsr_container *c = read_ok(ctx, file, size);
  uint32_t pe = member(c, "sg00/pe.bin", 0);
  struct nsr_blob replace[8] = {{0}};
  replace[pe] = (struct nsr_blob){with, with_size};
  expect_ok(ctx, nsr_container_write(ctx, c, replace, &out, &n));
  assert_memory_equal(out, file, HEADER);
  assert_int_equal(out[HEADER] == 0x1f, (make & GZIP) != 0);
  if (make & GZIP)
    assert_memory_equal(out + HEADER + 4, "\0\0\0\0", 4); /* no time */
  char *before = attributes(file, size), *after = attributes(out, n);
  assert_string_equal(before, after);
  struct nsr_container *result = read_ok(ctx, out, n);
  assert_int_equal(result->nmembers, c->nmembers);
  assert_int_equal(result->members[pe].size, with_size);
  assert_memory_equal(result->members[pe].data, with, with_size);
  /* twice the same, and back to what it was */
  expect_ok(ctx, nsr_container_write(ctx, c, replace, &again, &again_size));
  assert_int_equal(again_size, n);
  assert_memory_equal(again, out, n);
  replace[pe] = (struct nsr_blob){object, object_size};
  expect_ok(ctx,
            nsr_container_write(ctx, result, replace, &again, &again_size));
  if (!(make & GZIP)) {
    assert_int_equal(again_size, size);
    assert_memory_equal(again, file, size);
  }
  free(before);
  free(after);
  free(file);
}

static void members_are_replaced(void **state) {
  (void)state;
  static const int makes[] = {PLAIN, GZIP, PAX, PAX | GZIP, GNU};
  uint8_t *big = calloc(1, 100000);
  assert_non_null(big);
  for (size_t i = 0; i < sizeof makes / sizeof *makes; i++) {
    replace_in((enum make)makes[i], other, other_size);
    replace_in((enum make)makes[i], object, object_size);
    replace_in((enum make)makes[i], big, 100000);
    replace_in((enum make)makes[i], big, 512);
    replace_in((enum make)makes[i], big, 0);
  }
  free(big);
}

static void nothing_replaced_is_the_input(void **state) {
  (void)state;
  size_t size, n;
  const uint8_t *out;
  struct nsr_blob keep[8] = {{0}};
  uint8_t *file = make_neff(GZIP, &size);
  struct nsr_container *c = read_ok(ctx, file, size);
  expect_ok(ctx, nsr_container_write(ctx, c, keep, &out, &n));
  assert_int_equal(n, size);
  assert_memory_equal(out, file, size);
  free(file);
}

static void links_cannot_be_replaced(void **state) {
  (void)state;
  struct nsr_ctx *c = nsr_ctx_new();
  size_t size, n;
  const uint8_t *out;
  struct nsr_blob replace[8] = {{0}};
  uint8_t *file = make_neff(PLAIN, &size);
  struct nsr_container *archive = read_ok(c, file, size);
  replace[member(archive, "link", 0)] = (struct nsr_blob){other, other_size};
  assert_int_equal(nsr_container_write(c, archive, replace, &out, &n),
                   NSR_E_USAGE);
  nsr_ctx_free(c);
  free(file);
}

static void put_block(uint8_t *block, const char *name, char type,
                      size_t size) {
  unsigned sum = 0;
  memset(block, 0, 512);
  strcpy((char *)block, name);
  strcpy((char *)block + 100, "0000644");
  snprintf((char *)block + 124, 12, "%011zo", size);
  strcpy((char *)block + 136, "00000000000");
  memset(block + 148, ' ', 8);
  block[156] = (uint8_t)type;
  memcpy(block + 257, "ustar\00000", 8);
  for (int i = 0; i < 512; i++)
    sum += block[i];
  snprintf((char *)block + 148, 8, "%06o", sum);
}

/* A size in an extended header overrules the one that is changed: found by
 * looking at the result. */
static void overruled_size_is_refused(void **state) {
  (void)state;
  struct nsr_ctx *c = nsr_ctx_new();
  size_t n, padded = (object_size + 511) / 512 * 512;
  size_t size = HEADER + 3 * 512 + padded + 1024;
  const uint8_t *out;
  uint8_t *file = calloc(1, size);
  assert_non_null(file);
  put_block(file + HEADER, "x", 'x', 13);
  snprintf((char *)file + HEADER + 512, 14, "13 size=%04zu\n", object_size);
  put_block(file + HEADER + 1024, "k", '0', object_size);
  memcpy(file + HEADER + 1536, object, object_size);
  struct nsr_container *archive = read_ok(c, file, size);
  assert_int_equal(archive->nkernels, 1);
  struct nsr_blob with = {other, other_size};
  assert_int_equal(nsr_container_write(c, archive, &with, &out, &n),
                   NSR_E_REFUSED);
  assert_int_equal(nsr_ctx_first_error(c)->status, NSR_E_REFUSED);
  with = (struct nsr_blob){object, object_size};
  expect_ok(c, nsr_container_write(c, archive, &with, &out, &n));
  nsr_ctx_free(c);
  free(file);
}

/* Code is not copied. */
static void kernels_point_into_the_file(void **state) {
  (void)state;
  struct nsr_ctx *c = nsr_ctx_new();
  struct nsr_container *file;
  struct nsr_kernel *k;
  expect_ok(c, nsr_container_read(c, "k.o", object, object_size, &file));
  expect_ok(c, nsr_container_kernel(c, file, 0, &k));
  for (uint32_t i = 0; i < k->nstreams; i++)
    assert_true(k->streams[i].code >= object &&
                k->streams[i].code <= object + object_size);
  nsr_ctx_free(c);
}

/* ---- loading */

static const char *temp_file(const uint8_t *data, size_t size) {
  static char path[100];
  snprintf(path, sizeof path, "%s/test_object_neff.XXXXXX", P_tmpdir);
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  FILE *f = fdopen(fd, "wb");
  assert_int_equal(fwrite(data, 1, size, f), size);
  fclose(f);
  return path;
}

static enum nsr_status load(enum make make, const char *text) {
  struct nsr_ctx *c = nsr_ctx_new();
  struct nsr_kernel *k = NULL;
  size_t size;
  uint8_t *file = make_neff(make, &size);
  const char *path = temp_file(file, size);
  enum nsr_status status = nsr_kernel_load(c, path, &k);
  const struct nsr_diag *diag = nsr_ctx_first_error(c);
  assert_true(status == NSR_OK || (diag && strstr(diag->text, text)));
  remove(path);
  free(file);
  nsr_ctx_free(c);
  return status;
}

static void one_kernel_is_loaded(void **state) {
  (void)state;
  assert_int_equal(load(PLAIN | ONE, ""), NSR_OK);
  assert_int_equal(load(GZIP | ONE, ""), NSR_OK);
  assert_int_equal(load(PLAIN, "2 kernels, expected one: sg00/pe.bin, k2"),
                   NSR_E_USAGE);
  assert_int_equal(load(GZIP | NO_KERNEL, "no member is a kernel"),
                   NSR_E_FORMAT);
}

/* ---- damage */

static void survive(const uint8_t *data, size_t size) {
  struct nsr_ctx *c = nsr_ctx_new();
  struct nsr_container *file;
  struct nsr_kernel *k;
  enum nsr_status status = nsr_container_read(c, "f", data, size, &file);
  if (status != NSR_OK)
    assert_non_null(nsr_ctx_first_error(c));
  struct nsr_blob *replace = NULL;
  if (status == NSR_OK)
    assert_non_null(replace = calloc(file->nmembers + 1u, sizeof *replace));
  for (uint32_t i = 0; status == NSR_OK && i < file->nmembers; i++) {
    const uint8_t *out;
    size_t n;
    if (!file->members[i].is_kernel)
      continue;
    replace[i] = (struct nsr_blob){other, other_size};
    enum nsr_status kernel = nsr_container_kernel(c, file, i, &k);
    assert_true(kernel == NSR_OK || kernel == NSR_E_FORMAT ||
                kernel == NSR_E_REFUSED);
    enum nsr_status written = nsr_container_write(c, file, replace, &out, &n);
    assert_true(written == NSR_OK || written == NSR_E_REFUSED);
  }
  free(replace);
  nsr_ctx_free(c);
}

static void damage_is_survived(enum make make, size_t step) {
  size_t size;
  uint8_t *file = make_neff((enum make)(make | ONE), &size);
  for (size_t n = 0; n < size; n += n < HEADER ? 100 : step) {
    uint8_t *cut = malloc(n ? n : 1);
    assert_non_null(cut);
    memcpy(cut, file, n);
    survive(cut, n);
    free(cut);
  }
  for (size_t i = HEADER; i < size; i += step) {
    file[i] ^= 0xff;
    survive(file, size);
    file[i] ^= 0xfe;
    survive(file, size);
    file[i] ^= 0x01;
  }
  free(file);
}

static void plain_damage(void **state) {
  (void)state;
  damage_is_survived(PLAIN, 17);
  damage_is_survived(PAX, 37);
}
/* Damage to what is packed is seen, or changes nothing (padding bits). */
static void packed_damage_is_seen(void **state) {
  (void)state;
  size_t size, seen = 0;
  uint8_t *file = make_neff(GZIP | ONE, &size);
  for (size_t i = HEADER + 10; i < size; i++) {
    struct nsr_ctx *c = nsr_ctx_new();
    struct nsr_container *archive;
    file[i] ^= 0x10;
    if (nsr_container_read(c, "f", file, size, &archive) == NSR_OK) {
      uint32_t pe = member(archive, "sg00/pe.bin", 0);
      assert_memory_equal(archive->members[pe].data, object, object_size);
      assert_int_equal(archive->nmembers, 6);
    } else {
      seen++;
    }
    file[i] ^= 0x10;
    nsr_ctx_free(c);
  }
  assert_true(seen > size - HEADER - 20);
  free(file);
}

static void gzip_damage(void **state) {
  (void)state;
  damage_is_survived(GZIP, 3);
}

static enum nsr_status with_failure(const uint8_t *file, size_t size,
                                    uint64_t n) {
  struct nsr_ctx *c = nsr_ctx_new();
  struct nsr_container *archive;
  const uint8_t *out;
  size_t out_size;
  struct nsr_blob replace[8] = {{0}};
  nsr_ctx_fail_alloc(c, n);
  enum nsr_status status = nsr_container_read(c, "f", file, size, &archive);
  if (status == NSR_OK) {
    replace[2] = (struct nsr_blob){other, other_size};
    status = nsr_container_write(c, archive, replace, &out, &out_size);
  }
  nsr_ctx_free(c);
  return status;
}

static void memory_may_run_out(void **state) {
  (void)state;
  static const int makes[] = {PLAIN, GZIP};
  for (int i = 0; i < 2; i++) {
    size_t size;
    uint64_t n = 1;
    enum nsr_status status;
    uint8_t *file = make_neff((enum make)makes[i], &size);
    while ((status = with_failure(file, size, n)) == NSR_E_NOMEM)
      n++;
    assert_int_equal(status, NSR_OK);
    assert_true(n > 20);
    free(file);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(members_are_listed),
      cmocka_unit_test(plain_object_is_one_member),
      cmocka_unit_test(other_files_are_told),
      cmocka_unit_test(members_are_replaced),
      cmocka_unit_test(nothing_replaced_is_the_input),
      cmocka_unit_test(links_cannot_be_replaced),
      cmocka_unit_test(overruled_size_is_refused),
      cmocka_unit_test(one_kernel_is_loaded),
      cmocka_unit_test(kernels_point_into_the_file),
      cmocka_unit_test(plain_damage),
      cmocka_unit_test(packed_damage_is_seen),
      cmocka_unit_test(gzip_damage),
      cmocka_unit_test(memory_may_run_out),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
