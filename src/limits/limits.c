/* limits.c - bounds of loops.
 *
 * Needs dependences (recovered ones, and those of a run), a record and costs;
 * makes, per loop, the least period that resources allow (the busiest of them
 * has so much to do in an iteration) and that dependences allow (the slowest
 * cycle of waiting, over the iterations that it spans), as in modulo
 * scheduling (Rau 1994). Engines issue in order and stop where they wait, so
 * program order is part of the cycles. Dependences are followed in loops
 * without loops in them; arms there count as if they always ran.
 */
#include "limits/limits.h"

#include <stdlib.h>
#include <string.h>

#include "limits/cycle_ratio.h"

/* What the executions of an instruction take, on the whole. */
struct totals {
  uint64_t n;
  int64_t control, issue, unit, latency, work;
};

struct bench {
  struct nsr_ctx *ctx;
  const struct nsr_tree *tree;
  const struct nsr_deps *deps;
  struct nsr_time_run *run;
  const struct nsr_machine *m;
  struct totals *totals[NSR_MAX_ENGINES]; /* by instruction */
  uint32_t *loop_of[NSR_MAX_ENGINES];     /* innermost one of the tree */
  uint32_t *leaf_of[NSR_MAX_ENGINES];     /* the same, if none is in it */
  uint32_t *entry; /* by scope and engine: what counts iterations */
  bool *leaf;      /* by scope: a loop without loops in it */
  struct nsr_pairs pairs;
  struct nsr_timed *as_is, *ideal;
};

static const struct nsr_image_stream *stream_of(const struct bench *b, int e) {
  return &b->run->image->streams[e];
}

/* ---- what instructions take */

static int64_t mean(int64_t sum, uint64_t n) {
  return n ? sum / (int64_t)n : 0;
}

static int64_t control_cost(const struct bench *b, int e,
                            const struct nsr_step *s) {
  int64_t cycle = nsr_cycle_of(b->m, e);
  switch (s->desc->ctl) {
  case NSR_CTL_BR:
  case NSR_CTL_JUMP:
    return b->m->v[NSR_CONTROL_BRANCH] * cycle / NSR_MILLI;
  case NSR_CTL_NONE:
  case NSR_CTL_WAIT:
  case NSR_CTL_HALT:
    return 0; /* waits are what a limit does without */
  default:
    return b->m->v[NSR_CONTROL_REGISTER] * cycle / NSR_MILLI;
  }
}

static void add_event(struct bench *b, const struct nsr_variant *v) {
  struct nsr_cost c = nsr_cost_of(b->m, v);
  struct totals *t = &b->totals[v->engine][v->insn];
  t->n++;
  t->issue = nsr_time_add(t->issue, c.issue);
  t->unit = nsr_time_add(t->unit, c.interval);
  t->latency = nsr_time_add(t->latency, c.latency);
  t->work = nsr_time_add(t->work, c.work);
  if (v->step->desc->queue)
    t->latency =
        nsr_time_add(t->latency, b->m->v[NSR_QUEUE_START] * NSR_FS_PER_PS);
}

static enum nsr_status find_totals(struct bench *b) {
  const struct nsr_record *r = b->run->record;
  for (int e = 0; e < b->run->image->nengines; e++) {
    const struct nsr_image_stream *s = stream_of(b, e);
    NSR_NEW(b->ctx, NSR_SCRATCH, b->totals[e], s->n);
    for (uint32_t i = 0; i < s->n; i++)
      if (s->steps[i].desc->cls == NSR_CONTROL)
        b->totals[e][i].control =
            (int64_t)r->ran[e][i] * control_cost(b, e, &s->steps[i]);
  }
  for (int e = 0; e < b->run->image->nengines; e++)
    for (size_t i = 0; i < r->events[e].n; i++) {
      const struct nsr_record_event *x = &r->events[e].v[i];
      const struct nsr_variant *v = &r->variants.v[x->variant];
      if (x->kind == NSR_RECORD_ISSUE && !(v->step->flags & NSR_STEP_SKIP))
        add_event(b, v);
    }
  return NSR_OK;
}

/* ---- loops */

static bool is_loop(const struct bench *b, uint32_t scope) {
  return b->tree->scopes[scope].kind == NSR_SCOPE_LOOP;
}

