/* prove.c - the parts of a proof, one after the other. */
#include <nsr/prove.h>

#include <stdlib.h>
#include <string.h>

#include "base/mistake.h"
#include "base/work.h"
#include "mem/lasting.h"
#include "mem/trips.h"
#include "prove/arms.h"
#include "prove/collide.h"
#include "prove/lag.h"
#include "prove/outside.h"
#include "prove/reference.h"
#include "prove/starts.h"

struct prover {
  struct nsr_ctx *ctx; /* of its own: what it cannot read is no error */
  struct nsr_reference in;
  struct nsr_program out;
  struct nsr_erasure erasure;
  struct nsr_score output;
  struct nsr_thresholds at_output;
  struct nsr_snapshot *snapshots; /* by wait of the output */
  struct nsr_sights sights;
  struct nsr_touches touches;
  struct nsr_lag_result lag;
  struct nsr_arms arms;
  uint32_t *free;   /* by scope: nsr_free_loops */
  uint32_t *learns; /* by such a loop: engines */
  uint64_t *trips;  /* by scope: nsr_trips_find, once anything asks */
  struct nsr_proof *proof;
};

static enum nsr_status object(struct prover *p, enum nsr_proof_verdict verdict,
                              enum nsr_proof_rule rule, const char *what,
                              const struct nsr_program *of, int engine,
                              uint32_t insn) {
  const char *at = nsr_proof_place(p->ctx, of, engine, insn);
  return at ? nsr_proof_object(p->ctx, p->proof, verdict, rule, "%s at %s",
                               what, at)
            : NSR_E_NOMEM;
}

/* What an input is refused for is a reason not to decide. */
static enum nsr_status cannot_read(struct prover *p, enum nsr_status status) {
  const struct nsr_diag *d = nsr_ctx_first_error(p->ctx);
  char text[512] = "the input cannot be read";
  if (status == NSR_E_NOMEM || status == NSR_E_INTERNAL)
    return status;
  if (d)
    nsr_diag_format(d, text, sizeof text);
  return nsr_proof_object(p->ctx, p->proof, NSR_PROOF_UNDECIDED,
                          NSR_RULE_STRUCTURE, "%s", text);
}

/* ---- what is left of the input in the output */

/* Barriers around code whose order is not known, and the exit barrier. */
static enum nsr_status check_kept(struct prover *p) {
  const struct nsr_tree *t = &p->in.tree;
  uint32_t exit;
  enum nsr_status status = nsr_tree_exit(p->ctx, t, &exit);
  if (status != NSR_OK)
    return cannot_read(p, status);
  for (uint32_t i = 0; i < t->nparts && nsr_proof_open(p->proof); i++) {
    const struct nsr_part *part = &t->parts[i];
    if (part->kind != NSR_PART_BARRIER || (i != exit && !part->keep))
      continue;
    for (int e = 0; e < NSR_MAX_ENGINES; e++)
      if (p->in.program.stream[e] && part->insn[e] != NSR_NONE &&
          p->erasure.engines[e].own[part->insn[e]] == NSR_NONE)
        return object(p, i == exit ? NSR_PROOF_REFUTED : NSR_PROOF_UNDECIDED,
                      NSR_RULE_ERASURE,
                      i == exit ? "the exit barrier is gone"
                                : "a barrier is gone around code whose order "
                                  "is not known,",
                      &p->in.program, e, part->insn[e]);
  }
  return NSR_OK;
}

/* ---- waits of the output */

static enum nsr_status find_trips(struct prover *p) {
  return p->trips ? NSR_OK : nsr_trips_find(p->ctx, &p->in.tree, &p->trips);
}

/* Whether a loop is left in its first iteration, where that says so: what is
 * behind its test never runs. */
static bool never_goes_on(const struct prover *p, uint32_t rest) {
  uint32_t s = rest;
  while (s != 0 && p->in.tree.scopes[s].kind != NSR_SCOPE_LOOP)
    s = p->in.tree.scopes[s].parent;
  return p->trips[s] < 2;
}

/* Whether a body runs as soon as the loops around it do, each once: arms may be
 * such that nothing ever takes them, and loops such that they never run. Needs
 * trips. */
static bool surely_runs(const struct prover *p, uint32_t scope) {
  const struct nsr_common *scopes = p->in.tree.scopes;
  for (; scope != 0; scope = scopes[scope].parent) {
    const struct nsr_common *s = &scopes[scope];
    bool rest = s->to_end && s->skip == NSR_ENDS_EXIT;
    if (s->kind != NSR_SCOPE_LOOP && (!rest || never_goes_on(p, scope)))
      return false;
  }
  return true;
}

