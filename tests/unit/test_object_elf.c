/* test_object_elf.c - kernel to ELF and back; files that are cut off, flipped
 * or not ours; memory that runs out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "sample_kernel.h"

static struct sample sample;
static const uint8_t *file; /* the sample, written */
static size_t file_size;
static struct nsr_ctx *ctx; /* owns file */

/* Fails the test with the diagnostic where a call did not succeed. */
static void expect_ok(struct nsr_ctx *c, enum nsr_status status) {
  char text[400] = "no diagnostic";
  if (status != NSR_OK && nsr_ctx_first_error(c))
    nsr_diag_format(nsr_ctx_first_error(c), text, sizeof text);
  if (status != NSR_OK)
    fail_msg("status %d: %s", status, text);
}

static int setup(void **state) {
  (void)state;
  ctx = nsr_ctx_new();
  sample_make(&sample);
  expect_ok(ctx, nsr_kernel_write(ctx, &sample.k, &file, &file_size));
  return 0;
}

static int teardown(void **state) {
  (void)state;
  nsr_ctx_free(ctx);
  return 0;
}

static struct nsr_kernel *read_ok(struct nsr_ctx *c, const uint8_t *data,
                                  size_t size) {
  struct nsr_kernel *k;
  expect_ok(c, nsr_kernel_read(c, "f.neff", data, size, &k));
  return k;
}

static void write_is(struct nsr_ctx *c, const struct nsr_kernel *k,
                     const uint8_t *data, size_t size) {
  const uint8_t *again;
  size_t n;
  expect_ok(c, nsr_kernel_write(c, k, &again, &n));
  assert_int_equal(n, size);
  assert_memory_equal(again, data, size);
}

/* ---- round trips */

static void same_bytes(const uint8_t *a, const uint8_t *b, uint64_t n) {
  assert_int_equal(!a, !b);
  if (a && n)
    assert_memory_equal(a, b, n);
}

static void same_tensor(const struct nsr_tensor *a,
                        const struct nsr_tensor *b) {
  assert_string_equal(a->name, b->name);
  assert_int_equal(a->space, b->space);
  assert_int_equal(a->dtype, b->dtype);
  assert_int_equal(a->role, b->role);
  assert_int_equal(a->nshape, b->nshape);
  assert_memory_equal(a->shape, b->shape, sizeof a->shape);
  assert_int_equal(a->part, b->part);
  assert_int_equal(a->nparts, b->nparts);
  assert_int_equal(a->offset, b->offset);
  assert_int_equal(a->bytes, b->bytes);
  assert_int_equal(a->has_range, b->has_range);
  assert_int_equal(a->lo, b->lo);
  assert_int_equal(a->hi, b->hi);
  assert_int_equal(a->data_size, b->data_size);
  same_bytes(a->data, b->data, a->data_size);
}

static void same_stream(const struct nsr_stream *a,
                        const struct nsr_stream *b) {
  assert_int_equal(a->engine, b->engine);
  assert_int_equal(a->n, b->n);
  assert_memory_equal(a->code, b->code, (size_t)a->n * WORD);
  assert_int_equal(a->nrelocs, b->nrelocs);
  for (uint32_t i = 0; i < a->nrelocs; i++) {
    assert_int_equal(a->relocs[i].insn, b->relocs[i].insn);
    assert_int_equal(a->relocs[i].kind, b->relocs[i].kind);
    assert_int_equal(a->relocs[i].operand, b->relocs[i].operand);
    assert_int_equal(a->relocs[i].target, b->relocs[i].target);
  }
  assert_int_equal(a->nlabels, b->nlabels);
  for (uint32_t i = 0; i < a->nlabels; i++) {
    assert_string_equal(a->labels[i].name, b->labels[i].name);
    assert_int_equal(a->labels[i].insn, b->labels[i].insn);
  }
  assert_int_equal(!a->lines, !b->lines);
  for (uint32_t i = 0; a->lines && i < a->n; i++) {
    assert_int_equal(a->lines[i].file, b->lines[i].file);
    assert_int_equal(a->lines[i].line, b->lines[i].line);
  }
}

