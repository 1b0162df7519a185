/* program.c - kernel to program. */
#include "ir/program.h"

#include "base/bitset.h"

struct nsr_place nsr_program_place(const struct nsr_program *p, int engine,
                                   uint32_t insn) {
  return nsr_insn_place(p->k, p->stream[engine], insn);
}

/* Marks what can be reached from instruction `from` without passing a barrier,
 * but one at `from` itself if that is passed; whether a halt is among it. */
static bool reach(const struct nsr_node *nodes, uint32_t from, bool pass,
                  uint8_t mark, uint8_t *marks, uint32_t *stack) {
  bool halts = false;
  uint32_t top = 0;
  stack[top++] = from;
  marks[from] |= mark;
  while (top > 0) {
    uint32_t i = stack[--top], next[2], n = 0;
    const struct nsr_node *x = &nodes[i];
    halts |= x->ctl == NSR_CTL_HALT;
    if (x->ctl == NSR_CTL_HALT ||
        (x->cls == NSR_BARRIER && !(pass && i == from)))
      continue;
    if (x->ctl == NSR_CTL_BR)
      next[n++] = (uint32_t)x->aux;
    if (x->ctl != NSR_CTL_BR || !x->always)
      next[n++] = i + 1;
    while (n-- > 0)
      if (!(marks[next[n]] & mark)) {
        marks[next[n]] |= mark;
        stack[top++] = next[n];
      }
  }
  return halts;
}

/* Whether one stream has nothing to take out; *exit is its exit barrier,
 * NSR_NONE: it has none, and does nothing. */
static bool only_exit(const struct nsr_node *nodes, uint32_t n, uint8_t *marks,
                      uint32_t *stack, uint32_t *exit) {
  enum { FRONT = 1, BEHIND = 2 };
  bool skips = reach(nodes, 0, false, FRONT, marks, stack), works = false;
  *exit = NSR_NONE;
  for (uint32_t i = 0; i < n; i++) {
    if (!(marks[i] & FRONT))
      continue;
    works |= nsr_node_relevant(&nodes[i]);
    if (nodes[i].cls == NSR_BARRIER && *exit != NSR_NONE)
      return false;
    if (nodes[i].cls == NSR_BARRIER)
      *exit = i;
  }
  if (*exit == NSR_NONE)
    return !works;
  reach(nodes, *exit, true, BEHIND, marks, stack);
  for (uint32_t i = 0; i < n; i++)
    if (i != *exit && (marks[i] & BEHIND) && nsr_node_relevant(&nodes[i]))
      return false;
  return !skips;
}

enum nsr_status nsr_program_only_exits(struct nsr_ctx *ctx,
                                       const struct nsr_program *p,
                                       uint32_t exit[NSR_MAX_ENGINES],
                                       bool *only) {
  int first = -1;
  *only = false;
  for (int e = 0; e < NSR_MAX_ENGINES; e++) {
    uint8_t *marks;
    uint32_t *stack;
    if (!p->stream[e])
      continue;
    NSR_NEW(ctx, NSR_SCRATCH, marks, p->stream[e]->n);
    NSR_NEW(ctx, NSR_SCRATCH, stack, p->stream[e]->n);
    if (!only_exit(p->nodes[e], p->stream[e]->n, marks, stack, &exit[e]))
      return NSR_OK;
    if (first < 0)
      first = e;
    bool both = exit[e] != NSR_NONE && exit[first] != NSR_NONE;
    if (both ? p->nodes[e][exit[e]].aux != p->nodes[first][exit[first]].aux
             : exit[e] != exit[first])
      return NSR_OK;
  }
  *only = first >= 0;
  return NSR_OK;
}

static void mark_val(uint64_t *used, const struct nsr_val *v) {
  if (v->is_reg)
    nsr_bit_set(used, (size_t)v->v);
}

static void mark_reg(uint64_t *used, int reg) {
  if (reg >= 0)
    nsr_bit_set(used, (size_t)reg);
}

void nsr_mark_registers(uint64_t *used, const struct nsr_insn *x) {
  mark_val(used, &x->a);
  mark_val(used, &x->b);
  if (x->wait.cmp)
    mark_val(used, &x->wait.value);
  mark_reg(used, x->dst);
  mark_reg(used, x->cond);
  mark_reg(used, x->value_reg);
  for (int i = 0; i < x->noperands; i++) {
    const struct nsr_operand *o = &x->operands[i];
    mark_reg(used, o->reg);
    for (int d = 0; d < o->ndims; d++)
      if (o->dims[d].count_is_reg)
        mark_reg(used, o->dims[d].count);
  }
}

static struct nsr_node node_of(const struct nsr_kernel *k, int engine,
                               uint32_t i, const struct nsr_insn *x) {
  const struct nsr_insn_desc *d = x->desc;
  struct nsr_node n = {.cls = (uint8_t)d->cls,
                       .ctl = (uint8_t)d->ctl,
                       .channel = -1,
                       .marked = d->unknown_effects || d->external,
                       .unknown = d->unknown_effects,
                       .dst = x->dst,
                       .wait = x->wait,
                       .update = x->update};
  n.foreign_wait = x->wait.cmp && !nsr_owned(k, x->wait.sem);
  n.foreign_update = x->update.op && !nsr_owned(k, x->update.sem);
  if (d->cls == NSR_DATAPATH || d->cls == NSR_LOAD)
    n.channel = (int8_t)nsr_channel(k, engine, x);
  n.nop = d->cls == NSR_DATAPATH && d->noperands == 0 && d->nhidden == 0 &&
          !n.marked;
  n.always = x->cc == NSR_CC_ALWAYS;
  for (int o = 0; o < x->noperands; o++)
    n.addressed |= x->operands[o].reg >= 0;
  if (d->ctl == NSR_CTL_BR)
    n.aux = (int32_t)i + x->displacement;
  else if (d->cls == NSR_BARRIER)
    n.aux = x->id;
  return n;
}

static enum nsr_status stream_nodes(struct nsr_ctx *ctx,
                                    const struct nsr_kernel *k,
                                    const struct nsr_stream *s,
                                    struct nsr_program *out) {
  struct nsr_node *nodes;
  struct nsr_operation *operations;
  uint64_t *named;
  NSR_NEW(ctx, NSR_SCRATCH, nodes, s->n);
  NSR_NEW(ctx, NSR_SCRATCH, operations, s->n);
  NSR_NEW(ctx, NSR_SCRATCH, named, nsr_bits_words(k->isa->registers));
  for (uint32_t i = 0; i < s->n; i++) {
    struct nsr_insn x;
    NSR_TRY(nsr_stream_decode(ctx, k, s, i, &x));
    nodes[i] = node_of(k, s->engine, i, &x);
    operations[i] = (struct nsr_operation){x.a, x.b, x.cond, x.cc};
    nsr_mark_registers(named, &x);
    if (x.desc->ctl == NSR_CTL_JUMP)
      return nsr_fail(ctx, NSR_E_REFUSED, nsr_insn_place(k, s, i),
                      "a computed branch: code in front of its targets would "
                      "move, and the values it takes are not rewritten");
  }
  out->nodes[s->engine] = nodes;
  out->operations[s->engine] = operations;
  out->named[s->engine] = named;
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
    NSR_TRY(stream_nodes(ctx, k, s, out));
  }
  return NSR_OK;
}