/* A wait for what comes later in the reference order hangs where its own engine
 * has to do that, or nobody does it any more. */
static enum nsr_status object_late(struct prover *p, uint32_t i, uint32_t loops,
                                   uint32_t scope) {
  const struct nsr_score *s = &p->output;
  const struct nsr_step *x = &s->steps[i];
  const struct nsr_count_group *g = &s->groups[x->group];
  bool own =
      g->channel >= 0 && nsr_channel_engine(p->out.k, g->channel) == x->engine;
  bool last = loops == 0 && s->by_group[g->first + g->n - 1] < x->member;
  NSR_TRY(find_trips(p));
  return object(p,
                (own || last) && surely_runs(p, scope) ? NSR_PROOF_REFUTED
                                                       : NSR_PROOF_UNDECIDED,
                NSR_RULE_LIVE,
                own    ? "a wait for what its engine does behind it"
                : last ? "a wait for more than there is"
                       : "a wait for what comes later",
                &p->out, x->engine, x->insn);
}

static enum nsr_status check_waits(struct prover *p) {
  const struct nsr_score *s = &p->output;
  uint32_t loops = 0, scope = 0; /* around here */
  for (uint32_t i = 0; i < s->nsteps && nsr_proof_open(p->proof); i++) {
    const struct nsr_step *x = &s->steps[i];
    loops += x->kind == NSR_STEP_LOOP;
    loops -= x->kind == NSR_STEP_END && s->steps[x->end].kind == NSR_STEP_LOOP;
    if (x->kind == NSR_STEP_LOOP || x->kind == NSR_STEP_ARM)
      scope = x->work;
    else if (x->kind == NSR_STEP_END)
      scope = p->in.tree.scopes[x->work].parent;
    if (s->steps[i].kind != NSR_STEP_WAIT)
      continue;
    const struct nsr_wait_found *w =
        &p->at_output.waits[p->at_output.wait_of[i]];
    bool live = p->snapshots[p->at_output.wait_of[i]].live;
    if (w->kind == NSR_WAIT_UNKNOWN && !live)
      NSR_TRY(object(p, NSR_PROOF_UNDECIDED, NSR_RULE_THRESHOLD,
                     "the threshold is no count less a constant", &p->out,
                     s->steps[i].engine, s->steps[i].insn));
    else if (w->kind == NSR_WAIT_LAG && w->lag < 0)
      NSR_TRY(object_late(p, i, loops, scope));
  }
  return NSR_OK;
}

/* What counts behind the last barrier is left for the next kernel. */
static enum nsr_status check_left(struct prover *p) {
  const struct nsr_score *s = &p->output;
  for (uint32_t i = s->nsteps; i-- > 0;) {
    const struct nsr_step *x = &s->steps[i];
    if (x->kind == NSR_STEP_BARRIER)
      return NSR_OK;
    if (x->kind == NSR_STEP_WORK && x->group != NSR_NONE)
      return object(p, NSR_PROOF_REFUTED, NSR_RULE_COUNTERS,
                    "a count behind the exit barrier", &p->out, x->engine,
                    x->insn);
  }
  return NSR_OK;
}

/* ---- counts */

/* So many iterations of all counted loops together keep all counts below what
 * a semaphore holds. */
static enum nsr_status check_budget(struct prover *p) {
  const struct nsr_score *s = &p->output;
  int bits = p->out.k->isa->semaphore_bits;
  int64_t most = (INT64_C(1) << ((bits < 32 ? bits : 32) - 1)) - 1;
  int64_t *once, *each;
  uint32_t depth = 0;
  NSR_NEW(p->ctx, NSR_SCRATCH, once, s->ngroups);
  NSR_NEW(p->ctx, NSR_SCRATCH, each, s->ngroups);
  for (uint32_t i = 0; i < s->nsteps; i++) {
    const struct nsr_step *x = &s->steps[i];
    depth += x->kind == NSR_STEP_LOOP;
    depth -= x->kind == NSR_STEP_END && s->steps[x->end].kind == NSR_STEP_LOOP;
    if (x->kind == NSR_STEP_WORK && x->group != NSR_NONE)
      *(depth ? &each[x->group] : &once[x->group]) += x->value;
  }
  for (uint32_t g = 0; g < s->ngroups; g++) {
    int64_t bound = each[g] ? (most - once[g]) / each[g] : 0;
    if (once[g] > most || (each[g] && bound < 1))
      return nsr_proof_object(p->ctx, p->proof, NSR_PROOF_UNDECIDED,
                              NSR_RULE_BUDGET,
                              "semaphore %u counts more than its %d bits hold",
                              (unsigned)s->groups[g].sem, bits);
    if (each[g] && (!p->proof->bound || bound < p->proof->bound))
      p->proof->bound = bound;
  }
  return NSR_OK;
}

