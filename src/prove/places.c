/* places.c - inserted code to the bodies it runs in. */
#include "prove/places.h"

#include <stdlib.h>

#include "base/bitset.h"
#include "prove/dead.h"

/* Something that an engine comes to. */
struct stop {
  struct nsr_inserted_run *front, *behind;
};

/* One engine's code while its bodies are walked. */
struct finder {
  struct nsr_ctx *ctx;
  const struct nsr_erasure *e;
  struct nsr_places *out;
  struct nsr_proof *proof;
  int engine;
  const struct nsr_scopes *own;
  const struct nsr_node *in, *made; /* of input and output */
  const struct nsr_erased *erased;
  uint32_t *common;  /* by own scope: the tree's, NSR_NONE: none */
  uint32_t *work;    /* by input instruction */
  uint32_t *barrier; /* by input instruction: the part */
  uint32_t *from; /* by input instruction: where the rest of its gap begins */
  uint64_t *set;
  uint32_t scope; /* of the tree, that is taken */
  struct stop last;
  uint32_t placed;  /* inserted instructions */
  uint32_t pending; /* what is in v from here on has no place yet */
};

static struct stop at_part(const struct finder *f, uint32_t part) {
  size_t i = (size_t)part * NSR_MAX_ENGINES + (size_t)f->engine;
  return (struct stop){&f->out->part[NSR_FRONT][i],
                       &f->out->part[NSR_BEHIND][i]};
}

static bool has_wait(const struct finder *f, const struct nsr_inserted *x,
                     uint32_t *at) {
  for (*at = x->lo; *at < x->hi; ++*at)
    if (f->made[*at].wait.cmp)
      return true;
  return false;
}

/* What is pending stands between the last stop and this one. */
static enum nsr_status flush(struct finder *f, struct stop stop) {
  uint32_t i = f->pending, at;
  while (i < f->out->v.n && !has_wait(f, &f->out->v.v[i], &at))
    i++;
  if (i < f->out->v.n && at > f->out->v.v[i].lo) { /* cut it in two */
    NSR_PUSH(f->ctx, NSR_SCRATCH, &f->out->v, f->out->v.v[f->out->v.n - 1]);
    for (size_t k = f->out->v.n - 1; k > i; k--)
      f->out->v.v[k] = f->out->v.v[k - 1];
    f->out->v.v[i++].hi = at;
    f->out->v.v[i].lo = at;
  }
  uint32_t n = (uint32_t)f->out->v.n;
  *f->last.behind = (struct nsr_inserted_run){f->pending, i - f->pending};
  *stop.front = (struct nsr_inserted_run){i, n - i};
  f->last = stop;
  f->pending = n;
  return NSR_OK;
}

/* What is inserted up to hi ends with what the way past the arm at hand has
 * instead: only the branch in front of the arm may lead there. */
static enum nsr_status take_passing(struct finder *f,
                                    const struct nsr_over *over, uint32_t hi) {
  const struct nsr_common *s = &f->e->tree->scopes[f->scope];
  uint32_t entry = f->own->scopes[s->local[f->engine]].entry;
  if (s->kind != NSR_SCOPE_ARM || s->to_end || over->end != hi ||
      over->skip == NSR_NONE || over->skip + 1 != entry)
    return nsr_proof_object(f->ctx, f->proof, NSR_PROOF_UNDECIDED,
                            NSR_RULE_STRUCTURE,
                            "a branch over inserted code, not at the end of an "
                            "arm that is passed by there");
  f->placed += hi - over->at;
  NSR_PUSH(f->ctx, NSR_SCRATCH, &f->out->passing,
           (struct nsr_passing){f->scope, (uint32_t)f->engine, over->at + 1,
                                over->end});
  return NSR_OK;
}

static enum nsr_status take(struct finder *f, uint32_t lo, uint32_t hi) {
  const struct nsr_over *over = nsr_erased_over(f->erased, lo, hi);
  if (over) {
    NSR_TRY(take_passing(f, over, hi));
    hi = over->at;
  }
  if (lo >= hi)
    return NSR_OK;
  f->placed += hi - lo;
  NSR_PUSH(f->ctx, NSR_SCRATCH, &f->out->v, (struct nsr_inserted){lo, hi});
  return NSR_OK;
}

/* Where what stands in front of instruction i ends. */
static uint32_t end_of(const struct finder *f, uint32_t i) {
  return f->erased->own[i] != NSR_NONE ? f->erased->own[i] : f->from[i + 1];
}

