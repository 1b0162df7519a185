/* kernel.h - a kernel: engines' streams, queues, tensors, labels, lines.
 *
 * The value every stage reads. Once made it is const: a pass makes a new
 * one. Streams stay raw words; decode what you look at (nsr_decode), which
 * costs little and keeps a million instructions at 64 bytes each.
 *
 * Cross references are indices into the flat arrays below.
 */
#ifndef NSR_KERNEL_H
#define NSR_KERNEL_H

#include <nsr/isa.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { NSR_MAX_SHAPE = 8, NSR_MAX_STREAM = 1 << 26 };
#define NSR_NONE UINT32_MAX

enum nsr_tensor_role { NSR_INPUT, NSR_OUTPUT, NSR_TENSOR_SCRATCH };

struct nsr_tensor {
  const char *name;
  uint8_t space; /* enum nsr_space */
  uint8_t dtype; /* enum nsr_dtype */
  uint8_t role;  /* enum nsr_tensor_role */
  uint8_t nshape;
  uint32_t shape[NSR_MAX_SHAPE];
  uint16_t part, nparts; /* on chip; 0, 0 in DRAM */
  uint64_t offset;       /* bytes; on chip within each partition */
  uint64_t bytes;        /* in DRAM in all; on chip per partition */
  bool has_range;        /* control tensor: its values lie in lo..hi */
  int32_t lo, hi;
  const uint8_t *data; /* initial contents, DRAM only; NULL: none */
  uint64_t data_size;  /* <= bytes */
};

/* What a field refers to. Sorted by (insn, operand, position). */
enum nsr_reloc_kind {
  NSR_RELOC_TENSOR, /* operands[operand] lies in tensor `target` */
  NSR_RELOC_BRANCH  /* insn may go to instruction `target` */
};
struct nsr_reloc {
  uint32_t insn;
  uint8_t kind;    /* enum nsr_reloc_kind */
  uint8_t operand; /* NSR_RELOC_TENSOR */
  uint32_t target; /* tensor, or instruction index (0..n, n: the end) */
};

/* A label. insn 0..n, n: the stream's end. Sorted by (insn, order in file). */
struct nsr_label {
  const char *name;
  uint32_t insn;
};

/* Source of one instruction: line 0 means none. */
struct nsr_line {
  uint32_t file; /* index into nsr_kernel.files */
  uint32_t line;
};

struct nsr_stream {
  uint8_t engine;      /* index into isa->engines */
  uint32_t n;          /* instructions */
  const uint8_t *code; /* n * isa->word bytes */
  uint32_t nrelocs, nlabels;
  const struct nsr_reloc *relocs;
  const struct nsr_label *labels;
  const struct nsr_line *lines; /* n of them, or NULL: none known */
};

struct nsr_queue {
  const char *name; /* "q0" */
  uint8_t engine;   /* the engine that feeds it */
  enum nsr_order order;
};

/* A section this library does not understand: carried byte for byte. */
struct nsr_section {
  const char *name;
  uint32_t type;  /* sh_type */
  uint64_t flags; /* sh_flags */
  uint64_t align, entsize;
  uint32_t info;
  const uint8_t *data; /* NULL for SHT_NOBITS */
  uint64_t size;
};

struct nsr_kernel {
  const struct nsr_isa *isa;
  const char *name;
  const char *path; /* where it was read from, for messages; may be NULL */
  enum nsr_order pipe_order[NSR_MAX_ENGINES]; /* by engine */
  uint16_t owned_first, owned_last;           /* owned semaphores */
  uint32_t nqueues, ntensors, nfiles, nstreams, nsections;
  const struct nsr_queue *queues; /* a queue instruction's number indexes it */
  const struct nsr_tensor *tensors;
  const char *const *files;         /* source files of the line tables */
  const struct nsr_stream *streams; /* by engine index, one each at most */
  const struct nsr_section *sections;
};

/* A channel: what retires in order. Channels 0..nengines-1 are the engines'
 * pipelines, nengines+q is queue q. */
static inline int nsr_channel(const struct nsr_kernel *k, int engine,
                              const struct nsr_insn *insn) {
  return insn->desc->queue ? k->isa->nengines + insn->queue : engine;
}
static inline int nsr_nchannels(const struct nsr_kernel *k) {
  return k->isa->nengines + (int)k->nqueues;
}
static inline int nsr_channel_engine(const struct nsr_kernel *k, int ch) {
  return ch < k->isa->nengines ? ch : k->queues[ch - k->isa->nengines].engine;
}
static inline enum nsr_order nsr_channel_order(const struct nsr_kernel *k,
                                               int ch) {
  return ch < k->isa->nengines ? k->pipe_order[ch]
                               : k->queues[ch - k->isa->nengines].order;
}
const char *nsr_channel_name(const struct nsr_kernel *k, int channel);

static inline bool nsr_owned(const struct nsr_kernel *k, uint32_t sem) {
  return sem >= k->owned_first && sem <= k->owned_last;
}