/* How often a loop may run in all. */
static enum nsr_status find_most(struct prover *p) {
  const struct nsr_tree *t = p->touches.tree;
  uint64_t *entries, most = 0;
  NSR_TRY(nsr_trips_entries(p->ctx, t, &entries));
  for (uint32_t s = 1; s < t->nscopes; s++)
    if (t->scopes[s].kind == NSR_SCOPE_LOOP && entries[s] > most)
      most = entries[s];
  p->proof->most = most < INT64_MAX ? (int64_t)most : INT64_MAX;
  return nsr_values_lasting(p->ctx, t, p->touches.values, entries,
                            &p->proof->lasting);
}

/* ---- order */

static uint32_t work_of(const struct prover *p, uint32_t touch) {
  uint32_t slot = p->touches.v[touch].slot;
  return p->output.steps[p->sights.step_of[slot]].work;
}

/* Pairs that are tried. */
enum { MAX_COLLISIONS = 8 };

/* Whether two accesses of one run of one body surely have bytes in common. */
static bool surely_meet(const struct prover *p, const struct nsr_open_pair *x) {
  const struct nsr_touches *t = &p->touches;
  const struct nsr_work *works = p->in.tree.works;
  uint32_t q = work_of(p, x->q), c = work_of(p, x->c);
  bool must =
      x->overlap == NSR_OVERLAP_MUST && !t->v[x->q].may && !t->v[x->c].may;
  return (must || x->apart.first) && q < c &&
         works[q].scope == works[c].scope &&
         works[q].region == works[c].region && surely_runs(p, works[c].scope);
}

struct pair_text {
  const char *first, *second, *space;
  long long lo, hi;
};

static enum nsr_status describe(struct prover *p, const struct nsr_open_pair *x,
                                struct pair_text *out) {
  const struct nsr_touches *t = &p->touches;
  const struct nsr_step *steps = p->output.steps;
  const struct nsr_step *q = &steps[p->sights.step_of[t->v[x->q].slot]];
  const struct nsr_step *c = &steps[p->sights.step_of[t->v[x->c].slot]];
  const struct nsr_bytes *b = &x->where;
  *out = (struct pair_text){
      .first = nsr_proof_place(p->ctx, &p->out, q->engine, q->insn),
      .second = nsr_proof_place(p->ctx, &p->out, c->engine, c->insn),
      .space = b->space > NSR_PSUM ? "hidden state"
                                   : nsr_space_name((enum nsr_space)b->space),
      .lo = (long long)b->lo,
      .hi = (long long)b->hi - 1};
  return out->first && out->second ? NSR_OK : NSR_E_NOMEM;
}

static enum nsr_status refute_pair(struct prover *p,
                                   const struct nsr_open_pair *x) {
  uint32_t q = work_of(p, x->q), c = work_of(p, x->c);
  struct pair_text text;
  bool yes;
  NSR_TRY(nsr_collide(p->ctx, &p->in, &p->output, &p->at_output, q, c, &yes));
  if (!yes)
    return NSR_OK;
  NSR_TRY(describe(p, x, &text));
  return nsr_proof_object(p->ctx, p->proof, NSR_PROOF_REFUTED, NSR_RULE_ORDER,
                          "nothing in the output makes %s wait for %s, which "
                          "touch common bytes (%s "
                          "%lld..%lld), where %s",
                          text.second, text.first, text.space, text.lo, text.hi,
                          p->in.tree.works[c].scope == 0
                              ? "the kernel runs"
                              : "each loop around them runs once");
}

static enum nsr_status doubt_pair(struct prover *p,
                                  const struct nsr_open_pair *x) {
  bool must = x->overlap == NSR_OVERLAP_MUST;
  struct pair_text text;
  NSR_TRY(describe(p, x, &text));
  return nsr_proof_object(
      p->ctx, p->proof, NSR_PROOF_UNDECIDED, NSR_RULE_ORDER,
      "%s of the output is not shown to wait for %s, which %s touch common "
      "bytes (%s %lld..%lld)",
      text.second, text.first, must ? "surely" : "may", text.space, text.lo,
      text.hi);
}

