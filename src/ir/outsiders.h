/* outsiders.h - when others may write between two works.
 *
 * Who takes part from outside hears of a kernel by its updates of foreign
 * semaphores and core barriers, and is heard of by its waits for such and by
 * core barriers. The reference order says nothing about when others act; two
 * works without a barrier between them have such a write between them only if
 * behind the one, on some engine, something tells others, and in front of the
 * other something waits for them.
 */
#ifndef NSR_IR_OUTSIDERS_H
#define NSR_IR_OUTSIDERS_H

#include "base/bitset.h"
#include "ir/tree.h"

/* By work, from and to the next barrier on whatever way it is reached. */
struct nsr_outsiders {
  bool any;         /* false: nobody takes part, no sets */
  uint64_t *waited; /* others were waited for there, or in front of it */
  uint64_t *told;   /* others are told there, or behind it */
};

/* Needs the tree, linearized. */
NSR_MUST_USE enum nsr_status nsr_outsiders_find(struct nsr_ctx *ctx,
                                                const struct nsr_tree *t,
                                                struct nsr_outsiders *out);

/* Loads that are taken to read one value. */
struct nsr_readings {
  bool told, waited; /* of those so far */
  bool apart;        /* others may write between two of them */
};

/* One more: work w. What others may write is in DRAM. */
NSR_MUST_USE enum nsr_status nsr_outsiders_read(struct nsr_ctx *ctx,
                                                const struct nsr_outsiders *o,
                                                const struct nsr_tree *t,
                                                uint32_t w,
                                                struct nsr_readings *r);

#endif
