/* elf_read.c - ELF bytes to kernel. libelf gives the section headers; what
 * they point at is checked here before anyone looks. Needs nothing but the
 * bytes; makes a kernel whose container is sound (nsr_kernel_check does the
 * rest). Sections may come in any order, with any others among them.
 */
#include <gelf.h>
#include <libelf.h>
#include <string.h>

#include "base/vec.h"
#include "object/format.h"

/* A section header with what it points at. */
struct header {
  struct nsr_section section;
  uint64_t offset, address;
  uint32_t link;
  bool used; /* by us: not to be carried along */
};

struct elf {
  struct nsr_reader reader;
  const uint8_t *image; /* the file */
  size_t size;
  uint32_t nsections, names; /* names: index of the section name table */
  struct header *headers;
  struct nsr_stream **by_section; /* stream in a section, NULL: none */
};

static struct nsr_place in_file(const struct elf *f) {
  return (struct nsr_place){.file = f->reader.path, .insn = -1};
}

static enum nsr_status malformed(struct elf *f, const char *what) {
  return nsr_fail(f->reader.ctx, NSR_E_FORMAT, in_file(f), "%s", what);
}

/* ---- the file header, before libelf sees it */

static uint64_t field(const uint8_t *data, size_t at, size_t n) {
  struct nsr_in in = {data + at, n, false};
  return n == 2 ? nsr_in_u16(&in) : n == 4 ? nsr_in_u32(&in) : nsr_in_u64(&in);
}
#define EHDR(data, member)                                                     \
  field((data), offsetof(Elf64_Ehdr, member),                                  \
        sizeof((Elf64_Ehdr *)NULL)->member)
#define SHDR(data, member)                                                     \
  field((data), offsetof(Elf64_Shdr, member),                                  \
        sizeof((Elf64_Shdr *)NULL)->member)

bool nsr_elf_magic(const uint8_t *data, size_t size) {
  return size >= SELFMAG && memcmp(data, ELFMAG, SELFMAG) == 0;
}

static bool is_elf64_le(const uint8_t *data, size_t size) {
  return size >= sizeof(Elf64_Ehdr) && nsr_elf_magic(data, size) &&
         data[EI_CLASS] == ELFCLASS64 && data[EI_DATA] == ELFDATA2LSB &&
         data[EI_VERSION] == EV_CURRENT;
}

/* Whether the section headers lie in the file. */
static bool headers_inside(const uint8_t *data, size_t size) {
  uint64_t at = EHDR(data, e_shoff), n = EHDR(data, e_shnum);
  return EHDR(data, e_shentsize) == sizeof(Elf64_Shdr) && n > 0 && at <= size &&
         n <= (size - at) / sizeof(Elf64_Shdr);
}

/* A tool that does not know our machine may have written 0 for it: then the
 * note tells. */
bool nsr_elf_is_kernel(const uint8_t *data, size_t size) {
  if (!is_elf64_le(data, size))
    return false;
  if (EHDR(data, e_machine) == NSR_MACHINE)
    return true;
  uint64_t names = EHDR(data, e_shstrndx), n = EHDR(data, e_shnum);
  if (EHDR(data, e_machine) != EM_NONE || !headers_inside(data, size) ||
      names >= n)
    return false;
  const uint8_t *first = data + EHDR(data, e_shoff);
  const uint8_t *table = first + names * sizeof(Elf64_Shdr);
  uint64_t at = SHDR(table, sh_offset), room = SHDR(table, sh_size);
  if (at > size || room > size - at)
    return false;
  struct nsr_in strings = {data + at, room, false};
  for (uint64_t i = 1; i < n; i++) {
    const uint8_t *header = first + i * sizeof(Elf64_Shdr);
    const char *name = nsr_in_name(&strings, SHDR(header, sh_name));
    if (name && nsr_part_by_name(name) == NSR_PART_NOTE)
      return true;
  }
  return false;
}

