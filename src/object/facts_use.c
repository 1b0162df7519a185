/* facts_use.c - what facts say about a kernel. They are few: all are looked
 * through for each question.
 */
#include <nsr/facts_file.h>

#include <string.h>

#include "base/strbuf.h"

static uint32_t count(const struct nsr_facts_file *f) { return f ? f->n : 0; }

static const struct nsr_user_fact *next(const struct nsr_facts_file *f,
                                        enum nsr_fact_kind kind, uint32_t *i) {
  while (*i < count(f) && f->facts[*i].kind != kind)
    ++*i;
  return *i < count(f) ? &f->facts[*i] : NULL;
}

static bool has(const uint32_t *v, uint32_t n, uint32_t x) {
  uint32_t i = 0;
  while (i < n && v[i] != x)
    i++;
  return i < n;
}

/* ---- races */

static bool at_end(const struct nsr_user_fact *x, int end,
                   struct nsr_fact_insn a) {
  uint32_t lo = 0, hi = x->nends[end];
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    const struct nsr_fact_insn *v = &x->ends[end][mid];
    if (v->engine < a.engine || (v->engine == a.engine && v->insn < a.insn))
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo < x->nends[end] && x->ends[end][lo].engine == a.engine &&
         x->ends[end][lo].insn == a.insn;
}

static bool between(const struct nsr_user_fact *x, struct nsr_fact_insn a,
                    struct nsr_fact_insn b) {
  return (at_end(x, 0, a) && at_end(x, 1, b)) ||
         (at_end(x, 0, b) && at_end(x, 1, a));
}

bool nsr_facts_race(const struct nsr_facts_file *f, struct nsr_fact_insn a,
                    struct nsr_fact_insn b) {
  const struct nsr_user_fact *x;
  for (uint32_t i = 0; (x = next(f, NSR_FACT_RACE, &i)); i++)
    if (between(x, a, b))
      return true;
  return false;
}

void nsr_facts_raced(const struct nsr_facts_file *f, struct nsr_fact_insn a,
                     struct nsr_fact_insn b) {
  const struct nsr_user_fact *x;
  for (uint32_t i = 0; (x = next(f, NSR_FACT_RACE, &i)); i++)
    f->used[i] |= between(x, a, b);
}

bool nsr_facts_races(const struct nsr_facts_file *f, struct nsr_fact_insn a) {
  const struct nsr_user_fact *x;
  for (uint32_t i = 0; (x = next(f, NSR_FACT_RACE, &i)); i++)
    if (at_end(x, 0, a) || at_end(x, 1, a))
      return true;
  return false;
}

/* ---- tensors */

bool nsr_facts_disjoint(const struct nsr_facts_file *f, uint32_t a,
                        uint32_t b) {
  const struct nsr_user_fact *x;
  bool found = false;
  if (a == b || a == NSR_NONE || b == NSR_NONE)
    return false;
  for (uint32_t i = 0; (x = next(f, NSR_FACT_DISJOINT, &i)); i++)
    if (has(x->tensors, x->ntensors, a) && has(x->tensors, x->ntensors, b))
      found = f->used[i] = true;
  return found;
}

bool nsr_facts_names(const struct nsr_facts_file *f, uint32_t tensor) {
  const struct nsr_user_fact *x;
  for (uint32_t i = 0; (x = next(f, NSR_FACT_DISJOINT, &i)); i++)
    if (has(x->tensors, x->ntensors, tensor))
      return true;
  return false;
}

enum nsr_status nsr_facts_ranges(struct nsr_ctx *ctx,
                                 const struct nsr_facts_file *f,
                                 const struct nsr_kernel *k,
                                 const struct nsr_kernel **out) {
  const struct nsr_user_fact *x;
  struct nsr_kernel *copy;
  struct nsr_tensor *tensors;
  uint32_t i = 0;
  *out = k;
  if (!next(f, NSR_FACT_RANGE, &i))
    return NSR_OK;
  NSR_NEW(ctx, NSR_KEEP, copy, 1);
  NSR_NEW(ctx, NSR_KEEP, tensors, k->ntensors);
  memcpy(tensors, k->tensors, k->ntensors * sizeof *tensors);
  for (; (x = next(f, NSR_FACT_RANGE, &i)); i++) {
    if (x->tensors[0] >= k->ntensors)
      continue;
    struct nsr_tensor *t = &tensors[x->tensors[0]];
    t->has_range = true;
    t->lo = x->first;
    t->hi = x->last;
  }
  *copy = *k;
  copy->tensors = tensors;
  *out = copy;
  return NSR_OK;
}

void nsr_facts_ranged(const struct nsr_facts_file *f, uint32_t tensor) {
  const struct nsr_user_fact *x;
  for (uint32_t i = 0; (x = next(f, NSR_FACT_RANGE, &i)); i++)
    if (x->tensors[0] == tensor)
      f->used[i] = true;
}

/* ---- registers and semaphores */

static bool within(const struct nsr_user_fact *x, uint32_t v) {
  return v >= (uint32_t)x->first && v <= (uint32_t)x->last;
}

bool nsr_facts_keep_register(const struct nsr_facts_file *f, int engine,
                             uint32_t reg) {
  const struct nsr_user_fact *x;
  bool found = false;
  for (uint32_t i = 0; (x = next(f, NSR_FACT_REGISTERS, &i)); i++)
    if ((x->engine < 0 || x->engine == engine) && within(x, reg))
      found = f->used[i] = true;
  return found;
}

bool nsr_facts_keep_semaphore(const struct nsr_facts_file *f, uint32_t sem) {
  const struct nsr_user_fact *x;
  bool found = false;
  for (uint32_t i = 0; (x = next(f, NSR_FACT_SEMAPHORES, &i)); i++)
    if (within(x, sem))
      found = f->used[i] = true;
  return found;
}

/* ---- the report */

enum nsr_status nsr_facts_text(struct nsr_ctx *ctx,
                               const struct nsr_facts_file *f,
                               const char **text) {
  struct nsr_strbuf b;
  nsr_strbuf_init(&b, ctx, NSR_KEEP);
  for (uint32_t i = 0; i < count(f); i++)
    nsr_strbuf_printf(&b, "%s:%u: %s: %s\n", f->path,
                      (unsigned)f->facts[i].line, f->facts[i].text,
                      f->used[i] ? "used" : "not used");
  return nsr_strbuf_done(&b, text, NULL);
}
