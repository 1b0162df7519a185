/* erase.c - matching two streams, and their branches.
 *
 * One pass over both: an output instruction is the input's next one, or stands
 * in between. Where either could be said the first is taken, unless a barrier
 * that stays comes first; what is inserted sets no register of the input's, so
 * it hardly ever can.
 */
#include "prove/erase.h"

#include <string.h>

/* One engine's streams while they are matched. */
struct match {
  struct nsr_ctx *ctx;
  const struct nsr_erasure *all;
  struct nsr_proof *proof;
  int engine;
  const struct nsr_stream *in, *out;
  const struct nsr_node *a, *b; /* of input and output */
  const bool *exact;            /* by input instruction: of an island */
  const bool *keeps;            /* .. a barrier around one */
  uint32_t *exit_to;            /* by loop: where who leaves it comes to */
  struct nsr_erased *e;
};

/* ---- what is left of an instruction */

/* Without owned waits and updates (not in islands) and without the distance of
 * a branch. */
static bool strip(const struct nsr_isa *isa, const struct nsr_node *n,
                  bool exact, const uint8_t *word, uint8_t *out) {
  const struct nsr_wait no_wait = {0};
  const struct nsr_update no_update = {0};
  memcpy(out, word, isa->word);
  if (n->ctl == NSR_CTL_BR)
    return nsr_word_set_displacement(isa, out, 1);
  if (exact)
    return true;
  if (n->wait.cmp && !n->foreign_wait && !nsr_word_set_wait(isa, out, &no_wait))
    return false;
  return !n->update.op || n->foreign_update ||
         nsr_word_set_update(isa, out, &no_update);
}

static bool same_tensors(const struct match *m, uint32_t i, uint32_t o) {
  for (int x = 0; x < NSR_MAX_OPERANDS; x++)
    if (nsr_operand_tensor(m->in, i, x) != nsr_operand_tensor(m->out, o, x))
      return false;
  return true;
}

static bool alike(const struct match *m, uint32_t i, uint32_t o, bool exact) {
  const struct nsr_isa *isa = m->all->in->k->isa;
  uint8_t x[NSR_MAX_WORD], y[NSR_MAX_WORD];
  return strip(isa, &m->a[i], exact, nsr_stream_word(m->all->in->k, m->in, i),
               x) &&
         strip(isa, &m->b[o], exact, nsr_stream_word(m->all->out->k, m->out, o),
               y) &&
         memcmp(x, y, isa->word) == 0 && same_tensors(m, i, o);
}

static bool same(const struct match *m, uint32_t i, uint32_t o) {
  return alike(m, i, o, m->exact[i]);
}

/* Does nothing but wait for or tell this kernel. */
static bool only_syncs(const struct nsr_node *n) {
  return (n->nop || n->ctl == NSR_CTL_WAIT) && !n->foreign_wait &&
         !n->foreign_update;
}

static bool stays(const struct match *m, uint32_t i) {
  return m->exact[i] || (m->a[i].cls != NSR_BARRIER && !only_syncs(&m->a[i]));
}

/* What the output may have besides: such no-ops, and operations on
 * registers. */
static bool may_insert(const struct nsr_node *n) {
  return only_syncs(n) || (n->cls == NSR_CONTROL && n->ctl >= NSR_CTL_MOV &&
                           n->ctl <= NSR_CTL_SEL && !n->foreign_wait);
}

/* ---- matching */

/* Whether input instruction i is of an island and could be output instruction
 * o, or be erased, if it were not. Who made the output may have read what is an
 * island here. */
static bool only_exact(const struct match *m, uint32_t i, uint32_t o) {
  return i < m->in->n && m->exact[i] &&
         (m->a[i].cls == NSR_BARRIER || only_syncs(&m->a[i]) ||
          alike(m, i, o, false));
}

