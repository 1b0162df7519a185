/* tables.c - tensors, source files, lines, relocations: the tables of a
 * kernel file, both ways. Layouts stand above each pair.
 */
#include <string.h>

#include "object/format.h"

enum {
  TABLE_VERSION = 1,
  TENSOR_MIN = 57,
  FILE_MIN = 5,
  LINES_MIN = 8,
  RELOC_SIZE = 12,
  HAS_RANGE = 1,
  HAS_DATA = 2
};

const char *const nsr_part_names[NSR_NPARTS] = {/* ORDER PART */
                                                ".note.nsr",  ".nsr.tensors",
                                                ".nsr.data",  ".nsr.files",
                                                ".nsr.lines", ".nsr.relocs"};

int nsr_part_by_name(const char *name) {
  for (int i = 0; i < NSR_NPARTS; i++)
    if (strcmp(name, nsr_part_names[i]) == 0)
      return i;
  return -1;
}

int nsr_text_engine(const struct nsr_isa *isa, const char *name) {
  size_t n = sizeof NSR_TEXT_PREFIX - 1;
  if (strncmp(name, NSR_TEXT_PREFIX, n) != 0)
    return -1;
  return nsr_isa_engine(isa, name + n);
}

enum nsr_status nsr_part_fail(struct nsr_reader *r, enum nsr_part part,
                              const char *what) {
  return nsr_fail(r->ctx, NSR_E_FORMAT,
                  (struct nsr_place){.file = r->path, .insn = -1},
                  "section %s is malformed: %s", nsr_part_names[part], what);
}

static enum nsr_status check_version(struct nsr_reader *r, enum nsr_part part,
                                     struct nsr_in *in) {
  if (nsr_in_u32(in) != TABLE_VERSION)
    return nsr_part_fail(r, part, "its version is not 1");
  return NSR_OK;
}

/* ---- .nsr.tensors
 *
 *   u32 version, u32 tensors, each:
 *     str name, u8 space, u8 dtype, u8 role, u8 flags (1: range, 2: data),
 *     u16 part, u16 nparts, u64 offset, u64 bytes, i32 lo, i32 hi,
 *     u64 place in .nsr.data, u64 data bytes, u32 dimensions, u32 each
 */

static bool read_contents(struct nsr_reader *r, struct nsr_tensor *t,
                          uint8_t flags, uint64_t at, uint64_t size) {
  const struct nsr_in *data = &r->parts[NSR_PART_DATA];
  if (!(flags & HAS_DATA))
    return at == 0 && size == 0;
  if (at > data->left || size > data->left - at)
    return false;
  t->data = data->p ? data->p + at : (const uint8_t *)"";
  t->data_size = size;
  return true;
}

static const char *read_tensor(struct nsr_reader *r, struct nsr_in *in,
                               struct nsr_tensor *t) {
  t->name = nsr_in_str(in);
  t->space = nsr_in_u8(in);
  t->dtype = nsr_in_u8(in);
  t->role = nsr_in_u8(in);
  uint8_t flags = nsr_in_u8(in);
  t->part = nsr_in_u16(in);
  t->nparts = nsr_in_u16(in);
  t->offset = nsr_in_u64(in);
  t->bytes = nsr_in_u64(in);
  t->has_range = flags & HAS_RANGE;
  int32_t lo = (int32_t)nsr_in_u32(in);
  int32_t hi = (int32_t)nsr_in_u32(in);
  t->lo = t->has_range ? lo : 0;
  t->hi = t->has_range ? hi : 0;
  uint64_t at = nsr_in_u64(in);
  uint64_t size = nsr_in_u64(in);
  uint32_t nshape = nsr_in_count(in, 4);
  if (in->bad)
    return "it is cut off";
  if (nshape > NSR_MAX_SHAPE)
    return "a tensor has too many dimensions";
  if (t->space > NSR_PSUM || t->dtype > NSR_U8 ||
      t->role > NSR_TENSOR_SCRATCH || flags > (HAS_RANGE | HAS_DATA))
    return "a tensor has an unknown space, dtype, role or flag";
  t->nshape = (uint8_t)nshape;
  for (uint32_t i = 0; i < nshape; i++)
    t->shape[i] = nsr_in_u32(in);
  if (!read_contents(r, t, flags, at, size))
    return "a tensor's contents lie outside .nsr.data";
  return NULL;
}

