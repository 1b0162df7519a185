/* bytes.h - memory as bytes: numeric mode. */
#ifndef NSR_SIM_BYTES_H
#define NSR_SIM_BYTES_H

#include "sim/model.h"

struct nsr_byte_memory;

/* Memory as the file fills it. Inputs without contents get numbers made up
 * from their name (floats in [-1, 1), integers in their range or 0..3); what
 * is never written holds 0xff, not a number in most formats. */
NSR_MUST_USE enum nsr_status nsr_bytes_new(struct nsr_ctx *ctx,
                                           enum nsr_arena_id arena,
                                           const struct nsr_image *image,
                                           struct nsr_byte_memory **memory);
struct nsr_memory *nsr_bytes_memory(struct nsr_byte_memory *memory);

/* n bytes of a space; part is 0 in DRAM. */
NSR_MUST_USE enum nsr_status nsr_bytes_get(struct nsr_byte_memory *memory,
                                           enum nsr_space space, uint32_t part,
                                           uint64_t offset, uint8_t *out,
                                           size_t n);
NSR_MUST_USE enum nsr_status nsr_bytes_put(struct nsr_byte_memory *memory,
                                           enum nsr_space space, uint32_t part,
                                           uint64_t offset, const uint8_t *in,
                                           size_t n);
/* The next stretch of a space (a part's rows one behind the other) in which
 * something was ever put, in no order; *at is 0 at first. False: no more. */
bool nsr_bytes_written(const struct nsr_byte_memory *memory,
                       enum nsr_space space, size_t *at, uint64_t *begin,
                       uint64_t *end);
#endif