static enum nsr_status object_at(struct match *m, uint32_t o, uint32_t i,
                                 const char *what) {
  const char *at = nsr_proof_place(m->ctx, m->all->out, m->engine, o);
  const char *from =
      i < m->in->n ? nsr_proof_place(m->ctx, m->all->in, m->engine, i) : "end";
  if (!at || !from)
    return NSR_E_NOMEM;
  if (only_exact(m, i, o))
    return nsr_proof_object(m->ctx, m->proof, NSR_PROOF_UNDECIDED,
                            NSR_RULE_ERASURE,
                            "%s of the output is not as %s of the input, whose "
                            "order is not known",
                            at, from);
  return nsr_proof_object(m->ctx, m->proof, NSR_PROOF_REFUTED, NSR_RULE_ERASURE,
                          "%s of the output %s (%s of the "
                          "input comes next)",
                          at, what, from);
}

/* The input's barrier with this id before the next instruction that stays, or
 * else the last one there: ids may be others. */
static uint32_t find_barrier(const struct match *m, uint32_t i, int32_t id) {
  uint32_t any = NSR_NONE;
  for (; i < m->in->n && !stays(m, i); i++) {
    if (m->a[i].cls != NSR_BARRIER)
      continue;
    any = i;
    if (m->a[i].aux == id)
      return i;
  }
  return any;
}

/* Places input instruction i, and erases those before it from *from on. */
static void put(struct match *m, uint32_t *from, uint32_t i, uint32_t o,
                uint32_t *gap) {
  m->e->own[i] = o;
  m->e->gap[i] = *gap;
  *gap = o + 1;
  *from = i + 1;
}

/* Where the way past an arm has more than the arm's end. */
static enum nsr_status take_over(struct match *m, uint32_t o) {
  uint32_t end = (uint32_t)m->b[o].aux;
  bool pads = end > o + 1 && end <= m->out->n;
  for (uint32_t i = o + 1; pads && i < end; i++)
    pads = only_syncs(&m->b[i]) && m->b[i].nop && !m->b[i].wait.cmp;
  if (pads) {
    NSR_PUSH(m->ctx, NSR_SCRATCH, &m->e->overs,
             (struct nsr_over){o, end, NSR_NONE});
    return NSR_OK;
  }
  const char *at = nsr_proof_place(m->ctx, m->all->out, m->engine, o);
  return at ? nsr_proof_object(m->ctx, m->proof, NSR_PROOF_UNDECIDED,
                               NSR_RULE_ERASURE,
                               "%s of the output is a branch that the input "
                               "has not",
                               at)
            : NSR_E_NOMEM;
}

struct nsr_over *nsr_erased_over(const struct nsr_erased *e, uint32_t lo,
                                 uint32_t hi) {
  size_t from = 0, to = e->overs.n;
  while (from < to) {
    size_t mid = from + (to - from) / 2;
    if (e->overs.v[mid].at < lo)
      from = mid + 1;
    else
      to = mid;
  }
  return from < e->overs.n && e->overs.v[from].at < hi ? &e->overs.v[from]
                                                       : NULL;
}

/* The input's next instruction that stays, from i on; *wall: the last barrier
 * around an island in front of it. */
static uint32_t find_staying(const struct match *m, uint32_t i,
                             uint32_t *wall) {
  *wall = NSR_NONE;
  for (; i < m->in->n && !stays(m, i); i++)
    *wall = m->keeps[i] ? i : *wall;
  return i;
}