static enum nsr_status find_leaves(struct bench *b) {
  NSR_NEW(b->ctx, NSR_SCRATCH, b->leaf, b->tree->nscopes);
  uint32_t inner = b->tree->nscopes; /* the first loop behind */
  for (uint32_t s = b->tree->nscopes; s-- > 1;) {
    if (!is_loop(b, s))
      continue;
    b->leaf[s] = inner > b->tree->scopes[s].last;
    inner = s;
  }
  return NSR_OK;
}

/* By an engine's own scope: the innermost loop of the tree around it. */
static enum nsr_status own_loops(struct bench *b, int e, uint32_t **loop) {
  const struct nsr_scopes *own = &b->tree->local[e];
  uint32_t *l;
  NSR_NEW(b->ctx, NSR_SCRATCH, l, own->nscopes);
  memset(l, 0xff, own->nscopes * sizeof *l);
  for (uint32_t s = 1; s < b->tree->nscopes; s++)
    if (is_loop(b, s) && nsr_common_runs(b->tree, s, e)) {
      uint32_t at = b->tree->scopes[s].local[e];
      l[at] = s;
      b->entry[s * NSR_MAX_ENGINES + (uint32_t)e] = own->scopes[at].entry;
    }
  for (uint32_t s = 1; s < own->nscopes; s++) /* parents come first */
    if (l[s] == NSR_NONE)
      l[s] = l[own->scopes[s].parent];
  *loop = l;
  return NSR_OK;
}

static enum nsr_status find_loops(struct bench *b) {
  NSR_TRY(find_leaves(b));
  NSR_NEW(b->ctx, NSR_SCRATCH, b->entry,
          (size_t)b->tree->nscopes * NSR_MAX_ENGINES);
  for (int e = 0; e < b->run->image->nengines; e++) {
    uint32_t n = stream_of(b, e)->n, *loop;
    NSR_NEW(b->ctx, NSR_SCRATCH, b->loop_of[e], n);
    NSR_NEW(b->ctx, NSR_SCRATCH, b->leaf_of[e], n);
    if (!b->tree->program->stream[e])
      continue;
    NSR_TRY(own_loops(b, e, &loop));
    const struct nsr_scopes *own = &b->tree->local[e];
    for (uint32_t i = 0; i < n; i++) {
      uint32_t s = own->scope_of[own->cfg->block_of[i]];
      uint32_t l = s == NSR_NONE ? NSR_NONE : loop[s];
      b->loop_of[e][i] = l;
      b->leaf_of[e][i] = l != NSR_NONE && b->leaf[l] ? l : NSR_NONE;
    }
  }
  return NSR_OK;
}

/* A loop that is left from its header runs that once more: what is behind the
 * test counts. */
static uint64_t own_iterations(const struct bench *b, int e, uint32_t at) {
  const struct nsr_scopes *own = &b->tree->local[e];
  const uint32_t *ran = b->run->record->ran[e];
  uint64_t most = 0;
  if (!own->scopes[at].top_exit)
    return ran[own->scopes[at].entry];
  for (uint32_t s = at + 1; s <= own->scopes[at].last; s++)
    if (own->scopes[s].parent == at && ran[own->scopes[s].entry] > most)
      most = ran[own->scopes[s].entry];
  return most;
}

static uint64_t iterations(const struct bench *b, uint32_t loop) {
  uint64_t most = 0;
  for (int e = 0; e < b->run->image->nengines; e++) {
    if (!nsr_common_runs(b->tree, loop, e))
      continue;
    uint64_t n = own_iterations(b, e, b->tree->scopes[loop].local[e]);
    most = n > most ? n : most;
  }
  return most;
}

/* ---- resources */

struct load { /* of an iteration of a loop and the loops in it, in all */
  int64_t unit[NSR_MAX_CHANNELS], sequencer[NSR_MAX_ENGINES], dma;
};

static void add_load(const struct bench *b, struct load *l, int e, uint32_t i) {
  const struct nsr_step *s = &stream_of(b, e)->steps[i];
  const struct totals *t = &b->totals[e][i];
  l->sequencer[e] += t->control + t->issue;
  l->dma += t->work;
  if (t->n)
    l->unit[s->channel] += t->unit;
}

