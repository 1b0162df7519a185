/* program.c - kernel to program. */
#include "ir/program.h"

struct nsr_place nsr_program_place(const struct nsr_program *p, int engine,
                                   uint32_t insn) {
  return nsr_insn_place(p->k, p->stream[engine], insn);
}

/* Whether one stream ends so; *exit is its barrier. */
static bool only_exit(const struct nsr_node *nodes, uint32_t n,
                      uint32_t *exit) {
  uint32_t barriers = 0;
  for (uint32_t i = 0; i < n; i++)
    if (nodes[i].cls == NSR_BARRIER) {
      barriers++;
      *exit = i;
    }
  return barriers == 1 && *exit + 1 < n && nodes[*exit + 1].ctl == NSR_CTL_HALT;
}

bool nsr_program_only_exits(const struct nsr_program *p,
                            uint32_t exit[NSR_MAX_ENGINES]) {
  int first = -1;
  for (int e = 0; e < NSR_MAX_ENGINES; e++) {
    if (!p->stream[e])
      continue;
    if (!only_exit(p->nodes[e], p->stream[e]->n, &exit[e]))
      return false;
    if (first < 0)
      first = e;
    if (p->nodes[e][exit[e]].aux != p->nodes[first][exit[first]].aux)
      return false;
  }
  return first >= 0;
}

static struct nsr_node node_of(const struct nsr_kernel *k, int engine,
                               uint32_t i, const struct nsr_insn *x) {
  const struct nsr_insn_desc *d = x->desc;
  struct nsr_node n = {.cls = (uint8_t)d->cls,
                       .ctl = (uint8_t)d->ctl,
                       .channel = -1,
                       .marked = d->unknown_effects || d->external,
                       .wait = x->wait,
                       .update = x->update};
  if (d->cls == NSR_DATAPATH || d->cls == NSR_LOAD)
    n.channel = (int8_t)nsr_channel(k, engine, x);
  n.nop = d->cls == NSR_DATAPATH && d->noperands == 0 && d->nhidden == 0 &&
          !n.marked;
  n.always = x->cc == NSR_CC_ALWAYS;
  if (d->ctl == NSR_CTL_BR)
    n.aux = (int32_t)i + x->displacement;
  else if (d->cls == NSR_BARRIER)
    n.aux = x->id;
  return n;
}

static enum nsr_status stream_nodes(struct nsr_ctx *ctx,
                                    const struct nsr_kernel *k,
                                    const struct nsr_stream *s,
                                    const struct nsr_node **out) {
  struct nsr_node *nodes;
  NSR_NEW(ctx, NSR_SCRATCH, nodes, s->n);
  for (uint32_t i = 0; i < s->n; i++) {
    struct nsr_insn x;
    NSR_TRY(nsr_stream_decode(ctx, k, s, i, &x));
    nodes[i] = node_of(k, s->engine, i, &x);
    if (x.desc->ctl == NSR_CTL_JUMP)
      return nsr_fail(ctx, NSR_E_REFUSED, nsr_insn_place(k, s, i),
                      "a computed branch: its targets are not known, and code "
                      "in front of them would move");
  }
  *out = nodes;
  return NSR_OK;
}

enum nsr_status nsr_program_build(struct nsr_ctx *ctx,
                                  const struct nsr_kernel *k,
                                  struct nsr_program *out) {
  *out = (struct nsr_program){.k = k};
  for (uint32_t i = 0; i < k->nstreams; i++) {
    const struct nsr_stream *s = &k->streams[i];
    out->stream[s->engine] = s;
    out->nengines++;
    NSR_TRY(stream_nodes(ctx, k, s, &out->nodes[s->engine]));
  }
  return NSR_OK;
}
