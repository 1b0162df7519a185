/* elf_write.c - kernel to ELF bytes. Sections in a fixed order (code, our
 * tables, those carried along, symbols, names), each at the next offset its
 * alignment allows. libelf writes the headers, into a file in memory with
 * holes for what is in the sections, which can be most of the memory there is:
 * that is put in here. The bytes are a function of the kernel alone.
 */
#include <errno.h>
#include <libelf.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/vec.h"
#include "object/format.h"

enum {
  TABLE_ALIGN = 8,
  NOTE_ALIGN = 4,
  CODE_ALIGN = 64,
  /* nothing loads these files from their offsets: larger alignments stay in
   * the header, they need no holes */
  MAX_FILE_ALIGN = 4096
};

struct placed {
  struct nsr_section section;
  uint32_t link, name;
  uint64_t offset;
};

struct writing {
  struct nsr_ctx *ctx;
  const struct nsr_kernel *k;
  NSR_VEC(struct placed) sections;
  uint64_t headers; /* offset of the section headers */
};

static struct nsr_place in_file(const struct writing *w) {
  return (struct nsr_place){.file = w->k->path, .insn = -1};
}

static enum nsr_status add(struct writing *w, struct nsr_section section,
                           uint32_t link) {
  if (w->sections.n >= NSR_MAX_SECTIONS - 1)
    return nsr_fail(w->ctx, NSR_E_RANGE, in_file(w), "too many sections");
  NSR_PUSH(w->ctx, NSR_SCRATCH, &w->sections,
           (struct placed){.section = section, .link = link});
  return NSR_OK;
}

/* A section of ours with the bytes collected in b. */
static enum nsr_status add_bytes(struct writing *w, struct nsr_strbuf *b,
                                 struct nsr_section section, uint32_t link) {
  const char *bytes;
  size_t n;
  NSR_TRY(nsr_strbuf_done(b, &bytes, &n));
  section.data = (const uint8_t *)bytes;
  section.size = n;
  return add(w, section, link);
}

/* ---- what goes in */

static enum nsr_status add_code(struct writing *w) {
  const struct nsr_kernel *k = w->k;
  for (uint32_t i = 0; i < k->nstreams; i++) {
    const struct nsr_stream *s = &k->streams[i];
    struct nsr_section section = {.type = SHT_PROGBITS,
                                  .flags = SHF_ALLOC | SHF_EXECINSTR,
                                  .align = CODE_ALIGN,
                                  .data = s->code,
                                  .size = (uint64_t)s->n * k->isa->word};
    section.name = nsr_printf(w->ctx, NSR_SCRATCH, NSR_TEXT_PREFIX "%s",
                              k->isa->engines[s->engine]);
    if (!section.name)
      return NSR_E_NOMEM;
    NSR_TRY(add(w, section, 0));
  }
  return NSR_OK;
}

static enum nsr_status add_parts(struct writing *w) {
  static void (*const parts[NSR_NPARTS])(const struct nsr_kernel *,
                                         struct nsr_strbuf *) = {
      /* ORDER PART */
      nsr_note_write,  nsr_tensors_write, nsr_data_write,
      nsr_files_write, nsr_lines_write,   nsr_relocs_write};
  for (int i = 0; i < NSR_NPARTS; i++) {
    struct nsr_strbuf b;
    bool note = i == NSR_PART_NOTE;
    nsr_strbuf_init(&b, w->ctx, NSR_SCRATCH);
    parts[i](w->k, &b);
    if (b.n == 0 && !b.failed)
      continue;
    NSR_TRY(add_bytes(
        w, &b,
        (struct nsr_section){.name = nsr_part_names[i],
                             .type = note ? SHT_NOTE : SHT_PROGBITS,
                             .align = note ? NOTE_ALIGN : TABLE_ALIGN},
        0));
  }
  return NSR_OK;
}

static enum nsr_status add_others(struct writing *w) {
  for (uint32_t i = 0; i < w->k->nsections; i++) {
    const struct nsr_section *s = &w->k->sections[i];
    const char *problem = nsr_section_problem(w->k->isa, s);
    if (problem)
      return nsr_fail(w->ctx, NSR_E_REFUSED, in_file(w),
                      "section %s cannot be carried along: %s", s->name,
                      problem);
    NSR_TRY(add(w, *s, 0));
  }
  return NSR_OK;
}

