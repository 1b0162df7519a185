/* touch.c - accesses of all works, spots and their neighbours. */
#include "prove/touch.h"

#include <stdlib.h>
#include <string.h>

#include "base/work.h"
#include "mem/conflict.h"

struct finder {
  struct nsr_ctx *ctx;
  struct nsr_touches *out;
  const struct nsr_kernel *k;
  bool unknown; /* some instruction has unknown effects */
  NSR_VEC(struct nsr_touch) touches;
  NSR_VEC(struct nsr_footprint) footprints; /* by touch, role R */
  NSR_VEC(struct nsr_spot_list) lists;
};

/* ---- accesses */

static const struct nsr_work *work_of(const struct nsr_touches *t,
                                      uint32_t slot) {
  const struct nsr_step *s = &t->sights->s->steps[t->sights->step_of[slot]];
  return &t->tree->works[s->work];
}

static enum nsr_status add(struct finder *f, uint32_t slot, uint8_t operand,
                           const struct nsr_footprint *footprint,
                           enum nsr_role role, bool acc) {
  struct nsr_touch t = {.slot = slot,
                        .operand = operand,
                        .reads = nsr_role_reads(role),
                        .writes = nsr_role_writes(role),
                        .may = nsr_role_may(role),
                        .acc = acc};
  if (nsr_footprint_empty(footprint))
    return NSR_OK;
  NSR_APPEND(f->ctx, NSR_SCRATCH, &f->touches, t);
  NSR_APPEND(f->ctx, NSR_SCRATCH, &f->footprints, *footprint);
  f->footprints.v[f->footprints.n - 1].role = NSR_R;
  return NSR_OK;
}

/* The hull of all values that the register takes. */
static void hull_of(const struct nsr_kernel *k, const struct nsr_operand *op,
                    uint32_t tensor, const struct nsr_form *form,
                    struct nsr_footprint *out) {
  bool moves = false;
  for (int i = 0; i < form->period; i++) {
    struct nsr_footprint x;
    nsr_footprint_of(k, op, tensor, &form->values[i], &x);
    if (i == 0)
      *out = x;
    moves |= x.lo != out->lo || x.hi != out->hi || x.kind != out->kind;
    out->lo = x.lo < out->lo ? x.lo : out->lo;
    out->hi = x.hi > out->hi ? x.hi : out->hi;
  }
  if (!moves)
    return;
  out->kind = NSR_FOOTPRINT_HULL;
  out->run = out->hi - out->lo;
  out->ndims = 0;
  memset(out->dims, 0, sizeof out->dims);
}

static void add_period(uint8_t *period, uint32_t with) {
  with = with < UINT8_MAX ? with : UINT8_MAX;
  *period = *period < with ? (uint8_t)with : *period;
}

static enum nsr_status add_operand(struct finder *f, uint32_t slot,
                                   const struct nsr_insn *x, int operand) {
  const struct nsr_work *w = work_of(f->out, slot);
  const struct nsr_operand *op = &x->operands[operand];
  uint32_t tensor = nsr_operand_tensor(f->out->tree->program->stream[w->engine],
                                       w->insn, operand);
  struct nsr_form form = {.kind = NSR_FORM_CONST};
  struct nsr_footprint fp;
  if (op->reg >= 0)
    form = nsr_values_form(&f->out->values[w->engine], w->insn, operand);
  bool symbolic = nsr_form_symbolic(&form);
  if (form.kind != NSR_FORM_CONST || symbolic)
    add_period(&f->out->period[slot], nsr_form_period(&form));
  if (form.kind == NSR_FORM_PERIODIC && !symbolic)
    hull_of(f->k, op, tensor, &form, &fp);
  else
    nsr_footprint_of(
        f->k, op, tensor,
        form.kind == NSR_FORM_CONST && !symbolic ? &form.base : NULL, &fp);
  return add(f, slot, (uint8_t)operand, &fp, (enum nsr_role)op->role, op->acc);
}

/* A name of hidden state, by where the description has it first. */
static int64_t hidden_number(const struct nsr_isa *isa, const char *name) {
  for (uint16_t i = 0; i < isa->ninsns; i++)
    for (int h = 0; h < isa->insns[i].nhidden; h++)
      if (strcmp(isa->insns[i].hidden[h].name, name) == 0)
        return (int64_t)i * NSR_MAX_HIDDEN + h;
  return -1;
}