static enum nsr_status check_header(struct elf *f) {
  const uint8_t *d = f->image;
  if (!nsr_elf_magic(d, f->size))
    return malformed(f, "this is neither an ELF object nor a NEFF archive");
  if (!is_elf64_le(d, f->size))
    return malformed(f, "expected a 64-bit little-endian ELF file");
  if (EHDR(d, e_type) != ET_REL || EHDR(d, e_version) != EV_CURRENT)
    return malformed(f, "expected a relocatable ELF object (ET_REL)");
  uint64_t machine = EHDR(d, e_machine);
  if (machine != NSR_MACHINE && machine != EM_NONE)
    return nsr_fail(f->reader.ctx, NSR_E_FORMAT, in_file(f),
                    "this ELF object is for machine %#llx, not for ours (%#x)",
                    (unsigned long long)machine, NSR_MACHINE);
  if (!headers_inside(d, f->size))
    return malformed(f, "the section headers lie outside the file");
  if (EHDR(d, e_shnum) > NSR_MAX_SECTIONS)
    return malformed(f, "there are too many sections");
  if (EHDR(d, e_phnum) || EHDR(d, e_entry) || EHDR(d, e_flags) || d[EI_OSABI] ||
      d[EI_ABIVERSION])
    return nsr_fail(f->reader.ctx, NSR_E_REFUSED, in_file(f),
                    "program headers, an entry point, flags or an ABI cannot "
                    "be kept: a kernel has none");
  return NSR_OK;
}

/* ---- section headers */

/* What the header points at, or what is wrong with it. */
static const char *check_section(struct elf *f, const GElf_Shdr *sh,
                                 struct header *h) {
  struct nsr_section *s = &h->section;
  *s = (struct nsr_section){.name = "",
                            .type = sh->sh_type,
                            .flags = sh->sh_flags,
                            .align = sh->sh_addralign,
                            .entsize = sh->sh_entsize,
                            .info = sh->sh_info,
                            .size = sh->sh_size};
  h->offset = sh->sh_offset;
  h->address = sh->sh_addr;
  h->link = sh->sh_link;
  if (s->type == SHT_NULL || s->type == SHT_NOBITS)
    return NULL;
  if (h->offset > f->size || s->size > f->size - h->offset)
    return "it lies outside the file";
  s->data = f->image + h->offset;
  return NULL;
}

static enum nsr_status section_fail(struct elf *f, enum nsr_status status,
                                    uint32_t i, const char *what) {
  return nsr_fail(f->reader.ctx, status, in_file(f), "section %u (%s): %s", i,
                  f->headers[i].section.name, what);
}

static enum nsr_status collect(struct elf *f, Elf *e) {
  size_t n, names;
  if (elf_getshdrnum(e, &n) != 0 || elf_getshdrstrndx(e, &names) != 0 ||
      n != EHDR(f->image, e_shnum) || names >= n)
    return malformed(f, "the section headers are malformed");
  f->nsections = (uint32_t)n;
  f->names = (uint32_t)names;
  NSR_NEW(f->reader.ctx, NSR_SCRATCH, f->headers, n);
  f->headers[0].section.name = "";
  for (uint32_t i = 1; i < n; i++) {
    GElf_Shdr sh;
    Elf_Scn *scn = elf_getscn(e, i);
    f->headers[i].section.name = "";
    if (!scn || !gelf_getshdr(scn, &sh))
      return malformed(f, "the section headers are malformed");
    const char *problem = check_section(f, &sh, &f->headers[i]);
    if (problem)
      return section_fail(f, NSR_E_FORMAT, i, problem);
  }
  return NSR_OK;
}

/* libelf's view of the image; it is closed again before this returns. */
static enum nsr_status read_headers(struct elf *f) {
  if (elf_version(EV_CURRENT) == EV_NONE)
    return nsr_fail(f->reader.ctx, NSR_E_INTERNAL, in_file(f),
                    "the ELF library is too old");
  Elf *e = elf_memory((char *)(uintptr_t)f->image, f->size);
  if (!e)
    return nsr_fail(f->reader.ctx, NSR_E_FORMAT, in_file(f),
                    "the ELF file cannot be read: %s", elf_errmsg(-1));
  enum nsr_status status = elf_kind(e) == ELF_K_ELF
                               ? collect(f, e)
                               : malformed(f, "this is no ELF object");
  elf_end(e);
  return status;
}

static struct nsr_in contents(const struct elf *f, uint32_t i) {
  const struct nsr_section *s = &f->headers[i].section;
  return (struct nsr_in){s->data, s->data ? s->size : 0, false};
}

