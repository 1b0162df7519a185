/* footprint.h - which bytes an access touches, and whether two meet.
 *
 * A footprint is a rectangle: the same byte pattern in every partition of a
 * range. DRAM counts as one partition 0; its rows are a dimension like any
 * other. The pattern is exact (a set of equal runs at regular steps) or, where
 * a register decides, a hull: some bytes of lo..hi-1, nobody knows which.
 */
#ifndef NSR_MEM_FOOTPRINT_H
#define NSR_MEM_FOOTPRINT_H

#include <nsr/kernel.h>

enum { NSR_FOOTPRINT_DIMS = NSR_MAX_DIMS + 1 }; /* rows of DRAM are one */

/* Behind the spaces of memory: hidden state of engines, a partition each; and
 * the place of unknown effects. */
enum { NSR_SPACE_HIDDEN = NSR_PSUM + 1, NSR_SPACE_ANYTHING };

enum nsr_footprint_kind { NSR_FOOTPRINT_EXACT, NSR_FOOTPRINT_HULL };

struct nsr_footprint_dim {
  int64_t step, count; /* bytes > run; count > 1 */
};

/* Normal form, so that equal sets mostly are equal values: steps positive and
 * descending, what joins up is one dimension or part of the run. Of an exact
 * footprint the runs start at lo + i*step + ..; a hull has no dimensions and
 * its run is the whole of it. Members that mean nothing are 0. */
struct nsr_footprint {
  uint8_t space; /* enum nsr_space */
  uint8_t role;  /* enum nsr_role */
  uint8_t kind;  /* enum nsr_footprint_kind */
  uint8_t ndims;
  uint32_t part, nparts;
  int64_t lo, hi; /* every byte lies in lo..hi-1 */
  int64_t run;    /* bytes */
  struct nsr_footprint_dim dims[NSR_FOOTPRINT_DIMS];
};

/* Some bytes, for messages. */
struct nsr_bytes {
  uint8_t space; /* enum nsr_space */
  uint32_t part, nparts;
  int64_t lo, hi;
};

static inline bool nsr_footprint_empty(const struct nsr_footprint *f) {
  return !f->nparts || f->lo >= f->hi;
}
static inline bool nsr_footprint_reads(const struct nsr_footprint *f) {
  return nsr_role_reads((enum nsr_role)f->role);
}
static inline bool nsr_footprint_writes(const struct nsr_footprint *f) {
  return nsr_role_writes((enum nsr_role)f->role);
}

/* The bytes of an operand tied to `tensor` (NSR_NONE: to none). reg_value is
 * the value of its address register, NULL: unknown. An unknown address, or a
 * count in a register, gives the hull: all bytes of the tensor, or of the
 * space where none is tied, in the operand's partitions. */
void nsr_footprint_of(const struct nsr_kernel *k, const struct nsr_operand *op,
                      uint32_t tensor, const int32_t *reg_value,
                      struct nsr_footprint *out);

/* All of a space, as a hull, role rw: of instructions with unknown effects,
 * and EXTERNAL for DRAM. */
struct nsr_footprint nsr_footprint_everything(enum nsr_space space);

enum nsr_overlap { NSR_OVERLAP_NO, NSR_OVERLAP_MAY, NSR_OVERLAP_MUST };

/* Whether the two touch a common byte; roles decide nothing but that a may
 * role (and a hull) turns MUST into MAY. Two exact footprints are decided
 * exactly, but for strides so incommensurable that the search gives up: MAY.
 * Unless NO, *where is one range of common bytes (where the answer came from
 * giving up: of the hulls). where may be NULL. */
enum nsr_overlap nsr_overlap(const struct nsr_footprint *a,
                             const struct nsr_footprint *b,
                             struct nsr_bytes *where);
#endif