static void same_section(const struct nsr_section *a,
                         const struct nsr_section *b) {
  assert_string_equal(a->name, b->name);
  assert_int_equal(a->type, b->type);
  assert_int_equal(a->flags, b->flags);
  assert_int_equal(a->align, b->align);
  assert_int_equal(a->entsize, b->entsize);
  assert_int_equal(a->info, b->info);
  assert_int_equal(a->size, b->size);
  same_bytes(a->data, b->data, a->size);
}

static void same_kernel(const struct nsr_kernel *a,
                        const struct nsr_kernel *b) {
  assert_ptr_equal(a->isa, b->isa);
  assert_string_equal(a->name, b->name);
  assert_memory_equal(a->pipe_order, b->pipe_order, sizeof a->pipe_order);
  assert_int_equal(a->owned_first, b->owned_first);
  assert_int_equal(a->owned_last, b->owned_last);
  assert_int_equal(a->nqueues, b->nqueues);
  for (uint32_t i = 0; i < a->nqueues; i++) {
    assert_string_equal(a->queues[i].name, b->queues[i].name);
    assert_int_equal(a->queues[i].engine, b->queues[i].engine);
    assert_int_equal(a->queues[i].order, b->queues[i].order);
  }
  assert_int_equal(a->ntensors, b->ntensors);
  for (uint32_t i = 0; i < a->ntensors; i++)
    same_tensor(&a->tensors[i], &b->tensors[i]);
  assert_int_equal(a->nfiles, b->nfiles);
  for (uint32_t i = 0; i < a->nfiles; i++)
    assert_string_equal(a->files[i], b->files[i]);
  assert_int_equal(a->nstreams, b->nstreams);
  for (uint32_t i = 0; i < a->nstreams; i++)
    same_stream(&a->streams[i], &b->streams[i]);
  assert_int_equal(a->nsections, b->nsections);
  for (uint32_t i = 0; i < a->nsections; i++)
    same_section(&a->sections[i], &b->sections[i]);
}

static void everything_survives(void **state) {
  (void)state;
  struct nsr_kernel *k = read_ok(ctx, file, file_size);
  assert_string_equal(k->path, "f.neff");
  same_kernel(&sample.k, k);
  expect_ok(ctx, nsr_kernel_check(ctx, k));
  write_is(ctx, k, file, file_size);
}

static void least_kernel_survives(void **state) {
  (void)state;
  const uint8_t *bytes;
  size_t n;
  struct nsr_stream stream = {
      .engine = 1, .n = 1, .code = sample.act + ACT_HALT * WORD};
  struct nsr_kernel least = {
      .isa = sample.k.isa, .name = "", .nstreams = 1, .streams = &stream};
  expect_ok(ctx, nsr_kernel_write(ctx, &least, &bytes, &n));
  struct nsr_kernel *k = read_ok(ctx, bytes, n);
  same_kernel(&least, k);
  expect_ok(ctx, nsr_kernel_check(ctx, k));
  write_is(ctx, k, bytes, n);
}

/* ---- patched files */

/* A copy that can be written to. */
static uint8_t *patchable(void) {
  uint8_t *copy = malloc(file_size);
  assert_non_null(copy);
  memcpy(copy, file, file_size);
  return copy;
}

static uint64_t section_headers(const uint8_t *f) {
  Elf64_Ehdr e;
  memcpy(&e, f, sizeof e);
  return e.e_shoff;
}

static Elf64_Shdr header(const uint8_t *f, uint32_t i) {
  Elf64_Shdr h;
  memcpy(&h, f + section_headers(f) + i * sizeof h, sizeof h);
  return h;
}