/* In front of a nested loop stands what its later iterations do not run. */
static enum nsr_status enter_loop(struct finder *f, uint32_t scope) {
  const struct nsr_cfg *g = f->own->cfg;
  uint32_t i = f->own->scopes[scope].entry;
  uint32_t at = f->erased->loop_at[g->blocks[g->block_of[i]].loop];
  if (at == NSR_NONE)
    return NSR_OK;
  if (at < f->from[i])
    return nsr_proof_object(f->ctx, f->proof, NSR_PROOF_UNDECIDED,
                            NSR_RULE_STRUCTURE,
                            "inserted code that only later iterations run");
  NSR_TRY(take(f, f->from[i], at));
  for (; f->from[i] < at; i++) {
    f->from[i] = at;
    if (f->erased->own[i] != NSR_NONE)
      break;
  }
  return NSR_OK;
}

/* Behind a nested loop stands what only those run who leave it. */
static enum nsr_status leave_loop(struct finder *f, uint32_t scope) {
  const struct nsr_cfg *g = f->own->cfg;
  uint32_t header = g->block_of[f->own->scopes[scope].entry];
  const struct nsr_exit_code *x = &f->erased->exit[g->blocks[header].loop];
  return x->lo == NSR_NONE ? NSR_OK : take(f, x->lo, x->hi);
}

/* Behind an instruction that has a place, and in front of where branches to the
 * next one land, stands what only this way runs. */
static enum nsr_status take_behind(struct finder *f, uint32_t i) {
  uint32_t lo = f->erased->own[i] + 1, hi = f->erased->start[i + 1];
  if (lo >= hi || f->erased->exits[i])
    return NSR_OK;
  if (f->in[i].ctl == NSR_CTL_BR)
    return nsr_proof_object(f->ctx, f->proof, NSR_PROOF_UNDECIDED,
                            NSR_RULE_STRUCTURE,
                            "inserted code behind a branch that others pass "
                            "by");
  return take(f, lo, hi);
}

static enum nsr_status take_own(struct finder *f, uint32_t i) {
  uint32_t own = f->erased->own[i];
  if (f->work[i] != NSR_NONE) {
    uint32_t w = f->work[i];
    return flush(f, (struct stop){&f->out->work[NSR_FRONT][w],
                                  &f->out->work[NSR_BEHIND][w]});
  }
  if (f->barrier[i] != NSR_NONE)
    return flush(f, at_part(f, f->barrier[i]));
  int dst = f->in[i].dst; /* it may take a threshold away */
  if (dst < 0 || !nsr_bit(f->set, (size_t)dst))
    return NSR_OK;
  f->placed--; /* not inserted */
  return take(f, own, own + 1);
}

static enum nsr_status take_insn(struct finder *f, uint32_t i) {
  NSR_TRY(take(f, f->from[i], end_of(f, i)));
  if (f->erased->own[i] == NSR_NONE)
    return NSR_OK;
  NSR_TRY(take_own(f, i));
  return take_behind(f, i);
}

/* Code that nothing in the tree stands for: nothing may be inserted there. */
static enum nsr_status check_empty(struct finder *f, uint32_t scope) {
  for (uint32_t s = scope; s <= f->own->scopes[scope].last; s++)
    for (uint32_t i = 0; i < f->own->scopes[s].nitems; i++) {
      const struct nsr_item *it =
          &f->own->items[f->own->scopes[s].first_item + i];
      for (uint32_t x = it->first; !it->is_scope && x < it->first + it->n; x++)
        if (f->from[x] < end_of(f, x))
          return nsr_proof_object(
              f->ctx, f->proof, NSR_PROOF_UNDECIDED, NSR_RULE_STRUCTURE,
              "inserted code in a loop or conditional without work");
    }
  return NSR_OK;
}

/* All that an engine's part of a scope holds, in the order it runs. */
static enum nsr_status take_scope(struct finder *f, uint32_t scope) {
  const struct nsr_tree *t = f->e->tree;
  uint32_t local = t->scopes[scope].local[f->engine];
  const struct nsr_scope *s = &f->own->scopes[local];
  size_t b = (size_t)scope * NSR_MAX_ENGINES + (size_t)f->engine;
  struct stop body = {&f->out->body[NSR_FRONT][b],
                      &f->out->body[NSR_BEHIND][b]};
  f->pending = (uint32_t)f->out->v.n;
  f->last = body;
  f->scope = scope;
  for (uint32_t i = 0; i < s->nitems; i++) {
    const struct nsr_item *it = &f->own->items[s->first_item + i];
    for (uint32_t x = it->first; !it->is_scope && x < it->first + it->n; x++)
      NSR_TRY(take_insn(f, x));
    if (!it->is_scope)
      continue;
    uint32_t nested = f->common[it->first];
    bool loop = f->own->scopes[it->first].kind == NSR_SCOPE_LOOP;
    if (loop)
      NSR_TRY(enter_loop(f, it->first));
    if (nested == NSR_NONE)
      NSR_TRY(check_empty(f, it->first));
    else
      NSR_TRY(flush(f, at_part(f, f->out->part_of[nested])));
    if (loop)
      NSR_TRY(leave_loop(f, it->first));
  }
  return flush(f, body);
}

