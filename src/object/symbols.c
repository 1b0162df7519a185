/* symbols.c - labels as ELF symbols: local, without type and size, in the
 * section of their stream, value = byte offset (the section's size: a label
 * at the end). Symbols that are no labels cannot be kept, so they are refused;
 * section symbols, which some tools add, say nothing and are left out.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "object/format.h"

enum { SYMBOL_SIZE = 24 };

struct symbol {
  const char *name;
  uint8_t info, other;
  uint16_t section;
  uint64_t value, size;
};

/* A label and its place in the file, for a stable sort. */
struct placed {
  struct nsr_label label;
  uint32_t order;
};

static struct nsr_place in_file(const struct nsr_reader *r) {
  return (struct nsr_place){.file = r->path, .insn = -1};
}

static void read_symbol(struct nsr_in *in, struct nsr_in strings,
                        struct symbol *s) {
  s->name = nsr_in_name(&strings, nsr_in_u32(in));
  s->info = nsr_in_u8(in);
  s->other = nsr_in_u8(in);
  s->section = nsr_in_u16(in);
  s->value = nsr_in_u64(in);
  s->size = nsr_in_u64(in);
}

static bool is_section_symbol(const struct symbol *s) {
  return ELF64_ST_TYPE(s->info) == STT_SECTION;
}

static enum nsr_status check_symbol(struct nsr_reader *r,
                                    const struct symbol *s, uint32_t i,
                                    struct nsr_stream *const *by_section,
                                    uint32_t nsections) {
  if (!s->name)
    return nsr_fail(r->ctx, NSR_E_FORMAT, in_file(r),
                    "the name of symbol %u lies outside its string table or is "
                    "longer than %d bytes",
                    i, NSR_MAX_NAME);
  if (s->section >= nsections || !by_section[s->section])
    return nsr_fail(r->ctx, NSR_E_REFUSED, in_file(r),
                    "symbol %u (%s) is in no engine's code: it cannot be kept",
                    i, s->name);
  if (s->info != ELF64_ST_INFO(STB_LOCAL, STT_NOTYPE) || s->other || s->size)
    return nsr_fail(r->ctx, NSR_E_REFUSED, in_file(r),
                    "symbol %u (%s) is not a plain label (local, no type, "
                    "size 0): it cannot be kept",
                    i, s->name);
  uint16_t word = r->k->isa->word;
  if (s->value % word || s->value / word > by_section[s->section]->n)
    return nsr_fail(r->ctx, NSR_E_FORMAT, in_file(r),
                    "label %s is at no instruction: %#llx", s->name,
                    (unsigned long long)s->value);
  return NSR_OK;
}

static int by_place(const void *a, const void *b) {
  const struct placed *x = a, *y = b;
  if (x->label.insn != y->label.insn)
    return x->label.insn < y->label.insn ? -1 : 1;
  return x->order < y->order ? -1 : x->order > y->order;
}

static enum nsr_status sort_labels(struct nsr_ctx *ctx,
                                   struct nsr_label *labels, uint32_t n) {
  struct placed *placed;
  uint32_t sorted = 1;
  while (sorted < n && labels[sorted - 1].insn <= labels[sorted].insn)
    sorted++;
  if (sorted >= n)
    return NSR_OK;
  NSR_NEW(ctx, NSR_SCRATCH, placed, n);
  for (uint32_t i = 0; i < n; i++)
    placed[i] = (struct placed){labels[i], i};
  qsort(placed, n, sizeof *placed, by_place);
  for (uint32_t i = 0; i < n; i++)
    labels[i] = placed[i].label;
  return NSR_OK;
}

/* Room for each stream's labels, counted before. */
static enum nsr_status make_labels(struct nsr_reader *r,
                                   struct nsr_label **labels) {
  for (int e = 0; e < r->k->isa->nengines; e++) {
    if (!r->by_engine[e])
      continue;
    NSR_NEW(r->ctx, NSR_KEEP, labels[e], r->by_engine[e]->nlabels);
    r->by_engine[e]->labels = labels[e];
    r->by_engine[e]->nlabels = 0;
  }
  return NSR_OK;
}

enum nsr_status nsr_symbols_read(struct nsr_reader *r, struct nsr_in table,
                                 struct nsr_in strings,
                                 struct nsr_stream *const *by_section,
                                 uint32_t nsections) {
  struct nsr_label *labels[NSR_MAX_ENGINES] = {0};
  struct symbol s;
  if (table.left % SYMBOL_SIZE || table.left / SYMBOL_SIZE > UINT32_MAX)
    return nsr_fail(r->ctx, NSR_E_FORMAT, in_file(r),
                    "the symbol table's size is not a multiple of %d",
                    SYMBOL_SIZE);
  uint32_t n = (uint32_t)(table.left / SYMBOL_SIZE);
  nsr_in_bytes(&table, n ? SYMBOL_SIZE : 0); /* symbol 0 is nobody */
  struct nsr_in again = table;
  for (uint32_t i = 1; i < n; i++) {
    read_symbol(&table, strings, &s);
    if (is_section_symbol(&s))
      continue;
    NSR_TRY(check_symbol(r, &s, i, by_section, nsections));
    by_section[s.section]->nlabels++;
  }
  NSR_TRY(make_labels(r, labels));
  for (uint32_t i = 1; i < n; i++) {
    read_symbol(&again, strings, &s);
    if (is_section_symbol(&s))
      continue;
    struct nsr_stream *to = by_section[s.section];
    labels[to->engine][to->nlabels++] =
        (struct nsr_label){s.name, (uint32_t)(s.value / r->k->isa->word)};
  }
  for (int e = 0; e < r->k->isa->nengines; e++)
    if (r->by_engine[e])
      NSR_TRY(sort_labels(r->ctx, labels[e], r->by_engine[e]->nlabels));
  return NSR_OK;
}

/* ---- writing */

static void put_symbol(struct nsr_strbuf *b, uint32_t name, uint16_t section,
                       uint64_t value) {
  nsr_put_u32(b, name);
  nsr_put_u8(b, ELF64_ST_INFO(STB_LOCAL, STT_NOTYPE));
  nsr_put_u8(b, STV_DEFAULT);
  nsr_put_u16(b, section);
  nsr_put_u64(b, value);
  nsr_put_u64(b, 0);
}

void nsr_symbols_write(const struct nsr_kernel *k, struct nsr_strbuf *table,
                       struct nsr_strbuf *strings, uint32_t *n) {
  *n = 0;
  for (uint32_t i = 0; i < k->nstreams; i++)
    *n += k->streams[i].nlabels;
  if (*n == 0)
    return;
  *n += 1;
  put_symbol(table, 0, 0, 0);
  nsr_strbuf_add(strings, "", 1);
  for (uint32_t i = 0; i < k->nstreams; i++) {
    const struct nsr_stream *s = &k->streams[i];
    for (uint32_t j = 0; j < s->nlabels; j++) {
      const struct nsr_label *label = &s->labels[j];
      put_symbol(table, (uint32_t)strings->n, (uint16_t)(i + 1),
                 (uint64_t)label->insn * k->isa->word);
      nsr_strbuf_add(strings, label->name, strlen(label->name) + 1);
    }
  }
}