static enum nsr_status match_all(struct match *m) {
  uint32_t i = 0, gap = 0, wall, next = find_staying(m, 0, &wall);
  for (uint32_t o = 0; o < m->out->n; o++) {
    if (i > next)
      next = find_staying(m, i, &wall);
    bool shut = wall != NSR_NONE && wall >= i;
    if (m->b[o].cls == NSR_BARRIER) {
      uint32_t at = next < m->in->n && m->exact[next] && same(m, next, o)
                        ? next
                        : find_barrier(m, i, m->b[o].aux);
      if (at == NSR_NONE)
        return object_at(m, o, next, "is a barrier that the input has not");
      put(m, &i, at, o, &gap);
    } else if (next < m->in->n && !(shut && only_syncs(&m->b[o])) &&
               same(m, next, o)) {
      put(m, &i, next, o, &gap);
    } else if (m->b[o].ctl == NSR_CTL_BR && m->b[o].always) {
      NSR_TRY(take_over(m, o));
      if (!nsr_proof_open(m->proof))
        return NSR_OK;
    } else if (!may_insert(&m->b[o])) {
      return object_at(m, o, next, "is another instruction");
    }
  }
  if (i > next)
    next = find_staying(m, i, &wall);
  if (next < m->in->n)
    return object_at(m, m->out->n - 1, next, "is the last one");
  if (gap < m->out->n)
    return object_at(m, gap, next, "stands behind the end");
  return NSR_OK;
}

static void find_next(struct match *m) {
  uint32_t n = m->in->n;
  m->e->next[n] = n;
  for (uint32_t i = n; i-- > 0;)
    m->e->next[i] = m->e->own[i] != NSR_NONE ? i : m->e->next[i + 1];
}

/* ---- branches */

static enum nsr_status object_branch(struct match *m, uint32_t i,
                                     enum nsr_proof_verdict verdict,
                                     const char *what) {
  const char *at = nsr_proof_place(m->ctx, m->all->in, m->engine, i);
  if (!at)
    return NSR_E_NOMEM;
  return nsr_proof_object(m->ctx, m->proof, verdict, NSR_RULE_ERASURE,
                          "the way from %s of the input %s", at, what);
}

/* The loop that an edge from instruction i to instruction t goes on with. */
static uint32_t loop_of(const struct match *m, uint32_t i, uint32_t t) {
  const struct nsr_cfg *g = m->all->tree->local[m->engine].cfg;
  uint32_t to = g->block_of[t], loop = g->blocks[to].loop;
  bool back = loop != NSR_NONE && g->loops[loop].header == to &&
              g->blocks[to].first == t &&
              nsr_cfg_in_loop(g, g->block_of[i], loop);
  return back ? loop : NSR_NONE;
}

/* The outermost loop that an edge from instruction i to instruction t leaves.
 */
static uint32_t left_by(const struct match *m, uint32_t i, uint32_t t) {
  const struct nsr_cfg *g = m->all->tree->local[m->engine].cfg;
  uint32_t loop = g->blocks[g->block_of[i]].loop, left = NSR_NONE;
  while (loop != NSR_NONE && !nsr_cfg_in_loop(g, g->block_of[t], loop)) {
    left = loop;
    loop = g->loops[loop].parent;
  }
  return left;
}

static bool falls_on(const struct nsr_node *n) {
  return n->ctl != NSR_CTL_HALT && !(n->ctl == NSR_CTL_BR && n->always);
}

static bool in_stretch(const struct match *m, uint32_t i) {
  const struct nsr_cfg *g = m->all->tree->local[m->engine].cfg;
  return g->blocks[g->block_of[i]].stretch != NSR_NONE;
}

