/* edit.h - a kernel with some instructions inserted, replaced or taken out.
 *
 * Everything that refers to instructions by number (branches, labels, lines,
 * relocations) follows. The note of the rewriter, which names instructions in
 * text, goes.
 */
#ifndef NSR_GEN_EDIT_H
#define NSR_GEN_EDIT_H

#include <nsr/kernel.h>

#include "base/vec.h"

enum nsr_edit_kind {
  NSR_EDIT_INSERT, /* in front of `at`; who went there goes to it */
  NSR_EDIT_SLIP,   /* the same, but branches to `at` go past it */
  NSR_EDIT_REPLACE,
  NSR_EDIT_DELETE /* who went there goes to what follows */
};

/* Displacements in words, and targets, are in old numbers: a branch at `at`
 * goes to at + displacement. */
struct nsr_edit {
  uint8_t kind;
  uint32_t stream; /* index into nsr_kernel.streams */
  uint32_t at;     /* 0..n; n, for inserting only: the end */
  uint32_t from;   /* whose relocations the word keeps, NSR_NONE: none */
  uint8_t word[NSR_MAX_WORD];
};

struct nsr_edits {
  NSR_VEC(struct nsr_edit) list;
};

NSR_MUST_USE enum nsr_status nsr_edit_apply(struct nsr_ctx *ctx,
                                            const struct nsr_kernel *k,
                                            const struct nsr_edits *edits,
                                            struct nsr_kernel **out);

/* Each register that an instruction names becomes name[it]. */
void nsr_insn_rename(const uint16_t *name, struct nsr_insn *insn);
#endif
