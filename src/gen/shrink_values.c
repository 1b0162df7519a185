/* shrink_values.c - what can be made simpler in a kernel: waits and updates,
 * numbers, tensors, tables.
 */
#include <string.h>

#include "gen/shrink.h"

/* A copy of the best kernel's parts that change, in a context of its own. */
struct draft {
  struct nsr_ctx *ctx;
  struct nsr_kernel k;
  struct nsr_edits edits;
};

static bool open_draft(struct nsr_shrinker *s, struct draft *d) {
  *d = (struct draft){.ctx = nsr_ctx_new(), .k = *s->best};
  if (!d->ctx)
    s->status = NSR_E_NOMEM;
  return d->ctx != NULL;
}

/* Whether it was taken. */
static bool close_draft(struct nsr_shrinker *s, struct draft *d,
                        enum nsr_status status) {
  bool took = false;
  if (status == NSR_OK)
    took = d->edits.list.n ? nsr_shrink_edit(s, d->ctx, &d->edits)
                           : nsr_shrink_take(s, d->ctx, &d->k);
  if (s->status == NSR_OK)
    s->status = status;
  nsr_ctx_free(d->ctx);
  return took;
}

static enum nsr_status replace(struct draft *d, uint32_t s, uint32_t i,
                               const uint8_t *word) {
  struct nsr_edit edit = {
      .kind = NSR_EDIT_REPLACE, .stream = s, .at = i, .from = i};
  memcpy(edit.word, word, d->k.isa->word);
  NSR_PUSH(d->ctx, NSR_KEEP, &d->edits.list, edit);
  return NSR_OK;
}

/* ---- waits and updates */

static void without(struct nsr_shrinker *s, uint32_t stream, uint32_t i,
                    bool wait) {
  const struct nsr_wait no_wait = {.cmp = NSR_CMP_NONE};
  const struct nsr_update no_update = {.op = NSR_UPD_NONE};
  const struct nsr_kernel *k = s->best;
  uint8_t word[NSR_MAX_WORD];
  struct nsr_insn insn;
  struct draft d;
  memcpy(word, nsr_stream_word(k, &k->streams[stream], i), k->isa->word);
  if (nsr_decode(k->isa, k->streams[stream].engine, word, &insn) ||
      (wait ? insn.wait.cmp == NSR_CMP_NONE : insn.update.op == NSR_UPD_NONE))
    return;
  bool set = wait ? nsr_word_set_wait(k->isa, word, &no_wait)
                  : nsr_word_set_update(k->isa, word, &no_update);
  if (set && open_draft(s, &d))
    (void)close_draft(s, &d, replace(&d, stream, i, word));
}

void nsr_shrink_synchronisation(struct nsr_shrinker *s) {
  for (uint32_t stream = 0; stream < s->best->nstreams; stream++)
    for (uint32_t i = 0; i < s->best->streams[stream].n && !nsr_shrink_over(s);
         i++) {
      without(s, stream, i, true);
      without(s, stream, i, false);
    }
}

/* ---- immediates of register operations and branches */

static int32_t nearer_zero(int32_t v, int step) {
  return step == 0 ? 0 : step == 1 ? v / 2 : v - (v > 0) + (v < 0);
}

static bool same_val(struct nsr_val a, struct nsr_val b) {
  return a.is_reg == b.is_reg && a.v == b.v;
}

/* The same operation on the same registers, wherever it goes. */
static bool alike(const struct nsr_insn *a, const struct nsr_insn *b) {
  return a->desc == b->desc && a->cc == b->cc && a->dst == b->dst &&
         same_val(a->a, b->a) && same_val(a->b, b->b);
}

/* Lowers an immediate wherever an engine does the same. */
static enum nsr_status lower_all(struct draft *d, const struct nsr_insn *like,
                                 int step) {
  for (uint32_t s = 0; s < d->k.nstreams; s++)
    for (uint32_t i = 0; i < d->k.streams[s].n; i++) {
      struct nsr_insn insn;
      uint8_t word[NSR_MAX_WORD];
      char why[8];
      NSR_TRY(nsr_stream_decode(d->ctx, &d->k, &d->k.streams[s], i, &insn));
      if (!alike(&insn, like))
        continue;
      if (!insn.b.is_reg && insn.b.v)
        insn.b.v = nearer_zero(insn.b.v, step);
      else
        insn.a.v = nearer_zero(insn.a.v, step);
      if (nsr_encode(d->k.isa, &insn, word, why, sizeof why))
        NSR_TRY(replace(d, s, i, word));
    }
  return NSR_OK;
}

static void lower(struct nsr_shrinker *s, uint32_t stream, uint32_t i) {
  for (int step = 0; step < 3 && !nsr_shrink_over(s); step++) {
    const struct nsr_kernel *k = s->best;
    struct nsr_insn insn;
    struct draft d;
    if (nsr_decode(k->isa, k->streams[stream].engine,
                   nsr_stream_word(k, &k->streams[stream], i), &insn) ||
        insn.desc->cls != NSR_CONTROL ||
        ((insn.a.is_reg || !insn.a.v) && (insn.b.is_reg || !insn.b.v)))
      return;
    if (open_draft(s, &d) && close_draft(s, &d, lower_all(&d, &insn, step)))
      step = -1; /* there may be more to it */
  }
}