/* ---- registers */

/* What inserted code sets must not be in use in front of i. */
static enum nsr_status check_gap(struct finder *f, struct nsr_live *live,
                                 uint32_t i) {
  for (uint32_t o = f->erased->gap[i]; o < f->erased->own[i]; o++) {
    bool used;
    if (f->made[o].cls != NSR_CONTROL || f->made[o].dst < 0)
      continue;
    nsr_bit_set(f->set, (size_t)f->made[o].dst);
    NSR_TRY(nsr_live_at(f->ctx, f->own->cfg, live, i, f->made[o].dst, &used));
    bool kept = nsr_facts_keep_register(f->e->in->facts, f->engine,
                                        (uint32_t)f->made[o].dst);
    if (!used && !kept)
      continue;
    const char *at = nsr_proof_place(f->ctx, f->e->out, f->engine, o);
    if (!at)
      return NSR_E_NOMEM;
    return nsr_proof_object(f->ctx, f->proof, NSR_PROOF_REFUTED,
                            NSR_RULE_REGISTERS,
                            used ? "%s of the output sets register %d, whose "
                                   "value the input still uses"
                                 : "%s of the output sets register %d, which "
                                   "is to be left alone",
                            at, (int)f->made[o].dst);
  }
  return NSR_OK;
}

static enum nsr_status check_registers(struct finder *f) {
  struct nsr_live live;
  NSR_TRY(nsr_live_init(f->ctx, f->e->in, f->engine, &live));
  NSR_NEW(f->ctx, NSR_SCRATCH, f->set, live.words);
  for (uint32_t i = 0; i < f->e->in->stream[f->engine]->n; i++)
    if (f->erased->own[i] != NSR_NONE)
      NSR_TRY(check_gap(f, &live, i));
  f->out->set[f->engine] = f->set;
  return NSR_OK;
}

/* ---- semaphores */

static bool same_update(const struct nsr_update *a,
                        const struct nsr_update *b) {
  return a->op == b->op && a->sem == b->sem && a->value == b->value;
}

/* Whether output instruction o updates what is to be left alone, and none of
 * the input's from *at up to `end` does the same; *at: behind that one. */
static bool takes_reserved(const struct finder *f, uint32_t o, uint32_t *at,
                           uint32_t end) {
  const struct nsr_node *n = &f->made[o];
  if (!n->update.op || n->foreign_update ||
      !nsr_facts_keep_semaphore(f->e->in->facts, n->update.sem))
    return false;
  while (*at < end && !same_update(&f->in[*at].update, &n->update))
    ++*at;
  return (*at)++ >= end;
}

/* Updates of the input that stay do so on the same instruction, or on a no-op
 * between the same two. */
static enum nsr_status check_semaphores(struct finder *f) {
  uint32_t at = 0;
  for (uint32_t i = 0; i < f->e->in->stream[f->engine]->n; i++) {
    uint32_t own = f->erased->own[i], o = f->erased->gap[i];
    if (own == NSR_NONE)
      continue;
    while (o < own && !takes_reserved(f, o, &at, i))
      o++;
    at = i;
    if (o == own && !takes_reserved(f, own, &at, i + 1)) {
      at = i + 1;
      continue;
    }
    const char *place = nsr_proof_place(f->ctx, f->e->out, f->engine, o);
    return place ? nsr_proof_object(f->ctx, f->proof, NSR_PROOF_REFUTED,
                                    NSR_RULE_COUNTERS,
                                    "%s of the output updates semaphore %u, "
                                    "which is to be left alone",
                                    place, (unsigned)f->made[o].update.sem)
                 : NSR_E_NOMEM;
  }
  return NSR_OK;
}

/* ---- an engine */

