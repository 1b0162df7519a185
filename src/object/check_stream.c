/* check_stream.c - distrust one stream: its tables, where its branches go,
 * and that nothing runs off its end.
 */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "object/check.h"

struct checking {
  struct nsr_ctx *ctx;
  const struct nsr_kernel *k;
  const struct nsr_stream *s;
};

static enum nsr_status fail_at(const struct checking *c, uint32_t i,
                               const char *what) {
  return nsr_fail(c->ctx, NSR_E_FORMAT, nsr_insn_place(c->k, c->s, i), "%s",
                  what);
}

static struct nsr_place in_stream(const struct checking *c) {
  return (struct nsr_place){.file = c->k->path,
                            .engine = c->k->isa->engines[c->s->engine],
                            .insn = -1};
}

/* ---- labels */

static int by_name(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static enum nsr_status check_label(const struct checking *c, uint32_t i) {
  const struct nsr_label *labels = c->s->labels;
  const char *problem = nsr_name_problem(labels[i].name);
  if (problem)
    return nsr_fail(c->ctx, NSR_E_FORMAT, in_stream(c),
                    "the name of label %u %s", i, problem);
  if (labels[i].insn > c->s->n || (i && labels[i].insn < labels[i - 1].insn))
    return nsr_fail(c->ctx, NSR_E_FORMAT, in_stream(c),
                    "label %s is at %u: expected ascending places within 0..%u",
                    labels[i].name, labels[i].insn, c->s->n);
  return NSR_OK;
}

static enum nsr_status check_labels(const struct checking *c) {
  uint32_t n = c->s->nlabels;
  const char **names;
  for (uint32_t i = 0; i < n; i++)
    NSR_TRY(check_label(c, i));
  NSR_NEW(c->ctx, NSR_SCRATCH, names, n);
  for (uint32_t i = 0; i < n; i++)
    names[i] = c->s->labels[i].name;
  qsort(names, n, sizeof *names, by_name);
  for (uint32_t i = 1; i < n; i++)
    if (strcmp(names[i - 1], names[i]) == 0)
      return nsr_fail(c->ctx, NSR_E_FORMAT, in_stream(c),
                      "two labels are called %s", names[i]);
  return NSR_OK;
}

/* ---- lines */

static enum nsr_status check_lines(const struct checking *c) {
  const struct nsr_line *lines = c->s->lines;
  for (uint32_t i = 0; lines && i < c->s->n; i++) {
    if (lines[i].line == 0 && lines[i].file != 0)
      return fail_at(c, i, "it has a source file, but no line in it");
    if (lines[i].line != 0 && lines[i].file >= c->k->nfiles)
      return nsr_fail(c->ctx, NSR_E_FORMAT, nsr_insn_place(c->k, c->s, i),
                      "its line names source file %u: the kernel has %u",
                      lines[i].file, c->k->nfiles);
  }
  return NSR_OK;
}

/* ---- relocs */

static enum nsr_status check_order(const struct checking *c) {
  const struct nsr_reloc *r = c->s->relocs;
  for (uint32_t i = 0; i < c->s->nrelocs; i++) {
    if (r[i].insn >= c->s->n)
      return nsr_fail(c->ctx, NSR_E_FORMAT, in_stream(c),
                      "relocation %u is for instruction %u: there are %u", i,
                      r[i].insn, c->s->n);
    if (i && (r[i].insn < r[i - 1].insn ||
              (r[i].insn == r[i - 1].insn && r[i].operand < r[i - 1].operand)))
      return fail_at(c, r[i].insn,
                     "its relocations are not sorted by instruction and "
                     "operand");
  }
  return NSR_OK;
}

static enum nsr_status check_tensor_reloc(const struct checking *c,
                                          const struct nsr_reloc *r,
                                          const struct nsr_reloc *before,
                                          const struct nsr_insn *insn) {
  if (r->operand >= insn->noperands)
    return nsr_fail(c->ctx, NSR_E_FORMAT, nsr_insn_place(c->k, c->s, r->insn),
                    "a relocation is for its operand %u: it has %u", r->operand,
                    insn->noperands);
  if (r->target >= c->k->ntensors)
    return nsr_fail(c->ctx, NSR_E_FORMAT, nsr_insn_place(c->k, c->s, r->insn),
                    "a relocation names tensor %u: the kernel has %u",
                    r->target, c->k->ntensors);
  if (before && before->operand == r->operand)
    return fail_at(c, r->insn, "two relocations are for the same operand");
  return NSR_OK;
}

static enum nsr_status check_branch_reloc(const struct checking *c,
                                          const struct nsr_reloc *r,
                                          const struct nsr_reloc *before,
                                          const struct nsr_insn *insn) {
  enum nsr_ctl ctl = insn->desc->ctl;
  if ((ctl != NSR_CTL_BR && ctl != NSR_CTL_JUMP) || r->operand)
    return fail_at(c, r->insn,
                   "a relocation is for a branch: this instruction is none");
  if (r->target >= c->s->n)
    return nsr_fail(c->ctx, NSR_E_FORMAT, nsr_insn_place(c->k, c->s, r->insn),
                    "a relocation names target %u: expected 0..%u", r->target,
                    c->s->n - 1);
  if (ctl == NSR_CTL_BR && before)
    return fail_at(c, r->insn, "two relocations are for the same branch");
  if (ctl == NSR_CTL_BR && r->target != r->insn + (int64_t)insn->displacement)
    return nsr_fail(c->ctx, NSR_E_FORMAT, nsr_insn_place(c->k, c->s, r->insn),
                    "its relocation names target %u, but it goes to %lld",
                    r->target, (long long)r->insn + insn->displacement);
  return NSR_OK;
}

/* The relocs of instruction i start at *next, which moves behind them. */
static enum nsr_status check_relocs(const struct checking *c, uint32_t i,
                                    const struct nsr_insn *insn,
                                    uint32_t *next) {
  const struct nsr_reloc *before = NULL;
  while (*next < c->s->nrelocs && c->s->relocs[*next].insn == i) {
    const struct nsr_reloc *r = &c->s->relocs[(*next)++];
    if (r->kind == NSR_RELOC_TENSOR)
      NSR_TRY(check_tensor_reloc(c, r, before, insn));
    else if (r->kind == NSR_RELOC_BRANCH)
      NSR_TRY(check_branch_reloc(c, r, before, insn));
    else
      return fail_at(c, i, "a relocation has no known kind");
    before = r;
  }
  return NSR_OK;
}

/* ---- flow */

static bool falls_through(const struct nsr_insn *insn) {
  enum nsr_ctl ctl = insn->desc->ctl;
  return ctl != NSR_CTL_HALT && ctl != NSR_CTL_JUMP &&
         !(ctl == NSR_CTL_BR && insn->cc == NSR_CC_ALWAYS);
}

/* Where an instruction may go by what its word says, if it says so. */
static int64_t known_target(uint32_t i, const struct nsr_insn *insn,
                            bool *known) {
  enum nsr_ctl ctl = insn->desc->ctl;
  *known = ctl == NSR_CTL_BR || (ctl == NSR_CTL_JUMP && !insn->a.is_reg);
  return ctl == NSR_CTL_BR ? (int64_t)i + insn->displacement : insn->a.v;
}

static enum nsr_status check_flow(const struct checking *c, uint32_t i,
                                  const struct nsr_insn *insn) {
  bool known;
  int64_t target = known_target(i, insn, &known);
  if (known && (target < 0 || target >= c->s->n))
    return nsr_fail(c->ctx, NSR_E_FORMAT, nsr_insn_place(c->k, c->s, i),
                    "it branches to %lld: expected 0..%u", (long long)target,
                    c->s->n - 1);
  if (i == c->s->n - 1 && falls_through(insn))
    return fail_at(c, i,
                   "the stream can run off its end here: expected a halt, a "
                   "jump or a branch that is always taken");
  return NSR_OK;
}

enum nsr_status nsr_check_stream(struct nsr_ctx *ctx,
                                 const struct nsr_kernel *k,
                                 const struct nsr_stream *s) {
  struct checking c = {ctx, k, s};
  struct nsr_insn insn;
  uint32_t next = 0; /* reloc */
  if (s->n == 0 || s->n > NSR_MAX_STREAM)
    return nsr_fail(ctx, NSR_E_FORMAT, in_stream(&c),
                    "it has %u instructions: expected 1..%d", s->n,
                    NSR_MAX_STREAM);
  NSR_TRY(check_labels(&c));
  NSR_TRY(check_lines(&c));
  NSR_TRY(check_order(&c));
  for (uint32_t i = 0; i < s->n; i++) {
    NSR_TRY(nsr_stream_decode(ctx, k, s, i, &insn));
    uint32_t first = next;
    NSR_TRY(check_relocs(&c, i, &insn, &next));
    NSR_TRY(check_flow(&c, i, &insn));
    const struct nsr_reloc *relocs = next > first ? &s->relocs[first] : NULL;
    NSR_TRY(nsr_check_insn(ctx, k, s, i, &insn, relocs, next - first));
  }
  return NSR_OK;
}
