/* publication.h - which published form a wait has.
 */
#ifndef NSR_SYNC_PUBLICATION_H
#define NSR_SYNC_PUBLICATION_H

#include "sync/select.h"

enum nsr_published_form {
  NSR_PUBLISHED_PLAIN,   /* never masked */
  NSR_PUBLISHED_MASKED,  /* owed only behind the first k iterations of a trip */
  NSR_PUBLISHED_BARRIERS /* none */
};

struct nsr_publication {
  enum nsr_published_form form;
  uint32_t k;      /* entries of p's scope back; iterations for the mask */
  bool direct;     /* p lies directly in the shared loop */
  uint32_t shared; /* the scope whose entries t counts */
  uint32_t loop;   /* .. and the loop whose trip that is; none: NSR_NONE */
};

/* kept: by scope, whether a barrier directly in it stays. */
struct nsr_publication nsr_publication_of(const struct nsr_tree *t,
                                          const bool *kept,
                                          const struct nsr_need *need);

/* The array above. */
NSR_MUST_USE enum nsr_status
nsr_publication_kept(struct nsr_ctx *ctx, const struct nsr_tree *t, bool **out);

#endif
