/* keeps.c - what is asked to stay. */
#include "ir/keeps.h"

#include <assert.h>
#include <string.h>

const char *nsr_keep_text(enum nsr_keep because) {
  switch (because) {
  case NSR_KEEP_NOT:
    break;
  case NSR_KEEP_ISLAND:
    return "island";
  case NSR_KEEP_OUTER:
    return "directly in an outermost loop";
  case NSR_KEEP_ASKED:
    return "asked for";
  case NSR_KEEP_PUBLISHED:
    return "a dependence that it orders has no published form";
  case NSR_KEEP_OVERFLOW:
    return "without it a semaphore could overflow";
  }
  assert(false);
  return "";
}

void nsr_keep(struct nsr_part *part, enum nsr_keep because) {
  assert(part->kind == NSR_PART_BARRIER);
  if (part->keep == NSR_KEEP_NOT)
    part->keep = (uint8_t)because;
}

enum nsr_status nsr_keep_outer(struct nsr_ctx *ctx, struct nsr_tree *t) {
  uint32_t *loops; /* by scope: how many are around its body */
  NSR_NEW(ctx, NSR_SCRATCH, loops, t->nscopes);
  for (uint32_t s = 1; s < t->nscopes; s++) {
    loops[s] =
        loops[t->scopes[s].parent] + (t->scopes[s].kind == NSR_SCOPE_LOOP);
    for (uint32_t p = t->scopes[s].first_part; p != NSR_NONE;
         p = t->parts[p].next)
      if (t->parts[p].kind == NSR_PART_BARRIER && loops[s] == 1)
        nsr_keep(&t->parts[p], NSR_KEEP_OUTER);
  }
  return NSR_OK;
}

/* ---- spots */

/* What a spot names: a scope of the tree with all in it, or one barrier. */
struct found {
  uint32_t scope, part; /* NSR_NONE: not that */
};

static enum nsr_status bad_spot(struct nsr_ctx *ctx, const struct nsr_tree *t,
                                const struct nsr_spot *spot, const char *what) {
  return nsr_fail(ctx, NSR_E_USAGE,
                  (struct nsr_place){.file = t->program->k->path, .insn = -1},
                  "%s:%s %s", spot->engine, spot->label, what);
}

static enum nsr_status find_label(struct nsr_ctx *ctx, const struct nsr_tree *t,
                                  const struct nsr_spot *spot, int *engine,
                                  uint32_t *insn) {
  const struct nsr_isa *isa = t->program->k->isa;
  for (*engine = 0; *engine < isa->nengines; ++*engine)
    if (strcmp(isa->engines[*engine], spot->engine) == 0)
      break;
  if (*engine == isa->nengines || !t->program->stream[*engine])
    return bad_spot(ctx, t, spot, "names no engine of the kernel");
  const struct nsr_stream *s = t->program->stream[*engine];
  for (uint32_t l = 0; l < s->nlabels; l++)
    if (strcmp(s->labels[l].name, spot->label) == 0) {
      *insn = s->labels[l].insn;
      return NSR_OK;
    }
  return bad_spot(ctx, t, spot, "names no label of the engine");
}

/* The outermost scope of the tree that starts at an instruction. */
static uint32_t scope_at(const struct nsr_tree *t, int e, uint32_t insn) {
  for (uint32_t s = 1; s < t->nscopes; s++)
    if (nsr_common_runs(t, s, e) && t->scopes[s].kind != NSR_SCOPE_ISLAND &&
        t->local[e].scopes[t->scopes[s].local[e]].entry == insn)
      return s;
  return NSR_NONE;
}

static uint32_t barrier_at(const struct nsr_tree *t, int e, uint32_t insn) {
  for (uint32_t p = 0; p < t->nparts; p++)
    if (t->parts[p].kind == NSR_PART_BARRIER && t->parts[p].insn[e] == insn)
      return p;
  return NSR_NONE;
}

static enum nsr_status find_spot(struct nsr_ctx *ctx, const struct nsr_tree *t,
                                 const struct nsr_spot *spot,
                                 struct found *out) {
  int e = 0;
  uint32_t insn = 0;
  NSR_TRY(find_label(ctx, t, spot, &e, &insn));
  *out = (struct found){scope_at(t, e, insn), NSR_NONE};
  if (out->scope == NSR_NONE)
    out->part = barrier_at(t, e, insn);
  if (out->scope == NSR_NONE && out->part == NSR_NONE)
    return bad_spot(ctx, t, spot,
                    "starts no loop or conditional with work in it, and no "
                    "barrier stands there");
  return NSR_OK;
}

/* Marks the barriers of the spots. */
static enum nsr_status mark_spots(struct nsr_ctx *ctx, const struct nsr_tree *t,
                                  const struct nsr_spot *spots, uint32_t n,
                                  bool **out) {
  NSR_NEW(ctx, NSR_SCRATCH, *out, t->nparts);
  for (uint32_t i = 0; i < n; i++) {
    struct found x;
    NSR_TRY(find_spot(ctx, t, &spots[i], &x));
    if (x.part != NSR_NONE)
      (*out)[x.part] = true;
    for (uint32_t s = x.scope;
         x.scope != NSR_NONE && s <= t->scopes[x.scope].last; s++)
      for (uint32_t p = t->scopes[s].first_part; p != NSR_NONE;
           p = t->parts[p].next)
        (*out)[p] |= t->parts[p].kind == NSR_PART_BARRIER;
  }
  return NSR_OK;
}

/* ---- in order */

/* By turn in a walk of the tree: its barriers. */
static enum nsr_status list_barriers(struct nsr_ctx *ctx,
                                     const struct nsr_tree *t, uint32_t **out,
                                     uint32_t *n) {
  uint32_t *next, s = 0;
  *n = 0;
  NSR_NEW(ctx, NSR_SCRATCH, *out, t->nparts);
  NSR_NEW(ctx, NSR_SCRATCH, next, t->nscopes);
  next[0] = t->scopes[0].first_part;
  while (s != NSR_NONE) {
    uint32_t p = next[s];
    if (p == NSR_NONE) {
      s = t->scopes[s].parent;
      continue;
    }
    next[s] = t->parts[p].next;
    if (t->parts[p].kind == NSR_PART_BARRIER) {
      (*out)[(*n)++] = p;
    } else if (t->parts[p].kind == NSR_PART_SCOPE) {
      s = t->parts[p].first;
      next[s] = t->scopes[s].first_part;
    }
  }
  return NSR_OK;
}

enum nsr_status nsr_keep_asked(struct nsr_ctx *ctx, struct nsr_tree *t,
                               uint32_t exit, const struct nsr_bisect *o) {
  bool *keep, *only;
  uint32_t *order, n, at = 0;
  NSR_TRY(mark_spots(ctx, t, o->keep, o->nkeep, &keep));
  NSR_TRY(mark_spots(ctx, t, o->only, o->nonly, &only));
  NSR_TRY(list_barriers(ctx, t, &order, &n));
  for (uint32_t i = 0; i < n; i++) {
    uint32_t p = order[i];
    bool stays = keep[p] || (o->nonly && !only[p]);
    if (p == exit || t->parts[p].keep != NSR_KEEP_NOT)
      continue;
    if (!stays && o->limited)
      stays = at++ >= o->limit;
    if (stays)
      nsr_keep(&t->parts[p], NSR_KEEP_ASKED);
  }
  return NSR_OK;
}