/* Behind all spaces, a partition for each engine. */
static enum nsr_status add_hidden(struct finder *f, uint32_t slot,
                                  const struct nsr_insn_desc *d) {
  const struct nsr_work *w = work_of(f->out, slot);
  if (w->channel < 0 || nsr_channel_order(f->k, w->channel) != NSR_ORDER_NONE)
    return NSR_OK;
  for (int h = 0; h < d->nhidden; h++) {
    int64_t at = hidden_number(f->k->isa, d->hidden[h].name);
    struct nsr_footprint fp = {.space = NSR_SPACE_HIDDEN,
                               .kind = NSR_FOOTPRINT_EXACT,
                               .part = w->engine,
                               .nparts = 1,
                               .lo = at,
                               .hi = at + 1,
                               .run = 1};
    NSR_TRY(add(f, slot, NSR_MAX_OPERANDS, &fp, d->hidden[h].role, false));
  }
  return NSR_OK;
}

/* Unknown effects may be on what any other instruction touches: one place that
 * they may write and all others read. */
static enum nsr_status add_unknown(struct finder *f, uint32_t slot,
                                   const struct nsr_node *n) {
  struct nsr_footprint fp = {.space = NSR_SPACE_ANYTHING,
                             .kind = NSR_FOOTPRINT_EXACT,
                             .nparts = 1,
                             .hi = 1,
                             .run = 1};
  if (!f->unknown || (n->nop && !n->foreign_wait && !n->foreign_update))
    return NSR_OK;
  return add(f, slot, NSR_MAX_OPERANDS, &fp, n->unknown ? NSR_MW : NSR_R,
             false);
}

static enum nsr_status add_work(struct finder *f, uint32_t slot) {
  const struct nsr_sights *sights = f->out->sights;
  if (sights->s->steps[sights->step_of[slot]].work == NSR_NONE)
    return NSR_OK;
  const struct nsr_work *w = work_of(f->out, slot);
  const struct nsr_program *p = f->out->tree->program;
  const struct nsr_node *n = nsr_work_node(f->out->tree, w);
  struct nsr_insn x;
  NSR_TRY(nsr_stream_decode(f->ctx, p->k, p->stream[w->engine], w->insn, &x));
  for (int i = 0; i < x.noperands; i++)
    NSR_TRY(add_operand(f, slot, &x, i));
  NSR_TRY(add_hidden(f, slot, x.desc));
  NSR_TRY(add_unknown(f, slot, n));
  if (!n->foreign_wait && !n->foreign_update && (!n->marked || n->unknown))
    return NSR_OK;
  f->out->outside = true;
  struct nsr_footprint all = nsr_footprint_everything(NSR_DRAM);
  NSR_TRY(add(f, slot, NSR_MAX_OPERANDS, &all, NSR_RW, false));
  f->touches.v[f->touches.n - 1].early = n->foreign_wait;
  return NSR_OK;
}

/* ---- spots */

static int compare(int64_t a, int64_t b) { return (a > b) - (a < b); }

static int compare_bytes(const struct nsr_footprint *a,
                         const struct nsr_footprint *b) {
  int c = compare(a->space, b->space);
  c = c ? c : compare(a->lo, b->lo);
  c = c ? c : compare(a->hi, b->hi);
  c = c ? c : compare(a->part, b->part);
  c = c ? c : compare(a->nparts, b->nparts);
  c = c ? c : compare(a->kind, b->kind);
  c = c ? c : compare(a->run, b->run);
  c = c ? c : compare(a->ndims, b->ndims);
  for (int i = 0; i < a->ndims && !c; i++) {
    c = compare(a->dims[i].step, b->dims[i].step);
    c = c ? c : compare(a->dims[i].count, b->dims[i].count);
  }
  return c;
}

struct order {
  const struct nsr_footprint *footprint;
  uint32_t touch;
};

static int by_bytes(const void *a, const void *b) {
  const struct order *x = a, *y = b;
  int c = compare_bytes(x->footprint, y->footprint);
  return c ? c : compare(x->touch, y->touch);
}