/* What the proof fails for: of a few open pairs, one that surely collides, or
 * else x. */
static enum nsr_status object_pair(struct prover *p,
                                   const struct nsr_open_pair *x) {
  const struct nsr_open_pair *v = p->lag.open.v;
  int tries = MAX_COLLISIONS;
  NSR_TRY(find_trips(p));
  for (size_t i = 0; i < p->lag.open.n && tries && nsr_proof_open(p->proof);
       i++)
    if (surely_meet(p, &v[i])) {
      NSR_TRY(refute_pair(p, &v[i]));
      tries--;
    }
  return nsr_proof_open(p->proof) ? doubt_pair(p, x) : NSR_OK;
}

static enum nsr_status too_long(struct prover *p) {
  return nsr_proof_object(p->ctx, p->proof, NSR_PROOF_UNDECIDED, NSR_RULE_ORDER,
                          "the kernel is so large that what its engines know "
                          "takes too long to find out");
}

/* A pair that may have no byte in common, both directly in one run of one body
 * without a barrier in between: the input relies on that if it leaves the two
 * unordered. What came before that run, the output has to order. */
static bool in_one_run(const struct prover *p, const struct nsr_open_pair *x) {
  const struct nsr_work *works = p->in.tree.works;
  uint32_t q = work_of(p, x->q), c = work_of(p, x->c);
  bool once = p->sights.loop_of[p->touches.v[x->q].slot] == 0;
  return q < c && works[q].scope == works[c].scope &&
         works[q].region == works[c].region &&
         (once || x->level <= x->apart.but_one);
}

/* The same in a loop without a barrier, in any of its iterations, where the
 * engine of c learns nothing in it. */
static bool in_free_loop(const struct prover *p,
                         const struct nsr_open_pair *x) {
  const struct nsr_work *c = &p->in.tree.works[work_of(p, x->c)];
  uint32_t loop = p->free[c->scope];
  return x->old == 0 && loop != NSR_NONE && !(p->learns[loop] >> c->engine & 1);
}

static bool may_be_free(const struct prover *p, const struct nsr_open_pair *x) {
  const struct nsr_touches *t = &p->touches;
  bool may = x->overlap == NSR_OVERLAP_MAY || t->v[x->q].may || t->v[x->c].may;
  return may && !x->apart.sure;
}

/* Which engines wait or load in which outermost loops without a barrier. */
static enum nsr_status find_learners(struct prover *p) {
  NSR_TRY(nsr_free_loops(p->ctx, &p->in.tree, &p->free));
  NSR_NEW(p->ctx, NSR_SCRATCH, p->learns, p->in.tree.nscopes);
  for (uint32_t i = 0; i < p->in.score.nsteps; i++) {
    const struct nsr_step *s = &p->in.score.steps[i];
    bool learns =
        s->kind == NSR_STEP_WAIT || (s->kind == NSR_STEP_WORK && s->load);
    uint32_t loop =
        learns ? p->free[p->in.tree.works[s->work].scope] : NSR_NONE;
    if (loop != NSR_NONE)
      p->learns[loop] |= UINT32_C(1) << s->engine;
  }
  return NSR_OK;
}

static int by_work(const void *a, const void *b) {
  const struct nsr_free_pair *x = a, *y = b;
  if (x->c != y->c)
    return x->c < y->c ? -1 : 1;
  return x->q < y->q ? -1 : x->q > y->q;
}

static const struct nsr_free_pair *find_pair(const struct prover *p,
                                             const struct nsr_free_pair *free,
                                             size_t n,
                                             const struct nsr_open_pair *x) {
  struct nsr_free_pair key = {work_of(p, x->q), work_of(p, x->c), false};
  return bsearch(&key, free, n, sizeof key, by_work);
}