static enum nsr_status number(struct finder *f) {
  const struct nsr_tree *t = f->e->tree;
  uint32_t n = f->e->in->stream[f->engine]->n;
  NSR_NEW(f->ctx, NSR_SCRATCH, f->common, f->own->nscopes);
  NSR_NEW(f->ctx, NSR_SCRATCH, f->work, n);
  NSR_NEW(f->ctx, NSR_SCRATCH, f->barrier, n);
  NSR_NEW(f->ctx, NSR_SCRATCH, f->from, (size_t)n + 1);
  for (uint32_t s = 0; s < f->own->nscopes; s++)
    f->common[s] = NSR_NONE;
  for (uint32_t s = 0; s < t->nscopes; s++)
    if (nsr_common_runs(t, s, f->engine))
      f->common[t->scopes[s].local[f->engine]] = s;
  for (uint32_t i = 0; i < n; i++) {
    f->work[i] = f->barrier[i] = NSR_NONE;
    f->from[i] = f->erased->start[i];
  }
  f->from[n] = f->erased->start[n];
  for (uint32_t w = 0; w < t->nworks; w++)
    if (t->works[w].engine == f->engine && !t->works[w].marker)
      f->work[t->works[w].insn] = w;
  for (uint32_t p = 0; p < t->nparts; p++)
    if (t->parts[p].kind == NSR_PART_BARRIER &&
        t->parts[p].insn[f->engine] != NSR_NONE)
      f->barrier[t->parts[p].insn[f->engine]] = p;
  return NSR_OK;
}

/* Nothing that was inserted may be left over. */
static enum nsr_status check_placed(struct finder *f) {
  uint32_t inserted = f->e->out->stream[f->engine]->n;
  for (uint32_t i = 0; i < f->e->in->stream[f->engine]->n; i++)
    inserted -= f->erased->own[i] != NSR_NONE;
  if (inserted == f->placed)
    return NSR_OK;
  return nsr_proof_object(f->ctx, f->proof, NSR_PROOF_UNDECIDED,
                          NSR_RULE_STRUCTURE,
                          "inserted code of %s that has no place",
                          f->e->in->k->isa->engines[f->engine]);
}

static enum nsr_status find_engine(struct nsr_ctx *ctx,
                                   const struct nsr_erasure *e, int engine,
                                   struct nsr_places *out,
                                   struct nsr_proof *proof) {
  struct finder f = {.ctx = ctx,
                     .e = e,
                     .out = out,
                     .proof = proof,
                     .engine = engine,
                     .own = &e->tree->local[engine],
                     .in = e->in->nodes[engine],
                     .made = e->out->nodes[engine],
                     .erased = &e->engines[engine]};
  NSR_TRY(number(&f));
  NSR_TRY(check_registers(&f));
  if (nsr_proof_open(proof))
    NSR_TRY(check_semaphores(&f));
  for (uint32_t s = 0; s < e->tree->nscopes && nsr_proof_open(proof); s++)
    if (nsr_common_runs(e->tree, s, engine))
      NSR_TRY(take_scope(&f, s));
  return check_placed(&f);
}

static int by_scope(const void *a, const void *b) {
  const struct nsr_passing *x = a, *y = b;
  if (x->scope != y->scope)
    return x->scope < y->scope ? -1 : 1;
  return x->engine < y->engine ? -1 : x->engine > y->engine;
}

const struct nsr_passing *nsr_passing_first(const struct nsr_places *p,
                                            uint32_t scope) {
  size_t lo = 0, hi = p->passing.n;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (p->passing.v[mid].scope < scope)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo < p->passing.n && p->passing.v[lo].scope == scope
             ? &p->passing.v[lo]
             : NULL;
}

enum nsr_status nsr_places_find(struct nsr_ctx *ctx,
                                const struct nsr_erasure *e,
                                struct nsr_places *out,
                                struct nsr_proof *proof) {
  const struct nsr_tree *t = e->tree;
  *out = (struct nsr_places){0};
  for (int b = NSR_FRONT; b <= NSR_BEHIND; b++) {
    NSR_NEW(ctx, NSR_SCRATCH, out->work[b], t->nworks);
    NSR_NEW(ctx, NSR_SCRATCH, out->part[b],
            (size_t)t->nparts * NSR_MAX_ENGINES);
    NSR_NEW(ctx, NSR_SCRATCH, out->body[b],
            (size_t)t->nscopes * NSR_MAX_ENGINES);
  }
  NSR_NEW(ctx, NSR_SCRATCH, out->part_of, t->nscopes);
  for (uint32_t p = 0; p < t->nparts; p++)
    if (t->parts[p].kind == NSR_PART_SCOPE)
      out->part_of[t->parts[p].first] = p;
  for (int x = 0; x < NSR_MAX_ENGINES && nsr_proof_open(proof); x++)
    if (e->in->stream[x])
      NSR_TRY(find_engine(ctx, e, x, out, proof));
  if (out->passing.n)
    qsort(out->passing.v, out->passing.n, sizeof *out->passing.v, by_scope);
  return NSR_OK;
}