static enum nsr_status add_symbols(struct writing *w) {
  struct nsr_strbuf table, strings;
  uint32_t n;
  nsr_strbuf_init(&table, w->ctx, NSR_SCRATCH);
  nsr_strbuf_init(&strings, w->ctx, NSR_SCRATCH);
  nsr_symbols_write(w->k, &table, &strings, &n);
  if (n == 0)
    return NSR_OK;
  uint32_t next = (uint32_t)w->sections.n + 2; /* section 0 is nobody's */
  NSR_TRY(add_bytes(w, &table,
                    (struct nsr_section){.name = ".symtab",
                                         .type = SHT_SYMTAB,
                                         .align = TABLE_ALIGN,
                                         .entsize = sizeof(Elf64_Sym),
                                         .info = n},
                    next));
  return add_bytes(
      w, &strings,
      (struct nsr_section){.name = ".strtab", .type = SHT_STRTAB, .align = 1},
      0);
}

static enum nsr_status add_names(struct writing *w) {
  struct nsr_strbuf names;
  nsr_strbuf_init(&names, w->ctx, NSR_SCRATCH);
  NSR_TRY(add(
      w,
      (struct nsr_section){.name = ".shstrtab", .type = SHT_STRTAB, .align = 1},
      0));
  nsr_strbuf_add(&names, "", 1);
  for (size_t i = 0; i < w->sections.n; i++) {
    const char *name = w->sections.v[i].section.name;
    w->sections.v[i].name = (uint32_t)names.n;
    nsr_strbuf_add(&names, name, strlen(name) + 1);
  }
  const char *bytes;
  size_t n;
  NSR_TRY(nsr_strbuf_done(&names, &bytes, &n));
  struct nsr_section *s = &w->sections.v[w->sections.n - 1].section;
  s->data = (const uint8_t *)bytes;
  s->size = n;
  return NSR_OK;
}

/* ---- where it goes */

static uint64_t align_up(uint64_t at, uint64_t align) {
  return align > 1 ? (at + align - 1) & ~(align - 1) : at;
}

static void lay_out(struct writing *w) {
  uint64_t at = sizeof(Elf64_Ehdr);
  for (size_t i = 0; i < w->sections.n; i++) {
    struct placed *p = &w->sections.v[i];
    uint64_t align = p->section.align;
    at = align_up(at, align < MAX_FILE_ALIGN ? align : MAX_FILE_ALIGN);
    p->offset = at;
    if (p->section.type != SHT_NOBITS)
      at += p->section.size;
  }
  w->headers = align_up(at, TABLE_ALIGN);
}

/* ---- libelf */

static bool elf_put(Elf *e, const struct placed *p) {
  const struct nsr_section *s = &p->section;
  Elf_Scn *scn = elf_newscn(e);
  Elf64_Shdr *header = scn ? elf64_getshdr(scn) : NULL;
  if (!header)
    return false;
  *header = (Elf64_Shdr){.sh_name = p->name,
                         .sh_type = SHT_NOBITS, /* for now */
                         .sh_flags = s->flags,
                         .sh_offset = p->offset,
                         .sh_size = s->size,
                         .sh_link = p->link,
                         .sh_info = s->info,
                         .sh_addralign = s->align};
  return true;
}

/* The number of bytes written, -1: libelf's error says why. */
static int64_t elf_put_all(const struct writing *w, Elf *e) {
  Elf64_Ehdr *header = elf64_newehdr(e);
  if (!header)
    return -1;
  header->e_ident[EI_DATA] = ELFDATA2LSB;
  header->e_type = ET_REL;
  header->e_machine = NSR_MACHINE;
  header->e_version = EV_CURRENT;
  header->e_shoff = w->headers;
  header->e_shstrndx = (uint16_t)w->sections.n;
  elf_flagelf(e, ELF_C_SET, ELF_F_LAYOUT);
  for (size_t i = 0; i < w->sections.n; i++)
    if (!elf_put(e, &w->sections.v[i]))
      return -1;
  return elf_update(e, ELF_C_WRITE);
}

