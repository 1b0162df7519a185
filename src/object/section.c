/* section.c - sections that are not ours: which can be carried along. */
#include <elf.h>
#include <string.h>

#include "object/format.h"

/* Types whose contents or header name other sections or symbols by number:
 * those numbers would be stale in what we write. */
static bool refers_to_others(uint32_t type) {
  switch (type) {
  case SHT_SYMTAB:
  case SHT_DYNSYM:
  case SHT_SYMTAB_SHNDX:
  case SHT_REL:
  case SHT_RELA:
  case SHT_HASH:
  case SHT_GNU_HASH:
  case SHT_DYNAMIC:
  case SHT_GROUP:
  case SHT_GNU_verdef:
  case SHT_GNU_verneed:
  case SHT_GNU_versym:
    return true;
  default:
    return false;
  }
}

static bool is_code(const struct nsr_section *s) {
  return s->flags & SHF_EXECINSTR &&
         strncmp(s->name, NSR_TEXT_PREFIX, sizeof NSR_TEXT_PREFIX - 1) == 0;
}

const char *nsr_section_problem(const struct nsr_isa *isa,
                                const struct nsr_section *s) {
  if (s->type == SHT_NULL)
    return "its type is 0 (an unused header)";
  if (refers_to_others(s->type))
    return "its type says that it refers to symbols or sections by number";
  if (s->flags & (SHF_INFO_LINK | SHF_LINK_ORDER | SHF_GROUP))
    return "its flags say that it refers to other sections by number";
  if (s->align & (s->align - 1))
    return "its alignment is not a power of two";
  if (s->type != SHT_NOBITS && !s->data && s->size)
    return "it has no contents";
  if (s->type == SHT_NOBITS && s->data)
    return "it has contents, but its type (SHT_NOBITS) says that it has none";
  if (nsr_part_by_name(s->name) >= 0)
    return "its name is one of ours";
  if (isa && nsr_text_engine(isa, s->name) >= 0)
    return "its name is that of an engine's code";
  if (is_code(s))
    return "it holds code of an engine that the instruction set does not have";
  return NULL;
}
