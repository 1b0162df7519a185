/* padded.c - which arms can be padded, and with what (theory-channels.md 5,
 * balanced arms).
 *
 * An engine that does not run an arm cannot tell what that adds to a count. If
 * the way past the arm adds as much, on the same channels, it need not: the
 * count goes as if the arm's work lay in the body around it. A threshold that
 * names work of the arm is passed by that work or by the no-op instead of it,
 * and both retire behind all that their channel did before.
 */
#include "sync/padded.h"

struct arms {
  const struct nsr_tree *t;
  uint32_t *branches[NSR_MAX_ENGINES]; /* by instruction: that lead there */
};

static enum nsr_status count_branches(struct nsr_ctx *ctx, struct arms *a) {
  const struct nsr_program *p = a->t->program;
  for (int e = 0; e < NSR_MAX_ENGINES; e++) {
    if (!p->stream[e])
      continue;
    uint32_t n = p->stream[e]->n;
    NSR_NEW(ctx, NSR_SCRATCH, a->branches[e], (size_t)n + 1);
    for (uint32_t i = 0; i < n; i++)
      if (p->nodes[e][i].ctl == NSR_CTL_BR && p->nodes[e][i].aux >= 0 &&
          (uint32_t)p->nodes[e][i].aux <= n)
        a->branches[e][p->nodes[e][i].aux]++;
  }
  return NSR_OK;
}

/* Whether code falls from one instruction into the next. */
static bool falls(const struct nsr_node *n) {
  return n->ctl != NSR_CTL_HALT && n->ctl != NSR_CTL_JUMP &&
         !(n->ctl == NSR_CTL_BR && n->always);
}

/* A branch in front of it leads behind it, and nothing else does but its end.
 */
static bool has_way_past(const struct arms *a, uint32_t s, int e) {
  const struct nsr_scopes *own = &a->t->local[e];
  const struct nsr_node *nodes = a->t->program->nodes[e];
  uint32_t local = a->t->scopes[s].local[e], first = own->scopes[local].entry;
  uint32_t n = a->t->program->stream[e]->n;
  if (first == 0 || nodes[first - 1].ctl != NSR_CTL_BR ||
      nodes[first - 1].always)
    return false;
  uint32_t to = (uint32_t)nodes[first - 1].aux;
  if (to <= first || to >= n || a->branches[e][to] != 1 ||
      !falls(&nodes[to - 1]))
    return false;
  uint32_t last = own->scope_of[own->cfg->block_of[to - 1]];
  uint32_t behind = own->scope_of[own->cfg->block_of[to]];
  return last != NSR_NONE && behind == own->scopes[local].parent &&
         nsr_scope_in(own, last, local);
}

static bool can_pad(const struct arms *a, uint32_t s) {
  const struct nsr_common *x = &a->t->scopes[s];
  if (x->kind != NSR_SCOPE_ARM || x->barrier || x->to_end)
    return false;
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    if (nsr_common_runs(a->t, s, e) && !has_way_past(a, s, e))
      return false;
  return true;
}

enum nsr_status nsr_padded_find(struct nsr_ctx *ctx, const struct nsr_tree *t,
                                const uint32_t **in, bool *any) {
  struct arms a = {.t = t};
  uint32_t *v;
  NSR_TRY(count_branches(ctx, &a));
  NSR_NEW(ctx, NSR_SCRATCH, v, t->nscopes);
  *any = false;
  for (uint32_t s = 0; s < t->nscopes; s++) {
    uint32_t up = s ? v[t->scopes[s].parent] : 0;
    bool fewer = t->scopes[s].engines != t->scopes[up].engines;
    v[s] = fewer && can_pad(&a, s) ? up : s;
    *any |= v[s] != s;
  }
  *in = v;
  return NSR_OK;
}

enum nsr_status nsr_padded_arm(struct nsr_ctx *ctx, const struct nsr_counts *c,
                               uint32_t arm, const int32_t *update,
                               struct nsr_pads *out) {
  const struct nsr_common *x = &c->tree->scopes[arm];
  int64_t sum[NSR_MAX_CHANNELS] = {0};
  int32_t sem[NSR_MAX_CHANNELS] = {0};
  for (uint32_t w = x->first_work; w < x->end_work; w++) {
    const struct nsr_work *work = &c->tree->works[w];
    if (update[w] < 0 || c->in[work->scope] != c->in[arm])
      continue;
    sum[work->channel] += nsr_count_weight(c, w);
    sem[work->channel] = update[w];
  }
  for (uint32_t ch = 0; ch < c->nchannels; ch++)
    if (sum[ch])
      NSR_PUSH(ctx, NSR_SCRATCH, &out->l,
               (struct nsr_pad){arm, (int8_t)ch, (uint16_t)sem[ch],
                                (int32_t)sum[ch]});
  return NSR_OK;
}