/* Pairs that nothing orders must be such, and free in the input. */
static enum nsr_status check_open(struct prover *p) {
  const struct nsr_open_pair *v = p->lag.open.v;
  size_t n = p->lag.open.n, asked = 0;
  struct nsr_free_pair *free;
  if (p->lag.more)
    return object_pair(p, &v[0]);
  NSR_TRY(find_learners(p));
  NSR_NEW(p->ctx, NSR_SCRATCH, free, n);
  for (size_t i = 0; i < n; i++) {
    bool loop = in_free_loop(p, &v[i]);
    if (!may_be_free(p, &v[i]) || (!loop && !in_one_run(p, &v[i])))
      return object_pair(p, &v[i]);
    if (!loop)
      free[asked++] =
          (struct nsr_free_pair){work_of(p, v[i].q), work_of(p, v[i].c), false};
  }
  p->proof->may_pairs = (uint32_t)n;
  if (!asked)
    return NSR_OK;
  qsort(free, asked, sizeof *free, by_work);
  enum nsr_status status =
      nsr_lag_free(p->ctx, &p->in.score, &p->in.thresholds, free, asked);
  if (status == NSR_E_UNDECIDED)
    return too_long(p);
  NSR_TRY(status);
  for (size_t i = 0; i < n && nsr_proof_open(p->proof); i++)
    if (!in_free_loop(p, &v[i]) && !find_pair(p, free, asked, &v[i])->free)
      NSR_TRY(object_pair(p, &v[i]));
  return NSR_OK;
}

static uint32_t step_of(const struct prover *p, uint32_t touch) {
  return p->sights.step_of[p->touches.v[touch].slot];
}

/* What is asked of a pair that can be in order as of the start of some
 * iteration, or of some run of a loop: of a ring's slots, of those in front of
 * so many iterations; of two arms of one branch, of those in front of this
 * one. loop: NSR_NONE where nothing of the kind helps. *never: no run has
 * both. */
static struct nsr_start_pair
by_starts(const struct prover *p, const struct nsr_open_pair *x, bool *never) {
  const struct nsr_work *works = p->in.tree.works;
  bool within = x->level <= x->apart.level;
  struct nsr_start_pair out = {.q = step_of(p, x->q),
                               .c = step_of(p, x->c),
                               .loop = x->apart.loop,
                               .back = within ? 0 : x->apart.back,
                               .front = x->apart.front};
  uint32_t loop;
  *never = false;
  if (within || x->apart.back)
    return out;
  out.loop = NSR_NONE;
  if (nsr_arms_exclude(&p->arms, works[work_of(p, x->q)].scope,
                       works[work_of(p, x->c)].scope, &loop)) {
    out.loop = loop;
    out.back = 1;
    out.front = false;
    *never = loop == NSR_NONE;
  }
  return out;
}

static enum nsr_status close_pairs(struct prover *p) {
  struct nsr_open_pair *v = p->lag.open.v;
  size_t n = p->lag.open.n, left = 0, asked = 0;
  struct nsr_start_pair *pairs;
  bool never;
  NSR_TRY(nsr_arms_find(p->ctx, &p->in.tree, &p->arms));
  NSR_NEW(p->ctx, NSR_SCRATCH, pairs, n);
  for (size_t i = 0; i < n; i++) {
    pairs[asked] = by_starts(p, &v[i], &never);
    asked += pairs[asked].loop != NSR_NONE;
  }
  NSR_TRY(nsr_starts_check(p->ctx, &p->output, &p->at_output, p->lag.sure,
                           p->snapshots, pairs, asked));
  asked = 0;
  for (size_t i = 0; i < n; i++) {
    struct nsr_start_pair x = by_starts(p, &v[i], &never);
    bool ordered = x.loop != NSR_NONE ? pairs[asked++].ordered : never;
    if (!ordered)
      v[left++] = v[i];
  }
  p->lag.open.n = left;
  return NSR_OK;
}

static uint32_t tensor_of(const struct prover *p, uint32_t touch) {
  const struct nsr_touch *t = &p->touches.v[touch];
  const struct nsr_work *w = &p->in.tree.works[work_of(p, touch)];
  return t->operand < NSR_MAX_OPERANDS
             ? nsr_operand_tensor(p->in.program.stream[w->engine], w->insn,
                                  t->operand)
             : NSR_NONE;
}

/* Whether facts say that a pair has no common bytes, or does no harm. */
static bool is_allowed(const struct prover *p, const struct nsr_open_pair *x) {
  const struct nsr_facts_file *facts = p->in.program.facts;
  const struct nsr_work *q = &p->in.tree.works[work_of(p, x->q)];
  const struct nsr_work *c = &p->in.tree.works[work_of(p, x->c)];
  const struct nsr_fact_insn a = {q->engine, q->insn}, b = {c->engine, c->insn};
  if (nsr_facts_disjoint(facts, tensor_of(p, x->q), tensor_of(p, x->c)))
    return true;
  bool race = nsr_facts_race(facts, a, b);
  if (race)
    nsr_facts_raced(facts, a, b);
  return race;
}

