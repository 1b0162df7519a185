/* format.h - the parts of a kernel file, shared by its reader and writer.
 *
 *   .text.ENGINE   code, one section per engine that has a stream
 *   .note.nsr      what the kernel is (note.c)
 *   .nsr.tensors   tensors                              (tables.c, from here)
 *   .nsr.data      initial contents of tensors, back to back
 *   .nsr.files     names of source files
 *   .nsr.lines     source lines per instruction
 *   .nsr.relocs    what operands and branches refer to
 *   .symtab        labels, local, value = byte offset in .text.ENGINE
 *
 * Note, tensors and relocs are always there (a tool that strips them leaves no
 * kernel), the others unless empty. All numbers are little endian, every table
 * starts with its version, engines are numbered as in the ISA.
 * All other sections are carried along (kernel.sections).
 */
#ifndef NSR_OBJECT_FORMAT_H
#define NSR_OBJECT_FORMAT_H

#include <nsr/kernel.h>

#include "object/wire.h"

enum {
  NSR_MACHINE = 0x4e53,     /* e_machine: "NS", nobody else's */
  NSR_MAX_SECTIONS = 0xfe00 /* keeps clear of SHN_LORESERVE */
};

#define NSR_TEXT_PREFIX ".text."

/* The sections we own by name. ORDER PART */
enum nsr_part {
  NSR_PART_NOTE,
  NSR_PART_TENSORS,
  NSR_PART_DATA,
  NSR_PART_FILES,
  NSR_PART_LINES,
  NSR_PART_RELOCS,
  NSR_NPARTS
};
extern const char *const nsr_part_names[NSR_NPARTS];
int nsr_part_by_name(const char *name); /* -1: none of ours */
/* The engine whose code a section of this name is, -1: no such engine. */
int nsr_text_engine(const struct nsr_isa *isa, const char *name);

/* Why a section cannot be carried along, NULL: it can. Its contents refer to
 * other sections by number, or its name is one of ours. isa may be NULL. */
const char *nsr_section_problem(const struct nsr_isa *isa,
                                const struct nsr_section *section);

/* A kernel while its file is read. */
struct nsr_reader {
  struct nsr_ctx *ctx;
  const char *path;
  struct nsr_kernel *k;
  struct nsr_stream *by_engine[NSR_MAX_ENGINES]; /* NULL: no stream */
  struct nsr_in parts[NSR_NPARTS];               /* contents; p NULL: absent */
};

/* "section NAME is malformed: what"; NSR_E_FORMAT. */
enum nsr_status nsr_part_fail(struct nsr_reader *r, enum nsr_part part,
                              const char *what);

/* Readers: fill r->k from r->parts. The note comes first and sets the ISA;
 * the others may come in any order once streams are there. */
NSR_MUST_USE enum nsr_status nsr_note_read(struct nsr_reader *r);
NSR_MUST_USE enum nsr_status nsr_tensors_read(struct nsr_reader *r);
NSR_MUST_USE enum nsr_status nsr_files_read(struct nsr_reader *r);
NSR_MUST_USE enum nsr_status nsr_lines_read(struct nsr_reader *r);
NSR_MUST_USE enum nsr_status nsr_relocs_read(struct nsr_reader *r);

/* Writers: one part each into b; nothing where the part is to be absent. */
void nsr_note_write(const struct nsr_kernel *k, struct nsr_strbuf *b);
void nsr_tensors_write(const struct nsr_kernel *k, struct nsr_strbuf *b);
void nsr_data_write(const struct nsr_kernel *k, struct nsr_strbuf *b);
void nsr_files_write(const struct nsr_kernel *k, struct nsr_strbuf *b);
void nsr_lines_write(const struct nsr_kernel *k, struct nsr_strbuf *b);
void nsr_relocs_write(const struct nsr_kernel *k, struct nsr_strbuf *b);

/* A symbol table (p) and its strings, and the stream that each section of the
 * file holds (NULL: none), nsections of them. Sets the streams' labels. */
NSR_MUST_USE enum nsr_status
nsr_symbols_read(struct nsr_reader *r, struct nsr_in table,
                 struct nsr_in strings, struct nsr_stream *const *by_section,
                 uint32_t nsections);
/* Stream i of k is section i + 1. The number of symbols goes to *n, 0: no
 * labels, nothing written. */
void nsr_symbols_write(const struct nsr_kernel *k, struct nsr_strbuf *table,
                       struct nsr_strbuf *strings, uint32_t *n);

/* nsr_kernel_read, but the kernel points into data, which must outlive it. */
NSR_MUST_USE enum nsr_status
nsr_kernel_read_here(struct nsr_ctx *ctx, const char *path, const uint8_t *data,
                     size_t size, struct nsr_kernel **k);

/* Whether the bytes look like a kernel of ours: cheap, from the headers. */
bool nsr_elf_is_kernel(const uint8_t *data, size_t size);
/* Whether they start as any ELF file does. */
bool nsr_elf_magic(const uint8_t *data, size_t size);

/* Gzip (gzip.c): one stream with nothing behind it, up to 4 GiB unpacked, its
 * checksum verified. Packing is deterministic; `before` goes before it. */
bool nsr_is_gzip(const uint8_t *data, size_t size);
NSR_MUST_USE enum nsr_status nsr_gunzip(struct nsr_ctx *ctx, const char *path,
                                        const uint8_t *data, size_t size,
                                        const uint8_t **out, size_t *out_size);
NSR_MUST_USE enum nsr_status nsr_gzip(struct nsr_ctx *ctx, const char *path,
                                      struct nsr_blob before,
                                      struct nsr_blob data, const uint8_t **out,
                                      size_t *out_size);

/* Archives (neff.c). */
bool nsr_neff_detect(const uint8_t *data, size_t size);
/* Fills c, whose path is set, from an archive that was detected. */
NSR_MUST_USE enum nsr_status nsr_neff_read(struct nsr_ctx *ctx,
                                           const uint8_t *data, size_t size,
                                           struct nsr_container *c);
NSR_MUST_USE enum nsr_status nsr_neff_write(struct nsr_ctx *ctx,
                                            const struct nsr_container *c,
                                            const struct nsr_blob *replace,
                                            const uint8_t **data, size_t *size);

#endif