static bool read_back(int fd, uint8_t *to, size_t at, size_t end) {
  while (at < end) {
    ssize_t got = pread(fd, to + at, end - at, (off_t)at);
    if (got <= 0 && !(got < 0 && errno == EINTR))
      return false;
    at += got > 0 ? (size_t)got : 0;
  }
  return true;
}

static void set_header(uint8_t *header, size_t at, size_t n, uint64_t v) {
  for (size_t i = 0; i < n; i++)
    header[at + i] = (uint8_t)(v >> (8 * i));
}
#define SET(header, member, v)                                                 \
  set_header((header), offsetof(Elf64_Shdr, member),                           \
             sizeof((Elf64_Shdr *)NULL)->member, (v))

/* Sections get their bytes, and in their headers what libelf did not know, or
 * corrects even for sections that it does not know. */
static void put_sections(const struct writing *w, uint8_t *bytes) {
  for (size_t i = 0; i < w->sections.n; i++) {
    const struct nsr_section *s = &w->sections.v[i].section;
    uint8_t *header = bytes + w->headers + (i + 1) * sizeof(Elf64_Shdr);
    SET(header, sh_type, s->type);
    SET(header, sh_flags, s->flags);
    SET(header, sh_size, s->size);
    SET(header, sh_info, s->info);
    SET(header, sh_addralign, s->align);
    SET(header, sh_entsize, s->entsize);
    if (s->type != SHT_NOBITS && s->size)
      memcpy(bytes + w->sections.v[i].offset, s->data, s->size);
  }
}

static enum nsr_status write_elf(const struct writing *w, int fd,
                                 const uint8_t **data, size_t *size) {
  Elf *e = elf_version(EV_CURRENT) == EV_NONE
               ? NULL
               : elf_begin(fd, ELF_C_WRITE, NULL);
  int64_t n = e ? elf_put_all(w, e) : -1;
  if (n < 0)
    nsr_fail(w->ctx, NSR_E_IO, in_file(w), "cannot make the ELF object: %s",
             elf_errmsg(-1));
  if (e)
    elf_end(e);
  if (n < 0)
    return NSR_E_IO;
  uint8_t *bytes;
  NSR_NEW(w->ctx, NSR_KEEP, bytes, (size_t)n + 1);
  if (!read_back(fd, bytes, 0, sizeof(Elf64_Ehdr)) ||
      !read_back(fd, bytes, w->headers, (size_t)n))
    return nsr_fail(w->ctx, NSR_E_IO, in_file(w),
                    "cannot read the ELF object back: %s", strerror(errno));
  put_sections(w, bytes);
  *data = bytes;
  *size = (size_t)n;
  return NSR_OK;
}

/* A file that has no name and goes when it is closed. */
static int anonymous_file(FILE **f) {
  *f = NULL;
  int fd = memfd_create("kernel", MFD_CLOEXEC);
  if (fd < 0 && (*f = tmpfile()) != NULL)
    fd = fileno(*f);
  return fd;
}

static enum nsr_status write_all(struct writing *w, const uint8_t **data,
                                 size_t *size) {
  FILE *f;
  NSR_TRY(add_code(w));
  NSR_TRY(add_parts(w));
  NSR_TRY(add_others(w));
  NSR_TRY(add_symbols(w));
  NSR_TRY(add_names(w));
  lay_out(w);
  int fd = anonymous_file(&f);
  if (fd < 0)
    return nsr_fail(w->ctx, NSR_E_IO, in_file(w),
                    "cannot make a temporary file: %s", strerror(errno));
  enum nsr_status status = write_elf(w, fd, data, size);
  if (f)
    fclose(f);
  else
    close(fd);
  return status;
}

enum nsr_status nsr_kernel_write(struct nsr_ctx *ctx,
                                 const struct nsr_kernel *k,
                                 const uint8_t **data, size_t *size) {
  struct writing w = {.ctx = ctx, .k = k};
  struct nsr_mark mark = nsr_scratch_mark(ctx);
  enum nsr_status status = write_all(&w, data, size);
  nsr_scratch_release(ctx, mark);
  return status;
}
