/* verdict.c - objections, and their places as text. */
#include "prove/verdict.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *nsr_proof_verdict_name(enum nsr_proof_verdict v) {
  static const char *const names[] = {"proved", "refuted", "undecided"};
  return names[v];
}

const char *nsr_proof_rule_name(enum nsr_proof_rule r) {
  static const char *const names[] = {
      "none",      "shape", "erasure", "registers", "counters",
      "threshold", "order", "live",    "budget",    "structure"};
  return names[r];
}

int64_t nsr_proof_limit(const struct nsr_proof *p, bool counts) {
  int64_t most = counts ? p->bound : 0;
  return p->lasting && (!most || p->lasting < most) ? p->lasting : most;
}

enum nsr_status nsr_proof_object(struct nsr_ctx *ctx, struct nsr_proof *p,
                                 enum nsr_proof_verdict verdict,
                                 enum nsr_proof_rule rule, const char *fmt,
                                 ...) {
  char text[640];
  va_list args;
  if (!nsr_proof_open(p))
    return NSR_OK;
  va_start(args, fmt);
  vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  p->text = nsr_strndup(ctx, NSR_KEEP, text, strlen(text));
  if (!p->text)
    return NSR_E_NOMEM;
  p->verdict = verdict;
  p->rule = rule;
  return NSR_OK;
}

const char *nsr_proof_place(struct nsr_ctx *ctx, const struct nsr_program *p,
                            int engine, uint32_t insn) {
  struct nsr_place at = nsr_program_place(p, engine, insn);
  char source[32];
  char file[160];
  if (!at.source_file || !at.source_line)
    return nsr_printf(ctx, NSR_SCRATCH, "%s[%u]", at.engine, insn);
  nsr_escape(at.source_file, file, sizeof file);
  snprintf(source, sizeof source, ":%u", at.source_line);
  return nsr_printf(ctx, NSR_SCRATCH, "%s[%u] (%s%s)", at.engine, insn, file,
                    source);
}
