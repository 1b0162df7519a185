/* stages.c - the passes' results as text. */
#include "report/stages.h"

#include <stdlib.h>

static const char *engine_name(const struct nsr_tree *t, int e) {
  return t->program->k->isa->engines[e];
}

/* "act[12] tt" */
void nsr_print_work(struct nsr_strbuf *b, const struct nsr_tree *t,
                    uint32_t w) {
  const struct nsr_work *x = &t->works[w];
  const struct nsr_kernel *k = t->program->k;
  struct nsr_insn insn;
  if (x->marker) {
    nsr_strbuf_printf(b, "marker of %s in front of %s[%d]",
                      nsr_channel_name(k, x->channel),
                      engine_name(t, x->engine), (int)x->insn);
    return;
  }
  const char *bad = nsr_decode(
      k->isa, x->engine,
      nsr_stream_word(k, t->program->stream[x->engine], x->insn), &insn);
  nsr_strbuf_printf(b, "%s[%u] %s", engine_name(t, x->engine), x->insn,
                    bad ? "?" : insn.desc->mnemonic);
  if (x->channel >= k->isa->nengines)
    nsr_strbuf_printf(b, " %s", nsr_channel_name(k, x->channel));
}

void nsr_print_source(struct nsr_strbuf *b, const struct nsr_place *p) {
  if (p->source_file && p->source_line)
    nsr_strbuf_printf(b, " (%s:%u)", p->source_file, p->source_line);
}

static void indent(struct nsr_strbuf *b, uint32_t depth) {
  for (uint32_t i = 0; i < depth; i++)
    nsr_strbuf_puts(b, "  ");
}

/* ---- cfg */

static void put_block(struct nsr_strbuf *b, const struct nsr_cfg *g,
                      uint32_t i) {
  const struct nsr_block *x = &g->blocks[i];
  nsr_strbuf_printf(b, "  b%u %u..%u", i, x->first, x->first + x->n - 1);
  if (x->stretch != NSR_NONE)
    nsr_strbuf_printf(b, " island b%u", g->stretches[x->stretch].entry);
  if (x->idom == NSR_NONE && x->stretch != NSR_NONE) {
    nsr_strbuf_puts(b, "\n");
    return;
  }
  if (x->idom == NSR_NONE) {
    nsr_strbuf_puts(b, " unreachable\n");
    return;
  }
  nsr_strbuf_printf(b, " idom b%u", x->idom);
  if (x->loop != NSR_NONE)
    nsr_strbuf_printf(b, " loop b%u", g->loops[x->loop].header);
  for (int j = 0; j < 2; j++)
    if (x->succ[j] != NSR_NONE)
      nsr_strbuf_printf(b, " -> b%u", x->succ[j]);
  nsr_strbuf_puts(b, "\n");
}

void nsr_print_cfg(struct nsr_strbuf *b, const struct nsr_tree *t) {
  for (int e = 0; e < NSR_MAX_ENGINES; e++) {
    if (!t->program->stream[e])
      continue;
    const struct nsr_cfg *g = t->local[e].cfg;
    nsr_strbuf_printf(b, "%s: %u blocks, %u loops\n", engine_name(t, e),
                      g->nblocks, g->nloops);
    for (uint32_t i = 0; i < g->nblocks; i++)
      put_block(b, g, i);
  }
}

/* ---- scopes */

static void put_part(struct nsr_strbuf *b, const struct nsr_tree *t,
                     const struct nsr_part *part, uint32_t depth) {
  if (part->kind == NSR_PART_BARRIER) {
    indent(b, depth);
    nsr_strbuf_printf(b, "sync %d%s\n", (int)part->id,
                      part->keep ? " (stays)" : "");
    return;
  }
  for (uint32_t i = part->first; i < part->first + part->n; i++) {
    indent(b, depth);
    nsr_print_work(b, t, i);
    nsr_strbuf_puts(b, t->works[i].island ? " (island)\n" : "\n");
  }
}

static void put_scope(struct nsr_strbuf *b, const struct nsr_tree *t,
                      uint32_t scope) {
  static const char *const kinds[] = {"program", "loop", "arm", "island"};
  const struct nsr_common *s = &t->scopes[scope];
  indent(b, s->depth);
  nsr_strbuf_printf(b, "%s %u\n", kinds[s->kind], scope);
  for (uint32_t p = s->first_part; p != NSR_NONE; p = t->parts[p].next)
    if (t->parts[p].kind == NSR_PART_SCOPE)
      put_scope(b, t, t->parts[p].first);
    else
      put_part(b, t, &t->parts[p], s->depth + 1);
}