static void set_header(uint8_t *f, uint32_t i, Elf64_Shdr h) {
  memcpy(f + section_headers(f) + i * sizeof h, &h, sizeof h);
}

static uint32_t find(const uint8_t *f, const char *name) {
  Elf64_Ehdr e;
  memcpy(&e, f, sizeof e);
  Elf64_Shdr names = header(f, e.e_shstrndx);
  for (uint32_t i = 1; i < e.e_shnum; i++)
    if (!strcmp((const char *)f + names.sh_offset + header(f, i).sh_name, name))
      return i;
  fail_msg("no section %s", name);
  return 0;
}

/* Reads a patched file, which must give this status and text; frees it. */
static void expect_read(uint8_t *f, enum nsr_status expect, const char *text) {
  struct nsr_ctx *c = nsr_ctx_new();
  struct nsr_kernel *k;
  enum nsr_status status = nsr_kernel_read(c, "f", f, file_size, &k);
  const struct nsr_diag *diag = nsr_ctx_first_error(c);
  if (status != expect || (diag && !strstr(diag->text, text)))
    fail_msg("status %d, text \"%s\": expected %d, \"%s\"", status,
             diag ? diag->text : "", expect, text);
  nsr_ctx_free(c);
  free(f);
}

static void foreign_files_are_told(void **state) {
  (void)state;
  static const struct {
    size_t at;
    uint8_t value;
    enum nsr_status status;
    const char *text;
  } cases[] = {
      {0, 0, NSR_E_FORMAT, "neither an ELF object nor"},
      {EI_CLASS, ELFCLASS32, NSR_E_FORMAT, "64-bit little-endian"},
      {EI_DATA, ELFDATA2MSB, NSR_E_FORMAT, "64-bit little-endian"},
      {offsetof(Elf64_Ehdr, e_type), ET_DYN, NSR_E_FORMAT, "ET_REL"},
      {offsetof(Elf64_Ehdr, e_machine), EM_X86_64, NSR_E_FORMAT, "machine"},
      {offsetof(Elf64_Ehdr, e_flags), 1, NSR_E_REFUSED, "flags"},
      {offsetof(Elf64_Ehdr, e_entry), 1, NSR_E_REFUSED, "entry"},
      {EI_OSABI, ELFOSABI_GNU, NSR_E_REFUSED, "ABI"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    uint8_t *f = patchable();
    f[cases[i].at] = cases[i].value;
    expect_read(f, cases[i].status, cases[i].text);
  }
}

static void machine_none_is_ours(void **state) {
  (void)state;
  uint8_t *f = patchable();
  memset(f + offsetof(Elf64_Ehdr, e_machine), 0, 2);
  expect_read(f, NSR_OK, "");
}

/* What a section that we do not know must not be. */
static void references_are_refused(void **state) {
  (void)state;
  uint32_t debug = find(file, ".debug_info");
  static const uint32_t types[] = {SHT_REL, SHT_RELA, SHT_GROUP, SHT_HASH,
                                   SHT_SYMTAB_SHNDX};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    uint8_t *f = patchable();
    Elf64_Shdr h = header(f, debug);
    h.sh_type = types[i];
    set_header(f, debug, h);
    expect_read(f, NSR_E_REFUSED, ".debug_info) cannot be carried along");
  }
  static const uint64_t flags[] = {SHF_INFO_LINK, SHF_LINK_ORDER, SHF_GROUP};
  for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
    uint8_t *f = patchable();
    Elf64_Shdr h = header(f, debug);
    h.sh_flags |= flags[i];
    set_header(f, debug, h);
    expect_read(f, NSR_E_REFUSED, "flags");
  }
  uint8_t *f = patchable();
  Elf64_Shdr h = header(f, debug);
  h.sh_link = find(f, ".symtab");
  set_header(f, debug, h);
  expect_read(f, NSR_E_REFUSED, "refers to another section");
  f = patchable();
  h.sh_link = 0;
  h.sh_addr = 4096;
  set_header(f, debug, h);
  expect_read(f, NSR_E_REFUSED, "address");
}

