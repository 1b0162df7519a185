/* runs.h - the bytes of an access in element order, as runs. */
#ifndef NSR_SIM_RUNS_H
#define NSR_SIM_RUNS_H

#include "sim/model.h"

struct nsr_runs {
  int64_t begin; /* of this run */
  uint32_t part; /* partition, 0 in DRAM */
  uint32_t len;  /* bytes of this run */
  bool more;     /* this run exists */
  uint32_t last_part;
  int64_t offset;
  int ndims;
  uint32_t at[NSR_MAX_DIMS + 1];
  struct {
    int64_t step;
    uint32_t count;
  } dims[NSR_MAX_DIMS + 1];
};

/* for (nsr_runs_first(&r, &shape, offset); r.more; nsr_runs_next(&r)) */
void nsr_runs_first(struct nsr_runs *r, const struct nsr_shape *shape,
                    int64_t offset);
void nsr_runs_next(struct nsr_runs *r);

/* The shape of operand i of an instance, its counts resolved. */
struct nsr_shape nsr_flight_shape(const struct nsr_flight *f, int i);
/* Bytes of all its elements; UINT64_MAX: more than can be. */
uint64_t nsr_shape_bytes(const struct nsr_shape *s);

/* Room for n bytes in f->bytes, kept by its place in the ring. */
NSR_MUST_USE enum nsr_status nsr_flight_reserve(struct nsr_ctx *ctx,
                                                enum nsr_arena_id arena,
                                                struct nsr_flight *f, size_t n);
#endif