void nsr_print_scopes(struct nsr_strbuf *b, const struct nsr_tree *t) {
  put_scope(b, t, 0);
  for (uint32_t i = 0; i < t->ntroubles; i++) {
    const struct nsr_trouble *x = &t->troubles[i];
    nsr_strbuf_printf(b, "island: %s at %s[%u] %s\n", x->what,
                      engine_name(t, x->engine), x->insn, x->why);
  }
}

/* ---- dependences */

static void put_dep(struct nsr_strbuf *b, const struct nsr_deps *deps,
                    const struct nsr_dep *d) {
  const struct nsr_tree *t = deps->tree;
  const struct nsr_bytes *x = &deps->bytes[d->where];
  nsr_print_work(b, t, d->c);
  nsr_strbuf_puts(b, " after ");
  nsr_print_work(b, t, d->p);
  nsr_strbuf_puts(b, d->p < d->c ? "" : " (carried)");
  if (d->lag)
    nsr_strbuf_printf(b, " but the last %u", d->lag);
  if (d->back == 1)
    nsr_strbuf_printf(b, " but this iteration of loop %u", d->loop);
  else if (d->back)
    nsr_strbuf_printf(b, " but the last %u iterations of loop %u", d->back,
                      d->loop);
  if (d->front)
    nsr_strbuf_printf(b, "%s in front of loop %u", d->once ? "" : ", and all",
                      d->loop);
  nsr_strbuf_printf(b, ": %s, %s %lld..%lld%s\n",
                    d->overlap == NSR_OVERLAP_MUST ? "must" : "may",
                    x->space == NSR_SPACE_ANYTHING ? "unknown effects"
                    : x->space > NSR_PSUM
                        ? "hidden state"
                        : nsr_space_name((enum nsr_space)x->space),
                    (long long)x->lo, (long long)x->hi - 1,
                    d->unordered ? ", unordered in the input"
                    : d->allowed ? ", a race that facts allow"
                                 : "");
}

void nsr_print_deps(struct nsr_strbuf *b, const struct nsr_deps *deps) {
  for (uint32_t i = 0; i < deps->n; i++)
    if (deps->deps[i].overlap != NSR_OVERLAP_NO)
      put_dep(b, deps, &deps->deps[i]);
}

/* ---- plan */

static void put_val(struct nsr_strbuf *b, const struct nsr_val *v) {
  nsr_strbuf_printf(b, v->is_reg ? "r%d" : "%d", (int)v->v);
}

/* "act r60 = gt r1, 1" */
static void put_op(struct nsr_strbuf *b, const char *engine,
                   const struct nsr_plan_op *op) {
  nsr_strbuf_printf(b, "%s r%d = %s ", engine, op->dst,
                    nsr_ctl_name((enum nsr_ctl)op->ctl));
  put_val(b, &op->a);
  nsr_strbuf_puts(b, ", ");
  put_val(b, &op->b);
  nsr_strbuf_puts(b, "\n");
}

static void put_less(struct nsr_strbuf *b, int32_t less) {
  if (less)
    nsr_strbuf_printf(b, " %c %d", less < 0 ? '+' : '-', abs(less));
}

static void put_threshold(struct nsr_strbuf *b, const struct nsr_plan *plan,
                          const struct nsr_plan_wait *w) {
  if (!w->is_reg) {
    nsr_strbuf_printf(b, "%d", (int)w->value);
    return;
  }
  if (w->nops) {
    nsr_strbuf_printf(b, "r%d", plan->ops[w->first_op + w->nops - 1].dst);
    return;
  }
  if (w->back) {
    const struct nsr_plan_snapshot *s = &plan->snapshots[w->snapshot];
    nsr_strbuf_printf(b, "r%d", s->regs[s->entry ? 0 : w->back - 1]);
    return;
  }
  nsr_strbuf_printf(b, "r%d", plan->mirrors[w->mirror].reg);
  put_less(b, w->less);
}

static void put_wait(struct nsr_strbuf *b, const struct nsr_plan *plan,
                     const struct nsr_plan_wait *w) {
  for (uint32_t o = w->first_op; o < w->first_op + w->nops; o++)
    put_op(b, engine_name(plan->tree, plan->tree->works[w->c].engine),
           &plan->ops[o]);
  nsr_print_work(b, plan->tree, w->c);
  nsr_strbuf_printf(b, " waits s%u >= ", w->sem);
  put_threshold(b, plan, w);
  nsr_strbuf_puts(b, " for ");
  nsr_print_work(b, plan->tree, w->p);
  if (w->at != NSR_NONE)
    nsr_strbuf_printf(b, ", in front of scope %u", w->at);
  nsr_strbuf_puts(b, "\n");
}