static void broken_sections_are_told(void **state) {
  (void)state;
  uint8_t *f = patchable();
  uint32_t i = find(f, ".text.sp");
  Elf64_Shdr h = header(f, i);
  h.sh_size -= 1;
  set_header(f, i, h);
  expect_read(f, NSR_E_FORMAT, "not a multiple of the instruction size");
  f = patchable();
  h = header(f, i);
  h.sh_offset = file_size - 1;
  set_header(f, i, h);
  expect_read(f, NSR_E_FORMAT, "outside the file");
  f = patchable();
  h = header(f, i);
  h.sh_name = header(f, find(f, ".text.act")).sh_name;
  set_header(f, i, h);
  expect_read(f, NSR_E_FORMAT, "two of this name");
  f = patchable();
  i = find(f, ".note.nsr");
  h = header(f, i);
  h.sh_name = header(f, find(f, ".empty")).sh_name;
  set_header(f, i, h);
  expect_read(f, NSR_E_FORMAT, "no section .note.nsr");
  static const struct {
    const char *in, *with, *text;
  } notes[] = {
      {"nsr 1", "nsr 2", "first line"},
      {"isa tile64 1", "isa tile64 2", "version 2 of instruction set tile64"},
      {"isa tile64 1", "isa mile64 1", "instruction set mile64"},
      {"isa tile64 1", "isa tile64+1", "no instruction set"},
      {"kernel ", "keknel ", "name the kernel"},
      {"owned 1 180", "owned 1-180", "owned"},
      {"owned 1 180", "owned 1  18", "not written as it should be"},
      {"engine act none", "engine act nine", "engines"},
      {"engine act none", "engine cat none", "engines"},
      {"queue sp none q0", "queue ps none q0", "queue"},
      {"queue sp none q0", "queue sp nine q0", "queue"},
      {"queue sp none q0", "queve sp none q0", "queue"},
  };
  for (size_t n = 0; n < sizeof notes / sizeof *notes; n++) {
    f = patchable();
    uint8_t *at = memmem(f, file_size, notes[n].in, strlen(notes[n].in));
    assert_non_null(at);
    memcpy(at, notes[n].with, strlen(notes[n].with));
    expect_read(f, NSR_E_FORMAT, notes[n].text);
  }
}

static uint8_t *symbol(uint8_t *f, uint32_t i) {
  return f + header(f, find(f, ".symtab")).sh_offset + i * sizeof(Elf64_Sym);
}

static void other_symbols_are_refused(void **state) {
  (void)state;
  uint8_t *f = patchable();
  symbol(f, 2)[offsetof(Elf64_Sym, st_info)] =
      ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE);
  expect_read(f, NSR_E_REFUSED, "symbol 2 (start) is not a plain label");
  f = patchable();
  symbol(f, 2)[offsetof(Elf64_Sym, st_shndx)] = (uint8_t)find(f, ".debug_info");
  expect_read(f, NSR_E_REFUSED, "in no engine's code");
  f = patchable();
  symbol(f, 2)[offsetof(Elf64_Sym, st_value)] = 1;
  expect_read(f, NSR_E_FORMAT, "label start is at no instruction");
  f = patchable();
  memset(symbol(f, 2) + offsetof(Elf64_Sym, st_name), 0xee, 4);
  expect_read(f, NSR_E_FORMAT, "name of symbol 2");
  f = patchable(); /* a section symbol says nothing */
  symbol(f, 2)[offsetof(Elf64_Sym, st_info)] =
      ELF64_ST_INFO(STB_LOCAL, STT_SECTION);
  expect_read(f, NSR_OK, "");
}

