/* text.h - kernels as assembly and as JSON lines, both ways.
 *
 * Round trips: assemble(disassemble(k)) and from_json(to_json(k)) write the
 * same ELF bytes as k, for every valid k.
 */
#ifndef NSR_TEXT_H
#define NSR_TEXT_H

#include <nsr/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Assembles text (n bytes). path names the source in messages and in the line
 * table (its last component only). Every error is reported, with line, column
 * and what was expected, before this returns NSR_E_SYNTAX. */
NSR_MUST_USE enum nsr_status nsr_assemble(struct nsr_ctx *ctx, const char *path,
                                          const char *text, size_t n,
                                          struct nsr_kernel **k);

/* The whole kernel as assembly text, NUL-terminated. */
NSR_MUST_USE enum nsr_status nsr_disassemble(struct nsr_ctx *ctx,
                                             const struct nsr_kernel *k,
                                             const char **text, size_t *n);

/* One instruction as assembly text, without labels and comments, into out;
 * the length it would have. Tensors and branch targets by name where known. */
size_t nsr_insn_format(const struct nsr_kernel *k, const struct nsr_stream *s,
                       uint32_t i, char *out, size_t size);

/* JSON lines as in json.md (schema 1). */
NSR_MUST_USE enum nsr_status nsr_to_json(struct nsr_ctx *ctx,
                                         const struct nsr_kernel *k,
                                         const char **text, size_t *n);
NSR_MUST_USE enum nsr_status nsr_from_json(struct nsr_ctx *ctx,
                                           const char *path, const char *text,
                                           size_t n, struct nsr_kernel **k);

#ifdef __cplusplus
}
#endif
#endif