/* The stream of an engine, NULL if it has none. */
const struct nsr_stream *nsr_kernel_stream(const struct nsr_kernel *k,
                                           int engine);
static inline const uint8_t *nsr_stream_word(const struct nsr_kernel *k,
                                             const struct nsr_stream *s,
                                             uint32_t i) {
  return s->code + (size_t)i * k->isa->word;
}
/* The relocs of one instruction: *n of them (binary search). */
const struct nsr_reloc *nsr_stream_relocs(const struct nsr_stream *s,
                                          uint32_t insn, uint32_t *n);
/* The tensor an operand is tied to, NSR_NONE: none. */
uint32_t nsr_operand_tensor(const struct nsr_stream *s, uint32_t insn,
                            int operand);
/* The last label at or before insn, NULL: none. */
const struct nsr_label *nsr_stream_label(const struct nsr_stream *s,
                                         uint32_t insn);
/* Engine, index, nearest label and source line of an instruction. */
struct nsr_place nsr_insn_place(const struct nsr_kernel *k,
                                const struct nsr_stream *s, uint32_t insn);
/* Decodes instruction i of s; reports place and reason where it fails. */
NSR_MUST_USE enum nsr_status nsr_stream_decode(struct nsr_ctx *ctx,
                                               const struct nsr_kernel *k,
                                               const struct nsr_stream *s,
                                               uint32_t i,
                                               struct nsr_insn *insn);

/* Distrusts once, before anything else reads: every word decodes, reserved
 * bits are 0, no early update bit, branches stay in their stream and relocs
 * agree with them, no stream runs off its end, queues exist and are fed by
 * the engine that uses them, registers and semaphores exist, tensors lie in
 * their space, constant accesses lie in space and tensor, lines name files. */
NSR_MUST_USE enum nsr_status nsr_kernel_check(struct nsr_ctx *ctx,
                                              const struct nsr_kernel *k);

/* ELF bytes to kernel and back (src/object). Reading checks the container
 * only; nsr_kernel_load also checks the kernel. Everything read is copied
 * into or lives in ctx. Writing is deterministic: a function of *k alone. */
NSR_MUST_USE enum nsr_status nsr_kernel_read(struct nsr_ctx *ctx,
                                             const char *path,
                                             const uint8_t *data, size_t size,
                                             struct nsr_kernel **k);
NSR_MUST_USE enum nsr_status nsr_kernel_write(struct nsr_ctx *ctx,
                                              const struct nsr_kernel *k,
                                              const uint8_t **data,
                                              size_t *size);
/* A file that holds kernels: an ELF object, or a NEFF archive (a header of
 * 1024 bytes, then a tar, perhaps gzipped) with any number of objects among
 * its members. Tools loop over members and need not know which it is.
 */
struct nsr_member {
  const char *name;    /* in the archive; NULL: the file is the object */
  const char *path;    /* for messages: "FILE" or "FILE(NAME)" */
  const uint8_t *data; /* as stored; NULL: no regular file */
  uint64_t size;
  bool is_kernel; /* nsr_kernel_read is worth a try */
};

struct nsr_archive; /* private to src/object */

struct nsr_container {
  const char *path;
  uint32_t nmembers, nkernels; /* nkernels: members with is_kernel */
  const struct nsr_member *members;
  const struct nsr_archive *archive; /* NULL: a plain file, one member */
};

struct nsr_blob {
  const uint8_t *data;
  size_t size;
};

/* Looks into size bytes of a file; data must live as long as *c. A file that
 * is no archive gives one member with is_kernel, whatever it holds:
 * nsr_kernel_read then says what is wrong with it. Archives that expand to
 * more than 4 GiB are NSR_E_FORMAT. */
NSR_MUST_USE enum nsr_status
nsr_container_read(struct nsr_ctx *ctx, const char *path, const uint8_t *data,
                   size_t size, struct nsr_container **c);

/* nsr_kernel_read and nsr_kernel_check on member i; *k points into the
 * container. */
NSR_MUST_USE enum nsr_status nsr_container_kernel(struct nsr_ctx *ctx,
                                                  const struct nsr_container *c,
                                                  uint32_t i,
                                                  struct nsr_kernel **k);

/* The file with member i replaced by replace[i] (nmembers entries; data NULL:
 * kept). Everything else stays byte for byte: header, order, names, modes,
 * times, contents. Gzipped again iff it was, without a time. Nothing
 * replaced: the bytes that were read. */
NSR_MUST_USE enum nsr_status nsr_container_write(struct nsr_ctx *ctx,
                                                 const struct nsr_container *c,
                                                 const struct nsr_blob *replace,
                                                 const uint8_t **data,
                                                 size_t *size);

/* nsr_file_read, nsr_container_read, nsr_container_kernel. An archive must
 * hold one kernel; of several the message lists them (NSR_E_USAGE), none is
 * NSR_E_FORMAT. */
NSR_MUST_USE enum nsr_status
nsr_kernel_load(struct nsr_ctx *ctx, const char *path, struct nsr_kernel **k);

#ifdef __cplusplus
}
#endif
#endif