/* sh_name is gone from our headers: take the names from the image. */
static enum nsr_status read_names(struct elf *f) {
  struct nsr_in strings = contents(f, f->names);
  const uint8_t *first = f->image + EHDR(f->image, e_shoff);
  for (uint32_t i = 1; i < f->nsections; i++) {
    const uint8_t *header = first + (size_t)i * sizeof(Elf64_Shdr);
    const char *name = nsr_in_name(&strings, SHDR(header, sh_name));
    if (!name && f->headers[i].section.type != SHT_NULL)
      return section_fail(f, NSR_E_FORMAT, i,
                          "its name lies outside the table of names or is too "
                          "long");
    f->headers[i].section.name = name ? name : "";
  }
  f->headers[f->names].used = true;
  return NSR_OK;
}

/* ---- our sections */

static enum nsr_status check_ours(struct elf *f, uint32_t i, uint32_t type) {
  const struct header *h = &f->headers[i];
  if (h->section.type != type)
    return section_fail(f, NSR_E_FORMAT, i,
                        "its type is not what it should be");
  if (h->section.flags & SHF_COMPRESSED)
    return section_fail(f, NSR_E_FORMAT, i, "it must not be compressed");
  if (h->used)
    return section_fail(f, NSR_E_FORMAT, i, "it is also the table of names");
  return NSR_OK;
}

static enum nsr_status find_parts(struct elf *f) {
  for (uint32_t i = 1; i < f->nsections; i++) {
    int part = nsr_part_by_name(f->headers[i].section.name);
    if (part < 0)
      continue;
    NSR_TRY(check_ours(f, i, part == NSR_PART_NOTE ? SHT_NOTE : SHT_PROGBITS));
    if (f->reader.parts[part].p)
      return section_fail(f, NSR_E_FORMAT, i, "there are two of this name");
    f->reader.parts[part] = contents(f, i);
    f->headers[i].used = true;
  }
  return NSR_OK;
}

static enum nsr_status check_parts(struct elf *f) {
  static const enum nsr_part needed[] = {NSR_PART_NOTE, NSR_PART_TENSORS,
                                         NSR_PART_RELOCS};
  for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
    if (!f->reader.parts[needed[i]].p)
      return nsr_fail(f->reader.ctx, NSR_E_FORMAT, in_file(f),
                      "there is no section %s: this ELF object is no kernel, "
                      "or it was stripped",
                      nsr_part_names[needed[i]]);
  return NSR_OK;
}

static enum nsr_status read_text(struct elf *f, uint32_t i,
                                 struct nsr_stream *s) {
  const struct nsr_section *text = &f->headers[i].section;
  uint16_t word = f->reader.k->isa->word;
  NSR_TRY(check_ours(f, i, SHT_PROGBITS));
  if (text->size % word)
    return nsr_fail(f->reader.ctx, NSR_E_FORMAT, in_file(f),
                    "section %s: its size, %llu, is not a multiple of the "
                    "instruction size, %u",
                    text->name, (unsigned long long)text->size, word);
  if (text->size / word > NSR_MAX_STREAM)
    return section_fail(f, NSR_E_FORMAT, i, "it has too many instructions");
  s->n = (uint32_t)(text->size / word);
  s->code = text->data;
  f->headers[i].used = true;
  f->by_section[i] = s;
  return NSR_OK;
}

/* Which section holds the code of each engine, 0: none. */
static enum nsr_status find_text(struct elf *f, uint32_t *section) {
  const struct nsr_isa *isa = f->reader.k->isa;
  for (uint32_t i = 1; i < f->nsections; i++) {
    const struct nsr_section *s = &f->headers[i].section;
    int e = nsr_text_engine(isa, s->name);
    if (e < 0)
      continue;
    if (section[e])
      return section_fail(f, NSR_E_FORMAT, i, "there are two of this name");
    section[e] = i;
  }
  return NSR_OK;
}