static void drop_allowed(struct prover *p) {
  struct nsr_open_pair *v = p->lag.open.v;
  size_t n = p->lag.open.n, left = 0;
  if (!p->in.program.facts)
    return;
  for (size_t i = 0; i < n; i++)
    if (!is_allowed(p, &v[i]))
      v[left++] = v[i];
  p->lag.open.n = left;
}

static enum nsr_status check_lag(struct prover *p) {
  NSR_TRY(nsr_sights_init(p->ctx, &p->output, &p->sights));
  NSR_TRY(nsr_touches_find(p->ctx, &p->sights, &p->touches));
  NSR_TRY(find_most(p));
  enum nsr_status status = nsr_lag_check(p->ctx, &p->output, &p->at_output,
                                         &p->sights, &p->touches, &p->lag);
  if (status == NSR_E_UNDECIDED)
    return too_long(p);
  NSR_TRY(status);
  p->proof->pairs = p->lag.looked_at;
  drop_allowed(p);
  if (!p->lag.open.n || nsr_mistaken(NSR_MISTAKE_BLIND_PROOF))
    return NSR_OK;
  NSR_TRY(close_pairs(p));
  return p->lag.open.n ? check_open(p) : NSR_OK;
}

/* ---- all of it */

static enum nsr_status prove(struct prover *p) {
  enum nsr_status status = nsr_reference_find(p->ctx, &p->in);
  if (status != NSR_OK)
    return cannot_read(p, status);
  status = nsr_program_build(p->ctx, p->out.k, &p->out);
  if (status != NSR_OK)
    return cannot_read(p, status);
  NSR_TRY(nsr_erase(p->ctx, &p->in.tree, &p->out, &p->erasure, p->proof));
  if (nsr_proof_open(p->proof))
    NSR_TRY(check_kept(p));
  if (nsr_proof_open(p->proof))
    NSR_TRY(nsr_score_output(p->ctx, &p->erasure, &p->output, p->proof));
  if (!nsr_proof_open(p->proof))
    return NSR_OK;
  NSR_TRY(nsr_thresholds_find(p->ctx, &p->output, &p->at_output));
  NSR_TRY(nsr_snapshots_find(p->ctx, &p->output, &p->at_output, &p->snapshots));
  p->proof->waits = p->output.nwaits;
  NSR_TRY(check_waits(p));
  if (nsr_proof_open(p->proof))
    NSR_TRY(check_left(p));
  if (nsr_proof_open(p->proof))
    NSR_TRY(check_budget(p));
  if (nsr_proof_open(p->proof))
    NSR_TRY(check_lag(p));
  if (!nsr_proof_open(p->proof))
    return NSR_OK;
  return nsr_outside_check(p->ctx, &p->output, &p->at_output, p->in.before,
                           p->proof);
}

enum nsr_status nsr_prove(struct nsr_ctx *ctx, const struct nsr_kernel *a,
                          const struct nsr_kernel *b,
                          const struct nsr_facts_file *facts,
                          struct nsr_proof *out) {
  struct prover p = {.in = {.program = {.k = a, .facts = facts}},
                     .out = {.k = b},
                     .proof = out};
  *out = (struct nsr_proof){.verdict = NSR_PROOF_PROVED};
  p.ctx = nsr_ctx_new();
  if (!p.ctx)
    return nsr_fail(ctx, NSR_E_NOMEM, NSR_NOWHERE, "out of memory");
  enum nsr_status status = nsr_prove_shape(p.ctx, a, b, out);
  if (status == NSR_OK && nsr_proof_open(out))
    status = prove(&p);
  if (status == NSR_OK && out->text) {
    out->text = nsr_strndup(ctx, NSR_KEEP, out->text, strlen(out->text));
    status = out->text ? NSR_OK : NSR_E_NOMEM;
  } else if (status != NSR_OK) {
    status = nsr_fail(ctx, status, NSR_NOWHERE, "the proof ran out of memory");
  }
  nsr_work_count(ctx, NSR_WORK_PROVE, nsr_work(p.ctx, NSR_WORK_PROVE));
  nsr_ctx_free(p.ctx);
  return status;
}

const char *nsr_prove_trust(void) {
  return "shared with the rewriter: the instruction set's tables; scope trees, "
         "their unification over engines and the layout of the reference "
         "order; footprints, the search for footprints with common bytes, and "
         "values of address registers\n"
         "the prover's own: which waits name which updates, erasure, counts "
         "and thresholds, what engines know, which orders are owed\n"
         "assumed: semaphores are 0 and nothing is in flight at the start; "
         "registers that thresholds are computed in do not wrap around where "
         "no semaphore overflows; what a file of facts says\n";
}
