/* disassemble.c - a whole kernel as assembly text that assembles to it. */
#include <inttypes.h>
#include <string.h>

#include <nsr/text.h>

#include "asm/asm_map.h"
#include "asm/asm_quote.h"
#include "asm/asm_shape.h"
#include "asm/insn_format.h"
#include "asm/remarks.h"
#include "base/strbuf.h"
#include "base/work.h"

struct dis {
  struct nsr_ctx *ctx;
  const struct nsr_kernel *k;
  struct nsr_strbuf b;
  struct nsr_map files;                  /* first entry of each name */
  const struct nsr_remark *remark, *end; /* those not yet printed */
};

/* ---- names and the head */

/* Adds what write prints, however long. */
static enum nsr_status add_name(struct dis *d, const char *name, bool quoted) {
  char small[128];
  struct nsr_out o = {small, sizeof small, 0};
  nsr_out_name(&o, name, quoted);
  if (o.n < sizeof small) {
    nsr_strbuf_add(&d->b, small, o.n);
    return NSR_OK;
  }
  struct nsr_out large = {NULL, o.n + 1, 0};
  NSR_NEW(d->ctx, NSR_SCRATCH, large.s, large.size);
  nsr_out_name(&large, name, quoted);
  nsr_strbuf_add(&d->b, large.s, large.n);
  return NSR_OK;
}

static enum nsr_status head(struct dis *d) {
  const struct nsr_kernel *k = d->k;
  nsr_strbuf_printf(&d->b, ".isa %s\n.kernel ", k->isa->name);
  NSR_TRY(add_name(d, k->name ? k->name : "", true));
  nsr_strbuf_puts(&d->b, "\n");
  if (k->owned_first != k->isa->owned_first ||
      k->owned_last != k->isa->owned_last)
    nsr_strbuf_printf(&d->b, ".owned %u, %u\n", k->owned_first, k->owned_last);
  for (int e = 0; e < k->isa->nengines; e++)
    if (k->pipe_order[e] != k->isa->pipe_order[e])
      nsr_strbuf_printf(&d->b, ".order %s %s\n", k->isa->engines[e],
                        nsr_order_name(k->pipe_order[e]));
  for (uint32_t q = 0; q < k->nqueues; q++) {
    nsr_strbuf_puts(&d->b, ".queue ");
    NSR_TRY(add_name(d, k->queues[q].name, false));
    nsr_strbuf_printf(&d->b, " %s %s\n", k->isa->engines[k->queues[q].engine],
                      nsr_order_name(k->queues[q].order));
  }
  return NSR_OK;
}

static enum nsr_status add_base64(struct dis *d, const uint8_t *data,
                                  size_t n) {
  struct nsr_mark mark = nsr_scratch_mark(d->ctx);
  const char *text = nsr_base64_encode(d->ctx, NSR_SCRATCH, data, n);
  if (!text)
    return NSR_E_NOMEM;
  nsr_strbuf_printf(&d->b, "\"%s\"", text);
  nsr_scratch_release(d->ctx, mark);
  return NSR_OK;
}

static enum nsr_status tensor(struct dis *d, const struct nsr_tensor *t) {
  nsr_strbuf_puts(&d->b, ".tensor ");
  NSR_TRY(add_name(d, t->name, false));
  nsr_strbuf_printf(&d->b, " %s %s [", nsr_space_name((enum nsr_space)t->space),
                    nsr_dtype_name((enum nsr_dtype)t->dtype));
  for (int i = 0; i < t->nshape; i++)
    nsr_strbuf_printf(&d->b, "%s%" PRIu32, i ? ", " : "", t->shape[i]);
  nsr_strbuf_puts(&d->b, "] at ");
  if (t->space != NSR_DRAM)
    nsr_strbuf_printf(&d->b, "%u:%u, ", t->part, t->nparts);
  nsr_strbuf_printf(&d->b, "%" PRIu64 " %s", t->offset,
                    nsr_tensor_role_name((enum nsr_tensor_role)t->role));
  if (t->bytes != nsr_tensor_bytes(t))
    nsr_strbuf_printf(&d->b, " bytes %" PRIu64, t->bytes);
  if (t->has_range)
    nsr_strbuf_printf(&d->b, " range %" PRId32 " %" PRId32, t->lo, t->hi);
  if (t->data) {
    nsr_strbuf_puts(&d->b, " data ");
    NSR_TRY(add_base64(d, t->data, t->data_size));
  }
  nsr_strbuf_puts(&d->b, "\n");
  return NSR_OK;
}

/* The table of source files; with none, instructions have no lines. */
static enum nsr_status files(struct dis *d) {
  nsr_strbuf_puts(&d->b, ".files");
  for (uint32_t i = 0; i < d->k->nfiles; i++) {
    const char *name = d->k->files[i];
    nsr_strbuf_puts(&d->b, i ? ", " : " ");
    NSR_TRY(add_name(d, name, true));
    if (nsr_map_get(&d->files, name, strlen(name)) == NSR_NONE)
      NSR_TRY(nsr_map_put(d->ctx, &d->files, name, strlen(name), i));
  }
  nsr_strbuf_puts(&d->b, "\n");
  return NSR_OK;
}

/* ---- streams */

/* What notes say about an instruction, behind it; about the kernel (engine
 * -1), as lines of their own. */
static void remarks(struct dis *d, int engine, uint32_t insn) {
  const struct nsr_remark *r = d->remark;
  while (r < d->end &&
         (r->engine < engine || (r->engine == engine && r->insn < insn)))
    r++; /* about what is not there */
  for (; r < d->end && r->engine == engine && r->insn == insn; r++)
    nsr_strbuf_printf(&d->b, engine < 0 ? "; %s\n" : " ; %s", r->text);
  nsr_work_count(d->ctx, NSR_WORK_DISASM, 1 + (uint64_t)(r - d->remark));
  d->remark = r;
}