static enum nsr_status find_loads(struct bench *b, struct load **out) {
  struct load *l;
  NSR_NEW(b->ctx, NSR_SCRATCH, l, b->tree->nscopes);
  for (int e = 0; e < b->run->image->nengines; e++)
    for (uint32_t i = 0; i < stream_of(b, e)->n; i++)
      if (b->tree->program->stream[e] && b->loop_of[e][i] != NSR_NONE)
        add_load(b, &l[b->loop_of[e][i]], e, i);
  for (uint32_t s = b->tree->nscopes; s-- > 1;) { /* inner ones come last */
    struct load *up = &l[b->tree->scopes[s].parent];
    for (int c = 0; c < NSR_MAX_CHANNELS; c++)
      up->unit[c] += l[s].unit[c];
    for (int e = 0; e < NSR_MAX_ENGINES; e++)
      up->sequencer[e] += l[s].sequencer[e];
    up->dma += l[s].dma;
  }
  *out = l;
  return NSR_OK;
}

static void busiest(struct nsr_loop_limits *out, double *most, int64_t load,
                    const char *what, const char *kind) {
  if ((double)load <= *most)
    return;
  *most = (double)load;
  out->resource = what;
  out->resource_kind = kind;
}

static void resource_limit(const struct bench *b, const struct load *l,
                           struct nsr_loop_limits *out) {
  const struct nsr_kernel *k = b->run->image->kernel;
  double most = 0;
  for (int c = 0; c < b->run->image->nchannels; c++)
    busiest(out, &most, l->unit[c], nsr_channel_name(k, c), "");
  for (int e = 0; e < b->run->image->nengines; e++)
    busiest(out, &most, l->sequencer[e], k->isa->engines[e], "control of ");
  busiest(out, &most, l->dma, "transfers", "");
  out->resources = most / (double)out->iterations / (double)NSR_FS_PER_NS;
}

/* ---- dependences */

struct graph {
  uint32_t nnodes;
  uint32_t *node_of; /* by work - first work of the loop */
  NSR_VEC(struct nsr_arc) arcs;
};

static const struct totals *totals_of(const struct bench *b, uint32_t w) {
  const struct nsr_work *x = &b->tree->works[w];
  return &b->totals[x->engine][x->insn];
}

static bool is_node(const struct bench *b, uint32_t w) {
  const struct nsr_work *x = &b->tree->works[w];
  return x->channel >= 0 && !x->marker && totals_of(b, w)->n;
}

/* Picoseconds: sums over many nodes and iterations have to fit. */
static int64_t to_retire(const struct totals *t) {
  return mean(t->issue + t->unit + t->latency, t->n) / NSR_FS_PER_PS;
}

static int64_t to_next(const struct bench *b, uint32_t w) {
  const struct totals *t = totals_of(b, w);
  if (nsr_work_node(b->tree, &b->tree->works[w])->cls == NSR_LOAD)
    return to_retire(t);
  return mean(t->issue, t->n) / NSR_FS_PER_PS;
}

static enum nsr_status add_arc(struct bench *b, struct graph *g, uint32_t from,
                               uint32_t to, int64_t time, uint32_t distance) {
  NSR_PUSH(b->ctx, NSR_SCRATCH, &g->arcs,
           ((struct nsr_arc){from, to, time, distance}));
  return NSR_OK;
}

/* Program order of every engine, and its control around the loop. */
static enum nsr_status add_order(struct bench *b, struct graph *g,
                                 uint32_t loop, const struct load *l,
                                 uint64_t n) {
  const struct nsr_common *s = &b->tree->scopes[loop];
  for (int e = 0; e < b->run->image->nengines; e++) {
    uint32_t first = NSR_NONE, last = NSR_NONE;
    int64_t issue = 0;
    for (uint32_t w = s->first_work; w < s->end_work; w++) {
      if (b->tree->works[w].engine != e || !is_node(b, w))
        continue;
      if (last != NSR_NONE)
        NSR_TRY(add_arc(b, g, g->node_of[last - s->first_work],
                        g->node_of[w - s->first_work], to_next(b, last), 0));
      first = first == NSR_NONE ? w : first;
      last = w;
      issue += totals_of(b, w)->issue;
    }
    if (last == NSR_NONE)
      continue;
    int64_t control = mean(l->sequencer[e] - issue, n) / NSR_FS_PER_PS;
    NSR_TRY(add_arc(b, g, g->node_of[last - s->first_work],
                    g->node_of[first - s->first_work],
                    to_next(b, last) + control, 1));
  }
  return NSR_OK;
}

