/* padded.h - arms that add the same whether they run or not.
 */
#ifndef NSR_SYNC_PADDED_H
#define NSR_SYNC_PADDED_H

#include "base/vec.h"
#include "sync/count.h"

/* Needs a linearized tree. By scope: the one in whose body its work may count;
 * another than itself for arms without a barrier that not all engines run, if
 * on each that does only one branch passes them by, to where they end. *any:
 * whether there are such. */
NSR_MUST_USE enum nsr_status nsr_padded_find(struct nsr_ctx *ctx,
                                             const struct nsr_tree *t,
                                             const uint32_t **in, bool *any);

/* What the way past an arm adds: a no-op of a channel. */
struct nsr_pad {
  uint32_t scope; /* the arm */
  int8_t channel;
  uint16_t sem;
  int32_t weight;
};

struct nsr_pads {
  NSR_VEC(struct nsr_pad) l; /* by scope, then channel */
};

/* Needs counts with a scheme; adds the pads of an arm; sems: by channel. */
NSR_MUST_USE enum nsr_status nsr_padded_arm(struct nsr_ctx *ctx,
                                            const struct nsr_counts *c,
                                            uint32_t arm, const int32_t *update,
                                            struct nsr_pads *out);

#endif
