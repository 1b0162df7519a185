/* facts_file.h - what a user knows about a kernel and its file does not say
 * (isa/README.md, facts): races that do no harm, tensors that share memory
 * and never bytes, narrower ranges of control tensors, registers and
 * semaphores that others use.
 *
 * Whoever rests on a fact marks it as used, so that reports can name both
 * those that were used and those that were not.
 */
#ifndef NSR_FACTS_FILE_H
#define NSR_FACTS_FILE_H

#include <nsr/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

enum nsr_fact_kind {
  NSR_FACT_RACE,      /* each of ends[0] may race with each of ends[1] */
  NSR_FACT_DISJOINT,  /* no two of the tensors ever share bytes */
  NSR_FACT_RANGE,     /* contents of tensors[0] lie in first..last */
  NSR_FACT_REGISTERS, /* first..last of an engine are not to be used */
  NSR_FACT_SEMAPHORES /* first..last are not to be used */
};

struct nsr_fact_insn {
  int engine;
  uint32_t insn;
};

struct nsr_user_fact {
  enum nsr_fact_kind kind;
  uint32_t line;
  const char *text; /* the line, without comment */
  uint32_t nends[2];
  const struct nsr_fact_insn *ends[2]; /* by engine, then instruction */
  uint32_t ntensors;
  const uint32_t *tensors;
  int32_t first, last;
  int engine; /* -1: all */
};

struct nsr_facts_file {
  const char *path;
  uint32_t n;
  const struct nsr_user_fact *facts; /* by line */
  bool *used;                        /* by fact: something rested on it */
};

/* Reads a file of facts on a kernel, whose instructions, tensors, registers
 * and semaphores it names. NSR_E_SYNTAX: reported with line and column, each
 * line that is wrong. */
NSR_MUST_USE enum nsr_status nsr_facts_parse(struct nsr_ctx *ctx,
                                             const struct nsr_kernel *k,
                                             const char *path, const char *text,
                                             size_t n,
                                             struct nsr_facts_file **out);

/* In all that follows f may be NULL: no facts. What answers true is marked
 * as used unless it says otherwise. */

/* Whether these two instructions may race; marks nothing. */
bool nsr_facts_race(const struct nsr_facts_file *f, struct nsr_fact_insn a,
                    struct nsr_fact_insn b);
/* They do: marks that. */
void nsr_facts_raced(const struct nsr_facts_file *f, struct nsr_fact_insn a,
                     struct nsr_fact_insn b);
/* Whether an instruction may race with any; marks nothing. */
bool nsr_facts_races(const struct nsr_facts_file *f, struct nsr_fact_insn a);
/* Whether two tensors (NSR_NONE: none) never share bytes. */
bool nsr_facts_disjoint(const struct nsr_facts_file *f, uint32_t a, uint32_t b);
/* Whether a tensor is in a fact of that kind; marks nothing. */
bool nsr_facts_names(const struct nsr_facts_file *f, uint32_t tensor);
bool nsr_facts_keep_register(const struct nsr_facts_file *f, int engine,
                             uint32_t reg);
bool nsr_facts_keep_semaphore(const struct nsr_facts_file *f, uint32_t sem);

/* The kernel (or one of the same tensors) with the ranges that facts give; k
 * itself where they give none. */
NSR_MUST_USE enum nsr_status nsr_facts_ranges(struct nsr_ctx *ctx,
                                              const struct nsr_facts_file *f,
                                              const struct nsr_kernel *k,
                                              const struct nsr_kernel **out);
/* Values of this tensor of such a kernel were taken from its range. */
void nsr_facts_ranged(const struct nsr_facts_file *f, uint32_t tensor);

/* "FILE:3: race act[3] dve[7]: used", a line for each; "" without facts. */
NSR_MUST_USE enum nsr_status nsr_facts_text(struct nsr_ctx *ctx,
                                            const struct nsr_facts_file *f,
                                            const char **text);

#ifdef __cplusplus
}
#endif
#endif
