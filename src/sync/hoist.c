/* hoist.c - a group that gains nothing in a loop reads the same in front of it
 * as inside, and so do the mirrors of it: the threshold stays as it is. The
 * target comes before the loop, so that waiting there is live, and safer than
 * in it (theory-channels.md 8).
 */
#include "sync/hoist.h"

#include <string.h>

#include "base/work.h"

struct hoist {
  const struct nsr_tree *t;
  const struct nsr_counts *c;
  const struct nsr_plan *plan;
  bool *closed; /* by scope: nothing moves over what is in it */
};

static void close(struct hoist *h, uint32_t scope) {
  for (; scope != NSR_NONE && !h->closed[scope];
       scope = h->t->scopes[scope].parent)
    h->closed[scope] = true;
}

static enum nsr_status find_closed(struct nsr_ctx *ctx, struct hoist *h) {
  const struct nsr_tree *t = h->t;
  NSR_NEW(ctx, NSR_SCRATCH, h->closed, t->nscopes);
  for (uint32_t w = 0; w < t->nworks; w++) {
    const struct nsr_work *x = &t->works[w];
    if (x->island || x->passes) {
      close(h, x->scope);
    } else if (!x->marker) {
      const struct nsr_node *n = nsr_work_node(t, x);
      if (n->foreign_wait || n->foreign_update || (n->marked && !n->unknown))
        close(h, x->scope);
    }
  }
  for (uint32_t s = 0; s < t->nscopes; s++)
    for (uint32_t p = t->scopes[s].first_part; p != NSR_NONE;
         p = t->parts[p].next)
      if (t->parts[p].kind == NSR_PART_BARRIER && t->parts[p].keep)
        close(h, s);
  return NSR_OK;
}

/* The outermost loop that a wait can leave: c runs in each iteration of it
 * that goes on, and p does not lie in it. */
static uint32_t loop_to_leave(const struct hoist *h,
                              const struct nsr_plan_wait *w) {
  const struct nsr_tree *t = h->t;
  uint32_t s = t->works[w->c].scope, p = t->works[w->p].scope;
  uint32_t loop = NSR_NONE;
  for (; s != 0 && !h->closed[s] && !nsr_common_in(t, p, s);
       s = t->scopes[s].parent) {
    const struct nsr_common *x = &t->scopes[s];
    bool rest =
        x->kind == NSR_SCOPE_ARM && x->to_end && x->skip == NSR_ENDS_EXIT;
    if (x->kind == NSR_SCOPE_LOOP)
      loop = s;
    else if (!rest)
      break;
  }
  return loop;
}

static bool counted_alone(const struct hoist *h,
                          const struct nsr_plan_wait *w) {
  uint32_t cell = h->c->cell_of[w->p];
  return h->c->own[h->c->cells[cell].scope];
}

/* The waits at one place; one of several rides for nothing, and stays. */
static void hoist_at(struct hoist *h, struct nsr_plan_wait *v, size_t n) {
  size_t left = n;
  for (size_t i = 0; i < n; i++)
    left -= v[i].at != NSR_NONE;
  for (size_t i = 0; i < n; i++) {
    if (v[i].at != NSR_NONE || v[i].back ||
        (left == 1 && nsr_plan_wait_ops(h->plan, &v[i]) == 0) ||
        !counted_alone(h, &v[i]))
      continue;
    v[i].at = loop_to_leave(h, &v[i]);
    left -= v[i].at != NSR_NONE;
  }
}

enum nsr_status nsr_hoist_waits(struct nsr_ctx *ctx, const struct nsr_counts *c,
                                const struct nsr_plan *plan,
                                struct nsr_plan_wait *waits, size_t n) {
  struct hoist h = {.t = plan->tree, .c = c, .plan = plan};
  struct nsr_plan_wait *out;
  size_t kept = 0, from = 0;
  NSR_TRY(find_closed(ctx, &h));
  for (size_t i = 1; i <= n; i++)
    if (i == n || waits[i].c != waits[from].c) {
      hoist_at(&h, waits + from, i - from);
      from = i;
    }
  NSR_NEW(ctx, NSR_SCRATCH, out, n);
  for (size_t i = 0; i < n; i++)
    if (waits[i].at == NSR_NONE)
      out[kept++] = waits[i];
  for (size_t i = 0; i < n; i++)
    if (waits[i].at != NSR_NONE)
      out[kept++] = waits[i];
  if (n)
    memcpy(waits, out, n * sizeof *out);
  nsr_drop(ctx, NSR_SCRATCH, out);
  nsr_work_count(ctx, NSR_WORK_SYNC, n + plan->tree->nworks);
  return NSR_OK;
}