static enum nsr_status read_streams(struct elf *f) {
  struct nsr_reader *r = &f->reader;
  uint32_t section[NSR_MAX_ENGINES] = {0}, n = 0;
  struct nsr_stream *streams;
  NSR_NEW(r->ctx, NSR_SCRATCH, f->by_section, f->nsections);
  NSR_TRY(find_text(f, section));
  NSR_NEW(r->ctx, NSR_KEEP, streams, NSR_MAX_ENGINES);
  for (int e = 0; e < r->k->isa->nengines; e++) {
    if (!section[e])
      continue;
    r->by_engine[e] = &streams[n++];
    r->by_engine[e]->engine = (uint8_t)e;
    NSR_TRY(read_text(f, section[e], r->by_engine[e]));
  }
  r->k->streams = streams;
  r->k->nstreams = n;
  return NSR_OK;
}

static enum nsr_status read_symbols(struct elf *f) {
  uint32_t table = 0;
  for (uint32_t i = 1; i < f->nsections; i++) {
    if (f->headers[i].section.type != SHT_SYMTAB)
      continue;
    if (table)
      return section_fail(f, NSR_E_FORMAT, i, "there are two symbol tables");
    table = i;
  }
  if (!table)
    return NSR_OK;
  uint32_t strings = f->headers[table].link;
  if (strings == 0 || strings >= f->nsections ||
      f->headers[strings].section.type != SHT_STRTAB)
    return section_fail(f, NSR_E_FORMAT, table, "it has no string table");
  f->headers[table].used = true;
  f->headers[strings].used = true;
  return nsr_symbols_read(&f->reader, contents(f, table), contents(f, strings),
                          f->by_section, f->nsections);
}

/* ---- all others */

static enum nsr_status read_others(struct elf *f) {
  NSR_VEC(struct nsr_section) others = {0};
  for (uint32_t i = 1; i < f->nsections; i++) {
    const struct header *h = &f->headers[i];
    if (h->address)
      return section_fail(f, NSR_E_REFUSED, i,
                          "its address cannot be kept: a kernel has none");
    if (h->used || h->section.type == SHT_NULL)
      continue;
    const char *problem = nsr_section_problem(f->reader.k->isa, &h->section);
    if (!problem && h->link)
      problem = "its header refers to another section by number";
    if (problem)
      return nsr_fail(f->reader.ctx, NSR_E_REFUSED, in_file(f),
                      "section %u (%s) cannot be carried along: %s", i,
                      h->section.name, problem);
    NSR_PUSH(f->reader.ctx, NSR_KEEP, &others, h->section);
  }
  f->reader.k->sections = others.v;
  f->reader.k->nsections = (uint32_t)others.n;
  return NSR_OK;
}

static enum nsr_status read_all(struct elf *f) {
  NSR_TRY(check_header(f));
  NSR_TRY(read_headers(f));
  NSR_TRY(read_names(f));
  NSR_TRY(find_parts(f));
  NSR_TRY(check_parts(f));
  NSR_TRY(nsr_note_read(&f->reader));
  NSR_TRY(read_streams(f));
  NSR_TRY(nsr_tensors_read(&f->reader));
  NSR_TRY(nsr_files_read(&f->reader));
  NSR_TRY(nsr_lines_read(&f->reader));
  NSR_TRY(nsr_relocs_read(&f->reader));
  NSR_TRY(read_symbols(f));
  return read_others(f);
}

enum nsr_status nsr_kernel_read_here(struct nsr_ctx *ctx, const char *path,
                                     const uint8_t *data, size_t size,
                                     struct nsr_kernel **k) {
  struct elf f = {.reader = {.ctx = ctx}, .image = data, .size = size};
  if (path && !(path = nsr_strndup(ctx, NSR_KEEP, path, strlen(path))))
    return NSR_E_NOMEM;
  NSR_NEW(ctx, NSR_KEEP, f.reader.k, 1);
  f.reader.k->path = path;
  f.reader.path = path;
  struct nsr_mark mark = nsr_scratch_mark(ctx);
  enum nsr_status status = read_all(&f);
  nsr_scratch_release(ctx, mark);
  if (status == NSR_OK)
    *k = f.reader.k;
  return status;
}

enum nsr_status nsr_kernel_read(struct nsr_ctx *ctx, const char *path,
                                const uint8_t *data, size_t size,
                                struct nsr_kernel **k) {
  const char *copy = nsr_strndup(ctx, NSR_KEEP, (const char *)data, size);
  if (!copy)
    return NSR_E_NOMEM;
  return nsr_kernel_read_here(ctx, path, (const uint8_t *)copy, size, k);
}
