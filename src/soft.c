/* soft.c - what soft barriers cost.
 *
 * Unknown effects may be on anything, so their instruction waits for what each
 * channel did in front of it, and all others wait for it: it is itself the go
 * of a star (theory-channels.md 3.2). Nothing is set to 0, and who has nothing
 * to wait for does not. The other way is an island: the barriers in front and
 * behind stay. Both drain what is under way, so that is left out of what they
 * cost; the rest is as the machine has it, for one execution.
 */
#include "soft.h"

#include <stdlib.h>

#include "fit.h"
#include "judge/timing.h"
#include "mem/trips.h"
#include "sim/timed.h"

struct soft {
  uint32_t work;
  uint32_t front, behind; /* barriers: parts; NSR_NONE: none in its body */
  uint32_t in, out;       /* its waits, those for it */
  int64_t slowest;        /* of those, ps */
  int64_t cost;           /* ps, of all that */
};

struct list {
  struct nsr_ctx *ctx;
  const struct nsr_bench *b;
  const struct nsr_machine *m;
  NSR_VEC(struct soft) v;
  uint32_t *of; /* by work: number + 1 */
};

static bool is_soft(const struct nsr_tree *t, uint32_t w) {
  const struct nsr_work *x = &t->works[w];
  return !x->marker && !x->island && nsr_work_node(t, x)->unknown;
}

/* ---- the barriers around them */

/* Those of a segment, behind barrier `front`. */
static enum nsr_status list_segment(struct list *l, const struct nsr_part *part,
                                    uint32_t front) {
  for (uint32_t w = part->first; w < part->first + part->n; w++)
    if (is_soft(&l->b->tree, w)) {
      NSR_PUSH(l->ctx, NSR_SCRATCH, &l->v,
               (struct soft){.work = w, .front = front, .behind = NSR_NONE});
      l->of[w] = (uint32_t)l->v.n;
    }
  return NSR_OK;
}

/* Those in front of a barrier are the last ones. */
static void end_region(struct list *l, size_t from, uint32_t behind) {
  for (size_t i = from; i < l->v.n; i++)
    l->v.v[i].behind = behind;
}

/* Those of one body; its last barrier and its first follow each other in a
 * loop. */
static enum nsr_status list_body(struct list *l, uint32_t scope) {
  const struct nsr_tree *t = &l->b->tree;
  uint32_t first = NSR_NONE, last = NSR_NONE;
  size_t begin = l->v.n, open = begin;
  for (uint32_t p = t->scopes[scope].first_part; p != NSR_NONE;
       p = t->parts[p].next) {
    if (t->parts[p].kind == NSR_PART_SEGMENT)
      NSR_TRY(list_segment(l, &t->parts[p], last));
    if (t->parts[p].kind != NSR_PART_BARRIER)
      continue;
    end_region(l, open, p);
    open = l->v.n;
    first = first == NSR_NONE ? p : first;
    last = p;
  }
  if (t->scopes[scope].kind != NSR_SCOPE_LOOP)
    return NSR_OK;
  end_region(l, open, first);
  for (size_t i = begin; i < l->v.n; i++)
    if (l->v.v[i].front == NSR_NONE)
      l->v.v[i].front = last;
  return NSR_OK;
}

/* What an island would keep besides the exit barrier. Where there is none in
 * the body, one is on the way, but for the beginning of the kernel. */
static uint32_t barriers_of(const struct nsr_bench *b, const struct soft *s) {
  bool top = b->tree.works[s->work].scope == 0;
  uint32_t n = s->front != b->exit && !(top && s->front == NSR_NONE);
  bool same = s->behind != NSR_NONE && s->behind == s->front;
  return n + (s->behind != b->exit && !same);
}

/* ---- costs */

static int64_t figure(const struct nsr_machine *m, enum nsr_machine_figure f) {
  const int64_t most = INT64_C(1000000000000000);
  return m->v[f] < most ? m->v[f] : most;
}

static int64_t cycles(const struct nsr_machine *m, int engine,
                      enum nsr_machine_figure f) {
  int64_t cycle = nsr_cycle_of(m, engine) / NSR_FS_PER_PS;
  return figure(m, f) / NSR_MILLI * cycle;
}

static int64_t wait_cost(const struct list *l, const struct nsr_plan_wait *w) {
  int engine = l->b->tree.works[w->c].engine;
  return cycles(l->m, engine, NSR_CONTROL_WAIT) +
         cycles(l->m, engine, NSR_CONTROL_REGISTER) *
             (int64_t)nsr_plan_wait_ops(&l->b->plan, w);
}

/* Two updates are waited for, one behind the other; with all that it waits for
 * itself, and the slowest wait for it. */
