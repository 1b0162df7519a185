/* known.c - the walk behind known.h. */
#include "dep/known.h"

#include <string.h>

#include "base/bitset.h"

/* Enough for thousands of instructions; larger kernels are refused. */
static const size_t max_words = (size_t)1 << 27;

static uint64_t *row(const struct nsr_walk *w, uint64_t *state, uint32_t r) {
  return state + r * w->words;
}

static size_t state_words(const struct nsr_walk *w) {
  return w->rows * w->words;
}

static enum nsr_status number_rows(struct nsr_ctx *ctx, const bool *awaited,
                                   struct nsr_walk *w) {
  int32_t *rows;
  NSR_NEW(ctx, NSR_SCRATCH, rows, w->tree->nworks);
  w->rows = NSR_MAX_ENGINES;
  for (uint32_t i = 0; i < w->tree->nworks; i++) {
    rows[i] = awaited[i] ? (int32_t)w->rows : -1;
    if (awaited[i])
      w->rows += w->levels;
  }
  w->row_of = rows;
  return NSR_OK;
}

static enum nsr_status channel_facts(struct nsr_ctx *ctx, struct nsr_walk *w) {
  const struct nsr_tree *t = w->tree;
  size_t n = (size_t)nsr_nchannels(t->program->k);
  NSR_NEW(ctx, NSR_SCRATCH, w->channel, n * w->words);
  for (uint32_t i = 0; i < t->nworks; i++)
    if (t->works[i].channel >= 0)
      for (uint32_t l = 0; l < w->levels; l++)
        nsr_bit_set(w->channel + (size_t)t->works[i].channel * w->words,
                    (size_t)i * w->levels + l);
  return NSR_OK;
}

void nsr_walk_reset(struct nsr_walk *w) {
  memset(w->heads, 0xff, w->tree->nscopes * state_words(w) * sizeof *w->heads);
}

enum nsr_status nsr_walk_init(struct nsr_ctx *ctx, const struct nsr_tree *tree,
                              const bool *awaited, uint32_t levels,
                              bool barriers, struct nsr_walk *out) {
  *out =
      (struct nsr_walk){.tree = tree,
                        .levels = levels,
                        .words = nsr_bits_words((size_t)tree->nworks * levels),
                        .barriers = barriers};
  NSR_TRY(number_rows(ctx, awaited, out));
  uint32_t depth = 0;
  for (uint32_t s = 0; s < tree->nscopes; s++)
    if (tree->scopes[s].depth > depth)
      depth = tree->scopes[s].depth;
  size_t states = (size_t)tree->nscopes + 3 * (size_t)depth + 4;
  if (state_words(out) > max_words / states)
    return nsr_fail(
        ctx, NSR_E_REFUSED,
        (struct nsr_place){.file = tree->program->k->path, .insn = -1},
        "the kernel is too large: %u instructions in %u scopes, "
        "%u of them waited for",
        tree->nworks, tree->nscopes, out->rows);
  NSR_NEW(ctx, NSR_SCRATCH, out->facts, state_words(out));
  NSR_NEW(ctx, NSR_SCRATCH, out->heads, tree->nscopes * state_words(out));
  NSR_NEW(ctx, NSR_SCRATCH, out->before, (depth + 1) * state_words(out));
  NSR_NEW(ctx, NSR_SCRATCH, out->back, (depth + 1) * state_words(out));
  NSR_NEW(ctx, NSR_SCRATCH, out->exit, (depth + 1) * state_words(out));
  NSR_TRY(channel_facts(ctx, out));
  nsr_walk_reset(out);
  return NSR_OK;
}

bool nsr_walk_known(const struct nsr_walk *w, int engine, uint32_t q,
                    uint32_t lag) {
  return nsr_bit(row(w, w->facts, (uint32_t)engine),
                 (size_t)q * w->levels + lag);
}

void nsr_walk_wait(struct nsr_walk *w, int engine, uint32_t u, uint32_t lag) {
  nsr_bits_or(row(w, w->facts, (uint32_t)engine),
              row(w, w->facts, (uint32_t)w->row_of[u] + lag), w->words);
}

/* One more execution of work i: what all rows say of it ages. */
static void age(struct nsr_walk *w, uint32_t i) {
  size_t at = (size_t)i * w->levels;
  for (uint32_t r = 0; r < w->rows; r++) {
    uint64_t *f = row(w, w->facts, r);
    for (uint32_t l = w->levels - 1; l > 0; l--)
      if (nsr_bit(f, at + l - 1))
        nsr_bit_set(f, at + l);
      else
        nsr_bit_clear(f, at + l);
    nsr_bit_clear(f, at);
  }
}

