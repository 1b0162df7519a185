/* image.h - a kernel decoded once, for running: one struct nsr_step per
 * instruction, operands beside them, and what the model and whoever watches it
 * ask of an instruction again and again.
 */
#ifndef NSR_SIM_IMAGE_H
#define NSR_SIM_IMAGE_H

#include <nsr/kernel.h>

#include "base/arena.h"

/* A walk over bytes: on chip, partitions part..part+nparts-1, in each the
 * same bytes; in DRAM the rows are the outermost dimension and part and
 * nparts are 0 and 1. Unused members are 0, so shapes compare as bytes. */
struct nsr_shape {
  uint8_t space; /* enum nsr_space */
  uint8_t bytes; /* of one element */
  uint8_t ndims;
  uint8_t unused;
  uint32_t part, nparts;
  struct {
    int32_t step;
    uint32_t count;
  } dims[NSR_MAX_DIMS + 1];
};

/* One operand of one datapath instruction or register load. */
struct nsr_access {
  struct nsr_operand op;
  uint32_t tensor; /* it must stay inside, NSR_NONE: none */
  uint32_t uid;    /* index in nsr_image.accesses */
  bool fixed;      /* no count in a register: shape, low, high are valid */
  bool empty;      /* fixed and no element */
  struct nsr_shape shape;
  int64_t low, high; /* bytes touched, relative to the run-time offset */
};

enum {
  NSR_STEP_SKIP = 1,           /* a no-op that only touches owned semaphores */
  NSR_STEP_FOREIGN_WAIT = 2,   /* waits on a semaphore of others */
  NSR_STEP_FOREIGN_UPDATE = 4, /* updates one; a core barrier counts as both */
  NSR_STEP_ORDERED = 8,        /* hidden state, or writes PSUM */
  NSR_STEP_DRAM = 16           /* has an operand in DRAM */
};

struct nsr_step {
  const struct nsr_insn_desc *desc;
  const struct nsr_access *access; /* naccess of them */
  const int64_t *args;             /* desc->nargs of them */
  uint64_t signature;              /* all that makes it the same instruction */
  struct nsr_wait wait;
  struct nsr_update update;
  struct nsr_val a, b;
  int32_t target; /* branch: instruction index; barrier: id */
  int16_t dst, cond, value_reg;
  uint16_t hidden[NSR_MAX_HIDDEN]; /* of the image: 0..nhidden-1 */
  uint8_t cc, channel, naccess, flags;
};

struct nsr_image_stream {
  const struct nsr_stream *stream; /* NULL: no such engine in the kernel */
  const struct nsr_step *steps;
  uint32_t n;
};

struct nsr_image {
  const struct nsr_kernel *kernel;
  const struct nsr_isa *isa;
  int nengines, nchannels, nhidden;
  uint32_t naccesses;
  struct nsr_access *accesses;
  struct nsr_image_stream streams[NSR_MAX_ENGINES];
  bool has_may;     /* some operand touches only some of its bytes */
  bool has_foreign; /* some wait or update on a semaphore of others */
  bool has_unknown; /* some instruction with unknown effects */
  bool loads_float; /* some register load reads bits of a float */
};

/* Decodes k. Words that do not decode, and numbers of registers, semaphores,
 * queues and branch targets that do not exist, are NSR_E_FORMAT. */
NSR_MUST_USE enum nsr_status nsr_image_new(struct nsr_ctx *ctx,
                                           enum nsr_arena_id arena,
                                           const struct nsr_kernel *k,
                                           struct nsr_image **image);

/* The place of a step for messages. */
struct nsr_place nsr_image_place(const struct nsr_image *image, int engine,
                                 uint32_t insn);

/* The shape of an access whose counts were resolved to count[] (those of
 * dimensions without a register are ignored), and the bytes it touches
 * relative to its offset. False: no element at all. */
bool nsr_access_resolve(const struct nsr_access *access, const uint32_t *count,
                        struct nsr_shape *shape, int64_t *low, int64_t *high);

#endif
