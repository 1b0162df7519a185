/* allowed.c - which operands of which instructions may race. */
#include "judge/allowed.h"

#include "base/vec.h"
#include "mem/footprint.h"

_Static_assert(NSR_MAX_OPERANDS <= 8, "a bit per operand");

static bool pair(const struct nsr_allowed *a, uint32_t i, uint32_t j) {
  return nsr_facts_race(a->facts, a->insns[i].at, a->insns[j].at);
}

static void hull(const struct nsr_image *image, const struct nsr_access *x,
                 struct nsr_footprint *out) {
  nsr_footprint_of(image->kernel, &x->op, x->tensor, NULL, out);
}

/* The operands of i that meet one of j. */
static void meet(const struct nsr_image *image, const struct nsr_allowed *a,
                 uint32_t i, uint32_t j) {
  struct nsr_allowed_insn *x = &a->insns[i];
  const struct nsr_fact_insn *y = &a->insns[j].at;
  const struct nsr_step *p = &image->streams[x->at.engine].steps[x->at.insn];
  const struct nsr_step *q = &image->streams[y->engine].steps[y->insn];
  for (int m = 0; m < p->naccess; m++)
    for (int n = 0; n < q->naccess; n++) {
      struct nsr_footprint f, g;
      hull(image, &p->access[m], &f);
      hull(image, &q->access[n], &g);
      if (nsr_overlap(&f, &g, NULL) == NSR_OVERLAP_NO)
        continue;
      if (nsr_footprint_reads(&f) && nsr_footprint_writes(&g))
        x->reads |= (uint8_t)(1u << m);
      if (nsr_footprint_writes(&f) && nsr_footprint_writes(&g))
        x->writes |= (uint8_t)(1u << m);
    }
}

static enum nsr_status collect(struct nsr_ctx *ctx, enum nsr_arena_id arena,
                               const struct nsr_image *image,
                               struct nsr_allowed *a) {
  NSR_VEC(struct nsr_allowed_insn) found = {0};
  for (int e = 0; e < image->nengines; e++)
    for (uint32_t i = 0; i < image->streams[e].n; i++) {
      struct nsr_fact_insn at = {e, i};
      if (nsr_facts_races(a->facts, at))
        NSR_PUSH(ctx, arena, &found, ((struct nsr_allowed_insn){.at = at}));
    }
  a->insns = found.v;
  a->n = (uint32_t)found.n;
  return NSR_OK;
}

enum nsr_status nsr_allowed_new(struct nsr_ctx *ctx, enum nsr_arena_id arena,
                                const struct nsr_image *image,
                                const struct nsr_facts_file *facts,
                                struct nsr_allowed *out) {
  *out = (struct nsr_allowed){.facts = facts};
  bool any = false;
  for (uint32_t i = 0; facts && i < facts->n; i++)
    any |= facts->facts[i].kind == NSR_FACT_RACE;
  if (!any)
    return NSR_OK;
  NSR_TRY(collect(ctx, arena, image, out));
  for (uint32_t i = 0; i < out->n; i++)
    for (uint32_t j = 0; j < out->n; j++)
      if (pair(out, i, j))
        meet(image, out, i, j);
  return NSR_OK;
}

uint32_t nsr_allowed_number(const struct nsr_allowed *a, int engine,
                            uint32_t insn) {
  uint32_t lo = 0, hi = a ? a->n : 0;
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    const struct nsr_fact_insn *x = &a->insns[mid].at;
    if (x->engine < engine || (x->engine == engine && x->insn < insn))
      lo = mid + 1;
    else
      hi = mid;
  }
  bool found = a && lo < a->n && a->insns[lo].at.engine == engine &&
               a->insns[lo].at.insn == insn;
  return found ? lo + 1 : 0;
}

bool nsr_allowed_pair(const struct nsr_allowed *a, uint32_t x, uint32_t y) {
  return x && y && pair(a, x - 1, y - 1);
}

void nsr_allowed_use(const struct nsr_allowed *a, uint32_t x, uint32_t y) {
  nsr_facts_raced(a->facts, a->insns[x - 1].at, a->insns[y - 1].at);
}