/* Switches the current source file; by number where its name is not enough. */
static enum nsr_status file(struct dis *d, uint32_t file) {
  const char *name = d->k->files[file];
  nsr_strbuf_puts(&d->b, ".file ");
  if (nsr_map_get(&d->files, name, strlen(name)) == file)
    NSR_TRY(add_name(d, name, true));
  else
    nsr_strbuf_printf(&d->b, "%" PRIu32, file);
  nsr_strbuf_puts(&d->b, "\n");
  return NSR_OK;
}

static enum nsr_status insn(struct dis *d, const struct nsr_stream *s,
                            uint32_t i) {
  char small[512];
  struct nsr_out o = {small, sizeof small, 0};
  nsr_strbuf_puts(&d->b, "    ");
  nsr_out_insn(&o, d->k, s, i);
  if (o.n < sizeof small) {
    nsr_strbuf_add(&d->b, small, o.n);
    return NSR_OK;
  }
  struct nsr_mark mark = nsr_scratch_mark(d->ctx);
  struct nsr_out large = {NULL, o.n + 1, 0};
  NSR_NEW(d->ctx, NSR_SCRATCH, large.s, large.size);
  nsr_out_insn(&large, d->k, s, i);
  nsr_strbuf_add(&d->b, large.s, large.n);
  nsr_scratch_release(d->ctx, mark);
  return NSR_OK;
}

/* The labels from l on that stand at i. */
static enum nsr_status labels(struct dis *d, const struct nsr_stream *s,
                              uint32_t i, uint32_t *l) {
  for (; *l < s->nlabels && s->labels[*l].insn == i; ++*l) {
    NSR_TRY(add_name(d, s->labels[*l].name, false));
    nsr_strbuf_puts(&d->b, ":\n");
  }
  return NSR_OK;
}

static enum nsr_status stream(struct dis *d, const struct nsr_stream *s,
                              uint32_t *current) {
  uint32_t l = 0;
  bool any = false;
  nsr_strbuf_printf(&d->b, ".engine %s\n", d->k->isa->engines[s->engine]);
  for (uint32_t i = 0; i < s->n; i++) {
    struct nsr_line line = s->lines ? s->lines[i] : (struct nsr_line){0};
    any |= line.line != 0;
    NSR_TRY(labels(d, s, i, &l));
    if (line.line && line.file != *current)
      NSR_TRY(file(d, *current = line.file));
    NSR_TRY(insn(d, s, i));
    if (line.line)
      nsr_strbuf_printf(&d->b, " @%" PRIu32, line.line);
    remarks(d, s->engine, i);
    nsr_strbuf_puts(&d->b, "\n");
  }
  NSR_TRY(labels(d, s, s->n, &l));
  if (s->lines && !any)
    nsr_strbuf_puts(&d->b, ".lines\n");
  return NSR_OK;
}

/* ---- raw sections */

static enum nsr_status section(struct dis *d, const struct nsr_section *s) {
  enum { CHUNK = 45, TYPE_NOBITS = 8 };
  nsr_strbuf_puts(&d->b, ".section ");
  NSR_TRY(add_name(d, s->name, true));
  nsr_strbuf_printf(&d->b, " type=%" PRIu32, s->type);
  if (s->flags)
    nsr_strbuf_printf(&d->b, " flags=%" PRIu64, s->flags);
  nsr_strbuf_printf(&d->b, " align=%" PRIu64, s->align);
  if (s->entsize)
    nsr_strbuf_printf(&d->b, " entsize=%" PRIu64, s->entsize);
  if (s->info)
    nsr_strbuf_printf(&d->b, " info=%" PRIu32, s->info);
  if (s->type == TYPE_NOBITS)
    nsr_strbuf_printf(&d->b, " size=%" PRIu64, s->size);
  nsr_strbuf_puts(&d->b, "\n");
  if (s->type == TYPE_NOBITS)
    return NSR_OK;
  for (uint64_t i = 0; i < s->size; i += CHUNK) {
    uint64_t left = s->size - i;
    nsr_strbuf_puts(&d->b, "    .bytes ");
    NSR_TRY(add_base64(d, s->data + i, left < CHUNK ? left : CHUNK));
    nsr_strbuf_puts(&d->b, "\n");
  }
  return NSR_OK;
}

static enum nsr_status all(struct dis *d) {
  const struct nsr_kernel *k = d->k;
  uint32_t current = NSR_NONE;
  struct nsr_remark *list;
  size_t n;
  NSR_TRY(nsr_remarks_read(d->ctx, k, &list, &n));
  d->remark = list;
  d->end = n ? list + n : list;
  remarks(d, -1, 0);
  NSR_TRY(head(d));
  for (uint32_t i = 0; i < k->ntensors; i++)
    NSR_TRY(tensor(d, &k->tensors[i]));
  NSR_TRY(files(d));
  for (uint32_t i = 0; i < k->nstreams; i++)
    NSR_TRY(stream(d, &k->streams[i], &current));
  for (uint32_t i = 0; i < k->nsections; i++)
    NSR_TRY(section(d, &k->sections[i]));
  return NSR_OK;
}

enum nsr_status nsr_disassemble(struct nsr_ctx *ctx, const struct nsr_kernel *k,
                                const char **text, size_t *n) {
  struct dis d = {.ctx = ctx, .k = k};
  struct nsr_mark mark = nsr_scratch_mark(ctx);
  nsr_strbuf_init(&d.b, ctx, NSR_KEEP);
  enum nsr_status status = all(&d);
  nsr_scratch_release(ctx, mark);
  NSR_TRY(status);
  return nsr_strbuf_done(&d.b, text, n);
}