enum nsr_status nsr_tensors_read(struct nsr_reader *r) {
  struct nsr_in in = r->parts[NSR_PART_TENSORS];
  NSR_TRY(check_version(r, NSR_PART_TENSORS, &in));
  uint32_t n = nsr_in_count(&in, TENSOR_MIN);
  struct nsr_tensor *tensors;
  NSR_NEW(r->ctx, NSR_KEEP, tensors, n);
  for (uint32_t i = 0; i < n; i++) {
    const char *problem = read_tensor(r, &in, &tensors[i]);
    if (problem)
      return nsr_part_fail(r, NSR_PART_TENSORS, problem);
  }
  if (!nsr_in_done(&in))
    return nsr_part_fail(r, NSR_PART_TENSORS, "its size is wrong");
  r->k->tensors = tensors;
  r->k->ntensors = n;
  return NSR_OK;
}

static void put_tensor(const struct nsr_tensor *t, uint64_t at,
                       struct nsr_strbuf *b) {
  nsr_put_str(b, t->name);
  nsr_put_u8(b, t->space);
  nsr_put_u8(b, t->dtype);
  nsr_put_u8(b, t->role);
  nsr_put_u8(
      b, (uint8_t)((t->has_range ? HAS_RANGE : 0) | (t->data ? HAS_DATA : 0)));
  nsr_put_u16(b, t->part);
  nsr_put_u16(b, t->nparts);
  nsr_put_u64(b, t->offset);
  nsr_put_u64(b, t->bytes);
  nsr_put_u32(b, t->has_range ? (uint32_t)t->lo : 0);
  nsr_put_u32(b, t->has_range ? (uint32_t)t->hi : 0);
  nsr_put_u64(b, t->data ? at : 0);
  nsr_put_u64(b, t->data ? t->data_size : 0);
  nsr_put_u32(b, t->nshape);
  for (int i = 0; i < t->nshape; i++)
    nsr_put_u32(b, t->shape[i]);
}

void nsr_tensors_write(const struct nsr_kernel *k, struct nsr_strbuf *b) {
  uint64_t at = 0;
  nsr_put_u32(b, TABLE_VERSION);
  nsr_put_u32(b, k->ntensors);
  for (uint32_t i = 0; i < k->ntensors; i++) {
    put_tensor(&k->tensors[i], at, b);
    at += k->tensors[i].data ? k->tensors[i].data_size : 0;
  }
}

void nsr_data_write(const struct nsr_kernel *k, struct nsr_strbuf *b) {
  for (uint32_t i = 0; i < k->ntensors; i++) {
    const struct nsr_tensor *t = &k->tensors[i];
    if (t->data && t->data_size)
      nsr_strbuf_add(b, (const char *)t->data, t->data_size);
  }
}

/* ---- .nsr.files: u32 version, u32 files, each: str name */

enum nsr_status nsr_files_read(struct nsr_reader *r) {
  struct nsr_in in = r->parts[NSR_PART_FILES];
  if (!in.p)
    return NSR_OK;
  NSR_TRY(check_version(r, NSR_PART_FILES, &in));
  uint32_t n = nsr_in_count(&in, FILE_MIN);
  const char **files;
  NSR_NEW(r->ctx, NSR_KEEP, files, n);
  for (uint32_t i = 0; i < n; i++)
    files[i] = nsr_in_str(&in);
  if (!nsr_in_done(&in))
    return nsr_part_fail(r, NSR_PART_FILES, "its size is wrong");
  r->k->files = files;
  r->k->nfiles = n;
  return NSR_OK;
}

void nsr_files_write(const struct nsr_kernel *k, struct nsr_strbuf *b) {
  if (k->nfiles == 0)
    return;
  nsr_put_u32(b, TABLE_VERSION);
  nsr_put_u32(b, k->nfiles);
  for (uint32_t i = 0; i < k->nfiles; i++)
    nsr_put_str(b, k->files[i]);
}

/* ---- .nsr.lines
 *
 *   u32 version, u32 streams, each:
 *     u32 engine, u32 instructions, each: u32 file, u32 line (0: none)
 */

/* The stream of an engine, NULL: none. */
static struct nsr_stream *stream_of(struct nsr_reader *r, uint32_t engine) {
  return engine < r->k->isa->nengines ? r->by_engine[engine] : NULL;
}

static enum nsr_status read_lines(struct nsr_reader *r, struct nsr_in *in) {
  struct nsr_stream *s = stream_of(r, nsr_in_u32(in));
  uint32_t n = nsr_in_count(in, LINES_MIN);
  if (in->bad || !s || s->lines || n != s->n)
    return nsr_part_fail(r, NSR_PART_LINES,
                         "it does not match the code of its engines");
  struct nsr_line *lines;
  NSR_NEW(r->ctx, NSR_KEEP, lines, n);
  for (uint32_t i = 0; i < n; i++) {
    lines[i].file = nsr_in_u32(in);
    lines[i].line = nsr_in_u32(in);
  }
  s->lines = lines;
  return NSR_OK;
}

