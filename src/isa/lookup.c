/* lookup.c - instruction sets and instructions by what they are. */
#include "isa/decoder.h"

#include <assert.h>
#include <string.h>

const struct nsr_isa *nsr_isa_by_name(const char *name) {
  for (const struct nsr_isa *const *isa = nsr_isas; *isa; isa++)
    if (strcmp((*isa)->name, name) == 0)
      return *isa;
  return NULL;
}

int nsr_isa_engine(const struct nsr_isa *isa, const char *name) {
  for (int i = 0; i < isa->nengines; i++)
    if (strcmp(isa->engines[i], name) == 0)
      return i;
  return -1;
}

const struct nsr_insn_desc *nsr_isa_mnemonic(const struct nsr_isa *isa,
                                             const char *s, size_t n) {
  for (unsigned i = 0; i < isa->ninsns; i++) {
    const char *m = isa->insns[i].mnemonic;
    if (strlen(m) == n && memcmp(m, s, n) == 0)
      return &isa->insns[i];
  }
  return NULL;
}

const struct nsr_insn_desc *nsr_isa_control(const struct nsr_isa *isa,
                                            enum nsr_ctl ctl) {
  for (unsigned i = 0; i < isa->ninsns; i++)
    if (isa->insns[i].cls == NSR_CONTROL && isa->insns[i].ctl == ctl)
      return &isa->insns[i];
  return NULL;
}

const struct nsr_insn_desc *nsr_isa_nop(const struct nsr_isa *isa, bool queue) {
  for (unsigned i = 0; i < isa->ninsns; i++) {
    const struct nsr_insn_desc *desc = &isa->insns[i];
    if (desc->meaning == NSR_MEANING_NOP && desc->queue == queue &&
        !desc->external)
      return desc;
  }
  return NULL;
}

const struct nsr_insn_desc *nsr_isa_barrier(const struct nsr_isa *isa) {
  for (unsigned i = 0; i < isa->ninsns; i++)
    if (isa->insns[i].cls == NSR_BARRIER)
      return &isa->insns[i];
  return NULL;
}

void nsr_insn_init(const struct nsr_insn_desc *desc, struct nsr_insn *insn) {
  nsr_insn_clear(desc, desc->codec, insn);
}

int nsr_desc_fields(const struct nsr_insn_desc *desc) {
  return desc->codec->nfields;
}

const char *nsr_desc_field_set(const struct nsr_insn_desc *desc, int field,
                               int which, uint8_t *word) {
  assert(field >= 0 && field < desc->codec->nfields);
  const struct nsr_named_field *f = &desc->codec->fields[field];
  unsigned bytes = (f->lo + f->width + 7u) / 8;
  struct nsr_bits bits;
  nsr_bits_load(&bits, word, bytes);
  nsr_bits_put(&bits, f->lo, f->width, which ? f->max : 0);
  nsr_bits_store(&bits, word, bytes);
  return f->name;
}
