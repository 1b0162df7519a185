/* A rewritten kernel before its judges. */
#ifndef NSR_JUDGING_H
#define NSR_JUDGING_H

#include <nsr/rewrite.h>

/* Lets the judges that options ask for compare out with k; what they say is in
 * *r. A status where they object. */
enum nsr_status nsr_judge_rewritten(struct nsr_ctx *ctx,
                                    const struct nsr_kernel *k,
                                    const struct nsr_kernel *out,
                                    const struct nsr_rewrite_options *options,
                                    struct nsr_rewrite_report *r);

#endif
