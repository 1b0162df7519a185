/* key_loads.c - conflicts between loads that decide scopes, and writes. */
#include "dep/key_loads.h"

#include "base/bitset.h"
#include "base/vec.h"
#include "ir/outsiders.h"
#include "mem/conflict.h"

struct check {
  struct nsr_ctx *ctx;
  const struct nsr_tree *t;
  uint32_t *number; /* by work: of what it loads, NSR_NONE: not of interest */
  bool *doubtful;   /* by number */
  NSR_VEC(struct nsr_access) accesses; /* of islands */
  NSR_VEC(uint32_t) work_of;           /* by access */
};

/* Those of interest: a key, or an address, rests on them. */
static void number_loads(struct check *c, const uint64_t *symbols) {
  for (uint32_t w = 0; w < c->t->nworks; w++) {
    const struct nsr_work *x = &c->t->works[w];
    const struct nsr_key_load *load =
        x->marker ? NULL
                  : nsr_congruence_kept(&c->t->congruence, x->engine, x->insn);
    bool matters = load && (load->key || nsr_bit(symbols, load->number));
    c->number[w] = matters ? load->number : NSR_NONE;
  }
}

/* ---- in islands */

/* Accesses that meet more others form a crowd; pairs of one are looked at one
 * by one, so many in all. */
enum { MOST_LINKS = 64, MOST_LOOKS = 1 << 20 };

static enum nsr_status add(struct check *c, uint32_t w,
                           const struct nsr_footprint *f) {
  struct nsr_access a = {*f, (uint32_t)c->accesses.n};
  NSR_PUSH(c->ctx, NSR_SCRATCH, &c->accesses, a);
  NSR_PUSH(c->ctx, NSR_SCRATCH, &c->work_of, w);
  return NSR_OK;
}

static enum nsr_status add_everything(struct check *c, uint32_t w) {
  for (int space = NSR_DRAM; space <= NSR_PSUM; space++) {
    struct nsr_footprint f = nsr_footprint_everything((enum nsr_space)space);
    NSR_TRY(add(c, w, &f));
  }
  return NSR_OK;
}

/* Loads read; of others only what they write is of interest. */
static enum nsr_status add_work(struct check *c, uint32_t w) {
  const struct nsr_work *x = &c->t->works[w];
  const struct nsr_program *p = c->t->program;
  const struct nsr_stream *s = p->stream[x->engine];
  struct nsr_insn insn;
  const struct nsr_node *n = nsr_work_node(c->t, x);
  if (n->marked || n->foreign_wait || n->foreign_update)
    NSR_TRY(add_everything(c, w));
  NSR_TRY(nsr_stream_decode(c->ctx, p->k, s, x->insn, &insn));
  for (int i = 0; i < insn.noperands; i++) {
    struct nsr_footprint f;
    nsr_footprint_of(p->k, &insn.operands[i], nsr_operand_tensor(s, x->insn, i),
                     NULL, &f);
    if (c->number[w] != NSR_NONE || nsr_footprint_writes(&f))
      NSR_TRY(add(c, w, &f));
  }
  return NSR_OK;
}

/* What an access loads, NSR_NONE: nothing of interest. */
static uint32_t number_of(const struct check *c, uint32_t access) {
  return c->number[c->work_of.v[access]];
}

/* Of an access in conflict with another one, which may be a load of interest
 * itself where its effects are unknown. */
static void doubt(struct check *c, uint32_t access) {
  uint32_t number = number_of(c, access);
  if (number != NSR_NONE)
    c->doubtful[number] = true;
}

/* Puts those that write in front; returns how many. */
static uint32_t writes_first(const struct check *c, uint32_t *v, uint32_t n) {
  uint32_t writes = 0;
  for (uint32_t i = 0; i < n; i++)
    if (nsr_footprint_writes(&c->accesses.v[v[i]].footprint)) {
      uint32_t x = v[writes];
      v[writes++] = v[i];
      v[i] = x;
    }
  return writes;
}