/* Numbers spots; order: touches by spot, then slot. */
static enum nsr_status find_spots(struct finder *f, struct order **order) {
  uint32_t n = f->out->n, spots = 0;
  struct order *v;
  NSR_NEW(f->ctx, NSR_SCRATCH, v, n);
  for (uint32_t i = 0; i < n; i++)
    v[i] = (struct order){&f->footprints.v[i], i};
  if (n)
    qsort(v, n, sizeof *v, by_bytes);
  NSR_NEW(f->ctx, NSR_SCRATCH, f->out->spots, n);
  for (uint32_t i = 0; i < n; i++) {
    if (i == 0 || compare_bytes(v[i - 1].footprint, v[i].footprint))
      f->out->spots[spots++].footprint = *v[i].footprint;
    struct nsr_touch *t = &f->out->v[v[i].touch];
    t->spot = spots - 1;
    if (t->writes)
      f->out->spots[spots - 1].footprint.role = NSR_RW;
  }
  f->out->nspots = spots;
  *order = v;
  return NSR_OK;
}

static bool any_unknown(const struct nsr_program *p) {
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    for (uint32_t i = 0; p->stream[e] && i < p->stream[e]->n; i++)
      if (p->nodes[e][i].unknown)
        return true;
  return false;
}

static int8_t channel_of(const struct finder *f, uint32_t touch) {
  return work_of(f->out, f->out->v[touch].slot)->channel;
}

/* Touches of a spot by channel, writing ones apart. Those with one slot stay
 * in order, since they come in that order. */
static enum nsr_status list_spots(struct finder *f, const struct order *order) {
  struct nsr_touches *o = f->out;
  uint32_t at = 0;
  NSR_NEW(f->ctx, NSR_SCRATCH, o->touches_of, 2 * (size_t)o->n);
  for (uint32_t s = 0, i = 0, end; s < o->nspots; s++, i = end) {
    uint32_t n[2 * NSR_MAX_CHANNELS] = {0}, list[2 * NSR_MAX_CHANNELS];
    for (end = i; end < o->n && o->v[order[end].touch].spot == s; end++)
      n[2 * channel_of(f, order[end].touch) + o->v[order[end].touch].writes]++;
    o->spots[s].first_list = (uint32_t)f->lists.n;
    for (int c = 0; c < 2 * NSR_MAX_CHANNELS; c++) {
      if (!n[c])
        continue;
      list[c] = (uint32_t)f->lists.n;
      NSR_APPEND(f->ctx, NSR_SCRATCH, &f->lists,
                 ((struct nsr_spot_list){at, 0, (int8_t)(c / 2), c % 2}));
      at += n[c];
    }
    o->spots[s].nlists = (uint32_t)f->lists.n - o->spots[s].first_list;
    for (uint32_t x = i; x < end; x++) {
      uint32_t t = order[x].touch;
      struct nsr_spot_list *l =
          &f->lists.v[list[2 * channel_of(f, t) + o->v[t].writes]];
      o->touches_of[l->first + l->n++] = t;
    }
  }
  return NSR_OK;
}

/* Spots with more neighbours than this are crowded. */
enum { MOST_NEAR = 32 };

/* A crowd's touches of one channel, and kind. */
static uint32_t *list_of(const struct finder *f, uint32_t *lists,
                         uint32_t touch) {
  const struct nsr_touch *t = &f->out->v[touch];
  size_t crowd = f->out->spots[t->spot].crowd - 1;
  size_t kind = 2 * (size_t)channel_of(f, touch) + t->writes;
  return &lists[crowd * 2 * NSR_MAX_CHANNELS + kind];
}