void nsr_shrink_numbers(struct nsr_shrinker *s) {
  for (uint32_t stream = 0; stream < s->best->nstreams; stream++)
    for (uint32_t i = 0; i < s->best->streams[stream].n; i++)
      lower(s, stream, i);
}

/* ---- tensors */

static enum nsr_status own_tensors(struct draft *d,
                                   struct nsr_tensor **tensors) {
  NSR_NEW(d->ctx, NSR_KEEP, *tensors, d->k.ntensors);
  memcpy(*tensors, d->k.tensors, d->k.ntensors * sizeof **tensors);
  d->k.tensors = *tensors;
  return NSR_OK;
}

static enum nsr_status shorten_range(struct draft *d, uint32_t t) {
  struct nsr_tensor *tensors;
  NSR_TRY(own_tensors(d, &tensors));
  int64_t lo = tensors[t].lo, hi = tensors[t].hi;
  tensors[t].hi = (int32_t)(lo + (hi - lo) / 2);
  return NSR_OK;
}

static void shorten_ranges(struct nsr_shrinker *s) {
  struct draft d;
  for (uint32_t t = 0; t < s->best->ntensors && !nsr_shrink_over(s);) {
    const struct nsr_tensor *tensor = &s->best->tensors[t];
    bool can = tensor->has_range && tensor->lo < tensor->hi;
    if (!can || !open_draft(s, &d) || !close_draft(s, &d, shorten_range(&d, t)))
      t++;
  }
}

/* One byte of the contents, halved; those of small words are small. */
static enum nsr_status lower_byte(struct draft *d, uint32_t t, uint64_t at) {
  struct nsr_tensor *tensors;
  uint8_t *data;
  NSR_TRY(own_tensors(d, &tensors));
  NSR_NEW(d->ctx, NSR_KEEP, data, tensors[t].data_size);
  memcpy(data, tensors[t].data, tensors[t].data_size);
  data[at] /= 2;
  tensors[t].data = data;
  return NSR_OK;
}

static enum nsr_status drop_contents(struct draft *d, uint32_t t) {
  struct nsr_tensor *tensors;
  NSR_TRY(own_tensors(d, &tensors));
  tensors[t].data = NULL;
  tensors[t].data_size = 0;
  return NSR_OK;
}

/* Contents of control tensors count; the others' may go. */
static void lower_contents(struct nsr_shrinker *s, uint32_t t) {
  struct draft d;
  if (!s->best->tensors[t].data)
    return;
  if (open_draft(s, &d) && close_draft(s, &d, drop_contents(&d, t)))
    return;
  if (!s->best->tensors[t].has_range)
    return;
  for (uint64_t i = 0;
       i < s->best->tensors[t].data_size && !nsr_shrink_over(s);)
    if (!s->best->tensors[t].data[i] || !open_draft(s, &d) ||
        !close_draft(s, &d, lower_byte(&d, t, i)))
      i++;
}

void nsr_shrink_tensors(struct nsr_shrinker *s) {
  shorten_ranges(s);
  for (uint32_t t = 0; t < s->best->ntensors && !nsr_shrink_over(s); t++)
    lower_contents(s, t);
}

/* ---- tables */

static bool names_tensor(const struct nsr_kernel *k, uint32_t t) {
  for (uint32_t s = 0; s < k->nstreams; s++)
    for (uint32_t r = 0; r < k->streams[s].nrelocs; r++)
      if (k->streams[s].relocs[r].kind == NSR_RELOC_TENSOR &&
          k->streams[s].relocs[r].target == t)
        return true;
  return false;
}

/* Leaves out tensor t, which nothing names. */
static enum nsr_status drop_tensor(struct draft *d, uint32_t t) {
  struct nsr_tensor *tensors;
  struct nsr_stream *streams;
  NSR_TRY(own_tensors(d, &tensors));
  d->k.ntensors--;
  memmove(tensors + t, tensors + t + 1, (d->k.ntensors - t) * sizeof *tensors);
  NSR_NEW(d->ctx, NSR_KEEP, streams, d->k.nstreams);
  for (uint32_t s = 0; s < d->k.nstreams; s++) {
    struct nsr_reloc *relocs;
    streams[s] = d->k.streams[s];
    NSR_NEW(d->ctx, NSR_KEEP, relocs, streams[s].nrelocs);
    for (uint32_t r = 0; r < streams[s].nrelocs; r++) {
      relocs[r] = streams[s].relocs[r];
      relocs[r].target -=
          relocs[r].kind == NSR_RELOC_TENSOR && relocs[r].target > t;
    }
    streams[s].relocs = relocs;
  }
  d->k.streams = streams;
  return NSR_OK;
}

static void drop_tensors(struct nsr_shrinker *s) {
  struct draft d;
  for (uint32_t t = 0; t < s->best->ntensors && !nsr_shrink_over(s);)
    if (names_tensor(s->best, t) || !open_draft(s, &d) ||
        !close_draft(s, &d, drop_tensor(&d, t)))
      t++;
}