/* Loads of a crowd, against what it writes: what takes too long to find out is
 * in doubt. v: accesses of the crowd. */
static void check_crowd(struct check *c, uint32_t *v, uint32_t n,
                        uint32_t *looks) {
  uint32_t writes = writes_first(c, v, n);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t number = number_of(c, v[i]);
    if (number == NSR_NONE)
      continue;
    for (uint32_t j = 0; j < writes && !c->doubtful[number]; j++) {
      *looks -= *looks > 0;
      c->doubtful[number] =
          *looks == 0 ||
          nsr_overlap(&c->accesses.v[v[i]].footprint,
                      &c->accesses.v[v[j]].footprint, NULL) != NSR_OVERLAP_NO;
    }
  }
}

static enum nsr_status check_crowds(struct check *c,
                                    const struct nsr_conflicts *found) {
  uint32_t *first, *list, looks = MOST_LOOKS;
  NSR_NEW(c->ctx, NSR_SCRATCH, first, found->ncrowds + (size_t)2);
  NSR_NEW(c->ctx, NSR_SCRATCH, list, c->accesses.n);
  for (size_t i = 0; i < c->accesses.n; i++)
    if (found->crowd[i])
      first[found->crowd[i] + 1]++;
  for (uint32_t i = 0; i < found->ncrowds; i++)
    first[i + 2] += first[i + 1];
  for (uint32_t i = 0; i < c->accesses.n; i++)
    if (found->crowd[i])
      list[first[found->crowd[i]]++] = i;
  for (uint32_t i = 0; i < found->ncrowds; i++)
    check_crowd(c, list + first[i], first[i + 1] - first[i], &looks);
  return NSR_OK;
}

static enum nsr_status check_islands(struct check *c) {
  struct nsr_conflicts found;
  for (uint32_t w = 0; w < c->t->nworks; w++)
    if (c->t->works[w].island && !c->t->works[w].marker &&
        c->t->works[w].channel >= 0)
      NSR_TRY(add_work(c, w));
  NSR_TRY(nsr_conflicts_few(c->ctx, NSR_SCRATCH, c->accesses.v, c->accesses.n,
                            MOST_LINKS, &found));
  for (size_t i = 0; i < found.n; i++) {
    doubt(c, found.v[i].a);
    doubt(c, found.v[i].b);
  }
  return found.ncrowds ? check_crowds(c, &found) : NSR_OK;
}

/* ---- elsewhere */

/* Works that may run between two loads of one number: lo..hi. */
struct span {
  uint32_t lo, hi;
};

/* What may run between executions of one load: a loop without a barrier runs
 * it again, and all else in there in between. */
static struct span span_of(const struct nsr_tree *t, uint32_t w) {
  struct span s = {w, w};
  uint32_t scope = t->works[w].scope;
  while (scope != NSR_NONE && !t->scopes[scope].barrier) {
    const struct nsr_common *x = &t->scopes[scope];
    if (x->kind == NSR_SCOPE_LOOP)
      s = (struct span){x->first_work, x->end_work - 1};
    scope = x->parent;
  }
  return s;
}

static enum nsr_status find_spans(const struct check *c, struct span **spans) {
  uint32_t n = c->t->congruence.nnodes;
  NSR_NEW(c->ctx, NSR_SCRATCH, *spans, n);
  for (uint32_t i = 0; i < n; i++)
    (*spans)[i].lo = NSR_NONE;
  for (uint32_t w = 0; w < c->t->nworks; w++) {
    if (c->number[w] == NSR_NONE)
      continue;
    struct span *s = &(*spans)[c->number[w]], own = span_of(c->t, w);
    if (s->lo == NSR_NONE || own.lo < s->lo)
      s->lo = own.lo;
    s->hi = own.hi > s->hi ? own.hi : s->hi;
  }
  return NSR_OK;
}

