/* weave.c - a plan into streams.
 *
 * In front of instruction i stand, in this order: markers at the end of arms
 * that join other code there (inner ones first), which only those who come from
 * the arm run; the prologue (i = 0), what scopes do on entry (outer ones
 * first), waits. Behind a barrier that stays every mirror is set anew that is
 * read there.
 * Positions are counted first, then written, since branches need them.
 */
#include "emit/weave.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "base/work.h"
#include "emit/entries.h"
#include "emit/read.h"

/* One engine's stream while it is woven. */
struct weave {
  struct nsr_ctx *ctx;
  const struct nsr_plan *plan;
  const struct nsr_kernel *k;
  int engine;
  const struct nsr_stream *in;
  const uint32_t *work_of;    /* by instruction: its work, NSR_NONE: none */
  const bool *removed;        /* by instruction */
  const uint32_t *first_wait; /* by work, into plan->waits */
  uint32_t *wait_at, *work_at;
  struct nsr_entries entries; /* by insn, then depth */
  struct nsr_read read;       /* behind resets */
  uint32_t *start; /* by instruction 0..n: where its sequence starts */
  uint32_t *loop;  /* where a new iteration of its loop starts */
  uint32_t *own;   /* where it stands itself */
  uint8_t *code;
  uint32_t at;              /* next instruction to be written */
  uint32_t barriers, waits; /* written */
  const struct nsr_insn_desc *control[NSR_CTL_HALT + 1]; /* that were used */
};

static struct nsr_place place(const struct weave *w, uint32_t i) {
  return nsr_insn_place(w->k, w->in, i);
}

/* ---- what goes, what comes */

/* Only its owned wait and update gave the instruction a meaning. */
static bool only_syncs(const struct nsr_node *n) {
  if (n->foreign_wait || n->foreign_update)
    return false;
  bool syncs = n->wait.cmp != NSR_CMP_NONE || n->update.op != NSR_UPD_NONE;
  return syncs && (n->nop || n->ctl == NSR_CTL_WAIT);
}

/* Barriers stay where the plan says so, and at the exit. */
static void keep_barriers(struct weave *w, uint32_t exit, bool *removed) {
  const struct nsr_tree *t = w->plan->tree;
  const struct nsr_node *nodes = t->program->nodes[w->engine];
  for (uint32_t i = 0; i < w->in->n; i++) /* unreachable ones too */
    removed[i] |= nodes[i].cls == NSR_BARRIER;
  for (uint32_t p = 0; p < t->nparts; p++) {
    const struct nsr_part *part = &t->parts[p];
    bool keep = part->kind == NSR_PART_BARRIER && (part->keep || p == exit);
    if (keep && part->insn[w->engine] != NSR_NONE)
      removed[part->insn[w->engine]] = false;
  }
}

static enum nsr_status mark_removed(struct weave *w, uint32_t exit) {
  const struct nsr_tree *t = w->plan->tree;
  const struct nsr_node *nodes = t->program->nodes[w->engine];
  bool *removed;
  NSR_NEW(w->ctx, NSR_SCRATCH, removed, w->in->n);
  for (uint32_t i = 0; i < w->in->n; i++) {
    uint32_t x = w->work_of[i];
    removed[i] = x != NSR_NONE && !t->works[x].island &&
                 only_syncs(&nodes[i]) && w->plan->update[x] < 0;
  }
  keep_barriers(w, exit, removed);
  w->removed = removed;
  return NSR_OK;
}

static bool feeds(const struct weave *w, const struct nsr_plan_marker *m) {
  return nsr_channel_engine(w->k, m->channel) == w->engine;
}

/* ---- positions */

/* Whether the last wait of an instruction can ride on it. */
static bool rides(const struct weave *w, uint32_t i) {
  const struct nsr_node *n = &w->plan->tree->program->nodes[w->engine][i];
  uint32_t end = w->first_wait[w->work_of[i] + 1];
  return !w->removed[i] && !n->foreign_wait &&
         !nsr_plan_bends(w->plan, &w->plan->waits[end - 1]);
}