/* Labels in any order come out by place, those of one place in file order. */
static void labels_are_sorted(void **state) {
  (void)state;
  struct nsr_ctx *c = nsr_ctx_new();
  uint8_t *f = patchable();
  uint8_t end[sizeof(Elf64_Sym)];
  memcpy(end, symbol(f, 5), sizeof end);
  memmove(symbol(f, 3), symbol(f, 2), 3 * sizeof end);
  memcpy(symbol(f, 2), end, sizeof end);
  struct nsr_kernel *k = read_ok(c, f, file_size);
  same_kernel(&sample.k, k);
  write_is(c, k, file, file_size);
  nsr_ctx_free(c);
  free(f);
}

/* ---- damage */

/* Whatever the bytes: a status with a diagnostic, or a kernel that can be
 * written, read again, and then writes the same. */
static void survive(const uint8_t *data, size_t size) {
  struct nsr_ctx *c = nsr_ctx_new();
  struct nsr_kernel *k, *again;
  const uint8_t *bytes;
  size_t n;
  enum nsr_status status = nsr_kernel_read(c, "f", data, size, &k);
  if (status == NSR_OK)
    status = nsr_kernel_check(c, k);
  if (status != NSR_OK) {
    assert_non_null(nsr_ctx_first_error(c));
    assert_int_equal(nsr_ctx_first_error(c)->status, status);
    assert_true(status == NSR_E_FORMAT || status == NSR_E_REFUSED);
  } else {
    expect_ok(c, nsr_kernel_write(c, k, &bytes, &n));
    again = read_ok(c, bytes, n);
    expect_ok(c, nsr_kernel_check(c, again));
    same_kernel(k, again);
    write_is(c, again, bytes, n);
  }
  nsr_ctx_free(c);
}

static void every_length_is_survived(void **state) {
  (void)state;
  for (size_t n = 0; n < file_size; n++) {
    uint8_t *cut = malloc(n ? n : 1); /* its end is watched */
    assert_non_null(cut);
    memcpy(cut, file, n);
    survive(cut, n);
    free(cut);
  }
}

static void every_flip_is_survived(void **state) {
  (void)state;
  static const uint8_t masks[] = {0x01, 0x80, 0xff};
  uint8_t *f = patchable();
  for (size_t i = 0; i < file_size; i++)
    for (size_t m = 0; m < sizeof masks; m++) {
      f[i] ^= masks[m];
      survive(f, file_size);
      f[i] ^= masks[m];
    }
  free(f);
}

/* ---- memory */

/* Reads, checks and writes with the n-th allocation failing. */
static enum nsr_status with_failure(uint64_t n) {
  struct nsr_ctx *c = nsr_ctx_new();
  struct nsr_kernel *k;
  const uint8_t *bytes;
  size_t size;
  nsr_ctx_fail_alloc(c, n);
  enum nsr_status status = nsr_kernel_read(c, "f", file, file_size, &k);
  if (status == NSR_OK)
    status = nsr_kernel_check(c, k);
  if (status == NSR_OK)
    status = nsr_kernel_write(c, k, &bytes, &size);
  nsr_ctx_free(c);
  return status;
}

static void memory_may_run_out(void **state) {
  (void)state;
  uint64_t n = 1;
  enum nsr_status status;
  while ((status = with_failure(n)) == NSR_E_NOMEM)
    n++;
  assert_int_equal(status, NSR_OK);
  assert_true(n > 30);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(everything_survives),
      cmocka_unit_test(least_kernel_survives),
      cmocka_unit_test(foreign_files_are_told),
      cmocka_unit_test(machine_none_is_ours),
      cmocka_unit_test(references_are_refused),
      cmocka_unit_test(broken_sections_are_told),
      cmocka_unit_test(other_symbols_are_refused),
      cmocka_unit_test(labels_are_sorted),
      cmocka_unit_test(every_length_is_survived),
      cmocka_unit_test(every_flip_is_survived),
      cmocka_unit_test(memory_may_run_out),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
