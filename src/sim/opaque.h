/* opaque.h - memory as tokens: a datapath instruction writes, for each atom of
 * its output, a digest of opcode, instance and everything it read. Equal
 * digests mean equal data for every meaning of the instructions.
 *
 * What steers control stays concrete: integer fills, iotas, register stores
 * and contents of the file, and copies of these, keep their bytes. A byte of
 * an input without contents has a token of its own, what was never written is
 * poison, and a load of either gives a number in the declared range of its
 * tensor.
 */
#ifndef NSR_SIM_OPAQUE_H
#define NSR_SIM_OPAQUE_H

#include "sim/atoms.h"
#include "sim/model.h"

/* Contents that replace those of a DRAM tensor: the words of an input. */
struct nsr_contents {
  uint32_t tensor;
  const uint8_t *data;
  uint64_t size; /* <= the tensor's bytes */
};

struct nsr_opaque {
  struct nsr_memory memory; /* first: the model's view */
  struct nsr_ctx *ctx;
  enum nsr_arena_id arena;
  const struct nsr_image *image;
  struct nsr_atoms *atoms;
  uint64_t *token;       /* per atom */
  const uint8_t **bytes; /* per atom: contents, partition by partition; NULL:
                            opaque */
  uint8_t **own;         /* per atom: room for written contents */
  uint64_t *hidden;      /* per hidden state */
  struct {
    uint32_t shape;
    bool known;
    int64_t offset;
    const struct nsr_cover *cover;
  } * last;         /* per access of the image */
  uint64_t *gather; /* tokens of one read */
  size_t gather_cap;
  size_t gathered;
};

/* Asks for the cuts of everything known before the first run: tensors,
 * contents, accesses at fixed addresses. */
NSR_MUST_USE enum nsr_status nsr_opaque_cuts(struct nsr_atoms *atoms,
                                             const struct nsr_image *image);

/* The cuts of what events of others touch. */
NSR_MUST_USE enum nsr_status
nsr_opaque_external_cuts(struct nsr_atoms *atoms,
                         const struct nsr_external *external);

/* The atoms of DRAM in begin..end-1, where there are cuts at both. */
struct nsr_atom_range {
  uint32_t first, end;
};
struct nsr_atom_range nsr_atoms_dram(const struct nsr_atoms *atoms,
                                     uint64_t begin, uint64_t end);

/* Memory as it is at launch. atoms must be committed. */
NSR_MUST_USE enum nsr_status
nsr_opaque_new(struct nsr_ctx *ctx, enum nsr_arena_id arena,
               const struct nsr_image *image, struct nsr_atoms *atoms,
               const struct nsr_contents *contents, uint32_t ncontents,
               struct nsr_opaque **memory);

#endif