/* Of two works in conflict one may be a load of interest. */
static void check_pair(struct check *c, const struct span *spans, uint32_t a,
                       uint32_t b) {
  uint32_t load = c->number[b] == NSR_NONE ? a : b;
  uint32_t other = load == b ? a : b, number = c->number[load];
  if (number != NSR_NONE)
    c->doubtful[number] |=
        other >= spans[number].lo && other <= spans[number].hi;
}

/* The input does not put a load of interest in order with unknown effects. */
static void check_beside(struct check *c, const struct nsr_deps *deps,
                         const struct nsr_dep *d) {
  uint32_t number = c->number[c->number[d->c] == NSR_NONE ? d->p : d->c];
  if (number != NSR_NONE && d->unordered &&
      deps->bytes[d->where].space == NSR_SPACE_ANYTHING)
    c->doubtful[number] = true;
}

static void check_dep(struct check *c, const struct nsr_deps *deps,
                      const struct span *spans, const struct nsr_dep *d) {
  bool load = c->number[d->p] != NSR_NONE || c->number[d->c] != NSR_NONE;
  if (!load || d->overlap == NSR_OVERLAP_NO)
    return;
  check_pair(c, spans, d->p, d->c);
  check_beside(c, deps, d);
}

static enum nsr_status check_between(struct check *c,
                                     const struct nsr_deps *deps) {
  struct span *spans;
  NSR_TRY(find_spans(c, &spans));
  for (uint32_t i = 0; i < deps->n; i++)
    check_dep(c, deps, spans, &deps->deps[i]);
  for (uint32_t i = 0; i < deps->nown; i++)
    check_pair(c, spans, deps->own[i].p, deps->own[i].c);
  return NSR_OK;
}

/* What races may read one value here, another one there. */
static void check_races(struct check *c) {
  for (uint32_t w = 0; w < c->t->nworks; w++) {
    const struct nsr_work *x = &c->t->works[w];
    struct nsr_fact_insn at = {x->engine, x->insn};
    if (c->number[w] != NSR_NONE && nsr_facts_races(c->t->program->facts, at))
      c->doubtful[c->number[w]] = true;
  }
}

static enum nsr_status check_outsiders(struct check *c) {
  struct nsr_outsiders o;
  struct nsr_readings *of; /* by number */
  NSR_TRY(nsr_outsiders_find(c->ctx, c->t, &o));
  if (!o.any)
    return NSR_OK;
  NSR_NEW(c->ctx, NSR_SCRATCH, of, c->t->congruence.nnodes);
  for (uint32_t w = 0; w < c->t->nworks; w++) {
    uint32_t number = c->number[w];
    if (number == NSR_NONE)
      continue;
    NSR_TRY(nsr_outsiders_read(c->ctx, &o, c->t, w, &of[number]));
    c->doubtful[number] |= of[number].apart;
  }
  return NSR_OK;
}

enum nsr_status nsr_key_loads_check(struct nsr_ctx *ctx,
                                    const struct nsr_deps *deps,
                                    struct nsr_key_loads *doubts) {
  const struct nsr_congruence *k = &deps->tree->congruence;
  struct check c = {.ctx = ctx, .t = deps->tree};
  size_t n = doubts->n;
  if (!k->nloads)
    return NSR_OK;
  NSR_NEW(ctx, NSR_SCRATCH, c.number, c.t->nworks);
  NSR_NEW(ctx, NSR_SCRATCH, c.doubtful, k->nnodes);
  number_loads(&c, deps->symbols);
  if (c.t->ntroubles)
    NSR_TRY(check_islands(&c));
  NSR_TRY(check_between(&c, deps));
  NSR_TRY(check_outsiders(&c));
  check_races(&c);
  for (uint32_t i = 0; i < k->nloads; i++)
    if (c.doubtful[k->loads[i].number])
      NSR_PUSH(ctx, NSR_SCRATCH, doubts, k->loads[i]);
  if (doubts->n > n)
    NSR_TRY(nsr_key_loads_sort(ctx, doubts->v, doubts->n));
  return NSR_OK;
}