static void put_mirror(struct nsr_strbuf *b, const struct nsr_plan *plan,
                       const struct nsr_mirror *m) {
  const struct nsr_plan_class *c = &plan->classes[m->class];
  const char *engine = engine_name(plan->tree, m->engine);
  nsr_strbuf_printf(b, "%s r%d starts at %d", engine, m->reg,
                    (int)(c->start - m->less));
  for (uint32_t i = 0; i < c->nsteps; i++) {
    const struct nsr_plan_step *s = &plan->steps[c->first_step + i];
    nsr_strbuf_printf(
        b, s->set ? ", %d at entry of scope %u" : ", +%d per entry of scope %u",
        (int)s->add, s->scope);
  }
  if (m->set_at != NSR_NONE)
    nsr_strbuf_printf(b, ", from %s[%u] on", engine, m->set_at);
  nsr_strbuf_puts(b, "\n");
  for (uint32_t i = 0; !c->lasts && i < plan->resets.n; i++)
    nsr_strbuf_printf(b, "%s r%d is %d behind sync %d\n", engine, m->reg,
                      (int)(c->reset[i] - m->less),
                      (int)plan->tree->parts[plan->resets.v[i].part].id);
}

/* "act r3, r4: r0 - 2 at the latest starts of iterations of scope 3" */
static void put_snapshot(struct nsr_strbuf *b, const struct nsr_plan *plan,
                         const struct nsr_plan_snapshot *s) {
  nsr_strbuf_puts(b, engine_name(plan->tree, s->engine));
  for (uint32_t k = 0; k < s->n; k++)
    nsr_strbuf_printf(b, "%s r%d", k ? "," : "", s->regs[k]);
  nsr_strbuf_printf(b, ": r%d", plan->mirrors[s->mirror].reg);
  put_less(b, s->less);
  if (s->entry) {
    nsr_strbuf_printf(b, " in front of scope %u\n", s->of);
    return;
  }
  nsr_strbuf_printf(b, " at the latest start%s of iterations of scope %u\n",
                    s->n == 1 ? "" : "s", s->of);
}

static void put_marker(struct nsr_strbuf *b, const struct nsr_plan *plan,
                       const struct nsr_plan_marker *m) {
  const struct nsr_tree *t = plan->tree;
  nsr_strbuf_printf(b, "%s gives s%u %d ",
                    nsr_channel_name(t->program->k, m->channel), m->sem,
                    (int)m->weight);
  if (m->reset == NSR_NONE)
    nsr_strbuf_printf(b, "at entry of scope %u\n", m->scope);
  else
    nsr_strbuf_printf(b, "behind sync %d\n",
                      (int)t->parts[plan->resets.v[m->reset].part].id);
}

static void put_member(struct nsr_strbuf *b, const struct nsr_plan *plan,
                       uint32_t w) {
  const struct nsr_tree *t = plan->tree;
  nsr_print_work(b, t, w);
  nsr_strbuf_printf(b, " counts in s%d, scope %u", (int)plan->update[w],
                    t->works[w].scope);
  if (plan->weight[w] != 1)
    nsr_strbuf_printf(b, ", for %d", (int)plan->weight[w]);
  nsr_strbuf_puts(b, "\n");
}

static void put_pad(struct nsr_strbuf *b, const struct nsr_plan *plan,
                    const struct nsr_pad *x) {
  nsr_strbuf_printf(b, "%s gives s%u %d where scope %u is passed by\n",
                    nsr_channel_name(plan->tree->program->k, x->channel),
                    x->sem, (int)x->weight, x->scope);
}

void nsr_print_plan(struct nsr_strbuf *b, const struct nsr_plan *plan) {
  for (uint32_t w = 0; w < plan->tree->nworks; w++)
    if (plan->update[w] >= 0)
      put_member(b, plan, w);
  for (uint32_t i = 0; i < plan->nmarkers; i++)
    put_marker(b, plan, &plan->markers[i]);
  for (uint32_t i = 0; i < plan->npads; i++)
    put_pad(b, plan, &plan->pads[i]);
  for (uint32_t i = 0; i < plan->nmirrors; i++)
    put_mirror(b, plan, &plan->mirrors[i]);
  for (uint32_t i = 0; i < plan->nsnapshots; i++)
    put_snapshot(b, plan, &plan->snapshots[i]);
  for (uint32_t i = 0; i < plan->nwaits; i++)
    put_wait(b, plan, &plan->waits[i]);
}