/* The code of a stream with the queues behind q one number lower. */
static enum nsr_status renumber(struct draft *d, struct nsr_stream *s,
                                uint32_t q) {
  size_t word = d->k.isa->word;
  uint8_t *code;
  char why[8];
  NSR_NEW(d->ctx, NSR_KEEP, code, s->n * word);
  memcpy(code, s->code, s->n * word);
  for (uint32_t i = 0; i < s->n; i++) {
    struct nsr_insn insn;
    NSR_TRY(nsr_stream_decode(d->ctx, &d->k, s, i, &insn));
    if (!insn.desc->queue || insn.queue < (int)q)
      continue;
    insn.queue--;
    if (!nsr_encode(d->k.isa, &insn, code + i * word, why, sizeof why))
      return NSR_E_INTERNAL; /* a lower number of a queue always fits */
  }
  s->code = code;
  return NSR_OK;
}

/* Leaves out queue q, which nothing uses. */
static enum nsr_status drop_queue(struct draft *d, uint32_t q) {
  struct nsr_queue *queues;
  struct nsr_stream *streams;
  NSR_NEW(d->ctx, NSR_KEEP, queues, d->k.nqueues);
  NSR_NEW(d->ctx, NSR_KEEP, streams, d->k.nstreams);
  memcpy(streams, d->k.streams, d->k.nstreams * sizeof *streams);
  for (uint32_t s = 0; s < d->k.nstreams; s++)
    NSR_TRY(renumber(d, &streams[s], q));
  for (uint32_t i = 0; i + 1 < d->k.nqueues; i++)
    queues[i] = d->k.queues[i + (i >= q)];
  d->k.streams = streams;
  d->k.queues = queues;
  d->k.nqueues--;
  return NSR_OK;
}

static bool uses_queue(const struct nsr_kernel *k, uint32_t q) {
  for (uint32_t s = 0; s < k->nstreams; s++)
    for (uint32_t i = 0; i < k->streams[s].n; i++) {
      struct nsr_insn insn;
      if (!nsr_decode(k->isa, k->streams[s].engine,
                      nsr_stream_word(k, &k->streams[s], i), &insn) &&
          insn.desc->queue && insn.queue == (int)q)
        return true;
    }
  return false;
}

static void drop_queues(struct nsr_shrinker *s) {
  struct draft d;
  for (uint32_t q = 0; q < s->best->nqueues && !nsr_shrink_over(s);)
    if (uses_queue(s->best, q) || !open_draft(s, &d) ||
        !close_draft(s, &d, drop_queue(&d, q)))
      q++;
}

/* Whether some branch goes there, or it is where a stream ends. */
static bool goes_to(const struct nsr_kernel *k, const struct nsr_stream *s,
                    uint32_t insn) {
  for (uint32_t i = 0; i < s->n; i++) {
    struct nsr_insn at;
    if (!nsr_decode(k->isa, s->engine, nsr_stream_word(k, s, i), &at) &&
        at.desc->ctl == NSR_CTL_BR && (int64_t)i + at.displacement == insn)
      return true;
  }
  return false;
}

static enum nsr_status drop_labels(struct draft *d, uint32_t *dropped) {
  struct nsr_stream *streams;
  NSR_NEW(d->ctx, NSR_KEEP, streams, d->k.nstreams);
  *dropped = 0;
  for (uint32_t s = 0; s < d->k.nstreams; s++) {
    struct nsr_label *labels;
    uint32_t n = 0;
    streams[s] = d->k.streams[s];
    NSR_NEW(d->ctx, NSR_KEEP, labels, streams[s].nlabels);
    for (uint32_t l = 0; l < streams[s].nlabels; l++)
      if (goes_to(&d->k, &streams[s], streams[s].labels[l].insn))
        labels[n++] = streams[s].labels[l];
    *dropped += streams[s].nlabels - n;
    streams[s].labels = labels;
    streams[s].nlabels = n;
  }
  d->k.streams = streams;
  return NSR_OK;
}

static enum nsr_status drop_section(struct draft *d, uint32_t at) {
  struct nsr_section *sections;
  NSR_NEW(d->ctx, NSR_KEEP, sections, d->k.nsections);
  d->k.nsections--;
  for (uint32_t i = 0; i < d->k.nsections; i++)
    sections[i] = d->k.sections[i + (i >= at)];
  d->k.sections = sections;
  return NSR_OK;
}

void nsr_shrink_tables(struct nsr_shrinker *s) {
  struct draft d;
  uint32_t dropped = 0;
  drop_tensors(s);
  drop_queues(s);
  for (uint32_t i = 0; i < s->best->nsections && !nsr_shrink_over(s);)
    if (!open_draft(s, &d) || !close_draft(s, &d, drop_section(&d, i)))
      i++;
  if (nsr_shrink_over(s) || !open_draft(s, &d))
    return;
  enum nsr_status status = drop_labels(&d, &dropped);
  if (dropped || status != NSR_OK)
    (void)close_draft(s, &d, status);
  else
    nsr_ctx_free(d.ctx);
}