/* Lists of crowds, behind those of spots. */
static enum nsr_status list_crowds(struct finder *f, uint32_t ncrowds) {
  struct nsr_touches *o = f->out;
  size_t kinds = 2 * (size_t)NSR_MAX_CHANNELS;
  uint32_t *lists, at = o->n;
  NSR_NEW(f->ctx, NSR_SCRATCH, o->crowds, ncrowds);
  NSR_NEW(f->ctx, NSR_SCRATCH, lists, ncrowds * kinds);
  for (uint32_t t = 0; t < o->n; t++)
    if (o->spots[o->v[t].spot].crowd)
      ++*list_of(f, lists, t);
  for (size_t i = 0; i < ncrowds * kinds; i++) {
    uint32_t n = lists[i];
    if (i % kinds == 0)
      o->crowds[i / kinds].first_list = (uint32_t)f->lists.n;
    lists[i] = (uint32_t)f->lists.n;
    if (!n)
      continue;
    NSR_APPEND(f->ctx, NSR_SCRATCH, &f->lists,
               ((struct nsr_spot_list){at, 0, (int8_t)(i % kinds / 2), i % 2}));
    o->crowds[i / kinds].nlists++;
    at += n;
  }
  for (uint32_t t = 0; t < o->n; t++)
    if (o->spots[o->v[t].spot].crowd) {
      struct nsr_spot_list *l = &f->lists.v[*list_of(f, lists, t)];
      o->touches_of[l->first + l->n++] = t;
    }
  o->lists = f->lists.v;
  return NSR_OK;
}

static enum nsr_status find_neighbours(struct finder *f) {
  struct nsr_touches *o = f->out;
  struct nsr_access *accesses;
  struct nsr_conflicts found;
  uint32_t at = 0;
  NSR_NEW(f->ctx, NSR_SCRATCH, accesses, o->nspots);
  for (uint32_t s = 0; s < o->nspots; s++)
    accesses[s] = (struct nsr_access){o->spots[s].footprint, s};
  NSR_TRY(nsr_conflicts_few(f->ctx, NSR_SCRATCH, accesses, o->nspots, MOST_NEAR,
                            &found));
  for (uint32_t s = 0; s < o->nspots; s++)
    o->spots[s].crowd = found.crowd[s];
  NSR_TRY(list_crowds(f, found.ncrowds));
  for (size_t i = 0; i < found.n; i++) {
    o->spots[found.v[i].a].nnear++;
    o->spots[found.v[i].b].nnear += found.v[i].a != found.v[i].b;
  }
  for (uint32_t s = 0; s < o->nspots; s++) {
    o->spots[s].first_near = at;
    at += o->spots[s].nnear;
    o->spots[s].nnear = 0;
  }
  NSR_NEW(f->ctx, NSR_SCRATCH, o->near, at);
  for (size_t i = 0; i < found.n; i++) {
    const struct nsr_conflict *c = &found.v[i];
    struct nsr_spot *a = &o->spots[c->a], *b = &o->spots[c->b];
    o->near[a->first_near + a->nnear++] =
        (struct nsr_neighbour){c->b, (uint8_t)c->overlap, c->where};
    if (a != b)
      o->near[b->first_near + b->nnear++] =
          (struct nsr_neighbour){c->a, (uint8_t)c->overlap, c->where};
  }
  nsr_work_count(f->ctx, NSR_WORK_PROVE, found.n);
  return NSR_OK;
}

enum nsr_status nsr_touches_find(struct nsr_ctx *ctx,
                                 const struct nsr_sights *sights,
                                 struct nsr_touches *out) {
  const struct nsr_tree *t = sights->s->tree;
  struct finder f = {.ctx = ctx, .out = out, .k = t->program->k};
  struct order *order;
  *out = (struct nsr_touches){.sights = sights, .tree = t};
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    if (t->program->stream[e])
      NSR_TRY(
          nsr_values_build(ctx, &t->local[e], &t->congruence, &out->values[e]));
  f.unknown = any_unknown(t->program);
  NSR_NEW(ctx, NSR_SCRATCH, out->first, (size_t)sights->nslots + 1);
  NSR_NEW(ctx, NSR_SCRATCH, out->period, sights->nslots);
  for (uint32_t s = 0; s < sights->nslots; s++) {
    out->first[s] = (uint32_t)f.touches.n;
    NSR_TRY(add_work(&f, s));
  }
  out->first[sights->nslots] = (uint32_t)f.touches.n;
  out->v = f.touches.v;
  out->n = (uint32_t)f.touches.n;
  NSR_TRY(find_spots(&f, &order));
  NSR_TRY(list_spots(&f, order));
  return find_neighbours(&f);
}