static void find_costs(struct list *l) {
  const struct nsr_plan *plan = &l->b->plan;
  for (size_t i = 0; i < l->v.n; i++)
    l->v.v[i].cost =
        2 * (figure(l->m, NSR_SEM_UPDATE) + figure(l->m, NSR_SEM_WAIT));
  for (uint32_t i = 0; i < plan->nwaits; i++) {
    const struct nsr_plan_wait *w = &plan->waits[i];
    int64_t cost = wait_cost(l, w);
    if (l->of[w->c]) {
      l->v.v[l->of[w->c] - 1].in++;
      l->v.v[l->of[w->c] - 1].cost += cost;
    }
    if (l->of[w->p]) {
      struct soft *s = &l->v.v[l->of[w->p] - 1];
      s->out++;
      s->slowest = cost > s->slowest ? cost : s->slowest;
    }
  }
  for (size_t i = 0; i < l->v.n; i++)
    l->v.v[i].cost += l->v.v[i].slowest;
}

/* What the barriers would cost. */
static int64_t saved(const struct list *l, const struct soft *s) {
  return barriers_of(l->b, s) *
         (figure(l->m, NSR_BARRIER_COST) + 2 * figure(l->m, NSR_SEM_UPDATE));
}

/* Needs a plan. */
static enum nsr_status find_all(struct list *l,
                                const struct nsr_rewrite_options *options,
                                struct nsr_machine *m) {
  const struct nsr_tree *t = &l->b->tree;
  NSR_NEW(l->ctx, NSR_SCRATCH, l->of, t->nworks);
  for (uint32_t s = 0; s < t->nscopes; s++)
    NSR_TRY(list_body(l, s));
  if (l->v.n == 0)
    return NSR_OK;
  NSR_TRY(
      nsr_time_machine_of(l->ctx, t->program->k->isa, &options->machine, m));
  l->m = m;
  find_costs(l);
  return NSR_OK;
}

/* ---- choosing */

/* Those that cost more than the barriers become islands; *any: whether there
 * are such. */
static enum nsr_status give_up(struct nsr_ctx *ctx,
                               const struct nsr_rewrite_options *options,
                               struct nsr_bench *b, bool *any) {
  struct list l = {.ctx = ctx, .b = b};
  struct nsr_machine m;
  *any = false;
  NSR_TRY(find_all(&l, options, &m));
  for (size_t i = 0; i < l.v.n; i++) {
    const struct nsr_work *x = &b->tree.works[l.v.v[i].work];
    if (l.v.v[i].cost < saved(&l, &l.v.v[i]))
      continue;
    *any = true;
    NSR_PUSH(ctx, NSR_SCRATCH, &b->known,
             (struct nsr_trouble){x->engine, x->insn, "the instruction",
                                  "has unknown effects, and a soft barrier "
                                  "would cost more"});
  }
  if (*any)
    qsort(b->known.v, b->known.n, sizeof *b->known.v, nsr_trouble_compare);
  return NSR_OK;
}

enum nsr_status nsr_bench_plan(struct nsr_ctx *ctx,
                               const struct nsr_rewrite_options *options,
                               struct nsr_bench *b, bool asked) {
  for (bool more = true; more;) {
    NSR_TRY(nsr_bench_synthesise(ctx, options, b, asked));
    NSR_TRY(nsr_fit(ctx, options, b, asked));
    more = false;
    if (!b->deps.tree || nsr_bench_wild(options))
      break;
    NSR_TRY(give_up(ctx, options, b, &more));
    if (!more)
      break;
    NSR_TRY(nsr_bench_analyse(ctx, options, b, asked));
    b->plan = (struct nsr_plan){0};
    more = b->deps.tree != NULL;
  }
  return NSR_OK;
}

/* ---- the report */

enum nsr_status nsr_report_soft(struct nsr_ctx *ctx,
                                const struct nsr_rewrite_options *options,
                                const struct nsr_bench *b,
                                struct nsr_rewrite_report *r) {
  struct list l = {.ctx = ctx, .b = b};
  struct nsr_soft_barrier *v;
  struct nsr_machine m;
  uint64_t *entries;
  NSR_TRY(find_all(&l, options, &m));
  if (l.v.n == 0)
    return NSR_OK;
  NSR_TRY(nsr_trips_entries(ctx, &b->tree, &entries));
  NSR_NEW(ctx, NSR_KEEP, v, l.v.n);
  for (size_t i = 0; i < l.v.n; i++) {
    const struct soft *s = &l.v.v[i];
    v[i] = (struct nsr_soft_barrier){
        .place = nsr_work_place(&b->tree, &b->tree.works[s->work]),
        .reason = "has unknown effects",
        .in = s->in,
        .out = s->out,
        .barriers = barriers_of(b, s),
        .cost = s->cost / NSR_MILLI,
        .saved = saved(&l, s) / NSR_MILLI,
        .times = entries[b->tree.works[s->work].scope]};
  }
  r->soft = v;
  r->nsoft = (uint32_t)l.v.n;
  return NSR_OK;
}
