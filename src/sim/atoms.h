/* atoms.h - memory cut into atoms: partition range x byte range, so that
 * every access is a union of whole atoms. The cuts are sorted lists per
 * dimension and space, shared by all runs of the kernels that are compared.
 *
 * An access at an address not seen before may need new cuts. They are
 * collected, the access is then covered by atoms that reach too far, and
 * nsr_atoms_pending says so: the run must be repeated after nsr_atoms_commit,
 * until a run needs none.
 */
#ifndef NSR_SIM_ATOMS_H
#define NSR_SIM_ATOMS_H

#include "sim/image.h"

/* Atoms first + j*stride + i for j < count, i < len. */
struct nsr_piece {
  uint32_t first, len, stride, count;
};

/* The atoms of one access, each once. */
struct nsr_cover {
  uint32_t n; /* atoms in all */
  uint32_t npieces;
  const struct nsr_piece *pieces;
};

struct nsr_atoms;

/* Atoms live in an arena of their own; free them after use. NULL: out of
 * memory (reported). */
struct nsr_atoms *nsr_atoms_new(struct nsr_ctx *ctx, const struct nsr_isa *isa);
void nsr_atoms_free(struct nsr_atoms *atoms);

/* Asks for cuts around an access at a fixed address, or a range of DRAM. */
NSR_MUST_USE enum nsr_status nsr_atoms_need(struct nsr_atoms *atoms,
                                            const struct nsr_shape *shape,
                                            int64_t offset);
NSR_MUST_USE enum nsr_status nsr_atoms_need_dram(struct nsr_atoms *atoms,
                                                 uint64_t begin, uint64_t end);

/* Makes the cuts asked for; numbers of atoms and covers from before are
 * void, those of shapes stay. */
NSR_MUST_USE enum nsr_status nsr_atoms_commit(struct nsr_atoms *atoms);
bool nsr_atoms_pending(const struct nsr_atoms *atoms);

/* Memory is in too many pieces for this machine: no verdict is possible. */
bool nsr_atoms_overflow(const struct nsr_atoms *atoms);

/* Grows by one with each commit. */
uint32_t nsr_atoms_version(const struct nsr_atoms *atoms);
uint32_t nsr_atoms_count(const struct nsr_atoms *atoms);

/* A small number for a shape: equal shapes, equal numbers. */
NSR_MUST_USE enum nsr_status nsr_atoms_shape(struct nsr_atoms *atoms,
                                             const struct nsr_shape *shape,
                                             uint32_t *id);
/* The atoms of shape `id` at an offset; lives until the next commit. */
NSR_MUST_USE enum nsr_status nsr_atoms_cover(struct nsr_atoms *atoms,
                                             uint32_t id, int64_t offset,
                                             const struct nsr_cover **cover);

/* Forgets covers if they take much memory; between runs only. */
void nsr_atoms_trim(struct nsr_atoms *atoms);

/* Where an atom lies. */
struct nsr_extent {
  uint8_t space;
  uint32_t part, nparts; /* 0, 1 in DRAM */
  uint64_t begin, end;   /* bytes */
};
struct nsr_extent nsr_atoms_extent(const struct nsr_atoms *atoms,
                                   uint32_t atom);
/* The atom at a place; for DRAM part is 0. */
uint32_t nsr_atoms_at(const struct nsr_atoms *atoms, uint8_t space,
                      uint32_t part, uint64_t byte);

/* for (struct nsr_cover_iter it = nsr_cover_first(c); it.more;
 *      nsr_cover_next(&it)) use(it.atom) */
struct nsr_cover_iter {
  const struct nsr_piece *piece, *end;
  uint32_t atom, i, j;
  bool more;
};

static inline struct nsr_cover_iter nsr_cover_first(const struct nsr_cover *c) {
  struct nsr_cover_iter it = {c->pieces, c->pieces + c->npieces, 0, 0,
                              0,         c->npieces > 0};
  if (it.more)
    it.atom = it.piece->first;
  return it;
}

static inline void nsr_cover_next(struct nsr_cover_iter *it) {
  if (++it->i < it->piece->len) {
    it->atom++;
  } else if (++it->j < it->piece->count) {
    it->i = 0;
    it->atom = it->piece->first + it->j * it->piece->stride;
  } else if (++it->piece < it->end) {
    it->i = it->j = 0;
    it->atom = it->piece->first;
  } else {
    it->more = false;
  }
}
#endif
