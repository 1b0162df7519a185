/* steps.c - a loop's body as steps.
 *
 * Needs a stream's scopes; makes the steps of one loop, along its scope tree.
 * Loops inside it and code without structure only forget what they set.
 */
#include "mem/rounds.h"

#include <string.h>

#include "base/bitset.h"

struct collect {
  struct nsr_ctx *ctx;
  const struct nsr_scopes *t;
  struct nsr_round *r;
};

static enum nsr_status push_step(struct collect *c, struct nsr_step step) {
  NSR_PUSH(c->ctx, NSR_SCRATCH, &c->r->steps, step);
  return NSR_OK;
}

static enum nsr_status push_insn(struct collect *c, enum nsr_step_kind kind,
                                 uint32_t insn) {
  return push_step(c, (struct nsr_step){.kind = (uint8_t)kind, .insn = insn});
}

static enum nsr_status forget_scope(struct collect *c, uint32_t scope) {
  uint64_t *set;
  NSR_NEW(c->ctx, NSR_SCRATCH, set, nsr_bits_words(c->r->nregs));
  nsr_scopes_sets(c->t, scope, set);
  return push_step(c, (struct nsr_step){.kind = NSR_STEP_FORGET, .set = set});
}

/* *test: the step of the branch at its end, NSR_NONE: none. */
static enum nsr_status
collect_piece(struct collect *c, const struct nsr_item *it, uint32_t *test) {
  const struct nsr_node *nodes = c->r->nodes;
  *test = NSR_NONE;
  for (uint32_t j = it->first; j < it->first + it->n; j++) {
    if (nodes[j].dst >= 0)
      NSR_TRY(push_insn(c, NSR_STEP_OPERATION, j));
    if (nodes[j].cls == NSR_BARRIER)
      NSR_TRY(push_step(c, (struct nsr_step){.kind = NSR_STEP_BARRIER}));
    if (nodes[j].ctl != NSR_CTL_BR || nodes[j].always)
      continue;
    *test = (uint32_t)c->r->steps.n;
    NSR_TRY(push_insn(c, NSR_STEP_TEST, j));
  }
  return NSR_OK;
}

static enum nsr_status collect_body(struct collect *c, uint32_t scope);

/* Whether steps only lead out of the loop. */
static bool only_leave(const struct nsr_round *r, size_t from, size_t to) {
  bool ends = false;
  for (size_t i = from; i < to; i++) {
    const struct nsr_step *s = &r->steps.v[i];
    if (s->kind == NSR_STEP_END && s->ends & NSR_ENDS_BACK)
      return false;
    ends |= s->kind == NSR_STEP_END;
  }
  return ends;
}

/* What the arms of a fork set: registers in the order of their numbers. */
static enum nsr_status list_regs(struct collect *c, size_t fork) {
  struct nsr_round *r = c->r;
  uint64_t *set;
  uint32_t first = (uint32_t)r->regs.n;
  NSR_NEW(c->ctx, NSR_SCRATCH, set, nsr_bits_words(r->nregs));
  for (size_t i = fork + 1; i < r->steps.n; i++) {
    const struct nsr_step *s = &r->steps.v[i];
    if (s->kind == NSR_STEP_OPERATION)
      nsr_bit_set(set, (size_t)r->nodes[s->insn].dst);
    else if (s->kind == NSR_STEP_FORGET)
      nsr_bits_or(set, s->set, nsr_bits_words(r->nregs));
  }
  for (uint32_t q = 0; q < r->nregs; q++)
    if (nsr_bit(set, q))
      NSR_PUSH(c->ctx, NSR_SCRATCH, &r->regs, (uint16_t)q);
  r->steps.v[fork].first_reg = first;
  r->steps.v[fork].nregs = (uint32_t)r->regs.n - first;
  return NSR_OK;
}

/* The arms of a branch: one, or (two) two. */
static enum nsr_status collect_arms(struct collect *c,
                                    const struct nsr_item *it, bool two,
                                    uint32_t test) {
  struct nsr_round *r = c->r;
  const struct nsr_cfg *g = c->t->cfg;
  const struct nsr_scope *s = &c->t->scopes[it[0].first];
  size_t fork = r->steps.n;
  NSR_TRY(push_step(c, (struct nsr_step){.kind = NSR_STEP_FORK, .test = test}));
  NSR_TRY(collect_body(c, it[0].first));
  size_t middle = r->steps.n;
  if (two)
    NSR_TRY(collect_body(c, it[1].first));
  else if (s->to_end)
    NSR_TRY(
        push_step(c, (struct nsr_step){.kind = NSR_STEP_END, .ends = s->skip}));
  NSR_TRY(list_regs(c, fork));
  const struct nsr_block *entry = &g->blocks[g->block_of[s->entry]];
  const struct nsr_block *from = &g->blocks[entry->idom];
  struct nsr_step *f = &r->steps.v[fork];
  f->way = from->succ[0] == entry - g->blocks ? NSR_WAY_TARGET : NSR_WAY_ON;
  f->n = (uint32_t)(middle - fork - 1);
  f->m = (uint32_t)(r->steps.n - middle);
  f->leaves =
      only_leave(r, fork + 1, middle) || only_leave(r, middle, r->steps.n);
  return NSR_OK;
}

static enum nsr_status collect_body(struct collect *c, uint32_t scope) {
  const struct nsr_scope *s = &c->t->scopes[scope];
  uint32_t test = NSR_NONE;
  for (uint32_t i = 0; i < s->nitems; i++) {
    const struct nsr_item *it = &c->t->items[s->first_item + i];
    if (!it->is_scope) {
      NSR_TRY(collect_piece(c, it, &test));
    } else if (c->t->scopes[it->first].kind != NSR_SCOPE_ARM) {
      NSR_TRY(forget_scope(c, it->first));
    } else {
      bool two = nsr_scopes_two_arms(c->t, s, i);
      NSR_TRY(collect_arms(c, it, two, test));
      i += two;
    }
  }
  if (s->kind == NSR_SCOPE_LOOP || s->to_end)
    NSR_TRY(
        push_step(c, (struct nsr_step){.kind = NSR_STEP_END, .ends = s->ends}));
  return NSR_OK;
}

enum nsr_status nsr_round_collect(struct nsr_ctx *ctx,
                                  const struct nsr_scopes *t, uint32_t scope,
                                  bool in_loop, const uint64_t *set,
                                  struct nsr_round *r) {
  struct collect c = {.ctx = ctx, .t = t, .r = r};
  const struct nsr_program *p = t->cfg->program;
  r->steps.n = r->regs.n = r->set.n = 0;
  r->nodes = p->nodes[t->cfg->engine];
  r->operations = p->operations[t->cfg->engine];
  r->in_loop = in_loop;
  for (uint32_t q = 0; q < r->nregs; q++)
    if (nsr_bit(set, q))
      NSR_PUSH(ctx, NSR_SCRATCH, &r->set, (uint16_t)q);
  NSR_TRY(collect_body(&c, scope));
  NSR_NEW(ctx, NSR_SCRATCH, r->kept, r->regs.n);
  return NSR_OK;
}