/* Whether a work's update is that of a no-op behind it: its own tells others,
 * or it cannot carry one. */
static bool told_behind(const struct weave *w, uint32_t i) {
  uint32_t work = w->work_of[i];
  const struct nsr_node *n = &w->plan->tree->program->nodes[w->engine][i];
  return work != NSR_NONE && w->plan->update[work] >= 0 &&
         (n->foreign_update || n->channel < 0);
}

static uint32_t count_waits(const struct weave *w, uint32_t i) {
  uint32_t work = w->work_of[i], n = 0;
  if (work == NSR_NONE)
    return 0;
  uint32_t first = w->first_wait[work], end = w->first_wait[work + 1];
  for (uint32_t x = first; x < end; x++)
    n += 1 + nsr_plan_wait_ops(w->plan, &w->plan->waits[x]);
  return n - (end > first && rides(w, i));
}

/* Behind instruction i: mirrors set anew and markers. The markers of one
 * reset follow each other. */
static uint32_t first_behind(const struct weave *w, uint32_t reset) {
  uint32_t lo = 0, hi = w->plan->nmarkers;
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (w->plan->markers[mid].reset < reset)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

/* The class of the engine's m-th mirror. */
static const struct nsr_plan_class *class_of(const struct weave *w,
                                             uint32_t m) {
  return &w->plan->classes[w->plan->mirrors[w->entries.first_mirror + m].class];
}

/* Whether mirror m is set anew. */
static bool is_reset(const struct weave *w, uint32_t reset, uint32_t m) {
  return !class_of(w, m)->lasts && nsr_read_behind(&w->read, reset, m);
}

static uint32_t count_behind(const struct weave *w, uint32_t i) {
  uint32_t reset = w->read.reset_at[i], n = 0;
  if (reset == NSR_NONE)
    return 0;
  for (uint32_t m = 0; m < w->entries.nmirrors; m++)
    n += is_reset(w, reset, m);
  for (uint32_t m = first_behind(w, reset);
       m < w->plan->nmarkers && w->plan->markers[m].reset == reset; m++)
    n += feeds(w, &w->plan->markers[m]);
  return n;
}

/* Depth of the loop that instruction i heads, or NSR_NONE. */
static enum nsr_status loop_depths(const struct weave *w, uint32_t **out) {
  const struct nsr_scopes *own = &w->plan->tree->local[w->engine];
  NSR_NEW(w->ctx, NSR_SCRATCH, *out, w->in->n + 1);
  for (uint32_t i = 0; i <= w->in->n; i++)
    (*out)[i] = NSR_NONE;
  for (uint32_t s = 0; s < own->nscopes; s++)
    if (own->scopes[s].kind == NSR_SCOPE_LOOP)
      (*out)[own->scopes[s].entry] = own->scopes[s].depth;
  return NSR_OK;
}

/* Instructions of an entry. */
static uint32_t entry_size(const struct weave *w, const struct nsr_entry *e) {
  if (e->kind == NSR_ENTRY_SNAPSHOT)
    return w->plan->snapshots[e->which].n;
  return e->kind == NSR_ENTRY_WAIT
             ? 1 + nsr_plan_wait_ops(w->plan, &w->plan->waits[e->which])
             : 1;
}

static enum nsr_status find_positions(struct weave *w) {
  uint32_t n = w->in->n, at = 0, e = 0, *depth;
  NSR_NEW(w->ctx, NSR_SCRATCH, w->start, n + 1);
  NSR_NEW(w->ctx, NSR_SCRATCH, w->loop, n + 1);
  NSR_NEW(w->ctx, NSR_SCRATCH, w->own, n + 1);
  NSR_TRY(loop_depths(w, &depth));
  for (uint32_t i = 0; i < n; i++) {
    for (; e < w->entries.n && w->entries.v[e].insn == i; e++, at++)
      if (!w->entries.v[e].arm)
        break;
    w->start[i] = at;
    if (i == 0)
      at += w->entries.nprologue;
    w->loop[i] = depth[i] == NSR_NONE ? w->start[i] : at;
    for (; e < w->entries.n && w->entries.v[e].insn == i; e++) {
      at += entry_size(w, &w->entries.v[e]);
      if (depth[i] != NSR_NONE && w->entries.v[e].depth < depth[i])
        w->loop[i] = at;
    }
    at += count_waits(w, i);
    w->own[i] = at;
    at += !w->removed[i];
    at += told_behind(w, i);
    at += count_behind(w, i);
    if (at > NSR_MAX_STREAM)
      return nsr_fail(w->ctx, NSR_E_REFUSED, place(w, i),
                      "the output would pass %d instructions", NSR_MAX_STREAM);
  }
  w->start[n] = w->loop[n] = w->own[n] = at;
  nsr_work_count(w->ctx, NSR_WORK_EMIT, at);
  return NSR_OK;
}

/* Where a branch from instruction i to instruction `to` lands. */
static uint32_t landing(const struct weave *w, uint32_t i, uint32_t to) {
  const struct nsr_scopes *own = &w->plan->tree->local[w->engine];
  const struct nsr_cfg *g = own->cfg;
  if (to >= w->in->n || i >= w->in->n)
    return w->start[to];
  uint32_t from = own->scope_of[g->block_of[i]], s = from;
  for (; s != NSR_NONE; s = own->scopes[s].parent) {
    if (own->scopes[s].entry != to)
      continue;
    if (own->scopes[s].kind == NSR_SCOPE_ISLAND)
      return w->own[to]; /* from within: nothing starts there */
    if (own->scopes[s].kind == NSR_SCOPE_LOOP)
      return w->loop[to];
  }
  return w->start[to] -
         nsr_entries_ends(w->entries.v, w->entries.n, own, from, to);
}

/* ---- writing */

static uint8_t *next_word(struct weave *w) {
  return w->code + (size_t)w->at++ * w->k->isa->word;
}

static enum nsr_status put_insn(struct weave *w, uint32_t i,
                                const struct nsr_insn *x) {
  char why[160];
  if (nsr_encode(w->k->isa, x, next_word(w), why, sizeof why))
    return NSR_OK;
  return nsr_fail(w->ctx, NSR_E_REFUSED, place(w, i),
                  "an inserted %s does not encode: %s", x->desc->mnemonic, why);
}

/* Whether there is such an instruction, and this engine has it. */
static bool legal(const struct weave *w, const struct nsr_insn_desc *d) {
  return d && (d->engines >> w->engine & 1);
}

/* The instruction for an operation, looked for once. */
static const struct nsr_insn_desc *control(struct weave *w, enum nsr_ctl ctl) {
  const struct nsr_insn_desc **d = &w->control[ctl];
  if (!*d)
    *d = nsr_isa_control(w->k->isa, ctl);
  return *d;
}

/* dst = a op b, in front of instruction i. */
static enum nsr_status put_op(struct weave *w, uint32_t i, enum nsr_ctl ctl,
                              int16_t dst, struct nsr_val a, struct nsr_val b) {
  const struct nsr_insn_desc *d = control(w, ctl);
  struct nsr_insn x;
  if (!legal(w, d))
    return nsr_fail(w->ctx, NSR_E_REFUSED, place(w, i),
                    "the instruction set %s has no %s here, which counting "
                    "needs",
                    w->k->isa->name, nsr_ctl_name(ctl));
  nsr_insn_init(d, &x);
  x.dst = dst;
  x.a = a;
  x.b = b;
  return put_insn(w, i, &x);
}

static struct nsr_val reg(int16_t r) { return (struct nsr_val){true, r}; }
static struct nsr_val imm(int32_t v) { return (struct nsr_val){false, v}; }

/* Sets the engine's mirrors: in the prologue (reset NSR_NONE), or behind a
 * barrier that stays. */
static enum nsr_status put_mirrors(struct weave *w, uint32_t i,
                                   uint32_t reset) {
  for (uint32_t m = 0; m < w->entries.nmirrors; m++) {
    const struct nsr_mirror *x = &w->plan->mirrors[w->entries.first_mirror + m];
    const struct nsr_plan_class *c = class_of(w, m);
    if (reset == NSR_NONE ? x->set_at != NSR_NONE : !is_reset(w, reset, m))
      continue;
    int32_t v = reset == NSR_NONE ? c->start : c->reset[reset];
    NSR_TRY(put_op(w, i, NSR_CTL_MOV, x->reg, imm(v - x->less), imm(0)));
  }
  return NSR_OK;
}

/* Nothing was counted before the first iteration. */
static enum nsr_status begin_snapshots(struct weave *w) {
  for (uint32_t i = 0; i < w->plan->nsnapshots; i++) {
    const struct nsr_plan_snapshot *s = &w->plan->snapshots[i];
    for (uint32_t k = 0; s->engine == w->engine && k < s->n; k++)
      NSR_TRY(put_op(w, 0, NSR_CTL_MOV, s->regs[k], imm(0), imm(0)));
  }
  return NSR_OK;
}

/* Each takes over that of the start before, the first one the mirror. */
static enum nsr_status put_snapshot(struct weave *w, uint32_t i,
                                    const struct nsr_plan_snapshot *s) {
  struct nsr_val now = reg(w->plan->mirrors[s->mirror].reg);
  for (uint32_t k = s->n - 1; k > 0; k--)
    NSR_TRY(put_op(w, i, NSR_CTL_MOV, s->regs[k], reg(s->regs[k - 1]), imm(0)));
  if (s->less == 0)
    return put_op(w, i, NSR_CTL_MOV, s->regs[0], now, imm(0));
  return put_op(w, i, s->less < 0 ? NSR_CTL_ADD : NSR_CTL_SUB, s->regs[0], now,
                imm(abs(s->less)));
}

static struct nsr_update update(int32_t sem, int32_t weight) {
  return (struct nsr_update){weight == 1 ? NSR_UPD_INC : NSR_UPD_ADD,
                             (uint16_t)sem, weight};
}

static enum nsr_status put_nop(struct weave *w, uint32_t i, int channel,
                               struct nsr_update u) {
  bool queue = channel >= w->k->isa->nengines;
  const struct nsr_insn_desc *d = nsr_isa_nop(w->k->isa, queue);
  struct nsr_insn insn;
  if (!legal(w, d))
    return nsr_fail(w->ctx, NSR_E_REFUSED, place(w, i),
                    "the instruction set %s has no no-op for %s",
                    w->k->isa->name, nsr_channel_name(w->k, channel));
  nsr_insn_init(d, &insn);
  if (queue)
    insn.queue = (int8_t)(channel - w->k->isa->nengines);
  insn.update = u;
  return put_insn(w, i, &insn);
}

/* The update of a work that does not carry it itself. */
static enum nsr_status put_told(struct weave *w, uint32_t i) {
  const struct nsr_plan *plan = w->plan;
  uint32_t work = w->work_of[i];
  return put_nop(w, i, plan->tree->works[work].channel,
                 update(plan->update[work], plan->weight[work]));
}

static enum nsr_status put_plan_marker(struct weave *w, uint32_t i,
                                       const struct nsr_plan_marker *m) {
  return put_nop(w, i, m->channel, update(m->sem, m->weight));
}

static enum nsr_status put_behind(struct weave *w, uint32_t i) {
  uint32_t reset = w->read.reset_at[i];
  if (reset == NSR_NONE)
    return NSR_OK;
  NSR_TRY(put_mirrors(w, i, reset));
  for (uint32_t m = first_behind(w, reset);
       m < w->plan->nmarkers && w->plan->markers[m].reset == reset; m++)
    if (feeds(w, &w->plan->markers[m]))
      NSR_TRY(put_plan_marker(w, i, &w->plan->markers[m]));
  return NSR_OK;
}

/* The operations that compute a threshold; *value is what to wait for. */
static enum nsr_status put_threshold(struct weave *w, uint32_t i,
                                     const struct nsr_plan_wait *x,
                                     struct nsr_val *value) {
  if (!x->is_reg) {
    *value = imm(x->value);
    return NSR_OK;
  }
  for (uint32_t o = x->first_op; o < x->first_op + x->nops; o++) {
    const struct nsr_plan_op *op = &w->plan->ops[o];
    NSR_TRY(put_op(w, i, (enum nsr_ctl)op->ctl, op->dst, op->a, op->b));
    *value = reg(op->dst);
  }
  if (x->nops)
    return NSR_OK;
  int16_t temp = w->plan->temp[w->engine];
  if (x->back) {
    const struct nsr_plan_snapshot *s = &w->plan->snapshots[x->snapshot];
    *value = reg(s->regs[s->entry ? 0 : x->back - 1]);
    return NSR_OK;
  }
  *value = reg(w->plan->mirrors[x->mirror].reg);
  if (x->less == 0)
    return NSR_OK;
  if (x->again) {
    *value = reg(temp);
    return NSR_OK;
  }
  if (nsr_plan_bends(w->plan, x))
    temp = w->plan->mirrors[x->mirror].reg;
  NSR_TRY(put_op(w, i, x->less < 0 ? NSR_CTL_ADD : NSR_CTL_SUB, temp, *value,
                 imm(abs(x->less))));
  *value = reg(temp);
  return NSR_OK;
}

static enum nsr_status put_wait(struct weave *w, uint32_t i,
                                const struct nsr_wait *wait) {
  const struct nsr_insn_desc *d = control(w, NSR_CTL_WAIT);
  struct nsr_insn x;
  if (!legal(w, d))
    return nsr_fail(w->ctx, NSR_E_REFUSED, place(w, i),
                    "the instruction set %s has no wait here", w->k->isa->name);
  nsr_insn_init(d, &x);
  x.wait = *wait;
  w->waits++;
  return put_insn(w, i, &x);
}

/* What makes the mirror of a wait what it was. */
static enum nsr_status put_undo(struct weave *w, uint32_t i,
                                const struct nsr_plan_wait *x,
                                struct nsr_val mirror) {
  if (!nsr_plan_bends(w->plan, x))
    return NSR_OK;
  return put_op(w, i, x->less < 0 ? NSR_CTL_SUB : NSR_CTL_ADD,
                (int16_t)mirror.v, mirror, imm(abs(x->less)));
}

/* Wait x on a no-op in front of instruction i. */
static enum nsr_status put_wait_alone(struct weave *w, uint32_t i, uint32_t x) {
  const struct nsr_plan_wait *pw = &w->plan->waits[x];
  struct nsr_wait wait = {.cmp = NSR_CMP_GE, .sem = pw->sem};
  NSR_TRY(put_threshold(w, i, pw, &wait.value));
  w->wait_at[x] = w->at;
  NSR_TRY(put_wait(w, i, &wait));
  return put_undo(w, i, pw, wait.value);
}

/* The waits of instruction i; the last one is left in *ride if it can ride
 * on the instruction. */
static enum nsr_status put_waits(struct weave *w, uint32_t i,
                                 struct nsr_wait *ride) {
  uint32_t work = w->work_of[i], end = w->first_wait[work + 1];
  for (uint32_t x = w->first_wait[work]; x < end; x++) {
    const struct nsr_plan_wait *pw = &w->plan->waits[x];
    if (x + 1 < end || !rides(w, i)) {
      NSR_TRY(put_wait_alone(w, i, x));
      continue;
    }
    *ride = (struct nsr_wait){.cmp = NSR_CMP_GE, .sem = pw->sem};
    NSR_TRY(put_threshold(w, i, pw, &ride->value));
    w->wait_at[x] = w->at;
  }
  return NSR_OK;
}

/* A branch over the n instructions behind it. */
static enum nsr_status put_over(struct weave *w, uint32_t i, int32_t n) {
  const struct nsr_insn_desc *d = control(w, NSR_CTL_BR);
  struct nsr_insn x;
  if (!legal(w, d))
    return nsr_fail(w->ctx, NSR_E_REFUSED, place(w, i),
                    "the instruction set %s has no branch here",
                    w->k->isa->name);
  nsr_insn_init(d, &x);
  x.cc = NSR_CC_ALWAYS;
  x.displacement = n + 1;
  return put_insn(w, i, &x);
}

static enum nsr_status put_entry(struct weave *w, const struct nsr_entry *e) {
  const struct nsr_plan *plan = w->plan;
  if (e->kind == NSR_ENTRY_WAIT)
    return put_wait_alone(w, e->insn, e->which);
  if (e->kind == NSR_ENTRY_SNAPSHOT)
    return put_snapshot(w, e->insn, &plan->snapshots[e->which]);
  if (e->kind == NSR_ENTRY_OVER)
    return put_over(w, e->insn, e->add);
  if (e->kind == NSR_ENTRY_PAD)
    return put_nop(
        w, e->insn, plan->pads[e->which].channel,
        update(plan->pads[e->which].sem, plan->pads[e->which].weight));
  if (e->kind == NSR_ENTRY_PLAN_MARKER)
    return put_plan_marker(w, e->insn, &plan->markers[e->which]);
  if (e->kind == NSR_ENTRY_MIRROR) {
    int16_t r = plan->mirrors[e->which].reg;
    return e->set ? put_op(w, e->insn, NSR_CTL_MOV, r, imm(e->add), imm(0))
                  : put_op(w, e->insn, NSR_CTL_ADD, r, reg(r), imm(e->add));
  }
  w->work_at[e->which] = w->at;
  return put_nop(w, e->insn, plan->tree->works[e->which].channel,
                 update(plan->update[e->which], plan->weight[e->which]));
}

static enum nsr_status set_branch(struct weave *w, uint32_t i, uint8_t *word) {
  const struct nsr_node *n = &w->plan->tree->program->nodes[w->engine][i];
  int64_t d = (int64_t)landing(w, i, (uint32_t)n->aux) - w->own[i];
  if (d >= w->k->isa->min_displacement && d <= w->k->isa->max_displacement &&
      nsr_word_set_displacement(w->k->isa, word, (int32_t)d))
    return NSR_OK;
  return nsr_fail(w->ctx, NSR_E_REFUSED, place(w, i),
                  "with the inserted instructions the target of this branch "
                  "lies %lld instructions away; %d..%d can be encoded",
                  (long long)d, (int)w->k->isa->min_displacement,
                  (int)w->k->isa->max_displacement);
}

/* The instruction itself, its synchronisation replaced by the plan's. What is
 * for others stays as it is. */
static enum nsr_status put_own(struct weave *w, uint32_t i,
                               const struct nsr_wait *ride) {
  const struct nsr_node *n = &w->plan->tree->program->nodes[w->engine][i];
  uint8_t *word = next_word(w);
  memcpy(word, nsr_stream_word(w->k, w->in, i), w->k->isa->word);
  uint32_t work = w->work_of[i];
  bool kept = n->ctl == NSR_CTL_BR || work == NSR_NONE ||
              w->plan->tree->works[work].island;
  w->barriers += n->cls == NSR_BARRIER;
  w->waits += !n->foreign_wait && (kept ? n->wait.cmp : ride->cmp) != 0;
  if (n->ctl == NSR_CTL_BR)
    return set_branch(w, i, word);
  if (kept)
    return NSR_OK;
  /* a word without one stays without as it is */
  bool fits = n->foreign_wait || (!n->wait.cmp && !ride->cmp) ||
              nsr_word_set_wait(w->k->isa, word, ride);
  bool updates = w->plan->update[work] >= 0;
  if (n->channel >= 0 && !n->foreign_update && (updates || n->update.op)) {
    struct nsr_update u = {0};
    if (updates)
      u = update(w->plan->update[work], w->plan->weight[work]);
    fits = fits && nsr_word_set_update(w->k->isa, word, &u);
  }
  return fits ? NSR_OK
              : nsr_fail(w->ctx, NSR_E_REFUSED, place(w, i),
                         "a wait or update of the output does not encode");
}

static enum nsr_status put_all(struct weave *w) {
  uint32_t e = 0;
  for (uint32_t i = 0; i < w->in->n; i++) {
    struct nsr_wait ride = {0};
    if (i == 0) {
      NSR_TRY(put_mirrors(w, 0, NSR_NONE));
      NSR_TRY(begin_snapshots(w));
    }
    for (; e < w->entries.n && w->entries.v[e].insn == i; e++)
      NSR_TRY(put_entry(w, &w->entries.v[e]));
    if (w->work_of[i] != NSR_NONE)
      NSR_TRY(put_waits(w, i, &ride));
    if (!w->removed[i])
      NSR_TRY(put_own(w, i, &ride));
    if (told_behind(w, i))
      NSR_TRY(put_told(w, i));
    NSR_TRY(put_behind(w, i));
  }
  return NSR_OK;
}

/* ---- what follows the instructions */

static enum nsr_status move_labels(struct weave *w, struct nsr_stream *out) {
  struct nsr_label *labels;
  NSR_NEW(w->ctx, NSR_KEEP, labels, w->in->nlabels);
  for (uint32_t l = 0; l < w->in->nlabels; l++)
    labels[l] = (struct nsr_label){w->in->labels[l].name,
                                   w->loop[w->in->labels[l].insn]};
  out->labels = labels;
  out->nlabels = w->in->nlabels;
  return NSR_OK;
}

static enum nsr_status move_relocs(struct weave *w, struct nsr_stream *out) {
  struct nsr_reloc *relocs;
  NSR_NEW(w->ctx, NSR_KEEP, relocs, w->in->nrelocs);
  for (uint32_t r = 0; r < w->in->nrelocs; r++) {
    struct nsr_reloc x = w->in->relocs[r];
    if (w->removed[x.insn])
      continue;
    if (x.kind == NSR_RELOC_BRANCH)
      x.target = landing(w, x.insn, x.target);
    x.insn = w->own[x.insn];
    relocs[out->nrelocs++] = x;
  }
  out->relocs = relocs;
  return NSR_OK;
}

static enum nsr_status move_lines(struct weave *w, struct nsr_stream *out) {
  struct nsr_line *lines;
  if (!w->in->lines)
    return NSR_OK;
  NSR_NEW(w->ctx, NSR_KEEP, lines, out->n);
  for (uint32_t i = 0; i < w->in->n; i++)
    for (uint32_t j = w->start[i]; j < w->start[i + 1]; j++)
      lines[j] = w->in->lines[i];
  out->lines = lines;
  return NSR_OK;
}

static enum nsr_status weave_stream(struct weave *w, uint32_t exit,
                                    struct nsr_stream *out) {
  NSR_TRY(mark_removed(w, exit));
  NSR_TRY(nsr_entries_find(w->ctx, w->plan, w->engine, &w->entries));
  NSR_TRY(nsr_read_find(w->ctx, w->plan, w->engine, &w->entries, &w->read));
  NSR_TRY(find_positions(w));
  *out = (struct nsr_stream){.engine = (uint8_t)w->engine,
                             .n = w->start[w->in->n]};
  NSR_NEW(w->ctx, NSR_KEEP, w->code, (size_t)out->n * w->k->isa->word);
  NSR_TRY(put_all(w));
  out->code = w->code;
  NSR_TRY(move_labels(w, out));
  NSR_TRY(move_relocs(w, out));
  return move_lines(w, out);
}

/* By instruction of one engine: its work. */
static enum nsr_status find_works(struct weave *w) {
  const struct nsr_tree *t = w->plan->tree;
  uint32_t *of;
  NSR_NEW(w->ctx, NSR_SCRATCH, of, w->in->n);
  for (uint32_t i = 0; i < w->in->n; i++)
    of[i] = NSR_NONE;
  for (uint32_t x = 0; x < t->nworks; x++)
    if (t->works[x].engine == w->engine && !t->works[x].marker)
      of[t->works[x].insn] = x;
  w->work_of = of;
  return NSR_OK;
}

static enum nsr_status
first_waits(struct nsr_ctx *ctx, const struct nsr_plan *plan, uint32_t **out) {
  NSR_NEW(ctx, NSR_SCRATCH, *out, plan->tree->nworks + 1);
  for (uint32_t x = 0; x < plan->nwaits; x++)
    if (plan->waits[x].at == NSR_NONE)
      (*out)[plan->waits[x].c + 1]++;
  for (uint32_t w = 0; w < plan->tree->nworks; w++)
    (*out)[w + 1] += (*out)[w];
  return NSR_OK;
}

/* Where barriers that stay, and the reasons why, are in one engine's output. */
static void place_islands(const struct weave *w, uint32_t exit,
                          uint32_t *part_at, uint32_t *trouble_at) {
  const struct nsr_tree *t = w->plan->tree;
  for (uint32_t p = 0; p < t->nparts; p++) {
    const struct nsr_part *part = &t->parts[p];
    if (part->kind == NSR_PART_BARRIER && part->keep && p != exit &&
        part->insn[w->engine] != NSR_NONE && part_at[p] == NSR_NONE)
      part_at[p] = w->own[part->insn[w->engine]];
  }
  for (uint32_t i = 0; i < t->ntroubles; i++)
    if (t->troubles[i].engine == w->engine)
      trouble_at[i] = w->own[t->troubles[i].insn];
}

enum nsr_status nsr_weave(struct nsr_ctx *ctx, const struct nsr_plan *plan,
                          uint32_t exit, struct nsr_woven *out) {
  const struct nsr_program *p = plan->tree->program;
  uint32_t *first, *wait_at, *work_at, *part_at, *trouble_at;
  *out = (struct nsr_woven){0};
  NSR_TRY(first_waits(ctx, plan, &first));
  NSR_NEW(ctx, NSR_SCRATCH, wait_at, plan->nwaits);
  NSR_NEW(ctx, NSR_SCRATCH, work_at, plan->tree->nworks);
  NSR_NEW(ctx, NSR_SCRATCH, part_at, plan->tree->nparts);
  NSR_NEW(ctx, NSR_SCRATCH, trouble_at, plan->tree->ntroubles);
  for (uint32_t i = 0; i < plan->tree->nparts; i++)
    part_at[i] = NSR_NONE;
  for (int e = 0; e < NSR_MAX_ENGINES; e++) {
    struct weave w = {.ctx = ctx,
                      .plan = plan,
                      .k = p->k,
                      .engine = e,
                      .in = p->stream[e],
                      .first_wait = first,
                      .wait_at = wait_at,
                      .work_at = work_at};
    if (!w.in)
      continue;
    struct nsr_mark mark = nsr_scratch_mark(ctx);
    NSR_TRY(find_works(&w));
    NSR_TRY(weave_stream(&w, exit, &out->streams[e]));
    for (uint32_t i = 0; i < w.in->n; i++)
      if (w.work_of[i] != NSR_NONE)
        work_at[w.work_of[i]] = w.removed[i] ? NSR_NONE : w.own[i];
    place_islands(&w, exit, part_at, trouble_at);
    out->barriers[e] = w.barriers;
    out->waits[e] = w.waits;
    nsr_scratch_release(ctx, mark);
  }
  out->part_at = part_at;
  out->trouble_at = trouble_at;
  out->wait_at = wait_at;
  out->work_at = work_at;
  return NSR_OK;
}
