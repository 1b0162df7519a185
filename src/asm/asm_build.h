/* asm_build.h - a kernel being made, by the assembler and from JSON: vectors
 * in the scratch arena, copied out at the end; but what is as long as the
 * streams, and names, in the keep arena from the start.
 */
#ifndef NSR_ASM_BUILD_H
#define NSR_ASM_BUILD_H

#include "asm/asm_map.h"
#include "base/vec.h"

enum { NSR_BUILD_NOBITS = 8 }; /* type of a section without bytes */

struct nsr_build_stream {
  bool present;
  bool has_lines; /* a line table is due; set by lines other than 0 */
  uint32_t n;
  NSR_VEC(uint8_t) code; /* these three are kept: NSR_APPEND */
  NSR_VEC(struct nsr_reloc) relocs;
  NSR_VEC(struct nsr_line) lines; /* one for each instruction */
  NSR_VEC(struct nsr_label) labels;
  struct nsr_map label_map; /* to instructions */
};

struct nsr_build_section {
  struct nsr_section head; /* type NSR_BUILD_NOBITS: size is valid */
  NSR_VEC(uint8_t) data;
};

struct nsr_build {
  struct nsr_ctx *ctx;
  struct nsr_kernel kernel; /* scalars; the arrays are below */
  NSR_VEC(struct nsr_queue) queues;
  NSR_VEC(struct nsr_tensor) tensors;
  NSR_VEC(const char *) files;
  NSR_VEC(struct nsr_build_section) sections;
  struct nsr_build_stream streams[NSR_MAX_ENGINES];
  struct nsr_map tensor_map, file_map; /* to the first of a name */
};

/* Sets the instruction set and what follows from it. */
void nsr_build_isa(struct nsr_build *b, const struct nsr_isa *isa);
/* Adds an instruction; the stream must have room (NSR_MAX_STREAM). */
NSR_MUST_USE enum nsr_status nsr_build_word(struct nsr_build *b, int engine,
                                            const uint8_t *word,
                                            struct nsr_line line);
/* Adds a label at the stream's end so far; its name must be new. */
NSR_MUST_USE enum nsr_status nsr_build_label(struct nsr_build *b, int engine,
                                             const char *name, size_t n);
/* Adds a tensor whose name is new and kept. */
NSR_MUST_USE enum nsr_status nsr_build_tensor(struct nsr_build *b,
                                              const struct nsr_tensor *t);
/* A further source file, or the first one of that name if there is one. */
NSR_MUST_USE enum nsr_status nsr_build_new_file(struct nsr_build *b,
                                                const char *name, size_t n,
                                                uint32_t *file);
NSR_MUST_USE enum nsr_status
nsr_build_file(struct nsr_build *b, const char *name, size_t n, uint32_t *file);
/* The kernel, in the keep arena. */
NSR_MUST_USE enum nsr_status
nsr_build_finish(struct nsr_build *b, const char *path, struct nsr_kernel **k);
/* Length of the mark that some editors put in front of UTF-8; 0: none. */
size_t nsr_byte_order_mark(const char *text, size_t n);

#endif