static enum nsr_status graph_new(struct bench *b, uint32_t loop,
                                 const struct load *l, uint64_t n,
                                 struct graph *g) {
  const struct nsr_common *s = &b->tree->scopes[loop];
  *g = (struct graph){0};
  NSR_NEW(b->ctx, NSR_SCRATCH, g->node_of, s->end_work - s->first_work);
  for (uint32_t w = s->first_work; w < s->end_work; w++)
    g->node_of[w - s->first_work] = is_node(b, w) ? g->nnodes++ : NSR_NONE;
  return add_order(b, g, loop, l, n);
}

static enum nsr_status ratio_of(struct bench *b, const struct graph *g,
                                double *ns) {
  int64_t time;
  uint64_t distance;
  bool known;
  NSR_TRY(nsr_cycle_ratio(b->ctx, g->nnodes, g->arcs.v, g->arcs.n, &time,
                          &distance, &known));
  *ns = known && distance ? (double)time / (double)distance / 1000 : -1;
  return NSR_OK;
}

/* As the passes have found them: lag 0 is the most recent one. */
static enum nsr_status add_recovered(struct bench *b, struct graph *g,
                                     uint32_t loop) {
  const struct nsr_common *s = &b->tree->scopes[loop];
  for (uint32_t i = b->deps->first[s->first_work];
       i < b->deps->first[s->end_work]; i++) {
    const struct nsr_dep *d = &b->deps->deps[i];
    if (d->overlap == NSR_OVERLAP_NO || d->p < s->first_work ||
        d->p >= s->end_work || !is_node(b, d->p) || !is_node(b, d->c))
      continue;
    bool farther =
        (d->back || d->once) && nsr_common_in(b->tree, loop, d->loop);
    if (farther && (d->loop != loop || d->once))
      continue; /* no iterations of this one meet */
    NSR_TRY(add_arc(b, g, g->node_of[d->p - s->first_work],
                    g->node_of[d->c - s->first_work],
                    to_retire(totals_of(b, d->p)),
                    farther ? d->back : d->lag + (uint32_t)(d->p >= d->c)));
  }
  return NSR_OK;
}

/* The work of an instruction in a loop, NSR_NONE: none that counts. */
static uint32_t work_of(const struct bench *b, uint32_t loop, uint8_t e,
                        uint32_t insn) {
  const struct nsr_common *s = &b->tree->scopes[loop];
  for (uint32_t w = s->first_work; w < s->end_work; w++)
    if (b->tree->works[w].engine == e && b->tree->works[w].insn == insn &&
        is_node(b, w))
      return w;
  return NSR_NONE;
}

static int by_loop(const void *a, const void *b) {
  const struct nsr_pair *x = a, *y = b;
  return (x->loop > y->loop) - (x->loop < y->loop);
}