static void issue(struct nsr_walk *w, uint32_t i) {
  const struct nsr_work *x = &w->tree->works[i];
  if (x->channel < 0)
    return;
  age(w, i);
  uint64_t *engine = row(w, w->facts, x->engine);
  const uint64_t *channel = w->channel + (size_t)x->channel * w->words;
  if (w->row_of[i] >= 0) {
    uint32_t r = (uint32_t)w->row_of[i];
    for (uint32_t l = w->levels - 1; l > 0; l--)
      memcpy(row(w, w->facts, r + l), row(w, w->facts, r + l - 1),
             w->words * sizeof *w->facts);
    memcpy(row(w, w->facts, r), engine, w->words * sizeof *w->facts);
    nsr_bits_or(row(w, w->facts, r), channel, w->words);
  }
  /* a load stalls its engine until it has retired, in order */
  if (!x->marker && nsr_work_node(w->tree, x)->cls == NSR_LOAD)
    nsr_bits_or(engine, channel, w->words);
}

static enum nsr_status walk_body(struct nsr_walk *w, uint32_t scope,
                                 nsr_visit_fn *visit, void *user);

/* A way through the innermost loop's body ends here, with these facts. */
static void end_way(struct nsr_walk *w, const uint64_t *facts, uint8_t ends) {
  size_t n = state_words(w);
  if (w->loop == NSR_NONE)
    return;
  if (ends & NSR_ENDS_BACK)
    nsr_bits_and(w->back + w->loop * n, facts, n);
  if (ends & NSR_ENDS_EXIT)
    nsr_bits_and(w->exit + w->loop * n, facts, n);
}

/* Iterations start with what holds in front of the loop and wherever one goes
 * on; behind it holds what holds wherever one leaves. */
static enum nsr_status walk_loop(struct nsr_walk *w, uint32_t scope,
                                 nsr_visit_fn *visit, void *user) {
  uint32_t depth = w->tree->scopes[scope].depth, outer = w->loop;
  size_t n = state_words(w), bytes = n * sizeof *w->facts;
  uint64_t *head = w->heads + scope * n;
  w->changed |= nsr_bits_and(head, w->facts, n);
  memcpy(w->facts, head, bytes);
  memset(w->back + depth * n, 0xff, bytes);
  memset(w->exit + depth * n, 0xff, bytes);
  w->loop = depth;
  NSR_TRY(walk_body(w, scope, visit, user));
  w->loop = outer;
  w->changed |= nsr_bits_and(head, w->back + depth * n, n);
  memcpy(w->facts, w->exit + depth * n, bytes);
  return NSR_OK;
}

/* An arm may be passed by, and is joined, or ends an iteration. */
static enum nsr_status walk_arm(struct nsr_walk *w, uint32_t scope,
                                nsr_visit_fn *visit, void *user) {
  const struct nsr_common *s = &w->tree->scopes[scope];
  size_t n = state_words(w), bytes = n * sizeof *w->facts;
  uint64_t *before = w->before + s->depth * n;
  memcpy(before, w->facts, bytes);
  NSR_TRY(walk_body(w, scope, visit, user));
  if (s->to_end) {
    end_way(w, before, s->skip);
    memcpy(w->facts, before, bytes); /* for the other arm */
  } else {
    nsr_bits_and(w->facts, before, n);
  }
  return NSR_OK;
}

static enum nsr_status walk_part(struct nsr_walk *w,
                                 const struct nsr_part *part,
                                 nsr_visit_fn *visit, void *user) {
  if (part->kind == NSR_PART_BARRIER) {
    if (w->barriers || part->keep)
      memset(w->facts, 0xff, state_words(w) * sizeof *w->facts);
    return NSR_OK;
  }
  if (part->kind == NSR_PART_SCOPE)
    return w->tree->scopes[part->first].kind == NSR_SCOPE_LOOP
               ? walk_loop(w, part->first, visit, user)
               : walk_arm(w, part->first, visit, user);
  for (uint32_t i = part->first; i < part->first + part->n; i++) {
    NSR_TRY(visit(user, w, i));
    issue(w, i);
  }
  return NSR_OK;
}

static enum nsr_status walk_body(struct nsr_walk *w, uint32_t scope,
                                 nsr_visit_fn *visit, void *user) {
  const struct nsr_tree *t = w->tree;
  const struct nsr_common *s = &t->scopes[scope];
  bool ended = false; /* all ways end in arms */
  for (uint32_t p = s->first_part; p != NSR_NONE; p = t->parts[p].next) {
    const struct nsr_part *part = &t->parts[p];
    ended = part->kind == NSR_PART_SCOPE && t->scopes[part->first].to_end;
    NSR_TRY(walk_part(w, part, visit, user));
  }
  if (!ended && (s->kind == NSR_SCOPE_LOOP || s->to_end))
    end_way(w, w->facts, s->ends);
  return NSR_OK;
}

enum nsr_status nsr_walk_run(struct nsr_walk *w, nsr_visit_fn *visit,
                             void *user) {
  do {
    w->changed = false;
    w->loop = NSR_NONE;
    memset(w->facts, 0xff, state_words(w) * sizeof *w->facts);
    NSR_TRY(walk_body(w, 0, visit, user));
  } while (w->changed);
  return NSR_OK;
}