/* The way from input instruction i to t arrives at `at` in the output. */
static enum nsr_status arrive(struct match *m, uint32_t i, uint32_t t,
                              uint32_t at) {
  uint32_t to = m->e->next[t], n = m->in->n;
  uint32_t lo = to < n ? m->e->gap[to] : m->out->n;
  uint32_t hi = to < n ? m->e->own[to] : m->out->n;
  if (at < lo || at > hi)
    return object_branch(m, i, NSR_PROOF_REFUTED, "leads elsewhere");
  struct nsr_over *over = nsr_erased_over(m->e, lo, hi);
  if (over && at <= over->at + 1) {
    if (at <= over->at || over->skip != NSR_NONE || over->end > hi)
      return object_branch(m, i, NSR_PROOF_UNDECIDED,
                           "runs through part of inserted code");
    over->skip = i;
    at = over->end;
  }
  if (t >= n)
    return NSR_OK;
  if (in_stretch(m, i)) { /* nothing starts anew within it */
    uint32_t want = in_stretch(m, t) ? hi : lo;
    return at == want ? NSR_OK
                      : object_branch(m, i, NSR_PROOF_UNDECIDED,
                                      "runs through part of inserted code");
  }
  uint32_t loop = loop_of(m, i, t), left = left_by(m, i, t);
  uint32_t *place = loop != NSR_NONE   ? &m->e->loop_at[loop]
                    : left != NSR_NONE ? &m->e->exit[left].lo
                                       : &m->e->start[t];
  if (*place != NSR_NONE && *place != at)
    return object_branch(m, i, NSR_PROOF_UNDECIDED,
                         "runs through other inserted code than others");
  *place = at;
  if (loop == NSR_NONE && left != NSR_NONE)
    m->exit_to[left] = t;
  return NSR_OK;
}

/* Whether nobody else runs the code that stands from `at` on in front of input
 * instruction t, and behind the one before that. */
static bool alone(const struct match *m, uint32_t loop, uint32_t at,
                  uint32_t t) {
  return t > 0 && m->e->own[t - 1] != NSR_NONE && at == m->e->own[t - 1] + 1 &&
         (!falls_on(&m->a[t - 1]) || left_by(m, t - 1, t) == loop);
}

/* Who leaves a loop lands where all others do, or runs more. */
static enum nsr_status settle_exits(struct match *m) {
  const struct nsr_cfg *g = m->all->tree->local[m->engine].cfg;
  for (uint32_t l = 0; l < g->nloops; l++) {
    struct nsr_exit_code *x = &m->e->exit[l];
    uint32_t t = m->exit_to[l];
    if (t == NSR_NONE)
      continue;
    uint32_t *start = &m->e->start[t];
    if (*start == NSR_NONE)
      *start = x->lo;
    if (*start == x->lo) {
      x->lo = NSR_NONE;
      continue;
    }
    if (x->lo > *start || !alone(m, l, x->lo, t) || m->e->exits[t - 1])
      return object_branch(m, g->blocks[g->loops[l].header].first,
                           NSR_PROOF_UNDECIDED,
                           "runs through other inserted code than others");
    x->hi = *start;
    m->e->exits[t - 1] = true;
  }
  return NSR_OK;
}

/* Where code in front of each instruction begins: behind the one before it, or
 * where branches to it land. */
static enum nsr_status find_starts(struct match *m) {
  uint32_t n = m->in->n, at = 0;
  for (uint32_t i = 0; i < n; i++) {
    if (m->e->start[i] != NSR_NONE && m->e->start[i] < at)
      return object_branch(m, i, NSR_PROOF_UNDECIDED,
                           "has inserted code out of order");
    if (m->e->start[i] == NSR_NONE)
      m->e->start[i] = at;
    at = m->e->own[i] == NSR_NONE ? m->e->start[i] : m->e->own[i] + 1;
  }
  m->e->start[n] = at;
  return NSR_OK;
}

static enum nsr_status check_branches(struct match *m) {
  const struct nsr_cfg *g = m->all->tree->local[m->engine].cfg;
  for (uint32_t b = 0; b < g->nblocks; b++) {
    uint32_t i = g->blocks[b].first + g->blocks[b].n - 1;
    const struct nsr_node *n = &m->a[i];
    if (n->ctl == NSR_CTL_BR)
      NSR_TRY(arrive(m, i, (uint32_t)n->aux, (uint32_t)m->b[m->e->own[i]].aux));
    if (!falls_on(n) || i + 1 >= m->in->n)
      continue;
    if (loop_of(m, i, i + 1) != NSR_NONE)
      return object_branch(m, i, NSR_PROOF_UNDECIDED,
                           "goes on with a loop without a branch");
    if (m->e->own[i] != NSR_NONE && !in_stretch(m, i) &&
        left_by(m, i, i + 1) != NSR_NONE)
      NSR_TRY(arrive(m, i, i + 1, m->e->own[i] + 1));
  }
  return settle_exits(m);
}

