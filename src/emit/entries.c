/* entries.c - the order of what stands in front of an instruction. */
#include "emit/entries.h"

#include <stdlib.h>

static int by_entry(const void *a, const void *b) {
  const struct nsr_entry *x = a, *y = b;
  if (x->insn != y->insn)
    return x->insn < y->insn ? -1 : 1;
  if (!x->arm != !y->arm)
    return x->arm ? -1 : 1;
  if (x->depth != y->depth)
    return (x->depth < y->depth) != (x->arm > 0) ? -1 : 1;
  if (x->kind != y->kind)
    return x->kind < y->kind ? -1 : 1;
  return x->which < y->which ? -1 : x->which > y->which;
}

void nsr_entries_sort(struct nsr_entry *v, size_t n) {
  if (n)
    qsort(v, n, sizeof *v, by_entry);
}

/* The first entry at an instruction. */
static size_t first_entry(const struct nsr_entry *v, size_t n, uint32_t insn) {
  size_t lo = 0, hi = n;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (v[mid].insn < insn)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

uint32_t nsr_entries_ends(const struct nsr_entry *v, size_t n,
                          const struct nsr_scopes *own, uint32_t scope,
                          uint32_t insn) {
  uint32_t ends = 0;
  for (size_t e = first_entry(v, n, insn); e < n; e++) {
    if (v[e].insn != insn || !v[e].arm)
      break;
    ends += ends || (scope != NSR_NONE && nsr_scope_in(own, scope, v[e].arm));
  }
  return ends;
}