enum nsr_status nsr_lines_read(struct nsr_reader *r) {
  struct nsr_in in = r->parts[NSR_PART_LINES];
  if (!in.p)
    return NSR_OK;
  NSR_TRY(check_version(r, NSR_PART_LINES, &in));
  uint32_t n = nsr_in_count(&in, LINES_MIN);
  for (uint32_t i = 0; i < n; i++)
    NSR_TRY(read_lines(r, &in));
  if (!nsr_in_done(&in))
    return nsr_part_fail(r, NSR_PART_LINES, "its size is wrong");
  return NSR_OK;
}

void nsr_lines_write(const struct nsr_kernel *k, struct nsr_strbuf *b) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < k->nstreams; i++)
    n += k->streams[i].lines != NULL;
  if (n == 0)
    return;
  nsr_put_u32(b, TABLE_VERSION);
  nsr_put_u32(b, n);
  for (uint32_t i = 0; i < k->nstreams; i++) {
    const struct nsr_stream *s = &k->streams[i];
    if (!s->lines)
      continue;
    nsr_put_u32(b, s->engine);
    nsr_put_u32(b, s->n);
    for (uint32_t j = 0; j < s->n; j++) {
      nsr_put_u32(b, s->lines[j].file);
      nsr_put_u32(b, s->lines[j].line);
    }
  }
}

/* ---- .nsr.relocs
 *
 *   u32 version, u32 relocs, each:
 *     u32 instruction, u32 target, u8 engine, u8 kind, u8 operand, u8 0
 *
 * Those of one engine in the order of kernel.h.
 */

static bool read_reloc(struct nsr_reader *r, struct nsr_in *in,
                       struct nsr_stream **s, struct nsr_reloc *reloc) {
  reloc->insn = nsr_in_u32(in);
  reloc->target = nsr_in_u32(in);
  *s = stream_of(r, nsr_in_u8(in));
  reloc->kind = nsr_in_u8(in);
  reloc->operand = nsr_in_u8(in);
  return nsr_in_u8(in) == 0 && !in->bad && *s && reloc->insn < (*s)->n &&
         reloc->kind <= NSR_RELOC_BRANCH;
}

/* Counts each engine's relocs, then deals them out in file order. */
enum nsr_status nsr_relocs_read(struct nsr_reader *r) {
  struct nsr_in in = r->parts[NSR_PART_RELOCS];
  struct nsr_reloc reloc, *to[NSR_MAX_ENGINES] = {0};
  struct nsr_stream *s;
  NSR_TRY(check_version(r, NSR_PART_RELOCS, &in));
  uint32_t n = nsr_in_count(&in, RELOC_SIZE);
  struct nsr_in again = in;
  for (uint32_t i = 0; i < n; i++) {
    if (!read_reloc(r, &in, &s, &reloc))
      return nsr_part_fail(r, NSR_PART_RELOCS,
                           "an entry names no instruction or has no known "
                           "kind");
    s->nrelocs++;
  }
  if (!nsr_in_done(&in))
    return nsr_part_fail(r, NSR_PART_RELOCS, "its size is wrong");
  for (int e = 0; e < r->k->isa->nengines; e++) {
    if (!r->by_engine[e])
      continue;
    NSR_NEW(r->ctx, NSR_KEEP, to[e], r->by_engine[e]->nrelocs);
    r->by_engine[e]->relocs = to[e];
  }
  for (uint32_t i = 0; i < n; i++)
    if (read_reloc(r, &again, &s, &reloc))
      *to[s->engine]++ = reloc;
  return NSR_OK;
}

void nsr_relocs_write(const struct nsr_kernel *k, struct nsr_strbuf *b) {
  uint64_t n = 0;
  for (uint32_t i = 0; i < k->nstreams; i++)
    n += k->streams[i].nrelocs;
  nsr_put_u32(b, TABLE_VERSION);
  nsr_put_u32(b, (uint32_t)n);
  for (uint32_t i = 0; i < k->nstreams; i++) {
    const struct nsr_stream *s = &k->streams[i];
    for (uint32_t j = 0; j < s->nrelocs; j++) {
      nsr_put_u32(b, s->relocs[j].insn);
      nsr_put_u32(b, s->relocs[j].target);
      nsr_put_u8(b, s->engine);
      nsr_put_u8(b, s->relocs[j].kind);
      nsr_put_u8(b, s->relocs[j].operand);
      nsr_put_u8(b, 0);
    }
  }
}