/* ---- an engine */

static enum nsr_status find_exact(struct nsr_ctx *ctx, const struct nsr_tree *t,
                                  int engine, uint32_t n, bool **out) {
  bool *exact;
  NSR_NEW(ctx, NSR_SCRATCH, exact, n);
  for (uint32_t w = 0; w < t->nworks; w++) {
    const struct nsr_work *x = &t->works[w];
    if (x->island && x->engine == engine && !x->marker)
      exact[x->insn] = true;
  }
  *out = exact;
  return NSR_OK;
}

/* The barriers around islands. */
static enum nsr_status find_keeps(struct nsr_ctx *ctx, const struct nsr_tree *t,
                                  int engine, uint32_t n, bool **out) {
  NSR_NEW(ctx, NSR_SCRATCH, *out, n);
  for (uint32_t p = 0; p < t->nparts; p++)
    if (t->parts[p].kind == NSR_PART_BARRIER && t->parts[p].keep &&
        t->parts[p].insn[engine] != NSR_NONE)
      (*out)[t->parts[p].insn[engine]] = true;
  return NSR_OK;
}

static enum nsr_status match_engine(struct nsr_ctx *ctx, struct nsr_erasure *e,
                                    int engine, struct nsr_proof *proof) {
  struct match m = {.ctx = ctx,
                    .all = e,
                    .proof = proof,
                    .engine = engine,
                    .in = e->in->stream[engine],
                    .out = e->out->stream[engine],
                    .a = e->in->nodes[engine],
                    .b = e->out->nodes[engine],
                    .e = &e->engines[engine]};
  uint32_t n = m.in->n, nloops = e->tree->local[engine].cfg->nloops;
  bool *exact, *keeps;
  NSR_TRY(find_exact(ctx, e->tree, engine, n, &exact));
  NSR_TRY(find_keeps(ctx, e->tree, engine, n, &keeps));
  m.exact = exact;
  m.keeps = keeps;
  NSR_NEW(ctx, NSR_SCRATCH, m.e->own, n);
  NSR_NEW(ctx, NSR_SCRATCH, m.e->gap, n);
  NSR_NEW(ctx, NSR_SCRATCH, m.e->next, (size_t)n + 1);
  NSR_NEW(ctx, NSR_SCRATCH, m.e->start, (size_t)n + 1);
  NSR_NEW(ctx, NSR_SCRATCH, m.e->loop_at, nloops);
  for (uint32_t i = 0; i < n; i++)
    m.e->own[i] = m.e->gap[i] = m.e->start[i] = NSR_NONE;
  NSR_NEW(ctx, NSR_SCRATCH, m.e->exit, nloops);
  NSR_NEW(ctx, NSR_SCRATCH, m.e->exits, n);
  NSR_NEW(ctx, NSR_SCRATCH, m.exit_to, nloops);
  for (uint32_t l = 0; l < nloops; l++)
    m.e->loop_at[l] = m.e->exit[l].lo = m.exit_to[l] = NSR_NONE;
  NSR_TRY(match_all(&m));
  if (!nsr_proof_open(proof))
    return NSR_OK;
  find_next(&m);
  NSR_TRY(check_branches(&m));
  return nsr_proof_open(proof) ? find_starts(&m) : NSR_OK;
}

enum nsr_status nsr_erase(struct nsr_ctx *ctx, const struct nsr_tree *tree,
                          const struct nsr_program *out, struct nsr_erasure *e,
                          struct nsr_proof *proof) {
  *e = (struct nsr_erasure){.tree = tree, .in = tree->program, .out = out};
  for (int x = 0; x < NSR_MAX_ENGINES && nsr_proof_open(proof); x++)
    if (e->in->stream[x])
      NSR_TRY(match_engine(ctx, e, x, proof));
  return NSR_OK;
}
