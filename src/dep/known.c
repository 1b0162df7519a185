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
  size_t states = (size_t)tree->nscopes + depth + 2;
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

static enum nsr_status walk_scope(struct nsr_walk *w, uint32_t scope,
                                  nsr_visit_fn *visit, void *user) {
  const struct nsr_common *s = &w->tree->scopes[scope];
  size_t n = state_words(w), bytes = n * sizeof *w->facts;
  uint64_t *head = w->heads + scope * n;
  uint64_t *before = w->before + s->depth * n;
  memcpy(before, w->facts, bytes);
  w->changed |= nsr_bits_and(head, w->facts, n);
  memcpy(w->facts, head, bytes);
  NSR_TRY(walk_body(w, scope, visit, user));
  /* a loop that is reached runs its header; an arm may be passed by */
  if (s->kind == NSR_SCOPE_LOOP)
    w->changed |= nsr_bits_and(head, w->facts, n);
  else
    nsr_bits_and(w->facts, before, n);
  return NSR_OK;
}

static enum nsr_status walk_body(struct nsr_walk *w, uint32_t scope,
                                 nsr_visit_fn *visit, void *user) {
  const struct nsr_tree *t = w->tree;
  for (uint32_t p = t->scopes[scope].first_part; p != NSR_NONE;
       p = t->parts[p].next) {
    const struct nsr_part *part = &t->parts[p];
    if (part->kind == NSR_PART_SCOPE) {
      NSR_TRY(walk_scope(w, part->first, visit, user));
    } else if (part->kind == NSR_PART_SEGMENT) {
      for (uint32_t i = part->first; i < part->first + part->n; i++) {
        NSR_TRY(visit(user, w, i));
        issue(w, i);
      }
    } else if (w->barriers) {
      memset(w->facts, 0xff, state_words(w) * sizeof *w->facts);
    }
  }
  return NSR_OK;
}

enum nsr_status nsr_walk_run(struct nsr_walk *w, nsr_visit_fn *visit,
                             void *user) {
  do {
    w->changed = false;
    memset(w->facts, 0xff, state_words(w) * sizeof *w->facts);
    NSR_TRY(walk_body(w, 0, visit, user));
  } while (w->changed);
  return NSR_OK;
}