/* The first of a loop's pairs, which are sorted. */
static size_t first_pair(const struct bench *b, uint32_t loop) {
  size_t lo = 0, hi = b->pairs.list.n;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (b->pairs.list.v[mid].loop < loop)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

/* As they were: what held in half of the executions at least. */
static enum nsr_status add_true(struct bench *b, struct graph *g,
                                uint32_t loop) {
  const struct nsr_common *s = &b->tree->scopes[loop];
  for (size_t i = first_pair(b, loop); i < b->pairs.list.n; i++) {
    const struct nsr_pair *p = &b->pairs.list.v[i];
    if (p->loop != loop)
      break;
    if (p->count * 2 < b->totals[p->c_engine][p->c].n)
      continue;
    uint32_t from = work_of(b, loop, p->p_engine, p->p);
    uint32_t to = work_of(b, loop, p->c_engine, p->c);
    if (from != NSR_NONE && to != NSR_NONE)
      NSR_TRY(add_arc(b, g, g->node_of[from - s->first_work],
                      g->node_of[to - s->first_work],
                      to_retire(totals_of(b, from)), p->distance));
  }
  return NSR_OK;
}

static enum nsr_status dependence_limits(struct bench *b, uint32_t loop,
                                         const struct load *l,
                                         struct nsr_loop_limits *out) {
  struct graph g;
  NSR_TRY(graph_new(b, loop, l, out->iterations, &g));
  if (g.nnodes > NSR_MAX_NODES)
    return NSR_OK;
  size_t order = g.arcs.n;
  NSR_TRY(add_true(b, &g, loop));
  NSR_TRY(ratio_of(b, &g, &out->true_distances));
  g.arcs.n = order;
  if (!b->deps->first)
    return NSR_OK;
  NSR_TRY(add_recovered(b, &g, loop));
  return ratio_of(b, &g, &out->recovered_distances);
}

/* ---- what happens */

/* From the first issue of an instruction of the loop to its last. */
static double period(const struct bench *b, uint32_t loop,
                     const struct nsr_timed *t, uint64_t n) {
  const struct nsr_common *s = &b->tree->scopes[loop];
  int64_t longest = 0;
  for (uint32_t w = s->first_work; w < s->end_work; w++) {
    const struct nsr_work *x = &b->tree->works[w];
    if (!is_node(b, w))
      continue;
    const struct nsr_timed_engine *g = &t->engine[x->engine];
    int64_t time = g->last[x->insn] - g->first[x->insn];
    longest = time > longest ? time : longest;
  }
  return n > 1 ? (double)longest / (double)(n - 1) / (double)NSR_FS_PER_NS : -1;
}

static enum nsr_status one_loop(struct bench *b, uint32_t loop,
                                const struct load *l,
                                struct nsr_loop_limits *out) {
  const struct nsr_common *s = &b->tree->scopes[loop];
  int e = __builtin_ctz(s->engines);
  *out = (struct nsr_loop_limits){
      .place = nsr_image_place(b->run->image, e,
                               b->entry[loop * NSR_MAX_ENGINES + (uint32_t)e]),
      .depth = s->depth,
      .iterations = iterations(b, loop),
      .recovered_distances = -1,
      .true_distances = -1,
      .as_is = -1,
      .ideal = -1};
  if (!out->iterations)
    return NSR_OK;
  resource_limit(b, l, out);
  out->as_is = period(b, loop, b->as_is, out->iterations);
  out->ideal = period(b, loop, b->ideal, out->iterations);
  return b->leaf[loop] ? dependence_limits(b, loop, l, out) : NSR_OK;
}

static enum nsr_status find_all(struct bench *b, struct nsr_limits *out) {
  struct nsr_loop_limits *loops;
  struct load *loads;
  NSR_TRY(find_totals(b));
  NSR_TRY(find_loops(b));
  NSR_TRY(find_loads(b, &loads));
  struct nsr_loop_map map = {.entry = b->entry};
  for (int e = 0; e < NSR_MAX_ENGINES; e++)
    map.loop[e] = b->leaf_of[e];
  NSR_TRY(nsr_ideal_needs(b->ctx, b->run->image, b->run->contents,
                          b->run->ncontents, b->run->budget, &map, &b->pairs,
                          &b->run->needs));
  if (b->pairs.list.n)
    qsort(b->pairs.list.v, b->pairs.list.n, sizeof *b->pairs.list.v, by_loop);
  NSR_TRY(nsr_time_form(b->ctx, b->run, b->m, NSR_TIME_AS_IS, &b->as_is));
  NSR_TRY(nsr_time_form(b->ctx, b->run, b->m, NSR_TIME_IDEAL, &b->ideal));
  NSR_NEW(b->ctx, NSR_KEEP, loops, b->tree->nscopes);
  for (uint32_t s = 1; s < b->tree->nscopes; s++) {
    const struct nsr_common *c = &b->tree->scopes[s];
    if (!is_loop(b, s) || c->first_work == c->end_work)
      continue;
    struct nsr_mark mark = nsr_scratch_mark(b->ctx);
    NSR_TRY(one_loop(b, s, &loads[s], &loops[out->n++]));
    nsr_scratch_release(b->ctx, mark);
  }
  out->loops = loops;
  return NSR_OK;
}

enum nsr_status
nsr_limits_find(struct nsr_ctx *ctx, const struct nsr_tree *tree,
                const struct nsr_deps *deps, struct nsr_time_run *run,
                const struct nsr_machine *machine, struct nsr_limits *out) {
  struct bench b = {
      .ctx = ctx, .tree = tree, .deps = deps, .run = run, .m = machine};
  struct nsr_mark mark = nsr_scratch_mark(ctx);
  *out = (struct nsr_limits){0};
  enum nsr_status status = find_all(&b, out);
  nsr_scratch_release(ctx, mark);
  return status;
}
